# SPDX-License-Identifier: Apache-2.0
"""A study: how does the throughput depend on the columns of its plan?"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from .. import figures, statistics
from ..findings import Headline
from ..page import Code, Part, Picture, Section
from ..runs import Run
from ..statistics import Mean
from ..studies import Report, is_closer
from ..tables import Column, Table, describe
from ..text import share

NAMED_MAX = 3  # series in the answer
SERIES_MAX = 16  # in a picture

# Columns of the plan on a terminal of 80 columns: next to all figures, next to the throughput.
NARROW_MAX = 2
COLUMNS_MAX = 4

FIGURES = describe(
    "study",
    "(set) rounds load_mean iterations_per_second low high at_most iteration_seconds relative "
    "relative_low relative_high iteration_low iteration_high (load_low) (load_high)",
)


@functools.cmp_to_key
def _value(one: str, other: str) -> int:
    """Order values: an empty one, numbers by value, other texts. A number next to a text, such as
    512 and 1G, must not be compared as a text: with 1024 there would be no order."""
    numbers = [share(value) if value else math.nan for value in (one, other)]
    known = [not math.isnan(value) for value in numbers]
    if all(known) and numbers[0] != numbers[1]:
        return -1 if numbers[0] < numbers[1] else 1
    if known[0] != known[1] and one and other:
        return -1 if known[0] else 1
    return (one > other) - (one < other)


@dataclass(frozen=True)
class Point:
    """The runs that differ in their round only, in the order of rounds."""

    runs: list[Run]
    at: float  # value of the axis
    series: tuple[str, ...]  # values of the columns that distinguish series

    def mean(self, name: str, confidence: float) -> Mean:
        read: Any = {
            "load": lambda run: run.errors.load_mean,
            "throughput": lambda run: run.throughput,
            "iteration": lambda run: run.iteration["mean"],
        }[name]
        values = [read(run) for run in self.runs]
        return statistics.mean_of([v for v in values if math.isfinite(v)], confidence)

    def relative(self, base: Point, confidence: float) -> Mean:
        """Compare with another point round by round, so that changes of the machine between
        rounds affect both."""
        pairs = [(run, base.find_round(run, at)) for at, run in enumerate(self.runs)]
        ratios = [
            run.throughput / other.throughput
            for run, other in pairs
            if other and math.isfinite(run.throughput) and other.throughput > 0
        ]
        return statistics.mean_of(ratios, confidence)

    def find_round(self, run: Run, at: int) -> Run | None:
        """Return the first run of the same round, if possible of the same study; runs without a
        round are matched by their order."""
        if not run.round > 0:
            is_there = at < len(self.runs) and not self.runs[at].round > 0
            return self.runs[at] if is_there else None
        found = None
        for other in self.runs:
            if other.round == run.round and is_closer(run, other, found):
                found = other
        return found


def _is_point(run: Run) -> bool:
    """Return whether a run belongs to a point. Runs of a service have no iterations, and those of
    duet are compared in blocks."""
    alone = run.experiment not in ("latency", "duet") and bool(run.columns)
    return alone and len(run.steps) < 2 and run.errors.count > 0


def _distinguish(report: Report) -> list[str]:
    """Return the columns that distinguish series."""
    differences = report.differences
    pairs = zip(differences.names, differences.follows)
    return [name for name, follows in pairs if name != differences.axis and not follows]


def points(report: Report) -> list[Point]:
    """Return the points of all series in order."""
    names, axis = _distinguish(report), report.differences.axis

    def key(run: Run) -> tuple[Any, ...]:
        values = [run.columns.get(name, "") for name in (*names, *([axis] if axis else []))]
        return (run.set, *map(_value, values))

    groups: list[list[Run]] = []
    for run in sorted(filter(_is_point, report.runs), key=key):
        if groups and key(groups[-1][0]) == key(run):
            groups[-1].append(run)
        else:
            groups.append([run])
    found = []
    for group in groups:
        first = group[0]
        rounds = sorted(group, key=lambda run: -1 if math.isnan(run.round) else run.round)
        at = share(first.columns.get(axis, "") or "x") if axis else math.nan
        series = tuple(first.columns.get(name, "") for name in names)
        found.append(Point(rounds, at, (str(first.set), *series)))
    return found


def _base(found: list[Point], point: Point) -> Point | None:
    """Return the point of the first series at the same value of the axis."""
    if point.series == found[0].series:
        return None
    first = (other for other in found if other.series == found[0].series)
    same = (p for p in first if p.at == point.at or (math.isnan(p.at) and math.isnan(point.at)))
    return next(same, None)


def _name(report: Report, column: str) -> str:
    """Return the name in the table of a column of the plan: its own, unless a figure has it."""
    taken = {figure.name for figure in FIGURES}
    name = column
    while name in taken or (name != column and name in report.differences.names):
        name = f"plan_{name}"
    return name


def columns(report: Report) -> tuple[Column, ...]:
    """Return the columns of the table: first those of the plan."""
    names = report.differences.names if points(report) else []
    wide = [i < COLUMNS_MAX for i in range(len(names))]
    planned = [
        Column(_name(report, name), name, text=(name, 10) if shown else None)
        for name, shown in zip(names, wide)
    ]
    hidden = ("load_mean", "relative") if len(names) > NARROW_MAX else ()
    figures = [
        Column(f.name, f.heading, f.decimals, f.percent, f.if_known) if f.name in hidden else f
        for f in FIGURES
    ]
    return (*planned, *figures)


def df_study(report: Report) -> pd.DataFrame:
    """Return a row for each combination of the columns in which runs differ, over the rounds."""
    found, confidence = points(report), report.settings.confidence
    rows = []
    for point in found:
        base = _base(found, point)
        load, rate, length = (
            point.mean(name, confidence) for name in ("load", "throughput", "iteration")
        )
        relative = point.relative(base, confidence) if base else statistics.mean_of([], confidence)
        bounds = [run.bound for run in point.runs if math.isfinite(run.bound)]
        first = point.runs[0]
        rows.append(
            {_name(report, n): first.columns.get(n, "") for n in report.differences.names}
            | {
                "set": first.set + 1,
                "rounds": len(point.runs),
                "load_mean": load.mean,
                "load_low": load.low,
                "load_high": load.high,
                "iterations_per_second": rate.mean,
                "low": rate.low,
                "high": rate.high,
                "at_most": min(bounds, default=math.nan),
                "iteration_seconds": length.mean,
                "iteration_low": length.low,
                "iteration_high": length.high,
                "relative": relative.mean,
                "relative_low": relative.low,
                "relative_high": relative.high,
            }
        )
    return pd.DataFrame(rows)


TABLES = (
    Table(
        "study",
        "Mean of the rounds, by the columns in which runs differ",
        columns,
        df_study,
        about="For a study of ssbatch(1): a row for each combination of the columns in which its "
        "runs differ, which come first. A column of the plan whose name is already in the "
        "table has `plan_` before its name.",
    ),
)


# Sentences


def series_name(report: Report, point: Point) -> str:
    """Return what distinguishes a series: "size=large, no seed"."""
    pairs = zip(_distinguish(report), point.series[1:])
    words = [f"{name}={value[:60]}" if value else f"no {name}" for name, value in pairs]
    sets = [report.set_name(point.runs[0].set)[:60]] if report.compares else []
    return ", ".join([*sets, *words])


def _describe(report: Report, point: Point) -> str:
    """Return "11.9 /s (11.5 to 12.3) at load=20"."""
    axis = report.differences.axis
    mean = point.mean("throughput", report.settings.confidence)
    words = f"{mean.mean:.4g} /s"
    if math.isfinite(mean.low):
        words += f" ({mean.low:.4g} to {mean.high:.4g})"
    value = point.runs[0].columns.get(axis, "")
    return f"{words} at {axis[:40]}={value[:40]}" if axis else words


def answer(report: Report) -> Headline | None:
    known: dict[tuple[str, ...], list[Point]] = {}
    for point in points(report) if report.differences.names else []:
        if point.mean("throughput", 0.95).count > 0:
            known.setdefault(point.series, []).append(point)
    if not known:
        return None
    sentences = []
    for series in list(known.values())[:NAMED_MAX]:
        ends = [_describe(report, point) for point in (series[:1] + series[1:][-1:])]
        name = series_name(report, series[0])
        words = f"with {name} it is" if name else "it is"
        sentences.append(f"{words} {' and '.join(ends)}")
    if len(known) > NAMED_MAX:
        sentences.append(f"the table has {len(known) - NAMED_MAX} more")
    words = "; ".join(sentences)
    return Headline(_question(report), f"{words[0].upper()}{words[1:]}.")


def _question(report: Report) -> str:
    axis, names = report.differences.axis, [name[:60] for name in _distinguish(report)]
    each = f", for each {', '.join(names)}" if names else ""
    return f"How does the throughput depend on {axis[:60] + each if axis else ' and '.join(names)}?"


# Page and terminal


def plot_study(report: Report) -> Any:
    """Draw the throughput along the axis, a line with intervals for each series; rings mark points
    with invalid runs. Returns None if there is nothing to draw, or more than can be told apart."""
    found = [(p, p.mean("throughput", report.settings.confidence)) for p in points(report)]
    found = [(p, mean) for p, mean in found if math.isfinite(p.at) and mean.count]
    series = list(dict.fromkeys(point.series for point in points(report)))
    if not found or len(series) > SERIES_MAX:
        return None
    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_from_zero(ax, "x", report.differences.axis)
    figures.axis_from_zero(ax, "y", "throughput, /s")
    bad = [(p.at, m.mean) for p, m in found if any(r.verdict.is_invalid for r in p.runs)]
    if bad:
        figures.rings(ax, [x for x, _ in bad], [y for _, y in bad], "with invalid runs")
    for at, one in enumerate(series):
        own = [(p, mean) for p, mean in found if p.series == one]
        if not own:
            continue
        name = series_name(report, own[0][0]) or "all runs"
        x, y = [p.at for p, _ in own], [mean.mean for _, mean in own]
        titles = [f"{name}: {_describe(report, p)}" for p, _ in own]
        look: dict[str, Any] = {"color": figures.color_of(at), "marker": figures.marker_of(at)}
        figures.line(ax, x, y, titles=titles, label=name[:40], **look)
        ends = [value for _, m in own for value in (m.low, m.high, math.nan)]
        figures.line(ax, [v for v in x for _ in range(3)], ends, color=look["color"])
    return fig


def sections(report: Report) -> Iterator[Part]:
    sheet = report.table("study")
    if not len(sheet):
        return
    fig = plot_study(report) if report.differences.axis else None
    caption = "Throughput; bars are confidence intervals"
    parts: list[Part] = [Picture(figures.svg(fig), caption)] if fig else []
    parts.append(
        (
            "Runs that differ only in ",
            Code("round"),
            " are the rounds of one row. Intervals have a confidence of "
            f"{100 * report.settings.confidence:g} % and reflect the scatter between rounds; a "
            "single round has none.",
        )
    )
    yield Section("Study", [*parts, sheet])


def text(report: Report) -> str:
    title = "study; mean throughput of the rounds, and its confidence interval"
    return report.table("study").text(title)
