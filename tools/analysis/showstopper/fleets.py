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
from .records import SILENCE_MAX, Events, follow
from .text import NUMBER, Notes, UserError
from .verdicts import Verdict

TABLE = "fleet.csv"
BINS = 240  # bins of time, whose width doubles if the replay is longer
ROWS = 60  # rows of the map; with more nodes, several share a row
CLOCK_TRUSTED = 0.05  # seconds: of a clock's offset, and of the error of the offset

# Bins at the end are dropped if they have at most this part of the fullest bin's samples: nodes
# begin, and therefore end, some milliseconds apart.
END_PART = 0.05

# Nodes whose invalid samples are noted; others are only counted.
FAULTS = 3

# Columns of nodes: those of fleet.csv, and figures.
NUMBERS = ("start", "offset_seconds", "offset_error_seconds", "clock_error_seconds")
TEXTS = ("node", "record", "trace", "reason", "clock")
FIGURES = (
    "late_seconds cpus covered_seconds ended load_mean target_mean error_mean error_abs_mean"
).split()

NO_VERDICT = Verdict("not checked", "")

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


@dataclass
class Fleet:
    """A replay on many nodes.

    `nodes` has a row for each node: its record, verdict and clock; `late_seconds`, the time from
    the planned start to the start of the trace; means over its samples. `bins` and `map` have CPU seconds, and these times load and
    target, by bins of time: of all nodes, and of the nodes in a row of the map.
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
        columns = (*TEXTS, "failed", "verdict", *NUMBERS, *FIGURES)
        types: dict[str, type] = dict.fromkeys((*NUMBERS, *FIGURES), float)
        frame = pd.DataFrame(nodes, columns=columns).astype(types | {"failed": bool})
        # A clock that was not measured is trusted.
        off = frame["offset_seconds"].abs().gt(CLOCK_TRUSTED)
        off |= frame["offset_seconds"].notna() & frame["offset_error_seconds"].gt(CLOCK_TRUSTED)
        fleet.nodes = frame.assign(clock_trusted=~off)
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
        used = samples.end > 0
        begin, end = np.maximum(samples.begin[used], 0), samples.end[used]
        load, target = samples.load[used], samples.target[used]
        while len(end) and end[-1] > BINS * self.width:
            self.widen()
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
    begin: np.ndarray
    end: np.ndarray
    load: np.ndarray
    target: np.ndarray


def _cut(line: str, octets: int) -> str:
    return line.encode("utf-8", "surrogateescape")[:octets].decode("utf-8", "surrogateescape")


def _read_nodes(folder: str, notes: Notes) -> list[dict[str, Any]]:
    optional = ("record", "trace", "reason", "clock", "clock_error_seconds")
    table = text.read_texts(folder, TABLE, (*TEXTS, "status", *NUMBERS), optional)
    valid = np.array([bool(name) for name in table.fields["node"]], dtype=bool)
    table.refuse(valid)
    table.note(notes)
    frame = pd.DataFrame(table.fields, dtype=object)
    numbers = {name: text.numbers(table.fields[name])[0] for name in NUMBERS}
    frame = frame.replace({'""': '"'}, regex=True).assign(**numbers)[valid]
    frame["record"] = frame["record"].mask(frame["record"] == "", frame["node"])
    frame["failed"] = frame["status"].str.lower() != "done"
    return [dict(zip(frame.columns, row)) for row in frame.itertuples(index=False)]


def _read_record(fleet: Fleet, node: dict[str, Any], row: int, notes: Notes) -> None:
    """Sum up the record of a node. Samples of a node without CPUs are not read."""
    folder = f"{fleet.name}/{node['record']}"
    node |= {"covered_seconds": 0.0, "ended": 0.0, "verdict": _read_verdict(folder)}
    try:
        plan = text.read_json(folder, "plan.json")
        cpus = text.number_of(text.member(plan, "measured", dict), "capacity_cpus")
        cpus = text.number_of(plan, "cpu_count") if math.isnan(cpus) else cpus
        if not cpus > 0:
            raise UserError("its record does not say how many CPUs the node has")
        node["cpus"] = cpus
        samples = _read_samples(folder, node, notes)
        if not node["covered_seconds"]:
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
    times = table.texts("time")
    columns, valid = table.take(dict.fromkeys(names, NUMBER))
    end, load, counted = columns.values()
    valid &= np.fromiter(map(bool, map(_TIME.fullmatch, times)), dtype=bool, count=len(table))
    target = table.numbers("target", np.ones_like(valid))
    begin = _follow(end, valid, _read_pauses(folder))
    table.refuse(valid)
    table.note(notes)
    used = valid & (counted != 0) & ~np.isnan(target) & (end > begin)
    rows = np.flatnonzero(used)
    samples = Samples(begin[rows], end[rows], load[rows], target[rows])
    if len(rows):
        started = text.wall_clock(times[rows[0]]) - end[rows[0]] - node["start"]
        late = started - np.nan_to_num(node["offset_seconds"])
        node["late_seconds"] = late
        _sum_up(node, samples)
        shift = np.nan_to_num(late)
        samples.begin, samples.end = samples.begin + shift, samples.end + shift
        node["ended"] = samples.end[-1]
    return samples


def _follow(ends: np.ndarray, valid: np.ndarray, pauses: Sequence[float]) -> np.ndarray:
    """Return when rows begin: at the end of the previous row, or of a later pause. Clears `valid`
    in rows whose time does not advance."""
    begins = np.append(0.0, ends[:-1])[: len(ends)]
    follow(ends, valid)
    known = ends[valid]
    valid[valid] = known > np.maximum.accumulate(np.append(-math.inf, known))[:-1]
    last = np.append(0.0, ends[valid])[:-1]
    # After a gap, only the row before knows when a row began.
    begins[valid] = np.where(ends[valid] - last > SILENCE_MAX, begins[valid], last)
    for pause in pauses:
        begins = np.where((begins < pause) & (pause < ends), pause, begins)
    return begins


def _sum_up(node: dict[str, Any], samples: Samples) -> None:
    """Set means over the covered time. Sums are in the order of the samples, to their last bit."""
    length = samples.end - samples.begin
    load, target = length * samples.load, length * samples.target
    covered = float(np.cumsum(length)[-1])
    apart = length * np.abs(samples.load - samples.target)
    sums = {"load_mean": load, "target_mean": target, "error_abs_mean": apart}
    node |= {name: float(np.cumsum(values)[-1]) / covered for name, values in sums.items()}
    node["covered_seconds"] = covered
    node["error_mean"] = node["target_mean"] - node["load_mean"]
