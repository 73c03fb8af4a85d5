#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The help of every program, command and module fits a terminal of 80 columns.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# check COMMAND...: writes the output to `help`, and fails if a line has more than 80 columns.
check() {
    "$@" >help 2>err || fail "$*: $(cat err)"
    [ -s help ] || fail "$*: no output"
    ! LC_ALL=C.UTF-8 grep -E '^.{81}' help >long || fail "$*: wider than 80 columns: $(cat long)"
}

for program in "$build"/bin/* "$build"/libexec/showstopper/*; do
    check "$program" --help
done
while read -r program commands; do
    if [ ! -x "$build/bin/$program" ]; then
        skip_part "left-out: built without $program"
        continue
    fi
    for command in $commands; do
        check "$build/bin/$program" "$command" --help
    done
done <<'END'
ssantagonist plan answer watch codes suspects
ssburn kernel
sslab accuracy antagonist duet interference latency loadline replay throughput tradeoffs line pairs value
ssprofile measure compare calibrate portability predict verify sweep
sssim queue fleet
END
if "$build/bin/ssburn" serve --help >help 2>&1; then
    check "$build/bin/ssburn" serve --help
else
    skip_part "left-out: $(cat help)"
fi
check "$build/bin/showstopper" --list-modules
cut -d ' ' -f 1 help >modules
while read -r module; do
    check "$build/bin/showstopper" --help-module "$module"
done <modules
