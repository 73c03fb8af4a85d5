# SPDX-License-Identifier: Apache-2.0
"""
Figures published by others, for comparison.

They are tables in a folder: references.csv lists the tables, and names.csv maps workloads of this
project to published ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .contents import Row, parse_rows, read_bytes
from .inputs import number
from .text import UserError

KEYS_MAX = 3
PROGRAM = "ssreport"

# Next to this package, in the source and in the installation
FOLDER = str(Path(__file__).resolve().parents[2] / "experiments/published")


class Published:
    """Published figures. A word of this project, such as pi-even or serial, means the same as the
    published pi_even or dacapo/fop.

    taus   the mean length of a round of each table, in seconds; NaN if irrelevant
    """

    def __init__(self, folder: str = "", notes: list[str] | None = None) -> None:
        self.taus: dict[str, float] = {}
        self._notes = [] if notes is None else notes
        self._names: dict[str, str] = {}
        self._cells: dict[tuple[str, str], dict[tuple[str, ...], str]] = {}
        if folder and Path(folder).is_dir():
            for row in reversed(self._read(folder, "names.csv", ("ours", "theirs"))):
                self._names[row["ours"]] = row["theirs"]  # of equal names, the first counts
            for row in self._read(folder, "references.csv", ("name", "program", "keys")):
                if row["program"] == PROGRAM and 1 <= number(row["keys"]) <= KEYS_MAX:
                    self.taus[row["name"]] = number(row.get("tau_seconds", ""))
                    self._add(folder, row["name"], int(number(row["keys"])))
        elif folder:
            self._notes.append(f"no published figures: {folder} is not a folder")

    def _read(self, folder: str, name: str, needed: Sequence[str] = ()) -> list[Row]:
        """Read the valid rows of a table; none if it cannot be read."""
        try:
            rows, note = parse_rows(name, read_bytes(folder, name), needed)
        except UserError as error:
            rows, note = [], f"published figures: {error}"
        self._notes += [note] if note else []
        return rows

    def _add(self, folder: str, table: str, count: int) -> None:
        for row in self._read(folder, f"{table}.csv"):
            words = [*map(_plain, row.values())]
            for column, text in [*row.items()][count:]:
                of = self._cells.setdefault((table, _plain(column)), {})
                of.setdefault(tuple(words[:count]), text)

    def _theirs(self, word: str) -> str:
        return _plain(self._names.get(word, word))

    def find(self, table: str, keys: Sequence[str], column: str, within: float = 0) -> str:
        """
        Return the cell with these keys, which are words of either side; '' if it is absent.

        If the last key is a number, the nearest one in the table counts that is at most `within`
        away.
        """
        cells = self._cells.get((table, self._theirs(column)), {})
        wanted = tuple(map(self._theirs, keys))
        if not cells or not all(wanted) or wanted in cells:
            return cells.get(wanted, "")
        away = {k: abs(number(k[-1]) - number(keys[-1])) for k in cells if k[:-1] == wanted[:-1]}
        near = [key for key, distance in away.items() if distance <= within]
        return cells[min(near, key=lambda key: away[key])] if near else ""

    def number(self, table: str, keys: Sequence[str], column: str, within: float = 0) -> float:
        """Return the number of a cell; NaN if it is missing."""
        return number(self.find(table, keys, column, within))

    def names(self, table: str, keys: Sequence[str], column: str, word: str, within: float) -> bool:
        """Return whether a cell that lists words has this one."""
        listed = self.find(table, keys, column, within).split()
        return self._theirs(word) in map(_plain, listed)

    def last_keys(self, table: str) -> list[float]:
        """Return the numbers that are the last keys of a table."""
        return [number(keys[-1]) for (of, _), cells in self._cells.items() if of == table
                for keys in cells]


def _plain(word: str) -> str:
    return word.replace("_", "-")
