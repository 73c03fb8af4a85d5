# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests of several cases. Each line `run_case NAME` is a test of ctest's, system.SCRIPT.NAME,
# and with `alone` after it one that runs alone. The script's second argument names the one
# case to run.

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

# end_cases: with the status of a skip where a part was skipped.
end_cases() {
    [ "$cases_run" -gt 0 ] || fail "$only_case: there is no such case"
    exit "${skipped:-0}"
}
