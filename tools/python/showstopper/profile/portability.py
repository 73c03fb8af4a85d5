# SPDX-License-Identifier: Apache-2.0
"""
ssprofile portability: two machines, or this machine with and without a throttle, on one page.

Imports only the standard library, because it waits while benchmarks run.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from .. import units
from ..contents import has_file, read_file
from ..installation import require_programs, use_programs
from ..outputs import Folder, OutputError, make_folders
from ..text import UserError, reason, say, tell
from ..lab.carry import FAILED, check_output, look_at_machine, preview, run_plan
from ..lab.plan import line, number
from ..lab.values import span
from .measure import program, read_battery

# Up to two kernels of each class that start quickly
SHORTLIST = (
    "trig,fft,long-double,matrix-double,matrix-int,int64,gcd,bits,gray,queens,interpreter,"
    "ackermann,fibonacci,latency-l1,read-l2,read-memory,copy-memory,system-call,pipe,"
    "string-search,string-format,crc32,hash-table,sort-heap,sort-radix"
)
THROTTLES, METHODS = ("duty", "load", "quota", "frequency"), ("closed", "search")
DEFAULTS = {
    "setting": "40%", "throttle": "duty", "method": "closed", "quantum": "20m", "period": "10m",
    "kernels": SHORTLIST, "seconds": "500m", "repetitions": "4", "cpu": "", "others": "10%",
}  # fmt: skip
QUICK = {"seconds": "0.2", "repetitions": "3"}
SETTINGS = ",".join(f"{percent}%" for percent in range(10, 101, 10))  # of sweep

# Options that have no effect in a mode, which refuses them
_NOT_OF = {
    "demo": "applications force",
    "verify": "applications force benchmarks plan go-on setting throttle method kernels seconds "
    "others",
    "sweep": "applications force benchmarks coverage plan go-on setting method others",
    "BASE TARGET": f"dry-run plan quick go-on {' '.join(DEFAULTS)}",
}

Command = Callable[[Sequence[str]], int]  # runs another command of ssprofile in this process


# Options


def _refuse(mode: str, request: argparse.Namespace) -> None:
    for option in _NOT_OF[mode].split():
        if getattr(request, option.replace("-", "_")):
            raise UserError(f"--{option} cannot be used with {mode}: see --help")


def _find_mode(words: Sequence[str]) -> str:
    if not words:
        why = "name two folders of ssprofile measure, or demo, verify or sweep"
        raise UserError(f"{why}: see --help")
    if words[0] in ("demo", "verify", "sweep"):
        if len(words) > 1:
            why = f"{words[0]} takes no further arguments"
            raise UserError(f"unexpected argument '{words[1]}': {why}")
        return words[0]
    return "BASE TARGET"


def _duration(option: str, text: str) -> float:
    try:
        seconds, _ = units.time(text, 0.1)
    except UserError as error:
        raise UserError(f"--{option}: {error}") from None
    if seconds <= 0:
        raise UserError(f"--{option}: '{text}' is not a time above 0")
    return seconds


def _percent(option: str, text: str) -> float:
    try:
        return 100 * units.load(text)
    except UserError as error:
        raise UserError(f"--{option}: {error}") from None


def _whole(option: str, text: str) -> int:
    if not re.fullmatch("[0-9]+", text):
        raise UserError(f"--{option}: '{text}' is not a whole number: use digits only")
    return int(text)


def _words(option: str, known: Sequence[str], text: str) -> list[str]:
    words = [word for word in text.split(",") if word]
    if not words:
        raise UserError(f"--{option} requires a value: see --help")
    for word in words:
        if word not in known:
            raise UserError(f"--{option}: '{word}' is not one of: {' '.join(known)}")
    return words


def _find_cpu(text: str) -> int:
    allowed = os.sched_getaffinity(0)
    cpu = _whole("cpu", text) if text else min(allowed)
    if cpu not in allowed:
        available = ",".join(map(str, sorted(allowed)))
        raise UserError(f"--cpu: CPU {cpu} is not available here; available: {available}")
    return cpu


@dataclass(frozen=True)
class Settings:
    """The measurements of demo, verify and sweep."""

    throttle: str
    method: str
    repetitions: int
    cpu: int
    setting: float  # duty of the base, in percent
    quantum: float  # seconds
    period: float
    seconds: float  # of a kernel
    kernels: str

    @staticmethod
    def of(request: argparse.Namespace) -> Settings:
        given = {name: getattr(request, name) for name in DEFAULTS}
        quick = QUICK if request.quick else {}
        texts = DEFAULTS | quick | {name: text for name, text in given.items() if text}
        _words("throttle", THROTTLES, texts["throttle"])
        _words("method", METHODS, texts["method"])
        repetitions, cpu = _whole("repetitions", texts["repetitions"]), _find_cpu(texts["cpu"])
        if repetitions < 2:
            use = "use at least 2, to measure the spread"
            raise UserError(f"--repetitions: '{repetitions}' is too small: {use}")
        setting = _percent("setting", texts["setting"])
        if not 1 <= setting < 100:
            why = "must be at least 1% and less than 100%"
            raise UserError(f"--setting: {number(setting)}%: {why}")
        times = {name: _duration(name, texts[name]) for name in ("quantum", "period", "seconds")}
        settings = Settings(
            texts["throttle"], texts["method"], repetitions, cpu, setting, **times,
            kernels=_find_kernels(texts["kernels"]),
        )  # fmt: skip
        settings.check()
        return settings

    def check(self) -> None:
        if self.throttle == "quota" and 10 * self.period > self.seconds:
            cut = "is more than a tenth of --seconds: runs would end in the middle of a period"
            raise UserError(f"--period: {span(self.period)} {cut}")
        if 10 * self.quantum > self.seconds:
            cut = "is more than a tenth of --seconds: runs would end in the middle of a round"
            raise UserError(f"--quantum: {span(self.quantum)} {cut}")

    @property
    def count(self) -> int:
        """The number of kernels."""
        return len({*self.kernels.split(",")})

    @property
    def measured(self) -> list[str]:
        """The options of `ssprofile measure`."""
        return [
            "--cpu", str(self.cpu), "--repetitions", str(self.repetitions),
            "--quantum", f"{number(self.quantum)}s", "--period", f"{number(self.period)}s",
        ]  # fmt: skip

    @property
    def battery(self) -> list[str]:
        return [
            "--battery", "own", "--benchmarks", self.kernels,
            "--time", f"{number(self.seconds)}s",
        ]  # fmt: skip


def _find_kernels(text: str) -> str:
    known = [name for name, _ in read_battery("own")]
    kernels = known if text == "all" else _words("kernels", known, text)
    if len({*kernels}) < 2:
        raise UserError("--kernels: name at least two")
    return ",".join(kernels)


# The plan of a demo


def plan_demo(settings: Settings, spread: str, accept_unstable: bool) -> Iterator[str]:
    """
    Plan each step as a run.

    Measurements have the word `keep`, because ssprofile continues interrupted ones.
    """
    limit = ["--unstable", spread] if spread else []
    tries, tests = (2, 3) if settings.method == "closed" else (1, 16)
    runs, throttle = settings.count * settings.repetitions, settings.throttle
    yield "plan 1"
    yield line("set", "experiment=portability")
    # Fail early if the throttle is unavailable: measuring the base takes a minute.
    yield line("run", "probe", "takes", "2s")
    # Pass the battery through a pipe: the folder of results may be another user's.
    yield line(
        "main", "measure", "--", "bash", "-c",
        'exec ssprofile measure "$@" --battery <(echo "$0")', "one cpu /s higher 'echo 1' '(1)'",
        "--quiet", *settings.measured, "--repetitions", "1", "--under", f"{throttle}=50%",
        "{scratch}/probe",
    )  # fmt: skip
    stable = ["--min-stable", "1%" if accept_unstable else "50%"]
    base = [*settings.battery, "--machine", "base", *limit, *stable]
    yield _step(settings, "base", runs, "keep", "needs=probe")
    yield _measure(settings, base, f"duty={number(settings.setting)}%")
    yield _step(settings, "calibration", settings.count * tests * tries, "needs=base")
    yield line(
        "main", "calibrate", "ready=^setting [0-9.]+%", "--", "ssprofile", "calibrate",
        "--base", "{scratch}/../base", "--benchmarks", settings.kernels, "--throttle", throttle,
        "--method", settings.method, "--cpu", str(settings.cpu), "--repetitions", str(tries),
        "--quantum", f"{number(settings.quantum)}s", "--period", f"{number(settings.period)}s",
        *(["--spread", spread] if spread else []), "-o", "{out}",
    )  # fmt: skip
    # One run measures both, in random order, so that drift affects both equally.
    yield _step(settings, "target", 2 * runs, "keep", "needs=calibration")
    found = "{scratch}/../calibration/calibrate.stdout"
    yield line("before", "setting", "ready=^setting ([0-9.]+)%", "--", "cat", found)
    target = [*settings.battery, "--machine", "target", *limit]
    yield _measure(settings, target, f"without,{throttle}={{setting.1}}%")


def _step(settings: Settings, name: str, runs: int, *words: str) -> str:
    """Return the first line of a run in which kernels run this many times."""
    return line(
        "run", name, "takes", f"{number(runs * (settings.seconds + 0.1))}s", *words,
        f"throttle={settings.throttle}", f"method={settings.method}",
        f"setting={number(settings.setting)}", f"repetitions={settings.repetitions}",
    )  # fmt: skip


def _measure(settings: Settings, options: Sequence[str], under: str) -> str:
    return line(
        "main", "measure", "--", "ssprofile", "measure", "--quiet", *settings.measured, *options,
        "--under", under, "{out}",
    )  # fmt: skip


# Comparisons


def _targets(output: str) -> dict[str, str]:
    """Return the targets of the comparison, by the name of the folder for its prediction."""
    text = read_file(f"{output}/compare/ratios.csv").decode("utf-8", "surrogateescape")
    names = dict.fromkeys(row["target"] for row in csv.DictReader(io.StringIO(text)))
    return {f"predict-{re.sub('[^A-Za-z0-9._-]', '-', name)}": name for name in names}


def _remove_results(output: str) -> None:
    """Remove the results of an earlier call. Other files in the folder are not ours."""
    if not has_file(output, "compare/compare.json"):
        return
    folders = [*_targets(output), "compare"]
    with Folder(output) as results, Folder(f"{output}/text") as texts:
        for folder in folders:
            results.remove(folder)
            texts.remove(f"{folder}.txt")


def _captured(ssprofile: Command, words: Sequence[str]) -> tuple[str, str]:
    """Run a command, and return what it prints on both streams; raise UserError if it fails."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = ssprofile(words)
    finally:
        sys.stderr.write(err.getvalue())
    if status:
        raise UserError(f"ssprofile {words[0]} ended with status {status}", status)
    return out.getvalue(), err.getvalue()


