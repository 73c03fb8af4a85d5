# SPDX-License-Identifier: Apache-2.0
"""
A self-contained page of HTML without scripts, which follows the reader's color scheme.

A topic hands in sections of parts; the page decides how they look. A part is
- a paragraph: a text or a tuple of texts, of which some may be Code or Bold;
- a Small paragraph, or a Note: a warning;
- a list of texts: findings, or other items of a list;
- a Sheet, which is folded if it is long, or Rows of it;
- a Picture or a Matrix, of which several follow one another side by side;
- a Section with a smaller heading, or a Fold.

Every text is escaped; only a picture is markup.
"""
from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .tables import Sheet, View, page_text

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

ROWS_OPEN_MAX = 24  # tables with more rows are folded
SHADE_MAX = 150  # opacity of the background of a field, of 255: text must stay legible
CONTENTS = range(4, 25)  # numbers of sections with which a page has contents


class Code(str):
    """A text of a paragraph that is set as code."""


class Bold(str):
    """A text of a paragraph that is set in bold type."""


Text = str | tuple[str, ...]


@dataclass(frozen=True)
class Small:
    """A paragraph in small type."""

    text: Text


@dataclass(frozen=True)
class Note:
    """A warning; `name` is its subject."""

    text: Text
    name: str = ""


@dataclass(frozen=True)
class Rows:
    """The rows of a sheet whose first cell is `only`, without their first column."""

    sheet: Sheet
    only: str


@dataclass(frozen=True)
class Picture:
    """
    A picture of figures.svg().

    Rows of pictures fill the page. A picture with a width in pixels has that width if the page is
    wide enough, and scrolls below two thirds of it.
    """

    svg: Markup
    caption: str
    how: Text = ""  # an explanation below the caption
    width: int = 0


@dataclass(frozen=True)
class Field:
    """A field of a Matrix: a text, a smaller text below, and a share of a color."""

    text: str
    below: str = ""
    color: str = ""
    share: float = 0
    outlier: bool = False  # dashed

    @property
    def background(self) -> str:
        """Return the color, through which the page shines, because it may be light or dark."""
        return f"{self.color}{round(SHADE_MAX * self.share):02x}" if self.share else ""


@dataclass(frozen=True)
class Matrix:
    """A table of shaded fields, with a heading for each row and each column."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Field]]]

    @staticmethod
    def of(caption: str, fields: Mapping[tuple[str, str], Field]) -> Matrix:
        """Return fields by row and column; those that are missing have a dash."""
        rows, columns = (list(dict.fromkeys(names)) for names in zip(*fields))
        unknown = Field("\u2013")
        return Matrix(
            caption, columns, [(r, [fields.get((r, c), unknown) for c in columns]) for r in rows]
        )


@dataclass(frozen=True)
class Section:
    """Parts under a heading, which is smaller inside of another section."""

    heading: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Fold:
    """Parts that a reader unfolds."""

    summary: str
    parts: Sequence[Part]
    open: bool = False


Part = Text | Small | Note | list[str] | Sheet | Rows | Picture | Matrix | Section | Fold


@dataclass(frozen=True)
class Page:
    """A page: its heading, which may be a question, the answer, and what supports it."""

    heading: str
    parts: Sequence[Part]  # sections, and parts before and between them
    answer: str = ""
    below: str = ""  # a small sentence below the answer
    notes: Sequence[Note] = ()
    files: Sequence[str] = ()  # files next to the page
    program: str = ""  # name and version, at the end


def render(page: Page) -> str:
    """Return the document."""
    sections = [part for part in page.parts if isinstance(part, Section)]
    contents = sections if len(sections) in CONTENTS else []
    template = _environment().get_template("page.html.j2")
    return str(template.render(page=page, contents=contents, style=_Style(sections)))


def table_html(view: View) -> str:
    """Return a table as a part of a page."""
    macros: Any = _environment().get_template("page.html.j2").make_module({"page": None})
    return str(macros.table(view))


class _Style:
    """What the template asks for while it renders one page."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._pictures = itertools.count(1)
        self._anchors: dict[int, str] = {}
        same: Counter[str] = Counter()
        for section in sections:
            name = re.sub(r"[^a-z0-9]+", "-", section.heading.lower()).strip("-")
            same[name] += 1
            is_enough = name and same[name] == 1
            self._anchors[id(section)] = name if is_enough else f"{name}--{same[name]}"

    def anchor(self, section: Section) -> str:
        """Return the identifier of a section of the page; '' for a section of a section."""
        return self._anchors.get(id(section), "")

    @staticmethod
    def colors(dark: bool) -> Iterator[tuple[str, str]]:
        from .style import PALETTE

        return ((name, pair[dark]) for name, pair in PALETTE.items())

    def svg(self, picture: Picture) -> Markup:
        """Return a picture with its alternative text, and with identifiers of its own."""
        from markupsafe import Markup

        prefix = f"p{next(self._pictures)}-"
        svg = re.sub(
            "<[^>]*>",
            lambda tag: re.sub(r'( id="|href="#|url\(#)', rf"\1{prefix}", tag[0]),
            str(picture.svg),
        )
        head = Markup('<svg role="img" aria-label="{}"').format(page_text(picture.caption))
        return Markup(svg.replace("<svg", str(head), 1))


@functools.cache
def _environment() -> Environment:
    import jinja2
    from markupsafe import Markup

    def clean(value: Any) -> Any:
        is_text = isinstance(value, str) and not isinstance(value, Markup)
        return page_text(value) if is_text else value

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("showstopper", "."),
        autoescape=True,
        finalize=clean,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals["ROWS_OPEN_MAX"] = ROWS_OPEN_MAX
    environment.filters["groups"] = _groups
    environment.filters["sentence"] = _sentence
    environment.tests["kind"] = _is_kind
    return environment


def _sentence(text: str) -> str:
    """Return a text with the minus of tables, and without a line break before a percent sign."""
    return re.sub(r"(?<![^ (])-(?=[\d.])", "\u2212", text).replace(" %", "\u00a0%")


def _is_kind(part: object, name: str) -> bool:
    return type(part).__name__ == name


def _groups(parts: Iterable[Part]) -> Iterator[tuple[str, list[Part]]]:
    """
    Split parts into those that stand side by side: pictures with the tables that follow them, or
    matrices. All other parts stand alone.
    """
    group: list[Part] = []
    kind = ""
    for part in parts:
        is_table = isinstance(part, Rows) or (
            isinstance(part, Sheet) and len(part) <= ROWS_OPEN_MAX
        )
        if isinstance(part, Picture) or (is_table and kind == "plots"):
            next_kind = "plots"
        else:
            next_kind = "tables" if isinstance(part, Matrix) else ""
        if group and (next_kind != kind or not kind):
            yield kind, group
            group = []
        group.append(part)
        kind = next_kind
    if group:
        yield kind, group
