# SPDX-License-Identifier: Apache-2.0
"""What the commands print and write: findings and tables as text, CSV, JSON and a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import __version__, page
from ..cli import complain
from ..outputs import write_files
from ..tables import Column, Sheet, Table, json_text, number
from ..text import UserError, number_of, read_json, wrap
from .results import KEPT, SHOWN, Warnings

if TYPE_CHECKING:
    from markupsafe import Markup

SCHEMA = 1  # of the documents, and of profile.json
_NOTES_OPEN_MAX = 6  # more warnings are folded
_NAMES_MAX = 20  # in a sentence


def sheet(name: str, title: str, columns: Sequence[Column], rows: Any) -> Sheet:
    return Sheet(Table(name, title, tuple(columns), pd.DataFrame), pd.DataFrame(rows))


def findings_text(findings: Iterable[str]) -> str:
    return "".join(f"- {wrap(one, 2)}\n" for one in findings)


def sheet_text(table: Sheet) -> str:
    """Return a table for a terminal, with columns as wide as their cells."""
    columns = []
    for column in table.table.columns if len(table) else ():
        if column.heading:
            cells = table.frame[column.name].tolist()
            is_text = isinstance(cells[0], (str, bool))
            if is_text:
                cells = [{True: "yes", False: "no"}.get(cell, cell) for cell in cells]
            else:
                cells = [number(cell, column.decimals, percent=column.percent) for cell in cells]
            width = max(map(len, [column.heading, *cells]))
            align = "<" if is_text else ">"
            columns.append([f"  {cell:{align}{width}}" for cell in (column.heading, *cells)])
    rows = "".join("".join(row) + "\n" for row in zip(*columns))
    return f"\n{table.table.title}\n{rows}" if rows else ""


def decimals(least: float, most: float) -> int:
    """Return more digits if both numbers are nearly equal."""
    return 4 if most - least < 0.2 else 2


def show_range(least: float, most: float, between: str = ", ") -> str:
    """Return "1.65, 7.10"."""
    digits = decimals(least, most)
    return f"{least:.{digits}f}{between}{most:.{digits}f}"


def listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_MAX
    return ", ".join(names[:_NAMES_MAX]) + (f" and {more} more" if more > 0 else "")


def name_outside(others: pd.DataFrame, digits: str) -> str:
    """Return the end of a sentence: which ratios are outside of an interval."""
    rows = zip(others["benchmark"], others["ratio"])
    names = listed([f"{name} {ratio:{digits}}" for name, ratio in rows])
    return f"; outside: {names}" if names else ""


@dataclass
class Output:
    name: str  # of its files
    title: str
    findings: list[str]
    sheets: list[Sheet]
    base: str = ""
    warnings: Warnings = field(default_factory=Warnings)
    pictures: list[page.Picture] = field(default_factory=list)

    def text(self) -> str:
        return findings_text(self.findings) + "".join(map(sheet_text, self.sheets))

    def write(self, folder: str) -> None:
        files = {f"{one.table.name}.csv": one.csv() if len(one) else None for one in self.sheets}
        files[f"{self.name}.json"] = self._json()
        files[f"{self.name}.html"] = page.render(self._page())
        write_files(folder, files)

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
        more = ". A ratio above 1 means faster than the base."
        base: list[page.Part] = [("Base: ", page.Bold(self.base), more)] if self.base else []
        findings = page.Section("Findings", [self.findings])
        notes: list[page.Part] = [page.Note(line) for line in self.warnings.lines(SHOWN)]
        if len(notes) > _NOTES_OPEN_MAX:
            notes = [page.Fold(f"Warnings: {len(notes)} lines", notes)]
        parts = [*base, findings, *self.pictures, *self.sheets, *notes]
        return page.Page(self.title, parts, program=f"ssprofile {__version__}")


def picture(svg: Markup, caption: str, how: str) -> page.Picture:
    return page.Picture(svg, caption, how, width=560)


def print_warnings(warnings: Warnings) -> None:
    for line in warnings.lines(SHOWN):
        complain("ssprofile", f"warning: {line}")


def read_document(folder: str, name: str, shown: str, hint: str = "") -> Any:
    """Read a document of this program. Refuses those of later versions."""
    document = read_json(folder, name, hint)
    schema = number_of(document, "schema")
    if schema > SCHEMA:
        reads = f"reads schemas up to {SCHEMA}: use a later version"
        raise UserError(f"{shown} has schema {schema:g}, and this version, {__version__}, {reads}")
    return document
