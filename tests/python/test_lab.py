# SPDX-License-Identifier: Apache-2.0
"""Plans of experiments: words, values, options, methods, and what a call may see and change."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import PACKAGE
from hypothesis import given
from hypothesis import strategies as st
from showstopper import installation
from showstopper.lab import QUESTIONS, accuracy, plan, values
from showstopper.lab.catalogue import Use, Workload
from showstopper.lab.methods import METHODS, Held
from showstopper.text import UserError

BUILD = Path(os.environ.get("SHOWSTOPPER_BUILD", "build"))
SSLAB = BUILD / "bin/sslab"
needs_build = pytest.mark.skipif(not SSLAB.exists(), reason="programs are not built")
words_of_people = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]))


def call(*words: object, **more: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([SSLAB, *map(str, words)], capture_output=True, **more)  # type: ignore


# Words of plans


@given(st.lists(words_of_people))
def test_words_of_a_line_are_preserved(words: list[str]) -> None:
    assert plan.split(plan.line(*words)) == words


@given(words_of_people)
def test_shells_read_quoted_words(word: str) -> None:
    if not re.search(r"[\x00-\x1f\x7f]", word):  # not every shell knows $'...'
        assert shlex.split(plan.quote(word)) == [word]


def test_escapes_are_bytes() -> None:
    assert plan.split(r"$'\303\251' $'\x41\t\e' $'a\'b'") == ["é", "A\t\x1b", "a'b"]


@pytest.mark.parametrize("text", ["'", '"a', "$'b", r"$'\0'"])
def test_open_quotes_and_null_bytes_are_refused(text: str) -> None:
    with pytest.raises(UserError):
        plan.split(text)


def test_two_runs_of_one_name_are_refused() -> None:
    runs = plan.Plan()
    assert [*runs.run("a/b", 1, {"x": 1}, ["main -- true"])][0] == "run a.b takes 1s x=1"
    assert [*runs.run("a/b", 1, {"x": 1}, ["main -- true"])] == []
    with pytest.raises(UserError, match="duplicate run name a.b"):
        [*runs.run("a.b", 2, {"x": 1}, [])]


def test_results_precede_later_messages() -> None:
    script = "from showstopper.text import tell\nprint('result')\ntell('message')"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=environment,
    )  # fmt: skip
    assert done.stdout == b"result\nmessage\n"


# Values


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (values.length, "0", "is not a time above 0"),
        (values.round_length, "100u", "too short: use at least 1ms"),
        (values.round_length, "2h", "too long"),
        (values.positive_load, "0", "is not a load above 0"),
        (values.count, "0", "too small"),
        (values.count, "1000001", "too large: use at most 1000000"),
        (values.whole, "x", "not a whole number"),
        (values.size, "0g", "is not a size"),
        (values.percent, "5x", "is not a percentage"),
        (values.Stairs, "5:9:1", "levels must go down"),
        (values.Stairs, "5:9", "is not HIGH:LOW:STEP"),
        (values.Stairs, "1:0:1/10000000", "more than 1000000 levels"),
        (values.list_of(values.count), ",", "a value is required"),
        (values.cpus, "0-x", "not a list of CPUs"),
        (values.cpus, "100000", "not a list of CPUs"),
        (values.cpus, "8000", "CPU 8000 is not available here"),
    ],
)
def test_invalid_values_are_refused(kind: values.Kind, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        kind(text)


# Options


def test_given_options_replace_those_of_quick_and_published() -> None:
    read = accuracy.parser().read
    assert read(["--quick"]).targets == [Fraction(1, 2)]
    assert read(["--quick", "--targets", "20"]).targets == [Fraction(1, 5)]
    both = read(["--quick", "--published"])
    assert (both.targets, both.settle, both.warmup) == ([Fraction(1, 3)], 0, 2)
    assert read(["--published"]).warmup == 180


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--targets"], "--targets requires a value"),
        (["--targets", ""], "--targets requires a value"),
        (["--targets", "20s"], "--targets: '20s' is not a load"),
        (["--none"], "--none: unknown option"),
        (["word"], "unexpected argument 'word': put the command after --"),
        (["--"], "-- requires a command"),
        (["--published", "--instances", "2"], "leave out --instances"),
    ],
)
def test_invalid_options_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        accuracy.parser().read(words)


def test_time_in_milliseconds_is_doubted(capsys: pytest.CaptureFixture[str]) -> None:
    accuracy.parser().read(["--warmup", "3m"])
    assert "--warmup: 3m is 3 milliseconds; use 3min for minutes" in capsys.readouterr().err


def test_numbers_with_leading_zeros_are_decimal() -> None:
    read = accuracy.parser().read(["--seconds", "08", "--rounds", "010"])
    assert (read.seconds, read.rounds) == (8, 10)


# Methods


def held(method: str, load: str, cpus: int, instances: int = 8, **more: float) -> Held:
    workload = Workload("x", "here/file", {"command": "true"})
    return Held(method, Use(workload), cpus, instances, values.load(load), "107m", **more)


@pytest.mark.parametrize(
    ("method", "load", "instances", "stands_for"),
    [
        ("default", "50", 8, None),
        ("1cdc", "50", 1, None),
        ("nbench", "12.5%", 1, 0.125),
        ("nbench", "55", 4, 0.5),
        ("nbench", "0.5625", 5, 0.625),  # 4.5 CPUs, which a product of floats may miss
        ("nbench", "1%", 1, 0.125),
    ],
)
def test_instances_stand_for_loads(
    method: str, load: str, instances: int, stands_for: float | None
) -> None:
    found = held(method, load, 8)
    assert (found.instances, found.stands_for) == (instances, stands_for)


def test_instances_fit_the_load_of_one() -> None:
    found = held("nbench-fit", "50", 8, one=0.1)
    assert (found.instances, found.stands_for) == (5, 0.5)
    with pytest.raises(UserError, match="load of one instance of x must be above 0"):
        held("nbench-fit", "50", 8, one=0)


@pytest.mark.parametrize("method", METHODS)
def test_options_of_methods_have_no_placeholder_of_ours(method: str) -> None:
    assert not {"{tau}", "{cdc}", "{pi}", "{geom}", "{realtime}"} & {
        word for word in held(method, "50", 2, one=0.5).options()
    }


# Programs


@needs_build
@pytest.mark.parametrize("name", QUESTIONS)
def test_every_experiment_has_help(name: str) -> None:
    done = call(name, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"Usage: sslab {name} ".encode())
    assert max(map(len, done.stdout.decode().splitlines())) <= 80


@needs_build
def test_questions_are_listed() -> None:
    listed = call().stdout.decode()
    assert [name for name in QUESTIONS if f"\n  {name} " not in listed] == []
    refused = call("nosuch")
    assert (refused.returncode, refused.stdout) == (125, b"")


@needs_build
def test_bytes_that_are_not_utf8_are_preserved(tmp_path: Path) -> None:
    program = os.fsencode(tmp_path) + b"/a\xff b"
    Path(os.fsdecode(program)).symlink_to("/bin/true")
    words = [SSLAB, "accuracy", "--plan", "--quick", "--methods", "default", "--name", "x", "--"]
    done = subprocess.run([*words, program], capture_output=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"'" + program + b"'" in done.stdout


def environment(tmp_path: Path, locale: dict[str, str], *before: object) -> dict[bytes, bytes]:
    """Return the environment that ssbatch gets, as all commands do."""
    programs = tmp_path / "programs"
    with contextlib.suppress(FileExistsError):
        programs.mkdir()
        for program in (BUILD / "bin").iterdir():
            (programs / program.name).symlink_to(program.resolve())
        (programs / "ssbatch").unlink()
        script = f"#!/bin/sh\nexec cat /proc/self/environ >{tmp_path}/environment\n"
        (programs / "ssbatch").write_text(script)
        (programs / "ssbatch").chmod(0o755)
    options = ["--bin", str(programs), "--others", "100%", "--methods", "default"]
    words = [*before, "accuracy", "--quick", *options, "-o", str(tmp_path / "results")]
    subprocess.run(words, env={"PATH": os.environ["PATH"], **locale}, capture_output=True)
    pairs = (tmp_path / "environment").read_bytes().split(b"\0")
    return dict(pair.partition(b"=")[::2] for pair in pairs if pair)


@needs_build
@pytest.mark.parametrize("locale", [{}, {"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8"}, {"LC_CTYPE": "C"}])
def test_measured_commands_get_the_environment_of_the_caller(
    tmp_path: Path, locale: dict[str, str]
) -> None:
    seen = environment(tmp_path, locale, SSLAB)
    assert seen.pop(b"PATH").startswith(os.fsencode(tmp_path / "programs") + b":")
    assert seen.pop(b"PWD", b"") in (b"", os.fsencode(os.getcwd()))  # of the shell of this test
    seen.pop(b"_", None)
    assert seen == {name.encode(): value.encode() for name, value in locale.items()}


@pytest.mark.parametrize("of_user", [False, True])
def test_data_are_found_where_pip_puts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_user: bool
) -> None:
    """`pip install --user` puts them below the base of the user, otherwise below the prefix."""
    packages = tmp_path / "user/lib/site-packages"
    module = packages / "showstopper/installation.py" if of_user else tmp_path / "other/a/b.py"
    monkeypatch.setattr(installation, "__file__", str(module))
    monkeypatch.setattr("site.getusersitepackages", lambda: str(packages))
    monkeypatch.setattr("site.getuserbase", lambda: str(tmp_path / "user"))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "prefix"))
    base = tmp_path / ("user" if of_user else "prefix")
    assert installation.experiments.__wrapped__() == base / "share/showstopper/experiments"
