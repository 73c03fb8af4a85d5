# SPDX-License-Identifier: Apache-2.0
"""Plans of interference: pairs, places, and the options of both sides."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from lab_plans import Lab, needs_build
from showstopper.lab import places

pytestmark = needs_build

PINNED = ("--sets", "0/1")


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Lab:
    found = Lab(monkeypatch, tmp_path)
    found.set_cpus(4)
    monkeypatch.setattr(places, "why_no_place", lambda _: "")
    return found


@pytest.fixture
def guest(lab: Lab) -> str:
    folder = lab.folder / "guest"
    folder.mkdir()
    (folder / "about").write_text("format=1\nkernel=x\n")
    return str(folder)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("--pairs serial:cereal", "--pairs: cereal: no such workload"),
        ("--pairs all --background serial", "--pairs cannot be combined with --background"),
        ("--share", "--share requires --sets"),
        ("--sets 0/1 --placements free", "--sets requires sets among --placements"),
        ("--background-method nbench", "--background-method: 'nbench'"),
        ("--background-method uncontrolled", "uncontrolled cannot follow stairs"),
        ("--foreground-load 50%", "--foreground-load requires a --foreground-method"),
        ("--instances 2", "use --foreground-instances or --background-instances"),
        ("--load-of cpus", "--load-of has no effect without lxc or podman"),
        ("--environment kvm --guest-memory 1", "--guest-memory: '1' is not a size"),
        ("--published --foreground-instances 3", "no effect with --published"),
        ("--root / --sets 0/1", "--root describes another machine"),
    ],
)
def test_invalid_options_are_refused(lab: Lab, call: str, message: str) -> None:
    assert message in lab.refusal("interference", *call.split())


def test_earlier_versions_called_the_host_none(lab: Lab) -> None:
    planned = lab.plan("interference", *PINNED, "--environment", "none,host")
    assert planned.column("environment") == ["host"]


def test_runs_of_different_pairs_have_different_names(lab: Lab) -> None:
    (lab.folder / "mine").write_text("[a a-b b-c c]\ncommand = true\n")
    call = ["--catalogue", "mine", *PINNED, "--pairs", "a:b-c,a-b:c", "--dry-run"]
    refused = lab.refusal("interference", *call)
    assert "duplicate run name sets-a-b-c-1" in refused


def test_a_list_of_pairs_names_the_workloads(lab: Lab) -> None:
    call = [*PINNED, "--pairs", "xz:mine", "--name", "mine", "--", "true"]
    planned = lab.plan("interference", *call)
    assert [run.name for run in planned.runs] == ["sets-xz-mine-1"]
    refused = lab.refusal("interference", "--pairs", "xz:xz", *PINNED, "--", "true")
    assert "true, the command after --, is not among the workloads xz:" in refused


def test_sides_have_their_own_memory(lab: Lab) -> None:
    sizes = ["--memory", "7M", "--foreground-memory", "5M"]
    (run,) = lab.plan("interference", *PINNED, *sizes).runs
    assert run.line("main", "background").endswith("--memory 7M")
    assert run.line("main", "foreground").endswith("--memory 5M")


def test_several_rounds_of_the_background_are_in_names(lab: Lab) -> None:
    call = [*PINNED, "--background-method", "cdc", "--background-tau", "107m,53m"]
    names = [run.name for run in lab.plan("interference", *call).runs]
    assert names == ["sets-serial-serial-107m-1", "sets-serial-serial-53m-1"]


def test_a_program_alone_runs_for_four_steps(lab: Lab) -> None:
    last = lab.plan("interference", *PINNED, "--quick", "--alone").runs[-1]
    assert (last.name, last.cells["seconds"]) == ("sets-serial-alone-1", "12")
    assert "-l 100% --duration 12s" in last.line("main", "alone")


def test_containers_are_opened_entered_and_closed(lab: Lab) -> None:
    call = ["--environment", "lxc", "--placements", "quota", "--measure"]
    (inside,) = lab.plan("interference", *call, "inside").runs
    (host,) = lab.plan("interference", *call, "host").runs
    opened = inside.line("beside", "background-place")
    assert "/lxc hold {place}.{run}.background --quota 2 " in opened
    assert inside.has("beside", "background-host") and not host.has("beside", "background-host")
    within, outside = inside.line("main", "background"), host.line("main", "background")
    assert "/lxc enter {place}.{run}.background -- showstopper " in within
    assert " -f cgroup --label environment=lxc " in within.replace(" -F source=idle", "")
    assert " -- showstopper " in outside
    assert "enter {place}.{run}.background --instance --" in outside
    assert "-f cgroup -F group={background-group.1}" in outside
    assert host.line("after").endswith("close {place}.{run}.background {place}.{run}.foreground")


def test_guests_have_memory_for_their_instances(
    lab: Lab, guest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "_ask", lambda _: (0, "tcg"))
    call = ["--environment", "kvm", "--guest", guest, "--placements", "neutral", "--memory", "100M"]
    planned = lab.plan("interference", *call)
    (run,) = planned.runs
    assert run.name == "tcg-inside-neutral-serial-serial-1"
    assert "--memory 712M" in run.line("beside", "background-place")  # 2 instances and 512 MiB
    assert " -- env TMPDIR={scratch}/data showstopper " in run.line("main", "background")
    kept = next(words[-1] for words in planned.head if words[1] == "settings-guests")
    assert "guest_made_of=format=1 kernel=x" in kept
    assert "emulated (tcg)" in planned.said


def link_about(about: Path) -> None:
    about.symlink_to("/etc/passwd")


def pipe_about(about: Path) -> None:
    os.mkfifo(about)


def give_about(about: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("root: files of two users are needed")
    about.touch()
    os.chown(about, 20001, 20001)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (link_about, "is not a regular file"),
        (pipe_about, "is not a regular file"),
        (give_about, "belongs to user 20001"),
    ],
)
def test_guests_of_others_are_not_read(
    spoil: Callable[[Path], None], why: str, lab: Lab, guest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "_ask", lambda _: (0, "tcg"))
    (Path(guest) / "about").unlink()
    spoil(Path(guest) / "about")
    call = ["--plan", "--environment", "kvm", "--guest", guest, "--placements", "neutral"]
    assert f"{guest}/about {why}" in lab.refusal("interference", *call)
