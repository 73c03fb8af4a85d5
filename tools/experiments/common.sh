#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by make-guest, run-in-guest and services/mediawiki: parses options.

# shellcheck source=../folders.sh
. "$(dirname "${BASH_SOURCE[0]}")/../folders.sh"

unset CDPATH # otherwise cd may enter another folder, and print its name
export LC_ALL=C
tool=${0##*/}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
    echo "$tool: $*" >&2
    exit 1
}

say() {
    echo "$*" >&2
}

# print_version: prints the version of the programs, which is that of the scripts.
print_version() {
    local version
    extend_path
    version=$(showstopper --version 2>/dev/null) || fail "cannot find showstopper: build it"
    echo "$tool ${version##* }"
}

# take_options FLAGS NAMES WORD...: parses a command line. Sets a variable for each option, with _ for -: to yes for one
# of FLAGS, to VALUE for "--NAME VALUE" or "--NAME=VALUE", and to all values, one per line, for NAME+. Puts other words
# into `operands`, if NAMES has that word, and the words after -- into `user_command`. The caller defines `usage`.
take_options() {
    local flags=" $1 " names=" $2 " word option value
    shift 2
    user_command=() operands=()
    while [ $# -gt 0 ]; do
        word=$1
        shift
        case $word in
        --help | -h) usage; exit ;;
        --version) print_version; exit ;;
        --)
            [ $# -gt 0 ] || fail "-- requires a command: see --help"
            # shellcheck disable=SC2034 # for the caller
            user_command=("$@")
            return
            ;;
        esac
        option=${word%%=*}
        if [[ $word != -* && $names = *" operands "* ]]; then
            operands+=("$word")
            continue
        fi
        [[ $option = -* ]] || fail "unexpected argument '$word': put a command after --; see --help"
        [[ $option = --* ]] || fail "$word: unknown option: see --help"
        option=${option#--}
        if [[ $flags = *" $option "* && $word != *=* ]]; then
            value=yes
        elif [[ $names != *" $option "* && $names != *" $option+ "* ]]; then
            fail "$word: unknown option: see --help"
        elif [[ $word = *=* ]]; then
            value=${word#*=}
        else
            [ $# -gt 0 ] || fail "$word requires a value: see --help"
            value=$1
            shift
        fi
        [[ $names != *" $option+ "* ]] || value=${!option}$value$'\n'
        printf -v "${option//-/_}" %s "$value"
    done
}

# count_cpus [COMMAND [ARGUMENT]...]: prints the number of CPUs that may be used, or that a command may use which runs
# others, such as taskset. nproc obeys variables of OpenMP, which limit threads of programs that are measured.
# shellcheck disable=SC2120 # few callers have a command
count_cpus() {
    "$@" env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc
}

# extend_path: adds the folder of this build, if any, to PATH. It may be /usr/bin, so it hides other programs only if
# PATH has another showstopper.
extend_path() {
    local folder found
    for folder in "$here/../../build/bin" "$here/../../../bin"; do
        [ -x "$folder/showstopper" ] || continue
        folder=$(cd "$folder" && pwd)
        if ! found=$(type -P showstopper); then
            PATH=$PATH:$folder
        elif [ ! "${found%/*}" -ef "$folder" ]; then
            PATH=$folder:$PATH
        fi
        return
    done
}
