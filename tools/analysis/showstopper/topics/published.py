# SPDX-License-Identifier: Apache-2.0
"""Published figures: constant loads and replays, next to what others measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from .. import figures, steps
from ..overlay import Line, plot_overlay
from ..page import Note, Part, Picture, Section
from ..published import Cell, Published, number_of
from ..runs import Run
from ..studies import Report, is_closer, others_permit, sort_key
from ..tables import Sheet, Table
from ..text import wrap

SERIES = "set workload method tau_seconds target trace".split()
OF_REPLAY = "set environment experiment workload method tau_seconds round trace".split()
OF_LOAD = "set environment experiment family target round".split()
SAME_SPEED = 1e-6  # a manifest has speeds with ten digits
TARGET_WITHIN = 0.5  # percentage points: a target of 33 % is compared with the published 1/3
TABLE_3 = "throughput-table3"
ALL = "showstopper"  # all methods that a statement is about


# Data


def _series(report: Report, experiment: str, keys: list[str]) -> list[list[Run]]:
    """Group the runs of an experiment in the order of tables: by keys, then round and speed."""
    groups = report.groups(keys, lambda run: bool(run.experiment == experiment))
    ordered = [sorted(runs, key=lambda run: sort_key(run, ["round", "speed"])) for runs in groups]
    return sorted(ordered, key=lambda runs: sort_key(runs[0], keys))


def _positive(value: float) -> float:
    return value if value > 0 else math.nan


def _or_zero(value: float) -> float:
    """Return a target or a speed: tables have 0 if it is unknown."""
    return 0.0 if math.isnan(value) else value


def _error_published(report: Report, run: Run, name: str) -> float:
    """Return the published value; NaN if it was measured with another tau."""
    table = report.published_figures.table(name)
    if table and run.tau_seconds > 0 and abs(run.tau_seconds - table.tau) > 1e-6:
        return math.nan
    return report.published_figures.print(name, _keys(run), run.method, TARGET_WITHIN)


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
    beside = [run.beside for run in counted if run.beside.count]
    error = _error_published(report, first, "constant-load-mean-error")
    means = "load_mean error_mean_percent error_mse_e4".split()

    others = [run.others for run in counted if not math.isnan(run.others)]

    def mean(name: str, of: Iterable[Any]) -> float:
        return steps.mean(np.array([getattr(one, name) for one in of]))

    return {
        "set": first.set + 1,
        "workload": first.workload,
        "method": first.method,
        "tau_seconds": _positive(first.tau_seconds),
        "target": _or_zero(first.target),
        "runs": len(counted),
        "instances": first.record.instance_count,
        "stands_for": _positive(first.stands_for),
        **{name: mean(name, (run.errors for run in counted)) for name in means},
        "error_mean_percent_published": error,
        "published_is": _certainty(report, first, error),
        "error_mse_e4_published": _error_published(report, first, "constant-load-mse"),
        "beside_runs": len(beside),
        **{f"beside_{name}": mean(name, beside) for name in means},
        "others_most": max(others, default=math.nan),
    }


def _seconds(published: Published, speed: float) -> float:
    """Return the seconds of a published replay at a speed; the longest of Table 3 has speed 1."""
    table = published.table(TABLE_3)
    known = [number_of(cell.keys[2]) for cell in table.cells] if table else []
    return max(known, default=math.nan) / speed if speed > 0 else math.nan


def _rates(report: Report, program: str, method: str, speed: float) -> dict[str, float]:
    """Return published throughputs at a speed, also relative to the original speed; {} without
    any."""
    published = report.published_figures
    seconds = _seconds(published, speed)

    def rate(system: str, seconds: float) -> float:
        return published.print(TABLE_3, [system, program, f"{seconds:.4g}"], method)

    rates = {system: rate(system, seconds) for system in ("linux", "aix")}
    if not any(map(math.isfinite, rates.values())):
        return {}
    found = {"published_seconds": seconds}
    for system, value in rates.items():
        found[f"{system}_iterations_per_second"] = value
        found[f"{system}_ratio"] = value / rate(system, _seconds(published, 1))
    return found


def _original(runs: list[Run], replay: Run) -> Run | None:
    """
    Return the run with which a replay is compared: the first one at speed 1 or, if absent, at the
    slowest speed. Runs of other studies, perhaps of another machine, count only if the study has
    no other speed. `runs` are ordered by speed.
    """
    known = [run for run in runs if math.isfinite(run.throughput)]

    def differ(one: Run, other: Run) -> bool:
        return abs(_or_zero(one.speed) - _or_zero(other.speed)) > SAME_SPEED

    own = [run for run in known if run.manifest == replay.manifest]
    if any(differ(run, replay) for run in own):
        known = own
    found = None
    for run in known:
        is_one = abs(run.speed - 1) <= SAME_SPEED
        same = found is not None and not differ(run, found)
        if not found or (is_one and not same) or (same and is_closer(replay, run, found)):
            found = run
    return found


def df_replay(report: Report) -> pd.DataFrame:
    """Return a row for each replay of a trace; `off` says how far it is out of proportion."""
    groups = _series(report, "replay", [*SERIES, "round"])
    return pd.DataFrame(
        _replay(report, run, _original(runs, run)) for runs in groups for run in runs
    )


def _replay(report: Report, run: Run, original: Run | None) -> dict[str, Any]:
    record, errors, published = run.record, run.errors, report.published_figures
    seconds = record.counted_to - record.counted_from
    keys = [run.published_name, run.method]
    rates = _rates(report, run.published_name, run.method, run.speed)
    return {
        "set": run.set + 1,
        "workload": run.workload,
        "method": run.method,
        "tau_seconds": _positive(run.tau_seconds),
        "trace": run.trace,
        "round": _positive(run.round),
        "speed": _or_zero(run.speed),
        "seconds": seconds,
        "load_mean": errors.load_mean,
        "error_mean_percent": errors.error_mean_percent,
        "error_mean_percent_published": published.print(
            "replay-mean-error", keys, f"{_seconds(published, run.speed):.4g}"
        ),
        "error_mse_e4": errors.error_mse_e4,
        **{
            f"error_mse_e4_published_{end}": published.print(
                "replay-mse-range", keys[:1], f"{run.method}_{column}"
            )
            for end, column in (("least", "min"), ("most", "max"))
        },
        "iterations": run.throughput * seconds,
        "iterations_per_second": run.throughput,
        **_ratio(run, original, report.settings.deviation),
        "others": run.others,
        "record": run.name,
        **rates,
    }


def _ratio(run: Run, original: Run | None, deviation: float) -> dict[str, Any]:
    """Compare throughputs: the ratio is the number of iterations divided by the number expected
    from the length. If no iteration ended, the ratio has only an upper bound."""
    if original is None:
        return {"note": "", "in_proportion": ""}
    found: dict[str, Any] = {"against_speed": _or_zero(original.speed), "note": "", "in_proportion": ""}
    if not others_permit(run.others, original.others):
        note = "not compared: other processes used a different share of the machine"
        return found | {"note": note}
    ratio, most = run.throughput / original.throughput, run.bound / original.throughput
    off = ""
    if math.isfinite(ratio) and not abs(ratio - 1) <= deviation:
        off = f"{100 * (ratio - 1):+.1f} % against speed {found['against_speed']:.4g}"
    elif most < 1 - deviation:
        off = (
            f"none ended, so at most {100 * most:.3g} % of the throughput at speed "
            f"{found['against_speed']:.4g}"
        )
    if off or math.isfinite(ratio):
        found["in_proportion"] = "no" if off else "yes"
    return found | {"ratio": ratio, "off": off}


def notes(report: Report) -> None:
    runs = {run.name: run for run in report.runs}
    replays = report.table("replay").frame
    for row in replays[replays["off"].fillna("") != ""].itertuples() if "off" in replays else ():
        runs[row.record].notes.add(
            f"the iterations are not in proportion to the time scale ({row.off}), so this speed "
            "says nothing about the original"
        )


def df_within(report: Report, experiment: str) -> pd.DataFrame:
    """Return how often the mean error was at most the published one: for all methods of
    Showstopper, then for each method, next to the published values."""
    runs = [run for run in report.runs if run.experiment == experiment and run.method]
    runs = [run for run in runs if run.errors.count]
    rows = []
    for set_ in (0, 1):
        own = [run for run in runs if run.set == set_]
        methods = dict.fromkeys(run.method for run in own)
        rows += [_within(report, experiment, own, method) for method in (ALL, *methods)]
    return pd.DataFrame(row for row in rows if row)


def _within(report: Report, experiment: str, runs: list[Run], method: str) -> dict[str, Any]:
    published = report.published_figures

    def state(column: str) -> Cell | None:
        return published.find("within", [experiment], column)

    def includes(name: str) -> bool:
        return state(name) is not None if method == ALL else published.is_word(name, method)

    bound, table = state("bound_percent"), state("of")
    errors = [abs(run.errors.error_mean_percent) for run in runs if includes(run.method)]
    if not errors or not bound or math.isnan(bound.number):
        return {}
    of = published.table(table.text) if table else None
    cells = [c for c in of.cells if includes(c.column) or includes((*c.keys, "")[1])] if of else []
    values = [abs(cell.number) for cell in cells if math.isfinite(cell.number)]
    row = {
        "set": runs[0].set + 1,
        "method": method,
        "runs": len(errors),
        "bound_percent": published.print("within", [experiment], "bound_percent"),
        "within_runs": sum(error <= bound.number for error in errors),
        "within_percent": _percent(errors, bound.number),
        "published_values": len(values),
        "published_within_percent": _percent(values, bound.number),
        "published_most_percent": max(values, default=math.nan),
    }
    stated = ("all_platforms_percent", "linux_percent") if method == ALL else ()
    return row | {name: published.print("within", [experiment], name) for name in stated}


def _percent(values: list[float], bound: float) -> float:
    return 100 * sum(value <= bound for value in values) / len(values) if values else math.nan


def df_throughput(report: Report) -> pd.DataFrame:
    """Return throughputs over a trace, replayed or predicted, for which others are published."""
    replays, predictions = (report.table(name).frame for name in ("replay", "prediction"))
    found = []
    if "published_seconds" in replays:
        found.append(replays[replays["published_seconds"].notna()].assign(of="replay"))
    names = {"predicted_iterations_per_second": "iterations_per_second"}
    for row in predictions.rename(columns=names).to_dict("records"):
        program = next(r.published_name for r in report.runs if r.workload == row["workload"])
        rates = _rates(report, program, row["method"], 1)
        if rates and not row["record"]:  # the others are those of replays
            found.append(pd.DataFrame([row | rates | {"of": "prediction", "speed": 1}]))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def df_references(report: Report) -> pd.DataFrame:
    """List the published tables, also those without values."""
    published = report.published_figures
    if not any(reference.cells for reference in published.references):
        return pd.DataFrame()
    return pd.DataFrame(
        {
            "tables": one.tables,
            "source": one.source,
            "what": one.what,
            "file": f"{one.name}.csv" if one.name else "",
            "values": one.count,
            "printed": published.count_printed(one.name),
            "beside": one.beside,
            "note": one.note if one.count or not one.name else UNREADABLE,
        }
        for one in published.references
    )


UNREADABLE = "the file has no values, or cannot be read"
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
        "(published_seconds) (linux_iterations_per_second) (aix_iterations_per_second) "
        "(linux_ratio) (aix_ratio)",
        df_replay,
        about="For the experiment `replay`: errors, iterations and throughput of each replay, "
        "and its ratio to that of `against_speed`, next to published values. Published "
        "throughputs are relative to that at the original speed: absolute values depend on "
        "the machine, and the published trace is one of nine means.",
    ),
)

# Sheets for readers: the columns of each.
SHOWN = {
    "within": "method runs bound_percent within_runs within_percent all_platforms_percent "
    "linux_percent published_values published_within_percent published_most_percent",
    "throughput": "of workload method speed published_seconds iterations_per_second "
    "linux_iterations_per_second aix_iterations_per_second ratio linux_ratio aix_ratio",
    "references": "tables source what file values printed beside note",
}


def _display(report: Report, name: str, title: str, frame: Any) -> Sheet:
    """Return a sheet that only people see."""
    return Sheet(Table(name, title, SHOWN[name], lambda _: frame), frame, report.prefix)


def _within_sheet(report: Report, experiment: str) -> Sheet:
    title = {
        "accuracy": "Constant load: how often it was held",
        "replay": "Replay: how often the trace was followed",
    }[experiment]
    return _display(report, "within", title, df_within(report, experiment))


def _throughput_sheet(report: Report) -> Sheet:
    title = "Throughput over a trace, and what was published in Table 3"
    return _display(report, "throughput", title, df_throughput(report))


# Sentences


def _within_sentence(frame: pd.DataFrame) -> str:
    """Return a sentence about Showstopper's runs of the first set; '' without any."""
    if frame.empty or frame["method"].iloc[0] != ALL:
        return ""
    row = frame.iloc[0]
    sentence = (
        f"The mean error is at most {row['bound_percent']:g} % in {row['within_percent']:.0f} % of "
        f"{row['runs']:.0f} {'runs' if row['runs'] > 1 else 'run'} of Showstopper. Published: in "
        f"{row['all_platforms_percent']:g} % on all platforms"
    )
    if not math.isnan(row["linux_percent"]):
        sentence += f", in {row['linux_percent']:g} % on physical machines with Linux"
    if row["all_platforms_percent"] < row["published_within_percent"]:
        sentence += (
            ", by another measure: all published mean errors that are legible are at most "
            f"{row['published_most_percent']:.3g} %"
        )
    return sentence + "."


