# SPDX-License-Identifier: Apache-2.0
"""Two sets: is the throughput of one higher than that of the other, step by step?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from .. import statistics, steps
from ..findings import Headline
from ..page import Code, Field, Matrix, Part, Section
from ..runs import Run
from ..studies import Report, others_permit, sort_key
from ..tables import Sheet, Table, page_number

RATIOS_MAX = 200  # with more ratios, the page omits their table

# What counterparts have in common, and what pairs have; a pair's leader is its background.
SAME = "experiment workload placement method tau_seconds target round speed".split()
PAIR = "environment experiment workload placement speed trace".split()
LEADER = "workload method tau_seconds".split()


@dataclass(eq=False)
class Entry:
    """A run, or a foreground with the steps of its background.

    `parts` has a row for each step, or one for a run without steps: step (0 for the whole run),
    half, target, load, throughput (that of the foreground), host_load, and `why`: why it has no
    counterpart in the other set.
    """

    run: Run
    background: Run | None
    parts: pd.DataFrame
    label: str = ""  # the name of a record without a workload, if both sets have it
    copy: int = 0  # number of equal entries before this one

    @property
    def leader(self) -> Run:
        """The run whose steps and method identify the entry."""
        return self.background or self.run

    @property
    def load_of(self) -> str:
        """How its load is defined: `group` or `cpus`; '' if unknown."""
        return self.leader.record.labels.get("load_of", "")

    def load_by(self, definition: str) -> pd.Series:
        return self.parts["host_load" if definition == "host" else "load"]


def _parts(run: Run, background: Run | None) -> pd.DataFrame:
    leader = background or run
    found = leader.steps
    if found.empty:
        rate = math.nan if background else run.throughput
        load = leader.errors.load_mean
        row = {"step": 0, "half": 0, "target": math.nan, "load": load, "throughput": rate}
        return pd.DataFrame([row | {"host_load": math.nan, "why": ""}])
    times = found[["from", "to"]].to_numpy()
    host = [leader.surroundings.host_load(leader.record, *at)[0] for at in times]
    rates = found["throughput"].to_numpy()
    if background:
        rates = np.array([run.throughput_beside(background, *at) for at in times])
    parts = found[["half", "target", "load"]].assign(throughput=rates, host_load=host, why="")
    return parts.assign(step=np.arange(1, len(found) + 1))


def _entries(report: Report) -> list[Entry]:
    entries = []
    for run in report.runs:
        background = report.beside(run, "background") if run.role else None
        # A note already says that a foreground has no background.
        if run.role != "background" and (background or not run.role):
            entries.append(Entry(run, background, _parts(run, background)))
    return entries


class Comparison:
    """Two sets, step by step: `ratios`, one row for each step that both have, and `entries`."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.entries = _entries(report)
        self._set_labels()
        traces = (
            {sort_key(run, ["trace"]) for e in self.entries if e.run.set == s for run in (e.run, e.leader)}
            for s in (0, 1)
        )
        self.same = [*SAME, *(["trace"] if any(len(found) > 1 for found in traces) else [])]
        self._number_copies()
        sets = [{sort_key(e.run, ["environment"]) for e in self.entries if e.run.set == s} for s in (0, 1)]
        self.is_across = not sets[0] & sets[1]  # the sets have no environment in common
        differences = report.differences
        self.pools_axis = not differences.axis or differences.axis_is_load
        self.unlike = self.forbidden = 0
        self.ratios = self._match()

    def _set_labels(self) -> None:
        """Label records without a workload by the names of their folders, if both sets have it."""
        unnamed = [entry for entry in self.entries if not entry.run.workload]
        names = [{e.run.name.rpartition("/")[2] for e in unnamed if e.run.set == s} for s in (0, 1)]
        for entry in unnamed:
            name = entry.run.name.rpartition("/")[2]
            entry.label = name if name in names[0] & names[1] else ""

    def _key(self, entry: Entry) -> tuple[Any, ...]:
        background = sort_key(entry.background, self.same) if entry.background else ()
        return sort_key(entry.run, self.same), entry.label, background

    def _number_copies(self) -> None:
        counts: dict[Any, int] = {}
        for entry in self.entries:
            key = sort_key(entry.run, ["set", "environment"]), self._key(entry)
            entry.copy = counts.get(key, 0)
            counts[key] = entry.copy + 1

    def _match(self) -> pd.DataFrame:
        groups: dict[Any, list[Entry]] = {}
        for entry in self.entries:
            environment = () if self.is_across else sort_key(entry.run, ["environment"])
            groups.setdefault((environment, entry.copy, self._key(entry)), []).append(entry)
        why = {True: "the other set has the run, but no such step"}
        for group in groups.values():
            is_shared = len({entry.run.set for entry in group}) == 2
            for entry in group:
                entry.parts["why"] = why.get(is_shared, "the other set has no such run")
        group_of = {id(entry): group for group in groups.values() for entry in group}
        rows = [
            row
            for entry in self.entries
            if entry.run.set == 0
            for other in group_of[id(entry)]
            if other.run.set == 1
            for row in self._ratios(entry, other)
        ]
        return pd.DataFrame(rows)

    def _ratios(self, one: Entry, other: Entry) -> Iterator[dict[str, Any]]:
        """Yield a row for each step that both entries have."""
        definition = _common(one, other)
        permitted = others_permit(one.run.others, other.run.others)
        head = self._head(one, other) | {
            "pair": (self.side(one), self.side(other)),
            "round": one.run.round,
            "others_a": one.run.others,
            "others_b": other.run.others,
            "record_a": one.run.name,
            "record_b": other.run.name,
        }
        for at, part in enumerate(one.parts.to_dict("records")):
            found = _counterpart(one, at, other)
            if found < 0:
                continue
            match = other.parts.iloc[found]
            one.parts.loc[one.parts.index[at], "why"] = ""
            other.parts.loc[other.parts.index[found], "why"] = ""
            rates = part["throughput"], float(match["throughput"])
            of = definition
            if of == "" and one.load_of and other.load_of:  # only the host can tell
                of = "host" if np.isfinite([part["host_load"], match["host_load"]]).all() else None
            self.forbidden += not permitted
            self.unlike += of is None
            row = head | {
                "step": part["step"] or math.nan,
                "half": part["half"] or math.nan,
                "target": part["target"],
                "load_a": part["load"],
                "load_b": match["load"],
                "iterations_per_second_a": rates[0],
                "iterations_per_second_b": rates[1],
                "ratio": rates[0] / rates[1] if permitted and rates[1] > 0 else math.nan,
                "load_of": of or "",
            }
            if part["step"]:
                row["occurrence"] = steps.occurrence(one.leader.steps, at)
            if of is not None:
                loads = one.load_by(of).iloc[at], other.load_by(of).iloc[found]
                row |= {"compared_load_a": loads[0], "compared_load_b": loads[1]}
                rate = _throughput_at(other, match["half"], of, loads[0]) if part["step"] else math.nan
                row["iterations_per_second_b_at_load"] = rate
                row["ratio_at_load"] = rates[0] / rate if permitted and rate else math.nan
            yield row

    def side(self, entry: Entry) -> tuple[Any, ...]:
        """Return all that separates pairs. Runs at several loads are the steps of one pair, but
        runs that differ in another axis, such as the number of instances, are not."""
        axis = () if self.pools_axis else sort_key(entry.run, ["axis"])
        return sort_key(entry.run, PAIR), axis, sort_key(entry.leader, LEADER), entry.background is None

    def _head(self, one: Entry, other: Entry) -> dict[str, Any]:
        """Return the cells that describe the compared runs."""
        run = one.run
        return {
            "experiment": run.experiment,
            "environment_a": run.environment_name,
            "measured_in_a": run.measured_in,
            "environment_b": other.run.environment_name,
            "measured_in_b": other.run.measured_in,
            "placement": run.placement,
            "foreground": run.workload,
            "background": one.background.workload if one.background else "",
            "method": one.leader.method,
            "tau_seconds": one.leader.tau_seconds,
            "speed": run.speed,
            "variant": self.variant(one),
        }

    def variant(self, entry: Entry) -> str:
        """Return the columns of the plan that separate an entry from others: "size=large"."""
        differences, run = self.report.differences, entry.run
        variant = (run.variant or entry.leader.variant)[:200]
        axis = differences.axis
        value = run.columns.get(axis, "")
        # The axis, if it separates pairs and has no other cell in their rows.
        if self.pools_axis or axis in ("speed", "tau_seconds") or not value:
            return variant
        if differences.in_variant(run, axis):
            return variant
        return f"{variant}{', ' if variant else ''}{axis[:40]}={value[:40]}"

    def unmatched(self) -> pd.DataFrame:
        """Return the steps without a counterpart, with `side`: what separates pairs."""
        rows = [
            part | {"entry": entry, "set": entry.run.set, "side": self.side(entry)}
            for entry in self.entries
            for part in entry.parts.to_dict("records")
            if part["why"]
        ]
        return pd.DataFrame(rows, columns=["set", "side"] if not rows else None)


