# SPDX-License-Identifier: Apache-2.0
"""The program ssreport."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .cli import Program, complain
from .options import Option, Values
from .outputs import check_outputs, find, is_plain, write_whole
from .text import UserError, reason, show

if TYPE_CHECKING:
    from .checks import Judged
    from .studies import Report
    from .tables import Sheet

NO_RESULTS = 1  # exit status if nothing was measured, or if a table, column or test has no result
INVALID = 3  # exit status of --check if a record is invalid

# Options


def _begin_second_set(values: Values, value: str) -> None:
    if values.against is not None:
        raise UserError("is given twice")
    values.against = len(values.words)


# An option counts as given if its value differs from its default.
ROWS = (
    Option(
        "output",
        "write report.html and the tables as CSV files to this folder",
        "DIR",
        letter="o",
    ),
    Option(
        "edge",
        "leave out this much at both ends of every step; default: a sixth of the step, at most 30s",
        "TIME",
        "time",
        sensible="100m",
    ),
    Option(
        "interval",
        "count iterations in intervals of this length",
        "TIME",
        "time",
        default="6s",
        min="10m",
        sensible="500m",
    ),
    Option(
        "confidence",
        "the confidence level of intervals and bands",
        "PART",
        "load",
        default="95%",
        min="50%",
        max="99.99%",
    ),
    Option(
        "deviation",
        "warn if the throughput of a replay differs by more than this",
        "PART",
        "load",
        default="5%",
    ),
    Option("published", "the folder with published figures; default: the installed one", "DIR"),
    Option(
        "against",
        "compare the records before this option with those after it",
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
    Option(
        "perfetto", "write the records over time to this file, for ui.perfetto.dev", "FILE"
    ),
    Option(
        "policy",
        "write to this file, for ssactuate follow, which placement of a pair is best for both "
        "sides at which loads",
        "FILE",
    ),
    Option(
        "pair",
        "the pair for --policy: FOREGROUND,BACKGROUND[,ENVIRONMENT]; default: the only one",
        "PAIR",
    ),
    Option(
        "best-by",
        "what makes a placement the best for --policy: the highest throughput, or the most work "
        "per watt-hour; default: throughput",
        "MEASURE",
        "choice",
        choices="throughput energy",
    ),
    Option("table", "print this table on standard output instead of the summary", "NAME"),
    Option(
        "format",
        "the format of that table; default: csv",
        "FORMAT",
        "choice",
        choices="csv md json",
    ),
    Option(
        "column",
        "print only this column of that table, one value per line, without unknown values",
        "NAME",
    ),
    Option(
        "test",
        "test groups of values in a file instead of reporting records: which means differ, "
        "whether any do, whether variances do, or whether values are normally distributed",
        "TEST",
        "choice",
        choices="welch anova bartlett shapiro",
        heading="\nTests:",
    ),
    Option("value", "the column of the file with the values", "COLUMN"),
    Option(
        "group",
        "the column of the file with the groups; default: all values are one group",
        "COLUMN",
    ),
    Option(
        "run",
        "the column of the file with the runs: test the mean of each, because the values of one "
        "run are not independent",
        "COLUMN",
    ),
    Option(
        "of",
        "test groups given by mean, standard deviation and number of values: --of MEAN,SD,N "
        "NAME=MEAN,SD,N",
    ),
    Option(
        "check",
        "print a verdict on each record, one per line; exit with 3 if a record is invalid",
        heading="\nVerdicts:",
    ),
    Option(
        "decide",
        "print the answer of a study of the experiment duet; exit with 2 if it needs more runs",
    ),
    Option(
        "leave-out",
        "leave out invalid records, or doubtful and invalid ones",
        "WHICH",
        "choice",
        choices="doubtful invalid",
    ),
    Option(
        "quiet",
        "print no summary or verdicts on standard output",
        letter="q",
        heading="\nOutput:",
    ),
    Option("help", "print this help", letter="h"),
    Option("version", "print the version"),
)

USAGE = """\
Usage: ssreport [OPTION]... RECORD...
       ssreport [OPTION]... RECORD... --against RECORD...
       ssreport --test TEST FILE --value COLUMN --group COLUMN
       ssreport --test TEST --of MEAN,SD,N MEAN,SD,N...
