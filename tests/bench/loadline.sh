#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/loadline.sh [--build DIR] [MACHINES [SEED]]
Measures simulated machines in ten levels of load, up and down, twice, and counts how often the truth is inside the
band at a random load and at a random level (default: 1000 machines; one in 20 runs in the simulator), also with other
noise, and inside a prediction of 90 % load from levels up to 60 % (a fifth as many machines of each family). Exits
with status 1 unless 93 to 97 % are inside the band, 93 % of each family inside the prediction, and naive estimators
fail this; with fewer than 1000 machines, by more than two standard errors.
END
}

judge_simulated loadline "$@"
