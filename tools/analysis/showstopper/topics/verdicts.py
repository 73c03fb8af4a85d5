# SPDX-License-Identifier: Apache-2.0
"""Verdicts: what the records are worth, as each run itself found out."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from ..findings import Finding
from ..page import Part
from ..studies import Report
from ..tables import Sheet, Table
from ..text import wrap
from ..verdicts import Verdict

NAMED_MAX = 4


def _frame(judged: list[tuple[str, Verdict]]) -> pd.DataFrame:
    rows = [(name, verdict.result, verdict.reasons) for name, verdict in judged]
    return pd.DataFrame(rows, columns=["record", "verdict", "reasons"])


def df_verdicts(report: Report) -> pd.DataFrame:
    """Return a row for each record: its verdict and the reasons."""
    return _frame(report.verdicts)


def sheet(judged: list[tuple[str, Verdict]]) -> Sheet:
    """Return the table of records that are only judged."""
    return Sheet(TABLES[0], _frame(judged))


TABLES = (
    Table(
        "verdicts",
        "What the records are worth",
        "record verdict reasons",
        df_verdicts,
        shade="verdict",
        about="A row for each record: `valid`, `doubtful` or `invalid`, and the reasons.",
    ),
)


def findings(report: Report) -> Iterator[Finding]:
    verdicts = report.table("verdicts").frame
    counts = {word: int((verdicts["verdict"] == word).sum()) for word in ("doubtful", "invalid")}
    if report.worth.is_nothing:
        yield Finding("verdicts", f"{report.worth.describe()}.")
    elif sum(counts.values()) and len(verdicts) == 1:
        yield Finding("verdicts", f"The record is doubtful: {verdicts['reasons'].iloc[0]}.")
    elif sum(counts.values()):
        words = " and ".join(f"{n} {'is' if n == 1 else 'are'} {w}" for w, n in counts.items())
        remedy = " --leave-out doubtful reports the valid ones alone."
        yield Finding(
            "verdicts",
            f'Of {len(verdicts)} records, {words}: see "What the records are worth".'
            f"{'' if report.leave_out else remedy}",
        )


def text(report: Report) -> str:
    """Name the first records that are not valid."""
    sheet = report.table("verdicts")
    if len(sheet) == 1:  # the finding names it
        return ""
    bad = sheet.frame[sheet.frame["verdict"] != "valid"]
    lines = [
        wrap(f"{row.record.removeprefix(sheet.prefix)}: {row.verdict}: {row.reasons}", 2)
        for row in bad.head(NAMED_MAX).itertuples()
    ]
    if len(bad) > NAMED_MAX:
        more = len(bad) - NAMED_MAX
        lines.append(f"and {more} more that are doubtful or invalid: see ssreport --check")
    return "".join(f"{line}\n" for line in lines)


def details(report: Report) -> Iterator[Part]:
    yield report.table("verdicts")
