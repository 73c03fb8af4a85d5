#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records and reports runs, and checks output, files and exit status.
# Arguments: the build folder, and one case to run (default: all).
# shellcheck disable=SC2317 # cases are called by their names
set -euo pipefail

# shellcheck source=skip.sh
. "$(dirname "$0")/skip.sh"
# shellcheck source=pages.sh
. "$(dirname "$0")/pages.sh"
# shellcheck source=cases.sh
. "$(dirname "$0")/cases.sh"
bin=$1/bin
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

[ -x "$bin/ssreport" ] || skip "left-out: built without ssreport"

# report STATUS ARGUMENT...: fails unless ssreport exits with this status; writes to `out` and `err` in $folder.
report() {
    local wanted=$1 status=0
    shift
    "$bin/ssreport" "$@" >"$folder/out" 2>"$folder/err" || status=$?
    [ "$status" -eq "$wanted" ] || fail "ssreport $*: expected status $wanted, got $status: $(cat "$folder/err")"
}

# error_has COUNT TEXT: fails unless there are COUNT messages, one of them with TEXT; messages caused by a slow machine
# do not count.
error_has() {
    local slow='warning: ([0-9]* samples? of the load (was|were) lost: |the throughput is uncertain: |no iteration ended |no line of output matched|the hypervisor took )|iterations ended in bursts|itself used |intervals are left out of the fit of throughput'
    [ "$(grep -Evc "$slow" "$folder/err")" -eq "$1" ] || fail "expected $1 messages: $(cat "$folder/err")"
    ! grep -qv '^ssreport: ' "$folder/err" || fail "message without the program's name:: $(cat "$folder/err")"
    grep -qF -- "$2" "$folder/err" || fail "no '$2' in: $(cat "$folder/err")"
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
figures_of_a_paused_run_agree_in_all_files() {
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

# read_as_before EXPECTED RECORD...: fails unless ssreport makes the same tables as when the records were new.
read_as_before() {
    local expected=$1 table
    shift
    rm -rf made
    "$bin/ssreport" -q -o made "$@" 2>/dev/null || fail "$*: status $?"
    [ "$(cd made && echo *.csv)" = "$(cd "$expected" && echo *.csv)" ] || fail "$*: unexpected tables: $(ls made)"
    for table in "$expected"/*.csv; do
        diff "$table" "made/${table##*/}" >differences || fail "$*: ${table##*/}: $(cat differences)"
    done
}

# The records get the current version, because ssreport would mention a different one.
records_of_earlier_schemas_keep_their_tables() {
    local data version
    data=$(cd "$(dirname "$0")/../data/records" && pwd)
    version=$("$bin/ssreport" --version | cut -d ' ' -f 2)
    rm -rf "$folder/before"
    cp -r "$data/schema-1" "$folder/before"
    cd "$folder/before"
    find . -type f -exec sed -i "s/0\.1\.0/$version/" {} +
    ! grep -q '"schema"' run/plan.json requests/requests.json || fail "the old records contain a schema"
    read_as_before report run requests
    cp -r requests requests-bare
    rm requests-bare/response-times.csv
    read_as_before report-bare requests-bare
    grep -q ,estimated, made/requests-rates.csv || fail "estimated percentiles are not marked: $(cat made/requests-rates.csv)"
    cd - >/dev/null
}

# Records contain their schema; readers refuse a later one and say what to do.
records_of_later_schemas_are_refused() {
    local refusal record
    record_a_short_run
    rm -rf "$folder/requests"
    cp -r "$(dirname "$0")/../data/records/schema-1/requests" "$folder/requests"
    grep -q '^  "schema": 2,$' "$folder/run/plan.json" || fail "no schema in the plan: $(cat "$folder/run/plan.json")"
    grep -q '^  "schema": 2,$' "$folder/run/summary.json" || fail "no schema in the summary"
    sed -i -e 's/"schema": 2/"schema": 3/' -e 's/"version": "[^"]*"/"version": "9.8.7"/' "$folder/run/plan.json"
    sed -i -e 's/"version": "[^"]*"/"schema": 3, "version": "9.8.7"/' "$folder/requests/requests.json"
    refusal='the record has schema 3, .* reads schemas up to 2: use version 9\.8\.7, which wrote it, or a later one$'
    for record in run requests; do
        report 125 "$folder/$record"
        [ "$(grep -c "^ssreport: .*$record: $refusal" "$folder/err")" -eq 1 ] ||
            fail "$record: wrong message: $(cat "$folder/err")"
    done
    if [ -x "$bin/../libexec/showstopper/showstopper-replay" ]; then
        ! "$bin/showstopper" --replay "$folder/run" >"$folder/out" 2>"$folder/err" || fail "replayed a record of a later schema"
        grep -q "$folder/run: $refusal" "$folder/err" || fail "$(cat "$folder/err")"
    fi
}

# Without feedback, so that the instances run even on a busy machine.
record_a_run() {
    rm -rf "$folder/run"
    "$bin/showstopper" -q -n 2 -c fixed -t staircase -T 40%:20%:20%,hold=6s,symmetric=yes \
        --iteration iteration --record "$folder/run" "$bin/ssburn" serial --work 300000 >/dev/null 2>&1 ||
        fail "the recorded run failed"
}

# record_a_short_run: like record_a_run, with the shortest duration.
record_a_short_run() {
    rm -rf "$folder/run"
    "$bin/showstopper" -q -n 2 -c fixed -l 30% --duration 1s --iteration iteration \
        --record "$folder/run" "$bin/ssburn" serial --work 300000 >/dev/null 2>&1 ||
        fail "the recorded run failed"
}

has_samples() {
    [ "$(wc -l 2>/dev/null <"$folder/running/samples.csv")" -gt 3 ]
}

a_run_in_progress_is_not_called_interrupted() {
    local run
    "$bin/showstopper" -q -n 1 -l 20% -f own --duration 5M --record "$folder/running" "$bin/ssburn" serial >/dev/null 2>&1 &
    run=$!
    await has_samples
    report 0 -o "$folder/report" "$folder/running"
    [ "$(value runs.csv 1 state)" = running ] || fail "expected state 'running', got $(value runs.csv 1 state)"
    grep -qx '+ still running' "$folder/out" || fail "the running record is not mentioned: $(cat "$folder/out")"
    ! grep -q interrupted "$folder/out" "$folder/err" || fail "the running record is called interrupted"
    kill -KILL "$run"
    wait "$run" 2>/dev/null || true
    report 0 -o "$folder/report" "$folder/running"
    [ "$(value runs.csv 1 state)" = interrupted ] || fail "wrong state of the killed run: $(value runs.csv 1 state)"
}

complete_and_interrupted_runs_are_reported() {
    local name step
    record_a_run
    mkdir -p "$folder/empty"
    cp -r "$folder/run" "$folder/cut"
    rm "$folder/cut/summary.json"
    printf '2026-11-20T10:00:00.000Z,9' >>"$folder/cut/samples.csv"

    report 0 --edge 300m -o "$folder/report" "$folder/run" "$folder/empty" "$folder/cut"
    [ "$(grep -c '^ssreport: .*/empty: ' "$folder/err")" -eq 1 ] || fail "expected one message about the empty record"
    grep -q '^ssreport: .*/cut: .*interrupted: .*the last line has no newline' "$folder/err" ||
        fail "no message about the interrupted record: $(cat "$folder/err")"
    awk 'length > 80 { exit 1 }' "$folder/out" || fail "wider than 80 columns: $(cat "$folder/out")"
    grep -q '^steps of ' "$folder/out" || fail "no table of steps: $(cat "$folder/out")"

    # The run's own summary has the same figures.
    for name in samples target_mean load_mean error_mean_percent error_mse_e4 error_p95_percent; do
        awk -v ours="$(value runs.csv 1 "$name")" -v name="\"$name\":" '
            $1 == name { sub(/,$/, "", $2); found = 1; off = ours - $2 }
            END { exit !found || off > 0.01 || off < -0.01 }' "$folder/run/summary.json" ||
            fail "$name is $(value runs.csv 1 "$name") and differs from summary.json"
    done
    [ "$(value runs.csv 1 state)" = whole ] || fail "wrong state of the complete record"
    [ "$(value runs.csv 2 state)" = interrupted ] || fail "wrong state of the interrupted record"
    [ "$(value runs.csv 3 state)" = "not reported" ] || fail "wrong state of the empty record"

    # The staircase is 40, 20, 20, 40 %: the lowest level is held twice.
    [ "$(grep -c '/run,' "$folder/report/steps.csv")" -eq 4 ] ||
        fail "wrong steps: $(cat "$folder/report/steps.csv")"
    for step in 1 2 3 4; do
        [ "$(value steps.csv "$step" half)" -eq $(((step + 1) / 2)) ] || fail "wrong half of step $step"
        awk -v rate="$(value steps.csv "$step" iterations_per_second)" 'BEGIN { exit !(rate >= 0) }' ||
            fail "wrong throughput of step $step"
    done

    is_well_formed "$folder/report/report.html" || fail "the page is not well-formed"
    ! grep -Eq '(src|href)=["'\'']?https?:|<script|@import' "$folder/report/report.html" ||
        fail "the page refers to external resources"
    if command -v gnuplot >/dev/null; then
        [ "$(grep -c '</svg>' "$folder/report/report.html")" -ge 6 ] || fail "pictures are missing"
        [ -z "$(grep -o " id=['\"][^'\"]*['\"]" "$folder/report/report.html" | sort | uniq -d)" ] ||
            fail "duplicate id on the page"
    else
        skip_part "gnuplot: not installed"
    fi

    grep -q '<figcaption>Duty of each instance over time</figcaption>' "$folder/report/report.html" ||
        ! command -v gnuplot >/dev/null || fail "no picture of duty over time"
    grep -q '^energy: no power was recorded$' "$folder/out" || fail "missing power is not reported"

    # A table without rows is not written, and the file of an earlier report is removed.
    mkdir "$folder/rows"
    echo old >"$folder/rows/replay.csv"
    report 0 -q -o "$folder/rows" "$folder/run"
    rm -f "$folder/rows/findings.csv" # missing if other processes disturbed the run
    [ "$(cd "$folder/rows" && echo *.csv)" = \
        "energy.csv fits.csv runs.csv steps.csv verdicts.csv" ] ||
        fail "wrong list of tables: $(ls "$folder/rows")"
    grep -q '<p><small>Tables next to this page: .*, steps\.csv, ' "$folder/rows/report.html" ||
        fail "steps.csv is written and is not named"
    ! grep -q 'replay\.csv' "$folder/rows/report.html" || fail "replay.csv is not written, but named"
    is_well_formed "$folder/rows/report.html" || fail "the page of few tables is not well-formed"

    # A run compared with itself does not differ.
    report 0 --edge 300m -o "$folder/report" "$folder/run" --against "$folder/run"
    for name in ratio_min ratio_median ratio_max; do
        [ "$(value comparison.csv 1 "$name")" = 1 ] || fail "ratio of $name is not 1: $(cat "$folder/report/comparison.csv")"
    done
}

# Any two points are on a line, so no line is fitted to two steps.
no_line_is_fitted_to_only_two_steps() {
    printf '0 30%%\n3s 30%%\n3s 60%%\n6s 60%%\n' >"$folder/trace"
    "$bin/showstopper" -q -n 2 -c fixed -t file -T "path=$folder/trace,loop=no" --iteration iteration \
        --record "$folder/two" "$bin/ssburn" serial --work 3000000 >/dev/null 2>&1 ||
        fail "the run of two steps failed"
    report 0 -o "$folder/pair" "$folder/two"
    grep -q '^least squares: no fit: there are only two points$' "$folder/out" || fail "a line was fitted to two points: $(cat "$folder/out")"
    ! grep -q 'R^2' "$folder/out" || fail "R^2 printed for two points: $(cat "$folder/out")"
    grep -q ',steps,2,,,,,,,,no fit: there are only two points$' "$folder/pair/fits.csv" ||
        fail "wrong fits.csv: $(cat "$folder/pair/fits.csv")"
}

# An experiment with published figures, which ssreport finds by itself, power, and a foreground that died.
an_experiment_is_reported_with_published_figures() {
    local name experiment
    record_a_run
    experiment=$folder/experiment
    mkdir "$experiment"
    for name in a b slow fast; do
        cp -r "$folder/run" "$experiment/$name"
    done
    awk -F, 'BEGIN { print "time,elapsed_seconds,watts" }
        NR > 1 && NR % 2 { print $1 "," $2 ",7.5" }' "$folder/run/samples.csv" >"$experiment/a/energy.csv"
    sed -i '2,$d' "$experiment/fast/iterations.csv"
    # shellcheck disable=SC2016
    "$bin/showstopper" -q -n 2 -c fixed -l 50% --duration 4s --record "$experiment/front" \
        sh -c '[ $0 -ne 1 ] || exit 3; exec sleep 9' % >/dev/null 2>&1 &&
        fail "the failed instance did not fail the run"
    cat >"$experiment/manifest.csv" <<'END'
run,experiment,workload,method,role,group,target,tau_seconds,speed,round,energy,reason
a,accuracy,serial,cdc,,,0.5,0.107,,1,command: a constant,
b,accuracy,serial,cdc,,,0.5,0.107,,2,,
slow,replay,blocking,pi-even,,,,0.107,1,1,,
fast,replay,blocking,pi-even,,,,0.107,2,1,,
front,interference,serial,uncontrolled,foreground,1,,,,1,,
,interference,serial,default,background,1,,,,1,,it was killed
END
    report 0 --edge 300m -o "$folder/report" "$experiment"
    awk 'length > 80 { exit 1 }' "$folder/out" || fail "wider than 80 columns: $(cat "$folder/out")"
    [ "$(value constant-load.csv 1 runs)" = 2 ] || fail "the mean does not cover two runs"
    [ "$(value constant-load.csv 1 error_mean_percent_published)" = -0.13 ] || fail "wrong published error"
    [ "$(value constant-load.csv 1 error_mse_e4_published)" = 7.54 ] || fail "wrong published MSE"
    [ "$(value replay.csv 1 error_mse_e4_published_most)" = 3.3 ] || fail "wrong published range"
    [ "$(value replay.csv 1 ratio)" = 1 ] || fail "the original's ratio to itself is not 1"
    [ "$(value replay.csv 2 in_proportion)" = no ] || fail "a replay without iterations is called proportional"
    grep -q '^ssreport: .*/fast: .*the iterations are not in proportion to the time' "$folder/err" ||
        fail "no warning in: $(cat "$folder/err")"
    grep -q '^ssreport: .*/front: .*instance 1 ended after .*the background of group .* is missing' \
        "$folder/err" || fail "no message about the foreground: $(cat "$folder/err")"
    grep -q '^ssreport: .*serial default: it was killed$' "$folder/err" || fail "no message about the run without a record"
    [ "$(value energy.csv 1 covers)" = "command: a constant" ] || fail "wrong source of power"
    [ "$(value energy.csv 1 watts)" = 7.5 ] || fail "wrong mean power"
    [ "$(value energy.csv 2 note)" = "no power was recorded" ] || fail "power listed for a run without power samples"
    [ "$(grep -c '/a,' "$folder/report/energy-steps.csv")" -eq 4 ] || fail "wrong number of rows in energy-steps.csv"
    grep -q '^power covers command: a constant$' "$folder/out" || fail "the source of power is not printed: $(cat "$folder/out")"
    is_well_formed "$folder/report/report.html" || fail "the page of an experiment is not well-formed"
    mkdir "$folder/published"
    cp "$bin/../share/showstopper/experiments/published/"{references,names}.csv "$folder/published"
    printf 'workload,target_percent,cdc\ndacapo/fop,50,1.5\n' >"$folder/published/constant-load-mse.csv"
    report 0 -o "$folder/report" --published "$folder/published" "$experiment"
    [ "$(value constant-load.csv 1 error_mse_e4_published)" = 1.5 ] || fail "--published has no effect"
    grep -q '^ssreport: published figures: constant-load-mean-error.csv: No such file' "$folder/err" ||
        fail "missing files are not reported: $(cat "$folder/err")"
    report 0 -q --published "$folder/none" "$experiment"
    grep -q '^ssreport: no published figures: .*/none: No such file' "$folder/err" ||
        fail "the missing folder is not reported: $(cat "$folder/err")"
    report 0 -q --deviation 100% "$experiment"
    ! grep -q 'not in proportion' "$folder/err" || fail "--deviation has no effect"
}

# made_record FOLDER RATES [TARGETS [SECONDS]]: writes a record with these iterations per second and targets, which are
# held exactly, in steps of 10 s or SECONDS. Both lists are separated by blanks.
made_record() {
    mkdir -p "$1"
    cat >"$1/plan.json" <<END
{"version": "$("$bin/ssreport" --version | cut -d' ' -f2)", "command": ["made", "up"], "instances": 2, "cpu_count": 2}
END
    echo '{"ended_by": "duration", "iterations": 100, "warnings": []}' >"$1/summary.json"
    echo '{"time":"","elapsed_seconds":0.000000,"event":"counting"}' >"$1/events.jsonl"
    echo time,elapsed_seconds,executor,state,planned_seconds,real_seconds >"$1/decisions.csv"
    awk -v rates="$2" -v targets="${3:-0.6 0.3 0.3 0.6}" -v seconds="${4:-10}" -v folder="$1" 'BEGIN {
        count = split(rates, rate, " ")
        split(targets, target, " ")
        print "time,elapsed_seconds,target,load,duty,counted" >(folder "/samples.csv")
        print "instance,start,end" >(folder "/iterations.csv")
        for (i = 1; i <= count; i++) {
            for (j = 0.5; j <= seconds; j += 0.5) {
                at = seconds * (i - 1) + j
                printf "2026-11-20T10:%02d:%04.1fZ,%.6f,%.6f,%.6f,0.5,1\n", int(at / 60), at % 60, at,
                    target[i], target[i] >(folder "/samples.csv")
            }
            for (j = 0; j < seconds * rate[i]; j++)
                printf "0,%.9f,%.9f\n", seconds * (i - 1) + j / rate[i],
                    seconds * (i - 1) + (j + 1) / rate[i] >(folder "/iterations.csv")
        }
    }'
}

# made_pair SET NAME ENVIRONMENT PLACEMENT FOREGROUND BACKGROUND ROUND RATES
made_pair() {
    made_record "$folder/$1/$2/foreground" "$8"
    made_record "$folder/$1/$2/background" "9 9 9 9"
    [ -e "$folder/$1/manifest.csv" ] ||
        echo run,experiment,workload,method,placement,role,group,round,environment >"$folder/$1/manifest.csv"
    echo "$2/foreground,interference,$5,uncontrolled,$4,foreground,$2,$7,$3" >>"$folder/$1/manifest.csv"
    echo "$2/background,interference,$6,default,$4,background,$2,$7,$3" >>"$folder/$1/manifest.csv"
}

# write_run STUDY NAME STATUS COLUMNS COMMANDS [SCHEMA]: writes run.json as ssbatch does; COLUMNS and COMMANDS are JSON.
write_run() {
    mkdir -p "$folder/$1/.study" "$folder/$1/$2"
    touch "$folder/$1/.study/plan"
    cat >"$folder/$1/$2/run.json" <<END
{"schema": ${6:-1}, "name": "$2", "status": "$3", "reason": "$([ "$3" = "done" ] || echo "no CPU 7")",
"columns": {$4}, "commands": [$5], "begin": "2026-11-20T10:00:00Z", "end": "2026-11-20T10:00:10Z",
"seconds": 10, "others": 0.01, "host": "here", "version": "0"}
END
}

# made_run NAME COLUMNS RATE TARGET: writes a run with one command, which has a record.
made_run() {
    made_record "$folder/study/$1/main" "$3" "$4"
    write_run study "$1" "done" "$2" '{"kind": "before", "record": null},
{"kind": "main", "role": null, "columns": {}, "record": "main", "words": ["showstopper"], "status": 0}'
}

# made_study ROUND...: writes the study of the README. Throughput rises with the load, and by 0.1 from round to round.
made_study() {
    local load size round rate
    rm -rf "$folder/study"
    for load in 20 40 60 80 100; do
        for size in small large; do
            for round; do
                rate=$(awk -v load="$load" -v size="$size" -v round="$round" 'BEGIN {
                    print (load / 10 + (round - 2) / 10) * (size == "small" ? 2 : 1) }')
                made_run "$size-$load-$round" \
                    "\"size\": \"$size\", \"load\": \"$load\", \"round\": \"$round\", \"host_of\": \"x\"" \
                    "$rate" "$(awk -v load="$load" 'BEGIN { print load / 100 }')"
            done
        done
    done
}

# study_row PATTERN COLUMNS: prints these columns of the row that begins with PATTERN.
study_row() {
    grep -E "^$1," "$folder/report/study.csv" | cut -d , -f "$2" ||
        fail "no row $1: $(cat "$folder/report/study.csv")"
}

# Computed by hand: three rounds 0.1 apart have a standard deviation of 0.1, so the interval of their mean is 4.30265 *
# 0.1 / sqrt(3) = 0.24841 to either side.
a_study_is_tabulated_by_the_columns_that_differ() {
    made_study 1 2 3
    report 0 -o "$folder/report" "$folder/study"
    [ ! -s "$folder/err" ] || fail "unexpected message: $(cat "$folder/err")"
    [ "$(head -n 1 "$folder/report/study.csv" | cut -d , -f 1-7)" = \
        "size,load,set,rounds,load_mean,iterations_per_second,low" ] ||
        fail "wrong heading: $(cat "$folder/report/study.csv")"
    [ "$(wc -l <"$folder/report/study.csv")" -eq 11 ] || fail "not a row for each size and load"
    awk -F, 'NR > 1 {
            mean = $2 / 10 * ($1 == "small" ? 2 : 1)
            half = 0.248413 * ($1 == "small" ? 2 : 1)
            if (!($4 == 3 && near($5, $2 / 100) && near($6, mean) && near($7, mean - half) && near($8, mean + half)))
                bad = 1
            if ($1 == "small" ? !near($11, 2) || !near($12, 2) || !near($13, 2) : $11 $12 $13 != "")
                bad = 1
        }
        function near(value, expected) {
            return value != "" && value - expected < 1e-3 && expected - value < 1e-3
        }
        END { exit bad }' "$folder/report/study.csv" || fail "wrong figures: $(cat "$folder/report/study.csv")"
    grep -qxF "How does the throughput depend on load, for each size?" "$folder/out" ||
        fail "no question: $(cat "$folder/out")"
    tr '\n' ' ' <"$folder/out" | grep -qF "With size=large it is 2 /s (1.752 to 2.248) at load=20 and 10 /s (9.752 to $(:
        )10.25) at load=100; with size=small it is 4 /s (3.503 to 4.497) at load=20 and 20 /s" ||
        fail "no answer: $(cat "$folder/out")"
    awk 'length > 80 { exit 1 }' "$folder/out" || fail "wider than 80 columns: $(cat "$folder/out")"
    is_well_formed "$folder/report/report.html" || fail "the page is not well-formed"
    grep -q '<h2>Study</h2>' "$folder/report/report.html" || fail "the page has no section for the study"
    # A curve is throughput by load, for one size.
    [ "$(cut -d , -f 1 "$folder/report/fits.csv" | grep -c '^"*all runs: size=')" -eq 2 ] ||
        fail "wrong curves: $(cat "$folder/report/fits.csv")"
    # Numbers are sorted numerically.
    [ "$(cut -d , -f 2 "$folder/report/study.csv" | sed -n 2,6p | paste -sd ' ')" = "20 40 60 80 100" ] ||
        fail "wrong order: $(cat "$folder/report/study.csv")"
    report 0 --table study --format json "$folder/study"
    grep -q '"size": "large"' "$folder/out" || fail "no JSON: $(cat "$folder/out")"
}

