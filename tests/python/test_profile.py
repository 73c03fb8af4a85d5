# SPDX-License-Identifier: Apache-2.0
"""compare, predict, verify and sweep of ssprofile. figures.csv has results of R, see make.R."""

from __future__ import annotations

import csv
import json
import math
import signal
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from showstopper import cli
from showstopper.profile import measure, plots, ratios, results
from showstopper.report import figures
from showstopper.text import UserError

DATA = Path(__file__).parents[1] / "data/profile"
BOTH = [f"{DATA}/results.csv:{name}" for name in ("base", "target", "target:quota-3900")]
HEADING = "machine,limits,benchmark,lower_is_better,class,repetition,result\n"


def call(*words: object, status: int = 0) -> None:
    assert cli.main(["ssprofile", *map(str, words)]) == status


def read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / name, keep_default_na=False, float_precision="round_trip")


def write(path: Path, *rows: str) -> Path:
    path.write_text(HEADING + "".join(f"{row}\n" for row in rows))
    return path


def results_of(machine: str, limits: str, *values: float) -> list[str]:
    """Return rows of benchmarks a, b, c ..., each measured three times."""
    return [
        f"{machine},{limits},{name},false,cpu,{repetition},{value}"
        for name, value in zip("abcdefgh", values) for repetition in (1, 2, 3)
    ]


# R


def of_r() -> dict[str, dict[str, float]]:
    with open(DATA / "figures.csv", encoding="utf-8") as stream:
        found: dict[str, dict[str, float]] = {}
        for row in csv.DictReader(stream):
            found.setdefault(row["limits"], {})[row["name"]] = float(row["value"])
    return found


def near(value: float) -> object:
    return pytest.approx(value, rel=5e-11)


def compared(base: results.Profile, target: results.Profile) -> ratios.Ratios:
    return ratios.compare(base, target, ratios.Matching(), results.Warnings())


@pytest.fixture(scope="module")
def profiles() -> dict[str, results.Profile]:
    return {one.name: one for one in results.read(f"{DATA}/results.csv").profiles}


@pytest.mark.parametrize("limits", ["without", "quota-3900"])
def test_figures_agree_with_r(limits: str, profiles: dict[str, results.Profile]) -> None:
    expected = of_r()[limits]
    found = compared(profiles["base:without"], profiles[f"target:{limits}"])
    for row in found.table.itertuples():
        assert row.ratio == near(expected[row.benchmark])
    for name in ("least", "most", "length", "median", "mean", "most_to_least"):
        assert getattr(found.figures, name) == near(expected[name])
    assert found.figures.geometric_mean == near(expected["geometric"])
    assert found.figures.variation_percent == near(100 * expected["variation"])
    assert found.table["log_ratio"].mean() == near(expected["log_mean"])
    assert found.table["log_ratio"][3] == near(expected["log_of_04"])
    assert found.table["target_spread"][0] == near(expected["spread"])
    assert found.table["base_spread"][24] == near(expected["base_spread"])
    counts = {f"bin_{n}": count for n, count in plots.bins(found.table["ratio"], 0.1).items()}
    assert counts == {name: count for name, count in expected.items() if name.startswith("bin_")}
    for out in (0, 1, 2, 5):
        bounds = ratios.interval(found.table["ratio"], ratios.coverage(25, out))
        assert bounds.low == near(expected[f"low_{out}"])
        assert bounds.high == near(expected[f"high_{out}"])


def test_halves_and_reductions_agree_with_r(profiles: dict[str, results.Profile]) -> None:
    expected = of_r()
    found = compared(*results.halves(profiles["base:without"]))
    for row in found.table.itertuples():
        assert row.ratio == near(expected["halves"][row.benchmark])
    both = (
        compared(profiles["base:without"], profiles[f"target:{limits}"]).figures
        for limits in ("without", "quota-3900")
    )
    reduction = ratios.reduction_of(*both)
    for name in ("reduction", "factor", "relative"):
        assert reduction[name] == near(expected["both"][name])
    assert reduction["factor_share_percent"] == near(100 * expected["both"]["share"])
    assert ratios.coverage(25, 2) == near(expected["both"]["coverage_2"])


