#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=launched.sh
. "$source/tests/bench/launched.sh"
# shellcheck source=control_tables.sh
. "$source/tests/bench/control_tables.sh"
# shellcheck source=zoo_programs.sh
. "$source/tests/bench/zoo_programs.sh"
# shellcheck source=zoo_gains.sh
. "$source/tests/bench/zoo_gains.sh"
# shellcheck source=../../tools/install-missing.sh
. "$source/tools/install-missing.sh"

usage() {
    cat <<END
Usage: tests/bench/zoo.sh [OPTION]...
Holds packaged programs, each in a loop, at constant loads. An
independent monitor, judge, watches every run in windows of 500 ms, by run time and by idle time.
Prints a table in Markdown, and whether the cells are within the limits: mean error within
$bar_error %, median MSE at most $bar_median, no MSE above $bar_most.

  --programs LIST   default ${zoo[*]}
  --list            print what each program does and which packages it needs, and end
  --install         install missing packages as root and fetch missing jars with Maven. The system
                    may start servers of these packages. Without it, programs that lack a
                    package are skipped
  --instances LIST  default 2,4
  --targets LIST    whole percents; default 25,50,75
  --margin N        skip targets that are less than N points below the uncontrolled load; default 15
  --look N          seconds for which the uncontrolled load is measured; default 10
  --warmup N        seconds at full speed before control; default 3
  --settle N        seconds that are controlled but not counted; default 2
  --seconds N       seconds that are counted; default 60
  --rounds N        of all targets and numbers of instances, in turn; default 1
  --with WORDS      options of showstopper for controlled runs, split at blanks, as '-D 27m'
  --gains DIR       for each program write what sssim replays, DIR/PROGRAM.profile: the CPUs that one
                    uncontrolled copy uses; and for each run DIR/PROGRAM-N-TARGET-ROUND.csv: the CPUs
                    used and the gain, which is that divided by the instances running, every 100 ms
  --csv FILE        append all raw results to FILE
  --quick           only xz, 2 instances, 50 %, 1 s of warm-up, settling and look, 3 s counted;
                    explicit options take precedence
  --build DIR       default build
  --help            print this help
END
}

bar_error=0.2
bar_median=0.5
bar_most=3

list_programs() {
    local program pair packages
    for program in "${zoo[@]}"; do
        packages=
        for pair in $(packages_of "$program"); do
            packages+=" ${pair%%=*}"
        done
        printf '%-10s %s (packages:%s)\n' "$program" "$(describe_program "$program")" "$packages"
    done
}

