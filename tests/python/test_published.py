# SPDX-License-Identifier: Apache-2.0
"""Published figures, constant loads, and replays at several speeds."""

from __future__ import annotations

import csv
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import Record as Maker
from showstopper import Study
from showstopper.published import FOLDER, Published
from showstopper.report import figures as drawing
from showstopper.report.topics import published as topic


@pytest.fixture(name="figures", scope="module")
def _figures() -> Published:
    notes: list[str] = []
    figures = Published(FOLDER, notes)
    assert not notes
    return figures


def test_every_published_number_is_found_by_its_keys(figures: Published) -> None:
    with open(Path(FOLDER) / "references.csv", encoding="utf-8") as stream:
        keys = {row["name"]: int(row["keys"]) for row in csv.DictReader(stream)}
    assert len(figures.taus) >= 5
    for table in figures.taus:
        with open(Path(FOLDER) / f"{table}.csv", encoding="utf-8") as stream:
            heading, *rows = csv.reader(line for line in stream if not line.startswith("#"))
        for row in rows:
            for column, text in list(zip(heading, row))[keys[table] :]:
                assert figures.find(table, row[: keys[table]], column) == text.strip()


def test_words_of_this_project_match_published_ones(figures: Published) -> None:
    keys = ["serial", "25"]
    assert figures.number("constant-load-mean-error", keys, "pi-even") == -0.14
    assert figures.find("constant-load-mean-error", keys, "pi_even") != ""
    assert figures.find("constant-load-mean-error", keys, "pid-even") == ""
    assert figures.find("constant-load-mean-error", ["", "25"], "pi-even") == ""
    assert figures.find("no-such-table", keys, "pi-even") == ""


def test_nearest_number_counts_if_it_is_near_enough(figures: Published) -> None:
    def find(target: str, within: float) -> float:
        keys = ["dacapo/fop", target]
        return figures.number("constant-load-mean-error", keys, "cdc", within)

    assert find("33", 0.5) == find("33.3333", 0) == 0.03
    assert find("25.4", 0.5) == find("25.5", 0.5) == -0.13
    assert math.isnan(find("25.6", 0.5)) and math.isnan(find("x", 0.5))


def test_files_that_cannot_be_read_are_noted(tmp_path: Path) -> None:
    notes: list[str] = []
    assert not Published(str(tmp_path / "none"), notes).taus
    assert notes == [f"no published figures: {tmp_path}/none is not a folder"]
    (tmp_path / "references.csv").write_text(
        "name,program,keys,tau_seconds\na,ssreport,1,\nb,ssreport,4,\nd,other,1,\n"
    )
    (tmp_path / "names.csv").write_text("ours,theirs\nx,y\nx,z\n")
    (tmp_path / "a.csv").write_text("key,value\ny,5\nz,6\n")
    figures = Published(str(tmp_path))
    assert [*figures.taus] == ["a"] and figures.number("a", ["x"], "value") == 5
    (tmp_path / "a.csv").unlink()
    Published(str(tmp_path), notes := [])
    assert notes == ["published figures: a.csv: No such file or directory"]


def compare(*studies: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(Path(FOLDER) / "compare"), *map(str, studies)]
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


def test_published_statements_on_knobs_are_printed_next_to_means_of_levels(tmp_path: Path) -> None:
    names = "set method environment variant throttle_target balance cap workload".split()
    place = dict.fromkeys(names, "") | {"set": "1", "workload": "serve"}
    rates = [
        ("a", "cpus=8", 20, "overloaded", 180, 2),
        ("a", "cpus=8", 20, "overloaded", 184, 3),
        ("a", "cpus=8", 10, "underloaded", 160, 0.1),
        ("b", "cpus=4", 20, "overloaded", 150, 4),
        ("b", "cpus=4", 30, "overloaded", 155, 9),
        ("c", "cpus=4+pin=free", 20, "overloaded", 1, 1),
    ]
    columns = "record knobs rate state watts actual_mean_seconds".split()
    pd.DataFrame({"record": [*"abc"], "arrival": "even"}).to_csv(tmp_path / "requests.csv")
    rows = pd.DataFrame(rates, columns=columns).assign(**place, saturated="")
    rows.to_csv(tmp_path / "requests-rates.csv")
    limits = pd.DataFrame({"knobs": ["cpus=8", "cpus=4"], "last_rate": [10, 5]})
    counted = {"counted": "intended, all", "criterion": "both", "arrival": "even"}
    limits = limits.assign(**place, **counted, first_rate=15, crossing_rate=[12.5, None])
    limits.to_csv(tmp_path / "requests-limits.csv")

    lines = compare(tmp_path).stdout.splitlines()
    at = lines.index('"fewer CPUs save power of an overloaded service" (Table 8)')
    assert lines[at + 1] == "  watts at 20 /s: cpus=8 182, cpus=4 150"
    at = lines.index('"the capacity grows less than the number of CPUs" (6.2.1)')
    assert lines[at + 1] == "  capacity: cpus=8 12.5, cpus=4 5"
    assert not any("underloaded" in line for line in lines)