# compare


def test_compare_writes_tables_json_and_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call("compare", "-o", tmp_path, *BOTH)
    ranges = read(tmp_path, "ranges.csv").set_index("target")
    assert ranges["most"]["target:quota-3900"] == near(1.8440857888)
    assert len(read(tmp_path, "ratios.csv")) == 50
    document = json.loads((tmp_path / "compare.json").read_text())
    assert document["base"] == "base:without" and document["left_out"] == []
    assert document["reductions"][0]["factor"] == pytest.approx(2.57449267647)
    page = (tmp_path / "compare.html").read_text()
    assert page.count("<svg ") == 2 and "Ratios: 50 rows" in page
    assert not (tmp_path / "left_out.csv").exists()
    out = capsys.readouterr().out
    assert "1.65 to 4.79 times as fast as base:without" in out and "Why ranges are shorter" in out


def test_unstable_benchmarks_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = results_of("m", "without", 2, 3), results_of("t", "without", 4, 9)
    file = write(tmp_path / "x.csv", *rows[0], *rows[1], "m,without,a,false,cpu,4,2.5")
    call("compare", "-o", tmp_path, "--spread", "5%", f"{file}:m", f"{file}:t")
    left_out = read(tmp_path, "left_out.csv")
    assert left_out[["benchmark", "why"]].values.tolist() == [["a", "unstable"]]
    assert read(tmp_path, "ratios.csv")["ratio"].tolist() == [3]
    assert "a of class cpu: left out: unstable on m:without" in capsys.readouterr().err
    call("compare", "--spread", "0%", f"{file}:m", f"{file}:t", "--benchmarks=a", status=125)


def test_direction_decides_the_ratio(tmp_path: Path) -> None:
    file = write(
        tmp_path / "x.csv", "m,without,time,true,c,1,4", "t,without,time,true,c,1,2",
        "m,without,odd,true,c,1,4", "t,without,odd,false,c,1,2", "m,without,rate,false,c,1,4",
        "t,without,rate,false,c,1,2",
    )  # fmt: skip
    call("compare", "-q", "-o", tmp_path, f"{file}:m", f"{file}:t")
    assert dict(read(tmp_path, "ratios.csv")[["benchmark", "ratio"]].values) == {
        "time": 2, "rate": 0.5
    }
    assert read(tmp_path, "left_out.csv")["why"].tolist() == ["contradictory"]


def test_throttles_of_a_folder_are_compared_with_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, factor in (("base", 1), ("target", 2)):
        (tmp_path / name).mkdir()
        rows = results_of(name, "without", *[factor * value for value in (2, 3, 5)])
        if name == "target":
            rows += results_of(name, "duty-5000", 2, 3, 5.4)
        write(tmp_path / name / "results.csv", *rows)
    call("compare", "--all", "--within", "5%", tmp_path / "base", tmp_path / "target")
    out = " ".join(capsys.readouterr().out.split())
    assert "2 of 3 ratios of target:duty-5000 lie in [0.95, 1.05]; outside: c 1.0800" in out
    assert "duty-5000: run for 50% of the time" in out
    (tmp_path / "target/version.txt").write_text("ssburn 2\n")
    (tmp_path / "base/version.txt").write_text("ssburn 1\n")
    call("compare", "--all", tmp_path / "base", tmp_path / "target", status=125)
    assert "these are different benchmarks" in capsys.readouterr().err
    call("compare", "-q", "--all", "--force", tmp_path / "base", tmp_path / "target")


def test_halves_of_few_repetitions_are_doubted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "x.csv", *results_of("m", "without", 2, 3))
    call("compare", "--halves", tmp_path / "x.csv")
    out, err = capsys.readouterr()
    assert "Only chance distinguishes" in out and "a half has only 1 repetition of" in err
    for words in (["--halves"], ["--halves", "a", "b"], ["--halves", "--all", "a"], ["a"]):
        call("compare", *words, status=125)


# Tables of results


