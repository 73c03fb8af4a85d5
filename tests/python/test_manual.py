# SPDX-License-Identifier: Apache-2.0
"""The manual page describes every table and every column, and nothing else."""

from __future__ import annotations

import sys

import pytest
from conftest import PACKAGE
from showstopper import Study
from showstopper.report import summary
from showstopper.report.tables import glossary

sys.path.insert(0, str(PACKAGE))
import manual  # noqa: E402

GLOSSARY = manual.read_glossary()
TABLES = summary.tables()
COLUMNS = [(name, column) for name in TABLES for column in manual.names_of(name, TABLES[name])]


def test_every_column_is_described() -> None:
    assert [both for both in COLUMNS if not manual.find(GLOSSARY, *both)] == []


def test_every_line_of_the_glossary_is_a_column() -> None:
    used = {manual.find(GLOSSARY, *both) for both in COLUMNS}
    assert sorted(GLOSSARY.keys() - used) == []
    assert [*glossary()] == sorted(glossary())


def test_both_ends_of_an_interval_look_alike() -> None:
    columns = [sheet.columns for sheet in summary.sheets(Study()).values()]
    both = [pair for of in columns for pair in zip(of, of[1:]) if pair[1].heading == "to"]
    for low, high in both:
        assert (low.decimals, low.percent) == (high.decimals, high.percent), high.name
    assert len(both) > 15


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_a_paragraph(name: str) -> None:
    assert TABLES[name].about.endswith(".")


def test_page_contains_tables_and_columns() -> None:
    place = '.\\" tables\nwithout Python\n.\\" end\n'
    page = manual.write_page(f".SH TABLES\n{place}.SH COLUMNS\n{place}.SH NOTES\n")
    assert "without Python" not in page
    assert ".B fleet\\-nodes.csv\n" in page
    assert "\nwatt_hours|Wh|T{\nenergy\nT}\n" in page
    assert page.endswith(".TE\n.SH NOTES\n")
