# SPDX-License-Identifier: Apache-2.0
"""Findings: the sentences of all topics, at the beginning of page and terminal."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import FINDINGS, has_intervals, listed
from ..page import Fold, Part, Section, Small
from ..studies import Report
from ..text import wrap

TABLES = (FINDINGS,)

SENTENCES_MAX = 12  # about single pairs on the terminal
SENTENCES_OPEN_MAX = 8  # about single pairs, unfolded on the page


def text(report: Report) -> str:
    shown = list(listed(report))
    special = [finding for finding in shown if not finding.is_general]
    more = len(special) - SENTENCES_MAX
    lines = [
        "- " + wrap(finding.sentence, 2)
        for finding in shown
        if finding.is_general or finding in special[:SENTENCES_MAX]
    ]
    if more > 0:
        lines.append(f"and {more} more about single pairs: see findings.csv (--output)")
    if has_intervals(report, shown):
        lines.append(f"({100 * report.settings.confidence:g} % confidence intervals in brackets)")
    return "\n".join([*lines, ""]) + "\n" if shown else "".join(f"{line}\n" for line in lines)


def sections(report: Report) -> Iterator[Section]:
    shown = list(listed(report))
    special = [finding.sentence for finding in shown if not finding.is_general]
    has_sure = has_intervals(report, shown)
    parts: list[Part] = [[finding.sentence for finding in shown if finding.is_general]]
    if special:
        count = f"{len(special)} finding{'' if len(special) == 1 else 's'}"
        parts.append(
            Fold(f"Pair by pair: {count}", [special], open=len(special) <= SENTENCES_OPEN_MAX)
        )
    if has_sure:
        parts.append(
            Small(
                f"In brackets: the {100 * report.settings.confidence:g} % confidence interval of "
                "each statement. Unless runs or rounds are counted, it reflects the scatter "
                "between steps, not between runs."
            )
        )
    if shown or has_sure:
        yield Section("Findings", parts)
