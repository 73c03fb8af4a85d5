# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # replay.sh prepends definitions of variables
# Runs on each node of a replay, with the node's name as $1. replay.sh describes the protocol, and prepends definitions
# of `record`, `scratch` and `command`, and the functions of folders.sh. If `scratch` is not empty, the trace is in
# $scratch/replay/NODE.

node=$1

# clock_state: prints what synchronizes the clock, and its maximum error in seconds (empty if unknown).
clock_state() {
    local bound
    if chronyc -c tracking 2>/dev/null | LC_ALL=C awk -F , '$3 > 0 && $3 < 16 {
        print "chrony", ($5 < 0 ? -$5 : $5) + $11 / 2 + $12; found = 1 } END { exit !found }'; then
        return
    elif bound=$("${showstopper%/*}/showstopper-platform" clock 2>/dev/null); then
        echo "ntp $bound"
    else
        echo "unknown "
    fi
}

# replay TIME TRACE: runs showstopper from TIME on, and terminates it if standard input ends.
replay() {
    local folder=$record/$node log=$held/$node.stderr trace=$2 pid watcher status=0
    [ -z "$scratch" ] || folder=$place/record log=$held/stderr
    # Others may exchange a folder above the record, in which traces were copied or split.
    [[ $trace != "$record"/* ]] || (cd -P "$held/.." && is_fixed) >/dev/null || trace=$held/${trace#"$record"/}
    (umask 077 && : >"$log") # messages quote lines of traces
    showstopper --quiet -t file -T "${trace//,/\\,}" --start-at "@$1" --record "$folder" "${command[@]}" \
        </dev/null >/dev/null 2>"$log" &
    pid=$!
    # Use only builtins: another program would survive the watcher, and keep standard input open.
    { while read -r; do :; done; kill -TERM "$pid"; } <&0 2>/dev/null &
    watcher=$!
    wait "$pid" || status=$?
    kill "$watcher" 2>/dev/null
    [ "$status" -ne 0 ] || [ -s "$log" ] || rm -f "$log"
    echo "done $node $status"
}

showstopper=$(command -v showstopper) || { echo "fail $node showstopper is not in PATH: install it there"; exit; }
place=$record
[ -z "$scratch" ] || place=$scratch/replay/$node
hold "$place" || { echo "fail $node $why"; exit; }
echo "ready $node $(clock_state)"
while read -r what who when file; do
    [ "$who" = "$node" ] || continue
    case $what in
    # Use date instead of EPOCHREALTIME: a library may be preloaded that shifts the clock of programs, but not of this
    # shell.
    clock) echo "clock $node $when $(LC_ALL=C date +%s.%N)" ;;
    start) replay "$when" "$file"; exit ;;
    esac
done
