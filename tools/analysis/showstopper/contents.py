# SPDX-License-Identifier: Apache-2.0
"""
What files contain. A record may be another user's, who must not make a reader wait, fill its memory
or open a device: only regular files are read from folders. A file that the caller names may also be
a pipe.

This file uses nothing else of the package.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import IO

SIZE_MAX = 1 << 30  # bytes, also after unpacking


def open_regular(path: str) -> int:
    """Open a regular file for reading. Raises OSError for others, and does not wait for a pipe."""
    file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        mode = os.fstat(file).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file")
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        with contextlib.suppress(FileNotFoundError):  # /proc is not mounted
            return os.open(f"/proc/self/fd/{file}", flags)
        return os.open(path, flags)
    finally:
        os.close(file)


def open_file(path: str, *, is_named: bool = False) -> IO[bytes]:
    """Open a file that the caller names, or else one of a folder. Raises OSError."""
    if is_named:
        return open(path, "rb")
    return open(open_regular(path), "rb")


def _too_large(size_max: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than {size_max >> 20} MiB")


def read_stream(stream: IO[bytes], size_max: int = SIZE_MAX) -> bytes:
    """Read all that is left of a file. Raises OSError if it is too much."""
    data = stream.read(size_max + 1)
    if len(data) > size_max:
        raise _too_large(size_max)
    return data


def read_file(path: str, size_max: int = SIZE_MAX, *, is_named: bool = False) -> bytes:
    with open_file(path, is_named=is_named) as stream:
        if os.fstat(stream.fileno()).st_size > size_max:
            raise _too_large(size_max)
        return read_stream(stream, size_max)
