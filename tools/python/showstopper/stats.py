# SPDX-License-Identifier: Apache-2.0
"""
Statistics that SciPy lacks, or has with fewer digits.

Functions of values take their last axis, so an array of many trials gives an array of results.
Values that the data do not determine are NaN: the mean of no value, the deviation of one, a line
through two points. All other values must be finite. Confidence is a fraction, such as 0.95.
Formulas and their sources are in showstopper-statistics(7).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

Array = npt.NDArray[np.float64]
Number = Any  # a float, or an array of them

_ignore = functools.partial(np.errstate, all="ignore")


def student(confidence: Number, freedom: Number) -> Number:
    """
    Return the bound that Student's t exceeds, up or down, with a probability of 1 - confidence.

    By the inverse of the incomplete beta function, since SciPy 1.10's quantile of t errs by 4e-9.
    From 1e7 degrees of freedom on, by the expansion around the normal quantile (Abramowitz and
    Stegun 26.7.5).
    """
    outside = 1 - np.asarray(confidence, dtype=float)
    freedom = np.asarray(freedom, dtype=float)
    with _ignore():
        part = special.betaincinv(freedom / 2, 0.5, outside)
        normal = -special.ndtri(outside / 2)
        expanded = normal + normal * (normal**2 + 1) / (4 * freedom)
        bound = np.where(freedom > 1e7, expanded, np.sqrt(freedom * (1 - part) / part))
    return bound[()]


def tail_t(t: Number, freedom: Number) -> Number:
    """Return the probability of both tails of Student's t beyond -t and +t."""
    return 2 * special.stdtr(freedom, -np.abs(t))


# Means and quantiles


@dataclass(frozen=True)
class Interval:
    """Bounds of a value: infinite if unbounded, NaN if unknown."""

    low: Number
    high: Number


@dataclass(frozen=True)
class Band:
    """A value with the confidence interval of its mean."""

    y: Number
    low: Number
    high: Number


@dataclass(frozen=True)
class Uncertainty:
    """The standard error of a mean, and its degrees of freedom; NaN if unknown."""

    error: Number
    freedom: Number

    def half(self, confidence: float) -> Number:
        """Return half the width of the confidence interval, by Student's t."""
        known = np.asarray(self.freedom) > 0
        return np.where(known, student(confidence, self.freedom) * self.error, math.nan)[()]

    def interval(self, mean: Number, confidence: float) -> Interval:
        half = self.half(confidence)
        return Interval(mean - half, mean + half)

    def of_difference(self, other: Uncertainty) -> Uncertainty:
        """Return the uncertainty of the difference of two independent means, after Satterthwaite.
        """
        squares = np.square(self.error), np.square(other.error)
        both = squares[0] + squares[1]
        with _ignore():
            parts = squares[0] ** 2 / self.freedom + squares[1] ** 2 / other.freedom
            freedom = np.where(parts > 0, both**2 / parts, self.freedom + other.freedom)
        return Uncertainty(np.sqrt(both), freedom[()])


@dataclass(frozen=True)
class Mean:
    """A mean, the standard deviation (n - 1), and the confidence interval by Student's t."""

    count: int
    mean: Number
    deviation: Number
    low: Number
    high: Number


def mean_of(values: npt.ArrayLike, confidence: float = 0.95) -> Mean:
    values = np.asarray(values, dtype=float)
    count = values.shape[-1]
    with _ignore():
        mean = values.sum(axis=-1) / np.float64(count)
        squares = np.square(values - mean[..., None]).sum(axis=-1)
        deviation = np.sqrt(squares / np.float64(count - 1))
    half = student(confidence, count - 1) * deviation / math.sqrt(max(count, 1))
    if count < 2:
        deviation = half = mean * math.nan
    return Mean(count, mean[()], deviation, mean - half, mean + half)


def quantile(values: npt.ArrayLike, share: float) -> float:
    """Return the quantile at a share from 0 to 1, interpolated between two values."""
    values = np.asarray(values, dtype=float)
    return float(np.quantile(values, share)) if len(values) else math.nan


def median(values: npt.ArrayLike) -> float:
    return quantile(values, 0.5)


