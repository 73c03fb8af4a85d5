# SPDX-License-Identifier: Apache-2.0
"""How much faster one machine is than another, benchmark by benchmark, and statistics of that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from .. import statistics
from ..text import UserError
from .results import KEY, Profile, Warnings, direction

SPREAD_MAX = 0.02  # default limit for a stable benchmark
UNSTABLE, MISSING, CONTRADICTORY, NO_NUMBER = "unstable", "missing", "contradictory", "no number"

Key = tuple[str, str]  # a benchmark's name and class


@dataclass(frozen=True)
class Matching:
    only: str = "*"  # a list of shell patterns
    battery: dict[Key, bool] | None = None  # by name and class: whether lower results are better
    unstable: float = math.inf  # the largest spread

    def chooses(self, key: Key) -> bool:
        if self.battery is not None and key not in self.battery:
            return False
        return any(fnmatchcase(key[0], one) for one in self.only.split(","))


@dataclass(frozen=True)
class Figures:
    benchmarks: int
    least: float
    most: float
    length: float
    median: float
    mean: float
    geometric_mean: float
    most_to_least: float  # a common factor does not change it
    variation_percent: float  # NaN for one ratio
    coverage_percent: float  # probability that one more benchmark of the same kind is in the range

    @classmethod
    def of(cls, ratios: pd.Series) -> Figures:
        least, most, mean = ratios.min(), ratios.max(), float(statistics.average(ratios))
        return cls(
            benchmarks=len(ratios),
            least=least,
            most=most,
            length=most - least,
            median=statistics.median(ratios),
            mean=mean,
            geometric_mean=math.exp(statistics.log(ratios).mean()),
            most_to_least=most / least,
            variation_percent=100 * ratios.std() / mean,
            coverage_percent=100 * coverage(len(ratios)),
        )


@dataclass(frozen=True)
class Ratios:
    """
    The ratios of all benchmarks that base and target have, in the order of the base. Each is the
    mean over all pairs of repetitions; above 1, the target is faster.

    `table` has the columns of ratios.csv, `left_out` has `why` instead of ratios.
    """

    base: Profile
    target: Profile
    table: pd.DataFrame
    left_out: pd.DataFrame

    @cached_property
    def figures(self) -> Figures:
        return Figures.of(self.table["ratio"])


def compare(base: Profile, target: Profile, matching: Matching, warnings: Warnings) -> Ratios:
    """Compare two profiles. `warnings` names the benchmarks that are left out."""
    both = pd.concat(
        [base.benchmarks.add_prefix("base_"), target.benchmarks.add_prefix("target_")], axis=1
    )
    rows = both.loc[[matching.chooses(key) for key in both.index]].rename_axis(KEY).reset_index()
    # The mean of the products over all pairs is the product of the means.
    lower = rows["base_lower"].eq(True)
    rates = rows["target_mean"] * rows["base_inverse"]
    rows["ratio"] = rates.where(~lower, rows["base_mean"] * rows["target_inverse"])
    rows["log_ratio"] = (rows["target_log"] - rows["base_log"]) * np.where(lower, -1, 1)
    rows["target"] = target.name
    for side in ("base", "target"):
        rows[f"{side}_spread_percent"] = 100 * rows[f"{side}_spread"]
    rows["why"] = [
        _find_obstacle(row, base, target, matching, warnings) for _, row in rows.iterrows()
    ]
    for key in filter(matching.chooses, matching.battery or ()):
        if key not in both.index:
            why = "%s of class %s: left out: the battery has it, but neither %s nor %s"
            warnings.add(why, *key, base.name, target.name)

    compared = rows["why"] == ""
    if not compared.any():
        unstable = (rows["why"] == UNSTABLE).sum()
        more = ": measure more repetitions, or allow more with --spread" if unstable else ""
        why = f"that can be compared ({unstable} are unstable{more})"
        raise UserError(f"{base.name} and {target.name} have no benchmark in common {why}")
    parts = (rows[chosen].reset_index(drop=True) for chosen in (compared, ~compared))
    return Ratios(base, target, *parts)


def _find_obstacle(
    row: pd.Series[Any], base: Profile, target: Profile, matching: Matching, warnings: Warnings
) -> str:
    """Return why a benchmark is left out; '' if it is not."""
    name, group = row[KEY]
    sides = {"base": base, "target": target}

    def leave_out(kind: str, why: str, *values: object) -> str:
        warnings.add(f"%s: left out: {why}", name, *values)
        return kind

    for side, other in (("base", "target"), ("target", "base")):
        if math.isnan(row[f"{other}_line"]):
            names = sides[side].name, row[f"{side}_line"], sides[other].name
            why = "%s of class %s: left out: %s has it, in line %d, but %s does not"
            warnings.add(why, name, group, *names)
            return MISSING
    for side, profile in sides.items():
        if row[f"{side}_contradictory"]:
            why = "rows of %s differ in lower_is_better"
            return leave_out(CONTRADICTORY, why, profile.name)
    says = direction(row["base_lower"]), row["base_line"]
    if row["base_lower"] != row["target_lower"]:
        why = "lower_is_better is %s in line %d of the base and %s in line %d of %s"
        others = direction(row["target_lower"]), row["target_line"], target.name
        return leave_out(CONTRADICTORY, why, *says, *others)
    if matching.battery and row["base_lower"] != (lower := matching.battery[name, group]):
        why = "lower_is_better is %s in line %d of the base, and the battery says %s"
        return leave_out(CONTRADICTORY, why, *says, "lower" if lower else "higher")
    for side, profile in sides.items():
        if (spread := row[f"{side}_spread"]) > matching.unstable:
            why = "its mean is uncertain by %.3g%% (95%% confidence, %d repetitions)"
            values = profile.name, 100 * spread, row[f"{side}_repetitions"]
            return leave_out(UNSTABLE, f"unstable on %s: {why}", *values)
    if not 0 < row["ratio"] < math.inf:
        return leave_out(NO_NUMBER, "its ratio is not a positive finite number")
    return ""


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

    benchmarks: int
    reduction: float  # the length of the plain range over that of the throttled one
    factor: float
    relative: float  # how much the length relative to the geometric mean shrank
    factor_share_percent: float  # part of the logarithm of the reduction; NaN if it is 0
    most_to_least_before: float
    most_to_least_after: float

    @classmethod
    def of(cls, before: Figures, after: Figures) -> Reduction:
        with np.errstate(all="ignore"):
            reduction = float(np.divide(before.length, after.length))
        factor = before.geometric_mean / after.geometric_mean
        has_share = 0 < reduction < math.inf and reduction != 1
        share = 100 * math.log(factor) / math.log(reduction) if has_share else math.nan
        ends = before.most_to_least, after.most_to_least
        return cls(before.benchmarks, reduction, factor, reduction / factor, share, *ends)


@dataclass(frozen=True)
class Interval:
    """An interval for the ratio of one more benchmark of the same kind, by order statistics."""

    left_out: int  # ratios outside of the interval, at each end
    low: float
    high: float
    coverage_percent: float  # its probability


def interval(ratios: pd.Series, part: float) -> Interval:
    """Return the narrowest interval that covers this part, or the widest if none does."""
    count, values = len(ratios), np.sort(ratios)
    outs = [out for out in range((count + 1) // 2) if coverage(count, out) >= part]
    out = max(outs, default=0)
    return Interval(out, values[out], values[count - 1 - out], 100 * coverage(count, out))
