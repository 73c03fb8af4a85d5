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

# has_reason REASON: fails unless the last fixture printed that it was skipped for this reason.
has_reason() {
    grep -qx "skipped: $1" "$scratch/out" || fail "no line 'skipped: $1' in the output"
}

fixtures() {
    local fixture
    for fixture in unit_fixture_skips process_fixture_skips; do
        [ -x "$build/tests/$fixture" ] || skip "left-out: built without $fixture"
        ends 77 "$fixture" the_case_is_skipped
        has_reason "nonsense: of the fixture"
        ends 0 "$fixture" the_case_runs
        ends 1 "$fixture" the_case_fails
    done
    ends 77 process_fixture_skips the_case_is_skipped_by_its_child
    has_reason "nonsense: found by a child"
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

# lists STATUS LINE OPTION...: runs tests/skips on this log, for a build with this line in its cache.
lists() {
    local status=0
    echo "$2" >"$scratch/build/CMakeCache.txt"
    "$tests/skips" "${@:3}" "$scratch/build" >"$scratch/out" 2>&1 || status=$?
    [ "$status" -eq "$1" ] || fail "skips: expected status $1, got $status: $(cat "$scratch/build/tests.xml")"
}

# has_line LINE
has_line() {
    grep -Fqx -- "$1" "$scratch/out" || fail "no line '$1'"
}

# Rows: status with --strict, a line of the CMake cache, reason, status of the test, and a line that is listed.
reasons() {
    local strict cache reason result line
    local there="sanitizer: none in this build" missing="no-such_program: not installed"
    log a.b.c "$missing" notrun a.b.d "$missing" notrun a.b.e '' run
    lists 0 '' --strict
    has_line "skipped: $missing"
    has_line "    a.b.c"
    has_line "    a.b.d"
    [ "$(wc -l <"$scratch/out")" -eq 3 ] || fail "the skips are not grouped by reason"
    while IFS='|' read -r strict cache reason result line; do
        log a.b.c "$reason" "$result"
        lists "$strict" "$cache" --strict
        [ -z "$line" ] || has_line "$line"
    done <<END
0|||run|
0||$missing|notrun|skipped: $missing
1||$there|notrun|skipped: $there (unexpected: this machine has it)
0|SHOWSTOPPER_SANITIZE:STRING=thread|$there|notrun|
1|||notrun|skipped (no reason given)
1||for no good reason|notrun|
1||$missing|run|skipped: passed $missing (the test passed)
0||$missing|fail|
0||left-out: built without ssreport|notrun|
1|SHOWSTOPPER_REQUIRE_ALL:BOOL=ON|left-out: built without ssreport|notrun|
END
    log a.b.c "$there
skipped: $missing" notrun
    lists 1 '' --strict
    has_line "skipped: $there (unexpected: this machine has it)"
    has_line "skipped: $missing"
    lists 0 ''
    log a.b.c "no &lt;program&gt;: &quot;R&quot; &amp; more" notrun
    lists 1 '' --strict
    grep -q '^skipped: no <program>: "R" & more (' "$scratch/out" || fail "XML entities are not decoded"
}

no_test_returns
fixtures
reasons