check_options() {
    local number program
    for program in ${programs//,/ }; do
        [[ " ${zoo[*]} " = *" $program "* ]] || fail "--programs: $program: see --list"
    done
    for number in ${instances//,/ } ${targets//,/ } "$rounds" "$seconds" "$look"; do
        [[ $number =~ ^[1-9][0-9]*$ ]] || fail "$number: must be a whole number: see --help"
    done
    for number in "$settle" "$warmup" "$margin"; do
        [[ $number =~ ^[0-9]+$ ]] || fail "$number: must be a whole number: see --help"
    done
    for number in ${targets//,/ }; do
        [ "$number" -le 100 ] || fail "--targets: $number: at most 100"
    done
}

# Installs all packages in one call, because each call reads the package lists.
install_programs() {
    local program pairs=()
    for program in ${programs//,/ }; do
        # shellcheck disable=SC2207 # several words
        pairs+=($(packages_of "$program"))
    done
    install_missing "${pairs[@]}" || echo "Not all packages could be installed" >&2
}

# why_not PROGRAM: prints why the program cannot be measured; fails if it can.
why_not() {
    local pair packages=
    for pair in $(packages_of "$1"); do
        probe_finds "${pair#*=}" || packages+=" ${pair%%=*}"
    done
    [ -z "$packages" ] || { echo "not installed:$packages" && return; }
    mkdir "$folder/$1"
    [ "$(type -t "make_$1")" = function ] || return 1
    ! (cd "$folder/$1" && "make_$1") >"$folder/log" 2>&1 || return 1
    echo "it cannot be prepared: $(tail -n 1 "$folder/log")"
}

# Sets `usable` to the programs that can be measured.
choose_programs() {
    local program reason
    usable=()
    for program in ${programs//,/ }; do
        if reason=$(why_not "$program"); then
            echo "$program is skipped: $reason"
        else
            usable+=("$program")
        fi
    done
    [ ${#usable[@]} -gt 0 ] || fail "no program is left"
}

# watch_copies PROGRAM INSTANCES SECONDS JUDGED ARG...: runs showstopper with these arguments for SECONDS after
# settling; JUDGED names an array of arguments for the judge.
watch_copies() {
    local program=$1 number=$2 seconds=$3 begin from
    local -n judged=$4
    rm -f "$folder/result.json"
    # At this time all instances have started.
    read -r begin from < <(awk -v now="$EPOCHREALTIME" -v instances="$2" -v settle="$settle" \
        -v warmup="$warmup" 'BEGIN { now += 3 + warmup + instances / 50
                                     printf "%.3f %.3f\n", now, now + settle }')
    # shellcheck disable=SC2016 # the inner shell expands them
    launch /dev/null showstopper --quiet --json "$folder/result.json" \
        --warmup "${warmup}s" --start-at "@$begin" --settle "${settle}s" \
        --duration "$((1000 * (settle + seconds) + 100))ms" -n "$number" "${@:5}" -p '' -- \
        bash -c '. "$0"; run_program "$@"' "$source/tests/bench/zoo_programs.sh" \
        "$program" "$folder/$program"
    watch_load "$from" "${judged[@]}"
    wait "${launched[0]}" 2>/dev/null || early+=(showstopper)
    end_launched
    [ ${#early[@]} -eq 0 ] || echo "$1, $2 instances: ended early: $(last_error "$1")" >&2
}

# last_error PROGRAM: prints the last error of its copies, or else of showstopper.
last_error() {
    cat "$folder/errors" "$folder/$1"/[0-9]*/errors 2>/dev/null | tail -n 1
}

# look_at PROGRAM INSTANCES: sets `uncontrolled`, the load without control in percent.
look_at() {
    # shellcheck disable=SC2034 # a name that watch_copies is given
    local words=(--series "$folder/series.csv")
    windows=500,20 watch_copies "$1" "$2" "$look" words -c fixed -l 100%
    uncontrolled=$(awk '/"(runtime|idle)_500": {/ {
        gsub(/[":,{}]/, " ")
        print $3
        exit }' "$folder/judge.json")
}

# measure PROGRAM INSTANCES TARGET ROUND
measure() {
    local before recorded=()
    # shellcheck disable=SC2034 # a name that watch_copies is given
    local words=("$(awk -v target="$3" 'BEGIN { print target / 100 }')" --series "$folder/series.csv")
    [ -z "$gains" ] || recorded=(--record "$folder/record" --force)
    before=$(load_before)
    # shellcheck disable=SC2086 # several words
    watch_copies "$1" "$2" "$seconds" words -l "$3%" "${recorded[@]}" $with
    printf '%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s%s\n' "$(date -u +%FT%TZ)" "$version" "$(nproc)" \
        "$seconds" "$settle" "$1" "$2" "$3" "$4" "${#early[@]}" "$before" "${loads[$1 $2]}" \
        "$(own_figures)" "$(flatten "$folder/judge.json")" | tee -a "$folder/raw.csv" >>"$csv"
    [ -z "$gains" ] || write_gains "$gains/$1-$2-$3-$4.csv"
    [ "${before%.*}" -lt 5 ] || echo "$*: a load of $before % was there before" >&2
}

# is_reachable PROGRAM INSTANCES TARGET
is_reachable() {
    awk -v load="${loads[$1 $2]}" -v target="$3" -v margin="$margin" \
        'BEGIN { exit !(load >= target + margin) }'
}

look_at_program() {
    local number target
    if [ -n "$gains" ]; then
        look_at "$1" 1
        write_profile "$1"
    fi
    for number in ${instances//,/ }; do
        look_at "$1" "$number"
        loads[$1 $number]=$uncontrolled
        for target in ${targets//,/ }; do
            is_reachable "$1" "$number" "$target" ||
                echo "$1, $number instances, $target %: skipped, $uncontrolled % uncontrolled"
        done
    done
}

measure_program() {
    local number target round
    look_at_program "$1"
    for ((round = 1; round <= rounds; round++)); do
        for target in ${targets//,/ }; do
            for number in ${instances//,/ }; do
                ! is_reachable "$1" "$number" "$target" || measure "$1" "$number" "$target" "$round"
            done
        done
    done
}

list_zoo_columns() {
    printf 'date,version,cpus,seconds,settle,program,instances,target,round,early,before_percent'
    printf ',uncontrolled_percent,own_cpu_percent,switches_per_second'
    list_judged
}

# cell_median CELL COLUMN: prints the median of one cell over the rounds; nothing if unknown.
cell_median() {
    awk -F, -v cell="$1" -v name="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $at["program"] "," $at["instances"] "," $at["target"] == cell { print $at[name] }' \
        "$folder/raw.csv" | { grep . || true; } | { median || true; } | cut -d ' ' -f 1
}

# print_bar MEASURE TEXT: prints the result of all cells, and the cells that miss the limit.
print_bar() {
    local cell error square middle most cells=() misses=()
    : >"$folder/squares"
    mapfile -t cells < <(awk -F, 'NR > 1 && !seen[$6, $7, $8]++ { print $6 "," $7 "," $8 }' "$folder/raw.csv")
    for cell in "${cells[@]}"; do
        error=$(cell_median "$cell" "$1_500_error_mean_percent")
        square=$(cell_median "$cell" "$1_500_error_mse_e4")
        [ -n "$square" ] || continue
        echo "$square" >>"$folder/squares"
        awk -v error="$error" -v square="$square" -v least="$bar_error" -v most="$bar_most" \
            'BEGIN { exit !(error <= least && error >= -least && square <= most) }' ||
            misses+=("${cell//,/ }: $(printf 'mean error %+.2f %%, MSE %.2f' "$error" "$square")")
    done
    read -r middle _ most < <(median <"$folder/squares") || return 0
    echo
    printf 'By %s: median MSE %.2f (bar: %s), worst %.2f (bar: %s), %d of %d cells miss\n' "$2" \
        "$middle" "$bar_median" "$most" "$bar_most" "${#misses[@]}" "$(wc -l <"$folder/squares")"
    [ ${#misses[@]} -eq 0 ] || printf -- '- %s\n' "${misses[@]}"
}

programs='' instances='' targets='' look='' warmup='' settle='' seconds=''
margin=15 rounds=1 with='' gains='' csv=/dev/null list='' install='' quick=''
take_options programs list install instances targets margin look warmup settle seconds rounds with gains \
    csv quick build -- "$@"
if [ -n "$quick" ]; then
    : "${programs:=xz}" "${instances:=2}" "${targets:=50}" "${seconds:=3}"
    : "${look:=1}" "${warmup:=1}" "${settle:=1}"
fi
all=${zoo[*]}
: "${programs:=${all// /,}}" "${instances:=2,4}" "${targets:=25,50,75}" "${seconds:=60}"
: "${look:=10}" "${warmup:=3}" "${settle:=2}"
[ -z "$list" ] || { list_programs && exit; }
check_options
PATH=$PATH:/usr/sbin:/sbin
copies=$(tr , '\n' <<<"$instances" | sort -n | tail -n 1)
open_launching
version=$(showstopper --version | head -n 1)
list_zoo_columns >"$folder/raw.csv"
[ -s "$csv" ] || list_zoo_columns >>"$csv"
[ -z "$gains" ] || mkdir -p "$gains"
[ -z "$install" ] || install_programs
choose_programs
declare -A loads # uncontrolled load in percent, by "PROGRAM INSTANCES"
for program in "${usable[@]}"; do
    measure_program "$program"
done
echo
echo "$seconds s counted after $warmup s of warm-up and $settle s of settling; medians of $rounds rounds${with:+; $with}"
echo
subject=program print_table '' "uncontrolled_percent:%.1f:uncontrolled %" \
    "runtime_500_error_mean_percent:%+.2f:error % run time" \
    "idle_500_error_mean_percent:%+.2f:error % idle" \
    "runtime_500_error_mse_e4:+%.2f:MSE run time" "idle_500_error_mse_e4:+%.2f:MSE idle" \
    "switches_per_second:%.0f:switches/s"
print_bar runtime "run time"
print_bar idle "idle time"
[ -z "$gains" ] || print_gains
