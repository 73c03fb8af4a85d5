# SPDX-License-Identifier: Apache-2.0
"""Pairs: interference, crossings of placements, and rules of a policy."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import Record as Maker
from conftest import samples
from showstopper import Study, crossings, pairs, policy
from showstopper.crossings import Change, compare
from showstopper.pairs import FOREGROUND, SYSTEM
from showstopper.report import pair_figures
from showstopper.report.topics import interference
from showstopper.stats import Line

DATA = Path(__file__).parents[1] / "data" / "statistics"
LOADS = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 0.9, 0.7, 0.5, 0.3, 0.1])
NOISE = 0.002 * np.array([1, -2, 1, 1, -1, 1, -2, 1, 1, -1])


def rows_of(name: str) -> list[dict[str, str]]:
    with open(DATA / name, encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def staircase(case: str, confidence: float = 0.95) -> dict[str, Any]:
    """Return the interference in a case of the data. In near_zero, an intercept may be 0."""
    rows = rows_of("pairs.csv")
    own = [r for r in rows if r["case"] == case]
    points = [[float(r["x"]), float(r["y"] or "nan"), int(r["half"])] for r in own]
    if case == "near_zero":
        known = [r for r in rows if r["case"] == "known" and r["half"] == "1"]
        points = [[float(r["x"]), float(r["y"]), 1] for r in known]
        points += [[0.1, 0.5, 2], [0.3, -0.4, 2], [0.5, 0.9, 2], [0.7, 0.2, 2], [0.9, 1.1, 2]]
    frame = pd.DataFrame(points, columns=["load", "foreground_rate", "half"])
    return pairs.interference(frame, confidence)


def test_metric_agrees_with_r() -> None:
    names = {
        "metric_first": "first_half_percent", "metric_second": "second_half_percent",
        "metric": "metric_percent", "angle": "angle_degrees", "significant": "significant",
    }
    rows = [row for row in rows_of("results.csv") if row["name"] in names]
    for row in rows:
        have, want = staircase(row["case"])[names[row["name"]]], float(row["value"] or "nan")
        assert have == pytest.approx(want, rel=1e-9, nan_ok=True), row
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


def test_halves_agree_below_three_degrees(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(halves: tuple[float, float], p: float = 0.01) -> dict[str, Any]:
        lines = [Line(9, 100, -half, slope_p=0.049, intercept_p=0.01) for half in halves]
        made = iter([lines[0], replace(lines[1], slope_p=0.01, intercept_p=p)])
        monkeypatch.setattr(pairs.stats, "fit_line", lambda x, y: next(made))
        nothing = pd.DataFrame({"load": [], "foreground_rate": [], "half": []})
        return pairs.interference(nothing, 0.95)

    assert of((50, 40))["angle_degrees"] == pytest.approx(4.763641691)
    assert [of((0, half))["agree"] for half in (5.23, 5.25, -5.25)] == [True, False, False]
    assert not of((50, math.nan))["agree"]
    found = [of((50, 40), p)["significant"] for p in (0.049, 0.05, math.nan)]
    assert found == [True, False, False]


# Whole studies, without their records


def study_of(*rates: tuple[str, int, Any], **columns: Any) -> Study:
    """Return a study of pairs: placement, round, and the foreground's throughput in each step."""
    found = pd.DataFrame({
        "placement": [placement for placement, *_ in rates],
        "round": [float(number) for _, number, _ in rates],
        **{"set": 1, "study": 1, "place": "host", "environment": "host", "measured_in": ""},
        **{"foreground": "fop", "background": "h2", "others": 0.0, "run": 0, "beside": 0},
        **{"on_host": True, "is_emulated": False, "is_one_program": False, "tau_seconds": 0.1},
        **{"foreground_alone": 20.0, "background_alone": 10.0},
        **{"foreground_error": 0.0, "background_error": 0.0},
    } | columns).rename_axis("pair")
    step = pd.DataFrame({"slot": range(10), "half": [1] * 5 + [2] * 5, "load": LOADS})
    step = step.assign(background_rate=10 * LOADS, watts=math.nan)
    every = found.reset_index().merge(step, how="cross")
    every["foreground_rate"] = np.concatenate([np.broadcast_to(of, 10) for *_, of in rates])
    study = Study()
    study.records = [SimpleNamespace(load_cpus=2.0)]  # type: ignore[list-item]
    study._known = {pairs.pairs: found, pairs.steps_of_pairs: every}
    return study


