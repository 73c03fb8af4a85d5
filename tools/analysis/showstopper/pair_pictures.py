# SPDX-License-Identifier: Apache-2.0
"""Pictures of pairs: throughput over the background's load or over time, by placement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import figures, pairs
from .overlay import Line, plot_overlay
from .pairs import FOREGROUND, PER_WATT_HOUR, PROGRAMS, SYSTEM, Pair
from .statistics import Array
from .studies import Report
from .text import UserError

LABEL_MAX = 24


def _color(report: Report, placement: str) -> str:
    """Return a color; unknown placements get theirs in the order of their first pairs."""
    if placement in figures.PLACEMENT_COLORS:
        return figures.PLACEMENT_COLORS[placement]
    names = list(dict.fromkeys(pair.placement for pair in report.once(pairs.find)))
    return figures.color_of(4 + names.index(placement))


def _first(report: Report, keys: Sequence[str]) -> Sequence[Pair]:
    """Return the pairs that are like the first one in these attributes."""
    groups = pairs.groups(report.once(pairs.find), keys)
    if not groups:
        raise UserError("these records have no pairs of programs")
    return groups[0]


def _values(report: Report, pair: Pair, what: str, of_reference: bool) -> Array:
    """Return what a panel shows of each step."""
    if what == "sides":
        side = "background" if of_reference else "foreground"
        values: Array = pair.steps[side].to_numpy(float)
        return values
    return 100 * pairs.relative(report, pair, what) if of_reference else pair.measure(what)


def _names(pair: Pair, what: str) -> tuple[str, str]:
    if what == "sides":
        return "foreground, /s", "background, /s"
    one = {SYSTEM: "both, /s", PER_WATT_HOUR: "both, per Wh"}
    two = {SYSTEM: "weighted speedup", PER_WATT_HOUR: "seconds alone, per Wh"}
    return (one if pair.is_one_program else two)[what], "of per-chip, %"


def plot_panels(report: Report, like: Sequence[Pair] = (), what: str = "sides") -> Any:
    """
    Draw both sides of a pair over the background's load, or a measure of both together over time.

    `like` has all placements and rounds; by default, those of the first pair. Returns None if
    nothing is known.
    """
    like = like or _first(report, pairs.SAME_PAIR)
    of = {at: [_values(report, pair, what, at) for pair in like] for at in (False, True)}
    known = [at for at, values in of.items() if any(np.isfinite(v).any() for v in values)]
    if not known:
        return None
    over_time = what != "sides" and len(like[0].steps) > 1
    fig = figures.figure(len(known), height=500 if len(known) == 2 else 280)
    for ax, at in zip(fig.axes, known):
        unit = 1.0
        if over_time:
            unit = figures.axis_time(ax, "time", like[0].background.record.end)
        else:
            figures.axis_between(ax, "x", "background load observed, %", 0, 100)
        figures.axis_from_zero(ax, "y", _names(like[0], what)[at])
        labels = set() if at == known[0] else {pair.placement for pair in like}
        for pair, values in zip(like, of[at]):
            label = "" if pair.placement in labels else pair.placement[:LABEL_MAX]
            labels.add(pair.placement)
            color = _color(report, pair.placement)
            if over_time:
                middle = pair.steps["middle"] / unit
                figures.line(ax, middle, values, color=color, label=label, marker="o", size=4)
            else:
                _mark(ax, pair, values, color, label)
    return fig


def _mark(ax: Any, pair: Pair, values: Array, color: str, label: str) -> None:
    """Mark steps of a rising half by triangles, of a falling one by open ones."""
    directions = pair.steps["direction"].to_numpy()
    loads = 100 * pair.steps["load"].to_numpy(float)
    titles = [f"{pair.placement}, {x:.1f} %: {y:.4g}" for x, y in zip(loads, values)]
    for direction, marker in (("up", "^"), ("down", "v open"), ("", "o")):
        part = np.flatnonzero(directions == direction)
        if len(part):
            titled = [titles[at] for at in part]
            figures.mark(
                ax, loads[part], values[part], titled, color=color, marker=marker, label=label
            )
            label = ""


def plot_placements(report: Report, round_: Sequence[Pair] = ()) -> Any:
    """
    Draw the load of the background and the throughput of the foreground over time, of all
    placements in a round; by default, in the first round of the first pair.
    """
    lines = [
        Line(p.background, p.foreground, p.placement[:60], _color(report, p.placement))
        for p in round_ or _first(report, (*pairs.SAME_PAIR, "round"))
    ]
    return plot_overlay(lines, "time")


def plot_matrix(
    report: Report, environment: Sequence[Pair] = (), side: str = FOREGROUND
) -> Any:
    """
    Draw the throughput of the row's program in a field for each pair.

    `environment` has the pairs of an environment; by default, of the first one. Returns None if the
    throughput of this side is unknown.
    """
    environment = environment or _first(report, ("environment",))
    row, column = PROGRAMS if side == FOREGROUND else PROGRAMS[::-1]
    first = environment[0]
    sharing = [
        pair
        for pair in report.once(pairs.find)
        if pair.set == first.set and pair.is_emulated == first.is_emulated
    ]
    most: dict[str, float] = {}
    for pair in sharing:
        name = getattr(pair, row)
        values = pair.steps[side].to_numpy(float)
        most[name] = max(most.get(name, 0.0), float(np.fmax.reduce(values, initial=0)))
    parts = [
        pair.steps[side].to_numpy(float) / most[getattr(pair, row)]
        for pair in sharing
        if most[getattr(pair, row)] > 0
    ]
    least = float(np.fmin.reduce(np.concatenate([[math.nan], *parts])))
    if math.isnan(least):
        return None
    origin = 0.0 if least <= 0.5 else math.floor(10 * least - 1e-9) / 10

    of_set = [pair for pair in report.once(pairs.find) if pair.set == first.set]
    rows, columns = (list(dict.fromkeys(getattr(p, n) for p in of_set)) for n in (row, column))
    places = [(rows.index(getattr(p, row)), columns.index(getattr(p, column))) for p in environment]
    lowest = f"from {100 * origin:.0f} %" if origin else ""
    fig = figures.matrix(rows, columns, list(dict.fromkeys(places)), y_labels=(lowest, "100 %"))
    labeled: set[str] = set()
    for pair, place in zip(environment, places):
        values = pair.steps[side].to_numpy(float) / (most[getattr(pair, row)] or math.nan)
        heights = (values - origin) / (1 - origin)
        loads = np.minimum(pair.steps["load"].to_numpy(float), 1)
        for is_second in (False, True):
            part = (pair.steps["half"] == 2).to_numpy() == is_second
            label = "" if is_second or pair.placement in labeled else pair.placement[:LABEL_MAX]
            labeled.add(pair.placement)
            x, y = figures.in_field(*place, loads[part], heights[part])
            color = _color(report, pair.placement)
            figures.line(fig.axes[0], x, y, color=color, label=label, dashed=is_second)
    return fig

