#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Control groups of showstopper-place, which are files in a folder.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# place STATUS ARGUMENT...: runs showstopper-place on the control groups in the folder `root`. Sets `output`.
place() {
    local status=0
    output=$("$build/libexec/showstopper/showstopper-place" "$2" --root root "${@:3}" 2>&1) || status=$?
    [ "$status" -eq "$1" ] || fail "place ${*:2}: status $status, not $1: $output"
}

# says LINE...
says() {
    [ "$output" = "$(printf '%s\n' "$@")" ] || fail "wrong output: $output"
}

# make_hierarchy FOLDER FILE...: creates the files in this hierarchy and in the group of place x.
make_hierarchy() {
    local folder=root/sys/fs/cgroup/$1 file
    mkdir -p "$folder/showstopper-x" root/proc/self
    for file in "${@:2}"; do
        : >"$folder/showstopper-x/$file"
    done
}

# is_set FILE TEXT
is_set() {
    [ "$(cat "root/sys/fs/cgroup/$1")" = "$2" ] || fail "$1: $(cat "root/sys/fs/cgroup/$1")"
}

groups_of_version_one_are_limited_in_each_hierarchy() { # case
    make_hierarchy cpu cpu.cfs_period_us cpu.cfs_quota_us
    make_hierarchy cpuset cpuset.cpus cpuset.mems
    mkdir -p root/sys/fs/cgroup/cpuacct
    echo 0 >root/sys/fs/cgroup/cpuset/cpuset.mems
    printf '%s\n' 3:cpu:/ 2:cpuset:/ 1:cpuacct:/ >root/proc/self/cgroup
    place 0 make x --cpus 0-1 --quota 0.25
    is_set cpu/showstopper-x/cpu.cfs_period_us 100000
    is_set cpu/showstopper-x/cpu.cfs_quota_us 25000
    is_set cpuset/showstopper-x/cpuset.mems 0
    is_set cpuset/showstopper-x/cpuset.cpus 0-1
    [ -d root/sys/fs/cgroup/cpuacct/showstopper-x ] || fail "no group counts the CPU time"
    place 0 settings --cpus 0-1 --quota 0.25
    says "cgroup.cpuset.cpus = 0-1" "cgroup.cpu.cfs_period_us = 100000" "cgroup.cpu.cfs_quota_us = 25000"
    # The kernel accepts at least 1 ms in each period.
    place 1 make x --quota 0.009
    says "showstopper-place: --quota: '0.009' is too small: use at least 0.01"
    place 0 why-not memory
    says "no control group hierarchy has the controller memory"
}

groups_of_version_two_are_limited_in_the_unified_hierarchy() { # case
    make_hierarchy . cpu.max cpuset.cpus
    ln -s cpuset.cpus root/sys/fs/cgroup/showstopper-x/cpuset.cpus.effective # the kernel grants all requested CPUs
    echo "cpuset cpu" >root/sys/fs/cgroup/cgroup.controllers
    echo cpuset >root/sys/fs/cgroup/cgroup.subtree_control
    echo 0::/here >root/proc/self/cgroup
    place 0 make x --cpus 1 --quota 1.5
    is_set showstopper-x/cpu.max "150000 100000"
    is_set showstopper-x/cpuset.cpus 1
    [[ $(cat root/sys/fs/cgroup/cgroup.subtree_control) = +cpu* ]] || fail "the root does not give the controller"
    place 0 settings --cpus 1 --quota 1.5
    says "cgroup2.cpuset.cpus = 1" "cgroup2.cpu.max = 150000 100000"
    place 0 why-not memory
    says "no control group hierarchy has the controller memory"
}

a_limit_that_no_group_can_have_is_refused() { # case
    mkdir -p root/sys/fs/cgroup root/proc/self
    : >root/sys/fs/cgroup/cgroup.controllers
    echo 0::/ >root/proc/self/cgroup
    place 1 settings --cpus 1
    says "showstopper-place: no control group hierarchy has the controller cpuset"
    place 1 settings --quota 1
    says "showstopper-place: no control group hierarchy has the controller cpu"
    place 1 make y --quota 1
    says "showstopper-place: no control group hierarchy has the controller cpu"
    [ ! -e root/sys/fs/cgroup/showstopper-y ] || fail "a group was created"
    place 1 why-not disk
    says "showstopper-place: unknown limit 'disk'; available: quota, cpus, memory"
}

run_cases
