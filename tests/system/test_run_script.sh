#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of tests/run.sh and tools/demo.sh, in a tree that has only the scripts it calls, with stand-ins for the programs
# that build.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=../machine.sh
. "$source/tests/machine.sh"

# stand_in NAME LINE...: writes a program that the script finds first.
stand_in() {
    printf '%s\n' '#!/usr/bin/env bash' "${@:2}" >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}

# make_tree [FOLDER]: makes the tree, on a machine with the required packages and nothing else that can be left out. The stand-in
# of cmake writes how it was called; layout ends the script.
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
    says "These are missing, by their names in Debian: libcmocka-dev: install them"
    runs 1 --strict
    says libyajl-dev
}

advice_on_debian_is_a_command() { # case
    make_tree
    stand_in apt-get 'exit 100'
    stand_in id 'echo 1000'
    stand_in sudo 'exit 1'
    have=check runs 1
    says "apt-get install --no-install-recommends libcmocka-dev"
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

all_parts_are_built_if_the_libraries_are_installed() { # case
    make_tree
    have='cmocka check yajl json-c hwloc libcurl libmicrohttpd' runs 9
    says -DSHOWSTOPPER_REQUIRE_ALL=ON
}

variables_that_change_programs_are_not_passed_on() { # case
    make_tree
    OMP_NUM_THREADS=7 OMP_THREAD_LIMIT=7 CDPATH=$scratch runs 9
    says ' OMP= '
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

# Other versions of shellcheck have other warnings, and the user's own files are not checked.
scripts_of_the_tree_are_checked_by_known_versions() { # case
    need git
    make_tree
    # shellcheck disable=SC2016 # for the stand-in
    stand_in shellcheck 'case $1 in --version) echo "version: $version" ;; *) echo "checks $*" ;; esac'
    git -C "$tree" init -q
    git -C "$tree" add tests tools
    cp "$tree/tests/arrows" "$tree/own.sh"
    rm "$tree/tests/machine.sh" && cp "$source/tests/machine.sh" "$tree/tests" # a change that git does not know
    export version=0.10.0
    runs 9
    says 'checks tests/arrows tests/run.sh tools/install-missing.sh'
    ! grep -q own.sh "$scratch/out" || fail "checked a script that is not part of the tree: $(<"$scratch/out")"
    version=0.11.0
    runs 9
    says 'the scripts are not checked: that takes shellcheck 0.9 or 0.10, this is 0.11.0'
    ! grep -q '^checks ' "$scratch/out" || fail "checked by an unknown version: $(<"$scratch/out")"
}

# faults FOLDER TEXT: fails unless the folder is refused for this reason; without TEXT, unless it is accepted.
faults() {
    [[ $(fault_of "$1") == "${2-}" ]] || fail "$1: '$(fault_of "$1")' instead of '${2-}'"
}

unsuitable_folders_of_temporary_files_are_refused() { # case
    folder=$(mktemp -d "${TMPDIR:-/tmp}/run.XXXXXX")
    clean_up() { rm -rf "$folder"; }
    chmod 755 "$folder"
    free_space=0 longest_folder=$((${#folder} + 10))
    mkdir "$folder/open" "$folder/two words" "$folder/long-folder"
    faults "$folder/open"
    faults "$folder/two words" "its path has a space or another special character"
    faults "$folder/long-folder" "its path is longer than $longest_folder characters"
    faults "$folder/none" "programs in it cannot be executed"
    TMPDIR=unchanged
    choose_folder "$folder/none" "$folder/../${folder##*/}/open/" "$folder" >/dev/null
    [ "$TMPDIR" = "$folder/open" ] || fail "the chosen folder is $TMPDIR"
    choose_folder "$folder/none" >/dev/null
    [ "$TMPDIR" = "$folder/open" ] || fail "without a suitable folder, TMPDIR is changed to $TMPDIR"
    free_space=1000000000
    [[ $(fault_of "$folder/open") == "it has "*" MB of free space, tests need 1000000000 MB" ]] ||
        fail "full: $(fault_of "$folder/open")"
    free_space=0
    if [ "$(id -u)" -eq 0 ] && have_other_users; then
        chmod 700 "$folder"
        faults "$folder/open" "it is closed to other users"
    else
        skip_part "another-user: needs root"
    fi
    if unshared -m mount -t tmpfs -o noexec none "$folder/open" 2>/dev/null; then
        # shellcheck disable=SC2016 # for the inner shell
        unshared -m bash -c 'mount -t tmpfs -o noexec none "$2" && . "$1" && ! runs_programs "$2"' - \
            "$source/tests/machine.sh" "$folder/open" || fail "programs without the right to run are not noticed"
    else
        skip_part "mounts: cannot mount a file system"
    fi
}

# at_a_time CPUS PROCESSES MEGABYTES TESTS
at_a_time() {
    [ "$(tests_at_a_time "$1" "$2" "$3")" -eq "$4" ] || fail "$*: $(tests_at_a_time "$1" "$2" "$3")"
}

tests_at_a_time_are_limited() { # case
    local limit
    at_a_time 2 1000000 1000000 12
    at_a_time 128 1000000 1000000 64
    at_a_time 128 300 1000000 10
    at_a_time 128 1000000 2000 10
    at_a_time 128 10 10 1
    [ "$(smallest 5 max unlimited '' 9223372036854775807 3 4)" -eq 3 ] || fail "another smallest number"
    find_jobs
    # shellcheck disable=SC2154 # find_jobs sets them
    { [ "$test_jobs" -ge 1 ] && [ "$build_jobs" -ge 1 ] && [ "$build_jobs" -le "$test_jobs" ]; } ||
        fail "$test_jobs tests and $build_jobs compilers at a time"
    # A real limit would count the processes of all tests.
    ulimit() {
        echo 90
    }
    find_jobs
    unset -f ulimit
    { [ "$test_jobs" -le 3 ] && [ "$build_jobs" -le 3 ]; } ||
        fail "$test_jobs tests and $build_jobs compilers at a time for 90 processes"
}

run_cases
