# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests with several cases. Each line `run_case NAME` defines the ctest test
# system.SCRIPT.NAME; with `alone` after NAME, no other test runs at the same time. The script's
# second argument selects one case.

# shellcheck source=patience.sh
. "$(dirname "${BASH_SOURCE[0]}")/patience.sh"

only_case=${2-}
cases_run=0

# run_case FUNCTION [alone]
run_case() {
    [ -z "$only_case" ] || [ "$only_case" = "$1" ] || return 0
    cases_run=$((cases_run + 1))
    "$1"
}

# spin COMMAND...: keeps a CPU busy in the background until this test ends, under a command such as nice or env. The
# process looks for the test itself: `timeout`, if ended right after it forks, would leave its child running.
spin() {
    # shellcheck disable=SC2016 # for sh
    "$@" sh -c 'while kill -0 "$1" 2>/dev/null; do :; done' spin $$ &
}

# end_cases: exits with 0, or with the status of a skip if a part was skipped.
end_cases() {
    [ "$cases_run" -gt 0 ] || fail "$only_case: no such case"
    exit "${skipped:-0}"
}
