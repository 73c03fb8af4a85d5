#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ssactuate sets and restores knobs: on recorded machines with a fake kernel, and in this machine's control groups.
# shellcheck disable=SC2016 # commands are literal

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=actuate.sh
. "$here/actuate.sh"
PATH=$build/bin:$PATH
need_built ssactuate
folder=$scratch
run_pid=
groups=()

clean_up() {
    local group
    [ -z "$run_pid" ] || kill -TERM "$run_pid" 2>/dev/null || true
    for group in "${groups[@]}"; do
        kill -KILL -- "-$group" 2>/dev/null || true
    done
}

# need_cpu_0: skips the case unless this process may use CPU 0, to which a recorded machine binds its command.
need_cpu_0() {
    taskset -c 0 true 2>/dev/null || skip "affinity: CPU 0 cannot be used"
}

list_says_why_an_actuator_is_absent() { # case
    mkdir -p "$folder/empty/sys"
    expect 0 ssactuate list --root "$folder/empty"
    says out "frequency  absent: the kernel has no cpufreq policy"
    says out "memory     absent: cannot create a control group with a memory limit"
    says out "power      absent: the kernel has no package with a power limit"
    says out "idle       absent: the kernel has no idle injection"
    says out "replace neither cpus nor quota"
    says out "reserves neither CPUs nor CPU time."
    expect 3 ssactuate get frequency --root "$folder/empty"
    says err "ssactuate: frequency is absent: the kernel has no cpufreq policy"
    expect 125 ssactuate run frequency=min --root "$folder/empty" -- touch "$folder/started"
    [ ! -e "$folder/started" ] || fail "the command was started without its knob"
}

unknown_knobs_and_options_are_refused() { # case
    local words text
    unpack acpi-cpufreq
    expect 125 actuate get frequency@99
    [ ! -s out ] || fail "a part was printed"
    while IFS='|' read -r -u 3 words text; do
        # shellcheck disable=SC2086 # a list of words
        expect 125 actuate $words
        says err "$text"
    done 3<<'END'
get freqency|did you mean 'frequency'?
get size|size is short for cpus, quota and memory
get pin=free|pin=free
list --record f|--record
run pin=free|no command given: put it after --
run -- touch started|no actuator given
run pin -- touch started|'pin' has no level
run pin=per-cor -- touch started|unknown scheme 'per-cor': did you mean 'per-core'? Available: first, one-node,
run quota=50% quota=60% -- touch started|quota
run size=cpus=1 -- touch started|size
run --check pin=first:1 frequency=9GHz|frequency: '9GHz' is out of range
run --check duty=0%|duty=0%: the duty must be at least 0.000001%
run --check duty=50%,tau=2h|tau from 1ms to 1h
run --check pin=free -- touch started|--check starts no command: leave out --
run --check pin=free --record record|--check cannot be combined with --record
get --check pin|--check is for `run`
END
    expect 125 ssactuate lsit
    says err "did you mean 'list'?"
    expect 0 actuate run --check frequency=1.6GHz,turbo=off pin=first:1
    [ ! -e "$tree/log" ] || fail "written: $(cat "$tree/log")"
    [ ! -e started ] || fail "a command was started"
    unchanged
}

knobs_are_set_while_the_command_runs() { # case
    unpack acpi-cpufreq
    expect 7 actuate run frequency=1.6GHz,turbo=off --record "$folder/record" -- sh -c '
        cat "$1"/sys/devices/system/cpu/cpufreq/policy1/scaling_setspeed \
            "$1"/sys/devices/system/cpu/cpufreq/policy1/scaling_governor \
            "$1"/sys/devices/system/cpu/cpufreq/boost; exit 7' - "$tree"
    is out $'1600000\nuserspace\n0'
    unchanged
    says record '"asked": "1600000"'
    says record '"got": "1600000"'
    says record '"status": 7'
    says record '"schema": 1,'
}

# Each row has a recorded machine, a variant of it, knobs, and what files have during the run: maximum before minimum. The
# zone psys limits the whole platform, displays and fans included, and is left alone. 60.1 W are rounded by the kernel.
knobs_have_their_values_in_the_order_that_the_kernel_accepts() { # case
    local name special knobs files content paths zones=$scratch/tree/sys/class/powercap
    # shellcheck disable=SC2034 # in the table
    local policies=$scratch/tree/sys/devices/system/cpu/cpufreq
    local -a words
    while IFS='|' read -r name special knobs files content; do
        unpack "$name"
        eval "$special"
        remember
        read -ra words <<<"$knobs"
        eval "paths=($files)"
        expect 0 actuate run "${words[@]}" -- cat "${paths[@]}"
        [ "$(paste -sd ' ' out)" = "$content" ] || fail "$name, $special, $knobs: $(cat out)"
        is err ''
        unchanged
    done <<'END'
acpi-cpufreq|write_max 1600000|frequency=max|"$policies"/policy0/scaling_setspeed|2100000
intel-pstate||frequency=3GHz,turbo=off|"$policies"/policy3/scaling_m*_freq|3000000 3000000
intel-pstate|write_max 1500000|frequency=2GHz|"$policies"/policy3/scaling_m*_freq|2000000 2000000
intel-pstate|write_max 1500000|frequency=1.3GHz-2GHz|"$policies"/policy3/scaling_m*_freq|2000000 1300000
intel-pstate||frequency=2GHz frequency@1=3GHz|"$policies"/policy[01]/scaling_m*_freq|2000000 2000000 3000000 3000000
intel-pstate||power=60.1W|"$zones"/intel-rapl:0/constraint_0_power_limit_uw|60000000
intel-pstate|second_zone package-1|power=80W power@intel-rapl:0=60W|"$zones"/intel-rapl:[01]/constraint_0_power_limit_uw|60000000 80000000
intel-pstate|second_zone psys|power=60W|"$zones"/intel-rapl:[01]/constraint_0_power_limit_uw|60000000 85000000
intel-pstate|second_zone psys|power@intel-rapl:1=60W|"$zones"/intel-rapl:[01]/constraint_0_power_limit_uw|85000000 60000000
END
    expect 0 actuate get power
    is out 'power@intel-rapl:0=85W'
}

# second_zone NAME: adds a zone with a limit of power.
second_zone() {
    cp -r "$zones/intel-rapl:0" "$zones/intel-rapl:1"
    echo "$1" >"$zones/intel-rapl:1/name"
}

