# SPDX-License-Identifier: Apache-2.0
"""A study: how does the throughput depend on the columns of its plan?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from .. import figures, statistics
from ..findings import Headline
from ..page import Code, Part, Picture, Section
from ..runs import Run
from ..studies import Report
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


def _order(value: str) -> tuple[bool, bool, float, str]:
    """Order values: an empty one, numbers by value, other texts. A number next to a text, such as
    512 and 1G, must not be compared as a text: with 1024 there would be no order."""
    number = share(value or "x")
    is_text = math.isnan(number)
    return bool(value), is_text, 0 if is_text else number, value


def _is_point(run: Run) -> bool:
    """Return whether a run belongs to a point. Runs of a service have no iterations; those of duet
    and interference are compared in blocks and pairs, because they are not alone."""
    alone = run.experiment not in ("latency", "duet", "interference") and bool(run.columns)
    return alone and len(run.steps) < 2 and run.errors.count > 0


def _distinguish(report: Report) -> list[str]:
    """Return the columns that distinguish series."""
    differences = report.differences
    pairs = zip(differences.names, differences.follows)
    return [name for name, follows in pairs if name != differences.axis and not follows]


def _runs(report: Report) -> pd.DataFrame:
    """Return the runs of all points in order. `turn` is the round; runs without one are matched by
    their order."""
    axis = report.differences.axis
    keys = [*_distinguish(report), *([axis] if axis else [])]

    def order(run: Run) -> Any:
        values = [_order(run.columns.get(name, "")) for name in keys]
        return run.set, values, -1 if math.isnan(run.round) else run.round

    rows = pd.DataFrame(
        {
            "set": run.set,
            "study": run.manifest,
            "throughput": run.throughput,
            "bound": run.bound,
            "load": run.errors.load_mean,
            "iteration": run.iteration["mean"],
            "turn": run.round,
            "is_invalid": run.verdict.is_invalid,
            **{f"plan.{n}": run.columns.get(n, "") for n in report.differences.names},
        }
        for run in sorted(filter(_is_point, report.runs), key=order)
    )
    if rows.empty:
        return rows
    points = rows.groupby(["set", *(f"plan.{n}" for n in keys)], sort=False, dropna=False)
    return rows.assign(
        point=points.ngroup(), turn=rows["turn"].where(rows["turn"] > 0, -points.cumcount())
    )


def _relative(rows: pd.DataFrame, base: pd.DataFrame) -> pd.Series:
    """Return the ratios to another point, round by round, so that changes of the machine between
    rounds affect both; to a run of the same study if that has the round."""
    both = rows.reset_index().merge(base, on="turn", suffixes=("", "_base"))
    both = both.assign(away=both["study"] != both["study_base"])
    both = both.sort_values("away", kind="stable").drop_duplicates("index")
    both = both.sort_values("index", kind="stable")
    return (both["throughput"] / both["throughput_base"])[both["throughput_base"] > 0]


def _name(report: Report, column: str) -> str:
    """Return the name in the table of a column of the plan: its own, unless a figure has it."""
    taken = {figure.name for figure in FIGURES}
    name = column
    while name in taken or (name != column and name in report.differences.names):
        name = f"plan_{name}"
    return name


def columns(report: Report) -> tuple[Column, ...]:
    """Return the columns of the table: first those of the plan."""
    names = report.differences.names if len(df_study(report)) else []
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
    """Return a row for each combination of the columns in which runs differ, over the rounds.

    `series` has the values of the columns that distinguish series, `at` is the value of the axis.
    """
    return report.once(_points)


def _points(report: Report) -> pd.DataFrame:
    runs, axis = _runs(report), report.differences.axis
    rows: list[dict[str, Any]] = []
    firsts: dict[str, pd.DataFrame] = {}  # the runs of the first series, by value of the axis
    for _, group in runs.groupby("point", sort=False, dropna=False) if len(runs) else ():
        first = group.iloc[0]
        series = (first["set"], *(first[f"plan.{name}"] for name in _distinguish(report)))
        value = first[f"plan.{axis}"] if axis else ""
        at = share(value or "x")
        is_first = not rows or series == rows[0]["series"]
        if is_first:
            firsts.setdefault(str(at), group)
        base = None if is_first else firsts.get(str(at))
        ratios = [] if base is None else _relative(group, base)
        row = {_name(report, n): first[f"plan.{n}"] for n in report.differences.names}
        row |= {"set": first["set"] + 1, "rounds": len(group), "at_most": group["bound"].min()}
        for name, prefix, values in (
            ("load_mean", "load_", group["load"]),
            ("iterations_per_second", "", group["throughput"]),
            ("iteration_seconds", "iteration_", group["iteration"]),
            ("relative", "relative_", ratios),
        ):
            known = pd.Series(values, dtype=float).dropna()
            mean = statistics.mean_of(known, report.settings.confidence)
            row |= {name: mean.mean, f"{prefix}low": mean.low, f"{prefix}high": mean.high}
        row |= {"series": series, "at": at, "value": value}
        rows.append(row | {"is_invalid": group["is_invalid"].any()})
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


def series_name(report: Report, series: tuple[Any, ...]) -> str:
    """Return what distinguishes a series: "size=large, no seed"."""
    pairs = zip(_distinguish(report), series[1:])
    words = [f"{name}={value[:60]}" if value else f"no {name}" for name, value in pairs]
    sets = [report.set_name(series[0])[:60]] if report.compares else []
    return ", ".join([*sets, *words])


def _describe(report: Report, point: Any) -> str:
    """Return "11.9 /s (11.5 to 12.3) at load=20"."""
    axis = report.differences.axis
    words = f"{point.iterations_per_second:.4g} /s"
    if math.isfinite(point.low):
        words += f" ({point.low:.4g} to {point.high:.4g})"
    return f"{words} at {axis[:40]}={point.value[:40]}" if axis else words


def answer(report: Report) -> Headline | None:
    rows = df_study(report) if report.differences.names else pd.DataFrame()
    rows = rows[rows["iterations_per_second"].notna()] if len(rows) else rows
    if rows.empty:
        return None
    known = list(rows.groupby("series", sort=False, dropna=False))
    sentences = []
    for series, own in known[:NAMED_MAX]:
        ends = [own.iloc[0], own.iloc[-1]][: len(own)]
        name = series_name(report, series)
        words = f"with {name} it is" if name else "it is"
        sentences.append(f"{words} {' and '.join(_describe(report, point) for point in ends)}")
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
    rows = df_study(report)
    if rows.empty:
        return None
    number = rows.groupby("series", sort=False, dropna=False).ngroup()
    rows = rows[rows["at"].notna() & rows["iterations_per_second"].notna()]
    if rows.empty or number.max() >= SERIES_MAX:
        return None
    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_from_zero(ax, "x", report.differences.axis)
    figures.axis_from_zero(ax, "y", "throughput, /s")
    bad = rows[rows["is_invalid"]]
    if len(bad):
        figures.rings(ax, bad["at"], bad["iterations_per_second"], "with invalid runs")
    for at, own in rows.groupby(number, sort=False, dropna=False):
        name = series_name(report, own["series"].iloc[0]) or "all runs"
        x, y = own["at"], own["iterations_per_second"]
        titles = [f"{name}: {_describe(report, point)}" for point in own.itertuples()]
        color, marker = figures.color_of(at), figures.marker_of(at)
        figures.line(ax, x, y, titles=titles, label=name[:40], color=color, marker=marker)
        known = own[own["low"].notna()]
        figures.intervals(ax, known["at"], known["low"], known["high"], color=color)
    return fig


def _has_intervals(report: Report) -> bool:
    """Return whether any point has several rounds, whose scatter gives an interval."""
    rows = df_study(report)
    return bool(len(rows) and rows["low"].notna().any())


def sections(report: Report) -> Iterator[Part]:
    sheet = report.table("study")
    if not len(sheet):
        return
    fig = plot_study(report) if report.differences.axis else None
    caption = "Throughput" + "; bars are confidence intervals" * _has_intervals(report)
    parts: list[Part] = [Picture(figures.svg(fig), caption)] if fig else []
    about = " are the rounds of one row."
    if _has_intervals(report):
        about += (
            f" Intervals have a confidence of {100 * report.settings.confidence:g} % and reflect "
            "the scatter between rounds; a single round has none."
        )
    parts.append(("Runs that differ only in ", Code("round"), about))
    yield Section("Study", [*parts, sheet])


def text(report: Report) -> str:
    title = "study; mean throughput of the rounds"
    title += ", and its confidence interval" * _has_intervals(report)
    return report.table("study").text(title)
