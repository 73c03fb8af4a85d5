# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests that wait for something.

# Timeout of waits in seconds: a guard against hangs. Even on a busy machine a wait takes far less. ctest allows 1800 s
# for a test.
# shellcheck disable=SC2034 # the caller reads it
patience=300

# await COMMAND...: repeats the command until it succeeds. The caller defines `fail`.
await() {
    local end=$((SECONDS + patience))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || fail "timed out waiting for: $*"
        sleep 0.05
    done
}

# is_gone PID: succeeds if the process has ended. The init process of a container may not reap orphans, which then remain
# as zombies.
is_gone() {
    [[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) =~ ^([ZX].*)?$ ]]
}
