# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016,SC2154 # scripts for nodes; variables of ssfleet
# Sourced by ssfleet: the commands run, status, collect and cancel. The study's folder alone, not the engine, determines
# which runs are done: a lost task is submitted again, and a task that starts twice finds its runs locked or done.

COLLECT_SECONDS=5 # minimum time between two visits to nodes whose tasks are one process
GHOST_SECONDS=60 # a task that the engine reports as running must carry out something within this time

# job_ids: prints the IDs of submissions that may have unfinished tasks.
job_ids() {
    local file
    for file in "$fleet"/jobs/*; do
        case $file in
        *.pid | *.logins | *'/*') ;;
        *) echo "${file##*/}" ;;
        esac
    done
}

how_to_repeat="to carry out a run again, remove its folder from STUDY and, with --scratch, from the nodes"

# check_task_options ARG...: fails if ssbatch may not get one of these options from the user.
check_task_options() {
    local word
    for word; do
        word=${word%%=*}
        case $word in
        --redo) fail "--redo is not allowed after --: $how_to_repeat" ;;
        --only) fail "--only is not allowed after --: all runs of STUDY are carried out: remove it" ;;
        --list | --add | --clean | --dry-run)
            fail "$word is not allowed after --: ssbatch would carry out no run: remove it, or call ssbatch yourself"
            ;;
        esac
    done
}

# part_of NODE: prints the folder in --scratch for the node's part of the study.
part_of() {
    echo "${study_id:+$study_id/}$1"
}

# task_script NODE RUNS: prints a script that carries out runs on a node. The shell that runs the script expands both
# words, so they may be variables.
task_script() {
    local options
    options=$(printf '%q ' --quiet --go-on "${command[@]}")
    printf 'cd %q || exit\n%s\n%s\n' "$PWD" "$set_path" "$set_locale"
    printf 'export SSFLEET_NODE="%s"\n' "$1" # node_of reads it
    if [ -n "$scratch" ]; then
        open_scratch make
        printf 'part=%s\n' "$(part_of "$1")"
        printf '(cd "$held" && ssbatch --add "./$part" "./$part.plan") || exit\n'
        printf 'ssbatch %s --only "%s" "$scratch/$part"' "$options" "$2"
    else
        printf 'ssbatch %s --only "%s" %q' "$options" "$2" "$study"
    fi
}

# plain_rows: prints the rows of the table of ssbatch on standard input without quoted fields, which may contain commas
# and line breaks, and are not needed.
plain_rows() {
    sed -e 1d -e ':more' -e 's/"[^"]*"//g' -e '/"/{' -e 'N; b more' -e '}'
}

run_names=()

# list_runs: reads the study. Sets `run_names`, and by name `run_status`, `run_reason`, `run_begin`, `run_takes` and
# `run_limit`.
list_runs() {
    local table name status reason begin takes limit
    run_names=()
    declare -gA run_status=() run_reason=() run_begin=() run_takes=() run_limit=()
    table=$(ssbatch --list --csv "$study") || [ $? -eq 1 ] || exit 125 # 1: some runs failed
    while IFS=, read -r name _ status reason begin _ _ _ _ takes _ _ limit _; do
        [ -z "${run_status[$name]-}" ] || continue
        run_names+=("$name")
        run_status[$name]=$status
        run_reason[$name]=$reason
        run_begin[$name]=$begin
        run_takes[$name]=$takes
        run_limit[$name]=$limit
    done < <(plain_rows <<<"$table")
}

# find_active: sets `run_where` by name to "NODE STATE", for runs of waiting or running tasks. Fails if the engine does
# not answer.
find_active() {
    local list name node state
    declare -gA run_where=()
    list=$(engine_active) || return
    while read -r name node state; do
        [ -z "$name" ] || run_where[$name]="$node $state"
    done <<<"$list"
}

