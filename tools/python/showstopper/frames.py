# SPDX-License-Identifier: Apache-2.0
"""Tables of records as DataFrames. Damaged rows are left out, and named by file and line."""

from __future__ import annotations

import csv
import functools
import io
import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from .contents import has_file, note_damage, read_bytes
from .text import UserError, show

# Columns that are not numbers in any table.
TEXTS = {*"time state when node record trace reason clock cpu outcome status".split()}
MISSING = ["", "-", "nan", "na", "n/a", "null", "none", "NaN", "NA", "N/A", "NULL", "None"]

HEADING_MAX = 1 << 16  # bytes, with the comments before it

Valid = Callable[[pd.DataFrame], Any]


def read_table(
    folder: str,
    name: str,
    notes: list[str],
    needed: Sequence[str] | None,
    optional: Sequence[str] = (),
    valid: Valid | None = None,
) -> pd.DataFrame:
    """
    Read columns of a table, whose order and case do not matter; all of them, as written, if
    `needed` is None.

    Numbers are NaN if they are missing, and so are optional columns. Rows that are damaged, or for
    which `valid` is false, are left out and noted. So is a last line without a newline, which a
    killed run may leave. Raises UserError if the table cannot be read.
    """
    data = read_bytes(folder, name)
    names = _heading(name, data, needed)
    wanted = names if needed is None else [n for n in names if n in (*needed, *optional)]
    rows = _read_plain(data, names, wanted)
    rows = _read_lines(data, names, wanted) if rows is None else rows
    if needed is not None and [*rows] != [*needed, *optional]:
        rows = rows.reindex(columns=[*needed, *optional])
    used = np.full(len(rows), True)
    for column in rows.columns[rows.dtypes.eq(float)]:
        used &= ~np.isinf(rows[column].to_numpy())
    if valid is not None:
        used &= np.asarray(valid(rows), dtype=bool)
    kept = rows if used.all() else rows[used]
    _note(name, data, len(kept), kept.index, notes)
    return kept.reset_index(drop=True)


def read_optional(
    folder: str,
    name: str,
    notes: list[str],
    needed: Sequence[str] | None,
    optional: Sequence[str] = (),
    valid: Valid | None = None,
    unknown: str = "",
) -> pd.DataFrame:
    """Read a table as read_table() does. Return an empty one if the folder or the table is absent
    or, with a note that begins with `unknown`, if the table cannot be read."""
    try:
        if folder and has_file(folder, name):
            return read_table(folder, name, notes, needed, optional, valid)
    except UserError as error:
        notes.append(f"{unknown}: {error}" if unknown else str(error))
    return _empty(*(needed or ()), *optional).copy()


@functools.cache
def _empty(*columns: str) -> pd.DataFrame:
    """Return a table without rows; most records lack many tables."""
    numbers = dict.fromkeys((one for one in columns if one not in TEXTS), float)
    return pd.DataFrame(columns=[*columns]).astype(numbers)


def read_texts(
    name: str, data: bytes, needed: Collection[str], notes: list[str]
) -> pd.DataFrame:
    """Read columns of a table as written, indexed by line number. Damaged rows are noted."""
    rows = _read_cells(data, _heading(name, data, needed))
    _note(name, data, len(rows), rows.index, notes)
    return rows[[*needed]]


def _heading(name: str, data: bytes, needed: Collection[str] | None) -> list[str]:
    """Return the names of the columns."""
    number, text = next(
        ((at, line) for at, line in _lines(data[:HEADING_MAX]) if _is_row(line)), (0, "")
    )
    if not number:
        raise UserError(f"{name} is empty")
    names = [column.strip(' \t\r"') for column in text.split(",")]
    names = names if needed is None else [column.lower() for column in names]
    missing = [column for column in needed or () if column not in names]
    twice = [column for column in needed or () if names.count(column) > 1]
    why = f"no column '{missing[0]}'" if missing else ""
    if missing and len(names) == 1 and re.search("[;\t]", text):
        why = "columns must be separated by commas"
    if twice:
        why = why or f"column '{twice[0]}' appears twice"
    if why:
        raise UserError(f'{name}:{number}:1: {why}, in "{show(text)}"')
    return names


def _lines(data: bytes) -> Iterable[tuple[int, str]]:
    """Return the lines with their numbers."""
    return enumerate(data.decode("utf-8-sig", "surrogateescape").split("\n"), 1)


def _is_row(line: str) -> bool:
    return line.lstrip(" \t\r")[:1] not in ("", "#")


