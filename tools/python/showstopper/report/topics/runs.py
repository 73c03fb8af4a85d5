# SPDX-License-Identifier: Apache-2.0
"""Runs: how well was the load held? Steps, and the throughput over the load."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from .. import figures as f
from ... import stats, steps
from ...contents import list_of, member, number_of, read_json, text_of
from ...records import HOST, Record
from ...study import OTHERS_MAX, Study, disturbed, groups, key_columns
from ...text import UserError, listed
from ...verdicts import LOAD
from ..findings import Finding
from ..overlay import plot_run
from ..tables import Table

NEEDS = LOAD
NAMED_MAX = 4  # runs that a finding names
PICTURED_MAX = 8  # with more runs, each has only the picture of its load
ROWS_MAX = 64  # of fields: with more items, a row is the mean of neighboring ones
DUTY_PARTS = 60  # parts of a run
AREAS_MAX = 200  # points of stacked areas

# The columns in which the runs of a pool agree.
POOL = "set environment experiment workload placement method tau_seconds trace cpus command".split()

OF_SUMMARY = ("settling_seconds", "switches_per_second", "iterations", "own_cpu", "steal_mean")
RUN_NAMES = {
    "load": "load_mean",
    "throughput": "iterations_per_second",
    "bound": "iterations_per_second_bound",
}
STEP_NAMES = {
    "begin": "begin_seconds",
    "end": "end_seconds",
    "from": "from_seconds",
    "to": "to_seconds",
    "throughput": "iterations_per_second",
    "bound": "iterations_per_second_bound",
    "rate_mean": "intervals_mean",
    "rate_low": "iterations_per_second_low",
    "rate_high": "iterations_per_second_high",
}


# Runs


def df_runs(study: Study) -> pd.DataFrame:
    """Return a row for each record, with the figures of its own summary under their names there."""
    runs = study.runs
    own = pd.DataFrame([_figures(record) for record in study.records], index=runs.index)
    power = [_note_power(study, at) for at in runs.index]
    found = runs.rename(columns=RUN_NAMES).join(own).assign(
        duration_seconds=runs["to"] - runs["from"], power_note=power
    )
    failed = [
        {"record": failure.name, "state": "not reported", "notes": failure.why}
        for failure in study.failures
    ]
    frames = [part for part in (found, pd.DataFrame(failed)) if len(part)]
    return pd.concat(frames, ignore_index=True) if frames else found


def _figures(record: Record) -> dict[str, Any]:
    lateness = member(record.summary, "wake_lateness_us", dict)
    return {
        **{f"iteration_seconds_{name}": value for name, value in steps.lengths(record).items()},
        "wake_lateness_p99_us": number_of(lateness, "p99"),
        **{name: record.figure(name) for name in OF_SUMMARY},
        "notes": record.note,
    }


def _note_power(study: Study, at: int) -> str:
    record, run = study.records[at], study.runs.loc[at]
    if not run["has_power"]:
        return "no power was recorded"
    if study.is_counted_elsewhere(at):
        return "counted with its background"
    foreground, adds_up = study.consumer_of(at)
    # The seconds of power do not start with the run, so one may be missing.
    known, length = run["power_seconds"], run["to"] - run["from"]
    all_ = max(known + run["power_unknown"], math.floor(length) - 1)
    notes = []
    if known < all_ - 0.5:
        notes.append(f"power is known for {known:.0f} of {all_:.0f} s")
    if foreground is not None:
        both = "power and iterations of both programs"
        notes.append(both if adds_up else "power of two programs, whose iterations do not add up")
    elif not adds_up and record.role in ("foreground", "background"):
        notes.append("power of two programs, of which one is not reported")
    elif not adds_up:
        notes.append("power of all commands of the run, not of this one alone")
    if not run["has_iterations"]:
        notes.append("iterations were not counted")
    return "; ".join(notes)


def df_steps(study: Study) -> pd.DataFrame:
    """Return a row for each step: the part of it that counts, its load and its throughput."""
    rows = study.steps
    return rows.assign(half=rows["half"].where(rows["half"] > 0)).rename(columns=STEP_NAMES)


# Lines of throughput over load


@dataclass(frozen=True)
class Fitted:
    """Points of one run or of a pool of runs, through which a line and a curve are fitted."""

    name: str
    loads: np.ndarray
    rates: np.ndarray
    over: str  # steps or intervals
    exceeded: int = 0  # points left out because they are shorter than an iteration
    invalid: pd.DataFrame | None = None  # steps of invalid runs

    @cached_property
    def line(self) -> stats.Line:
        return stats.fit_line(self.loads, self.rates)

    @cached_property
    def curve(self) -> stats.Curve | None:
        """The local curve through steps; None if there are not enough of them."""
        return stats.fit_curve(self.loads, self.rates) if self.over == "steps" else None


def _fit_run(study: Study, at: int) -> Fitted:
    """Return the points of a run: steps if there are several, otherwise intervals. A step with
    target 0, in which no iteration can end, is left out without a note."""
    record, rows = study.records[at], study.steps_of(at)
    if of_steps := len(rows) > 1:
        noted = rows["is_exceeded"] & rows["target"].gt(0)
        rows = rows.assign(rate=rows["throughput"], noted=noted)
    else:
        rows = study.windows(at)
        is_exceeded = rows["length"] > study.settings.interval
        rows = rows.assign(is_exceeded=is_exceeded, noted=is_exceeded)
    rows = rows[np.isfinite(rows["load"]) & np.isfinite(rows["rate"])]
    used, over = rows[~rows["is_exceeded"]], "steps" if of_steps else "intervals"
    loads, throughput = used["load"].to_numpy(), used["rate"].to_numpy()
    return Fitted(record.name, loads, throughput, over, int(rows["noted"].sum()))


def of_runs(study: Study) -> dict[int, Fitted]:
    """Return the points of each run."""
    return {at: _fit_run(study, at) for at in range(len(study.records))}


def pools(study: Study) -> list[Fitted]:
    """Pool the steps of all runs with one workload and method in one environment. Next to another
    run, throughput does not depend on the run's own load alone."""
    runs = study.runs
    found = []
    for group in groups(runs[runs["role"].eq("") & runs["has_iterations"]], POOL):
        rows = study.steps[study.steps["run"].isin(group.index)]
        if len(group) < 2 or len(rows) < 3:
            continue
        rows = rows[rows["load"].notna() & rows["throughput"].notna()]
        used, bad = rows[~rows["is_exceeded"]], rows[rows["verdict"] == "invalid"]
        loads, throughput = used["load"].to_numpy(), used["throughput"].to_numpy()
        name = _pool_name(study, group.iloc[0])
        found.append(Fitted(name, loads, throughput, "steps", invalid=bad))
    return found


