# SPDX-License-Identifier: Apache-2.0
"""
Folders whose files decide what is carried out, such as a run that names the processes to stop.

The folder and the files must belong to the caller or root and be writable for nobody else, and
files must have no second hard link, or they are refused before they are read. If others may write
to a folder of the caller, it is not refused, but loses this permission.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence

from .outputs import OutputError, is_trusted, user_name, walk
from .text import show

_OTHERS_WRITE = 0o022


@contextlib.contextmanager
def hold(path: str, names: Sequence[str]) -> Iterator[str]:
    """
    Check a folder and those of its files that exist; yield a path that nobody else can redirect.

    Raises OSError if the folder cannot be opened, and OutputError if it is refused.
    """
    with walk(path) as place:
        if place.status is None or place.folder < 0:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        folder = os.open(place.name, flags, dir_fd=place.folder)
    try:
        _check(folder, path)
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                file = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                try:
                    _check(file, f"{path}/{name}")
                finally:
                    os.close(file)
        yield f"/proc/self/fd/{folder}"
    finally:
        os.close(folder)


def _check(file: int, path: str) -> None:
    status = os.fstat(file)
    is_folder = stat.S_ISDIR(status.st_mode)
    why = ""
    if not is_folder and not stat.S_ISREG(status.st_mode):
        why = "is not a regular file: remove it"
    elif not is_trusted(status.st_uid):
        owner = user_name(status.st_uid)
        why = f"belongs to {owner}, who would decide what is carried out: use another folder"
    elif not is_folder and status.st_nlink > 1:
        why = "has another name (a hard link): remove it"
    if why:
        raise OutputError(f"{show(path)} {why}")
    if not status.st_mode & _OTHERS_WRITE:
        return
    if not is_folder or status.st_uid != os.geteuid():
        how = f"check it, then run chmod go-w {show(path)}"
        raise OutputError(f"{show(path)}: other users may write to it: {how}")
    os.fchmod(file, stat.S_IMODE(status.st_mode) & ~_OTHERS_WRITE)
