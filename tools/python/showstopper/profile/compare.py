# SPDX-License-Identifier: Apache-2.0
"""ssprofile compare: how much faster each target is than the base, benchmark by benchmark."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from ..report.figures import Picture
from ..report.tables import Sheet, columns, sheet_of
from ..text import UserError, say
from . import plots
from .measure import read_battery
from .output import Output, decimals, listed, name_outside, print_warnings, show_range
from .ratios import (
    MISSING, SPREAD_MAX, UNSTABLE, Figures, Matching, Ratios, compare, is_chance, reduction_of,
    scatter,
)
from .results import KEY, Choice, Profile, Results, Throttle, Warnings, halves, read

_HALF_MIN = 5  # repetitions of a half; with fewer, its interval is too wide

_BENCHMARK = {"target": "Target", "benchmark": "Benchmark", "class": "Class"}
_SPREADS = {"base_spread_percent": ("Base spread, %", 2), "target_spread_percent": ("Spread, %", 2)}
RANGES = columns(
    target="Target", benchmarks="Benchmarks", least=("Least", 4), most=("Most", 4),
    length=("Length", 4), median=("Median", 4), mean=("Mean", 4),
    geometric_mean=("Geometric mean", 4), most_to_least=("Most/least", 4),
    variation_percent=("Variation, %", 2), coverage_percent=("Coverage, %", 1),
)
REDUCTIONS = columns(
    plain="Plain", throttled="Throttled", benchmarks="Benchmarks",
    reduction=("Range shorter by", 4), factor=("Common factor", 4),
    relative=("Relative spread", 4), factor_share_percent=("Factor's share, %", 1),
    most_to_least_before=("Most/least before", 4), most_to_least_after=("After", 4),
)
LEFT_OUT = columns(**_BENCHMARK, why="Why", **_SPREADS)
RATIOS = columns(
    **_BENCHMARK, ratio=("Ratio", 4), log_ratio="", base_repetitions="Base reps",
    target_repetitions="Reps", **_SPREADS,
)


# Findings


def _say_range(ratios: Ratios) -> str:
    figures, name, base = ratios.figures, ratios.target.name, ratios.base.name
    if figures.benchmarks < 2:
        only = f"{figures.median:.4f} times as fast as {base} in the only benchmark that both have"
        return f"{name} is {only}."
    digits = decimals(figures.least, figures.most)
    return (
        f"{name} is {show_range(figures.least, figures.most, ' to ')} times as fast as {base} "
        f"({figures.benchmarks} benchmarks, median {figures.median:.{digits}f}, length of the "
        f"range {figures.length:.{digits}f}); one more benchmark of the same kind lies in this "
        f"range with a probability of {figures.coverage_percent:.1f}%."
    )


def _say_chance(figures: Figures, whole: str) -> Iterator[str]:
    more = "" if figures.benchmarks == 1 else "s"
    yield (
        f"Only chance distinguishes the odd from the even repetitions of {whole}: the ratios of "
        f"{figures.benchmarks} benchmark{more} lie between {figures.least:.4f} and "
        f"{figures.most:.4f}, with a median of {figures.median:.4f}; one more benchmark of the "
        f"same kind lies in this range with a probability of {figures.coverage_percent:.1f}%."
    )
    yield "A difference between machines that is smaller than this may be chance."


def _say_left_out(ratios: Ratios) -> str:
    why, names = ratios.left_out["why"], ratios.left_out["benchmark"]
    unstable, missing = why == UNSTABLE, why == MISSING
    counts = {
        f"unstable ({listed(names[unstable].tolist())})": unstable.sum(),
        "that only one side has": missing.sum(),
        "whose direction differs or whose ratio is not a number": (~unstable & ~missing).sum(),
    }
    known = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    count = len(why) + ratios.figures.benchmarks
    return f"Benchmarks left out for {ratios.target.name}, of {count}: {known or 'none'}."


def _say_within(ratios: Ratios, part: float) -> str:
    table = ratios.table
    inside = table["ratio"].between(1 - part, 1 + part)
    return (
        f"{inside.sum()} of {len(table)} ratios of {ratios.target.name} lie in "
        f"[{1 - part:.4g}, {1 + part:.4g}]{name_outside(table[~inside], '.4f')}."
    )


def _say_limit(ratios: Ratios) -> str:
    return (
        "A throttle slows all benchmarks by about the same factor, so it would move the range of "
        f"{ratios.target.name}, but hardly change its relative spread: the largest ratio is "
        f"{ratios.figures.most_to_least:.3f} times the smallest."
    )


# Why ranges are shorter


class _Pair(NamedTuple):
    """A target without and under a throttle, in the benchmarks that both have."""

    plain: Profile
    throttled: Profile
    before: Figures
    after: Figures
    scattered: float  # what chance can explain, see scatter()

    @property
    def row(self) -> dict[str, object]:
        names = {"plain": self.plain.name, "throttled": self.throttled.name}
        return names | reduction_of(self.before, self.after)


def _pairs(compared: Sequence[Ratios]) -> Iterator[_Pair]:
    """Compare each throttled target with the plain one of the same machine."""
    plains = {one.target.machine: one for one in compared if one.target.is_plain}
    for other in compared:
        plain = plains.get(other.target.machine)
        if plain and not other.target.is_plain:
            before = plain.table.merge(other.table[KEY])
            after = other.table.merge(plain.table[KEY])
            if len(before) > 1:
                figures = Figures.of(before["ratio"]), Figures.of(after["ratio"])
                scattered = max(scatter(before), scatter(after))
                yield _Pair(plain.target, other.target, *figures, scattered)


def _say_reduction(pair: _Pair) -> Iterator[str]:
    """Say how much shorter the range is under a throttle, and why."""
    before, after, limits = pair.before, pair.after, pair.throttled.limits
    spans = (f"[{show_range(one.least, one.most)}]" for one in (after, before))
    yield (
        f"Under {limits}, the ratios of {pair.throttled.machine} in the {before.benchmarks} "
        f"benchmarks that both have span {' instead of '.join(spans)}, a length of "
        f"{after.length:.2f} instead of {before.length:.2f}."
    )
    quotient = after.most_to_least / before.most_to_least
    verb = "narrows" if quotient < 1 else "widens"
    if is_chance(max(quotient, 1 / quotient), pair.scattered):
        verb = "stays the same"
    yield (
        f"The relative spread {verb}: the largest ratio is {before.most_to_least:.3f} times the "
        f"smallest before and {after.most_to_least:.3f} times under {limits}; repeated runs differ "
        f"by {100 * pair.scattered:.1f}%."
    )
    if limits.startswith("frequency-"):
        yield (
            "A lower frequency slows benchmarks that wait for memory less than those that compute."
        )
        return
    parts = reduction_of(before, after)
    yield (
        f"A throttle slows all benchmarks by about the same factor, here {parts['factor']:.2f}, so "
        "it moves the range, but hardly changes its relative spread, here by a factor of "
        f"{parts['relative']:.2f}."
    )


# The command


def _sides(values: argparse.Namespace, warnings: Warnings) -> list[Profile]:
    """Return the base and the targets."""
    known: dict[str, Results] = {}  # a pipe can be read only once
    sides: list[Profile] = []
    for word in values.words:
        path, names = Choice.of(word)
        if path not in known:
            known[path] = read(path)
            warnings.extend(known[path].warnings)
        profiles = known[path].profiles
        is_one_machine = len({profile.machine for profile in profiles}) == 1
        if values.all and sides and not names and is_one_machine:
            found = sorted(profiles, key=lambda profile: not profile.is_plain)
        else:
            found = [known[path].find(names)]
        if sides and not values.force:
            found[0].origin.check(sides[0].origin, path)
        sides += found
    targets = [side.name for side in sides[1:]]
    twice = [name for name in targets if targets.count(name) > 1]
    if values.all and twice:
        more = "measure each under its own name with ssprofile measure --machine"
        raise UserError(f"two targets are named {twice[0]}: {more}")
    return _split(sides[0], warnings) if values.halves else sides


def _split(whole: Profile, warnings: Warnings) -> list[Profile]:
    found = halves(whole)
    counts = [half.benchmarks["repetitions"] for half in found]
    least = int(pd.concat(counts, axis=1, join="inner").to_numpy().min())
    if least < _HALF_MIN:
        repetitions = f"{least} repetition{'' if least == 1 else 's'} of a benchmark"
        why = f"a half has only {repetitions}, so its interval is wide"
        warnings.add("half", f"{why}: measure at least {2 * _HALF_MIN} repetitions")
    return found


def _compare_all(
    values: argparse.Namespace, sides: Sequence[Profile], warnings: Warnings
) -> list[Ratios]:
    """Compare the targets with the base, without unstable benchmarks if both were measured."""
    battery = read_battery(values.battery) if values.battery else None
    base, *targets = sides
    compared = []
    for target in targets:
        unstable = SPREAD_MAX if base.origin.measured and target.origin.measured else math.inf
        unstable = unstable if values.spread is None else values.spread / 100
        matching = Matching(values.benchmarks, battery, unstable)
        compared.append(compare(base, target, matching, warnings))
    return compared


def _findings(
    values: argparse.Namespace, compared: Sequence[Ratios], pairs: Sequence[_Pair]
) -> Iterator[str]:
    for ratios in compared:
        if values.halves:
            yield from _say_chance(ratios.figures, ratios.base.name.removesuffix("-odd"))
        else:
            yield _say_range(ratios)
        if values.halves or len(ratios.left_out):
            yield _say_left_out(ratios)
        if values.within is not None and not ratios.target.is_plain:
            yield _say_within(ratios, values.within / 100)
    for pair in pairs:
        yield from _say_reduction(pair)
    profiles = [compared[0].base, *(one.target for one in compared)]
    for limits in dict.fromkeys(profile.limits for profile in profiles):
        if meaning := Throttle.of(limits).explain():
            yield f"{limits}: {meaning}."
    paired = {pair.plain.name for pair in pairs}
    for one in compared if not values.halves else ():
        is_alone = one.target.is_plain and one.target.name not in paired
        if is_alone and one.figures.benchmarks > 1:
            yield _say_limit(one)


def _sheets(compared: Sequence[Ratios], pairs: Sequence[_Pair]) -> list[Sheet]:
    ranges = [{"target": one.target.name, **vars(one.figures)} for one in compared]
    left_out = pd.concat([one.left_out for one in compared], ignore_index=True)
    ratios = pd.concat([one.table for one in compared], ignore_index=True)
    reductions = pd.DataFrame([pair.row for pair in pairs])
    return [
        sheet_of("ranges", "Ranges", RANGES, pd.DataFrame(ranges)),
        sheet_of("reductions", "Why ranges are shorter", REDUCTIONS, reductions),
        sheet_of("left_out", "Left out", LEFT_OUT, left_out),
        sheet_of("ratios", "Ratios", RATIOS, ratios),
    ]


def _draw(compared: Sequence[Ratios]) -> Iterator[Picture]:
    for machine in dict.fromkeys(one.target.machine for one in compared):
        series = [
            plots.Series(
                one.target.limits, one.table, one.figures.least, one.figures.most,
                one.figures.coverage_percent,
            )
            for one in compared if one.target.machine == machine
        ]  # fmt: skip
        bins = f"number of benchmarks by ratio, in bins of {plots.bin_of(series):g}"
        how = "Shaded: the range. Dashed: as fast as the base."
        yield Picture(f"{machine}: {bins}", plots.plot_histograms(series), how=how)
        if plots.is_wide(series):
            how += " The axis is logarithmic: one factor moves all points equally far."
        yield Picture(f"{machine}: ratio of each benchmark", plots.plot_dots(series), how=how)


def _make(values: argparse.Namespace, warnings: Warnings) -> Output:
    compared = _compare_all(values, _sides(values, warnings), warnings)
    pairs = [*_pairs(compared)]
    findings = [*_findings(values, compared, pairs)]
    title = "One profile against itself" if values.halves else "Profiles compared"
    base, pictures = compared[0].base.name, [*_draw(compared)] if values.output else []
    return Output("compare", title, findings, _sheets(compared, pairs), base, warnings, pictures)


def run(values: argparse.Namespace) -> int:
    warnings = Warnings()
    try:
        output = _make(values, warnings)
    finally:
        print_warnings(warnings)
    if values.output:
        output.write(values.output)
    if not values.quiet:
        say(output.text())
    return 0
