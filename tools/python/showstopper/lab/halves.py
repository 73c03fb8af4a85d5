# SPDX-License-Identifier: Apache-2.0
"""Two places for two commands at once: equal sets of CPUs, whose programs hardly slow each other
down."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from statistics import median

from ..outputs import make_folders
from ..text import UserError, tell
from . import values
from .blocks import FREE, Blocks
from .carry import batch, settings
from .plan import line, number
from .results import ask
from .study import Study

ROUNDS = (1, 2, 3)
LOSS_MAX = 3  # percent, by which two serial programs at the places may slow each other down
USED_MAX = 1.05  # CPUs that a command may use, relative to those of its place
ALONE = "showstopper --quiet --record {record} -n 1 --cpus".split()
TIMES = "--warmup 0.2s --duration 1s".split()
FAULT = "cannot examine the places of A and B"


def find_halves(study: Study) -> list[str]:
    """Return two sets of equal numbers of CPUs: on different chips, cores or hardware threads, the
    first of these that the CPUs have."""
    refused, use = "--order beside", "use --order turn"
    if study.cpus < 2:
        raise UserError(f"{refused} requires at least two CPUs: {use}")
    if not shutil.which("showstopper-platform"):
        lacks = "showstopper-platform, which knows the cores, is not installed"
        raise UserError(f"{refused}: {lacks}: {use}")
    on = ["taskset", "-c", study.options.on] if study.options.on else []
    why = ""
    for division in ("per-chip", "per-core", "per-thread"):
        call = [*on, "showstopper-platform", "--sets", division]
        done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        why = done.stdout.strip()
        if not done.returncode:
            return why.split("/")
    raise UserError(f"{refused}: cannot divide the CPUs into two places: {why}: {use}")


def _first(half: str) -> str:
    return re.split("[,-]", half)[0]


def check_halves(blocks: Blocks) -> None:
    """Fail if two programs slow each other down at the places, or if a command needs more CPUs
    than its place."""
    study, (left, right) = blocks.study, blocks.halves
    folder = study.output / "places"
    make_folders(str(study.output / ".study"))
    tell(
        f"Examining whether A and B can run on CPUs {left} and {right} without slowing each other "
        "down ..."
    )
    words = [*settings(study.options), "--quiet", str(folder)]
    if batch(words, [*_plan(blocks)], study.program):
        raise UserError(f"{FAULT}, for the reason above")
    _check_loss(blocks)
    rows = ask("runs", folder / "used-a/program", folder / "used-b/program")
    used = [float(row["load_mean"]) for row in rows if row["load_mean"]]
    if len(used) < 2:
        raise UserError(f"{FAULT}: {folder} has no figures")
    size = len(values.cpu_set(left))
    for name, load in zip("AB", used):
        if 2 * load > USED_MAX:
            uses = f"{name} uses {2 * size * load:.1f} CPUs, and its place has {size}"
            raise UserError(f"--order beside: {uses}: use --order turn, or --force")


def _check_loss(blocks: Blocks) -> None:
    folder = blocks.study.output / "places"
    alone = [folder / f"alone-{number}-{place}/program" for number in ROUNDS for place in (0, 1)]
    both = [folder / f"both-{number}/at-{place}" for number in ROUNDS for place in (0, 1)]
    rows = ask("runs", *alone, *both)
    speeds = [float(row["iterations_per_second"] or 0) for row in rows]
    if len(speeds) < len(alone + both):
        raise UserError(f"{FAULT}: {folder} has no figures")
    if not all(speeds):
        raise UserError(f"{FAULT}: {folder} has runs without iterations")
    parts = [one / free for free, one in zip(speeds[: len(alone)], speeds[len(alone) :])]
    lost = median(100 - 50 * (left + right) for left, right in zip(parts[::2], parts[1::2]))
    if lost > LOSS_MAX:
        left, right = map(_first, blocks.halves)
        loss = f"on CPUs {left} and {right} lose {number(round(lost, 1))} % each"
        raise UserError(
            f"--order beside: two serial programs {loss}, so A and B would slow each other down: "
            "use --order turn, or --force"
        )


def _plan(blocks: Blocks) -> Iterator[str]:
    """Yield a plan that measures how much two serial programs slow each other down, and how many
    CPUs A and B use."""
    serial = blocks.study.use("serial")
    runs = [["--", *ALONE, _first(half), *FREE, *TIMES, *serial.words()] for half in blocks.halves]
    yield from ["plan 1", *serial.once()]
    for one in ROUNDS:
        for place, run in enumerate(runs):
            yield line("run", f"alone-{one}-{place}", "takes", "1.4s")
            yield line("main", "program", *run)
        yield line("run", f"both-{one}", "takes", "1.4s")
        for place, run in enumerate(runs):
            yield line("main", f"at-{place}", *run)
    for side in "ab":
        yield line("run", f"used-{side}", "takes", f"{int(blocks.given.seconds) + 1}s")
        yield line("before", "--", "mkdir", "-p", "{scratch}/data/alone-0")
        yield from _plan_use(blocks, side)


def _plan_use(blocks: Blocks, side: str) -> Iterator[str]:
    start, words = [*ALONE, ",".join(blocks.halves), *FREE], blocks.command(side)
    if not blocks.given.response:
        yield line("main", "program", "--", *start, *blocks.times(), *words)
        return
    time = ["--duration", f"{number(blocks.given.seconds)}s"]
    asking = ["ssrequest", "--quiet", "--wait-for", "10s", *blocks.sending(), *time]
    ready = ["ready-file={record}/samples.csv", "ok=143"]
    yield line("beside", "program", *ready, "--", *start, *words)
    yield line("main", "requests", "ok=0,1", "--", *asking, blocks.url())
