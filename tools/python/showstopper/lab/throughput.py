# SPDX-License-Identifier: Apache-2.0
"""Throughput as a function of load: one run for each load, or one along stairs down and up again.
Results refer to the measured load, not to the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from ..text import UserError
from . import options, values
from .carry import carry_out
from .methods import KNOWN
from .options import Options, Parser
from .plan import number, short
from .results import report, require_throughput
from .study import Study

DEFAULTS = {
    "methods": "default,nbench,1cdc", "tau": "107m", "parts": "12", "levels": "95%:5%:5%",
    "hold": "3min", "edge": "30s", "warmup": "3min", "settle": "10s", "seconds": "3min",
    "output": "throughput-results", "workloads": "serial,blocking,parallel",
}  # fmt: skip
QUICK = {
    "warmup": "1s", "settle": "1s", "seconds": "5s", "parts": "4", "levels": "90%:10%:20%",
    "hold": "3s", "edge": "1s",
}  # fmt: skip
SHORTER = "fewer --targets, --methods or --workloads, less --warmup or --seconds"
NO_STAIRS = ("nbench", "nbench-fit", "cpulimit", "quota")


def parser() -> Parser:
    own = Parser("throughput", __doc__, DEFAULTS, QUICK)
    add = own.add
    add("--methods", "LIST", values.list_of(values.one_of(*KNOWN)), "methods, see sslab accuracy "
        "--help; default: DEFAULT. For nbench, each target becomes the number of instances whose "
        "load is nearest to it")
    add("--tau", "LIST", values.list_of(values.round_length), "mean lengths of a round, for "
        "methods with rounds; default: DEFAULT")
    add("--parts", "N", values.count, "one run for each of 1/N, 2/N ... of the load; "
        "default: DEFAULT")
    add("--targets", "LIST", values.list_of(values.positive_load), "instead of --parts: one run "
        "for each of these loads")
    add("--seconds", "TIME", values.length, "counted time; default: DEFAULT")
    add("--stairs", about="instead of --parts: one run along stairs, not for nbench")
    add("--levels", "H:L:STEP", values.Stairs, "highest load, lowest load and step of the stairs; "
        "default: DEFAULT")
    add("--hold", "TIME", values.length, "length of each step; default: DEFAULT")
    add("--edge", "TIME", values.time, "part at each end of a step that does not count; "
        "default: DEFAULT")
    add("--warmup", "TIME", values.time, "uncontrolled time at the beginning; default: DEFAULT")
    add("--settle", "TIME", values.time, "controlled time after the warm-up that does not count; "
        "default: DEFAULT")
    options.add_quick(own)
    options.add_published(own)
    options.add_cpus(own)
    options.add_workloads(own)
    options.add_study(own)
    return own


def run(given: Options) -> int:
    check(given)
    study = Study("throughput", given)
    study.choose_workloads(is_counted=True)
    chosen = study.available(given.methods)
    if given.stairs:
        for method in [*filter(NO_STAIRS.__contains__, chosen)]:
            study.plan.skip("it cannot follow stairs", method=method)
            chosen.remove(method)
    study.find_energy()
    is_complete = carry_out(study, lambda: plan(study, chosen), chosen, SHORTER)
    report(study, {"methods": "throughput.csv"}, is_complete=is_complete)
    require_throughput(study, "methods", "iterations_per_second")
    return 0


def check(given: Options) -> None:
    """Check how options are combined, and set the targets."""
    if given.stairs:
        given.refuse_given("with --stairs, whose steps last --hold", "seconds", "settle", "parts")
    else:
        given.refuse_given("without --stairs", "levels", "hold", "edge")
    if given.targets and (given.stairs or "parts" in given.given):
        raise UserError("--targets replaces --parts and --stairs: leave them out")
    if not given.hold > 2 * given.edge:
        raise UserError("--edge: must be less than half of --hold")
    if not given.targets:
        given.targets = [Fraction(part, given.parts) for part in range(1, given.parts + 1)]


def plan(study: Study, chosen: Sequence[str]) -> Iterator[str]:
    given = study.options
    yield from study.head({
        "warmup": given.warmup, "settle": given.settle, "seconds": given.seconds,
        "taus": given.tau, "levels": given.levels, "hold": given.hold, "edge": given.edge,
        "stairs_wanted": given.stairs, "instances": study.instances, "memory": given.memory,
        "counters": given.counters,
    }, has_places="quota" in chosen)  # fmt: skip
    for method in chosen:
        for workload in study.workloads:
            for number_of_round in range(1, given.rounds + 1):
                for tau in study.taus(method, given.tau):
                    plan_runs = plan_stairs if given.stairs else plan_loads
                    yield from plan_runs(study, method, workload, tau, number_of_round)


def plan_stairs(
    study: Study, method: str, workload: str, tau: str, number_of_round: int
) -> Iterator[str]:
    given = study.options
    seconds = given.levels.steps * given.hold
    held = study.held(method, workload, Fraction(1), tau)
    name = f"{workload}-{method}-n{held.instances}-stairs{study.suffix(tau)}-{number_of_round}"
    levels = ":".join(f"{number(100 * level)}%" for level in given.levels.levels)
    trace = f"levels={levels},hold={number(given.hold)}s,symmetric=yes"
    cells = {
        "warmup_seconds": given.warmup, "settle_seconds": 0, "seconds": seconds,
        "hold_seconds": given.hold, "edge_seconds": given.edge,
    }  # fmt: skip
    words = ["--warmup", f"{number(given.warmup)}s", "-t", "staircase", "-T", trace]
    takes = given.warmup + seconds + 1
    lines = [*study.samplers()]
    yield from held.run(study.plan, name, takes, number_of_round, cells, words, lines)


def plan_loads(
    study: Study, method: str, workload: str, tau: str, number_of_round: int
) -> Iterator[str]:
    """Plan a run for each load. For nbench, plan each number of instances once."""
    given = study.options
    for target in given.targets:
        held = study.held(method, workload, target, tau)
        is_nbench = method == "nbench"
        called = "" if is_nbench else f"-{short(100 * target)}{study.suffix(tau)}"
        copies = "" if method == "nbench-fit" else f"-n{held.instances}"
        name = f"{workload}-{method}{copies}{called}-{number_of_round}"
        cells = {
            "warmup_seconds": given.warmup, "target": held.stands_for if is_nbench else target,
            "settle_seconds": given.settle, "seconds": given.seconds,
        }  # fmt: skip
        words = [
            "--warmup", f"{number(given.warmup)}s", "-l", "1" if is_nbench else number(target),
            "--settle", f"{number(given.settle)}s",
            "--duration", f"{number(given.settle + given.seconds)}s",
        ]  # fmt: skip
        takes = given.warmup + given.settle + given.seconds + 1
        lines = [*study.samplers()]
        yield from held.run(study.plan, name, takes, number_of_round, cells, words, lines)
