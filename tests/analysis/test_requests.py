# SPDX-License-Identifier: Apache-2.0
"""Records of requests: reading, percentiles, limits, levels of knobs, published statements."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

from showstopper import Record, levels, request_pictures
from showstopper.page import render
from showstopper.responses import Responses, added_by_stops
from showstopper.studies import Report, Study
from showstopper.topics import requests as topic

HEAD = "epoch_seconds,elapsed_seconds,rate,due,sent,refused,waiting,unfinished,completed,failed,"
HEAD += "timeouts,bytes,lateness_most_seconds,"
HEAD += ",".join(
    f"{origin}_{figure}_seconds"
    for origin in ("intended", "actual")
    for figure in ("mean", "p50", "p95", "p99", "most")
)
TEN = 1795168800
VERDICT = {"result": "valid", "reasons": "", "checks": [{"check": "failed_requests"}]}


def times(time):
    return ",".join(f"{factor * time:g}" for factor in (1, 1, 2, 3, 4))


def second(at, rate, intended=0.01, actual=0.01, lost=0):
    numbers = f"{rate},{rate},{rate},0,0,0,{rate - lost},{lost},{lost},1000,0.001"
    return f"{TEN + at}.000000,{at}.000000,{numbers},{times(intended)},{times(actual)}\n"


def write(folder, rows, document=None):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "requests.csv").write_text(HEAD + "\n" + "".join(rows))
    if document is not None:
        known = {"schema": 2, "program": "ssrequest", "verdict": VERDICT, "succeeded": 1}
        (folder / "requests.json").write_text(json.dumps(known | document))
    return folder


def held_second(at, rate, target, load, time=0.01):
    return second(at, rate, time).rstrip() + f",{target},{load}\n"


def write_held(folder, rows, held, counted):
    """Write a record of a service that was held at loads, of which only the last seconds count."""
    document = {"begin_epoch_seconds": TEN, "end_epoch_seconds": TEN + len(rows)}
    document |= {"duration_seconds": counted, "held": held, "throughput": 30.0, "arrival": "even"}
    write(folder, rows, document)
    table = folder / "requests.csv"
    table.write_text(table.read_text().replace("actual_most_seconds", "actual_most_seconds,target,load"))
    return folder


def constant(folder, count=10):
    return write(folder, [second(at, 20) for at in range(1, count + 1)], {"sent": 20 * count})


def test_percentiles_over_seconds_use_the_sum_of_their_buckets(tmp_path):
    folder = write(tmp_path / "a", [second(1, 10), second(2, 10, 0.1)], {})
    head = "elapsed_seconds,bucket_seconds,intended,actual\n"
    rows = "1,0.01,9,10\n1,0.04,1,0\n2,0.1,1,10\n2,0.4,9,0\n9,0.4,1,1\n,0.5,20,20\n"
    (folder / "response-times.csv").write_text(head + rows)
    responses = Responses.read(str(folder))
    intended, _ = responses.response(responses.seconds)
    assert not intended.estimated
    assert intended.p50 == pytest.approx(0.04, rel=1e-3)
    assert intended.p95 == pytest.approx(0.4, rel=1e-3)
    # A bucket is missing: its second has none.
    (folder / "response-times.csv").write_text(head + rows.replace("2,0.4,9,0\n", ""))
    responses = Responses.read(str(folder))
    assert responses.seconds["has_buckets"].tolist() == [True, False]
    assert responses.response(responses.seconds)[0].estimated


def test_a_service_at_a_load_has_one_rate(tmp_path):
    rows = [held_second(1, 0, "", ""), held_second(2, 90, 0.2, 0.4, 0.5)]
    rows += [held_second(at, 28 + at, 0.2, 0.19 + at / 500) for at in range(3, 8)]
    write_held(tmp_path / "a", rows, {"load": "20%", "rate": 31.5}, 5)
    report = Report()
    report.read([str(tmp_path / "a")])
    row = report.rates.iloc[0]
    assert len(report.rates) == 1 and row["rate"] == 31.5
    assert row[["begin_seconds", "seconds", "target", "load"]].tolist() == pytest.approx([2, 5, 0.2, 0.2])
    (finding,) = (one for one in report.findings if one.kind == "load")
    assert "at 20 % load it answers 30 requests a second" in finding.sentence
    limited = {"load": "20%", "rate": 31.5, "limited_seconds": 9}
    write_held(tmp_path / "b", rows, limited, 5)
    other = Report()
    other.read([str(tmp_path / "b")])
    (finding,) = (one for one in other.findings if one.kind == "load")
    assert "at 20 % load (20 % was out of reach) it" in finding.sentence
    assert not report.responses[0].notes


def test_figures_of_a_service_at_a_load_have_a_table(tmp_path):
    held = {"load": "20%", "target_mean": 0.2, "load_mean": 0.21, "error_mse_e4": 1.5, "settled_seconds": None}
    held |= {"rate": 31.5, "rate_low": 30, "rate_high": 33, "cpu_seconds_per_request": 0.0125, "cpus": 2}
    rows = [held_second(at, 30, 0.2, 0.21) for at in range(1, 8)]
    write_held(tmp_path / "a", rows, held, 7)
    constant(tmp_path / "b")
    report = Report()
    report.read([str(tmp_path / "a"), str(tmp_path / "b")])
    (row,) = report.table("requests-held").frame.to_dict("records")
    assert row["held_load"] == "20%" and row["record"].endswith("a")
    assert {name: row[name] for name in ("rate_low", "rate_high", "load_mean")} == {
        "rate_low": 30, "rate_high": 33, "load_mean": 0.21}
    assert math.isnan(row["settled_seconds"]) and math.isnan(row["limited_seconds"])


def test_load_and_target_are_drawn_over_time(tmp_path):
    targets = ["", 0.2, 0.2, 0.4, 0.4]
    rows = [held_second(at, 20 + at, load, load and load + 0.01) for at, load in enumerate(targets, 1)]
    of = Responses.read(str(write_held(tmp_path / "a", rows, {"trace": "day.txt"}, 4)))
    panel = request_pictures.plot_times(of).axes[2]
    lines = {line.get_label(): line for line in panel.lines}
    assert lines["target"].get_ydata()[1:].tolist() == pytest.approx([20, 20, 40, 40])
    assert lines["load"].get_ydata()[1:].tolist() == pytest.approx([21, 21, 41, 41])
    assert len(request_pictures.plot_times(Responses.read(str(constant(tmp_path / "b")))).axes) == 2


def test_a_run_that_ended_in_the_search_has_no_figures(tmp_path):
    held = {"load": "20%", "rate": None, "target_mean": None, "cpus": 2}
    write_held(tmp_path / "a", [held_second(at, 5, "", "") for at in range(1, 4)], held, 3)
    report = Report()
    report.read([str(tmp_path / "a")])
    (row,) = report.table("requests-held").frame.to_dict("records")
    assert math.isnan(row["rate"]) and math.isnan(row["target_mean"])
    assert list(request_pictures.pictures_over_time(report))
    assert not [one for one in report.findings if one.kind == "load"]


def test_stretches_of_a_load_trace_have_its_targets(tmp_path):
    targets = ["", 0.2, 0.2, 0.2, 0.3, 0.4, 0.4, 0.4]
    rows = [held_second(at, 20 + at, load, load) for at, load in enumerate(targets, 1)]
    responses = Responses.read(str(write_held(tmp_path / "a", rows, {"trace": "l"}, 7)))
    stretches = responses.stretches(-1)
    assert [s["target"] for s in stretches] == pytest.approx([0.2, 0.3, 0.4])
    assert [s["rate"] for s in stretches] == [23, 25, 27]


def test_stops_add_their_rest_and_those_during_the_work():
    # sssim queue agrees: 10 ms at 1 request per second take 18.6 and 38.2 ms longer.
    assert added_by_stops(0.5, 0.107, 0.01) == pytest.approx(0.018375)
    assert added_by_stops(0.25, 0.107, 0.01) == pytest.approx(0.03759375)
    assert added_by_stops(0.25, 0.0107, 0.01) == pytest.approx(0.028565625)
    assert added_by_stops(1, 0.107, 0.01) == 0


@pytest.mark.parametrize(
    ("values", "limit", "expected"),
    [
        ([0.1, 0.4, 1.6, 9], 1, (20, 30, 25)),
        ([0.1, 1.5, 0.2, 3], 1, (10, 20, 10 + 9 / 1.4)),  # a later rate below the limit by chance
        ([0.1, 0.4, math.inf, math.inf], 1, (20, 30, math.nan)),
        ([0.1, 0.4, 1.6, 9], 10, (40, math.nan, math.nan)),
        ([0.1, 0.4, 1.6, 9], 0.01, (math.nan, 10, math.nan)),
    ],
)
def test_limits_are_between_two_rates(values, limit, expected):
    found = levels.find_limit([10, 20, 30, 40], values, limit)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("knobs", "knob", "amount"),
    [
        ("frequency=1.4GHz,turbo=off+pin=free", "frequency", 1.4e9),
        ("frequency=min", "frequency", 0),
        ("frequency=max,turbo=on", "frequency", levels.UNLIMITED),
        ("frequency=min-2.2GHz+cpus=2", "frequency", 2.2e9),
        ("frequency=min-max", "frequency", levels.UNLIMITED),
        ("frequency=min-min", "frequency", 0),
        ("pin=first:8,each", "pin", 0),
        ("instances=3", "pin", 1),
        ("pin=free", "instances", 1),
        ("quota=none", "quota", levels.UNLIMITED),
        ("quota=50%", "quota", 50),
        ("power=low", "power", math.nan),
    ],
)
def test_levels_are_ordered_by_amounts(knobs, knob, amount):
    found = levels.amount(SimpleNamespace(knobs=knobs), knob)
    assert found == pytest.approx(amount, nan_ok=True)


def test_one_step_is_one_knob_or_balance_or_cap():
    def level(knobs, balance="", cap=10.0):
        return SimpleNamespace(knobs=knobs, balance=balance, cap=cap)

    one = level("frequency=max+workers=4")
    assert levels.are_one_step(one, level("frequency=min+workers=4"))
    assert not levels.are_one_step(one, level("frequency=min+workers=2"))
    assert levels.are_one_step(one, level("frequency=max+workers=4", cap=20))
    assert not levels.are_one_step(one, level("frequency=min+workers=4", cap=20))
    assert levels.differing_knob(level("pin=free"), level("pin=free+instances=1")) == ""


# A service at rates 0, 10, 20, 30: response times, power and load of a high and a low level.
HIGH = ((0, 0.0, 120, 0), (10, 0.1, 150, 0.3), (20, 0.4, 180, 0.6), (30, 1.6, 200, 0.99))
LOW = ((0, 0.0, 120, 0), (10, 0.4, 148.5, 0.5), (20, 1.6, 150, 0.98), (30, 9.0, 172, 1))


def write_level(folder, knobs, rates, round_, power=True, columns=(), sent=0.5):
    rows, energy, load = [], "time,elapsed_seconds,watts\n", "time,load\n"
    for at in range(16):
        rate, time, watts, busy = rates[at // 4]
        rows.append(second(at + 1, rate, time, time * sent) if rate else second(at + 1, 0, 0, 0))
        clock = f"2026-11-20T10:00:{at + 1:02d}.000Z"
        energy += f"{clock},{at + 1},{watts + (round_ - 2) / 2}\n"
        load += f"{clock},{busy}\n"
    record = write(folder / "requests", rows, {"arrival": "even", "profile": {"kind": "step"}})
    (record / "beside.csv").write_text(load)
    if power:
        (record / "energy.csv").write_text(energy)
    columns = dict(columns, experiment="tradeoffs", workload="serve", knobs=knobs, round=str(round_))
    commands = [{"record": "requests", "role": "requests"}]
    run = {"schema": 1, "status": "done", "columns": columns, "commands": commands}
    (folder / "run.json").write_text(json.dumps(run))


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    for round_ in (1, 2, 3):
        write_level(folder / f"high{round_}", "frequency=max", HIGH, round_)
        write_level(folder / f"low{round_}", "frequency=1.4GHz", LOW, round_)
    report = Report()
    report.read([str(folder)])
    return report


def test_savings_compare_two_levels(report):
    saving = report.table("requests-savings").frame.iloc[0]
    assert (saving["rate"], saving["saturated"], saving["knob"]) == (30, "yes", "frequency")
    figures = saving[["high_capacity", "low_capacity", "lost", "saved"]].astype(float)
    assert figures.tolist() == pytest.approx([25, 15, 0.4, 0.14])
    assert saving["published_lost_percent"] == 33


def test_statements_are_tested_by_welch(report):
    rules = report.table("requests-rules").frame.set_index("statement")
    little = rules.loc["a lower frequency saves less than 5 % of the power of an underloaded service"]
    assert (little["verdict"], little["runs"], little["rate"]) == ("supported", 3, 10)
    # The standard error is sqrt(2 / 12) W, and t has 4 degrees of freedom.
    expected = [0.01, (1.5 + 2.776445105 * math.sqrt(0.5 / 3)) / 150]
    assert little[["difference", "high"]].astype(float).tolist() == pytest.approx(expected)
    twice = "a lower frequency costs at least twice as much capacity as it saves power"
    assert rules["difference"][twice] == pytest.approx(0.12)
    pinned = rules.loc["pinning does not change the power of an underloaded service"]
    assert (pinned["verdict"], pinned["why"]) == ("not tested", "no two such levels")


@pytest.mark.parametrize(("workers", "verdict"), [("2", "supported"), ("4", "not tested")])
def test_more_instances_help_if_fewer_use_a_part_of_the_cpus(tmp_path, workers, verdict):
    for round_ in (1, 2, 3):
        for instances, rates in ((2, HIGH), (1, LOW)):
            folder = tmp_path / f"{instances}-{round_}"
            columns = {"machine_cpus": "4", "workers": workers}
            write_level(folder, f"instances={instances}", rates, round_, columns=columns)
    report = Report()
    report.read([str(tmp_path)])
    rules = report.table("requests-rules").frame.set_index("statement")
    shorter = "more instances shorten the mean response time of an overloaded service"
    assert rules["verdict"][f"{shorter} that uses a part of the CPUs"] == verdict


def test_statements_are_about_successes_from_when_they_were_sent(tmp_path):
    for round_ in (1, 2, 3):
        write_level(tmp_path / f"high{round_}", "frequency=max", HIGH, round_)
        write_level(tmp_path / f"low{round_}", "frequency=1.4GHz", LOW, round_, sent=0.01)
    report = Report()
    report.read([str(tmp_path)])
    rules = report.table("requests-rules").frame.set_index("statement")
    longer = rules.loc["a lower frequency lengthens the mean response time of a saturated machine"]
    assert longer["difference"] == pytest.approx((0.8 - 0.09) / 0.8)
    assert longer["verdict"] == "contradicted"


def test_statements_are_not_tested_without_rates(tmp_path):
    write(tmp_path / "a/requests", [], {})
    run = {"schema": 1, "status": "done", "columns": {"knobs": "pin=free"}}
    run["commands"] = [{"record": "requests"}]
    (tmp_path / "a/run.json").write_text(json.dumps(run))
    report = Report()
    report.read([str(tmp_path)])
    assert set(report.table("requests-rules").frame["verdict"]) == {"not tested"}


def test_idle_states_do_not_need_ordered_rows(tmp_path):
    folder = constant(tmp_path / "a", 4)
    rows = [f"2026-11-20T10:00:{at:02d}.000Z,{at},0.{at}0,1400,1\n" for at in (3, 1, 4, 2)]
    (folder / "idle.csv").write_text("time,elapsed_seconds,active,frequency_mhz,C1\n" + "".join(rows))
    idle = Responses.read(str(folder)).idle
    assert idle["active"].tolist() == [0.1, 0.2, 0.3, 0.4]


def test_rates_have_power_and_state(report):
    rates = report.table("requests-rates").frame
    assert rates["state"].tolist()[:3] == ["underloaded", "underloaded", "overloaded"]
    assert rates["idle_watts"].iloc[0] == pytest.approx(119.5)
    assert rates["saturated"].tolist()[:3] == ["no", "no", "yes"]


def test_rates_are_observations(report):
    study = Study()
    study.report = report
    observed = study.observations
    assert set(observed["level"]) == {"rate"} and len(observed) == 18
    assert observed["plan.knobs"].iloc[0] == "frequency=max"
    assert observed["watts"].iloc[0] == pytest.approx(149.5)


def test_the_page_shows_knobs_and_pictures(report):
    page = render(report.page()).replace("\u00a0", " ")
    assert "What does each knob save, and what does it cost?" in page
    assert "frequency=1.4GHz instead of frequency=max (even) loses 40.0 %" in page
    assert "Response times, power and successes by rate: serve" in page
    assert topic.text(report).startswith("\nwhat each knob saves and costs")


def test_a_notebook_reads_requests(tmp_path):
    record = Record(str(constant(tmp_path / "a")))
    assert record.verdict.result == "valid" and record.summary["sent"] == 200
    assert record.responses["completed"].sum() == 200
    assert record.responses["intended_p95"].mean() == pytest.approx(0.02)
