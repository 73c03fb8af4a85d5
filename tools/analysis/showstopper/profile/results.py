# SPDX-License-Identifier: Apache-2.0
"""Tables of results: what benchmarks measured on machines, perhaps under a throttle."""

from __future__ import annotations

import errno
import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from .. import statistics
from ..contents import open_file, read_stream
from ..text import UserError, number, parse_table, printable, reason, show, unpack

RESULTS = "results.csv"  # in a folder of `ssprofile measure`
WITHOUT = "without"  # the limits without a throttle
KEY = ["benchmark", "class"]  # identify a benchmark: a name may occur in two classes

_COLUMNS = ("machine", "limits", "benchmark", "lower_is_better", "class", "repetition", "result")
_LINE_MAX = 1 << 20  # bytes
_APART_MAX = 10  # factor between repetitions above which results are suspicious
_MARK = "\ufeff".encode()  # some spreadsheets write a byte order mark, also into joined tables

SHOWN, KEPT = 20, 100_000  # warnings of a kind for people, and in a document


class Warnings:
    """What is wrong with data, and how it was handled. A kind is a format of its values."""

    def __init__(self) -> None:
        self._items: list[tuple[str, str]] = []

    def add(self, kind: str, *values: object) -> None:
        self._items.append((kind, printable(kind % values)))

    def extend(self, other: Warnings) -> None:
        self._items += other._items

    def lines(self, most: int) -> Iterator[str]:
        """Return at most this many of each kind, and how many more there are."""
        counts = Counter(kind for kind, _ in self._items)
        seen: Counter[str] = Counter()
        for kind, text in self._items:
            seen[kind] += 1
            if seen[kind] <= most:
                yield text
            if seen[kind] == most < counts[kind]:
                yield f"... and {counts[kind] - most} more like it"


@dataclass(frozen=True, eq=False)
class Profile:
    """
    The results of one machine under one throttle.

    `rows` has the columns benchmark, class, lower (whether lower results are better), repetition,
    result, line, and contradictory (whether rows of the benchmark differ in `lower`).
    """

    machine: str
    limits: str
    rows: pd.DataFrame

    @property
    def name(self) -> str:
        return f"{self.machine}:{self.limits}"

    @property
    def is_plain(self) -> bool:
        return self.limits == WITHOUT

    @cached_property
    def benchmarks(self) -> pd.DataFrame:
        """
        Return a row for each benchmark, in the order of the table.

        `spread` is half the 95 % confidence interval of the mean, as a part of it; NaN for one
        result.
        """
        rows = self.rows.assign(inverse=1 / self.rows["result"])
        rows["log"] = statistics.log(rows["result"])
        return rows.groupby(KEY, sort=False, dropna=False).agg(
            lower=("lower", "first"),
            line=("line", "first"),
            contradictory=("contradictory", "any"),
            repetitions=("result", "size"),
            mean=("result", "mean"),
            inverse=("inverse", "mean"),
            log=("log", "mean"),
            spread=("result", _spread),
        )


def _spread(results: pd.Series) -> float:
    mean = statistics.mean_of(results)
    return float((mean.high - mean.low) / 2 / mean.mean)


def halves(whole: Profile) -> list[Profile]:
    """
    Split a profile into its odd and its even repetitions, which differ by chance alone.

    Repetitions are counted in their order unless the labels of all of them are numbers.
    """
    rows = whole.rows.assign(is_number=lambda rows: rows["repetition"].str.fullmatch("[0-9]+"))
    groups = rows.groupby(KEY, sort=False, dropna=False)["is_number"]
    counted = (groups.cumcount() + 1).astype(str)
    is_even = rows["repetition"].where(groups.transform("all"), counted).str[-1].isin([*"02468"])
    odd, even = (
        Profile(whole.machine, f"{whole.limits}-{name}", whole.rows[chosen])
        for name, chosen in (("odd", ~is_even), ("even", is_even))
    )
    if odd.benchmarks.index.intersection(even.benchmarks.index).empty:
        why = "has no benchmark with an odd and an even repetition: measure it more often"
        raise UserError(f"{whole.name} {why}")
    return [odd, even]


# Reading


class _Row(NamedTuple):
    machine: str
    limits: str
    benchmark: str
    group: str  # its class
    lower: bool
    repetition: str
    result: float
    line: int


def _read_bytes(path: str) -> bytes:
    """Read a file, which may be a pipe; of an endless one without lines only its beginning."""
    is_named = os.path.basename(path) != RESULTS
    try:
        with open_file(path, is_named=is_named) as file:
            first = file.readline(_LINE_MAX + 1)
            if len(first) > _LINE_MAX:
                raise UserError(f"{path}: the first line is too long")
            return first + read_stream(file)
    except OSError as error:
        cannot = " cannot be read" if error.errno == errno.EISDIR else ""
        raise UserError(f"{show(path)}{cannot}: {reason(error)}") from None


