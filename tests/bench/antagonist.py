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

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/python"))

from showstopper.antagonist.effects import (
    DISTURBS, HURTS, SHIFTS, SUPPORTS, UNCONFIRMED, Effects, Throttled, confirmed, estimate,
    quantile,
)
from showstopper.stats import fit_line

USUAL_ERROR = 0.02  # as in antagonist.c
ROWS = 630
TOGETHER, ALONE = 5, 10  # rows of a slot
CHUNK = 100_000  # rows

# Limits of the share of studies with each answer, by the kind of study. None: without limits.
BARS: dict[str, dict[str, tuple[float, float] | None]] = {
    "innocents": {"an innocent suspect is accused": (0, 0.065)},
    "unthrottled": {"an innocent suspect is accused by its correlation": (0.2, 1)},
    "guilty": {
        "a cost of 6 % is found": (0.9, 1),
        "suspects of 6 % and 10 % are in order": (0.95, 1),
        "a queue is named so": (0.95, 1),
        "a suspect that catches up is named so": (0.95, 1),
        "a suspect that the victim needs is named so": (0.95, 1),
        "the interval contains the cost": (0.95, 1),
    },
    "disturbers": {
        "a suspect that only disturbs is called needed": (0, 0.02),
        "a cost of 13 % beside those that disturb is found": (0.9, 1),
        "one seems to be needed, but is not confirmed": None,
        "of these suspects, the disturbance is found": None,
    },
}


def read_studies() -> Iterator[tuple[str, int, pd.DataFrame]]:
    """Return the kind, the number and the rows of each run; row -1 has the usual CPU time."""
    rest = pd.DataFrame()
    with pd.read_csv(sys.stdin, chunksize=CHUNK, float_precision="round_trip") as chunks:
        for chunk in chunks:
            rows = pd.concat([rest, chunk])
            ends = np.flatnonzero(rows["row"] == ROWS - 1) + 1
            for begin, end in zip([0, *ends[:-1]], ends):
                one = rows.iloc[begin:end]
                yield one["kind"].iat[0], one["study"].iat[0], one.dropna(axis=1)
            rest = rows.iloc[ends[-1] if len(ends) else 0 :]


def correlates(rows: pd.DataFrame) -> bool:
    """Return whether CPU time without throttles accuses one of the innocent suspects."""
    cpu = rows.filter(like="cpu")
    for name in cpu.columns[2:]:
        line = fit_line(cpu[name], rows["figure"])
        if abs(line.slope) > quantile(cpu.shape[1], ROWS - 2) * line.slope_error:
            return True
    return False


def effects(rows: pd.DataFrame, slot: int) -> Effects:
    usual, rows = rows.iloc[0], rows.iloc[1:]
    stopped = rows.filter(regex="^s[0-9]").to_numpy(dtype=float)
    low = stopped.reshape(-1, slot, stopped.shape[1]).any(axis=1)
    found = estimate(
        Throttled.in_rows(low, stopped),
        rows["figure"].to_numpy(),
        rows.filter(like="cpu").to_numpy(),
        np.array([[mean, USUAL_ERROR] for mean in usual.filter(like="cpu")]),
    )
    return found or sys.exit("antagonist: no estimate")


def answers(runs: dict[str, list[pd.DataFrame]]) -> dict[str, list[float]]:
    """Return the answers of a study by kind, in the order of BARS."""
    codes = {
        kind: effects(runs[kind][0], TOGETHER).codes
        for kind in ("innocents", "guilty", "disturbers")
    }
    alone = {
        kind: [effects(one, ALONE).codes["verdict"][0] for one in runs[kind]]
        for kind in ("confirmed", "disturber")
    }
    innocents, guilty = codes["innocents"]["verdict"][2:8], codes["guilty"]
    verdicts, disturbers = guilty["verdict"], codes["disturbers"]["verdict"]
    named = [confirmed(*one) for one in zip(disturbers[1:8], alone["disturber"])]
    return {
        "innocents": [innocents.isin([HURTS, SHIFTS, SUPPORTS]).any()],
        "unthrottled": [correlates(runs["unthrottled"][0])],
        "guilty": [
            verdicts[0] == HURTS,
            guilty["cost"][0] < guilty["cost"][1],
            verdicts[2] == SHIFTS,
            verdicts[3] == SHIFTS,
            confirmed(verdicts[4], alone["confirmed"][0]) == SUPPORTS,
            guilty["cost_low"][0] < math.log(1.06) < guilty["cost_high"][0],
        ],
        "disturbers": [
            SUPPORTS in named,
            disturbers[0] == HURTS,
            UNCONFIRMED in named,
            float(np.mean([one == DISTURBS for one in named])),
        ],
    }


def main() -> int:
    runs: dict[str, list[pd.DataFrame]] = {}
    found: list[dict[str, list[float]]] = []
    last = 0
    for kind, study, rows in read_studies():
        if study != last:
            found.append(answers(runs))
            last, runs = study, {}
        runs.setdefault(kind, []).append(rows)
    found.append(answers(runs))
    missed = False
    for kind, bars in BARS.items():
        shares = np.mean([one[kind] for one in found], axis=0)
        for (name, limits), share in zip(bars.items(), shares, strict=True):
            print(f"{name:50} {100 * share:6.1f} %", end="\n" if limits is None else ", ")
            if limits is None:
                continue
            wide = 0 if len(found) >= 1000 else 2
            low, high = limits
            least = low - wide * math.sqrt(low * (1 - low) / len(found))
            most = high + wide * math.sqrt(high * (1 - high) / len(found))
            met = least <= share <= most
            print(f"bar {100 * low:g} to {100 * high:g} %{'' if met else ': missed'}")
            missed |= not met
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
