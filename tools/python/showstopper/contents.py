# SPDX-License-Identifier: Apache-2.0
"""
Contents of files: bytes, unpacked if necessary, JSON documents, and small tables of texts.

A record may be another user's, who must not make a reader wait, fill its memory, open a device or
print files of others: only regular files are read from folders, and links follow the rules of
outputs.walk(). A file that the caller names may also be a pipe.
"""

from __future__ import annotations

import csv
import errno
import json
import math
import os
import re
import stat
import subprocess
from collections.abc import Collection
from typing import IO, Any

from .outputs import OutputError, is_trusted, walk
from .text import UserError, reason, show

SIZE_MAX = 1 << 30  # bytes, also after unpacking
DOCUMENT_MAX = 16 << 20
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

# Files


def open_regular(path: str) -> int:
    """Open a regular file for reading. Raises OSError for other kinds of files, and for links that
    walk() refuses. Never waits for a pipe."""
    try:
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # say nothing about the target of a link that walk() refuses
        return _open_walked(path)
    try:
        if _is_direct(file, path):
            _check_regular(os.fstat(file))
            return os.open(f"/proc/self/fd/{file}", _READ)
    finally:
        os.close(file)
    return _open_walked(path)


def _is_direct(file: int, path: str) -> bool:
    """Return whether the path of an open file has no link, so that the slow walk() is not needed.
    """
    try:
        return os.readlink(f"/proc/self/fd/{file}") == os.path.abspath(path)
    except FileNotFoundError:  # /proc is not mounted
        return False


