# SPDX-License-Identifier: Apache-2.0
"""The answer, which suspects hurt the victim, as sentences, tables, JSON and a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pandas as pd

from .. import __version__
from ..outputs import write_files
from ..report import page
from ..report.tables import Column, columns, sheet_of, to_json
from ..stats import percent_of
from ..text import say
from .effects import (
    DISTURBS, HURTS, NOTHING, SHIFTS, SUPPORTS, UNCONFIRMED, UNTESTABLE, Effects, confirmed,
)
from .study import Stage, Study

SCHEMA = 1  # of the JSON document
CHANGE_MIN = 0.001  # smaller relative changes of CPU time are not worth a sentence

_RANKS = (HURTS, SHIFTS, SUPPORTS, DISTURBS, UNCONFIRMED, UNTESTABLE, NOTHING, "")
_BOUNDS = {"value": "", "low": "_low", "high": "_high"}
_ESTIMATES = ("effect", "after", "returned", "cost", "net")
_COSTS = [f"cost{bound}" for bound in _BOUNDS.values()]


def digits(number: float) -> str:
    return f"{number:.0f}" if abs(number) >= 9.95 else f"{number:.2g}"


def gain_percent(study: Study, gain: float) -> float:
    """Return by how many percent a gain, a logarithm, raises a throughput or reduces a time."""
    return float(-percent_of(-gain) if study.call.lower_is_better else percent_of(gain))


def cost_percent(study: Study, cost: float) -> float:
    """Return by how many percent a cost, a logarithm, reduces a throughput or raises a time."""
    return -gain_percent(study, -cost)


# Data


def df_found(study: Study) -> pd.DataFrame:
    """Return a row for each run's verdict on each suspect, by its place among the suspects.
    `stage` is the number of the run, `group` that of the suspect's group in this run."""
    found = [pd.DataFrame(columns=["suspect", "stage", "group", "is_alone", "verdict"])]
    for at, stage in enumerate(study.stages):
        rows = stage.found()
        members = pd.Series(stage.groups, dtype=object).loc[rows.index]
        rows = rows.assign(suspect=members, stage=at, group=rows.index, is_alone=stage.is_alone)
        found.append(rows.explode("suspect"))
    rows = pd.concat(found, ignore_index=True).set_index("suspect")
    names = [f"{name}{bound}" for name in _ESTIMATES for bound in _BOUNDS.values()]
    numbers = rows.reindex(columns=["withheld", *names]).astype(float)
    return rows[["stage", "group", "is_alone", "verdict"]].assign(
        grew=rows["grew"].eq(True) if "grew" in rows else False, **numbers
    )


def df_suspects(study: Study) -> pd.DataFrame:
    """Return a row for each suspect, the most harmful first, with the columns of suspects.csv.

    `stage` and `place` are the last run that throttled it together with others and its group
    there, or -1; `alone` is the verdict of the run that throttled it alone.
    """
    found = df_found(study)
    is_alone = found["is_alone"].astype(bool)
    last, alone = (rows[~rows.index.duplicated(keep="last")] for rows in
                   (found[~is_alone], found[is_alone]))
    # A suspect that was set aside has no estimate from a run with others: use the run alone.
    was_aside = last.index[last["verdict"].eq(SUPPORTS) & last["effect"].isna()]
    decided = alone.index[alone["verdict"].isin([HURTS, SHIFTS, DISTURBS])].intersection(was_aside)
    last = pd.concat([last.drop(decided), alone.loc[decided]])
    alone = alone.drop(decided)
    alone = alone[["verdict", *_COSTS]].rename(
        columns={"verdict": "alone"} | {name: name.replace("cost", "cost_alone") for name in _COSTS}
    )
    named = pd.DataFrame([{"pid": one.pid, "name": one.name} for one in study.suspects])
    rows = named.join(last.rename(columns={"group": "place"})).join(alone)
    rows = rows.assign(**rows[["verdict", "alone"]].fillna(""), grew=rows["grew"].eq(True))
    rows = rows.astype({"stage": float, "place": float}).fillna({"stage": -1, "place": -1})
    rows = rows.astype({"stage": int, "place": int})
    rows["verdict"] = [confirmed(*both) for both in zip(rows["verdict"], rows["alone"])]
    rows["group"] = [
        f"{study.stages[stage].name}/s{place + 1}" if stage >= 0 else ""
        for stage, place in zip(rows["stage"], rows["place"])
    ]
    rows = rows.assign(rank=rows["verdict"].map(_RANKS.index), size=-rows["cost"].abs())
    return rows.sort_values(["rank", "size"], kind="stable", ignore_index=True)