def read_table(path: Path) -> tuple[pd.DataFrame, list[str]]:
    found = results.read(str(path))
    lines = [line.removeprefix(f"{path}:") for line in found.warnings.lines(9)]
    return pd.concat([one.rows for one in found.profiles]), lines


def test_damaged_rows_are_named(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.csv", "m,without,a,false,cpu,1,5", "m,without,a", "m,without,a,no,cpu,2,5",
        "m,without,a,false,,3,5", "m,without,a,false,cpu,4,-1", "m,without,a,false,cpu,5,\u0663",
        "m,without,a\x1b,false,cpu,6,5", "m,without,a,FALSE,cpu,rep-07,6",
    )  # fmt: skip
    rows, lines = read_table(path)
    assert rows["line"].tolist() == [2, 9] and rows["repetition"].tolist() == ["1", "7"]
    faults = {int(line.split(":")[0]): line for line in lines}
    assert [*sorted(faults)] == [3, 4, 5, 6, 7, 8]
    assert "an empty cell" in faults[5] and "control character" in faults[8]
    assert "\x1b" not in faults[8]


def test_repeated_and_contradictory_rows_are_left_out(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.csv", "m,without,a,false,cpu,1,5", "m,without,a,false,cpu,01,5",
        "m,without,a,false,cpu,1.0,6", "m,without,a,false,memory,1,700",
        "m,without,b,false,cpu,1,1", "m,without,b,true,cpu,2,11",
    )  # fmt: skip
    rows, lines = read_table(path)
    assert rows["line"].tolist() == [2, 5, 6, 7]
    assert rows.set_index("line")["contradictory"].tolist() == [False, False, True, True]
    assert sorted(line.split(":")[0] for line in lines) == ["3", "4", "7", "7"]
    assert any("11 here, but 1 in line 6, a factor of more than 10" in line for line in lines)


def test_joined_tables_have_their_own_headings(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "m,without,a,false,cpu,1,5")
    more = "\ufeffclass,result,machine,more,limits,repetition,benchmark,lower_is_better\n"
    path.write_text(path.read_text() + more + 'cpu,7,m,"x, y",without,2,a,false')
    rows, lines = read_table(path)
    assert rows[["result", "line"]].values.tolist() == [[5, 2], [7, 4]]
    assert len(lines) == 1 and "no newline" in lines[0]
    (tmp_path / "profile.json").write_text("{}")  # measure is writing the last row
    assert read_table(path)[0]["result"].tolist() == [5]


@pytest.mark.parametrize(
    ("name", "expected"), [("", "t:quota-100"), ("t", "t:without"), ("t:x:y", "t:x:y")]
)
def test_machines_are_chosen_by_name(name: str, expected: str, tmp_path: Path) -> None:
    limits = ["quota-100"] if not name else ["quota-100", "without", "x:y"]
    path = write(tmp_path / "x.csv", *(f"t,{one},a,false,cpu,1,5" for one in limits))
    choice = results.Choice.of(f"{path}:{name}" if name else str(path))
    assert results.read(choice.path).find(choice.names).name == expected
    with pytest.raises(UserError, match="has no machine other: its machines are t:quota-100"):
        results.read(choice.path).find("other")


def test_warnings_of_a_kind_are_counted() -> None:
    warnings = results.Warnings()
    for row in range(23):
        warnings.add("row", f"row {row}")
    warnings.add("other", "other\n7")
    assert [*warnings.lines(20)][-3:] == ["row 19", "... and 3 more like it", "other?7"]


# predict, verify, sweep


@pytest.fixture
def comparison(tmp_path: Path) -> Path:
    folder = tmp_path / "comparison"
    call("compare", "-q", "-o", folder, *BOTH)
    return folder


