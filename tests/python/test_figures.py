# SPDX-License-Identifier: Apache-2.0
"""Figures as files and as parts of a page."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from showstopper.report import figures

BAD = "a\udcff\x9b\ud800"  # a byte that is not UTF-8, a control character, half a character


@pytest.fixture
def strict() -> Iterator[None]:
    """Raise an error if a text is measured or drawn that newer versions of matplotlib refuse."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Glyph")
        yield


@figures.drawing
def plot() -> Any:
    """Return a figure with hostile texts at all places that have texts of files."""
    fig, (above, below) = figures.new(2)
    figures.points(above, [1, 2], [3, 4], [BAD, BAD], label=BAD)
    figures.legend(above)
    above.set_title(BAD, loc="left")
    above.set(xlabel=BAD, ylabel=BAD)
    above.text(1, 3, f"{BAD}\n{BAD}")
    below.set_xticks([0, 1], [BAD, "b"])
    figures.fields(below, [0, 1], [0, 1], [[1]], BAD)
    fig.suptitle(BAD)
    return fig


@pytest.mark.usefixtures("strict")
def test_invalid_characters_are_replaced_before_drawing(tmp_path: Path) -> None:
    text = figures.svg(plot())
    assert text.count(">a???<") == 11
    text.encode("utf-8")
    figures.save(plot(), str(tmp_path / "a.png"))


@pytest.mark.usefixtures("strict")
def test_figure_can_be_changed_after_it_was_shown() -> None:
    fig = plot()
    figures.svg(fig)
    fig.axes[1].set_xticks([0, 0.5], ["first", f"second {BAD}"])
    fig.axes[0].set(title=BAD, yscale="log")
    text = figures.svg(fig)
    assert ">first<" in text and ">second a???<" in text
    assert ">a??</text>" not in text and ">b<" not in text