# The column that distinguishes the sets is in neither table, and each load has its counterpart.
studies_of_two_sets_are_matched_by_their_columns() {
    made_study 1
    mv "$folder/study" "$folder/before"
    sed -i 's/"host_of": "x"/"host_of": "y"/' "$folder/before"/*/run.json
    made_study 3
    sed -i 's/"round": "3"/"round": "1"/' "$folder/study"/*/run.json
    report 0 -q -o "$folder/report" "$folder/study" --against "$folder/before"
    [ ! -s "$folder/err" ] || fail "unexpected message: $(cat "$folder/err")"
    [ ! -e "$folder/report/unmatched.csv" ] || fail "unmatched: $(cat "$folder/report/unmatched.csv")"
    # Rates are a tenth of the load, so the ratio is (load + 1) / (load - 1).
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR > 1 {
            load = 100 * $column["target"]
            off = $column["ratio"] - (load + 1) / (load - 1)
            if (off * off > 1e-6)
                bad = 1
        }
        END { exit bad || NR != 11 }' "$folder/report/ratios.csv" || fail "$(cat "$folder/report/ratios.csv")"
    [ "$(study_row large,20 3,4,6 | paste -sd ' ')" = "1,1,2.1 2,1,1.9" ] || fail "$(cat "$folder/report/study.csv")"
}

