# SPDX-License-Identifier: Apache-2.0
"""Files of a record cannot make a reader wait, fill its memory or open a device."""

from __future__ import annotations

import gzip
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Record as Maker
from showstopper import Study, cli, contents, inputs
from showstopper.text import UserError

FILES = (
    "plan.json summary.json samples.csv events.jsonl iterations.csv interrupted run.json "
    "manifest.csv fleet.csv requests.json requests.csv energy.csv idle.csv cpus.csv counters.csv "
    "decisions.csv iteration-times.csv beside.csv host-load.csv guest-clock.csv"
).split()


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """End a test that waits for a pipe."""

    def expire(*_: object) -> None:
        pytest.fail("the test waits")

    before = signal.signal(signal.SIGALRM, expire)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", FILES)
def test_pipe_in_a_record_is_not_read(name: str, make_record: Maker) -> None:
    record = make_record()
    (record / name).unlink(missing_ok=True)
    os.mkfifo(record / name)
    inputs.judge([str(record)], [])
    study = Study(record)
    assert len(study.runs) <= 1


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (os.mkfifo, "not a regular file"),
        (os.mkdir, "Is a directory"),
        (lambda path: os.symlink("/dev/zero", path), "not a regular file"),
    ],
)
def test_only_regular_files_are_opened(make: object, why: str, tmp_path: Path) -> None:
    make(tmp_path / "other")  # type: ignore[operator]
    with pytest.raises(OSError, match=why):
        contents.open_regular(str(tmp_path / "other"))


def test_large_table_is_refused_without_reading(
    make_record: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = make_record()
    os.truncate(record / "samples.csv", contents.SIZE_MAX + 1)
    monkeypatch.setattr(contents, "read_stream", lambda *_: pytest.fail("is read"))
    with pytest.raises(UserError, match="samples.csv: larger than 1024 MiB"):
        contents.read_bytes(str(record), "samples.csv")


def test_unpacked_files_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "SIZE_MAX", 1 << 20)
    assert contents.unpack(gzip.compress(bytes(1 << 20)), "x") == bytes(1 << 20)
    with pytest.raises(UserError, match="cannot unpack x: it becomes larger than 1 MiB"):
        contents.unpack(gzip.compress(bytes(1 << 28)), "x")


def test_pipe_that_replaces_a_file_is_not_opened(
    make_record: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(make_record() / "plan.json")
    text, judging = contents.read_file(path), os.fstat

    def replacing(file: int) -> os.stat_result:
        if not os.path.exists(f"{path}.kept"):
            os.rename(path, f"{path}.kept")
            os.mkfifo(path)
        return judging(file)

    monkeypatch.setattr(contents.os, "fstat", replacing)
    assert contents.read_file(path) == text


def test_proc_is_not_required(make_record: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    path, opening, reading = str(make_record() / "plan.json"), os.open, os.readlink
    text = contents.read_file(path)

    def missing(name: str, flags: int, **more: int) -> int:
        return opening(name.replace("/proc", "/none"), flags, **more)

    monkeypatch.setattr(contents.os, "open", missing)
    monkeypatch.setattr(
        contents.os, "readlink", lambda path: reading(path.replace("/proc", "/none"))
    )
    assert contents.read_file(path) == text


def test_named_file_may_be_a_pipe(
    make_record: Maker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in `ssprofile predict <(ssh host cat ratios.csv)`."""
    table = "target,benchmark,class,ratio\na,x,c,1.1\na,y,c,1.2\na,z,c,1.3\n"
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "trace").write_text("10s 50%\n")
    for words, text in (("ssprofile predict", table), ("ssreport -q --predict", "10s 50%\n")):
        args = [tmp_path / "pipe", text]
        writer = threading.Thread(target=Path.write_text, args=args, daemon=True)
        writer.start()
        more = [str(make_record())] if "ssreport" in words else []
        assert cli.main([*words.split(), str(tmp_path / "pipe"), *more]) == 0
        writer.join()
    assert "1.1000" in capsys.readouterr().out


# Documents


def test_half_a_character_is_invalid_json() -> None:
    assert contents.parse_json('["\\ud83d\\ude00", "\\\\ud83d"]') == ["\U0001f600", "\\ud83d"]
    with pytest.raises(ValueError, match="line 1: .*surrogates not allowed"):
        contents.parse_json('{"text": "\\ud83d"}')
