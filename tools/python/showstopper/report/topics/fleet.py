# SPDX-License-Identifier: Apache-2.0
"""How well do the nodes of a fleet together follow their traces?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from .. import figures as f
from ... import stats
from ...fleets import Fleet
from ...study import Study
from ...text import listed
from ...verdicts import LOAD
from ..tables import Table

NEEDS = LOAD

NAMED_MAX = 3  # nodes that a sentence names
COLUMNS_MAX = 60  # of a map
ERROR_BINS_MAX = 40  # of the histogram of errors
ERROR_BIN_MIN = 1e-5  # 0.001 points


# A fleet as a whole


def whole_of(fleet: Fleet) -> dict[str, Any]:
    """Return the figures of a fleet as a whole. Sums are over the CPUs that have samples."""
    nodes = fleet.nodes
    cpu, load, target = fleet.bins.sum(axis=0)
    apart = np.abs(fleet.bins[:, 1] - fleet.bins[:, 2]).sum()
    means = np.array([load, target, target - load, apart]) / (cpu or math.nan)
    errors, late = nodes["error_mean"].dropna(), nodes["late_seconds"]
    measured = nodes["covered_seconds"] > 0
    return {
        "fleet": fleet.name,
        "set": fleet.set,
        "nodes": len(nodes),
        "measured": int(measured.sum()),
        "failed": int(nodes["failed"].sum()),
        "cpus": nodes["cpus"].where(measured).sum(),
        "duration_seconds": fleet.used * fleet.width,
        **dict(zip(("load_mean", "target_mean", "error_mean", "error_abs_mean"), means.tolist())),
        "node_error_low": stats.quantile(errors, 0.05),
        "node_error_high": stats.quantile(errors, 0.95),
        "node_error_worst": max(sorted(errors, reverse=True), key=abs, default=math.nan),
        "late_median_seconds": late.median(),
        "late_most_seconds": late.max(),
        "start_spread_seconds": late.max() - late.min(),
        "clock_error_seconds": np.fmax(nodes["offset_error_seconds"].max(), 0),
        "untrusted_clocks": int((~nodes["clock_trusted"]).sum()),
    }


def df_fleet(study: Study) -> pd.DataFrame:
    return pd.DataFrame([whole_of(fleet) for fleet in study.fleets])


def df_nodes(study: Study) -> pd.DataFrame:
    """Return a row for each node."""
    found = [
        fleet.nodes.assign(
            fleet=fleet.name, status=np.where(fleet.nodes["failed"], "failed", "done")
        )
        for fleet in study.fleets
    ]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


TABLES = {
    "fleet": Table(
        "Fleets: the load of all nodes against their targets",
        "fleet (set) nodes measured failed cpus duration_seconds load_mean target_mean error_mean "
        "error_abs_mean node_error_low node_error_high node_error_worst late_median_seconds "
        "late_most_seconds start_spread_seconds clock_error_seconds untrusted_clocks",
        df_fleet,
        terminal="fleets; load of all nodes against their targets, in percent of their CPUs",
        about="A row for each fleet: the load of all CPUs together against their targets, the "
        "errors of its nodes, their clocks, and how late they began. Times have a resolution of "
        "1 ms.",
    ),
    "fleet-nodes": Table(
        "Nodes",
        "(fleet) node trace status reason cpus covered_seconds load_mean target_mean error_mean "
        "error_abs_mean late_seconds offset_seconds offset_error_seconds clock_trusted clock "
        "clock_error_seconds",
        df_nodes,
        about="A row for each node of a fleet.",
    ),
}


# Sentences


def question(study: Study) -> str:
    if not study.fleets:
        return ""
    count = len(study.fleets[0].nodes)
    if count == 1:
        return "How well does the node follow its trace?"
    return f"How well do {count} nodes together follow their traces?"


def answer(study: Study) -> str:
    fleet, whole = study.fleets[0], study.once(df_fleet).iloc[0]
    if not whole["measured"]:
        return "No node has a sample." + _failures(fleet) + _clocks(fleet)
    names = "load_mean target_mean error_abs_mean node_error_low node_error_high".split()
    load, target, apart, low, high = (f"{100 * whole[name]:.2f}" for name in names)
    return (
        f"The load of {whole['measured']} of {whole['nodes']} nodes was {load} %, for a target of "
        f"{target} %; it was {apart} points from the target on average over time. The mean error "
        f"(target minus load) of 90 % of these nodes was between {low} and {high} points."
        + _started(whole["start_spread_seconds"]) + _failures(fleet) + _clocks(fleet)
    )


def _started(seconds: float) -> str:
    """Return a sentence with a time of at least 1 ms, the resolution of times in records."""
    if not math.isfinite(seconds):
        return ""
    whole = max(1, math.ceil(1000 * seconds - 0.001))
    return f" They started within {f'{whole} ms' if whole < 1000 else f'{whole / 1000:.9g} s'}."


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
    return f"{begin}{listed(named, NAMED_MAX)}." if named else ""


# Figures


def figures(study: Study) -> Iterator[f.Picture]:
    for fleet in study.fleets:
        if fleet.used:
            how = "Sums over the nodes that have samples at that time."
            yield f.Picture("Load of all nodes", plot_sum(fleet), fleet.name, how)
        errors = fleet.nodes["error_mean"].dropna()
        if len(errors) > 1:
            yield f.Picture("Nodes by mean error", plot_errors(errors), fleet.name, _beyond(errors))
        if fleet.used:
            how = _explain_map(fleet)
            yield f.Picture("Load of each node", plot_map(fleet), fleet.name, how)
            apart = plot_map(fleet, distance=True)
            yield f.Picture("Distance of each node from its target", apart, fleet.name, how)


@f.drawing
def plot_sum(fleet: Fleet) -> Any:
    fig, ax = f.new()
    unit = f.time_axis(ax, fleet.used * fleet.width)
    at = (np.arange(fleet.used) + 0.5) * fleet.width / unit
    _, loads, targets = fleet.bins.T / fleet.width
    ax.plot(at, targets, color=f.AXIS, linewidth=4, label="their targets")
    ax.plot(at, loads, linewidth=1.6, label="load of all nodes")
    ax.set(ylabel="load, CPUs", ylim=(0, 1.05 * max(loads.max(), targets.max()) or 1))
    f.legend(ax)
    return fig


def error_edges(errors: pd.Series) -> stats.Array:
    """Return the edges of a histogram. Quantiles determine the scale, because nodes that failed
    early may be far from the others, which count in the outermost bars."""
    low, high = stats.quantile(errors, 0.05), stats.quantile(errors, 0.95)
    count = min(math.ceil(math.sqrt(len(errors))) + 1, ERROR_BINS_MAX)
    width = max(2 * (high - low) / count, ERROR_BIN_MIN)
    edges: stats.Array = low - (high - low) / 2 + width * np.arange(count + 1)
    return edges


def _beyond(errors: pd.Series) -> str:
    edges = error_edges(errors)
    slack = 1e-6 * (edges[1] - edges[0])
    count = int((~errors.between(edges[0] - slack, edges[-1] + slack)).sum())
    nodes = f"{count} more extreme node{'' if count == 1 else 's'}"
    return f"The outermost bars include {nodes}." if count else ""


@f.drawing
def plot_errors(errors: pd.Series) -> Any:
    fig, ax = f.new()
    edges = error_edges(errors)
    counts, _ = np.histogram(errors.clip(edges[0], edges[-1]), edges)
    middles, width = 50 * (edges[:-1] + edges[1:]), 100 * (edges[1] - edges[0])
    titles = [f"{count} nodes at {at:.3f}" for at, count in zip(middles, counts)]
    f.bars(ax, middles, counts, titles, width=width, alpha=f.AREA_ALPHA)
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="mean error (target minus load), points", ylabel="nodes")
    return fig


def _explain_map(fleet: Fleet) -> str:
    words = "Empty fields have no samples"
    if len(fleet.nodes) > len(fleet.map):
        words += f"; a row is the mean of {len(fleet.nodes) / len(fleet.map):.3g} nodes"
    failed = "; crosses mark the ends of failed nodes" if fleet.nodes["failed"].any() else ""
    return f"{words}{failed}."


@f.drawing
def plot_map(fleet: Fleet, distance: bool = False) -> Any:
    """Draw all nodes over time: their load, or its distance from the target."""
    rows, step = len(fleet.map), -(-fleet.used // COLUMNS_MAX)
    columns = -(-fleet.used // step)
    sums = fleet.map[:, : columns * step].reshape(rows, columns, step, 3).sum(axis=2)
    cpu, load, target = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = 100 * (np.abs(load - target) if distance else load) / cpu
    fig, ax = f.new(height=max(4.2, 1.2 + 0.05 * rows))
    unit = f.time_axis(ax, fleet.used * fleet.width)
    x = np.arange(columns + 1) * step * fleet.width / unit
    y = np.linspace(0, len(fleet.nodes), rows + 1)
    label = "distance from the target, points" if distance else "load, %"
    f.fields(ax, x, y, values, label, most=0 if distance else 100)
    failed = fleet.nodes[fleet.nodes["failed"]]
    titles = (failed["node"] + ": " + failed["reason"]).tolist()
    f.points(ax, failed["ended"] / unit, failed.index + 0.5, titles, marker="x", color=f.ORANGE)
    ax.set(ylabel="node, in the order of fleet.csv", ylim=(len(fleet.nodes), 0))
    return fig
