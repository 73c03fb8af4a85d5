# SPDX-License-Identifier: Apache-2.0
"""Throughput: do all methods give the same at the same load, and how much does a trace give?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from .. import figures as f
from ... import stats, steps, trace
from ...records import Record
from ...study import Study, disturbed, groups, permitted
from ...text import UserError
from ..findings import Finding
from ..tables import Table

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


def methods(study: Study) -> list[pd.DataFrame]:
    """Return the compared points of each workload, set and environment, see compare(), in order of
    their first run."""
    runs = study.runs
    is_point = runs["experiment"].eq("throughput") & runs["has_iterations"] & runs["role"].eq("")
    is_point &= runs["workload"].ne("") & runs["method"].ne("")
    rows = study.steps[study.steps["run"].isin(runs.index[is_point])]
    rows = rows[rows["throughput"].notna() & rows["load"].notna()]
    planned = rows["run_target"].fillna(rows["target"])
    return [compare(group) for group in groups(rows.assign(target=planned), GROUP)]


def compare(points: pd.DataFrame) -> pd.DataFrame:
    """Compare the points of one workload on machines of one kind with a baseline.

    Points are in the order of methods, targets and loads; `number` is the method's. `baseline` is
    the name of n-bench, of either kind, or 1-CDC, whichever covers the wider range of loads; '' if
    none does. `expected` is its throughput interpolated at the point's load, and `deviation` the
    difference in percent. `note` says why a point is not compared; it is `forbidden` if other
    processes used a different part of the machine than during the baseline.
    """
    targets = points.groupby(METHOD, sort=False, dropna=False)["target"]
    # Without rounding, loads that differ in the last digit would be in another order elsewhere.
    points = points.assign(level=targets.transform(steps.levels), near=points["load"].round(9))
    order = ["workload", *METHOD, "level", "near"]
    points = points.sort_values(order, kind="stable", na_position="first", ignore_index=True)
    number = points.groupby(METHOD, sort=False, dropna=False).ngroup()
    points = points.assign(number=number, is_baseline=number == _choose_baseline(points, number))
    own = points[points["is_baseline"]]
    points["baseline"] = method_name(own.iloc[0]) if len(own) else ""
    points = _expect(points)

    unlike = points[["is_exceeded", "forbidden", "is_baseline"]].any(axis=1)
    known = points["expected"].gt(0) & ~unlike
    deviation = 100 * (points["throughput"] / points["expected"] - 1)
    words = {
        "not compared: iterations take longer than the step": points["is_exceeded"],
        "no baseline": points["baseline"] == "",
        "the baseline itself": points["is_baseline"],
        "outside the loads of the baseline": points["expected"].isna(),
        ELSE: points["forbidden"],
        "disturbed by other processes": disturbed(points["others"]),
    }
    note = np.select([*words.values()], [*words], "")
    return points.assign(deviation=deviation.where(known), note=note)


def _expect(points: pd.DataFrame) -> pd.DataFrame:
    """Interpolate the baseline at the load of each point."""
    load, knots = points["load"], df_knots(points)
    if len(knots) < 2:
        return points.assign(expected=math.nan, forbidden=False)
    expected = np.interp(load, knots["load"], knots["throughput"], math.nan, math.nan)
    upper = np.searchsorted(knots["load"], load).clip(1, len(knots) - 1)
    ends = [knots[end].to_numpy()[upper - side] for end in ("least", "most") for side in (0, 1)]
    differ = ~np.all([permitted(end, points["others"]) for end in ends], axis=0)
    forbidden = ~np.isnan(expected) & ~points["is_baseline"] & differ
    return points.assign(expected=expected, forbidden=forbidden)


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


def df_methods(study: Study) -> pd.DataFrame:
    """Return a row for each step, next to the baseline at its load."""
    found = study.once(methods)
    if not found:
        return pd.DataFrame()
    rows = pd.concat(found, ignore_index=True)
    names = {"throughput": "iterations_per_second", "expected": "baseline_iterations_per_second"}
    rows = rows.assign(half=rows["half"].where(rows["half"] > 0))
    return rows.rename(columns=names | {"deviation": "deviation_percent"})


def df_deviations(study: Study) -> pd.DataFrame:
    """Return a row for each method: its mean deviation from the baseline, and the range."""
    found = []
    for points in study.once(methods):
        ranges = points.groupby("number", sort=False, dropna=False).agg(
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
        found.append(first[PLACE].assign(baseline=baseline).join(ranges))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


# Prediction


def pieces(path: str) -> pd.DataFrame:
    """Return a trace in pieces of nearly constant load: begin, end, and the load in their middle;
    NaN if free. The first record's load also applies to the time before it."""
    rows = trace.read(path)
    if not rows["time"].iloc[-1] > 0:
        why = "lasts 0 s: a trace needs records at two times"
        raise UserError(f"--predict: the trace {path} {why}")
    rows = pd.concat([rows.iloc[:1].assign(time=0.0), rows], ignore_index=True)
    length, change = np.diff(rows["time"]), np.nan_to_num(np.diff(rows["load"]))
    parts = np.maximum(np.ceil(np.abs(change) / LOAD_PART - SAME_NUMBER), 1).astype(int)
    at = np.repeat(np.arange(len(parts)), parts)
    i = np.arange(len(at)) - np.repeat(np.cumsum(parts) - parts, parts)
    time, load = rows["time"].to_numpy()[at], rows["load"].to_numpy()[at]
    begin, end = (time + length[at] * part / parts[at] for part in (i, i + 1))
    middle = load + change[at] * (i + 0.5) / parts[at]
    found = pd.DataFrame({"begin": begin, "end": end, "load": middle})
    return found[end > begin].reset_index(drop=True)


