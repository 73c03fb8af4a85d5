# SPDX-License-Identifier: Apache-2.0
"""
Programs: options, errors in one line, exit statuses, streams and signals.

Libraries are imported only by the functions that need them, so that --help and --check are fast.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NoReturn

from . import __version__, children, inputs, units
from .contents import open_file
from .options import Parser, within
from .outputs import Folder, OutputError, check_outputs, write_file
from .text import UserError, complain, printable, reason, say, show
from .verdicts import SUBJECTS

if TYPE_CHECKING:
    from .report.tables import Sheet
    from .study import Study

NO_RESULTS = 1  # exit status if nothing was measured, or if a table or column has no result
INVALID = 3  # exit status of --check if a record is invalid
FAILED = 125
MESSAGE_MAX = 1023  # bytes

USAGE = "ssreport [OPTION]... RECORD... [--against RECORD...]"
DESCRIPTION = """\
Reports records made by showstopper --record and ssrequest --record, files of
ssrequest --json, a study made by ssbatch, or an experiment: a folder with a
manifest.csv that names its records."""
EPILOGUE = """\
The exit status is 0 if at least one reported record has results, 1 if none
has, or if the table of --table has no rows, and 125 on any error. With
--check, 3 means that a record is invalid. With --decide, 2 means that more
runs are needed; if the study has a limit, 1 means that it is exceeded, and 3
that the study ended undecided."""


FILES = ("policy", "profile", "perfetto")  # options that name a file to write
_OUTPUTS = ("output", *FILES)

# Options that an option cannot be combined with, and options of which it needs at least one
_EXCLUDES = {
    "column": ["format"],
    "check": ["decide", "table", *_OUTPUTS],
    "decide": [
        "table", "against", "edge", "interval", "confidence", "deviation", "published", "predict",
        *_OUTPUTS,
    ],
}  # fmt: skip
_NEEDS = {
    "format": ["table", "check", "decide"],
    "column": ["table"],
    "names": ["against"],
    "pair": ["policy"],
    "best-by": ["policy"],
}


def _seconds(sensible: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        seconds, doubt = units.time(text, sensible)
        if doubt:
            complain("ssreport", f"warning: {doubt}")
        return seconds

    return read


def parser() -> Parser:
    options = Parser("ssreport", USAGE, DESCRIPTION, EPILOGUE)
    _add_settings(options)
    _add_outputs(options)
    return options


def _add_settings(options: Parser) -> None:
    add, add_text = options.add_argument, options.add_text
    add("--edge", type=within(_seconds(0.1)), default=-1.0, metavar="TIME",
        help="leave out this much at both ends of every step; default: a sixth of the step, at "
        "most 30s")
    add("--interval", type=within(_seconds(0.5), 0.01, say="at least 10ms"), default=6.0,
        metavar="TIME", help="count iterations in intervals of this length; default: 6s")
    add("--confidence", type=within(units.load, 0.5, 0.9999, "50% to 99.99%"), default=0.95,
        metavar="PART", help="the confidence level of intervals and bands; default: 95%%")
    add("--deviation", type=within(units.load, 0, 1, "0% to 100%"), default=0.05, metavar="PART",
        help="warn if the throughput of a replay differs by more than this; default: 5%%")
    add_text("--published", metavar="DIR",
        help="the folder with published figures; default: the installed one")
    add("--against", action="store_true",
        help="compare the records before this option with those after it")
    add_text("--names", metavar="A/B",
        help="the names of the two sets; default: the names of their folders")
    add_text("--predict", metavar="TRACE",
        help="predict the throughput over this trace from throughput at constant loads, and "
        "compare with replays of it")


def _add_outputs(options: Parser) -> None:
    add, add_text = options.add_argument, options.add_text
    add_text("-o", "--output", metavar="DIR",
        help="write report.html and the tables as CSV files to this folder")
    add_text("--policy", metavar="FILE",
        help="write to this file, for ssactuate follow, which placement of a pair is best for both "
        "sides at which loads")
    add_text("--pair", metavar="PAIR",
        help="the pair for --policy: FOREGROUND,BACKGROUND[,ENVIRONMENT]; default: the only one")
    options.add_choice("--best-by", "MEASURE", "throughput energy",
        "what makes a placement the best for --policy: the highest throughput, or the most work "
        "per watt-hour", "throughput")
    add_text("--profile", metavar="FILE",
        help="write the profile of one instance of a run with counters to this file, for sssim")
    add_text("--perfetto", metavar="FILE",
        help="write the records over time to this file, for ui.perfetto.dev")
    add_text("--table", metavar="NAME",
        help="print this table on standard output instead of the summary")
    options.add_choice("--format", "FORMAT", "csv md json",
        "the format for --table, --check or --decide; default for a table: csv")
    add_text("--column", metavar="NAME",
        help="print only this column of that table, one value per line, without unknown values")
    add("--check", action="store_true",
        help="print a verdict on each record, one per line; exit with 3 if a record is invalid; "
        "`--check load` judges the load, `--check throughput` the iterations, otherwise both")
    add("--decide", action="store_true",
        help="print the answer of a study of the experiment duet; exit with 2 if it needs more "
        "runs")
    options.add_choice("--leave-out", "WHICH", "doubtful invalid",
        "leave out invalid records, or doubtful and invalid ones")
    add("-q", "--quiet", action="store_true",
        help="print no summary or verdicts on standard output")
    add("--version", action="version", version=f"ssreport {__version__}",
        help="print the version")


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line. `words` and `second` are the sets, `subject` is that of --check."""
    words, subject = [*words], ""
    if "--check" in words:  # the word after it may be a record
        after = words.index("--check") + 1
        word = "".join(words[after : after + 1])
        if word in SUBJECTS and not os.path.exists(word):
            subject = words.pop(after)
    if words.count("--against") > 1:
        raise UserError("--against is given twice")
    at = words.index("--against") if "--against" in words else len(words)
    options = parser()
    first = options.parse(words[:at])
    known = argparse.Namespace(**{n: v for n, v in vars(first).items() if n != "words"})
    request = options.parse(words[at:], known)
    request.words, request.second, request.subject = first.words, request.words, subject
    _check(request, {n for n, v in vars(request).items() if v != options.get_default(n)})
    return request


