#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Guests under emulation: results of their runs are delivered, and nothing is left behind.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=guest.sh
. "$here/guest.sh"
# shellcheck source=experiments.sh
. "$here/experiments.sh"
pid=
export PATH=$build/bin:$PATH
# An emulated boot needs 15 s of CPU time, and far longer on a busy machine.
# shellcheck disable=SC2034 # await reads it
patience=1200
options[1]=$bin # guests see the build folder
mkdir "$scratch/shared"

clean_up() {
    [ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null || true
    [ -z "$pid" ] || wait "$pid" || true
}

# refuses MESSAGE COMMAND ARGUMENT...: fails unless the command is refused with this message in one line.
refuses() {
    local status=0
    timeout "$patience" "$experiments/$2" "${@:3}" >"$output" 2>&1 || status=$?
    [ "$status" -eq 125 ] || fail "${*:2}: status $status"
    grep -Fq -- "$1" "$output" || fail "${*:2}: no '$1' in the output"
    [ "$(wc -l <"$output")" -eq 1 ] || fail "${*:2}: more than one line of output"
}

# begin OPTION... -- COMMAND...: starts run-in-guest and sets `pid`; its output is in $output and $scratch/errors.
begin() {
    rm -f "$output" "$scratch/errors" # a previous guest printed the same
    "$experiments/run-in-guest" --guest "$guest" --acceleration tcg --memory 512M "$@" \
        >"$output" 2>"$scratch/errors" &
    pid=$!
}

says() {
    grep -qx -- "$1" "$output"
}

# guest_did COMMAND...: succeeds if COMMAND does, which checks for an action of the guest; fails the test if the guest
# has ended.
guest_did() {
    "$@" && return
    kill -0 "$pid" 2>/dev/null || fail "the guest ended early: $(cat "$scratch/errors")"
    return 1
}

# find_processes: sets `processes` to pids and start times of all processes below this test's guest.
find_processes() {
    local parents=$pid
    processes=()
    while [ -n "$parents" ]; do
        parents=$(pgrep -d , -P "$parents") || break
        for child in ${parents//,/ }; do
            processes+=("$child $(start_time "$child")")
        done
    done
}

# start_time PID: prints the start time of a living process.
start_time() {
    local line fields
    line=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
    read -ra fields <<<"${line##*) }"
    [ "${fields[0]}" = Z ] || echo "${fields[19]}"
}

# all_ended: succeeds if none of `processes` is alive.
all_ended() {
    local process
    for process in "${processes[@]}"; do
        [ "$(start_time "${process% *}")" != "${process#* }" ] || return 1
    done
}

options_and_their_values_are_checked() { # case
    local name words message
    for name in make-guest run-in-guest; do
        "$experiments/$name" --help >"$output"
        grep -q "^Usage: $name " "$output" || fail "$name --help"
        refuses "--sedonds: unknown option" "$name" --sedonds 3
    done
    mkdir "$scratch/guest"
    echo format=1 >"$scratch/guest/about"
    while IFS='|' read -r words message <&3; do
        # shellcheck disable=SC2086 # several words
        refuses "$message" $words
    done 3<<'END'
make-guest --kernel|--kernel requires a value
make-guest|no folder given
make-guest shared|shared already exists
run-in-guest -- true|--guest is required
run-in-guest --guest shared -- true|not a guest that this version can boot
run-in-guest --guest guest|no command given: put it after --
run-in-guest --guest guest --grace soon -- true|--grace: 'soon' is not a number of seconds: use 0 to 999999
run-in-guest --guest guest --memory 3 -- true|--memory: '3' is not a size
run-in-guest --guest guest --vcpus 0 -- true|--vcpus: '0' is not a number of CPUs
run-in-guest --guest guest --vcpus 1 --cpus 0 -- true|--vcpus cannot be combined with --cpus
run-in-guest --guest guest --cpus 9999 -- true|--cpus: '9999' is not a list of CPUs that are available here
run-in-guest --guest guest --share /nowhere -- true|--share: '/nowhere' is not a folder
run-in-guest --guest guest --clock /nowhere/file -- true|--clock: /nowhere: No such file or directory
run-in-guest --guest guest --clock shared -- true|--clock: cannot write shared
run-in-guest --guest guest --acceleration hvf -- true|--acceleration: 'hvf' is not an acceleration: use kvm or tcg
END
}

a_failed_make_guest_leaves_no_file() { # case
    local reason
    ! reason=$("$experiments/run-in-guest" --why-not) || skip "guest: $reason"
    need cpio
    refuses "no-such-package cannot be downloaded" make-guest --kernel no-such-package "$scratch/half"
    refuses "cannot read $scratch/x.deb" make-guest --kernel "$scratch/x.deb" "$scratch/half"
    [ -z "$(echo "$scratch"/half*)" ] || [ "$(echo "$scratch"/half*)" = "$scratch/half*" ] ||
        fail "leftover files: $(echo "$scratch"/half*)"
    need_guest
    [ "$(cd "$guest" && ls kernel initrd about)" ] || fail "the guest is incomplete"
}

# An empty file, as a full disk leaves, is written again.
the_acceleration_is_found_without_its_file() { # case
    local reason
    ! reason=$("$experiments/run-in-guest" --why-not) || skip "guest: $reason"
    mkdir empty
    echo format=1 >empty/about # without a kernel, no guest boots
    : >empty/acceleration
    "$experiments/run-in-guest" --guest empty --print-acceleration >"$output" 2>&1 || fail "status $?"
    [ "$(cat "$output")" = tcg ] || fail "not tcg: $(cat "$output")"
    [ "$(cat empty/acceleration)" = "$(cat /proc/sys/kernel/random/boot_id) tcg" ] || fail "the result is not kept"
}

# experiment OPTION...: runs interference in guests.
experiment() {
    timeout "$patience" "$bin/sslab" interference "${options[@]}" --sets 0/1 --environment kvm "$@" \
        >"$output" 2>&1 ||
        grep -q "' has passed" "$output" || fail "$*: status $?"
}

# plans_nothing OPTION...: fails unless no run is possible.
plans_nothing() {
    need_built ssbatch
    ! "$bin/sslab" interference "${options[@]}" --sets 0/1 --environment kvm --dry-run "$@" >"$output" 2>&1 ||
        fail "$*: a run is possible"
    says "sslab interference: no run is possible here.*" || fail "$*: unexpected failure"
}

unsupported_guest_options_are_named() { # case
    have_first_cpus 1 || skip "cpus: CPUs 0 and 1 are not both available"
    mkdir -p guest
    plans_nothing
    says "skipped: environment=kvm measured_in=inside: no guest is named: build one with make-guest and $(:
        )name it with --guest" || fail "a missing --guest is accepted"
    plans_nothing --guest guest
    says "skipped: environment=kvm measured_in=inside: $scratch/guest is not a guest: .*" || fail "an empty guest folder is accepted"
    plans_nothing --measure host
    says "skipped: environment=kvm measured_in=host: Showstopper on the host cannot start processes in a $(:
        )guest: use --measure inside" || fail "--measure inside of a guest is accepted"
    need_guest
    experiment --dry-run --guest "$guest" --placements sets,quota --levels 60:30:30 --hold 1 --edge 0 \
        --warmup 0 --launch 3s --guest-boot 20s
    says "skipped: environment=[a-z]* measured_in=inside placement=quota: the number of its CPUs .*" ||
        fail "a quota in a guest is accepted"
    grep -Eqx 'kvm-inside-sets-serial-serial-1: 28.2 s|tcg-inside-sets-serial-serial-1: 32 s' "$output" ||
        fail "wrong runs"
}

