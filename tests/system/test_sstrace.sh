#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sstrace as a user meets it: what it prints, where, and its exit status.
set -eu

sstrace=$1/bin/sstrace
traces=$(dirname "$0")/../../traces
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

failures=0

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# expect STATUS ARGUMENT...: runs sstrace on standard input; output and error are kept.
expect() {
    local wanted=$1 status=0
    shift
    "$sstrace" "$@" >"$folder/out" 2>"$folder/err" || status=$?
    [ "$status" -eq "$wanted" ] || fail "sstrace $*: status $status, not $wanted"
}

output_is() {
    [ "$(cat "$folder/out")" = "$1" ] || fail "output is: $(cat "$folder/out")"
}

# One line that begins with the program's name and holds the text.
error_has() {
    [ "$(wc -l <"$folder/err")" -eq 1 ] || fail "not one line: $(cat "$folder/err")"
    grep -q '^sstrace: ' "$folder/err" || fail "no name in: $(cat "$folder/err")"
    grep -qF -- "$1" "$folder/err" || fail "no '$1' in: $(cat "$folder/err")"
    [ ! -s "$folder/out" ] || fail "there is output, too: $(cat "$folder/out")"
}

no_error() {
    [ ! -s "$folder/err" ] || fail "error: $(cat "$folder/err")"
}

for trace in "$traces"/*.txt; do
    expect 0 --check "$trace"
    output_is ''
    no_error
    head -n 1 "$trace" | grep -q '^# ' || fail "$trace does not say what it is for"
done

expect 0 --stat <"$traces/saw.txt"
no_error
output_is 'length   2M
records  7
mean     0.5
minimum  0.1
maximum  0.9'

# The published saw, as it was pasted, with line ends from elsewhere and none at the end.
printf '0 1/10\r\n20s 6/10\r\n40s 1/10\r\n1M 9/10\r\n80s 4/10\r\n100s 9/10\r\n2M 1/10' \
    >"$folder/pasted"
expect 0 --stat "$folder/pasted"
grep -q '^mean     0.5$' "$folder/out" || fail "mean of the pasted saw"

# Free stretches are left out of every figure but the length.
printf '0 free\n10s 20%%\n20s 40%%\n40s free\n100s 80%%\n' >"$folder/free"
expect 0 --stat - <"$folder/free"
output_is 'length   100s
records  5
mean     0.366667
minimum  0.2
maximum  0.8'
printf '0 free\n' >"$folder/free"
expect 0 --check --stat "$folder/free"
grep -q '^mean     none$' "$folder/out" || fail "mean of nothing"
printf '0 10%%\n0 30%%\n' >"$folder/step"
expect 0 --stat "$folder/step"
grep -q '^mean     0.3$' "$folder/out" || fail "mean of a trace without length"

printf '0 1/10\n20 6/10\n' >"$folder/bad"
expect 2 --check "$folder/bad"
error_has "$folder/bad:2:1: '20' has no unit: write 20s, 20m (milliseconds) or 20M (minutes)"
expect 2 --stat <"$folder/bad"
error_has 'standard input:2:1: '
error_has 'in "20 6/10"'

expect 2 --check </dev/null
error_has 'there is no record'
expect 2 --check "$folder/absent"
error_has "$folder/absent cannot be opened: No such file or directory"
expect 2 --check "$folder"
error_has 'Is a directory'

expect 2 </dev/null
error_has '--check, --stat, --help or --version'
expect 2 --chekc </dev/null
error_has "unknown option '--chekc': did you mean --check?"
expect 2 -z </dev/null
error_has "unknown option '-z': see sstrace --help"
expect 2 -xyz </dev/null
error_has "unknown option '-x'"
expect 2 --check=yes "$traces/saw.txt"
error_has "'--check=yes'"
expect 2 --check "$traces/saw.txt" "$traces/steps.txt"
error_has 'name one file'

expect 0 --help
no_error
grep -q -- '--stat' "$folder/out" || fail "help does not name --stat"
expect 0 --version
no_error
grep -Eq '^sstrace [0-9]+\.[0-9]+\.[0-9]+$' "$folder/out" || fail "version: $(cat "$folder/out")"

if [ -w /dev/full ]; then
    status=0
    "$sstrace" --stat "$traces/saw.txt" 2>"$folder/err" >/dev/full || status=$?
    [ "$status" -eq 2 ] || fail "a full disk: status $status"
    : >"$folder/out"
    error_has 'cannot be written'
fi

[ "$failures" -eq 0 ]
