# SPDX-License-Identifier: Apache-2.0
"""ssprofile calibrate: the setting of a throttle at which this machine is as fast as a base."""

from __future__ import annotations

import argparse
import math
import os
import tempfile
from contextlib import suppress
from typing import Any

from .. import __version__, units
from ..children import Signals
from ..contents import has_file, read_file
from ..outputs import OutputError, write_file, write_files
from ..report.tables import to_json
from ..state import hold
from ..text import UserError, complain, findings_text, reason, say, show
from .bench import Bench
from .calibration import Calibration, Test, by_closed_method, by_search, leave_out
from .measure import Key, describe, read_battery
from .ratios import SPREAD_MAX, Matching
from .results import SCHEMA, SHOWN, Choice, Profile, read

BATTERY = "battery.txt"  # in a folder of `ssprofile measure`


# Benchmarks


def _find_base(name: str) -> tuple[str, Profile]:
    """Return the path of the table of the base, and the base."""
    try:
        path, names = Choice.of(name)
        results = read(path)
        for line in results.warnings.lines(SHOWN):
            complain("ssprofile", f"warning: {line}")
        return path, results.find(names)
    except UserError as error:
        raise UserError(f"--base: {error}", error.status) from None


def _copy_battery(request: argparse.Namespace, base: str, copy: str) -> str:
    """
    Return the battery; a copy if it is a pipe, which can be read only once, or the base's file.

    The commands of a base are executed although nobody has named its battery, so the folder and the
    file must be the caller's or root's.
    """
    named, folder = request.battery, os.path.dirname(base) or "."
    path = f"{folder}/{BATTERY}"
    if not named and not has_file(folder, BATTERY):
        return "own"
    if named and (not os.path.exists(named) or _is_lasting(named)):
        return str(named)
    try:
        if named:
            data = read_file(named, is_named=True)
        else:
            with hold(folder, [BATTERY]) as held:
                data = read_file(f"{held}/{BATTERY}")
    except (OutputError, OSError) as error:
        why = str(error) if isinstance(error, OutputError) else f"{named or path}: {reason(error)}"
        more = "" if named else f"; or name the commands to run: --battery {path}"
        raise UserError(f"{why}{more}") from None
    write_file(copy, data)
    return copy


def _is_lasting(path: str) -> bool:
    """Return whether a child that reads the path later finds the same file."""
    is_open_file = os.path.abspath(path).startswith(("/proc/", "/dev/"))
    return os.path.isfile(path) and not is_open_file


def _choose(request: argparse.Namespace, battery: dict[Key, bool], base: Profile) -> list[Key]:
    """Choose the benchmarks that this machine and the base have."""
    # Without --spread, unstable benchmarks are left out only in tables of `ssprofile measure`.
    bound = SPREAD_MAX if base.origin.measured else math.inf
    bound = bound if request.spread is None else request.spread / 100
    rows = base.benchmarks.to_dict("index")
    matching = Matching("*" if request.benchmarks == "all" else request.benchmarks)
    chosen = []
    for key in filter(matching.chooses, battery):
        row = rows.get(key)
        if not row:
            leave_out(key, "the base lacks it")
        elif row["contradictory"] or row["lower"] != battery[key]:
            leave_out(key, "the base and the battery disagree on lower_is_better")
        elif row["spread"] > bound:
            count = f"95% confidence, {row['repetitions']} repetitions"
            uncertain = f"its mean is uncertain by {100 * row['spread']:.3g}% ({count})"
            leave_out(key, f"unstable on the base: {uncertain}")
        elif request.method == "closed" and row["repetitions"] < 2:
            leave_out(key, "the base has one repetition of it, and the closed method needs two")
        else:
            chosen.append(key)
    if not chosen:
        raise UserError(
            "the base has no stable benchmark of those chosen: choose others with --benchmarks, "
            "measure more repetitions of the base, or allow more uncertainty with --spread"
        )
    return chosen


