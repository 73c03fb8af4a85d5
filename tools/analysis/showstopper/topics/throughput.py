# SPDX-License-Identifier: Apache-2.0
"""Throughput: do all methods give the same at the same load, and how much does a trace give?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .. import figures, statistics, steps
from .. import trace as traces
from ..findings import Finding, Headline
from ..page import Code, Part, Picture, Section
from ..runs import Run
from ..studies import OTHERS_MAX, SAME_SHARE, Report, sort_key
from ..tables import Sheet, Table
from ..text import UserError

GROUP = "set environment family cpus".split()
METHOD = "variant method tau_seconds".split()
PLACE = "set environment measured_in workload method tau_seconds variant cpus".split()

ELSE = "not compared: other processes used a different share of the machine"

# Methods without control or with a constant duty. If their ranges are equally wide, the first is
# used.
BASELINES = ("nbench", "nbench-fit", "1cdc")

SOURCE = "set environment workload placement method tau_seconds cpus command".split()
LOAD_PART = 0.005  # ramps of a trace are cut into pieces, within which the load changes by less
SAME_TARGET = 2e-3  # tolerance for the target of a sample, in addition to half of LOAD_PART
SAME_NUMBER = 1e-9  # tolerance for numbers, which manifests have with ten digits
ROWS_MAX = 1024  # weights are computed for this many loads at once

# This part of a replay's samples must have the target of the trace: others may be at changes of
# the trace, or next to lost samples. A replay must cover a part of the trace: otherwise a run with
# a constant load would count as a replay of a trace that begins with that load.
REPLAY_SHARE, REPLAY_LENGTH = 0.95, 0.8


# Methods


def _is_point(run: Run) -> bool:
    named = run.workload and run.method and not run.role
    return bool(run.experiment == "throughput" and named and run.record.has_iterations)


def methods(report: Report) -> list[pd.DataFrame]:
    """Return the compared points of each workload, set and environment, see compare(), in order of
    their first run."""
    every = report.observations
    found = []
    for runs in report.groups(GROUP, _is_point):
        at = [number for number, run in enumerate(report.runs) if any(run is one for one in runs)]
        rows = every[(every["level"] == "step") & every["run"].isin(at)]
        if len(rows):
            rows = rows[np.isfinite(rows["throughput"]) & np.isfinite(rows["load"])]
            rows = rows.assign(
                target=rows["target"].fillna(rows["target_mean"]),
                is_exceeded=rows["is_exceeded"].astype(bool),
                is_disturbed=rows["others"] > OTHERS_MAX + SAME_SHARE,
                is_invalid=rows["verdict"] == "invalid",
            )
        if len(rows):
            found.append(compare(rows))
    return found


def compare(points: pd.DataFrame) -> pd.DataFrame:
    """Compare the points of one workload on machines of one kind with a baseline.

    Points are in the order of methods, targets and loads; `number` is the method's. `baseline` is
    the name of n-bench, of either kind, or 1-CDC, whichever covers the wider range of loads; '' if
    none does. `expected` is its throughput interpolated at the point's load, and `deviation` the
    difference in percent. `note` says why a point is not compared; it is `forbidden` if other
    processes used a different part of the machine than during the baseline.
    """
    targets = points.groupby(METHOD, sort=False, dropna=False)["target"]
    points = points.assign(level=targets.transform(steps.levels))
    order = ["workload", *METHOD, "level", "load"]
    points = points.sort_values(order, kind="stable", na_position="first", ignore_index=True)
    number = points.groupby(METHOD, sort=False, dropna=False).ngroup()
    points = points.assign(number=number, is_baseline=number == _choose_baseline(points, number))
    own = points[points["is_baseline"]]
    points["baseline"] = method_name(own.iloc[0]) if len(own) else ""

    load = points["load"]
    expected: Any = math.nan
    forbidden: Any = False
    knots = df_knots(points)
    if len(knots) > 1:
        upper = np.searchsorted(knots["load"], load).clip(1, len(knots) - 1)
        low, high = (knots.iloc[at].set_index(points.index) for at in (upper - 1, upper))
        width = high["load"] - low["load"]
        part = ((load - low["load"]) / width.where(width > 0)).fillna(0.5)
        inside = load.between(low["load"], high["load"])
        expected = low["throughput"] + part * (high["throughput"] - low["throughput"])
        expected = expected.where(inside)
        others = pd.concat([knot[end] for knot in (low, high) for end in ("least", "most")], axis=1)
        differ = others.sub(points["others"], axis=0).abs().gt(OTHERS_MAX + SAME_SHARE).any(axis=1)
        forbidden = inside & ~points["is_baseline"] & differ
    points = points.assign(expected=expected, forbidden=forbidden)
    short = points["is_exceeded"]
    known = (points["expected"] > 0) & ~short & ~points["forbidden"] & ~points["is_baseline"]
    deviation = 100 * (points["throughput"] / points["expected"] - 1)
    words = {
        "not compared: iterations take longer than the step": short,
        "no baseline": points["baseline"] == "",
        "the baseline itself": points["is_baseline"],
        "outside the loads of the baseline": points["expected"].isna(),
        ELSE: points["forbidden"],
        "disturbed by other processes": points["is_disturbed"],
    }
    note = np.select([*words.values()], [*words], "")
    return points.assign(deviation=deviation.where(known), note=note)


def _choose_baseline(points: pd.DataFrame, number: pd.Series) -> int:
    """Return the number of the method that is the baseline; -1 without one."""
    by_method = points.groupby(number, sort=False, dropna=False)
    widths = by_method["load"].max() - by_method["load"].min()
    names = by_method["method"].first()
    order = [n for name in BASELINES for n in names.index[names == name] if widths[n] > 0]
    return int(widths[order].idxmax()) if order else -1


def df_knots(points: pd.DataFrame) -> pd.DataFrame:
    """Return the baseline at each of its targets: means of the repetitions, and the range of what
    other processes used."""
    used = points[points["is_baseline"] & ~points["is_exceeded"]]
    knots = used.groupby("level", sort=False, dropna=False).agg(
        load=("load", "mean"),
        throughput=("throughput", "mean"),
        least=("others", "min"),
        most=("others", "max"),
    )
    return knots.sort_values("load", kind="stable", ignore_index=True)


def method_name(point: pd.Series) -> str:
    """Describe a method: "pi-even, 107 ms, instances=2"."""
    tau = f", {1000 * point['tau_seconds']:g} ms" if point["tau_seconds"] > 0 else ""
    variant = f", {point['variant']}" if point["variant"] else ""
    return f"{point['method'][:60]}{tau}{variant}"[:99]


def df_methods(report: Report) -> pd.DataFrame:
    """Return a row for each step, next to the baseline at its load."""
    found = report.once(methods)
    if not found:
        return pd.DataFrame()
    rows = pd.concat(found, ignore_index=True)
    return rows.assign(
        set=rows["set"] + 1,
        half=rows["half"].where(rows["half"] > 0),
        iterations_per_second=rows["throughput"],
        baseline_iterations_per_second=rows["expected"],
        deviation_percent=rows["deviation"],
    )


def df_deviations(report: Report) -> pd.DataFrame:
    """Return a row for each method: its mean deviation from the baseline, and the range."""
    found = []
    for points in report.once(methods):
        by_method = points.groupby("number", sort=False, dropna=False)
        ranges = by_method.agg(
            points=("load", "size"),
            compared=("deviation", "count"),
            load_least=("load", "min"),
            load_most=("load", "max"),
            deviation_mean_percent=("deviation", "mean"),
            deviation_least_percent=("deviation", "min"),
            deviation_most_percent=("deviation", "max"),
            others_most=("others", "max"),
        )
        first = points.drop_duplicates("number").set_index("number")
        baseline = first["baseline"].mask(first["is_baseline"], "itself")
        found.append(first[PLACE].assign(baseline=baseline, set=first["set"] + 1).join(ranges))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


# Prediction


@dataclass(frozen=True)
class Pieces:
    """A trace in pieces of nearly constant load: when they begin and end, in seconds, and the load
    in their middle. The first record's load also applies to the time before it."""

    from_: np.ndarray
    to: np.ndarray
    load: np.ndarray
    free: np.ndarray

    @property
    def length(self) -> float:
        return float(self.to[-1])

    @staticmethod
    def read(path: str) -> Pieces:
        time, load, free = traces.read(path)
        if not time[-1] > 0:
            why = "lasts 0 s: a trace needs records at two times"
            raise UserError(f"--predict: the trace {path} {why}")
        time, load = np.append(0, time), np.append(load[0], load)
        free = np.append(False, free)
        change = np.where(free[:-1] | free[1:], 0, np.diff(load))
        parts = np.maximum(np.ceil(np.abs(change) / LOAD_PART - SAME_NUMBER), 1).astype(int)
        at = np.repeat(np.arange(len(parts)), parts)
        i = np.arange(len(at)) - np.repeat(np.cumsum(parts) - parts, parts)
        from_ = time[at] + np.diff(time)[at] * i / parts[at]
        to = time[at] + np.diff(time)[at] * (i + 1) / parts[at]
        used = to > from_
        middle = load[at] + change[at] * (i + 0.5) / parts[at]
        return Pieces(from_[used], to[used], middle[used], free[at][used])

    def loads_at(self, times: np.ndarray) -> np.ndarray:
        """Return the loads of the trace; NaN in a `free` section or after the end."""
        at = np.searchsorted(self.to, times, side="right")
        loads = np.where(self.free, math.nan, self.load)
        return np.append(loads, math.nan)[at]

    def is_replay(self, run: Run) -> bool:
        """Return whether a run has replayed the trace. A sample records the target at its end,
        which at a step of the trace may still be the previous one."""
        speed, samples = _speed(run), run.counted
        samples = samples[samples["end"] * speed <= self.length + SAME_NUMBER]
        begin, end = samples["begin"].to_numpy(), samples["end"].to_numpy()
        off = [
            np.abs(self.loads_at(at * speed) - samples["target"].to_numpy())
            for at in (end, end - 0.02, (begin + end) / 2)
        ]
        follows = (np.array(off) <= SAME_TARGET + LOAD_PART / 2).any(axis=0)
        seconds = (end - begin).sum() * speed
        is_long = seconds >= REPLAY_LENGTH * self.length
        return bool(
            not run.role and is_long and follows.sum() >= REPLAY_SHARE * len(follows)
        )


