# SPDX-License-Identifier: Apache-2.0
"""ssprofile index: a page that leads to those of the other commands."""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple
from urllib.parse import quote

from .. import __version__, page
from ..cli import say
from ..options import Values
from ..outputs import write_files
from ..tables import Column, Sheet
from ..text import UserError, list_of, number_of, read_json, reason, text_of
from .output import findings_text, read_document, sheet
from .results import Choice

_KINDS = ("calibrate", "compare", "predict", "sweep")
# The members of profile.json that distinguish machines.
_DESCRIBED = (
    "machine", "version", "cpu", "quantum_seconds", "idle_states", "quota_around_cpus",
)
RANGES = (
    Column("target", "target"), Column("benchmarks", "benchmarks"), Column("least", "least", 4),
    Column("most", "most", 4), Column("median", "median", 4),
    Column("most_to_least", "most/least", 4), Column("coverage_percent", "coverage, %", 1),
)
TESTS = (
    Column("setting", "Setting, %", 3, True), Column("log_ratio_mean", "Mean ln ratio", 5),
    Column("half_width", "+-", 5), Column("time_ratio_mean", "Mean time ratio", 4),
    Column("cost", "Cost", 5), Column("repetitions", "Reps"), Column("least", "Least", 4),
    Column("most", "Most", 4), Column("most_to_least", "Most/least", 4),
    Column("scatter_percent", "Scatter, %", 2),
)


class _Part(NamedTuple):
    folder: str  # its name
    kind: str
    document: Any

    @property
    def findings(self) -> list[str]:
        return [one for one in list_of(self.document, "findings") if isinstance(one, str)]

    def rows(self, name: str, columns: tuple[Column, ...]) -> list[dict[str, Any]]:
        return [
            {column.name: number_of(row, column.name) for column in columns}
            for row in list_of(self.document, name)
        ]

    def section(self) -> page.Section:
        title = text_of(self.document, "title") or self.folder
        base = text_of(self.document, "base")
        parts: list[page.Part] = [f"Base: {base}"] if base else []
        parts.append(self.findings)
        if self.kind == "calibrate":
            # A calibration has no page of its own.
            tests = sheet("calibration", "Tests", TESTS, self.rows("calibration", TESTS))
            return page.Section(title, [*parts, *[tests] * bool(len(tests))])
        href = f"{quote(os.fsencode(self.folder), safe='')}/{self.kind}.html"
        return page.Section(page.Link(title, href), parts)


def _read(folder: str) -> list[_Part]:
    """Read the documents in the order of their kinds, and each kind in the order of the folders."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError as error:
        raise UserError(f"{folder}: {reason(error)}") from None
    parts = []
    for kind in _KINDS:
        for name in names:
            path = f"{folder}/{name}/{kind}.json"
            if os.path.exists(path):
                document = read_document(f"{folder}/{name}", f"{kind}.json", path)
                parts.append(_Part(name, kind, document))
    if not parts:
        pages = "has a page of calibrate, compare, predict or sweep: make them with -o"
        raise UserError(f"{folder}: no folder in it {pages}")
    return parts


def _ranges(parts: list[_Part]) -> Sheet:
    rows = [
        row | {"target": text_of(one, "target")}
        for part in parts
        for row, one in zip(part.rows("ranges", RANGES), list_of(part.document, "ranges"))
    ]
    return sheet("ranges", "Ranges", RANGES, rows)


def _describe(role: str, folder: str) -> str:
    """Return the members of profile.json that distinguish machines."""
    try:
        document = read_json(folder, "profile.json")
    except UserError:
        document = None
    text = f"{role}: {folder}"
    for name in _DESCRIBED:
        value = number_of(document, name)
        shown = text_of(document, name) or (f"{value:.6g}" if math.isfinite(value) else "")
        text += f"; {name.replace('_', ' ')} {shown}" if shown else ""
    return text


def run(values: Values) -> int:
    folder, *profiles = values.words
    for profile in profiles:
        Choice.of(profile)
    parts = _read(folder)
    ranges = _ranges(parts)

    shown: list[page.Part] = [values.say] if values.say else []
    shown += [ranges, *(part.section() for part in parts)]
    roles = ["Base", *["Target"] * len(profiles)]
    if profiles:
        described = [_describe(role, profile) for role, profile in zip(roles, profiles)]
        shown.append(page.Section("Profiles", [described]))
    shown.append("What this means: showstopper-portability(7), ssprofile(1).")
    index = page.Page("Portability", shown, program=f"ssprofile {__version__}")
    write_files(folder, {"index.html": page.render(index)})
    if not values.quiet:
        said = f"{values.say}\n" if values.say else ""
        findings = "".join(findings_text(part.findings) for part in parts if part.kind != "predict")
        say(f"{said}{findings}\n{ranges.markdown()}")
    return 0
