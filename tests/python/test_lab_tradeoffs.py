# SPDX-License-Identifier: Apache-2.0
"""Plans of studies of knobs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from lab_plans import BUILD, Lab, needs_build, unpack_tree

pytestmark = needs_build
DATA = Path(__file__).parents[1] / "data"


def has_knob(name: str) -> bool:
    call = [BUILD / "bin/ssactuate", "get", name]
    return subprocess.run(call, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--published", "heating"], "--published: 'heating' is not one of: "),
        (["cap", "--published", "dvfs"], "--published: dvfs cannot be combined with cap"),
        (["--rates", "5", "--steps", "10:5:1s"], "--rates cannot be combined with --steps"),
        (["--service", "http://localhost/", "--rates", "1"], "use serve or mediawiki"),
        (["--arrival", "even,odd"], "--arrival: 'odd' is not one of: "),
        (["--balance", "least"], "--balance: 'least' is not one of: "),
        (["cap", "--service", "mediawiki", "--rates", "20"], "cap: only the capacity of serve"),
        (["--knobs", "instances=x"], "instances=x: instances and workers must be whole numbers"),
        (["--knobs", "pin=first:1,instances=2"], "join the knobs of a level by +"),
        (["--knobs", "instances=1+cups=2"], "--knobs: 'cups' is not one of: workers frequency"),
        (["--knobs", "instances"], "--knobs: instances: the level is missing"),
        (["--knobs", "instances=1 duty=0%"], "--knobs: duty=0%: the duty must be at least"),
        (["--knobs", "instances=2+cpus=9999"], "--knobs: cpus=9999: use a number of CPUs from 1"),
        (["--knobs", "pin=fist:1"], "unknown scheme 'fist': did you mean 'first'?"),
        (["--knobs", "instances=65"], "use a number of instances from 1 to 64"),
        (["--knobs", "size=small"], "--knobs: size=small: use size=NAME:cpus=N"),
        (["--knobs", "instances=1+workers=5000"], "--knobs: workers: '5000' is too large"),
        (["busy", "--knobs", "instances=2"], "--knobs: instances=2: busy has no service"),
        (["--workers", "5000"], "--workers: '5000' is too large: use at most 4096"),
        (["quiet"], "unexpected argument 'quiet': use one of busy, neighbours, cap"),
        (["--", "true"], "unexpected command"),
        (["--warmup", "2s"], "--warmup has no effect without --rates"),
        (["--published", "neighbours", "--seconds", "2s"], "no effect without --rates"),
    ],
)
def test_options_are_checked(lab: Lab, words: list[str], message: str) -> None:
    assert message in lab.refusal("tradeoffs", *words)


@pytest.mark.parametrize(
    "option",
    "service=serve rates=1 steps=2:1:1s warmup=1 arrival=even cap=1 balance=round-robin workers=1 "
    "when-full=drop timeout=1 own-cpu=0 spread=constant wiki=.".split(),
)
def test_busy_has_no_service(lab: Lab, option: str) -> None:
    name = option.partition("=")[0]
    lab.set_cpus(2)
    refusal = lab.refusal("tradeoffs", "busy", f"--{option}")
    assert refusal == f"--{name} has no effect with busy, which has no service"


def test_all_combinations_of_dimensions_are_planned(lab: Lab) -> None:
    found = lab.plan(
        "tradeoffs", "--knobs", "instances=1 instances=2", "--knobs", "pin=free pin=first:1",
        "--arrival", "even,poisson", "--balance", "round-robin,least-connections", "--cap", "5,50",
        "--rates", "10,20", "--rounds", "2",
    )  # fmt: skip
    assert len({run.name for run in found.runs}) == len(found.runs) == 128
    assert found.text.startswith("# ssbatch --shuffle 1 puts the runs of each round in random")
    assert found.column("knobs").count("instances=1+pin=first:1") == 32
    assert found.column("balance").count("least-connections") == 64
    assert found.column("cap").count("50") == 64
    last = found.runs[-1]
    assert last.name.startswith("instances2+pinfirst1-")
    assert " -- ssactuate run instances=2 pin=first:1 --record" in last.line("beside", "server")
    assert " -- ssburn serve --listen {port} --workers 1 " in last.line("beside", "server")
    assert last.line("after") == "after -- ssactuate restore"


def test_workers_of_a_level_replace_those_of_the_option(lab: Lab) -> None:
    found = lab.plan("tradeoffs", "--knobs", "cpus=1+workers=2", "--workers", "3", "--quick")
    assert found.column("workers") == ["2"]
    assert " --workers 2 " in found.runs[0].line("beside", "server")
    assert not found.runs[0].has("before")  # the pause
    found = lab.plan("tradeoffs", "--knobs", "cpus=1", "--rounds", "1")
    assert found.column("workers") == ["1"]
    assert found.runs[0].line("before") == "before -- sleep 10"


def test_missing_knobs_are_reported(lab: Lab) -> None:
    levels = "instances=1 frequency=min power=50W+pin=free idle=50 idle=50% idle=50,4"
    found = lab.plan("tradeoffs", "--knobs", levels, "--quick")
    assert found.runs[0].name.startswith("instances1-")
    for name in filter(lambda name: not has_knob(name), ("frequency", "power")):
        assert found.skipped[name]
        assert f"skipped: knobs={name}: " in found.said
        assert not any(run.name.startswith(name) for run in found.runs)
    if not has_knob("idle"):
        names = {"idle", "idle=50", "idle=50:25", "idle=50:2c4"}
        assert names <= set(found.skipped)
    if not has_knob("frequency"):
        refusal = lab.refusal("tradeoffs", "--plan", "--knobs", "frequency=min")
        assert refusal == "this machine has none of these knobs"


def test_levels_with_similar_texts_have_different_names(lab: Lab) -> None:
    found = lab.plan("tradeoffs", "--knobs", "duty=12% duty=1/2", "--knobs", "pin=free", "--quick")
    assert [run.name for run in found.runs] == [
        "duty12+pinfree-poisson-round-robin-c200-steps-1",
        "duty=1:2f2+pin=free-poisson-round-robin-c200-steps-1",
    ]


def test_busy_leaves_out_placements_that_the_machine_lacks(lab: Lab) -> None:
    why = "the machine has fewer CPUs than requested"
    lab.write_program("ssactuate", f"""\
