#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)

usage() {
    cat <<END
Usage: tests/bench/antagonist.sh [--build DIR] [RUNS [SEED]]
Simulates studies of tools/experiments/antagonist, RUNS of each kind (default 1000), and prints how often the
answers of the Python package are right. Exits with status 1 if a limit is missed; with fewer than 1000 runs, by
more than two standard errors.
END
}

build=$source/build
case ${1-} in
--help) usage && exit ;;
--build) build=$2 && shift 2 ;;
-*) usage >&2 && exit 2 ;;
esac
python=$(sed -n 's/^SHOWSTOPPER_PYTHON_FOUND:INTERNAL=//p' "$build/CMakeCache.txt")
"$build/tests/antagonist-bench" "$@" | OPENBLAS_NUM_THREADS=1 "${python:-python3}" "$source/tests/bench/antagonist.py"
