#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Looks for errors in src/, modules/ and tools/ without running them.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=../tools/install-missing.sh
. tools/install-missing.sh

usage() {
    cat <<END
Usage: tests/analyze.sh [cppcheck | gcc | clang-tidy]...
Builds in build-analyze/ with each of these analyzers, by default all, and fails if one finds
something. Files that passed are analyzed again only after a change. .clang-tidy lists the checks of
clang-tidy.
END
}

# Constructs that cppcheck does not understand; gcc or clang-tidy check most of it.
suppressed=(
    # SS_OWNED() releases at the end of a scope.
    memleak
    resourceLeak
    # ss_grow() keeps the old block if there is no new one.
    'memleakOnRealloc:*/grow.h'
    # A function that is called among the arguments fills the buffer, or a loop before does.
    uninitvar
    # Typed rows know the offset of a value in a struct.
    invalidPointerCast
    # Two variables may begin with the same value.
    duplicateAssignExpression
    # Finds the size of the file that is appended to.
    'seekOnAppendedFile:*/joblog.c'
    # The third part has no colon, and ends the loop.
    'nullPointer:*/option_value.c'
    # A column's number is less than that of all fields.
    'arrayIndexOutOfBoundsCond:*/grouped_values.c'
    # A compound literal after a question mark.
    'internalAstError:*/parabola.c'
)

# Constructs that gcc 12 does not understand.
misunderstood=(
    # A pointer that a function stores in its caller's struct is not lost. The leak sanitizer checks all tests.
    -Wno-analyzer-malloc-leak
    # Loops are followed for two rounds only, so the third element of an array seems to have no value.
    -Wno-analyzer-use-of-uninitialized-value
    # A list is not NULL if its count is above 0, and what two variables say together.
    -Wno-analyzer-null-argument
    -Wno-analyzer-null-dereference
)

cppcheck=(--enable=warning --enable=performance --enable=portability --error-exitcode=1 --quiet)
for id in "${suppressed[@]}"; do
    cppcheck+=("--suppress=$id")
done

# Prints the words as a list of cmake.
list() {
    local IFS=';'
    echo "$*"
}

# analyze ANALYZER: has a folder of its own, because clang-tidy does not know all options of gcc.
analyze() {
    local option
    case $1 in
    --help) usage && exit ;;
    cppcheck)
        install_missing cppcheck=cppcheck || return
        option=-DCMAKE_C_CPPCHECK=$(list cppcheck "${cppcheck[@]}")
        ;;
    gcc) option="-DCMAKE_C_FLAGS=-fanalyzer ${misunderstood[*]}" ;;
    clang-tidy)
        install_missing clang-tidy=clang-tidy || return
        option=-DCMAKE_C_CLANG_TIDY=$(list clang-tidy --quiet)
        ;;
    *) echo "tests/analyze.sh: $1: unknown analyzer: see --help" >&2 && exit 2 ;;
    esac
    printf '\n== %s\n' "$1"
    cmake -S . -B "build-analyze/$1" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DBUILD_TESTING=OFF \
        -DSHOWSTOPPER_REQUIRE_ALL=ON -DSHOWSTOPPER_WERROR=ON "$option" >/dev/null || return
    cmake --build "build-analyze/$1" --parallel "$(nproc)" -- -k 0
}

status=0
[ "$#" -gt 0 ] || set -- cppcheck gcc clang-tidy
for analyzer; do
    (analyze "$analyzer") || status=$?
done
exit "$status"
