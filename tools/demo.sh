#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Showstopper in a fresh checkout, and holds this machine at half of its capacity.
set -euo pipefail
unset CDPATH # otherwise cd may enter another folder, and print its name
cd "$(dirname "$0")/.."
exec </dev/null # if it is closed, the next opened file becomes standard input
# shellcheck source=install-missing.sh
. tools/install-missing.sh

usage() {
    cat <<END
Usage: tools/demo.sh [--duration TIME] [--load LOAD]
Installs what is missing, builds in build/, and holds the load of this machine.

  --duration TIME   hold it for this long: 90s, 2min; default 20s
  --load LOAD       hold this load: 60%, 0.6; default 50%
  --help            print this help
END
}

fail() {
    echo "tools/demo.sh: $*" >&2
    exit 1
}

take_options() {
    while [ $# -gt 0 ]; do
        case $1 in
        --help) usage; exit ;;
        --duration) duration=${2-} ;;
        --load) load=${2-} ;;
        *) fail "$1: unknown option: see --help" ;;
        esac
        [ $# -gt 1 ] || fail "$1 requires a value: see --help"
        shift 2
    done
}

# with_progress COMMAND...: builds; prints each tenth as it completes, and the output only if it fails.
with_progress() {
    local log line percent shown=0 status=0
    log=$(mktemp)
    "$@" 2>&1 | tee "$log" | while read -r line; do
        # make prints "[ 40%]", ninja "[30/75]"
        [[ $line =~ ^\[\ *([0-9]+)(%|/([0-9]+))\] ]] || continue
        percent=$((BASH_REMATCH[1] * 100 / ${BASH_REMATCH[3]:-100} / 10 * 10))
        [ "$percent" -gt "$shown" ] || continue
        printf '%d %% ' "$percent"
        shown=$percent
    done || status=$?
    echo
    [ "$status" -eq 0 ] || cat "$log" >&2
    rm -f "$log"
    return "$status"
}

build() {
    install_missing gcc=cc libc6-dev=/usr/include/stdio.h cmake=cmake make=make
    echo "Building in build/"
    quietly cmake --preset release
    with_progress cmake --build --preset release --parallel "$(nproc)" --target programs
}

hold() {
    local command=(showstopper --load "$load" --duration "$duration" --progress always
        --json "$summary" --iteration '^iteration' ssburn serial)
    printf '\nssburn alone would keep all CPUs busy. Now the load of the machine is held at %s for %s:\n' "$load" "$duration"
    PATH=$PWD/build/bin:$PATH "${command[@]}" >/dev/null
}

# advise: says what to do if the run was invalid.
advise() {
    grep -A 1 '"verdict": {' "$summary" | grep -q invalid || return 0
    cat <<END

The verdict says why this run measured nothing. If other processes are the reason:
  build/bin/ssload                    shows when the machine is quiet; then try again
  tools/demo.sh --load 80%            a target above the load of the others can be held
  build/bin/showstopper -f own -l 50% build/bin/ssburn serial
                                      holds the load of ssburn alone, if the others leave enough
END
}

duration=20s
load=50%
summary=build/demo.json
take_options "$@"
build
hold
advise
