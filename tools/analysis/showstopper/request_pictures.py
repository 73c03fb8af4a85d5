# SPDX-License-Identifier: Apache-2.0
"""Pictures of response times: over rate, CPU load and duty, over time, and at levels of knobs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from . import figures, runs
from .levels import describe, level_name
from .page import Picture
from .rates import MEAN_MAX, P95_MAX, find_beside, join
from .responses import DUTY_FULL, Responses, added_by_stops
from .studies import Report, others_disturb

PICTURED_MAX = 40  # more records than this have no pictures of their own
COLUMNS_MAX = 200  # of a picture over time: more seconds are merged
SERIES_MAX = 8  # in a picture; the tables have all of them
ARRIVALS_MAX, LEVELS_MAX = 3, 12  # likewise, of a picture of levels
LINED_MAX = 60  # more points, which probably come from a trace, are not joined by lines

FIGURES = {"mean": "mean", "p50": "50 %", "p95": "95 %", "p99": "99 %"}
COLORS = (figures.GREEN, figures.BLUE, figures.AMBER, figures.ORANGE)
MARKS = ("o", "^", "s", "v")

# The horizontal axes: the column of points, its factor, and what readers see.
AXES = {
    "rate": (1, "request rate, /s", "Response time against rate"),
    "load": (100, "CPU load observed, %", "Response time against CPU load"),
    "duty": (100, "duty, %", "Response time against duty"),
}
# The rows of a picture of levels: the column of points, its factor, its name and its limit.
PANELS: dict[str, tuple[float, str, float]] = {
    "all_mean": (1000, "mean, ms", 1000 * MEAN_MAX),
    "all_p95": (1000, "95 %, ms", 1000 * P95_MAX),
    "watts": (1, "power, W", math.nan),
    "success_ratio": (100, "successes, %", math.nan),
}


def pictures(report: Report) -> Iterator[Picture]:
    rates = report.rates
    if rates.empty:
        return
    yield from _level_pictures(rates)
    drawn = rates[~rates["of"].map(lambda of: of.closed) & rates["intended_mean_seconds"].notna()]
    for _, service in drawn.groupby("service", sort=False, dropna=False):
        name = service["of"].iloc[0].workload or "these"
        fig = plot_series(service)
        if fig:
            caption = f"All series of {name}, from when requests were due"
            yield Picture(figures.svg(fig), caption)
        yield from _duty_picture(service)
        for _, series in service.groupby("series", sort=False, dropna=False):
            for axis in ("rate", "load"):
                yield from _picture(series, axis, describe(series["of"].iloc[0]))


def pictures_over_time(report: Report) -> Iterator[Picture]:
    if len(report.responses) > PICTURED_MAX:
        return
    for of in report.responses:
        if len(of.seconds) > 1:
            fig = plot_times(of, find_beside(report, of))
            yield Picture(figures.svg(fig), f"Response times and requests over time: {of.title}")


def _picture(points: pd.DataFrame, axis: str, name: str) -> Iterator[Picture]:
    known = points[points[axis].notna()].sort_values(axis, kind="stable")
    if known[axis].nunique() > 1:
        yield Picture(figures.svg(plot_points(known, axis)), f"{AXES[axis][2]}: {name}")


def _duty_picture(service: pd.DataFrame) -> Iterator[Picture]:
    """Draw the rate with the most duties; among several such rates, the lowest."""
    counts = service.groupby("rate", sort=True, dropna=True)["duty"].count()
    if counts.any():
        of, rate = service["of"].iloc[0], counts.idxmax()
        points = service[service["rate"] == rate]
        yield from _picture(points, "duty", f"{of.workload or describe(of)}, {rate:.6g}/s")


def plot_points(points: pd.DataFrame, axis: str = "rate") -> Any:
    """Draw response times of points from left to right: solid lines count from when a request was
    due, dashed ones from when it was sent."""
    factor, name, _ = AXES[axis]
    x = factor * points[axis].to_numpy()
    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_logarithmic(ax, "y", "response time, ms")
    if axis == "load":
        figures.axis_percent(ax, "x", name, x[0] / 100, x[-1] / 100)
    elif axis == "duty":
        figures.axis_between(ax, "x", name, 0, 100)
        _draw_expected(ax, points)
    else:
        figures.axis_from_zero(ax, "x", name)
    follows_trace = points["of"].map(lambda of: of.is_held and not of.is_at_load)
    lined = len(points) <= LINED_MAX and not follows_trace.any()
    for (figure, label), color, marker in zip(FIGURES.items(), COLORS, MARKS):
        due, sent = (_milliseconds(points[f"{o}_{figure}_seconds"]) for o in ("intended", "actual"))
        titles = [f"{of.title}: {value:.4g} ms" for of, value in zip(points["of"], due)]
        if lined:
            figures.line(ax, x, due, color=color, marker=marker, titles=titles, label=label)
            figures.line(ax, x, sent, color=color, dashed=True)
        else:
            figures.mark(ax, x, due, titles, color=color, marker=marker, label=label)
            figures.mark(ax, x, sent, color=color, marker="o open", size=4)
    figures.line(ax, [], [], color=figures.GRAY, dashed=True, label="from sending")
    disturbed = points["others"].map(others_disturb)
    if disturbed.any():
        p95 = _milliseconds(points["intended_p95_seconds"])
        figures.rings(ax, x[disturbed], p95[disturbed], "disturbed by other processes")
    return fig


def _milliseconds(seconds: Any) -> np.ndarray:
    """Return times in milliseconds; NaN for 0, which a logarithmic axis cannot show."""
    times = 1000 * np.asarray(seconds, dtype=float)
    return np.where((times > 0) & np.isfinite(times), times, math.nan)


def _draw_expected(ax: Any, points: pd.DataFrame) -> None:
    """Draw the mean response time that is expected if requests are few. A point must have no stops,
    and all others the same tau."""
    stopped = points["duty"] < DUTY_FULL
    taus = {of.tau_seconds for of in points["of"][stopped]}
    if stopped.all() or len(taus) != 1 or not min(taus) > 0:
        return
    work, tau = points["intended_mean_seconds"][~stopped].iloc[0], taus.pop()
    duties = np.arange(1, 201) / 200
    means = [work + added_by_stops(duty, tau, work) for duty in duties]
    figures.line(
        ax, 100 * duties, _milliseconds(means), width=4, color=figures.GRID, label="mean expected"
    )


def plot_series(service: pd.DataFrame) -> Any:
    by_series = service.groupby("series", sort=False, dropna=False)
    series = [points for _, points in by_series if points["rate"].nunique() > 1]
    if len(series) < 2:
        return None
    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_from_zero(ax, "x", "request rate, /s")
    figures.axis_logarithmic(ax, "y", "95 % answered within, ms")
    for at, points in enumerate(series[:SERIES_MAX]):
        name = level_name(points["of"].iloc[0]) or points["of"].iloc[0].title
        points = points.sort_values("rate", kind="stable")
        y = _milliseconds(points["intended_p95_seconds"])
        _draw_line(ax, at, points["rate"], y, name, name)
    return fig


def _draw_line(ax: Any, at: int, x: Any, y: Any, name: str, label: str) -> None:
    titles = [f"{name}: {value:.4g}" for value in y]
    color, marker = figures.color_of(at), figures.marker_of(at)
    figures.line(ax, x, y, color=color, marker=marker, titles=titles, label=label)


# Over time


def plot_times(of: Responses, run: runs.Run | None = None) -> Any:
    frame = _over_time(of, run)
    panels = "response time, ms", "requests, /s", "CPU load, %"
    fig = figures.figure(2 + int(frame["load"].notna().any()))
    for ax, name in zip(fig.axes, panels):
        named = "time" if ax is fig.axes[-1] else ""
        unit = figures.axis_time(ax, named, float(of.seconds["end"].iloc[-1]))
        if name != panels[0]:
            figures.axis_from_zero(ax, "y", name)
    x, (times, requests, *load) = frame["time"] / unit, fig.axes
    more = ", percentiles estimated" if frame["estimated"].any() else ""
    figures.axis_logarithmic(times, "y", f"{panels[0]}{more}")
    for (figure, label), color in zip(FIGURES.items(), COLORS):
        figures.line(times, x, _milliseconds(frame[figure]), color=color, label=label)
    sent = _milliseconds(frame["sent_p95"])
    figures.line(times, x, sent, color=figures.GRAY, dashed=True, label="95 % from sending")
    figures.line(requests, x, frame["due"], color=figures.AXIS, label="due")
    figures.line(requests, x, frame["completed"], color=figures.SKY, label="succeeded")
    failed = frame["failed"] + frame["refused"]
    figures.line(requests, x, failed, color=figures.BROWN, label="failed or refused")
    for ax in load:
        if of.is_held:
            target = 100 * frame["target"]
            figures.line(ax, x, target, color=figures.AXIS, width=4, label="target")
        label = "load" if of.is_held else ""
        figures.line(ax, x, 100 * frame["load"], color=figures.PURPLE, label=label)
    return fig


def _over_time(of: Responses, run: runs.Run | None) -> pd.DataFrame:
    """Return a row for each column of a picture."""
    length = len(of.seconds) // COLUMNS_MAX + 1
    parts = of.seconds.groupby(np.arange(len(of.seconds)) // length, sort=False, dropna=False)
    begin, end = parts["begin"].first(), parts["end"].last()
    counts = parts[["due", "completed", "failed", "refused"]].sum().div(end - begin, axis=0)
    responses = [of.response(seconds) for _, seconds in parts]
    times = pd.DataFrame([vars(intended) for intended, _ in responses])
    to = parts["at"].last()
    from_ = parts["at"].first() - (parts["end"].first() - begin)
    joined = [join(of, run, *moments) for moments in zip(from_, to)]
    return counts.join(times[[*FIGURES, "estimated"]]).assign(
        time=(begin + end) / 2,
        sent_p95=[actual.p95 for _, actual in responses],
        load=[values["load"] for values in joined],
        target=[values["target"] for values in joined],
    )


# Levels of knobs


def _level_pictures(rates: pd.DataFrame) -> Iterator[Picture]:
    known = rates[rates["of"].map(lambda of: bool(of.knobs) and not of.closed)]
    for _, service in known.groupby("any_arrival", sort=False, dropna=False):
        means = df_means(service)
        if means["level"].nunique() < 2:
            continue
        of = service["of"].iloc[0]
        name = of.workload or of.title
        caption = f"Response times, power and successes by rate: {name}"
        yield Picture(figures.svg(plot_grid(means)), caption, width=1100)
        if service["watts"].notna().any():
            caption = f"Power against response time: {name}"
            yield Picture(figures.svg(plot_cost(means)), caption)


def df_means(service: pd.DataFrame) -> pd.DataFrame:
    """Return means over the runs by arrival, level and rate, unless there are too many arrivals or
    levels. NaN if a run has no value."""
    points = service[service["rate"] > 0].replace([math.inf], math.nan)
    arrival = points["of"].map(lambda of: of.arrival).rename("arrival")
    keys = [arrival, points["of"].map(level_name).rename("level"), points["rate"].round(9)]
    values = points[list(PANELS)]
    unknown = values.isna().groupby(keys, sort=False, dropna=False).any()
    means = values.groupby(keys, sort=False, dropna=False).mean().mask(unknown).reset_index()
    for name, most in (("arrival", ARRIVALS_MAX), ("level", LEVELS_MAX)):
        means = means[means[name].isin(means[name].unique()[:most])]
    return means


def plot_grid(means: pd.DataFrame) -> Any:
    """Draw a row for mean and 95th percentile, for power if it is known, and for the success ratio,
    with a column for each arrival. Dashed lines are the limits of an underloaded service."""
    names = [name for name in PANELS if name != "watts" or means["watts"].notna().any()]
    arrivals = list(means["arrival"].unique())
    fig = figures.figure(len(names), len(arrivals), width=1100)
    for ax, (name, arrival) in zip(fig.axes, itertools.product(names, arrivals)):
        factor, label, limit = PANELS[name]
        figures.axis_from_zero(ax, "x", "request rate, /s" if name == names[-1] else "")
        values = factor * means[name][means[name] > 0]
        shown = label if arrival == arrivals[0] else ""
        if math.isfinite(limit):
            low, high = min(limit, values.min()), max(limit, values.max())
            decades = (math.floor(math.log10(low)), math.ceil(math.log10(high) + 1e-9))
            figures.axis_logarithmic(ax, "y", shown, 10.0 ** decades[0], 10.0 ** decades[1])
            figures.line_at(ax, "y", limit)
        else:
            figures.axis_between(ax, "y", shown, 0, 1.05 * values.max() if len(values) else 1)
        if name == names[0]:
            figures.title(ax, arrival)
        for at, level, part in _levels(means, arrival):
            label = level if ax is fig.axes[0] else ""
            _draw_line(ax, at, part["rate"], factor * part[name], level, label)
    return fig


def plot_cost(means: pd.DataFrame) -> Any:
    arrivals = list(means["arrival"].unique())
    fig = figures.figure(len(arrivals), height=len(arrivals) * figures.HEIGHT)
    for ax, arrival in zip(fig.axes, arrivals):
        figures.axis_logarithmic(ax, "x", "mean response time, ms")
        figures.axis_free(ax, "y", "power, W")
        figures.title(ax, arrival)
        for at, level, part in _levels(means, arrival):
            _draw_line(ax, at, _milliseconds(part["all_mean"]), part["watts"], level, level)
    return fig


def _levels(means: pd.DataFrame, arrival: str) -> Iterator[tuple[int, str, pd.DataFrame]]:
    """Yield the means of each level, by rate. A level has the same number in all panels."""
    for at, level in enumerate(means["level"].unique()):
        part = means[(means["arrival"] == arrival) & (means["level"] == level)]
        yield at, level, part.sort_values("rate", kind="stable")
