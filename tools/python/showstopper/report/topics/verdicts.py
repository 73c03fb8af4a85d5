# SPDX-License-Identifier: Apache-2.0
"""Verdicts: what the records are worth, as each run itself found out."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from ...inputs import Judged
from ...study import Study
from ..findings import Finding, Worth
from ..tables import Table


def frame(judged: Judged) -> pd.DataFrame:
    rows = [(name, verdict.result, verdict.reasons) for name, verdict in judged]
    return pd.DataFrame(rows, columns=["record", "verdict", "reasons"])


def df_verdicts(study: Study) -> pd.DataFrame:
    """Return a row for each record: its verdict and the reasons."""
    return frame(study.verdicts)


TABLES = {
    "verdicts": Table(
        "What the records are worth",
        "record verdict reasons",
        df_verdicts,
        shade="verdict",
        about="A row for each record: `valid`, `doubtful` or `invalid`, and the reasons.",
    ),
}


def findings(study: Study) -> Iterator[Finding]:
    rows, worth = df_verdicts(study), Worth.of(study)
    counts = {word: int((rows["verdict"] == word).sum()) for word in ("doubtful", "invalid")}
    if worth.is_nothing:
        yield Finding("verdicts", f"{worth.describe()}.")
    elif sum(counts.values()) and len(rows) == 1:
        yield Finding("verdicts", f"The record is doubtful: {rows['reasons'].iloc[0]}.")
    elif sum(counts.values()):
        words = " and ".join(f"{n} {'is' if n == 1 else 'are'} {w}" for w, n in counts.items())
        remedy = " Use --leave-out doubtful to report only the valid ones."
        yield Finding(
            "verdicts",
            f'Of {len(rows)} records, {words}: see "What the records are worth".'
            f"{'' if study.settings.leave_out else remedy}",
        )
