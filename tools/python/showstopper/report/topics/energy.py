# SPDX-License-Identifier: Apache-2.0
"""Energy: power, iterations per watt-hour, power over busy CPUs, and idle states."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from .. import figures as f
from ... import stats, steps
from ...records import between
from ...rates import df_rates
from ...study import Study, groups
from ..findings import Finding
from ..tables import Table

NAMES = "set environment workload variant placement method".split()

# Runs that agree in these have one fit of power over busy CPUs.
ONE_FIT = "set environment workload placement method tau_seconds cpus command".split()
END_PART = 0.02  # part of the CPUs by which a step may miss idle or full load
CURVATURE_P_MAX = 0.05  # a curvature with a smaller p-value is certain

# Runs that agree in these are in one picture, which compares their placements.
ONE_PICTURE = "set environment experiment workload method tau_seconds target".split()
SETTINGS_MIN = 3  # fewer placements need no picture
QUARTILES = ["least", "lower_quartile", "median", "upper_quartile", "most"]


def df_energy(study: Study) -> pd.DataFrame:
    """Return the power and energy of runs, and of their steps."""
    runs = study.runs[study.runs["has_power"]].assign(target=math.nan, step=0)
    rows = pd.concat([runs, study.steps[study.steps["covers"] != ""]], ignore_index=True)
    return rows.sort_values(["record", "step"], kind="stable")


# Power over busy CPUs


def points_of_fits(study: Study) -> Iterator[tuple[pd.Series, pd.DataFrame]]:
    """Yield the first run of each group, and the steps of the group with power. Power that feeds
    two runs cannot be assigned to the CPUs of one of them."""
    runs = study.runs
    has_power = runs["has_power"] & ~runs["shares_power"] & runs["cpus"].gt(0)
    for group in groups(runs[has_power], ONE_FIT):
        points = study.steps[study.steps["run"].isin(group.index)]
        yield group.iloc[0], points.dropna(subset=["watts", "load"])


def df_power_fits(study: Study) -> pd.DataFrame:
    """Return a line and a parabola of power over busy CPUs for each group of runs."""
    rows = []
    for first, points in points_of_fits(study):
        line, _, figures = fit(points, first["cpu_count"])
        if not line.missing:
            command = first[["command", "instances"]] if not first["workload"] else {}
            rows.append(first[NAMES].to_dict() | {"command": ""} | dict(command) | figures)
    return pd.DataFrame(rows)


def fit(points: pd.DataFrame, cpus: float) -> tuple[stats.Line, stats.Parabola, dict[str, Any]]:
    """Return the line, the parabola if its curvature is certain or else the line, and figures."""
    busy, watts = (points["load"] * points["cpus"]).to_numpy(), points["watts"].to_numpy()
    line, parabola = stats.fit_line(busy, watts), stats.fit_parabola(busy, watts)
    best = parabola if parabola.square_p < CURVATURE_P_MAX else stats.Parabola.of_line(line)
    figures = {
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
    if len(busy):
        figures |= _find_proportionality(best, cpus, busy, watts)
    return line, best, figures


def _find_proportionality(
    best: stats.Parabola, cpus: float, busy: stats.Array, watts: stats.Array
) -> dict[str, Any]:
    """Find how proportional power is to the number of busy CPUs: 1 minus the greatest distance
    from the straight line between idle and full load, relative to the range. Uses the steps if
    idle and full load were measured, otherwise the fit."""
    ends = ((0, END_PART * cpus), ((1 - END_PART) * cpus, cpus))
    at_ends = (watts[(busy >= low) & (busy <= high)] for low, high in ends)
    idle, full = (w.mean() if len(w) else math.nan for w in at_ends)
    most, of = float(np.abs(watts - (idle + (full - idle) * busy / cpus)).max()), "steps"
    if math.isnan(idle + full):
        most, idle, full = best.sag(cpus), best.at(0), best.at(cpus)
        of = "" if math.isnan(full) else "fit"
    proportionality = 1 - most / (full - idle) if full > idle else math.nan
    return {"proportionality": proportionality, "proportionality_of": of}


def df_power_settings(study: Study) -> pd.DataFrame:
    """Return the quartiles of the mean power of runs by placement, at loads with three or more."""
    runs, found = study.runs, []
    has_steps = runs.index.isin(study.steps["run"])
    used = runs["has_power"] & ~runs["shares_power"] & runs["placement"].ne("") & has_steps
    for load in groups(runs[used & runs["target"].gt(0)], ONE_PICTURE):
        by = load.assign(watts=[_watts(study, at) for at in load.index])
        by_placement = by.groupby("placement", sort=False, dropna=False)["watts"]
        if len(by_placement) < SETTINGS_MIN:
            continue
        rows = by_placement.quantile([0, 0.25, 0.5, 0.75, 1]).unstack().set_axis(QUARTILES, axis=1)
        first = by.drop_duplicates("placement").set_index("placement")
        names = ["measured_in", "target", *(name for name in NAMES if name != "placement")]
        rows = first[names].rename(columns={"target": "load"}).join(rows)
        found.append(rows.assign(runs=by_placement.count()).query("runs > 0").reset_index())
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def _watts(study: Study, at: int) -> float:
    rows = study.steps_of(at)
    return steps.power(study.records[at], rows["from"].iloc[0], rows["to"].iloc[-1])["watts"]


# Idle states


def df_idle_states(study: Study) -> pd.DataFrame:
    """Return a row for each idle state in each run and step, and at each rate of requests.
    A foreground has the samples of its background."""
    rows: list[dict[str, Any]] = []
    for at, record in enumerate(study.records):
        elsewhere = record.role == "foreground" and study.beside(at, "background") is not None
        if record.idle.empty or elsewhere:
            continue
        run = study.runs.loc[at]
        whole = run[["from", "to", "load", "watts"]].to_dict()
        for part in (whole, *study.steps_of(at).to_dict("records")):
            common = run[["record", "round", *NAMES]].to_dict() | {
                "step": part.get("step", math.nan),
                "half": part.get("half") or math.nan,
                "target": part.get("target", math.nan),
                "load": part["load"],
                "watts": part["watts"],
            }
            states = idle_states(between(record.idle, part["from"], part["to"]))
            rows += [common | state for state in states]
    return pd.DataFrame([*rows, *_idle_of_requests(study)])


def _idle_of_requests(study: Study) -> Iterator[dict[str, Any]]:
    names = "record round set environment workload variant method step rate load watts".split()
    for row in study.once(df_rates).to_dict("records"):
        idle = study.requests[row["of"]].idle
        for state in idle_states(between(idle, row["from"], row["to"])):
            if not math.isnan(state["active"]):
                yield {name: row[name] for name in names} | state


def idle_states(seconds: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the shares of each idle state, and the figures of the CPUs in these seconds.

    Seconds with more idle time weigh more in the share; one without it has no shares.
    """
    weight = 1 - seconds["active"]
    for name in seconds.columns[3:]:
        part = weight * seconds[name].where(weight > 0, 0)
        used = part.notna()
        idle, within = weight[used].sum(), part[used].sum()
        yield {
            "seconds": seconds["active"].count(),
            "frequency_mhz": seconds["frequency_mhz"].mean(),
            "active": seconds["active"].mean(),
            "active_deviation": seconds["active"].std(),
            "state": name,
            "share": within / idle if idle > 0 else math.nan,
            "share_deviation": seconds[name].std(),
            "residency": within / used.sum() if used.any() else math.nan,
        }


