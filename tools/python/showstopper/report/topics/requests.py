# SPDX-License-Identifier: Apache-2.0
"""How fast does a service answer, and up to what rate?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from .. import figures as f
from ... import rates
from ...contents import number_of
from ...levels import df_limits
from ...rates import df_rates
from ...requests import RESPONSES, TIMES
from ...stats import Uncertainty
from ...study import Study, disturbed, permitted
from ..findings import Finding
from ..tables import Table

PICTURED_MAX = 40  # more records than this have no pictures of their own
SERIES_MAX = 8  # in a picture; the tables have all of them
COLUMNS_MAX = 200  # of a picture over time: more seconds are merged
LINED_MAX = 60  # more points, which probably come from a trace, are not joined by lines
DUTY_FULL = 0.995  # runs with at least this duty count as never stopped in comparisons

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


def df_requests(study: Study) -> pd.DataFrame:
    """Return a row for each record: what happened to its requests, and what capacity it found."""
    rows = study.once(rates.df_requests)
    if rows.empty:
        return rows
    names = [study.records[at].name if at >= 0 else "" for at in rows["run"]]
    known = rows["intended_p95_seconds"].notna()
    counted = np.where(known, np.where(rows["estimated"], "estimated", "counted"), "")
    has_demand = rows["demand"] != ""
    capacity = {name: rows[name].where(has_demand) for name in ("held_rate", "failed_rate")}
    notes = [one.note for one in study.requests]
    return rows.assign(joined=names, percentiles=counted, notes=notes, **capacity)


def df_held(study: Study) -> pd.DataFrame:
    """Return a row for each record of a service that was held at loads."""
    rows = study.once(rates.df_requests)
    if rows.empty:
        return rows
    held = rows[rows["profile"] == "load"]
    found = [study.requests[at].document["held"] for at in held.index]
    figures = [{name: number_of(one, name) for name in one} for one in found]
    names = ["record", "set", "workload", "held_load"]
    return held[names].join(pd.DataFrame(figures, held.index))


TABLES = {
    "requests": Table(
        "Requests: response times of the successes, from when they were due (intended) and from "
        "when they were sent (actual)",
        "record (set) state verdict version workload method (environment) (throttle_target) "
        "(round) targets loop profile arrival cap when_full timeout_seconds (duration_seconds) "
        "intended sent refused waiting unfinished succeeded failed timeouts causes success_ratio "
        "throughput unfinished_most bytes lateness_p99_seconds lateness_most_seconds "
        f"{' '.join(RESPONSES)} all_intended_mean_seconds all_intended_p95_seconds "
        "all_intended_p99_seconds all_actual_mean_seconds all_actual_p95_seconds "
        "all_actual_p99_seconds (percentiles) own_cpu_seconds others joined notes variant demand "
        "held_rate held_times failed_rate failed_times",
        df_requests,
        shade="verdict",
        about="A row for each record of requests: verdict, settings, the number of requests by "
        "outcome, response times of successes and, in the columns that begin with `all_`, of "
        "all requests, and the capacity if one was searched.",
    ),
    "requests-held": Table(
        "Services held at a load by the rate of their requests",
        "record (set) workload held_load (cpus) (seconds) target_mean load_mean "
        "error_mean_percent error_mse_e4 overshoot_percent settled_seconds "
        "cpu_seconds_per_request rate rate_low rate_high background_cpus limited_seconds",
        df_held,
        about="A row for each record of a service that `ssrequest` held at a load, or at those of "
        "a trace: how close it was, and the rate at which it has the load.",
    ),
    "requests-rates": Table(
        "Response times by rate",
        "record (set) workload method (environment) throttle_target (round) knobs balance cap "
        "step begin_seconds end_seconds seconds rate throughput due (sent) (refused) completed "
        f"(failed) timeouts success_ratio lateness_most_seconds {' '.join(RESPONSES)} percentiles "
        "intended_mean_low_seconds intended_mean_high_seconds load target duty watts "
        "watts_deviation watts_seconds idle_watts state saturated others variant "
        "(frequency_mhz) (active) (active_deviation)",
        df_rates,
        terminal="response time of successes from when they were due; \"sent\": 95 % from sending",
        about="A row for each rate of each record: response times, and load, duty and power of "
        "the same time. If a run has several rates, requests that still wait or have no answer "
        "when a rate ends count where they end, those without an answer in the end at the last "
        "rate.",
    ),
    "requests-limits": Table(
        "Underloaded: rates at which the mean is below 1 s and 95 % are below 2 s",
        "(set) workload method (environment) throttle_target arrival knobs balance cap rates "
        "counted criterion limit_seconds last_rate first_rate crossing_rate variant",
        df_limits,
        about="Up to which rate each service is underloaded: at each lower rate the mean response "
        "time is below 1 s and the 95th percentile below 2 s. Services that differ in a column "
        "of the plan, such as the size of requests, are different services.",
    ),
}


def notes(study: Study) -> None:
    requests, found = study.once(rates.df_requests), study.once(df_rates)
    alone = {run.source.set for run in study.records if not run.source.study}
    for at, one in enumerate(study.requests):
        is_alone = one.source.set in alone and not one.source.study
        if is_alone and requests.loc[at, "run"] < 0:
            one.notes.append("no record of showstopper covers the same time")
        own = found["estimated"][found["of"] == at] if len(found) else []
        if any([requests.loc[at, "estimated"], *own]):
            one.notes.append(
                "its percentiles over several seconds are estimated from the percentiles of each "
                f"second, because it has no complete {TIMES}"
            )


# Sentences


def show(seconds: float) -> str:
    """Return a time with three digits: "1.25 s", "14.2 ms"."""
    if not math.isfinite(seconds):
        return "unknown"
    short = abs(seconds) < 0.9995
    number = 1000 * seconds if short else seconds
    decimals = 2 if abs(number) < 9.995 else 1
    if abs(number) >= 99.95:
        decimals = 0
    return f"{number:.{decimals}f} {'ms' if short else 's'}"


def _about(point: pd.Series) -> str:
    return "about " if point["estimated"] else ""


def _interval(study: Study, mean: float, sure: Uncertainty, requests: float, least: float) -> str:
    """Return "95 %: 1.20 s to 1.50 s, of 42 requests"."""
    interval = sure.interval(mean, study.settings.confidence)
    if not math.isfinite(interval.low):
        return f"{requests:.0f} requests, which give no interval"
    low, high = show(max(interval.low, least)), show(interval.high)
    return f"{100 * study.settings.confidence:g} %: {low} to {high}, of {requests:.0f} requests"


def added_by_stops(duty: float, tau: float, work: float) -> float:
    """Return what stops add to the mean response time if requests are few and each takes `work`.

    `tau` is the time from one stop to the next. See showstopper-requests(7), "Requests with work".
    """
    turns = max(math.ceil(work / (duty * tau)), 1)
    return (1 - duty) ** 2 * tau * (turns - 0.5) + (1 - duty) * work


def keeps_up(rows: pd.DataFrame) -> pd.Series:
    """Return whether the service keeps up with each rate."""
    due = rows["due"]
    succeeds = rows["step"].notna() | (rows["success_ratio"] >= SUCCESSES_MIN)
    few_failed = rows["failed"] <= (1 - SUCCESSES_MIN) * due
    in_time = rows["in_time"] * due >= IN_TIME_MIN * due - 1
    return (due > 0) & succeeds & few_failed & in_time


QUESTIONS = {
    "capacity": "How many requests a second can it serve?",
    "load": "How fast are the responses at a load?",
    "rate": "How fast are the responses, and up to what rate?",
    "closed-loop": "How fast are the responses?",
}


def _first(study: Study) -> tuple[str, str]:
    """Return the kind of the finding that answers, and its sentence."""
    found = study.once(_find)
    for kind in QUESTIONS:
        for finding in found:
            if finding.kind == kind:
                return kind, finding.sentence
    return "closed-loop", ""


def question(study: Study) -> str:
    return QUESTIONS[_first(study)[0]] if study.requests else ""


def answer(study: Study) -> str:
    return _first(study)[1]


def findings(study: Study) -> Iterator[Finding]:
    yield from study.once(_find)


def _find(study: Study) -> list[Finding]:
    requests, points = study.once(rates.df_requests), study.once(df_rates)
    found = [
        _finding("capacity", row, f"{row['name']}: {_capacity(row)}")
        for _, row in requests.iterrows()
        if row["demand"]
    ]
    if len(points):
        points = points.assign(keeps_up=keeps_up(points))
        for _, series in points.groupby("series", sort=False, dropna=False):
            found += _find_series(study, series)
            found += _find_hidden(study, series)
            found += _find_throttle(study, series, points)
    return found + [one for _, row in requests.iterrows() for one in _find_doubts(row)]


def _finding(kind: str, row: pd.Series, sentence: str) -> Finding:
    environment = row["environment"] if row["environment"] not in ("", "none") else "host"
    return Finding(
        kind, sentence, environment=environment, foreground=row["workload"], of="requests",
        set=row["set"],
    )  # fmt: skip


def _capacity(row: pd.Series) -> str:
    held, failed = row["held_rate"], row["failed_rate"]
    has_lower = math.isfinite(held) and not row["is_upper_bound"]
    has_upper = math.isfinite(failed) and not row["is_lower_bound"]
    found = "was not found."
    if has_lower and has_upper:
        found = f"is between {held:.4g} and {failed:.4g} requests a second."
    elif has_lower:
        limit = f": at {failed:.4g}, the generator was the limit, not the service."
        found = f"is above {held:.4g} requests a second{limit if row['is_lower_bound'] else '.'}"
    elif has_upper:
        limit = f": at {held:.4g}, response times were not stationary."
        found = f"is below {failed:.4g} requests a second{limit if row['is_upper_bound'] else '.'}"
    return f"the capacity for {row['demand'][:40]} {found}"


def _find_series(study: Study, points: pd.DataFrame) -> Iterator[Finding]:
    """Find the last rate that a service keeps up with, or what it does at loads."""
    first = points.iloc[0]
    if first["loop"] == "closed":
        yield _finding(
            "closed-loop",
            first,
            f"{first['name']}: a closed loop answered {first['throughput']:.4g} requests a second. "
            "Its clients wait for each answer, so its response times say nothing about requests "
            "that arrive independently.",
        )
        return
    if first["is_held"]:
        yield _finding("load", first, f"{first['name']}: {_at_loads(points)}")
        return
    fails = points[~points["keeps_up"]].sort_values("rate", kind="stable").head(1)
    limit = fails["rate"].min() if len(fails) else math.inf
    part = f"{100 * fails['in_time'].max():.4g} % of the requests due succeeded"
    kept = points[points["keeps_up"] & (points["rate"] < limit)]
    if len(kept):
        last = kept.loc[kept["rate"].idxmax()]
        beyond = f", but not with {limit:.4g} ({part} while that rate lasted)" if len(fails) else ""
        yield _finding("rate", last, _at_rate(study, last, beyond))
    elif len(fails):
        yield _finding(
            "rate",
            first,
            f"{first['name']}: does not even keep up with {limit:.4g} requests a second, the "
            f"lowest rate tried: {part} while it lasted.",
        )


def _at_rate(study: Study, point: pd.Series, beyond: str) -> str:
    mean, sure = point["intended_mean_seconds"], Uncertainty(point["error"], point["freedom"])
    return (
        f"{point['name']}: keeps up with {point['rate']:.4g} requests a second{beyond}. At "
        f"{point['rate']:.4g} the response time is {show(mean)} on average "
        f"({_interval(study, mean, sure, point['completed'], 0)}) and at most {_about(point)}"
        f"{show(point['intended_p95_seconds'])} for 95 % of the requests, from when they were due."
    )


def _at_loads(points: pd.DataFrame) -> str:
    """Compare the lowest load with the highest one; each is a mean over its runs."""
    names = ["load", "throughput", "intended_mean_seconds", "intended_p99_seconds"]
    by_level = points.groupby(points["target"].round(6), sort=True, dropna=True)
    levels = by_level[[*names, "is_out_of_reach"]].mean()
    parts = []
    for target, level in levels.iloc[[0, -1] if len(levels) > 1 else [0]].iterrows():
        beyond = f" ({100 * target:.3g} % was out of reach)" if level["is_out_of_reach"] else ""
        parts.append(
            f"at {100 * level['load']:.3g} % load{beyond} it answers {level['throughput']:.4g} "
            f"requests a second, on average {show(level['intended_mean_seconds'])} after they "
            f"were due, and 99 % of them within {show(level['intended_p99_seconds'])}"
        )
    return f"{'; '.join(parts)}."


def _find_hidden(study: Study, points: pd.DataFrame) -> Iterator[Finding]:
    """Find the point at which times from due exceed times from sending by the largest factor."""
    intended, actual = points["intended_p99_seconds"], points["actual_p99_seconds"]
    ratio = intended / actual.where(actual != 0)
    hidden = ratio[(intended >= HIDDEN_MIN) & (ratio > HIDDEN_RATIO) & points["loop"].eq("open")]
    if hidden.empty:
        return
    worst = points.loc[hidden.idxmax()]
    has_cap = study.once(rates.df_requests).loc[worst["of"], "cap"] > 0
    yield _finding(
        "omission",
        worst,
        f"{worst['name']}: at {worst['rate']:.4g} requests a second 99 % were answered within "
        f"{_about(worst)}{show(worst['actual_p99_seconds'])} of being sent, but only within "
        f"{_about(worst)}{show(worst['intended_p99_seconds'])} of being due. They waited "
        f"{'at the cap' if has_cap else 'to be sent'}, which times from sending leave out.",
    )


def _find_throttle(study: Study, points: pd.DataFrame, all_: pd.DataFrame) -> Iterator[Finding]:
    """Find what throttling adds at the lowest rate, because queueing adds least there."""
    throttled = points["keeps_up"] & (points["duty"] < DUTY_FULL) & points["loop"].eq("open")
    # Points to compare with: their instances were never stopped.
    full = all_[all_["keeps_up"] & (all_["duty"] >= DUTY_FULL)]
    for _, point in points[throttled].sort_values("rate", kind="stable").iterrows():
        same = full[(full["service"] == point["service"]) & (full["rate"] == point["rate"])]
        same = same[permitted(same["others"], point["others"])]
        if len(same):
            yield _finding("stopping", point, _stopping(study, point, same.iloc[0]))
            return


def _stopping(study: Study, point: pd.Series, full: pd.Series) -> str:
    duty, tau = point["duty"], point["tau_seconds"]
    stopped, running = point["intended_mean_seconds"], full["intended_mean_seconds"]
    one, other = (Uncertainty(row["error"], row["freedom"]) for row in (point, full))
    requests, added = point["completed"] + full["completed"], stopped - running
    sure = _interval(study, added, one.of_difference(other), requests, -math.inf)
    expected = ""
    if tau > 0:
        expected = (
            f"; stops in rounds of {show(tau)} account for "
            f"{show(added_by_stops(duty, tau, running))} if requests are few and each takes "
            f"{show(running)}"
        )
    return (
        f"{point['name']}: at {point['rate']:.4g} requests a second a duty of {100 * duty:.3g} % "
        f"adds {show(added)} to the mean response time ({sure}); it is {show(stopped)} instead of "
        f"{show(running)}{expected}."
    )


def _find_doubts(row: pd.Series) -> Iterator[Finding]:
    p95, all_p95 = row["intended_p95_seconds"], row["all_intended_p95_seconds"]
    lateness = row["lateness_p99_seconds"]
    waited = row["cap"] > 0 and not row["unfinished_most"] < row["cap"]
    if lateness >= LATE_MIN and lateness > LATE_SHARE * p95 and not waited:
        yield _finding(
            "late",
            row,
            f"{row['title']}: the generator itself was late: 1 % of the requests were sent more "
            f"than {show(lateness)} after they were due. Give it CPUs of its own, or another "
            "machine.",
        )
    if row["success_ratio"] < SUCCESSES_MIN and all_p95 > HIDDEN_RATIO * p95:
        yield _finding(
            "successes",
            row,
            f"{row['title']}: only {100 * row['success_ratio']:.4g} % of the requests succeeded "
            f"({row['causes'] or 'refused'}). 95 % of the successes were answered within "
            f"{show(p95)}; with the time that each other request waited, this becomes "
            f"{show(all_p95)}.",
        )


# Figures

DRAWN = {
    "mean": ("mean", f.GREEN, "o"),
    "p50": ("50 %", f.BLUE, "^"),
    "p95": ("95 %", f.AMBER, "s"),
    "p99": ("99 %", f.ORANGE, "v"),
}
# The horizontal axes: the factor of the column, and what readers see.
AXES = {
    "rate": (1, "request rate, /s", "Response time against rate"),
    "load": (100, "CPU load observed, %", "Response time against CPU load"),
    "duty": (100, "duty, %", "Response time against duty"),
}
HOW = "Solid lines count from when a request was due, dashed ones from when it was sent."


def figures(study: Study) -> Iterator[f.Picture]:
    found = study.once(df_rates)
    if len(found):
        drawn = found[found["loop"].eq("open") & found["intended_mean_seconds"].notna()]
        for _, service in drawn.groupby("service", sort=False, dropna=False):
            yield from _of_service(service)
    for at, one in enumerate(study.requests if len(study.requests) <= PICTURED_MAX else ()):
        if len(one.seconds) > 1:
            yield f.Picture("Response times and requests", plot_times(study, at), one.title)


def _of_service(service: pd.DataFrame) -> Iterator[f.Picture]:
    name = service["workload"].iloc[0]
    by_series = service.groupby("series", sort=False, dropna=False)
    several = [points for _, points in by_series if points["rate"].nunique() > 1]
    if len(several) > 1:
        how = "From when requests were due"
        yield f.Picture(f"All series of {name or 'these'}", plot_series(several), how=how)
    counts = service.groupby("rate", sort=True, dropna=True)["duty"].count()
    if counts.any():  # at the rate with the most duties
        rate = counts.idxmax()
        at_rate = f"{name or service['name'].iloc[0]}, {rate:.6g}/s"
        yield from _picture(service[service["rate"] == rate], "duty", at_rate)
    for _, points in by_series:
        for axis in ("rate", "load"):
            yield from _picture(points, axis, points["name"].iloc[0])


def _picture(points: pd.DataFrame, axis: str, name: str) -> Iterator[f.Picture]:
    known = points[points[axis].notna()].sort_values(axis, kind="stable")
    if known[axis].nunique() > 1:
        yield f.Picture(f"{AXES[axis][2]}: {name}", plot_points(known, axis), how=HOW)


def _milliseconds(seconds: Any) -> Any:
    """Return times in milliseconds; NaN for 0, which a logarithmic axis cannot show."""
    times = 1000 * np.asarray(seconds, dtype=float)
    return np.where((times > 0) & np.isfinite(times), times, math.nan)


@f.drawing
def plot_points(points: pd.DataFrame, axis: str = "rate") -> Any:
    """Draw response times of points from left to right."""
    factor, name, _ = AXES[axis]
    x, (fig, ax) = factor * points[axis], f.new()
    if axis == "duty":
        _draw_expected(ax, points)
    follows_trace = points["is_held"] & ~points["is_at_load"]
    lined = len(points) <= LINED_MAX and not follows_trace.any()
    for figure, (label, color, marker) in DRAWN.items():
        due, sent = (_milliseconds(points[f"{o}_{figure}_seconds"]) for o in ("intended", "actual"))
        titles = [f"{title}: {value:.4g} ms" for title, value in zip(points["title"], due)]
        f.points(ax, x, due, titles, color=color, marker=marker, label=label)
        if lined:
            ax.plot(x, due, color=color)
        ax.plot(x, sent, "--" if lined else "o", color=color, markersize=3, fillstyle="none")
    bad = disturbed(points["others"])
    f.rings(ax, x[bad], _milliseconds(points["intended_p95_seconds"][bad]), "disturbed")
    f.logarithmic(ax)
    ax.set(xlabel=name, ylabel="response time, ms")
    ax.set_xlim(0, 100 if axis == "duty" else None)
    f.legend(ax, 3)
    return fig


def _draw_expected(ax: Any, points: pd.DataFrame) -> None:
    """Draw the mean response time that is expected if requests are few. A point must have no stops,
    and all others the same tau."""
    stopped = points["duty"] < DUTY_FULL
    taus = {*points["tau_seconds"][stopped]}
    if stopped.all() or len(taus) != 1 or not min(taus) > 0:
        return
    work, tau = points["intended_mean_seconds"][~stopped].iloc[0], taus.pop()
    duties = np.arange(1, 201) / 200
    means = [work + added_by_stops(duty, tau, work) for duty in duties]
    ax.plot(100 * duties, _milliseconds(means), color=f.GRID, linewidth=4, label="mean expected")


@f.drawing
def plot_series(series: list[pd.DataFrame]) -> Any:
    fig, ax = f.new()
    for number, points in enumerate(series[:SERIES_MAX]):
        name, color = points["level"].iloc[0] or points["title"].iloc[0], f.color_of(number)
        points = points.sort_values("rate", kind="stable")
        x, y = points["rate"], _milliseconds(points["intended_p95_seconds"])
        titles = [f"{name}: {value:.4g}" for value in y]
        ax.plot(x, y, color=color)
        f.points(ax, x, y, titles, color=color, marker=f.marker_of(number), label=name[:40])
    f.logarithmic(ax)
    ax.set(xlim=(0, None), xlabel="request rate, /s", ylabel="95 % answered within, ms")
    f.legend(ax, 2)
    return fig


@f.drawing
def plot_times(study: Study, at: int) -> Any:
    """Draw response times, requests and, if it is known, the load over time."""
    one, rows = study.requests[at], df_times(study, at)
    has_load = rows["load"].notna().any()
    fig, axes = f.new(2 + has_load, fixed=True, sharex=True)
    x = rows["time"] / f.time_axis(axes[-1], float(one.seconds["end"].iloc[-1]))
    for figure, (label, color, _) in DRAWN.items():
        axes[0].plot(x, _milliseconds(rows[f"intended_{figure}_seconds"]), color=color, label=label)
    sent = _milliseconds(rows["actual_p95_seconds"])
    axes[0].plot(x, sent, "--", color=f.GRAY, label="95 % from sending")
    estimated = ", percentiles estimated" if rows["estimated"].any() else ""
    f.logarithmic(axes[0])
    axes[0].set(ylabel=f"response time, ms{estimated}")
    for name, color in (("due", f.AXIS), ("succeeded", f.SKY), ("failed or refused", f.BROWN)):
        axes[1].plot(x, rows[name], color=color, label=name)
    axes[1].set(ylabel="requests, /s", ylim=(0, None))
    if has_load:
        if one.is_held:
            axes[2].plot(x, 100 * rows["target"], color=f.AXIS, linewidth=4, label="target")
        axes[2].plot(x, 100 * rows["load"], color=f.PURPLE, label="load")
        axes[2].set(ylabel="CPU load, %", ylim=(0, None))
    for ax in axes:
        f.legend(ax, 5)
    return fig


def df_times(study: Study, at: int) -> pd.DataFrame:
    """Return a row for each column of a picture over time."""
    one, request = study.requests[at], study.once(rates.df_requests).loc[at]
    found = []
    length = len(one.seconds) // COLUMNS_MAX + 1
    for _, part in one.seconds.groupby(
        np.arange(len(one.seconds)) // length, sort=False, dropna=False
    ):
        begin, end, to = part["begin"].iloc[0], part["end"].iloc[-1], part["at"].iloc[-1]
        counts = part[["due", "completed", "failed", "refused"]].sum() / (end - begin)
        joined = rates.join(study, request, one, to - (end - begin), to)
        found.append(
            one.response(part)
            | {name: joined[name] for name in ("load", "target")}
            | {"time": (begin + end) / 2, "due": counts["due"], "succeeded": counts["completed"]}
            | {"failed or refused": counts["failed"] + counts["refused"]}
        )
    return pd.DataFrame(found)