def _check(request: argparse.Namespace, given: set[str]) -> None:
    """Check how options are combined."""
    given = {name.replace("_", "-") for name in given}
    if not (request.words or request.second):
        raise UserError("name at least one record: see --help")
    if request.against and not (request.words and request.second):
        raise UserError("--against must separate two sets: ssreport A... --against B...")
    for option, others in _EXCLUDES.items():
        for other in others:
            if {option, other} <= given:
                raise UserError(f"--{other} cannot be combined with --{option}")
    for option, others in _NEEDS.items():
        if option in given and not given.intersection(others):
            raise UserError(f"--{option} requires --{others[0]}")
    if request.names and not re.fullmatch("[^/]+/[^/]+", request.names):
        raise UserError(f"--names: '{show(request.names)}' is not a pair of names: use A/B")
    if request.decide and request.format not in ("", "md"):
        raise UserError("--decide prints text or, with --format md, Markdown: see --table duet")


# Files that are read

_OF_RECORD = ("plan.json", "samples.csv", "requests.json", "run.json")
# Tables of a report that are named like inputs, and how they begin: only tables can be recognized,
# because the columns of an input have any order
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
    """Fail if the folder is a record, a run of a study or a fleet: tables might replace its files.
    """
    paths = {name: os.path.join(folder, name) for name in (*_OF_RECORD, *_TABLES)}
    for name, path in paths.items():
        is_table = name in _TABLES and os.path.isfile(path) and _begins(path, _TABLES[name])
        if os.path.exists(path) and not is_table:
            raise UserError(f"--output: {folder} holds {name} of a record: choose another folder")


def _is_read(path: str, study: Study, request: argparse.Namespace) -> bool:
    """Return whether the report reads a file: one that is named, or an input of a record."""
    path = os.path.realpath(path)
    named = [*request.words, *request.second, request.predict]
    measured: list[Any] = [*study.records, *study.requests]
    named += [one.source.path for one in measured] + [failure.name for failure in study.failures]
    for fleet in study.fleets:
        named += [os.path.join(fleet.name, record) for record in fleet.nodes["record"]]
    paths = {os.path.realpath(one) for one in named if one}
    folders = {*paths, *map(os.path.dirname, paths)}
    folder = os.path.dirname(path)
    is_published = bool(request.published) and folder == os.path.realpath(request.published)
    is_input = is_published or (folder in folders and path.endswith(_INPUTS))
    return os.path.isfile(path) and (path in paths or is_input)


