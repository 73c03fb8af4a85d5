# SPDX-License-Identifier: Apache-2.0
"""Options of programs as rows: one row gives parsing, check of the range, help and suggestion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, Union

from . import units
from .text import UserError, show, wrap

_MARGIN = 30
_SUGGESTED_MAX = 64  # letters
_SIMILAR = 0.65  # about one letter in three may differ; with more differences it is another word

Values = SimpleNamespace  # of options, by name with _ instead of -, and `words`
Value = Union[str, float, int, None]


Take = Callable[[Values, str], None]


class Option(NamedTuple):
    """A row. The value of an option that is not given is its default, '' or None."""

    name: str
    help: str
    value: str = ""  # name of the value in the help; '': a flag
    kind: str = "text"  # of the value: text, choice, time, load, count, number or percent
    letter: str = ""
    default: str = ""
    min: str = ""
    max: str = ""
    sensible: str = ""  # a shorter time is probably a mistake
    choices: str = ""  # separated by spaces
    heading: str = ""  # printed above the option
    take: Take | None = None  # called for each occurrence


def parse(rows: Sequence[Option], argv: Sequence[str]) -> Values:
    """
    Parse options, which may be written -n 12, -n12, -qv, --name value or --name=value.

    `words` has all other words, and every word after `--`; `warnings` has the warnings.
    """
    values = Values(words=[], warnings=[])
    for row in rows:
        _set(values, row, _default(row))
    words = iter(argv)
    for word in words:
        if word == "--":
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            _take(values, _find(rows, name), value if equals else None, words)
        elif word.startswith("-") and word != "-":
            _take_letters(values, rows, word[1:], words)
        else:
            values.words.append(word)
    values.words += words
    return values


def _set(values: Values, row: Option, value: Any) -> None:
    setattr(values, row.name.replace("-", "_"), value)


def _default(row: Option) -> Value:
    if row.default:
        return _read(row, row.default)[0]
    if not row.value:
        return None if row.take else False
    return "" if row.kind in ("text", "choice") else None


def _find(rows: Sequence[Option], name: str) -> Option:
    for row in rows:
        if row.name == name:
            return row
    word = f"--{name}".encode("utf-8", "surrogateescape")[:63].decode("utf-8", "surrogateescape")
    raise unknown("option", word, [row.name for row in rows], "see --help")


def _take_letters(values: Values, rows: Sequence[Option], letters: str, words: Any) -> None:
    while letters:
        row = next((row for row in rows if row.letter == letters[0]), None)
        if row is None:
            octet = letters.encode("utf-8", "surrogateescape")[:1]
            letter = octet.decode("utf-8", "surrogateescape")
            raise UserError(f"unknown option '-{letter}': see --help")
        letters = letters[1:]
        joined = letters if row.value and letters else None
        _take(values, row, joined, words)
        if joined:
            return


def _take(values: Values, row: Option, value: str | None, words: Any) -> None:
    """Set one option. `value` is the text joined to its name; None if there is none."""
    name = f"--{row.name}"
    if not row.value and value is not None:
        raise UserError(f"{name} takes no value, but got '{value}'")
    if row.value and value is None:
        value = next(words, None)
        if value is None:
            raise UserError(f"{name} requires a value: use {name} {row.value}")
    if row.value and row.kind == "text" and not value:
        raise UserError(f"{name} is empty: use {name} {row.value}")
    try:
        if row.take:
            row.take(values, value or "")
            return
        read, doubt = _read(row, value) if value is not None else (True, "")
    except UserError as error:
        raise UserError(f"{name}: {error}", error.status) from None
    _set(values, row, read)
    warning = f"{name}: {doubt}"
    if doubt and warning not in values.warnings:
        values.warnings.append(warning)


def _quantity(row: Option, text: str) -> tuple[float, str]:
    if row.kind == "time":
        return units.time(text, units.time(row.sensible)[0] if row.sensible else 0)
    if row.kind == "load":
        return units.load(text), ""
    if row.kind == "count":
        try:
            return units.count(text), ""
        except UserError:
            if row.max and text.isascii() and text.isdecimal():
                raise UserError(f"'{show(text)}' is too large: use at most {row.max}") from None
            raise
    return (units.percent if row.kind == "percent" else units.number)(text), ""


def _read(row: Option, text: str) -> tuple[Value, str]:
    """Return the value of a text, and a warning or ''."""
    if row.kind == "text":
        return text, ""
    if row.kind == "choice":
        if text not in row.choices.split(" "):
            raise UserError(f"'{text}' is not one of: {row.choices}")
        return text, ""
    value, doubt = _quantity(row, text)
    if row.min and value < _quantity(row, row.min)[0]:
        more = f"; {doubt}" if doubt else ""
        raise UserError(f"'{text}' is too small: use at least {row.min}{more}")
    if row.max and value > _quantity(row, row.max)[0]:
        raise UserError(f"'{show(text)}' is too large: use at most {row.max}")
    return value, doubt


# Help


def describe(rows: Sequence[Option]) -> str:
    """Return the help: one paragraph per option, in 80 columns."""
    return "".join(map(_describe, rows))


def _describe(row: Option) -> str:
    letter = f"-{row.letter}," if row.letter else ""
    left = f"  {letter:3} --{row.name}{' ' if row.value else ''}{row.value}".ljust(_MARGIN)
    if len(left.rstrip()) >= _MARGIN:
        left += "\n" + " " * _MARGIN
    choices = f"; one of: {row.choices}" if row.choices else ""
    default = f"; default {row.default}" if row.default else ""
    heading = f"{row.heading}\n" if row.heading else ""
    return heading + left + wrap(row.help + choices + default, _MARGIN) + "\n"


# Suggestions


def unknown(what: str, word: str, names: Sequence[str], hint: str) -> UserError:
    """Return an error about a word that is not one of the names: what it may mean, or a hint."""
    from difflib import get_close_matches  # only here, so that --help is fast

    name = word.lstrip("-").lower()[:_SUGGESTED_MAX]
    found = get_close_matches(name, names, 1, _SIMILAR)
    if not found and len(name) >= 3:
        found = [one for one in names if one.startswith(name)]
    dashes = word[: len(word) - len(word.lstrip("-"))]
    more = f"did you mean '{dashes}{found[0]}'?" if found else hint
    return UserError(f"unknown {what} '{show(word)}': {more}")
