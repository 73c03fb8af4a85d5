#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the experiments: parses options and checks their values.

# shellcheck source=../folders.sh
. "$(dirname "${BASH_SOURCE[0]}")/../folders.sh"

unset CDPATH # otherwise cd may enter another folder, and print its name

# The locale of the caller, as words of env(1): commands that are measured keep it. In the scripts, numbers have a point.
caller_locale=(-u LC_ALL)
# shellcheck disable=SC2034 # read by plan.sh
[ -z "${LC_ALL+set}" ] || caller_locale=("LC_ALL=$LC_ALL")
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
    extend_path "$bin"
    version=$(showstopper --version 2>/dev/null) || fail "showstopper not found: build it, or use --bin"
    echo "$tool ${version##* }"
}

bin=''          # --bin, in scripts that have it
no_arguments='' # see take_options
declare -A is_given=() # options given on the command line, with _ instead of -

# take_options FLAGS NAMES WORD...: parses a command line. Sets a variable for each option, with _ for -: to yes for one
# of FLAGS, to VALUE for "--NAME VALUE" or "--NAME=VALUE", and to all values, one per line, for NAME+. Puts other words
# into `operands`, if NAMES has that word, and the words after -- into `user_command`. The caller defines `usage`, and
# may set `no_arguments` to the advice for unexpected words.
take_options() {
    local flags=" $1 " names=" ${2//$'\n'/ } " word option value
    shift 2
    user_command=() operands=()
    while [ $# -gt 0 ]; do
        word=$1
        shift
        [ "$word" != -o ] || word=--output
        case $word in
        --help | -h) usage; exit ;;
        --version) print_version; exit ;;
        --)
            [ $# -gt 0 ] || fail "-- requires a command: see --help"
            user_command=("$@")
            return
            ;;
        esac
        option=${word%%=*}
        if [[ $word != -* && $names = *" operands "* ]]; then
            operands+=("$word")
            continue
        fi
        [[ $option = -* ]] || fail "$word: unexpected argument: ${no_arguments:-a command belongs after --}, see --help"
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
        [ "$option" != workload ] || option=workloads
        is_given[${option//-/_}]=yes
        [[ $names != *" $option+ "* ]] || value=${!option}$value$'\n'
        printf -v "${option//-/_}" %s "$value"
    done
}

# has_command: succeeds if there are words after --.
has_command() {
    [ ${#user_command[@]} -gt 0 ]
}

# refuse_given WHEN NAME...: fails if one of these options is given, because it would be ignored.
refuse_given() {
    local name
    for name in "${@:2}"; do
        [ -z "${is_given[$name]-}" ] || fail "--${name//_/-} has no effect $1"
    done
}

# preset NAME=VALUE...: sets options that are not given on the command line.
preset() {
    local pair
    for pair; do
        [ -n "${is_given[${pair%%=*}]-}" ] || printf -v "${pair%%=*}" %s "${pair#*=}"
    done
}

# value_of TYPE OPTION TEXT: prints the value of an option in the form of plans, or fails. sslab(1) describes the types.
value_of() {
    sslab value "$1" --program "$tool" --option "${2//_/-}" -- "$3"
}

# check TYPE NAME...: checks the values of these options, and replaces each by the output of value_of.
check() {
    local name value
    for name in "${@:2}"; do
        value=$(value_of "$1" "$name" "${!name}") || exit 1
        printf -v "$name" %s "$value"
    done
}

# check_words OPTION KNOWN WORD...: fails unless each word is one of KNOWN.
check_words() {
    local word
    [ $# -gt 2 ] || fail "--$1 requires a value: see --help"
    for word in "${@:3}"; do
        [[ " $2 " = *" $word "* ]] || fail "--$1: $word: not one of $2"
    done
}

# compute EXPRESSION...: prints the values of awk expressions. Decimals of 15 digits are kept exactly.
compute() {
    local each words=''
    for each; do
        words+="${words:+ \" \"} sprintf(\"%.15g\", ($each))"
    done
    awk "BEGIN { printf \"%s\", $words }"
}

# count_cpus [COMMAND [ARGUMENT]...]: prints the number of CPUs that may be used, or that a command may use which runs
# others, such as taskset. nproc obeys variables of OpenMP, which limit threads of programs that are measured.
# shellcheck disable=SC2120 # few callers have a command
count_cpus() {
    "$@" env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc
}

# short NUMBER: prints it with at most six digits, for the name of a run.
short() {
    printf %.6g "$1"
}

# number_of COUNT NOUN: prints "1 run", or "2 runs".
number_of() {
    echo "$1 $2$([ "$1" = 1 ] || echo s)"
}

# span SECONDS: prints a time in readable units.
span() {
    value_of span seconds "$1"
}

# extend_path FOLDER: puts this folder first in PATH or, if FOLDER is empty, adds the folder of this build, if any. That
# may be /usr/bin, so it hides other programs only if PATH has another showstopper.
extend_path() {
    local folder found
    [ -z "$1" ] || [ -d "$1" ] || fail "--bin: $1: no such folder"
    for folder in "$1" "$here/../../build/bin" "$here/../../../bin"; do
        [ -n "$folder" ] && [ -x "$folder/showstopper" ] || [ "$folder" = "${1:-none}" ] || continue
        folder=$(cd "$folder" && pwd)
        if [ -z "$1" ] && ! found=$(type -P showstopper); then
            PATH=$PATH:$folder
        elif [ -n "$1" ] || [ ! "${found%/*}" -ef "$folder" ]; then
            PATH=$folder:$PATH
        fi
        return
    done
}

# find_sampler: prints the path of showstopper-platform, which samples. Looks in the folder of showstopper, then in the
# build of this file.
find_sampler() {
    local showstopper folder program
    showstopper=$(type -P showstopper) || showstopper=/none
    for folder in "${showstopper%/*}" "$here/../../build/bin" "$here/../../../bin"; do
        program=$folder/showstopper-platform
        [ ! -x "$program" ] || break
    done
    [ -x "$program" ] || fail "showstopper-platform not found: build it"
    echo "$program"
}
