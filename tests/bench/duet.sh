#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)

usage() {
    cat <<END
Usage: tests/bench/duet.sh [--build DIR] [OPTION]...
Simulates studies of tools/experiments/duet, and prints how many find a difference, without one and with one of 1 or
2 %. Exits with status 1 if a limit is missed. The remaining options are those of duet-bench:
END
    "$build/tests/duet-bench" --help | sed -n '/^ *--/p'
}

build=$source/build
[ "${1-}" != --build ] || { build=$2 && shift 2; }
[ "${1-}" != --help ] || { usage && exit; }
python=$(sed -n 's/^SHOWSTOPPER_PYTHON_FOUND:INTERNAL=//p' "$build/CMakeCache.txt")
"$build/tests/duet-bench" "$@" | OPENBLAS_NUM_THREADS=1 "${python:-python3}" "$source/tests/bench/duet.py"
