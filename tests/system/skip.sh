# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by tests that cannot run on all machines. A reason begins with the missing feature, a word from tests/skips,
# and a colon.

# shellcheck disable=SC2034 # the exit status of a test in which nothing failed
skipped=0

# In other locales, numbers may have a comma, and messages other words.
export LC_ALL=C

# skip REASON: ends the test.
skip() {
    echo "skipped: $1"
    exit 77
}

# skip_part REASON: continues the test, which then exits with $skipped instead of 0.
skip_part() {
    echo "skipped: $1"
    skipped=77
}

# have_terminal: fails, after skipping the caller's part, if script(1) cannot create a terminal.
have_terminal() {
    if ! (: <>/dev/ptmx) 2>/dev/null; then
        skip_part "terminal: cannot open a pseudo-terminal"
    elif ! command -v script >/dev/null; then
        skip_part "script: not installed"
    else
        return
    fi
    return 1
}

# need PROGRAM...
need() {
    for program; do
        command -v "$program" >/dev/null || skip "$program: not installed"
    done
}
