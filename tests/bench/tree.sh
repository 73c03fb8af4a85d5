#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/tree.sh [OPTION]...
Compares the CPU time of showstopper for one workload, a large tree of processes, with the minimum:
one process that only sleeps and signals each process group of such a tree as often. Does the same
for a workload of one process, and both again while many unrelated processes sleep. First checks that
stops and continues reach the whole tree.

  --sessions N    sessions of the tree; default 50
  --processes N   processes of the tree; default 1000
  --unrelated N   unrelated sleeping processes in the second part; 0 omits that part; default 5000
  --rounds N      runs of each, in turn; default 5
  --seconds N     length of a run; default 10
  --quick         short for --rounds 1 --seconds 2
  --build DIR     default build
  --help          print this help
END
}

tau=107m
ratio_wanted=1.3

# Instances are stopped for half of the time, whatever the load is.
throttle=(--instances 1 --control fixed --load 50%)

# find_members PID: prints /proc/*/stat of the processes of the tree, which are PID or below it.
find_members() {
    # Processes that end meanwhile cannot be read.
    { cat /proc/[0-9]*/stat 2>/dev/null || true; } | awk -v root="$1" '
        function is_below(pid) {
            return pid == root || (pid in parent && is_below(parent[pid]))
        }
        { pid = $1; is_tree[pid] = /^[0-9]+ \(tree\) /; sub(/.*\) /, ""); parent[pid] = $2 }
        END { for (pid in parent) if (is_tree[pid] && is_below(pid)) print "/proc/" pid "/stat" }'
}

# Prints the number of stopped members.
count_stopped() {
    cat "${members[@]}" | awk '{ sub(/.*\) /, "") } $1 == "T" { count++ } END { print count + 0 }'
}

await_members() {
    local limit=$((SECONDS + 300))
    while mapfile -t members < <(find_members "$1") && [ "${#members[@]}" -ne "$processes" ]; do
        [ "$SECONDS" -lt "$limit" ] || fail "${#members[@]} processes exist instead of $processes"
        sleep 0.05
    done
}

# Waits until all members were seen stopped, then none, and so on. A process that is not reached is never seen stopped.
watch_stops() {
    local limit=$((SECONDS + 300 + 2 * rounds)) turns=0 stopped all=$processes
    looks=0 between=0 least=$all most=0
    while [ "$turns" -lt $((2 * rounds)) ] && [ "$SECONDS" -lt "$limit" ]; do
        stopped=$(count_stopped)
        looks=$((looks + 1))
        [ "$stopped" -le "$most" ] || most=$stopped
        # Before the first stop, running processes prove nothing.
        [ "$turns" -eq 0 ] || [ "$stopped" -ge "$least" ] || least=$stopped
        [ "$stopped" -eq 0 ] || [ "$stopped" -eq "$all" ] || between=$((between + 1))
        [ "$stopped" -ne $((turns % 2 ? 0 : all)) ] || turns=$((turns + 1))
        sleep 0.05
    done
}

# check_reach TEXT COMMAND...: COMMAND runs the tree and stops and continues it once per second.
check_reach() {
    local looks between least most members
    start "${@:2}"
    await_members "${started[-1]}"
    watch_stops
    end_last
    [ "$most" -eq "$processes" ] || fail "$1: no stop reached more than $most of $processes"
    [ "$least" -eq 0 ] || fail "$1: each continue left $least of $processes stopped"
    echo "Stopped at once of $processes by $1: least $least, most $most;" \
        "$looks looks, $between in between"
}

check_floor() {
    check_reach floor floor -g 1 2 3600 tree "$sessions" "$processes" leaders
}

check_showstopper() {
    check_reach "showstopper, $1 beside" \
        showstopper --quiet "${throttle[@]}" --dithering-options 1s tree "$sessions" "$processes"
}

# keep NAME FILE: stores the figures of a run.
keep() {
    figure "$2" own_cpu >>"$folder/$1.cpu"
    figure "$2" switches_per_second >>"$folder/$1.rate"
}

# The instance is the tree itself. Its output shows when the tree was complete.
write_grow() {
    cat >"$folder/grow" <<'END'
exec tree "$2" "$3" >"$1"
END
}

# Fails if the tree was still growing when the measurement began.
check_ready_since() {
    local ready
    grep -qsx ready "$folder/output" || fail "the tree did not become ready"
    ready=$(stat -c %.6Y "$folder/output")
    awk -v begun="$1" -v ready="$ready" 'BEGIN { exit !(ready < begun + 6) }' ||
        fail "the tree became ready only after the warm-up and the settling"
}

