# SPDX-License-Identifier: Apache-2.0
"""Reading of the files of a record: tables, JSON documents, times, numbers."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, NamedTuple, Sequence

from .contents import SIZE_MAX, read_file

if TYPE_CHECKING:  # documents and plans are read without NumPy, which takes a while to import
    import numpy as np

DOCUMENT_MAX = 16 << 20
SMALL = 1 << 12  # bytes; smaller tables are read faster line by line
DIGITS_MAX = 15  # a double represents integers with this many digits
ROWS_AT_ONCE = 1 << 13  # their fields fit into the cache of a CPU


class UserError(Exception):
    """An error of the user, which the program prints on one line before it ends."""

    def __init__(self, message: str, status: int = 125) -> None:
        super().__init__(message)
        self.status = status


class Notes:
    """What is wrong with a record, on one line: `first; second`."""

    def __init__(self) -> None:
        self.items: list[str] = []

    def add(self, note: str) -> None:
        self.items.append(printable(note))

    def __str__(self) -> str:
        return "; ".join(self.items)

    def __bool__(self) -> bool:
        return bool(self.items)


# Terminals obey these characters; those of C1 also as single bytes.
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), *range(0xDC80, 0xDCA0))
_MARKED = {mark: dict.fromkeys(_CONTROLS, mark) for mark in "? "}


def printable(text: str, mark: str = "?") -> str:
    """Return a text, which may come from a file, as one line without control characters."""
    return text.translate(_MARKED[mark])


def show(text: str) -> str:
    """Return a text of a user for a message: one line, cut if it is long."""
    octets = text.encode("utf-8", "surrogateescape")
    cut = len(octets) > 92
    shown = octets[:92] if cut else octets
    while cut and shown and shown[-1] & 0xC0 == 0x80:
        shown = shown[:-1]
    line = printable(shown.decode("utf-8", "surrogateescape"), " ")
    return line + ("..." if cut else "")


def wrap(text: str, margin: int = 0) -> str:
    """Break a text into lines of 79 columns, all but the first after a margin."""
    lines, width = [], 79 - margin
    while text:
        at = len(text)
        if at > width:
            # "58 %" stays together; a single word may fill more than a line.
            blanks = [m.start() for m in re.finditer(" (?!%)", text[: width + 2]) if m.start() <= width]
            at = blanks[-1] if blanks and blanks[-1] > 0 else (text + " ").index(" ")
        lines.append(text[:at])
        text = text[at + 1 :] if text[at : at + 1] == " " else text[at:]
    return ("\n" + " " * margin).join(lines)


def reason(error: OSError) -> str:
    """Return why a file cannot be read or written, for a system call as strerror() says it."""
    return error.strerror or os.strerror(error.errno or 0)


# Numbers

_PLAIN = frozenset("0123456789.+-eE")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_MISSING = frozenset(("", "-", "nan", "na", "n/a", "null", "none"))


def number(field: str) -> float | None:
    """Return the number in a field: NaN if it is missing, None if it is invalid."""
    if _NUMBER.fullmatch(field):
        value = float(field)
        return value if math.isfinite(value) else None
    return math.nan if field.lower() in _MISSING else None


def share(text: str) -> float:
    """Return a number that may be a percentage of 1, such as a column of a plan: `50%` is 50."""
    value = number(text[:-1] if len(text) > 1 and text.endswith("%") else text)
    return math.nan if value is None else value


def numbers(fields: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers in fields, with NaN for missing ones, and which fields are invalid."""
    import numpy as np

    if _PLAIN.issuperset("".join(fields)):
        try:
            values = np.array([float(field) if field else math.nan for field in fields])
            return values, np.isinf(values)
        except ValueError:
            pass
    found = [number(field) for field in fields]
    invalid = np.array([value is None for value in found], dtype=bool)
    return np.array([math.nan if value is None else value for value in found]), invalid


# Times

_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d)?)(\.\d+)?(?:[Zz]|([+-]\d\d):?(\d\d))",
    re.ASCII,
)


