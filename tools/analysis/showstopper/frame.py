# SPDX-License-Identifier: Apache-2.0
"""The frame of a figure: grid, numbers and names of its axes, and one legend of all panels."""
from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .style import AXIS, GRID, SMALL, TEXT
from .tables import page_text

_LETTER = 0.6  # mean width of a letter, relative to the size of the text
_LABEL_MAX = 56


@dataclass
class Axis:
    """How an axis looks."""

    name: str = ""
    numbers: bool = True
    whole: bool = False
    says_begin: bool = False  # the name says where the axis begins unless it includes 0
    categories: Sequence[str] = ()


def draw_frame(fig: Any) -> None:
    """Place the panels so that numbers and names have room, and draw these and the legend."""
    width, height = 72 * fig.get_size_inches()
    rows, columns = fig.grid
    top = 10 + 20 * _draw_legend(fig, width)
    wide, tall = width / columns, (height - top) / rows
    for at, ax in enumerate(fig.axes):
        row, column = divmod(at, columns)
        if ax.axison:
            left = max(_left(other, tall) for other in fig.axes[column::columns])
            right = 86 if ax.scale else 20
            above = 24 if any(map(ax.get_title, ("left", "center", "right"))) else 2
            below = _below(ax, wide - left - right) + 4
        else:
            left, right, above, below = 150, 20, 30, 30
        box = wide - left - right, tall - above - below
        low = height - top - (row + 1) * tall + below
        ax.set_position(
            ((column * wide + left) / width, low / height, box[0] / width, box[1] / height)
        )
        if ax.axison:
            _draw_axes(ax, left, *box)
        for line in ax.lines:
            if line.get_marker() not in ("", "None", None):
                line.set_clip_path(None)
                line.set_clip_box(ax.bbox.padded(8))  # marks at the edge stay whole


def _left(ax: Any, tall: float) -> float:
    axis = ax.axis_of["y"]
    size = SMALL if axis.categories else TEXT
    longest = max((len(text) for _, text in _ticks(ax, "y", tall - 60)), default=0)
    return 10 + (longest * _LETTER * size if axis.numbers else 0) + (24 if axis.name else 0)


def _below(ax: Any, wide: float) -> float:
    axis = ax.axis_of["x"]
    numbers = 22 if axis.numbers else 4
    if _is_inclined(axis, wide):
        numbers = 16 + round(max(map(len, axis.categories)) * _LETTER * TEXT * 0.6)
    return numbers + (20 if axis.name else 0)


def _is_inclined(axis: Axis, wide: float) -> bool:
    names = axis.categories
    return any(len(name) * _LETTER * TEXT > wide / len(names) - 6 for name in names)


def _draw_axes(ax: Any, left: float, wide: float, tall: float) -> None:
    """Draw grid, ticks, numbers and names."""
    x, y = ax.axis_of["x"], ax.axis_of["y"]
    numbers = {"x": _ticks(ax, "x", wide), "y": _ticks(ax, "y", tall)}
    places = {which: [at for at, _ in numbers[which]] for which in numbers}
    look = {"linestyle": "", "color": AXIS, "clip_on": False}
    ax.set(xlim=ax.get_xlim(), ylim=ax.get_ylim())
    if not x.categories:
        across = ax.get_xaxis_transform()
        ax.plot(places["x"], [0] * len(places["x"]), marker=3, transform=across, **look)
    if not y.categories:
        across = ax.get_yaxis_transform()
        ax.hlines(places["y"], 0, 1, GRID, linewidth=0.5, zorder=0.5, transform=across)
        ax.plot([0] * len(places["y"]), places["y"], marker=0, transform=across, **look)

    inclined = {"rotation": 35, "ha": "right"} if _is_inclined(x, wide) else {}
    for at, text in numbers["x"] if x.numbers else ():
        _write(ax, text, (at, 0), (4 if inclined else 0, -6), "x", **inclined)
    for at, text in numbers["y"] if y.numbers else ():
        size = SMALL if y.categories else TEXT
        _write(ax, text, (0, at), (-7, 0), "y", ha="right", va="center_baseline", fontsize=size)
    if ax.scale:
        low, high, label = ax.scale
        for at, value in ((0, low), (0.5, (low + high) / 2), (1, high)):
            _write(
                ax, f"{value:.3g}", (1.055, at), (5, 0), ha="left", va="center_baseline",
                fontsize=SMALL,
            )
        _write(ax, label, (1, 0.5), (82, 0), va="bottom", rotation=90)

    below = _below(ax, wide)
    _write(ax, _name(ax, "x"), (0.5, 0), (0, 2 - below), va="bottom")
    _write(ax, _name(ax, "y"), (0, 0.5), (6 - left, 0), rotation=90)


