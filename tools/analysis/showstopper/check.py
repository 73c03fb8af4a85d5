# SPDX-License-Identifier: Apache-2.0
"""`analysis check` fails if a package is missing, for experiments that decide between runs."""

from __future__ import annotations

from .cli import Program, find_missing
from .options import Option, Values
from .text import UserError


def run(values: Values) -> int:
    if advice := find_missing():
        raise UserError(advice)
    return 0


_ROWS = (Option("help", "print this help", letter="h"),)
_USAGE = """\
Usage: analysis check
Succeeds if all packages of Python are installed that reports need. Programs and
experiments call this.
"""
PROGRAM = Program("analysis", _USAGE, _ROWS, lambda values: None, run)
