# SPDX-License-Identifier: Apache-2.0
"""plan and answer of ssantagonist. Each recipe simulates a study."""

from __future__ import annotations

import html
import itertools
import json
import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from showstopper import cli
from showstopper.antagonist import answer, effects, options, plan, study
from showstopper.antagonist.options import Call
from showstopper.antagonist.study import Stage, Study, Suspect
from showstopper.outputs import OutputError
from showstopper.text import UserError

DATA = Path(__file__).parents[1] / "data"
HEADING = "slot,begin_epoch_seconds,length_seconds,figures,figure\n"
BEGIN = 1_700_000_000  # start of every run, seconds since 1970


@dataclass
class Job:
    """The behavior of a suspect; 0 has no effect.

    CPU time varies a little, or rounding would decide which changes are significant.
    """

    cost: float = 0  # gain of the victim while it is throttled, as a logarithm at full depth
    catches_up: float = 0  # part of the withheld CPU time that it still uses in the same slot
    disturbs: float = 0  # cost in the row after it was throttled
    fills_gaps: float = 0  # part of its CPU time that it adds while the first one is throttled
    grows: float = 0  # part of its CPU time that it adds after `look`
    varies: float = 0.001  # range of its CPU time over slots, as a part of it
    returns_later: bool = False  # it uses the withheld CPU time in other slots
    only_stops: bool = False  # it is stopped nearly all the time
    hardly_runs: bool = False  # it uses 0.09 % of a CPU


@dataclass
class Recipe:
    jobs: dict[int, Job] = field(default_factory=dict)
    count: int = 3
    runs: int = 2
    both: float = 0  # gain while the first two suspects are throttled together
    look: tuple[float, float, int] | None = None  # figures of even and odd slots, and their number
    then: dict[int, Job] = field(default_factory=dict)  # jobs in the last run
    last: float | None = None  # the only figure of the last run, in one of 20 slots
    unrecorded: bool = False  # the last run has no records
    in_rows: bool = False  # figures are those of rows, if they are frequent enough
    aside: int = 0  # the first suspect is set aside in this row of each run; 0: never
    aside_once: bool = False  # only in runs with others
    acquits: bool = False  # in each run, the suspects of the first group have no cost
    call: dict[str, str] = field(default_factory=dict)
    names: list[str] | None = None


class Numbers:
    """Uniform numbers of showstopper/random.h."""

    def __init__(self, seed: int) -> None:
        self.seed, self.index = seed, -1

    def next(self) -> float:
        self.index += 1
        return effects.random_at(self.seed, self.index)


