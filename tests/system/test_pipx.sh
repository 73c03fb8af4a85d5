#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# In a fresh root, pipx installs the wheel of static programs, and, with a compiler, a clone.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=static.sh
. "$here/static.sh"

# try SUITE
try() {
    need debootstrap
    [ "$(id -u)" -eq 0 ] || skip "root: creates a root file system"
    unshare --mount --pid --fork mount -t tmpfs none /mnt 2>/dev/null || skip "mounts: cannot mount file systems"
    need_pypi
    make_static x86_64
    make_wheel made
    "$source/tests/fresh-root.sh" --suite "$1" --add "$scratch/made" -- tests/system/use-pipx
}

pipx_installs_in_debian_12() { try bookworm; } # case
pipx_installs_in_debian_13() { try trixie; } # case

run_cases