def _options(request: argparse.Namespace, *names: str) -> list[str]:
    given = [(f"--{name}", getattr(request, name)) for name in names]
    return [word for option, value in given if value for word in (option, value)]


def compare(
    request: argparse.Namespace, ssprofile: Command, profiles: Sequence[str], *more: str
) -> None:
    """Compare profiles. Writes text to text/, and tables and pages next to it."""
    output = request.output
    is_new = not os.path.isdir(output)
    make_folders(output)
    with Folder(output) as results:
        results.remove("compare.new")
    options = [*more, *_options(request, "benchmarks", "spread"), *["--force"] * request.force]
    words = ["compare", "--all", "-o", f"{output}/compare.new", *options, *profiles]
    try:
        text, log = _captured(ssprofile, words)
    except (UserError, OutputError) as error:
        with contextlib.suppress(OSError):
            if is_new:
                os.rmdir(output)
        tell(f"ssprofile: {error}")
        raise UserError("cannot compare the profiles, for the reasons above") from None
    # Replace the results of an earlier call only after the comparison has succeeded.
    make_folders(f"{output}/text")
    with Folder(output) as results, Folder(f"{output}/text") as texts:
        results.write("compare.log", log)
        _remove_results(output)
        results.rename("compare.new", "compare")
        texts.write("compare.txt", text.rstrip("\n") + "\n")
        for folder, name in _targets(output).items():
            words = ["predict", "-o", f"{output}/{folder}", "--target", name]
            words += [*_options(request, "coverage"), f"{output}/compare"]
            words += [request.applications] if request.applications else []
            texts.write(f"{folder}.txt", _captured(ssprofile, words)[0])


