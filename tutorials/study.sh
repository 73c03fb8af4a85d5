#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How much slower is gzip -9 than gzip -1, and does the load of the machine change that? Copy this script, and replace
# the loops and the command by yours: a-study-of-your-own.md explains it.
#
# Usage: [NAME=VALUE]... sh study.sh [FOLDER]
# FOLDER (gzip-study) gets the results. If the study is interrupted, the same call continues it.
# LOADS, LEVELS   loads in percent; levels of gzip
# ROUNDS          how often everything is measured
# WARMUP, LENGTH  times of each run in seconds: at full speed, and under control
# OPTIONS         further options of showstopper, such as OPTIONS='-n 1 -f own'
# DRY_RUN=1       lists the runs and how long they take
set -eu

study=${1:-gzip-study}
warmup=${WARMUP:-5} length=${LENGTH:-30}

plan() {
    echo "plan 1"
    echo "set experiment=gzip workload=gzip"
    for round in $(seq "${ROUNDS:-3}"); do
        for load in ${LOADS:-25 50 75 100}; do
            for level in ${LEVELS:-1 9}; do
                echo "run gzip$level-$load-$round takes $((warmup + length + 1))s round=$round load=$load level=$level"
                echo "main -- showstopper --record {record} --quiet --warmup ${warmup}s --duration ${length}s -l $load% \
                    ${OPTIONS-} --repeat -- sh -c 'exec gzip -$level -c /bin/bash >/dev/null'"
            done
        done
    done
}

# The order within a round is random, but the same in each call. A run that fails does not end the study.
plan | ssbatch --shuffle 1 --go-on ${DRY_RUN:+--dry-run} "$study"
[ -n "${DRY_RUN-}" ] || ssreport --output "$study/report" "$study"
