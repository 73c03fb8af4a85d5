# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced after harness.sh by tests of static programs. These tests build them in the same folder, one after the other.
# `version` is that of the programs.

[ "$(uname -m)" = x86_64 ] || skip "x86_64: packaging/static is for Debian on x86_64"
need musl-gcc
apt-get -o APT::Sandbox::User=root download base-files >log 2>&1 || skip "mirror: $(tail -n 1 log)"
# shellcheck disable=SC2034,SC2154 # of the caller, and of harness.sh
version=$(sed -n 's/^project(showstopper VERSION \([^ ]*\).*/\1/p' "$source/CMakeLists.txt")

# make_static ARCHITECTURE: copies its programs to static/ARCHITECTURE.
make_static() {
    # shellcheck disable=SC2154 # of harness.sh
    (flock 7 && "$source/packaging/static" --arch "$1" "$build/static" && mkdir -p static &&
        cp -r "$build/static/$1" static) 7>>"$build/static.lock" >log 2>&1 || fail "$(tail -n 20 log)"
}

# need_pypi: skips the test unless pip can download the backend of wheels.
need_pypi() {
    need pip3
    pip3 download --no-deps --dest probe scikit-build-core >log 2>&1 || skip "pypi: $(tail -n 1 log)"
}

# make_wheel FOLDER: makes the wheel for x86_64 there, after make_static, and sets `wheel` to its name.
make_wheel() {
    # shellcheck disable=SC2154 # of harness.sh
    (flock 7 && "$source/packaging/wheel" --arch x86_64 "$build/static" "$1") 7>>"$build/static.lock" >log 2>&1 ||
        fail "$(tail -n 20 log)"
    # shellcheck disable=SC2034 # for the caller
    wheel=showstopper-$version-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl
    [ "$(ls "$1")" = "$wheel" ] || fail "made other files: $(ls "$1")"
}

# run_in_root FOLDER PROGRAM...: runs a program in this folder as root, with only /proc and /dev/null added.
run_in_root() {
    mkdir -p "$1/proc" "$1/dev/shm"
    : >"$1/dev/null"
    # shellcheck disable=SC2016 # for sh
    unshare --mount --propagation private sh -c 'mount --bind /proc "$1/proc" &&
        mount --bind /dev/null "$1/dev/null" && exec chroot "$@"' sh "$@"
}
