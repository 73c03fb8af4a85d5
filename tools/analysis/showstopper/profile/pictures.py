# SPDX-License-Identifier: Apache-2.0
"""Pictures of profiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .. import figures
from .output import decimals, show_range

if TYPE_CHECKING:
    from markupsafe import Markup

_RATIO = "ratio to the base"
_BIN, _BINS_MIN, _BINS_MAX = 0.1, 5, 400
_ROW = 15  # height of a row of dots, in pixels
_LETTERS_MAX = 30
_WIDE = 1.5  # from this quotient on, a logarithmic axis would look different


@dataclass(frozen=True)
class Series:
    """The ratios of one target, a table with columns benchmark, class and ratio."""

    name: str
    table: pd.DataFrame
    least: float  # the range or interval that is shaded
    most: float
    coverage_percent: float = math.nan  # of that range; NaN: it is not shaded

    @property
    def range(self) -> str:
        return show_range(self.least, self.most, " to ")


def _ends(series: Sequence[Series]) -> tuple[float, float]:
    ratios = pd.concat([one.table["ratio"] for one in series])
    return min(ratios.min(), 1.0), max(ratios.max(), 1.0)


def is_wide(series: Sequence[Series]) -> bool:
    least, most = _ends(series)
    return most / least > _WIDE


def bin_of(series: Sequence[Series]) -> float:
    """Return the width of bins: 0.1, or one that gives neither too few nor too many."""
    least, most = _ends(series)
    width = _BIN
    while most - least < _BINS_MIN * width and width > _BIN / 500:
        width /= 10
    while most - least > _BINS_MAX * width:
        width *= 10
    return width


def bins(ratios: pd.Series, width: float) -> pd.Series:
    """
    Return the number of ratios in each bin that is not empty: (n - 1) * width < ratio <= n * width.
    A ratio that differs from a bound only by rounding counts as equal to it.
    """
    numbers = np.maximum(np.ceil(ratios / width - 1e-9), 1).astype(int)
    return numbers.value_counts(dropna=False).sort_index(kind="stable")


def histogram(series: Sequence[Series]) -> Markup:
    """Draw a histogram of each series, one below the other, with a common axis."""
    least, most = _ends(series)
    width = bin_of(series)
    low = max((math.floor(least / width) - 3) * width, 0)
    high = (math.ceil(most / width) + 3) * width
    fig = figures.figure(len(series), height=70 + 180 * len(series))
    for at, (one, ax) in enumerate(zip(series, fig.axes)):
        is_last = at + 1 == len(series)
        color = figures.color_of(at)
        counts = bins(one.table["ratio"], width)
        titles = [
            f"{(n - 1) * width:.6g} to {n * width:.6g}: {count}" for n, count in counts.items()
        ]
        figures.title(ax, one.name[:40], align="left")
        median = f"{one.table['ratio'].median():.{decimals(one.least, one.most)}f}"
        figures.title(ax, f"range {one.range}, median {median}", align="right")
        figures.axis_between(ax, "x", _RATIO if is_last else "", low, high, numbers=is_last)
        figures.axis_from_zero(ax, "y", "benchmarks", whole=True)
        figures.line_at(ax, "x", 1)
        figures.span(ax, "x", one.least, one.most, color=color)
        places = (counts.index.to_numpy() - 0.5) * width
        figures.bars(ax, places, counts, titles, width=0.88 * width, color=color)
    return figures.svg(fig)


def dots(series: Sequence[Series]) -> Markup:
    """Draw a row of dots for each benchmark, sorted by the first series that has it."""
    keys = ["benchmark", "class"]
    rows = (
        pd.concat([one.table[[*keys, "ratio"]] for one in series])
        .drop_duplicates(keys)
        .sort_values("ratio", ascending=False, kind="stable")
    )
    rows["row"] = np.arange(len(rows))  # from the top
    least, most = _ends(series)
    height = 90 + 20 * len(series) + max(80, (len(rows) + 1) * _ROW)
    fig = figures.figure(height=height)
    ax = fig.axes[0]
    beyond = max((most / least) ** 0.04, 1.0005)
    low, high = least / beyond, most * beyond
    if is_wide(series):
        figures.axis_logarithmic(ax, "x", _RATIO, low, high)
    else:
        figures.axis_between(ax, "x", _RATIO, low, high)
    names = rows["benchmark"].where(
        ~rows["benchmark"].duplicated(keep=False), rows["benchmark"] + " (" + rows["class"] + ")"
    )
    figures.axis_names(ax, "y", [name[:_LETTERS_MAX] for name in names])
    figures.line_at(ax, "x", 1)
    for at, one in enumerate(series):
        color = figures.color_of(at)
        points = one.table.merge(rows[[*keys, "row"]], on=keys)
        shown = math.isfinite(one.coverage_percent)
        if shown:
            figures.span(ax, "x", one.least, one.most, color=color)
        covers = f" (coverage {one.coverage_percent:.1f}%)" if shown else ""
        titles = [f"{row.benchmark}: {row.ratio:.4f}" for row in points.itertuples()]
        figures.mark(
            ax, points["ratio"], points["row"], titles, color=color, marker=figures.marker_of(at),
            label=f"{one.name[:40]}: {one.range}{covers}",
        )
    return figures.svg(fig)


def boxes(table: pd.DataFrame, kind: str) -> Markup:
    is_frequency = kind == "frequency"
    settings = table["setting"] * (1 if is_frequency else 100)
    low, high = settings.min(), settings.max()
    space = 0.6 * (high - low) / (len(table) - 1) if len(table) > 1 else 0.1 * high
    fig = figures.figure()
    ax = fig.axes[0]
    unit = "MHz" if is_frequency else "%"
    begin = low - space if is_frequency else 0
    figures.axis_between(ax, "x", f"{kind}, {unit}", begin, high + space)
    most = max(1, table["most"].max())
    figures.axis_between(ax, "y", "speed relative to that without", 0, 1.05 * most)
    if not is_frequency:
        ends = [0, high + space]
        figures.line(ax, ends, [end / 100 for end in ends], color=figures.ORANGE, dashed=True)
    quantiles = table[["least", "lower_quartile", "median", "upper_quartile", "most"]]
    titles = [f"{row.limits}: {row.least:.4f} to {row.most:.4f}" for row in table.itertuples()]
    figures.boxes(ax, settings, quantiles, titles, width=0.7 * space)
    return figures.svg(fig)