def _speed(run: Run) -> float:
    return float(run.speed) if run.speed > 0 else 1.0


@dataclass(frozen=True)
class Curve:
    """The curve through the steps of a group of runs, and the loads and targets that it covers."""

    points: pd.DataFrame
    fit: statistics.Curve | None

    @staticmethod
    def of(runs: list[Run]) -> Curve:
        points = pd.concat([run.steps for run in runs])
        if points.empty:
            return Curve(points, None)
        known = np.isfinite(points["throughput"]) & np.isfinite(points["load"])
        points = points[known & ~points["is_exceeded"].astype(bool)]
        return Curve(points, statistics.fit_curve(points["load"], points["throughput"]))

    def predict(
        self, pieces: Pieces, from_: float, to: float, replay: Run | None, confidence: float
    ) -> dict[str, Any]:
        """Predict the throughput in a part of a trace. With a replay, also count its iterations in
        the time for which the curve covers the load."""
        assert self.fit
        begin, end = np.maximum(from_, pieces.from_), np.minimum(to, pieces.to)
        seconds, length = np.maximum(end - begin, 0), to - from_
        loads = self.points[["load", "target"]].to_numpy(float)
        least, most = float(loads.min()), float(loads.max())
        is_near = (pieces.load >= least - SAME_NUMBER) & (pieces.load <= most + SAME_NUMBER)
        used = (seconds > 0) & ~pieces.free & is_near
        inside, free = float(seconds[used].sum()), float(seconds[pieces.free].sum())
        outside = length - inside - free

        # A load between the outermost target and the load reached there is predicted as the latter.
        loads, sums = np.clip(pieces.load[used], self.fit.least, self.fit.most), 0.0
        for at in range(0, len(loads), ROWS_MAX):
            rows = slice(at, at + ROWS_MAX)
            sums = sums + seconds[used][rows] @ self.fit.weights(loads[rows])
        with np.errstate(invalid="ignore"):
            rate = self.fit.sum(sums / np.float64(inside) * np.ones(len(self.fit.x)), confidence)
        measured = math.nan
        if replay and inside > 0:
            measured = _measure(replay, begin[used], end[used]) / inside * _speed(replay)
        left = f"{100 * outside / length:.1f} % of the trace is not predicted"
        return {
            "load_least": least,
            "load_most": most,
            "inside": inside / length,
            "outside": max(outside, 0) / length,
            "free": free / length,
            "predicted_iterations_per_second": rate.y,
            "low": rate.low,
            "high": rate.high,
            "measured_iterations_per_second": measured,
            "difference_percent": 100 * (rate.y / measured - 1),
            "note": left if outside > 1e-6 * length else "",
        }


