#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: options and workloads.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

export LC_ALL=C # numbers have a point
tool=${0##*/}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

on=''       # --on, in experiments of one side
counters='' # --counters

# What every experiment can be told; each sets its own defaults.
common_flags="dry-run quick repeat go-on list-workloads counters published"
common_names="output bin ram instances rounds workloads workload catalogue name iteration memory energy
 energy-root others"
on_usage() {
    cat <<END
  --on LIST           run on these CPUs and measure their load, as 0-3,8; default: all
  --instances N       default: as many as these CPUs
END
}

common_names=${common_names//$'\n'/}
# shellcheck source=catalogue.sh
. "$here/catalogue.sh"

common_usage() {
    cat <<END
  --rounds N          of all runs; default 1
  --workloads LIST    names of the catalogue; default $default_workloads
  --list-workloads    print the names, and what is missing here for each
  --catalogue FILE    where names are looked up first; may be given several times
  --memory SIZE       of an instance: what ssburn walks through, the heap of a JVM
  --name NAME         what the command behind -- is called; default: its first word
  --iteration REGEX   a line that ends an iteration of that command, see showstopper(1)
  --repeat            that command is started again when it ends: each end is an iteration
  --energy SOURCE     sample power once a second: auto, rapl, hwmon, battery, or any command that
                      prints watts
  --energy-root DIR   where /sys is looked for; default /
  --counters          record once a second what CPUs and kernel count of the instances: instructions, cache
                      misses and so on, see showstopper(1)
  --output DIR        where all of it is kept; default $output
  --ram DIR           a RAM disk for the data of runs; default /dev/shm. TMPDIR becomes a new folder
                      there, and {scratch} in the command a folder in it for each instance
  --go-on             continue after a run that failed; without it, a run that fails ends the study
  --others LOAD       warn if other processes use more of the machine, before the study or during a run;
                      default $others
  --bin DIR           where the programs are; default: the build of this tree, else the PATH
  --dry-run           print the runs and how long they take, start nothing
  --help              print this and end

A TIME is written as for showstopper: 20s, 107m (milliseconds), 3M (minutes); without a unit it is in
seconds. A LOAD is 25%, 0.25 or 1/4; a bare number from 2 to 100 is in percent.
Without a command behind -- ssburn is run, its work calibrated once. An experiment that was
interrupted is called again in the same way: finished runs are kept, a half-finished one is done again.
$here/README.md describes the results.
END
}

published_usage() {
    cat <<END
  --published         as published, instead of the defaults: workloads, methods, loads, times, as many instances as
                      CPUs, no settling time; README.md has the values
END
}

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
        case $option in
        workload) option=workloads ;;
        catalogue) value=$catalogue$value: ;;
        trace) value=$trace$value$'\n' ;;
        esac
        [[ $names != *" $option+ "* ]] || value=${!option}$value$'\n'
        printf -v "${option//-/_}" %s "$value"
    done
}

# refuse_given WHEN NAME...: options that would be ignored.
refuse_given() {
    local name
    for name in "${@:2}"; do
        [ -z "${!name}" ] || fail "--${name//_/-} has no effect $1"
    done
}

# ---- as published ----

published=''           # --published
published_workloads='' # those of the published evaluation
stand_ins=''           # workloads that represent them
pi_control=''          # options of the published control
cdc_dithering=''       # options of the dithering of the published baseline

# take_published EXPERIMENT[/quick]: sets options that were not given to those of the published evaluation.
take_published() {
    local experiment option value
    [ -n "$published" ] || return 0
    while read -r experiment option value; do
        [ "$experiment" != "$1" ] || [ -n "${!option}" ] || printf -v "$option" %s "$value"
    done <"$here/published/settings"
}

# check_published EXPERIMENT: refuses options that would make a study another one than the published.
check_published() {
    [ -n "$published" ] || return 0
    [ -z "$instances" ] || fail "--published: as many instances as CPUs: without --instances"
    [ "${settle:-0}" = 0 ] || fail "--published: no settling time: without --settle"
    settle=0
    [ -z "$quick" ] || take_published "$1/quick"
}

