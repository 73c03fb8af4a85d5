# SPDX-License-Identifier: Apache-2.0
"""Calls of `ssprofile measure`, the C program that runs benchmarks."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from ..children import Signals, environment
from ..contents import parse_json
from ..text import UserError, reason

Key = tuple[str, str]  # a benchmark's name and class


def program() -> str:
    """Return the C program: the one that started this process, or the one in PATH."""
    return os.environ.get("SHOWSTOPPER_PROGRAM", "ssprofile")


def measure(words: Sequence[str]) -> int:
    """Run `ssprofile measure` with these arguments. Returns its status; it prints its errors."""
    sys.stdout.flush()
    with Signals() as signals:
        status = signals.start([program(), "measure", *words]).wait()
    return status if status >= 0 else 128 - status


def _list(*words: str) -> str:
    """Return what `ssprofile measure` prints about a battery. Raises UserError with its error."""
    command = [program(), "measure", *words]
    try:
        listed = subprocess.run(
            command, capture_output=True, check=False, encoding="utf-8", errors="surrogateescape",
            env=environment(),
        )  # fmt: skip
    except OSError as error:
        raise UserError(f"{program()}: {reason(error)}") from None
    if listed.returncode < 0:
        raise UserError(f"interrupted by a signal: {signal.strsignal(-listed.returncode)}")
    if listed.returncode:
        why = listed.stderr.rstrip("\n").removeprefix("ssprofile: ")
        raise UserError(why, listed.returncode)
    return str(listed.stdout)


def read_battery(name: str) -> dict[Key, bool]:
    """Return the benchmarks of a battery, and whether lower results are better."""
    return {
        (row["benchmark"], row["class"]): row["lower_is_better"] == "true"
        for row in csv.DictReader(_list("--list", "--battery", name).splitlines())
    }


def describe(words: Sequence[str]) -> Any:
    """Return the CPU, the version of the benchmarks and the settings with these options."""
    return parse_json(_list("--describe", *words))
