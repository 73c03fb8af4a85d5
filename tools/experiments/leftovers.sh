#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments and by guard: what a study makes outside of its folder. Each thing is
# noted in the file $leftovers before it is made, so that it can be removed however the study ends.
# shellcheck disable=SC2154 # `leftovers` is the caller's

# note_left KIND NAME. KIND is one of
#     folder    NAME is a path, with a last part that begins with showstopper-; it is removed as a whole
#     place     NAME is `ENVIRONMENT PLACE`, a command in env/ and the name of a place, which is closed
note_left() {
    ! grep -qsFx -- "$1 $2" "$leftovers" || return 0
    echo "$1 $2" >>"$leftovers"
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
    place)
        [[ $2 =~ ^([a-z]+)\ ([A-Za-z0-9._+-]+)$ ]] || return 0
        "$(dirname "${BASH_SOURCE[0]}")/env/${BASH_REMATCH[1]}" close "${BASH_REMATCH[2]}" 2>/dev/null
        ;;
    esac
}

# pause SECONDS: without a process of its own.
pause() {
    local never
    exec {never}<> <(:)
    read -rt "$1" -u "$never" || true
    exec {never}>&-
}
