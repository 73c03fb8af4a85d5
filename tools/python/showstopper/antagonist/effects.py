# SPDX-License-Identifier: Apache-2.0
"""Codes by which suspects are throttled, and estimates of what each suspect costs the victim.

Least squares over the rows of a run, seconds or slots:

    ln figure = constant + cubic drift + sum over all codes of (b stopped + l after)

where `stopped` is the part of a row for which a suspect is stopped, and `after` the part that
follows its blocks. A larger figure is better; callers that measure times pass their negative
logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.linalg import solve_triangular

from .. import stats

LENGTH = 63  # slots of one half of a run
SUSPECTS_MAX = 16
GHOSTS = 2  # codes that throttle nothing: any effect they show is chance
PAIRS_MAX = 8

SHIFT = 3  # any two codes differ, even if one is delayed by one or two slots
DRIFT = 4  # regressors of the drift: a constant and a cubic
DRIFT_OF_HALVES = 3
AFTER = 2  # rows after a block in which a continued suspect may disturb, or catch up
SINGULAR = 1e-9  # a smaller pivot shows that a column depends on the previous ones

ALPHA = 0.05  # probability that any suspect is accused by chance
POWER = 0.9  # probability of finding the smallest cost that the forecast announces
LOST_MIN = 1 / 3  # a suspect that loses less than this part of the request cannot be tested
RETURNED_MIN = 0.5  # a suspect that makes up for more of the withheld CPU time only shifts work
RETURNED_MAX = 1.5  # a suspect that seems to make up for more has more work than before

NOTHING = "no effect"
HURTS = "hurts"
SHIFTS = "hurts, but only shifts its work"
SUPPORTS = "is needed"
DISTURBS = "throttling disturbs"
UNCONFIRMED = "loss not confirmed"
UNTESTABLE = "not testable"

_WORD = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


# Codes


def random_hash(word: int) -> int:
    """Return a well-mixed hash of 64 bits: splitmix64, as in showstopper/random.h."""
    word = (word + _GOLDEN) & _WORD
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & _WORD
    return word ^ (word >> 31)


def random_at(seed: int, index: int) -> float:
    """Return the uniform number from 0 to 1 at an index of the sequence of a seed."""
    return (random_hash((seed + index * _GOLDEN) & _WORD) >> 11) / 2**53


def _sequence() -> np.ndarray:
    """Return the maximum-length sequence s[n] = s[n-6] xor s[n-5] that begins with 000001."""
    bits = [0, 0, 0, 0, 0, 1]
    for at in range(LENGTH - 6):
        bits.append(bits[at] ^ bits[at + 1])
    return np.array(bits, dtype=bool)


@dataclass(frozen=True)
class Codes:
    """Shifts of one maximum-length sequence: those of the suspects, then those of the ghosts.

    Each suspect is throttled in half of the slots, and no code resembles another. The second half
    of a run repeats the first with all codes inverted: without it, the combined effect of two
    suspects would look like the effect of a third.
    """

    start: int
    shifts: tuple[int, ...]
    slots: int  # 126, or 63 without the inverted half

    @classmethod
    def draw(cls, suspects: int, both_halves: bool, seed: int) -> Codes:
        state = random_hash(seed & _WORD)
        shifts: list[int] = []
        for place in range(LENGTH // SHIFT):  # shuffle while filling the list
            shifts.append(SHIFT * place)
            other = int(random_at(state, place + 1) * (place + 1))
            shifts[place], shifts[other] = shifts[other], shifts[place]
        start = int(random_at(state, 0) * LENGTH)
        return cls(start, tuple(shifts[: suspects + GHOSTS]), LENGTH * (1 + both_halves))

    def low(self) -> np.ndarray:
        """Return whether each code (column) throttles in each slot (row)."""
        places = np.arange(self.slots)[:, None] % LENGTH + self.start + np.array(self.shifts)
        inverted = np.arange(self.slots)[:, None] >= LENGTH
        return np.not_equal(_sequence()[places % LENGTH], inverted)


@dataclass(frozen=True)
class Throttled:
    """When suspects were throttled: a column for each code, the ghosts last.

    Rows are slots, in which a suspect is throttled or not, or parts of slots of about a second, in
    which it is stopped or not.
    """

    low: np.ndarray  # whether it is throttled in each slot
    stopped: np.ndarray  # the part of each row for which it is stopped
    after: np.ndarray  # the part of each row that follows blocks
    afters: np.ndarray  # rows that follow blocks, per row that is stopped
    withheld: float  # part of its CPU time that a suspect should lose while it is stopped

    @classmethod
    def in_slots(cls, low: np.ndarray, depth: float) -> Throttled:
        stopped = low.astype(float)
        return cls(low, stopped, _earlier(stopped, 1), np.ones(low.shape[1]), depth)

    @classmethod
    def in_rows(cls, low: np.ndarray, stopped: np.ndarray) -> Throttled:
        before = sum(_earlier(stopped, rows) for rows in range(1, AFTER + 1))
        after = np.minimum(before, 1 - stopped)
        afters = after.sum(axis=0) / np.maximum(stopped.sum(axis=0), SINGULAR)
        return cls(low, stopped, after, afters, 1)

    @property
    def is_in_rows(self) -> bool:
        return len(self.stopped) > len(self.low)

    def regressors(self) -> np.ndarray:
        both = np.stack([self.stopped, self.after], axis=2).reshape(len(self.stopped), -1)
        return np.hstack([drift(len(self.stopped), DRIFT), both])


def _earlier(rows: np.ndarray, count: int) -> np.ndarray:
    """Return for each row the row that is `count` earlier; 0 before the first."""
    return np.vstack([np.zeros_like(rows[:count]), rows[:-count]])


# Least squares


class Fit:
    """A least-squares fit to a series, which has a value for each row of the regressors; NaN if
    unknown."""

    def __init__(self, regressors: np.ndarray, series: np.ndarray) -> None:
        known = np.isfinite(series)
        rows = regressors[known]
        self.count, columns = rows.shape
        self.freedom = self.count - columns
        self.is_determined = False
        if self.freedom <= 0:
            return
        q, r = np.linalg.qr(rows)
        pivots = np.abs(np.diag(r))
        self.is_determined = bool(pivots.min() > SINGULAR * pivots.max())
        if not self.is_determined:
            return
        inverse = solve_triangular(r, np.eye(columns))
        self.values = inverse @ (q.T @ series[known])
        residuals = series[known] - rows @ self.values
        self.variance = float(residuals @ residuals) / self.freedom
        self.covariance = inverse @ inverse.T * self.variance
        self.errors = np.sqrt(np.diag(self.covariance))


def drift(slots: int, columns: int) -> np.ndarray:
    """Return a constant and Legendre polynomials, for positions in the study from -1 to 1."""
    x = 2 * (np.arange(slots) + 0.5) / slots - 1
    return np.stack([x**0, x, (3 * x**2 - 1) / 2, (5 * x**3 - 3 * x) / 2][:columns], axis=1)


@lru_cache(maxsize=None)
def quantile(tests: int, freedom: float) -> float:
    """Return the |t| that the largest of `tests` effects exceeds by chance in 5 % of studies."""
    return float(stats.student(1 - ALPHA / tests, freedom)) if tests else math.nan


def found_from(tests: int, rows: int, stopped: float, deviation: float, withheld: float) -> float:
    """Return the smallest cost, as a logarithm, that a run finds with a probability of 90 %.

    `stopped` is the part of the rows in which a suspect is stopped, `deviation` the standard
    deviation of the logarithm of a row's figure.
    """
    freedom = rows - DRIFT - 2 * (tests + GHOSTS)
    if freedom <= 0:
        return math.nan
    error = deviation / math.sqrt(rows * stopped * (1 - stopped))
    found = quantile(tests, freedom) + float(stats.student(2 * POWER - 1, freedom))
    return found * error / withheld


# Estimates


@dataclass(frozen=True)
class Effects:
    """The results of a run with throttles.

    `codes` has a row for each suspect or group, then for each ghost, with the columns of
    suspects.csv and `grew`: it used more CPU time than before the study, so `returned` says
    nothing. `crossed` has the relative change of the CPU time of each suspect while each one was
    throttled. `pairs` has the suspects whose combined effect is not the sum of their effects, the
    largest |t| first; pairs that are throttled in the same slots together have the same t.
    """

    deviation: float  # standard deviation of logarithms from the fit
    codes: pd.DataFrame
    ghost_found: bool
    crossed: pd.DataFrame  # group, throttled, change, significant
    pairs: pd.DataFrame  # one, other, t


def estimate(
    throttled: Throttled, figures: np.ndarray, cpu: np.ndarray, usual: np.ndarray, tests: int = 0
) -> Effects | None:
    """Estimate the effects in a run; None if too few rows have a figure.

    `figures` has the logarithm of the figure in each row, `cpu` a column per suspect with its CPU
    time in each row, in any unit, `usual` a row per suspect with the mean of its CPU time before
    the study and the standard error of this mean. NaN if unknown. `tests` is the number of effects
    that are tested, if larger than that of the suspects here.
    """
    regressors = throttled.regressors()
    fit = Fit(regressors, figures)
    if not fit.is_determined:
        return None
    suspects = cpu.shape[1]
    lost, crossed = zip(
        *(_lost(throttled.stopped, regressors, cpu[:, one], usual[one], one)
          for one in range(suspects))
    )  # fmt: skip
    codes = _effects(fit, throttled, pd.DataFrame(lost), max(tests, suspects))
    codes["verdict"] = _verdicts(codes, throttled)
    slots = len(throttled.low)
    return Effects(
        deviation=math.sqrt(fit.variance),
        codes=codes,
        ghost_found=bool((~_contains_zero(codes, "effect"))[suspects:].any()),
        crossed=pd.concat(crossed, ignore_index=True),
        pairs=_pairs(throttled.low[:, :suspects], figures.reshape(slots, -1).mean(axis=1)),
    )


def _contains_zero(codes: pd.DataFrame, name: str) -> pd.Series:
    return (codes[f"{name}_low"] <= 0) & (codes[f"{name}_high"] >= 0)


def _effects(fit: Fit, throttled: Throttled, lost: pd.DataFrame, tests: int) -> pd.DataFrame:
    """Return the effects of all codes; `lost` has the rows of the suspects, see _lost()."""
    now, after = fit.values[DRIFT::2], fit.values[DRIFT + 1 :: 2]
    now_error, after_error = fit.errors[DRIFT::2], fit.errors[DRIFT + 1 :: 2]
    shared = np.diag(fit.covariance[DRIFT::2, DRIFT + 1 :: 2])
    afters = throttled.afters
    both_error = np.sqrt(
        np.maximum(now_error**2 + (afters * after_error) ** 2 + 2 * afters * shared, 0)
    )

    codes = lost.reindex(range(len(now)))
    ghosts = np.arange(len(now)) >= len(lost)
    codes["grew"] = codes["grew"].eq(True)
    withheld = np.where(ghosts, throttled.withheld, codes["withheld"])
    withheld_error = np.where(ghosts, 0, codes["withheld_error"])

    def add(name: str, value: np.ndarray, error: np.ndarray) -> None:
        half = quantile(tests, fit.freedom) * error
        codes[name], codes[f"{name}_low"], codes[f"{name}_high"] = value, value - half, value + half

    def add_per_withheld(name: str, value: np.ndarray, error: np.ndarray) -> None:
        ratio = value / withheld
        add(name, ratio, np.hypot(error, ratio * withheld_error) / np.abs(withheld))

    codes["withheld"] = withheld
    with np.errstate(divide="ignore", invalid="ignore"):
        add("effect", now, now_error)
        add("after", after, after_error)
        add_per_withheld("cost", now, now_error)
        add_per_withheld("net", now + afters * after, both_error)
    return codes


def _verdicts(codes: pd.DataFrame, throttled: Throttled) -> np.ndarray:
    """Return the verdict on each code.

    A small net effect may include zero by chance, so there must be a loss afterwards as well.
    """
    loses_after = codes["after_high"] < 0
    lost_again = _contains_zero(codes, "net") & loses_after
    made_up = ~codes["grew"] & (codes["returned"] > RETURNED_MIN) & (codes["returned_low"] > 0)
    no_effect = _contains_zero(codes, "effect")
    return np.select(
        [
            ~(codes["withheld"] >= LOST_MIN * throttled.withheld),
            no_effect & loses_after & throttled.is_in_rows,
            no_effect,
            codes["effect"] < 0,
            lost_again | made_up,
        ],
        [UNTESTABLE, DISTURBS, NOTHING, SUPPORTS, SHIFTS],
        HURTS,
    )


def confirmed(verdict: str, alone: str) -> str:
    """Return the verdict about a suspect; `alone` is the verdict of the run that tested it alone.

    A dependency must show twice: chance, or others that disturb when continued, may look like one.
    """
    if verdict != SUPPORTS or alone == SUPPORTS:
        return verdict
    return DISTURBS if alone == DISTURBS else UNCONFIRMED


def _lost(
    stopped: np.ndarray, regressors: np.ndarray, cpu: np.ndarray, usual: np.ndarray, suspect: int
) -> tuple[dict[str, float], pd.DataFrame]:
    """Return how much CPU time a suspect lost while throttled and used later, and the rows of
    `crossed`: how its CPU time changed with each code, and whether that is significant."""
    suspects = stopped.shape[1] - GHOSTS
    known = np.isfinite(cpu)
    low = stopped[:, suspect] > 0
    free = cpu[known & ~low]
    mean = free.mean() if len(free) else math.nan
    row = {"withheld": math.nan, "withheld_error": math.nan, "grew": False}
    row |= {f"returned{bound}": math.nan for bound in ("", "_low", "_high")}
    fit = Fit(regressors, cpu)
    crossed = pd.DataFrame({"group": suspect, "throttled": range(suspects)})
    if not (mean > 0 and fit.is_determined):
        return row, crossed.assign(change=math.nan, significant=False)

    own = slice(DRIFT, DRIFT + 2 * suspects, 2)
    values, errors = fit.values[own], fit.errors[own]
    # All pairs of suspects are tested for a change by the code of another one.
    tests = np.full(suspects, quantile(suspects * (suspects - 1), fit.freedom))
    tests[suspect] = quantile(suspects, fit.freedom)
    row |= {"withheld": -values[suspect] / mean, "withheld_error": errors[suspect] / mean}
    others = _change_by_others(fit, stopped[known], suspect)
    row |= _returned(cpu[known], low[known], usual, others, suspects, len(low))
    return row, crossed.assign(change=values / mean, significant=np.abs(values) > tests * errors)


def _change_by_others(fit: Fit, stopped: np.ndarray, suspect: int) -> tuple[float, float]:
    """Return by how much the codes of the others changed the mean CPU time of a suspect.

    Suspects that share CPUs use what a throttled one leaves. Returns 0 if this may be chance,
    because the errors of many small changes would hide that a suspect uses CPU time later.
    """
    suspects = stopped.shape[1] - GHOSTS
    weights = np.zeros(len(fit.values))
    weights[DRIFT : DRIFT + 2 * suspects : 2] = stopped[:, :suspects].mean(axis=0)
    weights[DRIFT + 2 * suspect] = 0
    value = float(weights @ fit.values)
    error = math.sqrt(max(0, weights @ fit.covariance @ weights))
    return (value, error) if abs(value) > quantile(suspects, fit.freedom) * error else (0, 0)


def _returned(
    cpu: np.ndarray,
    low: np.ndarray,
    usual: np.ndarray,
    others: tuple[float, float],
    suspects: int,
    slots: int,
) -> dict[str, float]:
    """Return how much of the withheld CPU time a suspect used later.

    A queue catches up at full speed until it is empty. This may take many slots, so the coefficient
    for the rows after does not show it. The mean over the whole study does: without the changes by
    `others`, it equals the usual CPU time of the suspect.
    """
    free, throttled = (stats.mean_of(cpu[which] - others[0]) for which in (~low, low))
    usual_mean, usual_error = usual
    share = throttled.count / len(cpu)
    more = share * throttled.mean + (1 - share) * free.mean - usual_mean
    squares = share * throttled.deviation**2 + (1 - share) * free.deviation**2
    error = math.sqrt(usual_error**2 + squares / len(cpu) + others[1] ** 2)
    withheld = share * (usual_mean - throttled.mean)
    tested = quantile(suspects, slots)
    found: dict[str, float] = {
        "grew": bool(more > tested * error and more > (RETURNED_MAX - 1) * withheld)
    }
    if withheld > 0:
        value, half = 1 + more / withheld, tested * error / withheld
        found |= {"returned": value, "returned_low": value - half, "returned_high": value + half}
    return found


def _pairs(low: np.ndarray, figures: np.ndarray) -> pd.DataFrame:
    """Find the pairs whose combined effect is not the sum of their effects.

    Each slot of the first half is averaged with the slot of the inverted codes. Effects of single
    suspects cancel to a constant in these means; effects of pairs remain.
    """
    one, other = np.triu_indices(low.shape[1], 1)
    means = (figures[:LENGTH] + figures[LENGTH:]) / 2 if len(low) > LENGTH else np.empty(0)
    known = np.isfinite(means)
    freedom = int(known.sum()) - DRIFT_OF_HALVES - 1
    if freedom <= 0 or not len(one):
        return pd.DataFrame({"one": [], "other": [], "t": []})

    # 1 if both are in the same state, else -1. Pairs with the same products must have the same t.
    states = low[:LENGTH][known]
    products = np.where(states[:, one] == states[:, other], 1.0, -1.0)
    products, places = np.unique(products, axis=1, return_inverse=True)
    q, _ = np.linalg.qr(drift(LENGTH, DRIFT_OF_HALVES)[known])
    products = products - q @ (q.T @ products)
    rest = means[known] - q @ (q.T @ means[known])
    squares = (products**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = products.T @ rest / squares
        residuals = ((rest[:, None] - products * slopes) ** 2).sum(axis=0)
        t = slopes / np.sqrt(residuals / freedom / squares)
    t[~(np.sqrt(squares) > SINGULAR * math.sqrt(known.sum()))] = 0
    t = t[places.ravel()]
    found = np.flatnonzero(np.abs(t) > quantile(len(one), freedom))
    found = found[np.argsort(-np.abs(t[found]), kind="stable")][:PAIRS_MAX]
    return pd.DataFrame({"one": one[found], "other": other[found], "t": t[found]})
