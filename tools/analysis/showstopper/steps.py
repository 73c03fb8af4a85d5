# SPDX-License-Identifier: Apache-2.0
"""Stretches of constant target in a record and their figures, and rates of iterations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from . import statistics
from .records import Record

SAME_TARGET = 1e-6  # targets in a record have six decimals
SAME_LEVEL = 1e-4  # targets of two runs that differ by less are the same level
EDGE_MAX = 30.0  # seconds
EDGE_PART = 1 / 6
SAMPLES_MIN = 3  # in a step, with its edges
SLACK = 0.02  # tolerated lateness of a sample, seconds
STAIRS_MIN = 3  # steps in a staircase
TWICE = 1.5  # a turning step that is longer than the others by this factor holds its level twice
SHORT = 2e-6  # the last interval may be too short by this, since times have six decimals
INTERVALS_MAX = 52_596_000  # ten years of default intervals: a wrong clock must not exhaust memory


def total(values: np.ndarray) -> float:
    """Add numbers one after the other, as the run itself does: NumPy adds in another order."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.cumsum(values)[-1]) if len(values) else 0.0


def mean(values: np.ndarray) -> float:
    return total(values) / len(values) if len(values) else math.nan


@dataclass(frozen=True)
class Errors:
    """The figures of control quality. The error of a sample is its target minus its load."""

    count: int
    target_mean: float
    load_mean: float
    error_mean_percent: float
    error_mse_e4: float
    error_p95_percent: float

    @staticmethod
    def of(target: np.ndarray, load: np.ndarray) -> Errors:
        error = target - load
        sizes = np.sort(np.abs(error))
        p95 = 100 * sizes[math.ceil(0.95 * len(sizes)) - 1] if len(sizes) else math.nan
        squares = 1e4 * mean(error * error)
        return Errors(len(load), mean(target), mean(load), 100 * mean(error), squares, float(p95))


