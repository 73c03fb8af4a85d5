# SPDX-License-Identifier: Apache-2.0
"""How much does a background workload disturb a foreground workload? The foreground runs
uncontrolled at full load while the background follows stairs down and up again, for every placement
on the CPUs. The number of instances of a side is that of its CPUs or, if it is not pinned, half of
all CPUs."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..contents import read_file
from ..state import hold
from ..text import UserError, show, tell
from . import options, pairs, places, values
from .carry import carry_out
from .catalogue import Use
from .methods import Held
from .options import Options, Parser
from .places import CONTAINERS, GUESTS, Place
from .plan import count_of, kept, line, literal, number, settings_text
from .results import report, require_throughput
from .study import Study

METHODS = (
    "uncontrolled default cdc 1cdc pi-even pi-uneven geom-even geom-uneven"  # can follow stairs
).split()
DEFAULTS = {
    "placements": "neutral,quota,free,per-chip,per-core,per-thread", "environment": "host",
    "measure": "inside", "load_of": "group", "foreground_method": "uncontrolled",
    "background_method": "default", "foreground_load": "100%", "foreground_tau": "107m",
    "background_tau": "107m", "workloads": "serial", "warmup": "10min", "levels": "95%:5%:5%",
    "hold": "3min", "edge": "30s", "output": "interference-results",
}  # fmt: skip
QUICK = {"warmup": "2s", "levels": "90%:10%:20%", "hold": "3s", "edge": "1s"}
SHORTER = "fewer --placements, --workloads or --background, less --warmup or --hold"

PLACES = """\
Placements:
neutral     not pinned, each side may use half of the CPUs at a time; only for
            guests, which have that number of virtual CPUs
quota       not pinned, each side has half of the CPU time (a control group);
            the background's load is relative to its half
free        not pinned: the sides share all CPUs. The load of a side is that of
            its own processes, relative to half of the CPUs
per-chip    each side has its own chips
per-core    the sides share every chip, but no core
per-thread  the sides share every core, but no hardware thread
sets        those of --sets

Environments:
host        no environment
lxc         each side in a container, which shares the host's root, read-only,
            and has the CPUs of its placement (a cpuset) or, for quota, half of
            the CPU time