Reports records made by showstopper --record and ssrequest --record, files of
ssrequest --json, a study made by ssbatch, or an experiment: a folder with a
manifest.csv that names its records. With --test, tests groups of values in any
table.
"""

EPILOGUE = """
The exit status is 0 if at least one reported record has results, 1 if none
has, or if the table of --table has no rows, and 125 on any error. With
--test, it is 1 if that test has no result; with --check, 3 if a record is
invalid. With --decide, 2 means that more runs are needed; if the study has a
limit, 1 means that it is exceeded, and 3 that the study ended undecided.
"""


_DEFAULTS = {"interval": 6.0, "confidence": 0.95, "deviation": 0.05}
_SETTINGS = ("edge", *_DEFAULTS)


def _given(request: Values, *options: str) -> str:
    """Return the first of these options that is given, or ''."""
    for option in options:
        value = getattr(request, option.replace("-", "_"))
        is_given = value is not None and value is not False and value != ""
        if is_given and value != _DEFAULTS.get(option):
            return option
    return ""


def _check_test(request: Values) -> None:
    """Check the options of --test, which cannot be combined with options of reports."""
    others = "output edge interval deviation published against names predict profile perfetto "
    others += "policy check decide leave-out"
    if name := _given(request, *others.split()):
        raise UserError(f"--{name} cannot be combined with --test")
    needs_groups = request.test != "shapiro"
    columns = request.value or request.group or request.run
    if request.of and columns:
        remedy = "leave out --value, --group and --run, which name its columns"
        raise UserError(f"--of needs no file: {remedy}")
    if request.of and not needs_groups:
        raise UserError("--test shapiro needs values: name a file instead of --of")
    if request.of and len(request.words) < 2:
        raise UserError("--of needs at least two groups")
    if request.of:
        return
    if len(request.words) != 1:
        raise UserError("--test needs one file: see --help")
    if not request.value:
        raise UserError("--test needs the column of the values: --value COLUMN")
    if not request.group and needs_groups:
        raise UserError("--test needs the column of the groups: --group COLUMN")


def _check_printing(request: Values) -> None:
    """Check the options of --check and --decide, which make no report."""
    if request.check and request.decide:
        raise UserError("--check cannot be combined with --decide")
    if request.check and request.table:
        raise UserError("--check prints the table verdicts: leave out --table")
    if request.decide and (name := _given(request, "table", "against")):
        raise UserError(f"--{name} cannot be combined with --decide")
    if request.decide and request.format not in ("", "md"):
        raise UserError(
            "--decide prints a line of text or, with --format md, of Markdown; --table duet has "
            "the numbers"
        )
    if request.decide and (name := _given(request, *_SETTINGS, "published", "predict")):
        raise UserError(f"--{name} has no effect with --decide")
    written = _given(request, "output", "profile", "perfetto", "policy")
    if written and (request.check or request.decide):
        command = "check" if request.check else "decide"
        raise UserError(f"--{written} cannot be combined with --{command}")


def _check_names(request: Values) -> None:
    first, slash, second = request.names.partition("/")
    if request.names and not (first and second and "/" not in second):
        raise UserError(
            f'--names: "{show(request.names)}" is not a pair of names: write A/B, the names of '
            "the first and of the second set"
        )
    if request.names and request.against is None:
        raise UserError("--names requires --against: ssreport --names A/B A... --against B...")


def check(request: Values) -> None:
    """Check which options are combined."""
    if request.format and not (request.table or request.check or request.decide):
        raise UserError("--format needs a table: ssreport --table NAME RECORD...")
    if request.column and (not request.table or request.format):
        raise UserError(
            "--column needs a table and no format: ssreport --table NAME --column NAME RECORD..."
        )
    if request.test:
        _check_test(request)
        return
    if name := _given(request, "value", "group", "run", "of"):
        raise UserError(f"--{name} requires --test")
    if (name := _given(request, "pair", "best-by")) and not request.policy:
        raise UserError(f"--{name} requires --policy")
    _check_printing(request)
    _check_names(request)
    if request.against is not None and not 0 < request.against < len(request.words):
        raise UserError("--against must separate two sets: ssreport A... --against B...")
    if not request.words:
        raise UserError("name at least one record: see --help")


# Files that are read


class _Input(NamedTuple):
    """A file that a report reads: its path begins with that of a record, a study or a fleet."""

    suffix: str
    held: str = ""  # what a folder with this file holds, which --output refuses
    heading: str = ""  # begins the table of this name that a report writes


_IS_RECORD = "a record, which the report would damage"
_INPUTS = (
    _Input(""),
    *(
        _Input(f"/{name}", _IS_RECORD)
        for name in ("plan.json", "samples.csv", "requests.json", "run.json")
    ),
    _Input(
        "/requests.csv", "a record of requests, which the report would replace", "record,"
    ),
    _Input(
        "/energy.csv", "samples of power in energy.csv, which the report would replace", "record,"
    ),
    _Input(
        "/fleet.csv", "the list of a fleet's nodes, fleet.csv, which the report would replace",
        "fleet,",
    ),
    *(
        _Input(f"/{name}")
        for name in (
            "summary.json platform.json events.jsonl decisions.csv decisions-before.csv cpus.csv "
            "iterations.csv iteration-times.csv counters.csv response-times.csv idle.csv "
            "beside.csv host-load.csv guest-clock.csv guest-vcpus.csv manifest.csv "
            # next to a record, and in the folder of a run of a study
            "../run.json ../energy.csv ../idle.csv ../beside.csv"
        ).split()
    ),
    *map(_Input, (".host-load.csv", ".guest-clock.csv", ".guest-vcpus.csv", ".each.csv")),
)


def _holds_other(path: str, heading: str) -> bool:
    """Return whether a file exists and does not begin with a heading, if one is given."""
    if not os.path.exists(path):
        return False
    try:
        with open(path, "rb") as stream:
            return not heading or not stream.readline(63).startswith(heading.encode())
    except OSError:
        return True


def _check_output(folder: str) -> None:
    """
    Fail if the folder is a record, a run of a study or a fleet: some tables have the names of
    their files. A file with such a name may be replaced only if it begins as our table does: the
    columns of an input have any order.
    """
    for file in _INPUTS:
        if file.held and _holds_other(folder + file.suffix, file.heading):
            raise UserError(f"--output: {folder} holds {file.held}: choose another folder")


def _paths_read(report: Report, request: Values) -> Iterator[str]:
    yield from request.words
    yield from (run.record.folder for run in report.runs)
    yield from (responses.path for responses in report.responses)
    yield from (failure.name for failure in report.failures)  # most are named by their path
    for fleet in report.fleets:
        yield from (os.path.join(fleet.name, record) for record in fleet.nodes["record"])


def _files_read(report: Report, request: Values) -> Iterator[str]:
    yield request.predict
    if request.published:
        try:
            names = os.listdir(request.published)
        except OSError:
            names = []
        yield from (os.path.join(request.published, name) for name in names)
    for path in _paths_read(report, request):
        yield from (path + file.suffix for file in _INPUTS)


def _check_files(report: Report, request: Values) -> None:
    """Fail if a file to write is one that the report has read, even by another name."""
    outputs = [(f"--{name}", getattr(request, name)) for name in ("profile", "perfetto", "policy")]
    for option, path in outputs:
        status = find(path) if path else None
        if status is None or not is_plain(status):
            continue
        found = (find(file) for file in _files_read(report, request) if file)
        if any(file and os.path.samestat(file, status) for file in found):
            raise UserError(
                f"{option} would overwrite {show(path)}, which this report reads: choose another "
                "file"
            )
    check_outputs(outputs)


def _check_folder(report: Report, request: Values, names: Iterable[str]) -> None:
    """Fail if another file to write is one of the report. Its folder exists."""
    others = [(f"--{name}", getattr(request, name)) for name in ("profile", "perfetto", "policy")]
    if any(path for _, path in others):
        for name in names:
            check_outputs([("--output", f"{request.output}/{name}"), *others])


# Files that are written


def _write(path: str, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise UserError(f"{path}: {reason(error)}") from None


def _write_sheet(sheet: Sheet, folder: str) -> None:
    """If the table has no rows, remove the file that an earlier report may have left."""
    path = f"{folder}/{sheet.table.name}.csv"
    if len(sheet):
        _write(path, sheet.csv())
        return
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"{path}: {reason(error)}") from None


def _write_all(report: Report, request: Values) -> None:
    from .page import render
    from .topics import tables

    folder = request.output
    _check_output(folder)
    try:
        os.mkdir(folder)
    except FileExistsError:
        pass
    except OSError as error:
        raise UserError(f"{folder}: {reason(error)}") from None

    sheets = [report.table(table.name) for table in tables()]
    names = [f"{sheet.table.name}.csv" for sheet in sheets]
    _check_folder(report, request, [*names, "report.html"])
    for sheet in sheets:
        _write_sheet(sheet, folder)
    files = [name for name, sheet in zip(names, sheets) if len(sheet)]
    _write(f"{folder}/report.html", render(report.page(files)))


def _write_profile(report: Report, path: str) -> None:
    from .memory_profile import lines

    if len(report.runs) != 1:
        raise UserError(
            f"--profile takes one record, but {len(report.runs)} are reported: name only the "
            "record to make the profile from"
        )
    _write(path, "".join(f"{line}\n" for line in lines(report.runs[0].record)))


def _write_timeline(report: Report, path: str) -> None:
    from . import timeline

    stream = io.StringIO()
    left_out = timeline.write(stream, report)
    if left_out:
        events = f"{left_out} event{'' if left_out == 1 else 's'}"
        complain("ssreport", f"--perfetto: left out {events} at impossible times")
    _write(path, stream.getvalue())


def _write_policy(report: Report, request: Values) -> None:
    from .topics.interference import policy

    _write(request.policy, policy(report, request.pair, request.best_by == "energy"))


# What is printed


def _check_table(name: str) -> None:
    """Check the name before any record is read."""
    from .topics import tables

    names = [table.name for table in tables()]
    if name not in names:
        listed = ", ".join(names)
        raise UserError(f'--table: there is no table "{show(name)}": choose one of {listed}')


def print_sheet(sheet: Sheet, request: Values) -> None:
    """Print a table, or one of its columns, for scripts. Fail if the table has no rows."""
    if not len(sheet):
        raise UserError(f"table {sheet.table.name} has no rows", NO_RESULTS)
    if not request.column:
        form = {"md": sheet.markdown, "json": sheet.json}.get(request.format, sheet.csv)
        print(form(), end="")
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


def _part(path: str, up: int) -> str:
    """Return the last component of a path or, if `up` is 1, of its parent."""
    parts = [part for part in path.split("/") if part]
    return parts[-1 - up] if len(parts) > up else ""


def _name_set(folders: Sequence[str]) -> str:
    """Return the name of the only folder or the common name of the parents of several ones."""
    names = {_part(folder, int(len(folders) > 1)) for folder in folders}
    return names.pop() if len(names) == 1 else ""


def _name_sets(request: Values) -> tuple[str, str]:
    if request.against is None:
        return "", ""
    if request.names:
        first, _, second = request.names.partition("/")
        return first, second
    names = _name_set(request.words[: request.against]), _name_set(request.words[request.against :])
    return names if names[0] != names[1] else ("", "")


def _read(request: Values) -> Report:
    from .runs import Settings
    from .studies import Report

    settings = Settings(
        -1 if request.edge is None else request.edge,
        request.interval,
        request.confidence,
        request.deviation,
    )
    report = Report(
        settings,
        leave_out=request.leave_out,
        names=_name_sets(request),
        trace=request.predict,
        published=request.published,
        decides=request.decide,
    )
    report.read(*_sets(request))
    return report


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
        print(words, end="")
    return status


def _check_records(request: Values) -> int:
    """Print verdicts unless --quiet is given. Fail with INVALID if a record is invalid."""
    from .checks import judge

    judged = judge(*_sets(request), request.leave_out)
    if not judged:
        raise UserError("no record to check: none of the given folders holds one")
    if request.format == "json":
        print(_checks_json(judged), end="")
    elif request.format:
        from .topics import verdicts

        print_sheet(verdicts.sheet(judged), request)
    elif not request.quiet:
        for name, verdict in judged:
            print(f"{name}: {verdict.result}: {verdict.reasons}")
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
        print_sheet(report.table(request.table), request)
    elif not request.quiet:
        print(report.text(), end="")

    if is_empty:
        raise UserError("no results: no run has a record that can be reported", NO_RESULTS)
    if not report.has_results:
        why = "no run has a counted sample or an answered request"
        raise UserError(f"no results: {why}", NO_RESULTS)
    return 0


def run(request: Values) -> int:
    if request.test:
        from . import hypotheses

        return int(hypotheses.main(request))
    if request.decide:
        return _decide(request)
    if request.check:
        return _check_records(request)
    return _make_report(request)


PROGRAM = Program("ssreport", USAGE, ROWS, check, run, EPILOGUE)
