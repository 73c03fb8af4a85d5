# SPDX-License-Identifier: Apache-2.0
"""Environments: loads measured from inside and by the host, and the clock of a guest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from ..page import Part, Section
from ..runs import Run
from ..studies import Report
from ..tables import Sheet, Table


def around(run: Run) -> dict[str, Any]:
    """Return what the host measured during a run: columns of the table of runs."""
    found, record = run.surroundings, run.record
    host, samples = found.host_load(record, record.counted_from, record.counted_to)
    if not (len(found.host) or found.vcpus or any(ahead == ahead for ahead in found.clock)):
        return {}
    return found.vcpus | {
        "host_load_mean": host,
        "load_difference": run.errors.load_mean - host,
        "host_samples": samples,
        "clock_difference_start_seconds": found.clock[0],
        "clock_difference_end_seconds": found.clock[1],
    }


def df_environments(report: Report) -> pd.DataFrame:
    runs = report.table("runs").frame
    return runs[runs["host_samples"].notna()] if "host_samples" in runs else runs[:0]


ENVIRONMENTS = Table(
    "environments",
    "Environments: measured from inside and by the host",
    "record environment measured_in load_mean host_load_mean load_difference "
    "clock_difference_start_seconds clock_difference_end_seconds vcpus vcpu_host_cpu_seconds "
    "vcpu_load steal_mean",
    df_environments,
)


def sections(report: Report) -> Iterator[Part]:
    """Show the table; as a file its columns are part of the table of runs."""
    sheet = Sheet(ENVIRONMENTS, df_environments(report), report.prefix)
    if len(sheet):
        yield Section("Environments", [sheet])
