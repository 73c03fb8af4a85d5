# SPDX-License-Identifier: Apache-2.0
"""Files are written whole, and none over one that a report reads."""

import os
import re
from pathlib import Path

import pytest
from showstopper import cli, outputs
from showstopper.outputs import check_outputs, write_whole
from showstopper.text import UserError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def listed(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_whole_file_keeps_the_mode_of_the_old_one(folder: Path) -> None:
    Path("file").write_text("old")
    os.chmod("file", 0o640)
    write_whole("file", "new \udcff\n")
    assert Path("file").read_bytes() == b"new \xff\n"
    assert os.stat("file").st_mode & 0o777 == 0o640
    assert listed(folder) == ["file"]


def test_link_is_followed_to_a_file_that_need_not_exist(folder: Path) -> None:
    Path("sub").mkdir()
    Path("link").symlink_to("sub/other")
    Path("sub/other").symlink_to("target")
    write_whole("link", "x")
    assert Path("sub/target").read_text() == "x"
    assert Path("link").is_symlink() and listed(folder / "sub") == ["other", "target"]


def test_links_in_a_circle_are_refused() -> None:
    Path("a").symlink_to("b")
    Path("b").symlink_to("a")
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        write_whole("a", "x")


def test_device_and_pipe_are_written_directly() -> None:
    write_whole("/dev/null", "x")
    os.mkfifo("pipe")
    with pytest.raises(OSError, match="No such device or address"):  # instead of waiting
        write_whole("pipe", "x")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole("pipe", "text")
    assert os.read(reader, 9) == b"text"
    os.close(reader)


def test_failure_leaves_the_old_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    Path("file").write_text("old")
    Path(f".file.{os.getpid()}").write_text("of a killed program")
    monkeypatch.setattr(outputs.os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_whole("file", "new")
    assert Path("file").read_text() == "old"
    assert listed(folder) == [f".file.{os.getpid()}", "file"]


def test_outputs_to_the_same_file_are_refused() -> None:
    Path("a").write_text("")
    os.link("a", "b")
    Path("link").symlink_to("new")
    for one, other in (("a", "b"), ("new", "./new"), ("new", "link")):
        with pytest.raises(UserError, match=re.escape(f"--x and --y would both write to {other}:")):
            check_outputs([("--x", one), ("--z", ""), ("--y", other)])
    check_outputs([("--x", "a"), ("--y", "new"), ("--z", "/dev/null"), ("--w", "/dev/null")])


# The program

SAMPLES = "time,elapsed_seconds,target,load,duty,counted\n" + "".join(
    f"2026-01-01T00:00:{at:02}Z,{at + 1},0.5,0.4,0.4,1\n" for at in range(30)
)
PLAN = '{"schema": 2, "instances": [{}], "cpus": [0], "target": {"mean": 0.5}}'


@pytest.fixture
def record(folder: Path) -> Path:
    record = folder / "record"
    record.mkdir()
    (record / "samples.csv").write_text(SAMPLES)
    (record / "plan.json").write_text(PLAN)
    return record


def report(*words: str) -> int:
    return cli.main(["ssreport", "--quiet", *words])


def error(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.splitlines()[-1].removeprefix("ssreport: ")


def test_report_removes_tables_that_have_no_rows(record: Path) -> None:
    Path("out").mkdir()
    for name in ("fits.csv", "mine.csv"):
        Path("out", name).write_text("old")
    assert report("-o", "out", "record") == 0
    files = listed(Path("out"))
    assert {"mine.csv", "report.html", "runs.csv", "verdicts.csv"} <= set(files)
    assert "fits.csv" not in files and not any(name.startswith(".") for name in files)


@pytest.mark.parametrize(
    ("file", "text", "is_refused"),
    [
        ("plan.json", "", True),
        ("run.json", "", True),
        ("requests.csv", "begin,record", True),
        ("fleet.csv", "node,", True),
        ("requests.csv", "record,begin\n", False),
        ("fleet.csv", "fleet,nodes\n", False),
    ],
)
def test_report_does_not_damage_a_record(
    record: Path, capsys: pytest.CaptureFixture[str], file: str, text: str, is_refused: bool
) -> None:
    Path("out").mkdir()
    Path("out", file).write_text(text)
    assert report("-o", "out", "record") == (125 if is_refused else 0)
    if is_refused:
        message = f"--output: out holds {file} of a record: choose another folder"
        assert error(capsys) == message and Path("out", file).read_text() == text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--profile record/samples.csv", "--profile would overwrite record/samples.csv, which this "
         "report reads: choose another file"),
        ("--perfetto link", "--perfetto would overwrite link, which this report reads: choose "
         "another file"),
        ("--perfetto record/../record/platform.json", "--perfetto would overwrite "
         "record/../record/platform.json, which this report reads: choose another file"),
        ("--policy published/a.csv --published published", "--policy would overwrite "
         "published/a.csv, which this report reads: choose another file"),
        ("--perfetto a --profile ./a", "--profile and --perfetto would both write to a: choose "
         "another file"),
        ("-o out --perfetto out/runs.csv", "--output and --perfetto would both write to "
         "out/runs.csv: choose another file"),
        ("-o record/plan.json/x", "record/plan.json/x: Not a directory"),
        ("--perfetto nothing/x", "nothing/x: No such file or directory"),
        ("--profile x", "record has no counters.csv, from which a profile is made: record with "
         "--counters"),
    ],
)
def test_files_that_are_read_are_not_overwritten(
    record: Path, capsys: pytest.CaptureFixture[str], words: str, message: str
) -> None:
    Path("link").symlink_to("record/plan.json")
    Path("published").mkdir()
    for name in ("record/platform.json", "published/a.csv"):
        Path(name).write_text("{}")
    assert report(*words.split(), "record") == 125
    assert error(capsys) == message
    assert (record / "samples.csv").read_text() == SAMPLES


def test_two_sets_are_named_after_their_folders(
    record: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from showstopper import ssreport
    from showstopper.options import parse

    def names(*words: str) -> tuple[str, str]:
        return ssreport._name_sets(parse(ssreport.ROWS, words))

    assert names("a") == ("", "")
    assert names("x/a", "--against", "y/b/") == ("a", "b")
    assert names("x/a", "x/b", "--against", "y//a", "y/b") == ("x", "y")
    assert names("x/a", "y/b", "--against", "b") == ("", "b")
    assert names("a", "--against", "x/a") == ("", "")
    assert names("a", "--against", "b", "--names", "old/new") == ("old", "new")
