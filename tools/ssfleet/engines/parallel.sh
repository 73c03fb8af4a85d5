# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables of ssfleet
# Sourced by ssfleet: GNU parallel over SSH, one task per node at a time. local.sh describes the interface.

engine_detaches=no
engine_ignores=(partition account shared-nodes)

# ssh_words: sets `ssh` to the words of the command. Its options end a broken connection within a minute, even if the
# server accepts it but never answers.
ssh_words() {
    read -r -a ssh <<<"$ssh_command"
    ssh+=(-o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=3)
}

# quote SCRIPT: prints it as one word for the shell of the user on a node, which may not know $'...', which %q prints.
quote() {
    echo "'${1//\'/\'\\\'\'}'"
}

engine_check() {
    need parallel "${ssh_command%% *}"
    [ -n "$nodes" ] || fail "--engine parallel requires --nodes"
    ssh_words
}

engine_nodes() {
    tr -s ',' '\n' <<<"$nodes" | sed '/^$/d'
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

# Retries a task on another node if the connection fails, but not if a run fails (status 1): the study has its result.
# $PARALLEL_SSHLOGIN is the node's name as in --nodes; $PARALLEL_SSHHOST would lack the user of USER@HOST.
engine_submit() {
    local id=$1
    engine_nodes | sed 's|^|1/|' >"$fleet/jobs/$id.logins"
    child_start "$id" parallel --will-cite --ssh "${ssh[*]}" --sshloginfile "$fleet/jobs/$id.logins" --retries 3 \
        --joblog "$fleet/log/$id.joblog" -a "$fleet/jobs/$id" \
        "bash -c $(quote "$(task_script "\$PARALLEL_SSHLOGIN" "\$1"); status=\$?; [ \$status -eq 1 ] || exit \$status") ssfleet {}"
}

engine_active() {
    child_active
}

engine_cancel() {
    child_cancel
}

engine_on() {
    "${ssh[@]}" "$1" "bash -c $(quote "$2")"
}

engine_each() {
    spread_input start_there "$1"
}

# start_there NODE SCRIPT: becomes ssh, which runs the script.
start_there() {
    exec "${ssh[@]}" "$1" "bash -c $(quote "$2") ssfleet $1"
}
