#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/duet.sh [--build DIR] [STUDIES [SIMULATED [SEED]]]
Simulates STUDIES of sslab duet of each kind (default 10000; at most 300 pull requests), the first SIMULATED
of them on the machine of sssim (default 500), and prints how many find a difference, without one and with one of 1, 2
or 3 %. Exits with status 1 if a limit is missed.
END
}

judge_simulated duet "$@"
