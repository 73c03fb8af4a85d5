# SPDX-License-Identifier: Apache-2.0
"""A study of ssantagonist: its suspects, its runs, and what the runs measured.

Later runs depend on the results of earlier ones:

    look         throttles nothing; measures the length of an iteration, and the noise
    together-1   throttles all suspects, in groups if there are more of them than codes
    together-2   throttles the suspects of groups that have an effect; and so on
    alone-PID    throttles one suspect that has an effect, alone, at a larger depth
"""

from __future__ import annotations

import contextlib
import csv
import io
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from .. import state, stats
from ..contents import has_file, member, read_bytes, read_json, text_of
from ..frames import read_table, read_texts
from ..inputs import number
from ..outputs import OutputError
from ..records import Record
from ..text import UserError, reason, show
from . import effects
from .effects import HURTS, SHIFTS, SUPPORTS, Codes, Effects, Throttled
from .options import SETTLE, Call

DEPTH = 0.2  # of a study that begins without --depth
DEPTH_TOLERANCE = 1e-8  # of the column, which has nine digits

DECIDING = ("run.json", "slots.csv", "aside.csv", "codes.csv")  # files of a run, for the next plan

STAGES_MAX = 40
LOOK_SLOTS = 12
TOGETHER_MAX = 4  # stages of groups; three are enough for 4,096 suspects
ALONE_DEPTH = 0.5
ALONE_SLOTS = 2  # slots of a suspect that is throttled alone are longer by this factor
SUSPECTS_MAX = effects.SUSPECTS_MAX**2

SLOT_SECONDS, SLOT_ITERATIONS = 5, 10  # lower bounds of the length of a slot
BLOCK_FIGURES = 5  # with fewer figures while a suspect is stopped, figures are means of slots
ASIDE_ROWS = 5  # until a suspect that is set aside is no longer throttled
NOISE_MAX = 0.12  # standard deviation of the logarithm of a slot's figure
CPUS_MIN = 0.001  # a suspect that uses less is considered idle, and its CPU time unknown


# Suspects


@dataclass(frozen=True)
class Suspect:
    pid: int
    started: int  # identifies the process with its pid
    name: str


def split_list(text: str) -> list[str]:
    """Split a list at commas; a backslash precedes a comma or a backslash of an item."""
    items = re.findall(r"(?:^|,)((?:\\[,\\]|[^,])*)", text)
    return [re.sub(r"\\([,\\])", r"\1", item) for item in items]


def join_list(items: Sequence[str]) -> str:
    """Join items. A byte that is not UTF-8 becomes a question mark: JSON does not allow it.

    The kernel may cut a name inside a character, and the next plan must have the same column.
    """
    text = ",".join(re.sub(r"([,\\])", r"\\\1", item) for item in items)
    return re.sub("[\udc80-\udcff]", "?", text)


def find_suspects(call: Call, known: Sequence[Suspect] = ()) -> list[Suspect]:
    """Find the suspects of the call, or `known` ones. The C program does this: it reads /proc.

    For a plan, it also refuses those that must not be throttled. It prints its error itself.
    """
    options = {"suspects": call.suspects, "suspects-of": call.suspects_of}
    if known:
        pids = ",".join(f"{one.pid}@{one.started}" for one in known)
        options = {"suspects": pids, "names": join_list([one.name for one in known])}
    if call.command == "plan":
        options |= {"victim": call.victim, "iteration": call.iteration}
        options |= {"victim-pid": call.victim_pid}
    program = os.environ.get("SHOWSTOPPER_PROGRAM", "ssantagonist")
    words = [program, "suspects"]
    words += [f"--{name}={value}" for name, value in options.items() if value or name == "names"]
    try:
        result = subprocess.run(words, stdout=subprocess.PIPE, check=False)
    except OSError as error:
        raise UserError(f"cannot execute {show(program)}: {reason(error)}") from None
    if result.returncode != 0:
        sys.exit(125)
    table = result.stdout.decode("utf-8", "surrogateescape")
    _, *rows = csv.reader(io.StringIO(table, newline=""))
    return [Suspect(int(pid), int(started), name) for pid, started, name in rows]


