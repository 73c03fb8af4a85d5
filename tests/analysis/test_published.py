# SPDX-License-Identifier: Apache-2.0
"""Published figures, and replays at several speeds. The corpus has whole reports."""

from __future__ import annotations

import csv
import math
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from scipy import stats
from showstopper import published
from showstopper.studies import Report
from showstopper.text import Notes
from showstopper.topics import published as topic

FOLDER = Path(__file__).parents[2] / "tools/experiments/published"


@pytest.fixture(name="figures")
def _figures() -> published.Published:
    notes = Notes()
    figures = published.read(published.folder(), "ssreport", notes)
    assert not notes
    return figures


def test_the_folder_is_next_to_the_package() -> None:
    assert Path(published.folder()).resolve() == FOLDER.resolve()


def test_every_published_number_is_found_by_its_keys(figures: published.Published) -> None:
    for table in figures.references.itertuples():
        with open(FOLDER / f"{table.name}.csv", encoding="utf-8") as stream:
            heading, *rows = csv.reader(line for line in stream if not line.startswith("#"))
        numbers, keys = 0, int(table.keys)
        for row in rows:
            for column, text in list(zip(heading, row))[keys:]:
                cell = figures.find(table.name, row[:keys], column)
                assert cell and cell.text == text.strip()
                numbers += math.isfinite(cell.number)
        assert numbers > 0


def test_words_of_this_project_match_published_ones(figures: published.Published) -> None:
    keys = ["serial", "25"]
    assert figures.number("constant-load-mean-error", keys, "pi-even") == -0.14
    assert figures.find("constant-load-mean-error", keys, "pi_even") is not None
    assert figures.find("constant-load-mean-error", keys, "pid-even") is None
    assert figures.find("constant-load-mean-error", ["", "25"], "pi-even") is None
    assert figures.find("no-such-table", keys, "pi-even") is None


def test_the_nearest_number_counts_if_it_is_near_enough(figures: published.Published) -> None:
    def find(target: str, within: float) -> float:
        keys = ["dacapo/fop", target]
        return figures.number("constant-load-mean-error", keys, "cdc", within)

    assert find("33", 0.5) == find("33.3333", 0) == 0.03
    assert find("25.4", 0.5) == find("25.5", 0.5) == -0.13
    assert math.isnan(find("25.6", 0.5))
    assert math.isnan(find("x", 0.5))


def test_files_that_cannot_be_read_are_noted(tmp_path: Path) -> None:
    notes = Notes()
    assert published.read(str(tmp_path / "none"), "ssreport", notes).references.empty
    assert str(notes).startswith("no published figures: ")
    (tmp_path / "references.csv").write_text(
        ",".join(published.REFERENCE)
        + "\na,ssreport,1,\nb,ssreport,4,\nc,ssreport,1,x\nd,other,1,\n"
    )
    (tmp_path / "names.csv").write_text("ours,theirs\nx,y\nx,z\n")
    (tmp_path / "a.csv").write_text("key,value\ny,5\nz,6\n")
    notes = Notes()
    figures = published.read(str(tmp_path), "ssreport", notes)
    assert list(figures.references["name"]) == ["a"]
    assert figures.number("a", ["x"], "value") == 5
    assert str(notes) == (
        'references.csv:3: invalid row, in "b,ssreport,4," (and 1 more)'
    )
    (tmp_path / "a.csv").unlink()
    notes = Notes()
    published.read(str(tmp_path), "ssreport", notes)
    assert "; published figures: a.csv: No such file or directory" in str(notes)


NONE_ENDED = "none ended, so at most 25 % of the throughput at speed 1"


def make_run(**values: Any) -> SimpleNamespace:
    usual = {"speed": 1.0, "throughput": 4.0, "bound": math.nan, "others": math.nan, "manifest": 1}
    return SimpleNamespace(**usual | {"tau_seconds": math.nan} | values)


def test_a_replay_is_compared_with_the_original_speed() -> None:
    slow, one, again, fast = (make_run(speed=speed) for speed in (0.5, 1, 1, 3))
    assert topic._original([slow, one, again, fast], fast) is one
    assert topic._original([slow, fast], fast) is slow
    assert topic._original([make_run(throughput=math.nan)], fast) is None
    # Another study counts only if the own one has no other speed.
    other = make_run(speed=1.0, manifest=2)
    assert topic._original([slow, other, fast], fast) is slow
    assert topic._original([other, fast], fast) is other
    assert topic._original([other, one], again) is one


