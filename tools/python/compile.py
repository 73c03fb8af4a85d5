# SPDX-License-Identifier: Apache-2.0
"""Usage: compile.py DESTDIR FOLDER
Compiles the package that was installed in FOLDER below DESTDIR, and prints the names of the new files, separated by ;.
They remain valid if the times of files change, as in a copy."""

import compileall
import os
import py_compile
import sys

destdir, folder = sys.argv[1:]
os.umask(0o022)
compileall.compile_dir(
    destdir + folder,
    quiet=1,
    force=True,
    stripdir=destdir or None,
    invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH,
)
made = [
    os.path.join(path.removeprefix(destdir), name)
    for path, _, names in os.walk(destdir + folder)
    for name in names
    if name.endswith(f".{sys.implementation.cache_tag}.pyc")
]
print(*sorted(made), sep=";", end="")
