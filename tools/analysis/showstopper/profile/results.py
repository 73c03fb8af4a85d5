# SPDX-License-Identifier: Apache-2.0
"""Tables of results: what benchmarks measured on machines, perhaps under a throttle."""

from __future__ import annotations

import errno
import io
import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from .. import statistics
from ..text import (
    LINE_MAX, Field, InvalidLine, UserError, number, reason, show, split_fields, unpack,
)

WITHOUT = "without"  # the limits without a throttle

_COLUMNS = ("machine", "limits", "benchmark", "lower_is_better", "class", "repetition", "result")
_APART_MAX = 10  # factor between repetitions above which results are suspicious
_NAME_MAX = 511  # bytes
_CONTROL = re.compile("[\0-\x1f\x7f]")
_MARK = "\ufeff"  # some spreadsheets write a byte order mark

SHOWN, KEPT = 20, 100_000  # warnings of a kind for people, and in a document


class Warnings:
    """What is wrong with data, and how it was handled. A kind is a format of its values."""

    def __init__(self) -> None:
        self._items: list[tuple[str, str]] = []

    def add(self, kind: str, *values: object) -> None:
        self._items.append((kind, _CONTROL.sub("?", kind % values)))

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


Key = tuple[str, str]  # a benchmark's name and class: a name may occur in two classes


@dataclass(eq=False)
class Benchmark:
    """A benchmark on one machine; of its results, lower ones may be better, as for durations."""

    name: str
    group: str  # its class
    lower: bool
    line: int  # of its first row
    results: dict[str, float] = field(default_factory=dict)  # by the label of the repetition
    contradictory: bool = False  # rows differ in `lower`

    @property
    def key(self) -> Key:
        return self.name, self.group

    @property
    def direction(self) -> str:
        return "true" if self.lower else "false"

    @cached_property
    def spread(self) -> float:
        """Half the 95 % confidence interval of the mean, as a part of it; NaN for one result."""
        mean = statistics.mean_of(list(self.results.values()))
        return float((mean.high - mean.low) / 2 / mean.mean)

    def mean(self, inverse: bool = False) -> float:
        values = [1 / one if inverse else one for one in self.results.values()]
        return sum(values) / len(values)

    def log(self) -> float:
        return float(statistics.log(list(self.results.values())).mean())


@dataclass(frozen=True)
class Profile:
    """The results of one machine under one throttle."""

    machine: str
    limits: str
    benchmarks: dict[Key, Benchmark] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.machine}:{self.limits}"

    @property
    def is_plain(self) -> bool:
        return self.limits == WITHOUT


def halves(whole: Profile) -> list[Profile]:
    """
    Split a profile into its odd and its even repetitions, which differ by chance alone.

    Repetitions are counted in their order unless the labels of all of them are numbers.
    """

    def half(benchmark: Benchmark, even: bool) -> Benchmark:
        labels = list(benchmark.results)
        if not all(re.fullmatch("[0-9]+", label) for label in labels):
            labels = [str(number) for number in range(1, len(labels) + 1)]
        values = zip(labels, benchmark.results.values())
        results = {label: one for label, one in values if (int(label[-1]) % 2 == 0) == even}
        return replace(benchmark, results=results)

    profiles = []
    for even, end in enumerate(("odd", "even")):
        parts = {key: half(one, bool(even)) for key, one in whole.benchmarks.items()}
        kept = {key: one for key, one in parts.items() if one.results}
        profiles.append(Profile(whole.machine, f"{whole.limits}-{end}", kept))
    if not profiles[0].benchmarks.keys() & profiles[1].benchmarks.keys():
        why = "has no benchmark with an odd and an even repetition: measure it more often"
        raise UserError(f"{whole.name} {why}")
    return profiles


# Reading


def _lines(path: str) -> Iterator[bytes]:
    """Return the lines of a file, which may be a pipe; of an endless one only its beginning."""
    try:
        with open(path, "rb") as file:
            stream: io.BufferedIOBase = file
            if file.peek(1)[:1] in (b"\x1f", b"\xfd", b"\x28"):
                stream = io.BytesIO(unpack(file.read(), path))
            yield from iter(lambda: stream.readline(LINE_MAX + 2), b"")
    except OSError as error:
        cannot = " cannot be read" if error.errno == errno.EISDIR else ""
        raise UserError(f"{show(path)}{cannot}: {reason(error)}") from None


