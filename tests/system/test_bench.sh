#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the benches in their shortest form and checks the form of their output; figures may have any value. Benches
# that measure this machine run only with the tests that need an idle machine.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=guest.sh
. "$here/guest.sh"
# shellcheck disable=SC2034 # await reads it
patience=1200 # a build, or an emulated machine, next to other work
benches=$(cd "$here/../bench" && pwd)

# bench NAME OPTION...: runs a bench, which must succeed; its output is in $output.
bench() {
    timeout "$patience" "$benches/$1" --build "$build" "${@:2}" >"$output" 2>&1 || fail "$*: status $?"
    grep -q '^Machine: [0-9]* CPUs, ' "$output" || fail "$*: the machine is not described"
}

# prints PATTERN: fails unless one line of the output matches.
prints() {
    grep -Eqx "$1" "$output" || fail "no line of the form $1"
}

number='-?[0-9]+(\.[0-9]+)?'

# Their output depends on the machine.
benches_run_in_their_shortest_form() { # case, timing
    local name options
    need_built ssrequest serve
    have_first_cpus $(($(nproc) - 1)) || skip "cpus: the first ones may not be used"
    while read -r name options; do
        # shellcheck disable=SC2086 # words
        bench "$name.sh" $options </dev/null
    done <<END
own-cpu --instances 4 --control fixed --rounds 1 --seconds 1
requests --seconds 1 --rates 50 --rounds 2 --turn 1 --minutes 0.02 --output $scratch/requests
END
}

guests_bench_prints_the_load_in_a_guest() { # case, timing
    local guest
    need_guest
    bench guests.sh --guest "$guest" --levels 50 --seconds 2 --kills 1 --seed 6
    prints "Guest: .*, (kvm|tcg)"
    prints "\| +50\.0 % \| +$number % \| +[-+]$number % \| +$number \| +$number s \| +$number s \| +$number % \| $(:
        )+[-+]$number ms \| +[-+]$number ms \|"
    prints "\| +$number s \| +[0-9]+ \|"
    prints "Nothing is left"
}

simulated_load_lines_meet_the_required_accuracy() { # case
    need_built reports
    "$benches/loadline.sh" --build "$build" 100 >"$output" 2>&1 || fail "loadline.sh: status $?"
    prints " +sssim +$number +$number +\| +$number +$number"
    prints " +knee above +$number +$number +$number \| +$number +$number"
}

simulated_duets_meet_the_required_error_rates() { # case
    need_built reports
    "$benches/duet.sh" --build "$build" 1000 1 >"$output" 2>&1 || fail "duet.sh: status $?"
    prints "\| A and A, generated +\| +999 \| +$number \| +$number \| +$number \| +$number \|"
    prints "\| B 1 % slower, in sssim +\| +1 \| +$number \| +$number \| +$number \| +$number \|"
    prints "\| A and A +\| +1000 \| +$number \| +$number \| +$number \|"
    prints "\| B 1 % slower +\| +1000 \| +$number \| +$number \|"
    prints "\| A and A, generated +\| +299 \| +$number \| +$number \| +$number \| +$number \|"
    prints "\| B 3 % slower, generated +\| +299 \| +$number \| +$number \| +$number \| +$number \|"
    [ "$(grep -c '^Bars: .*: met$' "$output")" -eq 4 ] || fail "not all bars are met"
}

simulated_verdicts_meet_the_required_error_rates() { # case
    "$build/tests/verdict-bench" 40 1 >"$output" 2>&1 || fail "verdict-bench: status $?"
    prints "40 runs and requests without fault: 0 flagged .*"
    prints "\| a full disk +\| lines_lost +\| +1 \| +1 \| +0 \|"
    prints "32 faults: 0 without the right flag .*"
}

