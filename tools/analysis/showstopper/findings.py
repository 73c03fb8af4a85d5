# SPDX-License-Identifier: Apache-2.0
"""Sentences of a report: findings, the question that it answers, and what its records are worth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from .studies import Report, others_disturb
from .tables import Table
from .verdicts import OTHERS, THROUGHPUT, Verdict

if TYPE_CHECKING:
    import pandas as pd

ABOUT_RECORDS = ("verdicts", "others", "early")
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
class Headline:
    """The question that the records answer, and the answer: a sentence or one of the findings."""

    question: str
    answer: str = ""
    finding: Finding | None = None
    needs: str = THROUGHPUT  # what must be valid for the answer

    @property
    def sentence(self) -> str:
        return self.answer or (self.finding.sentence if self.finding else "")


def df_findings(report: Report) -> pd.DataFrame:
    import pandas as pd

    names = [field.name for field in fields(Finding)]
    return pd.DataFrame([vars(finding) for finding in report.findings], columns=names)


FINDINGS = Table(
    "findings",
    "Findings",
    "kind scope environment (measured_in) placement foreground background against (measure) "
    "percent low_percent high_percent (told) count (of) sentence (set)",
    df_findings,
    about="The sentences of the findings as a table. `kind` is `placement`, `placement-energy`, "
    "`environment`, `left-out`, `idle` (residency of the deepest idle state), `early` "
    "(runs of a study whose programs ended early), `others` (disturbed runs), or of "
    "requests `capacity`, `rate`, `omission`, `stopping`, `closed-loop`, `late` or "
    "`successes`.",
)


@dataclass(frozen=True)
class Worth:
    """How many of the records can be relied upon."""

    all: int
    invalid: int
    disturbed: int
    first: Verdict | None  # the first invalid one
    can_leave_out: bool

    @staticmethod
    def of(report: Report, subject: str = THROUGHPUT) -> Worth:
        """Return the worth for figures of this subject. Without a throughput, it is the load."""
        verdicts = [(run.verdict, math.nan) for run in report.runs]
        verdicts += [(responses.verdict, responses.others) for responses in report.responses]
        verdicts += [(v, math.nan) for fleet in report.fleets for v in fleet.nodes["verdict"]]
        verdicts = [(verdict.about(subject), others) for verdict, others in verdicts]
        invalid = [v for v, _ in verdicts if v.is_invalid and not _is_overload(v)]
        disturbed = sum(
            v.finding("others") == "doubtful" or others_disturb(others)
            for v, others in verdicts
            if not v.is_invalid or _is_overload(v)
        )
        return Worth(
            len(verdicts),
            len(invalid),
            disturbed,
            invalid[0] if invalid else None,
            not report.leave_out and not report.fleets,
        )

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
        return f"Of {self.all} records {' and '.join(parts)}" if parts else ""

    def _describe_nothing(self) -> str:
        assert self.first
        is_busy = self.first.finding("others") == "invalid"
        remedy = "Repeat" if is_busy else "Remove the cause and repeat"
        where = " on a quiet machine" if is_busy else ""
        reasons = self.first.reasons or "unknown"
        if self.all == 1:
            return f"The record is invalid because of {reasons}. {remedy} it{where}"
        # The cause rather than its effects
        busy = max(map(reasons.find, OTHERS)) if is_busy else -1
        cause = reasons[max(busy, 0) :].split(";")[0]
        all_ = f"All {self.all} records are invalid, the first because of {cause}"
        return f"{all_}. {remedy} them{where}"

    def qualify(self, answer: str) -> str:
        """Return an answer with what reduces its worth in front."""
        caution = self.describe()
        if not caution or caution[1:] in answer:
            return answer
        if self.is_nothing:
            return f"{caution}."
        remedy = "; --leave-out invalid answers without the invalid ones"
        return f"{caution}{remedy if self.invalid and self.can_leave_out else ''}. {answer}"


def _is_overload(verdict: Verdict) -> bool:
    """Return whether a record is invalid only because its service failed: an answer, too."""
    invalid = [c.get("check") for c in verdict.checks if c.get("result") == "invalid"]
    return bool(invalid) and all(name in FAILED for name in invalid)


def listed(report: Report) -> Iterator[Finding]:
    """Yield the findings that are listed: not the headline and, if no record supports an answer,
    only those about the records."""
    nothing = report.worth.is_nothing
    for finding in report.findings:
        is_supported = not nothing or finding.kind in ABOUT_RECORDS
        if is_supported and finding is not report.headline.finding:
            yield finding


def first(findings: list[Finding], kind: str, general: bool = True) -> Finding | None:
    """Return the first finding of this kind, about the whole report or about a pair."""
    return next((f for f in findings if f.kind == kind and f.is_general == general), None)


def has_intervals(report: Report, shown: list[Finding]) -> bool:
    stated = [*shown, report.headline.finding]
    return any(math.isfinite(finding.low_percent) for finding in stated if finding)
