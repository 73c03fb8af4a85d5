# SPDX-License-Identifier: Apache-2.0
"""Settings of all tests of the Python package, and small records."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis.configuration
import pytest

PACKAGE = Path(__file__).parents[2] / "tools/python"
sys.path.insert(0, str(PACKAGE))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Try the same cases in every run, and keep no folder of examples in the source.
hypothesis.configuration.set_hypothesis_home_dir(tempfile.gettempdir())
hypothesis.settings.register_profile("tests", database=None, deadline=None, derandomize=True)
hypothesis.settings.load_profile("tests")
os.umask(0o022)  # plans refuse files that others may write to

from lab_plans import Lab  # noqa: E402

Record = Callable[..., Path]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Ignore warnings, as the programs do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def samples(loads: list[float], target: object = 0.5, begin: float = 0.0) -> str:
    """Return samples.csv with a sample every half second from 2026-01-01 on."""
    rows = ["time,elapsed_seconds,target,load,duty,counted"]
    for number, load in enumerate(loads, 1):
        at = begin + number / 2
        time = f"2026-01-01T00:00:{at:09.6f}Z"
        rows.append(f"{time},{at:.6f},{target},{load},{load},1")
    return "\n".join(rows) + "\n"


@pytest.fixture
def make_record(tmp_path: Path) -> Record:
    """Return a function that writes a record: a step at 50 % of 12 samples, and its iterations."""

    def make(name: str = "record", loads: list[float] | None = None, **files: str) -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        plan = {"schema": 2, "instances": 1, "cpu_count": 2, "command": ["x"], "version": "1.1.0"}
        check = {"check": "mean_error", "result": "passed", "of": ["load", "throughput"]}
        verdict = {"result": "valid", "reasons": "nothing found in 1 checks", "checks": [check]}
        verdict |= {"load": "valid", "throughput": "valid"}
        summary: dict[str, Any] = {"schema": 2, "ended_by": "duration", "verdict": verdict}
        contents = {
            "plan.json": json.dumps(plan),
            "summary.json": json.dumps(summary),
            "events.jsonl": '{"event": "counting", "elapsed_seconds": 0}\n',
            "samples.csv": samples(loads or [0.4, 0.6] * 6),
            "iterations.csv": "instance,start,end\n"
            + "".join(f"0,{at},{at + 1}\n" for at in range(6)),
        }
        names = {name.replace("__", "-").replace("_", ".", 1): text for name, text in files.items()}
        for file, text in (contents | names).items():
            (folder / file).write_text(text)
        return folder

    return make


# Records of requests

_TIMES = [
    f"{origin}_{figure}_seconds"
    for origin in ("intended", "actual")
    for figure in ("mean", "p50", "p95", "p99", "most")
]
REQUESTS = (
    "epoch_seconds,elapsed_seconds,rate,due,sent,refused,waiting,unfinished,completed,failed,"
    f"timeouts,bytes,lateness_most_seconds,{','.join(_TIMES)}"
)
TEN = 1795168800  # 2026-11-20T10:00:00Z


def second(
    at: int, rate: float, intended: float = 0.01, actual: float = 0.01, lost: float = 0
) -> str:
    """Return a row of requests.csv with these mean response times."""
    numbers = f"{rate},{rate},{rate},0,0,0,{rate - lost},{lost},{lost},1000,0.001"
    times = [f"{factor * time:g}" for time in (intended, actual) for factor in (1, 1, 2, 3, 4)]
    return f"{TEN + at}.000000,{at}.000000,{numbers},{','.join(times)}\n"


def write(folder: Path, rows: list[str], document: Any = None) -> Path:
    """Write a record of requests; without a document, that of a killed run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "requests.csv").write_text(f"{REQUESTS}\n{''.join(rows)}")
    if document is not None:
        check = {"check": "failed_requests"}
        known = {"schema": 2, "program": "ssrequest", "succeeded": 1}
        known["verdict"] = {"result": "valid", "reasons": "", "checks": [check]}
        (folder / "requests.json").write_text(json.dumps(known | document))
    return folder


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Lab:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Lab(monkeypatch, tmp_path)
