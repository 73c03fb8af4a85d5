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
    timeout 200 "$benches/$1" --build "$build" "${@:2}" >"$output" 2>&1 || fail "$*: status $?"
    grep -q '^Machine: [0-9]* CPUs, ' "$output" || fail "$*: what machine?"
}

# prints PATTERN: one line of the output is of this form.
prints() {
    grep -Eqx "$1" "$output" || fail "no line of the form $1"
}

number='-?[0-9]+(\.[0-9]+)?'

own_cpu_and_memory() {
    bench own-cpu.sh --instances 4 --control fixed --rounds 1 --seconds 1
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

big_tree() {
    local held beside by ratio="$number, $number\.\.$number"
    local figures="+$number \| +$number\.\. *$number \| +$number"
    bench tree.sh --sessions 3 --processes 12 --unrelated 20 --rounds 1 --seconds 1
    for by in floor "showstopper, 0 beside" "showstopper, 20 beside"; do
        prints "Stopped at once of 12 by $by: least 0, most 12; $number looks, $number in between"
    done
    for held in tree spin; do
        for beside in 0 20; do
            for by in showstopper floor; do
                prints "\| $held \| +$beside \| $by +\| $figures \|"
            done
        done
        prints "ratio of 20 beside to 0, $held: $ratio"
    done
    prints "ratio to the floor, tree, 0 beside \(at most 1\.3 wanted\): $ratio"
    prints "ratio to the floor, tree, 20 beside \(at most 1\.3 wanted\): $ratio"
}

# Even when all of it is stopped at the time.
no_tree_is_left() {
    local parent line='' leaders=()
    exec {tree_output}< <(exec timeout 60 "$build/tests/tree" 3 12 leaders)
    parent=$!
    while read -r line <&"$tree_output" && [ "$line" != ready ]; do
        leaders+=("$line")
    done
    [ "$line ${#leaders[@]}" = "ready 3" ] || fail "tree: it says ${leaders[*]} $line"
    # The first group is the parent's.
    for line in "${leaders[@]:1}"; do
        [ "$(cut -d ' ' -f 6 "/proc/$line/stat")" = "$line" ] || fail "tree: $line has no session"
    done
    for line in "${leaders[@]}"; do
        kill -STOP -- "-$line"
    done
    kill -KILL "$parent"
    # All of them have the other end.
    timeout 60 cat <&"$tree_output" || fail "tree: somebody outlives its parent"
    exec {tree_output}<&-
}

held_make() {
    # Others may load the machine as well, so feedback could keep it stopped.
    bench make.sh --quick --control fixed --tolerance 100
    prints "One build without showstopper takes $number s"
    local load="$number %" error="[-+]$number %" builds='[1-9][0-9]*'
    prints "\| +1 \| +$load \| +$error \| +$number \| +$number s \| +$builds \| +0 \|"
    prints "mean error in percent: median $number, $number\.\.$number"
    prints "MSE x 1e4: median $number, $number\.\.$number"
}

wrong_words_are_refused() {
    local name
    for name in own-cpu lateness accuracy tree make; do
        "$benches/$name.sh" --help >"$output" || fail "$name --help: status $?"
        grep -q "^Usage: tests/bench/$name.sh" "$output" || fail "$name --help"
        ! "$benches/$name.sh" --sedonds 3 >"$output" 2>&1 || fail "$name takes --sedonds"
        prints "$name.sh: --sedonds: unknown option: see --help"
    done
    ! "$build/tests/floor" 4 100 >"$output" 2>&1 || fail "floor: no length, and no refusal"
    ! "$build/tests/floor" 2 20 1 ./not-there >"$output" 2>&1 || fail "floor: nothing to run"
    ! "$build/tests/floor" -g 1 10 1 >"$output" 2>&1 || fail "floor: nobody names groups"
    ! "$build/tests/floor" -g 1 10 1 true >"$output" 2>&1 || fail "floor: nothing becomes ready"
    ! "$build/tests/tree" 5 4 >"$output" 2>&1 || fail "tree: empty sessions"
    ! "$build/tests/tree" 1 2 laeders >"$output" 2>&1 || fail "tree: what word?"
}

long_traces() {
    bench traces.sh --records 2000 --megabytes 1 --rounds 1
    prints "\| compile 2000 records +\| +$number \| +$number\.\. *$number \| +$number \|"
    prints "\| import 1 MB of CSV +\| +$number \| +$number\.\. *$number \| +$number \|"
    prints "\| +1000 \| +$number \| +$number \|"
}

own_cpu_and_memory
lateness
accuracy
big_tree
no_tree_is_left
held_make
long_traces
wrong_words_are_refused
