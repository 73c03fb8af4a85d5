#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of sslab duet; test_lab_duet.py has those of its plans. In most cases a stand-in for showstopper writes records
# without running anything; see experiments.sh.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=experiments.sh
. "$here/experiments.sh"
need_built ssbatch reports

# stand_in_for_turns: like stand_in, for --order alternate. The last word of the command is the number of iterations per
# second in its turns. Right after a switch, B is five times faster, which must not count.
stand_in_for_turns() {
    stand_in
    sed -i '/^\[\[ $record =~/,$d' "$scratch/bin/showstopper"
    # shellcheck disable=SC2016 # for the stand-in
    sed -i 's/^while .*/&\n    [ "$1" != -T ] || trace=$2\n    [ "$1" != --duration ] || duration=${2%s}/' \
        "$scratch/bin/showstopper"
    cat <<'END' >>"$scratch/bin/showstopper"
[[ $record =~ -(aa|ab)-([0-9]+)/.*/([ab])$ ]] || exit 1
side=${BASH_REMATCH[3]} minute=${BASH_REMATCH[2]}
[ "${BASH_REMATCH[1]}" = aa ] || minute=$((minute + 20))
echo "${BASH_REMATCH[*]:1}" >>"$scratch/carried-out"
write_record 1 99 1 "$minute" 1
read -r _ level <"$trace"
turn=$(sed -n '2s/+\(.*\)s .*/\1/p' "$trace")
awk -v rate="${*: -1}" -v side="$side" -v turn="$turn" -v own="$([ "$level" = 100% ] || echo 1)" -v to="$duration" \
    -v noise="$5" 'BEGIN {
        srand(noise)
        print "instance,start,end"
        last = -1
        for (t = own * turn; t < to; t = end) {
            begin = int(t / turn + 1e-9)
            if (begin != last) speed = rate * (1 + 0.02 * (rand() - 0.5))
            last = begin
            end = t + 1 / (speed * (side == "b" && t - begin * turn < 0.4 ? 5 : 1))
            if (end > (begin + 1) * turn) end += turn
            printf "0,%.6f,%.6f\n", t, end
        }
    }' >"$record/iterations.csv"
END
}

# stand_in_beside: like stand_in, for --order beside on two CPUs. The last word of the command is the number of
# iterations. The first place is 20 % slower, and two programs that start in the same run have the same noise. Files in
# $scratch have the loss factor of two serial programs (loss) and the machine's load by a command alone (used-a,
# used-b).
stand_in_beside() {
    stand_in
    sed -i '/^\[\[ $record =~/,$d' "$scratch/bin/showstopper"
    # shellcheck disable=SC2016 # for the stand-in
    sed -i 's/^while .*/&\n    [ "$1" != --cpus ] || cpus=$2/' "$scratch/bin/showstopper"
    printf '#!/bin/sh\nprintf "0,0,0\\n1,1,0\\n"\n' >"$scratch/bin/lscpu"
    chmod +x "$scratch/bin/lscpu"
    cat <<'END' >>"$scratch/bin/showstopper"
[[ $record =~ ssbatch-[0-9]+-[0-9a-f]+-([a-z]+)-([0-9ab]+)(-([12]))?.*/([^/]*)$ ]] || exit 1
load=0.5 count=200 second=0
[ ! -e "$scratch/broken" ] || exit 9
case ${BASH_REMATCH[1]} in
used) load=$(cat "$scratch/used-${BASH_REMATCH[2]}" || echo 0.5) ;;
both) count=$(cat "$scratch/loss" || echo 199) ;;
aa | ab)
    noise=$(cksum <<<"${BASH_REMATCH[*]:1:4}")
    count=$((${*: -1} * (100 + ${noise%% *} % 21) / 100 * (4 + cpus) / 5))
    second=$((6 * BASH_REMATCH[4]))
    echo "${BASH_REMATCH[*]:1} $cpus" >>"$scratch/carried-out"
    ;;
esac
write_record 2 "$count" "$load" 0 "$second"
END
}

# duet STATUS OPTION...: calls the experiment and checks its exit status.
duet() {
    local status=0
    call duet "${@:2}" || status=$?
    [ "$status" -eq "$1" ] || fail "duet ${*:2}: status $status instead of $1"
    nothing_is_left
}

