# SPDX-License-Identifier: Apache-2.0
"""Plans of studies of traces at several speeds."""

from __future__ import annotations

import pytest
from lab_plans import Lab, needs_build
from showstopper.lab.replay import Trace, name_of

pytestmark = needs_build

SHORT = ["--workloads", "serial", "--warmup", "0"]


@pytest.fixture(autouse=True)
def write_traces(lab: Lab) -> None:
    lab.set_cpus(2)
    for name in ("a.txt", "b,c{d}.txt", ".txt"):
        (lab.folder / name).write_text("# A load\n# of a half.\n0 50%\n20s 50%\n")


def test_runs_are_shorter_at_a_higher_speed(lab: Lab) -> None:
    found = lab.plan("replay", "--trace", "a.txt", "--scales", "1,2/3,0.1", *SHORT)
    assert [run.name for run in found.runs] == [
        "serial-default-1-1", "serial-default-2_3-1", "serial-default-0.1-1",
    ]  # fmt: skip
    assert found.column("speed") == ["1", "1.5", "10"]
    assert found.column("seconds") == ["20", "13.3333333333333", "2"]
    assert found.column("takes") == ["21s", "14.3333333333333s", "3s"]


def test_names_of_runs_have_those_of_several_traces(lab: Lab) -> None:
    words = ["--trace", "a.txt", "--trace", "b,c{d}.txt", "--scales", "1/2"]
    found = lab.plan("replay", *words, *SHORT)
    names = ["serial-default-a-1_2-1", "serial-default-b_c_d_-1_2-1"]
    assert [run.name for run in found.runs] == names
    assert f" -T {lab.folder}/b\\,c{{{{d}}.txt,scale=1/2,loop=no " in found.runs[1].line("main")


def test_trace_may_not_change(lab: Lab) -> None:
    call = ["replay", "--trace", "a.txt", "--scales", "1/2", *SHORT]
    before = lab.plan(*call).head
    (lab.folder / "a.txt").write_text("0 40%\n20s 50%\n")
    changed = [words for words in lab.plan(*call).head if words not in before]
    assert [words[-1].split()[0] for words in changed] == ["a"]


def test_only_the_comment_at_the_beginning_is_shown() -> None:
    data = b"# A load\n# of a half.\n0 50%\n# no\n20s 50%\n"
    assert Trace("", "", data, 20).about == "A load of a half."
    assert Trace("", "", b"\x89\0", 20).about == ""


@pytest.mark.parametrize(
    ("file", "name"),
    [("x/a.txt", "a"), (".txt", ".txt"), ("half", "half"), ("b\udce9.txt", "b_"), ("é x", "___x")],
)
def test_traces_have_names_that_runs_can_have(file: str, name: str) -> None:
    assert name_of(file) == name


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--trace", "none"], "--trace: cannot read none: No such file or directory"),
        (["--trace", "a.txt", "--trace", "./a.txt"], "duplicate trace name a"),
        (["--trace", "a.txt", "--scales", "0"], "--scales: the factor must be"),
        (["--trace", "a.txt", "--scales", "1/0"], "--scales: '1/0' divides by zero"),
        (["--trace", "point"], "--trace: point: its length is 0: use a longer trace"),
        (["--trace", "broken"], "broken"),
    ],
)
def test_traces_are_checked(lab: Lab, words: list[str], message: str) -> None:
    (lab.folder / "point").write_text("0 50%\n")
    (lab.folder / "broken").write_text("0 5000%\n")
    assert message in lab.refusal("replay", *words, *SHORT)
