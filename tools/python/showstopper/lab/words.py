# SPDX-License-Identifier: Apache-2.0
"""
Commands for loops in shell that print plans: words and lines of runs, pairs, and values of options.

Starting Python takes longer than a hundred answers, so without arguments `line` and `value` read
requests from standard input, one per line.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from ..installation import use_programs
from ..text import UserError, complain, show, tell
from . import options, pairs, places, plan, values
from .catalogue import Catalogue, Use, Workload, check_value
from .methods import METHODS, Held
from .options import Options
from .plan import Plan, line, number
from .study import load_found
from .values import Kind

PARTS = ("words", "setup", "once", "definition")
_ROLE = re.compile("[A-Za-z0-9_-]+")
_PUT = re.compile(r"\{\{|\{(instances|stands_for|target)\}")
_MODULES = {"cdc": "cdc_dithering", "pi": "pi_control", "geom": "geom_control",
            "realtime": "realtime_feedback"}  # fmt: skip


class _Parser(options.Parser):
    """A parser whose options may be followed by any words."""

    def __init__(
        self, name: str, usage: str, about: str, defaults: dict[str, str], notes: str
    ) -> None:
        super().__init__(name, about, defaults, {}, usage)
        self.epilog = notes

    def _operand(self, words: Sequence[str]) -> Any:
        return [*words]


def _requests(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield where a request is from, for messages, and its words."""
    if words:
        yield "", [*words]
        return
    for count, text in enumerate(sys.stdin, 1):
        try:
            request = plan.split(text)
        except UserError as error:
            raise UserError(f"line {count}: {error}") from None
        if request:
            yield f"line {count}: ", request


def _answer(words: Sequence[str], parser: _Parser, answer: Callable[..., Iterator[str]]) -> int:
    """Answer all requests. Print nothing if one is invalid, so that no part of a plan is used."""
    printed: list[str] = []
    for where, request in _requests(words):
        try:
            printed += answer(parser.read(request))
        except UserError as error:
            raise UserError(f"{where}{error}") from None
    print(*printed, sep="\n", end="\n" if printed else "")
    return 0


# Lines


def line_parser() -> _Parser:
    own = _Parser(
        "line", "[WORKLOAD [OPTION]... [KEY=VALUE]... [-- RUN-OPTION...]]",
        "Prints a workload of the catalogue as words or lines of a plan, see showstopper-plan(5). "
        "Without arguments, reads requests from standard input: a line each, of words quoted as in "
        "a shell. KEY=VALUE are further columns of a run.",
        {"print": "words", "instances": "1", "target": "1"},
        "sslab(1) has an example.",
    )  # fmt: skip
    _add_workload(own)
    _add_method(own)
    return own


def _add_workload(own: _Parser) -> None:
    add, names = own.add, values.list_of(values.text)
    own.begin("workload")
    add("--print", "PART", values.one_of(*PARTS), "words: what follows the options of showstopper; "
        "setup: lines that make the folders of instances; once: the line that calibrates the work, "
        "if the command has {work}; definition: what all runs have in common; default: DEFAULT")
    add("--role", "ROLE", _role, "the text for {side}; default: alone")
    add("--memory", "SIZE", _size, "the text for {memory}; default: that of the workload")
    add("--instances", "N", values.count, "number of folders, or of instances of a run; default: "
        "DEFAULT")
    add("--even-if-missing", about="warn, rather than fail, if this machine lacks a program")
    add("--catalogue", "FILE", about="a catalogue that is searched first; may be given several "
        "times", action="append")
    add("--define", "WORDS", about="the workload is this command, not one of the catalogue")
    add("--iteration", "REGEX", about="matches a line that ends an iteration of this command")
    add("--repeat", about="with --iteration: start this command again when it ends")
    add("--list-workloads", about="print the workloads, and what each lacks on this machine")
    add("--check-workloads", "LIST", names, "fail unless these can run here; print those whose "
        "iterations are counted")
    add("--represent", "LIST", names, "print those that can run here, and stand-ins of others")
    add("--stand-ins", "LIST", names, "workloads that stand in for those that their key "
        "`published` names")


