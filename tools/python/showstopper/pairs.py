# SPDX-License-Identifier: Apache-2.0
"""Pairs of runs side by side: a foreground, its background, and what one costs the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from . import stats, steps
from .records import HOST
from .stats import Band, Interval
from .study import Study, groups, permitted

ALONE = "alone"  # the role of a run of a program without a neighbor
REFERENCE = "per-chip"  # other placements are compared with this one
SAME_TAU = 1e-6  # lengths of rounds that differ by at most this many seconds are the same
ANGLE_AGREES = 3.0  # both slopes agree if the angle between them is smaller, in degrees
SIGNIFICANT = 0.05  # a coefficient is significant if its p-value is smaller

FOREGROUND, SYSTEM, PER_WATT_HOUR = "foreground", "system", "per-watt-hour"  # measures

PROGRAMS = ["foreground", "background"]
ENVIRONMENT = ["set", "place"]
SAME_PAIR = [*ENVIRONMENT, *PROGRAMS]  # pairs that differ in placement and round only
RATES = ["foreground_rate", "background_rate"]
OF_RUN = "set study environment measured_in placement round others".split()


def pairs(study: Study) -> pd.DataFrame:
    """Return a row for each foreground with its background, whose runs are `run` and `beside`.

    `foreground` and `background` are their programs, with the throughput alone in `..._alone`;
    `place` names the environment, whether it was measured from the host, and the length of rounds
    of the background if it differs. The order does not depend on that of runs; the host comes
    first.
    """
    runs = study.runs
    found = {at: study.beside(at, "background") for at in runs.index[runs["role"] == "foreground"]}
    beside = pd.Series(found, dtype=float).dropna().astype(int)
    own, other = runs.loc[beside.index], runs.loc[beside].set_axis(beside.index)
    programs = [one["workload"].replace("", "-") for one in (own, other)]
    rows = own[OF_RUN].assign(
        run=beside.index,
        beside=beside,
        tau_seconds=other["tau_seconds"],
        place=_places(own, other),
        placement=own["placement"].replace("", "-"),
        on_host=own["environment"] == HOST,
        is_emulated=own["environment"] == "tcg",  # its figures say nothing about real machines
        is_one_program=own["workload"].eq(other["workload"]) & own["workload"].ne(""),
        **dict(zip(PROGRAMS, programs)),
    )
    alone = _alone(study, runs.loc[[*beside.index, *beside]].drop_duplicates(["record"]))
    for name, side in (("foreground", "run"), ("background", "beside")):
        rows = rows.join(alone.add_prefix(f"{name}_"), on=side)
    of_set = (rows.groupby(["set", name], sort=False, dropna=False) for name in PROGRAMS)
    first = {f"{name}_at": own.ngroup() for name, own in zip(PROGRAMS, of_set)}
    rows = rows.assign(in_guest=~rows["on_host"], **first).sort_values(
        ["set", "in_guest", "place", *first, "placement", "round"], kind="stable",
        na_position="first", ignore_index=True,
    )
    return rows.rename_axis("pair")


def _places(own: pd.DataFrame, other: pd.DataFrame) -> pd.Series:
    from_host = own["measured_in"].eq(HOST) & own["environment"].ne(HOST)
    tau = other["tau_seconds"].fillna(0)
    lengths = tau.map(lambda seconds: f", {1000 * seconds:.6g} ms")
    usual = tau.iloc[0] if len(tau) else 0.0
    names = own["environment"].str[:32] + np.where(from_host, ", from the host", "")
    return names + lengths.where((tau - usual).abs() > SAME_TAU, "")


def _alone(study: Study, runs: pd.DataFrame) -> pd.DataFrame:
    """Return, by run, the throughput of its program without a neighbor in its environment as
    `alone`, and half the width of its interval, relative to it, as `error`.

    It is the same for all placements, so that they can be compared: measured in the reference if
    possible, otherwise the mean of all runs alone. Runs of other studies count only if the study
    has none.
    """
    keys = ["set", "environment", "measured_in", "workload"]
    names, every = [*keys, "study", "placement", "others", "throughput"], study.runs
    alone = every.loc[every["role"].eq(ALONE) & every["throughput"].gt(0), names]
    sides = runs.loc[runs["workload"] != "", names]
    both = pd.merge(sides.rename_axis("run").reset_index(), alone.rename_axis("of").reset_index(),
                    on=keys, suffixes=("", "_alone"))
    both = both[permitted(both["others"], both["others_alone"])]
    both = _preferred(both, both["study"] == both["study_alone"])
    both = _preferred(both, both["placement_alone"] == REFERENCE)
    confidence, seconds, found = study.settings.confidence, study.settings.interval, {}
    for run, own in both.groupby("run", sort=False, dropna=False):
        mean = of = stats.mean_of(own["throughput_alone"], confidence)
        if len(own) == 1:
            windows = steps.in_windows(study.records[own["of"].iloc[0]], seconds)
            of = stats.mean_of(windows["rate"], confidence)
        found[run] = mean.mean, float(np.nan_to_num((of.high - of.low) / 2 / mean.mean))
    rows = pd.DataFrame.from_dict(found, "index", float, ["alone", "error"])
    return rows.reindex(runs.index).fillna({"error": 0.0})


def _preferred(rows: pd.DataFrame, better: pd.Series) -> pd.DataFrame:
    """Return the better rows of each run; all rows of a run that has no better one."""
    has = better.groupby(rows["run"], sort=False, dropna=False).transform("any")
    return rows[better | ~has]


# Steps


def steps_of_pairs(study: Study) -> pd.DataFrame:
    """Return a row for each step of the background of each pair, with the columns of the pair.

    The rates of both sides are `foreground_rate` and `background_rate`; `watts` are those of both,
    NaN if they were not sampled for both together. Steps with the same half, level and occurrence
    of the level in the half have the same `slot`.
    """
    names = ["step", "half", "target", "load", "throughput", "from", "to", "watts"]
    own = study.steps[["run", *names]]
    own = own.rename(columns={"run": "beside", "throughput": "background_rate"})
    rows = study.once(pairs).reset_index().merge(own, on="beside")
    shares = study.runs["shares_power"].reindex(rows["beside"]).to_numpy(bool)
    records = study.records
    rates = [
        steps.throughput_beside(records[run], records[beside], *times)
        for run, beside, *times in zip(rows["run"], rows["beside"], rows["from"], rows["to"])
    ]
    rows = rows.assign(
        foreground_rate=pd.Series(rates, dtype=float),
        watts=rows["watts"].where(shares),
        middle=(rows["from"] + rows["to"]) / 2,
        level=steps.levels(rows["target"]),
    )
    half = rows.groupby(["pair", "half"], sort=False, dropna=False)["target"]
    rise = (half.transform("last") - half.transform("first")).where(rows["half"] > 0, 0)
    rows["direction"] = np.select([rise > 0, rise < 0], ["up", "down"], "")
    of_level = rows.groupby(["pair", "half", "level"], sort=False, dropna=False)
    rows["occurrence"] = of_level.cumcount()
    same = rows.groupby(["half", "level", "occurrence"], sort=False, dropna=False)
    return rows.assign(slot=same.ngroup())


def parts(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return what foreground and background contribute to a measure in each step."""
    sides = rows[RATES].set_axis(PROGRAMS, axis=1)
    if measure == FOREGROUND:
        return sides.assign(background=0.0)
    alone = rows[[f"{name}_alone" for name in PROGRAMS]].set_axis(PROGRAMS, axis=1)
    sides = sides / alone.mask(rows["is_one_program"], 1.0)
    if measure == PER_WATT_HOUR:
        sides = sides.mul(3600 / rows["watts"].where(rows["watts"] > 0), axis=0)
    return sides


