# SPDX-License-Identifier: Apache-2.0
"""Pictures of one run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from . import figures
from .overlay import plot_run
from .page import Picture
from .runs import Pool, Run

WIDTHS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)  # of bins of errors, in percent
BINS = 40
ROWS_MAX = 64  # of fields: with more items, a row is the mean of neighboring ones
FIELDS_MAX = 720
DUTY_PARTS = 120  # parts of a run
CPU_PARTS = 60
AREAS_MAX = 200  # points of stacked areas
BAND_POINTS = 60
LATE = 0.02  # a row's time may be this many seconds after its end


def pictures(run: Run, first_only: bool) -> Iterator[Picture]:
    """Yield the pictures of a run, or only that of its load."""
    plots = {
        "Target and load": _plot_load,
        "Errors of the samples": plot_errors,
        "Duty of each instance over time": plot_duties,
        "Load of each CPU over time": plot_cpus,
        "Runnable threads over time; dashed: number of CPUs": plot_runnable,
        "Throughput over time": _plot_rates,
        "Throughput against load": _plot_pool,
        "Power": _plot_power,
        "Idle states of the CPUs": plot_idle,
    }
    for caption, plot in list(plots.items())[: 1 if first_only else None]:
        fig = plot(run)
        if fig is not None:
            yield Picture(figures.svg(fig), caption)


def _plot_load(run: Run) -> Any:
    return plot_run(run, "load", "load")


def _plot_rates(run: Run) -> Any:
    if len(run.rates) < 2:
        return None
    return plot_run(run, "throughput", f"intervals of {run.settings.interval:g} s")


def _plot_power(run: Run) -> Any:
    """Draw the power; if two runs side by side share it, only that of the background."""
    shared = run.shares_power and run.role == "foreground"
    return plot_run(run, "power", "power") if len(run.energy) > 1 and not shared else None


def plot_errors(run: Run) -> Any:
    """Draw the distribution of the errors, in bins around 0; the outer bins include all beyond."""
    if not run.errors.count:
        return None
    errors = (100 * (run.counted["target"] - run.counted["load"])).to_numpy()
    reach = run.errors.error_p95_percent * 1.5
    width = next((w for w in WIDTHS[:-1] if w * BINS / 2 >= reach), WIDTHS[-1])
    least = -width * BINS / 2
    bins = np.clip((errors - least) / width, 0, BINS - 1).astype(int)
    shares = 100 * np.bincount(bins, minlength=BINS) / len(errors)
    used = np.flatnonzero(shares)
    low = min(0, least + (used[0] - 1) * width)
    high = max(0, least + (used[-1] + 2) * width)

    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_between(ax, "x", "error (target minus load), %", low, high)
    figures.axis_from_zero(ax, "y", "samples, %")
    middles = least + (np.arange(BINS) + 0.5) * width
    figures.bars(ax, middles[used], shares[used], width=width * 0.92, color=figures.SKY)
    mean = run.errors.error_mean_percent
    figures.line(ax, [mean, mean], [0, shares.max()], color=figures.ORANGE, label="mean")
    return fig


def _plot_fields(run: Run, fields: np.ndarray, items: int, name: str, value: str) -> Any:
    """Draw parts of 1 as colors, over time and over numbered items."""
    if not np.isfinite(fields).any():
        return None
    fig = figures.figure()
    ax = fig.axes[0]
    unit = figures.axis_time(ax, "time", run.record.end)
    figures.axis_between(ax, "y", name, -0.5, items - 0.5, whole=True)
    extent = (0, run.record.end / unit, -0.5, items - 0.5)
    figures.heat(ax, 100 * fields, extent, value, high=100)
    return fig


def _merge(values: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Add neighboring rows and columns, so that no more are left."""
    for axis, count in enumerate((rows, columns)):
        first = np.arange(count) * values.shape[axis] // count
        values = np.add.reduceat(values, first, axis=axis)
    return values


