#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes intervals.csv: confidence intervals of the interference metric of the pairs in pairs.csv.

To be run in this folder: python3 fieller.py >intervals.csv. It needs no package, and shares no code
with what it checks: sums in exact fractions, t by integration of its density.

The line through n points of a half is y = i + s x, with the residual variance v = RSS / (n - 2) and
    var(s) = v / Sxx,  var(i) = v (1 / n + mean(x)^2 / Sxx),  cov(i, s) = -v mean(x) / Sxx.
Fieller's interval of r = s / i holds all r with (s - r i)^2 <= t^2 (var(s) - 2 r cov + r^2 var(i)); it
is found here by bisection on both sides of s / i, and has no bounds unless i^2 > t^2 var(i). A half is
worth -100 r percent; its t is that of n - 2.
For the mean of both halves, t has the freedom of Welch and Satterthwaite,
    (V1 + V2)^2 / (V1^2 / (n1 - 2) + V2^2 / (n2 - 2)),  V = (var(s) - 2 r cov + r^2 var(i)) / i^2,
and the distance of a bound from the mean is half the root of the sum of the squared distances of both
halves' bounds (MOVER: Donner and Zou, 2012).
"""
import csv
from fractions import Fraction
from math import exp, lgamma, log, pi, sqrt

CONFIDENCE = 0.95


def density(x, freedom):
    return exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(freedom * pi) / 2
               - (freedom + 1) / 2 * log(1 + x * x / freedom))


def integral(to, freedom, parts=4000):
    """Return the integral of the density from 0, by Simpson's rule."""
    width = to / parts
    total = density(0, freedom) + density(to, freedom)
    for i in range(1, parts):
        total += (4 if i % 2 else 2) * density(i * width, freedom)
    return total * width / 3


def bisect(is_low, low, high):
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if is_low(middle):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def quantile(freedom):
    return bisect(lambda t: integral(t, freedom) < CONFIDENCE / 2, 0.0, 20.0)


def fit(points):
    n = len(points)
    x = [Fraction(a) for a, _ in points]
    y = [Fraction(b) for _, b in points]
    mean_x, mean_y = sum(x) / n, sum(y) / n
    sxx = sum((a - mean_x) ** 2 for a in x)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sxx
    intercept = mean_y - slope * mean_x
    v = sum((b - intercept - slope * a) ** 2 for a, b in zip(x, y)) / (n - 2)
    return {"n": n, "s": slope, "i": intercept, "vs": v / sxx,
            "vi": v * (Fraction(1, n) + mean_x ** 2 / sxx), "c": -v * mean_x / sxx}


def fieller(line, t):
    """Return both bounds in percent; None if the interval has no bounds."""
    s, i, vs, vi, c = (float(line[name]) for name in ("s", "i", "vs", "vi", "c"))
    if i * i <= t * t * vi:
        return None
    middle = s / i

    def inside(r):
        return (s - r * i) ** 2 <= t * t * (vs - 2 * r * c + r * r * vi)

    reach = 1e-9
    while inside(middle + reach) or inside(middle - reach):
        reach *= 2
    least = bisect(lambda r: not inside(r), middle - reach, middle)
    most = bisect(inside, middle, middle + reach)
    return -100 * most, -100 * least


def intervals(halves):
    result = []
    lines = [fit(half) for half in halves]
    for name, line in zip(("first", "second"), lines):
        result.append((name, fieller(line, quantile(line["n"] - 2))))
    values = [float(-100 * line["s"] / line["i"]) for line in lines]
    squares = [float((line["vs"] - 2 * (line["s"] / line["i"]) * line["c"]
                      + (line["s"] / line["i"]) ** 2 * line["vi"]) / line["i"] ** 2)
               for line in lines]
    freedom = sum(squares) ** 2 / sum(v * v / (line["n"] - 2) for v, line in zip(squares, lines))
    t = quantile(freedom)
    parts = [fieller(line, t) for line in lines]
    if None in parts:
        result.append(("metric", None))
        return result
    mean = sum(values) / 2
    below = sqrt(sum((value - part[0]) ** 2 for value, part in zip(values, parts))) / 2
    above = sqrt(sum((part[1] - value) ** 2 for value, part in zip(values, parts))) / 2
    result.append(("metric", (mean - below, mean + above)))
    return result


def main():
    cases = {}
    with open("pairs.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["x"] and row["y"]:
                cases.setdefault(row["case"], {}).setdefault(row["half"], []).append(
                    (row["x"], row["y"]))
    print("case,name,low,high")
    for case in ("known", "noisy", "rising", "missing", "near_zero"):
        halves = cases.get(case)
        if case == "near_zero":
            # The intercept of its second half is not significantly different from 0.
            halves = {"1": cases["known"]["1"], "2": [
                ("0.1", "0.5"), ("0.3", "-0.4"), ("0.5", "0.9"), ("0.7", "0.2"), ("0.9", "1.1")]}
        for name, interval in intervals([halves["1"], halves["2"]]):
            print(f"{case},{name}," + (f"{interval[0]:.15g},{interval[1]:.15g}" if interval else ","))


main()
