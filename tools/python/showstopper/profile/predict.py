# SPDX-License-Identifier: Apache-2.0
"""ssprofile predict: an interval for the ratio of one more benchmark of the same kind."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

import pandas as pd

from ..contents import has_file, read_bytes
from ..frames import read_texts
from ..inputs import number
from ..report.figures import Picture
from ..report.tables import columns, sheet_of
from ..text import UserError, complain, say
from . import plots
from .output import Output, name_outside, show_range
from .ratios import Interval, interval
from .results import KEY

INTERVALS = columns(
    left_out="Left out at each end", low=("From", 4), high=("To", 4),
    coverage_percent=("Coverage, %", 1),
)
VERIFICATION = columns(
    application="Application", **{"class": "Class"}, ratio=("Ratio", 4), inside="Inside"
)
# The intervals to print: the widest one, and the narrowest ones that cover at least these parts.
_COVERAGES = (1, 0.95, 0.9, 0.8, 0.5)


def _read(path: str, target: str) -> pd.DataFrame:
    """Read the ratios of `ssprofile compare` from a table or its folder; of all targets for ''."""
    is_folder = os.path.isdir(path)
    if is_folder and not has_file(path, "ratios.csv"):
        hint = "name that table, or the folder that `ssprofile compare -o` wrote it to"
        raise UserError(f"{path}: no ratios.csv in this folder: {hint}")
    name = f"{path}/ratios.csv" if is_folder else path
    notes: list[str] = []
    data = read_bytes("", name, is_named=not is_folder)
    rows = read_texts(name, data, ["target", *KEY, "ratio"], notes)
    rows["ratio"] = rows["ratio"].map(number).astype(float)
    rows = rows[rows["target"].eq(target) | (target == "")]
    valid = rows["ratio"] > 0
    if not valid.all():
        lines = ", ".join(map(str, rows.index[~valid][:3])) + (", ..." if sum(~valid) > 3 else "")
        at = "line" if sum(~valid) == 1 else "lines"
        notes.append(f"{name}: left out {at} without a positive ratio: {lines}")
    for note in notes:
        complain("ssprofile", f"warning: {note}")
    if not valid.any():
        raise UserError(f"{path} has no ratio{f' of the target {target}' if target else ''}")
    return rows[valid]


def _read_target(path: str, target: str) -> pd.DataFrame:
    rows = _read(path, target)
    first = rows["target"].iloc[0]
    if rows["target"].ne(first).any():
        which = f"choose one with --target MACHINE:LIMITS, such as {first}"
        raise UserError(f"{path} has several targets: {which}")
    return rows


def _read_applications(path: str, profile: pd.DataFrame, of: str) -> tuple[pd.DataFrame, int]:
    """Read the ratios that can verify an interval. Those of the profile determine its bounds, and
    are left out and counted."""
    measured = _read_target(path, profile["target"].iloc[0])
    known = pd.MultiIndex.from_frame(profile[KEY])
    applications = measured[~pd.MultiIndex.from_frame(measured[KEY]).isin(known)]
    if not len(applications):
        raise UserError(f"{path} has no applications: all of its benchmarks are in {of}")
    return applications, len(measured) - len(applications)


def _say(
    profile: pd.DataFrame, applications: pd.DataFrame, left_out: int, bounds: Interval
) -> Iterator[str]:
    probability = f"{bounds.coverage_percent:.1f}%"
    yield (
        f"The ratio of one more benchmark of the same kind as the {len(profile)} of "
        f"{profile['target'].iloc[0]} lies in [{show_range(bounds.low, bounds.high)}] with a "
        f"probability of {probability}."
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


def _draw(profile: pd.DataFrame, applications: pd.DataFrame, bounds: Interval) -> Picture:
    ends = bounds.low, bounds.high
    series = [plots.Series("benchmarks", profile, *ends, bounds.coverage_percent)]
    if len(applications):
        ratios = applications["ratio"]
        series.append(plots.Series("applications", applications, ratios.min(), ratios.max()))
    more = " and application" if len(applications) else ""
    caption = f"{profile['target'].iloc[0]}: ratio of each benchmark{more}"
    how = "Shaded: the interval of one more ratio, with its coverage. Dashed: as fast as the base."
    return Picture(caption, plots.plot_dots(series), how=how)


def run(values: argparse.Namespace) -> int:
    path, *others = values.words
    if values.list:
        targets = _read(path, "")["target"]
        say("".join(f"{target}\n" for target in targets[targets.ne(targets.shift())]))
        return 0
    profile = _read_target(path, values.target)
    bounds = interval(profile["ratio"], values.coverage)
    applications, left_out = pd.DataFrame(), 0
    if others:
        applications, left_out = _read_applications(others[0], profile, path)
        inside = applications["ratio"].between(bounds.low, bounds.high)
        applications = applications.assign(inside=inside)
    intervals = pd.DataFrame([vars(interval(profile["ratio"], part)) for part in _COVERAGES])
    verified = applications.rename(columns={"benchmark": "application"})
    title = "One more benchmark of the same kind"
    sheets = [
        sheet_of("intervals", title, INTERVALS, intervals.drop_duplicates()),
        sheet_of("verification", "Applications", VERIFICATION, verified),
    ]
    findings = [*_say(profile, applications, left_out, bounds)]
    output = Output("predict", f"Prediction for {profile['target'].iloc[0]}", findings, sheets)
    if values.output:
        output.pictures = [_draw(profile, applications, bounds)]
        output.write(values.output)
    if not values.quiet:
        say(output.text())
    return 0
