# SPDX-License-Identifier: Apache-2.0
"""A record of ssrequest: requests by second, their response times, and figures of the whole run.

Times are in seconds, moments in seconds since 1970. Unknown numbers are NaN, unknown texts ''.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from typing import Any, Callable

import numpy as np
import pandas as pd

from . import __version__, text
from .documents import check_schema
from .records import SILENCE_MAX, read_idle, read_power
from .runs import HOST, Origin
from .statistics import Histogram, Interval, Uncertainty, series_uncertainty
from .steps import total
from .text import (
    AMOUNT, COUNT, MAYBE_AMOUNT, MAYBE_NUMBER, MOMENT, NUMBER, WORD, Notes, Rule, Table,
    UserError, list_of, member, number_of, text_of,
)
from .verdicts import Verdict

TABLE, TIMES, DOCUMENT = "requests.csv", "response-times.csv", "requests.json"

# Response times count from when a request was due, or from when it was sent.
ORIGINS = ("intended", "actual")
FIGURES = ("mean", "p50", "p95", "p99", "most")
PERCENTILES = np.array([0.5, 0.95, 0.99])

LENGTH_MAX = 1.5  # if two rows are more seconds apart, a row is missing
ROUNDING = 1.002  # a percentile may exceed the maximum by this factor: it is rounded to a bucket
SAME_END = 1e-6  # of a second, which two files have with six decimals
LOST = 1 / 6  # part of a stretch that is left out at each end, at most LOST_MAX seconds
LOST_MAX = 30
DUTY_FULL = 0.995  # runs with at least this duty count as never stopped in comparisons

# Attributes by their names in requests.json.
TEXTS = ("version", "arrival", "balance", "when_full")
NUMBERS = {
    "timeout": "timeout_seconds",
    "begin": "begin_epoch_seconds",
    "ended": "end_epoch_seconds",
    "duration": "duration_seconds",
    "own_cpu": "own_cpu_seconds",
}
_SAME = "cap intended sent refused waiting unfinished succeeded failed bytes success_ratio "
NUMBERS |= {name: name for name in (_SAME + "throughput unfinished_most").split()}

SHORT = {"elapsed_seconds": "end", "lateness_most_seconds": "lateness_most"}
COUNTS = "due sent refused waiting unfinished completed failed timeouts bytes".split()
LIMITED = 5  # a load counts as out of reach after so many seconds
HELD = ("target", "load")  # only if the service was held at a load
COUNTED = "due sent refused completed failed timeouts".split()  # in a stretch
UNKNOWN = Uncertainty(math.nan, math.nan)


@dataclass(frozen=True)
class Response:
    """Response times of requests. Some percentiles are estimated from those of each second."""

    mean: float = math.nan
    p50: float = math.nan
    p95: float = math.nan
    p99: float = math.nan
    most: float = math.nan
    estimated: bool = field(default=False, kw_only=True)
    uncertainty: Uncertainty = field(default=UNKNOWN, kw_only=True)  # of the mean

    @staticmethod
    def of(figures: Any) -> Response:
        return Response(*(number_of(figures, f"{name}_seconds") for name in FIGURES))

    def interval(self, confidence: float) -> Interval:
        """Return the confidence interval of the mean, not below 0."""
        interval = self.uncertainty.interval(self.mean, confidence)
        return replace(interval, low=0.0) if interval.low < 0 else interval


# The highest rate at which a requirement on the response time holds: numbers of requests.json.
CAPACITY = (
    "held_rate",  # the highest rate at which it held
    "failed_rate",  # the lowest rate at which it did not
    "held_times",
    "failed_times",
)

# Figures of a service that was held at a load: numbers of requests.json.
HELD_FIGURES = (
    "cpus seconds target_mean load_mean error_mean_percent error_mse_e4 overshoot_percent "
    "settled_seconds cpu_seconds_per_request rate rate_low rate_high background_cpus "
    "limited_seconds"
).split()


class Responses:
    """A record of ssrequest.

    `seconds` has a row for each second: `at`, the moment of its end; begin and end since the run
    began; the rate (NaN in a closed loop); `target` and `load` of a service that was held at a
    load; numbers of requests; response times of successes, as `intended_p95`; `has_buckets`,
    whether `buckets` has all of them. `loads` is what ssload
    measured, `power` and `idle` what showstopper-platform recorded at the same time.

    Other attributes are figures of the whole run, and what a plan says, such as `workload`.
    """

    verdict: Verdict
    cap: float
    balance: str  # how requests are distributed among several targets

    def __init__(self, path: str, name: str = "") -> None:
        self.path = path
        self.name = self.title = name or path
        self.notes = Notes()
        self.document: Any = None  # requests.json
        self.load = ""  # at which the service was held, or the trace of loads; '' if it was not
        self.held: dict[str, float] = {}
        self.seconds = pd.DataFrame()
        self.buckets = pd.DataFrame()
        self.loads = pd.DataFrame(columns=["at", "load", "cpu"], dtype=float)
        self.power = pd.DataFrame()
        self.idle = pd.DataFrame()
        self.origin = Origin()
        self.columns: dict[str, str] = {}  # of the plan
        self.set = 0
        self.manifest = 0  # number of the study or manifest, from 1; 0 without one
        self.place: Any = None
        self.edge = -1.0  # seconds to leave out at both ends of a stretch; below 0: by its length
        self.variant = ""
        self.knobs = ""  # levels of knobs, such as "instances=2+pin=free"
        # Records with knobs differ in cap or balance, which then is part of names of series.
        self.caps_differ = self.balances_differ = False

    @staticmethod
    def read(path: str, name: str = "") -> Responses:
        """Read a record, or a file of ssrequest --json, which has no seconds."""
        responses = Responses(path, name or path)
        responses._read()
        responses._read_beside()
        return responses

    def __getattr__(self, name: str) -> Any:
        """Return what the plan says, such as `workload`."""
        if name.startswith("_") or name == "origin":
            raise AttributeError(name)
        return getattr(self.origin, name)

    def take_origin(self, origin: Origin, columns: dict[str, str]) -> None:
        """Take what a plan says about the record. Knobs, cap and balance separate series."""
        self.origin = origin
        self.columns = columns
        self.knobs = columns.get("knobs", "")
        cap = text.share(columns.get("cap", ""))
        self.cap = self.cap if math.isnan(cap) else cap
        self.balance = columns.get("balance", "") or self.balance

    @property
    def environment_name(self) -> str:
        return HOST if self.environment in ("", "none") else str(self.environment)

    @property
    def level_key(self) -> tuple[Any, ...]:
        """What separates the series of a service."""
        numbers = (self.cap, self.target, self.tau_seconds)
        # A manifest cannot express smaller differences.
        rounded = (-math.inf if math.isnan(value) else round(value, 9) for value in numbers)
        return (self.knobs, self.balance, self.method, *rounded)

    @property
    def service_key(self) -> tuple[Any, ...]:
        """What separates services, apart from arrivals. Without a workload, each record of a
        manifest is a service."""
        service = (self.set, self.manifest, self.workload, self.variant, self.environment)
        unnamed = self.path if self.manifest and not self.workload else ""
        return (*service, self.closed, unnamed)

    @property
    def series_key(self) -> tuple[Any, ...]:
        return (self.service_key, self.arrival, self.level_key)

    @property
    def has_results(self) -> bool:
        return self.succeeded > 0 or bool(self.demand)

    # Reading

    def _read(self) -> None:
        is_file = os.path.isfile(self.path)
        why_no_document = self._read_document()
        why_no_table = "" if is_file else self._read_table()
        self._read_buckets()
        if self.interrupted and not len(self.seconds):
            raise UserError(why_no_table or f"{TABLE} has no rows")
        if self.interrupted:
            self.notes.add(f"the run was interrupted: {why_no_document}")
        # A search for a capacity records no seconds.
        if why_no_table and not self.demand:
            self.notes.add(why_no_table)
        if self.interrupted:
            self._sum_up()
        sent = total(self.seconds["sent"].to_numpy()) if len(self.seconds) else self.sent
        # Only a part of the time counts if the service is held at a load.
        if sent != self.sent and not (math.isnan(self.sent) or self.is_held):
            self.notes.add(
                f"the summary counts {self.sent:.0f} sent requests, but the seconds add up to "
                f"{sent:.0f}"
            )

    def _read_document(self) -> str:
        """Read requests.json. Return why it cannot be read."""
        is_file, why = os.path.isfile(self.path), ""
        folder, name = os.path.split(self.path) if is_file else (self.path, DOCUMENT)
        try:
            self.document = text.read_json(folder or ".", name)
        except UserError as error:
            why = str(error)
        check_schema(self.document)
        self.interrupted = self.document is None
        self._take_document(self.document)
        known = is_file or text.has_file(self.path, DOCUMENT)
        is_damaged = known and math.isnan(self.succeeded) and not self.demand
        self.verdict = Verdict.of(self.document)
        if is_damaged and not self.verdict.recorded:
            damaged = "the file is damaged" if is_file else f"{DOCUMENT} is damaged"
            self.verdict = Verdict(reasons=damaged)
        return why

    def _take_document(self, document: Any) -> None:
        for name in TEXTS:
            setattr(self, name, text_of(document, name))
        for name, recorded_as in NUMBERS.items():
            setattr(self, name, number_of(document, recorded_as))
        profile, lateness, response, causes = (
            member(document, name, dict) for name in ("profile", "lateness", "response", "causes")
        )
        self.profile = text_of(profile, "kind")
        held = member(document, "held", dict)  # a service whose load was held by the rate
        self.is_at_load = bool(text_of(held, "load"))  # one load, not a trace
        limited = number_of(held, "limited_seconds")  # up to the end
        self.is_out_of_reach = self.is_at_load and limited > LIMITED
        self.load = text_of(held, "load") or text_of(held, "trace")
        self.held = {name: number_of(held, name) for name in HELD_FIGURES} if held else {}
        self.profile = "load" if held else self.profile
        self.rate = number_of(profile or held, "rate")  # of a constant profile, or at the load
        self.profile_length = number_of(profile, "length_seconds")  # the last requests end later
        words = list_of(document, "targets")
        self.targets = " ".join(word if isinstance(word, str) else "?" for word in words)
        self.closed = text_of(document, "loop") == "closed"
        counts = {name: number_of(causes, name) for name in causes or ()}
        self.timeouts = math.nan if causes is None else max(0.0, counts.get("timeout", 0.0))
        self.causes = ", ".join(f"{name} {n:.0f}" for name, n in counts.items() if n > 0)
        self.lateness_p99 = number_of(lateness, "p99_seconds")
        self.lateness_most = number_of(lateness, "most_seconds")
        self.successes, self.all = (
            tuple(Response.of(member(member(response, of, dict), name, dict)) for name in ORIGINS)
            for of in ("successes", "all")
        )
        found = member(document, "capacity", dict)
        self.demand = text_of(found, "demand")  # such as "p95=2s"; '' without a search
        self.capacity = {name: number_of(found, name) for name in CAPACITY}
        # The generator failed at `failed_rate`, or times at `held_rate` were not stationary.
        self.is_lower_bound = bool(member(found, "lower_bound", bool))
        self.is_upper_bound = bool(member(found, "upper_bound", bool))
        if self.version and self.version != __version__:
            recorded = text.show(self.version)
            self.notes.add(f"recorded by version {recorded}, but this is {__version__}")

    def _read_table(self) -> str:
        """Read requests.csv. Return why it cannot be read."""
        times = [f"{origin}_{name}_seconds" for origin in ORIGINS for name in FIGURES]
        names = ["epoch_seconds", "elapsed_seconds", "rate", *COUNTS, "lateness_most_seconds"]
        try:
            table = text.read_table(self.path, TABLE, [*names, *times, *HELD], HELD)
        except UserError as error:
            return str(error)
        frame, why = _read_seconds(table)
        table.refuse(np.array([row not in why for row in range(len(table))], dtype=bool), why)
        table.note(self.notes)
        self.seconds = frame.drop(index=list(why)).reset_index(drop=True)
        return ""

    def _read_buckets(self) -> None:
        """Read response-times.csv. Rows whose second is not in requests.csv are ignored: those of
        the whole run, and of the last second of a killed run."""
        self.seconds["has_buckets"] = False
        if not text.has_file(self.path, TIMES):
            return
        rules = {"elapsed_seconds": MAYBE_NUMBER, "bucket_seconds": AMOUNT}
        rules |= dict.fromkeys(ORIGINS, Rule(0, 2.0**64, whole=True))
        try:
            columns = text.read_columns(self.path, TIMES, rules, self.notes)
        except UserError as error:
            self.notes.add(str(error))
            return
        end, bucket, *counts = columns.values()
        ends = self.seconds["end"].to_numpy() if len(self.seconds) else np.empty(0)
        rows = np.flatnonzero(~np.isnan(end))
        at = np.searchsorted(ends, end[rows] - SAME_END)
        is_second = (at < len(ends)) & (at == np.maximum.accumulate(at))
        is_second[is_second] = ends[at[is_second]] <= end[rows][is_second] + SAME_END
        rows, at = rows[is_second], at[is_second]
        self.buckets = pd.DataFrame(
            {"second": at, "bucket": bucket[rows]}
            | {name: values[rows] for name, values in zip(ORIGINS, counts)}
        )
        sums = self.buckets.groupby("second", sort=True, dropna=False)[list(ORIGINS)].sum()
        sums = sums.reindex(self.seconds.index)
        complete = sums.eq(self.seconds.get("completed", math.nan), axis=0)
        self.seconds["has_buckets"] = complete.all(axis=1)

    def _sum_up(self) -> None:
        """Set the figures that an interrupted record lacks."""
        seconds = self.seconds
        last = seconds.iloc[-1]
        sums = {name: total(seconds[name].to_numpy()) for name in COUNTS}
        self.intended, self.succeeded = sums["due"], sums["completed"]
        for name in ("sent", "refused", "failed", "timeouts"):
            setattr(self, name, sums[name])
        self.waiting, self.unfinished = float(last["waiting"]), float(last["unfinished"])
        self.lateness_most = float(seconds["lateness_most"].max())
        self.success_ratio = divide(self.succeeded, self.intended)
        self.begin, self.ended = float(last["at"] - last["end"]), float(last["at"])
        self.duration = float(last["end"])
        self.throughput = self.succeeded / self.duration
        self.successes = self.response(seconds)

    def _read_beside(self) -> None:
        """Read power, idle states and load, in the record's folder or its parent, if recorded."""
        readers: tuple[tuple[str, str, Callable[[str, Notes], pd.DataFrame], str], ...] = (
            ("loads", "beside.csv", _read_loads, "the load in beside.csv is unknown"),
            ("power", "energy.csv", read_power, "power is unknown"),
            ("idle", "idle.csv", read_idle, "idle states are unknown"),
        )
        for attribute, name, read, words in readers:
            folders = (self.path, f"{self.path}/..")
            folder = next((one for one in folders if text.has_file(one, name)), "")
            try:
                if folder:
                    setattr(self, attribute, read(folder, self.notes))
            except UserError as error:
                self.notes.add(f"{words}: {error}")

    # Figures

    @property
    def is_held(self) -> bool:
        """Whether the service was held at loads by the rate."""
        return bool(len(self.seconds) and self.seconds["target"].notna().any())

    def response(self, seconds: pd.DataFrame) -> tuple[Response, ...]:
        """Return the response times of several rows of `seconds`, by origin.

        Percentiles come from the sum of the buckets. If a second lacks them, percentiles are
        estimated as if times between two known percentiles of a second were evenly spread.
        """
        return tuple(self._response(seconds, name) for name in ORIGINS)

    def _response(self, seconds: pd.DataFrame, origin: str) -> Response:
        columns = [f"{origin}_{name}" for name in FIGURES]
        figures = seconds[columns].to_numpy(dtype=float)
        weights = np.where(np.isfinite(figures).all(axis=1), seconds["completed"], 0.0)
        used = weights > 0
        if len(seconds) == 1 and used[0]:
            return Response(*map(float, figures[0]))
        if not used.any():
            return Response()
        figures, weights = figures[used], weights[used]
        most = float(figures[:, -1].max())
        mean = total(weights * figures[:, 0]) / total(weights)
        uncertainty = series_uncertainty(figures[:, 0], mean, weights)
        estimated = bool((~seconds["has_buckets"] & (seconds["completed"] > 0)).any())
        if estimated:
            percentiles = _estimate(figures, weights, PERCENTILES).tolist()
        else:
            merged = self._histogram(seconds.index, origin)
            merged.set_most(most)
            percentiles = [min(merged.quantile(share), most) for share in PERCENTILES]
        figures_of_all = (mean, *percentiles, most)
        return Response(*figures_of_all, estimated=estimated, uncertainty=uncertainty)

    def _histogram(self, seconds: pd.Index, origin: str) -> Histogram:
        first, last = np.searchsorted(self.buckets["second"], (seconds[0], seconds[-1] + 1))
        part = self.buckets.iloc[first:last]
        part = part[self.seconds["has_buckets"].to_numpy()[part["second"]]]
        return Histogram(part["bucket"], part[origin])

    def stretches(self, edge: float) -> list[dict[str, Any]]:
        """Return the stretches of the profile: successive seconds with one requested rate or, of
        a service that is held at loads, with one target, once requests count.

        `counted` are the seconds that count, without `edge` seconds at both ends of the stretch;
        `from` and `to` their moments, followed by their numbers of requests. Seconds after the end
        of the profile belong to no stretch: their rate of 0 was not requested, and the service may
        still be busy.
        """
        seconds = self.seconds
        if not len(seconds):
            return []
        if self.profile_length > 0:
            seconds = seconds[seconds["begin"] <= self.profile_length - 1e-6]
        if self.is_held:
            counting = np.fmax(self.ended - self.begin - self.duration, 0) - 1e-6
            seconds = seconds[seconds["target"].notna() & ~(seconds["begin"] < counting)]
        rate = seconds["target" if self.is_held else "rate"]
        before = rate.shift()
        is_same = (rate.isna() & before.isna()) | ((rate - before).abs() <= 1e-6 * before.abs())
        parts = seconds.groupby((~is_same).cumsum(), sort=False, dropna=False)
        return [_stretch(part, edge) for _, part in parts]


