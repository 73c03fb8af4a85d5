# SPDX-License-Identifier: Apache-2.0
"""
The part F of its maximum throughput that a machine reaches at a load.

It follows from levels of load that were each held twice in a round: on the way up and on the way
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

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import special

from . import steps
from .statistics import Array, Band, Interval, Uncertainty, log, student

SAME_TARGET = 1e-4  # tolerance for targets of one level, which records have with six decimals
IDLE = 1e-3  # a level below this is idle
ERRORS_TO_EXCEED = 3  # a lower level is the maximum if it exceeds the highest one by these errors
LEVELS_MIN, LEVELS_MAX, ROUNDS_MAX = 4, 64, 64
BEYOND_HIGHEST = 0.005  # a load may exceed that of the highest level: targets are rarely reached
LOADS_APART = 1e-6  # levels with the same load are moved this far apart
# Standard error of the sum of two neighboring bends minus the sum of the bends next to them, in
# standard errors of a level: 28 = 1 + 9 + 4 + 4 + 9 + 1 is the sum of the squared coefficients.
BENDS_NOISE = math.sqrt(28)
KNEE_ERRORS = 2  # a knee gets half of its weight if its bends exceed their noise by this factor

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
        """
        Return F and the throughput of a level by its position, since several levels have the same
        load if the machine is saturated.
        """
        weights = np.eye(len(self.levels) + 1)[level + 1]
        place = _Place(weights, float(self._throughputs[level]), 0.0)
        return self._band(place, True, confidence), self._band(place, False, confidence)

    @property
    def _throughputs(self) -> Array:
        throughputs: Array = np.exp(self.levels["log_mean"].to_numpy(float))
        return throughputs

    def _band(self, place: _Place | None, is_relative: bool, confidence: float) -> Band:
        """Return T at a place, or its part of the full level, whose error is 0 at that level."""
        if not place:
            return UNKNOWN
        value = place.throughput / (self._throughputs[self.full] if is_relative else 1)
        weights = place.weights[1:] * self._throughputs / place.throughput
        weights[self.full] -= is_relative
        error = math.sqrt(np.square(weights).sum() / 2) * self.error.half(confidence)
        half = math.hypot(error, place.shape)
        return Band(value, value * math.exp(-half), value * math.exp(half))


def loadline_of(visits: pd.DataFrame) -> Loadline:
    """
    Return the line through visits of levels: target, load, throughput, watts, round (from 1), and
    whether each is on the way up.

    Leaves out levels that lack a throughput in any round or way. If a level is visited more than
    once in a round and way, the first visit counts.
    """
    columns = ("target", "load", "throughput", "watts", "round")
    target, load, throughput, watts, number = (visits[name].to_numpy(float) for name in columns)
    targets = np.unique(target[target >= IDLE])
    targets = targets[np.diff(targets, prepend=-1) > SAME_TARGET]
    none = pd.DataFrame(columns=[*columns[:2], "log_mean", "log_up", "log_down", "watts", "visits"])
    if np.any((number < 1) | (number > ROUNDS_MAX)):
        return Loadline(none, "too many rounds")
    if len(targets) > LEVELS_MAX:
        return Loadline(none, "too many levels")
    if len(targets) == 0:
        return Loadline(none, FEW_LEVELS)

    near = np.abs(targets - target[:, None]) <= SAME_TARGET
    way = np.where(visits["up"].to_numpy(bool), 0, 1)
    keys = pd.DataFrame({"level": near.argmax(axis=1), "round": number, "way": way})
    is_known = near.any(axis=1) & (throughput > 0) & (load > 0)
    known = np.flatnonzero(is_known)[~keys[is_known].duplicated().to_numpy()]
    level = keys["level"].to_numpy()[known]

    # ln(T / L) by level, round with a visit, and way
    rounds, place = np.unique(number[known], return_inverse=True)
    logs = np.full((len(targets), len(rounds), 2), math.nan)
    logs[level, place, way[known]] = log(throughput[known] / load[known])
    is_complete = np.isfinite(logs).all(axis=(1, 2)) & (len(rounds) > 0)
    logs = logs[is_complete]

    count = np.bincount(level, minlength=len(targets))[is_complete]
    loads = np.bincount(level, load[known], len(targets))[is_complete] / count
    by_way = (logs / max(len(rounds), 1)).sum(axis=1) + log(loads)[:, None]
    levels = pd.DataFrame(
        {
            "target": targets[is_complete],
            "load": loads,
            "log_mean": by_way.mean(axis=1),
            "log_up": by_way[:, 0],
            "log_down": by_way[:, 1],
            "watts": np.bincount(level, watts[known], len(targets))[is_complete] / count,
            "visits": count,
        }
    )
    line = Loadline(
        levels.sort_values("load", kind="stable", ignore_index=True),
        missing=FEW_LEVELS if len(levels) < LEVELS_MIN else "",
        idle_watts=steps.mean(watts[target < IDLE]),
        rounds=len(rounds),
        left_out=int(np.count_nonzero(~is_complete)),
    )
    return line if line.missing else _with_errors(line, logs[:, :, 0] - logs[:, :, 1])


def _with_errors(line: Loadline, differences: Array) -> Loadline:
    count, rounds = differences.shape
    off = np.arange(count) - (count - 1) / 2
    means = differences.mean(axis=0)
    drift = off @ differences / (off @ off)
    residuals = differences - means - off[:, None] * drift
    freedom = rounds * (count - 2)
    variance = float(np.square(residuals).sum()) / freedom
    error = math.sqrt(variance / 2 / rounds)

    # Saturated levels have one load, so the highest target is full unless another has more.
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


# Interpolation


@dataclass(frozen=True)
class _Place:
    """A load between two knots: idle, where the throughput is 0, and the levels."""

    weights: Array  # of the knots' throughputs, in a sum that is the throughput
    throughput: float
    shape: float  # possible error of the sum, as a part of the throughput


def _find_place(line: Loadline, load: float) -> _Place | None:
    """
    Return None if the load is above the highest level, or further below the lowest level than the
    next level is above it.
    """
    if line.missing:
        return None
    loads = line.levels["load"].to_numpy()
    above = load > loads[-1] + BEYOND_HIGHEST
    if not load > 0 or above or 2 * loads[0] - loads[1] > load + LOADS_APART:
        return None
    knots = [0.0]
    for one in loads.tolist():
        knots.append(max(one, knots[-1] + LOADS_APART))
    heights = np.concatenate([[0.0], line._throughputs])

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
    """
    Interpolate at the part `way` of the distance from knot `below` to the next one.

    The throughput differs from the straight line between them, in the direction of the bends:

    - On a smooth curve with bend b at both knots, by way (1 - way) / 2 b. b is the harmonic mean
      of both bends: a knee beyond one of the knots makes the bend there large, and the smaller
      bend counts (Amat, Donat, Liandrat and Trillo 2006).
    - With a knee between the knots, by min(way left, (1 - way) right): the throughput is on the
      extended line from below, then on the one from above.

    The evidence of a knee weights both. The possible error combines the difference between the
    arithmetic and the harmonic mean of the bends with the difference between both shapes, which
    counts least if the evidence is clear.
    """
    gaps = np.diff(knots)
    distance, curve = float(gaps[below]), way * (1 - way) / 2
    chord = float((1 - way) * heights[below] + way * heights[below + 1])
    weights = np.zeros(len(knots))
    weights[below], weights[below + 1] = 1 - way, way

    # Bends are changes of slope times the distance. An end of the line has that of the other knot.
    bends = distance * np.diff(np.diff(heights) / gaps, prepend=0)
    places = max(below, 1), min(below + 1, len(bends) - 1)
    left, right = bends[list(places)].tolist()
    next_ones = places[0] - 1, places[1] + 1
    beside = [float(bends[knot]) for knot in next_ones if 0 < knot < len(bends)]
    if left * right <= 0:  # opposite directions
        return _Place(weights, chord, 0.0)
    both, further = left + right, 2 * sum(beside) / len(beside)
    change = left - beside[0] if places[0] == places[1] else 0.0

    is_from_below = way * abs(left) < (1 - way) * abs(right)
    knee = _weigh_knee(left, right, further, error * chord)
    smooth = curve * (1 - knee)
    smooth_bend = 2 * left * right / both
    knee_shift = way * left if is_from_below else (1 - way) * right

    # The harmonic mean H of a and b is a dH/da + b dH/db.
    parts = -2 * smooth * (right / both) ** 2, -2 * smooth * (left / both) ** 2
    knees = (knee * way, 0.0) if is_from_below else (0.0, knee * (1 - way))
    for knot, part, of_knee in zip(places, parts, knees, strict=True):
        before, after = (part - of_knee) * distance / gaps[knot - 1 : knot + 1]
        weights[knot - 1 : knot + 2] += before, -(before + after), after

    throughput = chord - smooth * smooth_bend - knee * knee_shift
    unequal = min(abs(both / 2 - smooth_bend), abs(smooth_bend))
    shape = math.hypot(
        4 * knee * (1 - knee) * (knee_shift - curve * smooth_bend),
        curve * (abs(change) + unequal),
    )
    return _Place(weights, throughput, shape / throughput)


# Power


def power_of(line: Loadline) -> pd.DataFrame:
    """
    Return power at equal parts of the maximum throughput: part, throughput, watts, per_joule.

    As in SPECpower, the parts are 100, 90 ... 10 % of the throughput, not of the load, and idle.
    Empty if the power at a level or of the idle machine is unknown. The overall operations per
    joule are the sum of the throughput over the sum of the watts.
    """
    watts = line.levels["watts"].to_numpy(float)[: line.full + 1]
    if not (np.all(watts > 0) and line.idle_watts > 0):
        return pd.DataFrame(columns=["part", "throughput", "watts", "per_joule"])
    at = line._throughputs[: line.full + 1]
    before, watts_before = np.append(0, at[:-1]), np.append(line.idle_watts, watts[:-1])

    part = np.arange(10, -1, -1) / 10
    throughput = part * at[-1]
    # The first level that has this throughput, after a level with less.
    reached = (at >= throughput[:, None]) & (at > before)
    level = reached.argmax(axis=1)
    way = (throughput - before[level]) / (at[level] - before[level])
    between = watts_before[level] + (watts[level] - watts_before[level]) * way
    found = np.where(reached.any(axis=1), between, watts[-1])
    columns = {"part": part, "throughput": throughput, "watts": found}
    return pd.DataFrame(columns).assign(per_joule=throughput / found)


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
BURST_ERROR_MIN = 1e-9  # a smaller error of bursts is of rounding only, and theirs is unknown


@dataclass(frozen=True)
class Fit:
    shape: str
    knee: Interval  # loads at which T may bend; NaN without a knee
    range: Band  # of the predicted throughput
    fits: bool  # the levels do not contradict the shape
    squares: float  # sum of squared residuals, in standard errors
    freedom: float
    criterion: float  # Akaike's, to compare shapes


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
    fits: tuple[Fit, ...] = ()


@dataclass(frozen=True)
class _Data:
    """The levels; bursts are one more level."""

    loads: Array
    throughputs: Array
    weights: Array  # error of a level divided by the error of this point
    error: Uncertainty  # of ln T at a level

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
    """
    Predict the throughput at a load from the levels below it.

    `knees` are loads at which T may bend, besides bends that the levels show. `burst` is the mean
    throughput of short bursts at full load, `burst_error` the uncertainty of its logarithm.
    """
    if line.missing or len(line.levels) < LEVELS_MIN:
        return Prediction(FEW_LEVELS)
    loads, logs = line.levels["load"].to_numpy(), line.levels["log_mean"].to_numpy()
    highest = float(loads[-1])
    if load <= highest + SAME_LOAD:
        band = line.throughput(load, confidence)
        missing = "no level is near this load" if math.isnan(band.y) else ""
        return Prediction(missing, band, band, highest)

    error = Uncertainty(line.error.error / math.sqrt(2), line.error.freedom)
    points = np.column_stack([loads, np.exp(logs), np.ones(len(loads))])
    bursts = np.empty((0, 3))
    if has_burst := not math.isnan(burst):
        # The error at the levels' degrees of freedom, so that intervals keep their width.
        known = burst_error.half(confidence) / student(confidence, error.freedom)
        weight = error.error / known if known > BURST_ERROR_MIN else 1.0
        bursts = np.array([[1.0, burst, weight]])

    def from_levels(count: int, load: float) -> tuple[tuple[Fit, ...], Band]:
        held, throughputs, weights = np.vstack([points[:count], bursts]).T
        data = _Data(held, throughputs, weights, error)
        return _fit_all(data, float(loads[count - 1]), load, knees, has_burst, confidence)

    earlier = from_levels(len(loads) - 1, highest)[1]
    fits, free = from_levels(len(loads), load)
    if not free.y > 0:
        return Prediction("the levels determine no shape", highest=highest, fits=fits)

    # Without bursts, T may bend right above the highest level, and stay flat.
    flat = math.inf if has_burst else math.exp(float(logs[-1]) - 2 * error.error)
    missed = abs(float(logs[-1]) - math.log(earlier.y)) if earlier.y > 0 else math.nan
    unknown = [knee for knee in knees if highest <= knee < load and not has_burst]
    return Prediction(
        range=_widen(replace(free, low=min(free.low, flat)), missed),
        free=_widen(free, missed),
        highest=highest,
        missed=missed,
        unidentified=min(unknown, default=math.nan),
        fits=fits,
    )


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


def _fit(
    shape: str, bends: Array, is_placed: bool, data: _Data, load: float, confidence: float
) -> Fit | None:
    """
    Fit a shape by least squares of relative residuals, with each bend; infinite: without one. The
    error is known, so the width of intervals does not depend on how well a shape fits.

    The result has the squares of the best bend; and, from all bends that are not much worse, the
    union of ranges, the middle, and the loads of the bend. If the bend is fitted (`is_placed`), it
    costs a degree of freedom, and the criterion uses the mean likelihood over all loads instead of
    the largest one, so that a bend that fits at few loads only is less probable. None if the
    levels do not determine the shape.
    """
    count = len(data.loads)
    above = (data.loads > bends[:, None]).sum(axis=1)
    enough = 1 if data.loads[-1] >= FULL else 2
    bends = bends[((above >= enough) & (count - above >= 2)) | np.isinf(bends)]
    place = _terms(shape, bends, np.array(load))
    freedom = count - place.shape[-1] - is_placed
    if len(bends) == 0 or freedom <= 0:
        return None

    is_inverse = shape == CURVE
    rates = data.throughputs / data.loads
    scale = data.weights * (rates if is_inverse else 1 / rates)
    matrix = scale[:, None] * _terms(shape, bends[:, None], data.loads)
    rate, gain, squares = _solve(matrix, data.weights, place)
    half = data.error.half(confidence) * np.where(squares > 0, gain, 0)
    good = np.isfinite(rate) & np.isfinite(half)
    if not good.any():
        return None

    with np.errstate(divide="ignore", invalid="ignore"):
        squares = squares[good] / data.error.error**2
    band, bends = _range_of(load, rate[good], half[good], is_inverse), bends[good]
    best = _first_least(squares)
    with np.errstate(invalid="ignore"):  # all are infinite if the levels have no error
        worse = squares - squares[best]
    close = worse <= BEND_SQUARES
    close[best] = True
    middles = band.y[close & (band.y > 0) & (band.y <= data.most(1))]
    middle, knee, likelihood = float(band.y[best]), Interval(math.nan, math.nan), 1.0
    if is_placed:
        span = data.loads[-1] - data.loads[0]
        likelihood = float((np.exp(-worse / 2) * BEND_STEP / span).sum())
        if len(middles):
            middle = math.sqrt(float(middles.min()) * float(middles.max()))
    if np.isfinite(bends[0]):
        around = BEND_STEP / 2 if is_placed else 0.0
        knee = Interval(float(bends[close].min()) - around, float(bends[close].max()) + around)

    p = float(special.fdtrc(freedom, data.error.freedom, squares[best] / freedom))
    found = Band(middle, float(band.low[close].min()), float(band.high[close].max()))
    least = float(squares[best])
    criterion = least + 2 * place.shape[-1] - 2 * math.log(likelihood)
    is_possible = p > CONTRADICTED and middle > 0
    return Fit(shape, knee, found, is_possible, least, freedom, criterion)


def _first_least(squares: Array) -> int:
    """Return the first of the smallest, which may differ by rounding: several fits are exact."""
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


def _fit_all(
    data: _Data,
    highest: float,
    load: float,
    knees: Sequence[float],
    has_burst: bool,
    confidence: float,
) -> tuple[tuple[Fit, ...], Band]:
    """Return the fits of all shapes, and the union of the ranges of those that fit."""
    lowest, nowhere = float(data.loads[0]), np.array([math.inf])
    shapes = [
        (STRAIGHT, nowhere, False),
        (CURVE, nowhere, False),
        *((KNEE, np.array([knee]), False) for knee in knees),
        (KNEE, _bends(lowest, highest), True),
        (LIMIT, _bends(lowest, highest), True),
    ]
    if has_burst:  # bursts allow a bend anywhere up to full load
        shapes.append((KNEE, _bends(highest, 1), True))
    found = [_fit(*shape, data, load, confidence) for shape in shapes]
    fits = tuple(fit for fit in found if fit)
    fitting = [fit for fit in fits if fit.fits]
    if not fitting:
        return fits, _widened([fit for fit in fits if fit.range.y > 0])
    # Akaike's weights, relative to the first
    weights = [math.exp((fitting[0].criterion - fit.criterion) / 2) for fit in fitting]
    y = math.exp(np.average([math.log(fit.range.y) for fit in fitting], weights=weights))
    low = min(fit.range.low for fit in fitting)
    high = max(fit.range.high for fit in fitting)
    return fits, Band(y, low, min(high, data.most(2)) if has_burst else high)


def _bends(begin: float, end: float) -> Array:
    """Return the loads that are tried for a bend in a range."""
    return np.arange(begin, end + BEND_STEP / 2, BEND_STEP)


def _widened(fits: list[Fit]) -> Band:
    """Return the range of the best shape, though it does not fit: widened to its residuals."""
    if not fits:
        return UNKNOWN
    best = fits[_first_least(np.array([fit.squares for fit in fits]))]
    band, factor = best.range, math.sqrt(best.squares / best.freedom)
    low = max(band.low / band.y, np.finfo(float).tiny) ** factor
    high = (band.high / band.y) ** factor if math.isfinite(band.high) else math.inf
    return Band(band.y, band.y * low, band.y * high)
