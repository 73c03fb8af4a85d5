# SPDX-License-Identifier: Apache-2.0
"""Counters: what the CPUs counted while instances ran, in runs and in their steps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from .. import figures
from ..page import Fold, Part, Picture, Rows, Section
from ..runs import Run
from ..steps import total
from ..studies import Report
from ..tables import Sheet, Table

SLACK = 0.02  # seconds by which a second may exceed a step
ACROSS = 2  # panels side by side
OPEN_MAX = 2  # more pictures are folded

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
PICTURE = ["set", "environment", "workload", "role", "background"]


def count(seconds: pd.DataFrame, from_: float, to: float) -> dict[str, float]:
    """Return the rates of the counters between two times of a run."""
    seconds = seconds[(seconds["begin"] >= from_ - SLACK) & (seconds["end"] <= to + SLACK)]
    length = (seconds["end"] - seconds["begin"]).to_numpy()

    def rate(name: str) -> float:
        """Return a counter per second; a count covers the time since the previous one."""
        known = seconds[seconds[name].notna() & (seconds[f"since_{name}"] >= from_ - SLACK)]
        time = total((known["end"] - known[f"since_{name}"]).to_numpy())
        return total(known[name].to_numpy()) / time if time > 0 else math.nan

    def share(one: str, other: str) -> float:
        of = rate(other)
        return rate(one) / of if of > 0 else math.nan

    runnable = seconds["runnable"].to_numpy()
    known = ~np.isnan(runnable)
    time = total(length[known])
    return {
        "seconds": total(length) if len(seconds) else math.nan,
        "runnable_mean": total((runnable * length)[known]) / time if time else math.nan,
        **{name: rate(counter) for name, counter in RATES.items()},
        **{name: share(*both) for name, both in SHARES.items()},
    }


def df_counters(report: Report) -> pd.DataFrame:
    """Return a row for each run with counters, and for each of its steps; for a foreground, for
    each step of its background."""
    rows: list[dict[str, Any]] = []
    for run in report.runs:
        record = run.record
        if record.counters.empty:
            continue
        whole = count(record.counters, record.counted_from, record.counted_to)
        rows.append({"record": run.name, "set": run.set + 1, "step": math.nan} | whole)
        background = report.beside(run, "background") if run.role == "foreground" else None
        of = background or run
        shift = of.record.wall - record.wall if background else 0
        known = {
            "record": run.name,
            "steps_of": of.name,
            "environment": run.environment_name,
            "placement": run.placement,
            "workload": run.workload,
            "role": run.role,
            "background": background.workload if background else "",
            "round": run.round,
            "set": run.set + 1,
        }
        for number, step in enumerate(of.steps.to_dict("records"), 1):
            ends = (of.record.elapsed(step[name]) + shift for name in ("from", "to"))
            rows.append(
                known
                | {"step": number, "half": step["half"] or math.nan}
                | {name: step[name] for name in ("target", "load")}
                | count(record.counters, *map(record.run_time, ends))
            )
    frame = pd.DataFrame(rows)
    texts = [name for name in frame if frame[name].dtype == object]
    return frame.fillna(dict.fromkeys(texts, ""))


TABLES = (
    Table(
        "counters",
        "Counters of the instances during the counted time",
        "record step half target load seconds runnable_mean cpus_used instructions_per_second "
        "instructions_per_cycle stalled_frontend_per_cycle stalled_backend_per_cycle "
        "l1d_references_per_second l1d_miss_rate l2_misses_per_second l2_miss_rate "
        "cache_references_per_second cache_misses_per_second cache_miss_rate "
        "page_faults_per_second context_switches_per_second migrations_per_second steps_of "
        "(environment) (placement) (workload) role (background) (round) (set)",
        df_counters,
        about="For records with counters: rates and ratios of the counters of `counters.csv` in "
        "the counted time and in each step. A rate is empty if the machine lacks a counter "
        "that it needs.",
    ),
)


def _sheet(report: Report, of_steps: bool) -> Sheet:
    """Return rows for readers: those of steps or of runs."""
    frame = report.table("counters").frame
    title = "Counters by step; for a foreground, by the steps of its background"
    table = replace(TABLES[0], title=title) if of_steps else TABLES[0]
    return Sheet(table, frame[frame["step"].notna() == of_steps], report.prefix)


def plot_counters(steps: pd.DataFrame) -> Any:
    """Draw the counters of one program over the load, with a color and a mark for each placement;
    None if none is known at two loads."""
    known = [n for n in PANELS if steps.loc[steps[n].notna(), "load"].nunique() > 1]
    if not known:
        return None
    rows = math.ceil(len(known) / ACROSS)
    fig = figures.figure(rows, ACROSS)
    for ax, name in zip(fig.axes, known):
        label, divisor = PANELS[name]
        is_last = known.index(name) + ACROSS >= len(known)
        figures.axis_between(ax, "x", "load, %" if is_last else "", 0, 100)
        figures.axis_from_zero(ax, "y", label)
        groups = steps.groupby("placement", sort=False, dropna=False)
        for at, (placement, part) in enumerate(groups):
            loads, values = 100 * part["load"], part[name] / divisor
            color = figures.PLACEMENT_COLORS.get(placement, figures.color_of(at))
            titles = [f"{placement}, {load:.1f} %: {value:.4g}" for load, value in zip(loads, values)]
            shown = placement[:24] if name == known[0] else ""
            look: dict[str, Any] = {"color": color, "marker": figures.marker_of(at)}
            figures.mark(ax, loads, values, titles, label=shown, **look)
    for ax in fig.axes[len(known) :]:
        ax.remove()
    return fig


def sections(report: Report) -> Iterator[Section]:
    """Yield nothing without counts: few machines permit counting."""
    if not len(report.table("counters")):
        return
    pictures: list[Part] = []
    steps = report.once(_sheet, True).frame
    for values, rows in steps.groupby(PICTURE, sort=False, dropna=False):
        of, environment, workload, _, background = values
        fig = plot_counters(rows)
        if fig:
            against = f" against the load of {background[:100]}" if background else ""
            second = ", second set" if of > 1 else ""
            caption = f"{environment[:60]}: counters of {workload[:100]}{against}{second}"
            pictures.append(Picture(figures.svg(fig), caption))
    if len(pictures) > OPEN_MAX:
        pictures = [Fold(f"Counters pair by pair: {len(pictures)} pictures", pictures)]
    yield Section("Counters", [_sheet(report, False), *pictures])


def run_parts(report: Report, run: Run) -> Iterator[Part]:
    if not run.record.counters.empty:
        yield Rows(report.once(_sheet, True), run.name)
