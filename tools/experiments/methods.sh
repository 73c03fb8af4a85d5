#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: ways to bring a machine to a load.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

known_methods="nbench nbench-fit cdc 1cdc pi-even pi-uneven geom-even geom-uneven default cpulimit quota"

methods_usage() {
    cat <<END
                      nbench      the target times the number of CPUs, rounded: so many instances,
                                  uncontrolled, as published
                      nbench-fit  as many uncontrolled instances as give the load, by the load of one
                      cdc         a constant duty cycle: control fixed, without feedback
                      1cdc        the same with one instance
                      pi-even pi-uneven geom-even geom-uneven
                                  controls rbpid and geom with both spaces, as published (feedback
                                  realtime, dithering averageq)
                      default     showstopper without options for modules
                      cpulimit    one for each instance
                      quota       a control group with a CPU quota for all instances
END
}

# has_tau METHOD: whether it is run with each of the taus; others have none or their own.
has_tau() {
    case $1 in
    cdc | 1cdc | pi-* | geom-*) return 0 ;;
    esac
    return 1
}

# Prints why a method cannot be had here; fails if it can.
why_no_method() {
    case $1 in
    cpulimit)
        ! command -v cpulimit >/dev/null || return 1
        echo "cpulimit is not installed"
        ;;
    quota) "$here/env/group" why-not ;;
    *) return 1 ;;
    esac
}

# choose_modules METHOD TAU: sets `measuring`, the feedback, and `modules`, the others. All measure by
# idle time, as the published figures do, so that their errors can be compared.
choose_modules() {
    local dithering=(-d averageq -D "$2") control=(-c rbpid)
    measuring=(-f realtime)
    [ -z "$pi_control" ] || control+=(-C "$pi_control")
    case $1 in
    cdc | 1cdc) modules=(-d averageq -D "$2${cdc_dithering:+,$cdc_dithering}" -c fixed -s even) ;;
    pi-*) modules=("${dithering[@]}" "${control[@]}" -s "${1#pi-}") ;;
    geom-*) modules=("${dithering[@]}" -c geom -s "${1#geom-}") ;;
    default) measuring=(-f exact -F source=idle) modules=() ;;
    *) modules=(-c fixed -C duty=100%) ;;
    esac
}

# whole_instances TARGET: prints this part of the number of CPUs, rounded half up, at least 1.
whole_instances() {
    compute "int($1 * $cpus + 0.5 + 1e-9) > 1 ? int($1 * $cpus + 0.5 + 1e-9) : 1"
}

# count_instances METHOD WORKLOAD TARGET: sets `number` and, for uncontrolled instances, `stands_for`, the load
# that they stand for: for nbench if each uses a CPU, for nbench-fit by the load of one.
count_instances() {
    local one
    number=$instances
    stands_for=
    case $1 in
    1cdc) number=1 ;;
    nbench)
        number=$(whole_instances "$3")
        stands_for=$(compute "$number / $cpus")
        ;;
    nbench-fit)
        measure_one "$2"
        number=$(compute "$one > 0 && $3 / $one > 1 ? int($3 / $one + 0.5) : 1")
        stands_for=$(compute "$number * $one < 1 ? $number * $one : 1")
        ;;
    esac
}

# limit_words TARGET WORKLOAD: puts a limiter before `words`. Both cpulimits in use: one knows parts of a
# percent and -i for children, the other one whole percents and -m for them.
limit_words() {
    local options=(-q) form='%.0f' limit
    if [[ $(cpulimit --help 2>&1) = *--include-children* ]]; then
        options=(-i)
        form='%.2f'
    elif [[ ! $2 =~ ^(serial|blocking|parallel)$ ]]; then
        options+=(-m)
    fi
    limit=$(awk -v target="$1" -v cpus="$cpus" -v number="$number" -v form="$form" 'BEGIN {
        limit = 100 * target * cpus / number
        printf form, limit < 1 ? 1 : limit }')
    words=(cpulimit "${options[@]}" -l "$limit" -f -- "${words[@]}")
}

# Sets `usable` to those of `methods` that can be had, and notes why others cannot.
check_methods() {
    local list method reason
    IFS=, read -ra list <<<"$methods"
    check_words methods "$known_methods" "${list[@]}"
    usable=()
    for method in "${list[@]}"; do
        if reason=$(why_no_method "$method"); then
            plan_skip "$reason" "method=$method"
        else
            usable+=("$method")
        fi
    done
}

# list_taus METHOD
list_taus() {
    if has_tau "$1"; then
        tr ',' ' ' <<<"$taus"
    else
        echo own
    fi
}

# tau_seconds TAU: of 107m, in seconds; nothing for a method's own.
tau_seconds() {
    [ "$1" = own ] || in_seconds "$1"
}

# read_taus OPTION: writes each of `taus` as showstopper prints it.
read_taus() {
    local tau read all=
    for tau in ${taus//,/ }; do
        read=$(ask 'dithering *averageq *tau=' "$1" -l 1 -d averageq -D "tau=$tau")
        all+=,${read%%,*}
    done
    taus=${all#,}
}

# Makes percents of `targets`.
read_targets() {
    local target percent all=
    for target in ${targets//,/ }; do
        percent=$(percent_of targets "$target")
        [ "$percent" != 0 ] || fail "--targets: $target: a load above 0 is wanted"
        all+=,$percent
    done
    targets=${all#,}
}
