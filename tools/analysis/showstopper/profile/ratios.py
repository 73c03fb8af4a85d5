# SPDX-License-Identifier: Apache-2.0
"""How much faster one machine is than another, benchmark by benchmark, and statistics of that."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import statistics
from ..text import UserError
from .results import Benchmark, Key, Profile, Warnings

SPREAD_MAX = 0.02  # default limit for a stable benchmark
_COMMON = ("benchmark", "class", "base_spread", "target_spread")
UNSTABLE, MISSING, CONTRADICTORY, NO_NUMBER = "unstable", "missing", "contradictory", "no number"


@dataclass(frozen=True)
class Matching:
    """Which benchmarks are compared."""

    only: str | None = None  # a list of shell patterns; None: all
    group: str | None = None  # the class
    battery: dict[Key, bool] | None = None  # by name and class: whether lower results are better
    unstable: float = math.inf  # the largest spread

    def chooses(self, key: Key) -> bool:
        name, group = key
        if self.group not in (None, group):
            return False
        if self.battery is not None and key not in self.battery:
            return False
        return self.only is None or any(_fits(one, name) for one in self.only.split(","))


def _fits(pattern: str, name: str) -> bool:
    """Return whether a shell pattern fits, as for the C programs."""
    words = (text.encode("utf-8", "surrogateescape") for text in (pattern, name))
    return bool(ctypes.CDLL(None).fnmatch(*words, 0) == 0)


@dataclass(frozen=True)
class Figures:
    """Figures of ratios, by the names of their columns."""

    benchmarks: int
    least: float
    most: float
    median: float
    mean: float
    geometric_mean: float
    deviation: float  # NaN for one ratio

    @classmethod
    def of(cls, ratios: pd.Series) -> Figures:
        return cls(
            len(ratios), ratios.min(), ratios.max(), statistics.median(ratios),
            float(statistics.average(ratios)), math.exp(statistics.log(ratios).mean()),
            ratios.std(),
        )

    @property
    def length(self) -> float:
        return self.most - self.least

    @property
    def most_to_least(self) -> float:
        """What a common factor does not change."""
        return self.most / self.least

    @property
    def variation_percent(self) -> float:
        return 100 * self.deviation / self.mean

    @property
    def coverage_percent(self) -> float:
        """The probability that one more benchmark of the same kind is in the range."""
        return 100 * coverage(self.benchmarks)


class Ratios:
    """
    The ratios of all benchmarks that base and target have, in the order of the base. Each is the
    mean over all pairs of repetitions; above 1, the target is faster.

    `table` has columns benchmark, class, ratio, log_ratio, base_repetitions, target_repetitions,
    base_spread and target_spread, `left_out` has why instead of ratio.
    """

    def __init__(
        self, base: Profile, target: Profile, matching: Matching, warnings: Warnings
    ) -> None:
        self._sides = base, target
        self._matching = matching
        self._warnings = warnings
        rows, left_out = [], []
        for key in filter(matching.chooses, {**base.benchmarks, **target.benchmarks}):
            both = base.benchmarks.get(key), target.benchmarks.get(key)
            spreads = [math.nan if one is None else one.spread for one in both]
            row = dict(zip(_COMMON, (*key, *spreads)))
            compared = self._compare(*both)
            if isinstance(compared, str):
                left_out.append(row | {"why": compared})
            else:
                rows.append(row | compared)
        self._warn_of_neither()
        self.table = pd.DataFrame(rows)
        self.left_out = pd.DataFrame(left_out)
        if not rows:
            unstable = sum(one["why"] == UNSTABLE for one in left_out)
            more = ": measure more repetitions, or allow more with --spread" if unstable else ""
            why = f"that can be compared ({unstable} are unstable{more})"
            sides = f"{_name(base)} and {_name(target)}"
            raise UserError(f"{sides} have no benchmark in common {why}")
        self.figures = Figures.of(self.table["ratio"])

    def _compare(self, base: Benchmark | None, target: Benchmark | None) -> dict[str, float] | str:
        """Return the ratio, or why there is none."""
        if base is None or target is None:
            has, lacks = self._sides if target is None else self._sides[::-1]
            known = base or target
            assert known
            why = "%s of class %s: left out: %s has it, in line %d, but %s does not"
            self._warnings.add(why, *known.key, _name(has), known.line, _name(lacks))
            return MISSING
        if obstacle := self._find_obstacle(base, target):
            return obstacle
        # The mean of the products over all pairs is the product of the means.
        slow, fast = (target, base) if base.lower else (base, target)
        ratio = fast.mean() * slow.mean(inverse=True)
        if not (math.isfinite(ratio) and ratio > 0):
            why = "%s: left out: its ratio is not a positive finite number"
            self._warnings.add(why, base.name)
            return NO_NUMBER
        return {
            "ratio": ratio,
            "log_ratio": fast.log() - slow.log(),
            "base_repetitions": len(base.results),
            "target_repetitions": len(target.results),
        }

    def _find_obstacle(self, base: Benchmark, target: Benchmark) -> str:
        left_out = "%s: left out: "
        for profile, one in zip(self._sides, (base, target)):
            if one.contradictory:
                why = f"{left_out}rows of %s differ in lower_is_better"
                self._warnings.add(why, base.name, _name(profile))
                return CONTRADICTORY
        direction = f"{left_out}lower_is_better is %s in line %d of the base and "
        if base.lower != target.lower:
            at = base.direction, base.line, target.direction, target.line, _name(self._sides[1])
            self._warnings.add(f"{direction}%s in line %d of %s", base.name, *at)
            return CONTRADICTORY
        lower = base.lower if self._matching.battery is None else self._matching.battery[base.key]
        if base.lower != lower:
            why = f"{left_out}lower_is_better is %s in line %d of the base, and the battery says %s"
            says = "lower" if lower else "higher"
            self._warnings.add(why, base.name, base.direction, base.line, says)
            return CONTRADICTORY
        for profile, one in zip(self._sides, (base, target)):
            if one.spread > self._matching.unstable:
                why = "its mean is uncertain by %.3g%% (95%% confidence, %d repetitions)"
                values = base.name, _name(profile), 100 * one.spread, len(one.results)
                self._warnings.add(f"{left_out}unstable on %s: {why}", *values)
                return UNSTABLE
        return ""

    def _warn_of_neither(self) -> None:
        base, target = self._sides
        known = {**base.benchmarks, **target.benchmarks}
        for key in filter(self._matching.chooses, self._matching.battery or ()):
            if key not in known:
                why = "%s of class %s: left out: the battery has it, but neither %s nor %s"
                self._warnings.add(why, *key, _name(base), _name(target))


def _name(profile: Profile) -> str:
    return f"{profile.machine[:120]}:{profile.limits[:120]}"


def scatter(table: pd.DataFrame) -> float:
    """
    Return the change of the smallest and the largest ratio that chance can explain: half the width
    of the confidence interval due to both sides, averaged over the two; 0 if it is unknown.
    """
    ends = table.loc[[table["ratio"].idxmin(), table["ratio"].idxmax()]]
    return float(np.hypot(ends["base_spread"], ends["target_spread"]).fillna(0).mean())


def is_chance(most_to_least: float, scatter_of_runs: float) -> bool:
    """Return whether chance alone can explain the largest ratio over the smallest."""
    return math.log(most_to_least) <= 2 * scatter_of_runs + 1e-9  # tolerance for rounding


def coverage(count: int, left_out: int = 0) -> float:
    """
    Return the probability that one more value is between the values of a sample, of which some are
    left out at each end: it is equally likely to fall into each of the count + 1 gaps.
    """
    return (count - 1 - 2 * left_out) / (count + 1) if count else 0.0


@dataclass(frozen=True)
class Reduction:
    """The effect of a throttle on the range of ratios: a common factor, and the rest."""

    before: Figures
    after: Figures

    @property
    def reduction(self) -> float:
        """The length of the plain range over that of the throttled one."""
        with np.errstate(all="ignore"):
            return float(np.divide(self.before.length, self.after.length))

    @property
    def factor(self) -> float:
        return self.before.geometric_mean / self.after.geometric_mean

    @property
    def relative(self) -> float:
        """How much the length relative to the geometric mean shrank."""
        return self.reduction / self.factor

    @property
    def factor_share_percent(self) -> float:
        """The part of the logarithm of the reduction that is due to the factor."""
        if not 0 < self.reduction < math.inf or self.reduction == 1:
            return math.nan
        return 100 * math.log(self.factor) / math.log(self.reduction)


@dataclass(frozen=True)
class Interval:
    """An interval for the ratio of one more benchmark of the same kind, by order statistics."""

    left_out: int  # ratios outside of the interval, at each end
    low: float
    high: float
    coverage_percent: float  # its probability


def interval(ratios: pd.Series, part: float) -> Interval:
    """Return the narrowest interval that covers this part, or the widest if none does."""
    count, values = len(ratios), ratios.sort_values(kind="stable").to_numpy()
    outs = [out for out in range((count + 1) // 2) if coverage(count, out) >= part]
    out = max(outs, default=0)
    return Interval(out, values[out], values[count - 1 - out], 100 * coverage(count, out))