def _stretch(seconds: pd.DataFrame, edge: float) -> dict[str, Any]:
    length = edge if edge >= 0 else min(len(seconds) * LOST, LOST_MAX)
    lost = int(min(math.floor(length + 1e-9), len(seconds)))
    # The edges of a short step would be half of it or more.
    lost = lost if 2 * lost < len(seconds) else 0
    counted = seconds.iloc[lost : len(seconds) - lost]
    held = counted["target"].notna().all()
    from_, to = counted["at"].iloc[0] - (counted["end"] - counted["begin"]).iloc[0], counted["at"]
    return {
        "counted": counted,
        "begin_seconds": seconds["begin"].iloc[0],
        "end_seconds": seconds["end"].iloc[-1],
        "from": from_,
        "to": to.iloc[-1],
        "seconds": to.iloc[-1] - from_,
        "rate": counted["rate"].mean() if held else seconds["rate"].iloc[0],
        "target": counted["target"].mean(),
        **{name: total(counted[name].to_numpy()) for name in COUNTED},
        "lateness_most_seconds": np.fmax.reduce(counted["lateness_most"], initial=0),
    }


def added_by_stops(duty: float, tau: float, work: float) -> float:
    """Return what stops add to the mean response time if requests are few and each takes `work`.

    `tau` is the time from one stop to the next. See showstopper-requests(7), "Requests with work".
    """
    turns = max(math.ceil(work / (duty * tau)), 1)
    return (1 - duty) ** 2 * tau * (turns - 0.5) + (1 - duty) * work


