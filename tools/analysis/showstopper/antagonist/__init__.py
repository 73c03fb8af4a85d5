# SPDX-License-Identifier: Apache-2.0
"""ssantagonist plan and answer. The C program has the other commands, and executes this."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

from ..cli import Program
from ..options import Option, Values
from ..text import UserError, printable


def _check(values: Values) -> None:
    if len(values.words) > 1:
        raise UserError(f"unexpected argument '{values.words[1]}': name one folder")
    for name, value in (("a folder", values.words), ("--victim", values.victim)):
        if not value:
            raise UserError(f"{name} is required: see --help")
    if not re.fullmatch(r"mean|p(?=.*[1-9])\d{1,2}(\.\d+)?", values.figure):
        raise UserError("--figure: use mean, or a quantile such as p99")
    if values.figure != "mean" and not re.match(r"http.*://", values.victim or ""):
        raise UserError("--figure: only the response times of a URL have quantiles")
    if bool(values.suspects) == bool(values.suspects_of):
        raise UserError("either --suspects or --suspects-of is required")


def _run(command: str) -> Callable[[Values], int]:
    def run(values: Values) -> int:
        from . import answer, plan, study  # libraries are prepared now

        call = study.Call.of(command, values)
        asked = study.Study.open(call)
        if command == "answer":
            return answer.report(asked)
        # Suspects of a new study were checked when they were found.
        pending = asked.pending() if asked.look.done else []
        if pending:
            study.find_suspects(call, pending)
        forecast = list(plan.forecast(asked))  # may refuse to go on
        print(*plan.lines(asked), sep="\n")
        for line in forecast:
            print(printable(line), file=sys.stderr)
        return 0

    return run


_ROWS = (
    Option("victim", "the service: a URL to send requests to; a log, with --iteration; or a "
           "command that prints figures, and is run repeatedly", "WHAT"),
    Option("iteration", "matches a line that ends an iteration; the first group, if any, is its "
           "time; without a group, lines are counted. Default, for a command: the last number of "
           "each line", "REGEX"),
    Option("rate", "requests per second to a URL", "N", "number", default="20", min="0.001"),
    Option("lower-is-better", "smaller figures are better"),
    Option("suspects", "processes that may hurt it, each with its descendants", "PID,..."),
    Option("suspects-of", "the processes of this control group, below /sys/fs/cgroup, and of its "
           "subgroups", "GROUP"),
    # Without a default, which could not be distinguished from one that contradicts the study.
    Option("depth", "the part of its running time that a throttled suspect loses; default 20%",
           "LOAD", "load", min="1%", max="90%"),
    Option("slot", "length of a slot, for which a suspect is throttled or not; 0: the longest of "
           "5 s, 10 iterations, and 10/(1-Q) requests for quantile Q", "TIME", "time", default="0"),
    Option("block", "the longest time for which a suspect is stopped", "TIME", "time", default="1s",
           min="10m", max="1s"),
    Option("figure", "of the response times of a URL: mean, or a quantile such as p99", "mean|pN",
           default="mean"),
    Option("seed", "seed of the codes; 0: derived from the suspects", "N", "count", default="0"),
)
_END = (Option("help", "print this help", letter="h"), Option("version", "print the version"))

PLAN = Program(
    "ssantagonist",
    """\
Usage: ssantagonist plan [OPTION]... STUDY
Prints the plan of a study for ssbatch(1), as far as it is known: later runs
depend on earlier ones. Prints on standard error which costs the next run can
find.
""",
    (
        *_ROWS,
        Option("victim-pid", "processes of the victim; neither they nor their relatives can be "
               "suspects; default: those that listen on the URL, or have the log open", "PID,..."),
        *_END,
    ),
    _check,
    _run("plan"),
)

ANSWER = Program(
    "ssantagonist",
    """\
Usage: ssantagonist answer [OPTION]... STUDY
Prints which suspects hurt the victim.
""",
    (
        *_ROWS,
        Option("json", "print a JSON document"),
        Option("page", "write a page and tables to this folder", "DIR"),
        *_END,
    ),
    _check,
    _run("answer"),
)
