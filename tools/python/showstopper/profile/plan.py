# SPDX-License-Identifier: Apache-2.0
"""Plans for ssbatch(1): their lines, and a call of ssbatch that carries one out."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress

from ..children import Signals, environment
from ..text import UserError, tell

FAILED = 1  # exit status of a study that began, and has no result


def line(*words: str) -> str:
    return " ".join(shlex.quote(word) if word else "''" for word in words)


def number(value: float) -> str:
    """Return a number with at most 15 digits, by which decimals are kept."""
    return f"{value:.15g}"


def span(seconds: float) -> str:
    """Return a time for people, as ssbatch prints it."""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{seconds:.3g} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def find_programs(folder: str, own: str) -> None:
    """
    Put `folder` first in PATH or, if it is '', make sure that PATH has the folder `own`.

    The latter may be /usr/bin, so it hides other programs only if PATH has another showstopper.
    """
    path = os.environ.get("PATH", os.defpath)
    if folder and not os.path.isdir(folder):
        raise UserError(f"--bin: {folder}: no such folder")
    found = shutil.which("showstopper")
    if folder:
        path = f"{os.path.abspath(folder)}:{path}"
    elif not found:
        path = f"{path}:{own}"
    elif os.path.exists(f"{own}/showstopper") and not os.path.samefile(os.path.dirname(found), own):
        path = f"{own}:{path}"
    os.environ["PATH"] = path
    for program in ("showstopper", "ssbatch"):
        if not shutil.which(program):
            raise UserError(f"{program} not found: build it, or use --bin")


def check_folder(output: str) -> None:
    """Fail unless a study can be kept in this folder."""
    if os.path.exists(f"{output}/manifest.csv"):
        holds = f"{output} holds a study of an earlier version, which ssreport can read"
        raise UserError(f"{holds}; choose another --output")
    if os.path.isdir(output) and not os.path.exists(f"{output}/.study") and os.listdir(output):
        raise UserError(f"{output} is not an experiment folder; choose another --output")


def warn_if_busy(percent: float) -> None:
    """Warn if other processes use more than this of the machine."""
    if percent >= 100 or not shutil.which("ssload"):
        return
    words = ["ssload", "--quiet", "--interval", "1s", "--count", "1", "--format", "csv"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False, env=environment())
    with suppress(ValueError, IndexError):
        load = 100 * float(done.stdout.splitlines()[1].split(",")[3])
        if load > percent:
            tell(
                f"Warning: this machine is already {load:.0f} % busy, and the results will show "
                f"it. --quiet-below {percent:g}% waits until it is quiet; --others 100% turns this "
                "warning off"
            )


def _refuse_pause(*_: object) -> None:
    tell("ssprofile: runs cannot be paused; Ctrl-C ends them, and the same call continues")


def batch(words: Sequence[str], plan: Iterable[str]) -> int:
    """
    Let ssbatch carry out a plan, and return its status.

    After a signal, ends by the same signal. A pause would stop only this process, while runs
    continue.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogateescape") as stream:
        stream.writelines(f"{one}\n" for one in plan)
        stream.seek(0)
        with Signals() as signals:
            signals.catch(signal.SIGTSTP, _refuse_pause)
            status = signals.start(["ssbatch", *words], stdin=stream).wait()
    if signals.arrived:
        tell("ssprofile: interrupted; the same call continues")
        signal.signal(signals.arrived[0], signal.SIG_DFL)
        os.kill(os.getpid(), signals.arrived[0])
    if status < 0:
        name = signal.Signals(-status).name.removeprefix("SIG")
        why = f"ssbatch was ended by the signal {name}, not by this program"
        raise UserError(f"{why}; the same call continues", FAILED)
    return status


def show(output: str, plan: Iterable[str]) -> int:
    """Let ssbatch print the runs of a plan and their durations; return an exit status."""
    text = "".join(f"{one}\n" for one in plan)
    words = ["ssbatch", "--dry-run", output]
    done = subprocess.run(
        words, input=text, encoding="utf-8", errors="surrogateescape", check=False,
        env=environment(),
    )  # fmt: skip
    return 125 if done.returncode > 1 else 0


def carry_out(output: str, others: str, plan: Iterable[str], advice: str) -> None:
    """Carry out a plan in this folder. Raises UserError unless all runs have results."""
    status = batch(["--others", f"{others}%", output], plan)
    if status == 0:
        return
    if status > 1:
        raise UserError(
            f"the study cannot continue; if {output} has runs with other settings, choose another "
            "--output"
        )
    listed = subprocess.run(
        ["ssbatch", "--list", output], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        check=False, env=environment(),
    )  # fmt: skip
    if listed.returncode == 0:
        raise UserError("some runs were refused or not carried out, for the reasons above", FAILED)
    raise UserError(
        "some runs failed, for the reasons above; the output of their commands is in "
        f"{output}/RUN. Repeat the call to try them again{advice}", FAILED,
    )  # fmt: skip