case "$*" in
*one-*) echo "ssactuate: $3: {why}" >&2; exit 125 ;;
esac
exec "{BUILD}/bin/ssactuate" "$@\"""")
    found = lab.plan("tradeoffs", "busy", "--rounds", "2")
    for placement in ("quarter-one-chip", "half-one-chip"):
        assert found.skipped[placement].endswith(why)
        assert placement not in found.column("placement")
    assert found.column("placement").count("half-spread") == 2


def test_cpus_of_the_service_are_sampled(lab: Lab) -> None:
    """Saturation shows in the load of the CPUs that a level leaves to the service."""
    state = lab.folder / "machine/sys/devices/system/cpu/cpu0/cpuidle/state0"
    state.mkdir(parents=True)
    (state / "time").write_text("")
    root = ["--energy-root", str(lab.folder / "machine")]
    levels = "cpus=1 pin=first:1 pin=free instances=1"
    found = lab.plan("tradeoffs", "--knobs", levels, "--rounds", "1", *root)
    sampled = [" ssload --cpus " in run.line("beside", "load") for run in found.runs]
    assert sampled == [True, True, False, False]
    assert [" --cpus " in run.line("beside", "idle") for run in found.runs] == sampled
    # Threads that are bound to single CPUs may saturate one CPU before the others.
    found = lab.plan("tradeoffs", "--knobs", "pin=free,each pin=free", "--rounds", "1")
    sampled = [" --per-cpu " in run.line("beside", "load") for run in found.runs]
    assert sampled == [True, False]


# As published


@pytest.mark.parametrize("knob", "pinning horizontal vertical fig7 fig8 fig9 cap".split())
def test_published_requests_are_planned(lab: Lab, knob: str) -> None:
    found = lab.plan("tradeoffs", "--published", knob, "--rounds", "1")
    assert "Power: " in found.said  # is measured if there is a source
    assert set(found.column("arrival")) == {"even", "concurrent"}
    # 3.3 and 4.2.1: 0, 5, ... below 140 requests a second, 10 s each; 5.2: 32, and 0 to 50.
    expected = {"cap": ("", None), "fig7": ("", "32"), "fig8": ("55:5:10", "")}
    steps, rate = expected.get(knob, ("140:5:10", ""))
    assert set(found.column("steps")) == {steps}
    assert rate is None or set(found.column("rate")) == {rate}
    work = 1000 * len(os.sched_getaffinity(0)) // 105
    assert any(f"--iteration {work}m " in " ".join(words) for words in found.head)


