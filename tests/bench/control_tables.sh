#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by control.sh and zoo.sh: raw results as CSV, and tables of their medians.
# shellcheck disable=SC2154 # variables are shared with it

list_columns() {
    printf 'date,version,cpus,seconds,settle,config,class,instances,target,round,early,before_percent'
    printf ',own_cpu_percent,switches_per_second,settling_seconds,overshoot_percent'
    list_judged
}

list_judged() {
    local measure interval
    for measure in runtime idle ticks; do
        for interval in 500 100; do
            printf ",${measure}_$interval%s" _load_percent _error_mean_percent _error_mse_e4 \
                _error_max_percent _load_max_percent _windows
        done
    done
    echo
}

# flatten FILE: prints the judge's figures in the order of the columns.
flatten() {
    awk '/_(500|100)"/ {
            gsub(/[":,{}]/, " ")
            row = row "," ($2 == "null" ? ",,,,," : $3 "," $5 "," $7 "," $9 "," $11 "," $13) }
        END { print row }' "$1"
}

# Prints Showstopper's CPU time in percent of one CPU, and the switches per second; two empty cells if showstopper did
# not run.
own_figures() {
    local ours="$folder/result.json"
    if [ -e "$ours" ]; then
        awk -v cpu="$(figure "$ours" own_cpu)" -v switches="$(figure "$ours" switches_per_second)" \
            'BEGIN { printf "%.4f,%.2f", 100 * cpu, switches }'
    else
        printf ,
    fi
}

# add_row CONFIGURATION CLASS INSTANCES TARGET ROUND BEFORE FOLLOWED
add_row() {
    printf '%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s%s\n' "$(date -u +%FT%TZ)" "$version" "$cpus" \
        "$seconds" "$settle" "$1" "$2" "$3" "$4" "$5" "${#early[@]}" "$6" "$(own_figures)" "$7" \
        "$(flatten "$folder/judge.json")" | tee -a "$folder/raw.csv" >>"$csv"
}

# print_table CLASS COLUMN...: a column is NAME:FORMAT:TITLE; with a + before the format, minimum and maximum are
# printed, too. Rows are in the order of measurement. `subject` is the column that names what was measured. If CLASS is
# empty, all rows are used.
print_table() {
    awk -F, -v subject="${subject:-config}" -v class="$1" -v specification="$(printf '%s,' "${@:2}")" '
        function sort(values, count,    i, j, value) {
            for (i = 2; i <= count; i++) {
                value = values[i]
                for (j = i - 1; j >= 1 && values[j] > value; j--)
                    values[j + 1] = values[j]
                values[j + 1] = value
            }
        }
        function text(cell, column,    values, count, i, form, middle) {
            count = 0
            for (i = 1; i <= rounds[cell]; i++)
                if (all[cell, i, column] != "")
                    values[++count] = all[cell, i, column] + 0
            if (!count)
                return "-"
            sort(values, count)
            middle = (values[int((count + 1) / 2)] + values[int(count / 2) + 1]) / 2
            form = forms[column]
            if (!sub(/^\+/, "", form) || count == 1)
                return sprintf(form, middle)
            form = form " (" form ".." form ")"
            return sprintf(form, middle, values[1], values[count])
        }
        NR == 1 {
            for (i = 1; i <= NF; i++)
                at[$i] = i
            columns = split(specification, specified, ",") - 1
            for (i = 1; i <= columns; i++) {
                split(specified[i], part, ":")
                names[i] = part[1]
                forms[i] = part[2]
                heads = heads " " part[3] " |"
                line = line "---:|"
            }
            next
        }
        class == "" || $at["class"] == class {
            cell = $at[subject] " | " $at["instances"] " | " $at["target"]
            if (!(cell in rounds))
                cells[++count] = cell
            rounds[cell]++
            if ($at["early"] > 0)
                broken[cell] = " (broken off)"
            for (i = 1; i <= columns; i++)
                all[cell, rounds[cell], i] = $at[names[i]]
        }
        END {
            print "| " subject " | N | target |" heads
            print "|--------|--:|-------:|" line
            for (i = 1; i <= count; i++) {
                row = "| " cells[i] broken[cells[i]] " |"
                for (j = 1; j <= columns; j++)
                    row = row " " text(cells[i], j) " |"
                print row
            } }' "$folder/raw.csv"
}
