#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every program fails if its standard output cannot be written, and says so in one line.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
have_full || exit "$skipped"

# run PROGRAM ARGUMENT...: sets `status`; its errors go to `err`.
run() {
    local program=$build/bin/$1
    [ -e "$program" ] || program=$build/libexec/showstopper/$1
    status=0
    "$program" "${@:2}" 2>err </dev/null || status=$?
}

# expect_loss STATUS REASON COMMAND: fails unless the last program had this status and one line gives this reason.
expect_loss() {
    [ "$status" -eq "$1" ] || fail "$3: expected status $1, got $status: $(cat err)"
    [ "$(grep -Ec ": standard output: $2\$" err)" -eq 1 ] || fail "$3: $(cat err)"
}

# closed STATUS PROGRAM ARGUMENT...: reports that standard output is closed.
closed() {
    run "${@:2}" >&-
    expect_loss "$1" 'closed: the output is lost' "${*:2}"
}

# loses STATUS PROGRAM ARGUMENT...: prints something, and reports if that is lost.
loses() {
    if [ ! -x "$build/bin/$2" ] && [ ! -x "$build/libexec/showstopper/$2" ]; then
        skip_part "left-out: $2 was not built"
        return
    fi
    run "${@:2}" >out
    [ -s out ] || fail "${*:2}: prints nothing: $(cat err)"
    run "${@:2}" >/dev/full
    expect_loss "$1" '(No space left on device|write error)' "${*:2}"
}

for program in "$build"/bin/* "$build"/libexec/showstopper/*; do
    name=${program##*/}
    case $name in
    sstrace) failure=2 ;;
    ssburn) failure=1 ;;
    *) failure=125 ;;
    esac
    loses "$failure" "$name" --help
    closed "$failure" "$name" --help
    case $name in
    showstopper-replay) ;; # without --version
    *) loses "$failure" "$name" --version ;;
    esac
done

# Output of instances: the run itself is complete.
status=0
"$build/bin/showstopper" -q -l 50% -c fixed --iteration x echo x >/dev/full 2>err || status=$?
[ "$status $(cat err)" = '125 showstopper: output of instances was lost: No space left on device' ] ||
    fail "showstopper --iteration: status $status: $(cat err)"

closed 2 sstrace --constant 50%
closed 125 sssim -l 50% --duration 2s
closed 125 ssload --interval 20m --count 1
closed 1 ssburn serial --work 1000 --iterations 1
closed 125 showstopper --dry-run -l 50% true
# A result that comes at the end is refused at the start.
closed 125 showstopper --json - -l 50% --record refused touch started
[ ! -e started ] || fail "showstopper --json - without standard output starts its command"
[ ! -e refused ] || fail "showstopper --json - without standard output leaves a record"

"$build/bin/sssim" --foreground serial --iteration 50m --record valid >err
printf '0s 50%%\n1s 20%%\n' >trace.txt
printf 'run a takes 1s\nmain -- true\n' >plan

loses 125 showstopper --list-modules
loses 125 showstopper --help-module control/fixed
loses 125 showstopper --dry-run -l 50% true
loses 125 showstopper --json - -q -l 50% -c fixed --duration 100m sleep 1
loses 125 showstopper-platform
loses 125 ssactuate list
loses 125 ssbatch --dry-run study plan
loses 125 sslab line --list-workloads
loses 1 ssburn serial --work 1000 --iterations 1
loses 125 ssload --interval 20m --count 1 --format csv
loses 125 ssload --interval 20m --count 1 --format json
! have_reports "$build" || loses 125 ssreport --check valid
loses 125 ssrequest --dry-run --rate 5 --duration 1s http://localhost/
loses 125 sssim -l 50% --duration 2s
loses 125 sssim --sweep load=25%,50% --duration 2s
! grep -q 'write error' err || fail "sssim --sweep does not say why its output is lost"
loses 2 sstrace trace.txt
loses 2 sstrace --stat trace.txt
loses 2 sstrace --dump trace.txt
if [ -x "$build/bin/ssfleet" ] && [ -x "$build/bin/ssbatch" ]; then
    "$build/bin/ssfleet" run --engine local fleet plan 2>err || fail "ssfleet: $(cat err)"
    loses 125 ssfleet status fleet
fi
loses 125 showstopper-place why-not cpus --root "$PWD"
loses 125 showstopper-platform energy 'echo 5' --scope
