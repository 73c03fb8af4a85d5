#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=common.sh
. "$source/tests/bench/common.sh"

usage() {
    cat <<END
Usage: tests/bench/make.sh [OPTION]...
Holds the load of a common workload: make -j4 builds a copy of this source tree repeatedly. Prints
how precisely the load follows the target, and fails if a build differs from one without showstopper.

  --load N        in percent; default 50
  --control NAME  default rbpid
  --settle N      seconds that are controlled but not counted; default 10
  --seconds N     seconds that are counted, and more until the last build is complete; default 60
  --tolerance N   the largest permitted mean error, in percent; default 1
  --rounds N      runs; default 3
  --quick         short for --settle 1 --seconds 2 --rounds 1, and only a small program is built,
                  without optimization
  --build DIR     the build whose showstopper holds the load; default build
  --help          print this help
END
}

configure() {
    cmake -G "Unix Makefiles" -S "$folder/source" -B "$folder/built" \
        -DCMAKE_BUILD_TYPE="$build_type" -DCMAKE_C_FLAGS_DEBUG=-O0 "${without[@]}" >"$folder/log" 2>&1 ||
        fail_with_log "cmake failed"
}

fail_with_log() {
    tail -n 30 "$folder/log" >&2
    fail "$*"
}

# `again` completes the last build. Arguments: the folder, the command, and the minimum time in seconds.
write_again() {
    cat >"$folder/again" <<'END'
end=$(($(date +%s) + $3))
cd "$1" && exec >>log 2>&1 || exit
while
    make -C built clean && make -C built -j4 "$2" && echo >>builds || exit
    [ "$(date +%s)" -lt "$end" ]
do
    :
done
END
}

# build_again SECONDS COMMAND...: runs make repeatedly under the command; sets `builds`.
build_again() {
    : >"$folder/builds"
    "${@:2}" sh "$folder/again" "$folder" "$goal" "$1"
}

# Prints the programs and libraries with their checksums.
list_binaries() {
    (cd "$folder/built" && find . -type f ! -path '*/CMakeFiles/*' \
        \( -perm -u+x -o -name '*.so' -o -name '*.a' \) -exec sha256sum {} + | sort -k 2)
}

build_unthrottled() {
    local begun=$EPOCHREALTIME
    build_again 0 env || fail_with_log "the build failed"
    awk -v begun="$begun" -v ended="$EPOCHREALTIME" \
        'BEGIN { printf "One build without showstopper takes %.1f s\n", ended - begun }'
    list_binaries >"$folder/binaries"
    grep -q " ./$program\$" "$folder/binaries" || fail "$program has not been built"
}

check_binaries() {
    list_binaries | diff "$folder/binaries" - >&2 || fail "the result differs from that without showstopper"
    "$folder/built/$program" --help | grep -q "^Usage: ${program##*/} " ||
        fail "the built $program does not run"
}

# measure ROUND
measure() {
    local status=0
    build_again $((settle + seconds)) hold --instances 1 --control "$control" --load "$load%" \
        --settle "${settle}s" --tolerance "$tolerance" || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || fail_with_log "showstopper: status $status"
    [ "$status" -eq 0 ] || failed=yes
    check_binaries
    result error_mean_percent >>"$folder/errors"
    result error_mse_e4 >>"$folder/squares"
    awk -v round="$1" -v load="$(result load_mean)" -v error="$(result error_mean_percent)" \
        -v square="$(result error_mse_e4)" -v seconds="$(result duration_seconds)" \
        -v builds="$(wc -l <"$folder/builds")" -v status="$status" 'BEGIN {
            printf "| %5d | %6.2f %% | %+8.3f %% | %9.3f | %7.1f s | %6d | %6d |\n", round,
                100 * load, error, square, seconds, builds, status }'
}

# print_median TEXT FILE
print_median() {
    local middle least most
    read -r middle least most < <(median <"$2")
    printf '%s: median %.3f, %.3f..%.3f\n' "$1" "$middle" "$least" "$most"
}

load=50
control=rbpid
settle=10
seconds=60
tolerance=1
rounds=3
quick=
build=$source/build
take_options load control settle seconds tolerance rounds quick build -- "$@"
goal=all
program=bin/showstopper
build_type=RelWithDebInfo
without=()
if [ -n "$quick" ]; then
    settle=1
    seconds=2
    rounds=1
    goal=judge
    program=tests/judge
    build_type=Debug
    without=(-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON) # without the unit tests, whose folders take long to clean
fi
unset MAKEFLAGS MFLAGS MAKELEVEL # a make that runs this script sets them
failed=
open_bench
print_machine
copy_source "$folder/source"
configure
write_again
build_unthrottled
echo "make -j4 $goal held at $load %, $seconds s counted after $settle s of settling"
echo
echo "| round |     load | mean error | MSE %^2   | counted   | builds | status |"
echo "|------:|---------:|-----------:|----------:|----------:|-------:|-------:|"
for ((round = 1; round <= rounds; round++)); do
    measure "$round"
done
echo
print_median "mean error in percent" "$folder/errors"
print_median "MSE %^2" "$folder/squares"
[ -z "$failed" ] || fail "the mean error was larger than $tolerance %"
