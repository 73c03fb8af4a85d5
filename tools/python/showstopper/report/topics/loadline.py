# SPDX-License-Identifier: Apache-2.0
"""How much of its maximum throughput does a machine reach at a load, and how much is left?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
import pandas as pd

from .. import figures as f
from ... import inputs, loadline, steps
from ...loadline import FULL, UNKNOWN, UNSURE, Loadline, Prediction, loadline_of
from ...rates import df_requests, join
from ...stats import Band, Uncertainty, log, mean_of
from ...study import Study
from ..findings import Worth
from ..tables import Table

RATE_ANSWERED = 0.98  # a service that answers this part of its highest rate has capacity left
LOAD_REACHED = 0.95  # so does one that reaches this part of its highest load
SHAPES = {
    loadline.STRAIGHT: "work per load is linear",
    loadline.CURVE: "contention, as for locks",
    loadline.KNEE: "a bend",
    loadline.LIMIT: "a limit, as of memory bandwidth",
}
RESPONSES = {name: f"response_{name}_seconds" for name in ("mean", "p50", "p95")}

LIKE = ["set", "workload", "variant", "environment", "method"]
OF_RECORD = [*LIKE, "study", "title", "at", "predict", "knees"]


# Visits of levels


def df_visits(study: Study) -> pd.DataFrame:
    """Return a row for each visit of a level, or for each burst at full load."""
    parts = [part for part in (_of_runs(study), _of_requests(study)) if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _of_runs(study: Study) -> pd.DataFrame:
    rows = study.steps[study.steps["experiment"] == "loadline"]
    by_half = rows.groupby(["run", "half"], sort=False, dropna=False)["target"]
    rise = by_half.transform("last") - by_half.transform("first")
    direction = np.select([rows["half"].eq(0) | rise.eq(0), rise < 0], ["", "down"], "up")
    is_burst = rows["bursts"] > 0
    by_run = rows.groupby("run", sort=False, dropna=False)["target"]
    environments = [study.records[at].label("environment") for at in rows["run"]]
    found = rows[[*OF_RECORD, "target", "load", "watts"]].assign(
        environment=environments,
        throughput=rows["throughput"].mask(rows["is_exceeded"]),
        round=np.floor(rows["round"]).clip(lower=1).fillna(1),
        direction=direction,
        up=direction != "down",
        is_burst=is_burst,
        is_invalid=rows["verdict"] == "invalid",
        is_service=False,
        is_by_rate=False,
        **dict.fromkeys(RESPONSES.values(), math.nan),
    )
    return found[~is_burst | (rows["target"] >= by_run.transform("max"))]


def _of_requests(study: Study) -> pd.DataFrame:
    requests = study.once(df_requests)
    rows = requests[requests["experiment"] == "loadline"] if len(requests) else requests
    return pd.DataFrame(visit for at, row in rows.iterrows() for visit in _visits(study, at, row))


def _visits(study: Study, at: int, row: pd.Series) -> Iterator[dict[str, Any]]:
    one, level = study.requests[at], "target" if row["is_held"] else "rate"
    stretches = [*one.stretches(study.edge(one.source))]
    # A load may change within a second, which then has the mean of two levels.
    stretches = [s for s in stretches if level == "rate" or len(s["counted"]) > 1]
    falls = bool(stretches) and stretches[-1][level] < stretches[0][level]
    for stretch in stretches:
        joined = join(study, {"run": -1}, one, stretch["from"], stretch["to"])
        response = one.response(stretch["counted"])
        yield row[OF_RECORD].to_dict() | {
            "target": stretch[level],
            "load": joined["load"],
            "throughput": stretch["completed"] / stretch["seconds"],
            "watts": joined["watts"],
            "round": math.floor(row["round"]) if row["round"] >= 1 else 1,
            "up": not falls,
            "direction": "down" if falls else "up",
            "is_burst": False,
            "is_invalid": False,
            "is_service": True,
            "is_by_rate": level == "rate",
            **{column: response[f"intended_{name}_seconds"] for name, column in RESPONSES.items()},
        }


@dataclass(frozen=True)
class Series:
    """The visits of a study's levels by one workload, and the line through them. Levels that are
    rates are parts of the highest rate."""

    visits: pd.DataFrame
    label: str  # names the series in tables and sentences
    confidence: float
    highest_rate: float = math.nan

    @property
    def first(self) -> pd.Series:
        return self.visits.iloc[0]

    @cached_property
    def held(self) -> pd.DataFrame:
        """The visits without bursts."""
        return self.visits[~self.visits["is_burst"]]

    @cached_property
    def line(self) -> Loadline:
        return loadline_of(self.held)

    @cached_property
    def burst(self) -> tuple[float, float, Uncertainty]:
        """The mean throughput of bursts, their load, and the uncertainty of its logarithm."""
        bursts = self.visits[self.visits["is_burst"] & (self.visits["throughput"] > 0)]
        if len(bursts) < 2:
            return math.nan, math.nan, UNSURE
        mean = mean_of(log(bursts["throughput"]))
        error = Uncertainty(mean.deviation / math.sqrt(mean.count), mean.count - 1)
        return math.exp(mean.mean), float(bursts["load"].mean()), error

    @cached_property
    def has_bursts(self) -> bool:
        """Whether bursts are the maximum: no level exceeds them by three standard errors."""
        burst, _, error = self.burst
        if not math.isfinite(burst):
            return False
        both = math.hypot(self.line.error.error / math.sqrt(2), error.error)
        return bool(self.full["log_mean"] <= math.log(burst) + 3 * both)

    @property
    def full(self) -> pd.Series:
        return self.line.levels.iloc[self.line.full]

    @property
    def full_throughput(self) -> float:
        return self.burst[0] if self.has_bursts else math.exp(self.full["log_mean"])

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
        at = self.first["at"]
        if not at > 0:
            return UNKNOWN
        if self.has_bursts:
            return self._relate(self.line.throughput(at, self.confidence))
        return self.line.done(at, self.confidence)

    @property
    def left(self) -> float:
        """How far the maximum is above the throughput at the load in question. Below 0 is noise."""
        return float(max(1 / self.done.y - 1, 0.0)) if self.done.y > 0 else math.nan

    @cached_property
    def prediction(self) -> Prediction | None:
        if not self.first["predict"] > 0:
            return None
        words = [inputs.number(word.strip()) for word in self.first["knees"].split(",")]
        knees = [one for one in takewhile(math.isfinite, words) if 0 < one < 1]
        burst, _, error = self.burst
        confidence = self.confidence
        return loadline.predict(self.line, self.first["predict"], knees, burst, error, confidence)

    @cached_property
    def levels(self) -> pd.DataFrame:
        """The levels of the line, with means of response times over their visits, and ranges."""
        held = self.held[self.held["target"] >= loadline.IDLE]
        number = steps.levels(held["target"])
        target = held["target"].groupby(number, sort=True, dropna=False).transform("min")
        visits = held.groupby(target, sort=True, dropna=False)
        found = {
            f"{name}_{end}{unit}": getattr(visits[f"{name}{unit}"], which)()
            for name, unit in (("response_p95", "_seconds"), ("watts", ""))
            for end, which in (("least", "min"), ("most", "max"))
        }
        means = visits[[*RESPONSES.values()]].mean().assign(**found)
        return self.line.levels.join(means, on="target")


def series_of(study: Study) -> list[Series]:
    """Return the series: visits of one workload, variant, environment and method in a study."""
    visits, found = study.once(df_visits), []
    copies: Counter[Any] = Counter()
    keys = [*LIKE, "study", "is_service"]
    for key, rows in visits.groupby(keys, sort=False, dropna=False) if len(visits) else ():
        copies[key[:5]] += 1
        number = copies[key[:5]]
        first = rows.iloc[0]
        label = f"{first['workload'] or first['title']}{', ' if first['variant'] else ''}"
        label += f"{first['variant']}{f' ({number})' if number > 1 else ''}"
        highest = float(rows["target"].max()) if first["is_by_rate"] else math.nan
        rows = rows.assign(target=rows["target"] / (highest if highest > 0 else 1))
        found.append(Series(rows, label, study.settings.confidence, highest))
    return found


# Tables


def _lines(study: Study) -> list[Series]:
    """Return the series that have a line."""
    return [series for series in study.once(series_of) if not series.line.missing]


def _origin(series: Series) -> dict[str, Any]:
    names = ["set", "environment", "method"]
    return {name: series.first[name] for name in names} | {"workload": series.label}


def _named(name: str, band: Band) -> dict[str, float]:
    return {name: band.y, f"{name}_low": band.low, f"{name}_high": band.high}


def df_loadline(study: Study) -> pd.DataFrame:
    """Return a row for each level above idle: its load, throughput, and part of the maximum."""
    rows = []
    for series in _lines(study):
        for at, level in enumerate(series.levels.to_dict("records")):
            done, work = series.of_level(at)
            rows.append(
                _origin(series) | level | _named("throughput", work) | _named("done", done)
                | {"up_to_down": math.expm1(level["log_up"] - level["log_down"])}
            )
    return pd.DataFrame(rows)


def df_answers(study: Study) -> pd.DataFrame:
    rows, worth = [], Worth.of(study)
    for series in study.once(series_of):
        at = series.first["at"]
        row = _origin(series) | {"at": at if at > 0 else 0.0}
        row["answer"] = worth.qualify(sentence(series))
        rows.append(row if series.line.missing else row | _answer(series))
    return pd.DataFrame(rows)


def _answer(series: Series) -> dict[str, float]:
    line, power = series.line, loadline.power_of(series.line)
    sure = line.hysteresis_error.interval(line.hysteresis, series.confidence)
    hysteresis = Band(*map(math.expm1, (line.hysteresis, sure.low, sure.high)))
    return _named("done", series.done) | _named("hysteresis", hysteresis) | {
        "left": series.left,
        "rounds": line.rounds,
        "left_out": line.left_out,
        "error": line.error.error,
        "freedom": line.error.freedom,
        "full_load": series.burst[1] if series.has_bursts else float(series.full["load"]),
        "full_throughput": series.full_throughput,
        "per_joule": power["throughput"].sum() / power["watts"].sum() if len(power) else math.nan,
    }


def df_predictions(study: Study) -> pd.DataFrame:
    """Return the predicted throughput (without a shape), and what each shape predicts."""
    parts = []
    for series in _lines(study):
        found = series.prediction
        if not found:
            continue
        rows = found.fits.assign(shape=found.fits["shape"].map(SHAPES))
        if not found.missing:
            whole = {
                **{"throughput": found.range.y, "low": found.range.low, "high": found.range.high},
                **{"unlimited_low": found.free.low, "unlimited_high": found.free.high},
                **{"missed": found.missed, "knee_above": found.unidentified},
            }
            rows = pd.concat([pd.DataFrame([whole]), rows], ignore_index=True)
        parts.append(rows.assign(load=series.first["predict"], **_origin(series)))
    if not parts:
        return pd.DataFrame()
    return pd.concat(parts, ignore_index=True).fillna({"shape": "", "fits": ""})


def df_power(study: Study) -> pd.DataFrame:
    parts = [loadline.power_of(one.line).assign(**_origin(one)) for one in _lines(study)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


TABLES = {
    "loadline": Table(
        "Throughput at each load, relative to the maximum",
        "(set) (environment) workload method target load visits throughput throughput_low "
        "throughput_high done done_low done_high up_to_down response_mean_seconds "
        "response_p50_seconds response_p95_seconds response_p95_least_seconds "
        "response_p95_most_seconds watts watts_least watts_most",
        df_loadline,
        terminal="load line; throughput at each load, relative to the maximum",
        about="For a study of the experiment `loadline`: a row for each level above idle. "
        "`workload` also has the columns of the plan in which the runs differ, as in "
        "`serial, size=large`; for a further study of the same, its number comes after "
        "them, as in `serial, size=large (2)`.",
    ),
    "loadline-answers": Table(
        "What is left",
        "(set) (environment) workload method at done done_low done_high left rounds left_out "
        "error freedom hysteresis hysteresis_low hysteresis_high full_load full_throughput "
        "per_joule answer",
        df_answers,
        about="What is done and left at the load in question, the maximum, and the answer as a "
        "sentence.",
    ),
    "loadline-predictions": Table(
        "Predicted throughput, and what each shape of the line predicts",
        "workload method load shape fits throughput low high knee_low knee_high unlimited_low "
        "unlimited_high missed knee_above",
        df_predictions,
        about="The predicted throughput with its range, and then a row for each shape of the "
        "line: whether the levels contradict it, and what it predicts.",
    ),
    "loadline-power": Table(
        "Power at parts of the maximum throughput of the levels, interpolated",
        "workload method part throughput watts per_joule",
        df_power,
        about="Power at 100, 90 ... 10 and 0 % of the maximum throughput of the levels, "
        "interpolated.",
    ),
}


# Sentences


def _is_below_maximum(series: Series) -> bool:
    """Return whether the maximum is probably higher than the highest level: its load is below
    100 %, or the service still answers its rate."""
    full = series.full
    if series.line.is_capped or series.has_bursts:
        return False
    if series.first["is_by_rate"]:
        return math.exp(full["log_mean"]) >= RATE_ANSWERED * series.highest_rate
    is_reached = not series.first["is_service"] or full["load"] >= LOAD_REACHED * full["target"]
    return bool(is_reached and full["target"] < FULL)


def _done_sentence(series: Series) -> str:
    line, done, at = series.line, series.done, 100 * series.first["at"]
    loads = 100 * line.levels["load"]
    if math.isnan(done.y):
        return (
            f"What is left at {at:.3g} % load is unknown: loads from {loads.iloc[0]:.3g} to "
            f"{loads.iloc[-1]:.3g} % were measured."
        )
    digits = 1 if done.high - done.low < 0.01 else 0
    kind = "rate" if series.first["is_by_rate"] else "load"
    below = f"throughput at the highest {kind} measured"
    maximum = below if _is_below_maximum(series) else "maximum throughput"
    # Convert the error of a level, a mean over all visits, to that between two visits in a round.
    noise = math.expm1(line.error.error * math.sqrt(2 * line.rounds))
    return (
        f"At {at:.3g} % load it reaches {100 * done.y:.{digits}f} % "
        f"({100 * done.low:.{digits}f} to {100 * done.high:.{digits}f}) of its {maximum}; "
        f"{100 * series.left:.{digits}f} % more is left; two measurements of a level differ by "
        f"about {100 * noise:.1f} %."
    )


def _range(band: Band) -> str:
    if math.isfinite(band.high):
        return f"{band.low:.4g} to {band.high:.4g}"
    return f"at least {band.low:.4g}"


def _prediction_sentence(series: Series, found: Prediction) -> str:
    unit = "requests" if series.first["is_service"] else "iterations"
    verb = "does" if found.fits.empty else "would do"
    words = (
        f" At {100 * series.first['predict']:.3g} % load it {verb} {found.range.y:.4g} "
        f"({_range(found.range)}) {unit} per second"
    )
    if found.fits.empty:
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
    """Return how much throughput is left, and the prediction if one was requested."""
    if series.line.missing:
        return f"What is left is unknown: {series.line.missing}."
    words, found = _done_sentence(series) if series.first["at"] > 0 else "", series.prediction
    if not found:
        return words
    if found.missing:
        return f"{words} There is no prediction: {found.missing}."
    return words + _prediction_sentence(series, found)


def question(study: Study) -> str:
    found = study.once(series_of)
    if not found:
        return ""
    at = np.nan_to_num(100 * found[0].first["at"])
    return (
        f"How much of its maximum throughput does {found[0].label[:100]} reach at {at:.3g} % load, "
        "and what is left?"
    )


def answer(study: Study) -> str:
    return sentence(study.once(series_of)[0])


# Figures


def _draw_visits(ax: Any, series: Series, value: str) -> None:
    for direction, marker, color, label in (
        ("up", "^", f.GREEN, "going up"),
        ("down", "v", f.ORANGE, "going down"),
        ("", "o", f.PURPLE, "without a staircase"),
    ):
        visits = series.held[series.held["direction"] == direction]
        x, y = 100 * visits["load"], visits[value]
        titles = [f"{load:.1f} %: {height:.4g}" for load, height in zip(x, y)]
        if len(visits):
            f.points(ax, x, y, titles, marker=marker, color=color, label=label)


@f.drawing
def plot_throughput(series: Series) -> Any:
    """Draw throughput against load with its interval, the visits, and the prediction."""
    fig, ax = f.new()
    loads, full = series.line.levels["load"].to_numpy(), series.full
    at = np.append(np.arange(loads[0], loads[-1], 0.01), loads[-1])
    bands = [series.line.throughput(load, series.confidence) for load in at]
    bad = series.held[series.held["is_invalid"]]
    f.rings(ax, 100 * bad["load"], bad["throughput"], "invalid runs")
    f.band(ax, 100 * at, [band.low for band in bands], [band.high for band in bands])
    ends = [0, 100 * full["load"]], [0, math.exp(full["log_mean"])]
    ax.plot(*ends, "--", color=f.AXIS, label="in proportion to load")
    ax.plot(100 * at, [band.y for band in bands], color=f.BLUE, label="mean")
    _draw_visits(ax, series, "throughput")
    found = series.prediction
    if found and len(found.fits) and not found.missing:
        x, y, color = 100 * series.first["predict"], found.range.y, f.PURPLE
        high = found.range.high if math.isfinite(found.range.high) else y
        ax.plot([x, x], [found.range.low, high], color=color)
        title = f"{x:.3g} %: {_range(found.range)}"
        f.points(ax, [x], [y], [title], color=color, marker="s", label="predicted")
    unit = "requests/s" if series.first["is_service"] else "iterations/s"
    ax.set(xlabel="load, %", ylabel=unit, xlim=(0, 100), ylim=(0, None))
    f.legend(ax, 3)
    return fig


@f.drawing
def plot_responses(series: Series) -> Any:
    fig, ax = f.new()
    x, levels = 100 * series.levels["load"], series.levels
    ends = [levels[f"response_p95_{end}_seconds"] for end in ("least", "most")]
    f.band(ax, x, *ends, color=f.ORANGE)
    for name, marker, color, label in (
        ("p95", "o", f.ORANGE, "95 %"),
        ("mean", "s", f.BLUE, "mean"),
        ("p50", "^", f.GREEN, "median"),
    ):
        ax.plot(x, levels[RESPONSES[name]], color=color, marker=marker, label=label)
    ax.set(xlabel="load, %", ylabel="response time, s", xlim=(0, 100))
    f.logarithmic(ax)
    f.legend(ax)
    return fig


@f.drawing
def plot_power(series: Series) -> Any:
    fig, ax = f.new()
    x, levels = 100 * series.levels["load"], series.levels
    f.band(ax, x, levels["watts_least"], levels["watts_most"])
    ax.plot([0, *x], [series.line.idle_watts, *levels["watts"]], color=f.BLUE, label="mean")
    _draw_visits(ax, series, "watts")
    ax.set(xlabel="load, %", ylabel="power, W", xlim=(0, 100), ylim=(0, None))
    f.legend(ax)
    return fig


def _method(series: Series) -> str:
    method = series.first["method"]
    if series.first["is_service"]:
        how = "loaded" if series.first["is_by_rate"] else "held at each load"
        return f"{how} by the rate of requests"
    if method == "independent":
        return (
            "method independent: instances run and stop in rounds of random length, so that they "
            "overlap as independent programs do"
        )
    return f"method {method or 'unknown'}, which overlaps instances in its own way"


def figures(study: Study) -> Iterator[f.Picture]:
    lines = _lines(study)
    for series in lines:
        name = f": {series.label}" if len(lines) > 1 else ""
        how = (
            f"{series.label}: {_method(series)}. Each level was held on the way up and on the way "
            "down; the error is estimated from the differences between both ways. Done is the "
            "throughput at a load relative to the maximum: that of the highest level, unless "
            "another exceeds it by three errors."
        )
        caption = f"Throughput against load, with its interval{name}"
        yield f.Picture(caption, plot_throughput(series), how=how)
        if series.first["is_service"]:
            how = (
                "From when each request was due; the band contains the 95th percentile of each "
                "visit"
            )
            yield f.Picture(f"Response times against load{name}", plot_responses(series), how=how)
        if len(loadline.power_of(series.line)):
            how = "The band contains each visit"
            yield f.Picture(f"Power against load{name}", plot_power(series), how=how)