def is_replay(record: Record, of: pd.DataFrame) -> bool:
    """Return whether a run has replayed the trace. A sample records the target at its end, which at
    a step of the trace may still be the previous one."""
    speed, length = record.speed, of["end"].iloc[-1]
    samples = record.counted[record.counted["end"] * speed <= length + SAME_NUMBER]
    begin, end = samples["begin"], samples["end"]
    loads = np.append(of["load"], math.nan)
    follows = np.zeros(len(samples), dtype=bool)
    for at in (end, end - 0.02, (begin + end) / 2):
        load = loads[np.searchsorted(of["end"], at * speed, side="right")]
        follows |= np.abs(load - samples["target"]) <= SAME_TARGET + LOAD_PART / 2
    is_long = (end - begin).sum() * speed >= REPLAY_LENGTH * length
    return bool(not record.role and is_long and follows.sum() >= REPLAY_SHARE * len(follows))


def df_prediction(study: Study) -> pd.DataFrame:
    """Return a row for the curve of each group of runs, and one for each replay of the trace,
    which is not part of a curve."""
    if not study.settings.predict:
        return pd.DataFrame()
    of, runs, rows = pieces(study.settings.predict), study.runs, []
    replays = pd.Series([is_replay(record, of) for record in study.records], runs.index, dtype=bool)
    is_part = ~replays & runs["experiment"].ne("replay")
    is_part &= runs["role"].eq("") & runs["has_iterations"]
    for group in groups(runs[is_part | replays], SOURCE):
        used = group[is_part[group.index]]
        if used.empty:
            continue
        points = study.steps[study.steps["run"].isin(used.index)]
        points = points[points["throughput"].notna() & points["load"].notna()]
        points = points[~points["is_exceeded"]]
        own = group.index[replays[group.index]]
        rows += [_predict(study, used.iloc[0], points, of, at) for at in (None, *own)]
    return pd.DataFrame(rows)


def _predict(
    study: Study, run: pd.Series, points: pd.DataFrame, of: pd.DataFrame, replay: int | None
) -> dict[str, Any]:
    """Return a row for a curve or a replay."""
    record, speed, begin, end = None, math.nan, 0.0, of["end"].iloc[-1]
    if replay is not None:
        record = study.records[replay]
        speed = record.speed
        begin, end = record.counted_from * speed, min(record.counted_to * speed, end)
    names = "set environment measured_in workload method tau_seconds variant cpus placement".split()
    row: dict[str, Any] = run[names].to_dict() | {
        "points": len(points),
        "trace": study.settings.predict,
        "seconds": end - begin,
        "record": record.name if record else "",
        "speed": speed,
        "command": "" if run["workload"] else run["command"],
        "instances": math.nan if run["workload"] else run["instances"],
    }
    curve = stats.fit_curve(points["load"], points["throughput"])
    if curve:
        return row | integrate(study, curve, points, of, (begin, end), record)
    why = f"a curve needs at least {stats.CURVE_MIN} at different loads"
    return row | {"note": f"no curve through {len(points)} steps: {why}"}


