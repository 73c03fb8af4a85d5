# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests that boot guests, after skip.sh; the test sets `build` and `output`.

# need_guest: sets `guest`. All tests share one guest, built by the first caller, and may run in parallel.
# shellcheck disable=SC2154 # the test sets them
need_guest() {
    local tools reason lock
    tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../tools/experiments" && pwd)
    ! reason=$("$tools/run-in-guest" --why-not) || skip "guest: $reason"
    guest=$build/guest
    exec {lock}>"$build/guest.lock"
    flock "$lock"
    [ ! "$tools/make-guest" -nt "$guest/about" ] || rm -rf "$guest"
    [ -d "$guest" ] || "$tools/make-guest" "$guest" >"$output" 2>&1 ||
        skip "guest-packages: $(head -n 1 "$output")"
    exec {lock}>&-
}
