#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rooms of src/ and tools/, the arrows between them, and the guards of headers.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# complains CHECK TEXT COMMAND: fails unless tests/CHECK reports this text after a change of the copied sources.
complains() {
    rm -rf tree
    mkdir tree
    (cd "$source" && cp -R --parents -t "$scratch/tree" include modules src tools &&
        find tests -name '*.h' -exec cp --parents -t "$scratch/tree" {} +)
    (cd tree && eval "$3")
    ! "$source/tests/$1" "$scratch/tree" >complaints || fail "tests/$1 did not report: $2"
    grep -qF "$2" complaints || fail "expected '$2', got: $(cat complaints)"
}

wrong_arrows_and_guards_are_reported() { # case
    local check text change
    while IFS='|' read -r check text change; do
        complains "$check" "$text" "$change"
    done <<'END'
arrows|base may not use run|echo '#include "run/master.h"' >>src/base/words.c
arrows|common/text may not use common/json|echo '#include "json_document.h"' >>tools/common/text/csv.c
arrows|common/text does not use options|sed -i 's/^common\/text:/& options/' tools/rooms.txt
arrows|common/analysis needs no + before base|sed -i 's/^common\/analysis: /&+/' tools/rooms.txt
arrows|common/text uses common/json, which is not listed before it|sed -i 's/^common\/text:/& common\/json/' tools/rooms.txt
arrows|tools/common/text/input includes tools/common/text/csv, which includes it again|echo '#include "csv.h"' >>tools/common/text/input.h; echo '#include "input.h"' >>tools/common/text/csv.h
arrows|csv.h has the same name|cp tools/common/text/csv.h tools/ssload
guards|src/loop/lines.h:2: the guard is SHOWSTOPPER_BASE_LINES_H, expected SHOWSTOPPER_LOOP|mv src/base/lines.h src/loop
guards|tools/ssactuate/knobs/actuator.h:3: expected #define SSACTUATE_ACTUATOR_H|sed -i '/^#define SSACTUATE_ACTUATOR_H/d' tools/ssactuate/knobs/actuator.h
guards|tests/unit/bare.h: no guard, expected SHOWSTOPPER_TESTS_BARE_H|echo '#include <stdio.h>' >tests/unit/bare.h
guards|tests/unit/heap.h: tests/process/heap.h has the same guard|cp tests/unit/heap.h tests/process
END
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
