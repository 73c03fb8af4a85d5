# SPDX-License-Identifier: Apache-2.0
"""Energy and counters: figures of parts of a run."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from conftest import Record as Maker
from conftest import samples
from showstopper import Study
from showstopper.report.topics import counters, energy


def fit(load: np.ndarray, watts: np.ndarray) -> dict[str, object]:
    """Fit power over the load of a machine with four CPUs."""
    points = pd.DataFrame({"load": load, "watts": watts, "cpus": 4.0})
    return energy.fit(points, 4)[2]


def test_proportionality_is_the_greatest_distance_from_the_chord() -> None:
    load, watts = np.arange(5) / 4, np.array([50, 70, 80, 90, 100.0])  # 7.5 W above it at 1 CPU
    found = fit(load, watts)
    assert found["proportionality"] == pytest.approx(1 - 7.5 / 50)
    assert found["proportionality_of"] == "steps"
    # Without an idle step, the fit is used; a line is proportional.
    found = fit(load[1:], watts[1:])
    assert found["proportionality"] == 1 and found["proportionality_of"] == "fit"


def test_curvature_must_be_certain() -> None:
    load = np.arange(8) / 7
    noise = np.array([1, -1] * 4)
    assert fit(load, 50 + 10 * load)["best"] == "linear"
    assert fit(load, 50 + 10 * load + noise)["best"] == "linear"
    assert fit(load, 50 + load**2)["best"] == "quadratic"


def test_seconds_with_more_idle_time_weigh_more() -> None:
    seconds = pd.DataFrame(
        {
            "at": [1.0, 2, 3],
            "active": [0.5, 0.9, 1.0],
            "frequency_mhz": [2000.0, math.nan, 1000],
            "C6": [0.4, 1.0, math.nan],  # a second without idle time has no share
        }
    )
    (state,) = energy.idle_states(seconds)
    assert state["share"] == pytest.approx((0.5 * 0.4 + 0.1) / 0.6)
    assert state["residency"] == pytest.approx((0.5 * 0.4 + 0.1) / 3)
    assert (state["seconds"], state["frequency_mhz"]) == (3, 1500)


def make_seconds(**values: list[float]) -> pd.DataFrame:
    frame = pd.DataFrame({"begin": [0.0, 1, 2, 3], "end": [1.0, 2, 3, 4], "runnable": 2.0})
    for name in counters.COUNTERS:
        known = pd.Series(values.get(name, [math.nan] * 4))
        frame[name] = known
        frame[f"since_{name}"] = frame["end"].where(known.notna()).ffill().shift().fillna(0)
    return frame


def test_count_covers_the_time_since_the_previous_one() -> None:
    seconds = make_seconds(instructions=[100, math.nan, 300, 400], cycles=[50.0, 50, 50, 50])
    whole = counters.count(seconds, 0, 4)
    assert whole["instructions_per_second"] == pytest.approx(800 / 4)
    assert whole["instructions_per_cycle"] == pytest.approx(200 / 50)
    assert (whole["seconds"], whole["runnable_mean"]) == (4, 2)
    # The third second counts from 1 s, before this part begins.
    part = counters.count(seconds, 2, 4)
    assert part["instructions_per_second"] == pytest.approx(400)
    assert math.isnan(counters.count(seconds, 2.5, 3.5)["seconds"])


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
