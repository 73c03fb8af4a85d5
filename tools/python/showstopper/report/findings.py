# SPDX-License-Identifier: Apache-2.0
"""Sentences of a report, and what its records are worth."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..study import Study, disturbed
from ..verdicts import OTHERS, THROUGHPUT, Verdict

ABOUT_RECORDS = ("verdicts", "others", "early")  # kinds of findings
FAILED = ("failed_requests", "unanswered_requests")


@dataclass(frozen=True)
class Finding:
    """A sentence and its numbers: a row of the table of findings."""

    kind: str
    sentence: str
    scope: str = "all"  # `all`: about the whole report, or `pair`: about one pair
    environment: str = ""
    measured_in: str = ""
    placement: str = ""
    foreground: str = ""
    background: str = ""
    against: str = ""
    measure: str = ""
    percent: float = math.nan
    low_percent: float = math.nan
    high_percent: float = math.nan
    told: str = "yes"
    count: float = math.nan
    of: str | float = math.nan  # what `count` counts
    set: float = math.nan

    @property
    def is_general(self) -> bool:
        return self.scope == "all"


@dataclass(frozen=True)
class Worth:
    """How many of the records can be relied upon."""

    all: int
    invalid: int
    disturbed: int
    first: Verdict | None  # the first invalid one
    can_leave_out: bool

    @staticmethod
    def of(study: Study, subject: str = THROUGHPUT) -> Worth:
        """Return the worth for figures of this subject. A record without a verdict on it counts
        with its whole verdict."""
        verdicts = [(record.verdict, math.nan) for record in study.records]
        verdicts += [(one.verdict, one.others) for one in study.requests]
        verdicts += [(v, math.nan) for fleet in study.fleets for v in fleet.nodes["verdict"]]
        verdicts = [(verdict.about(subject), others) for verdict, others in verdicts]
        invalid = [v for v, _ in verdicts if v.is_invalid and not _is_overload(v)]
        count = sum(
            v.finding("others") == "doubtful" or disturbed(others)
            for v, others in verdicts
            if not v.is_invalid or _is_overload(v)
        )
        can_leave_out = not study.settings.leave_out and not study.fleets
        first = invalid[0] if invalid else None
        return Worth(len(verdicts), len(invalid), count, first, can_leave_out)

    @property
    def is_nothing(self) -> bool:
        return self.all > 0 and self.invalid == self.all

    def describe(self) -> str:
        """Return what reduces the worth of the records, without a full stop; '' if nothing."""
        if self.is_nothing:
            return self._describe_nothing()
        parts = []
        if self.invalid:
            parts.append(f"{self.invalid} {'is' if self.invalid == 1 else 'are'} invalid")
        if self.disturbed:
            are = "is" if self.disturbed == 1 else "are"
            parts.append(f"{self.disturbed} {are} disturbed by other processes")
        if parts and self.all == 1:
            return "The record is disturbed by other processes"
        return f"Of {self.all} records, {' and '.join(parts)}" if parts else ""

    def _describe_nothing(self) -> str:
        assert self.first
        is_busy = self.first.finding("others") == "invalid"
        remedy = "Repeat" if is_busy else "Remove the cause and repeat"
        where = " on a quiet machine" if is_busy else ""
        reasons = self.first.reasons or "unknown"
        if self.all == 1:
            return f"The record is invalid: {reasons}. {remedy} it{where}"
        # The cause rather than its effects
        busy = max(map(reasons.find, OTHERS)) if is_busy else -1
        cause = reasons[max(busy, 0) :].split(";")[0]
        all_ = f"All {self.all} records are invalid; the first: {cause}"
        return f"{all_}. {remedy} them{where}"

    def qualify(self, answer: str) -> str:
        """Return an answer with what reduces its worth in front."""
        caution = self.describe()
        if not caution or caution[1:] in answer:
            return answer
        if self.is_nothing:
            return f"{caution}."
        remedy = "; use --leave-out invalid to leave those out"
        return f"{caution}{remedy if self.invalid and self.can_leave_out else ''}. {answer}"


def _is_overload(verdict: Verdict) -> bool:
    """Return whether a record is invalid only because its service failed, which is a result, too.
    """
    invalid = [c.get("check") for c in verdict.checks if c.get("result") == "invalid"]
    return bool(invalid) and all(name in FAILED for name in invalid)
