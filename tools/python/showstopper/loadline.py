# SPDX-License-Identifier: Apache-2.0
"""
Estimates F, the part of its maximum throughput that a machine reaches at a load.

F follows from levels of load that were each held twice in a round: on the way up and on the way
down. For each visit, T is the throughput and L the observed load. Let d = ln(T / L) up - ln(T / L)
down at a level, for R rounds and n levels above idle, and let r be the residuals of d around a
line over the levels of its round. Then

    s² = sum(r²) / (2 R (n - 2)) / R
    ln F(L) = mean ln T(L) - mean ln T(full)

with standard error s and R (n - 2) degrees of freedom: each mean has half the variance of one way,
and the difference has two means. The line over the levels removes drift, which cancels in the
means: a machine that steadily slows down loses more at levels whose two visits are further apart.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from . import steps
from .stats import Array, Band, Uncertainty, log, student

IDLE = 1e-3  # a level below this is idle
ERRORS_TO_EXCEED = 3  # standard errors by which a lower level must exceed the highest to be full
LEVELS_MIN, LEVELS_MAX = 4, 64
BEYOND_HIGHEST = 0.005  # a load may exceed that of the highest level: targets are rarely reached
LOADS_APART = 1e-6  # levels with the same load are moved this far apart
# Standard error of the sum of two neighboring bends minus the sum of the bends next to them, in
# standard errors of a level: 28 = 1 + 9 + 4 + 4 + 9 + 1 is the sum of the squared coefficients.
BENDS_NOISE = math.sqrt(28)
KNEE_ERRORS = 2  # a knee gets half of its weight if its bends exceed their noise by this factor

LEVEL = "target load log_mean log_up log_down watts visits".split()
FEW_LEVELS = "fewer than four levels above idle have a throughput"
UNKNOWN = Band(math.nan, math.nan, math.nan)
UNSURE = Uncertainty(math.nan, math.nan)


@dataclass(frozen=True)
class Loadline:
    """The levels above idle, in the order of their loads."""

    # target, load, log_mean and the means of each way log_up, log_down (of ln T), watts, visits
    levels: pd.DataFrame
    missing: str = ""  # why there is no line; the members below are then unknown
    full: int = 0  # the level with the maximum throughput
    is_capped: bool = False  # a level below the highest is the maximum
    error: Uncertainty = UNSURE  # of ln F at a level
    hysteresis: float = math.nan  # mean of d
    hysteresis_error: Uncertainty = UNSURE
    idle_watts: float = math.nan  # power at a load of 0
    rounds: int = 0
    left_out: int = 0  # levels of which a visit is missing or has no throughput

    def done(self, load: float, confidence: float = 0.95) -> Band:
        """
        Return F at a load, with its confidence interval.

        Interpolates along a curve through four levels, or with a knee if the levels show one; the
        interval includes the possible error of that shape. NaN above the highest level, and at
        loads further below the lowest level than the next level is above it.
        """
        return self._band(_find_place(self, load), True, confidence)

    def throughput(self, load: float, confidence: float = 0.95) -> Band:
        """Return the throughput at a load in operations per second, like done()."""
        return self._band(_find_place(self, load), False, confidence)

    def of_level(self, level: int, confidence: float = 0.95) -> tuple[Band, Band]:
        """Return F and the throughput of a level by its position, since several levels have the
        same load if the machine is saturated."""
        weights = np.eye(len(self.levels) + 1)[level + 1]
        place = _Place(weights, float(self.throughputs[level]), 0.0)
        return self._band(place, True, confidence), self._band(place, False, confidence)

    @cached_property
    def throughputs(self) -> Array:
        throughputs: Array = np.exp(self.levels["log_mean"].to_numpy(float))
        return throughputs

    def _band(self, place: _Place | None, is_relative: bool, confidence: float) -> Band:
        """Return T at a place or, relative to the full level, F, which has no error there."""
        if not place:
            return UNKNOWN
        value = place.throughput / (self.throughputs[self.full] if is_relative else 1)
        weights = place.weights[1:] * self.throughputs / place.throughput
        weights[self.full] -= is_relative
        error = math.sqrt(np.square(weights).sum() / 2) * self.error.half(confidence)
        half = math.hypot(error, place.shape)
        return Band(value, value * math.exp(-half), value * math.exp(half))


def loadline_of(visits: pd.DataFrame) -> Loadline:
    """
    Return the line through visits of levels: target, load, throughput, watts, round, and whether
    each is on the way up.

    Leaves out levels that lack a throughput in any round or way. If a level is visited more than
    once in a round and way, the first visit counts.
    """
    visits = visits.reset_index(drop=True)
    rows = visits[visits["target"] >= IDLE]
    rows = rows.assign(level=steps.levels(rows["target"]), way=np.where(rows["up"], "up", "down"))
    targets = rows.groupby("level", sort=True, dropna=False)["target"].min()
    if not 0 < len(targets) <= LEVELS_MAX:
        nothing = pd.DataFrame(columns=LEVEL, dtype=float)
        return Loadline(nothing, "too many levels" if len(targets) else FEW_LEVELS)
    rows = rows[(rows["throughput"] > 0) & (rows["load"] > 0)]
    rows = rows.drop_duplicates(["level", "round", "way"])
    up, down = _logs(rows)
    by = rows[rows["level"].isin(up.index)].groupby("level", sort=True, dropna=False)
    load = by["load"].mean()
    log_up, log_down = (way.mean(axis=1) + log(load) for way in (up, down))
    levels = pd.DataFrame(
        {
            "target": targets[up.index],
            "load": load,
            "log_mean": (log_up + log_down) / 2,
            "log_up": log_up,
            "log_down": log_down,
            "watts": by["watts"].mean().where(by["watts"].count() == by.size()),
            "visits": by.size(),
        }
    )
    line = Loadline(
        levels.sort_values("load", kind="stable", ignore_index=True),
        missing=FEW_LEVELS if len(levels) < LEVELS_MIN else "",
        idle_watts=float(visits["watts"][visits["target"] < IDLE].mean(skipna=False)),
        rounds=up.shape[1],
        left_out=len(targets) - len(levels),
    )
    return line if line.missing else _with_errors(line, (up - down).to_numpy())


def _logs(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return ln(T / L) on the way up and down, with a row for each level that has all, and a column
    for each round."""
    logs = rows.assign(log=log(rows["throughput"] / rows["load"]))
    logs = logs.set_index(["level", "round", "way"])["log"].unstack("way")
    ways = [logs.get(way, pd.Series(dtype=float)) for way in ("up", "down")]
    up, down = (way.reindex(logs.index).unstack("round") for way in ways)
    is_complete = up.notna().all(axis=1) & down.notna().all(axis=1)
    return up[is_complete], down[is_complete]


