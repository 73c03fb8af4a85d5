# SPDX-License-Identifier: Apache-2.0
"""Two sets: is the throughput of one higher than that of the other, step by step?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import figures as f
from ... import stats, steps
from ...study import Study, groups, key_columns, permitted
from ..tables import Table

# Columns in which counterparts agree, those that identify a pair, and those of its leader, the
# background
SAME = "experiment workload placement method tau_seconds target round speed".split()
PAIR = "environment experiment workload placement speed trace".split()
LEADER = "workload method tau_seconds".split()

# Columns that a ratio takes from the step of A, and columns that it takes from both steps.
OF_A = (
    "experiment placement foreground background method tau_seconds speed variant round step half "
    "target occurrence"
).split()
OF_EACH = "environment measured_in others record load throughput".split()


class Comparison(NamedTuple):
    """Two sets, step by step: all steps, and a row of `ratios` for each step that both have."""

    steps: pd.DataFrame  # `why`: why it has no counterpart in the other set; '' if it has one
    ratios: pd.DataFrame


def compare(study: Study) -> Comparison:
    """Match the steps of both sets: those of runs that agree in all that counts, with the same
    level, half and occurrence. Sets without a common environment are compared across them."""
    entries = _entries(study)
    if entries.empty:
        return Comparison(entries, entries)
    rows = _steps(study, entries)
    environments = [{*entries.loc[entries["set"] == number, "in"]} for number in (1, 2)]
    where = ["in"] if environments[0] & environments[1] else []
    of_run = [*where, "copy", "key"]
    levels = rows.groupby(of_run, sort=False, dropna=False)["target"].transform(steps.levels)
    rows["level"] = levels
    numbers = rows.groupby(["entry", "half", "level"], sort=False, dropna=False).cumcount() + 1
    rows["occurrence"] = numbers.where(rows["step"] > 0)

    sides = (rows[rows["set"] == number].reset_index() for number in (1, 2))
    keys = [*of_run, "is_step", "half", "level", "occurrence"]
    both = pd.merge(*sides, on=keys, suffixes=("_a", "_b"))
    both = both.sort_values(["entry_a", "entry_b", "step_a"], kind="stable", ignore_index=True)
    shared = rows.groupby(of_run, sort=False, dropna=False)["set"].transform("nunique") == 2
    is_matched = rows.index.isin([*both["index_a"], *both["index_b"]])
    reasons = "", "the other set has the run, but no such step"
    why = np.select([is_matched, shared], reasons, "the other set has no such run")
    return Comparison(rows.assign(why=why), _ratios(both, rows))


def _entries(study: Study) -> pd.DataFrame:
    """Return a row for each run without a neighbor, and each foreground with its background, which
    leads. `in`, `key`, `copy` and `side` say what it is compared with."""
    runs = study.runs
    # A note already says that a foreground has no background.
    background = {at: study.beside(at, "background") for at in runs.index[runs["role"] != ""]}
    used = runs["role"].ne("background") & (
        runs["role"].eq("") | pd.Series(background, dtype=float).reindex(runs.index).notna()
    )
    rows = runs[used].assign(run=runs.index[used])
    if rows.empty:
        return rows
    other = pd.Series(background, dtype=float).reindex(rows.index)
    leads = other.fillna(rows["run"]).astype(int)
    leaders, is_pair = runs.loc[leads].set_axis(rows.index), other.notna()
    traces = pd.concat([rows[["set", "trace"]], leaders[["set", "trace"]]]).drop_duplicates()
    same = SAME + (["trace"] if traces["set"].value_counts(dropna=False).gt(1).any() else [])
    # Records without a workload have the names of their folders, if both sets have it.
    folder = rows["record"].str.rpartition("/")[2].where(rows["workload"] == "", "")
    in_both = rows.groupby(folder, sort=False, dropna=False)["set"].transform("nunique") == 2
    of_leader = key_columns(leaders, same).where(is_pair, "").astype(str).add_prefix("leader_")
    keys = key_columns(rows, same).assign(label=folder.where(in_both, "")).join(of_leader)
    rows = rows.assign(
        **{"in": _number(key_columns(rows, ["environment"]))},
        key=_number(keys),
        background=leaders["workload"].where(is_pair, ""),
        leader=leads,
        is_pair=is_pair,
        foreground=rows["workload"],
        entry=np.arange(len(rows)),
        method=leaders["method"],
        tau_seconds=leaders["tau_seconds"],
        load_of=[study.records[at].label("load_of") for at in leads],
        variant=_variants(study, rows, leaders),
        side=_sides(study, rows, leaders, is_pair),
    )
    copies = rows.groupby(["set", "in", "key"], sort=False, dropna=False).cumcount()
    return rows.assign(copy=copies)


def _number(keys: pd.DataFrame) -> pd.Series:
    return keys.groupby(list(keys), sort=False, dropna=False).ngroup()


def _pools_axis(study: Study) -> bool:
    return not study.differences.axis or study.differences.axis_is_load


def _sides(
    study: Study, rows: pd.DataFrame, leaders: pd.DataFrame, is_pair: pd.Series
) -> pd.Series:
    """Number the pairs. Runs at several loads are the steps of one pair, but runs that differ in
    another axis, such as the number of instances, are different pairs."""
    own = [*PAIR, *([] if _pools_axis(study) else ["axis"])]
    keys = key_columns(rows, own).join(key_columns(leaders, LEADER), rsuffix="_leader")
    return _number(keys.assign(is_pair=is_pair))


def _variants(study: Study, rows: pd.DataFrame, leaders: pd.DataFrame) -> pd.Series:
    """Return the columns of the plan that separate runs from others: "size=large"."""
    axis = study.differences.axis
    variants = rows["variant"].where(rows["variant"] != "", leaders["variant"]).str[:200]
    if _pools_axis(study) or axis in ("speed", "tau_seconds"):
        return variants
    # Add the axis if it separates pairs, and no other column shows it.
    values = study.plans.reindex(index=rows.index, columns=[axis], fill_value="")[axis]
    has_other = [study.differences.has_variant(run, axis) for run in rows.to_dict("records")]
    begin = variants.where(variants == "", variants + ", ")
    own = begin + f"{axis[:40]}=" + values.str[:40]
    return variants.where((values == "") | has_other, own)


def _steps(study: Study, entries: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each step, or one for a run without steps. A foreground has the steps of its
    background."""
    frames = []
    for entry in entries.itertuples():
        own = study.steps_of(entry.leader)
        leader = study.records[entry.leader]
        if own.empty:
            rate = math.nan if entry.is_pair else entry.throughput
            load = study.runs.loc[entry.leader, "load"]
            row = {"step": 0, "half": 0, "target": math.nan, "load": load, "host_load": math.nan}
            frames.append(pd.DataFrame([row | {"throughput": rate, "is_step": False}]))
        else:
            times = [*zip(own["from"], own["to"])]
            host, rates = [leader.host_load(*at)[0] for at in times], own["throughput"]
            if entry.is_pair:
                run = study.records[entry.run]
                rates = [steps.throughput_beside(run, leader, *at) for at in times]
            rows = own[["step", "half", "target", "load"]].assign(throughput=rates, host_load=host)
            frames.append(rows.assign(is_step=True))
        frames[-1]["entry"] = entry.entry
    rows = pd.concat(frames, ignore_index=True)
    names = (
        "entry set in key copy side record environment measured_in experiment placement round "
        "foreground background method tau_seconds speed others load_of variant"
    ).split()
    return rows.merge(entries[names], on="entry")


