# SPDX-License-Identifier: Apache-2.0
"""Combines records: a table of runs, a table of their steps, and what distinguishes them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from . import inputs, steps
from .fleets import Fleet
from .inputs import NUMBERS, TEXTS, Failure, Source
from .published import FOLDER, Published
from .records import HOST, Record
from .requests import Requests
from .text import UserError
from .verdicts import LOAD, RANKS, THROUGHPUT, Verdict

Value = TypeVar("Value")

OTHERS_MAX = 0.02  # a run is disturbed if others used more of the machine
SAME_SHARE = 1e-6  # shares are in manifests with three decimals
ERROR_SAME = 0.01  # tolerated difference in percent: samples have six decimals
USUAL_AXES = ("load", "target", "rate")

# Columns of runs that steps have, too
ORIGIN = (
    "record title set study".split() + TEXTS + NUMBERS
    + "variant family axis verdict covers command instances cpu_count cpus".split()
)  # fmt: skip

POWER = (
    "power_seconds power_unknown watts watt_hours watts_deviation power_iterations "
    "iterations_per_watt_hour"
).split()

AROUND = (
    "host_load_mean load_difference host_samples clock_difference_start_seconds "
    "clock_difference_end_seconds vcpus vcpu_host_cpu_seconds vcpu_wall_seconds vcpu_load"
).split()

# Names that groups() accepts for several columns
KEYS = {
    "environment": ["environment", "measured_in"],
    "workload": ["workload", "variant"],
    "family": ["workload", "family"],
    "target": ["target", "axis"],
    "command": ["command", "instances"],
}


@dataclass(frozen=True)
class Settings:
    edge: float = -1.0  # seconds excluded at both ends of a step; negative: a sixth, at most 30 s
    interval: float = 6.0  # length of windows of throughput, seconds
    confidence: float = 0.95
    leave_out: str = ""  # leave out records with this verdict or a worse one
    deviation: float = 0.05  # tolerated difference of a replay's throughput
    published: str = ""  # the folder with published figures; '': the installed one
    predict: str = ""  # the trace over which the throughput is predicted
    decides: bool = False  # of records, only samples are read


@dataclass(frozen=True)
class Differences:
    """Columns of plans in which the runs of a set differ, in the order of the plans."""

    names: tuple[str, ...] = ()  # without `round` and `published`
    follows: tuple[bool, ...] = ()  # whether others determine it, so that it separates no series
    axis: str = ""  # the column with numbers along which figures are compared

    @property
    def axis_is_load(self) -> bool:
        return self.axis in USUAL_AXES

    @property
    def series(self) -> list[str]:
        """The columns that distinguish series."""
        pairs = zip(self.names, self.follows)
        return [name for name, follows in pairs if name != self.axis and not follows]

    @property
    def in_variant(self) -> list[str]:
        """The columns that are part of the variant of some runs."""
        known = {*TEXTS, *NUMBERS}
        names = [n for n, f in zip(self.names, self.follows) if n not in known and not f]
        return [name for name in names if name == "instances" or name != self.axis]

    def has_variant(self, run: Any, name: str) -> bool:
        """Return whether a column is part of the variant of a run, a row of runs. Instances that
        stand for a load, or are the axis of runs without a method, are not."""
        if name == "instances":
            is_axis = name == self.axis and not run["method"]
            return name in self.in_variant and not run["stands_for"] > 0 and not is_axis
        return name in self.in_variant


def disturbed(others: Any) -> Any:
    """Return whether other processes disturbed a run; False if what they used is unknown."""
    return others > OTHERS_MAX + SAME_SHARE


def permitted(one: Any, other: Any) -> Any:
    """Return whether two runs may be compared: others used about the same of the machine."""
    return ~(np.abs(one - other) > OTHERS_MAX + SAME_SHARE)


def key_columns(rows: pd.DataFrame, keys: Iterable[str]) -> pd.DataFrame:
    """Return the columns that keys stand for, with the digits that a manifest can express.

    A key is the name of a column, or one of KEYS. Named workloads are the same, whatever their
    command is.
    """
    found = {}
    for key in keys:
        for name in KEYS.get(key, [key]):
            column = rows[name]
            found[name] = column.round(9) if pd.api.types.is_float_dtype(column) else column
    if "command" in found and "workload" in rows:
        is_named = rows["workload"] != ""
        found["command"] = found["command"].mask(is_named, "")
        found["instances"] = found["instances"].mask(is_named)
    return pd.DataFrame(found, index=rows.index)


def groups(rows: pd.DataFrame, keys: Iterable[str]) -> list[pd.DataFrame]:
    """Split rows, of runs or steps, into those that agree in all keys, in order of their first
    ones."""
    if rows.empty:
        return []
    columns = key_columns(rows, keys)
    number = columns.groupby(list(columns), sort=False, dropna=False).ngroup()
    return [group for _, group in rows.groupby(number, sort=False, dropna=False)]


class Study:
    """The records of a study, for a notebook: `Study("study").runs`.

    The paths are those of ssreport(1): records, studies, fleets, experiments. Settings are those
    of its options: edge, interval, confidence, leave_out, predict, deviation.

    runs      a row for each record: what ran, where, what it is worth, load, throughput, power
    steps     a row for each stretch of constant target, with `run` and the columns of its run
    plans     the columns of plans, a row for each run
    records   the records, in the order of `runs`; requests and fleets are apart
    failures  what cannot be read, or was left out
    """

    def __init__(
        self,
        *paths: str | os.PathLike[str],
        against: Sequence[str | os.PathLike[str]] = (),
        names: tuple[str, str] = ("", ""),
        **settings: Any,
    ) -> None:
        self.settings = Settings(**settings)
        self.compares = bool(against)  # two sets are compared
        self.records: list[Record] = []
        self.requests: list[Requests] = []
        self.fleets: list[Fleet] = []
        self.failures: list[Failure] = []
        self.notes: list[str] = []  # on all records together
        self.prefix = ""  # of all absolute paths; titles leave it out
        self._set_names = names
        self._names: set[str] = set()
        self._places: set[Any] = set()
        self._known: dict[Any, Any] = {}
        self._windows: dict[int, pd.DataFrame] = {}
        gatherer = inputs.Gatherer()
        for found in gatherer.gather(*([os.fspath(p) for p in part] for part in (paths, against))):
            if isinstance(found, Failure):
                self.failures.append(found)
            else:
                self._add(found)
        self.studies = gatherer.studies  # number of manifests and studies that were read
        self._choose_titles()

    def set_name(self, number: int) -> str:
        return self._set_names[number - 1] or ("first set", "second set")[number - 1]

    # Reading

    def _add(self, source: Source) -> None:
        name = inputs.choose_name(source.path, self._names)
        if source.kind == "fleet":
            name = source.path
        try:
            if source.kind == "fleet":
                self._add_fleet(source)
                return
            found = self._read(source, name)
        except UserError as error:
            self.failures.append(Failure(name, str(error)))
            return
        has_both = isinstance(found, Record) and not source.columns
        verdict = found.verdict.about(LOAD if has_both else THROUGHPUT)
        if self._leaves_out(verdict):
            why = f"left out: {verdict.result}: {verdict.reasons}"
            self.failures.append(Failure(name, why, verdict.result))
            return
        self._names.add(name)
        self._places.add((source.set, _place(source.path)))
        if isinstance(found, Record):
            self.records.append(found)
        else:
            self.requests.append(found)

    def _add_fleet(self, source: Source) -> None:
        self.fleets.append(Fleet(source))
        self.notes += [f"{source.path}: {note}" for note in self.fleets[-1].notes]
        if self.settings.leave_out:
            self.notes.append(
                f"{source.path}: --leave-out leaves out no node of a fleet; --check names the "
                "invalid ones"
            )

    def _read(self, source: Source, name: str) -> Record | Requests:
        if source.kind == "requests":
            requests = Requests(source.path, name, source)
            requests.read()
            self._note_repeated(source, requests.notes)
            return requests
        record = Record(source.path, name, source)
        if source.columns:
            others = source.number("others")
            record.verdict = record.verdict.of_study(others, source.is_launch)
        else:
            self._leave_out_throughput(record)
        if self.settings.decides:
            record.samples  # raises UserError if there are none
        else:
            record.read()
            _note_error(record)
        self._note_repeated(source, record.notes)
        return record

    def _leaves_out(self, verdict: Verdict) -> bool:
        worst = self.settings.leave_out
        return bool(worst) and verdict.rank >= RANKS[worst]

    def _leave_out_throughput(self, record: Record) -> None:
        """Leave out the iterations of a run if only its load may be reported. Runs of a study need
        their iterations, so they are left out as a whole."""
        verdict = record.verdict.about(THROUGHPUT)
        if self._leaves_out(verdict) and not self._leaves_out(record.verdict.about(LOAD)):
            why = f"throughput left out: {verdict.result}: {verdict.reasons}"
            record.without_throughput = why

    def _note_repeated(self, source: Source, notes: list[str]) -> None:
        """Note a record that is given again in its set: means count it as a repetition."""
        place = _place(source.path)
        if place and (source.set, place) in self._places:
            notes.append("this record is given more than once, and counts each time")

    def _choose_titles(self) -> None:
        """Make titles from names, without the folders that all absolute paths share."""
        named: list[Any] = [*self.records, *self.requests]
        shared = os.path.commonprefix([one.name for one in named if one.name.startswith("/")])
        self.prefix = shared[: shared.rfind("/") + 1]
        for one in named:
            one.title = one.name.removeprefix(self.prefix)

    # All records

    @property
    def verdicts(self) -> list[tuple[str, Verdict]]:
        """The names of all records with their verdicts."""
        measured: list[Any] = [*self.records, *self.requests]
        judged = [(one.name, one.verdict) for one in measured]
        failed = [f for f in self.failures if f.result != "not checked"]
        return judged + [(f.name, f.verdict) for f in failed]

    @property
    def is_empty(self) -> bool:
        return not (self.records or self.requests or self.fleets)

    @property
    def has_results(self) -> bool:
        others: list[Any] = [*self.requests, *self.fleets]
        return any(len(r.counted) for r in self.records) or any(o.has_results for o in others)

    def once(self, function: Callable[[Study], Value]) -> Value:
        """Return function(study), which is computed only once."""
        if function not in self._known:
            self._known[function] = function(self)
        return self._known[function]  # type: ignore[no-any-return]

    # Plans

    @cached_property
    def plans(self) -> pd.DataFrame:
        """The columns of plans, as texts; '' if a plan lacks one. Runs without a plan have none."""
        rows = {at: r.source.columns for at, r in enumerate(self.records) if r.source.columns}
        return pd.DataFrame.from_dict(rows, orient="index").fillna("")

    @cached_property
    def differences(self) -> Differences:
        plans = self.plans
        if plans.empty:
            return Differences()
        sets = pd.Series([self.records[at].source.set for at in plans.index], plans.index)
        differ = plans.groupby(sets, sort=False, dropna=False).nunique(dropna=False).gt(1).any()
        names = [n for n in plans if differ[n] and n not in ("round", "published")]
        known = [n for n in names if n in (*TEXTS, *NUMBERS) and n != "stands_for"]
        keys = [sets.rename("_set"), *(plans[name] for name in known)]
        by_known = plans[names].groupby(keys, sort=False, dropna=False)
        constant = by_known.nunique(dropna=False).le(1).all() if names else {}
        follows = [name not in known and bool(constant[name]) for name in names]
        alone = [name for name, follow in zip(names, follows) if not follow]
        axis = _choose_axis(plans, alone) or _choose_axis(plans, names)
        return Differences(tuple(names), tuple(follows), axis)

    def _variants(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return `variant`, the columns in which a run differs from others: "size=large"; `family`,
        the same without the number of instances; and `axis`, the value of the axis."""
        differences, found = self.differences, []
        for at, run in zip(rows.index, rows.to_dict("records")):
            plan = self.records[at].source.columns
            words = {
                name: f"{name}={plan.get(name, '')}"
                for name in differences.in_variant
                if plan and differences.has_variant(run, name)
            }
            family = [word for name, word in words.items() if name != "instances"]
            has_axis = plan and differences.axis not in ("", "speed")
            axis = share(plan.get(differences.axis, "")) if has_axis else math.nan
            found.append((", ".join(words.values()), ", ".join(family), axis))
        return pd.DataFrame(found, rows.index, columns=["variant", "family", "axis"])

    # Runs and steps

    @cached_property
    def origin(self) -> pd.DataFrame:
        """What is known about each record without its tables; absent texts are ''."""
        rows = pd.DataFrame(
            [
                {"record": r.name, "title": r.title}
                | {"set": r.source.set + 1, "study": r.source.study}
                | {name: r.label(name) for name in TEXTS}
                | {name: r.number(name) for name in NUMBERS}
                | {"verdict": r.verdict.result, "command": r.command}
                | {"instances": r.instance_count, "cpu_count": r.cpu_count, "cpus": r.load_cpus}
                for r in self.records
            ],
            columns=[n for n in ORIGIN if n not in ("variant", "family", "axis", "covers")],
        )
        others = [r.source.number("others") for r in self.records]
        # Earlier versions recorded the environment of the machine itself as `none`.
        environment = rows["environment"].replace({"": HOST, "none": HOST})
        rows = rows.assign(others=pd.Series(others, dtype=float), environment=environment)
        return rows.join(self._variants(rows))

    @cached_property
    def runs(self) -> pd.DataFrame:
        """A row for each record. Absent texts are '', absent numbers NaN."""
        found = [self._run(at, record) for at, record in enumerate(self.records)]
        names = [
            *("state", "version", "started", "ended_by", "has_iterations", "has_power"),
            *("shares_power", "from", "to", "samples", "target_mean", "load"),
            *(*steps.ERRORS, "error_p95_percent", "duty_mean", "throughput", "bound", "covers"),
            *POWER, *AROUND,
        ]
        flags = dict.fromkeys(("has_iterations", "has_power", "shares_power"), bool)
        return self.origin.join(pd.DataFrame(found, columns=names).astype(flags))

    def _run(self, at: int, record: Record) -> dict[str, Any]:
        counted, begin, end = record.counted, record.counted_from, record.counted_to
        rate = steps.throughput(record, begin, end)
        has_power = len(record.power) > 0
        state = "interrupted" if record.interrupted else "whole"
        return {
            "state": "running" if record.running else state,
            "version": record.version,
            "started": (record.plan or {}).get("started") or "",
            "ended_by": record.ended_by,
            "has_iterations": record.has_iterations,
            "has_power": has_power,
            "shares_power": has_power and record.shares_power,
            "from": begin,
            "to": end,
            "samples": len(counted),
            # A run with a free section among its counted samples has no target.
            "target_mean": counted["target"].mean(skipna=False),
            "load": counted["load"].mean(),
            **steps.errors(counted["target"], counted["load"]),
            "duty_mean": counted["duty"].mean(),
            "throughput": rate,
            "bound": steps.bound(record, rate, end - begin),
            "covers": (record.label("energy") or "not known") if has_power else "",
        } | self.power(at, begin, end) | around(record)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """A row for each step: the columns of steps.find(), `run`, power, and the columns of its
        run, whose target is `run_target`."""
        found = []
        for at, record in enumerate(self.records):
            edge, settings = self.edge(record.source), self.settings
            rows = steps.find(record, edge, settings.interval, settings.confidence)
            power = [self.power(at, *times) for times in zip(rows["from"], rows["to"])]
            if len(rows):
                found.append(rows.assign(run=at, **pd.DataFrame(power)))
        nothing = pd.DataFrame(columns=["run", *steps.COLUMNS, *POWER], dtype=float)
        every = pd.concat(found, ignore_index=True) if found else nothing
        every = every.astype({"run": int, "is_exceeded": bool})
        # A step has a target of its own; that of its run comes from the plan.
        return every.join(self.runs[ORIGIN].rename(columns={"target": "run_target"}), on="run")

    def windows(self, at: int) -> pd.DataFrame:
        """Return the throughput of a run in intervals, as steps.in_windows() does."""
        if at not in self._windows:
            self._windows[at] = steps.in_windows(self.records[at], self.settings.interval)
        return self._windows[at]

    def edge(self, source: Source) -> float:
        """Return the seconds to leave out at both ends of a step: those of the options or, without
        them, of a plan."""
        own, said = self.settings.edge, source.number("edge_seconds")
        return said if own < 0 and said >= 0 else own

    def steps_of(self, at: int) -> pd.DataFrame:
        """Return the steps of a run."""
        first, last = np.searchsorted(self.steps["run"], [at, at + 1])
        return self.steps.iloc[first:last]

    @cached_property
    def published(self) -> Published:
        """Figures published by others; none without an experiment, or for duet, which compares
        commands of the user."""
        if self.runs["experiment"].isin(["", "duet"]).all():
            return Published()
        return Published(self.settings.published or FOLDER, self.notes)

    # Runs side by side

    @cached_property
    def _roles(self) -> dict[Any, int]:
        """The first run of each role in each group."""
        keys = self.origin[["role", *GROUP]].itertuples(index=False, name=None)
        return {key: at for at, key in reversed([*enumerate(keys)]) if key[0]}

    def beside(self, at: int, role: str) -> int | None:
        """Return the run that had this role in the same group, placement and environment."""
        key = self.origin.loc[at, GROUP]
        return self._roles.get((role, *key)) if key["group"] else None

    def is_counted_elsewhere(self, at: int) -> bool:
        """Return whether the energy of a foreground is counted with its background."""
        record = self.records[at]
        is_foreground = record.role == "foreground" and record.shares_power
        return is_foreground and self.beside(at, "background") is not None

    def consumer_of(self, at: int) -> tuple[int | None, bool]:
        """Return the foreground that the power of a run includes, and whether the iterations of
        both add up."""
        record = self.records[at]
        if not record.shares_power:
            return None, True
        other = self.beside(at, "foreground")
        workload = record.label("workload")
        return other, other is not None and self.records[other].label("workload") == workload != ""

    def power(self, at: int, begin: float, end: float) -> dict[str, float]:
        """Return the energy of a part of a run. If the power includes both sides of a pair, it is
        that of the background, together with the iterations of both if they run the same program.

        Power may be known for only a part of the time, whose energy is not that of all iterations:
        their energy assumes the mean power for the rest.
        """
        record = self.records[at]
        figures, iterations = steps.power(record, begin, end), math.nan
        if len(record.power) and not self.is_counted_elsewhere(at):
            other, adds_up = self.consumer_of(at)
            rate = steps.throughput(record, begin, end) if adds_up else math.nan
            if other is not None:
                rate += steps.throughput_beside(self.records[other], record, begin, end)
            iterations = rate * (end - begin)
        energy = figures["watts"] * (end - begin)
        per = 3600 * iterations / energy if energy > 0 else math.nan
        return figures | {"power_iterations": iterations, "iterations_per_watt_hour": per}


