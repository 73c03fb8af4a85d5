# SPDX-License-Identifier: Apache-2.0
"""A fleet: the records of a replay on many nodes, made by `ssfleet replay` or `sssim fleet`.

Records are read one after the other and summed up, so that memory does not grow with their length.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np
import pandas as pd

from . import text
from .records import SILENCE_MAX, Events
from .text import NUMBER, Notes, UserError
from .verdicts import Verdict

TABLE = "fleet.csv"
BINS = 240  # bins of time, whose width doubles if the replay is longer
ROWS = 60  # rows of the map; with more nodes, several share a row
SPAN = 10.0  # seconds of the spans for `apart`
CLOCK_TRUSTED = 0.05  # seconds: of a clock's offset, and of the error of the offset

# Bins at the end are dropped if they have at most this part of the fullest bin's samples: nodes
# begin, and therefore end, some milliseconds apart.
END_PART = 0.05

# Nodes whose invalid samples are noted; others are only counted.
FAULTS = 3

# The columns of nodes, and of fleet.csv those that are numbers.
FIGURES = "late cpus covered ended load target error error_abs apart".split()
NODE = "node record trace reason failed verdict start offset offset_error clock clock_error".split()
NODE += FIGURES
NUMBERS = {
    "start": "start",
    "offset_seconds": "offset",
    "offset_error_seconds": "offset_error",
    "clock_error_seconds": "clock_error",
}

NO_VERDICT = Verdict("not checked", "")

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


@dataclass
class Fleet:
    """A replay on many nodes.

    `nodes` has a row for each node: its record, verdict and clock; `late`, the time from the
    planned start to the start of the trace; means over its samples; `apart`, the mean absolute
    error over spans of 10 s. `bins` and `map` have CPU seconds, and these times load and target, by
    bins of time: of all nodes, and of the nodes in a row of the map.
    """

    name: str
    nodes: pd.DataFrame
    rows: int = 0
    set: int = 0
    width: float = 1.0  # of a bin, in seconds

    def __post_init__(self) -> None:
        self.bins = np.zeros((BINS, 3))
        self.map = np.zeros((self.rows, BINS, 3))

    @staticmethod
    def read(folder: str, notes: Notes) -> Fleet:
        """Read a fleet. A node whose record cannot be read has failed."""
        nodes = _read_nodes(folder, notes)
        fleet = Fleet(folder, pd.DataFrame(), rows=min(len(nodes), ROWS))
        faults = []
        for index, node in enumerate(nodes):
            fault = Notes()
            _read_record(fleet, node, index * fleet.rows // len(nodes), fault)
            faults += [f"{_cut(node['node'], 60)}: {_cut(str(fault), 150)}"] if fault else []
        for words in faults[:FAULTS]:
            notes.add(words)
        if len(faults) > FAULTS:
            more = len(faults) - FAULTS
            notes.add(f"{more} more nodes have invalid or incomplete lines of samples")
        types: dict[str, type] = dict.fromkeys((*NUMBERS.values(), *FIGURES), float)
        fleet.nodes = pd.DataFrame(nodes, columns=NODE).astype(types | {"failed": bool})
        offset = fleet.nodes.offset
        # A clock that was not measured is trusted.
        fleet.nodes["trusted"] = offset.isna() | (
            (offset.abs() <= CLOCK_TRUSTED) & ~(fleet.nodes.offset_error > CLOCK_TRUSTED)
        )
        return fleet

    @property
    def used(self) -> int:
        """The number of bins up to the last one with samples of more than a few nodes."""
        cpu = self.bins[:, 0]
        kept = np.flatnonzero(cpu > END_PART * cpu.max())
        return int(kept[-1]) + 1 if len(kept) else 0

    def widen(self) -> None:
        self.width *= 2
        for sums in (self.bins, *self.map):
            sums[: BINS // 2] = sums[0::2] + sums[1::2]
            sums[BINS // 2 :] = 0

    def add(self, row: int, samples: Samples, cpus: float) -> None:
        """Add samples of a node in a row of the map to all bins that they cover."""
        begin, end = np.maximum(samples.begin, 0), samples.end
        at = int(np.searchsorted(end, 0, side="right"))
        while at < len(end):
            fits = int(np.searchsorted(end, BINS * self.width, side="right"))
            if fits > at:
                part = slice(at, fits)
                load, target = samples.load[part], samples.target[part]
                self._add(row, begin[part], end[part], load, target, cpus)
                at = fits
            else:
                self.widen()

    def _add(self, row: int, begin: Any, end: Any, load: Any, target: Any, cpus: float) -> None:
        first = (begin / self.width).astype(int)
        count = np.ceil(end / self.width).astype(int) - first
        sample = np.repeat(np.arange(len(end)), count)
        within = np.arange(len(sample)) - np.repeat(np.cumsum(count) - count, count)
        bins = first[sample] + within
        cut = np.minimum(end[sample], (bins + 1) * self.width)
        length = cut - np.maximum(begin[sample], bins * self.width)
        used = (length > 0) & (bins < BINS)
        sample, bins, cpu = sample[used], bins[used], length[used] * cpus
        for i, values in enumerate((cpu, cpu * load[sample], cpu * target[sample])):
            np.add.at(self.bins[:, i], bins, values)
            np.add.at(self.map[row, :, i], bins, values)


@dataclass
class Samples:
    """The counted samples of a record: begin and end in seconds, load and target."""

    begin: np.ndarray
    end: np.ndarray
    load: np.ndarray
    target: np.ndarray


def _cut(line: str, octets: int) -> str:
    return line.encode("utf-8", "surrogateescape")[:octets].decode("utf-8", "surrogateescape")


def _read_nodes(folder: str, notes: Notes) -> list[dict[str, Any]]:
    known = ("node", "status", "start", "offset_seconds", "offset_error_seconds")
    optional = ("record", "trace", "reason", "clock", "clock_error_seconds")
    table = text.read_table(folder, TABLE, known + optional, optional)
    valid = np.array([bool(name) for name in table.fields["node"]], dtype=bool)
    table.refuse(valid)
    table.note(notes)
    texts = {
        name: [field.replace('""', '"') for field in table.fields[name]]
        for name in ("node", "record", "trace", "status", "reason", "clock")
    }
    numbers = {name: text.numbers(table.fields[name])[0] for name in known[2:] + optional[4:]}
    nodes = []
    for row in np.flatnonzero(valid).tolist():
        node = dict.fromkeys(NODE, math.nan)
        node |= {name: values[row] for name, values in texts.items()}
        node |= {NUMBERS[name]: float(values[row]) for name, values in numbers.items()}
        node["record"] = node["record"] or node["node"]
        node["failed"] = texts["status"][row].lower() != "done"
        nodes.append(node)
    return nodes


def _read_record(fleet: Fleet, node: dict[str, Any], row: int, notes: Notes) -> None:
    """Sum up the record of a node. Samples of a node without CPUs are not read."""
    folder = f"{fleet.name}/{node['record']}"
    node |= {"covered": 0.0, "ended": 0.0, "verdict": _read_verdict(folder)}
    try:
        plan = text.read_json(folder, "plan.json")
        cpus = text.number_of(text.member(plan, "measured", dict), "capacity_cpus")
        cpus = text.number_of(plan, "cpu_count") if math.isnan(cpus) else cpus
        if not cpus > 0:
            raise UserError("its record does not say how many CPUs the node has")
        node["cpus"] = cpus
        samples = _read_samples(folder, node, notes)
        if not node["covered"]:
            raise UserError("its record has no counted sample")
        fleet.add(row, samples, cpus)
    except UserError as error:
        node["failed"] = True
        node["reason"] = node["reason"] or str(error)


def _read_verdict(folder: str) -> Verdict:
    """Return the verdict of a record; sssim writes none."""
    try:
        verdict = Verdict.of(text.read_json(folder, "summary.json"))
    except UserError:
        return NO_VERDICT
    return verdict if verdict.recorded else NO_VERDICT


def _read_pauses(folder: str) -> list[float]:
    """Return when the pauses of a record end."""
    events = Events()
    try:
        lines = text.read_bytes(folder, "events.jsonl").split(b"\n")
    except UserError:
        return []
    for line in lines:
        if b"paused" in line or b"continued" in line:
            try:
                events.take(text.parse_json(line.decode("utf-8", "surrogateescape")))
            except ValueError:
                pass
    return [end for _, end in events.pauses]


def _read_samples(folder: str, node: dict[str, Any], notes: Notes) -> Samples:
    """Read samples, and set the figures of the node.

    A sample begins at the end of the previous one, or of a later pause.
    """
    names = ("elapsed_seconds", "load", "counted")
    table = text.read_table(folder, "samples.csv", ("time", "target", *names))
    times = table.fields["time"]
    columns, valid = table.take(dict.fromkeys(names, NUMBER))
    end, load, counted = columns.values()
    valid &= np.fromiter(map(bool, map(_TIME.fullmatch, times)), dtype=bool, count=len(table))
    target = text.numbers(table.fields["target"])[0]
    begin = _follow(end, valid, _read_pauses(folder))
    table.refuse(valid)
    table.note(notes)
    used = valid & (counted != 0) & ~np.isnan(target) & (end > begin)
    rows = np.flatnonzero(used)
    samples = Samples(begin[rows], end[rows], load[rows], target[rows])
    if len(rows):
        started = text.wall_clock(times[rows[0]]) - end[rows[0]] - node["start"]
        node["late"] = started - (0 if math.isnan(node["offset"]) else node["offset"])
        _sum_up(node, samples)
        shift = 0 if math.isnan(node["late"]) else node["late"]
        samples.begin, samples.end = samples.begin + shift, samples.end + shift
        node["ended"] = samples.end[-1]
    return samples


def _follow(ends: np.ndarray, valid: np.ndarray, pauses: Sequence[float]) -> np.ndarray:
    """Return when rows begin: at the end of the previous row, or of a later pause.

    Clears `valid` in rows whose time does not advance or is too long after the previous one. Then
    the next row may confirm that time: there was a real gap, and the next row begins at its end.
    """
    begins = np.append(0.0, ends[:-1])[: len(ends)]
    gaps = ends - begins
    if not pauses and valid.all() and (gaps[1:] > 0).all() and (gaps <= SILENCE_MAX).all():
        return begins
    last, refused, any_row = 0.0, 0.0, False
    for row, (end, is_valid) in enumerate(zip(ends.tolist(), valid.tolist())):
        if not is_valid or (any_row and end <= last):
            valid[row] = False
            continue
        begin = last
        for pause in pauses:
            begin = pause if begin < pause < end else begin
        if end - begin > SILENCE_MAX:
            confirmed = begin < refused < end and end - refused <= SILENCE_MAX
            begin, refused = refused, end
            valid[row] = confirmed
            if not confirmed:
                continue
        begins[row], last, any_row = begin, end, True
    return begins


def _sum_up(node: dict[str, Any], samples: Samples) -> None:
    """Set means over the covered time. Sums are in the order of the samples, to their last bit."""
    length = samples.end - samples.begin
    load, target = length * samples.load, length * samples.target
    apart = length * np.abs(samples.load - samples.target)
    covered, node["load"], node["target"], node["error_abs"] = (
        float(np.cumsum(values)[-1]) for values in (length, load, target, apart)
    )
    node["covered"] = covered
    node["apart"] = _apart(length, load, target) / covered
    for name in ("load", "target", "error_abs"):
        node[name] /= covered
    node["error"] = node["target"] - node["load"]


def _apart(length: np.ndarray, load: np.ndarray, target: np.ndarray) -> float:
    """Return the absolute difference of load and target, summed over spans."""
    apart = seconds = loads = targets = 0.0
    for span in zip(length.tolist(), load.tolist(), target.tolist()):
        seconds, loads, targets = seconds + span[0], loads + span[1], targets + span[2]
        if seconds >= SPAN - 1e-6:
            apart += abs(loads - targets)
            seconds = loads = targets = 0.0
    return apart + abs(loads - targets)
