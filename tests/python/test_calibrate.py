# SPDX-License-Identifier: Apache-2.0
"""ssprofile calibrate, on machines that are formulas. figures.csv has results of R, see make.R."""

from __future__ import annotations

import csv
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from showstopper import children, cli
from showstopper.profile import bench, results
from showstopper.profile.match import match
from showstopper.profile.search import Closed, Verdict, cost, search
from showstopper.text import UserError

DATA = Path(__file__).parents[1] / "data/profile"
HEADING = "machine,limits,benchmark,lower_is_better,class,repetition,result\n"

# The published search


def distance_from(optimum: int) -> Callable[[int], float]:
    return lambda setting: abs(setting - optimum)


def best_of(costs: dict[int, float]) -> int:
    return min(costs, key=costs.__getitem__)


def test_search_tests_the_published_settings() -> None:
    """OpenTuner's moves for the cost |setting - 6263|."""
    published = "10000 7750 5500 3250 6625 6062 5499 6343 6624 6202 6061 6272 6342 6237 6290 6263"
    costs = search(distance_from(6263))
    assert [*costs] == [int(one) for one in published.split()]
    assert best_of(costs) == 6263


@pytest.mark.parametrize(
    ("optimum", "best"), [(6353, 6352), (7111, 7111), (7009, 7009), (5465, 5465), (7116, 7116)]
)
def test_search_leads_to_the_published_quotas(optimum: int, best: int) -> None:
    """A step of exactly 2250 does not lead to three of them."""
    assert best_of(search(distance_from(optimum))) == best


@pytest.mark.parametrize("optimum", range(0, 12001, 150))
def test_search_stays_within_its_range(optimum: int) -> None:
    costs = search(distance_from(optimum))
    assert all(1000 <= setting <= 10000 for setting in costs)
    assert abs(best_of(costs) - min(max(optimum, 1000), 10000)) <= 20


def test_search_ends_if_the_cost_is_constant() -> None:
    costs = search(lambda setting: 1)
    assert best_of(costs) == 10000 and len(costs) <= 16


def test_cost_grows_with_the_distance_of_the_ratio_from_one() -> None:
    assert [cost(1), cost(1.25), cost(0.75)] == [1, 1.25, 1.25]


# The closed method


def calibrate(
    speed: float, power: float, half: float, jump: Callable[[float], float] = lambda setting: 0
) -> tuple[Verdict, Closed, int]:
    """Calibrate a target whose speed is proportional to a power of the setting."""
    closed, verdict, tests = Closed(), Verdict.TEST, 0
    while verdict == Verdict.TEST:
        at = closed.setting
        verdict = closed.add(math.log(speed) + power * math.log(at) + jump(at), half)
        tests += 1
    return verdict, closed, tests


@pytest.mark.parametrize("power", [0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4])
def test_closed_method_takes_at_most_five_tests(power: float) -> None:
    verdict, closed, tests = calibrate(2.5, power, 0.004)
    assert verdict == Verdict.DONE and tests <= 5
    assert abs(math.log(2.5) + power * math.log(closed.setting)) <= 0.004


def test_closed_method_takes_two_tests_for_a_proportional_throttle() -> None:
    verdict, closed, tests = calibrate(2.5, 1, 0.001)
    assert (verdict, tests) == (Verdict.DONE, 2)
    assert closed.setting == pytest.approx(0.4, abs=1e-12)


def test_closed_method_refuses_a_target_slower_than_the_base() -> None:
    assert calibrate(0.9, 1, 0.002)[::2] == (Verdict.SLOWER, 1)
    verdict, closed, _ = calibrate(0.999, 1, 0.002)
    assert verdict == Verdict.DONE and closed.setting == 1


def test_wide_interval_requires_more_repetitions() -> None:
    closed = Closed()
    assert closed.add(0.005, 0.02) == Verdict.REPEAT
    assert closed.add(0.005, math.nan) == Verdict.REPEAT
    assert closed.setting == 1 and not closed.settings
    # The interval is wide but excludes 0, so the next setting is tested.
    assert closed.add(0.5, 0.02) == Verdict.TEST
    assert closed.add(0.005, 0.009) == Verdict.DONE


def test_diverging_calibration_fails() -> None:
    assert calibrate(2, 0, 0.001)[0] == Verdict.FAILED
    assert calibrate(1000, 1, 0.001)[0] == Verdict.FAILED


def test_closed_method_finds_the_nearest_setting_of_a_throttle_that_jumps() -> None:
    verdict, closed, _ = calibrate(2.5, 1, 0.002, lambda at: 0.01 if at > 0.4 else -0.005)
    assert verdict == Verdict.NEAR
    nearest = min(map(abs, closed.logs))
    assert nearest <= 0.008 and abs(closed.logs[closed.nearest]) == nearest


def test_calibration_fails_if_no_setting_is_within_the_range() -> None:
    verdict = calibrate(2.5, 1, 0.002, lambda at: 0.02 if at > 0.4 else -0.02)[0]
    assert verdict == Verdict.FAILED


