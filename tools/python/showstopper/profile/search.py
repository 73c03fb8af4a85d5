# SPDX-License-Identifier: Apache-2.0
"""The search for the setting of a throttle at which this machine is as fast as the base."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass, field

# The published search

SETTING_MIN, SETTING_MAX = 1000, 10000  # 10000 is full speed
TESTS = 16

# OpenTuner, which the published search uses, extends the range of an integer at both ends.
_RANGE = SETTING_MAX - SETTING_MIN + 2 * 0.4999


def cost(time_ratio: float) -> float:
    """Return the cost of a setting at which benchmarks take this many times as long as on the
    base."""
    return time_ratio if time_ratio >= 1 else 2 - time_ratio


def search(cost_of: Callable[[int], float]) -> dict[int, float]:
    """
    Return the costs of the tested settings in their order; the first smallest one is the result.

    A test that is no better halves the step and reverses it. So does a setting that was tested
    before, without another test.
    """
    costs: dict[int, float] = {}
    best, setting, step = SETTING_MAX, SETTING_MAX, -_RANGE / 4
    while True:
        costs[setting] = cost_of(setting)
        if setting == best or costs[setting] < costs[best]:
            best = setting
        else:
            step /= -2
        setting = _move(best, step)
        while setting in costs and abs(step) >= 0.5:
            step /= -2
            setting = _move(best, step)
        if abs(step) < 0.5 or len(costs) == TESTS:
            return costs


def _move(setting: int, step: float) -> int:
    return min(max(math.floor(setting + step + 0.5), SETTING_MIN), SETTING_MAX)


# The closed method

CLOSED_TESTS = 8  # maximum number of settings
CLOSED_HALF = 0.01  # maximum half width of the interval
CLOSED_MIN = 0.01  # minimum setting

# Bounds of the slope of ln r over ln q, which is 1 if speed is proportional to the setting
_SLOPE_MIN, _SLOPE_MAX = 0.25, 4


class Verdict(enum.Enum):
    TEST = "test `setting` next"
    REPEAT = "add repetitions at this setting: the interval is too wide"
    DONE = "`setting` is the result"
    NEAR = "no interval contains 0, but the one of `nearest` is within CLOSED_HALF of 0"
    SLOWER = "this machine is slower than the base even without a throttle"
    FAILED = "no convergence, or a setting below the minimum would be needed"


@dataclass
class Closed:
    """The state of the closed method. It begins without a throttle, at a setting of 1."""

    setting: float = 1.0
    settings: list[float] = field(default_factory=list)  # those that did not match
    logs: list[float] = field(default_factory=list)  # mean ln r at each
    off: list[float] = field(default_factory=list)  # how far each interval reaches from 0

    @property
    def nearest(self) -> int:
        return self.off.index(min(self.off))

    def add(self, mean: float, half: float) -> Verdict:
        """Add the mean ln r of the benchmarks at `setting`, and half its confidence interval."""
        equal = abs(mean) <= half
        if math.isnan(half) or (equal and half > CLOSED_HALF):
            return Verdict.REPEAT
        if equal:
            return Verdict.DONE
        if self.setting >= 1 and mean < 0:
            return Verdict.SLOWER
        self.settings.append(self.setting)
        self.logs.append(mean)
        self.off.append(abs(mean) + half)
        following = min(self.setting * math.exp(-mean / self._slope()), 1)
        is_over = following < CLOSED_MIN or following == self.setting
        if is_over or len(self.settings) == CLOSED_TESTS:
            # The speed may jump by more than the width of an interval between two settings.
            return Verdict.NEAR if min(self.off) <= CLOSED_HALF else Verdict.FAILED
        self.setting = following
        return Verdict.TEST

    def _slope(self) -> float:
        """Return the slope through the last two points, or 1 if noise makes it useless."""
        if len(self.settings) < 2:
            return 1.0
        run = math.log(self.settings[-1]) - math.log(self.settings[-2])
        found = (self.logs[-1] - self.logs[-2]) / run
        return found if _SLOPE_MIN <= found <= _SLOPE_MAX else 1.0
