# SPDX-License-Identifier: Apache-2.0
"""Plans of load lines."""

from __future__ import annotations

import pytest
from lab_plans import Lab, needs_build

pytestmark = needs_build

SERIAL = ["--workloads", "serial"]


@pytest.fixture(autouse=True)
def use_two_cpus(lab: Lab) -> None:
    lab.set_cpus(2)


def test_levels_go_up_and_down(lab: Lab) -> None:
    found = lab.plan("loadline", "--highest", "60%", "--knees", "0.5", *SERIAL)
    assert [run.name for run in found.runs] == [f"serial-independent-n2-levels-{n}" for n in (1, 2)]
    run = found.runs[1]
    assert run.cells["takes"] == "1331s"
    assert (run.cells["at"], run.cells["knees"], run.cells["round"]) == ("0.6", "0.5", "2")
    levels = next(line for line in run.lines if "{out}/levels.txt" in line)
    assert " +0 0 +60s 0 +0 0.06 +60s 0.06 +0 0.12 " in " ".join(levels)
    assert " +0 0.54 +60s 0.54 +0 0.6 +60s 0.6 +0 0.6 +60s 0.6 +0 0.54 " in " ".join(levels)
    # Independent phases differ from round to round.
    assert " -D 107m,jitter=50%,phase=2 -c fixed " in run.line("main")


def test_load_of_the_answer_is_within_the_levels(lab: Lab) -> None:
    assert lab.plan("loadline", "--highest", "50%", *SERIAL).column("at") == ["0.5"] * 2
    refusal = lab.refusal("loadline", "--at", "60%", "--highest", "50%", *SERIAL)
    assert "--at: 60%: no level reaches this load: use at most 50%" in refusal


def test_levels_are_fractions(lab: Lab) -> None:
    found = lab.plan("loadline", "--highest", "2/3", *SERIAL)
    assert "'+60s 0.533333333333333'" in found.text


def test_bursts_are_at_full_load(lab: Lab) -> None:
    words = ["--highest", "60%", "--predict", "90%", "--bursts", "5s"]
    found = lab.plan("loadline", *words, *SERIAL)
    assert found.column("bursts") == ["", "5"] * 2
    run = found.runs[1]
    assert run.name == "serial-independent-n2-bursts-1"
    assert (run.cells["takes"], run.cells["predict"]) == ("161s", "0.9")
    levels = next(line for line in run.lines if "{out}/levels.txt" in line)
    assert "+0 0.6 +10s 0.6 +0 1 +5s 1 +0 0.6 " in " ".join(levels)


def test_service_has_a_run_for_each_direction(lab: Lab) -> None:
    words = ["--service", "http://localhost:1/", "--hold", "3s", "--rounds", "1"]
    found = lab.plan("loadline", *words)
    assert [run.name for run in found.runs] == ["url-up-1", "url-down-1"]
    assert found.column("takes") == ["39s"] * 2
    requests = found.runs[0].line("main", "requests")
    assert " --load-trace {out}/levels.txt --settle 0 --record " in requests


def test_load_of_a_service_is_that_of_its_cpus(lab: Lab) -> None:
    found = lab.plan("loadline", "--service", "serve", "--highest", "80%", "--on", "1")
    assert " --cpus 1 --of pid:{server.pid} " in found.runs[0].line("main", "requests")
    assert " taskset -c 1 ssburn serve " in found.runs[0].line("beside", "server")


@pytest.mark.parametrize(("cpus", "knee"), [((0, 1, 2, 3), "0.5"), ((0, 2), "")])
def test_line_may_bend_where_each_core_is_busy(lab: Lab, cpus: tuple[int, ...], knee: str) -> None:
    root = lab.folder / "root"
    for cpu in cpus:
        folder = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
        folder.mkdir(parents=True)
        first = cpu // 2 * 2
        (folder / "thread_siblings_list").write_text(f"{first}-{first + 1}\n")
    found = lab.plan("loadline", "--energy-root", str(root), *SERIAL)
    assert found.column("knees") == [knee] * 2
    found = lab.plan("loadline", "--energy-root", str(root), "--on", "0", *SERIAL)
    assert found.column("knees") == [""] * 2
