#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares reports with the frozen corpus: what the program printed for the same input before.

A case is a folder with `commands` and `in.tree`: records, studies and tables. Each line of `commands` is
`NAME: WORDS`: the command's name and its arguments, quoted as in a shell. Commands run in a folder with the files of
`in.tree`; {out} is an empty folder for what they write. out/NAME has the results: `stdout`, `stderr`, `status` (if
not empty, or not 0), the tables as CSV, the text of report.html as `page`, and other files. README.md describes the
corpus and its format.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import copy
import csv
import difflib
import functools
import io
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest import mock

HERE = Path(__file__).resolve().parent
CORPUS = HERE / "corpus"
sys.path.insert(0, str(HERE.parents[1] / "tools" / "analysis"))
PARTS = ("status", "stdout", "stderr", "table", "page", "file")
Runner = Callable[[list[str]], tuple[int, bytes, bytes]]


@dataclass(frozen=True)
class Dropped:
    """A table that is no longer a file: why, and where its columns are now, if anywhere."""

    reason: str
    into: str = ""
    keys: tuple[str, ...] = ()  # columns that both tables have
    columns: tuple[tuple[str, str], ...] = ()  # their names before and now


def same(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, name) for name in names)


HOST = (
    *"environment measured_in host_load_mean load_difference host_samples".split(),
    *"clock_difference_start_seconds clock_difference_end_seconds".split(),
    *"vcpus vcpu_host_cpu_seconds vcpu_wall_seconds vcpu_load".split(),
)
CAPACITY = ("demand", "held_rate", "held_times", "failed_rate", "failed_times")
INTERVALS = ("error_low", "error_high", "error_within", "apart_mean", "apart_low", "apart_high", "apart_within")
PREDICTION = ("predicted_by", "any_trace", *INTERVALS)
PUBLISHED = ("published_as", "published_saved_percent", "published_lost_percent", "published_lost_per_saved")

TABLE_3 = (
    "published_seconds",
    *(f"{system}_{what}" for what in ("iterations_per_second", "ratio") for system in ("linux", "aix")),
)

PAIR = ("environment", "placement", "foreground", "background", "set")
PAIR_PUBLISHED = ("kvm_percent", "lxc_percent")
POWER = (
    ("seconds", "power_seconds"),
    ("iterations", "power_iterations"),
    *same("watts", "watt_hours", "iterations_per_watt_hour"),
)

COUNTERS = (
    *("step", "half", "target", "load", "steps_of", "environment"),
    *("placement", "workload", "role", "background", "round", "set"),
)

IDLE = ("seconds", "frequency_mhz", "active", "active_deviation", "share", "share_deviation")

