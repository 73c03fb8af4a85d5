# SPDX-License-Identifier: Apache-2.0
"""Two sets: is the throughput of one higher than that of the other, step by step?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import figures, statistics, steps
from ..findings import Headline
from ..page import Code, Field, Matrix, Part, Section
from ..runs import Run
from ..studies import OTHERS_MAX, SAME_SHARE, Report, sort_key
from ..tables import Sheet, Table, page_number

RATIOS_MAX = 200  # with more ratios, the page omits their table

# What counterparts have in common, and what pairs have; a pair's leader is its background.
SAME = "experiment workload placement method tau_seconds target round speed".split()
PAIR = "environment experiment workload placement speed trace".split()
LEADER = "workload method tau_seconds".split()

# Columns of steps that are those of A in a ratio, and those of which it has both.
OF_A = (
    "experiment placement foreground background method tau_seconds speed variant round step half "
    "target occurrence"
).split()
OF_EACH = "environment measured_in others record load throughput".split()


class Comparison(NamedTuple):
    """Two sets, step by step: all steps, and a row of `ratios` for each step that both have."""

    steps: pd.DataFrame  # `why`: why it has no counterpart in the other set; '' if it has one
    ratios: pd.DataFrame


def compare(report: Report) -> Comparison:
    """Match the steps of both sets: those of runs that agree in all that counts, with the same
    level, half and occurrence. Sets without a common environment are compared across them."""
    rows = _steps(report)
    if rows.empty:
        return Comparison(rows, rows)
    environments = [{*rows.loc[rows["set"] == s, "in"]} for s in (0, 1)]
    where = ["in"] if environments[0] & environments[1] else []
    of_run = [*where, "copy", "key"]
    levels = rows.groupby(of_run, sort=False, dropna=False)["target"].transform(steps.levels)
    rows["level"] = levels
    numbers = rows.groupby(["entry", "half", "level"], sort=False, dropna=False).cumcount() + 1
    rows["occurrence"] = numbers.where(rows["step"] > 0)

    sides = (rows[rows["set"] == s] for s in (0, 1))
    keys = [*of_run, "is_step", "half", "level", "occurrence"]
    both = pd.merge(*(side.reset_index() for side in sides), on=keys, suffixes=("_a", "_b"))
    both = both.sort_values(["entry_a", "entry_b", "step_a"], kind="stable", ignore_index=True)
    shared = rows.groupby(of_run, sort=False, dropna=False)["set"].transform("nunique") == 2
    is_matched = rows.index.isin([*both["index_a"], *both["index_b"]])
    reasons = "", "the other set has the run, but no such step"
    why = np.select([is_matched, shared], reasons, "the other set has no such run")
    return Comparison(rows.assign(why=why), _ratios(both, rows))


def _steps(report: Report) -> pd.DataFrame:
    """Return a row for each step, or one for a run without steps. A foreground has the steps of its
    background. `in`, `key`, `copy` and `side` say what it is compared with."""
    found = []
    for run in report.runs:
        background = report.beside(run, "background") if run.role else None
        # A note already says that a foreground has no background.
        if run.role != "background" and (background or not run.role):
            found.append((run, background))
    unnamed = {(run.set, run.name.rpartition("/")[2]) for run, _ in found if not run.workload}
    same = SAME + (["trace"] if _differ_in_trace(found) else [])
    keys: dict[Any, int] = {}
    copies: dict[Any, int] = {}
    sides: dict[Any, int] = {}
    frames = []
    for number, (run, background) in enumerate(found):
        leader = background or run
        # Records without a workload have the names of their folders, if both sets have it.
        folder = run.name.rpartition("/")[2]
        label = folder if not run.workload and (1 - run.set, folder) in unnamed else ""
        key = sort_key(run, same), label, sort_key(background, same) if background else ()
        place = sort_key(run, ["environment"])
        copy = copies[run.set, place, key] = copies.get((run.set, place, key), -1) + 1
        frames.append(
            _steps_of(run, background).assign(
                **{"entry": number, "set": run.set, "in": repr(place), "copy": copy},
                key=keys.setdefault(key, len(keys)),
                side=sides.setdefault(_side(report, run, background), len(sides)),
                record=run.name,
                environment=run.environment_name,
                measured_in=run.measured_in,
                **{name: getattr(run, name) for name in ("experiment", "placement", "round")},
                foreground=run.workload,
                background=background.workload if background else "",
                method=leader.method,
                tau_seconds=leader.tau_seconds,
                speed=run.speed,
                others=run.others,
                load_of=leader.record.labels.get("load_of", ""),  # group or cpus
                variant=_variant(report, run, leader),
            )
        )
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _differ_in_trace(found: list[tuple[Run, Run | None]]) -> bool:
    traces = {(run.set, sort_key(one, ["trace"])) for run, of in found for one in (run, of or run)}
    return any(sum(set_ == s for set_, _ in traces) > 1 for s in (0, 1))


def _steps_of(run: Run, background: Run | None) -> pd.DataFrame:
    leader = background or run
    found = leader.steps
    if found.empty:
        rate = math.nan if background else run.throughput
        row = {"step": 0, "half": 0, "target": math.nan, "load": leader.errors.load_mean}
        return pd.DataFrame([row | {"throughput": rate, "host_load": math.nan, "is_step": False}])
    times = found[["from", "to"]].to_numpy()
    host = [leader.surroundings.host_load(leader.record, *at)[0] for at in times]
    rates = found["throughput"]
    if background:
        rates = [run.throughput_beside(background, *at) for at in times]
    return found[["half", "target", "load"]].assign(
        step=np.arange(1, len(found) + 1), throughput=rates, host_load=host, is_step=True
    )


def _side(report: Report, run: Run, background: Run | None) -> tuple[Any, ...]:
    """Return all that separates pairs. Runs at several loads are the steps of one pair, but runs
    that differ in another axis, such as the number of instances, are not."""
    axis = () if _pools_axis(report) else sort_key(run, ["axis"])
    leader = sort_key(background or run, LEADER)
    return sort_key(run, PAIR), axis, leader, background is None


def _pools_axis(report: Report) -> bool:
    return not report.differences.axis or report.differences.axis_is_load


def _variant(report: Report, run: Run, leader: Run) -> str:
    """Return the columns of the plan that separate a run from others: "size=large"."""
    differences = report.differences
    variant = (run.variant or leader.variant)[:200]
    axis = differences.axis
    value = run.columns.get(axis, "")
    # The axis, if it separates pairs and has no other cell in their rows.
    if _pools_axis(report) or axis in ("speed", "tau_seconds") or not value:
        return variant
    if differences.in_variant(run, axis):
        return variant
    return f"{variant}{', ' if variant else ''}{axis[:40]}={value[:40]}"


def _ratios(both: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the ratio of each step that both sets have, and the ratio at the load of A."""
    is_one = both["load_of_a"] == both["load_of_b"]
    is_known = (both["load_of_a"] != "") & (both["load_of_b"] != "")
    on_host = np.isfinite(both["host_load_a"]) & np.isfinite(both["host_load_b"])
    load_of = both["load_of_a"].where(is_one, "")
    load_of = load_of.mask(~is_one & is_known & on_host, "host")  # only the host can tell
    unlike = ~is_one & is_known & ~on_host
    loads = {
        side: both[f"load_{side}"].where(load_of != "host", both[f"host_load_{side}"]).mask(unlike)
        for side in "ab"
    }
    differ = (both["others_a"] - both["others_b"]).abs() > OTHERS_MAX + SAME_SHARE
    at_load = pd.Series(math.nan, both.index)
    of_step = both[both["is_step"] & ~unlike]
    for (entry, half, of), group in of_step.groupby(
        ["entry_b", "half", load_of], sort=False, dropna=False
    ):
        own = rows[(rows["entry"] == entry) & (rows["half"] == half)]
        own = own.assign(at=own["host_load" if of == "host" else "load"])
        own = own[np.isfinite(own["at"]) & np.isfinite(own["throughput"])]
        own = own.sort_values("at", kind="stable").drop_duplicates("at")
        if len(own):
            at_load[group.index] = np.interp(
                loads["a"][group.index], own["at"], own["throughput"], math.nan, math.nan
            )
    names = {f"{name}_a": name for name in OF_A} | {"half": "half", "occurrence": "occurrence"}
    known = both.rename(columns=names)[OF_A]
    pairs = both[[f"{name}_{side}" for name in OF_EACH for side in "ab"]]
    rate = {side: both[f"throughput_{side}"] for side in "ab"}
    return known.join(pairs).assign(
        pair=[*zip(both["side_a"], both["side_b"])],
        step=known["step"].where(known["step"] > 0),
        half=known["half"].where(known["half"] > 0),
        iterations_per_second_a=rate["a"],
        iterations_per_second_b=rate["b"],
        ratio=(rate["a"] / rate["b"]).where(~differ & (rate["b"] > 0)),
        load_of=load_of,
        compared_load_a=loads["a"],
        compared_load_b=loads["b"],
        iterations_per_second_b_at_load=at_load,
        ratio_at_load=(rate["a"] / at_load).where(~differ & (at_load != 0)),
        unlike=unlike,
        forbidden=differ,
    )


