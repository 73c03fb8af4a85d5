# SPDX-License-Identifier: Apache-2.0
"""
Tests of groups of values, from columns of any table or from means and deviations: ssreport --test.

All tests are run, since the requested one assumes what others check: normal distributions and
equal variances.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from . import statistics, text
from .cli import complain, say
from .contents import read_file, read_stream
from .tables import Column, Sheet, Table
from .text import Field, InvalidLine, UserError, show, split_fields

NORMALITY = 0.05  # a p-value below this rejects a normal distribution
GROUPS_MAX = 200  # more are probably a mistake, such as a column of numbers instead of names
LARGEST = 1e150  # squares of larger numbers would overflow
NO_RESULT = 1
ONE_GROUP = "there is only one group"


@dataclass(frozen=True)
class Group:
    name: str
    sample: statistics.Sample
    values: Sequence[float] | None = None  # None if only the sample is known


@dataclass(frozen=True)
class Groups:
    items: Sequence[Group]
    skipped: int = 0  # rows without a value, a group or a run


# Reading of any table with a heading


def _guess_separator(heading: str) -> str:
    """Return the separator; characters that may be part of a number or a date come last."""
    unquoted = re.sub(r'"[^"]*("|$)', "", heading)
    return next((separator for separator in ";\t|," if separator in unquoted), " ")


def _find(found: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return the positions of the columns with these names; `found` is in lower case."""
    for name in names:
        if found.count(name.lower()) != 1:
            is_missing = name.lower() not in found
            why = f"no column '{name}'" if is_missing else f"column '{name}' appears twice"
            raise InvalidLine(why, 1)
    return [found.index(name.lower()) for name in names]


def _read_text(path: str) -> tuple[str, str]:
    """Return the name of a file and its text."""
    name = "standard input" if path == "-" else path
    try:
        is_input = path == "-"
        data = read_stream(sys.stdin.buffer) if is_input else read_file(path, is_named=True)
    except OSError as error:
        raise UserError(f"{show(name)} cannot be read: {text.reason(error)}") from None
    return name, text.unpack(data, name).decode("utf-8", "surrogateescape")


def _read_rows(path: str, names: Sequence[str], take: Callable[[list[Field]], None]) -> None:
    """Take the fields with these names of each row. Raise UserError if a line is invalid."""
    name, lines = _read_text(path)
    places: list[int] = []
    width, separator = 0, ""
    for number, line in enumerate(lines.split("\n"), 1):
        line = line.removesuffix("\r").removeprefix("\ufeff")
        if line.lstrip(" \t")[:1] in ("", "#"):
            continue
        try:
            separator = separator or _guess_separator(line)
            fields = split_fields(line, separator)
            # Joined files have several headings, possibly with another order of columns.
            found = [field.strip().lower() for field, _ in fields]
            if not places or {name.lower() for name in names} <= set(found):
                places, width = _find(found, names), len(fields)
                continue
            if len(fields) != width:
                count = f"the row has {len(fields)} field{'' if len(fields) == 1 else 's'}"
                hint = " (is the file truncated?)" if len(fields) < width else ""
                raise InvalidLine(f"{count}, but {width} are expected{hint}", len(line) + 1)
            take([fields[place] for place in places])
        except InvalidLine as error:
            message, column = error.args
            place = f"{show(name)}:{number}:{column}"
            raise UserError(f'{place}: {message}, in "{show(line)}"') from None
    if not places:
        raise UserError(f"{name} is empty")


def read(path: str, value: str, group: str = "", run: str = "") -> Groups:
    """
    Read groups from a file with a heading, with fields separated by commas, semicolons, tabs, bars
    or blanks. `path` "-" is standard input.

    Without the column `group`, all values are in one group, named like `value`. With the column
    `run`, the mean of each run in a group is a value. Rows without a value, a group or a run are
    counted; an invalid row is an error.
    """
    # By group and run. pandas takes all names that are not UTF-8 as one.
    kept: dict[str, dict[str, list[float]]] = {}
    skipped = 0

    def take(fields: list[Field]) -> None:
        nonlocal skipped
        found = text.number(fields[0][0])
        if found is None:
            raise InvalidLine(f"invalid number in column '{value}'", fields[0][1])
        of_group = fields[1][0].replace('""', '"') if group else value
        runs = kept.get(of_group, {})
        of_run = fields[-1][0] if run else str(len(runs))
        if math.isnan(found) or not of_group or not of_run:
            skipped += 1
            return
        runs.setdefault(of_run, []).append(found)
        kept[of_group] = runs
        if len(kept) > GROUPS_MAX:
            why = f"the column '{group}' has more than {GROUPS_MAX} groups"
            raise InvalidLine(why, fields[1][1])

    _read_rows(path, [name for name in (value, group, run) if name], take)
    items = []
    for name, runs in kept.items():
        values = [sum(one) / len(one) for one in runs.values()]
        items.append(Group(name, statistics.sample_of(values), values))
    return Groups(items, skipped)


