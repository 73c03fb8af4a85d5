#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the benches: options, the machine, figures from JSON, statistics.

export LC_ALL=C # decimal point in numbers

fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# take_options NAME... -- WORD...: sets the variable NAME from "--NAME VALUE", or to yes from --NAME if NAME is a flag.
# The caller defines `usage`.
take_options() {
    local names=() name flags=' quick steps stat list install unit '
    while [ "$1" != -- ]; do
        names+=("$1")
        shift
    done
    shift
    while [ $# -gt 0 ]; do
        name=${1#--}
        [ "$1" != --help ] || { usage && exit; }
        [[ $1 = --* && " ${names[*]} " = *" $name "* ]] || fail "$1: unknown option: see --help"
        if [[ $flags = *" $name "* ]]; then
            printf -v "$name" yes
            shift
            continue
        fi
        [ $# -gt 1 ] || fail "$1 requires a value: see --help"
        printf -v "$name" %s "$2"
        shift 2
    done
}

# Puts the programs of the build in PATH, and ends all started processes at exit.
open_bench() {
    PATH=${build:?}/bin:$build/tests:$PATH
    [ -x "$build/bin/showstopper" ] || fail "$build/bin/showstopper is missing: build first"
    folder=$(mktemp -d)
    started=()
    trap 'close_bench' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
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

# hold WORD...: runs showstopper once with these words.
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
