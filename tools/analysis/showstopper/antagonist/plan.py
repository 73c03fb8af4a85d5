# SPDX-License-Identifier: Apache-2.0
"""The plan of a study, for ssbatch(1), and a forecast of its next run."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from . import effects
from .answer import cost_percent, digits
from .study import Stage, Study, join_list

LEAD_SECONDS, END_SECONDS = 3, 2  # of a run, before the first slot and after the last

# Above this standard deviation, a loss of 30 % in two slots may be chance: it is less than three
# standard deviations.
NOISE_MAX = 0.12


def quote(word: str) -> str:
    if re.search("[\0-\x1f\x7f]", word):
        escaped = re.sub(r"(['\\])", r"\\\1", word)
        return "$'" + re.sub("[\0-\x1f\x7f]", lambda one: f"\\{ord(one[0]):03o}", escaped) + "'"
    if re.fullmatch(r"-[\w%+,./:@=-]*|[\w%+,./:@-]+", word, re.ASCII):
        return word
    return "'" + word.replace("'", r"'\''") + "'"


def _literal(word: str) -> str:
    """Quote a word of a command, in which ssbatch would take braces for placeholders."""
    return quote(word.replace("{", "{{"))


def lines(study: Study) -> Iterator[str]:
    yield "plan 1"
    yield "set experiment=antagonist"
    for stage in study.stages:
        yield _run(study, stage)
        if stage.codes:
            shifts = ",".join(map(str, stage.codes.shifts))
            yield (
                f"  before codes -- ssantagonist codes --depth {stage.depth:.9g} "
                f"--slot {stage.slot:.9g}s --slots {stage.codes.slots} "
                f"--shifts {stage.codes.start}:{shifts} {{out}}"
            )
        for number in range(len(stage.groups)):
            yield _throttle(study, stage, number)
        yield _watch(study, stage)


def _run(study: Study, stage: Stage) -> str:
    length = stage.slot_count * stage.slot + LEAD_SECONDS + END_SECONDS
    groups = [[study.suspects[one] for one in group] for group in stage.groups]
    suspects = "+".join(",".join(f"{one.pid}@{one.started}" for one in group) for group in groups)
    line = (
        f"run {stage.name} takes {length:.9g}s limit {2 * length + 600:.9g}s "
        f"depth={stage.depth:g} slot_seconds={stage.slot:g} suspects={suspects}"
    )
    if stage is not study.look:
        return line
    line += f" requested_depth={study.depth:.9g} seed={study.seed}"
    line += f" lower_is_better={'yes' if study.call.lower_is_better else 'no'}"
    line += f" names={quote(join_list([one.name for one in study.suspects]))}"
    group = study.call.suspects_of
    return line + (f" suspects_of={quote(group)}" if group else "")


def _throttle(study: Study, stage: Stage, group: int) -> str:
    pids = ",".join(str(study.suspects[one].pid) for one in stage.groups[group])
    load = f"-l 100% --duration {stage.slot_count * stage.slot:.9g}s"
    if stage.codes:
        load = f"-t file -T path={{out}}/s{group + 1}.trace,loop=no"
    return (
        f"  main s{group + 1} -- showstopper --quiet --attach {pids} --record-decisions none "
        f"-f own -c fixed -d averageq -D tau={round(1e9 * study.call.tau)}ns {load} "
        f"--start-at {{at+{LEAD_SECONDS}s}} --record {{record}}"
    )


def _watch(study: Study, stage: Stage) -> str:
    call = study.call
    line = (
        f"  main victim -- ssantagonist watch --slots {stage.slot_count} --slot {stage.slot:.9g}s "
        f"--start-at {{at+{LEAD_SECONDS}s}} --rate {call.rate:.9g}"
    )
    line += f" --usual {study.look.slots.mean():.9g}" if stage.codes else ""
    line += " --lower-is-better" if call.lower else ""
    line += f" --iteration {_literal(call.iteration)}" if call.iteration else ""
    return f"{line} --victim {_literal(call.victim)} {{out}}"


def forecast(study: Study) -> Iterator[str]:
    """Return which costs the first run with throttles can find, and what it takes from suspects."""
    stage = study.stages[-1]
    # The noise of a mean falls with the square root of the time.
    deviation = study.look.slots.deviation() * math.sqrt(study.look.slot / stage.slot)
    if len(study.stages) != 2 or stage.done or not stage.codes or not math.isfinite(deviation):
        return
    cost = cost_percent(study, effects.found_from(stage.codes, deviation, stage.depth))
    yield (
        f"The next run takes {stage.codes.slots * stage.slot / 60:.1f} minutes. In 9 of 10 cases, "
        f"it finds suspects that cost {digits(cost)} % or more. Meanwhile each suspect that does "
        f"not catch up loses {50 * stage.depth:.0f} % of its CPU time."
    )
    if deviation > NOISE_MAX:
        yield (
            f"Warning: the figure varies by {effects.percent(deviation):.0f} % from slot to slot, "
            "so two slots may lose 30 % by chance, which ends the study. Choose a longer --slot."
        )
