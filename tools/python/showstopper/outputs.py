# SPDX-License-Identifier: Apache-2.0
"""
Files that a program writes: as a whole or not at all, and never where another user directs it.

A path is walked with descriptors, so that nobody can exchange a folder or a link after it was
judged. Links are followed if they belong to the caller, to root or to the owner of `/`. A link of
another user is followed only in a folder of that user, and only to a place of that user.

This file uses nothing else of the package.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import pwd
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn

_LINKS_MAX = 40  # Linux follows at most this many in a path
_NAME_KEPT = 237  # bytes of a name in its hidden name, which is longer by two dots and 16 digits
_ATTEMPTS_MAX = 100
_UNMAPPED = 65534  # in a user namespace, the owner of files of all users that it does not map
_USERS = 4294967295  # how many users there can be: this number itself means "no user"
_USER_MAP = "/proc/self/uid_map"  # lines: first user here, first user outside, number of users
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_CHOOSE = "choose a folder in which only you can create files"
_STREAMS = {"in": 0, "out": 1, "err": 2}


class OutputError(OSError):
    """A file that cannot be written; the text is the message of the program."""

    status = 125


class Place(NamedTuple):
    """A file, whether it exists or not; valid until the end of walk()."""

    folder: int  # descriptor of the folder; -1 for a stream of the process, such as /dev/stdout
    name: str  # in the folder
    file: int  # descriptor of the file, for its status only; -1 if it does not exist
    status: os.stat_result | None


# Users


@functools.cache
def _has_all_users() -> bool:
    """
    Return whether the user namespace has all users of the machine.

    If it has only some, _UNMAPPED may be any other user. Returns False if /proc is missing.
    """
    try:
        with open(_USER_MAP, "rb") as stream:
            return sum(int(line.split()[2]) for line in stream) >= _USERS
    except (OSError, ValueError, IndexError):
        return False


def _is_known(uid: int) -> bool:
    return uid != _UNMAPPED or _has_all_users()


def is_trusted(uid: int) -> bool:
    return uid in (os.geteuid(), 0) and _is_known(uid)


def _is_of_system(uid: int) -> bool:
    """Return whether links of this user, the owner of `/`, are part of the system."""
    return uid == os.stat("/").st_uid and _is_known(uid)


def _is_closed(folder: os.stat_result) -> bool:
    """Return whether only trusted users may change what the folder contains."""
    return is_trusted(folder.st_uid) and not folder.st_mode & 0o022


def user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


# Paths


@contextlib.contextmanager
def walk(path: str) -> Iterator[Place]:
    """
    Yield the place of a file, after following links. Raises OSError.

    A stream of this process, such as /dev/fd/3, is not followed further.
    """
    steps = _Walk()
    try:
        yield steps.find(path)
    finally:
        steps.close()


class _Walk:
    def __init__(self) -> None:
        self._folders: list[tuple[int, str]] = []  # with their paths, for messages
        self._rest: list[str] = []  # names, the next one last
        self._bound: dict[int, str] = {}  # a link of each user that is not trusted
        self._links = 0
        self._stream = -1

    def close(self) -> None:
        while self._folders:
            os.close(self._folders.pop()[0])

    def find(self, path: str) -> Place:
        self._enter(path)
        while self._rest:
            name = self._rest.pop()
            if name == "..":
                self._leave()
            elif name != "." and (place := self._step(name)):
                return self._check(place)
        if self._stream >= 0:
            return self._check(Place(-1, path, self._stream, os.fstat(self._stream)))
        folder = self._folders[-1][0]
        return self._check(Place(folder, ".", folder, os.fstat(folder)))

    def _enter(self, path: str) -> None:
        """Continue with this path, or end at a stream."""
        names = [name for name in path.split("/") if name not in ("", ".")]
        if path.startswith("/"):
            whole = "/" + "/".join([*names, *reversed(self._rest)])
            self._stream, below = _find_stream(whole)
            if self._stream >= 0 and not below:
                self._rest.clear()
                return
            self.close()
            if self._stream >= 0:
                self._enter_stream(whole.removesuffix(below), below)
                return
        if not self._folders:
            base = "/" if path.startswith("/") else ""
            self._folders.append((os.open(base or ".", _FOLDER), base))
        if path.endswith(("/", "/.")):  # the path of a folder
            names.append(".")
        self._rest += reversed(names)

    def _enter_stream(self, shown: str, below: str) -> None:
        """Continue in an open folder, whose former path may lead to another folder now."""
        folder, self._stream = os.open(".", _FOLDER, dir_fd=self._stream), -1
        self._folders.append((folder, shown))
        self._rest = below.split("/")[::-1]

    def _leave(self) -> None:
        """Return to the folder from which the walk came: ".." of a moved folder leads elsewhere."""
        folder, shown = self._folders.pop()
        if not self._folders:
            above = os.open("..", _FOLDER, dir_fd=folder)
            self._folders.append((above, os.path.join(shown, "..")))
        os.close(folder)

    def _step(self, name: str) -> Place | None:
        """Return the place if this is the last name."""
        folder, above = self._folders[-1]
        shown = os.path.join(above, name)
        try:
            file = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        except OSError as error:
            place = Place(folder, name, -1, None)
            if self._rest or not isinstance(error, FileNotFoundError):
                self._check(place)  # or the error would reveal what another user's link leads to
                raise
            return place

        self._folders.append((file, shown))
        status = os.fstat(file)
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink("", dir_fd=file)
            os.close(self._folders.pop()[0])
            self._judge(status, os.fstat(folder), shown)
            self._enter(target)
            return None
        if not self._rest:
            return Place(folder, name, file, status)
        if not stat.S_ISDIR(status.st_mode):
            self._check(Place(folder, name, file, status))
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return None

    def _judge(self, link: os.stat_result, folder: os.stat_result, shown: str) -> None:
        """Refuse a link, or remember the user whose place it must lead to."""
        self._links += 1
        if self._links > _LINKS_MAX:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        is_ours = is_trusted(link.st_uid)
        if not is_ours and _is_of_system(link.st_uid):
            return
        # In a folder that others may write to, a link may be a hard link that they made.
        if is_ours and (link.st_nlink == 1 or _is_closed(folder)):
            return
        is_of_owner = link.st_uid == folder.st_uid
        if is_of_owner and os.path.dirname(shown) == "/" and not folder.st_mode & 0o022:
            return  # in a user namespace, whose / belongs to a user that it does not map
        if is_ours or not is_of_owner or not _is_known(link.st_uid):
            _refuse_link(link.st_uid, shown)
        self._bound.setdefault(link.st_uid, shown)

    def _check(self, place: Place) -> Place:
        """Refuse a place that does not belong to the users whose links led to it."""
        places = [place.status] if place.status else []
        if place.folder >= 0 and not (place.status and stat.S_ISDIR(place.status.st_mode)):
            places.append(os.fstat(place.folder))
        for uid, shown in self._bound.items():
            if place.folder < 0 or any(one.st_uid != uid for one in places):
                _refuse_link(uid, shown)
        return place


def _find_stream(path: str) -> tuple[int, str]:
    """Return the descriptor with which a path such as /dev/stdout begins, and the path below it; -1
    for other paths."""
    stream = rf"/dev/std(in|out|err)|/(?:dev|proc/(?:self|{os.getpid()}))/fd/(\d+)"
    match = re.fullmatch(rf"(?:{stream})(?:/(.*))?", path)
    if not match:
        return -1, ""
    return _STREAMS[match[1]] if match[1] else int(match[2]), match[3] or ""


def _refuse_link(uid: int, shown: str) -> NoReturn:
    raise OutputError(f"{shown} is a link of {user_name(uid)}: name its target")


# Files


@contextlib.contextmanager
def _explain(path: str) -> Iterator[None]:
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from None


def write_file(path: str, text: str | bytes) -> None:
    """
    Write a file, which gets its name only when it is complete. Raises OutputError.

    A pipe or a device is written directly, because no file may replace it. If the path is a link,
    its target is replaced.
    """
    with _explain(path), walk(path) as place:
        if place.status is None or stat.S_ISREG(place.status.st_mode) and place.folder >= 0:
            _replace(place.folder, place.name, _encode(text))
        else:
            with open(_open_special(place, path), "wb") as stream:
                stream.write(_encode(text))


class Folder:
    """
    A folder of results, which is created unless it exists. Raises OutputError.

    It may belong to another user. It is held by its descriptor, and no link in it is followed.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        with _explain(path), walk(path.rstrip("/") or "/") as place:
            if place.status is None:
                self._descriptor = _make_folder(place, path)
            elif stat.S_ISDIR(place.status.st_mode):
                self._descriptor = os.dup(place.file)
            else:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))

    def write(self, name: str, text: str | bytes | None) -> None:
        """Write a file as a whole or, with None, remove that of an earlier call."""
        with _explain(f"{self.path}/{name}"):
            if text is not None:
                _replace(self._descriptor, name, _encode(text))
                return
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        """Remove a file, a link, or a folder with what it contains, unless it is absent."""
        with _explain(f"{self.path}/{name}"), contextlib.suppress(FileNotFoundError):
            try:
                os.unlink(name, dir_fd=self._descriptor)
            except IsADirectoryError:
                shutil.rmtree(name, dir_fd=self._descriptor)

    def rename(self, old: str, new: str) -> None:
        with _explain(f"{self.path}/{new}"):
            os.rename(old, new, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _make_folder(place: Place, path: str) -> int:
    """Create a folder and open it, or open one that another process has just created. Refuses a
    new folder with contents, by which another user has replaced it."""
    is_new = True
    try:
        os.mkdir(place.name, dir_fd=place.folder)
    except FileExistsError:
        is_new = False
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(place.name, flags, dir_fd=place.folder)
    if is_new and os.listdir(descriptor):
        os.close(descriptor)
        raise OutputError(f"{path} was replaced as soon as it had been created: {_CHOOSE}")
    return descriptor


def write_files(folder: str, files: Mapping[str, str | bytes | None]) -> None:
    """Write files by name into a folder, as Folder.write() does."""
    with Folder(folder) as results:
        for name, text in files.items():
            results.write(name, text)


def make_folders(path: str) -> None:
    """Create a folder and those above it unless they exist."""
    above = os.path.dirname(path.rstrip("/"))
    if above and not os.path.isdir(above):
        make_folders(above)
    with Folder(path):
        pass


def _encode(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def _replace(folder: int, name: str, data: bytes) -> None:
    descriptor, hidden = _create_hidden(folder, name)
    try:
        with open(descriptor, "wb") as stream:
            _copy_mode(folder, name, descriptor)
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
        os.rename(hidden, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(hidden, dir_fd=folder)
        raise


def _create_hidden(folder: int, name: str) -> tuple[int, str]:
    """Create a file whose name nobody can predict; programs that watch the folder ignore it."""
    kept = os.fsdecode(os.fsencode(name)[:_NAME_KEPT])
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    for _ in range(_ATTEMPTS_MAX):
        hidden = f".{kept}.{os.urandom(8).hex()}"
        with contextlib.suppress(FileExistsError):
            return os.open(hidden, flags, 0o666, dir_fd=folder), hidden
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _copy_mode(folder: int, name: str, descriptor: int) -> None:
    """
    Keep the mode of a file of ours, without permissions to write that new files do not have.

    Others may have made a hard link to a file of ours here, or moved one here.
    """
    with contextlib.suppress(OSError):
        old = os.stat(name, dir_fd=folder, follow_symlinks=False)
        is_own = old.st_uid == os.geteuid() and _is_known(old.st_uid)
        is_certain = old.st_nlink == 1 or _is_closed(os.fstat(folder))
        if stat.S_ISREG(old.st_mode) and is_own and is_certain:
            new = os.fstat(descriptor).st_mode
            os.fchmod(descriptor, old.st_mode & 0o777 & (new | ~0o022))


def _open_special(place: Place, path: str) -> int:
    """Open a stream, a pipe or a device. Opening a pipe without a reader fails at once."""
    assert place.status
    if place.folder < 0:
        return os.dup(place.file)
    mode, uid = place.status.st_mode, place.status.st_uid
    if stat.S_ISBLK(mode):
        raise OutputError(f"{path} is a block device: name a file")
    folder = os.fstat(place.folder)
    is_shared = folder.st_mode & 0o022
    if stat.S_ISFIFO(mode) and is_shared and not is_trusted(uid):
        raise OutputError(f"{path} is a pipe of {user_name(uid)}: choose a folder of your own")

    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(place.name, flags, dir_fd=place.folder)
    if not os.path.samestat(os.fstat(descriptor), place.status):
        os.close(descriptor)
        raise OutputError(f"{path} was replaced while it was opened: repeat the command")
    os.set_blocking(descriptor, True)
    return descriptor


# Comparison


def _identify(path: str) -> tuple[object, ...] | None:
    """Return what identifies a file or, if it does not exist, its folder and name."""
    try:
        with walk(path) as place:
            if place.status is None:
                folder = os.fstat(place.folder)
                return folder.st_dev, folder.st_ino, place.name
            mode = place.status.st_mode
            is_device = stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
            return None if is_device else (place.status.st_dev, place.status.st_ino)
    except OSError:
        return None  # is reported when the file is written


def check_outputs(outputs: Sequence[tuple[str, str]]) -> None:
    """Fail if two outputs, each an option and a path or '', are the same file."""
    known: dict[tuple[object, ...], str] = {}
    for option, path in outputs:
        place = _identify(path) if path else None
        if place in known and place is not None:
            both = f"{known[place]} and {option} would both write to {path}"
            raise OutputError(f"{both}: choose another file")
        if place is not None:
            known[place] = option
