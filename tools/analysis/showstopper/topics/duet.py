# SPDX-License-Identifier: Apache-2.0
"""Duet: which of two commands is faster? A study of the experiment duet, and its decision."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import figures, statistics, steps
from ..findings import Headline
from ..page import Part, Picture, Section
from ..statistics import LOOK_MIN, Array, Look, percent_of
from ..studies import Report
from ..tables import Table, number
from ..text import MAYBE_NUMBER, NUMBER, WORD, Notes, UserError, read_columns
from ..text import number as parse

FIRST = 10  # a study begins with this many blocks that compare A with A
BLOCKS_MAX = 1_000_000
TURNS_MAX = 10_000
BESIDE_MAX = 1.0  # if the background differs by more percent, the answer is doubtful
SWITCH = 0.5  # seconds at the start of a turn that do not count: the other may still run then
TAIL = 1 / 6  # part of a turn at its end whose requests do not count
ANSWERS_MIN = 200  # for a percentile
SUCCESS_MIN = 0.99  # if a smaller part of the requests succeeded, there is no figure
RESPONSES = ("mean", "p50", "p95", "p99", "throughput")

DONE, FAILED, CONTINUES, UNDECIDED = range(4)  # exit statuses of ssreport --decide


class Percent(NamedTuple):
    """A difference in percent of A, positive if B is worse; bounds are infinite if unknown."""

    mean: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @property
    def is_certain(self) -> bool:
        return self.low > 0 or self.high < 0

    def __neg__(self) -> Percent:
        return Percent(-self.mean, -self.high, -self.low)

    def __str__(self) -> str:
        mean, low, high = (number(value, 1) for value in self)
        return f"{mean} % ({low} to {high})"


@dataclass(frozen=True)
class Plan:
    """The columns that all runs of a study have, such as `a` and `b`; '' if absent."""

    columns: dict[str, str]

    def __getattr__(self, name: str) -> str:
        return self.columns.get(name, "")

    def number(self, name: str) -> float:
        value = parse(self.columns.get(name, ""))
        return math.nan if value is None else value

    @property
    def kind(self) -> str:
        """`turn`: four runs a block; `alternate`: two processes that run in turn; `beside`: two
        runs with A and B at once, which swap their places."""
        return self.order if self.order in ("alternate", "beside") else "turn"

    @property
    def of_two_processes(self) -> bool:
        """Whether each comparison is one block, in which each group of turns gives a value."""
        return self.kind == "alternate" and self.pairs == "1"

    @property
    def by_time(self) -> bool:
        """Whether the figure is a time: lower is better."""
        return self.metric == "time" or self.response not in ("", "throughput")

    @property
    def turns(self) -> int:
        count = self.number("turns")
        return int(count) if 1 <= count <= TURNS_MAX else 0

    def percent(self, mean: float, half: float) -> Percent:
        """Convert a mean difference of logarithms and half its interval."""
        worse = Percent(*(float(percent_of(end)) for end in (mean, mean - half, mean + half)))
        return worse if self.by_time else -worse


# Runs and blocks


class Run(NamedTuple):
    """One of the runs of a block. `record` is that of the process, `requests` those to it."""

    name: str
    is_b: bool
    wall: float  # start, in seconds since 1970
    figure: float
    record: Any = None
    requests: Any = None


def read_runs(report: Report) -> Iterator[tuple[Plan, int, str, Run]]:
    """Yield the runs of all studies of the experiment, with their plan and the number of the
    study. The third is `measured`, `background` or, for a process that serves, `process`."""
    for run in report.runs:
        if run.experiment != "duet" or run.set != 0:
            continue
        plan, record = Plan(run.columns), run.record
        kind = "process" if plan.response else "measured"
        kind = run.role if run.role == "background" else kind
        figure = record.first_end if kind == "measured" and plan.by_time else run.throughput
        if math.isnan(figure) and record.counted_to > record.counted_from:
            # Iterations that were read in bursts have no exact throughput. The noise that
            # counting them adds is part of the interval of the differences.
            figure = record.figure("iterations") / (record.counted_to - record.counted_from)
        yield plan, run.manifest, kind, Run(run.name, plan.side == "b", record.wall, figure, record)
    for one in report.responses:
        if one.experiment == "duet" and one.set == 0:
            plan = Plan(one.columns)
            figure = _response(one, plan.response)
            served = Run(one.name, plan.side == "b", one.begin, figure, requests=one)
            yield plan, one.manifest, "measured", served


def _response(one: Any, name: str) -> float:
    """Return the figure of a record of requests; NaN if too few were answered."""
    suffices = not name.startswith("p") or one.succeeded >= ANSWERS_MIN
    if name not in RESPONSES or not suffices or not one.success_ratio >= SUCCESS_MIN:
        return math.nan
    return float(getattr(one if name == "throughput" else one.successes[0], name))


class Block(NamedTuple):
    measured: Sequence[Any]
    process: Sequence[Any]
    background: Sequence[Any]

    @property
    def processes(self) -> list[Any]:
        runs = self.measured if self.measured[0].record else self.process
        return [run.record for run in runs if run]

    @property
    def services(self) -> list[Any]:
        return [run.requests for run in self.measured if run.requests]

    @property
    def unmeasured(self) -> str:
        """The name of a run without a figure or, of two processes, of the worse one."""
        if len(self.measured) == 2 and len(self.processes) == 2:
            counts = [one.succeeded for one in self.services]
            counts = counts or [len(record.iterations) for record in self.processes]
            return str(self.measured[counts[-1] < counts[0]].name)
        bad = (run for run in self.measured if not 0 < run.figure < math.inf)
        return str(next(bad, self.measured[-1]).name)


@dataclass(frozen=True)
class Blocks:
    """Blocks that compare the same two commands, up to the first incomplete one."""

    name: str
    carried: int
    unmeasured: str  # the first run without a figure
    seconds: Array  # their durations, if known
    # Of blocks in which all runs have a figure: differences of logarithms, B minus A
    numbers: Any
    differences: Array
    orders: Array
    beside: Array  # differences of the background, if known

    @property
    def count(self) -> int:
        return len(self.differences)


def _compare(plan: Plan, name: str, cells: dict[Any, Run], notes: Notes) -> Blocks:
    """Compare the runs in each block. Leave out blocks without a figure, and drop all blocks from
    the first incomplete one on."""
    places = range(1, 3 if plan.kind == "alternate" else 5)

    def block(at: int) -> Block:
        kinds = ("measured", "process", "background")
        return Block(*([cells.get((kind, at, place)) for place in places] for kind in kinds))

    found = list(itertools.takewhile(lambda b: all(b.measured), map(block, itertools.count(1))))
    walls = np.array([[run.wall for run in one.measured] for one in found]).reshape(-1, len(places))
    if plan.kind == "alternate":
        after = block(len(found) + 1).measured[0]
        seconds = np.diff(walls[:, 0], append=after.wall if after else math.nan)
        values = [_compare_turns(plan, one, notes) for one in found]
        besides = [_compare_background(plan, one) for one in found]
    else:
        seconds = (walls[:, 3] - walls[:, 0]) * 4 / 3
        seconds = (walls[:, 2] - walls[:, 0]) * 2 if plan.kind == "beside" else seconds
        values = [_difference(one, one.measured) for one in found]
        besides = [_difference(one, one.background) for one in found]

    means, beside = (np.array([statistics.average(v) for v in of]) for of in (values, besides))
    orders = np.array([int(one.measured[0].is_b) for one in found], dtype=int)
    used = np.isfinite(means)
    unmeasured = next((one.unmeasured for one, u in zip(found, used) if not u), "")
    numbers, means, orders = np.flatnonzero(used) + 1, means[used], orders[used]
    beside = beside[used & np.isfinite(beside)]
    if plan.of_two_processes and len(means):
        # Each group of turns of the only block gives a value.
        means = values[0] if len(values[0]) > 1 else np.empty(0)
        unmeasured = "" if len(means) else found[0].unmeasured
        numbers, orders = np.arange(len(means)) + 1, np.full(len(means), orders[0])
        beside = besides[0]
    seconds = seconds[np.isfinite(seconds)]
    return Blocks(name, len(found), unmeasured, seconds, numbers, means, orders, beside)


def _difference(block: Block, of: Sequence[Any]) -> Array:
    """Return the difference of the logarithms of the figures of A and B; nothing if one is
    unknown."""
    sides: tuple[list[float], list[float]] = ([], [])
    for run, one in zip(block.measured, of):
        sides[run.is_b].append(one.figure if one else math.nan)
    if len(sides[0]) != len(sides[1]):
        return np.empty(0)
    difference: Array = np.atleast_1d(statistics.block_difference(*map(np.array, sides)))
    known: Array = difference[np.isfinite(difference)]
    return known


# Turns


def _compare_turns(plan: Plan, block: Block, notes: Notes) -> Array:
    """Return the differences between the turns of two processes, B minus A."""
    processes, services = block.processes, block.services
    if len(processes) < 2 or (plan.response and len(services) < 2):
        return np.empty(0)
    if not plan.response:
        return _differences(block, _rates(plan, processes, 0))
    try:
        requests = [_read_requests(service.path, notes) for service in services]
    except UserError as error:
        notes.add(str(error))
        return np.empty(0)
    late = [service.begin - processes[0].wall for service in services]
    first, length = plan.number("first_turn_seconds"), plan.number("turn_seconds")
    of_turns = (
        figure_of(requests[i % 2], plan.response, first + i * length - late[i % 2], length)
        for i in range(plan.turns)
    )
    return _differences(block, of_turns)


def _compare_background(plan: Plan, block: Block) -> Array:
    """Return the differences of the background between the turns of both processes."""
    beside, processes = next(filter(None, block.background), None), block.processes
    if not beside or len(processes) < 2:
        return np.empty(0)
    return _differences(block, _rates(plan, [beside.record] * 2, beside.wall - processes[0].wall))


def _differences(block: Block, of_turns: Iterable[float]) -> Array:
    found: Array = statistics.turn_differences(list(of_turns))
    found = found[np.isfinite(found)]
    return -found if block.measured[0].is_b else found


def _rates(plan: Plan, records: Sequence[Any], late: float) -> Iterator[float]:
    """Yield the iterations per second of each turn, from those that began and ended in it. The
    clock of the records starts `late` seconds after that of the turns."""
    tables = [record.iterations.sort_values("start", kind="stable") for record in records]
    first, length = plan.number("first_turn_seconds"), plan.number("turn_seconds")
    for i in range(plan.turns):
        begin = first + i * length - late
        start, end = (tables[i % 2][name].to_numpy() for name in ("start", "end"))
        at = slice(
            np.searchsorted(start, begin + SWITCH),
            np.searchsorted(start, begin + length, side="right"),
        )
        inside = end[at] <= begin + length
        seconds = steps.total((end[at] - start[at])[inside])
        yield inside.sum() / seconds if seconds > 0 else math.nan


def _read_requests(record: str, notes: Notes) -> pd.DataFrame:
    """Read the file of ssrequest --each next to a record: due and finished, in seconds since the
    first request, and success, by the time at which requests are due."""
    rules = {"due_seconds": NUMBER, "finished_seconds": MAYBE_NUMBER, "outcome": WORD}
    due, finished, outcome = read_columns("", f"{record}.each.csv", rules, notes).values()
    frame = pd.DataFrame({"due": due, "finished": finished, "success": outcome == "success"})
    return frame.sort_values("due", kind="stable")


def figure_of(requests: pd.DataFrame, name: str, begin: float, length: float) -> float:
    """Return a figure of a turn; NaN if requests are too few or too many have failed. Requests due
    in its last sixth do not count, because they may be answered only after it."""
    from_, to = begin + SWITCH, begin + length
    finished = requests["finished"].where(requests["success"])
    if name == "throughput":
        count = ((finished >= from_) & (finished < to)).sum()
        return float(count / (to - from_)) if count else math.nan
    last = to - max(SWITCH, TAIL * length)
    due = (requests["due"] >= from_) & (requests["due"] < last)
    times = (finished - requests["due"])[due & (finished < to)].to_numpy()
    if len(times) < SUCCESS_MIN * due.sum():
        return math.nan
    if name == "mean":
        return steps.mean(times)
    if len(times) < ANSWERS_MIN:
        return math.nan
    return statistics.quantile(times, int(name[1:]) / 100)


# The study


@dataclass
class Study:
    plan: Plan
    same: Blocks
    different: Blocks
    worth: Any
    has_others: bool  # there are further studies, which are left out
    notes: Notes
    planned: int = 0  # number of blocks of A and B; 0 if the study has no end
    looks: list[Look] = field(default_factory=list)  # after each block, up to the deciding one
    decision: str = "continues"
    worse: Percent = Percent()
    worse_same: Percent = Percent()
    same_differs: bool = False  # the interval of A against A excludes 0 at 99 %
    beside_more: Percent = Percent()

    @property
    def look(self) -> Look:
        return self.looks[-1]

    @property
    def is_known(self) -> bool:
        return math.isfinite(self.look.half)

    @property
    def lacking(self) -> Blocks | None:
        """The comparison in which too many blocks lack a figure for an answer."""
        for blocks in (self.same, self.different):
            least = 0 if self.plan.of_two_processes else 1
            if blocks.carried >= FIRST > least and 2 * blocks.count < blocks.carried:
                return blocks
            if blocks.carried > least and blocks.count == 0:
                return blocks
        return None

    def judge(self) -> None:
        plan, blocks = self.plan, self.different
        if plan.of_two_processes:  # the turns are compared once, at the end
            usual = statistics.mean_of(blocks.differences)
            half = usual.high - usual.mean if self.same.count else math.inf
            self.planned = blocks.count
            self.looks = [Look(blocks.count, usual.mean, usual.deviation, half)]
            self.decision = self._decide()
        else:
            self.planned = self._plan_blocks()
            self._look()
        self.worse = plan.percent(self.look.mean, self.look.half)

        # A against A has a fixed number of blocks, so there is only one look.
        same = self.same.differences[: None if plan.of_two_processes else FIRST]
        usual, sure = statistics.mean_of(same), statistics.mean_of(same, 0.99)
        self.worse_same = plan.percent(usual.mean, usual.high - usual.mean)
        self.same_differs = bool(sure.low > 0 or sure.high < 0)
        more = statistics.mean_of(blocks.beside)
        self.beside_more = Percent(*map(percent_of, (more.mean, more.low, more.high)))

    def _plan_blocks(self) -> int:
        """Return how many blocks of A and B fit into the time, at least ten; 0 without a limit.
        A block takes the median time of the blocks of A and A, so interruptions do not count."""
        at_most, seconds = self.plan.number("at_most_seconds"), statistics.median(self.same.seconds)
        if not at_most > 0:
            return 0
        fit = at_most / seconds - FIRST if seconds > 0 else math.nan
        return math.floor(fit) if LOOK_MIN < fit < BLOCKS_MAX else LOOK_MIN

    def _look(self) -> None:
        """Stop at the first look that decides, because later runs must not change the answer."""
        blocks = self.different
        for count in range(min(1, blocks.count), blocks.count + 1):
            values, orders = blocks.differences[:count], blocks.orders[:count]
            self.looks.append(statistics.look_at(values, orders, self.planned))
            if self.same.carried >= FIRST:
                self.decision = self._decide()
            if self.decision != "continues":
                break

    def _decide(self) -> str:
        worse, count = self.plan.percent(self.look.mean, self.look.half), self.look.count
        limit, until = self.plan.number("fail_above_percent"), self.plan.number("until_percent")
        is_done = 0 < self.planned <= self.different.carried and count == self.different.count
        if not self.is_known:
            return "continues"
        if worse.low > limit:
            return "failed"
        if worse.high < limit:
            return "passed"
        if max(worse.high - worse.mean, worse.mean - worse.low) <= until:
            return "precise enough"
        return "time is up" if is_done or count == self.planned else "continues"

    @property
    def status(self) -> int:
        """The exit status of ssreport --decide."""
        if self.decision == "continues":
            return CONTINUES
        if self.worth.is_nothing:
            return UNDECIDED
        if self.decision == "failed":
            return FAILED
        has_limit = not math.isnan(self.plan.number("fail_above_percent"))
        return UNDECIDED if has_limit and self.decision != "passed" else DONE


def read_study(report: Report) -> Study | None:
    runs, notes = list(read_runs(report)), Notes()
    if not runs:
        return None
    plan, first = runs[0][:2]
    cells: dict[str, dict[Any, Run]] = {"aa": {}, "ab": {}}
    for columns, of, kind, run in runs:
        block, position = columns.number("block"), columns.number("position")
        if of == first and 1 <= block <= BLOCKS_MAX and 1 <= position <= 4:
            cells["aa" if columns.pair == "aa" else "ab"][kind, block // 1, position // 1] = run
    has_others = any(of != first for _, of, *_ in runs)
    if has_others:
        notes.add(
            "several studies of the experiment duet are given, but only the first one is answered: "
            "report each by itself"
        )
    same = _compare(plan, "A and A", cells["aa"], notes)
    different = _compare(plan, "A and B", cells["ab"], notes)
    study = Study(plan, same, different, report.worth, has_others, notes)
    study.judge()
    return study


# Words


def describe_size(study: Study) -> str:
    if study.plan.of_two_processes:
        return f"one pair of processes, {study.plan.turns} turns"
    kinds = {"alternate": "pairs of processes", "beside": "blocks of two runs of both"}
    return f"{study.look.count} {kinds.get(study.plan.kind, 'blocks of four runs')}"


def _beside(plan: Plan) -> str:
    name, at, level = plan.beside.rpartition("@")
    return f" beside {name} at {level.partition('%')[0]} %" if at else ""


def ask(plan: Plan) -> str:
    verb = "takes less time" if plan.by_time else "is faster"
    verb = "responds faster" if plan.by_time and plan.response else verb
    return f"Which {verb}{_beside(plan)}, A or B?"


def _describe_difference(plan: Plan, worse: Percent) -> str:
    """Return "B is 1.8 % (1.1 to 2.5) slower than A", or the like for times."""
    better = worse.mean < 0
    size = -worse if better else worse
    if plan.by_time and plan.response:
        longer = "shorter" if better else "longer"
        return f"B's {plan.response} response time is {size} {longer} than A's"
    if plan.by_time:
        return f"B takes {size} {'less' if better else 'more'} time than A"
    return f"B is {size} {'faster' if better else 'slower'} than A"


def describe_answer(study: Study) -> str:
    plan, same = study.plan, study.worse_same
    if not study.is_known:
        both = (study.same, study.different)
        done = sum(b.count > 0 if plan.of_two_processes else b.carried for b in both)
        what = "pairs of processes" if plan.kind == "alternate" else "blocks"
        least = 2 * (1 if plan.of_two_processes else FIRST)
        return f"No answer yet: {done} of at least {least} {what} are done"
    if study.worth.is_nothing:
        return str(study.worth.describe())
    noise = same if math.isfinite(same.low) and math.isfinite(same.high) else "unknown"
    certain = "" if study.worse.is_certain else "No certain difference: "
    of_these = ", of these two processes" if plan.of_two_processes else ""
    difference = _describe_difference(plan, study.worse) + _beside(plan)
    return f"{certain}{difference}{of_these}; A against A: {noise}"


def describe_lack(plan: Plan, blocks: Blocks) -> str:
    """Return how many blocks of a comparison lack a figure, and name a run."""
    reason = "the command did not end" if plan.by_time else "no iteration ended"
    reason = "too few requests were answered" if plan.response else reason
    count = blocks.carried - blocks.count
    return (
        f"{count} of {blocks.carried} blocks of {blocks.name} {'is' if count == 1 else 'are'} left "
        f"out, because {reason} in {blocks.unmeasured}"
    )


def _describe_background(more: Percent) -> str:
    """Without an interval, or with one that contains 0, the difference may be chance."""
    size = -more if more.mean < 0 else more
    words = str(size) if math.isfinite(more.low) else f"{number(size.mean, 1)} %"
    end = "so A and B did not run under the same load" if more.is_certain else "which may be chance"
    less = "less" if more.mean < 0 else "more"
    return f"the background did {words} {less} beside B than beside A, {end}"


def describe_doubt(study: Study) -> str:
    """Return why the answer is doubtful; '' if it is not."""
    worth, both, reasons = study.worth, (study.same, study.different), []
    # One record in each block that is left out may be invalid.
    left_out = sum(max(blocks.carried - blocks.count, 0) for blocks in both)
    if not worth.is_nothing and (worth.disturbed or worth.invalid > left_out):
        reasons.append(worth.describe()[:1].lower() + worth.describe()[1:])
    if study.same_differs:
        reasons.append(
            "A against A differs from 0 at 99 %, so even runs of one command differ on this machine"
        )
    reasons += [describe_lack(study.plan, blocks) for blocks in both if blocks.unmeasured]
    if study.plan.beside and 2 * len(study.different.beside) < study.different.count:
        reasons.append(
            "whether the background did as much beside A as beside B is unknown, because in most "
            "blocks none of its iterations ended"
        )
    elif abs(study.beside_more.mean) > BESIDE_MAX:
        reasons.append(_describe_background(study.beside_more))
    return "; ".join(reasons)


def decide(report: Report, markdown: bool = False) -> tuple[int, str]:
    """Return the exit status and the words of ssreport --decide. Notes on files of requests are
    added to the report, even if there is no answer."""
    study = report.once(read_study)
    if study is None:
        raise UserError("--decide: not a study of the experiment duet: name the folder of one")
    if study.has_others:
        raise UserError(
            "--decide takes one study of the experiment duet, but several are given: name only the "
            "folder of one"
        )
    notes(report)
    if study.lacking:
        raise UserError(f"{describe_lack(study.plan, study.lacking)}: there is no answer")
    answered, doubt = describe_answer(study), describe_doubt(study)
    if not markdown:
        return study.status, f"{answered}\n" + (f"Doubtful: {doubt}\n" if doubt else "")
    # A backquote or a line feed would end the code.
    a, b = (re.split("[`\n]", command)[0] for command in (study.plan.a, study.plan.b))
    more = f" Doubtful: {doubt}" if doubt else ""
    return study.status, f"**{answered}** (A: `{a}`, B: `{b}`; {describe_size(study)}){more}\n"


# Tables


def df_duet(report: Report) -> pd.DataFrame:
    study = report.once(read_study)
    if study is None:
        return pd.DataFrame()
    plan, worse = study.plan, study.worse if study.is_known else Percent(study.worse.mean)
    row = {
        "metric": plan.response or ("time" if plan.by_time else "throughput"),
        "run_order": plan.kind,
        **{name: getattr(plan, name) for name in ("a", "b", "beside")},
        "blocks": study.look.count,
        "planned_blocks": study.planned or math.nan,
        **{f"worse_{name}": value for name, value in zip(("percent", "low", "high"), worse)},
        **{f"same_{name}": v for name, v in zip(("percent", "low", "high"), study.worse_same)},
        **{name: plan.number(name) for name in ("until_percent", "fail_above_percent")},
        "decision": study.decision,
        "background_percent": study.beside_more.mean,
        "question": ask(plan),
        "answer": describe_answer(study),
        "doubt": describe_doubt(study),
    }
    return pd.DataFrame([row])


ORDERS = {
    "turn": ("A B B A", "B A A B"),
    "alternate": ("A B A B A B", "B A B A B A"),
    "beside": ("A|B, B|A", "B|A, A|B"),
}


def df_blocks(report: Report) -> pd.DataFrame:
    """Return a row for each block, up to the deciding one, with the estimate after it."""
    study = report.once(read_study)
    if study is None:
        return pd.DataFrame()
    same, different = (
        pd.DataFrame(
            {
                "pair": blocks.name,
                "block": blocks.numbers,
                "order": [ORDERS[study.plan.kind][order] for order in blocks.orders],
                "percent": percent_of(blocks.differences),
            }
        )
        for blocks in (study.same, study.different)
    )
    different = different.head(study.look.count)
    looks = [look for look in study.looks if look.count]
    if looks and not study.plan.of_two_processes:
        half = pd.Series([look.half for look in looks]).where(np.isfinite)
        mean = pd.Series([look.mean for look in looks]).where(half.notna())
        means = {"mean_percent": mean, "mean_low": mean - half, "mean_high": mean + half}
        different = different.assign(**{name: percent_of(of) for name, of in means.items()})
    return pd.concat([same, different], ignore_index=True)


TABLES = (
    Table(
        "duet",
        "Which of two is faster",
        "metric run_order a b beside blocks planned_blocks worse_percent worse_low worse_high "
        "same_percent same_low same_high until_percent fail_above_percent decision "
        "background_percent question answer doubt",
        df_duet,
        about="For a study of the experiment `duet`: by how many percent B is worse than A, the "
        "same of A against A, and the decision.",
    ),
    Table(
        "duet-blocks",
        "Blocks, each of which compares both commands",
        "pair block order percent mean_percent mean_low mean_high",
        df_blocks,
        about="A row for each block up to the one that decides: by how many percent B exceeds A, "
        "and the mean and its interval after this block.",
    ),
)


# Report


def notes(report: Report) -> None:
    study = report.once(read_study)
    report.notes.items += study.notes.items if study else []


def answer(report: Report) -> Headline | None:
    if not len(report.table("duet")):
        return None
    row = report.table("duet").frame.iloc[0]
    doubt = f" Doubtful: {row['doubt']}." if row["doubt"] else ""
    return Headline(row["question"], f"{row['answer']}.{doubt}")


def plot_blocks(blocks: pd.DataFrame) -> Any:
    block, percent = blocks["block"], blocks["percent"]
    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_from_zero(ax, "x", "block of A and B", whole=True)
    figures.axis_around_zero(ax, "y", "B against A, %")
    figures.line_at(ax, "y", 0)
    if "mean_percent" in blocks:
        figures.band(ax, block, blocks["mean_low"], blocks["mean_high"], label="interval")
        figures.line(ax, block, blocks["mean_percent"], label="mean so far")
    titles = [f"block {at}: {value:.2f} %" for at, value in zip(block, percent)]
    figures.mark(ax, block, percent, titles, color=figures.GRAY, label="one block")
    return fig


def sections(report: Report) -> Iterator[Section]:
    duet, blocks = report.table("duet"), report.table("duet-blocks")
    if not len(duet):
        return
    parts: list[Part] = [duet]
    compared = blocks.frame[blocks.frame["pair"] == "A and B"]
    if len(compared) > 1:
        parts.append(
            Picture(
                figures.svg(plot_blocks(compared)),
                "Each block compares B with A; in 95 % of studies the interval contains the true "
                "difference after every block",
            )
        )
    parts.append(
        "A difference may come from where the linker placed the code of the two programs, which "
        "repetitions cannot show: the environment of each launch is padded by a random number of "
        "bytes, but code stays where it is."
    )
    yield Section("A against B", [*parts, blocks])