def _conclude(output: str, sentence: str) -> None:
    """Print the findings and the ranges of the comparison after this sentence."""
    text = read_file(f"{output}/text/compare.txt").decode("utf-8", "surrogateescape")
    parts = [part.strip("\n") for part in re.split("\n\n+", text) if part.strip("\n")]
    say(f"{sentence}\n" + "".join(f"{part}\n\n" for part in parts[:2]))
    sys.stdout.flush()
    tell(f"Results: {output}/compare/compare.html")


def _is_own_folder(output: str) -> bool:
    """Return whether an earlier call has written results there, or was interrupted before."""
    if not os.path.isdir(output):
        return False
    if all(has_file(output, name) for name in ("compare/compare.json", "text/compare.txt")):
        return True
    return not {*os.listdir(output)} - {"compare.new", "compare.new.txt", "compare.log"}


# Modes


def _two_machines(request: argparse.Namespace, ssprofile: Command) -> int:
    words, output = request.words, request.output
    if len(words) < 2:
        use = "name a target, too, or use demo, verify or sweep"
        raise UserError(f"{words[0]}: {use}: see --help")
    if has_file(output, ".study"):
        raise UserError(f"{output} holds a demo; choose another --output")
    if os.path.exists(output) and not _is_own_folder(output):
        raise UserError(f"{output} is not a folder of this experiment; choose another --output")
    compare(request, ssprofile, words)
    _conclude(output, f"Base: {words[0].removesuffix('/')}. Targets: {' '.join(words[1:])}.")
    return 0