def _measure(replay: Run, begin: np.ndarray, end: np.ndarray) -> float:
    """Return the iterations in stretches of time of the trace; NaN if none counts in one."""
    first = np.append(True, begin[1:] > end[:-1])
    speed, begin = _speed(replay), begin[first]
    end = end[np.append(first[1:], True)]
    rate, _ = steps.rates(replay.record.iterations, begin / speed, end / speed)
    return steps.total(np.where(rate > 0, rate, math.nan) * (end - begin) / speed)


def _predict(
    report: Report, run: Run, curve: Curve, pieces: Pieces, replay: Run | None
) -> dict[str, Any]:
    speed, from_, to = math.nan, 0.0, pieces.length
    if replay:
        speed = _speed(replay)
        from_ = replay.record.counted_from * speed
        to = min(replay.record.counted_to * speed, to)
    row = {
        "set": run.set + 1,
        "environment": run.environment_name,
        **{n: getattr(run, n) for n in "measured_in workload method tau_seconds".split()},
        "points": len(curve.points),
        "trace": report.trace,
        "seconds": to - from_,
        "record": replay.name if replay else "",
        "speed": speed,
        "variant": run.variant,
        "command": "" if run.workload else run.record.command,
        "instances": math.nan if run.workload else run.record.instance_count,
        "cpus": run.record.load_cpus,
        "placement": run.placement,
    }
    if curve.fit:
        return row | curve.predict(pieces, from_, to, replay, report.settings.confidence)
    why = f"a curve needs at least {statistics.CURVE_MIN} at different loads"
    return row | {"note": f"no curve through {len(curve.points)} steps: {why}"}