# Tables that restated others. A row without columns is not compared: the text of pages has the rest.
DROPPED = {
    "constant-load-runs": Dropped("moved to runs and steps, of which it repeated rows"),
    "constant-load-within": Dropped("dropped because constant-load has its figures"),
    "replay-within": Dropped("dropped because replay has its figures"),
    "published": Dropped("dropped because it repeated references.csv; the page shows it"),
    "published-values": Dropped("dropped because it repeated the files of published figures"),
    "loads": Dropped("moved to steps, of which it repeated rows"),
    "methods-deviation": Dropped("moved to methods, of which it repeated columns"),
    "unmatched": Dropped("dropped because a note counts the steps, and the page lists them"),
    "energy": Dropped("moved to runs", "runs", ("record",), (*POWER, ("covers", "covers"), ("note", "power_note"))),
    "energy-steps": Dropped("moved to steps", "steps", ("record", "step"), POWER),
    "environments": Dropped("moved to runs", "runs", ("record",), same(*HOST)),
    "curve": Dropped("dropped because nothing but a picture needs it, which draws it"),
    "changes": Dropped("dropped because interference has the placements, and findings the changes"),
    "requests-capacity": Dropped(
        "moved to requests", "requests", ("record", "set"), same(*CAPACITY)),
    "requests-idle": Dropped(
        "moved to idle-states, as rows of rates", "idle-states", ("record", "rate", "state"), same(*IDLE)),
    "requests-knobs": Dropped("moved to requests-savings"),
    "requests-targets": Dropped("dropped because requests.json has the same figures, per_target"),
    "interference-published": Dropped("moved to interference", "interference", (*PAIR, "round"), same(*PAIR_PUBLISHED)),
    "throughput-published": Dropped("moved to replay, or computed for people: a prediction has no record"),
    "counters-steps": Dropped(
        "moved to counters, as rows of steps", "counters", ("record", "step"), same(*COUNTERS[1:])),
    "fleet-prediction": Dropped("moved to fleet-nodes", "fleet-nodes", ("fleet", "node"), same(*PREDICTION)),
    "loadline-fits": Dropped("moved to loadline-predictions"),
    "power-settings": Dropped("dropped because power-fits has the settings"),
}
# Tables that were shown to people, by their titles, and are not compared.
OFF_PAGES = {
    "Constant load: how often it was held": "dropped because a sentence says how often",
    "Replay: how often the trace was followed": "dropped because a sentence says how often",
    "Throughput over a trace, and what was published in Table 3": "moved to the table of replays",
    "One trace at several speeds": "has columns of Table 3; replay.csv has the same cells",
    "Background loads at which the best placement changes": "dropped because findings have the clear ones",
    "Interference next to published figures, in percent": "moved to the table of all pairs",
    "Counters by step; for a foreground, by the steps of its background": "has no column of halves if there are none",
    "What was published": "no longer counts the values that were printed",
}
OFF_TERMINAL = {
    "throughput of a trace, /s, with the published Table 3, and relative to speed 1": "the page and replay.csv have it",
}
# A table that is the same in each report on an experiment: only the case `published` keeps it.
REPEATED = "published-values.csv"
# Columns that tables have in addition, because other tables moved into them.
ADDED: dict[str, tuple[str, ...]] = {
    "loadline-predictions": ("shape", "fits", "knee_low", "knee_high"),
    "fleet-nodes": PREDICTION,
    "replay": TABLE_3,
    "requests": CAPACITY,
    "requests-rates": ("frequency_mhz", "active", "active_deviation"),
    "requests-savings": PUBLISHED,
    "runs": ("covers", "power_note", *(now for _, now in POWER), *HOST),
    "steps": tuple(now for _, now in POWER),
    "counters": COUNTERS,
    "interference": PAIR_PUBLISHED,
    "idle-states": ("rate",),
}
# Rows of another table moved into these: they have a value in this column.
ADDED_ROWS = {"counters": "step", "idle-states": "rate", "loadline-predictions": "shape"}


@dataclass(frozen=True)
class Accepted:
    """Differences in lines that match `pattern`, in commands that match `where` (CASE/NAME/FILE)."""

    where: str
    pattern: str
    reason: str


