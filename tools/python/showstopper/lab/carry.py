# SPDX-License-Identifier: Apache-2.0
"""
Lets ssbatch(1) carry out a plan.

While runs are measured, this process sleeps. Signals reach ssbatch through it, and then end it as
they would have without a handler, so that a shell script that called it ends, too.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import NoReturn

from ..children import Signals
from ..outputs import make_folders
from ..text import UserError, tell
from .options import Options
from .plan import number
from .study import Study

Lines = Callable[[], Iterator[str]]

FAILED = 1  # exit status of a study without results
REFUSED = 125

_CONTINUES = "repeat the call to continue"
ADVICE = "; --go-on also tries the runs that were not started"


def plan_file(lines: Sequence[str]) -> int:
    """Return a descriptor of a plan. It has no name, so nobody else can change it."""
    descriptor = os.memfd_create("plan")
    with os.fdopen(os.dup(descriptor), "wb") as stream:
        stream.write(os.fsencode("".join(f"{line}\n" for line in lines)))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def settings(options: Options) -> list[str]:
    """Return the options of a study as those of ssbatch."""
    words = ["--ram-folder", os.path.abspath(options.ram)] if options.ram else []
    words += ["--others", f"{number(100 * options.others)}%"]
    words += ["--go-on"] if options.go_on else []
    if options.quiet_below:
        words += ["--quiet-below", f"{number(100 * options.quiet_below)}%"]
    words += ["--retries", str(options.retries)] if options.retries else []
    return words


def batch(words: Sequence[str], lines: Sequence[str], program: str) -> int:
    """Call ssbatch; return its status. `program` begins messages."""

    def refuse_pause(_: int, __: FrameType | None) -> None:
        tell(f"{program}: runs cannot be paused; Ctrl-C ends them; {_CONTINUES}")

    plan = plan_file(lines)
    try:
        with Signals() as signals:
            signals.catch(signal.SIGTSTP, refuse_pause)
            status = signals.start(["ssbatch", *words], stdin=plan).wait()
    finally:
        os.close(plan)
    if signals.arrived:
        tell(f"{program}: interrupted; {_CONTINUES}")
        signal.signal(signals.arrived[0], signal.SIG_DFL)
        os.kill(os.getpid(), signals.arrived[0])
    if status < 0:
        name = signal.Signals(-status).name
        raise UserError(
            f"ssbatch was ended by the signal {name}, not by this call; {_CONTINUES}", FAILED
        )
    return status


def run_plan(
    output: str, words: Sequence[str], lines: Sequence[str], program: str,
    goes_on: bool = False, advice: str = ADVICE,
) -> bool:  # fmt: skip
    """
    Carry out the plan of a study; return whether all runs succeeded.

    goes_on  whether runs may fail
    advice   what a call after a failed run may do
    """
    status = batch([*words, output], lines, program)
    if status > 1:
        why = f"if {output} has runs with other settings, choose another --output"
        raise UserError(f"the study cannot continue; {why}")
    if status and not goes_on:
        fail_incomplete(output, advice)
    return not status


# A study


def carry_out(
    study: Study, lines: Lines, chosen: Sequence[str] = (), shorter: str = "", advice: str = ADVICE
) -> bool:
    """
    Carry out the plan of a study, or print it for --plan and --dry-run. Return whether all runs
    succeeded.

    chosen   the methods
    shorter  how to make such a study shorter
    advice   what a call after a failed run may do
    """
    options = study.options
    _find_loads_of_one(study, chosen)
    plan = [*lines()]
    if options.plan:
        _print(study, plan)
    if not any(one.startswith("run ") for one in plan):
        raise UserError("no run is possible here, for the reasons above", FAILED)
    if options.dry_run:
        raise SystemExit(preview(str(study.output), plan))
    quick = "" if options.quick else "--quick, "
    tell(f"--dry-run lists the runs. For a shorter study, use {quick}{shorter}")
    shuffled = [] if study.shuffle is None else ["--shuffle", str(study.shuffle)]
    words = [*settings(options), *shuffled]
    return run_plan(str(study.output), words, plan, study.program, bool(options.go_on), advice)


def _find_loads_of_one(study: Study, chosen: Sequence[str]) -> None:
    unknown = study.unknown(chosen)
    if study.options.plan and unknown:
        name = unknown[0]
        about = "# The number of instances of nbench-fit depends on the load of one. This plan"
        _print(study, [
            f"{about} measures it for {name};",
            f"# let ssbatch carry it out in {study.folder_of_one(name)}, then repeat --plan.",
            *study.plan_one(name),
        ])  # fmt: skip
    if study.is_preview:
        return
    check_output(study.output, study.options.ram)
    if not study.options.quiet_below:
        look_at_machine(study.options.others)
    for name in unknown:
        make_folders(str(study.output / ".study"))
        make_folders(str(study.output / "one-load"))
        words = [*settings(study.options), "--quiet", str(study.folder_of_one(name))]
        if batch(words, study.plan_one(name), study.program):
            why = "for the reasons above"
            raise UserError(f"cannot measure the load of one instance of {name}, {why}", FAILED)


def _print(study: Study, lines: Sequence[str]) -> None:
    if study.shuffle is not None:
        how = f"# ssbatch --shuffle {study.shuffle} puts the runs of each round in random order,"
        lines = [f"{how} as {study.experiment} does.", *lines]
    print(*lines, sep="\n")
    raise SystemExit(0)


def preview(output: str, lines: Sequence[str]) -> int:
    """Print the runs of a plan and their durations; return the status of the call."""
    plan = plan_file(lines)
    done = subprocess.run(["ssbatch", "--dry-run", output], stdin=plan)
    os.close(plan)
    return 0 if done.returncode in (0, 1) else REFUSED


def check_output(output: Path, ram: str | None = None) -> None:
    """Fail unless a study can be kept in a folder, and its temporary data in another one."""
    use = "choose another --output"
    if (output / "manifest.csv").exists():
        earlier = "holds a study of an earlier version, which ssreport can read"
        raise UserError(f"{output} {earlier}; {use}")
    if output.is_dir() and not (output / ".study").exists() and any(output.iterdir()):
        raise UserError(f"{output} is not an experiment folder; {use}")
    if ram and not (os.path.isdir(ram) and os.access(ram, os.W_OK)):
        raise UserError(f"--ram: {ram} is not a writable folder")


def look_at_machine(others: Fraction, can_wait: bool = True) -> None:
    """Warn if other processes use more of the machine than this."""
    if others >= 1 or not shutil.which("ssload"):
        return
    call = "ssload --quiet --interval 1s --count 1 --format csv".split()
    rows = subprocess.run(call, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    load = float(rows[1].split(",")[3]) if len(rows) > 1 else 0.0
    if load > others:
        wait = f"--quiet-below {number(100 * others)}% waits until it is quiet; "
        tell(
            f"Warning: this machine is already {100 * load:.0f} % busy, and the results will show "
            f"it. {wait if can_wait else ''}--others 100% turns this warning off"
        )


def fail_incomplete(output: str, advice: str = "") -> NoReturn:
    """Fail because runs are missing; say whether they failed."""
    call = ["ssbatch", "--list", output]
    done = subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not done.returncode:
        raise UserError("some runs were refused or not carried out, for the reasons above", FAILED)
    where = f"the output of their commands is in {output}/RUN"
    retry = f"Repeat the call to try them again{advice}"
    raise UserError(f"some runs failed, for the reasons above; {where}. {retry}", FAILED)
