# SPDX-License-Identifier: Apache-2.0
"""How well do the nodes of a fleet together follow their traces?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from .. import figures
from ..findings import Headline
from ..fleets import Fleet
from ..page import Code, Part, Picture, Section
from ..responses import divide
from ..statistics import median, quantile
from ..studies import Report
from ..tables import Sheet, Table
from ..verdicts import LOAD

NAMED_MAX = 3  # nodes that a sentence names
SHOWN_MAX = 100  # rows of a table of nodes on the page
COLUMNS_MAX = 120  # of a map
ERROR_BINS_MAX = 40  # of the histogram of errors
ERROR_BIN_MIN = 1e-5  # 0.001 points
MAP_FRAME, MAP_ROW = 110, 4  # pixels: of the frame of a map, and of each row


# A fleet as a whole


def whole_of(fleet: Fleet) -> dict[str, Any]:
    """Return the figures of a fleet as a whole. Sums are over the CPUs that have samples."""
    nodes, bins = fleet.nodes, fleet.bins[: fleet.used]
    cpu, load, target = (float(np.cumsum([0, *column])[-1]) for column in bins.T)
    apart = float(np.cumsum([0, *np.abs(bins[:, 1] - bins[:, 2])])[-1])
    errors, late = np.sort(nodes["error_mean"].dropna()), nodes["late_seconds"].dropna()
    measured = nodes["covered_seconds"] > 0
    return {
        "fleet": fleet.name,
        "set": fleet.set + 1,
        "nodes": len(nodes),
        "measured": int(measured.sum()),
        "failed": int(nodes["failed"].sum()),
        "cpus": float(nodes["cpus"].where(measured).sum()),
        "duration_seconds": fleet.used * fleet.width,
        "load_mean": divide(load, cpu),
        "target_mean": divide(target, cpu),
        "error_mean": divide(target, cpu) - divide(load, cpu),
        "error_abs_mean": divide(apart, cpu),
        "node_error_low": quantile(errors, 0.05),
        "node_error_high": quantile(errors, 0.95),
        "node_error_worst": max(reversed(errors), key=abs, default=math.nan),
        "late_median_seconds": median(late),
        "late_most_seconds": late.max(),
        "start_spread_seconds": late.max() - late.min(),
        "clock_error_seconds": max(0.0, nodes["offset_error_seconds"].max(skipna=True)),
        "untrusted_clocks": int((~nodes["clock_trusted"]).sum()),
    }


def df_fleet(report: Report) -> pd.DataFrame:
    return pd.DataFrame([whole_of(fleet) for fleet in report.fleets])


def df_nodes(report: Report) -> pd.DataFrame:
    """Return a row for each node."""
    frames = [pd.DataFrame()]
    for fleet in report.fleets:
        status = np.where(fleet.nodes["failed"], "failed", "done")
        frames.append(fleet.nodes.assign(fleet=fleet.name, status=status))
    return pd.concat(frames, ignore_index=True)


FLEET = Table(
    "fleet",
    "Fleets: the load of all nodes against their targets",
    "fleet (set) nodes measured failed cpus duration_seconds load_mean target_mean error_mean "
    "error_abs_mean node_error_low node_error_high node_error_worst late_median_seconds "
    "late_most_seconds start_spread_seconds clock_error_seconds untrusted_clocks",
    df_fleet,
    about="A row for each fleet: the load of all CPUs together against their targets, the errors "
    "of its nodes, their clocks, and how late they began. Times have a resolution of 1 ms.",
)
NODES = Table(
    "fleet-nodes",
    "Nodes",
    "(fleet) node trace status reason cpus covered_seconds load_mean target_mean error_mean "
    "error_abs_mean late_seconds offset_seconds offset_error_seconds clock_trusted clock "
    "clock_error_seconds",
    df_nodes,
    about="A row for each node of a fleet.",
)
TABLES = (FLEET, NODES)


# Sentences


def answer(report: Report) -> Headline | None:
    if not report.fleets:
        return None
    fleet = report.fleets[0]
    whole = whole_of(fleet)
    question = f"How well do {whole['nodes']} nodes together follow their traces?"
    if not whole["measured"]:
        sentence = "No node has a sample." + _failures(fleet) + _clocks(fleet)
        return Headline(question, sentence, needs=LOAD)
    points = {name: 100 * value for name, value in whole.items() if isinstance(value, float)}
    sentence = (
        f"The load of {whole['measured']} of {whole['nodes']} nodes was {points['load_mean']:.2f} "
        f"%, for a target of {points['target_mean']:.2f} %; it was {points['error_abs_mean']:.2f} "
        "points from the target on average over time. The mean error (target minus load) of 90 % "
        f"of these nodes was between {points['node_error_low']:.2f} and "
        f"{points['node_error_high']:.2f} points."
    )
    started = _started(whole["start_spread_seconds"])
    return Headline(question, sentence + started + _failures(fleet) + _clocks(fleet), needs=LOAD)


def _started(seconds: float) -> str:
    """Return a sentence with a time of at least 1 ms, the resolution of times in records."""
    if not math.isfinite(seconds):
        return ""
    whole = max(1, math.ceil(1000 * seconds - 0.001))
    shown = f"{whole} ms" if whole < 1000 else f"{whole / 1000:.9g} s"
    return f" They started within {shown}."


def _failures(fleet: Fleet) -> str:
    failed = fleet.nodes[fleet.nodes["failed"]]
    return _name(" These nodes failed: ", failed["node"], failed["reason"].str[:120])


def _clocks(fleet: Fleet) -> str:
    off = fleet.nodes[~fleet.nodes["clock_trusted"]]
    what = [
        f"{abs(offset):.3f} s {'behind' if offset < 0 else 'ahead'}, known within {error:.2g} s"
        for offset, error in zip(off["offset_seconds"], off["offset_error_seconds"])
    ]
    return _name(" These clocks are not trusted: ", off["node"], what)


def _name(begin: str, names: Any, what: Any) -> str:
    """Return " These nodes failed: n7 (did not report within 60s) and 2 more."; '' without any."""
    named = [f"{name[:60]} ({why})" for name, why in zip(names, what)]
    more = f" and {len(named) - NAMED_MAX} more" if len(named) > NAMED_MAX else ""
    return f"{begin}{', '.join(named[:NAMED_MAX])}{more}." if named else ""


def text(report: Report) -> str:
    return report.table("fleet").text(
        "fleets; load of all nodes against their targets, in percent of their CPUs"
    )


# The page


def sections(report: Report) -> Iterator[Section]:
    if not report.fleets:
        return
    nodes = report.table("fleet-nodes")
    parts: list[Part] = [
        "A fleet's load is the sum over the nodes that have samples at that time, and its target "
        "the sum of their targets. The error is target minus load, so it is negative if the load "
        "was above the target. Lateness is the time from the planned start to the start of the "
        "trace, by the clock of ssfleet; times have a resolution of 1 ms.",
        report.table("fleet"),
    ]
    parts += [Section(fleet.name, list(_pictures(fleet))) for fleet in report.fleets]
    yield Section("Fleets", [*parts, _nodes_part(nodes)])


def _nodes_part(nodes: Sheet) -> Part:
    if len(nodes) <= SHOWN_MAX:
        return nodes
    return Code("fleet-nodes.csv"), " has all nodes."


def _pictures(fleet: Fleet) -> Iterator[Picture]:
    if fleet.used:
        yield Picture(
            figures.svg(plot_sum(fleet)),
            "Sum over the nodes that have samples at that time, in CPUs",
        )
    if (fleet.nodes["covered_seconds"] > 0).sum() > 1:
        counts, edges, beyond = histogram(fleet.nodes["error_mean"].dropna())
        more = f"{beyond} more extreme node{'' if beyond == 1 else 's'}"
        more = f"; the outermost bars include {more}" if beyond else ""
        fig = plot_errors(counts, 100 * edges)
        yield Picture(figures.svg(fig), f"Number of nodes by mean error{more}")
    if fleet.used:
        caption = _map_caption(fleet, "Load of each node over time")
        yield Picture(figures.svg(plot_map(fleet)), caption)
        caption = _map_caption(fleet, "Distance of each node from its target over time")
        yield Picture(figures.svg(plot_map(fleet, distance=True)), caption)


def plot_sum(fleet: Fleet) -> Any:
    fig = figures.figure()
    ax = fig.axes[0]
    unit = figures.axis_time(ax, "time", fleet.used * fleet.width)
    figures.axis_from_zero(ax, "y", "load, CPUs")
    times = (np.arange(fleet.used) + 0.5) * fleet.width / unit
    loads, targets = fleet.bins[: fleet.used, 1:].T / fleet.width
    figures.line(ax, times, targets, label="their targets", color=figures.AXIS, width=4)
    figures.line(ax, times, loads, label="load of all nodes", width=1.6)
    return fig


def histogram(errors: pd.Series) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the number of nodes in each bin, the edges of bins, and the number of nodes beyond
    them, which the outermost bins include: quantiles determine the scale, because nodes that failed
    early may be far from the others."""
    low, high = quantile(errors, 0.05), quantile(errors, 0.95)
    low, span = low - (high - low) / 2, 2 * (high - low)
    count = min(math.ceil(math.sqrt(len(errors))) + 1, ERROR_BINS_MAX)
    edges = low + max(span / count, ERROR_BIN_MIN) * np.arange(count + 1)
    slack = 1e-6 * (edges[1] - edges[0])
    beyond = int((~errors.between(edges[0] - slack, edges[-1] + slack)).sum())
    return np.histogram(errors.clip(edges[0], edges[-1]), edges)[0], edges, beyond