verdict_bench_reports_injected_faults() { # case, timing
    local row
    need_built ssrequest
    "$build/bin/ssburn" serve --help >"$output" 2>&1 || skip "left-out: $(cat "$output")"
    bench verdict.sh --clean 0 --each 1 --seconds 3 --kinds failed,cut-short,no-service,few-requests
    for row in failed:failed_instances cut-short:interrupted no-service:successes few-requests:successes; do
        prints "\| ${row%:*} +\| ${row#*:} +\| +1 \| +0 \|"
    done
    prints "4 runs with a fault: 0 without the right flag"
}

simulated_knobs_are_compared_with_published_ones() { # case
    local knob
    need_built ssrequest
    bench published_knobs.sh --seconds 2
    for knob in 'frequency .*33 . 14' 'horizontal.*61 . 29' 'vertical.*68 . 27'; do
        grep -Eq "^\| $knob \|$" "$output" || fail "no row of the form $knob"
    done
    prints "\| 25 \| $number \| -$number \|"
    prints "\| 50 per second \| round-robin \| 36 % \| 0.74 \| 10.00 \|"
    ! grep -q sssim: "$output" || fail "$(cat "$output")"
}

a_load_policy_outperforms_both_fixed_placements() { # case
    [ -x "$build/tests/follow" ] || skip "left-out: built without ssactuate"
    "$build/tests/follow" --phases 10 --seconds 30 "$benches/../../tools/experiments/published" >"$output" 2>&1 ||
        fail "follow: status $?"
    for system in kvm lxc; do
        prints "\| $system +\| +25 \| +$number \| +$number \| +$number \| +\+$number \| +\+$number \| +9 \|"
    done
    prints ".*: met"
}

# No request may be lost on any machine; other results depend on the machine.
knobs_bench_loses_no_request() { # case, timing
    need_built ssactuate
    need_built ssrequest
    need_built serve
    bench knobs.sh --parts shrink
    prints "Of 1200 requests, 0 were lost; 2 sets of instances."
    prints "Bar: no request is lost when an instance leaves: met"
}

# Answers of earlier calls are counted; other answers depend on the machine.
questions_bench_counts_right_answers() { # case
    local answers=$scratch/answers
    mkdir "$answers"
    for number in {1..91}; do
        echo "$((number > 81 ? 1 : -1)) 2" >"$answers/equal-$number.txt"
    done
    printf '%s\n' 'neighbor hurts' 'memory no effect' 'sleeper no effect' 'sleeper hurts, but only shifts its work' |
        tee "$answers"/antagonist-{1,2,3}.txt >"$output"
    printf '%s\n' '50 0.2' '60 -0.9' '100 -1.9' >"$answers/loadline-1.txt"
    echo '-0.1 4' >"$answers/slower-1.txt"
    ! "$benches/questions.sh" --build "$build" --answers "$answers" --studies 0 >"$output" 2>&1 || fail "no limit is missed"
    prints "Bar: duet finds a difference between equal commands: 10 of 91, at most 9 of 100: missed"
    prints "Bar: duet does not find 2 % more work: 1 of 1, at most 4 of 40: not decided"
    prints "loadline 1: two studies differ by 0.9 % in the median level, by at most 1.9 % in each"
    prints "Bar: two loadlines differ by over 1 % in the median level, or by over 2 % in one: 0 of 1, at most 0 of 1: met"
    prints "Bar: antagonist does not find the neighbor: 0 of 3, at most 1 of 20: not decided"
    prints "Bar: antagonist accuses a sleeper: 3 of 6, at most 2 of 40: missed"
    rm "$answers/equal-91.txt"
    "$benches/questions.sh" --build "$build" --answers "$answers" --studies 0 --parts equal >"$output" 2>&1 || true
    prints "Bar: duet finds a difference between equal commands: 9 of 90, at most 9 of 100: not decided"
}

questions_bench_ends_its_study_on_a_signal() { # case
    local study=$scratch/questions/equal-1 pid
    need_built ssbatch
    "$benches/questions.sh" --build "$build" --answers "$scratch/questions" --parts equal >"$output" 2>&1 &
    pid=$!
    await compgen -G "$study/.*.part" >"$scratch/runs"
    kill "$pid"
    ends 143
    [ ! -e "$study/answer.txt" ] || fail "the bench waits for the end of its study"
    ! pgrep -f "$study" >>"$output" || fail "processes of the study continue"
}

