# SPDX-License-Identifier: Apache-2.0
"""Files that a program writes: as a whole or not at all, and none over one that it reads."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping, Sequence

from .text import UserError, reason, show

_LINKS_MAX = 40
_ATTEMPTS_MAX = 100
_NAME_KEPT = 239  # bytes of a name in its hidden name, which is longer by dots, a pid, an attempt


def find(path: str) -> os.stat_result | None:
    """Return the status of a file; None if it does not exist."""
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def is_plain(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode)


def _is_foreign_link(path: str) -> bool:
    """
    Return whether the kernel would not follow this link if fs.protected_symlinks is set.

    That setting does not protect us, because we read links and replace their targets.
    """
    try:
        link = os.lstat(path)
    except OSError:
        return False
    if not stat.S_ISLNK(link.st_mode) or link.st_uid == os.geteuid():
        return False
    folder = find(os.path.join(os.path.dirname(path), "."))
    if folder is None:
        return True
    is_shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
    return bool(is_shared) and folder.st_uid != link.st_uid


def resolve(path: str) -> str:
    """Follow the path if it is a link, to the end of a chain of links. The file need not exist."""
    for _ in range(_LINKS_MAX):
        if _is_foreign_link(path):
            raise PermissionError(13, os.strerror(13))
        try:
            link = os.readlink(path)
        except OSError as error:
            if error.errno in (22, 2):  # EINVAL: not a link; ENOENT
                return path
            raise
        path = os.path.join(os.path.dirname(path), link)
    raise OSError(40, os.strerror(40))  # ELOOP


def write_whole(path: str, text: str | bytes) -> None:
    """
    Write a file, which gets its name only when it is complete. Raises OSError.

    A pipe or a device is written directly, because no file may replace it. If the path is a link,
    its target is replaced.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    status = find(path)
    if status is not None and not is_plain(status):
        resolve(path)
        _write_special(path, data)
        return
    path = resolve(path)
    descriptor, temporary = _create_temporary(path)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
        os.rename(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def write_file(path: str, text: str | None) -> None:
    """Write a file or, with None, remove that of an earlier call."""
    try:
        if text is not None:
            write_whole(path, text)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
    except OSError as error:
        raise UserError(f"{path}: {reason(error)}") from None


def make_folder(folder: str) -> None:
    """Create a folder unless it exists."""
    try:
        os.mkdir(folder)
    except FileExistsError:
        pass
    except OSError as error:
        raise UserError(f"{folder}: {reason(error)}") from None


def write_files(folder: str, files: Mapping[str, str | None]) -> None:
    """Write files by name into a folder, which is created, as write_file() does."""
    make_folder(folder)
    for name, text in files.items():
        write_file(f"{folder}/{name}", text)


def _write_special(path: str, data: bytes) -> None:
    """Open a FIFO without a reader fails at once instead of blocking."""
    descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    os.set_blocking(descriptor, True)
    with open(descriptor, "wb") as stream:
        stream.write(data)


def _create_temporary(path: str) -> tuple[int, str]:
    """Create a hidden file next to the path, with the mode of the file that it will replace."""
    folder, name = os.path.split(path)
    kept = os.fsdecode(os.fsencode(name)[:_NAME_KEPT])
    first = os.path.join(folder, f".{kept}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    for attempt in range(_ATTEMPTS_MAX):  # a killed program may have left a file with our pid
        temporary = f"{first}.{attempt}" if attempt else first
        try:
            descriptor = os.open(temporary, flags, 0o666)
        except FileExistsError:
            continue
        try:
            replaced = os.lstat(path)
            if is_plain(replaced):
                os.fchmod(descriptor, replaced.st_mode & 0o777)
        except OSError:
            pass
        return descriptor, temporary
    raise FileExistsError(17, os.strerror(17))


def _place(path: str) -> tuple[object, ...] | None:
    """Return what identifies a file or, if it does not exist, its folder and name."""
    status = find(path)
    if status is not None:
        is_shared = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
        return None if is_shared else (status.st_dev, status.st_ino)
    try:
        path = resolve(path)
    except OSError:
        return None
    folder = find(os.path.dirname(path) or ".")
    return (folder.st_dev, folder.st_ino, os.path.basename(path)) if folder else None


def check_outputs(outputs: Sequence[tuple[str, str]]) -> None:
    """Fail if two outputs, each an option and a path or '', are the same file."""
    known: dict[tuple[object, ...], str] = {}
    for option, path in outputs:
        place = _place(path) if path else None
        if place in known and place is not None:
            both = f"{known[place]} and {option} would both write to {show(path)}"
            raise UserError(f"{both}: choose another file")
        if place is not None:
            known[place] = option
