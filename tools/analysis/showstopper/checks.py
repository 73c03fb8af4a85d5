# SPDX-License-Identifier: Apache-2.0
"""Verdicts of records without their tables (ssreport --check), which needs neither NumPy nor pandas."""

from __future__ import annotations

import os
from collections.abc import Sequence

from . import inputs, text
from .documents import check_schema, judge_run, open_folder
from .inputs import Failure, Fleet
from .text import UserError, read_json
from .verdicts import RANKS, Verdict

Judged = list[tuple[str, Verdict]]


def _of_run(path: str) -> Verdict:
    open_folder(path)
    try:
        check_schema(read_json(path, "plan.json"))
    except UserError as error:
        if "schema" in str(error):
            raise
    try:
        summary = read_json(path, "summary.json")
    except UserError:
        summary = None
    check_schema(summary)
    return judge_run(path, summary)


def _of_requests(path: str) -> Verdict:
    is_file = os.path.isfile(path)
    folder, name = os.path.split(path) if is_file else (path, "requests.json")
    if not text.has_file(folder or ".", name):
        return Verdict()
    try:
        document = read_json(folder or ".", name)
    except UserError:
        if is_file:
            raise
        return Verdict(reasons=f"{name} is damaged")
    check_schema(document)
    return Verdict.of(document, f"{'the file' if is_file else name} is damaged")


def _judge(source: inputs.Source) -> Verdict:
    if source.is_requests:
        return _of_requests(source.path)
    verdict = _of_run(source.path)
    if not source.columns:
        return verdict
    columns = source.columns
    is_launch = columns.get("experiment") == "duet" and columns.get("metric") == "time"
    others = text.number(source.cells.get("others", ""))
    return verdict.of_study(float("nan") if others is None else others, is_launch)


def _judge_nodes(fleet: Fleet) -> tuple[Judged, Judged]:
    """Return the verdicts of the nodes that have a record, and of the others."""
    judged: Judged = []
    failed: Judged = []
    try:
        nodes = text.read_texts(fleet.path, "fleet.csv", ("record", "reason"), ("reason",))
    except UserError as error:
        return [], [(fleet.path, Verdict(reasons=str(error)))]
    for record, reason in zip(nodes.fields["record"], nodes.fields["reason"]):
        path = f"{fleet.path}/{record}"
        try:
            judged.append((path, _of_run(path)))
        except UserError as error:
            failed.append((path, Verdict(reasons=reason or str(error))))
    return judged, failed


def judge(
    first: Sequence[str], second: Sequence[str], leave_out: str = "", subject: str = ""
) -> Judged:
    """Return the names of all records with their verdicts on a subject: of runs, of requests, of
    the nodes of fleets, and of what cannot be read. Runs that were skipped have none."""
    runs: Judged = []
    requests: Judged = []
    nodes: Judged = []
    failed: Judged = []
    names: set[str] = set()
    for found in inputs.Gatherer().gather(first, second):
        if isinstance(found, Failure):
            if found.result != "not checked":
                failed.append((found.name, Verdict(found.result, found.why)))
            continue
        if isinstance(found, Fleet):
            known, unknown = _judge_nodes(found)
            nodes += [(node, verdict.about(subject)) for node, verdict in known]
            failed = failed + unknown
            continue
        name = inputs.choose_name(found.path, names)
        try:
            verdict = _judge(found)
        except UserError as error:
            failed.append((name, Verdict(reasons=str(error))))
            continue
        verdict = verdict.about(subject)
        if leave_out and verdict.rank >= RANKS[leave_out]:
            why = f"left out: {verdict.result}: {verdict.reasons}"
            failed.append((name, Verdict(verdict.result, why)))
            continue
        names.add(name)
        (requests if found.is_requests else runs).append((name, verdict))
    return runs + requests + nodes + failed
