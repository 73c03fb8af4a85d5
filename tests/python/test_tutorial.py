# SPDX-License-Identifier: Apache-2.0
"""The cells of the tutorial print what the page says, as a notebook shows it."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from showstopper import Study

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("SHOWSTOPPER_BUILD", ROOT / "build"))
BLOCK = re.compile(r"^```(python)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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
def simulate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[str, str]]]:
    """Run the first block of the tutorial, in a folder for the others, and return those."""
    if not (BUILD / "bin/sssim").exists():
        pytest.skip("left-out: sssim is not built")
    page = (ROOT / "tutorials/look-at-a-record.md").read_text("utf-8")
    blocks = BLOCK.findall(page)
    path = f"{BUILD}/bin:{os.environ['PATH']}"
    with contextlib.chdir(tmp_path_factory.mktemp("notebook")):
        command = ["bash", "-c", blocks[0][1]]
        subprocess.run(command, env=os.environ | {"PATH": path}, check=True, capture_output=True)
        yield blocks[1:]


def test_cells_of_the_tutorial(blocks: list[tuple[str, str]]) -> None:
    names: dict[str, Any] = {}
    result: Any = None
    for language, text in blocks:
        if language:
            result = run_cell(text, names)
        elif result is not None:
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


def examples_of(heading: str) -> list[str]:
    """Return the examples in Python of a section of CONTRIBUTING.md."""
    section = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition(f"\n## {heading}\n")[2]
    return re.findall(r"(?ms)^```python\n(.*?)^```$", section.partition("\n## ")[0])


@pytest.mark.usefixtures("blocks")
def test_topic_of_contributing() -> None:
    [code] = examples_of("A topic of reports")
    topic: dict[str, Any] = {"__package__": "showstopper.report.topics", "__name__": "tails"}
    exec(compile(code, "tails.py", "exec"), topic)
    study = Study("study")
    rows = topic["TABLES"]["tails"].rows(study)
    assert len(rows) == 2 and (rows["p99_seconds"] > rows["p50_seconds"]).all()
    assert "99 % of iterations, s" in next(topic["figures"](study))._repr_html_()


def test_experiment_of_contributing(tmp_path: Path) -> None:
    if not (BUILD / "bin/sslab").exists():
        pytest.skip("left-out: sslab is not built")
    code, question = examples_of("An experiment")
    shutil.copytree(ROOT / "tools/python/showstopper", tmp_path / "python/showstopper")
    os.symlink(ROOT / "tools/experiments", tmp_path / "experiments")
    lab = tmp_path / "python/showstopper/lab"
    (lab / "lengths.py").write_text(code)
    listed = (lab / "__init__.py").read_text()
    listed = listed.replace("QUESTIONS = {\n", f"QUESTIONS = {{\n{question}")
    (lab / "__init__.py").write_text(listed)

    def sslab(*words: str) -> str:
        call = [sys.executable, "-Xutf8", "-m", "showstopper", "sslab", *words]
        path = f"{BUILD}/bin:{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "PYTHONPATH": str(tmp_path / "python")}
        return subprocess.run(
            call, env=environment, cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    assert question.split('"')[3] in sslab()
    plan = sslab("lengths", "--plan", "--taus", "13m,53m", "--rounds", "2", "--load", "1/3")
    runs = re.findall(r"(?m)^run (\S+) takes 61s .* round=(\d) tau_seconds=(\S+)", plan)
    assert runs == [
        (f"serial-{tau}-{number}", str(number), seconds)
        for number in (1, 2)
        for tau, seconds in (("13m", "0.013"), ("53m", "0.053"))
    ]
    assert plan.count(" -d averageq -D 13m ") == 2 and plan.count(" -l 33.3333333333333% ") == 4
    assert "lengths-results" in sslab("lengths", "--help")
