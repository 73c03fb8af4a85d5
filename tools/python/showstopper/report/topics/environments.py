# SPDX-License-Identifier: Apache-2.0
"""Environments: loads measured from inside and by the host, and the clock of a guest."""

from __future__ import annotations

import pandas as pd

from ...study import Study
from ..tables import Table


def df_environments(study: Study) -> pd.DataFrame:
    """Return a row for each run during which the host measured something."""
    runs = study.runs[study.runs["host_samples"].notna()]
    steal = [record.figure("steal_mean") for record in study.records]
    steals = pd.Series(steal, dtype=float).reindex(runs.index)
    return runs.assign(load_mean=runs["load"], steal_mean=steals)


TABLES = {
    "environments": Table(
        "Environments: measured from inside and by the host",
        "record environment measured_in load_mean host_load_mean load_difference "
        "clock_difference_start_seconds clock_difference_end_seconds vcpus vcpu_host_cpu_seconds "
        "vcpu_load steal_mean",
        df_environments,
        about="A row for each run of a guest: its load as it and its host measured it.",
    ),
}
