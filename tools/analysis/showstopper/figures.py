# SPDX-License-Identifier: Apache-2.0
"""
Pictures in one style, drawn by matplotlib.

    fig = figure()
    ax = fig.axes[0]
    axis_between(ax, "x", "load, %", 0, 100)
    axis_from_zero(ax, "y", "throughput, /s")
    mark(ax, loads, throughputs, titles, label="steps")
    Picture(svg(fig), "Throughput against load")

The functions may be called in any order, except that bars need a logarithmic axis before. Sizes
are CSS pixels; the text of a page has 16. A mark with a title shows it when the pointer is over it.
Colors are those of a light scheme; svg() replaces them with variables of the page, which have other
values in a dark scheme.

Drawing an axis of matplotlib takes three times as long as all else, so figure() returns a figure
that draws its frame itself: grid, numbers, names, legend. Nothing here uses pyplot, and matplotlib
is loaded when the first figure is created.
"""
from __future__ import annotations

import functools
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .outputs import write_whole
from .tables import page_text

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH = 560
HEIGHT = 300
PANEL_HEIGHT = 220  # of each row of panels, if there are several
TEXT = 14
SMALL = 12

# The colors of a light and a dark scheme. Except for the last three, they have a contrast of at
# least 3 with the paper.
PALETTE = {
    "ink": ("#222222", "#e3e5e8"),
    "axis": ("#80868b", "#868b91"),
    "blue": ("#0072b2", "#5ab0ee"),
    "orange": ("#d55e00", "#ff9147"),
    "green": ("#009573", "#35c99a"),
    "purple": ("#a0529b", "#d79ad3"),
    "amber": ("#a87900", "#e3bd3f"),
    "sky": ("#3a8fc4", "#a5d8ff"),
    "brown": ("#6d4c41", "#c9a597"),
    "gray": ("#5f6368", "#a6abb2"),
    "grid": ("#dddddd", "#3b4046"),
    "paper": ("#ffffff", "#16181c"),
    "note": ("#fff6e0", "#37301d"),
}
INK, AXIS, BLUE, ORANGE, GREEN, PURPLE, AMBER, SKY, BROWN, GRAY, GRID, PAPER, _ = (
    light for light, _ in PALETTE.values()
)

# Series differ in color and in mark, for readers who cannot distinguish the colors.
COLORS = (BLUE, ORANGE, GREEN, PURPLE, AMBER, SKY, BROWN, GRAY)
MARKS = ("o", "s", "^", "v", "D", "o open", "s open", "^ open", "v open", "D open", "P")

PLACEMENT_COLORS = {
    "per-chip": BLUE, "per-core": ORANGE, "per-thread": GREEN, "neutral": PURPLE, "quota": INK,
    "sets": SKY, "free": AMBER,
}

# Small to large values of fields that cover the background.
GRADIENT = ("#dbe7f2", "#7fb0d8", "#123a66")

SHADED = 0.18  # opacity of a band
HALF = 0.5  # opacity of an area with marks on top

_LETTER = 0.6  # mean width of a letter, relative to the size of the text
_LABEL_MAX = 56
_TITLES = "\ue000"  # precedes each title in the identifier of marks


def color_of(series: int) -> str:
    """Return the color of the series with this number."""
    return COLORS[series % len(COLORS)]


def marker_of(series: int) -> str:
    """Return the mark of the series with this number."""
    return MARKS[series % len(MARKS)]


@dataclass
class _Axis:
    """How an axis looks."""

    name: str = ""
    numbers: bool = True
    whole: bool = False
    says_begin: bool = False  # the name says where the axis begins unless it includes 0
    categories: dict[float, str] = field(default_factory=dict)


@dataclass
class _Box:
    """The place of a panel, from the upper left corner of the figure."""

    left: float
    top: float
    width: float
    height: float


def figure(
    rows: int = 1, columns: int = 1, *, width: float = WIDTH, height: float = 0
) -> Any:
    """Return a figure with panels, which are its `axes`, row by row."""
    if not height:
        height = HEIGHT if rows == 1 else rows * PANEL_HEIGHT + 40
    framed_figure, panel = _classes()
    fig = framed_figure(figsize=(width / 72, height / 72), dpi=72)
    fig.grid = rows, columns
    with _style():
        for at in range(rows * columns):
            fig.add_axes((0, 0, 1, 1), label=str(at), axes_class=panel)
    return fig


