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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from . import statistics, text
from .tables import Column, Sheet, Table
from .text import Field, InvalidLine, UserError, show, split_fields

NORMALITY = 0.05  # a p-value below this rejects a normal distribution
GROUPS_MAX = 200  # more are probably a mistake, such as a column of numbers instead of names
NAME_MAX = 511  # bytes
LARGEST = 1e150  # squares of larger numbers would overflow
NO_RESULT = 1
ONE_GROUP = "there is only one group"


@dataclass(frozen=True)
class Group:
    name: str
    sample: statistics.Sample  # without the origin
    values: Sequence[float] | None = None  # without the origin; None if only the sample is known


@dataclass(frozen=True)
class Groups:
    items: Sequence[Group]
    origin: float  # subtracted from all values, so that sums keep more digits
    skipped: int = 0  # rows without a value, a group or a run


# Reading of any table with a heading. Texts are Latin-1, whose letters are the bytes of the file.

_MARK = "\xef\xbb\xbf"


def _decode(octets: str) -> str:
    return octets.encode("latin-1").decode("utf-8", "surrogateescape")


def _encode(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("latin-1")


def _lower(octets: str) -> bytes:
    """Return what is equal in all cases of ASCII."""
    return octets.encode("latin-1").lower()


def _guess_separator(heading: str) -> str:
    """Return the separator; characters that may be part of a number or a date come last."""
    unquoted = re.sub(r'"[^"]*("|$)', "", heading)
    return next((separator for separator in ";\t|," if separator in unquoted), " ")


def _find(fields: Sequence[Field], names: Sequence[str]) -> tuple[list[int], str]:
    """Return the positions of the columns with these names, and why it is no heading or ''."""
    found = [_lower(field.strip(" \t\r")) for field, _ in fields]
    wanted = [_lower(_encode(name)) for name in names]
    missing = [name for name, lower in zip(names, wanted, strict=True) if lower not in found]
    if missing:
        return [], f"no column '{missing[0]}'"
    again = [field for i, field in enumerate(found) if field in wanted and field in found[:i]]
    twice = [name for name in names if _lower(_encode(name)) in again[-1:]]
    why = f"column '{twice[-1]}' appears twice" if twice else ""
    return [found.index(name) for name in wanted], why


def _read_rows(
    name: str, data: bytes, names: Sequence[str], take: Callable[[list[Field]], None]
) -> None:
    """Take the fields with these names of each row. Raise UserError if a line is invalid."""
    picks: list[int] = []
    width, separator = 0, ""
    may_be_heading = re.compile(re.escape(_encode(names[0])), re.ASCII | re.IGNORECASE).search
    lines = data.decode("latin-1").removeprefix(_MARK).split("\n")
    for number, line in enumerate(lines[:-1] if lines[-1] == "" else lines, 1):
        line = line.removesuffix("\r")
        try:
            text_only, null, _ = line.partition("\0")
            if null:
                line = text_only
                raise InvalidLine("the file contains a null byte: it is not text", len(line) + 1)
            if len(line) > text.LINE_MAX:
                why = f"the line has more than {text.LINE_MAX} characters"
                raise InvalidLine(why, text.LINE_MAX)
            line = line.removeprefix(_MARK)
            if line.lstrip(" \t")[:1] in ("", "#"):
                continue

            separator = separator or _guess_separator(line)
            fields = split_fields(line, separator)
            # Joined files have several headings, possibly with another order of columns.
            if not picks or may_be_heading(line):
                places, why = _find(fields, names)
                if not why:
                    picks, width = places, len(fields)
                    continue
                if not picks:
                    raise InvalidLine(why, 1)
            if len(fields) != width:
                count = f"the row has {len(fields)} field{'' if len(fields) == 1 else 's'}"
                hint = " (is the file truncated?)" if len(fields) < width else ""
                raise InvalidLine(f"{count}, but {width} are expected{hint}", len(line) + 1)
            take([fields[pick] for pick in picks])
        except InvalidLine as error:
            message, column = error.args
            place = f"{show(name)}:{number}:{column}"
            raise UserError(f'{place}: {message}, in "{show(_decode(line))}"') from None
    if not picks:
        raise UserError(f"{name} is empty")


def _name(field: Field) -> str:
    """Return a name, whose quotes are doubled."""
    octets, column = field
    if len(octets) > NAME_MAX:
        raise InvalidLine(f"the name has {len(octets)} characters (at most {NAME_MAX})", column)
    return _decode(octets.replace('""', '"'))


def _read_bytes(path: str) -> tuple[str, bytes]:
    name = "standard input" if path == "-" else path
    try:
        if path == "-":
            return name, text.unpack(sys.stdin.buffer.read(), name)
        with open(path, "rb") as stream:
            return name, text.unpack(stream.read(), name)
    except IsADirectoryError as error:
        raise UserError(f"{show(name)} cannot be read: {text.reason(error)}") from None
    except OSError as error:
        is_missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
        advice = ": check the path" if is_missing else ""
        raise UserError(f"{show(name)} cannot be opened: {text.reason(error)}{advice}") from None


def read(path: str, value: str, group: str = "", run: str = "") -> Groups:
    """
    Read groups from a file with a heading, with fields separated by commas, semicolons, tabs, bars
    or blanks. `path` "-" is standard input.

    Without the column `group`, all values are in one group, named like `value`. With the column
    `run`, the mean of each run in a group is a value. Rows without a value, a group or a run are
    counted; an invalid row is an error.
    """
    # pandas takes all names that are not UTF-8 as one.
    kept: dict[str, dict[str, list[float]]] = {}
    origin = math.nan
    rows = skipped = 0

    def take(fields: list[Field]) -> None:
        nonlocal origin, rows, skipped
        found = text.number(fields[0][0])
        if found is None:
            raise InvalidLine(f"invalid number in column '{value}'", fields[0][1])
        in_group = _name(fields[1]) if group else value
        in_run = _name(fields[-1]) if run else str(rows)
        if math.isnan(found) or not in_group or not in_run:
            skipped += 1
            return
        if in_group not in kept and len(kept) == GROUPS_MAX:
            why = f"the column '{group}' has more than {GROUPS_MAX} groups"
            raise InvalidLine(why, fields[1][1])
        origin = found if not kept else origin
        kept.setdefault(in_group, {}).setdefault(in_run, []).append(found - origin)
        rows += 1

    _read_rows(*_read_bytes(path), [name for name in (value, group, run) if name], take)

    def group_of(name: str) -> Group:
        values = sorted(sum(one) / len(one) for one in kept[name].values())
        return Group(name, statistics.sample_of(values), values)

    return Groups([group_of(name) for name in kept], origin, skipped)


def parse(words: Sequence[str]) -> Groups:
    """Return groups of "[NAME=]MEAN,SD,N". The default name is the number of the group."""
    items: list[Group] = []
    for word in words:
        name, equals, figures = word.rpartition("=")
        sample = _parse_sample(word, figures)
        name = name if equals else str(len(items) + 1)
        if name in (item.name for item in items):
            raise UserError(f"two groups are named '{show(name)}'")
        if len(items) == GROUPS_MAX:
            raise UserError(f"too many groups (at most {GROUPS_MAX})")
        items.append(Group(name, sample))
    origin = items[0].sample.mean if items else math.nan
    moved = [
        replace(item, sample=replace(item.sample, mean=item.sample.mean - origin)) for item in items
    ]
    return Groups(moved, origin)


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
        test = statistics.shapiro_wilk([] if group.values is None else group.values)
        note = "not normally distributed" if test.p < NORMALITY else test.missing
        return {
            "group": group.name,
            "n": group.sample.count,
            "mean": groups.origin + group.sample.mean,
            "deviation": math.sqrt(group.sample.variance),
            "w": test.statistic,
            "p": test.p,
            "note": "requires values, not their mean and deviation"
            if group.values is None
            else note,
        }

    return pd.DataFrame([row(group) for group in groups.items])


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
        values = [group.values or [] for group in groups.items]
        tests.append(("Kruskal-Wallis", "distributions", statistics.kruskal_wallis(values)))
    rows = [
        {"test": name, "of": of, **vars(test), "note": test.missing} for name, of, test in tests
    ]
    return pd.DataFrame(rows)


def df_differences(groups: Groups, confidence: float = 0.95) -> pd.DataFrame:
    items = pd.DataFrame(
        [
            (one.name, one.sample.count, one.sample.mean, one.sample.variance)
            for one in groups.items
        ],
        columns=["name", "count", "mean", "variance"],
    )
    sides = [items.iloc[list(side)] for side in np.triu_indices(len(items), 1)]
    samples = [
        statistics.Sample(*(side[name].to_numpy() for name in items.columns[1:])) for side in sides
    ]
    test, difference = statistics.welch(samples[0], samples[1], confidence)
    return pd.DataFrame(
        {
            "group": sides[0]["name"].to_numpy(),
            "other": sides[1]["name"].to_numpy(),
            "difference": difference.y,
            "low": difference.low,
            "high": difference.high,
            "t": test.statistic,
            "freedom": test.freedom,
            "p": test.p,
            "p_holm": statistics.holm(test.p),
            "note": test.missing,
        }
    )


@dataclass(frozen=True)
class Hypotheses:
    """All tests of groups."""

    groups: Sheet
    tests: Sheet
    differences: Sheet
    confidence: float

    @property
    def sheets(self) -> dict[str, Sheet]:
        return {sheet.table.name: sheet for sheet in (self.groups, self.tests, self.differences)}

    def missing(self, asked: str) -> str:
        """Return why the requested test has no result; '' if it has one."""
        sheet = {"welch": self.differences, "shapiro": self.groups}.get(asked, self.tests)
        if not len(sheet):
            return ONE_GROUP
        rows = sheet.frame
        if sheet is self.tests:
            rows = rows[rows["test"] == ("Bartlett" if asked == "bartlett" else "Welch's ANOVA")]
        return str(rows["note"].iloc[0]) if rows["p"].isna().all() else ""

    def text(self, asked: str) -> str:
        """Return the answer of the requested test, and all tables."""
        has_other = (self.groups.frame["p"] < NORMALITY).any() and len(self.tests) > 2
        other = "Kruskal-Wallis does not assume a normal distribution.\n" if has_other else ""
        each = f", each with its own interval of {100 * self.confidence:g} % confidence"
        return (
            self.answer(asked)
            + self.groups.text()
            + _notes(self.groups)
            + self.tests.text()
            + _notes(self.tests)
            + other
            + self.differences.text(self.differences.table.title + each)
            + _notes(self.differences)
        )

    def answer(self, asked: str) -> str:
        """Return the answer of the requested test in a line."""
        why = self.missing(asked)
        if why:
            return f"No result: {why}.\n"
        if asked == "shapiro":
            return self._answer_normality()
        if asked == "welch":
            return self._answer_pair() if len(self.differences) == 1 else self._answer_pairs()
        test = self.tests.frame.iloc[0 if asked == "bartlett" else 1]
        return f"Do the {test['of']} differ? {self._is_shown(test['p'])}: p = {test['p']:.4g}.\n"

    def _is_shown(self, p: float) -> str:
        return "Yes" if p < 1 - self.confidence else "Not shown"

    def _answer_pair(self) -> str:
        row = self.differences.frame.iloc[0]
        decimals = self.differences.table.columns[2].decimals
        difference, low, high = (
            f"{row[name]:.{decimals}f}" for name in ("difference", "low", "high")
        )
        return (
            f"Do the means of {show(row['group'])} and {show(row['other'])} differ? "
            f"{self._is_shown(row['p'])}: the difference is {difference}, from {low} to {high} "
            f"with {100 * self.confidence:g} % confidence; p = {row['p']:.4g}.\n"
        )

    def _answer_pairs(self) -> str:
        limit = 1 - self.confidence
        count = int((self.differences.frame["p_holm"] < limit).sum())
        if not count:
            never = f"Holm's p is never below {limit:g}"
            return f"Which means differ? No pair is shown to differ: {never}.\n"
        pairs = f"Those of {count} of {len(self.differences)} pairs"
        return f"Which means differ? {pairs}: Holm's p is below {limit:g}.\n"

    def _answer_normality(self) -> str:
        p = self.groups.frame["p"]
        count = int((p < NORMALITY).sum())
        if not count:
            answer = f"Nothing contradicts it: no p is below {NORMALITY:g}"
        elif len(p) == 1:
            answer = f"No: p = {p.iloc[0]:.4g}"
        else:
            answer = f"No: p is below {NORMALITY:g} in {count} of {len(p)} groups"
        return f"Are the values normally distributed? {answer}.\n"


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
        print(f"ssreport: skipped {rows} without a value, a group or a run", file=sys.stderr)

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
        print(found.text(request.test), end="")
    why = found.missing(request.test)
    if why:
        raise UserError(f"no result: {why}", NO_RESULT)
    return 0
