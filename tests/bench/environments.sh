#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/environments.sh [OPTION]...
Holds loads in a container that may use one CPU, with showstopper inside it and with showstopper on the
host. On the host, the judge watches the CPU time of the container's control group, in windows of 500 ms;
all loads are fractions of this CPU.

  --environments LIST  lxc, podman; default lxc
  --cpu N              which CPU; default: the last
  --targets LIST       in percent; default 25,50,75
  --instances N        of ssburn serial; default 4
  --settle N           seconds that are controlled but not counted; default 5
  --seconds N          seconds that are counted; default 30
  --build DIR          default build
  --help               print this help
END
}

# compute EXPRESSION: prints the value of an awk expression.
compute() {
    awk "BEGIN { printf \"%.10g\", ($1) }"
}

# start COMMAND...: starts a command that ends even if the bench is killed.
start() {
    setpriv --pdeathsig TERM "$@" &
    started+=($!)
}

# open_place: opens a container until end_started; sets `place`, and `group` to its control group.
open_place() {
    place=bench.$$.side
    start "$env/$environment" hold "$place" --cpus "$cpu" --share "$folder" >"$folder/place" 2>&1
    until grep -qx open "$folder/place"; do
        kill -0 "${started[-1]}" 2>/dev/null || fail "$environment: $(cat "$folder/place")"
        sleep 0.02
    done
    group=$("$env/$environment" group "$place")
}

# hold_load TARGET: runs showstopper and the judge at the same time.
hold_load() {
    local begin account around=() entering=() side=(-f cgroup) status=0
    account=$(find_account)
    begin=$(awk -v now="$EPOCHREALTIME" 'BEGIN { printf "%.3f", now + 3 }')
    if [ "$measure" = inside ]; then
        around=("$env/$environment" enter "$place" --)
    else
        side+=(-F "group=$group" --cpus "$cpu")
        entering=("${env//%/%%}/$environment" enter "$place" --instance --)
    fi
    start "${around[@]}" showstopper --quiet --json "$folder/result.json" -n "$instances" "${side[@]}" \
        -l "$1%" --settle "${settle}s" --duration "$((settle + seconds))s" --start-at "@$begin" \
        "${entering[@]}" ssburn serial --work "$work" >/dev/null
    judge "$seconds" 500 "$(compute "$1 / 100 / $cpus")" --group "$account" \
        --start-at "$(compute_exactly "$begin + $settle")" >"$folder/judge.json" || fail "judge: status $?"
    wait "${started[-1]}" || status=$?
    unset 'started[-1]'
    [ "$status" -eq 0 ] || fail "showstopper: status $status"
}

# compute_exactly EXPRESSION: like compute, with three decimals, for wall clock times.
compute_exactly() {
    awk "BEGIN { printf \"%.3f\", ($1) }"
}

# Prints the folder of the container's control group that counts CPU time.
find_account() {
    local root
    while read -r root; do
        if [ -e "$root$group/cpuacct.usage" ] || grep -qs usage_usec "$root$group/cpu.stat"; then
            echo "$root$group"
            return
        fi
    done < <(awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/mounts)
    fail "no group of the container accounts for CPU time"
}

# judged NAME: prints the judge's figure for windows of 500 ms.
judged() {
    sed -n 's/^ *"runtime_500": .*"'"$1"'": \(-\{0,1\}[0-9.]*\),.*/\1/p' "$folder/judge.json"
}

# The judge's loads are fractions of the whole machine: for percent of one CPU they are multiplied by `cpus`.
print_row() {
    awk -v environment="$environment" -v measure="$measure" -v target="$1" -v cpus="$cpus" \
        -v load="$(judged load_percent)" -v error="$(judged error_mean_percent)" \
        -v square="$(judged error_mse_e4)" \
        -v own_error="$(figure "$folder/result.json" error_mean_percent)" \
        -v own_square="$(figure "$folder/result.json" error_mse_e4)" 'BEGIN {
            printf "| %-11s | %-8s | %4s %% | %6.2f %% | %+8.3f %% | %9.3f | %+8.3f %% | %9.3f |\n",
                environment, measure, target, cpus * load, cpus * error, cpus ^ 2 * square,
                own_error, own_square }'
}

env=$source/tools/experiments/env
environments=lxc
cpu=$(sed -n 's/^Cpus_allowed_list:.*[^0-9]//p' /proc/self/status)
targets=25,50,75
instances=4
settle=5
seconds=30
take_options environments cpu targets instances settle seconds build -- "$@"
for environment in ${environments//,/ }; do
    [[ $environment = lxc || $environment = podman ]] || fail "--environments: $environment: see --help"
done
open_bench
for environment in ${environments//,/ }; do
    ! why=$("$env/$environment" why-not) || fail "$environment: $why"
done
cpus=$(getconf _NPROCESSORS_ONLN)
work=$(calibrate serial)
echo "$instances instances of ssburn serial on CPU $cpu, $seconds s counted after $settle s of settling"
echo
echo "| environment | measured | target |     load | mean error | MSE %^2   | its own    | MSE %^2   |"
echo "|-------------|----------|-------:|---------:|-----------:|----------:|-----------:|----------:|"
for environment in ${environments//,/ }; do
    for measure in inside host; do
        open_place
        for target in ${targets//,/ }; do
            hold_load "$target"
            print_row "$target"
        done
        end_started
    done
done
