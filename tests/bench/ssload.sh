#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=common.sh
. "$source/tests/bench/common.sh"

usage() {
    cat <<END
Usage: tests/bench/ssload.sh [OPTION]...
Measures the CPU time of a sample of ssload, and of sleeping alone; then compares load_ticks with the
load that mpstat and sar report for the same seconds, while one ssburn runs.

  --samples N   samples whose CPU time is measured; default 500
  --interval N  milliseconds between samples; default 10
  --seconds N   seconds that are compared; default 20
  --rounds N    rounds of each; default 3
  --build DIR   default build
  --help        print this help
END
}

# cpu_time FILE WORD...: appends the command's CPU time in microseconds.
cpu_time() {
    local file=$1 TIMEFORMAT='%U %S'
    shift
    { time "$@" >/dev/null 2>"$folder/errors"; } 2>"$folder/times"
    awk '{ printf "%.0f\n", 1e6 * ($1 + $2) }' "$folder/times" >>"$file"
}

# measure_cost NAME COMMAND...: measures the cost of many samples minus that of one, which excludes the start. COMMAND's
# last argument is the number of samples.
measure_cost() {
    local name=$1 round many one least most
    shift
    : >"$folder/cost"
    for ((round = 0; round < rounds; round++)); do
        : >"$folder/many"
        : >"$folder/one"
        cpu_time "$folder/many" "$@" "$samples"
        cpu_time "$folder/one" "$@" 1
        read -r many <"$folder/many"
        read -r one <"$folder/one"
        awk -v many="$many" -v one="$one" -v samples="$samples" \
            'BEGIN { print (many - one) / (samples - 1) }' >>"$folder/cost"
    done
    read -r many least most < <(median <"$folder/cost")
    printf '| %-28s | %6.1f | %6.1f..%-6.1f |\n' "$name" "$many" "$least" "$most"
}

measure_costs() {
    local ssload=(ssload -q -i "${interval}m")
    echo
    echo "| us of CPU time a sample      | median | least..most    |"
    echo "|------------------------------|--------|----------------|"
    measure_cost "sleeping alone" nap "$interval"
    measure_cost "CSV" "${ssload[@]}" --format csv -c
    measure_cost "CSV, each CPU" "${ssload[@]}" --format csv --per-cpu -c
    measure_cost "JSON" "${ssload[@]}" --format json -c
    measure_cost "table" "${ssload[@]}" --format table -c
    measure_cost "a control group" "${ssload[@]}" --format csv --cgroup / -c
}

# average_of FILE: prints the busy time of an average of mpstat or sar, in percent of all time.
average_of() {
    awk '/^Average/ && $NF ~ /^[0-9]/ { printf "%.2f\n", 100 - $NF - $6 }' "$1"
}

# All three wait for the same full second, because they cannot start at exactly the same time.
compare_once() {
    local ours cpus
    cpus=$(cat /sys/devices/system/cpu/online)
    mpstat "$seconds" 1 >"$folder/mpstat" &
    local mpstat=$!
    sar -u "$seconds" 1 >"$folder/sar" &
    local sar=$!
    ssload -i 500m -d "${seconds}s" --cpus "$cpus" >/dev/null 2>"$folder/ssload"
    wait "$mpstat" "$sar"
    ours=$(sed -n 's/.*load_ticks \([0-9.]*\) %.*/\1/p' "$folder/ssload" | head -n 1)
    printf '| %10s | %8s | %8s | %8s |\n' \
        "$(sed -n 's/.*: load \([0-9.]*\) %.*/\1/p' "$folder/ssload")" "$ours" \
        "$(average_of "$folder/mpstat")" "$(average_of "$folder/sar")"
}

compare() {
    local program round
    for program in mpstat sar; do
        command -v "$program" >/dev/null || { echo "$program is not installed" && return; }
    done
    echo
    echo "|  load in % | by ticks |   mpstat |      sar |"
    echo "|------------|----------|----------|----------|"
    start ssburn serial
    for ((round = 0; round < rounds; round++)); do
        compare_once
    done
    end_last
}

samples=500
interval=10
seconds=20
rounds=3
build=$source/build
take_options samples interval seconds rounds build -- "$@"
open_bench
print_machine
measure_costs
compare
