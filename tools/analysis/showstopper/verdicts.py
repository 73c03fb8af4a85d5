# SPDX-License-Identifier: Apache-2.0
"""The verdict of a record, which the run itself has reached; nothing is judged here."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from .text import list_of, member, number_of, text_of

RANKS = {"not checked": 0, "passed": 1, "valid": 1, "doubtful": 2, "invalid": 3}
LOAD, THROUGHPUT = SUBJECTS = ("load", "throughput")

# How a reason names the check `others`: now, and in records of schema 2 before subjects
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
    recorded: bool = False
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
        return Verdict(result, text_of(document, "reasons"), checks, True, subjects)

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

    def with_figure(self, name: str, words: str, figure: float | None) -> Verdict:
        """Return the verdict with another figure of a check, by the limits in the record.

        `words` begin the reason that the check has given. Without a figure, it is not checked.
        """
        old = self.check(name)
        if not old or text_of(old, "result") == "not checked":
            return self
        new = old | {"figure": figure, "result": _find(old, figure)}
        if self.subjects:
            limit = number_of(new, result := text_of(new, "result"))
            reason = f"{words} {figure or 0:.3g} {new.get('unit')} ({result} above {limit:g})"
            new["reason"] = reason if RANKS[result] > 1 else None
            return self._with_checks(tuple(new if c is old else c for c in self.checks))
        checks = tuple(new if check is old else check for check in self.checks)
        worst = max((text_of(check, "result") for check in checks), key=lambda r: RANKS.get(r, 0))
        limit = number_of(new, text_of(new, "result"))
        unit = f" {new['unit']}" if new.get("unit") else ""
        reason = f"{words} {figure or 0:.3g}{unit} ({new['result']} above {limit:g})"
        given = self.reasons.split("; ")
        same = new["result"] == old["result"]
        kept = [reason if r.startswith(words) else r for r in given if same or not r.startswith(words)]
        if new["result"] in ("doubtful", "invalid") and not same:
            kept.insert(0 if new["result"] == "invalid" else len(kept), reason)
        passed = sum(check.get("result") == "passed" for check in checks)
        reasons = "; ".join(kept)
        if not reasons or re.match(r"nothing found in \d+ checks$", reasons):
            reasons = f"nothing found in {passed} checks"
        result = "valid" if worst in ("passed", "not checked") else worst
        return replace(self, result=result, reasons=reasons, checks=checks)

    def _with_checks(self, checks: tuple[dict[str, Any], ...]) -> Verdict:
        """Return the verdict that these checks lead to, as the run reaches it."""
        words: dict[str, str] = {}
        for subject, _ in self.subjects:
            found = [text_of(c, "result") for c in checks if subject in list_of(c, "of")]
            if subject == THROUGHPUT and words.get(LOAD) == "invalid":
                found.append("invalid")
            worst = max(found, key=lambda result: RANKS.get(result, 0), default="passed")
            words[subject] = worst if RANKS.get(worst, 0) > 1 else "valid"
        result = max(words.values(), key=RANKS.__getitem__)
        counting = tuple(check for check in checks if list_of(check, "of"))
        reasons, subjects = _reasons(counting), (*words.items(),)
        return replace(self, result=result, reasons=reasons, checks=checks, subjects=subjects)

    def of_study(self, others: float, is_launch: bool) -> Verdict:
        """Return the verdict on a run of a study. A run counts its neighbors as other processes,
        but ssbatch does not: the true load is the smaller figure. A launch may end before the
        first sample."""
        recorded = number_of(self.check("others"), "figure")
        is_less = recorded > 100 * others
        if not (is_less or is_launch):
            return self
        verdict = self
        if is_less:
            words = OTHERS[0 if self.subjects else 1]
            verdict = verdict.with_figure("others", words, 100 * others)
        return verdict.with_figure("samples", "samples", None) if is_launch else verdict


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
