#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: what other processes do with the machine.
# shellcheck disable=SC2154 # `others` is the caller's

# In seconds: the time, for how long the CPUs that may be used have been idle, for how long they have
# worked for this study, all of it since some beginning; and the number of these CPUs.
machine_times() {
    awk -v now="$EPOCHREALTIME" -v hertz="$(getconf CLK_TCK)" '
        $1 == "Cpus_allowed_list:" {
            count = split($2, ranges, ",")
            for (i = 1; i <= count; i++) {
                split(ranges[i] "-" ranges[i], ends, "-")
                for (cpu = ends[1]; cpu <= ends[2]; cpu++)
                    mine["cpu" cpu] = 1
            }
        }
        $1 in mine {
            idle += $5 + $6
            cpus++
        }
        FILENAME ~ /[0-9]/ {
            own = $14 + $15 + $16 + $17
        }
        END { printf "%.6f %.6f %.6f %d", now, idle / hertz, own / hertz, cpus }' \
        /proc/self/status /proc/stat "/proc/$$/stat"
}

# others_share BEFORE AFTER: of the machine, from 0 to 1, between two machine_times.
others_share() {
    awk -v before="$1" -v after="$2" 'BEGIN {
        split(before, a)
        split(after, b)
        all = (b[1] - a[1]) * b[4]
        others = all - (b[2] - a[2]) - (b[3] - a[3])
        printf "%.3f", all <= 0 || others <= 0 ? 0 : others < all ? others / all : 1 }'
}

# is_more SHARE PERCENT
is_more() {
    awk -v share="$1" -v limit="$2" 'BEGIN { exit !(100 * share > limit) }'
}

percent() {
    awk -v share="$1" 'BEGIN { printf "%.0f %%", 100 * share }'
}

look_at_machine() {
    local before share never
    [ "$others" != 100 ] || return 0
    before=$(machine_times)
    exec {never}<> <(:)
    read -rt 1 -u "$never" || true
    exec {never}>&-
    share=$(others_share "$before" "$(machine_times)")
    ! is_more "$share" "$others" ||
        say "Warning: this machine is already $(percent "$share") busy, and the results will show it." \
            "Press Ctrl-C and call again when it is quiet, or go on: --others 100% does not warn"
}
