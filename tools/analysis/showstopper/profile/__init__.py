# SPDX-License-Identifier: Apache-2.0
"""
ssprofile: what a result of one machine is worth on another.

Here are the options of the commands in Python. The C program measures and calibrates.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable

from ..cli import Program
from ..options import Option, Values
from ..text import UserError

_HELP = Option("help", "print this help", letter="h")
_QUIET = Option("quiet", "print nothing on standard output", letter="q")
_BENCHMARKS = "only benchmarks with these names: shell patterns, separated by commas"

# Options of measure that other commands accept and pass on. measure checks their values.
FORWARDED = (
    Option("benchmarks", f"measure {_BENCHMARKS}", "LIST"),
    Option("time", "run each kernel of ssburn for this long", "TIME"),
    Option("cpu", "measure on this CPU; default: the first one that may be used", "CPU"),
    Option("repetitions", "run every benchmark this many times; default: 5", "N"),
    Option("period", "the period of a quota; default: 10m", "TIME"),
    Option("quantum", "the length of one run and one stop of duty and load; default: 50m", "TIME"),
    Option("idle-states", "leave idle states of CPUs as they are"),
    Option("quiet", "print no progress", letter="q"),
)


def _check_words(values: Values, least: int, most: float, what: str) -> None:
    if len(values.words) < least:
        raise UserError(f"name {what}: see --help")
    if len(values.words) > most:
        raise UserError(f"unexpected argument '{values.words[int(most)]}': see --help")


def _check_compare(values: Values) -> None:
    if values.halves and len(values.words) != 1:
        raise UserError("--halves requires exactly one profile: see --help")
    if values.halves and values.all:
        why = "which has no target: remove one of them"
        raise UserError(f"--all cannot be combined with --halves, {why}")
    if not values.halves:
        _check_words(values, 2, math.inf, "a base and at least one target")


def _check_predict(values: Values) -> None:
    _check_words(values, 1, 2, "a table of ratios")
    if values.list and values.output:
        raise UserError("--list writes no file: remove --output")


def _check_verify(values: Values) -> None:
    _check_words(values, 2, 2, "a comparison and a folder")
    if bool(values.base) == values.base_here:
        raise UserError("give either --base or --base-here")


def _run(command: str) -> Callable[[Values], int]:
    """Return what runs a command, whose module is imported as late as possible."""
    return lambda values: int(importlib.import_module(f".{command}", __package__).run(values))


COMPARE = Program(
    "ssprofile",
    """\
Usage: ssprofile compare [OPTION]... BASE TARGET [TARGET]...
       ssprofile compare [OPTION]... --halves PROFILE
Prints how much faster each target is than the base, benchmark by benchmark. A
ratio above 1 means that the target is faster. BASE and TARGET are a folder
that ssprofile measure made or a table of results; FILE:MACHINE[:LIMITS] names
one machine of several in a file.
""",
    (
        Option("output", "write every table to this folder as CSV, all of them as compare.json, "
               "and compare.html", "DIR", letter="o"),
        Option("battery", "compare only benchmarks of this battery, by name and class, and report "
               "the missing ones", "NAME|FILE"),
        Option("benchmarks", f"compare {_BENCHMARKS}", "LIST"),
        Option("spread", "leave out benchmarks whose repetitions spread by more than this; "
               "default: 2% between folders of ssprofile measure, no limit for other tables",
               "PERCENT", "percent"),
        Option("within", "say how many ratios of throttled targets differ from 1 by at most this, "
               "and name the others", "PERCENT", "percent", max="100"),
        Option("all", "a target that is a folder stands for all throttles that were measured "
               "there"),
        Option("halves", "compare the even repetitions of one profile with its odd ones, which "
               "shows the effect of chance alone"),
        Option("force", "compare results of different versions of the benchmarks"),
        _QUIET,
        _HELP,
    ),
    _check_compare,
    _run("compare"),
)

PREDICT = Program(
    "ssprofile",
    """\
Usage: ssprofile predict [OPTION]... PROFILE [APPLICATIONS]
Prints an interval for the ratio of one more benchmark of the same kind, with
its probability. PROFILE and APPLICATIONS are ratios.csv of ssprofile compare,
or the folder that has it; the number of applications within the interval is
printed, too. Benchmarks of the profile itself are not applications.
""",
    (
        Option("output", "write every table to this folder as CSV, all of them as predict.json, "
               "and predict.html", "DIR", letter="o"),
        Option("coverage", "verify against the narrowest interval that covers this much, or the "
               "widest one if none does", "PART", "load", default="100%"),
        Option("target", "the target, as MACHINE:LIMITS, if the tables have several", "NAME"),
        Option("list", "print only the targets of PROFILE, one per line"),
        _QUIET,
        _HELP,
    ),
    _check_predict,
    _run("predict"),
)

VERIFY = Program(
    "ssprofile",
    """\
Usage: ssprofile verify [OPTION]... COMPARISON DIR
Runs applications on this machine under the throttle of a calibrated target, and
reports how many of their ratios are in the range that the benchmarks predict.
COMPARISON is the folder of `ssprofile compare -o` that has the target; the
results are kept in DIR. Repeat the command to resume an interrupted
measurement.
""",
    (
        Option("base", "the applications as measured on the base: a folder of `ssprofile measure "
               "--battery applications`", "BASE"),
        Option("base-here", "this machine is the base, too, under the throttle that the comparison "
               "names: measure the applications under both"),
        Option("target", "the target, as MACHINE:LIMITS, if the comparison has several throttled "
               "ones", "NAME"),
        Option("battery", "the applications", "NAME|FILE", default="applications"),
        Option("spread", "leave out applications whose mean is more uncertain than this", "PERCENT",
               default="10%"),
        Option("coverage", "check against the narrowest interval that covers this much", "PART",
               default="100%"),
        Option("force", "compare results of different versions of the applications"),
        *FORWARDED,
        _HELP,
    ),
    _check_verify,
    _run("verify"),
)

SWEEP = Program(
    "ssprofile",
    """\
Usage: ssprofile sweep [OPTION]... DIR
Measures this machine under several settings of a throttle, and draws the speed
of all benchmarks over the setting as box plots: DIR/sweep.html, sweep.csv and
sweep.json. Repeat the command to resume an interrupted measurement.
""",
    (
        Option("throttle", "how to slow down this machine", "KIND", "choice", default="duty",
               choices="duty load quota frequency"),
        Option("settings", "settings of the throttle, separated by commas; at most 15", "LIST",
               default="10%,20%,30%,40%,50%,60%,70%,80%,90%,100%"),
        Option("battery", "the battery to run", "NAME|FILE", default="own"),
        Option("spread", "leave out benchmarks whose mean is more uncertain than this; default: 2%",
               "PERCENT", "percent"),
        *FORWARDED,
        _HELP,
    ),
    lambda values: _check_words(values, 1, 1, "a folder for the results"),
    _run("sweep"),
)