a_single_round_has_no_confidence_interval() {
    made_study 1
    report 0 -q -o "$folder/report" "$folder/study"
    [ "$(study_row large,20 4,6-8)" = 1,1.9,, ] || fail "$(cat "$folder/report/study.csv")"
    # A folder with one run is a study, too.
    report 0 -q -o "$folder/report" "$folder/study/large-20-1"
    [ "$(sed -n 2p "$folder/report/study.csv" | cut -d , -f 2,4)" = 1,1.9 ] || fail "$(cat "$folder/report/study.csv")"
}

runs_that_are_not_done_are_listed() {
    made_study 1 2
    write_run study gone failed '"size": "small"' ''
    write_run study none skipped '"size": "small"' ''
    write_run study bare "done" '"size": "small"' '{"kind": "main", "record": null}'
    write_run study late "done" '"size": "small"' '' 2
    mkdir "$folder/study/.hidden.part" "$folder/study/other"
    echo '{"status": "done"}' >"$folder/study/other/run.json"
    report 0 -q "$folder/study"
    error_has 5 "study/gone: failed: no CPU 7"
    error_has 5 "study/none: skipped: no CPU 7"
    error_has 5 "study/bare: no command of this run has a record: see showstopper --record"
    error_has 5 "study/other: its run.json has no schema, so ssbatch did not write it"
    error_has 5 "study/late: its run.json has schema 2, but this program reads only schema 1: use a later version"
    # Skipped runs are not invalid records.
    report 3 --check "$folder/study"
    grep -q "study/gone: invalid: failed: no CPU 7" "$folder/out" || fail "the failed run is not invalid: $(cat "$folder/out")"
    ! grep -q "study/none" "$folder/out" || fail "the skipped run is judged: $(cat "$folder/out")"
    rm -rf "$folder/study"
    write_run study none skipped '"size": "small"' ''
    report 1 -q "$folder/study"
    error_has 2 "no results"
}

