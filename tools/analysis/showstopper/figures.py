# SPDX-License-Identifier: Apache-2.0
"""Pictures in one style."""
from __future__ import annotations

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
