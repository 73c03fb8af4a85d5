#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: stairs.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

# read_levels: HIGH:LOW:STEP, three loads, or three whole percents without their sign; sets `steps`,
# those of the stairs down and up, and writes `levels` in percent.
read_levels() {
    local high low step
    [[ $levels =~ ^([^:]+):([^:]+):([^:]+)$ ]] ||
        fail "--levels: $levels: HIGH:LOW:STEP is wanted, three loads, as 95%:5%:5%"
    high=${BASH_REMATCH[1]} low=${BASH_REMATCH[2]} step=${BASH_REMATCH[3]}
    if [[ ! $levels =~ ^([2-9]|[1-9][0-9]|100):[0-9]+:[0-9]+$ ]]; then
        high=$(percent_of levels "$high")
        low=$(percent_of levels "$low")
        step=$(percent_of levels "$step")
    fi
    [ "$(compute "$low <= $high && $step > 0")" = 1 ] || fail "--levels: $levels: down, by a step above 0"
    levels=$high:$low:$step
    steps=$(compute "2 * (int(($high - $low) / $step + 1e-9) + 1)")
    stairs=levels=$high%:$low%:$step%,hold=${hold}s,symmetric=yes
    [ "$(compute "$hold > 2 * $edge")" = 1 ] || fail "--edge: nothing would be left of a step"
}
