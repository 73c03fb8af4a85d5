# SPDX-License-Identifier: Apache-2.0
"""A run of a report: a record, its figures, its place in a study, and measurements next to it."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Callable, Iterator, Mapping

import numpy as np
import pandas as pd

from . import statistics, steps, text
from .records import Record, between, read_idle, read_power
from .steps import Errors, mean
from .text import MAYBE_NUMBER, MOMENT, NUMBER, Rule, UserError

ROUNDING = 0.01  # tolerated difference in percent: samples have six decimals
LATE = 0.02  # a sample's time may be this many seconds after its end
LOST = 2.0  # if two samples of another program are further apart, one was lost
APART = 0.02  # two sides that should start together may start this many seconds apart
HOST = "host"
ALONE = "alone"  # the role of a run of a program without a neighbor


@dataclass(frozen=True)
class Settings:
    edge: float = -1.0  # seconds excluded at both ends of a step; negative: a sixth, at most 30 s
    interval: float = 6.0  # seconds, of intervals of throughput
    confidence: float = 0.95
    deviation: float = 0.05  # tolerated difference of a replay's throughput


@dataclass
class Origin:
    """What a plan, a manifest or labels say about a record. Absent: '' and NaN."""

    role: str = ""
    workload: str = ""
    method: str = ""
    placement: str = ""
    experiment: str = ""
    published: str = ""
    environment: str = ""
    measured_in: str = ""
    group: str = ""
    energy: str = ""  # what the samples of power cover
    trace: str = ""
    knees: str = ""
    target: float = math.nan
    stands_for: float = math.nan
    tau_seconds: float = math.nan
    speed: float = math.nan
    round: float = math.nan
    at: float = math.nan
    predict: float = math.nan
    bursts: float = math.nan
    others: float = math.nan  # part of the machine that other processes used

    @staticmethod
    def of(cells: Mapping[str, str], labels: Mapping[str, str]) -> Origin:
        """Take values from cells or, where these are empty, from labels of the record."""
        values: dict[str, Any] = {n: cells.get(n, "") or labels.get(n, "") for n in ORIGIN}
        values["others"] = cells.get("others", "")
        for name in NUMBERS:
            value = text.number(values[name])
            known = value is not None and (value > 0 or (value == 0 and name == "others"))
            values[name] = value if known else math.nan
        return Origin(**values)


ORIGIN = tuple(one.name for one in fields(Origin))  # columns of plans that every run has
NUMBERS = [one.name for one in fields(Origin) if isinstance(one.default, float)]


@dataclass(frozen=True)
class Pool:
    """Points of throughput over load, and what is fitted to them."""

    loads: np.ndarray
    throughputs: np.ndarray
    of_steps: bool  # steps rather than intervals of one step
    exceeded: int  # points left out because they are shorter than an iteration

    @cached_property
    def line(self) -> Any:
        return statistics.fit_line(self.loads, self.throughputs)

    @cached_property
    def curve(self) -> Any:
        """The local curve through steps; None if there are not enough of them."""
        return statistics.fit_curve(self.loads, self.throughputs) if self.of_steps else None


@dataclass
class Run:
    record: Record
    settings: Settings
    set: int = 0  # 1: the second set, after --against
    manifest: int = 0  # number of the study or manifest, from 1; 0 if none
    columns: dict[str, str] = field(default_factory=dict)  # of the study's plan
    origin: Origin = field(default_factory=Origin)
    place: tuple[int, int] | None = None  # device and inode of the folder
    axis: float = math.nan  # value of the column along which figures are compared
    variant: str = ""  # other columns in which runs differ: "size=large"
    family: str = ""  # like `variant`, without the number of instances
    shares_power: bool = False  # the power includes everything that ran at the same time

    def __getattr__(self, name: str) -> Any:
        if name in ORIGIN:
            return getattr(self.origin, name)
        raise AttributeError(name)

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def title(self) -> str:
        return self.record.title

    @property
    def notes(self) -> text.Notes:
        return self.record.notes

    @property
    def verdict(self) -> Any:
        return self.record.verdict

    @property
    def on_host(self) -> bool:
        return self.environment_name == HOST

    @property
    def environment_name(self) -> str:
        """The environment; earlier versions recorded that of the machine itself as `none`."""
        environment = self.origin.environment
        return HOST if environment in ("", "none") else str(environment)

    @property
    def published_name(self) -> str:
        """The program whose published figures the run is compared with, such as dacapo/fop."""
        return str(self.origin.published or self.origin.workload)

    @property
    def is_launch(self) -> bool:
        """Whether the end of the program is the result, as in a comparison of run times."""
        return self.origin.experiment == "duet" and self.columns.get("metric") == "time"

    # Figures

    def read(self) -> None:
        """Read the record; raise UserError if nothing in it can be reported."""
        self.record.read()
        self.beside = read_beside(self.record, self.record.folder)
        off = self.errors.error_mean_percent
        summary = self.record.figure("error_mean_percent")
        if abs(off - summary) > ROUNDING:
            self.notes.add(
                f"the mean error is {summary:.3f} % in the summary and {off:.3f} % in the samples"
            )
        pool = self.pool
        if pool.exceeded:
            what = "steps" if pool.of_steps else "intervals"
            self.notes.add(
                f"{pool.exceeded} of {pool.exceeded + len(pool.loads)} {what} are left out of the "
                "fit of throughput against load: they are shorter than an iteration"
            )

    @cached_property
    def counted(self) -> pd.DataFrame:
        return self.record.samples[self.record.samples["counted"]]

    @cached_property
    def errors(self) -> Errors:
        return Errors.of(self.counted["target"].to_numpy(), self.counted["load"].to_numpy())

    @cached_property
    def duty_mean(self) -> float:
        return mean(self.counted["duty"].dropna().to_numpy())

    @cached_property
    def throughput(self) -> float:
        return steps.throughput(self.record, self.record.counted_from, self.record.counted_to)

    def throughput_beside(self, background: Run, from_: float, to: float) -> float:
        """Return the iterations per second of a foreground between two times on the clock of its
        background; NaN unless all of its instances were running then."""
        record = self.record
        shift = background.record.wall - record.wall
        from_, to = (
            float(record.run_time(background.record.elapsed(at) + shift)) for at in (from_, to)
        )
        if not (from_ >= -APART and to <= record.end + 1 and to <= record.first_end):
            return math.nan
        return steps.throughput(record, from_, to)

    @property
    def bound(self) -> float:
        seconds = self.record.counted_to - self.record.counted_from
        return steps.bound(self.record, self.throughput, seconds)

    @cached_property
    def iteration(self) -> dict[str, float]:
        """The lengths of the iterations that ended in the counted time: mean, deviation, median,
        p95, p99, in seconds."""
        record = self.record
        ended = record.iterations["end"].between(record.counted_from, record.counted_to)
        lengths = (record.iterations["end"] - record.iterations["start"])[ended].to_numpy()
        whole = statistics.mean_of(lengths, 0.95)
        figures = {"mean": whole.mean, "deviation": whole.deviation}
        times = record.iteration_times
        shares = {"median": 0.5, "p95": 0.95, "p99": 0.99}
        if times.count < len(lengths):
            return figures | {n: statistics.quantile(lengths, s) for n, s in shares.items()}
        # Buckets are complete, even if rows of iterations.csv are missing.
        if times.count > len(lengths):
            recorded = record.iteration_figure("mean")
            figures["mean"] = times.mean() if math.isnan(recorded) else recorded
            figures["deviation"] = record.iteration_figure("deviation")
        return figures | {name: times.quantile(share) for name, share in shares.items()}

    @cached_property
    def steps(self) -> pd.DataFrame:
        settings = self.settings
        return steps.find(self.record, settings.edge, settings.interval, settings.confidence)

    @cached_property
    def rates(self) -> pd.DataFrame:
        """Throughput in whole intervals: from, to, rate, length (mean of the iterations there)."""
        record = self.record
        iterations = record.iterations
        times = (record.counted_from, record.counted_to) if record.has_iterations else (0.0, 0.0)
        froms, tos = steps.intervals(*times, self.settings.interval)
        rate, length = steps.rates(iterations, froms, tos)
        return pd.DataFrame({"from": froms, "to": tos, "rate": rate, "length": length})

    def means(self, from_: float, to: float) -> dict[str, float]:
        """Return mean target, load and duty of the samples whose middle is between two times."""
        samples = self.record.read_samples
        middles = (samples["begin"] + samples["end"]) / 2
        first, last = np.searchsorted(middles, [from_, to])
        part = {name: samples[name][first:last] for name in ("target", "load", "duty")}
        part["duty"] = part["duty"][~np.isnan(part["duty"])]
        return {name: mean(values) for name, values in part.items()}

    @cached_property
    def pool(self) -> Pool:
        """The points of the line: steps if there are several, otherwise intervals. A step with
        target 0, in which no iteration can end, is left out without a note."""
        of_steps = len(self.steps) > 1
        if of_steps:
            loads, rates = self.steps["load"], self.steps["throughput"]
            exceeded = self.steps["is_exceeded"].astype(bool)
            noted = exceeded & (self.steps["target"] > 0)
        else:
            times = self.rates[["from", "to"]].to_numpy()
            loads = pd.Series([self.means(*at)["load"] for at in times], dtype=float)
            rates = self.rates["rate"]
            exceeded = noted = self.rates["length"] > self.settings.interval
        known = np.isfinite(loads.astype(float)) & np.isfinite(rates)
        used = known & ~exceeded
        return Pool(
            loads[used].to_numpy(float), rates[used].to_numpy(), of_steps, int((known & noted).sum())
        )

    # What other programs measured

    def find_surroundings(self) -> None:
        """Read measurements next to the record. Power is last, because the clock of a guest, which
        the host's samples come with, corrects `wall`."""
        self.surroundings = Surroundings.read(self.record, self.origin.measured_in != HOST)
        self.cpus = self._read_cpus()
        folder = self.record.folder
        if self.columns and self.beside.count == 0:
            self.beside = read_beside(self.record, f"{folder}/..")
        self.energy = self._read_seconds("energy.csv", read_power, "power is unknown")
        self.idle = self._read_seconds("idle.csv", read_idle, "idle states are unknown")

    def _read_cpus(self) -> pd.DataFrame:
        if not text.has_file(self.record.folder, "cpus.csv"):
            return pd.DataFrame()
        try:
            table = text.read_table(self.record.folder, "cpus.csv", None)
            if len(table.columns) < 3:  # time, elapsed_seconds, and one of each CPU
                raise UserError("cpus.csv has no column of a CPU")
        except UserError as error:
            self.notes.add(str(error))
            return pd.DataFrame()
        loads, valid = table.take(dict.fromkeys(table.columns[1:], MAYBE_NUMBER))
        table.refuse(valid)
        table.note(self.notes)
        return pd.DataFrame(loads)[valid].rename(columns={table.columns[1]: "elapsed"})

    def _read_seconds(
        self, name: str, read: Callable[..., pd.DataFrame], unknown: str
    ) -> pd.DataFrame:
        """Read a table in the record's folder or, for runs side by side and runs of a study, in
        its parent. Convert its times to the run's clock, and leave out pauses."""
        levels = 2 if self.origin.role or self.columns else 1
        folders = [self.record.folder + "/.." * up for up in range(levels)]
        folder = next((f for f in folders if text.has_file(f, name)), None)
        if folder is None:
            return pd.DataFrame({"at": np.empty(0)})
        if name == "energy.csv":
            self.shares_power = folder.endswith("/..") and self.origin.role not in ("", ALONE)
        try:
            frame = read(folder, self.notes)
        except UserError as error:
            self.notes.add(f"{unknown}: {error}")
            return pd.DataFrame({"at": np.empty(0)})
        if not self.record.events.pauses:
            return frame
        elapsed = frame["at"].to_numpy() - self.record.wall
        at = self.record.wall + self.record.run_time(elapsed)
        return frame.assign(at=at)[~self.record.is_paused(elapsed)].reset_index(drop=True)

    def power(self, from_: float, to: float) -> dict[str, float]:
        return power(self.energy, self.record.wall + from_, self.record.wall + to)


