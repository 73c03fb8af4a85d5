# SPDX-License-Identifier: Apache-2.0
"""Inputs that are damaged, long or without a match: each is named, and the rest is reported."""

from __future__ import annotations

import json
from pathlib import Path

import agree
import pandas as pd
import pytest
from showstopper import Record, checks
from showstopper.runs import Surroundings
from showstopper.topics import study

OTHER = "other\n1\n"  # a table without the columns that are required


def unpack(case: str, folder: Path) -> None:
    agree.unpack(agree.read_tree(agree.CORPUS / case / "in.tree"), folder)


@pytest.mark.parametrize(
    ("case", "file", "note"),
    [
        ("run-of-two-steps", "two/cpus.csv", "cpus.csv has no column of a CPU"),
        ("run-of-two-steps", "two/decisions.csv", "duties are unknown: decisions.csv:1:1: no column"),
        ("run-of-two-steps", "two/energy.csv", "power is unknown: energy.csv:1:1: no column"),
        ("run-of-two-steps", "two/host-load.csv", "host-load.csv:1:1: no column"),
        ("run-of-two-steps", "two/idle.csv", "idle states are unknown: idle.csv:1:1: invalid heading"),
        ("run-of-two-steps", "two/iteration-times.csv", "iteration-times.csv:1:1: no column"),
        ("requests-underload", "03/a/beside.csv", "the load in beside.csv is unknown: beside.csv:1:1: no"),
    ],
)
def test_a_damaged_part_of_a_record_is_noted(tmp_path: Path, case: str, file: str, note: str) -> None:
    unpack(case, tmp_path)
    (tmp_path / file).write_text(OTHER)
    status, printed, notes = agree.in_process([str(tmp_path / file.rpartition("/")[0])])
    assert status == 0 and printed
    assert note in notes.decode()


@pytest.mark.parametrize(
    ("file", "contents", "reason"),
    [
        ("run.json", "[", "run.json: invalid JSON: line 1: expecting value"),
        ("run.json", "{}", "its run.json has no schema, so ssbatch did not write it"),
        ("run.json", '{"schema": 9}', "its run.json has schema 9, but this program reads only schema 1"),
        ("run.json", '{"schema": 1, "reason": "why"}', "status unknown: why"),
        ("run.json", '{"schema": 1, "status": "done"}', "no command of this run has a record"),
        ("manifest.csv", OTHER, "manifest.csv:1:1: no column 'run'"),
    ],
)
def test_a_run_without_a_record_has_a_reason(tmp_path: Path, file: str, contents: str, reason: str) -> None:
    (tmp_path / file).write_text(contents)
    [(_, verdict)] = checks.judge([str(tmp_path)], [])
    assert verdict.result == "invalid" and reason in verdict.reasons
    status, _, messages = agree.in_process([str(tmp_path)])
    assert status == 1 and reason in messages.decode()


