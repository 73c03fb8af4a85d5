# SPDX-License-Identifier: Apache-2.0
"""Pairs: interference, crossings of placements, and rules of a policy."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from showstopper import pair_pictures, pairs
from showstopper.crossings import Change, Placements
from showstopper.pairs import FOREGROUND, Isolation, Pair
from showstopper.statistics import Interval, Line
from showstopper.studies import Report
from showstopper.topics import interference

DATA = Path(__file__).parents[1] / "data" / "statistics"
LOADS = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 0.9, 0.7, 0.5, 0.3, 0.1])


def rows_of(name: str) -> list[dict[str, str]]:
    with open(DATA / name, encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def staircase(case: str, confidence: float = 0.95) -> dict[str, Any]:
    """Return that of a case of the data. In near_zero, an intercept may be 0."""
    rows = rows_of("pairs.csv")
    own = [r for r in rows if r["case"] == case]
    points = [[float(r["x"]), float(r["y"] or "nan"), int(r["half"])] for r in own]
    if case == "near_zero":
        known = [r for r in rows if r["case"] == "known" and r["half"] == "1"]
        points = [[float(r["x"]), float(r["y"]), 1] for r in known]
        points += [[0.1, 0.5, 2], [0.3, -0.4, 2], [0.5, 0.9, 2], [0.7, 0.2, 2], [0.9, 1.1, 2]]
    frame = pd.DataFrame(points, columns=["load", "foreground", "half"])
    return pairs.interference(frame, confidence)


def test_metric_agrees_with_r() -> None:
    names = {
        "metric_first": "first_half_percent",
        "metric_second": "second_half_percent",
        "metric": "metric_percent",
        "angle": "angle_degrees",
        "significant": "significant",
    }
    rows = [row for row in rows_of("results.csv") if row["name"] in names]
    for row in rows:
        have, want = staircase(row["case"])[names[row["name"]]], float(row["value"] or "nan")
        assert have == pytest.approx(want, rel=1e-10, nan_ok=True), row
    assert len(rows) == 45


def test_intervals_agree_with_fieller() -> None:
    """fieller.py computes them in another way."""
    rows = rows_of("intervals.csv")
    prefixes = {"metric": "", "first": "first_", "second": "second_"}
    for row in rows:
        found, prefix = staircase(row["case"]), prefixes[row["name"]]
        have = [found[f"{prefix}{end}_percent"] for end in ("low", "high")]
        want = [float(row[end] or sign + "inf") for end, sign in (("low", "-"), ("high", "+"))]
        assert have == pytest.approx(want, rel=1e-8), row
    assert len(rows) == 15
    assert staircase("near_zero")["note"].startswith("no interval: an intercept is not")
    assert staircase("one_half")["note"] == "no fit through the second half"
    usual, strict = staircase("known"), staircase("known", 0.99)
    ends = [(found["low_percent"], found["high_percent"]) for found in (strict, usual)]
    assert ends[0][0] < ends[1][0] < ends[1][1] < ends[0][1]


def test_halves_agree_below_three_degrees(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(halves: tuple[float, float], p: float = 0.01) -> dict[str, Any]:
        lines = [Line(9, 100, -half, slope_p=0.049, intercept_p=0.01) for half in halves]
        lines[1] = replace(lines[1], slope_p=0.01, intercept_p=p)
        monkeypatch.setattr(pairs.statistics, "fit_line", lambda x, y, made=iter(lines): next(made))
        return pairs.interference(pd.DataFrame({"load": [], "foreground": [], "half": []}), 0.95)

    assert of((50, 40))["metric_percent"] == 45
    assert of((50, 40))["angle_degrees"] == pytest.approx(4.763641691)
    found = [of((0, half))["agree"] for half in (5.23, 5.25, -5.25)]
    assert found == [True, False, False]
    assert not of((50, math.nan))["agree"]
    found = [of((50, 40), p)["significant"] for p in (0.049, 0.05, math.nan)]
    assert found == [True, False, False]


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
                pairs.interference(frame, 0.95))


def report_of(*found: Pair) -> Report:
    report = Report()
    report._known[pairs.find,] = list(found)
    return report


def test_interference_is_the_loss_at_full_load() -> None:
    wiggle = 0.001 * np.array([1, -2, 1, 1, -1, 1, -2, 1, 1, -1])
    found = make_pair("free", 20 - 5 * LOADS + wiggle).interference
    assert found["metric_percent"] == pytest.approx(25, abs=0.05)
    assert found["low_percent"] < found["metric_percent"] < found["high_percent"]
    assert found["agree"] and found["significant"] and not found["note"]
    none = make_pair("free", math.nan).interference
    assert none["note"] == "no fit through the first half"
    assert not none["significant"] and math.isnan(none["metric_percent"])


def crossing(noise: float = 0.002) -> Report:
    """Return three rounds in which per-core is better below a load of 55 %, per-chip above."""
    wiggles = noise * np.array([1, -2, 1, 1, -1, 1, -2, 1, 1, -1])
    found = []
    for number in (1, 2, 3):
        found.append(make_pair("per-chip", 20 - 4 * LOADS + wiggles * number, number))
        found.append(make_pair("per-core", 21.1 - 6 * LOADS - wiggles, number))
    return report_of(*found)


def test_placements_change_where_their_curves_cross() -> None:
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


def test_outliers_do_not_lighten_other_fields() -> None:
    names = "abcde"
    metrics = {(one, other): 1.0 + names.index(one) / 10 for one in names for other in names}
    metrics |= {("e", other): 60.0 for other in names} | {(one, "a"): 40.0 for one in "abcd"}
    rows = [("free", *both, metric) for both, metric in metrics.items()]
    names = ["placement", "foreground", "background", "metric_percent"]
    most, far = interference._shade(pd.DataFrame(rows, columns=names))
    assert far == [(True, "a", "free"), (False, "e", "free")]
    assert most == interference.RANGE_MIN


def test_pairs_with_different_load_of_others_are_not_compared() -> None:
    report = crossing()
    found = report.once(pairs.find)
    found[3].foreground.others = 0.05  # per-core in the second round
    assert Placements.compare(report, found[0], FOREGROUND).steps == 20


def test_placements_of_one_round_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make_pair("free", LOADS), make_pair("per-core", LOADS, round_=2)
    monkeypatch.setattr(pair_pictures, "plot_overlay", lambda lines, axis: [line.name for line in lines])
    report = report_of(first, second)
    assert pair_pictures.plot_placements(report, [second]) == ["per-core"]
    assert pair_pictures.plot_placements(report) == ["free"]


def test_steps_without_a_staircase_have_separate_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    marks: dict[str, int] = {}
    monkeypatch.setattr(pair_pictures.figures, "mark", lambda ax, x, *_, marker, **__: marks.update({marker: len(x)}))
    pair = make_pair("free", LOADS)
    pair.steps["direction"] = ["up"] * 3 + ["down"] * 2 + [""] * 5
    pair_pictures._mark(None, pair, LOADS, "", "free")
    assert marks == {"^": 3, "v open": 2, "o": 5}
