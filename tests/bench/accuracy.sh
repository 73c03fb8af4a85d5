#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=common.sh
. "$source/tests/bench/common.sh"

usage() {
    cat <<END
Usage: tests/bench/accuracy.sh [OPTION]...
Prints how precisely the load follows the target: mean error and mean squared error by controller,
class of workload and target, as a table in Markdown.

  --controls LIST   default rbpid,fixed
  --classes LIST    default serial,blocking,parallel
  --targets LIST    in percent; default 25,50,75
  --instances N     default 4
  --settle N        seconds that are controlled but not counted; default 10
  --seconds N       seconds that are counted; default 60
  --quick           short for --settle 2 --seconds 10
  --build DIR       default build
  --help            print this help
END
}

idle_load() {
    ssload -q -c 4 | awk -F, 'NR > 1 { sum += $4 } END { printf "%.2f %%\n", 100 * sum / (NR - 1) }'
}

# measure CONTROL CLASS TARGET WORK
measure() {
    hold --instances "$instances" --control "$1" --load "$3%" --warmup 2s --settle "${settle}s" \
        --duration "$((settle + seconds))s" ssburn "$2" --work "$4"
    printf '| %-7s | %-8s | %3s %% | %+8.3f %% | %9.3f |\n' "$1" "$2" "$3" \
        "$(result error_mean_percent)" "$(result error_mse_e4)"
}

controls=rbpid,fixed
classes=serial,blocking,parallel
targets=25,50,75
instances=4
settle=10
seconds=60
quick=''
build=$source/build
take_options controls classes targets instances settle seconds quick build -- "$@"
if [ -n "$quick" ]; then
    settle=2
    seconds=10
fi
open_bench
print_machine
echo "Load before: $(idle_load)"
echo "$instances instances, $seconds s counted after 2 s of warm-up and $settle s of settling"
echo
echo "| control | class    | target | mean error | MSE %^2  |"
echo "|---------|----------|-------:|-----------:|----------:|"
for class in ${classes//,/ }; do
    work=$(calibrate "$class")
    for control in ${controls//,/ }; do
        for target in ${targets//,/ }; do
            measure "$control" "$class" "$target" "$work"
        done
    done
done
