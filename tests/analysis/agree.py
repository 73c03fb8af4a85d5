#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares reports with the corpus: what the program printed for the same input before.

A case is a folder with `commands` and `in.tree`: records, studies and tables. Each line of `commands` is
`NAME: WORDS`: the command's name and its arguments, quoted as in a shell. Commands run in a folder with the files of
`in.tree`; {out} is an empty folder for what they write. out/NAME has the results: `stdout`, `stderr`, `status` (if
not empty, or not 0), the tables as CSV, the text of report.html as `page`, `pictures` of some, and other files.
README.md describes the corpus and its format.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import copy
import difflib
import io
import math
import os
import re
import shlex
import shutil
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

from pictures import REPORTS, Pictures  # noqa: E402
from showstopper import __version__  # type: ignore[import]  # noqa: E402


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


def unpack(files: dict[str, bytes], folder: Path) -> None:
    """Writes the files; the package's version replaces @VERSION@."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        path, _, target = name.partition(" -> ")
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if target:
            (folder / path).symlink_to(target)
        elif name.endswith("/"):
            (folder / path).mkdir(exist_ok=True)
        else:
            (folder / path).write_bytes(data.replace(b"@VERSION@", __version__.encode()))


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


def without_version(text: str) -> str:
    return re.sub(rf"(?<![\w.]){re.escape(__version__)}(?![\w.])", "@VERSION@", text)


_inputs: dict[str, str] = {}  # the folder with the inputs of a case


@atexit.register
def forget_inputs() -> None:
    for folder in _inputs.values():
        shutil.rmtree(folder, ignore_errors=True)
    _inputs.clear()
    _records.clear()


def inputs_of(case: Case) -> str:
    """Returns a folder with the inputs of a case. Its commands write elsewhere, so they share it; only one is kept."""
    if case.name not in _inputs:
        forget_inputs()
        _inputs[case.name] = tempfile.mkdtemp()
        tree = case.folder / "in.tree"
        unpack(read_tree(tree) if tree.exists() else {}, Path(_inputs[case.name]))
    return _inputs[case.name]


def results(case: Case, name: str) -> dict[str, str]:
    """Runs a command; returns the files of its results, by name."""
    drawn = Pictures()
    with tempfile.TemporaryDirectory() as top:
        out = Path(top) / "out"
        out.mkdir()
        with contextlib.chdir(inputs_of(case)):
            words = [word.replace("{out}", str(out)) for word in case.commands[name]]
            is_drawn = f"{case.name}/{name}" in REPORTS
            status, stdout, stderr = in_process(words, drawn.add if is_drawn else None)
        found = {"stdout": stdout, "stderr": stderr, "status": f"{status}\n".encode() if status else b""}
        for path in sorted(path for path in out.rglob("*") if path.is_file()):
            found[path.relative_to(out).as_posix()] = path.read_bytes()
    found["pictures"] = str(drawn).encode()
    if case.name != "published":
        found.pop("published-values.csv", None)  # the same in each report on an experiment
    text = {}
    for file, data in found.items():
        is_page = Path(file).name == "report.html"
        kept = page_text(data) if is_page else data.decode("utf-8", "surrogateescape")
        if kept:
            kept = without_version(kept.replace(str(out), "{out}"))
            text["page" if is_page else Path(file).name] = kept
    return text


def expected(case: Case, name: str) -> dict[str, str]:
    path = case.folder / "out" / name
    files = read_tree(path) if path.exists() else {}
    return {file: data.decode("utf-8", "surrogateescape") for file, data in files.items()}


# The program


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


class Undrawn:
    """Stands for a figure of figures.figure() and for all that is part of it, and ignores what is drawn on it."""

    get_figwidth = get_figheight = lambda self: 10.0
    get_xlim = get_ylim = lambda self: (0.0, 1.0)

    def __init__(self, rows: int = 1, columns: int = 1, **_: object) -> None:
        from showstopper.figures import Axis  # type: ignore[import]

        self.axes = [Undrawn(0) for _ in range(rows * columns)]
        self.axis_of = {"x": Axis(), "y": Axis()}

    def __getattr__(self, name: str) -> Undrawn:
        return self

    def __call__(self, *_: object, **__: object) -> Undrawn:
        return self

    def __iter__(self) -> Iterator[Undrawn]:
        return iter([self])


def in_process(
    arguments: list[str], draw: Callable[[Any], object] | None = lambda fig: None
) -> tuple[int, bytes, bytes]:
    """Calls ssreport of the package in this process. Commands of a case share what they read. draw() gets the pictures,
    which are not written as SVG, because that would take longer than the rest; if it is None, nothing is drawn."""
    from markupsafe import Markup
    from showstopper import cli, figures, studies  # type: ignore[import]

    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape", newline="") for _ in range(2)]
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(streams[0]))
        stack.enter_context(contextlib.redirect_stderr(streams[1]))
        add = draw or (lambda fig: None)
        stack.enter_context(mock.patch.object(figures, "svg", lambda fig: add(fig) or Markup("<svg></svg>")))
        if draw is None:
            stack.enter_context(mock.patch.object(figures, "figure", Undrawn))
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


# A minus sign after a letter or a digit is a hyphen.
NUMBER = re.compile(r"((?:(?<!\w)[-+\u2212])?\d+(?:\.\d+)?(?:e[-+\u2212]?\d+)?)")


def value_of(number: str) -> tuple[float, float]:
    """Returns a number and the place of its last digit, 0 if it is an integer and may be a count."""
    digits, _, exponent = number.replace("\u2212", "-").partition("e")
    decimals = len(digits.partition(".")[2])
    return float(f"{digits}e{exponent or 0}"), 10.0 ** (int(exponent or 0) - decimals) if decimals or exponent else 0.0


def is_same(number: str, number_now: str, is_table: bool) -> bool:
    """Returns whether two numbers differ only by rounding errors, which depend on the CPU and on versions of libraries:
    after the ninth digit, of numbers near 1, or, in texts for people, in the last printed digit."""
    (value, place), (value_now, place_now) = value_of(number), value_of(number_now)
    last = min(place or place_now, place_now or place)
    if not last:
        return value == value_now
    return math.isclose(value, value_now, rel_tol=1e-9, abs_tol=1e-12 if is_table else max(1.01 * last, 1e-12))


def line_differences(before: str, now: str, is_table: bool) -> Iterator[str]:
    """Compares the words of lines first, then their numbers."""
    lines, lines_now = before.split("\n"), now.split("\n")
    words = [[NUMBER.sub("0", line) for line in text] for text in (lines, lines_now)]
    for kind, *ends in difflib.SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        old, new = lines[slice(*ends[:2])], lines_now[slice(*ends[2:])]
        if kind != "equal":
            yield from [f"-{line}" for line in old] + [f"+{line}" for line in new]
            continue
        for line, line_now in zip(old, new):
            numbers = zip(NUMBER.findall(line), NUMBER.findall(line_now))
            if not all(is_same(*pair, is_table) for pair in numbers):
                yield from (f"-{line}", f"+{line_now}")


def prints_table(case: Case, name: str) -> bool:
    """Returns whether a command prints a table as CSV."""
    words = case.commands[name]
    return "--table" in words[:-1] and not {"--format", "--column"} & {*words}


def differences(case: Case, name: str) -> Iterator[str]:
    """Runs a command and compares its results with the expected ones."""
    before, now = expected(case, name), results(case, name)
    for file in sorted({*before, *now}):
        texts = before.get(file, ""), now.get(file, "")
        is_table = prints_table(case, name) if file == "stdout" else file not in ("page", "pictures", "stderr")
        for line in line_differences(*texts, is_table) if texts[0] != texts[1] else ():
            yield f"{case.name}/{name}/{file}: {line}"


def freeze(case: Case, name: str) -> None:
    """Makes the results of a command the expected ones."""
    now = {file: text.encode("utf-8", "surrogateescape") for file, text in results(case, name).items()}
    (case.folder / "out").mkdir(exist_ok=True)
    write_tree(case.folder / "out" / name, now)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares reports with the corpus.")
    parser.add_argument("case", nargs="*", metavar="CASE[/COMMAND]", help="default: all cases")
    parser.add_argument(
        "--freeze", action="store_true", help="make the results the expected ones; a folder `in` of a case becomes in.tree")
    parser.add_argument("--unpack", metavar="FOLDER", help="write the inputs and results of the cases there instead")
    request = parser.parse_args()
    names = [word.partition("/")[::2] for word in request.case]
    differing = 0
    for case in cases(dict.fromkeys(case for case, _ in names)):
        if request.unpack:
            for tree in (case.folder / "in.tree", *(case.folder / "out" / name for name in case.commands)):
                unpack(read_tree(tree), Path(request.unpack) / case.name / tree.stem)
            continue
        if request.freeze and (case.folder / "in").exists():
            write_tree(case.folder / "in.tree", read_folder(case.folder / "in"))
            shutil.rmtree(case.folder / "in")
        chosen = {command for of, command in names if of == case.name and command} or set(case.commands)
        for name in (name for name in case.commands if name in chosen):
            if request.freeze:
                freeze(case, name)
                continue
            found = list(differences(case, name))
            differing += bool(found)
            print(*found[:10], sep="\n", end="\n" if found else "")
    print(f"{differing} commands differ")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
