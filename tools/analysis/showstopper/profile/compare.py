# SPDX-License-Identifier: Apache-2.0
"""ssprofile compare: how much faster each target is than the base, benchmark by benchmark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from .. import page, published
from ..cli import say
from ..options import Values
from ..tables import Column, Sheet
from ..text import UserError, read_texts
from . import pictures
from .measure import read_battery
from .output import (
    Output, decimals, listed, name_outside, picture, print_warnings, sheet, show_range,
)
from .ratios import (
    CONTRADICTORY, MISSING, NO_NUMBER, SPREAD_MAX, UNSTABLE, Figures, Matching, Ratios, Reduction,
    compare, is_chance, scatter,
)
from .results import KEY, Choice, Origin, Profile, Results, Throttle, Warnings, halves, read

_HALF_MIN = 5  # with fewer repetitions, a half seems by chance as unstable as a benchmark can be

_TARGET = Column("target", "Target")
_BENCHMARK = (_TARGET, Column("benchmark", "Benchmark"), Column("class", "Class"))
_SPREADS = (
    Column("base_spread_percent", "Base spread, %", 2),
    Column("target_spread_percent", "Spread, %", 2),
)
_RANGE = (
    Column("benchmarks", "Benchmarks"), Column("least", "Least", 4), Column("most", "Most", 4),
    Column("length", "Length", 4), Column("median", "Median", 4), Column("mean", "Mean", 4),
)
RANGES = (
    _TARGET, *_RANGE, Column("geometric_mean", "Geometric mean", 4),
    Column("most_to_least", "Most/least", 4), Column("variation_percent", "Variation, %", 2),
    Column("coverage_percent", "Coverage, %", 1),
)
PUBLISHED = (
    Column("base", "Base"), _TARGET, Column("limits", "Limits"),
    *(replace(column, decimals=min(column.decimals, 2)) for column in _RANGE),
    Column("applications", "Applications"), Column("inside", "Inside"),
)
REDUCTIONS = (
    Column("plain", "Plain"), Column("throttled", "Throttled"), Column("benchmarks", "Benchmarks"),
    Column("reduction", "Range shorter by", 4), Column("factor", "Common factor", 4),
    Column("relative", "Relative spread", 4),
    Column("factor_share_percent", "Factor's share, %", 1),
    Column("most_to_least_before", "Most/least before", 4),
    Column("most_to_least_after", "After", 4),
)
LEFT_OUT = (*_BENCHMARK, Column("why", "Why"), *_SPREADS)
RATIOS = (
    *_BENCHMARK, Column("ratio", "Ratio", 4), Column("log_ratio"),
    Column("base_repetitions", "Base reps"), Column("target_repetitions", "Reps"), *_SPREADS,
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
    others = why.isin([CONTRADICTORY, NO_NUMBER])
    parts = [
        f"{unstable.sum()} unstable ({listed(names[unstable].tolist())})",
        f"{missing.sum()} that only one side has",
        f"{others.sum()} whose direction differs or whose ratio is not a number",
    ]
    known = ", ".join(part for part in parts if not part.startswith("0 "))
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


def _say_reduction(
    target: Profile, before: Figures, after: Figures, reduction: Reduction, scattered: float
) -> Iterator[str]:
    """Say how much shorter the range is under a throttle, and why."""
    machine, limits, shorter = target.machine, target.limits, reduction.reduction
    by_chance = is_chance(before.most_to_least, scattered)
    times = (
        f"{before.most_to_least:.3f} times the smallest before and {after.most_to_least:.3f} times "
        f"under {limits}"
    )

    change = ""
    if not by_chance and 0 < shorter < math.inf:
        is_shorter = shorter >= 1
        change = f", {max(shorter, 1 / shorter):.2f} times {'shorter' if is_shorter else 'longer'}"
    yield (
        f"Under {limits}, the ratios of {machine} in the {before.benchmarks} benchmarks that both "
        f"have span [{show_range(after.least, after.most)}] instead of "
        f"[{show_range(before.least, before.most)}]{change}."
    )
    if limits.startswith("frequency-"):
        quotient = after.most_to_least / before.most_to_least
        stays = is_chance(max(quotient, 1 / quotient), scattered)
        verb = "stays the same" if stays else "narrows" if quotient < 1 else "widens"
        yield (
            f"The relative spread {verb}: the largest ratio is {times}. A lower frequency slows "
            "benchmarks that wait for memory less than those that compute."
        )
        return
    if by_chance:
        yield (
            f"The ratios of {machine} differ no more than repeated runs do "
            f"({100 * scattered:.1f}%): the largest is {times}; the common factor is "
            f"{reduction.factor:.2f}, and the rest cannot be distinguished from chance."
        )
        return
    share = reduction.factor_share_percent
    if shorter > 1.05 and math.isfinite(share):
        yield (
            f"Of this factor of {shorter:.2f}, a common slowdown accounts for "
            f"{reduction.factor:.2f} ({share:.1f}% of the logarithm) and the change of the "
            f"relative spread for {reduction.relative:.2f} ({100 - share:.1f}%)."
        )
    yield (
        "A throttle slows all benchmarks by about the same factor, so it moves the range, but "
        f"hardly changes its relative spread: the largest ratio is {times}."
    )


def _reduce(compared: Sequence[Ratios]) -> Iterator[tuple[dict[str, object], Iterator[str]]]:
    """Compare each throttled target with the plain one of the same machine."""
    plains = {one.target.machine: one for one in compared if one.target.is_plain}
    for other in compared:
        plain = plains.get(other.target.machine)
        if other.target.is_plain or not plain:
            continue
        tables = [
            one.table.merge(rest.table[KEY]) for one, rest in ((plain, other), (other, plain))
        ]
        if len(tables[0]) < 2:
            continue
        before, after = (Figures.of(table["ratio"]) for table in tables)
        reduction = Reduction.of(before, after)
        row: dict[str, object] = {"plain": plain.target.name, "throttled": other.target.name}
        row |= vars(reduction)
        scattered = max(map(scatter, tables))
        yield row, _say_reduction(other.target, before, after, reduction, scattered)


# The command


class _Side(NamedTuple):
    profile: Profile
    origin: Origin


def _sides(values: Values, warnings: Warnings) -> list[_Side]:
    known: dict[str, Results] = {}  # a pipe can be read only once
    sides: list[_Side] = []
    for word in values.words:
        path, names = Choice.of(word)
        if path not in known:
            known[path] = read(path)
            warnings.extend(known[path].warnings)
        origin = Origin.of(path)
        profiles = known[path].profiles
        is_one_machine = len({profile.machine for profile in profiles}) == 1
        if values.all and sides and not names and is_one_machine:
            found = sorted(profiles, key=lambda profile: not profile.is_plain)
        else:
            found = [known[path].find(names)]
        if sides and not values.force:
            origin.check(sides[0].origin, path)
        sides += [_Side(profile, origin) for profile in found]

    targets = pd.Series([side.profile.name for side in sides[1:]], dtype=object)
    if values.all and targets.duplicated().any():
        twice = targets[targets.duplicated()].iloc[0]
        more = "measure each under its own name with ssprofile measure --machine"
        raise UserError(f"two targets are named {twice}: {more}")
    return _split(sides[0], warnings) if values.halves else sides


def _split(whole: _Side, warnings: Warnings) -> list[_Side]:
    odd, even = halves(whole.profile)
    counts = [half.benchmarks["repetitions"] for half in (odd, even)]
    common = pd.concat(counts, axis=1, join="inner")
    least = int(common.to_numpy().min())
    if least < _HALF_MIN:
        why = "a half has only %d repetition%s of a benchmark, so its interval is wide"
        more = "" if least == 1 else "s"
        warnings.add(f"{why}: measure at least %d", least, more, 2 * _HALF_MIN)
    return [_Side(half, whole.origin) for half in (odd, even)]


def _compare_all(values: Values, sides: Sequence[_Side], warnings: Warnings) -> list[Ratios]:
    """Compare the targets with the base, without unstable benchmarks if both were measured."""
    matching = Matching(values.benchmarks or "*")
    if values.battery:
        matching = replace(matching, battery=read_battery(values.battery))
    base, *targets = sides
    compared = []
    for target in targets:
        unstable = SPREAD_MAX if base.origin.measured and target.origin.measured else math.inf
        if values.spread is not None:
            unstable = values.spread / 100
        chosen = replace(matching, unstable=unstable)
        compared.append(compare(base.profile, target.profile, chosen, warnings))
    return compared


def _findings(values: Values, compared: Sequence[Ratios]) -> Iterator[str]:
    for ratios in compared:
        if values.halves:
            yield from _say_chance(ratios.figures, ratios.base.name.removesuffix("-odd"))
        else:
            yield _say_range(ratios)
        if values.halves or len(ratios.left_out):
            yield _say_left_out(ratios)
        if values.within is not None and not ratios.target.is_plain:
            yield _say_within(ratios, values.within / 100)


def _sheets(
    values: Values, compared: Sequence[Ratios], reductions: object, warnings: Warnings
) -> list[Sheet]:
    ranges = [{"target": one.target.name, **vars(one.figures)} for one in compared]
    left_out, ratios = (
        pd.concat([getattr(one, name) for one in compared], ignore_index=True)
        for name in ("left_out", "table")
    )
    title, others = _published(values, warnings)
    return [
        sheet("ranges", "Ranges", RANGES, ranges),
        sheet("published", title, PUBLISHED, others),
        sheet("reductions", "Why ranges are shorter", REDUCTIONS, reductions),
        sheet("left_out", "Left out", LEFT_OUT, left_out),
        sheet("ratios", "Ratios", RATIOS, ratios),
    ]


def _published(values: Values, warnings: Warnings) -> tuple[str, pd.DataFrame]:
    """Return ranges that were published for this battery."""
    if values.battery != "stress-ng":
        return "", pd.DataFrame()
    try:
        references, rows = (
            pd.DataFrame(read_texts(published.folder(), f"{name}.csv", None).fields)
            for name in ("references", "variability")
        )
    except UserError as error:
        warnings.add("%s/published figures: %s", published.folder(), error)
        return "", pd.DataFrame()
    source = references.set_index("name").loc["variability", "source"]
    numbers = rows.columns.difference(["base", "target", "limits"])
    return f"Published ranges ({source})", rows.astype(dict.fromkeys(numbers, float))


def _draw(compared: Sequence[Ratios]) -> Iterator[page.Picture]:
    for machine in dict.fromkeys(one.target.machine for one in compared):
        series = [
            pictures.Series(
                one.target.limits, one.table, one.figures.least, one.figures.most,
                one.figures.coverage_percent,
            )
            for one in compared if one.target.machine == machine
        ]
        bins = f"number of benchmarks by ratio, in bins of {pictures.bin_of(series):g}"
        how = "Shaded: the range. Dashed: as fast as the base."
        yield picture(pictures.histogram(series), f"{machine}: {bins}", how)
        if pictures.is_wide(series):
            how += " The axis is logarithmic: one factor moves all points equally far."
        yield picture(pictures.dots(series), f"{machine}: ratio of each benchmark", how)


def _make(values: Values, warnings: Warnings) -> Output:
    compared = _compare_all(values, _sides(values, warnings), warnings)
    findings = [*_findings(values, compared)]
    reductions = []
    for row, said in _reduce(compared):
        reductions.append(row)
        findings += said
    targets = [one.target for one in compared]
    for limits in dict.fromkeys(one.limits for one in (compared[0].base, *targets)):
        if meaning := Throttle.of(limits).explain():
            findings.append(f"{limits}: {meaning}.")
    if not values.halves:
        paired = {row["plain"] for row in reductions}
        findings += [
            _say_limit(one) for one in compared
            if one.target.is_plain and one.target.name not in paired
            and one.figures.benchmarks > 1
        ]
    title = "One profile against itself" if values.halves else "Profiles compared"
    sheets = _sheets(values, compared, reductions, warnings)
    output = Output("compare", title, findings, sheets, compared[0].base.name, warnings)
    if values.output:
        output.pictures += _draw(compared)
    return output


def run(values: Values) -> int:
    warnings = Warnings()
    try:
        output = _make(values, warnings)
    finally:
        print_warnings(warnings)
    if values.output:
        output.write(values.output)
    if not values.quiet:
        say(f"Base: {output.base}\n{output.text()}")
    return 0