# The floor sends as many signals as showstopper sent before.
measure_tree() {
    local begun=$EPOCHREALTIME
    rm -f "$folder/output"
    hold "${throttle[@]}" --warmup 5s "${counted[@]}" \
        sh "$folder/grow" "$folder/output" "$sessions" "$processes"
    check_ready_since "$begun"
    floor -g 1 "$(result switches_per_second)" "$seconds" tree "$sessions" "$processes" leaders \
        >"$folder/floor.json"
}

measure_spin() {
    hold "${throttle[@]}" "${counted[@]}" ssburn serial --work "$work"
    floor 1 "$(result switches_per_second)" "$seconds" ssburn serial --work "$work" \
        >"$folder/floor.json"
}

# measure KIND BESIDE
measure() {
    "measure_$1"
    keep "$1.$2.showstopper" "$folder/result.json"
    keep "$1.$2.floor" "$folder/floor.json"
}

start_unrelated() {
    local word=
    exec {unrelated_output}< <(exec tree 1 "$unrelated")
    started+=($!)
    read -r word <&"$unrelated_output" || true
    [ "$word" = ready ] || fail "cannot start $unrelated unrelated processes"
}

# Returns when the last process has exited: each holds the other end of the pipe open.
end_unrelated() {
    end_started
    cat <&"$unrelated_output"
    exec {unrelated_output}<&-
}

# with_unrelated COUNT COMMAND...: runs the command while COUNT unrelated processes sleep.
with_unrelated() {
    [ "$1" -eq 0 ] || start_unrelated
    "${@:2}"
    [ "$1" -eq 0 ] || end_unrelated
}

measure_kinds() {
    local kind
    for kind in tree spin; do
        measure "$kind" "$1"
    done
}

# quotients A B: prints median, minimum and maximum of the quotients of figures of the same round.
quotients() {
    paste "$folder/$1.cpu" "$folder/$2.cpu" | awk '{ print $1 / $2 }' | median
}

# print_row KIND BESIDE PROGRAM
print_row() {
    local name=$1.$2.$3 cpu least most switches
    read -r cpu least most < <(median <"$folder/$name.cpu")
    read -r switches _ < <(median <"$folder/$name.rate")
    awk -v kind="$1" -v beside="$2" -v program="$3" -v cpu="$cpu" -v least="$least" \
        -v most="$most" -v switches="$switches" 'BEGIN {
            printf "| %-4s | %6d | %-11s | %6.3f | %6.3f..%6.3f | %8.1f |\n", kind, beside,
                program, 100 * cpu, 100 * least, 100 * most, switches }'
}

# print_quotients TEXT A B
print_quotients() {
    local middle least most
    read -r middle least most < <(quotients "$2" "$3")
    printf '%s %.2f, %.2f..%.2f\n' "$1" "$middle" "$least" "$most"
}

print_table() {
    local kind beside
    echo
    echo "| held | beside | own CPU of  | % of 1 | smallest..most | switches |"
    echo "|------|-------:|-------------|-------:|---------------:|---------:|"
    for kind in tree spin; do
        for beside in "${besides[@]}"; do
            print_row "$kind" "$beside" showstopper
            print_row "$kind" "$beside" floor
        done
    done
    echo
    for beside in "${besides[@]}"; do
        print_quotients "ratio to the floor, tree, $beside beside (at most $ratio_wanted wanted):" \
            "tree.$beside.showstopper" "tree.$beside.floor"
    done
    for kind in tree spin; do
        [ "$unrelated" -eq 0 ] || print_quotients "ratio of $unrelated beside to 0, $kind:" \
            "$kind.$unrelated.showstopper" "$kind.0.showstopper"
    done
}

sessions=50
processes=1000
unrelated=5000
rounds=5
seconds=10
quick=
take_options sessions processes unrelated rounds seconds quick build -- "$@"
if [ -n "$quick" ]; then
    rounds=1
    seconds=2
fi
open_bench
write_grow
counted=(--dithering-options "$tau" --settle 1s --duration "$((seconds + 1))s")
besides=(0)
[ "$unrelated" -eq 0 ] || besides+=("$unrelated")
work=$(calibrate serial)
echo "A tree of $processes processes in $sessions sessions, and ssburn serial --work $work;" \
    "$rounds rounds of $seconds s"
check_floor
for beside in "${besides[@]}"; do
    with_unrelated "$beside" check_showstopper "$beside"
done
for ((round = 0; round < rounds; round++)); do
    for beside in "${besides[@]}"; do
        with_unrelated "$beside" measure_kinds "$beside"
    done
done
print_table
