# SPDX-License-Identifier: Apache-2.0
"""Throughput at a load: lines through levels, power, and predictions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest
from conftest import Record as Maker
from showstopper import Study
from showstopper.loadline import Loadline, loadline_of, power_of, predict
from showstopper.report.topics import loadline as topic
from showstopper.stats import Band, Uncertainty

T2, T4 = 4.302653, 2.776445  # Student's t at 97.5 % with two and four degrees of freedom

# Hysteresis 0.01, plus 0.02, -0.02, -0.02, 0.02, which have no slope.
ZIGZAG = (0.03, -0.01, -0.01, 0.03)
QUIET = (1e-4, -1e-4, -1e-4, 1e-4)


def climb(differences: Sequence[float] = ZIGZAG, rounds: int = 1) -> pd.DataFrame:
    """Visit levels up to full load, with these differences between both ways: T = 100 L."""
    load = np.arange(1, len(differences) + 1) / len(differences)
    visits = [
        pd.DataFrame({"target": load, "load": load, "round": number, "up": up}).assign(
            throughput=100 * load * np.exp(np.array(differences) / (2 if up else -2)),
            watts=100 + 100 * load,
        )
        for number in range(1, rounds + 1)
        for up in (True, False)
    ]
    return pd.concat(visits, ignore_index=True)


def scaled(visits: pd.DataFrame, factor: Callable[[float], float]) -> pd.DataFrame:
    """Multiply the throughput by a function of the load."""
    return visits.assign(throughput=visits["throughput"] * visits["load"].map(factor))


def test_error_follows_from_the_differences_of_both_ways() -> None:
    line = loadline_of(climb())
    assert line.missing == "" and line.hysteresis == pytest.approx(0.01)
    assert line.error.error == pytest.approx(0.02) and line.error.freedom == 2
    done = line.done(0.5)
    assert done.y == pytest.approx(0.5)
    assert math.log(done.high / done.y) == pytest.approx(T2 * 0.02, rel=1e-6)
    assert math.log(done.y / done.low) == pytest.approx(T2 * 0.02, rel=1e-6)

    twice = loadline_of(climb(rounds=2))
    assert twice.rounds == 2 and twice.error.freedom == 4
    done = twice.done(0.5)
    assert math.log(done.high / done.y) == pytest.approx(T4 * 0.02 / math.sqrt(2), rel=1e-6)


def test_first_of_repeated_visits_counts() -> None:
    once = climb()
    again = once.assign(load=once["load"] / 2, watts=9.0, throughput=once["throughput"] * 3)
    line = loadline_of(pd.concat([once, again]))
    pd.testing.assert_frame_equal(line.levels, loadline_of(once).levels)
    assert line.levels["visits"].tolist() == [2] * 4


def test_steady_drift_does_not_widen_the_interval() -> None:
    """A machine that slows down loses more at levels whose two visits are further apart."""
    line = loadline_of(climb([one + 0.1 * (4 - i) for i, one in enumerate(ZIGZAG)]))
    assert line.error.error == pytest.approx(0.02)
    assert line.done(0.75).y == pytest.approx(0.75)


def test_throughput_refers_to_the_observed_load() -> None:
    visits = climb()
    for row, factor in ((1, 1.1), (5, 0.94)):
        visits.loc[row, ["load", "throughput"]] *= factor
    line = loadline_of(visits)
    assert line.levels["load"][1] == pytest.approx(0.51)
    assert line.error.error == pytest.approx(0.02)
    assert line.done(0.51).y == pytest.approx(0.51)


def test_full_load_has_no_error() -> None:
    line = loadline_of(climb())
    assert line.done(1) == Band(*(pytest.approx(1),) * 3)
    assert line.throughput(1).y == pytest.approx(100) and line.throughput(1).low < 100
    of_level = line.of_level(3)
    assert of_level == (line.done(1), line.throughput(1))


@pytest.mark.parametrize(("errors", "full"), [(2.9, 3), (3.1, 2)])
def test_maximum_below_full_load_must_be_three_errors_higher(errors: float, full: int) -> None:
    factor = 4 / 3 * math.exp(errors * 0.02)
    line = loadline_of(scaled(climb(), lambda load: factor if load == 0.75 else 1))
    assert line.full == full and line.is_capped == (full == 2)
    assert line.done(1).y == pytest.approx(1 if full == 3 else math.exp(-errors * 0.02))


def test_curve_between_levels_is_interpolated() -> None:
    """T = 100 L (1 - L / 2), on which the straight line from 50 to 75 % is 1 % too low."""
    line = loadline_of(scaled(climb(QUIET), lambda load: 1 - load / 2))
    work = line.throughput(0.625)
    assert work.y == pytest.approx(62.5 * (1 - 0.3125))
    assert math.log(work.high / work.low) < 2 * T2 * 1e-4
    assert line.throughput(0.125).y == pytest.approx(12.5 * (1 - 0.0625))


def test_knee_between_levels_is_interpolated() -> None:
    def bent(load: float) -> float:
        return (min(load, 0.6) + max(load - 0.6, 0) / 2) / load

    line = loadline_of(scaled(climb([1e-4, -1e-4] * 4), bent))
    work, truth = line.throughput(0.61), 60.5
    assert work.y == pytest.approx(truth, rel=2e-3) and work.low <= truth <= work.high
    assert work.high / work.low < 1.01
    assert line.throughput(0.4).y == pytest.approx(40, rel=1e-3)


def test_loads_outside_of_the_levels_have_no_answer() -> None:
    visits = climb()
    line = loadline_of(visits.assign(load=visits["load"] * 0.6, target=visits["target"] * 0.6))
    assert math.isnan(line.done(0.7).y) and math.isnan(line.done(0).y)
    assert line.done(0.6).y == pytest.approx(1) and line.done(0.075).y == pytest.approx(0.125)


def test_incomplete_levels_are_left_out() -> None:
    extra = climb()[:3].assign(target=[0.05, 0.1, 0.1], up=[True, True, False])
    extra.loc[2, "throughput"] = 0
    line = loadline_of(pd.concat([climb(), extra]))
    assert len(line.levels) == 4 and line.left_out == 2
    few = "fewer than four levels above idle have a throughput"
    assert loadline_of(climb()[:6]).missing == loadline_of(climb()[:0]).missing == few
    assert math.isnan(loadline_of(climb()[:6]).done(0.5).y)
    assert loadline_of(climb().assign(throughput=0)).missing == few
    assert loadline_of(climb([0.0] * 65)).missing == "too many levels"
    # A round whose runs all failed says nothing about any level.
    failed = climb(rounds=2).eval("throughput = throughput * (round == 2)")
    assert loadline_of(failed).rounds == 1


def test_levels_with_equal_load_keep_separate_figures() -> None:
    """A saturated service has the same load at all rates above its capacity."""
    visits = climb()
    visits.loc[[2, 6], "load"], visits.loc[[3, 7], "load"] = 1, 0.999
    line = loadline_of(visits)
    assert line.levels["target"][line.full] == 1
    found = sorted(line.of_level(level)[1].y for level in (2, 3))
    assert found == pytest.approx([75, 100])


def with_idle(watts: float = 100) -> pd.DataFrame:
    idle = {"target": 0, "load": 0, "throughput": 0, "watts": watts, "round": 1, "up": True}
    return pd.concat([climb(), pd.DataFrame([idle])], ignore_index=True)


def test_power_is_interpolated_at_tenths_of_the_maximum() -> None:
    """With T = 100 L and 100 + 100 L watts, each part of T needs the same part of the load."""
    power = power_of(loadline_of(with_idle()))
    assert power["part"].tolist() == pytest.approx(np.arange(10, -1, -1) / 10)
    assert power["watts"].tolist() == pytest.approx(np.arange(200, 99, -10))
    assert power["throughput"].sum() / power["watts"].sum() == pytest.approx(550 / 1650)
    # The line is convex: half of the throughput needs more than half of the load, and its power.
    convex = scaled(with_idle(), lambda load: 0.6 if load == 0.5 else 1)
    assert power_of(loadline_of(convex))["watts"][5] == pytest.approx(150 + 25 * 20 / 45)


def test_power_is_unknown_if_a_level_or_idle_has_none() -> None:
    assert len(power_of(loadline_of(climb()))) == 0
    assert len(power_of(loadline_of(with_idle(math.nan)))) == 0
    visits = with_idle()
    visits.loc[3, "watts"] = math.nan
    assert len(power_of(loadline_of(visits))) == 0


# Predictions from ten levels up to a load


def measure(
    throughput: Callable[[float], float], highest: float = 0.6, error: float = 1e-3
) -> Loadline:
    visits = climb([-2 * error, 2 * error] * 5)
    visits = visits.assign(load=visits["load"] * highest, target=visits["target"] * highest)
    noise = visits["throughput"] / visits["load"] / 100 * highest
    return loadline_of(visits.assign(throughput=visits["load"].map(throughput) * noise))


def straight(load: float) -> float:
    return 1000 * load * (1 - 0.2 * load)


def bent_at(knee: float, slope: float) -> Callable[[float], float]:
    return lambda load: 1000 * (min(load, knee) + slope * max(load - knee, 0))


def locked(load: float) -> float:
    return 1000 * load / (1 + 0.5 * load + 0.6 * load * load)


def fit_of(fits: pd.DataFrame, shape: str) -> pd.Series:
    return fits[fits["shape"] == shape].iloc[0]


@pytest.mark.parametrize(
    ("shape", "truth", "knees", "within"),
    [
        ("straight", straight, (), 0.005),
        ("curve", locked, (), 0.01),
        ("knee", bent_at(0.5, 0.25), (0.5,), 0.03),
        ("knee", bent_at(0.4, 0.6), (), 0.01),  # at a load that is not given
        ("limit", bent_at(0.35, 0), (), 0.01),
    ],
)
def test_shape_is_found(
    shape: str, truth: Callable[[float], float], knees: Sequence[float], within: float
) -> None:
    prediction = predict(measure(truth), 0.9, knees)
    assert prediction.highest == pytest.approx(0.6)
    assert prediction.free.y == pytest.approx(truth(0.9), rel=within)
    assert prediction.free.low <= truth(0.9) <= prediction.free.high
    assert fit_of(prediction.fits, shape)["fits"]
    bends = shape in ("knee", "limit")
    assert fit_of(prediction.fits, "straight")["fits"] != bends


def test_prediction_far_from_noisy_levels_has_no_upper_end() -> None:
    prediction = predict(measure(straight, 0.3, 0.1), 0.9)
    assert prediction.range.high == math.inf and prediction.range.low <= straight(0.9)
    assert prediction.fits["low"].ge(0).all()


def test_knee_above_the_levels_is_not_identified() -> None:
    """No level is above the knee: the range allows for one right above the highest level."""
    truth = bent_at(0.75, 0.25)
    prediction = predict(measure(truth), 0.9, [0.75])
    assert prediction.free.low > truth(0.9)
    assert prediction.range.low <= truth(0.6) < truth(0.9) <= prediction.range.high
    assert prediction.unidentified == 0.75


def test_bursts_at_full_load_replace_extrapolation() -> None:
    truth = bent_at(0.75, 0.25)
    line = measure(truth)
    prediction = predict(line, 0.9, (), truth(1), Uncertainty(1e-3, 9))
    assert 0.9 * truth(0.9) < prediction.range.low <= truth(0.9) <= prediction.range.high
    assert prediction.range.high < 1.1 * truth(0.9)
    assert prediction.range.y == pytest.approx(truth(0.9), rel=0.03)
    assert math.isnan(prediction.unidentified)


def test_fewer_bursts_widen_the_range() -> None:
    """The error of a few bursts is itself uncertain."""
    line, truth = measure(bent_at(0.5, 0.25)), bent_at(0.5, 0.25)(1)
    many, few = (predict(line, 0.9, [0.5], truth, Uncertainty(2e-3, n)).range for n in (30, 1))
    assert few.high / few.low > 1.001 * many.high / many.low


def test_error_at_the_highest_level_widens_the_range() -> None:
    sagging = measure(lambda load: straight(load) * (0.9 if load > 0.58 else 1))
    prediction = predict(sagging, 0.9)
    assert prediction.missed == pytest.approx(-math.log(0.9), abs=0.01)
    free = prediction.free
    assert min(free.high / free.y, free.y / free.low) >= math.exp(prediction.missed - 1e-9)


def test_prediction_does_not_depend_on_the_unit_of_throughput() -> None:
    def zigzag(load: float) -> float:
        return 1000 * load * (1 + 0.05 * math.sin(40 * load))

    large = predict(measure(zigzag), 0.9)
    small = predict(measure(lambda load: 1e-4 * zigzag(load)), 0.9)
    assert not large.fits["fits"].any()
    assert small.free.y == pytest.approx(1e-4 * large.free.y)
    assert small.range.low == pytest.approx(1e-4 * large.range.low)
    assert small.range.high == pytest.approx(1e-4 * large.range.high)


def test_measured_load_is_not_predicted() -> None:
    prediction = predict(measure(bent_at(0.5, 0.25)), 0.48)
    assert prediction.range.y == pytest.approx(480) and prediction.fits.empty
    assert predict(loadline_of(climb()[:6]), 0.9).missing.startswith("fewer than four levels")


# A study


def test_nothing_is_asked_without_a_load_line(make_record: Maker) -> None:
    study = Study(make_record())
    assert topic.question(study) == "" and not [*topic.figures(study)]
    assert all(len(table.rows(study)) == 0 for table in topic.TABLES.values())


def test_bursts_are_the_maximum() -> None:
    """The highest level is at half load, with half of the throughput of the bursts."""
    held = climb(QUIET).assign(is_burst=False, load=lambda rows: rows["load"] / 2)
    burst = pd.DataFrame({"target": [1, 1], "load": [1, 0.98], "throughput": [199, 201]})
    burst = burst.assign(is_burst=True, round=[1, 2], up=True)
    first = {"at": 0.25, "predict": math.nan, "knees": "", "is_service": False, "is_by_rate": False}
    visits = pd.concat([held, burst], ignore_index=True).assign(**first)
    series = topic.Series(visits, "serial", 0.95)
    assert series.has_bursts and series.full_throughput == pytest.approx(200, rel=1e-3)
    assert series.done.y == pytest.approx(0.25, rel=0.01) and series.left == pytest.approx(3, 0.01)
