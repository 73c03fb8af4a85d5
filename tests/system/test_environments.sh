#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sides of an interference study in containers: where they run, what they see, and that they leave nothing behind.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=experiments.sh
. "$here/experiments.sh"
burner=
options+=(--warmup 0 --edge 0 --memory 1M --launch 8)
export SHOWSTOPPER_PLACES=$scratch/places

# call OPTION...: runs interference with a timeout that suits containers.
call() {
    (cd "$scratch" && exec timeout "$patience" "$bin/sslab" interference "${options[@]}" "$@") >"$output" 2>&1
}

# figure FILE NAME
figure() {
    sed -n 's/^ *"'"$2"'": *\([-+.0-9e]*\),\{0,1\}$/\1/p' "$1" | head -n 1
}

# Prints the control groups of this test's studies, whose names are the places of their runs.
list_groups() {
    local file key value
    for file in "$scratch"/*/.study/values; do
        [ -e "$file" ] || continue
        while read -r key value; do
            [ "$key" != place ] || find /sys/fs/cgroup -name "showstopper-$value.*" 2>/dev/null
        done <"$file"
    done
}

# Prints the processes that have this test's folder in their environment or arguments.
list_processes() {
    {
        grep -lsaz "^TMPDIR=$scratch/ram" /proc/[0-9]*/environ || true
        grep -lsazE "(^| )$scratch/" /proc/[0-9]*/cmdline || true
    } | cut -d / -f 3 | sort -u
}

# Ends processes that a failed test left.
clean_up() {
    local pid
    end_burner
    for pid in $(list_processes); do
        kill "$pid" 2>/dev/null || true
    done
}

# Fails if a process, control group or mount is left; experiment() calls it.
nothing_is_left() {
    local name
    [ -z "$(ls "$scratch/ram")" ] || fail "leftover data: $(ls "$scratch/ram")"
    [ -z "$(list_processes)" ] || fail "leftover processes: $(list_processes)"
    [ -z "$(list_groups)" ] || fail "leftover control groups: $(list_groups)"
    ! grep -F "$scratch" /proc/mounts || fail "leftover mounts"
    for name in /run/lxc/lock"$scratch" "$SHOWSTOPPER_PLACES"; do
        [ ! -e "$name" ] || fail "leftover file: $name"
    done
}

end_burner() {
    [ -z "$burner" ] || kill "$burner" 2>/dev/null || true
    burner=
}

# can_have ENVIRONMENT: skips the case if studies cannot use this environment.
can_have() {
    local why
    need_built ssbatch
    have_first_cpus 1 || skip "cpus: CPUs 0 and 1 are not both available"
    call --dry-run --sets 0/1 --environment "$1" || grep -q "^skipped: environment=$1 " "$output" ||
        fail "$1 is neither planned nor skipped"
    why=$(sed -n "s/^skipped: environment=$1 [^:]*: //p" "$output")
    case $why in
    '') ;;
    *' is not installed') skip "${why%% *}: not installed" ;;
    *) skip "containers: $why" ;;
    esac
}

# Commands that print the environment of an instance, one fact per line.
# shellcheck disable=SC2016 # the instance's shell expands it
look='echo "name $(uname -n)"; echo "cpus $(taskset -c 0-1023 nproc)"; echo "links $(($(wc -l </proc/net/dev) - 2))"
    echo "quota $(cat /sys/fs/cgroup/cpu*/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max 2>/dev/null |
        sed "s/ .*//;q")"
    touch "$0/file" && echo "scratch written"
    (: >/showstopper-test.$$) 2>/dev/null || echo "root kept"
    : >/dev/shm/showstopper-test && echo "memory written"
    [ -d "/proc/self/fd" ] && echo "processes $(ls -d /proc/[1-9]* | wc -l)"
    while sleep 0.2; do echo turn; done'

# looks_around FOLDER RUN CPUS QUOTA: fails unless both sides were isolated and had these CPUs and this quota.
looks_around() {
    local role found
    for role in foreground background; do
        found=$scratch/$1/$2/$role.output/0.out
        for line in "name $role" "cpus $3" "links 1" "scratch written" "root kept" "memory written"; do
            grep -qx "$line" "$found" || fail "$2, $role: expected '$line': $(cat "$found")"
        done
        [ -z "$4" ] || grep -qx "quota $4" "$found" || fail "$2, $role: wrong quota: $(cat "$found")"
        [ "$(sed -n 's/processes //p' "$found")" -lt 20 ] || fail "$2, $role: the host's processes are visible"
    done
    [ ! -e /dev/shm/showstopper-test ] || fail "$2: the host's /dev/shm is visible"
}