# pack_runs NAME...: groups runs into tasks of at least --pack, but none longer than the share of one node in all runs.
# Prints the runs of each task, and the sum of their limits in seconds (-: unlimited). Their names are one argument of
# ssbatch, which may have 128 KiB. GNU parallel refuses commands above about 62 KiB.
pack_runs() {
    local least name count
    least=$(seconds "$pack")
    count=$(engine_nodes | wc -l)
    for name; do
        echo "$name ${run_takes[$name]} ${run_limit[$name]:--}"
    done | awk -v least="$least" -v nodes="$((count > 0 ? count : 1))" '
        function flush() { if (runs != "") print runs, (open ? "-" : limit); runs = ""; sum = limit = open = 0 }
        { name[NR] = $1; takes[NR] = $2; limits[NR] = $3; all += $2 }
        END {
            for (i = 1; i <= NR; i++) {
                if (sum + takes[i] > all / nodes * 1.000001) flush()
                runs = runs (runs == "" ? "" : ",") name[i]; sum += takes[i]; limit += limits[i]; open += limits[i] == "-"
                if (sum >= least || length(runs) > 30000) flush()
            }
            flush()
        }'
}

tasks_max=0 # maximum size of a submission, as found by earlier attempts; 0: unknown

# end_if_canceled [ID]: ends this call and all tasks if `ssfleet cancel` was called. ID: tasks that were being submitted
# then. `cancel` may have removed their file, by which the engine finds them.
end_if_canceled() {
    [ -e "$fleet/canceled" ] || return 0
    [ $# -eq 0 ] || touch "$fleet/jobs/$1"
    engine_cancel
    rm -f "$fleet"/jobs/*
    say "ssfleet cancel was called: ending"
    exit 1
}

# submit_tasks: submits the tasks on standard input, in lines of pack_runs. Sets `refused` to the engine's message if
# it did not accept all tasks, and `queue_full` if it may accept more later.
submit_tasks() {
    local all index=0 size id limit name room max=$tasks_max
    mapfile -t all
    refused='' queue_full=''
    while [ "$index" -lt "${#all[@]}" ]; do
        room=$(engine_tasks_max) || { refused=$room queue_full=yes && return; }
        size=$((${#all[@]} - index))
        size=$((room > 0 && room < size ? room : size))
        size=$((max > 0 && max < size ? max : size))
        id=$(date +%s%N)-$$
        end_if_canceled
        printf '%s\n' "${all[@]:index:size}" | sed 's/ .*//' >"$fleet/jobs/$id"
        limit=$(printf '%s\n' "${all[@]:index:size}" |
            awk '$2 == "-" { open = 1 } $2 > most { most = $2 } END { if (!open) printf "%d\n", most }')
        if engine_submit "$id" "$limit" 2>"$fleet/log/$id.error"; then
            rm -f "$fleet/log/$id.error"
            end_if_canceled "$id"
            index=$((index + size))
            tasks_max=$max
            for name in $(tr ',' ' ' <"$fleet/jobs/$id"); do
                tried[$name]="after ${run_begin[$name]-}"
            done
            continue
        fi
        # A limit of the user may allow fewer tasks at once: try half of them.
        refused=$(<"$fleet/log/$id.error")
        rm -f "$fleet/jobs/$id" "$fleet/log/$id.error"
        if [ "$size" -eq 1 ]; then
            ! engine_is_full "$refused" || queue_full=yes
            return 0
        fi
        max=$((size / 2))
    done
    refused=''
}

# choose_runs: sets `chosen` to the runs to submit now. A run whose task ended without a result, or with that of an
# earlier attempt, is submitted again only when no task is left, because it may depend on another run, or on a lock that
# another task held.
choose_runs() {
    local name
    chosen=()
    for name in "${run_names[@]}"; do
        case ${run_status[$name]} in
        'done' | skipped) continue ;;
        failed) [ -z "${tried[$name]-}" ] || [ "${tried[$name]}" = "after ${run_begin[$name]}" ] || continue ;;
        esac
        [ -z "${run_where[$name]-}" ] || continue
        [ -z "${tried[$name]-}" ] || [ ${#run_where[@]} -eq 0 ] || continue
        chosen+=("$name")
    done
}

count_done() {
    local name
    done_count=0 failed_count=0
    for name in "${run_names[@]}"; do
        case ${run_status[$name]} in
        done | skipped) done_count=$((done_count + 1)) ;;
        failed) failed_count=$((failed_count + 1)) ;;
        esac
    done
}