def _add_method(own: _Parser) -> None:
    add = own.add
    own.begin("run")
    add("--method", "NAME", values.one_of(*METHODS), "print the line of showstopper in which this "
        "method holds the load of the workload")
    add("--run", "NAME", about="print a whole run; in its name, in columns and in options, "
        "{instances}, {stands_for} and {target} are replaced")
    add("--takes", "TIME", values.length, "how long the run takes")
    add("--round", "N", values.whole, "the column `round`")
    add("--lines", "LINES", about="further lines of the run, before that of showstopper")
    add("--target", "LOAD", values.load, "the load that the instances represent, or are limited "
        "to; default: 100%")
    add("--tau", "TIME", values.round_length, "mean length of a round, for methods with rounds")
    add("--machine-cpus", "N", values.count, "number of CPUs that are a load of 100 %; default: "
        "that of --cpus, otherwise of all")
    add("--one", "LOAD", about="load of one instance, for nbench-fit, or the folder of a study "
        "that found it as its value `one`")
    add("--cpus", "LIST", about="run on these CPUs")
    add("--feedback", "WORDS", about="options instead of the feedback of the method")
    for name in _MODULES.values():
        add(f"--{name.replace('_', '-')}", "OPTIONS", about="further options of these modules")
    add("--around", "WORDS", plan.split, "words before showstopper")
    add("--entering", "WORDS", plan.split, "words before the command")
    add("--counters", about="let showstopper record counters")


def _role(value: str) -> str:
    if not _ROLE.fullmatch(value):
        raise UserError(f"'{show(value)}' is not a role: use letters, digits, _ and -")
    return value


def _size(value: str) -> str:
    check_value("memory", value)
    return value


class _Lines:
    """Answers requests for lines. Equal files are read once, and equal runs printed once."""

    def __init__(self) -> None:
        self._plan = Plan()
        self._catalogues: dict[tuple[str, ...], Catalogue] = {}

    def answer(self, given: Options) -> Iterator[str]:
        catalogue = self._read(given.catalogue or [])
        if given.list_workloads:
            yield from catalogue.list()
        elif given.check_workloads:
            even_if_missing = bool(given.even_if_missing)
            for name in given.check_workloads:
                workload = catalogue.find(name, "check-workloads")
                workload.check("check-workloads", even_if_missing)
                if workload.is_counted:
                    yield name
        elif given.represent:
            yield from catalogue.represent(given.represent, given.stand_ins or [])
        else:
            yield from self._print_workload(given, catalogue)

    def _read(self, files: Sequence[str]) -> Catalogue:
        key = (*files,)
        if key not in self._catalogues:
            self._catalogues[key] = Catalogue()
            self._catalogues[key].read_all(files)
        return self._catalogues[key]

    def _print_workload(self, given: Options, catalogue: Catalogue) -> Iterator[str]:
        if not given.operand:
            raise UserError("no workload is named: see --list-workloads")
        workload = _find(given, catalogue)
        use = Use(workload, given.role or "", given.memory or "")
        if given.method:
            yield from self._print_run(given, use)
        elif len(given.operand) > 1 or given.command:
            raise UserError("columns and options of showstopper require --method")
        elif given.print == "setup":
            yield from use.folders(given.instances)
        elif given.print == "once":
            yield from use.once()
        elif given.print == "definition":
            yield use.definition().rstrip("\n")
        else:
            _check(workload, bool(given.even_if_missing))
            yield line(*use.words())

    def _print_run(self, given: Options, use: Use) -> Iterator[str]:
        held = _hold(given, use)
        texts = {
            "instances": str(held.instances), "target": number(held.target),
            "stands_for": "" if held.stands_for is None else number(held.stands_for),
        }  # fmt: skip

        def put(text: str) -> str:
            return _PUT.sub(lambda found: texts[found[1]] if found[1] else found[0], text)

        cells = dict(map(_column, map(put, given.operand[1:])))
        words = [*map(put, given.command)]
        if not given.run:
            yield held.role_line(cells, words)
            return
        if not given.takes:
            raise UserError("--run requires --takes, such as --takes 20s")
        lines = (given.lines or "").splitlines()
        run = held.run(self._plan, put(given.run), given.takes, given.round, cells, words, lines)
        yield from run


