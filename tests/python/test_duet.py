# SPDX-License-Identifier: Apache-2.0
"""Duet: blocks, decisions and sentences."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import Record as Maker
from showstopper import Study, cli, duet
from showstopper.duet import Duet
from showstopper.report import decision
from showstopper.report.findings import Worth
from showstopper.report.topics import duet as topic
from showstopper.text import UserError

NOISE = (0.01, -0.02, 0.02, -0.01)  # of blocks: without a trend, and with a mean of 0
WORTH = Worth(4, 0, 0, None, True)


def block_of(pair: str, block: int, difference: float, **columns: str) -> list[dict[str, Any]]:
    """Return four runs of 3 s with a second between them."""
    plan = {"a": "./old", "b": "./new", **columns}
    return [
        {
            **{"kind": "measured", "pair": pair, "block": block, "position": at + 1.0, "study": 1},
            **{"is_b": (is_b := (at in (1, 2)) == (block % 2 == 1)), "name": f"{block}/{at + 1}"},
            "figure": 100 * math.exp(difference + NOISE[block // 2 % 4] if is_b else 0),
            **{"wall": 3600.0 * block + 4 * at, "of": None, "plan": duet.Plan(plan)},
        }
        for at in range(4)
    ]


def study_of(same: int, different: int, difference: float = 0.0, **columns: str) -> Study:
    study, runs = Study(), []
    for pair, count, off in (("aa", same, 0.0), ("ab", different, difference)):
        for block in range(1, count + 1):
            runs += block_of(pair, block, off, **columns)
    study._known[duet.read_runs] = pd.DataFrame(runs)
    return study


def duet_of(*counts: int, difference: float = 0.0, **columns: str) -> Duet:
    found = duet.read(study_of(*counts, difference, **columns))
    assert found
    return found


def test_number_of_blocks_follows_from_the_first_ten() -> None:
    found = duet_of(10, 12, difference=-0.02, at_most_seconds="400")
    assert (found.planned, decision.status(found, WORTH)) == (15, decision.CONTINUES)
    found = duet_of(10, 18, difference=-0.02, at_most_seconds="400")
    assert (found.look.count, found.decision) == (15, "time is up")
    assert decision.status(found, WORTH) == decision.DONE


@pytest.mark.parametrize(
    ("difference", "status", "count"),
    [(-0.10, decision.FAILED, 10), (0.05, decision.DONE, 10), (-0.02, decision.UNDECIDED, 20)],
)
def test_limit_ends_the_study(difference: float, status: int, count: int) -> None:
    limits = {"at_most_seconds": "480", "fail_above_percent": "2"}
    found = duet_of(10, 20, difference=difference, **limits)
    assert (decision.status(found, WORTH), found.look.count) == (status, count)


def test_precision_ends_the_study() -> None:
    found = duet_of(10, 200, difference=-0.02, until_percent="1")
    assert found.decision == "precise enough" and found.look.count < 100
    assert found.worse.high - found.worse.low <= 2
    assert duet_of(10, 200, difference=-0.02, until_percent="4%").decision == "continues"


def test_nothing_is_decided_before_ten_blocks_of_each() -> None:
    words = decision.describe_answer(duet_of(9, 0), WORTH)
    assert words == "No answer yet: 9 of at least 20 blocks are done"
    assert duet_of(10, 9, difference=-0.5).decision == "continues"


def test_blocks_end_at_the_first_incomplete_one() -> None:
    study = study_of(10, 12, -0.1)
    runs = study.once(duet.read_runs)
    lost = runs["pair"].eq("ab") & runs["block"].eq(4) & runs["position"].eq(2)
    study._known[duet.read_runs] = runs[~lost]
    found = study.once(duet.read)
    assert found and (found.same.carried, found.different.carried) == (10, 3)


def test_block_without_a_figure_is_left_out_and_named() -> None:
    study = study_of(10, 12, -0.1)
    runs = study.once(duet.read_runs)
    runs.loc[runs["pair"].eq("ab") & runs["block"].eq(4) & runs["is_b"], "figure"] = math.nan
    found = study.once(duet.read)
    assert found and found.different.numbers.tolist() == [1, 2, 3, *range(5, 13)]
    assert "1 of 12 blocks of A and B is left out" in decision.describe_doubt(found, WORTH)
    assert decision.describe_doubt(found, WORTH).endswith("because no iteration ended in 4/1")


def test_too_few_figures_give_no_answer() -> None:
    study = study_of(2, 0)
    study.once(duet.read_runs)["figure"] = math.nan
    with pytest.raises(UserError, match="2 of 2 blocks of A and A are left out, because no iter"):
        decision.decide(study)
    one = study_of(1, 0)
    one.once(duet.read_runs)["figure"] = math.nan
    assert decision.decide(one)[0] == decision.CONTINUES


def test_study_is_required() -> None:
    with pytest.raises(UserError, match="--decide: not a study of the experiment duet"):
        decision.decide(Study())


def test_one_study_is_decided() -> None:
    study = study_of(10, 10)
    study.once(duet.read_runs).loc[79, "study"] = 2
    with pytest.raises(UserError, match="takes one study of the experiment duet, but several"):
        decision.decide(study)


def test_background_that_differs_is_a_doubt() -> None:
    study = study_of(10, 12, beside="x@50%")
    runs = study.once(duet.read_runs)
    beside = runs.assign(kind="background", figure=np.where(runs["is_b"], 1.1, 1.0))
    study._known[duet.read_runs] = pd.concat([runs, beside], ignore_index=True)
    found = study.once(duet.read)
    assert found and found.more_beside.mean == pytest.approx(10)
    doubt = decision.describe_doubt(found, WORTH)
    assert "did 10.0 % (10.0 to 10.0) more next to B than next to A, so A and B" in doubt
    assert decision.ask(found.plan) == "Which is faster next to x at 50 %, A or B?"


def test_mean_of_the_blocks_so_far_begins_with_ten() -> None:
    blocks = topic.df_blocks(study_of(10, 12, -0.1))
    assert blocks["order"].tolist()[:2] == ["A B B A", "B A A B"]
    assert blocks["mean_percent"].notna().sum() == 3


# Turns


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


def test_damaged_requests_are_noted(tmp_path: Path) -> None:
    (tmp_path / "x.each.csv").write_text(
        "due_seconds,finished_seconds,outcome\n1,1.5,success\n0.5,,timeout\n-,2,success\n"
    )
    notes: list[str] = []
    rows = duet.read_each(str(tmp_path / "x"), notes)
    assert rows["due"].tolist() == [0.5, 1] and rows["success"].tolist() == [False, True]
    assert len(notes) == 1 and "x.each.csv:4" in notes[0]


def make_process(make_record: Maker, path: Path, name: str, block: int, rate: float) -> None:
    """Make a run of ssbatch with a process that is one of two: six turns of 1 s. B is slow while
    A may still run."""
    starts = np.arange(0, 6, 1 / rate)
    rows = "".join(f"0,{at:.6f},{at + 1 / rate:.6f}\n" for at in starts)
    if "b" in name[3:]:
        rows += "".join(f"1,{at}.1,{at}.49\n" for at in range(6))
    make_record(f"study/{name}/record", iterations_csv=f"instance,start,end\n{rows}")
    pair, side = name.split("-")
    columns = {
        "experiment": "duet", "order": "alternate", "pairs": "1", "turns": "6", "pair": pair,
        "side": side[0], "block": str(block), "position": side[1], "first_turn_seconds": "0",
        "turn_seconds": "1", "a": "x", "b": "y",
    }  # fmt: skip
    commands = [{"record": "record", "columns": {}}]
    document = {"schema": 1, "status": "done", "columns": columns, "commands": commands}
    (path / "study" / name / "run.json").write_text(json.dumps(document))


def test_turns_of_two_processes_are_compared(tmp_path: Path, make_record: Maker) -> None:
    for name, rate in (("aa-a1", 20), ("aa-a2", 20), ("ab-b1", 22), ("ab-a2", 20)):
        make_process(make_record, tmp_path, name, 1, rate)
    study = Study(tmp_path / "study", decides=True)
    found = study.once(duet.read)
    assert found and found.plan.of_two_processes
    assert np.exp(found.different.differences) == pytest.approx([1.1, 1.1])
    assert found.same.differences == pytest.approx([0, 0], abs=1e-9)
    words = decision.describe_answer(found, Worth.of(study))
    assert words.startswith("B is 10.0 % (10.0 to 10.0) faster than A, of these two processes")


def test_decision_is_an_exit_status(
    tmp_path: Path, make_record: Maker, capsys: pytest.CaptureFixture[str]
) -> None:
    make_process(make_record, tmp_path, "aa-a1", 1, 20)
    assert cli.main(["ssreport", "--decide", str(tmp_path / "study")]) == decision.CONTINUES
    words = "No answer yet: 0 of at least 2 pairs of processes are done\n"
    assert capsys.readouterr().out == words
    study = str(tmp_path / "study")
    assert cli.main(["ssreport", "--decide", "--quiet", study]) == decision.CONTINUES
    assert capsys.readouterr().out == ""
    assert cli.main(["ssreport", "--decide", "--format", "json", study]) == 125
    assert cli.main(["ssreport", "--decide", "--table", "duet", study]) == 125
    assert "--table cannot be combined with --decide" in capsys.readouterr().err
