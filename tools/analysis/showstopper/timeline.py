# SPDX-License-Identifier: Apache-2.0
"""Records over time, in the JSON trace format of https://ui.perfetto.dev (--perfetto).

Viewers show each record as a process, with the run as its main thread and the instances as further
threads. They require the numbers of processes and threads to be unique.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from .records import INSTANCES_MAX, Record
from .studies import Report
from .text import UserError, number_of, text_of

SECONDS_MAX = 1e12  # damaged records may contain any time
RUN = 0  # the track of the run; instance n has the track n + 1


@dataclass
class _Writer:
    """Writes events. Times are seconds after the origin."""

    stream: IO[str] | None  # None: only find the earliest event
    origin: float  # seconds since 1970
    earliest: float = 0.0
    events: int = 0
    spans: int = 0
    left_out: int = 0
    process: int = 0
    instances: int = 0
    state_end: dict[int, float] = field(default_factory=dict)

    def event(self, phase: str, track: int, at: float, **more: Any) -> None:
        self.earliest = min(self.earliest, at)
        self.events += 1
        if self.stream is None:
            return
        head = f'"ph":"{phase}","pid":{self.process},"tid":{self.process + track},"ts":'
        members = "".join(f',"{name}":{_json(value)}' for name, value in more.items())
        separator = "," if self.events > 1 else ""
        self.stream.write(f"{separator}\n{{{head}{_microseconds(at):.3f}{members}}}")

    def are_times(self, *times: float) -> bool:
        are = all(abs(time) <= SECONDS_MAX for time in times)
        self.left_out += not are
        return are

    def name_track(self, kind: str, track: int, name: str) -> None:
        self.event("M", track, 0, name=kind, args={"name": name})

    def begin(self, start: float, title: str) -> float:
        """Begin a record's process; return its start."""
        self.process += 1 + self.instances
        self.instances = 0
        self.state_end.clear()
        self.name_track("process_name", RUN, title)
        self.name_track("thread_name", RUN, "run")
        return start - self.origin

    def track_of(self, instance: float) -> int:
        self.instances = max(self.instances, int(instance) + 1)
        return int(instance) + 1

    def counter(self, at: float, name: str, **values: float) -> None:
        """Write a counter with several values, which viewers draw in one track."""
        known = {key: _Six(value) for key, value in values.items() if math.isfinite(value)}
        if known and self.are_times(at):
            self.event("C", RUN, at, name=name, args=known)

    def span(self, track: int, from_: float, to: float, name: str) -> None:
        """Write a span; unlike slices, spans of the same name may overlap."""
        if not self.are_times(from_, to):
            return
        more = {"id2": {"local": f"{self.spans:x}"}, "cat": "span", "name": name}
        self.spans += 1
        self.event("b", track, from_, **more)
        self.event("e", track, to, **more)


class _Six(float):
    """A number of a counter, written with six digits."""


def _json(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{_json(key)}:{_json(item)}" for key, item in value.items()) + "}"
    if isinstance(value, _Six):
        return f"{value:.6g}"
    return f"{value:.3f}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def _microseconds(seconds: float) -> float:
    """Round to nanoseconds, so that a slice's beginning and length add up to its end."""
    return round(1e9 * seconds) / 1e3


def _write_samples(writer: _Writer, record: Record, start: float) -> None:
    samples = record.samples
    # The last values are written twice, so that viewers draw them up to the end.
    times = [*samples["begin"], samples["end"].iloc[-1]]
    rows = [*samples.index, samples.index[-1]]
    with np.errstate(over="ignore"):  # damaged records may contain any load
        values = 100 * samples[["target", "load", "duty"]].to_numpy()
    for time, row in zip(times, rows):
        at = start + record.elapsed(time)
        target, load, duty = values[row]
        writer.counter(at, "load, %", target=target, load=load)
        writer.counter(at, "duty, %", duty=duty)


