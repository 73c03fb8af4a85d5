# SPDX-License-Identifier: Apache-2.0
"""The published constant loads, repeated in the simulator by tests/bench/published.py."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "bench"))

import published  # noqa: E402

SHORT = published.Protocol(settle=5, seconds=60)


@pytest.fixture
def bench(tmp_path: Path) -> published.Bench:
    if "SHOWSTOPPER_BUILD" not in os.environ:
        pytest.skip("left-out: sssim is not built")
    return published.Bench(Path(os.environ["SHOWSTOPPER_BUILD"]), 1, tmp_path)


def test_modules_are_those_of_accuracy(bench: published.Bench) -> None:
    modules = {name: " ".join(words) for name, words in bench.modules("53m").items()}
    assert set(modules) == {*published.BASELINES, *published.GEOM, *published.PI}
    assert all("-f realtime -F count=ratio" in words for words in modules.values())
    assert {name for name, words in modules.items() if "phase=together:20m" in words} == {"cdc"}
    assert "-D 53m" in modules["geom_even"] and "-C previous=global" in modules["geom_even"]
    assert "-C bounds=none,start=target -s uneven" in modules["pi_uneven"]


def test_baseline_is_reproduced(bench: published.Bench) -> None:
    """One set of options fits all programs at 1/3 and 50 %, within 10 points."""
    cells = bench.cells(("cdc",), SHORT, targets=(33.3333, 50.0))
    assert len(cells) == 6
    assert all(abs(cell.error - cell.published_error) < 10 for cell in cells), cells


def test_protocol_gives_the_published_errors(bench: published.Bench) -> None:
    """If the sum of past errors began at 0, the mean squared errors would be 8 to 12 %^2."""
    fop = {"programs": ("fop",), "targets": (66.6667, 75.0)}
    cells = bench.cells(published.PI, published.Protocol(warmup=30), **fop)
    assert len(cells) == 4
    assert all(cell.has_close_square and cell.has_close_error for cell in cells), cells
    other = published.Protocol("-C bounds=none,start=0", warmup=30)
    others = bench.cells(published.PI, other, **fop)
    assert not any(cell.has_close_square for cell in others), others


def test_geom_swings_where_rbpid_does_not(bench: published.Bench) -> None:
    geom, pi = bench.cells(("geom_uneven", "pi_even"), SHORT, ("sunflow",), (66.6667,))
    assert geom.has_close_square and pi.has_close_square
    assert geom.square > 4 * pi.square


def test_page_names_every_table() -> None:
    page = (SOURCE / "src" / "showstopper-published.7").read_text("utf-8")
    assert set(re.findall(r"\[([a-z]+)\]", page)) == {part.__name__ for part in published.PARTS}


def test_unknown_words_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["phases"], ["--draws", "many"], ["--sedonds"]):
        with pytest.raises(SystemExit) as ended:
            published.main(words)
        assert ended.value.code == 2
        assert words[-1] in capsys.readouterr().err
