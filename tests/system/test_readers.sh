#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# R and pandas read the output of ssload without options. Argument: the build folder.
set -euo pipefail

# shellcheck source=skip.sh
. "$(dirname "$0")/skip.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

"$1/bin/ssload" -q -i 50m -c 6 --per-cpu -o "$folder/load.csv"
if command -v Rscript >/dev/null; then
    # shellcheck disable=SC2016 # these are columns in R
    Rscript -e 'd <- read.csv(commandArgs(TRUE)); stopifnot(is.numeric(d$load), sum(d$cpu == "all") == 6)' \
        "$folder/load.csv" || fail "R"
else
    skip_part "Rscript: not installed"
fi
if python3 -c 'import pandas' 2>/dev/null; then
    python3 -c 'import pandas, sys
d = pandas.read_csv(sys.argv[1], parse_dates=["time"])
assert d.load.dtype == float and (d.cpu == "all").sum() == 6' "$folder/load.csv" || fail "pandas"
else
    skip_part "pandas: not installed"
fi
exit "$skipped"