def test_an_unknown_speed_is_a_speed() -> None:
    unknown, later = make_run(speed=math.nan, manifest=2), make_run(speed=math.nan)
    assert topic._original([unknown, later], later) is later
    ratio = topic._ratio(later, unknown, 0.05)  # type: ignore[arg-type]
    assert ratio["against_speed"] == 0


@pytest.mark.parametrize(
    ("values", "in_proportion", "off"),
    [
        ({"throughput": 4.1}, "yes", ""),
        ({"throughput": 5.0}, "no", "+25.0 % against speed 1"),
        ({"throughput": math.nan, "bound": 1.0}, "no", NONE_ENDED),
        ({"throughput": math.nan, "bound": 4.0}, "", ""),
        ({"throughput": 5.0, "others": 0.5}, "", ""),
    ],
)
def test_iterations_are_in_proportion_to_time(
    values: dict[str, float], in_proportion: str, off: str
) -> None:
    found = topic._ratio(make_run(**values), make_run(others=0.01), 0.05)  # type: ignore[arg-type]
    assert (found["in_proportion"], found["off"]) == (in_proportion, off)
    assert bool(found["note"]) == ("others" in values)


def test_published_throughput_covers_the_same_time(figures: published.Published) -> None:
    report: Any = SimpleNamespace(published_figures=figures)
    found = topic._rates(report, "dacapo/fop", "pi-even", 3)
    assert found["published_seconds"] == 540
    assert found["linux_iterations_per_second"] == 132
    assert found["linux_ratio"] == 132 / 130
    assert topic._rates(report, "dacapo/fop", "pi-even", 2) == {}
    assert topic._rates(report, "dacapo/fop", "cdc", 1) == {}


def test_published_errors_hold_for_one_tau(figures: published.Published) -> None:
    report: Any = SimpleNamespace(published_figures=figures)
    run: Any = make_run(published_name="dacapo/fop", target=0.255, method="cdc", tau_seconds=0.107)
    assert topic._error_published(report, run, "constant-load-mse") == 4.67
    run.tau_seconds = 0.05
    assert math.isnan(topic._error_published(report, run, "constant-load-mse"))
    assert topic._certainty(report, run, -0.13) == "certain"
    run.method, run.target = "pi-even", 2 / 3
    assert topic._certainty(report, run, 0.05) == "probable"
    run.published_name = "dacapo/avrora"
    for run.target in (0.25, 1 / 3, 0.5, 2 / 3, 0.75):
        for run.method in ("nbench", "cdc", "geom-even"):
            assert topic._certainty(report, run, 0) == "certain"
        for run.method in ("geom-uneven", "pi-uneven", "pi-even"):
            assert topic._certainty(report, run, 0) == "probable"
    run.published_name = "dacapo/sunflow"
    assert topic._certainty(report, run, 0.04) == "certain"


def test_replay_range_is_found_if_others_of_its_program_are_missing(
    figures: published.Published,
) -> None:
    keys = ["parallel"]
    assert figures.number("replay-mse-range", keys, "geom-uneven_min") == 125
    assert figures.number("replay-mse-range", keys, "geom-uneven_max") == 162
    assert math.isnan(figures.number("replay-mse-range", keys, "geom-even_min"))


def p_bounds(row: dict[str, str], count: int) -> list[float]:
    """Return the least and the largest p of two means that were rounded, with their deviations."""
    mean, deviation, other, other_deviation = (
        float(row[name]) for name in ("watts", "deviation", "other_watts", "other_deviation")
    )
    toward = math.copysign(1, other - mean)
    return [
        stats.ttest_ind_from_stats(
            mean + toward * off, deviation + off, count,
            other - toward * off, other_deviation + off, count, equal_var=False,
        ).pvalue
        for off in (-0.05, 0.05)
    ]  # fmt: skip


