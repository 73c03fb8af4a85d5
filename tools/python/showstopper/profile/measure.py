# SPDX-License-Identifier: Apache-2.0
"""Calls of `ssprofile measure`, the C program that runs benchmarks."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from ..text import UserError, reason

Key = tuple[str, str]  # a benchmark's name and class


def _program() -> str:
    """Return the C program: the one that started this process, or that of the PATH."""
    return os.environ.get("SHOWSTOPPER_PROGRAM", "ssprofile")


def measure(words: Sequence[str]) -> int:
    """
    Run `ssprofile measure` with these arguments. Returns its status; it prints what is wrong.

    Signals to end are passed on, so that it cleans up. Ctrl-C of a terminal reaches both.
    """
    children: list[subprocess.Popen[bytes]] = []
    arrived: list[int] = []

    def pass_on(number: int, _: object) -> None:
        if number != signal.SIGINT:
            arrived.append(number)
            for child in children:
                child.send_signal(number)

    ends = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    sys.stdout.flush()
    for number, before in ends.items():
        if before != signal.SIG_IGN:
            signal.signal(number, pass_on)
    try:
        children.append(subprocess.Popen([_program(), "measure", *words]))
        for early in arrived:
            children[0].send_signal(early)
        status = children[0].wait()
    except OSError as error:
        raise UserError(f"{_program()}: {reason(error)}") from None
    finally:
        for number, before in ends.items():
            signal.signal(number, before)
    return status if status >= 0 else 128 - status


def read_battery(name: str) -> dict[Key, bool]:
    """Return the benchmarks of a battery, and whether lower results are better."""
    command = [_program(), "measure", "--list", "--battery", name]
    try:
        listed = subprocess.run(
            command, capture_output=True, check=False, encoding="utf-8", errors="surrogateescape"
        )
    except OSError as error:
        raise UserError(f"{_program()}: {reason(error)}") from None
    if listed.returncode:
        why = listed.stderr.rstrip("\n").removeprefix("ssprofile: ")
        raise UserError(why, listed.returncode)
    return {
        (row["benchmark"], row["class"]): row["lower_is_better"] == "true"
        for row in csv.DictReader(listed.stdout.splitlines())
    }
