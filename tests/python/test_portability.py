# SPDX-License-Identifier: Apache-2.0
"""ssprofile portability: settings, plans, and what is kept of earlier results."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from showstopper import cli
from showstopper.profile import options, portability
from showstopper.text import UserError

KERNELS = "benchmark,class,lower_is_better\\ngcd,integer,false\\nbits,integer,false\\n"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make stand-ins: ssbatch prints its words and its plan."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in {
        "ssprofile": f"printf '{KERNELS}'",
        "showstopper": "",
        # --list succeeds: no run has failed.
        "ssbatch": f'[ "$1" != --list ] || exit 0; echo "$*" >>{tmp_path}/words; '
        f'cat >{tmp_path}/plan; env >{tmp_path}/env; exit "${{STATUS:-0}}"',
    }.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("SHOWSTOPPER_PROGRAM", str(folder / "ssprofile"))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(*words: str) -> portability.Settings:
    return portability.Settings.of(options.parse("portability", ["demo", *words]))


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        ([], {"probe": 2, "base": 4.8, "calibration": 7.2, "target": 9.6}),
        (["--quick"], {"probe": 2, "base": 1.8, "calibration": 3.6, "target": 3.6}),
        (["--method", "search", "--seconds", "2"],
         {"probe": 2, "base": 16.8, "calibration": 67.2, "target": 33.6}),
    ],
)  # fmt: skip
def test_plan_states_durations(
    words: list[str], runs: dict[str, float], programs: Path
) -> None:
    chosen = settings("--kernels", "gcd,bits", *words)
    lines = [shlex.split(one) for one in portability.plan_demo(chosen, "", False)]
    found = {words[1]: float(words[3][:-1]) for words in lines if words[0] == "run"}
    assert found == pytest.approx(runs)


def test_plan_has_the_options(programs: Path) -> None:
    words = "--throttle load --setting 1/4 --quantum 30m --kernels all --cpu 0 --repetitions 3"
    lines = [*portability.plan_demo(settings(*words.split()), "5%", True)]
    base, target = (shlex.split(one) for one in lines if "--time" in one)
    assert base[base.index("--under") + 1] == "duty=25%"
    assert base[base.index("--min-stable") + 1] == "1%" and "--min-stable" not in target
    assert target[target.index("--under") + 1] == "without,load={setting.1}%"
    assert target[target.index("--benchmarks") + 1] == "gcd,bits"
    for line in base, target:
        assert line[line.index("--unstable") + 1] == "5%"
        assert line[line.index("--quantum") + 1] == "0.03s"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--kernels int65", "--kernels: 'int65' is not one of: gcd bits"),
        ("--kernels gcd,gcd", "--kernels: name at least two"),
        ("--kernels ,", "--kernels requires a value: see --help"),
        ("--repetitions x", "--repetitions: 'x' is not a whole number: use digits only"),
        ("--setting 0.5%", "--setting: 0.5%: must be at least 1% and less than 100%"),
        ("--setting x", "--setting: 'x' is not a load: it must be between 0 and 1"),
        ("--kernels all --throttle quota --period 200m", "--period: 0.2 s is more than a tenth"),
        ("--cpu 4095", "--cpu: CPU 4095 is not available here"),
    ],
)
def test_invalid_settings_are_refused(words: str, said: str, programs: Path) -> None:
    with pytest.raises(UserError) as error:
        settings(*words.split())
    assert str(error.value).startswith(said)


@pytest.mark.parametrize(
    ("status", "ended", "said"),
    [(1, 1, "some runs were refused or not carried out"), (125, 125, "the study cannot continue")],
)
def test_status_of_ssbatch_decides(
    status: int, ended: int, said: str, programs: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("STATUS", str(status))
    words = ["ssprofile", "portability", "demo", "--kernels", "all", "--others", "100%"]
    assert cli.main(words) == ended
    assert said in capsys.readouterr().err
    assert (programs / "words").read_text().startswith(f"--others 100% {programs}/portability-res")
    assert (programs / "plan").read_text().startswith("plan 1\nset experiment=portability\n")


# Results


def compare(folder: Path, targets: Sequence[str], **more: object) -> None:
    """Compare profiles by stand-ins of the other commands."""

    def ssprofile(words: Sequence[str]) -> int:
        made = Path(words[words.index("-o") + 1])
        made.mkdir()
        (made / "made").touch()
        if words[0] == "compare":
            (made / "compare.json").write_text("{}")
            (made / "ratios.csv").write_text("target\n" + "".join(f"{one}\n" for one in targets))
        print(words[0], "one\n\ntwo\n\nthree")
        return int(str(more.get("status", 0)))

    request = options.parse("portability", ["-o", str(folder), "base", *targets])
    portability.compare(request, ssprofile, request.words)


def test_results_of_an_earlier_call_are_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    compare(folder, ["t:without", "t:quota 5"])
    assert (folder / "predict-t-quota-5/made").exists()
    (folder / "text/notes.txt").write_text("mine")
    (folder / "predict-mine").mkdir()
    compare(folder, ["t:without"])
    assert not (folder / "predict-t-quota-5").exists()
    assert sorted(os.listdir(folder / "text")) == [
        "compare.txt", "notes.txt", "predict-t-without.txt"
    ]  # fmt: skip
    assert (folder / "predict-mine").exists() and not (folder / "compare.new").exists()


def test_failed_comparison_keeps_earlier_results(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    with pytest.raises(UserError, match="^cannot compare the profiles, for the reasons above"):
        compare(folder, ["a"], status=2)
    assert [*folder.iterdir()] == [folder / "compare.new"]
    compare(folder, ["a"])
    with pytest.raises(UserError):
        compare(folder, ["b"], status=2)
    assert (folder / "predict-a/made").exists() and (folder / "text/predict-a.txt").exists()


@pytest.mark.parametrize("existed", [False, True])
def test_failed_comparison_removes_only_its_own_folder(tmp_path: Path, existed: bool) -> None:
    folder = tmp_path / "results"
    if existed:
        folder.mkdir()
    request = options.parse("portability", ["-o", str(folder), "base", "a"])
    with pytest.raises(UserError):
        portability.compare(request, lambda words: 2, request.words)
    assert folder.exists() == existed
