# SPDX-License-Identifier: Apache-2.0
"""
The topics of a report, a file for each question. A topic has

    TABLES             name -> Table, with the functions df_*(study) that return its rows

and, if it has something to say,

    question(study)    the question that it answers; '' if it is not asked of these records
    answer(study)      one sentence; '' if the records do not answer the question
    NEEDS              what must be valid for the answer: `throughput`, unless it is `load`
    findings(study)    yields other sentences: Finding
    figures(study)     yields Picture
    notes(study)       adds notes to records, before these are printed

A new topic is a new file of this folder: nothing else lists it, and it imports no other topic.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from ..tables import Table

# The order of tables, findings, sections and text; other topics follow.
ORDER = (
    "duet loadline study runs knobs requests published throughput comparison "
    "interference environments energy counters fleet verdicts"
).split()

# The topics that ask a question, the most specific first; other topics come before them.
ASKING = "fleet duet loadline comparison interference knobs requests throughput study runs".split()


def _sort(names: list[str], order: list[str]) -> tuple[list[str], list[str]]:
    known = [name for name in order if name in names]
    return known, sorted(name for name in names if name not in order)


@functools.cache
def by_name() -> dict[str, ModuleType]:
    """Return all topics in their order."""
    known, others = _sort([module.name for module in pkgutil.iter_modules(__path__)], ORDER)
    return {name: importlib.import_module(f".{name}", __name__) for name in (*known, *others)}


def modules() -> list[ModuleType]:
    return [*by_name().values()]


def asking() -> list[ModuleType]:
    """Return the topics that may ask a question; the report has the first question that is asked.
    """
    names = [name for name, topic in by_name().items() if hasattr(topic, "question")]
    known, others = _sort(names, ASKING)
    return [by_name()[name] for name in (*others, *known) if name not in ORDER or name in ASKING]


def tables() -> dict[str, Table]:
    return {name: table for topic in modules() for name, table in topic.TABLES.items()}


def each(function: str, *arguments: Any) -> Iterator[Any]:
    """Call the function of this name in each topic that has one, and yield its results."""
    for topic in modules():
        yield from getattr(topic, function, lambda *_: ())(*arguments) or ()
