# SPDX-License-Identifier: Apache-2.0
"""How well is a constant load held? Mean error and mean squared error of the load for every
workload, target and method, next to the published figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from ..text import UserError
from . import options, values
from .carry import carry_out
from .methods import ABOUT, KNOWN
from .options import Options, Parser
from .plan import line, number, short, write_line
from .results import report
from .study import Study

DEFAULTS = {
    "methods": ",".join(KNOWN), "targets": "25%,33%,50%,66%,75%", "taus": "107m,53m",
    "warmup": "3min", "settle": "10s", "seconds": "3min", "output": "accuracy-results",
    "workloads": "serial,blocking,parallel",
}  # fmt: skip
QUICK = {"targets": "50%", "taus": "107m", "warmup": "2s", "settle": "1s", "seconds": "6s"}
SHORTER = "fewer --targets, --methods, --workloads or --taus, less --warmup or --seconds"


def parser() -> Parser:
    own = Parser("accuracy", __doc__, DEFAULTS, QUICK, notes=f"Methods:\n{ABOUT}")
    add = own.add
    add("--methods", "LIST", values.list_of(values.one_of(*KNOWN)), "methods of holding a load, "
        "see below; default: all")
    add("--targets", "LIST", values.list_of(values.positive_load), "loads to hold; "
        "default: DEFAULT")
    add("--taus", "LIST", values.list_of(values.round_length), "mean lengths of a round; "
        "default: DEFAULT")
    add("--warmup", "TIME", values.time, "time before the counted time; default: DEFAULT")
    add("--settle", "TIME", values.time, "last part of --warmup, which is already controlled; "
        "default: DEFAULT")
    add("--seconds", "TIME", values.length, "counted time; default: DEFAULT")
    options.add_published(own, ". Also runs an independent ssload (beside.csv)")
    options.add_quick(own, "all methods and workloads at one load, in less than 5 min")
    options.add_cpus(own)
    options.add_workloads(own)
    options.add_study(own)
    return own


def run(given: Options) -> int:
    if given.settle > given.warmup:
        raise UserError("--settle is a part of --warmup, so it cannot be longer")
    study = Study("accuracy", given)
    study.choose_workloads()
    chosen = study.available(given.methods)
    study.find_energy()
    is_complete = carry_out(study, lambda: plan(study, chosen), chosen, SHORTER)
    report(study, {"constant-load": "table.csv"}, [
        "Mean error: target minus load, in percent, so a load above the target is negative.",
        "Published: measured on another machine with other programs; see "
        "showstopper-published(7).",
    ], is_complete)  # fmt: skip
    return 0


def plan(study: Study, chosen: Sequence[str]) -> Iterator[str]:
    given = study.options
    names = "published warmup settle seconds".split()
    settings = {name: getattr(given, name) for name in names}
    settings |= {"instances": study.instances, "memory": given.memory, "counters": given.counters}
    yield from study.head(settings, has_places="quota" in chosen)
    for number_of_round in range(1, given.rounds + 1):
        for workload in study.workloads:
            for target in given.targets:
                for method in chosen:
                    for tau in study.taus(method, given.taus):
                        yield from plan_run(study, workload, target, method, tau, number_of_round)


def plan_run(
    study: Study, workload: str, target: Fraction, method: str, tau: str, number_of_round: int
) -> Iterator[str]:
    given = study.options
    before = given.warmup - given.settle  # uncontrolled
    cells = {
        "warmup_seconds": before, "target": target, "settle_seconds": given.settle,
        "seconds": given.seconds,
    }  # fmt: skip
    times = [
        "--warmup", f"{number(before)}s", "-l", f"{number(100 * target)}%",
        "--settle", f"{number(given.settle)}s",
        "--duration", f"{number(given.settle + given.seconds)}s",
    ]  # fmt: skip
    name = f"{workload}-{short(100 * target)}-{method}-{tau or 'own'}-{number_of_round}"
    takes = given.warmup + given.seconds + 1
    lines = [*plan_ssload(study, target), *study.samplers()]
    held = study.held(method, workload, target, tau)
    yield from held.run(study.plan, name, takes, number_of_round, cells, times, lines)


def plan_ssload(study: Study, target: Fraction) -> list[str]:
    """Return the lines that run ssload for the whole run, including the parts that do not count."""
    given = study.options
    if not given.published:
        return []
    on = ["--cpus", given.on] if given.on else []
    call = ["ssload", "--quiet", *on, "--format", "csv", "--output", "{out}/beside.csv"]
    ready, trace = "ready-file={out}/beside.csv", "{scratch}/target.txt"
    return [
        write_line(trace, "echo", f"0 {number(100 * target)}%"),
        line("beside", "ssload", ready, "ok=0,143", "--", *call, "--target", trace),
    ]