def _pool_name(study: Study, run: pd.Series) -> str:
    """Return what distinguishes the runs from those of other pools."""

    def differ(key: str) -> bool:
        return len(key_columns(study.runs, [key]).drop_duplicates()) > 1

    count, cpus, environment = run["instances"], run["cpus"], run["environment"]
    if environment == HOST:  # may also mean unknown: name it only if the record does
        environment = study.records[run.name].label("environment")
    has_command = not run["workload"] and differ("command")
    parts = [
        run["command"] if has_command else run["workload"],
        f"{count:.0f} instance{'' if count == 1 else 's'}" if has_command else "",
        f"{cpus:.4g} CPU{'' if cpus == 1 else 's'}" if differ("cpus") else "",
        *run[["variant", "placement", "method"]],
        f"tau {1000 * run['tau_seconds']:g} ms"
        if run["tau_seconds"] > 0 and differ("tau_seconds") else "",
        run["trace"],
        environment,
        run["measured_in"],
        "" if run["experiment"] == "throughput" else run["experiment"],
    ]
    named = ", ".join(part[:80] for part in parts if part)
    return f"all runs{': ' if named else ''}{named}{' (second set)' if run['set'] > 1 else ''}"


def df_fits(study: Study) -> pd.DataFrame:
    names = "intercept intercept_error intercept_p slope slope_error slope_p r_squared".split()
    has = study.runs["has_iterations"]
    fitted = [fit for at, fit in study.once(of_runs).items() if has[at]] + study.once(pools)
    return pd.DataFrame(
        [
            {"record": one.name, "over": one.over, "points": one.line.count}
            | {name: getattr(one.line, name) for name in names}
            | {"note": one.line.missing}
            for one in fitted
        ]
    )


