# SPDX-License-Identifier: Apache-2.0
"""What the commands print and write: findings and tables as text, CSV, JSON and a page."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import __version__, page
from ..outputs import write_whole
from ..tables import Column, Sheet, Table, json_text, number
from ..text import UserError, number_of, read_json, reason, wrap
from .results import KEPT, SHOWN, Warnings

if TYPE_CHECKING:
    from markupsafe import Markup

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

    def show(cell: Any, column: Column) -> str:
        if isinstance(cell, (str, bool)):
            return cell if isinstance(cell, str) else "yes" if cell else "no"
        return number(cell, column.decimals, percent=column.percent)

    columns = []
    for column in table.table.columns if len(table) else ():
        if column.heading:
            cells = table.frame[column.name].tolist()
            lines = [column.heading, *(show(cell, column) for cell in cells)]
            width, is_text = max(map(len, lines)), isinstance(cells[0], (str, bool))
            columns.append([f"  {line:{'<' if is_text else '>'}{width}}" for line in lines])
    rows = "".join("".join(row) + "\n" for row in zip(*columns))
    return f"\n{table.table.title}\n{rows}" if rows else ""


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
    pictures: list[page.Picture] = field(default_factory=list)
    beside: list[page.Picture] = field(default_factory=list)  # next to the findings

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
        document: dict[str, object] = {"schema": SCHEMA, "ssprofile": __version__}
        document["title"] = self.title
        if self.base:
            document["base"] = self.base
        document["findings"] = self.findings
        document.update((one.table.name, one) for one in self.sheets)
        document["warnings"] = list(self.warnings.lines(KEPT))
        return json_text(document) + "\n"

    def _page(self) -> page.Page:
        """Return the findings with pictures and narrow tables, then the other tables."""

        def is_narrow(one: Sheet) -> bool:
            headings = sum(bool(column.heading) for column in one.table.columns)
            return headings <= _COLUMNS_BELOW_MAX and len(one) <= page.ROWS_OPEN_MAX

        parts: list[page.Part] = []
        if self.base:
            more = ". A ratio above 1 means faster than the base."
            parts.append(("Base: ", page.Bold(self.base), more))
        found = page.Section("Findings", [self.findings])
        narrow = filter(is_narrow, self.sheets)
        parts.append(page.Columns([found, *self.pictures, *narrow], self.beside))
        parts += [one for one in self.sheets if not is_narrow(one)]
        notes = [page.Note(line) for line in self.warnings.lines(SHOWN)]
        if len(notes) > _NOTES_OPEN_MAX:
            parts.append(page.Fold(f"Warnings: {len(notes)} lines", notes))
        else:
            parts += notes
        return page.Page(self.title, parts, program=f"ssprofile {__version__}")


def picture(svg: Markup, caption: str, how: str) -> page.Picture:
    return page.Picture(svg, caption, how, width=560)


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
        reads = f"reads schemas up to {SCHEMA}: use a later version"
        raise UserError(f"{shown} has schema {schema:g}, and this version, {__version__}, {reads}")
    return document