# Both sides begin on command, and each record has samples of guest and machine.
both_sides_of_a_study_run_in_guests() { # case
    local run role boot at
    have_first_cpus 1 || skip "cpus: CPUs 0 and 1 are not both available"
    need_built ssbatch
    need_guest
    # On a busy machine the boot may exceed the timeout; the same call then continues the study.
    for boot in 40s 240s; do
        experiment --guest "$guest" --guest-memory 512M --guest-boot "$boot" --levels 60:30:30 --hold 1 \
            --edge 0 --warmup 0 --output results
        grep -q "' has passed" "$output" || break
    done
    [ -z "$(ls ram)" ] || fail "leftover files: $(ls ram)"
    run=$(echo results/*-inside-sets-serial-serial-1)
    for role in foreground background; do
        for file in /summary.json .guest-clock.csv .guest-vcpus.csv .host-load.csv; do
            [ -s "$run/$role$file" ] || fail "$run/$role$file is missing"
        done
        awk -F, 'NR > 1 && ($4 > 0.5 || $4 < -0.5) { exit 1 }' "$run/$role.guest-clock.csv" ||
            fail "wrong guest-clock.csv: $(cat "$run/$role.guest-clock.csv")"
        date -d "$(sed -n 's/^{"time":"\([^"]*\)".*"event":"counting".*/\1/p' "$run/$role/events.jsonl")" +%s.%N
    done >begins
    at=$(sed -n '/"--start-at"/{n;s/[ ",]//g;p}' "$run/run.json" | sort -u)
    awk -v at="$(date -d "$at" +%s.%N)" '$1 < at - 0.5 || $1 > at + 300 { wrong = 1 } END { exit wrong || NR != 2 }' begins ||
        fail "the sides, which were to begin at $at, began at $(cat begins)"
    [[ $(listed results environment) =~ ^(kvm kvm|tcg tcg)$ ]] || fail "wrong environment"
    [ "$(listed results measured_in)" = "inside inside" ] || fail "wrong place of measurement"
    [ "$(listed results status)" = "done done" ] || fail "wrong status: $(listed results status)"
}

# Guests use the machine's clock, so that runs in several guests can start at the same time.
a_command_runs_in_a_guest_and_is_terminated() { # case
    local threads allowed cpu processes at time elapsed
    need_guest
    cpu=$(first_cpu)
    mkdir -p data/a "shared/it's one"
    echo given >data/a/file
    echo unshared >there
    # shellcheck disable=SC2016 # expanded in the guest
    begin --cpus "$cpu" --share shared --scratch data --clock clock.csv --vcpu-times times.csv --grace "$patience" -- \
        sh -c 'echo up; hostname; nproc; pwd; cat data/a/file there; echo "$TMPDIR $1"
            echo new >data/b; echo kept >"shared/it'\''s one/file"; echo lost >/tmp/lost.'$$'
            true >>/etc/passwd || echo read-only
            while [ ! -e shared/at ]; do sleep 0.5; done; echo error >&2
            exec showstopper -f exact -l 50% -n 2 --start-at "@$(cat shared/at)" --record shared/record -- ssburn serial
        ' sh 'two  words'
    await guest_did says up
    threads=$(grep -l '^CPU 0/' /proc/"$(pgrep -P "$pid" qemu-system)"/task/*/comm)
    allowed=$(sed -n 's/^Cpus_allowed_list:\t//p' "${threads%/comm}/status")
    [ "$allowed" = "$cpu" ] || fail "the virtual CPU may use CPUs $allowed"

    at=$((EPOCHSECONDS + 45)) # a busy machine takes long to start showstopper in the guest
    echo "$at" >shared/at.new
    mv shared/at.new shared/at
    await guest_did has_samples
    find_processes
    kill -TERM "$pid"
    ends 143
    all_ended || fail "leftover processes: ${processes[*]}"

    for line in guest 1 "$scratch" given unshared "${TMPDIR-} two  words" read-only; do
        says "$line" || fail "no line '$line' in the output"
    done
    grep -qx error errors || fail "standard error of the guest is missing: $(cat errors)"
    [ "$(cat "shared/it's one/file")" = kept ] || fail "the file written in a shared folder is missing"
    [ ! -e data/b ] || fail "a change in a copied folder reached the host"
    [ ! -e "/tmp/lost.$$" ] || fail "a file in the guest's /tmp reached the host"
    awk -F, 'NR == 1 { exit $0 != "when,host_seconds,guest_seconds,difference_seconds" }' clock.csv ||
        fail "wrong clock.csv: $(cat clock.csv)"
    [ "$(awk -F, '$1 != "when" && $4 > -0.5 && $4 < 0.5 && $2 > 1e9 { print $1 }' clock.csv |
        paste -sd ' ')" = "start end" ] || fail "wrong clock.csv: $(cat clock.csv)"
    awk -F, 'NR == 1 && $0 != "vcpu,host_cpu_seconds,wall_seconds" { exit 1 }
        NR == 2 { found = $1 == 0 && $2 > 0 && $3 > $2 / 2 }
        END { exit !found || NR != 2 }' times.csv || fail "wrong times.csv: $(cat times.csv)"

    grep -q '"load_mean"' shared/record/summary.json || fail "the summary is missing"
    [ ! -e shared/record/interrupted ] || fail "the record is incomplete"
    IFS=, read -r time elapsed _ < <(sed -n 2p shared/record/samples.csv)
    awk -v time="$(date -d "$time" +%s.%N)" -v elapsed="$elapsed" -v at="$at" 'BEGIN {
        late = time - elapsed - at
        exit !(late > -1 && late < 300) }' ||
        fail "wrong time of sample $elapsed: $time; the run was to begin at $(date -d "@$at")"
}

has_samples() {
    [ -e shared/record/samples.csv ] && [ "$(wc -l <shared/record/samples.csv)" -gt 1 ]
}

a_killed_guest_leaves_no_process_or_file() { # case
    local folder processes
    need_guest
    begin --share shared -- sh -c 'echo up; sleep 1000'
    await guest_did says up
    find_processes
    [ ${#processes[@]} -gt 3 ] || fail "too few processes of the guest: ${processes[*]}"
    folder=$(tr '\0' '\n' <"/proc/$(pgrep -P "$pid" qemu-system)/cmdline" |
        sed -n 's,^pipe.*path=\(.*\)/control$,\1,p')
    [ -d "$folder" ] || fail "the arguments contain no folder"
    kill -KILL "$pid"
    { wait "$pid"; } 2>/dev/null || true
    pid=
    await all_ended
    begin -- true
    await [ ! -e "$folder" ]
    kill -TERM "$pid"
    ends 143
    ! grep -q " $folder" /proc/mounts || fail "leftover mounts"
    [ -z "$(find /run/virtiofsd -name "*${folder##*/}*" 2>/dev/null)" ] || fail "leftover files of virtiofsd"
}

