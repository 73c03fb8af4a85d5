# SPDX-License-Identifier: Apache-2.0
"""Fleets: reading of nodes, sums over bins of time, predictions."""

import math

import numpy as np
import pandas as pd
import pytest

from showstopper.fleets import BINS, Fleet
from showstopper.studies import Report
from showstopper.text import Notes
from showstopper.topics import fleet as topic

LIST = "node,record,trace,status,reason,start,offset_seconds,offset_error_seconds,clock,"
LIST += "clock_error_seconds\n"
START = "1795478400"  # 2026-11-24T00:00:00Z, the planned start


def write(folder, nodes, rows, cpus=1, events=""):
    """Write a fleet: lines of fleet.csv, and for each record (end, target, load, counted)."""
    (folder / "fleet.csv").write_text(LIST + nodes)
    for name, samples in rows.items():
        (folder / name).mkdir()
        (folder / name / "plan.json").write_text(f'{{"schema": 2, "cpu_count": {cpus}}}')
        (folder / name / "events.jsonl").write_text(events)
        lines = [
            f"2026-11-24T{int(end) // 3600 % 24:02d}:{int(end) // 60 % 60:02d}:{end % 60:06.3f}Z,"
            f"{end},{target},{load},{counted}\n"
            for end, target, load, counted in samples
        ]
        head = "time,elapsed_seconds,target,load,counted\n"
        (folder / name / "samples.csv").write_text(head + "".join(lines))


def read(folder, notes=None):
    return Fleet.read(str(folder), Notes() if notes is None else notes)


def test_pauses_are_not_covered(tmp_path):
    events = '{"elapsed_seconds":1.5,"event":"paused"}\n{"elapsed_seconds":11.5,"event":"continued"}\n'
    samples = [(1, 0.5, 0.5, 1), (12.5, 0.5, 0.1, 1), (13.5, 0.5, 0.3, 1)]
    write(tmp_path, "a,a,x,done,,,,,,\n", {"a": samples}, events=events)
    fleet = read(tmp_path)
    node = fleet.nodes.iloc[0]
    assert (node["covered_seconds"], node["ended"]) == (3, 13.5)
    assert node["load_mean"] == pytest.approx(0.3, rel=1e-15)
    assert fleet.bins[5, 0] == 0
    assert fleet.bins[11, :2] == pytest.approx([0.5, 0.05])


def test_long_records_widen_the_bins_and_lose_no_second(tmp_path):
    write(tmp_path, "a,a,x,done,,,,,,\n", {"a": [(i, 0.25, 0.5, 1) for i in range(1, 501)]}, cpus=4)
    fleet = read(tmp_path)
    assert (fleet.width, fleet.used) == (4, 125)
    assert fleet.bins[:, 0].sum() == pytest.approx(2000)
    assert fleet.map[0, :, 1].sum() == pytest.approx(1000)


def test_late_starts_and_clocks(tmp_path):
    lines = f"a,,x,done,,{START},0,0.0001,,\nb,b,y,done,,{START},3,0.0002,chrony,0.001\n"
    late = [(end, 0.2, 0.2, 1) for end in (1, 2)]
    write(tmp_path, lines, {"a": late, "b": late})
    samples = (tmp_path / "b/samples.csv").read_text().replace(":01.000Z", ":04.100Z")
    (tmp_path / "b/samples.csv").write_text(samples)
    fleet = read(tmp_path)
    assert fleet.nodes["late_seconds"].tolist() == pytest.approx([0, 0.1], abs=1e-6)
    assert fleet.nodes["clock_trusted"].tolist() == [True, False]
    # In the first second, b has samples from 0.1 s on.
    assert fleet.bins[0, 0] == pytest.approx(1.9, abs=1e-6)


def test_errors_over_spans_do_not_depend_on_the_length_of_samples(tmp_path):
    short = [(5, 0.5, 0.7, 1), (10, 0.5, 0.4, 1), (12, 0.5, 0.4, 1)]
    rows = {"a": short, "b": [(10, 0.5, 0.55, 1), (12, 0.5, 0.4, 1)]}
    write(tmp_path, "a,a,x,done,,,,,,\nb,b,x,done,,,,,,\n", rows)
    nodes = read(tmp_path).nodes
    assert nodes["apart_mean"].tolist() == pytest.approx([(10 * 0.05 + 2 * 0.1) / 12] * 2)


