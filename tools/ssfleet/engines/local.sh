# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # scripts for nodes; variables of ssfleet
# Sourced by ssfleet. The interface of an engine:
#
#   engine_detaches           a variable: yes if tasks continue when ssfleet ends
#   engine_ignores            a variable: options without effect
#   engine_check              fails if the engine is not available here, or if nodes cannot be as --nodes says
#   engine_nodes              prints the names of the nodes
#   engine_away               prints "NODE REASON" for each node that can carry out nothing now, if the engine knows
#   engine_tasks_max          prints how many tasks engine_submit accepts at once; 0: any number. If the queue is full,
#                             prints a message instead, and fails
#   engine_submit ID SECONDS  starts the tasks of $fleet/jobs/ID; each line has the runs of one task. SECONDS: the
#                             limit of a task, or empty. Fails if there are too many tasks
#   engine_is_full MESSAGE    succeeds if this message of engine_submit means that it may succeed later
#   engine_active             prints "RUN NODE STATE" for each run of a task that is waiting or running; fails if the
#                             engine does not answer
#   engine_end RUN            ends the task of a run; called only if engine_active has printed the state R
#   engine_cancel             ends all tasks of the study
#   engine_on NODE SCRIPT     runs a bash script on a node, with standard input and output; fails if the node is away
#   engine_each SCRIPT        runs a script on all nodes of node_list at once, with the node's name as $1. Each receives
#                             a copy of standard input; lines of their output are not mixed. Called in a subshell, which
#                             it may replace
#
# This engine divides this machine into nodes by CPUs.

engine_detaches=no
engine_ignores=(partition account shared-nodes ssh)

# Sets `names` and `cpus`, the nodes and their CPUs, which are empty for all CPUs. After NAME=CPUS, a number or a range
# is a further CPU or range of the same node, not a name.
engine_check() {
    local field fields range='^[0-9]+(-[0-9]+(:[0-9]+)?)?$'
    [ -n "$nodes" ] || nodes=$(hostname)
    names=() cpus=()
    IFS=, read -r -a fields <<<"$nodes"
    for field in "${fields[@]}"; do
        [ -n "$field" ] || continue
        if [[ $field != *=* ]]; then
            if [[ $field =~ $range ]] && [ -n "${cpus[*]: -1}" ]; then
                cpus[-1]+=,$field
            else
                names+=("$field") cpus+=('')
            fi
        elif [[ $field == ?*=* && ${field#*=} =~ $range ]]; then
            names+=("${field%%=*}") cpus+=("${field#*=}")
        else
            fail "--nodes: invalid node '$field': use NAME or NAME=CPUS, such as a, a=3 or a=0,2-5"
        fi
    done
    check_cpus
}

# check_cpus: fails if a node has a CPU that this machine lacks. Other commands skip this, because they may be called on
# another machine.
check_cpus() {
    local list
    [[ $action = run || $action = replay ]] || return 0
    for list in "${cpus[@]}"; do
        [ -z "$list" ] || sslab value cpus --program "$tool" --option nodes -- "$list" >/dev/null || exit 125
    done
}

engine_nodes() {
    [ ${#names[@]} -eq 0 ] || printf '%s\n' "${names[@]}"
}

# on_cpus NODE: sets `pin`, the words that pin a command to the node's CPUs.
on_cpus() {
    local i
    pin=()
    for i in "${!names[@]}"; do
        [ "${names[i]}" != "$1" ] || [ -z "${cpus[i]}" ] || pin=(taskset -c "${cpus[i]}")
    done
}

engine_away() {
    :
}

engine_tasks_max() {
    echo 0
}

engine_is_full() {
    false
}

# Each of n nodes takes every n-th task.
engine_submit() {
    local id=$1 node script='' index=0 pin take
    mapfile -t node_list < <(engine_nodes)
    for node in "${node_list[@]}"; do
        on_cpus "$node"
        take=$(printf '(NR - 1) %% %d == %d' "${#node_list[@]}" "$index")
        script+=$(printf '(awk %q %q | while read -r runs; do %s bash -c %q ssfleet "$runs" </dev/null; done) & ' \
            "$take" "$fleet/jobs/$id" "${pin[*]}" "$(task_script "$node" "\$1")")
        index=$((index + 1))
    done
    child_start "$id" bash -c "$script wait"
}

engine_active() {
    child_active
}

engine_cancel() {
    child_cancel
}

engine_on() {
    local pin
    on_cpus "$1"
    as_called "${pin[@]}" bash -c "$2"
}

engine_each() {
    spread_input start_here "$1"
}

# start_here NODE SCRIPT: becomes the script on the node's CPUs.
start_here() {
    local pin
    on_cpus "$1"
    umask "$caller_umask"
    exec "${pin[@]}" bash -c "$2" ssfleet "$1"
}
