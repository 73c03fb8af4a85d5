#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: sides of a run in guests, a guest a side.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

# name_guests: replaces kvm in `environments` by what guests run with here, kvm or tcg (emulation), since
# the figures of both are never compared.
name_guests() {
    local found
    [[ ,$environments, = *,kvm,* && -z $root ]] || return 0
    ! why_no_guest >/dev/null || return 0
    found=$("$here/run-in-guest" --guest "$guest" --print-acceleration) || exit 1
    [ "$found" = kvm ] || say "kvm does not work here, so guests are emulated (tcg): everything runs, slowly"
    environments=,$environments,
    environments=${environments//,kvm,/,$found,}
    environments=${environments#,}
    environments=${environments%,}
}

# Prints why guests are unavailable here; fails if they are available.
why_no_guest() {
    if [ "$measure" = host ]; then
        echo "Showstopper on the host cannot start processes in a guest: --measure inside"
    elif [ -z "$guest" ]; then
        echo "no guest is named: build one with make-guest and name it with --guest"
    elif [ ! -r "$guest/about" ]; then
        echo "$guest is no guest: build one with make-guest"
    else
        "$here/env/guest" why-not
    fi
}

# describe_guest: sets `guest_made_of`, which all runs of a study have in common.
describe_guest() {
    guest_made_of=
    [ -z "$guest" ] || [ ! -r "$guest/about" ] || guest_made_of=$(paste -sd ' ' "$guest/about")
}

# booting COUNT: prints how many seconds guests take until so many instances run in them together; 0 where
# there are none.
booting() {
    case $environment in
    kvm) compute "${guest_boot:-6} + $1 / 10" ;;
    tcg) compute "${guest_boot:-14} + 2 * $1" ;;
    *) echo 0 ;;
    esac
}

# open_guest ROLE CPUS COUNT: a guest for one side, with a virtual CPU on each of these CPUs or, if CPUS is
# empty, COUNT virtual CPUs that are not pinned. Sets `around`, and empties `entering` and `pinning`, since
# Showstopper has all CPUs of the guest.
open_guest() {
    local placing=(--quota "$3")
    [ -z "$2" ] || placing=(--cpus "$2")
    hold_place guest "$1" --guest "$guest" --acceleration "$environment" --memory "$guest_memory" "${placing[@]}" \
        --share "$scratch" --scratch "$scratch/data" --clock "$scratch/guest-clock.$1.csv" \
        --vcpu-times "$scratch/guest-vcpus.$1.csv" || fail "$(cat "$scratch/places/$1")"
    around=("$here/env/guest" enter "$place" --) entering=() pinning=()
}

# watch_guest ROLE CPUS: records the load that the host sees; that of an unpinned guest is in guest-vcpus.csv.
watch_guest() {
    [ -n "$2" ] && command -v ssload >/dev/null || return 0
    start ssload --quiet --cpus "$2" --format csv --output "$scratch/host-load.$1.csv" \
        >/dev/null 2>"$scratch/said/host-load.$1.err"
}