def notes(study: Study) -> None:
    for at, one in study.once(of_runs).items():
        if one.exceeded:
            study.records[at].notes.append(
                f"left {one.exceeded} of {one.exceeded + len(one.loads)} {one.over} out of the fit "
                "of throughput against load: shorter than an iteration"
            )


# Tables


TABLES = {
    "runs": Table(
        "Runs",
        "record (set) state verdict version (command) started ended_by instances cpu_count "
        "duration_seconds samples target_mean load_mean others error_mean_percent error_mse_e4 "
        "error_p95_percent settling_seconds duty_mean switches_per_second iterations "
        "iterations_per_second iterations_per_second_bound iteration_seconds_mean "
        "iteration_seconds_deviation iteration_seconds_median iteration_seconds_p95 "
        "iteration_seconds_p99 own_cpu wake_lateness_p99_us steal_mean notes (environment) "
        "(measured_in) (host_load_mean) (load_difference) host_samples "
        "(clock_difference_start_seconds) (clock_difference_end_seconds) (vcpus) "
        "(vcpu_host_cpu_seconds) vcpu_wall_seconds (vcpu_load) (covers) (power_seconds) (watts) "
        "(watt_hours) (power_iterations) (iterations_per_watt_hour) (power_note)",
        df_runs,
        shade="verdict",
        terminal="runs; loads and errors in percent",
        about="A row for each record, including records that are not reported, with its verdict, "
        "the figures of its summary, the load that its host measured, and its power.",
    ),
    "steps": Table(
        "Steps: stretches of constant target",
        "record step half begin_seconds end_seconds from_seconds to_seconds target samples load "
        "(load_low) (load_high) error_mean_percent error_mse_e4 iterations_per_second "
        "iterations_per_second_bound intervals intervals_mean iterations_per_second_low "
        "iterations_per_second_high others (power_seconds) (watts) (watt_hours) "
        "(power_iterations) (iterations_per_watt_hour)",
        df_steps,
        terminal="steps",
        about="A row for each step of each record: its whole time, the part that counts, load, "
        "errors, throughput and power. The throughput is also that of whole intervals, "
        "whose scatter gives its confidence interval.",
    ),
    "fits": Table(
        "Throughput = intercept + slope \u00b7 load (load from 0 to 1)",
        "record over points intercept intercept_error intercept_p slope slope_error slope_p "
        "r_squared note",
        df_fits,
        about="The lines of every record, and of runs that form a curve together.",
    ),
}


# Sentences


def question(study: Study) -> str:
    held = study.runs["error_mean_percent"].notna()
    return "How well was the load held?" if held.any() else ""


def answer(study: Study) -> str:
    held = study.runs[study.runs["error_mean_percent"].notna()]
    if len(held) == 1:
        return _answer_one(study, held.iloc[0])
    means, most = held["error_mean_percent"], held["error_mse_e4"].max()
    return (
        f"In {len(held)} runs the mean error (target minus load) was {means.min():+.3f} to "
        f"{means.max():+.3f} points; the largest mean squared error is {most:.3g} %\u00b2."
    )


