# SPDX-License-Identifier: Apache-2.0
"""Plans of two commands that are compared."""

from __future__ import annotations

import re

import pytest
from lab_plans import Lab, Planned, needs_build

pytestmark = needs_build

URL = ["--metric", "http://localhost:9/"]  # nothing listens there
PORT = ["--metric", "http://localhost:{port}/", "--a", "x {port}", "--b", "y {port}"]
ALTERNATE = ["--order", "alternate"]
COMMANDS = ["--a", "sleep 1", "--b", "sleep 2"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--metric", "http"], "--metric: 'http' is not one of: throughput time URL"),
        (["--metric", "URL"], "--metric: URL: use the URL itself"),
        ([*URL, "--response", "throughput"], "--response throughput requires --closed"),
        ([*URL, "--response", "p95", "--rate", "50"],
            "--response p95: a run has 125 requests, and a percentile needs 200"),
        ([*URL, "--rate", "5", "--closed", "1"], "--rate cannot be combined with --closed"),
        ([*URL, "--response", "most"], "--response: 'most' is not one of: mean p50"),
        (["--rate", "5"], "--rate has no effect without a URL"),
        (["--response", "p95"], "--response has no effect without a URL"),
        ([*URL, "--iteration", "x"], "--iteration has no effect with a URL"),
        ([*URL, *ALTERNATE], "--order alternate: A and B run at the same time, each on a port"),
        ([*PORT, *ALTERNATE, "--seconds", "1s"],
            "--seconds: must be at least 1.5 s with --order alternate and services"),
        ([*PORT, *ALTERNATE, "--seconds", "3s", "--rate", "52", "--response", "p95"],
            "--response p95: a turn has 103 requests, and a percentile needs 200"),
        ([*PORT, "--b", "y", "--order", "beside"], "use {port} for it in --a, --b and the URL"),
        (["--order", "both"], "--order: 'both' is not one of: turn alternate beside"),
        (ALTERNATE, "--order alternate requires --iteration: without it"),
        (["--force"], "--force has no effect without --order beside"),
        (["--order", "beside", "--metric", "time"], "beside cannot be combined with --metric time"),
        ([*ALTERNATE, "--metric", "time"], "--metric time, which measures launches"),
        ([*ALTERNATE, "--iteration", "x", "--seconds", "0.9s"],
            "--seconds: must be at least 1 s with --order alternate"),
        ([*ALTERNATE, "--iteration", "x", "--at-most", "60s"],
            "--at-most: two pairs of processes that each have 15 turns take 1 min 1"),
        (["--iteration", "("], "--iteration: '(': "),
        (["--beside-warmup", "5s"], "--beside-warmup has no effect without --beside"),
        (["--metric", "time", "--seconds", "3s"], "--seconds has no effect with --metric time"),
        (["--b", "nothing 2"], "--b: nothing: no such program"),
        (["--a", "x 1 | cat"], "--a: '|' requires a shell: use sh -c '...'"),
        (["--b", "x && sleep 1"], "--b: '&&' requires a shell"),
        (["--a", "X=1 sleep 1"], "--a: X=1 is not a program: use env X=1 sleep 1"),
        (["--a", "  "], "--a: : no such program"),
        (["--until", "0"], "--until: must be more than 0"),
        (["--beside", "serial"], "--beside: 'serial' is not NAME@LOAD: use one such as serial@60%"),
        (["--beside", "nothing@60%"], "--beside: nothing: no such workload"),
        (["--at-most", "1M", "--seconds", "3s"],
            "--at-most: 20 blocks of four runs take 4 min 16 s"),
        (["--seconds", "2s", "--warmup", "2s"], "must exceed --warmup by at least 0.6 s"),
        (["x"], "unexpected argument 'x': use --a and --b; see --help"),
        (["--", "z"], "unexpected command: use --a and --b"),
        (["--quick"], "--quick: unknown option"),
    ],
)  # fmt: skip
def test_options_are_checked(lab: Lab, words: list[str], message: str) -> None:
    for name in ("x", "y", "ssbatch"):
        lab.write_program(name, "exit 9")
    assert message in lab.refusal("duet", "--a", "x", "--b", "y", *words)


def test_both_commands_are_required(lab: Lab) -> None:
    assert "--a and --b are required" in lab.refusal("duet", "--a", "true")


def test_places_require_two_cpus(lab: Lab) -> None:
    lab.set_cpus(1)
    refusal = lab.refusal("duet", *COMMANDS, "--order", "beside")
    assert "--order beside requires at least two CPUs" in refusal


