# SPDX-License-Identifier: Apache-2.0
"""Pages and tables for people."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pandas as pd
from showstopper.report import figures, page, tables
from showstopper.report.page import Drawn, Page, Section, folded, render
from showstopper.report.tables import Column, Sheet, sheet_of

EVIL = "<script>\"'&\udcff\x9b"


def sheet(rows: int, name: str = "n") -> Sheet:
    frame = pd.DataFrame({"run": [EVIL] * rows, name: range(rows)})
    return sheet_of("t", EVIL, (Column("run", "run", terminal="run"), Column(name, name)), frame)


def draw() -> page.Markup:
    fig, ax = figures.new()
    figures.points(ax, [1, 2], [3, 4], ["a", EVIL], color=figures.BLUE, label=EVIL)
    figures.legend(ax)
    return figures.svg(fig)


class Balanced(HTMLParser):
    """Checks that every element is closed, and collects identifiers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_begins_with_question_and_answer() -> None:
    text = render(
        Page(
            "Is it slower?", [Section("A", ["one"])], "By 5 %.", "2 runs reported.",
            [("run", "ended early")], ["a.csv", "b.csv"], "ssreport 1",
        )
    )  # fmt: skip
    text = re.sub(r"<style>.*?</style>|<[^>]*>", "", text, flags=re.DOTALL)
    words = ["Is it slower?", "By 5\u00a0%.", "2 runs reported.", "ended early", "one", "b.csv"]
    places = [text.index(word) for word in words]
    assert places == sorted(places) and "ssreport 1" in text


def test_page_with_many_sections_has_contents() -> None:
    sections = [Section(heading, ["x"]) for heading in ("Pairs & more", "a/b", "c", "d")]
    assert "<nav" not in render(Page("Q", sections[:3]))
    text = render(Page("Q", sections))
    links = re.findall('<a href="#([^"]*)"', text)
    assert links[:2] == ["pairs-more", "a-b"] and {*links} <= {*Balanced(text).ids}


def test_everything_is_escaped_and_closed() -> None:
    parts: list[Any] = [EVIL, [EVIL], sheet(1), [Drawn(EVIL, draw(), EVIL)], folded(sheet(30))]
    sections = [Section(EVIL, [*parts, Section(EVIL, parts, fold=True)])]
    text = render(Page(EVIL, sections, EVIL, EVIL, [(EVIL, EVIL)], [EVIL], EVIL))
    assert "<script" not in text and "\udcff" not in text and "\x9b" not in text
    assert text.count("&lt;script&gt;") > 40
    assert Balanced(text).open == []


def test_long_table_is_folded() -> None:
    assert isinstance(folded(sheet(24)), Sheet)
    long = folded(sheet(25))
    assert long.fold and "25 rows" in long.heading


# Tables


def test_markdown_escapes_its_marks() -> None:
    columns = (Column("a|b"), Column("n"))
    found = sheet_of("t", "T", columns, pd.DataFrame({"a|b": ["x\n*y*"], "n": [1 / 3]}))
    assert found.markdown() == (
        "| a\\|b | n |\n| --- | ---: |\n| x \\*y\\* | 0.333333333333 |\n"
    )


def test_terminal_cuts_long_names_on_the_left() -> None:
    column = Column("record", "run", terminal="run")
    found = sheet_of("t", "T", (column,), pd.DataFrame({"record": [f"{'x' * 50}end", "short"]}))
    lines = found.text().splitlines()
    assert lines[-2].startswith("..x") and lines[-2].endswith("xend")
    assert len(lines[-2]) == tables.NAME_MAX


def test_long_table_ends_on_the_terminal() -> None:
    column = Column("n", "n", terminal="n")
    found = sheet_of("t", "T", (column,), pd.DataFrame({"n": range(tables.ROWS_MAX + 5)}))
    assert found.text().endswith("and 5 more rows: see t.csv (--output)\n")


def test_unknown_columns_are_hidden_and_rows_shaded() -> None:
    columns = (Column("a", "a"), Column("b", "b", if_known=True), Column("c"))
    frame = pd.DataFrame({"a": [1.0, -2.5], "b": None, "c": [1, 2], "verdict": ["valid", ""]})
    table = tables.Table("T", lambda _: columns, lambda _: frame, shade="c")
    view = Sheet("t", table, columns, frame).view()
    assert [heading for heading, _, _ in view.columns] == ["a"]
    assert view.columns[0][2] == ["1", "\u22122"] and len(view.shades) == 2
