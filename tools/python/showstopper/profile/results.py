# SPDX-License-Identifier: Apache-2.0
"""Reads tables of results, which benchmarks measured on machines, perhaps under a throttle."""

from __future__ import annotations

import errno
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import stats
from ..contents import has_file, open_file, read_bytes
from ..frames import read_texts
from ..inputs import number
from ..text import UserError, printable, show

SCHEMA = 1  # of documents
RESULTS = "results.csv"  # in a folder of `ssprofile measure`
WITHOUT = "without"  # the limits without a throttle
KEY = ["benchmark", "class"]  # identify a benchmark: a name may occur in two classes
WHOLE = ["machine", "limits", *KEY]

_COLUMNS = (*WHOLE, "lower_is_better", "repetition", "result")
_LINE_MAX = 1 << 20  # bytes
_APART_MAX = 10  # factor between repetitions above which results are suspicious

SHOWN, KEPT = 20, 100_000  # warnings of a kind for people, and in a document


class Warnings:
    """Faults in data, and how they were handled."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}  # by kind

    def add(self, kind: str, text: str) -> None:
        self._texts.setdefault(kind, []).append(printable(text))

    def extend(self, other: Warnings) -> None:
        for kind, texts in other._texts.items():
            self._texts.setdefault(kind, []).extend(texts)

    def lines(self, most: int) -> Iterator[str]:
        """Return at most this many of each kind, and how many more there are."""
        for texts in self._texts.values():
            yield from texts[:most]
            if len(texts) > most:
                yield f"... and {len(texts) - most} more like it"


@dataclass(frozen=True)
class Origin:
    """Facts that `ssprofile measure` wrote next to a table of results."""

    measured: bool = False  # whether it wrote the table, too
    version: str = ""  # of the benchmarks; '' if unknown

    @staticmethod
    def of(path: str) -> Origin:
        folder = os.path.dirname(path) or "."
        try:
            with open_file(f"{folder}/version.txt") as stream:
                version = os.fsdecode(stream.readline(_LINE_MAX).rstrip(b"\n"))
        except OSError:
            version = ""
        return Origin(has_file(folder, "profile.json"), version)

    def check(self, base: Origin, path: str) -> None:
        """Refuse other benchmarks than those of the base: of another program, compiler or flags."""
        if base.version and self.version and self.version != base.version:
            versions = f"'{show(self.version)}', but the base with '{show(base.version)}'"
            more = "these are different benchmarks; --force compares them"
            raise UserError(f"{path} was measured with {versions}: {more}")


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
    origin: Origin

    @property
    def name(self) -> str:
        return f"{self.machine}:{self.limits}"

    @property
    def is_plain(self) -> bool:
        return self.limits == WITHOUT

    def choose(self, keys: Sequence[tuple[str, str]]) -> Profile:
        """Return a profile with these benchmarks only."""
        chosen = pd.MultiIndex.from_frame(self.rows[KEY]).isin([*keys])
        return Profile(self.machine, self.limits, self.rows[chosen], self.origin)

    @cached_property
    def benchmarks(self) -> pd.DataFrame:
        """
        A row for each benchmark, in the order of the table.

        `spread` is half the 95 % confidence interval of the mean, as a part of it; NaN for one
        result.
        """
        rows = self.rows.assign(inverse=1 / self.rows["result"], log=np.log(self.rows["result"]))
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
    """Return the spread, which is exactly 0 if all results are equal."""
    first = float(results.iloc[0])
    off = stats.mean_of(results - first)
    return float((off.high - off.low) / 2 / (first + off.mean))


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
        Profile(whole.machine, f"{whole.limits}-{name}", whole.rows[chosen], whole.origin)
        for name, chosen in (("odd", ~is_even), ("even", is_even))
    )
    if odd.benchmarks.index.intersection(even.benchmarks.index).empty:
        why = "has no benchmark with an odd and an even repetition: measure it more often"
        raise UserError(f"{whole.name} {why}")
    return [odd, even]


# Reading


def _read_parts(path: str, data: bytes, warnings: Warnings) -> Iterator[pd.DataFrame]:
    """Read tables that may have been joined, each with its heading and another order of columns."""
    lines = data.split(b"\n")
    heads = (line.decode("utf-8-sig", "replace").lower() for line in lines)
    names = [{cell.strip(' "\t\r') for cell in head.split(",")} for head in heads]
    starts = [0, *[at for at, has in enumerate(names) if has.issuperset(_COLUMNS)][1:]]
    for begin, end in zip(starts, [*starts[1:], len(lines)]):
        notes: list[str] = []
        name = f"{path}, table at line {begin + 1}" if begin else path
        part = b"\n".join(lines[begin:end]) + b"\n" * (end < len(lines))
        rows = read_texts(name, part, _COLUMNS, notes)
        for note in notes:
            warnings.add("damaged", f"{note}: left out")
        yield rows.set_axis(rows.index + begin, axis=0)


def _read_rows(path: str, warnings: Warnings) -> pd.DataFrame:
    """Read the valid rows of a table, indexed by line number."""
    data = read_bytes("", path, is_named=os.path.basename(path) != RESULTS)
    # In a folder of `measure`, an unended row is being written.
    if data and not data.endswith(b"\n") and not Origin.of(path).measured:
        why = "the last line has no newline: it is kept, but may be truncated"
        warnings.add("unended", f"{path}: {why}")
        data += b"\n"
    cells = pd.concat([*_read_parts(path, data, warnings)])
    lower, results = cells["lower_is_better"].str.lower(), cells["result"].map(number)
    has_controls = cells.ne(cells.apply(lambda column: column.map(printable))).any(axis=1)
    faults = {
        "a control character": has_controls,
        "an empty cell": cells.eq("").any(axis=1),
        "lower_is_better is neither true nor false": ~lower.isin(["true", "false"]),
        "the result is not a positive number": ~(results > 0),
    }
    found = np.select([*faults.values()], [*faults], "")
    for line, fault in zip(cells.index[found != ""], found[found != ""]):
        row = show(",".join(cells.loc[line]))
        warnings.add(fault, f'{path}:{line}: {fault}, in "{row}": the row is left out')
    labels = cells["repetition"].str.replace("(?i)^rep-(?=.)", "", regex=True)
    labels = labels.str.replace(r"^0*([0-9]+)(\.0*)?$", r"\1", regex=True)  # 1 and 1.0 are the same
    rows = cells.assign(lower=lower == "true", repetition=labels, result=results, line=cells.index)
    return rows[found == ""].astype({"result": float})


def _drop_repeats(path: str, rows: pd.DataFrame, warnings: Warnings) -> pd.DataFrame:
    """Drop repetitions that the table has already, and mark contradictory benchmarks."""

    def first(keys: list[str], name: str) -> pd.Series:
        return rows.groupby(keys, sort=False, dropna=False)[name].transform("first")

    once = [*WHOLE, "repetition"]
    of_same, is_repeated = first(once, "line"), rows.duplicated(once)
    contradicts, others = rows["lower"] != first(WHOLE, "lower"), first(WHOLE, "line")

    def warn(chosen: pd.Series, kind: str, of: pd.Series) -> None:
        for line, name in rows["benchmark"][chosen].items():
            warnings.add(kind, f"{path}:{line}: " + kind.format(show(name), of[line]))

    left_out = "the benchmark is left out"
    warn(contradicts, f"lower_is_better of {{}} differs from line {{}}: {left_out}", others)
    warn(is_repeated, "this repetition of {} is in line {}, too: the row is left out", of_same)
    marked = contradicts.groupby([rows[name] for name in WHOLE], sort=False, dropna=False)
    return rows.assign(contradictory=marked.transform("any"))[~is_repeated]


def _warn_if_apart(path: str, rows: pd.DataFrame, warnings: Warnings) -> None:
    """Warn about results that seem to have another unit, or to lack a decimal point."""
    groups = rows.groupby(WHOLE, sort=False, dropna=False)["result"]
    for low, high in zip(groups.idxmin(), groups.idxmax()):
        least, most = rows["result"][low], rows["result"][high]
        if most / least > _APART_MAX:
            name = show(rows["benchmark"][high])
            why = f"here, but {least:.6g} in line {low}, a factor of more than {_APART_MAX}"
            text = f"{path}:{high}: the result of {name} is {most:.6g} {why}: both are kept"
            warnings.add("apart", text)


@dataclass(frozen=True)
class Results:
    path: str
    profiles: list[Profile]
    warnings: Warnings

    def find(self, names: str) -> Profile:
        """Return the profile MACHINE:LIMITS, or that of MACHINE without a throttle, or the only
        one."""
        exact = [one for one in self.profiles if names == one.name]
        found = exact or [one for one in self.profiles if names in ("", one.machine)]
        plain = [one for one in found if one.is_plain] if names else []
        if len(found) == 1 or plain:
            return (plain or found)[-1]
        listed = ", ".join(one.name for one in found or self.profiles)
        why = f"has no machine {names}: its machines are"
        if found:
            why = "has several profiles: append one of these, after a colon:"
        raise UserError(f"{self.path} {why} {listed}")


def read(path: str) -> Results:
    """Read a table, which may be compressed. Invalid rows are left out, each with a warning."""
    warnings = Warnings()
    rows = _read_rows(path, warnings)
    if rows.empty:
        first = "".join(f": {line}" for line in list(warnings.lines(1))[:1])
        raise UserError(f"{path} has no usable result{first}")
    rows = _drop_repeats(path, rows, warnings)
    _warn_if_apart(path, rows, warnings)
    groups = rows.groupby(["machine", "limits"], sort=False, dropna=False)
    origin = Origin.of(path)
    profiles = [Profile(machine, limits, one, origin) for (machine, limits), one in groups]
    return Results(path, profiles, warnings)


class Choice(NamedTuple):
    """A profile as named on the command line: FILE[:MACHINE[:LIMITS]]. FILE may be a folder."""

    path: str
    names: str = ""  # MACHINE or MACHINE:LIMITS; a machine may have colons, too

    @staticmethod
    def of(text: str) -> Choice:
        path = text
        while not os.path.exists(path):
            path = path.rpartition(":")[0]
            if not path:
                raise UserError(f"{show(text)}: {os.strerror(errno.ENOENT)}")
        names = text[len(path) + 1 :]
        if text != path and not names:
            more = "names no machine: use FILE:MACHINE or FILE:MACHINE:LIMITS"
            raise UserError(f"'{show(text)}' {more}")
        return Choice(f"{path}/{RESULTS}" if os.path.isdir(path) else path, names)


# Throttles

_THROTTLES = {
    "duty": "run for {:g}% of the time",
    "load": "held at a load of {:g}%",
    "quota": "a quota of {:g}% of a CPU",
    "frequency": "a frequency of {:g} MHz",
}


@dataclass(frozen=True)
class Throttle:
    """A throttle, by its name in a table: quota-4000 is a quota of 40 %."""

    kind: str  # '' without a throttle, and for other names
    number: float = math.nan  # percent, or MHz

    @staticmethod
    def of(limits: str) -> Throttle:
        match = re.fullmatch(rf"({'|'.join(_THROTTLES)})-([0-9]+(?:\.[0-9]+)?)", limits)
        if not match:
            return Throttle("")
        return Throttle(match[1], float(match[2]) / (1 if match[1] == "frequency" else 100))

    @property
    def setting(self) -> float:
        """The setting from 0 to 1, or MHz; NaN for other names."""
        return self.number / (1 if self.kind == "frequency" else 100)

    def explain(self) -> str:
        return _THROTTLES[self.kind].format(self.number) if self.kind else ""

    def word(self) -> str:
        """Return the throttle as for `ssprofile measure --under`."""
        if self.kind == "frequency":
            return f"{self.kind}={self.number:.0f}MHz"
        return f"{self.kind}={self.number:.9g}%" if self.kind else WITHOUT
