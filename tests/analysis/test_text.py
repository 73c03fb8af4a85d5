# SPDX-License-Identifier: Apache-2.0
"""A large table of numbers is read like a small one."""

import numpy as np
import pytest

from showstopper import text
from showstopper.text import Notes

COLUMNS = ("start", "end", "instance")
FIELDS = "1 -1 +1 .5 5. 1e3 1E-3 1e999 1e-400 1e0005 - -- 1e 1.2.3 e . 1-2 007".split()
FIELDS += ["123456789012345678901", "0.1000000000000000055511151231257827", "9007199254740993", ""]


def _read(folder, body, monkeypatch, large):
    monkeypatch.setattr(text, "LARGE", large)
    (folder / "numbers.csv").write_bytes(body)
    try:
        table = text.read_table(str(folder), "numbers.csv", COLUMNS, ("instance",), numeric=True)
    except text.UserError as error:
        return str(error)
    valid = np.ones(len(table), dtype=bool)
    values = [table.numbers(name, valid)[valid].tolist() for name in COLUMNS]
    table.refuse(valid)
    notes = Notes()
    table.note(notes)
    return repr(values), list(table.lines), str(notes)


BODIES = [f"start,end,instance\n0,1,2\n{field},2,3\n" for field in FIELDS]
BODIES += [
    "start,end,instance\n",
    "start,end\n1,2\n",
    "end,other,start\n1,2,3\n",
    "\ufeffstart,end\n1,2\n",
    "start,end\n1,2",
    "start,end\n\n1,2\n",
    "start,end\n1\n1,2,3\n",
    "start,end\n1,2,3\n1\n",
    "start,end\n1,2,3\n",
    "start,end\n1,2\nstart,end\n3,4\n",
    "start,other\n1,2\n",
    "start,start,end\n1,2,3\n",
    "start\n\n",
    "start,end\r\n1,2\r\n",
    "",
    "\n",
]


@pytest.mark.parametrize("body", BODIES)
def test_large_tables_are_read_like_small_ones(tmp_path, monkeypatch, body):
    small = _read(tmp_path, body.encode(), monkeypatch, 1 << 20)
    assert _read(tmp_path, body.encode(), monkeypatch, 0) == small


def test_only_large_tables_of_numbers_are_read_in_one_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "LARGE", 0)
    for field, in_one_pass in {"1": True, "x": False}.items():
        (tmp_path / "numbers.csv").write_text(f"start,end\n0,1\n{field},2\n")
        arguments = str(tmp_path), "numbers.csv", COLUMNS, ("instance",)
        assert (not text.read_table(*arguments, numeric=True).fields) == in_one_pass
        assert text.read_table(*arguments).fields
