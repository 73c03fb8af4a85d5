# SPDX-License-Identifier: Apache-2.0
"""
Cells of the tables of a report, in cells.csv: what another implementation computed.

Each row has a case, which is a file of inputs/, the records and options of ssreport, a table, the
row's key, a column, and its value. A key is NAME=VALUE;..., empty if there is one row, or row=N.
The rows of the table `answer` have a number of the sentence that the report begins with.
"""

from __future__ import annotations

import csv
import math
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from markupsafe import Markup
from packed import INPUTS, unpack
from showstopper import cli
from showstopper.report import figures, summary

PART, PARTS = map(int, os.environ.get("CELLS_PART", "1/1").split("/"))  # of all commands
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
Row = dict[str, str]


def read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as stream:
        return [*csv.DictReader(stream)]


CELLS: dict[tuple[str, str], list[Row]] = {}
for _cell in read(Path(__file__).with_name("cells.csv")):
    CELLS.setdefault((_cell["case"], _cell["command"]), []).append(_cell)


def is_same(found: str, value: str, tolerance: str) -> bool:
    try:
        return math.isclose(float(found), float(value), rel_tol=float(tolerance or 1e-9))
    except ValueError:
        return found == value


def find(rows: Sequence[Row], key: str) -> Row:
    if key.startswith("row="):
        return rows[int(key[4:]) - 1]
    for name, _, value in (part.partition("=") for part in key.split(";") if part):
        rows = [row for row in rows if is_same(row[name], value, "")]
    [row] = rows
    return row


def difference(cell: Row, folder: Path, answer: str) -> str:
    """Return what differs; '' if nothing does."""
    value, tolerance = cell["value"], cell["tolerance"]
    if cell["table"] == "answer":
        found = NUMBER.findall(answer)
        return "" if any(is_same(one, value, tolerance) for one in found) else answer
    try:
        one = find(read(folder / f"{cell['table']}.csv"), cell["key"])[cell["column"]]
    except (OSError, KeyError, ValueError, IndexError) as error:
        one = repr(error)
    return "" if is_same(one, value, tolerance) else one


@pytest.mark.parametrize(("case", "command"), [*CELLS][PART - 1 :: PARTS])
def test_cells(
    case: str,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(unpack(INPUTS / f"{case}.tree", tmp_path / "in"))
    monkeypatch.setattr(figures, "svg", lambda _: Markup("<svg ></svg>"))  # takes longest
    out = tmp_path / "out"
    assert cli.main(["ssreport", "-o", str(out), *shlex.split(command)]) in (0, cli.NO_RESULTS)
    answer = capsys.readouterr().out.partition("\n\n")[0]
    found = [(cell, difference(cell, out, answer)) for cell in CELLS[case, command]]
    assert [(*cell.values(), one) for cell, one in found if one] == []


def test_every_table_has_a_cell() -> None:
    tested = {cell["table"] for cells in CELLS.values() for cell in cells}
    assert {*summary.tables()} - tested == {"requests-held"}  # see test_requests.py
