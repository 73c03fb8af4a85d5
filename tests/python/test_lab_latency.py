# SPDX-License-Identifier: Apache-2.0
"""Plans of studies of response times, and the options of all studies of services."""

from __future__ import annotations

import pytest
from lab_plans import Lab, needs_build

pytestmark = needs_build

URL = ["--service", "http://localhost/"]


@pytest.fixture(autouse=True)
def use_two_cpus(lab: Lab) -> None:
    lab.set_cpus(2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--service", "apache"], "--service: 'apache' is not a service: use serve, mediawiki or"),
        (["--service", "ftp://localhost/"], "use serve, mediawiki or a URL"),
        (URL, "--loads, --rates or --steps is required"),
        (["--rates", "0"], "--rates: '0' is not a rate: use requests per second"),
        (["--rates", "5", "--steps", "140:5:2s"], "--rates cannot be combined with --steps"),
        (["--steps", "140:5:2s", "--seconds", "9"], "--seconds has no effect with --steps"),
        (["--loads", "20%", "--rates", "5"], "--rates has no effect with --loads"),
        (["--loads", "20%", "--duties", "50%"], "--duties has no effect with --loads"),
        (["--loads", "20%", "--when-full", "drop"], "--when-full has no effect with --loads"),
        ([*URL, "--rates", "5", "--duties", "50%"], "--duties: cannot throttle the service"),
        (["--attach", "12"], "--attach is for a URL only"),
        ([*URL, "--rates", "5", "--attach", "1,x"], "--attach: '1,x' is not a list of pids"),
        ([*URL, "--rates", "5", "--on", "0"], "--on and --workers require a service"),
        ([*URL, "--rates", "5", "--workers", "2"], "--on and --workers require a service"),
        (["--wiki", "x"], "--wiki requires --service mediawiki"),
        ([*URL, "--rates", "5", "--work", "20m"], "--work has no effect without --service serve"),
        (["--service", "mediawiki", "--spread", "exponential"], "--spread has no effect without"),
        (["--demands", "p95"], "--demands: 'p95' is not a demand"),
        (["--demands", "p0=1s"], "'p0=1s': the percentile must be above 0 and at most 100"),
        (["--demands", "mean=1s,p95=1x"], "--demands: '1x' has an unknown unit"),
        (["--demands", "mean=0s"], "--demands: '0s' is not a time above 0"),
        (["--arrival", "odd"], "--arrival: 'odd' is not one of: "),
        (["--", "true"], "unexpected command 'true': name the service with --service"),
    ],
)
def test_options_are_checked(lab: Lab, words: list[str], message: str) -> None:
    assert message in lab.refusal("latency", *words)


@pytest.mark.parametrize("steps", "140:0:2s 1..2:3:1s .:5:2s 0.0:5:2s 140:5 140:5:2s:1".split())
def test_steps_are_checked(lab: Lab, steps: str) -> None:
    refusal = lab.refusal("latency", "--steps", steps)
    assert refusal == f"--steps: '{steps}' is not MAX:STEP:TIME: use one such as 140:5:2s"


def test_steps_are_exact(lab: Lab) -> None:
    found = lab.plan("latency", "--steps", "10.5:.5:2s", "--duties", "1/2", "--demands", "none")
    assert [run.name for run in found.runs] == ["serve-d50-steps-1"]
    assert (found.column("seconds"), found.column("takes")) == (["42"], ["45s"])
    steps = " --profile step --max 10.5 --step .5 --hold 2s "
    assert steps in found.runs[0].line("main", "requests")


def test_rates_are_combined_with_duties_and_demands(lab: Lab) -> None:
    found = lab.plan("latency")
    assert len(found.runs) == 40
    assert found.column("demand").count("p95=1s") == 4
    run = next(run for run in found.runs if run.name == "serve-d25-r10-1")
    assert run.cells["takes"] == "68s"
    warmup = run.line("before", "warmup")
    assert " --rate 10 --duration 5s --arrival poisson --seed 2 " in warmup
    assert " --rate 10 --duration 60s --record {record} " in run.line("main", "requests")
    assert " -l 25% -c fixed -C duty=25% " in run.line("beside", "service")
    found = lab.plan("latency", "--service", "mediawiki", "--quick")
    assert found.column("rate") == ["1", "3", "6"] * 2


def test_loads_are_held_by_the_rate(lab: Lab) -> None:
    times = ["--warmup", "2s", "--seconds", "8s"]
    found = lab.plan("latency", "--loads", "20,60%", *times, "--on", "1")
    assert [run.name for run in found.runs] == ["serve-d100-l20-1", "serve-d100-l60-1"]
    run = found.runs[1]
    assert (run.cells["takes"], run.cells["load"], run.cells["method"]) == ("16s", "0.6", "rate")
    held = " -l 60% --episodes 1 --settle 2s --duration 10s --cpus 1 --of pid:{server.pid} "
    assert held in run.line("main", "requests")
    assert not run.has("beside", "service") and not run.has("before")
    assert " taskset -c 1 ssburn serve --listen 0 --workers 1 " in run.line("beside", "server")
    found = lab.plan("latency", *URL, "--loads", "20%")
    requests = found.runs[0].line("main", "requests")
    assert " -l 20% --episodes 6 --settle 5s --duration 90s --record " in requests


def test_demand_without_a_unit_is_in_seconds(lab: Lab) -> None:
    found = lab.plan("latency", "--rates", "5", "--duties", "100%", "--demands", "mean=1")
    assert " --capacity mean=1s " in found.runs[1].line("main", "requests")


def test_service_of_a_url_is_throttled_by_its_pids(lab: Lab) -> None:
    found = lab.plan("latency", *URL, "--rates", "5", "--demands", "none")
    assert [run.name for run in found.runs] == ["url-d100-r5-1"]
    assert not found.runs[0].has("beside", "service")
    assert " ssload " in found.runs[0].line("beside", "load")
    attached = [*URL, "--rates", "5", "--demands", "none", "--attach", "12,34", "--duties", "50%"]
    throttle = lab.plan("latency", *attached).runs[0].line("beside", "service")
    assert " instances=2 -- showstopper " in throttle and " --attach 12,34 -f own " in throttle


def test_own_wiki_is_removed(lab: Lab) -> None:
    wiki = f"{lab.folder}/latency-results/wiki"
    found = lab.plan("latency", "--service", "mediawiki", "--rates", "5", "--on", "1")
    assert f"/services/mediawiki run {wiki}" in found.runs[0].line("beside", "server")
    assert found.head[-1][:2] == ["after", "--"] and found.head[-1][3:] == ["down", wiki]
    found = lab.plan("latency", "--service", "mediawiki", "--rates", "5", "--wiki", "mine")
    assert "down" not in found.text
    long = ["--output", "x" * 84]
    refusal = lab.refusal("latency", "--service", "mediawiki", "--rates", "5", "--plan", *long)
    assert "too long for the paths of sockets in it" in refusal


def test_missing_packages_are_named(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDIAWIKI", "/nonexistent")
    refusal = lab.refusal("latency", "--service", "mediawiki", "--rates", "5")
    assert refusal.startswith("mediawiki: missing packages: ")
    assert "\n" not in refusal
