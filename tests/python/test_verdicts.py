# SPDX-License-Identifier: Apache-2.0
"""Verdicts of records, which are read from documents only."""

from __future__ import annotations

import fcntl
import json
import os
import signal
from pathlib import Path

import pytest
from showstopper.inputs import judge

CHECKS = [
    {"check": "others", "result": "doubtful", "figure": 5.0, "unit": "%", "doubtful": 2},
    {"check": "samples", "result": "passed", "figure": 60, "unit": None, "doubtful": None},
]
REASONS = "load of other processes 5 % (doubtful above 2)"


def write_record(folder: Path, **summary: object) -> Path:
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(json.dumps({"schema": 2}))
    if summary:
        (folder / "summary.json").write_text(json.dumps(summary))
    return folder


def whole(result: str = "doubtful") -> dict[str, object]:
    verdict = {"result": result, "reasons": REASONS, "checks": CHECKS}
    return {"ended_by": "duration", "verdict": verdict}


def test_recorded_verdict_is_printed(tmp_path: Path) -> None:
    record = write_record(tmp_path / "a", **whole())
    [(name, verdict)] = judge([str(record)], [])
    assert (name, verdict.result, verdict.reasons) == (str(record), "doubtful", REASONS)


def test_record_without_a_verdict_is_invalid(tmp_path: Path) -> None:
    interrupted = write_record(tmp_path / "a")
    damaged = write_record(tmp_path / "b", samples=1)
    found = judge([str(interrupted), str(damaged)], [])
    reasons = ["interrupted: no verdict", "summary.json is damaged"]
    assert [v.result for _, v in found] == ["invalid"] * 2
    assert [v.reasons for _, v in found] == reasons


def test_record_that_is_being_written_is_running(tmp_path: Path) -> None:
    """Its run holds a lock. A child takes it: F_GETLK does not report locks of its own process."""
    record = write_record(tmp_path / "a")
    (record / "interrupted").touch()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        stream = open(record / "interrupted", "r+b")
        fcntl.lockf(stream, fcntl.LOCK_EX)
        os.write(write, b"x")
        signal.pause()
    try:
        assert os.read(read, 1) == b"x"
        [(_, verdict)] = judge([str(record)], [])
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert verdict.reasons == "still running: no verdict"
    assert judge([str(record)], [])[0][1].reasons == "interrupted: no verdict"


def test_neighbors_in_a_study_do_not_count_as_other_load(tmp_path: Path) -> None:
    """ssbatch does not count the neighbors of a run: its figure is the true one."""
    write_record(tmp_path / "run" / "a", **whole())
    run = {"schema": 1, "status": "done", "others": 0.01, "columns": {"load": "20"}}
    run["commands"] = [{"record": "a"}]
    (tmp_path / "run" / "run.json").write_text(json.dumps(run))
    [(_, verdict)] = judge([str(tmp_path)], [])
    assert (verdict.result, verdict.reasons) == ("valid", "nothing found in 2 checks")

    run["others"] = 0.2
    (tmp_path / "run" / "run.json").write_text(json.dumps(run))
    assert judge([str(tmp_path)], [])[0][1].reasons == REASONS


def judged(load: str, throughput: str | None, others: str = "invalid") -> dict[str, object]:
    """A summary with subjects: others used 22.4 %, and the mean error is as bad as the load."""
    work = [] if throughput is None else ["throughput"]
    reasons = {"valid": None, "doubtful": "mean error 2", "invalid": "mean error 4"}
    checks = [
        {"check": "mean_error", "result": "passed" if load == "valid" else load, "of": ["load"]},
        {"check": "others", "result": others, "figure": 22.4, "of": work},
        {"check": "lines_lost", "result": "passed", "figure": 0, "of": ["load", *work]},
    ]
    checks[0] |= {"reason": reasons[load]}
    checks[1] |= {"reason": "other processes used 22.4 % (invalid above 10)"}
    checks[1] |= {"unit": "%", "doubtful": 2, "invalid": 10}
    worst = max(load, throughput or "", key=["", "valid", "doubtful", "invalid"].index)
    verdict = {"result": worst, "load": load, "throughput": throughput, "checks": checks}
    return {"ended_by": "duration", "verdict": verdict | {"reasons": "all of them"}}


OTHERS = ("invalid", "other processes used 22.4 % (invalid above 10)")
LEFT_OUT = ("invalid", f"left out: invalid: {OTHERS[1]}")
NOTHING = ("valid", "nothing found in 2 checks")


@pytest.mark.parametrize(
    ("summary", "left_out", "subject", "expected"),
    [
        (judged("valid", "invalid"), "", "", ("invalid", "all of them")),
        (judged("valid", "invalid"), "", "load", NOTHING),
        (judged("valid", "invalid"), "", "throughput", OTHERS),
        (judged("valid", "invalid"), "invalid", "load", NOTHING),
        (judged("valid", "invalid"), "invalid", "throughput", LEFT_OUT),
        # The load is a condition of the throughput.
        (judged("invalid", "invalid", "passed"), "", "throughput", ("invalid", "mean error 4")),
        # A run that counts nothing is judged by its load.
        (judged("valid", None), "", "", ("valid", "all of them")),
        (judged("valid", None), "", "throughput", ("valid", "all of them")),
        # An earlier version wrote one verdict.
        (whole(), "", "load", ("doubtful", REASONS)),
        (whole(), "", "throughput", ("doubtful", REASONS)),
    ],
)
def test_each_subject_has_its_own_verdict(
    summary: dict[str, object], left_out: str, subject: str, expected: tuple[str, str],
    tmp_path: Path,
) -> None:  # fmt: skip
    record = str(write_record(tmp_path / "a", **summary))
    [(_, verdict)] = judge([record], [], left_out, subject)
    assert (verdict.result, verdict.reasons) == expected


def test_neighbors_in_a_study_do_not_disturb_the_throughput(tmp_path: Path) -> None:
    write_record(tmp_path / "run" / "a", **judged("valid", "invalid"))
    run = {"schema": 1, "status": "done", "columns": {"load": "20"}}
    run["commands"] = [{"record": "a"}]
    for others, result in ((0.01, "valid"), (0.05, "doubtful"), (0.15, "invalid")):
        (tmp_path / "run" / "run.json").write_text(json.dumps(run | {"others": others}))
        [(_, verdict)] = judge([str(tmp_path)], [])
        assert verdict.result == result
        assert verdict.about("load").result == "valid"
        assert verdict.about("throughput").result == result
    assert verdict.reasons == "other processes used 15 % (invalid above 10)"
