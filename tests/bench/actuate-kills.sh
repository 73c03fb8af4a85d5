#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kills runs of ssactuate at random moments: the program, its keeper, both or the command. Every value must be restored,
# at once or by `ssactuate restore`, and values that other programs set must be kept.

usage() {
    echo "Usage: tests/bench/actuate-kills.sh BUILD [ROUNDS [SEED]]"
    echo "Prints how often values were restored at once, and how often by \`restore\`; default: 200 rounds, seed 1."
}

case ${1-} in
--help) usage && exit ;;
-* | '') usage >&2 && exit 125 ;;
esac

# shellcheck source=../system/harness.sh
. "$(dirname "$0")/../system/harness.sh"
# shellcheck source=../system/actuate.sh
. "$here/actuate.sh"

fail() {
    echo "FAILED in round $round ($who after $delay s): $*" >&2
    exit 1
}

folder=$scratch
rounds=${2:-200}
RANDOM=${3:-1}
round=0 who='' delay='' length=0
machines=(acpi-cpufreq intel-pstate)
knobs=('frequency=1.6GHz,turbo=off' 'frequency=2GHz power=60W')
policies=sys/devices/system/cpu/cpufreq
returned=0 restored=0 foreign=0 early=0

# start_round SECONDS: starts a run of all knobs, whose command lasts this long.
start_round() {
    local words
    read -ra words <<<"${knobs[round % 2]}"
    SS_TEST_KERNEL=$tree LD_PRELOAD=$build/tests/libfake_kernel.so \
        ASAN_OPTIONS=verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS} \
        "$build/bin/ssactuate" run --root "$tree" "${words[@]}" -- \
        sleep "$1" 2>"$folder/run-err" &
    run_pid=$!
}

# find_victims: sets `victims`. Command and keeper may not have started yet.
find_victims() {
    victims=("$run_pid")
    case $who in
    keeper | both)
        find_keeper || return 0
        [ "$who" = both ] || victims=()
        victims+=("$run_keeper")
        ;;
    command) # it may have exited, and its pid may have been reused
        mapfile -t victims < <(pgrep -P "$run_pid" -x sleep)
        ;;
    esac
}

# has_paused: succeeds if the run is stopped or has exited.
has_paused() {
    [ ! -e "/proc/$run_pid" ] || [[ $(awk '{ print $3 }' "/proc/$run_pid/stat" 2>/dev/null) == [TZ] ]]
}

# has_begun: succeeds if the command sleeps after the governor was set, or if the run has exited.
has_begun() {
    [ ! -e "/proc/$run_pid" ] || [[ $(awk '{ print $3 }' "/proc/$run_pid/stat" 2>/dev/null) == Z ]] ||
        { [ -n "$(pgrep -P "$run_pid" -r S -x sleep)" ] && [ "$(cat "$governor")" = userspace ]; }
}

# set_foreign: lets another program change a value while the command sleeps, and sets the expected values. The run is
# stopped meanwhile: it has not begun to restore values if its command still sleeps.
set_foreign() {
    local governor=$tree/$policies/policy0/scaling_governor
    await has_begun
    kill -STOP "$run_pid" 2>/dev/null || return 0
    await has_paused
    if [ -n "$(pgrep -P "$run_pid" -r S -x sleep)" ] && [ "$(cat "$governor")" = userspace ]; then
        echo conservative >"$governor.new"
        mv "$governor.new" "$governor"
        foreign=$((foreign + 1))
        sed -i 's,policy0/scaling_governor:ondemand,policy0/scaling_governor:conservative,' "$folder/before"
    fi
    kill -CONT "$run_pid" 2>/dev/null || true
}

# measure_run: sets `length` to the duration of a complete run in milliseconds. Kills are spread over this time.
measure_run() {
    local begin=${EPOCHREALTIME/./}
    unpack "${machines[round % 2]}"
    start_round 0.06
    wait "$run_pid"
    length=$(((${EPOCHREALTIME/./} - begin) / 1000))
}

for ((round = 1; round <= rounds; round++)); do
    [ $((round % 20)) -ne 1 ] || measure_run
    unpack "${machines[round % 2]}"
    all=(program keeper both command)
    who=${all[RANDOM % 4]}
    delay=$((RANDOM % length))
    delay=$((delay / 1000)).$(printf '%03d' $((delay % 1000)))
    # Only the first machine has the governor that another program replaces.
    if [ $((round % 2)) -eq 0 ] && [ $((RANDOM % 3)) -eq 0 ]; then
        start_round 0.5
        set_foreign
    else
        start_round 0.06
    fi
    sleep "$delay"
    find_victims
    [ ${#victims[@]} -eq 0 ] || kill -KILL "${victims[@]}" 2>/dev/null || early=$((early + 1))
    wait "$run_pid" 2>/dev/null || true
    await has_no_lock
    if is_unchanged && [ -z "$(find "$tree/run" -name '*.journal' 2>/dev/null)" ]; then
        returned=$((returned + 1))
    else
        actuate restore >"$folder/out" 2>&1 || fail "restore: $(cat "$folder/out")"
        is_unchanged || fail "not restored: $(diff "$folder/before" <(values))"
        [ -z "$(find "$tree/run" -name '*.journal')" ] || fail "a journal was left"
        restored=$((restored + 1))
    fi
done
echo "$rounds rounds: $returned returned by themselves, $restored by restore; $early were over before the kill;" \
    "$foreign values of other programs survived"
