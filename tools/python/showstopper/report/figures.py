# SPDX-License-Identifier: Apache-2.0
"""
Figures: ordinary matplotlib in one style. A topic returns a Figure, which a notebook can change.

    @drawing
    def plot_rates(rows):
        fig, ax = new()
        points(ax, rows["load"], rows["rate"], titles, color=COLORS[0], label="steps")
        ax.set(xlabel="load, %", ylabel="throughput, /s", ylim=(0, None))
        legend(ax)
        return fig

Colors are those of a light scheme; svg() replaces them with variables of the page, which have other
values in a dark scheme. They must be given as hex colors: "C1" is resolved only when a figure is
drawn, perhaps in another style.
"""

from __future__ import annotations

import functools
import io
import itertools
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import matplotlib
import matplotlib.style
import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.axis import Axis
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import Formatter, FuncFormatter, LogLocator, NullLocator

from ..outputs import write_file
from ..text import page_text

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
MARKS = ("o", "s", "^", "v", "D", "P", "X", "*", "p", "h", "d")

PLACEMENT_COLORS = {
    "per-chip": BLUE, "per-core": ORANGE, "per-thread": GREEN, "neutral": PURPLE, "quota": BROWN,
    "sets": SKY, "free": INK,
}  # fmt: skip

BAND_ALPHA = 0.18  # opacity of a band
AREA_ALPHA = 0.5  # opacity of an area with marks on top
STYLE = Path(__file__).with_name("showstopper.mplstyle")

Plot = TypeVar("Plot", bound=Callable[..., Any])


class Picture(NamedTuple):
    """A figure of a page. Figures of one group, such as a run, share a heading."""

    caption: str
    figure: Figure
    group: str = ""
    how: str = ""  # an explanation below the caption

    def _repr_html_(self) -> Markup:
        """Show the figure in a notebook, as on a page."""
        return svg(self.figure)


def style() -> Any:
    """Return a context in which matplotlib draws in this style, whatever the user has set."""
    return matplotlib.style.context(STYLE, after_reset=True)


def drawing(plot: Plot) -> Plot:
    """Make a function draw in the style."""

    @functools.wraps(plot)
    def styled(*arguments: Any, **more: Any) -> Any:
        with style():
            return plot(*arguments, **more)

    return styled  # type: ignore[return-value]


def color_of(series: int) -> str:
    return COLORS[series % len(COLORS)]


def marker_of(series: int) -> str:
    return MARKS[series % len(MARKS)]


# Figures and axes


def new(
    rows: int = 1, *, fixed: bool = False, height: float = 0, **options: Any
) -> tuple[Any, Any]:
    """Return a figure and its axes, several if there are several rows, without pyplot, which would
    keep them.

    Fixed margins, for pictures of each run, halve the time, but would cut a long legend.
    """
    size = (7.8, height or (4.2 if rows == 1 else 0.6 + 3 * rows))
    fig = Figure(size, layout=None if fixed else "constrained")
    if rows > 1 and fixed:  # margins as wide as in a picture of one row
        fig.subplots_adjust(bottom=0.63 / size[1], top=1 - 0.42 / size[1])
    axes = fig.subplots(rows, **options)
    for ax in np.ravel(axes):
        ax.locator_params(nbins=6)
    return fig, axes


def legend(ax: Any, columns: int = 4) -> None:
    """Put the legend above the axes, if something has a label."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=columns, borderaxespad=0.2)


def time_axis(ax: Any, end: float, name: str = "time") -> float:
    """Set the horizontal axis to 0 to `end` seconds. Returns its unit in seconds."""
    unit = 60 if end > 600 else 1
    ax.set_xlim(0, end / unit if end > 0 else 1)
    ax.set_xlabel(f"{name}, {'min' if unit > 1 else 's'}" if name else "")
    return unit


def logarithmic(ax: Any, which: str = "y") -> None:
    """Make an axis logarithmic, with ticks such as 20, 50, 100."""
    axis = {"x": ax.xaxis, "y": ax.yaxis}[which]
    ax.set(**{f"{which}scale": "log"})
    axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


# Marks, lines and areas


def points(ax: Any, x: Any, y: Any, titles: Sequence[str] = (), **options: Any) -> None:
    """Draw marks, which show a title when the pointer is over them."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    known = np.isfinite(x) & np.isfinite(y)
    options = {"color": BLUE, "s": 30} | options
    drawn = ax.scatter(x[known], y[known], **options)
    drawn.set_urls([_title(title) for title, is_known in zip(titles, known) if is_known])


def rings(ax: Any, x: Any, y: Any, label: str = "") -> None:
    """Draw rings around points."""
    if len(x):
        points(ax, x, y, s=120, facecolors="none", edgecolors=ORANGE, color=None, label=label)


def band(ax: Any, x: Any, low: Any, high: Any, opacity: float = BAND_ALPHA, **options: Any) -> None:
    """Fill the area between two lines."""
    ax.fill_between(x, low, high, alpha=opacity, linewidth=0, **{"color": BLUE} | options)


def bars(ax: Any, x: Any, heights: Any, titles: Sequence[str] = (), **options: Any) -> None:
    """Draw bars, which show a title when the pointer is over them."""
    drawn = ax.bar(x, heights, **{"color": BLUE} | options)
    for patch, title in zip(drawn, titles):
        patch.set_url(_title(title))


