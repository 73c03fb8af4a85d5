# SPDX-License-Identifier: Apache-2.0
"""Records that once broke readers: each is reported, or refused in one line without a traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markupsafe import Markup
from showstopper import cli
from showstopper.report import figures

CORPORA = Path(__file__).parents[1] / "fuzz/corpus"


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "svg", lambda _: Markup("<svg ></svg>"))  # takes longest


def inputs(name: str) -> pytest.MarkDecorator:
    files = sorted((CORPORA / name).iterdir())
    texts = [file.read_bytes() for file in files]
    return pytest.mark.parametrize("text", texts, ids=[file.name for file in files])


def check(capsys: pytest.CaptureFixture[str], *words: str | Path) -> None:
    """Fail unless ssreport ends as its manual page says, and all messages have its name."""
    assert cli.main(["ssreport", *map(str, words)]) in (0, 1, 3, 125)
    messages = capsys.readouterr().err.splitlines()
    assert all(line.startswith("ssreport: ") for line in messages), messages


@inputs("record")
def test_record(text: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The input has all files of a record, each after a line with its name."""
    parts = re.split(rb"^==> (.+)\n", text, flags=re.MULTILINE)[1:]
    record = tmp_path / "record"
    record.mkdir()
    for name, content in zip(parts[::2], parts[1::2], strict=True):
        if name.isascii() and b"/" not in name:
            (record / name.decode()).write_bytes(content)
    check(capsys, "--check", record)
    check(capsys, "-q", "-o", tmp_path / "report", "--perfetto", tmp_path / "timeline", record)


@inputs("requests")
def test_requests(text: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The input is both tables of a record of ssrequest."""
    for name in ("requests.csv", "response-times.csv"):
        (tmp_path / name).write_bytes(text)
    check(capsys, "--check", tmp_path)
    check(capsys, tmp_path)
