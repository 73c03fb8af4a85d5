# SPDX-License-Identifier: Apache-2.0
"""What does each knob save, and what does it cost? Measures response times, capacity and power of a
service at each level of the knobs of ssactuate(1), at each rate of requests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..installation import require_programs
from ..text import UserError
from . import knobs, options, services, values
from .carry import carry_out
from .knobs import Knobs, Level, Part
from .options import Options, Parser
from .plan import line, literal, number, plain_name
from .results import report
from .services import Service, Shape
from .study import Study

DEFAULT_LEVELS = (
    "instances=1 instances=2 cpus=1+workers=2 cpus=2+workers=2 quota=50% duty=50% frequency=min"
)
DEFAULTS = {
    **services.DEFAULTS, "arrival": "poisson", "balance": "round-robin", "cap": "200",
    "cool_down": "10s", "warmup": "5s", "seconds": "60s", "rounds": "7", "others": "100%",
    "output": "tradeoffs-results",
}  # fmt: skip
QUICK = {"rounds": "1", "cool_down": "0", "warmup": "1s", "seconds": "3s"}
OF_SERVICES = (
    "service rates steps warmup arrival cap balance workers when_full timeout own_cpu spread wiki"
).split()
CAPS = [0, 10, 25, 50, 75, 100]  # default of --cap in the mode `cap`
SHORTER = "fewer --knobs, --arrival, --balance, --cap or --rounds, shorter --steps"
MODES = """\
busy        no service: measure power while Showstopper keeps some CPUs busy,
            free and pinned, at each frequency, and in eight ways of using a
            quarter of the machine
neighbours  run two instances, one always on the first CPU, the other on each of
            the other CPUs in turn
cap         send 10 requests per second above the capacity; allow 0, 10, 25, 50,
            75 and 100 unfinished requests for each instance beyond those of one
            second at the capacity
