#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/experiments/latency. Generator and service are scripts, so that results do not depend on the speed
# of the machine; showstopper is the real one.
# Arguments: the build folder, and the one case to run; none: all.
# shellcheck disable=SC2317 # cases are called by their names
set -euo pipefail

# shellcheck source=skip.sh
. "$(dirname "$0")/skip.sh"
# shellcheck source=cases.sh
. "$(dirname "$0")/cases.sh"
# shellcheck source=experiments.sh
. "$(dirname "$0")/experiments.sh"
options=(--bin "$scratch/bin" --ram "$scratch/ram")
results=$scratch/latency-results
bystander='' pid=''
trap 'end' EXIT

end() {
    [ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null || true
    [ -z "$pid" ] || wait "$pid" 2>/dev/null || true
    [ -z "$bystander" ] || kill -KILL "$bystander" 2>/dev/null || true
    rm -rf "$scratch"
}

# The fake generator takes a moment. If the file `wait` exists, it prints a line and waits.
mkdir "$scratch/bin"
for name in showstopper ssload; do
    printf '#!/bin/bash\nexec "%s" "$@"\n' "$build/bin/$name" >"$scratch/bin/$name"
done
cat >"$scratch/bin/ssrequest" <<END
#!/bin/bash
echo "ssrequest \$*" >>"$scratch/calls"
begin=\$EPOCHREALTIME
url=\${*: -1} record='' rate=null capacity=''
[ ! -e "$scratch/dead" ] || [[ " \$* " = *" --record "* ]] || { echo "failed   1 connection_refused" && exit 1; }
succeeded=9
[ ! -e "$scratch/fails" ] || succeeded=0
[ ! -e "$scratch/refused" ] || { echo "ssrequest: no such option" >&2 && exit 125; }
while [ \$# -gt 1 ]; do
    case \$1 in
    --record) record=\$2 ;;
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
echo epoch_seconds >"\$record/requests.csv"
cat >"\$record/requests.json" <<JSON
{
    "program": "ssrequest", "targets": ["\$url", "a \"quoted\" one"], "arrival": "poisson",
    "begin_epoch_seconds": \$begin, "end_epoch_seconds": \$EPOCHREALTIME,
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
cat >"$scratch/bin/ssburn" <<END
#!/bin/bash
echo "ssburn \$*" >>"$scratch/calls"
[ ! -e "$scratch/no-service" ] || { echo "ssburn: no memory" >&2 && exit 125; }
echo \$\$ >"$scratch/service"
printf '# work 12345\nlistening on http://127.0.0.1:1/\n'
trap 'exit 0' TERM
while :; do
    read -rt 0.1 <> <(:) || true
done
END
cat >"$scratch/bin/ssreport" <<END
#!/bin/bash
mkdir -p "\$3"
cat >"\$3/findings.csv" <<CSV
kind,scope,of,sentence,set
rate,all,requests,"serve: keeps up, with 5.",1
stopping,all,requests,"serve: a duty of 50 % adds 0.0 ms, of 18 requests.",1
CSV
END
chmod +x "$scratch/bin/"*
few=(--duties '100%,50%' --rates '5,10' --demands none --warmup 1s --seconds 2s)

# calls PATTERN: prints the number of matching calls.
calls() {
    grep -Ec -- "$1" "$scratch/calls" || true
}

options_and_their_values_are_checked() {
    local option
    experiment latency --help
    prints "Usage: tools/experiments/latency .*"
    ! grep -E 'default *(;|$)' "$output" || fail "empty default in --help"
    while read -r option; do
        call latency "--$option" 1 --dry-run || call latency "--$option" --dry-run || true
        ! grep -q "unknown option" "$output" || fail "--$option is unknown"
    done < <(sed -nE 's/^  --([a-z-]+) .*/\1/p' "$output")
    refuses "--sedonds: unknown option" latency --sedonds 3
    refuses "--rounds requires a value" latency --rounds
    refuses "--service: apache: serve, mediawiki or a URL is wanted" latency --service apache
    refuses "--rates: how many requests a second?" latency --service http://localhost/
    refuses "--rates: 0: requests per second are wanted" latency --rates 0
    refuses "--rates or --steps, not both" latency --rates 5 --steps 140:5:2s
    refuses "--seconds has no effect with --steps" latency --steps 140:5:2s --seconds 9
    refuses "--cap: 0: at least 1 is wanted" latency --cap 0
    refuses "--workers: 0: at least 1 is wanted" latency --workers 0
    refuses "--own-cpu: CPU 5000 is not available" latency --own-cpu 5000
    refuses "--steps: 140:0:2s: MAX:STEP:TIME is wanted" latency --steps 140:0:2s
    refuses "latency: --steps: '2x' has an unknown unit" latency --steps 140:5:2x
    refuses "without --attach" latency --service http://localhost/ --rates 5
    refuses "--attach is for a URL only" latency --attach 12
    refuses "--attach: 1,x: pids are wanted" latency --service http://localhost/ --rates 5 --attach 1,x
    refuses "--on, --workers: for a service" latency --service http://localhost/ --rates 5 --duties 100% --on 0
    refuses "--wiki is for mediawiki only" latency --wiki x
    refuses "--duties: '140%'" latency --duties 140%
    refuses "--demands: p95: not of the form" latency --demands p95
    refuses "--arrival: odd: not one of" latency --arrival odd
    refuses "latency: --tau: '7x' has an unknown unit" latency --tau 7x
    refuses "--seconds: 0: a time above 0 is required" latency --seconds 0
    refuses "no command is wanted" latency -- true
    [ ! -e "$scratch/calls" ] || fail "started a program"
    [ ! -e "$results" ] || fail "a folder was created"
}

dry_run_prints_the_plan_and_its_duration() {
    experiment latency --dry-run
    prints "serve-d100-r10-1: 1 min 08 s"
    prints "serve-d25-p95-1s-1: 5 min 00 s"
    prints "40 runs, 1 h 00 min to go"
    experiment latency --dry-run --steps 140:5:2s --duties 1/2 --demands none
    prints "serve-d50-steps-1: 59 s"
    experiment latency --dry-run --service mediawiki --quick
    prints "mediawiki-d50-r6-1: 12 s"
    prints "6 runs, 1 min 12 s to go"
    experiment latency --dry-run --service http://localhost/ --rates 7.5 --duties 100 --rounds 2 --demands none
    prints "url-d100-r7.5-2: 1 min 08 s"
    [ ! -e "$results" ] || fail "--dry-run created a folder"
}

# target_of RUN: prints the duty in its record.
is_stopped() {
    local share
    share=$(sed -n 's/^ *"duty_mean": *\([0-9.]*\).*/\1/p' "$results/runs/$1/service/summary.json")
    awk -v share="$share" -v low="$2" -v high="$3" 'BEGIN { exit !(share >= low && share <= high) }' ||
        fail "$1: wrong duty: $share"
}

requests_are_joined_with_records() {
    local run
    experiment latency "${few[@]}"
    for run in serve-d{100,50}-r{5,10}-1; do
        [ -s "$results/runs/$run/requests/requests.csv" ] || fail "$run: requests.csv is missing"
        [ -s "$results/runs/$run/service/summary.json" ] || fail "$run: the record is missing"
        grep -q '"ended_by": "signal"' "$results/runs/$run/service/summary.json" || fail "$run: the service was not ended by a signal"
    done
    [ "$(manifest latency-results role | tr ' ' '\n' | sort | uniq -c | xargs)" = "4 requests 4 service" ] ||
        fail "wrong roles: $(manifest latency-results role)"
    [ "$(manifest latency-results status | tr ' ' '\n' | sort -u)" = "done" ] || fail "manifest: wrong status"
    [ "$(manifest latency-results group | tr ' ' '\n' | sort -u | wc -l)" -eq 4 ] || fail "manifest: wrong groups"
    [ "$(manifest latency-results run | tr ' ' '\n' | head -n 2 | paste -sd ' ')" = "$(:
        )runs/serve-d100-r5-1/requests runs/serve-d100-r5-1/service" ] || fail "manifest: wrong runs"
    [ "$(manifest latency-results method | tr ' ' '\n' | sort | uniq -c | xargs)" = "4 1cdc 4 uncontrolled" ] ||
        fail "wrong methods: $(manifest latency-results method)"
    is_stopped serve-d100-r5-1 0.8 1
    is_stopped serve-d50-r5-1 0.2 0.8
    # Work is calibrated once, and each run sends warm-up requests before the counted ones.
    [ "$(calls '^ssburn serve .*--work 10m$')" -eq 1 ] || fail "calibrated more than once"
    [ "$(calls '^ssburn serve .*--units 12345$')" -eq 3 ] || fail "the calibration was not used"
    [ "$(calls '^ssrequest .*--rate 5 --duration 1s .* http://127.0.0.1:1/$')" -eq 2 ] || fail "wrong warm-up requests"
    [ "$(calls '^ssrequest .*--rate 5 --duration 2s --record .* --arrival poisson --seed 2 --cap 1000 .* --timeout 10s ')" -eq 2 ] ||
        fail "wrong requests"
    grep -qE '^serve,0\.5,10,1,poisson,10,10,0,0,9,1,0\.9,9\.5,0\.0007,0\.02,0\.01,0\.05,,,0\.015,0\.01,,,,0\.03,[0-9.e-]+$' \
        "$results/table.csv" || fail "$(cat "$results/table.csv")"
    prints 'serve: a duty of 50 % adds 0\.0 ms, of 18 requests\.'
    ! grep -q 'keeps up' "$output" || fail "unexpected finding: $(cat "$output")"
    prints '\| serve \| 50 \| 10 \| .* \| 20\.0 \| 10\.0 \| 50\.0 \| - \| 15\.0 \| 0\.70 \|'
}

a_capacity_search_is_tabulated() {
    experiment latency --duties 100% --rates 5 --demands p95=1s,mean=500m --warmup 0 --seconds 1
    [ "$(sed 1d "$results/capacity.csv" | sort | paste -sd ' ')" = "serve,1,mean=500m,1,40,41.5,3,3 $(:
        )serve,1,p95=1s,1,40,41.5,3,3" ] || fail "$(cat "$results/capacity.csv")"
    prints '\| serve \| 100 \| p95=1s \| 40 \| 41\.5 \|'
    # The duration of a run at one rate applies neither to a search nor to steps.
    [ "$(manifest latency-results seconds | tr ' ' '\n' | sort -u | paste -sd ,)" = ,1 ] || fail "manifest: wrong seconds"
    experiment latency --duties 100% --steps 3:1:2s --demands none --output steps
    [ "$(manifest steps seconds) $(manifest steps warmup_seconds)" = "6 6 0 " ] || fail "manifest: wrong times of steps"
    [ "$(wc -l <"$results/table.csv")" -eq 2 ] || fail "a search is listed as a rate"
}

# start_latency OPTION...: sets `pid`.
start_latency() {
    : >"$scratch/waits"
    (cd "$scratch" && exec "$experiments/latency" "${options[@]}" "$@") >"$output" 2>&1 &
    pid=$!
}

is_gone() {
    ! kill -0 "$1" 2>/dev/null
}

interrupted_study_continues() {
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
    await nothing_lies
    call latency "${few[@]}" --duties 50% --rates 5,20 || fail "status $?"
    [ "$(wc -l <"$scratch/asked")" -eq 1 ] || fail "expected one run, got $(wc -l <"$scratch/asked")"
    [ -d "$results/runs/serve-d50-r20-1" ] || fail "the completed run is missing"
    refuses "holds runs made in another way" latency "${few[@]}" --duties 50% --rates 5 --cap 7
}

nothing_lies() {
    [ -z "$(ls "$scratch/ram")" ]
}

failures_are_reported() {
    touch "$scratch/refused"
    refuses "failed with status 125 (requests); " latency "${few[@]}"
    grep -q "ssrequest: no such option" "$output" || fail "the error of ssrequest is missing"
    rm "$scratch/refused"
    touch "$scratch/no-service"
    refuses "(service); " latency "${few[@]}"
    grep -q "ssburn: no memory" "$output" || fail "the error of ssburn is missing"
    rm "$scratch/no-service"
    touch "$scratch/service-dies"
    refuses "failed with status 1 (service)" latency "${few[@]}" --duties 100%
    nothing_is_left
}

# The experiment reads the service's output before the service has written any.
the_study_waits_for_a_slow_service() {
    LD_PRELOAD=$build/tests/liblate_file.so SS_TEST_LATE=service.out \
        ASAN_OPTIONS=verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS} \
        experiment latency "${few[@]}" --duties 100% --rates 5
    ! grep -q 'service\.out' "$output" || fail "service.out was read before it existed"
}

# A service that does not answer makes the study fail.
a_service_that_does_not_answer_is_reported() {
    local call=(latency "${few[@]}" --service http://127.0.0.1:2/ --duties 100%)
    touch "$scratch/dead"
    refuses "latency: --service: http://127.0.0.1:2/: a request fails: connection_refused" "${call[@]}"
    [ "$(wc -l <"$output")" -eq 1 ] || fail "expected one line"
    [ ! -e "$results" ] || fail "a folder was created"
    experiment "${call[@]}" --dry-run
    rm "$scratch/dead"
    # The service dies later.
    touch "$scratch/fails"
    refuses "url-d100-r5-1: failed: no request succeeded: 9 connection_refused, 1 status (requests)" "${call[@]}" --go-on
    grep -q "latency: 2 runs failed" "$output" || fail "wrong number of failed runs"
    [ "$(manifest latency-results status)" = "failed failed" ] || fail "manifest: wrong status"
    [ "$(wc -l <"$results/table.csv")" -eq 1 ] || fail "figures of failed runs: $(cat "$results/table.csv")"
    rm "$scratch/fails"
    experiment "${call[@]}"
    [ "$(manifest latency-results status)" = "done done" ] || fail "manifest: the repeated runs are not done"
}

# A service that already runs is throttled, and keeps running afterwards.
a_service_given_by_url_can_be_throttled() {
    experiment latency "${few[@]}" --service http://127.0.0.1:2/ --duties 100% --rates 5
    [ "$(wc -l <"$results/runs/url-d100-r5-1/requests/beside.csv")" -gt 1 ] || fail "no samples of the load"
    [ "$(manifest latency-results role)" = requests ] || fail "wrong roles"
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

run_case options_and_their_values_are_checked
run_case dry_run_prints_the_plan_and_its_duration
run_case requests_are_joined_with_records
run_case a_capacity_search_is_tabulated
run_case interrupted_study_continues
run_case failures_are_reported
run_case a_service_that_does_not_answer_is_reported
run_case the_study_waits_for_a_slow_service
run_case a_service_given_by_url_can_be_throttled
end_cases