# Two records of a run are distinguished by their roles; columns of a command precede those of its run.
records_of_one_run_are_distinguished_by_role() {
    local side
    rm -rf "$folder/study"
    for side in a b; do
        made_record "$folder/study/$side/fg" "2" 0.5
        made_record "$folder/study/$side/bg" "4" 0.5
        write_run study "$side" "done" "\"workload\": \"none\", \"kind_of\": \"$side\"" '
{"kind": "main", "role": "foreground", "columns": {"workload": "w"}, "record": "fg"},
{"kind": "main", "role": "background", "columns": {"workload": "v"}, "record": "bg"}'
    done
    report 0 -q -o "$folder/report" "$folder/study"
    [ "$(head -n 1 "$folder/report/study.csv" | cut -d , -f 1-3)" = workload,kind_of,role ] ||
        fail "$(cat "$folder/report/study.csv")"
    [ "$(study_row w,a,foreground 5,7)" = 1,2 ] || fail "$(cat "$folder/report/study.csv")"
    [ "$(study_row v,b,background 5,7)" = 1,4 ] || fail "$(cat "$folder/report/study.csv")"
    # The pairs of the two runs are separate.
    [ "$(cut -d , -f 3,4 "$folder/report/interference.csv" | sed 1d | sort | paste -sd ' ')" = "w,v w,v" ] ||
        fail "wrong pairs: $(cat "$folder/report/interference.csv")"
    awk -F, 'NR > 1 { sum[$11 " " $12] += 1 } END { exit sum["4 2"] != NR - 1 }' \
        "$folder/report/interference-steps.csv" || fail "$(cat "$folder/report/interference-steps.csv")"
}

