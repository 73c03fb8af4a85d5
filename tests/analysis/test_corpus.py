# SPDX-License-Identifier: Apache-2.0
"""The package prints what the corpus expects."""

from __future__ import annotations

import os

import agree
import pytest

PART, PARTS = map(int, os.environ.get("CORPUS_PART", "1/1").split("/"))  # of all cases


@pytest.mark.parametrize(
    ("before", "now", "is_table"),
    [
        ("7.5,0,1.23456789012", "7.50000000001,-1e-15,1.23456789013", True),
        ("p 4e-22, \u22120.0 of 0.45\u20130.50 s", "p 3e-31, 0.0 of 0.46\u20130.51 s", False),
    ],
)
def test_rounding_errors_are_the_same(before: str, now: str, is_table: bool) -> None:
    assert not list(agree.line_differences(before, now, is_table))


@pytest.mark.parametrize(
    ("before", "now", "is_table"),
    [
        ("7.5,100", "7.5000075,100", True),  # a millionth
        ("7.5,100", "7.6,100", True),
        ("0.000001234", "0.000001235", True),
        ("0.5,,2", "0.5,0,2", True),
        ("0.5,nan", "0.5,0.1", True),
        ("12 of 14 points, 0.45 s", "13 of 14 points, 0.45 s", False),
        ("0.45 s", "0.47 s", False),
        ("0.45 s", "-0.45 s", False),
        ("0.45 s, valid", "0.45 s, invalid", False),
        ("a 1\na 2", "a 1\na 2\na 2", False),
    ],
)
def test_changes_are_found(before: str, now: str, is_table: bool) -> None:
    assert list(agree.line_differences(before, now, is_table))


@pytest.mark.parametrize("case", agree.cases()[PART - 1 :: PARTS], ids=str)
def test_case(case: agree.Case) -> None:
    found = [line for name in case.commands for line in agree.differences(case, name)]
    assert not found, "\n".join(found[:20])