def read_columns(call: Call) -> tuple[list[Suspect], float, int] | None:
    """Return the suspects, depth and seed with which a study began; None if it has not.

    They are kept in columns of the first run: processes end and start meanwhile, pids are reused,
    and other suspects or another seed would give other codes than those of the runs.
    """
    with open_run(call, "look") as folder:
        document = read_run(folder)
    if document is None:
        return None
    columns = member(document, "columns", dict) or {}
    names = split_list(text_of(columns, "names"))
    pairs = re.findall(r"(?:^|[,+])(\d+)@(\d+)", text_of(columns, "suspects"))
    suspects = [Suspect(int(pid), int(started), name) for (pid, started), name in zip(pairs, names)]
    try:
        depth, seed = float(columns["requested_depth"]), int(columns["seed"])
        lower = str(columns["lower_is_better"])
        complete = "names" in columns and len(suspects) == len(pairs) == len(names)
    except (KeyError, TypeError, ValueError):
        complete = False
    if not complete:
        raise UserError(
            f"{show(call.folder)}: the run look lacks columns, because another version began this "
            "study: use that version, or another folder"
        )
    _check_call(call, suspects, text_of(columns, "suspects_of"), depth, seed, lower == "yes")
    return suspects, depth, seed


def _check_call(
    call: Call, suspects: list[Suspect], group: str, depth: float, seed: int, lower: bool
) -> None:
    """Refuse options that contradict those with which the study began."""
    pids = ",".join(str(one.pid) for one in suspects)
    is_other_depth = call.depth > 0 and abs(call.depth - depth) > DEPTH_TOLERANCE
    contradictions = (
        ("suspects", call.suspects not in ("", pids), pids),
        ("suspects-of", call.suspects_of not in ("", group), group or "--suspects"),
        ("depth", is_other_depth, f"{100 * depth:.9g} %"),
        ("seed", call.seed not in (0, seed), str(seed)),
    )
    for name, contradicts, began in contradictions:
        if contradicts:
            more = "use this, or another folder"
            raise UserError(f"--{name}: the study began with {show(began)}: {more}")
    if call.lower_is_better != lower:
        raise UserError(
            f"in this study, {'smaller' if lower else 'larger'} figures are better: use the same "
            "--victim, --iteration and --lower-is-better as at its beginning"
        )


# Results of runs


@dataclass(frozen=True)
class Slots:
    """The victim's figure in each slot of a run, which watch wrote to slots.csv."""

    begin: float = 0  # seconds since 1970
    length: float = 0  # seconds
    counts: np.ndarray = field(default_factory=lambda: np.empty(0))  # figures in each slot
    figures: np.ndarray = field(default_factory=lambda: np.empty(0))  # their means; NaN if unknown

    def deviation(self) -> float:
        """Return the standard deviation of logarithms around a line; NaN for fewer than 4."""
        line = effects.Fit(effects.drift(len(self.figures), 2), stats.log(self.figures))
        return math.sqrt(line.variance) if line.is_determined and line.count >= 4 else math.nan

    def iteration(self) -> float:
        """Return the mean time between figures, in seconds; infinite if there are none."""
        seconds = len(self.figures) * self.length * (1 - SETTLE)
        return float(seconds / self.counts.sum()) if self.counts.any() else math.inf


@contextlib.contextmanager
def open_run(call: Call, run: str) -> Iterator[str]:
    """Yield the folder of a run. For a plan, which files of others must not decide, it is checked
    and held; '' if it is missing."""
    path = folder = f"{call.folder}/{run}"
    with contextlib.ExitStack() as stack:
        if call.command == "plan":
            try:
                folder = stack.enter_context(state.hold(path, DECIDING))
            except OutputError:
                raise
            except OSError:
                folder = ""
        try:
            yield folder
        except UserError as error:
            raise UserError(str(error).replace(folder or path, path)) from None


def read_run(folder: str) -> object:
    """Return run.json of a run; None unless the run is done."""
    try:
        document = read_json(folder, "run.json") if folder else None
    except UserError:
        return None
    return document if text_of(document, "status") == "done" else None


