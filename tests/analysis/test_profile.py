# SPDX-License-Identifier: Apache-2.0
"""
Commands of ssprofile. corpus/ssprofile has sessions, which the C program printed before they became
Python: commands, and all that they print and write. in.tree has their files.

What differs from the C program: columns of text are as wide as letters, not as bytes; a hint has one
colon instead of two; messages on invalid JSON. Sentences name up to 20 benchmarks. Results that are no positive number have one message, lines that are none have
that of all tables; a row that begins with # is a comment, as everywhere. There is no limit on the
length of names and on the number of targets. Pages have their tables below the pictures. compare has
no --class, for which nobody had a use; verify and sweep have no --root, which only tests of measure
need.
"""

from __future__ import annotations

import contextlib
import csv
import html
import io
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import agree
import pandas as pd
import pytest

from showstopper import cli
from showstopper.profile import measure, pictures, ratios, results
from showstopper.text import UserError

CORPUS = Path(__file__).parent / "corpus/ssprofile"
DATA = Path(__file__).parents[1] / "data/profile"
FUZZ = Path(__file__).parents[1] / "fuzz/corpus"
SSPROFILE = Path(os.environ.get("SHOWSTOPPER_BUILD", "build")).resolve() / "bin/ssprofile"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, data in agree.read_tree(CORPUS / "in.tree").items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    for file in DATA.glob("*.csv"):
        shutil.copy(file, tmp_path)
    for name in ("results", "battery"):
        shutil.copytree(FUZZ / name, tmp_path / f"fuzz-{name}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHOWSTOPPER_PROGRAM", str(SSPROFILE))
    return tmp_path