def df_ratios(report: Report) -> pd.DataFrame:
    """Return the throughput of both sets, step by step."""
    return report.once(compare).ratios if report.compares else pd.DataFrame()


def df_comparison(report: Report) -> pd.DataFrame:
    """Return the least, median and largest ratio of each pair, over steps and rounds."""
    ratios = df_ratios(report)
    if ratios.empty:
        return pd.DataFrame()
    every = report.once(compare).steps
    lost = every[every["why"] != ""].groupby(["set", "side"], sort=False, dropna=False).size()
    rows = []
    for pair, group in ratios.groupby("pair", sort=False, dropna=False):
        names = [*OF_BOTH, "load_of", "variant"]
        row = group.iloc[0][names].to_dict() | {"a": report.set_name(0), "b": report.set_name(1)}
        for name, prefix in (("ratio", ""), ("ratio_at_load", "at_load_")):
            known = group[name][np.isfinite(group[name])]
            figures = {"min": known.min(), "median": known.median(), "max": known.max()}
            row |= {f"{prefix or 'ratio_'}{of}": value for of, value in figures.items()}
            row[f"{prefix}steps"] = len(known)
        missing = sum(lost.get((set_, side), 0) for set_, side in enumerate(pair))
        row["left_out"] = missing + len(group) - row["steps"]
        rows.append(row | {"at_load_steps": row["at_load_steps"] or math.nan})
    return pd.DataFrame(rows)