Levels with knobs that this machine lacks are skipped with a message, as are
published levels that have the same CPUs as an earlier one."""
WIKI = (
    "folder DIR-1 for the first instance and so on, which are kept; default: folders in the "
    "results, which are removed at the end"
)


def parser() -> Parser:
    usage, modes = "[busy | neighbours | cap] [OPTION]...", ("busy", "neighbours", "cap")
    own = Parser("tradeoffs", __doc__, DEFAULTS, QUICK, usage, MODES, modes)
    add = own.add
    add("--knobs", "LEVELS", about="levels separated by blanks; a level is one or more knobs "
        "joined by +, and may have workers=N for the service. May be given several times: all "
        f"combinations of the lists are measured. Default: {DEFAULT_LEVELS}", action="append")
    add("--published", "WHAT", values.one_of(*knobs.PUBLISHED), "levels, arrivals, rates and work "
        "as published: of one knob, of a figure, or of cap or neighbours")
    add("--service", "NAME", about="serve (ssburn serve) or mediawiki (services/mediawiki); "
        "default: DEFAULT")
    add("--steps", "M:S:T", services.Steps, "one run of 0, S, 2S ... below M requests per second, "
        "T each; default: 300:20:10s for serve, 140:5:10s for mediawiki and as published")
    add("--rates", "LIST", values.list_of(services.rate), "instead of --steps: requests per "
        "second, each in separate runs")
    add("--warmup", "TIME", services.pause, "with --rates: time of requests that do not count; "
        "default: DEFAULT")
    add("--seconds", "TIME", values.duration, "with --rates or busy: counted time; "
        "default: DEFAULT")
    add("--arrival", "LIST", values.list_of(values.one_of(*services.ARRIVALS)), "how requests "
        "arrive; default: DEFAULT")
    add("--balance", "LIST", values.list_of(values.one_of("round-robin", "least-connections")),
        "choice among instances; default: DEFAULT")
    add("--cap", "LIST", values.list_of(values.whole), "maximum numbers of unfinished requests; "
        "default: DEFAULT")
    add("--cool-down", "TIME", services.pause, "pause before a run; default: DEFAULT. With a "
        "source of power, the pause lasts until power is within 2 % of idle, at most 2 min")
    add("--rounds", "N", values.count, "repetitions of all levels, in random order within a "
        "round; default: DEFAULT")
    options.add_quick(own, "one round of short steps, which takes a few minutes")
    services.add_service(own, WIKI)
    options.add_study(own)
    options.add_energy(own)
    options.add_go_on(own)
    return own


def run(given: Options) -> int:
    mode = check(given)
    study = Study("tradeoffs", given)
    require_programs("ssactuate")
    if given.published and "work" not in given.given:
        # Choose work that gives the published capacity; instances of `neighbours` have one CPU.
        given.work = f"{1000 * (2 if mode == 'neighbours' else study.cpus) // 105}m"
    choose_steps(given, mode)
    service = Service(study)
    if service.name == "url":
        raise UserError("--service: a URL has no knobs: use serve or mediawiki")
    tradeoffs = Tradeoffs(study, service, mode)
    study.find_energy()
    study.shuffle = given.seed
    is_complete = carry_out(study, tradeoffs.plan, shorter=SHORTER)
    tables = {"power-fits": "fits.csv"}
    if mode != "busy":
        tables = {
            "requests-savings": "knobs.csv", "requests-limits": "capacity.csv",
            "requests-rates": "table.csv",
        }  # fmt: skip
    report(study, tables, is_complete=is_complete)
    return 0


def check(given: Options) -> str:
    """Check how options are combined; return the mode."""
    mode: str = given.operand or ""
    services.check_sending(given)
    if mode and given.published and mode != given.published:
        use = "leave out one of them"
        raise UserError(f"--published: {given.published} cannot be combined with {mode}: {use}")
    if given.published in ("neighbours", "cap"):
        mode = given.published
    if mode == "busy":
        given.refuse_given("with busy, which has no service", *OF_SERVICES)
    if "rates" not in given.given and mode not in ("busy", "cap"):
        given.refuse_given("without --rates", "warmup", "seconds")
    if mode == "cap" and given.service != "serve" and not {"rates", "cap"} <= given.given:
        use = f"give --rates and --cap for --service {given.service}"
        raise UserError(f"cap: only the capacity of serve is known: {use}")
    if mode == "cap" and "cap" not in given.given:
        given.cap = CAPS
    return mode


def choose_steps(given: Options, mode: str) -> None:
    """Set the steps unless rates or steps are given, or the mode needs none."""
    if "steps" in given.given:
        given.rates = None
    if given.rates:
        given.steps = None
    elif not given.steps and mode not in ("cap", "busy"):
        usual = "140:5:10s" if given.service == "mediawiki" else "300:20:10s"
        given.steps = services.Steps("440:40:2s" if given.quick else usual)


class Tradeoffs:
    """The plan of a study."""

    def __init__(self, study: Study, service: Service, mode: str) -> None:
        given = study.options
        self.study, self.service, self.mode = study, service, mode
        self.knobs = Knobs(study, service, mode)
        lists = given.knobs
        if not lists and (mode or given.published):
            lists = self.knobs.defaults(given.published or "", knobs.frequencies(given.energy_root))
        self.levels = self.knobs.find(lists or [DEFAULT_LEVELS], bool(given.knobs))
        self.parts = self.knobs.possible_parts() if mode == "busy" else []
        self._texts: dict[str, str] = {}  # the text of which each name of a run is made

    def plan(self) -> Iterator[str]:
        given = self.study.options
        names = "service own_cpu seed when_full timeout work spread workers warmup seconds steps"
        settings = {name: getattr(given, name) for name in f"{names} cool_down".split()}
        yield from self.study.head({"mode": self.mode, **settings}, more=self.head())
        for number_of_round in range(1, given.rounds + 1):
            if self.mode == "busy":
                yield from self.plan_busy(number_of_round)
                continue
            for level in self.levels:
                for cells, shape in self.shapes(level):
                    yield from self.plan_level(level, cells, shape, number_of_round)

    def head(self) -> Iterator[str]:
        given = self.study.options
        yield from self.service.head()
        if self.service.is_own_wiki:
            # The line does not depend on the number of instances: later calls may add levels.
            each = 'for wiki in "$1"-*; do "$0" down "$wiki" || status=1; done'
            script = f"status=0; {each}; exit $status"
            words = [self.service.script, literal(self.service.wiki)]
            yield line("after", "--", "sh", "-c", script, *words)
        if self.study.source and given.cool_down:
            call = [*self.energy(), "--mean", "10"]
            yield line("once", "idle_watts", "match=^mean ([0-9.]+)$", "--", *call)

    def shapes(self, level: Level) -> Iterator[tuple[dict[str, object], Shape]]:
        given = self.study.options
        if given.steps:
            yield {"steps": given.steps}, self.service.along(given.steps)
        rates = given.rates or []
        if self.mode == "cap" and not rates:
            rates = [str(self.capacity(level) + 10)]
        for rate in rates:
            yield {"rate": rate}, self.service.at_rate(rate)

    def capacity(self, level: Level) -> int:
        """Return how many requests serve can answer in a second."""
        busy = min(level.copies * (level.workers or 1), self.study.cpus)
        return int(0.5 + busy / values.duration(self.study.options.work))

    def caps(self, level: Level) -> list[int]:
        """
        Return the caps. With `cap`, requests of a second at the capacity of serve are added: with
        that many unfinished ones, they take one second on average.
        """
        caps: list[int] = self.study.options.cap
        if self.mode != "cap" or self.service.name != "serve":
            return caps
        return [self.capacity(level) + level.copies * cap for cap in caps]

    def name_of(self, text: str) -> str:
        """Return a text as the name of a run. Leaves out characters such as = and % unless another
        text has this name then, as pin=12 and pin=1,2 do."""
        name = re.sub("[^A-Za-z0-9.+_-]", "", text)
        if self._texts.setdefault(name, text) != text:
            name = plain_name(text)
        return name

    def energy(self) -> list[str]:
        root = self.study.options.energy_root
        return ["showstopper-platform", "energy", self.study.source, "--root", root]

    def cool_down(self) -> Iterator[str]:
        given = self.study.options
        if given.cool_down and self.study.source:
            yield line("before", "--", *self.energy(), "--settle", "{idle_watts}")
        elif given.cool_down:
            yield line("before", "--", "sleep", number(given.cool_down))

    # A service

    def plan_level(
        self, level: Level, varied: dict[str, object], shape: Shape, number_of_round: int
    ) -> Iterator[str]:
        given = self.study.options
        choices = (
            (arrival, balance, cap)
            for arrival in given.arrival
            for balance in given.balance
            for cap in self.caps(level)
        )
        for arrival, balance, cap in choices:
            cells = {
                "workload": self.service.name, "knobs": level.text, "arrival": arrival,
                "balance": balance, "cap": cap, **varied, "warmup_seconds": shape.warmup,
                "seconds": shape.counted, "seed": given.seed + number_of_round,
                "round": number_of_round, "machine_cpus": self.study.cpus,
                "workers": level.workers,
            }  # fmt: skip
            sending = self.service.sending(number_of_round, arrival, cap)
            lines = self.lines(level, shape, [*sending, "--balance", balance])
            text = f"{level.text}-{arrival}-{balance}-c{cap}-{shape.name}-{number_of_round}"
            takes = shape.takes + given.cool_down
            yield from self.study.plan.run(self.name_of(text), takes, cells, lines)

    def lines(self, level: Level, shape: Shape, sending: Sequence[str]) -> Iterator[str]:
        yield from self.cool_down()
        yield from self.study.samplers(is_idle_needed=True, on=level.cpus)
        if self.mode == "neighbours":
            first = [level.words[0], f"pin={self.knobs.allowed[0]}"]
            yield self.instances("one", first, level)
            yield self.instances("other", level.words, level)
            url = "{one.1} {other.1}"
        else:
            yield self.instances("server", level.words, level)
            url = "{server.1}"
        on = ["--cpus", level.cpus] if level.cpus else []
        call = ["ssload", *on, *["--per-cpu"] * level.is_each, "--quiet", "--format", "csv"]
        output = ["--output", "{out}/beside.csv"]
        yield line("beside", "load", "ready-file={out}/beside.csv", "--", *call, *output)
        yield from self.service.requests(shape, sending, url)
        yield line("after", "--", "ssactuate", "restore")

    def instances(self, role: str, words: Sequence[str], level: Level) -> str:
        """Return the line that starts instances of the service."""
        service = self.service
        command = service.serve("{port}", level.workers)
        if service.name == "mediawiki":
            folder = f"{literal(service.wiki)}-{{instance}}"
            command = service.run_wiki(folder, level.workers, ["--port", "{port}"])
        call = ["ssactuate", "run", *words, "--record", f"{{out}}/{role}.json", "--", *command]
        return line("beside", role, "ready=^urls (.+)$", "ok=0,143", "--", *call)

    # No service

    def plan_busy(self, number_of_round: int) -> Iterator[str]:
        """
        Yield runs with several numbers of busy CPUs at each frequency, with each number, free and
        pinned, and in several ways of using a quarter of the machine.
        """
        cpus = self.study.cpus
        idle = Part("free", 1, 1)
        numbers = sorted({-(-cpus // part) for part in (8, 4, 2, 1)})
        for level in self.levels:
            for part in [idle, *(Part("free", count, 100) for count in numbers)]:
                yield from self.plan_part(part, number_of_round, level.words, level.text)
        yield from self.plan_part(idle, number_of_round)
        for count in range(1, cpus + 1):
            yield from self.plan_part(Part("free", count, 100), number_of_round)
            pinned = Part("pinned", count, 100, f"pin=first:{count}")
            yield from self.plan_part(pinned, number_of_round)
        for part in self.parts:
            if part.placement not in ("free", "pinned"):
                yield from self.plan_part(part, number_of_round)

    def plan_part(
        self, part: Part, number_of_round: int, words: Sequence[str] = (), frequency: str = ""
    ) -> Iterator[str]:
        given = self.study.options
        words = [*words, *([part.pin] if part.pin else [])]
        turned = f"-{' '.join(words)}" if words else ""
        text = f"{part.placement}-n{part.busy}-d{part.duty}{turned}-{number_of_round}"
        cells = {
            "workload": "serial", "placement": part.placement,
            "target": part.busy * part.duty / 100 / self.study.cpus, "knobs": frequency,
            "round": number_of_round,
        }  # fmt: skip
        around = ["ssactuate", "run", *words, "--"] if words else []
        call = [
            *around, "showstopper", "--quiet", "--record", "{record}",
            "--output", "{scratch}/output", "-n", str(part.busy), "-l", f"{part.duty}%",
            "-f", "exact", "-F", "source=idle", "-c", "fixed", "-C", f"duty={part.duty}%",
            "--duration", f"{number(given.seconds)}s", "ssburn", "serial", "--work", "{units}",
        ]  # fmt: skip
        lines = [
            *self.cool_down(), *self.study.samplers(is_idle_needed=True), line("main", "--", *call)
        ]  # fmt: skip
        takes = given.seconds + given.cool_down + 1
        yield from self.study.plan.run(self.name_of(text), takes, cells, lines)