def _answer_one(study: Study, run: pd.Series) -> str:
    counted, mean = study.records[run.name].counted, run["error_mean_percent"]
    off = (100 * (counted["target"] - counted["load"])).dropna()
    interval = stats.series_uncertainty(off, mean).interval(mean, study.settings.confidence)
    ends = sorted((-1 if mean < 0 else 1) * end for end in (interval.low, interval.high))
    known = all(math.isfinite(end) for end in ends)
    return (
        f"On average the load was {abs(mean):.3f} points"
        f"{f' ({ends[0]:.3f} to {ends[1]:.3f})' if known else ''} "
        f"{'above' if mean < 0 else 'below'} the target of {100 * run['target_mean']:.2f} %, and "
        f"within {run['error_p95_percent']:.2f} points of it in 95 % of {run['samples']} samples."
    )


def findings(study: Study) -> Iterator[Finding]:
    """Yield which runs ended early, and which were disturbed."""
    studied = [record for record in study.records if record.source.study > 0]
    early = [
        f"{record.title[:120]} (after {record.end:.1f} s)"
        for record in studied
        if record.ended_by == "workloads" and not record.source.is_launch
    ]
    if early:
        yield Finding(
            "early",
            f"{len(early)} of {len(studied)} runs ended early, because their programs ended: "
            f"{listed(early, NAMED_MAX)}. Repeat these runs with --repeat, which starts a program "
            "again.",
        )
    measured: list[Any] = [*study.records, *study.requests]
    others = [(one.title, one.source.number("others")) for one in measured]
    bad = [f"{title[:120]} ({100 * used:.1f} %)" for title, used in others if disturbed(used)]
    if bad:
        known = sum(math.isfinite(used) for _, used in others)
        yield Finding(
            "others",
            f"Other processes used more than {100 * OTHERS_MAX:g} % of the machine during "
            f"{len(bad)} of {known} runs: {listed(bad, NAMED_MAX)}. These runs measured a "
            "disturbed machine: repeat them on a quiet one.",
        )


# Figures


def figures(study: Study) -> Iterator[f.Picture]:
    """Yield the pictures of each run, then those of pools. Runs of duet are many and short."""
    first_only = len(study.records) > PICTURED_MAX
    for at in study.runs.index[study.runs["experiment"] != "duet"]:
        record = study.records[at]
        is_pictured = record.role == "background" and study.beside(at, "foreground") is not None
        if first_only and is_pictured:
            continue
        for number, (caption, plot) in enumerate(PLOTS.items()):
            if (number == 0 or not first_only) and (fig := plot(study, at)) is not None:
                how = _head(record) if number == 0 else ""
                yield f.Picture(caption, fig, record.title, how)
    for pool in study.once(pools):
        if (fig := plot_line(pool, study.settings.confidence)) is not None:
            yield f.Picture("Throughput against load", fig, pool.name)


def _head(record: Record) -> str:
    """Return the call as it was typed, and where and when it ran."""
    plan, platform = record.plan, _read(record, "platform.json")
    words = [word if isinstance(word, str) else "?" for word in list_of(plan, "arguments")]
    call = f"showstopper {' '.join(words)}" if words else record.command or "command not known"
    made_by = _read(record, "../run.json") if record.source.study else None
    trace = member(member(plan, "modules", dict), "trace", dict)
    cpus = number_of(member(platform, "cpus", dict), "count")
    items = {
        "started": text_of(plan, "started") or "unknown",
        "host": text_of(made_by, "host"),
        "CPU": text_of(next(iter(list_of(platform, "models")), None), "model"),
        "CPUs": f"{cpus:.0f}" if math.isfinite(cpus) else "",
        "kernel": text_of(member(platform, "kernel", dict), "release"),
        "Showstopper": record.version,
        "trace": text_of(trace, "name"),
        "speed": record.label("speed"),
    } | {name: str(value) for name, value in (member(trace, "options", dict) or {}).items()}
    return "; ".join([call, *(f"{name}: {value}" for name, value in items.items() if value)])


def _read(record: Record, name: str) -> Any:
    try:
        return read_json(record.folder, name)
    except UserError:
        return None


def _plot_load(study: Study, at: int) -> Any:
    return plot_run(study, at, "load", "load")


def _plot_rates(study: Study, at: int) -> Any:
    if len(study.windows(at)) < 2:
        return None
    return plot_run(study, at, "throughput", f"intervals of {study.settings.interval:g} s")