def text(report: Report) -> str:
    def within(experiment: str) -> str:
        sentence = wrap(_within_sentence(df_within(report, experiment)))
        return f"{sentence}\n" if sentence else ""

    return (
        report.table("constant-load").text(
            "constant load; mean error in %, mean squared error (MSE) in %^2"
        )
        + within("accuracy")
        + report.table("replay").text(
            "replay; mean error in %, MSE in %^2, ratio of throughput to the original speed's"
        )
        + within("replay")
        + _throughput_sheet(report).text(
            "throughput of a trace, /s, with the published Table 3, and relative to speed 1"
        )
    )


# Pictures

HEIGHT = 380  # with room for the names of all methods above the bars
FILLED = 0.8  # part of the distance to the next target or program that bars fill


def plot_loads(rows: pd.DataFrame) -> Any:
    """Draw the load with each method, by program; `rows` have one target. Published are errors:
    target minus load."""
    target = 100 * rows["target"]
    values, published = 100 * rows["load_mean"], target - rows["error_mean_percent_published"]
    fig, ax = _begin(values)
    if fig:
        figures.axis_between(ax, "y", "load, %", 0, 100)
        figures.line_at(ax, "y", target.iloc[0])
        names = {name: name.rpartition("/")[2][:14] for name in sorted(set(rows["workload"]))}
        _draw_bars(ax, rows, rows["workload"], names, values, published)
    return fig


