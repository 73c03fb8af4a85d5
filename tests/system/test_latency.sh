#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of sslab latency; test_lab_latency.py has those of its plans. Generator and service are scripts, so that results do
# not depend on the speed of the machine; showstopper is the real one.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=experiments.sh
. "$here/experiments.sh"
need_built ssbatch
results=$scratch/latency-results
bystander='' pid=''

clean_up() {
    [ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null || true
    [ -z "$pid" ] || wait "$pid" 2>/dev/null || true
    [ -z "$bystander" ] || kill -KILL "$bystander" 2>/dev/null || true
}

# The fake generator runs briefly. If the file `wait` exists, it prints a line and waits.
replace_program ssrequest <<END
#!/bin/bash
echo "ssrequest \$*" >>"$scratch/calls"
begin=\$EPOCHREALTIME
url=\${*: -1} record='' kind='' rate=null capacity=''
[ ! -e "$scratch/dead" ] || [[ " \$* " = *" --record "* ]] || { echo "failed   1 connection_refused" && exit 1; }
succeeded=9
[ ! -e "$scratch/fails" ] || succeeded=0
[ ! -e "$scratch/refused" ] || { echo "ssrequest: no such option" >&2 && exit 125; }
while [ \$# -gt 1 ]; do
    case \$1 in
    --record) record=\$2 ;;
    --profile) kind=\$2 ;;
    --rate) rate=\$2 ;;
    --capacity) capacity=", \"capacity\": {\"demand\": \"\$2\", \"held_rate\": 40, \"failed_rate\": 41.5, \"held_times\": 3, \"failed_times\": 3}" ;;
    esac
    shift
done
[ -z "\$record" ] || echo asked >>"$scratch/asked"
if [ -e "$scratch/wait" ]; then
    echo \$\$ >>"$scratch/waits"
    read -rt 600 <> <(:)
fi
[ ! -e "$scratch/service-dies" ] || { kill -KILL "\$(cat "$scratch/service")" && rm "$scratch/service-dies"; }
[ -n "\$record" ] || exit 0
read -rt 3 <> <(:)
mkdir "\$record"
end=\$EPOCHREALTIME
{
    echo "epoch_seconds,elapsed_seconds,rate,due,sent,refused,waiting,unfinished,completed,failed,timeouts,bytes,$(:
        )lateness_most_seconds,intended_mean_seconds,intended_p50_seconds,intended_p95_seconds,intended_p99_seconds,$(:
        )intended_most_seconds,actual_mean_seconds,actual_p50_seconds,actual_p95_seconds,actual_p99_seconds,$(:
        )actual_most_seconds"
    echo "\$end,3,\$rate,10,10,0,0,0,\$succeeded,\$((10 - succeeded)),0,99,0.001,$(:
        )0.02,0.01,0.05,0.06,0.07,0.015,0.01,0.02,0.03,0.04"
} >"\$record/requests.csv"
cat >"\$record/requests.json" <<JSON
{
    "program": "ssrequest", "targets": ["\$url", "a \\"quoted\\" one"], "arrival": "poisson",
    "profile": {"kind": "\$kind", "rate": \$rate},
    "begin_epoch_seconds": \$begin, "end_epoch_seconds": \$end,
    "intended": 10, "sent": 10, "refused": 0, "unfinished": 0, "succeeded": \$succeeded, "failed": \$((10 - succeeded)),
    "causes": {
        "timeout": 0,
        "connection_refused": \$((9 - succeeded)),
        "status": 1
    },
    "success_ratio": 0.9, "throughput": 9.5,
    "lateness": {"mean_seconds": 7, "p99_seconds": 0.0007},
    "response": {
        "successes": {
            "intended": {"mean_seconds": 0.02, "p50_seconds": 0.01, "p95_seconds": 0.05, "p99_seconds": null},
            "actual": {"mean_seconds": 0.015, "p50_seconds": 0.01}
        },
        "all": {"intended": {"mean_seconds": 0.03}}
    }\$capacity
}
JSON
exit 1
END
replace_program ssburn <<END
#!/bin/bash
[[ \$* != *" --help" ]] || exec "$bin/ssburn" "\$@"
echo "ssburn \$*" >>"$scratch/calls"
[ "\$1" = serve ] || { echo "# work 12345" && exit; }
[ ! -e "$scratch/no-service" ] || { echo "ssburn: no memory" >&2 && exit 125; }
echo \$\$ >"$scratch/service"
printf '# work 12345\nlistening on http://127.0.0.1:1/\n'
trap 'exit 0' TERM
while :; do
    read -rt 0.1 <> <(:) || true
done
END
few=(--duties '100%,50%' --rates '5,10' --demands none --warmup 1s --seconds 2s)

# calls PATTERN: prints the number of matching calls.
calls() {
    grep -Ec -- "$1" "$scratch/calls" || true
}