# Compares pairs in containers with pairs without. Computed by hand: for foreground a, background b and per-core, the
# steps of round 1 are 2/1, 3/2, 4/4 and 5/10, those of round 2 are 3/2 each: minimum 0.5, median 1.5, maximum 2.
# Matched by target alone, they would be 13/15 and 13/10.
two_sets_of_pairs_are_compared() {
    made_pair lxc ab1 lxc per-core a b 1 "2 3 4 5"
    made_pair lxc ab2 lxc per-core a b 2 "3 3 3 3"
    made_pair lxc ba1 lxc per-core b a 1 "7 7 7 7"
    made_pair lxc q1 lxc quota a b 1 "1 1 1 1"
    made_pair none q1 none quota a b 1 "4 4 4 4"
    made_pair none q2 none quota a b 2 "8 8 8 8"
    made_pair none ab2 none per-core a b 2 "2 2 2 2"
    made_pair none ab1 none per-core a b 1 "1 2 4 10"
    report 0 -o "$folder/report" "$folder/lxc" --against "$folder/none"
    [ "$(cut -d, -f1,2,4,6,8-10,14-18 "$folder/report/comparison.csv")" = "\
a,b,environment_a,environment_b,placement,foreground,background,steps,ratio_min,ratio_median,ratio_max,left_out
lxc,none,lxc,host,per-core,a,b,8,0.5,1.5,2,0
lxc,none,lxc,host,quota,a,b,4,0.25,0.25,0.25,4" ] || fail "wrong comparison.csv: $(cat "$folder/report/comparison.csv")"
    [ "$(cut -d, -f6-8,12-15,19-21 "$folder/report/ratios.csv" | head -n 6)" = "\
placement,foreground,background,round,step,half,target,iterations_per_second_a,iterations_per_second_b,ratio
per-core,a,b,1,1,1,0.6,2,1,2
per-core,a,b,1,2,1,0.3,3,2,1.5
per-core,a,b,1,3,2,0.3,4,4,1
per-core,a,b,1,4,2,0.6,5,10,0.5
per-core,a,b,2,1,1,0.6,3,2,1.5" ] || fail "wrong ratios.csv: $(cat "$folder/report/ratios.csv")"
    [ "$(grep -c . "$folder/report/ratios.csv")" -eq 13 ] || fail "wrong number of rows in ratios.csv: $(cat "$folder/report/ratios.csv")"
    grep -q 'because the other set has no such steps: 4 of lxc, 4 of none;' "$folder/err" ||
        fail "unmatched runs are not counted: $(cat "$folder/err")"
    [ "$(cut -d, -f1,3,5-7,9 "$folder/report/unmatched.csv" | sort | uniq -c | tr -s ' ')" = " \
4 lxc,lxc,per-core,b,a,1
 4 none,host,quota,a,b,2
 1 set,environment,placement,foreground,background,round" ] || fail "wrong unmatched.csv: $(cat "$folder/report/unmatched.csv")"
    grep -q '^throughput, lxc / none$' "$folder/out" || fail "the direction of the ratio is not printed: $(cat "$folder/out")"
    awk 'length > 80 { exit 1 }' "$folder/out" || fail "wider than 80 columns: $(cat "$folder/out")"
    # The opposite direction, with given names, and colors on one scale.
    report 0 -q -o "$folder/report" --names 'No & box/box' "$folder/none" --against "$folder/lxc"
    [ "$(value comparison.csv 2 a),$(value comparison.csv 2 ratio_median)" = "No & box,4" ] ||
        [ "$(value comparison.csv 1 ratio_median)" = 4 ] || fail "wrong ratio of the opposite direction: $(cat "$folder/report/comparison.csv")"
    grep -q '<h2>No &amp; box / box</h2>' "$folder/report/report.html" || fail "the page lacks the names of the sets"
    grep -q 'from 0.250 (red: A is slower) over 1 (white) to 4.000' "$folder/report/report.html" ||
        fail "the page lacks the range of colors"
    is_well_formed "$folder/report/report.html" || fail "the page of two sets is not well-formed"
    # Environments that are in both sets are matched, so `none` has a counterpart.
    sed -i 's/,lxc$/,none/; s/^\(q1.*\),none$/\1,lxc/' "$folder/lxc/manifest.csv"
    report 0 -q -o "$folder/report" "$folder/lxc" --against "$folder/none"
    ! grep -q ,quota, "$folder/report/comparison.csv" || fail "lxc was matched with none"
    [ "$(value comparison.csv 1 ratio_median)" = 1.5 ] || fail "the host's runs were not matched with each other"
}

# set_figure RECORD CHECK FIGURE: changes the figure of a check in the verdict of a record.
set_figure() {
    sed -i "/\"check\": \"$2\"/,/\"figure\"/ s/\"figure\": .*/\"figure\": $3,/" "$folder/$1/summary.json"
}

# A simulated record has the same verdict on every machine.
invalid_records_can_be_left_out() {
    local text one=good/runs/sets-serial-serial-1/foreground
    cd "$folder"
    "$bin/sssim" -P 2 --foreground serial --iteration 50m --record good >out 2>&1 || fail "sssim: $(cat out)"
    report 0 --check good
    [ "$(grep -c ': valid: nothing found in [0-9]* checks$' out)" -eq 2 ] || fail "not valid: $(cat out)"
    cp -r "$one" bad
    set_figure bad steal 7
    report 3 --check "$one" bad nothing
    grep -qxF "ssreport: 2 of 3 records are invalid" err || fail "wrong message: $(cat err)"
    grep -q '^bad: invalid: steal 7 % (invalid above 5)' out || fail "the bad record is not invalid: $(cat out)"
    grep -q '^nothing: invalid: .*: No such file' out || fail "a missing record is not invalid: $(cat out)"
    # A damaged summary does not say how the run ended.
    for text in '' '{"schema": 2,' '{"a": 1}'; do
        rm -rf damaged
        cp -r "$one" damaged
        printf %s "$text" >damaged/summary.json
        report 3 --check damaged
        grep -qx 'damaged: invalid: summary.json is damaged' out || fail "the damaged record is not invalid: $(cat out)"
    done
    report 3 --check --format json bad
    grep -qF '"verdict": "invalid",' out || fail "no JSON: $(cat out)"
    tr -d ' \n' <out | grep -qF '{"check":"steal","result":"invalid","figure":7,"unit":"%","doubtful":1,"invalid":5}' ||
        fail "no checks in JSON: $(cat out)"
    report 3 --check --format json bad nothing
    tr -d ' \n' <out | grep -q '"record":"nothing",.*"checks":\[\]}\]$' || fail "a missing record has checks: $(cat out)"
    report 0 "$one" bad
    grep -qF 'Of 2 records, 0 are doubtful and 1 is invalid' out || fail "no finding: $(cat out)"
    report 0 --leave-out invalid --table runs "$one" bad
    grep -q '^bad,.*left out: invalid' out || fail "the bad record is not left out: $(cat out)"
    set_figure bad steal 2
    report 0 --table verdicts --leave-out doubtful "$one" bad
    grep -qxF 'bad,doubtful,left out: doubtful: steal 2 % (doubtful above 1)' out || fail "wrong verdict: $(cat out)"
    set_figure bad steal 7
    report 0 -q -o report "$one" bad
    [ "$(grep -c '<tr class="invalid">' report/report.html)" -eq 2 ] || fail "the bad record is not shaded"
    set_figure bad steal 2
    report 0 -q -o report "$one" bad
    [ "$(grep -c '<tr class="doubtful">' report/report.html)" -eq 2 ] || fail "the doubtful record is not shaded"
    ! grep -q '<tr class="invalid">' report/report.html || fail "a doubtful record is shaded as invalid"
    set_figure bad steal 7
    report 3 --check --quiet bad
    [ ! -s out ] || fail "--quiet prints verdicts: $(cat out)"
    report 125 --check --table runs bad
    report 125 --check --perfetto timeline bad
    grep -qxF "ssreport: --perfetto cannot be combined with --check" err || fail "wrong message: $(cat err)"
    report 125 --check --policy policy bad
    grep -qxF "ssreport: --policy cannot be combined with --check" err || fail "wrong message: $(cat err)"
    report 125 --pair a,b bad
    grep -qxF "ssreport: --pair requires --policy" err || fail "wrong message: $(cat err)"
    report 125 --policy policy bad
    grep -q "^ssreport: --policy: no pair has two placements" err || fail "wrong message: $(cat err)"
    [ ! -e policy ] || fail "a policy was written"
    # A record of an earlier version has samples but no verdict.
    sed -i -e '/^  "verdict": {/,$d' bad/summary.json
    sed -i -e '$ s/,$/}/' bad/summary.json
    report 0 --check bad
    grep -q '^bad: valid: nothing found' out || fail "an earlier record is not judged: $(cat out)"
}

files_of_requests_have_verdicts() {
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
    # Rows of the tables requests and verdicts.
    report 0 -q -o report good.json dropped.json
    [ "$(grep -c '<tr class="invalid">' report/report.html)" -eq 2 ] || fail "the invalid file is not shaded"
    sed -i -e '/"check": "unanswered_requests"/,/"figure"/ s/"figure": .*/"figure": 5,/' dropped.json
    report 0 -q -o report good.json dropped.json
    [ "$(grep -c '<tr class="doubtful">' report/report.html)" -eq 2 ] || fail "the doubtful file is not shaded"
    # Figures without counts are damaged; other files are no records.
    echo '{"program": "ssrequest"}' >empty.json
    report 3 --check empty.json
    grep -qx 'empty.json: invalid: .* is damaged' out || fail "the damaged file is not invalid: $(cat out)"
    echo '{"program": "curl"}' >other.json
    report 3 --check other.json
    grep -q '^other.json: invalid: not a folder: .*, or a file of ssrequest --json$' out || fail "wrong reason: $(cat out)"
    cd - >/dev/null
}

# sssim reads the profile of a run: half a thread is one thread for half of the time.
counters_are_converted_to_a_simulator_profile() {
    made_record "$folder/counted" "1 1" "0.5 0.5"
    awk 'BEGIN {
        print "time,elapsed_seconds,runnable,task_clock_seconds"
        for (i = 1; i <= 20; i++)
            printf "2026-11-20T10:00:%02d.000Z,%d.000000,1,0.5\n", i, i }' >"$folder/counted/counters.csv"
    report 0 -q -o "$folder/report" --profile "$folder/profile" "$folder/counted"
    [ "$(head -n 3 "$folder/profile")" = "0.000000s 1
0.250000s 0
0.500000s 1" ] || fail "wrong profile: $(cat "$folder/profile")"
    [ "$(tail -n 1 "$folder/profile")" = "10.000000s 0" ] || fail "wrong end of the profile: $(tail -n 1 "$folder/profile")"
    [ "$(value counters.csv 1 cpus_used)" = 0.5 ] || fail "$(cat "$folder/report/counters.csv")"
    is_well_formed "$folder/report/report.html" || fail "the page with counters is not well-formed"
    # Four such instances without stops use two of four CPUs.
    "$bin/sssim" -P 4 -n 4 -c fixed -l 100% --class "profile:$folder/profile" --duration 20s \
        >"$folder/out" 2>&1 || fail "sssim cannot read the profile: $(cat "$folder/out")"
    awk '/^load/ { found = 1; exit !($2 > 48 && $2 < 52) } END { if (!found) exit 1 }' "$folder/out" ||
        fail "wrong load from sssim: $(cat "$folder/out")"
    report 125 -q --profile "$folder/profile" "$folder/counted" "$folder/counted"
    error_has 2 '--profile takes one record, but 2 are reported'
    rm "$folder/counted/counters.csv"
    report 125 -q --profile "$folder/none" "$folder/counted"
    error_has 1 'has no counters.csv, from which a profile is made: record with --counters'
    [ ! -e "$folder/none" ] || fail "an empty profile was left"
}

# Methods in one folder, and replays of a trace, as text or compiled. Computed by hand: 10 iterations a second at full
# load predict 2 and 6 in the halves of the trace; the replay did 2 and 4.
a_replay_is_predicted_for_each_method() {
    local all=$folder/methods percent
    mkdir "$all"
    echo run,experiment,workload,method,target,speed,round >"$all/manifest.csv"
    for percent in 10 30 50 70 90; do
        made_record "$all/n$percent" "$((percent / 10))" "0.$percent"
        echo "n$percent,throughput,w,nbench,0.$percent,,1" >>"$all/manifest.csv"
        made_record "$all/d$percent" "$((percent / 10))" "0.$percent"
        echo "d$percent,throughput,w,default,0.$percent,,1" >>"$all/manifest.csv"
    done
    made_record "$all/c40" 5 0.4
    echo c40,throughput,w,cdc,0.4,,1 >>"$all/manifest.csv"
    made_record "$all/replay" "2 4" "0.2 0.6"
    echo replay,replay,w,default,,1,1 >>"$all/manifest.csv"
    printf '0 20%%\n10s 20%%\n10s 60%%\n20s 60%%\n' >"$folder/trace"
    report 0 -o "$folder/report" --predict "$folder/trace" "$all"
    awk 'length > 80 { exit 1 }' "$folder/out" || fail "wider than 80 columns: $(cat "$folder/out")"
    awk -F, '$5 == "cdc" { found = 1; exit !($12 == "nbench" && $13 == 4 && $14 == 25) }
        END { if (!found) exit 1 }' "$folder/report/methods.csv" ||
        fail "wrong deviation for a throughput of 5 with a baseline of 4: $(cat "$folder/report/methods.csv")"
    [ -s "$folder/report/methods-deviation.csv" ] || fail "methods-deviation.csv is empty"
    awk -F, '$5 == "default" && $18 ~ /replay$/ { found = 1; exit !($15 > 3.999 && $15 < 4.001 && $20 > 2.999 &&
        $20 < 3.001 && $21 > 33.3 && $21 < 33.4) } END { if (!found) exit 1 }' "$folder/report/prediction.csv" ||
        fail "expected a prediction of 4 and a measurement of 3: $(cat "$folder/report/prediction.csv")"
    [ "$(grep -c . "$folder/report/prediction.csv")" -eq 5 ] || fail "$(cat "$folder/report/prediction.csv")"
    [ "$(grep -c '^"all runs: w, default",5,' "$folder/report/curve.csv")" -eq 41 ] ||
        fail "the curve does not cover all runs: $(head -n 3 "$folder/report/curve.csv")"
    is_well_formed "$folder/report/report.html" || fail "the page of methods is not well-formed"
    ! command -v gnuplot >/dev/null ||
        grep -q '<figcaption>w, environment host: deviation from the baseline' "$folder/report/report.html" ||
        fail "no picture of deviations"
    "$bin/sstrace" -o "$folder/compiled" "$folder/trace" 2>"$folder/err" ||
        fail "cannot report with a compiled trace: $(cat "$folder/err")"
    report 0 -q -o "$folder/again" --predict "$folder/compiled" "$all"
    cmp -s <(sed "s,$folder/compiled,$folder/trace," "$folder/again/prediction.csv") \
        "$folder/report/prediction.csv" || fail "a compiled trace changes the prediction: $(cat "$folder/again/prediction.csv")"
    echo nonsense >"$folder/trace"
    report 125 -q -o "$folder/nothing" --predict "$folder/trace" "$all"
    error_has 1 "$folder/trace:1:1:"
    [ ! -e "$folder/nothing" ] || fail "a report was written despite a bad trace"
}

# --table prints one table for scripts: as CSV, JSON or Markdown.
a_single_table_is_printed_for_scripts() {
    made_record "$folder/made" "2 4"
    report 0 -o "$folder/report" --table steps "$folder/made"
    cmp "$folder/out" "$folder/report/steps.csv" || fail "--table output differs from steps.csv: $(cat "$folder/out")"
    report 0 -q --table steps --format json "$folder/made"
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys
rows = json.load(sys.stdin)
sys.exit(not (len(rows) == 2 and rows[1]["iterations_per_second"] == 4 and rows[1]["others"] is None))' \
            <"$folder/out" || fail "invalid JSON: $(cat "$folder/out")"
    else
        skip_part "python3: not installed"
    fi
    report 0 --table fits --format md "$folder/made"
    [ "$(sed -n 3p "$folder/out")" = "| made | steps | 2 |  |  |  |  |  |  |  | no fit: there are only two points |" ] ||
        fail "wrong Markdown: $(cat "$folder/out")"
    [ "$(grep -c . "$folder/out")" -eq 3 ] || fail "output besides the table: $(cat "$folder/out")"
    report 1 --table replay "$folder/made"
    error_has 1 'table replay has no rows'
    [ ! -s "$folder/out" ] || fail "unexpected output for a table without rows: $(cat "$folder/out")"
    report 125 --table nonsense "$folder/made"
    error_has 1 '--table: there is no table "nonsense": choose one of findings, duet, duet-blocks, loadline, '
    report 125 --format json "$folder/made"
    error_has 1 '--format needs a table'
    report 125 --table steps --format xml "$folder/made"
    error_has 1 '--format'
    # --column prints the known values of one column.
    report 0 --table steps --column step "$folder/made"
    cut -d , -f "$(head -n 1 "$folder/report/steps.csv" | tr , '\n' | grep -nx step | cut -d : -f 1)" \
        "$folder/report/steps.csv" | sed 1d | cmp - "$folder/out" || fail "--column output differs: $(cat "$folder/out")"
    report 125 --table steps --column nosuch "$folder/made"
    error_has 1 '--column: table steps has no column "nosuch"'
    report 1 --table steps --column others "$folder/made"
    error_has 1 'column others of table steps has no known values'
    report 125 --column step "$folder/made"
    error_has 1 '--column needs a table and no format'
}

# made_side FOLDER LABELS INTERCEPT SLOPE: writes a record of six steps of 10 s, 90, 60, 30 % and back, with INTERCEPT +
# SLOPE * load iterations per second.
made_side() {
    mkdir -p "$1"
    printf '{"version": "%s", "instances": 1, "cpu_count": 1, "labels": {%s}}\n' "$version" "$2" \
        >"$1/plan.json"
    echo '{"time":"","elapsed_seconds":0.000000,"event":"counting"}' >"$1/events.jsonl"
    echo '{"ended_by": "duration", "iterations": 9, "error_mean_percent": 0, "warnings": []}' \
        >"$1/summary.json"
    awk 'BEGIN {
        print "time,elapsed_seconds,target,load,error,load_ticks,duty"
        for (i = 1; i <= 120; i++) {
            step = int((i - 1) / 20)
            load = (step < 3 ? 9 - 3 * step : 3 * step - 6) / 10
            printf "2026-11-20T10:%02d:%02d.%d00Z,%.6f,%.6f,%.6f,0.000000,%.6f,0.5\n", \
                i / 120, i / 2 % 60, i % 2 * 5, i / 2, load, load, load
        }
    }' >"$1/samples.csv"
    echo 'time,elapsed_seconds,executor,state,planned_seconds,real_seconds' >"$1/decisions.csv"
    awk -v intercept="$3" -v slope="$4" 'BEGIN {
        print "instance,start,end"
        while (at < 60) {
            step = int(at / 10)
            length_ = 1 / (intercept + slope * (step < 3 ? 9 - 3 * step : 3 * step - 6) / 10)
            printf "0,%.9f,%.9f\n", at, at + length_
            at += length_
        }
    }' >"$1/iterations.csv"
}