GROUP = ["set", "study", "group", "environment", "placement"]


def around(record: Record) -> dict[str, float]:
    """Return what the host measured during a run."""
    load, samples = record.host_load(record.counted_from, record.counted_to)
    clock = record.guest_clock
    if not (len(record.host) or record.vcpus or not all(map(math.isnan, clock))):
        return {}
    return record.vcpus | {
        "host_load_mean": load,
        "load_difference": record.counted["load"].mean() - load,
        "host_samples": samples,
        "clock_difference_start_seconds": clock[0],
        "clock_difference_end_seconds": clock[1],
    }


def share(text: str) -> float:
    """Return the number of a cell of a plan, which may have a percent sign: `50%` is 50."""
    return inputs.number(text.removesuffix("%"))


def _note_error(record: Record) -> None:
    summary = record.figure("error_mean_percent")
    off = steps.errors(record.counted["target"], record.counted["load"])["error_mean_percent"]
    if abs(off - summary) > ERROR_SAME:
        record.notes.append(
            f"the mean error is {summary:.3f} % in the summary and {off:.3f} % in the samples"
        )


def _choose_axis(plans: pd.DataFrame, names: Sequence[str]) -> str:
    """Choose the axis: a column of loads or rates if there is one, otherwise the column of
    numbers with the most values."""

    def count(name: str) -> int:
        values = plans[name].map(share)
        return 0 if values.isna().any() else int(values.nunique())

    counts = {name: count(name) for name in names}
    usual = [name for name in USUAL_AXES if counts.get(name, 0) > 1]
    if usual:
        return usual[0]
    best = max(names, key=lambda name: counts[name], default="")
    return best if best and counts[best] > 1 else ""


def _place(path: str) -> Any:
    """Return device and inode of a record, which do not depend on its path; None if missing."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
