#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: stairs, and what lies in each of their steps.
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

# list_steps ROW FOLDER...: for every step ROW, its number, half (down, up), target and load in the first
# folder, and iterations per second in each folder, as CSV. What an iteration adds to a step
# is the part of it that lies there; nothing where a folder has no iterations.
list_steps() {
    local folder counts=()
    for folder in "${@:2}"; do
        counts+=("$folder/iterations.csv")
    done
    awk -F, -v row="$1" -v hold="$hold" -v edge="$edge" -v steps="$steps" '
        function least(a, b) {
            return a < b ? a : b
        }
        function most(a, b) {
            return a > b ? a : b
        }
        FNR == 1 {
            file++
            for (i = 1; i <= NF; i++)
                at[$i] = i
            next
        }
        file == 1 && $at["target"] != "" {
            # A sample is of the half second before it; those that lie across an edge are left out.
            middle = $at["elapsed_seconds"] - 0.25
            step = int(middle / hold)
            if (middle < 0 || step >= steps || middle - 0.24 < step * hold + edge ||
                middle + 0.24 > (step + 1) * hold - edge)
                next
            if (!samples[step]++)
                target[step] = $at["target"] + 0
            load[step] += $at["load"]
        }
        file > 1 {
            start = $at["start"]
            end = $at["end"]
            if (end <= start)
                next
            for (step = most(0, int(start / hold)); step < steps && step * hold < end; step++) {
                part = least(end, (step + 1) * hold - edge) - most(start, step * hold + edge)
                if (part > 0)
                    done[file, step] += part / (end - start)
            }
            any[file] = 1
        }
        END {
            for (step = 0; step < steps; step++) {
                if (!samples[step])
                    continue
                line = sprintf("%s,%d,%s,%s,%.6f", row, step + 1, step < steps / 2 ? "down" : "up",
                    target[step], load[step] / samples[step])
                for (i = 2; i <= file; i++)
                    line = line "," (any[i] ? done[i, step] / (hold - 2 * edge) : "")
                print line
            } }' "$2/samples.csv" "${counts[@]}"
}