knobs_are_restored_in_reverse_order() { # case
    unpack intel-pstate
    expect 0 actuate run power=60W frequency@1=2GHz,turbo=off -- true
    [ "$(cut -d ' ' -f 1 "$tree/log" | tr '\n' ' ')" = "constraint_0_power_limit_uw no_turbo scaling_min_freq \
scaling_max_freq scaling_max_freq scaling_min_freq no_turbo constraint_0_power_limit_uw " ] ||
        fail "order: $(cat "$tree/log")"
    unchanged
}

# Each row has a recorded machine, a variant of its kernel, knobs, and a message of the run; without a message, the run
# succeeds. fake_kernel.c and fake_groups.c describe the rules of the kernel.
values_changed_or_refused_by_the_kernel_are_reported() { # case
    need_cpu_0
    local name special knobs text status
    local -a words
    while IFS='|' read -r name special knobs text; do
        unpack "$name"
        eval "$special"
        remember
        read -ra words <<<"$knobs"
        status=125
        [ -n "$text" ] || status=0
        rm -f "$folder/started"
        expect "$status" actuate run "${words[@]}" -- touch "$folder/started"
        [ -z "$text" ] || says err "$text"
        [ "$status" = 0 ] || [ ! -e "$folder/started" ] || fail "the command was started: $name $special $knobs"
        unchanged
    done <<'END'
acpi-cpufreq|fault scaling_governor EINVAL|frequency=1.4GHz|Invalid argument: the kernel does not have this governor
acpi-cpufreq|fault scaling_governor lose|frequency=1.4GHz|policy0/scaling_governor is ondemand after it was set to userspace
acpi-cpufreq|fault scaling_setspeed ok EBUSY|frequency=1.4GHz|cannot set /sys/devices/system/cpu/cpufreq/policy1/scaling_setspeed to 1400000: Device or resource busy: one of its CPUs is going online
acpi-cpufreq|fault scaling_setspeed 2100000|frequency=1.4GHz|is 2100000 after it was set to 1400000
acpi-cpufreq|fault scaling_setspeed ok ok 1900000|frequency=1.4GHz|policy2/scaling_setspeed is 1900000 after it was set to 1400000
acpi-cpufreq|fault boost EINVAL|frequency=1.4GHz,turbo=off|cannot set /sys/devices/system/cpu/cpufreq/boost to 0: Invalid argument
acpi-cpufreq|fault scaling_governor ok EROFS|frequency=1.4GHz|Read-only file system: /sys is mounted read-only here
acpi-cpufreq|touch "$tree/read-only"|frequency=1.4GHz|frequency is absent: cannot write /sys/devices/system/cpu/cpufreq/policy0
intel-pstate|touch "$tree/read-only"|power=60W|power is absent: cannot write /sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw
intel-pstate|fault scaling_max_freq EIO|frequency=2GHz|Input/output error: the hardware refuses it
intel-pstate|fault no_turbo EPERM|frequency=2GHz,turbo=off|Operation not permitted: the firmware has switched turbo off
intel-pstate|fault scaling_min_freq 1200000|frequency=2GHz|policy0/scaling_min_freq is 1200000 after it was set to 2000000
intel-pstate|touch "$tree/clamps-minimum"|frequency=3GHz|
intel-pstate|touch "$tree/clamps-minimum"; write_max 1500000|frequency=3GHz|
intel-pstate|write_max 1500000|frequency=3GHz|
intel-pstate|fault constraint_0_power_limit_uw EACCES|power=60W|Permission denied: the firmware has locked this limit
intel-pstate|fault constraint_0_power_limit_uw EINVAL|power=60W|cannot set /sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw to 60000000: Invalid argument
intel-pstate|fault constraint_0_power_limit_uw lose|power=60W|constraint_0_power_limit_uw is 85000000 after it was set to 60000000
intel-pstate|fault constraint_0_power_limit_uw.read ok EIO|power=60W|cannot read /sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw: Input/output error
intel-pstate|fault constraint_0_power_limit_uw.read ok ok EIO|power=60W|
intel-pstate|fault constraint_0_power_limit_uw.read EIO|power=60W|cannot read /sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw: Input/output error
amd-boost|fault boost ok EINVAL|frequency=1GHz,turbo=off|cannot set /sys/devices/system/cpu/cpufreq/policy1/boost to 0: Invalid argument
cgroup-v1||quota=150% memory=5001K cpus=1|
cgroup-v1||quota=300%|Invalid argument: a parent group may allow less
cgroup-v1|fault cpu.cfs_period_us EINVAL|quota=50%|cannot set quota: the kernel refuses '100000'
cgroup-v1|fault cpu.cfs_quota_us lose|quota=50%|cpu.cfs_quota_us is '-1' after it was set to '50000'
cgroup-v1||pin=3|cpuset.cpus: Permission denied: the parent group may lack one of these CPUs
cgroup-v1|fault cpuset.cpus ok EINVAL|pin=1|cpuset.cpus: Invalid argument: one of these CPUs may be offline
cgroup-v1|fault cpuset.cpus ok lose|pin=1|cpuset.cpus is '0-2' after it was set to '1'
cgroup-v1|fault cpuset.cpus EINVAL|pin=0|
cgroup-v1|fault cpuset.mems lose|pin=1|No space left on device: the cpuset of the group has no CPUs or no memory nodes
cgroup-v1|fault cgroup.procs EACCES|quota=50%|cannot move the command into its control group: Permission denied
cgroup-v1|echo 8000000 >"$tree/in-use"|memory=4M|memory.limit_in_bytes: Device or resource busy: the group already uses more
cgroup-v1|fault memory.limit_in_bytes lose|memory=4M|memory.limit_in_bytes is '9223372036854771712' after it was set to '4194304'
cgroup-v2||quota=150% memory=5001K cpus=1|
cgroup-v2|fault cpu.max EINVAL|quota=50%|cpu.max: Invalid argument
cgroup-v2|fault cpu.max lose|quota=50%|cpu.max is 'max 100000' after it was set to '50000 100000'
cgroup-v2|fault cpuset.cpus EINVAL|pin=1|cpuset.cpus: Invalid argument: one of these CPUs may be offline
cgroup-v2|echo 0-1 >"$tree/sys/fs/cgroup/cpuset.cpus.effective"|pin=2|cpuset.cpus.effective is '0-1' after it was set to '2'
cgroup-v2|fault cgroup.procs EBUSY|pin=1|Device or resource busy: another program has enabled controllers for its subgroups
cgroup-v2|fault cgroup.subtree_control EBUSY|memory=4M|Device or resource busy
cgroup-v2|fault cgroup.subtree_control EBUSY|pin=0|
cgroup-v2|fault memory.max lose|memory=4M|memory.max is 'max' after it was set to '4194304'
acpi-cpufreq||pin=3,each frequency=1.4GHz|cannot run the command on CPUs 3: some of them are offline
END
}

