# SPDX-License-Identifier: Apache-2.0
"""The program ssreport."""

from __future__ import annotations

import functools
import io
import os
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from .cli import Program, complain, say
from .contents import open_file
from .options import Option, Values
from .outputs import Folder, check_outputs, write_file
from .text import UserError, reason, show

if TYPE_CHECKING:
    from .checks import Judged
    from .studies import Report
    from .tables import Sheet

NO_RESULTS = 1  # exit status if nothing was measured, or if a table or column has no result
INVALID = 3  # exit status of --check if a record is invalid

# Options


def _begin_second_set(values: Values, value: str) -> None:
    if values.against is not None:
        raise UserError("is given twice")
    values.against = len(values.words)


def _take_check(values: Values, value: str) -> None:
    values.check = True
    values.check_at = len(values.words)


# An option counts as given if its value differs from its default.
ROWS = (
    Option(
        "output", "write report.html and the tables as CSV files to this folder",
        "DIR", letter="o",
    ),
    Option(
        "edge",
        "leave out this much at both ends of every step; default: a sixth of the step, at most 30s",
        "TIME", "time", sensible="100m",
    ),
    Option(
        "interval", "count iterations in intervals of this length",
        "TIME", "time", default="6s", min="10m", sensible="500m",
    ),
    Option(
        "confidence", "the confidence level of intervals and bands",
        "PART", "load", default="95%", min="50%", max="99.99%",
    ),
    Option(
        "deviation", "warn if the throughput of a replay differs by more than this",
        "PART", "load", default="5%",
    ),
    Option("published", "the folder with published figures; default: the installed one", "DIR"),
    Option(
        "against", "compare the records before this option with those after it",
        take=_begin_second_set,
    ),
    Option("names", "the names of the two sets; default: the names of their folders", "A/B"),
    Option(
        "predict",
        "predict the throughput over this trace from throughput at constant loads, and compare "
        "with replays of it",
        "TRACE",
    ),
    Option(
        "profile",
        "write the profile of one instance of a run with counters to this file, for sssim",
        "FILE",
    ),
    Option("perfetto", "write the records over time to this file, for ui.perfetto.dev", "FILE"),
    Option(
        "policy",
        "write to this file, for ssactuate follow, which placement of a pair is best for both "
        "sides at which loads",
        "FILE",
    ),
    Option(
        "pair", "the pair for --policy: FOREGROUND,BACKGROUND[,ENVIRONMENT]; default: the only one",
        "PAIR",
    ),
    Option(
        "best-by",
        "what makes a placement the best for --policy: the highest throughput, or the most work "
        "per watt-hour; default: throughput",
        "MEASURE", "choice", choices="throughput energy",
    ),
    Option("table", "print this table on standard output instead of the summary", "NAME"),
    Option(
        "format", "the format of that table; default: csv",
        "FORMAT", "choice", choices="csv md json",
    ),
    Option(
        "column",
        "print only this column of that table, one value per line, without unknown values",
        "NAME",
    ),
    Option(
        "check",
        "print a verdict on each record, one per line; exit with 3 if a record is invalid; "
        "`--check load` judges the load, `--check throughput` what was counted, otherwise both",
        take=_take_check, heading="\nVerdicts:",
    ),
    Option(
        "decide",
        "print the answer of a study of the experiment duet; exit with 2 if it needs more runs",
    ),
    Option(
        "leave-out", "leave out invalid records, or doubtful and invalid ones",
        "WHICH", "choice", choices="doubtful invalid",
    ),
    Option(
        "quiet", "print no summary or verdicts on standard output",
        letter="q", heading="\nOutput:",
    ),
    Option("help", "print this help", letter="h"),
    Option("version", "print the version"),
)

USAGE = """\
Usage: ssreport [OPTION]... RECORD...
       ssreport [OPTION]... RECORD... --against RECORD...
Reports records made by showstopper --record and ssrequest --record, files of
ssrequest --json, a study made by ssbatch, or an experiment: a folder with a
manifest.csv that names its records.
"""

EPILOGUE = """
The exit status is 0 if at least one reported record has results, 1 if none
has, or if the table of --table has no rows, and 125 on any error. With
--check, it is 3 if a record is invalid. With --decide, 2 means that more runs
are needed; if the study has a limit, 1 means that it is exceeded, and 3 that
the study ended undecided.
"""