def df_crossed(study: Study) -> pd.DataFrame:
    """Return how the CPU time of each suspect changed while each of the others was throttled."""
    frames = []
    for stage in study.stages:
        if stage.effects:
            crossed = stage.effects.crossed
            pids = np.array([study.suspects[group[0]].pid for group in stage.groups])
            both = {"pid": pids[crossed["group"]], "throttled": pids[crossed["throttled"]]}
            significant = crossed["significant"].where(crossed["change"].notna())
            frames.append(crossed.assign(run=stage.name, **both, significant=significant))
    names = ["run", "pid", "throttled", "change", "significant"]
    return pd.concat(frames, ignore_index=True)[names] if frames else pd.DataFrame(columns=names)


def df_changes(stage: Stage) -> pd.DataFrame:
    """Return the changes of a group's CPU time by another group's code that deserve a sentence."""
    if stage.effects is None:
        return pd.DataFrame(columns=["group", "throttled", "change"])
    return stage.effects.crossed.query(
        "group != throttled and significant and abs(change) >= @CHANGE_MIN"
    )


# Sentences about suspects; `one` is a row of df_suspects()


def _interval(values: Iterable[float]) -> str:
    value, low, high = map(digits, values)
    return f"{value} % ({low} to {high})"


def _throttling(study: Study, one: pd.Series) -> str:
    if study.stages[one["stage"]].is_in_rows:
        return "stopping it"
    return f"withholding {100 * one['withheld']:.0f} % of its CPU time"


def _lost(study: Study, one: pd.Series) -> str:
    """Return what the victim lost while a suspect was throttled."""
    if not math.isfinite(one["effect"]):
        return "30 % or more"
    ends = one[["effect", "effect_high", "effect_low"]]
    return _interval(cost_percent(study, -end) for end in ends)


def _most(study: Study, one: pd.Series) -> str:
    return f"all of it costs at most {digits(max(0, cost_percent(study, one['cost_high'])))} %"


def _hurts(study: Study, one: pd.Series) -> str:
    gain = _interval(gain_percent(study, one[f"effect{bound}"]) for bound in _BOUNDS.values())
    cost = digits(cost_percent(study, one["cost"]))
    withheld = _throttling(study, one)
    far = "" if study.stages[one["stage"]].is_in_rows else ", by extrapolation"
    risen = "its load has risen since the first run, so it is unknown whether it did the work later"
    far += f"; {risen}" if one["grew"] and one["verdict"] == HURTS else ""
    if study.call.lower_is_better:
        return (
            f"{withheld} makes the victim's times {gain} shorter; all of it makes them about "
            f"{cost} % longer{far}"
        )
    return f"{withheld} gives {gain} more throughput; all of it costs about {cost} %{far}"


def _shifts(study: Study, one: pd.Series) -> str:
    later = ""
    if math.isfinite(one["returned"]) and not one["grew"]:
        later = f": it did {100 * min(max(one['returned'], 0), 1):.0f} % of it later"
    return f"{_hurts(study, one)}; but throttling only shifts its work{later}"


def _supports(study: Study, one: pd.Series) -> str:
    sentence = (
        f"the service depends on it: {_throttling(study, one)} costs {_lost(study, one)}; look for "
        "sockets, pipes or memory that they share"
    )
    stage = study.stages[one["stage"]]
    verdicts = stage.found()["verdict"].reindex(range(len(stage.groups)))
    hurting = verdicts.index[verdicts.isin([HURTS, SHIFTS])]
    changes = df_changes(stage).query("throttled == @one.place and change > 0")
    gaining = changes[changes["group"].isin(hurting)].sort_values("change", kind="stable")
    for most in gaining.tail(1).itertuples():
        name = study.group_name(stage, most.group)
        sentence += (
            f"; or it holds back {name}, which hurts and used {digits(100 * most.change)} % more "
            "CPU time meanwhile"
        )
    return sentence


def _disturbs(study: Study, one: pd.Series) -> str:
    ends = one[["after", "after_high", "after_low"]]
    costs = _interval(cost_percent(study, -end) for end in ends)
    return (
        f"throttling it disturbs the service, which costs {costs} in the seconds after it was "
        f"stopped; {_most(study, one)}"
    )


def _unconfirmed(study: Study, one: pd.Series) -> str:
    lacks = ", which no run alone confirms" if one["alone"] == "" else ""
    return f"not confirmed: {_throttling(study, one)} costs {_lost(study, one)}{lacks}"


