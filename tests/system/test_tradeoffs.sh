#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of sslab tradeoffs: short studies of a real service. tests/python/test_lab_tradeoffs.py has those of its plans.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=experiments.sh
. "$here/experiments.sh"
need_built ssbatch ssactuate ssrequest serve
PATH=$build/bin:$PATH
results=$scratch/tradeoffs-results

# runs: prints the names of the planned runs.
runs() {
    sed -n 's/^run \([^ ]*\) .*/\1/p' "$output"
}

# is_planned COUNT PATTERN: fails unless this number of lines of the plan match.
is_planned() {
    local count
    count=$(grep -Ec -- "$2" "$output" || true)
    [ "$count" -eq "$1" ] || fail "$count lines instead of $1: $2"
}

# ssbatch_accepts: fails unless ssbatch accepts the plan in the output.
ssbatch_accepts() {
    grep -Ev '^(skipped|Power): ' "$output" | "$build/bin/ssbatch" --dry-run "$scratch/other" >"$scratch/accepted" 2>&1 ||
        fail "$(cat "$scratch/accepted")"
}

# The lines above the first run, which must not change while a study continues, do not depend on the levels.
later_calls_may_add_levels() { # case
    local wikis
    experiment tradeoffs --plan --service mediawiki --knobs instances=1 --rounds 1
    wikis=$(grep '^after .*/mediawiki ' "$output")
    experiment tradeoffs --plan --service mediawiki --knobs 'instances=1 instances=3' --rounds 1
    [ "$(grep '^after .*/mediawiki ' "$output")" = "$wikis" ] || fail "not as with one instance: $wikis"
    ssbatch_accepts # even if this machine lacks a knob
}

the_cool_down_ends_at_the_idle_power() { # case
    experiment tradeoffs --plan --energy 'echo 20' --knobs cpus=1 --rounds 1
    is_planned 1 '^once idle_watts .* energy .* --mean 10'
    is_planned 1 '^before -- .* energy .* --settle .\{idle_watts'
    is_planned 0 '^before -- sleep'
    [ "$("$bin/showstopper-platform" energy 'echo 20' --mean 1 2>/dev/null)" = "mean 20" ] || fail "wrong mean"
    [ "$(env --ignore-signal=CHLD "$bin/showstopper-platform" energy 'echo 20' --mean 1)" = "mean 20" ] ||
        fail "a caller that ignores SIGCHLD changes the mean"
    # The power falls to the idle power in the third second.
    # shellcheck disable=SC2016 # the shell of the command expands it
    "$bin/showstopper-platform" energy 'echo >>'"$scratch/seconds; echo "'$((23 - $(wc -l <'"$scratch/seconds)))" --settle 19.7 \
        2>/dev/null
    [ "$(wc -l <"$scratch/seconds")" -eq 3 ] || fail "ended after $(wc -l <"$scratch/seconds") s"
}

# A fast service keeps the test short.
a_study_of_two_levels_is_carried_out_and_reported() { # case
    local call=(tradeoffs --knobs 'instances=1 instances=2' --knobs 'pin=free pin=first:1' --steps 15:5:1s --work 100u
        --rounds 1 --cool-down 0)
    with_reports
    experiment "${call[@]}"
    [ "$(listed tradeoffs-results status | tr ' ' '\n' | grep -c '^done$')" -eq 4 ] || fail "not all runs are done"
    [ "$(cut -d, -f 7-9 "$results/capacity.csv" | sed 1d | sort -u | wc -l)" -eq 4 ] || fail "$(cat "$results/capacity.csv")"
    grep -q '"urls": \[' "$results"/instances2+pinfree-*/server.json || fail "no record of the knobs"
    "$experiments/published/compare" "$results" >output || fail "compare: $(<output)"
    grep -A 1 '^"fewer instances do not change the mean response time of an underloaded' output |
        grep -q '^  actual_mean_seconds at [0-9.]* /s: instances=[12] .*, instances=[12] ' ||
        fail "no means of the levels: $(<output)"
    grep -q '<h1>What does each knob save, and what does it cost?</h1>' "$results/report/report.html" || fail "no page"
    [ "$(grep -o '<figcaption>Response times, power and successes by rate[^<]*' "$results/report/report.html")" = \
        '<figcaption>Response times, power and successes by rate: serve' ] || fail "not one picture of both pins"
    local before
    rm "$programs/ssreport"
    before=$(stat -c %Y.%i "$results"/instances*/run.json)
    experiment "${call[@]}"
    [ "$before" = "$(stat -c %Y.%i "$results"/instances*/run.json)" ] || fail "finished runs were done again"
}

run_cases