def _plot_power(study: Study, at: int) -> Any:
    """Draw the power; if two runs side by side share it, only that of the background."""
    record = study.records[at]
    shared = record.role == "foreground" and record.shares_power
    has = len(record.power) > 1 and not shared
    return plot_run(study, at, "power", "power") if has else None


@f.drawing
def plot_errors(study: Study, at: int) -> Any:
    """Draw the distribution of the errors; the outermost bins include all larger ones."""
    counted = study.records[at].counted
    errors = 100 * (counted["target"] - counted["load"]).dropna()
    if errors.empty:
        return None
    reach = max(1.5 * study.runs.loc[at, "error_p95_percent"], 0.05)
    fig, ax = f.new(fixed=True)
    weights = np.full(len(errors), 100 / len(errors))
    edges = np.linspace(-reach, reach, 41)
    ax.hist(errors.clip(edges[0], edges[-1]), bins=edges, weights=weights, color=f.SKY)
    ax.axvline(errors.mean(), color=f.ORANGE, label="mean")
    ax.set(xlabel="error (target minus load), %", ylabel="samples, %")
    f.legend(ax)
    return fig


def _plot_fields(record: Record, values: np.ndarray, items: int, name: str, label: str) -> Any:
    """Draw parts of 1, a row for each item or for neighboring ones, and a column for each part of
    the run."""
    if not np.isfinite(values).any():
        return None
    fig, ax = f.new(fixed=True)
    unit = f.time_axis(ax, record.end)
    x = np.linspace(0, record.end / unit, values.shape[1] + 1)
    y = np.linspace(-0.5, items - 0.5, len(values) + 1)
    f.fields(ax, x, y, 100 * values, label, most=100)
    ax.set_ylabel(name)
    ax.yaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    return fig