def _find(given: Options, catalogue: Catalogue) -> Workload:
    name, words = given.operand[0], given.define
    if words:
        made = Catalogue()
        made.define(name, plan.split(words), given.iteration or "", bool(given.repeat))
        return made.find(name)
    if given.iteration or given.repeat:
        raise UserError("--iteration and --repeat require --define")
    return catalogue.find(name, "")


def _check(workload: Workload, even_if_missing: bool) -> None:
    lacks = workload.lacks
    if lacks and not even_if_missing:
        raise UserError(f"{workload.name} cannot run here: {lacks}")
    if lacks:
        tell(f"Warning: {workload.name} cannot run here: {lacks}")
    if workload.unfit:
        tell(f"Warning: {workload.name} is unfit: {workload.unfit}")


def _hold(given: Options, use: Use) -> Held:
    method = METHODS[given.method]
    if method.has_rounds and not given.tau:
        raise UserError(f"--method: {given.method} requires a length of rounds: add --tau 107ms")
    available = len(values.cpu_set(given.cpus) if given.cpus else os.sched_getaffinity(0))
    return Held(
        given.method, use, given.machine_cpus or available, given.instances, given.target,
        given.tau or "", _load_of_one(given, use.workload.name), given.cpus or "",
        given.feedback or "", {key: getattr(given, name) or "" for key, name in _MODULES.items()},
        bool(given.counters), given.around or (), given.entering or (),
    )  # fmt: skip


def _load_of_one(given: Options, name: str) -> float:
    is_known = METHODS[given.method].copies != "measured" or name in ("serial", "parallel")
    if is_known:
        return math.nan
    if not given.one:
        why = "requires the load of one instance: add --one 50%"
        raise UserError(f"--method: {given.method} {why}")
    with contextlib.suppress(UserError):
        return float(values.load(given.one))
    try:
        found = load_found(Path(given.one))
    except UserError as error:
        raise UserError(f"--one: {error}") from None
    if math.isnan(found):
        why = "is not a load, nor a study that has found the value `one`"
        raise UserError(f"--one: '{show(given.one)}' {why}: carry out that study first")
    return found


