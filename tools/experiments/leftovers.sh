#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments and by guard: what a study makes outside of its folder. Each thing is
# noted in the file $leftovers before it is made, so that it can be removed however the study ends.
# shellcheck disable=SC2154 # `leftovers` is the caller's

# note_left KIND NAME. KIND is one of
#     folder    NAME is a path, with a last part that begins with showstopper-; it is removed as a whole
#     empty     NAME is the path of a folder; it is removed if it is empty
#     group     NAME is the path of a control group below the root of a hierarchy; it is removed from all
#               hierarchies, with its processes and the groups in it
note_left() {
    ! grep -qsFx -- "$1 $2" "$leftovers" || return 0
    echo "$1 $2" >>"$leftovers"
}

# note_folders PATH: notes the folders on the way to PATH that are yet to be made, as `empty`.
note_folders() {
    local folder=$1 missing=()
    while [ -n "$folder" ] && [ ! -e "$folder" ]; do
        missing=("$folder" "${missing[@]}")
        folder=${folder%/*}
    done
    for folder in "${missing[@]}"; do
        note_left empty "$folder"
    done
}

# clear_left: removes what is noted, the last first, since what lies in a folder was noted after it. Fails
# if something could not be removed, which stays noted.
clear_left() {
    local lines=() index kept=()
    [ -e "$leftovers" ] || return 0
    mapfile -t lines <"$leftovers"
    for ((index = ${#lines[@]} - 1; index >= 0; index--)); do
        clear_one "${lines[index]%% *}" "${lines[index]#* }" || kept=("${lines[index]}" "${kept[@]}")
    done
    if [ ${#kept[@]} -gt 0 ]; then
        printf '%s\n' "${kept[@]}" >"$leftovers"
        return 1
    fi
    rm -f "$leftovers"
}

# Notes of any other form are dropped.
clear_one() {
    case $1 in
    folder)
        [[ ${2##*/} = showstopper-* ]] || return 0
        rm -rf --one-file-system -- "$2" 2>/dev/null || [ ! -e "$2" ]
        ;;
    empty)
        rmdir -- "$2" 2>/dev/null || true
        ;;
    group)
        [[ $2 =~ ^/showstopper-experiment\.[^/]+$ ]] || return 0
        remove_group "$2"
        ;;
    esac
}

# The roots of all hierarchies of control groups, one a line; version 1 has many.
list_hierarchies() {
    awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/mounts
}

# list_group GROUP: its folders in all hierarchies, the innermost first.
list_group() {
    local root
    list_hierarchies | while read -r root; do
        [ ! -d "$root$1" ] || find "$root$1" -depth -type d 2>/dev/null || true
    done
}

# A group that cannot be removed has processes, all of which the study put there. They are killed by pid until
# no more of them are forked.
remove_group() {
    local attempt folder pid found
    for ((attempt = 0; attempt < 20; attempt++)); do
        found=
        while read -r folder; do
            ! rmdir "$folder" 2>/dev/null || continue
            found=yes
            while read -r pid; do
                [ "$pid" -eq 0 ] || kill -KILL "$pid" 2>/dev/null || true
            done < <(cat "$folder/cgroup.procs" 2>/dev/null)
        done < <(list_group "$1")
        [ -n "$found" ] || return 0
        pause 0.1
    done
    return 1
}

# pause SECONDS: without a process of its own.
pause() {
    local never
    exec {never}<> <(:)
    read -rt "$1" -u "$never" || true
    exec {never}>&-
}
