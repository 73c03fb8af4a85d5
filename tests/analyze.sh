#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Static analysis of src/, modules/ and tools/.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=../tools/install-missing.sh
. tools/install-missing.sh

usage() {
    cat <<END
Usage: tests/analyze.sh [cppcheck | gcc | clang-tidy]...
Builds in build-analyze/ with each of these analyzers (default: all), and fails if one reports
anything. Files that passed are analyzed again only after a change. .clang-tidy lists the checks of
clang-tidy.
END
}

# False positives of cppcheck. gcc or clang-tidy checks most of these constructs.
suppressed=(
    # SS_OWNED() frees at the end of a scope.
    memleak
    resourceLeak
    # ss_grow() keeps the old block if realloc() fails.
    'memleakOnRealloc:*/grow.h'
    # A function called in the same argument list fills the buffer, or an earlier loop does.
    uninitvar
    legacyUninitvar
    ctuuninitvar
    # Typed rows store the offset of a value in a struct.
    invalidPointerCast
    # Two variables may have the same initial value.
    duplicateAssignExpression
    # Seeks to find the size of the file before appending.
    'seekOnAppendedFile:*/joblog.c'
    # cppcheck cannot parse a compound literal after a question mark.
    internalAstError
)

# False positives of gcc 12.
misunderstood=(
    # A pointer that a function stores in its caller's struct is not lost. LeakSanitizer finds real leaks in the tests.
    -Wno-analyzer-malloc-leak
    # The analyzer follows loops only twice, so the third element of an array seems uninitialized.
    -Wno-analyzer-use-of-uninitialized-value
    # The analyzer does not relate two variables: a list is not NULL if its count is above 0.
    -Wno-analyzer-null-argument
    -Wno-analyzer-null-dereference
)

cppcheck=(--enable=warning --enable=performance --enable=portability --error-exitcode=1 --quiet)
for id in "${suppressed[@]}"; do
    cppcheck+=("--suppress=$id")
done

# Joins the words with semicolons, as a list of CMake.
list() {
    local IFS=';'
    echo "$*"
}

# analyze ANALYZER: uses a separate build folder for each, because clang-tidy does not know all options of gcc.
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
