# SPDX-License-Identifier: Apache-2.0
"""Quantities on command lines, which are read exactly and rounded once."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from .text import UserError, show

_NUMBER = re.compile(r"(?=\.?[0-9])([0-9]*)(?:/([0-9]+)|\.([0-9]*))?(.*)", re.DOTALL)
_DIGITS_MAX = 24  # of a whole number
_DECIMALS_MAX = 30  # further ones are dropped
_COUNT_MAX = 2**64 - 1
_NEVER = 2**64 - 1  # nanoseconds

_SECOND = 10**9
_LENGTHS = (
    (86400 * _SECOND, "d day days"),
    (3600 * _SECOND, "h hr hour hours"),
    (60 * _SECOND, "M min mins minute minutes"),
    (_SECOND, "s sec secs second seconds"),
    (10**6, "m ms msec millisecond milliseconds"),
    (10**3, "u us usec"),
    (1, "n ns nsec"),
)
_UNITS = {name: length for length, names in _LENGTHS for name in names.split()}
_LISTED = "ns, us, ms, s, min, h and d"


class _Number(NamedTuple):
    """The number `over / under` at the beginning of a text, and the text after it."""

    text: str
    rest: str
    over: int = 0
    under: int = 1
    fault: str = ""

    @classmethod
    def of(cls, text: str) -> _Number:
        match = _NUMBER.fullmatch(text)
        if not match:
            return cls(text, text, fault="nothing")
        over, under, decimals, rest = match.groups("")
        if max(len(digits.lstrip("0")) for digits in (over, under)) > _DIGITS_MAX:
            return cls(text, rest, fault="is too large")
        if under and not int(under):
            return cls(text, rest, fault="divides by zero: use a fraction such as 1/3")
        decimals = decimals[:_DECIMALS_MAX]
        return cls(text, rest, int(over + decimals), int(under or 10 ** len(decimals)))

    @property
    def value(self) -> float:
        return self.over / self.under

    def explain(self) -> str:
        """Return why the text is not a quantity of any kind; '' if there is no such reason."""
        if any(blank in self.text for blank in " \t\r\n\v\f"):
            return "contains white space: remove it"
        if self.text.startswith("-"):
            return "is negative: use 0 or more"
        return "" if self.fault == "nothing" else self.fault


def _time_fault(number: _Number, milliseconds: bool) -> UserError:
    text = show(number.text)
    if why := number.explain():
        return UserError(f"'{text}' {why}")
    example = "20" if number.fault else text
    short = f", {example}ms" if milliseconds else ""
    if number.fault:
        more = f"use a number and a unit, such as 20s{short} or 20min"
        return UserError(f"'{text}' is not a time: {more}")
    if not number.rest:
        return UserError(f"'{text}' has no unit: use {text}s{short} or {text}min")
    unit = show(number.rest)
    return UserError(f"'{text}' has an unknown unit, '{unit}': units are {_LISTED}")


def time(text: str, sensible: float = 0) -> tuple[float, str]:
    """
    Return a time in seconds, and a warning or ''.

    A time in `m` (milliseconds) below `sensible` seconds was most likely meant in minutes. If
    `sensible` is at least 0.1, a number without a unit is in seconds.
    """
    number = _Number.of(text)
    milliseconds = sensible < 0.1
    unit = _UNITS.get(number.rest or ("" if milliseconds else "s"), 0)
    if not number.fault and not number.rest and number.over == 0:
        return 0.0, ""
    if number.fault or not unit:
        raise _time_fault(number, milliseconds)
    nanoseconds = (number.over * unit + number.under // 2) // number.under
    if nanoseconds >= _NEVER:
        longest = "use at most 213503d (584 years)"
        raise UserError(f"the time '{show(text)}' is too long: {longest}")
    seconds = nanoseconds / _SECOND
    if nanoseconds == 0 or seconds >= sensible or number.rest != "m":
        return seconds, ""
    digits = text[:-1]
    more = "" if digits == "1" else "s"
    return seconds, f"{digits}m is {digits} millisecond{more}; use {digits}min for minutes"


def time_text(nanoseconds: int) -> str:
    """Return a time for an option, in the largest unit of which it is a whole number."""
    if nanoseconds == 0:
        return "0"
    length, names = next(unit for unit in _LENGTHS if nanoseconds % unit[0] == 0)
    return f"{nanoseconds // length}{names.split()[0]}"


def load(text: str, plain_percent: bool = True) -> float:
    """Return a load from 0 to 1: 6/10, 0.6 or 60%; with `plain_percent`, as of options, also a
    number from 2 to 100."""
    return float(exact_load(text, plain_percent))


def exact_load(text: str, plain_percent: bool = True, cpus: int = 0) -> Fraction:
    """Return a load as load() does. If the number of CPUs is known, 2cpus is a load, too."""
    number = _Number.of(text)
    shown = show(text)
    if not number.fault and number.rest in ("cpu", "cpus"):
        if not cpus:
            unknown = "which cannot be converted to a load here: use 60%, 0.6 or 6/10"
            raise UserError(f"'{shown}' is a number of CPUs, {unknown}")
        number = number._replace(under=cpus * number.under, rest="")
        if number.over > number.under:
            measured = "1 CPU" if cpus == 1 else f"{cpus} CPUs"
            raise UserError(f"'{shown}' is more than the {measured} whose load is measured")
        return Fraction(number.over, number.under)
    is_percent = number.rest == "%"
    is_plain = not number.fault and not number.rest
    is_plain_percent = is_plain and 2 * number.under <= number.over <= 100 * number.under
    if is_percent or (is_plain_percent and plain_percent):
        number = number._replace(under=100 * number.under)
    if not number.fault and number.rest in ("", "%") and number.over <= number.under:
        return Fraction(number.over, number.under)
    if not number.fault and is_percent:
        raise UserError(f"'{shown}' is not a load: it must be between 0 and 100%")
    remedy = f"; use {shown}% for percent" if is_plain_percent else " (60%, 0.6 or 6/10)"
    raise UserError(f"'{shown}' is not a load: it must be between 0 and 1{remedy}")


def count(text: str) -> int:
    if not re.fullmatch("[0-9]+", text):
        raise UserError(f"'{show(text)}' is not a whole number: use digits only")
    if len(text.lstrip("0")) > _DIGITS_MAX or int(text) > _COUNT_MAX:
        raise UserError(f"'{show(text)}' is too large: use at most {_COUNT_MAX}")
    return int(text)


def number(text: str) -> float:
    """Return a decimal or a fraction that is not negative."""
    read = _Number.of(text)
    if not read.fault and not read.rest:
        return read.value
    example = "is not a number: use a decimal or a fraction, such as 1.5 or 1/3"
    raise UserError(f"'{show(text)}' {read.explain() or example}")


def percent(text: str) -> float:
    """Return a percentage: 5 and 5% are 5."""
    read = _Number.of(text)
    return read.value if not read.fault and read.rest == "%" else number(text)
