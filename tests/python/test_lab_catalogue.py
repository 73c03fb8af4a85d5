# SPDX-License-Identifier: Apache-2.0
"""Workloads by name: the reader of catalogues, and the words and lines that a plan gets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from showstopper.lab import plan
from showstopper.lab.catalogue import Catalogue, Use
from showstopper.text import UserError

Capture = pytest.CaptureFixture[str]


def read(folder: Path, text: str) -> Catalogue:
    catalogue = Catalogue()
    (folder / "file").write_text(text)
    catalogue.read(str(folder / "file"))
    return catalogue


def words(folder: Path, text: str, role: str = "", memory: str = "") -> str:
    return plan.line(*Use(read(folder, text).find("a"), role, memory).words())


# Files


def test_adjacent_headings_share_the_lines_below_them(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "# comment\n\n[a b]\n[c/d]\ncommand = x  \r\n  y\n\tz\nmemory=1g\n[e]\ncommand = w\n",
    )
    assert [workload.name for workload in found] == ["a", "b", "c/d", "e"]
    for name in ("b", "c/d"):
        assert (found.find(name)["command"], found.find(name)["memory"]) == ("x y z", "1g")
    assert found.find("e")["memory"] == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]\ncomand = x\n", ":2: unknown key 'comand'"),
        ("[a]\ncommand = x\ncommand = y\n", ":3: command appears twice"),
        ("[a]\ncommand = x\njust words\n", ":3: the line is neither"),
        ("command = x\n", ":1: command appears before the first [NAME]"),
        ("[a]\ncommand =\n\n", ":2: command: the value is missing"),
        ("[a]\nrepeat = perhaps\n", ":2: repeat: 'perhaps'"),
        ("[a]\nwarmup = soon\n", ":2: warmup: 'soon'"),
        ("[a]\nstop = 3 weeks\n", ":2: stop: '3 weeks'"),
        ("[a]\nmemory = 0g\n", ":2: memory: '0g'"),
        ("[a]\nmemory = much\n", ":2: memory: 'much'"),
        ("[a]\npublished = h2\n", ":2: published: 'h2'"),
        ("[a]\nscratch = mine\n", ":2: scratch: 'mine' would be the folder of several instances"),
        ("[a]\nscratch = {scratch}.{side}\n", ":2: scratch: '{scratch}.{side}' contains itself"),
        ("[a]\nscratch = ../{side}/{instance}\n", ":2: scratch: '../{side}/{instance}' is not"),
        ("[]\n", ":1: [] has no name"),
        ("[a]\ncommand = x\n\n[b a]\n", ":4: the workload 'a' is in this file twice"),
        ("[a]\ncommand = x\n[a/../b c d!]\n", ":3: 'd!' cannot name a workload"),
        ("[a]\nnote = b\n\n[b]\ncommand = x\n", ":1: [a] has no command"),
        ("[a]\ncommand = x\n\n  y\n", ":4: the line begins with a blank"),
        ("[a]\ncommand = sh -c 'x\n", ":2: command: the quote ' at column 7 is not closed"),
        ("[a]\ncommand = x\0\n", ":2: the line contains a null byte"),
    ],
)
def test_invalid_lines_are_refused_with_their_number(
    text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as refused:
        read(tmp_path, text)
    assert str(refused.value).startswith(f"{tmp_path}/file{message}")


def test_the_first_file_that_defines_a_name_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / ".config/showstopper"
    own.mkdir(parents=True)
    texts = {
        own / "workloads": ("user", "env", "given"), tmp_path / "env": ("env", "given"),
        tmp_path / "given": ("given", "serial"), tmp_path / "late": ("late", "given"),
    }  # fmt: skip
    for file, names in texts.items():
        more = f"]\nneeds = no-{file.name}\ncommand = true\n"
        file.write_text("".join(f"[{name}{more}" for name in names))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHOWSTOPPER_CATALOGUE", str(tmp_path / "env"))
    found = Catalogue()
    found.read_all([str(tmp_path / "given"), str(tmp_path / "late")])
    wins = {"given": "given", "serial": "given", "late": "late", "env": "env", "user": "workloads"}
    assert {name: found.find(name).lacks for name in wins} == {
        name: f"no no-{file}" for name, file in wins.items()
    }
    assert [workload.name for workload in found][:3] == ["given", "serial", "late"]


def test_absent_files_are_named_with_their_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="--catalogue: /none: No such file or directory"):
        Catalogue().read_all(["/none"])
    monkeypatch.setenv("SHOWSTOPPER_CATALOGUE", "/none")
    with pytest.raises(UserError, match="SHOWSTOPPER_CATALOGUE: /none: No such file"):
        Catalogue().read_all([])


# Words


def test_words_count_iterations_and_name_the_command(tmp_path: Path) -> None:
    text = "[x a]\ncommand = x {name} {side} {instance} {memory}\niteration = ^done{2} '(.)'$\n"
    text += "memory = 1g\nstop = 10\n"
    before = "--iteration '^done{{2} '\\''(.)'\\''$' --grace 10s -- x a"
    assert words(tmp_path, text) == f"{before} alone % 1g"
    assert words(tmp_path, text, "background", "2M") == f"{before} background % 2M"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", "--repeat -- x"),
        ("repeat = yes", "--repeat -- x"),
        ("repeat = no", "-- x"),
        ("iteration = y", "--iteration y -- x"),
        ("iteration = y\nrepeat = yes", "--iteration y --repeat -- x"),
    ],
)
def test_workloads_without_counted_iterations_are_repeated(
    more: str, expected: str, tmp_path: Path
) -> None:
    assert words(tmp_path, f"[a]\ncommand = x\n{more}\n") == expected


def test_literal_braces_and_percent_signs_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_TEST", "1%{run}")
    found = words(tmp_path, "[a]\ncommand = x%{record}{a $LAB_TEST/$LAB_TESTS. $x {scratch}/$\n")
    expected = "--repeat -- 'x%%{{record}{{a' '1%%{{run}/.' '$x' '{scratch}/data/alone-%/$'"
    assert found == expected


def test_percent_sign_of_a_typed_command_is_the_index() -> None:
    made = Catalogue()
    made.define("a", ["x%{record}", "{instance}", "$HOME", "{work}"], "", False)
    typed = Use(made.find("a")).words()
    assert typed == ["--repeat", "--", "x%{{record}", "%", "$HOME", "{{work}"]


def test_setup_runs_in_the_folder_of_each_instance(tmp_path: Path) -> None:
    text = "[a]\ncommand = x {scratch}\nscratch = i{instance}.{side}\n"
    found = read(tmp_path, f"{text}setup = f() {{{{ :; }} # $PATH 5% {{scratch}}\n").find("a")
    assert Use(found).words() == ["--repeat", "--", "x", "{scratch}/data/i%.alone"]
    lines = [*Use(found, "fg").folders(11)]
    script = 'mkdir -p -- "$1" && cd -- "$1" || exit; f() {{{{ :; } # $PATH 5% '
    folder = "{scratch}/data/i00.fg"
    assert plan.split(lines[0]) == ["before", "--", "sh", "-c", script + folder, "sh", folder]
    plain = Use(read(tmp_path, "[a]\ncommand = x\n").find("a"))
    assert [*plain.folders(1)] == ["before -- mkdir -p '{scratch}/data/alone-0'"]


def test_calibrated_work_is_a_value_of_the_study(tmp_path: Path) -> None:
    text = "[c/seri.al]\ncommand = ssburn {name} --work {work}\n"
    workload = read(tmp_path, text).find("c/seri.al")
    plain, large = Use(workload), Use(workload, memory="1g")
    assert plain.words()[2:] == ["ssburn", "seri.al", "--work", "{work-seri_al}"]
    command = "ssburn seri.al --work {work-seri_al-1g} --memory 1g"
    assert large.words()[2:] == command.split()
    once = "match='^# work (.+)$' -- ssburn seri.al --iterations 0"
    assert plain.once() == [f"once work-seri_al {once}"]
    assert large.once() == [f"once work-seri_al-1g {once} --memory 1g"]
    assert Use(read(tmp_path, "[a]\ncommand = x\n").find("a")).once() == []


# What a machine lacks


@pytest.mark.parametrize(
    ("value", "text", "lacks"),
    [
        ("/none/file", "no-program-1 x\nneeds = sh $LAB_NONE $LAB_TEST / no-program-2 no-program-1",
         "$LAB_NONE is not set, no file /none/file, no no-program-2, no no-program-1"),
        ("", "'no program'", ""),
        ("no-program-3", "sh\nneeds = $LAB_TEST", ""),
        ("4", "sh\nneeds = $LAB_TEST", ""),
        ("", "sh\nneeds = $LAB_TEST x$LAB_TEST", "$LAB_TEST is not set, no x"),
    ],
)  # fmt: skip
def test_missing_programs_files_and_variables_are_listed(
    value: str, text: str, lacks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_TEST", value)
    assert read(tmp_path, f"[a]\ncommand = {text}\n").find("a").lacks == lacks


def test_list_fits_in_80_columns(tmp_path: Path) -> None:
    note = "0123456789 123456789 123456789 123456789 123456789"
    text = "[a]\ncommand = sh\n[b]\ncommand = no-program\nnote = unfit: x\n[c]\ncommand = sh\n"
    found = read(tmp_path, f"{text}note = {note}\n")
    assert [*found.list()] == [
        "a                            ready",
        "b                            missing  no no-program; unfit",
        "c                            ready    0123456789 123456789 123456789 12345678...",
    ]
    assert [workload.unfit for workload in found] == ["", "x", ""]


@pytest.mark.parametrize(
    ("stand_ins", "chosen", "said"),
    [
        ([], ["ready"], "suite/gone is left out, because it cannot run here: no no-program"),
        (["mine", "other"], ["ready", "mine"], "no no-program; mine represents it"),
    ],
)
def test_stand_ins_represent_what_cannot_run(
    stand_ins: Sequence[str], chosen: Sequence[str], said: str, tmp_path: Path, capsys: Capture
) -> None:
    text = "[ready]\ncommand = sh\n[suite/gone]\ncommand = no-program\n"
    found = read(tmp_path, f"{text}[mine other]\ncommand = sh\npublished = suite/gone\n")
    assert [*found.represent(["ready", "suite/gone"], stand_ins)] == chosen
    assert said in capsys.readouterr().err