def _with_errors(line: Loadline, differences: Array) -> Loadline:
    count, rounds = differences.shape
    off = np.arange(count) - (count - 1) / 2
    means = differences.mean(axis=0)
    drift = off @ differences / (off @ off)
    residuals = differences - means - off[:, None] * drift
    freedom = rounds * (count - 2)
    variance = float(np.square(residuals).sum()) / freedom
    error = math.sqrt(variance / 2 / rounds)

    # Saturated levels have the same load, so the highest target is full unless another has more.
    highest = int(line.levels["target"].to_numpy().argmax())
    logs = line.levels["log_mean"].to_numpy()
    full = int(logs.argmax()) if logs.max() > logs[highest] + ERRORS_TO_EXCEED * error else highest
    return replace(
        line,
        full=full,
        is_capped=full != highest,
        error=Uncertainty(error, freedom),
        hysteresis=float(means.mean()),
        hysteresis_error=Uncertainty(math.sqrt(variance / count / rounds), freedom),
    )


# Interpolation between two knots: idle, where the throughput is 0, and the levels.
#
# The throughput differs from the straight line between them, in the direction of the bends:
#
# - On a smooth curve with bend b at both knots, by way (1 - way) / 2 b. b is the harmonic mean
#   of both bends: a knee beyond one of the knots makes the bend there large, and the smaller
#   bend counts (Amat, Donat, Liandrat and Trillo 2006).
# - With a knee between the knots, by min(way left, (1 - way) right): the throughput is on the
#   extended line from below, then on the one from above.
#
# The evidence of a knee weights both. The possible error combines the difference between the
# arithmetic and the harmonic mean of the bends with the difference between both shapes, which
# counts least if the evidence is clear.


class _Place(NamedTuple):
    """A load between two knots: idle, where the throughput is 0, and the levels."""

    weights: Array  # of the knots' throughputs, in a sum that is the throughput
    throughput: float
    shape: float  # possible error of the sum, as a part of the throughput