# Other processes may add load, so loads have only a lower bound. A late judge makes longer windows; the means must
# match the series that it wrote, and the means of long and short windows must be similar.
the_judge_measures_the_load_of_a_run() { # case
    printf '# up\n0 0\n1 1\n' >"$scratch/trace"
    timeout 0.6 "$build/bin/ssburn" serial >"$scratch/burnt" &
    "$build/tests/judge" 1 500,100 --trace "$scratch/trace" --series "$scratch/series" \
        >"$output" || fail "judge: status $?"
    wait $! || [ $? -eq 124 ] || fail "ssburn: status $?"
    awk -v cpus="$(nproc)" -v target="$(awk -F, 'NR > 1 { sum += $2 } END { print 100 * sum / (NR - 1) }' \
        "$scratch/series")" '
        /_(500|100)"/ && !/null/ {
            gsub(/[":,{}]/, " ")
            seen++
            if ($3 < 30 / cpus || $3 > 101 || $7 < $5 * $5 - 0.01 ||
                $9 * $9 < $7 - 0.01 || $11 < $3 - 0.01 || $13 > (/_500/ ? 2 : 10))
                exit bad = 1
            off = $5 + $3 - target
            if (/_100/ && off * off > 0.01 || /_500/ && off * off > 100)
                exit bad = 1
            if (/_100/ && ($3 > mean + 8 || $3 < mean - 8))
                exit bad = 1
            mean = $3
        }
        END { exit bad || seen < 4 }' "$output" || fail "wrong figures of the judge"
    awk -F, '
        NR == 1 && $0 == "elapsed_seconds,target,runtime,idle,ticks" { next }
        NR == 1 || $1 < 1 && ($2 > ($1 + before) / 2 + 0.001 || $2 < ($1 + before) / 2 - 0.001) {
            exit bad = 1
        }
        { before = $1 }
        END { exit bad || NR < 2 }' "$scratch/series" || fail "wrong series of the judge"
    timeout 3 "$build/tests/judge" 100 100 0.5 >"$output" || [ $? -eq 124 ] || fail "judge: failed when terminated"
    prints "  \"idle_100\": \{\"load_percent\": $number, .*, \"windows\": [1-9][0-9]?\},"
}

control_bench_prints_a_row_per_condition() { # case
    local figure="[-+]?($number|-)" lines=4
    bench control.sh --quick --configs new,fixed,attached --seconds 1 --settle 0 --csv "$scratch/results.csv"
    # Without a control group there is no run time, nor the largest load by it.
    prints "\| (new|fixed|attached) \| 2 \| 50 \|( $figure \|){6} $number \| $number \| ($number|-) \|"
    ! grep -q "^attached is skipped: no control group can be made" "$output" || lines=3
    awk -F, -v lines="$lines" 'NF != 52 { exit bad = 1 } END { exit bad || NR != lines }' "$scratch/results.csv" ||
        fail "wrong raw results: $(cat "$scratch/results.csv")"
}

# comparison_words MARK: prints the words after tests/bench/control.sh in the command of the README with this mark.
comparison_words() {
    awk -v mark="# ($1)" 'index($0, mark) == 1 { found = 1 }
        found && !/^#/ {
            sub(/^.*control.sh/, "")
            continues = sub(/\\$/, "")
            printf "%s", $0
            if (!continues) { print ""; exit }
        }' "$benches/../../README.md"
}

