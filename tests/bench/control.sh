#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=launched.sh
. "$source/tests/bench/launched.sh"
# shellcheck source=control_configs.sh
. "$source/tests/bench/control_configs.sh"
# shellcheck source=control_steps.sh
. "$source/tests/bench/control_steps.sh"
# shellcheck source=control_tables.sh
. "$source/tests/bench/control_tables.sh"

usage() {
    cat <<END
Usage: tests/bench/control.sh [OPTION]...
Compares how precisely showstopper, other programs, and earlier methods of showstopper hold a load. An
independent monitor, judge, watches every run in windows of 500 and 100 ms by run time, by idle time
and by busy ticks (as mpstat shows it). Run time is the machine's; for attached, cpulimit and quota,
which limit programs and not the machine, it is that of the programs. Prints a table in Markdown for
each class of workloads; "largest 100" is the largest load in a window of 100 ms.

  --configs LIST    default all but window100 and attached:
                      new        showstopper without options for modules
                      new107     new with quantum 107m
                      window100  new with --window 100m
                      attached   showstopper --attach to instances that already run, -f own
                      pi         feedback realtime, control rbpid, space even, dithering averageq
                      geom       the same with control geom
                      fixed      the same with control fixed: no feedback
                      cpulimit   one cpulimit per instance
                      stress-ng  its own load, only instead of class serial
                      quota      a control group with a CPU quota (period 100 ms) for all instances
  --classes LIST    default serial,blocking,parallel,forking
  --instances LIST  default 2,4,12
  --targets LIST    whole percents; default 5,25,33,50,66,75,95
  --steps           use targets that change: steps between 10 and 60 % every 10 s, a ramp, a sine
                    of 10 s and traces/saw.txt scaled to the time; only showstopper's configurations
  --stat            judge idle time by /proc/stat, in steps of 10 ms, even if cpuidle counts it:
                    the two differ for programs that block often
  --settle N        seconds that are controlled but not counted; default 2
  --seconds N       seconds that are counted; default 60
  --rounds N        of all configurations of a cell, in turn; default 3
  --csv FILE        append all raw results to FILE
  --quick           one round of 6 s, class serial, 2 instances, 50 %, steps every 2 s; explicit
                    options take precedence
  --build DIR       default build
  --help            print this help
END
}

# check_words OPTION KNOWN ARG...
check_words() {
    local word
    for word in "${@:3}"; do
        [[ $2 = *" $word "* ]] || fail "--$1: $word: see --help"
    done
}