def _check_files(study: Study, request: argparse.Namespace) -> list[tuple[str, str]]:
    """Check the files to write, except those in the folder of tables, and return them."""
    outputs = [(f"--{name}", getattr(request, name)) for name in FILES]
    for option, path in outputs:
        if path and _is_read(path, study, request):
            raise UserError(
                f"{option} would overwrite {show(path)}, which this report reads: choose another "
                "file"
            )
    check_outputs(outputs)
    return outputs


def _write_profile(study: Study, path: str, request: argparse.Namespace) -> None:
    from .memory_profile import lines

    if len(study.records) != 1:
        raise UserError(
            f"--profile takes one record, but {len(study.records)} are reported: name only the "
            "record to make the profile from"
        )
    write_file(path, "".join(f"{line}\n" for line in lines(study.records[0])))


def _write_timeline(study: Study, path: str, request: argparse.Namespace) -> None:
    from . import timeline

    stream = io.StringIO()
    left_out = timeline.write(stream, study)
    if left_out:
        events = f"{left_out} event{'' if left_out == 1 else 's'}"
        complain("ssreport", f"--perfetto: left out {events} at impossible times")
    write_file(path, stream.getvalue())


# Reports


def _name_set(folders: Sequence[str]) -> str:
    """Return the name of the only folder or the common name of the parents of several ones; ''
    if the parents have different names."""
    paths = [PurePosixPath(folder) for folder in folders]
    names = {path.name if len(paths) == 1 else path.parent.name for path in paths}
    return names.pop() if len(names) == 1 else ""


def _name_sets(request: argparse.Namespace) -> tuple[str, str]:
    if request.names:
        first, _, second = request.names.partition("/")
        return first, second
    first, second = _name_set(request.words), _name_set(request.second)
    return (first, second) if request.against and first != second else ("", "")


def _write_all(study: Study, folder: str, outputs: list[tuple[str, str]]) -> None:
    """Write the page and all tables. Remove earlier files of tables that have no rows now."""
    from .report import page, summary

    _check_output(folder)
    with Folder(folder) as results:
        sheets = {f"{name}.csv": sheet for name, sheet in summary.sheets(study).items()}
        paths = [("--output", f"{folder}/{name}") for name in (*sheets, "report.html")]
        check_outputs([*paths, *outputs])
        for name, sheet in sheets.items():
            results.write(name, sheet.csv() if len(sheet) else None)
        files = [name for name, sheet in sheets.items() if len(sheet)]
        results.write("report.html", page.render(page.of_study(study, files)))


def _write_policy(study: Study, path: str, request: argparse.Namespace) -> None:
    from .policy import policy

    write_file(path, policy(study, request.pair, request.best_by == "energy"))


def _print_sheet(sheet: Sheet, request: argparse.Namespace) -> None:
    """Print a table, or one of its columns, for scripts. Fail if the table has no rows."""
    if not len(sheet):
        raise UserError(f"table {sheet.name} has no rows", NO_RESULTS)
    if not request.column:
        if request.format == "md":
            say(sheet.markdown())
        else:
            print(sheet.json() if request.format == "json" else sheet.csv(), end="")
        return
    if request.column not in [column.name for column in sheet.columns]:
        column = show(request.column)
        raise UserError(f"--column: table {sheet.name} has no column '{column}'")
    known = sheet.known(request.column)
    if not known:
        why = f"column {request.column} of table {sheet.name} has no known values"
        raise UserError(why, NO_RESULTS)
    print(*known, sep="\n")


def _print_notes(study: Study) -> None:
    """Print the notes on records, and the reasons why records are not reported."""
    measured: list[Any] = [*study.records, *study.requests]
    named = [(one.name, one.note) for one in measured]
    named += [(failure.name, failure.why) for failure in study.failures]
    for name, note in named:
        if note:
            complain("ssreport", f"{name}: {note}")
    if study.notes:
        complain("ssreport", "; ".join(study.notes))


