#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the parsers with libFuzzer.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=../tools/install-missing.sh
. tools/install-missing.sh
# shellcheck source=options.sh
. tests/options.sh

seconds=600 jobs=$(nproc)

usage() {
    cat <<END
Usage: tests/fuzz.sh [OPTION]... [NAME]...
Builds the fuzzers with clang, runs each, starting from its corpus, and prints a table; exits with status 1 if one found
a failure. NAME is the name of a test without "fuzz.", such as trace_text; default: all.
build-fuzz/found/NAME keeps new inputs, with which the next call starts; build-fuzz/failures the inputs that fail. To
reproduce a failure: build-fuzz/fuzz/fuzz_NAME FILE. Add its input to tests/fuzz/corpus/NAME.

  --seconds N  run each fuzzer for this time; default $seconds
  --jobs N     fuzzers at a time; default the number of CPUs
  --help       print this help
END
}

takes_operands=yes
take_options seconds jobs -- "$@"
check_numbers seconds jobs
export LC_ALL=C

# find_clang: sets CC to the newest clang that is installed.
find_clang() {
    CC=$(compgen -c clang | grep -x 'clang\(-[0-9]*\)\?' | sort -V | tail -n 1) || true
    if [ -z "$CC" ]; then
        install_missing clang=clang
        CC=clang
    fi
    export CC
}

# build_fuzzers: an empty build type adds no options to those that CMakeLists.txt sets for fuzzing.
# shellcheck disable=SC2317 # called by quietly
build_fuzzers() {
    cmake -S . -B build-fuzz -G Ninja -DCMAKE_BUILD_TYPE= -DSHOWSTOPPER_FUZZ=ON -DSHOWSTOPPER_REQUIRE_ALL=ON &&
        cmake --build build-fuzz --parallel "$(nproc)" --target fuzzers
}

# list_fuzzers: prints the name of each fuzzer and its corpora, separated by tabs.
list_fuzzers() {
    ctest --test-dir build-fuzz -N -V -R '^fuzz\.' |
        sed -n -E '/Test command/ { s/.*\/fuzz_([a-z0-9_]+)_replay "/\1\t/; s/" "/\t/g; s/"//g; p }'
}

# fuzz NAME CORPUS...: prints a row of the table; fails if the fuzzer found a failure.
fuzz() {
    local name=$1 status=0 log=build-fuzz/$1.log
    local found=build-fuzz/found/$name
    shift
    mkdir -p "$found" build-fuzz/failures
    trap 'kill "$!"; exit 1' TERM
    build-fuzz/fuzz/fuzz_"$name" "-max_total_time=$seconds" "-artifact_prefix=build-fuzz/failures/$name-" \
        -print_final_stats=1 -rss_limit_mb=4096 "$found" "$@" >"$log" 2>&1 </dev/null &
    wait "$!" || status=$?
    printf '%-20s %10s %6s  %s\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
        "$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$log" | tail -n 1)" "$([ $status = 0 ] || echo "FAILED: see $log")"
    return "$status"
}

find_clang
quietly build_fuzzers
fuzzers=$(list_fuzzers)
if [ ${#operands[@]} -gt 0 ]; then
    for name in "${operands[@]}"; do
        grep -q "^$name"$'\t' <<<"$fuzzers" || refuse "$name: unknown fuzzer"
    done
    fuzzers=$(grep -E "^($(IFS='|' && echo "${operands[*]}"))"$'\t' <<<"$fuzzers")
fi
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
printf '%-20s %10s %6s\n' name inputs edges
status=0 running=0
while IFS=$'\t' read -ra row; do
    if [ "$running" -ge "$jobs" ]; then
        wait -n || status=1
        running=$((running - 1))
    fi
    fuzz "${row[@]}" &
    running=$((running + 1))
done <<<"$fuzzers"
while [ "$running" -gt 0 ]; do
    wait -n || status=1
    running=$((running - 1))
done
exit "$status"