progress() {
    [ ! -t 2 ] || printf '\r%s: %d of %d runs done, %d failed, %d active \e[K' "$tool" "$done_count" \
        "${#run_names[@]}" "$failed_count" "${#run_where[@]}" >&2
}

send_plan() {
    local node part script status reason
    declare -A away=()
    while read -r node reason; do away[$node]=$reason; done < <(engine_away)
    for node in $(engine_nodes); do
        part=$(printf %q "./$(part_of "$node")")
        script=$(open_scratch make &&
            echo "cd \"\$held\" && umask g-w,o-w && mkdir -p $part && cat >$part.new && mv $part.new $part.plan")
        status=0
        on_node "$node" "$script" <"$held/.study/plan" >/dev/null || status=$?
        [ "$status" -ne 125 ] || exit 125 # the node has reported the reason
        [ "$status" -eq 0 ] || say "$node: cannot copy the plan to $scratch${away[$node]+: ${away[$node]}}"
    done
}

# has_running NODE: succeeds if the study shows that this node is carrying out a run, or that a call of ssbatch on the
# host of this name is alive and has a journal. It has one, too, while it carries out lines above the first run, or
# undoes those of a dead call.
has_running() {
    local name journal
    for name in "${!run_where[@]}"; do
        [[ ${run_where[$name]% *} != "$1" || ${run_status[$name]} != running ]] || return 0
    done
    for journal in "$held/.study/calls/$1"[.:]*/{.study,*}.undo; do
        # A call locks its folder before it writes a journal.
        [ ! -e "$journal" ] || flock -n -s "${journal%/*}/lock" true || return 0
    done
    return 1
}

# end_ghosts: ends tasks that the engine reports as running although their nodes carry out nothing. Slurm keeps such
# tasks for hours if a node's daemon and the controller were killed.
end_ghosts() {
    local name
    [ -z "$scratch" ] || return 0 # the study does not show what nodes are carrying out
    for name in "${run_names[@]}"; do
        if [[ ${run_where[$name]-} != *' R' || ${run_status[$name]} != 'to come' ]] ||
            has_running "${run_where[$name]% *}"; then
            unset "ghost_since[$name]"
        elif [ -z "${ghost_since[$name]-}" ]; then
            ghost_since[$name]=$SECONDS
        elif [ $((SECONDS - ghost_since[$name])) -ge "$GHOST_SECONDS" ]; then
            say "$name: $engine reports its task as running, but ${run_where[$name]% *} is not running it: ending it"
            engine_end "$name"
            unset "ghost_since[$name]"
        fi
    done
}

