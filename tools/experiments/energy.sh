#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: power, sampled once a second.

energy=''     # --energy
energy_root=/ # --energy-root
energy_source=
energy_scope=
energy_files=()

# Domains of whole packages; their parts (cores, memory) would be counted twice.
find_rapl() {
    local folder names=()
    energy_files=()
    for folder in "${energy_root%/}"/sys/class/powercap/*-rapl:*; do
        [[ ${folder##*/} =~ ^[a-z-]+-rapl:[0-9]+$ ]] || continue
        [[ $(cat "$folder/name" 2>/dev/null) = package-* ]] || continue
        cat "$folder/energy_uj" >/dev/null 2>&1 || continue # often only root may read it
        energy_files+=("$folder")
        names+=("$(cat "$folder/name")")
    done
    [ ${#energy_files[@]} -gt 0 ] || return 1
    energy_scope="rapl: CPU packages only (${names[*]})"
}

find_hwmon() {
    local file device
    energy_files=()
    for file in "${energy_root%/}"/sys/class/hwmon/hwmon*/power1_{average,input}; do
        [ -r "$file" ] || continue
        energy_files=("$file")
        device=$(cat "${file%/*}/name" 2>/dev/null) || device=unknown
        energy_scope="hwmon: what the sensor $device covers"
        [ "$device" != power_meter ] || energy_scope="hwmon: the whole machine ($device)"
        return
    done
    return 1
}

find_battery() {
    local folder
    energy_files=()
    for folder in "${energy_root%/}"/sys/class/power_supply/*; do
        [ "$(cat "$folder/type" 2>/dev/null)" = Battery ] || continue
        [ "$(cat "$folder/status" 2>/dev/null)" = Discharging ] || continue
        [ -r "$folder/power_now" ] || [ -r "$folder/current_now" ] || continue
        energy_files+=("$folder")
    done
    [ ${#energy_files[@]} -gt 0 ] || return 1
    energy_scope="battery: the whole machine with its screen"
}

# Sets the source that --energy asks for, or says why it is not available.
find_energy() {
    local source
    case $energy in
    '') return ;;
    auto)
        for source in rapl hwmon battery; do
            ! "find_$source" || { energy_source=$source && break; }
        done
        ;;
    rapl | hwmon | battery) ! "find_$energy" || energy_source=$energy ;;
    *)
        energy_source='command'
        energy_scope="command: what it measures ($energy)"
        ;;
    esac
    if [ -n "$energy_source" ]; then
        say "Power: $energy_scope"
    else
        energy_scope=
        say "Power: there is no source ($energy): no energy is recorded"
    fi
}

# Sets `count`, in microjoules, and the time of it.
read_rapl() {
    local folder number
    count=0
    for folder in "${energy_files[@]}"; do
        read -r number <"$folder/energy_uj"
        count=$((count + number))
    done
}

# A counter that begins anew gives no power for that second.
sample_rapl() {
    local before=$count since=$at
    read_rapl
    at=${EPOCHREALTIME/./}
    watts=
    [ "$count" -lt "$before" ] || watts=$(compute "($count - $before) / ($at - $since)")
}

sample_hwmon() {
    local number
    read -r number <"${energy_files[0]}"
    watts=$(compute "$number / 1e6")
}

sample_battery() {
    local folder power current voltage sum=0
    for folder in "${energy_files[@]}"; do
        if [ -r "$folder/power_now" ]; then
            read -r power <"$folder/power_now"
        else
            read -r current <"$folder/current_now"
            read -r voltage <"$folder/voltage_now"
            power=$((current * voltage / 1000000))
        fi
        sum=$((sum + ${power#-}))
    done
    watts=$(compute "$sum / 1e6")
}

sample_command() {
    watts=$(bash -c "$energy" | head -n 1) || watts=
    [[ $watts =~ ^[0-9]+(\.[0-9]+)?$ ]] || watts=
}

# A watt for one sample is a watt-second, so a second without a sample is an empty cell, not a missing line.
sample_energy() {
    local count at=${EPOCHREALTIME/./} watts
    [ "$energy_source" != rapl ] || read_rapl
    each_second watts "sample_$energy_source" watts
}
