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

import agree
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
            found = "".join(f"{line.rstrip()}\n" for line in repr(result).splitlines())
            assert list(agree.line_differences(text, found, is_table=False)) == []
    assert "<svg" in result._repr_html_()


@pytest.mark.usefixtures("blocks")
def test_lines_of_the_manual_page() -> None:
    os.symlink("study/runs/sets-serial-serial-1/background", "record")
    page = (ROOT / "src/showstopper-record.5").read_text("utf-8").partition(".SH READING")[2]
    names: dict[str, Any] = {}
    observations = run_cell(page.partition(".EX\n")[2].partition(".EE")[0], names)
    assert len(names["record"].samples) == 1200
    assert {*observations["level"]} == {"run", "step"}


def test_topics_of_a_notebook(tmp_path: Path) -> None:
    case = agree.read_case(agree.CORPUS / "duet-turn")
    agree.unpack(agree.read_tree(case.folder / "in.tree"), tmp_path)
    duet = Study(str(tmp_path / "failed")).topic("duet")
    assert {"df_duet", "df_blocks", "plot_blocks"} <= {*dir(duet)}
    assert duet.df_blocks.__doc__ and "block" in duet.df_blocks.__doc__
    assert "<svg" in duet.plot_blocks(duet.df_blocks())._repr_html_()
    assert "<table" in duet.tables["duet-blocks"]._repr_html_()
