# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by tests that cannot run on all machines. A reason begins with the missing feature, a word from tests/skips,
# and a colon.

# shellcheck disable=SC2034 # the exit status of a test in which nothing failed
skipped=0

# In other locales, numbers may have a comma, and messages other words.
export LC_ALL=C

# nproc obeys these variables.
unset OMP_NUM_THREADS OMP_THREAD_LIMIT

# skip REASON: ends the test.
skip() {
    echo "skipped: $1"
    exit 77
}

# skip_part REASON: continues the test, which then exits with $skipped instead of 0.
skip_part() {
    echo "skipped: $1"
    skipped=77
}

# first_cpu: prints the number of the first CPU that we may use, which need not be CPU 0.
first_cpu() {
    sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status
}

# have_first_cpus LAST: succeeds if we may use CPU 0 to CPU LAST.
have_first_cpus() {
    [ "$(sed -nE 's/^Cpus_allowed_list:[[:space:]]*0(-([0-9]+))?(,.*)?$/0\2/p' /proc/self/status)" -ge "$1" ] 2>/dev/null
}

# have_other_users: succeeds if we may become another user and make its files. In a user namespace that maps only one
# user, root may not.
have_other_users() {
    setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null
}

# unshared OPTIONS COMMAND...: runs the command in new namespaces, for an unprivileged user also a user namespace.
unshared() {
    if [ "$(id -u)" -eq 0 ]; then
        unshare "$@"
    else
        unshare -r "$@"
    fi
}

# have_cpu_quota: succeeds if a quota keeps our control group, or one above it, from using all of our CPUs. In a
# container, the path may name groups of the host, which are not visible; the root of the mount is then our group.
have_cpu_quota() (
    while IFS=: read -r _ quota_controllers quota_group; do
        case ,$quota_controllers, in
        ,,) quota_root=/sys/fs/cgroup ;;
        *,cpu,*) quota_root=/sys/fs/cgroup/cpu ;;
        *) continue ;;
        esac
        while :; do
            quota_folder=$quota_root${quota_group%/}
            quota=$(cat "$quota_folder/cpu.max" 2>/dev/null ||
                cat "$quota_folder/cpu.cfs_quota_us" "$quota_folder/cpu.cfs_period_us" 2>/dev/null) || quota=none
            # shellcheck disable=SC2086 # two numbers: CPU time and period
            set -- $quota
            case $1 in
            [0-9]*) [ "$1" -ge $(($(nproc) * $2)) ] || return 0 ;;
            esac
            [ "$quota_folder" != "$quota_root" ] || break
            quota_group=${quota_group%/*}
        done
    done </proc/self/cgroup
    return 1
)

# have_reports BUILD: succeeds if the programs of the Python package can run.
have_reports() {
    "$1/libexec/showstopper/analysis" check >/dev/null 2>&1
}

# have_full: fails, after skipping the caller's part, unless writing to /dev/full fails as on a full disk. In some
# containers it is a file.
have_full() {
    [ -c /dev/full ] && [ -w /dev/full ] && return
    skip_part "dev-full: /dev/full is not a device"
    return 1
}

# have_terminal: fails, after skipping the caller's part, if script(1) cannot create a terminal.
have_terminal() {
    if ! (: <>/dev/ptmx) 2>/dev/null; then
        skip_part "terminal: cannot open a pseudo-terminal"
    elif ! command -v script >/dev/null; then
        skip_part "script: not installed"
    else
        return 0
    fi
    return 1
}

# need PROGRAM...
need() {
    for program; do
        command -v "$program" >/dev/null || skip "$program: not installed"
    done
}