def plot_errors(counts: np.ndarray, edges: np.ndarray) -> Any:
    fig = figures.figure()
    ax = fig.axes[0]
    figures.axis_around_zero(ax, "x", "mean error (target minus load), points")
    figures.axis_from_zero(ax, "y", "nodes", whole=True)
    middles = (edges[:-1] + edges[1:]) / 2
    titles = [f"{count} nodes at {at:.3f}" for at, count in zip(middles, counts)]
    width = edges[1] - edges[0]
    figures.bars(ax, middles, counts, titles, width=width, opacity=figures.HALF)
    return fig


def _map_caption(fleet: Fleet, what: str) -> str:
    caption = f"{what}. Empty fields have no samples"
    if len(fleet.nodes) > fleet.rows:
        caption += f"; a row is the mean of {len(fleet.nodes) / fleet.rows:.3g} nodes"
    if fleet.nodes["failed"].any():
        caption += "; crosses mark the ends of failed nodes"
    return caption


def plot_map(fleet: Fleet, distance: bool = False) -> Any:
    """Draw all nodes over time: their load, or its distance from the target."""
    count, step = len(fleet.nodes), -(-fleet.used // COLUMNS_MAX)
    fig = figures.figure(height=max(MAP_FRAME + MAP_ROW * fleet.rows, figures.HEIGHT))
    ax = fig.axes[0]
    unit = figures.axis_time(ax, "time", fleet.used * fleet.width)
    figures.axis_between(ax, "y", "node, in the order of fleet.csv", count, 0, whole=True)
    columns = -(-fleet.used // step)
    sums = np.zeros((fleet.rows, columns * step, 3))
    sums[:, : fleet.used] = fleet.map[:, : fleet.used]
    cpu, load, target = np.moveaxis(sums.reshape(fleet.rows, columns, step, 3).sum(axis=2), -1, 0)
    with np.errstate(invalid="ignore"):
        values = 100 * (np.abs(load - target) if distance else load) / cpu
    extent = (0, columns * step * fleet.width / unit, 0, count)
    label = "distance from the target, points" if distance else "load, %"
    figures.heat(ax, values, extent, label, high=math.nan if distance else 100)
    failed = fleet.nodes[fleet.nodes["failed"]]
    titles = (failed["node"] + ": " + failed["reason"]).tolist()
    figures.mark(
        ax, failed["ended"] / unit, failed.index + 0.5, titles, marker="x", color=figures.ORANGE
    )
    return fig
