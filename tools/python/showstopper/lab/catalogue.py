# SPDX-License-Identifier: Apache-2.0
"""Workloads by name, see showstopper-catalogue(5), as words and lines of a plan."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .. import units
from ..contents import open_file
from ..installation import experiments
from ..state import hold
from ..text import UserError, reason, show, tell
from . import plan, values
from .plan import literal, split

KEYS = (
    "command iteration repeat warmup scratch memory setup stop note needs published"
).split()
LIST_WIDTH = 80

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9._+-]+)*")
_VARIABLE = re.compile(r"\$([A-Z][A-Z0-9_]*)")
_SECONDS = re.compile(r"[0-9]+(\.[0-9]*)?")  # a time without a unit
_FOLDER = re.compile(r"[A-Za-z0-9._{}-]+")
_PLACEHOLDER = re.compile(r"\{[a-z]+\}|\$[A-Z][A-Z0-9_]*|[{%]")
_OWN = ".config/showstopper/workloads"


@dataclass
class Workload:
    """A command with a name. The `values` of a catalogue are texts; those absent are ''."""

    name: str
    file: str
    values: dict[str, str]
    typed: list[str] | None = None  # words after --, whose variables the shell has expanded

    def __getitem__(self, key: str) -> str:
        return self.values.get(key, "")

    @functools.cached_property
    def words(self) -> list[str]:
        return self.typed or split(self["command"])

    @property
    def is_repeated(self) -> bool:
        return self["repeat"] == "yes" or not (self["repeat"] or self["iteration"])

    @property
    def is_counted(self) -> bool:
        return bool(self["iteration"]) or self.is_repeated

    @property
    def unfit(self) -> str:
        """Return why the workload is unsuitable; '' if it is suitable."""
        note = self["note"]
        return note.removeprefix("unfit:").strip() if note.startswith("unfit:") else ""

    @property
    def lacks(self) -> str:
        """Return what the workload needs and this machine lacks."""
        if self.typed:
            return ""
        program = re.match(r"[\w./+-]+(?=[ \t]|$)", self["command"], re.ASCII)
        needs = split(self["needs"]) + ([program[0]] if program else [])
        return ", ".join(lack for need in dict.fromkeys(needs) if (lack := _lack(need)))

    def check(self, option: str, even_if_missing: bool = False) -> None:
        """Fail if this machine lacks a need or, if that does not matter, warn."""
        lacks = self.lacks
        if lacks and not even_if_missing:
            raise UserError(f"--{option}: {self.name} cannot run here: {lacks}")
        if lacks:
            tell(f"{self.name} cannot run here: {lacks}")


def _lack(need: str) -> str:
    """Return what is missing; '' if nothing is. A variable must be set; if its value contains a /,
    that is a path which must exist."""
    variable = _VARIABLE.fullmatch(need)
    if variable:
        value = os.environ.get(variable[1], "")
        if "/" not in value:
            return "" if value else f"{need} is not set"
    need = _VARIABLE.sub(lambda found: os.environ.get(found[1], ""), need)
    if "/" in need:
        return "" if os.path.exists(need) else f"no file {need}"
    return "" if shutil.which(need) else f"no {need}"


@dataclass
class Use:
    """A workload in a role of a run, with its memory."""

    workload: Workload
    role: str = ""
    memory: str = ""
    _texts: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        workload = self.workload
        self.memory = self.memory or workload["memory"]
        here = os.path.dirname(os.path.abspath(workload.file))
        self._texts = {
            "{side}": self.role or "alone", "{memory}": self.memory, "{name}": self._last,
        }  # fmt: skip
        if not workload.typed:
            self._texts["{work}"] = f"{{{self._work}}}"
        self._here = here

    @property
    def _last(self) -> str:
        """Return the last part of the name: h2 of dacapo/h2."""
        return self.workload.name.rpartition("/")[2]

    @property
    def _work(self) -> str:
        """Return the name of the value that calibrates the work of the command."""
        memory = f"-{self.memory}" if self.memory else ""
        return "work-" + re.sub("[^A-Za-z0-9-]", "_", self._last) + memory

    def _fill(self, text: str, instance: str, in_shell: bool = False) -> str:
        """
        Replace placeholders, and double other braces for ssbatch.

        In a command of showstopper, % is the index of the instance, so it is doubled unless the
        user typed the command. Shells expand variables of scripts and of typed commands.
        """
        is_plain = in_shell or bool(self.workload.typed)

        def put(found: re.Match[str]) -> str:
            what = found[0]
            if what == "{instance}":
                return instance
            if what == "{scratch}":
                return self._folder(instance, in_shell)
            if what == "{here}":
                return _escape(self._here, is_plain)
            if what in self._texts:
                return self._texts[what]
            if what[0] == "$":
                value = os.environ.get(what[1:], "")
                return what if is_plain else _escape(value, False)
            return _escape(what, is_plain)

        return _PLACEHOLDER.sub(put, text)

    def _folder(self, instance: str, in_shell: bool) -> str:
        form = self.workload["scratch"] or "{side}-{instance}"
        return "{scratch}/data/" + self._fill(form, instance, in_shell)

    def words(self, before: Sequence[str] = ()) -> list[str]:
        """Return what follows the options of showstopper; `before` precedes the command."""
        workload = self.workload
        words = ["--iteration", literal(workload["iteration"])] if workload["iteration"] else []
        words += ["--repeat"] if workload.is_repeated else []
        if stop := workload["stop"]:
            words += ["--grace", stop + "s" * stop[-1].isdigit()]
        command = workload.words
        words += ["--", *before, *(self._fill(word, "%") for word in command)]
        if command[0] == "ssburn" and self.memory and not workload.typed:
            words += ["--memory", self.memory]
        return words

    def folders(self, instances: int) -> Iterator[str]:
        """Yield the lines that make the folders of instances, and fill them."""
        width = len(str(instances - 1))
        for index in range(instances):
            instance = f"{index:0{width}}"
            folder = self._folder(instance, True)
            if not self.workload["setup"]:
                yield plan.line("before", "--", "mkdir", "-p", folder)
                continue
            setup = self._fill(self.workload["setup"], instance, True)
            script = 'mkdir -p -- "$1" && cd -- "$1" || exit; ' + setup
            yield plan.line("before", "--", "sh", "-c", script, "sh", folder)

    def once(self) -> list[str]:
        """Return the line that calibrates the work, if the command has {work}."""
        if self.workload.typed or "{work}" not in self.workload["command"]:
            return []
        memory = ["--memory", self.memory] if self.memory else []
        command = ["ssburn", self._last, "--iterations", "0", *memory]
        return [plan.line("once", self._work, "match=^# work (.+)$", "--", *command)]

    def definition(self) -> str:
        """Return a text that must not change while a study uses this workload."""
        words = self.words()
        words.remove("--")
        return "\n".join([*words, *self.folders(1), ""])


def _escape(text: str, is_plain: bool) -> str:
    return literal(text) if is_plain else literal(text).replace("%", "%%")


class Catalogue:
    """Workloads of several files. The first file that defines a name wins."""

    def __init__(self) -> None:
        self._workloads: dict[str, Workload] = {}

    def __iter__(self) -> Iterator[Workload]:
        return iter(self._workloads.values())

    def define(self, name: str, words: list[str], iteration: str, is_repeated: bool) -> None:
        """Add a command that is not in a file."""
        if iteration:
            check_pattern(iteration)
        values = {"iteration": iteration, "repeat": "yes" if is_repeated else ""}
        self._workloads[name] = Workload(name, "command line", values, typed=words)

    def read(self, file: str) -> None:
        """Add the workloads of a file. Messages begin with FILE:LINE."""
        try:
            with open_file(file) as stream:
                data = stream.read()
        except OSError as error:
            raise UserError(f"{file}: {reason(error)}") from None
        self._add(file, data)

    def read_all(self, files: Sequence[str]) -> None:
        """Add the workloads of the files of --catalogue, then those that no option names."""
        for file in files:
            try:
                self.read(file)
            except UserError as error:
                raise UserError(f"--catalogue: {error}") from None
        self.read_default()

    def read_default(self) -> None:
        for file in os.environ.get("SHOWSTOPPER_CATALOGUE", "").split(":"):
            if file:
                try:
                    self.read(file)
                except UserError as error:
                    raise UserError(f"SHOWSTOPPER_CATALOGUE: {error}") from None
        self._read_own(os.path.join(os.environ.get("HOME", ""), _OWN))
        self.read(str(experiments() / "workloads"))

    def _read_own(self, file: str) -> None:
        """Add the workloads of the user. Under sudo, HOME may be another user's, whose file is
        refused."""
        folder, name = os.path.split(file)
        if not os.access(file, os.R_OK):
            return
        with hold(folder, [name]) as held:
            data = Path(held, name).read_bytes()
        self._add(file, data)

    def _add(self, file: str, data: bytes) -> None:
        reader = _Reader(file)
        try:
            for row in data.decode("utf-8", "surrogateescape").split("\n"):
                reader.read(row)
            reader.end_section()
        except UserError as error:
            raise UserError(f"{file}:{reader.line}: {error}") from None
        for name, workload in reader.found.items():
            self._workloads.setdefault(name, workload)

    def find(self, name: str, option: str = "workloads") -> Workload:
        if name not in self._workloads:
            named = f"--{option}: {show(name)}" if option else show(name)
            raise UserError(f"{named}: no such workload: see --list-workloads")
        return self._workloads[name]

    def represent(self, programs: Sequence[str], stand_ins: Sequence[str]) -> Iterator[str]:
        """Yield those of these programs that can run here, and the stand-ins of others."""
        published = {self.find(name)["published"]: name for name in reversed(stand_ins)}
        for program in programs:
            lacks = self.find(program).lacks
            stand_in = published.get(program, "")
            if not lacks:
                yield program
            elif stand_in:
                tell(f"{program} cannot run here: {lacks}; {stand_in} represents it")
                yield stand_in
            else:
                tell(f"{program} is left out, because it cannot run here: {lacks}")

    def list(self) -> Iterator[str]:
        """Yield a line on each workload, and what it lacks."""
        for workload in self:
            lacks = workload.lacks
            state = f"missing  {lacks}" + "; unfit" * bool(workload.unfit)
            if not lacks:
                state = f"ready    {workload['note']}".rstrip()
            text = f"{workload.name:28} {state}"
            yield text if len(text) <= LIST_WIDTH else f"{text[: LIST_WIDTH - 3]}..."


def check_pattern(text: str) -> None:
    """Fail if showstopper refuses a pattern: those of the C library are not Python's."""
    if not shutil.which("showstopper"):
        return
    call = ["showstopper", f"--iteration={text}", "-l", "1%", "--dry-run", "--", "true"]
    done = subprocess.run(call, capture_output=True)
    why = os.fsdecode(done.stderr).strip().removeprefix("showstopper: ")
    if done.returncode and why.startswith("--iteration:"):
        raise UserError(why)


