# SPDX-License-Identifier: Apache-2.0
"""Looks at simulated studies of duet, read as CSV, and counts how many find a difference.

Exits with status 1 if a limit is missed.
"""

from __future__ import annotations

import csv
import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/python"))

from showstopper import duet
from showstopper.stats import (
    LOOK_MIN,
    Array,
    Look,
    Uncertainty,
    block_difference,
    look_at,
    mean_of,
    turn_differences,
)

ALARMS_MAX, FOUND_MIN, NAIVE_MIN = 0.05, 0.9, 0.2
TURNS = 6  # of a pair of processes
GATE_ALARMS_MAX = 0.01
GATE_LIMITS = ("1", "0", "0.5", "2")  # percent; the first is the default of .github/actions/duet
GATE_SECONDS, GATE_BLOCK_SECONDS = "600", 12.8


@dataclass(frozen=True)
class Studies:
    """Studies of one part and effect: arrays with a row per study."""

    part: str
    effect: float
    simulated: Array
    truth: Array
    b_first: Array
    figures: Array
    compared: Array


def read_studies() -> Iterator[Studies]:
    csv.field_size_limit(1_000_000)
    rows = csv.DictReader(sys.stdin)
    for (part, effect), group in itertools.groupby(rows, lambda row: (row["part"], row["effect"])):
        columns = [
            (
                row["simulated"] == "1",
                float(row["truth"]),
                np.array(list(row["b_first"])) == "1",
                np.array(row["figures"].split(), dtype=float),
                np.array(row["compared"].split(), dtype=float),
            )
            for row in group
        ]
        yield Studies(part, float(effect), *map(np.array, zip(*columns)))


def excludes_by_t(look: Look) -> Array:
    """Return whether Student's t excludes 0 at this look, without a correction for other looks."""
    error = Uncertainty(look.deviation / np.sqrt(look.count), look.count - 2)
    interval = error.interval(look.mean, 0.95)
    excludes: Array = (interval.low > 0) | (interval.high < 0)
    return excludes & (look.count >= LOOK_MIN)


def excludes(look: Look) -> Array:
    return np.abs(look.mean) > look.half


def look_often(values: Array, b_first: Array | None, planned: int) -> Iterator[Look]:
    """Look after every block of all studies."""
    for count in range(1, values.shape[1] + 1):
        orders = None if b_first is None else b_first[:, :count]
        yield look_at(values[:, :count], orders, planned)


def finds(values: Array, b_first: Array | None, planned: int) -> Array:
    return np.any([excludes(look) for look in look_often(values, b_first, planned)], axis=0)


def share(found: Array) -> str:
    return f"{100 * np.mean(found):8.2f}"


def print_row(name: str, count: int, *found: Array) -> None:
    print(f"| {name:22} | {count:7} | {' | '.join(map(share, found))} |")


def print_head(text: str, *columns: str) -> None:
    heads = " | ".join(f"{name:>8}" for name in columns)
    print(f"{text}\n\n| {'':22} | {'studies':>7} | {heads} |")
    print("|" + "-|" * (len(columns) + 2))


def print_bars(text: str, met: bool) -> bool:
    alarms, found, naive = 100 * ALARMS_MAX, 100 * FOUND_MIN, 100 * NAIVE_MIN
    bars = text.format(alarms=f"{alarms:g}", found=f"{found:g}", naive=f"{naive:g}")
    print(f"\nBars: {bars}: {'met' if met else 'missed'}")
    return met


def judge(alarms: Array, found: Array, naive: Array) -> bool:
    """Return whether few studies without a difference find one, many with a difference do, and the
    naive method gives too many alarms."""
    met = alarms.mean() <= ALARMS_MAX and found.mean() >= FOUND_MIN and naive.mean() >= NAIVE_MIN
    return bool(met)


def block_values(studies: Studies) -> Array:
    """Return the differences, B minus A, of blocks of four runs."""
    runs = studies.figures.reshape(*studies.b_first.shape, 4)
    outer, inner = runs[..., [0, 3]], runs[..., [1, 2]]
    values: Array = block_difference(outer, inner) * np.where(studies.b_first, -1, 1)
    return values


def check_blocks(same: Studies, slower: Studies) -> bool:
    print_head(
        "Studies that find a difference, in %: blocks with their orders, without them, without an end,\n"
        "and by Student's t at every look.",
        *("duet", "no order", "no end", "t"),
    )
    found = {}
    for studies, name in ((same, "A and A"), (slower, "B 1 % slower")):
        values = block_values(studies)
        planned = values.shape[1]
        columns = (
            finds(values, studies.b_first, planned),
            finds(values, None, planned),
            finds(values, studies.b_first, 0),
            np.any([excludes_by_t(look) for look in look_often(values, studies.b_first, planned)], axis=0),
        )
        for is_simulated, where in ((False, "generated"), (True, "in sssim")):
            rows = studies.simulated == is_simulated
            if rows.any():
                print_row(f"{name}, {where}", rows.sum(), *(column[rows] for column in columns))
        found[name] = columns
    alarms, naive = found["A and A"][0], found["A and A"][3]
    return print_bars(
        "at most {alarms} % alarms, 1 % found in {found} %, t at every look above {naive} %",
        judge(alarms, found["B 1 % slower"][0], naive),
    )