def df_unmatched(report: Report) -> pd.DataFrame:
    """Return the steps without a counterpart in the other set, which only the page shows."""
    rows = report.once(compare).steps if report.compares else pd.DataFrame()
    if rows.empty:
        return rows
    rows = rows[rows["why"] != ""]
    numbers = rows[["step", "half", "target"]].where(lambda of: of != 0)
    return rows.assign(**numbers, set=rows["set"].map(report.set_name))


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
    ratios, lost = df_ratios(report), df_unmatched(report)
    unlike, forbidden = ratios[["unlike", "forbidden"]].sum() if len(ratios) else (0, 0)
    if unlike:
        report.notes.add(
            f"{unlike} of {len(ratios)} steps are not compared at equal loads: one set has the "
            "load of a control group, the other the load of CPUs; record both with --load-of cpus, "
            "or with the load measured by the host"
        )
    if forbidden:
        report.notes.add(
            f"{forbidden} of {len(ratios)} steps are not compared: the share of the machine that "
            "other processes used differs by more than 2 points between the sets, which may "
            "explain a difference in throughput"
        )
    if len(lost):
        sets = report.once(compare).steps.loc[lost.index, "set"]
        counts = [f"{(sets == s).sum()} of {report.set_name(s)}" for s in (0, 1)]
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
        f"of colors, from {math.exp(-reach):.3f} (orange: A is slower) over 1 (no color) to "
        f"{math.exp(reach):.3f} (blue: A is faster)."
    )
    for _, group in pairs.groupby(MATRIX, sort=False, dropna=False):
        first = group.iloc[0]
        named = [first["placement"] or "not known", first["method"], first["variant"]]
        places = f"environment {_place(first, 'a')} / {_place(first, 'b')}"
        fields = {
            (row.foreground, row.background): _field(row.ratio_median, reach)
            for row in group.itertuples()
        }
        yield Matrix.of(f"Placement {', '.join([n for n in named if n] + [places])}", fields)


def _field(ratio: float, reach: float) -> Field:
    part = math.log(ratio) / reach if reach > 0 and ratio > 0 else 0.0
    return Field(page_number(ratio, 3), "", figures.ORANGE if part < 0 else figures.BLUE, min(abs(part), 1))


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
    table = replace(sheet.table, columns=tuple(columns))
    return Sheet(table, sheet.frame, sheet.prefix).text(title)
