# SPDX-License-Identifier: Apache-2.0
"""Stretches of constant target in a record and their figures, and rates of iterations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from . import stats
from .records import Record, between
from .requests import Requests
from .stats import Array

SAME_TARGET = 1e-6  # targets in a record have six decimals
SAME_LEVEL = 1e-4  # targets of two runs that differ by less are the same level
EDGE_MAX = 30.0  # seconds
EDGE_PART = 1 / 6
SAMPLES_MIN = 3  # in a step, with its edges
SLACK = 0.02  # tolerated lateness of a sample, seconds
STAIRS_MIN = 3  # steps in a staircase
TURN_RATIO_MIN = 1.5  # a turning step holds its level twice if it is longer by this factor
WINDOW_SLACK = 2e-6  # the last window may be too short by this, since times have six decimals
WINDOWS_MAX = 52_596_000  # ten years of default windows: a wrong clock must not exhaust memory
START_SLACK = 0.02  # two sides that should start together may start this many seconds apart

TIMES = ["begin", "end", "from", "to"]
LOADS = ["load", "load_deviation", "load_low", "load_high"]
ERRORS = ["error_mean_percent", "error_mse_e4"]
RATES = (
    "throughput bound is_exceeded intervals rate_mean rate_deviation rate_low rate_high"
).split()
COLUMNS = ["step", "half", *TIMES, "target", "samples", *LOADS, *ERRORS, *RATES]


def errors(target: Any, load: Any) -> dict[str, float]:
    """Return the figures of control quality. The error of a sample is its target minus its load.
    If one sample has no target, all figures are NaN."""
    error = np.asarray(target - load, dtype=float)
    figures = {"error_mean_percent": math.nan, "error_mse_e4": math.nan}
    if not len(error):
        return figures | {"error_p95_percent": math.nan}
    return {
        "error_mean_percent": float(100 * error.mean()),
        "error_mse_e4": float(1e4 * np.square(error).mean()),
        "error_p95_percent": float(100 * np.quantile(np.abs(error), 0.95, method="inverted_cdf")),
    }


# Rates of iterations


def overlaps(start: Array, end: Array, begins: Array, ends: Array) -> tuple[Array, Array, Array]:
    """Return for each overlap of a stretch with a window its stretch, its window and its seconds.
    Windows are in order and apart. A stretch without a duration is in the window of its end."""
    first = np.searchsorted(ends, start, side="right")
    last = np.searchsorted(begins, end, side="left")
    last = np.where(end > start, last, np.searchsorted(begins, end, side="right"))
    counts = np.maximum(last - first, 0)
    which = np.repeat(np.arange(len(start)), counts)
    window = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - first, counts)
    seconds = np.minimum(end[which], ends[window]) - np.maximum(start[which], begins[window])
    return which, window, seconds


def rates(iterations: pd.DataFrame, begins: Any, ends: Any) -> tuple[Array, Array]:
    """Return the iterations per second in windows of time, which are in order and apart, and the
    mean length of the iterations that overlap each.

    An iteration counts in each window for its part of the time there; one without a duration
    counts where it ended.
    """
    begins, ends = np.asarray(begins, dtype=float), np.asarray(ends, dtype=float)
    start, end = iterations["start"].to_numpy(), iterations["end"].to_numpy()
    if len(begins):
        near = (end >= begins[0]) & (start < ends[-1])  # most are elsewhere if windows are few
        start, end = start[near], end[near]
    which, window, overlap = overlaps(start, end, begins, ends)
    length = (end - start)[which]
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(length > 0, overlap / length, 1.0)
        parts = np.bincount(window, part, len(begins))
        means = np.bincount(window, length, len(begins)) / np.bincount(window, None, len(begins))
        return parts / (ends - begins), means


def windows(begin: float, end: float, seconds: float) -> tuple[Array, Array]:
    """Divide a time into whole windows: return where they begin and end."""
    length = (end - begin + WINDOW_SLACK) / seconds
    at = np.arange(min(math.floor(length), WINDOWS_MAX) if length > 0 else 0)
    return begin + at * seconds, begin + (at + 1) * seconds


def throughput(record: Record, begin: float, end: float) -> float:
    """Return the iterations per second between two times; NaN if no iteration counts there."""
    if not end > begin or not record.has_iterations:
        return math.nan
    rate = rates(record.iterations, [begin], [end])[0][0]
    return float(rate) if rate > 0 else math.nan


def throughput_beside(record: Record, background: Record, begin: float, end: float) -> float:
    """Return the iterations per second of a foreground between two times on the clock of its
    background; NaN unless all of its instances were running then."""
    begin, end = (record.time_of(background, at) for at in (begin, end))
    if not (begin >= -START_SLACK and end <= record.end + 1 and end <= record.first_end):
        return math.nan
    return throughput(record, begin, end)


def bound(record: Record, rate: float, seconds: float) -> float:
    """Return an upper bound of the throughput if no iteration ended, because each instance may
    have been about to end one; otherwise NaN."""
    none = record.has_iterations and seconds > 0 and math.isnan(rate)
    return record.instance_count / seconds if none else math.nan


def lengths(record: Record) -> dict[str, float]:
    """Return the lengths of the iterations that ended in the counted time: mean, deviation, median,
    p95, p99, in seconds."""
    ended = record.iterations["end"].between(record.counted_from, record.counted_to)
    own = (record.iterations["end"] - record.iterations["start"])[ended].to_numpy()
    whole, times = stats.mean_of(own), record.iteration_times
    figures = {"mean": float(whole.mean), "deviation": float(whole.deviation)}
    shares = {"median": 0.5, "p95": 0.95, "p99": 0.99}
    if times.count < len(own):
        return figures | {name: stats.quantile(own, share) for name, share in shares.items()}
    # Buckets are complete, even if rows of iterations.csv are missing.
    if times.count > len(own):
        recorded = record.iteration_figure("mean")
        figures["mean"] = times.mean() if math.isnan(recorded) else recorded
        figures["deviation"] = record.iteration_figure("deviation")
    return figures | {name: times.quantile(share) for name, share in shares.items()}


def in_windows(record: Record, seconds: float) -> pd.DataFrame:
    """Return the throughput in whole windows of the counted time: from, to, rate, length (mean of
    the iterations there), and the load of the samples whose middle is there."""
    times = (record.counted_from, record.counted_to) if record.has_iterations else (0.0, 0.0)
    begins, ends = windows(*times, seconds)
    rate, length = rates(record.iterations, begins, ends)
    samples = record.samples
    middle = (samples["begin"] + samples["end"]).to_numpy() / 2
    window = np.searchsorted(begins, middle, side="right") - 1
    inside = (window >= 0) & (middle < np.append(ends, -math.inf)[window])
    loads = samples["load"][inside].groupby(window[inside], sort=True, dropna=False).mean()
    found = {"from": begins, "to": ends, "rate": rate, "length": length}
    return pd.DataFrame(found).assign(load=loads.reindex(range(len(begins))).to_numpy())


# Power

NO_POWER = {
    "power_seconds": 0.0, "power_unknown": 0.0, "watts": math.nan, "watt_hours": math.nan,
    "watts_deviation": math.nan,
}  # fmt: skip


def power(record: Record | Requests, begin: float, end: float) -> dict[str, float]:
    """Return the energy between two times: seconds with a known power, `unknown` ones, watts,
    watt_hours, and the deviation of the samples."""
    if record.power.empty:
        return NO_POWER
    rows = between(record.power, begin, end)
    known = rows.dropna(subset=["watts"])
    seconds, energy = known["seconds"].sum(), (known["watts"] * known["seconds"]).sum()
    watts = energy / seconds if seconds > 0 else math.nan
    squares = np.square(known["watts"] - watts).sum()
    return {
        "power_seconds": float(seconds),
        "power_unknown": float(rows.loc[rows["watts"].isna(), "seconds"].sum()),
        "watts": float(watts),
        "watt_hours": float(energy / 3600) if seconds > 0 else math.nan,
        "watts_deviation": math.sqrt(squares / (len(known) - 1)) if len(known) > 1 else math.nan,
    }


# Steps


def _stretches(counted: pd.DataFrame) -> pd.DataFrame:
    """Find longest sequences of counted samples with one target.

    A sample records only its last target; the excluded edges contain samples with several. A slow
    ramp must not count as one target, so that each sample is compared with the first one.
    """
    is_new = np.diff(counted.index, prepend=-2) != 1
    begun = math.nan
    for at, target in enumerate(counted["target"].to_numpy()):
        is_new[at] |= not abs(target - begun) <= SAME_TARGET
        begun = target if is_new[at] else begun
    first = np.flatnonzero(is_new)
    last = np.append(first, len(counted))[1:] - 1
    rows = {name: counted[name].to_numpy()[first] for name in ("begin", "target")}
    return pd.DataFrame({"half": 0, "end": counted["end"].to_numpy()[last]} | rows)


def _halves(steps: pd.DataFrame) -> pd.DataFrame:
    """Number the halves of a staircase, and split the step at which it turns if it is longer than
    usual, because it then holds its level twice. Other steps have the half 0."""
    if len(steps) < STAIRS_MIN:
        return steps
    turns = np.flatnonzero(np.diff(np.diff(steps["target"]) > 0)) + 1
    if len(turns) > 1:
        return steps
    turn = int(turns[0]) if len(turns) else len(steps) - 1
    steps["half"] = np.where(steps.index <= turn, 1, 2)
    lengths = steps["end"] - steps["begin"]
    if not len(turns) or not lengths[turn] > TURN_RATIO_MIN * lengths.drop(turn).median():
        return steps
    both = steps.loc[[*range(turn + 1), *range(turn, len(steps))]].reset_index(drop=True)
    middle = steps["begin"][turn] + lengths[turn] / 2
    both.loc[turn, "end"] = both.loc[turn + 1, "begin"] = middle
    both.loc[turn + 1, "half"] = 2
    return both


def find(record: Record, edge: float, seconds: float, confidence: float) -> pd.DataFrame:
    """Return the steps of a record: begin and end of the whole step, from and to of the part that
    counts, target, half, loads, errors, and throughput, also in windows of `seconds`.

    If `edge` is negative, a sixth of a step, at most 30 s, is excluded at both of its ends.
    """
    samples = record.samples
    found: list[dict[str, Any]] = []
    begin, end = samples["begin"].to_numpy(), samples["end"].to_numpy()
    for step in _halves(_stretches(record.counted)).itertuples():
        length = step.end - step.begin
        out = min(EDGE_MAX, length * EDGE_PART) if edge < 0 else edge
        # Times of samples are in order.
        first, last = np.searchsorted(begin, [step.begin - SLACK, step.end - SLACK])
        low = max(first, np.searchsorted(begin, step.begin + out - SLACK))
        high = min(last, np.searchsorted(end, step.end - out + SLACK, side="right"))
        if last - first < SAMPLES_MIN or not high > low:
            continue
        load = samples["load"].to_numpy()[low:high]
        mean = stats.mean_of(load, confidence)
        # Control makes up differences, so that samples are not independent.
        sure = stats.series_uncertainty(load, mean.mean).interval(mean.mean, confidence)
        times = step.begin, step.end, begin[low], end[high - 1]
        loads = mean.mean, mean.deviation, sure.low, sure.high
        off = errors(step.target, load)
        rate = _rates(record, times[2], times[3], seconds, confidence)
        found.append(
            {"step": len(found) + 1, "half": step.half, "target": step.target}
            | dict(zip(TIMES, times)) | dict(zip(LOADS, loads)) | {"samples": high - low}
            | {name: off[name] for name in ERRORS} | rate
        )
    rows = pd.DataFrame(found, columns=COLUMNS)
    return rows.astype({"is_exceeded": bool}) if found else rows.astype(float)


def _rates(
    record: Record, begin: float, end: float, seconds: float, confidence: float
) -> dict[str, Any]:
    """Return the throughput of a step, and the scatter of its whole windows."""
    has, length = record.has_iterations, end - begin
    rate, mean_length = (float(one[0]) for one in rates(record.iterations, [begin], [end]))
    rate = rate if has and rate > 0 else math.nan
    within = windows(begin, end, seconds) if has else ([], [])
    each = rates(record.iterations, *within)[0]
    mean = stats.mean_of(each, confidence)
    figures = rate, bound(record, rate, length), mean_length > length, mean.count
    return dict(zip(RATES, (*figures, mean.mean, mean.deviation, mean.low, mean.high)))


def count(record: Record) -> int:
    """Return the number of steps of a record, including those that are too short for find()."""
    return len(_halves(_stretches(record.counted)))


def levels(targets: pd.Series) -> pd.Series:
    """Number targets in ascending order; those of one level have one number."""
    ordered = targets.sort_values(kind="stable")
    return (ordered.diff() > SAME_LEVEL).cumsum().reindex(targets.index)
