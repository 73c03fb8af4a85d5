# SPDX-License-Identifier: Apache-2.0
"""The beginning of a report: the question, the answer, and findings of all topics."""

from __future__ import annotations

from dataclasses import dataclass, fields

import pandas as pd

from ..study import Study
from ..verdicts import THROUGHPUT
from . import topics
from .findings import ABOUT_RECORDS, Finding, Worth
from .tables import Sheet, Table


@dataclass(frozen=True)
class Headline:
    """The question that the records answer, and the answer; '' if there is none."""

    question: str = ""
    answer: str = ""


def findings(study: Study) -> list[Finding]:
    return list(topics.each("findings", study))


def headline(study: Study) -> Headline:
    for topic in topics.asking():
        question = topic.question(study)
        if question:
            worth = Worth.of(study, getattr(topic, "NEEDS", THROUGHPUT))
            if worth.is_nothing:
                return Headline(question, f"{worth.describe()}.")
            answer = topic.answer(study)
            return Headline(question, worth.qualify(answer) if answer else "")
    return Headline()


def listed(study: Study) -> list[Finding]:
    """Return the findings that are listed: not those that the answer includes and, if no record
    supports an answer, only those about the records."""
    is_nothing = Worth.of(study).is_nothing
    answer = study.once(headline).answer
    return [
        finding
        for finding in study.once(findings)
        if finding.sentence not in answer and (not is_nothing or finding.kind in ABOUT_RECORDS)
    ]


def df_findings(study: Study) -> pd.DataFrame:
    names = [field.name for field in fields(Finding)]
    return pd.DataFrame([vars(one) for one in study.once(findings)], columns=names)


FINDINGS = Table(
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


def tables() -> dict[str, Table]:
    """Return all tables by name."""
    return {"findings": FINDINGS} | topics.tables()


def sheets(study: Study) -> dict[str, Sheet]:
    return {name: table.sheet(name, study) for name, table in tables().items()}


def prepare(study: Study) -> None:
    """Let topics add their notes to records, before these are printed."""
    if study.settings.decides:  # other topics would read all of each record
        topics.by_name()["duet"].notes(study)
        return
    for _ in topics.each("notes", study):
        pass
