#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/traces.sh [OPTION]...
Measures sstrace: time and memory to compile a long trace, to import a long table and to split the
trace of a cluster; and the cost of looking up a target in traces of different lengths.

  --records N    of the text that is compiled; default 10000000
  --megabytes N  of the table that is imported; default 1000
  --machines N   of the cluster; default 10000
  --hours N      of the cluster's trace, one row per machine and minute; default 8
  --rounds N     of each; default 3
  --build DIR    default build
  --help         print this help
END
}

# Prints a load for every half second, with two decimals.
write_text() {
    awk -v count="$1" 'BEGIN { srand(1)
        for (i = 0; i < count; i++) printf "%.1fs %.2f%%\n", i / 2, 100 * rand() }'
}

# Prints a table like those of monitoring systems: a machine appears in every tenth line.
write_table() {
    awk -v bytes="$1" 'BEGIN { srand(1); print "timestamp,machine,cpu"
        for (i = 0; written < bytes; i++) {
            line = sprintf("%.3f,host-%d,%.4f", 1700000000 + int(i / 10), i % 10, 100 * rand())
            print line
            written += length(line) + 1
        } }'
}

# timed FILE COMMAND...: appends elapsed seconds and peak memory in kilobytes to FILE.
timed() {
    local file=$1
    shift
    /usr/bin/time -a -o "$file" -f "%e %M" "$@"
}

# print_timed NAME FILE
print_timed() {
    local time least most memory
    read -r time least most < <(cut -d ' ' -f 1 "$2" | median)
    read -r _ _ memory < <(cut -d ' ' -f 2 "$2" | median)
    printf '| %-24s | %6.2f | %5.2f..%5.2f | %6.1f |\n' "$1" "$time" "$least" "$most" \
        "$(awk -v kilobytes="$memory" 'BEGIN { print kilobytes / 1000 }')"
}

measure_times() {
    local round
    write_text "$records" >"$folder/long.txt"
    write_table "$((megabytes * 1000000))" >"$folder/long.csv"
    for ((round = 0; round < rounds; round++)); do
        timed "$folder/compile" sstrace -o "$folder/long.trace" "$folder/long.txt"
        timed "$folder/dump" sstrace --dump -o "$folder/long.dump" "$folder/long.trace"
        timed "$folder/import" sstrace --from csv --series-column machine --load-column cpu \
            --select host-3 -o "$folder/table.trace" "$folder/long.csv"
    done
    echo
    echo "| what                     | s      | least..most  | MB     |"
    echo "|--------------------------|--------|--------------|--------|"
    print_timed "compile $records records" "$folder/compile"
    print_timed "write them as text" "$folder/dump"
    print_timed "import $megabytes MB of CSV" "$folder/import"
}

# Prints a table like those of clusters: each machine has a row per minute.
write_cluster() {
    awk -v machines="$machines" -v minutes="$1" 'BEGIN { srand(1); print "timestamp,machine,cpu_fraction"
        for (i = 0; i < minutes; i++)
            for (k = 0; k < machines; k++) printf "%d,m_%d,%.4f\n", 60 * i, k, rand() }'
}

# Memory must not depend on the number of rows, so an eighth of the time is also split.
measure_split() {
    local minutes round
    echo
    echo "| what                     | s      | least..most  | MB     |"
    echo "|--------------------------|--------|--------------|--------|"
    for minutes in $((hours * 60 / 8)) $((hours * 60)); do
        write_cluster "$minutes" >"$folder/cluster.csv"
        for ((round = 0; round < rounds; round++)); do
            timed "$folder/split$minutes" sstrace --from csv --split "$folder/nodes" "$folder/cluster.csv"
            rm -r "$folder/nodes"
        done
        print_timed "split $((minutes * machines)) rows" "$folder/split$minutes"
    done
}

measure_lookups() {
    local count round forward jump
    echo
    echo "| records  | ns forward | ns at random |"
    echo "|----------|------------|--------------|"
    for ((count = 10; count <= records; count *= 100)); do
        write_text "$count" | sstrace -o "$folder/some.trace"
        : >"$folder/forward"
        : >"$folder/jump"
        for ((round = 0; round < rounds; round++)); do
            read -r forward jump _ < <(lookup "$folder/some.trace" 0.1 \
                "$((count < 200000 ? 1000000 : count * 5))")
            echo "$forward" >>"$folder/forward"
            echo "$jump" >>"$folder/jump"
        done
        read -r forward _ < <(median <"$folder/forward")
        read -r jump _ < <(median <"$folder/jump")
        printf '| %8d | %10.1f | %12.1f |\n' "$count" "$forward" "$jump"
    done
}

records=10000000
megabytes=1000
machines=10000
hours=8
rounds=3
take_options records megabytes machines hours rounds build -- "$@"
open_bench
[ -x /usr/bin/time ] || fail "/usr/bin/time is missing: install the package time"
measure_times
measure_split
measure_lookups
