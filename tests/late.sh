#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs tests with random delays in system calls, to find those that need a fast machine.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=options.sh
. tests/options.sh

build=build odds=20 longest=30 jobs=14

usage() {
    cat <<END
Usage: tests/late.sh [OPTION]... [PATTERN]
Runs the process and system tests while one call in --odds to open, write, fork, kill, rename and others is late by up
to --longest milliseconds, in the tests and in all programs that they start. It finds in minutes what a busy machine
shows once in a hundred runs. Calls differ from run to run: repeat it. PATTERN selects tests like ctest -R.

  --build DIR   a build with all tests; default $build
  --odds N      default $odds
  --longest MS  default $longest
  --jobs N      tests at a time; default $jobs
  --help        print this help
END
}

# The first two measure the order or the rate of the delayed calls themselves. In the last, a kernel before 6.9 cannot
# signal a group by pidfd, so the usually short time between the check of its pid and the signal is unprotected.
unfit='^(process\.hold\.signals_are_sent_in_order_and_in_reverse|system\.experiments\.load_of_other_processes_is_reported'
unfit+='|process\.reuse\.the_reused_pid_of_an_ended_branch_is_not_signaled.*)$'

takes_operands=yes
take_options build odds longest jobs -- "$@"
check_numbers odds longest jobs
[ "${#operands[@]}" -le 1 ] || refuse "${operands[1]}: only one pattern"
shim=$(realpath -m "$build")/tests/libshim_delay.so
[ -e "$shim" ] || refuse "$shim: missing: build first"
LD_PRELOAD=$shim SS_TEST_DELAY=$odds:$longest exec ctest --test-dir "$build" -j "$jobs" -R "${operands[0]-^(process|system)\.}" -E "$unfit" \
    -LE timing --output-on-failure