def _check_regular(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")


def _open_walked(path: str) -> int:
    try:
        with walk(path) as place:
            if place.status is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            _check_regular(place.status)
            if place.folder < 0:
                return os.open(f"/proc/self/fd/{place.file}", _READ)
            file = os.open(place.name, _READ | os.O_NOFOLLOW, dir_fd=place.folder)
            if not os.path.samestat(os.fstat(file), place.status):
                os.close(file)
                raise OSError(errno.ESTALE, "it was replaced while it was opened")
            return file
    except OutputError as error:
        raise OSError(errno.EACCES, str(error)) from None


def open_file(path: str, *, is_named: bool = False) -> IO[bytes]:
    """Open a file that the caller names, or else one of a folder. Raises OSError."""
    if is_named:
        return open(path, "rb")
    return open(open_regular(path), "rb")


def _too_large(size_max: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than {size_max >> 20} MiB")


def read_stream(stream: IO[bytes], size_max: int = SIZE_MAX) -> bytes:
    """Read the rest of a file. Raises OSError if it is too large."""
    data = stream.read(size_max + 1)
    if len(data) > size_max:
        raise _too_large(size_max)
    return data


def read_file(path: str, size_max: int = SIZE_MAX, *, is_named: bool = False) -> bytes:
    with open_file(path, is_named=is_named) as stream:
        return _read_opened(stream, size_max)


def _read_opened(stream: IO[bytes], size_max: int) -> bytes:
    if os.fstat(stream.fileno()).st_size > size_max:
        raise _too_large(size_max)
    return read_stream(stream, size_max)


def has_file(folder: str, name: str) -> bool:
    """
    Return whether a folder has a file of this name.

    A link that walk() refuses counts as one, so that nothing shows whether its target exists.
    """
    found = _has_directly(folder or ".", name)
    if found is not None:
        return found
    try:
        with walk(os.path.join(folder, name)) as place:
            return place.status is not None
    except OutputError:
        return True
    except OSError:
        return False


def _has_directly(folder: str, name: str) -> bool | None:
    """Do has_file() without walk(), which is slow. Return None if there may be a link (rare)."""
    try:
        opened = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if "/" in name or not _is_direct(opened, folder):
            return None
        status = os.lstat(name, dir_fd=opened)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    finally:
        os.close(opened)
    return None if stat.S_ISLNK(status.st_mode) else True


# Packed files are recognized by their first bytes. Programs unpack them, outside of this process.
_PACKED = {b"\x1f\x8b": "gzip", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


def unpack(data: bytes, name: str) -> bytes:
    program = next((packer for magic, packer in _PACKED.items() if data.startswith(magic)), None)
    if program is None:
        return data
    packed = os.memfd_create("packed")
    try:
        os.write(packed, data)
        os.lseek(packed, 0, os.SEEK_SET)
        unpacked, status = _run_unpacker(program, packed)
    except FileNotFoundError:
        why = f"{program} is missing: install it"
    except OSError as error:
        why = reason(error)
    else:
        why = "the file is damaged"
        if len(unpacked) > SIZE_MAX:
            why = f"it becomes larger than {SIZE_MAX >> 20} MiB"
        elif status == 0:
            return unpacked
    finally:
        os.close(packed)
    raise UserError(f"cannot unpack {show(name)}: {why}")


def _run_unpacker(program: str, packed: int) -> tuple[bytes, int]:
    """Return what the program printed, up to a limit, and its status."""
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen([program, "-dc"], stdin=packed, stdout=pipe, stderr=nothing) as process:
        assert process.stdout
        unpacked = process.stdout.read(SIZE_MAX + 1)
    return unpacked, process.returncode


def read_bytes(folder: str, name: str, *, is_named: bool = False) -> bytes:
    """Read a file of a folder, unpacked. Raises UserError."""
    return read_owned(folder, name, is_named=is_named)[0]


def read_owned(folder: str, name: str, *, is_named: bool = False) -> tuple[bytes, bool]:
    """Read a file as read_bytes() does; also return whether its owner is trusted."""
    try:
        with open_file(os.path.join(folder, name), is_named=is_named) as stream:
            is_ours = is_trusted(os.fstat(stream.fileno()).st_uid)
            return unpack(_read_opened(stream, SIZE_MAX), name), is_ours
    except OSError as error:
        cannot = "cannot read " if isinstance(error, IsADirectoryError) else ""
        raise UserError(f"{cannot}{name}: {reason(error)}") from None


def is_inside(path: str) -> bool:
    """Return whether a relative path in a file stays within the folder of that file."""
    return not path.startswith("/") and ".." not in path.split("/")


# Documents of JSON

_SURROGATE = re.compile(r"\\u[Dd][89A-Fa-f]")  # half of a pair, which UTF-8 cannot represent


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not a number in JSON")


def parse_json(text: str) -> Any:
    """Parse a document. Raises ValueError, with the line, if it is invalid."""
    try:
        found = json.loads(text, parse_constant=_refuse)
        if _SURROGATE.search(text):
            json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogateescape")
        return found
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


# Small tables of texts, such as a manifest, which need no pandas

Row = dict[str, str]


def parse_rows(name: str, data: bytes, needed: Collection[str]) -> tuple[list[Row], str]:
    """Return the rows of a table by the lower-case names of its columns, and a note on damaged
    ones. Skips empty lines and those that begin with #. Raises UserError."""
    text = data.decode("utf-8-sig", "surrogateescape")
    lines = ["" if line.lstrip().startswith("#") else line for line in text.splitlines()]
    reader = csv.reader(lines, skipinitialspace=True)
    heading: list[str] | None = None
    rows, damaged = [], []
    for fields in reader:
        cells = [field.strip() for field in fields]
        if heading is None and fields:
            heading = [cell.lower() for cell in cells]
            if missing := [column for column in needed if column not in heading]:
                why = f"no column '{missing[0]}', in \"{show(','.join(fields))}\""
                raise UserError(f"{name}:{reader.line_num}:1: {why}")
        elif fields and heading is not None:
            is_whole = len(cells) == len(heading)
            is_whole &= reader.line_num < len(lines) or text.endswith("\n")
            if is_whole:
                rows.append(dict(zip(heading, cells)))
            else:
                damaged.append((reader.line_num, ",".join(fields)))
    if heading is None:
        raise UserError(f"{name} is empty")
    return rows, note_damage(name, damaged)


def note_damage(name: str, damaged: list[tuple[int, str]]) -> str:
    """Return a note on damaged lines, numbers and texts: the first, and how many more there are."""
    if not damaged:
        return ""
    (line, text), more = damaged[0], len(damaged) - 1
    return f'{name}:{line}: damaged row, in "{show(text)}"{f" (and {more} more)" if more else ""}'
