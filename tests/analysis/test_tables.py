# SPDX-License-Identifier: Apache-2.0
"""Tables in all of their forms. What is expected is what the C program printed."""
from __future__ import annotations

import math

import pandas as pd
import pytest
from showstopper.tables import (
    Column,
    Sheet,
    Table,
    describe,
    json_text,
    name_text,
    number,
    page_number,
)

COLUMNS = (
    Column("record", "run", text=("record", 12)),
    Column("load", "load, %", 2, percent=True, text=("load %", 8)),
    Column("p", "p", 3, small=True, text=("p", 9)),
    Column("verdict", "verdict", text=("verdict of it", 10)),
    Column("watts", "power", 1, if_known=True),
    Column("invalid"),
)
TABLE = Table("runs", "Runs <b>", COLUMNS, lambda report: FRAME, shade="verdict")
FRAME = pd.DataFrame({
    "record": ["study/a very long name", 'study/q"x', "b,c"],
    "load": [0.123456789012345, math.nan, -1e-9],
    "p": [1e-9, 0.5, math.inf],
    "verdict": ["valid", "doubtful", ""],
    "invalid": [True, False, False],
    "helper": [1, 2, 3],
})
SHEET = Sheet(TABLE, FRAME, "study/")


def test_csv_has_all_columns_with_12_digits() -> None:
    assert SHEET.csv() == (
        "record,load,p,verdict,watts,invalid\n"
        "study/a very long name,0.123456789012,1e-09,valid,,yes\n"
        '"study/q""x",,0.5,doubtful,,no\n'
        '"b,c",-1e-09,,,,no\n'
    )


def test_json_has_null_for_unknown_cells() -> None:
    assert SHEET.json().startswith(
        "[\n"
        "  {\n"
        '    "record": "study/a very long name",\n'
        '    "load": 0.123456789012,\n'
        '    "p": 1e-09,\n'
        '    "verdict": "valid",\n'
        '    "watts": null,\n'
        '    "invalid": "yes"\n'
        "  },\n"
    )
    assert SHEET.json().endswith('"watts": null,\n    "invalid": "no"\n  }\n]\n')
    assert Sheet(TABLE, FRAME[:0]).json() == "[]\n"


def test_markdown_has_the_columns_for_people() -> None:
    assert SHEET.markdown() == (
        "| run | load, % | p | verdict |\n"
        "| --- | ---: | ---: | --- |\n"
        "| a very long name | 12.35 | 1.0e-09 | valid |\n"
        '| q"x |  | 0.500 | doubtful |\n'
        "| b,c | 0.00 |  |  |\n"
    )


def test_markdown_of_a_table_for_programs_has_all_columns() -> None:
    table = Table("t", "T", (Column("a|b"), Column("n")), lambda report: None)
    frame = pd.DataFrame({"a|b": ["x\n*y*"], "n": [1 / 3]})
    assert Sheet(table, frame).markdown() == (
        "| a\\|b | n |\n| --- | ---: |\n| x \\*y\\* | 0.333333333333 |\n"
    )


def test_text_cuts_names_on_the_left_and_separates_texts() -> None:
    assert SHEET.text("runs") == (
        "\nruns\n"
        "record        load %        p verdict o\n"
        ".. long name   12.35  1.0e-09 valid    \n"
        'q"x                -    0.500 doubtful \n'
        "b,c             0.00        -          \n"
    )
    assert Sheet(TABLE, FRAME[:0]).text("runs") == ""


def test_text_of_neighboring_texts_has_a_gap() -> None:
    columns = Column("a", text=("a", 10)), Column("b", text=("b", 10))
    table = Table("t", "T", columns, lambda report: None)
    frame = pd.DataFrame({"a": ["0123456789"], "b": ["y"]})
    assert Sheet(table, frame).text() == "\nT\na         b         \n..3456789 y         \n"


def test_view_hides_unknown_columns_and_shades_rows() -> None:
    view = SHEET.view()
    assert [heading for heading, _ in view.headings] == ["run", "load, %", "p", "verdict"]
    assert view.rows[0] == [
        ("a very long name", True), ("12.35", False), ("1.0e-09", False), ("valid", True)
    ]
    assert view.shades == ["valid", "doubtful", ""]
    assert [row[0] for row in SHEET.view("b,c").rows] == [("\u22121.0e-07", False)]


def test_html_is_escaped() -> None:
    html = SHEET.html()
    assert "<caption>Runs &lt;b&gt;</caption>" in html
    assert '<tr class="doubtful"><td class="text">q&#34;x</td><td>\u2013</td>' in html
    assert '<th scope="col">load,\u00a0%</th>' in html


def test_invalid_characters_are_replaced() -> None:
    assert name_text("a\udcff\x80\tb", 8) == "a?  b   "
    table = Table("t", "T", (Column("a", "a"),), lambda report: None)
    sheet = Sheet(table, pd.DataFrame({"a": ["x\udcff\x07\x9b\n\u00e9"]}))
    assert '<td class="text">x??? \u00e9</td>' in sheet.html()
    assert '"a": "x\\ufffd\\u0007\\u009b\\u000a\u00e9"' in sheet.json()


@pytest.mark.parametrize("value, expected", [
    (0.0, "0.00"), (-0.001, "0.00"), (math.nan, "-"), (math.inf, "-"), (2.675, "2.67"),
])
def test_number(value: float, expected: str) -> None:
    assert number(value, 2) == expected


def test_number_of_a_page_has_a_minus_and_is_never_rounded_to_zero() -> None:
    assert page_number(-1.5, 1) == "\u22121.5"
    assert page_number(-2e-9, 3) == "\u22122.0e-09"
    assert page_number(0.4, 0) == "0"
    assert page_number(0.25, 1, percent=True) == "25.0"


def test_document_nests_sheets() -> None:
    table = Table("t", "T", (Column("n"),), lambda report: None)
    document = {"schema": 1, "t": Sheet(table, pd.DataFrame({"n": [2]})), "none": [], "x": -0.1}
    assert json_text(document) == (
        '{\n  "schema": 1,\n  "t": [\n    {\n      "n": 2\n    }\n  ],\n  "none": [],\n'
        '  "x": -0.1\n}\n'
    )
    assert json_text([True, None, math.nan, 1e300, 0.1 + 0.2, -0.0]) == (
        "[\n  true,\n  null,\n  null,\n  1e+300,\n  0.30000000000000004,\n  0\n]\n"
    )


def test_names_become_columns() -> None:
    steps = Table("power-fits", "Fits", "(load) instances slope r_squared_low", lambda report: None)
    assert steps.columns == (
        Column("load"),
        Column("instances", "instances", if_known=True),
        Column("slope", "W for each CPU", 3, text=("W/CPU", 8)),
        Column("r_squared_low"),
    )
    [load] = describe("ratios", "load")
    assert load == Column("load", "load, %", 2, percent=True)
