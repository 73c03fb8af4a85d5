# SPDX-License-Identifier: Apache-2.0
"""Options of ssantagonist plan and answer, see ssantagonist(1)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from .. import __version__, units
from ..options import Parser, seconds, within
from ..text import UserError, show

SETTLE = 0.2  # fraction of each slot, at its beginning, that watch skips
TAIL = 10  # requests of a slot that must lie above the quantile

_PLAN = """\
Prints the plan of a study for ssbatch(1), as far as it is known: later runs
depend on earlier ones. Prints on standard error which costs the next run can
find."""
_ANSWER = "Prints which suspects hurt the victim."


@dataclass(frozen=True)
class Call:
    """The options of a call."""

    command: str
    folder: str
    victim: str
    iteration: str
    rate: float
    lower: bool
    suspects: str
    suspects_of: str
    depth: float  # 0: not given
    slot: float  # seconds; 0: the first run decides
    block: float  # seconds
    figure: str
    seed: int  # 0: derived from the suspects
    victim_pid: str = ""
    json: bool = False
    page: str = ""

    def figures_min(self, means: float) -> float:
        """Return how many figures are needed: `means` for a mean, TAIL above a quantile."""
        return means if self.figure == "mean" else TAIL / (1 - float(self.figure[1:]) / 100)

    def quantile_seconds(self) -> int:
        """Return how long a slot must be for enough requests; 0 for a mean."""
        return math.ceil(self.figures_min(0) / self.rate / (1 - SETTLE) - 1e-9)

    @property
    def lower_is_better(self) -> bool:
        """Whether smaller figures are better: as given, or because figures are times."""
        is_url = self.victim.startswith("http") and "://" in self.victim
        return self.lower or is_url or has_group(self.iteration)


def has_group(pattern: str) -> bool:
    """Return whether a POSIX extended regular expression has a group."""
    brackets = r"\[\^?\]?(?:\[([:.=]).*?\1\]|[^]])*\]"
    return "(" in re.sub(rf"\\.|{brackets}", "", pattern)


def _add_victim(parser: Parser) -> None:
    add = parser.add_argument
    parser.add_text("--victim", metavar="WHAT",
        help="the service: a URL to send requests to; a log, with --iteration; or a command that "
        "prints figures, and is run repeatedly")
    parser.add_text("--iteration", metavar="REGEX",
        help="matches a line that ends an iteration; the first group, if any, is its time; without "
        "a group, lines are counted. Default, for a command: the last number of each line")
    add("--rate", type=within(units.number, 0.001, say="at least 0.001"), default=20.0,
        metavar="N", help="requests per second to a URL; default: 20")
    add("--lower-is-better", dest="lower", action="store_true", help="smaller figures are better")
    parser.add_text("--suspects", metavar="PID,...",
        help="processes that may slow the service down, each with its descendants")
    parser.add_text("--suspects-of", metavar="GROUP",
        help="the processes of this control group, below /sys/fs/cgroup, and of its subgroups")


def _add_throttle(parser: Parser) -> None:
    add = parser.add_argument
    # 0 marks an absent depth: only one that is given may contradict that of the study.
    add("--depth", type=within(units.load, 0.01, 0.9, "1% to 90%"), default=0.0, metavar="LOAD",
        help="the fraction of its running time that a throttled suspect loses; default: 20%%")
    add("--slot", type=within(seconds), default=0.0, metavar="TIME",
        help="length of a slot, for which a suspect is throttled or not; default: the longest of "
        "5 s, 10 iterations, and 10/(1-Q) requests for quantile Q")
    add("--block", type=within(seconds, 0.01, 1, "10ms to 1s"), default=1.0, metavar="TIME",
        help="the longest time for which a suspect is stopped; default: 1s")
    parser.add_text("--figure", default="mean", metavar="mean|pN",
        help="the mean or a quantile, such as p99, of the response times of a URL; default: mean")
    add("--seed", type=within(units.count), default=0, metavar="N",
        help="seed of the codes; default: derived from the suspects")


def _parser(command: str) -> Parser:
    usage = f"ssantagonist {command} [OPTION]... STUDY"
    parser = Parser("ssantagonist", usage, _PLAN if command == "plan" else _ANSWER)
    _add_victim(parser)
    _add_throttle(parser)
    if command == "plan":
        parser.add_text("--victim-pid", metavar="PID,...",
            help="processes of the victim; neither they nor their relatives can be suspects; "
            "default: those that listen on the URL, or have the log open")
    else:
        parser.add_argument("--json", action="store_true", help="print a JSON document")
        parser.add_text("--page", metavar="DIR", help="write a page and tables to this folder")
    version = f"ssantagonist {__version__}"
    parser.add_argument("--version", action="version", version=version, help="print the version")
    return parser


def parse(command: str, words: Sequence[str]) -> Call:
    if command not in ("plan", "answer"):
        raise UserError(f"unknown command '{command}': use plan or answer")
    values = vars(_parser(command).parse(words))
    folders = values.pop("words")
    if len(folders) > 1:
        raise UserError(f"unexpected argument '{folders[1]}': name one folder")
    for name, value in (("a folder", folders), ("--victim", values["victim"])):
        if not value:
            raise UserError(f"{name} is required: see --help")
    call = Call(command, folders[0], **values)
    if not re.fullmatch(r"mean|p(?=.*[1-9])\d{1,2}(\.\d+)?", call.figure):
        use = "use mean, or a quantile such as p99"
        raise UserError(f"--figure: '{show(call.figure)}' is not a figure: {use}")
    if call.figure != "mean" and not re.match(r"http.*://", call.victim):
        raise UserError("--figure: only the response times of a URL have quantiles: use mean")
    if bool(call.suspects) == bool(call.suspects_of):
        raise UserError("use either --suspects or --suspects-of")
    if 0 < call.slot < (shortest := call.quantile_seconds()):
        why = f"too few requests for {call.figure}"
        raise UserError(f"--slot: {why}: use at least {shortest}s, or a higher --rate")
    return call
