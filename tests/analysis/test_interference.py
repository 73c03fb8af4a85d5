# SPDX-License-Identifier: Apache-2.0
"""Pairs: interference, crossings of placements, and rules of a policy."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from showstopper import pairs
from showstopper.crossings import Change, Placements
from showstopper.pairs import FOREGROUND, Interference, Isolation, Pair
from showstopper.statistics import Interval
from showstopper.studies import Report
from showstopper.topics import interference

LOADS = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 0.9, 0.7, 0.5, 0.3, 0.1])


def make_pair(placement: str, foreground: Any, round_: int = 1) -> Pair:
    def run(workload: str) -> Any:
        record = SimpleNamespace(load_cpus=2.0)
        return SimpleNamespace(workload=workload, placement=placement, round=round_, set=0,
                               others=0.0, manifest=1, environment_name="host", record=record,
                               measured_in="host", on_host=True)

    frame = pd.DataFrame({"step": np.arange(10) + 1, "half": [1] * 5 + [2] * 5, "occurrence": 1,
                          "target": LOADS, "load": LOADS, "foreground": foreground,
                          "background": 10 * LOADS, "watts": math.nan})
    return Pair(run("fop"), run("h2"), "host", (Isolation(20.0), Isolation(10.0)), frame,
                Interference.of(frame, 0.95))


def report_of(*found: Pair) -> Report:
    report = Report()
    report._known[pairs.find] = list(found)
    return report


def test_interference_is_the_loss_at_full_load() -> None:
    wiggle = 0.001 * np.array([1, -2, 1, 1, -1, 1, -2, 1, 1, -1])
    found = make_pair("free", 20 - 5 * LOADS + wiggle).interference
    assert found.metric == pytest.approx(25, abs=0.05)
    assert found.interval.low < found.metric < found.interval.high
    assert found.agree and found.is_significant and not found.missing
    none = make_pair("free", math.nan).interference
    assert none.missing == "no fit through the first half"
    assert not none.is_significant and math.isnan(none.metric)


def crossing(noise: float = 0.002) -> Report:
    """Return three rounds in which per-core is better below a load of 55 %, per-chip above."""
    wiggles = noise * np.array([1, -2, 1, 1, -1, 1, -2, 1, 1, -1])
    found = []
    for number in (1, 2, 3):
        found.append(make_pair("per-chip", 20 - 4 * LOADS + wiggles * number, number))
        found.append(make_pair("per-core", 21.1 - 6 * LOADS - wiggles, number))
    return report_of(*found)


def test_placements_cross_where_their_curves_do() -> None:
    report = crossing()
    found = Placements.compare(report, report.once(pairs.find)[0], FOREGROUND)
    assert found.names == ["per-chip", "per-core"]
    assert found.steps == 30
    (change,) = found.changes
    assert (change.below, change.above) == ("per-core", "per-chip")
    assert change.load == pytest.approx(0.55, abs=0.005)
    assert change.is_clear and change.interval.low < change.load < change.interval.high


def test_steps_that_a_placement_lacks_do_not_count() -> None:
    report = crossing()
    first, other, *_ = report.once(pairs.find)
    other.steps.loc[0:6, "foreground"] = math.nan
    found = Placements.compare(report, first, FOREGROUND)
    assert found.steps == 23
    few = report_of(make_pair("free", 20 - LOADS), make_pair("per-core", math.nan))
    assert not Placements.compare(few, few.once(pairs.find)[0], FOREGROUND).is_known


def test_policy_keeps_a_distance_from_changes() -> None:
    words = interference.policy(crossing()).splitlines()
    assert words[2] == "load side"
    assert [line.split()[0] for line in words[3:]] == ["below", "above"]
    assert words[3].endswith("% pin=per-core") and words[4].endswith("% pin=per-chip")
    low, high = (float(line.split()[1].rstrip("%")) for line in words[3:])
    assert high - low >= 2  # the load is relative to all CPUs


def test_uncertain_changes_make_no_rule() -> None:
    changes = [Change("a", "b", 0.4, Interval(-math.inf, 0.5)),
               Change("b", "c", 0.6, Interval(0.58, 0.62))]
    found: Any = SimpleNamespace(changes=changes)
    assert [rule[0] for rule in interference._find_rules(found, 1.0)] == ["b", "c"]
    rules = [("a", -math.inf, 0.0005), ("b", 0.02, 0.5), ("c", 0.7, 0.6), ("b", 0.8, math.inf)]
    assert interference._drop_empty(rules) == [("b", 0.02, math.inf)]


def test_best_placement_and_question() -> None:
    report = report_of(make_pair("per-chip", 20 - 4 * LOADS), make_pair("free", 15 - 4 * LOADS))
    general, special = (f for f in interference.findings(report) if f.kind == "placement")
    assert general.sentence == "Where to pin (host): per-chip is best for 1 of 1 ordered pair."
    assert special.placement == "per-chip" and special.told == "yes"
    report.__dict__["findings"] = [general, special]
    headline = interference.answer(report)
    assert headline and headline.question == "Where should fop and h2 run?"