def parse(words: Sequence[str]) -> Groups:
    """Return groups of "[NAME=]MEAN,SD,N". The default name is the number of the group."""
    items: list[Group] = []
    for number, word in enumerate(words, 1):
        name, equals, figures = word.rpartition("=")
        items.append(Group(name if equals else str(number), _parse_sample(word, figures)))
    names = [item.name for item in items]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UserError(f"two groups are named '{show(twice[0])}'")
    if len(items) > GROUPS_MAX:
        raise UserError(f"too many groups (at most {GROUPS_MAX})")
    return Groups(items)


def _parse_sample(word: str, figures: str) -> statistics.Sample:
    def refuse(why: str) -> UserError:
        return UserError(f"'{show(word)}' is not [NAME=]MEAN,SD,N: {why}")

    parts = figures.split(",")
    numbers = [text.number(part) for part in parts[:3]]
    if any(number is None or math.isnan(number) for number in numbers):
        raise refuse("one of the numbers is invalid")
    if len(parts) != 3:
        raise refuse(f"there are {'more' if len(parts) > 3 else 'fewer'} than three numbers")
    mean, deviation, count = (float(number or 0) for number in numbers)
    if not deviation > 0:
        raise refuse("the standard deviation must be positive")
    if abs(mean) > LARGEST or deviation > LARGEST:
        raise refuse("numbers beyond 1e150 cannot be compared")
    if not 2 <= count <= 1e15 or count != math.floor(count):
        raise refuse("the number of values must be an integer from 2 to 1e15")
    return statistics.Sample(int(count), mean, deviation * deviation)


# Tables


def tables(decimals: int) -> tuple[Table, Table, Table]:
    """Return the tables, in which columns with the unit of the values have these decimals."""

    def of_unit(name: str, heading: str, shown: str, width: int) -> Column:
        return Column(name, heading, decimals, text=(shown, width))

    note = Column("note", "note", if_known=True)
    groups = (
        Column("group", "group", text=("group", 24)),
        Column("n", "n", text=("n", 9)),
        of_unit("mean", "mean", "mean", 13),
        of_unit("deviation", "standard deviation", "deviation", 12),
        Column("w", "W", 4, if_known=True, text=("W", 9)),
        Column("p", "p (normal)", 4, if_known=True, text=("p (normal)", 12), small=True),
        note,
    )
    tests = (
        Column("test", "test", text=("test", 18)),
        Column("of", "of equal", text=("of equal", 15)),
        Column("statistic", "statistic", 4, text=("statistic", 13)),
        Column("freedom", "degrees of freedom", 2, text=("freedom", 10)),
        Column("freedom_within", "within groups", 2, if_known=True, text=("within", 11)),
        Column("p", "p", 4, text=("p", 12), small=True),
        note,
    )
    differences = (
        Column("group", "group", text=("group", 15)),
        Column("other", "other", text=("other", 15)),
        of_unit("difference", "group - other", "difference", 12),
        of_unit("low", "low", "low", 9),
        of_unit("high", "high", "high", 9),
        Column("t", "t", 3),
        Column("freedom", "degrees of freedom", 2),
        Column("p", "p", 4, text=("p", 10), small=True),
        Column("p_holm", "p (Holm)", 4, text=("p (Holm)", 10), small=True),
        note,
    )
    title = "Groups, each tested for a normal distribution (Shapiro-Wilk)"
    return (
        Table(
            "groups",
            title,
            groups,
            df_groups,
            about="With `--test`: a row for each group, and the test of Shapiro and Wilk.",
        ),
        Table(
            "tests",
            "Tests of all groups together",
            tests,
            df_tests,
            about="With `--test`: tests of all groups together.",
        ),
        Table(
            "differences",
            "Differences of means (Welch)",
            differences,
            df_differences,
            about="With `--test`: each difference of two means.",
        ),
    )


