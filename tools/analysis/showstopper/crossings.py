# SPDX-License-Identifier: Apache-2.0
"""The best placement of two programs, and the loads at which another one becomes better."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from . import statistics
from .pairs import FOREGROUND, SAME_PAIR, Pair, alike
from .statistics import Array, Band, Curve, Interval
from .studies import Report, others_permit

STEPS_MIN = 3  # for a line with a confidence interval
ROUNDS_MIN = 3  # for an interval from their means
GRID = 200  # intervals of the loads in which crossings are sought
HALVINGS = 50  # of such an interval


@dataclass(frozen=True)
class Change:
    """A load of the background at which the best placement changes."""

    below: str
    above: str
    load: float
    interval: Interval  # its bounds may be infinite

    @property
    def is_clear(self) -> bool:
        """Whether the interval is within the measured loads."""
        return math.isfinite(self.interval.low) and math.isfinite(self.interval.high)


@dataclass
class Placements:
    """A foreground next to a background in one environment, with every placement, by one measure.

    All placements have the same steps, loads and bandwidth, so that the difference of two curves is
    the curve of the differences. Steps are ordered by load.
    """

    pair: Pair  # the first one
    measure: str
    confidence: float
    names: list[str]
    rounds: Array
    loads: Array
    foreground: Array  # part of the measure, by placement and step
    background: Array
    best: int = 0
    second: int = 1
    advantage: float = math.nan  # of the best over the second, relative to the second
    interval: Interval = Interval(math.nan, math.nan)
    is_clear: bool = False  # the interval does not contain 0
    by_rounds: int = 0  # rounds from which the interval comes; 0: it comes from the steps
    changes: list[Change] = field(default_factory=list)

    @property
    def steps(self) -> int:
        return len(self.loads)

    @property
    def is_known(self) -> bool:
        """Whether two placements have enough steps in common."""
        return len(self.names) > 1 and self.steps >= STEPS_MIN

    @staticmethod
    def compare(report: Report, pair: Pair, measure: str) -> Placements:
        """Compare all pairs that differ from this one only in placement and round."""
        like = alike(report, pair, SAME_PAIR)
        enough = [p for p in like if _known(p, measure).sum() >= STEPS_MIN]
        names = list(dict.fromkeys(p.placement for p in enough))
        firsts = [p for p in like if p.placement in names[:1]]
        rows = [_common_steps(first, like, names, measure) for first in firsts]
        steps = np.concatenate([np.empty((0, 2 + 2 * len(names))), *rows])
        loads, rounds, *parts = steps[np.argsort(steps[:, 0], kind="stable")].T
        sides = np.array(parts[::2]), np.array(parts[1::2])
        made = Placements(pair, measure, report.settings.confidence, names, rounds, loads, *sides)
        if made.is_known:
            made._find_best()
            made._find_changes()
        return made

    def _difference(self, more: int, less: int) -> Array:
        difference: Array = self._values[more] - self._values[less]
        return difference

    @cached_property
    def _values(self) -> Array:
        return self.foreground + self.background

    @cached_property
    def _bandwidth(self) -> float:
        """The smallest that is chosen for a difference from the first placement."""
        differences = (self._difference(at, 0) for at in range(1, len(self.names)))
        curves = (statistics.fit_curve(self.loads, difference) for difference in differences)
        return min((curve.bandwidth for curve in curves if curve), default=math.inf)

    def _curve(self, more: int, less: int) -> Curve | None:
        return statistics.fit_curve(self.loads, self._difference(more, less), self._bandwidth)

    def _widen(self, weights: Array, more: int, less: int, band: Band) -> Band:
        """Widen the interval of a difference by the uncertainty of the throughputs alone, by which
        its parts were divided: add the squares of the half-widths (MOVER)."""
        if self.measure == FOREGROUND or self.pair.is_one_program:
            return band
        sides = zip((self.foreground, self.background), self.pair.alone)
        square = sum(((weights @ (of[more] - of[less])) * alone.error) ** 2 for of, alone in sides)
        low, high = (np.sqrt(half**2 + square) for half in (band.y - band.low, band.high - band.y))
        return Band(band.y, band.y - low, band.y + high)

    def _find_best(self) -> None:
        means = self._values.mean(axis=1)
        self.best, self.second = np.argsort(-means, kind="stable")[:2].tolist()
        difference = self._difference(self.best, self.second)
        curve = self._curve(self.best, self.second)
        if curve:
            band = curve.sum(curve.weights(self.loads).mean(axis=0), self.confidence)
        else:  # all steps have nearly the same load, or are too many
            mean = statistics.mean_of(difference, self.confidence)
            band = Band(mean.mean, mean.low, mean.high)

        # Errors of steps in a round are correlated, so the means of rounds may scatter more.
        numbers = np.nan_to_num(self.rounds, nan=-1)
        found = [float(difference[numbers == number].mean()) for number in np.unique(numbers)]
        rounds = statistics.mean_of(found if len(found) >= ROUNDS_MIN else [], self.confidence)
        if rounds.high - rounds.low > band.high - band.low:
            band, self.by_rounds = Band(rounds.mean, rounds.low, rounds.high), rounds.count
        equal = np.full(self.steps, 1 / self.steps)
        band = self._widen(equal, self.best, self.second, band)
        whole = float(means[self.second])
        self.advantage = band.y / whole
        self.interval = Interval(band.low / whole, band.high / whole)
        self.is_clear = bool(band.low > 0 and whole > 0)

    def _find_changes(self) -> None:
        """Find the changes of the best placement in the order of loads."""
        any_ = self._curve(1, 0)
        if not any_:
            return
        grid = self.loads[0] + (self.loads[-1] - self.loads[0]) * np.arange(GRID + 1) / GRID
        heights = any_.weights(grid) @ self._values.T
        best = np.where(np.isnan(heights), -np.inf, heights).argmax(axis=1)
        for at in np.flatnonzero(np.diff(best)).tolist():
            below, above = int(best[at]), int(best[at + 1])
            curve = self._curve(above, below)
            if curve:
                self.changes.append(self._find_change(curve, below, above, grid, at + 1))

    def _find_change(
        self, curve: Curve, below: int, above: int, grid: Array, at: int
    ) -> Change:
        def bands(loads: Array) -> Band:
            weights = curve.weights(loads)
            return self._widen(weights, above, below, curve.sum(weights, self.confidence))

        def root(name: str, from_: float, to: float) -> float:
            return _find_root(lambda x: float(getattr(bands(np.array(x)), name)), from_, to)

        load, on_grid = root("y", grid[at - 1], grid[at]), bands(grid)
        position = int((load - grid[0]) / (grid[-1] - grid[0]) * GRID)

        # The nearest load on each side at which the placements differ significantly.
        low, high = -math.inf, math.inf
        lower = np.flatnonzero(on_grid.high[: position + 1] < 0)
        if len(lower):
            last = load if lower[-1] == position else grid[lower[-1] + 1]
            low = root("high", last, grid[lower[-1]])
        upper = position + 1 + np.flatnonzero(on_grid.low[position + 1 :] > 0)
        if len(upper):
            last = load if upper[0] == position + 1 else grid[upper[0] - 1]
            high = root("low", last, grid[upper[0]])
        return Change(self.names[below], self.names[above], load, Interval(low, high))


def _find_root(value: Callable[[float], float], from_: float, to: float) -> float:
    """Return where a function changes its sign."""
    is_above = value(to) > 0
    for _ in range(HALVINGS):
        middle = from_ + (to - from_) / 2
        if (value(middle) > 0) == is_above:
            to = middle
        else:
            from_ = middle
    return float(from_ + (to - from_) / 2)


def _known(pair: Pair, measure: str) -> Array:
    known: Array = np.isfinite(pair.measure(measure) + pair.steps["load"].to_numpy(float))
    return known


def _common_steps(first: Pair, like: list[Pair], names: list[str], measure: str) -> Array:
    """Return the steps of a pair that all other placements have in the same round: load, round, and
    the parts of the measure of each placement."""
    in_round = [p for p in like if p.key(["round"]) == first.key(["round"])]
    closest = [first.closest(p for p in in_round if p.placement == name) for name in names]
    found = [other for other in closest if other]
    used = [other.foreground.others for other in found]
    if len(found) < len(names) or not all(others_permit(used[0], one) for one in used):
        return np.empty((0, 2 + 2 * len(names)))
    loads = [first.beside_own(other, other.steps["load"]) for other in found]
    parts = [first.beside_own(p, part) for p in found for part in p.parts(measure)]
    usable = np.isfinite([*loads, *parts]).all(axis=0)
    rounds = np.full(len(usable), first.round)
    columns: Array = np.column_stack([sum(loads) / len(names), rounds, *parts])[usable]
    return columns
