# SPDX-License-Identifier: Apache-2.0
"""A record: the folder that `showstopper --record` writes, see showstopper-record(5)."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Iterator

import numpy as np
import pandas as pd

from . import __version__, text
from .contents import read_file
from .documents import check_schema, is_written, judge_run, open_folder
from .statistics import Histogram, unfinished_length
from .text import (
    AMOUNT, MAYBE_AMOUNT, MAYBE_NUMBER, MOMENT, Notes, Rule, UserError, list_of, member,
    number_of, read_json, text_of,
)

USUAL_LENGTH = 0.5  # seconds between two samples
LENGTH_MAX = 1.0  # if more seconds pass, samples were lost
SILENCE_MAX = 86400.0  # a row this many seconds after the previous one is invalid
INSTANCES_MAX = 1_000_000
COUNT_MAX = 1e12  # of iterations in a bucket
FAILURES_NAMED = 3

COUNTERS = (
    "instructions cycles stalled_frontend stalled_backend l1d_references l1d_misses "
    "cache_references cache_misses page_faults context_switches migrations task_clock_seconds "
    "l2_references l2_misses"
).split()


def follow(ends: np.ndarray, valid: np.ndarray, begin: float = 0.0) -> None:
    """Refuse rows that are too long after the previous one, since one damaged time outweighs all.

    If the next row confirms the time, there was a real gap.
    """
    known = ends[valid]
    if known.size == 0 or not (np.diff(known, prepend=begin) > SILENCE_MAX).any():
        return
    refused = 0.0
    for row in np.flatnonzero(valid):
        if not ends[row] - begin > SILENCE_MAX:
            begin = ends[row]
            continue
        last, refused = refused, ends[row]
        valid[row] = last > begin and 0 < ends[row] - last <= SILENCE_MAX
        begin = ends[row] if valid[row] else begin


@dataclass
class Events:
    """What happened during a run. Times are on the run's clock, pauses in elapsed time."""

    counted_from: float = 0.0
    ended: float = 0.0  # end of control; 0 if unknown
    first_end: float = math.inf  # when the first instance ended by itself
    over: list[float] = field(default_factory=list)  # instances that ended by themselves
    pauses: list[list[float]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    failed: int = 0
    ending: bool = False

    def run_time(self, elapsed: Any) -> Any:
        """Convert elapsed time to the run's clock, which stops in pauses."""
        result = elapsed
        for begin, end in self.pauses:
            result = result - np.maximum(np.minimum(elapsed, end) - begin, 0)
        return result

    def elapsed(self, run_time: float) -> float:
        for begin, end in self.pauses:
            run_time += end - begin if run_time > begin else 0
        return run_time

    def is_paused(self, elapsed: Any) -> Any:
        paused = np.zeros(np.shape(elapsed), dtype=bool)
        for begin, end in self.pauses:
            paused |= (elapsed > begin) & (elapsed <= end)
        return paused

    def take(self, event: Any) -> bool:
        name, elapsed = text_of(event, "event"), number_of(event, "elapsed_seconds")
        after_start = elapsed > 0
        if name == "settling":
            self.counted_from = math.inf
        elif name == "counting":
            self.counted_from = float(self.run_time(elapsed if after_start else 0.0))
        elif name == "paused" and after_start:
            self.pauses.append([elapsed, math.inf])
        elif name == "continued" and after_start and self.pauses:
            self.pauses[-1][1] = elapsed
        elif name == "ending":
            self.ending = True
            self.ended = float(self.run_time(elapsed)) if after_start else self.ended
        elif name == "instance_ended":
            self._take_end(event, elapsed if after_start else 0.0)
        return isinstance(event, dict) and isinstance(event.get("event"), str)

    def _take_end(self, event: Any, at: float) -> None:
        how, status = text_of(event, "text"), number_of(event, "value")
        if self.ending or how in ("ended by the run", "as it was told to"):
            return
        self.first_end = min(self.first_end, float(self.run_time(at)))
        instance = number_of(event, "instance")
        if instance >= 0:
            self.over.append(instance)
        if status == 0:
            return
        self.failed += 1
        if self.failed <= FAILURES_NAMED:
            given = text_of(event, "instance")
            name = f"{instance:.0f}" if instance == instance else text.show(given)[:20] or "?"
            words = text.show(how)[:60] if how else f"status {status:.0f}"
            self.failures.append(f"instance {name} ended after {at:.1f} s: {words}")

    def note(self, notes: Notes) -> None:
        more = self.failed - FAILURES_NAMED
        named = ", ".join(self.failures)
        if self.failed:
            notes.add(f"{named}, and {more} more failed" if more > 0 else named)


class Record:
    """A recorded run, read lazily: `Record("record").samples`.

    plan, summary      the documents of the record
    verdict            what the run itself found: .result, .reasons and .checks
    samples            begin, end, target, load, duty, counted
    iterations         instance, start, end
    decisions          when each instance was running or stopped
    counters           counts of each second
    responses          of a record of ssrequest: its requests and response times of each second
    read_events()      what happened, an event at a time
    figure(name)       a number of the summary, such as `own_cpu`
    notes              what is wrong with the record

    Times are on the run's clock: seconds since control began, without pauses.
    """

    def __init__(self, folder: str | os.PathLike[str], name: str = "") -> None:
        folder = os.fspath(folder)
        self.folder = folder
        self.name = name or folder
        self.title = self.name
        self.notes = Notes()
        open_folder(folder)
        if text.has_file(folder, "requests.csv"):
            self._read_requests()
            return
        self.plan = self._read_document("plan.json")
        self._note_version()
        self.interrupted = not text.has_file(folder, "summary.json")
        self.running = self.interrupted and is_written(folder)
        self.summary = self._read_summary()
        self.verdict = judge_run(folder, self.summary)
        self.wall = math.nan  # start of control, seconds since 1970; set by `samples`

    def _read_requests(self) -> None:
        from .responses import Responses

        requests = Responses.read(self.folder, self.name)
        self.notes, self.verdict = requests.notes, requests.verdict
        self.plan, self.summary = None, requests.document
        self.interrupted, self.running = requests.interrupted, is_written(self.folder)
        self.wall = requests.begin
        self.responses = requests.seconds

    def _read_document(self, name: str) -> Any:
        try:
            document = read_json(self.folder, name)
        except UserError as error:
            self.notes.add(str(error))
            return None
        check_schema(document)
        return document

    def _note_version(self) -> None:
        if self.version and self.version != __version__:
            recorded = text.show(self.version)
            self.notes.add(f"recorded by version {recorded}, but this is {__version__}")

    def _read_summary(self) -> Any:
        if self.interrupted:
            self.notes.add(
                "the run is in progress: the record is incomplete"
                if self.running
                else "the run was interrupted: the record has no summary.json"
            )
            return None
        summary = self._read_document("summary.json")
        for warning in list_of(summary, "warnings"):
            words = warning if isinstance(warning, str) else "?"
            if not (self.never_stopped and "does not follow the load" in words):
                self.notes.add(f"warning: {words}")
        if summary is not None and not text_of(summary, "ended_by"):
            self.notes.add("summary.json is not the summary of a run")
        return summary

    responses = pd.DataFrame()

    # Figures from plan and summary; NaN and '' if unknown.

    @property
    def version(self) -> str:
        return text_of(self.plan, "version")

    @property
    def started(self) -> str:
        return text_of(self.plan, "started")

    @property
    def command(self) -> str:
        words = list_of(self.plan, "command")
        return " ".join(word if isinstance(word, str) else "?" for word in words)

    @cached_property
    def labels(self) -> dict[str, str]:
        labels = member(self.plan, "labels", dict) or {}
        return {name: value for name, value in labels.items() if isinstance(value, str)}

    @property
    def instance_count(self) -> float:
        return number_of(self.plan, "instances")

    @property
    def cpu_count(self) -> float:
        return number_of(self.plan, "cpu_count")

    @property
    def load_cpus(self) -> float:
        """The number of CPUs that are busy at a load of 1."""
        capacity = number_of(member(self.plan, "measured", dict), "capacity_cpus")
        return capacity if capacity > 0 else self.cpu_count

    @property
    def _control(self) -> Any:
        return member(member(self.plan, "modules", dict), "control", dict)

    @property
    def never_stopped(self) -> bool:
        duty = number_of(member(self._control, "options", dict), "duty")
        return text_of(self._control, "name") == "fixed" and duty >= 1

    @property
    def ended_by(self) -> str:
        return text_of(self.summary, "ended_by")

    def figure(self, name: str) -> float:
        """Return a number of the run's own summary, such as `own_cpu`; NaN if unknown."""
        return number_of(self.summary, name)

    @property
    def lateness_p99_us(self) -> float:
        return number_of(member(self.summary, "wake_lateness_us", dict), "p99")

    def iteration_figure(self, name: str) -> float:
        return number_of(member(self.summary, "iteration_seconds", dict), name)

    @property
    def is_bursty(self) -> bool:
        """Whether iterations ended in bursts, so that the summary has no throughput."""
        in_bursts = self.figure("iterations_in_bursts")
        return in_bursts > 0 and math.isnan(self.figure("iterations_per_second"))

    # Events and times

    def read_events(self) -> Iterator[Any]:
        """Yield the events as recorded, None for each line that is not an event."""
        data = read_file(f"{self.folder}/events.jsonl")
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        for line in lines[: -1 if not lines[-1] else None]:
            try:
                yield text.parse_json(line)
            except ValueError:
                yield None

    @cached_property
    def events(self) -> Events:
        events = Events()
        try:
            known = [events.take(event) for event in self.read_events()]
        except OSError as error:
            self.notes.add(f"events.jsonl: {text.reason(error)}")
            return events
        broken = [at for at, is_known in enumerate(known, 1) if not is_known]
        if broken:
            more = " (and more)" if len(broken) > 1 else ""
            self.notes.add(f"events.jsonl:{broken[0]}: invalid event{more}")
        events.note(self.notes)
        return events

    @property
    def first_end(self) -> float:
        return self.events.first_end

    @property
    def end(self) -> float:
        return float(self.read_samples["end"][-1])

    @property
    def counted_to(self) -> float:
        return self.events.ended if self.events.ended > 0 else self.end

    @property
    def counted_from(self) -> float:
        """The start of the counted time; if counting never began, that time is empty."""
        return min(self.events.counted_from, self.counted_to)

    def run_time(self, elapsed: Any) -> Any:
        return self.events.run_time(elapsed)

    def elapsed(self, run_time: float) -> float:
        return self.events.elapsed(run_time)

    def is_paused(self, elapsed: Any) -> Any:
        return self.events.is_paused(elapsed)

    # Tables

    def read(self) -> None:
        """Read all tables in the order in which notes describe what is wrong with them."""
        for table in ("events", "samples", "duties", "iteration_times", "iterations", "counters"):
            getattr(self, table)

    @cached_property
    def samples(self) -> pd.DataFrame:
        """The load: begin, end, target (NaN if free), load, duty, counted. Without the warm-up."""
        return pd.DataFrame(self.read_samples)

    @cached_property
    def read_samples(self) -> dict[str, np.ndarray]:
        """The columns of the samples: a table would take longer than reading few of them."""
        columns = ("time", "elapsed_seconds", "target", "load", "duty", "counted")
        events = self.events
        table = text.read_table(self.folder, "samples.csv", columns, ("duty", "counted"))
        valid = np.ones(len(table), dtype=bool)
        elapsed, target, load, duty, counted = (table.numbers(n, valid) for n in columns[1:])
        valid &= ~np.isnan(load)
        end = events.run_time(elapsed)
        # The last sample of the warm-up ends when control begins, and is stamped slightly later.
        used = valid & (end > USUAL_LENGTH / 2)
        kept = used.copy()
        follow(end, kept)
        kept[kept] = end[kept] > np.maximum.accumulate(np.append(0.0, end[kept]))[:-1]
        table.refuse(valid & (kept | ~used))
        table.note(self.notes)
        if not kept.any():
            raise UserError("samples.csv has no sample under control")

        end, target = end[kept], target[kept]
        times = table.texts("time")
        for row in np.flatnonzero(kept):
            at = text.wall_clock(times[row])
            if not math.isnan(at):
                self.wall = at - elapsed[row]
                break
        return {
            "begin": self._begins(end),
            "end": end,
            "target": target,
            "load": load[kept],
            "duty": duty[kept],
            "counted": self._counted(end, target, counted[kept]),
        }

    def _begins(self, ends: np.ndarray) -> np.ndarray:
        """Return when samples began: when the previous one or a pause ended, unless one is lost."""
        last = np.append(0.0, ends[:-1])
        begins = np.where(ends - last <= LENGTH_MAX, last, ends - USUAL_LENGTH)
        for pause, _ in self.events.pauses:
            at = self.run_time(pause)
            begins = np.where((at > begins) & (at < ends), at, begins)
        return begins

    def _counted(self, end: np.ndarray, target: np.ndarray, counted: np.ndarray) -> np.ndarray:
        """Return which samples count; earlier records do not say it next to free sections."""
        free = np.isnan(target)
        late = end > self.events.counted_from + USUAL_LENGTH / 2
        guess = ~free & ~np.append(False, free[:-1]) & late
        return np.where(np.isnan(counted), guess, counted != 0)

    @cached_property
    def decisions(self) -> pd.DataFrame:
        """The states of instances: begin and end on the run's clock (NaN in the warm-up), elapsed,
        seconds, instance, running."""
        most = INSTANCES_MAX if math.isnan(self.instance_count) else self.instance_count
        rules = {
            "elapsed_seconds": MAYBE_NUMBER,
            "executor": Rule(0, most - 1, whole=True),
            "state": Rule(words=("running", "stopped")),
            "real_seconds": AMOUNT,
        }
        columns = text.read_columns(self.folder, "decisions.csv", rules, self.notes)
        begin, instance, state, length = columns.values()
        return pd.DataFrame(
            {
                "elapsed": begin,
                "seconds": length,
                "begin": self.run_time(begin),
                "end": self.run_time(begin + length),
                "instance": instance,
                "running": state == "running",
            }
        )

    @cached_property
    def duties(self) -> pd.DataFrame:
        """The decisions that apply to the counted time, cut to it; empty if they are unknown."""
        if not text.has_file(self.folder, "decisions.csv"):
            self.notes.add("duties of instances are unknown: decisions were not recorded")
            return pd.DataFrame()
        try:
            decisions = self.decisions
        except UserError as error:
            self.notes.add(f"duties are unknown: {error}")
            return pd.DataFrame()
        begin = decisions["begin"].clip(lower=self.counted_from)
        end = decisions["end"].clip(upper=self.counted_to)
        return decisions.assign(begin=begin, end=end)[begin < end]

    @cached_property
    def iteration_times(self) -> Histogram:
        """The lengths of the iterations that ended in the counted time; empty if unknown."""
        whole, seconds = Histogram(), Histogram()
        is_known = not (self.is_bursty or self.without_throughput)
        if not is_known or not text.has_file(self.folder, "iteration-times.csv"):
            return whole
        rules = {"elapsed_seconds": MAYBE_NUMBER, "bucket_seconds": AMOUNT}
        rules["iterations"] = Rule(0, COUNT_MAX, whole=True)
        try:
            columns = text.read_columns(self.folder, "iteration-times.csv", rules, self.notes)
        except UserError as error:
            self.notes.add(str(error))
            return whole
        end, bucket, count = columns.values()
        of_whole = np.isnan(end)
        whole.add(bucket[of_whole], count[of_whole])
        seconds.add(bucket[~of_whole], count[~of_whole])
        # A killed run lacks the rows of the whole run; a full disk may lose any row.
        return whole if whole.count >= seconds.count else seconds

    @cached_property
    def iterations(self) -> pd.DataFrame:
        """The iterations: instance (NaN if unknown), start, end.

        Those in progress when counting ended have an estimated end, as in the run's own summary.
        """
        return pd.DataFrame(self.read_iterations)

    @cached_property
    def read_iterations(self) -> dict[str, np.ndarray]:
        found = self._read_iterations()
        names = ("start", "end", "instance")
        self.has_iterations = len(found[0]) > 0 or self.figure("iterations") >= 0
        if self.is_bursty or self.without_throughput:
            bursts = "rates of iterations are unknown: iterations ended in bursts"
            self.has_iterations = False
            self.notes.add(self.without_throughput or bursts)
            return {name: np.empty(0) for name in names}
        unfinished = self._unfinished(*found)
        columns = {name: np.concatenate(both) for name, *both in zip(names, found, unfinished)}
        left = self.figure("iterations_left_out")
        if left > 0:
            self.has_iterations = False
            self.notes.add(
                f"rates of iterations are unknown: iterations.csv lacks {left:.0f} iterations"
            )
        return columns

    has_iterations = False  # whether the run counted iterations; set by `iterations`
    without_throughput = ""  # why iterations are left out although the rest is reported

    def _read_iterations(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        columns = ("start", "end", "instance")
        try:
            table = text.read_table(self.folder, "iterations.csv", columns, ("instance",))
        except UserError as error:
            self.notes.add(f"iterations are unknown: {error}")
            return np.empty(0), np.empty(0), np.empty(0)
        valid = np.ones(len(table), dtype=bool)
        start, end = (table.numbers(name, valid) for name in columns[:2])
        instance = table.numbers("instance", np.ones_like(valid))
        is_number = (instance >= 0) & (instance < INSTANCES_MAX) & (instance == np.floor(instance))
        instance[~is_number] = math.nan
        valid &= ~(end < start)
        table.refuse(valid)
        table.note(self.notes)
        kept = valid & ~np.isnan(start) & ~np.isnan(end)  # others belong to the warm-up
        return self.run_time(start[kept]), self.run_time(end[kept]), instance[kept]

    def _unfinished(
        self, start: np.ndarray, end: np.ndarray, instance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the iterations in progress when counting ended, with an estimated end: each is
        assumed to have begun after the usual gap, and to be as long as usual."""
        known = np.flatnonzero(~np.isnan(instance) & ~np.isin(instance, self.events.over))
        small = np.min_scalar_type(int(instance[known].max(initial=0)))  # is sorted faster
        order = known[np.argsort(instance[known].astype(small), kind="stable")]
        start, end, instance = start[order], end[order], instance[order]
        is_last = np.append(instance[1:] != instance[:-1], True)[: len(order)]
        is_first = np.append(True, is_last[:-1])[: len(order)]
        number = np.cumsum(is_first) - 1
        counts = (end >= self.events.counted_from) & (end <= self.counted_to)

        def mean(values: np.ndarray, used: np.ndarray, unknown: Any) -> np.ndarray:
            total = np.bincount(number[used], values[used], is_last.sum())
            count = np.bincount(number[used], minlength=is_last.sum())
            return np.where(count > 0, total / np.maximum(count, 1), unknown)

        gap = np.maximum(start - np.append(0.0, end[:-1])[: len(order)], 0)
        gaps = mean(gap, counts & ~is_first, 0)
        lengths = mean(end - start, counts, (end - start)[is_last])
        start = end[is_last] + gaps
        elapsed = self.counted_to - end[is_last] - gaps
        used = elapsed > 0
        length = unfinished_length(elapsed, lengths)
        return start[used], (start + length)[used], instance[is_last][used]

    @cached_property
    def counters(self) -> pd.DataFrame:
        """Counters of each second: begin, end, runnable, and for each counter its count and,
        as `since_NAME`, when the time began that it covers. Empty if not recorded."""
        if not text.has_file(self.folder, "counters.csv"):
            return pd.DataFrame()
        try:
            return self._read_counters()
        except UserError as error:
            self.notes.add(f"counters are unknown: {error}")
            return pd.DataFrame()

    def _read_counters(self) -> pd.DataFrame:
        rules = {"elapsed_seconds": MAYBE_NUMBER, "runnable": MAYBE_NUMBER}
        rules |= dict.fromkeys(COUNTERS, MAYBE_AMOUNT)
        optional = ("runnable", *COUNTERS)
        table = text.read_table(self.folder, "counters.csv", tuple(rules), optional)
        values, valid = table.take(rules)
        elapsed = values.pop("elapsed_seconds")
        used = valid & ~np.isnan(elapsed)  # others belong to the warm-up
        kept = used.copy()
        kept[used] = elapsed[used] > np.maximum.accumulate(np.append(-math.inf, elapsed[used]))[:-1]
        table.refuse(valid & (kept | ~used))
        table.note(self.notes)

        frame = pd.DataFrame(values)[kept].reset_index(drop=True)
        end = pd.Series(self.run_time(elapsed[kept]), dtype=float)
        begin = end.shift(fill_value=end.iloc[0] - 1 if len(end) else 0)
        frame.insert(0, "begin", begin)
        frame.insert(1, "end", end)
        for name in COUNTERS:
            known = end.where(frame[name].notna()).ffill().shift()
            frame[f"since_{name}"] = known.fillna(begin.iloc[0] if len(begin) else 0)
        return frame


def between(frame: pd.DataFrame, from_: float, to: float) -> pd.DataFrame:
    """Return the rows whose moment `at` is after one time and not after another one."""
    first, last = np.searchsorted(frame["at"].to_numpy(), [from_, to], side="right")
    return frame.iloc[first:last]


def read_power(folder: str, notes: Notes) -> pd.DataFrame:
    """Read energy.csv: at (seconds since 1970), watts (NaN if unknown), seconds that it covers."""

    def follow_times(columns: text.Columns, valid: np.ndarray) -> None:
        elapsed = columns["elapsed_seconds"]
        timed = ~(elapsed < 0)
        follow(elapsed, timed)
        valid &= timed
        begin = pd.Series(np.where(timed, elapsed, math.nan)).ffill().shift(fill_value=0).fillna(0)
        columns["seconds"] = np.where(elapsed > begin, elapsed - begin, 1)

    rules = {"time": MOMENT, "watts": MAYBE_AMOUNT, "elapsed_seconds": MAYBE_NUMBER}
    columns = text.read_columns(
        folder, "energy.csv", rules, notes, ("elapsed_seconds",), follow_times
    )
    frame = pd.DataFrame(columns).rename(columns={"time": "at"}).drop(columns="elapsed_seconds")
    return frame.sort_values("at", kind="stable", ignore_index=True)


def read_idle(folder: str, notes: Notes) -> pd.DataFrame:
    """Read idle.csv: at, active, frequency_mhz, and the idle states with their shares."""
    heads = ("time", "elapsed_seconds", "active", "frequency_mhz")
    table = text.read_table(folder, "idle.csv", None)
    if tuple(name.lower() for name in table.columns[:4]) != heads or len(table.columns) > 20:
        raise UserError(f'idle.csv:1:1: invalid heading, in "{text.show(",".join(table.columns))}"')
    rules = {name: Rule(0, 1, known=False) for name in table.columns[2:]}
    rules[table.columns[3]] = MAYBE_AMOUNT
    columns, valid = table.take({table.columns[0]: MOMENT} | rules)
    table.refuse(valid)
    table.note(notes)
    names = ("at", *heads[2:], *table.columns[4:])
    frame = pd.DataFrame(dict(zip(names, columns.values())))[valid]
    return frame.sort_values("at", kind="stable", ignore_index=True)
