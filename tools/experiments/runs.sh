#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: the list of runs and how it is carried out.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

run_names=()
run_lengths=()
run_words=()
skips=()

# plan NAME SECONDS FUNCTION WORD...: the function starts the run; no word has a blank.
plan() {
    run_names+=("$1")
    run_lengths+=("$2")
    run_words+=("${*:3}")
}

# plan_skip REASON KEY=VALUE...: what cannot be had here.
plan_skip() {
    skips+=("$(printf '%s\n' "reason=$1" status=skipped "${@:2}")")
    say "skipped: ${*:2}: $1"
}

is_done() {
    [ -d "$output/runs/$1" ]
}

# The time of all runs from this one on that are not done.
time_left() {
    local number
    for ((number = $1; number < ${#run_names[@]}; number++)); do
        is_done "${run_names[number]}" || echo "${run_lengths[number]}"
    done | awk '{ sum += $1 } END { print sum + 0 }'
}

print_plan() {
    local number mark total
    for number in "${!run_names[@]}"; do
        mark=
        ! is_done "${run_names[number]}" || mark=", done"
        echo "${run_names[number]}: $(span "${run_lengths[number]}")$mark"
    done
    total=$(time_left 0)
    echo "${#run_names[@]} runs, $(span "$total") to go"
}

# carry_out NAME...: all of them; the variables named are what they have in common.
carry_out() {
    local index count=${#run_names[@]} call length
    check_settings "$@"
    if [ -n "$dry_run" ]; then
        print_plan
        exit
    fi
    [ "$count" -gt 0 ] || fail "nothing is left to be run"
    open_output
    for index in "${!run_names[@]}"; do
        ! is_done "${run_names[index]}" || continue
        say "[$((index + 1))/$count] ${run_names[index]}:" \
            "$(span "${run_lengths[index]}"), $(span "$(time_left "$index")") left in all"
        read -ra call <<<"${run_words[index]}"
        length=${run_lengths[index]}
        carry_out_one "${run_names[index]}" "${call[@]}"
    done
}

# ---- one run ----

# show_time LENGTH: on a terminal, while the run goes on; without a process of its own.
show_time() {
    local begin=$SECONDS whole=${1%.*} never
    [ -t 2 ] || return 0
    exec {never}<> <(:)
    while kill -0 "${launched[@]}" 2>/dev/null; do
        printf '\r%d of %d s' $((SECONDS - begin)) "$whole" >&2
        read -rt 1 -u "$never" || true
    done
    exec {never}>&-
    printf '\r\033[K' >&2
}

# carry_out_one NAME FUNCTION WORD...
carry_out_one() {
    local run_name=$1 status=0 pid last part=$output/runs/.$1.part
    scratch=$(mktemp -d "$ram/showstopper-$tool.XXXXXX")
    echo "$scratch" >"$output/scratch"
    mkdir "$scratch/data"
    rows=()
    start_energy
    "${@:2}"
    show_time "$length"
    for pid in "${launched[@]}"; do
        wait "$pid" || status=$?
        [ "$status" -eq 0 ] || break
    done
    end_started
    remove_groups
    if [ "$status" -eq 0 ]; then
        mkdir -p "$part"
        cp -a "$scratch/record/." "$part"
        [ ! -e "$scratch/energy.csv" ] || cp "$scratch/energy.csv" "$part"
        write_rows "$run_name" status=done >"$part/manifest.rows"
        cat "$part/manifest.rows" >>"$output/manifest.csv"
        mv -T "$part" "$output/runs/$run_name"
    else
        last=$(tail -n 1 "$scratch/messages")
        say "$run_name: failed with status $status${last:+: $last}"
        failures=$((failures + 1))
        write_rows '' status=failed "reason=status $status${last:+: $last}" >>"$output/manifest.csv"
    fi
    rm -rf "$scratch" "$output/scratch"
    scratch=
}

# launch ROLE WORD...: showstopper, with what all runs have in common. The role is empty where there
# is only one.
launch() {
    mkdir -p "$scratch/record"
    [ -n "$1" ] || rmdir "$scratch/record"
    TMPDIR=$scratch/data showstopper --quiet --record "$scratch/record${1:+/$1}" "${@:2}" \
        >/dev/null 2>>"$scratch/messages" &
    launched+=($!)
    started+=($!)
}

# start COMMAND...: beside the run, until its end.
start() {
    "$@" &
    started+=($!)
}

# Only what was started here, by its number; showstopper ends its instances itself.
end_started() {
    local pid
    for pid in "${started[@]}"; do
        kill -TERM "$pid" 2>/dev/null || true
    done
    for pid in "${started[@]}"; do
        wait "$pid" 2>/dev/null || true
    done
    started=()
    launched=()
}

# ---- begin and end ----

# What an earlier call left half done goes; one that is still at work is not disturbed.
open_output() {
    started=()
    launched=()
    failures=0
    mkdir -p "$output/runs"
    output=$(cd "$output" && pwd)
    exec {lock}>"$output/lock"
    flock -n "$lock" || fail "an experiment is at work in $output"
    rm -rf "$output"/runs/.*.part
    if [[ $(cat "$output/scratch" 2>/dev/null) = */showstopper-"$tool".* ]]; then
        rm -rf "$(cat "$output/scratch")" "$output/scratch"
    fi
    [ -w "$ram" ] || fail "--ram: $ram: no folder to write to"
    write_manifest
    trap close_output EXIT
    trap 'interrupted=yes; exit 130' INT
    trap 'interrupted=yes; exit 143' TERM HUP
}

close_output() {
    trap '' INT TERM HUP
    end_started
    remove_groups
    [ -z "$scratch" ] || rm -rf "$scratch" "$output/scratch"
    rm -rf "$output"/runs/.*.part
    [ -z "$interrupted" ] || say "$tool: interrupted; the same call goes on where it was"
}

interrupted=
scratch=
