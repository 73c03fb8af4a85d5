# SPDX-License-Identifier: Apache-2.0
"""Response times of a service at one rate, with the load, duty and power at the same time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import runs
from .records import between
from .responses import COUNTED, FIGURES, HELD, ORIGINS, Response, Responses, divide
from .steps import mean, total

if TYPE_CHECKING:
    from .studies import Report

# A service is underloaded if mean and 95th percentile of its response times are below these.
MEAN_MAX, P95_MAX = 1.0, 2.0
SATURATED = 0.98  # a set of CPUs that is busy for at least this part is saturated

JOINED = "load target duty watts watts_deviation watts_seconds busiest".split()


def df_rates(report: Report) -> pd.DataFrame:
    """Return a row for each rate of each record of requests.

    Apart from the columns of its table, a row has `of`, the record; `in_time`, the part of the
    requests due that succeeded before the last one became due; `all_mean` and `all_p95`, response
    times of all requests; and the numbers of its `series`, of its `service`, and of its service at
    any arrival (`any_arrival`). The rows of a series differ only in rate or run.
    """
    _compare_levels(report.responses)
    rows = [row for of in report.responses for row in _rates(report, of)]
    frame = pd.DataFrame(rows)
    keys = [row["of"].series_key for row in rows]
    series, service, any_arrival = (_number([key[:end] for key in keys]) for end in (3, 2, 1))
    return frame.assign(series=series, service=service, any_arrival=any_arrival)


def df_observations(report: Report) -> pd.DataFrame:
    """Return the rates as observations of level `rate`, with the plan's columns."""
    rates = report.rates
    if rates.empty:
        return rates
    records = [
        {
            "study": of.manifest,
            "title": of.title,
            **vars(of.origin),
            "environment": of.environment_name,
            "arrival": of.arrival,
            "verdict": of.verdict.result,
            **{f"plan.{name}": value for name, value in of.columns.items()},
        }
        for of in rates["of"]
    ]
    known = pd.DataFrame(records, index=rates.index)
    own = rates.rename(columns={"target": "target_mean", "watts_seconds": "power_seconds"})
    own = own.assign(level="rate", run=-1, set=own["set"] - 1)
    internal = ["of", "response", "throttle_target", "service", "series", "any_arrival"]
    own = own.drop(columns=[*internal, *own.columns.intersection(known.columns)])
    texts = {name: "" for name in known if known[name].dtype == object}
    return known.fillna(texts).join(own)


def _number(keys: list[Any]) -> list[int]:
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _compare_levels(responses: list[Responses]) -> None:
    """Note whether records with knobs differ in the cap or the balance."""
    known = [of for of in responses if of.knobs]
    for of in known:
        of.caps_differ = len({other.level_key[3] for other in known}) > 1
        of.balances_differ = len({other.balance for other in known}) > 1


def _rates(report: Report, of: Responses) -> list[dict[str, Any]]:
    """Return the rates of a record. A search for a capacity changes the rate too often."""
    one_rate = not of.interrupted
    one_rate &= of.closed or of.profile == "constant" or of.is_at_load
    if of.demand:
        return []
    run = find_beside(report, of)
    # A staircase has stretches without requests at its start and end.
    stretches = [s for s in of.stretches(0 if one_rate else of.edge) if s["due"] and s["rate"]]
    rows = [
        _row(report, of, run, stretch, 0 if one_rate else step)
        for step, stretch in enumerate(stretches[:1] if one_rate else stretches, 1)
    ]
    idle_watts = _idle_watts(of, run) if rows else math.nan
    for row in rows:
        row["idle_watts"] = math.nan if math.isnan(row["watts"]) else idle_watts
    return rows