class _Reader:
    """Reads the lines of a file. `line` is the number of the line that an error is about."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: dict[str, Workload] = {}
        self.line = 0
        self._read = 0  # lines
        self._heading = 0  # line of the last heading
        self._section: list[str] = []  # names
        self._values: dict[str, str] = {}  # of the section
        self._lines: dict[str, int] = {}  # number of the first line of each value
        self._key = ""  # of the value that a line may continue

    def read(self, row: str) -> None:
        self._read += 1
        self.line = self._read
        if "\0" in row:
            raise UserError("the line contains a null byte: a catalogue is text")
        row = row.rstrip(" \t\r")
        if not row or row[0] == "#":
            self._key = ""
        elif row[0] in " \t":
            self._continue(row.strip(" \t"))
        elif row[0] == "[" and row[-1] == "]":
            self._begin_section(row[1:-1].split())
        elif pair := re.fullmatch(r"([a-z]+)[ \t]*=[ \t]*(.*)", row):
            self._add(pair[1], pair[2])
        else:
            raise UserError("the line is neither [NAME] nor KEY = VALUE")

    def _continue(self, text: str) -> None:
        if not self._key:
            why = "which continues a value, but there is no value above it"
            raise UserError(f"the line begins with a blank, {why}")
        self._values[self._key] += f" {text}"

    def _begin_section(self, names: list[str]) -> None:
        """Begin a section, or add names to it if a heading directly follows another."""
        if self._heading != self._read - 1 or self._values:
            self.end_section()
            self._section, self._values, self._lines = [], {}, {}
        self.line = self._heading = self._read
        self._key = ""
        if not names:
            raise UserError("[] has no name: use [NAME]")
        for name in names:
            if not _NAME.fullmatch(name):
                use = "use letters, digits and ._+-/, and begin with a letter or a digit"
                raise UserError(f"'{show(name)}' cannot name a workload: {use}")
            if name in self.found:
                twice = "is in this file twice: remove one of them"
                raise UserError(f"the workload '{show(name)}' {twice}")
            self.found[name] = Workload(name, self.file, self._values)
            self._section.append(name)

    def _add(self, key: str, value: str) -> None:
        if key not in KEYS:
            raise UserError(f"unknown key '{show(key)}': keys are {', '.join(KEYS)}")
        if not self._section:
            raise UserError(f"{key} appears before the first [NAME]: put it below a heading")
        if key in self._values:
            raise UserError(f"{key} appears twice in this section: remove one of the lines")
        self._key = key
        self._values[key] = value
        self._lines[key] = self._read

    def end_section(self) -> None:
        for key, self.line in self._lines.items():
            try:
                check_value(key, self._values[key])
            except UserError as error:
                raise UserError(f"{key}: {error}") from None
        if self._section and "command" not in self._values:
            self.line = self._heading
            name = show(self._section[0])
            raise UserError(f"[{name}] has no command: add a line 'command = ...'")


def check_value(key: str, value: str) -> None:
    """Fail if the key of a workload cannot have this value."""
    shown = f"'{show(value)}'"
    if not value:
        raise UserError("the value is missing: put it after the =")
    if key == "command":
        split(value)
    elif key in ("warmup", "stop") and not _SECONDS.fullmatch(value):
        units.time(value)
    elif key == "repeat" and value not in ("yes", "no"):
        raise UserError(f"{shown} is not yes or no")
    elif key == "memory":
        values.size(value)
    elif key == "scratch" and "{scratch}" in value:
        raise UserError(f"{shown} contains itself: use {{side}} and {{instance}}")
    elif key == "scratch" and not _FOLDER.fullmatch(value):
        use = "use letters, digits, ._- and the placeholders"
        raise UserError(f"{shown} is not a valid name for a folder: {use}")
    elif key == "scratch" and not ("{side}" in value and "{instance}" in value):
        use = "put {side} and {instance} into it"
        raise UserError(f"{shown} would be the folder of several instances: {use}")
    elif key == "published" and not (_NAME.fullmatch(value) and "/" in value):
        raise UserError(f"{shown} is not SUITE/PROGRAM, such as dacapo/fop")


def seconds(text: str) -> float:
    """Return a time of a catalogue, whose numbers without a unit are in seconds."""
    return float(text) if _SECONDS.fullmatch(text) else units.time(text)[0]
