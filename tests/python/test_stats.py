# SPDX-License-Identifier: Apache-2.0
"""Statistics: the numbers of R in data/statistics, and properties of the estimators."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import special
from showstopper import stats as st
from showstopper.steps import errors

DATA = Path(__file__).parents[1] / "data/statistics"
TEN_DIGITS = 5e-11

Rows = list[dict[str, str]]


def rows_of(name: str) -> Rows:
    with open(DATA / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(text: str) -> float:
    return float(text) if text not in ("", "NA", "NaN") else math.nan


def near(have: float, want: float, digits: float = TEN_DIGITS) -> bool:
    return math.isnan(have) if math.isnan(want) else abs(have - want) <= digits * abs(want)


def wrong(rows: Rows, value: Callable[[dict[str, str]], float]) -> list[Any]:
    found = [(row, value(row)) for row in rows]
    return [(row, have) for row, have in found if not near(have, number(row["value"]))]


# Means and lines


def pairs_of(case: str, half: str) -> np.ndarray:
    rows = [
        row for row in rows_of("pairs.csv") if row["case"] == case and half in ("0", row["half"])
    ]
    pairs = np.array([(number(row["x"]), number(row["y"])) for row in rows])
    return pairs[np.isfinite(pairs).all(axis=1)].T if len(rows) else np.empty((2, 0))


def figure(row: dict[str, str]) -> float:
    x, y = pairs_of(row["case"], row["half"])
    name = row["name"]
    if name == "median":
        return st.median(y)
    if name in ("mean", "deviation", "low", "high", "low_99"):
        mean = st.mean_of(y, 0.99 if name == "low_99" else 0.95)
        return getattr(mean, name.removesuffix("_99"))
    if name.startswith("error"):
        return errors(x, y)[name]  # x is the target, y the load that came of it
    line = st.fit_line(x, y)
    if not name.startswith("band"):
        return getattr(line, name)
    _, at, *bound = name.split("_")
    return getattr(line.at(float(at)), bound[0] if bound else "y")


ELSEWHERE = ("metric", "angle", "significant")  # figures of interference


def test_means_and_lines_agree_with_r() -> None:
    rows = [row for row in rows_of("results.csv") if not row["name"].startswith(ELSEWHERE)]
    assert len(rows) == 367
    assert wrong(rows, figure) == []


def test_interval_of_a_ratio_is_fiellers() -> None:
    rows = [row for row in rows_of("intervals.csv") if row["name"] != "metric" and row["low"]]
    for row in rows:
        if row["case"] == "near_zero":
            continue
        line = st.fit_line(*pairs_of(row["case"], "1" if row["name"] == "first" else "2"))
        ratio = line.ratio(0.95, line.count - 2)
        assert near(-100 * ratio.high, float(row["low"])) and near(
            -100 * ratio.low, float(row["high"])
        )
    assert len(rows) >= 8
    # Small errors have about the interval of their variance.
    line = st.fit_line(*pairs_of("rising", "1"))
    half = st.Uncertainty(math.sqrt(line.ratio_variance()), line.count - 2).half(0.5)
    ratio = line.ratio(0.5, line.count - 2)
    assert ratio.high - ratio.low == pytest.approx(2 * half, rel=1e-3)
    origin = st.fit_line([1, 2, 3], [1, 2, 3])
    assert math.isnan(origin.ratio_variance()) and math.isnan(origin.ratio(0.95, 1).low)
    unsure = st.fit_line([0.1, 0.3, 0.5, 0.7, 0.9], [0.5, -0.4, 0.9, 0.2, 1.1])
    assert unsure.ratio(0.95, 3) == st.Interval(-math.inf, math.inf)


def test_too_few_points_have_no_line() -> None:
    for count, why in enumerate(st.MISSING_LINE[:3]):
        line = st.fit_line(range(count), range(count))
        assert line.missing == why and math.isnan(line.at(0.5).y)
    assert st.fit_line([1, 1, 1], [1, 2, 4]).missing == "no fit: all points have the same load"
    assert st.fit_line([1, 2, 4], [1, 1, 2]).missing == ""


def test_points_on_a_line_have_no_errors() -> None:
    flat = st.fit_line([0, 0.5, 1], [4, 4, 4])
    assert (flat.slope, flat.intercept, flat.slope_error, flat.intercept_p) == (0, 4, 0, 0)
    assert math.isnan(flat.slope_p) and math.isnan(flat.r_squared)
    assert flat.at(0.3) == st.Band(4, 4, 4) and flat.ratio(0.95, 1) == st.Interval(0, 0)
    # 0.1 is inexact, so the sum of 37 is not exactly 3.7.
    roots = np.sqrt(np.arange(37) + 2)
    same = st.fit_line(roots, np.full(37, 0.1))
    assert same.slope == 0 and same.intercept == pytest.approx(0.1, rel=1e-14)
    assert math.isnan(st.fit_line(np.full(37, 0.1), roots).slope)
    # Neither are sums of products exact.
    for slope, intercept in ((0.1, 0.3), (-0.7, 0), (1e9, 7)):
        line = st.fit_line(roots, intercept + slope * roots)
        assert (line.slope_error, line.slope_p, line.r_squared) == (0, 0, 1)
        assert (line.intercept == 0) == (intercept == 0) == math.isnan(line.intercept_p)
    # The p-value underflows.
    steps = np.arange(400)
    steep = st.fit_line(steps, 3 + 2 * steps + np.where(steps % 2, 1e-6, -1e-6))
    assert steep.slope_error > 0 and steep.slope_p == steep.intercept_p == 0


def test_functions_take_many_trials() -> None:
    trials = np.random.default_rng(1).normal(1, 1, (5, 12))
    one = [st.mean_of(trial) for trial in trials]
    assert st.mean_of(trials).high == pytest.approx([mean.high for mean in one])
    orders = np.arange(12) % 2
    looks = [st.look_at(trial, orders, 65) for trial in trials]
    assert st.look_at(trials, orders, 65).half == pytest.approx([look.half for look in looks])
    assert st.student(0.95, [1, 9]) == pytest.approx([12.70620473617471, 2.262157162740992])


def test_interval_of_the_median_ends_at_two_values() -> None:
    assert st.median_interval([3, 1, 2, 5, 4]) == st.Interval(-math.inf, math.inf)
    assert st.median_interval([3, 1, 2, 6, 5, 4]) == st.Interval(1, 6)
    assert st.median_interval(range(100)) == st.Interval(39, 60)
    assert math.isnan(st.median([]))


def test_interval_of_a_series_allows_for_correlation() -> None:
    random = np.random.default_rng(7)

    def covered(correlation: float, naive: bool) -> int:
        count = 0
        for noise in random.uniform(-0.5, 0.5, (400, 650)):
            series = np.empty_like(noise)
            value = 0.0
            for i, one in enumerate(noise):
                series[i] = value = correlation * value + one
            mean = st.mean_of(series[50:])
            if not naive:
                uncertainty = st.series_uncertainty(series[50:], mean.mean)
                mean = uncertainty.interval(mean.mean, 0.95)
            count += mean.low <= 0 <= mean.high
        return count

    assert covered(0, False) >= 370 and covered(0.9, False) >= 370 and covered(-0.9, False) >= 370
    assert covered(0.9, True) <= 200


def test_interval_of_a_series_needs_two_values() -> None:
    assert math.isnan(st.series_uncertainty([1], 1).error)
    # Both weighted differences are 1.5; their correlation of -1/2 widens nothing.
    assert st.series_uncertainty([1, 3], 2.5, [1, 3]) == st.Uncertainty(math.sqrt(9) / 4, 1)


def test_sum_of_intervals_has_the_squared_distances() -> None:
    assert st.mover([st.Band(5, 2, 6), st.Band(1, -3, 4)], [1, -1]) == st.Band(
        4, 4 - math.hypot(3, 3), 4 + math.hypot(1, 4)
    )


# Histograms

lengths = some.lists(some.integers(0, 10**13), min_size=1, max_size=50)


@given(lengths, some.floats(0, 1))
def test_quantile_of_a_histogram_is_within_its_bucket(nanoseconds: list[int], share: float) -> None:
    histogram = st.Histogram(np.array(nanoseconds) / 1e9, np.ones(len(nanoseconds)))
    assert histogram.count == len(nanoseconds)
    rank = min(max(math.ceil(share * len(nanoseconds) * (1 - 1e-12)), 1), len(nanoseconds))
    exact = sorted(nanoseconds)[rank - 1] / 1e9
    assert histogram.quantile(share) == pytest.approx(exact, rel=5e-4)
    assert histogram.mean() == pytest.approx(np.mean(nanoseconds) / 1e9, rel=5e-4)


def test_largest_value_of_a_histogram_is_exact_if_known() -> None:
    histogram = st.Histogram([0.000999936, 0.002], [99, 1])
    assert histogram.quantile(1) == 0.002000383
    histogram.set_most(0.0020003)
    histogram.set_most(5)
    assert histogram.quantile(1) == 0.0020003 and histogram.quantile(0.5) == 0.001000191
    assert math.isnan(st.Histogram().quantile(0.5)) and math.isnan(st.Histogram().mean())


# Parabolas and curves


def test_parabola_is_found() -> None:
    x = np.arange(20) / 19
    curve = st.fit_parabola(x, 3 - 2 * x + 5 * x**2 + np.where(np.arange(20) % 2, 0.01, -0.01))
    assert (curve.constant, curve.linear, curve.square) == pytest.approx((3, -2, 5), abs=0.03)
    assert curve.square_p < 1e-20 and curve.at(0.5) == pytest.approx(3.25, abs=0.01)
    assert curve.sag(2) == pytest.approx(5, abs=0.03)
    assert math.isnan(st.fit_parabola([1, 2, 1, 2], [1, 2, 3, 4]).square)
    assert math.isnan(st.fit_parabola([1, 2, 3], [1, 2, 4]).square)
    exact = st.fit_parabola(x, 0.3 - 0.1 * x + 0.7 * x**2)
    assert (exact.square_p, exact.r_squared) == (0, 1)
    straight = st.fit_parabola(x, 0.3 + 0.7 * x)
    assert straight.square == 0 and math.isnan(straight.square_p)
    line = st.Parabola.of_line(st.fit_line([1, 2, 3], [1, 2, 3.5]))
    assert line.square == 0 and line.at(2) == pytest.approx(13 / 6)


def test_curve_of_infinite_bandwidth_is_the_line() -> None:
    x = np.arange(20) / 20
    y = 3 + x + np.where(np.arange(20) % 2, 0.1, -0.1)
    curve, line = st.fit_curve(x[::-1], y[::-1]), st.fit_line(x, y)
    assert curve and curve.bandwidth == math.inf
    local, straight = curve.at(x, 0.9), line.at(x, 0.9)
    for part in ("y", "low", "high"):
        assert getattr(local, part) == pytest.approx(getattr(straight, part), rel=1e-6)
    assert np.isnan(curve.at([-0.01, 0.96]).y).all()


def test_curve_follows_a_bend() -> None:
    # Each level twice, as on a staircase.
    level = np.arange(40)
    x = 0.05 * (level // 2 + 1) - 0.0001 * (level % 2)
    y = 100 * np.minimum(x, 0.5) + 0.5 * (level * 7919 % 13 / 6 - 1)
    curve = st.fit_curve(x, y)
    assert curve and curve.bandwidth < 0.5
    at = np.arange(0.05, 0.96, 0.05)
    band = curve.at(at)
    assert (
        np.abs(band.y - 100 * np.minimum(at, 0.5)) < np.where(np.abs(at - 0.5) < 0.11, 4, 1)
    ).all()
    assert (band.low < band.y).all() and (band.high - band.low < 4).all()
    assert abs(st.fit_line(x, y).at(0.5).y - 50) > 8
    percent = st.fit_curve(100 * x, y)
    assert percent and percent.bandwidth == pytest.approx(100 * curve.bandwidth)


def test_weights_of_a_curve_match_values_computed_by_hand() -> None:
    x = np.arange(5.0)
    curve = st.Curve(x, x**2, 2, 0, 3)
    beside = (1 - 0.125) ** 3
    middle, end, between = curve.weights([2, 0, 0.5])
    assert middle == pytest.approx(np.array([0, beside, 1, beside, 0]) / (1 + 2 * beside))
    # At the end, two points remain, and the curve is the line through them.
    assert end == pytest.approx([1, 0, 0, 0, 0], abs=1e-12)
    assert between.sum() == pytest.approx(1) and between @ x == pytest.approx(0.5)


def test_bands_cover_the_true_curve() -> None:
    random, x = np.random.default_rng(1), np.arange(20) / 20
    truth = 10 + 5 * x[2::4]
    held = []
    for noise in random.normal(0, 1, (400, 20)):
        curve = st.fit_curve(x, 10 + 5 * x + noise)
        assert curve
        band = curve.at(x[2::4])
        held.append((band.low <= truth) & (truth <= band.high))
    assert 0.9 < np.mean(held) < 0.98


def test_curve_needs_points() -> None:
    x = np.arange(2001.0)
    assert st.fit_curve(x[:4], x[:4]) is None and st.fit_curve(np.ones(5), x[:5]) is None
    assert st.fit_curve(x, x) is None
    assert st.fit_curve(x[:3], x[:3], math.inf) and not st.fit_curve(x[:3], x[:3], 1)


# Sequential intervals

TEN = [0.03, -0.01, 0.02, 0.04, 0, 0.01, 0.03, -0.02, 0.05, 0.01]


def test_sequential_intervals_agree_with_r() -> None:
    # R: mean(x), sd(x), qt(.9875, 9) * sd(x) * sqrt(65) / 10
    look = st.look_at(TEN, None, 65)
    assert (look.mean, look.deviation) == pytest.approx((0.016, 0.02221110833194358), rel=1e-14)
    assert look.half == pytest.approx(0.04808094038222142, rel=1e-12)
    # R: the intercept of lm(x ~ c(1, -1)[order]), its error times sqrt(10), qt(.9875, 8) times it
    look = st.look_at(TEN, [1, 1, 1, 0, 0, 0, 0, 0, 0, 0], 65)
    expected = 0.01523809523809524, 0.02561599379922621, 0.05682522045829259
    assert (look.mean, look.deviation, look.half) == pytest.approx(expected, rel=1e-12)
    look = st.look_at(TEN)
    assert look.half == pytest.approx(look.deviation / 10 * math.sqrt(22 * (6 + math.log(22 / 12))))


def test_few_values_have_no_sequential_interval() -> None:
    assert st.look_at(TEN[:9], None, 65).half == math.inf
    assert math.isnan(st.look_at([]).mean) and math.isnan(st.look_at([1]).deviation)
    assert st.look_at(TEN, [st.ABBA] * 10, 65).half == math.inf


def test_effect_of_the_position_cancels() -> None:
    orders = np.arange(10) % 2
    plain = st.look_at(TEN, orders, 65)
    shifted = np.array(TEN) + np.where(orders, -0.05, 0.05)
    look = st.look_at(shifted, orders, 65)
    assert (look.mean, look.half) == pytest.approx((plain.mean, plain.half), abs=1e-15)
    assert st.look_at(shifted, None, 65).half > 2 * look.half


def test_differences_of_runs_and_turns() -> None:
    assert st.block_difference([100, 400], [200, 200]) == pytest.approx(0, abs=1e-15)
    blocks = st.block_difference([[100, 400], [100, 100]], [[200, 200], [110, 99]])
    assert blocks == pytest.approx([0, (math.log(1.1) + math.log(0.99)) / 2], abs=1e-15)
    assert st.percent_of(math.log(0.98)) == pytest.approx(-2)
    # The second process is 2 % faster, and each turn is 1 % slower than the one before.
    turns = np.arange(12)
    figures = 100 * np.exp(0.02 * (turns % 2) - 0.01 * turns)
    assert st.turn_differences(figures) == pytest.approx([0.02] * 4)
    figures[4:7] = math.nan, 110, 0
    assert np.isnan(st.turn_differences(figures)).tolist() == [False, True, True, False]


@given(some.floats(0.01, 0.9999), some.floats(1, 1e4))
def test_student_is_the_inverse_of_its_tail(confidence: float, freedom: float) -> None:
    tail = 2 * special.stdtr(freedom, -st.student(confidence, freedom))
    assert tail == pytest.approx(1 - confidence, rel=1e-10)
    assert st.student(0.95, 1e12) == pytest.approx(1.959963984540054, rel=1e-11)