def test_folder_without_tables_is_refused(tmp_path: Path) -> None:
    found = compare(tmp_path)
    assert found.returncode == 1
    assert re.fullmatch(r"compare: .*: no constant-load.csv or replay.csv or requests-rates.csv: .*\n", found.stderr)


def run(**values: Any) -> pd.Series:
    usual = {"speed": 1.0, "throughput": 4.0, "bound": math.nan, "others": math.nan, "study": 1}
    return pd.Series(usual | values)


def test_replay_is_compared_with_the_original_speed() -> None:
    def original(*runs: pd.Series, of: pd.Series = run(speed=3)) -> Any:
        rows = pd.DataFrame([one.rename(at) for at, one in enumerate(runs)]).infer_objects()
        found = topic.original(rows, of)
        return None if found is None else found.name

    slow, one, fast, other = run(speed=0.5), run(), run(speed=3), run(study=2)
    assert original(slow, one, one, fast) == 1
    assert original(slow, fast) == 0
    assert original(run(throughput=math.nan)) is None
    # Another study counts only if the own one has no other speed.
    assert original(slow, other, fast) == 0
    assert original(other, fast) == 0
    assert original(other, one, of=one) == 1
    assert original(run(speed=math.nan, study=2), run(speed=math.nan), of=run(speed=math.nan)) == 1


@pytest.mark.parametrize(
    ("values", "in_proportion", "off"),
    [
        ({"throughput": 4.1}, "yes", ""),
        ({"throughput": 5.0}, "no", "+25.0 % against speed 1"),
        ({"throughput": math.nan, "bound": 1.0}, "no",
         "none ended, so at most 25 % of the throughput at speed 1"),
        ({"throughput": math.nan, "bound": 4.0}, "", ""),
        ({"throughput": 5.0, "others": 0.5}, "", ""),
    ],
)  # fmt: skip
def test_iterations_are_in_proportion_to_time(
    values: dict[str, float], in_proportion: str, off: str
) -> None:
    found = topic.ratio(run(**values), run(others=0.01), 0.05)
    assert (found["in_proportion"], found["off"]) == (in_proportion, off)
    assert bool(found["note"]) == ("others" in values)


def make_study(folder: Path, make_record: Maker, heading: str, *rows: str) -> Study:
    for number, row in enumerate(rows):
        loads = [0.25] * 12 if "accuracy" in row else None
        length = 1 + number / 2
        ends = "".join(f"0,{at * length},{at * length + length}\n" for at in range(int(6 / length)))
        make_record(f"study/{number}", loads, iterations_csv="instance,start,end\n" + ends)
    lines = (f"{number},{row}\n" for number, row in enumerate(rows))
    (folder / "study/manifest.csv").write_text(f"run,{heading}\n" + "".join(lines))
    return Study(folder / "study")


def test_loads_are_next_to_published_ones(make_record: Maker, tmp_path: Path) -> None:
    common = "accuracy,serial,0.254,pi-even"
    rows = (f"{common},0.107", f"{common},0.107", f"{common},0.05")
    heading = "experiment,workload,target,method,tau_seconds"
    study = make_study(tmp_path, make_record, heading, *rows)
    other, same = topic.df_constant_load(study).to_dict("records")
    assert (other["tau_seconds"], other["runs"], same["runs"]) == (0.05, 1, 2)
    assert same["error_mean_percent"] == pytest.approx(25)  # the samples have a target of 50 %
    assert (same["error_mean_percent_published"], same["published_is"]) == (-0.14, "probable")
    assert math.isnan(other["error_mean_percent_published"]) and other["published_is"] == ""
    svgs = [str(drawing.svg(one.figure)) for one in topic.figures(study)]
    assert svgs and any("published" in svg for svg in svgs)


def test_replay_out_of_proportion_is_noted(make_record: Maker, tmp_path: Path) -> None:
    rows = (f"replay,dacapo/fop,pi-even,{speed}" for speed in (1, 3))
    study = make_study(tmp_path, make_record, "experiment,workload,method,speed", *rows)
    topic.notes(study)
    first, fast = topic.df_replay(study).to_dict("records")
    assert (first["ratio"], first["in_proportion"], first["iterations"]) == (1, "yes", 6)
    assert fast["ratio"] == pytest.approx(4 / 6) and fast["in_proportion"] == "no"
    assert "-33.3 % against speed 1" in study.records[1].note
    assert (fast["published_seconds"], fast["linux_iterations_per_second"]) == (540, 132)
    assert fast["linux_ratio"] == 132 / 130


def test_published_figures_are_read_only_for_experiments(make_record: Maker) -> None:
    study = Study(make_record(), published="none")
    topic.notes(study)
    assert not study.published.taus and not study.notes