def power(samples: pd.DataFrame, from_: float, to: float) -> dict[str, float]:
    """Return the energy between two moments: seconds with a known power, `unknown` ones, watts,
    watt_hours, and the deviation of the samples."""
    if samples.empty:
        return dict.fromkeys(("seconds", "unknown", "watt_hours"), 0.0) | dict.fromkeys(
            ("watts", "deviation"), math.nan
        )
    part = between(samples, from_, to)
    known = part["watts"].notna()
    used = part[known]
    seconds = steps.total(used["seconds"].to_numpy())
    energy = steps.total((used["watts"] * used["seconds"]).to_numpy())
    watts = energy / seconds if seconds > 0 else math.nan
    squares = steps.total(((used["watts"] - watts) ** 2).to_numpy())
    return {
        "seconds": seconds,
        "unknown": steps.total(part["seconds"][~known].to_numpy()),
        "watt_hours": energy / 3600,
        "watts": watts,
        "deviation": math.sqrt(squares / (len(used) - 1)) if len(used) > 1 else math.nan,
    }


def idle_states(seconds: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the shares of each idle state, and the figures of the CPUs in these seconds.

    Seconds with more idle time weigh more in the share; one without it has no shares.
    """
    active, frequency = (
        statistics.mean_of(seconds[name].dropna()) for name in ("active", "frequency_mhz")
    )
    weight = 1 - seconds["active"]
    for name in seconds.columns[3:]:
        part = weight * seconds[name].where(weight > 0, 0)
        used = part.notna()
        idle, within = steps.total(weight[used].to_numpy()), steps.total(part[used].to_numpy())
        yield {
            "seconds": active.count,
            "frequency_mhz": frequency.mean,
            "active": active.mean,
            "active_deviation": active.deviation,
            "state": name,
            "share": within / idle if idle > 0 else math.nan,
            "share_deviation": statistics.mean_of(seconds[name].dropna()).deviation,
            "residency": within / used.sum() if used.any() else math.nan,
        }


def read_beside(record: Record, folder: str) -> Errors:
    """Return the load that ssload measured during a run, in the run's counted time; a sample
    without a target has the run's."""
    empty = np.empty(0)
    if not text.has_file(folder, "beside.csv"):
        return Errors.of(empty, empty)
    rules = {"time": MOMENT, "load": NUMBER, "target": MAYBE_NUMBER}
    try:
        columns = text.read_columns(folder, "beside.csv", rules, record.notes, ("target",))
    except UserError as error:
        record.notes.add(f"the load in beside.csv is unknown: {error}")
        return Errors.of(empty, empty)

    at, load, target = columns.values()
    ends = at - record.wall
    begins = np.append(math.nan, ends[:-1]) if len(ends) else ends
    used = (ends - begins <= LOST) & ~record.is_paused(ends) & ~record.is_paused(begins)
    begins, ends = record.run_time(begins), record.run_time(ends)
    last = record.samples["end"].to_numpy()
    at_sample = np.searchsorted(last, ends - LATE)
    targets = np.append(record.samples["target"].to_numpy(), math.nan)
    target = np.where(np.isnan(target), targets[at_sample], target)
    used &= (begins >= record.counted_from - LATE) & (ends <= record.counted_to + LATE)
    used &= ~np.isnan(target)
    return Errors.of(target[used], load[used])


# The files of Surroundings.
SURROUNDINGS = {
    "host-load.csv": {"time": MOMENT, "load": NUMBER},
    "guest-clock.csv": {
        "when": Rule(words=("start", "end")), "host_seconds": NUMBER, "guest_seconds": NUMBER
    },
    "guest-vcpus.csv": {"vcpu": MAYBE_NUMBER, "host_cpu_seconds": NUMBER, "wall_seconds": NUMBER},
}


@dataclass
class Surroundings:
    """Measurements during a run, kept next to its record."""

    host: pd.DataFrame  # at (seconds since 1970, by the host's clock), load
    clock: tuple[float, float] = (math.nan, math.nan)  # guest minus host at start and end, seconds
    vcpus: dict[str, float] = field(default_factory=dict)  # columns of the table of runs

    @staticmethod
    def read(record: Record, inside: bool) -> Surroundings:
        """Read host-load.csv, guest-clock.csv and guest-vcpus.csv in the folder of a record, or
        with its name in front next to it. Convert the start of a record that was made inside a
        guest to the host's clock."""
        found = Surroundings(pd.DataFrame({"at": np.empty(0), "load": np.empty(0)}))
        for name, rules in SURROUNDINGS.items():
            folder, path = record.folder, name
            if not text.has_file(folder, name):
                parent, _, own = folder.rpartition("/")
                folder, path = parent if "/" in record.folder else ".", f"{own}.{name}"
            try:
                if text.has_file(folder, path):
                    found._take(**text.read_columns(folder, path, rules, record.notes))
            except UserError as error:
                record.notes.add(str(error))
        if inside and math.isfinite(found.clock[0]):
            record.wall -= found.clock[0]
        return found

    def _take(self, **columns: np.ndarray) -> None:
        if "time" in columns:
            self.host = pd.DataFrame({"at": columns["time"], "load": columns["load"]})
        elif "when" in columns:
            ahead = columns["guest_seconds"] - columns["host_seconds"]
            last = dict(zip(columns["when"].tolist(), ahead.tolist()))
            self.clock = last.get("start", math.nan), last.get("end", math.nan)
        elif len(columns["vcpu"]):
            names = ("host_cpu_seconds", "wall_seconds")
            used, wall = (steps.total(columns[name]) for name in names)
            self.vcpus = {"vcpus": len(columns["vcpu"]), "vcpu_host_cpu_seconds": used}
            load = used / wall if wall else math.nan
            self.vcpus |= {"vcpu_wall_seconds": wall, "vcpu_load": load}

    def host_load(self, record: Record, from_: float, to: float) -> tuple[float, int]:
        """Return the mean load of the host between two times of the run, and its samples."""
        elapsed = self.host["at"].to_numpy() - record.wall
        at = record.run_time(elapsed)
        used = (at > from_ + LATE) & (at <= to + LATE) & ~record.is_paused(elapsed)
        return mean(self.host["load"].to_numpy()[used]), int(used.sum())


def place_of(path: str) -> tuple[int, int] | None:
    """Return where a record is, whatever its path: a link, or one that begins with `./`."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
