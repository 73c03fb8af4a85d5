# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # ssfleet puts variables before it
# Carried out on each node of a replay by ssfleet, with the node's name as $1; replay.sh describes the conversation.
# The variables record, scratch and command precede it. Without a common folder, $scratch/NAME has the trace.

export LC_ALL=C
node=$1

# clock_state: prints what synchronizes the clock, and the largest error that this admits in seconds (or nothing).
clock_state() {
    local bound
    if chronyc -c tracking 2>/dev/null | awk -F , '$3 > 0 && $3 < 16 {
        print "chrony", ($5 < 0 ? -$5 : $5) + $11 / 2 + $12; found = 1 } END { exit !found }'; then
        return
    elif bound=$("${showstopper%/*}/../libexec/showstopper/showstopper-clock" 2>/dev/null); then
        echo "ntp $bound"
    else
        echo "unknown "
    fi
}

# replay TIME TRACE: runs showstopper until it ends or standard input does.
replay() {
    local folder=$record/$node log=$record/$node.stderr pid watcher status=0
    [ -z "$scratch" ] || folder=$scratch/$node/record log=$scratch/$node/stderr
    showstopper --quiet -t file -T "$2" --start-at "@$1" --record "$folder" "${command[@]}" \
        </dev/null >/dev/null 2>"$log" &
    pid=$!
    # Without another program, which would keep standard input after the watcher is killed.
    { while read -r; do :; done; kill -TERM "$pid"; } <&0 2>/dev/null &
    watcher=$!
    wait "$pid" || status=$?
    kill "$watcher" 2>/dev/null
    [ "$status" -ne 0 ] || [ -s "$log" ] || rm -f "$log"
    echo "done $node $status"
}

showstopper=$(command -v showstopper) || { echo "fail $node showstopper is not installed in its PATH"; exit; }
echo "ready $node $(clock_state)"
while read -r what who when file; do
    [ "$who" = "$node" ] || continue
    case $what in
    # Not EPOCHREALTIME: a clock that is shifted by a preloaded library is not that of the shell itself.
    clock) echo "clock $node $when $(date +%s.%N)" ;;
    start) replay "$when" "$file"; exit ;;
    esac
done
