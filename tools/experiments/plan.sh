#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the experiments: prints the lines of a plan, calls ssbatch to carry it out, and reports the study.

# shellcheck source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# A call that is refused ends with 125, like those of the programs, and a study without results with 1.
begun='' # yes once a study is known to be possible
trap '[ $? -ne 1 ] || [ -n "$begun" ] || exit 125' EXIT

# Options of all studies; empty if not given. Each experiment has its own defaults.
experiment=''       # name of the experiment
shorter=''          # how to make its studies shorter
needs_iterations='' # yes if its results are throughputs
output='' on='' instances='' rounds='' workloads='' default_workloads='' catalogue='' list_workloads='' name=''
iteration='' repeat='' memory='' counters='' methods='' taus='' warmup='' quick='' dry_run='' go_on='' bin=''
published='' plan='' energy='' energy_root=/ energy_scope='' others=10% quiet_below='' retries='' own='' ram=/dev/shm
usable=() # methods that are available here

# Set by single experiments; here, so that they are not variables of the caller.
beside=''                # further lines of a run, see plan_method
background='' pairs=''   # workloads beside --workloads, see check_command
service_cpus=''          # CPUs that plan_energy samples; empty: those of --on
idle_states=''           # yes to record idle states even without --energy
deviation=''             # --deviation of ssreport

# These options for take_options: flags, and options with a value.
study_names="output bin ram others quiet-below retries" # of all studies
common_flags="dry-run quick repeat go-on list-workloads counters published"
common_names="$study_names instances rounds workloads workload catalogue+ name iteration memory energy energy-root"
on_usage() {
    cat <<END
  --on LIST           run on these CPUs and measure their load, such as 0-3,8; default: all
  --own               the load is that of the instances alone (-f own), whatever else runs
  --instances N       number of instances; default: the number of these CPUs
END
}

common_usage() {
    cat <<END
  --rounds N          repetitions of all runs; default $rounds
  --workloads LIST    workloads of the catalogue; default $default_workloads
  --list-workloads    print the names, and what each lacks on this machine
  --catalogue FILE    a catalogue that is searched first; may be given several times
  --memory SIZE       memory of an instance: the working set of ssburn, or the heap of a JVM
  --name NAME         name of the command after --; default: its first word
  --iteration REGEX   matches a line that ends an iteration of the command after --, see showstopper(1)
  --repeat            with --iteration: start the command again when it ends. Without --iteration, it is always
                      started again, and each end is an iteration
  --energy SOURCE     sample power once a second: auto, rapl, hwmon, battery, or any command that
                      prints watts
  --energy-root DIR   look for /sys below this folder; default /
  --counters          record counters of CPUs and kernel for the instances once a second: instructions, cache
                      misses and so on, see showstopper(1)
  -o, --output DIR    folder for all results; default $output
  --ram DIR           folder on a RAM disk, for temporary data of runs; default /dev/shm. TMPDIR is a new folder in
                      it, and {scratch} in the command a folder in TMPDIR for each instance
  --go-on             continue after a run that failed; without it, a run that fails ends the study
  --others LOAD       warn if other processes use more of the machine, before the study or during a run;
                      default $others
$(quiet_usage)
  --bin DIR           folder of the programs; default: the build of this tree, otherwise PATH
  --dry-run           print the runs and their durations, and start nothing
  -h, --help          print this help
  --version           print the version

A TIME is written as for showstopper: 20s, 107m (milliseconds), 3M (minutes); without a unit it is in
seconds, but the length of a round needs one. A LOAD is 25%, 0.25 or 1/4; a bare number from 2 to 100 is
in percent. Without a command after --, ssburn runs; its work is calibrated once. To continue an interrupted
experiment, repeat the same call: finished runs are kept, and an unfinished one is repeated.
$here/README.md describes the results.
END
}

published_usage() {
    cat <<END
  --published         use the workloads, methods, loads and times of the published evaluation, and one instance per
                      CPU; README.md has the values
END
}

