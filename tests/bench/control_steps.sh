#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by control.sh: targets that change, and how fast a load follows them.
# shellcheck disable=SC2154 # variables are shared with it

# shape NAME: prints lines "TIME_SECONDS LOAD" that cover the counted time.
shape() {
    case $1 in
    steps)
        awk -v seconds="$seconds" -v unit="$unit" 'BEGIN {
            for (level = 0; level * unit < seconds; level++) {
                load = level % 2 ? 0.6 : 0.1
                print level * unit, load
                print (level + 1) * unit, load
            } }'
        ;;
    ramp) awk -v seconds="$seconds" 'BEGIN { print 0, 0.1; print seconds / 2, 0.9; print seconds, 0.1 }' ;;
    sine)
        awk -v seconds="$seconds" -v unit="$unit" 'BEGIN {
            for (step = 0; step <= 10 * seconds; step++)
                print step / 10, 0.4 + 0.3 * sin(6.283185307 * step / 10 / unit) }'
        ;;
    saw) plain_saw ;;
    esac
}

# Prints traces/saw.txt, scaled to the counted time.
plain_saw() {
    sstrace --dump <"$source/traces/saw.txt" | awk -v seconds="$seconds" '
        { time = $1 * (/^[0-9.]+M/ ? 60 : /^[0-9.]+m/ ? 0.001 : 1)
          times[NR] = time
          loads[NR] = $2 }
        END { for (i = 1; i <= NR; i++) print times[i] * seconds / time, loads[i] }'
}

# Prints the trace for showstopper: the first load also during settling, and the last one slightly longer, because a run
# ends with its trace.
showstopper_trace() {
    awk -v settle="$settle" '
        NR == 1 { print 0, $2 }
        { printf "%.6fs %s\n", $1 + settle, load = $2; last = $1 + settle }
        END { printf "%.6fs %s\n", last + 10, load }'
}

# judge_steps FILE: prints the mean time in seconds until the load stays within 3 points of a new level, and the maximum
# overshoot in points, from windows of 500 ms; two empty cells if the series has no step.
judge_steps() {
    awk -F, -v unit="$unit" '
        NR == 1 { next }
        { window = int(($1 - 0.05) / 0.5)
          load[window] += $3 == "" ? $4 : $3
          target[window] += $2
          count[window]++
          last = window }
        END {
            each = 2 * unit
            for (window = each; window <= last; window++) {
                step = int(window / each)
                if (!count[window] || !count[(step - 1) * each])
                    continue
                level = target[window] / count[window]
                before = target[(step - 1) * each] / count[(step - 1) * each]
                beyond = (load[window] / count[window] - level) * (level > before ? 100 : -100)
                if (beyond > 3 || beyond < -3)
                    settled[step] = 0.5 * (window - step * each + 1)
                if (beyond > over)
                    over = beyond
            }
            for (; step >= 1; step--) {
                sum += settled[step]
                steps++
            }
            if (steps)
                printf "%.3f,%.3f\n", sum / steps, over
            else
                print "," }' "$1"
}
