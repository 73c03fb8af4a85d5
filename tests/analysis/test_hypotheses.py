# SPDX-License-Identifier: Apache-2.0
"""ssreport --test: reading of tables, and tests of groups in tables and words."""

import csv
import io
import math
from pathlib import Path

import pytest
from showstopper import cli, hypotheses
from showstopper.hypotheses import Groups, Hypotheses, parse, read
from showstopper.text import UserError

ROOT = Path(__file__).parents[2]
THREE = (
    "knob,watts\nlow,10\nlow,12\nlow,11\nlow,14\nhigh,20\nhigh,25\nhigh,21\nhigh,19\n"
    "most,22\nmost,23\nmost,30\n"
)


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "values.csv"


def groups_of(file: Path, table: str | bytes, value: str = "watts", **columns: str) -> Groups:
    file.write_bytes(table if isinstance(table, bytes) else table.encode())
    return read(str(file), value, **(columns or {"group": "knob"}))


def hypotheses_of(file: Path, table: str, **columns: str) -> Hypotheses:
    return hypotheses.test_groups(groups_of(file, table, **columns))


def names(groups: Groups) -> list[tuple[str, int, float]]:
    return [(one.name, one.sample.count, one.sample.mean) for one in groups.items]


def published_means(table: str) -> list[list[str]]:
    path = ROOT / "tools/experiments/published/actuators-means.csv"
    with open(path, encoding="utf-8", newline="") as file:
        return [row for row in csv.reader(file) if row[-1] == table]


def p_bounds(row: list[str], count: str) -> list[float]:
    """Return the least and the largest p of two means that were rounded, with their deviations."""
    mean, deviation, other, other_deviation = map(float, row[3:7])
    toward = math.copysign(1, other - mean)
    found = []
    for off in (-0.05, 0.05):
        near = toward * off
        groups = (mean + near, deviation + off), (other - near, other_deviation + off)
        words = [f"{of[0]},{of[1]},{count}" for of in groups]
        found.append(hypotheses.df_differences(parse(words))["p"][0])
    return found


@pytest.mark.parametrize(("table", "rows"), [("Table 1", 4), ("Table 5", 11), ("Table 6", 5)])
def test_published_p_values_follow_from_published_means(table: str, rows: int) -> None:
    """Their n is not published; with 70, 69 and 29, each p is one of the rounded figures."""
    means = published_means(table)
    assert len(means) == rows
    for row in means:
        low, high = p_bounds(row, row[7])
        if row[8].startswith("<"):
            assert high < float(row[8].removeprefix("< "))
        else:
            assert low - 0.0005 < float(row[8]) < high + 0.0005


def test_one_more_value_contradicts_a_published_p() -> None:
    row = published_means("Table 6")[3]
    assert row[8] == "0.003" and p_bounds(row, "30")[1] < 0.0025


def test_anova_does_not_assume_equal_variances(file: Path) -> None:
    """ANOVA of equal variances has p = 0.00077 for these; R: oneway.test(watts ~ knob)."""
    anova = hypotheses_of(file, THREE).tests.frame.iloc[1]
    assert anova["p"] == pytest.approx(0.00588979341155212, rel=1e-10)
    assert anova["freedom_within"] == pytest.approx(4.14036559352229, rel=1e-10)


@pytest.mark.parametrize(
    "table",
    [
        'time;Knob;WATTS\n1;a;2.5\n2;"b; c";4\n3;a;3.5\n',
        "watts\ttime\tknob\n2.5\t0\ta\n4\t1\tb; c\n3.5\t2\ta",
        '\ufeffknob,watts\r\n# today\r\na,2.5\r\n\r\n"b; c",4\r\na,3.5\r\n',
        "knob|watts\na|2.5\nknob|watts\nb; c|4\na|3.5\n",
        'watts  knob\n2.5  a\n4  "b; c"\n  3.5  a\n',
        "knob|watts\na|2.5\n\ufeffwatts|knob\n4|b; c\n3.5|a\n",
    ],
)
def test_any_separator_and_order_of_columns_is_read(file: Path, table: str) -> None:
    assert names(groups_of(file, table)) == [("a", 2, 3), ("b; c", 1, 4)]


def test_rows_without_a_value_or_group_are_counted(file: Path) -> None:
    groups = groups_of(file, "knob,watts\na,1\na,\na,NA\n,5\nb,nan\na,3\n")
    assert names(groups) == [("a", 2, 2)] and groups.skipped == 4


