# SPDX-License-Identifier: Apache-2.0
"""Folders, links and pipes of other users: what they cannot make a program of Python write or
read."""

import contextlib
import ctypes
import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from showstopper import contents, outputs, state
from showstopper.fleets import Fleet
from showstopper.inputs import Gatherer, Source, judge
from showstopper.lab import results
from showstopper.outputs import Folder, OutputError, write_file, write_files
from showstopper.text import UserError

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root: files of two users are needed")

ALICE, BOB = 20001, 20002
PACKAGE = Path(__file__).parents[2] / "tools/python"


class Machine:
    """Homes of alice and bob, a folder that is open to all, and a file of the caller."""

    def __init__(self, root: Path, caller: int) -> None:
        self.caller = caller
        self.alice, self.bob = root / "alice", root / "bob"
        self.shared, self.group = root / "shared", root / "group"
        for folder, owner, mode in (
            (root, 0, 0o755), (self.alice, ALICE, 0o755), (self.bob, BOB, 0o755),
            (self.shared, 0, 0o1777), (self.group, BOB, 0o777),
        ):
            folder.mkdir(exist_ok=True)
            os.chown(folder, owner, owner)
            folder.chmod(mode)
        self.home = root / "home" if caller == 0 else self.bob
        self.home.mkdir(exist_ok=True)
        self.victim = self.file(self.home / "victim", "precious", caller)

    @staticmethod
    def file(path: Path, text: str, owner: int, mode: int = 0o644) -> Path:
        path.write_text(text)
        os.chown(path, owner, owner)
        path.chmod(mode)
        return path

    @staticmethod
    def link(path: Path, target: Path | str, owner: int = ALICE) -> Path:
        path.symlink_to(target)
        os.chown(path, owner, owner, follow_symlinks=False)
        return path

    @staticmethod
    def folder(path: Path, owner: int = ALICE) -> Path:
        path.mkdir()
        os.chown(path, owner, owner)
        return path

    @contextlib.contextmanager
    def acting(self) -> Iterator[None]:
        os.setegid(self.caller)
        os.seteuid(self.caller)
        try:
            yield
        finally:
            os.seteuid(0)
            os.setegid(0)

    def write(self, path: Path | str, text: str = "new") -> None:
        with self.acting():
            write_file(str(path), text)

    def refuses(self, path: Path | str, why: str) -> None:
        with pytest.raises(OutputError) as error:
            self.write(path)
        assert str(error.value) == why
        self.check()

    def check(self) -> None:
        """Fail unless the caller's home is as it was."""
        assert self.victim.read_text() == "precious"
        assert stat.S_IMODE(self.victim.stat().st_mode) == 0o644
        assert os.listdir(self.home) == ["victim"]


@pytest.fixture
def root() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="trust-"))  # the folder of tmp_path is closed to others
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(params=[0, BOB], ids=["root", "bob"])
def machine(root: Path, request: pytest.FixtureRequest) -> Machine:
    return Machine(root, request.param)


def refusal(link: Path, user: str = f"user {ALICE}") -> str:
    return f"{link} is a link of {user}: name its target"


# Links


def test_foreign_link_in_an_open_folder_is_refused(machine: Machine) -> None:
    link = machine.link(machine.shared / "out", machine.victim)
    machine.refuses(link, refusal(link))
    link = machine.link(machine.shared / "new", machine.home / "new")
    machine.refuses(link, refusal(link))


def test_foreign_link_in_a_folder_of_a_group_is_refused(machine: Machine) -> None:
    own = machine.file(machine.alice / "file", "old", ALICE)
    link = machine.link(machine.group / "out", own)
    machine.refuses(link, refusal(link))


def test_foreign_link_in_the_middle_is_refused(machine: Machine) -> None:
    link = machine.link(machine.shared / "folder", machine.home)
    machine.refuses(link / "victim", refusal(link))
    machine.refuses(link / "../home/new", refusal(link))


def test_user_is_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = pwd.getpwuid(1).pw_name
    link = machine.link(machine.shared / "out", machine.victim, 1)
    machine.refuses(link, refusal(link, name))


