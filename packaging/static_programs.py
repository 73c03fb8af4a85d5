# SPDX-License-Identifier: Apache-2.0
"""What packaging/wheel and packaging/image share: their options, and the programs that packaging/static made."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, NoReturn

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tools/python"))

from showstopper.outputs import Folder, OutputError, make_folders  # noqa: E402

ARCHITECTURES = ("x86_64", "aarch64")
REQUIRED = ("showstopper", "ssload", "ssburn", "sstrace", "sssim", "ssbatch", "ssrequest", "LICENSE", "LICENSE.musl")


class Programs(NamedTuple):
    architecture: str
    programs: list[Path]
    licenses: list[Path]


def fail(message: str, status: int = 1) -> NoReturn:
    print(f"packaging/{Path(sys.argv[0]).name}: {message}", file=sys.stderr)
    sys.exit(status)


def read_version() -> str:
    text = (SOURCE / "CMakeLists.txt").read_text()
    found = re.search(r"^project\(showstopper VERSION (\S+)", text, re.MULTILINE)
    return found[1] if found else fail("CMakeLists.txt has no version")


def read_date() -> int:
    """Return SOURCE_DATE_EPOCH or else the time of the last commit, in seconds since 1970."""
    date = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not date:
        command = ["git", "-C", str(SOURCE), "log", "-1", "--format=%ct"]
        try:
            date = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        except OSError:
            pass  # git is not installed
    if not date.isdecimal():
        fail("not a git repository: set SOURCE_DATE_EPOCH to the time of the files, in seconds since 1970")
    return int(date)


def find_programs(folder: Path) -> Programs:
    missing = [name for name in REQUIRED if not (folder / name).is_file()]
    if missing:
        fail(f"{folder} lacks {', '.join(missing)}: make them with packaging/static")
    files = sorted(path for path in folder.iterdir() if path.is_file())
    licenses = [path for path in files if path.name.startswith("LICENSE")]
    return Programs(folder.name, [path for path in files if path not in licenses], licenses)


def read_options(usage: str, default: str) -> tuple[list[Programs], Path]:
    """Return the programs of each architecture, and the folder to write to; exit if that is all there is to do."""
    chosen, words = "", []
    arguments = iter(sys.argv[1:])
    for word in arguments:
        if word == "--help":
            print(usage, end="")
            sys.exit()
        if word == "--arch":
            chosen = next(arguments, "")
            if chosen not in ARCHITECTURES:
                fail("--arch requires x86_64 or aarch64: see --help", 2)
        elif word.startswith("-"):
            fail(f"{word}: unknown option: see --help", 2)
        else:
            words.append(word)
    if len(words) > 2:
        fail(f"{words[2]}: unexpected argument: see --help", 2)
    static = Path(words[0]) if words else SOURCE / "build-static"
    folder = Path(words[1]) if len(words) > 1 else SOURCE / default
    architectures = [name for name in ARCHITECTURES if name == chosen or not chosen and (static / name).is_dir()]
    if not architectures:
        fail(f"{static} has no programs: make them with packaging/static")
    return [find_programs(static / name) for name in architectures], folder


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write each file whole or not at all, and print its name."""
    try:
        make_folders(str(folder))
        with Folder(str(folder)) as results:
            for name, data in files.items():
                results.write(name, data)
                print(folder / name)
    except OutputError as error:
        fail(str(error))