# write_max KHZ: lowers the maximum of all policies.
write_max() {
    echo "$1" | tee "$tree"/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq >/dev/null
}

values_are_written_again_if_they_differ() { # case
    local words
    unpack intel-pstate
    fault constraint_0_power_limit_uw ok lose
    expect 0 actuate run power=60W -- true
    unchanged
    write_policy "load record $folder/load" 'below 100% power=60W'
    for words in 'run power=60W -- true' 'run power=60W -- ./none' 'follow --policy policy -- true'; do
        fault constraint_0_power_limit_uw ok lose lose
        # shellcheck disable=SC2086 # a list of words
        expect 125 actuate $words
        says err "constraint_0_power_limit_uw is 60000000 and cannot be restored to 85000000"
        [[ $words != *none ]] || says err "cannot execute './none': No such file or directory"
        expect 0 actuate restore
        is out "restored the changes of 1 killed run"
        unchanged
    done
}

values_changed_by_other_programs_are_not_restored() { # case
    unpack acpi-cpufreq
    expect 0 actuate run frequency=1.4GHz -- sh -c 'echo performance >"$1"' - \
        "$tree/sys/devices/system/cpu/cpufreq/policy2/scaling_governor"
    says err "policy2/scaling_governor to performance: not restored"
    is "$tree/sys/devices/system/cpu/cpufreq/policy2/scaling_governor" performance
    is "$tree/sys/devices/system/cpu/cpufreq/policy1/scaling_governor" ondemand
}

# Values are restored at the signal and again at the end.
changes_by_other_programs_are_reported_once() { # case
    local file
    unpack intel-pstate
    file=$tree/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw
    begin_run power=60W,stubborn
    echo 70000000 >"$file"
    kill -TERM "$run_pid"
    await grep -q 'another program has changed .* to 70000000' "$folder/run-err"
    end_run 0
    [ "$(grep -c 'another program has changed' "$folder/run-err")" -eq 1 ] || fail "$(cat "$folder/run-err")"
    [ "$(cat "$file")" = 70000000 ] || fail "the value of another program was overwritten"
}

knob_in_use_is_refused_with_the_pid() { # case
    unpack shared
    begin_run frequency@0-1=600MHz
    expect 125 actuate run frequency=1.2GHz -- true
    says err "is in use by process $run_pid"
    expect 0 actuate run frequency@2-3=1.2GHz -- true
    expect 0 actuate restore
    is out "1 run is still in progress"
    end_run 0
    expect 0 actuate run frequency=1.2GHz -- true
    unchanged
}

journals_of_earlier_boots_are_not_restored() { # case
    unpack intel-pstate
    leave_values power=60W
    echo another >"$tree/proc/sys/kernel/random/boot_id"
    expect 0 actuate restore
    is out "nothing to restore for 1 run: the machine has rebooted since"
    expect 0 actuate restore
    is out "nothing to restore"
}

second_signal_kills_the_command() { # case
    unpack intel-pstate
    begin_run power=60W,stubborn
    kill -TERM "$run_pid"
    await is_unchanged
    kill -TERM "$run_pid"
    run_ends 137
    unchanged
}

# need_terminal: skips the case if it cannot type at a terminal.
need_terminal() {
    need python3
    (: <>/dev/ptmx) 2>/dev/null || skip "terminal: cannot open a pseudo-terminal"
}

# interrupt_during NAME VERB WORD...: calls ssactuate on the tree, with a terminal as its standard streams. Ctrl+C is
# typed while it writes to a file of this name.
interrupt_during() {
    local name=$1
    shift
    rm -f "$tree/log" "$tree/faults/$name.go"
    fault "$name" wait
    python3 "$here/interrupt" "$patience" 1 "$tree/log" "$name" "$tree/faults/$name.go" \
        "${kernel[@]}" "$build/bin/ssactuate" "$1" --root "$tree" "${@:2}"
}

# The terminal sends the signal before the command exists, or to the process that is about to become the command, which
# blocks all signals and writes to cgroup.procs.
interrupt_before_and_at_the_start_of_the_command_ends_the_run() { # case
    local name file words command
    need_terminal
    while IFS='|' read -r -u 3 name file words command; do
        unpack "$name"
        write_policy "load record $folder/load" 'below 100% power=60W'
        [ "$name" = intel-pstate ] || write_policy "load record $folder/load" 'below 100% quota=50%'
        # shellcheck disable=SC2086 # a list of words
        expect 130 interrupt_during "$file" $words -- sh -c "$command" - "$folder/started"
        [ "$name" != intel-pstate ] || says out "ssactuate: signal 2 (Interrupt) ended the run before it began"
        [ ! -e "$folder/started" ] || fail "$words: the command was started"
        unchanged
    done 3<<END
intel-pstate|constraint_0_power_limit_uw|run power=60W|touch "\$1"
intel-pstate|constraint_0_power_limit_uw|follow --policy $folder/policy|touch "\$1"
cgroup-v2|cgroup.procs|run quota=50%|exec sleep 1000
cgroup-v2|cgroup.procs|follow --policy $folder/policy|exec sleep 1000
cgroup-v2|cgroup.procs|run quota=50% instances=2|exec sleep 1000 # {port}
END
}

# Signals that arrive before ssactuate runs again count once, so more follow until the command is dead.
second_interrupt_kills_the_command() { # case
    local words
    need_terminal
    write_policy "load record $folder/load" 'below 100% pin=free'
    for words in 'run pin=free' "follow --policy $folder/policy"; do
        rm -f "$folder/caught"
        # shellcheck disable=SC2086 # a list of words
        expect 137 python3 "$here/interrupt" "$patience" 1000000 "$folder/caught" x "$folder/go" ssactuate $words -- \
            sh -c 'trap "echo x >>\"$1/caught\"" INT; echo x >"$1/caught"; while :; do :; done' - "$folder"
    done
}

# Unlike Ctrl+C, this signal reaches only ssactuate.
sent_interrupt_is_passed_on_at_a_terminal() { # case
    local words
    need_terminal
    write_policy "load record $folder/load" 'below 100% pin=free'
    for words in 'run pin=free' "follow --policy $folder/policy"; do
        # shellcheck disable=SC2086 # a list of words
        expect 130 python3 "$here/interrupt" "$patience" 0 "$folder/none" x "$folder/go" ssactuate $words -- \
            sh -c 'kill -INT $PPID; exec sleep 1000'
    done
}

