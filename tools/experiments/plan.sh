#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: what they have in common. Prints the lines of a plan, lets ssbatch carry it out,
# and reports the study.

# shellcheck source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=energy.sh
. "$here/energy.sh"

# ---- options ----

# Options of all studies; empty if the call does not give them. Each experiment has its own defaults.
experiment='' # its name
shorter=''    # how to make its studies shorter
output='' on='' instances='' workloads='' default_workloads='' catalogue='' list_workloads='' name='' iteration=''
repeat='' memory='' counters='' methods='' taus='' targets='' warmup='' settle='' quick='' dry_run='' go_on='' bin=''
published='' plan='' energy='' energy_root=/ others=10% ram=/dev/shm
usable=() # methods that are available here

# The names of these options, for take_options: those without a value, and those with one.
common_flags="dry-run quick repeat go-on list-workloads counters published"
common_names="output bin ram instances rounds workloads workload catalogue+ name iteration memory energy
 energy-root others"
on_usage() {
    cat <<END
  --on LIST           run on these CPUs and measure their load, as 0-3,8; default: all
  --instances N       default: as many as these CPUs
END
}

common_names=${common_names//$'\n'/}
common_usage() {
    cat <<END
  --rounds N          of all runs; default 1
  --workloads LIST    names of the catalogue; default $default_workloads
  --list-workloads    print the names, and what is missing here for each
  --catalogue FILE    where names are looked up first; may be given several times
  --memory SIZE       of an instance: what ssburn walks through, the heap of a JVM
  --name NAME         what the command after -- is called; default: its first word
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
Without a command after -- ssburn is run, its work calibrated once. An experiment that was
interrupted is called again in the same way: finished runs are kept, a half-finished one is done again.
$here/README.md describes the results.
END
}

published_usage() {
    cat <<END
  --published         as published, instead of the defaults: workloads, methods, loads, times, as many instances as
                      CPUs; README.md has the values
END
}

plan_usage() {
    echo "  --plan              print the plan, as ssbatch(1) reads it, start nothing"
}

# take_study_options FLAGS NAMES WORD...: take_options with the options of all studies.
take_study_options() {
    take_options "$common_flags plan $1" "$common_names $2" "${@:3}"
    print_plan=$plan
}

# ---- as published ----

published_workloads='' # those of the published evaluation
stand_ins=''           # workloads that represent them
pi_control=''          # options of the published control
cdc_dithering=''       # options of the dithering of the published baseline

# take_published [/quick]: sets options that were not given to those of the published evaluation.
take_published() {
    local study option value
    [ -n "$published" ] || return 0
    while read -r study option value; do
        [[ $study = all || $study = "$experiment${1-}" ]] || continue
        [ -n "${!option}" ] || printf -v "$option" %s "$value"
    done <"$here/published/settings.txt"
}

# check_published: refuses options that would make a study another one than the published.
check_published() {
    [ -n "$published" ] || return 0
    [ -z "$instances" ] || fail "--published: as many instances as CPUs: without --instances"
    [ -z "$settle" ] || fail "--published: the settling time is that of the published evaluation: without --settle"
    [ -z "$quick" ] || take_published /quick
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

# ---- programs and the catalogue ----

find_programs() {
    extend_path "$bin"
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

# check_workloads: sets `workloads`, what the experiment runs: the named workloads, or else the command after --, or else the default.
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
    if has_command; then
        : "${name:=${user_command[0]##*/}}"
        [[ $name =~ ^[A-Za-z0-9._+-]+$ ]] || fail "--name: $name: letters, digits and ._+- only"
        : "${workloads:=$name}"
    fi
    has_command || [ -z "$iteration$repeat$name" ] ||
        fail "--iteration, --repeat and --name require a command after --"
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

searched=() # the options of ssbatch that name the files of the catalogue

# find_catalogues: sets `searched` to the files in the order in which they are searched: --catalogue, the
# environment, the user, the shipped one.
find_catalogues() {
    local file files=()
    [ -z "$catalogue" ] || readarray -t files <<<"${catalogue%$'\n'}"
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

declare -A remembered=() # the answers of `remember`, by their keys

# remember KEY FUNCTION WORD...: sets `answer` to what the function prints. It is called only once for this key.
remember() {
    [ -n "${remembered[$1]+known}" ] || remembered[$1]=$("${@:2}") || exit 1
    answer=${remembered[$1]}
}

# print_remembered KEY FUNCTION WORD...: prints what `remember` does.
print_remembered() {
    local answer
    remember "$@"
    [ -z "$answer" ] || printf '%s\n' "$answer"
}

# is_users NAME: whether it is the name of the command after --.
is_users() {
    has_command && [ "$1" = "$name" ]
}

# check_names OPTION NAME...: whether these workloads are known and can run; warns of those that are unfit.
check_names() {
    local word lacks note option=$1
    [ $# -gt 1 ] || fail "--$option requires a value: see --help"
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

# ---- methods, loads and rounds ----

known_methods="nbench nbench-fit cdc 1cdc pi-even pi-uneven geom-even geom-uneven default cpulimit quota"

methods_usage() {
    cat <<END
                      nbench      the target times the number of CPUs, rounded: so many instances,
                                  uncontrolled, as published
                      nbench-fit  as many uncontrolled instances as give the load, by the load of one
                      cdc         a constant duty cycle: control fixed, without feedback
                      1cdc        the same with one instance
                      pi-even pi-uneven geom-even geom-uneven
                                  controls rbpid and geom with both spaces, as published (feedback
                                  realtime, dithering averageq)
                      default     showstopper without options for modules
                      cpulimit    one for each instance
                      quota       a control group with a CPU quota for all instances
END
}

# has_tau METHOD: whether it is run with each of the taus. The other methods have no rounds, or a length of their own.
has_tau() {
    case $1 in
    cdc | 1cdc | pi-* | geom-*) return 0 ;;
    esac
    return 1
}

# why_no_method METHOD: prints why it is unavailable here; fails if it is available.
why_no_method() {
    case $1 in
    cpulimit)
        ! command -v cpulimit >/dev/null || return 1
        echo "cpulimit is not installed"
        ;;
    quota) "$here/env/group" why-not ;;
    *) return 1 ;;
    esac
}

# choose_modules METHOD TAU: sets `measuring`, the feedback, and `modules`, the others. All measure by
# idle time, as the published figures do, so that their errors can be compared.
choose_modules() {
    local dithering=(-d averageq -D "$2") control=(-c rbpid)
    measuring=(-f realtime)
    [ -z "$pi_control" ] || control+=(-C "$pi_control")
    case $1 in
    cdc | 1cdc) modules=(-d averageq -D "$2${cdc_dithering:+,$cdc_dithering}" -c fixed -s even) ;;
    pi-*) modules=("${dithering[@]}" "${control[@]}" -s "${1#pi-}") ;;
    geom-*) modules=("${dithering[@]}" -c geom -s "${1#geom-}") ;;
    default) measuring=(-f exact -F source=idle) modules=() ;;
    *) modules=(-c fixed -C duty=100%) ;;
    esac
}

