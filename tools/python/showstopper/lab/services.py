# SPDX-License-Identifier: Apache-2.0
"""Services that experiments start or find at a URL, and the requests that are sent to them."""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..installation import experiments, require_programs
from ..text import UserError, show
from . import values
from .options import Options, Parser
from .plan import line, literal, number
from .study import Study

DEFAULTS = {
    "service": "serve", "seed": "1", "when_full": "delay", "timeout": "10s", "work": "10m",
    "spread": "constant",
}  # fmt: skip
WIKI = (
    "a folder made by services/mediawiki, which is kept; its wiki must not be running; default: a "
    "folder in the results, which is removed at the end"
)
ARRIVALS = ("even", "poisson", "concurrent")

_RATE = re.compile(r"(?=.*[1-9])[0-9]+(\.[0-9]+)?")
_STEPS = re.compile(r"((?:[0-9]+\.?[0-9]*|\.[0-9]+)):((?:[0-9]+\.?[0-9]*|\.[0-9]+)):([^:]+)")
_WIKI_MAX = 84  # bytes: MariaDB, PHP and Memcached have sockets in it, whose paths have at most 107
_SEARCH = 3  # seconds in which ssrequest finds the rate of a load


# Options


def pause(value: str) -> float:
    """Return a time that may be 0."""
    return 0.0 if re.fullmatch("0s?", value) else values.duration(value)


def rate(value: str) -> str:
    """Return a rate as it was written, which is exact."""
    if not _RATE.fullmatch(value):
        use = "use requests per second above 0, such as 20"
        raise UserError(f"'{show(value)}' is not a rate: {use}")
    return value


class Steps:
    """MAX:STEP:TIME, rates from 0 to below MAX."""

    def __init__(self, value: str) -> None:
        parts = _STEPS.fullmatch(value)
        if not parts or not Fraction(parts[1]) or not Fraction(parts[2]):
            use = "use one such as 140:5:2s"
            raise UserError(f"'{show(value)}' is not MAX:STEP:TIME: {use}")
        self.most, self.step, self.hold = parts[1], parts[2], values.duration(parts[3])
        self.seconds = math.ceil(Fraction(self.most) / Fraction(self.step)) * self.hold

    def __str__(self) -> str:
        return f"{self.most}:{self.step}:{number(self.hold)}"


def add_service(parser: Parser, wiki: str = WIKI, is_held: bool = False) -> None:
    """
    Add the options of all studies of services.

    wiki     the help of --wiki
    is_held  whether all runs hold a load
    """
    add = parser.add
    parser.begin("service and requests")
    add("--seed", "N", values.whole, "seed of arrivals; round n uses N + n; default: DEFAULT")
    if not is_held:
        add("--when-full", "KIND", values.one_of("delay", "drop"), "delay or drop requests beyond "
            "--cap; default: DEFAULT")
    add("--timeout", "TIME", values.duration, "timeout of a request; default: DEFAULT")
    add("--own-cpu", "LIST", values.cpus, "CPUs of the generator, such as 3 or 0-1; default: any")
    add("--work", "TIME", about="for serve: CPU time of a request; default: DEFAULT")
    add("--spread", "KIND", values.one_of("constant", "exponential"), "for serve: constant or "
        "exponential work; default: DEFAULT")
    add("--workers", "N", values.count, "for serve and mediawiki: requests worked on at a time; "
        "default: 1 for serve, or the number of CPUs if its load is held")
    add("--wiki", "DIR", about=f"for mediawiki: {wiki}")


def check_sending(options: Options) -> None:
    """Check how the options of requests at rates or in steps are combined."""
    if options.command:
        use = "name the service with --service"
        raise UserError(f"unexpected command '{show(options.command[0])}': {use}")
    if {"rates", "steps"} <= options.given:
        raise UserError("--rates cannot be combined with --steps")
    if "steps" in options.given:
        options.refuse_given("with --steps", "seconds", "warmup")


def check_url(option: str, url: str) -> None:
    """Fail unless requests to a URL succeed."""
    call = ["ssrequest", "--rate", "10", "--duration", "0.1s", url]
    if subprocess.run(call, capture_output=True).returncode:
        raise UserError(f"--{option}: {url}: requests fail; to see why, run: {' '.join(call)}")


