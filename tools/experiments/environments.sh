#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: environments that the sides of a run are in. Guests are in guests.sh.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

# shellcheck source=guests.sh
. "$(dirname "${BASH_SOURCE[0]}")/guests.sh"

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

# open_place ROLE CPUS QUOTA: opens a container of `environment` for one side. It may use these CPUs (empty: all),
# and QUOTA of CPU time, in CPUs (empty: unlimited). If that fails, use_place lets the side fail with the reason.
open_place() {
    local entering words=(--share "$scratch")
    [ -z "$2" ] || words+=(--cpus "$2")
    [ -z "$3" ] || words+=(--quota "$3")
    hold_place "$environment" "$1" "${words[@]}" || true
}

# is_open ROLE
is_open() {
    grep -qsx open "$scratch/places/$1"
}

# use_place ROLE FEEDBACK: sets `around`, words before showstopper where it runs inside, `entering`, words
# before the command of an instance where it runs on the host, and `side`, options for its feedback, which
# is FEEDBACK for --load-of cpus.
use_place() {
    local enter=$here/env/$environment place=experiment.$$.$1
    side=(-f "$2")
    if ! is_open "$1"; then
        # shellcheck disable=SC2016 # the inner shell expands it
        around=(sh -c 'cat "$0" >&2; echo "the container did not start" >&2; exit 1' "$scratch/places/$1")
    elif [ "$measure" = inside ]; then
        around=("$enter" enter "$place" --)
        [ "$load_of" = cpus ] || side=(-f cgroup)
    else
        # showstopper replaces a % in the command of an instance.
        entering=("${enter//%/%%}" enter "$place" --instance --)
        [ "$load_of" = cpus ] || side=(-f cgroup -F "group=$("$enter" group "$place")")
    fi
}

# watch_place ROLE CPUS: records the load that the host sees of a side that is measured inside.
watch_place() {
    local of=(--cpus "$2")
    [ "$measure" = inside ] && is_open "$1" || return 0
    command -v ssload >/dev/null || return 0
    [ "$load_of" = cpus ] || of=(--cgroup "$("$here/env/$environment" group "experiment.$$.$1")")
    start ssload --quiet "${of[@]}" --format csv --output "$scratch/host-load.$1.csv" \
        >/dev/null 2>"$scratch/said/host-load.$1.err"
}