def _common(one: Entry, other: Entry) -> str | None:
    """Return the definition of both loads; '' if one is unknown, or if they differ."""
    return one.load_of if one.load_of == other.load_of else ""


def _counterpart(one: Entry, at: int, other: Entry) -> int:
    if not one.parts["step"].iloc[at]:
        return 0 if not other.parts["step"].iloc[0] else -1
    return steps.counterpart(one.leader.steps, at, other.leader.steps)


def _throughput_at(entry: Entry, half: int, definition: str, load: float) -> float:
    """Return the throughput of an entry at a load, interpolated between its nearest steps of the
    same half; NaN outside of its loads."""
    parts = entry.parts.assign(at=entry.load_by(definition))
    known = np.isfinite(parts["at"]) & np.isfinite(parts["throughput"]) & (parts["half"] == half)
    parts = parts[known].sort_values("at", kind="stable")
    below, above = parts[parts["at"] <= load], parts[parts["at"] >= load]
    if below.empty or above.empty:
        return math.nan
    # Of steps with equal loads the first counts.
    low = below[below["at"] == below["at"].iloc[-1]].iloc[0]
    high = above.iloc[0]
    share = (load - low["at"]) / (high["at"] - low["at"]) if high["at"] > low["at"] else 0.0
    return float(low["throughput"] + share * (high["throughput"] - low["throughput"]))


