# SPDX-License-Identifier: Apache-2.0
"""
Programs: options, errors in one line, and exit statuses.

Nothing heavy is imported here, so that --help and --version are fast.
"""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from . import __version__
from .options import Option, Values, describe, parse, unknown
from .outputs import OutputError
from .text import UserError, printable, wrap

FAILED = 125
_MESSAGE_MAX = 1023  # bytes


class Program(NamedTuple):
    """A program, or one of its commands."""

    name: str  # before messages
    usage: str  # up to the options
    rows: Sequence[Option]  # `help` and `version` are answered here
    check: Callable[[Values], None]  # checks which options are combined
    run: Callable[[Values], int]  # returns the exit status
    epilogue: str = ""  # after the options

    def help(self) -> str:
        return f"{self.usage}\n{describe(self.rows)}{self.epilogue}"


# Where programs are. Two words are a command of a C program, which executes
# libexec/showstopper/analysis with them.
PROGRAMS = {
    "check": "check:PROGRAM",
    "ssreport": "ssreport:PROGRAM",
    "ssantagonist plan": "antagonist:PLAN",
    "ssantagonist answer": "antagonist:ANSWER",
    "ssprofile compare": "profile:COMPARE",
    "ssprofile predict": "profile:PREDICT",
    "ssprofile verify": "profile:VERIFY",
    "ssprofile sweep": "profile:SWEEP",
    "sstrace plot": "trace_picture:PROGRAM",
}


def say(text: str) -> None:
    """Print lines for people. Texts of files do not control the terminal."""
    print("\n".join(map(printable, text.split("\n"))), end="")


def complain(program: str, message: str) -> None:
    print(f"{program}: {printable(message)}", file=sys.stderr)


def _print_error(program: str, error: Exception) -> None:
    """Print an error on one line, which C cuts, too."""
    message = str(error).encode("utf-8", "surrogateescape")[:_MESSAGE_MAX]
    complain(program, message.decode("utf-8", "surrogateescape"))


def _run(program: Program, argv: Sequence[str], prepare: Callable[[], None]) -> int:
    values = parse(program.rows, argv)
    asks_for_version = getattr(values, "version", False)
    if not values.help and not asks_for_version:
        program.check(values)
    for warning in values.warnings:
        complain(program.name, f"warning: {warning}")
    if values.help:
        print(program.help(), end="")
        return 0
    if asks_for_version:
        print(program.name, __version__)
        return 0
    prepare()
    return program.run(values)


def _refuse(values: Values) -> NoReturn:
    names = list(PROGRAMS)
    raise unknown("program", " ".join(values.words[:1]), names, f"use {', '.join(names)}")


ANALYSIS = Program(
    "analysis",
    "Usage: analysis PROGRAM [OPTION]...\n"
    "Runs a program of Showstopper, or a command of one, that is written in Python:\n"
    f"{wrap(', '.join(PROGRAMS))}\n",
    (Option("help", "print this help", letter="h"), Option("version", "print the version")),
    _refuse,
    _refuse,
)


def find_program(words: Sequence[str]) -> tuple[Program, Sequence[str]]:
    """Return the program that the words begin with, and the other words."""
    for count in (2, 1):
        place = PROGRAMS.get(" ".join(words[:count]))
        if place:
            module, _, name = place.partition(":")
            program: Program = getattr(importlib.import_module(f".{module}", __package__), name)
            return program, words[count:]
    return ANALYSIS, words


def main(words: Sequence[str]) -> int:
    """Run a program in this process, and return its exit status: main(["ssreport", "record"])."""
    name = words[0]
    try:
        program, argv = find_program(words)
        name = program.name
        return _run(program, argv, lambda: None)
    except (UserError, OutputError) as error:
        _print_error(name, error)
        return error.status


# A process of its own


class _Output(io.FileIO):
    """A standard stream. As in C, output that cannot be written is reported at the end."""

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
    """Also tables for programs do not control a terminal."""

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
    """Choose one thread, and a folder for matplotlib's cache; no warnings of libraries."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # In a virtual machine, the first use of a huge page may take longer than all else.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    if not os.environ.get("MPLCONFIGDIR"):  # matplotlib takes an empty one for none
        from .cache import find_folder, make_temporary

        os.environ["MPLCONFIGDIR"] = find_folder() or make_temporary()


NEEDED = ("numpy", "pandas", "scipy", "matplotlib", "jinja2")


def find_missing() -> str:
    """Return which packages to install; '' if none is missing. To import them would take 0.4 s."""
    from importlib.util import find_spec
    from pathlib import Path

    missing = [name for name in NEEDED if not find_spec(name)]
    if not missing:
        return ""
    lacks = f"{sys.executable} lacks {', '.join(missing)}"
    if any(Path(__file__).parents[1].glob("showstopper-*.dist-info")):  # pip has installed us
        return f"{lacks}: install showstopper[analysis]"
    packages = " ".join(f"python3-{name}" for name in missing)
    more = "or choose another Python with -DSHOWSTOPPER_PYTHON of cmake"
    return f"{lacks}: install {packages}, {more}"


def _explain(error: Exception) -> str:
    """Return what to do about an error that no program expects."""
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
    if sys.getfilesystemencoding() != "utf-8":  # of a launcher that pip has made
        os.execv(sys.executable, [sys.executable, "-Xutf8", *sys.argv])
    _set_signals()
    output = _open_streams()
    name = words[0] if words else "analysis"
    status, failed = 0, 0
    try:
        program, argv = find_program((*words, *sys.argv[1:]))
        name = program.name
        status = _run(program, argv, _prepare_libraries)
    except (UserError, OutputError) as error:
        _print_error(name, error)
        failed = error.status
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
    """Run the program that pip installs."""
    launch("ssreport")
