#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kills processes of sslab antagonist at random moments while suspects are throttled. No suspect may be left
# stopped if one process of each run of showstopper survives.

usage() {
    cat <<END
Usage: tests/bench/antagonist-kills.sh BUILD [ROUNDS [SEED]]
Prints how often each kind of process was killed; default: 200 rounds, seed 1.
Exits with status 1 if a suspect is left stopped.
END
}

case ${1-} in
--help) usage && exit ;;
-* | '') usage >&2 && exit 125 ;;
esac

# shellcheck source=../system/harness.sh
. "$(dirname "$0")/../system/harness.sh"
round=0 kind='' delay='' spared=''
fail() {
    echo "FAILED in round $round ($kind but $spared after $delay s): $*" >&2
    exit 1
}

PATH=$build/bin:$PATH
rounds=${2:-200}
RANDOM=${3:-1}
folder=$scratch
suspects=() # all processes of the suspects; `firsts` has the first process of each
firsts=()
mkdir ram # files that a killed ssbatch leaves here are removed with the folder

# marked: prints "PID NAME" of all processes of the experiment.
marked() {
    local file pid
    for file in $(grep -lsaz "^ANTAGONIST_KILLS=$folder$" /proc/[0-9]*/environ || true); do
        pid=$(cut -d / -f 3 <<<"$file")
        ! name=$(cat "/proc/$pid/comm" 2>/dev/null) || echo "$pid $name"
    done
}

none_marked() {
    [ -z "$(marked)" ]
}

clean_up() {
    local pid
    for pid in $(marked | cut -d ' ' -f 1) "${suspects[@]}"; do
        kill -KILL "$pid" 2>/dev/null || true
    done
    wait
}

start_suspect() {
    sh -c 'sleep 100000 & echo $! >child; wait' &
    firsts+=($!)
    await test -s child
    suspects+=($! "$(<child)")
    rm child
}

start_experiment() {
    ANTAGONIST_KILLS=$folder sslab antagonist "${asked[@]}" --ram "$folder/ram" --output study >out 2>&1 &
    experiment=$!
}

any_stopped() {
    local pid state
    for pid in "${suspects[@]}"; do
        state=$(ps -o stat= -p "$pid") || fail "suspect $pid has ended"
        [[ $state != T* ]] || return 0
    done
    return 1
}

throttles() {
    kill -0 "$experiment" 2>/dev/null || fail "the experiment ended too early: $(cat out)"
    any_stopped
}

# victims_of KIND: prints the pids to kill. `most` spares one process of each run of showstopper, listed in $spared. A
# master ends with its parent, a process of ssbatch.
victims_of() {
    local pid name
    while read -r pid name; do
        case $1 in
        experiment) [ "$pid" != "$experiment" ] || echo "$pid" ;;
        most) [[ $name = "$spared"* || $spared$name = showstopperssbatch-minder ]] || echo "$pid" ;;
        *) [[ $name != "$1" && $name != "$1 "* ]] || echo "$pid" ;;
        esac
    done < <(marked)
}

printf '%s\n' '#!/bin/sh' 'sleep 0.05' 'echo 100' >bench
chmod +x bench
start_suspect
start_suspect
# The first run, without throttles, is the same in all rounds.
asked=(--victim ./bench --suspects "${firsts[0]},${firsts[1]}" --slot 200m --depth 50%)
ssantagonist plan "${asked[@]}" "$PWD/study" >first-plan
ANTAGONIST_KILLS=$folder ssbatch --quiet --others 100% study first-plan
mv study first

kinds=(most showstopper ssbatch ss-guardian ssbatch-keeper experiment ss-executor ssantagonist ssbatch-minder)
declare -A killed=()
for ((round = 1; round <= rounds; round++)); do
    kind=${kinds[(round - 1) % ${#kinds[@]}]}
    delay=0.$((RANDOM % 10))
    rm -rf study
    cp -r first study
    start_experiment
    await throttles
    sleep "$delay"
    spares=(showstopper ss-guardian ss-executor)
    spared=${spares[RANDOM % 3]}
    mapfile -t victims < <(victims_of "$kind")
    [ ${#victims[@]} -gt 0 ] || fail "no process of this kind: $(marked)"
    kill -KILL "${victims[@]}" 2>/dev/null || true
    killed[$kind]=$((${killed[$kind]:-0} + 1))
    sleep 0.2
    kill -TERM "$experiment" 2>/dev/null || true
    wait "$experiment" 2>/dev/null || true
    await none_marked
    ! any_stopped || fail "a suspect is left stopped: $(ps -o pid=,stat=,args= -p "${suspects[@]}" || true)"
done
for kind in "${kinds[@]}"; do
    printf '%-16s killed in %d rounds\n' "$kind" "${killed[$kind]:-0}"
done
echo "$rounds rounds: no suspect was left stopped"
