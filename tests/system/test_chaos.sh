#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs some rounds of chaos, and checks that chaos detects faults.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# pretend LINE...: replaces showstopper by a script of these lines. Its function `leave` starts a payload in the
# background and waits until it is ready, which on a busy machine takes long.
# shellcheck disable=SC2016 # for the script
pretend() {
    printf '%s\n' '#!/usr/bin/env bash' "payload='$build/tests/payload' ready='$scratch/ready'" 'leave() {
    rm -f "$ready"
    "$payload" "$@" >"$ready" &
    until grep -qs ready "$ready"; do sleep 0.01; done
}' "$@" >"$scratch/build/bin/showstopper"
}

# expect STATUS TEXT COMMAND...: fails unless the status matches and an output line begins with TEXT.
expect() {
    local wanted=$1 text=$2 status=0
    shift 2
    "$@" >"$output" 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || fail "$*: expected status $wanted, got $status"
    grep -Eq "^$text" "$output" || fail "$*: no '$text'"
}

# expect_ended: fails if a process that chaos listed is still alive.
expect_ended() {
    local pid state
    while read -r pid; do
        state=$(awk '{ print $3 }' "/proc/$pid/stat" 2>/dev/null || true)
        [[ $state = [ZX] || -z $state ]] || fail "process $pid was left in state $state"
    done < <(awk '$1 ~ /^[0-9]+$/ && $5 ~ /^[A-Z]$/ { print $1 }' "$output")
}

# one_fault STATUS TEXT OPTION...: runs the replaced showstopper once.
one_fault() {
    expect "$1" "$2" "$build/tests/chaos_fault" --payload "$build/tests/payload" \
        --planned 1.5 --patience 2 "${@:3}" -- "$scratch/build/bin/showstopper"
    expect_ended
}

# shellcheck disable=SC2016
leftover_processes_fail_the_round() { # case
    pretend 'exit 0'
    one_fault 0 '[0-9]+\.' --patience 60 --status 0
    one_fault 1 'chaos: the run ended with 0 instead of 125' --patience 60 --status 125
    pretend 'leave setsid 1'
    one_fault 1 ' +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ [RS] payload-session'
    pretend 'leave stop'
    one_fault 1 ' +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ T payload'
    pretend 'leave chain 1 0' 'kill -KILL $!'
    one_fault 1 'chaos: .* the master has ended, 1 processes'
    pretend 'leave daemon-storm 20'
    one_fault 1 'chaos: .* the master has ended'
    pretend 'exec "$payload" ignore-term'
    one_fault 1 'chaos: .* the master lives, 1 processes' --log "$scratch/log" --after ready --step 0.1:TERM:master
    rm "$scratch/log"
    pretend 'touch /dev/shm/showstopper.$$.0'
    one_fault 1 'chaos: /dev/shm/showstopper\.[0-9]+\.0 is left'
}

# shellcheck disable=SC2016
signaled_unrelated_processes_are_reported() { # case
    # Children of the shell other than payloads are not bystanders.
    local children='children() { cat /proc/[0-9]*/stat 2>/dev/null |
        awk "\$4 == $1 && \$2 ~ /payload/ { print \$1 }"; }'
    pretend "$children" 'kill -CONT $(children $$)'
    one_fault 1 'chaos: bystander .*, a child from before, was continued' --patience 60
    pretend "$children" 'kill -KILL $(children $$)'
    one_fault 1 'chaos: bystander .*, a child from before, was ended' --patience 60
    pretend "$children" 'kill -STOP $(children $PPID)'
    one_fault 1 'chaos: bystander .*, a sibling of the run, is stopped' --patience 60
    pretend "$children" 'kill -STOP $(children $PPID)' \
        'kill -CONT $(children $PPID)'
    one_fault 1 'chaos: bystander .*, a sibling of the run, was continued' --patience 60
}

# start_marked: starts a program with this test's mark and sets `pid`.
start_marked() {
    env "$mark" "$build/tests/payload" spin &
    pid=$!
    await grep -qsxz "$mark" "/proc/$pid/environ"
}

