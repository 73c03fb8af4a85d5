# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # variables of ssfleet
# Sourced by ssfleet: carries out tasks in a process on this machine, for engines without a queue. The process leads a
# process group, and continues if ssfleet is killed; later calls find it by $fleet/jobs/ID.pid. try-slurm and tests use
# started_at, too.

# started_at PID: prints the start time of the process, which distinguishes it from later ones with the same pid.
started_at() {
    local stat
    read -r stat <"/proc/$1/stat" || return
    stat=${stat##*) }
    awk '{ print $20 }' <<<"$stat"
} 2>/dev/null

# identify PID: prints the host, the pid and the start time of a process.
identify() {
    local host start
    host=$(hostname)
    start=$(started_at "$1") || true # it may have exited
    echo "$host $1 $start"
}

# child_start ID COMMAND...: starts the process for the tasks of $fleet/jobs/ID. Until the file of its pid is written,
# child_cancel would not find it.
child_start() {
    local id=$1 pid
    shift
    hold_signals
    { umask "$caller_umask" && exec setsid "$@"; } >>"$fleet/log/$id" 2>&1 </dev/null &
    pid=$!
    identify "$pid" >"$fleet/jobs/$id.pid"
    release_signals
}

# is_alive FILE: succeeds if the process in the file (host, pid, start time) is still running on this host.
is_alive() {
    local host pid start
    [ -e "$1" ] || return 1
    read -r host pid start <"$1" || return 1
    [ "$host" = "$(hostname)" ] && [ -n "$start" ] && [ "$(started_at "$pid")" = "$start" ]
}

# is_elsewhere FILE: succeeds if the process in the file (host, pid, start time) is of another host, and can be neither
# checked nor ended from here. Sets `host` and `pid`.
is_elsewhere() {
    [ -e "$1" ] && read -r host pid _ <"$1" && [ "$host" != "$(hostname)" ]
}

# child_lives ID: succeeds if the process is still running.
child_lives() {
    is_alive "$fleet/jobs/$1.pid"
}

# lock_guard: locks $fleet/guard as descriptor 8. Permission to read is enough for a lock, so replaces a file that
# others may open.
lock_guard() {
    local holder
    [ "$(stat -c %a "$fleet/guard" 2>/dev/null)" = 600 ] || rm -f "$fleet/guard"
    while :; do
        (umask 077 && : >>"$fleet/guard")
        exec 8<>"$fleet/guard"
        if ! flock -w 1 8; then
            exec 8>&- # find those that have it open
            holder=$(find /proc/[0-9]*/fd -maxdepth 1 -lname "$study/.fleet/guard" 2>/dev/null | cut -d / -f 3 |
                paste -sd ' ') || true
            say "waiting for ${holder:+process }${holder:-another host}, which has locked $study/.fleet/guard"
            exec 8<>"$fleet/guard"
            flock 8
        fi
        [ ! "$fleet/guard" -ef /proc/self/fd/8 ] || break # replaced meanwhile
    done
}

# take_turn: fails if another call is carrying out this study. The lock guards only this check, because children of a
# killed call would inherit it and hold it for minutes.
take_turn() {
    local host pid
    lock_guard
    if is_alive "$fleet/turn"; then
        fail "another call of ssfleet is carrying out $study: see ssfleet status"
    elif is_elsewhere "$fleet/turn"; then
        fail "process $pid on $host is carrying out $study; if it has exited, remove $study/.fleet/turn"
    fi
    identify "$$" >"$fleet/turn"
    exec 8>&-
    trap 'rm -f "$fleet/turn"' EXIT
}

# child_active: prints "RUN NODE STATE" for each run of a process that is still running.
child_active() {
    local id
    for id in $(job_ids); do
        ! child_lives "$id" || tr ',' '\n' <"$fleet/jobs/$id" | sed 's/$/ - active/'
    done
}

child_cancel() {
    local id pid
    for id in $(job_ids); do
        child_lives "$id" || continue
        read -r _ pid _ <"$fleet/jobs/$id.pid"
        # Until setsid has run, the process does not lead a group.
        kill -TERM -- "-$pid" 2>/dev/null || kill -TERM "$pid" 2>/dev/null || true
        kill -CONT -- "-$pid" 2>/dev/null || true # the user may have stopped it, and it would not end
        while child_lives "$id"; do sleep 0.1; done
    done
}