def comparison_of(report: Report) -> Comparison:
    """Return the comparison, which is made once."""
    if "comparison" not in report.cache:
        report.cache["comparison"] = Comparison(report)
    found: Comparison = report.cache["comparison"]
    return found


def df_ratios(report: Report) -> pd.DataFrame:
    """Return the throughput of both sets, step by step."""
    return comparison_of(report).ratios if report.compares else pd.DataFrame()


def df_comparison(report: Report) -> pd.DataFrame:
    """Return the least, median and largest ratio of each pair, over steps and rounds."""
    ratios = df_ratios(report)
    if ratios.empty:
        return ratios
    lost = comparison_of(report).unmatched()
    rows = []
    for pair, group in ratios.groupby("pair", sort=False, dropna=False):
        first = group.iloc[0]
        known = group["ratio"][np.isfinite(group["ratio"])]
        at_load = group.get("ratio_at_load", pd.Series(dtype=float)).dropna()
        at_load = at_load[np.isfinite(at_load)]
        missing = sum(int(((lost["set"] == s) & (lost["side"] == pair[s])).sum()) for s in (0, 1))
        row = {name: first[name] for name in OF_BOTH} | {
            "a": report.set_name(0),
            "b": report.set_name(1),
            "load_of": first["load_of"],
            "variant": first["variant"],
            "steps": len(known),
            "ratio_min": known.min(),
            "ratio_median": statistics.median(known),
            "ratio_max": known.max(),
            "left_out": missing + len(group) - len(known),
        }
        if len(at_load):
            row |= {
                "at_load_steps": len(at_load),
                "at_load_min": at_load.min(),
                "at_load_median": statistics.median(at_load),
                "at_load_max": at_load.max(),
            }
        rows.append(row)
    return pd.DataFrame(rows)