# near FILE ROW COLUMN WANT
near() {
    awk -v have="$(value "$1" "$2" "$3")" -v want="$4" 'BEGIN {
        exit !(have != "" && (have - want) ^ 2 < (1e-4 * (1 + (want < 0 ? -want : want))) ^ 2) }' ||
        fail "$3 in row $2 of $1 is '$(value "$1" "$2" "$3")', not $4: $(cat "$folder/report/$1")"
}

# published_beside ROW KVM LXC
published_beside() {
    [ "$(value interference-published.csv "$1" kvm_percent),$(value interference-published.csv "$1" \
        lxc_percent)" = "$2,$3" ] ||
        fail "wrong interference-published.csv: $(cat "$folder/report/interference-published.csv")"
}

# Pairs with known figures, for a load L: per-core does 10 - 5 L, per-chip always 6, and both do 10 % less in a
# container. They cross at 80 %; at the mean load of 60 %, per-core does a sixth more.
pairs_are_compared_across_environments() {
    local studies=$folder/studies version row environment factor name label columns
    version=$("$bin/ssreport" --version | awk 'NR == 1 { print $2 }')
    mkdir -p "$studies"
    echo "run,experiment,workload,placement,role,group,round,environment,measured_in" \
        >"$studies/manifest.csv"
    for environment in none lxc tcg; do
        factor=1 name=$environment label="\"environment\": \"$environment\""
        [ "$environment" != lxc ] || factor=0.9
        # This environment is only in the labels.
        [ "$environment" != tcg ] || name=
        made_side "$studies/$environment-core" "$label" "$(awk "BEGIN { print 10 * $factor }")" \
            "$(awk "BEGIN { print -5 * $factor }")"
        made_side "$studies/$environment-chip" "$label" "$(awk "BEGIN { print 6 * $factor }")" 0
        made_side "$studies/$environment-back" "$label" 3 0
        cp -r "$studies/$environment-back" "$studies/$environment-back2"
        cat >>"$studies/manifest.csv" <<END
$environment-chip,interference,h2,per-chip,foreground,chip-$environment,1,$name,${name:+inside}
$environment-back,interference,h2,per-chip,background,chip-$environment,1,$name,${name:+inside}
$environment-core,interference,h2,per-core,foreground,core-$environment,1,$name,${name:+inside}
$environment-back2,interference,h2,per-core,background,core-$environment,1,$name,${name:+inside}
END
    done
    sed -e '1s/.*/time,elapsed_seconds,target,load,error,load_ticks/' \
        -e '2,$s/,0\.[369]00000,0\.[369]00000,.*/,,0.75,,0.75/' \
        "$studies/lxc-chip/samples.csv" >"$studies/lxc-chip/host-load.csv"
    report 0 -o "$folder/report" "$studies"
    [ ! -s "$folder/err" ] || fail "$(cat "$folder/err")"
    awk 'length > 80 { exit 1 }' "$folder/out" || fail "wider than 80 columns: $(cat "$folder/out")"
    head -n 2 "$folder/out" | tail -n 1 | grep -qF 'h2 beside h2 (host): per-core is best, with 11.1 % (11.1 to 11.1) more' ||
        fail "the first line does not answer the title: $(cat "$folder/out")"
    tr '\n' ' ' <"$folder/out" | sed 's/  */ /g' >"$folder/line"
    grep -qF "lxc costs 10.0 % (10.0 to 10.0) of the foreground's throughput on the host; median of 12 steps." \
        "$folder/line" || fail "wrong cost of lxc: $(cat "$folder/out")"
    grep -qF 'tcg is left out of the findings' "$folder/line" || fail "tcg is not left out of the findings: $(cat "$folder/out")"
    grep -qF 'h2 beside h2 (host): per-core is best, with 11.1 % (11.1 to 11.1) more throughput' "$folder/line" ||
        fail "wrong best placement: $(cat "$folder/out")"
    columns=environment,placement,foreground,background,tau_seconds,round,metric_percent,low_percent,high_percent
    columns+=,first_half_percent,second_half_percent,angle_degrees,agree,significant
    [ "$(head -n 1 "$folder/report/interference.csv" | cut -d, -f 1-14)" = "$columns" ] ||
        fail "wrong columns: $(head -n 1 "$folder/report/interference.csv")"
    # The pairs of records are: none, lxc, tcg, each for chip and core.
    [ "$(wc -l <"$folder/report/interference.csv")" -eq 7 ] ||
        fail "wrong pairs: $(cat "$folder/report/interference.csv")"
    for row in 2 4 6; do
        for name in metric_percent low_percent high_percent first_half_percent; do
            near interference.csv "$row" "$name" 50
        done
    done
    [ "$(value interference.csv 5 environment)" = tcg ] ||
        fail "wrong labels: $(cat "$folder/report/interference.csv")"
    near interference-steps.csv 7 relative_to_per_chip "$(awk 'BEGIN { print 8.5 / 9 }')"
    near interference-steps.csv 19 relative_to_per_chip "$(awk 'BEGIN { print (5.5 * 0.9 + 3) / (6 * 0.9 + 3) }')"
    near changes.csv 1 load 0.8
    near environments.csv 1 host_load_mean 0.75
    near environments.csv 1 load_difference -0.15
    for row in 1 3 5; do
        near interference-published.csv "$row" metric_percent 0
    done
    published_beside 1 '' '' # a different h2 than the published one
    sed 's,interference\,h2\,,interference\,dacapo/h2\,,' "$studies/manifest.csv" >"$folder/manifest.csv"
    mv "$folder/manifest.csv" "$studies"
    report 0 -q -o "$folder/report" "$studies"
    published_beside 1 -2.2 -3.3
    published_beside 3 '' -3.3
    published_beside 5 '' ''
    ! grep -q '^tcg' "$folder/report/changes.csv" || fail "changes.csv contains tcg"
    is_well_formed "$folder/report/report.html" || fail "the page of pairs is not well-formed"
    if command -v gnuplot >/dev/null; then
        [ "$(grep -c '<figcaption>Throughput of both sides' "$folder/report/report.html")" -eq 6 ] ||
            fail "pictures of pairs are missing"
        [ "$(grep -c 'aria-label="throughput of all pairs"' "$folder/report/report.html")" -eq 6 ] ||
            fail "matrices are missing"
    else
        skip_part "gnuplot: not installed"
    fi
}

