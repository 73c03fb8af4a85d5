#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: options, and checks of their values.

export LC_ALL=C # numbers have a point
tool=${0##*/}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
    echo "$tool: $*" >&2
    exit 1
}

say() {
    echo "$*" >&2
}

# take_options FLAGS NAMES WORD...: sets FLAG to yes, NAME from "--NAME VALUE" or "--NAME=VALUE", with _ for -. The
# values of a NAME+ are collected, one a line. Words that are no options become `operands`, if that is among the names.
# The words after -- become `user_command`. `usage` is the caller's.
take_options() {
    local flags=" $1 " names=" $2 " word option value
    shift 2
    user_command=() operands=()
    while [ $# -gt 0 ]; do
        word=$1
        shift
        case $word in
        --help) usage && exit ;;
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
        [[ $names != *" $option+ "* ]] || value=${!option}$value$'\n'
        printf -v "${option//-/_}" %s "$value"
    done
}

# has_command: whether there are words after --.
has_command() {
    [ ${#user_command[@]} -gt 0 ]
}

# refuse_given WHEN NAME...: options that would be ignored.
refuse_given() {
    local name
    for name in "${@:2}"; do
        [ -z "${!name}" ] || fail "--${name//_/-} has no effect $1"
    done
}

# ask LINE OPTION ARGUMENT...: what showstopper understands by the arguments: that line of its plan,
# without its beginning. Messages name OPTION, which the value came from.
ask() {
    local line=$1 option=$2 answer text status=0
    local message='^showstopper: (warning: )?((--[a-z]+|[a-z]+/[a-z]+: [a-z]+): )?(.*)$'
    answer=$(showstopper --dry-run "${@:3}" -- true 2>&1) || status=$?
    while IFS= read -r text; do
        if [[ $text =~ $message ]]; then
            say "$tool: ${BASH_REMATCH[1]}--$option: ${BASH_REMATCH[4]}"
        elif [[ $text =~ ^$line\ *(.*)$ ]]; then
            echo "${BASH_REMATCH[1]}"
        fi
    done <<<"$answer"
    [ "$status" -eq 0 ] || exit 1
}

# in_seconds TIME: as showstopper and sstrace print it, a number and a unit for people or for options,
# or 0.
in_seconds() {
    awk -v time="$1" 'BEGIN {
        count = split("n 1e-9 u 1e-6 m 1e-3 s 1 M 60 h 3600 d 86400 ns 1e-9 us 1e-6 ms 1e-3 min 60",
            words, " ")
        for (i = 1; i < count; i += 2)
            unit[words[i]] = words[i + 1]
        name = time
        sub(/^[0-9.]+ */, "", name)
        printf "%.10g", time == "0" ? 0 : time * unit[name] }'
}

# read_times NAME...: makes seconds of these options.
read_times() {
    local name time
    for name; do
        [[ ! ${!name} =~ ^[0-9]+(\.[0-9]+)?$ ]] || continue
        time=$(ask warm-up "$name" -l 1 --warmup "${!name}")
        printf -v "$name" %s "$(in_seconds "$time")"
    done
}

# seconds_of OPTION TIME: prints a time above 0 in seconds; unlike read_times, without advice on minutes.
seconds_of() {
    local time=$2
    if [[ ! $2 =~ ^[0-9]+(\.[0-9]+)?$ ]]; then
        time=$(ask 'dithering *averageq *tau=' "$1" -l 1 -d averageq -D "tau=$2") || exit 1
        time=$(in_seconds "${time%%,*}")
    fi
    [ "$(compute "$time > 0")" = 1 ] || fail "--$1: $2: a time above 0 is required"
    echo "$time"
}

# check_lengths NAME...: times, in seconds, in which something is to be measured.
check_lengths() {
    local name
    for name; do
        [ "$(compute "${!name} > 0")" = 1 ] || fail "--$name: ${!name}: a time above 0 is required"
    done
}

# percent_of OPTION LOAD: prints it in percent.
percent_of() {
    local load
    if [[ $2 =~ ^(([2-9]|[1-9][0-9])(\.[0-9]+)?|100)$ ]]; then
        echo "$2"
        return
    fi
    load=$(ask 'trace *constant *load=' "$1" -t constant -T "load=$2") || exit 1
    awk -v load="$load" 'BEGIN { printf "%.6g", 100 * load }'
}

# check_numbers FORM NAME...: `whole`, `count` (at least 1) or `percent`.
check_numbers() {
    local name form='^[0-9]+$'
    [ "$1" != percent ] || form='^[0-9]+(\.[0-9]+)?%?$'
    for name in "${@:2}"; do
        [[ ${!name} =~ $form ]] || fail "--${name//_/-}: ${!name}: a number is required, as 180"
        [[ $1 != count || ${!name} =~ [1-9] ]] || fail "--${name//_/-}: ${!name}: at least 1 is required"
    done
}

# check_words OPTION KNOWN WORD...
check_words() {
    local word
    [ $# -gt 2 ] || fail "--$1 requires a value: see --help"
    for word in "${@:3}"; do
        [[ " $2 " = *" $word "* ]] || fail "--$1: $word: not one of $2"
    done
}

# compute EXPRESSION: of awk.
compute() {
    awk "BEGIN { printf \"%.10g\", ($1) }"
}

# span SECONDS: as a person says it.
span() {
    awk -v seconds="$1" 'BEGIN {
        whole = int(seconds + 0.5)
        if (whole < 60)
            printf "%.3g s", seconds
        else if (whole < 3600)
            printf "%d min %02d s", whole / 60, whole % 60
        else
            printf "%d h %02d min", whole / 3600, whole % 3600 / 60 }'
}

# write_samples FILE FUNCTION: writes what the function prints to the file of --output, until SIGTERM or SIGINT. First
# prints the line `open`.
write_samples() {
    [ -n "$1" ] || fail "--output is missing: see --help"
    { : >"$1"; } 2>/dev/null || fail "--output: $1 cannot be written"
    trap 'exit 0' TERM INT
    echo open
    "$2" >"$1"
}

# each_second COLUMNS FUNCTION VARIABLE: prints samples until the process ends, at absolute times, so that as many are
# taken as seconds pass. FUNCTION gets the microseconds since the sample before, and sets VARIABLE.
each_second() {
    local never now left stamp number=0 begin=${EPOCHREALTIME/./} before
    exec {never}<> <(:)
    before=$begin
    echo "time,elapsed_seconds,$1"
    while :; do
        number=$((number + 1))
        left=$((begin + 1000000 * number - ${EPOCHREALTIME/./}))
        if [ "$left" -gt 0 ]; then
            printf -v left '%d.%06d' $((left / 1000000)) $((left % 1000000))
            read -rt "$left" -u "$never" || true
        fi
        now=${EPOCHREALTIME/./}
        "$2" $((now - before))
        before=$now
        TZ=UTC0 printf -v stamp '%(%FT%T)T.%03dZ' $((now / 1000000)) $((now % 1000000 / 1000))
        printf '%s,%d.%06d,%s\n' "$stamp" $(((now - begin) / 1000000)) $(((now - begin) % 1000000)) "${!3}"
    done
}

# extend_path FOLDER: lets programs of this folder be found first; without a folder, those of the same build.
extend_path() {
    local folder
    for folder in "$1" "$here/../../build/bin" "$here/../../../bin"; do
        [ -n "$folder" ] && [ -x "$folder/showstopper" ] || [ "$folder" = "${1:-none}" ] || continue
        PATH=$(cd "$folder" && pwd):$PATH
        return
    done
}

# list_cpus LIST: prints the CPUs of a list such as 0-3,8, one a line.
list_cpus() {
    local range
    for range in ${1//,/ }; do
        [[ $range =~ ^([0-9]+)(-([0-9]+))?$ ]] || fail "$1: a list of CPUs is required, as 0-3,8"
        seq "${BASH_REMATCH[1]}" "${BASH_REMATCH[3]:-${BASH_REMATCH[1]}}"
    done
}

# check_cpus OPTION LIST: whether these CPUs may be used here.
check_cpus() {
    list_cpus "$2" >/dev/null
    ask CPUs "$1" -l 1 --cpus "$2" >/dev/null
}
