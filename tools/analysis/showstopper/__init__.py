# SPDX-License-Identifier: Apache-2.0
"""What happens to records after a measurement: `from showstopper import Record, Study`."""

from __future__ import annotations

from typing import Any

__version__ = "1.1.0"
__all__ = ["Record", "Study"]


def __getattr__(name: str) -> Any:
    """Import pandas only when it is needed: the package itself is cheap to import."""
    if name == "Record":
        from .records import Record

        return Record
    if name == "Study":
        from .studies import Study

        return Study
    raise AttributeError(name)
