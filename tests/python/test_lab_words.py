# SPDX-License-Identifier: Apache-2.0
"""Words of plans for loops in shell: lines, pairs and values, many requests in one call."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from showstopper.lab import methods, pairs, places, plan
from showstopper.lab.words import print_lines, print_pairs, print_values
from showstopper.text import UserError

Capture = pytest.CaptureFixture[str]

RUN = "own --define 'sleep 1' --method default --target 50% --run x --takes 5s"


def ask(monkeypatch: pytest.MonkeyPatch, *requests: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{text}\n" for text in requests)))
    print_lines([])


def test_requests_are_answered_in_order(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    ask(monkeypatch, "# comment", "", f"{RUN} size=1 -- -l 20%", f"{RUN.replace('x', 'y')}")
    words = [plan.split(text)[:2] for text in capsys.readouterr().out.splitlines()]
    one = [["before", "--"], ["main", "--"]]
    assert words == [["run", "x"], *one, ["run", "y"], *one]


def test_nothing_is_printed_if_one_request_is_invalid(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    with pytest.raises(UserError, match="^line 2: 'word' is not KEY=VALUE"):
        ask(monkeypatch, RUN, f"{RUN} word -- -l 20%")
    assert capsys.readouterr().out == ""


def test_placeholders_of_runs_are_replaced(capsys: Capture) -> None:
    words = plan.split("own --define true --method nbench --target 1/4 --machine-cpus 8 --takes 5s")
    print_lines([*words, "--run", "a-{instances}", "s={stands_for}", "--", "{{target}", "{target}"])
    heading, *_, main = (plan.split(text) for text in capsys.readouterr().out.splitlines())
    assert heading[1] == "a-2" and "s=0.25" in heading and "instances=2" in heading
    assert "{{target}" in main and "0.25" in main


def test_a_line_without_a_run_has_no_empty_role(capsys: Capture) -> None:
    print_lines(plan.split("own --define true --method default"))
    assert plan.split(capsys.readouterr().out)[1] == "workload=own"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("'serail': no such|serail: no such workload", "serail"),
        ("dacapo/none: no such workload", "dacapo/none"),
        ("lacks cannot run here: no no-such-program", "lacks"),
        ("--memory: 'much' is not a size", "serial --memory much"),
        ("--role: 'a/b' is not a role", "serial --role a/b"),
        ("--catalogue: /none: No such file", "serial --catalogue /none"),
        ("no workload is named", "--print once"),
        ("require --method", "serial size=1"),
        ("require --define", "serial --repeat"),
        ("--run requires --takes", "serial --method default --run x"),
        ("cdc requires a length of rounds", "serial --method cdc"),
        ("requires the load of one instance", "blocking --method nbench-fit"),
        ("--one: '/none' is not a load, nor a study", "blocking --method nbench-fit --one /none"),
        ("--method: 'none' is not one of: ", "serial --method none"),
        ("must be above 0", "blocking --method nbench-fit --one 0"),
    ],
)
def test_invalid_requests_are_refused(message: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("[lacks]\ncommand = no-such-program\n")
    request = plan.split(words) + ["--catalogue", str(tmp_path / "mine")]
    with pytest.raises(UserError, match=message):
        print_lines(request)


def test_a_workload_that_is_missing_may_be_planned(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("[lacks]\ncommand = no-such-program\nnote = unfit: it sleeps\n")
    print_lines(["lacks", "--catalogue", str(tmp_path / "mine"), "--even-if-missing"])
    printed = capsys.readouterr()
    assert printed.out == "--repeat -- no-such-program\n"
    assert "lacks cannot run here: no no-such-program" in printed.err
    assert "Warning: lacks is unfit: it sleeps" in printed.err


def test_a_plan_for_cpulimit_does_not_require_it(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    methods._cpulimit_knows_parts.cache_clear()
    monkeypatch.setenv("PATH", "/none")
    print_lines(plan.split("own --define true --method cpulimit"))
    assert "cpulimit -q" in capsys.readouterr().out
    methods._cpulimit_knows_parts.cache_clear()


def test_the_load_of_one_instance_is_found_in_a_study(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / ".study").mkdir()
    (tmp_path / ".study/values").write_text("settings 'x one 0.1'\none 0.25\n")
    request = ["own", "--define", "true", "--method", "nbench-fit", "--target", "75%", "--one"]
    for one, instances in ((str(tmp_path), "3"), ("15%", "5")):
        print_lines([*request, one])
        assert f"instances={instances}" in plan.split(capsys.readouterr().out)


# Pairs

NAMES = st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True)


@given(NAMES, NAMES, st.sampled_from(["all", "symmetric"]))
def test_every_prefix_of_the_order_is_balanced(
    names: list[str], where: list[str], form: str
) -> None:
    found = pairs.form(form, names, [])
    if form == "symmetric" and len(names) % 2 == 0:
        return  # names are not equally often in front
    fronts, backs = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for front, back, place, _ in pairs.order(found, where, 2):
        fronts[front, place] += 1
        backs[back, place] += 1
        for counts in (fronts, backs):
            for at in where:
                each = [counts[name, at] for name in names]
                assert max(each) - min(each) <= 1
    assert sum(fronts.values()) == 2 * len(found) * len(where)


def test_many_names_are_paired_without_recursion() -> None:
    count = 1500
    names = [f"n{i}" for i in range(count)]
    listed = [(names[i], names[(i + step) % count]) for i in range(count) for step in (0, 1)]
    assert {row[:2] for row in pairs.order(listed, ["x"], 1)} == set(listed)


def test_two_lists_are_paired(capsys: Capture) -> None:
    print_pairs(plan.split("--workloads a,b,c --background d,e --places x"))
    assert len(set(capsys.readouterr().out.splitlines())) == 6


def test_pairs_of_two_programs(capsys: Capture) -> None:
    print_pairs(plan.split("all --workloads a,b --places host"))
    assert capsys.readouterr().out == "a a host 1\nb b host 1\na b host 1\nb a host 1\n"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("add --workloads", "all --places x"),
        ("add --places", "a:b"),
        ("remove --workloads", "a:b --workloads a --places x"),
        ("--background cannot", "all --background a"),
        ("no pairs are named", "--workloads a --places x"),
        ("'a' is not a pair", "none:x,a --places x"),
        ("pair a:b is named twice", "a:b,b:a,a:b --places x"),
        ("workload 'a' is named twice", "all --workloads a,b,a --places x"),
        ("unexpected argument", "all more --places x"),
    ],
)
def test_invalid_pairs_are_refused(message: str, words: str) -> None:
    with pytest.raises(UserError, match=message):
        print_pairs(plan.split(words))


# Values


@pytest.mark.parametrize(
    ("kind", "text", "printed"),
    [
        ("time", "3M", "180"), ("time", "0", "0"), ("time", "1500m", "1.5"),
        ("time", "0.25", "0.25"), ("length", "0.25", "0.25"), ("duration", "90min", "5400"),
        ("round", "0.1s", "100m"), ("rounds", "107m,0.1s,,1M", "107m,100m,1M"),
        ("load", "25", "25"), ("load", "0", "0"), ("load", "1", "100"),
        ("load", "1/3", "33.3333333333333"), ("load", "0.29", "29"), ("load", "12.345%", "12.345"),
        ("loads", "25%,1/2,0.75,100", "25,50,75,100"), ("count", "07", "7"), ("whole", "0", "0"),
        ("percent", "5%", "5"), ("sets", "0-3/4-7", "0-3 4-7 4 4 -"),
        ("sets", "0,2,2/1-2", "0,2,2 1-2 2 2 2"), ("sets", "0-6:2/1", "0-6:2 1 4 1 -"),
        ("stairs", "95%:5%:5%", "95:5:5 38"), ("stairs", "0.9:1/10:20", "90:10:20 10"),
        ("stairs", "90:10:1", "90:10:1 162"), ("stairs", "40:40:40", "40:40:40 2"),
        ("span", "0.25", "0.25 s"), ("span", "22.5", "22.5 s"),
        ("span", "59.96", "1 min 00 s"), ("span", "361", "6 min 01 s"), ("span", "2h", "2 h 00 min"),
    ],
)  # fmt: skip
def test_values_are_printed_as_in_plans(
    kind: str, text: str, printed: str, capsys: Capture
) -> None:
    print_values([kind, "--", text])
    assert capsys.readouterr().out == f"{printed}\n"


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("loads", "50,0", "'0' is not a load above 0"), ("sets", "0-3", "not two lists"),
        ("sets", "0/1/2", "not two lists"), ("sets", "0\n/1", "'0 /1' is not two lists"),
    ],
)  # fmt: skip
def test_invalid_values_are_refused(kind: str, text: str, message: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        print_values([kind, "--option", "name", "--program", "mine", "--", text])
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (125, "")
    assert printed.err.startswith("mine: --name: ") and message in printed.err


def test_short_times_are_doubted(capsys: Capture) -> None:
    print_values(["time", "--option", "hold", "--program", "mine", "--", "3m"])
    assert "mine: warning: --hold: 3m is 3 milliseconds" in capsys.readouterr().err


@pytest.mark.parametrize("words", (["none", "--", "1"], ["time"], ["time", "--", "1", "2"]))
def test_requests_for_values_are_checked(words: Sequence[str]) -> None:
    with pytest.raises(UserError, match="use one of|exactly one value"):
        print_values(words)


# Places


@pytest.mark.parametrize(
    ("environment", "placement", "cpus", "found"),
    [
        ("kvm", "neutral", 1, "one CPU cannot be divided"),
        ("host", "neutral", 4, "only a guest limits how many CPUs"),
        ("kvm", "free", 4, "a guest has half of the CPUs: use neutral"),
        ("kvm", "quota", 4, "limits a guest: use neutral"),
        ("lxc", "free", 5, (2, 2)),
        ("kvm", "neutral", 5, (2, 2)),
        ("host", "quota", 1, (1, 1)),  # a quota limits time
    ],
)
def test_sides_that_are_not_pinned_have_halves(
    environment: str, placement: str, cpus: int, found: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "why_no_place", lambda _: "")
    place = places.find(environment, placement, cpus, "", "group")
    if isinstance(place, str):
        assert str(found) in place
    else:
        assert (place.cpus, place.counts) == (("", ""), found)


def test_the_load_of_cpus_requires_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "why_no_place", lambda _: "")
    for placement in ("free", "quota"):
        assert "use --load-of group" in str(places.find("lxc", placement, 4, "", "cpus"))
