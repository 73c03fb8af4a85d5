# SPDX-License-Identifier: Apache-2.0
"""The layers of the package, and calls whose defaults lose rows or differ between versions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import PACKAGE

ROOT = PACKAGE / "showstopper"
FILES = sorted(ROOT.rglob("*.py"))
LINES_MAX = 40  # of a function
LIBRARIES = {"pd", "np", "scipy", "matplotlib", "jinja2", "stats"}

# A module may import those of earlier lines and, if it is in a folder, its neighbors as listed.
LAYERS = """
text outputs contents cache units
options state children
verdicts inputs trace frames stats
records requests fleets published
steps
loadline
study
memory_profile timeline
rates pairs crossings duet
levels policy
report.tables report.findings report.decision report.figures
report.overlay report.pair_figures
report.topics
report.summary
report.page trace_picture
installation
lab.plan
lab.values lab.pairs
lab.catalogue
lab.methods
lab.options
lab.study
lab.carry
profile
antagonist
lab.results
lab.blocks
lab.halves
lab.places lab.services
lab.knobs
cli
""".split()

ROOMS = ("report.topics", "profile", "antagonist")  # folders whose modules are in one layer

ANY = object()
REQUIRED = {
    "groupby": {"dropna": ANY, "sort": ANY},  # by default, rows with an empty key are lost
    "value_counts": {"dropna": ANY},
    "read_csv": {"keep_default_na": False},
    "sort_values": {"kind": "stable"},
    "sort_index": {"kind": "stable"},
    "argsort": {"kind": "stable"},
    "Environment": {"autoescape": True},
}
REFUSED = {
    "pivot_table": "drops empty keys",
    "crosstab": "drops empty keys",
    "ppf": "SciPy 1.10's of t errs by 4e-9",
    "json.load": "accepts NaN",
    "json.loads": "accepts NaN",
    "groupby.apply": "differs between pandas 1.5 and 2.2",
    "imshow": "is a PNG in the SVG, and ignores the dark scheme",
    "savefig": "draws twice",
}
EXCEPT = {("json.loads", "contents.py"), ("savefig", "figures.py")}


def name_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    name = ".".join(part for part in parts if part != "__init__")
    return room(name)


def room(name: str) -> str:
    return next((one for one in ROOMS if f"{name}.".startswith(f"{one}.")), name)


def imports(file: Path) -> Iterator[str]:
    """Yield the modules of the package that a file imports."""
    folder = ["showstopper", *file.relative_to(ROOT).parent.parts]
    for node in ast.walk(ast.parse(file.read_text())):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = [*folder[1 : len(folder) - node.level + 1], *(node.module or "").split(".")]
        base = [part for part in base if part]
        for alias in node.names:
            path = ROOT.joinpath(*base, alias.name)
            is_module = path.with_suffix(".py").exists() or path.is_dir()
            name = ".".join([*base, alias.name] if is_module else base)
            yield room(name)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_arrows_point_down(file: Path) -> None:
    own = name_of(file)
    if own not in LAYERS:
        assert own in ("", "report", "lab", "__main__") or "." in own
        return
    used = {name for name in imports(file) if name in LAYERS}
    higher = [name for name in used - {own} if LAYERS.index(name) > LAYERS.index(own)]
    same_line = {("inputs", "verdicts"), ("verdicts", "contents")}
    assert [name for name in higher if (own, name) not in same_line] == []
    is_topic = own == "report.topics" and file.stem != "__init__"
    assert not is_topic or own not in used, "a topic imports a topic"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_functions_are_short_and_import_nothing(file: Path) -> None:
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno and node.end_lineno - node.lineno < LINES_MAX, node.name
            inner = [one for one in ast.walk(node) if isinstance(one, (ast.Import, ast.ImportFrom))]
            assert not inner or file.stem in ("cli", "__init__", "cache"), node.name
    assert max(map(len, file.read_text().splitlines()), default=0) <= 100


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_private_name_of_a_library_is_used(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            owner = node.value
            assert node.attr.endswith("__") or getattr(owner, "id", "") not in LIBRARIES, node.attr


def names(call: ast.Call) -> list[str]:
    """Return the name of the called function, and with that of its module, object or call."""
    function = call.func
    if isinstance(function, ast.Name):
        return [function.id]
    if not isinstance(function, ast.Attribute):
        return []
    owner: ast.expr = function.value
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    if isinstance(owner, ast.Call):
        owner = owner.func
    before = getattr(owner, "attr", getattr(owner, "id", ""))
    return [function.attr, f"{before}.{function.attr}"]


def faults(text: str, file: str = "") -> list[str]:
    found = []
    for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
        given = {word.arg: getattr(word.value, "value", None) for word in call.keywords}
        if "itertools.groupby" in names(call):
            continue
        for name in names(call):
            if name in REFUSED and (name, file) not in EXCEPT:
                found.append(f"{file}:{call.lineno}: {name}() {REFUSED[name]}")
            for argument, value in REQUIRED.get(name, {}).items():
                if argument not in given or value is not ANY and given[argument] != value:
                    found.append(f"{file}:{call.lineno}: {name}() without {argument}")
    return found


def test_no_trap_in_the_package() -> None:
    assert FILES
    assert [fault for file in FILES for fault in faults(file.read_text(), file.name)] == []