def _find_place(line: Loadline, load: float) -> _Place | None:
    """Return the place of a load; None if it is above the highest level, or further below the
    lowest level than the next level is above it."""
    if line.missing:
        return None
    loads = line.levels["load"].to_numpy()
    above = load > loads[-1] + BEYOND_HIGHEST
    if not load > 0 or above or 2 * loads[0] - loads[1] > load + LOADS_APART:
        return None
    knots = [0.0]
    for one in loads.tolist():
        knots.append(max(one, knots[-1] + LOADS_APART))
    heights = np.concatenate([[0.0], line.throughputs])
    below = int(np.searchsorted(knots[1:-1], load))
    way = (load - knots[below]) / (knots[below + 1] - knots[below])
    error = line.error.error / math.sqrt(2)
    return _interpolate(np.array(knots), heights, below, min(way, 1), error)


def _weigh_knee(left: float, right: float, further: float, noise: float) -> float:
    """
    Return the weight of a knee between two knots, from 0 to 1: 1 if both bends are far above their
    noise and no bend continues at the next knots, as it does on a smooth curve.
    """
    both = abs(left + right)
    excess = both - math.copysign(1, left) * further
    sharpness = 2 * min(excess / both, 1) - 1
    if not sharpness > 0:
        return 0.0
    return sharpness / (1 + (KNEE_ERRORS * BENDS_NOISE * noise / excess) ** 2)


def _interpolate(knots: Array, heights: Array, below: int, way: float, error: float) -> _Place:
    """Interpolate at the part `way` of the distance from knot `below` to the next one."""
    gaps = np.diff(knots)
    distance, curve = float(gaps[below]), way * (1 - way) / 2
    chord = float((1 - way) * heights[below] + way * heights[below + 1])
    weights = np.zeros(len(knots))
    weights[below], weights[below + 1] = 1 - way, way

    # Bends are changes of slope times the distance. The ends have none: use the other knot's bend.
    bends = distance * np.diff(np.diff(heights) / gaps, prepend=0)
    places = max(below, 1), min(below + 1, len(bends) - 1)
    left, right = bends[list(places)].tolist()
    if left * right <= 0:  # opposite directions
        return _Place(weights, chord, 0.0)
    next_ones = places[0] - 1, places[1] + 1
    beside = [float(bends[knot]) for knot in next_ones if 0 < knot < len(bends)]
    both, further = left + right, 2 * sum(beside) / len(beside)
    change = left - beside[0] if places[0] == places[1] else 0.0

    is_from_below = way * abs(left) < (1 - way) * abs(right)
    knee = _weigh_knee(left, right, further, error * chord)
    smooth, smooth_bend = curve * (1 - knee), 2 * left * right / both
    knee_shift = way * left if is_from_below else (1 - way) * right

    # The harmonic mean H of a and b is a dH/da + b dH/db.
    parts = 2 * smooth * (right / both) ** 2, 2 * smooth * (left / both) ** 2
    knees = (knee * way, 0.0) if is_from_below else (0.0, knee * (1 - way))
    for knot, part in zip(places, np.add(parts, knees)):
        before, after = -part * distance / gaps[knot - 1 : knot + 1]
        weights[knot - 1 : knot + 2] += before, -(before + after), after
    throughput = chord - smooth * smooth_bend - knee * knee_shift
    unequal = min(abs(both / 2 - smooth_bend), abs(smooth_bend))
    of_shapes = 4 * knee * (1 - knee) * (knee_shift - curve * smooth_bend)
    shape = math.hypot(of_shapes, curve * (abs(change) + unequal))
    return _Place(weights, throughput, shape / throughput)


# Power


def power_of(line: Loadline) -> pd.DataFrame:
    """
    Return power at equal parts of the maximum throughput: part, throughput, watts, per_joule.

    As in SPECpower, the parts are 100, 90 ... 10 % of the throughput, not of the load, and idle.
    Empty if the power at a level or of the idle machine is unknown. The overall operations per
    joule are the sum of the throughput over the sum of the watts.
    """
    levels = line.levels.iloc[: line.full + 1]
    if not (levels["watts"].gt(0).all() and line.idle_watts > 0):
        return pd.DataFrame(columns=["part", "throughput", "watts", "per_joule"])
    at = np.append(0, line.throughputs[: line.full + 1])
    watts = np.append(line.idle_watts, levels["watts"])
    # Find the first level that reaches each throughput, after a level with less.
    part = np.arange(10, -1, -1) / 10
    throughput = part * at[-1]
    reached = (at[1:] >= throughput[:, None]) & (at[1:] > at[:-1])
    level = reached.argmax(axis=1)
    way = (throughput - at[level]) / (at[level + 1] - at[level])
    found = watts[level] + (watts[level + 1] - watts[level]) * way
    found = np.where(reached.any(axis=1), found, watts[-1])
    rows = pd.DataFrame({"part": part, "throughput": throughput, "watts": found})
    return rows.assign(per_joule=throughput / found)


