# SPDX-License-Identifier: Apache-2.0
"""
Folders of records in one file each: inputs/NAME.tree.

A line `==> PATH` is before the contents of each file; several such lines are before equal contents.
After the path, `(empty)` is an empty file, `(cut)` a file whose last line has no newline,
`-> TARGET` a link, and a path that ends in `/` an empty folder.

Usage: python3 tests/python/packed.py FOLDER FILE.tree    packs a folder
       python3 tests/python/packed.py FILE.tree FOLDER    unpacks it
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

INPUTS = Path(__file__).parent / "inputs"
BLOCK = re.compile(rb"((?:^==> .*\n)+)((?:^(?!==> ).*\n)*)", re.MULTILINE)


def unpack(file: Path, folder: Path) -> Path:
    """Write the files into the folder."""
    for names, contents in BLOCK.findall(file.read_bytes()):
        for line in names.splitlines():
            _write(folder, os.fsdecode(line.removeprefix(b"==> ")), contents)
    return folder


def _write(folder: Path, name: str, contents: bytes) -> None:
    name, _, target = name.partition(" -> ")
    path = folder / name.removesuffix(" (empty)").removesuffix(" (cut)")
    path.parent.mkdir(parents=True, exist_ok=True)
    if target:
        path.symlink_to(target)
    elif name.endswith("/"):
        path.mkdir(exist_ok=True)
    elif name.endswith(" (empty)"):
        path.touch()
    else:
        path.write_bytes(contents[:-1] if name.endswith(" (cut)") else contents)


def pack(folder: Path, file: Path) -> None:
    names: dict[bytes, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        name, contents = path.relative_to(folder).as_posix(), b""
        if path.is_symlink():
            name += f" -> {os.readlink(path)}"
        elif path.is_file():
            contents = path.read_bytes()
            cut = "" if contents.endswith(b"\n") else " (cut)"
            name += cut if contents else " (empty)"
        elif any(path.iterdir()):
            continue
        else:
            name += "/"
        names.setdefault(contents, []).append(name)
    with file.open("wb") as stream:
        for contents, equal in sorted(names.items(), key=lambda item: bool(item[0])):
            stream.writelines(b"==> " + os.fsencode(name) + b"\n" for name in equal)
            stream.write(contents if contents.endswith(b"\n") or not contents else contents + b"\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    here, there = map(Path, sys.argv[1:])
    pack(here, there) if here.is_dir() else unpack(here, there)
