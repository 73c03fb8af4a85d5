# SPDX-License-Identifier: Apache-2.0
"""Levels of the knobs of a service: how much each gives, their limits, what they save and cost."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .rates import MEAN_MAX, P95_MAX, df_rates, df_requests, saturation
from .stats import Array
from .study import Study

# The name of an actuator in the publication, and the percentages of power that changing it saved
# and of throughput that it lost (Table 7, another machine).
PUBLISHED = {
    "frequency": ("frequency", 14, 33),
    "pin": ("pinning", 8, 14),
    "instances": ("horizontal", 29, 61),
    "cpus": ("vertical", 27, 68),
}
# `workers`, a setting of the service, counts as a knob, so that levels that also differ in it are
# not compared.
KNOBS = (*PUBLISHED, "quota", "memory", "duty", "power", "workers")

# Response times of all requests from when they were due, or of successes from when they were sent.
SENT = ["actual_mean_seconds", "actual_p95_seconds"]
BASES = {"intended, all": ["all_mean", "all_p95"], "actual, successes": SENT}
LIMITS = {"mean": MEAN_MAX, "p95": P95_MAX}

Row = Any  # a row of df_rates(), or a dict with some of its columns


# Amounts of knobs


def level_of(knobs: str, name: str) -> str:
    """Return the level of an actuator, such as "pin=free"; one instance is the default."""
    parts = (part for part in knobs.split("+") if re.match(f"{name}[=@]", part))
    return next(parts, "instances=1" if name == "instances" else "")


def differing_knob(one: Row, other: Row) -> str:
    """Return the only actuator that differs between two levels; '' if none or several do."""
    both = one["knobs"], other["knobs"]
    differ = [n for n in KNOBS if all(both) and len({level_of(knobs, n) for knobs in both}) > 1]
    return differ[0] if len(differ) == 1 else ""


def are_one_step(one: Row, other: Row) -> bool:
    """Return whether two levels differ in exactly one knob, in balance or in cap. A level without
    knobs may be compared with any. Caps that a manifest cannot distinguish are equal."""
    if not (one["knobs"] and other["knobs"]):
        return True
    is_one_cap = bool(np.isclose(one["cap"], other["cap"], 0, 1e-9, equal_nan=True))
    same = one["knobs"] == other["knobs"], one["balance"] == other["balance"], is_one_cap
    return sum(same) == 2 and (same[0] or bool(differing_knob(one, other)))


def amount(knobs: str, knob: str) -> float:
    """Return how much a level gives of an actuator, so that levels can be ordered.

    That is a frequency in Hz (0 for min; of a range, the higher one), a number of instances, CPUs
    or bytes, a percentage, 1 if not pinned and 0 if pinned; infinite if it is not limited.
    """
    _, has_value, value = level_of(knobs, knob).partition("=")
    if knob == "pin":
        return float(not has_value or value.startswith("free"))
    if knob == "frequency":
        value = value.partition(",")[0].rpartition("-")[2]
    if not has_value or value.startswith(("max", "none")):
        return math.inf
    if value == "min":
        return 0.0
    number = re.match(r"(\d+\.?\d*|\.\d+)([kMG]?)", value)
    factor = {"k": 1e3, "M": 1e6, "G": 1e9}
    return float(number[1]) * factor.get(number[2], 1) if number else math.nan


# Limits


class Limit(NamedTuple):
    """The rates at which values reach a limit."""

    last: float = math.nan  # the last rate before the first one that reaches it
    first: float = math.nan  # the first rate that reaches it
    crossing: float = math.nan  # where the line through both values crosses the limit


def find_limit(rates: Sequence[float], values: Sequence[float], limit: float) -> Limit:
    """Find the rates, which ascend, at which values reach a limit. Infinite values reach any
    limit, but have no crossing."""
    first = next((at for at, value in enumerate(values) if not value < limit), len(values))
    last = rates[first - 1] if first else math.nan
    if first == len(values):
        return Limit(last)
    below, reached = values[first - 1] if first else math.nan, values[first]
    part = (limit - below) / (reached - below) if math.isfinite(reached) else math.nan
    return Limit(last, rates[first], last + part * (rates[first] - last))


def _first_limit(one: Limit, other: Limit) -> Limit:
    """Return where the first of two criteria reaches its limit. If one has no crossing, the result
    has one only if the other crosses its limit before the last rate at which both hold."""
    last = float(np.minimum(one.last, other.last))
    first, crossing = (float(np.fmin(a, b)) for a, b in zip(one[1:], other[1:]))
    unknown = any(math.isfinite(of.first) and math.isnan(of.crossing) for of in (one, other))
    return Limit(last, first, math.nan if unknown and not crossing <= last else crossing)


@dataclass(frozen=True)
class Level:
    """A service at one level of its knobs: its rows of df_rates()."""

    points: pd.DataFrame

    @property
    def of(self) -> Row:
        """The first row, which has what distinguishes the level."""
        return self.points.iloc[0]

    @cached_property
    def rates(self) -> pd.DataFrame:
        """Means over the runs by rate; NaN if it is unknown in one of them."""
        names = ["rate", "watts", "busiest", *itertools.chain(*BASES.values())]
        rows = self.points[self.points["rate"].notna()]
        # No request was answered: that is slower than any limit.
        silent = ~(rows["completed"] > 0)
        rows = rows.assign(**{name: rows[name].mask(silent, math.inf) for name in SENT})
        by_rate = rows[names].groupby(rows["rate"].round(9), sort=True, dropna=False)
        return by_rate.agg(lambda values: values.mean(skipna=False))

    def limits(self, basis: str) -> dict[str, Limit]:
        """Return the limits by criterion: mean, 95th percentile, and both together."""
        rates = self.rates["rate"].tolist()
        columns = zip(BASES[basis], LIMITS.items())
        found = {key: find_limit(rates, self.rates[n].tolist(), most) for n, (key, most) in columns}
        return found | {"both": _first_limit(found["mean"], found["p95"])}

    @cached_property
    def capacity(self) -> float:
        """The rate at which the first of both limits is crossed or, if unknown, the last
        underloaded rate; NaN if never overloaded."""
        both = self.limits("intended, all")["both"]
        known = both.crossing if math.isfinite(both.crossing) else both.last
        return math.nan if math.isnan(both.first) else known


def levels(study: Study) -> list[Level]:
    rates = study.once(df_rates)
    by_series = rates.groupby("series", sort=False, dropna=False) if len(rates) else ()
    return [Level(points) for _, points in by_series]


def df_limits(study: Study) -> pd.DataFrame:
    """Return the limits of each level with at least two rates."""
    names = "set workload method environment throttle_target arrival variant knobs balance cap"
    return pd.DataFrame(
        level.of[names.split()].to_dict()
        | {"rates": len(level.rates), "counted": basis, "criterion": criterion}
        | {"limit_seconds": LIMITS.get(criterion, math.nan)}
        | {f"{name}_rate": rate for name, rate in limit._asdict().items()}
        for level in study.once(levels)
        if len(level.rates) > 1
        for basis in BASES
        for criterion, limit in level.limits(basis).items()
    )


# Savings


def are_compared(study: Study) -> bool:
    """Return whether there are requests to a service with knobs."""
    requests = study.once(df_requests)
    return len(requests) > 0 and bool(requests["knobs"].ne("").any())


def df_savings(study: Study) -> pd.DataFrame:
    """Return what each level saves and costs, compared with another level of its service."""
    pairs = itertools.combinations(study.once(levels), 2)
    return pd.DataFrame(
        saving
        for one, other in pairs
        if one.of["service"] == other.of["service"] and are_one_step(one.of, other.of)
        for saving in _saving(one, other)
    )


def _saving(one: Level, other: Level) -> Iterator[dict[str, Any]]:
    """Yield what the lower of two levels saves and costs at the highest common rate, if known."""
    common = one.rates.index.intersection(other.rates.index)
    if common.empty:
        return
    at = common.max()
    watts = np.array([level.rates["watts"][at] for level in (one, other)])
    capacity = np.array([one.capacity, other.capacity])
    has_power = np.isfinite(watts).all()
    # Without a source of power, only the costs of knobs are reported.
    if not has_power and not (one.of["knobs"] and np.isfinite(capacity).all()):
        return
    knob = differing_knob(one.of, other.of)
    amounts = [amount(level.of["knobs"], knob) if knob else math.nan for level in (one, other)]
    if amounts[0] == amounts[1] or math.isnan(sum(amounts)):
        amounts = [*(watts if has_power else capacity)]
    if amounts[0] < amounts[1]:
        yield from _saving(other, one)
        return
    busiest = np.min([level.rates["busiest"][at] for level in (one, other)])
    yield {
        "high": one.of["name"],
        "low": other.of["name"],
        "high_knobs": one.of["knobs"],
        "low_knobs": other.of["knobs"],
        "rate": one.rates["rate"][at],
        "saturated": str(saturation(busiest)),
        "knob": knob,
        "arrival": one.of["arrival"],
    } | _compare(knob, watts, capacity)


def _compare(knob: str, watts: Array, capacity: Array) -> dict[str, Any]:
    with np.errstate(invalid="ignore", divide="ignore"):
        saved, lost = (float((high - low) / high) for high, low in (watts, capacity))
    published = PUBLISHED.get(knob, ("", math.nan, math.nan))
    return {
        "high_watts": watts[0],
        "low_watts": watts[1],
        "saved": saved,
        "high_capacity": capacity[0],
        "low_capacity": capacity[1],
        "lost": lost,
        "lost_per_saved": lost / saved if saved > 0 else math.nan,
        "published_as": published[0],
        "published_saved_percent": published[1],
        "published_lost_percent": published[2],
        "published_lost_per_saved": published[2] / published[1],
    }
