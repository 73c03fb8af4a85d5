# SPDX-License-Identifier: Apache-2.0
"""Options of the commands that are written in Python; `measure` is written in C."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

from .. import units
from ..options import Parser, seconds, within
from ..text import UserError

PERCENT = within(units.percent)

COMPARE = """\
Prints how much faster each target is than the base, benchmark by benchmark. A
ratio above 1 means that the target is faster. BASE and TARGET are a folder
that ssprofile measure made or a table of results; FILE:MACHINE[:LIMITS] names
one machine of several in a file."""
CALIBRATE = """\
Finds the throttle setting under which this machine is as fast as the base."""
PREDICT = """\
Prints an interval for the ratio of one more benchmark of the same kind, with
its probability. PROFILE and APPLICATIONS are ratios.csv of ssprofile compare,
or the folder that has it; the number of applications within the interval is
printed, too. Benchmarks of the profile itself are not applications."""
VERIFY = """\
Runs applications on this machine under the throttle of a calibrated target, and
reports how many of their ratios are in the range that the benchmarks predict.
COMPARISON is the folder of `ssprofile compare -o` that has the target; the
results are kept in DIR. Repeat the command to resume an interrupted
measurement."""
SWEEP = """\
Measures this machine under several settings of a throttle, and draws the speed
of all benchmarks over the setting as box plots: DIR/sweep.html, sweep.csv and
sweep.json. Repeat the command to resume an interrupted measurement."""

_BENCHMARKS = "only benchmarks with these names: shell patterns, separated by commas"
_OUTPUT = "write every table to this folder as CSV, all of them as %s.json, and %s.html"

# Options of measure that verify and sweep pass on. measure checks their values.
_FORWARDED = (
    ("--benchmarks", "LIST", f"measure {_BENCHMARKS}"),
    ("--time", "TIME", "run each kernel of ssburn for this long"),
    ("--cpu", "CPU", "measure on this CPU; default: the first one that may be used"),
    ("--repetitions", "N", "run every benchmark this many times; default: 5"),
    ("--period", "TIME", "the period of a quota; default: 10ms"),
    ("--quantum", "TIME",
        "the length of a round, one run and one stop, of duty and load; default: 50ms"),
)


def forward(values: argparse.Namespace) -> list[str]:
    """Return the options of measure that were given."""
    words = []
    for option, _, _ in _FORWARDED:
        if value := getattr(values, option[2:]):
            words += [option, value]
    flags = {"--idle-states": values.idle_states, "--quiet": values.quiet}
    return words + [option for option, is_given in flags.items() if is_given]


def _parser(usage: str, description: str) -> Parser:
    return Parser("ssprofile", f"ssprofile {usage}", description)


def _add_forwarded(parser: Parser) -> None:
    for option, name, says in _FORWARDED:
        parser.add_text(option, metavar=name, help=says)
    parser.add_argument("--idle-states", action="store_true",
                        help="leave idle states of CPUs as they are")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no progress")


def _add_outputs(parser: Parser, name: str) -> None:
    parser.add_text("-o", "--output", metavar="DIR",
                        help=_OUTPUT.replace("%s", name))
    parser.add_argument("-q", "--quiet", action="store_true",
                        help="print nothing on standard output")


def _compare() -> Parser:
    parser = _parser(
        "compare [OPTION]... BASE TARGET [TARGET]...\n"
        "       ssprofile compare [OPTION]... --halves PROFILE", COMPARE,
    )  # fmt: skip
    _add_outputs(parser, "compare")
    add = parser.add_argument
    parser.add_text("--battery", metavar="NAME|FILE",
        help="compare only benchmarks of this battery, by name and class, and report the missing "
        "ones")
    parser.add_text("--benchmarks", default="*", metavar="LIST", help=f"compare {_BENCHMARKS}")
    add("--spread", type=PERCENT, metavar="PERCENT",
        help="leave out benchmarks whose repetitions spread by more than this; default: 2%% "
        "between folders of ssprofile measure, no limit for other tables")
    add("--within", type=within(units.percent, 0, 100, "0 to 100%"), metavar="PERCENT",
        help="say how many ratios of throttled targets differ from 1 by at most this, and name "
        "the others")
    add("--all", action="store_true",
        help="compare all throttles that were measured in each target that is a folder")
    add("--halves", action="store_true",
        help="compare the even repetitions of one profile with its odd ones, which shows the "
        "effect of chance alone")
    add("--force", action="store_true",
        help="compare results of different versions of the benchmarks")
    return parser


def _predict() -> Parser:
    parser = _parser("predict [OPTION]... PROFILE [APPLICATIONS]", PREDICT)
    _add_outputs(parser, "predict")
    add = parser.add_argument
    add("--coverage", type=within(units.load), default=1.0, metavar="PART",
        help="verify against the narrowest interval that covers this much, or the widest one if "
        "none does; default: 100%%")
    parser.add_text("--target", metavar="NAME",
        help="the target, as MACHINE:LIMITS, if the tables have several")
    add("--list", action="store_true", help="print only the targets of PROFILE, one per line")
    return parser


def _verify() -> Parser:
    parser = _parser("verify [OPTION]... COMPARISON DIR", VERIFY)
    add = parser.add_argument
    parser.add_text("--base", metavar="BASE",
        help="the applications as measured on the base: a folder of `ssprofile measure --battery "
        "applications`")
    add("--base-here", action="store_true",
        help="this machine is the base, too, under the throttle that the comparison names: "
        "measure the applications under both")
    parser.add_text("--target", metavar="NAME",
        help="the target, as MACHINE:LIMITS, if the comparison has several throttled ones")
    parser.add_text("--battery", default="applications", metavar="NAME|FILE",
        help="the applications; default: applications")
    parser.add_text("--spread", default="10%", metavar="PERCENT",
        help="leave out applications whose mean is more uncertain than this; default: 10%%")
    parser.add_text("--coverage", default="100%", metavar="PART",
        help="check against the narrowest interval that covers this much; default: 100%%")
    add("--force", action="store_true",
        help="compare results of different versions of the applications")
    _add_forwarded(parser)
    return parser


def _sweep() -> Parser:
    parser = _parser("sweep [OPTION]... DIR", SWEEP)
    add = parser.add_argument
    parser.add_choice("--throttle", "THROTTLE", "duty load quota frequency",
        "how to slow down this machine", "duty")
    settings = ",".join(f"{percent}%" for percent in range(10, 101, 10))
    parser.add_text("--settings", default=settings, metavar="LIST",
        help="settings of the throttle, separated by commas; at most 15; default: 10%% to 100%%")
    parser.add_text("--battery", default="own", metavar="NAME|FILE",
        help="the battery to run; default: own")
    add("--spread", type=PERCENT, metavar="PERCENT",
        help="leave out benchmarks whose mean is more uncertain than this; default: 2%%")
    _add_forwarded(parser)
    return parser


def _calibrate() -> Parser:
    parser = _parser("calibrate --base BASE [OPTION]...", CALIBRATE)
    add = parser.add_argument
    parser.add_text("--base", metavar="BASE",
        help="the profile that this machine must match: a folder, or FILE:MACHINE[:LIMITS]")
    parser.add_choice("--throttle", "KIND", "duty load quota frequency",
        "how to slow down this machine", "duty")
    parser.add_choice("--method", "METHOD", "search closed",
        "the published search, or the closed method", "closed")
    parser.add_text("--benchmarks", default="all", metavar="LIST",
        help="calibrate only with these benchmarks: shell patterns, separated by commas; default: "
        "all")
    add("--spread", type=PERCENT, metavar="PERCENT",
        help="leave out benchmarks of the base whose mean is more uncertain than this; default: "
        "2%%")
    parser.add_text("--battery", metavar="NAME|FILE",
        help="the battery to run; default: the battery of the base's folder, or own")
    add("--cpu", type=within(units.count, 0, 8191, "0 to 8191"), metavar="CPU",
        help="calibrate on this CPU; default: the first one that may be used")
    add("--repetitions", type=within(units.count, 1, 64, "1 to 64"), metavar="N",
        help="run every benchmark this many times per setting; default: 3; the closed method takes "
        "at least 2, and more if needed")
    add("--period", type=within(seconds, 0.001, 1, "1ms to 1s"), default=0.01, metavar="TIME",
        help="the period of a quota; default: 10ms")
    add("--quantum", type=within(seconds, 0.002, 10, "2ms to 10s"), default=0.05, metavar="TIME",
        help="the length of a round, one run and one stop, of duty and load; default: 50ms")
    parser.add_text("--root", metavar="DIR",
        help="set the frequency of the machine whose /proc, /sys and /run are in DIR")
    add("--idle-states", action="store_true",
        help="leave idle states of CPUs as they are; by default CPUs are kept out of them, if "
        "/dev/cpu_dma_latency can be written")
    add("--force", action="store_true",
        help="calibrate with another version of the benchmarks than that of the base")
    parser.add_text("-o", "--output", metavar="DIR",
        help="write the result and all tests to this folder, as calibrate.json")
    return parser


PORTABILITY = """\
Compares the profiles of two machines: folders made by ssprofile measure. A
target that was also measured under a throttle is compared with and without it.
Writes a page with the comparison, and one with the prediction for each target.