# represent WORKLOAD: prints this workload or, if it cannot run here, the one that represents it, if any.
represent() {
    local lacks stand_in
    lacks=$(ask_catalogue --workload "$1" --print missing) || exit 1
    if [ -z "$lacks" ]; then
        echo "$1"
        return
    fi
    for stand_in in ${stand_ins//,/ }; do
        [ "$(ask_catalogue --workload "$stand_in" --print published)" = "$1" ] || continue
        say "$1 cannot be run here: $lacks; $stand_in represents it"
        echo "$stand_in"
        return
    done
    say "$1 is left out, because it cannot be run here: $lacks"
}

# represent_all: prints the published workloads, or those that represent them.
represent_all() {
    local workload
    for workload in ${published_workloads//,/ }; do
        represent "$workload"
    done
}

# ask LINE OPTION ARGUMENT...: what showstopper understands by the arguments: that line of its plan,
# without its beginning. Messages name OPTION, which the value came from.
ask() {
    local line=$1 option=$2 answer status=0
    answer=$(showstopper --dry-run "${@:3}" -- true 2>&1) || status=$?
    sed -nE "s,^showstopper: (warning: )?((--[a-z]+|[a-z]+/[a-z]+: [a-z]+): )?,$tool: \\1--$option: ,p" \
        <<<"$answer" >&2
    [ "$status" -eq 0 ] || exit 1
    sed -n "s/^$line *//p" <<<"$answer"
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
        [[ ${!name} =~ $form ]] || fail "--${name//_/-}: ${!name}: a number is wanted, as 180"
        [[ $1 != count || ${!name} =~ [1-9] ]] || fail "--${name//_/-}: ${!name}: at least 1 is wanted"
    done
}

# check_words OPTION KNOWN WORD...
check_words() {
    local word
    [ $# -gt 2 ] || fail "--$1 wants something: see --help"
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

# each_second COLUMNS FUNCTION VARIABLE: prints samples until the process ends, at absolute times, so that as many are taken as
# seconds pass. FUNCTION gets the microseconds since the sample before, and sets VARIABLE.
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

# list_cpus LIST: prints the CPUs of a list such as 0-3,8, one a line.
list_cpus() {
    local range
    for range in ${1//,/ }; do
        [[ $range =~ ^([0-9]+)(-([0-9]+))?$ ]] || fail "$1: a list of CPUs is wanted, as 0-3,8"
        seq "${BASH_REMATCH[1]}" "${BASH_REMATCH[3]:-${BASH_REMATCH[1]}}"
    done
}

# check_cpus OPTION LIST: whether these CPUs may be used here.
check_cpus() {
    list_cpus "$2" >/dev/null
    ask CPUs "$1" -l 1 --cpus "$2" >/dev/null
}

find_programs() {
    if [ -n "$bin" ]; then
        PATH=$(cd "$bin" && pwd):$PATH
    elif [ -x "$here/../../build/bin/showstopper" ]; then
        PATH=$(cd "$here/../../build/bin" && pwd):$PATH
    elif [ -x "$here/../../../bin/showstopper" ]; then
        PATH=$(cd "$here/../../../bin" && pwd):$PATH
    fi
    command -v showstopper >/dev/null || fail "showstopper is not there: build it, or name --bin"
    cpus=$(nproc)
    pinning=()
    if [ -n "$on" ]; then
        cpus=$(list_cpus "$on" | sort -u | wc -l)
        check_cpus on "$on"
        pinning=(--cpus "$on")
    fi
    : "${instances:=$cpus}"
}

# ---- workloads ----

# Sets what the experiment runs: the named workloads, or else the command behind --, or else the default.
check_workloads() {
    local list
    find_programs
    command -v ssbatch >/dev/null || fail "ssbatch is not there: build it, or name --bin"
    find_catalogues
    list=$(ask_catalogue --list-workloads) || exit 1
    if [ -n "$list_workloads" ]; then
        echo "$list"
        exit
    fi
    if [ ${#user_command[@]} -gt 0 ]; then
        : "${name:=${user_command[0]##*/}}"
        [[ $name =~ ^[A-Za-z0-9._+-]+$ ]] || fail "--name: $name: letters, digits and ._+- only"
        : "${workloads:=$name}"
    fi
    [ ${#user_command[@]} -gt 0 ] || [ -z "$iteration$repeat$name" ] ||
        fail "--iteration, --repeat and --name want a command behind --"
    [ -n "$workloads" ] || workloads=$(represent_all | paste -sd ,) || exit 1
    : "${workloads:=$default_workloads}"
    check_command
    IFS=, read -ra list <<<"$workloads"
    check_names workloads "${list[@]}"
}

# check_command: whether the command after -- exists and is one of the workloads.
check_command() {
    local program=${user_command[0]-} named=$workloads${background:+,$background}
    [ -n "$program" ] || return 0
    [[ ${pairs-} != *:* ]] || named=${pairs//:/,}
    [[ ,$named, = *,"$name",* ]] ||
        fail "$name, the command after --, is not among the workloads $named: add its name or omit the list"
    [ -z "$iteration" ] || ask iteration iteration -l 1 --iteration "$iteration" >/dev/null
    [[ $program = *"{"* ]] || [ -n "$(type -P -- "$program")" ] ||
        fail "$program: no such program: give a path, or the name of a program in PATH"
}