def crossing() -> Study:
    """Return three rounds in which per-core is better below a load of 55 %, per-chip above."""
    return study_of(*(
        (placement, number, of)
        for number in (1, 2, 3)
        for placement, of in (
            ("per-chip", 20 - 4 * LOADS + NOISE * number),
            ("per-core", 21.1 - 6 * LOADS - NOISE),
        )
    ))


def first_of(study: Study, measure: str = FOREGROUND) -> crossings.Placements:
    return compare(study, study.once(pairs.pairs).iloc[0], measure)


def test_rounding_may_change_the_sign_at_an_end() -> None:
    assert crossings._find_root(lambda load: load - 0.25, 0.2, 0.3) == pytest.approx(0.25)
    assert crossings._find_root(lambda load: 1e-18, 0.2, 0.3) == 0.2


def test_pair_without_steps_is_a_row() -> None:
    study = study_of(("free", 1, math.nan))
    study._known[pairs.steps_of_pairs] = study.once(pairs.steps_of_pairs)[:0]
    assert study.once(pairs.df_pairs)["note"].tolist() == ["no fit through the first half"]


def test_placements_change_where_their_curves_cross() -> None:
    found = first_of(crossing())
    assert found.names == ["per-chip", "per-core"] and found.steps == 30
    (change,) = found.changes
    assert (change.below, change.above) == ("per-core", "per-chip")
    assert change.load == pytest.approx(0.55, abs=0.005)
    assert change.is_clear and change.low < change.load < change.high


def test_steps_that_a_placement_lacks_do_not_count() -> None:
    study = crossing()
    every = study.once(pairs.steps_of_pairs)
    every.loc[10:16, "foreground_rate"] = math.nan
    assert first_of(study).steps == 23
    assert not first_of(study_of(("a", 1, 20 - LOADS), ("b", 1, math.nan))).is_known


def test_pairs_with_different_load_of_others_are_not_compared() -> None:
    study = crossing()
    study.once(pairs.steps_of_pairs).loc[30:39, "others"] = 0.05  # per-core in the second round
    assert first_of(study).steps == 20


def test_pairs_of_one_study_are_compared_first() -> None:
    both = [("per-chip", 1, 20.0), ("free", 1, 10.0), ("per-chip", 1, 40.0), ("free", 1, 10.0)]
    rows = study_of(*both, study=[1, 1, 2, 2]).once(pairs.steps_of_pairs)
    found = pairs.relative(rows, FOREGROUND).groupby(rows["pair"], sort=True, dropna=False).mean()
    assert found.tolist() == pytest.approx([1, 0.5, 1, 0.25])


def test_uncertain_throughput_alone_widens_an_advantage() -> None:
    rates = [("per-chip", 1, 20 - LOADS + NOISE), ("free", 1, 18 - LOADS)]
    sure = first_of(study_of(*rates), SYSTEM).advantage
    unsure = first_of(study_of(*rates, foreground_error=0.1), SYSTEM).advantage
    assert unsure.mean == pytest.approx(sure.mean)
    assert unsure.high - unsure.low > 1.2 * (sure.high - sure.low)


def test_policy_keeps_a_distance_from_changes() -> None:
    words = policy.policy(crossing()).splitlines()
    assert "confidence 95 %" in words[0] and words[2] == "load side"
    assert [line.split()[0] for line in words[3:]] == ["below", "above"]
    assert words[3].endswith("% pin=per-core") and words[4].endswith("% pin=per-chip")
    low, high = (float(line.split()[1].rstrip("%")) for line in words[3:])
    assert high - low == pytest.approx(2, abs=0.11)  # the load is relative to all CPUs
    # ssactuate reads such lines: see tests/unit/ssactuate/test_actuate_policy.c.
    report = (DATA.parent / "actuate/report.policy").read_text().splitlines()
    without_loads = [[re.sub(r"[\d.]+%", "%", line) for line in of[2:]] for of in (words, report)]
    assert without_loads[0] == without_loads[1]


def test_policy_is_of_a_pair_that_is_known() -> None:
    assert policy.policy(crossing(), "fop,h2,host") == policy.policy(crossing())
    with pytest.raises(policy.UserError, match="--pair: there is no pair 'fop': use FOREGROUND"):
        policy.policy(crossing(), "fop")
    with pytest.raises(policy.UserError, match="no pair has two placements"):
        policy.policy(crossing(), by_energy=True)


