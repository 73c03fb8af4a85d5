# SPDX-License-Identifier: Apache-2.0
"""Pictures of profiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..report import figures as f
from .output import decimals, show_range
from .results import KEY

_RATIO = "ratio to the base"
_BIN, _BINS_MIN, _BINS_MAX = 0.1, 5, 400
_ROW = 0.21  # height of a row of dots, in inches
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
    def label(self) -> str:
        covers = f" (coverage {self.coverage_percent:.1f}%)" if self.coverage_percent > 0 else ""
        return f"{self.name[:40]}: {show_range(self.least, self.most, ' to ')}{covers}"


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


@f.drawing
def plot_histograms(series: Sequence[Series]) -> Any:
    """Draw a histogram of each series, one below the other, with a common axis."""
    width = bin_of(series)
    fig, axes = f.new(len(series), height=1 + 2.5 * len(series), sharex=True)
    axes = np.atleast_1d(axes)
    for at, (one, ax) in enumerate(zip(series, axes)):
        counts = bins(one.table["ratio"], width)
        numbers = counts.index.to_numpy()
        titles = [
            f"{(n - 1) * width:.6g} to {n * width:.6g}: {count}" for n, count in counts.items()
        ]
        color = f.color_of(at)
        f.bars(ax, (numbers - 0.5) * width, counts, titles, width=0.88 * width, color=color)
        ax.axvspan(one.least, one.most, color=color, alpha=f.BAND_ALPHA, linewidth=0)
        ax.axvline(1, color=f.INK, linestyle="--")
        ax.yaxis.get_major_locator().set_params(integer=True)
        median = f"{one.table['ratio'].median():.{decimals(one.least, one.most)}f}"
        ax.set_title(one.name[:40], loc="left")
        says = f"range {show_range(one.least, one.most, ' to ')}, median {median}"
        ax.set_title(says, loc="right", fontsize="small")
        ax.set_ylabel("benchmarks")
    axes[-1].set_xlabel(_RATIO)
    return fig


@f.drawing
def plot_dots(series: Sequence[Series]) -> Any:
    """Draw a row of dots for each benchmark, sorted by the first series that has it."""
    rows = pd.concat([one.table[[*KEY, "ratio"]] for one in series]).drop_duplicates(KEY)
    rows = rows.sort_values("ratio", ascending=False, kind="stable")
    rows["row"] = np.arange(len(rows))  # from the top
    fig, ax = f.new(height=1.3 + 0.3 * len(series) + max(1.1, (len(rows) + 1) * _ROW))
    for at, one in enumerate(series):
        points = one.table.merge(rows[[*KEY, "row"]], on=KEY)
        titles = [f"{row.benchmark}: {row.ratio:.4f}" for row in points.itertuples()]
        color, marker = f.color_of(at), f.marker_of(at)
        f.points(ax, points["ratio"], points["row"], titles, color=color, marker=marker,
                 label=one.label)
        if math.isfinite(one.coverage_percent):
            ax.axvspan(one.least, one.most, color=color, alpha=f.BAND_ALPHA, linewidth=0)
    ax.axvline(1, color=f.INK, linestyle="--")
    is_named_twice = rows["benchmark"].duplicated(keep=False)
    both = rows["benchmark"] + " (" + rows["class"] + ")"
    names = rows["benchmark"].mask(is_named_twice, both).str[:_LETTERS_MAX]
    ax.set_yticks(rows["row"], names, fontsize="small")
    ax.set_ylim(len(rows) - 0.5, -0.5)
    wide = is_wide(series)
    if wide:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter("{x:g}" if np.divide(*_ends(series)[::-1]) < 10 else "")
    ax.set_xlabel(f"{_RATIO} (logarithmic)" if wide else _RATIO)
    f.legend(ax, columns=1)
    return fig


@f.drawing
def plot_boxes(table: pd.DataFrame, kind: str) -> Any:
    """Draw the speeds of all benchmarks at each setting of a throttle."""
    is_frequency = kind == "frequency"
    settings = table["setting"] * (1 if is_frequency else 100)
    low, high = settings.min(), settings.max()
    space = 0.6 * (high - low) / (len(table) - 1) if len(table) > 1 else 0.1 * high
    fig, ax = f.new()
    if not is_frequency:
        ax.axline((0, 0), slope=0.01, color=f.ORANGE, linestyle="--")
    quartiles = table[["least", "lower_quartile", "median", "upper_quartile", "most"]]
    f.boxes(ax, settings, quartiles, widths=0.7 * space, manage_ticks=False)
    ax.set_xlim(low - space if is_frequency else 0, high + space)
    ax.set_ylim(0, 1.05 * max(1, table["most"].max()))
    ax.set_xlabel(f"{kind}, {'MHz' if is_frequency else '%'}")
    ax.set_ylabel("speed relative to that without")
    return fig
