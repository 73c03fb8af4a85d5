# SPDX-License-Identifier: Apache-2.0
"""Records over time, in the JSON trace format of https://ui.perfetto.dev (--perfetto).

Viewers show each record as a process, with the run as its main thread and the instances as further
threads. They require the numbers of processes and threads to be unique.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from .records import INSTANCES_MAX, Record
from .study import Study
from .text import UserError

SECONDS_MAX = 1e12  # damaged records may contain any time
RUN = 0  # the track of the run; instance n has the track n + 1

Event = dict[str, Any]
Group = tuple[Event, ...]  # events that are left out together if one is at an impossible time


def _event(phase: str, track: int, at: float, **more: Any) -> Event:
    return {"ph": phase, "tid": track, "ts": at} | more


def _name(kind: str, track: int, name: str) -> Group:
    return (_event("M", track, 0, name=kind, args={"name": name}),)


def _counter(at: float, name: str, **values: float) -> Iterator[Group]:
    """Yield a counter with several values, which viewers draw in one track."""
    known = {key: float(f"{value:.6g}") for key, value in values.items() if math.isfinite(value)}
    if known:
        yield (_event("C", RUN, at, name=name, args=known),)


# Runs


def _samples(record: Record, start: float) -> Iterator[Group]:
    rows = record.samples.to_dict("records")
    # The last values are written twice, so that viewers draw them up to the end.
    for at, row in [*((row["begin"], row) for row in rows), (record.end, rows[-1])]:
        time = start + record.clock.elapsed(at)
        yield from _counter(time, "load, %", target=100 * row["target"], load=100 * row["load"])
        yield from _counter(time, "duty, %", duty=100 * row["duty"])


def _states(record: Record, start: float) -> Iterator[Group]:
    try:
        decisions = record.decisions
    except UserError:  # reading the record has noted this
        return
    ends: dict[int, float] = {}
    # In the warm-up, times are unknown.
    for row in decisions[decisions["elapsed"].notna()].itertuples():
        track = int(row.instance) + 1
        # Recorded times are rounded, so a state may begin before the previous one ends. Viewers
        # drop overlapping slices.
        begin = max(start + row.elapsed, ends.get(track, -math.inf))
        end = ends[track] = max(start + row.elapsed + row.seconds, begin)
        length = _microseconds(end) - _microseconds(begin)
        name = "running" if row.running else "stopped"
        yield (_event("X", track, begin, dur=round(length, 3), name=name),)


def _iterations(record: Record, start: float, numbers: Iterator[int]) -> Iterator[Group]:
    for row in record.iterations.dropna().itertuples():
        track = int(row.instance) + 1
        begin, end = (start + record.clock.elapsed(at) for at in (row.start, row.end))
        # Unlike slices, spans of the same name may overlap.
        name = f"instance {row.instance:.0f}: iteration"
        more = {"id2": {"local": f"{next(numbers):x}"}, "cat": "span", "name": name}
        yield _event("b", track, begin, **more), _event("e", track, end, **more)


def _events(record: Record, start: float) -> Iterator[Group]:
    rows = record.events[np.isfinite(record.events["elapsed_seconds"])]
    for row in rows[rows["event"] != ""].itertuples():
        known = 0 <= row.instance < INSTANCES_MAX
        track, scope = (int(row.instance) + 1, "t") if known else (RUN, "p")
        yield (_event("i", track, start + row.elapsed_seconds, s=scope, name=row.event),)


def _run(record: Record, start: float, numbers: Iterator[int]) -> Iterator[Group]:
    yield _name("thread_name", RUN, "run")
    most = int(record.instance_count) if 0 < record.instance_count <= INSTANCES_MAX else 0
    parts = itertools.chain(
        _samples(record, start), _states(record, start), _iterations(record, start, numbers),
        _events(record, start),
    )
    for group in parts:
        most = max(most, group[0]["tid"])
        yield group
    for instance in range(most):
        yield _name("thread_name", instance + 1, f"instance {instance}")


# Requests


def _requests(requests: Any, start: float) -> Iterator[Group]:
    yield _name("thread_name", RUN, "run")
    seconds = requests.seconds.to_dict("records")
    for at, second in [(s["begin"], s) for s in seconds] + [(s["end"], s) for s in seconds[-1:]]:
        length = second["end"] - second["begin"]  # the last one may be shorter
        rates = {name: second[name] / length for name in ("sent", "completed", "failed")}
        yield from _counter(start + at, "requests, /s", **rates)
        mean, p95 = (1e3 * second[f"intended_{name}_seconds"] for name in ("mean", "p95"))
        yield from _counter(start + at, "response time, ms", mean=mean, **{"95 %": p95})
        unfinished = second["unfinished"]
        yield from _counter(start + at, "unfinished requests", unfinished=unfinished)


# All


def _walls(study: Study) -> list[tuple[Any, float]]:
    """Return all records, and when they began, in seconds since 1970."""
    runs = [(record, record.wall) for record in study.records]
    requests: list[Any] = study.requests
    return runs + [(one, one.figures["begin_epoch_seconds"]) for one in requests]


def _all(walls: list[tuple[Any, float]], unknown: float, origin: float) -> Iterator[Group]:
    process, numbers = 1, itertools.count()
    for record, wall in walls:
        start = (unknown if math.isnan(wall) else wall) - origin
        is_run = isinstance(record, Record)
        found = _run(record, start, numbers) if is_run else _requests(record, start)
        last = RUN
        for group in itertools.chain([_name("process_name", RUN, record.title)], found):
            for event in group:
                last = max(last, event["tid"])
                event |= {"pid": process, "tid": process + event["tid"]}
            yield group
        process += 1 + last


def _microseconds(seconds: float) -> float:
    """Round to nanoseconds, so that a slice's beginning and length add up to its end."""
    return float(np.rint(1e9 * seconds)) / 1e3


def _are_times(group: Group) -> bool:
    return all(
        abs(event["ts"]) <= SECONDS_MAX and event.get("dur", 0) <= 1e6 * SECONDS_MAX
        for event in group
    )


def write(stream: IO[str], study: Study) -> int:
    """Write all records; return the number of events that were left out."""
    walls = _walls(study)
    if not walls:
        raise UserError(
            "--perfetto needs a record of showstopper or ssrequest: none of the given folders "
            "holds one"
        )
    # Viewers store microseconds as doubles, which cannot represent those since 1970 exactly.
    origin = math.floor(min((wall for _, wall in walls if math.isfinite(wall)), default=0))
    # Perfetto drops events before time 0, such as the warm-up, which precedes the start.
    known = (group for group in _all(walls, origin, origin) if _are_times(group))
    first = math.floor(min(event["ts"] for group in known for event in group))
    stream.write('{"displayTimeUnit":"ms","traceEvents":[')
    left_out, separator = 0, "\n"
    for group in _all(walls, origin, origin + first):
        left_out += not _are_times(group)
        for event in group if _are_times(group) else ():
            event["ts"] = _microseconds(event["ts"])
            stream.write(separator + json.dumps(event, ensure_ascii=False))
            separator = ",\n"
    stream.write("\n]}\n")
    return left_out
