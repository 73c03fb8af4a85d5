# SPDX-License-Identifier: Apache-2.0
"""
Records of Showstopper: what they contain, and reports on them.

In a notebook: `from showstopper import Record, Study`, then `Study("study").runs`.
"""

from typing import Any

__version__ = "1.1.0"

_PLACES = {"Record": "records", "Requests": "requests", "Study": "study"}


def __getattr__(name: str) -> Any:
    """Import submodules on first use: they import pandas, which --check does not need."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_PLACES[name]}", __name__), name)
