# SPDX-License-Identifier: Apache-2.0
"""
Compares formulas with data/analysis/vectors.csv, as tests/unit/measure/test_vectors.c does for
those of C. Each row has a function, its value (empty if it refuses), and its arguments.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import Record as Maker
from showstopper import Record, stats, steps


def error_of(name: str) -> Callable[[str], float]:
    def figure(arguments: str) -> float:
        pairs = np.array(arguments.split(), dtype=float).reshape(-1, 2)
        return steps.errors(pairs[:, 0], pairs[:, 1])[name]

    return figure


def quantile(arguments: str) -> float:
    share, most, *nanoseconds = map(float, arguments.split())
    histogram = stats.Histogram(np.array(nanoseconds) / 1e9, np.ones(len(nanoseconds)))
    if most:
        histogram.set_most(most / 1e9)
    return histogram.quantile(share)


FUNCTIONS: dict[str, Callable[[str], float]] = {
    "student": lambda freedom: float(stats.student(0.95, float(freedom))),
    "quantile": quantile,
} | {name: error_of(name) for name in ("error_mean_percent", "error_mse_e4", "error_p95_percent")}

with open(Path(__file__).parents[1] / "data/analysis/vectors.csv", encoding="utf-8") as _file:
    VECTORS = [*csv.DictReader(_file)]


@pytest.mark.parametrize(
    "vector",
    [row for row in VECTORS if row["function"] != "unfinished"],
    ids=lambda row: f"{row['function']}({row['arguments']})",
)
def test_vector(vector: dict[str, str]) -> None:
    want = float(vector["value"]) if vector["value"] else math.nan
    have = FUNCTIONS[vector["function"]](vector["arguments"])
    assert have == pytest.approx(want, rel=1e-12, abs=0, nan_ok=True)


def test_length_of_an_unfinished_iteration(make_record: Maker) -> None:
    rows = [row for row in VECTORS if row["function"] == "unfinished" and row["value"]]
    assert len(rows) == 3
    for row in rows:
        elapsed, usual = map(float, row["arguments"].split())
        ends = f"instance,start,end\n0,{6 - elapsed - usual},{6 - elapsed}\n"
        record = Record(str(make_record(row["arguments"], iterations_csv=ends)))
        last = record.iterations.iloc[-1]
        assert last["end"] - last["start"] == pytest.approx(float(row["value"]), rel=1e-9)
