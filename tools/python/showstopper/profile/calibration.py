# SPDX-License-Identifier: Apache-2.0
"""A calibration: tests of settings until one makes this machine as fast as the base."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence, Sized
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ..text import UserError, complain, say, tell
from .bench import Bench
from .match import Match, match
from .measure import Key, describe
from .results import Profile
from .search import CLOSED_HALF, SETTING_MAX, Closed, Verdict, cost, search

REPETITIONS = 3
REPETITIONS_MAX = 64  # maximum number at one setting
COST_MATCHED = 1.01  # below this, the search matches the base as well as the closed method does


@dataclass(frozen=True)
class Setting:
    """A setting that this machine has."""

    setting: float  # from 0 to 1
    frequency: float | None = None  # Hz, if the throttle is a frequency
    lowest: float | None = None  # lowest frequency of the machine, Hz


@dataclass(frozen=True)
class Test:
    at: Setting
    repetitions: int
    match: Match

    @property
    def cost(self) -> float:
        return cost(self.match.time_mean)

    @property
    def most_to_least(self) -> float:
        return self.match.most / self.match.least

    def row(self) -> dict[str, float]:
        return {
            "setting": self.at.setting,
            "log_ratio_mean": self.match.log_mean,
            "half_width": self.match.half,
            "time_ratio_mean": self.match.time_mean,
            "cost": self.cost,
            "repetitions": self.repetitions,
            "least": self.match.least,
            "most": self.match.most,
            "most_to_least": self.most_to_least,
            "scatter_percent": 100 * self.match.scatter,
        }


@dataclass
class Calibration:
    """Measures this machine at one setting after the other, until it is as fast as the base."""

    request: argparse.Namespace
    base: Profile
    bench: Bench
    folder: str  # of results
    options: Sequence[str]  # of `ssprofile measure`
    tests: list[Test] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    found: Test | None = None

    def resolve(self, setting: float) -> Setting:
        """Return the nearest setting that this machine has."""
        if self.request.throttle != "frequency":
            return Setting(setting)
        try:
            found = describe([*self.options, "--under", self._under(setting)])["settings"][0]
        except UserError as error:
            raise UserError(str(error).removeprefix("--under: "), error.status) from None
        return Setting(found["setting"], found["frequency_hz"], found["lowest_hz"])

    def _under(self, setting: float) -> str:
        return f"{self.request.throttle}={Decimal(setting) * 100:f}%"

    def run(self, at: Setting, repetitions: int) -> Test:
        """Run each benchmark until it has been run this many times at this setting."""
        under = self._under(at.setting)
        if at.frequency:
            under = f"frequency={at.frequency:.0f}Hz"
        folder = f"{self.folder}/{at.setting!r}"
        measured = self.bench.measure(folder, under, repetitions)
        here = self._complete(measured[0] if measured else None, repetitions)
        return Test(at, repetitions, match(self.base.choose(self.bench.keys), here))

    def _complete(self, here: Profile | None, repetitions: int) -> Profile:
        """Check that all benchmarks could be run. Leave out those that fail in their first run."""
        counts = here.benchmarks["repetitions"].to_dict() if here else {}
        failed = [key for key in self.bench.keys if counts.get(key, 0) < repetitions]
        for key in failed:
            why = self.bench.skipped.get(key[0], "it printed no result")
            if self.tests or counts.get(key):
                raise UserError(f"{key[0]}: {why}")
            leave_out(key, why)
        self.bench.keys = [key for key in self.bench.keys if key not in failed]
        if not here or not self.bench.keys:
            raise UserError("none of the benchmarks can run on this machine")
        return here.choose(self.bench.keys)

    def note(self, test: Test) -> Test:
        self.tests.append(test)
        found = test.match
        tell(
            f"{100 * test.at.setting:.2f}%: mean ln ratio {found.log_mean:+.5f} +- "
            f"{found.half:.5f}, ratio of times {found.time_mean:.4f}"
        )
        return test


def leave_out(key: Key, why: str) -> None:
    complain("ssprofile", f"warning: {key[0]} is left out: {why}")


def _refuse_slower(ratio: float) -> UserError:
    why = f"this machine is slower than the base (mean ratio {ratio:.4f})"
    return UserError(f"{why}: throttle the base instead")


# The published search


def by_search(calibration: Calibration) -> dict[str, Any]:
    """Calibrate by the published search; return the row of `calibrated`."""
    tests: dict[float, Test] = {}  # by setting: several may become the same frequency

    def test(setting: int) -> Test:
        at = calibration.resolve(setting / SETTING_MAX)
        if at.setting not in tests:
            repetitions = calibration.request.repetitions or REPETITIONS
            tests[at.setting] = calibration.note(calibration.run(at, repetitions))
            ratio = tests[at.setting].match.time_mean
            if setting == SETTING_MAX and ratio > COST_MATCHED:
                raise _refuse_slower(1 / ratio)
        return tests[at.setting]

    costs = search(lambda setting: test(setting).cost)
    found = test(min(costs, key=costs.__getitem__))
    percent = f"{100 * found.at.setting:.2f}%"
    say(f"setting {percent} (cost {found.cost:.5f}, {_count(tests)})\n")
    is_near = found.cost > COST_MATCHED
    _say_setting(calibration, found, is_near, f" (cost {found.cost:.4f})")
    if is_near:
        calibration.findings.append(
            f"Its cost is {found.cost:.3f}: at no tested setting do benchmarks take as long as on "
            "the base."
        )
    return _result(calibration, found)


# The closed method


def by_closed_method(calibration: Calibration) -> dict[str, Any]:
    """Calibrate by the closed method; return the row of `calibrated`."""
    state, verdict = Closed(), Verdict.TEST
    while verdict == Verdict.TEST:
        at = calibration.resolve(state.setting)
        state.setting = at.setting
        if at.setting in state.settings:
            # Settings of a frequency are rounded to those that the machine has.
            _check_lowest(calibration.tests[-1])
            verdict = Verdict.NEAR
            break
        verdict = _test_closed(calibration, state, at)
    return _end_closed(calibration, state, verdict)


def _test_closed(calibration: Calibration, state: Closed, at: Setting) -> Verdict:
    """Test a setting, and double the repetitions until they decide."""
    repetitions = max(calibration.request.repetitions or REPETITIONS, 2)
    while True:
        test = calibration.run(at, repetitions)
        verdict = state.add(test.match.log_mean, test.match.half)
        if verdict != Verdict.REPEAT or 2 * repetitions > REPETITIONS_MAX:
            calibration.note(test)
            return verdict
        repetitions *= 2


def _check_lowest(last: Test) -> None:
    """Fail if this machine is too fast even at its lowest frequency."""
    at, ratio = last.at, math.exp(last.match.log_mean)
    if ratio > 1 and at.frequency and at.lowest and at.frequency <= at.lowest:
        raise UserError(
            f"at its lowest frequency, {at.lowest / 1e6:g} MHz, this machine is still {ratio:.4f} "
            "times as fast as the base: throttle by duty instead"
        )


def _end_closed(calibration: Calibration, state: Closed, verdict: Verdict) -> dict[str, Any]:
    tests = calibration.tests
    last, is_near = tests[-1], verdict == Verdict.NEAR
    if verdict == Verdict.SLOWER:
        raise _refuse_slower(math.exp(last.match.log_mean))
    if verdict == Verdict.REPEAT:
        raise UserError(
            f"{last.repetitions} repetitions leave an interval of +-{100 * last.match.half:.2f}%, "
            f"more than +-{100 * CLOSED_HALF:.0f}%: use an idle machine, measure the base with "
            "more repetitions, or choose other benchmarks"
        )
    if verdict == Verdict.FAILED:
        why = "no setting from 1% to 100% made this machine as fast as the base"
        raise UserError(f"{why} ({_count(tests)})")
    found = tests[state.nearest] if is_near else last
    mean, half, setting = found.match.log_mean, found.match.half, found.at.setting
    say(f"setting {100 * setting:.2f}% (mean ln ratio {mean:+.5f} +- {half:.5f}, "
        f"{_count(tests)})\n")
    if is_near:
        _say_setting(calibration, found, is_near, "")
        calibration.findings.append(_distance(mean, half))
        return _result(calibration, found)
    # Within so small a range, speed is proportional to the setting.
    low, high = setting * math.exp(-mean - half), min(setting * math.exp(-mean + half), 1)
    interval = f" ({100 * low:.2f}% to {100 * high:.2f}% with 95% confidence)"
    _say_setting(calibration, found, is_near, interval)
    return _result(calibration, found, low, high)


# Findings and results


def _count(tests: Sized) -> str:
    return f"{len(tests)} test{'' if len(tests) == 1 else 's'}"


def _say_setting(calibration: Calibration, found: Test, is_near: bool, more: str) -> None:
    request = calibration.request
    method = "published search" if request.method == "search" else "closed method"
    calibration.findings.append(
        f"Throttled by {request.throttle}, this machine is "
        f"{'nearest to' if is_near else 'as fast as'} the base at a setting of "
        f"{100 * found.at.setting:.2f}%{more}, found by the {method} (benchmarks: "
        f"{len(calibration.bench.keys)}, repetitions at this setting: {found.repetitions})."
    )


def _distance(mean: float, half: float) -> str:
    return (
        f"The mean ratio at this setting is {math.exp(mean):.4f} ({math.exp(mean - half):.4f} to "
        f"{math.exp(mean + half):.4f} with 95% confidence). No tested setting has an interval that "
        "contains 1, because the speed of this throttle jumps by more than that from one setting "
        "to the next; this setting is the nearest."
    )


def _result(
    calibration: Calibration, found: Test, low: float = math.nan, high: float = math.nan
) -> dict[str, Any]:
    calibration.found = found
    return {
        "throttle": calibration.request.throttle,
        "method": calibration.request.method,
        "setting": found.at.setting,
        "low": low,
        "high": high,
        "tests": len(calibration.tests),
        "benchmarks": len(calibration.bench.keys),
        "repetitions": found.repetitions,
        "most_to_least_first": calibration.tests[0].most_to_least,
        "most_to_least": found.most_to_least,
    }
