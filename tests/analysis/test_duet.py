# SPDX-License-Identifier: Apache-2.0
"""Duet: blocks, decisions and sentences. The corpus has whole studies."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from showstopper.studies import Report
from showstopper.text import UserError
from showstopper.topics import duet

NOISE = (0.01, -0.02, 0.02, -0.01)  # of blocks: without a trend, and with a mean of 0


def add_block(report: Report, pair: str, block: int, difference: float, **columns: str) -> None:
    """Add four runs of 3 s with a second between them."""
    for at in range(4):
        is_b = (at in (1, 2)) == (block % 2 == 1)
        figure = 100 * math.exp(difference + NOISE[block // 2 % 4] if is_b else 0)
        record = SimpleNamespace(wall=3600 * block + 4 * at, first_end=figure, counted_from=0.0,
                                 counted_to=3.0, figure=lambda name: math.nan)
        place = {"pair": pair, "block": str(block), "position": str(at + 1)}
        named = place | {"a": "./old", "b": "./new", "side": "ab"[is_b]} | columns
        report.runs.append(SimpleNamespace(  # type: ignore[arg-type]
            experiment="duet", set=0, manifest=1, role="", name="study/run", columns=named,
            throughput=figure, record=record))


def make_report() -> Report:
    report = Report()
    report.worth = SimpleNamespace(is_nothing=False, disturbed=0, invalid=0)  # type: ignore
    return report


def study_of(same: int, different: int, difference: float = 0.0, **columns: str) -> duet.Study:
    report = make_report()
    for pair, count, off in (("aa", same, 0.0), ("ab", different, difference)):
        for block in range(1, count + 1):
            add_block(report, pair, block, off, **columns)
    study = duet.read_study(report)
    assert study
    return study


def test_number_of_blocks_follows_from_the_first_ten() -> None:
    study = study_of(10, 12, -0.02, at_most_seconds="400")
    assert study.planned == 15
    assert study.status == duet.CONTINUES
    study = study_of(10, 18, -0.02, at_most_seconds="400")
    assert (study.look.count, study.decision, study.status) == (15, "time is up", duet.DONE)


@pytest.mark.parametrize(
    ("difference", "status", "count"),
    [(-0.10, duet.FAILED, 10), (0.05, duet.DONE, 10), (-0.02, duet.UNDECIDED, 20)],
)
def test_limit_ends_the_study(difference: float, status: int, count: int) -> None:
    study = study_of(10, 20, difference, at_most_seconds="480", fail_above_percent="2")
    assert (study.status, study.look.count) == (status, count)


def test_precision_ends_the_study() -> None:
    study = study_of(10, 200, -0.02, until_percent="1")
    assert study.decision == "precise enough"
    assert study.look.count < 100
    assert study.worse.high - study.worse.low <= 2
    assert study_of(10, 200, -0.02, until_percent="4%").decision == "continues"


def test_nothing_is_decided_before_ten_blocks_of_each() -> None:
    study = study_of(9, 0)
    assert duet.describe_answer(study) == "No answer yet: 9 of at least 20 blocks are done"
    assert study_of(10, 9, -0.5).status == duet.CONTINUES


def test_too_few_figures_give_no_answer() -> None:
    report = make_report()
    for block in (1, 2):
        add_block(report, "aa", block, 0)
        report.runs[-2].throughput = math.nan  # type: ignore[misc]
    with pytest.raises(UserError, match="2 of 2 blocks of A and A are left out, because no iter"):
        duet.decide(report)
    one = make_report()
    one.runs = report.runs[:4]
    assert duet.decide(one)[0] == duet.CONTINUES


def test_study_is_required() -> None:
    with pytest.raises(UserError, match="--decide: not a study of the experiment duet"):
        duet.decide(Report())


def requests(*rows: tuple[float, float, bool]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["due", "finished", "success"])


def test_requests_count_if_due_and_answered_in_time() -> None:
    rows: list[Any] = [(0.4, 0.6, True), (0.5, 0.6, True), (1.0, 1.3, True), (1.4, 1.6, True)]
    rows += [(1.5, 1.9, True), (1.6, 2.1, True)]
    assert duet.figure_of(requests(*rows), "mean", 0, 2) == pytest.approx(0.2)
    assert duet.figure_of(requests(*rows), "throughput", 0, 2) == pytest.approx(5 / 1.5)
    assert math.isnan(duet.figure_of(requests(*rows), "p50", 0, 2))
    rows[3] = (1.4, 2.0, True)  # answered after the turn
    assert math.isnan(duet.figure_of(requests(*rows), "mean", 0, 2))


def test_percentiles_of_a_turn_need_two_hundred_answers() -> None:
    due = 0.5 + 0.01 * np.arange(200)
    rows = [(at, at + 0.001 * (i + 1), True) for i, at in enumerate(due)]
    assert duet.figure_of(requests(*rows), "p95", 0, 20) == pytest.approx(0.19005)
    assert math.isnan(duet.figure_of(requests(*rows[1:]), "p95", 0, 20))


def test_background_may_differ_by_chance() -> None:
    words = duet._describe_background(duet.Percent(-1.5, -4, 1))
    assert words == (
        "the background did 1.5 % (-1.0 to 4.0) less beside B than beside A, which may be chance"
    )
