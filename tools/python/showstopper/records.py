# SPDX-License-Identifier: Apache-2.0
"""A record: the folder that `showstopper --record` writes, see showstopper-record(5)."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from . import __version__
from .contents import (
    has_file, list_of, member, number_of, parse_json, read_file, read_json, text_of,
)
from .frames import advances, is_ahead, moment, moments, read_optional, read_table
from .inputs import Described, Source
from .stats import Histogram
from .text import UserError, listed, reason, show
from .verdicts import check_schema, is_written, judge_run, open_folder

SAMPLE = 0.5  # seconds between two samples
LENGTH_MAX = 1.0  # if more seconds pass, samples were lost
LATE_MAX = 0.02  # a sample's time may be this many seconds after its end
GAP_MAX = 2.0  # if two samples of another program are further apart, one was lost
INSTANCES_MAX = 1_000_000
COUNT_MAX = 1e12  # of iterations in a bucket
FAILURES_NAMED = 3
HOST = "host"

COUNTERS = (
    "instructions cycles stalled_frontend stalled_backend l1d_references l1d_misses "
    "cache_references cache_misses page_faults context_switches migrations task_clock_seconds "
    "l2_references l2_misses"
).split()


# Events


def read_events(folder: str, notes: list[str]) -> pd.DataFrame:
    """Return the events as recorded: event, elapsed_seconds, instance, text, value."""
    try:
        data = read_file(f"{folder}/events.jsonl").decode("utf-8", "surrogateescape")
    except OSError as error:
        notes.append(f"events.jsonl: {reason(error)}")
        data = ""
    found, damaged = [], []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            event = parse_json(line)
        except ValueError:
            event = None
        if member(event, "event", str) is None:
            damaged.append(number)
            continue
        found.append(event)
    if damaged:
        more = " (and more)" if len(damaged) > 1 else ""
        notes.append(f"events.jsonl:{damaged[0]}: invalid event{more}")
    texts = {name: [text_of(event, name) for event in found] for name in ("event", "text")}
    numbers = {
        name: np.array([number_of(event, name) for event in found], dtype=float)
        for name in ("elapsed_seconds", "instance", "value")
    }
    return pd.DataFrame(texts | numbers)


@dataclass(frozen=True)
class Clock:
    """The run's clock, which stops in pauses, and when the run counted."""

    pauses: tuple[tuple[float, float], ...]
    counted_from: float  # infinite if counting never began
    ended: float  # NaN if unknown

    @staticmethod
    def of(events: pd.DataFrame) -> Clock:
        pauses: list[tuple[float, float]] = []
        last: dict[str, float] = {}
        for event, elapsed in zip(events["event"], events["elapsed_seconds"]):
            if event == "paused" and elapsed > 0:
                pauses.append((elapsed, math.inf))
            elif event == "continued" and elapsed > 0 and pauses:
                pauses[-1] = (pauses[-1][0], elapsed)
            elif event != "ending" or elapsed > 0:
                last[event] = elapsed if elapsed > 0 else 0.0
        clock = Clock(tuple(pauses), 0.0, math.nan)
        never = math.inf if "settling" in last else 0.0
        start = clock.run_time(last["counting"]) if "counting" in last else never
        end = clock.run_time(last.get("ending", math.nan))
        return Clock(tuple(pauses), float(start), float(end) if end > 0 else math.nan)

    def run_time(self, elapsed: Any) -> Any:
        """Convert elapsed time to the run's clock."""
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
            paused |= np.asarray((elapsed > begin) & (elapsed <= end))
        return paused


def between(rows: pd.DataFrame, begin: float, end: float) -> pd.DataFrame:
    """Return the rows whose moment `at`, in order, is after one time and not after another one."""
    first, last = np.searchsorted(rows["at"].to_numpy(), [begin, end], side="right")
    return rows.iloc[first:last]


