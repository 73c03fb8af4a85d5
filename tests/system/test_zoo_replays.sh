#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Simulates the programs of the zoo from the recordings of tests/bench/zoo.sh --gains. The simulated load must follow
# the target as precisely as the bench requires of the real programs.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
data=$source/tests/data/zoo

# replay OPTION...: prints a line "PROGRAM instances load ... error mse" for each cell.
replay() {
    local profile
    for profile in "$data"/*.profile; do
        "$sssim" -P 2 --class "profile:$profile" --warmup 3s --settle 2s --duration 62s \
            --sweep instances=2,4 --sweep load=25%,50%,75% --csv "$@" 2>"$scratch/errors" |
            awk -F, -v program="$(basename "$profile" .profile)" '
                NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
                { print program, $1, $2, $at["error_mean_percent"], $at["error_mse_e4"] }'
    done | sort -g -k 5
}

# judge: prints the cells of standard input that exceed the limits; fails if there are any.
judge() {
    awk '
        { mse[NR] = $5 }
        $4 > 0.2 || $4 < -0.2 || $5 > 3 { print "missed: " $0; bad = 1 }
        END {
            median = (mse[int((NR + 1) / 2)] + mse[int(NR / 2) + 1]) / 2
            printf "median MSE %.2f of %d cells\n", median, NR
            exit bad || NR != 72 || median > 0.5
        }'
}

sssim=$bin/sssim
replay | judge || {
    echo "FAILED: programs of the zoo are not held" >&2
    exit 1
}
! replay --dithering-options unsteady=0 | judge >/dev/null || {
    echo "FAILED: rounds of constant length hold them as well" >&2
    exit 1
}