# Prediction of a load that was not measured

STRAIGHT = "straight"  # T / L is linear
CURVE = "curve"  # L / T is a parabola: contention and coherence, for example of locks
KNEE = "knee"  # T bends at a load: all cores are busy, or the frequency changes
LIMIT = "limit"  # T stops growing at a measured load: memory bandwidth is exhausted

CONTRADICTED = 0.01  # the levels contradict a shape if its residuals are less probable
BEND_STEP = 0.0025  # distance between the loads that are tried for a bend at an unknown load
SAME_LOAD = 0.005  # a load counts as measured if it is above the highest level by at most this
FULL = 0.995  # loads from here on count as full load
BEND_SQUARES = 3.84  # a bend is possible if its squared residuals exceed the least by less
ROUNDED = 1e-9  # a smaller error of bursts is a rounding error: their real one is unknown


# Columns of fits: a shape, whether the levels do not contradict it, the throughput that it predicts
# and its range, between which loads T may bend, the sum of squared residuals in standard errors,
# degrees of freedom, and Akaike's criterion.
FIT = "shape fits throughput low high knee_low knee_high squares freedom criterion".split()


@dataclass(frozen=True)
class Prediction:
    """The throughput at a load: several shapes, without those that the levels contradict."""

    missing: str = ""  # why there is no prediction
    range: Band = UNKNOWN  # union of the fits' ranges, and of bends above the highest level
    free: Band = UNKNOWN  # the same if the line does not bend above the highest level
    highest: float = math.nan  # load of the highest level
    missed: float = math.nan  # relative error of predicting the highest level from those below it
    # lowest known knee between the highest level and the predicted load
    unidentified: float = math.nan
    fits: pd.DataFrame = field(default_factory=functools.partial(pd.DataFrame, columns=FIT))


@dataclass(frozen=True)
class _Data:
    """The levels from which one is predicted; bursts are one more level."""

    loads: Array
    throughputs: Array
    weights: Array  # error of a level divided by the error of this point
    error: Uncertainty  # of ln T at a level
    highest: float  # load of the highest level without bursts
    knees: Sequence[float]
    confidence: float

    @staticmethod
    def of(
        levels: pd.DataFrame, bursts: Array, error: Uncertainty, knees: Sequence[float],
        confidence: float,
    ) -> _Data:
        loads, throughputs = levels["load"].to_numpy(), np.exp(levels["log_mean"].to_numpy())
        points = np.column_stack([loads, throughputs, np.ones(len(loads))])
        every, rates, weights = np.vstack([points, bursts]).T
        return _Data(every, rates, weights, error, float(loads[-1]), knees, confidence)

    @property
    def has_burst(self) -> bool:
        return bool(self.loads[-1] > self.highest)

    def most(self, errors: float) -> float:
        """
        Return an upper bound of the throughput below full load: the throughput at full load plus
        standard errors. Infinite if full load was not measured, or has less than the level below.
        """
        last, before = self.throughputs[-1], self.throughputs[-2]
        if self.loads[-1] < FULL or last < before:
            return math.inf
        return float(last * math.exp(errors * self.error.error / self.weights[-1]))