def df_prediction(report: Report) -> pd.DataFrame:
    """Return a row for the curve of each group of runs, and one for each replay of the trace,
    which is not part of a curve."""
    if not report.trace:
        return pd.DataFrame()
    pieces = Pieces.read(report.trace)
    replays = {id(run): run for run in report.runs if pieces.is_replay(run)}

    def is_part(run: Run) -> bool:
        is_replay = id(run) in replays or run.experiment == "replay"
        return not is_replay and not run.role and run.record.has_iterations

    rows = []
    for runs in report.groups(SOURCE, is_part):
        first, curve = runs[0], Curve.of(runs)
        key = sort_key(first, SOURCE)
        own = [run for run in replays.values() if sort_key(run, SOURCE) == key]
        rows += [_predict(report, first, curve, pieces, replay) for replay in (None, *own)]
    return pd.DataFrame(rows)


def notes(report: Report) -> None:
    if report.trace and not len(report.table("prediction")):
        report.notes.add(
            "nothing is predicted: no run without a neighbor counted iterations, apart from "
            "replays of the trace"
        )


TABLES = (
    Table(
        "prediction",
        "Throughput over a trace, predicted from the local curve",
        "(set) environment (measured_in) workload method (tau_seconds) points load_least "
        "load_most (trace) (seconds) inside outside free predicted_iterations_per_second low "
        "high record speed measured_iterations_per_second difference_percent note variant "
        "command instances cpus placement",
        df_prediction,
        about="With `--predict`: a row for each curve, with the throughput predicted over the "
        "trace; then a row for each replay of the trace, with the measured throughput.",
    ),
    Table(
        "methods",
        "Throughput at each load, against the baseline (cdc: constant duty cycle, 1cdc: of one "
        "instance)",
        "(set) environment (measured_in) workload method tau_seconds round target (half) load "
        "iterations_per_second baseline baseline_iterations_per_second deviation_percent others "
        "note (record) variant cpus",
        df_methods,
        about="For the experiment `throughput`: each step with the baseline at the same load, "
        "and the deviation from it.",
    ),
)
DEVIATIONS = Table(
    "deviations",
    "Deviation of each method from the baseline without control",
    "environment workload method tau_seconds baseline points compared load_least load_most "
    "deviation_mean_percent deviation_least_percent deviation_most_percent others_most variant "
    "cpus",
    df_deviations,
)


