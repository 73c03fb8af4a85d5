#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The environments of tools/experiments/env: each of their commands, and that they leave nothing behind however they
# end.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=guest.sh
. "$here/guest.sh"
# shellcheck source=experiments.sh
. "$here/experiments.sh"
export PATH=$build/bin:$PATH
# An emulated guest needs 15 s of CPU time to boot, and far longer on a busy machine.
# shellcheck disable=SC2034 # await reads it
patience=600
envs=$experiments/env
export SHOWSTOPPER_PLACES=$scratch/places
place=test.$$.role
holder=
entered=

clean_up() {
    local pid
    for pid in $holder $entered; do
        kill -TERM "$pid" 2>/dev/null || true
    done
    wait
    [ -z "${env-}" ] || "$env" close "$place" 2>/dev/null || true
}

# choose_environment NAME: sets `env`; skips the case if the environment is unavailable.
choose_environment() {
    local why
    env=$envs/$1
    ! why=$("$env" why-not) || case $why in
    *' is not installed'*) skip "${why%% *}: not installed" ;;
    *) skip "$2: $why" ;;
    esac
}

# hold OPTION...: holds `place` in the background and sets `holder`; the output is in $scratch/said. Bash makes
# background processes ignore SIGINT, which a script could then not trap; `env` restores the default.
hold() {
    rm -f said
    env --default-signal=INT "$env" hold "$place" "$@" >said 2>"$output" &
    holder=$!
}

opens() {
    grep -qsx open said && return
    kill -0 "$holder" 2>/dev/null || fail "hold ended early: $(cat "$output")"
    return 1
}

open_place() {
    hold "$@"
    await opens
}

# close_by_signal SIGNAL: ends the hold, which must exit with 0.
close_by_signal() {
    kill -"$1" "$holder"
    ends 0 "$holder"
    holder=
    nothing_of_the_place_is_left
}

kill_hold() {
    kill -KILL "$holder" 2>/dev/null || true
    wait "$holder" 2>/dev/null || true
    holder=
}

# enter STATUS COMMAND...: executes the command in the place; its output is in $output.
enter() {
    local status=0
    "$env" enter "$place" "${@:2}" >"$output" 2>&1 || status=$?
    [ "$status" -eq "$1" ] || fail "enter ${*:2}: expected status $1, got $status"
}

# refuses MESSAGE ARGUMENT...: fails unless the environment refuses the arguments with this message in one line.
refuses() {
    ! "$env" "${@:2}" >"$output" 2>&1 || fail "${*:2}: accepted"
    grep -Fq -- "$1" "$output" || fail "${*:2}: no '$1' in the output"
    [ "$(wc -l <"$output")" -eq 1 ] || fail "${*:2}: more than one line of output"
}

# Prints the files of processes that have this test's folder of places in their environment or arguments.
list_processes() {
    env -u SHOWSTOPPER_PLACES grep -lsazx "SHOWSTOPPER_PLACES=$scratch/[p]laces" /proc/[0-9]*/environ || true
    env -u SHOWSTOPPER_PLACES grep -lsa "$scratch/[p]laces" /proc/[0-9]*/cmdline || true
}

no_process_is_left() {
    [ -z "$(jobs -rp)" ] && [ -z "$(list_processes)" ]
}

nothing_of_the_place_is_left() {
    local file
    await no_process_is_left
    for file in places /run/lxc/lock"$scratch" /run/showstopper-"$(sha256sum <<<"$scratch/places/$place" | cut -c 1-16)"; do
        [ ! -e "$file" ] || fail "leftover: $(find "$file")"
    done
    [ -z "$(find /sys/fs/cgroup -name "showstopper-$place" 2>/dev/null)" ] || fail "leftover control groups"
    ! grep -F "$scratch" /proc/mounts || fail "leftover mounts"
}

# begin_entered OPTION... -- COMMAND: enters the place in the background with a command that prints `up`, and sets
# `entered`.
begin_entered() {
    rm -f "$scratch/entered" # a previous command printed "up", too
    "$env" enter "$place" "$@" >"$scratch/entered" 2>&1 &
    entered=$!
    await grep -qsx up "$scratch/entered"
}

