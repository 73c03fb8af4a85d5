#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of tools/experiments/duet. Most runs are not measured: a stand-in for showstopper writes their records at once.
# Arguments: the build folder, and the one case to run; none: all.
# shellcheck disable=SC2317 # cases are called by their names
# shellcheck disable=SC2154 # experiments.sh and cases.sh set variables
set -euo pipefail

# shellcheck source=skip.sh
. "$(dirname "$0")/skip.sh"
# shellcheck source=cases.sh
. "$(dirname "$0")/cases.sh"
# shellcheck source=experiments.sh
. "$(dirname "$0")/experiments.sh"
{ [ -x "$build/bin/ssreport" ] && [ -x "$build/bin/ssbatch" ]; } || skip "left-out: ssreport or ssbatch is not built"

# stand_in: replaces showstopper for the experiments by a program that writes the record of a run of 1 s. The
# last word of the command is the number of iterations; the padding of the environment is the noise. Runs begin
# 3 s apart.
stand_in() {
    mkdir "$scratch/bin"
    ln -s "$build/bin/"* "$scratch/bin"
    ln -s "$(type -P true)" "$scratch/bin/work"
    rm "$scratch/bin/showstopper"
    {
        printf '#!/usr/bin/env bash\nreal=%q scratch=%q\n' "$build/bin/showstopper" "$scratch"
        cat <<'END'
[[ " $* " = *" --record "* ]] || exec "$real" "$@"
while [ "$1" != -- ]; do
    [ "$1" != --record ] || record=$2
    shift
done
[[ $record =~ -(aa|ab)-([0-9]+)-([1-4])-[ab]/ ]] || exit 1
run=${BASH_REMATCH[*]:1}
[ "$run" != "ab 3 2" ] || [ -e "$scratch/repaired" ] || exit 9
echo "$run" >>"$scratch/carried-out"
count=$((${*: -1} * (1000 + $5 % 41 - 20) / 1000))
mkdir "$record"
echo '{"version": "1", "command": ["work"], "instances": 1, "cpu_count": 1}' >"$record/plan.json"
echo '{"time":"","elapsed_seconds":0.000000,"event":"counting"}' >"$record/events.jsonl"
echo "{\"ended_by\": \"duration\", \"samples\": 2, \"instances\": 1, \"iterations\": $count, \"warnings\": []}" \
    >"$record/summary.json"
second=0$((3 * ${run##* })) second=${second: -2}
{
    echo time,elapsed_seconds,target,load,error,load_ticks,duty
    echo "2026-11-20T10:00:$second.000Z,0.500000,1,1,0,1,1"
    echo "2026-11-20T10:00:$second.500Z,1.000000,1,1,0,1,1"
} >"$record/samples.csv"
for ((i = 1; i <= count; i++)); do
    printf '0,%d.%06d,%d.%06d\n' 0 $(((i - 1) * 1000000 / count)) $((i == count)) $((i == count ? 0 : i * 1000000 / count))
done >"$record/iterations.csv"
sed -i '1i instance,start,end' "$record/iterations.csv"
END
    } >"$scratch/bin/showstopper"
    touch "$scratch/bin/work" # it is named, but the stand-in does not run it
    chmod +x "$scratch/bin/showstopper" "$scratch/bin/work"
    options=(--bin "$scratch/bin" --ram "$scratch/ram" --others 100%)
}

# duet STATUS OPTION...: calls the experiment and checks its exit status.
duet() {
    local status=0
    call duet "${@:2}" || status=$?
    [ "$status" -eq "$1" ] || fail "duet ${*:2}: status $status instead of $1"
    nothing_is_left
}

# A run fails in the first call. The second call continues and decides; the third one repeats the answer.
a_duet_continues_and_decides() {
    stand_in
    local work=(--a 'work 100' --b 'work 90' --fail-above 2% --at-most 300s --output results) answer
    duet 125 "${work[@]}"
    grep -q '^duet: some runs failed' "$output" || fail "the failure is not reported"
    touch "$scratch/repaired"
    duet 1 "${work[@]}"
    answer=$(head -n 1 "$scratch/results/answer.txt")
    [[ $answer =~ ^'B is '[0-9.]+' % ('[0-9.]+' to '[0-9.]+') slower than A; A against A: '-?[0-9.]+' % (' ]] ||
        fail "the answer is: $answer"
    grep -Fqx "$answer" "$output" || fail "the answer is not printed"
    grep -Fq "**$answer** (A: \`work 100\`, B: \`work 90\`; 10 blocks of four runs)" "$scratch/results/answer.md" ||
        fail "the line of Markdown is: $(cat "$scratch/results/answer.md")"
    grep -q '"decision": "failed"' "$scratch/results/answer.json" || fail "$(cat "$scratch/results/answer.json")"
    grep -q '<title>Which is faster, A or B?' "$scratch/results/report/report.html" || fail "another title"
    [ "$(sort "$scratch/carried-out" | uniq -d)" = "" ] || fail "a run was carried out twice"
    [ "$(wc -l <"$scratch/carried-out")" -eq 80 ] || fail "expected 80 runs"
    duet 1 "${work[@]}"
    [ "$(wc -l <"$scratch/carried-out")" -eq 80 ] || fail "a finished study was continued"
    duet 125 "${work[@]/2%/3%}"
    grep -q 'refused: it is done' "$output" || fail "another limit is accepted for the same runs"
}

# Without a limit, blocks are added until the interval is narrow enough.
a_duet_ends_when_it_is_precise() {
    stand_in
    touch "$scratch/repaired"
    duet 0 --a 'work 1000' --b 'work 1000' --until 1.2% --output results
    grep -q '"decision": "precise enough"' "$scratch/results/answer.json" || fail "$(cat "$scratch/results/answer.json")"
    grep -q '"planned_blocks": null' "$scratch/results/answer.json" || fail "the number of blocks is limited"
    [ "$(wc -l <"$scratch/carried-out")" -gt 80 ] || fail "the study ended before 11 blocks of A and B"
    ! grep -vq '^[ab]' "$scratch/carried-out" || fail "$(cat "$scratch/carried-out")"
}

# Measures the first block of a plan. Each launch has an environment of the planned size.
blocks_are_measured_with_padded_environments() {
    local run bytes
    experiment duet --plan --a "sh -c 'echo \${#SHOWSTOPPER_PADDING}; exec sleep 0.1'" --b 'sleep 0.1' --at-most 90s
    sed '/^run aa-2-1/,$d' "$output" >"$scratch/plan"
    [ "$(grep -c '^run aa-1-' "$scratch/plan")" -eq 4 ] || fail "the first block has not four runs"
    PATH=$build/bin:$PATH ssbatch --quiet "$scratch/study" "$scratch/plan" >"$output" 2>&1 || fail "ssbatch: status $?"
    for run in "$scratch/study/aa-1-"*; do
        bytes=$(grep -hx '[0-9]*' "$run/output/"* | sort -u)
        grep -Fq "exec \\\"\$@\\\"\"," "$run/run.json" || fail "no padding in $run/run.json"
        grep -Fq "\"$bytes\"" "$run/run.json" || fail "$run: $bytes bytes are not those of the plan"
    done
    "$build/bin/ssreport" --decide "$scratch/study" >"$output" 2>&1 && fail "a single block decides"
    prints "No answer yet: 1 of at least 20 blocks are done"
}

# The background has its own record, is warm before the command starts, and ends with it.
a_background_runs_beside_each_command() {
    printf '[nap]\ncommand = sleep 0.05\n' >"$scratch/catalogue"
    experiment duet --plan --a 'sleep 0.1' --b 'sleep 0.1' --beside nap@30% --beside-warmup 0.2s --at-most 120s \
        --catalogue "$scratch/catalogue"
    sed '/^run aa-1-2/,$d' "$output" >"$scratch/plan"
    grep -q '^main program .* -f own -l 100% -c fixed -C duty=100% ' "$scratch/plan" || fail "the command is throttled"
    grep -q '^beside background .* -f own -l 30% ' "$scratch/plan" || fail "the background is not held by its own CPU time"
    PATH=$build/bin:$PATH ssbatch --quiet "$scratch/study" "$scratch/plan" >"$output" 2>&1 || fail "ssbatch: status $?"
    "$build/bin/ssreport" --table runs "$scratch/study" >"$output" 2>&1 || fail "ssreport: status $?"
    [ "$(grep -c '/aa-1-1-[ab]/\(program\|background\),' "$output")" -eq 2 ] || fail "expected two records"
}

# One of two blocks has each order; the number of bytes differs between runs.
orders_are_balanced_and_paddings_differ() {
    experiment duet --plan --a 'sleep 1' --b 'sleep 2'
    ! sed -n 's/^run a[ab]-\([0-9]*\)-1-\([ab]\) .*/\2/p' "$output" | paste -d '\0' - - | grep -qx 'aa\|bb' ||
        fail "two blocks have the same order"
    sed -n 's/^run a[ab]-\([0-9]*\)-1-\([ab]\) .*/\2/p' "$output" | paste -d '\0' - - | sort -u | grep -c . |
        grep -qx 2 || fail "the order of blocks is not random"
    [ "$(sed -n 's/^main program .* \([0-9]*\) sleep [12]$/\1/p' "$output" | sort -u | wc -l)" -gt 70 ] ||
        fail "paddings repeat"
    [ "$(sed -n 's/^main program .* \([0-9]*\) sleep [12]$/\1/p' "$output" | sort -n | tail -n 1)" -le 4095 ] ||
        fail "a padding is too long"
}

invalid_calls_are_refused() {
    refuses "--a and --b are required" duet --a 'sleep 1'
    refuses "--metric: http://localhost: not one of throughput time" duet --a x --b y --metric http://localhost
    refuses "--seconds has no effect with --metric time" duet --a x --b y --metric time --seconds 3s
    refuses "--b: nothing: no such program" duet --a 'sleep 1' --b 'nothing 2'
    refuses "--until: no interval is that narrow" duet --a x --b y --until 0
    refuses "x: unexpected argument: a command belongs after --" duet --a x --b y x
    refuses "--until: wide: a number is required" duet --a x --b y --until wide
    refuses "--beside: serial: a workload and its load are required" duet --a x --b y --beside serial
    refuses "--beside: nothing: no such workload" duet --a x --b y --beside nothing@60%
    refuses "--at-most: 20 blocks of four runs take 4 min 16 s" duet --a x --b y --at-most 1M --seconds 3s
    refuses "less than 0.6 s of it follow --warmup" duet --a x --b y --seconds 2s --warmup 2s
    refuses "unexpected command: use --a and --b" duet --a x --b y -- z
    refuses "duet: --a: nosuch: no such program" duet --a 'nosuch x' --b true
    refuses "duet: --b: the quote ' at column 6 is not closed" duet --a true --b "true 'x"
    local status=0
    call duet --a x || status=$?
    [ "$status" -eq 125 ] || fail "a wrong call ends with $status, as a study could"
    "$build/bin/ssreport" --decide "$scratch" >"$output" 2>&1 && fail "--decide accepts any folder"
    grep -q 'not a study of tools/experiments/duet' "$output" || fail "no reason"
    "$build/bin/ssreport" --decide --format json "$scratch" >"$output" 2>&1 && fail "--decide --format json is accepted"
    grep -q -e '--table duet has the numbers' "$output" || fail "no advice"
}

run_case a_duet_continues_and_decides
run_case a_duet_ends_when_it_is_precise
run_case blocks_are_measured_with_padded_environments
run_case a_background_runs_beside_each_command
run_case orders_are_balanced_and_paddings_differ
run_case invalid_calls_are_refused
end_cases
