#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: stairs.

# normal_levels LEVELS: prints HIGH:LOW:STEP in percent; LEVELS are three loads, or three whole percents without
# their sign.
normal_levels() {
    local high low step
    [[ $1 =~ ^([^:]+):([^:]+):([^:]+)$ ]] ||
        fail "--levels: $1: HIGH:LOW:STEP is required, three loads, as 95%:5%:5%"
    high=${BASH_REMATCH[1]} low=${BASH_REMATCH[2]} step=${BASH_REMATCH[3]}
    if [[ ! $1 =~ ^([2-9]|[1-9][0-9]|100):[0-9]+:[0-9]+$ ]]; then
        high=$(percent_of levels "$high") || exit 1
        low=$(percent_of levels "$low") || exit 1
        step=$(percent_of levels "$step") || exit 1
    fi
    [ "$(compute "$low <= $high && $step > 0")" = 1 ] || fail "--levels: $1: down, by a step above 0"
    echo "$high:$low:$step"
}

# read_stairs: makes HIGH:LOW:STEP in percent of `levels`; sets `steps`, how many steps the stairs down and up have, and
# `stairs`, the options of the trace. A part of each step, `edge` at both ends, is left out.
# shellcheck disable=SC2034 # the experiments read `steps` and `stairs`
read_stairs() {
    local high low step length=${hold:?}
    levels=$(normal_levels "$levels") || exit 1
    IFS=: read -r high low step <<<"$levels"
    steps=$(compute "2 * (int(($high - $low) / $step + 1e-9) + 1)")
    stairs="levels=${levels//:/%:}%,hold=${length}s,symmetric=yes"
    [ "$(compute "$length > 2 * ${edge:?}")" = 1 ] || fail "--edge: nothing would be left of a step"
}