def read_slots(folder: str) -> Slots:
    """Read slots.csv, which may be missing. Drops a last line that was cut by a kill."""
    if not has_file(folder, "slots.csv"):
        return Slots()
    names, notes = ["begin_epoch_seconds", "length_seconds", "figures", "figure"], list[str]()
    texts = read_texts("slots.csv", read_bytes(folder, "slots.csv"), names, notes)
    rows = texts.apply(lambda column: column.map(number).astype(float))
    unknown = rows.index[rows[names[:3]].isna().any(axis=1)]
    if len(unknown):
        row = show(",".join(texts.loc[unknown[0]]))
        notes = [f'slots.csv:{unknown[0]}: invalid row, in "{row}"']
    if len(unknown) or rows.index.max() > len(rows) + 1:
        raise UserError(f"{show(folder)}/{notes[0]}")
    begins, lengths, counts, figures = rows.to_numpy().T
    return Slots(begins[0], lengths[-1], counts, figures) if len(rows) else Slots()


def read_aside(folder: str) -> dict[int, int]:
    """Return which groups were set aside in a run, and in which row."""
    if not has_file(folder, "aside.csv"):
        return {}
    data = read_bytes(folder, "aside.csv")
    rows = read_texts("aside.csv", data, ("suspect", "row"), [])
    return {int(name[1:]) - 1: int(row) for name, row in zip(rows["suspect"], rows["row"])}


def read_cpu(folder: str, slots: Slots, count: int) -> np.ndarray:
    """Return the CPU time of a group in each of `count` slots, in CPUs; NaN if unknown, and empty
    if it was not recorded."""
    try:
        record = Record(folder)
        samples = record.samples[["begin", "end", "load"]].dropna()
    except UserError:
        return np.empty(0)
    begins = slots.begin + np.arange(len(slots.figures))[:, None] * slots.length
    ends = np.minimum(record.wall + samples["end"].to_numpy(), begins + slots.length)
    overlaps = (ends - np.maximum(record.wall + samples["begin"].to_numpy(), begins)).clip(min=0)
    used = overlaps @ (samples["load"].to_numpy() * record.cpu_count)
    recorded = overlaps.sum(axis=1)
    if not recorded.any():
        return np.empty(0)
    known = (recorded > 0.5 * slots.length) & (used.sum() > CPUS_MIN * recorded.sum())
    cpu = np.full(max(count, len(known)), math.nan)
    cpu[np.flatnonzero(known)] = used[known] / recorded[known]
    return cpu[:count]


# Runs


def divide_slot(slot: float, depth: float, block: float) -> tuple[int, int]:
    """Return the number of rows of a slot, of about a second, and of those that end with a block.

    Up to a depth of 50 %, at most every second row has a block; beyond it, every row has one.
    """
    rows = max(int(slot), 1)
    blocks = max(math.ceil(depth * slot / block - 1e-9), 1)
    if depth <= 0.5:
        return max(rows, 2 * blocks), blocks
    rows = max(rows, blocks)
    return rows, rows


@dataclass
class Stage:
    """A run of the study."""

    name: str
    groups: list[list[int]]  # places of suspects
    depth: float
    slot: float  # seconds
    rows: int = 1  # of a slot
    blocks: int = 1  # of a slot
    is_in_rows: bool = False  # figures are those of rows; otherwise, of slots
    aside: dict[int, int] = field(default_factory=dict)  # row in which each group was set aside
    codes: Codes | None = None
    done: bool = False
    slots: Slots = field(default_factory=Slots)
    cpu: list[np.ndarray] = field(default_factory=list)  # of each group, see read_cpu()
    effects: Effects | None = None

    @property
    def is_alone(self) -> bool:
        return self.name.startswith("alone-")

    @property
    def slot_count(self) -> int:
        return self.codes.slots if self.codes else LOOK_SLOTS

    @property
    def figure_count(self) -> int:
        """The number of figures of the victim: of rows, or of slots."""
        return self.slot_count * (self.rows if self.is_in_rows else 1)

    @property
    def figure_seconds(self) -> float:
        return self.slot / (self.rows if self.is_in_rows else 1)

    def found(self) -> pd.DataFrame:
        """Return the effects of the groups that have a verdict, by number of the group."""
        groups = range(len(self.groups))
        rows = pd.DataFrame({"verdict": ""}, index=groups, dtype=object)
        if self.effects:
            rows = self.effects.codes.loc[groups].copy()
        aside = rows.index.isin([*self.aside])
        rows.loc[aside, rows.columns != "verdict"] = np.nan
        rows.loc[aside, "verdict"] = SUPPORTS
        return rows[rows["verdict"] != ""]

    def having(self, *verdicts: str) -> list[list[int]]:
        """Return the groups with one of these verdicts."""
        found = self.found()
        return [self.groups[group] for group in found.index[found["verdict"].isin(verdicts)]]


