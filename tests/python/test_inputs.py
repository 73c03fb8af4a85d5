# SPDX-License-Identifier: Apache-2.0
"""Inputs that are damaged, long or without a match: each is named, and the rest is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Record as Maker
from conftest import second, write
from markupsafe import Markup
from packed import INPUTS, unpack
from showstopper import Record, cli, inputs
from showstopper.report import figures

OTHER = "other\n1\n"  # a table without the columns that are required
Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("file", "note"),
    [
        ("cpus.csv", "cpus.csv"),
        ("decisions.csv", "duties"),
        ("energy.csv", "power"),
        ("host-load.csv", "host-load.csv"),
        ("idle.csv", "idle states"),
        ("iterations.csv", "iterations"),
        ("iteration-times.csv", "iteration-times.csv"),
        ("counters.csv", "counters.csv"),
        ("guest-clock.csv", "guest-clock.csv"),
    ],
)
def test_damaged_part_of_a_record_is_noted(
    make_record: Maker, capsys: Captured, file: str, note: str
) -> None:
    record = make_record()
    (record / file).write_text(OTHER)
    assert cli.main(["ssreport", str(record)]) == 0
    printed = capsys.readouterr()
    assert printed.out and note in printed.err and file in printed.err


def test_damaged_load_beside_requests_is_noted(tmp_path: Path, capsys: Captured) -> None:
    folder = write(tmp_path / "a", [second(at, 20) for at in range(3)], {})
    (folder / "beside.csv").write_text(OTHER)
    assert cli.main(["ssreport", str(folder)]) == 0
    assert "beside.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "contents", "reason"),
    [
        ("run.json", "[", "run.json"),
        ("run.json", "{}", "its run.json has no schema, so ssbatch did not write it"),
        ("run.json", '{"schema": 9}', "its run.json has schema 9, but this program reads only"),
        ("run.json", '{"schema": 1, "reason": "why"}', "status unknown: why"),
        ("run.json", '{"schema": 1, "status": "done"}', "no command of this run has a record"),
        ("manifest.csv", OTHER, "manifest.csv"),
    ],
)
def test_run_without_a_record_has_a_reason(
    tmp_path: Path, capsys: Captured, file: str, contents: str, reason: str
) -> None:
    (tmp_path / file).write_text(contents)
    [(_, verdict)] = inputs.judge([str(tmp_path)], [])
    assert verdict.result == "invalid" and reason in verdict.reasons
    assert cli.main(["ssreport", str(tmp_path)]) == 1
    assert reason in capsys.readouterr().err


def test_runs_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("load-100", "load-40", "load-9a", "load"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{}")
    found = [*inputs.Gatherer().gather([str(tmp_path)])]
    names = [Path(one.name).name for one in found if isinstance(one, inputs.Failure)]
    assert names == ["load", "load-9a", "load-40", "load-100"]


@pytest.mark.parametrize("file", ["fleet.csv", "requests.json"])
def test_folder_without_a_readable_record_is_refused(tmp_path: Path, file: str) -> None:
    (tmp_path / "requests.csv").write_text(OTHER)
    (tmp_path / file).write_text(OTHER)
    [(_, verdict)] = inputs.judge([str(tmp_path)], [])
    assert file in verdict.reasons
    assert cli.main(["ssreport", str(tmp_path)]) == 125


# Damaged records, which were left by tests of readers


def test_every_damaged_record_is_reported_or_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    folder = unpack(INPUTS / "records.tree", tmp_path)
    monkeypatch.setattr(figures, "svg", lambda _: Markup("<svg ></svg>"))  # takes longest
    paths = [str(path) for path in sorted(folder.glob("*/*")) if path.is_dir()]
    assert len(paths) > 40
    judged = inputs.judge(paths, [])
    assert len(judged) >= len(paths) and all(verdict.reasons for _, verdict in judged)
    assert cli.main(["ssreport", "-q", "-o", str(tmp_path / "out"), *paths]) == 0
    reported = (tmp_path / "out/verdicts.csv").read_text() + capsys.readouterr().err
    assert [path for path in paths if path.removeprefix(f"{tmp_path}/") not in reported] == []


# Verdicts


def judge_again(record: Path, load: str, others: float) -> None:
    """Give the record a verdict on its load, and one on its throughput by the load of others."""
    result = "invalid" if others > 10 else "passed"
    checks: list[dict[str, Any]] = [
        {"check": "mean_error", "result": load, "reason": "mean error 4", "of": ["load"]},
        {"check": "others", "result": result, "reason": f"other processes used {others:g} %"},
    ]
    checks[1] |= {"of": ["throughput"]}
    words = ["valid" if word == "passed" else word for word in (load, result)]
    words[1] = load if load == "invalid" else words[1]
    summary = json.loads((record / "summary.json").read_text())
    summary["verdict"] = {"result": words[1], "load": words[0], "throughput": words[1]}
    summary["verdict"] |= {"reasons": "all of them", "checks": checks}
    (record / "summary.json").write_text(json.dumps(summary))


@pytest.mark.parametrize("is_load_valid", [True, False])
def test_throughput_is_left_out_without_the_load(
    make_record: Maker, capsys: Captured, is_load_valid: bool
) -> None:
    record = make_record()
    judge_again(record, *(("passed", 22.4) if is_load_valid else ("invalid", 0.0)))
    status = cli.main(["ssreport", "--leave-out", "invalid", str(record)])
    assert status == (0 if is_load_valid else 125)  # no record is left
    printed = capsys.readouterr()
    assert ("How well was the load held?" in printed.out) == is_load_valid
    left_out = "throughput left out: invalid: other processes used 22.4 %" in printed.err
    assert left_out == is_load_valid
    cli.main(["ssreport", str(record)])
    words = " ".join(capsys.readouterr().out.split())
    assert ("On average the load was" in words) == is_load_valid
    assert ("The record is invalid: mean error 4" in words) != is_load_valid


@pytest.mark.parametrize("instance", ["0.5", "-1", "1e9"])
def test_iteration_without_an_instance_counts(make_record: Maker, instance: str) -> None:
    text = f"instance,start,end\n0,0,1\n{instance},1,2\n"
    found = Record(str(make_record(iterations_csv=text))).iterations
    assert found["instance"].isna().tolist() == [False, True, False]  # the last one is unfinished


@pytest.mark.parametrize(
    ("limit", "case", "words", "text"),
    [
        ("report.page.SENTENCES_MAX", "pairs-environments", "studies", "more about single pairs"),
        ("report.tables.ROWS_MAX", "manifests", "04 --against 04", "more rows: see"),
        ("report.page.GROUPS_OPEN_MAX", "study-roles", "-o out study", "Individual pictures: "),
        ("report.page.ROWS_OPEN_MAX", "study-roles", "-o out study", " rows</summary>"),
    ],
)
def test_long_lists_are_left_to_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, limit: str, case: str,
    words: str, text: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(f"showstopper.{limit}", 0)
    monkeypatch.setattr(figures, "svg", lambda _: Markup("<svg ></svg>"))  # takes longest
    monkeypatch.chdir(unpack(INPUTS / f"{case}.tree", tmp_path))
    assert cli.main(["ssreport", *words.split()]) == 0
    page = Path("out/report.html")
    assert text in (page.read_text() if page.exists() else capsys.readouterr().out)
