# SPDX-License-Identifier: Apache-2.0
"""Words for people: errors in one line, and texts of files that must not control a terminal."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterable, Sequence

SHOWN_MAX = 92  # bytes of a text of a user in a message


class UserError(Exception):
    """An error of the user, which the program prints on one line before it ends."""

    def __init__(self, message: str, status: int = 125) -> None:
        super().__init__(message)
        self.status = status


# Terminals obey these characters; those of C1 also as single bytes.
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), *range(0xDC80, 0xDCA0))
_MARKED = {mark: dict.fromkeys(_CONTROLS, mark) for mark in "? "}


def printable(text: str, mark: str = "?") -> str:
    """Return a text, which may come from a file, as one line without control characters."""
    return text.translate(_MARKED[mark])


# Besides control characters, XML cannot have two codes that are not characters, and surrogates,
# which stand for bytes that are not UTF-8.
_INVALID = dict.fromkeys((0xFFFE, 0xFFFF, *range(0xD800, 0xE000)), "?") | {9: " ", 10: " "}


def page_text(text: str) -> str:
    """Replace the characters of a text that a page or a picture cannot have. Does not escape it."""
    return printable(text.translate(_INVALID))


def say(text: str) -> None:
    """Print lines for people. Texts of files do not control the terminal."""
    print("\n".join(map(printable, text.split("\n"))), end="")


def tell(message: str) -> None:
    """Print a line about progress, which is not a result, after the results before it."""
    sys.stdout.flush()
    print(printable(message), file=sys.stderr, flush=True)


def complain(program: str, message: str) -> None:
    tell(f"{program}: {message}")


def show(text: str) -> str:
    """Return a text of a user for a message: one line, cut if it is long."""
    octets = text.encode("utf-8", "surrogateescape")
    if len(octets) <= SHOWN_MAX:
        return printable(text, " ")
    return printable(octets[:SHOWN_MAX].decode("utf-8", "ignore"), " ") + "..."


def listed(words: Sequence[str], most: int) -> str:
    """Return "a, b and 3 more"."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")


def wrap(text: str, margin: int = 0) -> str:
    """Break a text into lines of 79 columns, all but the first after a margin. "58 %" stays
    together."""
    lines = textwrap.wrap(
        text.replace(" %", "\0%"), 79 - margin, break_long_words=False, break_on_hyphens=False
    )
    return ("\n" + " " * margin).join(lines).replace("\0%", " %")


def findings_text(findings: Iterable[str]) -> str:
    return "".join(f"- {wrap(one, 2)}\n" for one in findings)


def reason(error: OSError) -> str:
    """Return why a file cannot be read or written, for a system call as strerror() says it."""
    return error.strerror or os.strerror(error.errno or 0)
