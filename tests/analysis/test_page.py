# SPDX-License-Identifier: Apache-2.0
"""Pages and pictures."""
from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from showstopper import figures
from showstopper.page import (
    Bold,
    Code,
    Field,
    Fold,
    Matrix,
    Note,
    Page,
    Part,
    Picture,
    Rows,
    Section,
    Small,
    render,
)
from showstopper.tables import Column, Sheet, Table

EVIL = "<script>\"'&\udcff"
TABLE = Table("t", "Table", (Column("run", "run"), Column("n", "n")), lambda report: None)


def sheet_of(rows: int) -> Sheet:
    names = [f"r{row % 2}" for row in range(rows)]
    return Sheet(TABLE, pd.DataFrame({"run": names, "n": range(rows)}))


def body_of(*parts: Part) -> str:
    """Return the page of these parts, without what all pages have."""
    page = render(Page("Question?", parts))
    return page[page.index("</h1>") + 6 : page.index("<p><small></small>")].strip()


class Balanced(HTMLParser):
    """Checks that every element is closed, and collects identifiers."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def draw() -> figures.Markup:
    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_between(ax, "x", "load, %", 40, 90)
    figures.axis_from_zero(ax, "y", "throughput a$b$c")
    figures.mark(ax, [50, 60, np.nan, 80], [1, 2, 3, 4], ["a", EVIL, "c", "d"], ring=[0, 0, 0, 1])
    figures.line(ax, [40, 90], [0, 5], color=figures.ORANGE, label=EVIL)
    return figures.svg(fig)


def test_page_begins_with_question_and_answer() -> None:
    page = render(Page(
        "Is it slower?", [Section("A", ["one"])], answer="By 5 %.", below="2 runs reported.",
        notes=[Note("ended early", "run")], files=["a.csv", "b.csv"], program="ssreport 1",
    ))
    text = re.sub(r"<style>.*?</style>|<[^>]*>", "", page, flags=re.DOTALL)
    assert [line for line in text.splitlines() if line] == [
        "Is it slower?", "Is it slower?", "By 5\u00a0%.", "2 runs reported.", "run: ended early",
        "A", "one", "Tables next to this page: a.csv, b.csv", "ssreport 1",
    ]
    assert "<script" not in page


def test_page_with_many_sections_has_contents() -> None:
    sections = [Section(heading, []) for heading in ("Pairs & more", "a/b", "a-b", "\u00e9")]
    assert "<nav" not in render(Page("Q", sections[:3]))
    page = render(Page("Q", sections))
    links = re.findall('<a href="#([^"]*)"', page)
    assert links == Balanced(page).ids == ["pairs-more", "a-b", "a-b--2", "--1"]


def test_everything_is_escaped() -> None:
    parts: list[Part] = [
        EVIL, (EVIL, Code(EVIL), Bold(EVIL)), [EVIL], Small(EVIL),
        Note(EVIL, EVIL), Matrix(EVIL, [EVIL], [(EVIL, [Field(EVIL, EVIL)])]), Fold(EVIL, [EVIL]),
        Sheet(TABLE, pd.DataFrame({"run": [EVIL]})), Picture(draw(), EVIL, how=EVIL),
    ]
    page = render(Page(EVIL, [Section(EVIL, parts)], EVIL, EVIL, [Note(EVIL)], [EVIL], EVIL))
    assert "<script" not in page
    assert "\udcff" not in page
    assert page.count("&lt;script&gt;") > 20
    assert Balanced(page).open == []


def test_paragraphs() -> None:
    html = body_of(("method ", Code("a"), ", by 5 %"))
    assert html == "<p>method <code>a</code>, by 5\u00a0%</p>"
    assert body_of([Bold("x")]) == '<ul class="findings">\n<li><b>x</b></li>\n</ul>'


def test_long_tables_are_folded_and_empty_ones_left_out() -> None:
    assert body_of(sheet_of(24)).startswith('<div class="wide">')
    assert body_of(sheet_of(25)).startswith("<details><summary>Table: 25 rows</summary>")
    assert body_of(sheet_of(0)) == ""


def test_rows_of_a_run_have_no_first_column() -> None:
    html = body_of(Rows(sheet_of(4), "r1"))
    assert re.findall("<td[^>]*>([^<]*)", html) == ["1", "3"]


def test_pictures_and_their_tables_are_side_by_side() -> None:
    picture = Picture(draw(), "Load")
    html = body_of(picture, picture, Rows(sheet_of(2), "r1"), "then", picture, sheet_of(1))
    assert re.findall('class="plots"|<figure>|<table>|<p>', html) == [
        'class="plots"', "<figure>", "<figure>", "<table>", "<p>", 'class="plots"', "<figure>",
        "<table>",
    ]
    html = body_of(picture, sheet_of(25))
    assert html.index("</div>") < html.index("<details>")
    ids = Balanced(html).ids
    assert len(ids) == len(set(ids)) > 0
    assert set(re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', html))


def test_matrix_has_shaded_fields() -> None:
    fields = [Field("1.0"), Field("9.0", "8 to 10", color="#d55e00", share=0.5, outlier=True)]
    html = body_of(Matrix("Caption", ["x", "y"], [("a", fields)]))
    assert '<td>1.0</td><td class="far" style="background:#d55e004b">9.0<br/>' in html
    assert '<th scope="row">a</th>' in html


def test_sections_and_folds_nest() -> None:
    section = Section("A", [Section("B", ["x"]), Fold("C", ["y"], open=True)])
    assert re.findall("<(h[23]|details open|section)", body_of(section)) == [
        "section", "h2", "section", "h3", "details open",
    ]


def test_picture_is_the_same_each_time_and_has_no_date() -> None:
    assert draw() == draw()
    assert "202" not in re.sub(r"[\d.]*\d[\d.]*px|=\"[^\"]*\"", "", draw())


def test_picture_has_titles_variables_and_its_texts() -> None:
    root = ElementTree.fromstring(draw())
    space = "{http://www.w3.org/2000/svg}"
    assert [title.text for title in root.iter(space + "title")] == ["a", "<script>\"'&?", "d"]
    texts = [text.text for text in root.iter(space + "text")]
    assert {"load, % (axis begins at 40)", "throughput a$b$c", "<script>\"'&?", "90"} <= set(texts)
    assert "var(--orange)" in draw() and not re.search("#[0-9a-f]{6}[;\"]", draw())


def test_axes_have_lines_at_their_start_and_a_tick_at_each_number() -> None:
    fig = figures.figure(width=100, height=100)
    figures.axis_between(fig.axes[0], "x", "", 5, 7)
    figures.axis_between(fig.axes[0], "y", "", 5, 7)
    svg = figures.svg(fig)
    grid, lines = (re.findall("M([^L]*)L([^M]*)", path) for path in re.findall(' d="([^"]*)', svg))
    (origin, right), (same, top), *ticks = lines
    assert origin == same and right.split()[1] == origin.split()[1]
    assert top.split()[0] == origin.split()[0] == grid[0][0].split()[0]
    assert len(grid) == 3 and len(ticks) == len(re.findall("<text", svg)) == 6
    assert {end for _, end in ticks} > {origin, right, top}


def test_axes_include_zero() -> None:
    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_around_zero(ax, "x", "deviation")
    figures.axis_from_zero(ax, "y", "runs")
    figures.mark(ax, [5, 6], [7, 8], ["", ""])
    figures.svg(fig)
    assert ax.get_xlim() == pytest.approx((-0.3, 6.3))
    assert ax.get_ylim() == pytest.approx((0, 8.4))


def test_logarithmic_axis_has_round_numbers() -> None:
    fig = figures.figure()
    figures.axis_logarithmic(fig.axes[0], "x", "ratio", 0.5, 3)
    figures.axis_around_zero(fig.axes[0], "y", "deviation")
    texts = re.findall("<text[^>]*>([^<]*)", figures.svg(fig))
    assert {"1", "2", "1.5", "ratio (logarithmic)"} <= set(texts)
    fig = figures.figure()
    figures.axis_logarithmic(fig.axes[0], "x", "", 2e-3, 1e7)
    figures.axis_between(fig.axes[0], "y", "", 0, 1, numbers=False)
    texts = re.findall("<text[^>]*>([^<]*)", figures.svg(fig))
    assert texts in (["0.01", "1", "100", "10000", "1e6"], ["0.1", "10", "1000", "100000", "1e7"])


def test_axis_of_whole_numbers_has_no_fractions() -> None:
    fig = figures.figure()
    figures.axis_between(fig.axes[0], "x", "", -0.5, 0.5, numbers=False)
    figures.axis_between(fig.axes[0], "y", "instance", -0.5, 0.5, whole=True)
    assert re.findall("<text[^>]*>([^<]*)", figures.svg(fig)) == ["0", "instance"]


def test_matrix_places_lines_in_fields() -> None:
    fig = figures.matrix(["a", "b"], ["c", "d", "e"], [(0, 0), (1, 2)])
    x, y = figures.in_field(1, 2, [0, 1], [0, 1])
    assert (x.tolist(), y.tolist()) == ([2, 2.9], [-2, -1.1])
    svg = figures.svg(fig)
    assert re.findall("<text[^>]*>([^<]*)", svg) == ["a", "b", "c", "d", "e", "0", "100 %", "100 %"]


def test_heat_map_bars_and_boxes() -> None:
    fig = figures.figure(1, 3)
    figures.heat(fig.axes[0], [[1, np.nan], [0, 2]], (0, 2, 0, 2), "duty, %")
    figures.axis_names(fig.axes[1], "x", ["a", "b"])
    figures.bars(fig.axes[1], [0, 1], [3, np.nan], ["three", "none"], published=[2, 1])
    figures.boxes(fig.axes[2], [1], [[0, 1, 2, 3, 4]], ["median 2"])
    svg = figures.svg(fig)
    assert re.findall("<title>([^<]*)", svg) == ["three", "median 2"]
    assert svg.count("<image ") == 2  # fields and their scale
    assert {"duty, %", "0", "1", "2"} <= set(re.findall("<text[^>]*>([^<]*)", svg))


@pytest.mark.parametrize("module", ["figures", "page", "tables"])
def test_libraries_are_loaded_when_they_are_used(module: str) -> None:
    code = f"""if True:
        import sys, showstopper.{module}
        assert not {{"matplotlib", "jinja2", "pandas"}} & set(sys.modules)
    """
    subprocess.run([sys.executable, "-c", code], check=True)
