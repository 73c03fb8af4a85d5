# SPDX-License-Identifier: Apache-2.0
"""Runs over time, alone or over each other: load and target, throughput, and power."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .. import steps
from ..study import Study
from . import figures as f

LINES_MAX = 8  # more could not be distinguished by color
POINTS_MAX = 240  # of a line
COLUMNS_MAX = 800  # of the only line

PANELS = {"load": "load, %", "throughput": "throughput, /s", "power": "power, W"}


@dataclass(frozen=True)
class Line:
    """A line of a picture. `run` is the number of the run whose load and power are drawn, `counted`
    that of the run whose throughput is drawn: of a background the foreground, otherwise the same.
    """

    run: int
    counted: int
    name: str
    color: str = ""

    @property
    def is_pair(self) -> bool:
        return self.run != self.counted


def panels(study: Study, lines: Sequence[Line]) -> list[str]:
    """Return the panels that these lines fill."""
    has = {
        "load": True,
        "throughput": any(len(study.windows(line.counted)) > 1 for line in lines),
        "power": any(line.is_pair and len(study.records[line.run].power) > 1 for line in lines),
    }
    return [name for name in PANELS if has[name]]


@f.drawing
def plot_overlay(study: Study, lines: Sequence[Line], time: str) -> Any:
    """Draw runs over each other. Panels of throughput and power of pairs include the means of the
    steps. Returns None unless there are two lines or a pair."""
    count, lines = len(lines), lines[:LINES_MAX]
    if len(lines) < 2 and not any(line.is_pair for line in lines):
        return None
    names = panels(study, lines)
    fig, axes = f.new(len(names))
    end = max(study.records[line.run].end * study.records[line.run].speed for line in lines)
    for at, (ax, name) in enumerate(zip(np.atleast_1d(axes), names)):
        unit = f.time_axis(ax, end, time if at == len(names) - 1 else "")
        _draw(study, ax, name, lines, unit)
    if count > len(lines):
        fig.suptitle(f"the first {len(lines)} of {count} runs")
    return fig


@f.drawing
def plot_run(study: Study, run: int, panel: str, name: str) -> Any:
    """Draw a panel of one run; power and throughput include the means of its steps."""
    fig, ax = f.new(fixed=True)
    unit = f.time_axis(ax, study.records[run].end)
    _draw(study, ax, panel, [Line(run, run, name)], unit, only=True)
    return fig


def _draw(
    study: Study, ax: Any, panel: str, lines: Sequence[Line], unit: float, only: bool = False
) -> None:
    drawn = [_line(study, line, panel, only) for line in lines]

    def scale(line: Line) -> float:
        """Runs over each other share the time of their trace; the only one has its own."""
        return (1 if only else study.records[line.run].speed) / unit

    targets = [int(rows["target"].notna().sum()) if "target" in rows else 0 for rows in drawn]
    if any(targets):  # draw the target that is known at the most points, below all lines
        at = int(np.argmax(targets))
        x = drawn[at]["at"] * scale(lines[at])
        ax.plot(x, drawn[at]["target"], color=f.AXIS, linewidth=4, label="target", zorder=1.5)
    for at, (line, rows) in enumerate(zip(lines, drawn)):
        own = scale(line)
        color = line.color or f.color_of(at)
        invalid = study.runs.loc[[line.run, line.counted], "verdict"].eq("invalid").any()
        name = f"{line.name}{', invalid' if invalid and not only else ''}"[:40]
        width = 0.6 if line.is_pair and panel != "load" else 1.2
        if "low" in rows:
            f.band(ax, rows["at"] * own, rows["low"], rows["high"], color=color, label="range")
        ax.plot(rows["at"] * own, rows["value"], color=color, linewidth=width, label=name)
        if panel != "load" and (only or line.is_pair):
            _draw_means(study, ax, line, panel, own, f.ORANGE if only else color, only)
    ax.set(ylabel=PANELS[panel], ylim=(0, 100) if panel == "load" else (0, None))
    f.legend(ax)


def _line(study: Study, line: Line, panel: str, only: bool) -> pd.DataFrame:
    """Return the points of a line: at, value and, for a load, target. A load that is drawn alone
    also has the range of the samples that share a column of the picture: low, high."""
    record = study.records[line.run]
    if panel == "throughput":
        found = study.windows(line.counted)
        shift = study.records[line.counted].wall - record.wall if line.is_pair else 0
        middle = (found["from"] + found["to"]) / 2
        return pd.DataFrame({"at": middle + shift, "value": found["rate"]})
    columns = COLUMNS_MAX if only else POINTS_MAX
    if panel == "power":
        rows = record.power[record.power["at"].between(0, record.end)]
        energy = rows["watts"] * rows["seconds"]
        seconds = rows["seconds"].where(energy.notna())
        of = _neighbors(rows.assign(energy=energy, seconds=seconds), columns)
        known = of["energy"].sum() / of["seconds"].sum().replace(0, math.nan)
        return pd.DataFrame({"at": of["at"].last(), "value": known})
    rows = record.samples
    rows = rows.assign(at=(rows["begin"] + rows["end"]) / 2, value=100 * rows["load"])
    of = _neighbors(rows, columns)
    found = of.agg(at=("at", "mean"), value=("value", "mean"), target=("target", "mean"))
    found["target"] *= 100
    if only and len(rows) > columns:
        found = found.assign(low=of["value"].min(), high=of["value"].max())
    return found


def _neighbors(rows: pd.DataFrame, most: int) -> Any:
    number = np.arange(len(rows)) // (len(rows) // (most + 1) + 1)
    return rows.groupby(number, sort=True, dropna=False)


def _draw_means(
    study: Study, ax: Any, line: Line, panel: str, own: float, color: str, only: bool
) -> None:
    record, counted = study.records[line.run], study.records[line.counted]
    rows = study.steps_of(line.run)
    if panel == "power":
        means = rows["watts"]
    elif line.is_pair:
        times = zip(rows["from"], rows["to"])
        means = [steps.throughput_beside(counted, record, *at) for at in times]
    else:
        means = rows["throughput"]
    if np.isfinite(np.asarray(means, dtype=float)).any():
        label = "mean of a step" if only else None
        x = rows[["from", "to"]] * own
        ax.hlines(means, x["from"], x["to"], color=color, linewidth=2.5, label=label)
