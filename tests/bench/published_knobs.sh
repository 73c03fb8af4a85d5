#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/published_knobs.sh [OPTION]...
Repeats published figures of knobs in the simulator, as tables in Markdown: capacity and power on 32 cores, of which
the service whose frequency changes uses 16. Power and contention follow the published curves and capacities.

  --seconds N   of each run; default 60
  --build DIR   default build
  --help        print this help
END
}

seconds=60
take_options seconds build -- "$@"
open_bench
tables=$source/tools/experiments/published

# published TABLE KEY: prints the fields after the key in the published table.
published() {
    sed -n "s/^$2,//p" "$tables/actuators-$1.csv"
}

# write_inputs: writes files with the power of 0 to 32 busy cores, and the capacities of n guests or cores.
write_inputs() {
    local knob n
    published power free | awk -F, '{ print "busy,watts\n0,120"
        for (n = 1; n <= 32; n++) print n "," $1 * n * n + $2 * n + $3 }' >"$folder/free"
    for knob in instances cores; do
        echo n,requests_per_second >"$folder/$knob"
        for n in 1 2 3 4 8 16 24 32; do
            published capacity "$knob,$n" | sed "s/^\([^,]*\).*/$n,\1/" >>"$folder/$knob"
        done
    done
}

# simulate RATE OPTION...: simulates a service without a cap and a time limit.
simulate() {
    sssim queue --json --cap 100000 --timeout 0 -r "$1" -d "${seconds}s" --settle "$((seconds / 5))s" "${@:2}" \
        >"$folder/result.json"
}

# response GROUP FROM NAME: prints a response time of the last run.
response() {
    awk -v group="\"$1\":" -v from="\"$2\":" -v name="\"$3\":" '$1 == group { in_group = 1 }
        in_group && $1 == from { in_from = 1 }
        in_from && $1 == name { print $2 + 0; exit }' "$folder/result.json"
}

# alone KNOB: prints the rate that one guest or core would serve without the others, fitted like a and b.
alone() {
    simulate 1 --contention "servers:$folder/$1"
    awk -F, -v a="$(figure "$folder/result.json" contention_a)" -v b="$(figure "$folder/result.json" contention_b)" '
        NR > 1 { t = $2 * (1 + a * ($1 - 1) + b * $1 * ($1 - 1)) / $1; sum += t; squares += t * t }
        END { print squares / sum }' "$folder/$1"
}

# capacity OPTION...: prints the highest rate at which the service is underloaded: response times of all requests, from
# when they were due, have a mean below 1 s and a 95th percentile below 2 s.
capacity() {
    local held=1 failed=400 rate limits
    while awk "BEGIN { exit !($failed - $held > 0.002 * $failed) }"; do
        rate=$(awk "BEGIN { print ($held + $failed) / 2 }")
        simulate "$rate" "$@"
        limits="$(response all intended mean_seconds) < 1 && $(response all intended p95_seconds) < 2"
        awk "BEGIN { exit !($limits) }" && held=$rate || failed=$rate
    done
    echo "$held"
}

# watts RATE OPTION...: prints the mean power.
watts() {
    simulate "$@"
    figure "$folder/result.json" watts
}

# less MORE LESS: prints by how many percent the second is less.
less() {
    awk "BEGIN { printf \"%.1f\", 100 * (1 - $2 / $1) }"
}

# row KNOB HIGH LOW: prints what the low level of a knob saves and costs. HIGH and LOW are options, separated by blanks.
row() {
    local high low
    read -ra high <<<"$2"
    read -ra low <<<"$3"
    echo "| $1 | $(less "$(capacity "${high[@]}")" "$(capacity "${low[@]}")") |" \
        "$(less "$(watts 150 "${high[@]}")" "$(watts 150 "${low[@]}")") |" \
        "$(published savings "${1%%[, ]*}" | awk -F, '{ print $2 " | " $1 }') |"
}

write_inputs
power="--power $folder/free"
guest=$(alone instances) core=$(alone cores)
guests="--contention servers:$folder/instances --workers 8 --work $(awk "BEGIN { print 8 / $guest }")s $power --servers"
cores="--contention workers:$folder/cores --work $(awk "BEGIN { print 1 / $core }")s $power --workers"
frequency=$(published capacity 'frequency,2.1 GHz' | awk -F, '{ print 16 / $1 }')
frequency="--workers 16 --work ${frequency}s $power --base 2.1GHz --frequency"

echo "
What the lower level loses in capacity, and saves in power of a saturated machine, in percent:

| knob | lost | saved | published: lost | saved |
|---|---|---|---|---|"
row frequency "$frequency 2.1GHz" "$frequency 1.4GHz"
row "horizontal, 4 to 1" "$guests 4" "$guests 1"
row "vertical, 32 to 8 cores" "$cores 32" "$cores 8"

echo "
What 1.4 instead of 2.1 GHz saves in power of an underloaded service, in percent:

| requests per second | even | concurrent |
|---|---|---|"
for rate in 5 10 15 20 25 30 35; do
    words="| $rate |"
    for arrival in even concurrent; do
        read -ra options <<<"--arrival $arrival $frequency"
        words+=" $(less "$(watts "$rate" "${options[@]}" 2.1GHz)" "$(watts "$rate" "${options[@]}" 1.4GHz)") |"
    done
    echo "$words"
done

echo "
Two servers, one of half the speed, at 0, 5 ... 135 requests per second for 10 s each:

| together | balance | failed | mean of successes, s | 95 % of all, s |
|---|---|---|---|---|"
for each in 100:120 50:240; do
    for balance in round-robin least-connections; do
        sssim queue --json --profile step --max 140 --step 5 --hold 10s --speeds 1,0.5 --workers 8 \
            --work "${each#*:}m" --balance "$balance" >"$folder/result.json"
        awk -v words="| ${each%:*} per second | $balance" -v sent="$(figure "$folder/result.json" sent)" \
            -v failed="$(figure "$folder/result.json" failed)" -v mean="$(response successes actual mean_seconds)" \
            -v p95="$(response all actual p95_seconds)" \
            'BEGIN { printf "%s | %.0f %% | %.2f | %.2f |\n", words, 100 * failed / sent, mean, p95 }'
    done
done