# is_stopped RUN LOW HIGH: fails unless the mean duty in the record is in this range.
is_stopped() {
    local share
    share=$(sed -n 's/^ *"duty_mean": *\([0-9.]*\).*/\1/p' "$results/$1/service/summary.json")
    awk -v share="$share" -v low="$2" -v high="$3" 'BEGIN { exit !(share >= low && share <= high) }' ||
        fail "$1: wrong duty: $share"
}

requests_are_matched_to_the_record_of_the_service() { # case
    local run
    with_reports
    experiment latency "${few[@]}" --own-cpu "$(first_cpu)"
    for run in serve-d{100,50}-r{5,10}-1; do
        [ -s "$results/$run/requests/requests.csv" ] || fail "$run: requests.csv is missing"
        [ -s "$results/$run/service/summary.json" ] || fail "$run: the record is missing"
        grep -q '"ended_by": "signal"' "$results/$run/service/summary.json" || fail "$run: the service was not ended by a signal"
    done
    [ "$(listed latency-results role | tr ' ' '\n' | sort | uniq -c | xargs)" = "4 requests 4 service" ] ||
        fail "wrong roles: $(listed latency-results role)"
    [ "$(listed latency-results status | tr ' ' '\n' | sort -u)" = "done" ] || fail "wrong status"
    [ "$(listed latency-results cpus | tr ' ' '\n' | sort -u | paste -sd ' ')" = "- $(first_cpu)" ] ||
        fail "wrong CPUs: $(listed latency-results cpus)"
    [ "$(listed latency-results method | tr ' ' '\n' | sort | uniq -c | xargs)" = "4 1cdc 4 uncontrolled" ] ||
        fail "wrong methods: $(listed latency-results method)"
    is_stopped serve-d100-r5-1 0.8 1
    is_stopped serve-d50-r5-1 0.2 0.8
    # Work is calibrated once, and each run sends warm-up requests before the counted ones.
    [ "$(calls '^ssburn serial --iteration 10m --iterations 0$')" -eq 1 ] || fail "calibrated more than once"
    [ "$(calls '^ssburn serve .*--units 12345$')" -eq 4 ] || fail "the calibration was not used"
    [ "$(calls '^ssrequest .*--rate 5 --duration 1s .* http://127.0.0.1:1/$')" -eq 2 ] || fail "wrong warm-up requests"
    [ "$(calls '^ssrequest .*--rate 5 --duration 2s --record [^ ]*/requests .*--arrival poisson --seed 2 .*--timeout 10s ')" -eq 2 ] ||
        fail "wrong requests"
    grep -qE '^[^,]*/serve-d50-r10-1/requests,1,serve,1cdc,,0\.5,1,.*,10,9\.5,10,10,0,9,1,0,0\.9,[^,]*,0\.02,0\.01,0\.05,,,0\.015,0\.01,' \
        "$results/table.csv" || fail "$(cat "$results/table.csv")"
    prints '\| serve-d50-r10-1/requests \| serve \| 1cdc \| 50\.0 \| .* \| 10\.00 \| 9\.50 \| 90\.00 \| 0\.0200 \| 0\.0500 \| .*'
    [ -s "$results/report/report.html" ] || fail "report.html is missing"
    [ ! -e "$results/report/study.csv" ] || fail "a throttled service is reported as a workload with iterations"
}

a_capacity_search_is_tabulated() { # case
    with_reports
    experiment latency --duties 100% --rates 5 --demands p95=1s,mean=500m --warmup 0 --seconds 1
    [ "$(grep -o '[^,]*=[^,]*,[0-9.]*,3,[0-9.]*,3$' "$results/report/requests.csv" | sort | paste -sd ' ')" = "mean=500m,40,3,41.5,3 $(:
        )p95=1s,40,3,41.5,3" ] || fail "$(cat "$results/report/requests.csv")"
    # --seconds, the duration of a run at one rate, applies neither to a search nor to steps.
    [ "$(listed latency-results seconds plan | tr ' ' '\n' | sort -u | paste -sd ,)" = "-,1" ] || fail "wrong seconds: $(listed latency-results seconds plan)"
    experiment latency --duties 100% --steps 3:1:2s --demands none --output steps
    [ "$(listed steps seconds plan) $(listed steps warmup_seconds plan)" = "6 6 0 0" ] || fail "wrong times of steps"
    [ "$(wc -l <"$results/table.csv")" -eq 2 ] || fail "a search is listed as a rate"
}

# start_latency OPTION...: starts the experiment in the background and sets `pid`.
start_latency() {
    : >"$scratch/waits"
    (cd "$scratch" && exec "$bin/sslab" latency "${options[@]}" "$@") >"$output" 2>&1 &
    pid=$!
}