def df_groups(groups: Groups) -> pd.DataFrame:
    def row(group: Group) -> dict[str, Any]:
        test = statistics.shapiro_wilk(group.values or [])
        note = "not normally distributed" if test.p < NORMALITY else test.missing
        if group.values is None:
            note = "requires values, not their mean and deviation"
        sample = {"n": group.sample.count, "mean": group.sample.mean}
        deviation = math.sqrt(group.sample.variance)
        test_row = {"deviation": deviation, "w": test.statistic, "p": test.p, "note": note}
        return {"group": group.name} | sample | test_row

    return pd.DataFrame([row(group) for group in groups.items])


def kruskal_wallis(groups: Groups) -> statistics.Test:
    from scipy import stats  # takes a while

    test = stats.kruskal(*(group.values for group in groups.items))
    return statistics.Test(test.statistic, len(groups.items) - 1, test.pvalue)


def df_tests(groups: Groups) -> pd.DataFrame:
    """Return the tests of all groups; of ranks only if a group is not normally distributed."""
    if len(groups.items) < 2:
        return pd.DataFrame()
    samples = [group.sample for group in groups.items]
    tests = [
        ("Bartlett", "variances", statistics.bartlett(samples)),
        ("Welch's ANOVA", "means", statistics.welch_anova(samples)),
    ]
    if (df_groups(groups)["p"] < NORMALITY).any():
        tests.append(("Kruskal-Wallis", "distributions", kruskal_wallis(groups)))
    rows = [{"test": name, "of": of, **vars(test)} for name, of, test in tests]
    return pd.DataFrame(rows).rename(columns={"missing": "note"})


def df_differences(groups: Groups, confidence: float = 0.95) -> pd.DataFrame:
    frame = pd.DataFrame([{"name": item.name, **vars(item.sample)} for item in groups.items])
    one, other = (frame.iloc[list(side)] for side in np.triu_indices(len(frame), 1))
    first, second = (
        statistics.Sample(*(side[name].to_numpy() for name in ("count", "mean", "variance")))
        for side in (one, other)
    )
    test, difference = statistics.welch(first, second, confidence)
    columns = {
        "group": one["name"].to_numpy(),
        "other": other["name"].to_numpy(),
        "difference": difference.y,
        "low": difference.low,
        "high": difference.high,
        "t": test.statistic,
        "freedom": test.freedom,
        "p": test.p,
        "p_holm": statistics.holm(test.p),
        "note": test.missing,
    }
    return pd.DataFrame(columns)


# Answers