# await_tasks: waits up to 10 s for tasks to end, then cancels them. All their runs are done.
await_tasks() {
    local end=$((SECONDS + 10))
    while [ "$SECONDS" -lt "$end" ]; do
        find_active || return 0
        [ ${#run_where[@]} -gt 0 ] || break
        sleep 0.2
    done
    [ ${#run_where[@]} -eq 0 ] || engine_cancel
    rm -f "$fleet"/jobs/*
}

# is_visit_due COUNT: succeeds if runs may have ended since COUNT were active. An engine without a queue shows only the
# end of a whole submission, so nodes are also visited in between, for at most a tenth of the time.
is_visit_due() {
    [ ${#run_where[@]} -eq "$1" ] || return 0
    [ "$engine_detaches" = no ] && [ ${#run_where[@]} -gt 0 ] &&
        [ $((SECONDS - visited_at)) -ge $((COLLECT_SECONDS + 9 * visit_took)) ]
}

# carry_out: submits runs, and waits until none is left that can be carried out.
carry_out() {
    local pause=0.2 stuck=0 before=-1 active_before=-1 name queue_full='' said='' visited_at=$SECONDS visit_took=0
    refused='' # if no task has to be submitted
    declare -gA ghost_since=()
    declare -gA tried=()
    while :; do
        end_if_canceled
        # Query tasks before results, so that the result of an ended task is not missed.
        if ! find_active; then
            say "$engine does not answer; trying again"
            sleep 5
            continue
        fi
        if [ -n "$scratch" ] && is_visit_due "$active_before"; then
            visited_at=$SECONDS
            collect_runs
            visit_took=$((SECONDS - visited_at)) visited_at=$SECONDS
        fi
        active_before=${#run_where[@]}
        list_runs
        for name in "${!run_where[@]}"; do
            [[ ${run_status[$name]} != 'done' && ${run_status[$name]} != skipped ]] || unset "run_where[$name]"
        done
        end_ghosts
        choose_runs
        count_done
        progress
        if [ ${#chosen[@]} -gt 0 ]; then
            # Give up after five rounds without progress.
            stuck=$((done_count + failed_count > before || ${#run_where[@]} > 0 ? 0 : stuck + 1))
            before=$((done_count + failed_count))
            [ "$stuck" -lt 5 ] || break
            [ "$stuck" -eq 0 ] || sleep "$stuck"
            submit_tasks < <(pack_runs "${chosen[@]}")
            if [ -n "$queue_full" ]; then
                [ -n "$said" ] || say "$refused; waiting until there is room"
                said=yes stuck=0
            else
                [ -z "$refused" ] || [ ${#run_where[@]} -gt 0 ] || say "$refused"
                pause=0.2 active_before=-1 said=''
            fi
            [ -z "$no_wait" ] || [ -n "$refused" ] || return 0
        elif [ -n "$no_wait" ]; then
            return 0
        elif [ ${#run_where[@]} -eq 0 ]; then
            break
        fi
        sleep "$pause"
        pause=$(awk -v p="$pause" 'BEGIN { print p < 10 ? p * 1.3 : p }')
    done
    await_tasks
    [ ! -t 2 ] || echo >&2
}

# clean_nodes: undoes on each node the changes of killed calls of ssbatch. Their journals are on the node's own disk or,
# in a common folder, have the name of the host, and each node uses only its own.
clean_nodes() {
    local node script check='' folder=$study
    [ -n "$scratch" ] || compgen -G "$study/.study/calls/*" >/dev/null || return 0
    for node in $(engine_nodes); do
        [ -z "$scratch" ] || { folder=$scratch/$(part_of "$node") && check=$(open_scratch); }
        script=$(printf '%s\n%s\nfolder=%q; ' "$check" "$set_path" "$folder")
        script+='! compgen -G "$folder/.study/calls/*" >/dev/null || timeout 60 ssbatch --clean "$folder"'
        on_node "$node" "$script" </dev/null >/dev/null ||
            say "$node: cannot undo everything that a killed task has left there: call ssbatch --clean $folder there"
    done
}

# say_last_words: prints the last line of the newest log, unless all runs have results, which have their own logs.
say_last_words() {
    local file newest='' line
    [ $((done_count + failed_count)) -lt ${#run_names[@]} ] || return 0
    for file in "$fleet"/log/*; do
        [[ ! -s $file || $file = *.joblog || -n $newest && $file -ot $newest ]] || newest=$file
    done
    [ -n "$newest" ] || return 0
    line=$(tail -n 1 "$newest")
    make_plain line
    say "the last task printed: $line (see $study${newest#"$held"})"
}

# make_study: opens the folder of a study. Creates it unless it exists, and sets `made` to the new folders, inner ones
# first.
make_study() {
    local error
    made=()
    if [ ! -d "$study" ]; then
        error=$(make_folder "$study" 755) || fail "$error"
        made=("$study")
    fi
    open_study
    [ ! -d "$fleet" ] || return 0
    error=$(mkdir -m 755 "$fleet" 2>&1) || fail "cannot create $study/.fleet: ${error##*: }"
    made=("$fleet" "${made[@]}")
}

# add_plan PLAN: adds the runs of a plan. If they are refused, removes new folders.
add_plan() {
    local status=0
    ssbatch --add "$study" "$1" || status=$?
    [ "$status" -ne 0 ] || return 0
    [ "$status" -ne 1 ] || say "$how_to_repeat" # runs are refused because they are done
    [ ${#made[@]} -eq 0 ] || { rm "$fleet/turn" "$fleet/guard" && rmdir "${made[@]}"; }
    exit "$status"
}

# run_study PLAN: adds the runs of PLAN, unless it is empty, and carries out the study. Takes the turn before it changes
# the plan and the settings, which another call may be using.
run_study() {
    [[ -n $1 || -f $study/.study/plan ]] || fail "$study has no plan yet: add a PLAN after STUDY"
    make_study
    take_turn
    [ -z "$1" ] || add_plan "$1"
    set_study_id
    keep_settings
    [ "$engine_detaches" = yes ] || on_signals engine_cancel
    rm -f "$fleet/canceled"
    [ -z "$scratch" ] || send_plan
    carry_out
    [ -z "$no_wait" ] || [ -n "$refused" ] || return 0
    clean_nodes
    list_runs
    count_done
    say "$done_count of ${#run_names[@]} runs done, $failed_count failed"
    [ "$done_count" -lt ${#run_names[@]} ] || return 0
    say_last_words
    say "see ssfleet status ${words[0]}"
    exit 1
}

# list_finished NODE: prints "CHECKSUM SIZE RUN/run.json" for each finished run of a node, then the lines of these files
# that say whether a run is done and when it began, and "end" as the last line. There may be too many names for a command.
list_finished() {
    local part script
    part=$(printf %q "$(part_of "$1")")
    script=$(
        open_scratch && echo "cd \"\$held\"/$part 2>/dev/null && {" && cat <<'END'
    printf '%s\0' */run.json | xargs -0 cksum --
    printf '%s\0' */run.json | xargs -0 grep -H -e '^  "status": "done"' -e '^  "begin": ' --
} 2>/dev/null
echo end
END
    )
    on_node "$1" "$script" </dev/null
}

# has_result RUN CHECKSUM SIZE BEGIN: succeeds if the study has a final result of the run, this very failure, or a later
# one. BEGIN: when this one began; empty if it is done.
has_result() {
    local file=$held/$1/run.json checksum begin
    [ -e "$file" ] || return
    ! grep -q '"status": "done"' "$file" || return 0
    checksum=$(cksum <"$file")
    [ "$checksum" != "$2 $3" ] || return 0
    begin=$(sed -n 's/^  "begin": //p' "$file")
    [[ -n $4 && $begin > $4 ]]
}

# unpack NODE SCRIPT FOLDER: unpacks the archive that a script prints on a node in FOLDER, which it makes. The files
# become the caller's, with the permissions that the caller's umask gives. Another user could use links, devices and
# set-user-ID programs: those are left out, and until then nobody else can enter FOLDER. A folder that the caller cannot
# enter could not be removed.
unpack() {
    local node=$1 folder=$3 status=0 refused
    rm -rf "$folder" && mkdir -m 700 "$folder" || return
    on_node "$node" "$2" </dev/null | as_called tar --warning=no-timestamp --no-same-owner --no-same-permissions \
        -C "$folder" -xf - || status=$?
    chmod -R u+rwX "$folder" && refused=$(find "$folder" ! -type f ! -type d -print -delete) || return
    [ -z "$refused" ] || say "$node: its links, devices and pipes are left out: only files are copied"
    return "$status"
}

# fetch_runs NODE NAME...: copies runs of a node to $fleet/incoming. The node's plan is the last file of the stream: if
# it has arrived, so has everything before.
fetch_runs() {
    local node=$1 part script name incoming=$fleet/incoming
    shift
    part=$(printf %q "$(part_of "$node")")
    script=$(open_scratch && echo "cd \"\$held\"/$part && tar -cf - -- $(printf '%q ' "$@").study/plan")
    unpack "$node" "$script" "$incoming" || return
    for name; do
        [ -f "$incoming/$name/run.json" ] || return
    done
    [ -f "$incoming/.study/plan" ] && rm -r "$incoming/.study" && mkdir "$incoming/.study" &&
        cp "$held/.study/plan" "$incoming/.study" || return
    # With a result that ssbatch cannot read, it would not list the study.
    ssbatch --list --csv "$incoming" >/dev/null || [ $? -eq 1 ] || return
    sync -f "$incoming"
}

FETCHED_MAX=400 # runs that are copied at once: an argument of a command, such as a script, has at most 128 KiB

# collect_node NODE: copies the finished runs of a node into the study, but nothing else that the node calls a run. A run
# gets its name only when its copy is complete. Fails if the node does not answer, or its answer is incomplete. Each step
# is checked, because bash ignores errexit in a function that is called before ||.
collect_node() {
    local node=$1 incoming=$fleet/incoming finished list=() some at checksum size name key value begin
    declare -A begin_of=() is_done=()
    finished=$(list_finished "$node") || return
    [[ $'\n'$finished = *$'\n'end ]] || return
    while read -r name key value; do
        [[ $name = ?*/run.json: ]] || continue
        case $key in
        '"status":') is_done[${name%/run.json:}]=yes ;;
        '"begin":') begin_of[${name%/run.json:}]=$value ;;
        esac
    done <<<"$finished"
    while read -r checksum size name; do
        [[ $name = ?*/run.json ]] || continue
        name=${name%/run.json} begin=''
        [ -n "${run_status[$name]-}" ] || continue
        [ -n "${is_done[$name]-}" ] || begin=${begin_of[$name]-}
        has_result "$name" "$checksum" "$size" "$begin" || list+=("$name")
    done <<<"$finished"
    [ ${#list[@]} -gt 0 ] || return 0
    for ((at = 0; at < ${#list[@]}; at += FETCHED_MAX)); do
        some=("${list[@]:at:FETCHED_MAX}")
        fetch_runs "$node" "${some[@]}" || { rm -rf "$incoming"; return 1; }
        for name in "${some[@]}"; do
            # Replace the result of a failed attempt.
            [ ! -e "$held/$name" ] || mv -T "$held/$name" "$incoming/.$name.failed" || return
            mv -T "$incoming/$name" "$held/$name" || return
            collected=$((collected + 1))
        done
    done
    sync -f "$held/." && rm -rf "$incoming"
}

# collect_runs: sets `collected` to the number of runs fetched, and `uncollected` if a node could not be visited.
collect_runs() {
    local node
    collected=0 uncollected=''
    [ ${#run_names[@]} -gt 0 ] || list_runs
    for node in $(engine_nodes); do
        collect_node "$node" || { say "$node: cannot fetch its runs now" && uncollected=yes; }
    done
}

collect_all() {
    [ -n "$scratch" ] || { say "all nodes share $study: there is nothing to collect" && return; }
    take_turn
    collect_runs
    say "$collected run$([ "$collected" -eq 1 ] || echo s) collected"
    [ -z "$uncollected" ] || exit 1
}

# node_of RUN: prints the node that is carrying out a run, as the engine or the call of ssbatch says, or its host.
node_of() {
    local node=${run_where[$1]-} host='' pid=''
    node=${node% *}
    [[ ${run_reason[$1]} != 'on '*' by process '* ]] || read -r _ host _ _ pid <<<"${run_reason[$1]}"
    if [[ ${node:--} = - && $host = "$(hostname)" ]]; then
        node=$({ tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^SSFLEET_NODE=//p'; } 2>/dev/null) || node=''
    fi
    [[ ${node:--} != - ]] || node=$host
    echo "${node:--}"
}

# ask_nodes: adds what the nodes show, with --scratch, but not yet the study: runs that are being carried out, and
# results to collect.
ask_nodes() {
    local node part script table name status
    for node in $(engine_nodes); do
        part=$(printf %q "$scratch/$(part_of "$node")")
        script=$(open_scratch &&
            echo "[ ! -d $part/.study ] || $(printf %q "$bin/ssbatch") --list --csv $part || [ \$? -eq 1 ]")
        table=$(on_node "$node" "$script" </dev/null) || { say "$node does not answer" && continue; }
        while IFS=, read -r name _ status _; do
            [ -n "$name" ] || continue
            case ${run_status[$name]-}/$status in
            'to come/running' | failed/running) run_status[$name]=running run_where[$name]="$node R" ;;
            'to come/done' | 'to come/failed') run_status[$name]='to collect' ;;
            esac
        done < <(plain_rows <<<"$table")
    done
}

# guess_running: with Slurm and --scratch, a node that carries out a task cannot be asked: takes the first run of each
# node's task that is not done as the one that is being carried out.
guess_running() {
    local name
    declare -A is_busy=()
    for name in "${run_names[@]}"; do
        [[ ${run_status[$name]} = 'to come' && ${run_where[$name]-} = *' R' && -z ${is_busy[${run_where[$name]}]-} ]] || continue
        is_busy[${run_where[$name]}]=yes
        run_status[$name]=running
    done
}

# list_fleet: reads the study and its tasks. The status of a run becomes `waiting` if a task has it but has not begun it.
list_fleet() {
    local name
    find_active || fail "$engine does not answer"
    list_runs
    if [ -n "$scratch" ]; then
        if [ "$engine_detaches" = yes ]; then guess_running; else ask_nodes; fi
    fi
    for name in "${run_names[@]}"; do
        [[ ${run_status[$name]} != 'to come' || -z ${run_where[$name]-} ]] || run_status[$name]=waiting
    done
}

# print_time_left: prints the expected time of the runs that are not done, divided by the nodes that carry out runs now.
print_time_left() {
    local name
    for name in "${run_names[@]}"; do
        case ${run_status[$name]} in
        running | waiting | 'to come') echo "${run_status[$name]// /-} ${run_takes[$name]}" ;;
        esac
    done | awk '{ left += $2; busy += $1 == "running"; active += $1 != "to-come" } END {
        if (busy == 0 && active > 0) busy = 1 # a task is between two runs, or waits for a node
        if (left > 0 && busy > 0) printf "time left: about %d s on %d node%s\n", left / busy, busy, busy == 1 ? "" : "s"
        else if (left > 0) printf "time left: %d s on one node; no run is in progress\n", left }'
}

print_status() {
    local name state
    declare -A counts=()
    list_fleet
    for name in "${run_names[@]}"; do
        state=${run_status[$name]}
        counts[$state]=$((${counts[$state]-0} + 1))
        [ "$state" != running ] || echo "running: $name on $(node_of "$name")"
    done
    for name in "${run_names[@]}"; do
        [ "${run_status[$name]}" != failed ] || echo "failed: $name: see $study/$name/run.json"
    done
    for state in 'done' skipped running waiting failed 'to collect' 'to come'; do
        [ -z "${counts[$state]-}" ] || echo "$state: ${counts[$state]}"
    done
    print_time_left
}

# check_hosts: fails if another host may have processes of this study, unless the engine ends tasks from any host.
check_hosts() {
    local file host pid
    [ "$engine_detaches" = no ] || return 0
    for file in "$fleet/turn" "$fleet"/jobs/*.pid; do
        ! is_elsewhere "$file" || fail "process $pid on $host is carrying out $study: call ssfleet cancel there;" \
            "if it has exited, remove $study${file#"$held"}"
    done
}

cancel_all() {
    check_hosts
    touch "$fleet/canceled" # makes a `run` that waits for the tasks exit
    engine_cancel
    # A `run` in progress needs the files to end tasks that it has just submitted, and removes them itself.
    is_alive "$fleet/turn" || rm -f "$fleet"/jobs/*
    say "canceled all tasks of $study; ssfleet run continues the study"
}
