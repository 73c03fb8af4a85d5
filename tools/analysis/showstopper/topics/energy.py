# SPDX-License-Identifier: Apache-2.0
"""Energy: power, iterations per watt-hour, power over busy CPUs, and idle states."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from .. import figures, statistics
from ..findings import Finding
from ..page import Part, Picture, Rows, Section, Small
from ..records import between
from ..rates import df_idle
from ..runs import Run, idle_states
from ..statistics import Array, Line, Parabola
from ..steps import total
from ..studies import Report, is_counted_elsewhere
from ..tables import Sheet, Table
from ..text import show, wrap

# Runs that agree in these have one fit of power over busy CPUs.
ONE_FIT = "set environment workload placement method tau_seconds cpus command".split()
AT_END = 0.02  # a step with at most this part of the CPUs busy counts as idle, or idle as full load
CURVED = 0.05  # a curvature with a smaller p-value is certain

# Runs that agree in these are in one picture, which compares their placements.
ONE_LOAD = "set environment experiment workload method tau_seconds target".split()
SETTINGS_MIN = 3  # fewer placements need no picture


def df_energy(report: Report, level: str = "run") -> pd.DataFrame:
    """Return the energy of runs, or of their steps."""
    rows = report.observations
    if rows.empty:
        return rows
    rows = rows[rows["level"] == level]
    return rows if level == "run" else rows[rows["covers"] != ""]


def _name(run: Run) -> dict[str, Any]:
    names = ("workload", "variant", "placement", "method")
    named = {name: getattr(run, name) for name in names}
    return {"set": run.set + 1, "environment": run.environment_name} | named


# Power over busy CPUs


def df_power_fits(report: Report) -> pd.DataFrame:
    """Return a line and a parabola of power over busy CPUs for each group of runs. Power that feeds
    two runs cannot be assigned to the CPUs of one of them."""
    steps = df_energy(report, "step")

    def has_power(run: Run) -> bool:
        return not run.energy.empty and not run.shares_power and run.record.load_cpus > 0

    rows = []
    for group in report.groups(ONE_FIT, has_power):
        first = group[0]
        of_group = steps["run"].isin([report.runs.index(run) for run in group])
        points = steps[of_group & np.isfinite(steps["watts"]) & np.isfinite(steps["load"])]
        busy, watts = (points["load"] * points["cpus"]).to_numpy(), points["watts"].to_numpy()
        line, parabola = statistics.fit_line(busy, watts), statistics.fit_parabola(busy, watts)
        if line.missing:
            continue
        cpus = first.record.cpu_count
        best = _choose(line, parabola)
        command = {"command": first.record.command, "instances": first.record.instance_count}
        rows.append(
            _name(first)
            | ({} if first.workload else command)
            | {
                "cpus": cpus,
                "steps": line.count,
                "line_constant": line.intercept,
                "line_slope": line.slope,
                "line_r_squared": line.r_squared,
                "constant": parabola.constant,
                "slope": parabola.linear,
                "square": parabola.square,
                "r_squared": parabola.r_squared,
                "square_p": parabola.square_p,
                "best": "quadratic" if best.square != 0 else "linear",
            }
            | _find_proportionality(best, cpus, busy, watts)
        )
    return pd.DataFrame(rows).fillna({"command": ""}) if rows else pd.DataFrame()


def _choose(line: Line, parabola: Parabola) -> Parabola:
    """Return the parabola if its curvature is certain, otherwise the line."""
    return parabola if parabola.square_p < CURVED else Parabola.of_line(line)


def _find_proportionality(
    best: Parabola, cpus: float, busy: Array, watts: Array
) -> dict[str, Any]:
    """Find how proportional power is to the number of busy CPUs: 1 minus the greatest distance
    from the straight line between idle and full load, relative to the range. Of the steps if idle
    and full load were measured, otherwise of the fit."""
    ends = ((0, AT_END * cpus), ((1 - AT_END) * cpus, cpus))
    at_ends = (watts[(busy >= low) & (busy <= high)] for low, high in ends)
    idle, full = (total(w) / len(w) if len(w) else math.nan for w in at_ends)
    most, of = float(np.abs(watts - (idle + (full - idle) * busy / cpus)).max()), "steps"
    if math.isnan(idle + full):
        most, idle, full = best.sag(cpus), best.at(0), best.at(cpus)
        of = "" if math.isnan(full) else "fit"
    proportionality = 1 - most / (full - idle) if full > idle else math.nan
    return {"proportionality": proportionality, "proportionality_of": of}


def df_power_settings(report: Report) -> pd.DataFrame:
    """Return the quartiles of the mean power of runs by placement, at loads with three or more."""

    def has_power(run: Run) -> bool:
        known = not run.energy.empty and not run.shares_power and run.placement
        return bool(known and run.target > 0 and len(run.steps))

    rows = []
    for load in report.groups(ONE_LOAD, has_power):
        ends = [(run.steps["from"].iloc[0], run.steps["to"].iloc[-1]) for run in load]
        watts = pd.Series([run.power(*at)["watts"] for run, at in zip(load, ends)])
        groups = watts.groupby([run.placement for run in load], sort=False, dropna=False)
        for _, own in groups if len(groups) >= SETTINGS_MIN else ():
            known = own.dropna()
            if len(known):
                quartiles = known.quantile([0, 0.25, 0.5, 0.75, 1])
                row = _name(load[own.index[0]]) | dict(zip(QUARTILES, quartiles))
                rows.append(row | {"load": load[0].target, "runs": len(known)})
    return pd.DataFrame(rows)


# Idle states


def df_idle_states(report: Report) -> pd.DataFrame:
    """Return a row for each idle state in each run and step, and at each rate of requests."""
    return pd.concat([_idle_of_runs(report), df_idle(report)], ignore_index=True)


def _idle_of_runs(report: Report) -> pd.DataFrame:
    """Return the rows of runs and their steps. A foreground has the samples of its background."""
    rows: list[dict[str, Any]] = []
    for run in report.runs:
        elsewhere = run.role == "foreground" and report.beside(run, "background")
        if run.idle.empty or elsewhere:
            continue
        whole = {"from": run.record.counted_from, "to": run.record.counted_to}
        parts = [whole | {"load": run.errors.load_mean}, *run.steps.to_dict("records")]
        for number, part in enumerate(parts):
            wall = run.record.wall
            common = _name(run) | {
                "record": run.name,
                "step": number or math.nan,
                "half": part.get("half") or math.nan,
                "target": part.get("target", math.nan),
                "load": part["load"],
                "watts": run.power(part["from"], part["to"])["watts"],
                "round": run.round,
            }
            states = idle_states(between(run.idle, wall + part["from"], wall + part["to"]))
            rows += [common | state for state in states]
    return pd.DataFrame(rows)


def findings(report: Report) -> Iterator[Finding]:
    """Yield how the deepest idle state depends on the load, from the steps of each run with the
    lowest and the highest load."""
    states = report.table("idle-states").frame
    for run in report.runs if len(states) else ():
        steps = states[(states["record"] == run.name) & states["step"].notna()]
        deepest = steps[steps["state"] == run.idle.columns[-1]]
        loads = deepest["load"].to_numpy()
        if len(deepest) < 2 or not np.isfinite(loads).any() or not np.ptp(loads) > 0:
            continue
        ends = deepest.iloc[[np.nanargmin(loads), np.nanargmax(loads)]]
        load, deep, watts = (ends[name].to_numpy() for name in ("load", "residency", "watts"))
        if not np.isfinite(deep).all():
            continue
        power = f", and the power {watts[0]:.1f} and {watts[1]:.1f} W"
        foreground = report.beside(run, "foreground")
        yield Finding(
            "idle",
            f"{'Second set: ' if run.set else ''}{run.title[:120]}"
            f"{', ' if run.placement else ''}{run.placement[:60]}: at loads of {100 * load[0]:.0f} "
            f"and {100 * load[1]:.0f} %, CPUs were in {run.idle.columns[-1]} for "
            f"{100 * deep[0]:.1f} and {100 * deep[1]:.1f} % of the time"
            f"{power if np.isfinite(watts).all() else ''}.",
            "pair",
            environment=run.environment_name,
            placement=run.placement,
            foreground=foreground.workload if foreground else run.workload,
            background=run.workload if foreground else "",
            percent=100 * (deep[1] - deep[0]),
            set=run.set + 1,
        )


# Tables


QUARTILES = ("least", "lower_quartile", "median", "upper_quartile", "most")
TABLES = (
    Table(
        "power-fits",
        "Power over busy CPUs: a line and a parabola through all steps",
        "(set) (environment) workload variant placement method command instances cpus steps "
        "line_constant line_slope line_r_squared constant slope square r_squared square_p best "
        "proportionality proportionality_of",
        df_power_fits,
        about="Power over the number of busy CPUs (load times CPUs), through the steps of all "
        "runs that differ only in their loads: a line, and the parabola constant + slope c "
        "+ square c^2. Runs that share their power with others are left out.",
    ),
    Table(
        "idle-states",
        "Idle states and frequency of the CPUs, of runs and their steps",
        "record step (half) target load seconds watts frequency_mhz active active_deviation "
        "state share share_deviation residency (environment) placement (round) (set) rate",
        df_idle_states,
        about="A row for each idle state of each run, of each of its steps, and of each rate of "
        "requests. For runs side by side it is that of the background.",
    ),
)
# Sheets for readers: programs find their columns in runs and steps, and those of power-settings in
# runs.
COST = "watts watt_hours power_iterations iterations_per_watt_hour"
SHOWN = {
    "energy": Table(
        "energy",
        "Energy: iterations per watt-hour",
        f"record covers power_seconds {COST} power_note",
        df_energy,
    ),
    "steps": Table(
        "energy-steps",
        "Energy by step",
        f"record step target_mean load power_seconds {COST}",
        functools.partial(df_energy, level="step"),
    ),
    "settings": Table(
        "power-settings",
        "Mean power of the runs by setting, at loads with three or more settings",
        f"workload variant load placement runs {' '.join(QUARTILES)}",
        df_power_settings,
    ),
}


def _shown(report: Report, name: str) -> Sheet:
    return Sheet(SHOWN[name], SHOWN[name].frame(report), report.prefix)


# Report


def _sources(report: Report) -> list[str]:
    """Return what the power of runs covers; empty if no power was recorded."""
    return list(dict.fromkeys(r.origin.energy for r in report.runs if not r.energy.empty))


def text(report: Report) -> str:
    if not report.runs:
        return ""
    sources = _sources(report)
    if not sources:
        return "energy: no power was recorded\n"
    sheets = {
        "energy; iterations per watt-hour": _shown(report, "energy"),
        "power over busy CPUs: a line and a parabola through all steps": report.table("power-fits"),
        "mean power of the runs by setting, W, at loads with three or more settings": _shown(
            report, "settings"
        ),
    }
    lines = (
        f"power covers {wrap(show(source) or 'an unknown part of the machine', 13)}\n"
        for source in sources
    )
    return "".join([*(sheet.text(title) for title, sheet in sheets.items()), *lines])


def plot_settings(rows: pd.DataFrame) -> Any:
    """Draw a box for each setting."""
    fig = figures.figure()
    ax = fig.axes[0]
    least, most = rows["least"].min(), rows["most"].max()
    room = max(0.05 * (most - least), 0.01 * most)
    figures.axis_between(ax, "y", "power, W", math.floor(max(least - room, 0)), most + room)
    figures.axis_names(ax, "x", list(rows["placement"]))
    titles = [f"{name}: {watts:.1f} W" for name, watts in zip(rows["placement"], rows["median"])]
    figures.boxes(ax, np.arange(len(rows)), rows[list(QUARTILES)], titles, width=0.5)
    return fig


def sections(report: Report) -> Iterator[Section]:
    idle = report.table("idle-states")
    if len(idle):
        yield Section("Idle states", [idle])
    if not _sources(report):
        return
    settings = _shown(report, "settings")
    parts: list[Part] = [_shown(report, "energy"), report.table("power-fits"), settings]
    if len(settings):
        parts.append("Mean power of the runs by setting: quartiles, least and most")
        keys = ["set", "environment", "workload", "variant", "method", "load"]
        for _, rows in settings.frame.groupby(keys, sort=False, dropna=False):
            first = rows.iloc[0]
            caption = f"{first['workload'][:80]} at {100 * first['load']:.3g} % of the machine"
            caption += f", {first['variant'][:100]}" if first["variant"] else ""
            parts.append(Picture(figures.svg(plot_settings(rows)), caption))
    yield Section("Energy", parts)


def details(report: Report) -> Iterator[Part]:
    if report.runs and not _sources(report):
        yield Small("Energy: no power was recorded with these runs.")


def run_parts(report: Report, run: Run) -> Iterator[Part]:
    """Yield the energy of a run's steps. The rows of a background have the power of both."""
    elsewhere = is_counted_elsewhere(report, run)
    if len(run.steps) > 1 and not run.energy.empty and not elsewhere:
        yield Rows(report.once(_shown, "steps"), run.name)