class _Reader:
    """Reads a table. Columns have any order; joined tables may each have their heading."""

    def __init__(self, path: str, growing: bool) -> None:
        self.path = path
        self.growing = growing  # a last line without a newline is incomplete
        self.profiles: dict[Key, Profile] = {}
        self.warnings = Warnings()
        self.line = 0  # the number of the line
        self._picks: list[int] = []  # the position of each column
        self._width = 0
        self._first: dict[tuple[str, ...], Benchmark] = {}  # by machine, limits and name
        self.rows: dict[tuple[str, ...], int] = {}  # line of each repetition

    def warn(self, text: str, *values: object, line: int = 0) -> None:
        self.warnings.add("%s:%d: " + text, self.path, line or self.line, *values)

    def _blame(self, message: str, column: int, text: str) -> str:
        column = len(os.fsencode(text[: column - 1])) + 1
        shown = show(text.partition("\0")[0])
        return f'{show(self.path)}:{self.line}:{column}: {message}, in "{shown}"'

    def read(self) -> None:
        for data in _lines(self.path):
            self.line += 1
            line = data.removesuffix(b"\n").removesuffix(b"\r")
            text = line.decode("utf-8", "surrogateescape")
            text = text.removeprefix(_MARK) if self.line == 1 else text
            try:
                self._check(text, len(line))
                text = text.removeprefix(_MARK)
                if text.strip(" \t").startswith("#") and text.count(",") + 1 == self._width:
                    why = "begins with #, which makes it a comment: the row is left out"
                    self.warn(f"the row '%s' {why}", show(text))
                elif text.strip(" \t") and not text.strip(" \t").startswith("#"):
                    self._take(text, unended=not data.endswith(b"\n"))
            except InvalidLine as error:
                why, column = error.args
                message = self._blame(why, column, text)
                if not self._width:
                    raise UserError(message) from None
                self.warnings.add("%s: the row is left out", message)
        if not self._width:
            raise UserError(f"{self.path} is empty")

    def _check(self, text: str, length: int) -> None:
        if length > LINE_MAX and self._width:
            raise UserError(f"{self.path} cannot be read to the end")
        if length > LINE_MAX:
            raise InvalidLine(f"the line has more than {LINE_MAX} characters", LINE_MAX)
        if "\0" in text:
            why = "the file contains a null byte: it is not text"
            raise InvalidLine(why, text.index("\0") + 1)

    def _take(self, text: str, unended: bool) -> None:
        fields = [(name.strip(" \t\r"), column) for name, column in split_fields(text)]
        if not self._width or _COLUMNS[0] in text.lower():
            names = [name.lower() for name, _ in fields]
            missing = [name for name in _COLUMNS if name not in names]
            twice = [name for name in _COLUMNS if names.count(name) > 1]
            if not missing and not twice:
                if self._width:
                    self.warn("%s", "unexpected second heading: the file contains several tables")
                self._picks = [names.index(name) for name in _COLUMNS]
                self._width = len(names)
                return
            if not self._width and missing and "," not in text and re.search("[;\t]", text):
                raise InvalidLine("columns must be separated by commas", 1)
            if not self._width:
                no_column = f"no column '{missing[0]}'" if missing else ""
                raise InvalidLine(no_column or f"column '{twice[-1]}' appears twice", 1)
        if len(fields) != self._width:
            why = f"the row has {len(fields)} field{'' if len(fields) == 1 else 's'}"
            truncated = " (is the file truncated?)" if len(fields) < self._width else ""
            raise InvalidLine(f"{why}, but {self._width} are expected{truncated}", len(text) + 1)
        self._take_row(text, [fields[pick] for pick in self._picks], unended)

    def _take_row(self, text: str, fields: list[Field], unended: bool) -> None:
        for name, at in fields:
            if (length := len(os.fsencode(name))) > _NAME_MAX:
                why = f"the name has {length} characters (at most {_NAME_MAX})"
                raise InvalidLine(why, at)
        row = dict(zip(_COLUMNS, (name.replace('""', '"') for name, _ in fields)))
        value = number(fields[-1][0])
        if not self._is_valid(row, value):
            return
        if unended and self.growing:
            why = "the last line has no newline and may be truncated: the row is left out"
            self.warn("%s", why)
            return
        for (name, at), column in zip(fields, _COLUMNS):
            if unended and at - 1 + len(name) == len(text.rstrip(" \t\r")):
                why = "the row is kept, but its %s, '%s', may be truncated"
                self.warn(f"the last line has no newline: {why}", column, show(row[column]))
        assert value
        self._keep(row, value)

    def warn_if_apart(self, profile: Profile, benchmark: Benchmark) -> None:
        """Warn about results that seem to have another unit, or to lack a decimal point."""
        results = benchmark.results
        least, most = min(results, key=results.__getitem__), max(results, key=results.__getitem__)
        if results[most] / results[least] > _APART_MAX:
            key = (profile.machine, profile.limits, *benchmark.key)
            lines = self.rows[(*key, least)], self.rows[(*key, most)]
            why = "here, but %.6g in line %d, a factor of more than %d: both are kept"
            values = show(benchmark.name), results[most], results[least], lines[0], _APART_MAX
            self.warn(f"the result of %s is %.6g {why}", *values, line=lines[1])

    def _is_valid(self, row: dict[str, str], value: float | None) -> bool:
        name, result = show(row["benchmark"]), show(row["result"])
        left_out = "the row is left out"
        for column in _COLUMNS:
            if _CONTROL.search(row[column]):
                self.warn(f"the %s contains a control character: {left_out}", column)
                return False
        for column in _COLUMNS:
            if not row[column]:
                self.warn(f"the %s is missing: {left_out}", column)
                return False
        if row["lower_is_better"].lower() not in ("true", "false"):
            why = f"lower_is_better is '%s', neither true nor false: {left_out}"
            self.warn(why, show(row["lower_is_better"]))
        elif value is None or value != value:
            self.warn(f"the result of %s is '%s', which is not a number: {left_out}", name, result)
        elif not value > 0:
            why = f"the result of %s is %s, from which no ratio can be computed: {left_out}"
            self.warn(why, name, result)
        else:
            return True
        return False

    def _keep(self, row: dict[str, str], value: float) -> None:
        machine, limits, name, group = (row[c] for c in ("machine", "limits", "benchmark", "class"))
        lower = row["lower_is_better"].lower() == "true"
        profile = self.profiles.setdefault((machine, limits), Profile(machine, limits))
        first = self._first.get((machine, limits, name))
        benchmark = profile.benchmarks.get((name, group))
        if benchmark is None:
            if first:
                why = "%s is in the classes %s (line %d) and %s: counted as two benchmarks"
                self.warn(why, show(name), show(first.group), first.line, show(group))
            benchmark = Benchmark(name, group, lower, self.line)
            self._first.setdefault((machine, limits, name), benchmark)
            profile.benchmarks[benchmark.key] = benchmark

        if benchmark.lower != lower:
            why = "%s: lower_is_better is %s here and %s in line %d: the benchmark is left out"
            here = "true" if lower else "false"
            self.warn(why, show(name), here, benchmark.direction, benchmark.line)
            benchmark.contradictory = True
        label = _label(row["repetition"])
        key = (machine, limits, name, group, label)
        if key not in self.rows:
            benchmark.results[label] = value
            self.rows[key] = self.line
        elif benchmark.results[label] == value and benchmark.lower == lower:
            self.warn("the row repeats line %d and is left out", self.rows[key])
        else:
            why = "already appears in line %d with another result: the row is left out"
            shown = show(label), show(name)
            self.warn(f"repetition %s of %s {why}", *shown, self.rows[key])