quiet_usage() {
    cat <<END
  --quiet-below LOAD  before each run, wait until other processes use at most this much of the machine; a run in
                      which they use more than --others is tried again, up to --retries times
  --retries N         try a run that fails again, up to N times, or with --quiet-below one that was
                      disturbed, at least once; default 0
END
}

plan_usage() {
    echo "  --plan              print the plan for ssbatch(1), and start nothing"
}

# take_study_options FLAGS NAMES WORD...: parses options like take_options, including those of all studies.
take_study_options() {
    take_options "$common_flags plan $1" "$common_names $2" "${@:3}"
    print_plan=$plan
}

published_workloads='' # workloads of the published evaluation
stand_ins=''           # workloads that represent the published ones
# shellcheck disable=SC2034 # published options of modules, which check_workloads reads by name
realtime_feedback='' geom_control='' pi_control='' cdc_dithering=''

# take_presets NAME=VALUE...: sets the options that --published implies and, with --quick, these ones, unless given.
take_presets() {
    if [ -n "$published" ]; then
        [ -z "${is_given[instances]-}" ] || fail "--published sets the number of instances: leave out --instances"
        take_published "$experiment"
    fi
    if [ -n "$quick" ]; then
        preset "$@"
        [ -z "$published" ] || take_published "$experiment/quick"
    fi
}

# take_published STUDY: sets options to their values in the published evaluation.
take_published() {
    local study option value
    while read -r study option value; do
        [[ $study != all && $study != "$1" ]] || preset "$option=$value"
    done <"$here/published/settings.txt"
}

# find_programs: finds the programs, checks the options for ssbatch, and resolves the CPUs of --on.
find_programs() {
    local program
    extend_path "$bin"
    for program in showstopper ssbatch; do
        command -v "$program" >/dev/null || fail "$program not found: build it, or use --bin"
    done
    [ -z "$others" ] || check load others
    [ -z "$quiet_below" ] || check load quiet_below
    [ -z "$retries" ] || check whole retries
    cpus=$(count_cpus)
    pinning=()
    if [ -n "$on" ]; then
        cpus=$(value_of cpus on "$on") || exit 1
        pinning=(--cpus "$on")
    fi
    : "${instances:=$cpus}"
}

known=()                # options of ssbatch for workloads outside the catalogue
method_options=()       # options of ssbatch for methods
declare -A memory_of=() # memory of the sides of a run, by role

# ask OPTION...: calls ssbatch with these options, the known workloads, and the memory of the side `role`.
ask() {
    local own=${memory_of[${role:-only}]:-$memory}
    ssbatch --program "$tool" "${known[@]}" ${dry_run:+--even-if-missing} ${role:+--role "$role"} \
        ${own:+--memory "$own"} "$@"
}

# check_workloads: sets `workloads` to the first of these that is given: --workloads, the command after --, the
# published workloads, or the default ones.
check_workloads() {
    local file option files=()
    [ -z "$catalogue" ] || readarray -t files <<<"${catalogue%$'\n'}"
    for file in "${files[@]}"; do
        known+=(--catalogue "$file")
    done
    if [ -n "$list_workloads" ]; then
        ask --list-workloads
        exit
    fi
    define_command
    [ -n "$workloads" ] || [ -z "$published_workloads" ] ||
        workloads=$(ask --represent "$published_workloads" --stand-ins "$stand_ins" | paste -sd ,) || exit 1
    : "${workloads:=$default_workloads}"
    check_command
    check_names workloads "$workloads"
    method_options=(${counters:+--counters} ${own:+--feedback "-f own"})
    for option in realtime_feedback geom_control pi_control cdc_dithering; do
        [ -z "${!option}" ] || method_options+=("--${option//_/-}" "${!option}")
    done
}

# define_command: defines a workload for the command after --.
define_command() {
    if ! has_command; then
        [ -z "$iteration$repeat$name" ] || fail "--iteration, --repeat and --name require a command after --"
        return
    fi
    : "${name:=${user_command[0]##*/}}"
    [[ $name =~ ^[A-Za-z0-9._+-]+$ ]] || fail "--name: $name: use only letters, digits and ._+-"
    : "${workloads:=$name}"
    known+=(--define "$name" --command "$(printf '%q ' "${user_command[@]}")"
        ${iteration:+--iteration "$iteration"} ${repeat:+--repeat})
}

