# SPDX-License-Identifier: Apache-2.0
"""sstrace --plot -o FILE: a picture of a trace, of which the C program supplies columns."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, TextIO

import numpy as np
import pandas as pd

from .options import Parser
from .outputs import OutputError
from .report import figures as f
from .text import UserError

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


def read_columns(stream: TextIO) -> tuple[int, pd.DataFrame]:
    """Return the length of a trace in nanoseconds, and its columns of equal length: whether they
    are free, least, mean and most load."""
    length = int(stream.readline())
    rows = pd.read_csv(
        stream, dtype=float, keep_default_na=False, na_values=[""], float_precision="round_trip"
    )
    return length, rows


def points(columns: pd.DataFrame) -> pd.DataFrame:
    """Return `at` and loads in percent: at the middle of each column, and at the ends of each
    section with loads."""
    has_load = columns["mean"].notna()
    is_first = has_load & ~has_load.shift(fill_value=False)
    is_last = has_load & ~has_load.shift(-1, fill_value=False)
    kept = np.column_stack([is_first, np.ones_like(has_load), is_last])
    at = np.add.outer(np.arange(len(columns)), [0, 0.5, 1])[kept]
    loads = 100 * columns[["least", "mean", "most"]]
    return loads.loc[loads.index.repeat(kept.sum(axis=1))].assign(at=at)


@f.drawing
def plot_trace(length: int, columns: pd.DataFrame, title: str = "") -> Any:
    """Return a figure: the mean load over time, its range, and sections without a load."""
    fig, ax = f.new()
    unit, end = time_axis(length)
    width = end / len(columns)
    ax.set(xlabel=f"time in {unit}", xlim=(0, end), ylabel="load, %", ylim=(0, 100))
    shown = title if len(title) <= TITLE_MAX else title[:TITLE_MAX] + "..."
    fig.suptitle(shown)
    free = np.repeat(columns["free"].gt(0).to_numpy(), 2)
    if free.any():
        edges = np.repeat(np.arange(len(columns) + 1), 2)[1:-1] * width
        f.band(ax, edges, 0, np.where(free, 100, np.nan), color=f.GRAY, label="free")
    rows = points(columns)
    if rows["mean"].notna().any():
        x = rows["at"] * width
        f.band(ax, x, rows["least"], rows["most"], label="minimum to maximum")
        ax.plot(x, rows["mean"], label="mean")
    f.legend(ax)
    return fig


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parse the options of `sstrace plot`."""
    parser = Parser(
        "sstrace", "sstrace plot -o FILE [--title TEXT]",
        "Draws what sstrace --plot passes on standard input: the length of a trace in\n"
        "nanoseconds and, as a table, its columns.",
    )  # fmt: skip
    parser.add_text("-o", "--output", required=True, metavar="FILE",
                    help="the picture: a file .svg or .png")
    parser.add_argument("--title", default="", metavar="TEXT", help="the text above it")
    return parser.parse(words)


def run(request: argparse.Namespace, stream: TextIO) -> None:
    try:
        f.save(plot_trace(*read_columns(stream), request.title), request.output)
    except OutputError as error:
        raise UserError(str(error), 2) from None