def test_cap_sends_more_than_the_capacity(lab: Lab) -> None:
    words = ["--rounds", "1", "--knobs", "instances=1", "--work", "10m"]
    found = lab.plan("tradeoffs", "cap", *words)
    assert set(found.column("rate")) == {"110"}
    # A cap of 0 allows the requests of one second at the capacity, as in Fig. 11.
    assert found.column("cap") == ["100", "110", "125", "150", "175", "200"]


def test_mediawiki_has_a_folder_for_each_instance(lab: Lab) -> None:
    words = ["--service", "mediawiki", "--wiki", str(lab.folder / "wiki"), "--rounds", "1"]
    found = lab.plan("tradeoffs", *words, "--knobs", "instances=1")
    assert found.column("steps") == ["140:5:10"]
    found = lab.plan("tradeoffs", *words, "--published", "horizontal")
    server = found.runs[-1].line("beside", "server")
    assert "ssactuate run instances=4,url=http" in server
    assert "/wiki-{instance} --workers " in server
    assert server.endswith("--port {port}")


def test_busy_uses_parts_of_the_machine(lab: Lab) -> None:
    found = lab.plan("tradeoffs", "busy", "--rounds", "1")
    assert all("showstopper --quiet --record" in run.line("main") for run in found.runs)
    assert found.column("placement").count("half-free") == 1
    assert found.column("placement").count("pinned") == len(os.sched_getaffinity(0))


# The CPUs of a pin, as ssactuate prints them on a machine of 32 CPUs
PLACES = """\
case "$*" in *' -- '*) ;; *) exit ;; esac
case $2 in
pin=one-chip:8) echo 0,2,4,6,8,10,12,14 ;;
pin=spread:8) echo 0,2,8,10,16,18,24,26 ;;
pin=spread:16) echo 0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30 ;;
*) n=${2##*[:=]} && echo "0-$((n - 1))" ;;
esac"""


@pytest.fixture
def large(lab: Lab) -> Lab:
    lab.set_cpus(32)
    lab.write_program("ssactuate", PLACES)
    return lab


@pytest.mark.parametrize(
    ("published", "knobs"),
    [
        (
            "pinning",
            [
                f"instances={n}+workers=8{pin}"
                for n in (1, 2, 3, 4)
                for pin in ("", f"+pin=first:{8 * n},each")
            ],
        ),
        ("horizontal", [f"instances={n}+workers=8" for n in (1, 2, 3, 4)]),
        ("vertical", [f"cpus={n}+workers=32" for n in (8, 16, 24, 32)]),
        (
            "fig8",  # the second setting of Fig. 4 packs the first cores
            [
                f"workers=8+pin={pin}"
                for pin in ("free", "first:8,each", "one-chip:8,each", "spread:8,each")
            ],
        ),
        (
            "fig7",
            [
                f"instances=8+workers=1+pin={pin}"
                for pin in "free first:8,each one-chip:8,each spread:8,each one-chip:16 "
                "spread:16".split()
            ],
        ),
    ],
)
def test_published_instances_have_the_published_cpus(
    large: Lab, published: str, knobs: list[str]
) -> None:
    """Guest 1 is pinned to cores 0 to 7, guest 2 to 8 to 15, and so on."""
    found = large.plan("tradeoffs", "--published", published, "--rounds", "1")
    assert found.column("knobs") == [one for one in knobs for _ in ("even", "concurrent")]
    assert set(found.column("machine_cpus")) == {"32"}
    if published == "fig7":
        assert found.skipped["half-free"].startswith("the same as pin=free")


def test_published_caps_grow_with_the_instances(large: Lab) -> None:
    words = ["--published", "cap", "--work", "100m", "--rounds", "1"]
    found = large.plan("tradeoffs", *words)
    two = [run.cells for run in found.runs if run.cells["knobs"] == "instances=2+workers=8"]
    # 160 in a second at the capacity, and 50 more for each instance
    assert [cells["rate"] for cells in two if cells["cap"] == "260"] == ["170", "170"]


def test_busy_uses_a_quarter_in_eight_ways(large: Lab) -> None:
    found = large.plan("tradeoffs", "busy", "--rounds", "1")
    quarters = [run for run in found.runs if run.cells["target"] == "0.25"]
    assert sum("knobs" not in run.cells for run in quarters) == 8
    pinned = next(run for run in quarters if run.cells["placement"] == "pinned")
    assert "ssactuate run pin=first:8 -- showstopper" in pinned.line("main")
    assert " -n 8 -l 100%" in pinned.line("main")


