#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by zoo.sh: writes the CPU use of one copy of a program for sssim, and the gain that control had to estimate.
# shellcheck disable=SC2154 # variables are shared with it

# write_profile PROGRAM: writes the profile from the latest series.csv. If 1.3 CPUs were used in a window, two threads
# are runnable for 0.3 of it and one for the rest, in steps of a twentieth; the rounding error is carried into the next
# window.
write_profile() {
    cp "$folder/series.csv" "$folder/$1/alone.csv"
    awk -F, -v cpus="$(nproc)" -v program="$1" '
        function runnable(time, threads) {
            if (threads != last)
                printf "%.3fm %d\n", 1000 * time, threads
            last = threads
        }
        BEGIN {
            printf "# CPUs that one copy of %s uses, on %d CPUs\n", program, cpus
            last = -1
        }
        NR == 1 { next }
        {
            used = ($3 == "" ? $4 : $3) * cpus + rest
            steps = int(20 * used + 0.5)
            if (steps < 0)
                steps = 0
            if (steps > 20 * cpus)
                steps = 20 * cpus
            rest = used - steps / 20
            low = int(steps / 20)
            part = (steps % 20) / 20 * ($1 - before)
            if (part == 0)
                runnable(before, low)
            else if (last == low) {
                runnable(before, low)
                runnable($1 - part, low + 1)
            } else {
                runnable(before, low + 1)
                runnable(before + part, low)
            }
            before = $1
        }
        END { printf "%.3fm 0\n", 1000 * before }' "$folder/series.csv" >"$gains/$1.profile"
}

# write_gains FILE: writes the gains of the last run, from its record and the judge's series.
write_gains() {
    awk -F, -v cpus="$(nproc)" -v settle="$settle" '
        FNR == 1 {
            for (i = 1; i <= NF; i++)
                at[$i] = i
            file++
            next
        }
        file == 1 && $at["state"] == "running" {
            begin = $at["elapsed_seconds"] - settle
            end = begin + $at["real_seconds"]
            if (begin < 0)
                begin = 0
            # Windows of 100 ms, like those of the judge.
            for (window = int(10 * begin); window < 10 * end; window++) {
                from = window / 10 > begin ? window / 10 : begin
                to = (window + 1) / 10 < end ? (window + 1) / 10 : end
                running[window] += 10 * (to - from)
            }
        }
        file == 2 && FNR == 2 { print "elapsed_seconds,cpus_used,instances_running,gain" }
        file == 2 {
            used = ($3 == "" ? $4 : $3) * cpus
            share = running[int(10 * $1 + 0.5) - 1]
            gain = share > 0.05 ? sprintf("%.3f", used / share) : ""
            printf "%.1f,%.3f,%.3f,%s\n", $1, used, share, gain
        }' "$folder/record/decisions.csv" "$folder/series.csv" >"$1"
}

# Prints the CPU use of one copy and its variation.
print_gains() {
    local program
    echo
    echo "| program | CPUs of one copy | deviation, 100 ms | deviation, 500 ms | least..most, 500 ms |"
    echo "|---------|-----------------:|------------------:|------------------:|--------------------:|"
    for program in "${usable[@]}"; do
        awk -F, -v cpus="$(nproc)" -v program="$program" '
            NR == 1 { next }
            {
                used = ($3 == "" ? $4 : $3) * cpus
                all += used
                for (size = 5; size <= 25; size += 20) {
                    sum[size] += used / size
                    if ((NR - 1) % size)
                        continue
                    squares[size] += sum[size] ^ 2
                    sums[size] += sum[size]
                    if (!windows[size]++ || sum[size] < least[size])
                        least[size] = sum[size]
                    if (sum[size] > most[size])
                        most[size] = sum[size]
                    sum[size] = 0
                }
            }
            function deviation(size) {
                variance = squares[size] / windows[size] - (sums[size] / windows[size]) ^ 2
                return variance > 0 ? sqrt(variance) : 0
            }
            END { printf "| %s | %.2f | %.2f | %.2f | %.2f..%.2f |\n", program, all / (NR - 1),
                      deviation(5), deviation(25), least[25], most[25] }' "$folder/$program/alone.csv"
    done
}