# A run of the first call fails. The second call continues and decides; the third one repeats the answer.
a_duet_continues_after_failed_runs() { # case
    stand_in
    local work=(--a 'work 100' --b 'work 90' --fail-above 2% --at-most 300s --output results) answer
    duet 125 "${work[@]}"
    grep -q '^sslab duet: some runs failed' "$output" || fail "the failure is not reported"
    touch "$scratch/repaired"
    duet 1 "${work[@]}"
    answer=$(head -n 1 "$scratch/results/answer.txt")
    [[ $answer =~ ^'B is '[0-9.]+' % ('[0-9.]+' to '[0-9.]+') slower than A; A against A: '-?[0-9.]+' % (' ]] ||
        fail "the answer is: $answer"
    grep -Fqx "$answer" "$output" || fail "the answer is not printed"
    grep -Fq "**$answer** (A: \`work 100\`, B: \`work 90\`; 10 blocks of four runs)" "$scratch/results/answer.md" ||
        fail "the line of Markdown is: $(cat "$scratch/results/answer.md")"
    grep -q '"decision": "failed"' "$scratch/results/answer.json" || fail "$(cat "$scratch/results/answer.json")"
    grep -q '<title>Which is faster, A or B?' "$scratch/results/report/report.html" || fail "the title differs"
    [ "$(sort "$scratch/carried-out" | uniq -d)" = "" ] || fail "a run was carried out twice"
    [ "$(wc -l <"$scratch/carried-out")" -eq 80 ] || fail "expected 80 runs"
    duet 1 "${work[@]}"
    [ "$(wc -l <"$scratch/carried-out")" -eq 80 ] || fail "a finished study was continued"
    duet 125 "${work[@]/2%/3%}"
    grep -q 'refused: already done' "$output" || fail "another limit is accepted for the same runs"
}

# The signal comes in a run of a block that was added.
a_duet_continues_in_the_middle_of_a_block() { # case
    patience=800
    stand_in
    touch "$scratch/repaired"
    local work=(--a 'work 1000' --b 'work 1000' --until 1% --at-most 300s --output results) status=0
    # shellcheck disable=SC2016 # for the stand-in
    sed -i '/^count=/a [ "$run" != "ab 12 2" ] || [ -e "$scratch/ended" ] || { touch "$scratch/ended"; kill "$(<"$scratch/pid")"; exec sleep 1000; }' \
        "$scratch/bin/showstopper"
    "$bin/sslab" duet "${options[@]}" "${work[@]}" >"$output" 2>&1 &
    echo $! >pid
    wait $! || status=$?
    [ "$status" -eq 143 ] || fail "status $status instead of that of SIGTERM"
    prints "sslab duet: interrupted; repeat the call to continue"
    nothing_is_left
    duet 0 "${work[@]}"
    [ "$(sort carried-out | uniq -d)" = "ab 12 2" ] || fail "other runs than the ended one are repeated"
    grep -q '"decision": "' results/answer.json || fail "no answer"
}

# Without a limit, a command that no longer works would be repeated forever.
a_duet_ends_when_no_run_has_a_figure_any_more() { # case
    stand_in
    touch "$scratch/repaired"
    # shellcheck disable=SC2016 # for the stand-in
    sed -i '/^count=/a read -r _ number _ <<<"$run"; [ "$number" -le 10 ] || count=0' "$scratch/bin/showstopper"
    duet 125 --a 'work 1000' --b 'work 1000' --until 0.01% --output results
    prints "sslab duet: the last five blocks of A and B have no figure: .*"
    [ "$(wc -l <"$scratch/carried-out")" -eq 100 ] || fail "runs: $(wc -l <"$scratch/carried-out")"
}

# The unit of comparison is a pair of processes. Iterations right after a switch or across one do not count.
alternating_processes_are_compared() { # case
    stand_in_for_turns
    local work=(--order alternate --iteration x --a 'work 100' --b 'work 90' --output results) answer
    duet 1 "${work[@]}" --fail-above 2% --at-most 1500s
    answer=$(head -n 1 "$scratch/results/answer.txt")
    [[ $answer =~ ^'B is '(9\.[5-9]|10\.[0-5])' % ('[0-9.]+' to '[0-9.]+') slower than A; A against A: ' ]] ||
        fail "the answer is: $answer"
    grep -Fq "; 10 pairs of processes)" "$scratch/results/answer.md" || fail "$(cat "$scratch/results/answer.md")"
    [ "$(sort -u "$scratch/carried-out" | wc -l)" -eq 40 ] || fail "expected 20 runs of two processes"
    grep -q '"planned_blocks": 15' "$scratch/results/answer.json" || fail "$(cat "$scratch/results/answer.json")"
}