def plot_errors(rows: pd.DataFrame, is_squared: bool = False) -> Any:
    """Draw the errors with each method, by target; `rows` have one workload."""
    name = "error_mse_e4" if is_squared else "error_mean_percent"
    values, published = rows[name], rows[f"{name}_published"]
    if is_squared:  # a logarithmic axis has no 0
        values, published = values.where(values > 0), published.where(published > 0)
    fig, ax = _begin(values)
    if fig and is_squared:
        both = pd.concat([values, published])
        figures.axis_logarithmic(ax, "y", "MSE, %\u00b2", both.min() / 2, 2 * both.max())
    elif fig:
        figures.axis_around_zero(ax, "y", "mean error, %")
    if fig:
        names = {target: f"{100 * target:.4g}" for target in sorted(set(rows["target"]))}
        _draw_bars(ax, rows, rows["target"], names, values, published, "target, %")
    return fig


def _begin(values: pd.Series) -> tuple[Any, Any]:
    fig = figures.figure(height=HEIGHT) if np.isfinite(values).any() else None
    return fig, fig and fig.axes[0]


def _draw_bars(
    ax: Any, rows: pd.DataFrame, at: pd.Series, names: dict[Any, str], values: pd.Series,
    published: pd.Series, axis: str = "",
) -> None:
    """Draw a bar for each method at each of the names, with a ring at the published value."""
    figures.axis_names(ax, "x", list(names.values()), axis)
    places = at.map({name: place for place, name in enumerate(names)})
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


