# SPDX-License-Identifier: Apache-2.0
"""
Keeps matplotlib from reading a cache or settings of another user.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys

from .outputs import is_trusted


def find_folder() -> str:
    """
    Return a folder for the cache that nobody else may change; '' if none is available.

    It is created unless it exists. One that others could write to is replaced.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.realpath(f"{cache}/showstopper/matplotlib")
    try:
        if not os.path.isabs(cache) or not _is_safe(folder):
            return ""
        if os.stat(folder).st_mode & 0o022:
            shutil.rmtree(folder)
            os.mkdir(folder, 0o700)
    except OSError:
        return ""
    is_writable = os.access(folder, os.W_OK | os.X_OK, effective_ids=True)
    return folder if is_writable else ""


def _is_safe(folder: str) -> bool:
    """Create folders; return whether no other user can replace one of them."""
    path = ""
    for name in folder.split("/")[1:]:
        status = os.lstat(path or "/")
        is_own = status.st_uid == os.geteuid()
        # A folder of ours may be writable for our group, which often has no other member.
        is_open = status.st_mode & (0o002 if is_own else 0o022)
        is_sticky = status.st_mode & stat.S_ISVTX
        if not is_trusted(status.st_uid) or (is_open and not is_sticky):
            return False
        path += f"/{name}"
        if not os.path.lexists(path):
            os.mkdir(path, 0o700)
    status = os.lstat(path)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def make_temporary() -> str:
    """Return a folder that lasts until the end of the process."""
    import atexit
    import tempfile

    folder = tempfile.mkdtemp(prefix="showstopper-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def load_matplotlib() -> None:
    """Import matplotlib from /, because it reads a `matplotlibrc` in the current folder."""
    if "matplotlib" in sys.modules:
        return
    try:
        here = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:  # then matplotlib cannot read a file there, either
        import matplotlib
        return
    try:
        os.chdir("/")
        import matplotlib  # noqa: F401
    finally:
        os.fchdir(here)
        os.close(here)
