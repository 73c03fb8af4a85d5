#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/published.sh [OPTION]...
Repeats the published evaluation of a constant load in the simulator: 12 instances on 12 CPUs,
feedback period 333 ms, rounds of 107 ms, a monitor of 500 ms. Compares mean errors and mean
squared errors with the published ones, and counts those within a factor of two.

  --configs LIST   default nbench,cdc,geom_uneven,geom_even,pi_uneven,pi_even
  --programs LIST  default fop,avrora,sunflow
  --targets LIST   in percent, as in the published tables; default all
  --warmup S       seconds without control before each run, as published; default 180
  --settle S       seconds under control that are not counted; default 0
  --seconds S      that are counted; default 180
  --seeds N        runs of each cell, of which the median is printed; default 3
  --tau TIME       length of a round; default 107m
  --feedback OPTS, --geom OPTS, --pi OPTS, --phase OPTS
                   more options of realtime, geom, rbpid and averageq; default: those of
                   tools/experiments/published/settings.txt
  --machine OPTS   more options of sssim, such as '--tick-rate 1000'
  --csv FILE       also write the cells to this file
  --build DIR      default build
  --help           print this help

The programs are simulated by the number of their runnable threads:
  fop      one, and sometimes six for 7 ms: the threads that collect garbage
  avrora   one or none, and sometimes twelve for half a millisecond
  sunflow  twelve for half a second, then one for 84 ms
These numbers are fitted to the load without control (nbench), and the length of sunflow's phases to
geom_uneven.
END
}

cpus=12 # CPUs and instances of the published machine
configs=nbench,cdc,geom_uneven,geom_even,pi_uneven,pi_even programs=fop,avrora,sunflow targets=
warmup=180 settle=0 seconds=180 seeds=3 tau=107m machine='' csv=
tables=$source/tools/experiments/published

published() { sed -n "s/^all $1 //p" "$tables/settings.txt"; }
feedback=$(published realtime_feedback) geom=$(published geom_control) pi=$(published pi_control)
phase=$(published cdc_dithering)
take_options configs programs targets warmup settle seconds seeds tau phase feedback pi geom machine csv build -- "$@"

# write_profile SEED SECONDS LAW THREADS:MILLISECONDS...: writes a sequence of phases with these mean lengths, in the
# format of `sssim --class profile:FILE`. Lengths are exponentially distributed, or uniformly between 0.5 and 1.5 times
# the mean.
write_profile() {
    awk -v seed="$1" -v seconds="$2" -v law="$3" -v phases="${*:4}" '
        function draw() {
            seed = seed * 16807 % 2147483647
            return seed / 2147483647
        }
        BEGIN {
            count = split(phases, phase, " ")
            for (i = 0; i < 5; i++)
                draw()
            while (time < 1e3 * seconds)
                for (i = 1; i <= count; i++) {
                    split(phase[i], part, ":")
                    printf "%du %d\n", 1e3 * time, part[1]
                    length_ms = part[2] * (law == "uniform" ? 0.5 + draw() : -log(draw()))
                    time += length_ms < 0.001 ? 0.001 : length_ms
                }
            printf "%du 0\n", 1e3 * time
        }'
}

write_programs() {
    write_profile 1 60 exponential 1:158 6:6.9 >"$folder/fop"
    write_profile 2 1 uniform 1:2.52 12:0.48 0:1 >"$folder/avrora"
    write_profile 3 240 exponential 12:560 1:84 >"$folder/sunflow"
}

# Sets `modules` to those of a published configuration.
choose_modules() {
    case $1 in
    nbench) modules=(-c fixed -C 1 -s even) ;; # as many instances as reach the target with one CPU each
    cdc) modules=(-c fixed -s even) ;;
    geom_*) modules=(-c geom -C "$geom" -s "${1#geom_}") ;;
    pi_*) modules=(-c rbpid -C "$pi" -s "${1#pi_}") ;;
    *) fail "$1: unknown configuration: see --help" ;;
    esac
}