def df_unmatched(report: Report) -> pd.DataFrame:
    """Return the steps without a counterpart in the other set, which only the page shows."""
    if not report.compares:
        return pd.DataFrame()
    comparison = comparison_of(report)
    lost = comparison.unmatched()
    rows = [
        {
            "set": report.set_name(entry.run.set),
            "record": entry.run.name,
            "environment": entry.run.environment_name,
            "placement": entry.run.placement,
            "foreground": entry.run.workload,
            "background": entry.background.workload if entry.background else "",
            "method": entry.leader.method,
            "round": entry.run.round,
            "variant": comparison.variant(entry),
        }
        for entry in lost.get("entry", ())
    ]
    found = pd.DataFrame(rows)
    for name in ("step", "half", "target", "why") if rows else ():
        found[name] = lost[name].where(lost[name] != 0) if name != "why" else lost[name]
    return found


OF_BOTH = (
    "experiment environment_a measured_in_a environment_b measured_in_b placement foreground "
    "background method tau_seconds speed"
).split()
TABLES = (
    Table(
        "comparison",
        "Throughput of A divided by that of B, by pair",
        "(a) (b) experiment environment_a measured_in_a environment_b measured_in_b placement "
        "foreground background method (tau_seconds) (speed) steps ratio_min ratio_median "
        "ratio_max left_out load_of at_load_steps at_load_min at_load_median at_load_max variant",
        df_comparison,
        about="With `--against`: for each pair, or for each workload and method, the smallest, "
        "median and largest ratio over all steps and rounds, and the same at the load of "
        "A. Names that end in `_a` or `_b` belong to one set.",
    ),
    Table(
        "ratios",
        "Throughput of both sets, step by step",
        "experiment environment_a measured_in_a environment_b measured_in_b placement foreground "
        "background method (tau_seconds) (speed) round step half target occurrence load_a load_b "
        "iterations_per_second_a iterations_per_second_b ratio (load_of) compared_load_a "
        "compared_load_b iterations_per_second_b_at_load ratio_at_load others_a others_b "
        "record_a record_b variant",
        df_ratios,
        about="With `--against`: each ratio, with both throughputs and the loads that were "
        "observed in the step: those of the background if there is one.",
    ),
)
UNMATCHED = Table(
    "unmatched",
    "Steps without a counterpart in the other set",
    "set record environment placement foreground background method round step half target why "
    "variant",
    df_unmatched,
)


# Sentences


def notes(report: Report) -> None:
    if not report.compares:
        return
    comparison = comparison_of(report)
    all_ = len(comparison.ratios)
    if comparison.unlike:
        report.notes.add(
            f"{comparison.unlike} of {all_} steps are not compared at equal loads: one set has the "
            "load of a control group, the other the load of CPUs; record both with --load-of cpus, "
            "or with the load measured by the host"
        )
    if comparison.forbidden:
        report.notes.add(
            f"{comparison.forbidden} of {all_} steps are not compared: the share of the machine "
            "that other processes used differs by more than 2 points between the sets, which may "
            "explain a difference in throughput"
        )
    lost = comparison.unmatched()["set"]
    if len(lost):
        counts = [f"{int((lost == s).sum())} of {report.set_name(s)}" for s in (0, 1)]
        report.notes.add(
            f"not compared, because the other set has no such steps: {counts[0]}, {counts[1]}; the "
            "page lists them"
        )


def answer(report: Report) -> Headline | None:
    if not report.compares:
        return None
    names = [report.set_name(s)[:128] for s in (0, 1)]
    question = f"Is the throughput of {names[0]} higher than that of {names[1]}?"
    ratios = df_ratios(report)
    ratios = ratios[np.isfinite(ratios["ratio"])] if len(ratios) else ratios
    if ratios.empty:
        return Headline(question)
    # The median of each two runs, because the steps of a run are not independent.
    runs = ratios.assign(percent=100 * (ratios["ratio"] - 1)).groupby(
        ["record_a", "record_b"], sort=False, dropna=False
    )
    medians = runs["percent"].agg(statistics.median).to_numpy()
    median = statistics.median(medians)
    interval = statistics.median_interval(medians, report.settings.confidence)
    ends = interval.low, interval.high
    bounded = all(math.isfinite(end) for end in ends)
    certain = bounded and (ends[0] > 0 or ends[1] < 0)
    if median < 0:
        ends = -ends[1], -ends[0]
    verdict = ("Yes: it" if median > 0 else "No: it") if certain else "It"
    shown = f" ({ends[0]:.1f} to {ends[1]:.1f})" if bounded else ""
    doubt = ", which is within the uncertainty" if bounded and not certain else ""
    few = "" if bounded else ", too few for an interval"
    return Headline(
        question,
        f"{verdict} is {abs(median):.1f} %{shown} {'lower' if median < 0 else 'higher'}{doubt}; "
        f"median of {len(medians)} pair{'' if len(medians) == 1 else 's'} of runs{few}.",
    )


