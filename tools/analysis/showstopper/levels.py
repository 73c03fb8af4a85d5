# SPDX-License-Identifier: Apache-2.0
"""Levels of the knobs of a service: their limits, what they save and cost, published statements."""

from __future__ import annotations

import csv
import itertools
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from .rates import MEAN_MAX, P95_MAX, SATURATED, saturation
from .responses import Responses, divide
from .statistics import Band, mover, sample_of, welch

if TYPE_CHECKING:
    from .studies import Report

# How the publication calls changing some actuators. `workers`, a setting of the service, counts
# as a knob, so that levels that also differ in it are not compared.
PUBLISHED = {
    "frequency": "frequency", "pin": "pinning", "instances": "horizontal", "cpus": "vertical"
}
KNOBS = (*PUBLISHED, "quota", "memory", "duty", "power", "workers")
UNLIMITED = 1e15  # larger than any amount, but finite, so that such levels can be ordered

# Response times of all requests from when they were due, or of successes from when they were sent.
BASES = {
    "intended, all": ("all_mean", "all_p95"),
    "actual, successes": ("actual_mean_seconds", "actual_p95_seconds"),
}
LIMITS = {"mean": MEAN_MAX, "p95": P95_MAX}


# Amounts of knobs


def _level(knobs: str, name: str) -> str:
    """Return the level of an actuator, such as "pin=free"; one instance is the default."""
    parts = (part for part in knobs.split("+") if re.match(f"{name}[=@]", part))
    return next(parts, "instances=1" if name == "instances" else "")


def differing_knob(one: Responses, other: Responses) -> str:
    """Return the only actuator that differs between two levels; '' if none or several do."""
    if not (one.knobs and other.knobs):
        return ""
    found = [name for name in KNOBS if _level(one.knobs, name) != _level(other.knobs, name)]
    return found[0] if len(found) == 1 else ""


def are_one_step(one: Responses, other: Responses) -> bool:
    """Return whether two levels differ in exactly one knob, in balance or in cap, even if a level
    has no knobs. Caps that differ by less than a manifest can express are equal."""
    if not (one.knobs and other.knobs):
        return True
    is_one_cap = bool(np.isclose(one.cap, other.cap, 0, 1e-9, equal_nan=True))
    same = (one.knobs == other.knobs, one.balance == other.balance, is_one_cap)
    return sum(same) == 2 and (same[0] or bool(differing_knob(one, other)))


