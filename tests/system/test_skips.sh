#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A test that cannot run here counts as skipped, is listed with its reason, and is an error on a machine that has the
# required feature.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
tests=$source/tests

# ends STATUS FIXTURE [CASE]
ends() {
    local status=0
    "$build/tests/$2" "${@:3}" >"$scratch/out" 2>&1 || status=$?
    [ "$status" -eq "$1" ] || fail "${*:2}: expected status $1, got $status"
}

# is_told REASON
is_told() {
    grep -qx "skipped: $1" "$scratch/out" || fail "no line 'skipped: $1' in the output"
}

fixtures() {
    local fixture
    for fixture in unit_fixture_skips process_fixture_skips; do
        [ -x "$build/tests/$fixture" ] || skip "left-out: built without $fixture"
        ends 77 "$fixture" the_case_is_skipped
        is_told "nonsense: of the fixture"
        ends 0 "$fixture" the_case_runs
        ends 1 "$fixture" the_case_fails
    done
    ends 77 process_fixture_skips the_case_is_skipped_by_its_child
    is_told "nonsense: found by a child"
}

# A test that returns before its first check would be an unreported skip.
no_test_returns() {
    ! awk '/^TEST_CASE/ { inside = 1 } /^}/ { inside = 0 }
        inside && /^ *return;/ { print FILENAME ":" FNR ": " $0 }' "$tests"/process/test_*.c |
        grep . || fail "tests that return early must use SKIP"
}

# log [TEST REASON STATUS]...: writes a log in the format of ctest.
log() {
    mkdir -p "$scratch/build"
    while [ $# -gt 0 ]; do
        printf '\t<testcase name="%s" classname="%s" time="1" status="%s">\n' "$1" "$1" "$3"
        [ "$3" != notrun ] || printf '\t\t<skipped message="SKIP_RETURN_CODE=77"/>\n'
        printf '\t\t<system-out>%s\nand more\n\t\t</system-out>\n\t</testcase>\n' "${2:+skipped: $2}"
        shift 3
    done >"$scratch/build/tests.xml"
}

# lists STATUS OPTION...: runs tests/skips on this log, for a build without sanitizers.
lists() {
    local status=0
    : >"$scratch/build/CMakeCache.txt"
    "$tests/skips" "${@:2}" "$scratch/build" >"$scratch/out" 2>&1 || status=$?
    [ "$status" -eq "$1" ] || fail "skips: expected status $1, got $status"
}

# has_line LINE
has_line() {
    grep -Fqx -- "$1" "$scratch/out" || fail "no line '$1'"
}

reasons() {
    local there="sanitizer: none in this build" missing="no-such_program: not installed"
    log a.b.c '' run
    lists 0 --strict
    [ ! -s "$scratch/out" ] || fail "unexpected output without a skip"
    log a.b.c "$missing" notrun a.b.d "$missing" notrun a.b.e '' run
    lists 0 --strict
    has_line "skipped: $missing"
    has_line "    a.b.c"
    has_line "    a.b.d"
    [ "$(wc -l <"$scratch/out")" -eq 3 ] || fail "the skips are not grouped by reason"
    log a.b.c "$missing" notrun a.b.d "$there" notrun
    lists 0
    lists 1 --strict
    has_line "skipped: $there (unexpected: this machine has it)"
    has_line "    a.b.d"
    log a.b.c "$there
skipped: $missing" notrun
    lists 1 --strict
    has_line "skipped: $there (unexpected: this machine has it)"
    has_line "skipped: $missing"
    log a.b.c '' notrun
    lists 1 --strict
    has_line "skipped (no reason given)"
    log a.b.c "no &lt;program&gt;: &quot;R&quot; &amp; more" notrun
    lists 1 --strict
    grep -q '^skipped: no <program>: "R" & more (' "$scratch/out" || fail "XML entities are not decoded"
    log a.b.c "for no good reason" notrun
    lists 1 --strict
    log a.b.c "$missing" run
    lists 1 --strict
    has_line "skipped: passed $missing (the test passed)"
    log a.b.c "$missing" fail
    lists 0 --strict
    log a.b.c "left-out: built without ssreport" notrun
    lists 0 --strict
    echo SHOWSTOPPER_REQUIRE_ALL:BOOL=ON >"$scratch/build/CMakeCache.txt"
    ! "$tests/skips" --strict "$scratch/build" >"$scratch/out" || fail "a part is left out of a build of all parts"
    log a.b.c "$there" notrun
    echo SHOWSTOPPER_SANITIZE:STRING=thread >"$scratch/build/CMakeCache.txt"
    "$tests/skips" --strict "$scratch/build" >"$scratch/out" || fail "a skip for a sanitizer is unexpected in a sanitizer build"
}

no_test_returns
fixtures
reasons