# If 20 pairs exceed the time limit, each comparison is made once, and the answer says so.
the_answer_of_a_single_pair_is_limited_to_its_two_processes() { # case
    stand_in_for_turns
    duet 0 --order alternate --iteration x --a 'work 100' --b 'work 90' --output results --at-most 80s --warmup 1s
    prints "This time is too short for 20 pairs of processes, .*, give --at-most 3 min .*"
    [ "$(wc -l <"$scratch/carried-out")" -eq 4 ] || fail "expected two runs of two processes"
    prints "B is (9\.[5-9]|10\.[0-5]) % \([0-9.]+ to [0-9.]+\) slower than A, of these two processes; A against A: .*"
    grep -q '; one pair of processes, 30 turns)$' "$scratch/results/answer.md" || fail "$(cat "$scratch/results/answer.md")"
}

# Both processes of a plan are started, and one of them is stopped at any time.
alternating_processes_never_run_at_the_same_time() { # case
    local loop='while :; do echo x; sleep 0.05; done' seen turn side
    for turn in 1 6 30; do
        experiment duet --plan --order alternate --iteration ^x --a "sh -c '$loop'" --b "sh -c '$loop'" \
            --seconds "${turn}s" --warmup 0 --at-most 2h
        # On a busy machine, a process may be executed after the planned start and end late: the plan starts later, and
        # ends before a third turn.
        sed "s/--duration [0-9]*s/--duration $((1900 * turn))m/; s/{at+1s/{at+5s/; /^run aa-2 /,\$d" "$output" >"$scratch/plan"
        PATH=$build/bin:$PATH ssbatch --quiet "$scratch/study-$turn" "$scratch/plan" >"$output" 2>&1 || fail "ssbatch: status $?"
        seen=$(for side in a b; do
            awk -F , -v side="$side" -v turn="$turn" '{ begin = $2 / turn; end = $3 / turn }
                begin > 0.5 && end < 1 || begin > 1.5 && end < 2 { print side, int(begin) }' \
                "$scratch/study-$turn/aa-1/$side/iterations.csv"
        done | sort -u | paste -sd ,)
        case $seen in
        "a 0,b 1" | "a 1,b 0") return ;;
        esac
        # On a busy machine, no iteration may end in a short turn, or a process be stopped late.
    done
    fail "turns with iterations: $seen"
}

# Each block runs both commands at both places. The first place is 20 % slower, which cancels out.
side_by_side_commands_swap_cpus() { # case
    have_first_cpus 1 || skip "cpus: CPUs 0 and 1 are not both available"
    stand_in_beside
    local answer
    need_built showstopper-platform
    PATH=$scratch/bin:$PATH duet 0 --order beside --force --on 0,1 --a 'work 1000' --b 'work 950' --output results --at-most 240s
    answer=$(head -n 1 "$scratch/results/answer.txt")
    [[ $answer =~ ^'B is '(4\.[89]|5\.[0-2])' % ('[0-9.]+' to '[0-9.]+') slower than A; A against A: 0.0 % ' ]] ||
        fail "the answer is: $answer"
    grep -Fq "; 10 blocks of two runs of both)" "$scratch/results/answer.md" || fail "$(cat "$scratch/results/answer.md")"
    [ "$(grep -c '^ab .* a 0$' "$scratch/carried-out")" -eq 10 ] || fail "A was not ten times at the first place"
    [ "$(grep -c '^ab .* b 0$' "$scratch/carried-out")" -eq 10 ] || fail "B was not ten times at the first place"
}

