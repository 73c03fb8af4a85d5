#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of tests/run.sh and tools/demo.sh, in a tree that has only the scripts it calls, with stand-ins for the programs
# that build.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# stand_in NAME LINE...: writes a program that the script finds first.
stand_in() {
    printf '%s\n' '#!/usr/bin/env bash' "${@:2}" >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}

# make_tree [FOLDER]: makes the tree, on a machine with the required packages and nothing else that can be left out. The
# stand-in of cmake writes how it was called; layout ends the script.
make_tree() {
    local name
    rm -rf "${scratch:?}"/*
    tree=$scratch/${1:-tree}
    mkdir -p "$tree/tests" "$tree/tools" "$scratch/bin" "$scratch/usual"
    cp "$source/tests/"{run.sh,machine.sh,sources.sh} "$tree/tests"
    cp "$source/tools/install-missing.sh" "$tree/tools"
    printf '#!/bin/sh\necho "the layout follows"\nexit 9\n' >"$tree/tests/arrows"
    chmod +x "$tree/tests/arrows"
    for name in awk bash cat chmod cp cut df dirname env find git grep id mkdir mktemp nproc python3 realpath rm rmdir sed \
        setpriv sh sort tee timeout true xargs; do
        ln -s "$(type -P "$name")" "$scratch/usual" 2>/dev/null || true
    done
    # shellcheck disable=SC2016 # for the stand-ins
    {
        stand_in cmake 'echo "cmake $* OMP=${OMP_NUM_THREADS-} TMPDIR=${TMPDIR-}"'
        stand_in pkg-config '[[ " ${have-cmocka check} " = *" ${!#} "* ]]'
        stand_in cc 'exit 0'
        stand_in ninja 'exit 0'
    }
}

# runs STATUS OPTION...: calls $script, by default tests/run.sh.
runs() {
    local status=0
    (cd "$tree" && PATH=$scratch/bin:$scratch/usual exec "${script:-tests/run.sh}" "${@:2}") >"$scratch/out" 2>&1 || status=$?
    [ "$status" -eq "$1" ] || fail "${*:2}: status $status instead of $1: $(<"$scratch/out")"
}

# says TEXT
says() {
    grep -Fq -- "$1" "$scratch/out" || fail "no '$1' in: $(<"$scratch/out")"
}

only_required_packages_must_be_installed() { # case
    make_tree
    runs 9
    says "Not found; tests that need them are skipped:"
    says "libyajl-dev libjson-c-dev"
    says -DSHOWSTOPPER_REQUIRE_ALL=OFF
    says "the layout follows"
    have=check runs 1
    says "Missing packages, by their names in Debian: libcmocka-dev: install them"
    runs 1 --strict
    says libyajl-dev
    have='cmocka check yajl json-c hwloc libcurl libmicrohttpd' runs 9
    says -DSHOWSTOPPER_REQUIRE_ALL=ON
}

# An unreachable mirror must not end the tests of a user, who can do nothing about it.
failed_installations_end_only_strict_runs() { # case
    make_tree
    stand_in apt-get 'exit 100'
    # shellcheck disable=SC2016 # for the stand-in
    stand_in sudo 'shift; exec "$@"'
    runs 9
    says "Installing libyajl-dev"
    says -DSHOWSTOPPER_REQUIRE_ALL=OFF
    runs 100 --strict
    ! grep -q '^cmake ' "$scratch/out" || fail "--strict built without the packages: $(<"$scratch/out")"
}

paths_with_special_characters_are_refused() { # case
    local path
    for path in "two words" 'a"b' 'x,y' 'x:y' 'a]b' 'c#'; do
        make_tree "$path"
        runs 1
        says "the tests cannot run in '$tree'"
    done
}

sanitizers_are_used_only_on_request() { # case
    local name
    make_tree
    mkdir -p "$tree/build" "$tree/build-asan-ubsan" "$tree/build-tsan" "$tree/build-minimal/bin"
    for name in tests/arrows tests/guards tests/skips build-minimal/bin/{showstopper,ssload,ssburn,sstrace,sssim}; do
        printf '#!/bin/sh\n' >"$tree/$name"
        chmod +x "$tree/$name"
    done
    # shellcheck disable=SC2016 # for the stand-ins
    {
        stand_in ctest 'echo "ctest $*"'
        stand_in cmake 'echo "cmake $*"' 'printf "%s\n" "-- Left out: unit tests" "-- Left out: reports in Python"' \
            '[[ $* != *build-minimal/required* ]] || { echo SHOWSTOPPER_REQUIRE_ALL && exit 1; }'
    }
    runs 0
    says "ctest --preset release"
    ! grep -q san "$scratch/out" || fail "a run without options uses sanitizers: $(<"$scratch/out")"
    runs 0 --sanitizers
    says "cmake --preset asan-ubsan"
    says "ctest --preset asan-ubsan"
    says "ctest --preset tsan"
    ! grep -q 'preset release' "$scratch/out" || fail "built without sanitizers, too: $(<"$scratch/out")"
    runs 1 --quick --sanitizers
    says "--sanitizers: not together with --quick"
}

# The first build would otherwise compile all tests, silently.
the_demo_builds_the_programs_alone_and_shows_progress() { # case
    make_tree
    cp "$source/tools/demo.sh" "$tree/tools"
    mkdir -p "$tree/build/bin"
    # shellcheck disable=SC2016 # for the stand-in
    printf '#!/bin/sh\necho "holds $*" >&2\nprintf "\\"verdict\\": {\\n\\"result\\": \\"$verdict\\"" >build/demo.json\n' \
        >"$tree/build/bin/showstopper"
    chmod +x "$tree/build/bin/showstopper"
    stand_in make 'exit 0'
    # shellcheck disable=SC2016 # for the stand-in
    stand_in cmake 'echo "cmake $*" >>calls' 'printf "[  7%%] a\n[ 12%%] b\n[30/75] c\n[ 44%%] d\n[100%%] e\n"'
    verdict=invalid script=tools/demo.sh runs 0
    says 'If other processes are the reason:'
    verdict=valid script=tools/demo.sh runs 0
    ! grep -q 'are the reason' "$scratch/out" || fail "advice after a valid run"
    says '10 % 40 % 100 %'
    says 'holds --load 50% --duration 20s'
    grep -q -- '--target programs' "$tree/calls" || fail "built more than the programs: $(<"$tree/calls")"
    # shellcheck disable=SC2016 # for the stand-in
    stand_in cmake '[ "$1" = --preset ] || { echo "[ 50%] a"; echo "an error"; exit 2; }'
    script=tools/demo.sh runs 2
    says 'an error'
    # The rule of this target, of ninja or make.
    grep -hsE '^(build programs: |CMakeFiles/programs.dir/all: )' "$build"/{build.ninja,CMakeFiles/Makefile2} \
        >"$scratch/target" || true
    grep -q 'ssburn' "$scratch/target" || fail "the target programs lacks ssburn: $(<"$scratch/target")"
    ! grep -q 'tests/' "$scratch/target" || fail "the target programs has tests: $(<"$scratch/target")"
}

run_cases
