# SPDX-License-Identifier: Apache-2.0
"""Pictures of response times: over rate, CPU load and duty, over time, and at levels of knobs."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from . import figures, runs
from .levels import describe, level_name
from .page import Picture
from .rates import MEAN_MAX, P95_MAX, find_beside, join
from .responses import DUTY_FULL, Responses, added_by_stops
from .steps import total
from .studies import Report, others_disturb

PICTURED_MAX = 40  # more records than this have no pictures of their own
SECONDS_MAX = 600  # more seconds are merged
SERIES_MAX = 8  # in a picture; the tables have all of them
COLUMNS_MAX, LEVELS_MAX = 3, 12  # likewise, of a picture of levels
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
    if len(report.responses) > PICTURED_MAX:
        return
    for of in report.responses:
        if len(of.seconds) > 1:
            yield Picture(figures.svg(plot_times(of)), f"Response time over time: {of.title}")
            fig = plot_counts(of, find_beside(report, of))
            yield Picture(figures.svg(fig), f"Requests over time: {of.title}")


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
    lined = len(points) <= LINED_MAX
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
    """Draw the 95th percentiles of the series of a service; None with fewer than two."""
    by_series = service.groupby("series", sort=False, dropna=False)
    series = [points for _, points in by_series if points["rate"].nunique() > 1]
    if len(series) < 2:
        return None
    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_from_zero(ax, "x", "request rate, /s")
    figures.axis_logarithmic(ax, "y", "95 % answered within, ms")
    for at, points in enumerate(series[:SERIES_MAX]):
        of = points["of"].iloc[0]
        points = points.sort_values("rate", kind="stable")
        _draw_level(ax, at, points["rate"], _milliseconds(points["intended_p95_seconds"]), of)
    return fig


def _draw_level(
    ax: Any, at: int, x: Any, y: Any, of: Responses, name: str | None = None, titled: bool = True
) -> None:
    name = level_name(of) if name is None else name
    titles = [f"{name or of.title}: {value:.4g}" for value in y]
    color, marker = figures.color_of(at), figures.marker_of(at)
    label = (name or of.title) if titled else ""
    figures.line(ax, x, y, color=color, marker=marker, titles=titles, label=label)


# Over time


def _merged(of: Responses) -> Iterator[slice]:
    """Yield the seconds of each column of a picture."""
    length = len(of.seconds) // SECONDS_MAX + 1
    for first in range(0, len(of.seconds), length):
        yield slice(first, min(first + length, len(of.seconds)))


def plot_times(of: Responses) -> Any:
    """Draw response times over time."""
    parts = list(_merged(of))
    found = [of.response(part) for part in parts]
    fig = figures.figure()
    ax = fig.axes[0]
    unit = figures.axis_time(ax, "time", float(of.seconds["end"].iloc[-1]))
    estimated = any(response.estimated for both in found for response in both)
    more = ", percentiles estimated" if estimated else ""
    figures.axis_logarithmic(ax, "y", f"response time, ms{more}")
    x = [_middle(of.seconds.iloc[part]) / unit for part in parts]
    for (figure, label), color in zip(FIGURES.items(), COLORS):
        due = _milliseconds([getattr(intended, figure) for intended, _ in found])
        figures.line(ax, x, due, color=color, label=label)
    sent = _milliseconds([actual.p95 for _, actual in found])
    figures.line(ax, x, sent, color=figures.GRAY, dashed=True, label="95 % from sending")
    return fig


def _middle(seconds: pd.DataFrame) -> float:
    return float(seconds["begin"].iloc[0] + seconds["end"].iloc[-1]) / 2


def plot_counts(of: Responses, run: runs.Run | None = None) -> Any:
    """Draw requests over time and, in a panel of its own, the CPU load if it is known."""
    rows = []
    for part in _merged(of):
        seconds = of.seconds.iloc[part]
        first, last = seconds.iloc[0], seconds.iloc[-1]
        time = last["end"] - first["begin"]
        due, ended, failed, refused = (
            total(seconds[name].to_numpy()) / time
            for name in ("due", "completed", "failed", "refused")
        )
        load = join(of, run, first["at"] - (first["end"] - first["begin"]), last["at"])["load"]
        rows.append((_middle(seconds), due, ended, failed + refused, 100 * load))
    x, due, ended, failed, load = np.array(rows).T
    has_load = bool(np.isfinite(load).any())
    fig = figures.figure(1 + has_load)
    ax, *below = fig.axes
    for panel in fig.axes:
        unit = figures.axis_time(panel, "time", float(of.seconds["end"].iloc[-1]))
    figures.axis_from_zero(ax, "y", "requests, /s")
    figures.line(ax, x / unit, due, color=figures.AXIS, label="due")
    figures.line(ax, x / unit, ended, color=figures.BLUE, label="succeeded")
    figures.line(ax, x / unit, failed, color=figures.ORANGE, label="failed or refused")
    for panel in below:
        figures.axis_from_zero(panel, "y", "CPU load, %")
        figures.line(panel, x / unit, load, color=figures.GREEN)
    return fig


# Levels of knobs


def _level_pictures(rates: pd.DataFrame) -> Iterator[Picture]:
    known = rates[rates["of"].map(lambda of: bool(of.knobs) and not of.closed)]
    for _, service in known.groupby("any_arrival", sort=False, dropna=False):
        of = service["of"].iloc[0]
        name = of.workload or of.title
        caption = "Response times, power and successes by rate"
        by_arrival = _grid(service, lambda of: (of.arrival, level_name(of)))
        groups = service.groupby("service", sort=False, dropna=False)
        by_pin = [(part["of"].iloc[0].arrival, _grid_by_pin(part)) for _, part in groups]
        by_pin = [(arrival, grid) for arrival, grid in by_pin if len(grid) > 1]
        is_level = len({level for column in by_arrival.values() for level in column}) > 1
        # A picture by pin has everything that a picture of one arrival would.
        if is_level and not (by_pin and len(by_arrival) == 1):
            yield Picture(figures.svg(plot_grid(by_arrival)), f"{caption}: {name}", width=1100)
        for arrival, grid in by_pin:
            shown = f"{caption}: {name}, {arrival}" if arrival else f"{caption}: {name}"
            yield Picture(figures.svg(plot_grid(grid)), shown, width=1100)
        if is_level and service["watts"].notna().any():
            fig = plot_cost(by_arrival)
            yield Picture(figures.svg(fig), f"Power against response time: {name}")


Grid = dict[str, dict[str, pd.DataFrame]]  # points by column and level


def _grid(service: pd.DataFrame, place: Any) -> Grid:
    """Group the series of a service by column and level, unless there are too many."""
    grid: Grid = {}
    levels: list[str] = []
    for _, points in service.groupby("series", sort=False, dropna=False):
        column, level = place(points["of"].iloc[0])
        levels += [level] if level not in levels and len(levels) < LEVELS_MAX else []
        if level in levels and (column in grid or len(grid) < COLUMNS_MAX):
            grid.setdefault(column, {})[level] = points
    return grid


def _grid_by_pin(service: pd.DataFrame) -> Grid:
    """Group levels by their pin. One column is for all levels that are pinned to the first CPUs,
    however many, unless two differ only in that number."""
    taken: set[tuple[str, str]] = set()

    def place(of: Responses) -> tuple[str, str]:
        parts = of.knobs.split("+")
        pin = next((part for part in parts if part.startswith("pin=")), "pin=free")
        others = "+".join(part for part in parts if not part.startswith("pin="))
        level, column = level_name(of, others or "no other knob"), re.sub(r":\d+", "", pin)
        column = pin if (column, level) in taken else column
        taken.add((column, level))
        return column, level

    return _grid(service, place)


def _means(points: pd.DataFrame) -> pd.DataFrame:
    """Return means over the runs at each rate; NaN if a run has no value."""
    points = points[points["rate"] > 0].replace([math.inf], math.nan)
    rate = points["rate"].round(9)
    unknown = points[list(PANELS)].isna().groupby(rate, sort=True, dropna=False).any()
    return points[list(PANELS)].groupby(rate, sort=True, dropna=False).mean().mask(unknown)


def _numbered(grid: Grid) -> dict[str, int]:
    names = dict.fromkeys(itertools.chain.from_iterable(grid.values()))
    return {level: at for at, level in enumerate(names)}


def plot_grid(grid: Grid) -> Any:
    """Draw a row for mean and 95th percentile, for power if it is known, and for the success ratio,
    with a column for each arrival or pin. Dashed lines are the limits of an underloaded service."""
    means = {column: {l: _means(p) for l, p in points.items()} for column, points in grid.items()}
    every = pd.concat([frame for columns in means.values() for frame in columns.values()])
    names = [name for name in PANELS if name != "watts" or every["watts"].notna().any()]
    numbers = _numbered(grid)
    fig = figures.figure(len(names), len(grid), width=1100)
    for at, ax in enumerate(fig.axes):
        name, column = names[at // len(grid)], list(grid)[at % len(grid)]
        factor, label, limit = PANELS[name]
        figures.axis_from_zero(ax, "x", "request rate, /s" if name == names[-1] else "")
        values = factor * every[name][every[name] > 0]
        shown = label if at % len(grid) == 0 else ""
        if math.isfinite(limit):
            low, high = min(limit, values.min()), max(limit, values.max())
            decades = (math.floor(math.log10(low)), math.ceil(math.log10(high) + 1e-9))
            figures.axis_logarithmic(ax, "y", shown, 10.0 ** decades[0], 10.0 ** decades[1])
            figures.line_at(ax, "y", limit)
        else:
            figures.axis_between(ax, "y", shown, 0, 1.05 * values.max() if len(values) else 1)
        if at < len(grid):
            figures.title(ax, column)
        for level, frame in means[column].items():
            of = grid[column][level]["of"].iloc[0]
            y = factor * frame[name].to_numpy()
            _draw_level(ax, numbers[level], frame.index, y, of, level, titled=at == 0)
    return fig


def plot_cost(grid: Grid) -> Any:
    """Draw the power against the mean response time of each level, a panel for each arrival."""
    numbers = _numbered(grid)
    fig = figures.figure(len(grid), height=len(grid) * figures.HEIGHT)
    for ax, (column, points) in zip(fig.axes, grid.items()):
        figures.axis_logarithmic(ax, "x", "mean response time, ms")
        figures.axis_free(ax, "y", "power, W")
        figures.title(ax, column)
        for level, part in points.items():
            frame = _means(part)
            x, of = _milliseconds(frame["all_mean"]), part["of"].iloc[0]
            _draw_level(ax, numbers[level], x, frame["watts"].to_numpy(), of, level)
    return fig
