#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the environments: their command line. showstopper-place handles locks, control groups and the end of
# processes, which a script cannot do reliably, and calls the script with --open and --clean. An environment defines the
# functions why_not and open, optionally enter and clean, and ends with: serve "$@"

# shellcheck source=../../folders.sh
. "${BASH_SOURCE[0]%/*}/../../folders.sh"

environment=${0##*/}
places=${SHOWSTOPPER_PLACES:-/run/showstopper-places}
# shellcheck disable=SC2034 # environments use cpus and quota
cpus='' quota='' shares=() # --cpus, --quota, --share
own_options=''             # names of further options that take a value, such as "guest memory"
instance=()                # --instance of enter

fail() {
    echo "$environment: $*" >&2
    exit 1
}

# find_helper: sets `helper` to the path of showstopper-place, in the build of `showstopper` or of this file. Fails if
# it does not exist.
find_helper() {
    local showstopper folder here=${BASH_SOURCE[0]%/*}
    showstopper=$(type -P showstopper) || showstopper=/none
    for folder in "${showstopper%/*}/.." "$here/../../../build" "$here/../../../.."; do
        helper=$folder/libexec/showstopper/showstopper-place
        [ ! -x "$helper" ] || return 0
    done
    return 1
}

# name_place PLACE: sets `place`, `group` (its control group) and `host` (its host name).
# shellcheck disable=SC2034 # environments use group and host
name_place() {
    place=$1
    group=/showstopper-$1
    host=${1##*.}
    host=${host:0:63}
}

# find_state: sets `state`, the folder of the place. Fails if another user could change what we remove, read or start
# there.
find_state() {
    state=$(fixed_path "$places/$place") || fail "$state"
}

# take_options WORD...: sets `cpus`, `quota`, `shares` and the variables of `own_options`.
take_options() {
    while [ $# -gt 0 ]; do
        [[ $1 != --*=* ]] || set -- "${1%%=*}" "${1#*=}" "${@:2}"
        [[ $1 = --?* && " cpus quota share $own_options " = *" ${1#--} "* ]] ||
            fail "$1: unknown option: see --help"
        [ $# -gt 1 ] || fail "$1 requires a value"
        take_option "${1#--}" "$2"
        shift 2
    done
}

# take_option NAME VALUE: checks a value, and sets the option's variable.
take_option() {
    case $1 in
    cpus)
        [[ $2 =~ ^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$ ]] ||
            fail "--cpus: '$2' is not a list of CPUs: use, for example, 0-3,8"
        ;;
    quota) [[ $2 =~ ^[0-9]+(\.[0-9]+)?$ && $2 =~ [1-9] ]] || fail "--quota: '$2' is not a number of CPUs above 0" ;;
    share)
        [ -d "$2" ] || fail "--share: '$2' is not a folder"
        shares+=("$(realpath -- "$2")")
        return
        ;;
    esac
    printf -v "${1//-/_}" %s "$2"
}

# list_options: sets `words` to the options that are not empty, as take_options takes them.
list_options() {
    local name value
    words=("${shares[@]/#/--share=}")
    for name in cpus quota $own_options; do
        value=${name//-/_}
        [ -z "${!value}" ] || words+=("--$name=${!value}")
    done
}

# why_no_container PROGRAM...: prints the first missing requirement of containers; fails if all are met.
why_no_container() {
    local program
    [ "$(id -u)" -eq 0 ] || { echo "only root can make containers with CPUs of their own" && return; }
    for program; do
        type -P "$program" >/dev/null || { echo "$program is not installed" && return; }
    done
    unshare -m true 2>/dev/null || { echo "root cannot create namespaces on this system" && return; }
    "$helper" why-not cpus
}

# The command of a container's first process. Only `hold` has the other end of its standard input open, so the process
# exits when `hold` does, even if `hold` is killed. In some shells, TMOUT would limit the time that `read` waits.
# shellcheck disable=SC2034,SC2016 # open uses it; the container's shell expands it
first_process=(env -u TMOUT sh -c 'echo open; read -r end || :')

# enter COMMAND...: executes the command in the container.
enter() {
    exec "$helper" enter "$place" "${instance[@]}" -- "$@"
}

# clean: removes everything that `open` created outside of the place's folder and group.
clean() {
    :
}

open_place() {
    local reason words
    name_place "$1"
    find_state
    take_options "${@:2}"
    ! reason=$(why_not) || fail "$reason"
    list_options
    { [ ${#words[@]} -eq 0 ] || printf '%s\0' "${words[@]}"; } >"$state/options"
    open
}

clean_place() {
    name_place "$1"
    find_state
    clean
    rm -rf --one-file-system -- "${state:?}"/*
}

enter_place() {
    local words
    name_place "${1-}"
    shift
    [ "${1-}" != --instance ] || { instance=(--instance) && shift; }
    if [ "${1-}" != -- ] || [ $# -lt 2 ]; then
        fail "enter: a command must follow --"
    fi
    "$helper" join "$place" $$ || exit
    find_state
    mapfile -d '' words <"$state/options"
    take_options "${words[@]}"
    enter "${@:2}"
}

usage() {
    cat <<HELP
Usage: $environment why-not
       $environment hold PLACE [--cpus LIST] [--quota CPUS] [--share FOLDER]...${own_options:+ [--${own_options// / VALUE] [--} VALUE]}
       $environment enter PLACE [--instance] -- COMMAND [ARGUMENT]...
       $environment group PLACE
       $environment close PLACE...
Runs commands in an environment of their own; README.md in this folder describes it.
HELP
}

# serve WORD...: carries out the command line. Does nothing if the environment is sourced, as in tests.
serve() {
    [ "${BASH_SOURCE[1]}" = "$0" ] || return 0
    local missing="cannot find showstopper-place: build Showstopper, or add its folder bin to PATH"
    case ${1-} in
    --help) usage; exit ;;
    why-not) find_helper || { echo "$missing" && exit; } ;;
    hold | enter | group | close | --open | --clean) find_helper || fail "$missing" ;;
    '') fail "no command given: use why-not, hold, enter, group or close" ;;
    *) fail "unknown command '$1': use why-not, hold, enter, group or close" ;;
    esac
    case $1 in
    why-not) why_not && exit || exit 1 ;;
    hold)
        take_options "${@:3}"
        exec "$helper" hold "${2-}" -- "$0" "${@:3}"
        ;;
    enter) enter_place "${@:2}" ;;
    group) exec "$helper" group "${2-}" ;;
    close) exec "$helper" close "${@:2}" -- "$0" ;;
    --open) open_place "${@:2}" ;;
    --clean) clean_place "$2" ;;
    esac
}
