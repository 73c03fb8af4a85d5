#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/guests.sh [OPTION]...
Holds constant loads in a guest with one virtual CPU and prints the loads that the guest's /proc/stat and
the machine report, then kills guests at random moments. Fails if a record is missing or if anything is
left of a guest.

  --guest FOLDER   made by make-guest; default: a new one
  --levels LIST    loads in percent; default 25,50,75
  --settle N       seconds that are controlled but not counted: under emulation instances start
                   slowly; default 2
  --seconds N      how long each is held; default 30
  --instances N    of ssburn serial; default 2
  --cpu N          CPU to which the virtual CPU is pinned; default 0
  --kills N        number of guests that are killed; default 10
  --seed N         seed of the random moments; default 1
  --build DIR      default build
  --help           print this help
END
}

# in_guest OPTION... -- COMMAND...
in_guest() {
    "${calling[@]}" "$@"
}

# print_level PERCENT
print_level() {
    local record=$folder/shared/record
    rm -rf "$record"
    in_guest --clock "$folder/clock.csv" --vcpu-times "$folder/times.csv" -- showstopper --quiet \
        -f exact -n "$instances" -l "$1%" --settle "${settle}s" --duration "$((settle + seconds))s" --record "$record" -- \
        ssburn serial >/dev/null || fail "$1 %: status $?"
    check_left
    [ -s "$record/summary.json" ] || fail "$1 %: the record is missing"
    awk -F, -v level="$1" -v load="$(figure "$record/summary.json" load_mean)" \
        -v mse="$(figure "$record/summary.json" error_mse_e4)" '
        FILENAME ~ /times/ && FNR > 1 {
            host = $2
            wall = $3
        }
        FILENAME ~ /clock/ && FNR > 1 { apart[$1] = 1000 * $4 }
        END { printf "| %5.1f %% | %6.2f %% | %+6.2f %% | %8.2f | %7.2f s | %7.2f s | %6.2f %% | %+6.1f ms | %+6.1f ms |\n",
            level, 100 * load, 100 * load - level, mse, host, wall, 100 * host / wall,
            apart["start"], apart["end"] }' "$folder/times.csv" "$folder/clock.csv"
}

# check_left: fails if a process or a mount of this bench's guests is left.
check_left() {
    local left
    left=$(grep -lsz "^GUEST_OF_BENCH=$folder\$" /proc/[0-9]*/environ | cut -d / -f 3 | paste -sd ' ') || true
    [ -z "$left" ] || fail "leftover: $(ps -o pid=,comm= -p "${left// /,}" | paste -sd ,)"
    ! grep -q showstopper-guest /proc/mounts || fail "leftover mounts"
}

# check_folders: fails if the folder of a guest that was killed here still exists after the next call. Folders of other
# guests do not count: they share other folders. The files of virtiofsd disappear before the folder does.
check_folders() {
    local left files
    for left in /run/showstopper-guest.*; do
        ! grep -Fqsx "$folder/shared" "$left/shares" || fail "leftover: $left"
    done
    for files in /run/virtiofsd/.run.showstopper-guest.*; do
        left=${files#*.run.} left=/run/${left%.*.pid}
        [ -d "$left" ] || [ ! -e "$files" ] || fail "leftover: files of $left in /run/virtiofsd"
    done
}

# kill_one SECONDS: kills a guest after this time. The next call removes its folder.
kill_one() {
    local pid end record=$folder/shared/record samples=0
    rm -rf "$record"
    # Not in a function: $! would be the pid of a subshell.
    "${calling[@]}" -- showstopper --quiet -f exact -n "$instances" -l 50% --duration 60s --record "$record" \
        -- ssburn serial >/dev/null 2>&1 &
    pid=$!
    sleep "$1"
    kill -KILL "$pid"
    { wait "$pid"; } 2>/dev/null || true
    end=$((SECONDS + 60))
    while [ "$SECONDS" -lt "$end" ] && ! (check_left) 2>/dev/null; do
        sleep 0.1
    done
    check_left
    [ ! -e "$record/samples.csv" ] || samples=$(grep -c . "$record/samples.csv") || true
    printf '| %6.2f s | %3d |\n' "$1" "$((samples > 0 ? samples - 1 : 0))"
}

guest='' levels=25,50,75 settle=2 seconds=30 instances=2 cpu=0 kills=10 seed=1
take_options guest levels settle seconds instances cpu kills seed build -- "$@"
open_bench
mkdir "$folder/shared"
! reason=$("$source/tools/experiments/run-in-guest" --why-not) || fail "$reason"
if [ -z "$guest" ]; then
    guest=$folder/guest
    "$source/tools/experiments/make-guest" "$guest" >/dev/null
fi
# All processes of this bench have the mark in their environment.
calling=(env "GUEST_OF_BENCH=$folder" "$source/tools/experiments/run-in-guest" --guest "$guest" --cpus "$cpu"
    --share "$folder/shared")
check_left
echo "Guest: $(sed -n 's/^kernel=//p' "$guest/about")," \
    "$("$source/tools/experiments/run-in-guest" --guest "$guest" --print-acceleration)"
echo
echo "| load    | of guest | error    | mse %^2  | host time | of        | that is  | clocks at | the end   |"
echo "|---------|----------|----------|----------|-----------|-----------|----------|-----------|-----------|"
for level in ${levels//,/ }; do
    print_level "$level"
done
if [ "$kills" -gt 0 ]; then
    echo
    echo "| killed at | samples in the record |"
    echo "|-----------|-----|"
    mapfile -t moments < <(awk -v seed="$seed" -v count="$kills" 'BEGIN {
        srand(seed)
        while (count-- > 0)
            printf "%.2f\n", 15 * rand() }')
    for moment in "${moments[@]}"; do
        kill_one "$moment"
    done
    in_guest -- true || fail "cannot run a guest afterwards: status $?"
fi
check_folders
echo
echo "Nothing is left"
