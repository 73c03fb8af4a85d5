#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The benches in their shortest form: that they run and print figures, whatever these are.
# Argument: the build directory.
set -euo pipefail

build=$1
benches=$(cd "$(dirname "$0")/../bench" && pwd)
output=$(mktemp)
trap 'rm -f "$output"' EXIT

fail() {
    echo "FAILED: $*" >&2
    cat "$output" >&2
    exit 1
}

# bench NAME OPTION...: its output is in $output.
bench() {
    timeout 60 "$benches/$1" --build "$build" "${@:2}" >"$output" 2>&1 || fail "$*: status $?"
    grep -q '^Machine: [0-9]* CPUs, ' "$output" || fail "$*: what machine?"
}

# prints PATTERN: one line of the output is of this form.
prints() {
    grep -Eqx "$1" "$output" || fail "no line of the form $1"
}

number='-?[0-9]+(\.[0-9]+)?'

own_cpu_and_memory() {
    bench own-cpu.sh --instances 4 --rounds 1 --seconds 1
    prints "\| showstopper \| +$number \| +$number\.\. *$number \| +$number \|"
    prints "\| floor +\| +$number \| +$number\.\. *$number \| +$number \|"
    prints "ratio $number"
    prints "Private memory of an executor: median $number kB, largest $number kB"
}

lateness() {
    bench lateness.sh --instances 2,3 --seconds 1
    prints "\| +2 \| +$number \| +$number \| +$number \|"
    prints "\| +3 \| +$number \| +$number \| +$number \|"
}

accuracy() {
    bench accuracy.sh --controls fixed --classes serial --targets 50 --settle 0 --seconds 1
    prints "Load before: $number %"
    prints "\| fixed +\| serial +\| +50 % \| +[-+]$number % \| +$number \|"
}

wrong_words_are_refused() {
    local name
    for name in own-cpu lateness accuracy; do
        "$benches/$name.sh" --help >"$output" || fail "$name --help: status $?"
        grep -q "^Usage: tests/bench/$name.sh" "$output" || fail "$name --help"
        ! "$benches/$name.sh" --sedonds 3 >"$output" 2>&1 || fail "$name takes --sedonds"
        prints "$name.sh: --sedonds: unknown option: see --help"
    done
    ! "$build/tests/floor" 4 100 >"$output" 2>&1 || fail "floor: no length, and no refusal"
    ! "$build/tests/floor" 2 20 1 ./not-there >"$output" 2>&1 || fail "floor: nothing to run"
}

own_cpu_and_memory
lateness
accuracy
wrong_words_are_refused
