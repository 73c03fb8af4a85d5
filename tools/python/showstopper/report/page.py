# SPDX-License-Identifier: Apache-2.0
"""
A report for people: a self-contained page of HTML without scripts, which follows the reader's color
scheme, and text for the terminal.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jinja2
from markupsafe import Markup, escape

from .. import __version__
from ..study import Study
from ..text import page_text, wrap
from . import figures, summary, topics
from .findings import Finding
from .tables import Sheet

ROWS_OPEN_MAX = 24  # tables with more rows are folded
GROUPS_OPEN_MAX = 8  # pictures of more runs are folded
SENTENCES_MAX = 12  # findings about single pairs on the terminal
CONTENTS = range(4, 25)  # a page with this many sections has a table of contents


@dataclass(frozen=True)
class Drawn:
    """A picture that is ready for the page. A Figure has a megabyte, so it is not kept."""

    caption: str
    svg: Markup
    how: str = ""


Part = Any  # a paragraph, a list of sentences or of pictures, a Sheet, or a Section


@dataclass(frozen=True)
class Section:
    """Parts under a heading, which a reader may have to unfold."""

    heading: str
    parts: Sequence[Any]
    fold: bool = False

    @property
    def anchor(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.heading.lower()).strip("-")


@dataclass(frozen=True)
class Page:
    """A page: its heading, which may be a question, the answer, and sections that support it."""

    heading: str
    sections: Sequence[Section]
    answer: str = ""
    below: str = ""  # a small sentence below the answer
    notes: Sequence[tuple[str, str]] = ()  # a subject, which may be '', and what is wrong with it
    files: Sequence[str] = ()  # files next to the page
    program: str = ""


# A study


def of_study(study: Study, files: Sequence[str] = ()) -> Page:
    """Return the page of a study; `files` are next to it."""
    headline = study.once(summary.headline)
    sections = [*_findings_section(study)]
    for name, topic in topics.by_name().items():
        parts = [*_parts(study, topic, headline)]
        if parts:
            sections.append(Section(name.capitalize(), parts))
    kinds: dict[tuple[str, str], Any] = {
        ("run", "runs"): study.records,
        ("record of requests", "records of requests"): study.requests,
        ("fleet", "fleets"): study.fleets,
    }
    counts = [f"{len(of)} {name[len(of) > 1]}" for name, of in kinds.items() if of]
    reported = f"Reported: {', '.join(counts) or 'nothing'}."
    notes = [(failure.name, failure.why) for failure in study.failures]
    named: list[Any] = [*study.records, *study.requests]
    notes += [(one.title, one.note) for one in named if one.notes]
    notes += [("", note) for note in study.notes]
    heading, program = headline.question or "Report", f"ssreport {__version__}"
    return Page(heading, sections, headline.answer, reported, notes, files, program)


def _parts(study: Study, topic: Any, headline: summary.Headline) -> Iterator[Part]:
    """Yield the answer of a topic, its pictures and its tables."""
    if hasattr(topic, "question") and (question := topic.question(study)):
        if question != headline.question and (answer := topic.answer(study)):
            yield answer
    groups = [
        Section(group, [[*map(draw, pictures)]])
        for group, pictures in itertools.groupby(_pictures(study, topic), lambda one: one.group)
    ]
    if groups and not groups[0].heading:
        yield from groups.pop(0).parts
    if len(groups) > GROUPS_OPEN_MAX:
        groups = [Section(f"Individual pictures: {len(groups)}", groups, fold=True)]
    yield from groups
    for name, table in topic.TABLES.items():
        sheet = table.sheet(name, study)
        if len(sheet):
            yield folded(sheet)


def _pictures(study: Study, topic: Any) -> Iterator[figures.Picture]:
    pictures: Iterator[figures.Picture] = getattr(topic, "figures", lambda _: iter(()))(study)
    return pictures


def folded(sheet: Sheet) -> Part:
    """Return a table, which the reader has to unfold if it is long."""
    if len(sheet) <= ROWS_OPEN_MAX:
        return sheet
    return Section(f"{sheet.table.title}: {len(sheet)} rows", [sheet], fold=True)


def draw(picture: figures.Picture) -> Drawn:
    name = escape(page_text(picture.caption))  # for readers who cannot see the picture
    head = f'<svg role="img" aria-label="{name}" '
    svg = str(figures.svg(picture.figure)).replace("<svg ", head, 1)
    return Drawn(picture.caption, Markup(svg), picture.how)


def _findings_section(study: Study) -> Iterator[Section]:
    shown = summary.listed(study)
    special = [finding.sentence for finding in shown if not finding.is_general]
    parts: list[Part] = [[finding.sentence for finding in shown if finding.is_general]]
    if special:
        count = f"{len(special)} finding{'' if len(special) == 1 else 's'}"
        parts.append(Section(f"Individual pairs: {count}", [special], fold=True))
    if _has_intervals(shown):
        parts.append(_explain_intervals(study))
    if shown:
        yield Section("Findings", parts)


def _has_intervals(shown: Sequence[Finding]) -> bool:
    return any(math.isfinite(finding.low_percent) for finding in shown)


def _explain_intervals(study: Study) -> str:
    return (
        f"In brackets: the {100 * study.settings.confidence:g} % confidence interval of each "
        "statement. Unless runs or rounds are counted, it reflects the scatter between steps, not "
        "between runs."
    )


# HTML

def _sentence(text: str) -> str:
    """Return a text with the minus of tables, and without a line break before a percent sign."""
    return re.sub(r"(?<![^ (])-(?=[\d.])", "\u2212", text).replace(" %", "\u00a0%")


def _clean(value: Any) -> Any:
    is_text = isinstance(value, str) and not isinstance(value, Markup)
    return page_text(value) if is_text else value


def _is_pictures(part: object) -> bool:
    return isinstance(part, list) and bool(part) and isinstance(part[0], Drawn)


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("showstopper", "report"),
        autoescape=True,
        finalize=_clean,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["sentence"] = _sentence
    environment.tests["pictures"] = _is_pictures
    environment.tests["list"] = lambda part: isinstance(part, list)
    environment.tests["sheet"] = lambda part: isinstance(part, Sheet)
    return environment.get_template("page.html.j2")


def render(page: Page) -> str:
    """Return a page as a document of HTML."""
    contents = page.sections if len(page.sections) in CONTENTS else []
    colors = [[(n, pair[dark]) for n, pair in figures.PALETTE.items()] for dark in (0, 1)]
    return _template().render(page=page, contents=contents, colors=colors)


# Text


def text(study: Study) -> str:
    """Return the report for the terminal."""
    headline = study.once(summary.headline)
    head = [wrap(line) for line in (headline.question, headline.answer) if line]
    lines = "".join(f"{line}\n" for line in head) + ("\n" if head else "")
    shown = summary.listed(study)
    special = [finding for finding in shown if not finding.is_general]
    named = [one for one in shown if one.is_general or one in special[:SENTENCES_MAX]]
    lines += "".join(f"- {wrap(one.sentence, 2)}\n" for one in named)
    if len(special) > SENTENCES_MAX:
        more = len(special) - SENTENCES_MAX
        lines += f"and {more} more about single pairs: see findings.csv (--output)\n"
    if _has_intervals(shown):
        lines += f"({100 * study.settings.confidence:g} % confidence intervals in brackets)\n"
    tables = topics.tables().items()
    return lines + "".join(table.sheet(name, study).text() for name, table in tables)
