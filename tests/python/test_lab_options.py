# SPDX-License-Identifier: Apache-2.0
"""Calls of experiments that are refused in one line, before anything starts."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from lab_plans import Lab, needs_build

pytestmark = needs_build
REFUSED = """\
accuracy --workloads cereal|--workloads: cereal
accuracy --repeat|require a command after --
accuracy --methods pid|--methods: 'pid'
accuracy --warmup 1 --settle 2|--settle is a part of --warmup
accuracy --workloads serial -- xz a|xz, the command after --, is not among the workloads serial
accuracy --dry-run -- nosuch a|nosuch: no such program
accuracy -- ./nosuch|./nosuch: no such program
accuracy --dry-run --iteration ( -- true|--iteration: '('
accuracy --bin /nonexistent --dry-run|--bin: /nonexistent: no such folder
accuracy --name a/b -- true|--name: 'a/b' cannot name a workload: use letters
accuracy --ram /nonexistent|--ram: /nonexistent is not a writable folder
throughput --stairs --hold 2 --edge 1|--edge: must be less than half of --hold
throughput --stairs --seconds 9|--seconds has no effect with --stairs
throughput --targets 50% --parts 2|--targets replaces --parts
throughput --hold 9|--hold has no effect without --stairs
loadline --repeat|a command after --, --workloads or --service
loadline --at 60% --highest 50%|--at: 60%
loadline --rounds 65|--rounds: '65' is too large: use at most 64
loadline --method nbench|--method: 'nbench'
loadline --bursts 5s|--bursts has no effect without --predict
loadline --bursts 1s --predict 90% --highest 60%|--bursts: '1s' is too short: use at least 2s
loadline --bursts 5s --predict 90%|--bursts has no effect unless --highest
loadline --cap 40|--cap has no effect without --service
loadline --service http://localhost:1/|--service: http://localhost:1/: requests fail
loadline --service http://localhost:1/ --hold 2500m|--hold: '2.5s' is too short: use at least 3s
loadline --service serve --repeat|--repeat has no effect with --service
loadline --service serve --tau 50m|--tau has no effect with --service
interference --pairs xz:serial -- gzip|gzip, the command after --, is not among
interference --hold 10 --edge 5|--hold
interference --sets 0-1/1-2|both sets have CPU 1
interference --placements sets|--placements sets requires --sets
interference --environment host,lxc --guest /none|--guest has no effect
interference --measure host|--measure has no effect
interference --environment kvm --load-of cpus|--load-of has no effect
interference --sets 0/1 --pairs serial:serial --workloads xz|--pairs: a list cannot be combined
"""


@pytest.mark.parametrize("call", REFUSED.splitlines())
def test_invalid_options_are_refused(lab: Lab, call: str) -> None:
    lab.set_cpus(3)
    words, _, message = call.partition("|")
    refusal = lab.refusal(*shlex.split(words.replace("(", r"\(")))
    assert message in refusal
    assert "\n" not in refusal


def test_folder_of_something_else_is_refused(lab: Lab) -> None:
    other = lab.folder / "other"
    other.mkdir()
    (other / "file").write_text("")
    call = ["throughput", "--quick", "--others", "100%", "--ram", str(lab.folder)]
    refusal = lab.refusal(*call, "--output", str(other))
    assert refusal == f"{other} is not an experiment folder; choose another --output"
    (other / "manifest.csv").write_text("")
    assert "a study of an earlier version" in lab.refusal(*call, "--output", str(other))


def test_targets_become_numbers_of_instances(lab: Lab) -> None:
    lab.set_cpus(8)
    words = ["--methods", "default,nbench,1cdc", "--workloads", "serial", "--instances", "8"]
    found = lab.plan("throughput", *words, "--targets", "12.5%,1/2,0.55,75")
    of = ["default-n8-{}", "1cdc-n1-{}"]
    default, single = (
        [f"serial-{form.format(target)}-1" for target in ("12.5", "50", "55", "75")] for form in of
    )
    nbench = [f"serial-nbench-n{instances}-1" for instances in (1, 4, 6)]
    assert [run.name for run in found.runs] == default + nbench + single


def test_catalogue_of_another_user_is_named(lab: Lab) -> None:
    own = Path(lab.folder, ".config/showstopper")
    own.mkdir(parents=True)
    (own / "workloads").write_text("[own]\ncommand = sleep 1\n[serial]\ncommand = own serial\n")
    found = lab.plan("accuracy", "--quick", "--methods", "default", "--workloads", "own")
    assert found.column("workload") == ["own"]
    (own / "workloads").chmod(0o666)
    assert "other users may write to it" in lab.refusal("accuracy", "--quick", "--plan")