def wall_clock(field: str) -> float:
    """Return a time of the wall clock in seconds since 1970; NaN if it is invalid."""
    if re.fullmatch(r"@\d+(\.\d+)?", field, re.ASCII):
        return int(round(float(field[1:]) * 1e9)) / 1e9
    match = _TIME.fullmatch(field)
    if not match:
        return math.nan
    date, time, part, hours, minutes = match.groups("")
    try:
        moment = datetime.fromisoformat(f"{date}T{time}+00:00")
    except ValueError:
        return math.nan
    if not 1678 <= moment.year <= 2261:
        return math.nan
    ahead = 3600 * int(hours or 0) + 60 * int(hours[:1] + (minutes or "0"))
    nanoseconds = int((part[1:] + "0" * 9)[:9])
    return ((int(moment.timestamp()) - ahead) * 1_000_000_000 + nanoseconds) / 1e9


def wall_clocks(fields: Iterable[str]) -> np.ndarray:
    import numpy as np

    return np.array([wall_clock(field) for field in fields], dtype=float)


# Tables

_PACKED = {b"\x1f\x8b": "gzip", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


_BYTE_ORDER = "\ufeff".encode()


def unpack(data: bytes, name: str) -> bytes:
    program = next((packer for magic, packer in _PACKED.items() if data.startswith(magic)), None)
    if program is None:
        return data
    packed = os.memfd_create("packed")
    try:
        os.write(packed, data)
        os.lseek(packed, 0, os.SEEK_SET)
        unpacked, status = _run_unpacker(program, packed)
    except OSError:
        why = "the program that unpacks it cannot be started: install gzip, xz-utils or zstd"
    else:
        why = "unpacking it failed: the file is damaged"
        if len(unpacked) > SIZE_MAX:
            why = f"unpacked it is larger than {SIZE_MAX >> 20} MiB"
        elif status == 0:
            return unpacked
    finally:
        os.close(packed)
    raise UserError(f"{show(name)} is compressed, and {why}")


def _run_unpacker(program: str, packed: int) -> tuple[bytes, int]:
    """Return what the program printed, up to a limit, and its status."""
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen([program, "-dc"], stdin=packed, stdout=pipe, stderr=nothing) as process:
        assert process.stdout
        unpacked = process.stdout.read(SIZE_MAX + 1)
    return unpacked, process.returncode


class Table:
    """A table of a record.

    Its fields are texts by column. A reader refuses rows that it finds invalid; `note()` then
    describes the first invalid row, and how many more there are.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.fields: dict[str, list[str]] = {}  # of read_texts()
        self.lines: Sequence[int] = []  # the number of each row's line
        self.columns: list[str] = []  # all names, as written
        self._data = b""  # the file, and where its fields begin and end
        self._places: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.faults: dict[int, str] = {}  # why lines are left out
        self._texts: Callable[[int], str] = lambda line: ""

    def __len__(self) -> int:
        return len(self.lines)

    def numbers(self, column: str, valid: np.ndarray) -> np.ndarray:
        """Return the numbers of a column; clear `valid` in rows where a field is not a number."""
        places = self._places.get(column)
        values = _decimals(self._data, *places) if places else None
        if values is None:
            values, invalid = numbers(self.texts(column))
            valid &= ~invalid
        return values

    def texts(self, column: str) -> list[str]:
        """Return the fields of a column."""
        if column not in self._places:
            return self.fields[column]
        begin, end = self._places[column]
        fields = [self._data[at:to] for at, to in zip(begin.tolist(), end.tolist())]
        return _decode(b"\n".join(fields)).split("\n")[: len(fields)]

    def take(self, rules: Mapping[str, Rule]) -> tuple[Columns, np.ndarray]:
        """Return columns by name, and which rows follow all rules."""
        import numpy as np

        valid = np.ones(len(self), dtype=bool)
        return {name: rule.read(self, name, valid) for name, rule in rules.items()}, valid

    def refuse(self, valid: np.ndarray, why: Mapping[int, str] = MappingProxyType({})) -> None:
        """Refuse rows that are not valid; `why` has the reasons of some."""
        for row in (~valid).nonzero()[0].tolist():
            line = self.lines[row]
            text, reason = show(self._texts(line)), why.get(row, "invalid row")
            self.faults[line] = f'{show(self.name)}:{line}: {reason}, in "{text}"'

    def note(self, notes: Notes) -> None:
        if not self.faults:
            return
        first = self.faults[min(self.faults)]
        more = len(self.faults) - 1
        notes.add(f"{first} (and {more} more)" if more else first)

    def _blame(self, line: int, column: int, text: str, message: str) -> str:
        column = len(text[: column - 1].encode("utf-8", "surrogateescape")) + 1
        return f'{show(self.name)}:{line}:{column}: {message}, in "{show(text)}"'

    def _read(self, data: bytes, wanted: Sequence[str] | None, optional: Sequence[str]) -> None:
        text = _decode(data).removeprefix("\ufeff")
        lines = text.split("\n")
        unended = lines.pop() if lines else ""
        if unended:
            lines.append(unended)
        self._texts = lambda line: lines[line - 1].removesuffix("\r")
        rows = ((at, line.removesuffix("\r")) for at, line in enumerate(lines, 1))
        rows = ((at, line) for at, line in rows if line.lstrip(" \t")[:1] not in ("", "#"))
        at, heading = next(rows, (0, ""))
        if not at:
            raise UserError(f"{self.name} is empty")
        columns = self._split(heading, at)
        if columns is None:
            raise UserError(self.faults[at])
        self.columns = columns
        picks = self._find(heading, at, wanted, optional)
        width = len(self.columns)
        kept: list[list[str]] = []
        numbers_of_lines: list[int] = []
        for at, line in rows:
            parts = self._split(line, at)
            if parts is None:
                continue
            if unended and at == len(lines):
                why = "the last line has no newline"
                self.faults[at] = self._blame(at, len(line) + 1, line, why)
            elif wanted and self._is_heading(parts, wanted, optional):
                self.faults[at] = self._blame(at, 1, line, "unexpected second heading")
                self.columns = parts
                picks = self._find(line, at, wanted, optional)
                width = len(parts)
            elif len(parts) != width:
                why = f"the row has {len(parts)} field{'' if len(parts) == 1 else 's'}"
                why += f", but {width} are expected"
                why += " (is the file truncated?)" if len(parts) < width else ""
                self.faults[at] = self._blame(at, len(line) + 1, line, why)
            else:
                kept.append([parts[pick] if pick >= 0 else "" for pick in picks])
                numbers_of_lines.append(at)
        self.lines = numbers_of_lines
        names = self.columns if wanted is None else wanted
        by_column = zip(*kept) if kept else ((),) * len(names)
        self.fields = {name: list(column) for name, column in zip(names, by_column)}

    def _split(self, line: str, at: int) -> list[str] | None:
        if "\0" in line:
            why = "the file contains a null byte: it is not text"
            cut = line[: line.index("\0")]
            self.faults[at] = self._blame(at, len(cut) + 1, cut, why)
            return None
        try:
            return split_fields(line)
        except InvalidLine as error:
            why, column = error.args
            self.faults[at] = self._blame(at, column, line, why)
            return None

    @staticmethod
    def _is_heading(parts: list[str], wanted: Sequence[str], optional: Sequence[str]) -> bool:
        if wanted[0].lower() not in (part.lower() for part in parts):
            return False
        names = {part.lower() for part in parts}
        return all(name.lower() in names for name in wanted if name not in optional)

    def _find(
        self, heading: str, line: int, wanted: Sequence[str] | None, optional: Sequence[str]
    ) -> list[int]:
        """Return the position of each wanted column, -1 if it is missing but optional."""
        names = [column.strip(" \t\r").lower() for column in self.columns]
        if wanted is None:
            return list(range(len(names)))
        picks = [names.index(name.lower()) if name.lower() in names else -1 for name in wanted]
        missing = [n for n, pick in zip(wanted, picks) if pick < 0 and n not in optional]
        twice = [name for name in wanted if names.count(name.lower()) > 1]
        why = ""
        if missing and "," not in heading and re.search("[;\t]", heading):
            why = "columns must be separated by commas"
        elif missing:
            why = f"no column '{missing[0]}'"
        elif twice:
            why = f"column '{twice[-1]}' appears twice"
        if why:
            raise UserError(self._blame(line, 1, heading, why))
        return picks

    def _find_fields(
        self, data: bytes, wanted: Sequence[str] | None, optional: Sequence[str]
    ) -> bool:
        """Find the fields of a table without quotes, comments, blanks or empty lines. Return False
        for any other."""
        import numpy as np

        letters = np.frombuffer(data, np.uint8)
        is_newline = letters == ord("\n")
        lines = np.flatnonzero(is_newline)
        is_plain = np.count_nonzero(letters > ord("#")) + len(lines) == len(data)
        if not is_plain or not data.endswith(b"\n") or data.startswith(_BYTE_ORDER):
            return False
        has_words = letters[lines[0] :].max() > ord("9")
        if wanted and has_words and data.lower().count(wanted[0].lower().encode()) > 1:
            return False
        heading = _decode(data[: lines[0]])
        self.columns = heading.split(",")
        width = len(self.columns)
        ends = np.flatnonzero((letters == ord(",")) | is_newline)
        is_even = len(ends) == width * len(lines) and (ends[width - 1 :: width] == lines).all()
        if not is_even or np.diff(lines, prepend=-1).min() == 1:
            return False
        picks = self._find(heading, 1, wanted, optional)
        self.lines = range(2, len(lines) + 1)
        absent = np.full(len(self.lines), ends[0])
        for name, pick in zip(self.columns if wanted is None else wanted, picks):
            begin, end = ends[width + pick - 1 : -1 : width] + 1, ends[width + pick :: width]
            self._places[name] = (begin, end) if pick >= 0 else (absent, absent)
        self._texts = lambda line: _decode(data[lines[line - 2] + 1 : lines[line - 1]])
        self._data = data
        return True


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _decimals(data: bytes, begin: np.ndarray, end: np.ndarray) -> np.ndarray | None:
    """Return the numbers in fields with the same number of decimals, NaN for empty ones. Return
    None if there are other fields.

    The digits are an exact integer, and its quotient is rounded once, as by strtod().
    """
    import numpy as np

    letters = np.frombuffer(data, np.uint8)
    negative = letters[begin] == ord("-")
    sizes = end - begin - negative
    width = int(sizes.max(initial=0))
    values = np.full(len(begin), math.nan)
    if width == 0:
        return values
    last = end[sizes.argmax()]
    point = data[last - width : last].find(b".")
    if width > min(DIGITS_MAX, end[0]) or point == width - 1:
        return None
    places = np.arange(width)
    powers = 10.0 ** (width - 1 - places - (places < point))
    decimals = width - 1 - point if point >= 0 else 0
    windows = np.lib.stride_tricks.sliding_window_view(letters, width)

    for first in range(0, len(begin), ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        size = sizes[rows]
        digits = windows[end[rows] - width] - np.uint8(ord("0"))
        digits[places < width - size[:, None]] = 0
        if point >= 0:
            if (digits[size > 0, point] != (ord(".") - ord("0")) % 256).any():
                return None
            digits[:, point] = 0
        if digits.max() > 9:
            return None
        values[rows] = np.where(size > 0, digits @ powers / 10.0**decimals, math.nan)
    np.negative(values, out=values, where=negative)
    return values


class Rule(NamedTuple):
    """What a column may have: numbers from `least` to `most`, moments or words."""

    least: float = -math.inf
    most: float = math.inf
    known: bool = True  # an empty field is invalid
    whole: bool = False
    moment: bool = False  # of the wall clock, as seconds since 1970
    words: tuple[str, ...] | None = None  # in lower case; () are any words

    def read(self, table: Table, column: str, valid: np.ndarray) -> np.ndarray:
        """Return the values of a column; clear `valid` in rows that break the rule."""
        import numpy as np

        if self.words is not None:
            words = [word.lower() for word in table.texts(column)]
            valid &= np.array([not self.words or word in self.words for word in words], dtype=bool)
            return np.array(words, dtype=str)
        if self.moment:
            values = wall_clocks(table.texts(column))
        else:
            values = table.numbers(column, valid)
        valid &= ~((values < self.least) | (values > self.most))
        if self.whole:
            valid &= np.isnan(values) | (values == np.floor(values))
        if self.known:
            valid &= ~np.isnan(values)
        return values


NUMBER, AMOUNT, COUNT, MOMENT = Rule(), Rule(0), Rule(0, whole=True), Rule(moment=True)
MAYBE_NUMBER, MAYBE_AMOUNT, WORD = Rule(known=False), Rule(0, known=False), Rule(words=())
Columns = dict[str, "np.ndarray"]

_QUOTED = re.compile(r'"((?:[^"]|"")*+)"')

class InvalidLine(Exception):
    """Why a line is invalid, and in which column."""


def split_fields(line: str) -> list[str]:
    if '"' not in line:
        return [part.strip(" \t") for part in line.split(",")]

    def skip(at: int) -> int:
        return len(line) - len(line[at:].lstrip(" \t"))

    fields: list[str] = []
    at = 0
    while True:
        begin = skip(at)
        if line[begin : begin + 1] == '"':
            match = _QUOTED.match(line, begin)
            if not match:
                why = 'the quote must be closed on the same line, with "" for one inside'
                raise InvalidLine(why, begin + 1)
            end = skip(match.end())
            if line[end : end + 1] not in ("", ","):
                raise InvalidLine("a closing quote must be followed by a separator", end + 1)
            fields.append(match[1])
        else:
            end = line.find(",", begin)
            end = len(line) if end < 0 else end
            fields.append(line[begin:end].rstrip(" \t"))
        if end >= len(line):
            return fields
        at = end + 1


def read_bytes(folder: str, name: str, *, is_named: bool = False) -> bytes:
    try:
        return read_file(os.path.join(folder, name), is_named=is_named)
    except OSError as error:
        cannot = " cannot be read" if isinstance(error, IsADirectoryError) else ""
        raise UserError(f"{name}{cannot}: {reason(error)}") from None


def read_table(
    folder: str, name: str, columns: Sequence[str] | None, optional: Sequence[str] = ()
) -> Table:
    """Read a table, whose columns have any order; all of its columns if `columns` is None.

    Invalid lines are left out. A last line without a newline, which a killed run may leave, is
    one of them. Raises UserError if the table cannot be read.
    """
    data = unpack(read_bytes(folder, name), name)
    table = Table(name)
    if len(data) < SMALL or not table._find_fields(data, columns, optional):
        return parse_table(name, data, columns, optional)
    return table


def read_texts(
    folder: str,
    name: str,
    columns: Sequence[str] | None,
    optional: Sequence[str] = (),
    *,
    is_named: bool = False,
) -> Table:
    """
    Read a table of texts as read_table() does, but without NumPy and with its `fields`. `is_named`:
    the caller names it, so that it may be a pipe.
    """
    data = read_bytes(folder, name, is_named=is_named)
    return parse_table(name, unpack(data, name), columns, optional)


def read_columns(
    folder: str,
    name: str,
    rules: Mapping[str, Rule],
    notes: Notes,
    optional: Sequence[str] = (),
    check: Callable[[Columns, np.ndarray], None] = lambda columns, valid: None,
) -> Columns:
    """
    Read the valid rows of a table, and note the others.

    `check` clears rows that are invalid next to others. Raises UserError if the table cannot be
    read.
    """
    table = read_table(folder, name, tuple(rules), optional)
    columns, valid = table.take(rules)
    check(columns, valid)
    table.refuse(valid)
    table.note(notes)
    return {column: values[valid] for column, values in columns.items()}


def parse_table(
    name: str, data: bytes, columns: Sequence[str] | None, optional: Sequence[str] = ()
) -> Table:
    """Parse the contents of a file, as read_texts() does."""
    table = Table(name)
    table._read(data, columns, optional)
    return table


def has_file(folder: str, name: str) -> bool:
    return os.access(os.path.join(folder, name), os.F_OK)


# JSON


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not a number in JSON")


def parse_json(text: str) -> Any:
    """Parse a document. Raises ValueError, with the line, if it is invalid."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: {error.msg[:1].lower()}{error.msg[1:]}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"line 1: {str(error).splitlines()[0]}") from None


def read_json(folder: str, name: str, hint: str = "") -> Any:
    """Read a document. Raises UserError, with the path, if it is missing or invalid."""
    path = f"{folder}/{name}"
    try:
        return parse_json(read_file(path, DOCUMENT_MAX).decode("utf-8"))
    except UnicodeDecodeError as error:
        line = 1 + error.object[: error.start].count(b"\n")
        raise UserError(f"{path}: invalid JSON: line {line}: invalid utf-8 string") from None
    except OSError as error:
        more = f": {hint}" if hint else ""
        raise UserError(f"{path}: {reason(error)}{more}") from None
    except ValueError as error:
        raise UserError(f"{path}: invalid JSON: {error}") from None


def member(document: Any, name: str, kind: type) -> Any:
    """Return a member of an object; None if it is absent or of another kind."""
    value = document.get(name) if isinstance(document, dict) else None
    return value if isinstance(value, kind) else None


def text_of(document: Any, name: str) -> str:
    """Return a text of an object; '' if it is absent."""
    return member(document, name, str) or ""


def number_of(document: Any, name: str) -> float:
    """Return a number of an object; NaN if it is absent."""
    value = document.get(name) if isinstance(document, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    try:
        return float(value) if math.isfinite(value) else math.nan
    except OverflowError:
        return math.nan


def list_of(document: Any, name: str) -> list[Any]:
    """Return a list of an object; an empty one if it is absent."""
    return member(document, name, list) or []