def _label(text: str) -> str:
    """Return the same label for "rep-01", "1" and "1.0"."""
    if text[:4].lower() == "rep-" and len(text) > 4:
        text = text[4:]
    match = re.fullmatch(r"0*([0-9]+)(\.0*)?", text)
    return match[1] if match else text


@dataclass(frozen=True)
class Results:
    path: str
    profiles: list[Profile]
    warnings: Warnings

    def find(self, choice: Choice) -> Profile:
        """Return the chosen profile, without a throttle if none is chosen."""
        exact = [p for p in self.profiles if choice.names == p.name and choice.machine]
        if exact:
            return exact[0]
        found = [
            p for p in self.profiles
            if (choice.names == p.machine if choice.machine else choice.limits in ("", p.limits))
        ]
        plain = [p for p in found if p.is_plain]
        if len(found) == 1 or (plain and choice.machine):
            return (found if len(found) == 1 else plain[-1:])[0]

        listed = [p.name for p in self.profiles if not found or choice.names in ("", p.machine)]
        names = _cut(", ".join(listed), 599)
        why = "has several machines: append a colon and one of these"
        if not found:
            why = f"has no machine {choice.names}: its machines are"
        raise UserError(f"{choice.path} {why}{':' if found else ''} {names}")


def _cut(text: str, most: int) -> str:
    """Return at most this many bytes of a text."""
    return text.encode("utf-8", "surrogateescape")[:most].decode("utf-8", "surrogateescape")