def _untestable(study: Study, one: pd.Series) -> str:
    if one["withheld"] >= 0.0005:  # rounds to at least 0.1 %
        lost = f"it lost only {100 * one['withheld']:.1f} % of its CPU time while it was throttled"
        return f"not testable: {lost}, because it catches up"
    if math.isfinite(one["withheld"]):
        lost = "it did not use less CPU time while it was throttled"
        return f"not testable: {lost}, because it catches up or hardly runs"
    recorded = len(study.stages[one["stage"]].cpu[one["place"]]) > 0
    why = "it used hardly any CPU time" if recorded else "its CPU time was not recorded"
    return f"not testable: {why}"


_SENTENCES: dict[str, Callable[[Study, pd.Series], str]] = {
    HURTS: _hurts,
    SHIFTS: _shifts,
    SUPPORTS: _supports,
    DISTURBS: _disturbs,
    UNCONFIRMED: _unconfirmed,
    UNTESTABLE: _untestable,
    NOTHING: lambda study, one: f"no effect was found; {_most(study, one)}",
}
_ALONE = {
    "": "",
    SUPPORTS: "; alone, the service loses again",
    DISTURBS: "; alone, throttling it disturbs the service",
    UNTESTABLE: "; alone, not testable",
    NOTHING: "; alone, no effect was found",
}


def _alone(study: Study, one: pd.Series) -> str:
    if one["alone"] not in (HURTS, SHIFTS):
        return _ALONE[one["alone"]]
    costs = (cost_percent(study, one[f"cost_alone{bound}"]) for bound in _BOUNDS.values())
    return f"; alone, all of it costs about {_interval(costs)}"


def sentence_of(study: Study, one: pd.Series) -> str:
    name = f"pid {one['pid']} ({one['name']})"
    if one["stage"] < 0:
        return f"{name}: {'no estimate' if study.is_done else 'not measured yet'}"
    size = len(study.stages[one["stage"]].groups[one["place"]])
    name += f", in a group of {size}" if size > 1 else ""
    return f"{name}: {_SENTENCES[one['verdict']](study, one)}{_alone(study, one)}"


# The other sentences


def is_answered(suspects: pd.DataFrame) -> bool:
    """Return whether there is an estimate for a suspect that could be tested."""
    return bool((~suspects["verdict"].isin(["", UNTESTABLE])).any())


def _none(study: Study, verdicts: pd.Series) -> str:
    """Return the first line if no suspect was found to hurt the victim."""
    untestable = verdicts.eq(UNTESTABLE).sum()
    if verdicts.eq("").all() and study.is_done:
        return "The question is not answered: too few slots have a figure above 0 for an estimate"
    if verdicts.eq("").all():
        return "The question is not answered yet: no suspect has been throttled"
    if untestable == len(verdicts):
        return "The question is not answered: no suspect could be tested"
    some = f"; {untestable} of {len(verdicts)} could not be tested" if untestable else ""
    return f"No suspect was found to hurt the victim{some}"


def noise_of(study: Study, suspects: pd.DataFrame) -> float:
    """Return the standard deviation of the logarithm of a slot's figure; NaN if unknown.

    It is measured around the fit of the run that decided on the first suspect or, before there is
    one, around a straight line through the run look.
    """
    first = int(suspects["stage"][0])
    found = study.stages[first].effects if first >= 0 else None
    return found.deviation if found else study.look.slots.deviation()


def results(study: Study, suspects: pd.DataFrame) -> list[str]:
    """Return a sentence for each suspect, the most harmful first. The first line is the answer."""
    lines = [sentence_of(study, one) for _, one in suspects.iterrows()]
    noise = noise_of(study, suspects)
    interval = "second" if study.stages[max(suspects["stage"][0], 0)].is_in_rows else "slot"
    if suspects["verdict"][0] not in (HURTS, SHIFTS):
        lines.insert(0, _none(study, suspects["verdict"]))
    if math.isfinite(noise):
        lines[0] += f"; the noise is {digits(percent_of(noise))} % per {interval}"
    return lines


def _pairs(study: Study, stage: Stage, found: Effects) -> Iterator[str]:
    """Return a sentence for each combined effect.

    If several pairs are throttled together in the same slots, the data cannot distinguish them.
    """
    for t, pairs in found.pairs.groupby("t", dropna=False, sort=False):
        names = ", or of ".join(
            f"{study.group_name(stage, one.one)} and {study.group_name(stage, one.other)}"
            for one in pairs.itertuples()
        )
        yield f"The combined effect of {names} is not the sum of their effects (t = {t:.1f})"


