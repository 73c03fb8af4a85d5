# SPDX-License-Identifier: Apache-2.0
"""Values of options of experiments: read from texts, exact until they are printed in a plan."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .. import units
from ..text import UserError, show
from .plan import number

Kind = Callable[[str], Any]

ROUND_MIN, ROUND_MAX = 0.001, 3600  # seconds, as in the dithering averageq
_SENSIBLE = 0.5  # seconds; a shorter time in `m` was probably meant in minutes
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?")
_CPUS_MAX = 8192
_LEVELS_MAX = 1_000_000
_COUNT_MAX = 1_000_000


def text(value: str) -> str:
    return value


def _positive(value: Any, shown: str, what: str) -> Any:
    if not value > 0:
        raise UserError(f"'{show(shown)}' is not a {what} above 0")
    return value


# Times


def time(value: str) -> float:
    """Return a time in seconds. A number without a unit is in seconds."""
    return units.time(value, _SENSIBLE)[0]


def doubt(kind: Kind, value: str) -> str:
    """Return why a time was probably meant otherwise; '' if it was not."""
    return units.time(value, _SENSIBLE)[1] if kind in (time, length) else ""


def length(value: str) -> float:
    return float(_positive(time(value), value, "time"))


def duration(value: str) -> float:
    """Return a time above 0 that is seldom in minutes."""
    return float(_positive(time(value), value, "time"))


def round_length(value: str) -> str:
    """Return the mean length of a round, as a plan has it."""
    seconds = units.time(value)[0]
    if seconds < ROUND_MIN:
        raise UserError(f"'{show(value)}' is too short: use at least 1ms")
    if seconds > ROUND_MAX:
        raise UserError(f"'{show(value)}' is too long: use at most 1h")
    return units.time_text(round(seconds * 1e9))


def span(seconds: float) -> str:
    """Return a time for people."""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{seconds:.3g} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


# Loads and numbers


def load(value: str) -> Fraction:
    """Return a load from 0 to 1; a bare number from 2 to 100 is in percent."""
    return units.exact_load(value, cpus=len(os.sched_getaffinity(0)))


def positive_load(value: str) -> Fraction:
    exact = load(value)
    _positive(exact, value, "load")
    return exact


def whole(value: str) -> int:
    if not re.fullmatch("[0-9]+", value):
        raise UserError(f"'{show(value)}' is not a whole number: use digits only")
    return int(value)


def count(value: str) -> int:
    found = whole(value)
    if not found:
        raise UserError(f"'{show(value)}' is too small: use at least 1")
    if found > _COUNT_MAX:
        raise UserError(f"'{show(value)}' is too large: use at most {_COUNT_MAX}")
    return found


def size(value: str) -> str:
    """Return a size of memory, as a JVM and ssburn read it."""
    if not re.fullmatch("[1-9][0-9]*[kKmMgG]?", value):
        raise UserError(f"'{show(value)}' is not a size: use a size such as 512M")
    return value


def percent(value: str) -> float:
    """Return a number in percent: 5 and 5% are 5."""
    if not _DECIMAL.fullmatch(value.removesuffix("%")):
        raise UserError(f"'{show(value)}' is not a percentage: use one such as 5% or 0.5%")
    return float(value.removesuffix("%"))


class Stairs:
    """HIGH:LOW:STEP, down and up again. Levels without a percent sign are in percent."""

    def __init__(self, value: str) -> None:
        parts = value.split(":")
        if len(parts) != 3 or not all(parts):
            use = "use three loads, such as 95%:5%:5%"
            raise UserError(f"'{show(value)}' is not HIGH:LOW:STEP: {use}")
        is_bare = re.fullmatch("[0-9:]+", value) and int(parts[0]) >= 2
        self.levels = [Fraction(part) / 100 if is_bare else load(part) for part in parts]
        high, low, step = self.levels
        if low > high or not step > 0:
            raise UserError(f"'{show(value)}': levels must go down by a step above 0")
        down = int((high - low) / step) + 1
        if down > _LEVELS_MAX:
            raise UserError(f"'{show(value)}': more than {_LEVELS_MAX} levels: use a larger STEP")
        self.steps = 2 * down

    def __str__(self) -> str:
        return ":".join(number(100 * level) for level in self.levels)


# Lists


class Words:
    """A kind of which --help lists the `known` words, for people and completions."""

    def __init__(self, known: tuple[str, ...], read: Kind) -> None:
        self.known = known
        self._read = read

    def __call__(self, value: str) -> Any:
        return self._read(value)


def one_of(*known: str) -> Words:
    def read(value: str) -> str:
        if value not in known:
            raise UserError(f"'{show(value)}' is not one of: {' '.join(known)}")
        return value

    return Words(known, read)


def list_of(kind: Kind) -> Words:
    """Return a kind of lists, whose empty items do not count."""

    def read(value: str) -> list[Any]:
        items = [kind(item) for item in value.split(",") if item]
        if not items:
            raise UserError("a value is required: see --help")
        return items

    return Words(getattr(kind, "known", ()), read)


# CPUs


def cpu_set(value: str) -> set[int]:
    """Return the CPUs of a list such as 0-3,8,10-14:2."""
    found: set[int] = set()
    for part in value.split(","):
        ends = re.fullmatch("([0-9]{1,6})(?:-([0-9]{1,6})(?::([0-9]{1,6}))?)?", part)
        first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
        step = int(ends[3] or 1) if ends else 0
        if not first <= last < _CPUS_MAX or not step:
            use = "use one such as 0-3,8 or 0-14:2"
            raise UserError(f"'{show(value)}' is not a list of CPUs: {use}")
        found.update(range(first, last + 1, step))
    return found


def cpus(value: str) -> str:
    """Return a list of CPUs, which must be available."""
    available = os.sched_getaffinity(0)
    outside = sorted(cpu_set(value) - available)
    if outside:
        listed = ",".join(map(str, sorted(available)))
        raise UserError(f"CPU {outside[0]} is not available here; available: {listed}")
    return value
