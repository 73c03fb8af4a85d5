# SPDX-License-Identifier: Apache-2.0
"""Methods at equal loads, traces and predictions. The corpus has whole reports."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import agree
import numpy as np
import pandas as pd
import pytest
from showstopper import trace
from showstopper.runs import Pool
from showstopper.studies import Report
from showstopper.text import UserError
from showstopper.topics import runs, throughput
from showstopper.topics.throughput import Pieces, compare, df_knots


def make_points(*rows: tuple[Any, ...]) -> pd.DataFrame:
    """Make points of method, target, load and throughput, perhaps with others and tau."""
    names = ["method", "target", "load", "throughput", "others", "tau_seconds"]
    usual = (math.nan, math.nan)
    frame = pd.DataFrame([(*row, *usual[len(row) - 4 :]) for row in rows], columns=names)
    place = {"workload": "w", "variant": "", "is_exceeded": False}
    return frame.assign(**place, is_disturbed=frame["others"] > 0.02)


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
            ("pi-even", 0.4, 0.4, 4.4),
            ("nbench", 0.6, 0.62, 7),
            ("1cdc", 0.3, 0.3, 1),
            ("nbench", 0.2, 0.2, 2),
            ("1cdc", 0.5, 0.5, 1),
            ("nbench", 0.6, 0.58, 5),
            ("pi-even", 0.7, 0.61, 9),
            ("pi-even", 0.2, 0.2, 1),
        )
    )
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


def test_a_baseline_has_one_mean_length_of_rounds() -> None:
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
        ("nbench", 0.2, 0.2, 2, 0.01),
        ("nbench", 0.4, 0.4, 4, 0.02),
        ("nbench", 0.6, 0.6, 6, 0.3),
        ("cdc", 0.25, 0.25, 5, 0.02),
        ("cdc", 0.3, 0.3, 6, 0.39),
        ("cdc", 0.35, 0.35, 7),
        ("cdc", 0.5, 0.5, 10, 0.02),
        ("cdc", 0.6, 0.3, 10, 0.01),
    )
    points.loc[7, "is_exceeded"] = True
    methods = compare(points)
    found = rows_of(methods, "cdc")
    assert found["deviation"].round(9).fillna(0).tolist() == [100, 0, 100, 0, 0]
    other = "not compared: other processes used a different share of the machine"
    short = "not compared: iterations take longer than the step"
    assert found["note"].tolist() == ["", other, "", other, short]


def test_the_answer_names_the_method_that_deviates_most(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame(
        {
            "workload": ["v", "w", "w"],
            "variant": "",
            "environment": ["lxc", "lxc", "vm"],
            "measured_in": "",
            "cpus": [4.0, 1.0, 4.0],
            "set": [1, 2, 2],
            "method": ["default", "cdc", "nbench"],
            "baseline": ["nbench", "nbench", "itself"],
            "deviation_mean_percent": [-20.0, -30.0, math.nan],
            "deviation_least_percent": [-30.0, -40.0, math.nan],
            "deviation_most_percent": [-10.0, -20.0, math.nan],
            "compared": [2, 2, 0],
        }
    )
    monkeypatch.setattr(throughput, "df_deviations", lambda report: frame)
    report: Any = SimpleNamespace(set_name=("new", "old").__getitem__)
    found = throughput.answer(report)
    assert found and found.answer == (
        "w, lxc, 1 CPU, old: cdc differs most: at the same load its throughput is 30.0 % lower than "
        "that of nbench (20.0 to 40.0 %; steps compared: 2)."
    )


def test_a_pool_without_points_has_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(np.empty(0), np.empty(0), True, 3)
    fitted = runs.Fitted("all runs", pool, pd.DataFrame())
    monkeypatch.setattr(runs, "pools", lambda report: [fitted])
    section: Any = next(runs.details(Report()))
    assert [type(part).__name__ for part in section.parts] == ["Rows"]


# Traces


def read(folder: Path, data: bytes) -> trace.Trace:
    (folder / "t").write_bytes(data)
    return trace.read(str(folder / "t"))


def fault(folder: Path, data: bytes) -> str:
    with pytest.raises(UserError) as error:
        read(folder, data)
    return str(error.value)


def test_a_trace_is_read(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf# trace\n0 20%\r\n+1m 1/4 # x\n\n 2s\tfree \n+1s 0.0000000001\n4s 1"
    time, load, free = read(tmp_path, text)
    assert time.tolist() == [0, 0.001, 2, 3, 4]
    assert load.tolist() == [0.2, 0.25, 0.25, 0, 1]
    assert free.tolist() == [False, False, True, False, False]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"# x\n", "t:2:1: the trace has no record: use lines of TIME LOAD, such as 20s 60%"),
        (b"0 1\n 5s", "t:2:4: missing load: use TIME LOAD, such as 20s 60%, or TIME free"),
        (b"5s 1\n1s 1", "t:2:1: '1s' is before the previous record: use a time of 5s or more, or "),
        (b"0 40", "t:1:3: '40' is not a load: it must be between 0 and 1; for percent write 40%, in"),
        (b"0 lots", "t:1:3: 'lots' is not a load: use a number from 0 to 1 (60%, 0.6 or 6/10) or"),
        (b"0 1 x", "t:1:5: unexpected 'x': use one record per line, TIME LOAD, and # before a"),
        (b"0 1\0", "t:1:4: the line contains a null byte: use text, TIME LOAD, such as 20s 60%"),
        (b"\xff\xfe0", "t:1:1: this is UTF-16, but a trace is plain text or UTF-8: convert it with"),
        (b"0 " + b"1" * 5000, "t:1:4097: the line has more than 4096 characters: use one record"),
        (b"0 1\n+213503d 1\n+1d 1", "t:3:1: the time '+1d' is too late: a trace lasts at most"),
    ],
)
def test_an_invalid_trace_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    assert fault(tmp_path, data).startswith(f"{tmp_path}/{message}")


def test_a_compiled_trace_is_read_and_damage_is_found(tmp_path: Path) -> None:
    good = agree.read_tree(agree.CORPUS / "replay-predicted-compiled/in.tree")["compiled"]
    assert read(tmp_path, good).time.tolist() == [0, 10, 10, 20]
    assert read(tmp_path, good).load.tolist() == [0.2, 0.2, 0.6, 0.6]
    swapped = good[:8] + good[8:12][::-1] + good[12:]
    damaged = {
        good[:10]: "truncated header",
        good[:-9]: "truncated",
        good[:-8] + bytes(8): "checksum mismatch",
        good[:47] + b"\xbf" + good[48:]: "checksum mismatch",  # the sign of a load
        good + b"x": "trailing data after the end",
        good[:12] + b"\2" + good[13:]: "is a compiled trace of version 2, and this program reads ",
        swapped: "was compiled on a machine with the other byte order: dump it there with sstrace ",
        b"\x93" * 104: "is not a compiled trace",
    }
    for data, why in damaged.items():
        assert why in fault(tmp_path, data)


def test_a_path_that_is_not_a_file_is_refused(tmp_path: Path) -> None:
    for path, why in (("none", "cannot be opened: No such file"), (".", "cannot be read: Is a ")):
        with pytest.raises(UserError, match=why):
            trace.read(str(tmp_path / path))


# Predictions


def pieces(folder: Path, text: str) -> Pieces:
    (folder / "trace").write_text(text)
    return Pieces.read(str(folder / "trace"))


def test_ramps_are_cut_into_pieces_of_nearly_constant_load(tmp_path: Path) -> None:
    found = pieces(tmp_path, "1s 20%\n2s 20%\n2s 60%\n4s 61%\n5s free\n8s 50%\n")
    assert found.from_.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.to.tolist() == [1, 2, 3, 4, 5, 8]
    assert found.load.tolist() == pytest.approx([0.2, 0.2, 0.6025, 0.6075, 0.61, 0.61])
    loads = found.loads_at(np.array([0, 1.5, 2, 3.5, 6, 9]))
    assert loads.tolist() == pytest.approx([0.2, 0.2, 0.6025, 0.6075, math.nan, math.nan], nan_ok=True)
    with pytest.raises(UserError, match="lasts 0 s"):
        pieces(tmp_path, "0 20%\n0 30%\n")


TRACE = "0 20%\n10s 20%\n10s 60%\n20s 60%\n30s 80%\n"


def make_replay(**values: Any) -> Any:
    """Make a replay of TRACE at double speed: 2, 6 and 8 iterations per second for 5 s each."""
    end = np.arange(1, 31) / 2
    target = np.select([end <= 5, end <= 10], [0.2, 0.6], 0.6 + 0.2 * (end - 10) / 5)
    start = np.concatenate([5 * i + np.arange(5 * rate) / rate for i, rate in enumerate((2, 6, 8))])
    iterations = pd.DataFrame({"start": start, "end": np.append(start[1:], 15)})
    samples = pd.DataFrame({"begin": end - 0.5, "end": end, "target": target})
    record = SimpleNamespace(iterations=iterations)
    return SimpleNamespace(**{"speed": 2.0, "role": "", "counted": samples, "record": record} | values)


def make_curve(loads: Any) -> throughput.Curve:
    """Make a curve with ten iterations per second at full load."""
    frame = pd.DataFrame({"load": loads, "target": loads, "throughput": 10 * np.array(loads)})
    run: Any = SimpleNamespace(steps=frame.assign(is_exceeded=False))
    return throughput.Curve.of([run])


def test_a_replay_follows_most_of_the_trace(tmp_path: Path) -> None:
    found = pieces(tmp_path, TRACE)
    run = make_replay()
    assert found.is_replay(run)
    assert not found.is_replay(make_replay(role="foreground"))
    assert not found.is_replay(make_replay(speed=1.0))
    assert not found.is_replay(make_replay(counted=run.counted[:10]))
    other = run.counted.assign(target=run.counted["target"].where(run.counted["end"] <= 10, 0.3))
    assert not found.is_replay(make_replay(counted=other))


def test_the_prediction_is_the_mean_of_the_curve_over_the_trace(tmp_path: Path) -> None:
    """10 s at 2, 10 s at 6 and 10 s from 6 to 8 make a mean of 5 per second. The replay did 10, 30
    and 40 in 15 s."""
    found = make_curve(np.arange(1, 10) / 10).predict(pieces(tmp_path, TRACE), 0, 30, make_replay(), 0.95)
    assert found["inside"] == pytest.approx(1)
    assert found["predicted_iterations_per_second"] == pytest.approx(5)
    assert found["measured_iterations_per_second"] == pytest.approx(80 / 15)
    assert found["difference_percent"] == pytest.approx(100 * (5 / (80 / 15) - 1))
    assert found["note"] == ""


def test_unknown_loads_are_left_out_of_the_prediction(tmp_path: Path) -> None:
    """Loads above 70 % are unknown, which excludes 5 of the last 10 s: (10 * 2 + 10 * 6 + 5 * 6.5)
    / 25. The replay counts over the same time: 10 + 30 + 20 iterations in 12.5 s."""
    curve = make_curve(np.arange(2, 8) / 10)
    found = curve.predict(pieces(tmp_path, TRACE), 0, 30, make_replay(), 0.95)
    assert found["inside"] == pytest.approx(25 / 30)
    assert found["predicted_iterations_per_second"] == pytest.approx(4.5)
    assert found["measured_iterations_per_second"] == pytest.approx(4.8)
    assert found["note"] == "16.7 % of the trace is not predicted"
    # Between the measured load of the outermost step and its target, its throughput is used.
    run: Any = SimpleNamespace(steps=make_curve(np.arange(2, 8) / 10).points)
    run.steps.loc[0, ["load", "throughput"]] = [0.21, 2.1]
    found = throughput.Curve.of([run]).predict(pieces(tmp_path, TRACE), 0, 30, None, 0.95)
    assert found["predicted_iterations_per_second"] == pytest.approx(4.5 + 10 * 0.1 / 25)
    assert math.isnan(found["measured_iterations_per_second"])


def test_free_time_is_not_predicted(tmp_path: Path) -> None:
    found = pieces(tmp_path, "0 20%\n10s 20%\n10s free\n20s 60%\n40s 60%\n")
    predicted = make_curve(np.arange(1, 10) / 10).predict(found, 0, 40, None, 0.95)
    assert (predicted["free"], predicted["inside"]) == pytest.approx((0.25, 0.75))
    assert predicted["predicted_iterations_per_second"] == pytest.approx((2 * 10 + 6 * 20) / 30)
    assert make_curve([0.2, 0.3, 0.4, 0.5]).fit is None
