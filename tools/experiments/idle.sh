#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by `idle`: the time in idle states and the frequency of CPUs, sampled once a second.

idle_cpus=()   # CPUs with idle states
idle_states=() # names, the lightest first
idle_files=()  # one for each CPU and state: microseconds in that state
idle_of=()     # the number of the state of each file
idle_frequencies=()

# find_state NAME: sets `state`, the number of this name, which is added if it is new.
find_state() {
    for ((state = 0; state < ${#idle_states[@]}; state++)); do
        [ "${idle_states[state]}" != "$1" ] || return 0
    done
    idle_states+=("$1")
}

# find_idle ROOT [CPUS]: fails unless a CPU has idle states.
find_idle() {
    local cpus=${1%/}/sys/devices/system/cpu cpu folder name state numbers
    idle_cpus=() idle_states=() idle_files=() idle_of=() idle_frequencies=()
    mapfile -t numbers < <([ -z "${2-}" ] || list_cpus "$2")
    [ -n "${2-}" ] || mapfile -t numbers < <(printf '%s\n' "$cpus"/cpu[0-9]* | sed 's/.*cpu//' | sort -n)
    for cpu in "${numbers[@]}"; do
        [ -r "$cpus/cpu$cpu/cpuidle/state0/time" ] || continue
        idle_cpus+=("$cpu")
        for folder in "$cpus/cpu$cpu"/cpuidle/state*; do
            name=$(tr -c 'A-Za-z0-9_\n' _ <"$folder/name") || name=${folder##*/}
            find_state "$name"
            idle_files+=("$folder/time")
            idle_of+=("$state")
        done
        [ ! -r "$cpus/cpu$cpu/cpufreq/scaling_cur_freq" ] || idle_frequencies+=("$cpus/cpu$cpu/cpufreq/scaling_cur_freq")
    done
    [ ${#idle_cpus[@]} -gt 0 ]
}

# Adds the microseconds since the last call to `spent`, by state. A counter that went back, or whose CPU is offline,
# adds nothing.
read_idle() {
    local i number
    spent=()
    for ((i = 0; i < ${#idle_states[@]}; i++)); do
        spent[i]=0
    done
    for ((i = 0; i < ${#idle_files[@]}; i++)); do
        { read -r number <"${idle_files[i]}"; } 2>/dev/null || number=
        [ -z "$number" ] || [ -z "${last[i]-}" ] || [ "$number" -lt "${last[i]}" ] ||
            spent[idle_of[i]]=$((spent[idle_of[i]] + number - last[i]))
        last[i]=$number
    done
}

# Sets `frequency`, the mean of the CPUs in kHz; empty if no CPU has one.
read_frequency() {
    local file number sum=0 count=0
    frequency=
    for file in "${idle_frequencies[@]}"; do
        { read -r number <"$file"; } 2>/dev/null || continue
        sum=$((sum + number)) count=$((count + 1))
    done
    [ "$count" -eq 0 ] || frequency=$((sum / count))
}

# write_share PART WHOLE: sets `share`, a part of 1 with four digits; at most 1, and empty without a whole.
write_share() {
    local parts
    share=
    [ "$2" -gt 0 ] || return 0
    parts=$(($1 * 10000 / $2))
    [ "$parts" -lt 10000 ] || parts=10000
    printf -v share '%d.%04d' $((parts / 10000)) $((parts % 10000))
}

# sample_idle SPENT_MICROSECONDS: sets `row`: the active share of all CPUs, the frequency, and the share of each state
# in the idle time.
sample_idle() {
    local all=$(($1 * ${#idle_cpus[@]})) idle=0 state share frequency
    local -a spent
    read_idle
    read_frequency
    for state in "${spent[@]}"; do
        idle=$((idle + state))
    done
    write_share $((all > idle ? all - idle : 0)) "$all"
    [ -z "$frequency" ] || printf -v frequency '%d.%03d' $((frequency / 1000)) $((frequency % 1000))
    row=$share,$frequency
    for state in "${spent[@]}"; do
        write_share "$state" "$idle"
        row+=,$share
    done
}

# Starts no process for a sample, which would wake CPUs.
sample_idle_states() {
    local row last=()
    sample_idle 0
    each_second "active,frequency_mhz$(printf ',%s' "${idle_states[@]}")" sample_idle row
}