def _read_plain(data: bytes, names: list[str], wanted: list[str]) -> pd.DataFrame | None:
    """Read a table that pandas reads correctly, indexed by line number; None for any other.

    pandas silently fills rows that are too short, and drops the last fields of longer ones.
    """
    is_plain = not any(mark in data for mark in (b'"', b"#", b"\0")) and data.endswith(b"\n")
    if b"\r" in data:
        is_plain &= data.count(b"\r") == data.count(b"\r\n")  # pandas takes others for newlines
    if not is_plain or len({*names}) < len(names):
        return None
    letters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero((letters == ord(",")) | (letters == ord("\n")))
    lines = np.flatnonzero(letters == ord("\n"))
    width = len(names)
    is_even = len(ends) == width * len(lines) and (ends[width - 1 :: width] == lines).all()
    if not is_even or np.diff(lines, prepend=-1).min() == 1:  # an empty line
        return None
    try:
        rows = pd.read_csv(
            io.BytesIO(data),
            header=0,
            names=names,
            usecols=wanted,
            dtype={column: str if column.lower() in TEXTS else float for column in wanted},
            na_values={column: MISSING for column in wanted if column.lower() not in TEXTS},
            keep_default_na=False,
            quoting=csv.QUOTE_NONE,
            index_col=False,
        )
    except ValueError:  # a word instead of a number
        return None
    return rows.set_axis(range(2, len(rows) + 2), axis=0)


def _read_cells(data: bytes, names: list[str]) -> pd.DataFrame:
    """Return the texts of rows that have all columns, indexed by line number."""
    found = {}
    whole = data[: data.rfind(b"\n") + 1]  # the last line may be cut
    for number, line in [(at, line) for at, line in _lines(whole) if _is_row(line)][1:]:
        try:
            cells = next(csv.reader([line.rstrip("\r")], skipinitialspace=True))
        except csv.Error:  # a carriage return inside, or a very long field
            continue
        is_closed = line.count('"') % 2 == 0  # a quote must not continue on the next line
        if len(cells) == len(names) and is_closed and "\0" not in line:
            found[number] = [cell.strip() for cell in cells]
    rows = pd.DataFrame.from_dict(found, orient="index", columns=names, dtype=str)
    return rows.loc[:, ~rows.columns.duplicated()]


def _read_lines(data: bytes, names: list[str], wanted: list[str]) -> pd.DataFrame:
    """Read the rows that are whole, indexed by line number."""
    rows = _read_cells(data, names)[wanted]
    is_whole = pd.Series(True, rows.index)
    for column in [one for one in wanted if one.lower() not in TEXTS]:
        words = rows[column].str.lower()
        is_missing = words.isin(MISSING)
        numbers = pd.to_numeric(words.mask(is_missing), errors="coerce").astype(float)
        rows[column] = numbers
        is_whole &= is_missing | numbers.notna()
    return rows[is_whole]


def _note(name: str, data: bytes, count: int, kept: pd.Index, notes: list[str]) -> None:
    """Note which rows were dropped."""
    if count == data.count(b"\n") - 1 and data.endswith(b"\n"):
        return
    known = {*kept.tolist()}
    rows = [(at, line) for at, line in _lines(data) if _is_row(line)][1:]
    damaged = [(at, line.rstrip()) for at, line in rows if at not in known]
    if damaged:
        notes.append(note_damage(name, damaged))


# Times

_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)|@\d+(\.\d+)?", re.ASCII
)


def moment(text: str) -> float:
    """Return a time of the wall clock in seconds since 1970; NaN if it is invalid."""
    if not _MOMENT.fullmatch(text):
        return math.nan
    if text.startswith("@"):
        return round(float(text[1:]) * 1e9) / 1e9
    try:
        return float(pd.Timestamp(text.upper()).value / 1e9)
    except ValueError:
        return math.nan


def moments(texts: pd.Series) -> pd.Series:
    return texts.map(moment).astype(float)


SILENCE_MAX = 86400.0  # a row this many seconds after the previous one is invalid


def advances(times: npt.ArrayLike) -> Any:
    """Return which rows are not too long after the previous one: a damaged time would outweigh all
    others. If the next row confirms the time, the gap was real. Unknown times are false."""
    times = np.asarray(times, dtype=float)
    kept = ~np.isnan(times)
    if not (np.diff(times[kept], prepend=0) > SILENCE_MAX).any():
        return kept
    before = refused = 0.0
    for row in np.flatnonzero(kept):
        time = times[row]
        if time - before > SILENCE_MAX:
            last, refused = refused, time
            kept[row] = last > before and 0 < time - last <= SILENCE_MAX
        before = time if kept[row] else before
    return kept


def is_ahead(times: npt.ArrayLike, begin: float = -math.inf) -> Any:
    """Return which of these known times are later than all before them, and than `begin`."""
    times = np.asarray(times, dtype=float)
    return times > np.maximum.accumulate([begin, *times])[:-1]
