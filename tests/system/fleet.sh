# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # variables of harness.sh
# Sourced by tests of ssfleet: clusters on this machine; clean_up removes all of them.

# shellcheck source=../../tools/ssfleet/child.sh
. "$source/tools/ssfleet/child.sh" # started_at

servers=() # pids of SSH servers

# open_slurm NODES [LINE...]: starts a cluster in the folder `slurm`.
open_slurm() {
    (umask 000 && exec "$source/tools/ssfleet/try-slurm" start "$scratch/slurm" "$@") >"$scratch/slurm.out" 2>&1 ||
        fail "try-slurm: $(cat "$scratch/slurm.out")"
    [ -z "$(find "$scratch/slurm/pids" -perm /022)" ] || fail "others may choose processes that are ended"
    export SLURM_CONF=$scratch/slurm/slurm.conf
}

# administer: acts as the administrator after a controller of Slurm was killed. Its successor reuses the IDs of lost
# jobs, drains the nodes on which those still exist ("Duplicate jobid"), and holds the new jobs.
administer() {
    local name job
    while sleep 1; do
        for name in $(sinfo -h -N -t drain -o %N 2>/dev/null); do
            scontrol update "NodeName=$name" State=RESUME 2>/dev/null || true
        done
        for job in $(squeue -h -t PD -o %A 2>/dev/null | sort -u); do
            scontrol release "$job" 2>/dev/null || true
        done
    done
}

# open_ssh NAME [VARIABLE=VALUE...]: starts an SSH server that sets these variables; `ssh -F $scratch/ssh/config NAME`
# connects to it. Its shells have an empty home: a start-up file of the user's may be slow, print, or take a lock that a
# killed shell leaves behind.
open_ssh() {
    local name=$1 ssh=$scratch/ssh port pam=no
    ! is_root_locked || pam=yes
    shift
    if [ ! -d "$ssh" ]; then
        mkdir -p /run/sshd # sshd requires it
        mkdir -m 700 "$ssh" "$ssh/home"
        ssh-keygen -q -t ed25519 -N '' -f "$ssh/host"
        ssh-keygen -q -t ed25519 -N '' -f "$ssh/key"
    fi
    # These ports do not overlap with those of try-slurm.
    port=$(shuf -i 27000-31999 -n 1)
    while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        port=$((port + 1))
    done
    printf '%s\n' "Port $port" 'ListenAddress 127.0.0.1' "HostKey $ssh/host" "AuthorizedKeysFile $ssh/key.pub" \
        "UsePAM $pam" 'StrictModes no' 'PidFile none' 'PermitRootLogin yes' "SetEnv HOME=$ssh/home $*" >"$ssh/$name.conf"
    printf '%s\n' "Host $name" '  HostName 127.0.0.1' "  Port $port" "  IdentityFile $ssh/key" \
        "  UserKnownHostsFile $ssh/known.$name" '  StrictHostKeyChecking accept-new' '  LogLevel ERROR' >>"$ssh/config"
    /usr/sbin/sshd -D -e -f "$ssh/$name.conf" >"$ssh/$name.log" 2>&1 &
    servers+=($!)
    # shellcheck disable=SC2016 # the server's shell expands HOME
    await ssh -F "$ssh/config" -o BatchMode=yes "$name" 'test "${HOME##*/}" = home' </dev/null 2>"$ssh/$name.err"
}

clean_up() {
    local pid
    [ ! -d "$scratch/slurm/pids" ] || "$source/tools/ssfleet/try-slurm" end "$scratch/slurm" || true
    for pid in "${servers[@]}"; do
        kill -TERM "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
}

need_slurm() {
    need sbatch
    [ -x /usr/sbin/slurmctld ] || skip "slurmctld: not installed"
    [ -x /usr/sbin/slurmd ] || skip "slurmd: not installed"
    [ -x /usr/sbin/munged ] || skip "munged: not installed"
    mountpoint -q /sys/fs/cgroup || skip "cgroup-pids: slurmd needs control groups"
}

# is_root_locked: succeeds if sshd refuses root even with a key. With PAM it does not: it leaves that to PAM.
is_root_locked() {
    [[ $(getent shadow root) == root:!* ]]
}

need_ssh() {
    need parallel ssh
    [ -x /usr/sbin/sshd ] || skip "sshd: not installed"
    [ "$(id -u)" -eq 0 ] || skip "root: an SSH server of one's own needs it"
    ! is_root_locked || [ -e /etc/pam.d/sshd ] || skip "root-login: the account is locked, and sshd has no PAM"
}

# call_pids STUDY: prints the pids of local calls of ssbatch that carry out runs of the study: those that hold the locks
# of their calls. The last word of a call is a start time only on some kernels.
call_pids() {
    local call pid
    for call in "$1"/.study/calls/*; do
        IFS=: read -r _ _ pid _ <<<"${call##*/}"
        # find fails if a file is closed meanwhile.
        [ -z "$pid" ] || [ -z "$(find "/proc/$pid/fd" -lname "*/${call##*/}/lock" 2>/dev/null || true)" ] || echo "$pid"
    done
}

# descend PID...: prints these pids and those of all descendants.
descend() {
    local pid children
    for pid; do
        echo "$pid"
        read -r -d '' -a children < <(cat "/proc/$pid/task"/*/children 2>/dev/null) || true
        descend "${children[@]}"
    done
}

# is_complete STUDY COUNT: succeeds if every run was done exactly once and left nothing but its result.
is_complete() {
    local results=("$1"/*/run.json)
    [ "$(ssbatch --list "$1" | tail -n 1)" = "$2 done, 0 failed, 0 skipped, 0 to come" ] &&
        [ ${#results[@]} -eq "$2" ] && [ -z "$(find "$1" -maxdepth 1 -name '.*.part')" ]
}
