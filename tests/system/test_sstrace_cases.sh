#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sstrace: options and files in, text and messages out. The cases are in tests/data/sstrace, whose README describes their
# form.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
set -f # words of cases are no patterns
sstrace=$bin/sstrace
import=$source/tests/data/import
words='' wanted=() parts=() # of the case that is being read

# differs: succeeds unless `out` is as in `wanted` but for rounding, which depends on the architecture.
differs() {
    [ "$(<out)" != "$(<wanted)" ] || return 1
    awk '{ text = $0; gsub(/[0-9]+(\.[0-9]+)?(e-?[0-9]+)?/, "", text); count = split($0, numbers, /[^0-9.e-]+/) }
        NR == FNR { texts[FNR] = text; lines[FNR] = $0; last = FNR; next }
        { split(lines[FNR], others, /[^0-9.e-]+/) }
        texts[FNR] != text { exit failed = 1 }
        { for (i = 1; i <= count; i++) if ((numbers[i] - others[i]) ^ 2 > 1e-24) exit failed = 1 }
        END { exit !(failed || FNR != last) }' wanted out
}

# check TITLE: runs the case that was read.
check() {
    local arguments variables=0 dump='' status=0 part
    [ -n "$words" ] || return 0
    eval "arguments=($words)"
    arguments=("${arguments[@]/#@/$import/}")
    while [[ ${arguments[variables]} == [A-Z]*=* ]]; do ((++variables)); done
    [[ $words =~ --(plot|stat|check) ]] || dump=--dump
    env "${arguments[@]:0:variables}" "$sstrace" $dump "${arguments[@]:variables}" >out 2>err || status=$?
    if [ ${#wanted[@]} -eq 0 ]; then
        [ "$status" -eq 2 ] || fail "$1: accepted"
    else
        printf '%s\n' "${wanted[@]//,/$'\n'}" >wanted
        [ "$status" -eq 0 ] || fail "$1: refused"
        ! differs || fail "$1: another trace"
    fi
    for part in "${parts[@]}"; do
        [[ $(<err) == *"$part"* ]] || fail "$1: no message has '$part'"
    done
    [ ${#parts[@]} -gt 0 ] || [ ! -s err ] || fail "$1: unexpected message"
    words='' wanted=() parts=()
}

# run_file NAME: runs all cases of a file.
run_file() {
    local line rest title='' input=''
    while IFS= read -r line; do
        rest=${line:2}
        case $line in
        '='*) check "$title" && title=$rest ;;
        '$'*) words=$rest ;;
        '<'*) input=$rest && mkdir -p "$(dirname "$input")" && : >"$input" ;;
        '|'*) printf '%b\n' "${line:1}" >>"$input" ;;
        '>'*) wanted+=("$rest") ;;
        '!'*) parts+=("$rest") ;;
        ?*) fail "$title: invalid line: $line" ;;
        esac
    done <"$source/tests/data/sstrace/$1"
    check "$title"
}

need_json() {
    "$sstrace" --help | grep -qw sadf-json || skip 'left-out: built without yajl'
}

tables_of_unknown_origin_are_imported() { # case
    run_file csv
}

published_tables_and_monitors_are_imported() { # case
    run_file tables
}

files_without_times_and_profiles_are_imported() { # case
    run_file lines
}

json_is_imported() { # case
    need_json
    run_file sysstat-json
    run_file monitors-json
}

formats_are_detected() { # case
    run_file detection
}

traces_are_changed_and_generated() { # case
    run_file changes
}

traces_are_drawn() { # case
    run_file plots
}

# check_truncated FORMAT FILE: the file, cut off anywhere in a line, is refused or used with a warning.
check_truncated() {
    local cut=cut length text
    text=$(<"$import/$2")
    for ((length = 0; length < ${#text}; length += 3)); do
        [[ $length -gt 0 && ${text:length-1:1} == $'\n' ]] && continue
        printf %s "${text:0:length}" >"$cut"
        ! "$sstrace" --check --from "$1" "$cut" 2>err || [ -s err ] || fail "$1: $length bytes of $2 are accepted"
    done
}

truncated_files_are_refused_or_cause_a_warning() { # case
    check_truncated vmstat vmstat-t.txt
    check_truncated krash krash.profile
    need_json
    check_truncated mpstat-json mpstat.json
    check_truncated sadf-json sadf.json
    check_truncated prometheus prometheus.json
}

run_cases
