# SPDX-License-Identifier: Apache-2.0
"""
Tables of the reports.

Programs read a table as CSV or JSON, with 12 digits; people read it as text, Markdown or a part of
a page. A cell is a text or a number. An unknown number is NaN: empty in CSV, null in JSON, a dash
for people. True and False are the texts "yes" and "no".
"""
from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .text import printable

Cell = str | float


@dataclass(frozen=True)
class Column:
    """A column of a table, and how people see its values."""

    name: str  # name in CSV, JSON and the frame
    heading: str = ""  # heading for people; '' if the column is for programs only
    decimals: int = 0  # number of decimals for people
    percent: bool = False  # people see 100 times the value
    if_known: bool = False  # people see the column only if a row has a value
    text: tuple[str, int] | None = None  # heading and width on the terminal
    small: bool = False  # people see 1.2e-09 instead of 0


@cache
def glossary() -> dict[str, dict[str, str]]:
    """Return the rows of columns.tsv by name."""
    lines = Path(__file__).with_name("columns.tsv").read_text("utf-8").splitlines()
    rows = csv.DictReader(lines, delimiter="\t", restval="", quoting=csv.QUOTE_NONE)
    return {row["name"]: row for row in rows}


def describe(table: str, names: str) -> tuple[Column, ...]:
    """
    Return columns of a table as columns.tsv describes them, those in parentheses for programs only.

    A row TABLE.NAME, if people see the column differently in a table, precedes the row NAME.
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
        text=(row["terminal"], int(row["width"])) if row["width"] else None,
        small="small" in row["shown"],
    )


@dataclass(frozen=True)
class Table:
    """A table: its columns, and the function that computes its rows."""

    name: str  # name of the file, without ".csv"
    title: str
    columns: Any  # names for describe(), or a tuple of columns, or a function of the report
    frame: Callable[[Any], Any]  # the report -> a DataFrame, which may lack columns
    shade: str = ""  # column of verdicts by which a page shades rows
    about: str = ""  # for the manual page: sentences

    def __post_init__(self) -> None:
        if isinstance(self.columns, str):
            object.__setattr__(self, "columns", describe(self.name, self.columns))


def number(
    value: float, decimals: int = 0, *, percent: bool = False, small: bool = False,
    unknown: str = "-",
) -> str:
    """
    Format a number for people: never as -0, and as `unknown` if it is not finite.

    `percent` shows 100 times the value; `small` shows a value that would round to 0 as 1.2e-09.
    """
    value = 100 * value if percent else value
    if not math.isfinite(value):
        return unknown

    digits = f"{value:.{decimals}f}"
    if float(digits) != 0:
        return digits
    shows_small = small and 0 < abs(value) < 0.5 * 10.0**-decimals
    return f"{value:.1e}" if shows_small else digits.removeprefix("-")


def page_number(value: float, decimals: int = 0, *, percent: bool = False) -> str:
    """Format a number for a page: with a minus and a dash, and as 1.2e-09 instead of 0."""
    small = abs(100 * value if percent else value) < 1e-3
    digits = number(value, decimals, percent=percent, small=small, unknown="\u2013")
    return "\u2212" + digits[1:] if digits.startswith("-") else digits


# Besides control characters, XML cannot have two codes that are not characters, and bytes that are
# not UTF-8. Each byte of them is shown as a question mark.
_INVALID: dict[int, str] = (
    dict.fromkeys((0xFFFE, 0xFFFF), "???") | dict.fromkeys(range(0xDC80, 0xDD00), "?")
)
_PAGE = _INVALID | dict.fromkeys(b"\n\t", " ")
_MARKDOWN = str.maketrans(
    {mark: "\\" + mark for mark in "|\\`*_<>&[]"} | dict.fromkeys("\n\r\t", " ")
)
_JSON: dict[int, str] = (
    {code: f"\\u{code:04x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
    | dict.fromkeys(range(0xDC80, 0xDD00), "\\ufffd")
    | {ord('"'): '\\"', ord("\\"): "\\\\"}
)


def page_text(text: str) -> str:
    """Replace the characters of a text that a page cannot have. Does not escape it."""
    return printable(text.translate(_PAGE))


def name_text(name: str, width: int) -> str:
    """Return a name in this width, cut on the left: the end of a path says more."""
    name = printable(name.translate(_INVALID), " ")
    if len(name) > width:
        name = ".." + name[len(name) - width + 2 :]
    return name.ljust(width)


def csv_text(text: str) -> str:
    """Return a text as a cell of CSV, in quotes if it needs them."""
    if not any(mark in text for mark in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def json_text(value: object) -> str:
    """
    Return a document of dictionaries, lists, texts, numbers and sheets as JSON.

    A number has as many digits as identify it, a number of a sheet has 12; unknown ones are null.
    """
    return _json(value, "\n") + "\n"


def _json(value: object, line: str) -> str:
    if isinstance(value, Sheet):
        objects = zip(*value._members()) if len(value) else ()
        return _json_list("[]", (_json_list("{}", one, line + "  ") for one in objects), line)
    if isinstance(value, Mapping):
        members = (f"{_json_quote(key)}: {_json(one, line + '  ')}" for key, one in value.items())
        return _json_list("{}", members, line)
    if isinstance(value, (list, tuple)):
        return _json_list("[]", (_json(one, line + "  ") for one in value), line)
    if isinstance(value, str):
        return _json_quote(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return _json_number(float(value))  # type: ignore[arg-type]


def _json_list(brackets: str, items: Iterable[str], line: str) -> str:
    inner = ("," + line + "  ").join(items)
    return brackets[0] + line + "  " + inner + line + brackets[1] if inner else brackets


def _json_quote(text: str) -> str:
    return '"' + text.translate(_JSON) + '"'


def _json_number(value: float) -> str:
    """Return the shortest of 15 to 17 digits that identify a number."""
    if not math.isfinite(value):
        return "null"
    if value == round(value) and abs(value) < 1e15:
        return f"{value + 0.0:.0f}"  # never -0
    return next(text for digits in (15, 16, 17) if float(text := f"{value:.{digits}g}") == value)


def _digits(value: float, unknown: str = "") -> str:
    return f"{value:.12g}" if math.isfinite(value) else unknown


def _cells(frame: Any, name: str) -> list[Cell]:
    """Return a column of a frame as texts and floats; NaN if it is missing."""
    if name not in frame.columns:
        return [math.nan] * len(frame)
    column = frame[name]
    if column.dtype == bool:
        return ["yes" if value else "no" for value in column.tolist()]
    if column.dtype != object:
        return [float(value) for value in column.tolist()]

    words: dict[object, Cell] = {None: math.nan, True: "yes", False: "no"}
    return [
        value if isinstance(value, str)
        else words[value] if value is None or isinstance(value, bool)
        else float(value)
        for value in column.tolist()
    ]


@dataclass(frozen=True)
class View:
    """What people see of a sheet. A heading and a cell are a text and whether it is flush left."""

    title: str
    headings: list[tuple[str, bool]]
    rows: list[list[tuple[str, bool]]]
    shades: list[str]  # for each row; '' if not shaded


class Sheet:
    """
    A table with its rows.

    `prefix` is the beginning of texts, such as the folder of all records, that people need not see.
    """

    def __init__(self, table: Table, frame: Any, prefix: str = "") -> None:
        self.table = table
        self.frame = frame
        self.prefix = prefix
        self._columns = [_cells(frame, column.name) for column in table.columns]

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        return f"<Sheet {self.table.name}: {len(self)} rows>"

    def _repr_html_(self) -> str:
        return self.html()

    def known(self, name: str) -> list[str]:
        """Return the known values of a column."""
        names = [column.name for column in self.table.columns]
        cells = filter(_is_known, self._columns[names.index(name)])
        return [cell if isinstance(cell, str) else _digits(cell) for cell in cells]

    def csv(self) -> str:
        """Return all columns as CSV."""
        cells = [
            [csv_text(cell) if isinstance(cell, str) else _digits(cell) for cell in column]
            for column in self._columns
        ]
        header = ",".join(column.name for column in self.table.columns)
        return "\n".join([header, *map(",".join, zip(*cells))]) + "\n"

    def json(self) -> str:
        """Return a list of objects, whose members have the names of the columns."""
        return json_text(self)

    def _members(self) -> list[list[str]]:
        """Return the members of the objects in JSON, by column."""
        members = []
        for column, cells in zip(self.table.columns, self._columns):
            name = _json_quote(column.name) + ": "
            members.append([
                name + (_digits(cell, "null") if not isinstance(cell, str)
                        else _json_quote(cell) if cell else "null")
                for cell in cells
            ])
        return members

    def markdown(self) -> str:
        """Return the columns for people or, if all are for programs, all columns by name."""
        shown = self._shown()
        if not any(column.heading for column in self.table.columns):
            shown = list(range(len(self._columns)))

        columns = []
        for at in shown:
            column, cells = self.table.columns[at], self._columns[at]
            flush = "---" if cells and isinstance(cells[0], str) else "---:"
            heading = (column.heading or column.name).translate(_MARKDOWN)
            columns.append([heading, flush, *(self._markdown_cell(column, one) for one in cells)])
        rows = zip(*columns) if columns else [()] * (len(self) + 2)
        return "".join("".join(f"| {cell} " for cell in row) + "|\n" for row in rows)

    def _markdown_cell(self, column: Column, cell: Cell) -> str:
        if isinstance(cell, str):
            return cell.removeprefix(self.prefix).translate(_MARKDOWN)
        if column.heading:
            return number(
                cell, column.decimals, percent=column.percent, small=column.small, unknown=""
            )
        return _digits(100 * cell if column.percent else cell)

    def text(self, title: str = "") -> str:
        """Return a title and the columns for the terminal; nothing without rows."""
        if len(self) == 0:
            return ""
        shown = [at for at, column in enumerate(self.table.columns) if column.text]
        lefts = [self._is_left(at) for at in shown]

        columns = []
        for at, left, before, after in zip(
            shown, lefts, [True, *lefts[:-1]], [*lefts[1:], False]
        ):
            # A gap separates a column that is flush left from its neighbors.
            gap_before, gap_after = int(left and not before), int(left and after)
            columns.append(self._text_column(at, left, gap_before, gap_after))
        rows = zip(*columns) if columns else [()] * (len(self) + 1)
        return f"\n{title or self.table.title}\n" + "".join("".join(row) + "\n" for row in rows)

    def _is_left(self, at: int) -> bool:
        """Return whether a column of the terminal is flush left: text, unless it is narrow."""
        text = self.table.columns[at].text
        return text is not None and isinstance(self._columns[at][0], str) and text[1] >= 10

    def _text_column(self, at: int, left: bool, before: int, after: int) -> list[str]:
        """Return the heading and the cells of a column of the terminal."""
        column = self.table.columns[at]
        heading, width = column.text or ("", 0)
        inner = width - before - after

        if left:
            lines = [heading[:inner].ljust(inner)]
        else:
            lines = [heading[: inner - (at > 0)].rjust(inner)]
        for cell in self._columns[at]:
            if isinstance(cell, str):
                lines.append(name_text(cell.removeprefix(self.prefix), inner))
            else:
                digits = number(cell, column.decimals, percent=column.percent, small=column.small)
                lines.append(" " + digits.rjust(width - 1))
        return [" " * before + line + " " * after for line in lines]

    def view(self, only: str | None = None) -> View:
        """
        Return what people see: all rows or, with `only`, the rows whose first cell is this text,
        without their first column.
        """
        rows = [
            row for row in range(len(self)) if only is None or self._columns[0][row] == only
        ]
        shown = [at for at in self._shown() if only is None or at > 0]
        columns = [[self._view_cell(at, row) for row in rows] for at in shown]
        headings = [
            (self.table.columns[at].heading, any(is_text for _, is_text in cells))
            for at, cells in zip(shown, columns)
        ]
        return View(
            title=self.table.title,
            headings=headings,
            rows=[list(row) for row in zip(*columns)] if columns else [[] for _ in rows],
            shades=self._shades(rows),
        )

    def _view_cell(self, at: int, row: int) -> tuple[str, bool]:
        column, cell = self.table.columns[at], self._columns[at][row]
        if isinstance(cell, str):
            return cell.removeprefix(self.prefix), True
        return page_number(cell, column.decimals, percent=column.percent), False

    def _shades(self, rows: Sequence[int]) -> list[str]:
        names = [column.name for column in self.table.columns]
        if self.table.shade not in names:
            return [""] * len(rows)
        verdicts = self._columns[names.index(self.table.shade)]
        return [verdict if isinstance(verdict := verdicts[row], str) else "" for row in rows]

    def html(self, only: str | None = None) -> str:
        """Return a table for a page; `only` as in view()."""
        from .page import table_html

        return table_html(self.view(only))

    def _shown(self) -> list[int]:
        """Return the columns that people see."""
        return [
            at
            for at, (column, cells) in enumerate(zip(self.table.columns, self._columns))
            if column.heading and (not column.if_known or any(map(_is_known, cells)))
        ]


def _is_known(cell: Cell) -> bool:
    return cell != "" if isinstance(cell, str) else math.isfinite(cell)