# whole_instances TARGET: prints this part of the number of CPUs, rounded half up, at least 1.
whole_instances() {
    compute "int($1 * $cpus + 0.5 + 1e-9) > 1 ? int($1 * $cpus + 0.5 + 1e-9) : 1"
}

# count_instances METHOD WORKLOAD TARGET: sets `number` and, for uncontrolled instances, `stands_for`, the load
# that they stand for: for nbench if each uses a CPU, for nbench-fit by the load of one.
count_instances() {
    local one
    number=$instances
    stands_for=
    case $1 in
    1cdc) number=1 ;;
    nbench)
        number=$(whole_instances "$3")
        stands_for=$(compute "$number / $cpus")
        ;;
    nbench-fit)
        measure_one "$2"
        number=$(compute "$one > 0 && $3 / $one > 1 ? int($3 / $one + 0.5) : 1")
        stands_for=$(compute "$number * $one < 1 ? $number * $one : 1")
        ;;
    esac
}

# limit_words TARGET WORKLOAD: puts a limiter before `words`. Both cpulimits in use: one knows parts of a
# percent and -i for children, the other one whole percents and -m for them.
limit_words() {
    local options=(-q) decimals=0 limit
    if [[ $(cpulimit --help 2>&1) = *--include-children* ]]; then
        options=(-i)
        decimals=2
    elif [[ ! $2 =~ ^(serial|blocking|parallel)$ ]]; then
        options+=(-m)
    fi
    limit=$(compute "100 * $1 * $cpus / $number")
    printf -v limit %.*f "$decimals" "$(compute "$limit < 1 ? 1 : $limit")"
    words=(cpulimit "${options[@]}" -l "$limit" -f -- "${words[@]}")
}

