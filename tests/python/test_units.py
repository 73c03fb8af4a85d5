# SPDX-License-Identifier: Apache-2.0
"""Quantities such as 20s and 60% are read as C reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from showstopper import units
from showstopper.text import UserError

READERS = {
    "time": lambda text: units.time(text)[0],
    "load": units.load,
    "count": units.count,
    "number": units.number,
    "percent": units.percent,
}
VECTORS = (Path(__file__).parents[1] / "data/units.tsv").read_text().splitlines()[1:]


@pytest.mark.parametrize(("kind", "text", "expected"), [line.split("\t") for line in VECTORS])
def test_quantity_agrees_with_c(kind: str, text: str, expected: str) -> None:
    try:
        value = repr(READERS[kind](text))
    except UserError as error:
        value = f"error: {error}"
    assert value == expected
