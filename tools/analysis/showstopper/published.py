# SPDX-License-Identifier: Apache-2.0
"""
Figures published by others, for comparison.

They are tables in a folder: references.csv lists and describes the tables, and names.csv maps
workloads of this project to published ones.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from . import text
from .text import Notes, UserError

KEYS_MAX = 3
REFERENCE = "name program source tables what beside note keys tau_seconds".split()


@dataclass(frozen=True)
class Cell:
    """A value of a table; its text is empty if it was not published."""

    keys: tuple[str, ...]
    column: str
    text: str

    @property
    def number(self) -> float:
        return number_of(self.text)


@dataclass(frozen=True)
class Reference:
    """A row of references.csv: a published table, with its cells."""

    name: str  # of the file, without ".csv"; '' without values
    source: str  # publication
    tables: str  # number of the table in the publication
    what: str
    beside: str  # the table of the report that also shows its values
    note: str
    keys: int  # leading columns, which identify a row
    tau: float  # mean length of a round, seconds; NaN if irrelevant
    cells: list[Cell] = field(default_factory=list)

    @cached_property
    def by_column(self) -> dict[str, list[Cell]]:
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            found.setdefault(_plain(cell.column), []).append(cell)
        return found

    @property
    def count(self) -> int:
        return sum(math.isfinite(cell.number) for cell in self.cells)


@dataclass
class Published:
    """The tables that a program prints, and which of their cells it has printed."""

    references: list[Reference] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # ours -> theirs
    printed: set[tuple[str, Cell]] = field(default_factory=set)

    def table(self, name: str) -> Reference | None:
        return next((one for one in self.references if one.name == name), None)

    def is_word(self, theirs: str, ours: str) -> bool:
        """Return whether a published word means the same as one of this project: pi_even means
        pi-even, and dacapo/fop means serial."""
        return _plain(theirs) == _plain(self.names.get(ours, ours))

    def find(self, name: str, keys: Sequence[str], column: str, within: float = 0) -> Cell | None:
        """
        Return the cell with these keys, which are words of either side; None if it is absent.

        If the last key is a number, the nearest one in the table counts that is at most `within`
        away.
        """
        table = self.table(name)
        if table is None or not column or not all(keys):
            return None
        cells = table.by_column.get(_plain(self.names.get(column, column)), [])
        away = [(self._distance(cell.keys, keys), cell) for cell in cells]
        near = [pair for pair in away if pair[0] <= within]
        return min(near, key=lambda pair: pair[0])[1] if near else None

    def _distance(self, theirs: Sequence[str], ours: Sequence[str]) -> float:
        """Return the distance of the last keys: 0 if they are the same word, NaN if they are no
        numbers, or if another key differs."""
        if not all(map(self.is_word, theirs[:-1], ours[:-1])):
            return math.nan
        if self.is_word(theirs[-1], ours[-1]):
            return 0
        return abs(number_of(theirs[-1]) - number_of(ours[-1]))

    def print(self, name: str, keys: Sequence[str], column: str, within: float = 0) -> float:
        """Return the number of a cell, and count it as printed; NaN if it is absent."""
        cell = self.find(name, keys, column, within)
        if cell is None:
            return math.nan
        self.printed.add((name, cell))
        return cell.number

    def range(self, name: str, key: str) -> tuple[float, float]:
        """Return the range of all numbers whose first key is this word; NaN without any."""
        table = self.table(name)
        cells = table.cells if table and key else []
        numbers = [cell.number for cell in cells if self.is_word(cell.keys[0], key)]
        known = [number for number in numbers if math.isfinite(number)]
        return min(known, default=math.nan), max(known, default=math.nan)

    def count_printed(self, name: str) -> int:
        return sum(of == name and math.isfinite(cell.number) for of, cell in self.printed)


def _plain(word: str) -> str:
    return word.replace("_", "-")


def number_of(field: str) -> float:
    """Return the number in a cell; NaN if it is none."""
    value = text.number(field)
    return math.nan if value is None else value


def folder() -> str:
    """Return the folder beside this package, in the source and in the installation."""
    package = os.path.dirname(os.path.realpath(__file__))
    return os.path.join(os.path.dirname(os.path.dirname(package)), "experiments", "published")


def read(folder: str, program: str, notes: Notes) -> Published:
    """Read the tables that a program prints. Adds a note for each that cannot be read."""
    try:
        os.listdir(folder)
    except OSError as error:
        notes.add(f"no published figures: {folder}: {text.reason(error)}")
        return Published()
    published = Published(list(_references(folder, program, notes)))
    names = _read(folder, "names.csv", ("ours", "theirs"), notes)
    for ours, theirs in zip(*names.fields.values()):
        published.names.setdefault(ours, theirs)
    for one in published.references:
        if one.name:
            one.cells.extend(_cells(_read(folder, f"{one.name}.csv", None, notes), one.keys))
    return published


def _read(folder: str, name: str, columns: Sequence[str] | None, notes: Notes) -> text.Table:
    """Read a table, which is empty if it cannot be read."""
    try:
        table = text.read_table(folder, name, columns)
    except UserError as error:
        notes.add(f"published figures: {error}")
        return text.Table(name)
    if columns is REFERENCE:
        valid = np.ones(len(table), dtype=bool)
        keys, _ = (table.numbers(column, valid) for column in ("keys", "tau_seconds"))
        valid &= (np.array(table.fields["name"]) == "") | ((keys >= 1) & (keys <= KEYS_MAX))
        table.refuse(valid)
        table.fields = {n: list(itertools.compress(f, valid)) for n, f in table.fields.items()}
    table.note(notes)
    return table


def _references(folder: str, program: str, notes: Notes) -> Iterator[Reference]:
    table = _read(folder, "references.csv", REFERENCE, notes)
    for name, of, source, tables, what, beside, note, keys, tau in zip(*table.fields.values()):
        if of == program:
            count = int(float(keys)) if name else 0
            yield Reference(name, source, tables, what, beside, note, count, number_of(tau))


def _cells(table: text.Table, keys: int) -> Iterator[Cell]:
    for row in zip(*table.fields.values()):
        for column, value in list(zip(table.columns, row))[keys:]:
            yield Cell(row[:keys], column, value)