def test_predicted_interval_counts_applications(
    comparison: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    applications = tmp_path / "applications.csv"
    rows = ["app,x,1.2", "far,x,9", "kernel-01,cpu,2", "none,x,?"]
    text = "".join(f"target:quota-3900,{row}\n" for row in rows)
    applications.write_text("target,benchmark,class,ratio\n" + text)
    words = ["--target", "target:quota-3900", "--coverage", "80%", "-o", tmp_path]
    call("predict", *words, comparison, applications)
    verified = read(tmp_path, "verification.csv")
    assert verified[["application", "inside"]].values.tolist() == [["app", "yes"], ["far", "no"]]
    intervals = read(tmp_path, "intervals.csv")
    assert intervals["left_out"].tolist() == [0, 1, 5]
    assert intervals["coverage_percent"][1] == pytest.approx(100 * 22 / 26)
    out, err = capsys.readouterr()
    assert "1 of 2 applications lie within" in out and "leave out 1 benchmark of" in out
    assert "left out line without a positive ratio: 5" in err
    call("predict", comparison, status=125)
    call("predict", "--list", comparison)
    assert capsys.readouterr().out == "target:without\ntarget:quota-3900\n"


def measured_by(monkeypatch: pytest.MonkeyPatch, module: str, *files: Path) -> list[list[str]]:
    """Make `measure` add files to folders, and return its future calls."""
    calls: list[list[str]] = []

    def run(words: Sequence[str]) -> int:
        calls.append([*words])
        folder = Path(words[-1])
        folder.mkdir(exist_ok=True)
        (folder / "results.csv").write_text(files[min(len(calls), len(files)) - 1].read_text())
        return 0

    monkeypatch.setattr(f"showstopper.profile.{module}.measure", run)
    return calls


def test_verify_measures_under_both_throttles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write(tmp_path / "base.csv", *results_of("b", "duty-3000", 2, 3))
    target = write(tmp_path / "target.csv", *results_of("t", "duty-4000.4", 3, 30))
    profile = "target,benchmark,class,ratio\n" + "".join(
        f"t:duty-4000.4,k{n},cpu,{1 + n / 10}\n" for n in range(9)
    )
    document = {"schema": 1, "base": "b:duty-3000", "ranges": [{"target": "t:duty-4000.4"}]}
    (tmp_path / "comparison").mkdir()
    (tmp_path / "comparison/ratios.csv").write_text(profile)
    (tmp_path / "comparison/compare.json").write_text(json.dumps(document))
    calls = measured_by(monkeypatch, "verify", base, target)
    keys = {("a", "cpu"): False, ("b", "cpu"): False, ("gone", "cpu"): False}
    monkeypatch.setattr("showstopper.profile.verify.read_battery", lambda _: keys)
    words = ["--base-here", "--repetitions", 3, "--idle-states", "--battery", "apps"]
    call("verify", *words, tmp_path / "comparison", tmp_path / "out")
    under = [one[one.index("--under") + 1] for one in calls]
    assert under == ["duty=30%", "duty=40.004%"]
    assert calls[0][:4] == ["--battery", "apps", "--machine", "b"]
    assert calls[0][-4:-1] == ["--repetitions", "3", "--idle-states"]
    out = " ".join(capsys.readouterr().out.split())
    assert "1 of 3 applications could not be run here: gone." in out
    assert "1 of 2 applications lie within [1.0000, 1.8000]" in out
    assert read(tmp_path / "out", "verification.csv")["inside"].tolist() == ["yes", "no"]
    call("verify", tmp_path / "comparison", tmp_path / "out", status=125)


def test_sweep_shows_speeds_at_each_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = results_of("m", "without", 2, 4, 8)
    rows += results_of("m", "duty-5000", 1, 2.2, 4) + results_of("m", "duty-2000", 0.4, 0.8, 2)
    calls = measured_by(monkeypatch, "sweep", write(tmp_path / "x.csv", *rows))
    call("sweep", "--settings", "50%,20%", "--quiet", tmp_path / "out")
    assert "without,duty=50%,duty=20%" in calls[0] and "--quiet" in calls[0]
    table = read(tmp_path / "out", "sweep.csv")
    assert table["limits"].tolist() == ["duty-2000", "duty-5000"]
    assert table[["setting", "least", "median", "most", "median_to_setting"]].values.tolist() == [
        pytest.approx([0.2, 0.2, 0.2, 0.25, 1]), pytest.approx([0.5, 0.5, 0.5, 0.55, 1])
    ]
    assert table["upper_quartile"].tolist() == pytest.approx([0.225, 0.525])
    assert "Benchmarks differ most under duty-2000" in capsys.readouterr().out
    assert "<svg " in (tmp_path / "out/sweep.html").read_text()


# Details


def test_interval_is_the_narrowest_that_covers() -> None:
    values = pd.Series(range(25))
    parts = {0.9: 0, 0.8: 1, 0.99: 0, 0: 12}
    assert {part: ratios.interval(values, part).left_out for part in parts} == parts
    assert math.isnan(ratios.Figures.of(values[:1] + 1.0).variation_percent)


def test_bins_fit_the_ratios() -> None:
    def series(*values: float) -> list[plots.Series]:
        table = pd.DataFrame({"benchmark": "b", "class": "c", "ratio": values})
        return [plots.Series("s", table, min(values), max(values))]

    widths = {(0.987, 1.006): 0.001, (2.0, 1e9): 1e7, (1.65, 7.1): 0.1}
    for values, width in widths.items():
        assert plots.bin_of(series(*values)) == pytest.approx(width)
    assert plots.bin_of(series(1, 1)) > 0
    # A bin has its upper bound, and sums of tenths are not exact.
    values = pd.Series([2.3, 2.3000001, 2.4, 0.7, 1e-9, 0.1 + 0.2])
    assert [*plots.bins(values, 0.1).index] == [1, 3, 7, 23, 24]


def test_pictures_name_benchmarks_and_ranges() -> None:
    table = pd.DataFrame({"benchmark": [*"aab"], "class": [*"cdc"], "ratio": [3, 0.5, 2]})
    two = [plots.Series(name, table, 0.5, 3, 50.0) for name in ("without", "quota-4000")]
    svg = figures.svg(plots.plot_dots(two))
    places = [svg.index(f">{name}<") for name in ("a (c)", "b", "a (d)")]
    assert places == sorted(places)
    assert "quota-4000: 0.50 to 3.00 (coverage 50.0%)" in svg and "(logarithmic)" in svg
    assert "<title>a: 0.5000</title>" in svg
    assert "range 0.50 to 3.00, median 2.00" in figures.svg(plots.plot_histograms(two))


def test_throttles_lead_back_to_their_settings() -> None:
    words = {
        "without": "without", "duty-4000": "duty=40%", "duty-4000.4": "duty=40.004%",
        "quota-6667": "quota=66.67%", "load-100": "load=1%", "frequency-1400": "frequency=1400MHz",
    }  # fmt: skip
    assert {limits: results.Throttle.of(limits).word() for limits in words} == words
    others = ("", "container", "duty", "duty-", "duty-4000x", "speed-1", "duty-4.0.0")
    assert not any(results.Throttle.of(limits).kind for limits in others)


def test_battery_is_read_from_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ssprofile"
    listed = "benchmark,class,lower_is_better\\n\"a,b\",c,true\\nd,e,false\\n"
    program.write_text(f"#!/bin/sh\nprintf '{listed}'\necho \"ssprofile: $*\" >&2\nexit $STATUS\n")
    program.chmod(0o755)
    monkeypatch.setenv("SHOWSTOPPER_PROGRAM", str(program))
    monkeypatch.setenv("STATUS", "0")
    assert measure.read_battery("x") == {("a,b", "c"): True, ("d", "e"): False}
    monkeypatch.setenv("STATUS", "7")
    with pytest.raises(UserError, match="^measure --list --battery x$") as error:
        measure.read_battery("x")
    assert error.value.status == 7


def test_measure_has_the_status_of_a_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ssprofile"
    program.write_text('#!/bin/sh\n[ "$*" != measure ] || kill -KILL $$\nexit "$3"\n')
    program.chmod(0o755)
    monkeypatch.setenv("SHOWSTOPPER_PROGRAM", str(program))
    assert measure.measure(["--quiet", "7"]) == 7
    assert measure.measure([]) == 128 + signal.SIGKILL
    monkeypatch.setenv("SHOWSTOPPER_PROGRAM", str(tmp_path / "absent"))
    with pytest.raises(UserError, match="absent: No such file or directory"):
        measure.measure([])
