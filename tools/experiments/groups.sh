#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: places of a run, which the commands in env/ hold open.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

# Prints why no group with a quota can be made; fails if one can.
why_no_groups() {
    "$here/env/group" why-not
}

# hold_place ENVIRONMENT ROLE OPTION...: opens a place until the end of the run; fails if it cannot be opened, and
# $scratch/places/ROLE says why. Sets `place`, its name, and `entering`, the words before a command that is to run
# in it; showstopper replaces a % in the command of an instance.
hold_place() {
    local said=$scratch/places/$2
    place=experiment.$$.$2
    mkdir -p "$scratch/places"
    note_left place "$1 $place"
    start "$here/env/$1" hold "$place" "${@:3}" >"$said" 2>&1
    until grep -qsx open "$said"; do
        kill -0 "${started[-1]}" 2>/dev/null || return
        pause 0.02
    done
    entering=("${here//%/%%}/env/$1" enter "$place" --)
}

# make_group ROLE CPUS: a group with this quota, a decimal. Sets `entering` and `group`, its path.
make_group() {
    hold_place group "$1" --quota "$2" || fail "$(cat "$scratch/places/$1")"
    group=$("$here/env/group" group "$place")
}
