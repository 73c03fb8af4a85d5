# SPDX-License-Identifier: Apache-2.0
"""Response times of services at each rate, with the load, duty and power at the same time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from . import steps
from .records import HOST, between
from .requests import COUNTED, HELD, RESPONSES, Requests
from .stats import Uncertainty
from .study import Study, share

# A service is underloaded if mean and 95th percentile of its response times are below these.
MEAN_MAX, P95_MAX = 1.0, 2.0
SATURATED = 0.98  # a set of CPUs that is busy for at least this part is saturated

# Columns that separate services, arrivals and series, which differ only in rate or run. Without a
# workload, each record of a manifest is a service.
SERVICE = "set study workload variant environment loop unnamed".split()
LEVEL = "knobs balance method cap throttle_target tau_seconds".split()
SERIES = [*SERVICE, "arrival", *LEVEL]
NUMBERS = {
    "series": SERIES,
    "service": [*SERVICE, "arrival"],
    "any_arrival": SERVICE,
    "any_level": [*SERVICE, *LEVEL],
}

# Columns of plans that do not separate services: they separate series, or runs of one.
SAME_SERVICE = (
    "workload method experiment published environment group energy knees target stands_for "
    "tau_seconds round at predict others rate load seed knobs cap balance"
).split()

# Columns of records that their rates have, too
OF_RECORD = (
    "record title set study workload method environment throttle_target tau_seconds variant round "
    "knobs arrival loop others verdict name level series service any_arrival any_level is_held "
    "is_at_load is_out_of_reach"
).split()
JOINED = "load target duty watts watts_deviation watts_seconds busiest".split()
ACTIVE = "frequency_mhz active active_deviation".split()


def df_requests(study: Study) -> pd.DataFrame:
    """Return a row for each record of requests: what a plan says, figures of the whole run, `run`
    (the record of showstopper from the same time; -1 without one), and names for readers: `name`
    of the series, and `level`, its name within the service."""
    rows = pd.DataFrame([_request(one) for one in study.requests])
    if rows.empty:
        return rows
    rows = rows.assign(variant="", run=_find_beside(study, rows))
    rows["variant"] = _variants(study, rows)
    has_knobs = rows["knobs"] != ""
    known = rows[has_knobs]
    for name in ("cap", "balance"):  # part of names if levels differ in it
        differ = known[name].nunique(dropna=False) > 1
        rows[f"{name}_differs"] = has_knobs & differ
    for number, names in NUMBERS.items():
        rows[number] = rows.groupby(_keys(rows, names), sort=False, dropna=False).ngroup()
    rows[["name", "level"]] = [*map(_names, rows.to_dict("records"))]
    return rows


def _keys(rows: pd.DataFrame, names: list[str]) -> list[pd.Series]:
    """Return columns with the digits that a manifest can express."""
    return [rows[n].round(9) if rows[n].dtype == float else rows[n] for n in names]


def _request(one: Requests) -> dict[str, Any]:
    planned, figures, source = one.source.columns, one.figures, one.source
    cap = share(planned.get("cap", ""))
    names = ("workload", "method", "environment", "experiment", "group", "knees")
    return figures | {
        "record": one.name,
        "title": one.title,
        "set": source.set + 1,
        "study": source.study,
        **{name: one.label(name) for name in names},
        **{name: one.number(name) for name in ("tau_seconds", "round", "at", "predict")},
        "knobs": planned.get("knobs", ""),
        "throttle_target": one.number("target"),
        "cap": figures["cap"] if math.isnan(cap) else cap,
        "balance": planned.get("balance", "") or figures["balance"],
        "unnamed": one.path if source.study and not one.label("workload") else "",
        "others": one.others,
        "state": "interrupted" if one.document is None else "whole",
        "verdict": one.verdict.result,
        "is_held": one.is_held,
    }


def _variants(study: Study, rows: pd.DataFrame) -> list[str]:
    """Return for each record the columns of its plan that differ within a series, and therefore
    separate services: "size=large"."""
    is_planned = [bool(r.source.columns and r.label("workload")) for r in study.requests]
    planned = rows[is_planned]
    if planned.empty:
        return [""] * len(rows)
    plans = [study.requests[at].source.columns for at in planned.index]
    columns = pd.DataFrame(plans, index=planned.index).fillna("")
    by_series = columns.groupby(_keys(planned, SERIES), sort=False, dropna=False)
    constant = by_series.nunique(dropna=False).le(1).all()
    names = [name for name in columns if name not in SAME_SERVICE and not constant[name]]
    words = {
        at: ", ".join(f"{name}={plan[name]}" for name in names if name in plan)
        for at, plan in zip(planned.index, plans)
    }
    return [words.get(at, "") for at in rows.index]


def _names(row: dict[str, Any]) -> tuple[str, str]:
    """Return the name of a series, such as "mediawiki, averageq, 50 %, poisson", and the one within
    its service, such as "pin=free cap 10"; without a workload, the title of its record."""
    balance = row["balance"] if row["balance_differs"] else ""
    cap = f"cap {row['cap']:g}" if row["cap_differs"] and math.isfinite(row["cap"]) else ""
    target = f"{100 * row['throttle_target']:g} %" if row["throttle_target"] > 0 else ""
    level = " ".join(filter(None, (row["knobs"] or row["method"], balance, cap, target)))
    if not row["workload"]:
        return str(row["title"]), level
    variant = f", {row['variant']}" if row["variant"] else ""
    place = f" in {row['environment']}" if row["environment"] not in ("", "none", HOST) else ""
    words = [
        f"{row['workload']}{variant}{place}", row["knobs"], balance, cap,
        row["method"] if row["method"] != "none" else "", target,
        row["arrival"] if row["loop"] == "open" else "",
        "second set" if row["set"] > 1 else "",
    ]  # fmt: skip
    return ", ".join(filter(None, words)), level


# Rates


def df_rates(study: Study) -> pd.DataFrame:
    """Return a row for each rate of each record of requests.

    Apart from the columns of its table, a row has `of`, its record's position in study.requests;
    `in_time`, the part of the requests due that succeeded before the last one became due;
    `all_mean` and `all_p95`, response times of all requests; and columns of its record.
    """
    requests = study.once(df_requests)
    found = [row for at in requests.index for row in _rates(study, at, requests.loc[at])]
    if not found:
        return pd.DataFrame()
    rows = pd.DataFrame(found)
    record = requests.loc[rows["of"]].reset_index(drop=True)
    rows = _take_figures(rows, record).join(record[OF_RECORD])
    has_knobs = rows["knobs"] != ""
    rows = rows.assign(
        cap=record["cap"].where(has_knobs), balance=record["balance"].where(has_knobs, "")
    )
    rows = _count_all(rows, record)
    underloaded = rows["all_mean"].lt(MEAN_MAX) & rows["all_p95"].lt(P95_MAX)
    sure = Uncertainty(rows["error"], rows["freedom"])
    mean = sure.interval(rows["intended_mean_seconds"], study.settings.confidence)
    known = rows["intended_p95_seconds"].notna()
    return rows.assign(
        intended_mean_low_seconds=mean.low.clip(lower=0),
        intended_mean_high_seconds=mean.high,
        percentiles=np.where(known, np.where(rows["estimated"], "estimated", "counted"), ""),
        state=np.where(underloaded, "underloaded", "overloaded"),
        saturated=saturation(rows["busiest"]),
    )


def saturation(busiest: Any) -> Any:
    """Return `yes` or `no`; '' if it is unknown."""
    return np.where(np.isnan(busiest), "", np.where(busiest >= SATURATED, "yes", "no"))


def _rates(study: Study, at: int, request: pd.Series) -> list[dict[str, Any]]:
    """Return a row for each rate of a record; none if it searched a capacity, which changes the
    rate too often."""
    one = study.requests[at]
    if request["demand"]:
        return []
    has_one = request["loop"] == "closed" or request["profile"] == "constant"
    has_one = (has_one or request["is_at_load"]) and request["state"] == "whole"
    # A staircase has stretches without requests at its start and end.
    edge = 0 if has_one else study.edge(one.source)
    stretches = [s for s in one.stretches(edge) if s["due"] and s["rate"]]
    rows = []
    for number, stretch in enumerate(stretches[:1] if has_one else stretches, 1):
        counted = stretch.pop("counted")
        row = {"of": at, "step": math.nan if has_one else number, "left": _left(one, stretch)}
        row |= stretch | one.response(counted)
        rows.append(row | join(study, request, one, stretch["from"], stretch["to"]))
    idle_watts = _idle_watts(study, request, one) if rows else math.nan
    return [r | {"idle_watts": idle_watts if r["watts"] == r["watts"] else math.nan} for r in rows]


def _left(one: Requests, stretch: dict[str, Any]) -> float:
    """Return how many requests of a stretch still wait or are unfinished when the run ends; 0
    unless it is the last stretch with requests."""
    later = one.seconds[one.seconds["begin"] >= stretch["end_seconds"]]
    known = stretch["completed"] + stretch["failed"] + stretch["refused"]
    left = one.figures["waiting"] + one.figures["unfinished"]
    left = min(left, stretch["due"] - known)
    return float(left) if left > 0 and not later["due"].gt(0).any() else 0.0


def _take_figures(rows: pd.DataFrame, record: pd.DataFrame) -> pd.DataFrame:
    """Add throughput and ratios. Those of a whole run are exact in its document, and so are its
    response times; its seconds give their uncertainty."""
    known = rows["completed"] + rows["failed"] + rows["refused"] + rows["left"]
    rows = rows.assign(
        throughput=rows["completed"] / rows["seconds"],
        success_ratio=rows["completed"] / known,
        in_time=rows["completed"] / rows["due"],
    )
    whole = rows["step"].isna()
    names = {name: name for name in (*COUNTED, *RESPONSES, "throughput", "success_ratio")}
    names |= {"due": "intended", "completed": "succeeded", "estimated": "estimated"}
    names |= {"lateness_most_seconds": "lateness_most_seconds"}
    for name, recorded in names.items():
        rows[name] = rows[name].mask(whole, record[recorded])
    return rows.assign(rate=rows["rate"].mask(whole & record["is_at_load"], record["rate"]))


def _count_all(rows: pd.DataFrame, record: pd.DataFrame) -> pd.DataFrame:
    """Add mean and 95th percentile of all requests; infinite if too many got no answer.

    A whole run has recorded both, without refused requests. In a step, a request that failed or was
    refused counts as longer than all successes, and at least as long as the timeout: the percentile
    is a higher one of the successes, interpolated between known ones.
    """
    lost, answered = rows["refused"] + rows["failed"], rows["completed"]
    mean, p95, p99, most = (rows[f"intended_{n}_seconds"] for n in ("mean", "p95", "p99", "most"))
    part = lost / (answered + lost)
    longest = np.fmax(record["timeout_seconds"], most)
    mean = mean.mask(lost > 0, (answered * mean + lost * longest) / (answered + lost))
    at = 0.95 / (1 - part)
    lower, upper = p95 + (at - 0.95) / 0.04 * (p99 - p95), p99 + (at - 0.99) / 0.01 * (most - p99)
    p95 = p95.where(part == 0, lower.where(at <= 0.99, upper)).mask(part >= 0.05, math.inf)
    silent = ~(answered > 0)
    unknown = np.where(rows["due"] > 0, math.inf, math.nan)
    mean, p95 = mean.mask(silent, unknown), p95.mask(silent, unknown)
    own_mean, own_p95 = record["all_intended_mean_seconds"], record["all_intended_p95_seconds"]
    has_own = rows["step"].isna() & np.isfinite(own_mean + own_p95)
    own_p95 = own_p95.mask(rows["refused"] >= 0.05 * rows["due"], math.inf)
    return rows.assign(all_mean=mean.mask(has_own, own_mean), all_p95=p95.mask(has_own, own_p95))


# Load, duty and power at the same time


def _find_beside(study: Study, rows: pd.DataFrame) -> list[int]:
    """Return the record of showstopper from the same time as each record of requests, -1 without
    one: in the same group or, without a group, in the same folder of runs."""
    begin = np.array([record.wall for record in study.records])
    ends = [record.clock.elapsed(record.end) for record in study.records]
    end, found, runs = begin + np.array(ends), [], study.origin.to_dict("records")
    for row in rows.to_dict("records"):
        first, last = row["begin_epoch_seconds"], row["end_epoch_seconds"]
        seconds = np.minimum(last, end) - np.maximum(first, begin)
        is_beside = np.array([_is_beside(row, run) for run in runs], dtype=bool)
        overlap = np.where(is_beside & (seconds > 0), seconds, 0)
        found.append(int(overlap.argmax()) if overlap.max(initial=0) > 0 else -1)
    return found


def _is_beside(row: dict[str, Any], run: dict[str, Any]) -> bool:
    if (row["set"], row["study"]) != (run["set"], run["study"]):
        return False
    if not row["study"]:
        return True
    if row["group"] or run["group"]:
        return bool(row["group"] == run["group"])
    one, other = (name.rstrip("/").rpartition("/")[0] for name in (row["record"], run["record"]))
    return bool(one == other)


def join(
    study: Study, request: Any, one: Requests, begin: float, end: float
) -> dict[str, float]:
    """Return means between two moments. Load and power are those that were recorded with the
    requests if there is no run, and power also if the run has none."""
    loads = between(one.loads, begin, end)
    found = dict.fromkeys(JOINED, math.nan) | {"load": loads["load"][loads["cpu"].isna()].mean()}
    # Single CPUs are recorded if a part of the service may use only one.
    sets = [*loads.groupby("cpu", sort=False, dropna=False)["load"].mean()]
    power = steps.power(one, begin, end)
    if request["run"] >= 0:
        record = study.records[request["run"]]
        first, last = (float(record.clock.run_time(at - record.wall)) for at in (begin, end))
        samples = record.samples
        middle = (samples["begin"] + samples["end"]) / 2
        part = samples[(middle >= first) & (middle < last)]
        found |= part[["load", "duty"]].mean()
        found["target"] = part["target"].mean(skipna=False)
        sets.append(found["load"])
        power = steps.power(record, first, last) if len(record.power) else power
    if one.is_held:
        found |= between(one.seconds, begin, end)[[*HELD]].mean()
    found["busiest"] = float(np.fmax.reduce(sets)) if sets else math.nan
    found |= {name: power[name] for name in ("watts", "watts_deviation")}
    idle = between(one.idle, begin, end)
    active = idle["frequency_mhz"].mean(), idle["active"].mean(), idle["active"].std()
    return found | {"watts_seconds": power["power_seconds"]} | dict(zip(ACTIVE, active))


def _idle_watts(study: Study, request: pd.Series, one: Requests) -> float:
    """Return the mean power while the run sent no requests."""
    silent = [
        join(study, request, one, stretch["from"], stretch["to"])
        for stretch in one.stretches(study.edge(one.source))
        if stretch["rate"] == 0 and not stretch["completed"] + stretch["failed"] > 0
    ]
    power = pd.DataFrame(silent, columns=["watts", "watts_seconds"], dtype=float)
    power = power[power["watts_seconds"] > 0]
    energy, seconds = (power["watts"] * power["watts_seconds"]).sum(), power["watts_seconds"].sum()
    return float(energy / seconds) if seconds > 0 else math.nan