cpus_that_slow_each_other_are_refused() { # case
    have_first_cpus 1 || skip "cpus: CPUs 0 and 1 are not both available"
    need_built showstopper-platform
    stand_in_beside
    local work=(--order beside --on 0-1 --a 'work 100' --b 'work 90' --at-most 240s)
    echo 180 >"$scratch/loss"
    PATH=$scratch/bin:$PATH duet 125 "${work[@]}" --output lossy
    grep -q 'two serial programs on CPUs 0 and 1 lose 10 % each, so A and B would slow each other down' "$output" ||
        fail "the loss is not reported"
    rm "$scratch/loss"
    echo 0.8 >"$scratch/used-b"
    PATH=$scratch/bin:$PATH duet 125 "${work[@]}" --output wide
    grep -q 'duet: --order beside: B uses 1.6 CPUs, and its place has 1: use --order turn, or --force' "$output" ||
        fail "the CPUs that B uses are not reported"
    touch "$scratch/broken"
    PATH=$scratch/bin:$PATH duet 125 "${work[@]}" --output wide --force
    grep -q '^ssbatch: aa-1-1: failed' "$output" || fail "--force does not begin the study"
}

# Two blocks suffice to show that iterations are longer than runs.
iterations_longer_than_the_run_end_the_study_early() { # case
    stand_in
    duet 125 --a 'work 0' --b 'work 100' --at-most 300s --output results
    grep -q ': 2 of 2 blocks of A and A are left out, because no iteration ended in .*: there is no answer$' "$output" ||
        fail "no reason"
    [ "$(wc -l <"$scratch/carried-out")" -eq 8 ] || fail "the study continued after two blocks"
}

# first_runs RUN OPTION...: carries out the runs of a plan that come before this one.
first_runs() {
    experiment duet --plan "${@:2}"
    sed "/^run $1/,\$d" "$output" >"$scratch/plan"
    (cd "$scratch" && PATH=$build/bin:$PATH exec ssbatch --quiet study plan) >"$output" 2>&1 || fail "ssbatch: status $?"
}

# a_block_has_a_figure: fails unless the study is one block, which has a figure.
a_block_has_a_figure() {
    "$build/bin/ssreport" --decide "$scratch/study" >"$output" 2>&1 && fail "a single block decides"
    prints "No answer yet: 1 of at least 20 blocks are done"
    "$build/bin/ssreport" --table duet-blocks --column percent "$scratch/study" >"$output" 2>&1 || fail "no figure"
    grep -Eq '^-?[0-9]' "$output" || fail "no figure"
}

# In the first block of a plan, a service starts, answers requests and ends four times.
response_times_of_services_are_measured() { # case
    need_built ssrequest serve
    local port serve url pid
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    serve="ssburn serve --listen $port --units 1000" url=http://127.0.0.1:$port/
    first_runs aa-2-1 --metric "$url" --response p95 --rate 200 --a "$serve" --b "$serve" --at-most 300s
    a_block_has_a_figure
    PATH=$build/bin:$PATH $serve >"$scratch/listening" 2>&1 &
    pid=$!
    await grep -q listening "$scratch/listening"
    refuses "a service is already running there" duet --metric "$url" --a "$serve" --b "$serve"
    kill "$pid"
    wait "$pid" || true
}

# With --order beside, each of two services has its own port, even if A is compared with A, and they swap places.
response_times_of_services_side_by_side_are_measured() { # case
    need_built ssrequest serve showstopper-platform
    [ "$(nproc)" -gt 1 ] || skip "cpus: only one CPU"
    local serve="ssburn serve --listen {port} --units"
    first_runs aa-2-1 --metric 'http://127.0.0.1:{port}/' --rate 200 --order beside --a "$serve 1000" --b "$serve 1001" \
        --at-most 120s
    [ "$(sed '/^run aa-1-2 /,$d' "$scratch/plan" | grep -oE -- '--listen [0-9]+' | sort -u | wc -l)" -eq 2 ] ||
        fail "the services have the same port"
    [ "$(grep -o '^beside service-. \|--cpus [0-9,]*' "$scratch/plan" | paste -d ' ' - - | sort -u | wc -l)" -eq 4 ] ||
        fail "they do not swap places"
    a_block_has_a_figure
}

