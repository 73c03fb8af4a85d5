# SPDX-License-Identifier: Apache-2.0
"""Other files for other programs: timelines, profiles for sssim; counters; pictures of traces."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import Record as Maker
from showstopper import Record, Study, cli, memory_profile, trace_picture
from showstopper.records import COUNTERS
from showstopper.report import figures
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


def test_file_that_is_read_is_not_written(make_record: Maker) -> None:
    record = make_record()
    for name in ("samples.csv", "plan.json"):
        before = (record / name).read_text()
        words = ["ssreport", "-q", "--perfetto", str(record / name), str(record)]
        assert cli.main(words) == 125 and (record / name).read_text() == before


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


# Pictures of traces

TABLE = "free,least,mean,most\n1,,,\n0,0.2,0.3,0.4\n0,0.5,0.5,0.5\n1,,,\n"
TABLE += "0,0.6,0.6,0.6\n0,0.6,0.6,0.6\n"


@pytest.mark.parametrize(
    ("length", "axis"),
    [(0, ("seconds", 1)), (2999, ("nanoseconds", 2999)), (359 * 10**9, ("seconds", 359)),
     (360 * 10**9, ("minutes", 6))],
)  # fmt: skip
def test_unit_suits_the_length(length: int, axis: tuple[str, float]) -> None:
    assert trace_picture.time_axis(length) == axis


def test_loads_extend_to_the_ends_of_their_sections() -> None:
    _, columns = trace_picture.read_columns(io.StringIO("6\n" + TABLE))
    rows = trace_picture.points(columns)
    assert rows["at"].tolist() == [0.5, 1, 1.5, 2.5, 3, 3.5, 4, 4.5, 5.5, 6]
    means = [math.nan, 30, 30, 50, 50, math.nan, 60, 60, 60, 60]
    assert rows["mean"].tolist() == pytest.approx(means, nan_ok=True)
    assert rows["most"].iloc[1] == pytest.approx(40)


@pytest.mark.parametrize(
    ("column", "names"), [("1,,,", ["free"]), ("0,0,1,1", ["minimum to maximum", "mean"])]
)
def test_legend_names_what_is_drawn(column: str, names: list[str]) -> None:
    columns = trace_picture.read_columns(
        io.StringIO(f"9\nfree,least,mean,most\n{column}\n{column}\n")
    )
    [ax] = trace_picture.plot_trace(*columns).axes
    assert ax.get_legend_handles_labels()[1] == names


def test_picture_of_a_trace_is_written_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, title = tmp_path / "a.svg", "it's $b_{c}$ <&> " + 200 * "\u00e4"
    monkeypatch.setattr("sys.stdin", io.StringIO("9\n" + TABLE))
    assert cli.main(["sstrace", "plot", "--title", title, "-o", str(path)]) == 0
    assert path.read_text().count("<svg ") == 1 and "var(" not in path.read_text()
    assert [*tmp_path.iterdir()] == [path]
    monkeypatch.setattr("sys.stdin", io.StringIO("9\n" + TABLE))
    assert cli.main(["sstrace", "plot", "-o", "/none/a.png"]) == 2
    assert "sstrace: /none/a.png: No such file" in capsys.readouterr().err
    assert cli.main(["sstrace", "plot"]) == 125
    assert isinstance(figures.svg(trace_picture.plot_trace(9, pd.DataFrame(
        {"free": [0.0], "least": [math.nan], "mean": [math.nan], "most": [math.nan]}
    ))), str)
