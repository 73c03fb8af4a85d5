# SPDX-License-Identifier: Apache-2.0
"""Files that decide what is carried out must be the caller's or root's, and closed to others."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from showstopper import state
from showstopper.outputs import OutputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    path.mkdir(mode=0o755)
    (path / "run.json").write_text("own")
    (path / "run.json").chmod(0o644)
    return path


def read(folder: Path) -> str:
    with state.hold(str(folder), ("absent", "run.json")) as path:
        return Path(path, "run.json").read_text()


def test_own_state_is_read_and_closed(folder: Path) -> None:
    folder.chmod(0o775)
    assert read(folder) == "own"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    with pytest.raises(FileNotFoundError):
        read(folder / "absent")


def test_folder_that_is_exchanged_does_not_redirect(folder: Path) -> None:
    with state.hold(str(folder), ("run.json",)) as path:
        folder.rename(folder.with_name("old"))
        folder.mkdir()
        (folder / "run.json").write_text("another")
        assert Path(path, "run.json").read_text() == "own"


def test_file_that_others_may_write_to_is_refused(folder: Path) -> None:
    (folder / "run.json").chmod(0o664)
    with pytest.raises(OutputError, match=r"run.json: other users may write to it: .* chmod go-w"):
        read(folder)


def test_link_and_second_name_are_refused(folder: Path) -> None:
    os.link(folder / "run.json", folder / "second")
    with pytest.raises(OutputError, match="run.json has another name"):
        read(folder)
    (folder / "run.json").unlink()
    (folder / "run.json").symlink_to("second")
    with pytest.raises(OutputError, match="run.json is not a regular file"):
        read(folder)
