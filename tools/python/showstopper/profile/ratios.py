# SPDX-License-Identifier: Apache-2.0
"""Ratios of the speeds of two machines, benchmark by benchmark, and their statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..text import UserError
from .measure import Key
from .results import KEY, Profile, Warnings

SPREAD_MAX = 0.02  # default limit for a stable benchmark
UNSTABLE, MISSING, CONTRADICTORY, NO_NUMBER = "unstable", "missing", "contradictory", "no number"


@dataclass(frozen=True)
class Matching:
    """Which benchmarks are compared."""

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

    @staticmethod
    def of(ratios: pd.Series) -> Figures:
        least, most = ratios.min(), ratios.max()
        return Figures(
            benchmarks=len(ratios),
            least=least,
            most=most,
            length=most - least,
            median=ratios.median(),
            mean=ratios.mean(),
            geometric_mean=math.exp(np.log(ratios).mean()),
            most_to_least=most / least,
            variation_percent=100 * ratios.std() / ratios.mean(),
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
    rows["why"] = _find_obstacles(rows, matching)
    is_compared = rows["why"] == ""
    for _, row in rows[~is_compared].iterrows():
        warnings.add(row["why"], _explain(row, base, target))
    for name, group in filter(matching.chooses, matching.battery or ()):
        if (name, group) not in both.index:
            why = f"the battery has it, but neither {base.name} nor {target.name}"
            warnings.add("battery", f"{name} of class {group}: left out: {why}")
    if not is_compared.any():
        unstable = (rows["why"] == UNSTABLE).sum()
        remedy = "measure more repetitions, or allow more with --spread"
        more = f" ({unstable} unstable: {remedy})" if unstable else ""
        why = f"have no benchmark in common that can be compared{more}"
        raise UserError(f"{base.name} and {target.name} {why}")
    parts = (rows[chosen].reset_index(drop=True) for chosen in (is_compared, ~is_compared))
    return Ratios(base, target, *parts)


def _find_obstacles(rows: pd.DataFrame, matching: Matching) -> Any:
    """Return why benchmarks are left out; '' if they are not."""
    known = matching.battery or {}
    lower = [known.get(key, has) for key, has in zip(zip(*map(rows.get, KEY)), rows["base_lower"])]
    differs = rows["base_lower"].ne(rows["target_lower"]) | rows["base_lower"].ne(lower)
    marked = rows["base_contradictory"].eq(True) | rows["target_contradictory"].eq(True)
    spreads = rows[["base_spread", "target_spread"]]
    obstacles = {
        MISSING: rows[["base_line", "target_line"]].isna().any(axis=1),
        CONTRADICTORY: marked | differs,
        UNSTABLE: spreads.gt(matching.unstable).any(axis=1),
        NO_NUMBER: ~(rows["ratio"].gt(0) & np.isfinite(rows["ratio"])),
    }
    return np.select([*obstacles.values()], [*obstacles], "")


def _explain(row: pd.Series, base: Profile, target: Profile) -> str:
    """Return why a benchmark is left out, as a sentence."""
    of_class = f"{row['benchmark']} of class {row['class']}: left out:"
    sides = {"base": base.name, "target": target.name}
    if row["why"] == MISSING:
        has = "base" if row["base_repetitions"] > 0 else "target"
        return f"{of_class} only {sides[has]} has it, in line {row[f'{has}_line']:.0f}"
    if row["why"] == CONTRADICTORY:
        lines = ", ".join(
            f"{name} (line {row[f'{side}_line']:.0f})" for side, name in sides.items()
        )
        return f"{of_class} lower_is_better differs between rows of {lines} or the battery"
    if row["why"] == NO_NUMBER:
        return f"{of_class} its ratio is not a positive finite number"
    spreads = row[["base_spread", "target_spread"]].astype(float)
    side = str(spreads.idxmax()).removesuffix("_spread")
    count = f"95% confidence, {row[f'{side}_repetitions']:.0f} repetitions"
    uncertain = f"its mean is uncertain by {row[f'{side}_spread_percent']:.3g}% ({count})"
    return f"{of_class} unstable on {sides[side]}: {uncertain}"


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


def reduction_of(before: Figures, after: Figures) -> dict[str, float]:
    """Return what a throttle does to the range of ratios, a row of reductions.csv: a common factor,
    and by how much the length relative to the geometric mean shrinks."""
    with np.errstate(all="ignore"):
        reduction = float(np.divide(before.length, after.length))
    factor = before.geometric_mean / after.geometric_mean
    has_share = 0 < reduction < math.inf and reduction != 1
    return {
        "benchmarks": before.benchmarks,
        "reduction": reduction,
        "factor": factor,
        "relative": reduction / factor,
        "factor_share_percent":
            100 * math.log(factor) / math.log(reduction) if has_share else math.nan,
        "most_to_least_before": before.most_to_least,
        "most_to_least_after": after.most_to_least,
    }  # fmt: skip


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
