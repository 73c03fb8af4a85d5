# SPDX-License-Identifier: Apache-2.0
"""Runs: how well was the load held? Steps, and the throughput over the load."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import figures, statistics
from ..findings import Finding, Headline
from ..page import Code, Fold, Note, Part, Picture, Rows, Section, Small
from ..run_pictures import pictures, plot_pool
from ..runs import Pool, Run
from ..studies import OTHERS_MAX, Report, others_disturb, sort_key
from ..tables import Sheet, Table
from ..text import UserError, list_of, member, number_of, read_json, show, text_of, wrap
from ..verdicts import LOAD
from .environments import around

STEPS_OF_MAX = 4  # with more runs, the terminal does not show their steps
NAMED_MAX = 4  # runs that a finding names
OPEN_MAX = 8  # sections of more runs are folded
PICTURED_MAX = 40  # with more runs, each has only the picture of its load

# What runs of a pool have in common.
POOL = "set environment experiment workload placement method tau_seconds trace cpus command".split()


# Data


def df_runs(report: Report) -> pd.DataFrame:
    """Return a row for each record, with the figures of its own summary under their names there."""
    observed = report.observations.to_dict("records")
    power = [{name: row[name] for name in POWER} for row in observed if row["level"] == "run"]
    rows = [_row(run) | costs for run, costs in zip(report.runs, power)]
    rows += [{"record": f.name, "state": "not reported", "notes": f.why} for f in report.failures]
    return pd.DataFrame(rows)


def _row(run: Run) -> dict[str, Any]:
    record, errors = run.record, run.errors
    return {
        "record": run.name,
        "set": run.set + 1,
        "state": _state(run),
        "verdict": run.verdict.result,
        "version": record.version,
        "command": record.command,
        "started": record.started,
        "ended_by": record.ended_by,
        "instances": record.instance_count,
        "cpu_count": record.cpu_count,
        "duration_seconds": record.counted_to - record.counted_from,
        "samples": errors.count,
        "target_mean": errors.target_mean,
        "load_mean": errors.load_mean,
        "others": run.others,
        "error_mean_percent": errors.error_mean_percent,
        "error_mse_e4": errors.error_mse_e4,
        "error_p95_percent": errors.error_p95_percent,
        "duty_mean": run.duty_mean,
        "iterations_per_second": run.throughput,
        "iterations_per_second_bound": run.bound,
        **{f"iteration_seconds_{name}": value for name, value in run.iteration.items()},
        "wake_lateness_p99_us": record.lateness_p99_us,
        **{name: record.figure(name) for name in OF_SUMMARY},
        "environment": run.environment_name,
        "measured_in": run.measured_in,
        **around(run),
        "notes": str(run.notes),
    }


OF_SUMMARY = ("settling_seconds", "switches_per_second", "iterations", "own_cpu", "steal_mean")


POWER = (
    "covers power_seconds watts watt_hours power_iterations iterations_per_watt_hour power_note"
).split()


def _state(run: Run) -> str:
    if run.record.running:
        return "running"
    return "interrupted" if run.record.interrupted else "whole"


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


def df_steps(report: Report) -> pd.DataFrame:
    """Return a row for each step: the part of it that counts, its load and its throughput."""
    steps = report.observations
    if steps.empty:
        return steps
    steps = steps[steps["level"] == "step"]
    half = steps["half"].where(steps["half"] > 0)
    steps = steps.assign(half=half, target=steps["target_mean"])
    return steps.rename(columns=STEP_NAMES)


class Fitted(NamedTuple):
    """Points of one run or of a pool of runs, through which a line and a curve are fitted."""

    name: str
    pool: Pool
    invalid: pd.DataFrame  # steps of invalid runs

    @property
    def over(self) -> str:
        return "steps" if self.pool.of_steps else "intervals"


def pools(report: Report) -> list[Fitted]:
    """Pool the steps of all runs with one workload and method in one environment. Beside another
    run, throughput does not depend on the run's own load alone."""
    groups = report.groups(POOL, lambda run: not run.role and run.record.has_iterations)
    found = []
    for group in groups:
        known = [run for run in group if len(run.steps)]
        if len(group) < 2 or sum(len(run.steps) for run in known) < 3:
            continue
        steps = pd.concat([run.steps.assign(bad=run.verdict.is_invalid) for run in known])
        is_known = np.isfinite(steps["load"].astype(float)) & np.isfinite(steps["throughput"])
        used = steps[is_known & ~steps["is_exceeded"].astype(bool)]
        pool = Pool(used["load"].to_numpy(), used["throughput"].to_numpy(), True, 0)
        found.append(Fitted(_pool_name(report, group[0]), pool, steps[steps["bad"]]))
    return found


