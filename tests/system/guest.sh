# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # variables of harness.sh
# Sourced by tests that boot guests.

# need_guest: sets `guest`. All tests share one guest, built by the first caller, and may run in parallel.
need_guest() {
    local tools=$source/tools/experiments reason lock
    ! reason=$("$tools/run-in-guest" --why-not) || skip "guest: $reason"
    guest=$build/guest
    exec {lock}>"$build/guest.lock"
    flock "$lock"
    [ ! "$tools/make-guest" -nt "$guest/about" ] || rm -rf "$guest"
    [ -d "$guest" ] || "$tools/make-guest" "$guest" >"$output" 2>&1 ||
        skip "guest-packages: $(head -n 1 "$output")"
    exec {lock}>&-
}
