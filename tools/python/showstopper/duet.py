# SPDX-License-Identifier: Apache-2.0
"""A study of the experiment duet, which compares two commands A and B, and its decision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from . import inputs, stats, steps
from .contents import member, number_of
from .frames import read_table
from .records import Record
from .requests import Requests
from .stats import LOOK_MIN, Array, Look, percent_of
from .study import Study
from .text import UserError

FIRST = 10  # a study begins with this many blocks that compare A with A
BLOCKS_MAX = 1_000_000
TURNS_MAX = 10_000
SWITCH = 0.5  # seconds at the start of a turn that do not count: the other may still run then
TAIL = 1 / 6  # part of a turn at its end whose requests do not count
ANSWERS_MIN = 200  # for a percentile
SUCCESS_MIN = 0.99  # if a smaller part of the requests succeeded, there is no figure
RESPONSES = ("mean", "p50", "p95", "p99", "throughput")


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
        mean, low, high = (f"{value:z.1f}" if math.isfinite(value) else "-" for value in self)
        return f"{mean} % ({low} to {high})"


@dataclass(frozen=True)
class Plan:
    """The columns that all runs of a study have, such as `a` and `b`; '' if absent."""

    columns: dict[str, str]

    def __getattr__(self, name: str) -> str:
        return self.columns.get(name, "")

    def number(self, name: str) -> float:
        return inputs.number(self.columns.get(name, ""))

    @property
    def kind(self) -> str:
        """`turn`: four runs a block; `alternate`: two processes that run in turn; `beside`: two
        runs with A and B at once, which swap their places."""
        return self.order if self.order in ("alternate", "beside") else "turn"

    @property
    def places(self) -> int:
        """The number of runs in a block."""
        return 2 if self.kind == "alternate" else 4

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

    def turn(self, number: Any) -> Any:
        """Return when a turn begins, in seconds."""
        return self.number("first_turn_seconds") + number * self.number("turn_seconds")

    def percent(self, mean: float, half: float) -> Percent:
        """Convert a mean difference of logarithms and half its interval."""
        worse = Percent(*(float(percent_of(end)) for end in (mean, mean - half, mean + half)))
        return worse if self.by_time else -worse


# Runs


def read_runs(study: Study) -> pd.DataFrame:
    """Return a row for each record of the experiment: `of`, the Record or Requests; `pair` (`aa`
    or `ab`), `block`, `position`, `is_b`, `name`, `study`, `plan`; when it began (`wall`) and its
    `figure`.

    `kind` is `measured`, `background` or, for a process that serves, `process`.
    """
    every: list[Record | Requests] = [*study.records, *study.requests]
    found = [_read_run(one) for one in every if one.label("experiment") == "duet"]
    return pd.DataFrame([run for run in found if run])


def _read_run(one: Record | Requests) -> dict[str, Any]:
    plan, kind = Plan(one.source.columns), "measured"
    block, position = plan.number("block"), plan.number("position")
    within = 1 <= block <= BLOCKS_MAX and 1 <= position <= plan.places
    if one.source.set != 0:
        return {}
    if isinstance(one, Requests):
        wall, figure = number_of(one.document, "begin_epoch_seconds"), _response(one, plan.response)
    else:
        kind = "process" if plan.response else kind
        kind = one.role if one.role == "background" else kind
        wall, figure = one.wall, _figure(one, plan.by_time and kind == "measured")
    place = {"block": block // 1 if within else 0, "position": position // 1 if within else 0}
    pair = "aa" if plan.pair == "aa" else "ab"
    known = {"kind": kind, "pair": pair, "is_b": plan.side == "b", "name": one.name, "of": one}
    return known | place | {"study": one.source.study, "wall": wall, "figure": figure, "plan": plan}


def _figure(record: Record, by_time: bool) -> float:
    if by_time:
        return record.first_end
    begin, end = record.counted_from, record.counted_to
    rate = steps.throughput(record, begin, end)
    if math.isnan(rate) and end > begin:
        # Iterations that were read in bursts have no exact throughput. The noise that counting
        # them adds is part of the interval of the differences.
        rate = record.figure("iterations") / (end - begin)
    return rate


def _response(requests: Requests, name: str) -> float:
    """Return the figure of a record of requests; NaN if too few were answered."""
    document = requests.document
    suffices = not name.startswith("p") or number_of(document, "succeeded") >= ANSWERS_MIN
    succeeded = number_of(document, "success_ratio")
    if name not in RESPONSES or not suffices or not succeeded >= SUCCESS_MIN:
        return math.nan
    if name == "throughput":
        return number_of(document, name)
    times = member(member(member(document, "response", dict), "successes", dict), "intended", dict)
    return number_of(times, f"{name}_seconds")


# Blocks


@dataclass(frozen=True)
class Blocks:
    """Blocks that compare the same two commands, up to the first incomplete one."""

    name: str
    carried: int
    unmeasured: str  # the first run without a figure
    seconds: Array  # their durations, if known
    # Differences of logarithms, B minus A, of blocks in which all runs have a figure
    numbers: Any
    differences: Array
    orders: Any  # 0 if A begins, 1 if B does
    beside: Array  # differences of the background, if known

    @property
    def count(self) -> int:
        return len(self.differences)


def compare(plan: Plan, name: str, runs: pd.DataFrame, notes: list[str]) -> Blocks:
    """Compare the runs in each block. Leave out blocks without a figure, and drop all blocks from
    the first incomplete one on."""
    runs = runs[runs["block"] > 0].drop_duplicates(["kind", "block", "position"], keep="last")
    runs = runs.sort_values(["block", "position"], kind="stable")
    measured = runs[runs["kind"] == "measured"]
    sizes = measured.groupby("block", sort=True, dropna=False).size()
    is_whole = sizes.reindex(np.arange(1, len(sizes) + 1)).eq(plan.places)
    carried = int(is_whole.cumprod().sum())
    whole = runs[runs["block"] <= carried]
    blocks = [own for _, own in whole.groupby("block", sort=True, dropna=False)]
    values = [_known(_compare(plan, own, notes)) for own in blocks]
    beside = [_known(_beside(plan, own)) for own in blocks]
    means, besides = (np.array([own.mean() if len(own) else math.nan for own in of], dtype=float)
                      for of in (values, beside))
    orders = measured.loc[measured["position"] == 1, "is_b"].to_numpy(int)[:carried]
    used = np.isfinite(means)
    numbers, differences, orders = np.flatnonzero(used) + 1, means[used], orders[used]
    besides = _known(besides[used])
    lacks = [own for own, is_used in zip(blocks, used) if not is_used][:1]
    if plan.of_two_processes and len(differences):
        # Each group of turns of the only block gives a value.
        differences, besides = values[0] if len(values[0]) > 1 else np.empty(0), beside[0]
        lacks = [] if len(differences) else blocks[:1]
        numbers, orders = np.arange(len(differences)) + 1, np.full(len(differences), orders[0])
    unmeasured, seconds = "".join(map(_unmeasured, lacks)), _seconds(plan, measured, carried)
    return Blocks(name, carried, unmeasured, seconds, numbers, differences, orders, besides)


def _known(values: Any) -> Array:
    values = np.asarray(values, dtype=float)
    known: Array = values[np.isfinite(values)]
    return known


def _seconds(plan: Plan, measured: pd.DataFrame, carried: int) -> Array:
    """Return the durations of blocks, as far as the start times of runs determine them."""
    at = measured.set_index(["block", "position"])["wall"].unstack("position")
    at = at.reindex(columns=[1, 2, 3, 4])
    of_kind = {
        "turn": (at[4] - at[1]) * 4 / 3, "beside": (at[3] - at[1]) * 2,
        "alternate": at[1].diff().shift(-1),
    }  # fmt: skip
    return _known(of_kind[plan.kind][:carried])


def _unmeasured(block: pd.DataFrame) -> str:
    """Return the name of a run without a figure or, of two processes, of the one that did less."""
    block = block[block["kind"] == "measured"]
    if len(block) == 2:
        counts = [
            len(one.iterations) if isinstance(one, Record) else number_of(one.document, "succeeded")
            for one in block["of"]
        ]
        return str(block["name"].iloc[int(counts[1] < counts[0])])
    bad = block[~block["figure"].between(0, math.inf, inclusive="neither")]
    return str([*bad["name"], block["name"].iloc[-1]][0])


def _compare(plan: Plan, block: pd.DataFrame, notes: list[str]) -> Array:
    """Return the differences of the logarithms of the figures of A and B, B minus A: one for four
    runs, or one for each group of turns of two processes."""
    measured = block[block["kind"] == "measured"]
    if plan.kind != "alternate":
        return _difference(measured, measured)
    processes = _processes(plan, block)
    if len(processes) < 2:
        return np.empty(0)
    if plan.response:
        figures = _responses(plan, [*measured["of"]], processes[0].wall, notes)
    else:
        figures = _rates(plan, processes, 0)
    return _of_turns(measured, figures)


def _beside(plan: Plan, block: pd.DataFrame) -> Array:
    """Return the differences of the background, in the same runs or turns."""
    measured, background = (block[block["kind"] == kind] for kind in ("measured", "background"))
    if plan.kind != "alternate":
        return _difference(measured, background)
    processes = _processes(plan, block)
    if len(processes) < 2 or background.empty:
        return np.empty(0)
    beside = background["of"].iloc[0]
    return _of_turns(measured, _rates(plan, [beside] * 2, beside.wall - processes[0].wall))


def _difference(measured: pd.DataFrame, of: pd.DataFrame) -> Array:
    figures = of.set_index("position")["figure"].reindex(measured["position"]).to_numpy(float)
    is_b = measured["is_b"].to_numpy(bool)
    if 2 * is_b.sum() != len(is_b):
        return np.empty(0)
    return np.atleast_1d(stats.block_difference(figures[~is_b], figures[is_b]))


# Turns


def _processes(plan: Plan, block: pd.DataFrame) -> list[Record]:
    kind = "process" if plan.response else "measured"
    return [*block.loc[block["kind"] == kind, "of"]]


def _of_turns(measured: pd.DataFrame, figures: Array) -> Array:
    found = stats.turn_differences(figures)
    return -found if measured["is_b"].iloc[0] else found


def _rates(plan: Plan, records: Sequence[Record], late: float) -> Array:
    """Return the iterations per second of each turn, from those that began and ended in it. The
    clock of the records starts `late` seconds after that of the turns."""
    found = pd.Series(math.nan, range(plan.turns))
    length = plan.number("turn_seconds")
    for side, record in enumerate(records):
        rows = record.iterations
        turn = ((rows["start"] + late - plan.turn(0)) / length).floordiv(1)
        begin = plan.turn(turn) - late
        used = rows["start"].ge(begin + SWITCH) & rows["end"].le(begin + length)
        used &= turn.between(0, plan.turns - 1) & (turn % 2 == side)
        own = (rows["end"] - rows["start"])[used].groupby(turn[used], sort=True, dropna=False)
        found.update(own.size() / own.sum().where(lambda seconds: seconds > 0))
    rates: Array = found.to_numpy(float)
    return rates


def _responses(plan: Plan, services: list[Requests], start: float, notes: list[str]) -> Array:
    try:
        tables = [read_each(service.path, notes) for service in services]
    except UserError as error:
        notes.append(str(error))
        return np.empty(0)
    late = [number_of(service.document, "begin_epoch_seconds") - start for service in services]
    return np.array([
        figure_of(tables[at % 2], plan.response, plan.turn(at) - late[at % 2],
                  plan.number("turn_seconds"))
        for at in range(plan.turns)
    ])


def read_each(record: str, notes: list[str]) -> pd.DataFrame:
    """Read the file of ssrequest --each next to a record, sorted by the time at which requests are
    due: due and finished, in seconds since the first request, and success."""

    def valid(rows: pd.DataFrame) -> pd.Series:
        return rows["due_seconds"].notna()

    names = ("due_seconds", "finished_seconds", "outcome")
    rows = read_table("", f"{record}.each.csv", notes, names, (), valid)
    rows = rows.set_axis(["due", "finished", "outcome"], axis=1)
    rows = rows.assign(success=rows["outcome"] == "success")
    return rows.sort_values("due", kind="stable", ignore_index=True)


def figure_of(requests: pd.DataFrame, name: str, begin: float, length: float) -> float:
    """Return a figure of a turn; NaN if requests are too few or too many have failed. Requests due
    in its last sixth do not count, because they may be answered only after it."""
    start, end = begin + SWITCH, begin + length
    finished = requests["finished"].where(requests["success"])
    if name == "throughput":
        count = int(((finished >= start) & (finished < end)).sum())
        return count / (end - start) if count else math.nan
    last = end - max(SWITCH, TAIL * length)
    due = (requests["due"] >= start) & (requests["due"] < last)
    times = (finished - requests["due"])[due & (finished < end)]
    if len(times) < SUCCESS_MIN * due.sum():
        return math.nan
    if name == "mean":
        return float(times.mean())
    return stats.quantile(times, int(name[1:]) / 100) if len(times) >= ANSWERS_MIN else math.nan


# The decision


@dataclass(frozen=True)
class Duet:
    """A study: its blocks of A and A, those of A and B, and what they decide."""

    plan: Plan
    same: Blocks
    different: Blocks
    has_others: bool  # there are further studies, which are left out
    notes: list[str] = field(default_factory=list)

    @cached_property
    def planned(self) -> int:
        """The number of blocks of A and B that fit into the time, at least ten; 0 without a limit.
        A block takes the median time of the blocks of A and A, so interruptions do not count."""
        if self.plan.of_two_processes:
            return self.different.count
        at_most, seconds = self.plan.number("at_most_seconds"), stats.median(self.same.seconds)
        if not at_most > 0:
            return 0
        fit = at_most / seconds - FIRST if seconds > 0 else math.nan
        return math.floor(fit) if LOOK_MIN < fit < BLOCKS_MAX else LOOK_MIN

    @cached_property
    def looks(self) -> list[Look]:
        """The estimates after each block, up to the first one that decides, because later runs must
        not change the answer. Turns of two processes are compared once, at the end."""
        blocks, looks = self.different, []
        if self.plan.of_two_processes:
            usual = stats.mean_of(blocks.differences)
            half = usual.high - usual.mean if self.same.count else math.inf
            return [Look(blocks.count, usual.mean, usual.deviation, half)]
        for count in range(min(1, blocks.count), blocks.count + 1):
            values, orders = blocks.differences[:count], blocks.orders[:count]
            looks.append(stats.look_at(values, orders, self.planned))
            if self._decide(looks[-1]) != "continues":
                break
        return looks

    def _decide(self, look: Look) -> str:
        plan, different = self.plan, self.different
        worse = plan.percent(look.mean, look.half)
        limit = plan.number("fail_above_percent")
        is_last = 0 < self.planned <= different.carried and look.count == different.count
        too_few = self.same.carried < FIRST and not plan.of_two_processes
        if too_few or not math.isfinite(look.half):
            return "continues"
        if worse.low > limit:
            return "failed"
        if worse.high < limit:
            return "passed"
        if max(worse.high - worse.mean, worse.mean - worse.low) <= plan.number("until_percent"):
            return "precise enough"
        return "time is up" if is_last or look.count == self.planned else "continues"

    @property
    def look(self) -> Look:
        return self.looks[-1]

    @property
    def is_known(self) -> bool:
        return math.isfinite(self.look.half)

    @property
    def decision(self) -> str:
        return self._decide(self.look)

    @property
    def worse(self) -> Percent:
        return self.plan.percent(self.look.mean, self.look.half)

    @property
    def _of_same(self) -> Array:
        """The differences of A and A in the first blocks: their number is fixed, so one look is
        enough."""
        return self.same.differences[: None if self.plan.of_two_processes else FIRST]

    @property
    def worse_same(self) -> Percent:
        usual = stats.mean_of(self._of_same)
        return self.plan.percent(usual.mean, usual.high - usual.mean)

    @property
    def same_differs(self) -> bool:
        """Whether the interval of A against A excludes 0 at 99 %."""
        sure = stats.mean_of(self._of_same, 0.99)
        return bool(sure.low > 0 or sure.high < 0)

    @property
    def more_beside(self) -> Percent:
        """By how many percent the background did more next to B than next to A."""
        more = stats.mean_of(self.different.beside)
        return Percent(*map(percent_of, (more.mean, more.low, more.high)))

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


def read(study: Study) -> Duet | None:
    """Return the first study of the experiment; None without one."""
    runs, notes = study.once(read_runs), []
    if runs.empty:
        return None
    plan, has_others = runs["plan"].iloc[0], bool(runs["study"].nunique() > 1)
    if has_others:
        notes.append(
            "several studies of the experiment duet are given, but only the first one is answered: "
            "report each one separately"
        )
    runs = runs[runs["study"] == runs["study"].iloc[0]]
    same, different = (
        compare(plan, name, runs[runs["pair"] == pair], notes)
        for pair, name in (("aa", "A and A"), ("ab", "A and B"))
    )
    return Duet(plan, same, different, has_others, notes)