def test_published_p_values_follow_from_published_means() -> None:
    """Their n is not published; with 70, 69 and 29, each p is one of the rounded figures."""
    with open(FOLDER / "actuators-means.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 20
    for row in rows:
        low, high = p_bounds(row, int(row["n"]))
        if row["p"].startswith("<"):
            assert high < float(row["p"].removeprefix("< ")), row
        else:
            assert low - 0.0005 < float(row["p"]) < high + 0.0005, row
    # One more value contradicts a published p.
    assert rows[-2]["p"] == "0.003" and p_bounds(rows[-2], 30)[1] < 0.0025


def compare(*studies: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(FOLDER / "compare"), *map(str, studies)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_published_statements_are_printed_next_to_the_shares_of_a_study(tmp_path: Path) -> None:
    study, replays = tmp_path / "study", tmp_path / "replays"
    (study / "report").mkdir(parents=True)
    replays.mkdir()
    (study / "report/constant-load.csv").write_text(
        "set,workload,method,error_mean_percent\n"
        '1,"a, b",pi-even,-5\n1,c,pi-even,5.1\n1,c,geom-even,0\n1,c,geom-even,\n'
        "1,c,default,6\n1,c,nbench,-30\n2,c,pi-even,9\n"
    )
    heading = "set,method,error_mean_percent\n"
    (replays / "replay.csv").write_text(f"{heading}1,pi-uneven,3\n1,pi-uneven,-3.1\n")
    (study / "replay.csv").write_text(f"{heading}1,a copy of a table in report,1\n")

    found = compare(study, replays)
    assert (found.returncode, found.stderr) == (0, "")
    shares = re.findall(r"^  (\S.*?) +(\d+) of +(\d+) +(\d+) %$", found.stdout, re.MULTILINE)
    assert shares == [
        ("pi-even", "1", "2", "50"),
        ("geom-even", "1", "1", "100"),
        ("default", "0", "1", "0"),
        ("nbench", "0", "1", "0"),
        ("all of geom and pi", "2", "3", "67"),
        ("pi-uneven", "1", "2", "50"),
        ("all of geom and pi", "1", "2", "50"),
    ]
    loads, replayed = found.stdout.split("replay.csv:")
    assert '"within 5% of the target load in 80% of all experiments on all' in loads
    assert "measure: not stated" in loads
    assert 'PM1): "mean error within 3% from zero"' in replayed
    assert "measure: mean error" in replayed


def test_folder_without_tables_is_refused(tmp_path: Path) -> None:
    found = compare(tmp_path)
    assert found.returncode == 1
    assert re.fullmatch(r"compare: .*: no constant-load.csv or replay.csv: .*\n", found.stderr)


def test_loads_of_programs_are_drawn_next_to_target_and_published_loads() -> None:
    rows = pd.DataFrame(
        {
            "set": 1,
            "workload": ["dacapo/fop", "dacapo/fop", "parallel", "parallel"],
            "method": ["nbench", "cdc"] * 2,
            "tau_seconds": math.nan,
            "target": 0.25,
            "load_mean": [0.3, 0.26, 0.99, 0.6],
            "error_mean_percent_published": [-5.3, math.nan, -74.8, -49.9],
        }
    )
    ax = topic.plot_loads(rows).axes[0]
    bars = {(round(bar.get_x()), bar.get_height()) for bar in ax.patches}
    assert bars == {(0, 30), (0, 26), (1, 99), (1, 60)}
    lines = [set(map(float, line.get_ydata())) for line in ax.lines]
    assert {25.0} in lines
    assert set().union(*lines) >= {25 + 5.3, 25 + 74.8, 25 + 49.9}

    def captions(frame: pd.DataFrame) -> list[str]:
        report: Any = SimpleNamespace(table=lambda name: SimpleNamespace(frame=frame))
        return [picture.caption for picture in topic._load_pictures(report)]

    assert captions(rows) == ["Load by program and method; target 25 % (dashed)"]
    assert captions(rows[:2]) == []
    second = pd.concat([rows, rows.assign(set=2, target=1 / 3)])
    assert captions(second)[1:] == [
        "Load by program and method; target 33.33 % (dashed), second set"
    ]


def test_published_figures_are_read_only_for_experiments() -> None:
    report = Report()
    assert report.published_figures.references.empty
    report = Report(published="nowhere")
    report.runs = [make_run(experiment="duet")]  # type: ignore[list-item]
    assert report.published_figures.references.empty and not report.notes
    report = Report(published="nowhere")
    report.runs = [make_run(experiment="accuracy")]  # type: ignore[list-item]
    assert report.published_figures.references.empty
    assert str(report.notes) == "no published figures: nowhere: No such file or directory"
