# SPDX-License-Identifier: Apache-2.0
"""What a path names: a record, a study of ssbatch or one of its runs, a fleet, an experiment.

Nothing here reads the tables of a record, so that it needs no NumPy.
"""

from __future__ import annotations

import functools
import math
import os
import re
from dataclasses import dataclass, field
from typing import Any, Collection, Iterator, Sequence

from . import text
from .text import Notes, UserError, list_of, member, number_of, read_json, text_of

RUN_SCHEMA = 1  # the latest schema of run.json that this version reads
MANIFEST = "manifest.csv"
COLUMNS = (
    "run status reason edge_seconds role workload method placement experiment published environment "
    "measured_in group energy target stands_for tau_seconds speed trace round others at predict "
    "bursts knees"
).split()


@dataclass(frozen=True)
class Source:
    """A record to read, and what a plan or a manifest says about it."""

    path: str
    set: int = 0
    is_requests: bool = False
    cells: dict[str, str] = field(default_factory=dict)  # columns that reports know
    columns: dict[str, str] = field(default_factory=dict)  # of a plan, all of them
    manifest: int = 0  # number of the study or manifest, from 1; 0 if none


@dataclass(frozen=True)
class Failure:
    """A record that cannot be reported, or that was left out."""

    name: str
    why: str
    result: str = "invalid"  # `not checked`: the run was skipped


@dataclass(frozen=True)
class Fleet:
    path: str
    set: int = 0


Input = Source | Failure | Fleet


@functools.cmp_to_key
def natural(one: str, other: str) -> int:
    """Order names like versionsort: load-40 precedes load-100."""
    same = len(os.path.commonprefix([one, other]))
    begin = len(one[:same].rstrip("0123456789"))
    digits = [re.match(r"\d*", name[begin:])[0] for name in (one, other)]  # type: ignore[index]
    if all(digits) and digits[0] != digits[1] and not any(d.startswith("0") for d in digits):
        return int(digits[0]) - int(digits[1])
    return (one > other) - (one < other)


def is_requests(path: str) -> bool:
    """Return whether a path is a record of ssrequest, or the file of its --json."""
    return (
        text.has_file(path, "requests.csv")
        or text.has_file(path, "requests.json")
        or _is_document(path)
    )


def _is_document(path: str) -> bool:
    """Return whether a path is a file of ssrequest --json, or of a simulated queue."""
    if not os.path.isfile(path):
        return False
    try:
        document = read_json(os.path.dirname(path) or ".", os.path.basename(path))
    except UserError:
        return False
    return text_of(document, "program") in ("ssrequest", "sssim queue")


def is_fleet(path: str) -> bool:
    return text.has_file(path, "fleet.csv")


def _runs_in(folder: str) -> list[str]:
    """Return the runs of a study in natural order. Hidden folders contain unfinished ones."""
    try:
        names = sorted(os.listdir(folder), key=natural)
    except OSError:
        return []
    shown = (name for name in names if not name.startswith("."))
    return [name for name in shown if text.has_file(f"{folder}/{name}", "run.json")]


def is_study(path: str) -> bool:
    return (
        text.has_file(path, "run.json")
        or text.has_file(path, ".study/plan")
        or bool(_runs_in(path))
    )


def choose_name(path: str, taken: Collection[str]) -> str:
    """Return a unique name for a record: its path, with a number if that name is taken."""
    path = path.rstrip("/") or path[:1]
    name, number = path, 2
    while name in taken:
        name, number = f"{path} ({number})", number + 1
    return name


class Gatherer:
    def __init__(self) -> None:
        self.manifests = 0  # number of manifests and studies found so far
        self.study = ""  # the study of the last run that was named by itself
        self.study_number = 0

    def gather(self, *sets: Sequence[str]) -> Iterator[Input]:
        for set_, paths in enumerate(sets):
            for path in paths:
                yield from self._find(path, set_)

    def _find(self, given: str, set_: int) -> Iterator[Input]:
        # Files next to a record have its name, which a shell completes with a slash.
        path = given.rstrip("/") or given[:1]
        if text.has_file(path, MANIFEST):
            yield from self._manifest(path, set_)
        elif is_fleet(path):
            yield Fleet(path, set_)
        elif is_study(path):
            yield from self._study(path, set_)
        else:
            yield Source(path, set_, is_requests(path))

    def _manifest(self, folder: str, set_: int) -> Iterator[Input]:
        self.manifests += 1
        notes = Notes()
        try:
            table = text.read_texts(folder, MANIFEST, COLUMNS, COLUMNS[1:])
        except UserError as error:
            yield Failure(folder, str(error))
            return
        for row in zip(*table.fields.values()):
            cells = dict(zip(COLUMNS, row))
            if not cells["run"]:
                named = "".join(f" {cells[n]}" for n in ("workload", "method", "placement") if cells[n])
                skipped = cells["status"].lower() == "skipped"
                why = cells["reason"] or "there is no record"
                yield Failure(f"{folder}:{named}", why, "not checked" if skipped else "invalid")
                continue
            path = cells["run"] if cells["run"].startswith("/") else f"{folder}/{cells['run']}"
            path = path.rstrip("/") or "/"
            requests = cells["role"].lower() == "requests" or is_requests(path)
            yield Source(path, set_, requests, cells, {}, self.manifests)
        table.note(notes)
        if notes:
            yield Failure(folder, str(notes))

    def _study(self, folder: str, set_: int) -> Iterator[Input]:
        if text.has_file(folder, "run.json"):
            self._number_study(folder)
            yield from self._run(folder, set_)
            return
        self.manifests += 1
        for name in _runs_in(folder):
            yield from self._run(f"{folder}/{name}", set_)

    def _number_study(self, folder: str) -> None:
        """Number runs of one study that are named one after the other like the whole study."""
        study = os.path.realpath(f"{folder}/..")
        if not (self.manifests == self.study_number and self.study == study):
            self.manifests += 1
            self.study_number = self.manifests
        self.study = study

    def _run(self, folder: str, set_: int) -> Iterator[Input]:
        try:
            document = read_json(folder, "run.json")
        except UserError as error:
            yield Failure(folder, str(error))
            return
        absence = _describe_absence(document)
        if absence:
            skipped = text_of(document, "status") == "skipped"
            yield Failure(folder, absence, "not checked" if skipped else "invalid")
            return
        commands = [c for c in list_of(document, "commands") if text_of(c, "record")]
        if not commands:
            yield Failure(
                folder, "no command of this run has a record: see showstopper --record"
            )
        for command in commands:
            yield self._command(folder, set_, document, command, len(commands))

    def _command(
        self, folder: str, set_: int, document: Any, command: Any, records: int
    ) -> Source:
        """Return the record of a command. Records of one run that were made at the same time
        differ in their role; the name of the run is their group."""
        role = text_of(command, "role")
        if records == 1 and role != "alone":
            role = ""
        columns: dict[str, str] = {}
        for part in (document, command):
            values = member(part, "columns", dict) or {}
            columns |= {n: v if isinstance(v, str) else "" for n, v in values.items()}
        if role:
            columns["role"] = role
        others = number_of(document, "others")
        cells = dict.fromkeys(COLUMNS, "")
        if role:
            cells["group"] = folder.rpartition("/")[2] or folder
        cells |= {name: value for name, value in columns.items() if name in cells}
        cells["others"] = f"{others:.9g}" if math.isfinite(others) else ""
        path = f"{folder}/{text_of(command, 'record')}"
        return Source(path, set_, is_requests(path), cells, columns, self.manifests)


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