def plot_duties(run: Run) -> Any:
    """Draw for which part of the time each instance ran."""
    stretches = run.record.duties
    if stretches.empty:
        return None
    items = int(stretches["instance"].max()) + 1
    rows = min(items, ROWS_MAX)
    edges = run.record.end * np.arange(DUTY_PARTS + 1) / DUTY_PARTS
    begin, end = stretches["begin"].to_numpy(), stretches["end"].to_numpy()
    first = np.clip(np.searchsorted(edges, begin, side="right") - 1, 0, DUTY_PARTS - 1)
    last = np.clip(np.searchsorted(edges, end, side="left"), first + 1, DUTY_PARTS)
    counts = last - first
    which = np.repeat(np.arange(len(begin)), counts)
    part = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - first, counts)
    seconds = np.minimum(end[which], edges[part + 1]) - np.maximum(begin[which], edges[part])
    field = stretches["instance"].to_numpy(int)[which] * DUTY_PARTS + part
    running = stretches["running"].to_numpy()[which]
    columns = min(FIELDS_MAX // rows, DUTY_PARTS)
    known, ran = (
        _merge(np.bincount(field, weights, items * DUTY_PARTS).reshape(items, -1), rows, columns)
        for weights in (seconds, seconds * running)
    )
    with np.errstate(invalid="ignore"):
        return _plot_fields(run, ran / known, items, "instance", "duty, %")


def mean_loads(run: Run) -> np.ndarray:
    """Return the mean load of each CPU in each part of the run, a row for each CPU."""
    if run.cpus.empty:
        return np.empty((0, 0))
    elapsed = run.cpus["elapsed"].to_numpy()
    columns = [run.cpus[name].to_numpy() for name in run.cpus.columns]
    time = run.record.run_time(elapsed)
    with np.errstate(invalid="ignore"):
        part = (np.clip((time - LATE) / run.record.end, 0, 1) * CPU_PARTS).astype(int)
        used = (time > 0) & (part < CPU_PARTS) & ~run.record.is_paused(elapsed)
    sums = []
    for load in columns[1:]:
        known = used & np.isfinite(load)
        sums.append([np.bincount(part[known], w, CPU_PARTS) for w in (load[known], None)])
    columns_ = min(len(run.record.samples), CPU_PARTS)
    both = np.array(sums, dtype=float).reshape(-1, 2, CPU_PARTS).transpose(1, 0, 2)
    if not both.shape[1]:
        return np.empty((0, 0))
    rows = min(both.shape[1], ROWS_MAX)
    loads, counts = (_merge(values, rows, columns_) for values in both)
    with np.errstate(invalid="ignore"):
        return np.asarray(loads / counts)


def plot_cpus(run: Run) -> Any:
    """Draw the load of each CPU; a short run has a column for each sample."""
    loads = mean_loads(run)
    return _plot_fields(run, loads, len(loads), "CPU", "load, %") if loads.size else None


def plot_runnable(run: Run) -> Any:
    """Draw the runnable threads of the machine."""
    counters = run.record.counters
    known = counters[counters["runnable"].notna()] if len(counters) else counters
    if known.empty:
        return None
    fig = figures.figure()
    ax = fig.axes[0]
    unit = figures.axis_time(ax, "time", run.record.end)
    figures.axis_from_zero(ax, "y", "runnable threads")
    group = np.arange(len(known)) // (len(known) // 800 + 1)
    length = known["end"] - known["begin"]
    sums = pd.DataFrame({"n": known["runnable"] * length, "s": length, "end": known["end"]})
    sums = sums.groupby(group, sort=False, dropna=False).agg({"n": "sum", "s": "sum", "end": "last"})
    if run.record.cpu_count > 0:
        figures.line_at(ax, "y", run.record.cpu_count)
    label = "runnable threads of the machine"
    figures.line(ax, sums["end"] / unit, sums["n"] / sums["s"], label=label)
    return fig


def _plot_pool(run: Run) -> Any:
    if not run.record.has_iterations:
        return None
    return plot_pool(run.pool, run.settings.confidence, run.steps[:0])


def plot_pool(pool: Pool, confidence: float, invalid: pd.DataFrame) -> Any:
    """Draw throughput over load: the points, the line and the local curve with their bands.
    Rings mark steps of invalid runs."""
    if not len(pool.loads):
        return None
    least, most = pool.loads.min(), pool.loads.max()
    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_percent(ax, "x", "load observed, %", least, most)
    figures.axis_from_zero(ax, "y", "throughput, /s")
    loads = least + (most - least) * np.arange(BAND_POINTS + 1) / BAND_POINTS
    line = pool.line.at(loads, confidence)
    if len(invalid):
        x, y = 100 * invalid["load"], invalid["throughput"]
        figures.rings(ax, x, y, "invalid runs")
    if math.isfinite(pool.line.slope_error):
        label = f"{100 * confidence:g} % band"
        figures.band(ax, 100 * loads, line.low, line.high, color=figures.ORANGE, label=label)
    if pool.curve:
        loads_ = np.minimum(loads, pool.curve.most)
        curve = pool.curve.at(loads_, confidence)
        figures.band(ax, 100 * loads_, curve.low, curve.high, color=figures.GREEN)
        figures.line(ax, 100 * loads_, curve.y, color=figures.GREEN, label="local", width=1.5)
    if math.isfinite(pool.line.slope):
        figures.line(ax, 100 * loads, line.y, color=figures.ORANGE, label="least squares")
    titles = [f"{100 * x:.1f} %: {y:.4g} /s" for x, y in zip(pool.loads, pool.throughputs)]
    label = "steps" if pool.of_steps else "intervals"
    figures.mark(ax, 100 * pool.loads, pool.throughputs, titles, label=label)
    return fig


def plot_idle(run: Run) -> Any:
    """Draw the parts of the time in which the CPUs were active and in each idle state."""
    idle = run.idle
    states = list(idle.columns[3:])
    if len(idle) < 2 or not states or run.role == "foreground":
        return None
    elapsed = idle["at"] - run.record.wall
    seconds = idle[(elapsed >= 0) & (elapsed <= run.record.end) & idle["active"].notna()]
    group = np.arange(len(seconds)) // (len(idle) // AREAS_MAX + 1)
    parts = seconds[states].mul(1 - seconds["active"], axis=0).fillna(0)
    parts.insert(0, "active", seconds["active"])
    means = parts.groupby(group, sort=False, dropna=False).mean()
    ends = seconds["at"].groupby(group, sort=False, dropna=False).last() - run.record.wall

    fig = figures.figure()
    ax = fig.axes[0]
    unit = figures.axis_time(ax, "time", run.record.end)
    figures.axis_between(ax, "y", "part of the time, %", 0, 100)
    edges = 100 * means.cumsum(axis=1)
    below = edges.shift(axis=1).fillna(0)
    for at, name in reversed(list(enumerate(means))):
        color = figures.color_of(at)
        area = (ends / unit, below[name], edges[name])
        figures.band(ax, *area, color=color, label=str(name)[:20], opacity=figures.HALF)
    return fig