def divide(numerator: float, denominator: float) -> float:
    """Return a ratio; NaN or infinite, like a floating-point unit, if the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.float64(numerator) / np.float64(denominator))


def _read_seconds(table: Table) -> tuple[pd.DataFrame, dict[int, str]]:
    """Return the seconds of requests.csv, and why rows are invalid."""
    valid = np.ones(len(table), dtype=bool)
    why: dict[int, str] = {}

    def take(reason: str, rule: Rule, *names: str) -> dict[str, np.ndarray]:
        values = {name: rule.read(table, name, valid) for name in names}
        blame(reason)
        return values

    def blame(reason: str) -> None:
        why.update((row, reason) for row in np.flatnonzero(~valid).tolist() if row not in why)

    at = MAYBE_NUMBER.read(table, "epoch_seconds", valid)
    frame = pd.DataFrame({"at": at, "begin": 0.0} | take("invalid time", NUMBER, "elapsed_seconds"))
    more = take("invalid rate", MAYBE_AMOUNT, "rate")
    more |= take("invalid load", MAYBE_NUMBER, *HELD)
    more |= take("invalid lateness", MAYBE_AMOUNT, "lateness_most_seconds")
    more |= take("invalid number of requests", COUNT, *COUNTS)
    frame = frame.assign(**more).rename(columns=SHORT)
    for origin in ORIGINS:
        names = [f"{origin}_{name}_seconds" for name in FIGURES]
        mean, p50, p95, p99, most = take("invalid response times", MAYBE_AMOUNT, *names).values()
        valid &= ~((p50 > p95) | (p95 > p99))
        valid &= ~((p99 > ROUNDING * most) | (mean > ROUNDING * most))
        for name, values in zip(FIGURES, (mean, p50, p95, p99, most)):
            frame[f"{origin}_{name}"] = np.where(values > most, most, values)
    blame("invalid response times")
    frame["begin"] = _follow(frame, why)
    return frame, why


def _follow(frame: pd.DataFrame, why: dict[int, str]) -> list[float]:
    """Return when seconds begin. Refuses rows whose time does not advance, or whose numbers of
    requests do not agree with the previous row."""
    names = ["end", *COUNTS[:-2]]
    begins = [0.0] * len(frame)
    last, waited, open_, refused_end = 0.0, 0.0, 0.0, 0.0
    for row, values in enumerate(zip(*(frame[name].tolist() for name in names))):
        if row in why:
            continue
        end, due, sent, refused, waiting, unfinished, completed, failed = values
        begin = last
        if end > last and end - last > SILENCE_MAX:
            # The next row may confirm the time: then there was a real gap.
            begin, refused_end = refused_end, end
            if not (last < begin < end and end - begin <= SILENCE_MAX):
                begin = math.inf
        if not begin < end:
            why[row] = "the time does not advance"
            continue
        adds_up = waiting == waited + due - sent - refused
        adds_up &= unfinished == open_ + sent - completed - failed
        if end - last <= LENGTH_MAX and not adds_up:
            why[row] = "the numbers of requests do not add up"
            continue
        begins[row] = begin if end - begin <= LENGTH_MAX else end - 1
        last, waited, open_ = end, waiting, unfinished
    return begins


def _read_loads(folder: str, notes: Notes) -> pd.DataFrame:
    """Read beside.csv, which ssload writes: at, load, cpu (NaN: all measured CPUs)."""
    rules = {"time": MOMENT, "load": NUMBER, "cpu": WORD}
    frame = pd.DataFrame(text.read_columns(folder, "beside.csv", rules, notes, ("cpu",)))
    frame["cpu"] = text.numbers(frame["cpu"].tolist())[0]
    frame = frame.rename(columns={"time": "at"})
    return frame.sort_values("at", kind="stable", ignore_index=True)


def _estimate(figures: np.ndarray, weights: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Estimate percentiles from those of each second, by bisection."""
    shares = np.array([0, 0.5, 0.95, 0.99, 1, 1])
    knots = np.column_stack([np.zeros(len(figures)), figures[:, 1:], np.full(len(figures), np.inf)])
    rows = np.arange(len(knots))[:, None]
    low, high = np.zeros(len(wanted)), np.full(len(wanted), figures[:, -1].max())
    for _ in range(60):
        middle = (low + high) / 2
        at = (knots[:, :5, None] <= middle).sum(axis=1)
        before, after = knots[rows, at - 1], knots[rows, at]
        part = (middle - before) / (after - before)
        within = shares[at - 1] + (shares[at] - shares[at - 1]) * part
        enough = weights @ within >= wanted * total(weights)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high
