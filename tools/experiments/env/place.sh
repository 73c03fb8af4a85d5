#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the environments: verbs, options, lock and control groups of a place. README.md has the contract.
# An environment defines the functions why_not and open, possibly enter and clean, and ends with: serve "$@"

environment=${0##*/}
proc=${SHOWSTOPPER_PROC:-/proc}
places=${SHOWSTOPPER_PLACES:-/run/showstopper-places}
cpus='' quota='' shares=() # --cpus, --quota, --share
own_options=''             # names of further options that take a value, such as "guest memory"
is_instance=''             # of enter: --instance
container=''               # pid of the child whose end closes the place

fail() {
    echo "$environment: $*" >&2
    exit 1
}

# within SECONDS COMMAND...: repeats the command until it succeeds; fails after this time.
within() {
    local end=$((SECONDS + $1))
    until "${@:2}"; do
        [ "$SECONDS" -le "$end" ] || return 1
        sleep 0.02
    done
}

# ---- names and options ----

# name_place PLACE: sets `place`, `state` (its folder), `group` (its control group) and `host` (its host name).
name_place() {
    [[ ${1-} =~ ^[A-Za-z0-9_+][A-Za-z0-9._+-]*$ && $1 != *. && ${#1} -le 200 ]] ||
        fail "${1:-PLACE}: a place is named by at most 200 letters, digits and ._+-"
    place=$1
    state=$places/$1
    group=/showstopper-$1
    host=${1##*.}
    host=${host:0:63}
}

# take_options WORD...: sets `cpus`, `quota`, `shares` and the variables of `own_options`.
take_options() {
    local word value
    while [ $# -gt 0 ]; do
        word=${1%%=*}
        [[ $word = --?* && " cpus quota share $own_options " = *" ${word#--} "* ]] ||
            fail "$1: unknown option: see --help"
        if [ "$word" != "$1" ]; then
            value=${1#*=}
        elif [ $# -gt 1 ]; then
            value=$2
            shift
        else
            fail "$word requires a value"
        fi
        shift
        take_option "${word#--}" "$value"
    done
}

# take_option NAME VALUE
take_option() {
    case $1 in
    cpus) [[ $2 =~ ^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$ ]] || fail "--cpus: $2: not a list of CPUs, such as 0-3,8" ;;
    quota) [[ $2 =~ ^[0-9]+(\.[0-9]+)?$ && $2 =~ [1-9] ]] || fail "--quota: $2: not a number of CPUs above 0" ;;
    share)
        [ -d "$2" ] || fail "--share: $2: not a folder"
        shares+=("$(realpath -- "$2")")
        return
        ;;
    esac
    printf -v "${1//-/_}" %s "$2"
}

# keep_options: writes the options for `enter`, which sources them.
keep_options() {
    local name
    {
        printf 'cpus=%q quota=%q\n' "$cpus" "$quota"
        [ ${#shares[@]} -eq 0 ] || printf 'shares+=(%q)\n' "${shares[@]}"
        for name in ${own_options//-/_}; do
            printf '%s=%q\n' "$name" "${!name}"
        done
    } >"$state/options"
}

# ---- control groups ----

# find_root CONTROLLER [FILE]: prints the root of the hierarchy with this controller; fails without one. In
# version 2, FILE of the root names the controllers.
find_root() {
    local root
    root=$(awk -v name="$1" '$3 == "cgroup" && ("," $4 ",") ~ ("," name ",") { print $2; exit }' "$proc/mounts")
    if [ -z "$root" ]; then
        root=$(awk '$3 == "cgroup2" { print $2; exit }' "$proc/mounts")
        grep -qsw -- "$1" "$root/${2:-cgroup.controllers}" || return
    fi
    echo "$root"
}

# why_no_group CONTROLLER [FILE]: prints why the hierarchy of find_root can have no new group; fails if it can.
why_no_group() {
    local root probe=showstopper-probe.$$
    if ! root=$(find_root "$@"); then
        echo "no hierarchy of control groups has the controller $1"
    elif ! mkdir "$root/$probe" 2>/dev/null; then
        echo "no control group can be made in $root"
    else
        rmdir "$root/$probe"
        return 1
    fi
}

# why_no_container PROGRAM...: prints which requirement of all containers is missing; fails if they are met.
why_no_container() {
    local program
    if [ "$(id -u)" -ne 0 ]; then
        echo "only root can make containers with CPUs of their own"
        return
    fi
    for program in "$@" nsenter; do
        if ! command -v "$program" >/dev/null; then
            echo "$program is not installed"
            return
        fi
    done
    if ! unshare -m true 2>/dev/null; then
        echo "the system does not let root make namespaces"
        return
    fi
    why_no_group cpuset
}

# Prints the quota in microseconds per period of 100 ms.
quota_of() {
    LC_ALL=C awk -v cpus="$quota" 'BEGIN { printf "%d", 100000 * cpus + 0.5 }'
}

# list_group: prints the folders of the place's group in all hierarchies, subgroups first; version 1 has many.
list_group() {
    local root
    awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' "$proc/mounts" | while read -r root; do
        [ ! -d "$root$group" ] || find "$root$group" -depth -type d 2>/dev/null || true
    done
}

# remove_group: removes the place's group from all hierarchies and kills the processes in it.
remove_group() {
    within 2 try_remove_group
}

# Fails if something is left: processes that were killed have not ended yet, or have forked.
try_remove_group() {
    local folder pid left=0
    while read -r folder; do
        ! rmdir "$folder" 2>/dev/null || continue
        left=1
        while read -r pid; do
            [ "$pid" -eq 0 ] || kill -KILL "$pid" 2>/dev/null || true
        done < <(cat "$folder/cgroup.procs" 2>/dev/null)
    done < <(list_group)
    return "$left"
}

# account_of PID: prints the path of the control group that accounts for its CPU time.
account_of() {
    awk -F: '$2 ~ /(^|,)cpuacct(,|$)/ { account = $3 }
        $1 == 0 { unified = $3 }
        END { print account != "" ? account : unified }' "$proc/$1/cgroup"
}

# ---- processes ----

# read_start FILE: sets `start`, the start time in FILE, a stat of /proc, which distinguishes processes of one pid.
# Fails if the process has exited.
read_start() {
    local line fields
    start=
    { read -r line <"$1"; } 2>/dev/null || return
    read -ra fields <<<"${line##*) }"
    [ "${fields[0]}" != Z ] || return
    start=${fields[19]}
}

# is_process PID START
is_process() {
    local start
    read_start "$proc/$1/stat" && [ "$start" = "$2" ]
}

has_ended() {
    ! is_process "$@"
}

# end_process PID START: sends SIGTERM, and SIGKILL 5 s later.
end_process() {
    is_process "$@" || return 0
    kill -TERM "$1" 2>/dev/null || true
    within 5 has_ended "$@" && return
    kill -KILL "$1" 2>/dev/null || true
    within 1 has_ended "$@"
}

# The first process of a container. Only `hold` has the other end of its input open, so it exits when `hold` does,
# even after SIGKILL.
# shellcheck disable=SC2016 # the container's shell expands it
first_process=(sh -c 'echo open; read -r end || :')

# run_first COMMAND...: starts the command, which runs first_process, and returns when it runs.
run_first() {
    local start
    mkfifo "$state/life"
    exec {life}<>"$state/life"
    "$@" <"$state/life" >"$state/said" 2>"$state/log" {life}>&- {lock}<&- &
    container=$!
    ! read_start "$proc/$container/stat" || echo "$container $start" >"$state/starter"
    within 30 has_said_open || true
    grep -qsx open "$state/said" || fail "$place: it did not start$(last_words)"
}

# has_said_open: whether the container has printed `open`, or has exited.
has_said_open() {
    grep -qsx open "$state/said" || is_gone "$container"
}

# is_gone PID: whether a child has exited.
is_gone() {
    ! kill -0 "$1" 2>/dev/null
}

# Prints the last line of what the container said, after a colon.
last_words() {
    local line said=''
    while read -r line; do
        said=${line:-$said}
    done < <(cat "$state/log" 2>/dev/null)
    echo "${said:+: $said}"
}

# find_first: prints pid and start time of the first process in the container, and its group.
find_first() {
    local pid start folder
    for pid in $(list_group | sed 's,$,/cgroup.procs,' | xargs -rd '\n' cat 2>/dev/null | sort -un); do
        [ "$(awk '$1 == "NSpid:" && NF > 2 { print $NF }' "$proc/$pid/status" 2>/dev/null)" = 1 ] || continue
        read_start "$proc/$pid/stat" || continue
        echo "$pid $start"
        account_of "$pid"
        while read -r folder; do
            ! grep -qsx "$pid" "$folder/cgroup.procs" || echo "$folder"
        done < <(list_group)
        return
    done
    fail "$place: its first process cannot be found"
}

# ---- a place ----

# lock_place: makes the folder of the place and locks it; fails if another process has it locked.
lock_place() {
    while :; do
        # Another command may remove the folders at any time.
        mkdir -p "$places" 2>/dev/null || fail "$places cannot be made"
        mkdir -m 700 "$state" 2>/dev/null || [ -d "$state" ] || continue
        { exec {lock}<"$state"; } 2>/dev/null || continue
        if ! flock -w 0.25 "$lock"; then
            exec {lock}<&-
            return 1
        fi
        [ ! "$state" -ef "/dev/fd/$lock" ] || return 0
        exec {lock}<&-
    done
}

# clear_place: ends and removes what the place consists of; the caller has locked it.
clear_place() {
    local file process
    for file in "$state"/entered.*; do
        ! { read -ra process <"$file"; } 2>/dev/null || end_process "${process[@]}" || true
    done
    remove_group || fail "$place: processes in $group cannot be ended"
    # The program that started the container may not have exited yet.
    ! { read -ra process <"$state/starter"; } 2>/dev/null || ! is_process "${process[@]}" ||
        kill -KILL "${process[0]}" 2>/dev/null || true
    clean
    rm -rf --one-file-system -- "${state:?}"/*
}

# remove_state: removes the folder of the place, and that of all places if it is empty.
remove_state() {
    rm -rf --one-file-system -- "${state:?}"
    rmdir "$places" 2>/dev/null || true
}

# Closes the place when `hold` exits for any reason.
leave() {
    trap '' TERM INT HUP
    if [ -n "$container" ]; then
        exec {life}>&-
        within 1 is_gone "$container" || true
    fi
    clear_place
    remove_state
}

# read_holder: sets `holder`, pid and start time of the last process that held the place; fails if no process did.
read_holder() {
    { read -ra holder <"$state/holder"; } 2>/dev/null
}

is_held() {
    local holder
    read_holder && is_process "${holder[@]}"
}

# lock_free_place: locks a place that no process holds. A command that a killed `hold` was running may keep the lock
# for a moment.
lock_free_place() {
    for _ in {1..20}; do
        ! lock_place || return 0
        ! is_held || break
    done
    fail "$place is held already"
}

hold() {
    local reason start
    name_place "${1-}"
    take_options "${@:2}"
    ! reason=$(why_not) || fail "$reason"
    lock_free_place
    trap leave EXIT
    trap 'exit 0' TERM INT HUP
    clear_place # of a hold that was killed
    read_start "$proc/$$/stat"
    echo "$$ $start" >"$state/holder"
    keep_options
    open
    [ -n "$container" ] || run_first "${first_process[@]}"
    touch "$state/place.new"
    mv "$state/place.new" "$state/place"
    echo open
    wait "$container" || true
    fail "$place: it ended by itself$(last_words)"
}

# read_place: sets `first`, pid and start time of the first process of a container, `account`, the group that
# accounts for its CPU time, and `groups`, the folders of its groups. All are empty if the place has no group.
read_place() {
    local lines
    { [ -e "$state/place" ] && is_held; } || fail "$place: it is not open"
    mapfile -t lines <"$state/place"
    read -ra first <<<"${lines[0]-}"
    account=${lines[1]-}
    groups=("${lines[@]:2}")
}

# Prints the group for `showstopper -f cgroup -F group=`.
print_group() {
    name_place "${1-}"
    read_place
    [ -n "$account" ] || fail "$place: it has no control group"
    echo "$account"
}

# join_groups: makes this process one of the place's groups.
join_groups() {
    local folder
    for folder in "${groups[@]}"; do
        { echo $$ >"$folder/cgroup.procs"; } 2>/dev/null || fail "$place: $folder cannot be joined"
    done
}

# The shell that waits outside of the PID namespace and ends with the status of what runs inside.
# shellcheck disable=SC2016 # that shell expands it
pass_on='cd "$0" || exit
    "$@" &
    child=$!
    trap "kill -TERM $child" TERM
    wait $child
    status=$?
    while kill -0 $child 2>/dev/null; do
        wait $child
        status=$?
    done
    exit $status'
# The form for an instance on the host, which stays in the process group that Showstopper stops. nsenter enters a PID
# namespace by a child, so the shell must wait for it.
# shellcheck disable=SC2016 # that shell expands it
stay='cd "$0" && "$@"; exit $?'

# enter COMMAND...: executes it in the container. The working folder is that of the first process in /proc: it never
# refers to another process that reuses the pid.
enter() {
    local start folder=$PWD form=$pass_on
    [ -z "$is_instance" ] || form=$stay
    { cd "$proc/${first[0]}" && read_start stat && [ "$start" = "${first[1]}" ]; } 2>/dev/null ||
        fail "$place: its container has exited"
    join_groups
    exec nsenter --no-fork --mount=ns/mnt --uts=ns/uts --ipc=ns/ipc --net=ns/net --pid=ns/pid \
        --cgroup=ns/cgroup -- sh -c "$form" "$folder" "$@"
}

# note_entered: a place without a group lists the processes that enter it, for `close`.
note_entered() {
    local start
    read_start "$proc/$$/stat"
    echo "$$ $start" >"$state/entered.$$"
}

# clean: removes what an environment made outside of the place's folder and group.
clean() {
    :
}

enter_place() {
    name_place "${1-}"
    shift
    [ "${1-}" != --instance ] || { is_instance=yes && shift; }
    if [ "${1-}" != -- ] || [ $# -lt 2 ]; then
        fail "enter: a command must follow --"
    fi
    shift
    read_place
    # shellcheck source=/dev/null
    . "$state/options"
    [ ${#groups[@]} -gt 0 ] || note_entered
    enter "$@"
}

# close_place PLACE: also ends a `hold` that is at work.
close_place() {
    local attempt=0 holder
    name_place "$1"
    [ -d "$state" ] || [ -n "$(list_group)" ] || return 0
    until lock_place; do
        [ $((attempt++)) -lt 40 ] || fail "$place: it remains locked"
        ! read_holder || end_process "${holder[@]}" || true
    done
    clear_place
    remove_state
    exec {lock}<&-
}

close_places() {
    local name
    [ $# -gt 0 ] || fail "close: PLACE is missing"
    for name; do
        close_place "$name"
    done
}

usage() {
    cat <<HELP
Usage: $environment why-not
       $environment hold PLACE [--cpus LIST] [--quota CPUS] [--share FOLDER]...${own_options:+ [--${own_options// / VALUE] [--} VALUE]}
       $environment enter PLACE [--instance] -- COMMAND [ARGUMENT]...
       $environment group PLACE
       $environment close PLACE...
Runs commands in an environment of their own; README.md in this folder describes it.
HELP
}

# serve WORD...: carries out the command line, unless the environment is sourced, as tests do.
serve() {
    [ "${BASH_SOURCE[1]}" = "$0" ] || return 0
    case ${1-} in
    why-not) why_not && exit || exit 1 ;;
    hold) hold "${@:2}" ;;
    enter) enter_place "${@:2}" ;;
    group) print_group "${@:2}" ;;
    close) close_places "${@:2}" ;;
    --help) usage ;;
    *) fail "${1:-no word given}: not one of why-not, hold, enter, group, close" ;;
    esac
}
