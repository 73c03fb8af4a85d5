# SPDX-License-Identifier: Apache-2.0
"""Fleets as a whole. The corpus has what is read of nodes, and sums over bins of time."""

import pandas as pd

from showstopper.studies import Report
from showstopper.topics import fleet as topic

LIST = "node,record,trace,status,reason,start,offset_seconds,offset_error_seconds,clock,"
LIST += "clock_error_seconds\n"


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
