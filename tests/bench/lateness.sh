#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=common.sh
. "$source/tests/bench/common.sh"

usage() {
    cat <<END
Usage: tests/bench/lateness.sh [OPTION]...
Prints how late showstopper's executors wake up on a machine that other processes keep saturated.

  --instances LIST   numbers of workloads; default 2,4,16,64
  --seconds N        length of a run; default 10
  --build DIR        default build
  --help             print this help
END
}

# Without feedback: with it, other load could keep instances stopped and executors asleep.
measure() {
    hold --instances "$1" --control fixed --load 50% --duration "${seconds}s" \
        ssburn serial --work "$work"
    printf '| %9s | %8.0f | %8.0f | %8.0f |\n' "$1" "$(result p50)" \
        "$(result p99)" "$(result max)"
}

instances=2,4,16,64
seconds=10
build=$source/build
take_options instances seconds build -- "$@"
open_bench
print_machine
work=$(calibrate serial)
for ((i = $(nproc); i > 0; i--)); do
    start ssburn serial --work "$work"
done
echo "$(nproc) instances of ssburn serial spin at the same time"
echo
echo "| instances | p50 / us | p99 / us | max / us |"
echo "|-----------|----------|----------|----------|"
for count in ${instances//,/ }; do
    measure "$count"
done