# An option requires one of these, and cannot be combined with those.
_REQUIRED = {
    "format": "table check decide",
    "column": "table",
    "names": "against",
    **dict.fromkeys(("pair", "best-by"), "policy"),
}
_FILES = "output profile perfetto policy"
_REFUSED = {
    "column": "format",
    "check": f"decide table {_FILES}",
    "decide": f"table against edge interval confidence deviation published predict {_FILES}",
}
_DEFAULTS = {"interval": 6.0, "confidence": 0.95, "deviation": 0.05}


def _is_given(request: Values, option: str) -> bool:
    value = getattr(request, option.replace("-", "_"))
    is_given = value is not None and value is not False and value != ""
    return is_given and value != _DEFAULTS.get(option)


def _find_subject(request: Values) -> None:
    """Take the word after --check for its subject unless it is a record."""
    from .verdicts import SUBJECTS  # not for --help

    request.subject = ""
    after = request.words[request.check_at :][:1] if request.check else []
    if not after or after[0] not in SUBJECTS or os.path.exists(after[0]):
        return
    request.subject = request.words.pop(request.check_at)
    if request.against is not None and request.against > request.check_at:
        request.against -= 1


def check(request: Values) -> None:
    """Check which options are combined."""
    _find_subject(request)
    for option in filter(functools.partial(_is_given, request), (row.name for row in ROWS[:-2])):
        needed = _REQUIRED.get(option, "").split()
        if needed and not any(_is_given(request, other) for other in needed):
            raise UserError(f"--{option} requires --{needed[0]}")
        for other in _REFUSED.get(option, "").split():
            if _is_given(request, other):
                raise UserError(f"--{other} cannot be combined with --{option}")
    if request.decide and request.format not in ("", "md"):
        raise UserError("--decide prints text or, with --format md, Markdown: see --table duet")
    if request.names and not re.fullmatch("[^/]+/[^/]+", request.names):
        raise UserError(f'--names: "{show(request.names)}" is not a pair of names: use A/B')
    if request.against is not None and not 0 < request.against < len(request.words):
        raise UserError("--against must separate two sets: ssreport A... --against B...")
    if not request.words:
        raise UserError("name at least one record: see --help")


# Files that are read

_OF_RECORD = ("plan.json", "samples.csv", "requests.json", "run.json")
# Tables with the names of inputs, and how they begin; the columns of an input have any order
_TABLES = {"requests.csv": b"record,", "fleet.csv": b"fleet,"}
_INPUTS = (
    *_OF_RECORD,
    *_TABLES,
    *"summary.json platform.json events.jsonl decisions.csv decisions-before.csv".split(),
    *"cpus.csv iterations.csv iteration-times.csv counters.csv response-times.csv".split(),
    *"energy.csv idle.csv beside.csv host-load.csv guest-clock.csv guest-vcpus.csv".split(),
    *"manifest.csv .each.csv".split(),
)


def _begins(path: str, heading: bytes) -> bool:
    try:
        with open_file(path) as stream:
            return stream.read(len(heading)) == heading
    except OSError as error:
        raise UserError(f"{path}: {reason(error)}") from None


def _check_output(folder: str) -> None:
    """Fail if the folder is a record, a run of a study or a fleet, whose files tables replace."""
    paths = {name: os.path.join(folder, name) for name in (*_OF_RECORD, *_TABLES)}
    for name, path in paths.items():
        is_table = name in _TABLES and os.path.isfile(path) and _begins(path, _TABLES[name])
        if os.path.exists(path) and not is_table:
            raise UserError(f"--output: {folder} holds {name} of a record: choose another folder")