def findings(study: Study) -> Iterator[Finding]:
    """Yield how the deepest idle state depends on the load, from the steps of each run with the
    lowest and the highest load."""
    states = study.once(df_idle_states)
    for at, record in enumerate(study.records if len(states) else ()):
        own = states[states["record"].eq(record.name) & states["step"].notna()]
        deepest = own[own["state"] == record.idle.columns[-1]]
        loads = deepest["load"].to_numpy()
        if len(deepest) < 2 or not np.isfinite(loads).any() or not np.ptp(loads) > 0:
            continue
        ends = deepest.iloc[[np.nanargmin(loads), np.nanargmax(loads)]]
        load, deep, watts = (ends[name].to_numpy() for name in ("load", "residency", "watts"))
        if np.isfinite(deep).all():
            yield _describe(study, at, load, deep, watts)


def _describe(study: Study, at: int, load: Any, deep: Any, watts: Any) -> Finding:
    run, state = study.runs.loc[at], study.records[at].idle.columns[-1]
    power = f", and the power {watts[0]:.1f} and {watts[1]:.1f} W"
    other = study.beside(at, "foreground")
    foreground = run["workload"] if other is None else study.runs.loc[other, "workload"]
    return Finding(
        "idle",
        f"{'Second set: ' if run['set'] > 1 else ''}{run['title'][:120]}"
        f"{', ' if run['placement'] else ''}{run['placement'][:60]}: at loads of "
        f"{100 * load[0]:.0f} and {100 * load[1]:.0f} %, CPUs were in {state} for "
        f"{100 * deep[0]:.1f} and {100 * deep[1]:.1f} % of the time"
        f"{power if np.isfinite(watts).all() else ''}.",
        "pair",
        environment=run["environment"],
        placement=run["placement"],
        foreground=foreground,
        background="" if other is None else run["workload"],
        percent=100 * (deep[1] - deep[0]),
        set=run["set"],
    )