def _ask_ssburn(option: str, name: str, call: Sequence[str]) -> None:
    """Fail if ssburn refuses the value of its option `name`. It reads all options before --help."""
    done = subprocess.run(["ssburn", *call, "--help"], capture_output=True)
    if done.returncode:
        why = os.fsdecode(done.stderr).strip().removeprefix(f"ssburn: --{name}: ")
        raise UserError(f"--{option}: {why}")


# Requests


@dataclass(frozen=True)
class Shape:
    """
    When requests of a run are sent.

    name     part of the run's name
    options  of ssrequest
    takes    seconds of the run
    counted  seconds of requests that count; None if unknown
    warmup   seconds of requests at the rate before these
    """

    name: str
    options: Sequence[str]
    takes: float
    counted: float | None
    warmup: float = 0
    rate: str = ""


class Service:
    """
    The service of a study.

    name       serve, mediawiki or url, in names of runs and in tables
    url, pids  the service in a plan, where they may be placeholders; no pids if they are unknown
    workers    requests worked on at a time; None if not given
    when_full  '' if a load is held, for which requests are always delayed
    held       options of ssrequest if it holds the load
    wiki       folder of mediawiki; is_own_wiki if the study makes and removes it
    """

    def __init__(self, study: Study, on: str = "", is_held: bool = False) -> None:
        """
        on       CPUs of a service that is started
        is_held  whether ssrequest holds its load, of which 100 % are the CPUs of the study
        """
        require_programs("ssrequest", "ssburn", "ssload")
        options = study.options
        self._study = study
        self._pinning = ["taskset", "-c", on] if on else []
        self.name: str = options.service
        self.url, self.pids = "{server.1}", "{server.pid}"
        if re.match("https?://", self.name):
            self.name, self.url, self.pids = "url", literal(options.service), options.attach or ""
        self._check(on)
        self.workers: int | None = options.workers
        self.when_full = options.when_full
        self.held: list[str] = []
        if is_held:
            self._hold(on)
        if self.workers:
            self.check_workers("workers", self.workers)
        _ask_ssburn("work", "iteration", ["serial", "--iteration", options.work])
        self.wiki, self.is_own_wiki = "", False
        if self.name == "mediawiki":
            self._find_wiki()

    def _check(self, on: str) -> None:
        options = self._study.options
        if self.name not in ("serve", "mediawiki", "url"):
            use = "use serve, mediawiki or a URL"
            raise UserError(f"--service: '{show(options.service)}' is not a service: {use}")
        if self.name == "url" and (on or options.workers):
            raise UserError("--on and --workers require a service that the experiment starts")
        if self.name != "serve":
            options.refuse_given("without --service serve", "work", "spread")
        if self.name != "mediawiki" and options.wiki:
            raise UserError("--wiki requires --service mediawiki")

    def _hold(self, on: str) -> None:
        """Hold the load of the service, or of all its processes if the study starts it."""
        self.when_full = ""
        self.held = ["--cpus", str(self._study.cpus)] if on else []
        if self.name != "url":
            self.held += ["--of", f"pid:{self.pids}"]
        if self.name == "serve" and not self.workers:
            self.workers = self._study.cpus

    def check_workers(self, option: str, workers: int) -> None:
        """Fail if serve cannot have this many workers."""
        if self.name == "serve":
            _ask_ssburn(option, "workers", ["serve", "--workers", str(workers)])

    def _find_wiki(self) -> None:
        options = self._study.options
        self.is_own_wiki = not options.wiki
        self.wiki = os.path.realpath(options.wiki or self._study.output / "wiki")
        if not options.dry_run and len(os.fsencode(self.wiki)) > _WIKI_MAX:
            use = "use a shorter --output or --wiki"
            raise UserError(f"{self.wiki}: too long for the paths of sockets in it: {use}")
        if self._study.is_preview:
            return
        done = subprocess.run([self.script, "check"], capture_output=True)
        if done.returncode:
            raise UserError(os.fsdecode(done.stderr).strip())

    def check_answer(self, lines: Sequence[str]) -> None:
        """Fail if runs of the plan remain, but the service at a URL does not answer."""
        if self.name != "url" or self._study.is_preview:
            return
        call = ["ssbatch", "--dry-run", str(self._study.output)]
        plan = os.fsencode("".join(f"{one}\n" for one in lines))
        said = subprocess.run(call, input=plan, capture_output=True).stdout
        if not said.rstrip().endswith(b"to come: 0 s"):
            check_url("service", self._study.options.service)

    # Lines of a plan

    def head(self) -> Iterator[str]:
        """Yield the lines of the study that the service needs."""
        if self.name == "serve":
            work = self._study.options.work
            call = ["ssburn", "serial", "--iteration", work, "--iterations", "0"]
            yield line("once", "units", "match=^# work ([0-9]+)$", "--", *call)
        if self.is_own_wiki:
            yield line("after", "--", self.script, "down", literal(self.wiki))

    def start(self) -> Iterator[str]:
        """Yield the line that starts a new service, so that all runs begin in the same state."""
        if self.name == "serve":
            ready, words = "^listening on (.+)$", self.serve("0", self.workers)
        elif self.name == "mediawiki":
            ready, words = "^url (.+)$", self.run_wiki(literal(self.wiki), self.workers)
        else:
            return
        yield line("beside", "server", f"ready={ready}", "--", *words)

    def serve(self, address: str, workers: int | None) -> list[str]:
        """Return the command of serve. {units} is calibrated once for the study."""
        spread = self._study.options.spread
        words = ["ssburn", "serve", "--listen", address, "--workers", str(workers or 1)]
        return [*self._pinning, *words, "--spread", spread, "--units", "{units}"]

    def run_wiki(self, folder: str, workers: int | None, more: Sequence[str] = ()) -> list[str]:
        """Return the command of mediawiki."""
        limit = ["--workers", str(workers)] if workers else []
        return [*self._pinning, self.script, "run", folder, *limit, *more]

    @property
    def script(self) -> str:
        return str(experiments() / "services/mediawiki")

    def at_rate(self, rate: str) -> Shape:
        options = self._study.options
        words = ["--profile", "constant", "--rate", rate]
        words += ["--duration", f"{number(options.seconds)}s"]
        takes = options.warmup + options.seconds + 3
        return Shape(f"r{rate}", words, takes, options.seconds, options.warmup, rate)

    def along(self, steps: Steps) -> Shape:
        words = ["--profile", "step", "--max", steps.most, "--step", steps.step]
        words += ["--hold", f"{number(steps.hold)}s"]
        return Shape("steps", words, steps.seconds + 3, steps.seconds)

    def at_load(self, load: Fraction) -> Shape:
        """Return requests that hold a load, in episodes of at least 10 s and twice --settle."""
        warmup, seconds = self._study.options.warmup, self._study.options.seconds
        can_repeat = seconds / 6 + warmup >= 10 and seconds / 6 >= warmup
        episodes = 6 if can_repeat else 1
        percent = number(100 * load)
        words = ["-l", f"{percent}%", "--episodes", str(episodes), "--settle", f"{number(warmup)}s"]
        words += ["--duration", f"{number(episodes * warmup + seconds)}s", *self.held]
        takes = episodes * (warmup + _SEARCH) + seconds + 3
        return Shape(f"l{percent}", words, takes, seconds)

    def sending(self, number_of_round: int, arrival: str, cap: int) -> list[str]:
        """Return the options of ssrequest that do not depend on rates."""
        options = self._study.options
        words = ["--arrival", arrival, "--seed", str(options.seed + number_of_round)]
        words += ["--cap", str(cap), "--timeout", f"{number(options.timeout)}s"]
        words += ["--when-full", self.when_full] if self.when_full else []
        return words + (["--own-cpu", options.own_cpu] if options.own_cpu else [])

    def requests(self, shape: Shape, sending: Sequence[str], url: str = "") -> Iterator[str]:
        """
        Yield the lines that send requests, by default to `self.url`: a warm-up at the rate, then
        those that count. Failed requests do not make the run fail.
        """
        own_cpu = self._study.options.own_cpu
        words = [*sending, url or self.url]
        if shape.warmup:
            call = ["ssrequest", "--quiet", "--profile", "constant", "--rate", shape.rate]
            call += ["--duration", f"{number(shape.warmup)}s", *words]
            yield line("before", "warmup", "ok=0,1", "--", *call)
        cpus = [f"cpus={own_cpu.replace(',', ' ')}"] if own_cpu else []
        call = ["ssrequest", *shape.options, "--record", "{record}", *words]
        yield line("main", "requests", "ok=0,1", *cpus, "--", *call)