def _row(
    report: Report, of: Responses, run: runs.Run | None, stretch: dict[str, Any], step: int
) -> dict[str, Any]:
    joined = join(of, run, stretch["from"], stretch["to"])
    response = of.response(stretch.pop("counted"))
    figures = {
        "throughput": divide(stretch["completed"], stretch["seconds"]),
        "success_ratio": _success_ratio(of, stretch),
        "in_time": divide(stretch["completed"], stretch["due"]),
    }
    if step == 0:
        # Figures of the whole run are exact; its seconds give the uncertainty.
        renamed = {"due": "intended", "completed": "succeeded"}
        figures |= {name: getattr(of, renamed.get(name, name)) for name in COUNTED}
        figures |= {"throughput": of.throughput, "success_ratio": of.success_ratio}
        figures |= {"lateness_most_seconds": of.lateness_most}
        figures |= {"rate": of.rate} if of.is_at_load else {}
        both = zip(of.successes, response)
        response = tuple(replace(one, uncertainty=part.uncertainty) for one, part in both)
    row = origin(of) | stretch | figures
    all_mean, all_p95 = _times(of, row, response[0], step)
    underloaded = all_mean < MEAN_MAX and all_p95 < P95_MAX
    interval = response[0].interval(report.settings.confidence)
    return row | {
        "of": of,
        "round": of.round,
        "knobs": of.knobs,
        "balance": of.balance if of.knobs else "",
        "cap": of.cap if of.knobs else math.nan,
        "step": step or math.nan,
        **times(response),
        "response": response,
        "intended_mean_low_seconds": interval.low,
        "intended_mean_high_seconds": interval.high,
        "all_mean": all_mean,
        "all_p95": all_p95,
        **joined,
        "state": "underloaded" if underloaded else "overloaded",
        "saturated": saturation(joined["busiest"]),
        "others": of.others,
        **_active(of, row["from"], row["to"]),
    }


def origin(of: Responses) -> dict[str, Any]:
    return {
        "record": of.name,
        "set": of.set + 1,
        "workload": of.workload,
        "method": of.method,
        "environment": of.environment,
        "throttle_target": of.target,
        "variant": of.variant,
    }


def times(response: tuple[Response, ...]) -> dict[str, Any]:
    columns: dict[str, Any] = {
        f"{name}_{figure}_seconds": getattr(found, figure)
        for name, found in zip(ORIGINS, response)
        for figure in FIGURES
    }
    estimated = any(found.estimated for found in response)
    counted = "" if math.isnan(response[0].p95) else "counted"
    return columns | {"percentiles": "estimated" if estimated else counted}


def _active(of: Responses, from_: float, to: float) -> dict[str, float]:
    states = runs.idle_states(between(of.idle, from_, to)) if len(of.idle) else iter(())
    unknown = dict.fromkeys(("frequency_mhz", "active", "active_deviation"), math.nan)
    found = next(states, unknown)
    return {name: found[name] for name in unknown}


def saturation(busiest: float) -> str:
    return "" if math.isnan(busiest) else "yes" if busiest >= SATURATED else "no"


def _success_ratio(of: Responses, stretch: dict[str, Any]) -> float:
    """Return the part of due requests that succeeded.

    Requests that are still waiting or unfinished when the stretch ends count when it is known what
    became of them. Only those of the last stretch with requests can be left when the run ends.
    """
    later = of.seconds[of.seconds["begin"] >= stretch["end_seconds"]]
    known = stretch["completed"] + stretch["failed"] + stretch["refused"]
    left = min(of.waiting + of.unfinished, stretch["due"] - known)
    left = left if left > 0 and not (later["due"] > 0).any() else 0.0
    return divide(stretch["completed"], known + left)


def _times(
    of: Responses, row: dict[str, Any], successes: Response, step: int
) -> tuple[float, float]:
    """Return mean and 95th percentile of all requests; infinite if too many got no answer.

    A whole run has recorded both, without refused requests. In a step, a request that failed or was
    refused counts as longer than all successes, and at least as long as the timeout.
    """
    recorded = of.all[0]
    if step == 0 and math.isfinite(recorded.mean + recorded.p95):
        is_refused = row["refused"] >= 0.05 * row["due"]
        return recorded.mean, math.inf if is_refused else recorded.p95
    lost, answered = row["refused"] + row["failed"], row["completed"]
    if not answered > 0:
        unknown = math.inf if row["due"] > 0 else math.nan
        return unknown, unknown
    timeout = float(np.fmax(of.timeout, successes.most))
    average = successes.mean
    if lost > 0:
        average = (answered * successes.mean + lost * timeout) / (answered + lost)
    return average, _shifted_p95(successes, lost / (answered + lost))