# In version 2, only the root may have processes and enable controllers for its children.
groups_of_version_two_are_limited() { # case
    need_guest
    [ -x "$build/bin/ssprofile" ] || skip "libraries: built without ssprofile"
    [ -x "$build/bin/ssactuate" ] || skip "libraries: built without ssactuate"
    cat >shared/limits <<'END'
own=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)
echo "${own%-*}" $(cat "$own/cpu.max" "$own/memory.max")
END
    cat >shared/place <<'END'
coproc "$1" hold v2 --quota 0.25 --cpus 0
read -r line <&"${COPROC[0]}"
"$1" enter v2 -- sh -c "cat /proc/self/cgroup; cat /sys/fs/cgroup/showstopper-v2/cpu.max /sys/fs/cgroup/showstopper-v2/cpuset.cpus"
"$1" group v2
kill "$COPROC_PID"
wait "$COPROC_PID"
"$1" close v2
find /sys/fs/cgroup /run -name "*v2*"
END
    # shellcheck disable=SC2016 # expanded in the guest
    echo 'quota cpu - higher "sh -c '\''own=$(cut -d: -f3 /proc/self/cgroup);
        echo $own $(cat /sys/fs/cgroup$own/cpu.max) | tee -a shared/said'\''" "([0-9]+) 10000$"' |
        paste -sd ' ' >shared/battery
    # shellcheck disable=SC2016 # expanded in the guest
    begin --share shared -- sh -c 'cd /sys/fs/cgroup && mkdir -p user/session user/alone || exit
        measure="ssprofile measure --battery shared/battery --repetitions 1 --under quota=40% shared"
        limit="ssactuate run quota=40% memory=64M -- sh shared/limits"
        (sh -c "echo \$PPID >user/session/cgroup.procs"; cd "$0" && $measure/first; $limit >shared/limited) || exit
        sh -c "echo \$\$ >user/alone/cgroup.procs; cd $0 && exec $measure/second" || exit
        sh -c "echo \$\$ >user/alone/cgroup.procs; cd $0 && exec $limit >>shared/limited" || exit
        cd "$0" && $limit >>shared/limited && bash shared/place "$1" >shared/placed 2>&1
        find /sys/fs/cgroup -name "ssprofile-*" -o -name "ssactuate-*" >shared/left
        cat /sys/fs/cgroup/user/alone/cgroup.subtree_control >>shared/left' "$scratch" "$experiments/env/group"
    ends 0
    [ "$(sed -E 's/-[0-9]+ /-PID /' shared/said)" = "/user/ssprofile-PID 4000 10000
/user/alone/ssprofile-PID 4000 10000" ] || fail "wrong quotas: $(cat shared/said)"
    [ "$(cat shared/limited)" = "/sys/fs/cgroup/user/ssactuate 40000 100000 67108864
/sys/fs/cgroup/user/alone/ssactuate 40000 100000 67108864
/sys/fs/cgroup/ssactuate 40000 100000 67108864" ] || fail "wrong limits: $(cat shared/limited)"
    [ "$(cat shared/placed)" = "0::/showstopper-v2
25000 100000
0
/showstopper-v2" ] || fail "wrong group of a place: $(cat shared/placed)"
    [ ! -s shared/left ] || [ -z "$(tr -d '\n' <shared/left)" ] || fail "leftover groups: $(cat shared/left)"
}

# write_stuttering_machine FILE: writes a stand-in for qemu that sends two of its lines in two parts each, with a pause
# that exceeds run-in-guest's timeout for a line.
write_stuttering_machine() {
    cat >"$1" <<'END'
#!/usr/bin/env bash
set -eu
echo "CPU 0/TCG" >/proc/$$/comm # like the thread of a virtual CPU
control=$(printf '%s\n' "$@" | sed -n 's/^pipe,.*path=//p')
exec {in}<>"$control.in" {out}<>"$control.out"
say() {
    printf %s "${1:0:3}" >&"$out"
    sleep 0.8
    printf '%s\n' "${1:3}" >&"$out"
}
say ready
while read -r word _ <&"$in"; do
    case $word in
    clock | shift) echo "clock $EPOCHREALTIME" >&"$out" ;;
    run) [ -n "${MUTE-}" ] || say "status 7" ;;
    off) exit ;;
    esac
done
END
    chmod +x "$1"
}

# use_stuttering_machine: makes the next guest run the stand-in instead of qemu.
use_stuttering_machine() {
    local reason
    ! reason=$("$experiments/run-in-guest" --why-not) || skip "guest: $reason"
    mkdir machine guest
    write_stuttering_machine machine/qemu-system-x86_64
    echo format=1 >guest/about
    guest=guest PATH=$PWD/machine:$PATH
}

a_line_that_arrives_in_two_parts_is_read_as_one() { # case
    use_stuttering_machine
    begin -- true
    ends 7
}

a_guest_that_ignores_sigterm_is_ended() { # case
    use_stuttering_machine
    MUTE=yes begin --grace 1 --clock clock.csv -- true
    await guest_did grep -qs start clock.csv
    kill -TERM "$pid"
    ends 143
}

run_cases
