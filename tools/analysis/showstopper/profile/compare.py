# SPDX-License-Identifier: Apache-2.0
"""ssprofile compare: how much faster each target is than the base, benchmark by benchmark."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas as pd

from ..options import Values
from ..tables import Column, Sheet
from ..text import UserError, read_table
from . import pictures
from .measure import read_battery
from .output import Output, decimals, picture, print_warnings, sheet, show_range
from .ratios import (
    CONTRADICTORY, MISSING, NO_NUMBER, SPREAD_MAX, UNSTABLE, Figures, Matching, Ratios, Reduction,
    is_chance, scatter,
)
from .results import Choice, Origin, Profile, Results, Throttle, Warnings, halves, read

_SIDES_MAX = 64
_HALF_MIN = 5  # with fewer repetitions, a half seems by chance as unstable as a benchmark can be
_NAMES_MAX = 8  # in a sentence
_PUBLISHED = os.path.join(os.path.dirname(__file__), "../../../experiments/published")

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


@dataclass(frozen=True)
class Target:
    """A profile that is compared with the base."""

    profile: Profile
    ratios: Ratios

    @property
    def name(self) -> str:
        return self.profile.name

    @property
    def figures(self) -> Figures:
        return self.ratios.figures

    def row(self) -> dict[str, object]:
        """Return the row of the ranges."""
        return {column.name: getattr(self.figures, column.name) for column in RANGES[1:]} | {
            "target": self.name
        }

    def series(self) -> pictures.Series:
        ends = self.figures.least, self.figures.most
        limits, covers = self.profile.limits, self.figures.coverage_percent
        return pictures.Series(limits, self.ratios.table, *ends, covers)


# Findings


def say_range(target: Target, base: str) -> str:
    figures = target.figures
    digits = decimals(figures.least, figures.most)
    least, most, median, length = (
        f"{one:.{digits}f}" for one in (figures.least, figures.most, figures.median, figures.length)
    )
    if figures.benchmarks < 2:
        only = f"{figures.median:.4f} times as fast as {base} in the only benchmark that both have"
        return f"{target.name} is {only}."
    return (
        f"{target.name} is {least} to {most} times as fast as {base} ({figures.benchmarks} "
        f"benchmarks, median {median}, length of the range {length}); one more benchmark of the "
        f"same kind lies in this range with a probability of {figures.coverage_percent:.1f}%."
    )


def say_chance(target: Target, whole: str) -> Iterator[str]:
    figures = target.figures
    more = "" if figures.benchmarks == 1 else "s"
    yield (
        f"Only chance distinguishes the odd from the even repetitions of {whole}: the ratios of "
        f"{figures.benchmarks} benchmark{more} lie between {figures.least:.4f} and "
        f"{figures.most:.4f}, with a median of {figures.median:.4f}; one more benchmark of the "
        f"same kind lies in this range with a probability of {figures.coverage_percent:.1f}%."
    )
    yield "A difference between machines that is smaller than this may be chance."


def say_left_out(target: Target) -> str:
    left_out = target.ratios.left_out
    why = left_out["why"].value_counts(dropna=False) if len(left_out) else {}
    parts = []
    if unstable := why.get(UNSTABLE, 0):
        names = left_out.loc[left_out["why"] == UNSTABLE, "benchmark"].str[:60].tolist()
        more = f" and {unstable - _NAMES_MAX} more" if unstable > _NAMES_MAX else ""
        parts.append(f"{unstable} unstable ({', '.join(names[:_NAMES_MAX])}{more})")
    if missing := why.get(MISSING, 0):
        parts.append(f"{missing} that only one side has")
    if others := why.get(CONTRADICTORY, 0) + why.get(NO_NUMBER, 0):
        parts.append(f"{others} whose direction differs or whose ratio is not a number")
    count = len(left_out) + target.figures.benchmarks
    return f"Benchmarks left out for {target.name}, of {count}: {', '.join(parts) or 'none'}."


def say_within(target: Target, part: float) -> str:
    table = target.ratios.table
    inside = table["ratio"].between(1 - part, 1 + part)
    others = (
        f"{row.benchmark[:200]} {row.ratio:.4f}" for row in table[~inside].itertuples()
    )
    return (
        f"{inside.sum()} of {len(table)} ratios of {target.name} lie in "
        f"[{1 - part:.4g}, {1 + part:.4g}]{name_outside(others)}."
    )


def name_outside(others: Iterator[str]) -> str:
    """Return what is outside of an interval, as far as it fits into a sentence."""
    text, unnamed = "", 0
    for other in others:
        if len(text.encode("utf-8", "surrogateescape")) < 900:
            text += f"{', ' if text else '; outside: '}{other}"
        else:
            unnamed += 1
    return text + (f" and {unnamed} more" if unnamed else "")


def say_limit(target: Target) -> str:
    return (
        "A throttle slows all benchmarks by about the same factor, so it would move the range of "
        f"{target.name}, but hardly change its relative spread: the largest ratio is "
        f"{target.figures.most_to_least:.3f} times the smallest."
    )


def say_reduction(target: Target, reduction: Reduction, scattered: float) -> Iterator[str]:
    """Say how much shorter the range is under a throttle, and why."""
    machine, limits = target.profile.machine, target.profile.limits
    before, after, shorter = reduction.before, reduction.after, reduction.reduction
    by_chance = is_chance(before.most_to_least, scattered)
    times = (
        f"{before.most_to_least:.3f} times the smallest before and {after.most_to_least:.3f} times "
        f"under {limits}"
    )

    change = ""
    if not by_chance and 0 < shorter < math.inf:
        is_shorter = shorter >= 1
        change = f", {max(shorter, 1 / shorter):.2f} times {'shorter' if is_shorter else 'longer'}"
    spans = show_range(after.least, after.most), show_range(before.least, before.most)
    yield (
        f"Under {limits}, the ratios of {machine} in the {before.benchmarks} benchmarks that both "
        f"have span {spans[0]} instead of {spans[1]}{change}."
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


# The command


class Comparison:
    """A base and its targets."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.warnings = Warnings()
        self.findings: list[str] = []
        self.targets: list[Target] = []
        self._read: dict[str, Results] = {}  # by path, since a pipe can be read only once
        self._sides: list[tuple[Profile, Origin]] = []
        self.matching = Matching(values.benchmarks or None, values.__dict__["class"] or None)

    def compare(self) -> Output:
        values = self.values
        if values.battery:
            battery = read_battery(values.battery)
            self.matching = replace(self.matching, battery=battery)
        for at, word in enumerate(values.words):
            for choice in self._choices(word) if values.all and at else [Choice.of(word)]:
                self._add_side(choice)
        self._check_names()
        whole = self._sides[0][0].name
        if values.halves:
            self._split()
        base = self._sides[0][0]
        for profile, origin in self._sides[1:]:
            matching = replace(self.matching, unstable=self._bound(origin))
            target = Target(profile, Ratios(base, profile, matching, self.warnings))
            self.targets.append(target)
            self.findings += self._say(target, whole)
        reductions = list(self._reduce())
        self._explain_limits()
        if not values.halves:
            paired = {row["plain"] for row in reductions}
            alone = [one for one in self.targets if one.profile.is_plain and one.name not in paired]
            self.findings += [say_limit(one) for one in alone if one.figures.benchmarks > 1]
        title = "One profile against itself" if values.halves else "Profiles compared"
        sheets = self._sheets(reductions)
        return Output("compare", title, self.findings, sheets, base.name, self.warnings)

    def _choices(self, word: str) -> list[Choice]:
        """Return all profiles of a machine, the unthrottled one first, or the one that is named."""
        choice = Choice.of(word)
        if choice.machine:
            return [choice]
        profiles = self._results(choice.path).profiles
        if len({profile.machine for profile in profiles}) > 1:
            return [choice]  # cannot be found
        ordered = sorted(profiles, key=lambda profile: not profile.is_plain)
        return [replace(choice, machine=one.machine, limits=one.limits) for one in ordered]

    def _results(self, path: str) -> Results:
        if path not in self._read:
            self._read[path] = read(path)
            self.warnings.extend(self._read[path].warnings)
        return self._read[path]

    def _add_side(self, choice: Choice) -> None:
        if len(self._sides) == _SIDES_MAX:
            raise UserError(f"at most {_SIDES_MAX} profiles can be compared")
        profile = self._results(choice.path).find(choice)
        origin = Origin.of(choice.path)
        if self._sides and not self.values.force:
            origin.check(self._sides[0][1], choice.path)
        self._sides.append((profile, origin))

    def _check_names(self) -> None:
        """Predictions distinguish targets by name."""
        names = [profile.name for profile, _ in self._sides[1:]]
        twice = [name for at, name in enumerate(names) if name in names[:at]]
        if self.values.all and twice:
            more = "measure each under its own name with ssprofile measure --machine"
            raise UserError(f"two targets are named {twice[0]}: {more}")

    def _split(self) -> None:
        whole, origin = self._sides[0]
        both = halves(whole)
        common = both[0].benchmarks.keys() & both[1].benchmarks.keys()
        least = min(len(half.benchmarks[key].results) for half in both for key in common)
        if least < _HALF_MIN:
            why = "a half has only %d repetition%s of a benchmark, so its interval is wide"
            more = "" if least == 1 else "s"
            self.warnings.add(f"{why}: measure at least %d", least, more, 2 * _HALF_MIN)
        self._sides = [(half, origin) for half in both]

    def _bound(self, origin: Origin) -> float:
        """Return the spread above which a benchmark is unstable; infinite for foreign tables."""
        if self.values.spread is not None:
            return float(self.values.spread) / 100
        return SPREAD_MAX if self._sides[0][1].measured and origin.measured else math.inf

    def _say(self, target: Target, whole: str) -> Iterator[str]:
        values = self.values
        if values.halves:
            yield from say_chance(target, whole)
        else:
            yield say_range(target, self._sides[0][0].name)
        if values.halves or len(target.ratios.left_out):
            yield say_left_out(target)
        if values.within is not None and not target.profile.is_plain:
            yield say_within(target, values.within / 100)

    def _reduce(self) -> Iterator[dict[str, object]]:
        """Compare each throttled target with the plain one of the same machine."""
        for plain, other in itertools.product(self.targets, repeat=2):
            both = plain.profile, other.profile
            if not both[0].is_plain or both[1].is_plain or both[0].machine != both[1].machine:
                continue
            tables = plain.ratios.table, other.ratios.table
            keys = [pd.MultiIndex.from_frame(table[["benchmark", "class"]]) for table in tables]
            tables = tables[0][keys[0].isin(keys[1])], tables[1][keys[1].isin(keys[0])]
            if len(tables[0]) < 2:
                continue
            reduction = Reduction(*(Figures.of(table["ratio"]) for table in tables))
            self.findings += say_reduction(other, reduction, max(map(scatter, tables)))
            yield {
                "plain": plain.name, "throttled": other.name, "benchmarks": len(tables[0]),
                "most_to_least_before": reduction.before.most_to_least,
                "most_to_least_after": reduction.after.most_to_least,
            } | {column.name: getattr(reduction, column.name) for column in REDUCTIONS[3:7]}

    def _explain_limits(self) -> None:
        """Explain the short name of each throttle once."""
        for limits in dict.fromkeys(profile.limits for profile, _ in self._sides):
            if meaning := Throttle.of(limits).explain():
                self.findings.append(f"{limits}: {meaning}.")

    def _sheets(self, reductions: list[dict[str, object]]) -> list[Sheet]:
        def joined(name: str) -> pd.DataFrame:
            frames = [getattr(one.ratios, name).assign(target=one.name) for one in self.targets]
            filled = [frame for frame in frames if len(frame)]
            frame = pd.concat(filled or frames, ignore_index=True)
            for side in ("base", "target"):
                if f"{side}_spread" in frame:
                    frame[f"{side}_spread_percent"] = 100 * frame[f"{side}_spread"]
            return frame

        title, published = self._published()
        return [
            sheet("ranges", "Ranges", RANGES, [target.row() for target in self.targets]),
            sheet("published", title, PUBLISHED, published),
            sheet("reductions", "Why ranges are shorter", REDUCTIONS, reductions),
            sheet("left_out", "Left out", LEFT_OUT, joined("left_out")),
            sheet("ratios", "Ratios", RATIOS, joined("table")),
        ]

    def _published(self) -> tuple[str, pd.DataFrame]:
        """Return ranges that were published for this battery."""
        if self.values.battery != "stress-ng":
            return "", pd.DataFrame()
        columns = ("name", "program", "source")
        try:
            references = pd.DataFrame(read_table(_PUBLISHED, "references.csv", columns).fields)
            rows = pd.DataFrame(read_table(_PUBLISHED, "variability.csv", None).fields)
        except UserError as error:
            self.warnings.add("%s/published figures: %s", _PUBLISHED, error)
            return "", pd.DataFrame()
        source = references.loc[references["name"] == "variability", "source"].iloc[0]
        texts = ["base", "target", "limits"]
        numbers = {name: rows[name].astype(float) for name in rows.columns.difference(texts)}
        return f"Published ranges ({source})", rows.assign(**numbers)

    def draw(self, output: Output) -> None:
        """Draw all targets of a machine in one histogram and one plot of dots."""
        for machine in dict.fromkeys(target.profile.machine for target in self.targets):
            series = [one.series() for one in self.targets if one.profile.machine == machine]
            bins = f"number of benchmarks by ratio, in bins of {pictures.bin_of(series):g}"
            how = "Shaded: the range. Dashed: as fast as the base."
            caption = f"{machine[:100]}: {bins}"
            output.pictures.append(picture(pictures.histogram(series), caption, how))
            if pictures.is_wide(series):
                how += " The axis is logarithmic: one factor moves all points equally far."
            caption = f"{machine[:100]}: ratio of each benchmark"
            output.beside.append(picture(pictures.dots(series), caption, how))


def run(values: Values) -> int:
    comparison = Comparison(values)
    try:
        output = comparison.compare()
    finally:
        print_warnings(comparison.warnings)
    if values.output:
        comparison.draw(output)
        output.write(values.output)
    if not values.quiet:
        print(f"Base: {output.base}\n{output.text()}", end="")
    return 0