# A command in the place has the caller's folder and variables, and its status is returned.
enter_follows_the_contract() {
    mkdir -p "work folder"
    cd "work folder"
    # shellcheck disable=SC2016 # expanded in the place
    GIVEN=given enter 5 -- sh -c 'pwd; echo "$GIVEN $1"; exit 5' sh 'two  words'
    [ "$(cat "$output")" = "$scratch/work folder
given two  words" ] || fail "wrong folder, variables or arguments"
    cd ..
    # shellcheck disable=SC2016 # expanded in the place
    begin_entered -- sh -c 'trap "echo ended; exit 9" TERM; echo up; while :; do sleep 0.1; done'
    kill -TERM "$entered"
    ends 9 "$entered"
    entered=
    grep -qx ended "$scratch/entered" || fail "SIGTERM was not passed on"
}

# An instance stays in the process group that is stopped, and its exit status is returned.
instances_stay_in_their_process_group() {
    enter 6 --instance -- sh -c 'exit 6'
    begin_entered --instance -- sh -c "echo up; sleep 1000.$$; exit"
    # The shell may print `up` before sleep runs.
    await pgrep -fx "sleep 1000.$$" >"$output"
    pgrep -g "$(ps -o pgid= -p "$entered" | tr -d ' ')" -fx "sleep 1000.$$" >"$output" ||
        fail "the command of an instance has another process group"
}

group_contains_commands() {
    local group pid
    group=$("$env" group "$place")
    [[ $group = "/showstopper-$place"* ]] || fail "wrong group: $group"
    pid=$(pgrep -fx "sleep 1000.$$")
    grep -q ":$group$" "/proc/$pid/cgroup" || fail "$group: a command is in $(cat "/proc/$pid/cgroup")"
}

# kill_at_random OPTION...: kills holds while they open, run or end.
kill_at_random() {
    local turn
    for turn in 1 2 3 4 5 6 7 8; do
        hold "$@"
        sleep "0.$((RANDOM % 5))"
        [ $((turn % 2)) -eq 0 ] || kill -TERM "$holder" 2>/dev/null || true
        sleep "0.0$((RANDOM % 9))"
        kill_hold
        [ $((turn % 4)) -ne 0 ] || "$env" close "$place"
    done
    open_place "$@" # without a pause, although the killed hold may have left a running command
    close_by_signal TERM
    nothing_of_the_place_is_left
}

# places_follow_the_contract OPTION...: holds get these options.
places_follow_the_contract() {
    "$env" close "$place" || fail "close of nothing fails"
    open_place "$@"
    [ "$(cat said)" = open ] || fail "hold prints $(cat said)"
    refuses "$place is already held" hold "$place" "$@"
    enter_follows_the_contract
    instances_stay_in_their_process_group
    group_contains_commands
    close_by_signal TERM
    wait "$entered" || true
    entered=
    refuses "$place is not open" enter "$place" -- true
    open_place "$@"
    close_by_signal INT
    # close ends a hold that runs.
    open_place "$@"
    "$env" close "$place" & # two at once
    "$env" close "$place" other
    ends 0 "$holder"
    holder=
    nothing_of_the_place_is_left
    kill_at_random "$@"
}

# A container ends with its hold, even without a close, and the next hold removes what it left.
killed_containers_end() {
    local first
    open_place
    read -r first _ <"places/$place/place"
    kill_hold
    await is_gone "$first"
    refuses "$place is not open" enter "$place" -- true
    open_place
    begin_entered -- sh -c 'echo up; sleep 1000'
    kill_hold
    await is_gone "$entered"
    wait "$entered" || true
    entered=
    "$env" close "$place"
    nothing_of_the_place_is_left
    open_place
    read -r first _ <"places/$place/place"
    kill -KILL "$first"
    ends 1 "$holder"
    holder=
    grep -q "$place: the container ended by itself" "$output" || fail "hold does not report the end of its container"
    refuses "$place: cannot start: " hold "$place" --cpus 9999
    nothing_of_the_place_is_left
}

# containers_follow_the_contract ENVIRONMENT
containers_follow_the_contract() {
    choose_environment "$1" containers
    mkdir -p "shared folder"
    open_place --cpus "$(first_cpu)" --quota 0.5 --share "shared folder"
    # shellcheck disable=SC2016 # expanded in the container
    enter 0 -- sh -c 'uname -n; taskset -c 0-1023 nproc; cat /sys/fs/cgroup/cpu*/cpu.cfs_quota_us \
        /sys/fs/cgroup/cpu.max 2>/dev/null; touch "shared folder/file"; touch file 2>/dev/null || echo kept'
    [ "$(sed 's/ 100000$//' "$output" | paste -sd ' ')" = "role 1 50000 kept" ] || fail "wrong name, CPUs, quota or rights"
    [ -e "shared folder/file" ] || fail "the shared folder cannot be written to"
    close_by_signal TERM
    places_follow_the_contract --share "$scratch"
    killed_containers_end
}

lxc_environment_follows_the_contract() { containers_follow_the_contract lxc; } # case
podman_environment_follows_the_contract() { containers_follow_the_contract podman; } # case

group_environment_follows_the_contract() { # case
    local file
    choose_environment group cgroup-quota
    open_place --cpus "$(first_cpu)" --quota 0.25
    enter 0 -- taskset -c 0-1023 nproc
    [ "$(cat "$output")" = 1 ] || fail "one CPU was selected, $(cat "$output") are permitted"
    for file in /sys/fs/cgroup{,/*}/"showstopper-$place"/cpu.{cfs_quota_us,max}; do
        [ ! -e "$file" ] || cat "$file"
    done >quota
    [ "$(sed 's/ 100000$//' quota)" = 25000 ] || fail "wrong quota: $(cat quota)"
    close_by_signal TERM
    refuses "$place: cannot start: showstopper-place: cannot set the CPUs to 8191" hold "$place" --cpus 8191
    places_follow_the_contract --quota 1
    # No process of a group ends with its hold; close ends the entered processes.
    open_place
    begin_entered -- sh -c 'echo up; setsid sleep 1000 & wait'
    kill_hold
    "$env" close "$place" && "$env" close "$place"
    wait "$entered" || true
    entered=
    nothing_of_the_place_is_left
}

guest_starts() {
    pgrep -P "$entered" qemu-system >/dev/null
}

guest_environment_follows_the_contract() { # case
    local guest folder words
    choose_environment guest guest
    need_guest
    words=(--guest "$guest" --acceleration tcg --memory 512M --quota 2 --share "$scratch" --clock clock.csv
        --grace 1200)
    open_place "${words[@]}"
    [ "$(cat said)" = open ] || fail "hold prints $(cat said)"
    refuses "$place is already held" hold "$place" "${words[@]}"
    refuses "$place has no control group" group "$place"
    refuses "Showstopper on the host cannot start processes in a guest" enter "$place" --instance -- true
    # shellcheck disable=SC2016 # expanded in the guest
    begin_entered -- sh -c 'pwd; nproc; trap "echo ended; exit 9" TERM; echo up; while :; do sleep 1 & wait; done'
    kill -TERM "$entered"
    ends 9 "$entered"
    [ "$(paste -sd ' ' "$scratch/entered")" = "$scratch 2 up ended" ] ||
        fail "wrong folder or number of CPUs, or SIGTERM was not passed on: $(cat "$scratch/entered")"
    grep -q ^end clock.csv || fail "no times in clock.csv: $(cat clock.csv)"
    # close ends a guest even if hold and enter were both killed.
    begin_entered -- sh -c 'echo up; sleep 1000'
    kill_hold
    "$env" close "$place"
    ends 143 "$entered"
    open_place "${words[@]}"
    "$env" enter "$place" -- true >"$scratch/entered" 2>&1 &
    entered=$!
    await guest_starts
    folder=$(tr '\0' '\n' <"/proc/$(pgrep -P "$entered" qemu-system)/cmdline" |
        sed -n 's,^pipe.*path=\(.*\)/control$,\1,p')
    kill -KILL "$entered"
    wait "$entered" 2>/dev/null || true
    entered=
    kill_hold
    "$env" close "$place"
    [ -n "$folder" ] || fail "the arguments of qemu have no folder"
    [ ! -e "$folder" ] || fail "leftover folder of a guest: $folder"
    nothing_of_the_place_is_left
}

# A process that reuses the pid of an ended container's first process must not be entered.
a_container_whose_pid_was_reused_is_not_entered() { # case
    choose_environment lxc containers
    open_place
    # A process that reuses the pid has another start time.
    sed -i '1s/ .*/ 1/' "places/$place/place"
    refuses "$place: the container has exited" enter "$place" -- touch entered
    # A holder with another start time is not accepted, either.
    sed -i 's/ .*/ 1/' "places/$place/holder"
    refuses "$place is not open" enter "$place" -- true
    close_by_signal TERM
}

# close ends a program that continues to open a place after its hold was killed.
nothing_is_created_after_the_environment_is_closed() { # case
    choose_environment group cgroup-quota
    sed "s,\${BASH_SOURCE\[0\]%/\*},$envs,; s,    exec \"\$helper\",    touch opening; until [ -e made ]; do sleep 0.02; done; exec \"\$helper\"," \
        "$env" >slow
    grep -q "touch opening" slow || fail "env/group opens in another way"
    chmod +x slow
    env=$PWD/slow
    hold --quota 1
    await [ -e opening ]
    kill_hold
    "$env" close "$place"
    touch made
    nothing_of_the_place_is_left
}

# A process that enters while the place is closed would survive.
an_environment_that_is_closing_is_not_entered() { # case
    choose_environment group cgroup-quota
    { sed '$d' "$env" | sed "s,\${BASH_SOURCE\[0\]%/\*},$envs,"
        echo 'clean() { [ ! -e block ] || { touch cleaning && until [ -e closed ]; do sleep 0.02; done; }; }'
        echo 'serve "$@"'; } >slow
    chmod +x slow
    env=$PWD/slow
    open_place
    touch block
    kill -TERM "$holder"
    await [ -e cleaning ]
    refuses "$place is not open" enter "$place" -- true
    touch closed
    ends 0 "$holder"
    holder=
    nothing_of_the_place_is_left
}

simultaneous_holds_open_the_environment_once() { # case
    local number pids=() opened=0
    choose_environment group cgroup-quota
    for number in 1 2 3 4; do
        "$env" hold "$place" --quota 1 >"said.$number" 2>&1 &
        pids+=($!)
    done
    await one_opened
    for number in 1 2 3 4; do
        ! grep -qx open "said.$number" || { holder=${pids[number - 1]} && continue; }
        ends 1 "${pids[number - 1]}"
        opened=$((opened + 1))
    done
    [ "$opened" -eq 3 ] || fail "$opened of 4 were refused"
    close_by_signal TERM
}

one_opened() {
    [ "$(grep -lx open said.? | wc -l)" -eq 1 ] && [ "$(grep -l held said.? | wc -l)" -eq 3 ]
}

options_and_names_are_checked() { # case
    env=$envs/group
    "$env" --help | grep -q "^Usage: group why-not" || fail "--help"
    "$envs/guest" --help | grep -Fq "[--vcpu-times VALUE]" || fail "--help of guest"
    refuses "unknown command 'open': use why-not, hold, enter, group or close" open
    refuses "../x: invalid place name" hold ../x
    refuses "invalid place name" hold
    refuses "close: too few arguments" close
    refuses "--cpus: 'x' is not a list of CPUs" hold "$place" --cpus x
    refuses "--quota: '0.0' is not a number of CPUs above 0" hold "$place" --quota 0.0
    refuses "--share: '/nowhere' is not a folder" hold "$place" --share=/nowhere
    refuses "--guest: unknown option" hold "$place" --guest x
    refuses "enter: a command must follow --" enter "$place" --
    refuses "$place is not open" group "$place"
    choose_environment guest guest
    mkdir guest
    refuses "$place: cannot start: guest: --guest: 'guest' is not a guest that this version can boot" hold "$place" --guest guest
    echo format=1 >guest/about
    refuses "$place: cannot start: guest: --memory: '3' is not a size" hold "$place" --guest guest --memory 3
    [ ! -e places ] || fail "leftover: $(find places)"
}

# Bash as sh limits `read` by TMOUT.
variables_do_not_end_containers() { # case
    local pid
    mkdir bash_as_sh
    ln -s "$(type -P bash)" bash_as_sh/sh
    mkfifo life
    (
        # shellcheck source=/dev/null
        . "$envs/place.sh"
        export TMOUT=1 PATH=$PWD/bash_as_sh:$PATH
        # shellcheck disable=SC2154 # place.sh sets it
        exec "${first_process[@]}" <life >said
    ) &
    pid=$!
    exec 7>life
    await grep -qx open said
    sleep 1.5 # longer than TMOUT
    ! is_gone "$pid" || fail "TMOUT ends a container"
    exec 7>&-
    wait "$pid" || fail "status $?"
}

# Runs the environment that env/README.md shows as an example.
the_example_in_the_readme_follows_the_contract() { # case
    mkdir -p experiments/env
    ln -s "$source/tools/folders.sh" .
    ln -s "$envs/place.sh" experiments/env
    env=$PWD/experiments/env/nice
    awk '/^```/ { inside = !inside; next } inside' "$envs/README.md" | sed -n '/^#!/,/^serve/p' >"$env"
    chmod +x "$env"
    [ "$(grep -c . "$env")" -le 20 ] || fail "the example has $(grep -c . "$env") lines"
    ! "$env" why-not || fail "why-not: unavailable"
    refuses "--quota: nice limits no CPU time" hold "$place" --quota 1
    open_place --by 7 --cpus "$(first_cpu)"
    enter 3 -- sh -c 'nice; nproc; exit 3'
    # The priority is relative to that of this test.
    [ "$(paste -sd ' ' "$output")" = "$(nice -n 7 nice) 1" ] || fail "wrong priority or CPUs: $(paste -sd ' ' "$output")"
    enter_follows_the_contract
    begin_entered --instance -- sh -c 'echo up; exec sleep 1000'
    refuses "$place has no control group" group "$place"
    kill_hold
    "$env" close "$place"
    ends 143 "$entered"
    entered=
    nothing_of_the_place_is_left
    # The holder has the time to end its processes, even if they are stopped or ignore SIGTERM.
    open_place
    begin_entered --instance -- sh -c 'echo up; exec sleep 1000'
    kill -STOP "$entered"
    "$env" close "$place"
    ends 0 "$holder"
    ends 143 "$entered"
    open_place
    begin_entered --instance -- sh -c 'trap "" TERM; echo up; exec sleep 1000'
    "$env" close "$place"
    ends 0 "$holder"
    ends 137 "$entered"
    holder='' entered=''
    nothing_of_the_place_is_left
    PATH=$build/bin /bin/bash "$env" why-not >"$output" || fail "why-not: available without nice"
    grep -qx "nice or taskset is not installed" "$output" || fail "why-not: no reason"
    PATH=$scratch/nowhere /bin/bash "$env" why-not >"$output" || fail "why-not: available without showstopper-place"
    grep -q "^cannot find showstopper-place: " "$output" || fail "why-not: no reason without showstopper-place"
}

samples_are_taken() {
    [ "$(grep -c ',7.5$' energy.csv)" -ge 2 ]
}

# Power is sampled in complete lines until SIGTERM.
energy_is_sampled_until_the_sampler_is_terminated() { # case
    printf '#!/bin/sh\nexec "%s/showstopper-platform" energy "$@"\n' "$bin" >energy
    chmod +x energy
    env=$PWD/energy
    refuses "--output: cannot write /nowhere/file" "echo 7.5" --output /nowhere/file
    refuses "there is no source of power (rapl)" rapl --root "$scratch" --output energy.csv
    "$env" rapl --root "$scratch" --why-not >"$output" || fail "--why-not: available"
    grep -qx "there is no source of power (rapl)" "$output" || fail "--why-not: no reason"
    ! "$env" "echo 7.5" --why-not >"$output" || fail "--why-not: unavailable"
    "$env" "echo 7.5" --output energy.csv >said 2>"$output" &
    holder=$!
    await opens
    await samples_are_taken
    kill -TERM "$holder"
    ends 0 "$holder"
    holder='' env=''
    awk -F, 'NR == 1 && $0 != "time,elapsed_seconds,watts" || NF != 3 { exit 1 }
        NR > 1 && ($2 < NR - 1 || $3 != 7.5) { exit 1 }' energy.csv || fail "wrong samples: $(cat energy.csv)"
}

run_cases
