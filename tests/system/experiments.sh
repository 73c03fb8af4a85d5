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
    (cd "$scratch" && exec timeout "$patience" "$bin/sslab" "$1" "${options[@]}" "${@:2}") >"$output" 2>&1
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

# stand_in: replaces showstopper in calls of duet by a program that writes the record of a run of 1 s. The last word of
# the command is the number of iterations; the padding of the environment adds noise. Runs begin 3 s apart.
stand_in() {
    mkdir "$scratch/bin"
    ln -s "$build/bin/"* "$scratch/bin"
    rm "$scratch/bin/showstopper"
    {
        printf '#!/usr/bin/env bash\nreal=%q scratch=%q\n' "$build/bin/showstopper" "$scratch"
        cat <<'END'
[[ " $* " = *" --record "* ]] || exec "$real" "$@"
verdict='"verdict": {"result": "valid", "checks": [{"check": "samples", "result": "passed"}]}'
while [ "$1" != -- ]; do
    [ "$1" != --record ] || record=$2
    shift
done
write_record() { # CPUS ITERATIONS LOAD MINUTE SECOND
    local time=2026-11-20T10:$(printf '%02d:%02d' "$4" "$5")
    mkdir "$record"
    echo "{\"version\": \"1\", \"command\": [\"work\"], \"instances\": 1, \"cpu_count\": $1}" >"$record/plan.json"
    echo '{"time":"","elapsed_seconds":0.000000,"event":"counting"}' >"$record/events.jsonl"
    echo "{\"ended_by\": \"duration\", \"samples\": 2, \"instances\": 1, \"iterations\": $2, \"warnings\": [], $verdict}" \
        >"$record/summary.json"
    printf '%s\n' time,elapsed_seconds,target,load,error,load_ticks,duty "$time.000Z,0.500000,$3,$3,0,1,1" \
        "$time.500Z,1.000000,$3,$3,0,1,1" >"$record/samples.csv"
    awk -v count="$2" 'BEGIN {
        print "instance,start,end"
        for (i = 1; i <= count; i++) printf "0,%.6f,%.6f\n", (i - 1) / count, i / count
    }' >"$record/iterations.csv"
}
[[ $record =~ -(aa|ab)-([0-9]+)-([1-4])-[ab]/ ]] || exit 1
run=${BASH_REMATCH[*]:1}
[ "$run" != "ab 3 2" ] || [ -e "$scratch/repaired" ] || exit 9
echo "$run" >>"$scratch/carried-out"
count=$((${*: -1} * (1000 + $5 % 41 - 20) / 1000))
write_record 1 "$count" 1 0 "$((3 * ${run##* }))"
END
    } >"$scratch/bin/showstopper"
    echo '#!/bin/sh' >"$scratch/bin/work" # the plan names it, but the stand-in does not run it
    chmod +x "$scratch/bin/showstopper" "$scratch/bin/work"
    options=(--bin "$scratch/bin" --ram "$scratch/ram" --others 100%)
}

# listed STUDY COLUMN [plan]: prints this column of all runs of a study in order, with - for unknown values. With `plan`,
# a column of the plan, although the list has one of this name, such as seconds.
listed() {
    { "$bin/ssbatch" --list --json "$scratch/$1" || true; } | python3 -c '
import json, sys
for row in json.load(sys.stdin):
    print({**row["columns"], **(row if len(sys.argv) == 2 else {})}.get(sys.argv[1]) or "-")' "${@:2}" | paste -sd ' '
}