# The match of two machines


def profile(path: Path, *values: list[float], lower: str = "false") -> results.Profile:
    """Return a profile whose benchmarks a, b, c ... have these results."""
    rows = [
        f"m,without,{name},{lower},cpu,{number},{value!r}\n"
        for name, each in zip("abcdefgh", values) for number, value in enumerate(each)
    ]
    path.write_text(HEADING + "".join(rows))
    return results.read(str(path)).profiles[0]


@pytest.mark.parametrize("limits", ["without", "quota-3900"])
def test_match_agrees_with_r(limits: str) -> None:
    profiles = {one.name: one for one in results.read(f"{DATA}/results.csv").profiles}
    with open(DATA / "figures.csv", encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["limits"] == limits]
    of_r = {row["name"]: float(row["value"]) for row in rows}
    found = match(profiles["base:without"], profiles[f"target:{limits}"])
    near = [(found.log_mean, "log_mean"), (found.half, "log_half"), (found.time_mean, "time_mean"),
            (found.least, "least"), (found.most, "most")]  # fmt: skip
    for value, name in near:
        assert value == pytest.approx(of_r[name], rel=5e-11), name


def test_scatter_comes_from_the_extreme_ratios(tmp_path: Path) -> None:
    """Ratios in between do not count."""
    base = profile(tmp_path / "a", [10, 10], [10, 10], [10, 10])
    here = profile(tmp_path / "b", [10, 10], [20, 20.1], [10, 18])
    found = match(base, here)
    assert (found.least, found.most) == (1, pytest.approx(2.005))
    assert found.scatter == pytest.approx(here.benchmarks["spread"].iloc[1] / 2)


def test_equal_results_match_exactly(tmp_path: Path) -> None:
    """A mean that is off by a rounding error would be outside of its interval."""
    for value in (0.1, 0.7, 123.456, 1e-9, 3e11):
        base = profile(tmp_path / "a", [value] * 3, lower="true")
        found = match(base, profile(tmp_path / "b", [value] * 7, lower="true"))
        assert (found.log_mean, found.half) == (0, 0)
        assert base.benchmarks["spread"].iloc[0] == 0


def test_single_repetition_has_no_interval(tmp_path: Path) -> None:
    once = profile(tmp_path / "a", [10.0], [20.0])
    assert math.isnan(match(once, once).half)


def test_ratios_must_be_finite(tmp_path: Path) -> None:
    small, large = profile(tmp_path / "a", [1e-300] * 2), profile(tmp_path / "b", [1e300] * 2)
    for base, here in ((small, large), (large, small)):
        with pytest.raises(UserError, match="^the ratio of a benchmark is not a finite number$"):
            match(base, here)


