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


def _permitted(record: Record, seconds: pd.DataFrame) -> np.ndarray:
    """Return how long an instance was allowed to run in each row, from the duty in the samples."""
    known = record.samples.dropna(subset=["duty"])
    begin, end, duty = (known[name].to_numpy() for name in ("begin", "end", "duty"))
    from_, to = (seconds[name].to_numpy()[:, None] for name in ("begin", "end"))
    common = np.maximum(np.minimum(to, end) - np.maximum(from_, begin), 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.asarray((duty * common).sum(axis=1) / common.sum(axis=1))
    return np.asarray(share * (seconds["end"] - seconds["begin"]).to_numpy())


def _uses(record: Record) -> pd.DataFrame:
    """Return one instance's share of each row of counters: seconds in which it ran, threads,
    accesses to the memory per second of a running thread, and the part of the time they wait."""
    rows = record.counters
    seconds = _permitted(record, rows)
    runnable = rows["runnable"] * (rows["end"] - rows["begin"])
    cpu = rows["task_clock_seconds"].fillna(runnable)

    def rate(counter: str) -> pd.Series:
        """Return events per second: a count covers the time since the counter was last known."""
        return rows[counter] / (rows["end"] - rows[f"since_{counter}"])

    with np.errstate(invalid="ignore", divide="ignore"):
        accesses = rate("cache_misses") / rate("task_clock_seconds")
        waiting = (rate("stalled_backend") / rate("cycles")).clip(upper=1)
        threads = cpu / (seconds * record.instance_count)
    accesses = accesses.where(np.isfinite(accesses))
    waiting = waiting.mask(accesses == 0, 0)  # without accesses there is no waiting
    both = accesses.notna() & waiting.notna()
    uses = pd.DataFrame(
        {"seconds": seconds, "threads": threads, "accesses": accesses, "waiting": waiting}
    )
    in_time = rows["begin"].ge(record.counted_from - SLACK) & rows["end"].le(
        record.counted_to + SLACK
    )
    used = in_time & (uses["seconds"] >= PERMITTED_MIN) & uses["threads"].between(0, THREADS_MAX)
    # Values that a row lacks come from the row before, those of the first from the first complete.
    first = uses[both].head(1)[["accesses", "waiting"]]
    kept = uses[used]
    filled = pd.concat([first, kept[["accesses", "waiting"]]]).ffill().iloc[len(first) :]
    return kept.assign(accesses=filled["accesses"], waiting=filled["waiting"])


def lines(record: Record) -> Iterator[str]:
    """Yield the lines of the profile: `TIME THREADS [ACCESSES WAITING]`.

    A fractional number of threads becomes two lines: first the next larger number, then the next
    smaller, each for its part of the time.
    """
    if record.counters.empty:
        raise UserError(
            f"{record.name} has no counters.csv, from which a profile is made: record with "
            "--counters"
        )
    if not record.instance_count > 0:
        raise UserError(f"{record.name}/plan.json does not say how many instances the run had")
    uses = _uses(record)
    if uses.empty:
        raise UserError(
            f"{record.name} records neither the CPU time nor the runnable threads of any second in "
            "which its instances were allowed to run"
        )
    knows_memory = bool(uses["accesses"].notna().iloc[0])
    at = 0.0
    for use in uses.itertuples():
        memory = f" {use.accesses:.6g} {use.waiting:.6f}" if knows_memory else ""
        fewer = math.floor(use.threads)
        part = use.threads - fewer
        if part > 0:
            yield f"{at:.6f}s {fewer + 1}{memory}"
        yield f"{at + part * use.seconds:.6f}s {fewer}{memory}"
        at += use.seconds
    yield f"{at:.6f}s 0{' 0 0' if knows_memory else ''}"
