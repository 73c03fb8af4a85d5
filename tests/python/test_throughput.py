# SPDX-License-Identifier: Apache-2.0
"""Methods at equal loads, and predictions of the throughput over a trace."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from showstopper import stats
from showstopper.report.topics import throughput as topic
from showstopper.report.topics.throughput import compare, df_knots, pieces
from showstopper.text import UserError


def make_points(*rows: tuple[Any, ...]) -> pd.DataFrame:
    """Make points of method, target, load and throughput, perhaps with others and tau."""
    names = ["method", "target", "load", "throughput", "others", "tau_seconds"]
    usual = (math.nan, math.nan)
    frame = pd.DataFrame([(*row, *usual[len(row) - 4 :]) for row in rows], columns=names)
    return frame.assign(workload="w", variant="", is_exceeded=False)


def rows_of(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    return rows[rows["method"] == method].reset_index(drop=True)


def baseline_of(rows: pd.DataFrame) -> str:
    (name,) = set(rows["baseline"])
    return str(name)


def test_deviations_refer_to_the_wider_baseline() -> None:
    """n-bench covers 20 and 60 %, the latter twice; 1-CDC covers only 30 to 50 %. At 40 % the
    baseline is half way from 2 to (5 + 7) / 2."""
    methods = compare(
        make_points(
            ("pi-even", 0.4, 0.4, 4.4), ("nbench", 0.6, 0.62, 7), ("1cdc", 0.3, 0.3, 1),
            ("nbench", 0.2, 0.2, 2), ("1cdc", 0.5, 0.5, 1), ("nbench", 0.6, 0.58, 5),
            ("pi-even", 0.7, 0.61, 9), ("pi-even", 0.2, 0.2, 1),
        )
    )  # fmt: skip
    assert (baseline_of(methods), len(df_knots(methods))) == ("nbench", 2)
    found = rows_of(methods, "pi-even")
    assert found["expected"].tolist() == pytest.approx([2, 4, math.nan], nan_ok=True)
    assert found["deviation"].tolist() == pytest.approx([-50, 10, math.nan], nan_ok=True)
    assert found["note"].tolist() == ["", "", "outside the loads of the baseline"]
    itself = rows_of(methods, "nbench")
    assert itself["deviation"].isna().all() and set(itself["note"]) == {"the baseline itself"}
    assert rows_of(methods, "1cdc")["deviation"].tolist() == pytest.approx([-100 * 2 / 3, -80])


def test_deviations_from_a_throughput_of_zero_are_unknown() -> None:
    idle = [("nbench", load, load, 0) for load in (0.2, 0.6)]
    found = rows_of(compare(make_points(*idle, ("cdc", 0.4, 0.4, 5))), "cdc")
    assert found["expected"].tolist() == [0] and found["deviation"].isna().all()


def test_baseline_has_one_mean_length_of_rounds() -> None:
    nbench = [("nbench", load, load, 10 * load) for load in (0.2, 0.6)]
    one = [("1cdc", load, load, 20 * load, math.nan, 0.107) for load in (0.1, 0.9)]
    other = ("1cdc", 0.5, 0.5, 1, math.nan, 0.053)
    methods = compare(make_points(*nbench, *one, other, ("cdc", 0.5, 0.5, 5)))
    assert baseline_of(methods) == "1cdc, 107 ms"
    assert rows_of(methods, "cdc")["deviation"].tolist() == pytest.approx([-50])
    equal = compare(make_points(*nbench, *(("nbench-fit", *row[1:]) for row in nbench)))
    assert baseline_of(equal) == "nbench"
    none = compare(make_points(("cdc", 0.5, 0.5, 5), ("nbench", 0.5, 0.5, 5)))
    assert baseline_of(none) == "" and set(none["note"]) == {"no baseline"}


def test_unequally_disturbed_and_short_steps_are_not_compared() -> None:
    points = make_points(
        ("nbench", 0.2, 0.2, 2, 0.01), ("nbench", 0.4, 0.4, 4, 0.02), ("nbench", 0.6, 0.6, 6, 0.3),
        ("cdc", 0.25, 0.25, 5, 0.02), ("cdc", 0.3, 0.3, 6, 0.39), ("cdc", 0.35, 0.35, 7),
        ("cdc", 0.5, 0.5, 10, 0.02), ("cdc", 0.6, 0.3, 10, 0.01),
    )  # fmt: skip
    points.loc[7, "is_exceeded"] = True
    found = rows_of(compare(points), "cdc")
    assert found["deviation"].round(9).fillna(0).tolist() == [100, 0, 100, 0, 0]
    short = "not compared: iterations take longer than the step"
    assert found["note"].tolist() == ["", topic.ELSE, "", topic.ELSE, short]


# Predictions

TRACE = "0 20%\n10s 20%\n10s 60%\n20s 60%\n30s 80%\n"


def cut(folder: Path, text: str) -> pd.DataFrame:
    (folder / "trace").write_text(text)
    return pieces(str(folder / "trace"))


def test_ramps_are_cut_into_pieces_of_nearly_constant_load(tmp_path: Path) -> None:
    found = cut(tmp_path, "1s 20%\n2s 20%\n2s 60%\n4s 61%\n5s free\n8s 50%\n")
    assert found["begin"].tolist() == [0, 1, 2, 3, 4, 5]
    assert found["end"].tolist() == [1, 2, 3, 4, 5, 8]
    loads = [0.2, 0.2, 0.6025, 0.6075, 0.61, math.nan]
    assert found["load"].tolist() == pytest.approx(loads, nan_ok=True)
    with pytest.raises(UserError, match="lasts 0 s"):
        cut(tmp_path, "0 20%\n0 30%\n")


def make_replay(speed: float = 2, role: str = "", count: int = 30) -> Any:
    """Make a replay of TRACE at double speed: 2, 6 and 8 iterations per second for 5 s each."""
    end = np.arange(1, 31) / 2
    target = np.select([end <= 5, end <= 10], [0.2, 0.6], 0.6 + 0.2 * (end - 10) / 5)
    start = np.concatenate([5 * i + np.arange(5 * rate) / rate for i, rate in enumerate((2, 6, 8))])
    iterations = pd.DataFrame({"start": start, "end": np.append(start[1:], 15)})
    counted = pd.DataFrame({"begin": end - 0.5, "end": end, "target": target})[:count]
    return SimpleNamespace(
        iterations=iterations, counted=counted, role=role, speed=float(speed)
    )


def predict(of: pd.DataFrame, loads: Any, replay: Any = None) -> dict[str, Any]:
    """Predict with a curve through steps of ten iterations per second at full load."""
    points = pd.DataFrame({"load": loads, "target": loads})
    curve = stats.fit_curve(points["load"], 10 * points["load"])
    assert curve
    study: Any = SimpleNamespace(settings=SimpleNamespace(confidence=0.95))
    return topic.integrate(study, curve, points, of, (0, of["end"].iloc[-1]), replay)


def test_replay_follows_most_of_the_trace(tmp_path: Path) -> None:
    of = cut(tmp_path, TRACE)
    assert topic.is_replay(make_replay(), of)
    assert not topic.is_replay(make_replay(role="foreground"), of)
    assert not topic.is_replay(make_replay(speed=1), of)
    assert not topic.is_replay(make_replay(count=10), of)
    other = make_replay()
    other.counted["target"] = other.counted["target"].where(other.counted["end"] <= 10, 0.3)
    assert not topic.is_replay(other, of)


def test_unknown_loads_are_left_out_of_the_prediction(tmp_path: Path) -> None:
    """Loads above 70 % are unknown, which excludes 5 of the last 10 s: (10 * 2 + 10 * 6 + 5 * 6.5)
    / 25. The replay counts over the same time: 10 + 30 + 20 iterations in 12.5 s."""
    found = predict(cut(tmp_path, TRACE), np.arange(2, 8) / 10, make_replay())
    assert found["inside"] == pytest.approx(25 / 30)
    assert found["predicted_iterations_per_second"] == pytest.approx(4.5)
    assert found["measured_iterations_per_second"] == pytest.approx(4.8)
    assert found["note"] == "16.7 % of the trace is not predicted"


def test_free_time_is_not_predicted(tmp_path: Path) -> None:
    of = cut(tmp_path, "0 20%\n10s 20%\n10s free\n20s 60%\n40s 60%\n")
    found = predict(of, np.arange(1, 10) / 10)
    assert (found["free"], found["inside"]) == pytest.approx((0.25, 0.75))
    assert found["predicted_iterations_per_second"] == pytest.approx((2 * 10 + 6 * 20) / 30)
    assert math.isnan(found["measured_iterations_per_second"])
