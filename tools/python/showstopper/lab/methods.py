# SPDX-License-Identifier: Apache-2.0
"""Methods of holding a load: options of showstopper, and the lines of runs that use them."""

from __future__ import annotations

import functools
import math
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from .. import units
from ..installation import experiments
from ..text import UserError
from .catalogue import Use
from .plan import Cells, Plan, columns, line, number

_REALTIME = "-f realtime{realtime}"
_UNLIMITED = "-c fixed -C duty=100%"
_CONSTANT = "-d averageq -D {tau}{cdc} -c fixed -s even"
_GROUP = "{place}.{run}"  # of a run with a quota; ssbatch replaces both placeholders
_ROUNDING = 1e-9  # a product of a load and a number of CPUs may be slightly below a half


@dataclass(frozen=True)
class Method:
    """
    A method by its options of showstopper.

    copies: the number of instances: given, one, whole (the load times the CPUs), or measured (the
    load over that of one instance).
    """

    modules: str = _UNLIMITED
    feedback: str = _REALTIME
    copies: str = "given"
    limiter: str = ""

    @property
    def has_rounds(self) -> bool:
        return "{tau}" in self.modules


METHODS = {
    "nbench": Method(copies="whole"),
    "nbench-fit": Method(copies="measured"),
    "cdc": Method(_CONSTANT),
    "1cdc": Method(_CONSTANT, copies="one"),
    "1cdc-4s": Method("-d averageq -D 4s -c fixed -s even", copies="one"),
    "pi-even": Method("-d averageq -D {tau} -c rbpid{pi} -s even"),
    "pi-uneven": Method("-d averageq -D {tau} -c rbpid{pi} -s uneven"),
    "geom-even": Method("-d averageq -D {tau} -c geom{geom} -s even"),
    "geom-uneven": Method("-d averageq -D {tau} -c geom{geom} -s uneven"),
    "default": Method("", "-f exact -F source=idle"),
    "cpulimit": Method(limiter="cpulimit"),
    "quota": Method(limiter="group"),
    # the experiment accuracy does not have these
    "independent": Method("-d averageq -D {tau},jitter=50%{cdc} -c fixed -s even"),
    "stagger": Method("-d stagger -c fixed -s even"),
    "uncontrolled": Method(),
}
KNOWN = [*METHODS][:12]
ABOUT = """\
nbench      uncontrolled instances, as published: the target times the number of
            CPUs, rounded
nbench-fit  the number of uncontrolled instances whose load is nearest to the
            target, computed from the load of one instance
cdc         a constant duty cycle: control fixed, without feedback
1cdc        cdc with one instance
1cdc-4s     the same with rounds of 4 s, as in the published example
pi-even pi-uneven geom-even geom-uneven
            controls rbpid and geom with both spaces, as published (feedback
            realtime, dithering averageq)
default     showstopper with its default modules
cpulimit    a cpulimit for each instance
quota       a control group with a CPU quota for all instances"""

# Modules whose published options --published sets, and what precedes them
_MODULES = {"cdc": ",", "pi": " -C ", "geom": " -C ", "realtime": " -F "}


def why_not(name: str) -> str:
    """Return why a method is not available here; '' if it is available."""
    if name == "cpulimit" and not shutil.which("cpulimit"):
        return "cpulimit is not installed"
    return why_no_place("group") if name == "quota" else ""


def why_no_place(environment: str) -> str:
    """Return why env/ENVIRONMENT cannot open places here; '' if it can."""
    call = [str(experiments() / "env" / environment), "why-not"]
    done = subprocess.run(call, stdout=subprocess.PIPE, text=True, errors="surrogateescape")
    return done.stdout.strip() if done.returncode == 0 else ""


@functools.cache
def _cpulimit_knows_parts() -> bool:
    """
    Return whether cpulimit accepts fractions of a percent, and -i for children.

    Two programs are named cpulimit. The other one accepts only whole percents, and -m.
    """
    call = ["cpulimit", "--help"]
    if not shutil.which(call[0]):
        return False
    said = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    return b"--include-children" in said


