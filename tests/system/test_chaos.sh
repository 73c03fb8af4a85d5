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

# one_fault STATUS TEXT OPTION...: runs the replaced showstopper once; no process that chaos listed may be alive then.
one_fault() {
    local pid
    expect "$1" "$2" "$build/tests/chaos_fault" --payload "$build/tests/payload" \
        --planned 1.5 --patience 2 "${@:3}" -- "$scratch/build/bin/showstopper"
    while read -r pid; do
        is_gone "$pid" || fail "process $pid was left"
    done < <(awk '$1 ~ /^[0-9]+$/ && $5 ~ /^[A-Z]$/ { print $1 }' "$output")
}

# shellcheck disable=SC2016
faults_of_a_run_fail_the_round() { # case
    local line text
    pretend 'exit 0'
    one_fault 0 '[0-9]+\.' --patience 60 --status 0
    one_fault 1 'chaos: the run ended with 0 instead of 125' --patience 60 --status 125
    # Children of the shell other than payloads are not bystanders.
    while IFS='|' read -r line text <&3; do
        pretend 'children() { cat /proc/[0-9]*/stat 2>/dev/null |
            awk "\$4 == $1 && \$2 ~ /payload/ { print \$1 }"; }' "$line"
        one_fault 1 "$text" </dev/null
    done 3<<'END'
leave setsid 1| +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ [RS] payload-session
leave stop| +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ T payload
leave chain 1 0; kill -KILL $!|chaos: .* the master has ended, 1 processes
leave daemon-storm 20|chaos: .* the master has ended
touch /dev/shm/showstopper.$$.0|chaos: /dev/shm/showstopper\.[0-9]+\.0 is left
kill -CONT $(children $$)|chaos: bystander .*, a child from before, was continued
kill -KILL $(children $$)|chaos: bystander .*, a child from before, was ended
kill -STOP $(children $PPID)|chaos: bystander .*, a sibling of the run, is stopped
END
    pretend 'exec "$payload" ignore-term'
    one_fault 1 'chaos: .* the master lives, 1 processes' --log "$scratch/log" --after ready --step 0.1:TERM:master
    pretend 'leave daemon 2'
    expect 1 'chaos: 1 rounds, 1 failures, ' \
        "$here/chaos" --gentle --rounds 3 --seed 1 --patience 0.3 "$scratch/build"
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
