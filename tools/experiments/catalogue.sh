#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: workloads by name, as ssbatch reads them from catalogues.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

catalogue=''      # files named by --catalogue, each followed by a :
list_workloads='' # --list-workloads
searched=()       # the options of ssbatch that name the files

# find_catalogues: sets `searched` to the files in the order in which they are searched: --catalogue, the
# environment, the user, the shipped one.
find_catalogues() {
    local file files
    IFS=: read -ra files <<<"$catalogue"
    for file in "${files[@]}"; do
        [ -r "$file" ] || fail "--catalogue: $file: it cannot be read"
        searched+=(--catalogue "$file")
    done
    IFS=: read -ra files <<<"${SHOWSTOPPER_CATALOGUE-}"
    for file in "${files[@]}"; do
        [ -n "$file" ] || continue
        [ -r "$file" ] || fail "SHOWSTOPPER_CATALOGUE: $file: it cannot be read"
        searched+=(--catalogue "$file")
    done
    file=${HOME-}/.config/showstopper/workloads
    [ ! -r "$file" ] || searched+=(--catalogue "$file")
    searched+=(--catalogue "$here/workloads")
}

# ask_catalogue OPTION...: prints what ssbatch says about the workloads, without its warnings.
ask_catalogue() {
    local answer
    ! ssbatch "${searched[@]}" "$@" 2>/dev/null || return 0
    answer=$(ssbatch "${searched[@]}" "$@" 2>&1 >/dev/null) || true
    answer=${answer#ssbatch: }
    fail "${answer#--catalogue: }"
}

# is_users NAME: whether it is the name of the command after --.
is_users() {
    [ ${#user_command[@]} -gt 0 ] && [ "$1" = "$name" ]
}

# check_names OPTION NAME...: whether these workloads are known and can run; warns of those that are unfit.
check_names() {
    local word lacks note option=$1
    [ $# -gt 1 ] || fail "--$option wants something: see --help"
    for word in "${@:2}"; do
        ! is_users "$word" || continue
        lacks=$(ask_catalogue --workload "$word" --print missing 2>/dev/null) ||
            fail "--$option: $word: no such workload: see --list-workloads"
        if [ -n "$lacks" ]; then
            [ -n "$dry_run" ] || fail "--$option: $word cannot be run here: $lacks"
            say "$word cannot be run here: $lacks"
        fi
        note=$(ask_catalogue --workload "$word" --print note)
        [[ $note != unfit:* ]] || say "Warning: $word is $note"
    done
}

# warn_of_warmup NAMES: separated by commas or blanks; warns of those that need more warm-up than the study has.
warn_of_warmup() {
    local word time
    for word in ${1//,/ }; do
        ! is_users "$word" || continue
        time=$(ask_catalogue --workload "$word" --print warmup)
        [ -n "$time" ] || continue
        [[ $time =~ [a-z]$ || $time =~ M$ ]] || time+=s
        [ "$(compute "$(in_seconds "$time") > $warmup")" = 0 ] ||
            say "Warning: $word takes $time to warm up, longer than --warmup"
    done
}
