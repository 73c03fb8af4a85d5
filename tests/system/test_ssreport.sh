#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run is recorded and reported: what is printed and written, and the exit status.
# Arguments: the build directory, and the one case to run; none: all.
# shellcheck disable=SC2317 # cases are called by their names
set -euo pipefail

# shellcheck source=skip.sh
. "$(dirname "$0")/skip.sh"
# shellcheck source=cases.sh
. "$(dirname "$0")/cases.sh"
export LC_ALL=C
bin=$1/bin
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

[ -x "$bin/ssreport" ] || skip "left-out: built without ssreport"

# report STATUS ARGUMENT...: output and error are kept.
report() {
    local wanted=$1 status=0
    shift
    "$bin/ssreport" "$@" >"$folder/out" 2>"$folder/err" || status=$?
    [ "$status" -eq "$wanted" ] || fail "ssreport $*: status $status, not $wanted: $(cat "$folder/err")"
}

# error_has COUNT TEXT: so many lines, beside those of a machine that stalled while it was recorded.
error_has() {
    local lost='warning: samples of the load that were lost: [0-9]*$'
    [ "$(grep -vc "$lost" "$folder/err")" -eq "$1" ] || fail "not $1 lines: $(cat "$folder/err")"
    ! grep -qv '^ssreport: ' "$folder/err" || fail "no name in: $(cat "$folder/err")"
    grep -qF -- "$2" "$folder/err" || fail "no '$2' in: $(cat "$folder/err")"
}

# value FILE ROW COLUMN: from a table without quotes.
value() {
    awk -F, -v row="$2" -v name="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        NR == row + 1 { print $column }' "$folder/report/$1"
}