@functools.cache
def _classes() -> tuple[Any, Any]:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    class Panel(Axes):  # type: ignore[misc]
        """Axes without the frame of matplotlib."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.set_axis_off()
            self.set_title("", y=1)
            self.axis_of = {"x": _Axis(), "y": _Axis()}
            self.field_scale: tuple[float, float, str] | None = None
            self.is_bare = False

        # matplotlib would create ticks that are not drawn, a third of the time. If it renames
        # _init_axis(), a picture takes longer.

        def grid(self, *_: Any, **__: Any) -> None:
            pass

        def _init_axis(self) -> None:
            super()._init_axis()
            for axis in (self.xaxis, self.yaxis):
                axis.set_clip_path = axis.set_tick_params = self.grid

    class FramedFigure(Figure):  # type: ignore[misc]
        """A figure that draws its own frame."""

        grid = (1, 1)
        is_framed = False

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.patch.set_visible(False)
            FigureCanvasSVG(self)

        def draw(self, renderer: Any) -> None:
            if not self.is_framed:
                self.is_framed = True
                _Frame(self).draw()
            super().draw(renderer)

        def _repr_html_(self) -> str:
            colors = ";".join(f"--{name}:{light}" for name, (light, _) in PALETTE.items())
            return f'<div style="background:{PAPER};{colors}">{svg(self)}</div>'

    return FramedFigure, Panel


def _style() -> Any:
    import matplotlib

    return matplotlib.rc_context({
        "font.size": TEXT,
        "svg.fonttype": "none",
        "svg.hashsalt": "showstopper",
        "text.color": INK,
        "text.parse_math": False,
    })


# Axes


def axis_between(
    ax: Any, which: str, name: str, low: float, high: float, *, numbers: bool = True,
    whole: bool = False,
) -> None:
    """Set an axis from `low` to `high`; its name says where it begins unless it includes 0."""
    ax.axis_of[which] = _Axis(name, numbers, whole, says_begin=True)
    getattr(ax, f"set_{which}lim")(low, high)


def axis_from_zero(
    ax: Any, which: str, name: str, *, numbers: bool = True, whole: bool = False
) -> None:
    """Set an axis that begins at 0."""
    ax.axis_of[which] = _Axis(name, numbers, whole)
    _include(ax, which, 0, 0.001)
    getattr(ax.patch.sticky_edges, which).append(0)


def axis_around_zero(ax: Any, which: str, name: str, *, numbers: bool = True) -> None:
    """Set an axis that includes 0, for deviations."""
    ax.axis_of[which] = _Axis(name, numbers)
    _include(ax, which, 0)


def axis_free(ax: Any, which: str, name: str, *, numbers: bool = True) -> None:
    """Set an axis that fits its values; its name says where it begins unless it includes 0."""
    ax.axis_of[which] = _Axis(name, numbers, says_begin=True)


def axis_percent(ax: Any, which: str, name: str, least: float, most: float) -> None:
    """Set an axis in percent for parts of 1 from `least` to `most`, rounded outward to 5 %."""
    low = max(5 * math.floor(20 * least - 0.1), 0)
    high = min(5 * math.ceil(20 * most + 0.1), 100)
    axis_between(ax, which, name, low, high if high > low else low + 5)


def time_unit(end: float) -> float:
    """Return the unit, in seconds, of a time axis that ends at `end` seconds."""
    return 60 if end > 600 else 1


def axis_time(ax: Any, name: str, end: float, *, numbers: bool = True) -> float:
    """Set the horizontal axis to 0 to `end` seconds. Returns its unit in seconds."""
    unit = time_unit(end)
    if name:
        name = f"{name} in {'minutes' if unit > 1 else 'seconds'}"
    axis_between(ax, "x", name, 0, end / unit if end > 0 else 1, numbers=numbers)
    return unit


def axis_logarithmic(
    ax: Any, which: str, name: str, low: float = math.nan, high: float = math.nan, *,
    numbers: bool = True,
) -> None:
    """Set a logarithmic axis: from `low`, which must be above 0, or as its values need it."""
    ax.axis_of[which] = _Axis(name and f"{name} (logarithmic)", numbers)
    getattr(ax, f"set_{which}scale")("log", nonpositive="mask")
    if low > 0 and high > low:
        getattr(ax, f"set_{which}lim")(low, high)


def axis_names(ax: Any, which: str, names: Sequence[str], name: str = "") -> None:
    """Set an axis with a name at each of 0, 1, ... from the left, or from the top."""
    ax.axis_of[which] = _Axis(name, categories=dict(enumerate(names)))
    low, high = -0.6, max(len(names), 1) - 0.4
    getattr(ax, f"set_{which}lim")(*((low, high) if which == "x" else (high, low)))


def title(ax: Any, text: str, *, align: str = "center") -> None:
    """Write a title above a panel."""
    drawn = ax.set_title(page_text(text), loc=align, y=1, pad=5, fontsize=TEXT, color=INK)
    drawn.set_parse_math(False)


def line_at(ax: Any, which: str, value: float) -> None:
    """Draw a dashed line across the panel at a value of this axis."""
    draw = ax.axvline if which == "x" else ax.axhline
    draw(value, color=AXIS, linewidth=1.3, linestyle=(0, (4, 3)), zorder=1.5)


def _include(ax: Any, which: str, *values: float) -> None:
    ax.update_datalim(
        [(value, value) for value in values], updatex=which == "x", updatey=which == "y"
    )


# Marks


def mark(
    ax: Any, x: Any, y: Any, titles: Sequence[str] = (), *, ring: Any = False, color: str = BLUE,
    marker: str = "o", size: float = 5, label: str = "",
) -> None:
    """
    Draw marks, with a title each or one for all.

    `ring` says whether a mark, or which of them, gets a ring: its run is invalid or disturbed.
    """
    import numpy as np

    x, y = np.broadcast_arrays(np.atleast_1d(np.asarray(x, float)), np.asarray(y, float))
    known = np.isfinite(x) & np.isfinite(y)
    if isinstance(titles, str):
        titles = [titles] * len(x)
    titles = [title for title, is_known in zip(titles, known) if is_known]
    ringed = known & np.broadcast_to(np.asarray(ring, bool), known.shape)

    if ringed.any():
        ax.plot(
            x[ringed], y[ringed], linestyle="", zorder=2.9, **_shape("o open", size + 6, INK)
        )
    (drawn,) = ax.plot(
        x[known], y[known], linestyle="", label=label or "_", zorder=3,
        **_shape(marker, size, color),
    )
    drawn.set_gid(_gid(titles))


def _shape(marker: str, size: float, color: str) -> dict[str, Any]:
    shape, _, is_open = marker.partition(" ")
    return {
        "marker": shape,
        "markersize": size,
        "markeredgecolor": color,
        "markeredgewidth": 1.4 if is_open or shape in "x+" else 0,
        "markerfacecolor": "none" if is_open else color,
    }


def rings(ax: Any, x: Any, y: Any, label: str = "", *, size: float = 11) -> None:
    """Draw rings around points, for their entry in the legend."""
    mark(ax, x, y, color=INK, marker="o open", size=size, label=label)


def line(
    ax: Any, x: Any, y: Any, *, color: str = BLUE, label: str = "", width: float = 1.3,
    dashed: bool = False, marker: str = "", titles: Sequence[str] = (), size: float = 5,
) -> None:
    """Draw a line, which unknown values interrupt, with marks at its points if `marker` is set."""
    import numpy as np

    known = np.isfinite(np.asarray(x, float)) & np.isfinite(np.asarray(y, float))
    (drawn,) = ax.plot(
        x, y, color=color, linewidth=width, linestyle=(0, (4, 3)) if dashed else "-",
        label=label or "_", zorder=1.8 if width > 3 else 2,
        **(_shape(marker, size, color) if marker else {}),
    )
    drawn.set_gid(_gid([title for title, is_known in zip(titles, known) if is_known]))


def band(
    ax: Any, x: Any, low: Any, high: Any, *, color: str = BLUE, label: str = "",
    opacity: float = SHADED,
) -> None:
    """Fill the area between two lines."""
    ax.fill_between(
        x, low, high, color=color, alpha=opacity, linewidth=0, label=label or "_", zorder=1.2
    )


def span(ax: Any, which: str, low: float, high: float, *, color: str = BLUE) -> None:
    """Shade the panel between two values of an axis."""
    draw = ax.axvspan if which == "x" else ax.axhspan
    draw(low, high, color=color, alpha=SHADED, linewidth=0, zorder=1)


def bars(
    ax: Any, x: Any, heights: Any, titles: Sequence[str] = (), *, width: float = 0.8,
    color: str = BLUE, label: str = "", opacity: float = 1, published: Any = (),
) -> None:
    """Draw bars, with a ring at each published value."""
    import numpy as np

    x, heights = np.asarray(x, float), np.asarray(heights, float)
    known = np.flatnonzero(np.isfinite(heights))
    bottom = min(ax.get_ylim()) if ax.get_yscale() == "log" else 0
    container = ax.bar(
        x[known], heights[known] - bottom, width, bottom, color=color, alpha=opacity,
        linewidth=0, label=label if label and len(known) else "_", zorder=2,
    )
    for patch, at in zip(container, known):
        patch.set_gid(_gid(titles[at : at + 1]))
    if len(published):
        mark(ax, x, published, color=INK, marker="o open", size=6)


def intervals(ax: Any, x: Any, low: Any, high: Any, *, color: str = BLUE) -> None:
    """Draw a vertical line from `low` to `high` at each x."""
    ax.vlines(x, low, high, color=color, linewidth=1.3, zorder=2)


def boxes(
    ax: Any, x: Any, quantiles: Any, titles: Sequence[str] = (), *, width: float = 0.6,
    color: str = BLUE,
) -> None:
    """Draw boxes: the columns of `quantiles` are least, lower quartile, median, upper, most."""
    import numpy as np

    x = np.asarray(x, float)
    least, lower, median, upper, most = np.asarray(quantiles, float).T
    half = width / 2
    ax.vlines(x, least, lower, color=color, linewidth=1.3)
    ax.vlines(x, upper, most, color=color, linewidth=1.3)
    ax.hlines([*least, *most], [*(x - half / 2)] * 2, [*(x + half / 2)] * 2, color, linewidth=1.3)
    container = ax.bar(
        x, upper - lower, width, lower, facecolor=_faded(color), edgecolor=color, linewidth=1.3
    )
    for patch, title in zip(container, titles):
        patch.set_gid(_gid([title]))
    ax.hlines(median, x - half, x + half, color=color, linewidth=2.2, zorder=3)


def heat(
    ax: Any, values: Any, extent: tuple[float, float, float, float], label: str, *,
    low: float = 0, high: float = math.nan,
) -> None:
    """
    Draw fields: rows of values from the bottom up, from extent[0] to extent[1] on the horizontal
    axis and from extent[2] to extent[3] on the vertical one. Unknown fields stay empty.
    """
    import numpy as np

    values = np.asarray(values, float)
    known = np.isfinite(values)
    if not math.isfinite(high):
        high = values[known].max() if known.any() else 1
    share = np.clip((np.nan_to_num(values) - low) / ((high - low) or 1), 0, 1)
    image = np.dstack([_gradient(share), np.where(known, 255, 0)]).astype("uint8")
    limits = ax.get_xlim(), ax.get_ylim()
    ax.imshow(image, interpolation="none", extent=extent, origin="lower", aspect="auto", zorder=1)
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])
    ax.field_scale = low, high, label


def _gradient(share: Any) -> Any:
    """Return red, green and blue, from 0 to 255, of shares from 0 to 1."""
    import numpy as np

    stops = [[int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in GRADIENT]
    parts = [np.interp(share, (0, 0.5, 1), part) for part in zip(*stops)]
    return np.rint(np.stack(parts, axis=-1))


def _faded(color: str) -> tuple[str, float]:
    from matplotlib.colors import to_rgba

    return to_rgba(color, HALF)  # type: ignore[no-any-return]


def _gid(titles: Sequence[str]) -> str | None:
    return "".join(_TITLES + page_text(title) for title in titles) or None


def label_at(
    ax: Any, x: float, y: float, text: str, *, align: str = "center", above: bool = True,
    size: int = TEXT,
) -> None:
    """Write a text above a point, or at it."""
    ax.annotate(
        text, (x, y), (0, 6 if above else 0), textcoords="offset points", ha=align,
        va="bottom" if above else "center", fontsize=size, color=INK, annotation_clip=False,
    )


# Small multiples

_FIELD_WIDTH, _FIELD_HEIGHT = 110, 82
_FILLED = 0.9  # part of a field that is filled; the rest is a gap


def matrix(
    rows: Sequence[str], columns: Sequence[str], known: Sequence[tuple[int, int]], *,
    x_labels: tuple[str, str] = ("0", "100 %"), y_labels: tuple[str, str] = ("", "100 %"),
) -> Any:
    """
    Return a figure with one panel that consists of fields in rows and columns.

    `known` has the row and column of each field that has a frame. The field at the lower left has
    labels at the ends of its axes, which are those of all fields. One panel is many times as fast
    as a panel for each field.
    """
    from matplotlib.collections import LineCollection

    width = max(170 + _FIELD_WIDTH * len(columns), 460)
    fig = figure(width=width, height=100 + _FIELD_HEIGHT * len(rows))
    ax = fig.axes[0]
    ax.is_bare = True
    ax.set_xlim(0, (width - 170) / _FIELD_WIDTH)
    ax.set_ylim(-len(rows), 0)

    corners = (0, 1, 1, 0, 0), (0, 0, 1, 1, 0)
    frames = [list(zip(*in_field(row, column, *corners))) for row, column in known]
    ax.add_collection(LineCollection(frames, colors=AXIS, linewidths=0.6), autolim=False)
    for row, name in enumerate(rows):
        label_at(ax, -0.12, _FILLED / 2 - 1 - row, _cut(name, 16), align="right", above=False)
    for column, name in enumerate(columns):
        label_at(ax, column + _FILLED / 2, -1 + _FILLED, _cut(name, 13))
    bottom = -len(rows)
    for at, text in zip((0, _FILLED), x_labels):
        label_at(ax, at, bottom - 0.13, text, above=False, size=SMALL)
    for at, text in zip((0.04, _FILLED - 0.04), y_labels):
        label_at(ax, -0.03, bottom + at, text, align="right", above=False, size=SMALL)
    return fig


def in_field(row: int, column: int, x: Any, y: Any) -> tuple[Any, Any]:
    """Return where points of a field of a matrix(), whose axes are from 0 to 1, are."""
    import numpy as np

    return column + _FILLED * np.asarray(x, float), -1 - row + _FILLED * np.asarray(y, float)


# The frame


class _Frame:
    """Grid, numbers, names and legend of a figure, in pixels from its lower left corner."""

    def __init__(self, fig: Any) -> None:
        from matplotlib.transforms import Affine2D

        self.fig = fig
        self.width, self.height = (72 * size for size in fig.get_size_inches())
        self.transform = Affine2D().scale(1 / 72) + fig.dpi_scale_trans
        self.grid: list[Any] = []
        self.lines: list[Any] = []

    def draw(self) -> None:
        for ax in self.fig.axes:
            for text in ax.texts:
                text.set_text(page_text(text.get_text()))
                text.set_parse_math(False)
            for which, axis in ax.axis_of.items():
                low, high = self._limits(ax, which)
                if axis.says_begin and axis.name and (low > 0 or high < 0):
                    axis.name += f" (axis begins at {low:.6g})"
            for line in ax.lines:
                if line.get_marker() not in ("", "None", None):
                    line.set_clip_path(None)
                    line.set_clip_box(ax.bbox.padded(8))  # marks at the edge stay whole

        legend = self._legend_rows()
        for ax, box in zip(self.fig.axes, self._boxes(len(legend))):
            ax.set_position((
                box.left / self.width, 1 - (box.top + box.height) / self.height,
                box.width / self.width, box.height / self.height,
            ))
            if not ax.is_bare:
                self._draw_panel(ax, box)
        self._draw_legend(legend)
        self._add_lines(self.grid, GRID, 0.5, -1)
        self._add_lines(self.lines, AXIS, 1, 1)

    def _boxes(self, legend_rows: int) -> Iterator[_Box]:
        """Place the panels so that numbers and names have room."""
        rows, columns = self.fig.grid
        top = 10 + 20 * legend_rows
        tall, wide = (self.height - top) / rows, self.width / columns
        for at, ax in enumerate(self.fig.axes):
            if ax.is_bare:
                yield _Box(150, top + 30, self.width - 170, self.height - top - 60)
                continue
            row, column = divmod(at, columns)
            alike = self.fig.axes[column::columns]
            left = max(self._left(other, tall) for other in alike)
            right = 70 if ax.field_scale else 20
            above = 24 if any(map(ax.get_title, ("left", "center", "right"))) else 2
            below = self._below(ax, wide - left - right)
            yield _Box(
                left=column * wide + left,
                top=top + row * tall + above,
                width=wide - left - right,
                height=tall - above - below - 4,
            )

    def _left(self, ax: Any, tall: float) -> float:
        axis = ax.axis_of["y"]
        size = SMALL if axis.categories else TEXT
        longest = max((len(text) for _, text in self._ticks(ax, "y", tall - 60)), default=0)
        return 10 + (longest * _LETTER * size if axis.numbers else 0) + (24 if axis.name else 0)

    def _below(self, ax: Any, wide: float) -> float:
        axis = ax.axis_of["x"]
        numbers = 22 if axis.numbers else 4
        if self._is_inclined(ax, wide):
            numbers = 16 + round(max(map(len, axis.categories.values())) * _LETTER * TEXT * 0.6)
        return numbers + (20 if axis.name else 0)

    def _is_inclined(self, ax: Any, wide: float) -> bool:
        names = ax.axis_of["x"].categories.values()
        return any(len(name) * _LETTER * TEXT > wide / len(names) - 6 for name in names)

    def _limits(self, ax: Any, which: str) -> tuple[float, float]:
        low, high = sorted(getattr(ax, f"get_{which}lim")())
        return float(low), float(high)

    def _ticks(self, ax: Any, which: str, pixels: float) -> list[tuple[float, str]]:
        """Return numbers and their texts."""
        axis = ax.axis_of[which]
        low, high = self._limits(ax, which)
        if axis.categories:
            return [(at, _cut(page_text(name), 30)) for at, name in axis.categories.items()]
        if getattr(ax, f"get_{which}scale")() == "log":
            return [(at, _plain(at)) for at in _round_numbers(low, high, pixels, which)]

        from matplotlib.ticker import MaxNLocator

        count = max(int(pixels / (70 if which == "x" else 40)), 2)
        locator = MaxNLocator(count, steps=[1, 2, 5, 10], integer=axis.whole)
        slack = 1e-9 * (high - low)
        return [
            (at, _plain(at)) for at in locator.tick_values(low, high)
            if low - slack <= at <= high + slack and not (axis.whole and at % 1)
        ]

    def _draw_panel(self, ax: Any, box: _Box) -> None:
        left, right = box.left, box.left + box.width
        top, bottom = self.height - box.top, self.height - box.top - box.height
        self.lines += [[(left, top), (left, bottom), (right, bottom)]]

        x, y = ax.axis_of["x"], ax.axis_of["y"]
        inclined = self._is_inclined(ax, box.width)
        for at, text in self._ticks(ax, "x", box.width):
            place = self._place(ax, "x", at, left, right)
            if not x.categories:
                self.lines.append([(place, bottom), (place, bottom - 4)])
            if x.numbers and inclined:
                self._text(place + 4, bottom - 8, text, "right", "top", rotation=35)
            elif x.numbers:
                self._text(place, bottom - 6, text, "center", "top")
        for at, text in self._ticks(ax, "y", box.height):
            place = self._place(ax, "y", at, bottom, top)
            if not y.categories:
                self.grid.append([(left, place), (right, place)])
                self.lines.append([(left, place), (left - 4, place)])
            if y.numbers:
                size = SMALL if y.categories else TEXT
                self._text(left - 7, place, text, "right", "center_baseline", size=size)

        below = self._below(ax, box.width)
        self._text((left + right) / 2, bottom - below + 2, x.name, "center", "bottom")
        columns = self.fig.grid[1]
        column = self.fig.axes.index(ax) % columns
        edge = column * self.width / columns
        self._text(edge + 6, (top + bottom) / 2, y.name, "center", "top", rotation=90)
        if ax.field_scale:
            self._draw_scale(right + 12, bottom, top, *ax.field_scale)

    def _place(self, ax: Any, which: str, value: float, start: float, end: float) -> float:
        """Return the pixel of a value of an axis."""
        low, high = getattr(ax, f"get_{which}lim")()
        if getattr(ax, f"get_{which}scale")() == "log":
            low, high, value = math.log(low), math.log(high), math.log(value)
        return float(start + (value - low) / (high - low) * (end - start))

    def _draw_scale(
        self, left: float, bottom: float, top: float, low: float, high: float, label: str
    ) -> None:
        """Draw the colors of fields with the values that they mean."""
        from matplotlib.patches import Rectangle

        steps = 24
        tall = (top - bottom) / steps
        for step, color in enumerate(_gradient([at / (steps - 1) for at in range(steps)])):
            self.fig.add_artist(Rectangle(
                (left, bottom + step * tall), 10, tall + 0.5, color=tuple(color / 255),
                linewidth=0, transform=self.transform,
            ))
        for share in (0, 0.5, 1):
            value = low + share * (high - low)
            place = bottom + share * (top - bottom)
            baseline = {0: "bottom", 0.5: "center", 1: "top"}[share]
            self._text(left + 14, place, f"{value:.3g}", "left", baseline, size=SMALL)
        self._text(left + 50, (top + bottom) / 2, label, "center", "bottom", rotation=90)

    def _legend_rows(self) -> list[list[tuple[Any, str, float]]]:
        """Return rows of entries: the artist, its text, and the width."""
        entries: dict[str, Any] = {}
        for ax in self.fig.axes:
            for handle, text in zip(*ax.get_legend_handles_labels()):
                entries.setdefault(text, handle)

        rows: list[list[tuple[Any, str, float]]] = []
        used = math.inf
        for text, handle in entries.items():
            text = _cut(page_text(text), _LABEL_MAX)
            wide = 46 + len(text) * _LETTER * TEXT
            if used + wide > self.width - 10:
                rows.append([])
                used = 0
            rows[-1].append((handle, text, wide))
            used += wide
        return rows

    def _draw_legend(self, rows: list[list[tuple[Any, str, float]]]) -> None:
        from matplotlib.lines import Line2D

        for row, entries in enumerate(rows):
            middle = self.height - 12 - 20 * row
            left = self.width - 6 - sum(wide for _, _, wide in entries)
            for handle, text, wide in entries:
                if isinstance(handle, Line2D):
                    sample = self._line_sample(handle, left, middle)
                else:
                    sample = self._area_sample(handle, left, middle)
                self.fig.add_artist(sample)
                self._text(left + 28, middle, text, "left", "center_baseline")
                left += wide

    def _line_sample(self, handle: Any, left: float, middle: float) -> Any:
        from matplotlib.lines import Line2D

        has_line = handle.get_linestyle() != "None"
        sample = Line2D(
            [left + 2, left + 22] if has_line else [left + 12], [middle] * (2 if has_line else 1),
            transform=self.transform,
        )
        own = sample.get_transform()
        sample.update_from(handle)
        sample.set(transform=own, clip_on=False, clip_path=None, clip_box=None, gid=None)
        return sample

    def _area_sample(self, handle: Any, left: float, middle: float) -> Any:
        from matplotlib.patches import Rectangle

        if hasattr(handle, "patches"):
            handle = handle.patches[0] if handle.patches else None
        color = handle.get_facecolor() if handle is not None else INK
        color = color[0] if getattr(color, "ndim", 1) == 2 else color
        return Rectangle(
            (left + 2, middle - 5), 20, 10, facecolor=color, linewidth=0, transform=self.transform
        )

    def _text(
        self, x: float, y: float, text: str, align: str, baseline: str, *, size: int = TEXT,
        rotation: float = 0,
    ) -> None:
        if text:
            self.fig.text(
                x, y, page_text(text), transform=self.transform, ha=align, va=baseline,
                fontsize=size, color=INK, rotation=rotation, rotation_mode="anchor",
                parse_math=False,
            )

    def _add_lines(self, lines: list[Any], color: str, width: float, zorder: float) -> None:
        from matplotlib.collections import LineCollection

        if lines:
            self.fig.add_artist(LineCollection(
                lines, colors=color, linewidths=width, zorder=zorder, transform=self.transform
            ))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "..."


def _plain(value: float) -> str:
    """Return a number of an axis: 1e6 instead of 1e+06, and 0 instead of 1e-17."""
    text = f"{value:.6g}" if abs(value) > 1e-12 else "0"
    return re.sub(r"e([+-])0*(\d)", lambda at: f"e{at[1].strip('+')}{at[2]}", text).replace(
        "-", "\u2212"
    )


def _round_numbers(low: float, high: float, pixels: float, which: str) -> list[float]:
    """Return as many round numbers between as fit on a logarithmic axis."""
    apart = (44 if which == "x" else 20) / max(pixels, 60)
    numbers: list[float] = []
    for step in (1, 2, 5, 1.5, 3, 4, 6, 7, 8):
        for power in range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1):
            at = step * 10.0**power
            fits = all(
                abs(math.log(at / one)) >= apart * math.log(high / low) for one in numbers
            )
            if low <= at <= high and fits:
                numbers.append(at)
    return numbers


# Files


def save(fig: Any, path: str) -> None:
    """
    Write a figure to a file of its own, .svg or .png, whole or not at all. Raises OSError.

    Its colors are those of a light scheme.
    """
    fig.patch.set(visible=True, facecolor=PAPER)
    if not path.endswith(".svg"):
        stream = io.BytesIO()
        with _style():
            fig.savefig(stream, format="png")
        write_whole(path, stream.getvalue())
        return

    text = str(svg(fig))
    for name, (light, _) in PALETTE.items():
        text = text.replace(f"var(--{name})", light)
    width, height = (round(72 * size) for size in fig.get_size_inches())
    head = f'<svg width="{width}" height="{height}" font-family="sans-serif" '
    write_whole(path, text.replace("<svg ", head, 1) + "\n")


def svg(fig: Any) -> Markup:
    """Return a figure for a page: small, the same each time, and in the colors of the page."""
    from markupsafe import Markup

    stream = io.StringIO()
    with _style():
        fig.canvas.print_svg(stream, metadata={"Date": None})
    return Markup(_tidy(stream.getvalue()))


_VARIABLES = {pair[0]: f"var(--{name})" for name, pair in PALETTE.items()}


def _tidy(text: str) -> str:
    """Make matplotlib's output small, and add titles to marks."""
    from xml.etree import ElementTree

    space = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", text))
    for metadata in root.findall(space + "metadata"):
        root.remove(metadata)
    width = float(root.get("viewBox", "0 0 560").split()[2])
    _tidy_element(root)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("style", f"max-width:{width / TEXT:.4g}rem;{_TEXT_STYLE}")
    for element in root.iter():
        element.tag = element.tag.removeprefix(space)
    root.set("xmlns", space[1:-1])
    return ElementTree.tostring(root, encoding="unicode")


