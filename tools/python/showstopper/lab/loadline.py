# SPDX-License-Identifier: Apache-2.0
"""How much of its maximum throughput does a machine reach at a load, and what is left? Measures
throughput, response times and power at eleven levels from idle to full, up and down, in each round.
The first and the last sixth of each level are not counted."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from ..contents import read_file
from ..text import UserError, show
from . import options, services, values
from .carry import FAILED, carry_out
from .options import Options, Parser
from .plan import Cells, number, write_line
from .results import read_column, report
from .services import Service, Shape
from .study import Study

METHODS = "independent stagger default cdc pi-even pi-uneven geom-even geom-uneven".split()
DEFAULTS = {
    **services.DEFAULTS, "service": "", "at": "60%", "highest": "100%", "method": "independent",
    "tau": "107m", "hold": "60s", "warmup": "10s", "rounds": "2", "arrival": "poisson",
    "cap": "1000", "output": "loadline-results", "workloads": "",
}  # fmt: skip
QUICK = {"hold": "3s", "warmup": "1s", "rounds": "1"}
USAGE = """\
[OPTION]... [-- COMMAND [ARGUMENT]...]
       sslab loadline [OPTION]... --service NAME"""
SHORTER = "less --hold or fewer --rounds"
ANSWERS = "loadline-answers"

LEVELS = 10  # above idle
ROUNDS_MAX = 64
BURST_MIN = 2  # seconds; four samples
HOLD_MIN = 3  # seconds; requests are counted by the second
TRACE = "{out}/levels.txt"

Levels = Sequence[tuple[Fraction, float]]  # loads, and how long they are held


def parser() -> Parser:
    own = Parser("loadline", __doc__, DEFAULTS, QUICK, USAGE)
    add = own.add
    add("--at", "LOAD", values.positive_load, "load at which the throughput is estimated; "
        "default: DEFAULT, or --highest if it is lower")
    add("--predict", "LOAD", values.positive_load, "also predict the throughput at this load")
    add("--highest", "LOAD", values.positive_load, "highest level; the answer is relative to it; "
        "default: DEFAULT")
    add("--bursts", "TIME", values.duration, "with --predict and --highest: ten bursts of this "
        "length at full load, which show whether the line bends above the highest level")
    add("--knees", "LIST", values.list_of(values.positive_load), "loads at which the line may "
        "bend, such as 0.5,0.75, besides bends that the levels show; default: the load at which "
        "each core has one busy thread")
    add("--method", "NAME", values.one_of(*METHODS), "method of loading instances: independent "
        "(they overlap as independent programs do), stagger (evenly spread), default, cdc, "
        "pi-even, pi-uneven, geom-even or geom-uneven; default: DEFAULT")
    add("--tau", "TIME", values.round_length, "mean length of a round of running and stopping; "
        "default: DEFAULT")
    add("--hold", "TIME", values.length, "length of a level; default: DEFAULT. If the speed of the "
        "machine varies over minutes, as that of virtual machines does, shorter levels in more "
        "--rounds are more precise in the same time. A level must be at least ten times as long as "
        "an iteration at the lowest load")
    add("--warmup", "TIME", values.time, "uncontrolled time at the beginning; default: DEFAULT")
    options.add_quick(own, "a first impression in about a minute")
    add("--service", "NAME", about="instead of a command: serve (ssburn serve), mediawiki or a "
        "URL, whose load is held by the rate of requests (ssrequest --load-trace)")
    add("--arrival", "KIND", values.one_of(*services.ARRIVALS), "even, poisson or concurrent; "
        "default: DEFAULT")
    add("--cap", "N", values.count, "maximum number of unfinished requests; default: DEFAULT")
    services.add_service(own, is_held=True)
    options.add_cpus(own)
    options.add_workloads(own)
    options.add_study(own)
    return own


def run(given: Options) -> int:
    check(given)
    study = Study("loadline", given)
    if not (given.knees or given.on):
        given.knees = find_knees(given.energy_root)
    service = Service(study, given.on or "", is_held=True) if given.service else None
    if not service:
        study.choose_workloads(is_counted=True)
    study.find_energy()
    lines = [*plan(study, service)]
    if service:
        service.check_answer(lines)
    is_complete = carry_out(study, lambda: iter(lines), shorter=SHORTER)
    report(study, {"loadline": "loadline.csv"}, is_complete=is_complete, answers=ANSWERS)
    if shutil.which("ssreport") and not read_column(study, ANSWERS, "done"):
        use = "choose another --output, and longer --hold or more --rounds"
        raise UserError(f"the question is not answered, for the reason above; {use}", FAILED)
    return 0


def check(given: Options) -> None:
    """Check how options are combined, and set the load of the answer."""
    check_levels(given)
    only_service = "arrival cap seed timeout own_cpu work spread workers wiki".split()
    only_workloads = (
        "method", "tau", "bursts", "instances", "workloads", "memory", "counters", "own", "warmup",
        "iteration", "repeat", "name", "catalogue", "list_workloads",
    )  # fmt: skip
    if given.service:
        given.refuse_given("with --service", *only_workloads)
        if given.command:
            use = "leave it out with --service"
            raise UserError(f"unexpected command '{show(given.command[0])}': {use}")
        if given.hold < HOLD_MIN:
            use = f"use at least {HOLD_MIN}s, because requests are counted by the second"
            raise UserError(f"--hold: '{number(given.hold)}s' is too short: {use}")
    else:
        given.refuse_given("without --service", *only_service)
        if not (given.command or given.workloads or given.list_workloads):
            raise UserError("a command after --, --workloads or --service is required: see --help")


def check_levels(given: Options) -> None:
    if given.rounds > ROUNDS_MAX:
        raise UserError(f"--rounds: '{given.rounds}' is too large: use at most {ROUNDS_MAX}")
    if given.at > given.highest:
        if "at" in given.given:
            use = f"use at most {number(100 * given.highest)}%, or a higher --highest"
            at = number(100 * given.at)
            raise UserError(f"--at: {at}%: no level reaches this load: {use}")
        given.at = given.highest
    if not given.bursts:
        return
    if given.bursts < BURST_MIN:
        use = f"use at least {BURST_MIN}s, for four samples"
        raise UserError(f"--bursts: '{number(given.bursts)}s' is too short: {use}")
    if not given.predict:
        raise UserError("--bursts has no effect without --predict")
    if given.highest == 1:
        raise UserError("--bursts has no effect unless --highest is below 100%")


def find_knees(root: str) -> list[Fraction]:
    """Return the load at which each core has one busy thread, if cores have several threads."""
    files = [*Path(root).glob("sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list")]
    cores = {read_file(str(file)) for file in files}
    return [Fraction(len(cores), len(files))] if len(cores) < len(files) else []


def plan(study: Study, service: Service | None) -> Iterator[str]:
    given = study.options
    names = "warmup method tau highest hold at predict knees".split()
    settings = {name: getattr(given, name) for name in names}
    settings |= {"instances": study.instances, "memory": given.memory}
    settings |= {name: getattr(given, name) for name in ("arrival", "cap", "work")}
    yield from study.head(settings)
    steps = range(LEVELS + 1)
    up = [(given.highest * step / LEVELS, given.hold) for step in steps]
    down = up[::-1]
    if service:
        yield from service.head()
    for number_of_round in range(1, given.rounds + 1):
        if service:
            yield from plan_requests(study, service, "up", up, number_of_round)
            yield from plan_requests(study, service, "down", down, number_of_round)
            continue
        if given.method == "independent":
            study.modules["cdc"] = f"phase={number_of_round}"
        for workload in study.workloads:
            yield from plan_run(study, workload, "levels", [*up, *down], number_of_round)
            if bursts := given.bursts:
                levels = [(given.highest, 2 * bursts), (Fraction(1), bursts)] * LEVELS
                yield from plan_run(study, workload, "bursts", levels, number_of_round,
                    {"bursts": bursts})  # fmt: skip


def cells(study: Study) -> dict[str, object]:
    return {name: getattr(study.options, name) for name in ("at", "predict", "knees")}


def plan_levels(levels: Levels) -> str:
    """Return the line that writes the trace of a run."""
    texts = [(number(load), number(seconds)) for load, seconds in levels]
    rows = [row for load, seconds in texts for row in (f"+0 {load}", f"+{seconds}s {load}")]
    return write_line(TRACE, "printf", "%s\\n", *rows)


def length(levels: Levels) -> float:
    return sum(seconds for _, seconds in levels)


def plan_run(
    study: Study, workload: str, part: str, levels: Levels, number_of_round: int,
    more: Cells | None = None,
) -> Iterator[str]:  # fmt: skip
    """Yield a run in which a workload follows these levels."""
    given = study.options
    held = study.held(given.method, workload, Fraction(1), given.tau)
    name = f"{workload}-{given.method}-n{held.instances}-{part}-{number_of_round}"
    takes = given.warmup + length(levels) + 1
    columns = {"warmup_seconds": given.warmup, **cells(study), **(more or {})}
    words = ["--warmup", f"{number(given.warmup)}s", "-t", "file", "-T", f"{TRACE},loop=no"]
    lines = [plan_levels(levels), *study.samplers()]
    yield from held.run(study.plan, name, takes, number_of_round, columns, words, lines)


def plan_requests(
    study: Study, service: Service, part: str, levels: Levels, number_of_round: int
) -> Iterator[str]:
    """Yield a run in which the service follows these levels."""
    given = study.options
    takes = length(levels) + 6
    words = ["--load-trace", TRACE, "--settle", "0", *service.held]
    shape = Shape(part, words, takes, None)
    columns = {
        "workload": service.name, "method": "rate", "round": number_of_round, **cells(study),
    }  # fmt: skip
    sending = service.sending(number_of_round, given.arrival, given.cap)
    lines = [
        *study.samplers(), plan_levels(levels), *service.start(),
        *service.requests(shape, sending),
    ]  # fmt: skip
    name = f"{service.name}-{part}-{number_of_round}"
    yield from study.plan.run(name, takes, columns, lines)