def test_link_in_a_home_leads_only_to_files_of_that_user(machine: Machine) -> None:
    own = machine.file(machine.alice / "file", "old", ALICE)
    open_folder = machine.folder(machine.alice / "open")
    open_folder.chmod(0o777)
    if machine.caller:
        machine.alice.chmod(0o777)
    good = machine.link(machine.alice / "good", "file")
    machine.write(good)
    assert own.read_text() == "new" and good.is_symlink()
    machine.write(machine.link(machine.alice / "to-folder", open_folder) / "new")
    assert (open_folder / "new").read_text() == "new"

    foreign = machine.file(open_folder / "foreign", "old", BOB)
    for name, target in {
        "victim": machine.victim,
        "new": machine.home / "new",
        "foreign": foreign,  # in a folder of the user
        "shared": machine.shared / "new",
    }.items():
        link = machine.link(machine.alice / f"link-{name}", target)
        machine.refuses(link, refusal(link))
    assert foreign.read_text() == "old"


def test_foreign_link_to_an_own_link_is_refused(machine: Machine) -> None:
    own = machine.link(machine.shared / "own", machine.victim, machine.caller)
    link = machine.link(machine.alice / "link", own)
    machine.refuses(link, refusal(link))


def test_second_name_of_an_own_link_is_refused(machine: Machine) -> None:
    own = machine.link(machine.group / "own", machine.victim, machine.caller)
    os.link(own, machine.shared / "out", follow_symlinks=False)
    user = pwd.getpwuid(0).pw_name if machine.caller == 0 else f"user {BOB}"
    machine.refuses(machine.shared / "out", refusal(machine.shared / "out", user))


def test_own_links_and_those_of_root_are_followed(machine: Machine) -> None:
    real = machine.folder(machine.bob / "real", machine.caller)
    for at, owner in enumerate({0, machine.caller}):
        for folder in (machine.shared, machine.group):
            name = f"link-{at}"
            machine.write(machine.link(folder / name, real, owner) / name)
            machine.write(machine.link(folder / f"{name}-file", real / f"to-{name}", owner))
            assert (real / name).read_text() == (real / f"to-{name}").read_text() == "new"
            shutil.rmtree(real)
            machine.folder(real, machine.caller)


def test_links_of_the_owner_of_the_root_folder_are_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as the user who made a chroot."""
    machine = Machine(root, BOB)
    real = os.stat

    def chroot(path: Any, **more: Any) -> Any:
        return real(machine.alice if path == "/" else path, **more)

    monkeypatch.setattr(outputs.os, "stat", chroot)
    real_folder = machine.folder(machine.bob / "real", BOB)
    for owner in (ALICE, 0):
        link = machine.link(machine.shared / f"link-{owner}", real_folder, owner)
        machine.write(link / str(owner))
    assert sorted(os.listdir(real_folder)) == ["0", str(ALICE)]


def test_way_up_does_not_depend_on_moved_folders(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """alice moves a folder to a place next to a file of the caller while the caller is in it."""
    inner = machine.folder(machine.alice / "inner")
    if machine.caller:
        machine.alice.chmod(0o777)
    leave = outputs._Walk._leave

    def moving(self: Any) -> None:
        with privileged():
            inner.rename(machine.home / "inner")
        leave(self)

    monkeypatch.setattr(outputs._Walk, "_leave", moving)
    machine.write(machine.alice / "inner/../victim")
    (machine.home / "inner").rmdir()
    assert (machine.alice / "victim").read_text() == "new"
    machine.check()


# User namespaces

NEW_USER = 0x10000000  # a flag of unshare(2)
DUMPABLE = 4  # an option of prctl(2): otherwise files in /proc/self belong to root


def enter_namespace(caller: int, is_mapped: bool) -> None:
    """Become root of a new user namespace or, if not mapped, a user without a number."""
    library = ctypes.CDLL(None, use_errno=True)
    os.setgroups([])
    os.setresgid(caller, caller, caller)
    os.setresuid(caller, caller, caller)
    library.prctl(DUMPABLE, 1, 0, 0, 0)
    if library.unshare(NEW_USER):
        raise OSError(ctypes.get_errno(), "unshare")
    if is_mapped:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {caller} 1")
        Path("/proc/self/gid_map").write_text(f"0 {caller} 1")
    outputs._has_all_users.cache_clear()


def in_namespace(path: Path | str, caller: int = BOB, is_mapped: bool = True) -> str:
    """Write a file in a user namespace; return the error."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        text = ""
        try:
            enter_namespace(caller, is_mapped)
        except OSError as error:
            text = f"skip {error}"
        try:
            write_file(str(path), "new")
        except OutputError as error:
            text = text or str(error)
        finally:
            os.write(writer, text.encode())
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with open(reader) as stream:
        text = stream.read()
    if text.startswith("skip "):
        pytest.skip(f"user-namespaces: {text[5:]}")
    return text


