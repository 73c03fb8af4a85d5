#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/own-cpu.sh [OPTION]...
Compares showstopper's own CPU time with the minimum: processes that only sleep and send the same
number of signals. Then prints the private memory of its executors.

  --instances N   number of instances; default 64
  --tau TIME      quantum of the dithering; default 107m
  --control NAME  control module; default rbpid
  --rounds N      runs of each, in turn; default 5
  --seconds N     length of a run; default 10
  --build DIR     default build
  --help          print this help
END
}

run_showstopper() {
    hold --duration "$((seconds + 1))s" "${command[@]}"
    result own_cpu >>"$folder/showstopper.cpu"
    result switches_per_second >>"$folder/showstopper.rate"
}

# The floor sends as many signals as showstopper sent before, at the same duty: waking an idle CPU costs more.
run_floor() {
    floor -d "$(result duty_mean)" "$instances" "$(result switches_per_second)" "$seconds" \
        ssburn serial --work "$work" >"$folder/floor.json"
    figure "$folder/floor.json" own_cpu >>"$folder/floor.cpu"
    figure "$folder/floor.json" switches_per_second >>"$folder/floor.rate"
}

# print_row NAME
print_row() {
    local cpu least most switches
    read -r cpu least most < <(median <"$folder/$1.cpu")
    read -r switches _ < <(median <"$folder/$1.rate")
    awk -v name="$1" -v cpu="$cpu" -v least="$least" -v most="$most" -v switches="$switches" \
        'BEGIN { printf "| %-11s | %6.3f | %6.3f..%6.3f | %8.1f |\n", name, 100 * cpu,
            100 * least, 100 * most, switches }'
}

print_table() {
    echo
    echo "| own CPU     | % of 1 | smallest..most | switches |"
    echo "|-------------|--------|----------------|----------|"
    print_row showstopper
    print_row floor
    paste <(median <"$folder/showstopper.cpu") <(median <"$folder/floor.cpu") |
        awk '{ printf "ratio %.2f\n", $1 / $4 }'
}

# children PID NAME: prints the children whose name begins so.
children() {
    # Threads that end meanwhile cannot be read.
    { cat /proc/[0-9]*/status 2>/dev/null || true; } | awk -v parent="$1" -v name="$2" '
        $1 == "Name:" { named = index($2, name) == 1 }
        $1 == "Pid:" { pid = $2 }
        $1 == "PPid:" && $2 == parent && named { print pid }'
}

# private_memory PID: prints median, minimum and maximum private memory of its executors, in kB.
private_memory() {
    local executor
    for executor in $(children "$1" ss-executor); do
        awk '/^Private_(Clean|Dirty):/ { sum += $2 } END { print sum }' \
            "/proc/$executor/smaps_rollup"
    done | median
}

measure_memory() {
    local typical most
    start showstopper --quiet "${command[@]}" # until it is terminated
    until [ "$(children "${started[0]}" ss-executor | wc -l)" -eq "$instances" ]; do
        kill -0 "${started[0]}" || fail "showstopper failed"
        sleep 0.1
    done
    sleep $((1 + seconds / 2))
    read -r typical _ most < <(private_memory "${started[0]}") || fail "there are no executors"
    echo "Private memory of an executor: median $typical kB, largest $most kB"
    end_started
}

instances=64
tau=107m
control=rbpid
rounds=5
seconds=10
take_options instances tau control rounds seconds build -- "$@"
open_bench
work=$(calibrate serial)
echo "$instances instances of ssburn serial --work $work, $rounds rounds of $seconds s"
command=(--instances "$instances" --control "$control" --load 50% --dithering-options "$tau" --settle 1s
    ssburn serial --work "$work")
for ((round = 0; round < rounds; round++)); do
    run_showstopper
    run_floor
done
print_table
measure_memory
