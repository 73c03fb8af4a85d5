# SPDX-License-Identifier: Apache-2.0
"""A study: its programs, workloads and methods, and the lines of its plan."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from ..contents import read_file
from ..installation import require_programs, use_programs
from ..state import hold
from ..text import UserError, say, show, tell
from . import methods, values
from .catalogue import Catalogue, Use, seconds
from .methods import METHODS, Held
from .options import Options
from .plan import Cells, Plan, checksum, kept_checksum, line, literal

_SAMPLER = "showstopper-platform"
_MODULES = {
    "cdc": "cdc_dithering", "pi": "pi_control", "geom": "geom_control",
    "realtime": "realtime_feedback",
}  # fmt: skip


def load_found(study: Path) -> float:
    """Return the value `one` that a study has found; NaN if it has none."""
    folder = str(study / ".study")
    with contextlib.suppress(FileNotFoundError), hold(folder, ["values"]) as held:
        text = read_file(f"{held}/values").decode("utf-8", "surrogateescape")
        if found := re.search(r"^one (\S+)$", text, re.MULTILINE):
            return float(found[1])
    return math.nan


class Study:
    """
    The options of a call, and what they mean on this machine.

    cpus        the number of CPUs whose load is held: a load of 100 %
    output      the folder of results
    roles       the roles of the workloads; '' if there is only one
    samples_on  CPUs that are sampled; '' for those of --on
    """

    def __init__(self, experiment: str, options: Options) -> None:
        use_programs(options.bin or "")
        require_programs("showstopper", "ssbatch")
        self.experiment = experiment
        self.program = f"sslab {experiment}"  # in messages
        self.options = options
        self.plan = Plan()
        self.catalogue = Catalogue()
        self.cpus = len(values.cpu_set(options.on) if options.on else os.sched_getaffinity(0))
        self.instances = options.instances or self.cpus
        self.output = Path(options.output).absolute()
        self.workloads: list[str] = []
        self.roles: Sequence[str] = ("",)
        self.modules = {key: getattr(options, name) or "" for key, name in _MODULES.items()}
        self.energy_scope = ""
        self.samples_on = ""
        self.shuffle: int | None = None  # seed of the order of runs within a round
        self._one: dict[str, float] = {}

    @property
    def is_preview(self) -> bool:
        return bool(self.options.dry_run or self.options.plan)

    # Workloads

    def choose_workloads(
        self, is_counted: bool = False, others: Sequence[str] = ()
    ) -> None:
        """
        Set the workloads to the first of these that is given: --workloads, the command after --,
        the published ones, or the default ones.

        others: names of workloads of other options, of which one may be that of the command
        """
        options, command = self.options, self.options.command
        self.open_catalogue()
        name = self._define_command()
        chosen = options.workloads
        if "workloads" not in options.given and command and not others:
            chosen = [name]
        elif "workloads" not in options.given and options.published_workloads:
            programs, stand_ins = options.published_workloads, options.stand_ins or []
            chosen = self.catalogue.represent(programs, stand_ins)
        self.workloads = [*chosen]
        if command:
            self._check_command(name, [*self.workloads, *others])
        self.check_workloads("workloads", self.workloads, is_counted)

    def open_catalogue(self) -> None:
        """Read the files of the catalogue, or list its workloads and exit."""
        self.catalogue.read_all(self.options.catalogue or [])
        if self.options.list_workloads:
            say("".join(f"{one}\n" for one in self.catalogue.list()))
            raise SystemExit(0)

    def _define_command(self) -> str:
        """Define a workload for the command after --, and return its name."""
        options, command = self.options, self.options.command
        if not command:
            if options.iteration or options.repeat or options.name:
                raise UserError("--iteration, --repeat and --name require a command after --")
            return ""
        name = options.name or command[0].rpartition("/")[2]
        if not re.fullmatch("[A-Za-z0-9._+-]+", name):
            use = "use letters, digits and ._+-"
            raise UserError(f"--name: '{show(name)}' cannot name a workload: {use}")
        self.catalogue.define(name, command, options.iteration or "", bool(options.repeat))
        return str(name)

    def _check_command(self, name: str, named: Sequence[str]) -> None:
        program = self.options.command[0]
        if name not in named:
            use = "add its name or omit the list"
            among = f"is not among the workloads {','.join(named)}"
            raise UserError(f"{name}, the command after --, {among}: {use}")
        if "{" not in program and not shutil.which(program):
            use = "use a path, or the name of a program in PATH"
            raise UserError(f"{program}: no such program: {use}")

    def check_workloads(
        self, option: str, names: Sequence[str], is_counted: bool = False,
        warmup: float | None = None,
    ) -> None:  # fmt: skip
        """
        Fail unless these workloads can run here; warn of those that may not give results.

        warmup  how long they run before they are measured; default: --warmup
        """
        warmup = self.options.warmup if warmup is None else warmup
        for name in names:
            workload = self.catalogue.find(name, option)
            workload.check(option, bool(self.options.dry_run))
            if workload.unfit:
                tell(f"Warning: {name} is unfit: {workload.unfit}")
            time = workload["warmup"]
            if time and warmup is not None and seconds(time) > warmup:
                shown = time if time[-1].isalpha() else f"{time}s"
                tell(f"Warning: {name} takes {shown} to warm up, longer than --warmup")
            if is_counted and workload.typed and not (workload["iteration"] or workload["repeat"]):
                end = "each end of the command is an iteration"
                tell(f"{name}: {end}; --iteration counts lines of its output")
            elif is_counted and not workload.is_counted:
                use = "use --iteration or --repeat to count its iterations"
                tell(f"Warning: {name} has no throughput: {use}")

    def use(self, workload: str, role: str = "") -> Use:
        return Use(self.catalogue.find(workload), role, self.options.memory or "")

    # Methods

    def available(self, names: Sequence[str]) -> list[str]:
        """Return the methods that are available; plan a `skip` line for each of the others."""
        found = []
        for name in names:
            if reason := methods.why_not(name):
                self.plan.skip(reason, method=name)
            else:
                found.append(name)
        return found

    def held(self, method: str, workload: str, target: Fraction, tau: str, **more: object) -> Held:
        options = self.options
        one = self.load_of_one(workload) if method == "nbench-fit" else math.nan
        return Held(
            method, self.use(workload), self.cpus, self.instances, target, tau, one=one,
            pinned=options.on or "", feedback="-f own" if options.own else "",
            modules=self.modules, has_counters=bool(options.counters), **more,  # type: ignore
        )  # fmt: skip

    def taus(self, method: str, lengths: Sequence[str]) -> Sequence[str]:
        """Return the lengths of a round to measure with a method; '' if they do not matter."""
        return lengths if METHODS[method].has_rounds else [""]

    def suffix(self, tau: str) -> str:
        """Return the part of the name of a run for the length of its rounds, if there are
        several."""
        return f"-{tau}" if tau and len(self.options.tau) > 1 else ""

    # The load of one instance, for nbench-fit

    def plan_one(self, workload: str) -> list[str]:
        """Return the plan of the study that measures the load of one instance."""
        time = 2 if self.options.quick else 10
        use = self.use(workload)
        pinned = ["--cpus", self.options.on] if self.options.on else []
        match = 'match=^ *"load_mean": ([0-9][-+.0-9e]*)'
        call = [
            *"showstopper --quiet --json - -n 1".split(), *pinned,
            *"-f realtime -c fixed -C duty=100% -l 100% --warmup 1s --duration".split(), f"{time}s",
        ]  # fmt: skip
        return [
            "plan 1",
            *use.once(),
            *use.folders(1),
            line("once", "one", match, "--", *call, *use.words()),
            line("run", "measured", "takes", f"{time + 1}s"),
            line("main", "--", "true"),
        ]

    def folder_of_one(self, workload: str) -> Path:
        """Return the folder of this study. Its name has a checksum of the plan, so that a changed
        command is measured again."""
        name = workload.replace("/", ".")
        sum_of_plan = checksum("\n".join(self.plan_one(workload)))
        return self.output / "one-load" / f"{name}-{sum_of_plan}"

    def load_of_one(self, workload: str) -> float:
        """Return the load of one instance. A dry run measures nothing, and assumes 100 %."""
        if workload not in self._one:
            found = self._read_one(workload)
            self._one[workload] = 1.0 if math.isnan(found) and self.options.dry_run else found
        return self._one[workload]

    def _read_one(self, workload: str) -> float:
        return load_found(self.folder_of_one(workload))

    def unknown(self, chosen: Sequence[str]) -> list[str]:
        """Return the workloads whose load with one instance a method needs and no study has."""
        if "nbench-fit" not in chosen:
            return []
        others = [name for name in self.workloads if name not in ("serial", "parallel")]
        return [name for name in others if math.isnan(self._read_one(name))]

    # Power

    def find_energy(self) -> None:
        """Set the scope of the source of --energy; '' if there is no source."""
        source = self.options.energy
        if not source:
            return
        call = [_SAMPLER, "energy", source, "--root", self.options.energy_root, "--scope"]
        done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.energy_scope = os.fsdecode(done.stdout).strip() if done.returncode == 0 else ""
        missing = f"no source ({source}) is available, so no energy is recorded"
        tell(f"Power: {self.energy_scope or missing}")

    @property
    def source(self) -> str:
        """Return the source of power in a plan; '' if there is none."""
        source = self.energy_scope.partition(":")[0]
        return literal(self.options.energy) if source == "command" else source

    def samplers(self, is_idle_needed: bool = False, on: str = "") -> Iterator[str]:
        """Yield the lines that sample power and, with it or if needed, idle states of CPUs."""
        root = self.options.energy_root
        states = "sys/devices/system/cpu/cpu*/cpuidle/state0/time"
        is_idle = (self.options.energy or is_idle_needed) and any(Path(root).glob(states))
        on = on or self.samples_on or self.options.on
        if is_idle:
            of = ["--cpus", on] if on else []
            call = [_SAMPLER, "idle", "--root", root, *of, "--output", "{out}/idle.csv"]
            yield line("beside", "idle", "ready=^open$", "--", *call)
        if self.source:
            call = [_SAMPLER, "energy", self.source, "--root", root, "--output", "{out}/energy.csv"]
            yield line("beside", "energy", "ready=^open$", "--", *call)

    # The plan

    def head(
        self, settings: Cells, once: Sequence[str] = (), has_places: bool = False,
        more: Iterable[str] = (),
    ) -> Iterator[str]:  # fmt: skip
        """Yield what must not change while the study continues, what is found once, and more
        lines of the study."""
        kept = [*once]
        for name in self.workloads:
            for role in self.roles:
                use = self.use(name, role)
                called = f"{name}.{role}" if role else name
                kept += [kept_checksum("definition", called, use.definition()), *use.once()]
        on = self.options.on
        cells = {
            "experiment": self.experiment, "energy": self.energy_scope,
            "cpus": on.replace(",", " ") if on else None,
        }  # fmt: skip
        return self.plan.head(settings, kept, cells, has_places, more)
