# SPDX-License-Identifier: Apache-2.0
"""Finds what a path names: a record, a study of ssbatch or one of its runs, a fleet, an experiment.

Nothing here reads the tables of a record: it uses the standard library only, so that --check is
fast.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import verdicts
from .contents import (
    has_file, is_inside, list_of, member, number_of, parse_rows, read_bytes, read_json, read_owned,
    text_of,
)
from .text import UserError, printable
from .verdicts import RANKS, Verdict

RUN_SCHEMA = 1  # the latest schema of run.json that this version reads

# Columns of a plan, a manifest or labels of a record: texts, then numbers.
TEXTS = (
    "role workload method placement experiment published environment measured_in group energy "
    "trace knees"
).split()
NUMBERS = "target stands_for tau_seconds speed round at predict bursts others".split()


@dataclass(frozen=True)
class Source:
    """A record to read, and what a plan or a manifest says about it."""

    path: str
    set: int = 0  # 1: the second set, after --against
    kind: str = "run"  # or `requests` or `fleet`
    cells: dict[str, str] = field(default_factory=dict)  # what the plan or the manifest says
    columns: dict[str, str] = field(default_factory=dict)  # of a plan, all of them
    study: int = 0  # number of the study or manifest, from 1; 0 if none

    def number(self, name: str) -> float:
        return number(self.cells.get(name, ""))

    @property
    def is_launch(self) -> bool:
        """Whether the run measures how long a program takes, as duet --metric time does."""
        return self.columns.get("experiment") == "duet" and self.columns.get("metric") == "time"


class Described:
    """A record, with what its plan says about it, and what is wrong with it."""

    source: Source
    notes: list[str]

    @property
    def note(self) -> str:
        return "; ".join(map(printable, dict.fromkeys(self.notes)))

    def label(self, name: str) -> str:
        return self.source.cells.get(name, "")

    def number(self, name: str) -> float:
        """Return a positive number that a plan, a manifest or a label says."""
        value = number(self.label(name))
        return value if value > 0 else math.nan


@dataclass(frozen=True)
class Failure:
    """A record that cannot be reported, or that was left out."""

    name: str
    why: str
    result: str = "invalid"  # `not checked`: the run was skipped

    @property
    def verdict(self) -> Verdict:
        return Verdict(self.result, self.why)


Input = Source | Failure


def number(text: str) -> float:
    """Return the number in a cell; NaN if there is none."""
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def natural(name: str) -> list[Any]:
    """Order names by their numbers: load-40 precedes load-100."""
    parts = re.split("([0-9]+)", name)  # every second one is a number
    return [int(part) if at % 2 else part for at, part in enumerate(parts)]


def choose_name(path: str, taken: Collection[str]) -> str:
    """Return a unique name for a record: its path, with a number if that name is taken."""
    path = path.rstrip("/") or path[:1]
    name, count = path, 2
    while name in taken:
        name, count = f"{path} ({count})", count + 1
    return name


# Kinds


def is_requests(path: str) -> bool:
    """Return whether a path is a record of ssrequest, a file of its --json, or of a simulated
    queue."""
    if has_file(path, "requests.csv") or has_file(path, "requests.json"):
        return True
    if not os.path.isfile(path):
        return False
    try:
        document = read_json(os.path.dirname(path) or ".", os.path.basename(path))
    except UserError:
        return False
    return text_of(document, "program") in ("ssrequest", "sssim queue")


def _runs_in(folder: str) -> list[str]:
    """Return the runs of a study in natural order. Hidden folders contain unfinished ones."""
    try:
        names = sorted(sorted(os.listdir(folder)), key=natural)  # 01 and 1 have an order, too
    except OSError:
        return []
    shown = (name for name in names if not name.startswith("."))
    return [name for name in shown if has_file(f"{folder}/{name}", "run.json")]


# Sources


class Gatherer:
    """Finds the records that paths name."""

    def __init__(self) -> None:
        self.studies = 0  # number of manifests and studies found so far
        self._last = ("", 0)  # the study of the last run that was named by itself, and its number

    def gather(self, *sets: Sequence[str]) -> Iterator[Input]:
        for set_, paths in enumerate(sets):
            for path in paths:
                yield from self._find(path, set_)

    def _find(self, given: str, set_: int) -> Iterator[Input]:
        # Drop the slash that a shell completes: files next to a record begin with its name.
        path = given.rstrip("/") or given[:1]
        if has_file(path, "manifest.csv"):
            yield from self._manifest(path, set_)
        elif has_file(path, "fleet.csv"):
            yield Source(path, set_, "fleet")
        elif has_file(path, "run.json"):
            self._number_study(path)
            yield from self._run(path, set_)
        elif (names := _runs_in(path)) or has_file(path, ".study/plan"):
            self.studies += 1
            for name in names:
                yield from self._run(f"{path}/{name}", set_)
        else:
            yield Source(path, set_, "requests" if is_requests(path) else "run")

    def _number_study(self, folder: str) -> None:
        """Give successive runs of one study one number, as if the whole study were named."""
        study = os.path.realpath(f"{folder}/..")
        if self._last != (study, self.studies):
            self.studies += 1
        self._last = study, self.studies

    def _manifest(self, folder: str, set_: int) -> Iterator[Input]:
        self.studies += 1
        try:
            data, is_ours = read_owned(folder, "manifest.csv")
            rows, note = parse_rows("manifest.csv", data, ["run"])
        except UserError as error:
            yield Failure(folder, str(error))
            return
        for cells in rows:
            if not cells["run"]:
                names = (cells.get(n, "") for n in ("workload", "method", "placement"))
                named = "".join(f" {name}" for name in names if name)
                is_skipped = cells.get("status", "").lower() == "skipped"
                why = cells.get("reason") or "there is no record"
                yield Failure(f"{folder}:{named}", why, "not checked" if is_skipped else "invalid")
                continue
            path = os.path.join(folder, cells["run"]).rstrip("/") or "/"
            if not is_ours and not is_inside(cells["run"]):
                why = "outside of the folder of another user's manifest: name this record itself"
                yield Failure(path, why)
                continue
            of_requests = cells.get("role", "").lower() == "requests" or is_requests(path)
            kind = "requests" if of_requests else "run"
            yield Source(path, set_, kind, cells, {}, self.studies)
        if note:
            yield Failure(folder, note)

    def _run(self, folder: str, set_: int) -> Iterator[Input]:
        try:
            document = read_json(folder, "run.json")
        except UserError as error:
            yield Failure(folder, str(error))
            return
        if absence := _describe_absence(document):
            is_skipped = text_of(document, "status") == "skipped"
            yield Failure(folder, absence, "not checked" if is_skipped else "invalid")
            return
        commands = [c for c in list_of(document, "commands") if text_of(c, "record")]
        if not commands:
            yield Failure(folder, "no command of this run has a record: see showstopper --record")
        for command in commands:
            if is_inside(record := text_of(command, "record")):
                yield self._command(folder, set_, document, command, len(commands))
            else:
                yield Failure(f"{folder}/{record}", "the record is outside of the run's folder")

    def _command(self, folder: str, set_: int, document: Any, command: Any, records: int) -> Source:
        """Return the record of a command. Records of one run that were made at the same time
        differ in their role; the name of the run is their group."""
        role = text_of(command, "role")
        if records == 1 and role != "alone":
            role = ""
        columns: dict[str, str] = {}
        for part in (document, command):
            values = member(part, "columns", dict) or {}
            columns |= {n: v if isinstance(v, str) else "" for n, v in values.items()}
        group = {}
        if role:
            columns["role"] = role
            group["group"] = folder.rpartition("/")[2] or folder
        others = number_of(document, "others")
        cells = group | columns | {"others": f"{others:.9g}" if math.isfinite(others) else ""}
        path = f"{folder}/{text_of(command, 'record')}"
        kind = "requests" if is_requests(path) else "run"
        return Source(path, set_, kind, cells, columns, self.studies)


def _describe_absence(document: Any) -> str:
    schema, status = number_of(document, "schema"), text_of(document, "status")
    why = text_of(document, "reason")
    if math.isnan(schema):
        return "its run.json has no schema, so ssbatch did not write it"
    if not 1 <= schema <= RUN_SCHEMA:
        return (
            f"its run.json has schema {schema:g}, but this program reads only schema {RUN_SCHEMA}: "
            "use a later version"
        )
    if status == "done":
        return ""
    return f"{status or 'status unknown'}{': ' if why else ''}{why}"


# Verdicts of all that paths name

Judged = list[tuple[str, Verdict]]


def verdict_of(source: Source) -> Verdict:
    """Read the verdict of a record. Raises UserError."""
    if source.kind == "requests":
        return verdicts.of_requests(source.path)
    verdict = verdicts.of_run(source.path)
    if not source.columns:
        return verdict
    return verdict.of_study(source.number("others"), source.is_launch)


def check_node(record: str) -> None:
    """Raise UserError if the record of a node would be outside of the fleet."""
    if not is_inside(record):
        raise UserError("the record is outside of the folder of the fleet")


def _judge_nodes(folder: str) -> Iterator[tuple[str, Verdict, bool]]:
    """Yield the nodes of a fleet with their verdicts, and whether each has a readable record."""
    try:
        nodes, _ = parse_rows("fleet.csv", read_bytes(folder, "fleet.csv"), ["record"])
    except UserError as error:
        yield folder, Verdict(reasons=str(error)), False
        return
    for node in nodes:
        path = f"{folder}/{node['record']}"
        try:
            check_node(node["record"])
            yield path, verdicts.of_run(path), True
        except UserError as error:
            yield path, Verdict(reasons=node.get("reason") or str(error)), False


def judge(
    first: Sequence[str], second: Sequence[str], leave_out: str = "", subject: str = ""
) -> Judged:
    """Return the names of all records with their verdicts on a subject: of runs, of requests, of
    the nodes of fleets, and of what cannot be read. Runs that were skipped have none."""
    known: dict[str, Judged] = {"run": [], "requests": [], "fleet": [], "failed": []}
    names: set[str] = set()
    for found in Gatherer().gather(first, second):
        if isinstance(found, Failure):
            if found.result != "not checked":
                known["failed"].append((found.name, found.verdict))
        elif found.kind == "fleet":
            for node, verdict, is_known in _judge_nodes(found.path):
                kind = "fleet" if is_known else "failed"
                known[kind].append((node, verdict.about(subject)))
        else:
            name = choose_name(found.path, names)
            try:
                verdict = verdict_of(found).about(subject)
            except UserError as error:
                known["failed"].append((name, Verdict(reasons=str(error))))
                continue
            if leave_out and verdict.rank >= RANKS[leave_out]:
                why = f"left out: {verdict.result}: {verdict.reasons}"
                known["failed"].append((name, Verdict(verdict.result, why)))
                continue
            names.add(name)
            known[found.kind].append((name, verdict))
    return [each for judged in known.values() for each in judged]
