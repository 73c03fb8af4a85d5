#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by control.sh: starts and ends the programs that hold a load.
# shellcheck disable=SC2034,SC2154 # variables are shared with it

cpus=$(nproc)
cleanups=(end_launched remove_groups close_bench)

open_control() {
    find_quota
    find_watched
    open_launching
}

# Finds the mount point of the hierarchy with the controller `cpu`, and our group in it.
find_quota() {
    quota_kind=v1
    quota_root=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/mounts)
    if [ -z "$quota_root" ]; then
        quota_kind=v2
        quota_root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
        grep -qsw cpu "$quota_root/cgroup.subtree_control" || quota_root=
    fi
    group=$quota_root/showstopper-bench.$$
}

# Sets `watched`, the group whose CPU time the judge measures while programs are limited.
find_watched() {
    local root
    root=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpuacct(,|$)/ { print $2; exit }' /proc/mounts)
    [ -n "$root" ] || root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
    watched=${root:+$root/showstopper-watched.$$}
    [ "$quota_kind" != v2 ] || [ -z "$quota_root" ] || watched=$group # a process has only one group there
}

# can_make GROUP: succeeds if the group can be created; GROUP is empty if no hierarchy can contain it.
can_make() {
    [ -n "$1" ] && mkdir "$1" 2>/dev/null && rmdir "$1"
}

# make_group PERCENT: creates a group with a quota of PERCENT of all CPUs, in periods of 100 ms.
make_group() {
    local quota=$(($1 * cpus * 1000))
    mkdir -p "$group"
    if [ "$quota_kind" = v2 ]; then
        echo "$quota 100000" >"$group/cpu.max"
    else
        echo 100000 >"$group/cpu.cfs_period_us"
        echo "$quota" >"$group/cpu.cfs_quota_us"
    fi
}

# remove_group FOLDER: removes a group, all groups below it and their processes.
remove_group() {
    local attempt pid
    for ((attempt = 0; attempt < 50; attempt++)); do
        [ -d "$1" ] || return 0
        while read -r pid; do
            kill -KILL "$pid" 2>/dev/null || true
        done <"$1/cgroup.procs"
        rmdir "$1" 2>/dev/null || sleep 0.1
    done
    echo "${0##*/}: $1 cannot be removed" >&2
}

remove_groups() {
    [ -z "$quota_root" ] || remove_group "$group"
    [ -z "$watched" ] || remove_group "$watched"
}

# why_not CONFIGURATION: prints why this machine cannot measure it; fails if it can.
why_not() {
    case $1 in
    new | new107 | window100 | pi | geom | fixed) return 1 ;;
    stress-ng)
        ! command -v "$1" >/dev/null || return 1
        echo "it is not installed"
        ;;
    attached | cpulimit | quota)
        if ! can_make "$watched"; then
            echo "no control group can be made that counts what the programs use"
        elif [ "$1" = cpulimit ] && ! command -v cpulimit >/dev/null; then
            echo "it is not installed"
        elif [ "$1" = quota ] && ! can_make "${quota_root:+$group}"; then
            echo "no group can be made for the controller cpu"
        else
            return 1
        fi
        ;;
    esac
}

# Sets `modules` to the options of a configuration of showstopper.
choose_modules() {
    local with=(-f realtime -s even -d averageq)
    case $1 in
    new) modules=() ;;
    new107) modules=(-D 107m) ;;
    window100) modules=(--window 100m) ;;
    pi) modules=("${with[@]}" -c rbpid) ;;
    geom) modules=("${with[@]}" -c geom) ;;
    fixed) modules=("${with[@]}" -c fixed) ;;
    *) return 1 ;;
    esac
}

# showstopper_from BEGIN ARG...: runs slightly longer than the judge, so that the judge's last reading is during the
# run.
showstopper_from() {
    launch /dev/null showstopper --quiet --json "$folder/result.json" --start-at "@$1" \
        --settle "${settle}s" --duration "$((1000 * (settle + seconds) + 100))m" "${@:2}"
}

# hold_from BEGIN CONFIGURATION CLASS INSTANCES ARG...: runs showstopper; ARG... set its target.
hold_from() {
    local begin=$1 config=$2 class=$3 instances=$4 modules
    choose_modules "$config"
    showstopper_from "$begin" -n "$instances" "${@:5}" "${modules[@]}" ssburn "$class" --work "$work"
}

# hold_started BEGIN TARGET: attaches showstopper to the launched programs.
hold_started() {
    showstopper_from "$1" -l "$2%" -f own --attach "$(IFS=, && echo "${launched[*]}")"
}

# Two different programs have the name cpulimit. Only one of them accepts fractions of a percent and -i.
limit_each() {
    local class=$1 instances=$2 target=$3 number leader words=() form='%.0f'
    if cpulimit --help 2>&1 | grep -q -- --include-children; then
        words=(-i)
        form='%.2f'
    elif [ "$class" = forking ]; then
        words=(-m)
    fi
    number=$(awk -v target="$target" -v cpus="$cpus" -v instances="$instances" -v form="$form" \
        'BEGIN { limit = target * cpus / instances
                 printf form, limit < 1 ? 1 : limit }')
    for leader in "${launched[@]}"; do
        launch /dev/null cpulimit "${words[@]}" -l "$number" -p "$leader"
    done
}

# start_limited CONFIGURATION CLASS INSTANCES TARGET BEGIN: starts programs that do not stop themselves, limited or not,
# in a group whose load the judge measures.
start_limited() {
    local groups=("$watched") number
    mkdir "$watched"
    if [ "$1" = quota ]; then
        make_group "$4"
        groups+=("$group")
    fi
    for ((number = 0; number < $3; number++)); do
        # shellcheck disable=SC2016 # the inner shell expands them
        launch /dev/null sh -c 'for group in $0; do echo $$ >"$group/cgroup.procs"; done; exec "$@"' \
            "${groups[*]}" ssburn "$2" --work "$work"
    done
    case $1 in
    cpulimit) limit_each "$2" "$3" "$4" ;;
    attached) hold_started "$5" "$4" ;;
    esac
}

# start_config CONFIGURATION CLASS INSTANCES TARGET BEGIN
start_config() {
    judged=()
    case $1 in
    stress-ng) launch /dev/null stress-ng --quiet --cpu "$cpus" --cpu-load "$4" ;;
    quota | cpulimit | attached)
        start_limited "$@"
        judged=(--group "$watched")
        ;;
    *) hold_from "$5" "$1" "$2" "$3" -l "$4%" ;;
    esac
}

# Showstopper exits by itself and writes its figures.
end_config() {
    local modules leader=${launched[-1]}
    if [ "$1" = attached ] || choose_modules "$1"; then
        wait "$leader" 2>/dev/null || early+=("${names[$leader]}")
    fi
    end_launched
    remove_groups
}
