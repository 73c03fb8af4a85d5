#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: environments that the sides of a run are in. Each NAME has two functions,
# why_no_NAME and hold_NAME; their contract stands below, at those of lxc. Guests are in guests.sh.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

# shellcheck source=guests.sh
. "$(dirname "${BASH_SOURCE[0]}")/guests.sh"

known_environments="host lxc podman kvm"
proc=/proc

# Checks the words of --environment, --measure and --load-of.
check_environments() {
    local list
    environments=${environments//none/host} # as earlier versions called it
    IFS=, read -ra list <<<"$environments"
    check_words environment "$known_environments" "${list[@]}"
    check_words measure "inside host" "$measure"
    check_words load-of "group cpus" "$load_of"
}

# why_no_environment ENVIRONMENT: prints why it is unavailable here; fails if it is available.
why_no_environment() {
    [ "$1" != host ] || return
    "why_no_$1"
}

# measured_in ENVIRONMENT: nothing for the host.
measured_in() {
    [ "$1" = host ] || echo "$measure"
}

# place_name ENVIRONMENT: prints the beginning of the names of its runs.
place_name() {
    [ "$1" = host ] || echo "$1-$measure-"
}

# why_no_containers PROGRAM...: prints which requirement of all containers is missing; fails if none is.
why_no_containers() {
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
    why_no_cpusets
}

# Prints why no control group can have CPUs of its own; fails if one can.
why_no_cpusets() {
    local root probe=showstopper-experiment.$$.probe
    if ! root=$(find_cpusets); then
        echo "no hierarchy of control groups has the controller cpuset"
    elif ! mkdir "$root/$probe" 2>/dev/null; then
        echo "no control group can be made in $root"
    else
        rmdir "$root/$probe"
        return 1
    fi
}

# Prints the root of the hierarchy with the controller cpuset.
find_cpusets() {
    local root
    root=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpuset(,|$)/ { print $2; exit }' "$proc/mounts")
    if [ -z "$root" ]; then
        root=$(awk '$3 == "cgroup2" { print $2; exit }' "$proc/mounts")
        grep -qsw cpuset "$root/cgroup.controllers" || return
    fi
    echo "$root"
}

# ---- LXC ----

# why_no_NAME: prints why this environment is unavailable here; fails if it is available.
why_no_lxc() {
    why_no_containers lxc-execute
}

# hold_NAME ROLE CPUS QUOTA COMMAND...: starts a container, with the command as its only process, in groups
# below $place_group. It may use these CPUs (empty: all), and QUOTA of CPU time, in CPUs (empty: unlimited).
# Its root is the host's, read-only, but for $scratch.
hold_lxc() {
    local folder=$scratch/places/$1
    note_folders "/run/lxc/lock${scratch%/*}"
    note_left folder "/run/lxc/lock$scratch"
    describe_lxc "$1" "$2" "$3" >"$folder/config"
    start lxc-execute -n "$1" -P "$folder" -f "$folder/config" -- "${@:4}" >"$folder/log" 2>&1
}

# describe_lxc ROLE CPUS QUOTA: the configuration.
describe_lxc() {
    local group=${place_group#/} root path controller=cgroup2
    root=$(find_cpusets)
    [ -e "$root/cgroup.controllers" ] || controller=cgroup
    path=${scratch// /\\040}
    cat <<LXC
lxc.uts.name = $1
lxc.rootfs.path = dir:/
lxc.rootfs.options = ro
lxc.net.0.type = empty
lxc.apparmor.profile = unconfined
lxc.mount.auto = proc:mixed sys:ro cgroup:ro:force
lxc.mount.entry = tmpfs dev/shm tmpfs rw,create=dir 0 0
lxc.mount.entry = $path ${path#/} none bind,rw,create=dir 0 0
lxc.cgroup.relative = 0
lxc.cgroup.dir.monitor = $group/monitor
lxc.cgroup.dir.monitor.pivot = $group/pivot
lxc.cgroup.dir.container = $group/payload
LXC
    [ -z "$2" ] || echo "lxc.$controller.cpuset.cpus = $2"
    [ -n "$3" ] || return 0
    if [ "$controller" = cgroup2 ]; then
        echo "lxc.cgroup2.cpu.max = $(quota_of "$3") 100000"
    else
        echo "lxc.cgroup.cpu.cfs_period_us = 100000"
        echo "lxc.cgroup.cpu.cfs_quota_us = $(quota_of "$3")"
    fi
}

# ---- podman ----

why_no_podman() {
    why_no_containers podman runc conmon
}

# Storage, state and locks of podman are in folders of the run, so it shares nothing with other podmans,
# and nothing outlasts the run. No image is needed: the root has the host's folders.
hold_podman() {
    local folder=$scratch/places/$1 volumes=() limits=() file
    local state=/run/showstopper-$$.$1 # of no more than 50 characters
    note_left folder "$state"
    mkdir "$state" "$folder/root"
    note_folders /run/containers/networks
    printf '[engine]\nlock_type = "file"\n' >"$folder/containers.conf"
    for file in /* /.[!.]*; do
        if [ -L "$file" ]; then
            cp -a "$file" "$folder/root"
        elif [ -d "$file" ]; then
            mkdir "$folder/root$file"
            [[ $file =~ ^/(proc|sys|dev|run)$ ]] || volumes+=(--volume "$file:$file:ro")
        fi
    done
    [ -z "$2" ] || limits+=(--cpuset-cpus "$2")
    [ -z "$3" ] || limits+=(--cpus "$3")
    CONTAINERS_CONF=$folder/containers.conf start podman --root "$folder/storage" \
        --runroot "$state" --tmpdir "$folder/tmp" --storage-driver vfs --events-backend none \
        --runtime runc --runtime-flag "root=$folder/runc" --cgroup-manager cgroupfs \
        run --rm --name "$1" --hostname "$1" --network none --no-hosts --ipc none --cgroupns private \
        --cgroup-parent "$place_group" --ulimit nofile=1024:20000 --ulimit nproc=4096:4096 \
        "${limits[@]}" --read-only --read-only-tmpfs=false --tmpfs /dev/shm:rw \
        "${volumes[@]}" --volume "$scratch:$scratch" --rootfs "$folder/root" "${@:4}" \
        >"$folder/log" 2>&1
}

# ---- a place ----

# quota_of CPUS: prints microseconds in a period of 100 ms.
quota_of() {
    compute "int(100000 * $1 + 0.5)"
}

# open_place ROLE CPUS QUOTA: opens a container of `environment` for one side; see hold_NAME. If that fails,
# use_place lets the side fail with the reason.
open_place() {
    local folder=$scratch/places/$1 attempt
    place_group=/showstopper-experiment.$$.$1
    mkdir -p "$folder"
    note_left group "$place_group"
    # shellcheck disable=SC2016 # the inner shell expands it
    "hold_$environment" "$1" "$2" "$3" \
        sh -c 'trap "exit 0" TERM; : >"$0"; sleep infinity & wait' "$folder/opened"
    for ((attempt = 0; attempt < 500; attempt++)); do
        if [ -e "$folder/opened" ] || ! kill -0 "${started[-1]}" 2>/dev/null; then
            break
        fi
        pause 0.02
    done
    find_place "$folder"
}

# find_place FOLDER: writes the pid of the container's first process and its groups to FOLDER/place.
find_place() {
    local pid folders
    for pid in $(list_group "$place_group" | sed 's,$,/cgroup.procs,' | xargs -rd '\n' cat 2>/dev/null | sort -un); do
        [ "$(awk '$1 == "NSpid:" && NF > 2 { print $NF }' "$proc/$pid/status" 2>/dev/null)" = 1 ] || continue
        mapfile -t folders < <(list_group "$place_group" | while read -r group; do
            ! grep -qsx "$pid" "$group/cgroup.procs" || echo "$group"
        done)
        printf '%s\n' "$pid" "${folders[@]}" >"$1/place"
        return
    done
}

# use_place ROLE FEEDBACK: sets `around`, words before showstopper where it runs inside, `entering`, words
# before the command of an instance where it runs on the host, and `side`, options for its feedback, which
# is FEEDBACK for --load-of cpus.
use_place() {
    local folder=$scratch/places/$1 words=() pid
    side=(-f "$2")
    if [ ! -s "$folder/place" ]; then
        # shellcheck disable=SC2016 # the inner shell expands it
        around=(sh -c 'cat "$0" >&2; echo "the container did not start" >&2; exit 1' "$folder/log")
        return
    fi
    mapfile -t words <"$folder/place"
    pid=${words[0]}
    join_groups "${words[@]:1}"
    entering+=(nsenter --no-fork --target "$pid" --mount --uts --ipc --net --pid --cgroup --)
    if [ "$measure" = inside ]; then
        around=("${entering[@]}" sh -c "$pass_on" "$PWD")
        entering=()
        [ "$load_of" = cpus ] || side=(-f cgroup)
        return
    fi
    # nsenter enters a PID namespace by a child, which stays in the process group that is stopped.
    # shellcheck disable=SC2016 # the inner shell expands it
    entering+=(sh -c 'cd "$0" && "$@"; exit $?' "${PWD//%/%%}")
    [ "$load_of" = cpus ] || side=(-f cgroup -F "group=$(group_of "$pid")")
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

# group_of PID: the path of the control group that accounts for its CPU time.
group_of() {
    awk -F: '$2 ~ /(^|,)cpuacct(,|$)/ { account = $3 }
        $1 == 0 { unified = $3 }
        END { print account != "" ? account : unified }' "$proc/$1/cgroup"
}

# watch_place ROLE CPUS: records the load that the host sees of a side that is measured inside.
watch_place() {
    local of=(--cpus "$2") pid
    [ "$measure" = inside ] && [ -s "$scratch/places/$1/place" ] || return 0
    command -v ssload >/dev/null || return 0
    if [ "$load_of" = group ]; then
        read -r pid <"$scratch/places/$1/place"
        of=(--cgroup "$(group_of "$pid")")
    fi
    start ssload --quiet "${of[@]}" --format csv --output "$scratch/host-load.$1.csv" \
        >/dev/null 2>"$scratch/said/host-load.$1.err"
}
