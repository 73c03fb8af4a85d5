# SPDX-License-Identifier: Apache-2.0
"""Traces of load, as text and compiled."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from showstopper import trace
from showstopper.text import UserError

# 0 20%, 10s 20%, 10s 60%, 20s 60%
COMPILED = bytes.fromhex(
    "93535354524143450403020101000000040000000000000000c817a804000000"
    "00000000000000009a9999999999c93f00e40b54020000009a9999999999c93f"
    "00e40b5402000000333333333333e33f00c817a804000000333333333333e33f"
    "ad1890710b197f62"
)


def read(folder: Path, data: bytes) -> pd.DataFrame:
    (folder / "t").write_bytes(data)
    return trace.read(str(folder / "t"))


def fault(folder: Path, data: bytes) -> str:
    with pytest.raises(UserError) as error:
        read(folder, data)
    return str(error.value)


def test_text_is_read(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf# trace\n0 20%\r\n+1m 1/4 # x\n\n 2s\tfree \n+1s 0.0000000001\n4s 1"
    rows = read(tmp_path, text)
    assert rows["time"].tolist() == [0, 0.001, 2, 3, 4]
    assert rows["load"].tolist() == pytest.approx([0.2, 0.25, math.nan, 0, 1], nan_ok=True)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"# x\n", "2:1: the trace has no record"),
        (b"0 1\n 5s", "2:4: missing load"),
        (b"5s 1\n1s 1", "2:1: '1s' is before the previous record"),
        (b"0 40", "1:3: '40' is not a load: it must be between 0 and 1; use 40% for percent"),
        (b"0 lots", "1:3: 'lots' is not a load"),
        (b"0 1 x", "1:5: unexpected 'x'"),
        (b"0 1\0", "1:4: the line contains a null byte"),
        (b"\xff\xfe0", "1:1: this is UTF-16"),
        (b"0 " + b"1" * 5000, "1:4097: the line has more than 4096 characters"),
        (b"0 1\n+213503d 1\n+1d 1", "3:1: the time '+1d' is too late"),
    ],
)
def test_invalid_text_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    assert fault(tmp_path, data).startswith(f"{tmp_path}/t:{message}")


def test_compiled_trace_is_read(tmp_path: Path) -> None:
    rows = read(tmp_path, COMPILED)
    assert rows["time"].tolist() == [0, 10, 10, 20]
    assert rows["load"].tolist() == [0.2, 0.2, 0.6, 0.6]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (COMPILED[:10], "truncated header"),
        (COMPILED[:-9], "truncated"),
        (COMPILED[:-8] + bytes(8), "checksum mismatch"),
        (COMPILED[:47] + b"\xbf" + COMPILED[48:], "checksum mismatch"),  # the sign of a load
        (COMPILED + b"x", "trailing data after the end"),
        (COMPILED[:12] + b"\2" + COMPILED[13:], "is a compiled trace of version 2"),
        (COMPILED[:8] + COMPILED[8:12][::-1] + COMPILED[12:], "the other byte order"),
        (b"\x93" * 104, "is not a compiled trace"),
    ],
)
def test_damaged_compiled_trace_is_refused(tmp_path: Path, data: bytes, why: str) -> None:
    assert why in fault(tmp_path, data)


@pytest.mark.parametrize(("path", "why"), [("none", "cannot open"), (".", "cannot read")])
def test_path_that_is_not_a_file_is_refused(tmp_path: Path, path: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        trace.read(str(tmp_path / path))
