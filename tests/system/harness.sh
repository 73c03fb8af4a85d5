# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # variables of the caller
# Sourced first by the scripts test_*.sh. Their arguments are the build folder, and one case to run (default: all).
# Each function with `# case` at the end of its first line is the ctest test system.SCRIPT.FUNCTION; with
# `# case, alone`, no other test runs at the same time, and with `# case, timing`, only `ctest -L timing` runs it. Such
# a script ends with run_cases. Any other script is one test.
#
# Sets `here`, the folder of this file, `source`, the tree, `build`, `bin`, and `scratch`, a new folder, which becomes the
# current one and is removed at exit. Background jobs are killed then. A script may define clean_up, which is called
# before that.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
test_script=$(realpath "$0") build=$(realpath "$1") only_case=${2-}
bin=$build/bin
# shellcheck source=skip.sh
. "$here/skip.sh"

# Timeout of waits in seconds: a guard against hangs. Even on a busy machine a wait takes far less. ctest allows 1800 s
# for a test.
patience=300
started=() # pids of processes that end with the test, besides its background jobs

scratch=$(mktemp -d)
output=$scratch/out
trap end_test EXIT
cd "$scratch"

end_test() {
    local status=$?
    [ "$(type -t clean_up)" != function ] || clean_up
    # Processes that are not our children may have ended, and their pids may have been reused.
    for pid in "${started[@]}"; do
        [ ! "/proc/$pid/cwd" -ef "$scratch" ] || kill -KILL "$pid" 2>/dev/null || true
    done
    for pid in $(jobs -pr); do
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$scratch"
    [ "$status" -ne 0 ] || exit "$skipped"
}

# run_cases: runs the chosen case, or each one in a process of its own.
run_cases() {
    local case status=0
    if [ -n "$only_case" ]; then
        grep -qE "^$only_case\(\) .*# case(, [a-z]+)?\$" "$test_script" || fail "$only_case: no such case"
        "$only_case"
        return
    fi
    while read -r case; do
        echo "-- $case"
        "$test_script" "$build" "$case" </dev/null || case $? in
        77) skipped=77 ;;
        *) status=1 ;;
        esac
    done < <(sed -nE 's/^([a-z0-9_]+)\(\) .*# case(, [a-z]+)?$/\1/p' "$test_script")
    return "$status"
}

# fail TEXT...: ends the test, and shows what the last command printed.
fail() {
    local file
    echo "FAILED: $*" >&2
    for file in out err; do
        [ ! -s "$file" ] || { echo "-- $PWD/$file:" && tail -n 40 "$file"; } >&2
    done
    [ . -ef "$scratch" ] || [ ! -s "$output" ] || tail -n 40 "$output" >&2
    exit 1
}

# expect STATUS COMMAND...: fails unless the exit status matches STATUS, a pattern. The command writes to `out` and `err`.
expect() {
    local status=0
    "${@:2}" >out 2>err || status=$?
    # shellcheck disable=SC2053 # a pattern
    [[ $status = $1 ]] || fail "${*:2}: status $status instead of $1"
}

# refuses STATUS PART COMMAND...: fails unless the command exits with this status and prints nothing but one line of
# errors, which has this part.
refuses() {
    expect "$1" "${@:3}"
    { [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ]; } || fail "${*:3}: more than one line of errors"
    says err "$2"
}

# says FILE TEXT: fails unless the file has this text within a line.
says() {
    grep -qF -e "$2" "$1" || fail "$1 does not have '$2': $(cat "$1")"
}

# is FILE TEXT: fails unless this is all of the file, but for line breaks at its end.
is() {
    [ "$(cat "$1")" = "$2" ] || fail "$1 is not '$2': $(cat "$1")"
}

# await COMMAND...: repeats the command until it succeeds.
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

# start COMMAND...: starts a process. Sets `pid`.
start() {
    "$@" &
    pid=$!
}

# ends STATUS [PID]: fails unless the process, by default `pid`, ends with a status that matches STATUS, a pattern.
ends() {
    local status=0
    wait "${2-$pid}" 2>/dev/null || status=$?
    [ $# -gt 1 ] || pid=
    # shellcheck disable=SC2053 # a pattern
    [[ $status = $1 ]] || fail "status $status instead of $1"
}

# spin COMMAND...: keeps a CPU busy in the background until this test ends, under a command such as nice or env. The
# process checks by itself that the test exists: `timeout`, if ended right after it forks, leaves its child running.
spin() {
    # shellcheck disable=SC2016 # for sh
    "$@" sh -c 'while kill -0 "$1" 2>/dev/null; do :; done' spin $$ &
}

# has_lines FILE COUNT: succeeds if the file exists and has at least this number of lines.
has_lines() {
    [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]
}

# write_program FILE [LINE...]: writes an executable script of these lines, or of standard input.
write_program() {
    if [ $# -gt 1 ]; then printf '%s\n' "${@:2}"; else cat; fi >"$1"
    chmod +x "$1"
}

# unpack_tree FILE FOLDER: creates the files of a recorded machine. Each line of FILE has a path, a tab, and the content.
unpack_tree() {
    local path text file
    while IFS=$'\t' read -r path text; do
        [[ $path != '#'* ]] || continue
        file=$2/$path # in the folder itself, too
        [ -d "${file%/*}" ] || mkdir -p "${file%/*}"
        printf %b "$text" >"$file"
    done <"$1"
}

# is_built PART: succeeds if the program PART was built, `reports` for the Python package, `serve` for `ssburn serve`.
is_built() {
    case $1 in
    reports) have_reports "$build" ;;
    serve) "$bin/ssburn" serve --help >/dev/null 2>&1 ;;
    *) [ -x "$bin/$1" ] ;;
    esac
}

# need_built PART...: skips the test unless all parts are built.
need_built() {
    local part
    for part; do
        is_built "$part" || skip "left-out: built without $part"
    done
}

# need_python MODULE PACKAGE: sets `python` to one that has this module. Debian installs modules for /usr/bin/python3,
# which need not be the first in PATH.
need_python() {
    for python in /usr/bin/python3 python3; do
        ! "$python" -c "import $1" 2>/dev/null || return 0
    done
    skip "$2: not installed"
}
