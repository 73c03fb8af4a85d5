#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reports runs that are real, or simulated, with all programs that take part; tests/python has all other tests of
# reports.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
folder=$scratch

need_built reports

# report STATUS ARGUMENT...: fails unless ssreport exits with this status; writes to `out` and `err` in $folder.
report() {
    local wanted=$1 status=0
    shift
    "$bin/ssreport" "$@" >"$folder/out" 2>"$folder/err" || status=$?
    [ "$status" -eq "$wanted" ] || fail "ssreport $*: expected status $wanted, got $status: $(cat "$folder/err")"
}

# value FILE ROW COLUMN: prints a cell of a table without quotes.
value() {
    awk -F, -v row="$2" -v name="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        NR == row + 1 { print $column }' "$folder/report/$1"
}

# same FILE COLUMN NAME: fails unless a figure of the report equals that in summary.json.
same() {
    awk -v ours="$(value "$1" 1 "$2")" -v name="\"$3\":" '
        $1 == name && !found { sub(/,$/, "", $2); found = 1; theirs = $2 }
        END {
            if (theirs == "[") exit ours == ""
            off = ours - theirs; size = theirs < 0 ? -theirs : theirs
            exit !found || (ours == "") != (theirs == "null") || off * off > (1e-4 * (1 + size)) ^ 2
        }' "$folder/paused/summary.json" ||
        fail "$3: the report has '$(value "$1" 1 "$2")': $(cat "$folder/paused/summary.json")"
}

# is_in_state STATE PID
is_in_state() {
    [ "$(sed 's/.*) //; s/ .*//' "/proc/$2/stat")" = "$1" ]
}

# is_counting PID: succeeds if the run has begun to count; fails the test if the run has ended.
is_counting() {
    grep -qs '"event":"counting"' "$folder/paused/events.jsonl" && return
    kill -0 "$1" || fail "the run to pause ended early"
    return 1
}

# A run with a warm-up and a pause, and one interval of throughput: summary, report and record have the same figures.
figures_of_a_paused_run_agree_in_all_files() { # case
    local name mean times paused
    # A separate job, because the kernel does not stop orphaned process groups, and this script's may be one.
    set -m
    "$bin/showstopper" -q -n 2 -c fixed -l 40% --warmup 1s --duration 8s --iteration iteration \
        --record "$folder/paused" "$bin/ssburn" serial --work 300000 >/dev/null 2>&1 &
    paused=$!
    set +m
    await is_counting "$paused"
    kill -TSTP "$paused"
    # SIGCONT would discard a pending SIGTSTP.
    await is_in_state T "$paused"
    sleep 1
    kill -CONT "$paused"
    wait "$paused" || fail "the paused run: status $?"
    grep -q '"event":"continued"' "$folder/paused/events.jsonl" || fail "no pause was recorded"
    report 0 -q -o "$folder/report" "$folder/paused"
    for name in instances cpu_count duration_seconds samples target_mean load_mean error_mean_percent \
        error_mse_e4 error_p95_percent settling_seconds duty_mean switches_per_second iterations \
        own_cpu; do
        same runs.csv "$name" "$name"
    done
    # The summary has this name twice: first for the mean, then for the list of intervals.
    mean=$(awk '$1 == "\"iterations_per_second\":" { sub(/,$/, "", $2); print $2; exit }' \
        "$folder/paused/summary.json")
    awk -v a="$(value runs.csv 1 iterations_per_second)" -v b="$mean" \
        'BEGIN { exit !(b > 0 && (a - b) ^ 2 < (1e-4 * b) ^ 2) }' || fail "throughput: $mean in the summary"
    same runs.csv wake_lateness_p99_us p99
    # The record has these times in microseconds.
    times=$(sed -n '/"iteration_seconds": {/,/}/p' "$folder/paused/summary.json" | head -n 7)
    for name in mean deviation median p95 p99; do
        awk -v ours="$(value runs.csv 1 "iteration_seconds_$name")" -v name="\"$name\":" '
            $1 == name { sub(/,$/, "", $2); exit !($2 > 0 && (ours - $2) ^ 2 < (1e-3 * $2) ^ 2) }' \
            <<<"$times" || fail "wrong $name of iteration times: $(value runs.csv 1 "iteration_seconds_$name"): $times"
    done
    # The figures can be computed from the record.
    awk -F, -v samples="$(value runs.csv 1 samples)" -v error="$(value runs.csv 1 error_mean_percent)" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR > 1 && $column["counted"] { count++; sum += 100 * $column["error"] }
        END { exit !(count == samples && (sum / count - error) ^ 2 < 1e-8) }' \
        "$folder/paused/samples.csv" || fail "wrong samples.csv: $(cat "$folder/paused/samples.csv")"
}

