# SPDX-License-Identifier: Apache-2.0
"""Pictures of traces."""
from __future__ import annotations

import io
import re
from pathlib import Path

import matplotlib
import pytest
from showstopper import trace_picture
from showstopper.cli import main
from showstopper.report import figures

DAY = 86400 * 10**9
TABLE = "free,least,mean,most\n1,,,\n0,0.2,0.3,0.4\n0,0.4,0.5,0.6\n1,0.6,0.6,0.6\n1,,,\n0,0,0,0\n"


@pytest.mark.parametrize(("length", "axis"), [
    (0, ("seconds", 1)), (20, ("nanoseconds", 20)), (3000, ("microseconds", 3)),
    (359 * 10**9, ("seconds", 359)), (360 * 10**9, ("minutes", 6)), (DAY, ("hours", 24)),
    (182500 * DAY, ("days", 182500)),
])
def test_unit_suits_the_length(length: int, axis: tuple[str, float]) -> None:
    assert trace_picture.time_axis(length) == axis


def test_loads_extend_to_the_ends_of_their_sections() -> None:
    _, columns = trace_picture.read_columns(io.StringIO("6\n" + TABLE))
    rows = trace_picture.points(columns).reset_index()
    assert rows["at"].tolist() == [0.5, 1, 1.5, 2.5, 3.5, 4, 4.5, 5, 5.5, 6]
    assert rows["mean"][1:6].tolist() == [30, 30, 50, 60, 60]
    assert (rows["least"][1], rows["most"][1]) == (20, 40)


@pytest.mark.parametrize(("column", "names"), [
    ("1,,,", ["free"]), ("0,0,1,1", ["minimum to maximum", "mean"]),
])
def test_legend_names_what_is_drawn(column: str, names: list[str]) -> None:
    columns = trace_picture.read_columns(io.StringIO(f"9\nfree,least,mean,most\n{column}\n{column}\n"))
    texts = re.findall("<text[^>]*>([^<]*)", figures.svg(trace_picture.plot_trace(*columns)))
    assert [text for text in texts if text in ("free", "minimum to maximum", "mean")] == names


def test_picture_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.svg"
    title = "it's \"a\" $b_{c}$ <&> \udcff" + 200 * "\u00e4"
    monkeypatch.setattr("sys.stdin", io.StringIO("0\nfree,least,mean,most\n0,0,0.5,1\n0,0,0.5,1\n"))
    assert main(["sstrace", "plot", "--title", title, "-o", str(path)]) == 0
    text = path.read_text()
    assert "<svg " in text and "#0072b2" in text and "var(" not in text
    assert '>it\'s "a" $b_{c}$ &lt;&amp;&gt; ?' + 88 * "\u00e4" + "...<" in text
    assert list(tmp_path.iterdir()) == [path]


def test_unwritable_picture_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("9\nfree,least,mean,most\n1,,,\n"))
    assert main(["sstrace", "plot", "-o", "/none/a.png"]) == 2
    assert "sstrace: cannot write /none/a.png: No such file" in capsys.readouterr().err
    assert main(["sstrace", "plot"]) == 125


def test_ends_of_lines_do_not_depend_on_user_settings() -> None:
    _, columns = trace_picture.read_columns(io.StringIO("6\n" + TABLE))
    before = without_ids(figures.svg(trace_picture.plot_trace(6, columns)))
    with matplotlib.rc_context({"lines.solid_capstyle": "round"}):
        assert without_ids(figures.svg(trace_picture.plot_trace(6, columns))) == before


def without_ids(svg: str) -> str:
    return re.sub(r"[mp][0-9a-f]{10}", "", svg)
