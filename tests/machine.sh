# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests/run.sh: how it adapts to the machine.

# Characters that are special in shell commands, module options, plans, PATH or make.
special=$' \t\n"\'`$\\;&|()<>*?[]{}#%,:'

# The path of a socket has at most 107 characters, and tests nest folders. `free_space` is in MB, more than twice what
# tests fill at a time.
longest_folder=60 free_space=1024

# smallest NUMBER [LIMIT]...: prints the smallest of them. A limit that is not a number, such as "max", does not count.
smallest() {
    local smallest=$1 limit
    for limit in "${@:2}"; do
        [[ ! $limit =~ ^[0-9]{1,18}$ ]] || [ "$limit" -ge "$smallest" ] || smallest=$limit
    done
    echo "$smallest"
}

# group_limits CONTROLLER FILE...: prints these limits of our control group and of those above it. In a container, the
# path may name groups of the host, which are not visible; the root of the mount is then our group.
group_limits() {
    local controllers group root folder name
    while IFS=: read -r _ controllers group; do
        case ,$controllers, in
        ,,) root=/sys/fs/cgroup ;;
        *,$1,*) root=/sys/fs/cgroup/$1 ;;
        *) continue ;;
        esac
        folder=$root${group%/}
        while :; do
            for name in "${@:2}"; do
                cat "$folder/$name" 2>/dev/null || true
            done
            [ "$folder" != "$root" ] || break
            folder=${folder%/*}
        done
    done </proc/self/cgroup
}

# tests_at_a_time CPUS PROCESSES MEGABYTES: prints how many tests may run at a time. Most of them mainly wait, but each
# has up to 30 processes and needs up to 200 MB.
tests_at_a_time() {
    local count
    count=$(smallest $((6 * $1)) 64 $(($2 / 30)) $(($3 / 200)))
    echo $((count > 0 ? count : 1))
}

# find_jobs: sets `test_jobs` and `build_jobs`.
find_jobs() {
    local cpus processes bytes megabytes
    cpus=$(nproc)
    # shellcheck disable=SC2046 # a limit per word
    processes=$(smallest 1000000 "$(ulimit -u)" $(group_limits pids pids.max))
    # shellcheck disable=SC2046 # a limit per word
    bytes=$(smallest 1000000000000 $(group_limits memory memory.max memory.limit_in_bytes))
    megabytes=$(smallest $((bytes / 1000000)) "$(awk '/^MemAvailable:/ { print int($2 / 1000) }' /proc/meminfo)")
    test_jobs=$(tests_at_a_time "$cpus" "$processes" "$megabytes")
    # shellcheck disable=SC2034 # for the caller
    build_jobs=$(smallest "$cpus" "$test_jobs")
}

# runs_programs FOLDER: succeeds if we can write a program there and execute it.
runs_programs() {
    local program status=0
    program=$(mktemp "$1/run.XXXXXX" 2>/dev/null) || return
    printf '#!/bin/sh\n' >"$program" && chmod +x "$program" && "$program" 2>/dev/null || status=1
    rm -f "$program"
    return "$status"
}

# is_open FOLDER: succeeds unless the folder is closed to another user whom we can become.
is_open() {
    local nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    ! (cd / && "${nobody[@]}" true) 2>/dev/null || (cd / && "${nobody[@]}" test -x "$1") 2>/dev/null
}

# fault_of FOLDER: prints why tests cannot put temporary files there; nothing if they can.
fault_of() {
    local free
    if [[ $1 == *["$special"]* ]]; then
        echo "its path has a space or another special character"
    elif [ "${#1}" -gt "$longest_folder" ]; then
        echo "its path is longer than $longest_folder characters"
    elif ! runs_programs "$1"; then
        echo "programs in it cannot be executed"
    elif ! is_open "$1"; then
        echo "it is closed to other users"
    else
        free=$(df -Pk "$1" | awk 'NR == 2 { print int($4 / 1000) }')
        [ "$free" -ge "$free_space" ] || echo "it has $free MB of free space, tests need $free_space MB"
    fi
}

# choose_folder FOLDER...: exports as TMPDIR the first of these folders in which tests can put temporary files, and
# prints why it passes over the others. If each has a fault, leaves TMPDIR as it is.
choose_folder() {
    local folder fault
    for folder; do
        folder=$(realpath -m -- "$folder")
        fault=$(fault_of "$folder")
        if [ -z "$fault" ]; then
            [ "$folder" = "${TMPDIR:-/tmp}" ] || export TMPDIR=$folder
            return
        fi
        echo "no temporary files in $folder: $fault"
    done
}
