# SPDX-License-Identifier: Apache-2.0
"""How fast does a service answer, up to what rate, and what do its knobs save and cost?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from ..findings import Finding, Headline, first
from ..levels import are_compared, describe, df_knobs, df_limits, df_rules, df_savings
from ..page import Note, Part, Section
from ..rates import df_idle, find_beside, origin, times
from ..request_pictures import pictures
from ..responses import DUTY_FULL, TIMES, Response, Responses, added_by_stops
from ..statistics import Interval
from ..studies import Report, others_permit
from ..tables import Column, Sheet, Table

RATES_MAX = 40  # rates that the terminal shows

# A service keeps up with a rate if the part SUCCESSES_MIN of the due requests succeeds, and the
# part IN_TIME_MIN, minus one request, before the last request is due. Otherwise a queue grows,
# which is emptied only afterwards.
SUCCESSES_MIN, IN_TIME_MIN = 0.99, 0.98

# Response times from sending hide a wait if times from due are longer by this factor, and at least
# this long.
HIDDEN_RATIO, HIDDEN_MIN = 2, 0.01

# A generator is late if the 99th percentile of its lateness exceeds this part of the 95th
# percentile of response times, and this time.
LATE_SHARE, LATE_MIN = 0.1, 0.001


# Tables


def df_requests(report: Report) -> pd.DataFrame:
    """Return a row for each record: what happened to its requests, and what capacity it found."""
    return pd.DataFrame([_request(report, of) for of in report.responses])


def _request(report: Report, of: Responses) -> dict[str, Any]:
    run = find_beside(report, of)
    names = "version targets profile arrival cap when_full intended sent refused waiting unfinished"
    names += " succeeded failed timeouts causes success_ratio throughput unfinished_most bytes"
    return {
        **origin(of),
        **{name: getattr(of, name) for name in f"{names} others round".split()},
        "state": "interrupted" if of.interrupted else "whole",
        "verdict": of.verdict.result,
        "loop": "closed" if of.closed else "open",
        "timeout_seconds": of.timeout,
        "duration_seconds": of.duration,
        "lateness_p99_seconds": of.lateness_p99,
        "lateness_most_seconds": of.lateness_most,
        **times(of.successes),
        **{f"all_{name}": value for name, value in times(of.all).items()},
        "own_cpu_seconds": of.own_cpu,
        "joined": run.name if run else "",
        "notes": str(of.notes),
        **(of.capacity if of.demand else {}),
        "demand": of.demand,
    }


def _times(origin: str, mean: str = "", p95: str = "") -> tuple[Column, ...]:
    return (
        Column(f"{origin}_mean_seconds", f"{origin}: mean, s", 4, text=(mean, 9) if mean else None),
        Column(f"{origin}_p50_seconds"),
        Column(f"{origin}_p95_seconds", "95 %, s", 4, text=(p95, 9) if p95 else None),
        Column(f"{origin}_p99_seconds", "99 %, s", 4),
        Column(f"{origin}_most_seconds"),
    )


RECORD = (
    Column("record", "record", text=("requests", 28)),
    Column("set"),
    Column("workload", "service"),
    Column("method", "method"),
    Column("environment"),
    Column("throttle_target", "throttled to, %", 1, True, if_known=True),
)
LEVEL = (
    Column("knobs", "knobs", if_known=True),
    Column("balance", "balance", if_known=True),
    Column("cap", "cap", if_known=True),
)
VARIANT = (Column("variant", "variant", if_known=True),)
CAPACITY = (
    Column("demand", "demand", text=("demand", 14)),
    Column("held_rate", "holds up to, /s", 2, text=("holds up to, /s", 17)),
    Column("held_times", "times"),
    Column("failed_rate", "fails from, /s", 2, text=("fails from, /s", 17)),
    Column("failed_times", "times"),
)
REQUESTS = Table(
    "requests",
    "Requests: response times of the successes, from when they were due (intended) and from when "
    "they were sent (actual)",
    (
        Column("record", "record"),
        Column("set"),
        Column("state", "state"),
        Column("verdict", "verdict"),
        Column("version"),
        Column("workload", "service"),
        Column("method", "method"),
        *map(Column, ("environment", "throttle_target", "round", "targets")),
        Column("loop", "loop"),
        Column("profile"),
        Column("arrival", "arrival"),
        Column("cap", "cap"),
        *map(Column, ("when_full", "timeout_seconds", "duration_seconds")),
        *(Column(name, name) for name in ("intended", "sent", "refused")),
        *map(Column, ("waiting", "unfinished")),
        *(Column(name, name) for name in ("succeeded", "failed")),
        Column("timeouts"),
        Column("causes", "causes"),
        Column("success_ratio", "successes, %", 2, True),
        Column("throughput", "answered, /s", 2),
        *map(Column, ("unfinished_most", "bytes")),
        Column("lateness_p99_seconds", "sent late (99 %), s", 5),
        Column("lateness_most_seconds"),
        *_times("intended"),
        *_times("actual"),
        Column("all_intended_mean_seconds"),
        Column("all_intended_p95_seconds", "all, intended: 95 %, s", 4),
        *map(Column, ("all_intended_p99_seconds", "all_actual_mean_seconds")),
        *map(Column, ("all_actual_p95_seconds", "all_actual_p99_seconds", "percentiles")),
        Column("own_cpu_seconds"),
        Column("others", "others, %", 1, True, if_known=True),
        *map(Column, ("joined", "notes")),
        *VARIANT,
        *(Column(column.name) for column in CAPACITY),
    ),
    df_requests,
    shade="verdict",
    about="A row for each record of requests: verdict, settings, the number of requests by "
    "outcome, response times of successes and, in the columns that begin with `all_`, of "
    "all requests, and the capacity if one was searched.",
)
RATES = Table(
    "requests-rates",
    "Response times by rate",
    (
        Column("record", "record", text=("requests", 20)),
        *RECORD[1:],
        Column("round"),
        *LEVEL,
        Column("step", "step"),
        *map(Column, ("begin_seconds", "end_seconds")),
        Column("seconds", "seconds"),
        Column("rate", "requested, /s", 2, text=("rate, /s", 9)),
        Column("throughput", "answered, /s", 2, text=("answered", 9)),
        *map(Column, ("due", "sent", "refused", "completed", "failed", "timeouts")),
        Column("success_ratio", "successes, %", 2, True, text=("ok, %", 7)),
        Column("lateness_most_seconds"),
        *_times("intended", "mean, s", "95 %, s"),
        *_times("actual", "", "sent"),
        Column("percentiles", "percentiles"),
        Column("intended_mean_low_seconds", "intended mean, its confidence from, s", 4),
        Column("intended_mean_high_seconds", "to, s", 4),
        Column("load", "load, %", 1, True, if_known=True, text=("load, %", 8)),
        Column("target", "target, %", 1, True, if_known=True),
        Column("duty", "duty, %", 1, True, if_known=True),
        Column("watts", "W", 2, if_known=True),
        Column("watts_deviation", "standard deviation", 2, if_known=True),
        Column("watts_seconds"),
        Column("idle_watts", "idle, W", 2, if_known=True),
        Column("state", "state"),
        Column("saturated", "saturated", if_known=True),
        Column("others", "others, %", 1, True, if_known=True),
        *VARIANT,
        *map(Column, ("frequency_mhz", "active", "active_deviation")),
    ),
    lambda report: report.rates,
    about="A row for each rate of each record: response times, and load, duty and power of the "
    "same time. If a run has several rates, requests that still wait or have no answer "
    "when a rate ends count where they end, those without an answer in the end at the last "
    "rate.",
)
LIMITS = Table(
    "requests-limits",
    "Underloaded: rates at which the mean is below 1 s and 95 % are below 2 s",
    (
        *RECORD[1:],
        Column("arrival", "arrival"),
        *LEVEL,
        Column("rates", "rates"),
        Column("counted", "times"),
        Column("criterion", "below the limit"),
        Column("limit_seconds", "limit, s"),
        Column("last_rate", "up to, /s", 2),
        Column("first_rate", "not at, /s", 2),
        Column("crossing_rate", "crossing, /s", 2),
        *VARIANT,
    ),
    df_limits,
    about="Up to which rate each service is underloaded: at each lower rate the mean response "
    "time is below 1 s and the 95th percentile below 2 s. Services that differ in a column "
    "of the plan, such as the size of requests, are different services.",
)
SAVED = (
    Column("saved", "power saved, %", 1, True, if_known=True, text=("saved, %", 9)),
    Column("high_capacity", "from, /s", 2),
    Column("low_capacity", "to, /s", 2),
    Column("lost", "capacity lost, %", 1, True, text=("lost, %", 9)),
    Column("lost_per_saved", "lost for each % saved", 2, if_known=True),
)
KNOB = (
    Column("knob", "knob", if_known=True, text=("knob", 10)),
    Column("high_knobs", "from", if_known=True, text=("from", 16)),
    Column("low_knobs", "to", if_known=True, text=("to", 16)),
    Column("arrival", "arrival", if_known=True),
    Column("note", "note", if_known=True),
)
PUBLISHED = (
    Column("published_as", "published as", if_known=True),
    Column(
        "published_saved_percent",
        "published: power saved, %",
        if_known=True,
        text=("published", 10),
    ),
    Column("published_lost_percent", "capacity lost, %", if_known=True, text=("lost, %", 8)),
    Column("published_lost_per_saved", "lost for each % saved", 2, if_known=True),
)
SAVINGS = Table(
    "requests-savings",
    "Power saved and capacity lost between two levels of a service, at the highest common rate",
    (
        Column("high", "from"),
        Column("low", "to"),
        Column("rate", "requested, /s", 2),
        Column("saturated", "saturated", if_known=True),
        Column("high_watts", "from, W", 1, if_known=True),
        Column("low_watts", "to, W", 1, if_known=True),
        *SAVED,
        *(Column(column.name) for column in (*KNOB[:4], *PUBLISHED)),
    ),
    df_savings,
    about="What a service saves and loses between two levels at the highest rate that both have, "
    "next to published figures (Table 7). The comparison is fair if both are `saturated`.",
)
RULES = Table(
    "requests-rules",
    "Published statements about knobs, tested on these runs",
    (
        Column("statement", "statement"),
        Column("source", "published in"),
        Column("verdict", "verdict"),
        Column("difference", "difference, %", 1, True, if_known=True),
        Column("low", "its confidence, from", 1, True, if_known=True),
        Column("high", "to", 1, True, if_known=True),
        Column("runs", "runs of each"),
        Column("rate", "requested, /s", 2, if_known=True),
        Column("first", "from", if_known=True),
        Column("second", "to", if_known=True),
        Column("arrival", "arrival", if_known=True),
        Column("balance"),
        Column("why", "why not", if_known=True),
    ),
    df_rules,
    about="Published statements about knobs, arrivals and balances, each tested on the means of "
    "the runs.",
)
TABLES = (REQUESTS, RATES, LIMITS, SAVINGS, RULES)

# What readers see of these tables.
KNOBS = Table(
    "requests-savings",
    "What each knob saves and costs, and published figures (Table 7, another machine)",
    (
        *KNOB,
        Column("high_capacity", "capacity from, /s", 2, if_known=True),
        Column("low_capacity", "to, /s", 2, if_known=True),
        SAVED[0],
        replace(SAVED[3], if_known=True),
        SAVED[4],
        *PUBLISHED,
    ),
    df_knobs,
)
IDLE = Table(
    "idle-states",
    "Idle states of the CPUs by rate",
    (
        Column("workload", "service"),
        Column("method", "method", if_known=True),
        *RECORD[4:],
        Column("arrival", "arrival"),
        *LEVEL,
        Column("rate", "requested, /s", 2),
        Column("seconds", "seconds"),
        Column("frequency_mhz", "MHz", if_known=True),
        Column("active", "active, %", 2, True),
        Column("active_deviation", "standard deviation", 2, True),
        Column("state", "state"),
        Column("share", "of idle, %", 2, True),
        Column("share_deviation", "standard deviation", 2, True),
        *VARIANT,
    ),
    df_idle,
)


def _knobs(report: Report) -> Sheet:
    return Sheet(KNOBS, df_knobs(report))


# Notes and findings


def notes(report: Report) -> None:
    for of in report.responses:
        alone = any(run.set == of.set and not run.manifest for run in report.runs)
        if alone and not of.manifest and not find_beside(report, of):
            of.notes.add("no record of showstopper covers the same time")
    rates = report.rates
    for of in report.responses:
        points = rates[[one is of for one in rates["of"]]]["response"] if len(rates) else ()
        if any(response[0].estimated for response in (of.successes, *points)):
            of.notes.add(
                "its percentiles over several seconds are estimated from the percentiles of each "
                f"second, because it has no complete {TIMES}"
            )


def show(seconds: float) -> str:
    """Return a time with three digits: "1.25 s", "14.2 ms"."""
    if not math.isfinite(seconds):
        return "unknown"
    short = abs(seconds) < 0.9995
    number = 1000 * seconds if short else seconds
    decimals = 2 if abs(number) < 9.995 else 1 if abs(number) < 99.95 else 0
    return f"{number:.{decimals}f} {'ms' if short else 's'}"


def _about(response: Response) -> str:
    return "about " if response.estimated else ""


def _interval(report: Report, interval: Interval, requests: float) -> str:
    """Return "95 %: 1.20 s to 1.50 s, of 42 requests"."""
    if not math.isfinite(interval.low):
        return f"{requests:.0f} requests, which give no interval"
    level = 100 * report.settings.confidence
    return (
        f"{level:g} %: {show(interval.low)} to {show(interval.high)}, of {requests:.0f} requests"
    )


def findings(report: Report) -> Iterator[Finding]:
    yield from _find_knobs(report)
    for of in report.responses:
        if of.demand:
            yield _finding("capacity", of, f"{describe(of)}: {_capacity(of)}")
    for points in _series(report):
        yield from _find_series(report, points)
        yield from _find_hidden(points)
        yield from _find_throttle(report, points)
    for of in report.responses:
        yield from _find_doubts(of)


def _finding(kind: str, of: Responses, sentence: str) -> Finding:
    return Finding(
        kind,
        sentence,
        environment=of.environment_name,
        foreground=of.workload,
        of="requests",
        set=of.set + 1,
    )


def _series(report: Report) -> list[pd.DataFrame]:
    rates = report.rates
    if rates.empty:
        return []
    return [points for _, points in _keep_up(rates).groupby("series", sort=False, dropna=False)]


def _keep_up(rates: pd.DataFrame) -> pd.DataFrame:
    """Add whether the service keeps up with each rate."""
    due = rates["due"]
    succeeds = rates["step"].notna() | (rates["success_ratio"] >= SUCCESSES_MIN)
    few_failed = rates["failed"] <= (1 - SUCCESSES_MIN) * due
    in_time = rates["in_time"] * due >= IN_TIME_MIN * due - 1
    return rates.assign(keeps_up=(due > 0) & succeeds & few_failed & in_time)


def _find_series(report: Report, points: pd.DataFrame) -> Iterator[Finding]:
    of = points["of"].iloc[0]
    if of.closed:
        rate = points["throughput"].iloc[0]
        yield _finding(
            "closed-loop",
            of,
            f"{describe(of)}: a closed loop answered {rate:.4g} requests a second. Its clients "
            "wait for each answer, so its response times say nothing about requests that arrive "
            "independently.",
        )
        return
    fails = points[~points["keeps_up"]].sort_values("rate", kind="stable").head(1)
    limit = fails["rate"].min() if len(fails) else math.inf
    kept = points[points["keeps_up"] & (points["rate"] < limit)]
    if kept.empty and len(fails):
        yield _finding(
            "rate",
            of,
            f"{describe(of)}: does not even keep up with {limit:.4g} requests a second, the lowest "
            f"rate tried: {100 * fails['in_time'].iloc[0]:.4g} % of the requests due succeeded "
            "while it lasted.",
        )
    if kept.empty:
        return
    last = kept.loc[kept["rate"].idxmax()]
    beyond = "" if fails.empty else (
        f", but not with {limit:.4g} ({100 * fails['in_time'].iloc[0]:.4g} % of the requests due "
        "succeeded while that rate lasted)"
    )
    response = last["response"][0]
    sure = _interval(report, response.interval(report.settings.confidence), last["completed"])
    yield _finding(
        "rate",
        last["of"],
        f"{describe(last['of'])}: keeps up with {last['rate']:.4g} requests a second{beyond}. At "
        f"{last['rate']:.4g} the response time is {show(response.mean)} on average ({sure}) and at "
        f"most {_about(response)}{show(response.p95)} for 95 % of the requests, from when they "
        "were due.",
    )


def _find_hidden(points: pd.DataFrame) -> Iterator[Finding]:
    """Find the point at which times from due exceed times from sending by the largest factor."""
    intended, actual = points["intended_p99_seconds"], points["actual_p99_seconds"]
    ratio = intended / actual.where(actual != 0)
    hidden = ratio[(intended >= HIDDEN_MIN) & (ratio > HIDDEN_RATIO)]
    if hidden.empty or points["of"].iloc[0].closed:
        return
    worst = points.loc[hidden.idxmax()]
    due, sent = worst["response"]
    yield _finding(
        "omission",
        worst["of"],
        f"{describe(worst['of'])}: at {worst['rate']:.4g} requests a second 99 % were answered "
        f"within {_about(sent)}{show(sent.p99)} of being sent, but only within {_about(due)}"
        f"{show(due.p99)} of being due. They waited "
        f"{'at the cap' if worst['of'].cap > 0 else 'to be sent'}, which times from sending leave "
        "out.",
    )


def _find_throttle(report: Report, points: pd.DataFrame) -> Iterator[Finding]:
    """Find what throttling adds at the lowest rate, because queueing adds least there."""
    throttled = points[points["keeps_up"] & (points["duty"] < DUTY_FULL)]
    for _, point in throttled.sort_values("rate", kind="stable").iterrows():
        full = _find_full(report, point)
        if full is not None and not point["of"].closed:
            yield _finding("stopping", point["of"], _stopping(report, point, full))
            return


def _find_full(report: Report, point: pd.Series) -> pd.Series | None:
    """Return a point of the same service at the same rate whose instances were never stopped."""
    full = _keep_up(report.rates).query(f"keeps_up and duty >= {DUTY_FULL}")
    full = full[(full["service"] == point["service"]) & (full["rate"] == point["rate"])]
    full = full[[others_permit(others, point["others"]) for others in full["others"]]]
    return None if full.empty else full.iloc[0]


def _stopping(report: Report, point: pd.Series, full: pd.Series) -> str:
    of, duty = point["of"], point["duty"]
    stopped, running = point["response"][0], full["response"][0]
    added = stopped.mean - running.mean
    sure = stopped.uncertainty.of_difference(running.uncertainty)
    interval = sure.interval(added, report.settings.confidence)
    expected = ""
    if of.tau_seconds > 0:
        expected = (
            f"; stops in rounds of {show(of.tau_seconds)} account for "
            f"{show(added_by_stops(duty, of.tau_seconds, running.mean))} if requests are few and "
            f"each takes {show(running.mean)}"
        )
    requests = point["completed"] + full["completed"]
    return (
        f"{describe(of)}: at {point['rate']:.4g} requests a second a duty of {100 * duty:.3g} % "
        f"adds {show(added)} to the mean response time ({_interval(report, interval, requests)}); "
        f"it is {show(stopped.mean)} instead of {show(running.mean)}{expected}."
    )


def _capacity(of: Responses) -> str:
    held, failed = of.capacity["held_rate"], of.capacity["failed_rate"]
    has_lower = math.isfinite(held) and not of.is_upper_bound
    has_upper = math.isfinite(failed) and not of.is_lower_bound
    if has_lower and has_upper:
        found = f"is between {held:.4g} and {failed:.4g} requests a second."
    elif has_lower:
        found = f"is above {held:.4g} requests a second"
        limit = f": at {failed:.4g}, the generator was the limit, not the service."
        found += limit if of.is_lower_bound else "."
    elif has_upper:
        found = f"is below {failed:.4g} requests a second"
        limit = f": at {held:.4g}, response times were not stationary."
        found += limit if of.is_upper_bound else "."
    else:
        found = "was not found."
    return f"the capacity for {of.demand[:40]} {found}"


def _find_doubts(of: Responses) -> Iterator[Finding]:
    """Find what makes other figures doubtful. Waiting at the cap does not make a generator late."""
    p95, all_p95 = of.successes[0].p95, of.all[0].p95
    waited = of.cap > 0 and not of.unfinished_most < of.cap
    if of.lateness_p99 >= LATE_MIN and of.lateness_p99 > LATE_SHARE * p95 and not waited:
        yield _finding(
            "late",
            of,
            f"{of.title}: the generator itself was late: 1 % of the requests were sent more than "
            f"{show(of.lateness_p99)} after they were due. Give it CPUs of its own, or another "
            "machine.",
        )
    if of.success_ratio < SUCCESSES_MIN and all_p95 > HIDDEN_RATIO * p95:
        yield _finding(
            "successes",
            of,
            f"{of.title}: only {100 * of.success_ratio:.4g} % of the requests succeeded "
            f"({of.causes or 'refused'}). The successes alone were answered within {show(p95)} "
            "(95 %); if each other request counts with the time that it waited, it is "
            f"{show(all_p95)}.",
        )


def _find_knobs(report: Report) -> Iterator[Finding]:
    """Find for each knob the pair of levels with the largest loss of capacity."""
    knobs = _knobs(report).frame
    known = knobs[knobs["lost"].notna()] if len(knobs) and "lost" in knobs else knobs[:0]
    if known.empty:
        return
    most = known.groupby(["knob", "arrival"], sort=False, dropna=False)["lost"].idxmax()
    for _, row in known.loc[known.index.isin(most)].iterrows():
        lost, saved = row["lost"], row["saved"]
        power = f", and {'costs' if saved < 0 else 'saves'} {100 * abs(saved):.1f} % of the power"
        power = "; no power was recorded" if math.isnan(saved) else power
        published = ""
        if math.isfinite(row["published_lost_percent"]):
            published = (
                f" Published for another machine ({row['published_as']}): "
                f"{row['published_lost_percent']:g} % lost, {row['published_saved_percent']:g} % "
                "of the power saved."
            )
        arrival = f" ({row['arrival']})" if row["arrival"] else ""
        yield Finding(
            "knob",
            f"{row['low_knobs']} instead of {row['high_knobs']}{arrival} "
            f"{'gains' if lost < 0 else 'loses'} {100 * abs(lost):.1f} % of the capacity, from "
            f"{row['high_capacity']:.4g} to {row['low_capacity']:.4g} requests a second{power}."
            f"{published}",
        )


QUESTIONS = {
    "capacity": "How many requests a second can it serve?",
    "rate": "How fast are the responses, and up to what rate?",
    "closed-loop": "How fast are the responses?",
}


def answer(report: Report) -> Headline | None:
    if not report.responses:
        return None
    if are_compared(report):
        found = first(report.findings, "knob")
        unknown = (
            "No two levels that differ only in one knob have a known capacity: some were "
            "overloaded at the lowest rate, or not at the highest one."
        )
        question = "What does each knob save, and what does it cost?"
        return Headline(question, "" if found else unknown, found)
    for kind, question in QUESTIONS.items():
        found = first(report.findings, kind)
        if found:
            return Headline(question, finding=found)
    return Headline(question)


def text(report: Report) -> str:
    """Return tables for the terminal. A long table of rates would hide the findings."""
    rates = report.table("requests-rates")
    shown = rates.text(
        'response time of successes from when they were due; "sent": 95 % from sending'
    )
    if len(rates) > RATES_MAX:
        shown = f"\nrequests at {len(rates)} rates: see requests-rates.csv (--output)\n"
    return (
        _knobs(report).text("what each knob saves and costs, and published figures, in percent")
        + shown
    )


def sections(report: Report) -> Iterator[Section]:
    if not report.responses:
        return
    names = "requests-limits requests-savings requests-rates requests".split()
    sheets = {name: report.table(name) for name in names}
    idle = Sheet(IDLE, df_idle(report), report.prefix)
    parts: list[Part] = [Note(str(of.notes), of.title) for of in report.responses if of.notes]
    parts += [_knobs(report), report.table("requests-rules")]
    parts.append(
        "Response times of successful requests: solid lines count from when a request was due, "
        "dashed ones from when it was sent."
    )
    parts += pictures(report)
    parts += [sheets[name] for name in names[:2]] + [idle] + [sheets[name] for name in names[2:]]
    yield Section("Requests", [p for p in parts if not isinstance(p, Sheet) or len(p)])