def test_settings_with_equal_cpus_are_skipped(large: Lab) -> None:
    script = """case "$*" in *' -- '*) echo "0-$((${2##*:} - 1))" ;; esac"""
    large.write_program("ssactuate", script)
    found = large.plan("tradeoffs", "--published", "fig7", "--rounds", "1")
    of = "instances=8+workers=1+pin="
    kept = ["free", "first:8,each", "one-chip:16"]
    assert found.column("knobs") == [of + pin for pin in kept for _ in ("even", "concurrent")]
    same = [why for why in found.skipped.values() if why.startswith("the same CPUs as")]
    assert sorted(same) == sorted(
        [f"the same CPUs as {of}first:8,each"] * 2 + [f"the same CPUs as {of}one-chip:16"]
    )
    found = large.plan("tradeoffs", "busy", "--rounds", "1")
    assert found.skipped["quarter-one-chip"] == "the same CPUs as pinned"
    assert found.skipped["half-spread"] == "the same CPUs as half-one-chip"
    found = large.plan("tradeoffs", "--knobs", "pin=first:8 pin=spread:8", "--rounds", "1")
    assert len(found.runs) == 2  # named levels are kept


@pytest.mark.parametrize(
    ("machine", "low", "middle"),
    [("intel-pstate", "min-", "2.2GHz"), ("acpi-cpufreq", "", "1.6GHz")],
)
def test_published_frequencies_are_those_of_the_machine(
    large: Lab, machine: str, low: str, middle: str
) -> None:
    """Fig. 3 has three frequencies, and only the maximum is set if the driver cannot do more."""
    tree = large.folder / "tree"
    unpack_tree(DATA / f"actuate/{machine}.tree", tree)
    for name in ("proc/self/status", "sys/devices/system/cpu/online"):
        (tree / name).write_text((tree / name).read_text().replace("0-3", "0-31"))
    large.write_program("ssactuate", f"""\
case "$*" in *' -- '*) echo "0-15" && exit ;; esac
exec "{BUILD}/bin/ssactuate" "$@" --root "{tree}\"""")
    found = large.plan(
        "tradeoffs", "--published", "dvfs", "--rounds", "1", "--energy-root", str(tree)
    )
    levels = [f"frequency={low}min", f"frequency={low}{middle}", f"frequency={low}max"]
    expected = [f"{level}+cpus=16+workers=16" for level in levels for _ in range(3)]
    assert found.column("knobs") == expected
    assert all(" ssload --cpus 0-15 " in run.line("beside", "load") for run in found.runs)


def test_the_other_instance_visits_all_other_cpus(lab: Lab) -> None:
    lab.set_cpus(3)
    script = """case "$*" in *' -- '*) echo "${2#*=}" ;; esac"""
    lab.write_program("ssactuate", script)
    found = lab.plan("tradeoffs", "--published", "neighbours", "--rounds", "1")
    assert found.column("knobs") == ["pin=1", "pin=1", "pin=2", "pin=2"]
    last = found.runs[-1]
    assert " -- ssactuate run instances=1 pin=0 " in last.line("beside", "one")
    assert " -- ssactuate run instances=1 pin=2 " in last.line("beside", "other")
    assert " ssload --cpus 0,2 --per-cpu " in last.line("beside", "load")
    assert last.line("main", "requests").endswith(" {one.1} {other.1}")
    # Both instances have one CPU, however many the machine has.
    assert any("--iteration 19m " in " ".join(words) for words in found.head)
    lab.set_cpus(1)
    refusal = lab.refusal("tradeoffs", "neighbours", "--plan")
    assert refusal.startswith("neighbours needs two CPUs: ")


def test_default_levels_fit_the_cpus(lab: Lab) -> None:
    script = """\
case "$*" in *cpus=2*) echo "ssactuate: cpus=2: use one CPU" >&2; exit 125 ;;
*' -- '*) echo "0" ;; esac"""
    lab.write_program("ssactuate", script)
    lab.set_cpus(1)
    found = lab.plan("tradeoffs", "--quick")
    assert found.skipped["cpus=2+workers=2"] == "cpus=2: use one CPU"
    assert found.runs[0].name.startswith("instances1-")
