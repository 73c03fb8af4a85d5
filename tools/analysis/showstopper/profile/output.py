# SPDX-License-Identifier: Apache-2.0
"""What the commands print and write: findings and tables as text, CSV, JSON and a page."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from .. import __version__, page
from ..outputs import write_whole
from ..tables import Column, Sheet, Table, json_text, number
from ..text import UserError, number_of, read_json, reason, wrap
from .results import KEPT, SHOWN, Warnings

SCHEMA = 1  # of the documents, and of profile.json
_NOTES_OPEN_MAX = 6  # more warnings are folded
_COLUMNS_BELOW_MAX = 6  # tables with more columns use the whole width of the page



def sheet(name: str, title: str, columns: Sequence[Column], rows: Any) -> Sheet:
    return Sheet(Table(name, title, tuple(columns), pd.DataFrame), pd.DataFrame(rows))


def findings_text(findings: Iterable[str]) -> str:
    """Return findings, each after a dash, in lines of at most 79 columns."""
    return "".join(f"- {wrap(one, 2)}\n" for one in findings)


def sheet_text(table: Sheet) -> str:
    """Return a table for a terminal, with columns as wide as their cells."""
    columns = []
    for column in table.table.columns:
        if not column.heading or not len(table):
            continue
        cells = list(table.frame[column.name])
        is_text = isinstance(cells[0], (str, bool))
        words = {True: "yes", False: "no"}
        shown = [
            cell if isinstance(cell, str)
            else words[cell] if is_text
            else number(cell, column.decimals, percent=column.percent)
            for cell in cells
        ]
        width = max(map(len, [column.heading, *shown]))
        columns.append([f"  {one:{'<' if is_text else '>'}{width}}" for one in (column.heading, *shown)])
    lines = "".join("".join(row) + "\n" for row in zip(*columns))
    return f"\n{table.table.title}\n{lines}" if len(table) else ""


def show_range(least: float, most: float) -> str:
    """Return "[1.65, 7.10]", with more digits if both numbers are nearly equal."""
    digits = decimals(least, most)
    return f"[{least:.{digits}f}, {most:.{digits}f}]"


def decimals(least: float, most: float) -> int:
    return 4 if most - least < 0.2 else 2


@dataclass
class Output:
    """The result of a command."""

    name: str  # of its files
    title: str
    findings: list[str]
    sheets: list[Sheet]
    base: str = ""
    warnings: Warnings = field(default_factory=Warnings)
    pictures: Sequence[page.Picture] = ()
    beside: Sequence[page.Picture] = ()  # shown next to the findings

    def text(self) -> str:
        return findings_text(self.findings) + "".join(map(sheet_text, self.sheets))

    def write(self, folder: str) -> None:
        """Write a CSV file for each sheet with rows, a document and a page."""
        files: dict[str, str] = {
            f"{one.table.name}.csv": one.csv() if len(one) else "" for one in self.sheets
        }
        files[f"{self.name}.json"] = self._json()
        files[f"{self.name}.html"] = page.render(self._page())
        try:
            os.mkdir(folder)
        except FileExistsError:
            pass
        except OSError as error:
            raise UserError(f"{folder}: {reason(error)}") from None
        for name, text in files.items():
            write_file(f"{folder}/{name}", text)

    def _json(self) -> str:
        base = {"base": self.base} if self.base else {}
        document: dict[str, object] = {"schema": SCHEMA, "ssprofile": __version__, "title": self.title}
        document |= {**base, "findings": self.findings}
        document |= {one.table.name: one for one in self.sheets}
        document["warnings"] = list(self.warnings.lines(KEPT))
        return json_text(document) + "\n"

    def _page(self) -> page.Page:
        is_narrow = [
            sum(bool(column.heading) for column in one.table.columns) <= _COLUMNS_BELOW_MAX
            and len(one) <= page.ROWS_OPEN_MAX
            for one in self.sheets
        ]
        found = page.Section("Findings", [self.findings])
        narrow = [one for one, below in zip(self.sheets, is_narrow) if below]
        wide = [one for one, below in zip(self.sheets, is_narrow) if not below]
        notes = [page.Note(line) for line in self.warnings.lines(SHOWN)]
        parts: list[page.Part] = []
        if self.base:
            base = ("Base: ", page.Bold(self.base), ". A ratio above 1 means faster than the base.")
            parts.append(base)
        parts.append(page.Columns([found, *self.pictures, *narrow], self.beside))
        parts += wide
        many = len(notes) > _NOTES_OPEN_MAX
        parts += [page.Fold(f"Warnings: {len(notes)} lines", notes)] if many else notes
        return page.Page(self.title, parts, program=f"ssprofile {__version__}")


def write_file(path: str, text: str) -> None:
    """Write a file; without a text, remove that of an earlier call."""
    try:
        if text:
            write_whole(path, text)
        elif os.path.lexists(path):
            os.unlink(path)
    except OSError as error:
        raise UserError(f"{path}: {reason(error)}") from None


def print_warnings(warnings: Warnings) -> None:
    for line in warnings.lines(SHOWN):
        print(f"ssprofile: warning: {line}", file=sys.stderr)



def read_document(folder: str, name: str, shown: str, hint: str = "") -> Any:
    """Read a document of this program. Refuses those of later versions."""
    document = read_json(folder, name, hint)
    schema = number_of(document, "schema")
    if schema > SCHEMA:
        reads = f"and this version, {__version__}, reads schemas up to {SCHEMA}: use a later version"
        raise UserError(f"{shown} has schema {schema:g}, {reads}")
    return document