def integrate(
    study: Study, curve: stats.Curve, points: pd.DataFrame, of: pd.DataFrame,
    times: tuple[float, float], replay: Record | None,
) -> dict[str, Any]:
    """Predict the throughput in a part of a trace. With a replay, also count its iterations in the
    time for which the curve covers the load."""
    begin, end = of["begin"].clip(lower=times[0]), of["end"].clip(upper=times[1])
    seconds, length = (end - begin).clip(lower=0), times[1] - times[0]
    loads = points[["load", "target"]]
    least, most = float(loads.min().min()), float(loads.max().max())
    used = seconds.gt(0) & of["load"].between(least - SAME_NUMBER, most + SAME_NUMBER)
    inside, free = float(seconds[used].sum()), float(seconds[of["load"].isna()].sum())
    outside = length - inside - free
    # A load between the outermost target and the load reached there is predicted as the latter.
    load, weights = of["load"][used].clip(curve.least, curve.most), np.zeros(len(curve.x))
    for at in range(0, len(load), ROWS_MAX):
        rows = slice(at, at + ROWS_MAX)
        weights += seconds[used].to_numpy()[rows] @ curve.weights(load.to_numpy()[rows])
    with np.errstate(invalid="ignore"):
        rate = curve.sum(weights / np.float64(inside), study.settings.confidence)
    measured = math.nan
    if replay and inside > 0:
        measured = _measure(replay, begin[used].to_numpy(), end[used].to_numpy()) / inside
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


def _measure(replay: Record, begin: np.ndarray, end: np.ndarray) -> float:
    """Return the iterations of a replay in these parts of the trace, times its speed; NaN if a part
    has none."""
    first = np.append(True, begin[1:] > end[:-1])
    speed, begin = replay.speed, begin[first]
    end = end[np.append(first[1:], True)]
    rate, _ = steps.rates(replay.iterations, begin / speed, end / speed)
    return float((np.where(rate > 0, rate, math.nan) * (end - begin)).sum())


def notes(study: Study) -> None:
    if study.settings.predict and study.once(df_prediction).empty:
        study.notes.append(
            "nothing is predicted: no run without a neighbor counted iterations, apart from "
            "replays of the trace"
        )


TABLES = {
    "deviations": Table(
        "Deviation of each method from the baseline without control",
        "(set) environment workload method tau_seconds baseline points compared load_least "
        "load_most deviation_mean_percent deviation_least_percent deviation_most_percent "
        "others_most variant cpus",
        df_deviations,
        terminal="methods; deviation of throughput from the baseline, in %",
        about="For the experiment `throughput`: a row for each method. The baseline is `nbench` "
        "(as many uncontrolled instances as the target has CPUs), `nbench-fit` (as many as give "
        "the load) or `1cdc` (one instance with a constant duty cycle), whichever covers the "
        "wider range of loads.",
    ),
    "prediction": Table(
        "Throughput over a trace, predicted from the local curve",
        "(set) environment (measured_in) workload method (tau_seconds) points load_least "
        "load_most (trace) (seconds) inside outside free predicted_iterations_per_second low "
        "high record speed measured_iterations_per_second difference_percent note variant "
        "command instances cpus placement",
        df_prediction,
        terminal="prediction; throughput over the part of the trace within known loads, /s",
        about="With `--predict`: a row for each curve, with the throughput predicted over the "
        "trace; then a row for each replay of the trace, with the measured throughput.",
    ),
    "methods": Table(
        "Throughput at each load, against the baseline (cdc: constant duty cycle, 1cdc: of one "
        "instance)",
        "(set) environment (measured_in) workload method tau_seconds round target (half) load "
        "iterations_per_second baseline baseline_iterations_per_second deviation_percent others "
        "note (record) variant cpus",
        df_methods,
        about="For the experiment `throughput`: each step with the baseline at the same load, "
        "and the deviation from it.",
    ),
}