@f.drawing
def plot_duties(study: Study, at: int) -> Any:
    """Draw for which part of the time each instance ran."""
    record = study.records[at]
    rows = record.duties
    if rows.empty:
        return None
    items = int(rows["instance"].max()) + 1
    row = (rows["instance"] * min(items, ROWS_MAX) // items).astype(int)
    edges = record.end * np.arange(DUTY_PARTS + 1) / DUTY_PARTS
    begin, end = rows["begin"].to_numpy(), rows["end"].to_numpy()
    which, part, seconds = steps.overlaps(begin, end, edges[:-1], edges[1:])
    field, shape = row.to_numpy()[which] * DUTY_PARTS + part, (min(items, ROWS_MAX), DUTY_PARTS)
    known, ran = (
        np.bincount(field, weights, shape[0] * shape[1]).reshape(shape)
        for weights in (seconds, seconds * rows["running"].to_numpy()[which])
    )
    with np.errstate(invalid="ignore"):
        return _plot_fields(record, ran / known, items, "instance", "duty, %")


@f.drawing
def plot_cpus(study: Study, at: int) -> Any:
    """Draw the load of each CPU; a short run has a column for each sample."""
    record = study.records[at]
    rows = record.cpus
    if rows.empty:
        return None
    time, clock = record.clock.run_time(rows["elapsed"]), record.clock
    used = (time > 0) & (time <= record.end + steps.SLACK) & ~clock.is_paused(rows["elapsed"])
    columns = min(len(record.samples), DUTY_PARTS)
    part = ((time - steps.SLACK) / record.end * columns).clip(0, columns - 1).fillna(0).astype(int)
    loads = rows.drop(columns="elapsed")[used].groupby(part[used], sort=True, dropna=False).mean()
    values = loads.reindex(range(columns)).to_numpy().T
    group = np.arange(len(values)) * min(len(values), ROWS_MAX) // len(values)
    values = pd.DataFrame(values).groupby(group, sort=True, dropna=False).mean().to_numpy()
    return _plot_fields(record, values, rows.shape[1] - 1, "CPU", "load, %")


@f.drawing
def plot_runnable(study: Study, at: int) -> Any:
    """Draw the runnable threads of the machine."""
    record = study.records[at]
    rows = record.counters
    rows = rows[rows["runnable"].notna()] if len(rows) else rows
    if rows.empty:
        return None
    fig, ax = f.new(fixed=True)
    unit = f.time_axis(ax, record.end)
    ax.plot(rows["end"] / unit, rows["runnable"], label="runnable threads of the machine")
    if record.cpu_count > 0:
        ax.axhline(record.cpu_count, color=f.AXIS, linestyle="--", label="number of CPUs")
    ax.set(ylabel="runnable threads", ylim=(0, None))
    f.legend(ax)
    return fig


@f.drawing
def plot_line(fitted: Fitted, confidence: float) -> Any:
    """Draw throughput over load: the points, the line and the local curve with their bands.
    Rings mark steps of invalid runs."""
    if not len(fitted.loads):
        return None
    fig, ax = f.new(fixed=True)
    x = np.linspace(fitted.loads.min(), fitted.loads.max(), 61)
    line, curve = fitted.line, fitted.curve
    if fitted.invalid is not None:
        f.rings(ax, 100 * fitted.invalid["load"], fitted.invalid["throughput"], "invalid runs")
    if math.isfinite(line.slope):
        of = line.at(x, confidence)
        f.band(ax, 100 * x, of.low, of.high, color=f.ORANGE, label=f"{100 * confidence:g} % band")
        ax.plot(100 * x, of.y, color=f.ORANGE, label="least squares")
    if curve:
        inside = np.minimum(x, curve.most)
        of = curve.at(inside, confidence)
        f.band(ax, 100 * inside, of.low, of.high, color=f.GREEN)
        ax.plot(100 * inside, of.y, color=f.GREEN, label="local")
    titles = [f"{100 * x:.1f} %: {y:.4g} /s" for x, y in zip(fitted.loads, fitted.rates)]
    f.points(ax, 100 * fitted.loads, fitted.rates, titles, label=fitted.over)
    ax.set(xlabel="load observed, %", ylabel="throughput, /s", ylim=(0, None))
    f.legend(ax)
    return fig


def _plot_line(study: Study, at: int) -> Any:
    fitted = study.once(of_runs)[at]
    has = study.runs.loc[at, "has_iterations"]
    return plot_line(fitted, study.settings.confidence) if has else None


@f.drawing
def plot_idle(study: Study, at: int) -> Any:
    """Draw the parts of the time in which the CPUs were active and in each idle state."""
    record = study.records[at]
    states = list(record.idle.columns[3:])
    rows = record.idle[record.idle["at"].between(0, record.end) & record.idle["active"].notna()]
    if len(rows) < 2 or not states or record.role == "foreground":
        return None
    parts = rows[states].mul(1 - rows["active"], axis=0).fillna(0)
    parts.insert(0, "active", rows["active"])
    group = np.arange(len(rows)) // (len(rows) // AREAS_MAX + 1)
    means = parts.groupby(group, sort=True, dropna=False).mean()
    ends = rows["at"].groupby(group, sort=True, dropna=False).last()
    fig, ax = f.new(fixed=True)
    unit = f.time_axis(ax, record.end)
    colors = [f.color_of(number) for number in range(len(means.columns))]
    labels = [str(name)[:20] for name in means]
    ax.stackplot(ends / unit, 100 * means.T, colors=colors, labels=labels, alpha=f.AREA_ALPHA)
    ax.set(ylabel="part of the time, %", ylim=(0, 100))
    f.legend(ax)
    return fig


PLOTS: dict[str, Callable[[Study, int], Any]] = {
    "Target and load": _plot_load,
    "Errors of the samples": plot_errors,
    "Duty of each instance over time": plot_duties,
    "Load of each CPU over time": plot_cpus,
    "Runnable threads over time": plot_runnable,
    "Throughput over time": _plot_rates,
    "Throughput against load": _plot_line,
    "Power": _plot_power,
    "Idle states of the CPUs": plot_idle,
}
