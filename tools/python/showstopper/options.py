# SPDX-License-Identifier: Apache-2.0
"""Extends argparse: errors in one line, and quantities such as 20s and 60%."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from . import units
from .text import UserError, show


class Parser(argparse.ArgumentParser):
    """Reports an error in one line. A value may begin with a dash only after an equals sign."""

    def __init__(self, program: str, usage: str, description: str, epilogue: str = "") -> None:
        super().__init__(
            program, usage, description, epilogue, add_help=False, allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        self.add_argument("words", nargs="*", help=argparse.SUPPRESS)
        self.add_argument("-h", "--help", action="help", help="print this help")

    def add_text(self, *flags: str, default: str = "", **more: Any) -> None:
        """Add an option whose value must not be empty."""
        self.add_argument(*flags, action=_Text, default=default, **more)

    def add_choice(
        self, flag: str, metavar: str, choices: str, about: str, default: str = ""
    ) -> None:
        """Add an option whose value is one of these words."""
        known = f"; default: {default}" if default else ""
        self.add_argument(
            flag, metavar=metavar, choices=choices.split(), default=default,
            help=f"{about}{known}; one of: {choices}",
        )  # fmt: skip

    def format_help(self) -> str:
        """Return help in the format of the C programs, from which completions are made."""
        text = super().format_help().replace("usage:", "Usage:", 1)
        # Before Python 3.13, an option is "-o DIR, --output DIR".
        return re.sub(r"(?m)^  (-\w) (\S+), (--\S+ \2)", r"  \1, \3", text)

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}: see --help")

    def parse(
        self, words: Sequence[str], known: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Parse options, which may be anywhere before `--`. `words` has all other words."""
        at = [*words, "--"].index("--")
        values = self.parse_intermixed_args(words[:at], known)
        values.words += words[at + 1 :]
        return values


class _Text(argparse.Action):
    def __call__(
        self, parser: object, namespace: argparse.Namespace, values: Any,
        option_string: str | None = None,
    ) -> None:
        if not values:
            raise argparse.ArgumentError(self, "is empty")
        setattr(namespace, self.dest, values)


def within(
    read: Callable[[str], Any], least: float = -1, most: float = 1e30, say: str = ""
) -> Callable[[str], Any]:
    """Return a reader of quantities for argparse, with a range that `say` describes."""

    def read_within(text: str) -> Any:
        try:
            value = read(text)
        except UserError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"'{show(text)}' is out of range: use {say}")
        return value

    return read_within


def seconds(text: str) -> float:
    return units.time(text)[0]
