#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The study of the tutorial a-study-of-your-own.md, which readers copy, needs only showstopper, ssbatch and ssreport.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# A folder with these programs alone, so that the study cannot use others of the build.
programs=$scratch/programs

prepare() {
    need_built ssbatch
    mkdir "$programs"
    ln -s "$bin/showstopper" "$bin/ssbatch" "$bin/ssreport" "$programs"
    PATH=$programs:$PATH
    export ROUNDS=2 LOADS='5 10' LEVELS='1 9' WARMUP=1 LENGTH=2 OPTIONS='-n 1 -f own'
}

study_lists_its_runs() { # case
    prepare
    DRY_RUN=1 "$source/tutorials/study.sh" study >"$output" || fail "status $?"
    [ "$(grep -c '^gzip[19]-[0-9]*-[12]: 4 s$' "$output")" -eq 8 ] || fail "lists $(<"$output")"
    grep -qx 'to come: 32 s' "$output" || fail "lists $(<"$output")"
    [ ! -e study ] || fail "a dry run makes a folder"
}

study_runs_and_continues() { # case
    prepare
    need_built reports
    ROUNDS=1 LOADS=5 "$source/tutorials/study.sh" >"$output" 2>err || fail "status $?: $(<err)"
    ROUNDS=1 "$source/tutorials/study.sh" >"$output" 2>err || fail "continued: status $?: $(<err)"
    grep -q 'run 1 of 2,' err || fail "runs that are done are not kept: $(<err)"
    [ "$(cut -d, -f 1,2 gzip-study/report/study.csv | paste -sd ' ')" = 'load,level 5,1 10,1 5,9 10,9' ] ||
        fail "study.csv: $(<gzip-study/report/study.csv)"
    [ "$(ls gzip-study)" = $'gzip1-10-1\ngzip1-5-1\ngzip9-10-1\ngzip9-5-1\nreport' ] || fail "made: $(ls gzip-study)"
}

page_shows_lines_of_the_study() { # case
    awk '/^```$/ { fences++; next } fences == 1' "$source/tutorials/a-study-of-your-own.md" >shown
    [ "$(wc -l <shown)" -gt 5 ] || fail "the page shows no lines"
    grep -vxFf "$source/tutorials/study.sh" shown >"$output" || return 0
    fail "not in study.sh: $(<"$output")"
}

run_cases