# The process that is about to become the command holds the pipe open until it has ended.
a_kill_at_the_start_of_the_command_ends_it() { # case
    unpack intel-pstate
    fault getppid kill
    { actuate run power=60W -- touch "$folder/started" 2>&1 || true; } | cat >"$folder/err"
    [ ! -s "$tree/faults/getppid" ] || fail "ssactuate was not killed: $(cat "$folder/err")"
    [ ! -e "$folder/started" ] || fail "the command was started"
    unchanged
}

a_value_is_restored_after_a_kill_during_its_write() { # case
    unpack intel-pstate
    fault constraint_0_power_limit_uw kill
    expect 137 actuate run power=60W -- touch "$folder/started"
    await is_unchanged
    await has_no_lock
    unchanged
    [ ! -e "$folder/started" ] || fail "the command was started"
}

restore_undoes_changes_of_killed_run_and_keeper() { # case
    unpack acpi-cpufreq
    leave_values frequency=1.4GHz
    expect 0 actuate restore
    is out "restored the changes of 1 killed run"
    unchanged
    leave_values frequency=1.4GHz
    expect 0 actuate run frequency=1.6GHz -- true # first restores what the killed run left
    unchanged
}

killed_keeper_is_replaced() { # case
    unpack acpi-cpufreq
    begin_run frequency=1.4GHz
    local first=$run_keeper
    kill -KILL "$first"
    await has_other_keeper "$first"
    kill -KILL "$run_pid"
    await is_unchanged
    end_run 137
}

every_value_is_restored_after_random_kills() { # case
    "$here/../bench/actuate-kills.sh" "$build" 10 1 >"$folder/out" 2>&1 || fail "$(cat "$folder/out")"
}

# write_policy LINE...
write_policy() {
    printf '%s\n' "${@:-}" >"$folder/policy"
}

# The command itself writes the samples of the load, so that timing does not matter.
follow_sets_the_level_for_the_current_load() { # case
    unpack acpi-cpufreq
    mkdir "$folder/load"
    write_policy "load record $folder/load" 'every 20m' 'stay 100m' \
        'below 40% frequency=1.4GHz,turbo=off' 'above 60% frequency=2.1GHz,turbo=on'
    expect 6 actuate follow --policy "$folder/policy" --record "$folder/record" -- sh -c '
        cat "$1"; printf "load\n0.2\n0.8\n" >"$2/load/samples.csv"
        until grep -q 2100000 "$1"; do sleep 0.02; done; exit 6' - \
        "$tree/sys/devices/system/cpu/cpufreq/policy3/scaling_setspeed" "$folder"
    is out 1400000
    [ "$(grep -c '"line"' "$folder/record")" = 2 ] || fail "switches: $(cat "$folder/record")"
    says record '"load": 0.8'
    says record '"schema": 1,'
    unchanged
}

# The maximum is below the frequencies of both rules, so the switch back restores it and raises it again.
files_of_other_rules_are_restored_at_a_switch() { # case
    unpack acpi-cpufreq
    write_max 1600000
    remember
    begin_load
    write_policy "load record $folder/load" 'every 20m' 'stay 20m' \
        'below 40% frequency=1.9GHz' 'above 60% frequency=1.9GHz-2.1GHz'
    expect 0 actuate follow --policy "$folder/policy" -- sh -c '
        cd "$1"
        until grep -q 1900000 scaling_setspeed; do sleep 0.02; done
        echo 0.8 >>"$2"
        until grep -q 2100000 scaling_max_freq; do sleep 0.02; done
        cat scaling_governor
        echo 0.2 >>"$2"
        until grep -q 1900000 scaling_setspeed; do sleep 0.02; done
        cat scaling_governor scaling_min_freq scaling_max_freq' - \
        "$tree/sys/devices/system/cpu/cpufreq/policy3" "$folder/load/samples.csv"
    is out $'ondemand\nuserspace\n1400000\n1900000'
    is err ''
    unchanged
}

# unpack_turbo NAME: unpacks a machine whose highest frequency is 2 GHz without turbo, on Linux 5.4 or later.
unpack_turbo() {
    local policy
    unpack "$1"
    touch "$tree/clamps-minimum"
    for policy in "$tree"/sys/devices/system/cpu/cpufreq/policy*; do
        cp "$policy/cpuinfo_max_freq" "$policy/.highest.on"
        echo 2000000 >"$policy/.highest.off"
    done
}

# stop_turbo NAME: switches turbo off, as amd-pstate or intel_pstate shows it; the latter leaves cpuinfo_max_freq alone.
stop_turbo() {
    local cpus=$tree/sys/devices/system/cpu
    if [ "$1" = intel-pstate ]; then
        echo 1 >"$cpus/intel_pstate/no_turbo"
    else
        echo 0 | tee "$cpus"/cpufreq/policy*/boost >/dev/null
        echo 2000000 | tee "$cpus"/cpufreq/policy*/cpuinfo_max_freq >/dev/null
    fi
    write_max 2000000
    remember
}

max_is_the_highest_frequency_after_turbo_is_switched() { # case
    local name on policy
    while read -r name on; do
        unpack_turbo "$name"
        policy=$tree/sys/devices/system/cpu/cpufreq/policy1
        expect 0 actuate run frequency=max,turbo=off -- cat "$policy/scaling_min_freq" "$policy/scaling_max_freq"
        is out $'2000000\n2000000'
        unchanged
        stop_turbo "$name"
        expect 0 actuate run frequency=max,turbo=on -- cat "$policy/scaling_min_freq" "$policy/scaling_max_freq"
        is out "$on"$'\n'"$on"
        unchanged
        begin_load
        write_policy "load record $folder/load" 'every 20m' 'stay 20m' \
            'below 40% frequency=max,turbo=off' 'above 60% frequency=max,turbo=on'
        expect 0 actuate follow --policy "$folder/policy" -- sh -c '
            echo 0.8 >>"$1"; until grep -q "$2" "$3/scaling_min_freq"; do sleep 0.02; done
            echo 0.2 >>"$1"; until grep -q 2000000 "$3/scaling_max_freq"; do sleep 0.02; done' - \
            "$folder/load/samples.csv" "$on" "$policy"
        is err ''
        unchanged
    done <<'END'
amd-boost 3500000
intel-pstate 3200000
END
}