# The commands (a), for one class, and (c) of the comparison in the README, with a shorter time; its other commands are
# among the examples of the page. cpulimit and stress-ng may be missing.
the_commands_of_the_comparison_run() { # case, timing
    local config words figure="[-+]?($number|-)"
    read -ra words < <(comparison_words a)
    bench control.sh "${words[@]}" --classes serial --seconds 1 --settle 0
    for config in new attached cpulimit quota stress-ng; do
        if grep -q "^$config is skipped: it is not installed" "$output"; then
            skip_part "$config: not installed"
        elif ! grep "^$config is skipped: no .*group" "$output"; then
            prints "\| $config \| 4 \| 50 \|( $figure \|){6} $figure \| $figure \| ($number|-) \|"
        fi
    done
    read -ra words < <(comparison_words c)
    bench control.sh "${words[@]}" --seconds 2 --settle 0
    for config in steps ramp sine saw; do
        prints "\| new \| 4 \| $config \| .* \|"
    done
}

# The profile that the bench writes can be replayed.
zoo_bench_prints_tables_and_gains() { # case, timing
    local figure="[-+]?($number|-)" profile="$scratch/zoo/xz.profile"
    need xz
    bench zoo.sh --quick --warmup 0 --settle 0 --seconds 2 --rounds 2 --targets 50 --gains "$scratch/zoo" \
        --with '-c fixed -D 20m' --csv "$scratch/zoo.csv"
    prints "\| xz \| 2 \| 50 \| $number \|( $figure( \([-+.0-9]*\))? \|){5}"
    grep -q "medians of 2 rounds; -c fixed -D 20m$" "$output" || fail "the table was not extended"
    prints "By idle time: median MSE $number \(bar: 0\.5\), worst $number \(bar: 3\), [01] of 1 cells miss"
    prints "\| xz \| $number \| $number \| $number \| $number\.\.$number \|"
    awk -F, 'NF != 50 { exit bad = 1 } END { exit bad || NR != 3 }' "$scratch/zoo.csv" ||
        fail "wrong raw results: $(cat "$scratch/zoo.csv")"
    awk -F, 'NF != 4 { exit bad = 1 } END { exit bad || NR < 2 || NR > 21 }' "$scratch/zoo/xz-2-50-2.csv" ||
        fail "wrong gains: $(cat "$scratch/zoo/xz-2-50-2.csv")"
    "$build/bin/sssim" -P 2 -n 2 --class "profile:$profile" -l 25% --duration 5s >"$output" ||
        fail "invalid profile: $(cat "$profile")"
    prints "samples +10"
}

two_are_launched() {
    [ "$(cat "$scratch"/control/*/launched 2>&1 | grep -c '^[0-9]* [0-9]*$')" -eq 2 ]
}

is_empty() {
    [ -z "$(ls "$1")" ]
}

an_interrupted_bench_leaves_nothing_behind() { # case
    local signal leader leaders pid
    mkdir "$scratch/control"
    for signal in TERM KILL; do
        TMPDIR=$scratch/control "$benches/control.sh" --build "$build" --quick --configs fixed \
            --seconds 120 >"$output" 2>&1 &
        pid=$!
        await two_are_launched
        mapfile -t leaders < <(cut -d ' ' -f 1 "$scratch"/control/*/launched)
        kill "-$signal" "$pid"
        await is_empty "$scratch/control"
        for leader in "${leaders[@]}"; do
            await is_gone "$leader"
        done
        wait "$pid" || true
    done
}

leads_its_session() {
    [ "$(cut -d ' ' -f 6 "/proc/$1/stat")" = "$1" ]
}

# After all processes of a program have ended, a stranger may get its pid.
only_programs_of_the_bench_are_ended() ( # case
    # shellcheck disable=SC2030,SC2031 # launched.sh reads it
    folder=$scratch
    # shellcheck source=../bench/launched.sh
    . "$benches/launched.sh"
    stranger=$(setsid sleep 1000 >/dev/null & echo $!)
    await leads_its_session "$stranger"
    launched=("$stranger")
    starts[$stranger]=1
    end_launched
    kill -0 "$stranger" 2>/dev/null || fail "a stranger was ended"
    launched=("$stranger")
    starts[$stranger]=$(start_of "$stranger")
    end_launched
    is_gone "$stranger" || fail "a program of the bench still runs"
)

run_cases
