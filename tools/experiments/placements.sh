#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: where two workloads run beside each other.

# print_sets A/B [SHARE]: prints the CPUs of both sides and how many each has, in four lines; fails if the sides have a
# CPU in common and may not SHARE it.
print_sets() {
    local left=${1%/*} right=${1#*/} twice
    [[ $1 =~ ^[0-9,-]+/[0-9,-]+$ ]] || fail "$1: two lists of CPUs are required, as 0-3/4-7"
    left=$(list_cpus "$left" | sort -u) || exit 1
    right=$(list_cpus "$right" | sort -u) || exit 1
    twice=$(sort -n <<<"$left"$'\n'"$right" | uniq -d)
    [ -z "$twice" ] || [ -n "${2-}" ] ||
        fail "$1: both sets have CPU ${twice%%$'\n'*}; --share allows that"
    printf '%s\n' "${1%/*}" "${1#*/}" "$(wc -l <<<"$left")" "$(wc -l <<<"$right")"
}

# print_halves CPUS: does so for sides that are not pinned, and may use half of that many CPUs.
print_halves() {
    local half=$(($1 / 2 > 0 ? $1 / 2 : 1))
    printf '%s\n' '' '' "$half" "$half"
}

# print_placement PLACEMENT ENVIRONMENT CPUS [ROOT]: prints the four lines of a placement on a machine with that many
# CPUs, or fails and prints why it is impossible in this environment.
print_placement() {
    local found
    case $1 in
    neutral)
        is_guest "$2" || found="only a guest's number of CPUs bounds how many a side uses at a time"
        [ "$3" -gt 1 ] || found="one CPU has no halves"
        ;;
    quota)
        if is_guest "$2"; then
            found="the number of its CPUs bounds a guest: see neutral"
        else
            found=$("${here:?}/env/group" why-not) || found=''
        fi
        ;;
    *)
        if ! command -v showstopper-platform >/dev/null; then
            found="showstopper-platform is not installed, so the topology is not known"
        elif found=$(showstopper-platform --sets "$1" ${4:+--root "$4"} 2>&1); then
            print_sets "$found"
            return
        fi
        ;;
    esac
    if [ -n "${found-}" ]; then
        echo "${found#showstopper-platform: }"
        return 1
    fi
    print_halves "$3"
}