podman      the same with podman
kvm         each side in a guest, with a virtual CPU for each of its CPUs; if
            the machine cannot run it, it is emulated and recorded as tcg"""

_SIZES = {"g": 2**30, "m": 2**20, "k": 2**10, "": 1}  # bytes
_FIGURES = "interference-steps"


def _environment(value: str) -> str:
    """Read an environment. Earlier versions called the host none."""
    known = values.one_of(*places.ENVIRONMENTS)
    return "host" if value == "none" else str(known(value))


def _guest_memory(value: str) -> str:
    if not re.fullmatch("[1-9][0-9]*[MG]", value):
        raise UserError(f"'{show(value)}' is not a size: use one such as 512M")
    return value


def parser() -> Parser:
    own = Parser("interference", __doc__, DEFAULTS, QUICK, notes=PLACES)
    _add_pairs(own)
    _add_places(own)
    _add_times(own)
    _add_sides(own)
    options.add_quick(own)
    options.add_published(own)
    own.add_alias("--instances", "instances")
    options.add_workloads(own)
    options.add_study(own)
    return own


def _add_pairs(own: Parser) -> None:
    names = values.list_of(values.text)
    own.add("--pairs", "PAIRS", about="pairs of --workloads, for every placement and round: all "
        "(ordered pairs, including each with itself), symmetric (each two once; each is about as "
        "often the foreground as the background) or a list, FOREGROUND:BACKGROUND,...")
    own.add("--alone", about="also run each program without a background, in each place and round, "
        "for as long as four steps: ssreport can then say where to pin two different programs")
    own.add("--background", "LIST", names, "without --pairs: backgrounds of each of --workloads; "
        "default: --workloads")


def _add_places(own: Parser) -> None:
    add = own.add
    add("--placements", "LIST", values.list_of(values.one_of(*places.PLACEMENTS)),
        "placements of both sides, see below; default: DEFAULT")
    add("--sets", "A/B", about="CPUs of the foreground and the background, such as 0-3/4-7; "
        "without --placements, implies --placements sets")
    add("--share", about="let the sets have CPUs in common: 0/0 puts both sides on CPU 0. The load "
        "of a side is then that of its own processes, as a fraction of its CPUs, so both sides get "
        "their part with --levels up to 45%")
    add("--environment", "LIST", values.list_of(values.Words(places.ENVIRONMENTS, _environment)),
        "environment of each side, see below; default: DEFAULT")
    add("--guest", "FOLDER", about="the guest to boot, made by make-guest; like the next two "
        "options, only for kvm")
    add("--guest-memory", "SIZE", _guest_memory, "memory of each guest, such as 512M or 2G; "
        "default: --memory (of the side) for each instance and 512M for the guest; without "
        "--memory 1G")
    add("--guest-boot", "TIME", values.time, "time for guests to boot; default: 6 s, or 14 s if "
        "they are emulated")
    add("--measure", "PLACE", values.one_of("inside", "host"), "inside: showstopper runs in the "
        "environment of its side; host: it runs on the host and its instances in the environment; "
        "only for lxc, podman and kvm; default: DEFAULT")
    add("--load-of", "WHAT", values.one_of("group", "cpus"), "load in an environment: that of its "
        "control group (group) or that of its CPUs, by all processes (cpus); only for lxc and "
        "podman; default: DEFAULT")
    add("--root", "DIR", about="use the topology of the machine whose /proc and /sys were copied "
        "to DIR")


def _add_times(own: Parser) -> None:
    add = own.add
    add("--levels", "H:L:STEP", values.Stairs, "highest load, lowest load and step of the stairs; "
        "default: DEFAULT")
    add("--warmup", "TIME", values.time, "uncontrolled time of both sides at the beginning; "
        "default: DEFAULT")
    add("--hold", "TIME", values.length, "length of each step; default: DEFAULT")
    add("--edge", "TIME", values.time, "part at each end of a step that does not count; "
        "default: DEFAULT")
    add("--launch", "TIME", values.time, "time for the instances of both sides to start, before "
        "the warm-up; default: 3 s and 1 s for each 20 instances")


def _add_sides(own: Parser) -> None:
    add = own.add
    for side in ("foreground", "background"):
        add(f"--{side}-method", "NAME", values.one_of(*METHODS), "method of holding the side at "
            "its load, see sslab accuracy --help; default: DEFAULT")
    add("--foreground-load", "LOAD", values.load, "load of a controlled foreground; "
        "default: DEFAULT")
    about = "mean length of a round, for methods with rounds; default: DEFAULT"
    add("--foreground-tau", "TIME", values.round_length, about)
    add("--background-tau", "LIST", values.list_of(values.round_length),
        f"{about}. Each pair runs with each of several")
    for side in ("foreground", "background"):
        add(f"--{side}-instances", "N", values.count, "number of instances; default: the number of "
            "CPUs of the side; if it is not pinned, half of the CPUs")
        add(f"--{side}-memory", "SIZE", about="instead of --memory")


def run(given: Options) -> int:
    check(given)
    study = Interference(given)
    study.choose_pairs()
    study.find_energy()
    study.find_places()
    if given.root and not study.is_preview:
        why = "--root describes another machine, so no run is possible"
        raise UserError(f"{why}: add --dry-run or --plan")
    study.say_runs()
    is_complete = carry_out(study, study.lines, shorter=SHORTER)
    report(
        study, {_FIGURES: "steps.csv", "interference": "interference.csv"}, is_complete=is_complete
    )
    require_throughput(study, _FIGURES, "foreground_iterations_per_second")
    return 0


# Options


def check(given: Options) -> None:
    """Check how options are combined."""
    if given.instances:
        raise UserError("--instances: use --foreground-instances or --background-instances")
    if given.published:
        given.refuse_given("with --published", "foreground_instances", "background_instances")
    _check_places(given)
    _check_sides(given)
    if given.pairs and given.background:
        raise UserError("--pairs cannot be combined with --background")
    if _is_list(given) and "workloads" in given.given:
        raise UserError("--pairs: a list cannot be combined with --workloads")
    if not given.hold > 2 * given.edge:
        raise UserError("--edge: must be less than half of --hold")


def _is_list(given: Options) -> bool:
    """Return whether --pairs names the workloads."""
    return ":" in (given.pairs or "")


def _check_places(given: Options) -> None:
    chosen = set(given.environment)
    if "kvm" not in chosen:
        without = "without kvm among --environment"
        given.refuse_given(without, "guest", "guest_memory", "guest_boot")
    if not chosen & {*CONTAINERS}:
        given.refuse_given("without lxc or podman among --environment", "load_of")
    if chosen == {"host"}:
        given.refuse_given("without lxc, podman or kvm among --environment", "measure")
    given.environment = [*dict.fromkeys(given.environment)]
    given.guest = os.path.realpath(given.guest) if given.guest else ""
    if given.sets and "placements" not in given.given:
        given.placements = ["sets"]
    given.placements = [*dict.fromkeys(given.placements)]
    if given.share and not given.sets:
        raise UserError("--share requires --sets, such as 0/0")
    if given.sets and "sets" not in given.placements:
        raise UserError("--sets requires sets among --placements")
    if "sets" in given.placements:
        _check_sets(given)


def _check_sets(given: Options) -> None:
    """Check the CPUs of --sets, unless they are of another machine."""
    if not given.sets:
        raise UserError("--placements sets requires --sets, such as 0-3/4-7")
    try:
        both, _ = places.read_sets(given.sets, bool(given.share))
        for side in () if given.root else both:
            values.cpus(side)
    except UserError as error:
        raise UserError(f"--sets: {error}") from None


def _check_sides(given: Options) -> None:
    if given.foreground_method == "uncontrolled" and given.foreground_load != 1:
        why = "a --foreground-method other than uncontrolled"
        raise UserError(f"--foreground-load requires {why}")
    if given.background_method == "uncontrolled":
        raise UserError("--background-method: uncontrolled cannot follow stairs: use another one")


# The study


def _read_about(guest: str) -> list[str]:
    """Return the lines on what a guest is made of; none if the folder is not a guest."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        with hold(guest, ["about"]) as held:
            return read_file(f"{held}/about").decode("utf-8", "surrogateescape").splitlines()
    return []


