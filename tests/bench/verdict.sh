#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2317 # faults are called by their names
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

# Each kind of fault, and the checks, one of which must find it.
faults="
competitor         others
preempted          others|throughput
out-of-reach       mean_error
stopped-master     samples_lost
drift              throughput
step               throughput
cold-start         throughput
few-iterations     iterations
no-iteration       iterations
failed             failed_instances
killed             failed_instances
ends-early         ended_early
cut-short          interrupted
full-disk          lines_lost
clock              clock
frequency          frequency
degrades           response
stopped-generator  late_requests
no-service         successes
lost-service       failed_requests
cut-requests       interrupted
few-requests       successes
"

usage() {
    cat <<END
Usage: tests/bench/verdict.sh [OPTION]...
Carries out real runs and requests, some of them with a fault that the verdict must name. Prints how many runs without
a fault are not valid, and how many of the others lack the right flag. Exits with status 1 if more than 2 % of the runs
without a fault are not valid, or if more than 1 % of the others lack their flag.

  --clean N         runs without a fault; every second one sends requests; default $clean
  --each N          runs of each kind of fault; default $each
  --kinds LIST      default: $(list_kinds)
  --seconds N       length of a run; default $seconds
  --keep DIR        keep the results of all runs in this new folder
  --build DIR       default build
  --help            print this help

Run it on an idle machine. Faults that need root or a mount namespace are skipped without them. A preloaded library
changes the wall clock and the frequency for showstopper only.
END
}

list_kinds() {
    awk 'NF { printf "%s%s", separator, $1; separator = "," }' <<<"$faults"
}

# checks_of KIND: prints the checks that may find this fault, separated by |.
checks_of() {
    awk -v kind="$1" '$1 == kind { print $2 }' <<<"$faults"
}

run() {
    showstopper --quiet --json "$result" --duration "${seconds}s" "$@" >"$folder/output" 2>&1
}

# run_own ARG...: runs at a load of its own CPU time, so that a busy machine adds no other fault.
run_own() {
    run -f own "$@"
}

# run_short: runs iterations of 5 ms.
run_short() {
    run_own -n 2 -l 50% --iteration '^iteration' ssburn serial --work "$work"
}

# run_awk STATEMENT: runs a program with iterations of n steps, about `rate` per second; STATEMENT, executed after each,
# may change n. `count` is the number of previous iterations.
run_awk() {
    run_own -n 1 -l 40% --iteration '^iteration' awk "BEGIN { n = $steps
        for (count = 0;; count++) { for (i = 0; i < n; i++) x += i; print \"iteration\"; fflush(); $1 } }"
}

# serve: starts a service at $url. On a virtual machine, 1 % of the requests are 0.1 to 0.3 ms late, because a sleeping
# CPU takes as long to wake up: that must be small compared with a response time.
serve() {
    rm -f "$folder/service"
    ssburn serve --work 4m >"$folder/service" &
    started+=($!)
    until grep -qs http "$folder/service"; do sleep 0.05; done
    url=$(grep -o 'http://[^ ]*' "$folder/service" | head -n 1)
}

send() {
    ssrequest --json "$result" --rate 100 --duration "${seconds}s" "$@" "$url" >"$folder/output" 2>&1
}

# after TENTHS: waits for this many tenths of a run.
after() {
    sleep "$(awk -v n="$1" -v s="$seconds" 'BEGIN { print n * s / 10 }')"
}

# program_of PID NAME: prints the pid of the program that this background shell has started.
program_of() {
    pgrep -o -P "$1" -x "$2" || echo "$1"
}

# stop_for SECONDS PID: stops the process for this time. A child continues it even if this script is killed meanwhile.
stop_for() {
    (
        sleep "$1"
        kill -CONT "$2"
    ) &
    kill -STOP "$2"
    wait $!
}

clean_run() { run -n 2 -l 50% --iteration '^iteration' ssburn serial --work "$work"; }
clean_requests() { serve && send; }

fault_competitor() {
    start ssburn serial
    run_short
}

# Starts a competitor at real-time priority for the first third of the run.
fault_preempted() {
    start chrt --fifo 50 timeout "$((seconds / 3))" ssburn serial
    run_short
}

fault_out_of_reach() { run -n 1 -l 90% taskset -c 0 ssburn serial --work "$work"; }

fault_stopped_master() {
    run_short &
    local run=$!
    after 4
    stop_for 1.3 "$(program_of "$run" showstopper)"
    wait "$run"
}

fault_drift() { run_awk 'n *= 1.0006'; }
fault_step() { run_awk "if (count == $((seconds * rate / 2))) n *= 1.4"; }
fault_cold_start() { run_awk "n = $steps * (1 + 2 * exp(-count / 60))"; }
fault_few_iterations() { run_own -n 1 -l 50% --iteration '^iteration' ssburn serial --iteration 1s; }
fault_no_iteration() { run_own -n 1 -l 20% --iteration '^never' ssburn serial --work "$work"; }
fault_failed() { run_own -n 2 -l 20% sh -c '[ % = 0 ] && exit 3; exec ssburn serial'; }
fault_killed() { run_own -n 2 -l 20% sh -c '[ % = 0 ] && { sleep 1; kill -SEGV $$; }; exec ssburn serial'; }
fault_ends_early() { run_own -n 2 -l 20% sh -c '[ % = 0 ] && exec sleep 2; exec ssburn serial'; }

# The interruption may be late, so the run is longer. It is by SIGTERM, because Bash lets programs in the background
# ignore SIGINT.
fault_cut_short() {
    seconds=$((10 * seconds)) run_short &
    while kill -0 $! && ! showstopper --status "$(program_of $! showstopper)" >/dev/null 2>&1; do sleep 0.1; done
    after 5
    kill -TERM "$(program_of $! showstopper)"
    wait $!
}

fault_full_disk() {
    mkdir -p "$folder/disk"
    # shellcheck disable=SC2016 # for sh
    unshare --mount sh -c 'mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@"' "$folder/disk" showstopper --quiet \
        --json "$result" --duration "${seconds}s" -f own -n 2 -l 50% --output "$folder/disk" \
        sh -c 'while :; do echo 0123456789012345678901234567890123456789012345678901234567890123; done' \
        >"$folder/output" 2>&1
}

fault_clock() { LD_PRELOAD=$build/tests/libshim_clock.so SS_TEST_CLOCK=60:2000 run_short; }
fault_frequency() { LD_PRELOAD=$build/tests/libshim_frequency.so run_short; }

# A service whose CPU time falls to a quarter.
fault_degrades() {
    serve
    printf '+0 100%%\n+%ds 25%%\n+100s 25%%\n' "$seconds" >"$folder/degrade.txt"
    start showstopper --quiet --attach "${started[-1]}" -f own -c fixed -t file -T "$folder/degrade.txt"
    send
    end_last
}

fault_stopped_generator() {
    serve
    send &
    local sender=$!
    after 4
    stop_for 1 "$(program_of "$sender" ssrequest)"
    wait "$sender"
}

fault_no_service() {
    serve && end_last
    send
}

fault_lost_service() {
    serve
    send &
    local sending=$!
    after 6
    end_last
    wait "$sending"
}

fault_cut_requests() {
    serve
    send &
    after 5
    kill -TERM "$(program_of $! ssrequest)"
    wait $!
}

fault_few_requests() { serve && send --rate 2; }

# cannot KIND: prints why this machine cannot have this fault; nothing if it can.
cannot() {
    case $1 in
    preempted) chrt --fifo 50 true 2>/dev/null || echo "no real-time priority" ;;
    full-disk) unshare --mount true 2>/dev/null || echo "no mount namespace" ;;
    clock | frequency) [ -e "$build/tests/libshim_$1.so" ] || echo "the library is not built" ;;
    esac
}

