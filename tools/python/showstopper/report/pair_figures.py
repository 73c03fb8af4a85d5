# SPDX-License-Identifier: Apache-2.0
"""Pictures of pairs: what backgrounds cost, and throughput over load or time by placement."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from .. import pairs
from ..pairs import ENVIRONMENT, FOREGROUND, PER_WATT_HOUR, PROGRAMS, SYSTEM
from ..study import Study
from . import figures as f
from .overlay import Line, plot_overlay

INTERVALS_MAX = 6  # columns of a table with intervals
FILLED = 0.86  # part of a field that is filled


def _color(study: Study, placement: str) -> str:
    """Return a color; unknown placements get theirs in the order of their first pairs."""
    names = study.once(pairs.pairs)["placement"].unique().tolist()
    return f.PLACEMENT_COLORS.get(placement) or f.color_of(4 + names.index(placement))


# Tables of programs


def plot_losses(means: pd.DataFrame, most: float) -> Any:
    """Draw the mean interference of all pairs with one placement: foregrounds by row."""
    depth = (means["percent"] / most).clip(-1, 1).fillna(0)
    depth = depth.where(means["significant"].astype(bool), 0)
    has_intervals = means["background"].nunique(dropna=False) <= INTERVALS_MAX
    texts = []
    for mean in means.itertuples():
        text = f"{mean.percent:.1f}" if math.isfinite(mean.percent) else "\u2013"
        text += "\u2225" if mean.rounds and mean.agree else ""
        if has_intervals and math.isfinite(mean.low + mean.high):
            text += f"\n{mean.low:.1f} to {mean.high:.1f}"
        texts.append(text)
    return f.plot_matrix(means.assign(depth=depth, text=texts))


@f.drawing
def plot_curves(study: Study, first: pd.Series, side: str) -> Any:
    """Draw the throughput of one side against the background's load in a field for each pair of an
    environment, that of `first`. Returns None if it is unknown.

    All fields have the same axes. One axes with all fields is drawn many times as fast as one each.
    """
    row, column = PROGRAMS if side == FOREGROUND else PROGRAMS[::-1]
    rows = study.once(pairs.steps_of_pairs)
    rows = rows[rows["set"] == first["set"]]
    rows = rows[rows["is_emulated"] == first["is_emulated"]]
    rates = rows[f"{side}_rate"]
    most = rates.groupby(rows[row], sort=False, dropna=False).transform("max")
    part = (rates / most).where(most > 0)
    if part.isna().all():
        return None
    least = float(part.min())
    origin = 0.0 if least <= 0.5 else math.floor(10 * least - 1e-9) / 10
    rows = rows.assign(height=(part - origin) / (1 - origin), load=rows["load"].clip(upper=1))
    rows = rows[(rows[ENVIRONMENT] == first[ENVIRONMENT]).all(axis=1)]
    names = [rows[name].unique().tolist() for name in (row, column)]
    fig, ax = f.new(height=1.2 + 0.75 * len(names[0]))
    keys = ["pair", "placement", row, column, "half"]
    for (_, placement, *place, half), own in rows.groupby(keys, sort=False, dropna=False):
        y, x = (of.index(name) for of, name in zip(names, place))
        own = own[np.isfinite(own["height"])]
        ax.plot(x + FILLED * own["load"], y + FILLED * (1 - own["height"]), label=placement,
                color=_color(study, placement), linestyle="--" if half == 2 else "-")
    ax.vlines(range(len(names[1])), 0, len(names[0]), color=f.AXIS, linewidth=0.6)
    ax.hlines(np.arange(len(names[0])) + FILLED, 0, len(names[1]), color=f.AXIS, linewidth=0.6)
    ax.set_xticks(np.arange(len(names[1])) + FILLED / 2, [name[:13] for name in names[1]])
    ax.set_yticks(np.arange(len(names[0])) + FILLED / 2, [name[:16] for name in names[0]])
    ax.set(xlim=(0, len(names[1])), ylim=(len(names[0]), -0.05))
    ax.set(xlabel="background load in each field: 0 to 100 %",
           ylabel=f"throughput: {100 * origin:.0f} to 100 %")
    ax.grid(False)
    _legend(ax)
    return fig


def _legend(ax: Any) -> None:
    """Name each placement once."""
    handles, labels = ax.get_legend_handles_labels()
    once = dict(zip(reversed(labels), reversed(handles)))
    names = [*dict.fromkeys(labels)]
    if names:
        ax.legend([once[name] for name in names], names, loc="lower right", ncols=4,
                  bbox_to_anchor=(1, 1), borderaxespad=0.2)


# A pair


def _values(rows: pd.DataFrame, what: str) -> list[tuple[str, pd.Series]]:
    """Return the panels that are known: names of axes, and values by step."""
    is_one = bool(rows["is_one_program"].iloc[0])
    if what == "sides":
        found = [(f"{side}, /s", rows[f"{side}_rate"]) for side in PROGRAMS]
    else:
        names = {SYSTEM: ("weighted speedup", "both, /s")}
        names[PER_WATT_HOUR] = ("seconds alone, per Wh", "both, per Wh")
        found = [(names[what][is_one], pairs.values_of(rows, what))]
        found.append((f"of {pairs.REFERENCE}, %", 100 * pairs.relative(rows, what)))
    return [(name, values) for name, values in found if np.isfinite(values).any()]


@f.drawing
def plot_panels(study: Study, rows: pd.DataFrame, what: str) -> Any:
    """Draw the sides of a pair over the background's load, or a measure of both together over time.
    `rows` are the steps of all placements and rounds. Returns None if nothing is known."""
    panels = _values(rows, what) if len(rows) else []
    if not panels:
        return None
    fig, axes = f.new(len(panels))
    for ax, (name, values) in zip(np.atleast_1d(axes), panels):
        unit = 1.0
        if what != "sides":
            unit = f.time_axis(ax, study.records[rows["beside"].iloc[0]].end)
        for (_, placement), own in rows.groupby(["pair", "placement"], sort=False, dropna=False):
            own = own.assign(value=values[own.index])
            color = _color(study, placement)
            if what == "sides":
                _mark(ax, own, color)
            else:
                ax.plot(own["middle"] / unit, own["value"], "o-", color=color, markersize=4,
                        label=placement)
        if what == "sides":
            ax.set(xlabel="background load observed, %", xlim=(0, 100))
        ax.set(ylabel=name, ylim=(0, None))
    _legend(np.atleast_1d(axes)[0])
    return fig


def _mark(ax: Any, rows: pd.DataFrame, color: str) -> None:
    """Mark steps of a rising half by triangles, of a falling one by open ones."""
    for direction, marker in (("up", "^"), ("down", "v"), ("", "o")):
        own = rows[rows["direction"] == direction]
        titles = [f"{p}, {100 * x:.1f} %: {y:.4g}" for p, x, y in
                  own[["placement", "load", "value"]].itertuples(index=False, name=None)]
        fill = {"facecolors": "none", "edgecolors": color, "color": None}
        label = rows["placement"].iloc[0]
        f.points(ax, 100 * own["load"], own["value"], titles, marker=marker, label=label,
                 **(fill if direction == "down" else {"color": color}))


@f.drawing
def plot_placements(study: Study, rows: pd.DataFrame) -> Any:
    """Draw the load of the background and the throughput of the foreground over time, of pairs
    that differ in placement only."""
    lines = [
        Line(beside, run, placement[:60], _color(study, placement))
        for run, beside, placement in rows[["run", "beside", "placement"]].itertuples(index=False)
    ]
    return plot_overlay(study, lines, "time")
