# SPDX-License-Identifier: Apache-2.0
"""Estimates the effects in simulated studies, read as CSV, and counts correct answers.

Exits with status 1 if a limit is missed; with fewer than 1,000 studies, by more than two standard
errors.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/analysis"))

from showstopper.antagonist.effects import HURTS, NOTHING, SHIFTS, SUPPORTS, UNTESTABLE, estimate, quantile
from showstopper.statistics import fit_line

DEPTH, USUAL_ERROR = 0.5, 0.02  # as in antagonist.c
SLOTS = 126
CHUNK = 100_000  # rows

# Limits of each share of correct answers.
BARS = {
    "an innocent suspect is accused": (0, 0.065),
    "an innocent suspect is accused by its correlation": (0.2, 1),
    "a cost of 6 % is found": (0.9, 1),
    "suspects of 6 % and 10 % are in order": (0.95, 1),
    "a queue is named so": (0.95, 1),
    "a suspect that the victim needs is named so": (0.95, 1),
    "a suspect that catches up is not testable": (0.95, 1),
    "the interval contains the cost": (0.95, 1),
}


def read_studies() -> Iterator[tuple[str, pd.DataFrame]]:
    """Return the kind and the slots of each study; slot -1 has the usual CPU time."""
    rest = pd.DataFrame()
    with pd.read_csv(
        sys.stdin, chunksize=CHUNK, keep_default_na=False, float_precision="round_trip"
    ) as chunks:
        for chunk in chunks:
            rows = pd.concat([rest, chunk])
            ends = np.flatnonzero(rows["slot"] == SLOTS - 1) + 1
            for begin, end in zip([0, *ends[:-1]], ends):
                yield rows["kind"].iat[begin], rows.iloc[begin:end]
            rest = rows.iloc[ends[-1] if len(ends) else 0 :]


def correlates(rows: pd.DataFrame) -> bool:
    """Return whether CPU time without throttles accuses one of the innocent suspects."""
    cpu = rows.filter(like="cpu")
    for name in cpu.columns[2:]:
        line = fit_line(cpu[name], rows["figure"])
        if abs(line.slope) > quantile(cpu.shape[1], SLOTS - 2) * line.slope_error:
            return True
    return False


def answers(kind: str, rows: pd.DataFrame) -> list[bool]:
    """Return the answers of a study, of the next bars of its kind."""
    if kind == "unthrottled":
        return [correlates(rows)]
    usual, slots = rows.iloc[0], rows.iloc[1:]
    found = estimate(
        slots.filter(like="low").to_numpy(dtype=bool),
        DEPTH,
        slots["figure"].to_numpy(),
        slots.filter(like="cpu").to_numpy(),
        np.array([[mean, USUAL_ERROR] for mean in usual.filter(like="cpu")]),
    )
    if not found:
        sys.exit("antagonist: no estimate")
    codes, verdicts = found.codes, found.codes["verdict"]
    if kind == "innocents":
        return [not verdicts[2:8].isin([NOTHING, UNTESTABLE]).all()]
    return [
        verdicts[0] == HURTS,
        codes["cost"][0] < codes["cost"][1],
        verdicts[2] == SHIFTS,
        verdicts[4] == SUPPORTS,
        verdicts[3] == UNTESTABLE,
        codes["cost_low"][0] < math.log(1.06) < codes["cost_high"][0],
    ]


def main() -> int:
    found: dict[str, list[list[bool]]] = {"innocents": [], "unthrottled": [], "guilty": []}
    for kind, rows in read_studies():
        found[kind].append(answers(kind, rows))
    count = len(found["guilty"])
    shares = np.hstack([np.mean(found[kind], axis=0) for kind in found])
    missed = False
    for (name, (low, high)), share in zip(BARS.items(), shares, strict=True):
        wide = 0 if count >= 1000 else 2
        least = low - wide * math.sqrt(low * (1 - low) / count)
        most = high + wide * math.sqrt(high * (1 - high) / count)
        met = least <= share <= most
        limits = f"bar {100 * low:g} to {100 * high:g} %{'' if met else ': missed'}"
        print(f"{name:50} {100 * share:6.1f} %, {limits}")
        missed |= not met
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