def _check_version(request: argparse.Namespace, version: str, base: str) -> None:
    """Fail if the base ran different benchmarks: another program, compiler or flags."""
    if base and version and version != base and not request.force:
        raise UserError(
            f"this machine has '{show(version)}', but the base was measured with '{show(base)}': "
            "these are different benchmarks; --force compares them"
        )


def _options(request: argparse.Namespace, battery: str) -> list[str]:
    """Return the options of `ssprofile measure`."""
    words = ["--battery", battery]
    for name in ("period", "quantum"):
        words += [f"--{name}", units.time_text(round(1e9 * getattr(request, name)))]
    for name in ("cpu", "root"):
        if getattr(request, name) not in (None, ""):
            words += [f"--{name}", str(getattr(request, name))]
    return words + ["--idle-states"] * request.idle_states


# Outputs


def _use(request: argparse.Namespace, found: Test, cpu: int) -> str:
    """Return the command that runs an application under the setting."""
    percent = f"{100 * found.at.setting:.2f}%"
    period, quantum = (
        units.time_text(round(1e9 * seconds)) for seconds in (request.period, request.quantum)
    )
    knobs = {
        "duty": f"duty={percent},tau={quantum}",
        "quota": f"quota={percent},period={period}",
        "frequency": f"frequency={_frequency(found.at.frequency or 0)}",
    }
    if request.throttle in knobs:
        return f"ssactuate run {knobs[request.throttle]} -- APPLICATION"
    # Without --cpus, the load would be relative to all CPUs.
    return (
        f"showstopper -n 1 -p '' --cpus {cpu} -l {percent} -f exact -d stagger -D {quantum} -c "
        "deadbeat -- APPLICATION"
    )


def _frequency(hertz: float) -> str:
    """Return a frequency such as 1.6GHz."""
    scales = {"GHz": 1e9, "MHz": 1e6, "kHz": 1e3, "Hz": 1}
    unit = next((name for name, scale in scales.items() if hertz >= scale), "Hz")
    return f"{hertz / scales[unit]:.6f}".rstrip("0").rstrip(".") + unit


def _document(calibration: Calibration, results: list[dict[str, Any]]) -> str:
    return to_json({
        "schema": SCHEMA,
        "ssprofile": __version__,
        "title": "Calibration",
        "base": calibration.base.name,
        "findings": calibration.findings,
        "calibrated": results,
        "calibration": [test.row() for test in calibration.tests],
    })  # fmt: skip


# The command


def _calibrate(calibration: Calibration, about: dict[str, Any]) -> None:
    """Calibrate, and print and write what was found, or why nothing was found."""
    request, results = calibration.request, []
    try:
        _check_version(request, about["version"] or "", calibration.base.origin.version)
        method = by_search if request.method == "search" else by_closed_method
        results.append(method(calibration))
    except UserError as error:
        calibration.findings.append(f"No setting was found: {error}.")
        with suppress(OutputError):
            _write(calibration, results)
        raise
    say(findings_text(calibration.findings))
    if calibration.found:
        say(f"use: {_use(request, calibration.found, about['cpu'])}\n")
    _write(calibration, results)


def _write(calibration: Calibration, results: list[dict[str, Any]]) -> None:
    if calibration.request.output:
        text = _document(calibration, results)
        write_files(calibration.request.output, {"calibrate.json": text})


def run(request: argparse.Namespace) -> int:
    path, base = _find_base(request.base)
    with Signals() as signals, tempfile.TemporaryDirectory(prefix="ssprofile-") as folder:
        battery = _copy_battery(request, path, f"{folder}/{BATTERY}")
        options = _options(request, battery)
        try:
            keys = _choose(request, read_battery(battery), base)
            about = describe(options)
        except UserError as error:
            name = request.battery or f"{os.path.dirname(path) or '.'}/{BATTERY}"
            raise UserError(str(error).replace(f"{folder}/{BATTERY}", name), error.status) from None
        bench = Bench(signals, keys, options)
        _calibrate(Calibration(request, base, bench, folder, options), about)
    return 0