def predict(
    line: Loadline,
    load: float,
    knees: Sequence[float] = (),
    burst: float = math.nan,
    burst_error: Uncertainty = UNSURE,
    confidence: float = 0.95,
) -> Prediction:
    """Predict the throughput at a load from the levels below it.

    `knees` are loads at which T may bend, besides bends that the levels show. `burst` is the mean
    throughput of short bursts at full load, `burst_error` the uncertainty of its logarithm.
    """
    if line.missing:
        return Prediction(FEW_LEVELS)
    last, highest = (float(line.levels[name].iloc[-1]) for name in ("log_mean", "load"))
    if load <= highest + SAME_LOAD:
        near = line.throughput(load, confidence)
        missing = "no level is near this load" if math.isnan(near.y) else ""
        return Prediction(missing, near, near, highest)

    error = Uncertainty(line.error.error / math.sqrt(2), line.error.freedom)
    # The error at the levels' degrees of freedom, so that intervals keep their width
    known = burst_error.half(confidence) / student(confidence, error.freedom)
    has_burst, weight = not math.isnan(burst), error.error / known if known > ROUNDED else 1.0
    bursts = np.array([[1.0, burst, weight]])[:has_burst]

    given = bursts, error, knees, confidence
    _, earlier = _fit_all(_Data.of(line.levels[:-1], *given), highest)
    fits, free = _fit_all(_Data.of(line.levels, *given), load)
    if not free.y > 0:
        return Prediction("the levels do not determine a shape", highest=highest, fits=fits)

    # Without bursts, T may bend right above the highest level, and stay flat.
    flat = math.inf if has_burst else math.exp(last - 2 * error.error)
    missed = abs(last - math.log(earlier.y)) if earlier.y > 0 else math.nan
    unknown = [knee for knee in knees if highest <= knee < load and not has_burst]
    unidentified = min(unknown, default=math.nan)
    widest = _widen(replace(free, low=min(free.low, flat)), missed)
    return Prediction("", widest, _widen(free, missed), highest, missed, unidentified, fits)


def _widen(band: Band, missed: float) -> Band:
    if math.isnan(missed):
        return band
    low = min(band.low, band.y * math.exp(-missed))
    return Band(band.y, low, max(band.high, band.y * math.exp(missed)))


def _terms(shape: str, bend: Array, load: Array) -> Array:
    """Return the terms of T / L, or L / T, on the last axis."""
    bend, load = np.broadcast_arrays(bend, load)
    below = np.minimum(load, bend)
    terms = {
        STRAIGHT: (np.ones_like(load), load),
        CURVE: (np.ones_like(load), load, load * load),
        KNEE: (np.ones_like(load), load, np.maximum(load - bend, 0) / load),
        LIMIT: (below / load, below * below / load),
    }
    return np.stack(terms[shape], axis=-1)


def _fit(shape: str, bends: Array, is_placed: bool, data: _Data, load: float) -> list[Any]:
    """
    Fit a shape by least squares of relative residuals, with each of `bends` (infinite: no bend).
    The error is known, so the width of intervals does not depend on how well a shape fits.

    The result has the squares of the best bend; and, from all bends that are not much worse, the
    union of ranges, the middle, and the loads of the bend. If the bend is fitted (`is_placed`), it
    costs a degree of freedom. Empty if the levels do not determine the shape.
    """
    count = len(data.loads)
    above = (data.loads > bends[:, None]).sum(axis=1)
    enough = 1 if data.loads[-1] >= FULL else 2
    bends = bends[((above >= enough) & (count - above >= 2)) | np.isinf(bends)]
    place = _terms(shape, bends, np.array(load))
    terms = place.shape[-1]
    freedom = count - terms - is_placed
    if len(bends) == 0 or freedom <= 0:
        return []
    is_inverse = shape == CURVE
    rates = data.throughputs / data.loads
    scale = data.weights * (rates if is_inverse else 1 / rates)
    matrix = scale[:, None] * _terms(shape, bends[:, None], data.loads)
    rate, gain, squares = _solve(matrix, data.weights, place)
    half = data.error.half(data.confidence) * np.where(squares > 0, gain, 0)
    good = np.isfinite(rate) & np.isfinite(half)
    if not good.any():
        return []
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = squares[good] / data.error.error**2
    band, best = _range_of(load, rate[good], half[good], is_inverse), _first_least(squares)
    p = float(special.fdtrc(freedom, data.error.freedom, squares[best] / freedom))
    found, knee, likelihood = _choose(data, band, bends[good], squares, is_placed)
    least = float(squares[best])
    criterion = least + 2 * terms - 2 * math.log(likelihood)
    is_possible = p > CONTRADICTED and found.y > 0
    return [shape, is_possible, *vars(found).values(), *knee, least, freedom, criterion]


