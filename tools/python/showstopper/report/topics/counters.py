# SPDX-License-Identifier: Apache-2.0
"""Counters: what the CPUs counted while instances ran, in runs and in their steps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from .. import figures as f
from ...records import COUNTERS
from ...study import Study
from ..tables import Table

SLACK = 0.02  # seconds by which a second may exceed a step
ACROSS = 2  # panels side by side

# Rates are per second; shares are of another counter.
RATES = {
    "cpus_used": "task_clock_seconds",
    "instructions_per_second": "instructions",
    "l1d_references_per_second": "l1d_references",
    "l2_misses_per_second": "l2_misses",
    "cache_references_per_second": "cache_references",
    "cache_misses_per_second": "cache_misses",
    "page_faults_per_second": "page_faults",
    "context_switches_per_second": "context_switches",
    "migrations_per_second": "migrations",
}
SHARES = {
    "instructions_per_cycle": ("instructions", "cycles"),
    "stalled_frontend_per_cycle": ("stalled_frontend", "cycles"),
    "stalled_backend_per_cycle": ("stalled_backend", "cycles"),
    "l1d_miss_rate": ("l1d_misses", "l1d_references"),
    "l2_miss_rate": ("l2_misses", "l2_references"),
    "cache_miss_rate": ("cache_misses", "cache_references"),
}

# Panels: a short label, and what values are divided by.
PANELS = {
    "instructions_per_second": ("instructions, 10\u2079/s", 1e9),
    "instructions_per_cycle": ("instructions/cycle", 1),
    "cpus_used": ("CPUs used", 1),
    "runnable_mean": ("runnable threads", 1),
    "l1d_miss_rate": ("L1 misses, %", 0.01),
    "l2_misses_per_second": ("L2 misses, 10\u2076/s", 1e6),
    "cache_misses_per_second": ("LLC misses, 10\u2076/s", 1e6),
    "cache_miss_rate": ("LLC misses, %", 0.01),
    "stalled_backend_per_cycle": ("stalls/cycle", 1),
    "context_switches_per_second": ("switches, /s", 1),
}
OF_RUN = ["environment", "placement", "workload", "role", "round", "set"]  # columns of steps
PICTURE = ["set", "environment", "workload", "role", "background"]


def count(seconds: pd.DataFrame, begin: float, end: float) -> dict[str, float]:
    """Return the rates of the counters between two times of a run."""
    inside = seconds["begin"].ge(begin - SLACK) & seconds["end"].le(end + SLACK)
    seconds = seconds[inside]
    length = seconds["end"] - seconds["begin"]
    rates = {}
    for name in COUNTERS:  # a count covers the time since the previous one
        since = seconds[f"since_{name}"]
        known = seconds[name].notna() & since.ge(begin - SLACK)
        time = (seconds["end"] - since)[known].sum()
        rates[name] = seconds[name][known].sum() / time if time > 0 else math.nan
    time = length[seconds["runnable"].notna()].sum()
    return {
        "seconds": length.sum() if len(seconds) else math.nan,
        "runnable_mean": (seconds["runnable"] * length).sum() / time if time else math.nan,
        **{name: rates[counter] for name, counter in RATES.items()},
        **{
            name: rates[one] / rates[other] if rates[other] > 0 else math.nan
            for name, (one, other) in SHARES.items()
        },
    }


def df_counters(study: Study) -> pd.DataFrame:
    """Return a row for each run with counters, and for each of its steps; for a foreground, for
    each step of its background."""
    rows: list[dict[str, Any]] = []
    for at, record in enumerate(study.records):
        if record.counters.empty:
            continue
        run = study.runs.loc[at]
        whole = count(record.counters, record.counted_from, record.counted_to)
        rows.append(run[["record", "set"]].to_dict() | whole)
        beside = study.beside(at, "background") if record.role == "foreground" else None
        of = at if beside is None else beside
        known = run[["record", *OF_RUN]].to_dict() | {
            "steps_of": study.records[of].name,
            "background": "" if beside is None else study.runs.loc[of, "workload"],
        }
        for step in study.steps_of(of).to_dict("records"):
            times = [step["from"], step["to"]]
            if of != at:
                times = [record.time_of(study.records[of], time) for time in times]
            own = {name: step[name] for name in ("step", "target", "load")}
            own["half"] = step["half"] or math.nan
            rows.append(known | own | count(record.counters, *times))
    return pd.DataFrame(rows)


TABLES = {
    "counters": Table(
        "Counters of the instances during the counted time",
        "record step half target load seconds runnable_mean cpus_used instructions_per_second "
        "instructions_per_cycle stalled_frontend_per_cycle stalled_backend_per_cycle "
        "l1d_references_per_second l1d_miss_rate l2_misses_per_second l2_miss_rate "
        "cache_references_per_second cache_misses_per_second cache_miss_rate "
        "page_faults_per_second context_switches_per_second migrations_per_second steps_of "
        "(environment) (placement) (workload) role (background) (round) (set)",
        df_counters,
        about="For records with counters: rates and ratios of the counters of `counters.csv` in "
        "the counted time and in each step; for a foreground, in the steps of its background. "
        "A rate is empty if the machine lacks a counter that it needs.",
    )
}


def figures(study: Study) -> Iterator[f.Picture]:
    """Yield nothing without counts: few machines permit counting."""
    rows = study.once(df_counters)
    steps = rows[rows["step"].notna()] if "step" in rows else pd.DataFrame(columns=PICTURE)
    for (set_, environment, workload, _, background), part in steps.groupby(
        PICTURE, sort=False, dropna=False
    ):
        fig = plot_counters(part)
        if fig:
            against = f" against the load of {background[:100]}" if background else ""
            second = ", second set" if set_ > 1 else ""
            caption = f"{environment[:60]}: counters of {workload[:100]}{against}{second}"
            yield f.Picture(caption, fig)


@f.drawing
def plot_counters(steps: pd.DataFrame) -> Any:
    """Draw the counters of one program over the load, with a color and a mark for each placement;
    None if none is known at two loads."""
    known = [n for n in PANELS if steps.loc[steps[n].notna(), "load"].nunique() > 1]
    if not known:
        return None
    rows = math.ceil(len(known) / ACROSS)
    fig, axes = f.new(rows, ncols=ACROSS, squeeze=False)
    for ax, name in zip(axes.flat, known):
        label, divisor = PANELS[name]
        by_placement = steps.groupby("placement", sort=False, dropna=False)
        for at, (placement, part) in enumerate(by_placement):
            color = f.PLACEMENT_COLORS.get(placement, f.color_of(at))
            loads, values = 100 * part["load"], part[name] / divisor
            of = zip(loads, values)
            titles = [f"{placement}, {load:.1f} %: {value:.4g}" for load, value in of]
            look = {"color": color, "marker": f.marker_of(at), "label": placement[:24]}
            f.points(ax, loads, values, titles, **look)
        ax.set(xlabel="load, %", ylabel=label, xlim=(0, 100), ylim=(0, None))
    f.legend(axes.flat[0])
    for ax in axes.flat[len(known) :]:
        ax.remove()
    return fig
