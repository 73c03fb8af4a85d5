# SPDX-License-Identifier: Apache-2.0
"""The plan of a study, for ssbatch(1), and a forecast of its next run."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator

from .. import stats
from ..text import UserError, printable
from . import effects
from .answer import cost_percent, digits
from .effects import Codes
from .options import SETTLE
from .study import NOISE_MAX, Stage, Study, join_list

LEAD_SECONDS, END_SECONDS = 3, 4  # of a run, before the first slot and after the last
ROUNDS, ROUND_SECONDS = 20, 0.005  # rounds of showstopper in a row; their shortest length
# A suspect is set aside after this many successive blocks with a loss of 30 % each. One is enough
# to protect the victim; the run alone confirms it, so there the loss must repeat.
BLOCKS_TOGETHER, SLOTS_TOGETHER, BLOCKS_ALONE = 1, 2, 3


def quote(word: str) -> str:
    """Quote a word of a plan. Unlike shlex.quote(), escapes control characters such as newlines."""
    if re.search("[\0-\x1f\x7f]", word):
        escaped = re.sub(r"(['\\])", r"\\\1", word)
        return "$'" + re.sub("[\0-\x1f\x7f]", lambda one: f"\\{ord(one[0]):03o}", escaped) + "'"
    if re.fullmatch(r"-[\w%+,./:@=-]*|[\w%+,./:@-]+", word, re.ASCII):
        return word
    return "'" + word.replace("'", r"'\''") + "'"


def _literal(word: str) -> str:
    """Quote a word of a command. A brace is doubled, or ssbatch would take it for a placeholder."""
    return quote(word.replace("{", "{{"))


def lines(study: Study) -> Iterator[str]:
    yield "plan 1"
    yield "set experiment=antagonist"
    for stage in study.stages:
        yield _run(study, stage)
        if stage.codes:
            yield (
                f"  before codes -- ssantagonist codes --depth {stage.depth:.9g} "
                f"--slot {stage.slot:.9g}s --slots {stage.codes.slots} --rows {stage.rows} "
                f"--blocks {stage.blocks} --shifts {_shifts(stage.codes)} {{out}}"
            )
        for number in range(len(stage.groups)):
            yield _throttle(study, stage, number)
        yield _watch(study, stage)


def _shifts(codes: Codes) -> str:
    return f"{codes.start}:{','.join(map(str, codes.shifts))}"


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
    # Rounds begin together with rows, so that a block ends with its row.
    tau = round(1e9 * max(stage.slot / stage.rows / ROUNDS, ROUND_SECONDS))
    ok = "ok=0,143 " if stage.codes else ""  # watch sends SIGTERM to set a suspect aside
    return (
        f"  main s{group + 1} {ok}-- showstopper --quiet --attach {pids} --record-decisions none "
        f"-f own -c fixed -d averageq -D tau={tau}ns,phase=together {load} "
        f"--start-at {{at+{LEAD_SECONDS}s}} --record {{record}}"
    )


def _watch(study: Study, stage: Stage) -> str:
    call = study.call
    line = (
        f"  main victim -- ssantagonist watch --slots {stage.figure_count} "
        f"--slot {stage.figure_seconds:.9g}s --start-at {{at+{LEAD_SECONDS}s}} "
        f"--rate {call.rate:.9g}"
    )
    if stage.codes:
        line += _blocks(stage, stage.codes)
    line += f" --figure {call.figure}" if call.figure != "mean" else ""
    line += " --lower-is-better" if call.lower else ""
    line += f" --iteration {_literal(call.iteration)}" if call.iteration else ""
    return f"{line} --victim {_literal(call.victim)} {{out}}"


def _blocks(stage: Stage, codes: Codes) -> str:
    """Return the options by which watch knows when suspects are stopped, and releases them."""
    blocks = BLOCKS_TOGETHER if stage.is_in_rows else SLOTS_TOGETHER
    blocks = BLOCKS_ALONE if stage.is_alone else blocks
    pids = ",".join(f"{{s{group + 1}.pid}}" for group in range(len(stage.groups)))
    rows = "--rows 1 --blocks 1"
    if stage.is_in_rows:
        rows = f"--rows {stage.rows} --blocks {stage.blocks} --settle 0"
    return f" {rows} --shifts {_shifts(codes)} --loss-blocks {blocks} --throttles {pids}"


def deviation_of(study: Study, seconds: float) -> float:
    """Return the standard deviation of a figure over this many seconds, from that of the run look.

    The noise of a mean falls with the square root of the time.
    """
    settle = 1 - SETTLE if seconds < study.look.slot else 1
    return study.look.slots.deviation() * math.sqrt(study.look.slot * settle / seconds)


def forecast(study: Study) -> Iterator[str]:
    """Say which costs the first run with throttles can find, and what it takes from suspects.
    Raises UserError if the figure is too noisy."""
    stage = study.stages[-1]
    slot = deviation_of(study, stage.slot)
    if len(study.stages) != 2 or stage.done or not stage.codes or not math.isfinite(slot):
        return
    if slot > NOISE_MAX:
        longer = math.ceil(1.5 * stage.slot * (slot / NOISE_MAX) ** 2)
        raise UserError(
            f"the figure varies by {stats.percent_of(slot):.0f} % from slot to slot, too much to "
            f"find smaller costs: use --slot {longer}s"
        )
    # In a row with a block, a suspect is stopped only for the length of the block.
    withheld = stage.depth * stage.rows / stage.blocks if stage.is_in_rows else stage.depth
    stopped = stage.blocks / stage.rows / 2 if stage.is_in_rows else 0.5
    deviation = deviation_of(study, stage.figure_seconds)
    found = effects.found_from(len(stage.groups), stage.figure_count, stopped, deviation, withheld)
    yield (
        f"The next run takes {stage.codes.slots * stage.slot / 60:.1f} min. In 9 of 10 cases, "
        f"it finds suspects that cost {digits(cost_percent(study, found))} % or more. Meanwhile "
        f"each suspect that does not catch up loses {50 * stage.depth:.0f} % of its CPU time."
    )


def report(study: Study) -> int:
    """Print the plan, and the forecast on standard error."""
    study.check_pending()
    said = [*forecast(study)]  # before the plan, because it may raise UserError
    print(*lines(study), sep="\n")
    for line in said:
        print(printable(line), file=sys.stderr)
    return 0