# Records contain their schema; readers refuse a later one and say what to do.
records_of_later_schemas_are_refused() { # case
    local refusal
    record_a_short_run
    grep -q '^  "schema": 2,$' "$folder/run/plan.json" || fail "no schema in the plan: $(cat "$folder/run/plan.json")"
    grep -q '^  "schema": 2,$' "$folder/run/summary.json" || fail "no schema in the summary"
    sed -i -e 's/"schema": 2/"schema": 3/' -e 's/"version": "[^"]*"/"version": "9.8.7"/' "$folder/run/plan.json"
    refusal='the record has schema 3, .* reads schemas up to 2: use version 9\.8\.7, which wrote it, or a later one$'
    report 125 "$folder/run"
    [ "$(grep -c "^ssreport: .*run: $refusal" "$folder/err")" -eq 1 ] || fail "wrong message: $(cat "$folder/err")"
    if [ -x "$bin/../libexec/showstopper/showstopper-replay" ]; then
        ! "$bin/showstopper" --replay "$folder/run" >"$folder/out" 2>"$folder/err" || fail "replayed a record of a later schema"
        grep -q "$folder/run: $refusal" "$folder/err" || fail "$(cat "$folder/err")"
    fi
}

# record_a_short_run: without feedback, so that the instances run even on a busy machine.
record_a_short_run() {
    rm -rf "$folder/run"
    "$bin/showstopper" -q -n 2 -c fixed -l 30% --duration 1s --iteration iteration \
        --record "$folder/run" "$bin/ssburn" serial --work 300000 >/dev/null 2>&1 ||
        fail "the recorded run failed"
}

has_samples() {
    [ -e "$folder/running/samples.csv" ] && [ "$(wc -l <"$folder/running/samples.csv")" -gt 3 ]
}

a_run_in_progress_is_not_called_interrupted() { # case
    local run
    "$bin/showstopper" -q -n 1 -l 20% -f own --duration 5M --record "$folder/running" "$bin/ssburn" serial >/dev/null 2>&1 &
    run=$!
    await has_samples
    report 0 -o "$folder/report" "$folder/running"
    [ "$(value runs.csv 1 state)" = running ] || fail "expected state 'running', got $(value runs.csv 1 state)"
    grep -q 'the run is in progress' "$folder/err" || fail "the running record is not mentioned: $(cat "$folder/err")"
    ! grep -q interrupted "$folder/out" "$folder/err" || fail "the running record is called interrupted"
    kill -KILL "$run"
    wait "$run" 2>/dev/null || true
    mkdir "$folder/empty"
    printf '2026-11-20T10:00:00.000Z,9' >>"$folder/running/samples.csv"
    report 0 -o "$folder/report" "$folder/running" "$folder/empty"
    [ "$(value runs.csv 1 state)" = interrupted ] || fail "wrong state of the killed run: $(value runs.csv 1 state)"
    [ "$(value runs.csv 2 state)" = "not reported" ] || fail "wrong state of the empty record"
    [ "$(grep -c '^ssreport: .*/empty: ' "$folder/err")" -eq 1 ] || fail "expected one message about the empty record"
    grep -q '^ssreport: .*/running: .*interrupted: .*samples.csv:[0-9]*: damaged row' "$folder/err" ||
        fail "no message about the interrupted record: $(cat "$folder/err")"
}

files_of_requests_have_verdicts() { # case
    cd "$folder"
    "$bin/sssim" queue --rate 50 --work 1m -d 10s --json >good.json || fail "sssim: status $?"
    "$bin/sssim" queue --rate 200 --work 10m -d 10s --cap 1 --when-full drop --json >dropped.json || fail "sssim: status $?"
    report 0 --check good.json
    grep -q '^good.json: valid: nothing found in [0-9]* checks$' out || fail "not valid: $(cat out)"
    report 3 --check good.json "$PWD/dropped.json"
    grep -q '/dropped.json: invalid: requests dropped, never sent or unfinished [0-9.]* % (invalid above 10)' out ||
        fail "not invalid: $(cat out)"
    report 0 -o report good.json
    [ "$(value requests.csv 1 sent)" = 500 ] || fail "wrong number of requests: $(cat report/requests.csv)"
    cd - >/dev/null
}

# `head` closes its end of the pipe: as other programs do, ssreport ends by the signal, without a message.
closed_pipe_ends_the_program() { # case
    record_a_short_run
    : >"$folder/err"
    { "$bin/ssreport" --table runs "$folder/run" 2>"$folder/err" || echo $? >"$folder/status"; } | true
    [ ! -e "$folder/status" ] || [ "$(<"$folder/status")" -eq 141 ] || fail "status $(<"$folder/status")"
    ! grep -E 'Traceback|Broken pipe' "$folder/err" || fail "a closed pipe is an error"
}

run_cases
