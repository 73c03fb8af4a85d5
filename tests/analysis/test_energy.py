# SPDX-License-Identifier: Apache-2.0
"""Energy and counters: figures of parts of a run. The corpus has whole reports."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from showstopper import runs, statistics
from showstopper.topics import counters, energy


def test_proportionality_is_the_greatest_distance_from_the_chord() -> None:
    busy = np.array([0, 1, 2, 3, 4.0])
    watts = np.array([50, 70, 80, 90, 100.0])  # 7.5 W above the chord at 1 CPU
    line = statistics.Parabola.of_line(statistics.fit_line(busy, watts))
    found = energy._find_proportionality(line, 4, busy, watts)
    assert found == {"proportionality": pytest.approx(1 - 7.5 / 50), "proportionality_of": "steps"}
    # Without an idle step, the fit is used; a line is proportional.
    found = energy._find_proportionality(line, 4, busy[1:], watts[1:])
    assert found == {"proportionality": 1.0, "proportionality_of": "fit"}


def test_curvature_must_be_certain() -> None:
    busy = np.arange(8.0)
    noise = np.array([1, -1] * 4)
    for watts, square in ((50 + 10 * busy, 0), (50 + 10 * busy + noise, 0), (50 + busy**2, 1)):
        line, parabola = statistics.fit_line(busy, watts), statistics.fit_parabola(busy, watts)
        assert energy._choose(line, parabola).square == pytest.approx(square)


def test_seconds_with_more_idle_time_weigh_more() -> None:
    seconds = pd.DataFrame(
        {
            "at": [1.0, 2, 3],
            "active": [0.5, 0.9, 1.0],
            "frequency_mhz": [2000.0, math.nan, 1000],
            "C6": [0.4, 1.0, math.nan],  # a second without idle time has no share
        }
    )
    (state,) = runs.idle_states(seconds)
    assert state["share"] == pytest.approx((0.5 * 0.4 + 0.1) / 0.6)
    assert state["residency"] == pytest.approx((0.5 * 0.4 + 0.1) / 3)
    assert (state["seconds"], state["frequency_mhz"]) == (3, 1500)


def make_seconds(**values: list[float]) -> pd.DataFrame:
    names = "task_clock_seconds instructions cycles".split()
    names += [*counters.RATES.values(), *(n for both in counters.SHARES.values() for n in both)]
    frame = pd.DataFrame({"begin": [0.0, 1, 2, 3], "end": [1.0, 2, 3, 4], "runnable": 2.0})
    for name in dict.fromkeys(names):
        known = pd.Series(values.get(name, [math.nan] * 4))
        frame[name] = known
        frame[f"since_{name}"] = frame["end"].where(known.notna()).ffill().shift().fillna(0)
    return frame


def test_a_count_covers_the_time_since_the_previous_one() -> None:
    seconds = make_seconds(instructions=[100, math.nan, 300, 400], cycles=[50.0, 50, 50, 50])
    whole = counters.count(seconds, 0, 4)
    assert whole["instructions_per_second"] == pytest.approx(800 / 4)
    assert whole["instructions_per_cycle"] == pytest.approx(200 / 50)
    assert (whole["seconds"], whole["runnable_mean"]) == (4, 2)
    # The third second counts from 1 s, before this part begins.
    part = counters.count(seconds, 2, 4)
    assert part["instructions_per_second"] == pytest.approx(400)
    assert math.isnan(counters.count(seconds, 2.5, 3.5)["seconds"])
