# SPDX-License-Identifier: Apache-2.0
"""Records of requests: reading, percentiles, rates, limits, levels of knobs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import TEN, second, write
from showstopper import Study, levels
from showstopper.rates import df_rates
from showstopper.report import page, summary
from showstopper.report.topics import knobs
from showstopper.report.topics import requests as topic
from showstopper.requests import Requests


def held_second(at: int, rate: float, target: object, load: object, time: float = 0.01) -> str:
    return second(at, rate, time).rstrip() + f",{target},{load}\n"


def write_held(folder: Path, rows: list[str], held: Any, counted: float) -> Path:
    """Write a record of a service that was held at loads, of which only the last seconds count."""
    document = {"begin_epoch_seconds": TEN, "end_epoch_seconds": TEN + len(rows)}
    document |= {"duration_seconds": counted, "held": held, "throughput": 30.0, "arrival": "even"}
    write(folder, rows, document)
    table = folder / "requests.csv"
    heading = "actual_most_seconds"
    table.write_text(table.read_text().replace(heading, f"{heading},target,load"))
    return folder


def constant(folder: Path, count: int = 10) -> Path:
    rows = [second(at, 20) for at in range(1, count + 1)]
    return write(folder, rows, {"sent": 20 * count, "arrival": "even"})


def read(folder: Path) -> Requests:
    requests = Requests(str(folder))
    requests.read()
    return requests


def of_kind(study: Study, kind: str) -> list[str]:
    return [one.sentence for one in summary.findings(study) if one.kind == kind]


# Reading


def test_killed_run_has_sums(tmp_path: Path) -> None:
    write(tmp_path / "a", [second(1, 10), second(2, 30, lost=3)])
    study = Study(tmp_path / "a")
    (row,) = topic.df_requests(study).to_dict("records")
    figures = [row[name] for name in ("state", "sent", "succeeded", "duration_seconds")]
    assert figures == ["interrupted", 40, 37, 2]
    assert row["success_ratio"] == pytest.approx(37 / 40)
    assert study.requests[0].notes[0].startswith("the run was interrupted")


def test_killed_run_without_seconds_is_a_failure(tmp_path: Path) -> None:
    write(tmp_path / "a", [])
    assert [failure.why for failure in Study(tmp_path / "a").failures] == ["requests.csv has no rows"]


@pytest.mark.parametrize(
    ("damage", "kept"),
    [
        (lambda rows: rows[1].replace("0.02,", "0.05,", 1), [1, 3, 4]),  # 95 % above 99 %
        (lambda rows: rows[1].replace("20,20,20,0", "20,21,20,0"), [1, 3, 4]),  # does not add up
        (lambda rows: rows[1].replace(",1000,", ",-1000,"), [1, 3, 4]),
        (lambda rows: rows[0], [1, 3, 4]),  # the time does not advance
        (lambda rows: second(10**6, 20), [1, 3, 4]),
    ],
)
def test_damaged_second_is_left_out_and_named(tmp_path: Path, damage: Any, kept: Any) -> None:
    rows = [second(at, 20) for at in range(1, 5)]
    rows[1] = damage(rows)
    requests = read(write(tmp_path / "a", rows, {"sent": 60}))
    assert requests.seconds["end"].tolist() == kept
    assert requests.seconds["begin"].tolist() == [0, 2, 3]
    assert [note for note in requests.notes if note.startswith("requests.csv:3: damaged row")]


def test_summary_that_disagrees_with_its_seconds_is_noted(tmp_path: Path) -> None:
    requests = read(write(tmp_path / "a", [second(1, 20)], {"sent": 30}))
    assert "counts 30 sent requests, but the seconds add up to 20" in requests.note


def test_percentiles_over_seconds_use_the_sum_of_their_buckets(tmp_path: Path) -> None:
    folder = write(tmp_path / "a", [second(1, 10), second(2, 10, 0.1)], {})
    head = "elapsed_seconds,bucket_seconds,intended,actual\n"
    rows = "1,0.01,9,10\n1,0.04,1,0\n2,0.1,1,10\n2,0.4,9,0\n9,0.4,1,1\n,0.5,20,20\n"
    (folder / "response-times.csv").write_text(head + rows)
    requests = read(folder)
    found = requests.response(requests.seconds)
    assert not found["estimated"]
    assert found["intended_p50_seconds"] == pytest.approx(0.04, rel=1e-3)
    assert found["intended_p95_seconds"] == pytest.approx(0.4, rel=1e-3)
    # A bucket is missing, so no bucket of its second is used.
    (folder / "response-times.csv").write_text(head + rows.replace("2,0.4,9,0\n", ""))
    requests = read(folder)
    assert requests.has_buckets.tolist() == [True, False]
    found = requests.response(requests.seconds)
    assert found["estimated"]
    assert 0.01 < found["intended_p50_seconds"] < found["intended_p95_seconds"] < 0.4


def test_load_of_single_cpus_is_apart(tmp_path: Path) -> None:
    folder = constant(tmp_path / "a", 4)
    rows = [
        f"2026-11-20T10:00:0{at}.000Z,{cpu},{load}\n"
        for at in range(1, 5)
        for cpu, load in (("all", 0.4), (0, 0.7), (1, 0.1))
    ]
    (folder / "beside.csv").write_text("time,cpu,load\n" + "".join(rows))
    (row,) = df_rates(Study(folder)).to_dict("records")
    assert row["load"] == pytest.approx(0.4) and row["busiest"] == pytest.approx(0.7)


# Services held at a load


def test_service_at_a_load_has_one_rate(tmp_path: Path) -> None:
    rows = [held_second(1, 0, "", ""), held_second(2, 90, 0.2, 0.4, 0.5)]
    rows += [held_second(at, 28 + at, 0.2, 0.19 + at / 500) for at in range(3, 8)]
    held = {"load": "20%", "rate": 31.5}
    study = Study(write_held(tmp_path / "a", rows, held, 5))
    (row,) = df_rates(study).to_dict("records")
    figures = [row[name] for name in ("rate", "begin_seconds", "seconds", "target", "load")]
    assert figures == pytest.approx([31.5, 2, 5, 0.2, 0.2])
    (sentence,) = of_kind(study, "load")
    assert "at 20 % load it answers 30 requests a second" in sentence
    assert not study.requests[0].notes
    other = Study(write_held(tmp_path / "b", rows, held | {"limited_seconds": 9}, 5))
    assert "at 20 % load (20 % was out of reach) it" in of_kind(other, "load")[0]


def test_figures_of_a_service_at_a_load_have_a_table(tmp_path: Path) -> None:
    held = {"load": "20%", "load_mean": 0.21, "settled_seconds": None, "rate_low": 30, "cpus": 2}
    rows = [held_second(at, 30, 0.2, 0.21) for at in range(1, 8)]
    study = Study(write_held(tmp_path / "a", rows, held, 7), constant(tmp_path / "b"))
    (row,) = topic.df_held(study).to_dict("records")
    assert row["held_load"] == "20%" and row["record"].endswith("a")
    assert (row["rate_low"], row["load_mean"]) == (30, 0.21)
    assert math.isnan(row["settled_seconds"])


def test_run_that_ended_in_the_search_has_no_rates(tmp_path: Path) -> None:
    rows = [held_second(at, 5, "", "") for at in range(1, 4)]
    study = Study(write_held(tmp_path / "a", rows, {"load": "20%", "rate": None}, 3))
    assert np.isnan(topic.df_held(study)["rate"][0]) and of_kind(study, "load") == []
    assert [*topic.figures(study)]


def test_stretches_of_a_load_trace_have_its_targets(tmp_path: Path) -> None:
    targets = ["", 0.2, 0.2, 0.2, 0.3, 0.4, 0.4, 0.4]
    rows = [held_second(at, 20 + at, load, load) for at, load in enumerate(targets, 1)]
    requests = read(write_held(tmp_path / "a", rows, {"trace": "l"}, 7))
    stretches = [*requests.stretches(-1)]
    assert [s["target"] for s in stretches] == pytest.approx([0.2, 0.3, 0.4])
    assert [s["rate"] for s in stretches] == [23, 25, 27]


def test_load_and_target_are_drawn_over_time(tmp_path: Path) -> None:
    targets = ["", 0.2, 0.2, 0.4, 0.4]
    rows = [held_second(at, 20 + at, load, load) for at, load in enumerate(targets, 1)]
    study = Study(write_held(tmp_path / "a", rows, {"trace": "day"}, 4), constant(tmp_path / "b"))
    lines = {line.get_label(): line for line in topic.plot_times(study, 0).axes[2].lines}
    assert lines["target"].get_ydata()[1:].tolist() == pytest.approx([20, 20, 40, 40])
    assert len(topic.plot_times(study, 1).axes) == 2


# Sentences


def test_lost_requests_are_told(tmp_path: Path) -> None:
    def times(p95: float) -> dict[str, Any]:
        return {"intended": {"p95_seconds": p95}}

    response = {"successes": times(0.02), "all": times(5.0)}
    document = {"success_ratio": 0.9, "causes": {"timeout": 20}, "response": response, "cap": 10}
    document |= {"lateness": {"p99_seconds": 0.1}, "unfinished_most": 3}
    study = Study(write(tmp_path / "a", [second(at, 20) for at in (1, 2)], document))
    assert "only 90 % of the requests succeeded (timeout 20)" in of_kind(study, "successes")[0]
    assert "sent more than 100 ms after they were due" in of_kind(study, "late")[0]


@pytest.mark.parametrize(
    ("capacity", "sentence"),
    [
        ({"held_rate": 90, "failed_rate": 110}, "is between 90 and 110 requests a second."),
        ({"held_rate": 90, "failed_rate": 110, "lower_bound": True}, "is above 90 requests"),
        ({"held_rate": 90, "failed_rate": 110, "upper_bound": True}, "is below 110 requests"),
        ({}, "was not found."),
    ],
)
def test_capacity_is_told(tmp_path: Path, capacity: Any, sentence: str) -> None:
    rows = [second(at, 20) for at in (1, 2)]
    study = Study(write(tmp_path / "a", rows, {"capacity": {"demand": "p95=2s"} | capacity}))
    assert topic.question(study) == "How many requests a second can it serve?"
    assert f"the capacity for p95=2s {sentence}" in topic.answer(study)
    assert df_rates(study).empty


def test_stops_add_their_rest_and_those_during_the_work() -> None:
    # sssim queue agrees: 10 ms at 1 request per second take 18.6 and 38.2 ms longer.
    assert topic.added_by_stops(0.5, 0.107, 0.01) == pytest.approx(0.018375)
    assert topic.added_by_stops(0.25, 0.107, 0.01) == pytest.approx(0.03759375)
    assert topic.added_by_stops(0.25, 0.0107, 0.01) == pytest.approx(0.028565625)
    assert topic.added_by_stops(1, 0.107, 0.01) == 0


# Levels of knobs


@pytest.mark.parametrize(
    ("values", "limit", "expected"),
    [
        ([0.1, 0.4, 1.6, 9], 1, (20, 30, 25)),
        ([0.1, 1.5, 0.2, 3], 1, (10, 20, 10 + 9 / 1.4)),  # a later rate below it by chance
        ([0.1, 0.4, math.inf, math.inf], 1, (20, 30, math.nan)),
        ([0.1, 0.4, 1.6, 9], 10, (40, math.nan, math.nan)),
        ([0.1, 0.4, 1.6, 9], 0.01, (math.nan, 10, math.nan)),
    ],
)
def test_limits_are_between_two_rates(values: Any, limit: float, expected: Any) -> None:
    found = levels.find_limit([10, 20, 30, 40], values, limit)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("knobs", "knob", "amount"),
    [
        ("frequency=1.4GHz,turbo=off+pin=free", "frequency", 1.4e9),
        ("frequency=min", "frequency", 0),
        ("frequency=max,turbo=on", "frequency", math.inf),
        ("frequency=min-2.2GHz+cpus=2", "frequency", 2.2e9),
        ("frequency=min-max", "frequency", math.inf),
        ("frequency=min-min", "frequency", 0),
        ("pin=first:8,each", "pin", 0),
        ("instances=3", "pin", 1),
        ("pin=free", "instances", 1),
        ("quota=none", "quota", math.inf),
        ("quota=50%", "quota", 50),
        ("power=low", "power", math.nan),
    ],
)
def test_levels_are_ordered_by_amounts(knobs: str, knob: str, amount: float) -> None:
    assert levels.amount(knobs, knob) == pytest.approx(amount, nan_ok=True)


def test_one_step_is_one_knob_or_balance_or_cap() -> None:
    def level(knobs: str, cap: float = 10.0) -> dict[str, Any]:
        return {"knobs": knobs, "balance": "", "cap": cap}

    one = level("frequency=max+workers=4")
    assert levels.are_one_step(one, level("frequency=min+workers=4"))
    assert not levels.are_one_step(one, level("frequency=min+workers=2"))
    assert levels.are_one_step(one, level("frequency=max+workers=4", cap=20))
    assert not levels.are_one_step(one, level("frequency=min+workers=4", cap=20))
    assert levels.differing_knob(level("pin=free"), level("pin=free+instances=1")) == ""


# A service at rates 0, 10, 20, 30: response times, power and load of a high and a low level.
HIGH = ((0, 0.0, 120, 0), (10, 0.1, 150, 0.3), (20, 0.4, 180, 0.6), (30, 1.6, 200, 0.99))
LOW = ((0, 0.0, 120, 0), (10, 0.4, 148.5, 0.5), (20, 1.6, 150, 0.98), (30, 9.0, 172, 1))


def write_level(
    folder: Path, knob: str, rates: Any, round_: int, sent: float = 0.5, **columns: str
) -> None:
    rows, energy, load = [], "time,elapsed_seconds,watts\n", "time,load\n"
    idle = "time,elapsed_seconds,active,frequency_mhz,C1\n"
    for at in range(1, 17):
        rate, time, watts, busy = rates[(at - 1) // 4]
        rows.append(second(at, rate, time, time * sent) if rate else second(at, 0, 0, 0))
        clock = f"2026-11-20T10:00:{at:02d}.000Z"
        energy += f"{clock},{at},{watts + (round_ - 2) / 2}\n"
        load += f"{clock},{busy}\n"
        idle += f"{clock},{at},{busy},1400,1\n"
    record = write(folder / "requests", rows, {"arrival": "even", "profile": {"kind": "step"}})
    for name, text in (("beside", load), ("energy", energy), ("idle", idle)):
        (record / f"{name}.csv").write_text(text)
    planned = {"experiment": "tradeoffs", "workload": "serve", "knobs": knob}
    planned |= {"round": str(round_)} | columns
    commands = [{"record": "requests", "role": "requests"}]
    run = {"schema": 1, "status": "done", "columns": planned, "commands": commands}
    (folder / "run.json").write_text(json.dumps(run))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("study")
    for round_ in (1, 2, 3):
        write_level(folder / f"high{round_}", "frequency=max", HIGH, round_)
        write_level(folder / f"low{round_}", "frequency=1.4GHz", LOW, round_)
    return Study(folder)


def test_levels_that_differ_in_two_knobs_are_not_compared(tmp_path: Path) -> None:
    write_level(tmp_path / "a", "frequency=max+pin=free", HIGH, 1)
    write_level(tmp_path / "b", "frequency=min+pin=first:2", LOW, 1)
    assert levels.df_savings(Study(tmp_path)).empty


def test_knobs_without_rates_have_no_answer(tmp_path: Path) -> None:
    write(tmp_path / "a/requests", [], {})
    run: dict[str, Any] = {"schema": 1, "status": "done", "columns": {"knobs": "pin=free"}}
    run["commands"] = [{"record": "requests"}]
    (tmp_path / "a/run.json").write_text(json.dumps(run))
    assert knobs.answer(Study(tmp_path)).startswith("No two levels that differ only in one knob")


def test_levels_without_a_cap_are_not_named_by_it(tmp_path: Path) -> None:
    for cap in ("", "10", "20"):
        write_level(tmp_path / f"x{cap}", "pin=free", HIGH, 1, cap=cap)
    rates = df_rates(Study(tmp_path))
    assert sorted(rates["level"].unique()) == ["pin=free", "pin=free cap 10", "pin=free cap 20"]


def test_other_columns_of_plans_are_other_services(tmp_path: Path) -> None:
    for size in ("small", "large"):
        for round_ in (1, 2):
            folder = tmp_path / f"{size}{round_}"
            write_level(folder, "pin=free", HIGH, round_, size=size, seed=size)
    rates = df_rates(Study(tmp_path))
    assert rates["variant"].unique().tolist() == ["size=large", "size=small"]
    assert rates["service"].nunique() == 2


def test_page_has_knobs_and_pictures(study: Study) -> None:
    html = page.render(page.of_study(study)).replace("\u00a0", " ")
    assert "What does each knob save, and what does it cost?" in html
    assert "frequency=1.4GHz instead of frequency=max (even) loses 40.0 %" in html
    assert "Response times, power and successes by rate: serve" in html
    assert html.count("<svg") == 2 + 1 + 2 * 2 + 6