# Page and terminal

# Rows with the same values in these columns are in one matrix.
MATRIX = (
    "experiment environment_a measured_in_a environment_b measured_in_b placement method "
    "tau_seconds speed variant"
).split()
SLOWER, FASTER = (240, 145, 105), (120, 175, 230)


def _place(row: Any, side: str) -> str:
    measured = row[f"measured_in_{side}"]
    return f"{row[f'environment_{side}']}{f' (measured: {measured})' if measured else ''}"


def _matrices(report: Report, frame: pd.DataFrame) -> Iterator[Part]:
    """Yield the medians of all pairs as a table for each placement."""
    pairs = frame[frame["background"] != ""]
    if pairs.empty:
        return
    away = np.log(pairs["ratio_median"].to_numpy(float))
    reach = float(np.max(np.abs(away[np.isfinite(away)]), initial=0))
    yield (
        "The foreground's throughput in the steps of its background, "
        f"{report.set_name(0)} divided by {report.set_name(1)}: the median over all steps and "
        "rounds of a pair; foregrounds by row, backgrounds by column. All tables share one range "
        f"of colors, from {math.exp(-reach):.3f} (red: A is slower) over 1 (white) to "
        f"{math.exp(reach):.3f} (blue: A is faster)."
    )
    for _, group in pairs.groupby(MATRIX, sort=False, dropna=False):
        first = group.iloc[0]
        named = [first["placement"] or "not known", first["method"], first["variant"]]
        places = f"environment {_place(first, 'a')} / {_place(first, 'b')}"
        backgrounds = list(dict.fromkeys(group["background"]))
        by_place = group.set_index(["foreground", "background"])["ratio_median"]
        field = partial(_field, by_place, reach)
        rows = [
            (foreground, [field(foreground, background) for background in backgrounds])
            for foreground in dict.fromkeys(group["foreground"])
        ]
        yield Matrix(f"Placement {', '.join([n for n in named if n] + [places])}", backgrounds, rows)


def _field(by_place: Any, reach: float, foreground: str, background: str) -> Field:
    ratio = float(by_place.get((foreground, background), math.nan))
    part = math.log(ratio) / reach if reach > 0 and ratio > 0 else 0.0
    return Field(page_number(ratio, 3), "", SLOWER if part < 0 else FASTER, min(abs(part), 1))


def sections(report: Report) -> Iterator[Part]:
    if not report.compares:
        return
    sheet, ratios = report.table("comparison"), report.table("ratios")
    parts: list[Part] = list(_matrices(report, sheet.frame)) if len(sheet) else []
    parts += [sheet, Sheet(UNMATCHED, df_unmatched(report), report.prefix)]
    if len(ratios) <= RATIOS_MAX:
        parts.append(ratios)
    else:
        parts.append(("See ", Code("ratios.csv"), " for each ratio."))
    yield Section(f"{report.set_name(0)} / {report.set_name(1)}", parts)


def text(report: Report) -> str:
    sheet = report.table("comparison")
    if not len(sheet):
        return ""
    title = f"throughput, {report.set_name(0)[:128]} / {report.set_name(1)[:128]}"
    if not sheet.frame["variant"].astype(bool).any():
        return sheet.text(title)
    # Make room for the variant on 80 columns: instead of unknown columns or ranges.
    pairs = sheet.frame[["placement", "background"]].astype(bool).any(axis=None)
    hidden = ("ratio_min", "ratio_max") if pairs else ("placement", "background")
    shown: dict[str, Any] = {name: None for name in hidden}
    shown["variant"] = ("variant", 14 if pairs else 21)
    columns = (
        replace(column, text=shown.get(column.name, column.text)) for column in sheet.table.columns
    )
    return Sheet(replace(sheet.table, columns=tuple(columns)), sheet.frame, sheet.prefix).text(title)