def _pool_name(report: Report, one: Run) -> str:
    """Return what distinguishes the runs from those of other pools."""

    def differ(key: str) -> bool:
        return len({sort_key(run, [key]) for run in report.runs}) > 1

    count, cpus = one.record.instance_count, one.record.load_cpus
    has_command = not one.workload and differ("command")
    parts = [
        one.record.command if has_command else one.workload,
        f"{count:.0f} instance{'' if count == 1 else 's'}" if has_command else "",
        f"{cpus:.4g} CPU{'' if cpus == 1 else 's'}" if differ("cpus") else "",
        one.variant,
        one.placement,
        one.method,
        f"tau {1000 * one.tau_seconds:g} ms" if one.tau_seconds > 0 and differ("tau_seconds") else "",
        one.trace,
        one.environment,
        one.measured_in,
        "" if one.experiment == "throughput" else one.experiment,
    ]
    named = ", ".join(part[:80] for part in parts if part)
    return f"all runs{': ' if named else ''}{named}{' (second set)' if one.set else ''}"


def fitted(report: Report) -> Iterator[Fitted]:
    """Yield the runs that counted iterations, then the pools of several."""
    for run in report.runs:
        if run.record.has_iterations:
            yield Fitted(run.name, run.pool, run.steps[:0])
    yield from pools(report)


def df_fits(report: Report) -> pd.DataFrame:
    names = "intercept intercept_error intercept_p slope slope_error slope_p r_squared".split()
    return pd.DataFrame(
        [
            {"record": one.name, "over": one.over, "points": one.pool.line.count}
            | {name: getattr(one.pool.line, name) for name in names}
            | {"note": one.pool.line.missing}
            for one in fitted(report)
        ]
    )


TABLES = (
    Table(
        "runs",
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
        about="A row for each record, including records that are not reported, with its verdict, "
        "the figures of its summary, the load that its host measured, and its power.",
    ),
    Table(
        "steps",
        "Steps: stretches of constant target",
        "record step half begin_seconds end_seconds from_seconds to_seconds target samples load "
        "(load_low) (load_high) error_mean_percent error_mse_e4 iterations_per_second "
        "iterations_per_second_bound intervals intervals_mean iterations_per_second_low "
        "iterations_per_second_high others (power_seconds) (watts) (watt_hours) "
        "(power_iterations) (iterations_per_watt_hour)",
        df_steps,
        about="A row for each step of each record: its whole time, the part that counts, load, "
        "errors, throughput and power. The throughput is also that of whole intervals, "
        "whose scatter gives its confidence interval.",
    ),
    Table(
        "fits",
        "Throughput = intercept + slope \u00b7 load (load from 0 to 1)",
        "record over points intercept intercept_error intercept_p slope slope_error slope_p "
        "r_squared note",
        df_fits,
        about="The lines of every record, and of runs that form a curve together.",
    ),
)


# Sentences


def _name(runs: list[str]) -> str:
    more = len(runs) - NAMED_MAX
    return ", ".join(runs[:NAMED_MAX]) + (f", and {more} more" if more > 0 else "")


def findings(report: Report) -> Iterator[Finding]:
    studied = [run for run in report.runs if run.manifest > 0]
    early = [
        f"{run.title[:120]} (after {run.record.end:.1f} s)"
        for run in studied
        if run.record.ended_by == "workloads" and not run.is_launch
    ]
    if early:
        yield Finding(
            "early",
            f"{len(early)} of {len(studied)} runs ended early, because their programs ended: "
            f"{_name(early)}. Repeat these runs with --repeat, which starts a program again.",
        )
    measured: list[Any] = [*report.runs, *report.responses]
    known = sum(math.isfinite(one.others) for one in measured)
    disturbed = [
        f"{one.title[:120]} ({100 * one.others:.1f} %)"
        for one in measured
        if others_disturb(one.others)
    ]
    if disturbed:
        yield Finding(
            "others",
            f"Other processes used more than {100 * OTHERS_MAX:g} % of the machine during "
            f"{len(disturbed)} of {known} runs: {_name(disturbed)}. These runs measured a disturbed "
            "machine: repeat them on a quiet one.",
        )


def answer(report: Report) -> Headline | None:
    held = [run for run in report.runs if math.isfinite(run.errors.error_mean_percent)]
    question = "How well was the load held?"
    if len(held) > 1:
        means = [run.errors.error_mean_percent for run in held]
        most = max(run.errors.error_mse_e4 for run in held)
        return Headline(
            question,
            f"In {len(held)} runs the mean error (target minus load) was {min(means):+.3f} to "
            f"{max(means):+.3f} points; the largest mean squared error is {most:.3g} %\u00b2.",
            needs=LOAD,
        )
    return Headline(question, _answer_one(report, held[0]), needs=LOAD) if held else None


def _answer_one(report: Report, run: Run) -> str:
    errors = run.errors
    mean = errors.error_mean_percent
    off = (100 * (run.counted["target"] - run.counted["load"])).dropna().to_numpy()
    interval = statistics.series_uncertainty(off, mean).interval(mean, report.settings.confidence)
    ends = sorted((-1 if mean < 0 else 1) * end for end in (interval.low, interval.high))
    known = all(math.isfinite(end) for end in ends)
    return (
        f"On average the load was {abs(mean):.3f} points"
        f"{f' ({ends[0]:.3f} to {ends[1]:.3f})' if known else ''} "
        f"{'above' if mean < 0 else 'below'} the target of {100 * errors.target_mean:.2f} %, and "
        f"within {errors.error_p95_percent:.2f} points of it in 95 % of {errors.count} samples."
    )


