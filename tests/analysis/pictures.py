# SPDX-License-Identifier: Apache-2.0
"""Describes the pictures of a report: the names and ranges of their axes and, of all that is drawn, the number of points
and their mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

# Commands of the corpus whose pictures are compared, too: together they draw all kinds of pictures.
REPORTS = (
    "accuracy/page",
    "counters/02-page",
    "duet-doubt/two",
    "fleet-rehearsal/sample",
    "interference-experiment/page",
    "latency/page",
    "loadline-experiment/page",
    "loadline-service/page",
    "power-fits/07-page",
    "published/03-page",
    "replay-predicted/page",
    "requests-rules/02-page",
)


def mean(points: Any) -> str:
    """Return the number of points and the mean of those that are known."""
    points = np.ma.filled(np.ma.asarray(points, float), np.nan)
    known = points[np.isfinite(points).all(axis=1)]
    place = ", ".join(f"{value:.4g}" for value in known.mean(axis=0).round(9) + 0.0) if len(known) else "unknown places"
    return f"{len(points)} at {place}"


def outlines(paths: Iterable[Any]) -> str:
    corners = [path.vertices for path in paths]
    return f"{len(corners)} shapes, {mean(np.concatenate(corners))}" if corners else "none"


def name_of(drawn: Any) -> str:
    label = str(drawn.get_label())
    return "_" if label.startswith("_") else label  # of no entry in the legend


def describe(fig: Any) -> Iterator[str]:
    """Yield a line for each panel of a figure, and for each kind of thing in it."""
    for ax in fig.axes:
        names = [ax.axis_of[which].name for which in "xy"]
        ends = [f"{end:.4g}" for end in (*ax.get_xlim(), *ax.get_ylim())]
        yield f"{' / '.join(names)}: {' to '.join(ends[:2])} / {' to '.join(ends[2:])} {ax.get_title()}".rstrip()
        for line in ax.lines:
            yield f"  {name_of(line)} {line.get_marker()}{line.get_linestyle()} {mean(line.get_xydata())}"
        if ax.patches:
            yield f"  {outlines(patch.get_path().transformed(patch.get_patch_transform()) for patch in ax.patches)}"
        for collection in ax.collections:
            yield f"  {name_of(collection)} {outlines(collection.get_paths())}"
        for image in ax.images:
            yield f"  image {mean(image.get_array().reshape(-1, 1))}"
        if ax.texts:
            yield f"  {' | '.join(text.get_text() for text in ax.texts)}"


class Pictures:
    """Those of one report; of several with the same axes, the first."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, ...], list[str]] = {}

    def add(self, fig: Any) -> None:
        axes = tuple(ax.axis_of[which].name for ax in fig.axes for which in "xy")
        if axes not in self.found:
            self.found[axes] = list(describe(fig))

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in sum(self.found.values(), []))
