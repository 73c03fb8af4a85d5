# SPDX-License-Identifier: Apache-2.0
"""The folder and the documents of a record, apart from its tables."""

from __future__ import annotations

import fcntl
import os
import struct
from typing import Any

from . import __version__, text
from .contents import open_regular
from .text import UserError, number_of, text_of
from .verdicts import Verdict

SCHEMA = 2  # of records, as in src/base/version.h


def check_schema(document: Any) -> None:
    """Refuse a record that a later version has written."""
    schema = number_of(document, "schema")
    if schema > SCHEMA:
        wrote = text.show(text_of(document, "version") or "?")
        raise UserError(
            f"the record has schema {schema:g}, and this version, {__version__}, reads schemas up "
            f"to {SCHEMA}: use version {wrote}, which wrote it, or a later one"
        )


def open_folder(folder: str) -> None:
    """Refuse a record that is not a folder, or cannot be read."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UserError(
            "not a folder: name a folder that --record created, or a file of ssrequest --json"
        )
    if not os.access(folder, os.R_OK | os.X_OK):
        try:
            os.listdir(folder)
            why = os.strerror(13)
        except OSError as error:
            why = text.reason(error)
        raise UserError(f"the record cannot be read: {why}")


def judge_run(folder: str, summary: Any) -> Verdict:
    """Return the verdict of a run; `summary` is None if it cannot be read."""
    if not text.has_file(folder, "summary.json"):
        return Verdict(reasons="still running: no verdict") if is_written(folder) else Verdict()
    if not text_of(summary, "ended_by"):
        return Verdict(reasons="summary.json is damaged")
    return Verdict.of(summary)


def is_written(folder: str) -> bool:
    """Return whether a run is still writing the record: it holds a lock on `interrupted`."""
    try:
        mark = open_regular(f"{folder}/interrupted")
    except OSError:
        return False
    try:
        layout = "hhqqi4x"
        whole = struct.pack(layout, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
        lock = struct.unpack(layout, fcntl.fcntl(mark, fcntl.F_GETLK, whole))
        return bool(lock[0] != fcntl.F_UNLCK)
    except OSError:
        return False
    finally:
        os.close(mark)