# list_cells TABLE COLUMN: prints PROGRAM/CONFIGURATION/TARGET,VALUE for the selected cells of a published table.
list_cells() {
    awk -F, -v configs="$configs" -v programs="$programs" -v targets="$targets" '
        function has(list, word) { return index("," list ",", "," word ",") }
        NR == 1 {
            for (i = 1; i <= NF; i++)
                name[i] = $i
            next
        }
        {
            program = $1
            sub(/.*\//, "", program)
            if (!has(programs, program) || (targets != "" && !has(targets, $2)))
                next
            for (i = 3; i <= NF; i++)
                if (has(configs, name[i]) && $i != "")
                    print program "/" name[i] "/" $2 "," $i
        }' "$tables/$1.csv" | sort
}

# simulate PROGRAM CONFIGURATION TARGET...: prints PROGRAM/CONFIGURATION/TARGET,ERROR,MSE, medians over the seeds.
simulate() {
    local program=$1 config=$2 modules loads=() instances=$cpus more
    shift 2
    choose_modules "$config"
    read -ra more <<<"$machine"
    [ "$config" != nbench ] || instances=$(awk -v part="$1" -v cpus="$cpus" 'BEGIN { printf "%.0f", part * cpus / 100 }')
    printf -v loads '%s%%,' "$@"
    sssim -P "$cpus" -n "$instances" --class "profile:$folder/$program" \
        -f realtime -F "333m${feedback:+,$feedback}" "${modules[@]}" -d averageq -D "$tau,$phase" \
        --warmup "${warmup}s" --settle "${settle}s" --duration "$((settle + seconds))s" "${more[@]}" \
        --sweep "load=${loads%,}" --sweep "seed=$(seq -s , "$seeds")" --csv 2>"$folder/words" |
        awk -F, -v cell="$program/$config" '
            function middle(values, count,    i, j, value) {
                for (i = 2; i <= count; i++) {
                    value = values[i]
                    for (j = i - 1; j >= 1 && values[j] > value; j--)
                        values[j + 1] = values[j]
                    values[j + 1] = value
                }
                return (values[int((count + 1) / 2)] + values[int(count / 2) + 1]) / 2
            }
            function flush() {
                if (count)
                    printf "%s/%s,%.6g,%.6g\n", cell, target, middle(errors, count), middle(squares, count)
                count = 0
            }
            NR == 1 {
                for (i = 1; i <= NF; i++)
                    at[$i] = i
                next
            }
            $at["load"] != load {
                flush()
                load = target = $at["load"]
                sub(/%$/, "", target)
            }
            {
                errors[++count] = $at["error_mean_percent"] + 0
                squares[count] = $at["error_mse_e4"] + 0
            }
            END { flush() }' || fail "$program, $config: $(cat "$folder/words")"
}

# Without control the number of instances depends on the target, so each target is a separate sweep.
simulate_all() {
    local program config target cells
    for program in ${programs//,/ }; do
        for config in ${configs//,/ }; do
            mapfile -t cells < <(sed -n "s|^$program/$config/\([^,]*\),.*|\1|p" "$folder/squares")
            [ ${#cells[@]} -gt 0 ] || fail "$program, $config: not in the published tables"
            if [ "$config" = nbench ]; then
                for target in "${cells[@]}"; do
                    simulate "$program" "$config" "$target"
                done
            else
                simulate "$program" "$config" "${cells[@]}"
            fi
        done
    done | sort
}

# Reads PROGRAM/CONFIGURATION/TARGET,ERROR,MSE,PUBLISHED_ERROR,PUBLISHED_MSE. Mean errors also agree if they differ by
# up to 0.25 points, which is chance between two runs of 3 minutes.
print_cells() {
    sort -t / -k 1,1 -k 2,2 -k 3,3g | awk -F '[,/]' '
        function near(ours, theirs) {
            return ours * theirs > 0 && ours / theirs >= 0.5 && ours / theirs <= 2
        }
        BEGIN {
            print "| program | configuration | target | mean error | published | MSE | published | ratio |"
            print "|---------|---------------|-------:|-----------:|----------:|----:|----------:|------:|"
        }
        {
            errors += close_error = near($4, $6) || ($4 - $6) ^ 2 <= 0.25 ^ 2
            squares += close_square = near($5, $7)
            printf "| %s | %s | %.4g %% | %+.2f%s | %s | %.2f | %s | %.2f%s |\n", $1, $2, $3,
                $4, close_error ? "" : " *", $6, $5, $7, $5 / $7, close_square ? "" : " *"
        }
        END {
            printf "\n* outside: mean squared errors of %d of %d cells are within a factor of two,\n", squares, NR
            printf "mean errors of %d of %d within a factor of two or 0.25 points.\n", errors, NR
        }'
}

open_bench
write_programs
list_cells constant-load-mean-error >"$folder/errors"
list_cells constant-load-mse >"$folder/squares"
for config in ${configs//,/ }; do
    choose_modules "$config"
done
simulate_all >"$folder/ours"
join -t , "$folder/ours" <(join -t , "$folder/errors" "$folder/squares") >"$folder/cells"
if [ -n "$csv" ]; then
    echo cell,error_mean_percent,error_mse_e4,published_error,published_mse | cat - "$folder/cells" >"$csv"
fi
print_cells <"$folder/cells"
