# SPDX-License-Identifier: Apache-2.0
"""How do response times of a service depend on its load or on the rate of requests, at each duty
to which the service is throttled, and what is its capacity: the highest rate at which a demand on
the response time holds?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from .. import units
from ..text import UserError, show
from . import options, services, values
from .carry import carry_out
from .options import Options, Parser
from .plan import line, number, short
from .results import report
from .services import Service, Shape
from .study import Study

DEFAULTS = {
    **services.DEFAULTS, "duties": "100%,75%,50%,25%", "tau": "107m", "demands": "p95=1s",
    "warmup": "5s", "seconds": "60s", "arrival": "poisson", "cap": "1000", "others": "100%",
    "output": "latency-results",
}  # fmt: skip
QUICK = {"duties": "100%,50%", "demands": "none", "warmup": "1s", "seconds": "8s"}
SHORTER = "fewer --rates or --duties, --demands none, less --seconds"
RATES = {  # by service; with --quick, fewer
    "serve": ("10,20,30,40,50,60,70,80,90", "5,20,40"),
    "mediawiki": ("2,5,10,15,20", "1,3,6"),
}
SEARCH_TIME = 300.0  # seconds assumed for a search, whose duration is unknown


def parser() -> Parser:
    own = Parser("latency", __doc__, DEFAULTS, QUICK, "[OPTION]...")
    add = own.add
    add("--service", "NAME", about="serve (ssburn serve), mediawiki (services/mediawiki), or a "
        "URL; default: DEFAULT")
    add("--attach", "PID[,PID]", pids, "processes of a service given as a URL, each with all of "
        "its descendants. Without --attach, such a service is not throttled")
    usual = ", ".join(f"{rates} for {name}" for name, (rates, _) in RATES.items())
    add("--rates", "LIST", values.list_of(services.rate), "requests per second; default: "
        f"{usual}, none for a URL")
    add("--loads", "LIST", values.list_of(values.positive_load), "instead of --rates: hold the "
        "service at these loads, such as 20%,40%,60%,80%, by the rate (ssrequest -l); it is not "
        "throttled")
    add("--steps", "M:S:T", services.Steps, "instead of --rates: one run of 0, S, 2S ... below M "
        "requests per second, T each, such as 140:5:10s")
    add("--duties", "LIST", values.list_of(values.positive_load), "fractions of time for which the "
        "service may run; default: DEFAULT, for a URL without --attach 100%")
    add("--tau", "TIME", round_seconds, "mean length of a round of running and stopping; "
        "default: DEFAULT")
    add("--demands", "LIST", demands, "find the capacity for each demand, such as mean=1s,p95=2s; "
        "none: no search; default: DEFAULT, with --loads none")
    add("--warmup", "TIME", services.pause, "time of requests that do not count, at the same "
        "rate; default: DEFAULT")
    add("--seconds", "TIME", values.duration, "time of requests that count; default: DEFAULT")
    add("--arrival", "KIND", values.one_of(*services.ARRIVALS), "even, poisson or concurrent; "
        "default: DEFAULT")
    add("--cap", "N", values.count, "maximum number of unfinished requests; default: DEFAULT")
    add("--on", "LIST", values.cpus, "CPUs of the service, such as 0-3,8; not for a URL; "
        "default: any")
    add("--rounds", "N", values.count, "repetitions of all runs; default: DEFAULT")
    options.add_quick(own, "three rates, two duties and no search, in about a minute")
    services.add_service(own)
    options.add_study(own)
    options.add_energy(own)
    options.add_go_on(own)
    return own


def pids(value: str) -> str:
    if not re.fullmatch("[1-9][0-9]*(,[1-9][0-9]*)*", value):
        raise UserError(f"'{show(value)}' is not a list of pids: use one such as 12,34")
    return value


def round_seconds(value: str) -> float:
    return units.time(values.round_length(value))[0]


def demands(value: str) -> list[str]:
    return [] if value == "none" else [demand(one) for one in value.split(",") if one]


def demand(value: str) -> str:
    """Return a demand as ssrequest --capacity accepts it; a time without a unit is in seconds."""
    parts = re.fullmatch(r"(?:mean|p([0-9]+(?:\.[0-9]+)?))=([0-9.]+[a-zA-Z]*)", value)
    if not parts:
        raise UserError(f"'{show(value)}' is not a demand: use one such as mean=1s or p95=500ms")
    if parts[1] and not 0 < Fraction(parts[1]) <= 100:
        raise UserError(f"'{show(value)}': the percentile must be above 0 and at most 100")
    values.duration(parts[2])
    return value if value[-1].isalpha() else f"{value}s"


def run(given: Options) -> int:
    services.check_sending(given)
    if given.loads:
        useless = "rates", "steps", "attach", "duties", "tau", "when_full"
        given.refuse_given("with --loads", *useless)
    study = Study("latency", given)
    study.samples_on, given.on = given.on or "", None  # --on is only for the service
    service = Service(study, study.samples_on, is_held=bool(given.loads))
    check(given, service)
    study.find_energy()
    lines = [*plan(study, service)]
    service.check_answer(lines)
    is_complete = carry_out(study, lambda: iter(lines), shorter=SHORTER)
    report(study, {"requests-rates": "table.csv"}, is_complete=is_complete)
    return 0


def check(given: Options, service: Service) -> None:
    """Check how options are combined, and set those that depend on the service."""
    is_url = service.name == "url"
    if given.attach and not is_url:
        raise UserError("--attach is for a URL only")
    is_fixed = given.loads or (is_url and not given.attach)  # nothing can be throttled
    if is_fixed and "duties" not in given.given:
        given.duties = [Fraction(1)]
    if is_fixed and any(duty < 1 for duty in given.duties):
        use = "use --attach or --duties 100%"
        raise UserError(
            f"--duties: cannot throttle the service of a URL without --attach: {use}"
        )
    if given.loads and "demands" not in given.given:
        given.demands = []
    if not (given.loads or given.rates or given.steps):
        if is_url:
            raise UserError("--loads, --rates or --steps is required: see --help")
        given.rates = RATES[service.name][bool(given.quick)].split(",")


def plan(study: Study, service: Service) -> Iterator[str]:
    given = study.options
    yield from study.head({
        "service": given.service, "attach": given.attach, "service_cpus": study.samples_on,
        "own_cpu": given.own_cpu, "tau": given.tau, "arrival": given.arrival,
        "seed": given.seed, "cap": given.cap, "when_full": service.when_full,
        "timeout": given.timeout, "work": given.work, "spread": given.spread,
        "workers": service.workers, "warmup": given.warmup, "seconds": given.seconds,
    })  # fmt: skip
    yield from service.head()
    for number_of_round in range(1, given.rounds + 1):
        for load in given.loads or []:
            shape = service.at_load(load)
            yield from plan_run(study, service, {"load": load}, shape, number_of_round)
        for duty in given.duties:
            for cells, shape in shapes(given, service):
                yield from plan_run(study, service, cells, shape, number_of_round, duty)


def shapes(given: Options, service: Service) -> Iterator[tuple[dict[str, object], Shape]]:
    """Yield the requests at each duty, and the column that says which they are."""
    if given.steps:
        yield {"steps": given.steps}, service.along(given.steps)
    for rate in given.rates or []:
        yield {"rate": rate}, service.at_rate(rate)
    for one in given.demands or []:
        search = Shape(one.replace("=", "-", 1), ["--capacity", one], SEARCH_TIME, None)
        yield {"demand": one}, search


def plan_run(
    study: Study, service: Service, varied: dict[str, object], shape: Shape, number_of_round: int,
    duty: Fraction = Fraction(1),
) -> Iterator[str]:  # fmt: skip
    given = study.options
    throttled: dict[str, object] = {
        "method": "uncontrolled" if duty == 1 else "1cdc", "target": duty,
        "tau_seconds": given.tau,
    }  # fmt: skip
    is_held = "load" in varied
    cells = {
        "workload": service.name, **({"method": "rate"} if is_held else throttled), **varied,
        "warmup_seconds": shape.warmup, "seconds": shape.counted,
        "seed": given.seed + number_of_round, "round": number_of_round,
    }  # fmt: skip
    lines = [
        *study.samplers(),
        *service.start(),
        *([] if is_held else plan_throttle(study, service, duty)),
        *service.requests(shape, service.sending(number_of_round, given.arrival, given.cap)),
    ]
    name = f"{service.name}-d{short(100 * duty)}-{shape.name}-{number_of_round}"
    yield from study.plan.run(name, shape.takes, cells, lines)


def plan_throttle(study: Study, service: Service, duty: Fraction) -> Iterator[str]:
    """
    Yield the line that stops the service for a part of the time. A duty of 100 % never stops it,
    but makes the same kind of record. If its processes are unknown, ssload measures the machine.
    """
    if not service.pids:
        call = ["ssload", "--quiet", "--format", "csv", "--output", "{out}/beside.csv"]
        yield line("beside", "load", "ready-file={out}/beside.csv", "--", *call)
        return
    percent, tau = f"{number(100 * duty)}%", f"tau={number(study.options.tau)}s"
    cpus = [f"cpus={study.samples_on.replace(',', ' ')}"] if study.samples_on else []
    # showstopper ends when ssbatch signals it. It exits earlier only if the service does.
    yield line(
        "beside", "service", "ready-file={record}/samples.csv", "ok=143",
        f"instances={len(service.pids.split(','))}", *cpus, "--", "showstopper", "--quiet",
        "--record", "{record}", "--attach", service.pids, "-f", "own", "-l", percent,
        "-c", "fixed", "-C", f"duty={percent}", "-d", "averageq", "-D", tau,
    )  # fmt: skip