def _column(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        use = "put options of showstopper after --"
        raise UserError(f"'{show(text)}' is not KEY=VALUE: {use}")
    return key, value


def print_lines(words: Sequence[str]) -> int:
    use_programs("")
    return _answer(words, line_parser(), _Lines().answer)


# Pairs


def pairs_parser() -> _Parser:
    own = _Parser(
        "pairs", "[FORM] [OPTION]...",
        "Prints pairs of workloads in a balanced order, as lines FRONT BACK PLACE ROUND. FORM is "
        "all (ordered pairs, including each with itself), symmetric (each two once), or a list "
        "such as h2:xz,xz:h2.",
        {}, "",
    )  # fmt: skip
    names = values.list_of(values.text)
    own.add("--workloads", "LIST", names, "the names to pair")
    own.add("--background", "LIST", names, "without FORM: pair each of --workloads with each of "
        "these")
    own.add("--places", "LIST", names, "where each pair runs")
    own.add("--rounds", "N", values.count, "how often each pair runs in each place; default: "
        "DEFAULT")
    return own


def print_pairs(words: Sequence[str]) -> int:
    given = pairs_parser().read(words)
    form, *more = given.operand or [""]
    if more:
        raise UserError(f"unexpected argument '{show(more[0])}': see --help")
    if form and given.background:
        raise UserError("--background cannot be combined with a FORM: remove one of them")
    if ":" in form and given.workloads:
        raise UserError("the list names all pairs: remove --workloads")
    if ":" not in form and not given.workloads:
        raise UserError("the pairs have no names: add --workloads A,B,C")
    if not (form or given.background):
        raise UserError("no pairs are named: use all, symmetric, a list, or --background LIST")
    if not given.places:
        raise UserError("the pairs have no place: add --places NAME,...")
    found = pairs.form(form, given.workloads or [], given.background or [])
    for row in pairs.order(found, given.places, given.rounds):
        print(*row)
    return 0


# Values


class _Type(NamedTuple):
    """A type of values: how they are read, and printed in a plan."""

    kind: Kind
    print: Callable[[Any], str]
    about: str


def _seconds(value: float) -> str:
    return f"{value:.10g}"


def _percent(value: Fraction) -> str:
    return number(100 * value)


def _set_texts(sets: tuple[places.Pair, tuple[int, int]]) -> str:
    (left, right), counts = sets
    shared = values.cpu_set(left) & values.cpu_set(right)
    return f"{left} {right} {counts[0]} {counts[1]} {min(shared) if shared else '-'}"


TYPES = {
    "time": _Type(values.time, _seconds, "in seconds"),
    "length": _Type(values.length, _seconds, "a time above 0"),
    "duration": _Type(values.duration, _seconds, "the same, without a warning about 10m"),
    "round": _Type(values.round_length, str, "the mean length of a round"),
    "rounds": _Type(values.list_of(values.round_length), ",".join, "several mean lengths"),
    "load": _Type(values.load, _percent, "in percent"),
    "loads": _Type(
        values.list_of(values.positive_load), lambda loads: ",".join(map(_percent, loads)),
        "several loads above 0"),
    "count": _Type(values.count, str, "a whole number above 0"),
    "whole": _Type(values.whole, str, "a whole number"),
    "percent": _Type(values.percent, number, "a percentage, printed without %"),
    "cpus": _Type(
        lambda text: values.cpu_set(values.cpus(text)), lambda found: str(len(found)),
        "the number of CPUs in a list; all must be available"),
    "sets": _Type(
        places.read_sets, _set_texts,
        "A/B: both sets, the number of CPUs in each, and the first CPU in both"),
    "stairs": _Type(
        values.Stairs, lambda stairs: f"{stairs} {stairs.steps}",
        "HIGH:LOW:STEP in percent, and the number of steps"),
    "span": _Type(values.time, values.span, "a time for people"),
}  # fmt: skip


def value_parser() -> _Parser:
    types = "\n".join(f"{name:10}{one.about}" for name, one in TYPES.items())
    own = _Parser(
        "value", "[TYPE [OPTION]... -- TEXT]",
        "Checks the value of an option of your script, and prints it in the form of plans. Without "
        "arguments, reads requests from standard input: a line each, of words quoted as in a "
        "shell.",
        {"option": "value", "program": "sslab value"}, f"Types:\n{types}",
    )  # fmt: skip
    own.add("--option", "NAME", about="the name of the option, for messages; default: DEFAULT")
    own.add("--program", "NAME", about="the name of the script, for messages; default: DEFAULT")
    return own


def _print_value(given: Options) -> Iterator[str]:
    name, *more = given.operand or [""]
    if name not in TYPES:
        raise UserError(f"unknown type '{show(name)}': use one of {', '.join(TYPES)}")
    if more or len(given.command) != 1:
        raise UserError("exactly one value must follow --")
    of, text = TYPES[name], given.command[0]
    try:
        value = of.kind(text)
    except UserError as error:
        complain(given.program, f"--{given.option}: {error}")
        raise SystemExit(125) from None
    if doubt := values.doubt(of.kind, text):
        complain(given.program, f"warning: --{given.option}: {doubt}")
    yield of.print(value)


def print_values(words: Sequence[str]) -> int:
    return _answer(words, value_parser(), _print_value)


COMMANDS = {"line": print_lines, "pairs": print_pairs, "value": print_values}
