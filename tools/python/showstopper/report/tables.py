# SPDX-License-Identifier: Apache-2.0
"""
Tables of the reports.

Programs read a table as CSV or JSON, with 12 digits; people read it as text, Markdown or a part of
a page. A cell is a text or a number. An unknown number is NaN: empty in CSV, null in JSON, a dash
for people. True and False are the texts "yes" and "no".
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from ..study import Study
from ..text import printable

NAME_MAX = 24  # letters of a text on the terminal
ROWS_MAX = 60  # of a table on the terminal
BLOCK_MAX = 150  # letters of a table on a page, which is as wide as a small screen

Cell = str | float


@dataclass(frozen=True)
class Column:
    """A column of a table, and how people see its values."""

    name: str  # name in CSV, JSON and the frame
    heading: str = ""  # heading for people; '' if the column is for programs only
    decimals: int = 0  # number of decimals for people
    percent: bool = False  # people see 100 times the value
    if_known: bool = False  # people see the column only if a row has a value
    terminal: str = ""  # heading on the terminal
    small: bool = False  # people see 1.2e-09 instead of 0


@cache
def glossary() -> dict[str, dict[str, str]]:
    """Return the rows of columns.tsv by name."""
    with open(Path(__file__).with_name("columns.tsv"), encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", restval="", quoting=csv.QUOTE_NONE)
        return {row["name"]: row for row in rows}


def describe(table: str, names: str) -> tuple[Column, ...]:
    """
    Return columns of a table as columns.tsv describes them, those in parentheses for programs only.

    A row TABLE.NAME, for a table in which people see the column differently, overrides NAME.
    """
    return tuple(_describe(table, name) for name in names.split())


def _describe(table: str, name: str) -> Column:
    rows = (glossary().get(key, {}) for key in (f"{table}.{name}", name))
    row = next((row for row in rows if row.get("heading") or row.get("width")), None)
    if row is None:
        return Column(name.strip("()"))
    return Column(
        name,
        row["heading"],
        int(row["decimals"] or 0),
        percent="%" in row["shown"],
        if_known="known" in row["shown"],
        terminal=(row["terminal"] or row["heading"]) if row["width"] else "",
        small="small" in row["shown"],
    )


Frame = Callable[[Study], pd.DataFrame]


@dataclass(frozen=True)
class Table:
    """A table of a topic: its columns, and the function that returns its rows."""

    title: str
    columns: str | Callable[[Study], tuple[Column, ...]]  # names for describe(), or from the study
    rows: Frame  # may lack columns, and may have more
    about: str = ""  # for the manual page: sentences
    terminal: str = ""  # title on the terminal; '' if it is not shown there
    shade: str = ""  # column of verdicts by which a page shades rows

    def sheet(self, name: str, study: Study) -> Sheet:
        """Return the table of a study; the function is called only once."""
        names = self.columns
        columns = describe(name, names) if isinstance(names, str) else names(study)
        return Sheet(name, self, columns, study.once(self.rows), study.prefix)


@dataclass(frozen=True)
class Sheet:
    """
    A table with its rows.

    `prefix` is the beginning of texts, such as the folder of all records, that people need not see.
    """

    name: str
    table: Table
    columns: tuple[Column, ...]
    frame: pd.DataFrame
    prefix: str = ""

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def cells(self) -> dict[str, list[Cell]]:
        """The columns as texts and floats; NaN if the frame lacks one."""
        return {column.name: self._cells(column.name) for column in self.columns}

    def _cells(self, name: str) -> list[Cell]:
        if name not in self.frame:
            return [math.nan] * len(self.frame)
        return [*map(_cell, self.frame[name].tolist())]

    def known(self, name: str) -> list[str]:
        """Return the known values of a column."""
        return [_digits(cell) for cell in self.cells[name] if _is_known(cell)]

    # For programs

    def csv(self) -> str:
        rows = pd.DataFrame({n: [*map(_digits, cells)] for n, cells in self.cells.items()})
        return str(rows.to_csv(index=False))

    def objects(self) -> list[dict[str, object]]:
        """Return the rows, by the names of the columns."""
        values = {n: [*map(_value, cells)] for n, cells in self.cells.items()}
        return [dict(zip(values, row)) for row in zip(*values.values())]

    def json(self) -> str:
        return to_json(self.objects())

    # For people

    @property
    def _shown(self) -> list[Column]:
        return [
            column
            for column in self.columns
            if column.heading
            and (not column.if_known or any(map(_is_known, self.cells[column.name])))
        ]

    def markdown(self) -> str:
        """Return the columns for people or, if all are for programs, all columns by name."""
        columns = []
        for column in self._shown or self.columns:
            cells = self.cells[column.name]
            flush = "---" if cells and isinstance(cells[0], str) else "---:"
            heading = (column.heading or column.name).translate(_MARKDOWN)
            columns.append([heading, flush, *(self._markdown(column, cell) for cell in cells)])
        return "".join("".join(f"| {cell} " for cell in row) + "|\n" for row in zip(*columns))

    def _markdown(self, column: Column, cell: Cell) -> str:
        if isinstance(cell, str):
            return cell.removeprefix(self.prefix).translate(_MARKDOWN)
        if not column.heading:
            return _digits(100 * cell if column.percent else cell)
        return number(cell, column, unknown="")

    def text(self) -> str:
        """Return the title and the columns for the terminal; nothing without rows."""
        shown = [column for column in self.columns if column.terminal]
        if not len(self) or not self.table.terminal or not shown:
            return ""
        columns = []
        for column in shown:
            cells = self.cells[column.name][:ROWS_MAX]
            is_left = any(isinstance(cell, str) for cell in cells)
            texts = [column.terminal, *(self._text(column, cell) for cell in cells)]
            width = max(map(len, texts))
            columns.append([cell.ljust(width) if is_left else cell.rjust(width) for cell in texts])
        lines = [self.table.terminal, *("  ".join(row).rstrip() for row in zip(*columns))]
        if len(self) > ROWS_MAX:
            lines.append(f"and {len(self) - ROWS_MAX} more rows: see {self.name}.csv (--output)")
        return "\n".join(["", *lines, ""])

    def _text(self, column: Column, cell: Cell) -> str:
        if not isinstance(cell, str):
            return number(cell, column)
        name = printable(cell.removeprefix(self.prefix), " ")
        return name if len(name) <= NAME_MAX else ".." + name[len(name) - NAME_MAX + 2 :]

    def view(self) -> View:
        """Return what a page shows."""
        columns = []
        for column in self._shown:
            cells = self.cells[column.name]
            is_text = any(isinstance(cell, str) for cell in cells)
            shown = [
                cell.removeprefix(self.prefix) if isinstance(cell, str)
                else page_number(cell, column)
                for cell in cells
            ]
            columns.append((column.heading, is_text, shown))
        shades = self.cells.get(self.table.shade, [""] * len(self))
        return View(self.table.title, columns, [str(shade) for shade in shades])


def columns(**shown: str | tuple[str, int]) -> tuple[Column, ...]:
    """Return columns by name, with a heading ('' for programs only) and perhaps decimals."""
    described = {name: (one, 0) if isinstance(one, str) else one for name, one in shown.items()}
    return tuple(Column(name, head, n, terminal=head) for name, (head, n) in described.items())


def sheet_of(name: str, title: str, columns: tuple[Column, ...], rows: pd.DataFrame) -> Sheet:
    """Return a table of rows that are not those of a study."""
    table = Table(title, lambda _: columns, lambda _: rows, terminal=title)
    return Sheet(name, table, columns, rows)


ViewColumn = tuple[str, bool, list[str]]  # heading, whether it is flush left, cells


@dataclass(frozen=True)
class View:
    """A table of a page. A wide one is split into blocks, which repeat the first column."""

    title: str
    columns: Sequence[ViewColumn]
    shades: Sequence[str]  # for each row; '' if not shaded

    @property
    def blocks(self) -> list[list[ViewColumn]]:
        blocks: list[list[ViewColumn]] = []
        room = 0
        for column in self.columns:
            width = _width(column)
            if width > room:
                again = [self.columns[0]] if blocks else []
                blocks.append([*again])
                room = BLOCK_MAX - sum(map(_width, again))
            blocks[-1].append(column)
            room -= width
        return blocks

    @staticmethod
    def rows(block: list[ViewColumn]) -> Iterable[list[tuple[str, bool]]]:
        """Return the rows of a block: texts, and whether each is flush left."""
        lefts = [is_text for _, is_text, _ in block]
        return ([*zip(row, lefts)] for row in zip(*(cells for _, _, cells in block)))


def _width(column: ViewColumn) -> int:
    heading, _, cells = column
    longest = max(map(len, heading.split()), default=0)
    return 3 + min(max([longest, *map(len, cells)]), NAME_MAX)


# Cells


def _cell(value: Any) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return math.nan if value is None else float(value)


def _is_known(cell: Cell) -> bool:
    return cell != "" if isinstance(cell, str) else math.isfinite(cell)


def _digits(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    return f"{cell:.12g}" if math.isfinite(cell) else ""


def _value(cell: Cell) -> str | float | None:
    """Return a cell for JSON."""
    if not _is_known(cell):
        return None
    return cell if isinstance(cell, str) else float(f"{cell:.12g}")


def number(value: float, column: Column, unknown: str = "-", small: float = 0) -> str:
    """Format a number for people: never as -0, and as `unknown` if it is not finite. One below
    `small` is shown as 1.2e-09 instead of 0."""
    value = 100 * value if column.percent else value
    if not math.isfinite(value):
        return unknown
    digits = f"{value:.{column.decimals}f}"
    if float(digits) != 0:
        return digits
    if column.small:
        small = 0.5 * 10.0**-column.decimals
    return f"{value:.1e}" if 0 < abs(value) < small else digits.removeprefix("-")


def page_number(value: float, column: Column) -> str:
    """Format a number for a page, with a minus and a dash."""
    digits = number(value, column, unknown="\u2013", small=1e-3)
    return "\u2212" + digits[1:] if digits.startswith("-") else digits


_MARKDOWN = str.maketrans(
    {mark: "\\" + mark for mark in "|\\`*_<>&[]"} | dict.fromkeys("\n\r\t", " ")
)
_NO_UTF8 = dict.fromkeys(range(0xDC80, 0xDD00), "\ufffd")


def to_json(value: object) -> str:
    """Return a document. Whole numbers have no decimals; unknown ones must be None."""
    return json.dumps(_plain(value), indent=2, ensure_ascii=False).translate(_NO_UTF8) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return int(value) if is_whole else value
