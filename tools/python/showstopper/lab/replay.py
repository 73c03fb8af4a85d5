# SPDX-License-Identifier: Apache-2.0
"""Does a load trace that is played faster give the same result? Compares errors of the load and
throughput at several speeds of a trace with those at speed 1 or, without it, at the slowest
speed."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .. import units
from ..contents import read_file
from ..installation import experiments, require_programs
from ..text import UserError, printable, reason
from . import options, values
from .carry import carry_out
from .methods import KNOWN
from .options import Options, Parser
from .plan import kept_checksum, literal, number
from .results import report
from .study import Study

TRACES = "nine-steps.txt", "nine-means.txt"  # the second one only with --published
DEFAULTS = {
    "scales": "1,2/3,1/3,2/9,1/9,1/18", "methods": "default", "tau": "107m", "warmup": "3min",
    "deviation": "5", "output": "replay-results", "workloads": "serial,blocking",
}  # fmt: skip
QUICK = {"warmup": "1s", "scales": "1/100,1/200"}
SHORTER = "fewer --scales, --methods or --workloads, less --warmup"
MEAN = Fraction(1, 2)  # load for which nbench and nbench-fit choose the number of instances


@dataclass(frozen=True)
class Trace:
    """
    name     in tables and names of runs
    seconds  its length
    about    the comment at its beginning, if any
    """

    file: str
    name: str
    data: bytes
    seconds: float

    @property
    def about(self) -> str:
        lines = self.data.split(b"\n")[:-1]
        last = next((at for at, one in enumerate(lines) if not one.startswith(b"#")), len(lines))
        return os.fsdecode(b"".join(one[1:] for one in lines[:last])).removeprefix(" ")


def parser() -> Parser:
    own = Parser("replay", __doc__, DEFAULTS, QUICK)
    add = own.add
    add("--trace", "FILE", about="trace for showstopper -t file; may be given several times; "
        f"default: {TRACES[0]}", action="append")
    add("--scales", "LIST", values.list_of(scale), "factors of its duration, as fractions; "
        "default: DEFAULT")
    add("--methods", "LIST", values.list_of(values.one_of(*KNOWN)), "methods, see sslab accuracy "
        "--help; default: DEFAULT")
    add("--tau", "LIST", values.list_of(values.round_length), "mean lengths of a round, for "
        "methods with rounds; default: DEFAULT")
    add("--warmup", "TIME", values.time, "uncontrolled time before each run; default: DEFAULT")
    add("--deviation", "PERCENT", values.percent, "largest difference of throughput without a "
        "warning; default: DEFAULT")
    options.add_quick(own)
    options.add_published(own)
    options.add_cpus(own)
    options.add_workloads(own)
    options.add_study(own)
    return own


def scale(value: str) -> str:
    """Return a factor as it was written, which is exact."""
    units.number(value)
    return value


def run(given: Options) -> int:
    study = Study("replay", given)
    require_programs("sstrace")
    study.choose_workloads()
    traces = [*read_traces(given)]
    chosen = study.available(given.methods)
    study.find_energy()
    is_complete = carry_out(study, lambda: plan(study, traces, chosen), chosen, SHORTER)
    explained = [f"Trace {trace.name}: {trace.about}" for trace in traces if trace.about]
    report(study, {"replay": "replay.csv"}, [
        "Throughput relative to that at the original speed. Published: minimum and maximum at six "
        "speeds of another trace, measured on another machine with other programs; see "
        "showstopper-published(7).",
        *map(printable, explained),
    ], is_complete, given.deviation)  # fmt: skip
    return 0


# Traces


def read_traces(given: Options) -> Iterator[Trace]:
    names = set()
    for file in given.trace or default_traces(bool(given.published)):
        try:
            data = read_file(file, is_named=True)
        except OSError as error:
            raise UserError(f"--trace: cannot read {file}: {reason(error)}") from None
        name = name_of(file)
        if name in names:
            raise UserError(f"--trace: duplicate trace name {name}: rename one of the files")
        names.add(name)
        yield Trace(file, name, data, measure(file, given.scales))


def default_traces(is_published: bool) -> list[str]:
    """Return traces of the installation or of the source."""
    folder = experiments()
    if not (folder / TRACES[0]).exists():
        folder = folder.parents[1] / "traces"
    return [str(folder / name) for name in TRACES[: 1 + is_published]]


def name_of(file: str) -> str:
    """Return a name that runs can have. A letter outside ASCII becomes several underscores."""
    base = os.path.basename(os.fsencode(file))
    stem = base if base == b".txt" else base.removesuffix(b".txt")
    return re.sub(rb"[^A-Za-z0-9._-]", b"_", stem).decode()


def measure(file: str, scales: Sequence[str]) -> float:
    """Return the length of a trace in seconds; fail if a factor does not suit it."""
    said = ""
    for factor in [*scales, "1"]:
        call = ["sstrace", "--stat", "--scale", factor, file]
        done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = os.fsdecode(done.stdout)
        if done.returncode:
            raise UserError(re.sub("^sstrace: --scale: (F:)?", "--scales: ", said.strip()))
    found = re.search(r"^length +(\S+) (\S+)$", said, re.MULTILINE)
    seconds = values.time(found[1] + found[2]) if found else 0.0
    if not seconds:
        raise UserError(f"--trace: {file}: its length is 0: use a longer trace")
    return seconds


# Runs


def plan(study: Study, traces: Sequence[Trace], chosen: Sequence[str]) -> Iterator[str]:
    given = study.options
    yield from study.head({
        "warmup": given.warmup, "taus": given.tau, "several": len(traces) > 1,
        "instances": study.instances, "memory": given.memory, "counters": given.counters,
    }, has_places="quota" in chosen)  # fmt: skip
    for trace in traces:
        yield kept_checksum("trace", trace.name, trace.data)
    for trace in traces:
        part = f"-{trace.name}" if len(traces) > 1 else ""
        for workload in study.workloads:
            for method in chosen:
                for number_of_round in range(1, given.rounds + 1):
                    for tau in study.taus(method, given.tau):
                        for factor in given.scales:
                            what = f"{part}-{factor.replace('/', '_')}{study.suffix(tau)}"
                            yield from plan_run(
                                study, trace, workload, method, tau, factor, what, number_of_round
                            )


def plan_run(
    study: Study, trace: Trace, workload: str, method: str, tau: str, factor: str, part: str,
    number_of_round: int,
) -> Iterator[str]:  # fmt: skip
    warmup = study.options.warmup
    seconds = trace.seconds * Fraction(factor)
    cells = {
        "warmup_seconds": warmup, "trace": trace.name, "speed": 1 / Fraction(factor),
        "settle_seconds": 0, "seconds": seconds,
    }  # fmt: skip
    path = literal(os.path.realpath(trace.file).replace(",", "\\,"))
    words = ["--warmup", f"{number(warmup)}s", "-t", "file"]
    words += ["-T", f"{path},scale={factor},loop=no"]
    name = f"{workload}-{method}{part}-{number_of_round}"
    lines = [*study.samplers()]
    takes = float(warmup + seconds + 1)
    held = study.held(method, workload, MEAN, tau)
    yield from held.run(study.plan, name, takes, number_of_round, cells, words, lines)