def _is_read(path: str, report: Report, request: Values) -> bool:
    """Return whether a file is one that the report reads: named, or an input in or by a record."""
    path = os.path.realpath(path)
    named = [*request.words, request.predict, *(run.record.folder for run in report.runs)]
    named += [responses.path for responses in report.responses]
    named += [failure.name for failure in report.failures]  # most are named by their path
    for fleet in report.fleets:
        named += [os.path.join(fleet.name, record) for record in fleet.nodes["record"]]
    paths = {os.path.realpath(one) for one in named if one}
    folders = {*paths, *map(os.path.dirname, paths)}
    folder = os.path.dirname(path)
    is_published = bool(request.published) and folder == os.path.realpath(request.published)
    is_input = is_published or (folder in folders and path.endswith(_INPUTS))
    return os.path.isfile(path) and (path in paths or is_input)


def _outputs(request: Values) -> list[tuple[str, str]]:
    """Return the options and paths of files to write, except those in the folder of tables."""
    return [(f"--{name}", getattr(request, name)) for name in ("profile", "perfetto", "policy")]


def _check_files(report: Report, request: Values) -> None:
    for option, path in _outputs(request):
        if path and _is_read(path, report, request):
            raise UserError(
                f"{option} would overwrite {show(path)}, which this report reads: choose another "
                "file"
            )
    check_outputs(_outputs(request))


# Files that are written


def _write_all(report: Report, request: Values) -> None:
    """Write the page and all tables. Remove what an earlier report left of those without rows."""
    from .page import render
    from .topics import tables

    folder = request.output
    _check_output(folder)
    with Folder(folder) as results:
        sheets = {f"{table.name}.csv": report.table(table.name) for table in tables()}
        paths = [("--output", f"{folder}/{name}") for name in (*sheets, "report.html")]
        check_outputs([*paths, *_outputs(request)])
        for name, sheet in sheets.items():
            results.write(name, sheet.csv() if len(sheet) else None)
        files = [name for name, sheet in sheets.items() if len(sheet)]
        results.write("report.html", render(report.page(files)))


def _write_profile(report: Report, path: str) -> None:
    from .memory_profile import lines

    if len(report.runs) != 1:
        raise UserError(
            f"--profile takes one record, but {len(report.runs)} are reported: name only the "
            "record to make the profile from"
        )
    write_file(path, "".join(f"{line}\n" for line in lines(report.runs[0].record)))


def _write_timeline(report: Report, path: str) -> None:
    from . import timeline

    stream = io.StringIO()
    left_out = timeline.write(stream, report)
    if left_out:
        events = f"{left_out} event{'' if left_out == 1 else 's'}"
        complain("ssreport", f"--perfetto: left out {events} at impossible times")
    write_file(path, stream.getvalue())


def _write_policy(report: Report, request: Values) -> None:
    from .topics.interference import policy

    write_file(request.policy, policy(report, request.pair, request.best_by == "energy"))


# What is printed


def _check_table(name: str) -> None:
    """Check the name before any record is read."""
    from .topics import tables

    names = [table.name for table in tables()]
    if name not in names:
        listed = ", ".join(names)
        raise UserError(f'--table: there is no table "{show(name)}": choose one of {listed}')


def _print_sheet(sheet: Sheet, request: Values) -> None:
    """Print a table, or one of its columns, for scripts. Fail if the table has no rows."""
    if not len(sheet):
        raise UserError(f"table {sheet.table.name} has no rows", NO_RESULTS)
    if not request.column:
        if request.format == "md":
            say(sheet.markdown())
        else:
            print(sheet.json() if request.format == "json" else sheet.csv(), end="")
        return
    if request.column not in [column.name for column in sheet.table.columns]:
        column = show(request.column)
        raise UserError(f'--column: table {sheet.table.name} has no column "{column}"')
    known = sheet.known(request.column)
    if not known:
        raise UserError(
            f"column {request.column} of table {sheet.table.name} has no known values", NO_RESULTS
        )
    print(*known, sep="\n")


def _print_notes(report: Report) -> None:
    """Print the notes on records, and the reasons why records are not reported."""
    named = [(run.name, str(run.notes)) for run in report.runs]
    named += [(responses.name, str(responses.notes)) for responses in report.responses]
    named += [(failure.name, failure.why) for failure in report.failures]
    for name, note in named:
        if note:
            complain("ssreport", f"{name}: {note}")
    if report.notes:
        complain("ssreport", str(report.notes))


# Reports