# Files set by any rule must be restored, whichever rule applies at the end.
a_killed_follow_is_restored() { # case
    unpack intel-pstate
    printf '%s\n' '0s 20%' '0.1s 20%' '0.1s 80%' '100s 80%' >"$folder/trace"
    write_policy "load trace $folder/trace" 'every 20m' 'stay 20m' 'below 40% frequency=3GHz power=60W' \
        'above 60% frequency=1.5GHz power=70W'
    start_actuate follow --policy "$folder/policy" \
        --side "background=sh -c 'echo \$\$ >\"$folder/side\"; exec sleep 1000'" -- \
        sh -c 'echo $$ >"$1/command"; exec sleep 1000' - "$folder"
    await grep -q 1500000 "$tree/sys/devices/system/cpu/cpufreq/policy3/scaling_max_freq"
    await test -s "$folder/side"
    await test -s "$folder/command"
    kill -KILL "$run_pid"
    end_run 137
    await is_gone "$(cat "$folder/side")"
    await is_gone "$(cat "$folder/command")"
    await is_unchanged
    await has_no_lock
    unchanged
}

# Values are restored at once, although the command exits later, and stay so whatever the load is.
signal_ends_the_policy_before_the_command() { # case
    unpack intel-pstate
    begin_load
    write_policy "load record $folder/load" 'every 20m' 'stay 20m' 'below 40% power=60W' 'above 60% power=70W'
    start_actuate follow --policy "$folder/policy" -- env -u LD_PRELOAD sh -c '
        trap "" TERM; echo >"$1/begun"; until [ -e "$1/enough" ]; do sleep 0.02; done; exit 5' - "$folder"
    await test -e begun
    ! is_unchanged || fail "the policy was not set"
    kill -TERM "$run_pid"
    await is_unchanged
    echo 0.8 >>"$folder/load/samples.csv"
    sleep 0.3
    is_unchanged || fail "a rule was set after the signal"
    end_run 5
    unchanged
}

# begin_load: writes a record with a load of 20 % to $folder/load. Commands add the next load when they have seen the
# first switch, which a late ssactuate would skip otherwise.
begin_load() {
    mkdir -p "$folder/load"
    printf 'load\n0.2\n' >"$folder/load/samples.csv"
}

a_failed_switch_does_not_affect_the_command() { # case
    unpack acpi-cpufreq
    begin_load
    write_policy "load record $folder/load" 'every 20m' 'stay 100m' \
        'below 40% frequency=1.4GHz' 'above 60% frequency=2.1GHz'
    # Four writes at the start, one per policy; the fifth is the first switch.
    fault scaling_setspeed ok ok ok ok EBUSY
    expect 0 actuate follow --policy "$folder/policy" --record "$folder/record" -- sh -c '
        until grep -q 1400000 "$1"; do sleep 0.02; done
        echo 0.8 >>"$2"
        until grep -q 2100000 "$1"; do sleep 0.02; done' - \
        "$tree/sys/devices/system/cpu/cpufreq/policy3/scaling_setspeed" "$folder/load/samples.csv"
    says err "warning: cannot apply the rule in line 5: cannot set /"
    says err "/scaling_setspeed to 2100000: "
    unchanged
}

# The new power is set before the frequency fails.
failed_switch_restores_the_previous_levels() { # case
    unpack intel-pstate
    begin_load
    write_policy "load record $folder/load" 'every 20m' 'stay 1h' \
        'below 40% power=60W frequency@0=2GHz' 'above 60% power=70W frequency@0=2GHz'
    fault scaling_max_freq ok EBUSY
    expect 0 actuate follow --policy "$folder/policy" -- sh -c '
        until grep -q 60000000 "$2"; do sleep 0.02; done
        echo 0.8 >>"$1/load/samples.csv"
        until grep -q "cannot apply the rule in line 5" "$1/err"; do sleep 0.02; done; cat "$2"' - "$folder" \
        "$tree/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw"
    is out 60000000
    unchanged
}