# Sentences


def findings(report: Report) -> Iterator[Finding]:
    """Yield findings about steps that are not compared because of other processes."""
    for points in report.once(methods):
        most = df_knots(points)["most"].max()
        for _, rows in points.groupby("number", sort=False, dropna=False):
            forbidden = rows[rows["forbidden"]]
            if len(forbidden):
                first = rows.iloc[0]
                yield Finding(
                    "others",
                    f"{first['workload'][:100]}: {method_name(first)} is not compared with "
                    f"{first['baseline']} in {len(forbidden)} of {len(rows)} steps. Other "
                    f"processes used up to {100 * forbidden['others'].max():.1f} % of the machine "
                    f"with this method and up to {100 * most:.1f} % with the baseline, which may "
                    "explain a difference in throughput.",
                )


def _name_place(report: Report, rows: pd.DataFrame, at: Any) -> str:
    """Return what distinguishes a row from the others, such as "serial, 4 CPUs: "."""
    row = rows.loc[at]
    same = rows[rows["method"] == row["method"]]
    words = {name: row[name] for name in "workload variant environment measured_in".split()}
    words |= {"cpus": _cpus(row["cpus"]), "set": report.set_name(row["set"] - 1)}
    parts = [
        value[:100]
        for name, value in words.items()
        if value and (same if name == "variant" else rows)[name].nunique(dropna=False) > 1
    ]
    return f"{', '.join(parts)}: " if parts else ""


def _cpus(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.4g} CPU{'' if number == 1 else 's'}"


def answer(report: Report) -> Headline | None:
    """Name the method that deviates most from the baseline."""
    rows = df_deviations(report)
    if rows.empty or rows["deviation_mean_percent"].isna().all():
        return None
    at = rows["deviation_mean_percent"].abs().idxmax()
    row = rows.loc[at]
    mean = row["deviation_mean_percent"]
    ends = [row["deviation_least_percent"], row["deviation_most_percent"]]
    least, most = (-ends[1], -ends[0]) if mean < 0 else ends
    return Headline(
        "Do all methods give the same throughput at the same load?",
        f"{_name_place(report, rows, at)}{row['method'][:100]} differs most: at the same load its "
        f"throughput is {abs(mean):.1f} % {'lower' if mean < 0 else 'higher'} than that of "
        f"{row['baseline'][:100]} ({least:.1f} to {most:.1f} %; steps compared: "
        f"{row['compared']:.0f}).",
    )