def test_users_of_a_namespace_are_distinguished(root: Path) -> None:
    """All users but the caller have the same number there."""
    machine = Machine(root, BOB)
    carol = machine.folder(root / "carol", 20003)
    carol.chmod(0o777)
    own = machine.link(machine.shared / "own", machine.home / "new", BOB)
    assert in_namespace(own) == ""
    assert (machine.home / "new").read_text() == "new"
    link = machine.link(machine.alice / "link", carol / "new")
    assert in_namespace(link) == refusal(link, "nobody")
    assert not os.listdir(carol)


def test_nobody_is_not_the_caller_of_a_namespace(root: Path) -> None:
    machine = Machine(root, BOB)
    link = machine.link(machine.shared / "link", machine.home / "new")
    assert in_namespace(link, is_mapped=False) == refusal(link, "nobody")
    machine.file(machine.group / "out", "old", ALICE, 0o666)
    assert in_namespace(machine.group / "out", is_mapped=False) == ""
    assert stat.S_IMODE((machine.group / "out").stat().st_mode) == 0o644


@pytest.mark.parametrize(
    ("ranges", "is_known"),
    [
        ("0 0 4294967295", True),
        ("0 0 1000\n1000 1000 1\n1001 1001 4294966294\n", True),
        ("0 0 1000\n1000 1000 1\n1002 1002 4294966293\n", False),
        ("0 100000 65536", False),
        ("", False),
        (None, False),
    ],
    ids=["all", "all in parts", "all but one", "container", "new", "unknown"],
)
def test_nobody_is_known_if_all_users_are(
    ranges: str | None, is_known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "uid_map"
    if ranges is not None:
        path.write_text(ranges)
    monkeypatch.setattr(outputs, "_USER_MAP", str(path))
    monkeypatch.setattr(outputs, "_has_all_users", outputs._has_all_users.__wrapped__)
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    assert outputs.is_trusted(65534) == is_known
    assert outputs.is_trusted(0)


def test_links_of_the_root_folder_are_followed_in_a_namespace(root: Path) -> None:
    machine = Machine(root, BOB)
    link = next((f"/{n}" for n in os.listdir("/") if os.path.islink(f"/{n}")), None)
    if link is None:
        pytest.skip("left-out: the root folder has no link")
    depth = "/.." * len(Path(os.path.realpath(link)).parts[1:])
    assert in_namespace(f"{link}{depth}{machine.home}/new") == ""
    assert (machine.home / "new").read_text() == "new"


def test_owner_of_the_root_folder_is_trusted_for_links_only(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = os.stat

    def of_alice(path: Any, **more: Any) -> Any:
        return types.SimpleNamespace(st_uid=ALICE) if path == "/" else asking(path, **more)

    machine.link(machine.shared / "link", machine.home / "new")
    monkeypatch.setattr(outputs.os, "stat", of_alice)
    machine.write(machine.shared / "link")
    assert (machine.home / "new").read_text() == "new"
    assert not outputs.is_trusted(ALICE)
    os.mkfifo(machine.group / "pipe")
    os.chown(machine.group / "pipe", ALICE, ALICE)
    with pytest.raises(OutputError, match=f"is a pipe of user {ALICE}"):
        machine.write(machine.group / "pipe")


# Files


def test_hidden_name_is_not_predictable(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = iter([b"a", b"b"])
    monkeypatch.setattr(outputs.os, "urandom", lambda _: next(drawn))
    machine.link(machine.shared / ".out.61", machine.victim)
    machine.write(machine.shared / "out")
    assert (machine.shared / "out").read_text() == "new"
    assert sorted(os.listdir(machine.shared)) == [".out.61", "out"]
    machine.check()


def test_mode_of_a_foreign_file_is_not_copied(machine: Machine) -> None:
    machine.file(machine.group / "out", "old", ALICE, 0o666)
    machine.write(machine.group / "out")
    assert stat.S_IMODE((machine.group / "out").stat().st_mode) == 0o644


def test_mode_of_another_name_is_not_copied(machine: Machine) -> None:
    open_file = machine.file(machine.bob / "open", "old", machine.caller, 0o666)
    os.link(open_file, machine.shared / "out")  # which the kernel lets alice make
    machine.write(machine.shared / "out")
    assert stat.S_IMODE((machine.shared / "out").stat().st_mode) == 0o644
    assert open_file.read_text() == "old"


def test_other_name_of_an_own_file_stays(machine: Machine) -> None:
    folder = machine.folder(machine.bob / "own", machine.caller)
    old = machine.file(folder / "old", "old", machine.caller, 0o640)
    os.link(old, folder / "out")
    machine.write(folder / "out")
    assert ((folder / "out").read_text(), old.read_text()) == ("new", "old")
    assert stat.S_IMODE((folder / "out").stat().st_mode) == 0o640


@pytest.mark.parametrize(("mask", "mode"), [(0, 0o666), (0o002, 0o664), (0o077, 0o600)])
def test_new_files_have_the_mode_of_the_umask(machine: Machine, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        machine.write(machine.shared / "out")
        with machine.acting(), Folder(str(machine.shared / "results")) as results:
            results.write("out", "new")
    finally:
        os.umask(before)
    for name in ("out", "results/out"):
        assert stat.S_IMODE((machine.shared / name).stat().st_mode) == mode


# Folders of results


def test_links_in_a_folder_of_results_are_replaced(machine: Machine) -> None:
    results = machine.folder(machine.alice / "results")
    results.chmod(0o777)
    for name in ("out", "old"):
        machine.link(results / name, machine.victim)
    with machine.acting(), Folder(str(results)) as folder:
        folder.write("out", "new")
        folder.write("old", None)
    assert (results / "out").read_text() == "new" and not (results / "out").is_symlink()
    assert os.listdir(results) == ["out"]
    machine.check()


def test_folder_that_replaces_a_new_one_is_not_written(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """alice exchanges it with an older one of the caller."""
    results = machine.alice / "results"
    old = machine.folder(machine.alice / "old", machine.caller)
    machine.file(old / "out", "old", machine.caller)
    if machine.caller:
        machine.alice.chmod(0o777)
    making = os.mkdir

    def exchanging(name: str, **more: Any) -> None:
        making(name, **more)
        with privileged():
            results.rename(machine.alice / "moved")
            old.rename(results)

    monkeypatch.setattr(outputs.os, "mkdir", exchanging)
    with pytest.raises(OutputError, match="was replaced as soon as it had been created"):
        with machine.acting():
            write_files(str(results), {"out": "new"})
    assert (results / "out").read_text() == "old"


def test_folder_of_results_behind_a_link_belongs_to_its_user(machine: Machine) -> None:
    results = machine.folder(machine.alice / "results")
    machine.link(machine.alice / "good", results)
    for name, target in {"home": machine.home, "new": machine.shared / "new"}.items():
        link = machine.link(machine.alice / name, target)
        with pytest.raises(OutputError) as error, machine.acting(), Folder(str(link)):
            pass
        assert str(error.value) == refusal(link)
    machine.link(machine.alice / "shared", machine.folder(machine.shared / "of-alice"))
    for name in ("good", "shared"):
        with machine.acting(), Folder(f"{machine.alice}/{name}/"):
            pass
    assert not (machine.shared / "new").exists()


@contextlib.contextmanager
def privileged() -> Iterator[None]:
    """Act as alice, who may do this in folders of her own."""
    caller = os.geteuid()
    os.seteuid(0)
    try:
        yield
    finally:
        os.seteuid(caller)


# Streams, pipes and devices


def test_own_streams_are_not_replaced(machine: Machine) -> None:
    path = machine.file(machine.bob / "stream", "", machine.caller)
    inode = path.stat().st_ino
    with path.open("r+") as stream:
        number = stream.fileno()
        os.write(number, b"1")
        machine.write(f"/dev/fd/{number}", "2")
        machine.write(f"/proc/self/fd/{number}", "3")
        machine.write(f"/proc/{os.getpid()}/fd/{number}", "4")
        link = machine.link(machine.shared / "link", f"/dev/fd/{number}", machine.caller)
        machine.write(link, "5")
        os.write(number, b"6")
    assert path.read_text() == "123456" and path.stat().st_ino == inode


def test_foreign_link_to_an_own_stream_is_refused(machine: Machine) -> None:
    if machine.caller:
        machine.alice.chmod(0o777)
    with machine.victim.open("a") as stream:
        link = machine.link(machine.alice / "out", f"/proc/self/fd/{stream.fileno()}")
        machine.refuses(link, refusal(link))


def test_process_substitution_is_written(machine: Machine) -> None:
    reader, writer = os.pipe()
    machine.write(f"/dev/fd/{writer}", "text")
    os.close(writer)
    assert os.read(reader, 9) == b"text"
    os.close(reader)


def test_standard_output_is_a_stream() -> None:
    code = f"""
import sys
sys.path.insert(0, {str(PACKAGE)!r})
from showstopper.outputs import write_file
write_file("/dev/stdout", "new")"""
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True)
    assert done.stdout == b"new"


def pipe(path: Path, owner: int) -> Path:
    os.mkfifo(path)
    os.chown(path, owner, owner)
    path.chmod(0o666)
    return path


def test_foreign_pipe_in_an_open_folder_is_refused(machine: Machine) -> None:
    without_sticky_bit = machine.shared / "open"
    without_sticky_bit.mkdir()
    without_sticky_bit.chmod(0o777)
    refused = [pipe(machine.shared / "foreign", ALICE), pipe(without_sticky_bit / "pipe", ALICE)]
    others = [pipe(machine.shared / "own", machine.caller), pipe(machine.alice / "named", ALICE)]
    for path in (*refused, *others):
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        if path in refused:
            why = f"{path} is a pipe of user {ALICE}: choose a folder of your own"
            machine.refuses(path, why)
        else:
            machine.write(path, "text")
            assert os.read(reader, 9) == b"text"
        os.close(reader)


def test_block_device_is_refused(machine: Machine) -> None:
    path = machine.bob / "disk"
    os.mknod(path, stat.S_IFBLK | 0o666, os.makedev(7, 255))
    with pytest.raises(OutputError) as error:
        machine.write(path)
    assert str(error.value) == f"{path} is a block device: name a file"


# Races


def swap(path: Path, new: Callable[[], object]) -> Callable[[], None]:
    """Return a function that replaces a path by something new, and restores it when called again.
    """
    kept = path.with_name(f"{path.name}.kept")
    other = path.with_name(f"{path.name}.other")

    def exchange() -> None:
        if kept.is_symlink() or kept.exists():
            path.rename(other)
            kept.rename(path)
            return
        path.rename(kept)
        if other.is_symlink() or other.exists():
            other.rename(path)
        else:
            new()

    return exchange


def exchange_hidden(machine: Machine, folder: Path) -> None:
    for hidden in folder.glob(".out.*"):
        hidden.unlink()
        machine.link(hidden, machine.victim)


# Inputs


def read_input(machine: Machine, path: Path) -> str:
    with machine.acting():
        return contents.read_file(str(path)).decode()


def test_foreign_links_are_not_read(machine: Machine) -> None:
    for link, rest in (
        (machine.link(machine.alice / "file", machine.victim), ""),
        (machine.link(machine.alice / "folder", machine.home), "victim"),
        (machine.link(machine.shared / "moved", machine.victim), ""),
    ):
        with pytest.raises(PermissionError) as error:
            read_input(machine, link / rest)
        assert error.value.strerror in (refusal(link), refusal(link / rest))


def test_target_of_a_foreign_link_may_exist_or_not(machine: Machine) -> None:
    """No result depends on it: root's programs would reveal to other users which files exist."""
    for name, target in (
        ("there", "victim"), ("absent", "new"), ("above", "new/file"),
        ("below", "victim/file"),
    ):
        link = machine.link(machine.alice / name, machine.home / target)
        with machine.acting():
            assert contents.has_file(str(machine.alice), name)
        with pytest.raises(PermissionError) as error:
            read_input(machine, link)
        assert error.value.strerror == refusal(link)
    own = machine.link(machine.shared / "own", machine.home / "new", machine.caller)
    with machine.acting():
        assert contents.has_file(str(machine.home), "victim")
        assert not contents.has_file(str(machine.home), "new")
        assert not contents.has_file(str(machine.shared), "own")
    with pytest.raises(FileNotFoundError):
        read_input(machine, own)


def test_own_links_and_those_within_a_home_are_read(machine: Machine) -> None:
    machine.file(machine.alice / "file", "foreign", ALICE)
    assert read_input(machine, machine.link(machine.alice / "link", "file")) == "foreign"
    for owner in {0, machine.caller}:
        link = machine.link(machine.shared / f"link-{owner}", machine.home, owner)
        assert read_input(machine, link / "victim") == "precious"
        link = machine.link(machine.alice / f"link-{owner}", machine.victim, owner)
        assert read_input(machine, link) == "precious"


def test_link_that_is_exchanged_is_not_read(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = machine.file(machine.alice / "input", "foreign", ALICE)
    link = machine.link(machine.alice / "link", "input")
    check = contents._check_regular

    def exchanging(status: os.stat_result) -> None:
        check(status)
        with privileged():
            path.unlink()
            os.link(machine.victim, path)

    monkeypatch.setattr(contents, "_check_regular", exchanging)
    with pytest.raises(OSError, match="replaced while it was opened"):
        read_input(machine, link)


@pytest.mark.parametrize("path", ["../home/record", "{home}/record"])
def test_foreign_manifest_leads_nowhere_else(path: str, machine: Machine) -> None:
    text = f"run,workload\n{path.format(home=machine.home)},x\n"
    for owner in (ALICE, machine.caller):
        folder = machine.folder(machine.alice / f"of-{owner}")
        machine.file(folder / "manifest.csv", text, owner)
        with machine.acting():
            (found,) = Gatherer().gather([str(folder)])
        assert isinstance(found, Source) == (owner == machine.caller)


def test_record_of_a_run_is_in_its_folder(machine: Machine) -> None:
    """Also if the run is the caller's, as one that a node of a fleet has written."""
    folder = machine.folder(machine.home / "run", machine.caller)
    commands = '[{"record": "../../alice"}, {"record": "record"}]'
    text = f'{{"schema": 1, "status": "done", "commands": {commands}}}'
    machine.file(folder / "run.json", text, machine.caller)
    with machine.acting():
        refused, found = Gatherer().gather([str(folder)])
    assert "outside" in refused.why and isinstance(found, Source)


def test_records_of_a_fleet_are_in_its_folder(machine: Machine) -> None:
    folder = machine.folder(machine.home / "fleet", machine.caller)
    rows = "node,record,status,start,offset_seconds,offset_error_seconds\na,../other,done,0,0,0\n"
    machine.file(folder / "fleet.csv", rows, machine.caller)
    machine.folder(machine.home / "other", machine.caller)
    with machine.acting():
        ((_, verdict),) = judge([str(folder)], [])
        (node,) = Fleet(Source(str(folder))).nodes.to_dict("records")
    assert "outside" in verdict.reasons and "outside" in node["reason"]


# State: files of a folder that decide what is carried out


@pytest.fixture
def held(machine: Machine) -> Path:
    """A folder of the caller with a file that decides."""
    folder = machine.folder(machine.shared / "held", machine.caller)
    machine.file(folder / "deciding", "own", machine.caller)
    return folder


def read_state(machine: Machine, folder: Path) -> str:
    with machine.acting(), state.hold(str(folder), ("absent", "deciding")) as path:
        return Path(path, "deciding").read_text()


def foreign_folder(machine: Machine, folder: Path) -> str:
    os.chown(folder, ALICE, ALICE)
    return f"belongs to user {ALICE}"


def foreign_file(machine: Machine, folder: Path) -> str:
    os.chown(folder / "deciding", ALICE, ALICE)
    return f"deciding belongs to user {ALICE}"


def pipe_instead(machine: Machine, folder: Path) -> str:
    (folder / "deciding").unlink()
    os.mkfifo(folder / "deciding")
    return "deciding is not a regular file"


@pytest.mark.parametrize("spoil", [foreign_folder, foreign_file, pipe_instead])
def test_state_that_others_could_write_is_refused(
    spoil: Callable[[Machine, Path], str], machine: Machine, held: Path
) -> None:
    why = spoil(machine, held)
    with pytest.raises(OutputError, match=why):
        read_state(machine, held)


def test_state_behind_a_foreign_link_is_refused(machine: Machine, held: Path) -> None:
    link = machine.link(machine.shared / "link", held)
    with pytest.raises(OutputError) as error:
        read_state(machine, link)
    assert str(error.value) == refusal(link)


def test_descriptor_is_not_found_by_its_path(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = machine.folder(machine.alice / "folder")
    walking = contents.walk
    with open(machine.file(machine.home / "input", "own", machine.caller)) as stream:
        number = stream.fileno()
        machine.link(machine.shared / "link", f"/proc/self/fd/{number}", machine.caller)

        @contextlib.contextmanager
        def removing(path: str) -> Iterator[outputs.Place]:
            with walking(path) as place:
                with privileged():
                    folder.rmdir()
                yield place

        monkeypatch.setattr(contents, "walk", removing)
        with machine.acting():
            assert contents.read_file(f"{folder}/../../shared/link") == b"own"


def test_open_folder_is_not_found_by_its_path(
    machine: Machine, held: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = os.readlink

    def exchanging(*path: Any, **more: Any) -> str:
        target = str(reading(*path, **more))
        if target == str(held):
            with privileged():
                held.rename(machine.shared / "gone")
                machine.file(machine.folder(held) / "deciding", "foreign", ALICE)
        return target

    monkeypatch.setattr(outputs.os, "readlink", exchanging)
    with machine.acting(), state.hold(str(held), ("deciding",)) as path:
        assert contents.read_file(f"{path}/deciding") == b"own"


# Each race prepares folders of alice, and returns what she does while the caller writes, and the
# path that the caller writes.
Race = tuple[Callable[[], None], Path]


def file_to_link(m: Machine) -> Race:
    path = m.file(m.shared / "out", "old", ALICE, 0o666)
    return swap(path, lambda: m.link(path, m.victim)), path


def folder_to_link(m: Machine) -> Race:
    folder = m.folder(m.shared / "folder")
    folder.chmod(0o777)
    return swap(folder, lambda: m.link(folder, m.home)), folder / "victim"


def link_to_link(m: Machine) -> Race:
    m.file(m.alice / "file", "old", ALICE)
    m.alice.chmod(0o777)
    link = m.link(m.alice / "out", "file")
    return swap(link, lambda: m.link(link, m.victim)), link


def link_to_folder(m: Machine) -> Race:
    m.folder(m.alice / "folder").chmod(0o777)
    link = m.link(m.alice / "link", "folder")
    return swap(link, lambda: m.link(link, m.home)), link / "victim"


def pipe_to_link(m: Machine) -> Race:
    path = pipe(m.alice / "out", ALICE)
    return swap(path, lambda: m.link(path, m.victim)), path


def pipe_to_file(m: Machine) -> Race:
    """alice replaces her pipe by a hard link to a file of the caller, which must not be written."""
    path = pipe(m.alice / "out", ALICE)
    return swap(path, lambda: os.link(m.victim, path)), path


def new_folder_to_link(m: Machine) -> Race:
    m.alice.chmod(0o777)
    folder = m.alice / "folder"

    def exchange() -> None:
        if folder.exists():
            folder.rename(m.alice / "kept")
        m.link(folder, m.home)

    return exchange, folder / "victim"


def hidden_to_link(m: Machine) -> Race:
    folder = m.folder(m.alice / "folder")
    folder.chmod(0o777)
    return lambda: exchange_hidden(m, folder), folder / "out"


CALLS = ("open", "fstat", "stat", "readlink", "mkdir", "rename", "unlink", "dup", "fchmod", "fsync")


class Attacker:
    """Acts before some of the system calls that outputs.py makes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = -1  # not counting
        self.turns: set[int] = set()
        self.act: Callable[[], None] = lambda: None
        for name in CALLS:
            call = getattr(os, name) if name != "fsync" else lambda _: None  # fsync is slow
            monkeypatch.setattr(outputs.os, name, self.wrap(call))

    def wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*words: Any, **more: Any) -> Any:
            if self.calls >= 0:
                now, self.calls = self.calls, -1
                if now in self.turns:
                    with privileged():
                        self.act()
                self.calls = now + 1
            return call(*words, **more)

        return wrapped

    def attack(self, turns: set[int], write: Callable[[], None]) -> int:
        """Write, and act before the calls with these numbers; return the number of calls."""
        self.turns, self.calls = turns, 0
        with contextlib.suppress(OutputError):
            write()
        calls, self.calls = self.calls, -1
        return calls


@pytest.mark.parametrize(
    "prepare",
    [
        file_to_link, folder_to_link, link_to_link, link_to_folder, pipe_to_link, pipe_to_file,
        new_folder_to_link, hidden_to_link,
    ],
)
@pytest.mark.parametrize("caller", [0, BOB], ids=["root", "bob"])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_exchange_at_each_call_is_harmless(
    prepare: Callable[[Machine], Race], caller: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exchange something before each call, for good or for this call only."""
    attacker = Attacker(monkeypatch)
    first, calls = 0, 1
    while first <= calls:
        twice = {first, first + 1} if prepare is not new_folder_to_link else {first}
        for turns in ({first}, twice):
            root = Path(tempfile.mkdtemp(prefix="trust-"))
            machine = Machine(root, caller)
            attacker.act, path = prepare(machine)

            def write() -> None:
                with machine.acting():
                    if kind == "file":
                        write_file(str(path), "new")
                    else:
                        with Folder(str(path.parent)) as results:
                            results.write(path.name, "new")

            calls = attacker.attack(turns, write)
            assert calls > 5
            machine.check()
            shutil.rmtree(root)
        first += 1


# Results of experiments


def report(output: Path) -> None:
    """Report a study of this folder, as an experiment does."""
    study = types.SimpleNamespace(output=output)
    results.report(study, {"throughput": "table.csv"})  # type: ignore[arg-type]


@pytest.fixture
def study(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study of alice, and an ssreport that prints a table."""
    programs = machine.folder(machine.home / "programs", 0)
    script = "#!/bin/sh\ncase $1 in --table) echo '| a |' ;; esac\n"
    machine.file(programs / "ssreport", script, 0, 0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    output = machine.folder(machine.alice / "results")
    machine.folder(output / "report")
    return output


@pytest.mark.parametrize("name", ["table.csv", "report.md"])
def test_report_of_an_experiment_follows_no_link(
    machine: Machine, study: Path, name: str
) -> None:
    machine.file(study / "report/throughput.csv", "a,b\n", ALICE)
    link = machine.link(study / name, machine.victim)
    with pytest.raises(UserError, match="is a link of"):
        report(study)
    assert machine.victim.read_text() == "precious"
    link.unlink()
    report(study)
    assert (study / "table.csv").read_text() == "a,b\n"
    assert (study / "report.md").read_text() == "| a |\n"


@pytest.mark.parametrize("kind", ["symbolic", "hard", "pipe"])
def test_results_of_an_experiment_are_no_links_or_pipes(
    machine: Machine, study: Path, kind: str
) -> None:
    table = study / "report/throughput.csv"
    if kind == "symbolic":
        machine.link(table, machine.victim)
    elif kind == "hard":
        os.link(machine.victim, table)
    else:
        os.mkfifo(table)
    machine.victim.chmod(0o600)
    with pytest.raises((UserError, OSError)):
        report(study)
    assert not (study / "table.csv").exists()