def rates(
    iterations: Any, froms: np.ndarray, tos: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the iterations per second in windows of time, which are in order and apart, and the
    mean length of the iterations that overlap each.

    An iteration counts in each window for its part of the time there; one without a duration
    counts where it ended.
    """
    start, end = np.asarray(iterations["start"]), np.asarray(iterations["end"])
    first = np.searchsorted(tos, start, side="right")
    last = np.searchsorted(froms, end, side="left")
    at_once = ~(end > start)
    last[at_once] = np.searchsorted(froms, end[at_once], side="right")
    counts = np.maximum(last - first, 0)
    which = np.repeat(np.arange(len(start)), counts)
    window = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - first, counts)
    length = (end - start)[which]
    overlap = np.minimum(end[which], tos[window]) - np.maximum(start[which], froms[window])
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(length > 0, overlap / length, 1.0)
        parts = np.bincount(window, part, len(froms))
        lengths = np.bincount(window, length, len(froms)) / np.bincount(window, minlength=len(froms))
        return parts / (tos - froms), lengths


def intervals(from_: float, to: float, interval: float) -> tuple[np.ndarray, np.ndarray]:
    """Divide a time into whole intervals: return where they begin and end."""
    length = (to - from_ + SHORT) / interval
    at = np.arange(min(math.floor(length), INTERVALS_MAX) if length > 0 else 0)
    return from_ + at * interval, from_ + (at + 1) * interval


def throughput(record: Record, from_: float, to: float) -> float:
    """Return the iterations per second between two times; NaN if no iteration counts there."""
    iterations = record.read_iterations
    if not to > from_ or not record.has_iterations:
        return math.nan
    rate = rates(iterations, np.array([from_]), np.array([to]))[0][0]
    return float(rate) if rate > 0 else math.nan


def bound(record: Record, rate: float, seconds: float) -> float:
    """Return an upper bound of the throughput if no iteration ended, because each instance may
    have been about to end one; otherwise NaN."""
    none = record.has_iterations and seconds > 0 and math.isnan(rate)
    return record.instance_count / seconds if none else math.nan


def _stretches(samples: pd.DataFrame) -> pd.DataFrame:
    """Find longest sequences of counted samples with one target.

    A sample records only its last target; the excluded edges contain samples with several.
    """
    counted = samples[samples["counted"]]
    target = counted["target"]
    breaks = np.diff(counted.index, prepend=-2) != 1
    groups, begun = [], math.nan
    for at, (value, is_new) in enumerate(zip(target.to_numpy(), breaks)):
        if is_new or not abs(value - begun) <= SAME_TARGET:
            begun = value
            groups.append(at)
    last = [*groups[1:], len(counted)] if groups else []
    return pd.DataFrame(
        {
            "first": counted.index[groups],
            "begin": counted["begin"].to_numpy()[groups],
            "end": counted["end"].to_numpy()[[at - 1 for at in last]],
            "target": target.to_numpy()[groups],
        }
    )


def _set_halves(steps: pd.DataFrame) -> pd.DataFrame:
    """Number the halves of a staircase, and split the step at which it turns if it is longer than
    usual, because it then holds its level twice. Other steps have the half 0."""
    steps = steps.assign(half=0)
    if len(steps) < STAIRS_MIN:
        return steps
    up = np.diff(steps["target"].to_numpy()) > 0
    turns = np.flatnonzero(np.diff(up)) + 1
    if len(turns) > 1:
        return steps
    turn = int(turns[0]) if len(turns) else len(steps) - 1
    steps["half"] = np.where(np.arange(len(steps)) <= turn, 1, 2)
    lengths = steps["end"] - steps["begin"]
    usual = float(np.median(lengths.drop(turn)))
    if not len(turns) or not lengths[turn] > TWICE * usual:
        return steps
    middle = steps["begin"][turn] + lengths[turn] / 2
    both = steps.loc[[*range(turn + 1), *range(turn, len(steps))]].reset_index(drop=True)
    both.loc[turn, "end"] = middle
    both.loc[turn + 1, "begin"] = middle
    both.loc[turn + 1, "half"] = 2
    return both


def find(record: Record, edge: float, interval: float, confidence: float) -> pd.DataFrame:
    """Return the steps of a record: begin and end of the whole step, from and to of the part that
    counts, target, half, loads, errors and throughput.

    `attrs["too_short"]` is the number of stretches that are too short to be steps. If `edge` is
    negative, a sixth of a step, at most 30 s, is excluded at both of its ends.
    """
    samples = record.samples
    begin, end = samples["begin"].to_numpy(), samples["end"].to_numpy()
    load = samples["load"].to_numpy()
    stretches = _set_halves(_stretches(samples))
    found = []
    for step in stretches.itertuples():
        length = step.end - step.begin
        out = min(EDGE_MAX, length * EDGE_PART) if edge < 0 else edge
        whole = np.arange(step.first, np.searchsorted(begin, step.end - SLACK))
        whole = whole[begin[whole] >= step.begin - SLACK]
        used = whole[begin[whole] >= step.begin + out - SLACK]
        used = used[end[used] <= step.end - out + SLACK]
        if len(whole) < SAMPLES_MIN or not len(used):
            continue
        loads = statistics.mean_of(load[used], confidence)
        # Control makes up differences, so that samples are not independent.
        sure = statistics.series_uncertainty(load[used], loads.mean)
        load_interval = sure.interval(loads.mean, confidence)
        errors = Errors.of(np.full(len(used), step.target), load[used])
        found.append(
            {
                "begin": step.begin,
                "end": step.end,
                "from": begin[used[0]],
                "to": end[used[-1]],
                "target": step.target,
                "half": step.half,
                "samples": len(used),
                "load": loads.mean,
                "load_deviation": loads.deviation,
                "load_low": load_interval.low,
                "load_high": load_interval.high,
                "error_mean_percent": errors.error_mean_percent,
                "error_mse_e4": errors.error_mse_e4,
            }
        )
    steps = pd.DataFrame(found, columns=list(found[0]) if found else ["begin", "end", "from", "to"])
    steps = _add_rates(steps, record, interval, confidence)
    steps.attrs["too_short"] = len(stretches) - len(found)
    return steps


def _add_rates(
    steps: pd.DataFrame, record: Record, interval: float, confidence: float
) -> pd.DataFrame:
    iterations, has = record.read_iterations, record.has_iterations
    froms, tos = steps["from"].to_numpy(), steps["to"].to_numpy()
    rate, length = rates(iterations, froms, tos)
    rate = np.where(has & (rate > 0), rate, math.nan)
    within: list[Any] = [intervals(*times, interval) if has else ([], []) for times in zip(froms, tos)]
    begins, ends = (np.concatenate([w[i] for w in within] or [np.empty(0)]) for i in (0, 1))
    scatter = np.split(rates(iterations, begins, ends)[0], np.cumsum([len(w[0]) for w in within]))
    means = [statistics.mean_of(values, confidence) for values in scatter[:-1]]
    seconds = tos - froms
    return steps.assign(
        throughput=rate,
        bound=[bound(record, r, s) for r, s in zip(rate, seconds)],
        is_exceeded=length > seconds,  # iterations take longer than the counted time
        intervals=[m.count for m in means],
        rate_mean=[m.mean for m in means],
        rate_deviation=[m.deviation for m in means],
        rate_low=[m.low for m in means],
        rate_high=[m.high for m in means],
    )


def direction(steps: pd.DataFrame, half: int) -> str:
    """Return `up` or `down` for a half of a staircase; '' if all its targets are equal."""
    targets = steps.loc[steps["half"] == half, "target"].to_numpy() if half > 0 else []
    if len(targets) == 0 or targets[0] == targets[-1]:
        return ""
    return "down" if targets[0] > targets[-1] else "up"


def levels(targets: pd.Series) -> pd.Series:
    """Number targets in ascending order; those of one level have one number."""
    ordered = targets.sort_values(kind="stable")
    return (ordered.diff() > SAME_LEVEL).cumsum().reindex(targets.index)


def occurrences(steps: pd.DataFrame) -> np.ndarray:
    """Return how often the level of each step was held in its half, up to this step."""
    half, target = steps["half"].to_numpy(), steps["target"].to_numpy()
    same = (half[:, None] == half) & (np.abs(target[:, None] - target) < SAME_LEVEL)
    numbers: np.ndarray = np.tril(same).sum(axis=1)
    return numbers