class Simulation:
    """A study in a folder, with simulated runs of jobs. Figures are 100, with a noise of 1 %."""

    def __init__(self, recipe: Recipe, folder: Path) -> None:
        self.recipe, self.folder = recipe, folder
        folder.mkdir(exist_ok=True)
        self.jobs = {i: recipe.jobs.get(i, Job()) for i in range(recipe.count)}
        names = recipe.names or [f"job{i}" for i in range(recipe.count)]
        self.suspects = [Suspect(100 + i, 7, name) for i, name in enumerate(names)]
        self.options = {"victim": "bench --figure {x}", "slot": "1s", "rate": "20"} | recipe.call
        for number in range(recipe.runs):
            planned = self.study()
            stage = next(one for one in planned.stages if not one.done)
            if number == recipe.runs - 1:
                self.jobs |= recipe.then
            if recipe.acquits and number > 0:
                self.jobs |= {one: Job() for one in stage.groups[0]}
            self.carry_out(planned, stage, number == recipe.runs - 1)

    def words(self, **others: str) -> list[str]:
        """Return the options of a call, and the folder."""
        given = self.options | others
        if "suspects" in others or "suspects_of" not in given:
            given.pop("suspects_of", None)
            pids = ",".join(str(one.pid) for one in self.suspects)
            given = {"suspects": pids} | given
        words = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
        words = [word.replace("--lower=yes", "--lower-is-better") for word in words]
        return [*words, str(self.folder)]

    def call(self, **others: str) -> Call:
        return options.parse("plan", self.words(**others))

    def study(self) -> Study:
        call = self.call()
        began = study.read_columns(call)
        return Study(call, *(began or (self.suspects, call.depth or 0.2, call.seed)))

    def carry_out(self, planned: Study, stage: Stage, is_last: bool) -> None:
        folder = self.folder / stage.name
        folder.mkdir()
        columns = {
            "suspects": "+".join(f"{one.pid}@{one.started}" for one in self.suspects),
            "requested_depth": f"{planned.depth:.9g}",
            "seed": str(planned.seed),
            "lower_is_better": self.options.get("lower", "no"),
            "names": study.join_list([one.name for one in self.suspects]),
            "suspects_of": self.options.get("suspects_of", ""),
        }
        (folder / "run.json").write_text(json.dumps({"status": "done", "columns": columns}))
        low = np.zeros((stage.slot_count, len(stage.groups)), dtype=bool)
        stage.is_in_rows &= self.recipe.in_rows
        if stage.codes:
            low = stage.codes.low()
            if stage.is_in_rows:
                low = self.write_blocks(stage, low)
            low = low[:, : len(stage.groups)]
            if self.recipe.aside and not (self.recipe.aside_once and stage.is_alone):
                (folder / "aside.csv").write_text(f"suspect,row\ns1,{self.recipe.aside}\n")
                low[self.recipe.aside + 1 :, 0] = False
        rows = self.figures(stage, low)
        if stage.name == "look" and self.recipe.look:
            even, odd, count = self.recipe.look
            rows = [(even if slot % 2 == 0 else odd, count) for slot in range(12)]
        if is_last and self.recipe.last is not None:
            last = (self.recipe.last, 1)
            rows = [last if at % 20 == 0 else (math.nan, 0) for at in range(len(rows))]
        seconds = stage.figure_seconds
        lines = [
            f"{at},{BEGIN + at * seconds:.3f},{seconds:.9g},{count},"
            + (f"{figure:.9g}" if math.isfinite(figure) else "")
            for at, (figure, count) in enumerate(rows)
        ]
        (folder / "slots.csv").write_text("\n".join([HEADING.strip(), *lines, ""]))
        for group in range(len(stage.groups)):
            if not (is_last and self.recipe.unrecorded):
                self.record(stage, low, group)

    def write_blocks(self, stage: Stage, low: np.ndarray) -> np.ndarray:
        """Draw the rows that end with a block, as ssantagonist codes does, and write them."""
        random = np.random.default_rng(stage.codes.start if stage.codes else 0)
        stopped = np.zeros((len(low), stage.rows, low.shape[1]), dtype=bool)
        for slot, code in np.argwhere(low):
            drawn = random.choice(stage.rows - stage.blocks, stage.blocks, replace=False)
            stopped[slot, np.sort(drawn) + np.arange(stage.blocks) + 1, code] = True
        stopped = stopped.reshape(-1, low.shape[1])
        names = [f"s{at + 1}" for at in range(len(stage.groups))] + ["ghost1", "ghost2"]
        table = pd.DataFrame(stopped.astype(int), columns=names)
        table.insert(0, "slot", table.index // stage.rows)
        table.to_csv(self.folder / stage.name / "codes.csv", index_label="row")
        return stopped

    def figures(self, stage: Stage, low: np.ndarray) -> list[tuple[float, int]]:
        random = Numbers((stage.codes.start if stage.codes else 0) + 4)
        rows = []
        before = np.zeros(len(stage.groups), dtype=bool)
        for states in low:
            gain = 0.02 * (random.next() - 0.5)
            gain += sum(
                (1 if stage.is_in_rows else stage.depth) * self.jobs[one].cost
                for group, state in zip(stage.groups, states) if state for one in group
            )
            gain -= sum(
                self.jobs[one].disturbs
                for group, is_after in zip(stage.groups, before & ~states) if is_after for one in group
            )
            before = states
            gain += self.recipe.both if len(states) > 1 and states[:2].all() else 0
            rows.append((100 * math.exp(gain), 40))
        return rows

    def record(self, stage: Stage, low: np.ndarray, group: int) -> None:
        job, folder = self.jobs[stage.groups[group][0]], self.folder / stage.name / f"s{group + 1}"
        folder.mkdir()
        (folder / "plan.json").write_text('{"cpu_count": 2}\n')
        per_slot = int(2 * stage.figure_seconds)
        lines = ["time,elapsed_seconds,target,load,error,duty,counted"]
        for sample in range(len(low) * per_slot):
            slot = sample // per_slot
            load = self.load(job, stage, low[slot, group], low[slot, 0])
            load *= 1 + job.varies * (Numbers(slot).next() - 0.5)
            elapsed = (sample + 1) / 2
            lines.append(f"@{BEGIN + elapsed:.3f},{elapsed:.6f},1,{load:.9f},0,1,1")
        (folder / "samples.csv").write_text("\n".join([*lines, ""]))

    @staticmethod
    def load(job: Job, stage: Stage, is_low: bool, is_first_low: bool) -> float:
        load = 0.25
        if job.only_stops:
            load = 0.02 if is_low else 0.005
        elif is_low:
            load *= 1 - (1 if stage.is_in_rows else stage.depth) * (1 - job.catches_up)
        elif job.returns_later and stage.codes:
            load *= 1 + stage.depth
        if job.hardly_runs:
            load = 0.00045  # of two CPUs
        load *= 1 + (job.fills_gaps if is_first_low else 0)
        return load * (1 + (job.grows if stage.codes else 0))


# Answers

HURTS, SHIFTS, NEEDED, NOTHING = effects.HURTS, effects.SHIFTS, effects.SUPPORTS, effects.NOTHING
UNTESTABLE = effects.UNTESTABLE

# Recipes, exit status of the answer, verdicts from the most harmful suspect on, and some words
ANSWERS: dict[str, tuple[Recipe, int, dict[int, str], str]] = {
    "begun": (Recipe(count=2, runs=0), 0, {100: "", 101: ""}, "is not answered yet"),
    "all verdicts": (
        Recipe(
            {
                1: Job(cost=0.15), 2: Job(cost=-0.2), 3: Job(cost=0.1, catches_up=0.9),
                4: Job(cost=0.12, returns_later=True),
            },
            count=5, runs=5,
        ),
        0, {101: HURTS, 104: SHIFTS, 102: NEEDED, 103: UNTESTABLE, 100: NOTHING},
        "gives 3 % (2.7 to 3.4) more throughput; all of it costs about 14 %, by extrapolation; "
        "alone, all of",
    ),
    "holds back": (
        Recipe({0: Job(cost=-0.2), 1: Job(cost=0.3, fills_gaps=0.5)}, runs=4), 0,
        {101: HURTS, 100: NEEDED, 102: NOTHING}, "or it holds back pid 101 (job1), which hurts",
    ),
    "risen": (
        Recipe({1: Job(grows=0.18, cost=0.15)}), 0, {101: HURTS, 102: NOTHING, 100: NOTHING},
        "its load has risen since the first run",
    ),
    "crossed": (
        Recipe({2: Job(fills_gaps=0.5)}), 0, {},
        "While pid 100 (job0) was throttled, pid 102 (job2) used 36 % more CPU time",
    ),
    "pairs": (
        Recipe(count=10, both=0.1), 0, {101: HURTS, 100: HURTS},
        "pid 100 (job0) and pid 101 (job1), or of pid 106 (job6) and pid 109 (job9) is not the sum",
    ),
    "large": (
        Recipe({0: Job(cost=-1.2)}, count=2, runs=3, call={"lower": "yes"}), 0, {100: HURTS},
        "makes the victim's times 21 % (21 to 21) shorter; all of it makes them about 232 % longer",
    ),
    "idle": (
        Recipe({1: Job(hardly_runs=True)}, count=2), 0, {101: UNTESTABLE, 100: NOTHING},
        "No suspect was found to hurt the victim; 1 of 2 could not be tested",
    ),
    "unrecorded": (
        Recipe(count=2, unrecorded=True), 1, {100: UNTESTABLE, 101: UNTESTABLE},
        "not testable: its CPU time was not recorded",
    ),
    "zeros": (Recipe(count=2, last=0), 1, {100: "", 101: ""}, "too few slots have a figure above"),
    "split": (Recipe({17: Job(cost=0.3)}, count=40, runs=3), 0, {117: HURTS}, "about 26 %"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answer(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe, status, verdicts, words = ANSWERS[name]
    simulation = Simulation(recipe, tmp_path / "study")
    if not recipe.runs:  # the C program finds the suspects
        suspects = answer.df_suspects(simulation.study())
        assert dict(zip(suspects["pid"], suspects["verdict"])) == verdicts
        return
    page = tmp_path / "page"
    assert cli.main(["ssantagonist", "answer", f"--page={page}", *simulation.words()]) == status
    assert words in capsys.readouterr().out
    table = pd.read_csv(page / "suspects.csv", keep_default_na=False, float_precision="round_trip")
    found = dict(zip(table["pid"], table["verdict"]))
    assert [*found.items()][: len(verdicts)] == [*verdicts.items()]
    document = html.unescape((page / "report.html").read_text()).replace("\xa0", " ")
    assert words.split(",")[0] in document


def test_tables_and_json_have_the_estimates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulation = Simulation(ANSWERS["all verdicts"][0], tmp_path / "study")
    words = ["answer", "--json", f"--page={tmp_path}/page", *simulation.words()]
    assert cli.main(["ssantagonist", *words]) == 0
    document = json.loads(capsys.readouterr().out)
    first = document["suspects"][0]
    table = pd.read_csv(
        tmp_path / "page/suspects.csv", keep_default_na=False, float_precision="round_trip",
        na_values={name: [""] for name in ("cost", "cost_alone", "withheld", "effect_low")},
    ).set_index("pid")
    expected = {
        "withheld": 0.20006080058, "effect_low": 0.0270309317174, "cost": 0.149971798437,
        "cost_alone": 0.151659728324,
    }  # fmt: skip
    for name, value in expected.items():
        assert table[name][101] == pytest.approx(value, rel=1e-9)
    assert first["cost"]["value"] == pytest.approx(expected["cost"], rel=1e-9)
    assert first["cost_alone"]["value"] == pytest.approx(expected["cost_alone"], rel=1e-9)
    assert table["group"][101] == "together-1/s2" and document["complete"] is True
    assert {one["pid"] for one in document["crossed"]} == {*range(100, 105)}
    assert document["suspects"][3]["verdict"] == UNTESTABLE
    assert "cost_alone" not in document["suspects"][4]


# Plans


def test_words_of_a_plan_are_quoted(tmp_path: Path) -> None:
    call = {"victim": "sh -c 'echo {}'\t5", "iteration": "it ([0-9]{2})", "lower": "yes"}
    recipe = Recipe(count=1, runs=1, call=call, names=["c,d\n"])
    lines = [*plan.lines(Simulation(recipe, tmp_path).study())]
    assert r" names=$'c\\,d\012'" in lines[2]
    assert r"--victim $'sh -c \'echo {{}\'\0115' {out}" in lines[-1]
    assert "--lower-is-better --iteration 'it ([0-9]{{2})'" in lines[-1]
    codes = "--depth 0.2 --slot 1s --slots 126 --rows 2 --blocks 1 --shifts 48:36,24,51 {out}"
    assert lines[6] == f"  before codes -- ssantagonist codes {codes}"
    assert "-D tau=25000000ns,phase=together -t file -T path={out}/s1.trace,loop=no" in lines[7]


def test_many_suspects_are_planned_in_groups(tmp_path: Path) -> None:
    names = ["a b", "", "caf\udcc3"] + [f"job{i}" for i in range(17)]
    call = {"depth": repr(1 / 3), "seed": "12", "suspects_of": "a b"}
    recipe = Recipe(count=20, names=names, runs=1, call=call)
    lines = [*plan.lines(Simulation(recipe, tmp_path).study())]
    assert "suspects=100@7+101@7+102@7+103@7,104@7+105@7+" in lines[2]
    assert "requested_depth=0.333333333 seed=12" in lines[2]
    assert lines[2].endswith("job16' suspects_of='a b'") and "'a b,,caf?,job0," in lines[2]


@pytest.mark.skipif(os.geteuid() != 0, reason="root: files of two users are needed")
@pytest.mark.parametrize("name", ["", *study.DECIDING])
def test_run_of_another_user_decides_no_plan(name: str, tmp_path: Path) -> None:
    """Its owner could choose the processes that are stopped. An answer stops none."""
    simulation = Simulation(Recipe(count=2, runs=1), tmp_path / "study")
    path = simulation.folder / "look" / name
    if not path.exists():
        path.write_text("suspect,row\n")
    os.chown(path, 65534, 65534)
    with pytest.raises(OutputError, match=f"look{'/' if name else ''}{name} belongs to "):
        Study.open(simulation.call())
    assert Study.open(options.parse("answer", simulation.words())).look.done


CONTRADICTIONS = {
    "suspects=101,100": "--suspects: the study began with 100,101: use this, or another folder",
    "suspects=100": "--suspects: the study began with 100,101: use this",
    "suspects_of=other": "--suspects-of: the study began with job: use this, or another folder",
    "depth=0.3": "--depth: the study began with 20 %: use this, or another folder",
    "seed=13": "--seed: the study began with 12: use this, or another folder",
    "lower=yes": "in this study, larger figures are better: use the same --victim,",
    "victim=http://none/": "in this study, larger figures are better: use the same --victim,",
    "iteration=(x)": "in this study, larger figures are better: use the same --victim,",
}


def test_calls_that_contradict_the_study_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = Recipe(count=2, runs=1, call={"seed": "12", "suspects_of": "job"})
    simulation = Simulation(recipe, tmp_path)
    same = simulation.words(depth="0.2", seed="12", suspects_of="job")
    assert cli.main(["ssantagonist", "answer", *same]) == 0
    assert cli.main(["ssantagonist", "answer", *simulation.words(suspects="100,101")]) == 0
    capsys.readouterr()
    for command, (word, message) in itertools.product(("plan", "answer"), CONTRADICTIONS.items()):
        name, _, value = word.partition("=")
        assert cli.main(["ssantagonist", command, *simulation.words(**{name: value})]) == 125
        assert capsys.readouterr().err.startswith(f"ssantagonist: {message}")


@pytest.mark.parametrize(
    "words, expected",
    [
        ("--victim true --suspects 5", "a folder is required"),
        ("--suspects 5 study", "--victim is required"),
        ("--victim true study", "use either --suspects or --suspects-of"),
        ("--victim true --suspects 5 --suspects-of x study", "either --suspects or"),
        ("--victim true --suspects 5 study more", "unexpected argument 'more'"),
        ("--depth 95% study", "--depth: '95%' is out of range"),
        ("--block 2s study", "--block: '2s' is out of range"),
    ],
)
def test_invalid_options_are_refused(
    words: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["ssantagonist", "answer", *words.split()]) == 125
    assert expected in capsys.readouterr().err


def test_groups_of_a_posix_pattern_are_found() -> None:
    assert all(map(options.has_group, ["(x)", "a|(b)", "[]](x)", "[^]](x)", "[[:alpha:]](x)"]))
    assert not any(map(options.has_group, ["", "x", r"\(x\)", "[(]x[)]", "[](]x", "[[:alpha:](]"]))


def test_study_of_another_version_is_refused(tmp_path: Path) -> None:
    simulation = Simulation(Recipe(count=2, runs=1), tmp_path)
    (tmp_path / "look/run.json").write_text('{"status": "done", "columns": {"suspects": "100@7"}}')
    with pytest.raises(UserError, match="look lacks columns, because another version began"):
        simulation.study()


def test_only_runs_to_come_need_their_suspects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation = Simulation(Recipe({1: Job(cost=0.3)}, runs=2), tmp_path / "study")
    ask = tmp_path / "ssantagonist"
    ask.write_text('#!/bin/sh\necho "$*" >>"$0.words"\necho pid,started,name\nexit "$STATUS"\n')
    ask.chmod(0o755)
    words = ["ssantagonist", "plan", *simulation.words(victim_pid="5")]
    monkeypatch.setenv("SHOWSTOPPER_PROGRAM", str(ask))
    monkeypatch.setenv("STATUS", "0")
    assert cli.main(words) == 0
    monkeypatch.setenv("STATUS", "125")
    with pytest.raises(SystemExit):
        cli.main(words)
    asked = (tmp_path / "ssantagonist.words").read_text().splitlines()
    assert [line.split()[1] for line in asked] == ["--suspects=101@7"] * 2


def test_suspects_are_asked_for_by_pid_and_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = tmp_path / "ssantagonist"
    ask.write_text('#!/bin/sh\nprintf "pid,started,name\\n7,9,\\"%s\\"\\n" "$*"\n')
    ask.chmod(0o755)
    monkeypatch.setenv("SHOWSTOPPER_PROGRAM", str(ask))
    call = Simulation(Recipe(runs=0), tmp_path).call(iteration="x", victim_pid="5")
    known = [Suspect(812, 5, "a,b"), Suspect(900, 7, "")]
    victim = "--victim=bench --figure {x} --iteration=x --victim-pid=5"
    asked = f"suspects --suspects=812@5,900@7 --names=a\\,b, {victim}"
    assert study.find_suspects(call, known) == [Suspect(7, 9, asked)]


# Studies in rows

SERVES = {0: Job(cost=-0.2)}


def in_rows(folder: Path, recipe: Recipe, **call: str) -> Study:
    recipe.call, recipe.in_rows = {"slot": "5s"} | call, True
    return Simulation(recipe, folder).study()


def plan_of(study_: Study) -> str:
    return "\n".join(plan.lines(study_))


def test_dependency_must_be_confirmed_alone(tmp_path: Path) -> None:
    sentences = {}
    for name, recipe in {
        "together": Recipe(SERVES, count=2),
        "confirmed": Recipe(SERVES, count=2, runs=3),
        "refuted": Recipe(SERVES, count=2, runs=3, then={0: Job()}),
        "aside": Recipe({0: Job(cost=-3)}, count=2, runs=3, aside=12),
    }.items():
        found = in_rows(tmp_path / name, recipe, seed="3")
        rows = answer.df_suspects(found)
        sentences[name] = re.sub(r"[\d.]+", "#", answer.sentence_of(found, rows.iloc[0]))
        assert rows["verdict"][1] == effects.NOTHING
    lost = "stopping it costs # % (# to #)"
    assert sentences == {
        "together": f"pid # (job#): not confirmed: {lost}, which no run alone confirms",
        "confirmed": f"pid # (job#): the service depends on it: {lost}; look for sockets, pipes or "
        "memory that they share; alone, the service loses again",
        "refuted": f"pid # (job#): not confirmed: {lost}; alone, no effect was found",
        "aside": "pid # (job#): the service depends on it: stopping it costs # % or more; look for "
        "sockets, pipes or memory that they share; alone, the service loses again",
    }


def test_suspect_set_aside_among_others_is_judged_alone(tmp_path: Path) -> None:
    verdicts = {}
    jobs = {"hurts": Job(cost=0.3), "disturbs": Job(disturbs=0.3), "innocent": Job()}
    for name, job in jobs.items():
        recipe = Recipe({0: job}, count=2, runs=3, aside=12, aside_once=True)
        found = in_rows(tmp_path / name, recipe, seed="3")
        rows = answer.df_suspects(found)
        verdicts[name] = rows["verdict"][rows["pid"] == 100].item()
        if name == "hurts":
            assert abs(rows["cost"][0] - 0.3) < 0.01
        sentence = answer.sentence_of(found, rows.iloc[0])
        assert sentence.count("all of it costs") <= 1 and "nan" not in sentence
    assert verdicts == {
        "hurts": effects.HURTS, "disturbs": effects.DISTURBS, "innocent": effects.UNCONFIRMED
    }  # fmt: skip


def test_cost_in_rows_is_that_of_all_cpu_time(tmp_path: Path) -> None:
    found = in_rows(tmp_path, Recipe({1: Job(cost=0.1)}, count=3))
    rows = answer.df_suspects(found)
    assert rows["verdict"][0] == effects.HURTS
    assert abs(rows["cost"][0] - 0.1) < 0.01 and abs(rows["withheld"][0] - 1) < 0.01


def test_blocks_and_figures_are_planned(tmp_path: Path) -> None:
    lines = plan_of(in_rows(tmp_path / "often", Recipe(SERVES, count=2)))
    assert "codes --depth 0.2 --slot 5s --slots 126 --rows 5 --blocks 1 " in lines
    assert "watch --slots 630 --slot 1s " in lines
    assert re.search(r"--rows 5 --blocks 1 --settle 0 --shifts \S+ --loss-blocks 1 ", lines)
    assert re.search(r"--rows 10 --blocks 5 --settle 0 --shifts \S+ --loss-blocks 3 ", lines)
    assert "--throttles {s1.pid},{s2.pid} " in lines
    assert "codes --depth 0.5 --slot 10s --slots 63 --rows 10 --blocks 5 " in lines
    lines = plan_of(in_rows(tmp_path / "short", Recipe(count=2, runs=1), block="500m"))
    assert "--slot 5s --slots 126 --rows 5 --blocks 2 " in lines
    # In a block of a second, there are 2.5 figures.
    rare = Recipe(count=2, runs=1, look=(100, 101, 10))
    lines = plan_of(in_rows(tmp_path / "rare", rare))
    assert "--rows 5 --blocks 1 " in lines and "watch --slots 126 --slot 5s " in lines
    assert re.search(r"--rows 1 --blocks 1 --shifts \S+ --loss-blocks 2 ", lines)


def test_noise_above_12_percent_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = Recipe(count=2, runs=1, look=(100, 150, 50), call={"slot": "5s"})
    simulation = Simulation(recipe, tmp_path)
    monkeypatch.setattr(study, "find_suspects", lambda *_: simulation.suspects)
    deviation = simulation.study().look.slots.deviation()
    assert cli.main(["ssantagonist", "plan", *simulation.words()]) == 125
    longer = math.ceil(5 * 1.5 * (deviation / 0.12) ** 2)
    out, err = capsys.readouterr()
    assert not out and f"use --slot {longer}s" in err
    assert cli.main(["ssantagonist", "plan", *simulation.words(slot=f"{longer}s")]) == 0


def test_quantile_has_enough_requests(tmp_path: Path) -> None:
    url = {"victim": "http://none/", "figure": "p99"}
    simulation = Simulation(Recipe(count=1, runs=0, call=url | {"slot": "0"}), tmp_path)
    assert simulation.study().look.slot == 63  # 1000 requests at 20 a second, in 80 % of it
    assert "--figure p99 " in plan_of(simulation.study())
    with pytest.raises(UserError, match="--slot: too few requests for p99: use at least 63s, or a"):
        simulation.call(slot="5s")


@pytest.mark.parametrize("depth, block", [(0.2, 1), (0.5, 1), (0.3, 0.4), (0.7, 1), (0.9, 0.1)])
def test_blocks_fit_in_a_slot(depth: float, block: float) -> None:
    for slot in (0.2, 1, 2, 5, 5.5, 10, 63):
        rows, blocks = study.divide_slot(slot, depth, block)
        length = depth * slot / blocks
        assert length <= min(block, slot / rows) + 1e-9
        assert 2 * blocks <= rows or (rows == blocks and length < slot / rows)


SLOTS = {
    "": study.Slots(),
    "0,1,5,12,0.25\n1,6,5,0,\n2,11,5,9,0.3": [0.25, math.nan],  # a kill cut the last line
    "0,x,5,12,0.25\n": 'slots.csv:2: invalid row, in "x,5,12,0.25"',
    "0,1,5,12,0.25\n1,6,5\n2,11,5,9,1\n": 'slots.csv:3: damaged row, in "1,6,5"',
}


@pytest.mark.parametrize("text", SLOTS)
def test_slots_are_read(text: str, tmp_path: Path) -> None:
    path, expected = tmp_path / "slots.csv", SLOTS[text]
    path.write_text(HEADING + text)
    if isinstance(expected, str):
        with pytest.raises(UserError, match=expected):
            study.read_slots(str(tmp_path))
    elif isinstance(expected, list):
        np.testing.assert_array_equal(study.read_slots(str(tmp_path)).figures, expected)
    else:
        assert study.read_slots(str(tmp_path)).iteration() == math.inf


@pytest.mark.parametrize("name", ["suspects.csv", "crossed.csv", "report.html"])
def test_unwritable_page_is_reported(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulation = Simulation(Recipe(count=2), tmp_path / "study")
    (tmp_path / "page" / name).mkdir(parents=True)
    words = ["answer", f"--page={tmp_path}/page", *simulation.words()]
    assert cli.main(["ssantagonist", *words]) == 125
    expected = f"ssantagonist: cannot write {tmp_path}/page/{name}: Is a directory\n"
    assert capsys.readouterr().err == expected


def test_manual_page_names_all_columns() -> None:
    text = (DATA.parents[1] / "tools/ssantagonist/ssantagonist.1").read_text()
    for name in {column.name for column in (*answer.SUSPECTS, *answer.CROSSED)}:
        assert re.search(rf"\b{re.sub('_(low|high)$', '', name)}\b", text), name


# Codes


def codes(seed: int, suspects: int = 16) -> np.ndarray:
    """Return 1 in slots in which a code throttles, and -1 in others."""
    return np.where(effects.Codes.draw(suspects, True, seed).low(), 1, -1)


def test_codes_agree_with_the_c_program() -> None:
    """The file is from `ssantagonist codes --shifts 62:0,3,60 --slots 126 --rows 1 --blocks 1`."""
    table = np.loadtxt(DATA / "codes.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(effects.Codes(62, (0, 3, 60), 126).low(), table[:, 2:])


@pytest.mark.parametrize("seed", range(20))
def test_codes_are_balanced_and_hardly_correlate_within_two_slots(seed: int) -> None:
    low = codes(seed)
    assert not low.sum(axis=0).any()
    np.testing.assert_array_equal(low[:63], -low[63:])
    for lag in range(3):
        shared = low[lag:].T @ low[: len(low) - lag] / (len(low) - lag)
        if lag == 0:
            np.fill_diagonal(shared, 0)
        assert np.abs(shared).max() <= 0.07


def test_no_code_is_the_product_of_two_others() -> None:
    low = codes(1)
    products = [low[:, one] * low[:, other] for one in range(16) for other in range(one)]
    assert not (np.array(products) @ low).any()


# Estimates

DEPTH = 0.2


@dataclass
class Slotted:
    """A run of four suspects that lose CPU time to the full depth."""

    low: np.ndarray = field(default_factory=lambda: effects.Codes.draw(4, True, 11).low())

    def __post_init__(self) -> None:
        random = Numbers(5)
        self.figures = np.array([3 + 0.01 * (random.next() - 0.5) for _ in self.low])
        self.cpu = np.where(self.low[:, :4], 2 * (1 - DEPTH), 2.0)
        self.usual = np.full((4, 2), [2, 0.01])

    def add(self, suspect: int, now: float, after: float = 0) -> None:
        self.figures[self.low[:, suspect]] += now
        self.figures[1:][self.low[:-1, suspect]] += after

    def estimate(self) -> effects.Effects:
        throttled = effects.Throttled.in_slots(self.low, DEPTH)
        found = effects.estimate(throttled, self.figures, self.cpu, self.usual)
        assert found
        return found

    def verdicts(self) -> list[str]:
        return list(self.estimate().codes["verdict"][:4])


def test_quantile_is_corrected_for_the_number_of_suspects() -> None:
    known = {(1, 10): 2.228139, (5, 10): 3.169273, (10, 1e9): 2.807034}  # from tables
    for (tests, freedom), value in known.items():
        assert abs(effects.quantile(tests, freedom) - value) < 1e-6


def test_suspects_that_lose_little_cpu_time_are_not_testable() -> None:
    run = Slotted()
    for suspect in range(2):
        run.add(suspect, 0.03)
    run.cpu[:, 0] = 2 - 0.3 * DEPTH * 2 * run.low[:, 0]
    run.cpu[:, 1] = 2 - 0.4 * DEPTH * 2 * run.low[:, 1]
    run.cpu[:, 2:] = [0, math.nan]
    untestable = effects.UNTESTABLE
    assert run.verdicts() == [untestable, effects.HURTS, untestable, untestable]


def test_effect_lost_in_the_next_slot_is_shifted_work() -> None:
    run = Slotted()
    run.add(0, 0.03, -0.03)
    run.add(2, -0.05)
    assert run.verdicts()[0] == effects.SHIFTS and run.verdicts()[2] == effects.SUPPORTS


def test_cpu_time_used_later_is_shifted_work() -> None:
    """A backlog takes several slots, so the slot after shows little of it."""
    run = Slotted()
    run.add(0, 0.03)
    run.cpu[:, 0] = np.where(run.low[:, 0], 2 - 2 * DEPTH, 2 + 2 * DEPTH)
    assert abs(run.estimate().codes["returned"][0] - 1) < 1e-9
    assert run.verdicts()[0] == effects.SHIFTS
    run.usual[0] = 2, 0.5
    assert run.verdicts()[0] == effects.HURTS


def test_slots_without_a_figure_are_left_out() -> None:
    run = Slotted()
    run.add(0, 0.03)
    run.figures[3::9] = math.nan
    assert abs(run.estimate().codes["effect"][0] - 0.03) < 0.002
    run.figures[:-12] = math.nan
    throttled = effects.Throttled.in_slots(run.low, DEPTH)
    assert effects.estimate(throttled, run.figures, run.cpu, run.usual) is None


def test_effect_of_an_unused_code_is_reported() -> None:
    run = Slotted()
    run.add(5, 0.05)
    assert run.estimate().ghost_found


class Rowed(Slotted):
    """A run of four suspects that are stopped in one of the five rows of a slot."""

    def __post_init__(self) -> None:
        random = np.random.default_rng(5)
        places = random.integers(1, 5, self.low.shape)
        stopped = (places[:, None, :] == np.arange(5)[:, None]) & self.low[:, None, :]
        self.stopped = stopped.reshape(-1, self.low.shape[1]).astype(float)
        self.figures = 3 + 0.01 * (random.random(len(self.stopped)) - 0.5)
        self.cpu = 2 * (1 - self.stopped[:, :4])
        self.usual = np.full((4, 2), [2, 0.01])

    def add(self, suspect: int, now: float, after: float = 0) -> None:
        self.figures += now * self.stopped[:, suspect]
        self.figures[1:] += after * self.stopped[:-1, suspect]

    def estimate(self) -> effects.Effects:
        throttled = effects.Throttled.in_rows(self.low, self.stopped)
        found = effects.estimate(throttled, self.figures, self.cpu, self.usual)
        assert found
        return found


def test_loss_only_after_a_block_is_a_disturbance() -> None:
    run = Rowed()
    run.add(0, 0, -0.03)
    run.add(1, -0.03, -0.03)
    run.add(2, 0.03)
    assert run.verdicts() == [effects.DISTURBS, effects.SUPPORTS, effects.HURTS, effects.NOTHING]


def test_more_tests_widen_the_intervals() -> None:
    run = Rowed()
    throttled = effects.Throttled.in_rows(run.low, run.stopped)
    few, many = (
        effects.estimate(throttled, run.figures, run.cpu, run.usual, tests) for tests in (4, 40)
    )
    assert few and many
    ratio = (many.codes["effect_high"] - many.codes["effect"]) / (
        few.codes["effect_high"] - few.codes["effect"]
    )
    expected = effects.quantile(40, 600) / effects.quantile(4, 600)
    assert ratio.between(expected - 0.02, expected + 0.02).all()


def test_gain_that_is_lost_in_the_seconds_after_is_shifted_work() -> None:
    run = Rowed()
    run.add(0, 0.03, -0.03)
    assert run.verdicts()[0] == effects.SHIFTS
    codes = run.estimate().codes
    assert codes["net_low"][0] < 0 < codes["net_high"][0]


def test_seconds_after_end_when_a_suspect_is_stopped_again() -> None:
    stopped = np.array([[0, 1, 0, 0, 0, 1, 0, 1, 0]], dtype=float).T
    throttled = effects.Throttled.in_rows(stopped[:1] > 0, stopped)
    assert throttled.after[:, 0].tolist() == [0, 0, 1, 1, 0, 0, 1, 0, 1]


def test_only_a_loss_is_confirmed() -> None:
    supports, disturbs = effects.SUPPORTS, effects.DISTURBS
    assert effects.confirmed(supports, supports) == supports
    assert effects.confirmed(supports, disturbs) == disturbs
    for alone in ("", effects.NOTHING, effects.HURTS, effects.UNTESTABLE):
        assert effects.confirmed(supports, alone) == effects.UNCONFIRMED
    assert effects.confirmed(effects.HURTS, "") == effects.HURTS
