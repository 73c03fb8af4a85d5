# SPDX-License-Identifier: Apache-2.0
"""A fleet: the records of a replay on many nodes, made by `ssfleet replay` or `sssim fleet`."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from .contents import member, number_of, read_json
from .frames import SILENCE_MAX, advances, is_ahead, moment, moments, read_table
from .inputs import Source, check_node
from .records import Clock, read_events
from .stats import Array
from .text import UserError, show
from .verdicts import Verdict

BINS = 240  # bins of time, whose width doubles if the replay is longer
ROWS = 60  # rows of the map; with more nodes, several share a row
CLOCK_TRUSTED = 0.05  # seconds: maximum of a clock's offset, and of the error of the offset

# Bins at the end are dropped if they have at most this part of the fullest bin's samples: nodes
# begin, and therefore end, some milliseconds apart.
END_PART = 0.05

# The notes name this many nodes with invalid samples; others are only counted.
FAULTS = 3

TEXTS = ("record", "trace", "reason", "clock")
NEEDED = ("node", "status", "start", "offset_seconds", "offset_error_seconds")
FIGURES = (
    "late_seconds cpus covered_seconds ended load_mean target_mean error_mean error_abs_mean"
).split()


class Fleet:
    """A replay on many nodes.

    nodes   a row for each node: what fleet.csv says, `failed`, `verdict`, `clock_trusted`, and
            FIGURES: `late_seconds` from the planned start to the start of the trace, and means
    map     for each row of the map and each bin of time: seconds of all CPUs, and these times load
            and target; `width` is that of a bin in seconds, `used` the number of bins with samples

    Records are read one after the other and summed up, so that memory does not grow with them.
    """

    def __init__(self, source: Source) -> None:
        self.name = source.path
        self.set = source.set + 1
        self.notes: list[str] = []
        self.width = 1.0
        nodes = read_table(
            self.name, "fleet.csv", self.notes, NEEDED, (*TEXTS, "clock_error_seconds"),
            lambda rows: rows["node"] != "",
        )
        nodes[[*TEXTS]] = nodes[[*TEXTS]].fillna("")
        nodes["record"] = nodes["record"].mask(nodes["record"] == "", nodes["node"])
        nodes["failed"] = nodes["status"].str.lower() != "done"
        self.map = np.zeros((min(len(nodes), ROWS), BINS, 3))
        found, faults = [], []
        for at, node in enumerate(nodes.to_dict("records")):
            notes: list[str] = []
            found.append(self._read(node, at * len(self.map) // len(nodes), notes))
            faults += [f"{show(node['node'])}: {'; '.join(notes)}"] if notes else []
        self.notes += faults[:FAULTS]
        if len(faults) > FAULTS:
            more = len(faults) - FAULTS
            have = "node has" if more == 1 else "nodes have"
            self.notes.append(f"{more} more {have} invalid or incomplete lines of samples")
        figures = pd.DataFrame(found, columns=[*nodes, "verdict", *FIGURES])
        # A clock that was not measured is trusted.
        off, error = figures["offset_seconds"].astype(float), figures["offset_error_seconds"]
        is_off = off.abs().gt(CLOCK_TRUSTED) | (off.notna() & error.gt(CLOCK_TRUSTED))
        numbers = dict.fromkeys(FIGURES, float)
        self.nodes = figures.astype(numbers | {"failed": bool}).assign(clock_trusted=~is_off)

    def _read(self, node: dict[Hashable, Any], row: int, notes: list[str]) -> dict[Hashable, Any]:
        """Add the record of a node to the map, and return its row of `nodes`. A node whose record
        is unusable has failed."""
        folder = f"{self.name}/{node['record']}"
        figures = {"covered_seconds": 0.0, "ended": 0.0, "verdict": Verdict("not checked", "")}
        try:
            check_node(node["record"])
            figures["verdict"] = _read_verdict(folder)
            plan = read_json(folder, "plan.json")
            cpus = number_of(member(plan, "measured", dict), "capacity_cpus")
            cpus = number_of(plan, "cpu_count") if math.isnan(cpus) else cpus
            if not cpus > 0:
                raise UserError("its record does not say how many CPUs the node has")
            figures["cpus"] = cpus
            samples = _read_samples(folder, notes)
            if samples.empty:
                raise UserError("its record has no counted sample")
        except UserError as error:
            return node | figures | {"failed": True, "reason": node["reason"] or str(error)}
        first = samples.iloc[0]
        offset = np.nan_to_num(node["offset_seconds"])
        late = moment(first["time"]) - first["end"] - node["start"] - offset
        samples[["begin", "end"]] += np.nan_to_num(late)
        self._add(row, samples, cpus)
        ended = samples["end"].iloc[-1]
        return node | figures | {"late_seconds": late, "ended": ended} | _sum_up(samples)

    @property
    def bins(self) -> Array:
        """The sums of all nodes in the bins up to the last one that more than a few nodes reach."""
        sums: Array = self.map.sum(axis=0)
        cpu = sums[:, 0]
        kept = np.flatnonzero(cpu > END_PART * cpu.max())
        return sums[: kept[-1] + 1] if len(kept) else sums[:0]

    @property
    def used(self) -> int:
        return len(self.bins)

    @property
    def has_results(self) -> bool:
        return self.used > 0

    def _add(self, row: int, samples: pd.DataFrame, cpus: float) -> None:
        """Add the samples of a node to all bins that they cover."""
        while samples["end"].iloc[-1] > BINS * self.width:
            self.width *= 2
            halves = self.map.reshape(len(self.map), BINS // 2, 2, 3).sum(axis=2)
            self.map = np.concatenate([halves, np.zeros_like(halves)], axis=1)
        edges = self.width * np.arange(BINS + 1)
        length = samples["end"] - samples["begin"]
        at = samples[["begin", "end"]].to_numpy().ravel()
        for number, values in enumerate((1.0, samples["load"], samples["target"])):
            sums = np.append(0, np.cumsum(cpus * length * values))
            # Cumulative sums grow within samples, not between them.
            self.map[row, :, number] += np.diff(np.interp(edges, at, np.repeat(sums, 2)[1:-1]))


def _read_verdict(folder: str) -> Verdict:
    """Return the verdict of a record; sssim writes none."""
    try:
        verdict = Verdict.of(read_json(folder, "summary.json"))
    except UserError:
        verdict = Verdict()
    return verdict if verdict.checks else Verdict("not checked", "")


def _read_samples(folder: str, notes: list[str]) -> pd.DataFrame:
    """Return the samples that count: time, begin, end, load, target. A sample begins at the end of
    the previous one, or of a pause after that."""

    def valid(rows: pd.DataFrame) -> pd.Series:
        known = rows[["elapsed_seconds", "load", "counted"]].notna().all(axis=1)
        known &= moments(rows["time"]).notna()
        kept = known & advances(rows["elapsed_seconds"].where(known))
        kept[kept] = is_ahead(rows["elapsed_seconds"][kept])
        rows["before"] = rows["elapsed_seconds"].shift(fill_value=0.0)
        return kept

    names = ("time", "elapsed_seconds", "target", "load", "counted")
    rows = read_table(folder, "samples.csv", notes, names, (), valid)
    rows = rows.rename(columns={"elapsed_seconds": "end"})
    end = rows["end"]
    last = end.shift(fill_value=0.0)
    # After a gap, only the previous row, which is left out, says when a row began.
    begin = last.where(end - last <= SILENCE_MAX, rows["before"])
    for _, pause in Clock.of(read_events(folder, [])).pauses:
        begin = begin.mask((begin < pause) & (pause < end), pause)
    used = rows["counted"].ne(0) & rows["target"].notna() & (end > begin)
    return rows.assign(begin=begin)[used].reset_index(drop=True)


def _sum_up(samples: pd.DataFrame) -> dict[str, float]:
    """Return means over the covered time."""
    length = samples["end"] - samples["begin"]
    covered = float(length.sum())
    off = samples["target"] - samples["load"]
    means = {"load_mean": samples["load"], "target_mean": samples["target"], "error_mean": off}
    means["error_abs_mean"] = off.abs()
    found = {name: float((length * values).sum() / covered) for name, values in means.items()}
    return found | {"covered_seconds": covered}