demo needs no second machine: it takes this machine with a throttle as the
base, finds the setting of --throttle under which this machine is as fast as
the base, and compares the machine with and without it. verify continues a demo
in the same --output: it runs applications as the base and under the setting
that was found, and reports how many are in the predicted range. sweep draws
the speed of the kernels over the setting of --throttle as box plots."""
_PORTABILITY_END = """\
A TIME is written as for showstopper: 20s, 107ms; without a unit it is in
seconds. A LOAD is 25%, 0.25 or 1/4. To continue an interrupted demo, repeat the
same call: finished runs are kept. showstopper-portability(7) describes the
results and their meaning. The exit status is 125 if the call is refused, and 1
if a demo has no result."""


def _portability() -> Parser:
    usage = "portability [OPTION]... BASE TARGET...\n"
    usage += "       ssprofile portability [OPTION]... demo|verify|sweep"
    parser = Parser("ssprofile", f"ssprofile {usage}", PORTABILITY, _PORTABILITY_END)
    parser.add_text("-o", "--output", default="portability-results", metavar="DIR",
        help="folder for all results; default: portability-results")
    for flag, metavar, about in (
        ("--benchmarks", "LIST", "compare only these: shell patterns, separated by commas"),
        ("--spread", "PERCENT", "leave out benchmarks whose repetitions spread by more than this"),
        ("--coverage", "PART", "check applications against the narrowest interval that covers this "
         "part"),
        ("--bin", "DIR", "folder of the programs; default: that of ssprofile, otherwise PATH"),
    ):  # fmt: skip
        parser.add_text(flag, metavar=metavar, help=about)
    two = parser.add_argument_group("Options for BASE TARGET...")
    two.add_argument("--applications", default="", metavar="DIR",
        help="ratios of measured applications, a folder or ratios.csv of ssprofile compare; the "
        "report says how many are in the predicted range")
    two.add_argument("--force", action="store_true",
        help="compare even different versions of the benchmarks")
    _add_demo(parser)
    return parser


def _add_demo(parser: Parser) -> None:
    group = parser.add_argument_group(
        "Options for demo",
        "verify has --quantum, --period, --repetitions, --cpu, --quick and --dry-run,\n"
        "sweep has these and --throttle, --kernels and --seconds.\n",
    )
    for flag, metavar, about in (
        ("--setting", "LOAD", "duty of the base; default: 40%%"),
        ("--throttle", "KIND", "throttle of the target: duty, load, quota or frequency; default: "
         "duty"),
        ("--method", "METHOD", "method of finding the setting: closed or search; default: closed"),
        ("--quantum", "TIME", "length of a round of duty and load; default: 20ms"),
        ("--period", "TIME", "period of a quota; default: 10ms"),
        ("--kernels", "LIST", "kernels of ssburn, or all; default: 25 kernels of all classes"),
        ("--seconds", "TIME", "running time of a kernel; default: 500ms"),
        ("--repetitions", "N", "runs of each kernel on base and target; default: 4"),
        ("--cpu", "CPU", "CPU to run on; default: the first one that may be used"),
        ("--others", "LOAD", "warn if other processes use more than this of the machine before it "
         "begins; default: 10%%"),
    ):  # fmt: skip
        group.add_argument(flag, default="", metavar=metavar, help=about)
    for flag, about in (
        ("--quick", "a first impression in two minutes: short for --seconds 0.2 --repetitions 3"),
        ("--go-on", "calibrate even if more than half of the kernels are unstable on the base, by "
         "ssprofile measure --min-stable 1%%"),
        ("--plan", "print the plan for ssbatch(1), and start nothing"),
        ("--dry-run", "print the steps and their durations, and start nothing"),
    ):  # fmt: skip
        group.add_argument(flag, action="store_true", help=about)


# Parsers, and how many words they take
COMMANDS = {
    "compare": (_compare, 2, math.inf, "a base and at least one target"),
    "calibrate": (_calibrate, 0, 0, ""),
    "portability": (_portability, 0, math.inf, ""),
    "predict": (_predict, 1, 2, "a table of ratios"),
    "verify": (_verify, 2, 2, "a comparison and a folder"),
    "sweep": (_sweep, 1, 1, "a folder for the results"),
}


def parse(command: str, words: Sequence[str]) -> argparse.Namespace:
    if command not in COMMANDS:
        raise UserError(f"unknown command '{command}': use {', '.join(COMMANDS)}")
    make, least, most, what = COMMANDS[command]
    values = make().parse(words)
    is_halves = command == "compare" and values.halves
    if is_halves and len(values.words) != 1:
        raise UserError("--halves requires exactly one profile: see --help")
    if is_halves and values.all:
        why = "which has no target: remove one of them"
        raise UserError(f"--all cannot be combined with --halves, {why}")
    if len(values.words) < least and not is_halves:
        raise UserError(f"name {what}: see --help")
    if len(values.words) > most:
        raise UserError(f"unexpected argument '{values.words[int(most)]}': see --help")
    if command == "calibrate" and not values.base:
        raise UserError("name the base with --base: see --help")
    if command == "predict" and values.list and values.output:
        raise UserError("--list writes no file: remove --output")
    if command == "verify" and bool(values.base) == values.base_here:
        raise UserError("give either --base or --base-here")
    return values
