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
SKEWED = "watts knob\n1 a\n1.1 a\n1.2 a\n1.1 a\n1.3 a\n90 a\n5 b\n6 b\n7 b\n8 b\n9 b\n7.5 b\n"


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


def test_published_p_values_follow_from_published_means() -> None:
    """Their n is not published; with 69 and 29 all values of p in Tables 5 and 6 follow."""
    path = ROOT / "tools/experiments/published/actuators-means.csv"
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert len(rows) == 20
    for row in rows:
        one, other = (",".join([*row[i : i + 2], row[7]]) for i in (3, 5))
        p = hypotheses.df_differences(parse([one, other]))["p"][0]
        limit = float(row[8].removeprefix("< "))
        assert p < limit if row[8].startswith("<") else p == pytest.approx(limit, abs=0.008)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("welch", "Which means differ? Those of 2 of 3 pairs: Holm's p is below 0.05.\n"),
        ("anova", "Do the means differ? Yes: p = 0.00589.\n"),
        ("bartlett", "Do the variances differ? Not shown: p = 0.3985.\n"),
        (
            "shapiro",
            "Are the values normally distributed? Nothing contradicts it: no p is below 0.05.\n",
        ),
    ],
)
def test_text_begins_with_its_answer(file: Path, asked: str, answer: str) -> None:
    found = hypotheses_of(file, THREE).text(asked)
    assert found == answer + (
        "\n"
        "Groups, each tested for a normal distribution (Shapiro-Wilk)\n"
        "group                           n         mean   deviation        W  p (normal)\n"
        "low                             4        11.75        1.71   0.9714      0.8500\n"
        "high                            4        21.25        2.63   0.8869      0.3690\n"
        "most                            3        25.00        4.36   0.8421      0.2196\n"
        "\n"
        "Tests of all groups together\n"
        "test              of equal           statistic   freedom     within           p\n"
        "Bartlett          variances             1.8400      2.00          -      0.3985\n"
        "Welch's ANOVA     means                22.6562      2.00       4.14      0.0059\n"
        "\n"
        "Differences of means (Welch), each with its own interval of 95 % confidence\n"
        "group          other            difference      low     high         p  p (Holm)\n"
        "low            high                  -9.50   -13.50    -5.50    0.0016    0.0048\n"
        "low            most                 -13.25   -22.85    -3.65    0.0244    0.0487\n"
        "high           most                  -3.75   -12.64     5.14    0.2760    0.2760\n"
    )


def test_two_means_are_compared_in_words() -> None:
    two = hypotheses.test_groups(parse(["even=172.6,25.9,69", "178.9,28.0,69"]))
    assert two.answer("welch") == (
        "Do the means of even and 2 differ? Not shown: the difference is -6.3, "
        "from -15.4 to 2.8 with 95 % confidence; p = 0.1723.\n"
    )
    assert "All groups: requires values, not their mean and deviation\n" in two.text("welch")
    tiny = hypotheses.test_groups(parse(["1,1,100", "5,1,100"])).text("welch")
    assert "p = 1.805e-71." in tiny and " 1.8e-71\n" in tiny
    pairs = hypotheses.test_groups(parse(["a=1,1,9", "b=1,1,9", "c=1,1,9"]))
    never = "No pair is shown to differ: Holm's p is never below 0.05"
    assert pairs.answer("welch") == f"Which means differ? {never}.\n"


def test_anova_does_not_assume_equal_variances(file: Path) -> None:
    """ANOVA of equal variances has p = 0.00077 for these; R: oneway.test(watts ~ knob)."""
    anova = hypotheses_of(file, THREE).tests.frame.iloc[1]
    assert anova["p"] == pytest.approx(0.00588979341155212, rel=1e-10)
    assert anova["freedom_within"] == pytest.approx(4.14036559352229, rel=1e-10)


def test_kruskal_wallis_is_added_for_values_that_are_not_normal(file: Path) -> None:
    found = hypotheses_of(file, SKEWED)
    text = found.text("shapiro")
    answer = "Are the values normally distributed? No: p is below 0.05 in 1 of 2 groups.\n"
    assert text.startswith(answer) and "\na: not normally distributed\n" in text
    assert "\nKruskal-Wallis does not assume a normal distribution.\n" in text
    assert found.tests.frame["test"].tolist() == ["Bartlett", "Welch's ANOVA", "Kruskal-Wallis"]
    assert found.tests.frame["p"][2] == pytest.approx(0.0542411175597709, rel=1e-10)
    one = hypotheses_of(file, SKEWED.split("5 b")[0]).answer("shapiro")
    assert one == "Are the values normally distributed? No: p = 2.259e-05.\n"


