# SPDX-License-Identifier: Apache-2.0
"""Predictions of fleets. The corpus has what is read of nodes, and sums over bins of time."""

import math

import numpy as np
import pandas as pd
import pytest

from showstopper.fleets import BINS, Fleet
from showstopper.studies import Report
from showstopper.topics import fleet as topic

LIST = "node,record,trace,status,reason,start,offset_seconds,offset_error_seconds,clock,"
LIST += "clock_error_seconds\n"


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
