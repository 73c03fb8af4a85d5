#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Other programs can read the output of ssload, which agrees with that of mpstat and sar for the same counters.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# write_stat TIMES: writes made-up counters after TIMES steps; each step adds the same ticks to every CPU. The three
# programs read a file that changes only once, after all have started; with the machine's own counters they would
# differ, because they do not start at the same time.
write_stat() {
    local cpu
    for cpu in $(seq 0 $(($(nproc --all) - 1))); do
        echo "$cpu"
    done | awk -v times="$1" '{
        user = 1000 + 3310 * times; nice = 2000 + 570 * times; system_time = 3000 + 1290 * times
        idle = 40000 + 2410 * times; iowait = 5000 + 410 * times; irq = 600 + 130 * times
        softirq = 700 + 290 * times; steal = 1000 + 590 * times; guest = 1000 + 770 * times
        line = user " " nice " " system_time " " idle " " iowait " " irq " " softirq " " steal \
            " " guest " 0\n"
        printf "%scpu%d %s", NR == 1 ? "cpu " line : "", $1, line
    } END { print "intr 0\nctxt 0\nbtime 1700000000\nprocesses 1\nprocs_running 1" }'
}

# Called in a mount namespace; returns 3 if the file cannot be mounted.
compare_exactly() {
    write_stat 0 >"$folder/stat"
    mount --bind "$folder/stat" /proc/stat || return 3
    mpstat 20 1 >"$folder/mpstat" &
    local pids=($!)
    sar -u 20 1 >"$folder/sar" &
    pids+=($!)
    "$bin/ssload" --format table -d 20s --cpus "$(cat /sys/devices/system/cpu/online)" \
        >"$folder/table" 2>"$folder/notes" &
    pids+=($!)
    write_stat 1 >"$folder/later"
    sleep 10
    # The new text has the length of the old one and replaces it in place, because ssload may be reading.
    cat "$folder/later" 1<>"$folder/stat"
    local pid
    for pid in "${pids[@]}"; do
        wait "$pid" || return 4
    done
}

if [ "${2:-}" = exactly ]; then
    folder=$3
    compare_exactly
    exit
fi
folder=$scratch

# The importer accepts both formats, also with a row for each CPU.
"$bin/ssload" -q -i 50m -c 6 --per-cpu -o "$folder/load.csv"
"$bin/ssload" -q -i 50m -c 6 --format json -o "$folder/load.json"
"$bin/sstrace" --stat "$folder/load.csv" 2>/dev/null | grep '^records' >/dev/null || fail "cannot import CSV"
if "$bin/sstrace" --help | grep ssload-json >/dev/null; then # without -q, which may end sstrace by SIGPIPE
    "$bin/sstrace" --stat "$folder/load.json" | grep '^records' >/dev/null || fail "cannot import JSON"
fi

# expect_near NAME LOAD: fails unless LOAD, in percent, is near the load of ssload.
expect_near() {
    awk -v ours="$ours" -v theirs="$2" -v bound="$bound" 'BEGIN {
        difference = ours > theirs ? ours - theirs : theirs - ours
        exit !(theirs != "" && difference <= bound) }' || fail "ssload measured $ours %, $1 $2 %"
}

need mpstat sar
status=3
for way in "unshare -m" "unshare -rm"; do
    $way true 2>/dev/null || continue
    status=0
    COLUMNS=200 $way "$0" "$1" exactly "$folder" 2>"$folder/errors" || status=$?
    [ "$status" -eq 3 ] || break
done
[ "$status" -ne 3 ] || skip "mounts: cannot replace the counters that sar reads"
[ "$status" -ne 4 ] || fail "one of the three programs failed: $(cat "$folder/errors" "$folder/notes")"
[ "$status" -eq 0 ] || fail "status $status: $(cat "$folder/errors")"
# Average all usr nice sys iowait irq soft steal guest gnice idle
awk '/^Average/ { printf "%.2f %.2f %.2f %.2f %.2f %.2f %.2f\n", 100 - $12 - $6,
    $3 + $4 + $10 + $11, $5, $7 + $8, $9, $6, $12 }' "$folder/mpstat" >"$folder/theirs"
# Average load ticks user system irq steal iowait idle
awk '/^Average/ { print $3, $4, $5, $6, $7, $8, $9 }' "$folder/table" >"$folder/ours"
awk 'NR == FNR { for (i = 1; i <= 7; i++) theirs[i] = $i; next }
    { for (i = 1; i <= 7; i++) if ((theirs[i] - $i) ^ 2 > 0.0151 ^ 2) exit 1; some = 1 }
    END { exit !some }' "$folder/theirs" "$folder/ours" ||
    fail "mpstat and ssload differ: $(cat "$folder/theirs" "$folder/ours")"
# Much less time has passed than the ticks say.
[ "$(grep -c 'timer ticks' "$folder/notes")" -eq 1 ] || fail "wrong notes: $(cat "$folder/notes")"
ours=$(cut -d ' ' -f 1 "$folder/ours") bound=0.0101
expect_near sar "$(awk '/^Average/ { print 100 - $NF - $6 }' "$folder/sar")"
