# SPDX-License-Identifier: Apache-2.0
"""ssreport --check, which reads documents only."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from showstopper.checks import judge

CHECKS = [
    {"check": "others", "result": "doubtful", "figure": 5.0, "unit": "%", "doubtful": 2, "invalid": 10},
    {"check": "samples", "result": "passed", "figure": 60, "unit": None, "doubtful": None, "invalid": 1},
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


def test_check_does_not_load_numpy(tmp_path: Path) -> None:
    record = write_record(tmp_path / "a", **whole())
    code = (
        "import sys; from showstopper import cli; cli.main(sys.argv[1:]);"
        "print([n for n in ('numpy', 'pandas') if n in sys.modules])"
    )
    words = [sys.executable, "-c", code, "ssreport", "--check", str(record)]
    path = str(Path(__file__).parents[2] / "tools" / "analysis")
    done = subprocess.run(words, capture_output=True, text=True, check=True, env={"PYTHONPATH": path})
    assert done.stdout.splitlines() == [f"{record}: doubtful: {REASONS}", "[]"]