# The command


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a stand-in for `ssprofile measure` whose benchmark a has the speed SPEED * setting."""
    program = tmp_path / "ssprofile"
    program.write_text(f"#!{sys.executable} -IS\n" + '''
import os, pathlib, sys
words = dict(zip(sys.argv[1:-1], sys.argv[2:]))
def print_and_exit(text): print(text), sys.exit()
if "--list" in sys.argv:
    print_and_exit("benchmark,class,lower_is_better\\na,cpu,false\\nb,cpu,false")
if "--describe" in sys.argv:
    print_and_exit('{"cpu": 1, "version": "two", "settings": []}')
folder, count = pathlib.Path(sys.argv[-1]), int(words["--repetitions"])
with open(f"{folder.parents[2]}/calls", "a") as stream:
    print(words["--under"], count, words["--benchmarks"], file=stream)
speed = float(os.environ["SPEED"]) * float(words["--under"].split("=")[1][:-1]) / 100
rows = [f"here,x,a,false,cpu,{number},{speed:.6g}\\n" for number in range(count)]
heading = "machine,limits,benchmark,lower_is_better,class,repetition,result\\n"
(folder / "results.csv").write_text(heading + "".join(rows))
if "b" in words["--benchmarks"].split(","):
    print("ssprofile: warning: skipping b under x in further repetitions: why", file=sys.stderr)
print("ssprofile: warning: quota", file=sys.stderr)
''')
    program.chmod(0o755)
    monkeypatch.setenv("SHOWSTOPPER_PROGRAM", str(program))
    monkeypatch.setenv("SPEED", "100")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return tmp_path


def base_of(folder: Path, value: float, *rows: str) -> Path:
    lines = [f"m,without,{name},false,cpu,{number},{value}" for name in "ab" for number in "12"]
    (folder / "base.csv").write_text(HEADING + "".join(f"{one}\n" for one in [*lines, *rows]))
    return folder / "base.csv"


def call(*words: object, status: int = 0) -> None:
    assert cli.main(["ssprofile", "calibrate", *map(str, words)]) == status


def test_calibration_finds_the_setting(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = base_of(machine, 40)
    call("--base", base, "--throttle", "load", "--quantum", "20m", "-o", machine / "out")
    document = json.loads((machine / "out/calibrate.json").read_text())
    assert document["calibrated"][0]["setting"] == pytest.approx(0.4)
    assert [test["setting"] for test in document["calibration"]] == [1, pytest.approx(0.4)]
    said = capsys.readouterr()
    assert said.out.startswith("setting 40.00% (mean ln ratio +0.00000 +- 0.00000, 2 tests)\n- ")
    assert "--cpus 1 -l 40.00% -f exact -d stagger -D 20m -c deadbeat -- APPLICATION" in said.out
    # A benchmark that fails in its first run is left out, and a warning is printed once.
    assert said.err.count("b is left out: why") == said.err.count("warning: quota") == 1
    calls = (machine / "calls").read_text().splitlines()
    assert calls[0] == "load=100% 3 a,b" and calls[1].endswith("% 3 a") and len(calls) == 2
    assert not [*(machine / "temporary").iterdir()]


def test_failures_are_written(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("--base", base_of(machine, 110), "-o", machine / "out", status=125)
    document = json.loads((machine / "out/calibrate.json").read_text())
    assert document["findings"][0].startswith("No setting was found: this machine is slower than")
    assert document["calibrated"] == [] and len(document["calibration"]) == 1


@pytest.mark.parametrize(
    ("rows", "words", "said"),
    [
        ((), ["--benchmarks", "c"], "the base has no stable benchmark of those chosen"),
        (("m,without,a,true,cpu,3,4",), ["--benchmarks", "a"], "disagree on lower_is_better"),
        (("m,without,a,false,cpu,3,44",), ["--spread", "1%", "--benchmarks", "a"],
         "a is left out: unstable on the base: its mean is uncertain by 13.9% (95% confidence, 3 "),
        (("m,without,a,false,cpu,3,x",), [], "base.csv:6: the result is not a positive number"),
    ],
)  # fmt: skip
def test_unusable_benchmarks_are_named(
    machine: Path, rows: tuple[str], words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    base = str(base_of(machine, 40, *rows))
    status = cli.main(["ssprofile", "calibrate", "--base", base, *words])
    assert status == (0 if not words else 125)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "name the base with --base: see --help"),
        ("--base absent", "--base: absent: No such file or directory"),
        ("x --base y", "unexpected argument 'x'"),
        ("--base x --repetitions 65", "'65' is out of range: use 1 to 64"),
        ("--base x --quantum 1m", "'1m' is out of range: use 2ms to 10s"),
        ("--base x --period 10", "'10' has no unit"),
    ],
)
def test_invalid_calls_are_refused(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    call(*words.split(), status=125)
    assert said in capsys.readouterr().err


def test_foreign_battery_is_not_a_missing_file(
    machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise the message would show whether the target of the link exists."""
    if os.geteuid() != 0:
        pytest.skip("root: files of two users are needed")
    folder = machine / "theirs"
    folder.mkdir()
    base_of(machine, 40).rename(folder / "results.csv")
    (folder / "battery.txt").symlink_to("/none/file")
    os.lchown(folder / "battery.txt", 20001, 20001)
    os.lchown(folder, 20001, 20001)
    call("--base", folder, status=125)
    assert f"or name the commands to run: --battery {folder}" in capsys.readouterr().err


def test_patterns_select_names_with_special_characters() -> None:
    # pylint: disable=protected-access
    assert bench._pattern("a,b[*]\\") == "a?b????"
    assert len(os.fsencode(bench._pattern("ä" * 300))) < 255


# Children


def test_children_see_the_environment_of_the_caller() -> None:
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); from showstopper import children\n"
        "children.set_own('ADDED', 'x'); children.set_own('CHANGED', 'x')\n"
        "assert os.environ['ADDED'] == os.environ['CHANGED'] == 'x'\n"
        "print(sorted(children.environment().items()))"
    )
    for given in ({}, {"LC_CTYPE": "C"}, {"LC_CTYPE": "C.UTF-8"}, {"LC_ALL": "C"}):
        caller = {"PATH": "/bin", "CHANGED": "before", **given}
        command = [sys.executable, "-IXutf8", "-c", code, str(Path(children.__file__).parents[1])]
        env = {**caller, "SHOWSTOPPER_PROGRAM": "mine"}
        found = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        assert found.stdout == f"{sorted(caller.items())}\n"


def test_signals_before_and_while_a_child_runs_are_passed_on() -> None:
    code = "import signal, sys; signal.signal(15, lambda *_: sys.exit(7)); print(flush=1)\n"
    code += "signal.pause()"
    with children.Signals() as signals:
        for is_early in (True, False):
            if is_early:
                os.kill(os.getpid(), signal.SIGINT)
            child = signals.start(
                [sys.executable, "-IS", "-c", code], stdout=subprocess.PIPE, text=True
            )
            if not is_early:
                assert child.stdout.readline() == "\n"
                os.kill(os.getpid(), signal.SIGTERM)
            child.communicate()
            assert child.returncode == (7 if not is_early else -signal.SIGINT)
    assert signals.arrived == [signal.SIGINT, signal.SIGTERM]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
