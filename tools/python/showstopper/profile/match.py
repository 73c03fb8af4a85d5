# SPDX-License-Identifier: Apache-2.0
"""Compares this machine with a base, over the benchmarks that both have."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import stats
from ..text import UserError
from .ratios import Matching, compare, scatter
from .results import KEY, Profile, Warnings


@dataclass(frozen=True)
class Match:
    """A comparison. Benchmarks are fixed: only their repetitions vary by chance. A ratio above 1
    means that this machine is faster."""

    log_mean: float  # mean logarithm of the ratios
    half: float  # half its 95 % confidence interval; NaN with too few repetitions
    time_mean: float  # mean ratio of times
    least: float
    most: float
    scatter: float  # the change of `least` and `most` that chance can explain


def match(base: Profile, here: Profile) -> Match:
    try:
        ratios = compare(base, here, Matching(), Warnings())
    except UserError:
        raise _no_number() from None
    table = ratios.table
    lower = table["base_lower"].eq(True)
    times = table["base_mean"] * table["target_inverse"]  # of rates
    times = times.where(~lower, table["target_mean"] * table["base_inverse"])
    both = [_logs(side).loc[pd.MultiIndex.from_frame(table[KEY])] for side in (base, here)]
    differences = (both[1]["mean"] - both[0]["mean"]).to_numpy() * np.where(lower, -1, 1)
    found = Match(
        log_mean=float(differences.mean()),
        half=_half(pd.concat(both), len(table)),
        time_mean=float(times.mean()),
        least=float(table["ratio"].min()),
        most=float(table["ratio"].max()),
        scatter=scatter(table),
    )
    if len(ratios.left_out) or not math.isfinite(found.time_mean):
        raise _no_number()
    return found


def _no_number() -> UserError:
    return UserError("the ratio of a benchmark is not a finite number")


def _logs(profile: Profile) -> pd.DataFrame:
    """Return mean and variance of the logarithms of each benchmark, exact if all are equal."""
    logs = profile.rows.assign(log=np.log(profile.rows["result"]))
    first = logs.groupby(KEY, sort=False, dropna=False)["log"].transform("first")
    groups = logs.assign(first=first, off=logs["log"] - first).groupby(
        KEY, sort=False, dropna=False
    )
    found = groups.agg(first=("first", "first"), off=("off", "mean"), variance=("off", "var"))
    return found.assign(mean=found["first"] + found["off"], count=groups.size())


def _half(logs: pd.DataFrame, benchmarks: int) -> float:
    """
    Return half the width of the interval of the mean logarithm of the ratios.

    Its variance is the sum of those of both sides of all benchmarks, each from its own repetitions;
    the degrees of freedom follow Welch and Satterthwaite.
    """
    variances = logs["variance"] / logs["count"]
    variance = float(variances.sum(skipna=False))
    if not variance > 0:
        return variance  # 0, or NaN with a single repetition
    freedom = variance**2 / float((variances**2 / (logs["count"] - 1)).sum())
    return float(stats.student(0.95, freedom)) * math.sqrt(variance) / benchmarks
