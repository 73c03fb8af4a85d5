# SPDX-License-Identifier: Apache-2.0
"""matplotlib never reads a cache or settings of another user."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import PACKAGE
from showstopper import cache

ALICE = 20001
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="root: files of two users are needed")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask", [0, 0o002, 0o022, 0o077])
def test_folder_is_closed_whatever_the_umask(home: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        folder = cache.find_folder()
        assert folder == f"{home}/.cache/showstopper/matplotlib" and mode(Path(folder)) == 0o700
        (Path(folder) / "fonts").write_text("kept")
        assert cache.find_folder() == folder and os.listdir(folder) == ["fonts"]
    finally:
        os.umask(before)


def test_open_folder_is_replaced(home: Path) -> None:
    folder = Path(cache.find_folder())
    (folder / "matplotlibrc").write_text("planted")
    for bits in (0o775, 0o777):
        folder.chmod(bits)
        assert cache.find_folder() == str(folder)
        assert mode(folder) == 0o700 and not os.listdir(folder)


@as_root
@pytest.mark.parametrize("name", [".", ".cache/showstopper", ".cache/showstopper/matplotlib"])
def test_folder_of_another_user_is_not_used(home: Path, name: str) -> None:
    """As with `sudo -E`, which keeps HOME."""
    assert cache.find_folder()
    os.chown(home / name, ALICE, ALICE)
    assert cache.find_folder() == ""


@as_root
@pytest.mark.parametrize(
    ("owner", "bits", "is_used"),
    [(0, 0o777, False), (0, 0o775, True), (0, 0o1777, True), (ALICE, 0o755, False)],
)
def test_folders_above_decide(home: Path, owner: int, bits: int, is_used: bool) -> None:
    os.chown(home, owner, owner)
    home.chmod(bits)
    assert bool(cache.find_folder()) == is_used


@as_root
def test_link_leads_to_a_folder_that_is_judged(home: Path) -> None:
    other = home.parent / "other"
    other.mkdir()
    (home / ".cache").symlink_to(other)
    assert cache.find_folder() == f"{other}/showstopper/matplotlib"
    os.chown(other, ALICE, ALICE)
    assert cache.find_folder() == ""


@pytest.mark.parametrize("path", ["relative", "/dev/null/cache", "/proc/self/cache"])
def test_unusable_folder_is_not_used(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", path)
    assert cache.find_folder() == ""


@as_root
def test_folder_that_is_not_writable_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as home:
        monkeypatch.setenv("HOME", home)
        os.chown(home, ALICE, ALICE)
        os.seteuid(ALICE)
        try:
            folder = cache.find_folder()
            assert folder
            os.chmod(folder, 0o500)
            assert cache.find_folder() == ""
        finally:
            os.seteuid(0)


def test_settings_of_the_current_folder_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("no such setting: \x1b[31m\nfont.size: 99\n")
    code = f"""
import os, sys
sys.path.insert(0, {str(PACKAGE)!r})
from showstopper import cache
cache.load_matplotlib()
import matplotlib
print(matplotlib.rcParams["font.size"], os.getcwd())
"""
    command = [sys.executable, "-IXutf8", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True)
    assert (done.stdout, done.stderr) == (f"10.0 {tmp_path}\n", "")
