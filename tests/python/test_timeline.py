# SPDX-License-Identifier: Apache-2.0
"""Files for other programs: timelines, and profiles for sssim. Counters, too."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from conftest import Record as Maker
from showstopper import Record, Study, cli, memory_profile
from showstopper.records import COUNTERS
from showstopper.report.topics import counters as topic


def timeline(path: Path, *records: Path) -> list[dict[str, Any]]:
    words = ["ssreport", "-q", "--perfetto", str(path), *map(str, records)]
    assert cli.main(words) == 0
    found: list[dict[str, Any]] = json.loads(path.read_text())["traceEvents"]
    return found


def test_timeline_has_all_of_a_record(make_record: Maker, tmp_path: Path) -> None:
    decisions = "elapsed_seconds,executor,state,real_seconds\n"
    decisions += "0,1,running,0.3\n0.2999,1,stopped,0.2\n1e15,1,running,1\n"
    events = '{"event": "settling", "elapsed_seconds": -1.5}\n'
    events += '{"event": "counting", "elapsed_seconds": 0}\n'
    plan = '{"instances": 2}'
    first = make_record("first", decisions_csv=decisions, events_jsonl=events, plan_json=plan)
    found = timeline(tmp_path / "t.json", first, make_record("second"))
    assert min(event["ts"] for event in found) == 0
    # Times begin a whole second before the first event, which precedes the start.
    slices = [event for event in found if event["ph"] == "X"]
    assert [(s["ts"], s["dur"], s["name"]) for s in slices] == [
        (2e6, 3e5, "running"), (2.3e6, 199900, "stopped"),
    ]
    assert [e["ts"] for e in found if e["name"] == "settling"] == [5e5]
    names = {e["args"]["name"]: (e["pid"], e["tid"]) for e in found if e["ph"] == "M"}
    assert names["first"] == (1, 1) and names["second"] == (4, 4)
    assert names["instance 1"] == (1, 3)
    spans = [e for e in found if e["ph"] in "be" and e["pid"] == 1]
    assert len(spans) == 12 and len({e["id2"]["local"] for e in spans}) == 6
    loads = [e["args"] for e in found if e["name"] == "load, %" and e["pid"] == 1]
    assert len(loads) == 13 and loads[0] == {"target": 50, "load": 40} and loads[-1] == loads[-2]


def test_timeline_leaves_out_impossible_times(
    make_record: Maker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = '{"event": "a", "elapsed_seconds": 1e13}\n{"event": "b", "elapsed_seconds": 1}\n'
    found = timeline(tmp_path / "t.json", make_record(events_jsonl=events))
    assert [event["name"] for event in found if event["ph"] == "i"] == ["b"]
    assert "left out 1 event at impossible times" in capsys.readouterr().err


def counters(*rows: dict[str, object]) -> str:
    names = ["elapsed_seconds", "runnable", *COUNTERS]
    lines = (",".join(str(row.get(name, "")) for name in names) for row in rows)
    return "\n".join([",".join(names), *lines, ""])


def test_counts_become_rates_of_their_time(make_record: Maker) -> None:
    rows = [{"elapsed_seconds": at, "runnable": 2, "cycles": 100, "page_faults": 3}
            for at in range(1, 7)]
    for at in (0, 2):
        rows[at].pop("page_faults")  # the next count covers two seconds
    study = Study(make_record(counters_csv=counters(*rows)))
    whole, step = topic.df_counters(study).to_dict("records")
    assert (whole["seconds"], whole["runnable_mean"]) == (6, 2)
    assert whole["page_faults_per_second"] == pytest.approx(12 / 6)
    # The count of its first second covers time before the step, too.
    assert step["page_faults_per_second"] == pytest.approx(6 / 3)
    assert math.isnan(whole["instructions_per_second"])
    assert math.isnan(whole["l1d_miss_rate"]) and math.isnan(whole["step"])
    assert (step["step"], step["seconds"], step["steps_of"]) == (1, 4, study.records[0].name)
    assert topic.df_counters(Study()).empty and not [*topic.figures(Study())]


def test_profile_of_an_instance(make_record: Maker, tmp_path: Path) -> None:
    known = {"task_clock_seconds": 0.75, "cache_misses": 75, "stalled_backend": 1, "cycles": 4}
    rows = [{"elapsed_seconds": 1, "task_clock_seconds": 0.25}]
    rows += [{"elapsed_seconds": at} | known for at in range(2, 7)]
    record = make_record(counters_csv=counters(*rows))
    # An instance runs half of the time; the first second takes the rates of the second one.
    assert [*memory_profile.lines(Record(record))][:4] == [
        "0.000000s 1 50 0.250000", "0.250000s 0 50 0.250000",
        "0.500000s 2 50 0.250000", "0.750000s 1 50 0.250000",
    ]
    out = tmp_path / "profile"
    assert cli.main(["ssreport", "-q", "--profile", str(out), str(record)]) == 0
    assert out.read_text().splitlines()[-1] == "3.000000s 0 0 0"
    both = [str(record), str(make_record("other"))]
    assert cli.main(["ssreport", "-q", "--profile", str(out), *both]) == 125
    assert cli.main(["ssreport", "-q", "--profile", str(out), both[1]]) == 125
