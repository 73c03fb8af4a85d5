#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: the manifest and the report.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

manifest_columns=run,experiment,workload,method,placement,role,group,target,speed,tau_seconds
manifest_columns+=,instances,cpus,stands_for,warmup_seconds,settle_seconds,seconds,hold_seconds
manifest_columns+=,edge_seconds,seed,round,energy,status,reason,environment,measured_in,others

# row ROLE KEY=VALUE...: what the manifest shall say of a record of the present run.
row() {
    rows+=("$(printf '%s\n' "role=$1" "energy=$energy_scope" "${@:2}")")
}

# write_rows NAME KEY=VALUE...: the present run's lines; a cell has no comma and no quote.
write_rows() {
    local description cells folder
    for description in "${rows[@]}"; do
        mapfile -t cells <<<"$description"
        folder=${cells[0]#role=}
        write_row ${1:+"run=runs/$1${folder:+/$folder}"} "experiment=$experiment" "${cells[@]}" "${@:2}"
    done
}

write_row() {
    local cell column columns line=
    local -A cells=()
    for cell; do
        cells[${cell%%=*}]=$(tr -d '"\r' <<<"${cell#*=}" | tr ',' ';')
    done
    IFS=, read -ra columns <<<"$manifest_columns"
    for column in "${columns[@]}"; do
        line+=,${cells[$column]-}
    done
    printf '%s\n' "${line#,}"
}

# Written anew at every start, from what lies there; only whole lines are ever added.
write_manifest() {
    local file cells skip
    {
        echo "$manifest_columns"
        for file in "$output"/runs/*/manifest.rows; do
            [ ! -e "$file" ] || cat "$file"
        done
        for skip in "${skips[@]}"; do
            mapfile -t cells <<<"$skip"
            write_row "experiment=$experiment" "${cells[@]}"
        done
    } >"$output/manifest.csv.new"
    mv "$output/manifest.csv.new" "$output/manifest.csv"
}

# settings NAME...: variables in which all runs of the folder must agree.
settings() {
    local name
    showstopper --version | head -n 1
    for name; do
        echo "$name ${!name}"
    done
    [ ${#user_command[@]} -eq 0 ] || printf 'command%s\n' "$(printf ' %q' "${user_command[@]}")"
}

holds_runs() {
    [ -n "$(ls "$output/runs" 2>/dev/null)" ]
}

# check_settings NAME...: whether they are those of the finished runs in the folder; `settings_now`.
check_settings() {
    settings_now=$(settings "$@" instances memory iteration repeat ${counters:+counters})
    if [ ! -e "$output/settings" ]; then
        # A call may have been killed between making the folder and writing the settings.
        [ ! -e "$output/runs" ] || [ -z "$(ls -A "$output/runs")" ] ||
            fail "$output is not an experiment folder; choose another --output"
    elif holds_runs && ! diff "$output/settings" - <<<"$settings_now" >/dev/null; then
        fail "$output holds runs made in another way; choose another --output:"$'\n'"$(
            diff "$output/settings" - <<<"$settings_now" | grep '^[<>]')"
    fi
}

# Only with the lock of the folder held.
write_settings() {
    [ "$settings_now" != "$(cat "$output/settings" 2>/dev/null)" ] || return 0
    rm -rf "$output"/{work,workload,one-load}.* "$output/failed"
    echo "$settings_now" >"$output/settings.new"
    put_in_place "$output/settings"
}

# Runs in which others used much of the machine.
list_disturbed() {
    local file name share
    for file in "$output"/runs/*/manifest.rows; do
        [ -e "$file" ] || continue
        name=${file%/*} name=${name##*/}
        share=$(awk -F, '{ print $NF; exit }' "$file")
        ! is_more "$share" "$others" ||
            echo "Warning: $name: others used $(percent "$share") of the machine. To repeat it, remove" \
                "$output/runs/$name and make the same call."
    done
}

# The warnings of showstopper; a run that is uncontrolled, or limited by the method itself, is not expected to
# reach its target.
list_warnings() {
    local file name
    for file in "$output"/runs/*/{,*/}summary.json; do
        [ -e "$file" ] || continue
        name=${file#"$output/runs/"}
        awk -v name="${name%/summary.json}" -v uncontrolled="/foreground$|/service$|-(nbench|cpulimit|quota)-" '
            /"warnings": \[\]/ {
                exit
            }
            inside && /\]/ {
                exit
            }
            inside && name ~ uncontrolled && /does not follow the load|a CPU quota limits/ {
                next
            }
            inside {
                sub(/^ *"/, "")
                sub(/",?$/, "")
                print "Warning: " name ": " $0
            }
            /"warnings": \[/ {
                inside = 1
            }' "$file"
    done
}

# list_early_ends: runs that count although instances ended before them, unless showstopper has said so.
list_early_ends() {
    local file name early
    for file in "$output"/runs/*/{,*/}summary.json; do
        if [ ! -e "$file" ] || grep -q 'ended by itself' "$file"; then
            continue
        fi
        early=$(ended_early "${file%/*}")
        name=${file#"$output/runs/"}
        [ -z "$early" ] || echo "Warning: ${name%/summary.json}: $early"
    done
}

# check_iterations ROLE: fails if no run has counted iterations of this side; that none has ended is a result.
check_iterations() {
    local folder
    for folder in "$output"/runs/*/; do
        [ -z "$(figure "$folder$1/summary.json" iterations)" ] || return 0
    done
    fail "no run has counted iterations, so there is no throughput: see --iteration and --repeat"
}

# print_columns FILE NAME=HEADING=FORMAT[=FACTOR]...: columns of a table that ssreport has written, as
# Markdown; fails where there is no such table. Of a record only its place in runs/ is shown.
print_columns() {
    if [ ! -s "$1" ] && [ -s "${1%/*}/report.html" ]; then
        echo "No run can stand in this table."
        return 1
    elif [ ! -s "$1" ]; then
        echo "Without ssreport, which is not installed or has failed, there is no table here."
        return 1
    fi
    folder=$output/runs/ wanted=$(IFS=';' && echo "${*:2}") awk '
        # A cell may stand in quotes, which are doubled inside of it.
        function split_row(line, cells,    count, cell) {
            for (line = line ","; line != ""; line = substr(line, RLENGTH + 1)) {
                match(line, /^("([^"]|"")*"|[^",]*),/)
                if (RLENGTH < 1)
                    break
                cell = substr(line, 1, RLENGTH - 1)
                gsub(/^"|"$/, "", cell)
                gsub(/""/, "\"", cell)
                gsub(/\|/, "/", cell)
                cells[++count] = cell
            }
            return count
        }
        BEGIN {
            count = split(ENVIRON["wanted"], specs, ";")
            for (i = 1; i <= count; i++) {
                parts = split(specs[i], part, "=")
                names[i] = part[1]
                format[i] = part[3]
                factor[i] = parts > 3 ? part[4] : 1
                head = head "| " part[2] " "
                rule = rule (part[3] == "%s" ? "|---" : "|---:")
            }
            print head "|\n" rule "|"
        }
        NR == 1 {
            columns = split_row($0, cells)
            for (i = 1; i <= columns; i++)
                at[cells[i]] = i
            next
        }
        {
            split_row($0, cells)
            row = ""
            for (i = 1; i <= count; i++) {
                cell = cells[at[names[i]]]
                if (index(cell, ENVIRON["folder"]) == 1)
                    cell = substr(cell, length(ENVIRON["folder"]) + 1)
                if (cell != "" && format[i] != "%s")
                    cell = sprintf(format[i], cell * factor[i])
                row = row "| " (cell == "" ? "-" : cell) " "
            }
            print row "|"
        }' "$1"
}

# Pages and tables of all runs, where ssreport is installed; what it warns of is seen at once.
make_pages() {
    command -v ssreport >/dev/null || return 0
    rm -f "$output"/report/*.csv
    start ssreport --quiet --output "$output/report" ${deviation:+--deviation "$deviation%"} "$output"
    # With status 1 it has made a report of a study without results, and has said so.
    wait "${started[-1]}" || [ $? -eq 1 ] || say "ssreport made no report"
    unset 'started[-1]'
}

# conclude TABLE: writes TABLE and the report with what the experiment's write_table and print_report
# say.
conclude() {
    write_table >"$output/$1"
    make_pages
    {
        list_disturbed
        print_report
        [ -z "$energy" ] || print_energy
        list_warnings
        list_early_ends
    } | tee "$output/report.md"
    finish
}

# The last lines of a script: what was written. The status tells failures to the caller, too.
finish() {
    say "Results: $output"
    [ "$failures" -eq 0 ] ||
        fail "$failures runs failed: see $output/failed; the same call tries them again"
}