def values_of(rows: pd.DataFrame, measure: str) -> pd.Series:
    return parts(rows, measure).sum(axis=1, skipna=False)


def counterparts(rows: pd.DataFrame, others: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return, for each step, the first other one with these keys and the same half, level and
    occurrence, of the same study if that has one; NaN without one."""
    own = rows[[*keys, "slot", "study", "others"]].rename_axis("own").reset_index()
    both = own.merge(others, on=[*keys, "slot"], suffixes=("_own", ""))
    both = both[permitted(both["others_own"], both["others"])]
    both = both.assign(is_far=both["study_own"] != both["study"])
    both = both.sort_values("is_far", kind="stable").drop_duplicates("own").set_index("own")
    return both.reindex(rows.index)


def relative(rows: pd.DataFrame, measure: str) -> pd.Series:
    """Return a measure of each step, relative to the same step in the reference placement."""
    rows = rows.assign(value=values_of(rows, measure))
    reference = rows[rows["placement"].eq(REFERENCE) & rows["value"].gt(0)]
    return rows["value"] / counterparts(rows, reference, [*SAME_PAIR, "round"])["value"]


# Interference


def interference(points: pd.DataFrame, confidence: float) -> dict[str, Any]:
    """Return by how many percent a foreground's throughput falls from an idle background to one
    at full load, negative if it rises; from lines through the steps of both halves of a staircase.

    The names are those of columns. The interval of a half is Fieller's. For the mean of both, the
    squared distances between each half and its bounds are added (MOVER), with the degrees of
    freedom of the sum after Welch and Satterthwaite.
    """
    known = points[np.isfinite(points["load"]) & np.isfinite(points["foreground_rate"])]
    of_half = [known[known["half"] == half] for half in (1, 2)]
    lines = [stats.fit_line(part["load"], part["foreground_rate"]) for part in of_half]
    halves = [-100 * line.slope / line.intercept if line.intercept else math.nan for line in lines]
    metric = stats.mover(_bands(lines, halves, confidence), (0.5, 0.5))
    angle = abs(np.diff(np.degrees(np.arctan(np.array(halves) / -100)))[0])
    p = [p for line in lines for p in (line.slope_p, line.intercept_p)]
    found: dict[str, Any] = {
        "metric_percent": metric.y,
        "low_percent": metric.low,
        "high_percent": metric.high,
        "angle_degrees": float(angle),
        "agree": bool(angle < ANGLE_AGREES),
        "significant": all(one < SIGNIFICANT for one in p),
        "note": "",
    }
    if not math.isfinite(metric.low + metric.high):
        found["note"] = "no interval: an intercept is not significantly different from 0"
    for name, line, half in reversed([*zip(("first", "second"), lines, halves)]):
        found |= _of_half(line, half, confidence, f"{name}_")
        if line.missing:
            found["note"] = f"no fit through the {name} half"
        elif not math.isfinite(half):
            found["note"] = "the foreground has no throughput next to an idle background"
    return found


def _bands(lines: list[stats.Line], halves: list[float], confidence: float) -> list[Band]:
    variances = [line.ratio_variance() for line in lines]
    rests = [line.count - 2 if line.count > 2 else math.nan for line in lines]
    squares = sum(variance**2 / rest for variance, rest in zip(variances, rests))
    freedom = 1.0 if squares == 0 else sum(variances) ** 2 / squares
    bands = []
    for line, half in zip(lines, halves):
        unknown = Interval(math.nan, math.nan)
        ratio = line.ratio(confidence, freedom) if math.isfinite(freedom) else unknown
        bands.append(Band(half, -100 * ratio.high, -100 * ratio.low))
    return bands


def _of_half(line: stats.Line, half: float, confidence: float, prefix: str) -> dict[str, float]:
    own = line.ratio(confidence, line.count - 2)
    found = {
        "half_percent": half,
        "points": line.count,
        "intercept": line.intercept,
        "intercept_p": line.intercept_p,
        "slope": line.slope,
        "slope_p": line.slope_p,
        "low_percent": -100 * own.high,
        "high_percent": -100 * own.low,
    }
    return {prefix + name: value for name, value in found.items()}


def df_pairs(study: Study) -> pd.DataFrame:
    """Return all pairs, with the columns of interference()."""
    rows, every = study.once(pairs), study.once(steps_of_pairs)
    own = dict(iter(every.groupby("pair", sort=False, dropna=False)))
    confidence = study.settings.confidence
    found = [interference(own.get(pair, every[:0]), confidence) for pair in rows.index]
    return rows.join(pd.DataFrame(found, rows.index))


def round_means(study: Study) -> pd.DataFrame:
    """Return the mean interference over all rounds of each pair with one placement in one
    environment; `rounds` is the number of those with a known interference."""
    names, rows = ["set", "place", "placement", *PROGRAMS], []
    for group in groups(study.once(df_pairs), names):
        known = group[np.isfinite(group["metric_percent"])]
        mean = stats.mean_of(known["metric_percent"], study.settings.confidence)
        found = {"percent": mean.mean, "low": mean.low, "high": mean.high, "rounds": len(known)}
        found |= {"agree": known["agree"].all(), "significant": mean.low > 0 or mean.high < 0}
        if len(known) == 1:
            only = known.iloc[0]
            found |= {"low": only["low_percent"], "high": only["high_percent"]}
            found["significant"] = only["significant"]
        rows.append(group.iloc[0][names].to_dict() | found)
    return pd.DataFrame(rows, columns=[*names, "percent", "low", "high", "rounds", "agree",
                                       "significant"])


# Notes


def note(study: Study) -> None:
    """Note, in the records of foregrounds, backgrounds that are missing and steps that are lost."""
    runs, found = study.runs, study.once(pairs)
    for at in runs.index[runs["role"] == "foreground"].difference(found["run"]):
        group = runs.loc[at, "group"]
        study.records[at].notes.append(
            f"the background of group '{group}' is missing from this report"
        )
    every = study.once(steps_of_pairs)
    for pair, run, beside in found[["run", "beside"]].itertuples(name=None):
        record, own = study.records[run], every[every["pair"] == pair]
        short = steps.count(study.records[beside]) - len(own)
        lost = int(own["foreground_rate"].isna().sum())
        if short:
            record.notes.append(
                f"left out {short} of the {short + len(own)} steps of the background: too short "
                "for three samples, or without one between the edges; hold steps longer"
            )
        if lost and record.has_iterations:
            record.notes.append(
                f"left out {lost} of the {len(own)} steps of the background: the foreground did "
                "not run, or had no iteration"
            )
