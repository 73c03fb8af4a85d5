#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/antagonist.sh [--build DIR] [RUNS [SEED [LOST]]]
Simulates studies of sslab antagonist, RUNS of each kind (default 1000), and prints how often the
answers of the Python package are right. In one kind, the service loses LOST ms (default 16) whenever a suspect is
continued, half of them after 50 ms. Exits with status 1 if a limit is missed; with fewer than 1000 runs, by more than
two standard errors.
END
}

judge_simulated antagonist "$@"