class Record(Described):
    """A recorded run, read lazily: `Record("record").samples`.

    plan, summary      the documents of the record
    verdict            what the run itself found: .result, .reasons and .checks
    events             event, elapsed_seconds, instance, text, value
    samples            begin, end, target (NaN if free), load, duty, counted; without the warm-up
    iterations         instance, start, end; those in progress at the end are estimated
    decisions          when each instance was running or stopped
    counters, cpus, power, idle, host        a row for each second, if they were recorded
    figure(name)       a number of the summary, such as `own_cpu`
    label(name), number(name)                what a plan, a manifest or a label says
    notes              what is wrong with the record

    Times are on the run's clock: seconds since control began, without pauses.
    """

    def __init__(
        self, folder: str | os.PathLike[str], name: str = "", source: Source | None = None
    ) -> None:
        self.folder = os.fspath(folder)
        self.source = source or Source(self.folder)
        self.name = self.title = name or self.folder
        self.notes: list[str] = []
        self.without_throughput = ""  # why iterations are left out although the rest is reported
        open_folder(self.folder)
        self.plan = self._document("plan.json")
        self.interrupted = not has_file(self.folder, "summary.json")
        self.running = self.interrupted and is_written(self.folder)
        self.summary = None if self.interrupted else self._document("summary.json")
        self.verdict = judge_run(self.folder, self.summary)
        self._note_documents()

    def _document(self, name: str) -> Any:
        try:
            document = read_json(self.folder, name)
        except UserError as error:
            self.notes.append(str(error))
            return None
        check_schema(document)
        return document

    def _note_documents(self) -> None:
        if self.version and self.version != __version__:
            recorded = show(self.version)
            self.notes.append(f"recorded by version {recorded}, but this is {__version__}")
        if self.running:
            self.notes.append("the run is in progress: the record is incomplete")
        elif self.interrupted:
            self.notes.append("the run was interrupted: the record has no summary.json")
        for warning in list_of(self.summary, "warnings"):
            words = warning if isinstance(warning, str) else "?"
            if not (self.never_stopped and "does not follow the load" in words):
                self.notes.append(f"warning: {words}")
        if self.summary is not None and not self.ended_by:
            self.notes.append("summary.json is not the summary of a run")

    # Values in plans, labels and documents; NaN and '' if unknown

    def label(self, name: str) -> str:
        return super().label(name) or text_of(member(self.plan, "labels", dict), name)

    @property
    def speed(self) -> float:
        """The speed relative to the trace."""
        speed = self.number("speed")
        return 1.0 if math.isnan(speed) else speed

    @property
    def role(self) -> str:
        return self.label("role")

    @property
    def version(self) -> str:
        return text_of(self.plan, "version")

    @property
    def command(self) -> str:
        words = list_of(self.plan, "command")
        return " ".join(word if isinstance(word, str) else "?" for word in words)

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
    def never_stopped(self) -> bool:
        control = member(member(self.plan, "modules", dict), "control", dict)
        duty = number_of(member(control, "options", dict), "duty")
        return text_of(control, "name") == "fixed" and duty >= 1

    @property
    def ended_by(self) -> str:
        return text_of(self.summary, "ended_by")

    def figure(self, name: str) -> float:
        """Return a number of the run's own summary, such as `own_cpu`; NaN if unknown."""
        return number_of(self.summary, name)

    def iteration_figure(self, name: str) -> float:
        return number_of(member(self.summary, "iteration_seconds", dict), name)

    # Events and times

    @cached_property
    def events(self) -> pd.DataFrame:
        events = read_events(self.folder, self.notes)
        self._note_failures(_ended_early(events))
        return events

    def _note_failures(self, ended: pd.DataFrame) -> None:
        words = []
        for row in ended[ended["value"] != 0].itertuples():
            name = f"{row.instance:.0f}" if row.instance == row.instance else "?"
            how = show(row.text)[:60] if row.text else f"status {row.value:.0f}"
            words.append(f"instance {name} ended after {row.elapsed_seconds:.1f} s: {how}")
        if words:
            self.notes.append(listed(words, FAILURES_NAMED))

    @cached_property
    def clock(self) -> Clock:
        return Clock.of(self.events)

    @cached_property
    def ended_early(self) -> pd.DataFrame:
        """The instances that ended by themselves: instance, and `at`, on the run's clock."""
        ended = _ended_early(self.events)
        return ended.assign(at=self.clock.run_time(ended["elapsed_seconds"]))

    @property
    def first_end(self) -> float:
        """When the first instance ended by itself; infinite if none did."""
        return float(self.ended_early["at"].min()) if len(self.ended_early) else math.inf

    @property
    def end(self) -> float:
        return float(self.samples["end"].iloc[-1])

    @property
    def counted_to(self) -> float:
        return self.end if math.isnan(self.clock.ended) else self.clock.ended

    @property
    def counted_from(self) -> float:
        """The start of the counted time; if counting never began, that time is empty."""
        return min(self.clock.counted_from, self.counted_to)

    @cached_property
    def wall(self) -> float:
        """The start of control in seconds since 1970, by the clock of the host."""
        ahead = self.guest_clock[0] if self.label("measured_in") != HOST else math.nan
        return self._recorded_wall - (ahead if math.isfinite(ahead) else 0)

    def time_of(self, other: Record, at: float) -> float:
        """Convert a time of another run to the clock of this one."""
        return float(self.clock.run_time(other.clock.elapsed(at) + (other.wall - self.wall)))

    # Samples

    @cached_property
    def _sampled(self) -> pd.DataFrame:
        names = ("time", "elapsed_seconds", "target", "load")

        def valid(rows: pd.DataFrame) -> Any:
            end = self.clock.run_time(rows["elapsed_seconds"].to_numpy())
            known = rows["load"].notna().to_numpy()
            used = known & (end > SAMPLE / 2)
            kept = used & advances(np.where(used, end, math.nan))
            kept[kept] = is_ahead(end[kept], 0.0)
            return known & (kept | ~used)

        rows = read_table(
            self.folder, "samples.csv", self.notes, names, ("duty", "counted"), valid
        )
        rows["end"] = self.clock.run_time(rows["elapsed_seconds"])
        # The last sample of the warm-up ends when control begins, and is stamped slightly later.
        rows = rows[rows["end"] > SAMPLE / 2].reset_index(drop=True)
        if rows.empty:
            raise UserError("samples.csv has no sample under control")
        return rows

    @cached_property
    def _recorded_wall(self) -> float:
        """The start of control, by the clock of the machine that recorded it."""
        rows = self._sampled
        times = zip(rows["time"], rows["elapsed_seconds"])
        starts = (moment(at) - elapsed for at, elapsed in times)
        return next((start for start in starts if not math.isnan(start)), math.nan)

    @cached_property
    def samples(self) -> pd.DataFrame:
        rows, end = self._sampled, self._sampled["end"].to_numpy()
        last = np.append(0, end[:-1])
        begin = np.where(end - last <= LENGTH_MAX, last, end - SAMPLE)
        for pause, _ in self.clock.pauses:
            at = self.clock.run_time(pause)
            begin = np.where((at > begin) & (at < end), at, begin)
        free = rows["target"].isna().to_numpy()
        # Earlier records do not say which samples count next to free sections.
        late = end > self.clock.counted_from + SAMPLE / 2
        guess = ~free & ~np.append(False, free[:-1]) & late
        told = rows["counted"].to_numpy(float)
        counted = np.where(np.isnan(told), guess, told != 0)
        kept = {name: rows[name] for name in ("target", "load", "duty")}
        return pd.DataFrame({"begin": begin, "end": end} | kept | {"counted": counted})

    @cached_property
    def counted(self) -> pd.DataFrame:
        """The samples that count."""
        return self.samples[self.samples["counted"].to_numpy()]

    # Decisions

    @cached_property
    def decisions(self) -> pd.DataFrame:
        """The states of instances: begin and end on the run's clock (NaN in the warm-up), elapsed,
        seconds, instance, running. Raises UserError."""
        most = INSTANCES_MAX if math.isnan(self.instance_count) else self.instance_count

        def valid(rows: pd.DataFrame) -> Any:
            instance, length = (rows[name].to_numpy() for name in ("executor", "real_seconds"))
            known = (instance >= 0) & (instance < most) & (np.floor(instance) == instance)
            return known & (length >= 0) & rows["state"].str.lower().isin(["running", "stopped"])

        names = ("elapsed_seconds", "executor", "state", "real_seconds")
        rows = read_table(self.folder, "decisions.csv", self.notes, names, (), valid)
        begin, length = (rows[name].to_numpy() for name in ("elapsed_seconds", "real_seconds"))
        return pd.DataFrame(
            {
                "elapsed": begin,
                "seconds": length,
                "begin": self.clock.run_time(begin),
                "end": self.clock.run_time(begin + length),
                "instance": rows["executor"],
                "running": rows["state"].str.lower() == "running",
            }
        )

    @cached_property
    def duties(self) -> pd.DataFrame:
        """The decisions that apply to the counted time, cut to it; empty if they are unknown."""
        if not has_file(self.folder, "decisions.csv"):
            self.notes.append("duties of instances are unknown: decisions were not recorded")
            return pd.DataFrame()
        try:
            decisions = self.decisions
        except UserError as error:
            self.notes.append(f"duties are unknown: {error}")
            return pd.DataFrame()
        begin = np.maximum(decisions["begin"].to_numpy(), self.counted_from)
        end = np.minimum(decisions["end"].to_numpy(), self.counted_to)
        return decisions.assign(begin=begin, end=end)[begin < end]

    # Iterations

    @property
    def is_bursty(self) -> bool:
        """Whether iterations ended in bursts, so that the summary has no throughput."""
        in_bursts = self.figure("iterations_in_bursts")
        return in_bursts > 0 and math.isnan(self.figure("iterations_per_second"))

    @property
    def has_iterations(self) -> bool:
        """Whether the run counted iterations."""
        return bool(self.iterations.attrs["are_counted"])

    @cached_property
    def iterations(self) -> pd.DataFrame:
        """Columns: instance (NaN if unknown), start, end. Iterations in progress when counting
        ended have an estimated end, as in the run's own summary."""
        rows = self._read_iterations()
        are_counted = len(rows) > 0 or self.figure("iterations") >= 0
        left = self.figure("iterations_left_out")
        if self.is_bursty or self.without_throughput:
            bursts = "rates of iterations are unknown: iterations ended in bursts"
            self.notes.append(self.without_throughput or bursts)
            rows, are_counted = rows.iloc[:0], False
        else:
            unfinished = self._unfinished(rows)
            rows = pd.concat([rows, unfinished], ignore_index=True) if len(unfinished) else rows
            if left > 0:
                why = f"iterations.csv lacks {left:.0f} iteration{'' if left == 1 else 's'}"
                self.notes.append(f"rates of iterations are unknown: {why}")
                are_counted = False
        rows.attrs["are_counted"] = are_counted
        return rows

    def _read_iterations(self) -> pd.DataFrame:
        def valid(rows: pd.DataFrame) -> pd.Series:
            return ~(rows["end"] < rows["start"])

        try:
            rows = read_table(
                self.folder, "iterations.csv", self.notes, ("start", "end"), ("instance",), valid
            )
        except UserError as error:
            self.notes.append(f"iterations are unknown: {error}")
            return pd.DataFrame(columns=["instance", "start", "end"], dtype=float)
        instance = rows["instance"].to_numpy(float)
        is_known = (instance >= 0) & (instance < INSTANCES_MAX) & (np.floor(instance) == instance)
        start, end = (self.clock.run_time(rows[name].to_numpy()) for name in ("start", "end"))
        found = {"instance": np.where(is_known, instance, math.nan), "start": start, "end": end}
        used = ~(np.isnan(start) | np.isnan(end))
        return pd.DataFrame({name: values[used] for name, values in found.items()})

    def _unfinished(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the iterations in progress when counting ended, with an estimated end: each is
        assumed to have begun after the usual gap, and to be as long as usual, or nearly done if it
        takes longer (src/measure/unfinished.c)."""
        instance = rows["instance"].to_numpy()
        is_over = np.isin(instance, self.ended_early["instance"])
        used = np.flatnonzero(~(np.isnan(instance) | is_over))
        which, instances = pd.factorize(instance[used], sort=True)
        order = np.argsort(which, kind="stable")
        which, used = which[order], used[order]
        began, ended = (rows[name].to_numpy()[used] for name in ("start", "end"))
        is_first = np.diff(which, prepend=-1) > 0
        gap = np.maximum(began - np.append(math.nan, ended[:-1]), 0)
        counts = (ended >= self.clock.counted_from) & (ended <= self.counted_to)

        def usual(values: Any, known: Any) -> Any:
            count = np.bincount(which[known], minlength=len(instances))
            total = np.bincount(which[known], values[known], len(instances))
            return np.divide(total, count, out=np.full(len(instances), math.nan), where=count > 0)

        last = np.flatnonzero(np.append(is_first, True)[1:])
        start = ended[last] + np.nan_to_num(usual(gap, counts & ~is_first))
        length = usual(ended - began, counts)
        length = np.where(np.isnan(length), (ended - began)[last], length)
        elapsed = self.counted_to - start
        end = start + np.maximum(length, elapsed / 0.99)
        found = pd.DataFrame({"instance": instances, "start": start, "end": end})
        return found[elapsed > 0].reset_index(drop=True)

    @cached_property
    def iteration_times(self) -> Histogram:
        """The lengths of the iterations that ended in the counted time; empty if unknown."""
        if self.is_bursty or self.without_throughput:
            return Histogram()

        def valid(rows: pd.DataFrame) -> pd.Series:
            counts = rows["iterations"]
            whole = counts.between(0, COUNT_MAX) & (counts % 1 == 0)
            return whole & rows["bucket_seconds"].ge(0)

        names = ("elapsed_seconds", "bucket_seconds", "iterations")
        rows = self._read("iteration-times.csv", names, (), valid)
        of_whole = rows["elapsed_seconds"].isna()
        whole, seconds = (
            Histogram(part["bucket_seconds"], part["iterations"])
            for part in (rows[of_whole], rows[~of_whole])
        )
        # A killed run lacks the rows of the whole run; a full disk may lose any row.
        return whole if whole.count >= seconds.count else seconds

    # Counters and CPUs

    def _read(self, name: str, needed: Sequence[str] | None, *more: Any) -> pd.DataFrame:
        return read_optional(self.folder, name, self.notes, needed, *more)

    @cached_property
    def counters(self) -> pd.DataFrame:
        """Counters of each second: begin, end, runnable, and for each counter its count and,
        as `since_NAME`, when the time began that it covers. Empty if not recorded."""

        def valid(rows: pd.DataFrame) -> pd.Series:
            elapsed = rows["elapsed_seconds"]
            used = elapsed.notna()  # others belong to the warm-up
            ahead = used.copy()
            ahead[used] = is_ahead(elapsed[used])
            return (ahead | ~used) & ~(rows[COUNTERS] < 0).any(axis=1)

        names = ("runnable", *COUNTERS)
        unknown = "counters are unknown"
        rows = self._read("counters.csv", ("elapsed_seconds",), names, valid, unknown)
        if rows.empty:
            return rows
        rows = rows.dropna(subset=["elapsed_seconds"]).reset_index(drop=True).astype(float)
        end = self.clock.run_time(rows["elapsed_seconds"])
        begin = end.shift(fill_value=end.iloc[0] - 1 if len(end) else 0)
        first = begin.iloc[0] if len(begin) else 0
        known = {
            f"since_{name}": end.where(rows[name].notna()).ffill().shift().fillna(first)
            for name in COUNTERS
        }
        rows = rows.drop(columns="elapsed_seconds").assign(**known)
        rows.insert(0, "begin", begin)
        rows.insert(1, "end", end)
        return rows

    @cached_property
    def cpus(self) -> pd.DataFrame:
        """The load of each CPU: `elapsed`, and a column for each CPU. Empty if not recorded."""
        rows = self._read("cpus.csv", None)
        if 0 < rows.shape[1] < 3:  # time, elapsed_seconds, and one of each CPU
            self.notes.append("cpus.csv has no column of a CPU")
            return pd.DataFrame()
        return rows.iloc[:, 1:].rename(columns=dict.fromkeys(rows.columns[1:2], "elapsed"))

    # Measurements of other programs at the same time

    def _find(self, name: str) -> str:
        """Return the folder of a table: that of the record or, for runs side by side and runs of a
        study, its parent; '' if there is none."""
        levels = 2 if self.role or self.source.columns else 1
        folders = [self.folder + "/.." * up for up in range(levels)]
        return next((folder for folder in folders if has_file(folder, name)), "")

    def _on_clock(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Convert `at` from the wall clock to the run's clock, and drop rows during pauses. Rounds,
        because times in files have six decimals."""
        if rows.empty:
            return rows
        elapsed = (rows["at"] - self.wall).round(6)
        rows = rows.assign(at=self.clock.run_time(elapsed))[~self.clock.is_paused(elapsed)]
        return rows.sort_values("at", kind="stable", ignore_index=True)

    @cached_property
    def power(self) -> pd.DataFrame:
        """Columns: at, watts (NaN if unknown), and the seconds that each row covers."""
        rows = read_power(self._find("energy.csv"), self.notes)
        return self._on_clock(rows)

    @property
    def shares_power(self) -> bool:
        """Whether the power includes everything that ran at the same time."""
        return self._find("energy.csv").endswith("/..") and self.role not in ("", "alone")

    @cached_property
    def idle(self) -> pd.DataFrame:
        """Columns: at, active, frequency_mhz, and the share of each idle state."""
        return self._on_clock(read_idle(self._find("idle.csv"), self.notes))

    def _around(self, name: str, needed: Sequence[str]) -> pd.DataFrame:
        """Return a table of the host in the folder of the record or, with its name in front, next
        to it; empty if there is none."""
        folder, file = self.folder, name
        if not has_file(folder, file):
            parent, _, own = folder.rpartition("/")
            folder, file = parent if "/" in self.folder else ".", f"{own}.{name}"

        def valid(rows: pd.DataFrame) -> pd.Series:
            return rows[[n for n in needed if n not in ("time", "vcpu")]].notna().all(axis=1)

        return read_optional(folder, file, self.notes, needed, (), valid)

    @cached_property
    def host(self) -> pd.DataFrame:
        """The load of the host of a guest: at, load. Without rows during pauses."""
        rows = self._around("host-load.csv", ("time", "load"))
        if rows.empty:
            return pd.DataFrame(columns=["at", "load"], dtype=float)
        at = moments(rows["time"])
        elapsed = (at - self.wall).round(6)
        rows = pd.DataFrame({"at": self.clock.run_time(elapsed), "load": rows["load"]})
        return rows[at.notna() & ~self.clock.is_paused(elapsed)].reset_index(drop=True)

    @cached_property
    def guest_clock(self) -> tuple[float, float]:
        """The clock of the guest minus that of its host, in seconds, at start and end."""
        rows = self._around("guest-clock.csv", ("when", "host_seconds", "guest_seconds"))
        ahead = rows["guest_seconds"] - rows["host_seconds"]
        last = dict(zip(rows["when"].str.lower() if len(rows) else (), ahead))
        return last.get("start", math.nan), last.get("end", math.nan)

    @cached_property
    def vcpus(self) -> dict[str, float]:
        """How long the host ran the CPUs of a guest, as columns of the table of runs."""
        names = ("vcpu", "host_cpu_seconds", "wall_seconds")
        rows = self._around("guest-vcpus.csv", names)
        if rows.empty:
            return {}
        used, wall = rows["host_cpu_seconds"].sum(), rows["wall_seconds"].sum()
        figures = {"vcpus": len(rows), "vcpu_host_cpu_seconds": used, "vcpu_wall_seconds": wall}
        return figures | {"vcpu_load": used / wall if wall else math.nan}

    def host_load(self, begin: float, end: float) -> tuple[float, int]:
        """Return the mean load of the host between two times of the run, and the number of samples.
        """
        loads = between(self.host, begin + LATE_MAX, end + LATE_MAX)["load"]
        return float(loads.mean()), len(loads)

    @cached_property
    def beside(self) -> pd.DataFrame:
        """The load that ssload measured in the counted time: target, load. A sample without a
        target has the run's."""
        found = _read_beside(self, self.folder)
        if self.source.columns and found.empty:
            found = _read_beside(self, f"{self.folder}/..")
        return found

    def read(self) -> None:
        """Read all tables, so that the notes are complete. Raises UserError."""
        for table in (
            "samples clock duties iteration_times iterations counters beside cpus power idle host"
        ).split():
            getattr(self, table)


def _ended_early(events: pd.DataFrame) -> pd.DataFrame:
    """Return the instances that ended by themselves before the run did."""
    event = events["event"].to_numpy()
    is_end = (event == "instance_ended") & (np.cumsum(event == "ending") == 0)
    if not is_end.any():
        return events.iloc[:0]
    ended = events[is_end & ~events["text"].isin(["ended by the run", "as it was told to"])]
    return ended.assign(elapsed_seconds=ended["elapsed_seconds"].fillna(0).clip(lower=0))


def read_power(folder: str, notes: list[str]) -> pd.DataFrame:
    """Read energy.csv: at (seconds since 1970), watts (NaN if unknown), and the seconds that each
    row covers. Empty without a folder, or if the file cannot be read."""

    def valid(rows: pd.DataFrame) -> pd.Series:
        elapsed = rows["elapsed_seconds"]
        timed = elapsed.isna() | advances(elapsed) & elapsed.ge(0)
        return timed & moments(rows["time"]).notna() & ~(rows["watts"] < 0)

    rows = read_optional(
        folder, "energy.csv", notes, ("time", "watts"), ("elapsed_seconds",), valid,
        "power is unknown",
    )
    if rows.empty:
        return pd.DataFrame(columns=["at", "watts", "seconds"], dtype=float)
    elapsed = rows["elapsed_seconds"].astype(float)
    begin = elapsed.ffill().shift(fill_value=0).fillna(0)
    seconds = (elapsed - begin).where(elapsed > begin, 1.0)
    rows = pd.DataFrame({"at": moments(rows["time"]), "watts": rows["watts"], "seconds": seconds})
    return rows.sort_values("at", kind="stable", ignore_index=True)


def read_idle(folder: str, notes: list[str]) -> pd.DataFrame:
    """Read idle.csv: at, active, frequency_mhz, and the share of each idle state."""
    heads = ["time", "elapsed_seconds", "active", "frequency_mhz"]

    def valid(rows: pd.DataFrame) -> pd.Series:
        if rows.columns[:4].str.lower().tolist() != heads or rows.shape[1] > 20:
            raise UserError(f'idle.csv:1:1: invalid heading, in "{show(",".join(rows.columns))}"')
        times, frequency = rows.iloc[:, 0], rows.iloc[:, 3]
        shares = rows.iloc[:, [2, *range(4, rows.shape[1])]]
        is_share = (shares.isna() | shares.ge(0) & shares.le(1)).all(axis=1)
        return is_share & ~(frequency < 0) & moments(times).notna()

    rows = read_optional(folder, "idle.csv", notes, None, (), valid, "idle states are unknown")
    if rows.empty:
        return pd.DataFrame(columns=["at", *heads[2:]], dtype=float)
    rows = rows.set_axis(["at", *heads[1:], *rows.columns[4:]], axis=1)
    rows = rows.assign(at=moments(rows["at"])).drop(columns="elapsed_seconds")
    return rows.sort_values("at", kind="stable", ignore_index=True)


def read_loads(folder: str, notes: list[str], optional: str) -> pd.DataFrame:
    """Read what ssload measured: time, load, and a column that may be missing."""

    def valid(rows: pd.DataFrame) -> pd.Series:
        return rows["load"].notna() & moments(rows["time"]).notna()

    return read_optional(
        folder, "beside.csv", notes, ("time", "load"), (optional,), valid,
        "the load in beside.csv is unknown",
    )


def _read_beside(record: Record, folder: str) -> pd.DataFrame:
    rows = read_loads(folder, record.notes, "target")
    if rows.empty:
        return rows
    clock = record.clock
    end = (moments(rows["time"]) - record.wall).round(6)
    begin = end.shift()
    used = (end - begin <= GAP_MAX) & ~clock.is_paused(end) & ~clock.is_paused(begin)
    begin, end = clock.run_time(begin), clock.run_time(end)
    at_sample = np.searchsorted(record.samples["end"], end - LATE_MAX)
    targets = np.append(record.samples["target"], math.nan)[at_sample]
    target = rows["target"].astype(float).fillna(pd.Series(targets))
    used &= (begin >= record.counted_from - LATE_MAX) & (end <= record.counted_to + LATE_MAX)
    return pd.DataFrame({"target": target, "load": rows["load"]})[used & target.notna()]
