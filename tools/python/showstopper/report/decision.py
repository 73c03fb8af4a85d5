# SPDX-License-Identifier: Apache-2.0
"""The answer of a duet in words, and the exit status of ssreport --decide; without figures."""

from __future__ import annotations

import math
import re

from ..duet import FIRST, Blocks, Duet, Percent, Plan, read
from ..study import Study
from ..text import UserError
from .findings import Worth

BESIDE_MAX = 1.0  # if the background differs by more percent, the answer is doubtful

DONE, FAILED, CONTINUES, UNDECIDED = range(4)  # exit statuses of ssreport --decide


def status(duet: Duet, worth: Worth) -> int:
    if duet.decision == "continues":
        return CONTINUES
    if worth.is_nothing:
        return UNDECIDED
    if duet.decision == "failed":
        return FAILED
    has_limit = not math.isnan(duet.plan.number("fail_above_percent"))
    return UNDECIDED if has_limit and duet.decision != "passed" else DONE


def decide(study: Study, markdown: bool = False) -> tuple[int, str]:
    """Return the exit status and the words of ssreport --decide. Notes on files of requests are
    added to the study, even if there is no answer."""
    duet, worth = study.once(read), Worth.of(study)
    if duet is None:
        raise UserError("--decide: not a study of the experiment duet: name the folder of one")
    if duet.has_others:
        raise UserError(
            "--decide takes one study of the experiment duet, but several are given: name only the "
            "folder of one"
        )
    study.notes += duet.notes
    if duet.lacking:
        raise UserError(f"{describe_lack(duet.plan, duet.lacking)}: there is no answer")
    answered, doubt = describe_answer(duet, worth), describe_doubt(duet, worth)
    if not markdown:
        doubtful = f"Doubtful: {doubt}\n" if doubt else ""
        return status(duet, worth), f"{answered}\n{doubtful}"
    # A backquote or a line feed would end the inline code.
    a, b = (re.split("[`\n]", command)[0] for command in (duet.plan.a, duet.plan.b))
    more = f" Doubtful: {doubt}" if doubt else ""
    words = f"**{answered}** (A: `{a}`, B: `{b}`; {_describe_size(duet)}){more}\n"
    return status(duet, worth), words


def _describe_size(duet: Duet) -> str:
    if duet.plan.of_two_processes:
        return f"one pair of processes, {duet.plan.turns} turns"
    kinds = {"alternate": "pairs of processes", "beside": "blocks of two runs of both"}
    return f"{duet.look.count} {kinds.get(duet.plan.kind, 'blocks of four runs')}"


def _beside(plan: Plan) -> str:
    name, at, level = plan.beside.rpartition("@")
    return f" next to {name} at {level.partition('%')[0]} %" if at else ""


def ask(plan: Plan) -> str:
    verb = "takes less time" if plan.by_time else "is faster"
    verb = "responds faster" if plan.by_time and plan.response else verb
    return f"Which {verb}{_beside(plan)}, A or B?"


def _describe_difference(plan: Plan, worse: Percent) -> str:
    """Return "B is 1.8 % (1.1 to 2.5) slower than A", or the like for times."""
    better = worse.mean < 0
    size = -worse if better else worse
    if plan.by_time and plan.response:
        longer = "shorter" if better else "longer"
        return f"B's {plan.response} response time is {size} {longer} than A's"
    if plan.by_time:
        return f"B takes {size} {'less' if better else 'more'} time than A"
    return f"B is {size} {'faster' if better else 'slower'} than A"


def describe_answer(duet: Duet, worth: Worth) -> str:
    plan, same = duet.plan, duet.worse_same
    if not duet.is_known:
        both = (duet.same, duet.different)
        done = sum(b.count > 0 if plan.of_two_processes else b.carried for b in both)
        what = "pairs of processes" if plan.kind == "alternate" else "blocks"
        least = 2 * (1 if plan.of_two_processes else FIRST)
        return f"No answer yet: {done} of at least {least} {what} are done"
    if worth.is_nothing:
        return worth.describe()
    noise = same if math.isfinite(same.low + same.high) else "unknown"
    certain = "" if duet.worse.is_certain else "No certain difference: "
    of_these = ", of these two processes" if plan.of_two_processes else ""
    difference = _describe_difference(plan, duet.worse) + _beside(plan)
    return f"{certain}{difference}{of_these}; A against A: {noise}"


def describe_lack(plan: Plan, blocks: Blocks) -> str:
    """Return how many blocks of a comparison lack a figure, and name a run."""
    reason = "the command did not end" if plan.by_time else "no iteration ended"
    reason = "too few requests were answered" if plan.response else reason
    count = blocks.carried - blocks.count
    return (
        f"{count} of {blocks.carried} blocks of {blocks.name} {'is' if count == 1 else 'are'} left "
        f"out, because {reason} in {blocks.unmeasured}"
    )


def describe_background(more: Percent) -> str:
    """Describe how much more the background did next to B. Without an interval, or with one that
    contains 0, the difference may be chance."""
    size = -more if more.mean < 0 else more
    words = str(size) if math.isfinite(more.low) else f"{size.mean:.1f} %"
    end = "so A and B did not run under the same load" if more.is_certain else "which may be chance"
    less = "less" if more.mean < 0 else "more"
    return f"the background did {words} {less} next to B than next to A, {end}"


def describe_doubt(duet: Duet, worth: Worth) -> str:
    """Return why the answer is doubtful; '' if it is not."""
    both, reasons = (duet.same, duet.different), []
    # Each block that is left out may account for one invalid record.
    left_out = sum(max(blocks.carried - blocks.count, 0) for blocks in both)
    if not worth.is_nothing and (worth.disturbed or worth.invalid > left_out):
        reasons.append(worth.describe()[:1].lower() + worth.describe()[1:])
    if duet.same_differs:
        reasons.append(
            "A against A differs from 0 at 99 %, so even runs of one command differ on this machine"
        )
    reasons += [describe_lack(duet.plan, blocks) for blocks in both if blocks.unmeasured]
    if duet.plan.beside and 2 * len(duet.different.beside) < duet.different.count:
        reasons.append(
            "whether the background did as much next to A as next to B is unknown: in most "
            "blocks none of its iterations ended"
        )
    elif abs(duet.more_beside.mean) > BESIDE_MAX:
        reasons.append(describe_background(duet.more_beside))
    return "; ".join(reasons)
