#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/duet.sh [--build DIR] [OPTION]...
Simulates studies of tools/experiments/duet, and prints how many find a difference, without one and with one of 1 or
2 %. Exits with status 1 if a limit is missed. The remaining options are those of duet-bench:
END
    "$build/tests/duet-bench" --help | sed -n '/^ *--/p'
}

judge_simulated duet "$@"
