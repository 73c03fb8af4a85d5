#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: control groups with a CPU quota.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

group_roots=() # of a group; the quota is set in the first
# Version 1 may keep quota and account in two hierarchies.
find_groups() {
    local quota account root
    quota=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/mounts)
    account=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpuacct(,|$)/ { print $2; exit }' /proc/mounts)
    group_roots=()
    if [ -n "$quota" ]; then
        group_roots=("$quota")
        [ -z "$account" ] || [ "$account" = "$quota" ] || group_roots+=("$account")
        return
    fi
    root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
    ! grep -qsw cpu "$root/cgroup.subtree_control" || group_roots=("$root")
}

# Prints why no group can be made; fails if one can.
why_no_groups() {
    local root
    find_groups
    if [ ${#group_roots[@]} -eq 0 ]; then
        echo "no hierarchy of control groups has the controller cpu"
        return
    fi
    for root in "${group_roots[@]}"; do
        if ! mkdir "$root/showstopper-experiment.$$" 2>/dev/null; then
            echo "no control group can be made in $root"
            return
        fi
        rmdir "$root/showstopper-experiment.$$"
    done
    return 1
}

# make_group ROLE CPUS: CPUs may be a decimal; in periods of 100 ms. Sets `group`, its path below the
# roots, and `entering`, the words before a command that is to run in it.
make_group() {
    local root quota folders=()
    [ ${#group_roots[@]} -gt 0 ] || find_groups
    group=/showstopper-experiment.$$.$1
    quota=$(compute "int(100000 * $2 + 0.5)")
    note_left group "$group"
    for root in "${group_roots[@]}"; do
        mkdir "$root$group"
        folders+=("$root$group")
    done
    if [ -e "${folders[0]}/cpu.max" ]; then
        echo "$quota 100000" >"${folders[0]}/cpu.max"
    else
        echo 100000 >"${folders[0]}/cpu.cfs_period_us"
        echo "$quota" >"${folders[0]}/cpu.cfs_quota_us"
    fi
    join_groups "${folders[@]}"
}

# join_groups FOLDER...: `entering` for these groups.
join_groups() {
    # shellcheck disable=SC2016 # the inner shell expands them
    entering=(sh -c 'for group in $0; do echo $$ >"$group/cgroup.procs" || exit 1; done; exec "$@"'
        "$*")
}