def test_uncertain_changes_make_no_rule() -> None:
    changes = [Change("a", "b", 0.4, -math.inf, 0.5), Change("b", "c", 0.6, 0.58, 0.62)]
    found: Any = SimpleNamespace(changes=changes)
    assert [rule[0] for rule in policy.find_rules(found, 1.0)] == ["b", "c"]
    rules = [("a", -math.inf, 0.0005), ("b", 0.02, 0.5), ("c", 0.7, 0.6), ("b", 0.8, math.inf)]
    assert policy.drop_empty(rules) == [("b", 0.02, math.inf)]


def test_best_placement_is_the_answer() -> None:
    study = study_of(("per-chip", 1, 20 - 4 * LOADS), ("free", 1, 15 - 4 * LOADS))
    general, special = (f for f in interference.findings(study) if f.kind == "placement")
    assert general.sentence == "Where to pin (host): per-chip is best for 1 of 1 ordered pair."
    assert special.placement == "per-chip" and special.told == "yes"
    assert interference.question(study) == "Where should fop and h2 run?"
    assert interference.answer(study) == special.sentence


def test_environment_costs_what_its_foreground_loses() -> None:
    study = study_of(("free", 1, 20.0), ("free", 1, 15.0), on_host=[True, False],
                     place=["host", "kvm"], environment=["host", "kvm"])
    cost, _ = (f for f in interference.findings(study) if f.kind == "environment")
    assert (cost.percent, cost.told, cost.count, cost.of) == (25, "yes", 10, "steps")
    assert interference.answer(study).startswith("kvm costs 25.0 % (25.0 to 25.0) of")


def test_figures_are_drawn() -> None:
    study = crossing()
    rows = study.once(pairs.steps_of_pairs).assign(direction="up")
    assert len(pair_figures.plot_panels(study, rows, "sides").axes) == 2
    assert pair_figures.plot_panels(study, rows, pairs.PER_WATT_HOUR) is None
    fig = pair_figures.plot_curves(study, study.once(pairs.pairs).iloc[0], FOREGROUND)
    assert len(fig.axes[0].get_legend().get_texts()) == 2  # each placement once
    fig = pair_figures.plot_losses(study.once(pairs.round_means).head(1), 50.0)
    assert fig.axes[0].texts[0].get_text().startswith("20.")


# Records


@pytest.fixture
def recorded(tmp_path: Path, make_record: Maker) -> Path:
    """Return an experiment: two rounds of x beside y, and both programs alone."""
    rows = ["run,role,workload,placement,environment,round,group"]
    for number in (2, 1):
        for role, workload in (("foreground", "x"), ("background", "y")):
            make_record(f"{role}-{number}")
            rows.append(f"{role}-{number},{role},{workload},per-core,host,{number},g{number}")
    for workload in "xy":
        make_record(f"alone-{workload}")
        rows.append(f"alone-{workload},alone,{workload},per-chip,host,1,")
    (tmp_path / "manifest.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_pairs_are_found_in_order(recorded: Path) -> None:
    study = Study(recorded)
    found = study.once(pairs.pairs)
    assert found[["foreground", "background", "round"]].values.tolist() == [
        ["x", "y", 1], ["x", "y", 2],
    ]
    assert study.runs["record"][found["run"]].str[-12:].tolist() == ["foreground-1", "foreground-2"]
    assert found["foreground_alone"].tolist() == pytest.approx([1, 1])
    every = study.once(pairs.steps_of_pairs)
    assert every["foreground_rate"].tolist() == pytest.approx([1, 1])
    assert pairs.values_of(every, SYSTEM).tolist() == pytest.approx([2, 2])


def test_lost_steps_and_backgrounds_are_noted(recorded: Path, make_record: Maker) -> None:
    rows = samples([0.5] * 12).splitlines()
    short = [*rows[:7], *(row.replace(",0.5,0.5", ",0.9,0.5") for row in rows[7:9])]
    (recorded / "background-1/samples.csv").write_text("\n".join(short) + "\n")
    (recorded / "foreground-1/iterations.csv").write_text("instance,start,end\n0,90,91\n")
    with open(recorded / "manifest.csv", "a") as stream:
        stream.write("foreground-3,foreground,x,per-core,host,3,g3\n")
    make_record("foreground-3")
    study = Study(recorded)
    pairs.note(study)
    notes = {record.name.rpartition("/")[2]: record.note for record in study.records}
    assert "left out 1 of the 2 steps of the background: too short" in notes["foreground-1"]
    assert "left out 1 of the 1 steps of the background: the" in notes["foreground-1"]
    assert "the background of group 'g3' is missing" in notes["foreground-3"]
    assert "steps" not in notes["foreground-2"]
