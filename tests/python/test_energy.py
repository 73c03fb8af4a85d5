# SPDX-License-Identifier: Apache-2.0
"""Energy: figures of parts of a run."""

from __future__ import annotations


import numpy as np
import pandas as pd
import pytest
from conftest import Record as Maker
from conftest import samples
from showstopper import Study
from showstopper.report.topics import energy


def fit(load: np.ndarray, watts: np.ndarray) -> dict[str, object]:
    """Fit power over the load of a machine with four CPUs."""
    points = pd.DataFrame({"load": load, "watts": watts, "cpus": 4.0})
    return energy.fit(points, 4)[2]


def test_curvature_must_be_certain() -> None:
    load = np.arange(8) / 7
    noise = np.array([1, -1] * 4)
    assert fit(load, 50 + 10 * load)["best"] == "linear"
    assert fit(load, 50 + 10 * load + noise)["best"] == "linear"
    assert fit(load, 50 + load**2)["best"] == "quadratic"


def test_idle_state_of_two_steps_is_reported(make_record: Maker) -> None:
    low, high = samples([0.3] * 24, 0.3), samples([0.6] * 24, 0.6, begin=12)
    seconds = [(at, (0.3, 2000, 0.5) if at <= 12 else (0.6, 2000, 0.1)) for at in range(1, 25)]
    rows = "".join(
        f"2026-01-01T00:00:{at:02}Z,{at},{','.join(map(str, values))}\n" for at, values in seconds
    )
    record = make_record(
        samples_csv=low + high.partition("\n")[2],
        idle_csv=f"time,elapsed_seconds,active,frequency_mhz,C6\n{rows}",
    )
    [finding] = energy.findings(Study(record))
    assert finding.percent == pytest.approx(100 * (0.4 * 0.1 - 0.7 * 0.5))
