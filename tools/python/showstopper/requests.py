# SPDX-License-Identifier: Apache-2.0
"""A record of ssrequest, or a file of its --json: requests by second, and figures of the whole run.

Moments, in columns named `at`, are in seconds since 1970; other times begin with the run.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from . import __version__, verdicts
from .contents import has_file, list_of, member, number_of, read_json, text_of
from .frames import advances, is_ahead, moments, read_optional, read_table
from .inputs import Described, Source
from .records import read_idle, read_loads, read_power
from .stats import Array, Histogram, series_uncertainty
from .text import UserError, show

TABLE, TIMES, DOCUMENT = "requests.csv", "response-times.csv", "requests.json"

ORIGINS = ("intended", "actual")  # response times count from when a request was due, or was sent
FIGURES = ("mean", "p50", "p95", "p99", "most")
RESPONSES = [f"{origin}_{figure}_seconds" for origin in ORIGINS for figure in FIGURES]
PERCENTILES = np.array([0.5, 0.95, 0.99])

COUNTS = "due sent refused waiting unfinished completed failed timeouts bytes".split()
COUNTED = "due sent refused completed failed timeouts".split()  # in a stretch
HELD = ("target", "load")  # only if the service was held at a load

LENGTH_MAX = 1.5  # if two rows are more seconds apart, a row is missing
ROUNDING = 1.002  # a percentile may exceed the maximum by this factor: it is rounded to a bucket
SAME_END = 1e-6  # tolerance for the end of a second, which two files have with six decimals
EDGE_PART = 1 / 6  # part of a stretch that is left out at each end, at most EDGE_MAX seconds
EDGE_MAX = 30
LIMITED_MAX = 5  # a load counts as out of reach after this many seconds

# Members of the document
TEXTS = ("version", "arrival", "balance", "when_full")
NUMBERS = (
    "timeout_seconds begin_epoch_seconds end_epoch_seconds duration_seconds own_cpu_seconds cap "
    "intended sent refused waiting unfinished succeeded failed bytes success_ratio throughput "
    "unfinished_most"
).split()
CAPACITY = "held_rate failed_rate held_times failed_times".split()


class Requests(Described):
    """A record of requests, read lazily.

    document, verdict, notes
    figures   numbers and texts of the whole run; those of a killed run are sums of its seconds
    seconds   a row for each second: at (its end), begin, end, the rate (NaN in a closed loop),
              numbers of requests, response times of successes; target and load if it was held
    buckets   response times of each second: second (a row of seconds), bucket, intended, actual
    loads, power, idle        what ssload and showstopper-platform recorded at the same time
    label(name), number(name), others        what a plan or a manifest says
    """

    def __init__(self, path: str, name: str = "", source: Source | None = None) -> None:
        self.path = path
        self.name = self.title = name or path
        self.source = source or Source(path, kind="requests")
        self.notes: list[str] = []
        self.verdict = verdicts.of_requests(path)
        self.document = self._read_document()
        wrote = text_of(self.document, "version")
        if wrote and wrote != __version__:
            self.notes.append(f"recorded by version {show(wrote)}, but this is {__version__}")

    def _read_document(self) -> Any:
        is_file = os.path.isfile(self.path)
        folder, name = os.path.split(self.path) if is_file else (self.path, DOCUMENT)
        try:
            return read_json(folder or ".", name)
        except UserError as error:
            if is_file or not has_file(self.path, TABLE):
                raise
            is_missing = not has_file(self.path, DOCUMENT)
            why = f"the run was interrupted: the record has no {DOCUMENT}"
            self.notes.append(why if is_missing else str(error))
            return None

    def read(self) -> None:
        """Read all tables, so that the notes are complete. Raises UserError."""
        sent = self.figures["sent"]
        counted = self.seconds["sent"].sum() if len(self.seconds) else sent
        # Only a part of the time counts if the service is held at a load.
        if counted != sent and not (math.isnan(sent) or self.is_held):
            self.notes.append(
                f"the summary counts {sent:.0f} sent requests, but the seconds add up to "
                f"{counted:.0f}"
            )
        for table in ("loads", "power", "idle"):
            getattr(self, table)

    @property
    def others(self) -> float:
        return self.source.number("others")

    @property
    def has_results(self) -> bool:
        return bool(self.figures["succeeded"] > 0 or self.figures["demand"])

    @property
    def is_held(self) -> bool:
        """Whether the service was held at loads by the rate."""
        return bool(self.seconds["target"].notna().any())

    # Figures of the whole run

    @cached_property
    def figures(self) -> dict[str, Any]:
        document = self.document
        response = member(document, "response", dict)
        figures: dict[str, Any] = {name: text_of(document, name) for name in TEXTS}
        figures |= {name: number_of(document, name) for name in NUMBERS}
        figures |= _of_profile(document) | _of_causes(document) | {"estimated": False}
        figures |= _of_response(member(response, "successes", dict))
        all_ = _of_response(member(response, "all", dict))
        figures |= {f"all_{name}": value for name, value in all_.items()}
        return figures | (self._sum_up() if document is None else {})

    def _sum_up(self) -> dict[str, Any]:
        """Return figures that the document of a killed run would have."""
        sums, last = self.seconds[COUNTS].sum().to_dict(), self.seconds.iloc[-1]
        return {
            "intended": sums["due"],
            "succeeded": sums["completed"],
            **{name: sums[name] for name in ("sent", "refused", "failed", "timeouts")},
            **{name: last[name] for name in ("waiting", "unfinished")},
            "lateness_most_seconds": self.seconds["lateness_most_seconds"].max(),
            "success_ratio": sums["completed"] / sums["due"] if sums["due"] else math.nan,
            "begin_epoch_seconds": last["at"] - last["end"],
            "end_epoch_seconds": last["at"],
            "duration_seconds": last["end"],
            "throughput": sums["completed"] / last["end"],
        } | self.response(self.seconds)

    # Tables

    @cached_property
    def seconds(self) -> pd.DataFrame:
        times = ("epoch_seconds", "elapsed_seconds", "rate")
        names = (*times, *COUNTS, "lateness_most_seconds", *RESPONSES)
        rows = pd.DataFrame(columns=[*names, *HELD], dtype=float)
        if not os.path.isfile(self.path):
            try:
                rows = read_table(self.path, TABLE, self.notes, names, HELD, _valid)
            except UserError as error:
                if self.document is None:
                    raise
                # A search for a capacity records no seconds.
                if not text_of(member(self.document, "capacity", dict), "demand"):
                    self.notes.append(str(error))
        if self.document is None and rows.empty:
            raise UserError(f"{TABLE} has no rows")
        rows = rows.rename(columns={"epoch_seconds": "at", "elapsed_seconds": "end"}).astype(float)
        begin = rows["end"].shift(fill_value=0.0)
        rows["begin"] = begin.where(rows["end"] - begin <= LENGTH_MAX, rows["end"] - 1)
        for name in RESPONSES:
            most = rows[f"{name.partition('_')[0]}_most_seconds"]
            rows[name] = rows[name].mask(rows[name] > most, most)
        return rows

    @cached_property
    def buckets(self) -> pd.DataFrame:
        """Leaves out rows whose second is not in requests.csv: those of the whole run, and of the
        last second of a killed run."""

        def valid(rows: pd.DataFrame) -> pd.Series:
            counts = rows[[*ORIGINS]]
            return rows["bucket_seconds"].ge(0) & (counts.ge(0) & counts.mod(1).eq(0)).all(axis=1)

        names = ("elapsed_seconds", "bucket_seconds", *ORIGINS)
        rows = read_optional(self.path, TIMES, self.notes, names, (), valid)
        rows = rows.dropna(subset=["elapsed_seconds"])
        end, ends = rows["elapsed_seconds"].to_numpy(), self.seconds["end"].to_numpy()
        second = np.searchsorted(ends, end - SAME_END)
        found = np.append(ends, math.inf)[second] <= end + SAME_END
        found &= second == np.maximum.accumulate(second)
        rows = rows.rename(columns={"bucket_seconds": "bucket"}).assign(second=second)
        return rows.loc[found, ["second", "bucket", *ORIGINS]].reset_index(drop=True)

    @cached_property
    def has_buckets(self) -> pd.Series:
        """Whether the buckets of a second have all of its response times."""
        by_second = self.buckets.groupby("second", sort=True, dropna=False)
        sums = by_second[[*ORIGINS]].sum().reindex(self.seconds.index)
        return sums.eq(self.seconds["completed"], axis=0).all(axis=1)

    def _find(self, name: str) -> str:
        """Return the folder of a table: that of the record or its parent; '' if there is none."""
        folders = (self.path, f"{self.path}/..")
        return next((folder for folder in folders if has_file(folder, name)), "")

    @cached_property
    def loads(self) -> pd.DataFrame:
        """What ssload measured: at, load, and cpu, NaN for all measured CPUs together."""
        rows = read_loads(self._find("beside.csv"), self.notes, "cpu")
        cpu = pd.to_numeric(rows["cpu"], errors="coerce").astype(float)
        rows = pd.DataFrame({"at": moments(rows["time"]), "load": rows["load"], "cpu": cpu})
        return rows.sort_values("at", kind="stable", ignore_index=True)

    @cached_property
    def power(self) -> pd.DataFrame:
        return read_power(self._find("energy.csv"), self.notes)

    @cached_property
    def idle(self) -> pd.DataFrame:
        return read_idle(self._find("idle.csv"), self.notes)

    # Response times

    def response(self, seconds: pd.DataFrame) -> dict[str, Any]:
        """Return the response times in several rows of `seconds`, the standard error of the
        intended mean with its degrees of freedom, and whether percentiles are estimated.

        Percentiles come from the sum of the buckets. If a second lacks them, percentiles are
        estimated as if times between two known percentiles of a second were evenly spread.
        """
        found = dict.fromkeys(RESPONSES, math.nan)
        found |= {"error": math.nan, "freedom": math.nan, "estimated": False}
        for origin in reversed(ORIGINS):  # intended times last: `found` keeps their error
            names = [f"{origin}_{figure}_seconds" for figure in FIGURES]
            used = seconds[seconds["completed"].gt(0) & seconds[names].notna().all(axis=1)]
            values, weights = used[names].to_numpy(), used["completed"].to_numpy()
            if len(seconds) == 1 and len(used):
                found |= dict(zip(names, values[0].tolist()))
            elif len(used):
                mean, most = float(weights @ values[:, 0] / weights.sum()), values[:, -1].max()
                found |= vars(series_uncertainty(values[:, 0], mean, weights))
                has_buckets = self.has_buckets[seconds.index] | seconds["completed"].eq(0)
                found["estimated"] = not has_buckets.all()
                if found["estimated"]:
                    percentiles = _estimate(values, weights).tolist()
                else:
                    percentiles = self._count(seconds.index, origin, most)
                found |= dict(zip(names, (mean, *percentiles, float(most))))
        return found

    def _count(self, seconds: pd.Index, origin: str, most: float) -> list[float]:
        """Return the percentiles of the buckets of seconds."""
        first, last = np.searchsorted(self.buckets["second"], [seconds[0], seconds[-1] + 1])
        part = self.buckets.iloc[first:last]
        part = part[self.has_buckets.to_numpy()[part["second"].astype(int)]]
        merged = Histogram(part["bucket"], part[origin])
        merged.set_most(most)
        return [min(merged.quantile(share), float(most)) for share in PERCENTILES]

    # Stretches

    def stretches(self, edge: float) -> Iterator[dict[str, Any]]:
        """Yield the stretches of the profile: successive seconds with one requested rate or, of a
        service that is held at loads, with one target, once requests count.

        `counted` are the seconds that count, without `edge` seconds at both ends of the stretch (a
        sixth of it if that is negative); `from` and `to` their moments. Seconds after the end of
        the profile belong to no stretch: their rate of 0 was not requested, and the service may
        still be busy.
        """
        seconds, figures = self.seconds, self.figures
        if figures["profile_length"] > 0:
            seconds = seconds[seconds["begin"] <= figures["profile_length"] - SAME_END]
        if self.is_held:
            whole = figures["end_epoch_seconds"] - figures["begin_epoch_seconds"]
            counting = np.fmax(whole - figures["duration_seconds"], 0) - SAME_END
            seconds = seconds[seconds["target"].notna() & ~(seconds["begin"] < counting)]
        rate = seconds["target" if self.is_held else "rate"]
        before = rate.shift()
        is_same = (rate.isna() & before.isna()) | ((rate - before).abs() <= 1e-6 * before.abs())
        for _, part in seconds.groupby((~is_same).cumsum(), sort=False, dropna=False):
            yield _stretch(part, edge)


def _stretch(seconds: pd.DataFrame, edge: float) -> dict[str, Any]:
    length = edge if edge >= 0 else min(len(seconds) * EDGE_PART, EDGE_MAX)
    lost = math.floor(min(length + 1e-9, len(seconds)))
    # Count all of a short step: its edges would be half of it or more.
    lost = lost if 2 * lost < len(seconds) else 0
    counted = seconds.iloc[lost : len(seconds) - lost]
    first, to = counted.iloc[0], counted["at"].iloc[-1]
    is_held = counted["target"].notna().all()
    return {
        "counted": counted,
        "begin_seconds": seconds["begin"].iloc[0],
        "end_seconds": seconds["end"].iloc[-1],
        "from": first["at"] - (first["end"] - first["begin"]),
        "to": to,
        "seconds": to - (first["at"] - (first["end"] - first["begin"])),
        "rate": counted["rate"].mean() if is_held else seconds["rate"].iloc[0],
        "target": counted["target"].mean(),
        **counted[COUNTED].sum().to_dict(),
        "lateness_most_seconds": np.fmax(counted["lateness_most_seconds"].max(), 0),
    }


def _of_profile(document: Any) -> dict[str, Any]:
    """Return what was requested: rates, a load, or a search for a capacity."""
    profile, held = (member(document, name, dict) or {} for name in ("profile", "held"))
    found = member(document, "capacity", dict)
    words = list_of(document, "targets")
    is_at_load = bool(text_of(held, "load"))  # one load, not a trace
    return {
        "profile": "load" if held else text_of(profile, "kind"),
        "rate": number_of(profile or held, "rate"),  # of a constant profile, or at the load
        "profile_length": number_of(profile, "length_seconds"),  # the last requests end later
        "targets": " ".join(word if isinstance(word, str) else "?" for word in words),
        "loop": "closed" if text_of(document, "loop") == "closed" else "open",
        "is_at_load": is_at_load,
        "is_out_of_reach": is_at_load and number_of(held, "limited_seconds") > LIMITED_MAX,
        "held_load": text_of(held, "load") or text_of(held, "trace"),  # '' if it was not held
        "demand": text_of(found, "demand"),  # such as "p95=2s"; '' without a search
        **{name: number_of(found, name) for name in CAPACITY},
        # The generator failed at `failed_rate`, or times at `held_rate` were not stationary.
        "is_lower_bound": bool(member(found, "lower_bound", bool)),
        "is_upper_bound": bool(member(found, "upper_bound", bool)),
    }


def _of_causes(document: Any) -> dict[str, Any]:
    causes, lateness = (member(document, name, dict) for name in ("causes", "lateness"))
    counts = {name: number_of(causes, name) for name in causes or ()}
    timeouts = math.nan if causes is None else max(0.0, counts.get("timeout", 0.0))
    return {
        "timeouts": timeouts,
        "causes": ", ".join(f"{name} {count:.0f}" for name, count in counts.items() if count > 0),
        "lateness_p99_seconds": number_of(lateness, "p99_seconds"),
        "lateness_most_seconds": number_of(lateness, "most_seconds"),
    }


def _of_response(response: Any) -> dict[str, float]:
    return {
        f"{origin}_{figure}_seconds": number_of(member(response, origin, dict), f"{figure}_seconds")
        for origin in ORIGINS
        for figure in FIGURES
    }


def _valid(rows: pd.DataFrame) -> pd.Series:
    """Return which rows of requests.csv are possible, and follow the previous one."""
    counts = rows[COUNTS]
    valid = (counts.ge(0) & counts.mod(1).eq(0)).all(axis=1)
    valid &= ~(rows[["rate", "lateness_most_seconds", *RESPONSES]] < 0).any(axis=1)
    for origin in ORIGINS:
        mean, p50, p95, p99, most = (rows[f"{origin}_{figure}_seconds"] for figure in FIGURES)
        valid &= ~((p50 > p95) | (p95 > p99))
        valid &= ~((p99 > ROUNDING * most) | (mean > ROUNDING * most))
    end = rows["elapsed_seconds"]
    valid &= advances(end.where(valid))
    valid[valid] = is_ahead(end[valid], 0.0)
    valid[valid] = [*_add_up(rows[valid])]
    return valid


def _add_up(rows: pd.DataFrame) -> Iterator[bool]:
    """Yield whether the numbers of a row agree with those of the last one that did, unless a row
    is missing in between."""
    last = waiting = unfinished = 0.0
    for row in rows[["elapsed_seconds", *COUNTS]].itertuples():
        agrees = row.waiting == waiting + row.due - row.sent - row.refused
        agrees &= row.unfinished == unfinished + row.sent - row.completed - row.failed
        agrees |= row.elapsed_seconds - last > LENGTH_MAX
        if agrees:
            last, waiting, unfinished = row.elapsed_seconds, row.waiting, row.unfinished
        yield agrees


def _estimate(figures: Array, weights: Array) -> Array:
    """Estimate percentiles from those of each second, by bisection."""
    shares = np.array([0, 0.5, 0.95, 0.99, 1, 1])
    knots = np.column_stack([np.zeros(len(figures)), figures[:, 1:], np.full(len(figures), np.inf)])
    rows = np.arange(len(knots))[:, None]
    low, high = np.zeros(len(PERCENTILES)), np.full(len(PERCENTILES), figures[:, -1].max())
    for _ in range(60):
        middle = (low + high) / 2
        at = (knots[:, :5, None] <= middle).sum(axis=1)
        before, after = knots[rows, at - 1], knots[rows, at]
        part = (middle - before) / (after - before)
        within = shares[at - 1] + (shares[at] - shares[at - 1]) * part
        enough = weights @ within >= PERCENTILES * weights.sum()
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high