def test_values_without_a_group_column_are_one_group(file: Path) -> None:
    groups = groups_of(file, "watts\n1\n2\n4\n", group="")
    assert groups.items[0].name == "watts"
    assert hypotheses.df_groups(groups)["p"][0] == pytest.approx(0.636886845, abs=1e-9)


def test_mean_of_each_run_is_one_value(file: Path) -> None:
    """Run 1 of one group and run 1 of the other are two runs."""
    table = (
        "second,run,knob,watts\n1,1,a,100\n2,1,a,104\n1,2,a,110\n1,1,b,200\n3,1,a,108\n"
        "2,2,a,112\n2,1,b,220\n1,2,b,230\n2,2,b,250\n3,,b,9\n"
    )
    groups = groups_of(file, table, group="knob", run="run")
    assert names(groups) == [("a", 2, 107.5), ("b", 2, 225)] and groups.skipped == 1


def test_names_that_are_not_utf_8_are_different(file: Path) -> None:
    groups = groups_of(file, b'knob,watts\n\xc3,1\n"\x80""",2\n\xc3,3\n')
    assert names(groups) == [("\udcc3", 2, 2), ('\udc80"', 1, 2)]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("knob,watts\na,1,2\n", ":2:6: the row has 3 fields"),
        ('knob,watts\n "a,1\n', ":2:2: the quote must be closed on the same line"),
        ('knob,watts\n"a"b,1\n', ":2:4: a closing quote must be followed by a separator"),
        ('knob watts\n"a"b 1\n', ":2:4: a closing quote must be followed by a separator"),
        ("# knob\n", " is empty"),
    ],
)
def test_invalid_files_are_refused(file: Path, table: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        groups_of(file, table)
    assert error.value.status == 125


def test_file_without_values_has_no_result(file: Path) -> None:
    with pytest.raises(UserError, match="there are no values to test"):
        hypotheses.test_groups(groups_of(file, "watts\n", group=""))


def test_large_common_offset_changes_no_result(file: Path) -> None:
    """The plain values would lose seven digits of W; means keep those that R has."""
    plain = "knob,watts\na,0.25\na,0.5\na,0.625\nb,0.5\nb,0.75\nb,0.625\nb,0.5\n"
    shifted = plain.replace(",0.", ",1000000000.")
    p = [hypotheses_of(file, table).tests.frame["p"].tolist() for table in (plain, shifted)]
    assert p[0] == pytest.approx(p[1], abs=1e-6)
    assert names(groups_of(file, shifted))[0][2] == pytest.approx(1e9 + 1.375 / 3, abs=1e-6)


@pytest.mark.parametrize("word", ["1,2,3,4", "1,,3", "1,inf,3", "1,2,1e18", "-1e200,2,3"])
def test_invalid_figures_are_refused(word: str) -> None:
    with pytest.raises(UserError, match=f"'{word}' is not "):
        parse([word])


def test_groups_have_names() -> None:
    assert [one.name for one in parse(["2=1,2,3", "x=y=-1.5e1,2,3"]).items] == ["2", "x=y"]
    for words, message in (
        (["x=1,2,3", "x=4,2,3"], "two groups are named 'x'"),
        (["1,2,3"] * 201, "too many groups (at most 200)"),
    ):
        with pytest.raises(UserError) as error:
            parse(words)
        assert str(error.value) == message


@pytest.mark.parametrize("path", sorted((ROOT / "tests/fuzz/corpus/grouped_values").iterdir()))
def test_corpus_is_read_or_refused(path: Path) -> None:
    for columns in ({}, {"group": "g", "run": "r"}):
        try:
            groups = read(str(path), "v", **columns)
        except UserError as error:
            assert "\n" not in str(error)
            continue
        assert all(one.name and one.values for one in groups.items)
        assert not any(math.isnan(value) for one in groups.items for value in one.values or [])
    try:
        assert len(parse([path.read_text(encoding="utf-8", errors="surrogateescape")]).items) == 1
    except UserError as error:
        assert "is not [NAME=]MEAN,SD,N" in str(error)


def test_table_is_read_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = io.TextIOWrapper(io.BytesIO(b"knob,watts\na,1\na,2\nb,3\nb,3\n"))
    monkeypatch.setattr("sys.stdin", words)
    columns = "--value", "watts", "--group", "knob"
    assert cli.main(["ssreport", "--test", "bartlett", "-", *columns, "-q"]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "ssreport: no result: all values of a group are equal\n")