def test_a_gap_of_days_puts_only_its_first_sample_in_doubt(tmp_path):
    ends = [1, 172800, 172801, 172803]
    write(tmp_path, "a,a,x,done,,,,,,\n", {"a": [(e, 0.5, 0.1 * e % 1, 1) for e in ends]})
    notes = Notes()
    assert read(tmp_path, notes).nodes["covered_seconds"][0] == 4
    assert str(notes).startswith("a: samples.csv:3: invalid row, in ")


def test_impossible_times_are_noted_of_three_nodes_only(tmp_path):
    samples = [(1, 0.5, 0.5, 1), (2000000, 0.5, 0.5, 1), (3, 0.5, 0.2, 1), (2, 0.5, 0.1, 1)]
    names = "abcde"
    lines = "".join(f"{name},{name},x,done,,,,,,\n" for name in names)
    write(tmp_path, lines, dict.fromkeys(names, samples))
    notes = Notes()
    fleet = read(tmp_path, notes)
    assert fleet.nodes["covered_seconds"].tolist() == [3] * 5 and fleet.width == 1
    assert str(notes).count("invalid row") == 3
    assert str(notes).endswith("; 2 more nodes have invalid or incomplete lines of samples")


def test_nodes_without_a_record_or_cpus_have_failed(tmp_path):
    lines = 'a,a,x,done,,,,,,\nb,b,x,done,,,,,,\nc,c,"x,1",failed,"was ""lost""",,,,,\n'
    write(tmp_path, lines, {"a": [(1, 0.5, 0.5, 1)]}, cpus=0)
    nodes = read(tmp_path).nodes
    assert nodes["failed"].all()
    assert nodes["reason"].tolist() == [
        "its record does not say how many CPUs the node has",
        f"{tmp_path}/b/plan.json: No such file or directory",
        'was "lost"',
    ]
    assert nodes["trace"][2] == "x,1"


def nodes_of(errors, traces, **columns):
    frame = pd.DataFrame({"error_mean": errors, "apart_mean": 1.0, "trace": traces, "covered_seconds": 1.0})
    return frame.assign(failed=False, **columns)


def predict(count, same):
    """Predict a node with trace x from nodes, of which the first `same` follow x."""
    known = nodes_of(0.01 * np.arange(1, count + 1), ["x"] * same + ["y"] * (count - same))
    return topic.predict(Fleet("f", known), nodes_of([0.0], ["x"])).iloc[0]


@pytest.mark.parametrize(
    ("count", "same", "by", "any_trace", "low", "high"),
    [(30, 19, 19, "no", 0.01, 0.19), (60, 39, 39, "no", 0.02, 0.38), (30, 18, 30, "yes", 0.01, 0.3)],
)
def test_nineteen_nodes_with_the_same_trace_give_a_prediction(count, same, by, any_trace, low, high):
    found = predict(count, same)
    assert (found["predicted_by"], found["any_trace"]) == (by, any_trace)
    assert (found["error_low"], found["error_high"]) == pytest.approx((low, high))


def test_few_nodes_give_no_prediction():
    found = predict(18, 18)
    assert found["predicted_by"] == 0 and math.isnan(found["error_low"])


def test_expected_nodes_are_beta_binomial():
    # The binomial distribution would expect 15 of 20.
    assert topic.expected_within([19], [20]) == 13
    assert topic.expected_within([19, 19], [10, 10]) == 14
    assert topic.expected_within([], []) == 0


def test_histogram_is_scaled_by_quantiles():
    errors = [-0.5, *(0.0001 * i for i in range(1, 101))]
    counts, _, beyond = topic.histogram(pd.Series(errors))
    assert beyond == 1 and counts.sum() == 101


def test_a_fleet_without_samples_has_an_answer(tmp_path):
    (tmp_path / "fleet.csv").write_text(LIST + "a,a,x,failed,lost,,,,,\n" * 5)
    report = Report()
    report.read([str(tmp_path)])
    answer = topic.answer(report)
    assert answer.sentence == (
        "No node has a sample. These nodes failed: a (lost), a (lost), a (lost) and 2 more."
    )
    assert report.table("fleet").frame["error_mean"].isna().all()
    assert topic.rank_of_bound(BINS) == 12
