#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=../system/fleet.sh
. "$source/tests/system/fleet.sh"

usage() {
    cat <<END
Usage: tests/bench/fleet.sh [OPTION]...
Measures ssfleet on a Slurm cluster on this machine: a study in which tasks, nodes, the controller and
ssfleet are killed at random moments, a replay on two nodes with a CPU each, and a report of many
simulated nodes.

  --kills N   number of kills in the study; default 10
  --runs N    number of runs of the study, one second each; default 30
  --seed N    seed of random moments and victims; default 1
  --length T  duration of the replay; default 60s
  --nodes N   number of simulated nodes, for an hour each; default 1000
  --build DIR default build
  --help      print this help
END
}

# victim KIND: prints the pids to kill.
victim() {
    case $1 in
    task) call_pids "$folder/study" | head -n 1 ;;
    node) cut -d ' ' -f 1 "$folder/slurm/pids/n$((RANDOM % 3 + 1))" ;;
    controller) cut -d ' ' -f 1 "$folder/slurm/pids/controller" ;;
    ssfleet) echo "$fleet" ;;
    esac
}

# restart_all: restarts killed daemons, like init.
restart_all() {
    local name pid start
    for name in controller n1 n2 n3; do
        read -r pid start <"$folder/slurm/pids/$name"
        [ "$(started_at "$pid")" = "$start" ] || "$source/tools/ssfleet/try-slurm" restart "$folder/slurm" "$name"
    done
}

run_fleet() {
    ssfleet run --engine slurm --pack 1s "$@" 2>>"$folder/messages" &
    fleet=$!
    started+=("$fleet")
}

is_over() {
    [ "$(ssbatch --list "$folder/study" | tail -n 1)" = "$runs done, 0 failed, 0 skipped, 0 to come" ]
}

measure_kills() {
    local i kind kinds=(task node controller ssfleet) done_kills=0 pid _
    for ((i = 1; i <= runs; i++)); do
        echo "run r$i takes 1s limit 5M"
        echo "main -- sh -c 'sleep 1; echo r$i >>$folder/ran'"
    done >"$folder/plan"
    run_fleet "$folder/study" "$folder/plan"
    start administer
    RANDOM=$seed
    for ((i = 0; i < kills; i++)); do
        sleep "$(awk -v r="$RANDOM" 'BEGIN { print 0.2 + 2 * r / 32768 }')"
        kind=${kinds[i % 4]}
        # If a task has just ended, the next one starts within seconds.
        for _ in {1..100}; do
            pid=$(victim "$kind") || pid=
            [ -z "$pid" ] || break
            sleep 0.1
        done
        if [ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null; then
            done_kills=$((done_kills + 1))
            while kill -0 "$pid" 2>/dev/null && [ "$pid" != "$fleet" ]; do
                sleep 0.05
            done
        fi
        [ "$kind" != ssfleet ] || run_fleet "$folder/study"
        restart_all
    done
    wait "$fleet" || true
    echo
    echo "Study of $runs runs, $done_kills kills: $(ssbatch --list "$folder/study" | tail -n 1)"
    echo "Results: $(find "$folder/study" -mindepth 2 -maxdepth 2 -name run.json | wc -l);" \
        "attempts that ended: $(wc -l <"$folder/ran");" \
        "folders of unfinished attempts: $(find "$folder/study" -maxdepth 1 -name '.*.part' | wc -l)"
    is_over || fail "the study is incomplete: $(tail "$folder/messages")"
}

measure_replay() {
    mkdir "$folder/traces"
    printf '0 30%%\n' >"$folder/traces/a.txt"
    printf '0 60%%\n' >"$folder/traces/b.txt"
    ssfleet replay --engine slurm --nodes n1,n2 --traces "$folder/traces" --record "$folder/replay" --margin 3s \
        -- -f own --duration "$length" ssburn serial
    echo
    ssreport --table fleet "$folder/replay" || true
}

measure_simulation() {
    echo
    sstrace --sine 50%,amplitude=40%,period=1h,length=1h -o "$folder/traces/c.trace"
    /usr/bin/time -f '%e s, %U s of CPU time, %M kB' sssim fleet --nodes "$nodes" --traces "$folder/traces" --late 5m --failures 1% \
        --record "$folder/rehearsal" -- -P 4 --duration 1h
    /usr/bin/time -f 'report: %e s, %U s of CPU time, %M kB' ssreport -o "$folder/report" "$folder/rehearsal" >/dev/null
}

kills=10
runs=30
seed=1
length=60s
nodes=1000
take_options kills runs seed length nodes build -- "$@"
open_bench
trap '"$source/tools/ssfleet/try-slurm" end "$folder/slurm" || true; close_bench' EXIT
"$source/tools/ssfleet/try-slurm" start "$folder/slurm" 3 >/dev/null
export SLURM_CONF=$folder/slurm/slurm.conf
measure_kills
measure_replay
measure_simulation
