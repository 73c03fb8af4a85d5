# SPDX-License-Identifier: Apache-2.0
"""ssprofile verify: applications under a calibrated throttle, and the predicted range."""

from __future__ import annotations

import argparse
import re
from typing import Any

from ..contents import list_of, text_of
from ..outputs import make_folders
from ..text import UserError, findings_text, say
from . import compare, predict
from .measure import measure, read_battery
from .options import forward, parse
from .output import read_document
from .ratios import Matching
from .results import RESULTS, WITHOUT, Throttle, read


def _split(name: str, otherwise: str) -> tuple[str, str]:
    """Return the machine of MACHINE:LIMITS, and its throttle as for `measure --under`."""
    machine, colon, limits = name.rpartition(":")
    throttle = Throttle.of(limits)
    if not colon or not (throttle.kind or limits == WITHOUT):
        why = "these limits are not a throttle that can be set here"
        raise UserError(f"{name}: {why}: {otherwise}")
    return machine, throttle.word()


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


def _say_missing(values: argparse.Namespace, target: str) -> list[str]:
    """Name the applications that could not run. The reasons were printed during measurement."""
    chosen = Matching("*" if values.benchmarks in ("", "all") else values.benchmarks)
    keys = [key for key in read_battery(values.battery) if chosen.chooses(key)]
    profiles = read(f"{target}/{RESULTS}").profiles
    has = {key for profile in profiles for key in profile.benchmarks.index}
    missing = [key[0][:60] for key in keys if key not in has]
    counts = f"{len(missing)} of {len(keys)} applications could not be run here"
    return [f"{counts}: {', '.join(missing)}."] if missing else []


def run(values: argparse.Namespace) -> int:
    comparison, folder = values.words
    hint = "name the folder that `ssprofile compare -o` wrote"
    document = read_document(comparison, "compare.json", hint)
    target = _find_target(document, comparison, values.target)
    base = values.base or f"{folder}/base"
    otherwise = "use --base instead of --base-here"
    if values.base_here and not text_of(document, "base"):
        raise UserError(f"{comparison} names no base: {otherwise}")
    measured = [(_split(text_of(document, "base"), otherwise), base)] if values.base_here else []
    measured.append((_split(target, "choose another target"), f"{folder}/target"))

    make_folders(folder)
    for (machine, throttle), name in measured:
        words = ["--machine", machine, "--under", throttle, *forward(values), name]
        if status := measure(["--battery", values.battery, *words]):
            return status
    words = ["-q", f"--spread={values.spread}", "-o", f"{folder}/compare", base, f"{folder}/target"]
    compare.run(parse("compare", [*words, *["--force"] * values.force]))
    say(findings_text(_say_missing(values, f"{folder}/target")))
    words = [f"--coverage={values.coverage}", f"--target={target}", "-o", folder]
    return predict.run(parse("predict", [*words, comparison, f"{folder}/compare"]))
