# SPDX-License-Identifier: Apache-2.0
"""ssprofile predict: an interval for the ratio of one more benchmark of the same kind."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pandas as pd

from .. import page
from ..cli import complain, say
from ..options import Values
from ..tables import Column
from ..text import Notes, UserError, read_texts
from . import pictures
from .output import Output, name_outside, picture, sheet, show_range
from .ratios import Interval, interval
from .results import KEY

_COLUMNS = ("target", "benchmark", "class", "ratio")
INTERVALS = (
    Column("left_out", "Left out at each end"), Column("low", "From", 4), Column("high", "To", 4),
    Column("coverage_percent", "Coverage, %", 1),
)
VERIFICATION = (
    Column("application", "Application"), Column("class", "Class"), Column("ratio", "Ratio", 4),
    Column("inside", "Inside"),
)
# The intervals to print: the widest one, and the narrowest ones that cover at least these parts.
_COVERAGES = (1, 0.95, 0.9, 0.8, 0.5)


def _read(path: str, target: str) -> pd.DataFrame:
    """Read the ratios of `ssprofile compare`, of one target or of all: a table, or its folder."""
    is_folder = os.path.isdir(path)
    if is_folder and not os.path.exists(f"{path}/ratios.csv"):
        hint = "name that table, or the folder that `ssprofile compare -o` wrote it to"
        raise UserError(f"{path}: no ratios.csv in this folder: {hint}")
    name = f"{path}/ratios.csv" if is_folder else path
    table = read_texts("", name, _COLUMNS, is_named=not is_folder)
    frame = pd.DataFrame(table.fields, columns=list(_COLUMNS), dtype=object)
    frame = frame.replace({'""': '"'}, regex=True)
    valid = np.ones(len(frame), dtype=bool)
    frame["ratio"] = table.numbers("ratio", valid)

    is_chosen = frame["target"].eq(target) | (target == "")
    valid &= frame["ratio"] > 0
    table.refuse((valid | ~is_chosen).to_numpy())
    notes = Notes()
    table.note(notes)
    if notes:
        complain("ssprofile", f"warning: {notes}")
    frame = frame[valid & is_chosen]
    if not len(frame):
        raise UserError(f"{path} has no ratio{f' of the target {target}' if target else ''}")
    return frame


def _read_target(path: str, target: str) -> pd.DataFrame:
    frame = _read(path, target)
    first = frame["target"].iloc[0]
    if frame["target"].ne(first).any():
        which = f"choose one with --target MACHINE:LIMITS, such as {first}"
        raise UserError(f"{path} has several targets: {which}")
    return frame


def _say(
    profile: pd.DataFrame, applications: pd.DataFrame, left_out: int, bounds: Interval
) -> Iterator[str]:
    target, count = profile["target"].iloc[0], len(profile)
    probability = f"{bounds.coverage_percent:.1f}%"
    yield (
        f"The ratio of one more benchmark of the same kind as the {count} of {target} lies in "
        f"[{show_range(bounds.low, bounds.high)}] with a probability of {probability}."
    )
    if len(applications):
        outside = name_outside(applications[~applications["inside"]], ".5g")
        yield (
            f"{applications['inside'].sum()} of {len(applications)} applications lie within "
            f"[{bounds.low:.4f}, {bounds.high:.4f}] ({probability} expected){outside}."
        )
    if left_out:
        more = "" if left_out == 1 else "s"
        yield f"The applications leave out {left_out} benchmark{more} of the profile itself."
    says = "programs of the classes that the battery covers, and says nothing about others"
    yield f"This holds for {says}."


def _draw(profile: pd.DataFrame, applications: pd.DataFrame, bounds: Interval) -> page.Picture:
    ends = bounds.low, bounds.high
    series = [pictures.Series("benchmarks", profile, *ends, bounds.coverage_percent)]
    if len(applications):
        ratios = applications["ratio"]
        series.append(pictures.Series("applications", applications, ratios.min(), ratios.max()))
    more = " and application" if len(applications) else ""
    return picture(
        pictures.dots(series), f"{profile['target'].iloc[0]}: ratio of each benchmark{more}",
        "Shaded: the interval of one more ratio, with its coverage. Dashed: as fast as the base.",
    )


def run(values: Values) -> int:
    path = values.words[0]
    if values.list:
        targets = _read(path, "")["target"]
        say("".join(f"{target}\n" for target in targets[targets.ne(targets.shift())]))
        return 0
    profile = _read_target(path, values.target)
    target = profile["target"].iloc[0]
    bounds = interval(profile["ratio"], values.coverage)
    applications, left_out = pd.DataFrame(), 0
    if len(values.words) > 1:
        measured = _read_target(values.words[1], target)
        # Benchmarks of the profile determine the bounds, so they cannot verify them.
        keys = (pd.MultiIndex.from_frame(frame[KEY]) for frame in (measured, profile))
        applications = measured[~next(keys).isin(next(keys))]
        left_out = len(measured) - len(applications)
        if not len(applications):
            why = f"all of its benchmarks are in {path}"
            raise UserError(f"{values.words[1]} has no applications: {why}")
        inside = applications["ratio"].between(bounds.low, bounds.high)
        applications = applications.assign(inside=inside)

    intervals = pd.DataFrame([interval(profile["ratio"], part) for part in _COVERAGES])
    verified = applications.rename(columns={"benchmark": "application"})
    title = "One more benchmark of the same kind"
    sheets = [
        sheet("intervals", title, INTERVALS, intervals.drop_duplicates()),
        sheet("verification", "Applications", VERIFICATION, verified),
    ]
    findings = [*_say(profile, applications, left_out, bounds)]
    output = Output("predict", f"Prediction for {target}", findings, sheets)
    if values.output:
        output.pictures = [_draw(profile, applications, bounds)]
        output.write(values.output)
    if not values.quiet:
        say(output.text())
    return 0
