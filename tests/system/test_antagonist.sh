#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of tools/experiments/antagonist and ssantagonist. Arguments: the build folder, and the one case to run; none:
# all.
# shellcheck disable=SC2317 # cases are called by their names
set -euo pipefail

# shellcheck source=cases.sh
. "$(dirname "$0")/cases.sh"
# shellcheck source=skip.sh
. "$(dirname "$0")/skip.sh"
build=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

simulated_studies_meet_the_bars() {
    [ -x "$build/tests/antagonist-bench" ] || skip "gsl: the bench is not built without GSL"
    "$source/tests/bench/antagonist.sh" --build "$build" 60 >"$work/bars" || fail "$(cat "$work/bars")"
    [ "$(wc -l <"$work/bars")" -eq 8 ] || fail "not all bars: $(cat "$work/bars")"
}

run_case simulated_studies_meet_the_bars
end_cases
