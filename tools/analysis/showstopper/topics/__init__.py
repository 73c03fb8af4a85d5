# SPDX-License-Identifier: Apache-2.0
"""The topics of a report, a module for each question.

A topic may define, each of which gets the report:

    TABLES                       tables, with the functions df_*() that make their rows
    notes(report)                adds notes to records
    findings(report)             yields sentences about the report
    answer(report)               returns a Headline if this topic answers a question
    text(report)                 returns lines for the terminal
    sections(report)             yields parts of the page, mostly sections
    run_parts(report, run)       yields parts of the section about a run
    details(report)              yields parts for the end of the page

A new topic is a new file of this folder: nothing else lists it. The manual page describes its tables
by their `about`. Lines of columns.tsv say what its columns mean, and how people see them.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any

from ..studies import Report
from ..tables import Sheet, Table

# The order of tables, findings, sections and text; other topics follow.
ORDER = (
    "findings duet loadline study runs requests published throughput comparison interference "
    "environments energy counters fleet verdicts"
).split()

# The topics that ask a question, the most specific first; other topics come before them.
ASKING = "fleet duet loadline comparison interference requests throughput study runs".split()


@functools.cache
def modules() -> list[ModuleType]:
    """Return all topics in their order."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    known = [name for name in ORDER if name in names]
    others = sorted(name for name in names if name not in ORDER)
    return [importlib.import_module(f".{name}", __name__) for name in (*known, *others)]


def asking() -> list[ModuleType]:
    by_name = {module.__name__.rpartition(".")[2]: module for module in modules()}
    others = [name for name in by_name if name not in ORDER]
    return [by_name[name] for name in (*others, *ASKING) if hasattr(by_name.get(name), "answer")]


def tables() -> list[Table]:
    return [table for module in modules() for table in getattr(module, "TABLES", ())]


class Topic:
    """
    A topic for a notebook: its tables, and the functions of its module for these records.

    `Study("study").topic("energy").df_energy()` calls `df_energy(report)` of the module. A picture
    of a table gets its rows: `duet.plot_blocks(duet.df_blocks())`.
    """

    def __init__(self, name: str, report: Report) -> None:
        self._module = importlib.import_module(f".{name}", __name__)
        self._report = report

    @property
    def tables(self) -> dict[str, Sheet]:
        return {table.name: self._report.table(table.name) for table in self._module.TABLES}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if not callable(found) or next(iter(inspect.signature(found).parameters), "") != "report":
            return found
        bound = functools.partial(found, self._report)
        return functools.update_wrapper(bound, found)  # its docstring is shown

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._module) if name.startswith(("df_", "plot_", "answer"))]
