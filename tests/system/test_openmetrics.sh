#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Metrics of ssload and of a running showstopper are complete OpenMetrics text, and the dashboard queries no other
# metrics.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
PATH=$build/bin:$PATH

# check_plainly FILE: fails unless each metric has one heading, names end with their unit, and the text is complete.
check_plainly() {
    awk 'function wrong(why) { print FILENAME ": " FNR ": " why ": " $0; status = 1 }
        ended { wrong("text after the end") }
        $0 == "# EOF" { ended = 1; next }
        $1 == "#" && $2 == "TYPE" {
            if ($3 in types) wrong("second heading")
            if ($4 != "gauge" && $4 != "counter") wrong("type")
            metric = $3; types[metric] = $4; next
        }
        $1 == "#" && $2 == "UNIT" { if ($3 != metric || metric !~ "_" $4 "$") wrong("unit"); next }
        $1 == "#" && $2 == "HELP" { if ($3 != metric || NF < 4) wrong("help"); next }
        {
            name = $0; sub(/[{ ].*/, "", name)
            if (name != metric (types[metric] == "counter" ? "_total" : "")) wrong("name")
            if ($0 !~ /^[a-z_]+({[a-z]+="[^"]*"(,[a-z]+="[^"]*")*})? -?[0-9.]+(e[-+]?[0-9]+)?$/) wrong("sample")
            labels = $0; sub(/ [^ ]*$/, "", labels)
            if (seen[labels]++) wrong("repeated")
            samples++
        }
        END { if (!ended || !samples) wrong("incomplete"); exit status }' "$1" || fail "$1: $(cat "$1")"
}

# check FILE: like check_plainly, and also uses the parser of Prometheus if installed. Debian installs modules for
# /usr/bin/python3, which need not be the first in PATH.
check() {
    local python
    check_plainly "$1"
    for python in /usr/bin/python3 python3; do
        if "$python" -c 'import prometheus_client' 2>/dev/null; then
            "$python" "$here/check_openmetrics" "$1" || fail "the parser refuses $1: $(cat "$1")"
            return
        fi
    done
    skip_part "python3-prometheus-client: not installed"
}

# queries_only FILE PREFIX: fails if the dashboard queries a metric with this prefix that the file lacks.
queries_only() {
    local dashboard=$source/packaging/grafana/showstopper.json
    sed '/^#/d; s/[{ ].*//' "$1" | sort -u >known
    grep -Eo "\b$2_[a-z_]+" "$dashboard" | sort -u >asked
    [ -s asked ] || fail "the dashboard queries no metric"
    ! command -v python3 >out || python3 -m json.tool "$dashboard" >out || fail "invalid JSON"
    [ -z "$(comm -13 known asked)" ] || fail "unknown metrics: $(comm -13 known asked)"
}

has_load() {
    showstopper --status "$pid" --openmetrics run.prom && grep -q '^showstopper_load_ratio' run.prom
}

metrics_of_ssload_are_its_latest_sample() { # case
    local expected measured
    printf '0s 20%%\n' >trace
    ssload -q -i 50m -c 3 -o load.csv --openmetrics load.prom --target trace --per-cpu
    check load.prom
    expected=$(awk -F , 'NR > 1 && $7 == "all" { row = $3 " " $4 ($6 == "" ? "" : " " $6) } END { print row }' load.csv)
    measured=$(awk '/^ssload_(target|load|load_ticks)_ratio / { printf "%s%.6f", sep, $2; sep = " " }' load.prom)
    [ "$measured" = "$expected" ] || fail "the row has $expected, the metrics $measured"
    [ "$(grep -c '^ssload_cpu_load_ratio{cpu="[0-9]*"} ' load.prom)" -eq \
        "$(awk -F , '$7 ~ /^[0-9]/ { cpus[$7] } END { print length(cpus) }' load.csv)" ] || fail "$(cat load.prom)"
    # The capacity is the time of three samples on all CPUs.
    awk -v cpus="$(nproc)" '/^ssload_capacity_seconds_total / { long = $2 >= 0.14 * cpus }
        /^ssload_busy_seconds_total / { busy = $2 >= 0 }
        END { exit !(long && busy) }' load.prom || fail "$(cat load.prom)"
    [ "$(echo .[a-z]* ./*.prom*)" = '.[a-z]* ./load.prom' ] || fail "leftover: $(ls -A)"
    ssload -q -i 50m -c 1 --cpus "$(first_cpu)" -o part.csv --openmetrics part.prom
    check part.prom
    grep -q "^ssload_load_ratio{cpus=\"$(first_cpu)\"} " part.prom || fail "$(cat part.prom)"
    queries_only load.prom ssload
}

# The file is replaced, not rewritten, so a reader that has it open gets a complete text.
the_metrics_file_is_replaced_atomically() { # case
    local inode
    ssload -q -i 20m -o /dev/null --openmetrics load.prom &
    pid=$!
    await test -e load.prom
    exec 7<load.prom
    inode=$(stat -Lc %i /proc/self/fd/7)
    # shellcheck disable=SC2016 # for the other shell
    await bash -c '[ "$(stat -c %i load.prom)" != "$0" ]' "$inode"
    [ "$(tail -n 1 <&7)" = '# EOF' ] || fail "the file was rewritten in place"
    exec 7<&-
}

unwritable_metrics_end_ssload() { # case
    expect 125 ssload -q -i 50m -c 3 -o rows --openmetrics absent/load.prom
    says err 'ssload: --openmetrics: cannot write absent/load.prom: No such'
    [ ! -e rows ] || fail "ssload had begun"
    mkdir there
    ssload -q -i 50m -o /dev/null --openmetrics there/load.prom 2>err &
    pid=$!
    await test -e there/load.prom
    mv there gone # rm would race with the files that ssload creates
    ends 125
    says err 'ssload: --openmetrics: cannot write there/load.prom: No such'
}

metrics_of_a_run_are_printed() { # case
    showstopper -q -n 2 -f own -l 50% -- sh -c 'while :; do :; done' &
    pid=$!
    await has_load 2>/dev/null
    check run.prom
    grep -qx "showstopper_state{pid=\"$pid\",state=\"controlled\"} 1" run.prom || fail "$(cat run.prom)"
    grep -qx "showstopper_target_ratio{pid=\"$pid\"} 0.5" run.prom || fail "$(cat run.prom)"
    showstopper --status "$pid" --openmetrics - >printed
    check printed
    ! showstopper --status "$pid" --openmetrics absent/run.prom 2>err || fail "metrics were written to no folder"
    says err 'showstopper: --openmetrics: cannot write absent/run.prom: No such '
    queries_only run.prom showstopper
}

run_cases
