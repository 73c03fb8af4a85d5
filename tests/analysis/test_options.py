# SPDX-License-Identifier: Apache-2.0
"""Options, quantities and messages are those of the C programs."""

from pathlib import Path

import pytest
from showstopper import cli, options, units
from showstopper.options import Option, Values
from showstopper.text import UserError

READERS = {
    "time": lambda text: units.time(text)[0],
    "load": units.load,
    "count": units.count,
    "number": units.number,
    "percent": units.percent,
}


def test_quantities_agree_with_c() -> None:
    vectors = (Path(__file__).parents[1] / "data/units.tsv").read_text().splitlines()[1:]
    for kind, text, expected in (line.split("\t") for line in vectors):
        try:
            value = repr(READERS[kind](text))
        except UserError as error:
            value = f"error: {error}"
        assert value == expected, (kind, text)


MILLISECONDS = "--edge: 50m is 50 milliseconds; for minutes write 50M"
NO_RECORD = "no record to report: none of the given folders holds one that can be read"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "name at least one record: see --help"),
        ("--outptu x", "unknown option '--outptu': did you mean '--output'?"),
        ("--xyzzy", "unknown option '--xyzzy': see --help"),
        ("--TABL x", "unknown option '--TABL': did you mean '--table'?"),
        ("-qx", "unknown option '-x': see --help"),
        ("--names", "--names requires a value: use --names A/B"),
        ("-qo", "--output requires a value: use --output DIR"),
        ("--output=", "--output is empty: use --output DIR"),
        ("--quiet=1", "--quiet takes no value, but got '1'"),
        ("--format xml", "--format: 'xml' is not one of: csv md json"),
        ("--interval 1m", "--interval: '1m' is too small: use at least 10m; "
         "1m is 1 millisecond; for minutes write 1M"),
        ("--confidence 100", "--confidence: '100' is too large: use at most 99.99%"),
        ("--against --against", "--against: is given twice"),
        ("--against A", "--against must separate two sets: ssreport A... --against B..."),
        ("--names A/ --against", '--names: "A/" is not a pair of names: use A/B'),
        ("--names A/B C", "--names requires --against"),
        ("--format md A", "--format requires --table"),
        ("--column x A", "--column requires --table"),
        ("--column x --table runs --format md A", "--format cannot be combined with --column"),
        ("--check --decide A", "--decide cannot be combined with --check"),
        ("--check -oX A", "--output cannot be combined with --check"),
        ("--decide --edge 1s A", "--edge cannot be combined with --decide"),
        ("--decide --interval 6s --table duet A", "--table cannot be combined with --decide"),
        ("--best-by energy A", "--best-by requires --policy"),
        ("--of A", "--of requires --test"),
        ("--test welch --check A", "--check cannot be combined with --test"),
        ("--test welch A", "--test needs the column of the values: --value COLUMN"),
        ("--test shapiro --of 1,2,3", "--test shapiro needs values: name a file instead of --of"),
        ("--test welch --of 1,2,3", "--of needs at least two groups"),
        ("--table nothing A", '--table: there is no table "nothing": choose one of findings, '),
        ("-- --check", f"--check: the record cannot be read: No such file or directory\n{NO_RECORD}"),
        ("--edge 50m A", f"warning: {MILLISECONDS}\nA: the record cannot be read: No such file or "
         f"directory\n{NO_RECORD}"),
    ],
)
def test_errors_are_one_line(
    words: str, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["ssreport", *words.split()]) == 125
    out, err = capsys.readouterr()
    expected = "".join(f"ssreport: {line}\n" for line in message.split("\n"))
    assert out == ""
    assert err.startswith(expected[:-1] if message.endswith(" ") else expected)
    assert err.count("\n") == expected.count("\n")


ROWS = (
    Option("output", "where to", "DIR", letter="o"),
    Option("quiet", "print nothing", letter="q"),
    Option("time", "how long", "TIME", "time", default="2s"),
    Option("count", "how many", "N", "count", max="9"),
    Option("a-long-name", "58 %", "AND-A-VALUE", heading="\nMore:"),
)


@pytest.mark.parametrize(
    ("argv", "words", "given"),
    [
        ([], [], {"output": "", "quiet": False, "time": 2.0, "count": None}),
        (["-qoDIR", "a"], ["a"], {"output": "DIR", "quiet": True}),
        (["-o", "-q", "-"], ["-"], {"output": "-q", "quiet": False}),
        (["--time=3m", "--count", "007"], [], {"time": 0.003, "count": 7}),
        (["a", "--", "-q", "--", "--time"], ["a", "-q", "--", "--time"], {"quiet": False}),
    ],
)
def test_options_are_joined_or_separate(
    argv: list[str], words: list[str], given: dict[str, object]
) -> None:
    values = options.parse(ROWS, argv)
    assert values.words == words
    assert vars(values) | given == vars(values)


def test_count_names_the_limit_of_its_row() -> None:
    with pytest.raises(UserError, match="'1{30}' is too large: use at most 9$"):
        options.parse(ROWS, ["--count", "1" * 30])


def test_help_fits_a_terminal() -> None:
    assert options.describe(ROWS) == """\
  -o, --output DIR            where to
  -q, --quiet                 print nothing
      --time TIME             how long; default 2s
      --count N               how many

More:
      --a-long-name AND-A-VALUE
                              58 %
"""


@pytest.mark.parametrize(
    ("word", "name"),
    [("tabel", "table"), ("TABLE", "table"), ("tab", "table"), ("ta", ""), ("nothing", "")],
)
def test_close_names_are_suggested(word: str, name: str) -> None:
    error = options.unknown("option", f"--{word}", ["output", "table", "format"], "see --help")
    more = f"did you mean '--{name}'?" if name else "see --help"
    assert str(error) == f"unknown option '--{word}': {more}"
