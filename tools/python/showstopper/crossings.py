# SPDX-License-Identifier: Apache-2.0
"""The best placement of two programs, and the loads at which another one becomes better."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from . import stats
from .pairs import (
    ENVIRONMENT, FOREGROUND, PER_WATT_HOUR, PROGRAMS, SAME_PAIR, SYSTEM, counterparts, pairs, parts,
    steps_of_pairs,
)
from .stats import Array, Band, Curve
from .study import Study, groups

STEPS_MIN = 3  # for a line with a confidence interval
ROUNDS_MIN = 3  # for an interval from their means
GRID = 200  # intervals of the loads in which crossings are sought


class Change(NamedTuple):
    """A load of the background at which the best placement changes."""

    below: str
    above: str
    load: float
    low: float  # the interval, whose bounds may be infinite
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval is within the measured loads."""
        return math.isfinite(self.low) and math.isfinite(self.high)


class Advantage(NamedTuple):
    """The advantage of the best placement over the second, relative to the second."""

    mean: float
    low: float
    high: float
    is_clear: bool  # the interval does not contain 0
    rounds: int  # from which the interval comes; 0: it comes from the steps


@dataclass(frozen=True)
class Placements:
    """A foreground next to a background in one environment, with every placement, by one measure.

    All placements have the same steps, loads and bandwidth, so that the difference of two curves is
    the curve of the differences. Steps are ordered by load.
    """

    pair: pd.Series  # the first one, a row of pairs()
    measure: str
    confidence: float
    names: list[str]
    rounds: Array
    loads: Array
    parts: Array  # of the measure, by side, placement and step

    @property
    def steps(self) -> int:
        return len(self.loads)

    @property
    def by_energy(self) -> bool:
        return self.measure == PER_WATT_HOUR

    @property
    def is_known(self) -> bool:
        """Whether two placements have enough steps in common."""
        return len(self.names) > 1 and self.steps >= STEPS_MIN

    @cached_property
    def values(self) -> Array:
        total: Array = self.parts.sum(axis=0)
        return total

    @property
    def order(self) -> list[int]:
        """The placements, the best on average first."""
        order: list[int] = np.argsort(-self.values.mean(axis=1), kind="stable").tolist()
        return order

    @property
    def best(self) -> str:
        return self.names[self.order[0]]

    @property
    def second(self) -> str:
        return self.names[self.order[1]]

    @cached_property
    def _bandwidth(self) -> float:
        """The smallest bandwidth that is chosen for a difference from the first placement."""
        curves = [stats.fit_curve(self.loads, of - self.values[0]) for of in self.values[1:]]
        return min((curve.bandwidth for curve in curves if curve), default=math.inf)

    def _curve(self, more: int, less: int) -> Curve | None:
        difference = self.values[more] - self.values[less]
        return stats.fit_curve(self.loads, difference, self._bandwidth)

    def _widen(self, weights: Array, more: int, less: int, band: Band) -> Band:
        """Widen the interval of a difference by the uncertainty of the throughputs alone, by which
        its parts were divided: add the squares of the half-widths (MOVER)."""
        if self.measure == FOREGROUND or self.pair["is_one_program"]:
            return band
        errors = (self.pair[f"{name}_error"] for name in PROGRAMS)
        sides = zip(self.parts[:, more] - self.parts[:, less], errors)
        square = sum(np.square((weights @ part) * error) for part, error in sides)
        low, high = (np.sqrt(half**2 + square) for half in (band.y - band.low, band.high - band.y))
        return Band(band.y, band.y - low, band.y + high)

    @cached_property
    def advantage(self) -> Advantage:
        best, second = self.order[:2]
        difference, curve = self.values[best] - self.values[second], self._curve(best, second)
        if curve:
            band = curve.sum(curve.weights(self.loads).mean(axis=0), self.confidence)
        else:  # all steps have nearly the same load, or are too many
            mean = stats.mean_of(difference, self.confidence)
            band = Band(mean.mean, mean.low, mean.high)

        # Errors of steps in a round are correlated, so the means of rounds may scatter more.
        of_round = pd.Series(difference).groupby(self.rounds, sort=True, dropna=False).mean()
        rounds = stats.mean_of(of_round if len(of_round) >= ROUNDS_MIN else [], self.confidence)
        is_wider = rounds.high - rounds.low > band.high - band.low
        if is_wider:
            band = Band(rounds.mean, rounds.low, rounds.high)
        band = self._widen(np.full(self.steps, 1 / self.steps), best, second, band)
        whole = float(self.values[second].mean())
        y, low, high = (float(np.divide(end, whole)) for end in (band.y, band.low, band.high))
        is_clear = bool(band.low > 0 and whole > 0)
        return Advantage(y, low, high, is_clear, rounds.count if is_wider else 0)

    @cached_property
    def changes(self) -> list[Change]:
        """The changes of the best placement in the order of loads."""
        any_ = self._curve(1, 0)
        if not any_:
            return []
        grid = self.loads[0] + (self.loads[-1] - self.loads[0]) * np.arange(GRID + 1) / GRID
        heights = any_.weights(grid) @ self.values.T
        best = np.where(np.isnan(heights), -np.inf, heights).argmax(axis=1)
        found = []
        for at in np.flatnonzero(np.diff(best)).tolist():
            below, above = int(best[at]), int(best[at + 1])
            curve = self._curve(above, below)
            if curve:
                found.append(self._change(curve, below, above, grid, at + 1))
        return found

    def _change(self, curve: Curve, below: int, above: int, grid: Array, at: int) -> Change:
        def bands(loads: Array) -> Band:
            weights = curve.weights(loads)
            return self._widen(weights, above, below, curve.sum(weights, self.confidence))

        def root(name: str, start: float, end: float) -> float:
            return _find_root(lambda x: float(getattr(bands(np.array(x)), name)), start, end)

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
        return Change(self.names[below], self.names[above], load, low, high)


