#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# shellcheck disable=SC3028 # busybox knows EPOCHREALTIME
# The program of a guest that does what run-in-guest asks for over a line between both, a word a line:
#     clock           answers with the time
#     shift MICROS    sets the clock by that much, then answers with the time
#     run             starts the command; answers with its status when it exits
#     INT, TERM       sends the command this signal
#     off             ends
# The shell that starts it waits for it and reaps orphans.

outer_path=/usr/sbin:/usr/bin:/sbin:/bin
PATH=/run/guest/bin
# The kernel adds the ports one by one. A shell would create a file in place of one that is missing.
until [ -c /dev/vport0p1 ] && [ -c /dev/vport0p2 ] && [ -c /dev/vport0p3 ]; do
    usleep 10000
done
exec 3<>/dev/vport0p1

tell_time() {
    echo "clock $EPOCHREALTIME" >&3
}

# shift_clock MICROSECONDS: a program that sets a clock to a given time, such as date, is late by the time
# that it takes to start. This one reads the time and sets it at once; 227 is clock_settime. Under emulation
# the first pass through the loop is slow, so the first two passes set a clock that does not exist.
shift_clock() {
    # shellcheck disable=SC2016 # of perl
    PATH=$outer_path /usr/bin/env perl -MTime::HiRes=time -e 'for my $clock (99, 99, 0) {
            $time = time() + $ARGV[0] / 1e6;
            syscall(227, $clock, pack("qq", int($time), ($time - int($time)) * 1e9));
        }' -- "$1"
    tell_time
}

# A shell starts background commands with SIGINT and SIGQUIT ignored; env restores them.
run_command() {
    mkfifo /run/guest/output /run/guest/errors
    cat /run/guest/output >/dev/vport0p2 &
    cats=$!
    cat /run/guest/errors >/dev/vport0p3 &
    cats="$cats $!"
    (
        PATH=$outer_path /usr/bin/env --default-signal=INT,QUIT bash /run/guest/command \
            </dev/null >/run/guest/output 2>/run/guest/errors 3>&- &
        echo $! >/run/guest/pid
        wait $!
        echo "status $?" >&3
    ) &
}

# Waits until all output of the command has been passed on, but not forever: a process that the command left
# running may hold the pipe open.
drain() {
    tries=0
    for cat in $cats; do
        while kill -0 "$cat" 2>/dev/null && [ $tries -lt 20 ]; do
            usleep 20000
            tries=$((tries + 1))
        done
    done
    sync
}

cats=
if [ -e /run/guest/missing ]; then
    echo "missing $(head -n 1 /run/guest/missing)" >&3
fi
echo "ready $EPOCHREALTIME" >&3
while read -r word value <&3; do
    case $word in
    clock) tell_time ;;
    shift) shift_clock "$value" ;;
    run) run_command ;;
    INT | TERM) kill -s "$word" "$(cat /run/guest/pid)" ;;
    off) break ;;
    esac
done
drain
