#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# R, pandas and DuckDB read every table with the functions in showstopper-record(5), and also the output of ssload
# without options. Argument: the build folder.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
# shellcheck source=skip.sh
. "$here/skip.sh"
# shellcheck source=examples.sh
. "$here/examples.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# python_with MODULE: prints a Python that has this module. Debian installs modules for /usr/bin/python3, which need not
# be the first in PATH.
python_with() {
    local python
    for python in /usr/bin/python3 python3; do
        ! "$python" -c "import $1" 2>/dev/null || { echo "$python" && return; }
    done
    return 1
}

# Four folders: records of showstopper and ssrequest, and two reports. $folder/load is a table of ssload alone.
cp -r "$source/tests/data/records/schema-1/." "$folder"
mkdir "$folder/load" "$folder/blocks"
"$1/bin/ssload" -q -i 50m -c 6 --per-cpu -o "$folder/load/load.csv"
read_blocks "$source/src/showstopper-record.5" "$folder/blocks"
for language in py R sql; do
    notes=$(grep -lx "file records.$language" "$folder"/blocks/*.notes) || fail "the page has no records.$language"
    cp "${notes%.notes}" "$folder/records.$language"
done
cd "$folder"

# Each reader prints NAME ROWS COLUMNS of every table.
for table in run requests report report-bare load; do
    for file in "$table"/*.csv; do
        awk -F , 'NR == 1 { columns = NF } END { print FILENAME, NR - 1, columns }' "$file"
    done
done | sort >expected

# compare READER: fails unless the reader has found the expected tables.
compare() {
    sort -o found found
    diff expected found >&2 || fail "$1 reads other tables (>)"
}

if command -v Rscript >/dev/null; then
    # shellcheck disable=SC2016 # these are columns in R
    Rscript -e 'source("records.R")
        for (folder in commandArgs(TRUE)) {
            tables <- read_folder(folder)
            for (name in names(tables))
                cat(sprintf("%s/%s.csv %d %d\n", folder, name, nrow(tables[[name]]), ncol(tables[[name]])))
        }
        samples <- read_folder("run")$samples
        stopifnot(is.numeric(samples$load), abs(as.numeric(samples$time[1]) - 1795444057.064) < 0.002)
        d <- read.csv("load/load.csv")
        stopifnot(is.numeric(d$load), sum(d$cpu == "all") == 6)' run requests report report-bare load >found || fail "R cannot read the tables"
    compare R
else
    skip_part "Rscript: not installed"
fi
if python=$(python_with pandas); then
    "$python" - run requests report report-bare load >found <<'END' || fail "pandas cannot read the tables"
import sys
from records import *
for folder in sys.argv[1:]:
    for name, table in read_folder(folder).items():
        if isinstance(table, pandas.DataFrame) and name != "events":
            print(f"{folder}/{name}.csv", *table.shape)
run = read_folder("run")
assert run["samples"].load.dtype == float
assert str(run["samples"].time[0]) == "2026-11-23 14:27:37.064000+00:00"
assert run["summary"]["instances"] == 2
assert run["events"].event[0] == "instance_started"
d = pandas.read_csv("load/load.csv", parse_dates=["time"])
assert d.load.dtype == float and (d.cpu == "all").sum() == 6
END
    compare pandas
else
    skip_part "pandas: not installed"
fi
if python=$(python_with duckdb); then
    ln -s run record
    "$python" - >found <<'END' || fail "DuckDB cannot read the tables"
import duckdb
duckdb.execute(open("records.sql").read())
for path in [line.split()[0] for line in open("expected")]:
    table = duckdb.execute(f"FROM read_csv('{path}', header = true, union_by_name = true)")
    print(path, len(table.fetchall()), len(table.description))
def value(query):
    return duckdb.execute(query).fetchone()[0]
assert str(value("SELECT time FROM samples")).startswith("2026-11-23 14:27:37.064")
assert value("SELECT max(load) FROM samples") > 0.97
assert value("SELECT count(*) FROM decisions") > 0
assert value("SELECT event FROM events") == "instance_started"
assert value("SELECT instances FROM summaries") == 2
END
    compare DuckDB
else
    skip_part "duckdb: not installed"
fi
exit "$skipped"
