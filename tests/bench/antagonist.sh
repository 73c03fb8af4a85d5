#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/antagonist.sh [--build DIR] [RUNS [SEED]]
Simulates studies of tools/experiments/antagonist, RUNS of each kind (default 1000), and prints how often the
answers of the Python package are right. Exits with status 1 if a limit is missed; with fewer than 1000 runs, by
more than two standard errors.
END
}

judge_simulated antagonist "$@"
