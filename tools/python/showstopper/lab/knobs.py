# SPDX-License-Identifier: Apache-2.0
"""Levels of the knobs of ssactuate(1) on this machine, and those of the published evaluation."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from ..text import UserError, show
from .services import Service
from .study import Study

ACTUATORS = "frequency pin cpus quota memory instances duty power idle".split()
PUBLISHED = "dvfs pinning horizontal vertical fig7 fig8 fig9 cap neighbours".split()

_KNOWN = ["workers", *ACTUATORS, "size"]
_COMMA = re.compile(f",(workers|{'|'.join(ACTUATORS)})[@=]")
_PAGE = "url=http://127.0.0.1:{port}/index.php?title=A_long_article"


class Refusal(Exception):
    """A level that is not possible on this machine."""


class Part(NamedTuple):
    """A way to use a quarter of the machine: busy instances for a part of the time."""

    placement: str
    busy: int  # instances
    duty: int  # percent
    pin: str = ""


@dataclass(frozen=True)
class Level:
    """
    A level of knobs.

    words    for ssactuate
    workers  requests that an instance works on at a time; None if not given
    cpus     CPUs that are left to the service; '' for all
    is_each  whether a thread or an instance may use only one of them, so that the load of each
             shows saturation
    """

    text: str
    words: tuple[str, ...]
    copies: int
    workers: int | None
    cpus: str
    is_each: bool


class Knobs:
    """The knobs of a study. A `mode` is busy, neighbours, cap or ''."""

    def __init__(self, study: Study, service: Service, mode: str) -> None:
        self.allowed = sorted(os.sched_getaffinity(0))
        self.lacks: dict[str, str] = {}  # why an actuator is absent
        self._study = study
        self._service = service
        self._mode = mode
        self._refusals: dict[tuple[str, ...], str] = {}
        self._cpus: dict[tuple[str, ...], str] = {}
        self._places: dict[tuple[str, str], str] = {}  # first level or setting with these CPUs

    # Levels

    def find(self, lists: Sequence[str], are_given: bool) -> list[Level]:
        """
        Return all combinations of the lists that are possible here; plan `skip` lines for others.

        are_given: whether the call names them; then they must be possible, unless an actuator is
        absent
        """
        levels = [""]
        for words in (text.split() for text in lists if text.strip()):
            levels = [f"{level}+{word}" if level else word for level in levels for word in words]
        levels = [level for level in levels if level]
        for knob in (knob for level in levels for knob in level.split("+")):
            self._check_knob(knob)
        self._find_lacks()
        levels = [level for level in levels if not self._is_absent(level)]
        if not levels and self._mode != "busy":
            raise UserError("this machine has none of these knobs")
        return [level for text in levels if (level := self._possible(text, are_given))]

    def _check_knob(self, knob: str) -> None:
        name = re.split("[@=]", knob)[0]
        shown = f"--knobs: {show(knob)}"
        if name not in _KNOWN:
            raise UserError(f"--knobs: '{show(name)}' is not one of: {' '.join(_KNOWN)}")
        if not re.search("=.", knob):
            raise UserError(f"{shown}: the level is missing: use one such as instances=2")
        if self._mode == "busy" and name not in ("frequency", "power"):
            why = "busy has no service, so only frequency and power have levels"
            raise UserError(f"{shown}: {why}")
        if name != "size" and _COMMA.search(knob):
            use = "join the knobs of a level by +, such as instances=2+pin=first:1"
            raise UserError(f"{shown}: {use}")

    def _find_lacks(self) -> None:
        for name in ACTUATORS:
            done = subprocess.run(["ssactuate", "get", name], capture_output=True)
            if done.returncode:
                why = os.fsdecode(done.stderr).strip()
                self.lacks[name] = why.removeprefix(f"ssactuate: {name} is absent: ")
                self._study.plan.skip(self.lacks[name], knobs=name)

    def _is_absent(self, level: str) -> bool:
        absent = ""
        for knob in level.split("+"):
            # size=NAME:cpus=N,quota=P,memory=M has up to three actuators.
            parts = knob.partition(":")[2].split(",") if knob.startswith("size=") else [knob]
            for name in (re.split("[@=]", part)[0] for part in parts):
                absent = name if name in self.lacks else absent
        if absent:
            self._study.plan.skip(f"{absent} is absent", knobs=level)
        return bool(absent)

    def _possible(self, text: str, is_given: bool) -> Level | None:
        try:
            level = self.read(text)
            if not is_given:
                self.require_new_place(text, level.cpus, text)
        except Refusal as refusal:
            if is_given:
                raise UserError(f"--knobs: {refusal}") from None
            self._study.plan.skip(str(refusal), knobs=text)
            return None
        return level

    def read(self, text: str) -> Level:
        """Return a level. Raises Refusal if ssactuate refuses it here."""
        words: list[str] = []
        has_service = self._mode != "busy"
        workers = self._service.workers
        if has_service and self._service.name == "serve":
            workers = workers or 1
        numbers = {"workers": str(workers or ""), "instances": "1"}
        for knob in text.split("+"):
            name, _, value = knob.partition("=")
            if name in numbers:
                numbers[name] = value
            else:
                words.append(knob)
        if not re.fullmatch(r"[1-9][0-9]*\.([1-9][0-9]*)?", ".".join(reversed(numbers.values()))):
            why = "instances and workers must be whole numbers above 0"
            raise UserError(f"--knobs: {show(text)}: {why}")
        if has_service:
            page = f",{_PAGE}" if self._service.name == "mediawiki" else ""
            words.insert(0, f"instances={numbers['instances']}{page}")
        workers = int(numbers["workers"]) if numbers["workers"] else None
        self._check(tuple(words), workers)
        is_each = any(re.fullmatch("pin=.*,each", word) for word in words)
        return Level(
            text, tuple(words), int(numbers["instances"]), workers, self._cpus_of(words),
            is_each or self._mode == "neighbours",
        )  # fmt: skip

    def _check(self, words: tuple[str, ...], workers: int | None) -> None:
        if words not in self._refusals:
            call = ["ssactuate", "run", "--check", *words]
            done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            said = os.fsdecode(done.stdout).strip() if done.returncode else ""
            self._refusals[words] = said.removeprefix("ssactuate: ")
        if self._refusals[words]:
            raise Refusal(self._refusals[words])
        if workers:
            self._service.check_workers("knobs: workers", workers)

    def _cpus_of(self, words: Sequence[str]) -> str:
        """Return the CPUs that these knobs leave to the service; '' for all."""
        named = [word for word in words if re.match("(pin|cpus|size)=", word)]
        placed = tuple(word.removesuffix(",each") for word in named)
        if placed in ((), ("pin=free",)):
            return ""
        if placed not in self._cpus:
            find = ["sed", "-n", r"s/^Cpus_allowed_list:[[:space:]]*//p", "/proc/self/status"]
            call = ["ssactuate", "run", *placed, "--", *find]
            done = subprocess.run(call, stdout=subprocess.PIPE, text=True)
            self._cpus[placed] = done.stdout.strip()
            if not self._cpus[placed]:
                raise UserError(f"--knobs: the CPUs of {' '.join(placed)} are unknown")
        cpus, first = self._cpus[placed], str(self.allowed[0])
        # The other instance runs on the first CPU.
        return f"{first},{cpus}" if self._mode == "neighbours" and cpus != first else cpus

    def require_new_place(self, key: str, cpus: str, name: str) -> None:
        """Raise Refusal if an earlier name has these CPUs, and the same key apart from its pin."""
        place = (re.sub(r"pin=[^+]*", "", key, count=1), cpus)
        if self._places.setdefault(place, name) != name:
            raise Refusal(f"the same CPUs as {self._places[place]}")

    # Levels of modes and of the published evaluation

    def defaults(self, published: str, frequencies: Sequence[str]) -> list[str]:
        """Return lists of levels that the mode or --published implies."""
        cpus = self._study.cpus
        eighth, quarter, half = (-(-cpus // part) for part in (8, 4, 2))
        if self._mode == "neighbours":
            if len(self.allowed) == 1:
                use = f"--knobs pin={self.allowed[0]} runs both instances on one"
                raise UserError(f"neighbours needs two CPUs: {use}")
            return [" ".join(f"pin={cpu}" for cpu in self.allowed[1:])]
        if published in ("fig7", "fig8"):
            is_first = published == "fig7"
            one = f"instances={quarter}+workers=1" if is_first else f"workers={quarter}"
            return [one, " ".join(self._settings(8 if is_first else 4))]
        sizes = range(quarter, cpus + 1, quarter)
        lists = {
            "cap": [machines(3, quarter, is_pinned=False)],
            "dvfs": [" ".join(frequencies), f"cpus={half}+workers={half}"],
            "pinning": [machines(4, quarter)],
            "horizontal": [machines(4, quarter, is_pinned=False)],
            "vertical": [" ".join(f"cpus={size}+workers={cpus}" for size in sizes)],
            "fig9": [machines(8, eighth)],
        }
        modes = {"busy": "frequency=min frequency=max", "cap": "instances=1 instances=2"}
        return lists[published] if published else [modes[self._mode]]

    def parts(self) -> list[Part]:
        """Return the published ways to use a quarter of the machine."""
        cpus = self._study.cpus
        quarter, half = -(-cpus // 4), -(-cpus // 2)
        return [
            Part("free", quarter, 100),
            Part("pinned", quarter, 100, f"pin=first:{quarter}"),
            Part("quarter-one-chip", quarter, 100, f"pin=one-chip:{quarter}"),
            Part("quarter-both-chips", quarter, 100, f"pin=spread:{quarter}"),
            Part("half-one-chip", half, 50, f"pin=one-chip:{half}"),
            Part("half-spread", half, 50, f"pin=spread:{half}"),
            Part("half-free", half, 50),
            Part("all-free", cpus, 25),
        ]

    def _settings(self, count: int) -> Iterator[str]:
        """Yield the knobs of the first `count` parts for a service. Pins to a quarter of the CPUs
        bind each instance or worker to one of them."""
        yield "pin=free"
        for part in self.parts()[1:count]:
            if not part.pin:
                self._study.plan.skip("the same as pin=free", setting=part.placement)
            else:
                yield part.pin + ("" if part.placement.startswith("half") else ",each")

    def possible_parts(self) -> list[Part]:
        """Return the parts that are possible: a chip may be too small, or the CPUs the same."""
        found = []
        for part in self.parts():
            try:
                if part.pin:
                    cpus = self.read(part.pin).cpus
                    self.require_new_place(f"{part.busy} {part.duty}", cpus, part.placement)
                found.append(part)
            except Refusal as refusal:
                self._study.plan.skip(str(refusal), placement=part.placement)
        return found


def machines(count: int, workers: int, is_pinned: bool = True) -> str:
    """Return levels with 1 to `count` instances, each with as many workers as a guest has CPUs,
    also pinned to the first CPUs."""
    levels = []
    for copies in range(1, count + 1):
        level = f"instances={copies}+workers={workers}"
        levels += [level, f"{level}+pin=first:{copies * workers},each"] if is_pinned else [level]
    return " ".join(levels)


def frequencies(root: str) -> list[str]:
    """
    Return levels with the lowest, the middle and the highest frequency.

    Without the governor `userspace`, only the maximum is set, as on the published Intel machine.
    """
    policy = Path(root, "sys/devices/system/cpu/cpufreq/policy0")
    kilohertz = Fraction(0)
    try:
        listed = (policy / "scaling_available_frequencies").read_text().split()
        if len(listed) > 2:
            kilohertz = Fraction(sorted(map(int, listed))[(len(listed) + 1) // 2 - 1])
    except OSError:
        files = [policy / "cpuinfo_min_freq", policy / "cpuinfo_max_freq"]
        if all(os.access(file, os.R_OK) for file in files):
            kilohertz = Fraction(sum(int(file.read_text()) for file in files), 2)
    governors = policy / "scaling_available_governors"
    has_governor = governors.exists() and "userspace" in governors.read_text().split()
    low = "min-" if policy.exists() and not has_governor else ""
    middle = [f"frequency={low}{float(kilohertz / 10**6):.15g}GHz"] if kilohertz else []
    return [f"frequency={low}min", *middle, f"frequency={low}max"]