check_options() {
    local number words
    IFS=, read -ra words <<<"$configs"
    check_words configs \
        " new new107 window100 attached pi geom fixed cpulimit stress-ng quota " "${words[@]}"
    IFS=, read -ra words <<<"$classes"
    check_words classes " serial blocking parallel forking " "${words[@]}"
    for number in ${instances//,/ } ${targets//,/ } "$rounds" "$seconds"; do
        [[ $number =~ ^[1-9][0-9]*$ ]] || fail "$number: must be a whole number: see --help"
    done
    [[ $settle =~ ^[0-9]+$ ]] || fail "--settle: $settle: must be a whole number"
    for number in ${targets//,/ }; do
        [ "$number" -le 100 ] || fail "--targets: $number: at most 100"
    done
}

# Sets `usable` to the configurations that can be measured on this machine, and prints why others cannot.
choose_configs() {
    local config reason modules
    usable=()
    for config in ${configs//,/ }; do
        if reason=$(why_not "$config"); then
            echo "$config is skipped: $reason"
        elif [ -n "$steps" ] && ! choose_modules "$config"; then
            echo "$config is skipped: it follows no trace"
        else
            usable+=("$config")
        fi
    done
    [ ${#usable[@]} -gt 0 ] || fail "no configuration is left"
}

# measure CONFIGURATION CLASS INSTANCES TARGET ROUND
measure() {
    local begin from before followed=,
    rm -f "$folder/result.json"
    before=$(load_before)
    # At this time all instances have started.
    read -r begin from < <(awk -v now="$EPOCHREALTIME" -v instances="$3" -v settle="$settle" \
        'BEGIN { now += 3 + instances / 50; printf "%.3f %.3f\n", now, now + settle }')
    if [ -n "$steps" ]; then
        hold_from "$begin" "$1" "$2" "$3" -t file -T "$folder/$4.trace"
        watch_load "$from" --trace "$folder/$4.plain" --series "$folder/series.csv"
        [ "$4" != steps ] || followed=$(judge_steps "$folder/series.csv")
    else
        start_config "$1" "$2" "$3" "$4" "$begin"
        watch_load "$from" "$(awk -v target="$4" 'BEGIN { print target / 100 }')" "${judged[@]}" ${stat:+--stat}
    fi
    end_config "$1"
    add_row "$1" "$2" "$3" "$4" "$5" "$before" "$followed"
    [ ${#early[@]} -eq 0 ] || echo "$*: ended before the end: ${early[*]}" >&2
    [ "${before%.*}" -lt 5 ] || echo "$*: a load of $before % was there before" >&2
}

# stress-ng has no instances, so it is measured only with the first number of instances of `serial`.
is_wanted() {
    [ "$1" != stress-ng ] || [ "$2 $3" = "serial ${instances%%,*}" ]
}

measure_class() {
    local number target round config
    for number in ${instances//,/ }; do
        for target in ${targets//,/ }; do
            for ((round = 1; round <= rounds; round++)); do
                for config in "${usable[@]}"; do
                    ! is_wanted "$config" "$1" "$number" ||
                        measure "$config" "$1" "$number" "$target" "$round"
                done
            done
        done
    done
}

print_class() {
    local columns=("runtime_500_error_mean_percent:%+.2f:error % run time"
        "idle_500_error_mean_percent:%+.2f:error % idle"
        "runtime_500_error_mse_e4:+%.2f:MSE 500 run time"
        "idle_500_error_mse_e4:+%.2f:MSE 500 idle"
        "ticks_500_error_mse_e4:+%.2f:MSE 500 ticks"
        "runtime_100_error_mse_e4:+%.2f:MSE 100 run time"
        "own_cpu_percent:%.2f:own CPU % of one" "switches_per_second:%.0f:switches/s")
    if [ -n "$steps" ]; then
        columns+=("settling_seconds:+%.2f:settled s" "overshoot_percent:+%.1f:overshoot %")
    else
        columns+=("runtime_100_load_max_percent:%.2f:largest 100 run time")
    fi
    echo
    echo "Class $1:"
    echo
    print_table "$1" "${columns[@]}"
}

make_shapes() {
    local name
    for name in ${targets//,/ }; do
        shape "$name" >"$folder/$name.plain"
        showstopper_trace <"$folder/$name.plain" >"$folder/$name.trace"
    done
}

configs=new,new107,pi,geom,fixed,cpulimit,stress-ng,quota
classes='' instances='' targets='' seconds='' settle='' rounds=''
steps=''
stat=''
csv=/dev/null
quick=''
take_options configs classes instances targets steps stat settle seconds rounds csv quick build -- "$@"
: "${classes:=${quick:+serial}}" "${instances:=${quick:+2}}" "${targets:=${quick:+50}}"
: "${seconds:=${quick:+6}}" "${rounds:=${quick:+1}}"
: "${classes:=serial,blocking,parallel,forking}" "${instances:=2,4,12}" "${settle:=2}"
: "${targets:=5,25,33,50,66,75,95}" "${seconds:=60}" "${rounds:=3}"
unit=${quick:+2}
: "${unit:=10}"
check_options
[ -z "$steps" ] || targets=steps,ramp,sine,saw
open_control
version=$(showstopper --version | head -n 1)
[ -s "$csv" ] || list_columns >>"$csv"
list_columns >"$folder/raw.csv"
choose_configs
[ -z "$steps" ] || make_shapes
echo "$seconds s counted after $settle s of settling; medians of $rounds rounds (least..most)"
for class in ${classes//,/ }; do
    work=$(calibrate "$class")
    measure_class "$class"
    print_class "$class"
done