def begins(found: Planned) -> list[str]:
    return [run.cells["side"] for run in found.runs if run.cells["position"] == "1"]


def paddings(found: Planned) -> list[int]:
    lines = [run.line("main", "program") for run in found.runs]
    return [int(re.findall(r" (\d+) sleep [12]$", line)[0]) for line in lines]


def test_orders_are_balanced_and_paddings_differ(lab: Lab) -> None:
    found = lab.plan("duet", *COMMANDS)
    assert len(found.runs) == 80
    first = begins(found)
    assert all(one != other for one, other in zip(first[::2], first[1::2]))
    assert len(set(first[::2])) == 2
    assert "".join(found.column("side")[:4]) in ("abba", "baab")
    assert len(set(paddings(found))) > 70
    assert max(paddings(found)) <= 4095
    # The first ten blocks compare A with A.
    assert [run.line("main")[-1] for run in found.runs[:40]] == ["1"] * 40
    assert lab.plan("duet", *COMMANDS).text == found.text
    assert begins(lab.plan("duet", *COMMANDS, "--seed", "2")) != first


def test_runs_are_as_long_as_the_time_permits(lab: Lab) -> None:
    """Forty blocks fit, with the 0.2 s that each run needs to start and end."""
    assert lab.plan("duet", *COMMANDS).runs[0].cells["takes"] == "3.2s"
    found = lab.plan("duet", *COMMANDS, "--at-most", "184s")  # 1.15 s a run
    assert found.runs[0].cells["takes"] == "1.15s"
    assert " --warmup 0.158s --duration 0.792s " in found.runs[0].line("main")


@pytest.mark.parametrize(
    ("division", "places"), [("chip", "0,1/2,3"), ("core", "0,3/1,4"), ("thread", "0/1")]
)
def test_side_by_side_commands_swap_places(lab: Lab, division: str, places: str) -> None:
    lab.set_cpus(6)
    lab.write_program("showstopper-platform", f"""\
[ "$*" != "--sets per-{division}" ] || exec echo {places}
echo "there is only one"; exit 1""")
    found = lab.plan("duet", *COMMANDS, "--order", "beside")
    first, second = places.split("/")
    at = [(run.line("main", "a"), run.line("main", "b")) for run in found.runs]
    assert sum(f" --cpus {first} " in a for a, _ in at) == 20
    assert all((f" --cpus {first} " in a) != (f" --cpus {first} " in b) for a, b in at)
    assert all((f" --cpus {second} " in a) != (f" --cpus {second} " in b) for a, b in at)


def test_cpus_that_cannot_be_divided_are_refused(lab: Lab) -> None:
    lab.set_cpus(3)
    lab.write_program("showstopper-platform", 'echo "there is only one"; exit 1')
    refusal = lab.refusal("duet", *COMMANDS, "--order", "beside")
    assert "cannot divide the CPUs into two places: there is only one" in refusal


def test_services_at_the_same_time_have_ports_and_folders(lab: Lab) -> None:
    lab.write_program("x", "")
    words = ["--metric", "http://localhost:{port}/{x}", *ALTERNATE, "--rate", "40"]
    found = lab.plan("duet", *words, "--a", "x {port} 5%", "--b", "x {port} {scratch} {y}")
    run = found.runs[-1]
    position = {side: run.line("main", f"service-{side}") for side in "ab"}
    port = {side: re.findall(r" x (\d+) ", line)[0] for side, line in position.items()}
    assert sorted(map(int, port.values())) == [min(map(int, port.values())) + n for n in (0, 1)]
    for side in "ab":
        assert run.line("main", f"requests-{side}").endswith(f"http://localhost:{port[side]}/{{{{x}}")
    assert position["a"].endswith(" 5%%")
    assert position["b"].endswith(" {scratch}/data/b-% {{y}")
    assert found.runs[0].line("main", "service-b").endswith(" 5%%")  # A and A


def test_background_is_warm_and_held_by_its_own_time(lab: Lab) -> None:
    found = lab.plan("duet", *COMMANDS, "--beside", "serial@1/3", "--beside-warmup", "2s")
    background = found.runs[0].line("beside", "background")
    assert " -f own -l 33.3333333333333% --settle 2.5s " in background
    assert found.runs[0].line("before", "warm") == "before warm -- sleep 2"
    assert " -f own -l 100% -c fixed -C duty=100% " in found.runs[0].line("main", "program")


def test_missing_package_is_reported_at_once(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("showstopper.installation.NEEDED", ("no_such_package",))
    refusal = lab.refusal("duet", *COMMANDS)
    assert "lacks no_such_package: install " in refusal
