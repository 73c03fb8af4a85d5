# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests that wait for something.

# Seconds after which a test gives up. They guard against hangs and promise nothing: whatever is waited
# for takes a small part of them, also if the machine is busy with other work. ctest allows 1800.
# shellcheck disable=SC2034 # the caller reads it
patience=300

# await COMMAND...: repeats the command until it succeeds. `fail` is the caller's.
await() {
    local end=$((SECONDS + patience))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || fail "waited in vain for: $*"
        sleep 0.05
    done
}
