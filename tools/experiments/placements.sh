#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: where two workloads run beside each other.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

# list_cpus LIST: of the kernel's form, 0-3,8; a number a line.
list_cpus() {
    local range
    for range in ${1//,/ }; do
        [[ $range =~ ^([0-9]+)(-([0-9]+))?$ ]] || fail "$1: a list of CPUs is wanted, as 0-3,8"
        seq "${BASH_REMATCH[1]}" "${BASH_REMATCH[3]:-${BASH_REMATCH[1]}}"
    done
}

# take_sets A/B: sets `left`, `right` and how many CPUs each has; fails where they are no two sets.
take_sets() {
    local twice
    [[ $1 =~ ^[0-9,-]+/[0-9,-]+$ ]] || fail "$1: two lists of CPUs are wanted, as 0-3/4-7"
    left=${1%/*}
    right=${1#*/}
    left_count=$(list_cpus "$left" | sort -u | wc -l)
    right_count=$(list_cpus "$right" | sort -u | wc -l)
    twice=$({ list_cpus "$left" | sort -u && list_cpus "$right" | sort -u; } | sort -n | uniq -d)
    [ -z "$twice" ] || fail "$1: both sets have CPU ${twice%%$'\n'*}"
}

# find_placement PLACEMENT: sets what take_sets does, without CPUs for neutral; or `reason`.
find_placement() {
    local status=0 found
    reason=
    case $1 in
    sets) take_sets "$sets" ;;
    neutral)
        left='' right=''
        left_count=$((cpus / 2 > 0 ? cpus / 2 : 1)) right_count=$((cpus / 2 > 0 ? cpus / 2 : 1))
        ! reason=$(why_no_groups) || return 0
        reason=
        [ "$cpus" -gt 1 ] || reason="one CPU has no halves"
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