# Elements are closed in the order in which they were opened, and text is escaped.
is_well_formed() {
    awk '
        { page = page $0 "\n" }
        END {
            sub(/^<!DOCTYPE html>/, "", page)
            while (match(page, /<[^>]*>/)) {
                text = substr(page, 1, RSTART - 1)
                tag = substr(page, RSTART, RLENGTH)
                page = substr(page, RSTART + RLENGTH)
                gsub(/&(amp|lt|gt|quot|#[0-9]+);/, "", text)
                if (text ~ /[&<]/) { print "not escaped: " text; exit 1 }
                if (tag ~ /\/>$/ || tag ~ /^<!--/) continue
                name = tag
                gsub(/^<\/?|[ \t\n>].*$|>$/, "", name)
                if (tag !~ /^<\//) { open[++depth] = name; continue }
                if (open[depth] != name) { print tag " closes " open[depth]; exit 1 }
                depth--
            }
            if (depth != 0) { print open[depth] " is not closed"; exit 1 }
        }' "$1"
}

# same FILE COLUMN NAME: a figure of the report and one of summary.json.
same() {
    awk -v ours="$(value "$1" 1 "$2")" -v name="\"$3\":" '
        $1 == name && !found { sub(/,$/, "", $2); found = 1; theirs = $2 }
        END {
            if (theirs == "[") exit ours == ""
            off = ours - theirs; size = theirs < 0 ? -theirs : theirs
            exit !found || (ours == "") != (theirs == "null") || off * off > (1e-4 * (1 + size)) ^ 2
        }' "$folder/paused/summary.json" ||
        fail "$3: the report says '$(value "$1" 1 "$2")': $(cat "$folder/paused/summary.json")"
}

# A run with a warm-up and a pause, of one interval of throughput: its figures are in the summary,
# in the report and in the record, and are the same.
figures_of_a_paused_run() {
    local name mean interval times paused
    "$bin/showstopper" -q -n 2 -c fixed -l 40% --warmup 1s --duration 6s --iteration iteration \
        --record "$folder/paused" "$bin/ssburn" serial --work 3000000 >/dev/null 2>&1 &
    paused=$!
    until grep -q '"event":"counting"' "$folder/paused/events.jsonl" 2>/dev/null; do
        kill -0 "$paused" || fail "no record of a run with a pause"
        sleep 0.1
    done
    kill -TSTP "$paused"
    sleep 1
    kill -CONT "$paused"
    wait "$paused" || fail "the run with a pause: status $?"
    grep -q '"event":"continued"' "$folder/paused/events.jsonl" || fail "there was no pause"
    report 0 -q -o "$folder/report" "$folder/paused"
    for name in instances cpu_count duration_seconds samples target_mean load_mean error_mean_percent \
        error_mse_e4 error_p95_percent settling_seconds duty_mean switches_per_second iterations \
        own_cpu; do
        same runs.csv "$name" "$name"
    done
    # Two are called so in the summary: the mean, which comes first, and the list of intervals.
    mean=$(awk '$1 == "\"iterations_per_second\":" { sub(/,$/, "", $2); print $2; exit }' \
        "$folder/paused/summary.json")
    interval=$(awk 'found { print $1; exit } $1 == "\"iterations_per_second\":" && $2 == "[" { found = 1 }' \
        "$folder/paused/summary.json")
    awk -v a="$(value runs.csv 1 iterations_per_second)" -v b="$mean" \
        -v c="$(value throughput.csv 1 iterations_per_second)" -v d="$interval" 'BEGIN {
            exit !(b > 0 && d > 0 && (a - b) ^ 2 < (1e-4 * b) ^ 2 && (c - d) ^ 2 < (1e-4 * d) ^ 2) }' ||
        fail "throughput: $mean and $interval in the summary: $(cat "$folder/report/throughput.csv")"
    [ "$(value throughput.csv 2 from_seconds)" = "" ] || fail "more than one interval"
    same runs.csv wake_lateness_p99_us p99
    # The record has microseconds of them.
    times=$(sed -n '/"iteration_seconds": {/,/}/p' "$folder/paused/summary.json" | head -n 7)
    for name in mean deviation median p95 p99; do
        awk -v ours="$(value runs.csv 1 "iteration_seconds_$name")" -v name="\"$name\":" '
            $1 == name { sub(/,$/, "", $2); exit !($2 > 0 && (ours - $2) ^ 2 < (1e-3 * $2) ^ 2) }' \
            <<<"$times" || fail "$name of iterations: $(value runs.csv 1 "iteration_seconds_$name"): $times"
    done
    # Anyone can compute them from the record.
    awk -F, -v samples="$(value runs.csv 1 samples)" -v error="$(value runs.csv 1 error_mean_percent)" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR > 1 && $column["counted"] { count++; sum += 100 * $column["error"] }
        END { exit !(count == samples && (sum / count - error) ^ 2 < 1e-8) }' \
        "$folder/paused/samples.csv" || fail "samples.csv: $(cat "$folder/paused/samples.csv")"
}

# On a busy machine, too: without feedback the instances run all the same.
record_a_run() {
    rm -rf "$folder/run"
    "$bin/showstopper" -q -n 2 -c fixed -t staircase -T 40%:20%:20%,hold=2s,symmetric=yes \
        --iteration iteration --record "$folder/run" "$bin/ssburn" serial --work 3000000 >/dev/null 2>&1 ||
        fail "no record was made"
}

# The same of the shortest run.
record_a_short_run() {
    rm -rf "$folder/run"
    "$bin/showstopper" -q -n 2 -c fixed -l 30% --duration 1s --iteration iteration \
        --record "$folder/run" "$bin/ssburn" serial --work 3000000 >/dev/null 2>&1 ||
        fail "no record was made"
}

whole_and_interrupted_runs() {
    local name step
    record_a_run
    mkdir -p "$folder/empty"
    cp -r "$folder/run" "$folder/cut"
    rm "$folder/cut/summary.json"
    printf '2026-11-20T10:00:00.000Z,9' >>"$folder/cut/samples.csv"

    report 0 --edge 300m -o "$folder/report" "$folder/run" "$folder/empty" "$folder/cut"
    [ "$(grep -c '^ssreport: .*/empty: ' "$folder/err")" -eq 1 ] || fail "the empty one is not named"
    grep -q '^ssreport: .*/cut: .*interrupted: .*the last line has no end' "$folder/err" ||
        fail "the interrupted one is not named: $(cat "$folder/err")"
    awk 'length > 80 { exit 1 }' "$folder/out" || fail "wider than 80 columns: $(cat "$folder/out")"
    grep -q '^steps of ' "$folder/out" || fail "no steps in: $(cat "$folder/out")"

    # The run's own summary says the same.
    for name in samples target_mean load_mean error_mean_percent error_mse_e4 error_p95_percent; do
        awk -v ours="$(value runs.csv 1 "$name")" -v name="\"$name\":" '
            $1 == name { sub(/,$/, "", $2); found = 1; off = ours - $2 }
            END { exit !found || off > 0.01 || off < -0.01 }' "$folder/run/summary.json" ||
            fail "$name is $(value runs.csv 1 "$name"), its summary says otherwise"
    done
    [ "$(value runs.csv 1 state)" = whole ] || fail "state of the whole one"
    [ "$(value runs.csv 2 state)" = interrupted ] || fail "state of the cut one"
    [ "$(value runs.csv 3 state)" = "not reported" ] || fail "state of the empty one"

    # 40, 20, 20, 40 %: the lowest is held twice.
    [ "$(grep -c '/run,' "$folder/report/steps.csv")" -eq 4 ] ||
        fail "steps: $(cat "$folder/report/steps.csv")"
    for step in 1 2 3 4; do
        [ "$(value steps.csv "$step" half)" -eq $(((step + 1) / 2)) ] || fail "half of step $step"
        awk -v rate="$(value steps.csv "$step" iterations_per_second)" 'BEGIN { exit !(rate >= 0) }' ||
            fail "throughput of step $step"
    done

    # Duties of both instances, as much as was allowed in all.
    [ "$(grep -c '/run,' "$folder/report/duty.csv")" -eq 2 ] || fail "duties"

    is_well_formed "$folder/report/report.html" || fail "the page is not well-formed"
    ! grep -Eq '(src|href)=["'\'']?https?:|<script|@import' "$folder/report/report.html" ||
        fail "the page needs others"
    if command -v gnuplot >/dev/null; then
        [ "$(grep -c '</svg>' "$folder/report/report.html")" -ge 6 ] || fail "pictures are missing"
        [ -z "$(grep -o " id=['\"][^'\"]*['\"]" "$folder/report/report.html" | sort | uniq -d)" ] ||
            fail "a name is there twice"
    else
        skip_part "gnuplot: it is not installed"
    fi

    grep -q '<figcaption>Duty of each instance over time</figcaption>' "$folder/report/report.html" ||
        ! command -v gnuplot >/dev/null || fail "no duty over time"
    grep -q '^energy: no power was recorded$' "$folder/out" || fail "nothing on energy"

    # No heading without a row: neither a new file nor one that an earlier report has left.
    mkdir "$folder/rows"
    echo old >"$folder/rows/replay.csv"
    report 0 -q -o "$folder/rows" "$folder/run"
    [ "$(cd "$folder/rows" && echo *.csv)" = \
        "duty.csv energy.csv errors.csv fits.csv runs.csv steps.csv throughput.csv" ] ||
        fail "tables: $(ls "$folder/rows")"
    grep -q '<p><small>Not written, .*: comparison.csv, ratios.csv, .*replay.csv' \
        "$folder/rows/report.html" || fail "what was not written is not named"
    is_well_formed "$folder/rows/report.html" || fail "the page of few tables is not well-formed"

    # Against itself everything is the same.
    report 0 --edge 300m -o "$folder/report" "$folder/run" --against "$folder/run"
    for name in ratio_min ratio_median ratio_max; do
        [ "$(value comparison.csv 1 "$name")" = 1 ] || fail "$name: $(cat "$folder/report/comparison.csv")"
    done
}

# Through two steps there is always a line: none is drawn.
two_steps() {
    printf '0 30%%\n3s 30%%\n3s 60%%\n6s 60%%\n' >"$folder/trace"
    "$bin/showstopper" -q -n 2 -c fixed -t file -T "path=$folder/trace,loop=no" --iteration iteration \
        --record "$folder/two" "$bin/ssburn" serial --work 3000000 >/dev/null 2>&1 ||
        fail "no record of two steps"
    report 0 -o "$folder/pair" "$folder/two"
    grep -q '^least squares: two points: no fit$' "$folder/out" || fail "a line: $(cat "$folder/out")"
    ! grep -q 'R^2' "$folder/out" || fail "R^2 of two points: $(cat "$folder/out")"
    grep -q ',steps,2,,,,,,,,two points: no fit$' "$folder/pair/fits.csv" ||
        fail "fits: $(cat "$folder/pair/fits.csv")"
}

# An experiment: published figures, which the program finds by itself, power, a foreground that died.
an_experiment() {
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
        sh -c 'if [ $0 -eq 1 ]; then sleep 1; exit 3; fi; exec sleep 9' % >/dev/null 2>&1 &&
        fail "an instance that fails is no failure"
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
    [ "$(value constant-load.csv 1 runs)" = 2 ] || fail "two runs make a mean"
    [ "$(value constant-load.csv 1 error_mean_percent_published)" = -0.13 ] || fail "published error"
    [ "$(value constant-load.csv 1 error_mse_e4_published)" = 7.54 ] || fail "published MSE"
    [ "$(value replay.csv 1 error_mse_e4_published_most)" = 3.3 ] || fail "published range"
    [ "$(value replay.csv 1 ratio)" = 1 ] || fail "the original against itself"
    [ "$(value replay.csv 2 in_proportion)" = no ] || fail "nothing done is in proportion"
    grep -q '^ssreport: .*/fast: .*the iterations are not in proportion to the time' "$folder/err" ||
        fail "no warning in: $(cat "$folder/err")"
    grep -q '^ssreport: .*/front: .*instance 1 ended after .*no background of group' \
        "$folder/err" || fail "the foreground is not named in: $(cat "$folder/err")"
    grep -q '^ssreport: .*serial default: it was killed$' "$folder/err" || fail "what has no record"
    [ "$(value energy.csv 1 covers)" = "command: a constant" ] || fail "what does power cover?"
    [ "$(value energy.csv 1 watts)" = 7.5 ] || fail "watts"
    [ "$(value energy.csv 2 note)" = "no power was recorded" ] || fail "power of what has none"
    [ "$(grep -c '/a,' "$folder/report/energy-steps.csv")" -eq 4 ] || fail "energy by step"
    grep -q '^power covers command: a constant$' "$folder/out" || fail "no source in: $(cat "$folder/out")"
    is_well_formed "$folder/report/report.html" || fail "the page of an experiment is not well-formed"
    mkdir "$folder/published"
    printf 'workload,target_percent,cdc\nfop,50,1.5\n' >"$folder/published/constant-load-mse.csv"
    report 0 -o "$folder/report" --published "$folder/published" "$experiment"
    [ "$(value constant-load.csv 1 error_mse_e4_published)" = 1.5 ] || fail "--published"
    grep -q '^ssreport: published figures: constant-load-mean-error.csv: No such file' "$folder/err" ||
        fail "what is missing is not named: $(cat "$folder/err")"
    report 0 -q --published "$folder/none" "$experiment"
    grep -q '^ssreport: no published figures: .*/none: No such file' "$folder/err" ||
        fail "no folder is not named: $(cat "$folder/err")"
    report 0 -q --deviation 100% "$experiment"
    ! grep -q 'not in proportion' "$folder/err" || fail "--deviation"
}

# Of many runs there are the figures, but no pictures of each.
many_runs() {
    local many number
    record_a_short_run
    many=$folder/many
    for ((number = 1; number <= 41; number++)); do
        mkdir -p "$many"
        cp -r "$folder/run" "$many/$number"
    done
    report 0 -q -o "$folder/report" "$many"/*
    ! grep -q '<figcaption>Target and load' "$folder/report/report.html" || fail "too many pictures"
    grep -q 'drawn in reports of at most 40' "$folder/report/report.html" || fail "no word on pictures"
    is_well_formed "$folder/report/report.html" || fail "the page of many runs is not well-formed"
    rm -r "$many"
}

words_are_checked() {
    local status
    mkdir -p "$folder/empty"
    record_a_short_run
    report 125 "$folder/empty"
    error_has 2 'there is no record to report'
    report 125
    error_has 1 'name at least one record'
    report 125 --against "$folder/run"
    error_has 1 '--against stands between two sets'
    report 125 --edgee 3s "$folder/run"
    error_has 1 "did you mean '--edge'?"
    report 125 -o "$folder/none/report" "$folder/run"
    error_has 1 'No such file or directory'
    report 0 -q "$folder/run" --edge 500m
    [ ! -s "$folder/out" ] || fail "--quiet prints: $(cat "$folder/out")"
    report 0 -q "$folder/run" --interval 10m
    error_has 1 'warning: --interval: 10m is 10 milliseconds; for minutes write 10M'
    report 125 "$folder/run" --agianst "$folder/run"
    error_has 1 "did you mean '--against'?"
    report 0 --help
    awk 'length > 80 { exit 1 }' "$folder/out" || fail "help wider than 80 columns"
    grep -q -- --against "$folder/out" || fail "help does not name --against"
    report 0 --version
    if [ -w /dev/full ]; then
        status=0
        "$bin/ssreport" "$folder/run" >/dev/full 2>"$folder/err" || status=$?
        [ "$status" -eq 125 ] || fail "a full disk: status $status"
    else
        skip_part "dev-full: there is no /dev/full"
    fi
}

run_case figures_of_a_paused_run
run_case whole_and_interrupted_runs
run_case two_steps
run_case an_experiment
run_case many_runs
run_case words_are_checked
end_cases