def boxes(ax: Any, x: Any, quartiles: Any, **options: Any) -> None:
    """Draw boxes: the columns of `quartiles` are least, lower quartile, median, upper, most."""
    names = ("whislo", "q1", "med", "q3", "whishi")
    stats = [dict(zip(names, row)) for row in np.asarray(quartiles, dtype=float)]
    color = options.pop("color", BLUE)
    line = {"color": color}
    ax.bxp(
        stats, positions=x, showfliers=False, patch_artist=True, boxprops={"color": color,
        "facecolor": to_rgba(color, AREA_ALPHA)}, medianprops={"color": color, "linewidth": 2.2},
        whiskerprops=line, capprops=line, **options,
    )  # fmt: skip


def fields(ax: Any, x: Any, y: Any, values: Any, label: str, most: float = 0) -> None:
    """Draw values as opacities of blue between edges x and y, with a bar that explains them.

    An image would be a part of the page whose colors do not follow the scheme.
    """
    ramp = LinearSegmentedColormap.from_list("", [to_rgba(BLUE, 0.03), to_rgba(BLUE, 1)], N=20)
    mesh = ax.pcolormesh(x, y, values, cmap=ramp, vmin=0, vmax=most or None, linewidth=0)
    ax.grid(False)
    ax.figure.colorbar(mesh, ax=ax, label=label, pad=0.02)


@drawing
def plot_matrix(rows: pd.DataFrame) -> Any:
    """Return a figure with a field for each pair, foregrounds by row and backgrounds by column: its
    `text`, and its `depth` from -1 (blue) to 1 (orange)."""
    names = [[*dict.fromkeys(rows[side])] for side in ("foreground", "background")]
    fig, ax = new(height=1.2 + 0.5 * len(names[0]))
    for pair in rows.itertuples():
        y, x = names[0].index(pair.foreground), names[1].index(pair.background)
        color = ORANGE if pair.depth >= 0 else BLUE
        ax.barh(y, 0.94, 0.9, x - 0.47, color=color, alpha=0.6 * abs(pair.depth))
        ax.text(x, y, pair.text, ha="center", va="center")
    ax.set_xticks(range(len(names[1])), [name[:20] for name in names[1]])
    ax.set_yticks(range(len(names[0])), [name[:20] for name in names[0]])
    ax.set(xlim=(-0.5, len(names[1]) - 0.5), ylim=(len(names[0]) - 0.5, -0.5))
    ax.set(xlabel="background", ylabel="foreground")
    ax.grid(False)
    return fig


_TITLE = "title:"


def _title(title: str) -> str:
    return _TITLE + page_text(title)


# Files

_salts = itertools.count()


def _clean(text: str) -> str:
    return "\n".join(map(page_text, text.split("\n")))


def _clean_texts(fig: Figure) -> None:
    """Replace characters that a picture cannot have, at which newer versions of matplotlib raise
    errors: texts may come from files."""
    for text in fig.findobj(Text):
        text.set_text(_clean(text.get_text()))
    for axis in fig.findobj(Axis):  # an axis names its ticks only while it is drawn
        names = axis.get_major_formatter().format_ticks(axis.get_majorticklocs())
        if any(name != _clean(name) for name in names):
            axis.set_major_formatter(_clean_names(axis.get_major_formatter()))


def _clean_names(formatter: Formatter) -> Formatter:
    return FuncFormatter(lambda value, at: _clean(formatter(value, at)))


def _draw(fig: Figure, salt: str) -> str:
    """Return the document of a figure."""
    stream = io.StringIO()
    with style(), matplotlib.rc_context({"svg.hashsalt": salt}):
        _clean_texts(fig)
        # Unlike savefig(), this draws only once.
        FigureCanvasSVG(fig).print_svg(stream, metadata=dict.fromkeys(_METADATA))
    return stream.getvalue()


def svg(fig: Figure) -> Markup:
    """Return a figure for a page: small, and in the colors of the page."""
    # Salt identifiers, which are hashes: one in a closed <details> would hide what another picture
    # refers to by the same identifier.
    text = _draw(fig, f"showstopper {next(_salts)}")
    text = re.sub(r"(?s)^.*?(?=<svg )|<metadata>.*?</metadata>|\s*<!--.*?-->", "", text)
    text = re.sub(r'<a xlink:href="title:([^"]*)">(.*?)</a>', _add_title, text, flags=re.DOTALL)
    text = re.sub(r' id="[A-Za-z\d.]+_\d+"', "", text)  # of groups, the same in each figure
    text = re.sub(r"<[^>]+>", _shorten, text)
    text = re.sub(r"\n *", "\n", text)
    for name, (light, _) in PALETTE.items():
        text = text.replace(light, f"var(--{name})")
    width = 72 * fig.get_figwidth() / 14
    alone = (1.5 if fig.get_figwidth() > fig.get_figheight() else 1) * width  # must fit a screen
    look = f'style="--width:{width:.4g}rem;--alone:{alone:.4g}rem"'
    return Markup(re.sub(r'<svg ([^>]*?)(height|width)="[^"]*"', rf"<svg {look} \1", text, count=1))


_METADATA = ("Date", "Creator", "Format", "Type")


def _shorten(tag: re.Match[str]) -> str:
    """Round coordinates, but no numbers that a reader sees."""
    return re.sub(r"\d+\.\d{3,}", lambda digits: f"{float(digits[0]):.2f}", tag[0])


def _add_title(link: re.Match[str]) -> str:
    return f"<g><title>{link[1]}</title>{link[2]}</g>"


def save(fig: Figure, path: str) -> None:
    """
    Write a figure to a file of its own, .svg or .png, whole or not at all. Raises OutputError.

    Its colors are those of a light scheme.
    """
    fig.set_facecolor(PAPER)
    if path.endswith(".svg"):
        write_file(path, _draw(fig, "showstopper"))
        return
    stream = io.BytesIO()
    with style():
        _clean_texts(fig)
        fig.savefig(stream, format="png", dpi=144, facecolor=PAPER)
    write_file(path, stream.getvalue())

