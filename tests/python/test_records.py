# SPDX-License-Identifier: Apache-2.0
"""Records: times on the run's clock, steps, iterations, and what is damaged."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import Record as Maker
from conftest import samples
from showstopper import Record, Study, steps
from showstopper.records import Clock, read_events
from showstopper.text import UserError


def events(*found: tuple[str, float]) -> str:
    lines = (f'{{"event": "{name}", "elapsed_seconds": {at}}}\n' for name, at in found)
    return "".join(lines)


def test_record_is_read(make_record: Maker) -> None:
    record = Record(make_record())
    record.read()
    assert record.counted["load"].mean() == pytest.approx(0.5)
    assert record.end == 6.0
    assert record.verdict.result == "valid"
    assert record.notes == ["duties of instances are unknown: decisions were not recorded"]


def test_record_without_any_other_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "samples.csv").write_text(samples([0.5] * 12))
    study = Study(tmp_path)
    assert len(study.runs) == 1 and study.runs["verdict"][0] == "invalid"
    assert study.runs["throughput"].isna().all()


@pytest.mark.parametrize("rows", ["", "x,y\n1,2\n", samples([])])
def test_record_without_a_sample_is_a_failure(tmp_path: Path, rows: str) -> None:
    (tmp_path / "samples.csv").write_text(rows)
    study = Study(tmp_path)
    assert len(study.failures) == 1 and study.runs.empty and study.steps.empty


def test_clock_stops_in_pauses(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(
        events(("counting", 0), ("paused", 2), ("continued", 5), ("ending", 9))
    )
    clock = Clock.of(read_events(str(tmp_path), []))
    assert clock.run_time(np.array([1.0, 2, 4, 5, 9])).tolist() == [1, 2, 2, 2, 6]
    assert clock.elapsed(4.0) == 7.0
    assert clock.is_paused(np.array([2.0, 3, 5, 6])).tolist() == [False, True, True, False]
    assert clock.ended == 6


def test_counting_that_never_began_counts_nothing(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(events(("settling", 0)))
    assert Clock.of(read_events(str(tmp_path), [])).counted_from == math.inf


def test_damaged_events_are_named(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text('{"event": "counting"}\n{\n[]\n')
    notes: list[str] = []
    assert len(read_events(str(tmp_path), notes)) == 1
    assert notes == ["events.jsonl:2: invalid event (and more)"]


def test_sample_before_the_previous_one_is_left_out(make_record: Maker) -> None:
    rows = samples([0.5] * 6) + samples([0.9]).split("\n", 1)[1]
    record = Record(make_record(samples_csv=rows))
    record.read()
    assert len(record.samples) == 6
    assert record.notes[0].startswith("samples.csv:8: damaged row")


def test_iteration_counts_for_its_part_in_each_window() -> None:
    rows = pd.DataFrame({"start": [0.0, 1.0, 3.0], "end": [1.0, 3.0, 3.0]})
    rate, _ = steps.rates(rows, [0, 2], [2, 4])
    assert rate.tolist() == [1.5 / 2, 1.5 / 2]


def test_staircase_holds_the_top_level_twice(make_record: Maker) -> None:
    rows, at = [samples([]).strip()], 0.0
    for target, seconds in ((0.2, 3), (0.4, 3), (0.6, 6), (0.4, 3), (0.2, 3)):
        for _ in range(2 * seconds):
            at += 0.5
            rows.append(f"2026-01-01T00:00:{at:09.6f}Z,{at},{target},{target},1,1")
    found = steps.find(Record(make_record(samples_csv="\n".join(rows) + "\n")), -1, 6, 0.95)
    assert found["target"].tolist() == [0.2, 0.4, 0.6, 0.6, 0.4, 0.2]
    assert found["half"].tolist() == [1, 1, 1, 2, 2, 2]
    assert found["from"].iloc[2] == 6.5 and found["to"].iloc[2] == 8.5


def test_sample_without_a_target_makes_the_error_unknown() -> None:
    found = steps.errors(np.array([0.5, math.nan]), np.array([0.4, 0.4]))
    assert math.isnan(found["error_mean_percent"])


POWER = "time,elapsed_seconds,watts\n" + "".join(
    f"2026-01-01T00:00:0{n}Z,{n},{watts}\n" for n, watts in ((1, 10), (2, 20), (3, ""), (4, 40))
)


def test_power_of_a_part_has_known_and_unknown_seconds(make_record: Maker) -> None:
    record = Record(make_record(energy_csv=POWER))
    found = steps.power(record, 1.0, 4.0)
    assert (found["power_seconds"], found["power_unknown"]) == (2, 1)
    assert found["watts"] == 30 and found["watt_hours"] == 60 / 3600


def test_negative_power_is_damage(make_record: Maker) -> None:
    record = Record(make_record(energy_csv=POWER.replace("20\n", "-20\n")))
    assert record.power["watts"].tolist()[0] == 10 and len(record.power) == 3
    assert record.notes[0].startswith("energy.csv:3:")


def test_later_schema_is_refused(make_record: Maker) -> None:
    with pytest.raises(UserError, match="schema 99"):
        Record(make_record(plan_json='{"schema": 99}'))


def test_load_beside_has_the_target_of_its_sample(make_record: Maker) -> None:
    low, high = samples([0.3] * 12, 0.3), samples([0.6] * 12, 0.6, begin=6)
    times = [0.01 + at / 2 for at in range(1, 25)]  # a sample's time may be late
    rows = "".join(f"2026-01-01T00:00:{at:09.6f}Z,0.4\n" for at in times)
    record = Record(
        str(make_record(samples_csv=low + high.partition("\n")[2], beside_csv=f"time,load\n{rows}"))
    )
    assert record.beside["target"].tolist() == [0.3] * 11 + [0.6] * 12


@pytest.mark.parametrize(("states", "are_known"), [(16, True), (17, False)])
def test_idle_states_are_limited(make_record: Maker, states: int, are_known: bool) -> None:
    names = ",".join(f"C{at}" for at in range(states))
    row = f"2026-01-01T00:00:01Z,1,0.5,2000{',0' * states}\n"
    record = Record(
        str(make_record(idle_csv=f"time,elapsed_seconds,active,frequency_mhz,{names}\n{row}"))
    )
    assert bool(len(record.idle)) == are_known
    assert any("idle.csv:1:1" in note for note in record.notes) != are_known


def test_iteration_in_progress_is_as_long_as_the_one_before_counting(make_record: Maker) -> None:
    counting = '{"event": "counting", "elapsed_seconds": 5.5}\n'
    record = make_record(events_jsonl=counting, iterations_csv="instance,start,end\n0,3,5.4\n")
    last = Record(str(record)).iterations.iloc[-1]
    assert (last["start"], last["end"] - last["start"]) == pytest.approx((5.4, 2.4))