def test_folders_without_a_readable_record_are_refused(tmp_path: Path) -> None:
    reasons = {"fleet.csv": "fleet.csv:1:1: no column", "requests.json": "requests.json is damaged"}
    for number, (file, reason) in enumerate(reasons.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in {file, file.replace("json", "csv")}:
            (folder / name).write_text(OTHER)
        [(_, verdict)] = checks.judge([str(folder)], [])
        assert reason in verdict.reasons
        assert agree.in_process([str(folder)])[0] == 125


def judge_again(record: Path, load: str, others: float) -> None:
    """Give the record a verdict on its load, and one on its throughput by the load of others."""
    summary = json.loads((record / "summary.json").read_text())
    result = "invalid" if others > 10 else "passed"
    checks = [
        {"check": "mean_error", "result": load, "reason": "mean error 4", "of": ["load"]},
        {"check": "others", "result": result, "reason": f"other processes used {others:g} %"},
    ]
    checks[1] |= {"of": ["throughput"]}
    words = ["valid" if word == "passed" else word for word in (load, result)]
    if load == "invalid":
        words[1] = load
    summary["verdict"] = {"result": words[1], "load": words[0], "throughput": words[1]}
    summary["verdict"] |= {"reasons": "all of them", "checks": checks}
    (record / "summary.json").write_text(json.dumps(summary))


@pytest.fixture(params=[("passed", 22.4), ("invalid", 0.0)], ids=["valid load", "invalid load"])
def judged(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, bool]:
    """A record, and whether its load is valid; its throughput is not."""
    unpack("run-of-two-steps", tmp_path)
    judge_again(tmp_path / "two", *request.param)
    return str(tmp_path / "two"), request.param[0] == "passed"


def test_throughput_is_left_out_without_the_load(judged: tuple[str, bool]) -> None:
    record, is_load_valid = judged
    status, printed, notes = agree.in_process(["--leave-out", "invalid", record])
    assert status == (0 if is_load_valid else 125)  # no record is left
    assert (b"How well was the load held?" in printed) == is_load_valid
    why = "throughput left out: invalid: other processes used 22.4 %"
    assert (why in notes.decode()) == is_load_valid


def test_headline_about_a_load_needs_only_the_load(judged: tuple[str, bool]) -> None:
    record, is_load_valid = judged
    printed = " ".join(agree.in_process([record])[1].decode().split())
    assert ("On average the load was" in printed) == is_load_valid
    assert ("The record is invalid because of mean error 4" in printed) != is_load_valid


@pytest.mark.parametrize("instance", ["0.5", "-1", "1e9"])
def test_an_iteration_without_an_instance_counts(tmp_path: Path, instance: str) -> None:
    unpack("run-of-two-steps", tmp_path)
    (tmp_path / "two/iterations.csv").write_text(f"instance,start,end\n0,0,1\n{instance},1,2\n")
    found = Record(str(tmp_path / "two")).iterations
    assert found["instance"].isna().tolist() == [False, True, False]  # the last one is unfinished


def test_a_record_inside_a_guest_begins_by_the_clock_of_the_host(tmp_path: Path) -> None:
    unpack("run-of-two-steps", tmp_path)
    clocks = "when,host_seconds,guest_seconds\nstart,100,102\nend,200,205\n"
    (tmp_path / "two/guest-clock.csv").write_text(clocks)
    record = Record(str(tmp_path / "two"))
    assert len(record.samples) == 12
    wall = record.wall
    assert Surroundings.read(record, inside=False).clock == (2, 5)
    assert record.wall == wall
    Surroundings.read(record, inside=True)
    assert record.wall == wall - 2


def test_runs_are_compared_within_their_round_and_study() -> None:
    runs = {"turn": [1, 2, 0, -1], "study": ["a", "a", "a", "b"], "throughput": [2, 4, 6, 8]}
    base = {"turn": [1, 1, 0, -1], "study": ["b", "a", "b", "b"], "throughput": [4, 8, 3, 0]}
    found = study._relative(pd.DataFrame(runs), pd.DataFrame(base))
    assert found.tolist() == [2 / 8, 6 / 3]


@pytest.mark.parametrize(
    ("limit", "case", "words", "text"),
    [
        ("comparison.RATIOS_MAX", "loadline-several", "-o out two --against again", "See ratios.csv for each ratio."),
        ("findings.SENTENCES_MAX", "interference-matrix", "matrix", "more about single pairs: see findings.csv"),
        ("fleet.SHOWN_MAX", "fleet-simulated", "-o out one", "fleet-nodes.csv has all nodes."),
        ("interference.PAIRS_MAX", "interference-matrix", "matrix", "pairs: see interference.csv (--output)"),
        ("requests.RATES_MAX", "latency", "other", "rates: see requests-rates.csv (--output)"),
        ("runs.PICTURED_MAX", "study-roles", "-o out study", "each run has only the picture of its load"),
    ],
)
def test_long_lists_are_left_to_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, case: str, words: str, text: str
) -> None:
    monkeypatch.setattr(f"showstopper.topics.{limit}", 0)
    unpack(case, tmp_path)
    monkeypatch.chdir(tmp_path)
    status, printed, _ = agree.in_process(words.split())
    page = Path("out/report.html")
    shown = agree.page_text(page.read_bytes()) if page.exists() else printed.decode()
    assert status == 0 and text in shown