def _demo(request: argparse.Namespace, ssprofile: Command, settings: Settings) -> int:
    request.output = output = os.path.join(os.getcwd(), request.output)
    others = _percent("others", request.others or DEFAULTS["others"])
    if not (request.dry_run or request.plan):
        check_output(Path(output))
        look_at_machine(Fraction(others) / 100, can_wait=False)
    lines = [*plan_demo(settings, request.spread, request.go_on)]
    if request.plan:
        say("".join(f"{one}\n" for one in lines))
        return 0
    if request.dry_run:
        return preview(output, lines)
    quick = "" if request.quick else "--quick, "
    shorter = f"use {quick}fewer --kernels or --repetitions"
    tell(f"--dry-run lists the runs. For a shorter demo, {shorter}")
    advice = "; if ssprofile suggests --unstable, use --spread"
    run_plan(output, ["--others", f"{number(others)}%"], lines, "ssprofile", advice=advice)
    try:
        return _conclude_demo(request, ssprofile, settings)
    except (UserError, OutputError) as error:
        raise UserError(str(error), FAILED) from None


def _conclude_demo(request: argparse.Namespace, ssprofile: Command, settings: Settings) -> int:
    output = request.output
    stdout = read_file(f"{output}/calibration/calibrate.stdout").decode("utf-8", "replace")
    found = stdout.split()[1].removesuffix("%")
    for step in ("base", "target"):
        path = f"{output}/{step}/measure.stderr"
        if os.path.exists(path) and os.path.getsize(path):
            tell(f"Warnings of {step}: {path}")
    with contextlib.chdir(output):
        compare(request, ssprofile, ["base", "target"], "--within", "3%")
    base = f"the base is this machine with a duty of {number(settings.setting)} %"
    _conclude(output, f"Setting found: {settings.throttle} at {found} %; {base}.")
    return 0


def _say_step(name: str, runs: int, seconds: float) -> None:
    """Print a step of verify or sweep, in which programs run this many times."""
    say(f"{name}: about {span(runs * seconds)}\n")


def _verify(request: argparse.Namespace, ssprofile: Command, settings: Settings) -> int:
    if not has_file(request.output, "compare/compare.json"):
        why = "has no result of a demo: call ssprofile portability demo first"
        raise UserError(f"{request.output} {why}")
    if request.dry_run:
        for step in ("base", "target"):  # most applications run for 2 s
            _say_step(step, len(read_battery("applications")) * settings.repetitions, 2.5)
        return 0
    output = os.path.realpath(request.output)
    options = [*settings.measured, *_options(request, "spread", "coverage")]
    with contextlib.chdir(output):
        words = ["verify", "--base-here", *options, "compare", "applications"]
        if status := ssprofile(words):
            return status
    tell(f"Results: {output}/applications/predict.html")
    return 0


def _sweep(request: argparse.Namespace, ssprofile: Command, settings: Settings) -> int:
    if request.dry_run:
        for step in ("without", *SETTINGS.split(",")):
            _say_step(step, settings.count * settings.repetitions, settings.seconds + 0.1)
        return 0
    make_folders(request.output)
    words = ["sweep", "--throttle", settings.throttle, "--settings", SETTINGS, *settings.measured]
    words += [*settings.battery, *_options(request, "spread"), f"{request.output}/sweep"]
    if status := ssprofile(words):
        return status
    tell(f"Results: {request.output}/sweep/sweep.html")
    return 0


def run(request: argparse.Namespace, ssprofile: Command) -> int:
    """Run the command; `ssprofile` runs others, after loading the libraries that they need."""
    mode = _find_mode(request.words)
    _refuse(mode, request)
    own = os.path.dirname(program())
    use_programs(request.bin, own)
    require_programs("showstopper", "ssbatch")
    try:
        if mode == "BASE TARGET":
            return _two_machines(request, ssprofile)
        modes = {"demo": _demo, "verify": _verify, "sweep": _sweep}
        return modes[mode](request, ssprofile, Settings.of(request))
    except OutputError:
        raise
    except OSError as error:
        raise UserError(f"{error.filename or request.output}: {reason(error)}") from None
