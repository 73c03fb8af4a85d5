#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rooms of src/ and tools/, the arrows between them, and the guards of headers.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# expect_complaint TEXT: fails unless tests/arrows prints this about the sources in $scratch.
expect_complaint() {
    ! "$source/tests/arrows" "$scratch" >"$scratch/complaints" || fail "tests/arrows did not report: $1"
    grep -qF "$1" "$scratch/complaints" || fail "expected '$1', got: $(cat "$scratch/complaints")"
}

copy_sources() {
    rm -rf "$scratch/src" "$scratch/tools"
    cp -R "$source/src" "$source/tools" "$scratch/"
    "$source/tests/arrows" "$scratch" >/dev/null || fail "tests/arrows fails on the unchanged copy"
}

forbidden_arrows_are_reported() { # case
    copy_sources
    echo '#include "run/master.h"' >>"$scratch/src/base/words.c"
    expect_complaint "base may not use run"
    copy_sources
    echo '#include "json_document.h"' >>"$scratch/tools/common/text/csv.c"
    expect_complaint "common/text may not use common/json"
    copy_sources
    echo '#include "benchmark_run.h"' >>"$scratch/tools/ssload/main.c"
    expect_complaint "ssload may not use ssprofile"
}

unused_arrows_are_reported() { # case
    copy_sources
    sed -i 's/^common\/text:/& options/' "$scratch/tools/rooms.txt"
    expect_complaint "common/text does not use options"
    copy_sources
    sed -i "s/^common\\/analysis: /&+/" "$scratch/tools/rooms.txt"
    expect_complaint "common/analysis needs no + before base"
}

upward_arrows_are_reported() { # case
    copy_sources
    sed -i 's/^common\/text:/& common\/json/' "$scratch/tools/rooms.txt"
    expect_complaint "common/text uses common/json, which is not listed before it"
}

circles_are_reported() { # case
    copy_sources
    echo '#include "base/words.h"' >>"$scratch/src/base/number.h"
    echo '#include "base/number.h"' >>"$scratch/src/base/words.c"
    expect_complaint "src/base/number includes src/base/words, which includes it again"
    copy_sources
    echo '#include "csv.h"' >>"$scratch/tools/common/text/input.h"
    echo '#include "input.h"' >>"$scratch/tools/common/text/csv.h"
    expect_complaint "tools/common/text/input includes tools/common/text/csv, which includes it again"
}

headers_of_the_same_name_are_reported() { # case
    copy_sources
    cp "$scratch/tools/common/text/csv.h" "$scratch/tools/ssload/"
    expect_complaint "csv.h has the same name"
}

# expect_guard_complaint TEXT: fails unless tests/guards prints this about the headers in $scratch.
expect_guard_complaint() {
    ! "$source/tests/guards" "$scratch" >"$scratch/complaints" || fail "tests/guards did not report: $1"
    grep -qF "$1" "$scratch/complaints" || fail "expected '$1', got: $(cat "$scratch/complaints")"
}

copy_headers() {
    local rooms=(include modules src tools tests)
    rm -rf "${rooms[@]/#/$scratch/}"
    (cd "$source" && find "${rooms[@]}" -name '*.h' -exec cp --parents -t "$scratch" {} +)
    "$source/tests/guards" "$scratch" >"$scratch/complaints" ||
        fail "tests/guards fails on the unchanged copy: $(cat "$scratch/complaints")"
}

guards_of_other_paths_are_reported() { # case
    copy_headers
    mv "$scratch/src/base/lines.h" "$scratch/src/loop/"
    expect_guard_complaint "src/loop/lines.h:2: the guard is SHOWSTOPPER_BASE_LINES_H, expected SHOWSTOPPER_LOOP"
    copy_headers
    mv "$scratch/tools/ssload/load_options.h" "$scratch/tools/common/text/"
    expect_guard_complaint "tools/common/text/load_options.h:2: the guard is SSLOAD_LOAD_OPTIONS_H, expected TEXT_LOAD_OPTIONS_H"
    copy_headers
    sed -i '/^#define SSACTUATE_ACTUATOR_H/d' "$scratch/tools/ssactuate/knobs/actuator.h"
    expect_guard_complaint "tools/ssactuate/knobs/actuator.h:3: expected #define SSACTUATE_ACTUATOR_H"
    copy_headers
    echo '#include <stdio.h>' >"$scratch/tests/unit/bare.h"
    expect_guard_complaint "tests/unit/bare.h: no guard, expected SHOWSTOPPER_TESTS_BARE_H"
    copy_headers
    cp "$scratch/tests/unit/heap.h" "$scratch/tests/process/"
    expect_guard_complaint "tests/unit/heap.h: tests/process/heap.h has the same guard"
}

# compile ROOM HEADER: compiles a file that includes this header, with the include paths of this room.
compile() {
    local command
    command=$(awk -v room="/tools/$1/" '
        /"command":/ && index($0, room) && !found { found = 1; sub(/.*"command": "/, ""); sub(/ -o .*/, ""); print }
    ' "$build/compile_commands.json")
    [ -n "$command" ] || fail "compile_commands.json lacks files of $1"
    printf '#include "%s"\n' "$2" >"$scratch/included.c"
    (cd "$build/tools" && eval "${command//\\\"/} -fsyntax-only $scratch/included.c") >"$scratch/errors" 2>&1
}

forbidden_arrows_do_not_compile() { # case
    compile sssim/queue queue_service.h || fail "cannot include a header of the same room: $(cat "$scratch/errors")"
    compile sssim/queue csv.h || fail "cannot include an allowed header: $(cat "$scratch/errors")"
    ! compile common/text queue_service.h || fail "common/text can include sssim/queue"
    ! compile sssim/queue json_document.h || fail "sssim/queue can include common/json"
    grep -q 'json_document.h' "$scratch/errors" || fail "wrong compiler error: $(cat "$scratch/errors")"
}

run_cases