def _obstacle(row: dict[str, str]) -> tuple[str, ...]:
    """Return why a row is left out, as a format and its values; () if it is valid."""
    for column in _COLUMNS:
        if printable(row[column]) != row[column]:
            return "the %s contains a control character", column
    for column in _COLUMNS:
        if not row[column]:
            return "the %s is missing", column
    if row["lower_is_better"].lower() not in ("true", "false"):
        return "lower_is_better is '%s', neither true nor false", show(row["lower_is_better"])
    if not (number(row["result"]) or 0) > 0:
        values = show(row["benchmark"]), show(row["result"])
        return "the result of %s is '%s', which is not a positive number", *values
    return ()


def _label(text: str) -> str:
    """Return the same label for "rep-01", "1" and "1.0"."""
    text = re.sub("^rep-(?=.)", "", text, flags=re.IGNORECASE)
    match = re.fullmatch(r"0*([0-9]+)(\.0*)?", text)
    return match[1] if match else text


class _Reader:
    """Reads a table. Columns have any order; joined tables may each have their heading."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._found: list[tuple[int, str, tuple[object, ...]]] = []  # warnings, by line

    def _warn(self, line: int, text: str, *values: object) -> None:
        self._found.append((line, "%s:%d: " + text, (self.path, line, *values)))

    def read(self) -> pd.DataFrame:
        data = unpack(_read_bytes(self.path), self.path).replace(b"\n" + _MARK, b"\n")
        # In a folder of `measure`, an unended row is being written.
        is_unended = data[-1:] not in (b"", b"\n") and not Origin.of(self.path).measured
        data += b"\n" * is_unended
        table = parse_table(self.path, data, _COLUMNS)
        for line, fault in table.faults.items():
            more = "" if ": unexpected second heading" in fault else ": the row is left out"
            self._found.append((line, f"%s{more}", (fault,)))
        rows = []
        for line, *fields in zip(table.lines, *table.fields.values()):
            row = dict(zip(_COLUMNS, (one.replace('""', '"').strip(" \t\r") for one in fields)))
            if obstacle := _obstacle(row):
                self._warn(line, f"{obstacle[0]}: the row is left out", *obstacle[1:])
                continue
            key = row["machine"], row["limits"], row["benchmark"], row["class"]
            lower, label = row["lower_is_better"].lower() == "true", _label(row["repetition"])
            rows.append(_Row(*key, lower, label, float(row["result"]), line))
        if is_unended and rows and rows[-1].line == data.count(b"\n"):
            why = "the last line has no newline: the row is kept, but may be truncated"
            self._warn(rows[-1].line, why)
        return self._drop_repeats(rows)

    def _drop_repeats(self, rows: list[_Row]) -> pd.DataFrame:
        first: dict[tuple[str, ...], _Row] = {}  # by name, by benchmark, and by repetition
        contradictory = set()
        kept = []
        for row in rows:
            key = row[:4]
            alike = first.setdefault(key, row)
            known = first.setdefault((*key, row.repetition), row)
            named = first.setdefault(key[:3], row)
            name, line = show(row.benchmark), row.line
            if alike is row is not named:
                why = "%s is in the classes %s (line %d) and %s: counted as two benchmarks"
                self._warn(line, why, name, show(named.group), named.line, show(row.group))
            if alike.lower != row.lower:
                contradictory.add(key)
                why = "%s: lower_is_better is %s here and %s in line %d: the benchmark is left out"
                directions = direction(row.lower), direction(alike.lower)
                self._warn(line, why, name, *directions, alike.line)
            if known is row:
                kept.append(row)
            elif (known.result, alike.lower) == (row.result, row.lower):
                self._warn(line, "the row repeats line %d and is left out", known.line)
            else:
                why = "already appears in line %d with another result: the row is left out"
                self._warn(
                    line, f"repetition %s of %s {why}", show(row.repetition), name, known.line
                )
        frame = pd.DataFrame(kept, columns=_Row._fields).rename(columns={"group": "class"})
        return frame.assign(contradictory=[row[:4] in contradictory for row in kept])

    def warn_if_apart(self, rows: pd.DataFrame) -> None:
        """Warn about results that seem to have another unit, or to lack a decimal point."""
        least, most = (rows.loc[at(rows["result"])] for at in (pd.Series.idxmin, pd.Series.idxmax))
        if most["result"] / least["result"] > _APART_MAX:
            why = "here, but %.6g in line %d, a factor of more than %d: both are kept"
            values = show(most["benchmark"]), most["result"], least["result"], least["line"]
            text = f"the result of %s is %.6g {why}"
            self._warn(most["line"], text, *values, _APART_MAX)

    def warnings(self) -> Warnings:
        warnings = Warnings()
        for _, kind, values in sorted(self._found, key=lambda one: one[0]):
            warnings.add(kind, *values)
        return warnings


def direction(lower: bool) -> str:
    return "true" if lower else "false"


@dataclass(frozen=True)
class Results:
    path: str
    profiles: list[Profile]
    warnings: Warnings

    def find(self, names: str) -> Profile:
        """Return the profile MACHINE:LIMITS, or that of MACHINE without a throttle, or the only."""
        exact = [one for one in self.profiles if names == one.name]
        found = exact or [one for one in self.profiles if names in ("", one.machine)]
        plain = [one for one in found if one.is_plain] if names else []
        if len(found) == 1 or plain:
            return (plain or found)[-1]
        listed = ", ".join(one.name for one in found or self.profiles)
        why = f"has no machine {names}: its machines are"
        if found:
            why = "has several machines: append a colon and one of these:"
        raise UserError(f"{self.path} {why} {listed}")


def read(path: str) -> Results:
    """Read a table, which may be compressed. Invalid rows are left out, each with a warning."""
    reader = _Reader(path)
    rows = reader.read()
    for _, one in rows.groupby(["machine", "limits", *KEY], sort=False, dropna=False):
        reader.warn_if_apart(one)
    warnings = reader.warnings()
    if rows.empty:
        first = "".join(f": {line}" for line in list(warnings.lines(1))[:1])
        raise UserError(f"{path} has no usable result{first}")
    groups = rows.groupby(["machine", "limits"], sort=False, dropna=False)
    profiles = [Profile(machine, limits, one) for (machine, limits), one in groups]
    return Results(path, profiles, warnings)


class Choice(NamedTuple):
    """A profile as named on the command line: FILE[:MACHINE[:LIMITS]], also of a folder."""

    path: str
    names: str = ""  # MACHINE or MACHINE:LIMITS; a machine may have colons, too

    @classmethod
    def of(cls, text: str) -> Choice:
        path = text
        while not os.path.exists(path):
            path = path.rpartition(":")[0]
            if not path:
                raise UserError(f"{show(text)}: {os.strerror(errno.ENOENT)}")
        table = f"{path}/{RESULTS}" if os.path.isdir(path) else path
        names = text[len(path) + 1 :]
        if text != path and not names:
            more = "names no machine: use FILE:MACHINE or FILE:MACHINE:LIMITS"
            raise UserError(f"'{show(text)}' {more}")
        return cls(table, names)


@dataclass(frozen=True)
class Origin:
    """What `ssprofile measure` wrote next to a table of results."""

    measured: bool = False  # it made the table
    version: str = ""  # of the benchmarks; '' if unknown

    @classmethod
    def of(cls, path: str) -> Origin:
        folder = os.path.dirname(path) or "."
        try:
            with open_file(f"{folder}/version.txt") as stream:
                version = os.fsdecode(stream.readline(_LINE_MAX).rstrip(b"\n"))
        except OSError:
            version = ""
        return cls(os.path.exists(f"{folder}/profile.json"), version)

    def check(self, base: Origin, path: str) -> None:
        """Refuse other benchmarks than those of the base: of another program, compiler or flags."""
        if base.version and self.version and self.version != base.version:
            versions = f"'{show(self.version)}', but the base with '{show(base.version)}'"
            more = "these are different benchmarks; --force compares them"
            raise UserError(f"{path} was measured with {versions}: {more}")


# Throttles

_THROTTLES = {
    "duty": "run for %g%% of the time",
    "load": "held at a load of %g%%",
    "quota": "a quota of %g%% of a CPU",
    "frequency": "a frequency of %g MHz",
}


@dataclass(frozen=True)
class Throttle:
    """A throttle, by its name in a table: quota-4000 is a quota of 40 %."""

    kind: str  # '' without a throttle, and for other names
    number: float = math.nan  # percent, or MHz

    @classmethod
    def of(cls, limits: str) -> Throttle:
        match = re.fullmatch(rf"({'|'.join(_THROTTLES)})-([0-9]+(?:\.[0-9]+)?)", limits)
        if not match:
            return cls("")
        return cls(match[1], float(match[2]) / (1 if match[1] == "frequency" else 100))

    @property
    def setting(self) -> float:
        """Return the setting from 0 to 1, or MHz; NaN for other names."""
        return self.number / (1 if self.kind == "frequency" else 100)

    def explain(self) -> str:
        return _THROTTLES[self.kind] % self.number if self.kind else ""

    def word(self) -> str:
        """Return the throttle as for `ssprofile measure --under`."""
        if self.kind == "frequency":
            return f"{self.kind}={self.number:.0f}MHz"
        return f"{self.kind}={self.number:.9g}%" if self.kind else WITHOUT
