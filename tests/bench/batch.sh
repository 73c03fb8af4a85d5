#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/batch.sh [OPTION]...
Measures the time that ssbatch adds to a run, in studies of many runs of \`true\` in memory, where syncs cost nothing,
and on disk; and the time that a list of these runs takes.

  --runs N        number of runs; default 10000
  --memory DIR    a folder in memory; default /dev/shm
  --disk DIR      a folder on a disk; default \$TMPDIR or /tmp
  --build DIR     default build
  --help          print this help
END
}

make_plan() {
    local i
    for ((i = 1; i <= runs; i++)); do
        printf 'run r%d takes 1s size=%d round=%d\nmain -- true\n' "$i" $((i % 10)) $((i / 10))
    done
}

# seconds COMMAND...: prints its elapsed time, and its CPU time including descendants.
seconds() {
    local TIMEFORMAT='%R %U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1, $2 + $3 }'
}

# measure WHERE FOLDER: prints a row of the table.
measure() {
    local study wall cpu again list
    study=$(mktemp -d -p "$2")
    studies+=("$study")
    read -r wall cpu < <(seconds ssbatch -q "$study/study" "$folder/plan")
    read -r again _ < <(seconds ssbatch -q "$study/study" "$folder/plan")
    read -r list _ < <(seconds ssbatch --list "$study/study")
    [ "$(ssbatch --list "$study/study" | tail -n 1)" = "$runs done, 0 failed, 0 skipped, 0 to come" ] ||
        fail "not all runs are done"
    awk -v where="$1" -v runs="$runs" -v wall="$wall" -v cpu="$cpu" -v again="$again" -v list="$list" 'BEGIN {
        printf "| %-6s | %7.3f | %7.3f | %7.3f | %7.3f |\n", where, 1000 * wall / runs, 1000 * cpu / runs, again, list }'
}

# Prints the duration of `true`, which is part of each run.
measure_command() {
    local wall
    # shellcheck disable=SC2016 # the inner shell expands it
    read -r wall _ < <(seconds bash -c 'for ((i = 0; i < $0; i++)); do /bin/true; done' "$runs")
    awk -v wall="$wall" -v runs="$runs" 'BEGIN { printf "A shell takes %.3f ms for each\n", 1000 * wall / runs }'
}

runs=10000
memory=/dev/shm
disk=${TMPDIR:-/tmp}
studies=()
take_options runs memory disk build -- "$@"
open_bench
trap 'rm -rf "${studies[@]}"; close_bench' EXIT
make_plan >"$folder/plan"
echo "Runs of \`true\`: $runs"
measure_command
echo
echo "| study  |  ms/run |  CPU ms | again/s |  list/s |"
echo "|--------|---------|---------|---------|---------|"
measure memory "$memory"
measure disk "$disk"
