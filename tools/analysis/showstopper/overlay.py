# SPDX-License-Identifier: Apache-2.0
"""Runs over the same time: load and target, throughput, and power."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import figures, steps
from .runs import Run, power

if TYPE_CHECKING:
    from .studies import Report

LINES_MAX = 8  # more could not be distinguished by color
POINTS_MAX = 240  # of a line
COLUMNS_MAX = 800  # of the only line

PANELS = {"load": "load, %", "throughput": "throughput, /s", "power": "power, W"}


@dataclass(frozen=True)
class Line:
    """A run whose load and power are drawn, and the run whose throughput is: of a background that
    of its foreground, otherwise the same run's."""

    run: Run
    counted: Run
    name: str
    color: str = ""

    @property
    def is_pair(self) -> bool:
        return self.run is not self.counted

    @property
    def speed(self) -> float:
        """The speed relative to the trace."""
        return float(self.run.speed) if self.run.speed > 0 else 1.0

    @property
    def is_invalid(self) -> bool:
        return bool(self.run.verdict.is_invalid or self.counted.verdict.is_invalid)


def panels(lines: Sequence[Line]) -> list[str]:
    """Return the panels that these lines fill."""
    has = {
        "load": True,
        "throughput": any(len(line.counted.rates) > 1 for line in lines),
        "power": any(line.is_pair and len(line.run.energy) > 1 for line in lines),
    }
    return [name for name in PANELS if has[name]]


def plot_overlay(lines: Sequence[Line], time: str, omitted: int = 0) -> Any:
    """Draw runs over each other. Panels of throughput and power of pairs include the means of the
    steps. Returns None unless there are two lines or a pair."""
    omitted += max(len(lines) - LINES_MAX, 0)
    lines = lines[:LINES_MAX]
    if len(lines) < 2 and not any(line.is_pair for line in lines):
        return None
    names = panels(lines)
    end = max(line.run.record.end * line.speed for line in lines)
    fig = figures.figure(len(names))
    for at, name in enumerate(names):
        _draw(fig.axes[at], name, lines, time if at == len(names) - 1 else "", end)
    if omitted:
        fig.suptitle(f"the first {len(lines)} of {len(lines) + omitted} runs")
    return fig


def plot_run(run: Run, panel: str, name: str) -> Any:
    """Draw a panel of one run; power and throughput include the means of its steps."""
    fig = figures.figure()
    _draw(fig.axes[0], panel, [Line(run, run, name)], "time", run.record.end, only=True)
    return fig


def _draw(
    ax: Any, panel: str, lines: Sequence[Line], time: str, end: float, only: bool = False
) -> None:
    unit = figures.axis_time(ax, time, end)
    if panel == "load":
        figures.axis_between(ax, "y", PANELS[panel], 0, 100)
    else:
        figures.axis_from_zero(ax, "y", PANELS[panel])
    points = COLUMNS_MAX if only else POINTS_MAX
    loads = [_loads(line.run, points) for line in lines] if panel == "load" else []
    _draw_target(ax, loads, [unit / line.speed for line in lines])
    for at, line in enumerate(lines):
        color = line.color or figures.color_of(at)
        own = unit / line.speed
        if panel == "load":
            x, y, _, low, high = loads[at]
            if only and len(line.run.record.samples) > points:
                figures.band(ax, x / own, low, high, color=color, label="range")
        else:
            x, y = _rates(line) if panel == "throughput" else _watts(line.run, points)
        name = f"{line.name}{', invalid' if line.is_invalid and not only else ''}"
        width = 0.6 if line.is_pair and panel != "load" else 1.2
        figures.line(ax, x / own, y, color=color, label=name[:40], width=width)
        if panel != "load" and (only or line.is_pair):
            _draw_means(ax, line, panel, own, figures.ORANGE if only else color, only)


def _draw_target(ax: Any, loads: Sequence[Any], units: Sequence[float]) -> None:
    """Draw the target of the line for which it is known at most points, below all lines."""
    known = [int(np.isfinite(load[2]).sum()) for load in loads]
    if any(known):
        at = int(np.argmax(known))
        x, target = loads[at][0] / units[at], loads[at][2]
        figures.line(ax, x, target, color=figures.AXIS, label="target", width=4)


def _starts(count: int, points: int) -> np.ndarray:
    """Return where groups of neighboring points begin: a picture has no more columns."""
    return np.arange(0, count, count // (points + 1) + 1)


def _loads(run: Run, points: int) -> tuple[np.ndarray, ...]:
    """Return middle, load, target, least and largest load of neighboring samples, in percent."""
    samples = run.record.samples
    first = _starts(len(samples), points)
    last = np.append(first[1:], len(samples))
    with np.errstate(over="ignore"):  # damaged records may contain any load
        load, target = 100 * samples["load"].to_numpy(), 100 * samples["target"].to_numpy()
    count = last - first
    middle = (samples["begin"].to_numpy()[first] + samples["end"].to_numpy()[last - 1]) / 2
    means = [np.add.reduceat(values, first) / count for values in (load, target)]
    return (middle, *means, np.minimum.reduceat(load, first), np.maximum.reduceat(load, first))


def _rates(line: Line) -> tuple[np.ndarray, np.ndarray]:
    rates = line.counted.rates
    shift = line.counted.record.wall - line.run.record.wall if line.is_pair else 0
    return (rates["from"] + rates["to"]).to_numpy() / 2 + shift, rates["rate"].to_numpy()


def _watts(run: Run, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return means of neighboring samples of power; unknown power is a gap."""
    at = run.energy["at"].to_numpy()
    first = np.arange(0, len(at), len(at) // points + 1)
    last = np.append(first[1:], len(at)) - 1
    means = [power(run.energy, at[f] - 1e-6, at[t])["watts"] for f, t in zip(first, last)]
    time = at[last] - run.record.wall
    shown = (time >= 0) & (time <= run.record.end)
    return time[shown], np.array(means)[shown]


def _draw_means(ax: Any, line: Line, panel: str, unit: float, color: str, only: bool) -> None:
    times, means = [], []
    for step in line.run.steps.to_dict("records"):
        if panel == "power":
            mean = line.run.power(step["from"], step["to"])["watts"]
        elif line.is_pair:
            mean = line.counted.throughput_beside(line.run, step["from"], step["to"])
        else:
            mean = step["throughput"]
        times += [step["from"] / unit, step["to"] / unit, math.nan]
        means += [mean, mean, math.nan]
    if np.isfinite(means).any():
        label = "mean of a step" if only else ""
        figures.line(ax, times, means, color=color, width=2.5, label=label)
