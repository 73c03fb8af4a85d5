# SPDX-License-Identifier: Apache-2.0
"""sstrace --plot -o FILE: a picture of a trace, of which the C program hands in columns."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

from .cli import Program
from .options import Option, Values
from .outputs import OutputError
from .text import UserError

if TYPE_CHECKING:
    import numpy as np

WIDTH, HEIGHT = 1100, 440
TITLE_MAX = 110  # letters

SECOND = 10**9
# Units of the time axis, in nanoseconds, and the lengths of traces up to which they are used.
UNITS = (
    ("nanoseconds", 1, 3_000),
    ("microseconds", 1_000, 3_000_000),
    ("milliseconds", 1_000_000, 3 * SECOND),
    ("seconds", SECOND, 360 * SECOND),
    ("minutes", 60 * SECOND, 6 * 3600 * SECOND),
    ("hours", 3600 * SECOND, 3 * 86400 * SECOND),
    ("days", 86400 * SECOND, 1 << 64),
)


def time_axis(length: int) -> tuple[str, float]:
    """Return the unit of the time axis of a trace of this many nanoseconds, and its end."""
    if length == 0:
        return "seconds", 1
    name, unit, _ = next(row for row in UNITS if length < row[2])
    return name, length / unit


def read_columns(stream: TextIO) -> tuple[int, np.ndarray[Any, Any]]:
    """Return the length of a trace in nanoseconds, and its columns of equal length."""
    import numpy as np

    length = int(stream.readline())
    return length, np.genfromtxt(stream, delimiter=",", names=True, ndmin=1)


def points(columns: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """
    Return rows of position, least, mean and largest load.

    They are at the middle of each column, and at the ends of each section with loads.
    """
    import numpy as np

    has_load = np.isfinite(columns["mean"])
    is_first = has_load & ~np.roll(has_load, 1)
    is_last = has_load & ~np.roll(has_load, -1)
    is_first[0], is_last[-1] = has_load[0], has_load[-1]
    kept = np.column_stack([is_first, np.ones_like(has_load), is_last])

    position = np.add.outer(np.arange(len(columns)), [0, 0.5, 1])[kept]
    loads = np.repeat(columns, kept.sum(axis=1))
    return np.column_stack([position, *(100 * loads[name] for name in ("least", "mean", "most"))])


def plot_trace(length: int, columns: np.ndarray[Any, Any], title: str = "") -> Any:
    """Return a figure: the mean load over time, its range, and sections without a load."""
    import numpy as np

    from . import figures

    fig = figures.figure(width=WIDTH, height=HEIGHT)
    ax = fig.axes[0]
    unit, end = time_axis(length)
    figures.axis_between(ax, "x", f"time in {unit}", 0, end)
    figures.axis_between(ax, "y", "load, %", 0, 100)
    if title:
        figures.title(ax, title if len(title) <= TITLE_MAX else title[:TITLE_MAX] + "...")

    width = end / len(columns)
    is_free = columns["free"] > 0
    if is_free.any():
        edges = np.repeat(np.arange(len(columns) + 1), 2)[1:-1] * width
        top = np.repeat(np.where(is_free, 100, np.nan), 2)
        figures.band(ax, edges, 0 * top, top, color=figures.GRAY, label="free")

    x, least, mean, most = points(columns).T
    if np.isfinite(mean).any():
        figures.band(ax, x * width, least, most, label="minimum to maximum")
        figures.line(ax, x * width, mean, label="mean")
    return fig


def run(values: Values) -> int:
    from . import figures

    fig = plot_trace(*read_columns(sys.stdin), values.title)
    try:
        figures.save(fig, values.output)
    except OutputError as error:
        raise UserError(str(error), 2) from None
    return 0


def _check(values: Values) -> None:
    if not values.output:
        raise UserError("no file is given: use --output FILE")


_ROWS = (
    Option("output", "the picture: a file .svg or .png", "FILE", letter="o"),
    Option("title", "the text above it", "TEXT"),
    Option("help", "print this help", letter="h"),
)
_USAGE = """\
Usage: analysis sstrace plot [OPTION]...
Draws what sstrace --plot hands in: the length of a trace in nanoseconds and, as
a table, its columns.
"""
PROGRAM = Program("sstrace", _USAGE, _ROWS, _check, run)
