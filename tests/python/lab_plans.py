# SPDX-License-Identifier: Apache-2.0
"""Plans of experiments, made in this process for a machine of any size."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from showstopper.lab.plan import split
from showstopper.outputs import OutputError
from showstopper.text import UserError

BUILD = Path(os.environ.get("SHOWSTOPPER_BUILD", "build")).resolve()
needs_build = pytest.mark.skipif(
    not (BUILD / "bin/sslab").exists(), reason="programs are not built"
)


def unpack_tree(file: Path, folder: Path) -> None:
    """Create the files of a recorded machine: lines of a path, a tab, and the content."""
    for row in file.read_text().splitlines():
        path, _, text = row.partition("\t")
        if not path.startswith("#"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text.encode().decode("unicode_escape"))


@dataclass
class Run:
    name: str
    cells: dict[str, str]
    lines: list[list[str]] = field(default_factory=list)

    def line(self, kind: str, name: str = "") -> str:
        """Return the words of the only line of this kind, and of this name."""
        named = [line for line in self.lines if line[0] == kind and (not name or line[1] == name)]
        assert len(named) == 1, f"{kind} {name}: {named}"
        return " ".join(named[0])

    def has(self, kind: str, name: str = "") -> bool:
        return any(line[0] == kind and (not name or line[1] == name) for line in self.lines)


@dataclass
class Planned:
    text: str
    said: str
    head: list[list[str]] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def __post_init__(self) -> None:
        for words in map(split, self.text.splitlines()):
            if words[:1] == ["run"]:
                cells = dict(word.partition("=")[::2] for word in words[4:])
                self.runs.append(Run(words[1], {"takes": words[3], **cells}))
            elif words:
                (self.runs[-1].lines if self.runs else self.head).append(words)

    def column(self, name: str) -> list[str]:
        return [run.cells.get(name, "") for run in self.runs]

    @property
    def skipped(self) -> dict[str, str]:
        """Return why things were skipped, by name."""
        return {
            words[1]: words[2].removeprefix("reason=")
            for words in self.head
            if words[0] == "skip"
        }


class Lab:
    """A machine whose CPUs tests choose, with the programs of a folder before those of the build.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._patch = monkeypatch
        self.folder = folder
        self.programs = folder / "programs"
        self.programs.mkdir()
        path = f"{self.programs}:{BUILD}/bin:{os.environ['PATH']}"
        monkeypatch.setenv("PATH", path)
        monkeypatch.chdir(folder)

    def set_cpus(self, count: int) -> None:
        self._patch.setattr(os, "sched_getaffinity", lambda _: set(range(count)))

    def write_program(self, name: str, script: str) -> None:
        program = self.programs / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def plan(self, name: str, *words: str) -> Planned:
        """Return what --plan prints. Fails unless ssbatch accepts it."""
        experiment = importlib.import_module(f"showstopper.lab.{name}")
        out, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            with pytest.raises(SystemExit) as ended:
                experiment.run(experiment.parser().read(["--plan", *words]))
        assert not ended.value.code
        return Planned(out.getvalue(), said.getvalue())

    def refusal(self, name: str, *words: str) -> str:
        """Return why a call is refused, which must not create anything."""
        before = sorted(self.folder.iterdir())
        experiment = importlib.import_module(f"showstopper.lab.{name}")
        with contextlib.redirect_stderr(io.StringIO()), pytest.raises((UserError, OutputError)) as refused:
            experiment.run(experiment.parser().read([*words]))
        assert refused.value.status == 125
        assert sorted(self.folder.iterdir()) == before
        return str(refused.value)

