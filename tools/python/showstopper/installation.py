# SPDX-License-Identifier: Apache-2.0
"""Finds the other files of Showstopper: in its source, its build, or an installation."""

from __future__ import annotations

import functools
import os
import shutil
import site
import sys
from importlib.util import find_spec
from pathlib import Path

from .text import UserError

NEEDED = ("numpy", "pandas", "scipy", "matplotlib", "jinja2")  # to read records


def find_missing() -> str:
    """Return which packages to install; '' if none is missing. Importing them would take 0.4 s."""
    missing = [name for name in NEEDED if not find_spec(name)]
    if not missing:
        return ""
    lacks = f"{sys.executable} lacks {', '.join(missing)}"
    if any(Path(__file__).parents[1].glob("showstopper-*.dist-info")):  # pip has installed us
        return f"{lacks}: install showstopper[analysis]"
    packages = " ".join(f"python3-{name}" for name in missing)
    more = "or choose another Python with cmake -DSHOWSTOPPER_PYTHON=PROGRAM"
    return f"{lacks}: install {packages}, {more}"


@functools.cache
def experiments() -> Path:
    """Return the folder with environments, services, workloads and published figures."""
    own = Path(__file__).resolve()
    beside = own.parents[2] / "experiments"  # in the source and below share/
    if beside.is_dir():
        return beside
    of_user = Path(site.getusersitepackages()).resolve() in own.parents  # pip install --user
    return Path(site.getuserbase() if of_user else sys.prefix) / "share/showstopper/experiments"


def use_programs(folder: str, own: str = "") -> None:
    """
    Put a folder of programs first in PATH.

    Without one, use those in `own`, by default next to this program. This folder may be /usr/bin,
    so it comes before others only if PATH would lead to another showstopper.
    """
    if folder and not os.path.isdir(folder):
        raise UserError(f"--bin: {folder}: no such folder")
    own = own or os.path.dirname(os.path.realpath(sys.argv[0]))
    path = os.environ.get("PATH", os.defpath)
    found = shutil.which("showstopper")
    if folder:
        os.environ["PATH"] = f"{os.path.abspath(folder)}:{path}"
    elif os.access(f"{own}/showstopper", os.X_OK):
        if not found:
            os.environ["PATH"] = f"{path}:{own}"
        elif not os.path.samefile(os.path.dirname(found), own):
            os.environ["PATH"] = f"{own}:{path}"


def require_programs(*names: str) -> None:
    for name in names:
        if not shutil.which(name):
            raise UserError(f"{name} not found: build it, or use --bin")
