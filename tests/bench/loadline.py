# SPDX-License-Identifier: Apache-2.0
"""Estimates the load lines of simulated machines, read as CSV, and counts how often they are right.

Exits with status 1 unless 93 to 97 % of the truths are inside the bands, 93 % of each family inside
the prediction, and naive estimators fail this; with fewer than 1,000 machines, by more than two
standard errors.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/python"))

from showstopper.loadline import Loadline, loadline_of, predict
from showstopper.stats import Band, Uncertainty

FAMILIES = "straight", "overlap", "cores", "turbo", "limit", "knee near the top", "knee above", "locks"
PLACES = "any load", "a level", "noise/10", "noise*3"
PLACE_OF = {"bands": "any load", "quiet": "noise/10", "loud": "noise*3"}

# A single level above a knee does not determine its place, so the range is wide.
UNLOCATED = ("knee near the top", "knee above")
BENT = tuple(name for name in FAMILIES if name not in ("straight", "overlap"))

SECONDS, BURSTS = 40, 10  # as in loadline.c
RUNS_EXACT = 1000  # from this many machines on, the limits are exact
LOAD = 0.9  # at which the throughput is predicted


def throughput_of(machine: SimpleNamespace, load: float) -> float:
    """Return the throughput without noise, as loadline.c does."""
    match machine.family:
        case "straight":
            part = load * (1 + machine.bend * load)
        case "overlap" | "sssim":
            part = load - (1 - machine.slope / 2) * load * load
        case "cores":
            part = min(load, 0.5) + (machine.slope - 1) * max(load - 0.5, 0)
        case "locks":
            part = load / (1 + machine.bend * load + machine.place * load * load)
        case _:
            part = min(load, machine.place) + machine.slope * max(load - machine.place, 0)
    return float(machine.scale * part)


def around(y: float, half: float) -> Band:
    return Band(y, y * math.exp(-half), y * math.exp(half))


def naive(machine: SimpleNamespace, line: Loadline, done: float) -> Band:
    """Treat the seconds of a level as independent: the error of a level is noise / sqrt(n)."""
    return around(done, 1.96 * math.sqrt(2) * machine.noise / math.sqrt(2 * line.rounds * SECONDS))


def plain(visits: pd.DataFrame, done: float) -> Band:
    """Take ln T at the target of each visit, and deviations of ln up - ln down as errors.

    They include drift and missed targets.
    """
    logs = visits.assign(log=np.log(visits["throughput"])).pivot(
        index="round", columns=["target", "up"], values="log"
    )
    differences = logs.xs(1, axis=1, level="up") - logs.xs(0, axis=1, level="up")
    rounds, levels = differences.shape
    residuals = differences.sub(differences.mean(axis=1), axis=0).to_numpy()
    freedom = rounds * (levels - 1)
    error = math.sqrt(np.square(residuals).sum() / freedom / 2 / rounds)
    return around(done, float(Uncertainty(error, freedom).half(0.95)))


def contains(band: Band, truth: float) -> bool:
    return bool(band.low <= truth <= band.high)


def score_bands(machine: SimpleNamespace, visits: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Score the bands at a random load and, with the usual noise, at a random level."""
    line = loadline_of(visits)
    loads = line.levels["load"].to_numpy()
    simulated = machine.family == "sssim"
    most = max(throughput_of(machine, load) for load in ([1.0] if simulated else loads))
    places = {PLACE_OF[machine.part]: machine.anywhere}
    if machine.part == "bands":
        places["a level"] = loads[machine.level]
    for place, load in places.items():
        band, truth = line.done(load, 0.95), throughput_of(machine, load) / most
        yield {
            "family": machine.family,
            "place": place,
            "inside": contains(band, truth),
            "naive": contains(naive(machine, line, float(band.y)), truth),
            "plain": contains(plain(visits, float(band.y)), truth),
        }


def score_prediction(machine: SimpleNamespace, visits: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Predict the throughput at a higher load."""
    knees = (0.5,) if machine.family == "cores" else ()
    error = Uncertainty(machine.burst_error, BURSTS - 1)
    found = predict(loadline_of(visits), LOAD, knees, machine.burst, error)
    if found.missing:
        sys.exit(f"loadline: {found.missing}")
    truth = throughput_of(machine, LOAD)
    yield {
        "family": machine.family,
        "bursts": not math.isnan(machine.burst),
        "inside": contains(found.range, truth),
        "near": abs(math.log(found.range.y / truth)) <= math.log(1.03),
        "naive": contains(Band(*found.fits.loc[0, ["throughput", "low", "high"]]), truth),
    }


def slack(runs: int) -> float:
    return 0 if runs >= RUNS_EXACT else 2 * math.sqrt(95 * 5 / runs)


def percent(rows: pd.DataFrame, name: str) -> float:
    return float(100 * rows[name].mean())


def check_bands(scores: pd.DataFrame) -> bool:
    print(f"{'|':>65}       at a level")
    print("inside the band, %", *(f"{name:>{8 if i == 0 else 11}}" for i, name in enumerate(PLACES)),
          "|   mean of d   naive")
    met = True
    for name in (*FAMILIES, "sssim", "all"):
        rows = scores if name == "all" else scores[scores["family"] == name]
        cells = {place: rows[rows["place"] == place] for place in PLACES}
        inside = (f"{percent(one, 'inside'):11.1f}" if len(one) else " " * 11 for one in cells.values())
        level = cells["a level"]
        print(f"  {name:14}", *inside, f"| {percent(level, 'plain'):11.1f} {percent(level, 'naive'):7.1f}")
    for one in cells.values():  # of all families
        least, most = 93 - slack(len(one)), 97 + slack(len(one))
        met &= least <= percent(one, "inside") <= most and percent(one, "naive") < least
    return met


def check_predictions(scores: pd.DataFrame) -> bool:
    print("90 % from up to 60 %, %    inside  within 3 %  straight alone | bursts: inside  within 3 %")
    met = True
    for name in FAMILIES:
        rows = scores[scores["family"] == name]
        alone, bursts = rows[~rows["bursts"]], rows[rows["bursts"]]
        cells = [percent(alone, one) for one in ("inside", "near", "naive")]
        cells += [percent(bursts, one) for one in ("inside", "near")]
        print("  {:22} {:7.1f} {:11.1f} {:15.1f} | {:14.1f} {:11.1f}".format(name, *cells))

        inside, near, straight, inside_bursts, near_bursts = cells
        least = 93 - slack(len(alone))
        met &= inside >= least and inside_bursts >= least
        met &= name in UNLOCATED or near >= least
        met &= name == "knee near the top" or near_bursts >= least
        met &= name not in BENT or straight < least
    return met


def main() -> int:
    rows = pd.read_csv(sys.stdin, float_precision="round_trip").assign(watts=math.nan)
    bands, predictions = [], []
    for _, visits in rows.groupby("ladder", sort=False):
        machine = SimpleNamespace(**visits.iloc[0])
        if machine.part == "prediction":
            predictions += score_prediction(machine, visits)
        else:
            bands += score_bands(machine, visits)
    met = check_bands(pd.DataFrame(bands))
    return int(not (check_predictions(pd.DataFrame(predictions)) and met))


if __name__ == "__main__":
    sys.exit(main())
