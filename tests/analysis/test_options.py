# SPDX-License-Identifier: Apache-2.0
"""Options, quantities and messages are those of the C programs."""

from pathlib import Path

import pytest
from showstopper import cli, options, units
from showstopper.options import Option
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


# corpus/options has what else is refused.
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--TABL x", "unknown option '--TABL': did you mean '--table'?"),
        ("-qo", "--output requires a value: use --output DIR"),
        ("--quiet=1", "--quiet takes no value, but got '1'"),
        ("-- --check", "--check: the record cannot be read: No such file or directory"),
    ],
)
def test_invalid_options_are_refused(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["ssreport", *words.split()]) == 125
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"ssreport: {message}\n")


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
