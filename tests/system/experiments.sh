# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests of tools/experiments, after skip.sh and cases.sh: the test's folder, calls of experiments, and checks
# of what they leave behind.

build=$(cd "$1" && pwd)
checkout=$(cd "$(dirname "$0")/../.." && pwd)
experiments=$checkout/tools/experiments
scratch=$(mktemp -d)
output=$scratch/output
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/ram"
: >"$output"

# Options of every call. Other processes may keep the machine busy.
options=(--bin "$build/bin" --ram "$scratch/ram" --others 100%)
# Options of `interference`: both sides on one CPU, which any machine has.
# shellcheck disable=SC2034 # for the caller
one_cpu=(--sets "$(first_cpu)/$(first_cpu)" --share)

fail() {
    echo "FAILED: $*" >&2
    cat "$output" >&2
    exit 1
}

# call NAME OPTION...: calls an experiment; its output is in $output.
# shellcheck disable=SC2154 # cases.sh sets it
call() {
    (cd "$scratch" && exec timeout "$patience" "$experiments/$1" "${options[@]}" "${@:2}") >"$output" 2>&1
}

nothing_is_left() {
    [ -z "$(ls "$scratch/ram")" ] || fail "leftover data: $(ls "$scratch/ram")"
}

# experiment NAME OPTION...: calls an experiment, which must succeed.
experiment() {
    call "$@" || fail "$*: status $?"
    nothing_is_left
}

# refuses MESSAGE NAME OPTION...: fails unless the call exits with an error that contains the message. Sets `status`.
refuses() {
    status=0
    call "${@:2}" || status=$?
    [ "$status" -ne 0 ] || fail "${*:2}: accepted"
    [ "$status" -ne 124 ] || fail "${*:2}: still running after $patience s"
    grep -Fq -- "$1" "$output" || fail "${*:2}: no '$1' in the output"
}

# prints PATTERN: fails unless one line of the output matches.
prints() {
    grep -Eqx -- "$1" "$output" || fail "no line of the form $1"
}

# needs_ssbatch: fails, after skipping the caller's part, if ssbatch is not built.
needs_ssbatch() {
    [ -x "$build/bin/ssbatch" ] && return
    skip_part "left-out: built without ssbatch"
    return 1
}

# listed STUDY COLUMN: prints this column of all runs of a study in order, with - for unknown values.
listed() {
    { "$build/bin/ssbatch" --list --json "$scratch/$1" || true; } | python3 -c '
import json, sys
for row in json.load(sys.stdin):
    print({**row["columns"], **row}.get(sys.argv[1]) or "-")' "$2" | paste -sd ' '
}

# planned STUDY COLUMN: like listed, for a column of the plan with the name of a column of the list, such as seconds.
planned() {
    { "$build/bin/ssbatch" --list --json "$scratch/$1" || true; } | python3 -c '
import json, sys
for row in json.load(sys.stdin):
    print(row["columns"].get(sys.argv[1]) or "-")' "$2" | paste -sd ' '
}