# Tables


TABLES = {
    "energy": Table(
        "Energy: iterations per watt-hour, of runs and their steps",
        "record step target load covers power_seconds watts watt_hours power_iterations "
        "iterations_per_watt_hour",
        df_energy,
        terminal="energy; iterations per watt-hour",
        about="A row for each run with power, and for each of its steps.",
    ),
    "power-fits": Table(
        "Power over busy CPUs: a line and a parabola through all steps",
        "(set) (environment) workload variant placement method command instances cpus steps "
        "line_constant line_slope line_r_squared constant slope square r_squared square_p best "
        "proportionality proportionality_of",
        df_power_fits,
        terminal="power over busy CPUs: a line and a parabola through all steps",
        about="Power over the number of busy CPUs (load times CPUs), through the steps of all "
        "runs that differ only in their loads: a line, and the parabola constant + slope c "
        "+ square c^2. Runs that share their power with others are left out.",
    ),
    "power-settings": Table(
        "Mean power of the runs by setting, at loads with three or more settings",
        f"(set) (environment) workload variant load placement runs {' '.join(QUARTILES)}",
        df_power_settings,
        terminal="mean power of the runs by setting, W, at loads with three or more settings",
        about="The quartiles of the mean power of runs by placement.",
    ),
    "idle-states": Table(
        "Idle states and frequency of the CPUs, of runs and their steps",
        "record step (half) target load seconds watts frequency_mhz active active_deviation "
        "state share share_deviation residency (environment) placement (round) (set) rate",
        df_idle_states,
        about="A row for each idle state of each run, of each of its steps, and of each rate of "
        "requests. For runs side by side it is that of the background.",
    ),
}


# Figures


@f.drawing
def plot_settings(rows: pd.DataFrame) -> Any:
    """Draw a box for each setting."""
    fig, ax = f.new()
    f.boxes(ax, np.arange(len(rows)), rows[QUARTILES], widths=0.5)
    ax.set(ylabel="power, W")
    ax.set_xticks(range(len(rows)), rows["placement"])
    return fig


@f.drawing
def plot_power(rows: pd.DataFrame) -> Any:
    """Draw the power of steps over busy CPUs, with the fit."""
    line, best, figures = fit(rows, rows["cpu_count"].iloc[0])
    fig, ax = f.new()
    busy = rows["load"] * rows["cpus"]
    of = zip(rows["title"], rows["watts"], busy)
    titles = [f"{title}: {w:.1f} W at {b:.2f} CPUs" for title, w, b in of]
    f.points(ax, busy, rows["watts"], titles, label="steps")
    if not line.missing:
        x = np.linspace(0, figures["cpus"])
        ax.plot(x, best.at(x), color=f.ORANGE, label=figures["best"])
    ax.set(xlabel="busy CPUs", ylabel="power, W", xlim=(0, None))
    f.legend(ax)
    return fig


def figures(study: Study) -> Iterator[f.Picture]:
    for first, rows in points_of_fits(study):
        if len(rows) > 2:
            words = [first["workload"] or first["command"]]
            words += [first[name] for name in ("variant", "placement", "method")]
            name = ", ".join(word[:80] for word in words if word)
            yield f.Picture(f"Power over busy CPUs: {name}", plot_power(rows))
    settings = study.once(df_power_settings)
    keys = ["set", "environment", "workload", "variant", "method", "load"]
    for rows in groups(settings, keys):
        first = rows.iloc[0]
        caption = f"{first['workload'][:80]} at {100 * first['load']:.3g} % of the machine"
        caption += f", {first['variant'][:100]}" if first["variant"] else ""
        how = "Mean power of the runs by setting: quartiles, least and most"
        yield f.Picture(caption, plot_settings(rows), how=how)