# check_command: fails unless the command after -- exists, and is one of the workloads.
check_command() {
    local program=${user_command[0]-} named=$workloads${background:+,$background}
    [ -n "$program" ] || return 0
    [[ $pairs != *:* ]] || named=${pairs//:/,}
    [[ ,$named, = *,"$name",* ]] ||
        fail "$name, the command after --, is not among the workloads $named: add its name or omit the list"
    [[ $program = *"{"* ]] || [ -n "$(type -P -- "$program")" ] ||
        fail "$program: no such program: use a path, or the name of a program in PATH"
}

# check_names OPTION LIST: fails unless these workloads are known and can run. Warns of workloads that are unfit, or
# that need more warm-up than the study has. If the experiment `needs_iterations`, also warns of workloads whose
# iterations are not counted, or are only counted when they end.
check_names() {
    ask --option "$1" --check-workloads "$2" --warmup "$warmup" ${needs_iterations:+--counted} >/dev/null || exit 1
}

# require_throughput TABLE COLUMN: fails if the column, a throughput, is empty in the report of the study.
require_throughput() {
    ! command -v ssreport >/dev/null || print_csv "$1" | take_column "$2" >/dev/null ||
        fail "no iteration of any run could be timed, so there is no throughput: give the runs more time, or see --iteration"
}

# check_url OPTION URL: fails unless requests to the service succeed.
check_url() {
    ssrequest --rate 10 --duration 0.1s "$2" >/dev/null 2>&1 ||
        fail "--$1: $2: requests fail; to see why, call: ssrequest --rate 10 --duration 0.1s $2"
}

declare -A remembered=() # output of functions, by the keys of print_once

# print_once KEY FUNCTION WORD...: prints the output of the function, which is called only once for each key.
print_once() {
    [ -n "${remembered[$1]+known}" ] || remembered[$1]=$("${@:2}") || exit 1
    [ -z "${remembered[$1]}" ] || printf '%s\n' "${remembered[$1]}"
}

known_methods="nbench nbench-fit cdc 1cdc 1cdc-4s pi-even pi-uneven geom-even geom-uneven default cpulimit quota"

methods_usage() {
    cat <<END
                      nbench      uncontrolled instances, as published: the target times the number of
                                  CPUs, rounded
                      nbench-fit  the number of uncontrolled instances whose load is nearest to the
                                  target, computed from the load of one instance
                      cdc         a constant duty cycle: control fixed, without feedback
                      1cdc        cdc with one instance
                      1cdc-4s     the same with rounds of 4 s, as in the published example
                      pi-even pi-uneven geom-even geom-uneven
                                  controls rbpid and geom with both spaces, as published (feedback
                                  realtime, dithering averageq)
                      default     showstopper with its default modules
                      cpulimit    a cpulimit for each instance
                      quota       a control group with a CPU quota for all instances
END
}

# list_taus METHOD: prints the lengths of a round to measure with the method; `own` if it has no rounds or a fixed
# length.
list_taus() {
    case $1 in
    independent | cdc | 1cdc | pi-* | geom-*) echo "${taus//,/ }" ;;
    *) echo own ;;
    esac
}

# tau_suffix: prints the part of a run's name for its `tau`, if there are several `taus`.
tau_suffix() {
    [[ $taus != *,* ]] || [ "${tau:?}" = own ] || echo "-$tau"
}

# why_no_method METHOD: prints why it is unavailable; fails if it is available.
why_no_method() {
    case $1 in
    cpulimit) [ -z "$(type -P cpulimit)" ] && echo "cpulimit is not installed" ;;
    quota) "$here/env/group" why-not ;;
    *) return 1 ;;
    esac
}

# check_methods: sets `usable` to the available `methods`, and plans a `skip` line for each of the others.
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

