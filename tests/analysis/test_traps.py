# SPDX-License-Identifier: Apache-2.0
"""Calls whose defaults lose rows, change numbers, or differ between versions of a library."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "tools/analysis/showstopper"

ANY = object()

# Arguments that a call must have, by the name of the function.
REQUIRED = {
    "groupby": {"dropna": ANY, "sort": ANY},  # by default, empty keys are no groups
    "value_counts": {"dropna": ANY},
    "read_csv": {"keep_default_na": False, "float_precision": "round_trip"},
    "sort_values": {"kind": "stable"},
    "sort_index": {"kind": "stable"},
    "argsort": {"kind": "stable"},
    "Environment": {"autoescape": True},
}
REFUSED = {
    "pivot_table": "drops empty keys",
    "crosstab": "drops empty keys",
    "t.ppf": "SciPy 1.10 errs by 4e-9",
    "json.load": "accepts NaN",
    "json.loads": "accepts NaN",
    "groupby.apply": "differs between pandas 1.5 and 2.2",
}
EXCEPT = {("json.loads", "text.py")}  # the function that refuses NaN


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
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    for call in calls:
        given = {word.arg: getattr(word.value, "value", None) for word in call.keywords}
        for name in names(call):
            if name in REFUSED and (name, file) not in EXCEPT:
                found.append(f"{file}:{call.lineno}: {name}() {REFUSED[name]}")
            for argument, value in REQUIRED.get(name, {}).items():
                if argument not in given or value is not ANY and given[argument] != value:
                    wanted = "..." if value is ANY else repr(value)
                    found.append(f"{file}:{call.lineno}: {name}() without {argument}={wanted}")
    return found


def test_no_trap_in_the_package() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert files
    assert [fault for file in files for fault in faults(file.read_text(), file.name)] == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("f.groupby('a', dropna=False, sort=False).sum()", 0),
        ("f.groupby('a')['b'].sum()", 2),
        ("f.groupby('a', dropna=False, sort=False)['b'].apply(g)", 1),
        ("pd.read_csv(p, keep_default_na=False)", 1),
        ("np.argsort(x)\nx.sort_values('a', kind='stable')", 1),
        ("stats.t.ppf(0.5, 3)", 1),
        ("json.loads(text)\njson.dumps(text)", 1),
        ("f.pivot_table(index='a')", 1),
        ("jinja2.Environment(loader=x)", 1),
    ],
)
def test_traps_are_found(text: str, count: int) -> None:
    assert len(faults(text)) == count