class Interference(Study):
    """
    A study of pairs. The role `alone` is a foreground without a background.

    places  the places that are available here, by the prefix of the names of their runs
    """

    def __init__(self, given: Options) -> None:
        super().__init__("interference", given)
        self.roles = ("background", "foreground")
        self.pairs: list[pairs.Pair] = []
        self.places: dict[str, Place] = {}
        self.environments: list[str] = given.environment
        self.length = given.levels.steps * given.hold
        self._names: set[str] = set()
        self._yielded: dict[tuple[object, ...], list[Any]] = {}

    def use(self, workload: str, role: str = "") -> Use:
        return Use(self.catalogue.find(workload), role, self.memory(role))

    def choose_pairs(self) -> None:
        given = self.options
        listed = pairs.form(given.pairs, [], []) if _is_list(given) else []
        names = pairs.names_of(listed)
        if listed:
            given.workloads, given.published_workloads = [], None
        background = given.background or []
        others = names or (background if "workloads" in given.given else [])
        self.choose_workloads(is_counted=True, others=others)
        self.check_workloads("pairs", names, is_counted=True)
        self.check_workloads("background", background, is_counted=True)
        self.pairs = listed or pairs.form(
            given.pairs or "", self.workloads, background or self.workloads
        )
        self.workloads = pairs.names_of(self.pairs)

    # Sides

    def _of(self, role: str, name: str) -> object:
        """Return the value of an option of a side."""
        side = "background" if role == "background" else "foreground"
        return getattr(self.options, f"{side}_{name}")

    def memory(self, role: str) -> str:
        return str(self._of(role, "memory") or self.options.memory or "")

    def count(self, place: Place, role: str) -> int:
        """Return the number of instances of a side."""
        if self._of(role, "method") == "1cdc":
            return 1
        own = self._of(role, "instances")
        return own if isinstance(own, int) else place.counts[role == "background"]

    def taus(self, method: str = "", lengths: Sequence[str] = ()) -> Sequence[str]:
        """Return the lengths of a round of the background."""
        given = self.options
        return super().taus(method or given.background_method, lengths or given.background_tau)

    # Places

    def find_places(self) -> None:
        given = self.options
        if not given.root:
            self.environments = places.name_guests(self.environments, given.measure, given.guest)
        self._find_places()
        if not self.places and given.published and "environment" not in given.given:
            tell("no published environment is available, so both sides run on the host")
            self.environments = ["host"]
            self._find_places()

    def _find_places(self) -> None:
        given = self.options
        for environment in self.environments:
            is_host = environment == "host"
            where = {} if is_host else {"environment": environment, "measured_in": given.measure}
            why = "" if given.root else places.why_not(environment, given.measure, given.guest)
            if why:
                self.plan.skip(why, **where)
                continue
            for placement in given.placements:
                found = self._find_place(environment, placement)
                if isinstance(found, str):
                    self.plan.skip(found, **where, placement=placement)
                    continue
                name = placement if is_host else f"{environment}-{given.measure}-{placement}"
                self.places[name] = found
                foreground, background = (cpus or "not pinned" for cpus in found.cpus)
                tell(f"{name}: foreground {foreground}, background {background}")

    def _find_place(self, environment: str, placement: str) -> Place | str:
        given = self.options
        if placement == "sets":
            return Place(environment, placement, *places.read_sets(given.sets))
        return places.find(environment, placement, self.cpus, given.root or "", given.load_of)

    def begin(self, place: Place) -> float:
        """Return the seconds from the start of a run to the end of its warm-up."""
        given = self.options
        count = sum(self.count(place, role) for role in ("foreground", "background"))
        launch = 3 + count / 20 if given.launch is None else given.launch
        boot = places.boot_seconds(place.environment, count, given.guest_boot)
        return float(launch + boot + given.warmup)

    def say_runs(self) -> None:
        if not self.places:
            return
        programs, found, rounds = len(self.workloads), len(self.places), self.options.rounds
        count = len(self.pairs) * found * rounds * len(self.taus())
        each = self.begin(next(iter(self.places.values()))) + self.length + 1
        shorter = count_of(programs * found * rounds, "shorter run")
        sizes = [
            count_of(programs, "program"), count_of(len(self.pairs), "pair"),
            count_of(found, "place"), count_of(rounds, "round"),
        ]  # fmt: skip
        runs = f"{count_of(count, 'run')} of {values.span(each)} each"
        tell(f"{', '.join(sizes)}: {runs}{f', {shorter} alone' if self.options.alone else ''}")

    # The plan

    def lines(self) -> Iterator[str]:
        yield from self.head(self._settings(), has_places=True)
        yield from self._settings_of_places()
        if not self.places:
            return
        rounds = self.options.rounds
        for front, back, place, turn in pairs.order(self.pairs, [*self.places], rounds):
            for tau in self.taus():
                several = tau and len(self.options.background_tau) > 1
                name = f"{place}-{front}-{back}{f'-{tau}' if several else ''}-{turn}"
                sides = {"background": back, "foreground": front}
                yield from self._plan_run(name, place, turn, self.length, sides, tau)
        for turn in range(1, rounds + 1) if self.options.alone else ():
            for front in self.workloads:
                for place in self.places:
                    length = 4 * self.options.hold
                    name = f"{place}-{front}-alone-{turn}"
                    yield from self._plan_run(name, place, turn, length, {"alone": front}, "")

    def _settings(self) -> dict[str, object]:
        given = self.options
        settings = {
            name: getattr(given, name)
            for name in "levels warmup hold edge memory counters".split()
        }
        for name in "method tau instances memory".split():
            settings[f"background_{name}"] = getattr(given, f"background_{name}")
        settings["foreground_load"] = 100 * given.foreground_load
        for name in "method tau instances memory".split():
            settings[f"foreground_{name}"] = getattr(given, f"foreground_{name}")
        return settings

    def _settings_of_places(self) -> Iterator[str]:
        """Yield the settings of placements and environments, which later calls may add."""
        given, chosen = self.options, {*self.environments}
        if given.sets:
            yield kept("settings-sets", settings_text({"sets": given.sets, "share": given.share}))
        if chosen & {*CONTAINERS}:
            yield kept("settings-containers", settings_text({"load_of": given.load_of}))
        if chosen & {*GUESTS}:
            made = _read_about(given.guest) if given.guest else []
            settings = {"guest_memory": given.guest_memory, "guest_made_of": " ".join(made)}
            yield kept("settings-guests", settings_text(settings))

    def _plan_run(
        self, name: str, where: str, turn: int, length: float, sides: Mapping[str, str], tau: str
    ) -> Iterator[str]:
        """Yield the lines of a run with these sides: workloads by role."""
        given, place = self.options, self.places[where]
        cells = {
            "environment": place.environment,
            "measured_in": "" if place.environment == "host" else given.measure,
            "placement": place.placement, "round": turn, "warmup_seconds": given.warmup,
            "settle_seconds": 0, "seconds": length, "hold_seconds": given.hold,
            "edge_seconds": given.edge,
        }  # fmt: skip
        if name.replace("/", ".") in self._names:
            raise UserError(f"duplicate run name {name}: rename one of the workloads")
        self._names.add(name.replace("/", "."))
        lines = self._lines_of_run(place, length, sides, tau)
        yield from self.plan.run(name, self.begin(place) + length + 1, cells, lines)

    def _lines_of_run(
        self, place: Place, length: float, sides: Mapping[str, str], tau: str
    ) -> Iterator[str]:
        parts = [
            self._once(self._plan_role, place, role, workload, length, tau)
            for role, workload in sides.items()
        ]
        yield from (text for folders, _, _ in parts for text in folders)
        yield from self._once(self.samplers)
        yield from (text for _, opened, _ in parts for text in opened)
        yield from (text for _, _, main in parts for text in main)
        if place.program:
            opened = [f"{{place}}.{{run}}.{role}" for role in sides]
            yield line("after", "--", *place.call("close", *opened))

    def _once(self, plan: Callable[..., Iterable[Any]], *of: object) -> list[Any]:
        """Return what `plan` yields for these arguments, computed once for thousands of runs."""
        key = (plan, *of)
        if key not in self._yielded:
            self._yielded[key] = [*plan(*of)]
        return self._yielded[key]

    def _plan_role(
        self, place: Place, role: str, workload: str, length: float, tau: str
    ) -> Iterator[list[str]]:
        """Yield the lines of a side that make its folders, open its place, and run it."""
        yield [*self.use(workload, role).folders(self.count(place, role))]
        yield [*self._open_place(place, role)]
        yield [self._plan_side(place, role, workload, length, tau)]

    def _open_place(self, place: Place, role: str) -> Iterator[str]:
        """Yield the lines that open the place of a side, and measure its load on the host."""
        given, own = self.options, f"{{place}}.{{run}}.{role}"
        cpus = place.cpus[role == "background"]
        if not place.program:
            return
        hold = place.call("hold", own, *(["--cpus", cpus] if cpus else []))
        hold += ["--quota", number(self.cpus / 2)] if place.placement == "quota" else []
        hold += ["--share", "{scratch}"] if place.program != "group" else []
        hold += self._guest_words(place, role) if place.is_guest else []
        yield line("beside", f"{role}-place", "ready=^open$", "--", *hold)
        is_of_cpus = place.is_guest or (place.is_container and given.load_of == "cpus")
        if not is_of_cpus:
            group = place.call("group", own)
            yield line("before", f"{role}-group", "ready=^(/.*)$", "--", *group)
        yield from self._plan_host_load(place, role, is_of_cpus)

    def _guest_words(self, place: Place, role: str) -> list[str]:
        side = role == "background"
        quota = [] if place.cpus[side] else ["--quota", str(place.counts[side])]
        return [
            *quota, "--guest", literal(self.options.guest), "--acceleration", place.environment,
            "--memory", self._guest_memory(place, role), "--scratch", "{scratch}/data",
            "--clock", f"{{out}}/{role}.guest-clock.csv",
            "--vcpu-times", f"{{out}}/{role}.guest-vcpus.csv",
        ]  # fmt: skip

    def _guest_memory(self, place: Place, role: str) -> str:
        """Return the memory of a guest: for its instances and for the operating system."""
        if self.options.guest_memory:
            return str(self.options.guest_memory)
        size = re.fullmatch("([0-9]+)([kmg]?)", self.memory(role).lower())
        if not size:
            return "1G"
        octets = int(size[1]) * _SIZES[size[2]] * self.count(place, role)
        return f"{-(-octets // 2**20) + 512}M"

    def _plan_host_load(self, place: Place, role: str, is_of_cpus: bool) -> Iterator[str]:
        """
        Yield the line that records, on the host, the load of a side that is measured inside.

        guest-vcpus.csv has the load of a guest that is not pinned.
        """
        cpus = place.cpus[role == "background"]
        is_inside = place.environment != "host" and self.options.measure == "inside"
        if not is_inside or (is_of_cpus and not cpus) or not shutil.which("ssload"):
            return
        of = ["--cpus", cpus] if is_of_cpus else ["--cgroup", f"{{{role}-group.1}}"]
        call = ["ssload", "--quiet", *of, "--format", "csv"]
        output = ["--output", f"{{out}}/{role}.host-load.csv"]
        yield line("beside", f"{role}-host", "ok=0,143", "--", *call, *output)

    def _plan_side(
        self, place: Place, role: str, workload: str, length: float, tau: str
    ) -> str:
        """Return the line of showstopper for a side. The background follows the stairs."""
        given, cpus = self.options, place.cpus[role == "background"]
        around, entering = self._enter(place, role)
        held = Held(
            str(self._of(role, "method")), self.use(workload, role), 1, self.count(place, role),
            tau=tau if role == "background" else given.foreground_tau,
            pinned="" if place.is_guest else cpus, feedback=self._feedback(place, role),
            modules=self.modules, has_counters=bool(given.counters), around=around,
            entering=entering,
        )  # fmt: skip
        shape = [
            "-l", f"{number(100 * given.foreground_load)}%", "--duration", f"{number(length)}s"
        ]
        if role == "background":
            levels = ":".join(f"{number(100 * level)}%" for level in given.levels.levels)
            trace = f"levels={levels},hold={number(given.hold)}s,symmetric=yes"
            shape = ["-t", "staircase", "-T", trace]
        start = f"{{at+{number(self.begin(place))}s}}"
        times = ["--warmup", f"{number(given.warmup)}s", "--start-at", start]
        cells = {"cpus": cpus.replace(",", " ")}
        return held.role_line(cells, [*self._labels(place), *shape, *times])

    def _labels(self, place: Place) -> list[str]:
        labels = ["--label", f"environment={place.environment}"]
        if place.environment == "host":
            return labels
        whose = "cpus" if place.is_guest else self.options.load_of
        whose = "own" if place.placement == "free" else whose
        measured = f"measured_in={self.options.measure}"
        return [*labels, "--label", measured, "--label", f"load_of={whose}"]

    def _enter(self, place: Place, role: str) -> tuple[list[str], list[str]]:
        """
        Return the words before showstopper if it runs in the place, and those before the command of
        an instance, in which showstopper replaces a %.
        """
        if not place.program:
            return [], []
        enter = place.call("enter", f"{{place}}.{{run}}.{role}")
        if place.is_guest:  # the scratch folder is in the memory of the guest
            return [*enter, "--", "env", "TMPDIR={scratch}/data"], []
        if place.is_container and self.options.measure == "inside":
            return [*enter, "--"], []
        each = ["--instance"] if place.is_container else []
        return [], [*(word.replace("%", "%%") for word in enter), *each, "--"]

    def _feedback(self, place: Place, role: str) -> str:
        """Return the feedback of a side; '' for that of its method."""
        group = f"-f cgroup -F group={{{role}-group.1}}"
        if place.placement == "free":
            return f"-f own -F cpus={place.counts[role == 'background']}"
        if place.program == "group":
            return group
        if place.is_container and self.options.load_of == "group":
            return "-f cgroup" if self.options.measure == "inside" else group
        if self.options.share and place.placement == "sets":
            return "-f own"
        return "-f exact" if self._of(role, "method") == "default" else ""
