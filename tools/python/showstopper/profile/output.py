# SPDX-License-Identifier: Apache-2.0
"""Outputs of the commands: findings and tables as text, CSV, JSON and a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from .. import __version__
from ..contents import number_of, read_json
from ..outputs import write_files
from ..report import page
from ..report.figures import Picture
from ..report.tables import Sheet, to_json
from ..text import UserError, complain, findings_text
from .results import KEPT, SCHEMA, SHOWN, Warnings

_NOTES_OPEN_MAX = 6  # more warnings are folded
_NAMES_MAX = 20  # in a sentence


def decimals(least: float, most: float) -> int:
    """Return the number of decimals to show: more if both numbers are nearly equal."""
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
    pictures: Sequence[Picture] = ()

    def text(self) -> str:
        base = f"Base: {self.base}\n" if self.base else ""
        return base + findings_text(self.findings) + "".join(one.text() for one in self.sheets)

    def write(self, folder: str) -> None:
        files = {f"{one.name}.csv": one.csv() if len(one) else None for one in self.sheets}
        tables = [name for name, text in files.items() if text]
        files[f"{self.name}.json"] = self._json()
        files[f"{self.name}.html"] = page.render(self._page(tables))
        write_files(folder, files)

    def _json(self) -> str:
        document: dict[str, object] = {"schema": SCHEMA, "ssprofile": __version__}
        document["title"] = self.title
        if self.base:
            document["base"] = self.base
        document["findings"] = self.findings
        document.update((one.name, one.objects()) for one in self.sheets)
        document["warnings"] = [*self.warnings.lines(KEPT)]
        return to_json(document)

    def _page(self, files: Sequence[str]) -> page.Page:
        base = f"Base: {self.base}. A ratio above 1 means faster than the base."
        sections = [page.Section("Findings", [self.findings])]
        if self.pictures:
            sections.append(page.Section("Pictures", [[*map(page.draw, self.pictures)]]))
        sections.append(page.Section("Tables", [*map(page.folded, filter(len, self.sheets))]))
        warnings = [*self.warnings.lines(SHOWN)]
        notes = [("", line) for line in warnings]
        if len(notes) > _NOTES_OPEN_MAX:
            fold = page.Section(f"{len(notes)} lines", [warnings], fold=True)
            sections.append(page.Section("Warnings", [fold]))
            notes = []
        below, program = base if self.base else "", f"ssprofile {__version__}"
        return page.Page(self.title, sections, "", below, notes, files, program)


def print_warnings(warnings: Warnings) -> None:
    for line in warnings.lines(SHOWN):
        complain("ssprofile", f"warning: {line}")


def read_document(folder: str, name: str, hint: str = "") -> Any:
    """Read a document of this program. Refuses those of later versions."""
    document = read_json(folder, name, hint)
    schema = number_of(document, "schema")
    if schema > SCHEMA:
        reads = f"reads schemas up to {SCHEMA}: use a later version"
        raise UserError(f"{name} has schema {schema:g}, and this version, {__version__}, {reads}")
    return document
