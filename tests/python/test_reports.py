# SPDX-License-Identifier: Apache-2.0
"""Reports: tables, the page, options and exit statuses."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import Record as Maker
from showstopper import Study, cli
from showstopper.report import figures, overlay, page, summary
from showstopper.report.tables import Sheet, Table, View, describe, page_number
from showstopper.report.topics import runs
from showstopper.text import UserError


def sheet(**columns: list[object]) -> Sheet:
    table = Table("Title", "", lambda study: pd.DataFrame(), terminal="title")
    return Sheet("runs", table, describe("runs", " ".join(columns)), pd.DataFrame(columns))


def test_csv_has_texts_numbers_and_words() -> None:
    found = sheet(record=['a"b', "c,d"], load_mean=[1 / 3, math.nan], bad=[True, False])
    rows = list(csv.reader(found.csv().splitlines()))
    assert rows == [
        ["record", "load_mean", "bad"],
        ['a"b', "0.333333333333", "yes"],
        ["c,d", "", "no"],
    ]


def test_json_has_null_for_what_is_unknown() -> None:
    found = sheet(record=["", "a"], load_mean=[math.inf, 2.0])
    assert json.loads(found.json()) == [
        {"record": None, "load_mean": None}, {"record": "a", "load_mean": 2},
    ]


def test_number_that_rounds_to_zero_is_shown() -> None:
    [column] = describe("runs", "load_mean")
    assert page_number(1e-9, column) == "1.0e-07"
    assert page_number(-0.1, column) == "\u221210.00"
    assert page_number(math.nan, column) == "\u2013"


def test_wide_table_is_split_into_blocks() -> None:
    columns = [(f"heading {number}", False, ["1234567890"]) for number in range(30)]
    blocks = View("Title", columns, [""]).blocks
    assert len(blocks) > 1
    assert all(block[0] == columns[0] for block in blocks)
    assert sum(len(block) - 1 for block in blocks) == 29


def test_record_with_every_table_empty_is_reported(tmp_path: Path) -> None:
    for name in "samples iterations energy idle cpus counters decisions".split():
        (tmp_path / f"{name}.csv").write_text("")
    study = Study(tmp_path)
    summary.prepare(study)
    assert all(isinstance(one.csv(), str) for one in summary.sheets(study).values())
    assert page.render(page.of_study(study)) and isinstance(page.text(study), str)


def test_picture_of_a_replay_at_another_speed_is_full(make_record: Maker) -> None:
    """Its line and its axis are on the run's own clock, not on that of the trace."""
    plan = {"schema": 2, "instances": 1, "cpu_count": 2, "labels": {"speed": "0.1"}}
    study = Study(make_record(plan_json=json.dumps(plan)))
    assert study.records[0].speed == 0.1
    (ax,) = overlay.plot_run(study, 0, "load", "x").axes
    assert max(ax.lines[-1].get_xdata()) > 0.9 * ax.get_xlim()[1]


def test_axis_of_one_instance_has_no_fractions(make_record: Maker) -> None:
    record = Study(make_record()).records[0]
    (ax, _) = runs._plot_fields(record, np.array([[0.5]]), 1, "instance", "duty, %").axes
    assert [tick for tick in ax.get_yticks() if -0.5 < tick < 0.5] == [0]


def test_page_is_whole_and_escapes_texts(make_record: Maker, tmp_path: Path) -> None:
    record = make_record("<b>", energy_csv="time,watts\n")
    assert cli.main(["ssreport", "-q", "-o", str(tmp_path / "out"), str(record)]) == 0
    _, _, found = (tmp_path / "out/report.html").read_text().partition("</style>")
    assert "<b></h" not in found and "&lt;b&gt;" in found
    assert found.count("<svg ") >= 3 and "var(--blue)" in found and "#0072b2" not in found
    ids = [part.split('"')[0] for part in found.split(' id="')[1:]]
    assert len(ids) == len({*ids})


def test_mark_has_a_title() -> None:
    @figures.drawing
    def plot() -> object:
        fig, ax = figures.new()
        figures.points(ax, [1, math.nan, 3], [1, 2, 3], ["a<b", "unknown", "c"])
        return fig

    svg = str(figures.svg(plot()))  # type: ignore[arg-type]
    assert "<title>a&lt;b</title>" in svg and "<title>c</title>" in svg and "unknown" not in svg


def test_set_after_against_is_the_second(make_record: Maker) -> None:
    request = cli.parse(["a", "-q", "b", "--against", "c", "-o", "out", "d"])
    assert (request.words, request.second) == (["a", "b"], ["c", "d"])
    assert request.quiet and request.output == "out"


def test_word_after_check_is_a_subject_unless_it_is_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    request = cli.parse(["--check", "load", "a"])
    assert (request.subject, request.words) == ("load", ["a"])
    (tmp_path / "load").mkdir()
    request = cli.parse(["--check", "load", "a"])
    assert (request.subject, request.words) == ("", ["load", "a"])


@pytest.mark.parametrize(
    "words",
    [
        "", "--against b", "a --against", "a --against b --against c", "--names x/y a",
        "--format md a", "--column x a", "--check --table runs a", "--confidence 10% a",
        "--interval 1m a", "--unknown a", "--leave-out valid a", "--tab runs a",
        "--decide --deviation 1% a", "--decide --published b a", "--pair x,y a", "--table= a",
    ],
)
def test_options_are_refused(words: str) -> None:
    with pytest.raises(UserError):
        cli.parse(words.split())


def test_exit_statuses(make_record: Maker, tmp_path: Path) -> None:
    record = str(make_record())
    assert cli.main(["ssreport", "--check", record]) == 0
    assert cli.main(["ssreport", "-q", "--table", "idle-states", record]) == 1
    assert cli.main(["ssreport", "-q", str(tmp_path / "none")]) == 125
    (Path(record) / "summary.json").unlink()
    assert cli.main(["ssreport", "--check", record]) == 3