# Sentences


def findings(study: Study) -> Iterator[Finding]:
    """Yield findings about steps that are not compared because of other processes."""
    for points in study.once(methods):
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


def _name_place(study: Study, rows: pd.DataFrame, row: pd.Series) -> str:
    """Return what distinguishes a row from the others, such as "serial, 4 CPUs: "."""
    same = rows[rows["method"] == row["method"]]
    words = row[["workload", "variant", "environment", "measured_in"]].to_dict()
    words |= {"cpus": _cpus(row["cpus"]), "set": study.set_name(row["set"])}
    parts = [
        value[:100]
        for name, value in words.items()
        if value and (same if name == "variant" else rows)[name].nunique(dropna=False) > 1
    ]
    return f"{', '.join(parts)}: " if parts else ""


def _cpus(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.4g} CPU{'' if number == 1 else 's'}"


def question(study: Study) -> str:
    asked = "Do all methods give the same throughput at the same load?"
    return asked if any(p["deviation"].notna().any() for p in study.once(methods)) else ""


def answer(study: Study) -> str:
    """Name the method that deviates most from the baseline."""
    rows = study.once(df_deviations)
    row = rows.loc[rows["deviation_mean_percent"].abs().idxmax()]
    mean = row["deviation_mean_percent"]
    ends = [row["deviation_least_percent"], row["deviation_most_percent"]]
    least, most = (-ends[1], -ends[0]) if mean < 0 else ends
    return (
        f"{_name_place(study, rows, row)}{row['method'][:100]} differs most: at the same load its "
        f"throughput is {abs(mean):.1f} % {'lower' if mean < 0 else 'higher'} than that of "
        f"{row['baseline'][:100]} ({least:.1f} to {most:.1f} %; steps compared: "
        f"{row['compared']:.0f})."
    )


# Figures


@f.drawing
def plot_methods(points: pd.DataFrame, value: str) -> Any:
    """Draw the throughput of all methods over the load, with rings around points of invalid or
    disturbed runs, or their deviations from the baseline."""
    rows, knots = points[points[value].notna()], df_knots(points)
    fig, ax = f.new()
    bad = rows[rows["verdict"].eq("invalid") | disturbed(rows["others"])]
    f.rings(ax, 100 * bad["load"], bad[value], "invalid or disturbed")
    if value == "deviation":
        ax.axhline(0, color=f.AXIS)
        ax.set(ylabel="deviation from the baseline, %")
    else:
        ax.set(ylabel="throughput, /s", ylim=(0, 1.05 * rows[value].max()))
        if len(knots) > 1:
            ax.plot(100 * knots["load"], knots["throughput"], color=f.AXIS, label="baseline")
    for number, own in rows.groupby("number", sort=False, dropna=False):
        name = method_name(own.iloc[0])
        titles = [f"{name}: {y:.4g} at {100 * x:.4g} %" for x, y in zip(own["load"], own[value])]
        # A method looks the same in both pictures.
        look = {"color": f.color_of(number), "marker": f.marker_of(number), "label": name[:40]}
        f.points(ax, 100 * own["load"], own[value], titles, **look)
    ax.set(xlabel="load observed, %")
    f.legend(ax, 3)
    return fig


def figures(study: Study) -> Iterator[f.Picture]:
    found = study.once(methods)
    names_cpus = len({points["cpus"].iloc[0] for points in found}) > 1
    for points in found:
        first = points.iloc[0]
        cpus = f", {_cpus(first['cpus'])}" if names_cpus else ""
        where = f"environment {first['environment'][:60]}{cpus}"
        name = f"{first['workload'][:100]}, {where}{', second set' if first['set'] > 1 else ''}"
        captions = {"throughput": "throughput by method"}
        captions |= {"deviation": "deviation from the baseline"}
        for value, caption in captions.items():
            if points[value].notna().any():
                yield f.Picture(f"{name}: {caption}", plot_methods(points, value))
