# SPDX-License-Identifier: Apache-2.0
"""The package prints what the corpus expects."""

from __future__ import annotations

import importlib.util
import os

import agree
import pytest
from showstopper import topics

MODULES = [f"showstopper.topics.{name}" for name in topics.ORDER]
IS_COMPLETE = all(map(importlib.util.find_spec, MODULES))
PART, PARTS = map(int, os.environ.get("CORPUS_PART", "1/1").split("/"))  # of all cases


@pytest.mark.skipif(not IS_COMPLETE, reason="left-out: topics of the package")
@pytest.mark.parametrize("case", agree.cases()[PART - 1 :: PARTS], ids=str)
def test_case(case: agree.Case) -> None:
    found = [
        line
        for name in case.commands
        for line in agree.differences(case, name, agree.results(agree.in_process, case, name))
    ]
    assert not found, "\n".join(found[:20])
