# SPDX-License-Identifier: Apache-2.0
"""Benchmarks on this machine, at one setting of a throttle after the other."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Sequence

from ..children import Signals
from ..outputs import write_files
from ..text import UserError, complain
from .measure import Key, program
from .results import RESULTS, Profile, read

_SKIPPED = re.compile("warning: skipping (.*) under [^ ]* in further repetitions: (.*)", re.DOTALL)


class Bench:
    """
    Runs benchmarks at one setting of a throttle after the other, and sleeps meanwhile.

    `words` are options of `ssprofile measure` for all settings. Benchmarks that have the name of
    one of `keys` and another class are measured, too.
    """

    def __init__(self, signals: Signals, keys: Sequence[Key], words: Sequence[str]) -> None:
        self.keys = [*keys]
        self.skipped: dict[str, str] = {}  # why, by name
        self._signals, self._words = signals, words
        self._printed: set[str] = set()

    def measure(self, folder: str, under: str, repetitions: int) -> list[Profile]:
        """Run each benchmark until it has been run this many times. Returns what was measured."""
        write_files(folder, {"platform.json": ""})  # if it exists, `measure` skips this description
        names = ",".join(dict.fromkeys(_pattern(name) for name, _ in self.keys))
        self.skipped = {}
        fault = self._call([
            *self._words, "--quiet", "--machine", "here", "--unstable", "1000000000",
            "--benchmarks", names, "--repetitions", str(repetitions), "--under", under, folder,
        ])  # fmt: skip
        if self._signals.arrived:
            name = signal.strsignal(self._signals.arrived[0])
            raise UserError(f"interrupted by a signal: {name}")
        if fault and not self.skipped:
            raise UserError(fault)
        return [] if fault else read(f"{folder}/{RESULTS}").profiles

    def _call(self, words: Sequence[str]) -> str:
        """Return why the call failed; '' if it did not. Prints each warning once."""
        if self._signals.arrived:
            return "interrupted"
        error = ""
        with self._signals.start(
            [program(), "measure", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            encoding="utf-8", errors="surrogateescape",
        ) as child:  # fmt: skip
            for line in child.stderr or ():
                text = line.rstrip("\n").removeprefix("ssprofile: ")
                if found := _SKIPPED.fullmatch(text):
                    self.skipped[found[1]] = found[2]
                elif not text.startswith("warning: "):
                    error = text
                elif text not in self._printed:
                    self._printed.add(text)
                    complain("ssprofile", text)
        status = child.returncode
        if status < 0:
            return f"ssprofile measure was ended by a signal: {signal.strsignal(-status)}"
        return (error or f"ssprofile measure ended with status {status}") if status else ""


def _pattern(name: str) -> str:
    """Return a shell pattern for a name in a list, whose parts have at most 254 bytes."""
    pattern = re.sub(r"[],*?\\[]", "?", name)
    octets = os.fsencode(pattern)
    return pattern if len(octets) < 255 else octets[:200].decode("utf-8", "ignore") + "*"