# Page and terminal


def plot_methods(points: pd.DataFrame, deviations: bool = False) -> Any:
    """Draw the throughput of all methods over the load, with rings around points of invalid or
    disturbed runs, or their deviations from the baseline. Returns None without deviations."""
    value = "deviation" if deviations else "throughput"
    rows = points[np.isfinite(points[value].astype(float))]
    if rows.empty:
        return None
    fig = figures.figure()
    ax = fig.axes[0]
    loads = points["load"]
    figures.axis_percent(ax, "x", "load observed, %", min(loads.min(), 1), max(loads.max(), 0))
    if deviations:
        figures.axis_around_zero(ax, "y", "deviation from the baseline, %")
        figures.line_at(ax, "y", 0)
    else:
        figures.axis_from_zero(ax, "y", "throughput, /s")
    bad = rows[rows["is_invalid"] | rows["is_disturbed"]]
    if len(bad):
        figures.rings(ax, 100 * bad["load"], bad[value], "invalid or disturbed")
    knots = df_knots(points)
    if len(knots) > 1 and not deviations:
        x, y = 100 * knots["load"], knots["throughput"]
        figures.line(ax, x, y, color=figures.AXIS, width=1.5, label="baseline")
    for number, own in rows.groupby("number", sort=False, dropna=False):
        name = method_name(own.iloc[0])
        figures.mark(
            ax,
            100 * own["load"],
            own[value],
            [f"{name}: {y:.4g} at {100 * x:.4g} %" for x, y in zip(own["load"], own[value])],
            color=figures.color_of(int(number)),  # a method looks the same in both pictures
            marker=figures.marker_of(int(number)),
            label=name[:40],
        )
    return fig


def _pictures(report: Report) -> Iterator[Picture]:
    found = report.once(methods)
    names_cpus = len({points["cpus"].iloc[0] for points in found}) > 1
    for points in found:
        first = points.iloc[0]
        cpus = f", {_cpus(first['cpus'])}" if names_cpus else ""
        where = f"environment {first['environment'][:60]}{cpus}"
        name = f"{first['workload'][:100]}, {where}{', second set' if first['set'] else ''}"
        captions = "throughput by method", "deviation from the baseline"
        for is_deviation, caption in enumerate(captions):
            fig = plot_methods(points, bool(is_deviation))
            if fig:
                yield Picture(figures.svg(fig), f"{name}: {caption}")


def _deviations(report: Report) -> Sheet:
    return Sheet(DEVIATIONS, df_deviations(report), report.prefix)


def sections(report: Report) -> Iterator[Part]:
    if len(report.table("methods")):
        yield Section(
            "Methods",
            [
                (
                    "The baseline is ",
                    Code("nbench"),
                    " (as many uncontrolled instances as the target has CPUs), ",
                    Code("nbench-fit"),
                    " (as many as give the load) or ",
                    Code("1cdc"),
                    " (one instance with a constant duty cycle), whichever covers the wider range "
                    "of loads. ",
                    Code("cdc"),
                    " is a constant duty cycle of all instances, without feedback. The baseline is "
                    "interpolated between its targets, and nothing is known about loads beyond "
                    "them.",
                ),
                *_pictures(report),
                _deviations(report),
            ],
        )
    prediction = report.table("prediction")
    if len(prediction):
        yield Section("Prediction", [("The trace: ", Code(report.trace)), prediction])


def text(report: Report) -> str:
    title = "methods; deviation of throughput from the baseline, in %"
    predicted = "prediction; throughput over the part of the trace within known loads, /s"
    return _deviations(report).text(title) + report.table("prediction").text(predicted)