def _shifted_p95(response: Response, failed: float) -> float:
    """Return the 95th percentile if a part of the requests took longer than all successes: a higher
    percentile of the successes, interpolated between known ones."""
    if failed >= 0.05:
        return math.inf
    if failed == 0:
        return response.p95
    at = 0.95 / (1 - failed)
    if at <= 0.99:
        return response.p95 + (at - 0.95) / 0.04 * (response.p99 - response.p95)
    return response.p99 + (at - 0.99) / 0.01 * (response.most - response.p99)


# Load, duty and power at the same time


def find_beside(report: Report, of: Responses) -> runs.Run | None:
    """Return the record of showstopper from the same time: in the same group or, without a group,
    in the same folder of runs."""

    def overlap(run: runs.Run) -> float:
        wall = run.record.wall
        end = wall + run.record.elapsed(run.record.end)
        seconds = min(of.ended, end) - max(of.begin, wall)
        return seconds if seconds > 0 and not math.isnan(wall) else 0.0

    if math.isnan(of.begin + of.ended):
        return None
    found = max((run for run in report.runs if _is_beside(of, run)), key=overlap, default=None)
    return found if found and overlap(found) > 0 else None


def _is_beside(of: Responses, run: runs.Run) -> bool:
    if (of.set, of.manifest) != (run.set, run.manifest):
        return False
    if not of.manifest:
        return True
    if of.group or run.group:
        return bool(of.group == run.group)
    one, other = (name.rstrip("/").rpartition("/")[0] for name in (of.name, run.name))
    return one == other


def join(of: Responses, run: runs.Run | None, from_: float, to: float) -> dict[str, float]:
    """Return means between two moments. Load and power are those that were recorded with the
    requests if there is no run, and power also if the run has none."""
    loads = between(of.loads, from_, to)
    whole = loads[loads["cpu"].isna()]["load"].to_numpy()
    joined = dict.fromkeys(JOINED, math.nan) | {"load": mean(whole)}
    # Single CPUs are recorded if a part of the service may use only one.
    by_cpu = loads.groupby("cpu", sort=False, dropna=False)["load"]
    sets = [mean(part.to_numpy()) for _, part in by_cpu]
    power = runs.power(of.power, from_, to)
    if run:
        wall = run.record.wall
        first, last = (float(run.record.run_time(at - wall)) for at in (from_, to))
        joined |= run.means(first, last)
        sets.append(joined["load"])
        power = run.power(first, last) if len(run.energy) else power
    if of.is_held:
        held = between(of.seconds, from_, to)
        joined |= {name: mean(held[name].to_numpy()) for name in HELD}
    joined["busiest"] = float(np.fmax.reduce(sets)) if sets else math.nan
    names = {"watts": "watts", "watts_deviation": "deviation", "watts_seconds": "seconds"}
    return joined | {name: power[figure] for name, figure in names.items()}


def _idle_watts(of: Responses, run: runs.Run | None) -> float:
    """Return the mean power while the run sent no requests."""
    silent = [
        s for s in of.stretches(of.edge) if s["rate"] == 0 and not s["completed"] + s["failed"] > 0
    ]
    joined = [join(of, run, stretch["from"], stretch["to"]) for stretch in silent]
    known = [one for one in joined if one["watts_seconds"] > 0]
    seconds = total(np.array([one["watts_seconds"] for one in known]))
    energy = total(np.array([one["watts"] * one["watts_seconds"] for one in known]))
    return divide(energy, seconds) if seconds else math.nan


# Idle states


def df_idle(report: Report) -> pd.DataFrame:
    rows = []
    for point in report.rates.to_dict("records"):
        of = point["of"]
        names = ("knobs", "balance", "cap", "round", "step", "rate", "watts", "load")
        known = {**origin(of), "arrival": of.arrival, **{name: point[name] for name in names}}
        if not of.idle.empty and not math.isnan(point["active"]):
            seconds = between(of.idle, point["from"], point["to"])
            rows += [known | state for state in runs.idle_states(seconds)]
    return pd.DataFrame(rows)
