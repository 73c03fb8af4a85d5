# SPDX-License-Identifier: Apache-2.0
"""Runs programs and waits for them: they have the environment of the caller, get the signals that
this process gets, and end if it is killed."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from .text import UserError, reason

# Variables that this process has added or changed, and their values before
_own: dict[str, str | None] = {"SHOWSTOPPER_PROGRAM": None}


def set_own(name: str, value: str) -> None:
    """Set a variable of the environment for this process, but not for its children."""
    _own.setdefault(name, os.environ.get(name))
    os.environ[name] = value


def environment() -> dict[str, str]:
    """
    Return the environment of the caller, for children whose results may depend on it.

    In the locale C, Python sets LC_CTYPE before it runs any code, so this is undone, too.
    """
    found = {**os.environ}
    before: dict[str, str | None] = {**_own}
    if os.environ.get("LC_CTYPE") in ("C.UTF-8", "C.utf8", "UTF-8"):
        before["LC_CTYPE"] = _first("LC_CTYPE")
    for name, value in before.items():
        found.pop(name, None)
        if value is not None:
            found[name] = value
    return found


def _first(name: str) -> str | None:
    """Return a variable as this process got it. Later changes are not in /proc."""
    try:
        with open("/proc/self/environ", "rb") as stream:
            pairs = stream.read().split(b"\0")
    except OSError:
        return os.environ.get(name)
    key = os.fsencode(name) + b"="
    return next((os.fsdecode(one[len(key) :]) for one in pairs if one.startswith(key)), None)


@functools.cache
def _if_killed() -> tuple[str, ...]:
    """Return words before a command, which then gets SIGTERM if this process is killed."""
    words = "setpriv", "--pdeathsig", "TERM"
    if not shutil.which(words[0]):
        return ()
    tried = subprocess.run([*words, "true"], stderr=subprocess.DEVNULL, check=False)
    return () if tried.returncode else words


class Signals:
    """
    Forwards termination signals to a child, which cleans up, instead of ending this process.

    The child has a process group of its own, so that Ctrl-C of a terminal reaches only this
    process, and the child gets one signal rather than two. Ignored signals stay ignored.
    """

    def __init__(self) -> None:
        self.arrived: list[int] = []
        self._pending: list[int] = []
        self._child: subprocess.Popen[Any] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                self.catch(number, self._pass_on)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def catch(self, number: int, handler: Callable[[int, FrameType | None], None]) -> None:
        self._before[number] = signal.signal(number, handler)

    def _pass_on(self, number: int, _: object) -> None:
        self.arrived.append(number)
        if self._child:
            self._child.send_signal(number)
        else:
            self._pending.append(number)

    def start(self, words: Sequence[str], **how: Any) -> subprocess.Popen[Any]:
        """Start a command. Raises UserError if that is impossible."""
        self._child = None
        if not shutil.which(words[0]):
            raise UserError(f"{words[0]}: {os.strerror(2)}")
        command = [*_if_killed(), *words]
        try:
            child = subprocess.Popen(command, process_group=0, env=environment(), **how)
        except OSError as error:
            raise UserError(f"{words[0]}: {reason(error)}") from None
        self._child = child
        while self._pending:
            child.send_signal(self._pending.pop(0))
        return child
