#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rooms of src/ and tools/, the arrows between them, and the guards of headers.
# Arguments: the build folder, and one case to run (default: all).
# shellcheck disable=SC2317 # cases are called by their names
set -euo pipefail

# shellcheck source=cases.sh
. "$(dirname "$0")/cases.sh"

fail() {
    echo "$*"
    exit 1
}

build=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect_complaint TEXT: fails unless tests/arrows prints this about the sources in $work.
expect_complaint() {
    ! "$source/tests/arrows" "$work" >"$work/complaints" || fail "tests/arrows did not report: $1"
    grep -qF "$1" "$work/complaints" || fail "expected '$1', got: $(cat "$work/complaints")"
}

copy_sources() {
    rm -rf "$work/src" "$work/tools"
    cp -R "$source/src" "$source/tools" "$work/"
    "$source/tests/arrows" "$work" >/dev/null || fail "tests/arrows fails on the unchanged copy"
}

forbidden_arrows_are_reported() {
    copy_sources
    echo '#include "run/master.h"' >>"$work/src/base/words.c"
    expect_complaint "base may not use run"
    copy_sources
    echo '#include "json_document.h"' >>"$work/tools/common/text/csv.c"
    expect_complaint "common/text may not use common/json"
    copy_sources
    echo '#include "benchmark_run.h"' >>"$work/tools/ssload/measure.c"
    expect_complaint "ssload may not use ssprofile"
}

unused_arrows_are_reported() {
    copy_sources
    sed -i 's/^common\/text:/& options/' "$work/tools/rooms.txt"
    expect_complaint "common/text does not use options"
    copy_sources
    sed -i "s/^common\\/analysis: /&+/" "$work/tools/rooms.txt"
    expect_complaint "common/analysis needs no + before base"
}

upward_arrows_are_reported() {
    copy_sources
    sed -i 's/^common\/text:/& common\/json/' "$work/tools/rooms.txt"
    expect_complaint "common/text uses common/json, which is not listed before it"
}

circles_are_reported() {
    copy_sources
    echo '#include "base/words.h"' >>"$work/src/base/number.h"
    echo '#include "base/number.h"' >>"$work/src/base/words.c"
    expect_complaint "src/base/number includes src/base/words, which includes it again"
    copy_sources
    echo '#include "csv.h"' >>"$work/tools/common/text/input.h"
    echo '#include "input.h"' >>"$work/tools/common/text/csv.h"
    expect_complaint "tools/common/text/input includes tools/common/text/csv, which includes it again"
}

headers_of_the_same_name_are_reported() {
    copy_sources
    cp "$work/tools/common/text/csv.h" "$work/tools/ssload/"
    expect_complaint "csv.h has the same name"
}

# expect_guard_complaint TEXT: fails unless tests/guards prints this about the headers in $work.
expect_guard_complaint() {
    ! "$source/tests/guards" "$work" >"$work/complaints" || fail "tests/guards did not report: $1"
    grep -qF "$1" "$work/complaints" || fail "expected '$1', got: $(cat "$work/complaints")"
}

copy_headers() {
    local rooms=(include modules src tools tests)
    rm -rf "${rooms[@]/#/$work/}"
    (cd "$source" && find "${rooms[@]}" -name '*.h' -exec cp --parents -t "$work" {} +)
    "$source/tests/guards" "$work" >"$work/complaints" ||
        fail "tests/guards fails on the unchanged copy: $(cat "$work/complaints")"
}

guards_of_other_paths_are_reported() {
    copy_headers
    mv "$work/src/base/lines.h" "$work/src/loop/"
    expect_guard_complaint "src/loop/lines.h:2: the guard is SHOWSTOPPER_BASE_LINES_H, expected SHOWSTOPPER_LOOP"
    copy_headers
    mv "$work/tools/ssload/measure.h" "$work/tools/common/text/"
    expect_guard_complaint "tools/common/text/measure.h:2: the guard is SSLOAD_MEASURE_H, expected TEXT_MEASURE_H"
    copy_headers
    sed -i '/^#define SSACTUATE_ACTUATOR_H/d' "$work/tools/ssactuate/knobs/actuator.h"
    expect_guard_complaint "tools/ssactuate/knobs/actuator.h:3: expected #define SSACTUATE_ACTUATOR_H"
    copy_headers
    echo '#include <stdio.h>' >"$work/tests/unit/bare.h"
    expect_guard_complaint "tests/unit/bare.h: no guard, expected SHOWSTOPPER_TESTS_BARE_H"
    copy_headers
    cp "$work/tests/unit/heap.h" "$work/tests/process/"
    expect_guard_complaint "tests/unit/heap.h: tests/process/heap.h has the same guard"
}

# compile ROOM HEADER: compiles a file that includes this header, with the include paths of this room.
compile() {
    local command
    command=$(awk -v room="/tools/$1/" '
        /"command":/ && index($0, room) && !found { found = 1; sub(/.*"command": "/, ""); sub(/ -o .*/, ""); print }
    ' "$build/compile_commands.json")
    [ -n "$command" ] || fail "compile_commands.json lacks files of $1"
    printf '#include "%s"\n' "$2" >"$work/included.c"
    (cd "$build/tools" && eval "${command//\\\"/} -fsyntax-only $work/included.c") >"$work/errors" 2>&1
}

forbidden_arrows_do_not_compile() {
    compile sssim/queue queue_service.h || fail "cannot include a header of the same room: $(cat "$work/errors")"
    compile sssim/queue csv.h || fail "cannot include an allowed header: $(cat "$work/errors")"
    ! compile common/text queue_service.h || fail "common/text can include sssim/queue"
    ! compile sssim/queue json_document.h || fail "sssim/queue can include common/json"
    grep -q 'json_document.h' "$work/errors" || fail "wrong compiler error: $(cat "$work/errors")"
}

run_case forbidden_arrows_are_reported
run_case unused_arrows_are_reported
run_case upward_arrows_are_reported
run_case circles_are_reported
run_case headers_of_the_same_name_are_reported
run_case guards_of_other_paths_are_reported
run_case forbidden_arrows_do_not_compile
end_cases