def test_test_that_cannot_be_computed_gives_the_reason(file: Path) -> None:
    found = hypotheses_of(file, "knob,watts\na,1\na,2\nb,3\nb,3\n")
    equal = "all values of a group are equal"
    missing = [found.missing(asked) for asked in ("welch", "anova", "bartlett", "shapiro")]
    assert missing == ["", equal, equal, "fewer than 3 values"]
    text = found.text("anova")
    assert text.startswith(f"No result: {equal}.\n") and "\nBartlett" in text
    assert "\nAll groups: fewer than 3 values\n" in text
    one = hypotheses_of(file, "knob,watts\na,1\na,2\na,4\n")
    asked = ("welch", "anova", "bartlett")
    assert {one.missing(name) for name in asked} == {"there is only one group"}
    assert one.missing("shapiro") == "" and len(one.tests) == 0
    single = hypotheses_of(file, "knob,watts\na,1\nb,1\nb,2\n").text("welch")
    assert "\na, b: a group has fewer than two values\n" in single


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
        ("knob,watts\na,1\na,x\n", ":3:3: invalid number in column 'watts', in \"a,x\""),
        ("knob,watts\na,1\na,inf\n", ":3:3: invalid number in column 'watts', in \"a,inf\""),
        (
            "knob,watts\na,1\na\n",
            ':3:2: the row has 1 field, but 2 are expected (is the file truncated?), in "a"',
        ),
        ("knob,watts\na,1,2\n", ':2:6: the row has 3 fields, but 2 are expected, in "a,1,2"'),
        ("knob,power\na,1\n", ":1:1: no column 'watts', in \"knob,power\""),
        ("watts,power\n1,1\n", ":1:1: no column 'knob', in \"watts,power\""),
        (
            "watts,knob,watts\n1,a,1\n",
            ":1:1: column 'watts' appears twice, in \"watts,knob,watts\"",
        ),
        (
            'knob,watts\n "a,1\n',
            ':2:2: the quote must be closed on the same line, with "" for one inside, in " "a,1"',
        ),
        (
            'knob,watts\n"a"b,1\n',
            ':2:4: a closing quote must be followed by a separator, in ""a"b,1"',
        ),
        (
            'knob watts\n"a"b 1\n',
            ':2:4: a closing quote must be followed by a separator, in ""a"b 1"',
        ),
        ("", " is empty"),
        ("# knob\n", " is empty"),
    ],
)
def test_invalid_files_are_refused(file: Path, table: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        groups_of(file, table)
    assert str(error.value) == f"{file}{message}" and error.value.status == 125


def test_large_files_are_refused(file: Path) -> None:
    groups = "".join(f"1,{i}\n" for i in range(201))
    with pytest.raises(UserError, match=":202:3: the column 'knob' has more than 200 groups"):
        groups_of(file, "watts,knob\n" + groups)
    with pytest.raises(UserError, match="cannot be read: No such file or directory"):
        read(str(file.with_name("none")), "watts")
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        read(str(file.parent), "watts")
    with pytest.raises(UserError, match="there are no values to test"):
        hypotheses.test_groups(groups_of(file, "watts\n", group=""))


def test_large_common_offset_changes_no_result(file: Path) -> None:
    """The plain values would lose seven digits of W; means keep those that R has."""
    plain = "knob,watts\na,0.25\na,0.5\na,0.625\nb,0.5\nb,0.75\nb,0.625\nb,0.5\n"
    shifted = plain.replace(",0.", ",1000000000.")
    p = [hypotheses_of(file, table).tests.frame["p"].tolist() for table in (plain, shifted)]
    assert p[0] == pytest.approx(p[1], abs=1e-6)
    assert names(groups_of(file, shifted))[0][2] == pytest.approx(1e9 + 1.375 / 3, abs=1e-6)


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("1,2", "there are fewer than three numbers"),
        ("1,2,3,4", "there are more than three numbers"),
        ("1,x,3", "one of the numbers is invalid"),
        ("1,,3", "one of the numbers is invalid"),
        ("1,inf,3", "one of the numbers is invalid"),
        ("1,0,3", "the standard deviation must be positive"),
        ("1,-2,3", "the standard deviation must be positive"),
        ("1,2,1", "the number of values must be an integer from 2 to 1e15"),
        ("1,2,2.5", "the number of values must be an integer from 2 to 1e15"),
        ("1,2,1e18", "the number of values must be an integer from 2 to 1e15"),
        ("-1e200,2,3", "numbers beyond 1e150 cannot be compared"),
        ("1,1e200,3", "numbers beyond 1e150 cannot be compared"),
    ],
)
def test_invalid_figures_are_refused(word: str, why: str) -> None:
    with pytest.raises(UserError) as error:
        parse([word])
    assert str(error.value) == f"'{word}' is not [NAME=]MEAN,SD,N: {why}"


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


def run(*words: str) -> int:
    return cli.main(["ssreport", "--test", *words])


def test_program_prints_answers_tables_and_reasons(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(THREE + "most,\n")
    columns = str(file), "--value", "watts", "--group", "knob"
    assert run("welch", *columns) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Which means differ? Those of 2 of 3 pairs")
    assert err == "ssreport: skipped 1 row without a value, a group or a run\n"

    assert run("anova", *columns, "--table", "differences", "--column", "difference") == 0
    assert capsys.readouterr().out == "-9.5\n-13.25\n-3.75\n"
    assert run("anova", *columns, "--table", "no") == 125
    choices = "choose groups, tests or differences"
    assert f'--table: --test has no table "no": {choices}\n' in capsys.readouterr().err

    words = io.TextIOWrapper(io.BytesIO(b"knob,watts\na,1\na,2\nb,3\nb,3\n"))
    monkeypatch.setattr("sys.stdin", words)
    assert run("bartlett", "-", *columns[1:], "-q") == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "ssreport: no result: all values of a group are equal\n")
    assert run("anova", "--of", "1,2,3", "4,5") == 125
    assert capsys.readouterr().err.startswith("ssreport: --of: '4,5' is not [NAME=]MEAN,SD,N")