def _choose(
    data: _Data, band: Band, bends: Array, squares: Array, is_placed: bool
) -> tuple[Band, tuple[float, float], float]:
    """
    Return the middle and the union of the ranges of all bends that are not much worse than the
    best, where they are, and the likelihood.

    That of a fitted bend is the mean over all loads instead of the largest one, so that a bend
    that fits at few loads only is less probable.
    """
    best = _first_least(squares)
    with np.errstate(invalid="ignore"):  # all are infinite if the levels have no error
        worse = squares - squares[best]
    close = worse <= BEND_SQUARES
    close[best] = True
    middle, likelihood, around = float(band.y[best]), 1.0, 0.0
    if is_placed:
        span, around = data.loads[-1] - data.loads[0], BEND_STEP / 2
        likelihood = float((np.exp(-worse / 2) * BEND_STEP / span).sum())
        middles = band.y[close & (band.y > 0) & (band.y <= data.most(1))]
        if len(middles):
            middle = math.sqrt(float(middles.min()) * float(middles.max()))
    knee = math.nan, math.nan
    if np.isfinite(bends[0]):
        knee = float(bends[close].min()) - around, float(bends[close].max()) + around
    found = Band(middle, float(band.low[close].min()), float(band.high[close].max()))
    return found, knee, likelihood


def _first_least(squares: Array) -> int:
    """Return the first that is the smallest, apart from rounding: several fits may be exact."""
    return int((squares <= squares.min() * (1 + 1e-9)).argmax())


def _solve(matrix: Array, ones: Array, place: Array) -> tuple[Array, Array, Array]:
    """
    Solve each matrix for `ones` by least squares. Return the solution at a place, its error per
    standard error, and the sum of squared residuals.
    """
    size = np.abs(matrix).sum(axis=1, keepdims=True)
    matrix = matrix / size
    inverse = np.linalg.pinv(matrix, rcond=np.finfo(float).eps)
    seen = np.einsum("bj,bji->bi", place / size[:, 0], inverse)
    residuals = ones - np.einsum("bij,bj->bi", matrix, inverse @ ones)
    return seen @ ones, np.sqrt(np.square(seen).sum(axis=1)), np.square(residuals).sum(axis=1)


def _range_of(load: float, rate: Array, half: Array, is_inverse: bool) -> Band:
    """Convert a range of T / L, or L / T, at a load to one of T, which may have no upper end."""
    low, high = np.maximum(rate - half, 0), rate + half
    if not is_inverse:
        return Band(load * rate, load * low, load * high)
    with np.errstate(divide="ignore"):
        return Band(load / rate, load / high, np.where(low > 0, load / low, math.inf))


def _fit_all(data: _Data, load: float) -> tuple[pd.DataFrame, Band]:
    """Return the fits of all shapes, and the union of the ranges of those that fit."""

    def bends(begin: float, end: float) -> Array:
        return np.arange(begin, end + BEND_STEP / 2, BEND_STEP)

    lowest, nowhere = float(data.loads[0]), np.array([math.inf])
    shapes = [
        (STRAIGHT, nowhere, False),
        (CURVE, nowhere, False),
        *((KNEE, np.array([knee]), False) for knee in data.knees),
        (KNEE, bends(lowest, data.highest), True),
        (LIMIT, bends(lowest, data.highest), True),
    ]
    if data.has_burst:  # bursts allow a bend anywhere up to full load
        shapes.append((KNEE, bends(data.highest, 1), True))
    found = [_fit(*shape, data, load) for shape in shapes]
    fits = pd.DataFrame([fit for fit in found if fit], columns=FIT)
    fitting = fits[fits["fits"].astype(bool)]
    if fitting.empty:
        return fits, _widened(fits[fits["throughput"] > 0])
    # Akaike's weights, relative to the first
    weights = np.exp((fitting["criterion"].iloc[0] - fitting["criterion"]) / 2)
    y = math.exp(np.average(np.log(fitting["throughput"]), weights=weights))
    high = min(fitting["high"].max(), data.most(2) if data.has_burst else math.inf)
    return fits, Band(y, fitting["low"].min(), high)


def _widened(fits: pd.DataFrame) -> Band:
    """Return the range of the best shape, widened to its residuals, because it does not fit."""
    if fits.empty:
        return UNKNOWN
    best = fits.iloc[_first_least(fits["squares"].to_numpy())]
    y, factor = best["throughput"], math.sqrt(best["squares"] / best["freedom"])
    low = max(best["low"] / y, np.finfo(float).tiny) ** factor
    high = (best["high"] / y) ** factor if math.isfinite(best["high"]) else math.inf
    return Band(y, y * low, y * high)