def read(path: str) -> Results:
    """Read a table, which may be compressed. Invalid rows are left out, each with a warning."""
    reader = _Reader(path, growing=Origin.of(path).measured)
    reader.read()
    profiles = list(reader.profiles.values())
    for profile in profiles:
        for benchmark in profile.benchmarks.values():
            reader.warn_if_apart(profile, benchmark)
    if not profiles:
        first = "".join(f": {line}" for line in islice(reader.warnings.lines(1), 1))
        raise UserError(f"{path} has no usable result{first}")
    return Results(path, profiles, reader.warnings)


@dataclass(frozen=True)
class Choice:
    """A profile as named on the command line: FILE[:MACHINE[:LIMITS]], also of a folder."""

    path: str
    machine: str = ""  # text up to the last colon, since addresses have colons, too
    limits: str = ""

    @property
    def names(self) -> str:
        return self.machine + (":" + self.limits if self.limits else "")

    @classmethod
    def of(cls, text: str) -> Choice:
        path = text
        while not os.path.exists(path):
            path = path.rpartition(":")[0]
            if not path:
                raise UserError(f"{show(text)}: {os.strerror(errno.ENOENT)}")
        table = path + "/results.csv" if os.path.isdir(path) else path
        if len(path) == len(text):
            return cls(table)

        names = text[len(path) + 1 :]
        machine, colon, limits = names.rpartition(":")
        if not colon or (not limits and machine.endswith(":")):
            machine, limits = names, ""
        elif not limits:
            machine = ""
        too_long = max(len(os.fsencode(name)) for name in (machine, limits)) > _NAME_MAX
        if not machine or too_long:
            more = "names no machine: write FILE:MACHINE or FILE:MACHINE:LIMITS"
            raise UserError(f"'{show(names)}' {more}")
        return cls(table, machine, limits)


@dataclass(frozen=True)
class Origin:
    """What `ssprofile measure` wrote next to a table of results."""

    measured: bool = False  # it made the table
    version: str = ""  # of the benchmarks; '' if unknown

    @classmethod
    def of(cls, path: str) -> Origin:
        folder = os.path.dirname(path) or "."
        try:
            with open(f"{folder}/version.txt", "rb") as stream:
                version = os.fsdecode(stream.readline().rstrip(b"\n"))
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
    number: float = math.nan  # in hundredths of a percent, or MHz

    @classmethod
    def of(cls, limits: str) -> Throttle:
        match = re.fullmatch(rf"({'|'.join(_THROTTLES)})-([0-9]+(?:\.[0-9]+)?)", limits)
        return cls(match[1], float(match[2])) if match else cls("")

    @property
    def setting(self) -> float:
        """Return the setting from 0 to 1, or MHz; NaN for other names."""
        return self.number if self.kind == "frequency" else self.number / 10000

    def explain(self) -> str:
        number = self.number if self.kind == "frequency" else self.number / 100
        return _THROTTLES[self.kind] % number if self.kind else ""

    def word(self) -> str:
        """Return the throttle as for `ssprofile measure --under`."""
        if self.kind == "frequency":
            return f"{self.kind}={self.number:.0f}MHz"
        return f"{self.kind}={self.number / 100:.9g}%" if self.kind else WITHOUT