def _name_set(folders: Sequence[str]) -> str:
    """Return the name of the only folder or the common name of the parents of several ones."""
    paths = [PurePosixPath(folder) for folder in folders]
    names = {path.name if len(paths) == 1 else path.parent.name for path in paths}
    return names.pop() if len(names) == 1 else ""


def _name_sets(request: Values) -> tuple[str, str]:
    if request.against is None:
        return "", ""
    if request.names:
        first, _, second = request.names.partition("/")
        return first, second
    first, second = map(_name_set, _sets(request))
    return (first, second) if first != second else ("", "")


def _read(request: Values) -> Report:
    from .runs import Settings
    from .studies import Report

    edge = -1 if request.edge is None else request.edge
    settings = Settings(edge, request.interval, request.confidence, request.deviation)
    report = Report(
        settings,
        leave_out=request.leave_out,
        names=_name_sets(request),
        trace=request.predict,
        published=request.published,
        decides=request.decide or _prints_duet_only(request),
    )
    report.read(*_sets(request))
    return report


def _prints_duet_only(request: Values) -> bool:
    """Return whether the result is only a table of a duet, which needs no more of each record than
    the decision."""
    others = (request.output, request.profile, request.perfetto, request.policy)
    return request.table.startswith("duet") and not any(others)


def _sets(request: Values) -> tuple[list[str], list[str]]:
    first_set = len(request.words) if request.against is None else request.against
    return request.words[:first_set], request.words[first_set:]


def _decide(request: Values) -> int:
    """Print the decision of a study of two commands; return its status."""
    from .topics import duet

    report = _read(request)
    try:
        status, words = duet.decide(report, request.format == "md")
    finally:
        if report.notes and not request.quiet:
            complain("ssreport", str(report.notes))
    if request.format == "md" or not request.quiet:
        say(words)
    return status


def _check_records(request: Values) -> int:
    """Print verdicts unless --quiet is given. Fail with INVALID if a record is invalid."""
    from .checks import judge

    judged = judge(*_sets(request), request.leave_out, request.subject)
    if not judged:
        raise UserError("no record to check: none of the given folders holds one")
    if request.format == "json":
        print(_checks_json(judged), end="")
    elif request.format:
        from .topics import verdicts

        _print_sheet(verdicts.sheet(judged), request)
    elif not request.quiet:
        for name, verdict in judged:
            say(f"{name}: {verdict.result}: {verdict.reasons}\n")
    invalid = sum(verdict.is_invalid for _, verdict in judged)
    if invalid:
        are = "is" if invalid == 1 else "are"
        raise UserError(f"{invalid} of {len(judged)} records {are} invalid", INVALID)
    return 0


def _checks_json(judged: Judged) -> str:
    """Return a list of the records, each with its verdict and checks."""
    from .tables import json_text

    names = ("check", "result", "figure", "unit", "doubtful", "invalid")
    return json_text([
        {
            "record": name,
            "verdict": verdict.result,
            "reasons": verdict.reasons,
            "checks": [{key: check.get(key) for key in names} for check in verdict.checks],
        }
        for name, verdict in judged
    ])


def _make_report(request: Values) -> int:
    if request.table:
        _check_table(request.table)
    report = _read(request)
    report.prepare()
    _print_notes(report)
    is_empty = not (report.runs or report.responses or report.fleets)
    if is_empty and not report.manifests:
        raise UserError(
            "no record to report: none of the given folders holds one that can be read"
        )
    _check_files(report, request)
    if request.output:
        _write_all(report, request)
    if request.profile:
        _write_profile(report, request.profile)
    if request.perfetto:
        _write_timeline(report, request.perfetto)
    if request.policy:
        _write_policy(report, request)
    if request.table:
        _print_sheet(report.table(request.table), request)
    elif not request.quiet:
        say(report.text())

    if is_empty:
        raise UserError("no results: no run has a record that can be reported", NO_RESULTS)
    if not report.has_results:
        why = "no run has a counted sample or an answered request"
        raise UserError(f"no results: {why}", NO_RESULTS)
    return 0


def run(request: Values) -> int:
    if request.decide:
        return _decide(request)
    if request.check:
        return _check_records(request)
    return _make_report(request)


PROGRAM = Program("ssreport", USAGE, ROWS, check, run, EPILOGUE)
