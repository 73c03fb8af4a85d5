# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows: the cells of the tutorial print what the page says."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from showstopper import Study

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("SHOWSTOPPER_BUILD", ROOT / "build"))
BLOCK = re.compile(r"^<!-- example: ([^\n]*) -->\n```(python)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_cell(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does: the result is the value of its last line."""
    body = ast.parse(cell).body
    last = body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def words_of(text: str) -> list[str | Any]:
    """Return the words, numbers with a tolerance: libraries round and align differently."""
    found: list[str | Any] = []
    for word in text.split():
        try:
            found.append(pytest.approx(float(word), rel=1e-3, abs=1e-4))
        except ValueError:
            found.append(word)
    return found


@pytest.fixture(scope="module", name="blocks")
def simulate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[str, str, str]]]:
    """Run the first block of the tutorial, in a folder for the others, and return those."""
    if not (BUILD / "bin/sssim").exists():
        pytest.skip("left-out: sssim is not built")
    page = (ROOT / "tutorials/look-at-a-record.md").read_text("utf-8")
    blocks = [(note, language, text) for note, language, text in BLOCK.findall(page)]
    path = f"{BUILD}/bin:{os.environ['PATH']}"
    with contextlib.chdir(tmp_path_factory.mktemp("notebook")):
        command = ["bash", "-c", blocks[0][2]]
        subprocess.run(command, env=os.environ | {"PATH": path}, check=True, capture_output=True)
        yield blocks[1:]


def test_cells_of_the_tutorial(blocks: list[tuple[str, str, str]]) -> None:
    names: dict[str, Any] = {}
    result: Any = None
    for note, language, text in blocks:
        if language:
            result = run_cell(text, names)
        elif note == "shows output":
            shown = [float(word) if _is_number(word) else word for word in repr(result).split()]
            assert shown == words_of(text)
    drawn = result._repr_html_()
    assert "iterations of the foreground per second" in drawn and "120" in drawn


def _is_number(word: str) -> bool:
    return re.fullmatch(r"-?[\d.]+", word) is not None


@pytest.mark.usefixtures("blocks")
def test_lines_of_the_manual_page() -> None:
    os.symlink("study/runs/sets-serial-serial-1/background", "record")
    page = (ROOT / "src/showstopper-record.5").read_text("utf-8").partition(".SH READING")[2]
    names: dict[str, Any] = {}
    run_cell(page.partition(".EX\n")[2].partition(".EE")[0], names)
    assert len(names["record"].samples) == 1200


@pytest.mark.usefixtures("blocks")
def test_topic_of_contributing() -> None:
    [code] = re.findall(r"(?ms)^```python\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    topic: dict[str, Any] = {"__package__": "showstopper.report.topics", "__name__": "tails"}
    exec(compile(code, "tails.py", "exec"), topic)
    study = Study("study")
    rows = topic["TABLES"]["tails"].rows(study)
    assert len(rows) == 2 and (rows["p99_seconds"] > rows["p50_seconds"]).all()
    assert "99 % of iterations, s" in next(topic["figures"](study))._repr_html_()
