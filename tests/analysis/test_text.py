# SPDX-License-Identifier: Apache-2.0
"""Tables are read from the places of their fields as they are read line by line."""

import random
import struct

import numpy as np
import pytest

from showstopper import text
from showstopper.text import Notes

COLUMNS = ("start", "end", "instance")
FIELDS = "1 -1 +1 .5 5. 1e3 1E-3 1e999 1e-400 1e0005 - -- 1e 1.2.3 e . 1-2 007".split()
FIELDS += ["123456789012345678901", "0.1000000000000000055511151231257827", "9007199254740993", ""]
FIELDS += "-0 -. -.5 0.5 -0.25 12.3456 1234567.12345678 999999999999.999 / : \u00fc nan".split()


def _read(folder, body, monkeypatch, by_lines):
    monkeypatch.setattr(text, "SMALL", 1 << 20 if by_lines else 0)
    (folder / "numbers.csv").write_bytes(body)
    try:
        table = text.read_table(str(folder), "numbers.csv", COLUMNS, ("instance",))
    except text.UserError as error:
        return str(error)
    valid = np.ones(len(table), dtype=bool)
    values = [table.numbers(name, valid)[valid].tolist() for name in COLUMNS]
    texts = [table.texts(name) for name in COLUMNS]
    table.refuse(valid)
    notes = Notes()
    table.note(notes)
    return repr(values), texts, list(table.lines), str(notes)


BODIES = [f"start,end,instance\n0,1,2\n{field},2,3\n" for field in FIELDS]
BODIES += [f"start,end,instance\n0.5,1,2\n,2,{field}\n-{field},,\n" for field in FIELDS]
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
    "\nstart,end\n1,2\n",
    "start,end\n1,2\n#\n",
    "start,end\n 1,2\n",
    "start,end\r\n1,2\r\n",
    "",
    "\n",
]


@pytest.mark.parametrize("body", BODIES)
def test_fields_are_the_same_as_line_by_line(tmp_path, monkeypatch, body):
    found = _read(tmp_path, body.encode(), monkeypatch, False)
    assert found == _read(tmp_path, body.encode(), monkeypatch, True)


@pytest.mark.parametrize("decimals", (0, 1, 6, 9))
def test_decimals_agree_with_the_c_library(tmp_path, decimals):
    make = random.Random(decimals)
    texts = [f"{make.uniform(-1, 1) * 10 ** make.randint(0, 5):.{decimals}f}" for _ in range(20000)]
    (tmp_path / "one.csv").write_text("\n".join(["start", *texts, ""]))
    table = text.read_table(str(tmp_path), "one.csv", ("start",))
    values = table.numbers("start", np.ones(len(texts), dtype=bool))
    assert values.tobytes() == struct.pack(f"{len(texts)}d", *map(float, texts))
    assert text._decimals(table._data, *table._places["start"]) is not None
