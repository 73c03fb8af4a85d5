# SPDX-License-Identifier: Apache-2.0
"""Usage: manual.py PAGE OUTPUT
Copies the manual page, and replaces the lines between each `.\\" tables` and `.\\" end`: first by
the tables of reports, from their definitions, then by their columns, from columns.tsv. A column
without a line there is described by the name without _low, _high, _a or _b. TABLE.NAME describes a
column that means something else in one table."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from showstopper.outputs import write_file  # noqa: E402
from showstopper.report.tables import Table, describe, glossary  # noqa: E402
from showstopper.report.summary import tables  # noqa: E402
from showstopper.study import Study  # noqa: E402

ENDS = re.compile("_(low|high|a|b)$")


def read_glossary() -> dict[str, tuple[str, str]]:
    """Return unit and meaning of each name, in the order of the file."""
    return {
        name: (row["unit"], row["meaning"]) for name, row in glossary().items() if row["meaning"]
    }


def names_of(name: str, table: Table) -> list[str]:
    """Return the names of a table's columns."""
    columns = table.columns
    known = describe(name, columns) if isinstance(columns, str) else columns(Study())
    return [column.name.strip("()") for column in known]


def find(glossary: dict[str, tuple[str, str]], table: str, column: str) -> str:
    """Return the key of a column in the glossary; '' if it is missing."""
    names = (f"{table}.{column}", column, f"{table}.{ENDS.sub('', column)}", ENDS.sub("", column))
    return next((name for name in names if name in glossary), "")


def roff(text: str) -> str:
    """Return text escaped for roff, with names between backquotes in bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("^", "\\(ha")
    text = re.sub("`([^`]*)`", r"\\fB\1\\fR", text)
    return re.sub("^([.'])", r"\\&\1", text)


def describe_table(name: str, table: Table) -> list[str]:
    # One sentence per line, as in the pages that are written by hand.
    about = re.sub(r"([a-z)`][.:]) (?=[A-Z])", r"\1\n", table.about)
    names = ", ".join(map(roff, names_of(name, table)))
    return [".TP", f".B {roff(name)}.csv", *map(roff, about.split("\n")), ".IP", f"Columns: {names}."]


def describe_columns(glossary: dict[str, tuple[str, str]]) -> list[str]:
    lines = [".TS", "tab(|);", "lw(27) lw(3) lw(31)."]
    for key, (unit, meaning) in sorted(glossary.items(), key=lambda row: row[0].split(".")[::-1]):
        table, _, name = key.rpartition(".")
        text = f"in {table}: {meaning}" if table else meaning
        lines += [f"{roff(name)}|{roff(unit)}|T{{", roff(text), "T}"]
    return [*lines, ".TE"]


def write_page(page: str) -> str:
    sections = [line for table in tables().items() for line in describe_table(*table)]
    columns = describe_columns(read_glossary())
    texts = iter(["\n".join(sections), "\n".join(columns)])
    written, count = re.subn(r'(?ms)^\.\\" tables\n.*?^\.\\" end$', lambda _: next(texts), page)
    assert count == 2, "the page has a place for tables, and one for columns"
    return written


if __name__ == "__main__":
    source, output = sys.argv[1:]
    write_file(output, write_page(Path(source).read_text("utf-8")))
