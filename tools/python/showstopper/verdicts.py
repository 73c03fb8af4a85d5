# SPDX-License-Identifier: Apache-2.0
"""The verdict of a record, which the run itself has reached; nothing is judged here."""

from __future__ import annotations

import fcntl
import os
import struct
from dataclasses import dataclass, replace
from typing import Any

from . import __version__
from .contents import has_file, list_of, member, number_of, open_regular, read_json, text_of
from .text import UserError, reason, show

SCHEMA = 2  # of records, as in src/base/version.h
RANKS = {"not checked": 0, "passed": 1, "valid": 1, "doubtful": 2, "invalid": 3}
LOAD, THROUGHPUT = SUBJECTS = ("load", "throughput")

# The beginning of the reason of the check `others`: now, and in records without subjects
OTHERS = ("other processes used", "load of other processes")


@dataclass(frozen=True)
class Verdict:
    """What a run found out about itself: a word, its reasons, and the checks that led to it.

    `subjects` has the word for each subject that is judged, of which `result` is the worst. It is
    empty for records of earlier versions, whose checks count for everything.
    """

    result: str = "invalid"
    reasons: str = "interrupted: no verdict"
    checks: tuple[dict[str, Any], ...] = ()
    subjects: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(summary: Any, reasons: str = "interrupted: no verdict") -> Verdict:
        """Return the verdict in a document; a record without one is invalid."""
        document = member(summary, "verdict", dict)
        checks = tuple(check for check in list_of(document, "checks") if isinstance(check, dict))
        result = text_of(document, "result")
        if not checks or result not in RANKS:
            return Verdict(reasons=reasons)
        words = ((subject, text_of(document, subject)) for subject in SUBJECTS)
        subjects = tuple((subject, word) for subject, word in words if word in RANKS)
        return Verdict(result, text_of(document, "reasons"), checks, subjects)

    def about(self, subject: str) -> Verdict:
        """Return the verdict on a subject; the whole one if this subject has none of its own."""
        word = dict(self.subjects).get(subject)
        if word is None:
            return self
        inherits = subject == THROUGHPUT and dict(self.subjects).get(LOAD) == "invalid"
        checks = tuple(
            check
            for check in self.checks
            if subject in list_of(check, "of") or inherits and check.get("result") == "invalid"
        )
        return replace(
            self, result=word, reasons=_reasons(checks), checks=checks, subjects=((subject, word),)
        )

    @property
    def rank(self) -> int:
        return RANKS[self.result]

    @property
    def is_invalid(self) -> bool:
        return self.result == "invalid"

    def check(self, name: str) -> dict[str, Any]:
        return next((check for check in self.checks if check.get("check") == name), {})

    def finding(self, name: str) -> str:
        """Return the result of a check; `not checked` if the record does not have it."""
        return text_of(self.check(name), "result") or "not checked"

    def of_study(self, others: float, is_launch: bool) -> Verdict:
        """Return the verdict on a run of a study. A run counts its neighbors as other processes,
        but ssbatch does not: the true load is the smaller figure. A launch may end before the
        first sample."""
        verdict = self
        if number_of(self.check("others"), "figure") > 100 * others:
            words = OTHERS[0 if self.subjects else 1]
            verdict = verdict._with_figure("others", words, 100 * others)
        return verdict._with_figure("samples", "samples", None) if is_launch else verdict

    def _with_figure(self, name: str, words: str, figure: float | None) -> Verdict:
        """Return the verdict with another figure of a check, by the limits in the record.

        `words` begin the reason that the check has given. Without a figure, it is not checked.
        """
        old = self.check(name)
        if not old or text_of(old, "result") == "not checked":
            return self
        result = _find(old, figure)
        unit = f" {old['unit']}" if old.get("unit") else ""
        limit = f"({result} above {number_of(old, result):g})"
        why = f"{words} {figure or 0:.3g}{unit} {limit}" if RANKS[result] > 1 else None
        new = old | {"figure": figure, "result": result, "reason": why}
        checks = tuple(new if check is old else check for check in self.checks)
        if self.subjects:
            return self._with_checks(checks)
        # Checks of earlier versions have no reasons of their own, and count for everything.
        worst = _worst([text_of(check, "result") for check in checks])
        kept = [why] if why else []
        kept += [r for r in self.reasons.split("; ") if not r.startswith((words, "nothing found"))]
        return replace(
            self, result=worst, reasons="; ".join(kept) or _reasons(checks), checks=checks
        )

    def _with_checks(self, checks: tuple[dict[str, Any], ...]) -> Verdict:
        """Return the verdict that these checks lead to, as the run reaches it."""
        words: dict[str, str] = {}
        for subject, _ in self.subjects:
            found = [text_of(c, "result") for c in checks if subject in list_of(c, "of")]
            if subject == THROUGHPUT and words.get(LOAD) == "invalid":
                found.append("invalid")
            words[subject] = _worst(found)
        counting = tuple(check for check in checks if list_of(check, "of"))
        result, subjects = _worst(list(words.values())), (*words.items(),)
        return replace(
            self, result=result, reasons=_reasons(counting), checks=checks, subjects=subjects
        )


