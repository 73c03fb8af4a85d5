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

Ticks of matplotlib take more time than all else, so frame.py writes the numbers of the axes when a
figure is drawn. Nothing here uses pyplot, and matplotlib is loaded for the first figure.
"""
from __future__ import annotations

import functools
import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .cache import load_matplotlib
from .frame import Axis, cut, draw_axes, draw_legend, place_panels
from .outputs import write_file
from .style import PALETTE, SMALL, TEXT, TITLES, style, tidy
from .tables import page_text

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH = 560
HEIGHT = 300
PANEL_HEIGHT = 220  # of each row of panels, if there are several
INK, AXIS, BLUE, ORANGE, GREEN, PURPLE, AMBER, SKY, BROWN, GRAY, GRID, PAPER, _ = (
    light for light, _ in PALETTE.values()
)

# Series differ in color and in mark, for readers who cannot distinguish the colors.
COLORS = (BLUE, ORANGE, GREEN, PURPLE, AMBER, SKY, BROWN, GRAY)
MARKS = ("o", "s", "^", "v", "D", "o open", "s open", "^ open", "v open", "D open", "P")

PLACEMENT_COLORS = {
    "per-chip": BLUE, "per-core": ORANGE, "per-thread": GREEN, "neutral": PURPLE, "quota": BROWN,
    "sets": SKY, "free": INK,
}

# Small to large values of fields that cover the background.
GRADIENT = ("#dbe7f2", "#7fb0d8", "#123a66")

SHADED = 0.18  # opacity of a band
HALF = 0.5  # opacity of an area with marks on top


def color_of(series: int) -> str:
    """Return the color of the series with this number."""
    return COLORS[series % len(COLORS)]


def marker_of(series: int) -> str:
    """Return the mark of the series with this number."""
    return MARKS[series % len(MARKS)]


def figure(
    rows: int = 1, columns: int = 1, *, width: float = WIDTH, height: float = 0
) -> Any:
    """Return a figure with panels, which are its `axes`, row by row."""
    if not height:
        height = HEIGHT if rows == 1 else rows * PANEL_HEIGHT + 40
    framed_figure, panel = _classes()
    with style():
        fig = framed_figure(figsize=(width / 72, height / 72), dpi=72)
        fig.patch.set_visible(False)
        fig.grid = rows, columns
        for at in range(rows * columns):
            ax = fig.add_axes((0, 0, 1, 1), label=str(at), axes_class=panel)
            ax.patch.set_visible(False)
            ax.set_title("", y=1)  # otherwise matplotlib creates ticks to place titles
            ax.xaxis.set_visible(False)
            ax.yaxis.set_visible(False)
            ax.spines[:].set_visible(False)
            ax.axis_of = {"x": Axis(), "y": Axis()}
            ax.scale = None
    return fig


@functools.cache
def _classes() -> tuple[Any, Any]:
    load_matplotlib()
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    class Panel(Axes):  # type: ignore[misc]
        """Axes without ticks. If matplotlib renames _init_axis(), a picture takes 4 ms longer."""

        def grid(self, *_: Any, **__: Any) -> None:
            pass

        def _init_axis(self) -> None:
            super()._init_axis()
            for axis in (self.xaxis, self.yaxis):
                axis.set_clip_path = axis.set_tick_params = self.grid

        def draw(self, renderer: Any) -> None:
            draw_axes(self, renderer)
            super().draw(renderer)

    class FramedFigure(Figure):  # type: ignore[misc]
        """A figure that gets its frame when it is drawn."""

        is_framed = False

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            FigureCanvasSVG(self)

        def draw(self, renderer: Any) -> None:
            if not self.is_framed:
                self.is_framed = True
                place_panels(self)
            with style():
                super().draw(renderer)
                draw_legend(self, renderer)

        def _repr_html_(self) -> str:
            colors = ";".join(f"--{name}:{light}" for name, (light, _) in PALETTE.items())
            return f'<div style="background:{PAPER};{colors}">{svg(self)}</div>'

    return FramedFigure, Panel


# Axes


def axis_between(
    ax: Any, which: str, name: str, low: float, high: float, *, numbers: bool = True,
    whole: bool = False,
) -> None:
    """Set an axis from `low` to `high`; its name says where it begins unless it includes 0."""
    ax.axis_of[which] = Axis(name, numbers, whole, says_begin=True)
    getattr(ax, f"set_{which}lim")(low, high)


def axis_from_zero(
    ax: Any, which: str, name: str, *, numbers: bool = True, whole: bool = False
) -> None:
    """Set an axis that begins at 0."""
    ax.axis_of[which] = Axis(name, numbers, whole)
    _include(ax, which, 0, 0.001)
    getattr(ax.patch.sticky_edges, which).append(0)


def axis_around_zero(ax: Any, which: str, name: str, *, numbers: bool = True) -> None:
    """Set an axis that includes 0, for deviations."""
    ax.axis_of[which] = Axis(name, numbers)
    _include(ax, which, 0)


def axis_free(ax: Any, which: str, name: str, *, numbers: bool = True) -> None:
    """Set an axis that fits its values; its name says where it begins unless it includes 0."""
    ax.axis_of[which] = Axis(name, numbers, says_begin=True)


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
    ax.axis_of[which] = Axis(name and f"{name} (logarithmic)", numbers)
    getattr(ax, f"set_{which}scale")("log", nonpositive="mask")
    if low > 0 and high > low:
        getattr(ax, f"set_{which}lim")(low, high)


def axis_names(ax: Any, which: str, names: Sequence[str], name: str = "") -> None:
    """Set an axis with a name at each of 0, 1, ... from the left, or from the top."""
    ax.axis_of[which] = Axis(name, categories=names)
    low, high = -0.6, max(len(names), 1) - 0.4
    getattr(ax, f"set_{which}lim")(*((low, high) if which == "x" else (high, low)))


def title(ax: Any, text: str, *, align: str = "center") -> None:
    """Write a title above a panel."""
    ax.set_title(page_text(text), loc=align, y=1, pad=5, fontsize=TEXT)


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
        label=label or "_", zorder=1.8 if width > 3 else 2, solid_capstyle="projecting",
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
    from matplotlib.colors import to_rgba

    x = np.asarray(x, float)
    least, lower, median, upper, most = np.asarray(quantiles, float).T
    half = width / 2
    ax.vlines(x, least, lower, color=color, linewidth=1.3)
    ax.vlines(x, upper, most, color=color, linewidth=1.3)
    ax.hlines([*least, *most], [*(x - half / 2)] * 2, [*(x + half / 2)] * 2, color, linewidth=1.3)
    container = ax.bar(
        x, upper - lower, width, lower, facecolor=to_rgba(color, HALF), edgecolor=color,
        linewidth=1.3,
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
    from matplotlib.colors import LinearSegmentedColormap

    values = np.asarray(values, float)
    if not math.isfinite(high):
        high = np.max(values, where=np.isfinite(values), initial=low)
    colors = LinearSegmentedColormap.from_list("", GRADIENT)
    look = {"cmap": colors, "vmin": low, "vmax": high, "aspect": "auto", "origin": "lower"}
    limits = ax.get_xlim(), ax.get_ylim()
    ax.imshow(values, interpolation="none", extent=extent, zorder=1, **look)
    ax.imshow(
        np.linspace([low], [high], 64), extent=(1.03, 1.055, 0, 1), transform=ax.transAxes,
        clip_on=False, **look,
    )
    ax.set(xlim=limits[0], ylim=limits[1])
    ax.scale = low, high, label


def _gid(titles: Sequence[str]) -> str | None:
    return "".join(TITLES + page_text(title) for title in titles) or None


def label_at(
    ax: Any, x: float, y: float, text: str, *, align: str = "center", above: bool = True,
    size: int = TEXT,
) -> None:
    """Write a text above a point, or at it."""
    ax.annotate(
        page_text(text), (x, y), (0, 6 if above else 0), textcoords="offset points", ha=align,
        va="bottom" if above else "center", fontsize=size, color=INK, annotation_clip=False,
        parse_math=False,
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
    ax.set_axis_off()
    ax.set_xlim(0, (width - 170) / _FIELD_WIDTH)
    ax.set_ylim(-len(rows), 0)

    corners = (0, 1, 1, 0, 0), (0, 0, 1, 1, 0)
    frames = [list(zip(*in_field(row, column, *corners))) for row, column in known]
    ax.add_collection(LineCollection(frames, colors=AXIS, linewidths=0.6), autolim=False)
    for row, name in enumerate(rows):
        label_at(ax, -0.12, _FILLED / 2 - 1 - row, cut(name, 16), align="right", above=False)
    for column, name in enumerate(columns):
        label_at(ax, column + _FILLED / 2, -1 + _FILLED, cut(name, 13))
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


# Files


def save(fig: Any, path: str) -> None:
    """
    Write a figure to a file of its own, .svg or .png, whole or not at all. Raises OutputError.

    Its colors are those of a light scheme.
    """
    fig.patch.set(visible=True, facecolor=PAPER)
    if not path.endswith(".svg"):
        stream = io.BytesIO()
        with style():
            fig.savefig(stream, format="png", facecolor=PAPER)
        write_file(path, stream.getvalue())
        return

    text = str(svg(fig))
    for name, (light, _) in PALETTE.items():
        text = text.replace(f"var(--{name})", light)
    width, height = (round(72 * size) for size in fig.get_size_inches())
    head = f'<svg width="{width}" height="{height}" font-family="sans-serif" '
    write_file(path, text.replace("<svg ", head, 1) + "\n")


def svg(fig: Any) -> Markup:
    """Return a figure for a page: small, the same each time, and in the colors of the page."""
    from markupsafe import Markup

    stream = io.StringIO()
    with style():
        fig.canvas.print_svg(stream, metadata={"Date": None})
    return Markup(tidy(stream.getvalue(), *(72 * fig.get_size_inches())))