# With --order alternate, requests are due only while their service runs. The seed gives other ports than those of the
# test above.
response_times_of_alternating_services_are_measured() { # case
    need_built ssrequest serve
    local serve="ssburn serve --listen {port} --units 1000" side first try status
    experiment duet --plan --order alternate --metric 'http://127.0.0.1:{port}/' --rate 40 --a "$serve" --b "$serve" \
        --seconds 1.5s --warmup 0 --seed 2
    # On a busy machine, a process may be executed only after the planned start.
    sed 's/{at+1s/{at+5s/; s/{at+4s/{at+8s/; /^run aa-2 /,$d' "$output" >"$scratch/plan"
    first=$(sed -n 's/^main service-\([ab]\) .*position=1 .*/\1/p' "$scratch/plan")
    # The services have three seconds until requests begin, in which a busy machine may not start both.
    for try in 1 2 3 4; do
        status=0
        PATH=$build/bin:$PATH ssbatch --quiet "$scratch/study" "$scratch/plan" >"$output" 2>&1 || status=$?
        grep -q 'the service accepted connections only' "$output" || break
    done
    [ "$status" -eq 0 ] || fail "ssbatch: status $status, try $try: $(cat "$output")"
    for side in a b; do
        awk -F , -v second="$([ "$side" = "$first" ] && echo 0 || echo 1)" '
            NR == 1 { next }
            (int($3 / 1.5 + 1e-6) % 2) != second { wrong = 1 }
            $6 == "success" { answered = 1 }
            END { exit !(NR == 241 && answered && !wrong) }' "$scratch/study/aa-1/requests-$side.each.csv" ||
            fail "requests to $side: $(cat "$scratch/study/aa-1/requests-$side.each.csv")"
    done
    printf '0,0,99' >>"$scratch/study/aa-1/requests-a.each.csv"
    "$build/bin/ssreport" --decide "$scratch/study" >"$output" 2>&1 && fail "a single pair decides"
    prints "No answer yet: 1 of at least 20 pairs of processes are done"
    prints "ssreport: $scratch/study/aa-1/requests-a.each.csv:242: damaged row, in \"0,0,99\""
}

# In a block, quoted words of commands arrive unchanged, and so does an expression that contains a keyword of plans; each
# launch has an environment of the planned size; the background has its own record, is warm before the command starts, and
# ends with it.
runs_are_those_of_the_plan() { # case
    local run bytes
    printf '[nap]\ncommand = sleep 0.05\n' >"$scratch/catalogue"
    write_program "$scratch/my bench" <<'END'
#!/bin/sh
printf '%s\n' "$@"
while sleep 0.1; do echo "${#SHOWSTOPPER_PADDING} BYTES"; done
END
    first_runs aa-2-1 --a "'./my bench' \"it's\" 'a -- b'" --b "'./my bench' c" --iteration '^[0-9]+ BYTES$' \
        --beside nap@30% --beside-warmup 0.2s --catalogue "$scratch/catalogue" --at-most 120s
    grep -Fq -- "--iteration '^[0-9]+ BYTES\$' -- sh -c " "$scratch/plan" || fail "the expression was changed"
    grep -q '^main program .* -f own -l 100% -c fixed -C duty=100% ' "$scratch/plan" || fail "the command is throttled"
    grep -q '^beside background .* -f own -l 30% ' "$scratch/plan" || fail "the background is not held by its own CPU time"
    [ "$(find "$scratch/study" -name 'aa-1-*' | wc -l)" -eq 4 ] || fail "the first block has not four runs"
    for run in "$scratch/study/aa-1-"*; do
        bytes=$(sed -n 's/ BYTES$//p' "$run/output/0.out" | sort -u)
        grep -Fq "exec \\\"\$@\\\"\"," "$run/run.json" || fail "no padding in $run/run.json"
        grep -Fq "\"$bytes\"" "$run/run.json" || fail "$run: $bytes bytes are not those of the plan"
        grep -v ' BYTES$' "$run/output/0.out" | diff <(printf '%s\n' "it's" 'a -- b') - || fail "the words differ"
    done
    "$build/bin/ssreport" --table runs "$scratch/study" >"$output" 2>&1 || fail "ssreport: status $?"
    [ "$(grep -c '/aa-1-1-[ab]/\(program\|background\),' "$output")" -eq 2 ] || fail "expected two records"
    a_block_has_a_figure
}

wrong_calls_end_with_another_status_than_answers() { # case
    refuses "ssreport not found" duet --a true --b true
    [ "$status" -eq 125 ] || fail "status $status"
    [ ! -e duet-results ] || fail "a folder was left"
}

run_cases