_HREF = "{http://www.w3.org/1999/xlink}href"
_TEXT_STYLE = f"font-size:{TEXT}px;fill:var(--ink)"  # of most texts


def _tidy_element(element: Any) -> None:
    """Tidy an element and what it contains."""
    element.text = (element.text or "").strip()
    element.tail = ""
    titles = element.get("id", "").split(_TITLES)[1:]
    if element.tag.endswith("}g") or element.tag.endswith("}svg"):
        element.attrib.pop("id", None)
    if _HREF in element.attrib:
        element.set("href", element.attrib.pop(_HREF))
    if "style" in element.attrib:
        element.set("style", _tidy_style(element.get("style")))
    if "d" in element.attrib:
        element.set("d", _tidy_path(element.get("d")))
    if element.tag.endswith("}text"):
        _tidy_text(element)

    for child in element:
        _tidy_element(child)
    if titles:
        _add_titles(element, titles)
    _lift_styles(element)
    _drop_groups(element)


def _tidy_style(style: str) -> str:
    style = re.sub(r"#[0-9a-f]{6}", lambda color: _VARIABLES.get(color[0], color[0]), style)
    style = re.sub(r"font: ([\d.]+)px [^;]*", r"font-size: \1px", style)
    style = re.sub(r"font-family: [^;]*;? ?", "", style)  # as the page
    return style.replace(": ", ":").replace("; ", ";")