def _open_study(request: argparse.Namespace) -> Study:
    """Read all records, and print what is wrong with them."""
    from .report import summary
    from .study import Study

    names = "edge interval confidence deviation published leave_out predict".split()
    settings = {name: getattr(request, name) for name in names}
    # The tables of a duet need only the samples of records, so other tables are not read.
    has_other = request.output or request.policy
    settings["decides"] = request.table.startswith("duet") and not has_other
    named = _name_sets(request)
    study = Study(*request.words, against=request.second, names=named, **settings)
    summary.prepare(study)
    _print_notes(study)
    if study.is_empty and not study.studies:
        raise UserError("no record to report, for the reasons above")
    return study


def _report(request: argparse.Namespace) -> int:
    from .report import page, summary

    tables = summary.tables()
    if request.table and request.table not in tables:
        listed = ", ".join(tables)
        name = show(request.table)
        raise UserError(f"--table: unknown table '{name}': use one of {listed}")
    study = _open_study(request)
    outputs = _check_files(study, request)
    if request.output:
        _write_all(study, request.output, outputs)
    for (_, path), write in zip(outputs, (_write_policy, _write_profile, _write_timeline)):
        if path:
            write(study, path, request)
    if request.table:
        _print_sheet(tables[request.table].sheet(request.table, study), request)
    elif not request.quiet:
        say(page.text(study))
    if study.is_empty:
        raise UserError("no results: no run has a record that can be reported", NO_RESULTS)
    if not study.has_results:
        why = "no run has a counted sample or an answered request"
        raise UserError(f"no results: {why}", NO_RESULTS)
    return 0


def _decide(request: argparse.Namespace) -> int:
    """Print the decision of a study of two commands; return its status."""
    from .report import decision
    from .study import Study

    study = Study(*request.words, leave_out=request.leave_out, decides=True)
    try:
        status, words = decision.decide(study, request.format == "md")
    finally:
        if study.notes and not request.quiet:
            complain("ssreport", "; ".join(study.notes))
    if request.format == "md" or not request.quiet:
        say(words)
    return status


def _check_records(request: argparse.Namespace) -> int:
    """Print verdicts unless --quiet is given. Fail with INVALID if a record is invalid."""
    judged = inputs.judge(request.words, request.second, request.leave_out, request.subject)
    if not judged:
        raise UserError("no record to check: none of the given folders holds one")
    if request.format:
        _print_checks(judged, request)
    elif not request.quiet:
        for name, verdict in judged:
            say(f"{name}: {verdict.result}: {verdict.reasons}\n")
    invalid = sum(verdict.is_invalid for _, verdict in judged)
    if invalid:
        are = "is" if invalid == 1 else "are"
        records = "record" if len(judged) == 1 else "records"
        raise UserError(f"{invalid} of {len(judged)} {records} {are} invalid", INVALID)
    return 0


def _print_checks(judged: inputs.Judged, request: argparse.Namespace) -> None:
    from .report.tables import describe, sheet_of, to_json
    from .report.topics import verdicts

    if request.format != "json":
        columns = describe("verdicts", "record verdict reasons")
        _print_sheet(sheet_of("verdicts", "", columns, verdicts.frame(judged)), request)
        return
    names = ("check", "result", "figure", "unit", "doubtful", "invalid")
    found = [
        {
            "record": name,
            "verdict": verdict.result,
            "reasons": verdict.reasons,
            "checks": [{key: check.get(key) for key in names} for check in verdict.checks],
        }
        for name, verdict in judged
    ]
    print(to_json(found), end="")


Prepare = Callable[[], None]  # is called before the first import of a library


def _load(prepare: Prepare) -> None:
    """Prepare libraries, and load matplotlib, which needs care: see load_matplotlib()."""
    from .cache import load_matplotlib

    prepare()
    load_matplotlib()


def run(words: Sequence[str], prepare: Prepare) -> int:
    """Run ssreport; return its exit status."""
    request = parse(words)
    if request.decide:
        prepare()
        return _decide(request)
    if request.check and not request.format:  # standard library only
        return _check_records(request)
    _load(prepare)
    return _check_records(request) if request.check else _report(request)


def _run_trace(words: Sequence[str], prepare: Prepare) -> int:
    """Draw a trace; the C program sstrace has the other commands, and executes this one."""
    _load(prepare)
    from . import trace_picture

    trace_picture.run(trace_picture.parse(words[1:]), sys.stdin)
    return 0