# Terminal


def _listed(report: Report) -> list[Run]:
    """Return the runs without those of duet, which are many and short: see its blocks."""
    return [run for run in report.runs if run.experiment != "duet"]


def text(report: Report) -> str:
    runs = [at for at, run in enumerate(report.runs) if run.experiment != "duet"]
    found = _rows(report, "runs", runs).text("runs; loads and errors in percent")
    for run in report.runs if len(report.runs) <= STEPS_OF_MAX else []:
        if len(run.steps) > 1:
            steps = np.flatnonzero(report.table("steps").frame["record"] == run.name)
            found += _rows(report, "steps", steps).text(f"steps of {show(run.title)}")
        found += "".join(_line_text(run.pool, run.record.has_iterations))
    for pooled in pools(report):
        found += "".join([f"\n{show(pooled.name)}\n", *_line_text(pooled.pool, True)])
    return found


def _rows(report: Report, name: str, rows: Any) -> Sheet:
    sheet = report.table(name)
    return Sheet(sheet.table, sheet.frame.iloc[rows], report.prefix)


def _line_text(pool: Pool, has_iterations: bool) -> Iterator[str]:
    line = pool.line
    if not has_iterations or not pool.of_steps:  # a single load does not determine a line
        return
    if line.missing:
        yield f"least squares: {line.missing}\n"
        return
    sign = "-" if line.slope < 0 else "+"
    words = f"least squares: {line.intercept:.4g} {sign} {abs(line.slope):.4g} x load /s"
    words += f", R^2 {line.r_squared:.4f}" if math.isfinite(line.r_squared) else ""
    words += f", p {line.slope_p:.1e}" if math.isfinite(line.slope_p) else ""
    yield wrap(f"{words}, of {line.count} points") + "\n"


# Page


def _read(run: Run, name: str) -> Any:
    try:
        return read_json(run.record.folder, name)
    except UserError:
        return None


def _head(run: Run) -> list[Part]:
    """Return the call as it was typed, and where and when it ran."""
    plan, platform = run.record.plan, _read(run, "platform.json")
    made_by = _read(run, "../run.json") if run.manifest else None
    words = [word if isinstance(word, str) else "?" for word in list_of(plan, "arguments")]
    call = f"showstopper {' '.join(words)}" if words else run.record.command or "command not known"
    trace = member(member(plan, "modules", dict), "trace", dict)
    options = member(trace, "options", dict) or {}
    cpus = number_of(member(platform, "cpus", dict), "count")
    model = next(iter(list_of(platform, "models")), None)
    items = {
        "started": run.record.started or "unknown",
        "host": text_of(made_by, "host"),
        "CPU": text_of(model, "model"),
        "CPUs": f"{cpus:.0f}" if math.isfinite(cpus) else "",
        "kernel": text_of(member(platform, "kernel", dict), "release"),
        "Showstopper": run.record.version,
        "trace": text_of(trace, "name"),
    }
    known = "; ".join(f"{name}: {value}" for name, value in items.items() if value)
    known += "".join(f", {name}={_json_text(value)}" for name, value in options.items())
    known += f"; speed: {run.speed:g}" if run.speed > 0 else ""
    return [(Code(call),), Small(known)]


def _json_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"


def _section(report: Report, run: Run) -> Section:
    parts = _head(run)
    if run.notes:
        parts.append(Note(str(run.notes)))
    if others_disturb(run.others):
        used = f"{100 * run.others:.1f} % of the machine during this run"
        parts.append(Note(f"disturbed: other processes used {used}"))
    is_brief = len(report.runs) > PICTURED_MAX
    if not (is_brief and run.role == "background" and report.beside(run, "foreground")):
        parts += pictures(run, first_only=is_brief)
    if len(run.steps) > 1:
        parts.append(Rows(report.table("steps"), run.name))
    for found in report.from_topics("run_parts", run):
        parts += found
    if run.record.has_iterations:
        parts.append(Rows(report.table("fits"), run.name))
    return Section(run.title, parts)


def details(report: Report) -> Iterator[Part]:
    listed = _listed(report)
    for pooled in pools(report):
        fig = plot_pool(pooled.pool, report.settings.confidence, pooled.invalid)
        pictures_ = [Picture(figures.svg(fig), "Throughput against load")] if fig else []
        yield Section(pooled.name, [*pictures_, Rows(report.table("fits"), pooled.name)])
    yield report.table("runs")
    sections: list[Part] = [_section(report, run) for run in listed]
    if len(report.runs) > PICTURED_MAX and report.runs[0].experiment != "duet":
        yield (
            f"In a report of more than {PICTURED_MAX} runs, each run has only the picture of its "
            "load over time, and a background that with its foreground: report fewer runs for all "
            "pictures."
        )
    if len(sections) > OPEN_MAX:
        sections = [Fold(f"Run by run: {len(sections)} runs", sections)]
    yield from sections