def _find_root(value: Callable[[float], float], start: float, end: float) -> float:
    """Return the root of a function; `start` if rounding hides its change of sign."""
    return float(brentq(value, start, end)) if value(start) * value(end) <= 0 else start


def compare(study: Study, pair: pd.Series, measure: str) -> Placements:
    """Compare the placements of a pair, in the steps that all of them have in the same round."""
    every = study.once(steps_of_pairs)
    rows = every[(every[SAME_PAIR] == pair[SAME_PAIR]).all(axis=1)]
    rows = rows.join(parts(rows, measure).add_prefix("part_"))
    needed = ["load", *(f"part_{name}" for name in PROGRAMS)]
    rows = rows[np.isfinite(rows[needed]).all(axis=1)]
    counts = rows.groupby("pair", sort=False, dropna=False)["slot"].transform("size")
    names = rows.loc[counts >= STEPS_MIN, "placement"].unique().tolist()
    first = rows[rows["placement"].isin(names[:1])]
    others = (rows[rows["placement"] == name] for name in names[1:])
    of_each = [first, *(counterparts(first, other, ["round"]) for other in others)]
    cube = np.array([own[needed].to_numpy(float) for own in of_each])  # placement, step, needed
    is_shared = np.isfinite(cube).all(axis=(0, 2))
    cube, rounds = cube[:, is_shared], first["round"].to_numpy(float)[is_shared]
    loads = cube[:, :, 0].sum(axis=0) / max(len(names), 1)
    order = np.argsort(loads, kind="stable")
    sides = cube[:, order, 1:].transpose(2, 0, 1)
    confidence = study.settings.confidence
    return Placements(pair, measure, confidence, names, rounds[order], loads[order], sides)


def compare_all(study: Study) -> list[list[Placements]]:
    """Compare the placements of all pairs, a list for each environment that has several: first by
    the throughput of both sides or, if that is unknown, of the foreground; then by energy."""
    every = [
        environment
        for environment in groups(study.once(pairs), ENVIRONMENT)
        if environment["placement"].nunique() > 1 and not environment["is_emulated"].iloc[0]
    ]
    return [
        [_compare(study, pair, measure) for pair in first_of_each(rows)]
        for measure in (SYSTEM, PER_WATT_HOUR)
        for rows in every
    ]


def first_of_each(rows: pd.DataFrame) -> list[pd.Series]:
    """Return the first of each group of pairs that differ in placement and round only."""
    return [group.iloc[0] for group in groups(rows, SAME_PAIR)]


def _compare(study: Study, pair: pd.Series, measure: str) -> Placements:
    found = compare(study, pair, measure)
    return found if found.is_known or found.by_energy else compare(study, pair, FOREGROUND)