harmed_attached_programs_are_reported() { # case
    local mark=CHAOS_ATTACHED=$$ pid
    start_marked
    pretend 'exit 0'
    one_fault 0 '[0-9]+\.' --patience 60 --attached "$mark" --living "$pid"
    start_marked
    pretend "kill -STOP $pid"
    one_fault 1 'chaos: 1 attached processes are left stopped' --attached "$mark" --living "$pid"
    start_marked
    pretend "kill -KILL $pid"
    one_fault 1 "chaos: attached process $pid was killed" --patience 60 --attached "$mark" --living "$pid"
    start_marked
    pretend 'exit 0'
    one_fault 1 'chaos: 1 attached processes are still alive' --attached "$mark" --ended
    one_fault 0 '[0-9]+\.' --patience 60 --attached "$mark" --ended
}

attached_programs_survive_rounds_of_faults() { # case
    expect 0 'chaos: 4 rounds, 0 failures' \
        "$here/chaos" --gentle --rounds 4 --seed 1 --patience 60 --attached "$build"
}

# one_begun_fault TEXT OPTION...: like one_fault for a failed round, with steps after the replaced showstopper has
# printed that it has begun.
one_begun_fault() {
    rm -f "$scratch/log"
    one_fault 1 "chaos: .* $1" --log "$scratch/log" --after begun "${@:2}"
}

faults_are_injected_into_the_selected_processes() { # case
    local executor=$scratch/ss-executor
    ln -s "$build/tests/payload" "$executor"
    # A process has the name of its program only when it executes it.
    pretend "for i in 1 2 3; do
            '$executor' catch &
            until [ \"\$(cat /proc/\$!/comm)\" = ss-executor ]; do sleep 0.01; done
        done" 'echo begun' 'wait'
    one_begun_fault 'the master lives, 4 processes'
    one_begun_fault 'the master lives, 3 processes' --step 0.1:KILL:executor=7
    one_begun_fault 'the master lives, 2 processes' --step 0.1:KILL:executors-but=7
    one_begun_fault 'the master has ended, 1 processes' --step 0.1:KILL:master+executors-but=1
}

# shellcheck disable=SC2016
failed_rounds_are_counted() { # case
    pretend 'leave daemon 2'
    expect 1 'chaos: 1 rounds, 1 failures, ' \
        "$here/chaos" --gentle --rounds 3 --seed 1 --patience 0.3 "$scratch/build"
    expect_ended
    expect 1 'chaos: 2 rounds, 2 failures, ' \
        "$here/chaos" --gentle --rounds 2 --seed 1 --patience 0.3 --keep-going "$scratch/build"
    grep -q '^FAILED: round 2 seed 2: ' "$output" || fail "the failed round is not reported"
    expect_ended
}

unknown_options_are_refused() { # case
    expect 0 'Usage: tests/system/chaos ' "$here/chaos" --help
    expect 2 'chaos: --round: unknown option' "$here/chaos" --round 3 "$build"
    expect 2 "chaos: --rounds: 'three' is not a number" "$here/chaos" --rounds three "$build"
    expect 2 'chaos: --seed requires a value' "$here/chaos" "$build" --seed
    expect 2 'chaos: --fault must be one of: ' "$here/chaos" --fault survivors "$build"
    expect 2 'chaos: no build folder' "$here/chaos"
    expect 2 "chaos: $scratch/bin/showstopper is missing: build first" "$here/chaos" "$scratch"
}

rounds_of_faults_leave_no_process() { # case
    "$here/chaos" --rounds 4 --fault executors --workload "chain 2 0" --patience 60 "$build"
    "$here/chaos" --gentle --rounds 26 --patience 60 "$build"
    "$here/chaos" --rounds 4 --patience 60 "$build"
}

rounds_of_attached_programs_leave_no_process() { # case
    "$here/chaos" --gentle --rounds 4 --fault rivals --patience 60 "$build"
    "$here/chaos" --gentle --rounds 3 --fault escape --patience 60 "$build"
    "$here/chaos" --gentle --rounds 3 --fault stopped-master --patience 60 --attached "$build"
    "$here/chaos" --rounds 3 --fault planned --workload "brood 20" --patience 60 --attached "$build"
}

# After these faults only executors can clean up.
rounds_with_surviving_executors_leave_no_process() { # case
    "$here/chaos" --gentle --rounds 5 --fault survivor --patience 60 "$build"
    "$here/chaos" --gentle --rounds 5 --fault stopped-executors --patience 60 "$build"
}

mkdir -p "$scratch/build/bin"
ln -s "$build/tests" "$scratch/build/tests"
ln -s "$build/bin/ssburn" "$scratch/build/bin/ssburn"
pretend 'exit 0'
chmod +x "$scratch/build/bin/showstopper"

run_cases