def _tidy_path(path: str) -> str:
    path = re.sub(r"-?\d+\.\d+", lambda at: f"{float(at[0]):.1f}".removesuffix(".0"), path)
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", path)


def _tidy_text(text: Any) -> None:
    """Drop what a text has in common with most others."""
    style = text.get("style").split(";")
    text.set("style", ";".join(one for one in style if one not in _TEXT_STYLE.split(";")))
    if text.get("transform", "").startswith("rotate(-0 "):
        del text.attrib["transform"]
    for name in {"x", "y"} & set(text.attrib):
        text.set(name, f"{float(text.get(name)):.1f}")


def _add_titles(element: Any, titles: list[str]) -> None:
    """Give a title to each mark, or to the whole if it is one mark."""
    from xml.etree.ElementTree import SubElement

    uses = [one for one in element.iter() if one.tag.endswith("}use")]
    if len(titles) == 1 and len(uses) != 1:
        uses = [element]
    for one, title in zip(uses, titles):
        if len(uses) == len(titles):
            SubElement(one, "title").text = title


def _lift_styles(element: Any) -> None:
    """Move a style that all marks have to the group of them."""
    uses = [child for child in element if child.tag.endswith("}use")]
    if len(uses) > 1 and len(uses) == len(element) and "style" not in element.attrib:
        styles = {child.get("style") for child in uses}
        if len(styles) == 1:
            element.set("style", styles.pop() or "")
            for child in uses:
                child.attrib.pop("style", None)


def _drop_groups(element: Any) -> None:
    """Replace groups that have no attributes and no title with what they contain."""
    for at in range(len(element) - 1, -1, -1):
        child = element[at]
        is_plain = child.tag.endswith("}g") and not child.attrib
        if is_plain and not any(one.tag == "title" for one in child):
            element[at : at + 1] = list(child)
