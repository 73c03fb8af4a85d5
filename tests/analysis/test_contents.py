# SPDX-License-Identifier: Apache-2.0
"""Files of a record cannot make a reader wait, fill its memory or open a device."""

import gzip
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from showstopper import cli, contents, text
from showstopper.contents import open_regular, read_file

RECORD = {
    "plan.json": '{"schema": 2, "instances": [{}], "cpus": [0], "target": {"mean": 0.5}}',
    "summary.json": '{"schema": 2, "ended_by": "duration"}',
    "platform.json": "{}",
    "samples.csv": "time,elapsed_seconds,target,load,duty,counted\n"
    "2026-01-01T00:00:00Z,1,0.5,0.4,0.4,1\n2026-01-01T00:00:01Z,2,0.5,0.4,0.4,1\n",
    "events.jsonl": "",
    "iterations.csv": "time,instance\n",
    "interrupted": "",
}


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


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "record"
    folder.mkdir()
    for name, content in RECORD.items():
        (folder / name).write_text(content)
    return folder


@pytest.mark.parametrize(
    "name", [*RECORD, "run.json", "manifest.csv", "fleet.csv", "requests.json"]
)
def test_pipe_in_a_record_is_not_read(name: str, record: Path) -> None:
    (record / name).unlink(missing_ok=True)
    os.mkfifo(record / name)
    for words in (["--check"], ["--quiet", "-o", "out"]):
        assert cli.main(["ssreport", *words, "record"]) in (0, 1, 3, 125)


@pytest.mark.parametrize("name", ["results.csv", "version.txt"])
def test_pipe_in_a_profile_is_not_read(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    if name != "results.csv":
        (tmp_path / "results.csv").write_text("x\n")
    assert cli.main(["ssprofile", "compare", str(tmp_path), str(tmp_path)]) == 125


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (os.mkfifo, "not a regular file"),
        (os.mkdir, "Is a directory"),
        (lambda path: os.symlink("/dev/zero", path), "not a regular file"),
    ],
)
def test_only_regular_files_are_opened(
    make: object, why: str, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("record/other")  # type: ignore[operator]
    opening = os.open
    opened = []

    def noting(path: str, flags: int, *words: object) -> int:
        opened.append(flags & os.O_PATH)
        return opening(path, flags)

    monkeypatch.setattr(contents.os, "open", noting)
    with pytest.raises(OSError, match=why):
        open_regular("record/other")
    assert all(opened)  # to open a device may change it


def test_pipe_that_replaces_a_file_is_not_opened(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judging = os.fstat

    def replacing(file: int) -> os.stat_result:
        if not os.path.exists("record/kept"):
            os.rename("record/plan.json", "record/kept")
            os.mkfifo("record/plan.json")
        return judging(file)

    monkeypatch.setattr(contents.os, "fstat", replacing)
    assert read_file("record/plan.json").decode() == RECORD["plan.json"]


def test_proc_is_not_required(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opening = os.open

    def missing(path: str, flags: int) -> int:
        return opening(path.replace("/proc", "/none"), flags)

    monkeypatch.setattr(contents.os, "open", missing)
    assert read_file("record/samples.csv") == RECORD["samples.csv"].encode()


def test_large_files_are_refused(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("events.jsonl", "platform.json", "samples.csv"):
        os.truncate(record / name, contents.SIZE_MAX + 1)
    assert cli.main(["ssreport", "record"]) == 125
    assert "samples.csv: larger than 1024 MiB" in capsys.readouterr().err
    with pytest.raises(text.UserError, match="record/platform.json: larger than 16 MiB"):
        text.read_json("record", "platform.json")
    with pytest.raises(OSError, match="larger than 1 MiB"), open("/dev/zero", "rb") as stream:
        contents.read_stream(stream, 1 << 20)


def test_size_is_known_without_reading(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.truncate("record/events.jsonl", contents.SIZE_MAX + 1)
    monkeypatch.setattr(contents, "read_stream", lambda *_: pytest.fail("is read"))
    with pytest.raises(OSError, match="larger than 1024 MiB"):
        read_file("record/events.jsonl")


def test_unpacked_files_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "SIZE_MAX", 1 << 20)
    assert text.unpack(gzip.compress(bytes(1 << 20)), "x") == bytes(1 << 20)
    with pytest.raises(text.UserError, match="compressed, and unpacked it is larger than 1 MiB"):
        text.unpack(gzip.compress(bytes(1 << 28)), "x")


TABLE = "target,benchmark,class,ratio\na,x,c,1.1\na,y,c,1.2\na,z,c,1.3\n"


@pytest.mark.parametrize(
    ("words", "content"),
    [
        ("ssreport --quiet --predict {} record", "10s 50%\n"),
        ("ssprofile predict {}", TABLE),
        ("ssprofile compare --halves {}",
         "machine,limits,benchmark,class,lower_is_better,repetition,result\n"
         + "".join(f"a,without,{n},c,false,{r},{r}\n" for n in "xyz" for r in (1, 2, 3, 4))),
    ],
)
def test_named_file_may_be_a_pipe(
    words: str, content: str, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in `ssprofile predict <(ssh host cat ratios.csv)`."""
    Path("file").write_text(content)
    os.mkfifo("pipe")
    printed = []
    for name in ("file", "pipe"):
        writer = threading.Thread(target=Path("pipe").write_text, args=[content], daemon=True)
        if name == "pipe":
            writer.start()
        status = cli.main(words.format(name).split())
        printed.append((status, capsys.readouterr().out))
        if name == "pipe":
            writer.join()
    assert printed[0] == printed[1] and printed[0][0] == 0
