#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by control.sh and zoo.sh: starts each program in a new session, watches the load with the judge,
# and ends all programs, even if the bench itself is killed.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

launched=() # leaders of sessions, which are ended as a whole
declare -A names starts # of leaders: the program, and when it started
cleanups=(end_launched close_bench) # run in this order at exit

# A separate process cleans up if the bench is killed: it reads end of file from a pipe that only the bench holds open.
open_launching() {
    open_bench
    : >"$folder/launched"
    exec {lease}> >(sweep >/dev/null 2>&1)
    trap 'close_launching' EXIT
}

close_launching() {
    local cleanup
    for cleanup in "${cleanups[@]}"; do
        "$cleanup"
    done
}

sweep() {
    trap '' INT TERM HUP
    cat
    [ -d "$folder" ] || return 0
    local leader start
    while read -r leader start; do
        launched+=("$leader")
        starts[$leader]=$start
    done <"$folder/launched"
    close_launching
}

# launch FILE COMMAND...: starts the command; its output goes to the file.
launch() {
    setsid "${@:2}" {lease}>&- >"$1" 2>>"$folder/errors" &
    launched+=($!)
    names[$!]=$2
    starts[$!]=$(start_of $!)
    echo "$! ${starts[$!]}" >>"$folder/launched"
}

# start_of PID: prints the start time of a process, or nothing.
start_of() {
    local words
    { read -r words <"/proc/$1/stat"; } 2>/dev/null || return 0
    read -ra words <<<"${words##*) }"
    echo "${words[19]}"
}

# signal_launched SIGNAL LEADER: signals the group of a program. Once the whole group has ended, its ID may have
# been reused.
signal_launched() {
    local start
    start=$(start_of "$2")
    [ -z "$start" ] || [ "$start" = "${starts[$2]}" ] || return
    kill "-$1" -- "-$2" 2>/dev/null
}

# A killed program may have left others stopped, so all are continued until all are gone.
end_launched() {
    local leader attempt left
    for leader in "${launched[@]}"; do
        signal_launched TERM "$leader" || true
    done
    for ((attempt = 0; attempt < 80; attempt++)); do
        left=()
        for leader in "${launched[@]}"; do
            ! signal_launched CONT "$leader" || left+=("$leader")
        done
        [ ${#left[@]} -gt 0 ] || break
        sleep 0.1
    done
    for leader in "${left[@]}"; do
        signal_launched KILL "$leader" || true
    done
    for leader in "${launched[@]}"; do
        wait "$leader" 2>/dev/null || true
    done
    launched=()
    : >"$folder/launched"
}

# watch_load BEGIN ARG...: writes the judge's figures to $folder/judge.json. `early` lists the programs that ended
# before the judge, except showstopper, which exits by itself: end_config checks its status. `windows` are in
# milliseconds.
windows=500,100
watch_load() {
    local leader status=0
    launch "$folder/judge.json" judge "$seconds" "$windows" --start-at "$1" "${@:2}"
    wait "${launched[-1]}" 2>/dev/null || status=$?
    [ "$status" -eq 0 ] || fail "judge: status $status"
    unset 'launched[-1]'
    early=()
    for leader in "${launched[@]}"; do
        [ "${names[$leader]}" = showstopper ] || kill -0 "$leader" 2>/dev/null ||
            early+=("${names[$leader]}")
    done
}

# Prints the load between runs, which other processes cause, in percent.
load_before() {
    judge 0.4 400 | sed -n 's/.*"idle_400": {"load_percent": \([0-9.]*\),.*/\1/p'
}