def check_turns(same: Studies, slower: Studies) -> bool:
    pairs = same.b_first.shape[1]
    print_head(
        f"\nThe same with processes that take turns: {pairs} pairs of launches, and a single pair that takes as"
        " long;\nand how often the latter excludes the difference between its two processes.",
        *("duet", "one pair", "its own"),
    )
    found = {}
    for studies, name in ((same, "A and A"), (slower, "B 2 % slower")):
        differences = turn_differences(studies.figures.reshape(-1, pairs, TURNS))
        values = mean_of(differences).mean * np.where(studies.b_first, -1, 1)
        single = mean_of(turn_differences(studies.compared))
        columns = (
            finds(values, studies.b_first, pairs),
            (single.low > 0) | (single.high < 0),
            (single.low > studies.truth) | (single.high < studies.truth),
        )
        print_row(name, len(values), *columns)
        found[name] = columns
    alarms, naive, own = found["A and A"]
    met = judge(alarms, found["B 2 % slower"][0], naive) and own.mean() <= 1.2 * ALARMS_MAX
    return print_bars(
        "at most {alarms} % alarms, 2 % found in {found} %, one pair above {naive} %, "
        f"its own at most {120 * ALARMS_MAX:g} %",
        met,
    )


def check_beside(same: Studies, slower: Studies) -> bool:
    blocks = same.b_first.shape[1]
    print_head(
        f"\nThe same with commands that run at the same time: {blocks} blocks of two runs, with places swapped,"
        " and kept.",
        *("duet", "kept"),
    )
    found = {}
    for studies, name in ((same, "A and A"), (slower, "B 1 % slower")):
        values = studies.figures.reshape(-1, blocks, 2).mean(axis=2)
        kept = mean_of(studies.compared.reshape(-1, blocks, 2).mean(axis=2))
        columns = finds(values, studies.b_first, blocks), (kept.low > 0) | (kept.high < 0)
        print_row(name, len(values), *columns)
        found[name] = columns
    alarms, naive = found["A and A"]
    return print_bars(
        "at most {alarms} % alarms, 1 % found in {found} %, kept places above {naive} %",
        judge(alarms, found["B 1 % slower"][0], naive),
    )


def fails(values: Array, b_first: Array, limit: str) -> bool:
    """Return whether this pull request fails: B is slower, and A does not differ from itself."""
    end, none = len(values), np.empty(0)

    def blocks(name: str, of: slice, orders: Array) -> duet.Blocks:
        count = len(values[of])
        seconds = np.full(count, GATE_BLOCK_SECONDS)
        return duet.Blocks(name, count, "", seconds, range(count), values[of], orders[of], none)

    same = blocks("A and A", slice(0, duet.FIRST), b_first.astype(int))
    different = blocks("A and B", slice(duet.FIRST, end), b_first.astype(int))
    plan = duet.Plan({"at_most_seconds": GATE_SECONDS, "fail_above_percent": limit})
    study = duet.Duet(plan, same, different, has_others=False)
    return study.decision == "failed" and not study.same_differs


def check_gate(same: Studies, slower: Studies) -> bool:
    print_head(
        "\nPull requests that fail, in %, by the limit.", *(f"{limit} %" for limit in GATE_LIMITS)
    )
    found = {}
    for studies, name in ((same, "A and A"), (slower, "B 3 % slower")):
        pairs = list(zip(block_values(studies), studies.b_first))
        columns = [np.array([fails(*pair, limit) for pair in pairs]) for limit in GATE_LIMITS]
        for is_simulated, where in ((False, "generated"), (True, "in sssim")):
            rows = studies.simulated == is_simulated
            if rows.any():
                print_row(f"{name}, {where}", rows.sum(), *(column[rows] for column in columns))
        found[name] = columns[0]
    alarms, seen = found["A and A"].mean(), found["B 3 % slower"].mean()
    return print_bars(
        f"at most {100 * GATE_ALARMS_MAX:g} % alarms, 3 % found in {{found}} %",
        bool(alarms <= GATE_ALARMS_MAX and seen >= FOUND_MIN),
    )


CHECKS = {"blocks": check_blocks, "turns": check_turns, "beside": check_beside, "gate": check_gate}


def main() -> int:
    studies = read_studies()
    met = [CHECKS[same.part](same, slower) for same, slower in zip(studies, studies)]
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main())
