# SPDX-License-Identifier: Apache-2.0
"""Files are written whole, and none over one that a report reads."""

import ast
import io
import itertools
import os
import re
from pathlib import Path

import pytest
from conftest import Record as Maker
from conftest import samples
from showstopper import cli, outputs
from showstopper.outputs import OutputError, check_outputs, write_file


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def listed(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_whole_file_keeps_the_mode_of_the_old_one(folder: Path) -> None:
    Path("file").write_text("old")
    os.chmod("file", 0o640)
    write_file("file", "new \udcff\n")
    assert Path("file").read_bytes() == b"new \xff\n"
    assert os.stat("file").st_mode & 0o777 == 0o640
    assert listed(folder) == ["file"]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o002, 0o664)])
def test_mode_of_the_old_file_gives_no_permission_to_write(mask: int, mode: int) -> None:
    """Another user may have moved here a file to which all may write."""
    Path("file").write_text("old")
    os.chmod("file", 0o666)
    before = os.umask(mask)
    try:
        write_file("file", "new")
    finally:
        os.umask(before)
    assert os.stat("file").st_mode & 0o777 == mode


def test_link_is_followed_to_a_file_that_need_not_exist(folder: Path) -> None:
    Path("sub").mkdir()
    Path("link").symlink_to("sub/other")
    Path("sub/other").symlink_to("target")
    write_file("link", "x")
    assert Path("sub/target").read_text() == "x"
    assert Path("link").is_symlink() and listed(folder / "sub") == ["other", "target"]


def test_links_in_a_circle_are_refused() -> None:
    Path("a").symlink_to("b")
    Path("b").symlink_to("a")
    with pytest.raises(OutputError, match="Too many levels of symbolic links"):
        write_file("a", "x")


def test_device_and_pipe_are_written_directly() -> None:
    write_file("/dev/null", "x")
    os.mkfifo("pipe")
    with pytest.raises(OutputError, match="No such device or address"):  # instead of waiting
        write_file("pipe", "x")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_file("pipe", "text")
    assert os.read(reader, 9) == b"text"
    os.close(reader)


def test_failure_leaves_the_old_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    Path("file").write_text("old")
    monkeypatch.setattr(outputs.os, "fsync", fail)
    with pytest.raises(OutputError, match="No space"):
        write_file("file", "new")
    assert Path("file").read_text() == "old"
    assert listed(folder) == ["file"]


def test_outputs_to_the_same_file_are_refused() -> None:
    Path("a").write_text("")
    os.link("a", "b")
    Path("link").symlink_to("new")
    for one, other in (("a", "b"), ("new", "./new"), ("new", "link")):
        why = re.escape(f"--x and --y would both write to {other}:")
        with pytest.raises(OutputError, match=why):
            check_outputs([("--x", one), ("--z", ""), ("--y", other)])
    check_outputs([("--x", "a"), ("--y", "new"), ("--z", "/dev/null"), ("--w", "/dev/null")])


# The program


@pytest.fixture
def record(make_record: Maker) -> Path:
    return make_record()


def report(*words: str) -> int:
    return cli.main(["ssreport", "--quiet", *words])