def _error_pictures(report: Report) -> Iterator[Picture]:
    loads = report.table("constant-load").frame

    def draw(by: str, plot: Any, caption: str) -> Iterator[Picture]:
        for (set_, value), rows in loads.groupby(["set", by], sort=False, dropna=False):
            fig = plot(rows)
            named = caption.format(value[:100] if by == "workload" else f"{100 * value:.4g}")
            if fig:
                yield Picture(figures.svg(fig), f"{named}{', second set' if set_ > 1 else ''}")

    squared = "{}: mean squared error (MSE) by target and method"
    yield from draw("target", plot_loads, "Load by program and method at {} % (dashed)")
    yield from draw("workload", plot_errors, "{}: mean error by target and method")
    yield from draw("workload", lambda rows: plot_errors(rows, True), squared)


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


def _within_parts(report: Report, experiment: str) -> list[Part]:
    sheet = _within_sheet(report, experiment)
    sentence = _within_sentence(sheet.frame)
    return [*([sentence] if sentence else []), sheet]


def sections(report: Report) -> Iterator[Part]:
    loads, replay = report.table("constant-load"), report.table("replay")
    if len(loads):
        yield Section(
            "Constant load",
            [
                ELSEWHERE,
                *_within_parts(report, "accuracy"),
                *_error_pictures(report),
                loads,
                *_overlays(report, "accuracy"),
            ],
        )
    throughput = _throughput_sheet(report)
    if len(replay) or len(throughput):
        noted = [run for run in report.runs if run.speed > 0 and run.notes]
        yield Section(
            "Replay at several speeds",
            [
                ELSEWHERE,
                *(Note(str(run.notes), run.title) for run in noted),
                *([TRACES] if len(replay) else []),
                *_within_parts(report, "replay"),
                replay,
                *_overlays(report, "replay"),
                *([SYSTEMS] if len(throughput) else []),
                throughput,
            ],
        )


def details(report: Report) -> Iterator[Part]:
    sheet = _display(report, "references", "What was published", df_references(report))
    if len(sheet):
        yield Section("Published figures", [ELSEWHERE, sheet])