follow_can_use_the_load_of_the_side() { # case
    need_cpus
    write_policy 'load side' 'every 50m' 'stay 100m' 'below 0.01% pin=first:1' 'above 0.01% pin=free'
    expect 0 timeout "$patience" ssactuate follow --policy "$folder/policy" --record "$folder/record" \
        --side 'background=sh -c "while :; do :; done"' -- sh -c '
        all=$(taskset -cp "$1" | sed "s/.*: //")
        until [ "$(taskset -cp $$ | sed "s/.*: //")" = "$all" ]; do sleep 0.02; done' - $$
    says record '"pin=free"'
}

# begin_group: starts a process group of two processes and sets `group` to its ID. Creates the folder `state` of a
# machine with this machine's CPUs.
begin_group() {
    mkdir -p "$folder/state/run" "$folder/state/sys/devices/system/cpu"
    cat /sys/devices/system/cpu/online >"$folder/state/sys/devices/system/cpu/online"
    mkdir -p "$folder/state/proc"
    cat /proc/stat >"$folder/state/proc/stat"
    rm -f "$folder/group"
    setsid sh -c 'sleep 1000 & echo $$ >"$1"; wait' - "$folder/group" &
    await test -s "$folder/group"
    group=$(cat "$folder/group")
    groups+=("$group")
    usable=$(cpus_of $$)
}

# cpus_of PID
cpus_of() {
    taskset -cp "$1" | sed 's/.*: //'
}

# have_cpus LIST [GROUP]: succeeds if both processes of the group have this affinity.
have_cpus() {
    local pid count=0
    for pid in $(pgrep -g "${2:-$group}"); do
        [ "$(cpus_of "$pid")" = "$1" ] || return 1
        count=$((count + 1))
    done
    [ "$count" = 2 ]
}

# need_cpus: skips the case if there is only one CPU; sets `first` to the first CPU.
need_cpus() {
    [ "$(nproc)" -gt 1 ] || skip "cpus: a pin to one of one CPU changes nothing"
    first=$(cpus_of $$ | sed 's/[-,].*//')
}

# follow_groups WORD...: starts ssactuate, which follows process groups with `policy`.
follow_groups() {
    "$build/bin/ssactuate" follow --root "$folder/state" --policy "$folder/policy" "$@" 2>"$folder/run-err" &
    run_pid=$!
}

# pin_group: follows the policy of one process group and waits for its effect.
pin_group() {
    follow_groups --side "foreground=@$group"
    await have_cpus "$first"
}

the_side_may_be_a_running_process_group() { # case
    local first level
    need_cpus
    begin_group
    mkdir "$folder/load"
    write_policy "load record $folder/load" 'every 20m' 'stay 20m' "below 40% pin=$first" 'above 60% pin=free'
    expect 7 timeout "$patience" ssactuate follow --root "$folder/state" --policy "$folder/policy" \
        --record "$folder/record" --side "background=@$group" -- sh -c '
        list() { for pid in $(pgrep -g "$2"); do taskset -cp "$pid" | sed "s/.*: //"; done | sort -u; }
        list "$@"; printf "load\n0.8\n" >"$1/load/samples.csv"
        until [ "$(list "$@")" = "$3" ]; do sleep 0.02; done
        printf "load\n0.2\n" >"$1/load/samples.csv"
        until [ "$(list "$@")" = "$4" ]; do sleep 0.02; done; exit 7' - "$folder" "$group" "$usable" "$first"
    is out "$first"
    have_cpus "$usable" || fail "the affinity of the process group was not restored"
    says record '"name": "background"'
    says record "\"process_group\": \"$group\""
    [ -z "$(ls "$folder/state/run/showstopper")" ] || fail "leftover: $(ls "$folder/state/run/showstopper")"
}

follow_of_process_groups_ends_with_the_first() { # case
    local first other
    need_cpus
    begin_group
    other=$group
    begin_group
    write_policy 'load side background' 'every 20m' "above 0% pin=$first"
    follow_groups --side "foreground=@$group" --side "background=@$other"
    await have_cpus "$first" "$group"
    await have_cpus "$first" "$other"
    kill -KILL -- "-$group"
    end_run 0
    have_cpus "$usable" "$other" || fail "the affinity of the other process group was not restored"
}

# The first kill spares the keeper, the second one does not.
killed_follow_restores_the_affinity_of_process_groups() { # case
    local first level
    need_cpus
    begin_group
    write_policy "below 100% pin=$first"
    pin_group
    kill -TERM "$run_pid"
    await have_cpus "$usable"
    end_run 143
    pin_group
    kill -KILL "$run_pid"
    await have_cpus "$usable"
    end_run 137
    tree=$folder/state
    await has_no_lock
    pin_group
    await find_keeper # a new process has the name of its parent at first
    kill_run
    expect 0 ssactuate restore --root "$tree"
    have_cpus "$usable" || fail "the affinity was not restored: $(cat "$folder/out")"
}

# journal_of_killed_run STARTED: writes a journal which says that the group's leader, started at this time, had CPUs 0
# and 1 before CPU `first`.
journal_of_killed_run() {
    mkdir -p "$folder/state/run/showstopper"
    printf '%s\n' 'boot unknown' 'run 1' "processes $group" "thread 0 $group $group $1 $usable" armed "cpus 0 $first" \
        >"$folder/state/run/showstopper/1-1-unknown.journal"
}

# hold_lock NAME: holds a lock of the state folder until end_hold.
hold_lock() {
    (umask 077 && : >>"$folder/state/run/showstopper/$1") # locks that others may open are replaced
    exec {held}>>"$folder/state/run/showstopper/$1"
    flock -n "$held" || fail "$1 is locked"
}

end_hold() {
    exec {held}>&-
}

process_group_in_use_is_refused_with_the_pid() { # case
    local first held started
    need_cpus
    begin_group
    started=$(sed 's/.*) //' "/proc/$group/stat" | cut -d ' ' -f 20)
    write_policy "below 100% pin=$first"
    pin_group
    expect 125 "$build/bin/ssactuate" follow --root "$folder/state" --policy "$folder/policy" --side "other=@$group"
    says err "process-group-$group is in use by process $run_pid"
    kill -TERM "$run_pid"
    end_run 143
    # The journal of a killed run is not applied while another run controls the process group.
    for pid in $(pgrep -g "$group"); do taskset -cp "$first" "$pid" >"$folder/out"; done
    journal_of_killed_run "$started"
    hold_lock "process-group-$group.lock"
    expect 125 ssactuate restore --root "$folder/state"
    says err "process-group-$group is in use by process"
    have_cpus "$first" || fail "the affinity was changed"
    end_hold
    # A process group with a reused ID is left alone.
    journal_of_killed_run $((started - 1))
    expect 0 ssactuate restore --root "$folder/state"
    have_cpus "$first" || fail "the affinity of another process group was changed"
    journal_of_killed_run "$started"
    expect 0 ssactuate restore --root "$folder/state"
    have_cpus "$usable" || fail "the affinity was not restored"
}

rules_without_cpus_leave_affinities_alone() { # case
    need_cpus
    unpack intel-pstate
    begin_load
    write_policy "load record $folder/load" 'every 20m' 'stay 20m' 'below 40% power=60W' 'above 60% power=70W'
    expect 0 actuate follow --policy "$folder/policy" -- env -u LD_PRELOAD sh -c '
        taskset -cp "$1" $$ >/dev/null; echo 0.8 >>"$2"
        until grep -q 70000000 "$3"/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw; do sleep 0.02; done
        sleep 0.1; taskset -cp $$ | sed "s/.*: //"' - "$first" "$folder/load/samples.csv" "$tree"
    is out "$first"
    unchanged
}

affinity_changed_by_other_programs_is_not_restored() { # case
    local first level
    need_cpus
    begin_group
    taskset -cp "$first" "$group" >"$folder/out"
    write_policy "below 100% pin=$usable"
    expect 0 ssactuate follow --root "$folder/state" --policy "$folder/policy" --side "background=@$group" -- true
    [ "$(cpus_of "$group")" = "$first" ] || fail "pin=$usable, which restricts nothing, replaced the earlier affinity"
    write_policy "below 100% pin=$first"
    last=$(cpus_of $$ | sed 's/.*[-,]//')
    expect 0 ssactuate follow --root "$folder/state" --policy "$folder/policy" --side "background=@$group" -- \
        sh -c 'for pid in $(pgrep -g "$1"); do taskset -cp "$2" "$pid"; done' - "$group" "$last"
    says err "another program has changed the affinity of 2 threads of process group $group"
    have_cpus "$last" || fail "the affinity of another program was overwritten"
}

the_command_does_not_start_if_the_side_is_invalid() { # case
    local policy words text
    begin_group
    write_policy 'below 100% pin=free'
    # In a separate group, because the caller's group may be outside of this PID namespace and then has no ID in it.
    # shellcheck disable=SC2016 # for sh
    expect 125 setsid -w sh -c 'exec "$@" --side "background=@$$" -- touch started' - \
        ssactuate follow --root state --policy policy
    says err "ssactuate itself is in process group"
    while IFS='|' read -r -u 3 policy words text; do
        write_policy "$policy" 'below 100% pin=free'
        # shellcheck disable=SC2086 # a list of words
        expect 125 ssactuate follow --root state --policy policy ${words//GROUP/$group}
        says err "${text//GROUP/$group}"
    done 3<<'END'
|--side background=@2147483647 -- touch started|process group 2147483647 does not exist
|--side background=@x -- touch started|--side
|--side background=true|no command given
|--side a=@GROUP --side b=true -- touch started|--side is given twice
|--side a=@GROUP --side b=@GROUP|both sides are process group GROUP
load side other|--side background=@GROUP -- touch started|`load side other`: the other side is background
END
    write_policy 'below 100% quota=50%'
    if ssactuate get quota >/dev/null 2>&1; then
        expect 125 ssactuate follow --policy policy --side "background=@$group"
        says err "quota and memory can limit only a command"
    fi
    [ ! -e started ] || fail "the command was started"
}

the_command_does_not_start_if_a_policy_cannot_be_set() { # case
    local first second text
    unpack acpi-cpufreq
    while IFS='|' read -r -u 3 first second text; do
        write_policy "$first" "$second"
        expect 125 actuate follow --policy policy -- touch started
        says err "$text"
    done 3<<'END'
below 40% frequency=1.4GHz|above 60% frequency=9GHz|policy:2: frequency: '9GHz' is out of range
below 40% duty=50%|above 60% duty=60%|a policy cannot change duty
load side|below 40% pin=free|`load side` requires --side
load trace absent|below 40% pin=free|absent
END
    expect 125 ssactuate follow --policy . -- touch started
    says err "Is a directory"
    # The command ignores SIGTERM, so it holds the pipe open until it exits.
    write_policy 'load trace absent' 'below 40% pin=free'
    { (trap '' TERM && exec ssactuate follow --policy policy -- touch started 2>&1) || true; } | cat >err
    says err absent
    [ ! -e started ] || fail "the command was started"
}

# The record does not exist, as before showstopper starts.
unknown_load_is_reported_once() { # case
    write_policy "load record $folder/absent" 'every 20m' 'stay 100m' 'below 40% pin=free' 'above 60% pin=first:1'
    expect 0 timeout "$patience" ssactuate follow --policy "$folder/policy" -- sh -c '
        until grep -q "the load is unknown" "$1/err"; do sleep 0.02; done
        sleep 0.3' - "$folder"
    is err "ssactuate: warning: the load is unknown: no load in $folder/absent/samples.csv: keeping the current levels"
}

# The parent group allows 200 %, which the new period with the old quota would exceed.
quota_and_period_switch_below_a_limited_group() { # case
    unpack cgroup-v1
    mkdir -p "$folder/load"
    write_policy "load record $folder/load" 'every 20m' 'stay 100m' \
        'below 40% quota=150%,period=100m' 'above 60% quota=150%,period=10m'
    echo load >"$folder/load/samples.csv"
    expect 0 actuate follow --policy "$folder/policy" -- sh -c '
        settings=1
        for load in 0.8 0.2; do
            settings=$((settings + 1))
            echo "$load" >>"$1/load/samples.csv"
            until [ "$(grep -c quota_us "$2/log")" -ge "$settings" ]; do sleep 0.02; done
        done' - "$folder" "$tree"
    [ "$(grep cpu.cfs "$tree/log" | cut -d . -f 2 | tr '\n' ' ')" = "cfs_period_us 100000 cfs_quota_us 150000 \
cfs_quota_us 15000 cfs_period_us 10000 cfs_period_us 100000 cfs_quota_us 150000 " ] || fail "order: $(cat "$tree/log")"
    unchanged
}

# A size without a quota sets none, although another size of the policy does.
sizes_of_a_policy_may_leave_out_parts() { # case
    need_cpu_0
    unpack cgroup-v1
    mkdir -p "$folder/load"
    write_policy "load record $folder/load" 'below 40% size=small:cpus=1' 'above 60% size=large:quota=150%'
    expect 0 actuate follow --policy "$folder/policy" -- true
    [ "$(grep cpu.cfs "$tree/log" | cut -d . -f 2 | tr '\n' ' ')" = "cfs_period_us 100000 cfs_quota_us -1 " ] ||
        fail "wrong quota: $(cat "$tree/log")"
    unchanged
}

# The page cache of a written file counts as memory of the group.
the_memory_limit_is_not_set_below_the_memory_in_use() { # case
    need_knob memory cgroup-memory
    mkdir "$folder/load"
    write_policy "load record $folder/load" 'every 20m' 'stay 20m' 'below 40% memory=200M' 'above 60% memory=8M'
    expect 0 timeout "$patience" ssactuate follow --policy "$folder/policy" -- sh -c '
        head -c 30000000 /dev/zero >"$1/file"; printf "load\n0.8\n" >"$1/load/samples.csv"
        until grep -q "memory is below the .* in use" "$1/err"; do sleep 0.02; done' - "$folder"
}

# need_knob NAME KEYWORD: skips the case unless control groups with this limit can be created.
need_knob() {
    "$build/bin/ssactuate" get "$1" >"$folder/out" 2>"$folder/err" || skip "$2: $(cat "$folder/err")"
}

# The command prints its limits, of version 1 or 2, and the folders of its groups.
control_groups_limit_the_command_and_are_removed() { # case
    local group limit
    need_knob quota cgroup-quota
    need_knob memory cgroup-memory
    expect 0 ssactuate run size=small:quota=50%,period=10m,memory=64M --record "$folder/record" -- sh -c '
        groups=$(find /sys/fs/cgroup -type d -name "ssactuate-$PPID" 2>/dev/null)
        for group in $groups; do
            cat "$group/cpu.max" "$group/cpu.cfs_quota_us" "$group/cpu.cfs_period_us" "$group/memory.max" \
                "$group/memory.limit_in_bytes" 2>/dev/null
            grep -qx $$ "$group/cgroup.procs" && echo "$group"
        done | tr " " "\n"'
    for limit in 5000 10000 67108864; do
        grep -qx "$limit" "$folder/out" || fail "no limit of $limit: $(cat "$folder/out")"
    done
    grep -q ^/sys "$folder/out" || fail "the command was in no group: $(cat "$folder/out")"
    while read -r group; do
        [ ! -e "$group" ] || fail "$group was left"
    done < <(grep ^/sys "$folder/out")
    says record '"size": "small"'
    for limit in '5000( 10000)?' 67108864; do
        grep -A 1 -E "\"asked\": \"$limit\"" "$folder/record" | grep -Eq "\"got\": \"$limit\"" ||
            fail "no limit of $limit in the record: $(cat "$folder/record")"
    done
    says record '"path": "/sys/fs/cgroup/'
}

processes_that_outlive_the_command_leave_its_group() { # case
    local pid groups
    need_knob quota cgroup-quota
    expect 0 ssactuate run quota=50% -- sh -c 'sleep 1000 >/dev/null 2>&1 & echo $!'
    pid=$(cat "$folder/out")
    groups=$(cat "/proc/$pid/cgroup") || fail "the process was ended"
    kill "$pid"
    [[ $groups != *ssactuate* ]] || fail "the process is still in the group: $groups"
}

groups_that_the_command_makes_are_removed() { # case
    need_knob quota cgroup-quota
    expect 0 ssactuate run quota=50% -- sh -c '
        own=$(find /sys/fs/cgroup -type d -name "ssactuate-$PPID" | head -n 1)
        mkdir "$own/x" "$own/x/y"; echo "$own"'
    [ ! -e "$(cat "$folder/out")" ] || fail "left: $(cat "$folder/out")"
    expect 0 ssactuate run quota=50% -- true
}

pin_sets_the_affinity_of_the_command() { # case
    local first level
    first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    expect 0 ssactuate run pin=first:1 -- sh -c 'taskset -cp $$ | sed "s/.*: //"'
    is out "$first"
    expect 0 ssactuate run pin="$first" -- sh -c 'taskset -cp $$ | sed "s/.*: //"'
    is out "$first"
    for level in free spread; do
        expect 0 ssactuate run "pin=$level" --record "$folder/record" -- true
        says record '"pin": "free"'
    done
    expect 125 ssactuate run pin=8191 -- true
    says err "ssactuate may not use CPU 8191"
}

each_thread_is_bound_to_one_cpu() { # case
    need_cpus
    expect 0 timeout "$patience" ssactuate run pin=free,each -- sh -c '
        ssburn parallel --threads 4 >/dev/null & pid=$!
        until [ "$(grep -h Cpus_allowed_list: "/proc/$pid"/task/*/status | grep -cv "[-,]")" -ge 4 ]; do
            sleep 0.02
        done; kill $pid'
}

# The processes of showstopper, which throttles the command, are not bound. The command starts no process, which would
# be bound, too.
with_duty_only_threads_of_the_command_are_bound() { # case
    local first
    need_cpus
    expect 0 timeout "$patience" ssactuate run duty=50% "pin=$(cpus_of $$),each" -- sh -c '
        until [ "$cpus" = "$1" ]; do
            while read -r name value; do
                [ "$name" != Cpus_allowed_list: ] || cpus=$value
            done <"/proc/$$/status"
        done' - "$first"
    is err ''
}

# follow warns once, although each switch binds all threads again.
crowded_threads_cause_one_warning() { # case
    local words
    mkdir -p "$folder/load"
    echo load >"$folder/load/samples.csv"
    write_policy "load record $folder/load" 'every 20m' 'stay 20m' 'below 40% pin=free,each' 'above 60% pin=first:1,each'
    for words in 'run pin=first:1,each' "follow --policy $folder/policy"; do
        # shellcheck disable=SC2086 # a list of words
        expect 0 timeout "$patience" ssactuate $words -- sh -c '
            for number in $(seq "$(($(nproc --all) + 1))"); do
                sleep 1000 & pids="$pids $!"
            done
            until grep -q "more threads than CPUs" "$1/err"; do sleep 0.02; done
            for load in 0.8 0.2 0.8; do
                echo "$load" >>"$1/load/samples.csv"
                sleep 0.1
            done
            kill $pids' - "$folder"
        [ "$(grep -c 'warning: more threads than CPUs' "$folder/err")" -eq 1 ] || fail "$words: $(cat "$folder/err")"
    done
}

# An unprivileged user cannot create a control group here, so the run has nothing to journal.
affinity_pins_without_privilege_or_runtime_folder() { # case
    local user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    [ "$(id -u)" = 0 ] || skip "root: only root can become another user"
    have_other_users || skip "another-user: root cannot become it"
    chmod 755 "$folder"
    "${user[@]}" test -x "$folder" || skip "another-user: the folder of temporary files is closed to it"
    cp "$build/bin/ssactuate" "$folder/ssactuate"
    expect 0 env -u XDG_RUNTIME_DIR "${user[@]}" "$folder/ssactuate" run pin=first:1 -- \
        sh -c 'taskset -cp $$ | sed "s/.*: //"'
    is out "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')"
    # Plans call restore after each run, also for a user without a journal.
    expect 0 env -u XDG_RUNTIME_DIR "${user[@]}" "$folder/ssactuate" restore
    says out "nothing to restore: without XDG_RUNTIME_DIR this user has no journal"
}

# The command's parent is an executor, whose parent is showstopper.
the_duty_knob_throttles_by_showstopper() { # case
    expect 5 ssactuate run duty=12.5%,tau=30m -- sh -c '
        tr "\0" " " <"/proc/$(ps -o ppid= -p $PPID | tr -d " ")/cmdline"; echo; echo "$1"; exit 5' - '+%s 100%'
    says out " -l 0.12500000 "
    says out " -D 30000u,jitter=0 "
    is <(tail -n 1 out) '+%s 100%'
}

a_killed_duty_throttle_leaves_no_process_stopped() { # case
    "$build/bin/ssactuate" run duty=1%,tau=1s -- sh -c 'echo $$ >"$1/command"; exec sleep 1000' - "$folder" &
    run_pid=$!
    await test -s "$folder/command"
    await is_stopped "$(cat "$folder/command")"
    kill -KILL "$run_pid"
    end_run 137
    await is_gone "$(cat "$folder/command")"
}

the_exit_status_of_the_command_is_returned() { # case
    expect 127 ssactuate run pin=free -- "$folder/none"
    expect 126 ssactuate run pin=free -- "$folder"
    expect 143 ssactuate run pin=free -- sh -c 'kill -TERM $$'
}

# The command starts no processes, for which it would wait before it handles the signal.
with_duty_a_signal_determines_the_status() { # case
    local knob status
    while read -r knob status; do
        rm -f begun caught
        "$bin/ssactuate" run "$knob" -- sh -c '
            trap "echo >caught; exit 5" TERM; echo >begun; while :; do :; done' 2>run-err &
        run_pid=$!
        await test -e begun
        kill -TERM "$run_pid"
        end_run "$status"
        [ -e caught ] || fail "$knob: the command did not get the signal: $(cat run-err)"
    done <<'END'
pin=free 5
duty=50% 143
END
}

run_cases