@dataclass
class Held:
    """A workload whose load a method holds: a run, or a side of one."""

    name: str  # of the method
    use: Use
    cpus: int  # number of CPUs that are a load of 100 %
    instances: int
    target: Fraction = Fraction(1)
    tau: str = ""  # mean length of a round
    one: float = math.nan  # load of one instance
    pinned: str = ""
    feedback: str = ""  # instead of that of the method
    modules: dict[str, str] = field(default_factory=dict)
    has_counters: bool = False
    around: Sequence[str] = ()  # words before showstopper
    entering: Sequence[str] = ()  # words before the command
    stands_for: float | None = None

    def __post_init__(self) -> None:
        copies = self.method.copies
        if copies == "one":
            self.instances = 1
        elif copies == "whole":
            self.instances = max(1, math.floor(self.target * self.cpus + _ROUNDING + 0.5))
            self.stands_for = self.instances / self.cpus
        elif copies == "measured":
            one = self._load_of_one()
            self.instances = max(1, math.floor(float(self.target) / one + 0.5))
            self.stands_for = min(self.instances * one, 1.0)

    @property
    def method(self) -> Method:
        return METHODS[self.name]

    def _load_of_one(self) -> float:
        name = self.use.workload.name
        one = {"serial": 1 / self.cpus, "parallel": 1.0}.get(name, self.one)
        if not one > 0:
            raise UserError(f"the load of one instance of {name} must be above 0")
        return one

    def _cells(self) -> dict[str, object]:
        workload = self.use.workload
        return {
            "method": self.name, "workload": workload.name, "published": workload["published"],
        }  # fmt: skip

    def _tau_seconds(self) -> str:
        is_used = self.tau and self.method.has_rounds
        return f"{units.time(self.tau)[0]:.10g}" if is_used else ""

    def options(self) -> list[str]:
        """Return the modules. {ROLE-group.1} of a feedback is a placeholder of ssbatch."""
        text = f"{self.feedback or self.method.feedback} {self.method.modules}"
        text = text.replace("{tau}", self.tau)
        for key, before in _MODULES.items():
            own = self.modules.get(key, "")
            text = text.replace(f"{{{key}}}", before + own if own else "")
        return text.split()

    def _limiter(self) -> list[str]:
        """Return the words before the command that limit its load."""
        if self.method.limiter == "group":
            path = str(experiments() / "env/group").replace("%", "%%")
            return [path, "enter", _GROUP, "--"]
        if self.method.limiter != "cpulimit":
            return []
        percent = max(100 * float(self.target) * self.cpus / self.instances, 1)
        if _cpulimit_knows_parts():
            return ["cpulimit", "-i", "-l", f"{percent:.2f}", "-f", "--"]
        forks = self.use.workload.name not in ("serial", "blocking", "parallel")
        return ["cpulimit", "-q", *["-m"] * forks, "-l", f"{percent:.0f}", "-f", "--"]

    def words(self, options: Sequence[str]) -> list[str]:
        """Return the words of showstopper. Drops the output of ssburn, whose iterations are in
        the record."""
        role = f"{self.use.role}." if self.use.role else ""
        place = "scratch" if self.use.workload.words[0] == "ssburn" else "out"
        return [
            "--", *self.around, "showstopper", "--quiet", "--fail-fast",
            *["--counters"] * self.has_counters, "--record", "{record}",
            "--output", f"{{{place}}}/{role}output", "-n", str(self.instances),
            *(["--cpus", self.pinned] if self.pinned else []), *self.options(), *options,
            *self.use.words([*self.entering, *self._limiter()]),
        ]  # fmt: skip

    def role_line(self, cells: Cells, options: Sequence[str]) -> str:
        """Return the line of a role, or of the only command, with its own columns."""
        own: dict[str, object] = {
            "workload": "", "published": "", **self._cells(), "instances": self.instances, **cells,
            "tau_seconds": self._tau_seconds(),
        }  # fmt: skip
        role = [self.use.role] if self.use.role else []
        return line("main", *role, *columns(own), *self.words(options))

    def run(
        self, plan: Plan, name: str, seconds: float, number_of_round: int, cells: Cells,
        options: Sequence[str], lines: Sequence[str],
    ) -> Iterator[str]:  # fmt: skip
        """Yield the lines of a whole run."""
        own = {
            **self._cells(), "round": number_of_round, "tau_seconds": self._tau_seconds(),
            "instances": self.instances, "stands_for": self.stands_for, **cells,
        }  # fmt: skip
        return plan.run(name, seconds, own, self._lines(options, lines))

    def _lines(self, options: Sequence[str], lines: Sequence[str]) -> Iterator[str]:
        group = str(experiments() / "env/group")
        is_grouped = self.method.limiter == "group"
        yield from self.use.folders(self.instances)
        yield from lines
        if is_grouped:
            quota = number(self.target * self.cpus)
            hold = [group, "hold", _GROUP, "--quota", quota]
            yield line("beside", "group", "ready=^open$", "--", *hold)
        yield line("main", *self.words(options))
        if is_grouped:
            yield line("after", "--", group, "close", _GROUP)
