# SPDX-License-Identifier: Apache-2.0
"""Tables of records: damaged rows are left out and named, and pandas changes no number."""

from __future__ import annotations

import gzip
import lzma
import math
from pathlib import Path

import pandas as pd
import pytest
from showstopper.contents import parse_rows
from showstopper.frames import advances, moment, read_table
from showstopper.text import UserError

HEAD = "time,elapsed_seconds,load\n"
ROWS = [f"2026-01-01T00:00:0{n}Z,{n},0.{n}\n" for n in range(1, 6)]
NEEDED = ("time", "elapsed_seconds", "load")


def read(
    folder: Path, data: str | bytes, needed: object = NEEDED
) -> tuple[pd.DataFrame, list[str]]:
    data = data.encode() if isinstance(data, str) else data
    (folder / "x.csv").write_bytes(data)
    notes: list[str] = []
    return read_table(str(folder), "x.csv", notes, needed), notes  # type: ignore[arg-type]


def test_whole_table_has_no_note(tmp_path: Path) -> None:
    rows, notes = read(tmp_path, HEAD + "".join(ROWS))
    assert rows["load"].tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert notes == []


@pytest.mark.parametrize(
    "damaged",
    [
        "2026-01-01T00:00:03Z,3\n",  # too short: pandas would fill it
        "2026-01-01T00:00:03Z,3,0.3,7\n",  # too long: pandas would cut it
        "2026-01-01T00:00:03Z,3,word\n",
        "2026-01-01T00:00:03Z,3,inf\n",
        "2026-01-01T00:00:03Z,3,0x10\n",
        '2026-01-01T00:00:03Z,"3,0.3\n',  # pandas would read on to the end of the file
        "2026-01-01T00:00:03Z,3,0.\0003\n",
        "2026-01-01T00:00:03Z,3\r,0.3\n",  # pandas would end the row here
        HEAD,
    ],
)
def test_damaged_row_is_left_out_and_named(tmp_path: Path, damaged: str) -> None:
    rows, notes = read(tmp_path, HEAD + ROWS[0] + ROWS[1] + damaged + ROWS[3])
    assert rows["load"].tolist() == [0.1, 0.2, 0.4]
    assert len(notes) == 1 and notes[0].startswith("x.csv:4: damaged row, in ")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (f"a\nb\n{ROWS[0]}c\n", 'x.csv:2: damaged row, in "a" (and 2 more)'),
        # A killed run may leave 0.4 of 0.45.
        (f"{ROWS[0]}2026-01-01T00:00:02Z,2,0.4", "x.csv:3: "),
        # Too short and too long rows do not cancel.
        (f"a,1\na,1,0.5,9\n{ROWS[0]}", 'x.csv:2: damaged row, in "a,1" (and 1 more)'),
    ],
)
def test_damaged_rows_share_a_note(tmp_path: Path, text: str, note: str) -> None:
    rows, notes = read(tmp_path, HEAD + text)
    assert rows["load"].tolist() == [0.1]
    assert len(notes) == 1 and notes[0].startswith(note)


def test_order_case_blanks_comments_and_quotes_do_not_matter(tmp_path: Path) -> None:
    rows, notes = read(tmp_path, '# made by hand\nLoad, "Time" ,elapsed_seconds\n\n 0.5 ,x, 1\n')
    assert (rows["load"].tolist(), rows["time"].tolist(), notes) == ([0.5], ["x"], [])


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_packed_table_is_read_whatever_its_name(tmp_path: Path, pack: object) -> None:
    rows, _ = read(tmp_path, pack((HEAD + "".join(ROWS)).encode()))  # type: ignore[operator]
    assert len(rows) == 5


@pytest.mark.parametrize("word", ["", "-", "nan", "NA", "null"])
def test_missing_number_is_not_damage(tmp_path: Path, word: str) -> None:
    rows, notes = read(tmp_path, f"{HEAD}x,1,{word}\n")
    assert rows["load"].isna().all() and notes == []


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("", "x.csv is empty"),
        ("time;elapsed_seconds;load\n", "x.csv:1:1: columns must be separated by commas"),
        ("time,load\n", "x.csv:1:1: no column 'elapsed_seconds'"),
        ("time,load,load,elapsed_seconds\n", "x.csv:1:1: column 'load' appears twice"),
    ],
)
def test_table_without_its_columns_is_refused(tmp_path: Path, data: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        read(tmp_path, data)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:01:00Z", 60),
        ("1970-01-01 01:01:00.5+01:00", 60.5),
        ("1970-01-01T00:01z", 60),
        ("@60.25", 60.25),
        ("1970-01-01T00:01:00", math.nan),  # in which zone?
        ("1970-13-01T00:00:00Z", math.nan),
        ("today", math.nan),
    ],
)
def test_moment(text: str, seconds: float) -> None:
    assert moment(text) == pytest.approx(seconds, nan_ok=True)


def test_one_damaged_time_does_not_outweigh_all() -> None:
    assert advances(pd.Series([1.0, 2, 1e9, 3])).tolist() == [True, True, False, True]


def test_confirmed_gap_is_real() -> None:
    assert advances(pd.Series([1.0, 1e9, 1e9 + 1, 1e9 + 2])).tolist() == [True, False, True, True]


def test_rows_of_texts_are_read_without_pandas() -> None:
    rows, note = parse_rows("m.csv", b'# x\nRun,why\na,"b, c"\nd\n', ["run"])
    assert rows == [{"run": "a", "why": "b, c"}]
    assert note == 'm.csv:4: damaged row, in "d"'
