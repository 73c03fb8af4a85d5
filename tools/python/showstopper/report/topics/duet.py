# SPDX-License-Identifier: Apache-2.0
"""Duet: which of two commands is faster, in a study of the experiment duet?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from .. import decision
from .. import figures as f
from ...duet import Percent, read
from ...stats import percent_of
from ...study import Study
from ..findings import Worth
from ..tables import Table

ORDERS = {
    "turn": ("A B B A", "B A A B"),
    "alternate": ("A B A B A B", "B A B A B A"),
    "beside": ("A|B, B|A", "B|A, A|B"),
}
ENDS = ("percent", "low", "high")


def df_duet(study: Study) -> pd.DataFrame:
    """Return one row: by how many percent B is worse than A, and the decision."""
    duet, worth = study.once(read), Worth.of(study)
    if duet is None:
        return pd.DataFrame()
    plan, worse = duet.plan, duet.worse if duet.is_known else Percent(duet.worse.mean)
    row = {
        "metric": plan.response or ("time" if plan.by_time else "throughput"),
        "run_order": plan.kind,
        **{name: getattr(plan, name) for name in ("a", "b", "beside")},
        "blocks": duet.look.count,
        "planned_blocks": duet.planned or math.nan,
        **{f"worse_{name}": value for name, value in zip(ENDS, worse)},
        **{f"same_{name}": value for name, value in zip(ENDS, duet.worse_same)},
        **{name: plan.number(name) for name in ("until_percent", "fail_above_percent")},
        "decision": duet.decision,
        "background_percent": duet.more_beside.mean,
        "question": question(study),
        "answer": decision.describe_answer(duet, worth),
        "doubt": decision.describe_doubt(duet, worth),
    }
    return pd.DataFrame([row])


def df_blocks(study: Study) -> pd.DataFrame:
    """Return a row for each block, up to the deciding one, with the estimate after it."""
    duet = study.once(read)
    if duet is None:
        return pd.DataFrame()
    same, different = (
        pd.DataFrame(
            {
                "pair": blocks.name,
                "block": blocks.numbers,
                "order": [ORDERS[duet.plan.kind][order] for order in blocks.orders],
                "percent": percent_of(blocks.differences),
            }
        )
        for blocks in (duet.same, duet.different)
    )
    different = different.head(duet.look.count)
    looks = [look for look in duet.looks if look.count]
    if looks and not duet.plan.of_two_processes:
        half = pd.Series([look.half for look in looks], dtype=float).where(np.isfinite)
        mean = pd.Series([look.mean for look in looks], dtype=float).where(half.notna())
        means = {"mean_percent": mean, "mean_low": mean - half, "mean_high": mean + half}
        different = different.assign(**{name: percent_of(of) for name, of in means.items()})
    return pd.concat([same, different], ignore_index=True)


TABLES = {
    "duet": Table(
        "Which of two is faster",
        "metric run_order a b beside blocks planned_blocks worse_percent worse_low worse_high "
        "same_percent same_low same_high until_percent fail_above_percent decision "
        "background_percent question answer doubt",
        df_duet,
        about="For a study of the experiment `duet`: by how many percent B is worse than A, the "
        "same of A against A, and the decision.",
    ),
    "duet-blocks": Table(
        "Blocks, each of which compares both commands",
        "pair block order percent mean_percent mean_low mean_high",
        df_blocks,
        about="A row for each block up to the one that decides: by how many percent B exceeds A, "
        "and the mean and its interval after this block.",
    ),
}


def notes(study: Study) -> None:
    duet = study.once(read)
    study.notes += duet.notes if duet else []


def question(study: Study) -> str:
    duet = study.once(read)
    return decision.ask(duet.plan) if duet else ""


def answer(study: Study) -> str:
    row = study.once(df_duet).iloc[0]
    return f"{row['answer']}." + (f" Doubtful: {row['doubt']}." if row["doubt"] else "")


@f.drawing
def plot_blocks(blocks: pd.DataFrame) -> Any:
    """Draw the difference in each block, and the mean with its interval so far."""
    block, percent = blocks["block"], blocks["percent"]
    fig, ax = f.new()
    ax.axhline(0, color=f.AXIS, linewidth=1)
    if "mean_percent" in blocks:
        f.band(ax, block, blocks["mean_low"], blocks["mean_high"], label="interval")
        ax.plot(block, blocks["mean_percent"], color=f.BLUE, label="mean so far")
    titles = [f"block {at}: {value:.2f} %" for at, value in zip(block, percent)]
    f.points(ax, block, percent, titles, color=f.GRAY, label="one block")
    ax.set(xlabel="block of A and B", ylabel="B against A, %", xlim=(0, block.max() + 1))
    f.legend(ax)
    return fig


HOW = (
    "In 95 % of studies the interval contains the true difference after every block. A difference "
    "may come from where the linker placed the code of the two programs, which repetitions cannot "
    "show: the environment of each launch is padded by a random number of bytes, but code stays "
    "where it is."
)


def figures(study: Study) -> Iterator[f.Picture]:
    blocks = study.once(df_blocks)
    blocks = blocks[blocks["pair"] == "A and B"] if len(blocks) else blocks
    if len(blocks) > 1:
        yield f.Picture("Each block compares B with A", plot_blocks(blocks), how=HOW)