def _write_states(writer: _Writer, record: Record, start: float) -> None:
    try:
        decisions = record.decisions
    except UserError:  # reading the record has noted this
        return
    for row in decisions.itertuples():
        track = writer.track_of(row.instance)
        if math.isnan(row.elapsed):  # unknown during the warm-up
            continue
        # Recorded times are rounded, so a state may begin before the previous one ends. Viewers
        # drop overlapping slices.
        from_ = max(start + row.elapsed, writer.state_end.get(track, -math.inf))
        to = max(start + row.elapsed + row.seconds, from_)
        writer.state_end[track] = to
        if writer.are_times(from_, to):
            length = _microseconds(to) - _microseconds(from_)
            name = "running" if row.running else "stopped"
            writer.event("X", track, from_, dur=length, name=name)


def _write_iterations(writer: _Writer, record: Record, start: float) -> None:
    for row in record.iterations.dropna().itertuples():
        track = writer.track_of(row.instance)
        from_, to = (start + record.elapsed(at) for at in (row.start, row.end))
        writer.span(track, from_, to, f"instance {row.instance:.0f}: iteration")


def _write_events(writer: _Writer, record: Record, start: float) -> None:
    try:
        events = list(record.read_events())
    except OSError:
        return
    for event in events:
        name, at = text_of(event, "event"), number_of(event, "elapsed_seconds")
        instance = number_of(event, "instance")
        known = 0 <= instance < INSTANCES_MAX
        track = writer.track_of(instance) if known else RUN
        if name and math.isfinite(at) and writer.are_times(start + at):
            writer.event("i", track, start + at, s="t" if known else "p", name=name)


def _write_run(writer: _Writer, record: Record, unknown: float) -> None:
    wall = unknown if math.isnan(record.wall) else record.wall
    start = writer.begin(wall, record.title)
    if 0 < record.instance_count <= INSTANCES_MAX:
        writer.instances = int(record.instance_count)
    _write_samples(writer, record, start)
    _write_states(writer, record, start)
    _write_iterations(writer, record, start)
    _write_events(writer, record, start)
    for instance in range(writer.instances):
        writer.name_track("thread_name", instance + 1, f"instance {instance}")


def _write_requests(writer: _Writer, responses: Any, unknown: float) -> None:
    begin = unknown if math.isnan(responses.begin) else responses.begin
    start = writer.begin(begin, responses.title)
    seconds = responses.seconds.to_dict("records")
    for at, second in [(s["begin"], s) for s in seconds] + [(s["end"], s) for s in seconds[-1:]]:
        length = second["end"] - second["begin"]  # the last one may be shorter
        rates = {name: second[name] / length for name in ("sent", "completed", "failed")}
        writer.counter(start + at, "requests, /s", **rates)
        mean, p95 = (1e3 * second[f"intended_{name}"] for name in ("mean", "p95"))
        writer.counter(start + at, "response time, ms", mean=mean, **{"95 %": p95})
        writer.counter(start + at, "unfinished requests", unfinished=second["unfinished"])


def _write_all(writer: _Writer, report: Report, unknown: float) -> _Writer:
    for run in report.runs:
        _write_run(writer, run.record, unknown)
    for responses in report.responses:
        _write_requests(writer, responses, unknown)
    return writer


def write(stream: IO[str], report: Report) -> int:
    """Write all records; return the number of events that were left out."""
    if not report.runs and not report.responses:
        raise UserError(
            "--perfetto needs a record of showstopper or ssrequest: none of the given folders "
            "holds one"
        )
    walls = [run.record.wall for run in report.runs]
    walls += [responses.begin for responses in report.responses]
    known = np.array([wall for wall in walls if math.isfinite(wall)])
    # Viewers store microseconds as doubles, which cannot represent those since 1970 exactly.
    origin = math.floor(known.min()) if known.size else 0
    # Perfetto drops events before time 0, such as the warm-up, which precedes the start.
    first = _write_all(_Writer(None, origin), report, origin).earliest
    stream.write('{"displayTimeUnit":"ms","traceEvents":[')
    writer = _write_all(_Writer(stream, origin + math.floor(first)), report, origin)
    stream.write("\n]}\n")
    return writer.left_out
