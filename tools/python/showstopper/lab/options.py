# SPDX-License-Identifier: Apache-2.0
"""
Options that experiments share.

Options that are not given have the values of --quick and --published, if these are given, or those
of the experiment; None if it has none. All are texts until they are read by their kinds.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .. import __version__, options
from ..installation import experiments
from ..text import UserError, show, tell, wrap
from . import values
from .values import Kind

EPILOGUE = """\
A TIME is written as for showstopper: 20s, 107ms, 3min; without a unit it is in
seconds, but the length of a round needs one. A LOAD is 25%, 0.25 or 1/4; a bare
number from 2 to 100 is in percent. A value that begins with - is written
--NAME=VALUE. To continue an interrupted experiment, repeat the same call:
finished runs are kept, and an unfinished one is repeated. sslab(1) describes
the results."""

_COMMON = {
    "ram": "/dev/shm", "others": "10%", "retries": "0", "energy_root": "/", "rounds": "1",
}  # fmt: skip
_HYPHEN = "\u2011"  # at which argparse does not break lines


def _with_units(default: str) -> str:
    """Write the short units of plans as in all other texts: 107ms rather than 107m."""
    return re.sub(r"\b(\d+)([mM])\b", lambda one: one[1] + {"m": "ms", "M": "min"}[one[2]], default)


class Options(argparse.Namespace):
    """The options of a call. `given` has the names of those on the command line."""

    command: list[str]
    given: set[str]

    def __getattr__(self, name: str) -> Any:
        return None  # an option that the experiment does not have

    def refuse_given(self, when: str, *names: str) -> None:
        """Fail if one of these options is given, because it would be ignored."""
        for name in names:
            if name in self.given:
                raise UserError(f"--{name.replace('_', '-')} has no effect {when}")


class Parser(options.Parser):
    def __init__(
        self, name: str, about: str | None, defaults: Mapping[str, str], quick: Mapping[str, str],
        usage: str = "[OPTION]... [-- COMMAND [ARGUMENT]...]", notes: str = "",
        operands: Sequence[str] = (), instead: str = "",
    ) -> None:  # fmt: skip
        """
        notes     printed at the end of --help
        operands  words of which one may be given; it becomes the option `operand`
        instead   what to use instead of a command after --, if the experiment has none
        """
        end = f"{notes}\n\n{EPILOGUE}" if notes else EPILOGUE
        program = f"sslab {name}"
        super().__init__(program, f"{program} {usage}", wrap(about or ""), end)
        self.name = name
        self._initial = {**_COMMON, **defaults}
        self._quick = quick
        self._operands = operands
        self._instead = instead
        self._kinds: dict[str, Kind] = {}
        self._group: Any = self
        self.add_argument("--version", action="version", version=f"sslab {__version__}",
            help="print the version")

    def begin(self, heading: str) -> None:
        """Print the options that follow below a heading."""
        self._group = self.add_argument_group(heading)

    def add(
        self, flag: str | tuple[str, ...], metavar: str = "", kind: Kind = values.text,
        about: str = "", **more: Any,
    ) -> None:  # fmt: skip
        """Add an option with a value or, without `metavar`, a flag."""
        flags = [flag] if isinstance(flag, str) else flag
        name = flags[-1].removeprefix("--").replace("-", "_")
        self._kinds[name] = kind
        if isinstance(kind, values.Words) and kind.known:
            about += f"; one of: {' '.join(kind.known)}"
        about = about.replace("DEFAULT", _with_units(self._initial.get(name, "")))
        about = about.replace("%", "%%").replace("-", _HYPHEN)
        if metavar:
            self._group.add_argument(*flags, metavar=metavar, help=about, dest=name, **more)
        else:
            self._group.add_argument(*flags, action="store_const", const=True, help=about,
                dest=name, **more)

    def add_alias(self, flag: str, name: str) -> None:
        """Accept another name of an option."""
        self.add_argument(flag, dest=name, help=argparse.SUPPRESS)

    def quick_words(self) -> str:
        """Return the options for which --quick is short."""
        words = (f"--{name.replace('_', '-')} {text}" for name, text in self._quick.items())
        return f"short for {' '.join(words)}"

    def hide(self, name: str, kind: Kind = values.text) -> None:
        """Add a value that only --published sets."""
        self._kinds[name] = kind

    def format_help(self) -> str:
        return super().format_help().replace(_HYPHEN, "-")

    def read(self, words: Sequence[str]) -> Options:
        at = [*words, "--"].index("--")
        command = [*words[at + 1 :]]
        if not command and "--" in words:
            raise UserError("-- requires a command: see --help")
        if command and self._instead:
            raise UserError(f"unexpected command: {self._instead}; see --help")
        found = vars(self.parse(words[:at]))
        found["operand"] = self._operand(found.pop("words"))
        given = {name: value for name, value in found.items() if value is not None}
        for name, value in given.items():
            if value == "":
                raise UserError(f"--{name.replace('_', '-')} requires a value: see --help")
        texts = {**self._initial, **self._presets(given), **given}
        read = Options(**{name: self._read(name, text) for name, text in texts.items()})
        read.given, read.command = set(given), command
        return read

    def _operand(self, words: Sequence[str]) -> str | None:
        if not words or (len(words) == 1 and words[0] in self._operands):
            return words[0] if words else None
        use = self._instead or "put the command after --"
        use = f"use one of {', '.join(self._operands)}" if self._operands else use
        raise UserError(f"unexpected argument '{show(words[-1])}': {use}; see --help")

    def _presets(self, given: Mapping[str, Any]) -> dict[str, str]:
        """Return the values that --quick and --published imply; of equal names, the last counts."""
        presets: dict[str, str] = {}
        if "published" in given:
            if "instances" in given:
                why = "--published sets the number of instances"
                raise UserError(f"{why}: leave out --instances")
            presets |= _published(self.name)
            presets |= _published(f"{self.name}/{given['published']}")
        if "quick" in given:
            presets |= self._quick
            presets |= _published(f"{self.name}/quick") if "published" in given else {}
        return presets

    def _read(self, name: str, text: Any) -> Any:
        kind = self._kinds.get(name, values.text)
        if not isinstance(text, str) or not text:
            return text or None
        option = f"--{name.replace('_', '-')}"
        try:
            value = kind(text)
            if doubt := values.doubt(kind, text):
                tell(f"sslab {self.name}: warning: {option}: {doubt}")
        except UserError as error:
            raise UserError(f"{option}: {error}") from None
        return value

    def error(self, message: str) -> Any:
        message = message.removeprefix("argument ")
        message = message.replace(": expected one argument", " requires a value")
        if message.startswith("unrecognized arguments: "):
            message = f"{show(message.split()[2])}: unknown option"
        raise UserError(f"{message}: see --help")


def _published(study: str) -> dict[str, str]:
    """Return the values of options in a study of the published evaluation."""
    found = {}
    for row in (experiments() / "published/settings.txt").read_text().splitlines():
        words = row.split(maxsplit=2)
        if words and words[0] in ("all", study):
            found[words[1]] = "".join(words[2:])
    return found


# Groups of options


def add_folders(parser: Parser) -> None:
    """Add the options of all experiments."""
    add = parser.add
    parser.begin("study")
    add(("-o", "--output"), "DIR", about="folder for all results; default: DEFAULT")
    add("--ram", "DIR", about="folder on a RAM disk, for temporary data of runs; default: DEFAULT. "
        "TMPDIR is a new folder in it, and {scratch} in the command a folder in TMPDIR for each "
        "instance")
    add("--bin", "DIR", about="folder of the programs; default: that of sslab, otherwise PATH")


def add_study(parser: Parser) -> None:
    """Add the options of all studies."""
    add = parser.add
    add_folders(parser)
    add("--others", "LOAD", values.load, "warn if other processes use more than this of the "
        "machine, before the study or during a run; default: DEFAULT")
    add("--quiet-below", "LOAD", values.load, "before each run, wait until other processes use at "
        "most this much of the machine; a run in which they use more than --others is tried again, "
        "up to --retries times")
    add("--retries", "N", values.whole, "try a run that fails again, up to N times; with "
        "--quiet-below also one that was disturbed, at least once; default: DEFAULT")
    add_preview(parser)


def add_preview(parser: Parser) -> None:
    parser.add("--plan", about="print the plan for ssbatch(1), and start nothing")
    parser.add("--dry-run", about="print the runs and their durations, and start nothing")


def add_cpus(parser: Parser) -> None:
    add = parser.add
    parser.begin("runs")
    add("--on", "LIST", values.cpus, "run on these CPUs and measure their load, such as 0-3,8; "
        "default: all")
    add("--own", about="the load is that of the instances alone (-f own), whatever else runs")
    add("--instances", "N", values.count, "number of instances; default: the number of these CPUs")


def add_workloads(parser: Parser) -> None:
    """Add the options of studies whose runs hold the load of workloads."""
    add = parser.add
    names = values.list_of(values.text)
    add("--rounds", "N", values.count, "repetitions of all runs; default: DEFAULT")
    add("--workloads", "LIST", names, "workloads of the catalogue; default: DEFAULT")
    parser.add_alias("--workload", "workloads")
    add("--list-workloads", about="print the names, and what each lacks on this machine")
    add("--catalogue", "FILE", about="a catalogue that is searched first; may be given several "
        "times", action="append")
    add("--memory", "SIZE", values.size, "memory of an instance: the working set of ssburn, or "
        "the heap of a JVM")
    add("--name", "NAME", about="name of the command after --; default: its first word")
    add("--iteration", "REGEX", about="matches a line that ends an iteration of the command after "
        "--, see showstopper(1)")
    add("--repeat", about="with --iteration: start the command again when it ends. Without "
        "--iteration, it is always started again, and each end is an iteration")
    add("--counters", about="record counters of CPUs and kernel for the instances once a second: "
        "instructions, cache misses and so on, see showstopper(1)")
    add_energy(parser)
    add_go_on(parser)


def add_energy(parser: Parser) -> None:
    parser.add("--energy", "SOURCE", about="sample power once a second: auto, rapl, hwmon, "
        "battery, or any command that prints watts")
    parser.add("--energy-root", "DIR", about="look for /sys below this folder; default: DEFAULT")


def add_go_on(parser: Parser) -> None:
    parser.add("--go-on", about="continue after a run that failed; without it, a run that fails "
        "ends the study")


def add_quick(parser: Parser, about: str = "a first impression in a few minutes") -> None:
    parser.add("--quick", about=f"{about}: {parser.quick_words()}")


def add_published(parser: Parser, more: str = "") -> None:
    parser.add("--published", about="use the workloads, methods, loads and times of the "
        "published evaluation, and one instance for each CPU; showstopper-published(7) has the "
        f"values{more}")
    for name in ("published_workloads", "stand_ins"):  # of published/settings.txt
        parser.hide(name, values.list_of(values.text))