# check_methods: sets `usable` to the available ones of `methods`, and plans a `skip` line for each of the others.
check_methods() {
    local list method reason
    IFS=, read -ra list <<<"$methods"
    check_words methods "$known_methods" "${list[@]}"
    usable=()
    for method in "${list[@]}"; do
        if reason=$(why_no_method "$method"); then
            plan_skip "$reason" "method=$method"
        else
            usable+=("$method")
        fi
    done
}

# list_taus METHOD: prints the lengths of a round with which it is run; `own` if the method has none, or its own.
list_taus() {
    if has_tau "$1"; then
        echo "${taus//,/ }"
    else
        echo own
    fi
}

# tau_seconds TAU: of 107m, in seconds; nothing for a method's own.
tau_seconds() {
    [ "$1" = own ] || in_seconds "$1"
}

# read_taus OPTION: writes each of `taus` as showstopper prints it.
read_taus() {
    local tau read all=
    for tau in ${taus//,/ }; do
        read=$(ask 'dithering *averageq *tau=' "$1" -l 1 -d averageq -D "tau=$tau")
        all+=,${read%%,*}
    done
    taus=${all#,}
}

# read_targets: makes percents of `targets`.
read_targets() {
    local target percent all=
    for target in ${targets//,/ }; do
        percent=$(percent_of targets "$target")
        [ "$percent" != 0 ] || fail "--targets: $target: a load above 0 is required"
        all+=,$percent
    done
    targets=${all#,}
}

# ---- lines of a plan ----

print_plan=''         # --plan
declare -A planned=() # the columns of each run, by its name
places=''             # yes if a run needs a place of env/
explained=()          # lines of the report above its tables
skipped=()            # the lines of what is unavailable here
advice=", --go-on also tries the others"
roles=('')            # of the workloads; '': there is only one
role=''               # one of them

# line WORD...: prints a line of a plan.
line() {
    printf '%q ' "$@"
    echo
}

# literal TEXT: prints it with its braces doubled, so that ssbatch replaces nothing in it.
literal() {
    printf '%s\n' "${1//"{"/"{{"}"
}

# plan_run NAME SECONDS KEY=VALUE...: prints the first line of a run, and fails if it is planned already. Columns
# without a value are left out. The / in the name of a workload is a point in that of the run.
plan_run() {
    local run=${1//\//.} words pair
    if [ -n "${planned[$run]-}" ]; then
        [ "${planned[$run]}" = "${*:3}" ] ||
            fail "two different runs would be called $run: give one of their workloads another name"
        return 1
    fi
    planned[$run]=${*:3}
    words=(run "$run" takes "$2s")
    for pair in "${@:3}"; do
        [ -z "${pair#*=}" ] || words+=("$pair")
    done
    line "${words[@]}"
}

# plan_skip REASON KEY=VALUE...: notes what is unavailable here.
plan_skip() {
    local cells=("${@:2}")
    skipped+=("$(line skip "$(IFS=- && echo "${cells[*]#*=}")" "reason=$1" "${@:2}")")
    say "skipped: ${*:2}: $1"
}

# ---- the commands of a workload ----

# memory_option: sets `sizing`, the option of ssbatch for the memory of a workload of `role`.
memory_option() {
    local own=${role:+${role}_memory}
    own=${own:+${!own-}}
    sizing=()
    [ -z "${own:-$memory}" ] || sizing=(--memory "${own:-$memory}")
}

# ask_workload NAME OPTION...: prints what ssbatch says about a workload of `role`.
ask_workload() {
    local sizing
    memory_option
    ask_catalogue ${dry_run:+--even-if-missing} --workload "$1" ${role:+--role "$role"} "${sizing[@]}" "${@:2}"
}

# take_workload NAME: sets `counting`, the options of showstopper that count its iterations, and `words`, its
# command, both with the placeholders of a plan.
take_workload() {
    local answer all index
    if is_users "$1"; then
        take_command
        return
    fi
    remember "command $role $1" ask_workload "$1"
    eval "all=($answer)"
    for ((index = 0; index < ${#all[@]}; index++)); do
        [ "${all[index]}" != -- ] || break
    done
    counting=("${all[@]:0:index}")
    words=("${all[@]:index + 1}")
}

# take_command: does so for the command after --.
take_command() {
    local word sizing
    memory_option
    words=() counting=()
    for word in "${user_command[@]}"; do
        word=$(literal "$word")
        word=${word//"{{scratch}"/"{scratch}/data/${role:-alone}-%"}
        word=${word//"{{side}"/${role:-alone}}
        word=${word//"{{instance}"/%}
        word=${word//"{{memory}"/"${sizing[1]-}"}
        word=${word//"{{name}"/"${name##*/}"}
        words+=("${word//"{{here}"/"${PWD//%/%%}"}")
    done
    [ -z "$iteration" ] || counting+=(--iteration "$(literal "$iteration")")
    [ -z "$repeat" ] || counting+=(--repeat)
}

# counts_iterations NAME: whether the iterations of a workload are counted.
counts_iterations() {
    local counting words
    take_workload "$1"
    [[ " ${counting[*]} " = *" --iteration "* || " ${counting[*]} " = *" --repeat "* ]]
}

# warn_of_counting NAME...: of workloads whose iterations are not counted, so that they have no throughput.
warn_of_counting() {
    local word
    for word; do
        counts_iterations "$word" ||
            say "Warning: $word has no throughput: only --iteration or --repeat counts its iterations"
    done
}

# require_iterations NAME...: fails unless the iterations of at least one workload were counted.
require_iterations() {
    local word
    for word; do
        ! counts_iterations "$word" || return 0
    done
    fail "no run has counted iterations, so there is no throughput: see --iteration and --repeat"
}

# published_name NAME: prints the program whose published figures this workload is compared with, if the catalogue
# names one.
published_name() {
    is_users "$1" || ask_catalogue --workload "$1" --print published
}

# plan_folders NAME NUMBER: prints the lines that make and fill the folders of instances.
plan_folders() {
    local index words=(before -- mkdir -p)
    if ! is_users "$1"; then
        ask_workload "$1" --print setup --instances "$2" || exit 1
        return
    fi
    for ((index = 0; index < $2; index++)); do
        words+=("{scratch}/data/${role:-alone}-$index")
    done
    line "${words[@]}"
}

# plan_study NAME...: prints the lines of the whole study: what all of its runs must agree in, which are these
# variables and the definitions of the workloads in all roles, and values that are found once.
plan_study() {
    local variable workload role text settings='' values='' sum
    for variable; do
        settings+="$variable=${!variable} "
    done
    for workload in ${workloads//,/ }; do
        for role in "${roles[@]}"; do
            take_workload "$workload"
            text=$(printf '%s\n' "${counting[@]}" "${words[@]}" && plan_folders "$workload" 1) || exit 1
            sum=$(cksum <<<"$text") || exit 1
            settings+="$workload${role:+.$role}=${sum%% *} "
            is_users "$workload" || values+=$(ask_workload "$workload" --print once)$'\n' || exit 1
        done
    done
    echo "plan 1"
    line once settings 'match=^(.*)$' -- echo "$(literal "$settings")"
    [ -z "${values//$'\n'/}" ] || sort -u <<<"${values%$'\n'}"
    [ -z "$places" ] || line once place 'match=^([0-9a-f]+)' -- cat /proc/sys/kernel/random/uuid
    line set "experiment=$experiment" ${energy_scope:+"energy=$energy_scope"} ${on:+"cpus=${on//,/ }"}
    [ ${#skipped[@]} -eq 0 ] || printf '%s\n' "${skipped[@]}"
}

# ---- a run ----

# plan_energy: prints the lines that sample power, if there is a source, and idle states, if there are any.
plan_energy() {
    local source=$energy_source of=${service_cpus-}
    : "${of:=$on}"
    [ -z "$energy" ] || ! compgen -G "${energy_root%/}/sys/devices/system/cpu/cpu*/cpuidle/state0/time" >/dev/null ||
        line beside idle 'ready=^open$' -- "$here/idle" --root "$energy_root" ${of:+--cpus "$of"} \
            --output '{out}/idle.csv'
    [ "$source" != command ] || source=$energy
    [ -z "$source" ] || line beside energy 'ready=^open$' -- "$here/energy" "$(literal "$source")" \
        --energy-root "$energy_root" --output '{out}/energy.csv'
}

# plan_commands METHOD WORKLOAD NUMBER TARGET OPTION...: prints the commands of a run: showstopper with these
# options and NUMBER instances, limited as METHOD does. `modules` and `measuring` are those of choose_modules.
plan_commands() {
    local number=$3 words counting said='{out}/output' group='{place}.{run}'
    take_workload "$2"
    [ "${words[0]}" != ssburn ] || said='{scratch}/output' # its iterations are in the record
    print_remembered "folders $2 $3" plan_folders "$2" "$3"
    plan_energy
    case $1 in
    cpulimit) limit_words "$4" "$2" ;;
    quota)
        line beside group 'ready=^open$' -- "$here/env/group" hold "$group" --quota "$(compute "$4 * $cpus")"
        words=("${here//%/%%}/env/group" enter "$group" -- "${words[@]}")
        ;;
    esac
    line main -- showstopper --quiet --fail-fast ${counters:+--counters} --record '{record}' --output "$said" \
        -n "$3" "${pinning[@]}" "${measuring[@]}" "${modules[@]}" "${@:5}" "${counting[@]}" -- "${words[@]}"
    [ "$1" != quota ] || line after -- "$here/env/group" close "$group"
}

# plan_method_run NAME SECONDS METHOD WORKLOAD ROUND TARGET KEY=VALUE... -- OPTION...: prints a run of showstopper
# with these options. `number` and `stands_for` are those of count_instances; `tau` and `warmup` are the caller's, and
# so is `beside`, a function that prints lines of its own, if any.
plan_method_run() {
    local run=("$1" "$2") method=$3 workload=$4 target=$6 answer columns
    remember "published $4" published_name "$4"
    columns=("method=$3" "workload=$4" "published=$answer" "round=$5"
        "tau_seconds=$(! has_tau "$3" || tau_seconds "$tau")" "instances=$number" "stands_for=$stands_for" "warmup_seconds=$warmup")
    shift 6
    while [ "$1" != -- ]; do
        columns+=("$1")
        shift
    done
    plan_run "${run[@]}" "${columns[@]}" || return 0
    choose_modules "$method" "$tau"
    [ -z "${beside-}" ] || "$beside" "$target"
    plan_commands "$method" "$workload" "$number" "$target" --warmup "${warmup}s" "${@:2}"
}

# ---- the load of one instance, which nbench-fit needs to know ----

# measure_one WORKLOAD: sets `one` to this load, which plan_one has measured; -1 if it is unknown.
measure_one() {
    local key value
    one=-1
    case $1 in
    serial) one=$(compute "1 / $cpus") ;;
    parallel) one=1 ;;
    *)
        [ -e "$(study_of_one "$1")/.study/values" ] || return 0
        while read -r key value; do
            [ "$key" != one ] || one=$value
        done <"$(study_of_one "$1")/.study/values"
        ;;
    esac
}

study_of_one() {
    echo "$output/one-load/${1//\//.}"
}

# plan_one WORKLOAD: prints the plan of a study that measures it.
plan_one() {
    local words counting time=10
    [ -z "$quick" ] || time=2
    take_workload "$1"
    echo "plan 1"
    is_users "$1" || ask_workload "$1" --print once
    plan_folders "$1" 1
    line once one 'match=^ *"load_mean": ([0-9][-+.0-9e]*)' -- showstopper --quiet --json - -n 1 "${pinning[@]}" \
        -f realtime -c fixed -C duty=100% -l 100% --warmup 1s --duration "${time}s" "${counting[@]}" -- "${words[@]}"
    line run measured takes "$((time + 1))s"
    line main -- true
}

# list_unknown: prints the workloads whose load is to be measured for nbench-fit.
list_unknown() {
    local one workload
    [[ " ${usable[*]} " = *" nbench-fit "* ]] || return 0
    for workload in ${workloads//,/ }; do
        measure_one "$workload"
        [ "$one" != -1 ] || echo "$workload"
    done
}

# ---- ssbatch and ssreport ----

# batch OPTION...: calls ssbatch, passes signals on to it, and ends by the same signal. Job control lets it notice
# Ctrl-C. If this script is killed, ssbatch ends, too.
batch() {
    local status caught='' pid words=(ssbatch)
    ! setpriv --pdeathsig TERM true 2>/dev/null || words=(setpriv --pdeathsig TERM ssbatch)
    set -m
    "${words[@]}" ${ram:+--ram-folder "$ram"} --others "$others%" ${go_on:+--go-on} "$@" &
    pid=$!
    set +m
    trap 'caught=INT; kill -INT "$pid" 2>/dev/null || true' INT
    trap 'caught=TERM; kill -TERM "$pid" 2>/dev/null || true' TERM HUP
    while :; do
        status=0
        wait "$pid" || status=$?
        kill -0 "$pid" 2>/dev/null || break
    done
    trap - INT TERM HUP
    if [ -n "$caught" ]; then
        say "$tool: interrupted; the same call continues"
        kill "-$caught" "$$"
    fi
    return "$status"
}

# check_output: whether a study can be kept there.
check_output() {
    [ ! -e "$output/manifest.csv" ] ||
        fail "$output holds a study of an earlier version, which ssreport can read; choose another --output"
    [ ! -d "$output" ] || [ -e "$output/.study" ] || [ -z "$(ls -A "$output")" ] ||
        fail "$output is not an experiment folder; choose another --output"
    [ -n "$ram" ] || return 0
    [ -w "$ram" ] || fail "--ram: $ram: no folder to write to"
    ram=$(cd "$ram" && pwd)
}

# has_unfinished: succeeds if a run of the study has failed or was not carried out. Otherwise runs were refused.
has_unfinished() {
    { ssbatch --list --csv "$output" 2>/dev/null || true; } | cut -d, -f 3 | grep -Eqx 'failed|to come'
}

# fail_incomplete: says which runs are missing, and what the same call does: it refuses again what it refused.
fail_incomplete() {
    local others=$advice
    [ -z "$go_on" ] || others=''
    ! has_unfinished || fail "some runs failed, for the reasons above; $output/RUN has what commands printed.$(:
        ) The same call tries them again$others"
    fail "some runs were refused, for the reasons above"
}

# look_at_machine: warns if other processes use the machine.
look_at_machine() {
    local load
    [ "$others" != 100 ] && command -v ssload >/dev/null || return 0
    { read -r load && IFS=, read -r _ _ _ load _; } < <(ssload --quiet --interval 1s --count 1 --format csv)
    [ "$(compute "100 * $load > $others")" = 0 ] ||
        say "Warning: this machine is already $(compute "int(100 * $load + 0.5)") % busy, and the results will show" \
            "it. To wait until it is quiet, press Ctrl-C and call again. --others 100% turns this warning off"
}

# carry_out_plan: carries out the plan that plan_all prints, or prints it for --plan and --dry-run. Exits
# unless there are results; `failures` says whether some runs failed.
carry_out_plan() {
    local plan unknown workload status=0
    command -v ssbatch >/dev/null || fail "ssbatch is not there: build it, or name --bin"
    [[ $output = /* ]] || output=$PWD/$output
    unknown=$(list_unknown)
    if [ -z "$dry_run$print_plan" ]; then
        check_output
        look_at_machine
        for workload in $unknown; do
            plan=$(plan_one "$workload") || exit 1
            mkdir -p "$output/.study" "$output/one-load"
            batch --quiet "$(study_of_one "$workload")" <<<"$plan" ||
                fail "$workload: its load alone cannot be measured"
            measure_one "$workload"
            [ "$(compute "$one > 0")" = 1 ] || fail "$workload: alone it makes no load"
        done
    elif [ -n "$print_plan" ] && [ -n "$unknown" ]; then
        workload=${unknown%%$'\n'*}
        echo "# The number of instances of nbench-fit depends on the load of one. This plan measures it for $workload;"
        echo "# let ssbatch carry it out in $(study_of_one "$workload"), then repeat --plan."
        plan_one "$workload"
        exit
    fi
    [[ " ${usable[*]} " != *" quota "* ]] || places=yes
    plan=$(plan_all) || exit 1
    if [ -n "$print_plan" ]; then
        printf '%s\n' "$plan"
        exit
    fi
    [[ $'\n'$plan = *$'\nrun '* ]] || fail "no run is possible here, for the reasons above"
    if [ -n "$dry_run" ]; then
        ssbatch --dry-run "$output" <<<"$plan" || [ $? -eq 1 ] || exit 1
        exit
    fi
    [ -n "$quick" ] || shorter="--quick, $shorter"
    say "--dry-run lists the runs. Shorter: $shorter"
    batch "$output" <<<"$plan" || status=$?
    case $status in
    0) failures='' ;;
    1)
        failures=yes
        [ -n "$go_on" ] || fail_incomplete
        ;;
    *) fail "the study cannot continue; if $output holds runs made in another way, choose another --output" ;;
    esac
}

# print_table NAME FORMAT: prints a table of the report, or nothing if it has no rows.
print_table() {
    ssreport --table "$1" --format "$2" "$output" 2>/dev/null || [ $? -eq 1 ]
}

# report_study TABLE FILE...: writes the report and these tables, each as its FILE and in report.md, and prints them.
# A TABLE may be SHOWN:KEPT, the one that is printed and the one of the file. `explained` are lines that come first.
report_study() {
    local reported=0 index table
    if command -v ssreport >/dev/null; then
        ssreport --output "$output/report" ${deviation:+--deviation "$deviation%"} "$output" || reported=$?
        [ "$reported" -le 1 ] || fail "ssreport made no report"
        for ((index = 1; index < $#; index += 2)); do
            table=${!index}
            print_table "${table#*:}" csv >"$output/${*:index+1:1}"
        done
        {
            [ ${#explained[@]} -eq 0 ] || printf '%s\n' "${explained[@]}" ''
            for ((index = 1; index < $#; index += 2)); do
                [ "$index" -eq 1 ] || echo
                table=${!index}
                print_table "${table%:*}" md
            done
            if [ -n "$published" ]; then
                printf '\n%s\n\n' "What was published, and how many of its values are in tables of this study:"
                print_table published md
            fi
            if [ -n "$energy" ]; then
                printf '\n%s\n\n' "Energy, ${energy_scope:-without a source of power}; relative to the first run of$(:
                    ) the same program:"
                print_table energy md
            fi
        } | tee "$output/report.md"
    else
        say "There is no table, because ssreport is not installed"
    fi
    say "Results: $output"
    [ -z "$failures" ] || fail_incomplete
}
