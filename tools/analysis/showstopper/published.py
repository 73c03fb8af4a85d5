# SPDX-License-Identifier: Apache-2.0
"""
Figures published by others, for comparison.

They are tables in a folder: references.csv lists the tables, and names.csv maps workloads of this
project to published ones.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from . import text
from .text import Notes, UserError

KEYS_MAX = 3
REFERENCE = "name program keys tau_seconds".split()


class Cell(NamedTuple):
    """A value of a table; its text is empty if it was not published."""

    table: str
    keys: tuple[str, ...]
    column: str
    text: str

    @property
    def number(self) -> float:
        return number_of(self.text)


@dataclass
class Published:
    """The tables that a program shows."""

    references: Any = field(default_factory=functools.partial(pd.DataFrame, columns=REFERENCE))
    names: dict[str, str] = field(default_factory=dict)  # ours -> theirs
    cells: list[Cell] = field(default_factory=list)

    @cached_property
    def taus(self) -> Any:
        """The mean length of a round of each table, in seconds; NaN if irrelevant."""
        return self.references.set_index("name")["tau_seconds"].map(number_of)

    @cached_property
    def _by_column(self) -> dict[tuple[str, str], list[Cell]]:
        found: dict[tuple[str, str], list[Cell]] = {}
        for cell in self.cells:
            found.setdefault((cell.table, _plain(cell.column)), []).append(cell)
        return found

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
        if not column or not all(keys):
            return None
        cells = self._by_column.get((name, _plain(self.names.get(column, column))), [])
        away = [(self._distance(cell.keys, keys), cell) for cell in cells]
        near = [pair for pair in away if pair[0] <= within]
        return min(near, key=lambda pair: pair[0])[1] if near else None

    def _distance(self, theirs: Sequence[str], ours: Sequence[str]) -> float:
        """Return the distance of the last keys: 0 if they are the same word, NaN if they are not
        numbers, or if another key differs."""
        if not all(map(self.is_word, theirs[:-1], ours[:-1])):
            return math.nan
        if self.is_word(theirs[-1], ours[-1]):
            return 0
        return abs(number_of(theirs[-1]) - number_of(ours[-1]))

    def number(self, name: str, keys: Sequence[str], column: str, within: float = 0) -> float:
        """Return the number of a cell; NaN if it is missing."""
        cell = self.find(name, keys, column, within)
        return cell.number if cell else math.nan


def _plain(word: str) -> str:
    return word.replace("_", "-")


def number_of(field: str) -> float:
    """Return the number in a cell; NaN if it is not a number."""
    value = text.number(field)
    return math.nan if value is None else value


def folder() -> str:
    """Return the folder next to this package, in the source and in the installation."""
    package = os.path.dirname(os.path.realpath(__file__))
    return os.path.join(os.path.dirname(os.path.dirname(package)), "experiments", "published")


def read(folder: str, program: str, notes: Notes) -> Published:
    """Read the tables that a program shows. Adds a note for each that cannot be read."""
    try:
        os.listdir(folder)
    except OSError as error:
        notes.add(f"no published figures: {folder}: {text.reason(error)}")
        return Published()
    rows = pd.DataFrame(_read(folder, "references.csv", REFERENCE, notes), dtype=object)
    names = _read(folder, "names.csv", ("ours", "theirs"), notes)
    pairs = reversed([*zip(names["ours"], names["theirs"])])  # of equal names, the first counts
    published = Published(rows[rows["program"] == program], dict(pairs))
    for one in published.references.itertuples():
        fields = _read(folder, f"{one.name}.csv", None, notes)
        for row in zip(*fields.values()):
            keys = int(float(one.keys))
            cells = zip([*fields][keys:], row[keys:])
            published.cells += [Cell(one.name, row[:keys], *cell) for cell in cells]
    return published


def _read(
    folder: str, name: str, columns: Sequence[str] | None, notes: Notes
) -> dict[str, list[str]]:
    """Read the valid rows of a table; none if it cannot be read."""
    try:
        table = text.read_texts(folder, name, columns)
    except UserError as error:
        notes.add(f"published figures: {error}")
        return {column: [] for column in columns or ()}
    valid = np.ones(len(table), dtype=bool)
    if columns is REFERENCE:
        keys, _ = (table.numbers(column, valid) for column in ("keys", "tau_seconds"))
        valid &= (keys >= 1) & (keys <= KEYS_MAX)
        table.refuse(valid)
    table.note(notes)
    return {name: list(np.array(of, dtype=object)[valid]) for name, of in table.fields.items()}
