# SPDX-License-Identifier: Apache-2.0
"""Constant loads, and replays of a trace at several speeds, next to what others measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from .. import figures as f
from ... import steps
from ...study import Study, groups, key_columns, permitted
from ..overlay import Line, plot_overlay
from ..tables import Table

SERIES = "set workload method tau_seconds target trace".split()
OF_REPLAY = "set environment experiment workload method tau_seconds round trace".split()
OF_LOAD = "set environment experiment family target round".split()
SAME_SPEED = 1e-6  # a manifest has speeds with ten digits
TARGET_WITHIN = 0.5  # percentage points: a target of 33 % is compared with the published 1/3
SAME_TAU = 1e-6
TABLE_3 = "throughput-table3"
MEANS = ["load_mean", "error_mean_percent", "error_mse_e4"]
FILLED = 0.8  # part of the distance to the next program or target that bars fill


def series(study: Study, experiment: str, keys: list[str]) -> list[pd.DataFrame]:
    """Split the runs of an experiment by keys, in their order, then by round and speed."""
    runs = study.runs[study.runs["experiment"] == experiment]
    runs = runs.assign(load_mean=runs["load"], name=runs["published"].mask(
        runs["published"] == "", runs["workload"]
    ))
    order = key_columns(runs, [*keys, "round", "speed"])
    order = order.sort_values([*order], kind="stable", na_position="first")
    return groups(runs.loc[order.index], keys)


# Constant loads


def df_constant_load(study: Study) -> pd.DataFrame:
    """Return a row for each workload, method and target: means of the repetitions."""
    every = series(study, "accuracy", SERIES)
    return pd.DataFrame([_constant_load(study, runs) for runs in every if runs["samples"].any()])


def _constant_load(study: Study, runs: pd.DataFrame) -> dict[str, Any]:
    first, runs = runs.iloc[0], runs[runs["samples"] > 0]
    tables = [study.records[at].beside for at in runs.index]
    beside = pd.DataFrame(
        [{"load_mean": t["load"].mean()} | steps.errors(t["target"], t["load"])
         for t in tables if len(t)], columns=MEANS, dtype=float,
    )  # fmt: skip
    error, certainty = _published_error(study, first, "constant-load-mean-error")
    copied = "set workload method tau_seconds instances stands_for".split()
    return {
        **first[copied],
        "target": np.nan_to_num(first["target"]),
        "runs": len(runs),
        **runs[MEANS].mean(),
        "error_mean_percent_published": error,
        "published_is": certainty,
        "error_mse_e4_published": _published_error(study, first, "constant-load-mse")[0],
        "beside_runs": len(beside),
        **beside.mean().add_prefix("beside_"),
        "others_most": runs["others"].max(),
    }


def _published_error(study: Study, run: pd.Series, table: str) -> tuple[float, str]:
    """Return the published value, NaN if it was measured with another tau, and whether it is
    `certain` or only `probable`."""
    published = study.published
    keys = [run["name"], f"{100 * run['target']:.6g}"]
    if abs(run["tau_seconds"] - published.taus.get(table, math.nan)) > SAME_TAU:
        return math.nan, ""
    value = published.number(table, keys, run["method"], TARGET_WITHIN)
    if math.isnan(value):
        return value, ""
    probable = published.names(table, keys, "probable", run["method"], TARGET_WITHIN)
    return value, "probable" if probable else "certain"


# Replays


def df_replay(study: Study) -> pd.DataFrame:
    """Return a row for each replay of a trace; `off` says how far it is out of proportion."""
    rows = [
        _replay(study, run, original(runs, run))
        for runs in series(study, "replay", [*SERIES, "round"])
        for _, run in runs.iterrows()
    ]
    return pd.DataFrame(rows)


def original(runs: pd.DataFrame, replay: pd.Series) -> pd.Series | None:
    """
    Return the run with which a replay is compared: the first one at speed 1 or, if absent, at the
    slowest speed. Runs of other studies, perhaps of another machine, count only if the study has
    no other speed.
    """
    known = runs.assign(speed=runs["speed"].fillna(0), other=runs["study"] != replay["study"])
    known = known[known["throughput"].notna()]
    own = known[~known["other"]]
    if (own["speed"] - np.nan_to_num(replay["speed"])).abs().gt(SAME_SPEED).any():
        known = own
    away, slow = (known["speed"] - 1).abs() > SAME_SPEED, known["speed"].round(6)
    known = known.assign(away=away, slow=slow)
    known = known.sort_values(["away", "slow", "other"], kind="stable")
    return known.iloc[0] if len(known) else None


def _replay(study: Study, run: pd.Series, first: pd.Series | None) -> dict[str, Any]:
    published, seconds = study.published, run["to"] - run["from"]
    name, method = run["name"], run["method"]
    least, most = (
        published.number("replay-mse-range", [name], f"{method}_{end}") for end in ("min", "max")
    )
    length = f"{_seconds(study, run['speed']):.4g}"
    copied = "record set workload method tau_seconds trace round others".split()
    return {
        **run[[*copied, *MEANS]],
        "speed": np.nan_to_num(run["speed"]),
        "seconds": seconds,
        "error_mean_percent_published": published.number(
            "replay-mean-error", [name, method], length
        ),
        "error_mse_e4_published_least": least,
        "error_mse_e4_published_most": most,
        "iterations": run["throughput"] * seconds,
        "iterations_per_second": run["throughput"],
        **ratio(run, first, study.settings.deviation),
        **rates(study, name, method, run["speed"]),
    }


def _seconds(study: Study, speed: float) -> float:
    """Return the seconds of a published replay at a speed; the longest of Table 3 has speed 1."""
    longest = max(study.published.last_keys(TABLE_3), default=math.nan)
    return longest / speed if speed > 0 else math.nan


def rates(study: Study, program: str, method: str, speed: float) -> dict[str, float]:
    """Return published throughputs at a speed, also relative to the original speed; {} without
    any."""

    def rate(system: str, seconds: float) -> float:
        return study.published.number(TABLE_3, [system, program, f"{seconds:.4g}"], method)

    seconds, longest = (_seconds(study, one) for one in (speed, 1))
    known = {system: rate(system, seconds) for system in ("linux", "aix")}
    if not any(map(math.isfinite, known.values())):
        return {}
    found = {"published_seconds": seconds}
    for system, value in known.items():
        found[f"{system}_iterations_per_second"] = value
        found[f"{system}_ratio"] = value / rate(system, longest)
    return found


def ratio(run: Any, first: Any, deviation: float) -> dict[str, Any]:
    """Compare throughputs: the ratio is the number of iterations divided by the number expected
    from the length. If no iteration ended, the ratio has only an upper bound."""
    found: dict[str, Any] = {"note": "", "in_proportion": "", "off": ""}
    if first is None:
        return found
    found["against_speed"] = np.nan_to_num(first["speed"])
    if not permitted(run["others"], first["others"]):
        note = "not compared: other processes used a different share of the machine"
        return found | {"note": note}
    value, most = run["throughput"] / first["throughput"], run["bound"] / first["throughput"]
    against, off = f"speed {found['against_speed']:.4g}", ""
    if math.isfinite(value) and not abs(value - 1) <= deviation:
        off = f"{100 * (value - 1):+.1f} % against {against}"
    elif most < 1 - deviation:
        off = f"none ended, so at most {100 * most:.3g} % of the throughput at {against}"
    if off or math.isfinite(value):
        found["in_proportion"] = "no" if off else "yes"
    return found | {"ratio": value, "off": off}


def notes(study: Study) -> None:
    study.once(df_constant_load)
    replays = study.once(df_replay)
    by_name = {record.name: record for record in study.records}
    for row in replays[replays["off"] != ""].itertuples() if len(replays) else ():
        by_name[row.record].notes.append(
            f"the iterations are not in proportion to the time scale ({row.off}), so this speed "
            "says nothing about the original"
        )


# Tables

CAVEAT = "Published figures are those of other programs on another machine."

TABLES = {
    "constant-load": Table(
        "Constant load: errors, and those that were published",
        "(set) workload method tau_seconds target runs (instances) stands_for load_mean "
        "error_mean_percent error_mean_percent_published published_is error_mse_e4 "
        "error_mse_e4_published beside_runs beside_load_mean beside_error_mean_percent "
        "beside_error_mse_e4 others_most",
        df_constant_load,
        terminal="constant load; mean error in %, mean squared error (MSE) in %^2",
        about="For the experiment `accuracy`: load and errors for each workload, method, mean "
        f"round and target, over all repetitions, next to published values. {CAVEAT} Columns "
        "that begin with `beside_` are from ssload(1), which measured independently, if the "
        "folder of a run has its output `beside.csv`.",
    ),
    "replay": Table(
        "One trace at several speeds",
        "(set) workload method tau_seconds trace (round) speed seconds load_mean "
        "error_mean_percent error_mean_percent_published error_mse_e4 "
        "error_mse_e4_published_least error_mse_e4_published_most iterations "
        "iterations_per_second against_speed ratio in_proportion others note (record) "
        "published_seconds linux_iterations_per_second aix_iterations_per_second linux_ratio "
        "aix_ratio",
        df_replay,
        terminal="replay; mean error in %, MSE in %^2, ratio of throughput to the original "
        "speed's",
        about="For the experiment `replay`: errors, iterations and throughput of each replay, "
        f"and its ratio to that of `against_speed`, next to published values. {CAVEAT} Their "
        "trace is not available: ranges of the mean squared error are those of another trace. "
        "Published throughputs are those of the whole system: compare how they change with the "
        "speed. After a jump of the target, the load needs some rounds to follow, however fast "
        "the trace is played, which can dominate the error of a fast replay.",
    ),
}


# Figures

ERRORS = {"error_mean_percent": "mean error", "error_mse_e4": "mean squared error (MSE)"}


def figures(study: Study) -> Iterator[f.Picture]:
    loads = study.once(df_constant_load)
    for rows in groups(loads.assign(variant=""), ["set", "workload"]):
        for name, words in ERRORS.items():
            fig, first = plot_errors(rows, name), rows.iloc[0]
            if fig:
                caption = f"{first['workload'][:100]}: {words} by target and method"
                yield f.Picture(caption + _second(first), fig, how=CAVEAT)
    yield from _overlays(study, "accuracy", OF_LOAD)
    yield from _overlays(study, "replay", OF_REPLAY)


def _second(first: pd.Series) -> str:
    return ", second set" if first["set"] > 1 else ""


def _overlays(study: Study, experiment: str, keys: list[str]) -> Iterator[f.Picture]:
    """Yield pictures of the runs with all methods at one load, or of one trace at all speeds."""
    is_replay = experiment == "replay"
    for rows in groups(study.runs[study.runs["experiment"] == experiment], keys):
        lines = [Line(at, at, _name(run)) for at, run in rows.iterrows()]
        fig = plot_overlay(study, lines, "time of the trace" if is_replay else "time")
        first = rows.iloc[0]
        which = f"all methods at {100 * np.nan_to_num(first['target']):.4g} %"
        which = f"{(first['method'] or '-')[:60]} at all speeds" if is_replay else which
        which += f", round {first['round']:.0f}" if first["round"] > 1 else ""
        if fig:
            yield f.Picture(f"{(first['workload'] or '-')[:100]}: {which}{_second(first)}", fig)


def _name(run: pd.Series) -> str:
    if run.get("speed", 0) > 0:
        return f"speed {run['speed']:.4g}"
    tau = f", {1000 * run['tau_seconds']:.4g} ms" if run["tau_seconds"] > 0 else ""
    return f"{run['method'] or '-'}{tau}"


@f.drawing
def plot_errors(rows: pd.DataFrame, name: str) -> Any:
    """Draw a bar for each method at each target, and a ring at the published value; `rows` have one
    workload. Returns None if no error is known."""
    is_squared = name == "error_mse_e4"
    errors, published = rows[name], rows[f"{name}_published"]
    if is_squared:  # a logarithmic axis has no 0
        errors, published = errors.where(errors > 0), published.where(published > 0)
    if errors.isna().all():
        return None
    fig, ax = f.new()
    targets = sorted({*rows["target"]})
    number = rows.groupby(["method", "tau_seconds"], sort=False, dropna=False).ngroup()
    width = FILLED / (number.max() + 1)
    at = rows["target"].map(targets.index) + (number - number.max() / 2) * width
    for method, own in rows.groupby(number, sort=False, dropna=False):
        label, bars = _name(own.iloc[0])[:40], errors[own.index]
        titles = [f"{label}: {value:.4g}" for value in bars]
        look = {"color": f.color_of(int(method)), "label": label, "alpha": f.AREA_ALPHA}
        f.bars(ax, at[own.index], bars, titles, width=0.9 * width, **look)
    if published.notna().any():
        ring: dict[str, Any] = {"facecolors": "none", "edgecolors": f.INK, "color": None}
        f.points(ax, at, published, label="published", **ring)
    ax.set_xticks(range(len(targets)), [f"{100 * target:.4g}" for target in targets])
    ax.set(xlabel="target, %", ylabel="MSE, %\u00b2" if is_squared else "mean error, %")
    if is_squared:
        both = pd.concat([errors, published])
        ax.set(yscale="log", ylim=(both.min() / 2, 2 * both.max()))
        ax.yaxis.set_major_formatter("{x:g}")
    else:
        ax.axhline(0, color=f.AXIS, linewidth=1)
        ax.use_sticky_edges = False  # a published value may be near 0
        ax.autoscale_view()
    f.legend(ax)
    return fig
