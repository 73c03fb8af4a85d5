#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records a load with sar, imports and replays it, and records the replay with sar again: each step of both recordings
# must agree. Takes some minutes on an idle machine. Arguments: the build folder, the seconds of a step (default: 30),
# and the number of steps (default: 6).

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
step=${2:-30} steps=${3:-6} only_case=
traces=$source/traces
bound=1 # mean absolute difference, in percent of the machine

need sar sadf
folder=$scratch

# record NAME COMMAND...: records one sample of sar per step while COMMAND runs.
record() {
    local name=$1 recorder
    shift
    sar -o "$folder/$name.sar" "$step" "$steps" >/dev/null &
    recorder=$!
    "$@" >/dev/null
    wait "$recorder"
    sadf -d "$folder/$name.sar" -- -u >"$folder/$name.csv"
    sadf -j "$folder/$name.sar" -- -u >"$folder/$name.json"
    "$bin/sstrace" -o "$folder/$name.trace" "$folder/$name.csv"
    "$bin/sstrace" --dump "$folder/$name.trace" >"$folder/$name.txt"
    if "$bin/sstrace" "$folder/$name.json" >"$folder/$name.from-json"; then
        cmp "$folder/$name.trace" "$folder/$name.from-json" ||
            { echo "FAILED: sadf -d and sadf -j give different traces" && exit 1; }
    fi
}

# replay FILE: replays the trace up to the end of the last step.
replay() {
    "$bin/showstopper" --quiet -t file -T "$1,loop=no" --duration "$((step * steps))s" \
        "$bin/ssburn" serial
}

# levels FILE: prints the load of every step in percent.
levels() {
    awk 'NR % 2 { printf "%.2f\n", 100 * $2 }' "$1"
}

# Records the published nine steps, scaled to the given length.
"$bin/sstrace" --scale "$step/180" --clip "0,$((step * steps))s" -o "$folder/plan.trace" \
    "$traces/nine-steps.txt"
record first replay "$folder/plan.trace"
record second replay "$folder/first.trace"
echo "step   first  second"
paste <(levels "$folder/first.txt") <(levels "$folder/second.txt") | awk -v bound="$bound" '{
    difference = $1 > $2 ? $1 - $2 : $2 - $1
    sum += difference
    printf "%4d  %6.2f  %6.2f\n", NR, $1, $2
} END {
    printf "mean absolute difference %.2f %%, bound %s %%\n", sum / NR, bound
    exit sum / NR >= bound }'
