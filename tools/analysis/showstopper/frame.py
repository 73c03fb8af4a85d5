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
ABOVE, MIDDLE, BELOW = 0.76, 0.36, -0.24  # where a text's point is, relative to its baseline


@dataclass
class Axis:
    """How an axis looks."""

    name: str = ""
    numbers: bool = True
    whole: bool = False
    says_begin: bool = False  # the name says where the axis begins unless it includes 0
    categories: Sequence[str] = ()


def place_panels(fig: Any) -> None:
    """Place the panels so that numbers, names and legend have room."""
    width, height = 72 * fig.get_size_inches()
    rows, columns = fig.grid
    fig.entries = _arrange_legend(fig, width)
    top = 10 + 20 * (fig.entries[-1][0] + 1 if fig.entries else 0)
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
        ax.left = left
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


def draw_axes(ax: Any, renderer: Any) -> None:
    """Draw the axes of a panel with grid, ticks, numbers and names: as lines and texts in one step,
    because artists of matplotlib take many times as long."""
    if not ax.axison:
        return
    fig, x, y = ax.figure, ax.axis_of["x"], ax.axis_of["y"]
    box = ax.bbox
    numbers = {"x": _ticks(ax, "x", box.width), "y": _ticks(ax, "y", box.height)}
    places = {
        "x": [ax.get_xaxis_transform().transform((at, 0))[0] for at, _ in numbers["x"]],
        "y": [ax.get_yaxis_transform().transform((0, at))[1] for at, _ in numbers["y"]],
    }
    lines = [(box.x0, box.y0, box.x1, box.y0), (box.x0, box.y0, box.x0, box.y1)]
    if not x.categories:
        lines += [(at, box.y0 - 6, at, box.y0) for at in places["x"]]
    if not y.categories:
        lines += [(box.x0 - 6, at, box.x0, at) for at in places["y"]]
        _draw_lines(renderer, [(box.x0, at, box.x1, at) for at in places["y"]], GRID, 0.5)
    _draw_lines(renderer, lines, AXIS, 1)

    turn, align, shift = (35, "end", 4) if _is_inclined(x, box.width) else (0, "middle", 0)
    for at, (_, text) in zip(places["x"], numbers["x"] if x.numbers else ()):
        _write(fig, renderer, text, at + shift, box.y0 - 6, turn=turn, align=align)
    for at, (_, text) in zip(places["y"], numbers["y"] if y.numbers else ()):
        size = SMALL if y.categories else TEXT
        _write(fig, renderer, text, box.x0 - 7, at, drop=MIDDLE, align="end", size=size)
    if ax.scale:
        low, high, label = ax.scale
        for part, value in ((0, low), (0.5, (low + high) / 2), (1, high)):
            place = box.x0 + 1.055 * box.width + 5, box.y0 + part * box.height
            _write(fig, renderer, f"{value:.3g}", *place, drop=MIDDLE, align="start", size=SMALL)
        _write(fig, renderer, label, box.x1 + 82, (box.y0 + box.y1) / 2, drop=BELOW, turn=90)

    middle = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    _write(fig, renderer, _name(ax, "x"), middle[0], box.y0 + 2 - _below(ax, box.width), drop=BELOW)
    _write(fig, renderer, _name(ax, "y"), box.x0 + 6 - ax.left, middle[1], turn=90)


def _draw_lines(renderer: Any, lines: Any, color: str, width: float) -> None:
    from matplotlib.path import Path
    from matplotlib.transforms import IdentityTransform

    if not lines:
        return
    context = renderer.new_gc()
    context.set_foreground(color)
    context.set_linewidth(width)
    points = [point for line in lines for point in (line[:2], line[2:])]
    path = Path(points, [Path.MOVETO, Path.LINETO] * len(lines))
    renderer.draw_path(context, path, IdentityTransform())
    context.restore()


def _write(
    fig: Any, renderer: Any, text: str, x: float, y: float, *, drop: float = ABOVE,
    align: str = "middle", size: int = TEXT, turn: float = 0,
) -> None:
    """Write a text whose baseline is `drop` of its size below a point, turned around it."""
    from matplotlib.text import Text

    x += drop * size * math.sin(math.radians(turn))
    y -= drop * size * math.cos(math.radians(turn))
    if not text:
        return
    if hasattr(renderer, "writer"):  # of SVG
        x, y = round(x, 1), round(renderer.height - y, 1)
        look = f"font-size: {size}px; text-anchor: {align}"
        turned = {"transform": f"rotate({-turn:g} {x:g} {y:g})"} if turn else {}
        place = {"x": f"{x:g}", "y": f"{y:g}", "style": look} | turned
        renderer.writer.element("text", page_text(text), attrib=place)
        return
    sides = {"start": "left", "middle": "center", "end": "right"}
    written = Text(
        x, y, page_text(text), ha=sides[align], va="baseline", rotation=turn, fontsize=size,
        rotation_mode="anchor",
    )
    written.set_figure(fig)
    written.draw(renderer)


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


def _arrange_legend(fig: Any, width: float) -> list[tuple[int, float, str, Any]]:
    """Return the entries of a legend of all panels: their rows, where they begin, texts, and what
    they stand for."""
    entries: dict[str, Any] = {}
    for ax in fig.axes:
        for handle, text in zip(*ax.get_legend_handles_labels()):
            entries.setdefault(cut(page_text(text), _LABEL_MAX), handle)
    widths = [46 + len(text) * _LETTER * TEXT for text in entries]
    columns = len(entries)
    if sum(widths) >= width:
        widths = [max(widths)] * columns
        columns = max(int(width / widths[0]), 1)
    rows = [at // columns for at in range(len(entries))]
    begins = [width + 14 - sum(widths[at : (row + 1) * columns]) for at, row in enumerate(rows)]
    return list(zip(rows, begins, entries, entries.values()))


def draw_legend(fig: Any, renderer: Any) -> None:
    """Draw the legend, at the upper right."""
    import numpy as np
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle
    from matplotlib.transforms import IdentityTransform

    for row, x, text, handle in fig.entries:
        y = fig.bbox.y1 - 10 - 20 * row
        sample: Any
        if isinstance(handle, Line2D):
            sample = Line2D([x, x + 10, x + 20], [y, y, y])
            sample.update_from(handle)
            sample.set(transform=IdentityTransform(), clip_on=False, markevery=[1])
        else:
            color = getattr(handle, "patches", [handle])[0].get_facecolor()
            color = np.reshape(color, (-1, 4))[0]
            sample = Rectangle((x, y - 5), 20, 10, facecolor=color, linewidth=0)
        sample.set_figure(fig)
        sample.draw(renderer)
        _write(fig, renderer, text, x + 26, y, drop=MIDDLE, align="start")


def cut(text: str, most: int) -> str:
    """Return a text with at most this many letters, and an ellipsis."""
    return text if len(text) <= most else text[:most] + "..."


def _plain(value: float) -> str:
    """Return a number of an axis: 1e6 instead of 1e+06, and 0 instead of 1e-17."""
    text = f"{value:.6g}" if abs(value) > 1e-12 else "0"
    return re.sub(r"e([+-])0*(\d)", lambda at: f"e{at[1].strip('+')}{at[2]}", text).replace(
        "-", "\u2212"
    )