# containers_of ENVIRONMENT
containers_of() {
    local run file half
    can_have "$1"
    half=$(awk -v cpus="$(nproc)" 'BEGIN { print int(cpus / 2 * 100000) }')
    experiment --levels 50:50:50 --hold 15 --sets 0/1 --environment "$1" --name look --output "$1-inside" \
        --iteration '^turn$' -- sh -c "$look" '{scratch}'
    run=$1-inside-sets-look-look-1
    looks_around "$1-inside" "$run" 1 ''
    [ "$(listed "$1-inside" environment)" = "$1 $1" ] || fail "wrong environment: $(listed "$1-inside" environment)"
    [ "$(listed "$1-inside" measured_in)" = "inside inside" ] || fail "wrong place of measurement"
    [ "$(listed "$1-inside" status)" = "done done" ] || fail "wrong status: $(listed "$1-inside" status)"
    for file in "$scratch/$1-inside/$run"/*ground; do
        grep -q '"name": "cgroup"\|"cgroup"' "$file/plan.json" || fail "$file: the load is not that of the group"
        grep -q "\"environment\": \"$1\"" "$file/plan.json" || fail "$file: no label 'environment'"
        grep -q '"measured_in": "inside"' "$file/plan.json" || fail "$file: no label 'measured_in'"
        [ "$(wc -l <"$file.host-load.csv")" -gt 4 ] || fail "$file: too few samples of the host"
    done
    experiment --levels 50:50:50 --hold 15 --placements quota --environment "$1" --measure host \
        --name look --output "$1-host" --iteration '^turn$' -- sh -c "$look" '{scratch}'
    run=$1-host-quota-look-look-1
    looks_around "$1-host" "$run" "$(nproc)" "$half"
    [ "$(listed "$1-host" measured_in)" = "host host" ] || fail "wrong place of measurement"
    for file in "$scratch/$1-host/$run"/*ground; do
        grep -q "showstopper-[0-9a-f]*\.$run\.${file##*/}" "$file/plan.json" || fail "$file: wrong control group"
        [ ! -e "$file.host-load.csv" ] || fail "$file: redundant samples of the host"
    done
}

both_sides_of_a_study_run_in_lxc_containers() { containers_of lxc; } # case
both_sides_of_a_study_run_in_podman_containers() { containers_of podman; } # case

load_of_group_excludes_other_processes() { # case
    local load_of load
    can_have lxc
    for load_of in cpus group; do
        begin_study --levels 50:50:50 --hold 4 --sets 0/1 --environment lxc --load-of "$load_of" --name nap \
            --output "of-$load_of" --repeat -- sleep 0.3
        await both_count
        spin taskset -c 1
        burner=$!
        wait "$study" || fail "--load-of $load_of: status $?"
        end_burner
        nothing_is_left
        load=$(figure "$scratch/of-$load_of/lxc-inside-sets-nap-nap-1/background/summary.json" load_mean)
        awk -v of="$load_of" -v load="$load" 'BEGIN { exit of == "cpus" ? load < 0.5 : load > 0.2 }' ||
            fail "wrong load of the $load_of: $load"
    done
    refuses "the lines above the first run differ" --levels 50:50:50 --hold 4 --sets 0/1 --environment lxc --name nap \
        --output of-group --load-of cpus --repeat -- sleep 0.3
}

both_record() {
    kill -0 "$study" || fail "the study ended early"
    [ "$(find "$scratch/ram" -path '*ground/samples.csv' | wc -l)" -eq 2 ]
}

both_count() {
    kill -0 "$study" || fail "the study ended early"
    [ "$(grep -rls --include=events.jsonl '"event":"counting"' "$scratch/ram" | wc -l)" -eq 2 ]
}

# begin_study OPTION...: starts a study and sets `study` to its pid once both sides run.
begin_study() {
    (cd "$scratch" && exec "$bin/sslab" interference "${options[@]}" "$@") >"$output" 2>&1 &
    study=$!
    await both_record
}

nothing_runs() {
    [ -z "$(list_processes)" ]
}

# ssbatch cleans up without another call of the experiment.
a_killed_study_leaves_nothing_behind() { # case
    local place
    local places=(host "lxc --measure inside" "lxc --measure host")
    can_have lxc
    ! command -v podman >/dev/null || places+=("podman --measure inside" "podman --measure host")
    for place in "${places[@]}"; do
        # shellcheck disable=SC2086 # the words of options
        begin_study --levels 50:50:50 --hold 100 --sets 0/1 --workloads serial --output killed --energy "echo 7" \
            --environment $place
        kill -KILL "$study"
        wait "$study" 2>/dev/null || true
        await nothing_runs
        nothing_is_left
    done
}

# Environments that this machine lacks are skipped with the reason.
unavailable_environments_are_skipped() { # case
    local without=$scratch/without environment reason
    refuses "--environment: 'jail' is not one of: " --environment none,jail
    mkdir "$without"
    ln -s /usr/bin/* /usr/sbin/* "$without" 2>/dev/null || true
    rm -f "$without"/{lxc-execute,podman}
    PATH=$without refuses "no run is possible here, for the reasons above" "${one_cpu[@]}" --workloads serial \
        --environment lxc,podman --output lacking
    [ ! -e "$scratch/lacking" ] || fail "a folder was created"
    for environment in lxc=lxc-execute podman=podman; do
        reason="${environment#*=} is not installed"
        [ "$(id -u)" -eq 0 ] || reason="only root can make containers with CPUs of their own"
        prints "skipped: environment=${environment%=*} measured_in=inside: $reason"
    done
    # Without control groups, runs that need no group are still possible.
    if [ "$(id -u)" -ne 0 ]; then
        skip_part "root: only root can unmount the control groups"
        return
    fi
    if ! unshare -m sh -c 'umount -R -l /sys/fs/cgroup' 2>/dev/null; then
        skip_part "mounts: cannot unmount in a namespace"
        return
    fi
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare -m sh -c 'umount -R -l /sys/fs/cgroup && exec "$@"' sh "$bin/sslab" interference \
        "${options[@]}" --dry-run "${one_cpu[@]}" --placements sets,quota --environment none,lxc >"$output" 2>&1 ||
        fail "without groups: status $?"
    prints 'skipped: placement=quota: no control group hierarchy has the controller cpu'
    prints 'skipped: environment=lxc .*: .*'
    [ "$(grep -c '^sets-serial-serial-1: ' "$output")" -eq 1 ] || fail "wrong runs"
}

run_cases