def warnings(study: Study) -> Iterator[str]:
    """Yield sentences: reasons to doubt the answer, changes of CPU time, and when costs hold."""
    for stage in study.stages[1:]:
        for group in stage.aside:
            yield (
                f"{stage.name}: the victim lost 30 % or more while "
                f"{study.group_name(stage, group)} was stopped; it was not throttled afterwards"
            )
        if stage.done and not stage.effects and not stage.aside:
            yield f"{stage.name}: too few slots with a figure above 0 for an estimate"
        if stage.effects and stage.effects.ghost_found:
            yield (
                f"Doubtful: in {stage.name}, a code that throttles nothing seems to have an effect"
            )
        if stage.effects:
            yield from _pairs(study, stage, stage.effects)
        for one in df_changes(stage).itertuples():
            name, throttled = (study.group_name(stage, at) for at in (one.group, one.throttled))
            more = f"{digits(100 * abs(one.change))} % {'more' if one.change > 0 else 'less'}"
            yield f"While {throttled} was throttled, {name} used {more} CPU time"
    yield "Costs are valid only while the other suspects run"


# Tables, JSON and the page

_ALONE_COSTS = {"": "cost alone, log", "_low": "from", "_high": "to"}
SUSPECTS = (
    *columns(pid="pid", name="name", verdict="verdict"),
    Column("withheld", "CPU time withheld, %", 1, percent=True),
    *columns(
        effect=("effect, log", 4), effect_low=("from", 4), effect_high=("to", 4),
        after=("afterwards", 4),
    ),
    Column("returned", "CPU time used later, %", percent=True),
    *columns(
        cost=("cost of all of it, log", 4), cost_low=("from", 4), cost_high=("to", 4),
        net=("net, log", 4), net_low=("from", 4), net_high=("to", 4),
    ),
    *(
        Column(f"cost_alone{bound}", heading, 4, if_known=True)
        for bound, heading in _ALONE_COSTS.items()
    ),
    Column("group"),
)  # fmt: skip
CROSSED = (
    *columns(pid="pid", throttled="while this one is throttled"),
    Column("change", "change of its CPU time, %", 1, percent=True),
    Column("significant", "significant"),
)

_METHOD = (
    "All suspects were throttled at once, each by its own code, and the victim's figure was "
    "regressed on the codes. Effects are natural logarithms of ratios, above 0 if the victim is "
    "better off; intervals cover the effects of all suspects at once with a probability of 95 %. "
    "ssantagonist(1) explains the method."
)


def _json_suspect(study: Study, one: pd.Series) -> dict[str, object]:
    found: dict[str, object] = {"pid": one["pid"], "name": one["name"]}
    found["answer"] = sentence_of(study, one)
    names = ["cost_alone"] if one["alone"] else []
    if one["stage"] >= 0:
        found |= {"verdict": one["verdict"], "withheld": one["withheld"]}
        names = [*_ESTIMATES, *names]
    for name in names:
        found[name] = {member: one[f"{name}{bound}"] for member, bound in _BOUNDS.items()}
    return found


def json_answer(study: Study, suspects: pd.DataFrame) -> str:
    return to_json(
        {
            "program": "ssantagonist",
            "schema": SCHEMA,
            "version": __version__,
            "complete": study.is_done and is_answered(suspects),
            "lower_is_better": study.call.lower_is_better,
            "noise": noise_of(study, suspects),
            "suspects": [_json_suspect(study, one) for _, one in suspects.iterrows()],
            "crossed": df_crossed(study).to_dict("records"),
            "notes": list(warnings(study)),
        }
    )


def write_page(study: Study, suspects: pd.DataFrame, folder: str) -> None:
    answer, *findings = [*results(study, suspects), *warnings(study)]
    sheets = [
        sheet_of("suspects", "Suspects", SUSPECTS, suspects),
        sheet_of(
            "crossed", "CPU time of each suspect against the codes", CROSSED, df_crossed(study)
        ),
    ]
    files = {f"{sheet.name}.csv": sheet.csv() for sheet in sheets}
    sections = [
        page.Section("Suspects", [findings, sheets[0]]),
        page.Section("Method", [_METHOD, page.folded(sheets[1])]),
    ]
    program = f"ssantagonist {__version__}"
    document = page.Page("Who is hurting me?", sections, answer, files=[*files], program=program)
    write_files(folder, files | {"report.html": page.render(document)})


def report(study: Study) -> int:
    """Print the answer, and write the page. Return 1 if the study is done without an answer."""
    suspects = df_suspects(study)
    if study.call.json:
        print(json_answer(study, suspects), end="")
    else:
        say("".join(f"{line}\n" for line in (*results(study, suspects), *warnings(study))))
    if study.call.page:
        write_page(study, suspects, study.call.page)
    return int(study.is_done and not is_answered(suspects))
