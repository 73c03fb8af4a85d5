# SPDX-License-Identifier: Apache-2.0
"""Manual pages describe every table and every column, and ssreport's nothing else."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from showstopper import topics
from showstopper.tables import glossary

TOOLS = Path(__file__).parents[2] / "tools"
sys.path.insert(0, str(TOOLS / "analysis"))
import manual  # type: ignore[import]  # noqa: E402

GLOSSARY = manual.read_glossary()
TABLES = manual.read_tables()


def test_every_column_is_described() -> None:
    lacking = [
        f"{table.name}.{column}"
        for table, columns in TABLES
        for column in columns
        if not manual.find(GLOSSARY, table.name, column)
    ]
    assert lacking == [], "columns.tsv lacks these columns"


def test_every_line_of_the_glossary_is_a_column() -> None:
    used = {manual.find(GLOSSARY, table.name, name) for table, names in TABLES for name in names}
    assert sorted(GLOSSARY.keys() - used) == [], "columns.tsv has these lines for no column"


def test_every_heading_is_of_a_column() -> None:
    package = TOOLS / "analysis/showstopper"
    sources = (package / "findings.py", *package.glob("topics/*.py"))
    words = {word for path in sources for word in re.findall(r"[\w-]+", path.read_text("utf-8"))}
    shown = [name for name, row in glossary().items() if not row["meaning"]]
    unused = [name for name in shown if not words.issuperset(name.split("."))]
    assert unused == [], "columns.tsv has these lines for no column"


def test_both_ends_of_an_interval_look_alike() -> None:
    both = [
        (low, high)
        for table in topics.tables()
        if isinstance(table.columns, tuple)
        for low, high in zip(table.columns, table.columns[1:])
        if high.heading == "to"
    ]
    for low, high in both:
        assert (low.decimals, low.percent) == (high.decimals, high.percent), high.name
    assert len(both) > 15


def test_the_glossary_is_sorted() -> None:
    assert list(glossary()) == sorted(glossary())


def test_every_table_has_a_paragraph() -> None:
    short = [table.name for table, _ in TABLES if not table.about.endswith(".")]
    assert short == [], "these tables have no sentence in `about`"


def test_page_contains_tables_and_columns() -> None:
    place = '.\\" tables\nwithout Python\n.\\" end\n'
    page = manual.write_page(f".SH TABLES\n{place}.SH COLUMNS\n{place}.SH NOTES\n")
    assert "without Python" not in page
    assert ".B fleet\\-nodes.csv\n" in page
    assert "\nwatt_hours|Wh|T{\nenergy\nT}\n" in page
    assert page.endswith(".TE\n.SH NOTES\n")
