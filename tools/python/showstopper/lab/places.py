# SPDX-License-Identifier: Apache-2.0
"""
Places of the two sides of a run: an environment, and CPUs.

env/README.md describes the commands in env/, which open places.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..installation import experiments
from ..text import UserError, show, tell
from . import values
from .methods import why_no_place
from .plan import literal

ENVIRONMENTS = ("host", "lxc", "podman", "kvm")
PLACEMENTS = ("neutral", "quota", "free", "per-chip", "per-core", "per-thread", "sets")
GUESTS = ("kvm", "tcg")
CONTAINERS = ("lxc", "podman")

_PLATFORM = "showstopper-platform"
_BOOT = {"kvm": (6, 0.1), "tcg": (14, 2)}  # seconds of a guest, and of each instance

Pair = tuple[str, str]  # of the foreground and of the background


@dataclass(frozen=True)
class Place:
    """
    Where both sides of a run are.

    cpus    lists of CPUs; '' if the side is not pinned
    counts  the numbers of CPUs; half of all for sides that are not pinned
    """

    environment: str
    placement: str
    cpus: Pair = ("", "")
    counts: tuple[int, int] = (0, 0)

    @property
    def is_guest(self) -> bool:
        return self.environment in GUESTS

    @property
    def is_container(self) -> bool:
        return self.environment in CONTAINERS

    @property
    def program(self) -> str:
        """Return the command in env/ that opens the place of a side; '' if it needs none."""
        if self.is_guest:
            return "guest"
        if self.environment == "host":
            return "group" if self.placement == "quota" else ""
        return self.environment

    def call(self, *words: str) -> list[str]:
        """Return a call of this command, for a plan."""
        return [literal(str(experiments() / "env" / self.program)), *words]


# Environments


def why_not(environment: str, measure: str, guest: str) -> str:
    """Return why an environment is not available here; '' if it is available."""
    if environment == "host":
        return ""
    if environment not in GUESTS:
        return why_no_place(environment)
    if measure == "host":
        return "Showstopper on the host cannot start processes in a guest: use --measure inside"
    if not guest:
        return "no guest is named: build one with make-guest and name it with --guest"
    if not os.access(Path(guest) / "about", os.R_OK):
        return f"{guest} is not a guest: build one with make-guest"
    return why_no_place("guest")


def name_guests(environments: Sequence[str], measure: str, guest: str) -> list[str]:
    """
    Return these environments, with kvm replaced by tcg (emulation) if it does not work here.

    Figures of the two must never be compared.
    """
    if "kvm" not in environments or why_not("kvm", measure, guest):
        return [*environments]
    call = [str(experiments() / "run-in-guest"), "--guest", guest, "--print-acceleration"]
    status, found = _ask(call)
    if status:
        raise UserError(found.removeprefix("run-in-guest: "))
    if found != "kvm":
        tell("kvm does not work here, so guests are emulated (tcg): everything runs, but slowly")
    return [found if name == "kvm" else name for name in environments]


def boot_seconds(environment: str, instances: int, boot: float | None) -> float:
    """Return the estimated seconds until these instances run in guests. `boot` replaces the usual
    time to boot a guest."""
    if environment not in GUESTS:
        return 0
    usual, each = _BOOT[environment]
    return (usual if boot is None else boot) + each * instances


# Placements


def read_sets(text: str, is_shared: bool = True) -> tuple[Pair, tuple[int, int]]:
    """Return the CPUs of A/B and their numbers. Fail if a CPU is in both, unless they may share."""
    parts = text.split("/")
    if len(parts) != 2 or "\n" in text:
        use = "use two lists such as 0-3/4-7"
        raise UserError(f"'{show(text)}' is not two lists of CPUs: {use}")
    left, right = map(values.cpu_set, parts)
    if left & right and not is_shared:
        shared = min(left & right)
        raise UserError(f"{text}: both sets have CPU {shared}; --share allows that")
    return (parts[0], parts[1]), (len(left), len(right))


def find(environment: str, placement: str, cpus: int, root: str, load_of: str) -> Place | str:
    """
    Return the place for a placement other than sets, or why the environment does not support it.

    cpus     the number of CPUs of this machine
    root     the folder with /proc and /sys of the machine; '' for this one
    load_of  what the load of a side in an environment is: group or cpus
    """
    if placement not in ("free", "neutral", "quota"):
        if not shutil.which(_PLATFORM):
            return f"{_PLATFORM} is not installed, so the topology is not known"
        status, found = _ask([_PLATFORM, "--sets", placement, *(["--root", root] if root else [])])
        return found if status else Place(environment, placement, *read_sets(found))
    if reason := _why_not_free(environment, placement, cpus):
        return reason
    if environment != "host" and load_of == "cpus" and placement != "neutral":
        unknown = "the CPUs of a quota are unknown" if placement == "quota" else ""
        return f"{unknown or 'both sides share the CPUs'}: use --load-of group"
    half = max(1, cpus // 2)
    return Place(environment, placement, counts=(half, half))


def _why_not_free(environment: str, placement: str, cpus: int) -> str:
    """Return why sides that are not pinned cannot have this placement; '' if they can."""
    is_guest = environment in GUESTS
    if placement == "quota":
        bound = "the number of its CPUs limits a guest: use neutral"
        return bound if is_guest else why_no_place("group")
    if cpus == 1:
        return "one CPU cannot be divided between two sides"
    if placement == "free":
        return "a guest has half of the CPUs: use neutral" if is_guest else ""
    few = "only a guest limits how many CPUs a side uses at a time"
    return "" if is_guest else few


def _ask(call: Sequence[str]) -> tuple[int, str]:
    """Return the status and the output of a command, including standard error."""
    done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, os.fsdecode(done.stdout).strip()