def _write(
    ax: Any, text: str, point: tuple[float, float], shift: tuple[float, float], which: str = "",
    **look: Any,
) -> None:
    """Write a text at a point of the panel; which of its positions is one of the axis, if any."""
    from matplotlib.transforms import Affine2D

    place = getattr(ax, f"get_{which}axis_transform")() if which else ax.transAxes
    look = {"ha": "center", "va": "top", "rotation_mode": "anchor", **look}
    ax.text(*point, page_text(text), transform=place + Affine2D().translate(*shift), **look)


def _name(ax: Any, which: str) -> str:
    axis = ax.axis_of[which]
    low, high = sorted(getattr(ax, f"get_{which}lim")())
    begins = axis.says_begin and axis.name and (low > 0 or high < 0)
    return f"{axis.name} (axis begins at {low:.6g})" if begins else str(axis.name)


def _ticks(ax: Any, which: str, pixels: float) -> list[tuple[float, str]]:
    """Return positions on an axis and their texts."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    axis = ax.axis_of[which]
    if axis.categories:
        return [(at, cut(name, 30)) for at, name in enumerate(axis.categories)]
    low, high = sorted(getattr(ax, f"get_{which}lim")())
    count = max(int(pixels / (70 if which == "x" else 40)), 2)
    slack = 0.0
    if getattr(ax, f"get_{which}scale")() == "log":
        decades = math.log10(high / low)
        steps = (1, 1.5, 2, 3, 5, 7) if decades < 1 else (1, 2, 5) if decades < 3 else (1,)
        places = LogLocator(subs=steps, numticks=count + 1).tick_values(low, high)
    else:
        locator = MaxNLocator(count, steps=[1, 2, 5, 10], integer=axis.whole)
        places = locator.tick_values(low, high)
        slack = 1e-9 * (high - low)
    return [
        (at, _plain(at)) for at in places
        if low - slack <= at <= high + slack and not (axis.whole and at % 1)
    ]


def _draw_legend(fig: Any, width: float) -> int:
    """Draw a legend of all panels, and return the number of its rows."""
    entries: dict[str, Any] = {}
    for ax in fig.axes:
        for handle, text in zip(*ax.get_legend_handles_labels()):
            entries.setdefault(cut(page_text(text), _LABEL_MAX), handle)
    if not entries:
        return 0
    widths = [46 + len(text) * _LETTER * TEXT for text in entries]
    columns = len(entries) if sum(widths) < width else max(int(width / max(widths)), 1)
    fig.legend(
        entries.values(), entries.keys(), loc="upper right", ncols=columns, frameon=False,
        borderpad=0, borderaxespad=0.3, handlelength=1.5, handletextpad=0.4, columnspacing=1.2,
        labelspacing=0.3,
    )
    return math.ceil(len(entries) / columns)


def cut(text: str, most: int) -> str:
    """Return a text with at most so many letters, and dots."""
    return text if len(text) <= most else text[:most] + "..."


def _plain(value: float) -> str:
    """Return a number of an axis: 1e6 instead of 1e+06, and 0 instead of 1e-17."""
    text = f"{value:.6g}" if abs(value) > 1e-12 else "0"
    return re.sub(r"e([+-])0*(\d)", lambda at: f"e{at[1].strip('+')}{at[2]}", text).replace(
        "-", "\u2212"
    )
