#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)

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

build=$source/build
case ${1-} in
--help) usage && exit ;;
--build) build=$2 && shift 2 ;;
-*) usage >&2 && exit 2 ;;
esac
python=$(sed -n 's/^SHOWSTOPPER_PYTHON_FOUND:INTERNAL=//p' "$build/CMakeCache.txt")
"$build/tests/loadline-bench" "$@" | OPENBLAS_NUM_THREADS=1 "${python:-python3}" "$source/tests/bench/loadline.py"
