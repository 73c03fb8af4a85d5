# SPDX-License-Identifier: Apache-2.0
"""Rules for ssactuate by which a pair always has its best placement."""

from __future__ import annotations

import math

import pandas as pd

from .crossings import Placements, compare, first_of_each
from .pairs import PER_WATT_HOUR, SYSTEM, pairs
from .study import Study
from .text import UserError, show

# Distance of a rule from a change, as a part of all CPUs, so that noise causes no switches. Loads
# are written with a tenth of a percent.
GAP, LENGTH_MIN = 0.01, 0.001
SCHEMES = ("free", "per-chip", "per-core", "per-thread")  # of the knob `pin` of ssactuate

Rule = tuple[str, float, float]  # a placement, and from which load to which


def policy(study: Study, named: str = "", by_energy: bool = False) -> str:
    """Return the rules for the only pair, or the one that is named as --pair does."""
    found = _find_compared(study, named, PER_WATT_HOUR if by_energy else SYSTEM)
    foreground, background = (study.records[found.pair[n]].load_cpus for n in ("run", "beside"))
    # Loads in a study are relative to the background's CPUs, loads in a policy to all of them.
    known = foreground > 0 and background > 0
    share = background / (foreground + background) if known else 0.5
    rules = drop_empty(find_rules(found, share))
    if len(rules) < 2:
        raise UserError(
            "--policy: no change of the best placement is certain and leaves a range of loads on "
            f"both sides: use {found.best}, the best one on average"
        )
    unknown = [name for name, *_ in rules if name not in SCHEMES]
    if unknown:
        raise UserError(
            f"--policy: {unknown[0]} is the best placement at some loads, but pin of ssactuate(1) "
            "has only free, per-chip, per-core and per-thread"
        )
    what = "Work per watt-hour" if by_energy else "Throughput"
    pair, confidence = found.pair, 100 * study.settings.confidence
    return "\n".join([
        f"# {what} of both sides: {pair['foreground']} next to {pair['background']} "
        f"({pair['place']}), {found.steps} steps, confidence {confidence:g} %.",
        "# The load is that of the background, relative to all CPUs; it has "
        f"{100 * share:.3g} % of them.",
        "load side",
        *(_write(*rule) for rule in rules),
        "",
    ])


def _find_compared(study: Study, named: str, measure: str) -> Placements:
    rows, parts = study.once(pairs), named.split(",")
    rows = rows[rows["set"] == 1]
    if named:
        columns = ["foreground", "background", "environment"][: len(parts)]
        is_named = (rows[columns] == parts).all(axis=1) if 2 <= len(parts) <= 3 else False
        rows = rows[pd.Series(is_named, rows.index)]
    known = [one for pair in first_of_each(rows) if (one := compare(study, pair, measure)).is_known]
    if len(known) == 1:
        return known[0]
    if known:
        pair = known[0].pair
        such = f"{pair['foreground'][:100]},{pair['background'][:100]},{pair['environment']}"
        raise UserError(
            "--policy is for one pair, but several have more than one placement: choose one, such "
            f"as --pair {such}"
        )
    if named and rows.empty:
        raise UserError(
            f"--pair: there is no pair '{show(named)}': use FOREGROUND,BACKGROUND[,ENVIRONMENT]"
        )
    what = "work per watt-hour" if measure == PER_WATT_HOUR else "throughput"
    raise UserError(
        "--policy: no pair has two placements to compare: at least three common steps with a known "
        f"{what} of both sides are required"
    )


def find_rules(found: Placements, share: float) -> list[Rule]:
    """Return rules from the certain changes. An uncertain change keeps the previous placement."""
    rules: list[Rule] = []
    for change in (change for change in found.changes if change.is_clear):
        if not rules:
            rules.append((change.below, -math.inf, math.inf))
        name, start, _ = rules[-1]
        if name == change.above:
            continue
        load, low, high = (share * at for at in (change.load, change.low, change.high))
        rules[-1] = (name, start, min(low, load - GAP))
        rules.append((change.above, max(high, load + GAP), math.inf))
    return rules


def drop_empty(rules: list[Rule]) -> list[Rule]:
    """Leave out rules whose range no load can be in, because changes are close to each other, to
    idle or to full load. Around them, the previous placement remains."""
    kept: list[Rule] = []
    for name, start, end in rules:
        if end - start < LENGTH_MIN or end < LENGTH_MIN or start > 1 - LENGTH_MIN:
            continue
        if kept and kept[-1][0] == name:
            start = kept.pop()[1]
        kept.append((name, start, end))
    return kept


def _write(placement: str, start: float, end: float) -> str:
    if math.isinf(start):
        return f"below {100 * end:.1f}% pin={placement}"
    to = "" if math.isinf(end) else f" {100 * end:.1f}%"
    return f"{'between' if to else 'above'} {100 * start:.1f}%{to} pin={placement}"
