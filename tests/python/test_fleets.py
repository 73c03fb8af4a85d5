# SPDX-License-Identifier: Apache-2.0
"""Fleets: what is read of nodes, and sums over bins of time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import Record as Maker
from conftest import samples
from showstopper import Study
from showstopper.report.topics import fleet as topic

BEGIN = 1767225600  # 2026-01-01T00:00:00Z
HEADING = "node,record,trace,status,reason,start,offset_seconds,offset_error_seconds\n"


def fleet(folder: Path, *nodes: str) -> Study:
    (folder / "fleet.csv").write_text(HEADING + "".join(f"{node}\n" for node in nodes))
    return Study(folder)


def test_bins_widen_in_a_long_replay_and_keep_their_sums(
    make_record: Maker, tmp_path: Path
) -> None:
    rows = [f"2026-01-01T00:00:00Z,{at},0.5,{at / 1000},0.5,1" for at in range(1, 501)]
    text = "\n".join([samples([]).strip(), *rows, ""])
    make_record("fleet/a", samples_csv=text)
    [found] = fleet(tmp_path / "fleet", "a,a,x,done,,,,").fleets
    assert (found.width, found.used) == (4, 125)
    assert found.bins.sum(axis=0) == pytest.approx([1000, 250.5, 500])
    assert found.bins[0] == pytest.approx([8, 0.02, 4])


def test_sample_begins_at_the_end_of_a_pause(make_record: Maker, tmp_path: Path) -> None:
    events = '{"event": "paused", "elapsed_seconds": 1}\n'
    events += '{"event": "continued", "elapsed_seconds": 3.75}\n'
    text = samples([0.5, 0.5]) + samples([0.5], begin=3.5).partition("\n")[2]
    make_record("fleet/a", samples_csv=text, events_jsonl=events)
    [found] = fleet(tmp_path / "fleet", "a,a,x,done,,,,").fleets
    assert found.nodes["covered_seconds"].tolist() == [1.25]


def test_damaged_nodes_are_noted_and_have_reasons(make_record: Maker, tmp_path: Path) -> None:
    for name in "abcd":
        make_record(f"fleet/{name}", samples_csv=samples([0.5] * 4) + "cut\n")
    make_record("fleet/e", plan_json="{}")
    rows = (f"{name},{name},x,done,,,,0.1" for name in "abcde")
    study = fleet(tmp_path / "fleet", *rows, "f,f,x,failed,lost,,-0.2,0.001", ",g,x,done,,,,")
    [found] = study.fleets
    assert found.nodes["failed"].tolist() == [False] * 4 + [True, True]
    assert found.nodes["reason"].tolist()[4:] == [
        "its record does not say how many CPUs the node has", "lost",
    ]
    assert found.nodes["clock_trusted"].tolist() == [True] * 5 + [False]
    assert found.notes[0].startswith("fleet.csv:8: damaged row")
    assert found.notes[-1] == "1 more node has invalid or incomplete lines of samples"
    assert study.notes == [f"{tmp_path}/fleet: {note}" for note in found.notes]
    assert "f (0.200 s behind, known within 0.001 s)" in topic.answer(study)


def test_fleet_without_samples_has_an_answer(tmp_path: Path) -> None:
    study = fleet(tmp_path, *["a,a,x,failed,lost,,,"] * 5)
    assert topic.answer(study) == (
        "No node has a sample. These nodes failed: a (lost), a (lost), a (lost) and 2 more."
    )
    assert study.once(topic.df_fleet)["error_mean"].isna().all()
    assert not study.has_results and not [*topic.figures(study)]


def test_histogram_is_scaled_by_quantiles() -> None:
    errors = pd.Series([-0.5, *(0.0001 * i for i in range(1, 101))])
    edges = topic.error_edges(errors)
    assert -0.01 < edges[0] and 0.01 < edges[-1] < 0.02
    assert np.histogram(errors.clip(edges[0], edges[-1]), edges)[0].sum() == 101
    assert len([*topic.figures(Study())]) == 0
