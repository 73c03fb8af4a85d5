# SPDX-License-Identifier: Apache-2.0
"""What do the knobs of a service save and cost?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from .. import figures as f
from ...levels import PUBLISHED, are_compared, df_savings
from ...rates import MEAN_MAX, P95_MAX, df_rates
from ...study import Study
from ..findings import Finding
from ..tables import Table

ARRIVALS_MAX, LEVELS_MAX = 3, 12  # in a picture; the tables have all of them

# The rows of a picture of levels: the column of points, its factor, its name and its limit.
PANELS: dict[str, tuple[float, str, float]] = {
    "all_mean": (1000, "mean, ms", 1000 * MEAN_MAX),
    "all_p95": (1000, "95 %, ms", 1000 * P95_MAX),
    "watts": (1, "power, W", math.nan),
    "success_ratio": (100, "successes, %", math.nan),
}

TABLES = {
    "requests-savings": Table(
        "Power saved and capacity lost between two levels of a service, at the highest common "
        "rate, and published figures (Table 7, another machine)",
        "knob high_knobs low_knobs high low rate saturated high_watts low_watts saved "
        "high_capacity low_capacity lost lost_per_saved (arrival) published_as "
        "published_saved_percent published_lost_percent published_lost_per_saved",
        df_savings,
        terminal="what each knob saves and costs, and published figures, in percent",
        about="What a service saves and loses between two levels at the highest rate that both "
        "have, next to published figures (Table 7). The comparison is fair if both are "
        "`saturated`.",
    ),
}


def question(study: Study) -> str:
    return "What does each knob save, and what does it cost?" if are_compared(study) else ""


def answer(study: Study) -> str:
    unknown = (
        "No two levels that differ only in one knob have a known capacity: some were overloaded "
        "at the lowest rate, or not at the highest one."
    )
    return next((finding.sentence for finding in findings(study)), unknown)


def findings(study: Study) -> Iterator[Finding]:
    """Yield for each knob the pair of levels with the largest loss of capacity."""
    savings = study.once(df_savings)
    if savings.empty or not are_compared(study):
        return
    known = savings[savings["lost"].notna() & savings["knob"].isin(PUBLISHED)]
    known = known.sort_values("knob", key=lambda knob: knob.map([*PUBLISHED].index), kind="stable")
    most = known.groupby(["knob", "arrival"], sort=False, dropna=False)["lost"].idxmax()
    for _, row in known.loc[known.index.isin(most)].iterrows():
        yield Finding("knob", _describe(row))


def _describe(row: pd.Series) -> str:
    lost, saved = row["lost"], row["saved"]
    power = f", and {'costs' if saved < 0 else 'saves'} {100 * abs(saved):.1f} % of the power"
    power = "; no power was recorded" if math.isnan(saved) else power
    arrival = f" ({row['arrival']})" if row["arrival"] else ""
    return (
        f"{row['low_knobs']} instead of {row['high_knobs']}{arrival} "
        f"{'gains' if lost < 0 else 'loses'} {100 * abs(lost):.1f} % of the capacity, from "
        f"{row['high_capacity']:.4g} to {row['low_capacity']:.4g} requests a second{power}. "
        f"Published for another machine ({row['published_as']}): "
        f"{row['published_lost_percent']:g} % lost, {row['published_saved_percent']:g} % of the "
        "power saved."
    )


# Figures


def figures(study: Study) -> Iterator[f.Picture]:
    rates = study.once(df_rates)
    known = rates[rates["knobs"].ne("") & rates["loop"].eq("open")] if len(rates) else rates
    by = known.groupby("any_arrival", sort=False, dropna=False) if len(known) else ()
    for _, service in by:
        means = df_means(service)
        if means["level"].nunique() < 2:
            continue
        name = service["workload"].iloc[0] or service["title"].iloc[0]
        caption = f"Response times, power and successes by rate: {name}"
        yield f.Picture(caption, plot_levels(means), how="Dashed: limits of an underloaded service")
        if service["watts"].notna().any():
            yield f.Picture(f"Power against response time: {name}", plot_cost(means))


def df_means(service: pd.DataFrame) -> pd.DataFrame:
    """Return means over the runs by arrival, level and rate, unless there are too many arrivals or
    levels. NaN if a run has no value."""
    points = service[service["rate"] > 0].replace([math.inf], math.nan)
    keys = [points["arrival"], points["level"], points["rate"].round(9)]
    by_rate = points[[*PANELS]].groupby(keys, sort=False, dropna=False)
    means = by_rate.agg(lambda values: values.mean(skipna=False)).reset_index()
    for name, most in (("arrival", ARRIVALS_MAX), ("level", LEVELS_MAX)):
        means = means[means[name].isin(means[name].unique()[:most])]
    return means.sort_values("rate", kind="stable")


@f.drawing
def plot_levels(means: pd.DataFrame) -> Any:
    """Draw a row for mean and 95th percentile, for power if it is known, and for the success ratio,
    with a column for each arrival."""
    names = [name for name in PANELS if means[name].notna().any()]
    arrivals = [*means["arrival"].unique()]
    fig, axes = f.new(len(names), ncols=len(arrivals), squeeze=False, sharex=True, sharey="row")
    for (row, name), (column, arrival) in itertools.product(enumerate(names), enumerate(arrivals)):
        ax, (factor, label, limit) = axes[row][column], PANELS[name]
        _draw(ax, means[means["arrival"] == arrival], means, "rate", name, (1, factor))
        ax.set(xlim=(0, None), ylabel="" if column else label)
        if limit > 0:
            f.logarithmic(ax)
            ax.axhline(limit, color=f.AXIS, linestyle="--")
        else:
            ax.set_ylim(0, None)
        if len(arrivals) > 1 and not row:
            ax.set_title(arrival, loc="left")
    for ax in axes[-1]:
        ax.set(xlabel="request rate, /s")
    f.legend(axes[0][-1], 2)
    return fig


@f.drawing
def plot_cost(means: pd.DataFrame) -> Any:
    arrivals = [*means["arrival"].unique()]
    fig, axes = f.new(len(arrivals), squeeze=False)
    for ax, arrival in zip(axes.flat, arrivals):
        rows = means[(means["arrival"] == arrival) & (means["all_mean"] > 0)]
        _draw(ax, rows, means, "all_mean", "watts", (1000, 1))
        f.logarithmic(ax, "x")
        ax.set(xlabel="mean response time, ms", ylabel="power, W")
        if len(arrivals) > 1:
            ax.set_title(arrival, loc="left")
        f.legend(ax, 2)
    return fig


def _draw(
    ax: Any, rows: pd.DataFrame, means: pd.DataFrame, x: str, y: str, factors: tuple[float, float]
) -> None:
    """Draw a line for each level, which looks the same in all panels."""
    for number, level in enumerate(means["level"].unique()):
        own, color = rows[rows["level"] == level], f.color_of(number)
        at, values = factors[0] * own[x], factors[1] * own[y]
        ax.plot(at, values, color=color)
        titles = [f"{level}: {value:.4g}" for value in values]
        f.points(ax, at, values, titles, color=color, marker=f.marker_of(number), label=level[:40])
