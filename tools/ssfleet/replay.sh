# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016,SC2154 # scripts for nodes; variables of ssfleet
# Sourced by ssfleet: the command replay. Each node runs node.sh, and communicates through standard input and output,
# which the engine connects, so that nodes need neither a common folder nor a port:
#
#   node -> here   ready NODE CLOCK ERROR    what synchronizes its clock, and its maximum error in seconds
#   here -> nodes  clock NODE N              for measuring the clock of one node
#   node -> here   clock NODE N TIME
#   here -> nodes  start NODE TIME TRACE     TIME by the clock of that node
#   node -> here   done NODE STATUS          or: fail NODE REASON
#
# spread_input adds a line "process NODE PID START" for the process here that connects a node.
#
# Nodes end when their input does.

CLOCK_ROUNDS=7
END_SECONDS=3600 # timeout of a single wait for a node to end; waits are repeated
CLOCK_TRUSTED=50000 # microseconds; warn if a clock's offset, or the error of its measurement, is larger

# spread_input START SCRIPT: for engines that start one process per node. Runs `START NODE SCRIPT` for all nodes of
# node_list at once, each with a copy of standard input.
spread_input() {
    local node pipes=() folder
    folder=$(mktemp -d)
    for node in "${node_list[@]}"; do
        mkfifo "$folder/$node"
        pipes+=("$folder/$node")
        "$1" "$node" "$2" <"$folder/$node" &
        echo "process $node $! $(started_at "$!")"
    done
    tee -p "${pipes[@]}" >/dev/null || true
    wait
    rm -r "$folder"
}

# is_trace FILE: succeeds if showstopper can follow it. Sets `why_not` otherwise.
is_trace() {
    why_not=$(showstopper -t file -T "${1//,/\\,}" --dry-run true 2>&1 >/dev/null)
}

# valued_options: prints the options of showstopper that take a value: in its help, a single space precedes the value.
valued_options() {
    showstopper --help | sed -nE 's/^  (-[A-Za-z],|   ) (--[a-z-]+) [^ ].*/\1 \2/p' | tr -d ,
}

# check_option NAME VALUE: fails if showstopper may not get this option from the user.
check_option() {
    local warmup
    case $1 in
    -l | --load | -t | --trace | -T | --trace-options)
        fail "$1 is not allowed after --: each node follows its trace of --traces: remove it"
        ;;
    --record) fail "$1 is not allowed after --: the records are in the folder --record before --: remove it" ;;
    --start-at) fail "$1 is not allowed after --: all nodes start --margin after their clocks are measured: remove it" ;;
    --warmup)
        warmup=$(sslab value time --program "$tool" --option warmup -- "$2") || exit 125
        awk -v warmup="$warmup" -v margin="$(seconds "$margin")" 'BEGIN { exit !(warmup <= margin) }' ||
            fail "--warmup $2 is longer than --margin $margin, in which nodes warm up: use a longer --margin"
        ;;
    esac
}

