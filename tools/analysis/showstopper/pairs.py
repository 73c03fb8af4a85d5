# SPDX-License-Identifier: Apache-2.0
"""Pairs of runs side by side: a foreground, its background, and what one costs the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from . import statistics, steps
from .runs import ALONE, HOST, Run
from .statistics import Array, Band, Interval
from .studies import Report, others_permit, sort_key

REFERENCE = "per-chip"  # other placements are compared with this one
SAME_TAU = 1e-6  # lengths of rounds that differ by at most this many seconds are the same
ANGLE_AGREES = 3.0  # both slopes agree if the angle between them is smaller, in degrees
SIGNIFICANT = 0.05  # a coefficient is significant if its p-value is smaller

FOREGROUND, SYSTEM, PER_WATT_HOUR = "foreground", "system", "per-watt-hour"  # measures

TABLE = ("environment", "placement")
PROGRAMS = ("program", "background_program")
SAME_PAIR = ("environment", *PROGRAMS)


class Isolation(NamedTuple):
    """The throughput of a program without a neighbor."""

    throughput: float = math.nan
    error: float = 0.0  # half the width of its interval, relative to it; 0 if unknown


def isolation(report: Report, run: Run) -> Isolation:
    """Return the throughput of a run's program without a neighbor in its environment.

    It is the same for all placements, so that they can be compared: measured in the reference if
    possible, otherwise the mean of all runs alone. Runs of other studies count only if the study
    has none.
    """
    alone = [
        one
        for one in report.runs
        if one.role == ALONE
        and one.workload == run.workload != ""
        and sort_key(one, ("set", "environment")) == sort_key(run, ("set", "environment"))
        and one.throughput > 0
        and others_permit(one.others, run.others)
    ]
    alone = [one for one in alone if one.manifest == run.manifest] or alone
    alone = [one for one in alone if one.placement == REFERENCE] or alone
    if not alone:
        return Isolation()
    found = statistics.mean_of([one.throughput for one in alone], report.settings.confidence)
    mean = float(found.mean)
    if len(alone) == 1:
        found = statistics.mean_of(alone[0].rates["rate"], report.settings.confidence)
    return Isolation(mean, float(np.nan_to_num((found.high - found.low) / 2 / mean)))


def interference(points: pd.DataFrame, confidence: float) -> dict[str, Any]:
    """Return by how many percent a foreground's throughput falls from an idle background to one
    at full load, negative if it rises; from lines through the steps of both halves of a staircase.

    The names are those of columns. The interval of a half is Fieller's. For the mean of both, the
    squared distances between each half and its bounds are added (MOVER), with the degrees of
    freedom of the sum after Welch and Satterthwaite.
    """
    known = points[np.isfinite(points["load"]) & np.isfinite(points["foreground"])]
    parts = [known[known["half"] == half] for half in (1, 2)]
    lines = [statistics.fit_line(part["load"], part["foreground"]) for part in parts]
    halves = [-100 * line.slope / line.intercept if line.intercept else math.nan for line in lines]

    variances = [line.ratio_variance() for line in lines]
    squares = sum(
        v * v / (line.count - 2) if line.count > 2 else math.nan
        for v, line in zip(variances, lines)
    )
    freedom = 1.0 if squares == 0 else sum(variances) ** 2 / squares
    bands = []
    for line, half in zip(lines, halves):
        unknown = Interval(math.nan, math.nan)
        ratio = line.ratio(confidence, freedom) if math.isfinite(freedom) else unknown
        bands.append(Band(half, -100 * ratio.high, -100 * ratio.low))
    metric = statistics.mover(bands, (0.5, 0.5))
    angles = [math.degrees(math.atan(half / -100)) for half in halves]
    p = [p for line in lines for p in (line.slope_p, line.intercept_p)]
    found = {
        "metric_percent": metric.y,
        "low_percent": metric.low,
        "high_percent": metric.high,
        "angle_degrees": abs(angles[0] - angles[1]),
        "agree": abs(angles[0] - angles[1]) < ANGLE_AGREES,
        "significant": all(one < SIGNIFICANT for one in p),
        "note": "",
    }
    if not math.isfinite(metric.low + metric.high):
        found["note"] = "no interval: an intercept is not significantly different from 0"
    for name, line, half in reversed([*zip(("first", "second"), lines, halves)]):
        own = line.ratio(confidence, line.count - 2)
        found |= {
            f"{name}_half_percent": half,
            f"{name}_points": line.count,
            f"{name}_intercept": line.intercept,
            f"{name}_intercept_p": line.intercept_p,
            f"{name}_slope": line.slope,
            f"{name}_slope_p": line.slope_p,
            f"{name}_low_percent": -100 * own.high,
            f"{name}_high_percent": -100 * own.low,
        }
        if line.missing:
            found["note"] = f"no fit through the {name} half"
        elif not math.isfinite(half):
            found["note"] = "the foreground has no throughput beside an idle background"
    return found


@dataclass(frozen=True, eq=False)
class Pair:
    """A foreground and its background. `steps` are those of the background: step, half, occurrence
    of the level in the half, target and load, the throughput of both sides as `foreground` and
    `background`, watts, if sampled for both together, the middle, and the direction of the half."""

    foreground: Run
    background: Run
    environment: str  # its name, whether measured on the host, and the background's other round
    alone: tuple[Isolation, Isolation]
    steps: pd.DataFrame = field(repr=False)
    interference: dict[str, Any] = field(repr=False)  # see interference()

    @property
    def set(self) -> int:
        return self.foreground.set

    @property
    def round(self) -> float:
        return float(self.foreground.round)

    @property
    def placement(self) -> str:
        return self.foreground.placement or "-"

    @property
    def program(self) -> str:
        return self.foreground.workload or "-"

    @property
    def background_program(self) -> str:
        return self.background.workload or "-"

    @property
    def is_one_program(self) -> bool:
        return bool(self.foreground.workload == self.background.workload != "")

    @property
    def is_emulated(self) -> bool:
        """Whether its figures say nothing about real machines."""
        return self.foreground.environment_name == "tcg"

    def key(self, names: Iterable[str]) -> tuple[Any, ...]:
        """Return what is equal for pairs of one set that agree in these attributes."""
        return tuple(
            sort_key(self.foreground, [name]) if name == "round" else getattr(self, name)
            for name in ("set", *names)
        )

    def parts(self, measure: str) -> tuple[Array, Array]:
        """Return what foreground and background contribute to a measure in each step."""
        sides = [self.steps[name].to_numpy(float) for name in ("foreground", "background")]
        if measure == FOREGROUND:
            return sides[0], np.zeros(len(self.steps))
        if not self.is_one_program:
            sides = [side / one.throughput for side, one in zip(sides, self.alone)]
        if measure == PER_WATT_HOUR:
            watts = self.steps["watts"].to_numpy(float)
            scale = 3600 / np.where(watts > 0, watts, math.nan)
            sides = [side * scale for side in sides]
        return sides[0], sides[1]

    def measure(self, measure: str) -> Array:
        foreground, background = self.parts(measure)
        return foreground + background

    def beside_own(self, other: Pair, values: Any) -> Array:
        """Return, for each own step, the value of the step of the same half, level and occurrence
        in another pair; NaN if it has none."""
        same = np.ones((len(self.steps), len(other.steps) + 1), dtype=bool)
        for name in ("half", "occurrence", "target"):
            own, theirs = (pair.steps[name].to_numpy(float) for pair in (self, other))
            same[:, :-1] &= np.abs(own[:, None] - theirs) < steps.SAME_LEVEL
        found: Array = np.append(values, math.nan)[same.argmax(axis=1)]
        return found

    def closest(self, others: Iterable[Pair]) -> Pair | None:
        """Return the first of other pairs, of the same study if that has one."""
        found = list(others)
        own = [one for one in found if one.foreground.manifest == self.foreground.manifest]
        return next(iter(own or found), None)


def find(report: Report) -> list[Pair]:
    """Return all pairs, in an order that does not depend on that of runs. The host comes first."""
    both = [
        (run, background)
        for run in report.runs
        if run.role == "foreground" and (background := report.beside(run, "background"))
    ]
    found = [_make(report, *sides, both[0][1]) for sides in both]
    orders = [list(dict.fromkeys((p.set, getattr(p, name)) for p in found)) for name in PROGRAMS]
    return sorted(
        found,
        key=lambda p: (
            p.set,
            not p.foreground.on_host,
            p.environment,
            orders[0].index((p.set, p.program)),
            orders[1].index((p.set, p.background_program)),
            p.placement,
            sort_key(p.foreground, ["round"]),
        ),
    )


def _make(report: Report, run: Run, background: Run, first: Run) -> Pair:
    from_host = run.measured_in == HOST and not run.on_host
    tau, usual = (float(np.nan_to_num(one.tau_seconds)) for one in (background, first))
    environment = run.environment_name[:32] + (", from the host" if from_host else "")
    environment += f", {1000 * tau:.6g} ms" if abs(tau - usual) > SAME_TAU else ""
    own = background.steps.reindex(columns=["half", "target", "load", "throughput", "from", "to"])
    ends = list(zip(own["from"], own["to"]))
    shares = background.shares_power
    frame = own.rename(columns={"throughput": "background"}).assign(
        step=np.arange(len(own)) + 1,
        occurrence=steps.occurrences(own),
        foreground=[run.throughput_beside(background, *at) for at in ends],
        watts=[background.power(*at)["watts"] if shares else math.nan for at in ends],
        middle=(own["from"] + own["to"]) / 2,
        direction=own["half"].map({n: steps.direction(own, n) for n in own["half"].unique()}),
    )
    alone = (isolation(report, run), isolation(report, background))
    found = interference(frame, report.settings.confidence)
    return Pair(run, background, environment, alone, frame, found)


def note(report: Report) -> None:
    """Note, in the records of foregrounds, backgrounds that are missing and steps that are lost."""
    for run in report.runs:
        if run.role == "foreground" and not report.beside(run, "background"):
            run.notes.add(f"the background of group '{run.group}' is missing from this report")
    for pair in report.once(find):
        record, count = pair.foreground.record, len(pair.steps)
        short = pair.background.steps.attrs.get("too_short", 0)
        lost = int(pair.steps["foreground"].isna().sum())
        if short:
            record.notes.add(
                f"{short} of the {short + count} steps of the background do not count: they are "
                "too short for three samples, or have none between the edges; hold steps longer"
            )
        if lost and record.has_iterations:
            record.notes.add(
                f"{lost} of the {count} steps of the background do not count: the foreground did "
                "not run, or had no iteration"
            )


def groups(found: Iterable[Pair], names: Iterable[str]) -> list[list[Pair]]:
    """Group pairs that agree in these attributes, in the order of their first pairs."""
    names, grouped = list(names), {}  # type: ignore[var-annotated]
    for pair in found:
        grouped.setdefault(pair.key(names), []).append(pair)
    return list(grouped.values())


def _grouped(report: Report, names: tuple[str, ...]) -> dict[Any, list[Pair]]:
    return {group[0].key(names): group for group in groups(report.once(find), names)}


def alike(report: Report, pair: Pair, names: Sequence[str]) -> list[Pair]:
    """Return all pairs that agree with one in these attributes."""
    return list(report.once(_grouped, tuple(names))[pair.key(names)])


def relative(report: Report, pair: Pair, measure: str) -> Array:
    """Return a measure of each step, relative to the same step in the reference placement."""
    reference = np.full(len(pair.steps), math.nan)
    others = [
        other
        for other in alike(report, pair, (*SAME_PAIR, "round"))
        if other.foreground.placement == REFERENCE
        and others_permit(pair.foreground.others, other.foreground.others)
    ]
    # The first one that has the step counts, of the same study if that has one.
    others.sort(key=lambda other: other.foreground.manifest != pair.foreground.manifest)
    for other in reversed(others):
        values = pair.beside_own(other, other.measure(measure))
        reference = np.where(values > 0, values, reference)
    ratios: Array = pair.measure(measure) / reference
    return ratios


def df_round_means(report: Report) -> pd.DataFrame:
    """Return the mean interference over all rounds of each pair with one placement in one
    environment; `rounds` is the number of those with a known interference."""
    rows = []
    for group in groups(report.once(find), (*TABLE, *PROGRAMS)):
        every = (pair.interference for pair in group)
        known = [found for found in every if math.isfinite(found["metric_percent"])]
        metrics = [found["metric_percent"] for found in known]
        mean = statistics.mean_of(metrics, report.settings.confidence)
        low, high, is_significant = mean.low, mean.high, bool(mean.low > 0 or mean.high < 0)
        if len(known) == 1:
            low, high = known[0]["low_percent"], known[0]["high_percent"]
            is_significant = known[0]["significant"]
        names = ("set", *TABLE, *PROGRAMS)
        rows.append(
            {name: getattr(group[0], name) for name in names}
            | {"percent": mean.mean, "low": low, "high": high, "rounds": len(known)}
            | {"agree": all(found["agree"] for found in known), "significant": is_significant}
        )
    return pd.DataFrame(rows)
