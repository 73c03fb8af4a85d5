# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables are shared with the caller; commands are literal
# Sourced by tests of ssactuate: recorded machines, and runs that are killed.

# unpack NAME: makes a tree of the recorded machine in `tree`, with a folder for faults, and stores its values. Sets
# `kernel`, the command that runs another one with the fake kernel.
unpack() {
    tree=$scratch/tree
    kernel=(env SS_TEST_KERNEL="$tree" LD_PRELOAD="$build/tests/libfake_kernel.so"
        ASAN_OPTIONS="verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}")
    rm -rf "$tree"
    unpack_tree "$source/tests/data/actuate/$1.tree" "$tree"
    mkdir "$tree/faults"
    remember
}

# values: prints the values of all knobs, except those that the governors change.
values() {
    (cd "$tree/sys" && { grep -r . --include='scaling_m*_freq' --include=scaling_governor --include='*boost' \
        --include=no_turbo --include='*_power_limit_uw' . || true; } | sort)
}

remember() {
    values >"$folder/before"
}

is_unchanged() {
    [ "$(values)" = "$(cat "$folder/before")" ]
}

# unchanged: fails unless all values are as they were, and no journal or control group is left.
unchanged() {
    local left
    is_unchanged || fail "values were not restored: $(diff "$folder/before" <(values))"
    left=$(find "$tree" -name '*.journal' -o -path '*/cgroup/*' -name 'ssactuate-*')
    [ -z "$left" ] || fail "leftover: $left"
}

# fault FILE ANSWER...: sets the answers of the fake kernel to the next writes to files of this name.
fault() {
    printf '%s\n' "${@:2}" >"$tree/faults/$1"
}

# actuate VERB [WORD...]: calls ssactuate on the tree, with the fake kernel.
actuate() {
    timeout "$patience" "${kernel[@]}" "$build/bin/ssactuate" "$1" --root "$tree" "${@:2}"
}

# start_actuate VERB [WORD...]: the same in the background, with errors in `run-err`. Sets `run_pid`.
start_actuate() {
    "${kernel[@]}" "$build/bin/ssactuate" "$1" --root "$tree" "${@:2}" 2>"$folder/run-err" &
    run_pid=$!
}

# begin_run KNOB[,stubborn]: starts a run that lasts until end_run, and sets `run_pid` and `run_keeper`. A stubborn
# command ignores SIGTERM.
begin_run() {
    local knob=${1%,stubborn} ignore=:
    [ "$knob" = "$1" ] || ignore="trap '' TERM"
    rm -f "$folder/begun" "$folder/enough"
    start_actuate run "$knob" -- env -u LD_PRELOAD sh -c "$ignore"'
        echo >"$1/begun"
        while [ -e "$1/begun" ] && [ ! -e "$1/enough" ]; do sleep 0.02; done' - "$folder"
    await test -e "$folder/begun"
    await find_keeper # a new process has the name of its parent at first
}

# find_keeper: sets `run_keeper`, the keeper among the children of `run_pid`; fails if no child is a keeper.
find_keeper() {
    local child
    run_keeper=
    while read -r child; do
        [ "$(cat "/proc/$child/comm" 2>/dev/null)" != ssactuate-keepe ] || run_keeper=$child
    done < <(tr ' ' '\n' 2>/dev/null <"/proc/$run_pid/task/$run_pid/children")
    [ -n "$run_keeper" ]
}

has_other_keeper() {
    find_keeper && [ "$run_keeper" != "$1" ]
}

# end_run STATUS: lets the command of the run end, and waits for the run; fails if it exits with another status.
end_run() {
    : >"$folder/enough"
    run_ends "$1"
}

# run_ends STATUS: the same, but the command ends by itself.
run_ends() {
    local status=0
    wait "$run_pid" 2>/dev/null || status=$?
    run_pid=
    [ "$status" = "$1" ] || fail "status $status instead of $1: $(cat "$folder/run-err")"
}

is_stopped() {
    [ "$(awk '{ print $3 }' "/proc/$1/stat")" = T ]
}

# kill_run: kills the run and its keeper. Both are stopped first; but when one dies, the other is continued, and may act
# before the second signal: see leave_values.
kill_run() {
    kill -STOP "$run_pid"
    await is_stopped "$run_pid"
    find_keeper || fail "the run has no keeper"
    kill -STOP "$run_keeper"
    await is_stopped "$run_keeper"
    kill -KILL "$run_keeper" "$run_pid"
    end_run 137
    await has_no_lock
}

# leave_values KNOB: kills a run so that the values which it set remain.
leave_values() {
    local attempt
    for ((attempt = 0; attempt < 50; attempt++)); do
        begin_run "$1"
        kill_run
        is_unchanged || return 0
    done
    fail "the keeper restored the values each time"
}

# has_no_lock: succeeds once no process holds the lock of a journal.
has_no_lock() {
    local journal
    for journal in "$tree"/run/showstopper/*.journal; do
        # Given a name, flock would create a journal that the keeper has just removed.
        { flock -n 9; } 2>/dev/null 9<"$journal" || [ ! -e "$journal" ] || return 1
    done
}
