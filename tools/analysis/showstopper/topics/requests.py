# SPDX-License-Identifier: Apache-2.0
"""How fast does a service answer, up to what rate, and what do its knobs save and cost?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from ..findings import Finding, Headline, first
from ..levels import PUBLISHED, are_compared, describe, df_limits, df_rules, df_savings
from ..page import Fold, Note, Part, Section
from ..rates import find_beside, origin, times
from ..request_pictures import pictures, pictures_over_time
from ..responses import DUTY_FULL, TIMES, Response, Responses, added_by_stops
from ..statistics import Interval
from ..studies import Report, others_permit
from ..tables import Sheet, Table

RATES_MAX = 40  # rates that the terminal shows
OPEN_MAX = 6  # more pictures over time are folded

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


def df_held(report: Report) -> pd.DataFrame:
    """Return a row for each record of a service that was held at loads."""
    held = [of for of in report.responses if of.held]
    rows: list[dict[str, Any]] = [origin(of) | {"held_load": of.load} | of.held for of in held]
    return pd.DataFrame(rows)


REQUESTS = Table(
    "requests",
    "Requests: response times of the successes, from when they were due (intended) and from when "
    "they were sent (actual)",
    "record (set) state verdict version workload method (environment) (throttle_target) (round) "
    "targets loop profile arrival cap when_full timeout_seconds (duration_seconds) intended sent "
    "refused waiting unfinished succeeded failed timeouts causes success_ratio throughput "
    "unfinished_most bytes lateness_p99_seconds lateness_most_seconds intended_mean_seconds "
    "intended_p50_seconds intended_p95_seconds intended_p99_seconds intended_most_seconds "
    "actual_mean_seconds actual_p50_seconds actual_p95_seconds actual_p99_seconds "
    "actual_most_seconds all_intended_mean_seconds all_intended_p95_seconds "
    "all_intended_p99_seconds all_actual_mean_seconds all_actual_p95_seconds "
    "all_actual_p99_seconds (percentiles) own_cpu_seconds others joined notes variant demand "
    "held_rate held_times failed_rate failed_times",
    df_requests,
    shade="verdict",
    about="A row for each record of requests: verdict, settings, the number of requests by "
    "outcome, response times of successes and, in the columns that begin with `all_`, of "
    "all requests, and the capacity if one was searched.",
)
RATES = Table(
    "requests-rates",
    "Response times by rate",
    "record (set) workload method (environment) throttle_target (round) knobs balance cap step "
    "begin_seconds end_seconds seconds rate throughput due (sent) (refused) completed (failed) "
    "timeouts success_ratio lateness_most_seconds intended_mean_seconds intended_p50_seconds "
    "intended_p95_seconds intended_p99_seconds intended_most_seconds actual_mean_seconds "
    "actual_p50_seconds actual_p95_seconds actual_p99_seconds actual_most_seconds percentiles "
    "intended_mean_low_seconds intended_mean_high_seconds load target duty watts watts_deviation "
    "watts_seconds idle_watts state saturated others variant (frequency_mhz) (active) "
    "(active_deviation)",
    lambda report: report.rates,
    about="A row for each rate of each record: response times, and load, duty and power of the "
    "same time. If a run has several rates, requests that still wait or have no answer "
    "when a rate ends count where they end, those without an answer in the end at the last "
    "rate.",
)
HELD = Table(
    "requests-held",
    "Services held at a load by the rate of their requests",
    "record (set) workload held_load (cpus) (seconds) target_mean load_mean error_mean_percent "
    "error_mse_e4 overshoot_percent settled_seconds cpu_seconds_per_request rate rate_low rate_high "
    "background_cpus limited_seconds",
    df_held,
    about="A row for each record of a service that `ssrequest` held at a load, or at those of a "
    "trace: how close it was, and the rate at which it has the load.",
)
LIMITS = Table(
    "requests-limits",
    "Underloaded: rates at which the mean is below 1 s and 95 % are below 2 s",
    "(set) workload method (environment) throttle_target arrival knobs balance cap rates counted "
    "criterion limit_seconds last_rate first_rate crossing_rate variant",
    df_limits,
    about="Up to which rate each service is underloaded: at each lower rate the mean response "
    "time is below 1 s and the 95th percentile below 2 s. Services that differ in a column "
    "of the plan, such as the size of requests, are different services.",
)
SAVINGS = Table(
    "requests-savings",
    "Power saved and capacity lost between two levels of a service, at the highest common rate, and "
    "published figures (Table 7, another machine)",
    "knob high_knobs low_knobs high low rate saturated high_watts low_watts saved high_capacity "
    "low_capacity lost lost_per_saved (arrival) published_as published_saved_percent "
    "published_lost_percent published_lost_per_saved",
    df_savings,
    about="What a service saves and loses between two levels at the highest rate that both have, "
    "next to published figures (Table 7). The comparison is fair if both are `saturated`.",
)
RULES = Table(
    "requests-rules",
    "Published statements about knobs, tested on these runs",
    "statement source verdict difference low high runs rate first second arrival (balance) why",
    df_rules,
    about="Published statements about knobs, arrivals and balances, each tested on the means of "
    "the runs.",
)
TABLES = (REQUESTS, HELD, RATES, LIMITS, SAVINGS, RULES)


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
    if of.is_held:
        yield _finding("load", of, f"{describe(of)}: {_at_loads(points)}")
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


def _at_loads(points: pd.DataFrame) -> str:
    """Compare the lowest load with the highest one; each is a mean over its runs."""
    columns = ["load", "throughput", "intended_mean_seconds", "intended_p99_seconds"]
    missed = points["of"].map(lambda of: of.is_out_of_reach)
    points = points.assign(level=points["target"].round(6), missed=missed)
    by_level = points.groupby("level", sort=True, dropna=True)
    levels = by_level[[*columns, "missed"]].mean()
    parts = []
    for _, level in levels.iloc[[0, -1] if len(levels) > 1 else [0]].iterrows():
        beyond = f" ({100 * level.name:.3g} % was out of reach)" if level["missed"] else ""
        parts.append(
            f"at {100 * level['load']:.3g} % load{beyond} it answers {level['throughput']:.4g} "
            f"requests a second, on average {show(level['intended_mean_seconds'])} after they "
            f"were due, and 99 % of them within {show(level['intended_p99_seconds'])}"
        )
    return f"{'; '.join(parts)}."


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
    savings = report.table("requests-savings").frame
    if savings.empty or not are_compared(report):
        return
    known = savings[savings["lost"].notna() & savings["knob"].isin(PUBLISHED)]
    known = known.sort_values("knob", key=lambda knob: knob.map([*PUBLISHED].index), kind="stable")
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
    "load": "How fast are the responses at a load?",
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
    title = "what each knob saves and costs, and published figures, in percent"
    savings = report.table("requests-savings")
    return (savings.text(title) if are_compared(report) else "") + shown


def sections(report: Report) -> Iterator[Section]:
    if not report.responses:
        return
    names = "requests-held requests-limits requests-rates requests".split()
    parts: list[Part] = [Note(str(of.notes), of.title) for of in report.responses if of.notes]
    parts += [report.table("requests-savings"), report.table("requests-rules")]
    parts.append(
        "Response times of successful requests: solid lines count from when a request was due, "
        "dashed ones from when it was sent."
    )
    parts += pictures(report)
    over_time: list[Part] = list(pictures_over_time(report))
    if len(over_time) > OPEN_MAX:
        over_time = [Fold(f"Response times over time: {len(over_time)} records", over_time)]
    parts += over_time
    parts += [report.table(name) for name in names]
    yield Section("Requests", [p for p in parts if not isinstance(p, Sheet) or len(p)])