def median_interval(values: npt.ArrayLike, confidence: float = 0.95) -> Interval:
    """
    Return the confidence interval of the median, for any distribution.

    The number of values below the median has a binomial distribution. The bounds are two of the
    values, or infinite if there are too few values (95 % needs six).
    """
    values = np.sort(np.asarray(values, dtype=float))
    count = len(values)
    outside = 2 * special.bdtr(np.arange(count // 2, dtype=float), count, 0.5)
    from_end = int(np.count_nonzero(1 - outside >= confidence))
    if from_end == 0:
        return Interval(-math.inf, math.inf)
    return Interval(float(values[from_end - 1]), float(values[count - from_end]))


BATCHES = 10  # more would be too short to be independent, fewer would leave too little freedom
CORRELATION_MAX = 0.9


def series_uncertainty(
    values: npt.ArrayLike, mean: float, weights: npt.ArrayLike | None = None
) -> Uncertainty:
    """
    Return the uncertainty of the mean of a series whose neighbors may be correlated.

    From the means of up to ten batches, widened by the correlation of successive batches.
    """
    values = np.asarray(values, dtype=float)
    count = len(values)
    batches = min(count, BATCHES)
    if batches < 2:
        return Uncertainty(math.nan, math.nan)
    weights = np.ones(count) if weights is None else np.asarray(weights, dtype=float)
    batch = np.arange(count) * batches // count
    offs = np.bincount(batch, weights * (values - mean))
    squares, products = float(offs @ offs), float(offs[1:] @ offs[:-1])
    # In a short series, the correlation seems smaller by about 1 / batches than it is.
    correlation = products / squares + 1 / batches if squares > 0 else 0.0
    correlation = min(max(correlation, 0), CORRELATION_MAX)
    error = math.sqrt(squares * batches / (batches - 1)) / weights.sum()
    return Uncertainty(error * math.sqrt((1 + correlation) / (1 - correlation)), batches - 1)


def mover(values: Sequence[Band], times: Sequence[float]) -> Band:
    """
    Return a sum of independent estimates, each multiplied by its element of `times`.

    The distance of each bound from the sum is the root of the sum of the squared distances of the
    estimates' bounds (MOVER: Zou and Donner 2008).
    """
    total, below, above = 0.0, 0.0, 0.0
    for value, factor in zip(values, times):
        distances = factor * (value.y - value.low), factor * (value.high - value.y)
        total = total + factor * value.y
        below = math.hypot(below, distances[0] if factor > 0 else distances[1])
        above = math.hypot(above, distances[1] if factor > 0 else distances[0])
    return Band(total, total - below, total + above)


# Histograms

LENGTH_MAX = 2.0**64 / 1e9  # seconds: longer times count as this one
BUCKET_BITS = 10  # 1024 buckets in each doubling


class Histogram:
    """
    Lengths of time, in seconds, counted in buckets of records (src/base/histogram.h).

    Each value counts as the middle of its bucket.
    """

    def __init__(self, seconds: npt.ArrayLike = (), counts: npt.ArrayLike = ()) -> None:
        counts = np.asarray(counts, dtype=float)
        first, width = _bucket(np.asarray(seconds, dtype=float)[counts > 0])
        middles = first + np.floor((width - 1) / 2)
        order = np.argsort(middles, kind="stable")
        self._middles = middles[order]  # nanoseconds
        self._counts = counts[counts > 0][order]
        self.most = float(self._middles[-1]) if len(order) else 0.0  # nanoseconds

    @property
    def count(self) -> int:
        return int(self._counts.sum())

    def set_most(self, seconds: float) -> None:
        """Replace the largest value, if it is in the same bucket."""
        most = np.array([seconds, self.most / 1e9])
        if self.count and np.ptp(_bucket(most)[0]) == 0:
            self.most = round(seconds * 1e9)

    def mean(self) -> float:
        """Return the mean in seconds."""
        if not self.count:
            return math.nan
        return float(self._middles @ self._counts) / self.count / 1e9

    def quantile(self, share: float) -> float:
        """Return the smallest value, in seconds, that this share of all values does not exceed."""
        count = self.count
        if not count:
            return math.nan
        # A product such as 0.07 * 100 may be just above the integer that it should be.
        rank = min(max(math.ceil(share * count * (1 - 1e-12)), 1), count)
        if rank == count:
            return (self.most if rank > 1 else float(self._middles[0])) / 1e9
        at = int(np.searchsorted(np.cumsum(self._counts), rank))
        return min(float(self._middles[at]), self.most) / 1e9


def _bucket(seconds: Array) -> tuple[Array, Array]:
    """Return the smallest value and the width of each value's bucket, in nanoseconds."""
    value = np.rint(np.minimum(seconds, LENGTH_MAX) * 1e9)
    width = np.exp2(np.maximum(np.frexp(value)[1] - 1 - BUCKET_BITS, 0))
    return np.floor(value / width) * width, width


# Lines and parabolas

MISSING_LINE = (
    "no fit: there are no points",
    "no fit: there is only one point",
    "no fit: there are only two points",
    "no fit: all points have the same load",
)


@dataclass(frozen=True)
class Line:
    """
    The line y = intercept + slope x by least squares.

    NaN with fewer than three points, since a line through two leaves no residual, and if all x are
    equal. If all y are equal, the slope is 0 and r_squared is NaN. If all points are on the line,
    errors are 0, and the p-value of a coefficient is 0, or NaN if the coefficient is 0, too.
    """

    count: int
    intercept: float = math.nan
    slope: float = math.nan
    intercept_error: float = math.nan  # standard errors
    slope_error: float = math.nan
    intercept_p: float = math.nan  # of the coefficient being 0: two-sided, t with n - 2
    slope_p: float = math.nan
    r_squared: float = math.nan
    x_mean: float = math.nan

    @property
    def missing(self) -> str:
        """Why there is no line; '' if there is one."""
        return "" if math.isfinite(self.slope) else MISSING_LINE[min(self.count, 3)]

    @property
    def covariance(self) -> tuple[float, float, float]:
        """Return the variance of the intercept, the covariance of both, that of the slope."""
        square = self.slope_error**2
        return self.intercept_error**2, -self.x_mean * square, square

    def at(self, x: Number, confidence: float = 0.95) -> Band:
        """Return the line at x, even outside of the points."""
        first, both, second = self.covariance
        y = self.intercept + self.slope * x
        error = np.sqrt(np.maximum(first + x * (2 * both + x * second), 0))
        half = student(confidence, self.count - 2) * error if self.count > 2 else y * math.nan
        return Band(y, y - half, y + half)

    def ratio(self, confidence: float, freedom: float) -> Interval:
        """
        Return Fieller's confidence interval of slope / intercept, for t with this freedom.

        It contains all ratios r for which slope - r intercept does not significantly differ from 0.
        Its bounds are infinite if the intercept is not significantly different from 0.
        """
        first, both, second = self.covariance
        ratio = self.slope / self.intercept if self.intercept else math.nan
        if not math.isfinite(ratio):
            return Interval(math.nan, math.nan)
        if first == 0 and second == 0:
            return Interval(ratio, ratio)
        square_t = float(student(confidence, freedom)) ** 2
        square = self.intercept**2 - square_t * first
        middle = self.intercept * self.slope - square_t * both
        last = self.slope**2 - square_t * second
        if not square > 0:
            return Interval(-math.inf, math.inf)
        half = math.sqrt(max(middle**2 - square * last, 0)) / square
        return Interval(middle / square - half, middle / square + half)

    def ratio_variance(self) -> float:
        """Return the variance of slope / intercept for small errors; NaN if it is not finite."""
        first, both, second = self.covariance
        ratio = self.slope / self.intercept if self.intercept else math.nan
        if not math.isfinite(ratio):
            return math.nan
        return max(second + ratio * (ratio * first - 2 * both), 0) / self.intercept**2


ROUNDING = 1e-10  # smaller errors, relative to values, are rounding errors


def _is_zero(difference: Number, of: Array) -> bool:
    """Return whether differences are rounding errors, such as residuals of points on a line: their
    signs and p-values depend on the CPU."""
    return bool(np.abs(difference).max() <= ROUNDING * np.abs(of).max())


def _p(coefficient: float, error: float, freedom: float) -> float:
    """Return the p-value of a coefficient being 0."""
    if error == 0:
        return math.nan if coefficient == 0 else 0.0
    return float(tail_t(coefficient / error, freedom))


def fit_line(x: npt.ArrayLike, y: npt.ArrayLike) -> Line:
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    count = len(x)
    if count < 3 or _is_zero(x - x.mean(), x):
        return Line(count)
    # scipy.stats takes half a second to import, and the errors of linregress(), from 1 - r², have
    # no digits if r is nearly 1.
    off_x, off_y = x - x.mean(), y - y.mean()
    spread = float(off_x @ off_x)
    slope = off_x @ off_y / spread
    intercept = y.mean() - slope * x.mean()
    residuals = y - intercept - slope * x
    with _ignore():
        r_squared = slope**2 * spread / (off_y @ off_y)
    error = math.sqrt(residuals @ residuals / (count - 2) / spread)
    errors = error * math.hypot(math.sqrt(spread / count), x.mean()), error
    slope = 0.0 if _is_zero(slope * (x - x.mean()), y) else float(slope)
    intercept = 0.0 if _is_zero(intercept, y) else float(intercept)
    if _is_zero(y - y.mean(), y):
        r_squared = math.nan
    if _is_zero(y - intercept - slope * x, y):
        errors, r_squared = (0.0, 0.0), math.nan if slope == 0 else 1.0
    return Line(
        count,
        intercept,
        slope,
        *errors,
        intercept_p=_p(intercept, errors[0], count - 2),
        slope_p=_p(slope, errors[1], count - 2),
        r_squared=float(r_squared),
        x_mean=float(x.mean()),
    )


@dataclass(frozen=True)
class Parabola:
    """
    The curve y = constant + linear x + square x² by least squares.

    NaN with fewer than four points, or fewer than three different x.
    """

    count: int
    constant: float = math.nan
    linear: float = math.nan
    square: float = math.nan
    square_p: float = math.nan  # of `square` being 0: two-sided, t with n - 3
    r_squared: float = math.nan  # NaN if all y are equal

    def at(self, x: Number) -> Number:
        return self.constant + x * (self.linear + x * self.square)

    def sag(self, width: float) -> float:
        """Return the greatest distance from the chord over this width, in its middle."""
        return abs(self.square) * width * width / 4

    @staticmethod
    def of_line(line: Line) -> Parabola:
        return Parabola(line.count, line.intercept, line.slope, 0.0, r_squared=line.r_squared)


def fit_parabola(x: npt.ArrayLike, y: npt.ArrayLike) -> Parabola:
    """Fit around the mean of x, where x and x² are nearly independent."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    count = len(x)
    if count < 4 or _is_zero(x - x.mean(), x):
        return Parabola(count)
    middle = x.mean()
    if len(np.unique(((x - middle) / np.ptp(x)).round(10))) < 3:
        return Parabola(count)
    (square, line, constant), covariance = np.polyfit(x - middle, y, 2, cov=True)
    residuals = y - np.polyval((square, line, constant), x - middle)
    rest, spread = float(residuals @ residuals), float(np.square(y - y.mean()).sum())
    error = math.sqrt(covariance[0, 0])
    if _is_zero(residuals, y):
        rest = error = 0.0
    if _is_zero(square * (x - middle) ** 2, y):
        square = 0.0
    if _is_zero(y - y.mean(), y):
        line = spread = 0.0
    return Parabola(
        count,
        constant=float(constant - middle * (line - square * middle)),
        linear=float(line - 2 * square * middle),
        square=float(square),
        square_p=_p(square, error, count - 3),
        r_squared=1 - rest / spread if spread else math.nan,
    )


# Curves

CURVE_MIN, CURVE_MAX = 5, 2000  # points of a curve
BANDWIDTHS = 24  # finite bandwidths that are tried, in a geometric sequence
BANDWIDTH_MAX = 4.0  # the largest finite one, in ranges of x: weights are then nearly equal
SAME_LOAD = 0.01  # x closer than this part of their range count as one, such as a level held twice
LOADS_MIN = 3  # different x in a window: a line through two would always be exact
ERROR_RATIO_MAX = 1.05  # of the error of the chosen curve to the smallest error
OWN_WEIGHT_MAX = 0.95  # a point with more weight in its own value predicts itself
FREEDOM_MIN = 0.99  # 1, as of a line through three points, less rounding errors


@dataclass(frozen=True)
class Curve:
    """
    A smooth curve through points: local linear regression (Cleveland 1979).

    Its value at x is that of a line by weighted least squares: a point at distance d below the
    bandwidth h has the weight (1 - |d/h|³)³. An infinite h gives one straight line.
    """

    x: Array = field(repr=False)  # ascending
    y: Array = field(repr=False)
    bandwidth: float
    variance: float  # of a point around the curve
    freedom: float  # n - 2 tr(L) + tr(L'L), for the hat matrix L

    @property
    def least(self) -> float:
        return float(self.x[0])

    @property
    def most(self) -> float:
        return float(self.x[-1])

    def weights(self, at: npt.ArrayLike) -> Array:
        """
        Return the weights whose sum with the points' y is the curve at each x of `at`.

        The last axis are the points. Outside of [least, most] weights may be NaN.
        """
        return _weights(self.x, np.asarray(at, dtype=float), self.bandwidth)

    def sum(self, weights: Array, confidence: float = 0.95) -> Band:
        """Return the sum of weights and y, and the interval of its mean by Student's t."""
        y = weights @ self.y
        error = np.sqrt(self.variance * np.square(weights).sum(axis=-1))
        half = student(confidence, self.freedom) * error
        return Band(y, y - half, y + half)

    def at(self, x: npt.ArrayLike, confidence: float = 0.95) -> Band:
        """Return the curve at x and the interval of the mean; NaN outside of the points."""
        x = np.asarray(x, dtype=float)
        with _ignore():
            band = self.sum(self.weights(x), confidence)
        inside = (x >= self.least) & (x <= self.most)
        return Band(
            *(np.where(inside, part, math.nan)[()] for part in (band.y, band.low, band.high))
        )


def _weights(x: Array, at: Array, bandwidth: float) -> Array:
    """Return the rows of the hat matrix for the values of `at`."""
    distance = x - at[..., None]
    with _ignore():
        far = np.abs(distance) / bandwidth
        near = np.maximum(1 - far * far * far, 0)
        weight = near * near * near  # as powers, both would take ten times as long
        moment = weight * distance
        total, first, second = (
            part.sum(axis=-1, keepdims=True) for part in (weight, moment, moment * distance)
        )
        row: Array = (weight * second - moment * first) / (total * second - first**2)
    return row


def _judge(x: Array, y: Array, bandwidth: float) -> tuple[Curve, float]:
    """
    Return the curve with this bandwidth, and its mean squared error of predicting each point from
    the others: infinite if the bandwidth cannot be used.
    """
    hat = _weights(x, x, bandwidth)
    own, residuals = np.diag(hat), y - hat @ y
    with _ignore():
        error = float(np.square(residuals / (1 - own)).mean())
        freedom = len(x) - 2 * float(own.sum()) + float(np.square(hat).sum())
        variance = float(np.square(residuals).sum() / np.float64(freedom))
    usable = bool(np.all(own < OWN_WEIGHT_MAX)) and freedom >= 1 and math.isfinite(error)
    return Curve(x, y, bandwidth, variance, freedom), error if usable else math.inf


def _narrowest(x: Array) -> float:
    """Return the smallest bandwidth at which every window has three loads and none is empty."""
    span = float(x[-1] - x[0])
    bandwidth = max(1.5 * float(np.diff(x).max()), 2 * SAME_LOAD * span)
    distance = np.abs(x - x[:, None])
    count = len(x)
    # The first point that is another load than each point; `count` after the last one.
    further = (x - x[:, None] >= SAME_LOAD * span).argmax(axis=1)
    another = np.append(np.where(further == 0, count, further), count)
    while bandwidth < BANDWIDTH_MAX * span:
        inside = distance < bandwidth
        first = inside.argmax(axis=1)
        end = count - inside[:, ::-1].argmax(axis=1)
        if np.all(another[another[first]] < end):
            break
        bandwidth *= 1.1
    return bandwidth


def fit_curve(x: npt.ArrayLike, y: npt.ArrayLike, bandwidth: float | None = None) -> Curve | None:
    """
    Fit a curve; None with fewer than 5 or more than 2000 points, or if all x are equal. Three
    points are enough for a given bandwidth.

    Chooses, from the smallest bandwidth that leaves no gap up to infinity, the largest one whose
    mean squared error of predicting each point from the others is at most 5 % above the smallest.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    fewest = CURVE_MIN if bandwidth is None else LOADS_MIN
    if not fewest <= len(x) <= CURVE_MAX or _is_zero(x - x[0], x):
        return None
    if bandwidth is not None:
        curve = _judge(x, y, bandwidth)[0]
        return curve if curve.freedom > FREEDOM_MIN else None
    widest = BANDWIDTH_MAX * float(x[-1] - x[0])
    bandwidths = [*np.geomspace(_narrowest(x), widest, BANDWIDTHS).tolist(), math.inf]
    curves = [_judge(x, y, bandwidth) for bandwidth in bandwidths]
    errors = np.maximum([error for _, error in curves], ROUNDING**2 * float(np.square(y).mean()))
    good = np.flatnonzero(errors <= ERROR_RATIO_MAX * errors.min())
    curve, error = curves[good[-1] if len(good) else 0]
    return curve if math.isfinite(error) else None


# Means that are examined after every value

LOOK_MIN = 10  # values for a sequential interval
ABBA, BAAB = 0, 1  # the orders of a block of four runs


@dataclass(frozen=True)
class Look:
    """An estimate of a mean that is examined after every value, until the study is decided."""

    count: int
    mean: Number
    deviation: Number  # standard deviation of one value; NaN if unknown
    half: Number  # half the width of the interval; infinite if unknown


# With a planned end N, the sum of n values is compared with the same bound for all n up to N. For
# a Brownian motion W, P(max |W(t)| > 2.24 for t from 0 to 1) = 5 %: by reflection, half of the
# paths that cross 2.24 end above it, so 2.24 is the normal quantile at 1 - 5 % / 4. Student's t
# replaces the normal quantile, since the deviation is estimated.
_LEVEL = 0.975

# Without an end, the boundary of a normal mixture (Robbins 1970): half² = s² (n + rho)
# (2 ln(1/0.05) + ln((n + rho) / rho)) / n². It is narrowest at a few times rho values.
_MIXTURE, _MIXTURE_BASE = 12, 6


def look_at(values: npt.ArrayLike, orders: npt.ArrayLike | None = None, planned: int = 0) -> Look:
    """
    Estimate the mean of values. In 95 % of the studies, the interval contains it at all looks.

    `planned` is the number of values after which the study ends, fixed before its first value; 0
    if it has no end, which makes the interval wider. `orders` are the orders of the blocks, ABBA
    or BAAB: the result is the mean of both orders' means, and the deviation is taken within each
    order, so that an effect of the position in a block, such as a slow first run, cancels.
    """
    values = np.asarray(values, dtype=float)
    count = values.shape[-1]
    part_of = np.zeros(count, dtype=int) if orders is None else np.asarray(orders)
    used = 1 if orders is None else 2
    with _ignore():
        masks = [part_of == part for part in range(used)]
        counts = [mask.sum(axis=-1) for mask in masks]
        means = [np.where(mask, values, 0).sum(axis=-1) / n for mask, n in zip(masks, counts)]
        mean = sum(part / used for part in means)
        centers = sum(np.where(m, part[..., None], 0) for m, part in zip(masks, means))
        # The mean of both orders is less certain if they occur unequally often.
        unbalance = sum(np.float64(count) / n / used**2 for n in counts)
        deviation = np.sqrt(np.square(values - centers).sum(axis=-1) / (count - used) * unbalance)
        n = count + _MIXTURE
        width = math.sqrt(n * (_MIXTURE_BASE + math.log(n / _MIXTURE)))
        if planned > 0:
            width = student(_LEVEL, count - used) * math.sqrt(planned)
        half = deviation * width / np.float64(count)
    known = np.isfinite(mean) & (count > used)
    deviation = np.where(known, deviation, math.nan)[()]
    half = np.where(known & (count >= LOOK_MIN), half, math.inf)[()]
    return Look(count, np.asarray(mean)[()], deviation, half)


def log(values: npt.ArrayLike) -> Array:
    """Return natural logarithms; NaN of numbers that are not positive."""
    values = np.asarray(values, dtype=float)
    logs: Array = np.log(values, where=values > 0, out=np.full(values.shape, math.nan))
    return logs


def block_difference(a: npt.ArrayLike, b: npt.ArrayLike) -> Number:
    """Return the mean of ln(B) minus the mean of ln(A) of blocks with two runs of each."""
    return log(b).mean(axis=-1) - log(a).mean(axis=-1)


def turn_differences(figures: npt.ArrayLike) -> Array:
    """
    Compare two processes that run in turn, X Y X Y ..., by their figures.

    Each group of three turns gives the mean of ln(Y) minus the mean of ln(X), in which a steady
    drift cancels: NaN if a figure is not positive.
    """
    logs = log(figures)
    groups = logs.shape[-1] // 3
    turns = logs[..., : 3 * groups].reshape(*logs.shape[:-1], groups, 3)
    difference = turns[..., 1] - (turns[..., 0] + turns[..., 2]) / 2
    signed: Array = np.where(np.arange(groups) % 2 == 0, difference, -difference)
    return signed


def percent_of(difference: Number) -> Number:
    """Convert a difference of logarithms to percent."""
    return 100 * np.expm1(difference)
