# SPDX-License-Identifier: Apache-2.0
"""Colors and sizes of pictures, and their SVG."""
from __future__ import annotations

import re
from typing import Any

TEXT = 14
SMALL = 12

# The colors of a light and a dark scheme. Except for the last three, they have a contrast of at
# least 3 with the paper.
PALETTE = {
    "ink": ("#222222", "#e3e5e8"),
    "axis": ("#80868b", "#868b91"),
    "blue": ("#0072b2", "#5ab0ee"),
    "orange": ("#d55e00", "#ff9147"),
    "green": ("#009573", "#35c99a"),
    "purple": ("#a0529b", "#d79ad3"),
    "amber": ("#a87900", "#e3bd3f"),
    "sky": ("#3a8fc4", "#a5d8ff"),
    "brown": ("#6d4c41", "#c9a597"),
    "gray": ("#5f6368", "#a6abb2"),
    "grid": ("#dddddd", "#3b4046"),
    "paper": ("#ffffff", "#16181c"),
    "note": ("#fff6e0", "#37301d"),
}
INK, AXIS, GRID = (PALETTE[name][0] for name in ("ink", "axis", "grid"))

TITLES = "\ue000"  # precedes each title in the identifier of marks


def style() -> Any:
    """Return a context in which matplotlib draws in this style, whatever the user's settings are."""
    import matplotlib

    defaults = dict.items(matplotlib.rcParamsDefault)
    chosen = matplotlib.rcParams
    return matplotlib.rc_context({
        **{n: value for n, value in defaults if n != "backend" and dict.get(chosen, n) != value},
        "font.size": TEXT,
        "svg.fonttype": "none",
        "svg.hashsalt": "showstopper",
        "text.color": INK,
        "text.parse_math": False,
    })


def tidy(text: str, width: float, height: float) -> str:
    """Make matplotlib's SVG small, add titles to marks, and replace colors with variables."""
    text = re.sub("(?s)^.*?(?=<svg )| *<metadata>.*?</metadata>| *<!--.*?-->", "", text)
    text = re.sub(rf'(?ms)^( *)<g id="{TITLES}([^"]*)">\n(.*?)^\1</g>', _add_titles, text)
    text = re.sub("<[a-z][^>]*>", _tidy_tag, text)

    head = f'<svg viewBox="0 0 {width:g} {height:g}" xmlns="http://www.w3.org/2000/svg"'
    look = f"max-width:{width / TEXT:.4g}rem;font-size:{TEXT}px;fill:var(--ink)"
    text = re.sub("^<svg [^>]*>", f'{head} style="{look}">', text)
    text = re.sub("\n *", "", text)
    return re.sub(r"<g>(<(\w+)[^>]*(/>|>[^<]*</\2>))</g>", r"\1", text)


def _add_titles(group: re.Match[str]) -> str:
    """Give a title to each mark, or to the whole if it is one mark."""
    titles = [f"<title>{title}</title>" for title in group[2].split(TITLES)]
    marks = group[3].split("<use ")
    if len(marks) == len(titles) + 1:
        marks[1:] = [
            mark.replace("/>", f">{title}</use>", 1) for mark, title in zip(marks[1:], titles)
        ]
        return "<use ".join(marks)
    return f"<g>{titles[0] if len(titles) == 1 else ''}{group[3]}</g>"


_VARIABLES = {pair[0]: f"var(--{name})" for name, pair in PALETTE.items()}


def _tidy_tag(tag: re.Match[str]) -> str:
    text = re.sub(r' id="[A-Za-z\d.]+_\d+"| transform="rotate\(-0 [^"]*"', "", tag[0])
    text = text.replace(" xlink:href=", " href=").replace(" />", "/>")
    text = re.sub(r' (d|x|y|transform)="[^"]*"', _round, text)
    text = re.sub(r' style="[^"]*"', _tidy_style, text)
    return re.sub("#[0-9a-f]{6}", lambda color: _VARIABLES.get(color[0], color[0]), text)


def _round(attribute: re.Match[str]) -> str:
    text = re.sub(
        r"\d+\.\d+", lambda at: f"{float(at[0]):.1f}".removesuffix(".0"), attribute[0]
    )
    return re.sub(r"\s*([MLCQz\"])\s*", r"\1", text)


def _tidy_style(style: re.Match[str]) -> str:
    text = re.sub(r"font: ([\d.]+)px [^;]*", r"font-size: \1px", style[0])
    text = re.sub(r" font-family: [^;]*;|; font-family: [^;\"]*", "", text)  # matplotlib 3.10
    text = text.replace(f"font-size: {TEXT}px; ", "").replace(f"fill: {INK}; ", "")
    return text.replace(": ", ":").replace("; ", ";")
