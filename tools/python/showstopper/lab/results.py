# SPDX-License-Identifier: Apache-2.0
"""The results of a study: its report and tables, which ssreport makes."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from ..contents import open_file
from ..outputs import OutputError, write_file
from ..text import UserError, reason, say, tell
from .carry import FAILED, fail_incomplete
from .plan import number
from .study import Study


def report(
    study: Study, tables: Mapping[str, str], explained: Sequence[str] = (),
    is_complete: bool = True, deviation: float | None = None, answers: str = "",
) -> None:  # fmt: skip
    """
    Write the report and these tables, each as its file and in report.md, and print them.

    The lines of `explained` come first; those of the column `answer` of the table `answers` replace
    them and the summary. ssreport is a process of its own, so that pandas is loaded only now.
    """
    if shutil.which("ssreport"):
        limit = [] if deviation is None else ["--deviation", f"{number(deviation)}%"]
        _write_page(study, [*limit, *["--quiet"] * bool(answers)])
        for table, file in tables.items():
            write(study, file, read_table(study, table))
        lines = read_column(study, answers, "answer") if answers else explained
        text = "".join(f"{line}\n" for line in lines)
        for table in tables:
            shown = _markdown(study, table, limit)
            text += f"\n{shown}" if text and shown else shown
        say(text)
        write(study, "report.md", text)
    else:
        tell("No tables are written, because ssreport is not installed")
    tell(f"Results: {study.output}")
    if not is_complete:
        fail_incomplete(str(study.output))


def _write_page(study: Study, settings: Sequence[str]) -> None:
    call = ["ssreport", "--output", f"{study.output}/report", *settings, str(study.output)]
    if subprocess.run(call).returncode > 1:
        raise UserError("ssreport wrote no report", FAILED)


def read_table(study: Study, name: str) -> str:
    """Return a table of the report as CSV; '' if it has no rows."""
    path = f"{study.output}/report/{name}.csv"
    if not os.path.lexists(path):
        return ""
    try:
        with open_file(path) as stream:
            # It may be another user's hard link to a file of ours.
            if os.fstat(stream.fileno()).st_nlink > 1:
                raise UserError(f"{path} has another name (a hard link): remove it", FAILED)
            return os.fsdecode(stream.read())
    except OSError as error:
        raise UserError(f"{path}: {reason(error)}", FAILED) from None


def _markdown(study: Study, name: str, settings: Sequence[str]) -> str:
    """Return a table for people; '' if it has no rows. Warnings are in the report."""
    if not read_table(study, name):
        return ""
    call = ["ssreport", "--table", name, "--format", "md", *settings, str(study.output)]
    done = subprocess.run(call, capture_output=True)
    if done.returncode > 1:
        tell(os.fsdecode(done.stderr).rstrip("\n"))
        path = f"{study.output}/report.md"
        why = "for the reason above; repeat the call to try again"
        raise UserError(f"cannot write {path}, {why}", FAILED)
    return os.fsdecode(done.stdout)


def ask(table: str, *paths: object) -> list[dict[str, str]]:
    """Return the rows of a table of records or studies; none if there are no results."""
    call = ["ssreport", "--table", table, *map(str, paths)]
    done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [*csv.DictReader(io.StringIO(os.fsdecode(done.stdout)))]


def read_column(study: Study, table: str, name: str) -> list[str]:
    """Return the known values of a column of a table of the report."""
    rows = csv.DictReader(io.StringIO(read_table(study, table)))
    return [row[name] for row in rows if row.get(name)]


def require_throughput(study: Study, table: str, column: str) -> None:
    """Fail if the column, a throughput, is empty in the report."""
    if shutil.which("ssreport") and not read_column(study, table, column):
        why = "no iteration of any run could be timed, so there is no throughput"
        raise UserError(f"{why}: give the runs more time, or see --iteration", FAILED)


def write(study: Study, name: str, text: str) -> None:
    """Write a file of the study."""
    try:
        write_file(str(study.output / name), text)
    except OutputError as error:
        raise UserError(f"{error}; repeat the call to try again", FAILED) from None
