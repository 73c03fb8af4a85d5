#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the benches: options, the machine, figures from JSON, statistics. Sets `source`, the tree, and `build`.
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$source/build
# shellcheck source=../options.sh
. "$source/tests/options.sh"
export LC_ALL=C # decimal point in numbers

fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# judge_simulated NAME ARG...: lets NAME.py judge the studies that NAME-bench simulates with these arguments.
judge_simulated() {
    local python
    [ "${2-}" != --help ] || { usage && exit; }
    if [ "${2-}" = --build ]; then
        build=$3
        set -- "$1" "${@:4}"
    fi
    python=$(sed -n 's/^SHOWSTOPPER_PYTHON_FOUND:INTERNAL=//p' "$build/CMakeCache.txt")
    "$build/tests/$1-bench" "${@:2}" | OPENBLAS_NUM_THREADS=1 "${python:-python3}" "$source/tests/bench/$1.py"
}

# Puts the programs of the build in PATH, ends all started processes at exit, and prints the machine.
open_bench() {
    build=$(cd "$build" && pwd) || fail "--build: no such folder"
    PATH=$build/bin:$build/tests:$PATH
    [ -x "$build/bin/showstopper" ] || fail "$build/bin/showstopper is missing: build first"
    folder=$(mktemp -d)
    started=()
    trap 'close_bench' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    print_machine
}

close_bench() {
    end_started
    rm -rf "$folder"
}

# start COMMAND...: runs the command in the background until end_last or end_started.
start() {
    "$@" >/dev/null &
    started+=($!)
}

end_last() {
    local pid=${started[-1]}
    unset 'started[-1]'
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

end_started() {
    local pid
    for pid in "${started[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    for pid in "${started[@]}"; do
        wait "$pid" 2>/dev/null || true
    done
    started=()
}

print_machine() {
    local governor=/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
    echo "Machine: $(nproc) CPUs, $(uname -sr)," \
        "governor $(cat $governor 2>/dev/null || echo unknown)"
}

# Prints the work of one iteration in units. A fixed amount of work does not depend on throttling.
calibrate() {
    ssburn "$1" --iterations 0 | sed -n 's/^# work //p'
}

# figure FILE NAME: prints the number with this name in a JSON file, or null.
figure() {
    sed -n 's/^ *"'"$2"'": *\(-\{0,1\}[0-9][-+.0-9e]*\|null\),\{0,1\}$/\1/p' "$1" | head -n 1
}

# hold ARG...: runs showstopper once with these arguments.
hold() {
    rm -f "$folder/result.json"
    showstopper --quiet --json "$folder/result.json" "$@" >/dev/null
}

# result NAME: prints a figure of the last run.
result() {
    figure "$folder/result.json" "$1"
}

# copy_source FOLDER: copies the source tree, which thus does not change during the bench.
copy_source() {
    mkdir "$1"
    find "${source:?}" -mindepth 1 -maxdepth 1 ! -name 'build*' ! -name '.git*' \
        -exec cp -r {} "$1" \;
}

# Reads numbers and prints their median, minimum and maximum.
median() {
    sort -g | awk '{ value[NR] = $1 } END {
        if (NR == 0) exit 1
        middle = NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2
        print middle, value[1], value[NR] }'
}
