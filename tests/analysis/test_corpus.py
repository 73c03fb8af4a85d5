# SPDX-License-Identifier: Apache-2.0
"""The package prints what the corpus expects."""

from __future__ import annotations

import importlib.util

import agree
import pytest

HAS_CLI = importlib.util.find_spec("showstopper") and importlib.util.find_spec("showstopper.cli")


@pytest.mark.skipif(not HAS_CLI, reason="left-out: the package has no command yet")
@pytest.mark.parametrize("case", agree.cases(), ids=str)
def test_case(case: agree.Case) -> None:
    found = [
        line
        for name in case.commands
        for line in agree.differences(case, name, agree.results(agree.in_process, case, name))
    ]
    assert not found, "\n".join(found[:20])