def _run_profile(words: Sequence[str], prepare: Prepare) -> int:
    """Run a command of ssprofile; the C program has the others, and executes these."""
    from .profile import options

    command = "".join(words[:1])
    request = options.parse(command, words[1:])
    if command == "portability":  # without any library, while benchmarks run
        from .profile import portability

        return portability.run(request, lambda words: _run_profile(words, prepare))
    if command == "calibrate":  # without matplotlib
        prepare()
        from .profile import calibrate

        return calibrate.run(request)
    _load(prepare)
    from .profile import compare, predict, sweep, verify

    commands: dict[str, Callable[[argparse.Namespace], int]] = {
        "compare": compare.run, "predict": predict.run, "sweep": sweep.run, "verify": verify.run
    }  # fmt: skip
    return commands[command](request)


def _run_antagonist(words: Sequence[str], prepare: Prepare) -> int:
    """Run a command of ssantagonist; the C program has the others, and executes these."""
    from .antagonist import options

    call = options.parse("".join(words[:1]), words[1:])
    _load(prepare)
    from .antagonist import answer, plan, study

    asked = study.Study.open(call)
    return plan.report(asked) if call.command == "plan" else answer.report(asked)


def _check_packages(words: Sequence[str], prepare: Prepare) -> int:
    """Fail if a package is missing, for experiments that decide between runs."""
    from .installation import find_missing

    if advice := find_missing():
        raise UserError(advice)
    return 0


SSLAB = """\
Usage: sslab EXPERIMENT [OPTION]... [-- COMMAND [ARGUMENT]...]
Answers a question with many runs on this machine.

Experiments:
{questions}
For a plan of your own, by ssbatch:
{others}
sslab EXPERIMENT --help lists the options; sslab(1) describes them.
"""


def _run_lab(words: Sequence[str], prepare: Prepare) -> int:
    """Run an experiment, or list them. No experiment imports pandas."""
    from importlib import import_module

    from .lab import FOR_PLANS, QUESTIONS

    name = "".join(words[:1])
    if name == "--version":
        say(f"sslab {__version__}\n")
        return 0
    if name in ("", "-h", "--help"):
        questions, others = (
            "".join(f"  {one:12}  {about}\n" for one, about in known.items())
            for known in (QUESTIONS, FOR_PLANS)
        )
        say(SSLAB.format(questions=questions, others=others))
        return 0
    if name not in {**QUESTIONS, **FOR_PLANS}:
        known = ", ".join([*QUESTIONS, *FOR_PLANS])
        raise UserError(f"{show(name)}: unknown experiment: use one of {known}")
    if name in FOR_PLANS:
        commands: dict[str, Callable[[Sequence[str]], int]]
        commands = import_module(".lab.words", __package__).COMMANDS
        return commands[name](words[1:])
    experiment = import_module(f".lab.{name}", __package__)
    return int(experiment.run(experiment.parser().read(words[1:])))


PROGRAMS: dict[str, Callable[..., int]] = {
    "check": _check_packages,
    "ssreport": run,
    "sslab": _run_lab,
    "ssprofile": _run_profile,
    "ssantagonist": _run_antagonist,
    "sstrace": _run_trace,
}


def _describe(words: Sequence[str], prepare: Prepare) -> int:
    """Answer --help and --version without a program."""
    about = f"Runs a program of the Python package, or a command of one:\n{', '.join(PROGRAMS)}."
    parser = Parser("analysis", "analysis PROGRAM [OPTION]...", about)
    parser.add_argument("--version", action="version", version=f"analysis {__version__}",
        help="print the version")
    parser.parse(words)
    return 0


def _find(words: Sequence[str]) -> tuple[str, Callable[..., int], Sequence[str]]:
    """Return a name for messages, a program, and its words."""
    name = "".join(words[:1])
    if name in PROGRAMS:
        shown = {"check": "analysis", "sslab": " ".join(words[:2])}.get(name, name)
        return shown, PROGRAMS[name], words[1:]
    if name in ("-h", "--help", "--version"):
        return "analysis", _describe, words
    raise UserError(f"unknown program '{name}': use {', '.join(PROGRAMS)}")


