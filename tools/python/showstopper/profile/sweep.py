# SPDX-License-Identifier: Apache-2.0
"""ssprofile sweep: the speed of this machine over the setting of a throttle."""

from __future__ import annotations

import argparse
import math

import pandas as pd

from ..report.figures import Picture
from ..report.tables import columns, sheet_of
from ..text import UserError, say
from . import plots
from .measure import measure
from .options import forward
from .output import Output, print_warnings
from .ratios import SPREAD_MAX, Matching, compare
from .results import Choice, Profile, Results, Throttle, Warnings, read

COLUMNS = columns(
    limits="Throttle", setting=("Setting", 4), benchmarks="Benchmarks", least=("Least", 4),
    lower_quartile=("Lower quartile", 4), median=("Median", 4),
    upper_quartile=("Upper quartile", 4), most=("Most", 4),
    median_to_setting=("Median/setting", 4),
)
_HOW = (
    "Boxes: half of the benchmarks, with their median. Whiskers: all of them. Dashed: as fast as "
    "the setting."
)


def _box(plain: Profile, throttled: Profile, matching: Matching) -> dict[str, object]:
    """Return the speeds of all benchmarks relative to those without a throttle."""
    warnings = Warnings()
    try:
        speeds = compare(plain, throttled, matching, warnings).table["ratio"]
    except UserError as error:
        raise UserError(f"{throttled.limits}: {error}") from None
    finally:
        print_warnings(warnings)
    setting = Throttle.of(throttled.limits).setting
    names = "least", "lower_quartile", "median", "upper_quartile", "most"
    box = {name: speeds.quantile(at / 4) for at, name in enumerate(names)}
    to_setting = box["median"] / setting if setting <= 1 else math.nan
    first = {"limits": throttled.limits, "setting": setting, "benchmarks": len(speeds)}
    return first | box | {"median_to_setting": to_setting}


def _boxes(results: Results, unstable: float) -> pd.DataFrame:
    plain = [one for one in results.profiles if one.is_plain]
    throttled = [one for one in results.profiles if Throttle.of(one.limits).kind]
    if not plain:
        raise UserError("no benchmark ran without a throttle")
    if not throttled:
        raise UserError("no benchmark ran under a throttle")
    throttled.sort(key=lambda one: Throttle.of(one.limits).setting)
    return pd.DataFrame([_box(plain[-1], one, Matching(unstable=unstable)) for one in throttled])


def _say(table: pd.DataFrame) -> list[str]:
    """Say where the median is farthest from the setting, and where benchmarks differ most."""
    findings = []
    if table["median_to_setting"].notna().any():
        off = table.loc[(table["median_to_setting"] - 1).abs().idxmax()]
        findings.append(
            f"The median speed is farthest from the setting under {off['limits']}: "
            f"{off['median_to_setting']:.4f} times the setting."
        )
    wide = table.loc[(table["most"] / table["least"]).idxmax()]
    findings.append(
        f"Benchmarks differ most under {wide['limits']}: relative speeds from {wide['least']:.4f} "
        f"to {wide['most']:.4f}, with half of them between {wide['lower_quartile']:.4f} and "
        f"{wide['upper_quartile']:.4f}."
    )
    return findings


def run(values: argparse.Namespace) -> int:
    folder, kind = values.words[0], values.throttle
    under = ",".join(["without", *(f"{kind}={one}" for one in values.settings.split(","))])
    words = "--battery", values.battery, "--under", under
    if status := measure([*words, *forward(values), folder]):
        return status
    unstable = SPREAD_MAX if values.spread is None else values.spread / 100
    table = _boxes(read(Choice.of(folder).path), unstable)
    sheets = [sheet_of("sweep", "Speed relative to that without", COLUMNS, table)]
    output = Output("sweep", "Speed over setting", _say(table), sheets)
    caption = f"Speed over the setting of {kind}"
    output.pictures = [Picture(caption, plots.plot_boxes(table, kind), how=_HOW)]
    output.write(folder)
    say(output.text())
    return 0
