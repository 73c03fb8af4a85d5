# SPDX-License-Identifier: Apache-2.0
"""Interference: what backgrounds cost foregrounds, where both run best, what environments cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from .. import figures, pairs, statistics
from ..crossings import Placements
from ..findings import Finding, Headline, first
from ..page import Field, Fold, Matrix, Part, Picture, Section
from ..pair_pictures import plot_matrix, plot_panels, plot_placements
from ..pairs import FOREGROUND, PER_WATT_HOUR, PROGRAMS, SAME_PAIR, SYSTEM, TABLE, Pair
from ..runs import HOST
from ..studies import OTHERS_MAX, Report, others_permit
from ..tables import Table, page_number
from ..text import UserError, show
from . import published

PAIRS_MAX = 40  # on the terminal
RUNS_MIN = 6  # for an interval from their medians
RANGE_MIN = 5.0  # of colors, in percent: with a smaller range, noise would be shaded
FAR_RANGES, FAR_MIN = 3.0, 5.0  # distance of an outlier: interquartile ranges, and percent
FAR_OTHERS = 4  # other programs that an outlier requires

# A rule of a policy is so far from a change, as a part of all CPUs: noise of the load must not
# cause switches. Loads are written with a tenth of a percent.
GAP, LENGTH_MIN = 0.01, 0.001
SCHEMES = ("free", "per-chip", "per-core", "per-thread")  # of the knob `pin` of ssactuate


# Tables


def _common(pair: Pair) -> dict[str, Any]:
    run = pair.foreground
    return {
        "environment": run.environment_name,
        "measured_in": run.measured_in,
        "placement": pair.placement,
        "foreground": pair.program,
        "background": pair.background_program,
        "round": run.round,
        "tau_seconds": pair.background.tau_seconds,
        "set": run.set + 1,
    }


def df_interference(report: Report) -> pd.DataFrame:
    """Return a row for each pair: what the background costs the foreground."""
    return pd.DataFrame(
        _common(pair)
        | pair.interference
        | {"others": pair.foreground.others}
        | _published(report, pair)
        for pair in report.once(pairs.find)
    )


def _published(report: Report, pair: Pair) -> dict[str, float]:
    """Return the published figures of a pair. Those for LXC and KVM apply to the same environment,
    and both to the machine itself."""
    run, background = pair.foreground, pair.background.published_name
    known = ("kvm", "lxc") if run.on_host else (run.environment_name,)
    keys, number = (run.placement, run.published_name), report.published_figures.number
    return {f"{name}_percent": number(f"interference-{name}", keys, background) for name in known}


def df_steps(report: Report) -> pd.DataFrame:
    """Return a row for each step of each pair: the throughput of both sides."""
    frames = []
    for pair in report.once(pairs.find):
        system = pair.measure(SYSTEM)
        frames.append(
            pair.steps.assign(
                half=pair.steps["direction"],
                background_load=pair.steps["load"],
                background_iterations_per_second=pair.steps["background"],
                foreground_iterations_per_second=pair.steps["foreground"],
                iterations_per_second=system if pair.is_one_program else math.nan,
                weighted_speedup=math.nan if pair.is_one_program else system,
                relative_to_per_chip=pairs.relative(report, pair, SYSTEM),
                per_watt_hour=pair.measure(PER_WATT_HOUR),
                per_watt_hour_relative=pairs.relative(report, pair, PER_WATT_HOUR),
            ).assign(**_common(pair))
        )
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


TABLES = (
    Table(
        "interference",
        "All pairs",
        "environment placement foreground background tau_seconds round metric_percent "
        "low_percent high_percent first_half_percent second_half_percent angle_degrees agree "
        "significant first_points first_intercept first_intercept_p first_slope first_slope_p "
        "second_points second_intercept second_intercept_p second_slope second_slope_p "
        "first_low_percent first_high_percent second_low_percent second_high_percent "
        "(measured_in) others note (set) kvm_percent lxc_percent",
        df_interference,
        about="For runs side by side: a row for each pair of records, with the metric, the "
        "marks, and the line of the foreground's throughput over the background's load in "
        "both halves. Two records of a run with the roles `foreground` and `background` "
        "are a pair.",
    ),
    Table(
        "interference-steps",
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
)


# Where to run


def compare(report: Report) -> list[tuple[bool, list[Placements]]]:
    """Compare the placements of all pairs, for each environment that has several: first by the
    throughput of both sides or, if that is unknown, of the foreground; then (True) by the work of
    both sides per watt-hour."""
    found = []
    for by_energy in (False, True):
        for environment in pairs.groups(report.once(pairs.find), ("environment",)):
            if len({p.placement for p in environment}) > 1 and not environment[0].is_emulated:
                firsts = [group[0] for group in pairs.groups(environment, SAME_PAIR)]
                found.append((by_energy, [_compare(report, pair, by_energy) for pair in firsts]))
    return found


def _compare(report: Report, pair: Pair, by_energy: bool) -> Placements:
    found = Placements.compare(report, pair, PER_WATT_HOUR if by_energy else SYSTEM)
    if found.is_known or by_energy:
        return found
    return Placements.compare(report, pair, FOREGROUND)


def _finding(pair: Pair, kind: str, sentence: str, scope: str = "all", **values: Any) -> Finding:
    run, is_general = pair.foreground, scope == "all"
    return Finding(
        kind,
        ("Second set: " if run.set else "") + sentence,
        scope,
        environment=run.environment_name,
        measured_in=run.measured_in,
        set=run.set + 1,
        foreground="" if is_general else pair.program,
        background="" if is_general else pair.background_program,
        **values,
    )


def _name(pair: Any, most: int = 120) -> str:
    return f"{pair.program[:most]} beside {pair.background_program[:most]}"


def _range(low: float, high: float) -> str:
    return f"({low:.1f} to {high:.1f})" if math.isfinite(low) and math.isfinite(high) else ""


RELATIVE = " of both sides, each relative to its program alone,"
MEASURES = {  # of one program on both sides, and of two
    FOREGROUND: ("throughput of the foreground", "throughput of the foreground"),
    SYSTEM: ("throughput of both sides", f"throughput{RELATIVE}"),
    PER_WATT_HOUR: ("iterations per watt-hour of both sides", f"work per watt-hour{RELATIVE}"),
}


def _describe_best(found: Placements, by_energy: bool) -> Finding:
    pair, best, second = found.pair, found.names[found.best], found.names[found.second]
    percent, low, high = (
        100 * part for part in (found.advantage, found.interval.low, found.interval.high)
    )
    range_ = f"{percent:.1f} % ({low:.1f} to {high:.1f})"
    sentence = f"{_name(pair, 60)} ({pair.environment}){', energy' if by_energy else ''}: "
    if found.is_clear:
        measure = MEASURES[found.measure][0 if pair.is_one_program else 1]
        sentence += f"{best} is best, with {range_} more {measure} than {second}."
    else:
        sentence += (
            f"no placement is best overall: {best} is {range_} above {second}, which is within "
            "the uncertainty."
        )
    for change in found.changes:
        if change.is_clear:
            load, *ends = (
                100 * at for at in (change.load, change.interval.low, change.interval.high)
            )
            sentence += (
                f" Above a background load of {load:.0f} % ({ends[0]:.0f} to {ends[1]:.0f}), "
                f"{change.above} is better than {change.below}."
            )
    if found.measure == FOREGROUND:
        sentence += _describe_unknown(pair)
    return _finding(
        pair,
        "placement-energy" if by_energy else "placement",
        sentence,
        scope="pair",
        placement=best,
        against=second,
        measure=found.measure,
        percent=percent,
        low_percent=low,
        high_percent=high,
        told="yes" if found.is_clear else "no",
        count=found.by_rounds or found.steps,
        of="rounds" if found.by_rounds else "steps",
    )


def _describe_unknown(pair: Pair) -> str:
    """Return why only the throughput of the foreground is compared."""
    sides = zip((pair.program, pair.background_program), pair.alone)
    unknown = [name for name, alone in sides if math.isnan(alone.throughput)]
    why = "the iterations of the background were not counted."
    if unknown and not pair.is_one_program:
        why = f"{unknown[0][:60]} was not measured alone."
    return f" Which placement is best for both sides together is unknown: {why}"


def _count_best(compared: list[Placements], by_energy: bool) -> Finding | None:
    """Return for how many pairs of an environment each placement is best."""
    known = [placements for placements in compared if placements.is_known]
    single = 0 if by_energy else len(compared) - len(known)  # by energy, the power is unknown
    best = Counter(p.names[p.best] for p in known if p.is_clear)
    unclear, count = len(known) - best.total(), len(known) + single
    foreground = sum(p.measure == FOREGROUND for p in known)
    if not count:
        return None
    verbs = ["is best for", *["for"] * len(best)]
    parts = {
        ", ".join(f"{name} {verb} {best[name]}" for name, verb in zip(best, verbs)): len(best),
        f"the differences are within their uncertainty for {unclear}": unclear,
        f"no two placements have three steps in common, so none is best, for {single}": single,
    }
    pair = compared[0].pair
    what = " for the most work per watt-hour" if by_energy else ""
    sentence = (
        f"Where to pin{what} ({pair.environment}): "
        f"{'; '.join(part for part, has in parts.items() if has)} of {count} ordered "
        f"pair{'' if count == 1 else 's'}."
    )
    if foreground:
        sentence += (
            f" For {foreground} of them, only the throughput of the foreground is known."
        )
    kind, told = "placement-energy" if by_energy else "placement", "yes" if best else "no"
    return _finding(pair, kind, sentence, told=told, count=count, of="pairs")


# What an environment costs


def _costs(report: Report, pair: Pair) -> Any:
    """Return by how many percent the steps of a pair are slower than those of the same pair, with
    the same placement and round, on the host."""
    outside = pair.closest(
        other
        for other in pairs.alike(report, pair, ("placement", *PROGRAMS, "round"))
        if other.foreground.on_host
        and others_permit(pair.foreground.others, other.foreground.others)
    )
    if not outside:
        return np.empty(0)
    there = pair.beside_own(outside, outside.steps["foreground"])
    return (100 * (1 - pair.steps["foreground"] / there)).dropna().to_numpy()


def _find_costs(report: Report, general: bool) -> Iterator[Finding]:
    """Yield what each environment costs all its pairs, or each of them. Uses the medians of runs
    if there are enough runs, because the steps of a run are not independent."""
    names = ("environment",) if general else (*TABLE, *PROGRAMS)
    for group in pairs.groups(report.once(pairs.find), names):
        pair = group[0]
        if pair.foreground.on_host or pair.is_emulated:
            continue
        costs = [found for one in group if len(found := _costs(report, one))]
        if not costs and not general:
            continue
        by_run = len(costs) >= RUNS_MIN
        values = [statistics.median(of) for of in costs] if by_run else np.concatenate([[], *costs])
        percent = statistics.median(values)
        interval = statistics.median_interval(values, report.settings.confidence)
        low, high = (interval.low, interval.high) if len(values) else (math.nan, math.nan)
        is_clear, of = low > 0 or high < 0, "runs" if by_run else "steps"
        what = "" if general else f", {_name(pair, 60)}, {pair.placement}"
        cost = _describe_cost(percent, low, high, f"{len(values)} {of}")
        yield _finding(
            pair,
            "environment",
            f"{pair.environment}{what}{cost}",
            scope="all" if general else "pair",
            placement="" if general else pair.placement,
            against=HOST,
            percent=percent,
            low_percent=low,
            high_percent=high,
            told="yes" if is_clear else "no",
            count=len(values),
            of=of,
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
    costs = " costs" if low > 0 else ": the cost is within its uncertainty,"
    return (
        f"{costs} {percent:.1f} % {_range(low, high)} of the foreground's throughput on the host; "
        f"median of {count}."
    )


def _forbidden(found: list[Pair]) -> Finding | None:
    """Return how many runs are not compared because of other processes, of those that differ at
    most in placement and environment."""
    both = [
        (one.foreground.others, other.foreground.others)
        for group in pairs.groups(found, (*PROGRAMS, "round"))
        for at, one in enumerate(group)
        for other in group[at + 1 :]
    ]
    forbidden = sum(not others_permit(*others) for others in both)
    if not forbidden:
        return None
    return Finding(
        "others",
        f"{forbidden} of {len(both)} comparisons of placements and environments are left out: the "
        "share of the machine that other processes used differs by more than "
        f"{100 * OTHERS_MAX:g} points between the runs, which may explain a difference in "
        "throughput.",
    )


def findings(report: Report) -> Iterator[Finding]:
    found, compared = report.once(pairs.find), report.once(compare)
    general = [_forbidden(found), *(_count_best(group, by_energy) for by_energy, group in compared)]
    yield from filter(None, general)
    yield from _find_costs(report, True)
    for emulated in pairs.groups(found, ("environment",)):
        if emulated[0].is_emulated:
            yield _finding(
                emulated[0],
                "left-out",
                "tcg is left out of the findings: an emulated machine says nothing about a real "
                "one.",
                told="no",
                count=len(emulated),
                of="runs",
            )
    for by_energy, group in compared:
        yield from (_describe_best(one, by_energy) for one in group if one.is_known)
    yield from _find_costs(report, False)


# Question and answer


def answer(report: Report) -> Headline | None:
    found = report.once(pairs.find)
    if not found:
        return None
    if len(pairs.groups(found, ("placement",))) > 1:
        is_one = len(pairs.groups(found, PROGRAMS)) == 1
        names = f"{found[0].program[:120]} and {found[0].background_program[:120]}"
        if found[0].program == found[0].background_program:
            names = f"two copies of {found[0].program[:120]}"
        what = names if is_one else "these programs"
        return Headline(
            f"Where should {what} run?", finding=first(report.findings, "placement", not is_one)
        )
    if len(pairs.groups(found, ("environment",))) > 1:
        names_ = [p.foreground.environment_name for p in found if not p.foreground.on_host]
        several = len(set(names_)) > 1
        cost = "do these environments" if several else f"does {names_[-1][:120]}"
        return Headline(f"What {cost} cost?", finding=first(report.findings, "environment"))
    return _ask_who(report.once(pairs.df_round_means))


def _ask_who(means: pd.DataFrame) -> Headline:
    known = means[np.isfinite(means["percent"])]
    if len(means) == 1:
        sides = means[list(PROGRAMS)].iloc[0]
        who = "another copy of itself" if sides.nunique() == 1 else sides["program"]
        question = f"How much does {sides['background_program'][:120]} disturb {who}?"
        return Headline(question, _answer_one(known.iloc[0]) if len(known) else "")
    question = "How much do these programs disturb each other?"
    if known.empty:
        return Headline(question)
    ends = known.loc[[known["percent"].idxmin(), known["percent"].idxmax()]]
    least, most = (
        f"{_name(row)}: {row.percent:.1f} % {_range(row.low, row.high)}".rstrip()
        for row in ends.itertuples()
    )
    return Headline(
        question,
        f"Beside a background at full load the foreground loses most in {most} of its throughput, "
        f"and least in {least}.",
    )


def _answer_one(mean: pd.Series) -> str:
    is_gain = mean["percent"] < 0
    ends = (-mean["high"], -mean["low"]) if is_gain else (mean["low"], mean["high"])
    words = [f"{abs(mean['percent']):.1f} %", _range(*ends), "higher" if is_gain else "lower"]
    doubt = "" if mean["significant"] else " than alone, which is within the uncertainty"
    rounds = f", mean of {mean['rounds']} rounds" if mean["rounds"] > 1 else ""
    return (
        f"{_name(mean)}: beside a background at full load, the foreground's throughput is "
        f"{' '.join(filter(None, words))}{doubt}{rounds}."
    )


def notes(report: Report) -> None:
    pairs.note(report)


def text(report: Report) -> str:
    """Return the table unless it is so long that it would hide the findings."""
    sheet = report.table("interference")
    if len(sheet) > PAIRS_MAX:
        return f"\ninterference of {len(sheet)} pairs: see interference.csv (--output)\n"
    return sheet.text("interference metric in %, and its confidence interval")


# Policy


def policy(report: Report, pair: str = "", by_energy: bool = False) -> str:
    """Return the rules for ssactuate by which a pair always has its best placement."""
    found = _find_compared(report, pair, PER_WATT_HOUR if by_energy else SYSTEM)
    foreground, background = (
        run.record.load_cpus for run in (found.pair.foreground, found.pair.background)
    )
    # Loads in a study are relative to the background's CPUs, loads in a policy to all of them.
    known = foreground > 0 and background > 0
    share = background / (foreground + background) if known else 0.5
    rules = _drop_empty(_find_rules(found, share))
    if len(rules) < 2:
        raise UserError(
            "--policy: no change of the best placement is certain and leaves loads on both sides "
            f"of it; {found.names[found.best]} is the best one on average"
        )
    for name, *_ in rules:
        if name not in SCHEMES:
            raise UserError(
                f"--policy: {name} is the best placement at some loads, but pin of ssactuate(1) "
                "has only free, per-chip, per-core and per-thread"
            )
    what = "Work per watt-hour" if by_energy else "Throughput"
    sides = f"{found.pair.program} beside {found.pair.background_program}"
    sides += f" ({found.pair.environment})"
    lines = [
        f"# {what} of both sides: {sides}, {found.steps} steps, confidence "
        f"{100 * report.settings.confidence:g} %.",
        "# The load is that of the background, relative to all CPUs; it has "
        f"{100 * share:.3g} % of them.",
        "load side",
    ]
    return "\n".join([*lines, *(_rule(*rule) for rule in rules), ""])


def _find_compared(report: Report, named: str, measure: str) -> Placements:
    def is_named(pair: Pair) -> bool:
        words = (pair.program, pair.background_program, pair.foreground.environment_name)
        parts = named.split(",")
        return not named or (2 <= len(parts) <= 3 and all(a == b for a, b in zip(parts, words)))

    firsts = [group[0] for group in pairs.groups(report.once(pairs.find), SAME_PAIR)]
    chosen = [pair for pair in firsts if pair.set == 0 and is_named(pair)]
    compared = [Placements.compare(report, pair, measure) for pair in chosen]
    known = [placements for placements in compared if placements.is_known]
    if len(known) == 1:
        return known[0]
    if known:
        pair = known[0].pair
        such = f"{pair.program[:100]},{pair.background_program[:100]}"
        raise UserError(
            "--policy is for one pair, but several have more than one placement: choose one, such "
            f"as --pair {such},{pair.foreground.environment_name}"
        )
    if named and not chosen:
        raise UserError(
            f'--pair: there is no pair "{show(named)}": use FOREGROUND,BACKGROUND[,ENVIRONMENT]'
        )
    what = "work per watt-hour" if measure == PER_WATT_HOUR else "throughput"
    raise UserError(
        f"--policy: no pair has two placements with three steps in common in which the {what} of "
        "both sides is known"
    )


Rule = tuple[str, float, float]  # a placement, and from which load to which


def _find_rules(found: Placements, share: float) -> list[Rule]:
    """Return rules from the certain changes. Across an uncertain one, a placement remains."""
    rules: list[Rule] = []
    for change in (change for change in found.changes if change.is_clear):
        if not rules:
            rules.append((change.below, -math.inf, math.inf))
        name, from_, _ = rules[-1]
        if name == change.above:
            continue
        load, low, high = (
            share * at for at in (change.load, change.interval.low, change.interval.high)
        )
        rules[-1] = (name, from_, min(low, load - GAP))
        rules.append((change.above, max(high, load + GAP), math.inf))
    return rules


def _drop_empty(rules: list[Rule]) -> list[Rule]:
    """Leave out rules whose range no load can be in, because changes are close to each other, to
    idle or to full load. Around them, the previous placement remains."""
    kept: list[Rule] = []
    for name, from_, to in rules:
        if to - from_ < LENGTH_MIN or to < LENGTH_MIN or from_ > 1 - LENGTH_MIN:
            continue
        if kept and kept[-1][0] == name:
            from_ = kept.pop()[1]
        kept.append((name, from_, to))
    return kept


def _rule(placement: str, from_: float, to: float) -> str:
    if math.isinf(from_):
        return f"below {100 * to:.1f}% pin={placement}"
    end = "" if math.isinf(to) else f" {100 * to:.1f}%"
    return f"{'between' if end else 'above'} {100 * from_:.1f}%{end} pin={placement}"


# Page


Far = tuple[bool, str, str]  # whether as a background, the program, and its placement


def _shade(frame: pd.DataFrame) -> tuple[float, list[Far]]:
    """Return the interference with the darkest color, and the programs beyond, which would leave
    all other fields pale. `frame` has the pairs of an environment."""
    far: list[tuple[int, Far, pd.Series]] = []
    for name in ("foreground", "background"):
        groups = frame.groupby(["placement", name], sort=False, dropna=False)
        medians = groups["metric_percent"].median()
        for (placement, program), own in medians.items():
            others = medians[placement].drop(program).dropna()
            is_own = (frame["placement"] == placement) & (frame[name] == program)
            if _is_far(own, others):
                far.append((is_own.argmax(), (name == "background", program, placement), is_own))
    far.sort(key=lambda one: one[:2])
    size = frame["metric_percent"].abs()
    within = size[~np.any([own for *_, own in far], axis=0)] if far else size
    most = float(np.fmax.reduce(within, initial=RANGE_MIN))
    return most, [key for _, key, own in far if size[own].max() > most]


def _is_far(own: float, others: pd.Series) -> bool:
    """Return whether a median is far from those of the other programs in the same table."""
    if len(others) < FAR_OTHERS:
        return False
    low, high = others.quantile([0.25, 0.75])
    return bool(max(low - own, own - high) > max(FAR_RANGES * (high - low), FAR_MIN))


def _field(mean: Any, most: float, far: list[Far]) -> Field:
    """Return a field of a table. A difference that may be noise is not shaded."""
    ends = {(False, mean.program, mean.placement), (True, mean.background_program, mean.placement)}
    return Field(
        page_number(mean.percent, 1) + ("\u2225" if mean.rounds and mean.agree else ""),
        _range(mean.low, mean.high).strip("()"),
        figures.ORANGE if mean.percent >= 0 else figures.BLUE,
        min(abs(mean.percent) / most, 1) if mean.significant else 0,
        not ends.isdisjoint(far),
    )


def _matrices(report: Report) -> Iterator[Part]:
    """Yield a table of each environment and placement, foregrounds by row."""
    yield (
        "Fields show by how many percent the foreground's throughput falls from an idle background "
        f"to one at full load (mean of all rounds), and its {100 * report.settings.confidence:g} % "
        "confidence interval. Only significant values are shaded: lines through both halves of the "
        "staircase (p < 0.05), or the mean of several rounds. \u2225: both halves agree. "
        "Foregrounds by row, backgrounds by column."
    )
    means = report.once(pairs.df_round_means)
    for environment in pairs.groups(report.once(pairs.find), ("environment",)):
        first = environment[0]
        most, far = _shade(pd.DataFrame(_common(pair) | pair.interference for pair in environment))
        own = means[(means["set"] == first.set) & (means["environment"] == first.environment)]
        for placement, rows in own.groupby("placement", sort=False, dropna=False):
            fields = {
                (mean.program, mean.background_program): _field(mean, most, far)
                for mean in rows.itertuples()
            }
            second = " (second set)" if first.set else ""
            yield Matrix.of(f"{first.environment}, {placement}{second}", fields)
        outliers = ", ".join(
            f"{name} as {'background' if is_background else 'foreground'} with {placement}"
            for is_background, name, placement in far
        )
        beyond = f" Outliers beyond this range (dashed): {outliers}." if far else ""
        yield f"{first.environment}: the deepest color is {most:.1f} % lost or gained.{beyond}"


SIDES = ("foregrounds by row, backgrounds by column", "backgrounds by row, foregrounds by column")


def _pictures_of_pair(report: Report, pair: Pair) -> Iterator[Part]:
    means = ": means of the steps over time" if len(pair.steps) > 1 else ""
    captions = {
        "sides": "Throughput of both sides against the background's load; \u25b2 going up, \u25bd "
        "going down",
        SYSTEM: f"Throughput of both sides together{means}",
        PER_WATT_HOUR: f"Throughput of both sides per watt-hour{means}",
    }
    like = pairs.alike(report, pair, SAME_PAIR)
    for what, caption in captions.items():
        fig = plot_panels(report, like, what)
        if fig:
            yield Picture(figures.svg(fig), caption)
    for group in pairs.groups(like, ["round"]):
        power = ", power" if len(group[0].background.energy) > 1 else ""
        caption = f"Load of the background, throughput of the foreground{power}; thick: means of "
        yield Picture(figures.svg(plot_placements(report, group)), f"{caption}the steps")


def sections(report: Report) -> Iterator[Section]:
    found = report.once(pairs.find)
    if not found:
        return
    parts: list[Part] = [*_matrices(report)]
    parts.append(
        "In each field: the throughput of the row's program, in percent of its highest in any "
        "field, against the background's load; dashed in the second half of the staircase. All "
        "fields have the axes of the one at the lower left."
    )
    for environment in pairs.groups(found, ("environment",)):
        name = environment[0].environment + (", second set" if environment[0].set else "")
        for side, words in zip((FOREGROUND, "background"), SIDES):
            fig = plot_matrix(report, environment, side)
            if fig:
                width = round(72 * fig.get_figwidth())
                parts.append(Picture(figures.svg(fig), f"{name}: {words}", width=width))
    for pair, *_ in pairs.groups(found, SAME_PAIR):
        second = ", second set" if pair.set else ""
        summary = f"{pair.environment}{second}: {pair.program} beside {pair.background_program}"
        parts.append(Fold(summary, list(_pictures_of_pair(report, pair))))
    tables = [report.table(name) for name in ("interference", "interference-steps")]
    yield Section("Interference", [*parts, *tables])