def main(words: Sequence[str]) -> int:
    """Run a program in this process, and return its exit status: main(["ssreport", "record"])."""
    name = "analysis"
    try:
        name, program, rest = _find(words)
        return program(rest, lambda: None)
    except (UserError, OutputError) as error:
        _print_error(name, error)
        return error.status


# Messages


def _print_error(program: str, error: Exception) -> None:
    """Print an error on one line, cut to the same length as in C."""
    message = str(error).encode("utf-8", "surrogateescape")[:MESSAGE_MAX]
    complain(program, message.decode("utf-8", "surrogateescape"))


# A process of its own


class _Output(io.FileIO):
    """A standard stream. As in C, lost output is reported at the end."""

    why = 0

    def write(self, data: object) -> int:
        octets = bytes(data)  # type: ignore[call-overload]
        if not self.why:
            try:
                return super().write(octets) or 0
            except OSError as error:
                self.why = error.errno or 5
        return len(octets)


class _Terminal(io.TextIOWrapper):
    """Replaces control characters on a terminal, even in tables for programs."""

    def write(self, text: str) -> int:
        super().write("\n".join(map(printable, text.split("\n"))))
        return len(text)


def _open_stream(descriptor: int) -> tuple[_Output, io.TextIOWrapper]:
    output = _Output(descriptor, "wb", closefd=False)
    stream = (_Terminal if output.isatty() else io.TextIOWrapper)(
        io.BufferedWriter(output),
        encoding="utf-8",
        errors="surrogateescape",
        newline="\n",
        line_buffering=descriptor == 2 or output.isatty(),
    )
    return output, stream


def _open_streams() -> _Output:
    """Open standard streams in UTF-8. Those that are closed become /dev/null, read-only."""
    descriptor = 0
    while descriptor <= 2:
        descriptor = os.open(os.devnull, os.O_RDONLY)
    os.close(descriptor)
    output, sys.stdout = _open_stream(1)
    _, sys.stderr = _open_stream(2)
    return output


def _set_signals() -> None:
    """As in C, signals end the process without a message."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # otherwise statuses of children would be lost
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _prepare_libraries() -> None:
    """Limit libraries to one thread, silence them, and choose a folder for matplotlib's cache."""
    warnings.simplefilter("ignore")
    # In a virtual machine, the first use of a huge page may take longer than everything else.
    for name, value in {"OPENBLAS_NUM_THREADS": "1", "NUMPY_MADVISE_HUGEPAGE": "0"}.items():
        if name not in os.environ:
            children.set_own(name, value)
    if not os.environ.get("MPLCONFIGDIR"):  # matplotlib treats an empty one as unset
        from .cache import find_folder, make_temporary

        children.set_own("MPLCONFIGDIR", find_folder() or make_temporary())


def _explain(error: Exception) -> str:
    """Return the message for an unexpected error."""
    from .installation import find_missing

    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, ImportError) and (advice := find_missing()):
        return advice
    place = ""
    trace = error.__traceback__
    while trace:
        place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"internal error: {type(error).__name__}: {error} ({place})"


def launch(*words: str) -> NoReturn:
    """Run the program that these words and those of the command line name, and exit."""
    if sys.getfilesystemencoding() != "utf-8":  # a launcher of pip does not set -Xutf8
        os.execv(sys.executable, [sys.executable, "-Xutf8", *sys.argv])
    _set_signals()
    output = _open_streams()
    words, name = (*words, *sys.argv[1:]), "analysis"
    status, failed = 0, 0
    try:
        name, program, rest = _find(words)
        status = program(rest, _prepare_libraries)
    except (UserError, OutputError) as error:
        _print_error(name, error)
        failed = error.status
    except SystemExit as ended:  # argparse exits after --help and --version
        status = int(ended.code or 0)
    except Exception as error:
        _print_error(name, UserError(_explain(error)))
        failed = FAILED
    sys.stdout.flush()
    if output.why:
        lost = "closed: the output is lost" if output.why == 9 else os.strerror(output.why)
        complain(name, f"standard output: {lost}")
        failed = failed or FAILED
    sys.exit(failed or status)


def ssreport() -> NoReturn:
    """Entry point of the launcher that pip makes."""
    launch("ssreport")


def sslab() -> NoReturn:
    """Entry point of the launcher that pip makes."""
    launch("sslab")
