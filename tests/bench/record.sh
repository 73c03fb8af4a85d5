#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=common.sh
. "$source/tests/bench/common.sh"

usage() {
    cat <<END
Usage: tests/bench/record.sh [OPTION]...
Measures the cost of --record: showstopper's own CPU time, and how late executors wake up, with and
without it in turn; and how many decisions were lost.

  --instances N   number of instances; default 64
  --tau TIME      quantum of the dithering; default 53m
  --rounds N      runs of each, in turn; default 5
  --seconds N     length of a run; default 10
  --build DIR     default build
  --help          print this help
END
}

# run NAME OPTION...
run() {
    local name=$1
    shift
    hold "$@" -n "$instances" -l 50% -d averageq -D "$tau" --duration "${seconds}s" \
        ssburn serial --work "$work"
    result own_cpu >>"$folder/$name.cpu"
    result p50 >>"$folder/$name.p50"
    result p99 >>"$folder/$name.p99"
}

# Prints the number of decisions that a warning of the summary says are missing.
count_lost() {
    sed -n 's/.*"\([0-9]*\) decisions are missing from the record.*/\1/p' "$folder/result.json"
}

print_row() {
    local cpu least most p50 p99
    read -r cpu least most < <(median <"$folder/$1.cpu")
    read -r p50 _ < <(median <"$folder/$1.p50")
    read -r p99 _ < <(median <"$folder/$1.p99")
    awk -v name="$1" -v cpu="$cpu" -v least="$least" -v most="$most" -v p50="$p50" -v p99="$p99" \
        'BEGIN { printf "| %-8s | %6.3f | %6.3f..%6.3f | %6.0f | %6.0f |\n", name, 100 * cpu,
            100 * least, 100 * most, p50, p99 }'
}

measure() {
    local round lost=0 rows=0
    for ((round = 0; round < rounds; round++)); do
        run without
        rm -rf "$folder/record"
        run recorded --record "$folder/record"
        lost=$((lost + $(count_lost || true) + 0))
        rows=$((rows + $(wc -l <"$folder/record/decisions.csv") - 1))
    done
    echo
    echo "| run      | % of 1 | smallest..most | p50 us | p99 us |"
    echo "|----------|--------|----------------|--------|--------|"
    print_row without
    print_row recorded
    paste <(median <"$folder/without.cpu") <(median <"$folder/recorded.cpu") |
        awk '{ printf "recording costs %.3f %% of one CPU\n", 100 * ($4 - $1) }'
    echo "decisions recorded $rows, lost $lost"
}

instances=64
tau=53m
rounds=5
seconds=10
build=$source/build
take_options instances tau rounds seconds build -- "$@"
open_bench
print_machine
work=$(calibrate serial)
measure
