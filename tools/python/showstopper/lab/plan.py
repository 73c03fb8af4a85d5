# SPDX-License-Identifier: Apache-2.0
"""The text of a plan, see showstopper-plan(5): quoted words, runs, and what a study keeps."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from ..installation import experiments
from ..text import UserError, tell

_PLAIN = re.compile(r"-|(?!.*=)[A-Za-z0-9%+,\-./:@_]+", re.DOTALL)
_PAIR = re.compile(r"([A-Za-z_][\w-]*)=(.*)", re.DOTALL)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_PART = re.compile(
    r"""(?P<blank>[ \t\r\n]+|(?<![^ \t\r\n])\#[^\n]*)|'(?P<single>[^']*)'
    |\$'(?P<escapes>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)"
    |\\(?P<escaped>.)|(?P<plain>[^ \t\r\n'"\\])""",
    re.VERBOSE | re.DOTALL,
)

_ESCAPE = re.compile(
    rb"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|.)", re.DOTALL
)
_ESCAPES = dict(zip(b"abtnvfreE\\'\"?", b"\a\b\t\n\v\f\r\x1b\x1b\\'\"?"))

Cells = Mapping[str, object]


# Words


@functools.cache
def quote(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    if _CONTROLS.search(word):
        word = re.sub(r"[\\']", r"\\\g<0>", word)
        return "$'" + _CONTROLS.sub(lambda found: f"\\{ord(found[0]):03o}", word) + "'"
    return "'" + word.replace("'", r"'\''") + "'"


@functools.lru_cache(4096)  # thousands of runs have nearly the same lines
def line(*words: str) -> str:
    """Return a line of a plan. In KEY=VALUE, only the value is quoted, which is easier to read."""
    parts = []
    for word in words:
        pair = _PAIR.fullmatch(word)
        parts.append(f"{pair[1]}={quote(pair[2]) if pair[2] else ''}" if pair else quote(word))
    return " ".join(parts)


def literal(text: str) -> str:
    """Double the braces of a text, so that ssbatch finds no placeholders in it."""
    return text.replace("{", "{{")


def split(text: str) -> list[str]:
    """
    Return the words of a line, quoted as in a shell.

    shlex has neither $'...' nor the escapes in double quotes.
    """
    words: list[str] = []
    word: str | None = None
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        if not part:
            raise UserError(f"the quote {text[at]} at column {at + 1} is not closed")
        kind, value, at = part.lastgroup, part[part.lastgroup or 0], part.end()
        if kind == "blank":
            words += [] if word is None else [word]
            word = None
            continue
        if kind == "double":
            value = re.sub(r'\\(["$`\\])', r"\1", value)
        elif kind == "escapes":
            value = os.fsdecode(_ESCAPE.sub(_unescape, os.fsencode(value)))
        word = (word or "") + value
    return words + ([] if word is None else [word])


def _unescape(found: re.Match[bytes]) -> bytes:
    """Return the bytes of an escape in $'...'."""
    code = found[1]
    if code[0] in _ESCAPES and len(code) == 1:
        octets = bytes([_ESCAPES[code[0]]])
    elif code[:1] == b"x" and len(code) > 1:
        octets = bytes([int(code[1:], 16)])
    elif code[:1] in (b"u", b"U") and len(code) > 1:
        octets = os.fsencode(chr(int(code[1:], 16)))
    elif code.isdigit():
        octets = bytes([int(code, 8) & 0xFF])
    else:
        octets = found[0]
    if b"\0" in octets:
        raise UserError("an escape is a null byte: words of commands cannot have one")
    return octets


def plain_name(text: str) -> str:
    """Return a name for a run, with a colon and a code for each character that names cannot have.
    """
    return re.sub(r"[^A-Za-z0-9._+=@:-]", lambda found: f":{ord(found[0]):02x}", text)


# Numbers and columns


def number(value: float | Fraction) -> str:
    """Return a number with 15 digits, which a double always keeps."""
    return f"{float(value):.15g}"


def short(value: float | Fraction) -> str:
    """Return a number for the name of a run."""
    return f"{float(value):.6g}"


def count_of(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(_shown, value))
    if isinstance(value, (float, Fraction)):
        return number(value)
    if value is None or value is False:
        return ""
    return "yes" if value is True else str(value)


def columns(cells: Cells) -> list[str]:
    """Return KEY=VALUE, without those whose value is empty."""
    texts = ((key, _shown(value)) for key, value in cells.items())
    return [f"{key}={text}" for key, text in texts if text]


def settings_text(settings: Cells) -> str:
    return "".join(f"{key}={_shown(value)} " for key, value in settings.items())


def checksum(data: bytes | str) -> str:
    octets = data if isinstance(data, bytes) else os.fsencode(data)
    return hashlib.sha256(octets).hexdigest()[:12]


# Lines


def kept(name: str, text: str) -> str:
    """Return the line of a value that must not change while a study continues."""
    return f"{line('once', name, 'match=^(.*)$', '--', 'echo')} {quote(literal(text))}"


def kept_checksum(kind: str, name: str, data: bytes | str) -> str:
    """Return a line as kept() does, for one of several values; later calls may add others."""
    return kept(f"{kind}-{checksum(name)}", f"{name} {checksum(data)}")


def write_line(file: str, *command: str) -> str:
    """Return the line that writes the output of a command to a file, which may be in a folder of
    another user."""
    script = '. "$0" && write_whole "$@"'
    helper = literal(str(experiments().parent / "folders.sh"))
    return line("before", "--", "bash", "-c", script, helper, file, *command)


class Plan:
    """Runs and skipped runs of a study. Equal ones are planned once."""

    def __init__(self) -> None:
        self._planned: dict[str, str] = {}
        self._skipped: list[str] = []

    def run(self, name: str, seconds: float, cells: Cells, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines of a run unless it is planned. Its name may have the / of a workload."""
        name = name.replace("/", ".")
        heading = line("run", name, "takes", f"{number(seconds)}s", *columns(cells))
        if self._is_new(name, heading):
            yield heading
            yield from lines

    def skip(self, reason: str, **cells: str) -> None:
        """Plan a line for something that is not available here."""
        name = plain_name("-".join(cells.values()))
        words = line("skip", name, f"reason={reason}", *columns(cells))
        if self._is_new(name, words):
            self._skipped.append(words)
            tell(f"skipped: {' '.join(columns(cells))}: {reason}")

    def head(
        self, settings: Cells, once: Iterable[str], cells: Cells, has_places: bool = False,
        more: Iterable[str] = (),
    ) -> Iterator[str]:  # fmt: skip
        """Yield the lines before the runs: what must not change, and what is found once."""
        yield "plan 1"
        if settings:
            yield kept("settings", settings_text(settings))
        yield from sorted(set(once))
        if has_places:
            source = "/proc/sys/kernel/random/uuid"
            yield line("once", "place", "match=^([0-9a-f]+)", "--", "cat", source)
        yield line("set", *columns(cells))
        yield from more
        yield from self._skipped

    def _is_new(self, name: str, heading: str) -> bool:
        if name not in self._planned:
            self._planned[name] = heading
            return True
        if self._planned[name] != heading:
            raise UserError(f"duplicate run name {name}: rename one of the workloads")
        return False