print_plan=''         # value of --plan
declare -A planned=() # first line of each run, by its name
places=''             # yes if a run needs a place of env/
explained=()          # lines of the report above its tables
answers=''            # table whose column `answer` replaces these lines and the summary of ssreport
skipped=()            # `skip` lines of the plan
advice="; --go-on also tries the runs that were not started"
shuffle=''            # seed of the order of runs within a round; empty: as planned
roles=('')            # roles of the workloads; '' if there is only one
role=''               # current role, see ask

# line WORD...: prints a line of a plan, quoted as necessary.
line() {
    printf '%q ' "$@"
    echo
}

# literal TEXT: prints the text with its braces doubled, so that ssbatch finds no placeholders in it.
literal() {
    printf '%s\n' "${1//"{"/"{{"}"
}

# plan_file FILE COMMAND...: prints the line that writes the output of a command to a file, which may be in a folder of
# another user.
plan_file() {
    # shellcheck disable=SC2016 # for bash
    line before -- bash -c '. "$0" && write_whole "$@"' "$(literal "$here/../folders.sh")" "$@"
}

# is_new LINE: records the first line of a run. Fails if the run is already planned with this line; exits if it is
# planned with another one.
is_new() {
    local words
    read -ra words <<<"$1"
    if [ -n "${planned[${words[1]}]-}" ]; then
        [ "${planned[${words[1]}]}" = "$1" ] ||
            fail "two different runs would be called ${words[1]}: give one of their workloads another name"
        return 1
    fi
    planned[${words[1]}]=$1
}

# plan_run NAME SECONDS KEY=VALUE...: prints the first line of a run, without columns whose value is empty. Fails if the
# run is already planned. Replaces / in the name, which names of workloads may contain, by a dot.
plan_run() {
    local words=(run "${1//\//.}" takes "$2s") pair
    for pair in "${@:3}"; do
        [ -z "${pair#*=}" ] || words+=("$pair")
    done
    words=("$(line "${words[@]}")")
    is_new "${words[0]}" || return 1
    echo "${words[0]}"
}

# plain_name TEXT: prints the text with a colon and two hexadecimal digits for each character that the name of a run
# cannot have.
plain_name() {
    local char index name=''
    for ((index = 0; index < ${#1}; index++)); do
        char=${1:index:1}
        [[ $char = [A-Za-z0-9._+=@:-] ]] || printf -v char ':%02x' "'$char"
        name+=$char
    done
    echo "$name"
}

# plan_skip REASON KEY=VALUE...: plans a `skip` line for something that is unavailable here, unless it is planned.
plan_skip() {
    local cells=("${@:2}") words
    words=$(line skip "$(plain_name "$(IFS=- && echo "${cells[*]#*=}")")" "reason=$1" "${@:2}")
    is_new "$words" || return 0
    skipped+=("$words")
    say "skipped: ${*:2}: $1"
}

# plan_folders WORKLOAD NUMBER: prints the lines that create and fill the folders of instances.
plan_folders() {
    ask --workload "$1" --print setup --instances "$2"
}

# plan_settings NAME VARIABLE...: prints a line with these variables. ssbatch refuses a later call in which this line
# differs, but not one that adds lines.
plan_settings() {
    local variable settings=''
    for variable in "${@:2}"; do
        settings+="$variable=${!variable} "
    done
    line once "$1" 'match=^(.*)$' -- echo "$(literal "$settings")"
}

# plan_checksum KIND NAME: prints such a line with the checksum of standard input, for one of several things of this
# kind, so that later calls may add others.
plan_checksum() {
    local key sum
    sum=$(cksum)
    key=$(cksum <<<"$2") # names may have any characters and any length
    line once "$1-${key%% *}" 'match=^(.*)$' -- echo "$(literal "$2 ${sum%% *}")"
}

# plan_study NAME...: prints the lines of the whole study: values that are found once, and what must not change while
# the study continues: these variables, and the definitions of the workloads in all roles.
plan_study() {
    local workload role once definition values=''
    for workload in ${workloads//,/ }; do
        for role in "${roles[@]}"; do
            definition=$(ask --workload "$workload" --print definition) || exit 1
            values+=$(plan_checksum definition "$workload${role:+.$role}" <<<"$definition")$'\n'
            once=$(ask --workload "$workload" --print once) || exit 1
            values+=${once:+$once$'\n'}
        done
    done
    echo "plan 1"
    [ $# -eq 0 ] || plan_settings settings "$@"
    [ -z "$values" ] || sort -u <<<"${values%$'\n'}"
    [ -z "$places" ] || line once place 'match=^([0-9a-f]+)' -- cat /proc/sys/kernel/random/uuid
    line set "experiment=$experiment" ${energy_scope:+"energy=$energy_scope"} ${on:+"cpus=${on//,/ }"}
    [ ${#skipped[@]} -eq 0 ] || printf '%s\n' "${skipped[@]}"
}

# find_energy: sets `energy_scope` to the scope of the source of --energy; empty if there is no source.
find_energy() {
    local sampler
    [ -n "$energy" ] || return 0
    sampler=$(find_sampler) || exit 1
    if energy_scope=$("$sampler" energy "$energy" --root "$energy_root" --scope 2>/dev/null); then
        say "Power: $energy_scope"
    else
        say "Power: there is no source ($energy): no energy is recorded"
    fi
}

# plan_energy: prints the lines that sample power, if there is a source, and idle states, if there are any and --energy
# or `idle_states` is set.
plan_energy() {
    local source=${energy_scope%%:*} of=$service_cpus
    : "${of:=$on}"
    [ -z "$energy$idle_states" ] || ! compgen -G "${energy_root%/}/sys/devices/system/cpu/cpu*/cpuidle/state0/time" >/dev/null ||
        line beside idle 'ready=^open$' -- "$here/idle" --root "$energy_root" ${of:+--cpus "$of"} \
            --output '{out}/idle.csv'
    [ "$source" != command ] || source=$energy
    [ -z "$source" ] || line beside energy 'ready=^open$' -- "$here/energy" "$(literal "$source")" \
        --root "$energy_root" --output '{out}/energy.csv'
}

# plan_method NAME SECONDS METHOD WORKLOAD ROUND PERCENT KEY=VALUE... -- OPTION...: prints a run in which the method
# holds this load of the workload. OPTIONs are passed to showstopper. In NAME, KEY=VALUE and OPTION, ssbatch replaces
# {instances}, {stands_for} and {target}. The caller sets `tau`, and may set `beside` to further lines of the run.
plan_method() {
    local run one=''
    if [ "$3" = nbench-fit ]; then
        [ -n "${studies_of_one[$4]-}" ] || studies_of_one[$4]=$(study_of_one "$4") || exit 1
        one=${studies_of_one[$4]}
        # A dry run measures nothing, and does not show the number of instances.
        [ -z "$dry_run" ] || [ -e "$one/.study/values" ] || one=100%
    fi
    run=$(ask --workload "$4" --method "$3" --run "$1" --takes "$2s" --round "$5" --target "$6%" ${tau:+--tau "$tau"} \
        --instances "$instances" --machine-cpus "$cpus" ${one:+--one "$one"} "${pinning[@]}" \
        "${method_options[@]}" --tools "$here" --lines "$beside$(plan_energy)" "${@:7}") || exit 1
    ! is_new "${run%%$'\n'*}" || echo "$run"
}

declare -A studies_of_one=() # output of study_of_one, by workload

# study_of_one WORKLOAD: prints the folder of the study that measures the load of one instance, for nbench-fit. A
# checksum of its plan is in the name: the load of a command that has changed since is unknown.
study_of_one() {
    local sum
    sum=$(plan_one "$1" | cksum) || exit 1
    echo "$output/one-load/${1//\//.}-${sum%% *}"
}

# plan_one WORKLOAD: prints the plan of the study that measures the load of one instance.
plan_one() {
    local time=10
    [ -z "$quick" ] || time=2
    echo "plan 1"
    ask --workload "$1" --print once
    plan_folders "$1" 1
    echo "$(line once one 'match=^ *"load_mean": ([0-9][-+.0-9e]*)' -- showstopper --quiet --json - -n 1 "${pinning[@]}" \
        -f realtime -c fixed -C duty=100% -l 100% --warmup 1s --duration "${time}s")$(ask --workload "$1")"
    line run measured takes "$((time + 1))s"
    line main -- true
}

# list_unknown: prints the workloads whose load with one instance nbench-fit needs, and no study has measured.
list_unknown() {
    local workload study
    [[ " ${usable[*]} " = *" nbench-fit "* ]] || return 0
    for workload in ${workloads//,/ }; do
        [[ $workload != serial && $workload != parallel ]] || continue
        study=$(study_of_one "$workload") || exit 1
        [ -e "$study/.study/values" ] || echo "$workload"
    done
}

# batch OPTION...: calls ssbatch in the locale of the caller. Passes signals on to it, and then ends by the same signal.
# Job control puts ssbatch into a process group of its own, so that Ctrl-C reaches this shell only. If this script is
# killed, ssbatch ends, too. Ctrl-Z would stop only this shell, while runs continue, so it has no effect.
batch() {
    local status caught='' pid words=(env "${caller_locale[@]}" ssbatch)
    ! setpriv --pdeathsig TERM true 2>/dev/null || words=(setpriv --pdeathsig TERM "${words[@]}")
    set -m
    "${words[@]}" ${ram:+--ram-folder "$ram"} --others "$others%" ${go_on:+--go-on} \
        ${shuffle:+--shuffle "$shuffle"} ${quiet_below:+--quiet-below "$quiet_below%"} ${retries:+--retries "$retries"} \
        "$@" &
    pid=$!
    set +m
    trap 'caught=INT; kill -INT "$pid" 2>/dev/null || true' INT
    trap 'caught=TERM; kill -TERM "$pid" 2>/dev/null || true' TERM
    trap 'caught=HUP; kill -HUP "$pid" 2>/dev/null || true' HUP
    trap 'say "$tool: runs cannot be paused; Ctrl-C ends them, and the same call continues"' TSTP
    while :; do
        status=0
        wait "$pid" || status=$?
        kill -0 "$pid" 2>/dev/null || break
    done
    trap - INT TERM HUP TSTP
    if [ -n "$caught" ]; then
        say "$tool: interrupted; the same call continues"
        kill "-$caught" "$$"
    fi
    [ "$status" -le 128 ] ||
        fail "ssbatch was ended by the signal $(kill -l "$status"), not by this script; the same call continues"
    return "$status"
}

# check_output: fails unless a study can be kept in `output`.
check_output() {
    [ ! -e "$output/manifest.csv" ] ||
        fail "$output holds a study of an earlier version, which ssreport can read; choose another --output"
    [ ! -d "$output" ] || [ -e "$output/.study" ] || [ -z "$(ls -A "$output")" ] ||
        fail "$output is not an experiment folder; choose another --output"
    [ -n "$ram" ] || return 0
    [ -w "$ram" ] || fail "--ram: $ram: not a writable folder"
    ram=$(cd "$ram" && pwd)
}

# fail_incomplete: fails because runs are missing. The message says whether they failed, and whether to repeat the call.
fail_incomplete() {
    local others=$advice
    [ -z "$go_on" ] || others=''
    ssbatch --list "$output" >/dev/null 2>&1 ||
        fail "some runs failed, for the reasons above; the output of their commands is in $output/RUN." \
            "Repeat the call to try them again$others"
    fail "some runs were refused or not carried out, for the reasons above"
}

# look_at_machine: warns if other processes use much of the machine.
look_at_machine() {
    local load
    [ "$others" != 100 ] && [ -z "$quiet_below" ] && command -v ssload >/dev/null || return 0
    { read -r load && IFS=, read -r _ _ _ load _; } < <(ssload --quiet --interval 1s --count 1 --format csv)
    [ "$(compute "100 * $load > $others")" = 0 ] ||
        say "Warning: this machine is already $(compute "int(100 * $load + 0.5)") % busy, and the results will show" \
            "it. --quiet-below $others% waits until it is quiet; --others 100% turns this warning off"
}

# carry_out_plan: carries out the plan that plan_all prints, or prints it for --plan and --dry-run. Exits unless there
# are results. Sets `failures` to yes if some runs failed.
carry_out_plan() {
    local plan unknown workload reason status=0
    [[ $output = /* ]] || output=$PWD/$output
    unknown=$(list_unknown)
    if [ -z "$dry_run$print_plan" ]; then
        check_output
        look_at_machine
        for workload in $unknown; do
            plan=$(plan_one "$workload") || exit 1
            reason=$(make_path "$output/.study" && make_path "$output/one-load") ||
                fail "--output: $output: cannot create folders in it: ${reason#"$output": }"
            begun=yes
            batch --quiet "$(study_of_one "$workload")" <<<"$plan" ||
                fail "$workload: its load alone cannot be measured"
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
        [ -z "$shuffle" ] || echo "# ssbatch --shuffle $shuffle puts the runs of each round in random order, as $tool does."
        printf '%s\n' "$plan"
        exit
    fi
    begun=yes
    [[ $'\n'$plan = *$'\nrun '* ]] || fail "no run is possible here, for the reasons above"
    if [ -n "$dry_run" ]; then
        ssbatch --dry-run "$output" <<<"$plan" || [ $? -eq 1 ] || exit 125
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
    *)
        begun=''
        fail "the study cannot continue; if $output has runs with other settings, choose another --output"
        ;;
    esac
}

# print_table NAME: prints a table of the report as Markdown, or as it is in the report: print_csv. Both print nothing if
# the table has no rows. Warnings are in the report; errors are printed.
print_table() {
    local errors status=0
    [ -e "$output/report/$1.csv" ] || return 0
    { errors=$(ssreport --table "$1" --format md ${deviation:+--deviation "$deviation%"} "$output" 2>&1 >&3) || status=$?; } 3>&1
    [ "$status" -gt 1 ] || return 0
    say "$errors"
    return "$status"
}

print_csv() {
    [ ! -e "$output/report/$1.csv" ] || print_file "$output/report/$1.csv"
}

# take_column NAME: prints the known values of a column of the table on standard input. Fails if all are unknown.
take_column() {
    awk -v name="$1" '
        {
            count = 0
            for (rest = $0 ","; match(rest, /^("([^"]|"")*"|[^",]*),/); rest = substr(rest, RLENGTH + 1))
                cells[++count] = substr(rest, 1, RLENGTH - 1)
        }
        NR == 1 { for (column = 1; column < count && cells[column] != name;) column++ }
        NR > 1 && cells[column] != "" {
            value = cells[column]
            if (sub(/^"/, "", value)) {
                sub(/"$/, "", value)
                gsub(/""/, "\"", value)
            }
            print value
            found = 1
        }
        END { exit !found }'
}

fail_unwritten() {
    fail "$output/$1 cannot be written, for the reason above; the same call tries again"
}

# write_result FILE WORD...: writes the output of a command to a file of the study.
write_result() {
    write_whole "$output/$1" "${@:2}" || fail_unwritten "$1"
}

# print_report TABLE FILE...: prints the lines of `explained`, then the tables.
print_report() {
    local index
    [ ${#explained[@]} -eq 0 ] || printf '%s\n' "${explained[@]}" ''
    for ((index = 1; index < $#; index += 2)); do
        [ "$index" -eq 1 ] || echo
        print_table "${!index}" || return
    done
}

# report_study TABLE FILE...: writes the report and these tables, each as its FILE and in report.md, and prints them.
# The lines of `explained` come first.
report_study() {
    local reported=0 index text
    if command -v ssreport >/dev/null; then
        ssreport --output "$output/report" ${answers:+--quiet} ${deviation:+--deviation "$deviation%"} "$output" || reported=$?
        [ "$reported" -le 1 ] || fail "ssreport wrote no report"
        for ((index = 1; index < $#; index += 2)); do
            write_result "${*:index+1:1}" print_csv "${!index}"
        done
        [ -z "$answers" ] || readarray -t explained < <(print_csv "$answers" | take_column answer)
        text=$(print_report "$@") || fail_unwritten report.md
        printf '%s\n' "$text"
        write_result report.md printf '%s\n' "$text"
    else
        say "No tables are written, because ssreport is not installed"
    fi
    say "Results: $output"
    [ -z "$failures" ] || fail_incomplete
}
