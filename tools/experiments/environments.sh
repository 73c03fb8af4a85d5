#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the experiments: environments and CPUs of the sides of a run. env/README.md describes the commands in env/.

known_environments="host lxc podman kvm"

# check_environments LIST: fails unless these are words of --environment.
check_environments() {
    local list
    IFS=, read -ra list <<<"$1"
    check_words environment "$known_environments" "${list[@]}"
}

is_guest() {
    [ "$1" = kvm ] || [ "$1" = tcg ]
}

# why_no_environment ENVIRONMENT MEASURE GUEST: prints why it is unavailable here; fails if it is available.
why_no_environment() {
    case $1 in
    host) return 1 ;;
    kvm | tcg) why_no_guest "$2" "$3" ;;
    *) "${here:?}/env/$1" why-not ;;
    esac
}

# place_program ENVIRONMENT PLACEMENT: prints the command in env/ that opens the place of a side; nothing if the side
# needs no place.
place_program() {
    case $1.$2 in
    kvm.* | tcg.*) echo guest ;;
    host.quota) echo group ;;
    host.*) ;;
    *) echo "$1" ;;
    esac
}

# name_guests ENVIRONMENTS MEASURE GUEST: prints these environments. Replaces kvm by tcg (emulation) if kvm does not
# work here, because figures of the two must never be compared.
name_guests() {
    local found=kvm names=,$1,
    if [[ $names = *,kvm,* ]] && ! why_no_guest "$2" "$3" >/dev/null; then
        found=$("${here:?}/run-in-guest" --guest "$3" --print-acceleration) || exit 1
        [ "$found" = kvm ] || say "kvm does not work here, so guests are emulated (tcg): everything runs, slowly"
    fi
    names=${names//,kvm,/,$found,}
    names=${names#,}
    echo "${names%,}"
}

# why_no_guest MEASURE GUEST: prints why guests are unavailable here; fails if they are available.
why_no_guest() {
    if [ "$1" = host ]; then
        echo "Showstopper on the host cannot start processes in a guest: use --measure inside"
    elif [ -z "$2" ]; then
        echo "no guest is named: build one with make-guest and name it with --guest"
    elif [ ! -r "$2/about" ]; then
        echo "$2 is not a guest: build one with make-guest"
    else
        "${here:?}/env/guest" why-not
    fi
}

# boot_seconds ENVIRONMENT COUNT TIME: prints the estimated time until this many instances run in guests; 0 if the
# environment has no guests. TIME is the boot time; if it is empty, a default is used.
boot_seconds() {
    case $1 in
    kvm) compute "${3:-6} + $2 / 10" ;;
    tcg) compute "${3:-14} + 2 * $2" ;;
    *) echo 0 ;;
    esac
}

# print_sets A/B [SHARE]: prints the CPUs of both sides and their numbers. If SHARE is empty, fails if a CPU is in both.
print_sets() {
    local words
    words=$(value_of sets sets "$1") || exit 1
    [ "${words##* }" = - ] || [ -n "${2-}" ] ||
        fail "--sets: $1: both sets have CPU ${words##* }; --share allows that"
    echo "${words% *}"
}

# print_placement PLACEMENT ENVIRONMENT CPUS [ROOT]: prints the CPUs of both sides and their numbers, on a machine with
# this many CPUs. If the environment does not support the placement, prints the reason and fails. A side that is not
# pinned has the CPUs -, and their number is half of all CPUs.
print_placement() {
    local found='' half=$(($3 / 2 > 0 ? $3 / 2 : 1))
    case $1 in
    free)
        ! is_guest "$2" || found="a guest has half of the CPUs: see neutral"
        [ "$3" -gt 1 ] || found="one CPU has no halves"
        ;;
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
    echo "${found:-- - $half $half}"
    [ -z "$found" ]
}
