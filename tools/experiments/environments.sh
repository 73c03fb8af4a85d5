#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: the environments that the sides of a run are in. The commands in env/ are
# described there.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

known_environments="host lxc podman kvm"

# Checks the words of --environment, --measure and --load-of.
check_environments() {
    local list
    environments=${environments//none/host} # as earlier versions called it
    IFS=, read -ra list <<<"$environments"
    check_words environment "$known_environments" "${list[@]}"
    check_words measure "inside host" "$measure"
    check_words load-of "group cpus" "$load_of"
}

is_guest() {
    [ "$environment" = kvm ] || [ "$environment" = tcg ]
}

# why_no_environment ENVIRONMENT: prints why it is unavailable here; fails if it is available.
why_no_environment() {
    case $1 in
    host) return 1 ;;
    kvm | tcg) why_no_guest ;;
    *) "$here/env/$1" why-not ;;
    esac
}

# measured_in ENVIRONMENT: nothing for the host.
measured_in() {
    [ "$1" = host ] || echo "$measure"
}

# place_name ENVIRONMENT: prints the beginning of the names of its runs.
place_name() {
    [ "$1" = host ] || echo "$1-$measure-"
}

# find_place_program: sets `program`, the command in env/ that opens the place of a side; empty if it has none.
find_place_program() {
    program=$environment
    if is_guest; then
        program=guest
    elif [ "$environment" = host ]; then
        program=''
        [ "$placement" != quota ] || program=group
    fi
}

# ---- guests ----

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