# Each of many runs has its figures and one picture.
each_of_many_runs_has_one_picture() {
    local many number
    record_a_short_run
    many=$folder/many
    for ((number = 1; number <= 41; number++)); do
        mkdir -p "$many"
        cp -r "$folder/run" "$many/$number"
    done
    report 0 -q -o "$folder/report" "$many"/*
    if command -v gnuplot >/dev/null; then
        [ "$(grep -c '<figcaption>Target and load' "$folder/report/report.html")" -eq 41 ] ||
            fail "time lines of runs are missing"
    else
        skip_part "gnuplot: not installed"
    fi
    ! grep -q '<figcaption>Throughput' "$folder/report/report.html" || fail "too many pictures"
    grep -q 'more than 40 runs' "$folder/report/report.html" || fail "omitted pictures are not mentioned"
    is_well_formed "$folder/report/report.html" || fail "the page of many runs is not well-formed"
    rm -r "$many"
}

# make_requests FOLDER RATE: writes requests.csv of an interrupted run. Seconds alternate between RATE and twice that,
# each with its own response times; a quarter of the requests at the higher rate fail.
make_requests() {
    mkdir -p "$1"
    awk -v rate="$2" 'BEGIN {
        printf "epoch_seconds,elapsed_seconds,rate,due,sent,refused,waiting,unfinished,completed,failed,timeouts,bytes"
        printf ",lateness_most_seconds"
        for (i = 0; i < 2; i++) {
            origin = i == 0 ? "intended" : "actual"
            printf ",%s_mean_seconds,%s_p50_seconds,%s_p95_seconds", origin, origin, origin
            printf ",%s_p99_seconds,%s_most_seconds", origin, origin
        }
        print ""
        for (second = 1; second <= 8; second++) {
            asked = second > 4 ? 2 * rate : rate
            failed = second > 4 ? asked / 4 : 0
            printf "%d.123457,%d,%d,%d,%d,0,0,0,%d,%d,%d,99,0.001", 1795168800 + second, second, asked, asked, asked,
                asked - failed, failed, failed
            print ",0.02,0.02,0.05,0.06,0.07,0.01,0.01,0.02,0.03,0.04"
        }
    }' >"$1/requests.csv"
}

response_times_of_a_service_are_reported() {
    make_requests "$folder/requests" 20
    report 0 -o "$folder/report" "$folder/requests"
    error_has 1 "requests: the run was interrupted: "
    grep -q 'keeps up with 20 requests a second' "$folder/out" || fail "the finding is missing: $(cat "$folder/out")"
    awk 'length > 80 { exit 1 }' "$folder/out" || fail "wider than 80 columns: $(cat "$folder/out")"
    [ "$(value requests-rates.csv 2 rate)" = 40 ] || fail "the second rate is not 40"
    [ "$(value requests-rates.csv 2 success_ratio)" = 0.75 ] || fail "success ratio is not 0.75"
    if command -v gnuplot >/dev/null; then
        grep -q '<figcaption>Response time against rate' "$folder/report/report.html" || fail "no picture of response time against rate"
        grep -q '<figcaption>Requests over time' "$folder/report/report.html" || fail "no picture of requests over time"
    else
        skip_part "gnuplot: not installed"
    fi
    is_well_formed "$folder/report/report.html" || fail "the page of requests is not well-formed"
    # A second that contradicts the previous one is reported with its line; the other seconds are used.
    sed -i '6s/,40,40,40,/,40,41,40,/' "$folder/requests/requests.csv"
    report 0 -q "$folder/requests"
    error_has 1 "requests.csv:6: the numbers of requests do not add up"
    : >"$folder/requests/requests.csv"
    report 125 "$folder/requests"
    error_has 2 "requests.csv is empty"
    rm -r "$folder/requests"
}

# --test compares groups of values in any table or record, and prints tables like those of reports.
test_option_compares_groups_of_values() {
    printf 'knob;watts\na;1\na;2\na;4\nb;5.5\nb;5.6\nb;9\nb;\n' >"$folder/values"
    report 0 --test welch "$folder/values" --value watts --group knob
    error_has 1 'skipped 1 row without a value, a group or a run'
    grep -qF 'Do the means of a and b differ? Yes: the difference is -4.37' "$folder/out" ||
        fail "no answer in: $(cat "$folder/out")"
    report 0 --test welch "$folder/values" --value watts --group knob --table differences
    awk -F, 'NR == 2 && $1 == "a" && $2 == "b" && $8 == "0.042907490771" { found = 1 }
        END { exit !found }' "$folder/out" || fail "not the p-value of R: $(cat "$folder/out")"
    report 0 --test shapiro - --value watts --table groups --format json <"$folder/values"
    grep -q '"n": 6' "$folder/out" || fail "not one group of 6 values: $(cat "$folder/out")"
    report 1 --test shapiro "$folder/values" --value watts --run knob --table groups
    grep -q '^watts,2,4.5' "$folder/out" || fail "not the means of two runs: $(cat "$folder/out")"
    report 0 -q --test anova --of 1,2,3 4,5,6 7,8,9
    [ ! -s "$folder/out" ] || fail "output despite --quiet: $(cat "$folder/out")"
    printf 'knob,watts\na,1\na,1\nb,2\nb,2\n' >"$folder/values"
    report 1 --test bartlett "$folder/values" --value watts --group knob
    error_has 1 'no result: all values of a group are equal'
    report 125 --test shapiro --of 1,2,3 4,5,6
    error_has 1 '--test shapiro needs values'
    report 125 --test welch --of 1,2,3
    error_has 1 '--of needs at least two groups'
    report 125 --test welch --of 1,2,3 4,5
    error_has 1 "--of: '4,5' is not [NAME=]MEAN,SD,N: there are fewer than three numbers"
    report 125 --test welch --of 1,2,3 4,5,2.5
    error_has 1 "--of: '4,5,2.5' is not [NAME=]MEAN,SD,N: the number of values must be an integer from 2 to 1e15"
    report 125 --test welch --of 1,1e200,3 4,5,6
    error_has 1 "--of: '1,1e200,3' is not [NAME=]MEAN,SD,N: numbers beyond 1e150 cannot be compared"
    report 125 --test welch --of 1,2,3 4,5,6 --value watts
    error_has 1 '--of needs no file: leave out --value, --group and --run'
    report 125 --test welch "$folder/values" --value watts
    error_has 1 '--test needs the column of the groups'
    report 125 --test welch "$folder/values" --group knob
    error_has 1 '--test needs the column of the values'
    report 125 --test welch --value watts --group knob
    error_has 1 '--test needs one file'
    report 125 --test welch "$folder/none" --value watts --group knob
    error_has 1 'none cannot be opened: No such file'
    report 125 --test welch "$folder/values" --value watts --group knob --table runs
    error_has 1 '--test has no table "runs": choose groups, tests or differences'
    report 125 --test welch "$folder/values" --value watts --group knob --interval 3s
    error_has 1 '--interval cannot be combined with --test'
    report 125 --test welch "$folder/values" --value watts --group knob -o "$folder/new"
    error_has 1 '--output cannot be combined with --test'
}

options_and_their_values_are_checked() {
    local status table what headings heading kind byte_order_mark=$'\xef\xbb\xbf'
    mkdir -p "$folder/empty"
    record_a_short_run
    report 125 "$folder/empty"
    error_has 2 'no record to report: none of the given folders holds one that can be read'
    cksum "$folder"/run/* >"$folder/before"
    report 125 -o "$folder/run" "$folder/run"
    error_has 1 'holds a record, which the report would damage'
    cksum "$folder"/run/* | cmp - "$folder/before" || fail "ssreport changed a record"
    # The same for a run of a study, and for samples of power next to records.
    mkdir -p "$folder/beside"
    echo '{}' >"$folder/beside/run.json"
    report 125 -o "$folder/beside" "$folder/run"
    error_has 1 'holds a record, which the report would damage'
    rm "$folder/beside/run.json"
    # The columns of an input have any order, and may follow a byte order mark.
    for kind in "energy|samples of power in energy.csv|time,watts elapsed_seconds,time,watts" \
        "fleet|the list of a fleet's nodes, fleet.csv|node,status record,node,status $byte_order_mark""fleet,node" \
        "requests|a record of requests|epoch_seconds,elapsed_seconds"; do
        IFS='|' read -r table what headings <<<"$kind"
        for heading in $headings; do
            printf '%s\n' "$heading" 1,2,3 >"$folder/beside/$table.csv"
            report 125 -o "$folder/beside" "$folder/run"
            error_has 1 "holds $what, which the report would replace"
            [ "$(tail -n 1 "$folder/beside/$table.csv")" = 1,2,3 ] || fail "ssreport replaced $table.csv: $heading"
        done
        rm "$folder/beside/$table.csv"
    done
    # A study without results has another exit status than a missing one.
    mkdir -p "$folder/study"
    echo 'run,workload,reason' >"$folder/study/manifest.csv"
    echo ',xz,status 9' >>"$folder/study/manifest.csv"
    report 1 -o "$folder/report" "$folder/study"
    error_has 2 'study: xz: status 9'
    error_has 2 'no results: no run has a record that can be reported'
    echo 'elapsed_seconds' >"$folder/file"
    report 125 "$folder/file"
    error_has 2 'file: not a folder: name a folder that --record created, or a file of ssrequest --json'
    report 125
    error_has 1 'name at least one record'
    report 125 --against "$folder/run"
    error_has 1 '--against must separate two sets'
    report 125 --names a "$folder/run" --against "$folder/run"
    error_has 1 '"a" is not a pair of names: write A/B'
    report 125 --names a/b "$folder/run"
    error_has 1 '--names requires --against'
    report 125 --edgee 3s "$folder/run"
    error_has 1 "did you mean '--edge'?"
    report 125 -o "$folder/none/report" "$folder/run"
    error_has 1 'No such file or directory'
    report 0 -q "$folder/run" --edge 500m
    [ ! -s "$folder/out" ] || fail "output despite --quiet: $(cat "$folder/out")"
    report 0 -q "$folder/run" --interval 10m
    error_has 1 'warning: --interval: 10m is 10 milliseconds; for minutes write 10M'
    report 125 "$folder/run" --agianst "$folder/run"
    error_has 1 "did you mean '--against'?"
    report 125 --value x "$folder/run"
    error_has 1 '--value requires --test'
    report 125 --run x "$folder/run"
    error_has 1 '--run requires --test'
    report 0 --help
    awk 'length > 80 { exit 1 }' "$folder/out" || fail "help wider than 80 columns"
    grep -q -- --against "$folder/out" || fail "help does not name --against"
    report 0 --version
    if have_full; then
        status=0
        "$bin/ssreport" "$folder/run" >/dev/full 2>"$folder/err" || status=$?
        [ "$status" -eq 125 ] || fail "full disk: status $status"
    fi
}

# unchanged MESSAGE OPTION...: fails unless ssreport refuses to report the fleet with these options, and leaves it as it
# was.
unchanged() {
    local message=$1
    shift
    report 125 -q "$@" "$folder/fleet" "$folder/fleet/n1"
    error_has 2 "$message"
    diff -r "$folder/fleet" "$folder/fleet.before" || fail "$*: ssreport changed its input"
}

# has_error TEXT: fails unless a message has the text; there may be notes on records.
has_error() {
    grep -qF -- "$1" "$folder/err" || fail "no '$1' in: $(cat "$folder/err")"
}

# Tables of a report, and the files of a record, may have the same names.
inputs_are_not_overwritten() {
    local file other
    "$bin/sssim" fleet --nodes 2 --record "$folder/fleet" -- -l 30% -P 1 --duration 10s >/dev/null
    cp -r "$folder/fleet" "$folder/fleet.before"
    mkdir "$folder/linked" "$folder/hard"
    ln -s ../fleet/fleet.csv "$folder/linked/fleet.csv"
    ln "$folder/fleet/fleet.csv" "$folder/hard/fleet.csv"
    ln -s fleet "$folder/alias"
    for other in fleet alias linked hard; do
        unchanged "$folder/$other holds the list of a fleet's nodes" -o "$folder/$other"
    done
    [ "$folder/hard/fleet.csv" -ef "$folder/fleet/fleet.csv" ] || fail "the other name of the list was replaced"
    for file in fleet.csv n1/samples.csv n1/plan.json; do
        unchanged "would overwrite $folder/fleet/$file, which this report reads" --perfetto "$folder/fleet/$file"
        ln -sf "$folder/fleet/$file" "$folder/symbolic"
        unchanged "would overwrite $folder/symbolic, which this report reads" --perfetto "$folder/symbolic"
        ln -f "$folder/fleet/$file" "$folder/hard/other"
        unchanged "would overwrite $folder/hard/other, which this report reads" --perfetto "$folder/hard/other"
        [ "$folder/hard/other" -ef "$folder/fleet/$file" ] || fail "the other name of $file was replaced"
    done
    # The files of a run of a study lie next to its record, also if that is left out; others have its name.
    local run=$folder/study/r1
    mkdir -p "$run"
    cp -r "$folder/fleet/n1" "$run/record"
    cp -r "$folder/fleet/n1" "$folder/alone"
    echo '{"schema": 1, "status": "done", "commands": [{"record": "record"}]}' >"$run/run.json"
    printf 'time,watts\n2026-11-20T10:00:01.000Z,10\n' >"$run/energy.csv"
    printf 'time,load\n2026-11-20T10:00:01.000Z,0.5\n' | tee "$run/beside.csv" >"$folder/alone.host-load.csv"
    ln -s study "$folder/linked_study"
    cp -r "$folder/study" "$folder/study.before"
    cp -r "$folder/alone.host-load.csv" "$folder/load.before"
    for file in run.json energy.csv beside.csv record/samples.csv; do
        for other in "" "--leave-out=doubtful"; do
            report 125 -q ${other:+"$other"} --perfetto "$folder/linked_study/r1/$file" "$folder/study"
            has_error "would overwrite $folder/linked_study/r1/$file, which this report reads"
        done
    done
    report 125 -q --perfetto "$folder/alone.host-load.csv" "$folder/alone" "$folder/alone"
    has_error "would overwrite $folder/alone.host-load.csv, which this report reads"
    cp -rL "$bin/../share/showstopper/experiments/published" "$folder/figures"
    report 125 -q --published "$folder/figures" --perfetto "$folder/figures/references.csv" "$folder/alone"
    has_error "would overwrite $folder/figures/references.csv, which this report reads"
    diff -r "$folder/study" "$folder/study.before" || fail "ssreport changed a study"
    cmp "$folder/alone.host-load.csv" "$folder/load.before" || fail "ssreport changed samples of the host"
    report 125 -q -o "$folder/both" --perfetto "$folder/both/../both/runs.csv" "$folder/alone"
    has_error '--output and --perfetto would both write to'
    unchanged '--profile and --perfetto would both write to' --profile "$folder/one" --perfetto "$folder/one"
    # Earlier reports are replaced.
    report 0 -q -o "$folder/report" --perfetto "$folder/timeline" "$folder/fleet" "$folder/fleet/n1"
    report 0 -q -o "$folder/report" --perfetto "$folder/timeline" "$folder/fleet" "$folder/fleet/n1"
    [ -s "$folder/report/fleet.csv" ] || fail "no table of the fleet"
}

nodes_of_a_fleet_are_not_left_out() {
    "$bin/sssim" fleet --nodes 2 --record "$folder/fleet" -- -l 30% -P 1 --duration 10s >/dev/null
    report 0 --table fleet-nodes --leave-out doubtful "$folder/fleet"
    has_error "$folder/fleet: --leave-out leaves out no node of a fleet; --check names the invalid ones"
    [ "$(wc -l <"$folder/out")" -eq 3 ] || fail "not both nodes: $(cat "$folder/out")"
}

run_case figures_of_a_paused_run_agree_in_all_files
run_case records_of_earlier_schemas_keep_their_tables
run_case records_of_later_schemas_are_refused
run_case a_run_in_progress_is_not_called_interrupted
run_case complete_and_interrupted_runs_are_reported
run_case no_line_is_fitted_to_only_two_steps
run_case an_experiment_is_reported_with_published_figures
run_case a_study_is_tabulated_by_the_columns_that_differ
run_case studies_of_two_sets_are_matched_by_their_columns
run_case a_single_round_has_no_confidence_interval
run_case runs_that_are_not_done_are_listed
run_case records_of_one_run_are_distinguished_by_role
run_case two_sets_of_pairs_are_compared
run_case a_single_table_is_printed_for_scripts
run_case invalid_records_can_be_left_out
run_case files_of_requests_have_verdicts
run_case counters_are_converted_to_a_simulator_profile
run_case a_replay_is_predicted_for_each_method
run_case pairs_are_compared_across_environments
run_case each_of_many_runs_has_one_picture
run_case response_times_of_a_service_are_reported
run_case test_option_compares_groups_of_values
run_case options_and_their_values_are_checked
run_case inputs_are_not_overwritten
run_case nodes_of_a_fleet_are_not_left_out
end_cases