def _number(words: str) -> float:
    """Return the number with which a text begins."""
    found = re.match(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", words)
    return float(found[0]) if found else math.nan


def amount(of: Responses, knob: str) -> float:
    """Return how much a level gives of an actuator, so that levels can be ordered.

    That is a frequency in Hz (0 for min; of a range, the higher one), a number of instances or
    CPUs, a percentage, 1 if not pinned and 0 if pinned; unlimited if the level does not limit it.
    """
    _, has_value, value = _level(of.knobs, knob).partition("=")
    if knob == "pin":
        return float(not has_value or value.startswith("free"))
    if knob != "frequency":
        return _number(value) if has_value and not value.startswith("none") else UNLIMITED
    value = value.partition(",")[0].rpartition("-")[2]
    if not has_value or value == "max":
        return UNLIMITED
    if value == "min":
        return 0.0
    unit = re.match(r"[\d.eE+-]*([GM]?)", value)
    return _number(value) * {"G": 1e9, "M": 1e6, "": 1}[unit[1] if unit else ""]


# Limits


class Limit(NamedTuple):
    """The rates at which values reach a limit."""

    last: float = math.nan  # the last rate before the first one that reaches it
    first: float = math.nan  # the first rate that reaches it
    crossing: float = math.nan  # where the line through both values crosses the limit


def find_limit(rates: Any, values: Any, limit: float) -> Limit:
    """Find the rates, which ascend, at which values reach a limit. Infinite values reach any
    limit, but have no crossing."""
    first = next((at for at, value in enumerate(values) if not value < limit), len(values))
    last = rates[first - 1] if first else math.nan
    if first == len(values):
        return Limit(last)
    below, reached = values[first - 1] if first else math.nan, values[first]
    part = (limit - below) / (reached - below) if math.isfinite(reached) else math.nan
    return Limit(last, rates[first], last + part * (rates[first] - last))


def first_limit(one: Limit, other: Limit) -> Limit:
    """Return the limit of both criteria together. If one has no crossing, the result has one only
    if the other crosses its limit before the last rate at which both hold."""
    last = float(np.minimum(one.last, other.last))
    first, crossing = (float(np.fmin(a, b)) for a, b in zip(one[1:], other[1:]))
    unknown = any(math.isfinite(of.first) and math.isnan(of.crossing) for of in (one, other))
    return Limit(last, first, math.nan if unknown and not crossing <= last else crossing)


@dataclass(frozen=True)
class Level:
    """A service at one level of its knobs: its first record, and means at each rate."""

    of: Responses
    service: int
    any_arrival: int
    points: pd.DataFrame  # rows of df_rates()
    rates: pd.DataFrame

    @staticmethod
    def make(points: pd.DataFrame) -> Level:
        names = ["rate", "watts", "busiest", *(name for pair in BASES.values() for name in pair)]
        values = points[points["rate"].notna()]
        # No request was answered: that is slower than any limit.
        silent = ~(values["completed"] > 0)
        sent = list(BASES["actual, successes"])
        values = values.assign(**{name: values[name].mask(silent, math.inf) for name in sent})
        rate = values["rate"].round(9)
        unknown = values[names].isna().groupby(rate, sort=True, dropna=False).any()
        means = values[names].groupby(rate, sort=True, dropna=False).mean().mask(unknown)
        first = points.iloc[0]
        return Level(first["of"], first["service"], first["any_arrival"], points, means)

    def limits(self, basis: str) -> dict[str, Limit]:
        """Return the limits by criterion: mean, 95th percentile, and both together."""
        rates = self.rates["rate"].tolist()
        found = {
            criterion: find_limit(rates, self.rates[name].tolist(), limit)
            for name, (criterion, limit) in zip(BASES[basis], LIMITS.items())
        }
        return found | {"both": first_limit(found["mean"], found["p95"])}

    @cached_property
    def capacity(self) -> float:
        """The rate at which the first of both limits is crossed or, if unknown, the last
        underloaded rate; NaN if never overloaded."""
        both = self.limits("intended, all")["both"]
        if math.isnan(both.first):
            return math.nan
        return both.crossing if math.isfinite(both.crossing) else both.last


def levels(report: Report) -> list[Level]:
    if report.rates.empty:
        return []
    by_series = report.rates.groupby("series", sort=False, dropna=False)
    return [Level.make(points) for _, points in by_series]


def describe(of: Responses) -> str:
    """Describe a series, such as "mediawiki, averageq, 50 %, poisson"; without a workload, by the
    title of its record."""
    if not of.workload:
        return of.title
    parts = [
        f" in {of.environment_name}" if of.environment_name != "host" else "",
        f", {of.knobs}" if of.knobs else "",
        f", {of.balance}" if of.balances_differ and of.balance else "",
        f", cap {of.cap:g}" if of.caps_differ and math.isfinite(of.cap) else "",
        f", {of.method}" if of.method not in ("", "none") else "",
        f", {100 * of.target:g} %" if of.target > 0 else "",
        f", {of.arrival}" if of.arrival and not of.closed else "",
        ", second set" if of.set else "",
    ]
    variant = f", {of.variant}" if of.variant else ""
    return f"{of.workload}{variant}{''.join(parts)}"


def level_name(of: Responses) -> str:
    """Name a series within its service, such as "pin=free cap 10"; '' if nothing distinguishes
    it."""
    words = [
        of.knobs or of.method,
        of.balance if of.balances_differ else "",
        f"cap {of.cap:g}" if of.caps_differ else "",
        f"{100 * of.target:g} %" if of.target > 0 else "",
    ]
    return " ".join(word for word in words if word)


def df_limits(report: Report) -> pd.DataFrame:
    """Return the limits of each level with at least two rates."""
    return pd.DataFrame(
        {
            "set": of.set + 1,
            **{name: getattr(of, name) for name in "workload method environment arrival".split()},
            "throttle_target": of.target,
            "variant": of.variant,
            "knobs": of.knobs,
            "balance": of.balance if of.knobs else "",
            "cap": of.cap if of.knobs else math.nan,
            "rates": len(level.rates),
            "counted": basis,
            "criterion": criterion,
            "limit_seconds": LIMITS.get(criterion, math.nan),
            **{f"{name}_rate": rate for name, rate in limit._asdict().items()},
        }
        for level in report.once(levels)
        if len(level.rates) > 1
        for of in [level.of]
        for basis in BASES
        for criterion, limit in level.limits(basis).items()
    )


# Savings


def are_compared(report: Report) -> bool:
    """Return whether there are requests to a service with several levels of its knobs."""
    return any(of.knobs for of in report.responses)


def df_savings(report: Report) -> pd.DataFrame:
    """Return what each level saves and costs, compared with another level of its service."""
    pairs = itertools.combinations(report.once(levels), 2)
    found = [
        saving
        for one, other in pairs
        if one.service == other.service and are_one_step(one.of, other.of)
        for saving in _saving(one, other)
    ]
    return _with_published(report, pd.DataFrame(found))


def _saving(one: Level, other: Level) -> Iterator[dict[str, Any]]:
    """Yield what the lower of two levels saves and costs at the highest common rate, if known."""
    common = one.rates.index.intersection(other.rates.index)
    if common.empty:
        return
    at = common.max()
    watts = [level.rates["watts"][at] for level in (one, other)]
    capacity = [level.capacity for level in (one, other)]
    has_power = math.isfinite(sum(watts))
    # Without a source of power, only the costs of knobs are reported.
    if not has_power and not (one.of.knobs and math.isfinite(sum(capacity))):
        return
    knob = differing_knob(one.of, other.of)
    amounts = [amount(level.of, knob) if knob else math.nan for level in (one, other)]
    if not amounts[0] != amounts[1] or math.isnan(sum(amounts)):
        amounts = watts if has_power else capacity
    if amounts[0] < amounts[1]:
        yield from _saving(other, one)
        return
    busiest = [level.rates["busiest"][at] for level in (one, other)]
    saved = divide(watts[0] - watts[1], watts[0])
    lost = divide(capacity[0] - capacity[1], capacity[0])
    yield {
        "high": describe(one.of),
        "low": describe(other.of),
        "rate": one.rates["rate"][at],
        "saturated": saturation(min(busiest)) if math.isfinite(sum(busiest)) else "",
        "high_watts": watts[0],
        "low_watts": watts[1],
        "saved": saved,
        "high_capacity": capacity[0],
        "low_capacity": capacity[1],
        "lost": lost,
        "lost_per_saved": lost / saved if saved > 0 else math.nan,
        "knob": knob,
        "high_knobs": one.of.knobs,
        "low_knobs": other.of.knobs,
        "arrival": one.of.arrival,
    }


def _with_published(report: Report, frame: pd.DataFrame) -> pd.DataFrame:
    """Add published figures of knobs, for another machine."""
    if frame.empty:
        return frame
    names = {"saved": "power_saved_percent", "lost": "throughput_lost_percent"}
    published_as = frame["knob"].map(PUBLISHED.get)
    found = pd.DataFrame({"published_as": published_as})
    for name, column in names.items():
        numbers = [
            report.published_figures.number("actuators-savings", [as_ or ""], column)
            for as_ in published_as
        ]
        found[f"published_{name}_percent"] = numbers
    ratio = found["published_lost_percent"] / found["published_saved_percent"]
    return frame.join(found.assign(published_lost_per_saved=ratio))


# Published statements


class Rule(NamedTuple):
    """A statement about two series that differ only in `of`: a row of statements.tsv.

    The first series has more of it: a higher frequency, a larger number, no pinning, even arrivals,
    or round-robin. `with_` is an arrival or a balance; '': any. Series are compared at the highest
    rate at which both are in `state`. The change is the difference, relative to the first series,
    less `times` the power saved by the knob `than`, if given.
    """

    statement: str
    source: str
    of: str
    with_: str
    state: str
    figure: str
    least: float
    most: float
    than: str
    times: float

    @staticmethod
    def all() -> Iterator[Rule]:
        """Yield the statements. A bound that is not given is infinite."""
        path = os.path.join(os.path.dirname(__file__), "statements.tsv")
        with open(path, encoding="utf-8", newline="") as stream:
            for *words, least, most, than, times in list(csv.reader(stream, "excel-tab"))[1:]:
                bounds = float(least or -math.inf), float(most or math.inf)
                yield Rule._make([*words, *bounds, than, float(times or 0)])


# Queries for the points of a state, and why it has no common rate.
STATES = {
    "any": ("rate == rate", ""),
    "underloaded": ("state == 'underloaded'", " at which both are underloaded"),
    "overloaded": ("state == 'overloaded'", " at which both are overloaded"),
    "unsaturated": (f"busiest < {SATURATED}", " at which no CPU set is 98 % busy"),
    "saturated": (f"busiest >= {SATURATED}", " at which a CPU set is at least 98 % busy"),
}
CPUS = ("some CPUs", "all CPUs")  # that the second series may use; both are overloaded
STATES |= dict.fromkeys(CPUS, STATES["overloaded"])

# The publication measured the successes, from when they were sent.
COLUMNS = {"watts": "watts", "mean": "actual_mean_seconds", "p95": "actual_p95_seconds"}
UNKNOWN = {
    "watts": "no power was recorded",
    "mean": "no request succeeded",
    "p95": "no request succeeded",
    "capacity": "the capacity of a level is unknown",
}
ROUNDS_MAX = 64  # values of a series at one rate


def df_rules(report: Report) -> pd.DataFrame:
    """Test the published statements on the runs of the report."""
    rows = []
    for rule in Rule.all() if are_compared(report) else ():
        found = _contrast(report, rule)
        band = found["difference"]
        if rule.than:
            saved = rule._replace(of=rule.than, state="overloaded", figure="watts")
            other = _contrast(report, saved)
            band = mover([band, other["difference"]], [1, -rule.times])
            found["why"] = found["why"] or other["why"]
            found["rate"] = other["rate"] if math.isnan(found["rate"]) else found["rate"]
            found["runs"] = min(found["runs"], other["runs"])
        verdict = "undecided"
        if found["why"]:
            verdict = "not tested"
        elif rule.least < band.low and band.high < rule.most:
            verdict = "supported"
        elif band.high <= rule.least or band.low >= rule.most:
            verdict = "contradicted"
        known = {"statement": rule.statement, "source": rule.source, "verdict": verdict}
        known |= {"low": band.low, "high": band.high, "difference": band.y}
        rows.append(found | known | {"runs": found["runs"] or math.nan})
    return pd.DataFrame(rows)


def _contrast(report: Report, rule: Rule) -> dict[str, Any]:
    """Return the difference of the two series that are farthest apart, or why it is unknown."""
    unknown: dict[str, Any] = dict.fromkeys(("first", "second", "arrival", "balance"), "")
    unknown |= {"rate": math.nan, "runs": 0, "difference": Band(math.nan, math.nan, math.nan)}
    pairs = itertools.permutations(report.once(levels), 2)
    distances = [(_distance(rule, *pair), pair) for pair in pairs]
    distance, pair = max(distances, key=lambda found: found[0], default=(0.0, ()))
    if not distance > 0:
        return unknown | {"why": "no two such levels"}
    first, second = (level.of for level in pair)
    known = unknown | {name: getattr(first, name) for name in ("arrival", "balance")}
    known |= {"first": first.knobs, "second": second.knobs, "why": ""}
    if not rule.figure.startswith("capacity"):
        known["rate"] = _find_rate(pair, rule.state)
        if math.isnan(known["rate"]):
            return known | {"why": f"no common rate{STATES[rule.state][1]}"}
    values = [_values(level.points, rule, known["rate"]) for level in pair]
    known["runs"] = min(map(len, values))
    if not all(np.isfinite(found).all() for found in values):
        return known | {"why": UNKNOWN[rule.figure.partition(" ")[0]]}
    if known["runs"] < 2:
        return known | {"why": "needs two rounds or more"}
    one, other = map(sample_of, values)
    if one.variance == 0 and other.variance == 0:  # equal runs: the difference is exact
        return known | {"difference": Band(*[(one.mean - other.mean) / one.mean] * 3)}
    band = welch(one, other, report.settings.confidence)
    return known | {"difference": Band(*(value / one.mean for value in vars(band).values()))}


def _distance(rule: Rule, one: Level, other: Level) -> float:
    """Return by how much the first series has more; 0 if the series cannot be compared."""
    first, second = one.of, other.of
    is_with = not rule.with_ or rule.with_ in (first.arrival, first.balance)
    if not (first.knobs and second.knobs and is_with and _are_cpus(rule, second)):
        return 0.0
    if rule.of == "arrival":
        arrivals = (first.arrival, second.arrival) == ("even", "concurrent")
        same = one.any_arrival == other.any_arrival and first.level_key == second.level_key
        return float(same and arrivals)
    if one.service != other.service or not are_one_step(first, second):
        return 0.0
    knob = differing_knob(first, second)
    if rule.of == "balance":
        balances = (first.balance, second.balance) == ("round-robin", "least-connections")
        return float(not knob and balances)
    amounts = amount(first, rule.of), amount(second, rule.of)
    if knob != rule.of or (rule.figure == "capacity of each" and amounts[0] >= UNLIMITED):
        return 0.0
    return amounts[0] - amounts[1] if amounts[0] > amounts[1] else 0.0


def _are_cpus(rule: Rule, of: Responses) -> bool:
    """Return whether a level may use some or all CPUs, if the state says so: those of a pin such
    as "first:8,each", those of `cpus`, or one for each worker of each instance."""
    if rule.state not in CPUS:
        return True
    used = amount(of, rule.of)
    if rule.of == "pin":
        used = _number(_level(of.knobs, "pin").partition(":")[2])
    elif rule.of == "instances":
        used *= _number(of.columns.get("workers", ""))
    cpus = _number(of.columns.get("machine_cpus", ""))
    cpus = 0.0 if math.isnan(cpus) else cpus
    return used < cpus if rule.state == "some CPUs" else used == cpus


def _find_rate(pair: Iterable[Level], state: str) -> float:
    """Return the highest rate at which all points of both series are in a state."""
    found = []
    for level in pair:
        rates = level.points["rate"].round(9)
        points = level.points.eval(STATES[state][0], engine="python")
        is_in = points.groupby(rates, sort=True, dropna=False).all()
        found.append(set(is_in[is_in].index))
    return max(set.intersection(*found), default=math.nan)


def _values(points: pd.DataFrame, rule: Rule, rate: float) -> np.ndarray:
    """Return the figures of a series at a rate, or its capacities in each round."""
    if rule.figure in COLUMNS:
        at_rate = points[(points["rate"] - rate).abs() <= 1e-9]
        return np.asarray(at_rate[COLUMNS[rule.figure]].to_numpy()[:ROUNDS_MAX])
    rounds = points.groupby(points["round"].round(9), sort=False, dropna=False)
    capacities = np.array([Level.make(part).capacity for _, part in rounds])[:ROUNDS_MAX]
    each = amount(points["of"].iloc[0], rule.of) if rule.figure == "capacity of each" else 1
    return capacities / each
