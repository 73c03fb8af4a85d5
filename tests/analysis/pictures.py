# SPDX-License-Identifier: Apache-2.0
"""Pictures are those of before: the names and ranges of their axes and, of all that is drawn, the number of points and
their mean. `PYTHONPATH=tools/analysis python3 tests/analysis/test_pictures.py` writes pictures.txt again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import agree
import numpy as np
import pytest

EXPECTED = Path(__file__).with_name("pictures.txt")
# Reports that draw all kinds of pictures.
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


def pictures(report: str) -> str:
    """Return the description of the pictures in a report, of those with the same axes only the first."""
    case, _, name = report.partition("/")
    found: dict[tuple[str, ...], list[str]] = {}

    def draw(fig: Any) -> str:
        axes = tuple(ax.axis_of[which].name for ax in fig.axes for which in "xy")
        found.setdefault(axes, list(describe(fig)))
        return ""

    with mock.patch.object(agree, "draw", draw):
        agree.results(agree.in_process, agree.read_case(agree.CORPUS / case), name)
    return "".join(f"{line}\n" for line in [f"== {report}", *sum(found.values(), [])])


@pytest.mark.parametrize("report", REPORTS)
def test_pictures_of_a_report(report: str) -> None:
    expected = re.split(r"^(?===)", EXPECTED.read_text("utf-8"), flags=re.MULTILINE)
    assert pictures(report) == expected[1 + REPORTS.index(report)]


if __name__ == "__main__":
    EXPECTED.write_text("".join(map(pictures, REPORTS)), "utf-8")