def _worst(results: list[str]) -> str:
    """Return the verdict that results of checks lead to."""
    worst = max(results, key=lambda result: RANKS.get(result, 0), default="passed")
    return worst if RANKS.get(worst, 0) > 1 else "valid"


def _reasons(checks: tuple[dict[str, Any], ...]) -> str:
    """Return the reasons of checks, the worst first."""
    found = [
        text_of(check, "reason")
        for result in ("invalid", "doubtful")
        for check in checks
        if check.get("result") == result
    ]
    passed = sum(check.get("result") == "passed" for check in checks)
    return "; ".join(found) or f"nothing found in {passed} checks"


def _find(check: dict[str, Any], figure: float | None) -> str:
    if figure is None:
        return "not checked"
    for finding in ("invalid", "doubtful"):
        if abs(figure) > number_of(check, finding):
            return finding
    return "passed"


# Records, by their documents alone


def check_schema(document: Any) -> None:
    """Refuse a record that a later version has written."""
    schema = number_of(document, "schema")
    if schema > SCHEMA:
        wrote = show(text_of(document, "version") or "?")
        raise UserError(
            f"the record has schema {schema:g}, and this version, {__version__}, reads schemas up "
            f"to {SCHEMA}: use version {wrote}, which wrote it, or a later one"
        )


def open_folder(folder: str) -> None:
    """Refuse a record that is not a folder, or cannot be read."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UserError(
            "not a folder: name a folder that --record created, or a file of ssrequest --json"
        )
    if not os.access(folder, os.R_OK | os.X_OK):
        try:
            os.listdir(folder)
            why = os.strerror(13)
        except OSError as error:
            why = reason(error)
        raise UserError(f"cannot read the record: {why}")


def judge_run(folder: str, summary: Any) -> Verdict:
    """Return the verdict of a run; `summary` is None if it cannot be read."""
    if not has_file(folder, "summary.json"):
        return Verdict(reasons="still running: no verdict") if is_written(folder) else Verdict()
    if not text_of(summary, "ended_by"):
        return Verdict(reasons="summary.json is damaged")
    return Verdict.of(summary, "summary.json has no verdict")


def of_run(folder: str) -> Verdict:
    """Read the verdict of a record of a run. Raises UserError."""
    open_folder(folder)
    documents = []
    for name in ("plan.json", "summary.json"):
        try:
            documents.append(read_json(folder, name))
        except UserError:
            documents.append(None)
        check_schema(documents[-1])
    return judge_run(folder, documents[-1])


def of_requests(path: str) -> Verdict:
    """Read the verdict of a record of requests, or of a file of ssrequest --json."""
    is_file = os.path.isfile(path)
    folder, name = os.path.split(path) if is_file else (path, "requests.json")
    if not has_file(folder or ".", name):
        return Verdict()
    try:
        document = read_json(folder or ".", name)
    except UserError:
        if is_file:
            raise
        return Verdict(reasons=f"{name} is damaged")
    check_schema(document)
    return Verdict.of(document, f"{'the file' if is_file else name} is damaged")


def is_written(folder: str) -> bool:
    """Return whether a run is still writing the record: it holds a lock on `interrupted`."""
    try:
        mark = open_regular(f"{folder}/interrupted")
    except OSError:
        return False
    try:
        layout = "hhqqi4x"
        whole = struct.pack(layout, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
        lock = struct.unpack(layout, fcntl.fcntl(mark, fcntl.F_GETLK, whole))
        return bool(lock[0] != fcntl.F_UNLCK)
    except OSError:
        return False
    finally:
        os.close(mark)
