# SPDX-License-Identifier: Apache-2.0
"""ssprofile verify: applications under a calibrated throttle, beside the predicted range."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..cli import say
from ..options import Values, parse
from ..outputs import make_folders
from ..text import UserError, list_of, text_of
from . import COMPARE, PREDICT
from .measure import forward, measure, read_battery
from .output import findings_text, read_document
from .ratios import Matching
from .results import RESULTS, WITHOUT, Throttle, read


class _Subject(NamedTuple):
    """A machine under a throttle, as in MACHINE:LIMITS."""

    name: str
    machine: str
    throttle: str  # as for `measure --under`

    @classmethod
    def of(cls, name: str) -> _Subject:
        machine, colon, limits = name.rpartition(":")
        throttle = Throttle.of(limits)
        if not colon or not (throttle.kind or limits == WITHOUT):
            why = "these limits are not a throttle that can be set here: choose another target"
            raise UserError(f"{name}: {why}")
        return cls(name, machine, throttle.word())


def _find_target(document: Any, folder: str, wanted: str) -> str:
    names = [text_of(row, "target") for row in list_of(document, "ranges")]
    fits = re.escape(wanted) if wanted else f"(?s).*:(?!{WITHOUT}$)[^:]*"
    found = [name for name in names if re.fullmatch(fits, name)]
    if len(found) > 1:
        such = f"such as {found[0]} and {found[1]}: choose one with --target"
        raise UserError(f"{folder} has several throttled targets, {such}")
    if not found:
        raise UserError(f"{folder} has no {f'target {wanted}' if wanted else 'throttled target'}")
    return found[0]


def _measure(values: Values, subject: _Subject, folder: str) -> int:
    words = "--battery", values.battery, "--machine", subject.machine, "--under", subject.throttle
    return measure([*words, *forward(values), folder])


def _say_missing(values: Values, target: str) -> list[str]:
    """Name the applications that could not run. The reasons were printed during measurement."""
    chosen = Matching("*" if values.benchmarks in ("", "all") else values.benchmarks)
    keys = [key for key in read_battery(values.battery) if chosen.chooses(key)]
    profiles = read(f"{target}/{RESULTS}").profiles
    has = {key for profile in profiles for key in profile.benchmarks.index}
    missing = [name[:60] for name, group in keys if (name, group) not in has]
    if not missing:
        return []
    counts = f"{len(missing)} of {len(keys)} applications could not be run here"
    return [f"{counts}: {', '.join(missing)}."]


def run(values: Values) -> int:
    comparison, folder = values.words
    hint = "name the folder that `ssprofile compare -o` wrote"
    document = read_document(comparison, "compare.json", "compare.json", hint)
    target = _Subject.of(_find_target(document, comparison, values.target))
    base = values.base or f"{folder}/base"
    if values.base_here and not text_of(document, "base"):
        raise UserError(f"{comparison} names no base")
    here = _Subject.of(text_of(document, "base")) if values.base_here else None

    make_folders(folder)
    subjects = [(here, base)] if here else []
    for subject, name in [*subjects, (target, f"{folder}/target")]:
        if status := _measure(values, subject, name):
            return status
    words = ["-q", "--spread", values.spread, "-o", f"{folder}/compare", base, f"{folder}/target"]
    COMPARE.run(parse(COMPARE.rows, [*words, *["--force"] * values.force]))
    say(findings_text(_say_missing(values, f"{folder}/target")))
    words = ["--coverage", values.coverage, "--target", target.name, "-o", folder, comparison]
    return PREDICT.run(parse(PREDICT.rows, [*words, f"{folder}/compare"]))