def _ratios(both: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the ratio of each step that both sets have, and the ratio at the load of A."""
    is_one = both["load_of_a"] == both["load_of_b"]
    is_known = both["load_of_a"].ne("") & both["load_of_b"].ne("")
    on_host = both[["host_load_a", "host_load_b"]].notna().all(axis=1)
    load_of = both["load_of_a"].where(is_one, "")
    load_of = load_of.mask(~is_one & is_known & on_host, "host")  # as the host measured both
    unlike = ~is_one & is_known & ~on_host
    loads = {
        side: both[f"load_{side}"].where(load_of != "host", both[f"host_load_{side}"]).mask(unlike)
        for side in "ab"
    }
    differ = ~permitted(both["others_a"], both["others_b"])
    of_step = both[both["is_step"] & ~unlike].assign(of=load_of, load=loads["a"])
    at_load = _interpolate(of_step, rows).reindex(both.index)
    names = {f"{name}_a": name for name in OF_A} | {"half": "half", "occurrence": "occurrence"}
    known = both.rename(columns=names)[OF_A]
    pairs = both[[f"{name}_{side}" for name in OF_EACH for side in "ab"]]
    rate = {side: both[f"throughput_{side}"] for side in "ab"}
    return known.join(pairs).assign(
        side_a=both["side_a"],
        side_b=both["side_b"],
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


def _interpolate(of_step: pd.DataFrame, rows: pd.DataFrame) -> pd.Series:
    """Return the throughput of B at the load of A, between the steps of one half."""
    found = pd.Series(math.nan, of_step.index)
    for group in groups(of_step, ["entry_b", "half", "of"]):
        first = group.iloc[0]
        own = rows[rows["entry"].eq(first["entry_b"]) & rows["half"].eq(first["half"])]
        own = own.assign(at=own["host_load" if first["of"] == "host" else "load"])
        own = own.dropna(subset=["at", "throughput"])
        own = own.sort_values("at", kind="stable").drop_duplicates("at")
        if len(own):
            at, rates = own["at"], own["throughput"]
            found[group.index] = np.interp(group["load"], at, rates, math.nan, math.nan)
    return found


def df_ratios(study: Study) -> pd.DataFrame:
    """Return the throughput of both sets, step by step."""
    return study.once(compare).ratios if study.compares else pd.DataFrame()


def df_comparison(study: Study) -> pd.DataFrame:
    """Return the least, median and largest ratio of each pair, over steps and rounds."""
    ratios = df_ratios(study)
    if ratios.empty:
        return pd.DataFrame()
    every = study.once(compare).steps
    lost = every[every["why"] != ""].groupby(["set", "side"], sort=False, dropna=False).size()
    rows = []
    for group in groups(ratios, ["side_a", "side_b"]):
        first = group.iloc[0]
        row = first[[*OF_BOTH, "load_of", "variant"]].to_dict()
        row |= {"a": study.set_name(1), "b": study.set_name(2)}
        for name, prefix in (("ratio", "ratio_"), ("ratio_at_load", "at_load_")):
            known = group[name][np.isfinite(group[name])]
            row |= {f"{prefix}min": known.min(), f"{prefix}max": known.max()}
            row |= {f"{prefix}median": known.median(), f"{prefix}steps": len(known)}
        missing = sum(lost.get((n, first[side]), 0) for n, side in ((1, "side_a"), (2, "side_b")))
        row |= {"steps": row["ratio_steps"], "left_out": missing + len(group) - row["ratio_steps"]}
        rows.append(row | {"at_load_steps": row["at_load_steps"] or math.nan})
    return pd.DataFrame(rows)


def df_unmatched(study: Study) -> pd.DataFrame:
    """Return the steps without a counterpart in the other set."""
    rows = study.once(compare).steps if study.compares else pd.DataFrame()
    if rows.empty:
        return rows
    rows = rows[rows["why"] != ""]
    numbers = rows[["step", "half", "target"]].where(lambda of: of != 0)
    return rows.assign(**numbers, set=rows["set"].map(study.set_name))


OF_BOTH = (
    "experiment environment_a measured_in_a environment_b measured_in_b placement foreground "
    "background method tau_seconds speed"
).split()
TABLES = {
    "comparison": Table(
        "Throughput of A divided by that of B, by pair",
        "(a) (b) experiment environment_a measured_in_a environment_b measured_in_b placement "
        "foreground background method (tau_seconds) (speed) steps ratio_min ratio_median "
        "ratio_max left_out load_of at_load_steps at_load_min at_load_median at_load_max variant",
        df_comparison,
        terminal="throughput of the first set, divided by that of the second",
        about="With `--against`: for each pair, or for each workload and method, the smallest, "
        "median and largest ratio over all steps and rounds, and the same at the load of "
        "A. Names that end in `_a` or `_b` belong to one set.",
    ),
    "unmatched": Table(
        "Steps without a counterpart in the other set",
        "set record environment placement foreground background method round step half target why "
        "variant",
        df_unmatched,
        about="With `--against`: the steps that are not compared.",
    ),
    "ratios": Table(
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
}


# Sentences


def notes(study: Study) -> None:
    ratios, lost = df_ratios(study), df_unmatched(study)
    unlike, forbidden = ratios[["unlike", "forbidden"]].sum() if len(ratios) else (0, 0)
    if unlike:
        study.notes.append(
            f"{unlike} of {len(ratios)} steps are not compared at equal loads: one set has the "
            "load of a control group, the other the load of CPUs; record both with --load-of cpus, "
            "or with the load measured by the host"
        )
    if forbidden:
        study.notes.append(
            f"{forbidden} of {len(ratios)} steps are not compared: the share of the machine that "
            "other processes used differs by more than 2 points between the sets, which may "
            "explain a difference in throughput"
        )
    if len(lost):
        counts = [f"{(lost['set'] == (name := study.set_name(n))).sum()} of {name}" for n in (1, 2)]
        study.notes.append(
            f"not compared, because the other set has no such steps: {counts[0]}, {counts[1]}; see "
            "unmatched.csv (--output)"
        )


def question(study: Study) -> str:
    names = [study.set_name(number)[:128] for number in (1, 2)]
    asked = f"Is the throughput of {names[0]} higher than that of {names[1]}?"
    return asked if study.compares else ""


def answer(study: Study) -> str:
    ratios = df_ratios(study)
    ratios = ratios[np.isfinite(ratios["ratio"])] if len(ratios) else ratios
    if ratios.empty:
        return ""
    # Use the median of each pair of runs, because the steps of a run are not independent.
    runs = ratios.assign(percent=100 * (ratios["ratio"] - 1)).groupby(
        ["record_a", "record_b"], sort=False, dropna=False
    )
    medians = runs["percent"].median().to_numpy()
    median = stats.median(medians)
    interval = stats.median_interval(medians, study.settings.confidence)
    ends = interval.low, interval.high
    bounded = all(math.isfinite(end) for end in ends)
    certain = bounded and (ends[0] > 0 or ends[1] < 0)
    if median < 0:
        ends = -ends[1], -ends[0]
    verdict = "It"
    if certain:
        verdict = "Yes: it" if median > 0 else "No: it"
    shown = f" ({ends[0]:.1f} to {ends[1]:.1f})" if bounded else ""
    doubt = ", which is within the uncertainty" if bounded and not certain else ""
    few = "" if bounded else ", too few for an interval"
    return (
        f"{verdict} is {abs(median):.1f} %{shown} {'lower' if median < 0 else 'higher'}{doubt}; "
        f"median of {len(medians)} pair{'' if len(medians) == 1 else 's'} of runs{few}."
    )


# Figures

# Rows with the same values in these columns are in one picture.
MATRIX = (
    "experiment environment_a measured_in_a environment_b measured_in_b placement method "
    "tau_seconds speed variant"
).split()


def _place(row: pd.Series, side: str) -> str:
    measured = row[f"measured_in_{side}"]
    return f"{row[f'environment_{side}']}{f' (measured: {measured})' if measured else ''}"


def figures(study: Study) -> Iterator[f.Picture]:
    rows = study.once(df_comparison)
    rows = rows[rows["background"] != ""] if len(rows) else rows
    with np.errstate(invalid="ignore", divide="ignore"):
        away = np.log(rows["ratio_median"].to_numpy(float)) if len(rows) else np.zeros(0)
    reach = float(np.max(np.abs(away[np.isfinite(away)]), initial=0))
    for group in groups(rows, MATRIX):
        first = group.iloc[0]
        named = [first["placement"] or "not known", first["method"], first["variant"]]
        places = f"environment {_place(first, 'a')} / {_place(first, 'b')}"
        caption = f"Placement {', '.join([name for name in named if name] + [places])}"
        how = (
            f"The foreground's throughput in the steps of its background, {study.set_name(1)} "
            f"divided by {study.set_name(2)}: the median over all steps and rounds of a pair. All "
            f"pictures share one range of colors, from {math.exp(-reach):.3f} (orange: A is "
            f"slower) to {math.exp(reach):.3f} (blue: A is faster)."
        )
        ratios = group["ratio_median"]
        depth = -np.log(ratios.where(ratios > 0)).fillna(0) / (reach or 1)
        texts = ratios.map("{:.3f}".format)
        yield f.Picture(caption, f.plot_matrix(group.assign(depth=depth, text=texts)), how=how)