# finds CHECKS: succeeds if one of these checks, separated by |, makes the run in $result doubtful or invalid.
finds() {
    tr -d '\n' <"$result" | grep -Eq "\"check\": \"($1)\", *\"result\": \"(doubtful|invalid)\""
}

# verdict: prints the verdict of the run in $result with its reasons.
verdict() {
    sed -n '/"verdict": {/,/"reasons"/s/^ *"\(result\|reasons\)": "\(.*\)",$/\2/p' "$result" | paste -sd : | sed 's/:/: /'
}

# carry_out NAME FUNCTION
carry_out() {
    result=$folder/$1.json
    "$2" || true # the fault may make it fail
    end_started
    [ -s "$result" ] || fail "$1: no result: $(cat "$folder/output")"
    [ -z "$keep" ] || cp "$result" "$keep"
}

judge_clean() {
    local i function flagged=0
    for ((i = 1; i <= clean; i++)); do
        function=clean_run
        [ $((i % 2)) = 1 ] || function=clean_requests
        carry_out "$function-$i" "$function"
        [[ $(verdict) != valid:* ]] || continue
        flagged=$((flagged + 1))
        echo "$function $i: $(verdict)"
    done
    echo "$clean runs without fault: $flagged not valid"
    [ $((50 * flagged)) -le "$clean" ] || status=1
}

judge_faults() {
    local kind i checks why missed all=0 sum=0
    printf '\n| %-17s | %-17s | %4s | %6s |\n|-|-|-|-|\n' fault check runs missed
    for kind in ${kinds//,/ }; do
        missed=0 checks=$(checks_of "$kind") why=$(cannot "$kind")
        if [ -n "$why" ]; then
            printf '| %-17s | %-17s | %4d | %s |\n' "$kind" "${checks//|/, }" 0 "$why"
            continue
        fi
        for ((i = 1; i <= each; i++)); do
            carry_out "$kind-$i" "fault_${kind//-/_}"
            finds "$checks" && continue
            missed=$((missed + 1))
            echo "$kind $i: $(verdict)" >&2
        done
        printf '| %-17s | %-17s | %4d | %6d |\n' "$kind" "${checks//|/, }" "$each" "$missed"
        all=$((all + each)) sum=$((sum + missed))
    done
    echo "$all runs with a fault: $sum without the right flag"
    [ $((100 * sum)) -le "$all" ] || status=1
}

clean=50 each=20 seconds=8 keep='' status=0 url='' result='' kinds=$(list_kinds)
take_options clean each kinds seconds keep build -- "$@"
for kind in ${kinds//,/ }; do
    [ -n "$(checks_of "$kind")" ] || fail "--kinds: $kind: not one of $(list_kinds)"
done
open_bench
[ -z "$keep" ] || mkdir "$keep"
# The work of 5 ms of CPU time: a run then has enough iterations to find changes.
work=$(ssburn serial --iteration 5m --iterations 0 | sed -n 's/^# work //p')
# The steps of awk in 2 ms, and the iterations of run_awk per second.
steps=$({ time -p awk 'BEGIN { for (i = 0; i < 3000000; i++) x += i }'; } 2>&1 |
    awk '/^user/ { printf "%d", 3000000 * 0.002 / ($2 > 0 ? $2 : 0.3) }')
rate=$(awk -v cpus="$(nproc)" 'BEGIN { printf "%d", (cpus < 2.5 ? 0.4 * cpus : 1) / 0.002 }')
[ "$clean" = 0 ] || judge_clean
[ "$each" = 0 ] || judge_faults
exit "$status"
