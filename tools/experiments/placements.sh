#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: where two workloads run beside each other.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

# take_sets A/B: sets `left`, `right` and how many CPUs each has; fails if they have a CPU in common without
# --share.
take_sets() {
    local twice
    [[ $1 =~ ^[0-9,-]+/[0-9,-]+$ ]] || fail "$1: two lists of CPUs are wanted, as 0-3/4-7"
    left=${1%/*}
    right=${1#*/}
    left_count=$(list_cpus "$left" | sort -u | wc -l)
    right_count=$(list_cpus "$right" | sort -u | wc -l)
    twice=$({ list_cpus "$left" | sort -u && list_cpus "$right" | sort -u; } | sort -n | uniq -d)
    [ -z "$twice" ] || [ -n "$share" ] ||
        fail "$1: both sets have CPU ${twice%%$'\n'*}; --share allows that"
}

# take_halves: each side has half as many CPUs as there are, but is not pinned.
take_halves() {
    left='' right=''
    left_count=$((cpus / 2 > 0 ? cpus / 2 : 1)) right_count=$((cpus / 2 > 0 ? cpus / 2 : 1))
}

# find_placement PLACEMENT: sets what take_sets does (`left` and `right` are empty for sides that are not pinned),
# or `reason`, why `environment` excludes it.
find_placement() {
    local status=0 found
    reason=
    case $1 in
    sets) take_sets "$sets" ;;
    neutral)
        take_halves
        [ "$cpus" -gt 1 ] || reason="one CPU has no halves"
        is_guest || reason="only a guest's number of CPUs bounds how many a side uses at a time"
        ;;
    quota)
        take_halves
        if is_guest; then
            reason="the number of its CPUs bounds a guest: see neutral"
        else
            reason=$("$here/env/group" why-not) || reason=
        fi
        ;;
    *)
        if ! command -v showstopper-platform >/dev/null; then
            reason="showstopper-platform is not installed, so the topology is not known"
            return
        fi
        found=$(showstopper-platform --sets "$1" ${root:+--root "$root"} 2>&1) || status=$?
        if [ "$status" -eq 0 ]; then
            take_sets "$found"
        else
            reason=${found#showstopper-platform: }
        fi
        ;;
    esac
}
