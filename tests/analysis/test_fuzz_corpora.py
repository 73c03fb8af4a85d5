# SPDX-License-Identifier: Apache-2.0
"""Records that once broke readers: each is reported, or refused in one line, without a traceback."""

from __future__ import annotations

import re
from pathlib import Path

import agree
import pytest

# matplotlib warns about numbers near the largest; a process of its own shows no warnings of libraries.
pytestmark = pytest.mark.filterwarnings(r"ignore::RuntimeWarning:matplotlib\.")

CORPORA = Path(__file__).parents[1] / "fuzz/corpus"


def inputs(name: str) -> pytest.MarkDecorator:
    files = sorted((CORPORA / name).iterdir())
    return pytest.mark.parametrize("text", [file.read_bytes() for file in files], ids=[file.name for file in files])


def check(*words: str | Path) -> None:
    """Fail unless ssreport ends as its manual page says, and all messages have its name."""
    status, _, messages = agree.in_process([str(word) for word in words])
    assert status in (0, 1, 3, 125)
    assert all(line.startswith(b"ssreport: ") for line in messages.splitlines()), messages


@inputs("record")
def test_record(text: bytes, tmp_path: Path) -> None:
    """The input has all files of a record, each after a line with its name."""
    parts = re.split(rb"^==> (.+)\n", text, flags=re.MULTILINE)[1:]
    record = tmp_path / "record"
    record.mkdir()
    for name, content in zip(parts[::2], parts[1::2], strict=True):
        if name.isascii() and b"/" not in name:
            (record / name.decode()).write_bytes(content)
    check("--check", record)
    check("--quiet", "-o", tmp_path / "report", "--perfetto", tmp_path / "timeline", record)


@inputs("requests")
def test_requests(text: bytes, tmp_path: Path) -> None:
    """The input is both tables of a record of ssrequest."""
    for name in ("requests.csv", "response-times.csv"):
        (tmp_path / name).write_bytes(text)
    check("--check", tmp_path)
    check(tmp_path)
