# SPDX-License-Identifier: Apache-2.0
"""Traces of load: text and the compiled form, as showstopper-trace(5) describes them."""

from __future__ import annotations

import errno
import math
import re
import struct
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd

from . import units
from .contents import read_file
from .text import UserError, reason, show

LOAD_MIN = 1e-9  # smaller loads count as 0
LINE_MAX = 4096  # bytes of a line without its comment
TIME_MAX = 2**64 - 2  # nanoseconds
MAGIC = b"\x93SSTRACE"
ORDER, VERSION = 0x01020304, 1
HEADER = "8sIIQQ"  # magic, order, version, number of records, time of the last one


def read(path: str) -> pd.DataFrame:
    """Return the records of a trace in the order of time: time in seconds, and load; NaN if
    it is free. Raises UserError if the trace is not valid."""
    name = show(path)
    try:
        data = read_file(path, is_named=True)
    except IsADirectoryError as error:
        raise UserError(f"cannot read {name}: {reason(error)}") from None
    except OSError as error:
        advice = ": check the path" if error.errno in (errno.ENOENT, errno.ENOTDIR) else ""
        raise UserError(f"cannot open {name}: {reason(error)}{advice}") from None
    if data[:1] == MAGIC[:1]:
        return _read_compiled(data, name)
    records = [*_read_text(data, name)]
    if not records:
        line = data.removesuffix(b"\n").count(b"\n") + 1 + bool(data)
        why = "the trace has no record: use lines of TIME LOAD, such as 20s 60%"
        raise UserError(f"{name}:{line}:1: {why}")
    times, loads = zip(*records)
    return pd.DataFrame({"time": np.array(times, dtype=np.uint64) / 1e9, "load": loads})


# Text


class _Fault(Exception):
    """Why a line is not valid, and the byte at which that begins."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at = at


def _read_text(data: bytes, name: str) -> Iterator[tuple[int, float]]:
    """Yield time in nanoseconds and load for each record."""
    time = 0
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), 1):
        line, comment, _ = line.partition(b"#")
        line = line if comment else line.removesuffix(b"\r")
        line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        try:
            fields = _split(line, number == 1)
            if fields:
                time = _read_time(*fields[0], time)
                load = _read_load(*fields[1])
                _refuse_more(fields[2:])
                yield time, load
        except _Fault as fault:
            text = show(line.partition(b"\0")[0][:LINE_MAX].decode("utf-8", "surrogateescape"))
            raise UserError(f'{name}:{number}:{fault.at + 1}: {fault}, in "{text}"') from None


def _split(line: bytes, is_first: bool) -> list[tuple[int, str]]:
    """Return the fields of a line with their offsets, then an empty one; [] for an empty line."""
    if is_first and line[:2] in (b"\xff\xfe", b"\xfe\xff"):
        what = "this is UTF-16, but a trace is plain text or UTF-8"
        raise _Fault(0, f"{what}: convert it with iconv -f UTF-16 -t UTF-8")
    if b"\0" in line[:LINE_MAX]:
        why = "the line contains a null byte: use text, TIME LOAD, such as 20s 60%"
        raise _Fault(line.index(b"\0"), why)
    if len(line) > LINE_MAX:
        why = f"the line has more than {LINE_MAX} characters: use one record per line, TIME LOAD"
        raise _Fault(LINE_MAX, why)
    found = re.finditer(rb"[^ \t]+", line)
    fields = [(field.start(), field[0].decode("utf-8", "surrogateescape")) for field in found]
    return [*fields, (len(line), "")] if fields else []


def _read_time(at: int, field: str, before: int) -> int:
    text = field.removeprefix("+")
    try:
        time = round(units.time(text)[0] * 1e9)
    except UserError as error:
        raise _Fault(at, str(error)) from None
    time += before if text != field else 0
    if time > TIME_MAX:
        most = "a trace lasts at most 213503d (584 years)"
        raise _Fault(at, f"the time '{show(field)}' is too late: {most}")
    if time < before:
        remedy = f"use a time of {units.time_text(before)} or more, or +TIME relative to it"
        raise _Fault(at, f"'{show(field)}' is before the previous record: {remedy}")
    return time


def _read_load(at: int, field: str) -> float:
    if not field:
        raise _Fault(at, "missing load: use TIME LOAD, such as 20s 60%, or TIME free")
    if field == "free":
        return math.nan
    try:
        load = units.load(field, plain_percent=False)
    except UserError as error:
        remedy = "use a number from 0 to 1 (60%, 0.6 or 6/10) or the word free"
        why = f"'{show(field)}' is not a load: {remedy}"
        raise _Fault(at, str(error) if re.search("[0-9]", field) else why) from None
    return load if load >= LOAD_MIN else 0.0


def _refuse_more(fields: list[tuple[int, str]]) -> None:
    for at, field in fields:
        if field:
            remedy = "use one record per line, TIME LOAD, and # before a comment"
            raise _Fault(at, f"unexpected '{show(field)}': {remedy}")


# The compiled form


def _read_compiled(data: bytes, name: str) -> pd.DataFrame:
    def refuse(why: str) -> UserError:
        again = "compile it again from its text"
        return UserError(f"{name} is not a valid compiled trace: {why}: {again}")

    if len(data) < struct.calcsize(HEADER):
        raise refuse("truncated header")
    magic, order, version, count, length = struct.unpack_from(HEADER, data)
    if magic != MAGIC:
        raise UserError(f"{name} is not a compiled trace")
    if order.to_bytes(4, "little") == ORDER.to_bytes(4, "big"):
        raise UserError(
            f"{name} was compiled on a machine with the other byte order: dump it there with "
            "sstrace --dump, and compile the text here"
        )
    if order != ORDER:
        raise refuse("invalid byte order")
    if version != VERSION:
        raise UserError(
            f"{name} is a compiled trace of version {version}, and this program reads version "
            f"{VERSION}: compile it again from its text"
        )
    if not count:
        raise refuse("no record")
    records, end = _find_records(data, count)
    time, load = records["time"], np.abs(records["load"])
    is_load = (load == 0) | ((load >= LOAD_MIN) & (load <= 1))
    if not np.all(is_load & (time <= length)) or np.any(time[1:] < time[:-1]):
        raise refuse("invalid record")
    if len(data) < end + 8:
        raise refuse("truncated")
    checksum = int.from_bytes(data[end : end + 8], sys.byteorder)
    if _checksum(data[:end]) != checksum or time[-1] != length or length > TIME_MAX:
        raise refuse("checksum mismatch")
    if len(data) > end + 8:
        raise refuse("trailing data after the end")
    is_free = np.signbit(records["load"])
    return pd.DataFrame({"time": time / 1e9, "load": np.where(is_free, math.nan, load)})


def _find_records(data: bytes, count: int) -> tuple[np.ndarray, int]:
    """Return the records that the data contain, and the offset at which all of them would end."""
    begin = struct.calcsize(HEADER)
    end = begin + 16 * count
    whole = (min(end, len(data)) - begin) // 16
    layout = [("time", np.uint64), ("load", float)]
    return np.frombuffer(data, layout, whole, begin), end


def _checksum(data: bytes) -> int:
    checksum, mask = 0, 2**64 - 1
    for word in np.frombuffer(data, np.uint64).tolist():
        checksum = (checksum ^ word) * 0x9E3779B97F4A7C15 & mask
        checksum ^= checksum >> 32
    return checksum