an_interrupted_study_can_be_resumed() { # case
    local signal status generator
    experiment latency "${few[@]}" --duties 50% --rates 5
    : >"$scratch/asked"
    for signal in TERM KILL; do
        touch "$scratch/wait"
        start_latency "${few[@]}" --duties 50% --rates 5,10
        await test -s "$scratch/waits"
        generator=$(head -n 1 "$scratch/waits")
        kill "-$signal" "$pid"
        status=0
        wait "$pid" 2>/dev/null || status=$?
        [ "$signal" = KILL ] || [ "$status" -eq 143 ] || fail "status $status"
        pid=
        await is_gone "$generator"
        await is_gone "$(cat "$scratch/service")"
        rm "$scratch/wait"
    done
    await ram_is_empty
    call latency "${few[@]}" --duties 50% --rates 5,20 || fail "status $?"
    [ "$(wc -l <"$scratch/asked")" -eq 1 ] || fail "expected one run, got $(wc -l <"$scratch/asked")"
    [ -d "$results/serve-d50-r20-1" ] || fail "the completed run is missing"
    [ "$(listed latency-results run | tr ' ' '\n' | uniq | paste -sd ' ')" = "serve-d50-r5-1 serve-d50-r10-1 serve-d50-r20-1" ] ||
        fail "wrong list of runs"
    refuses "has runs with other settings" latency "${few[@]}" --duties 50% --rates 5 --cap 7
}

# sslab ends by the signal that it received, and says if another process has ended ssbatch.
signals_are_reported() { # case
    local status generator
    touch "$scratch/wait"
    # A background process may ignore SIGHUP.
    (cd "$scratch" && : >waits && exec env --default-signal=HUP "$bin/sslab" latency "${options[@]}" "${few[@]}") >"$output" 2>&1 &
    pid=$!
    await test -s "$scratch/waits"
    kill -HUP "$pid"
    ends 129
    prints "sslab latency: interrupted; repeat the call to continue"
    start_latency "${few[@]}"
    await test -s "$scratch/waits"
    generator=$(head -n 1 "$scratch/waits")
    kill -TSTP "$pid"
    await grep -Fqx "sslab latency: runs cannot be paused; Ctrl-C ends them; repeat the call to continue" "$output"
    kill -KILL "$(pgrep -P "$pid" -x ssbatch)"
    ends 1
    prints "sslab latency: ssbatch was ended by the signal SIGKILL, not by this call; repeat the call to continue"
    await is_gone "$generator"
    rm "$scratch/wait"
    await ram_is_empty
    call latency "${few[@]}" --duties 100% --rates 5 || fail "status $?"
}

ram_is_empty() {
    [ -z "$(ls "$scratch/ram")" ]
}

failures_are_reported() { # case
    touch "$scratch/refused"
    refuses "serve-d100-r5-1: failed: warmup ended with status 125: ssrequest: no such option" latency "${few[@]}"
    rm "$scratch/refused"
    touch "$scratch/no-service"
    refuses "serve-d100-r5-1: failed: server ended with status 125 before the run did: ssburn: no memory" latency "${few[@]}"
    rm "$scratch/no-service"
    touch "$scratch/service-dies"
    refuses "serve-d100-r5-1: failed: server was ended by signal 9 before the run did" latency "${few[@]}" --duties 100%
    nothing_is_left
}

a_service_that_does_not_answer_is_reported() { # case
    local call=(latency "${few[@]}" --service http://127.0.0.1:2/ --duties 100%)
    touch "$scratch/dead"
    refuses "--service: http://127.0.0.1:2/: requests fail; to see why, run: ssrequest " "${call[@]}"
    [ ! -e "$results" ] || fail "a folder was created"
    experiment "${call[@]}" --dry-run
    rm "$scratch/dead"
    # The service dies during the requests.
    touch "$scratch/fails"
    refuses "url-d100-r5-1: failed: requests: no request succeeded: 9 connection_refused, 1 status" "${call[@]}" --go-on
    grep -q "some runs failed" "$output" || fail "the failure is not reported"
    [ "$(listed latency-results status | tr ' ' '\n' | sort -u)" = failed ] || fail "wrong status"
    rm "$scratch/fails"
    experiment "${call[@]}"
    [ "$(listed latency-results status | tr ' ' '\n' | sort -u)" = "done" ] || fail "the repeated runs are not done"
    # Results are reported although the service has exited.
    touch "$scratch/dead"
    experiment "${call[@]}"
    rm "$scratch/dead"
}

# The service keeps running after the study.
a_running_service_is_throttled_by_attaching_to_it() { # case
    experiment latency "${few[@]}" --service http://127.0.0.1:2/ --duties 100% --rates 5
    [ "$(wc -l <"$results/url-d100-r5-1/beside.csv")" -gt 1 ] || fail "no samples of the load"
    [ "$(listed latency-results role)" = requests ] || fail "wrong roles"
    sleep 1000 &
    bystander=$!
    experiment latency "${few[@]}" --service http://127.0.0.1:2/ --attach "$bystander" --duties 50% --rates 5 \
        --output attached
    results=$scratch/attached
    is_stopped url-d50-r5-1 0.2 0.8
    kill -0 "$bystander" || fail "the running service was killed"
    ! grep -q '^State:.T' "/proc/$bystander/status" || fail "the running service was left stopped"
    kill -KILL "$bystander"
    wait "$bystander" 2>/dev/null || true
    bystander=
}

run_cases
