#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: options and workloads.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

export LC_ALL=C # numbers have a point
tool=${0##*/}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# What every experiment can be told; each sets its own defaults.
common_flags="dry-run quick repeat"
common_names="output bin ram instances rounds workloads name iteration memory energy energy-root"

common_usage() {
    cat <<END
  --rounds N          of all runs; default 1
  --instances N       default: as many as CPUs
  --workloads LIST    classes of ssburn; default $workloads
  --memory SIZE       ssburn walks so much memory
  --name NAME         what the command behind -- is called; default: its first word
  --iteration REGEX   a line that ends an iteration of that command, see showstopper(1)
  --repeat            that command is started again when it ends: each end is an iteration
  --energy SOURCE     sample power once a second: auto, rapl, hwmon, battery, or any command that
                      prints watts
  --energy-root DIR   where /sys is looked for; default /
  --output DIR        where all of it is kept; default $output
  --ram DIR           a RAM disk for the data of runs; default /dev/shm; {scratch} in the command and
                      TMPDIR become a new folder there
  --bin DIR           where the programs are; default: the build of this tree, else the PATH
  --dry-run           print the runs and how long they take, start nothing
  --help              print this and end

Without a command behind -- ssburn is run, its work calibrated once. An experiment that was
interrupted is called again in the same way: finished runs are kept, a half-finished one is done again.
What stands in the results is described in $here/README.md.
END
}

fail() {
    echo "$tool: $*" >&2
    exit 1
}

say() {
    echo "$*" >&2
}

# take_options FLAGS NAMES WORD...: sets FLAG to yes, NAME from "--NAME VALUE" or "--NAME=VALUE", with
# _ for -. What stands behind -- becomes `user_command`. `usage` is the caller's.
take_options() {
    local flags=" $1 " names=" $2 " word option value
    shift 2
    user_command=()
    while [ $# -gt 0 ]; do
        word=$1
        shift
        case $word in
        --help) usage && exit ;;
        --)
            [ $# -gt 0 ] || fail "-- wants a command: see --help"
            user_command=("$@")
            return
            ;;
        esac
        option=${word%%=*}
        [[ $option = --* ]] || fail "$word: unknown option: see --help"
        option=${option#--}
        if [[ $flags = *" $option "* && $word != *=* ]]; then
            value=yes
        elif [[ $names != *" $option "* ]]; then
            fail "$word: unknown option: see --help"
        elif [[ $word = *=* ]]; then
            value=${word#*=}
        else
            [ $# -gt 0 ] || fail "$word wants a value: see --help"
            value=$1
            shift
        fi
        printf -v "${option//-/_}" %s "$value"
    done
}

# check_numbers FORM NAME...: `whole` or `seconds`.
check_numbers() {
    local name form='^[0-9]+$'
    [ "$1" = whole ] || form='^[0-9]+(\.[0-9]+)?$'
    for name in "${@:2}"; do
        [[ ${!name} =~ $form ]] || fail "--${name//_/-}: ${!name}: a number is wanted, as 180"
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

# figure FILE NAME: a number that stands in a JSON file under this name, or null.
figure() {
    sed -n 's/^ *"'"$2"'": *\(-\{0,1\}[0-9][-+.0-9e]*\|null\),\{0,1\}$/\1/p' "$1" | head -n 1
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
    : "${instances:=$cpus}"
}

# ---- workloads ----

# Sets what the experiment runs; a command of the user's is its only workload.
check_workloads() {
    local list
    if [ ${#user_command[@]} -gt 0 ]; then
        : "${name:=${user_command[0]##*/}}"
        [[ $name =~ ^[A-Za-z0-9._+-]+$ ]] || fail "--name: $name: letters, digits and ._+- only"
        workloads=$name
        return
    fi
    [ -z "$iteration$repeat$name" ] || fail "--iteration, --repeat and --name want a command behind --"
    IFS=, read -ra list <<<"$workloads"
    check_words workloads "serial blocking parallel forking" "${list[@]}"
}

# work_of CLASS: calibrated once for all runs, so that what is compared is the same.
work_of() {
    local file=$output/work.$1
    if [ ! -s "$file" ]; then
        ssburn "$1" --iterations 0 ${memory:+--memory "$memory"} | sed -n 's/^# work //p' >"$file.new"
        [ -s "$file.new" ] || fail "ssburn $1 cannot be calibrated"
        mv "$file.new" "$file"
    fi
    cat "$file"
}

# choose_workload NAME: sets `words`, the command, and `counting`, how its iterations are told.
choose_workload() {
    local work
    counting=()
    if [ ${#user_command[@]} -gt 0 ] && [ "$1" = "$name" ]; then
        words=("${user_command[@]//\{scratch\}/$scratch/data}")
        [ -z "$iteration" ] || counting+=(--iteration "$iteration")
        [ -z "$repeat" ] || counting+=(--repeat)
        return
    fi
    work=$(work_of "$1")
    words=(ssburn "$1" --work "$work" ${memory:+--memory "$memory"})
    counting=(--iteration 'iteration [0-9]+ ([0-9.]+) ms')
}
