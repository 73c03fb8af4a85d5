# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # variables of harness.sh
# Sourced by tests of tools/experiments, after harness.sh: calls of experiments, and checks of what they leave behind.

experiments=$source/tools/experiments
mkdir "$scratch/ram"

# The programs without ssreport, which takes most of the CPU time of a short study; see with_reports.
programs=$scratch/programs/bin
mkdir -p "$programs"
ln -s "$build/libexec" "$scratch/programs"
ln -s "$bin"/* "$programs"
rm -f "$programs/ssreport"

# Options of every call. Other processes may keep the machine busy.
options=(--bin "$programs" --ram "$scratch/ram" --others 100%)
# Options of `interference`: both sides on one CPU, which any machine has.
# shellcheck disable=SC2034 # for the caller
one_cpu=(--sets "$(first_cpu)/$(first_cpu)" --share)

# with_reports: lets the calls that follow report their studies.
with_reports() {
    need_built reports
    ln -s "$bin/ssreport" "$programs"
}

# replace_program NAME: replaces a program of the calls that follow by a script from standard input.
replace_program() {
    rm -f "$programs/$1"
    write_program "$programs/$1"
}

# call NAME OPTION...: calls an experiment; its output is in $output.
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
    says "$output" "$1"
}

# prints PATTERN: fails unless one line of the output matches.
prints() {
    grep -Eqx -- "$1" "$output" || fail "no line of the form $1"
}

# listed STUDY COLUMN [plan]: prints this column of all runs of a study in order, with - for unknown values. With `plan`,
# a column of the plan, although the list has one of this name, such as seconds.
listed() {
    { "$bin/ssbatch" --list --json "$scratch/$1" || true; } | python3 -c '
import json, sys
for row in json.load(sys.stdin):
    print({**row["columns"], **(row if len(sys.argv) == 2 else {})}.get(sys.argv[1]) or "-")' "${@:2}" | paste -sd ' '
}