def call(words: Sequence[str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.main(["ssprofile", *words])
    return status, out.getvalue(), err.getvalue()


def page_text(page: str) -> str:
    page = re.sub(r"(?s)<(head|nav|svg)\b.*?</\1>", "", page)
    lines = (" ".join(html.unescape(line).split()) for line in re.split("<[^>]*>", page))
    return "".join(f"{line}\n" for line in lines if line)


def play(commands: Sequence[str], folder: Path) -> str:
    """Run commands. Returns all that they print, and the text of files that they write."""
    parts = []
    files: dict[Path, bytes] = {}
    for command in ["", *commands]:
        if command:
            status, out, err = call(shlex.split(command))
            parts += [f"$ {command}\n"] + [f"[status {status}]\n"] * bool(status)
            printed = ("stdout", out), ("stderr", err)
            parts += [f"[{name}]\n{text}" for name, text in printed if text]
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            data = path.read_bytes()
            if command and files.get(path) != data:
                text = data.decode("utf-8", "surrogateescape")
                text = page_text(text) if path.suffix == ".html" else text
                parts.append(f"[{path.relative_to(folder)}]\n{text}")
            files[path] = data
    text = re.sub(r'("ssprofile": )"[^"]*"', r'\1"VERSION"', "".join(parts))
    text = re.sub(r"(?m)(?<=^ssprofile )[0-9.]+$|(?<=this version, )[0-9.]+", "VERSION", text)
    text = text.replace(str(SSPROFILE.parent), "BIN")
    return text.replace(str(SSPROFILE.parent.parent), "BUILD")


@pytest.mark.parametrize("session", sorted(path.name for path in (CORPUS / "out").iterdir()))
def test_session(session: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if session in ("battery", "verify") and not SSPROFILE.exists():
        pytest.skip("ssprofile is not built")
    # Everything was measured before.
    calls: list[list[str]] = []

    def measured(words: list[str]) -> int:
        calls.append(words)
        return 0

    for name in ("sweep", "verify"):
        monkeypatch.setattr(f"showstopper.profile.{name}.measure", measured)
    wanted = (CORPUS / "out" / session).read_text("utf-8", "surrogateescape")
    commands = re.findall(r"(?m)^\$ (.*)$", wanted)
    # Pages have the minus of tables in sentences, too.
    assert play(commands, folder).replace("\u2212", "-") == wanted.replace("\u2212", "-")
    if session == "verify":
        both = [words[1:6:2] + words[-1:] for words in calls[2:4]]
        assert both == [
            ["apps", "b", "duty=30%", "verified/base"], ["apps", "t", "duty=40%", "verified/target"]
        ]


def test_a_benchmark_of_another_class_is_an_application(folder: Path) -> None:
    both = ["results.csv:base", "results.csv:target"]
    assert call(["compare", "-q", "--battery", "twenty", "-o", "battery", *both])[0] == 0
    assert call(["compare", "-q", "-o", "all", *both])[0] == 0
    table = Path("all/ratios.csv")
    table.write_text(table.read_text().replace(",kernel-01,cpu,", ",kernel-01,other,"))
    status, out, _ = call(["predict", "battery", "all"])
    assert status == 0 and " of 6 applications lie within" in out


# R


def of_r() -> dict[str, dict[str, float]]:
    with open(DATA / "figures.csv", encoding="utf-8") as stream:
        figures: dict[str, dict[str, float]] = {}
        for row in csv.DictReader(stream):
            figures.setdefault(row["limits"], {})[row["name"]] = float(row["value"])
    return figures


def near(value: float) -> object:
    return pytest.approx(value, rel=5e-11)


def compared(base: results.Profile, target: results.Profile) -> ratios.Ratios:
    return ratios.compare(base, target, ratios.Matching(), results.Warnings())


@pytest.fixture(scope="module")
def profiles() -> dict[str, results.Profile]:
    return {one.name: one for one in results.read(str(DATA / "results.csv")).profiles}


@pytest.mark.parametrize("limits", ["without", "quota-3900"])
def test_figures_agree_with_r(limits: str, profiles: dict[str, results.Profile]) -> None:
    wanted = of_r()[limits]
    base, target = profiles["base:without"], profiles[f"target:{limits}"]
    found = compared(base, target)
    for row in found.table.itertuples():
        assert row.ratio == near(wanted[row.benchmark])
    for name in ("least", "most", "length", "median", "mean", "most_to_least"):
        assert getattr(found.figures, name) == near(wanted[name])
    assert found.figures.geometric_mean == near(wanted["geometric"])
    assert found.figures.variation_percent == near(100 * wanted["variation"])
    assert found.table["log_ratio"].mean() == near(wanted["log_mean"])
    assert found.table["log_ratio"][3] == near(wanted["log_of_04"])
    assert found.table["target_spread"][0] == near(wanted["spread"])
    assert found.table["base_spread"][24] == near(wanted["base_spread"])
    counts = {f"bin_{n}": count for n, count in pictures.bins(found.table["ratio"], 0.1).items()}
    assert counts == {name: count for name, count in wanted.items() if name.startswith("bin_")}
    for out in (0, 1, 2, 5):
        bounds = ratios.interval(found.table["ratio"], ratios.coverage(25, out))
        assert bounds.low == near(wanted[f"low_{out}"])
        assert bounds.high == near(wanted[f"high_{out}"])


def test_halves_and_reductions_agree_with_r(profiles: dict[str, results.Profile]) -> None:
    wanted = of_r()
    found = compared(*results.halves(profiles["base:without"]))
    for row in found.table.itertuples():
        assert row.ratio == near(wanted["halves"][row.benchmark])
    figures = [
        compared(profiles["base:without"], profiles[f"target:{limits}"]).figures
        for limits in ("without", "quota-3900")
    ]
    reduction = ratios.Reduction.of(*figures)
    for name in ("reduction", "factor", "relative"):
        assert getattr(reduction, name) == near(wanted["both"][name])
    assert reduction.factor_share_percent == near(100 * wanted["both"]["share"])
    for out in range(5):
        assert ratios.coverage(25, out) == near(wanted["both"][f"coverage_{out}"])


# Details


def test_an_interval_is_the_narrowest_that_covers() -> None:
    values = pd.Series(range(25))
    parts = {0.9: 0, 0.8: 1, 0.99: 0, 0: 12}
    assert {part: ratios.interval(values, part).left_out for part in parts} == parts
    assert math.isnan(ratios.Figures.of(values[:1] + 1.0).variation_percent)


def test_bins_fit_the_ratios() -> None:
    def series(*values: float) -> list[pictures.Series]:
        table = pd.DataFrame({"benchmark": "b", "class": "c", "ratio": values})
        return [pictures.Series("s", table, min(values), max(values))]

    widths = {(0.987, 1.006): 0.001, (2.0, 1e9): 1e7, (1.65, 7.1): 0.1}
    for values, width in widths.items():
        assert pictures.bin_of(series(*values)) == pytest.approx(width)
    assert pictures.bin_of(series(1, 1)) > 0
    # A bin has its upper bound, and sums of tenths are not exact.
    values = pd.Series([2.3, 2.3000001, 2.4, 0.7, 1e-9, 0.1 + 0.2])
    assert list(pictures.bins(values, 0.1).index) == [1, 3, 7, 23, 24]


def test_pictures_show_names_ranges_and_the_result() -> None:
    table = pd.DataFrame({"benchmark": [*"aab"], "class": [*"cdc"], "ratio": [3, 0.5, 2]})
    two = [pictures.Series(name, table, 0.5, 3, 50.0) for name in ("without", "quota-4000")]
    svg = pictures.dots(two)
    assert [svg.index(f">{name}<") for name in ("a (c)", "b", "a (d)")] == sorted(
        svg.index(f">{name}<") for name in ("a (c)", "b", "a (d)")
    )
    assert "quota-4000: 0.50 to 3.00 (coverage 50.0%)" in svg and "(logarithmic)" in svg
    assert "<title>a: 0.5000</title>" in svg
    assert "range 0.50 to 3.00, median 2.00" in pictures.histogram(two)


def test_throttles_lead_back_to_their_settings() -> None:
    words = {
        "without": "without", "duty-4000": "duty=40%", "duty-4000.4": "duty=40.004%",
        "quota-6667": "quota=66.67%", "load-100": "load=1%", "frequency-1400": "frequency=1400MHz",
    }
    assert {limits: results.Throttle.of(limits).word() for limits in words} == words
    others = ("", "container", "duty", "duty-", "duty-4000x", "speed-1", "duty-4.0.0")
    assert not any(results.Throttle.of(limits).kind for limits in others)


def test_warnings_of_a_kind_are_counted() -> None:
    warnings = results.Warnings()
    for row in range(23):
        warnings.add("row %d", row)
        warnings.add("other\n%d", row) if row == 7 else None
    lines = list(warnings.lines(results.SHOWN))
    assert lines[-2:] == ["row 19", "... and 3 more like it"] and "other?7" in lines
    assert len(list(warnings.lines(results.KEPT))) == 24


def test_help_needs_no_package() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from showstopper import cli; "
        "status = cli.main(['ssprofile', 'compare', '--help']); "
        "sys.exit(status or 'pandas' in sys.modules or 'numpy' in sys.modules)"
    )
    package = str(Path(cli.__file__).parents[1])
    command = [sys.executable, "-IXutf8", "-c", code, package]
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0


def test_measure_passes_signals_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ssprofile"
    program.write_text(
        f"#!/bin/sh\ntrap 'exit 7' TERM\necho $* >{tmp_path}/words\nkill -TERM $PPID\n"
        "while :; do sleep 0.01; done\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("SHOWSTOPPER_PROGRAM", str(program))
    assert measure.measure(["--quiet", "here"]) == 7
    assert (tmp_path / "words").read_text() == "measure --quiet here\n"
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    program.write_text("#!/bin/sh\nkill -KILL $$\n")
    assert measure.measure([]) == 128 + signal.SIGKILL
    monkeypatch.setenv("SHOWSTOPPER_PROGRAM", str(tmp_path / "absent"))
    with pytest.raises(UserError, match="absent: No such file or directory"):
        measure.measure([])