# check_options ARG...: checks the options of showstopper, which end where the command begins.
check_options() {
    local valued word name
    valued=$(valued_options) && valued=" ${valued//$'\n'/ } "
    while [[ ${1-} = -?* && $1 != -- ]]; do
        word=$1
        shift
        name=${word%%=*}
        if [[ $word = --* ]]; then
            if [[ $word != *=* && $valued = *" $name "* ]]; then
                check_option "$name" "${1-}"
                shift $(($# > 0))
            else
                check_option "$name" "${word#*=}"
            fi
            continue
        fi
        # A word may have several letters, and the value of the last one.
        while word=${word:1} && [ -n "$word" ]; do
            check_option "-${word:0:1}" ''
            [[ $valued != *" -${word:0:1} "* ]] || { [ ${#word} -gt 1 ] || shift $(($# > 0)); break; }
        done
    done
}

# refuse_node_traces: fails if a node has the name of the folder of traces in the record.
refuse_node_traces() {
    [[ " ${node_list[*]} " != *' traces '* ]] || fail "--nodes: a node named traces would use the folder of the $1"
}

# keep_traces FOLDER: copies `files`, which are in this folder, to the record, unless only the caller and root can
# exchange them until all nodes have opened them. Others cannot read the copies, as they may not be able to read the
# traces.
keep_traces() {
    local file name index error='' links=no
    for file in "${files[@]}"; do
        [ ! -L "$file" ] || { links=yes && error=$(walk "$file"); } || fail "--traces: $error"
    done
    [[ -z $scratch ]] || return 0 # send_traces judges what it sends
    [ $links = yes ] || ! fixed_path "$1" >/dev/null || return 0
    refuse_node_traces "copied traces: use another name"
    mkdir -m 700 "$held/traces"
    for index in "${!files[@]}"; do
        name=${files[index]##*/}
        error=$(umask 077 && print_file "${files[index]}" 2>&1 >"$held/traces/$name") || fail "--traces: $error"
        files[index]=$record/traces/$name
    done
}

# find_traces: sets `files` to the traces for the nodes. Splits the trace of a cluster first.
find_traces() {
    local folder=$traces file error why_not
    if [[ -z $from && -f $traces ]] && is_trace "$traces"; then
        files=("$(realpath "$traces")")
        keep_traces "${files[0]%/*}/"
        return
    elif [ ! -d "$traces" ]; then
        folder=$record/traces
        refuse_node_traces "split traces: split them first with sstrace --split"
        error=$(sstrace ${from:+--from "$from"} --split "$folder" "$traces" 2>&1) || {
            # If sstrace does not detect the format of a table, it reads it as a trace.
            [[ -n $from || $error != *--split* ]] || error="${why_not#showstopper: }; for the table of a cluster, add --from"
            fail "--traces: ${error#sstrace: }"
        }
        [ -z "$error" ] || say "--traces: ${error#sstrace: }"
    fi
    folder=$(realpath "$folder")
    mapfile -t files < <(find "$folder" -maxdepth 1 -xtype f ! -name '.*' | sort)
    [ ${#files[@]} -gt 0 ] || fail "--traces: $traces contains no traces"
    [ "$folder" = "$record/traces" ] || keep_traces "$folder"
}

# assign_traces: sets trace_of for each node.
assign_traces() {
    local node trace index=0
    declare -gA trace_of=()
    case $assign in
    round-robin | hash)
        for node in "${node_list[@]}"; do
            [ "$assign" = round-robin ] || index=$(cksum <<<"$node" | cut -d ' ' -f 1)
            trace_of[$node]=${files[index % ${#files[@]}]}
            index=$((index + 1))
        done
        ;;
    *)
        [ -f "$assign" ] || fail "--assign: '$assign' is neither round-robin, hash nor a file"
        while read -r node trace _ || [ -n "$node" ]; do
            [[ -z $node || $node = '#'* ]] && continue
            for file in "${files[@]}"; do
                [ "${file##*/}" != "$trace" ] && [ "${file##*/}" != "$trace.trace" ] || trace_of[$node]=$file
            done
            [ -n "${trace_of[$node]-}" ] || fail "$assign: no trace '$trace' for node $node in --traces"
        done <"$assign"
        for node in "${node_list[@]}"; do
            [ -n "${trace_of[$node]-}" ] || fail "$assign has no line for node $node"
        done
        ;;
    esac
}

# tell ARG...: sends a line to all nodes.
tell() {
    echo "$*" >&7
}

# hear SECONDS: reads a line from any node into `heard`, which is empty unless it names a node of this replay: names are
# parts of paths and commands. Fails if all nodes have ended, or, with a status above 128, if the timeout expired.
hear() {
    local line
    IFS= read -r -t "$1" -u 6 line || return
    make_plain line
    read -r -a heard <<<"$line"
    [[ -n ${heard[1]-} && " ${node_list[*]} " = *" ${heard[1]} "* ]] || heard=()
    [ "${heard[0]-}" != process ] || process_of[${heard[1]}]+=${heard[*]:2:2}$'\n'
}

now() {
    echo "$EPOCHREALTIME"
}

note_failure() {
    failure[$1]=$2
    say "$1: $2"
}

# await_ready: waits until all nodes have reported, or --patience has passed.
await_ready() {
    local end node left status=0 reason="did not report within $patience"
    end=$(awk -v a="$(now)" -v b="$(seconds "$patience")" 'BEGIN { printf "%.3f", a + b }')
    while [ $((${#clock_of[@]} + ${#failure[@]})) -lt ${#node_list[@]} ]; do
        left=$(awk -v a="$(now)" -v b="$end" 'BEGIN { printf "%.3f", b - a }')
        [[ $left != -* && $left != 0.000 ]] || break
        hear "$left" || status=$?
        if [ "$status" -ne 0 ]; then
            [ "$status" -gt 128 ] || reason="the connection was lost before it reported"
            break
        fi
        case ${heard[0]-} in
        ready) clock_of[${heard[1]}]="${heard[2]-} ${heard[3]-}" ;;
        fail) note_failure "${heard[1]}" "${heard[*]:2}" ;;
        esac
    done
    for node in "${node_list[@]}"; do
        [ -n "${clock_of[$node]-}" ] || [ -n "${failure[$node]-}" ] ||
            note_failure "$node" "$reason"
    done
}

# give_up PID: ends the connections of nodes that have failed, which may never end by themselves, and whose full pipes
# would keep input from the other nodes. If no node is left, ends a job that still waits for nodes. PID: the process that
# started the connections; a node could name others.
give_up() {
    local node pid start parent
    for node in "${!failure[@]}"; do
        while read -r pid start; do
            parent=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null) || continue
            [[ $parent != "$1" || $(started_at "$pid") != "$start" ]] || kill -TERM "$pid" 2>/dev/null || true
        done <<<"${process_of[$node]-}"
    done
    [[ ${#offset_of[@]} -gt 0 || $engine_detaches = no ]] || kill -TERM "$1" 2>/dev/null || true
}

# in_seconds MICROSECONDS: prints a time in seconds, which may be negative.
in_seconds() {
    local sign=''
    [ "$1" -ge 0 ] || sign=-
    printf '%s%d.%06d' "$sign" "$((${1#-} / 1000000))" "$((${1#-} % 1000000))"
}

# measure_clock NODE: sets offset_of to the time by which the node's clock is ahead of this machine's, and error_of to
# half of the time that the answer took, both from the fastest round. Starts no process, which would take longer than an
# answer.
measure_clock() {
    local node=$1 round before after time offset error=''
    for ((round = 0; round < CLOCK_ROUNDS; round++)); do
        before=${EPOCHREALTIME/./}
        tell clock "$node" "$round"
        while hear 10; do
            after=${EPOCHREALTIME/./}
            [ "${heard[0]-}" != fail ] || note_failure "${heard[1]}" "${heard[*]:2}"
            [ "${heard[*]:0:3}" != "clock $node $round" ] || break
        done
        [ "${heard[*]:0:3}" = "clock $node $round" ] || { note_failure "$node" "stopped answering" && return; }
        if ! [[ ${heard[3]-} =~ ^([0-9]+)\.([0-9]{6}) ]]; then
            note_failure "$node" "its date command prints no nanoseconds: install GNU coreutils there"
            return
        fi
        time=$((BASH_REMATCH[1] * 1000000 + 10#${BASH_REMATCH[2]}))
        if [ -z "$error" ] || [ $(((after - before) / 2)) -lt "$error" ]; then
            error=$(((after - before) / 2))
            offset=$((time - (after + before) / 2))
        fi
    done
    offset_of[$node]=$(in_seconds "$offset")
    error_of[$node]=$(in_seconds "$error")
    if [ "$error" -gt "$CLOCK_TRUSTED" ]; then
        say "$node: warning: its clock is not trusted: its offset is known only within ${error_of[$node]} s"
    elif [ "${offset#-}" -gt "$CLOCK_TRUSTED" ]; then
        say "$node: warning: its clock is not trusted: it is off by ${offset_of[$node]} s; starts are corrected for that"
    fi
}

# start_nodes: sends each node its start time. Computes all times in one process, so that the last node receives its
# time before --margin is over.
start_nodes() {
    local node
    start_time=$(awk -v a="$(now)" -v b="$(seconds "$margin")" 'BEGIN { printf "%.6f", a + b }')
    for node in "${!offset_of[@]}"; do
        printf '%s %s ' "$node" "${offset_of[$node]}"
        if [ -n "$scratch" ]; then
            echo "$scratch/replay/$node/trace"
        else
            echo "${trace_of[$node]}"
        fi
    done | awk -v start="$start_time" '{ node = $1; time = sprintf("%.6f", start + $2)
        sub(/^[^ ]+ [^ ]+ /, ""); print "start", node, time, $0 }' >&7
}

await_end() {
    local node status
    while [ $((${#done_status[@]} + ${#failure[@]})) -lt ${#node_list[@]} ]; do
        status=0
        hear "$END_SECONDS" || status=$?
        [ "$status" -le 128 ] || continue
        [ "$status" -eq 0 ] || break
        case ${heard[0]-} in
        done)
            if [ "${heard[2]-}" = 0 ]; then
                done_status[${heard[1]}]=0
            else
                note_failure "${heard[1]}" "showstopper exited with status ${heard[2]-}: see $record/${heard[1]}.stderr"
            fi
            ;;
        fail) note_failure "${heard[1]}" "${heard[*]:2}" ;;
        esac
    done
    for node in "${node_list[@]}"; do
        [ -n "${done_status[$node]-}" ] || [ -n "${failure[$node]-}" ] || note_failure "$node" "the connection was lost"
    done
}

# csv ARG...: prints a row. Quotes words with a comma, a quote or a blank at an end.
csv() {
    local word row=''
    for word; do
        [[ $word != *[,\"]* && $word != ' '* && $word != *' ' ]] || word=\"${word//\"/\"\"}\"
        row+=,$word
    done
    echo "${row#,}"
}

# write_table: writes the table of nodes, which ssreport reads. The column start has the time of this machine's clock.
write_table() {
    local node status clock
    {
        echo "node,record,trace,status,reason,start,offset_seconds,offset_error_seconds,clock,clock_error_seconds"
        for node in "${node_list[@]}"; do
            status='done'
            [ -z "${failure[$node]-}" ] || status=failed
            clock=${clock_of[$node]-}
            csv "$node" "$node" "${trace_of[$node]##*/}" "$status" "${failure[$node]-}" "${start_time-}" \
                "${offset_of[$node]-}" "${error_of[$node]-}" "${clock% *}" "${clock#* }"
        done
    } >"$held/.fleet.csv"
    sync "$held/.fleet.csv"
    mv "$held/.fleet.csv" "$held/fleet.csv"
}

# send_traces: copies the trace of each node to the node's own disk.
send_traces() {
    local node part script
    for node in "${node_list[@]}"; do
        [ -z "${failure[$node]-}" ] || continue
        part=$(printf %q "./replay/$node")
        script=$(open_scratch make &&
            echo "cd \"\$held\" && umask 077 && rm -rf $part && mkdir -p $part && cat >$part/trace")
        print_file "${trace_of[$node]}" | on_node "$node" "$script" >/dev/null ||
            note_failure "$node" "cannot copy its trace to $scratch/replay/$node"
    done
}

# fetch_record NODE: copies the record and the standard error of showstopper from the node's own disk. The trace is the
# last file of the stream, by its name: if it has arrived, so has everything before.
fetch_record() {
    local node=$1 script incoming=$held/.$1.part
    script=$(open_scratch && echo "cd \"\$held\"/replay/$(printf %q "$node") && tar -cf - *")
    unpack "$node" "$script" "$incoming" && [ -e "$incoming/trace" ] || return
    [ ! -e "$incoming/stderr" ] || chmod 600 "$incoming/stderr" || return # messages quote lines of traces
    [ ! -e "$incoming/stderr" ] || mv -T "$incoming/stderr" "$held/$node.stderr" || return
    [ ! -e "$incoming/record" ] || mv -T "$incoming/record" "$held/$node" || return
    sync -f "$held/."
}

# fetch_records: fetches the records of all nodes that were started. Removes a record from its node only once its copy
# is complete.
fetch_records() {
    local node script
    for node in "${!offset_of[@]}"; do
        if fetch_record "$node"; then
            script=$(open_scratch && echo "rm -r \"\$held\"/replay/$(printf %q "$node")")
            on_node "$node" "$script" </dev/null >/dev/null ||
                say "$node: cannot remove $scratch/replay/$node"
        else
            note_failure "$node" "cannot copy its record, which stays in $scratch/replay/$node until the next replay"
        fi
        rm -rf "$held/.$node.part"
    done
}

# run_nodes NODE...: lets these nodes follow their traces.
run_nodes() {
    local node script connecting showing end
    script=$(printf 'cd %q || exit\n%s\n%s\nrecord=%q scratch=%q\ncommand=(%s)\n' "$PWD" "$set_path" "$set_locale" \
        "$record" "$scratch" "$(printf '%q ' "${command[@]}")" && send_functions && cat "$parts/node.sh")
    end=$(</proc/sys/kernel/random/uuid)
    mkfifo "$held"/.{in,out,errors}
    show_plain "$end" <"$held/.errors" >&2 &
    showing=$!
    exec 5>"$held/.errors"
    # Opens .errors first: once both other pipes are open, all are removed.
    { exec 5>&- && node_list=("$@") && engine_each "$script"; } 2>"$held/.errors" <"$held/.in" >"$held/.out" &
    connecting=$!
    exec 7>"$held/.in" 6<"$held/.out"
    rm "$held"/.{in,out,errors}
    on_signals
    await_ready
    for node in "${!clock_of[@]}"; do
        measure_clock "$node"
    done
    give_up "$connecting"
    start_nodes
    await_end
    exec 7>&- 6<&-
    wait "$connecting" || true
    echo "$end" >&5
    exec 5>&-
    wait "$showing"
    [ -z "$scratch" ] || fetch_records
}

# remove_record: removes the new folder and what is in it, but no other folder that has its name now.
remove_record() {
    find "$held/" -mindepth 1 -delete
    rmdir "$record"
}

begin_replay() {
    local node error reached=()
    [ ${#words[@]} -eq 0 ] || fail "unexpected argument '${words[0]}': the command follows --"
    [[ -n $traces && -n $record && ${#command[@]} -gt 0 ]] ||
        fail "replay requires --traces, --record and a command after --: see --help"
    [ -e "$traces" ] || fail "--traces: $traces does not exist"
    seconds "$margin" >/dev/null
    seconds "$patience" >/dev/null
    refuse_given "on $action" pack no-wait
    [ ! -d "$traces" ] || refuse_given "with a folder of traces" from
    check_options "${command[@]}"
    set_scratch
    load_engine
    [ ! -e "$record" ] || fail "--record: $record already exists: choose another folder"
    error=$(make_folder "$record") || fail "--record: $error"
    hold "$record" || fail "--record: $why"
    record=$(realpath "$held")
    trap remove_record EXIT # until nodes are started
    mapfile -t node_list < <(engine_nodes)
    [ ${#node_list[@]} -gt 0 ] || fail "$engine names no nodes: is it running, and do --nodes and --partition exist?"
    find_traces
    assign_traces
    declare -gA clock_of=() failure=() offset_of=() error_of=() done_status=() process_of=()
    heard=()
    while read -r node error; do
        [[ " ${node_list[*]} " != *" $node "* ]] || note_failure "$node" "$error"
    done < <(engine_away)
    [ -z "$scratch" ] || send_traces
    for node in "${node_list[@]}"; do
        [ -n "${failure[$node]-}" ] || reached+=("$node")
    done
    trap - EXIT
    [ ${#reached[@]} -eq 0 ] || run_nodes "${reached[@]}"
    write_table
    say "${#done_status[@]} of ${#node_list[@]} nodes have replayed their traces; see ssreport $record"
    [ ${#failure[@]} -eq 0 ] || exit 1
}
