# SPDX-License-Identifier: Apache-2.0
"""A loadline: what part of its maximum does a machine do at a load, and what is left?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
import pandas as pd

from .. import figures, loadline, steps
from ..findings import Headline
from ..loadline import Loadline, Prediction
from ..page import Code, Part, Picture, Section
from ..rates import join
from ..runs import Run
from ..statistics import Band, Uncertainty, log, mean_of
from ..studies import Report
from ..tables import Table
from ..text import number

FULL = 0.995  # a level with at least this target is at full load
RATE_ANSWERED = 0.98  # a service that answers this part of its highest rate has capacity left
LOAD_REACHED = 0.95  # so does one that reaches this part of its highest load
SHAPES = {
    loadline.STRAIGHT: "work per load is linear",
    loadline.CURVE: "contention, as for locks",
    loadline.KNEE: "a bend",
    loadline.LIMIT: "a limit, as of memory bandwidth",
}
RESPONSES = {name: f"response_{name}_seconds" for name in ("mean", "p50", "p95")}


@dataclass
class Series:
    """The visits of a study's levels by one workload, and the line through them.

    `visits` has a row for each visit of a level, or for each burst at full load.
    """

    first: Any  # the first run, or record of requests
    label: str  # names the series in tables and sentences
    is_service: bool
    confidence: float
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def at(self) -> float:
        """The load at which it is asked what is left."""
        return float(self.first.at)

    @property
    def predict(self) -> float:
        """The load for which the throughput is asked."""
        return float(self.first.predict)

    @property
    def knees(self) -> list[float]:
        """Loads at which the throughput may bend, up to the first that is not a number."""
        knees = (number(part.strip()) for part in self.first.knees.split(","))
        known = takewhile(lambda knee: knee is not None and knee == knee, knees)
        return [knee for knee in known if knee and 0 < knee < 1]

    @property
    def is_by_rate(self) -> bool:
        """Whether levels are rates of requests, not loads."""
        return self.is_service and not self.first.is_held

    @cached_property
    def highest_rate(self) -> float:
        return float(max(row["target"] for row in self.rows)) if self.is_by_rate else math.nan

    @cached_property
    def visits(self) -> pd.DataFrame:
        visits = pd.DataFrame(self.rows)
        target = visits["target"] / (self.highest_rate if self.highest_rate > 0 else 1)
        return visits.assign(target=target)

    @cached_property
    def held(self) -> pd.DataFrame:
        """The visits without bursts."""
        return self.visits[~self.visits["is_burst"]]

    @cached_property
    def line(self) -> Loadline:
        return loadline.loadline_of(self.held)

    @cached_property
    def burst(self) -> tuple[float, float, Uncertainty]:
        """The mean throughput of bursts, their load, and the uncertainty of its logarithm."""
        bursts = self.visits[self.visits["is_burst"] & (self.visits["throughput"] > 0)]
        if len(bursts) < 2:
            return math.nan, math.nan, loadline.UNSURE
        mean = mean_of(log(bursts["throughput"]))
        error = Uncertainty(mean.deviation / math.sqrt(mean.count), mean.count - 1)
        return math.exp(mean.mean), steps.mean(bursts["load"].to_numpy()), error

    @cached_property
    def has_bursts(self) -> bool:
        """Whether bursts are the maximum: no level exceeds them by three standard errors."""
        burst, _, error = self.burst
        if not math.isfinite(burst):
            return False
        both = math.hypot(self.line.error.error / math.sqrt(2), error.error)
        return bool(self._full["log_mean"] <= math.log(burst) + 3 * both)

    @property
    def _full(self) -> Any:
        return self.line.levels.iloc[self.line.full]

    @property
    def full_load(self) -> float:
        return self.burst[1] if self.has_bursts else float(self._full["load"])

    @property
    def full_throughput(self) -> float:
        return self.burst[0] if self.has_bursts else math.exp(self._full["log_mean"])

    def _relate(self, work: Band) -> Band:
        """Return a throughput relative to that of bursts. Their errors are independent."""
        half = math.hypot(math.log(work.high / work.y), self.burst[2].half(self.confidence))
        done = work.y / self.full_throughput
        return Band(done, done * math.exp(-half), done * math.exp(half))

    def of_level(self, level: int) -> tuple[Band, Band]:
        """Return the part of the maximum that a level does, and its throughput."""
        done, work = self.line.of_level(level, self.confidence)
        return (self._relate(work) if self.has_bursts else done), work

    @cached_property
    def done(self) -> Band:
        if not self.at > 0:
            return loadline.UNKNOWN
        if not self.has_bursts:
            return self.line.done(self.at, self.confidence)
        return self._relate(self.line.throughput(self.at, self.confidence))

    @property
    def left(self) -> float:
        """How far the maximum is above the throughput at the load in question. Below 0 is noise."""
        left = 1 / self.done.y - 1
        return max(float(left), 0.0)

    @cached_property
    def prediction(self) -> Prediction | None:
        if not self.predict > 0:
            return None
        burst, _, error = self.burst
        return loadline.predict(
            self.line, self.predict, self.knees, burst, error, self.confidence
        )

    @cached_property
    def power(self) -> pd.DataFrame:
        return loadline.power_of(self.line)

    @cached_property
    def levels(self) -> pd.DataFrame:
        """Means of the response times over the visits of each level, and ranges of the visits."""
        target, levels = self.held["target"].to_numpy(), self.line.levels["target"].to_numpy()
        near = np.abs(levels - target[:, None]) <= loadline.SAME_TARGET
        visited = near.any(axis=1)
        level = near.argmax(axis=1)[visited]
        visits = self.held[visited].groupby(level, sort=False, dropna=False)
        means = {
            name: visits[name].agg(lambda one: steps.mean(one.to_numpy()))
            for name in RESPONSES.values()
        }
        ranges = {
            f"{name}_{end}{unit}": getattr(visits[f"{name}{unit}"], which)()
            for name, unit in (("response_p95", "_seconds"), ("watts", ""))
            for end, which in (("least", "min"), ("most", "max"))
        }
        return pd.DataFrame(means | ranges).sort_index(kind="stable")


def _of_run(run: Run) -> Iterator[dict[str, Any]]:
    most = run.steps["target"].max() if len(run.steps) else 0
    for step in run.steps.to_dict("records"):
        direction = steps.direction(run.steps, step["half"])
        is_burst = run.bursts > 0 and step["target"] >= most
        if run.bursts > 0 and not is_burst:
            continue
        yield {
            "target": step["target"],
            "load": step["load"],
            "throughput": math.nan if step["is_exceeded"] else step["throughput"],
            "watts": run.power(step["from"], step["to"])["watts"],
            "round": int(run.round) if run.round >= 1 else 1,
            "up": direction != "down",
            "direction": direction,
            "is_burst": is_burst,
            "is_invalid": run.verdict.is_invalid,
            **dict.fromkeys(RESPONSES.values(), math.nan),
        }


def _of_requests(one: Any) -> Iterator[dict[str, Any]]:
    level = "target" if one.is_held else "rate"
    stretches = one.stretches(one.edge)
    # A load may change within a second, which then has the mean of two levels.
    stretches = [s for s in stretches if level == "rate" or len(s["counted"]) > 1]
    falls = bool(stretches) and stretches[-1][level] < stretches[0][level]
    for stretch in stretches:
        joined = join(one, None, stretch["from"], stretch["to"])
        response = one.response(stretch["counted"])[0]
        yield {
            "target": stretch[level],
            "load": joined["load"],
            "throughput": stretch["completed"] / stretch["seconds"],
            "watts": joined["watts"],
            "round": int(one.round) if one.round >= 1 else 1,
            "up": not falls,
            "direction": "down" if falls else "up",
            "is_burst": False,
            "is_invalid": False,
            **{column: getattr(response, name) for name, column in RESPONSES.items()},
        }


def series_of(report: Report) -> list[Series]:
    """Return the series: visits of one workload, variant, environment and method in a study."""
    return report.once(_gather)


def _gather(report: Report) -> list[Series]:
    found: dict[Any, Series] = {}
    copies: Counter[Any] = Counter()
    measured: list[Any] = [*report.runs, *report.responses]
    for one in measured:
        if one.experiment != "loadline":
            continue
        is_service = not isinstance(one, Run)
        like = (one.set, one.workload, one.variant, one.environment, one.method)
        key = (like, one.manifest)
        if key not in found:
            copies[like] += 1
            label = f"{one.workload or one.title}{', ' if one.variant else ''}{one.variant}"
            label += f" ({copies[like]})" if copies[like] > 1 else ""
            found[key] = Series(one, label, is_service, report.settings.confidence)
        found[key].rows += _of_requests(one) if is_service else _of_run(one)
    return [series for series in found.values() if series.rows]


def _lines(report: Report) -> Iterator[Series]:
    """Yield the series that have a line."""
    return (series for series in series_of(report) if not series.line.missing)


def _origin(series: Series) -> dict[str, Any]:
    first = series.first
    names = {"workload": series.label, "method": first.method}
    return {"set": first.set + 1, "environment": first.environment} | names


def df_loadline(report: Report) -> pd.DataFrame:
    """Return a row for each level above idle: its load, throughput, and part of the maximum."""
    rows = []
    for series in _lines(report):
        more = series.levels.to_dict("records")
        for at, level in enumerate(series.line.levels.to_dict("records")):
            done, work = series.of_level(at)
            rows.append(
                _origin(series)
                | {name: level[name] for name in ("target", "load", "visits", "watts")}
                | {"throughput": work.y, "throughput_low": work.low, "throughput_high": work.high}
                | {"done": done.y, "done_low": done.low, "done_high": done.high}
                | {"up_to_down": math.expm1(level["log_up"] - level["log_down"])}
                | more[at]
            )
    return pd.DataFrame(rows)


def df_answers(report: Report) -> pd.DataFrame:
    rows = []
    for series in series_of(report):
        row = _origin(series) | {"at": series.at if series.at > 0 else 0.0}
        row["answer"] = report.worth.qualify(sentence(series))
        rows.append(row)
        if series.line.missing:
            continue
        line, done, power = series.line, series.done, series.power
        hysteresis = line.hysteresis_error.interval(line.hysteresis, series.confidence)
        watts = power["watts"].sum()
        row |= {"done": done.y, "done_low": done.low, "done_high": done.high, "left": series.left}
        row |= {"rounds": line.rounds, "left_out": line.left_out, "error": line.error.error}
        row |= {"freedom": line.error.freedom, "hysteresis": math.expm1(line.hysteresis)}
        row |= {f"hysteresis_{end}": math.expm1(value) for end, value in vars(hysteresis).items()}
        row |= {"full_load": series.full_load, "full_throughput": series.full_throughput}
        row["per_joule"] = power["throughput"].sum() / watts if len(power) else math.nan
    return pd.DataFrame(rows)


def df_predictions(report: Report) -> pd.DataFrame:
    """Return the predicted throughput (without a shape), and what each shape predicts."""
    rows = []
    for series in _lines(report):
        found = series.prediction
        if not found:
            continue
        row = _origin(series) | {"load": series.predict}
        if not found.missing:
            rows.append(
                row
                | {"throughput": found.range.y, "low": found.range.low, "high": found.range.high}
                | {"unlimited_low": found.free.low, "unlimited_high": found.free.high}
                | {"missed": found.missed, "knee_above": found.unidentified}
            )
        rows += [
            row
            | {"shape": SHAPES[fit.shape], "fits": fit.fits}
            | {"throughput": fit.range.y, "low": fit.range.low, "high": fit.range.high}
            | {"knee_low": fit.knee.low, "knee_high": fit.knee.high}
            for fit in found.fits
        ]
    return pd.DataFrame(rows)


def df_power(report: Report) -> pd.DataFrame:
    parts = [series.power.assign(**_origin(series)) for series in _lines(report)]
    parts = [part for part in parts if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


TABLES = (
    Table(
        "loadline",
        "Throughput at each load, relative to the maximum",
        "(set) (environment) workload method target load visits throughput throughput_low "
        "throughput_high done done_low done_high up_to_down response_mean_seconds "
        "response_p50_seconds response_p95_seconds response_p95_least_seconds "
        "response_p95_most_seconds watts watts_least watts_most",
        df_loadline,
        about="For a study of the experiment `loadline`: a row for each level above idle. "
        "`workload` also has the columns of the plan in which the runs differ, as in "
        "`serial, size=large`; for a further study of the same, its number comes after "
        "them, as in `serial, size=large (2)`.",
    ),
    Table(
        "loadline-answers",
        "What is left",
        "(set) (environment) workload method at done done_low done_high left rounds left_out "
        "error freedom hysteresis hysteresis_low hysteresis_high full_load full_throughput "
        "per_joule answer",
        df_answers,
        about="What is done and left at the load in question, the maximum, and the answer as a "
        "sentence.",
    ),
    Table(
        "loadline-predictions",
        "Predicted throughput, and what each shape of the line predicts",
        "workload method load shape fits throughput low high knee_low knee_high unlimited_low "
        "unlimited_high missed knee_above",
        df_predictions,
        about="The predicted throughput with its range, and then a row for each shape of the "
        "line: whether the levels contradict it, and what it predicts.",
    ),
    Table(
        "loadline-power",
        "Power at parts of the maximum throughput of the levels, interpolated",
        "workload method part throughput watts per_joule",
        df_power,
        about="Power at 100, 90 ... 10 and 0 % of the maximum throughput of the levels, "
        "interpolated.",
    ),
)


# Sentences


def _is_below_maximum(series: Series) -> bool:
    """Return whether the maximum is probably higher than the highest level: its load is below
    100 %, or the service still answers its rate."""
    full = series._full
    if series.line.is_capped or series.has_bursts:
        return False
    if series.is_by_rate:
        return math.exp(full["log_mean"]) >= RATE_ANSWERED * series.highest_rate
    is_reached = not series.is_service or full["load"] >= LOAD_REACHED * full["target"]
    return bool(is_reached and full["target"] < FULL)


def _done_sentence(series: Series) -> str:
    line, done = series.line, series.done
    loads = 100 * line.levels["load"]
    if math.isnan(done.y):
        return (
            f"What is left at {100 * series.at:.3g} % load is unknown: loads from "
            f"{loads.iloc[0]:.3g} to {loads.iloc[-1]:.3g} % were measured."
        )
    digits = 1 if done.high - done.low < 0.01 else 0
    kind = "rate" if series.is_by_rate else "load"
    below = f" at the highest {kind} measured" if _is_below_maximum(series) else ""
    # The error of a level is that of a mean over all visits; this is between two in a round.
    noise = math.expm1(line.error.error * math.sqrt(2 * line.rounds))
    return (
        f"At {100 * series.at:.3g} % load it has done {100 * done.y:.{digits}f} % "
        f"({100 * done.low:.{digits}f} to {100 * done.high:.{digits}f}) of what it can do{below}; "
        f"{100 * series.left:.{digits}f} % more is left; two measurements of a level differ by "
        f"about {100 * noise:.1f} %."
    )


def _range(band: Band) -> str:
    if math.isfinite(band.high):
        return f"{band.low:.4g} to {band.high:.4g}"
    return f"at least {band.low:.4g}"


def _prediction_sentence(series: Series, found: Prediction) -> str:
    unit = "requests" if series.is_service else "iterations"
    verb = "would do" if found.fits else "does"
    words = (
        f" At {100 * series.predict:.3g} % load it {verb} {found.range.y:.4g} "
        f"({_range(found.range)}) {unit} per second"
    )
    if not found.fits:
        return f"{words}, as measured."
    if math.isfinite(series.burst[0]):
        return f"{words}, judging from the levels below and bursts at full load."
    words += (
        f", but {_range(found.free)} if nothing limits it above the measured "
        f"{100 * found.highest:.3g} %"
    )
    if math.isnan(found.unidentified):
        return f"{words}, which only bursts can show."
    knee = f"the knee at {100 * found.unidentified:.3g} %"
    return f"{words}: {knee} is not identified without bursts."


def sentence(series: Series) -> str:
    """Return how much throughput is left, and the prediction if one was asked for."""
    if series.line.missing:
        return f"What is left is unknown: {series.line.missing}."
    words = _done_sentence(series) if series.at > 0 else ""
    found = series.prediction
    if not found:
        return words
    if found.missing:
        return f"{words} There is no prediction: {found.missing}."
    return words + _prediction_sentence(series, found)


def answer(report: Report) -> Headline | None:
    found = series_of(report)
    if not found:
        return None
    at = 100 * found[0].at if found[0].at > 0 else 0.0
    return Headline(
        f"How much of its maximum throughput does {found[0].label[:100]} reach at {at:.3g} % load, "
        "and what is left?",
        sentence(found[0]),
    )


# Page and terminal


def _draw_visits(ax: Any, series: Series, value: str) -> None:
    for direction, marker, color, label in (
        ("up", "^", figures.GREEN, "going up"),
        ("down", "v", figures.ORANGE, "going down"),
        ("", "o", figures.PURPLE, "without a staircase"),
    ):
        visits = series.held[series.held["direction"] == direction]
        if not direction and visits.empty:
            continue
        x, y = 100 * visits["load"], visits[value]
        titles = [f"{load:.1f} %: {height:.4g}" for load, height in zip(x, y, strict=True)]
        figures.mark(ax, x, y, titles, marker=marker, color=color, label=label, size=6)


def plot_throughput(series: Series) -> Any:
    """Draw throughput against load with its interval, the visits, and the prediction."""
    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_between(ax, "x", "load, %", 0, 100)
    figures.axis_from_zero(ax, "y", "requests/s" if series.is_service else "iterations/s")
    loads = series.line.levels["load"].to_numpy()
    at = np.append(np.arange(loads[0], loads[-1], 0.01), loads[-1])
    bands = [series.line.throughput(load, series.confidence) for load in at]
    low, mean, high = ([getattr(b, n) for b in bands] for n in ("low", "y", "high"))
    invalid = series.held[series.held["is_invalid"]]
    if len(invalid):
        figures.rings(ax, 100 * invalid["load"], invalid["throughput"], "invalid runs")
    figures.band(ax, 100 * at, low, high)
    full = series._full
    straight = [0, 100 * full["load"]], [0, math.exp(full["log_mean"])]
    figures.line(ax, *straight, color=figures.AXIS, dashed=True, label="in proportion to load")
    figures.line(ax, 100 * at, mean, label="mean", width=1.6)
    _draw_visits(ax, series, "throughput")
    found = series.prediction
    if found and found.fits and not found.missing:
        x, y, color = 100 * series.predict, found.range.y, figures.PURPLE
        ends = [found.range.low, found.range.high if math.isfinite(found.range.high) else y]
        figures.line(ax, [x, x], ends, color=color, width=1.6)
        title = f"{x:.3g} %: {_range(found.range)}"
        figures.mark(ax, [x], [y], [title], color=color, marker="s", size=7, label="predicted")
    return fig


def plot_responses(series: Series) -> Any:
    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_between(ax, "x", "load, %", 0, 100)
    figures.axis_logarithmic(ax, "y", "response time, s")
    x, levels = 100 * series.line.levels["load"], series.levels
    ends = [levels[f"response_p95_{end}_seconds"] for end in ("least", "most")]
    figures.band(ax, x, *ends, color=figures.ORANGE)
    for name, marker, color, label in (
        ("p95", "o", figures.ORANGE, "95 %"),
        ("mean", "s", figures.BLUE, "mean"),
        ("p50", "^", figures.GREEN, "median"),
    ):
        figures.line(ax, x, levels[RESPONSES[name]], color=color, marker=marker, label=label)
    return fig


def plot_power(series: Series) -> Any:
    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_between(ax, "x", "load, %", 0, 100)
    figures.axis_from_zero(ax, "y", "power, W")
    levels = series.line.levels
    x = 100 * levels["load"]
    figures.band(ax, x, series.levels["watts_least"], series.levels["watts_most"])
    figures.line(ax, [0, *x], [series.line.idle_watts, *levels["watts"]], label="mean", width=1.6)
    _draw_visits(ax, series, "watts")
    return fig


def _method(series: Series) -> tuple[str, ...]:
    method = series.first.method
    if series.is_service:
        how = "loaded" if series.is_by_rate else "held at each load"
        return (f"{series.label}: {how} by the rate of requests.",)
    how = ", which overlaps instances in its own way."
    if method == "independent":
        how = (
            ": instances run and stop in rounds of random length, so that they overlap as "
            "independent programs do."
        )
    return (f"{series.label}: method ", Code(method or "unknown"), how)


def _pictures(series: Series) -> Iterator[Part]:
    yield Picture(
        figures.svg(plot_throughput(series)), "Throughput against load, with its interval"
    )
    if series.is_service:
        yield Picture(
            figures.svg(plot_responses(series)),
            "Response times against load, from when each request was due; the band contains the "
            "95th percentile of each visit",
        )
    if len(series.power):
        caption = "Power against load; the band contains each visit"
        yield Picture(figures.svg(plot_power(series)), caption)


def sections(report: Report) -> Iterator[Part]:
    found = series_of(report)
    if not found:
        return
    parts: list[Part] = [
        "Each level of load was held on the way up and on the way down. Done is the throughput at "
        "a load relative to the maximum, which is the throughput of the highest level unless that "
        "of another level exceeds it by three errors. The error is estimated from the differences "
        "between both ways. The dashed line shows throughput in proportion to load."
    ]
    for series in found:
        parts.append(_method(series))
        parts += _pictures(series) if not series.line.missing else []
    names = ("loadline-answers", "loadline", "loadline-predictions", "loadline-power")
    yield Section("What is left", [*parts, *map(report.table, names)])


def text(report: Report) -> str:
    title = "load line; throughput at each load, relative to the maximum"
    return report.table("loadline").text(title)
