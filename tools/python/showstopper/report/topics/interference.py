# SPDX-License-Identifier: Apache-2.0
"""Interference: what backgrounds cost foregrounds, where both run best, what environments cost."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from .. import figures as f
from .. import pair_figures
from ... import pairs, stats
from ...crossings import Placements, compare_all
from ...pairs import ENVIRONMENT, FOREGROUND, PER_WATT_HOUR, PROGRAMS, SAME_PAIR, SYSTEM
from ...records import HOST
from ...study import OTHERS_MAX, Study, groups, permitted
from ..findings import Finding
from ..tables import Table

RUNS_MIN = 6  # for an interval from their medians
RANGE_MIN = 5.0  # of colors, in percent: with a smaller range, noise would be shaded


# Tables


def df_steps(study: Study) -> pd.DataFrame:
    """Return a row for each step of each pair: the throughput of both sides."""
    rows = study.once(pairs.steps_of_pairs)
    system, is_one = pairs.values_of(rows, SYSTEM), rows["is_one_program"].astype(bool)
    return rows.assign(
        half=rows["direction"],
        background_load=rows["load"],
        background_iterations_per_second=rows["background_rate"],
        foreground_iterations_per_second=rows["foreground_rate"],
        iterations_per_second=system.where(is_one),
        weighted_speedup=system.mask(is_one),
        relative_to_per_chip=pairs.relative(rows, SYSTEM),
        per_watt_hour=pairs.values_of(rows, PER_WATT_HOUR),
        per_watt_hour_relative=pairs.relative(rows, PER_WATT_HOUR),
    )


TABLES = {
    "interference": Table(
        "All pairs",
        "environment placement foreground background tau_seconds round metric_percent "
        "low_percent high_percent first_half_percent second_half_percent angle_degrees agree "
        "significant first_points first_intercept first_intercept_p first_slope first_slope_p "
        "second_points second_intercept second_intercept_p second_slope second_slope_p "
        "first_low_percent first_high_percent second_low_percent second_high_percent "
        "(measured_in) others note (set)",
        pairs.df_pairs,
        terminal="interference metric in %, and its confidence interval",
        about="For runs side by side: a row for each pair of records, with the metric, the "
        "marks, and the line of the foreground's throughput over the background's load in "
        "both halves. Two records of a run with the roles `foreground` and `background` "
        "are a pair.",
    ),
    "interference-steps": Table(
        "Throughput of both sides, step by step",
        "environment measured_in placement foreground background round step (half) target "
        "background_load background_iterations_per_second foreground_iterations_per_second "
        "iterations_per_second weighted_speedup relative_to_per_chip watts per_watt_hour "
        "per_watt_hour_relative tau_seconds (set)",
        df_steps,
        about="A row for each step of each pair: the load of the background, the throughput of "
        "each side, and the power. Pairs of the same workload have the throughput of both "
        "sides together, others the weighted speedup.",
    ),
}


# Where to run


def _finding(pair: pd.Series, kind: str, sentence: str, **values: Any) -> Finding:
    second, scope = "Second set: " if pair["set"] == 2 else "", values.get("scope", "all")
    named = {name: "" if scope == "all" else pair[name] for name in PROGRAMS}
    place = {name: pair[name] for name in ("environment", "measured_in", "set")}
    return Finding(kind, second + sentence, **place, **named, **values)


def _name(pair: Any, most: int = 120) -> str:
    return f"{pair.foreground[:most]} next to {pair.background[:most]}"


def _range(low: float, high: float) -> str:
    return f"({low:.1f} to {high:.1f})" if math.isfinite(low) and math.isfinite(high) else ""


RELATIVE = " of both sides, each relative to its program alone,"
MEASURES = {  # of two programs, and of one program on both sides
    FOREGROUND: ("throughput of the foreground", "throughput of the foreground"),
    SYSTEM: (f"throughput{RELATIVE}", "throughput of both sides"),
    PER_WATT_HOUR: (f"work per watt-hour{RELATIVE}", "iterations per watt-hour of both sides"),
}


def _describe_best(found: Placements) -> Finding:
    pair, best, second, by = found.pair, found.best, found.second, found.advantage
    percent, low, high = (100 * end for end in by[:3])
    range_ = f"{percent:.1f} % ({low:.1f} to {high:.1f})"
    sentence = f"{_name(pair, 60)} ({pair['place']}){', energy' if found.by_energy else ''}: "
    if by.is_clear:
        measure = MEASURES[found.measure][bool(pair["is_one_program"])]
        sentence += f"{best} is best, with {range_} more {measure} than {second}."
    else:
        sentence += (
            f"no placement is best overall: {best} is {range_} above {second}, which is within "
            "the uncertainty."
        )
    for change in found.changes:
        if change.is_clear:
            sentence += (
                f" Above a background load of {100 * change.load:.0f} % ({100 * change.low:.0f} to "
                f"{100 * change.high:.0f}), {change.above} is better than {change.below}."
            )
    sentence += _describe_unknown(pair) if found.measure == FOREGROUND else ""
    numbers = {"percent": percent, "low_percent": low, "high_percent": high}
    numbers["count"] = by.rounds or found.steps
    return _finding(
        pair, _kind(found), sentence, scope="pair", placement=best, against=second,
        measure=found.measure, told="yes" if by.is_clear else "no",
        of="rounds" if by.rounds else "steps", **numbers,
    )


def _kind(found: Placements) -> str:
    return "placement-energy" if found.by_energy else "placement"


def _describe_unknown(pair: pd.Series) -> str:
    """Return why only the throughput of the foreground is compared."""
    unknown = [pair[name] for name in PROGRAMS if math.isnan(pair[f"{name}_alone"])]
    why = "the iterations of the background were not counted."
    if unknown and not pair["is_one_program"]:
        why = f"{unknown[0][:60]} was not measured alone."
    return f" Which placement is best for both sides together is unknown: {why}"


def _count_best(compared: list[Placements]) -> Finding | None:
    """Return for how many pairs of an environment each placement is best."""
    first, known = compared[0], [one for one in compared if one.is_known]
    single = 0 if first.by_energy else len(compared) - len(known)  # not if power is unknown
    best = Counter(one.best for one in known if one.advantage.is_clear)
    unclear, count = len(known) - best.total(), len(known) + single
    if not count:
        return None
    counts = ", ".join(f"{name} for {number}" for name, number in best.items())
    parts = [counts.replace(" for ", " is best for ", 1)] if best else []
    if unclear:
        parts.append(f"the differences are within their uncertainty for {unclear}")
    if single:
        parts.append(f"no two placements have three steps in common, so none is best, for {single}")
    what = " for the most work per watt-hour" if first.by_energy else ""
    sentence = (
        f"Where to pin{what} ({first.pair['place']}): {'; '.join(parts)} of {count} ordered "
        f"pair{'' if count == 1 else 's'}."
    )
    foreground = sum(one.measure == FOREGROUND for one in known)
    if foreground:
        sentence += f" For {foreground} of them, only the throughput of the foreground is known."
    told = "yes" if best else "no"
    return _finding(first.pair, _kind(first), sentence, told=told, count=count, of="pairs")


# Costs of environments


def costs(study: Study) -> pd.DataFrame:
    """Return the steps outside of the host, and by how many percent the foreground is slower than
    in the same step of the same pair, with the same placement and round, on the host; NaN if that
    is unknown."""
    rows = study.once(pairs.steps_of_pairs)
    keys = ["set", "placement", *PROGRAMS, "round"]
    there = pairs.counterparts(rows, rows[rows["on_host"].astype(bool)], keys)["foreground_rate"]
    rows = rows.assign(cost=100 * (1 - rows["foreground_rate"] / there))
    return rows[~(rows["on_host"] | rows["is_emulated"]).astype(bool)]


def _find_costs(study: Study, general: bool) -> Iterator[Finding]:
    """Yield what each environment costs all its pairs, or each of them. Uses the medians of runs
    if there are enough runs, because the steps of a run are not independent."""
    every, found = study.once(costs), study.once(pairs.pairs)
    outside = found[~(found["on_host"] | found["is_emulated"]).astype(bool)]
    names = ENVIRONMENT if general else [*ENVIRONMENT, "placement", *PROGRAMS]
    for group in groups(outside, names):
        pair = group.iloc[0]
        own = every[every["pair"].isin(group.index)].dropna(subset=["cost"])
        if own.empty and not general:
            continue
        of_run = own.groupby("pair", sort=False, dropna=False)["cost"].median()
        by_run = len(of_run) >= RUNS_MIN
        values, of = (of_run, "runs") if by_run else (own["cost"], "steps")
        median = stats.median(values)
        interval = stats.median_interval(values, study.settings.confidence)
        low, high = (interval.low, interval.high) if len(values) else (math.nan, math.nan)
        what = "" if general else f", {_name(pair, 60)}, {pair['placement']}"
        cost = _describe_cost(median, low, high, f"{len(values)} {of}")
        yield _finding(
            pair, "environment", f"{pair['place']}{what}{cost}", scope="all" if general else "pair",
            placement="" if general else pair["placement"], against=HOST, percent=median,
            low_percent=low, high_percent=high, told="yes" if low > 0 or high < 0 else "no",
            count=len(values), of=of,
        )


def _describe_cost(percent: float, low: float, high: float, count: str) -> str:
    if math.isnan(percent):
        return ": its cost is unknown, because no step was also measured on the host."
    if not math.isfinite(low):
        few = f"{count} are too few for an interval; the median is {percent:.1f} %."
        return f": its cost is uncertain: {few}"
    if high < 0:
        return (
            f" costs nothing: the foreground's throughput is {-percent:.1f} % "
            f"{_range(-high, -low)} higher than on the host; median of {count}."
        )
    cost = " costs" if low > 0 else ": the cost is within its uncertainty,"
    return (
        f"{cost} {percent:.1f} % {_range(low, high)} of the foreground's throughput on the host; "
        f"median of {count}."
    )


def _forbidden(found: pd.DataFrame) -> Finding | None:
    """Return how many runs are not compared because of other processes, of those that differ at
    most in placement and environment."""
    both = [
        bool(permitted(*others))
        for group in groups(found, ["set", *PROGRAMS, "round"])
        for others in itertools.combinations(group["others"], 2)
    ]
    if all(both):
        return None
    return Finding(
        "others",
        f"{both.count(False)} of {len(both)} comparisons of placements and environments are left "
        "out: the share of the machine that other processes used differs by more than "
        f"{100 * OTHERS_MAX:g} points between the runs, which may explain a difference in "
        "throughput.",
    )


def findings(study: Study) -> Iterator[Finding]:
    found, compared = study.once(pairs.pairs), study.once(compare_all)
    yield from filter(None, [_forbidden(found), *map(_count_best, compared)])
    yield from _find_costs(study, True)
    for emulated in groups(found[found["is_emulated"]], ENVIRONMENT):
        why = "tcg is left out of the findings: an emulated machine says nothing about a real one."
        pair, count = emulated.iloc[0], len(emulated)
        yield _finding(pair, "left-out", why, told="no", count=count, of="runs")
    yield from (_describe_best(one) for one in itertools.chain(*compared) if one.is_known)
    yield from _find_costs(study, False)


# Question and answer


def question(study: Study) -> str:
    found = study.once(pairs.pairs)
    if found.empty:
        return ""
    foreground, background = found[PROGRAMS].iloc[0].str[:120]
    is_one = len(found[PROGRAMS].drop_duplicates()) == 1
    if _asks(found) == "placement":
        names = f"{foreground} and {background}"
        names = f"two copies of {foreground}" if foreground == background else names
        return f"Where should {names if is_one else 'these programs'} run?"
    if _asks(found) == "environment":
        names = found.loc[~found["on_host"], "environment"].unique()
        cost = "do these environments" if len(names) > 1 else f"does {names[-1][:120]}"
        return f"What {cost} cost?"
    if len(study.once(pairs.round_means)) == 1:
        who = "another copy of itself" if foreground == background else foreground
        return f"How much does {background} disturb {who}?"
    return "How much do these programs disturb each other?"


def _asks(found: pd.DataFrame) -> str:
    if len(groups(found, ["set", "placement"])) > 1:
        return "placement"
    return "environment" if len(groups(found, ENVIRONMENT)) > 1 else ""


def answer(study: Study) -> str:
    found = study.once(pairs.pairs)
    kind = _asks(found)
    if kind:
        is_one = len(groups(found, ["set", *PROGRAMS])) == 1
        of_all = kind == "environment" or not is_one
        told = (one for one in findings(study) if one.kind == kind and one.is_general == of_all)
        return next((one.sentence for one in told), "")
    means = study.once(pairs.round_means)
    known = means[np.isfinite(means["percent"])]
    if known.empty or len(means) == 1:
        return _answer_one(known.iloc[0]) if len(known) else ""
    ends = known.loc[[known["percent"].idxmin(), known["percent"].idxmax()]]
    least, most = (
        f"{_name(row)}, by {row.percent:.1f} % {_range(row.low, row.high)}".rstrip()
        for row in ends.itertuples()
    )
    return (
        f"A background at full load reduces the foreground's throughput most in {most}, and least "
        f"in {least}."
    )


def _answer_one(mean: pd.Series) -> str:
    is_gain = mean["percent"] < 0
    ends = (-mean["high"], -mean["low"]) if is_gain else (mean["low"], mean["high"])
    words = [f"{abs(mean['percent']):.1f} %", _range(*ends), "higher" if is_gain else "lower"]
    doubt = "" if mean["significant"] else " than alone, which is within the uncertainty"
    rounds = f", mean of {mean['rounds']} rounds" if mean["rounds"] > 1 else ""
    return (
        f"{_name(mean)}: with a background at full load, the foreground's throughput is "
        f"{' '.join(filter(None, words))}{doubt}{rounds}."
    )


def notes(study: Study) -> None:
    pairs.note(study)


# Figures

LOSSES = (
    "Fields show by how many percent the foreground's throughput falls from an idle background to "
    "one at full load (mean of all rounds), and its {:g} % confidence interval. Only significant "
    "values are shaded: lines through both halves of the staircase (p < 0.05), or the mean of "
    "several rounds. \u2225: both halves agree. The deepest color is {:.1f} % or more."
)
CURVES = (
    "In each field: the throughput of the row's program, in percent of its highest in any field, "
    "against the background's load; dashed in the second half of the staircase."
)
SIDES = ("foregrounds by row, backgrounds by column", "backgrounds by row, foregrounds by column")
PANELS = {
    "sides": "Throughput of both sides against the background's load; \u25b2 going up, \u25bd "
    "going down",
    SYSTEM: "Throughput of both sides together, over time",
    PER_WATT_HOUR: "Throughput of both sides per watt-hour, over time",
}


def figures(study: Study) -> Iterator[f.Picture]:
    every = study.once(pairs.df_pairs)
    means = study.once(pairs.round_means)
    for environment in groups(every, ENVIRONMENT):
        first = environment.iloc[0]
        name = first["place"] + (", second set" if first["set"] == 2 else "")
        # A few programs that lose far more than others must not leave all other fields pale.
        most = float(np.fmax(environment["metric_percent"].abs().quantile(0.9), RANGE_MIN))
        how = LOSSES.format(100 * study.settings.confidence, most)
        own = means[(means[ENVIRONMENT] == first[ENVIRONMENT]).all(axis=1)]
        known = own[own["percent"].notna()]
        for placement, rows in known.groupby("placement", sort=False, dropna=False):
            fig = pair_figures.plot_losses(rows, most)
            yield f.Picture(f"{name}, {placement}: throughput lost, %", fig, how=how)
        for side, words in zip(PROGRAMS, SIDES):
            fig = pair_figures.plot_curves(study, first, side)
            if fig:
                yield f.Picture(f"{name}: {words}", fig, how=CURVES)
    for pair in groups(every, SAME_PAIR):
        yield from _figures_of_pair(study, pair)


def _figures_of_pair(study: Study, pair: pd.DataFrame) -> Iterator[f.Picture]:
    """Yield the pictures of a pair with all placements and rounds."""
    first, every = pair.iloc[0], study.once(pairs.steps_of_pairs)
    second = ", second set" if first["set"] == 2 else ""
    group = f"{first['place']}{second}: {_name(first)}"
    rows = every[every["pair"].isin(pair.index)]
    for what, caption in PANELS.items():
        fig = pair_figures.plot_panels(study, rows, what)
        if fig:
            yield f.Picture(caption, fig, group)
    for round_ in groups(pair, ["round"]):
        power = ", power" if len(study.records[round_["beside"].iloc[0]].power) > 1 else ""
        caption = f"Load of the background, throughput of the foreground{power}; thick: means of "
        yield f.Picture(f"{caption}the steps", pair_figures.plot_placements(study, round_), group)
