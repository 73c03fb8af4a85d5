#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: prints the lines of a plan, lets ssbatch carry it out, and reports the study.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

# shellcheck source=others.sh
. "$here/others.sh"

print_plan=''        # --plan
declare -A planned=() # the columns of each run, by its name
places=''            # yes if a run needs a place of env/
explained=()          # lines of the report above its tables
skipped=()            # the lines of what is unavailable here
advice=", --go-on also tries the others"
roles=('')            # of the workloads; '': there is only one
role=''               # one of them

plan_usage() {
    echo "  --plan              print the plan, as ssbatch(1) reads it, start nothing"
}

# ---- lines ----

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

# ---- workloads ----

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
    local text all index
    if is_users "$1"; then
        take_command
        return
    fi
    text=$(ask_workload "$1") || exit 1
    eval "all=($text)"
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
    plan_folders "$2" "$3"
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
    local run=("$1" "$2") method=$3 workload=$4 target=$6
    local columns=("method=$3" "workload=$4" "published=$(published_name "$4")" "round=$5" "tau_seconds=$(! has_tau "$3" || tau_seconds "$tau")"
        "instances=$number" "stands_for=$stands_for" "warmup_seconds=$warmup")
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