ACCEPTED: tuple[Accepted, ...] = (
    Accepted("requests-underload/.*/page", "^.Tables next to this page", "requests-idle is in idle-states"),
    Accepted("fleet-rehearsal/disturbed-sample", "", "fleet-prediction is in fleet-nodes"),
    Accepted("duet-services/rate-blocks/stdout", r"A B \| -?0\.00 \|", "0 of Markdown has no sign either"),
    Accepted(
        "/page$", r"\|[^|]*\| (within|throughput-table3|actuators-savings|interference-(kvm|lxc))\.csv\| \d+\| \d+\|",
        "published figures are now in other tables"),
    Accepted("/page$", r"^[-+]\| [^|]*(\| \u2013(0\.0 to 0\.0)?)+$", "an unknown interference has no interval"),
    Accepted("/page$", r"^[-+]\| [^|]*(\| \u2013( ?0\.0 to 0\.0)?)+(\| \u2013)*$", "an unknown interference has no interval"),
    Accepted("/page$", "^.Tables next to this page", "tables have moved into others"),
    Accepted("/(stderr|page)$", "(see unmatched.csv|the page lists them)$", "unmatched is a list on the page"),
    Accepted("/(stdout|page)$", r"^[-+]least squares: -?[\d.]+(e-1\d)? \+ ", "an intercept near 0 is a rounding error"),
    Accepted("options/table-(json|csv|page)/stdout", "", "steps have columns of power"),
    Accepted("loadline-(bursts|predicted|service)/.*/page$", r"^[-+](\| |table: )", "shapes are in the table of predictions"),
    # Points on a line: errors and p-values of its coefficients are rounding errors.
    Accepted("(pairs|replay-predicted|studies|study|interference|schema-1).*/(fits|curve|interference).csv$", "(_p|_error|intercept|percent|low|high): ", "of points on a line"),
    Accepted("(pairs|replay-predicted|studies|study).*/page$", r"^[-+]\| steps\| \d+\| ", "of points on a line"),
    Accepted("pairs-environments/page/interference.csv$", "angle_degrees: ", "of points on a line"),
    Accepted(
        "/(stdout|page)$", "of Showstopper\\. Published|on all platforms|^-measure: all published|^.Linux.$",
        "the measure of the published statement is unknown"),
    Accepted("pairs-environments/page/page$", r"e-30", "of points on a line"),
    Accepted("pairs-environments/page/page$", "0\\.0\u2225-?0\\.0 to 0\\.0", "of points on a line"),
    Accepted("schema-1/page/requests-rates.csv$", "percentiles|_p\\d+_seconds", "records of schema 1 were never released"),
    Accepted("loadline-several/against/page$", r"the other set has no such run", "an unknown target is a dash"),
    Accepted(
        "(options|tests)/[^/]*/stderr", "^.ssreport: --(names|format|column|check|decide|table|edge|interval|confidence|"
        "deviation|published|predict)(: \"[^\"]*\" is not a pair| requires| needs| has no effect| cannot| prints)",
        "options that exclude each other are a table, with one sentence"),
    Accepted("manifests/05-page/", "first set|05", "05/a and 05/./a have the same parent"),
    Accepted("tests/missing/stderr", "^.ssreport: missing.csv cannot be", "the reason says what to do"),
    Accepted(
        "(tradeoffs|requests-records/06)[-/]page/page", r"^-(table: Requests to each|\| .*(\| URL|\| http://))",
        "requests.json has the figures of each URL"),
    Accepted(
        "requests-records/(1[379]|18|2.)-.*/(stdout|page)$",
        r"^-($|capacity: |requests +demand|table: Capacity|(\| )?\d\d/(b|capacity)\W.* p95=2s|\| record\| .*\| demand)",
        "findings and the table requests have the capacities"),
    Accepted(
        "/stdout$",
        r"^[-+]($|run  +|runs; | {20,}%|.{20,23} +([-\d.e+]+ +){5}(<= )?[-\d.e+]+( [!+*])*$|[!+*] "
        r"|.{20,21} *(valid|doubtful|invalid|not checked) | *step +from| *\d+ +[-\d.]+ +[-\d.]+( +[-\d.e+]+){3} +(<= )?[-\d.e+]+$"
        r"|<= no iteration)",
        "runs and steps are printed like all tables, with the verdict of each run"),
    Accepted("environments/08-page/(stderr|page|runs.csv)$", "cpus.csv:", "an invalid row is quoted, as in other tables"),
    Accepted("/requests-savings.csv$", "^other order of columns", "the first columns are those of the terminal"),
    Accepted(
        "(tradeoffs/page|requests-underload/09-page)/(stdout|page)$",
        r"^[-+]($|what each knob|table: (What each|Idle)|## Idle|(\| )?(knob|frequency|pin|instances|cpus|power)\b"
        r"|\| (service|record)\|.* (of idle|active), %|\| .*\| (POLL|C\d\w*|haltpoll_idle)\|)",
        "idle states of rates are those of runs; failures say why levels of a knob are missing"),
    Accepted("/page$", "The (dotted|dashed) line shows throughput", "the line is dashed"),
    Accepted("/page$", "[Tt]he deepest color is|darkest at .* up or down", "fields of 0 have no color"),
    Accepted("/page$", r"of colors, from .* \((red|orange): A is slower\)", "fields of 1 have no color"),
    Accepted("/page$", "^.details: (Counters pair by pair|Response times over time|Run by run): ", "many pictures are folded"),
    Accepted(
        "interference-(experiment|quota)/page/(page|study.csv|stdout)$",
        r"^-(## Study|table: Mean of the rounds|Runs that differ only|\| .*foreground|\| (workload\| )?method|study; )|"
        r"^-($|(workload +)?method |serial +|\.\.trolled )|^is missing",
        "pairs with different backgrounds are not rounds of one another"),
    Accepted(
        "/page$", "^-(## Published figures$|Published figures are those)",
        "the page lists the published tables with which it compares"),
    Accepted("latency/rates-md/stdout", r"^[-+]\|", "the column of notes is there only if there is a note"),
    Accepted("power-fits/04-page/page", r"3\.[36]e-27", "a p-value of points on a parabola is a rounding error"),
)


