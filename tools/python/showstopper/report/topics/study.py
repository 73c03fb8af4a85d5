# SPDX-License-Identifier: Apache-2.0
"""A study: how does the throughput depend on the columns of its plan?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from .. import figures as f
from ... import stats, steps
from ...study import Study, share
from ..tables import Column, Table, describe

NAMED_MAX = 3  # series in the answer
SERIES_MAX = 16  # in a picture
COLUMNS_MAX = 4  # columns of the plan on the terminal

# Runs of a service have no iterations; those of duet and interference are compared in blocks and
# pairs, because they are not alone.
EXCLUDED = ("latency", "duet", "interference")

FIGURES = describe(
    "study",
    "(set) rounds load_mean iterations_per_second low high at_most iteration_seconds relative "
    "relative_low relative_high iteration_low iteration_high (load_low) (load_high)",
)


# Points


def _order(value: str) -> tuple[bool, bool, float, str]:
    """Order values: an empty one, numbers by value, other texts. Numbers are never compared as
    texts: with 512, 1024 and 1G, the order would be contradictory."""
    number = share(value)
    is_text = math.isnan(number)
    return bool(value), is_text, 0 if is_text else number, value


def _ranks(values: pd.Series) -> dict[str, int]:
    return {value: rank for rank, value in enumerate(sorted({*values}, key=_order))}


def _runs(study: Study) -> pd.DataFrame:
    """Return the runs of all points in order, with the columns of their plan. `turn` is the round;
    runs without one are matched by their order."""
    differences, runs = study.differences, study.runs
    axis = [differences.axis] if differences.axis else []
    keys = [*differences.series, *axis]
    rows = runs[runs.index.isin(study.plans.index) & ~runs["experiment"].isin(EXCLUDED)]
    counts = study.steps["run"].value_counts(dropna=False).reindex(rows.index).fillna(0)
    rows = rows[(counts < 2) & rows["samples"].gt(0)]
    if rows.empty:
        return rows
    lengths = {at: steps.lengths(study.records[at])["mean"] for at in rows.index}
    plans = study.plans.loc[rows.index, list(differences.names)].add_prefix("plan.")
    rows = rows.join(plans).assign(iteration=pd.Series(lengths))
    named = [f"plan.{name}" for name in keys]
    ranks = {name: rows[name].map(_ranks(rows[name])) for name in named}
    order = rows.assign(**ranks, turn=rows["round"].fillna(-1))
    rows = rows.loc[order.sort_values(["set", *named, "turn"], kind="stable").index]
    points = rows.groupby(["set", *named], sort=False, dropna=False)
    turn = rows["round"].where(rows["round"] > 0, -points.cumcount())
    return rows.assign(point=points.ngroup(), turn=turn)


def relative(rows: pd.DataFrame, base: pd.DataFrame) -> pd.Series:
    """Return the ratios to another point, round by round, so that changes of the machine between
    rounds affect both; to a run of the same study if that has the round."""
    names = ["turn", "study", "throughput"]
    both = rows[names].reset_index().merge(base[names], on="turn", suffixes=("", "_base"))
    both = both.assign(away=both["study"] != both["study_base"])
    both = both.sort_values("away", kind="stable").drop_duplicates("index")
    both = both.sort_values("index", kind="stable")
    return (both["throughput"] / both["throughput_base"])[both["throughput_base"] > 0]


def df_study(study: Study) -> pd.DataFrame:
    """Return a row for each combination of the columns in which runs differ, over the rounds.

    `series` has the values of the columns that distinguish series, `at` is the value of the axis.
    """
    runs, axis = _runs(study), study.differences.axis
    rows: list[dict[str, Any]] = []
    firsts: dict[str, pd.DataFrame] = {}  # the runs of the first series, by value of the axis
    for _, group in runs.groupby("point", sort=False, dropna=False) if len(runs) else ():
        first = group.iloc[0]
        series = (first["set"], *(first[f"plan.{name}"] for name in study.differences.series))
        value = first[f"plan.{axis}"] if axis else ""
        is_first = not rows or series == rows[0]["series"]
        if is_first:
            firsts.setdefault(str(share(value)), group)
        base = None if is_first else firsts.get(str(share(value)))
        ratios = pd.Series(dtype=float) if base is None else relative(group, base)
        row = {_name(study, n): first[f"plan.{n}"] for n in study.differences.names}
        row |= {"set": first["set"], "rounds": len(group), "at_most": group["bound"].min()}
        rows.append(
            row
            | _interval(study, "load_mean", "load_", group["load"])
            | _interval(study, "iterations_per_second", "", group["throughput"])
            | _interval(study, "iteration_seconds", "iteration_", group["iteration"])
            | _interval(study, "relative", "relative_", ratios)
            | {"series": series, "at": share(value), "value": value}
            | {"is_invalid": group["verdict"].eq("invalid").any()}
        )
    return pd.DataFrame(rows)


def _interval(study: Study, name: str, prefix: str, values: pd.Series) -> dict[str, float]:
    mean = stats.mean_of(values.dropna(), study.settings.confidence)
    return {name: mean.mean, f"{prefix}low": mean.low, f"{prefix}high": mean.high}


def _name(study: Study, column: str) -> str:
    """Return the name in the table of a column of the plan: its own, unless a figure has it."""
    taken = {figure.name for figure in FIGURES}
    name = column
    while name in taken or (name != column and name in study.differences.names):
        name = f"plan_{name}"
    return name


def columns(study: Study) -> tuple[Column, ...]:
    """Return the columns of the table: first those of the plan."""
    names = study.differences.names if len(study.once(df_study)) else ()
    planned = [
        Column(_name(study, name), name, terminal=name if at < COLUMNS_MAX else "")
        for at, name in enumerate(names)
    ]
    return (*planned, *FIGURES)


TABLES = {
    "study": Table(
        "Mean of the rounds, by the columns in which runs differ",
        columns,
        df_study,
        terminal="study; mean throughput of the rounds",
        about="For a study of ssbatch(1): a row for each combination of the columns in which its "
        "runs differ, which come first. A column of the plan whose name is already in the "
        "table has `plan_` before its name.",
    ),
}


# Sentences


def series_name(study: Study, series: tuple[Any, ...]) -> str:
    """Return what distinguishes a series: "size=large, no seed"."""
    pairs = zip(study.differences.series, series[1:])
    words = [f"{name}={value[:60]}" if value else f"no {name}" for name, value in pairs]
    sets = [study.set_name(series[0])[:60]] if study.compares else []
    return ", ".join([*sets, *words])


def _describe(study: Study, point: pd.Series) -> str:
    """Return "11.9 /s (11.5 to 12.3) at load=20"."""
    axis = study.differences.axis
    words = f"{point['iterations_per_second']:.4g} /s"
    if math.isfinite(point["low"]):
        words += f" ({point['low']:.4g} to {point['high']:.4g})"
    return f"{words} at {axis[:40]}={point['value'][:40]}" if axis else words


def _known(study: Study) -> pd.DataFrame:
    rows = study.once(df_study) if study.differences.names else pd.DataFrame()
    return rows[rows["iterations_per_second"].notna()] if len(rows) else rows


def question(study: Study) -> str:
    axis, names = study.differences.axis, [name[:60] for name in study.differences.series]
    if _known(study).empty:
        return ""
    each = f", for each {', '.join(names)}" if names else ""
    return f"How does the throughput depend on {axis[:60] + each if axis else ' and '.join(names)}?"


def answer(study: Study) -> str:
    known = list(_known(study).groupby("series", sort=False, dropna=False))
    sentences = []
    for series, own in known[:NAMED_MAX]:
        name = series_name(study, series)
        ends = [own.iloc[0], own.iloc[-1]][: len(own)]
        words = f"with {name} it is" if name else "it is"
        sentences.append(f"{words} {' and '.join(_describe(study, point) for point in ends)}")
    if len(known) > NAMED_MAX:
        sentences.append(f"the table has {len(known) - NAMED_MAX} more")
    words = "; ".join(sentences)
    return f"{words[0].upper()}{words[1:]}."


# Figures


@f.drawing
def plot_study(study: Study) -> Any:
    """Draw the throughput along the axis, a line with intervals for each series; rings mark points
    with invalid runs. Returns None without points, or if they are too many to distinguish."""
    rows = study.once(df_study)
    if rows.empty:
        return None
    rows = rows.assign(number=rows.groupby("series", sort=False, dropna=False).ngroup())
    is_crowded = rows["number"].max() >= SERIES_MAX
    rows = rows[rows["at"].notna() & rows["iterations_per_second"].notna()]
    if rows.empty or is_crowded:
        return None
    fig, ax = f.new()
    bad = rows[rows["is_invalid"]]
    f.rings(ax, bad["at"], bad["iterations_per_second"], "with invalid runs")
    for number, own in rows.groupby("number", sort=False, dropna=False):
        name, color = series_name(study, own["series"].iloc[0]) or "all runs", f.color_of(number)
        x, y = own["at"], own["iterations_per_second"]
        titles = [f"{name}: {_describe(study, point)}" for _, point in own.iterrows()]
        ax.plot(x, y, color=color)
        ax.vlines(x, own["low"], own["high"], color=color)
        f.points(ax, x, y, titles, color=color, marker=f.marker_of(number), label=name[:40])
    ax.set(xlabel=study.differences.axis, ylabel="throughput, /s", xlim=(0, None), ylim=(0, None))
    f.legend(ax, 2)
    return fig


def figures(study: Study) -> Iterator[f.Picture]:
    fig = plot_study(study) if study.differences.axis else None
    if not fig:
        return
    caption, how = "Throughput", "Runs that differ only in their round are the rounds of one row."
    if study.once(df_study)["low"].notna().any():
        caption += "; bars are confidence intervals"
        how += (
            f" Intervals have a confidence of {100 * study.settings.confidence:g} % and reflect "
            "the scatter between rounds; a single round has none."
        )
    yield f.Picture(caption, fig, how=how)
