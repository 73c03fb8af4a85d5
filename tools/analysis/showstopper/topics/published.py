# SPDX-License-Identifier: Apache-2.0
"""Published figures: constant loads and replays, next to what others measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from .. import figures
from ..overlay import Line, plot_overlay
from ..page import Note, Part, Picture, Section
from ..published import number_of
from ..runs import Run
from ..studies import Report, others_permit, sort_key
from ..tables import Table

SERIES = "set workload method tau_seconds target trace".split()
OF_REPLAY = "set environment experiment workload method tau_seconds round trace".split()
OF_LOAD = "set environment experiment family target round".split()
SAME_SPEED = 1e-6  # a manifest has speeds with ten digits
TARGET_WITHIN = 0.5  # percentage points: a target of 33 % is compared with the published 1/3
TABLE_3 = "throughput-table3"
MEANS = ["load_mean", "error_mean_percent", "error_mse_e4"]


# Data


def _series(report: Report, experiment: str, keys: list[str]) -> list[list[Run]]:
    """Group the runs of an experiment in the order of tables: by keys, then round and speed."""
    groups = report.groups(keys, lambda run: bool(run.experiment == experiment))
    ordered = [sorted(runs, key=lambda run: sort_key(run, ["round", "speed"])) for runs in groups]
    return sorted(ordered, key=lambda runs: sort_key(runs[0], keys))


def _or_zero(value: float) -> float:
    """Return a target or a speed: tables have 0 if it is unknown."""
    return 0.0 if math.isnan(value) else value


def _error_published(report: Report, run: Run, name: str) -> float:
    """Return the published value; NaN if it was measured with another tau."""
    published = report.published_figures
    if abs(run.tau_seconds - published.taus.get(name, math.nan)) > 1e-6:
        return math.nan
    return published.number(name, _keys(run), run.method, TARGET_WITHIN)


def _keys(run: Run) -> list[str]:
    return [run.published_name, f"{100 * run.target:.6g}"]


def _certainty(report: Report, run: Run, error: float) -> str:
    """Return whether the published error is `certain` or only `probable`."""
    published = report.published_figures
    words = published.find("constant-load-mean-error", _keys(run), "probable", TARGET_WITHIN)
    probable = words and any(published.is_word(w, run.method) for w in words.text.split())
    return "" if math.isnan(error) else "probable" if probable else "certain"


def df_constant_load(report: Report) -> pd.DataFrame:
    """Return a row for each workload, method and target: means of the repetitions."""
    rows = (_constant_load(report, runs) for runs in _series(report, "accuracy", SERIES))
    return pd.DataFrame(row for row in rows if row["runs"])


def _constant_load(report: Report, runs: list[Run]) -> dict[str, Any]:
    first = runs[0]
    counted = [run for run in runs if run.errors.count]
    own, beside = (
        pd.DataFrame([vars(one) for one in errors if one.count], columns=MEANS, dtype=float)
        for errors in ([run.errors for run in counted], [run.beside for run in counted])
    )
    error = _error_published(report, first, "constant-load-mean-error")
    return {
        "set": first.set + 1,
        "workload": first.workload,
        "method": first.method,
        "tau_seconds": first.tau_seconds,
        "target": _or_zero(first.target),
        "runs": len(counted),
        "instances": first.record.instance_count,
        "stands_for": first.stands_for,
        **own.mean(),
        "error_mean_percent_published": error,
        "published_is": _certainty(report, first, error),
        "error_mse_e4_published": _error_published(report, first, "constant-load-mse"),
        "beside_runs": len(beside),
        **beside.mean().add_prefix("beside_"),
        "others_most": np.fmax.reduce([run.others for run in counted], initial=math.nan),
    }


def _seconds(report: Report, speed: float) -> float:
    """Return the seconds of a published replay at a speed; the longest of Table 3 has speed 1."""
    cells = report.published_figures.cells
    known = [number_of(cell.keys[2]) for cell in cells if cell.table == TABLE_3]
    return max(known, default=math.nan) / speed if speed > 0 else math.nan


def _rates(report: Report, program: str, method: str, speed: float) -> dict[str, float]:
    """Return published throughputs at a speed, also relative to the original speed; {} without
    any."""
    seconds = _seconds(report, speed)

    def rate(system: str, seconds: float) -> float:
        keys = [system, program, f"{seconds:.4g}"]
        return report.published_figures.number(TABLE_3, keys, method)

    rates = {system: rate(system, seconds) for system in ("linux", "aix")}
    if not any(map(math.isfinite, rates.values())):
        return {}
    found = {"published_seconds": seconds}
    for system, value in rates.items():
        found[f"{system}_iterations_per_second"] = value
        found[f"{system}_ratio"] = value / rate(system, _seconds(report, 1))
    return found


def _original(runs: list[Run], replay: Run) -> Run | None:
    """
    Return the run with which a replay is compared: the first one at speed 1 or, if absent, at the
    slowest speed. Runs of other studies, perhaps of another machine, count only if the study has
    no other speed.
    """
    known = [run for run in runs if math.isfinite(run.throughput)]
    own = [run for run in known if run.manifest == replay.manifest]
    if any(abs(_or_zero(run.speed) - _or_zero(replay.speed)) > SAME_SPEED for run in own):
        known = own

    def order(run: Any) -> tuple[bool, float, bool]:
        speed = _or_zero(run.speed)
        return abs(speed - 1) > SAME_SPEED, round(speed, 6), run.manifest != replay.manifest

    return min(known, key=order, default=None)


def df_replay(report: Report) -> pd.DataFrame:
    """Return a row for each replay of a trace; `off` says how far it is out of proportion."""
    groups = _series(report, "replay", [*SERIES, "round"])
    return pd.DataFrame(
        _replay(report, run, _original(runs, run)) for runs in groups for run in runs
    )


def _replay(report: Report, run: Run, original: Run | None) -> dict[str, Any]:
    record, published = run.record, report.published_figures
    seconds = record.counted_to - record.counted_from
    keys, method = [run.published_name, run.method], run.method
    original_seconds = f"{_seconds(report, run.speed):.4g}"
    least, most = (
        published.number("replay-mse-range", keys[:1], f"{method}_{end}") for end in ("min", "max")
    )
    return {
        "set": run.set + 1,
        "workload": run.workload,
        "method": method,
        "tau_seconds": run.tau_seconds,
        "trace": run.trace,
        "round": run.round,
        "speed": _or_zero(run.speed),
        "seconds": seconds,
        **{name: getattr(run.errors, name) for name in MEANS},
        "error_mean_percent_published": published.number(
            "replay-mean-error", keys, original_seconds
        ),
        "error_mse_e4_published_least": least,
        "error_mse_e4_published_most": most,
        "iterations": run.throughput * seconds,
        "iterations_per_second": run.throughput,
        **_ratio(run, original, report.settings.deviation),
        "others": run.others,
        "record": run.name,
        **_rates(report, run.published_name, method, run.speed),
    }


def _ratio(run: Run, original: Run | None, deviation: float) -> dict[str, Any]:
    """Compare throughputs: the ratio is the number of iterations divided by the number expected
    from the length. If no iteration ended, the ratio has only an upper bound."""
    found: dict[str, Any] = {"note": "", "in_proportion": "", "off": ""}
    if original is None:
        return found
    found["against_speed"] = _or_zero(original.speed)
    if not others_permit(run.others, original.others):
        note = "not compared: other processes used a different share of the machine"
        return found | {"note": note}
    ratio, most = run.throughput / original.throughput, run.bound / original.throughput
    against = f"speed {found['against_speed']:.4g}"
    off = ""
    if math.isfinite(ratio) and not abs(ratio - 1) <= deviation:
        off = f"{100 * (ratio - 1):+.1f} % against {against}"
    elif most < 1 - deviation:
        off = f"none ended, so at most {100 * most:.3g} % of the throughput at {against}"
    if off or math.isfinite(ratio):
        found["in_proportion"] = "no" if off else "yes"
    return found | {"ratio": ratio, "off": off}


def notes(report: Report) -> None:
    runs = {run.name: run for run in report.runs}
    replays = report.table("replay").frame
    for row in replays[replays["off"] != ""].itertuples() if len(replays) else ():
        runs[row.record].notes.add(
            f"the iterations are not in proportion to the time scale ({row.off}), so this speed "
            "says nothing about the original"
        )


TABLES = (
    Table(
        "constant-load",
        "Constant load: errors, and those that were published",
        "(set) workload method tau_seconds target runs (instances) stands_for load_mean "
        "error_mean_percent error_mean_percent_published published_is error_mse_e4 "
        "error_mse_e4_published beside_runs beside_load_mean beside_error_mean_percent "
        "beside_error_mse_e4 others_most",
        df_constant_load,
        about="For the experiment `accuracy`: load and errors for each workload, method, mean "
        "round and target, over all repetitions, next to published values. Columns that "
        "begin with `beside_` are from ssload(1), which measured independently, if the "
        "folder of a run has its output `beside.csv`.",
    ),
    Table(
        "replay",
        "One trace at several speeds",
        "(set) workload method tau_seconds trace (round) speed seconds load_mean "
        "error_mean_percent error_mean_percent_published error_mse_e4 "
        "error_mse_e4_published_least error_mse_e4_published_most iterations "
        "iterations_per_second against_speed ratio in_proportion others note (record) "
        "published_seconds linux_iterations_per_second aix_iterations_per_second linux_ratio "
        "aix_ratio",
        df_replay,
        about="For the experiment `replay`: errors, iterations and throughput of each replay, "
        "and its ratio to that of `against_speed`, next to published values. Published "
        "throughputs are relative to that at the original speed: absolute values depend on "
        "the machine, and the published trace is one of nine means.",
    ),
)

def text(report: Report) -> str:
    titles = {
        "constant-load": "constant load; mean error in %, mean squared error (MSE) in %^2",
        "replay": "replay; mean error in %, MSE in %^2, ratio of throughput to the original "
        "speed's",
    }
    return "".join(report.table(name).text(title) for name, title in titles.items())


# Pictures

HEIGHT = 380  # with room for the names of all methods above the bars
FILLED = 0.8  # part of the distance to the next program or target that bars fill


def plot_loads(rows: pd.DataFrame) -> Any:
    """Draw the load of each program with each method next to the target, with a ring at each
    published load, which is the target minus the error; `rows` have one target."""
    fig = figures.figure(height=HEIGHT)
    ax = fig.axes[0]
    target = 100 * rows["target"]
    figures.axis_between(ax, "y", "load, %", 0, 100)
    figures.line_at(ax, "y", target.iloc[0])
    programs = {name: name.rpartition("/")[2][:14] for name in sorted(set(rows["workload"]))}
    published = target - rows["error_mean_percent_published"]
    _draw_bars(ax, rows, programs, "workload", 100 * rows["load_mean"], published)
    return fig


def plot_errors(rows: pd.DataFrame, is_squared: bool = False) -> Any:
    """Draw the errors with each method, by target, with a ring at each published value; `rows`
    have one workload. Returns None if no error is known."""
    name = "error_mse_e4" if is_squared else "error_mean_percent"
    both = rows[[name, f"{name}_published"]]
    both = both.where(both > 0) if is_squared else both  # a logarithmic axis has no 0
    if both[name].isna().all():
        return None
    fig = figures.figure(height=HEIGHT)
    ax = fig.axes[0]
    if is_squared:
        least, most = np.nanmin(both), np.nanmax(both)
        figures.axis_logarithmic(ax, "y", "MSE, %\u00b2", least / 2, 2 * most)
    else:
        figures.axis_around_zero(ax, "y", "mean error, %")
    targets = {target: f"{100 * target:.4g}" for target in sorted(set(rows["target"]))}
    _draw_bars(ax, rows, targets, "target", both[name], both[f"{name}_published"], "target, %")
    return fig


def _draw_bars(
    ax: Any, rows: pd.DataFrame, names: dict[Any, str], by: str, values: Any, published: Any,
    axis: str = "",
) -> None:
    """Draw a bar for each method at each of the names, and a ring at the published value."""
    figures.axis_names(ax, "x", list(names.values()), axis)
    places = rows[by].map([*names].index)
    groups = rows.groupby(["method", "tau_seconds"], sort=False, dropna=False).ngroup()
    width = FILLED / (groups.max() + 1)
    for series, own in places.groupby(groups, sort=False, dropna=False):
        method, tau = rows.loc[own.index[0], ["method", "tau_seconds"]]
        label = f"{method[:60]}{'' if math.isnan(tau) else f', {1000 * tau:.4g} ms'}"
        figures.bars(
            ax,
            own + (series - groups.max() / 2) * width,
            values[own.index],
            [f"{label}: {value:.4g}" for value in values[own.index]],
            width=0.9 * width,
            color=figures.color_of(int(series)),
            label=label[:40],
            opacity=figures.HALF,
            published=published[own.index],
        )
    if published.notna().any():
        figures.rings(ax, [math.nan], [math.nan], "published", size=6)


def _load_pictures(report: Report) -> Iterator[Picture]:
    """Yield a picture for each target that several programs have: those of errors show one."""
    loads = report.table("constant-load").frame
    for (set_, target), rows in loads.groupby(["set", "target"], sort=False, dropna=False):
        if rows["workload"].nunique() > 1:
            caption = f"Load by program and method; target {100 * target:.4g} % (dashed)"
            second = ", second set" if set_ > 1 else ""
            yield Picture(figures.svg(plot_loads(rows)), f"{caption}{second}")


def _error_pictures(report: Report) -> Iterator[Picture]:
    loads = report.table("constant-load").frame
    captions = ("mean error by target and method", "mean squared error (MSE) by target and method")
    for is_squared, caption in enumerate(captions):
        for (set_, name), rows in loads.groupby(["set", "workload"], sort=False, dropna=False):
            fig = plot_errors(rows, bool(is_squared))
            if fig:
                second = ", second set" if set_ > 1 else ""
                yield Picture(figures.svg(fig), f"{name[:100]}: {caption}{second}")


def _overlays(report: Report, experiment: str) -> Iterator[Picture]:
    """Yield pictures of the runs with all methods at one load, or of one trace at all speeds."""
    is_replay = experiment == "replay"
    keys = OF_REPLAY if is_replay else OF_LOAD
    groups = report.groups(
        keys, lambda run: run.experiment == experiment and len(run.record.samples) > 0
    )
    for runs in groups:
        lines = [Line(run, run, _run_name(run)) for run in runs]
        fig = plot_overlay(lines, "time of the trace" if is_replay else "time")
        first = runs[0]
        which = f"all methods at {100 * _or_zero(first.target):.4g} %"
        which = f"{(first.method or '-')[:60]} at all speeds" if is_replay else which
        which += f", round {first.round:.0f}" if first.round > 1 else ""
        caption = f"{(first.workload or '-')[:100]}: {which}{', second set' if first.set else ''}"
        if fig:
            yield Picture(figures.svg(fig), caption)


def _run_name(run: Run) -> str:
    if run.speed > 0:
        return f"speed {run.speed:.4g}"
    tau = f", {1000 * run.tau_seconds:.4g} ms" if run.tau_seconds > 0 else ""
    return f"{run.method or '-'}{tau}"


# Page

ELSEWHERE = "Published figures are those of other programs on another machine."
TRACES = (
    "The published trace is not available: published ranges of the mean squared error are those of "
    "another trace. After a jump of the target, the load needs some rounds to follow, however fast "
    "the trace is played. In a trace with jumps, these rounds can dominate the error of a fast "
    "replay."
)
SYSTEMS = (
    "Published throughputs are those of the whole system over another trace, on two other systems. "
    "Absolute values depend on the machine; compare how they change with the speed."
)


def sections(report: Report) -> Iterator[Part]:
    loads, replay = report.table("constant-load"), report.table("replay")
    if len(loads):
        pictures = [*_load_pictures(report), *_error_pictures(report)]
        yield Section(
            "Constant load", [ELSEWHERE, *pictures, loads, *_overlays(report, "accuracy")]
        )
    if len(replay):
        noted = [run for run in report.runs if run.speed > 0 and run.notes]
        systems = [SYSTEMS] if "published_seconds" in replay.frame else []
        yield Section(
            "Replay at several speeds",
            [
                ELSEWHERE,
                *(Note(str(run.notes), run.title) for run in noted),
                TRACES,
                replay,
                *_overlays(report, "replay"),
                *systems,
            ],
        )