def divide(members: list[int]) -> list[list[int]]:
    """Divide members into groups of similar size, one for each code."""
    count = min(len(members), effects.SUSPECTS_MAX)
    bounds = [group * len(members) // count for group in range(count + 1)]
    return [members[begin:end] for begin, end in zip(bounds, bounds[1:])]


class Study:
    """The runs of a study so far: those that are done, and the next ones."""

    def __init__(self, call: Call, suspects: list[Suspect], depth: float, seed: int) -> None:
        if not 1 <= len(suspects) <= SUSPECTS_MAX:
            raise UserError(f"{len(suspects)} suspects: use 1 to {SUSPECTS_MAX}")
        self.call, self.suspects, self.depth, self.seed = call, suspects, depth, seed
        self.stages: list[Stage] = []
        self.usual = np.full((len(suspects), 2), math.nan)  # mean of CPU time in `look`, its error
        self._look()
        if self.look.done and self._together():
            self._alone()

    @staticmethod
    def open(call: Call) -> Study:
        began = read_columns(call)
        return Study(call, *(began or (find_suspects(call), call.depth or DEPTH, call.seed)))

    @property
    def look(self) -> Stage:
        return self.stages[0]

    @property
    def is_done(self) -> bool:
        return len(self.stages) > 1 and all(stage.done for stage in self.stages)

    def check_pending(self) -> None:
        """Refuse suspects of pending runs that must no longer be throttled. Those of a new study
        were checked when they were found."""
        groups = [group for stage in self.stages if not stage.done for group in stage.groups]
        if self.look.done and groups:
            find_suspects(self.call, [self.suspects[one] for group in groups for one in group])

    def group_name(self, stage: Stage, group: int) -> str:
        """Return the name of a suspect, or of the first in a group."""
        first, *others = (self.suspects[one] for one in stage.groups[group])
        return f"pid {first.pid} ({first.name})" + (f" and {len(others)} more" if others else "")

    def _look(self) -> None:
        """Plan the first run. It measures suspects in the groups that the next run throttles."""
        everyone = list(range(len(self.suspects)))
        slot = self.call.slot or max(SLOT_SECONDS, self.call.quantile_seconds())
        self.stages.append(Stage("look", divide(everyone), 0, slot))
        self._read(self.look)
        self.look.slot = self.look.slots.length or slot  # a later call may ask for longer slots
        for group, cpu in zip(self.look.groups, self.look.cpu):
            if len(group) == 1:
                known = stats.mean_of(cpu[np.isfinite(cpu)])
                self.usual[group[0]] = known.mean, known.deviation / math.sqrt(known.count or 1)

    def _choose_slot(self) -> float:
        if self.call.slot:
            return self.call.slot
        slot = max(SLOT_SECONDS, self.call.quantile_seconds())
        iterations = math.ceil(SLOT_ITERATIONS * min(self.look.slots.iteration(), 1e6))
        slot = max(slot, iterations) if self.look.slots.counts.any() else slot
        while self.depth <= 0.5 and int(slot) < divide_slot(slot, self.depth, self.call.block)[0]:
            slot += 1  # until rows last a second, with a block in every second one at most
        return slot

    def _together(self) -> bool:
        """Add the stages that throttle suspects together. Return whether all of them are done."""
        groups, slot = self.look.groups, self._choose_slot()
        for at in range(1, TOGETHER_MAX + 1):
            stage = self._add(Stage(f"together-{at}", groups, self.depth, slot), True)
            if not stage.done:
                return False
            # If all groups had an effect, they would become the same groups again.
            found = stage.having(HURTS, SHIFTS, SUPPORTS)
            members = [one for group in found if len(group) > 1 for one in group]
            if not 0 < len(members) < sum(map(len, groups)):
                break
            groups = divide(members)
        return True

    def _alone(self) -> None:
        """Add a stage for each suspect that has an effect."""
        for stage in self.stages[1:]:
            for suspect, *others in stage.having(HURTS, SHIFTS, SUPPORTS):
                if not others and len(self.stages) < STAGES_MAX:
                    name = f"alone-{self.suspects[suspect].pid}"
                    self._add(
                        Stage(name, [[suspect]], ALONE_DEPTH, ALONE_SLOTS * stage.slot), False
                    )

    def _add(self, stage: Stage, both_halves: bool) -> Stage:
        seed = self.seed
        for one in self.suspects if not seed else ():
            seed = effects.random_hash(seed + one.pid) + one.started
        self.stages.append(stage)
        stage.rows, stage.blocks = divide_slot(stage.slot, stage.depth, self.call.block)
        figures = stage.depth * stage.slot / stage.blocks / self.look.slots.iteration()
        stage.is_in_rows = figures >= self.call.figures_min(BLOCK_FIGURES)
        draw = effects.random_hash(seed) + len(self.stages)
        stage.codes = Codes.draw(len(stage.groups), both_halves, draw)
        self._read(stage)
        return stage

    def _read(self, stage: Stage) -> None:
        with open_run(self.call, stage.name) as folder:
            stage.done = read_run(folder) is not None
            if not stage.done:
                return
            stage.slots = read_slots(folder)
            # Runs of other versions may have figures of slots only.
            stage.is_in_rows = 0 < stage.slots.length < 0.75 * stage.slot
            stage.aside = read_aside(folder)
            stage.cpu = [
                read_cpu(f"{folder}/s{group + 1}", stage.slots, stage.figure_count)
                for group in range(len(stage.groups))
            ]
            if stage.codes:
                throttled = _throttled(stage, stage.codes, folder)
                stage.effects = self._estimate(stage, throttled)

    def _estimate(self, stage: Stage, throttled: Throttled) -> Effects | None:
        figures = np.full(stage.figure_count, math.nan)
        measured = stage.slots.figures[: len(figures)]
        figures[: len(measured)] = stats.log(measured)
        cpu = [one if len(one) else np.full(len(figures), math.nan) for one in stage.cpu]
        usual = [self.usual[group] for group in stage.groups]
        if self.call.lower_is_better:
            figures = -figures
        # Drop the figures during a loss: they say nothing about the other suspects.
        for group, row in stage.aside.items():
            is_lost = throttled.stopped[:, group] + throttled.after[:, group] > 0
            figures[is_lost & (np.arange(len(figures)) < row + ASIDE_ROWS)] = math.nan
        of_groups = [(one[:, 0].sum(), math.hypot(*one[:, 1])) for one in usual]
        # If the suspect was set aside, this run is the only evidence, so allow for all suspects.
        tests = len(self.suspects) if stage.is_alone and self._was_aside(stage.groups[0][0]) else 0
        return effects.estimate(
            throttled, figures, np.column_stack(cpu), np.array(of_groups), tests
        )

    def _was_aside(self, suspect: int) -> bool:
        return any(
            suspect in one.groups[group]
            for one in self.stages
            if not one.is_alone
            for group in one.aside
        )


def _throttled(stage: Stage, codes: Codes, folder: str) -> Throttled:
    """Return when suspects were throttled: in rows, as codes.csv says, or in whole slots."""
    if not stage.is_in_rows:
        return Throttled.in_slots(codes.low(), stage.depth)
    table = read_table(folder, "codes.csv", [], None)
    stopped = table.filter(regex=r"^(s|ghost)\d").to_numpy(dtype=float)
    return Throttled.in_rows(codes.low(), stopped * stage.depth * stage.rows / stage.blocks)