@dataclass(frozen=True)
class Hypotheses:
    """The tables of all tests."""

    groups: Sheet
    tests: Sheet
    differences: Sheet
    confidence: float

    @property
    def sheets(self) -> dict[str, Sheet]:
        return {sheet.table.name: sheet for sheet in (self.groups, self.tests, self.differences)}

    def _rows(self, asked: str) -> pd.DataFrame:
        """Return the rows of the requested test."""
        if asked in ("shapiro", "welch"):
            return (self.groups if asked == "shapiro" else self.differences).frame
        return self.tests.frame.iloc[:1] if asked == "bartlett" else self.tests.frame.iloc[1:2]

    def missing(self, asked: str) -> str:
        """Return why the requested test has no result; '' if it has one."""
        rows = self._rows(asked)
        if not len(rows):
            return ONE_GROUP
        return str(rows["note"].iloc[0]) if rows["p"].isna().all() else ""

    def text(self, asked: str) -> str:
        """Return the answer of the requested test, and all tables."""
        each = f", each with its own interval of {100 * self.confidence:g} % confidence"
        parts = [
            self.answer(asked),
            self.groups.text() + _notes(self.groups),
            self.tests.text() + _notes(self.tests),
            "Kruskal-Wallis does not assume a normal distribution.\n" * (len(self.tests) > 2),
            self.differences.text(self.differences.table.title + each) + _notes(self.differences),
        ]
        return "".join(parts)

    def answer(self, asked: str) -> str:
        """Return the answer of the requested test in a line."""
        why, rows = self.missing(asked), self._rows(asked)
        if why:
            return f"No result: {why}.\n"
        if asked == "shapiro":
            return f"Are the values normally distributed? {self._normality(rows['p'])}.\n"
        if asked == "welch" and len(rows) > 1:
            return f"Which means differ? {self._pairs(rows['p_holm'])}.\n"
        row = rows.iloc[0]
        shown, p = "Yes" if row["p"] < 1 - self.confidence else "Not shown", f"p = {row['p']:.4g}"
        if asked != "welch":
            return f"Do the {row['of']} differ? {shown}: {p}.\n"
        decimals = self.differences.table.columns[2].decimals
        difference, low, high = (f"{row[n]:.{decimals}f}" for n in ("difference", "low", "high"))
        return (
            f"Do the means of {show(row['group'])} and {show(row['other'])} differ? "
            f"{shown}: the difference is {difference}, from {low} to {high} "
            f"with {100 * self.confidence:g} % confidence; {p}.\n"
        )

    def _pairs(self, p: pd.Series) -> str:
        limit = 1 - self.confidence
        count = int((p < limit).sum())
        if not count:
            return f"No pair is shown to differ: Holm's p is never below {limit:g}"
        return f"Those of {count} of {len(p)} pairs: Holm's p is below {limit:g}"

    def _normality(self, p: pd.Series) -> str:
        count = int((p < NORMALITY).sum())
        if not count:
            return f"Nothing contradicts it: no p is below {NORMALITY:g}"
        if len(p) == 1:
            return f"No: p = {p.iloc[0]:.4g}"
        return f"No: p is below {NORMALITY:g} in {count} of {len(p)} groups"


def _notes(sheet: Sheet) -> str:
    """Return "NAME: note" for each row with a note, or the note once if all rows have the same."""
    if not len(sheet):
        return ""
    first, second = (column.name for column in sheet.table.columns[:2])
    rows = sheet.frame[sheet.frame["note"] != ""]
    if len(rows) == len(sheet) > 1 and rows["note"].nunique() == 1:
        return f"All groups: {rows['note'].iloc[0]}\n"
    names = rows[first].map(show)
    if second == "other":
        names += ", " + rows[second].map(show)
    return "".join(f"{name}: {note}\n" for name, note in zip(names, rows["note"], strict=True))


def _find_decimals(groups: Groups) -> int:
    """Return the decimals that show three digits of the smallest deviation."""
    variances = [item.sample.variance for item in groups.items if item.sample.variance > 0]
    if not variances:
        return 2
    return min(max(2 - math.floor(math.log10(math.sqrt(min(variances)))), 0), 12)


def test_groups(groups: Groups, confidence: float = 0.95) -> Hypotheses:
    """Run all tests."""
    if not groups.items:
        raise UserError("there are no values to test")
    of_groups, tests, differences = tables(_find_decimals(groups))
    return Hypotheses(
        Sheet(of_groups, df_groups(groups)),
        Sheet(tests, df_tests(groups)),
        Sheet(differences, df_differences(groups, confidence)),
        confidence,
    )


def main(request: Any) -> int:
    """Test the groups of a request of ssreport."""
    from .ssreport import print_sheet

    try:
        groups = parse(request.words) if request.of else None
    except UserError as error:
        raise UserError(f"--of: {error}") from None
    if groups is None:
        groups = read(request.words[0], request.value, request.group, request.run)
    if groups.skipped:
        rows = f"{groups.skipped} row{'' if groups.skipped == 1 else 's'}"
        complain("ssreport", f"skipped {rows} without a value, a group or a run")

    found = test_groups(groups, request.confidence)
    if request.table and request.table not in found.sheets:
        *most, last = found.sheets
        raise UserError(
            f'--table: --test has no table "{show(request.table)}": '
            f"choose {', '.join(most)} or {last}"
        )
    if request.table:
        print_sheet(found.sheets[request.table], request)
    elif not request.quiet:
        say(found.text(request.test))
    why = found.missing(request.test)
    if why:
        raise UserError(f"no result: {why}", NO_RESULT)
    return 0