def error(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.splitlines()[-1].removeprefix("ssreport: ")


def test_report_removes_tables_that_have_no_rows(record: Path) -> None:
    Path("out").mkdir()
    for name in ("energy.csv", "mine.csv"):
        Path("out", name).write_text("old")
    assert report("-o", "out", "record") == 0
    files = listed(Path("out"))
    assert {"mine.csv", "report.html", "runs.csv", "verdicts.csv"} <= set(files)
    assert "energy.csv" not in files and not any(name.startswith(".") for name in files)


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
        ("-o record/plan.json/x", "cannot write record/plan.json/x: Not a directory"),
        ("--perfetto nothing/x", "cannot write nothing/x: No such file or directory"),
        ("--profile x", "record has no usable counters.csv, from which a profile is made: record "
         "with --counters"),
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
    assert (record / "samples.csv").read_text() == samples([0.4, 0.6] * 6)


def test_two_sets_are_named_after_their_folders() -> None:
    def names(*words: str) -> tuple[str, str]:
        return cli._name_sets(cli.parse(words))

    assert names("a") == ("", "")
    assert names("x/a", "--against", "y/b/") == ("a", "b")
    assert names("x/a", "x/b", "--against", "y//a", "y/b") == ("x", "y")
    assert names("x/a", "y/b", "--against", "b") == ("", "b")
    assert names("a", "--against", "x/a") == ("", "")
    assert names("a", "--against", "b", "--names", "old/new") == ("old", "new")


PYTHON = Path(__file__).parents[2] / "tools/python"
CHANGES = set(
    "chmod chown link makedirs mkdir mkfifo mknod remove removedirs rename renames replace rmdir "
    "symlink truncate unlink".split()
)
METHODS = set(
    "dump hardlink_to imsave savetxt savez symlink_to to_csv to_excel to_hdf to_html to_json "
    "to_parquet to_pickle tofile touch write_bytes write_text".split()
)
FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}


def changes_files(call: ast.Call) -> bool:
    """Return whether a call may create, change or remove a file by its path."""
    words = [*call.args, *(more.value for more in call.keywords)]
    if isinstance(call.func, ast.Name):
        modes = [one.value for one in words[1:] if isinstance(one, ast.Constant)]
        return call.func.id == "open" and any(set(str(mode)) & set("wax+") for mode in modes)
    if not isinstance(call.func, ast.Attribute):
        return False
    name, of = call.func.attr, ast.unparse(call.func.value)
    if of == "os":
        flags = {node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute)}
        return name in CHANGES or bool(flags & FLAGS)
    if name in ("savefig", "print_svg"):
        return ast.unparse(words[0]) != "stream"
    if name.startswith("to_") and not call.args:  # of a table: returns its text
        return False
    return of in ("shutil", "tempfile") and name != "which" or name in METHODS


def test_only_one_module_writes_files() -> None:
    sources = [*PYTHON.rglob("*.py"), PYTHON.parents[1] / "packaging/image"]
    found = set()
    for path in sources:
        nodes = ast.walk(ast.parse(path.read_text()))
        if any(changes_files(node) for node in nodes if isinstance(node, ast.Call)):
            found.add(path.name)
    # These make temporary folders; one removes the empty folder that it has just made.
    assert found == {"outputs.py", "cache.py", "calibrate.py", "portability.py"}


@pytest.mark.skipif(os.geteuid() != 0, reason="root: files of two users are needed")
@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("ssreport record --output", 125),
        ("ssreport record --output out --perfetto", 125),
        ("ssprofile compare results.csv:a results.csv:b --output", 125),
        ("ssprofile predict ratios.csv --output", 125),
        ("sstrace plot --output", 2),
    ],
)
def test_programs_follow_no_foreign_link(
    record: Path,
    words: str,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    keys = itertools.product("ab", "xy", (1, 2))
    rows = [f"{machine},without,{name},c,false,{at},{at}" for machine, name, at in keys]
    heading = "machine,limits,benchmark,class,lower_is_better,repetition,result"
    Path("results.csv").write_text("\n".join([heading, *rows, ""]))
    rows = [f"a,{name},c,1.{at}\n" for at, name in enumerate("xyz")]
    Path("ratios.csv").write_text("".join(["target,benchmark,class,ratio\n", *rows]))
    monkeypatch.setattr("sys.stdin", io.StringIO("9\nfree,least,mean,most\n1,,,\n"))
    Path("victim/a").mkdir(parents=True)
    Path("open").mkdir()
    Path("open").chmod(0o1777)
    Path("open/link").symlink_to("../victim")
    os.chown("open/link", 20001, 20001, follow_symlinks=False)
    assert cli.main([*words.split(), "open/link"]) == status
    assert error(capsys).endswith("open/link is a link of user 20001: name its target")
    left = [str(path) for path in Path("victim").rglob("*")]
    assert left == ["victim/a"]