# Cases and their results


# Files in a file: a line `==> PATH` before the contents of each. Several such lines precede equal contents. Suffixes:
# `/` an empty folder, ` -> TARGET` a link, ` (empty)`, and ` (cut)`: the last line has no newline.
MARK = b"==> "


def write_tree(path: Path, files: dict[str, bytes]) -> None:
    """Writes contents by name. Names with a suffix of a folder or a link have no contents."""
    names: dict[bytes, list[str]] = {}
    for name, data in files.items():
        assert not re.search(rb"^==> ", data, re.MULTILINE), f"{name} has a line that begins a file"
        names.setdefault(data, []).append(name)
    blocks = [b"".join(MARK + name.encode() + b"\n" for name in names.pop(b"", []))]
    blocks[0] = re.sub(rb"(?m)^(?!.* -> )(.*[^/\n])$", rb"\1 (empty)", blocks[0])
    for data, equal in names.items():
        cut = b"" if data.endswith(b"\n") else b" (cut)"
        blocks.append(b"".join(MARK + os.fsencode(name) + cut + b"\n" for name in equal))
        blocks.append(data + (b"\n" if cut else b""))
    path.write_bytes(b"".join(blocks))


def read_tree(path: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for names, data in re.findall(rb"((?:^==> .*\n)+)((?:^(?!==> ).*\n)*)", path.read_bytes(), re.MULTILINE):
        for line in names.splitlines():
            name = os.fsdecode(line[len(MARK) :])
            alone = name.endswith(("/", " (empty)")) or " -> " in name
            cut = name.endswith(" (cut)")
            files[name.removesuffix(" (empty)").removesuffix(" (cut)")] = b"" if alone else data[:-1] if cut else data
    return files


def read_folder(folder: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            files[f"{name} -> {os.readlink(path)}"] = b""
        elif path.is_file():
            files[name] = path.read_bytes()
        elif not any(path.iterdir()):
            files[f"{name}/"] = b""
    return files


def unpack(files: dict[str, bytes], folder: Path, version: str = "") -> None:
    """Writes the files; the program's own version replaces @VERSION@ in JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        path, _, target = name.partition(" -> ")
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if target:
            (folder / path).symlink_to(target)
        elif name.endswith("/"):
            (folder / path).mkdir(exist_ok=True)
        else:
            is_json = version and path.endswith(".json")
            (folder / path).write_bytes(data.replace(b"@VERSION@", version.encode()) if is_json else data)


@dataclass(frozen=True)
class Case:
    folder: Path
    commands: dict[str, list[str]]

    @property
    def name(self) -> str:
        return self.folder.name

    def __str__(self) -> str:
        return self.name


def read_case(folder: Path) -> Case:
    commands: dict[str, list[str]] = {}
    for line in (folder / "commands").read_text("utf-8").splitlines():
        name, _, words = line.partition(":")
        if name and not name.startswith("#"):
            assert name not in commands, f"{folder.name}: {name} is given twice"
            commands[name] = shlex.split(words)
    return Case(folder, commands)


def cases(names: Iterable[str] = ()) -> list[Case]:
    folders = [CORPUS / name for name in names] or sorted(CORPUS.glob("*/"))
    return [read_case(folder) for folder in folders if (folder / "commands").exists()]


class PageText(HTMLParser):
    """The text of a page without its contents, one block a line. Pictures keep only captions."""

    BLOCKS = {"p", "h1", "h2", "h3", "li", "caption", "tr", "summary", "table", "section", "div", "details", "ul",
              "figure", "figcaption", "title", "dt", "dd"}
    MARKS = {"h1": "# ", "h2": "## ", "h3": "### ", "li": "- ", "caption": "table: ", "summary": "details: "}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.line = ""
        self.within: list[str] = []  # of head, style, svg, nav and figure
        self.feed(text)
        self.end_line()

    def end_line(self, then: str = "") -> None:
        line = " ".join(self.line.split())
        if line and line not in {mark.strip() for mark in self.MARKS.values()}:
            self.lines.append(("picture: " if "figure" in self.within else "") + line)
        self.line = then

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.BLOCKS:
            self.end_line(self.MARKS.get(tag, ""))
        if tag in {"head", "svg", "nav", "figure"}:
            self.within.append(tag)
        if tag == "tr" and dict(attrs).get("class"):
            self.line = f"[{dict(attrs)['class']}] "
        if tag in {"td", "th"}:
            self.line += "| "

    def handle_endtag(self, tag: str) -> None:
        if tag in self.BLOCKS:
            self.end_line()
        if self.within and self.within[-1] == tag:
            self.within.pop()

    def handle_data(self, data: str) -> None:
        if not {"head", "svg", "nav"} & set(self.within):
            self.line += data


def page_text(data: bytes) -> str:
    return "".join(line + "\n" for line in PageText(data.decode("utf-8", "surrogateescape")).lines)


@functools.cache
def version_of(run: Runner) -> str:
    return run(["--version"])[1].decode().split()[-1]


def without_version(text: str, version: str) -> str:
    found = rf"(ssreport|this is|this version,) {re.escape(version)}(?![\w.])"
    return re.sub(found, r"\1 @VERSION@", text)


_inputs: dict[str, str] = {}  # the folder with the inputs of a case


@atexit.register
def forget_inputs() -> None:
    for folder in _inputs.values():
        shutil.rmtree(folder, ignore_errors=True)
    _inputs.clear()
    _records.clear()


def inputs_of(case: Case, version: str) -> str:
    """Returns a folder with the inputs of a case. Its commands write elsewhere, so they share it; only one is kept."""
    if case.name not in _inputs:
        forget_inputs()
        _inputs[case.name] = tempfile.mkdtemp()
        tree = case.folder / "in.tree"
        unpack(read_tree(tree) if tree.exists() else {}, Path(_inputs[case.name]), version)
    return _inputs[case.name]


def results(run: Runner, case: Case, name: str) -> dict[str, str]:
    """Runs a command; returns the files of its results, by name."""
    version = version_of(run)
    with tempfile.TemporaryDirectory() as top:
        out = Path(top) / "out"
        out.mkdir()
        with contextlib.chdir(inputs_of(case, version)):
            status, stdout, stderr = run([word.replace("{out}", str(out)) for word in case.commands[name]])
        found = {"stdout": stdout, "stderr": stderr, "status": f"{status}\n".encode() if status else b""}
        for path in sorted(path for path in out.rglob("*") if path.is_file()):
            found[path.relative_to(out).as_posix()] = path.read_bytes()
    if case.name != "published":
        found.pop(REPEATED, None)
    text = {}
    for file, data in found.items():
        is_page = Path(file).name == "report.html"
        kept = page_text(data) if is_page else data.decode("utf-8", "surrogateescape")
        if kept:
            kept = without_version(kept.replace(str(out), "{out}"), version)
            text["page" if is_page else Path(file).name] = kept
    return text


def expected(case: Case, name: str) -> dict[str, str]:
    path = case.folder / "out" / name
    files = read_tree(path) if path.exists() else {}
    return {file: data.decode("utf-8", "surrogateescape") for file, data in files.items()}


# Programs


ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}


def program(words: list[str]) -> Runner:
    """Returns a runner of this program."""

    def run(arguments: list[str]) -> tuple[int, bytes, bytes]:
        made = subprocess.run(
            words + arguments, env=os.environ | ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return made.returncode, made.stdout, made.stderr

    return run


_records: dict[tuple[object, ...], object] = {}  # of a case, by all that a method of Report reads them from


def read_once(read: Callable[..., object]) -> Callable[..., object]:
    """Returns a method of Report that reads each record once, and then returns copies."""
    from showstopper.runs import place_of  # type: ignore[import]

    def read_again(report: Any, source: Any, name: str) -> object:
        is_repeated = (source.set, place_of(source.path)) in report._places
        inputs = repr((source, name, report._settings(source)))
        key = os.getcwd(), read.__name__, inputs, report.decides, is_repeated
        if key not in _records:
            _records[key] = read(report, source, name)
        return copy.deepcopy(_records[key])

    return read_again


def draw(fig: object) -> str:
    """Stands in for writing a picture as SVG, which takes most of the time and is not compared."""
    return "<svg></svg>"


def in_process(arguments: list[str]) -> tuple[int, bytes, bytes]:
    """Calls ssreport of the package in this process. Commands of a case share what they read. draw()
    gets the pictures."""
    from markupsafe import Markup
    from showstopper import cli, figures, studies  # type: ignore[import]

    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape", newline="") for _ in range(2)]
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(streams[0]))
        stack.enter_context(contextlib.redirect_stderr(streams[1]))
        stack.enter_context(mock.patch.object(figures, "svg", lambda fig: Markup(draw(fig))))
        for name in ("_read_run", "_read_responses"):
            once = read_once(getattr(studies.Report, name))
            stack.enter_context(mock.patch.object(studies.Report, name, once))
        try:
            status = cli.main(["ssreport", *arguments])
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    for stream in streams:
        stream.flush()
    texts = [stream.buffer.getvalue() for stream in streams]  # type: ignore[attr-defined]
    return int(status or 0), texts[0], texts[1]


# Differences


def part_of(file: str) -> str:
    if file in PARTS:
        return file
    return "table" if file.endswith(".csv") else "file"


def without_dropped(text: str) -> str:
    """Leaves out dropped tables, and their names in lists of tables."""
    titles, blocks = ("|".join(map(re.escape, names)) for names in (OFF_PAGES, OFF_TERMINAL))
    text = re.sub(rf"(?m)^table: ({titles})\n((\[\w+\] )?\| .*\n)*", "", text)
    text = re.sub(rf"\n({blocks})\n(.*  .*\n)*", "", text)
    names = "|".join(DROPPED)
    text = re.sub(rf"(?<=[ ,:])({names})(\.csv)?, ", "", text)
    return re.sub(rf", ({names})(\.csv)?(?=\n)", "", text)


def line_differences(before: str, now: str) -> Iterator[str]:
    old, new = (without_dropped(text).splitlines() for text in (before, now))
    for line in difflib.unified_diff(old, new, lineterm="", n=0):
        if not line.startswith(("---", "+++", "@@")):
            yield line


# Headings of tables on pages, before and now.
HEADINGS = {"its confidence, from": "interval from", ", its confidence from, s": ": interval from, s", "| told|": "| certain|"}


def page_differences(before: str, now: str, pictures: bool) -> Iterator[str]:
    """Compares the texts of pages. A minus is the same in sentences, where it was a hyphen, and in tables. Columns
    of notes, which are the last ones, are there only if there is a note."""
    for old, new in HEADINGS.items():
        before = before.replace(old, new)
    texts = (re.sub(r"(?m)(\| note)?(\| ?)?$", "", text.replace("\u2212", "-")) for text in (before, now))
    for line in line_differences(*texts):
        if pictures or not line[1:].startswith("picture: "):
            yield line


def read_table(text: str) -> tuple[list[str], list[list[str]]]:
    rows = list(csv.reader(io.StringIO(text, newline="")))
    return (rows[0], rows[1:]) if rows else ([], [])


def is_same(value: str, found: str) -> bool:
    """Returns whether two cells are equal: numbers up to the twelfth digit, which depends on the order of a sum, or
    both at most the rounding errors of numbers near 1, such as errors and p-values of points on a line."""
    if value == found:
        return True
    try:
        numbers = float(value), float(found)
    except ValueError:
        return False
    return math.isclose(*numbers, rel_tol=2e-11) or max(map(abs, numbers)) < 5e-10


def table_differences(name: str, before: str, now: str) -> Iterator[str]:
    """Compares tables as texts, cell by cell. Columns that moved into the table may follow."""
    if before == now:
        return
    (columns, rows), (columns_now, rows_now) = read_table(before), read_table(now)
    added = [column for column in columns_now if column not in columns]
    if missing := [column for column in columns if column not in columns_now]:
        yield f"no columns {' '.join(missing)}"
    if wrong := [column for column in added if column not in ADDED.get(name, ())]:
        yield f"additional columns {' '.join(wrong)}"
    if missing or wrong:
        return
    if [column for column in columns_now if column not in added] != columns:
        yield f"other order of columns: {','.join(columns_now)}"
    if name in ADDED_ROWS:
        rows_now = [row for row in rows_now if not row[columns_now.index(ADDED_ROWS[name])]]
    if len(rows) != len(rows_now):
        yield f"{len(rows)} rows expected, {len(rows_now)} found"
    count = 0
    for number, (row, row_now) in enumerate(zip(rows, rows_now), 1):
        for column, value in zip(columns, row):
            found = row_now[columns_now.index(column)]
            count += value != found
            if not is_same(value, found):
                yield f"row {number}, {column}: '{value}' expected, '{found}' found"
    if not count and len(rows) == len(rows_now) and not added:
        yield "same cells, other bytes: quotes or ends of lines"


def moved_differences(name: str, before: str, tables: dict[str, str]) -> Iterator[str]:
    """Looks up the cells of a dropped table in the table that its columns moved into."""
    dropped = DROPPED[name]
    if not dropped.columns:
        return
    columns, rows = read_table(before)
    columns_now, rows_now = read_table(tables.get(f"{dropped.into}.csv", ""))
    wanted = (*dropped.keys, *(now for _, now in dropped.columns))
    if missing := [column for column in wanted if column not in columns_now]:
        yield f"{dropped.into}: no columns {' '.join(missing)}"
        return
    keyed = {tuple(row[columns_now.index(key)] for key in dropped.keys): row for row in rows_now}
    for row in rows:
        key = tuple(row[columns.index(key)] for key in dropped.keys)
        for column, column_now in dropped.columns:
            value = row[columns.index(column)]
            found = keyed[key][columns_now.index(column_now)] if key in keyed else "no row"
            if value != found:
                yield f"{' '.join(key)}, {column}: '{value}' expected, '{found}' found in {dropped.into}"


# The reasons of records without a verdict, which the package does not judge.
UNJUDGED = re.compile("interrupted: no verdict|is damaged")

# What follows from verdicts: sentences, pages, the exit status, and these tables and columns.
OF_VERDICTS = ("findings", "verdicts", "loadline-answers")


def lacks_verdict(case: Case, name: str) -> bool:
    """Returns whether a record of a command has no verdict, so that only figures are compared."""
    from showstopper import checks  # type: ignore[import]

    words = case.commands[name]
    paths = [word for word in words if not word.startswith("-") and word != "{out}"]
    with contextlib.chdir(inputs_of(case, version_of(in_process))):
        judged = checks.judge([path for path in paths if os.path.exists(path)], [])
    return any(UNJUDGED.search(verdict.reasons) for _, verdict in judged)


def of_verdicts(file: str, line: str) -> bool:
    """Returns whether a difference follows from a verdict."""
    if part_of(file) != "table":
        return file in ("stdout", "page", "status", "stderr")
    return file.removesuffix(".csv") in OF_VERDICTS or re.search("row \\d+, (verdict|state|notes):", line) is not None


def requested(case: Case, name: str) -> str:
    """Returns the table that a command prints as CSV; '' if it prints something else."""
    words = case.commands[name]
    plain = "--table" in words[:-1] and not {"--format", "--column", "--test"} & {*words}
    return words[words.index("--table") + 1] if plain else ""


def differences(
    case: Case, name: str, now: dict[str, str], only: str = "", table: str = "", pictures: bool = False
) -> Iterator[str]:
    """Compares the results of a command with the expected ones."""
    before = expected(case, name)
    if requested(case, name) in DROPPED:
        return
    unjudged = None
    files = sorted({*before, *now}, key=lambda file: (PARTS.index(part_of(file)), file))
    for file in files:
        if (only and part_of(file) != only) or (table and file != f"{table}.csv"):
            continue
        texts = before.get(file, ""), now.get(file, "")
        stem = file.removesuffix(".csv")
        if part_of(file) == "table" and stem in DROPPED and file not in now:
            found: Iterable[str] = moved_differences(stem, texts[0], now)
        elif part_of(file) == "table" and file in before and file in now:
            found = table_differences(stem, *texts)
        elif file == "stdout" and requested(case, name) and all(texts):
            found = table_differences(requested(case, name), *texts)
        elif part_of(file) == "table" and file in now and stem in ADDED_ROWS:
            columns = [column for column in read_table(texts[1])[0] if column not in ADDED[stem]]
            found = table_differences(stem, ",".join(columns) + "\n", texts[1])
        elif part_of(file) == "table":
            found = ["is missing" if file in before else "is not expected"]
        elif file == "page":
            found = page_differences(*texts, pictures)
        else:
            found = line_differences(*texts)
        where = f"{case.name}/{name}/{file}"
        found = list(found)
        if found and unjudged is None:
            unjudged = lacks_verdict(case, name)
        for line in found:
            if not (unjudged and of_verdicts(file, line)) and not any(re.search(it.where, where) and re.search(it.pattern, line) for it in ACCEPTED):
                yield f"{where}: {line}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares reports with the frozen corpus.")
    parser.add_argument("case", nargs="*", metavar="CASE[/COMMAND]", help="default: all cases")
    parser.add_argument("--program", default="", help="ssreport with arguments, instead of the package")
    parser.add_argument("--only", choices=PARTS, default="", help="compare only this part")
    parser.add_argument("--table", default="", help="compare only this table")
    parser.add_argument("--pictures", action="store_true", help="compare captions of pictures, too")
    parser.add_argument("--most", type=int, default=10, help="differences to show of each command, default 10")
    parser.add_argument("--summary", action="store_true", help="show only the number of differences of each command")
    request = parser.parse_args()
    run = program(shlex.split(request.program)) if request.program else in_process
    names = [word.partition("/")[::2] for word in request.case]
    differing = count = 0
    for case in cases(dict.fromkeys(case.rstrip("/") for case, _ in names)):
        wanted = {command for of, command in names if of == case.name and command} or set(case.commands)
        for name in (name for name in case.commands if name in wanted):
            count += 1
            try:
                found = list(differences(
                    case, name, results(run, case, name), request.only, request.table, request.pictures))
            except Exception as error:  # a crash is a difference, and other commands follow
                found = [f"{case.name}/{name}: {type(error).__name__}: {error}"]
            differing += bool(found)
            if found and request.summary:
                print(f"{case.name}/{name}: {len(found)}")
                continue
            for line in found[: request.most]:
                print(line)
            if len(found) > request.most:
                print(f"{case.name}/{name}: {len(found) - request.most} more")
    print(f"{count - differing} of {count} commands agree")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
