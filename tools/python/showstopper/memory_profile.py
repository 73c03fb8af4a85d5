# SPDX-License-Identifier: Apache-2.0
"""The profile of one instance for sssim (--profile), from the counters of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from .records import Record
from .text import UserError

PERMITTED_MIN = 0.01  # rows with less running time than this, in seconds, are not representative
SLACK = 0.02  # a row may reach this many seconds beyond the counted time
THREADS_MAX = 1e6  # that sssim accepts


def _permitted(record: Record, rows: pd.DataFrame) -> pd.Series:
    """Return how long an instance was allowed to run in each row, from the duty in the samples."""
    known = record.samples.dropna(subset=["duty"])
    begin, end, duty = (known[name].to_numpy() for name in ("begin", "end", "duty"))
    first, last = (rows[name].to_numpy()[:, None] for name in ("begin", "end"))
    common = np.maximum(np.minimum(last, end) - np.maximum(first, begin), 0)
    return (rows["end"] - rows["begin"]) * (common @ duty) / common.sum(axis=1)


def uses(record: Record) -> pd.DataFrame:
    """Return one instance's share of each row of counters: seconds in which it ran, threads,
    accesses to the memory per second of a running thread, and the part of the time they wait."""
    rows = record.counters
    seconds = _permitted(record, rows)
    runnable = rows["runnable"] * (rows["end"] - rows["begin"])
    cpu = rows["task_clock_seconds"].fillna(runnable)

    def rate(counter: str) -> pd.Series:
        """Return events per second: a count covers the time since the counter was last known."""
        return rows[counter] / (rows["end"] - rows[f"since_{counter}"])

    accesses = rate("cache_misses") / rate("task_clock_seconds")
    accesses = accesses.where(np.isfinite(accesses))
    waiting = (rate("stalled_backend") / rate("cycles")).clip(upper=1)
    waiting = waiting.mask(accesses == 0, 0)  # without accesses there is no waiting
    both = pd.DataFrame({"accesses": accesses, "waiting": waiting})
    threads = cpu / (seconds * record.instance_count)
    used = rows["begin"].ge(record.counted_from - SLACK)
    used &= rows["end"].le(record.counted_to + SLACK)
    used &= seconds.ge(PERMITTED_MIN) & threads.between(0, THREADS_MAX)
    # Values that a row lacks come from the row before, those of the first from the first complete.
    first = both.dropna().head(1)
    filled = pd.concat([first, both[used]]).ffill().iloc[len(first) :]
    return filled.assign(seconds=seconds[used], threads=threads[used])


def lines(record: Record) -> Iterator[str]:
    """Yield the lines of the profile: `TIME THREADS [ACCESSES WAITING]`.

    A fractional number of threads becomes two lines: first the next larger number, then the next
    smaller, each for its part of the time.
    """
    if record.counters.empty:
        raise UserError(
            f"{record.name} has no usable counters.csv, from which a profile is made: record with "
            "--counters"
        )
    if not record.instance_count > 0:
        raise UserError(f"{record.name}/plan.json does not say how many instances the run had")
    found = uses(record)
    if found.empty:
        raise UserError(
            f"{record.name} records neither the CPU time nor the runnable threads of any second in "
            "which its instances were allowed to run"
        )
    knows_memory = bool(found["accesses"].notna().iloc[0])
    at = 0.0
    for use in found.itertuples():
        memory = f" {use.accesses:.6g} {use.waiting:.6f}" if knows_memory else ""
        fewer = math.floor(use.threads)
        part = use.threads - fewer
        if part > 0:
            yield f"{at:.6f}s {fewer + 1}{memory}"
        yield f"{at + part * use.seconds:.6f}s {fewer}{memory}"
        at += use.seconds
    yield f"{at:.6f}s 0{' 0 0' if knows_memory else ''}"
