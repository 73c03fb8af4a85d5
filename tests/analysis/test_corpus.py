# SPDX-License-Identifier: Apache-2.0
"""The package prints what the corpus expects."""

from __future__ import annotations

import os

import agree
import pytest

PART, PARTS = map(int, os.environ.get("CORPUS_PART", "1/1").split("/"))  # of all cases


@pytest.mark.parametrize("case", agree.cases()[PART - 1 :: PARTS], ids=str)
def test_case(case: agree.Case) -> None:
    found = [line for name in case.commands for line in agree.differences(case, name)]
    assert not found, "\n".join(found[:20])
