#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ssfleet: studies and replays on nodes that are local, SSH servers, or of a Slurm cluster on this machine.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=fleet.sh
. "$here/fleet.sh"
unset SLURM_CONF

PATH=$bin:$PATH
libexec=$build/libexec/showstopper
need_built ssbatch
exec </dev/null # ssh would read it

# write_plan COUNT SECONDS: writes a plan of runs that log their names at their end.
write_plan() {
    local i
    for ((i = 1; i <= $1; i++)); do
        echo "run r$i takes 1s limit 5M"
        echo "main -- sh -c 'sleep $2; echo r$i >>$scratch/log'"
    done >plan
}

# each_ran_once COUNT
each_ran_once() {
    [ "$(sort log | uniq -u | wc -l)" -eq "$1" ] || fail "some of $1 runs were not carried out exactly once: $(sort log | uniq -c)"
}

# is_running STUDY NODE: succeeds if the status lists a run on a node whose name begins with NODE.
is_running() {
    ssfleet status "$1" >running.out 2>/dev/null && grep -q "^running: r. on $2" running.out
}

runs_of_a_study_are_distributed_to_local_nodes() { # case
    local node
    write_plan 6 0.05
    # By default tasks of a minute are made, which here would be one.
    expect 0 ssfleet run --engine local --nodes a,b --scratch "$scratch/disk" study plan
    says err '6 of 6 runs done, 0 failed'
    is_complete study 6 || fail "incomplete: $(ssbatch --list study)"
    each_ran_once 6
    for node in a b; do
        [ "$(find disk/*/"$node" -name run.json | wc -l)" -eq 3 ] ||
            fail "not half of the runs on $node: $(ls disk/*/*)"
    done
    expect 0 ssfleet status study
    [ "$(cat out)" = 'done: 6' ] || fail "wrong status: $(cat out)"
    # Finished runs are not repeated, even without a plan.
    expect 0 ssfleet run --engine local study
    each_ran_once 6
    [ -z "$(ls study/.fleet/jobs)" ] || fail "finished tasks are still known"
    # Two runs of one second make a task of two seconds.
    rm log
    expect 0 ssfleet run --engine local --nodes a,b --pack 2s shared plan
    is_complete shared 6 || fail "incomplete: $(ssbatch --list shared)"
    each_ran_once 6
}

# A user who can write to the folder could replace the plan that the nodes carry out.
a_scratch_folder_that_others_can_change_is_refused() { # case
    local mode
    write_plan 1 0
    write_traces
    expect 0 ssfleet run --engine local --nodes a --scratch "$scratch/disk" study plan
    [ "$(stat -c %a disk)" = 700 ] || fail "others may use the new folder: $(stat -c %A disk)"
    for mode in 770 707; do
        chmod "$mode" disk
        expect_unsafe_scratch "$scratch/disk"
    done
    chmod 700 disk
    have_other_users || return 0 # only root can make files of another user
    chown 65534 disk
    expect_unsafe_scratch "$scratch/disk"
    chown 0 disk
    ln -s disk link
    chown -h 65534 link
    expect_unsafe_scratch "$scratch/link"
}

# The plan and the command of --ssh in the settings are carried out.
a_study_that_others_can_change_is_refused() { # case
    local path words
    umask 002
    write_plan 1 0
    expect 0 ssfleet run --engine local --nodes a --scratch "$scratch/disk" study plan
    expect 0 ssfleet status study
    for path in study study/.study/plan study/.fleet/jobs; do
        for words in "run --engine local --scratch $scratch/disk" status collect cancel; do
            chmod g+w "$path"
            # shellcheck disable=SC2086 # several words
            refuses 125 "/$path: other users may write to it" ssfleet $words study
            chmod g-w "$path"
            have_other_users || continue # only root can make files of another user
            chown 65534 "$path"
            # shellcheck disable=SC2086
            refuses 125 "/$path belongs to $(stat -c %U "$path"), whose commands" ssfleet $words study
            chown 0 "$path"
        done
    done
    mv study/.fleet fleet
    ln -s ../fleet study/.fleet
    refuses 125 "study/.fleet is a link" ssfleet status study
}

# expect_unsafe_scratch DIR
expect_unsafe_scratch() {
    rm -rf other replay log
    refuses 125 "$1 can be changed by other users" ssfleet run --engine local --nodes a --scratch "$1" other plan
    [ ! -e log ] || fail "the plan was carried out"
    expect 1 ssfleet replay --engine local --nodes a --traces traces --record replay --scratch "$1" -- true
    says err "$1 can be changed by other users"
}

# replace_tar: lets tar write only the first $cut bytes of an archive, as if the connection was lost then. $cut is a
# variable of its environment; by default, tar writes everything.
replace_tar() {
    local tar
    tar=$(command -v tar)
    stand_in tar
    cat >>stand-ins/tar <<END
case \$1/\${cut-} in
-cf/?*) '$tar' "\$@" | head -c "\$cut" ;;
*) exec '$tar' "\$@" ;;
esac
END
}

# A node that dies later takes no finished run with it.
runs_are_collected_while_others_run() { # case
    printf '%s\n' 'run a takes 1s' 'main -- sleep 3' 'run b takes 1s' \
        "main -- sh -c 'until [ -e $scratch/study/a/run.json ]; do sleep 0.1; done'" >plan
    expect 0 timeout "$patience" ssfleet run --engine local --nodes n1 --pack 1000ms --scratch "$scratch/disk" study plan
    is_complete study 2 || fail "incomplete: $(ssbatch --list study)"
}

# Headers and contents of the copied files are multiples of 512 bytes: tar does not notice if it gets only some of them.
incomplete_copies_of_runs_stay_out_of_the_study() { # case
    local cut runs
    write_plan 2 0
    expect 0 ssfleet run --engine local --nodes a --scratch "$scratch/disk" study plan
    runs=$(($(tar -b 1 -C disk/*/a -cf - r1 r2 | wc -c) - 1024)) # without the end of an archive
    rm -r study/r1
    sed -i 's/"status": "done"/"status": "failed"/' study/r2/run.json
    cp -r study study.before
    replace_tar
    for cut in 512 3000 3072 "$runs"; do
        expect 1 env cut="$cut" ssfleet collect study
        says err 'a: cannot fetch its runs now'
        says err '0 runs collected'
        diff -r study study.before || fail "the study has changed"
    done
    expect 0 ssfleet collect study
    says err '2 runs collected'
    is_complete study 2 || fail "incomplete: $(ssbatch --list study)"
    diff -r --exclude='.*' study disk/*/a || fail "the copies differ"
}

# A node claims that the state of the study is a run, and that a link is one.
only_runs_of_the_plan_are_collected() { # case
    local make
    need parallel
    write_plan 2 0
    replace_ssh bash "$scratch"
    expect 0 ssfleet run --engine parallel --nodes h1 --ssh "$scratch/stand-ins/ssh" --scratch "$scratch/disk" study plan
    mv study/r1 kept
    cp -r study before
    cp -r kept "$(echo disk/*/h1)/further"
    cp kept/run.json "$(echo disk/*/h1)/.study"
    sed -i '1r /dev/stdin' stand-ins/ssh <<'END'
case "$*" in
*cksum*)
    printf '%s\n' '1 1 .study/run.json' '1 1 ../disk/run.json' '/run.json:  "begin": 1'
    [ ! -e disk/*/h1/r1/run.json ] || [ -s disk/*/h1/r1/run.json ] || { echo '1 1 r1/run.json' && echo end && exit; }
    ;;
*--list*) printf '%s\n' heading ,,done ;;
esac
END
    rm -r disk/*/h1/r1
    expect 0 ssfleet collect study
    says err '0 runs collected'
    diff -r study before || fail "the study has changed"
    ln -s "$scratch/kept" "$(echo disk/*/h1)/r1"
    expect 1 ssfleet collect study
    says err 'h1: cannot fetch its runs now'
    diff -r study before || fail "the study has changed"
    rm disk/*/h1/r1
    mkdir "$(echo disk/*/h1)/r1"
    for make in mkfifo touch; do
        $make "$(echo disk/*/h1)/r1/run.json"
        expect 1 ssfleet collect study
        says err 'h1: cannot fetch its runs now'
        diff -r study before || fail "the study has changed"
        rm disk/*/h1/r1/run.json
    done
    rm -r disk/*/h1/r1
    expect 0 ssfleet status study
    cp -r kept "$(echo disk/*/h1)/r1"
    expect 0 ssfleet collect study
    says err '1 run collected'
}

# replace_ssh SHELL FOLDER: lets ssh, for the node h1, do what a server does if this is the user's shell and home.
replace_ssh() {
    stand_in ssh
    # shellcheck disable=SC2016 # expanded by the stand-in
    printf '%s\n' "SHELL=$(type -P "$1") && export SHELL && cd '$2' || exit" 'while [ "$1" != h1 ]; do shift; done' \
        'shift && [ "$1" != -- ] || shift' 'exec "$SHELL" -c "$*"' >>stand-ins/ssh
}

# On many systems the shell of new users is a plain sh, which knows less syntax than bash.
users_of_nodes_may_have_another_shell() { # case
    local shell=dash ssh=$scratch/stand-ins/ssh
    need parallel
    write_plan 2 0
    write_traces
    type -P dash >/dev/null || shell='sh'
    replace_ssh "$shell" "$scratch"
    expect 0 ssfleet run --engine parallel --nodes h1 --ssh "$ssh" study plan
    is_complete study 2 || fail "incomplete: $(ssbatch --list study)"
    each_ran_once 2
    expect 0 ssfleet run --engine parallel --nodes h1 --ssh "$ssh" --scratch "$scratch/disk" copied plan
    is_complete copied 2 || fail "incomplete: $(ssbatch --list copied)"
    expect 0 ssfleet replay --engine parallel --nodes h1 --ssh "$ssh" --traces traces --record replay --margin 5s -- \
        -f own --duration 200m ssburn serial
}

# Shells of nodes begin in another folder, and later calls may.
a_relative_scratch_folder_is_that_of_the_call() { # case
    write_plan 1 0
    write_traces
    mkdir elsewhere
    expect 0 ssfleet run --engine local --nodes a --scratch disk study plan
    rm -r study/r1
    (cd elsewhere && expect 0 ssfleet collect ../study)
    says elsewhere/err '1 run collected'
    need parallel
    replace_ssh bash "$scratch/elsewhere"
    expect 0 ssfleet replay --engine parallel --nodes h1 --ssh "$scratch/stand-ins/ssh" --scratch disk --traces traces \
        --record replay --margin 5s -- -f own --duration 200m ssburn serial
    [ "$(ls elsewhere)" = $'err\nout' ] || fail "files in another folder: $(ls elsewhere)"
}

# Names of the runs are longer than the longest argument of a command.
many_runs_are_collected_at_once() { # case
    local part name count=700
    write_plan 1 0
    # The options of a study are kept to the last character.
    expect 0 ssfleet run --engine local --nodes a --scratch "$scratch/disk=" study plan
    part=$(echo disk=/*/a)
    name=$(printf 'n%.0s' {1..196})
    seq "$count" | xargs -I '{}' cp -r "$part/r1" "$part/$name{}"
    seq "$count" | sed "s/.*/run $name& takes 1s\nmain -- true/" >>study/.study/plan
    chmod 777 disk= # the node refuses it
    expect 1 ssfleet collect study
    says err 'a: cannot fetch its runs now'
    chmod 700 disk=
    expect 0 ssfleet collect study
    says err "$count runs collected"
    [ "$(find study -path "study/n*/run.json" | wc -l)" -eq "$count" ] || fail "runs are missing"
}

# Node a has failed first, node b later.
an_earlier_failure_does_not_replace_a_later_one() { # case
    local nodes
    printf '%s\n' 'run bad takes 1s' "main -- false" >plan
    for nodes in a b,a; do
        expect 1 ssfleet run --engine local --nodes "$nodes" --scratch "$scratch/disk" study plan
    done
    cmp study/bad/run.json disk/*/b/bad/run.json || fail "the study has the earlier failure"
    expect 0 ssfleet collect study
    says err '0 runs collected'
    rm -r study/bad
    expect 0 ssfleet collect study
    says err '1 run collected'
    cmp study/bad/run.json disk/*/b/bad/run.json || fail "the study has the earlier failure"
    # A result counts, even if it is earlier.
    sed -i 's/"status": "failed"/"status": "done"/' disk/*/a/bad/run.json
    expect 0 ssfleet collect study
    says err '1 run collected'
    cmp study/bad/run.json disk/*/a/bad/run.json || fail "the study has a failure in place of the result"
}

# A task may begin much later, on a node that has removed its temporary files in the meantime.
tasks_check_the_scratch_folder_again() { # case
    write_plan 2 0
    expect 0 ssfleet run --engine local --nodes a --scratch "$scratch/disk" study plan
    printf 'scratch=%q study_id=%q bin=%q\n' "$scratch/disk" "$(ls disk)" "$(dirname "$(command -v ssbatch)")" >script
    {
        cat "$source/tools/folders.sh"
        sed -nE '/^(send_functions|open_scratch)\(\) \{/,/^}/p' "$source/tools/ssfleet/ssfleet"
        sed -nE '/^(part_of|task_script)\(\) \{/,/^}/p' "$source/tools/ssfleet/study.sh"
        echo 'command=() set_locale=true && task_script a r1'
    } >>script
    bash script >task
    expect 0 bash task
    chmod 777 disk
    refuses 125 'can be changed by other users' bash task
}

studies_and_replays_with_one_scratch_folder_are_separate() { # case
    local study
    write_plan 1 0
    write_traces
    for study in one two; do
        sed -i "s/echo [a-z0-9]*/echo $study/" plan
        expect 0 ssfleet run --engine local --nodes a --scratch "$scratch/disk" "$study" plan
        is_complete "$study" 1 || fail "incomplete: $(ssbatch --list "$study")"
    done
    [ "$(paste -sd ' ' log)" = 'one two' ] || fail "other runs: $(cat log)"
    rm -r one/r1
    replay 0 a --scratch "$scratch/disk"
    expect 0 ssfleet collect one
    says err '1 run collected'
    grep -q 'echo one' one/r1/run.json || fail "the result of another study"
}

studies_of_version_one_find_their_results_on_nodes() { # case
    write_plan 2 0
    expect 0 ssfleet run --engine local --nodes a --scratch "$scratch/disk" study plan
    sed -i '/^study_id=/d' study/.fleet/settings
    mv disk/*/a disk/
    rm -r study/r1
    expect 0 ssfleet collect study
    says err '1 run collected'
    rm -r study/r2
    expect 0 ssfleet run --engine local --nodes a --scratch "$scratch/disk" study
    each_ran_once 2
}

# Lines of a column, or of the reason for a skip, look like rows of runs.
columns_may_have_several_lines() { # case
    cat >plan <<'END'
run r1 takes 1s note=$'"one"\nr2,,done,'
main -- true
run r2 takes 1s
main -- true
skip r3 reason=$'one\nr4,,done,'
run r4 takes 1s
main -- true
END
    expect 0 ssfleet run --engine local --nodes a --scratch "$scratch/disk" study plan
    [ "$(ssbatch --list study | tail -n 1)" = '3 done, 0 failed, 1 skipped, 0 to come' ] ||
        fail "incomplete: $(ssbatch --list study)"
    rm -r study/r2 disk/*/a/r2
    expect 0 ssfleet status study
    says out 'to come: 1'
}

# GNU parallel refuses commands of more than about 62 KiB. These names would have 65 KiB in one task.
parallel_starts_tasks_of_many_runs() { # case
    local i name
    need parallel
    printf -v name 'r%0196d' 0
    for ((i = 100; i < 430; i++)); do
        printf '%s\n' "run $name$i takes 0.01s" 'main -- true'
    done >plan
    replace_ssh bash "$scratch"
    expect 0 ssfleet run --engine parallel --nodes h1 --ssh "$scratch/stand-ins/ssh" study plan
    is_complete study 330 || fail "incomplete: $(ssbatch --list study | tail -n 1)"
}

# A stand-in for taskset records the CPUs, because this machine may not have these.
a_node_may_have_several_cpus() { # case
    write_plan 4 0
    stand_in taskset sslab ssbatch # sslab accepts all CPUs
    cat >>stand-ins/taskset <<END
echo "\$1 \$2" >>$scratch/pinned
shift 2
exec "\$@"
END
    # ssfleet takes the other programs from its own folder.
    printf 'exec %q "$@"\n' "$real" >>stand-ins/ssbatch
    ln -s "$source/tools/ssfleet/ssfleet" stand-ins/ssfleet
    expect 0 ssfleet run --engine local --nodes 7,a=0,2,b=1-5:2,8,c --pack 1s study plan
    each_ran_once 4
    [ "$(sort -u pinned)" = "$(printf '%s\n' '-c 0,2' '-c 1-5:2,8')" ] || fail "wrong CPUs: $(cat pinned)"
}

# Names become folders of records and of --scratch, and words of scripts.
names_of_nodes_are_checked() { # case
    local name
    write_plan 1 0
    for name in ../disk a/b .. .hidden '*' 'a;b' "a'b" 'a&b' -n; do
        refused "--nodes: invalid name '$name'" \
            run --engine local --nodes "c,$name" --scratch "$scratch/disk" study plan
    done
    expect 0 ssfleet run --engine local --nodes $'\303\244,, a-1\nB@c_%' --scratch "$scratch/disk" study plan
    is_complete study 1 || fail "incomplete: $(ssbatch --list study)"
    [ "$(find disk/*/ -maxdepth 1 -name '*.plan' | wc -l)" -eq 3 ] || fail "not three nodes: $(ls disk/*)"
    expect 0 ssfleet status study
    says study/.fleet/settings $'nodes=\303\244,,,a-1,B@c_%'
}

failed_runs_are_named_and_carried_out_by_the_next_call() { # case
    write_plan 2 0
    printf '%s\n' 'run bad takes 1s' "main -- test -e $scratch/repaired" >>plan
    expect 1 ssfleet run --engine local study plan -- --quiet
    says err '2 of 3 runs done, 1 failed'
    expect 0 ssfleet status study
    says out "failed: bad: see $scratch/study/bad/run.json"
    says out 'done: 2'
    touch repaired
    expect 0 ssfleet run --engine local study
    is_complete study 3 || fail "incomplete: $(ssbatch --list study)"
}

# The result of an earlier call is not that of a task that was lost.
a_lost_task_of_a_failed_run_is_submitted_again() { # case
    cat >once <<'END'
[ -e repaired ] || exit 1
[ -e killed ] && exit 0
touch killed
read -r _ _ _ call _ <"/proc/$PPID/stat"
kill -KILL "$call"
sleep 1000
END
    printf '%s\n' 'run a takes 1s' 'main -- sh once' >plan
    expect 1 ssfleet run --engine local study plan
    touch repaired
    expect 0 ssfleet run --engine local study
    is_complete study 1 || fail "incomplete: $(ssbatch --list study)"
}

a_killed_call_is_continued() { # case
    local pid
    write_plan 4 0.4
    setsid ssfleet run --engine local --nodes a,b --pack 1s study plan 2>err &
    pid=$!
    await test -e log
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    expect 0 ssfleet run --engine local --nodes a,b --pack 1s study
    is_complete study 4 || fail "incomplete: $(ssbatch --list study)"
    each_ran_once 4
}

a_refused_call_leaves_the_study_unchanged() { # case
    write_plan 1 0
    expect 0 ssfleet run --engine local --nodes a study plan
    echo "$(hostname) $$ $(started_at $$)" >study/.fleet/turn # as if this process were another call
    cp -r study study.before
    write_plan 2 0
    refuses 125 "another call of ssfleet is carrying out $scratch/study" ssfleet run --engine local --nodes b study plan
    diff -r study study.before || fail "the study has changed"
}

# has_calls STUDY
has_calls() {
    [ -n "$(call_pids "$1")" ]
}

# has_no_calls STUDY
has_no_calls() {
    ! has_calls "$1"
}

# kill_calls STUDY: kills the calls of ssbatch that carry out runs of a study, and their keepers.
kill_calls() {
    local calls victim victims=()
    await has_calls "$1"
    mapfile -t calls < <(call_pids "$1")
    for victim in $(descend "${calls[@]}"); do
        [ ! "/proc/$victim/exe" -ef "$(command -v ssbatch)" ] || victims+=("$victim")
    done
    kill -KILL "${victims[@]}" 2>/dev/null || true
}

a_node_with_a_local_disk_undoes_journals_left_by_a_power_cut() { # case
    local pid calls processes process
    printf '%s\n' 'run one takes 1s' "after -- sh -c 'echo >>$scratch/undone'" \
        "main -- sh -c '[ -e $scratch/begun ] || { echo >$scratch/begun; exec sleep 1000; }'" >plan
    ssfleet run --engine local --nodes a,b --scratch "$scratch/disk" study plan 2>err &
    pid=$!
    await test -e begun
    # A power cut leaves the files as they are now. Kills do not: a killed keeper wakes its call, which may clean up.
    mkdir left
    cp -a study disk left
    mapfile -t calls < <(call_pids disk/*/a)
    mapfile -t processes < <(descend "${calls[@]}")
    kill "$pid"
    wait "$pid" || true
    for process in "${processes[@]}"; do
        await is_gone "$process"
    done
    rm -r study disk undone
    mv left/study left/disk .
    # The other node carries out the run; ssbatch on it undoes only its own changes.
    expect 0 ssfleet run --engine local --nodes b,a --scratch "$scratch/disk" study
    is_complete study 1 || fail "incomplete: $(ssbatch --list study)"
    [ "$(wc -l <undone)" -eq 2 ] || fail "undone $(wc -l <undone) times instead of once by each node"
    [ -z "$(find disk/*/*/.study/calls -type f)" ] || fail "calls are left to undo: $(ls disk/*/*/.study/calls)"
}

status_shows_which_run_of_a_task_is_carried_out() { # case
    local pid disk
    for disk in '' "--scratch=$scratch/disk"; do
        rm -rf study
        printf '%s\n' 'run first takes 1s' 'main -- true' 'run a takes 4s' 'main -- sleep 1000' \
            'run b takes 5s' 'main -- true' 'run other takes 50s' 'main -- sleep 1000' >plan
        ssfleet run --engine local --nodes x,y ${disk:+"$disk"} --pack 10s study plan 2>err &
        pid=$!
        await status_says "running: other on y"
        await status_says "running: a on x"
        expect 0 ssfleet status study
        [ "$(grep -c running: out)" -eq 3 ] || fail "wrong runs: $(cat out)"
        says out 'running: 2'
        says out 'waiting: 1'
        grep -Eq '^time left: about [12]?[0-9] s on 2 nodes$' out || fail "$(cat out)" # 29 s, less on a busy machine
        ssfleet cancel study 2>/dev/null
        wait "$pid" || true
    done
}

# status_says LINE
status_says() {
    ssfleet status study >running.out 2>/dev/null && grep -qx "$1" running.out
}

cancel_ends_a_task_that_has_no_process_group_yet() { # case
    local pid
    write_plan 1 0
    expect 0 ssfleet run --engine local study plan
    # Bash has forked, but setsid may not run yet.
    sleep 1000 >/dev/null 2>&1 &
    pid=$!
    echo r1 >study/.fleet/jobs/early
    echo "$(uname -n) $pid $(started_at "$pid")" >study/.fleet/jobs/early.pid
    timeout "$patience" ssfleet cancel study || { kill "$pid" && fail "the task was not canceled"; }
    wait "$pid" || true
    [ -z "$(ls study/.fleet/jobs)" ] || fail "canceled tasks are still known"
}

cancel_ends_running_and_stopped_tasks() { # case
    local pid task command state
    write_plan 1 1000
    sed -i "s|sleep|echo \$\$ >$scratch/shell; sleep|" plan
    for state in running stopped; do
        rm -rf study shell
        ssfleet run --engine local study plan 2>err &
        pid=$!
        await is_running study "$(uname -n)"
        await test -s shell
        read -r command <shell
        read -r _ task _ < <(cat study/.fleet/jobs/*.pid)
        [ "$state" = running ] || kill -STOP -- "-$task"
        timeout "$patience" ssfleet cancel study || { kill -KILL -- "-$task" && fail "the $state task was not canceled"; }
        ends '[1-9]*'
        await is_gone "$command"
        await has_no_calls study
    done
}

# Only the name of the host distinguishes the process from one of this host.
cancel_is_refused_on_another_host() { # case
    local file
    write_plan 1 0
    expect 0 ssfleet run --engine local study plan
    echo r1 >study/.fleet/jobs/early
    for file in turn jobs/early.pid; do
        echo "elsewhere $$ $(started_at $$)" >"study/.fleet/$file"
        cp -r study study.before
        refuses 125 "process $$ on elsewhere is carrying out $scratch/study: call ssfleet cancel there" ssfleet cancel study
        diff -r study study.before || fail "the study has changed"
        rm -r "study/.fleet/$file" study.before
    done
    expect 0 ssfleet cancel study
    [ -z "$(ls study/.fleet/jobs)" ] || fail "canceled tasks are still known"
    # Slurm ends tasks of all hosts.
    stand_in sbatch squeue scancel sinfo scontrol srun
    sed -i 's/^engine=.*/engine=slurm/' study/.fleet/settings
    echo "elsewhere $$ $(started_at $$)" >study/.fleet/turn
    expect 0 ssfleet cancel study
}

runs_without_a_result_are_explained() { # case
    write_plan 1 0
    # Shortens the pauses of ssfleet between its attempts.
    stand_in sleep
    echo "exec $real 0.01" >>stand-ins/sleep
    expect 1 ssfleet run --engine local study plan -- --nonsense
    says err "the last task printed: ssbatch: unknown option '--nonsense'"
    stand_in ssbatch
    printf '%s\n' 'case $* in *--only*) printf "a\033[31mred\n"; exit 9 ;; esac' "exec '$real' \"\$@\"" >>stand-ins/ssbatch
    expect 1 ssfleet run --engine local study
    says err "the last task printed: a?[31mred (see"
}

# Invalid calls leave no folder, so that the next call can create it. Some make tasks fail, with status 1.
invalid_calls_are_refused() { # case
    local time message words
    write_plan 1 0
    write_traces
    echo nonsense >nonsense
    printf '0,x,1,1,20\n0,y,1,1,60\n' >cluster.csv
    echo 'a m3.txt' >short
    printf 'a m3.txt\nb m4.txt' >assigned # without a newline
    stand_in parallel sbatch squeue scancel sinfo scontrol srun
    local study='run --engine local' replay='replay --engine local --traces traces --record replay'
    while IFS='|' read -r message words; do
        # shellcheck disable=SC2086 # several words
        refused "$message" $words
    done <<END
no engine given|run study plan
unknown engine 'magic'|run --engine magic study plan
unknown engine 'magic'|replay --engine magic --traces traces --record replay -- true
--no-wait requires --engine slurm|$study --no-wait study plan
'5' is not a time|$study --pack 5 study plan
$scratch/study is not a study that ssfleet run has begun|status study
replay requires --traces|replay --engine local -- true
slurm names no nodes|replay --engine slurm --traces traces --record replay -- true
--record: cannot create none/replay|$replay --record none/replay -- true
--nodes: invalid name '..'|run --engine parallel --nodes .. study plan
--nodes: invalid name '..'|$replay --nodes .. -- true
--nodes: ',' names no node|$study --nodes , study plan
--nodes: invalid node '=2'|$study --nodes a=0,=2 study plan
--nodes: invalid node 'a=0x2'|$study --nodes a=0x2 study plan
--nodes: a is named twice|$study --nodes a=0,b=0,a=0 study plan
--nodes: CPU 8191 is not available|$study --nodes a=0,b=8191 study plan
--nodes: CPU 8191 is not available|$replay --nodes a=0,b=8191 -- true
--record has no effect on run|$study --record zz study plan
--traces has no effect on run|$study --traces yy study plan
--margin has no effect on run|$study --margin=4s study plan
--partition has no effect with --engine local|$study --partition p study plan
--ssh has no effect with --engine local|$study --ssh ssh study plan
--no-wait takes no value|run --engine slurm --no-wait=no study plan
--shared-nodes takes no value|run --engine slurm --shared-nodes=no study plan
--pack has no effect on replay|$replay --pack 1s -- true
--from has no effect with a folder of traces|$replay --from azure -- true
--engine has no effect on status|status --engine local study
--redo is not allowed after --: |$study study plan -- --quiet --redo=r1
--redo is not allowed after --: |$study study plan -- --redo r1
--only is not allowed after --: |$study study plan -- --only=r1
--list is not allowed after --: |$study study plan -- --list
--add is not allowed after --: |$study study plan -- --add
--clean is not allowed after --: |$study study plan -- --clean
--dry-run is not allowed after --: |$study study plan -- --dry-run
-l is not allowed after --: each node follows its trace|$replay -- -l 5 true
-t is not allowed after --: each node follows its trace|$replay -- -t 5 true
-T is not allowed after --: each node follows its trace|$replay -- -T 5 true
--load is not allowed after --: each node follows its trace|$replay -- --load 5 true
--trace is not allowed after --: each node follows its trace|$replay -- --trace 5 true
--trace-options is not allowed after --: each node follows its trace|$replay -- --trace-options 5 true
-l is not allowed after --|$replay -- -f own -ql50% true
--load is not allowed after --|$replay -- --duration=1s --load=50% true
--record is not allowed after --|$replay -- --record folder true
--start-at is not allowed after --|$replay -- --start-at=@1 true
--warmup 5500m is longer than --margin 5s|$replay -- --warmup 5500m true
--warmup: 'x' is not a|$replay -- --warmup x true
has no line for node c|$replay --nodes c --assign short -- true
assigned: no trace 'm4.txt' for node b|$replay --nodes a,b --assign assigned -- true
--traces: trace/file: |replay --engine local --traces cluster.csv --record replay -- true
--traces: |replay --engine local --traces cluster.csv --from magic --record replay -- true
--traces: nowhere does not exist|replay --engine local --traces nowhere --record replay -- true
END
    expect 125 ssfleet
    for time in 90s 2M 2min 500m 500ms 1h; do
        refused "unknown engine" run --engine magic --pack $time study plan
    done
    expect 125 ssfleet replay --engine local --traces traces --assign robin --record replay -- true
    expect 125 ssfleet run --engine local study nonsense
    [[ ! -e study && ! -e replay ]] || fail "an invalid call leaves a folder"
    mkdir study
    expect 125 ssfleet run --engine local study nonsense
    [ -z "$(ls -A study)" ] || fail "leftover: $(ls -A study)"
    refuses 125 'has no plan yet' ssfleet run --engine local study
    expect 0 ssfleet --version
    says out "$(ssbatch --version | cut -d ' ' -f 2)"
}

# Status 1 would mean that runs have failed.
changed_and_damaged_studies_are_refused() { # case
    local action
    write_plan 1 0
    expect 0 ssfleet run --engine local study plan
    # The study is on a machine with more CPUs.
    sed -i 's/^nodes=.*/nodes=a=8191/' study/.fleet/settings
    expect 0 ssfleet status study
    # A run without a folder is carried out again, even if the plan has changed it.
    sed -i 's/r1 >>/again >>/' plan
    expect 1 ssfleet run --engine local --nodes b study plan
    says err 'ssfleet: to carry out a run again, remove its folder from STUDY'
    rm -r study/r1
    expect 0 ssfleet run --engine local --nodes b study plan
    [ "$(paste -sd ' ' log)" = 'r1 again' ] || fail "other runs: $(cat log)"
    echo nonsense >study/.study/plan
    for action in status 'run --engine local'; do
        # shellcheck disable=SC2086 # words
        refuses 125 "ssbatch: $scratch/study/.study/plan:1: unknown first word 'nonsense'" ssfleet $action study
    done
}

# refused MESSAGE WORD...: fails unless ssfleet refuses this call with the message, and leaves no folder.
refused() {
    refuses 125 "$1" ssfleet "${@:2}"
    [[ ! -e study && ! -e replay ]] || fail "${*:2}: a refused call leaves a folder"
}

options_of_the_command_of_a_replay_are_not_checked() { # case
    write_traces
    expect 0 ssfleet replay --engine local --traces traces --record replay --nodes a --margin 5s -- -f own \
        --duration 200m --label t=-l --warmup 100m sh -c 'exec ssburn serial' -l --record x
}

all_nodes_may_follow_one_trace() { # case
    write_traces
    mv traces/m2.txt 'one,2.txt'
    replay 0 a,b --traces one,2.txt
    [ "$(cut -d , -f 3 replay/b/samples.csv | tail -n 1)" = 0.500000 ] || fail "node b followed another trace"
    [ ! -e replay/traces ] || fail "the trace was split"
}

# The locale changes how fast programs such as sort are.
commands_run_in_the_locale_of_the_caller() { # case
    write_traces
    # shellcheck disable=SC2016 # expanded by the script
    printf 'echo "${LC_ALL-unset}" >>%q\nexec sleep "$1"\n' "$scratch/locale" >tell
    printf 'run r takes 1s limit 5M\nmain -- sh %q 0\n' "$scratch/tell" >plan
    LC_ALL=C.UTF-8 expect 0 ssfleet run --engine local --nodes a study plan
    (unset LC_ALL && expect 0 ssfleet run --engine local --nodes a unset plan)
    LC_ALL=C.UTF-8 expect 0 ssfleet replay --engine local --nodes a --traces traces --record replay --margin 5s -- \
        -n 1 -f own --duration 5s sh tell 9
    [ "$(paste -sd ' ' locale)" = 'C.UTF-8 unset C.UTF-8' ] || fail "other locales: $(cat locale)"
}

an_exported_cdpath_has_no_effect() { # case
    printf '%s\n' 'run one takes 1s' 'main -- true' >plan
    (cd "$libexec/../.." && CDPATH=. PATH=${PATH#*:} bin/ssfleet run --engine local --nodes a \
        "$scratch/study" "$scratch/plan") >out 2>&1 || fail "status $?: $(<out)"
}

signals_end_a_study() { # case
    local pid signal
    write_plan 1 1000
    for signal in TERM INT; do
        # A shell in the background ignores SIGINT.
        env --default-signal=INT ssfleet run --engine local study plan 2>err &
        pid=$!
        await is_running study ''
        kill -s "$signal" "$pid"
        ends $((128 + $(kill -l "$signal")))
        [ ! -e study/.fleet/turn ] || fail "the study is still taken after $signal"
        await has_no_calls study
    done
}

# signal_during PROGRAM CONDITION: fails unless SIGTERM ends all tasks if it arrives while ssfleet waits for this program,
# which is held up when the shell condition is true, with the words of the call.
signal_during() {
    local pid
    write_plan 1 1000
    stand_in "$1"
    cat >>"stand-ins/$1" <<END
jobs="$scratch/study/.fleet/jobs"
if $2; then
    touch "$scratch/held"
    while [ -e "$scratch/held" ]; do sleep 0.05; done
fi
exec $real "\$@"
END
    ssfleet run --engine local --nodes a study plan 2>err &
    pid=$!
    await test -e held
    await has_calls study
    kill -TERM "$pid"
    rm held
    ends 143
    await has_no_calls study
}

# The process with the tasks has been started, but ssfleet has not noted it yet.
signals_while_tasks_are_submitted_end_them() { # case
    # shellcheck disable=SC2016 # expanded by the program
    signal_during hostname 'ls "$jobs"/* >/dev/null 2>&1 && ! grep -qs . "$jobs"/*.pid'
}

# Bash carries out a trap with the IFS of the `read` that it interrupts.
signals_while_a_table_is_read_end_the_tasks() { # case
    # shellcheck disable=SC2016
    signal_during sed '[ "${4-}" = :more ] && grep -qs . "$jobs"/*.pid'
}

write_traces() {
    mkdir traces
    printf '0 30%%\n' >traces/m1.txt
    printf '0 50%%\n' >traces/m2.txt
    printf '0 70%%\n' >traces/m3.txt
}

# replay STATUS NODES [OPTION]...: replays `traces` for half a second on local nodes.
replay() {
    expect "$1" ssfleet replay --engine local --nodes "$2" --traces traces --record replay --margin 5s "${@:3}" -- \
        -f own --duration 500m ssburn serial
}

# field NODE NUMBER: prints a field of fleet.csv.
field() {
    grep "^$1," replay/fleet.csv | cut -d , -f "$2"
}

# start_of NODE: prints the start time of the node's record, by the clock of ssfleet.
start_of() {
    local time elapsed
    IFS=, read -r time elapsed _ < <(sed -n 2p "replay/$1/samples.csv")
    awk -v t="$(date -d "$time" +%s.%N)" -v e="$elapsed" -v o="$(field "$1" 7)" 'BEGIN { printf "%.4f\n", t - e - o }'
}

# starts_agree NODE...: fails unless all records began within 50 ms of the planned start. Start times are those that
# showstopper planned, from which the elapsed time of samples counts, because a busy machine may start late.
starts_agree() {
    local node
    for node; do
        awk -v a="$(start_of "$node")" -v b="$(field "$node" 6)" 'BEGIN { exit !(a - b < 0.05 && b - a < 0.05) }' ||
            fail "$node began at $(start_of "$node") instead of $(field "$node" 6)"
    done
}

all_nodes_start_their_traces_at_the_same_moment() { # case
    write_traces
    expect 0 ssfleet replay --engine local --nodes a,b,c --traces traces --record replay --margin 5s -- \
        -f own --duration 1s ssburn serial
    [ "$(cut -d , -f 1-4 replay/fleet.csv)" = "node,record,trace,status
a,a,m1.txt,done
b,b,m2.txt,done
c,c,m3.txt,done" ] || fail "wrong table: $(cat replay/fleet.csv)"
    [ "$(cut -d , -f 3 replay/b/samples.csv | tail -n 1)" = 0.500000 ] || fail "node b followed another trace"
    starts_agree a b c
    refuses 125 "--record: replay" ssfleet replay --engine local --nodes a --traces traces --record replay -- true
}

# The program date of node a lacks %N, as on small systems. Node b gets no trace: it would report at once if it were
# started, others do so later. Node c cannot read its trace. Node d's archive is not written here, as on a full disk: tar
# still reads it to the end. Node e's lacks its last files.
failed_nodes_are_named_and_the_others_continue() { # case
    local date mkdir tar
    write_traces
    printf 'not a trace\n' >traces/bad.txt
    printf '%s\n' '# node trace' 'a m1.txt' 'b m1.txt' 'c bad.txt' 'd m2.txt' 'e m3.txt' 'f m3.txt' >assigned
    date=$(command -v date) mkdir=$(command -v mkdir) tar=$(command -v tar)
    stand_in date mkdir chronyc tar
    cat >>stand-ins/date <<END
case "\$*" in
*%N) ! tr '\0' '\n' <"/proc/\$PPID/cmdline" | tail -n 1 | grep -qx a || exec '$date' +%s. ;;
esac
exec '$date' "\$@"
END
    cat >>stand-ins/mkdir <<END
case "\$* " in
*"/replay/b ") exit 1 ;;
esac
exec '$mkdir' "\$@"
END
    cat >>stand-ins/chronyc <<'END'
[ "$(tr '\0' '\n' <"/proc/$PPID/cmdline" | tail -n 1)" = b ] || sleep 1
exit 1
END
    cat >>stand-ins/tar <<END
case "\$1 \${PWD##*/} \$*" in
'-cf e '*) exec '$tar' -cf - record ;;
*'/.d.part '*) cat >/dev/null; exit 2 ;;
esac
exec '$tar' "\$@"
END
    replay 1 a,b,c,d,e,f --assign assigned --scratch "$scratch/disk"
    says err 'a: its date command prints no nanoseconds: install GNU coreutils there'
    says err 'c: showstopper exited with status 125'
    says err "d: cannot copy its record, which stays in $scratch/disk/replay/d until the next replay"
    says err '3 of 6 nodes have replayed their traces'
    [ "$(cut -d , -f 1-5 replay/fleet.csv | tail -n 6)" = "\
a,a,m1.txt,failed,its date command prints no nanoseconds: install GNU coreutils there
b,b,m1.txt,failed,cannot copy its trace to $scratch/disk/replay/b
c,c,bad.txt,failed,showstopper exited with status 125: see $scratch/replay/c.stderr
d,d,m2.txt,failed,\"cannot copy its record
e,e,m3.txt,failed,\"cannot copy its record
f,f,m3.txt,done," ] || fail "wrong table: $(cat replay/fleet.csv)"
    [[ -s disk/replay/d/record/samples.csv && -s disk/replay/e/record/samples.csv ]] || fail "a record was removed"
    [ ! -e disk/replay/f ] || fail "a copied record was not removed"
    says replay/c.stderr "'not' is not a time"
    [ "$(ls -A replay)" = $'c.stderr\nf\nfleet.csv' ] || fail "wrong files: $(ls -A replay)"
}

# A server may accept a connection and never answer, or its disk may hang.
a_node_that_never_answers_does_not_hold_up_a_replay() { # case
    need parallel
    write_traces
    replace_ssh bash "$scratch"
    # shellcheck disable=SC2016 # expanded by the stand-in
    sed -i '1a case " $* " in *" h2 "*) exec sleep 1000 ;; esac' stand-ins/ssh
    expect 1 timeout "$patience" ssfleet replay --engine parallel --nodes h1,h2 --ssh "$scratch/stand-ins/ssh" \
        --traces traces --record replay --patience 0.5min --margin 15s -- -f own --duration 200m ssburn serial
    says err 'h2: did not report within 0.5min'
    [ "$(tail -n 2 replay/fleet.csv | cut -d , -f 1-5)" = "\
h1,h1,m1.txt,done,
h2,h2,m2.txt,failed,did not report within 0.5min" ] || fail "wrong table: $(cat replay/fleet.csv)"
}

# A node uses the names of others, of files and of options, names a process that it did not start, and colors its text.
names_and_texts_of_nodes_are_checked() { # case
    local bystander
    need parallel
    write_traces
    replace_ssh bash "$scratch"
    start sleep 1000
    bystander=$pid
    printf '%s\n' 'ready ../kept ntp 0.001' 'ready -Ekept ntp 0.001' "process h1 $pid $(started_at "$pid")" ready 'done' \
        $'fail h1 \e[31mred \xc2\x9b5m\x07 text' >said
    # shellcheck disable=SC2016 # expanded by the stand-in
    sed -i '1r /dev/stdin' stand-ins/ssh <<END
echo "\$*" | head -n 1 >>'$scratch/called'
printf '\033]0;title\a\302\2335m\r\ndetail' >&2
sleep 1000 </dev/null >/dev/null & # as the shared connection of ssh
echo "\$!" >>'$scratch/left'
case "\$*" in *chronyc*)
    cat '$scratch/said'
    while read -r what who when file; do
        case \$what in
        clock) echo "clock \$who \$when \$(date +%s.%N)" ;;
        start) echo "done \$who 0" ;;
        esac
    done
    exit ;;
esac
END
    expect 1 timeout "$patience" ssfleet replay --engine parallel --nodes h1 --ssh "$scratch/stand-ins/ssh" \
        --scratch "$scratch/disk" --traces traces --record replay --margin 5s -- true
    while read -r pid; do kill "$pid"; done <left
    [ "$(grep -c '^?]0;title??5m$' err)" -eq 2 ] || fail "errors of the node are not shown as text"
    [ "$(grep -c '^detail$' err)" -eq 2 ] || fail "an incomplete line is not shown"
    says err 'h1: ?[31mred ?5m? text'
    says replay/fleet.csv '?[31mred ?5m? text'
    ! LC_ALL=C grep $'[\x01-\x09\x0b-\x1f\x9b]' err replay/fleet.csv || fail "control characters are printed"
    ! grep kept called err || fail "a name of the node was used"
    kill "$bystander" || fail "a process was ended"
    ends '*' "$bystander"
}

traces_may_be_links_with_commas_and_quotes_in_their_names() { # case
    mkdir traces
    printf '0 50%%\n' >m2.txt
    ln -s ../m2.txt 'traces/a,"b".txt'
    ln -s nowhere traces/c.txt
    replay 0 a
    [[ $(tail -n 1 replay/fleet.csv) = 'a,a,"a,""b"".txt",done,,'* ]] || fail "wrong table: $(cat replay/fleet.csv)"
    [ "$(cut -d , -f 3 replay/a/samples.csv | tail -n 1)" = 0.500000 ] || fail "the trace was not followed"
    ssreport --column trace --table fleet-nodes replay >shown
    [ "$(cat shown)" = 'a,"b".txt' ] || fail "wrong name in the report: $(cat shown)"
}

a_cluster_trace_is_split_among_nodes() { # case
    printf '0,x,1,1,20\n0,y,1,1,60\n300,x,1,1,30\n300,y,1,1,40\n' >cluster.csv
    replay 0 a,b --traces cluster.csv --from azure
    [ "$(field b 3)" = y.trace ] || fail "wrong table: $(cat replay/fleet.csv)"
    # The hash depends only on the node's name.
    replay 0 b --traces replay/traces --assign hash --record one
    replay 0 a,b --traces replay/traces --assign hash --record two
    [ "$(grep '^b,' one/fleet.csv | cut -d , -f 3)" = "$(grep '^b,' two/fleet.csv | cut -d , -f 3)" ] ||
        fail "--assign hash depends on the other nodes"
}

# write_node TIME: writes `script`, a node that replays for this time.
write_node() {
    write_traces
    mkdir -m 755 record
    printf 'record=%q scratch=\ncommand=(-f own --duration %s ssburn serial)\n' "$scratch/record" "$1" |
        cat - "$source/tools/folders.sh" "$source/tools/ssfleet/node.sh" >script
}

# clock_by PROGRAM: prints the report of a node whose showstopper-platform is this script.
clock_by() {
    mkdir -p fake/bin
    ln -sf "$(command -v showstopper)" fake/bin/showstopper
    printf '#!/bin/sh\n%s\n' "$1" >fake/bin/showstopper-platform
    chmod +x fake/bin/showstopper-platform
    PATH=$scratch/fake/bin:$PATH bash script a </dev/null
}

nodes_report_the_error_of_a_synchronized_clock() { # case
    ! chronyc -c tracking >/dev/null 2>&1 || skip "chrony: its report is preferred to the kernel's"
    write_node 1s
    [ "$(clock_by 'echo 0.012345')" = 'ready a ntp 0.012345' ] || fail "wrong report: $(clock_by 'echo 0.012345')"
    [ "$(clock_by 'exit 1')" = 'ready a unknown ' ] || fail "wrong report: $(clock_by 'exit 1')"
    # The kernel's error bound is below 16 s, or the clock is not synchronized.
    if showstopper-platform clock >out; then
        grep -qE '^([0-9]|1[0-5])\.[0-9]{6}$' out || fail "wrong bound: $(cat out)"
    else
        [ ! -s out ] || fail "a bound of a clock that is not synchronized: $(cat out)"
    fi
}

# start_line [SECONDS]: prints the line that starts node a within this time, 5 s by default.
start_line() {
    echo "start a $(($(date +%s) + ${1:-5})) $scratch/traces/m1.txt"
}

# has_no_reader: succeeds if no process reads from file descriptor 9, a pipe.
has_no_reader() {
    ! (trap '' PIPE && echo >&9) 2>/dev/null
}

an_ended_node_does_not_read_input_of_other_nodes() { # case
    local pid lead
    write_node 200m
    mkfifo in
    # On a busy machine, the node may be ready only after its start.
    for lead in 5 20 60; do
        bash script a <in >out &
        pid=$!
        exec 9>in
        start_line "$lead" >&9
        wait "$pid"
        grep -q 'done a 125' out || break
        rm -rf record
        mkdir record
        exec 9>&-
    done
    says out 'done a 0'
    await has_no_reader
    exec 9>&-
}

a_replay_outlasts_one_wait_for_its_end() { # case
    local pid
    {
        sed -n -e '/^hear() {/,/^}/p' -e '/^await_end() {/,/^}/p' "$source/tools/ssfleet/replay.sh"
        cat <<'END'
END_SECONDS=0.1
note_failure() { failure[$1]=$2; }
declare -A done_status=() failure=()
heard=() node_list=(a b)
exec 6<in
await_end
echo "${!done_status[*]}, failed: ${failure[*]-}"
END
    } >script
    mkfifo in
    bash -eu script >out &
    pid=$!
    exec 9>in
    sleep 1
    ! has_no_reader || fail "the timeout counts as the end of all nodes"
    echo 'done a 0' >&9
    exec 9>&-
    wait "$pid" || fail "$(cat out)"
    [ "$(cat out)" = 'a, failed: the connection was lost' ] || fail "$(cat out)"
}

nodes_exit_when_their_input_ends() { # case
    local lead
    write_node 1h
    for lead in 5 20 60; do
        start_line "$lead" | timeout "$patience" bash script a >out || fail "the node still runs"
        grep -q 'done a 125' out || break
        rm -rf record
        mkdir record
    done
    says out 'done a 143'
}

runs_are_distributed_over_ssh() { # case
    need_ssh
    open_ssh h1
    open_ssh h2
    write_plan 4 0.1
    expect 0 ssfleet run --engine parallel --nodes h1,h2 --ssh "ssh -F $scratch/ssh/config" --pack 1s study plan
    is_complete study 4 || fail "incomplete: $(ssbatch --list study)"
    each_ran_once 4
    # The nodes share no folder.
    rm log
    expect 0 ssfleet run --engine parallel --nodes "h1,$(id -un)@h2" --ssh "ssh -F $scratch/ssh/config" --pack 1s \
        --scratch "$scratch/scratch" copied plan
    is_complete copied 4 || fail "incomplete: $(ssbatch --list copied)"
    each_ran_once 4
    ls scratch/*/h1/*/run.json scratch/*/"$(id -un)@h2"/*/run.json >/dev/null || fail "one node carried out all runs"
    expect 0 ssfleet collect copied
    says err '0 runs collected'
}

status_names_ssh_servers() { # case
    local pid
    need_ssh
    open_ssh h1
    printf '%s\n' 'run a takes 4s' 'main -- sleep 1000' 'run b takes 5s' 'main -- true' >plan
    ssfleet run --engine parallel --nodes h1 --ssh "ssh -F $scratch/ssh/config" --scratch "$scratch/disk" study plan 2>err &
    pid=$!
    await status_says "running: a on h1"
    await status_says 'waiting: 1'
    grep -Eq '^time left: about [1-9] s on 1 node$' running.out || fail "$(cat running.out)"
    ssfleet cancel study 2>/dev/null
    wait "$pid" || true
    await has_no_calls study
    await has_no_calls disk/*/h1
}

runs_of_a_dead_server_move_to_another_one() { # case
    need_ssh
    open_ssh h1
    open_ssh h2
    write_plan 4 0.3
    ssfleet run --engine parallel --nodes h1,h2 --ssh "ssh -F $scratch/ssh/config" --pack 1s study plan 2>err &
    local pid=$! victim
    await test -e log
    # The server's connections are its descendants.
    for victim in $(descend "${servers[1]}"); do
        kill -KILL "$victim" 2>/dev/null || true
    done
    wait "$pid" || fail "$(cat err)"
    is_complete study 4 || fail "incomplete: $(ssbatch --list study)"
}

wrong_clocks_of_nodes_are_measured_and_corrected() { # case
    local shim
    need_ssh
    need faketime
    shim=$(find /usr/lib -name libfaketime.so.1 | head -n 1)
    [ -n "$shim" ] || skip "libfaketime: not installed"
    open_ssh h1
    open_ssh h2 "LD_PRELOAD=$shim" FAKETIME=+3s FAKETIME_DONT_FAKE_MONOTONIC=1
    write_traces
    expect 0 ssfleet replay --engine parallel --nodes h1,h2 --ssh "ssh -F $scratch/ssh/config" --traces traces \
        --record replay --margin 5s --scratch "$scratch/scratch" -- -f own --duration 500m ssburn serial
    says err 'h2: warning: its clock is not trusted'
    # The offset is correct within 10 ms, or within the reported error on a busy machine.
    awk -v o="$(field h2 7)" -v e="$(field h2 8)" \
        'BEGIN { d = o > 3 ? o - 3 : 3 - o; exit !(d < (e > 0.01 ? e : 0.01)) }' || fail "offset $(field h2 7)"
    starts_agree h1 h2
}

# stand_in PROGRAM...: replaces programs by ones that do and print nothing. `real` is the path of the last one.
stand_in() {
    local program
    mkdir -p stand-ins
    for program; do
        real=$(command -v "$program" || true)
        printf '#!/bin/sh\n' >"stand-ins/$program"
        chmod +x "stand-ins/$program"
    done
    PATH=$scratch/stand-ins:$PATH
}

tasks_unknown_to_slurm_are_not_active() { # case
    write_plan 1 0
    expect 0 ssfleet run --engine local study plan
    stand_in sbatch squeue scancel sinfo scontrol srun
    sed -i 's/^engine=.*/engine=slurm/' study/.fleet/settings
    echo r1 >study/.fleet/jobs/early
    expect 0 ssfleet status study
    [ "$(cat out)" = 'done: 1' ] || fail "wrong status: $(cat out)"
    # A study that is done waits for nothing.
    expect 0 ssfleet run --engine slurm --no-wait study
    [ ! -s err ] || fail "$(cat err)"
}

# Without the list of the other nodes, tasks could run on all nodes.
tasks_are_submitted_only_if_slurm_names_its_nodes() { # case
    local silent
    mkdir jobs
    echo r1 >jobs/1
    {
        printf '. %q\nfleet=%q study=\n' "$source/tools/ssfleet/engines/slurm.sh" "$scratch"
        cat <<'END'
silent=$1 names=$2 nodes=n1,n2 partition='' job_words=()
task_script() { :; }
as_called() { "$@"; }
sinfo() { [ "$silent" != sinfo ] && printf '%s\n' $names; }
scontrol() {
    [ "$silent" != "$2" ] || return
    if [ "$2" = hostnames ]; then tr ',' '\n' <<<"$3"; else echo "$3"; fi
}
sbatch() { echo "$@" >sent; }
! engine_submit 1 '' || exit 0
exit 1
END
    } >script
    for silent in sinfo hostnames hostlist; do
        expect 1 bash -euo pipefail script "$silent" 'n1 n2 n3 n4'
        [ ! -e sent ] || fail "without an answer of $silent, tasks are submitted: $(cat sent)"
    done
    expect 0 bash -euo pipefail script none 'n1 n2 n3 n4'
    [[ $(cat sent) = *' --exclude n3,n4'* ]] || fail "wrong nodes: $(cat sent)"
    expect 0 bash -euo pipefail script none 'n1 n2'
    [[ $(cat sent) != *--exclude* ]] || fail "wrong nodes: $(cat sent)"
}

# No run is in progress while lines above the first one are carried out.
tasks_before_their_first_run_are_not_ended() { # case
    local call=study/.study/calls/n1.example:boot:1:1
    {
        sed -n -e '/^has_running() {/,/^}/p' -e '/^end_ghosts() {/,/^}/p' "$source/tools/ssfleet/study.sh"
        cat <<'END'
GHOST_SECONDS=0 engine=slurm scratch='' held=study run_names=(r1 r2)
declare -A run_status=([r1]='to come' [r2]='to come') run_where=([r1]='n1 R' [r2]='n10 R') ghost_since=()
say() { :; }
engine_end() { echo "$1"; }
end_ghosts
end_ghosts
END
    } >script
    mkdir -p "$call"
    touch "$call/.study.undo"
    expect 0 flock "$call/lock" bash -eu script
    [ "$(cat out)" = r2 ] || fail "ended: $(cat out)"
    # The call has died: its lock is free.
    expect 0 bash -eu script
    [ "$(cat out)" = $'r1\nr2' ] || fail "ended: $(cat out)"
}

# cancel_during PROGRAM: lets this program of Slurm do what `ssfleet cancel` does, before it has an effect.
cancel_during() {
    stand_in sbatch squeue scancel sinfo scontrol srun
    # shellcheck disable=SC2016 # expanded by the stand-in
    echo 'cat >/dev/null; echo "$*" >>submitted' >>stand-ins/sbatch
    # shellcheck disable=SC2016
    echo 'echo "$*" >>ended' >>stand-ins/scancel
    sed -i '1a touch study/.fleet/canceled; rm -f study/.fleet/jobs/*' "stand-ins/$1"
    write_plan 1 0
    expect 1 ssfleet run --engine slurm study plan
    says err 'ssfleet cancel was called: ending'
    [ -z "$(ls study/.fleet/jobs)" ] || fail "canceled tasks are still known"
}

cancel_ends_tasks_that_are_being_submitted() { # case
    local name
    cancel_during sbatch
    name=$(grep -o 'ssfleet-[0-9-]*' submitted)
    [ "$(cat ended)" = "--name $name" ] || fail "$name was not ended: $(cat ended)"
}

# The queue is queried before the submission.
no_task_is_submitted_after_a_cancel() { # case
    cancel_during scontrol
    [ ! -e submitted ] || fail "submitted: $(cat submitted)"
}

queue_is_empty() {
    [ -z "$(squeue -h)" ]
}

runs_are_distributed_over_slurm() { # case
    need_slurm
    # Arrays have at most two tasks.
    open_slurm 3 MaxArraySize=2
    write_plan 5 0.1
    expect 0 ssfleet run --engine slurm --pack 1s study plan
    is_complete study 5 || fail "incomplete: $(ssbatch --list study)"
    each_ran_once 5
    # ssfleet may exit before the tasks end.
    rm log
    sed -i "s|-c '|&echo \$SSFLEET_NODE >>$scratch/nodes; |" plan
    expect 0 ssfleet run --engine slurm --nodes 'n[1,3]' --pack 1s --no-wait other plan
    await is_complete other 5
    each_ran_once 5
    [ "$(grep -c '^n[13]$' nodes)" -eq 5 ] || fail "other nodes: $(sort nodes | uniq -c)"
    write_plan 3 1000
    expect 0 ssfleet run --engine slurm --pack 1s --no-wait long plan
    await is_running long n
    expect 0 ssfleet status long
    says out 'time left: about'
    expect 0 ssfleet cancel long
    await queue_is_empty
}

tasks_wait_for_room_in_a_full_queue() { # case
    local pid
    need_slurm
    open_slurm 1 MaxJobCount=8 MaxArraySize=8
    write_plan 3 0
    sbatch --hold --array 0-5 --job-name other --wrap true >/dev/null
    # One task runs now, the others later.
    ssfleet run --engine slurm --pack 1s --no-wait study plan 2>err &
    pid=$!
    await grep -q "Slurm's queue is full: it has 7 jobs, and MaxJobCount is 8; waiting until there is room" err
    [ -d "/proc/$pid" ] || fail "ssfleet ended before Slurm had all tasks"
    scancel --name other
    wait "$pid" || fail "$(cat err)"
    expect 0 ssfleet status study
    ! grep -q 'to come' out || fail "not all tasks were submitted: $(cat out)"
    await is_complete study 3
    each_ran_once 3
}

each_run_is_done_once_despite_kills_in_slurm() { # case
    local pid victim administrator
    need_slurm
    open_slurm 3
    write_plan 8 0.5
    ssfleet run --engine slurm --pack 1s study plan 2>err &
    pid=$!
    await test -e log
    # Kills a task with all processes of ssbatch.
    kill_calls study
    # Kills ssfleet.
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    ssfleet run --engine slurm --pack 1s study 2>err &
    pid=$!
    # Kills the daemon of a node; its steps continue.
    read -r victim _ <slurm/pids/n2
    kill -KILL "$victim"
    "$source/tools/ssfleet/try-slurm" restart slurm n2
    # Kills the controller.
    read -r victim _ <slurm/pids/controller
    kill -KILL "$victim"
    "$source/tools/ssfleet/try-slurm" restart slurm controller
    administer &
    administrator=$!
    wait "$pid" || { kill "$administrator" && fail "$(cat err)"; }
    kill "$administrator"
    is_complete study 8 || fail "incomplete: $(ssbatch --list study)"
    [ -z "$(find study/.study/calls -type f)" ] || fail "calls are left to undo: $(ls study/.study/calls)"
}

# queue_is LIST: succeeds if Slurm has only these jobs, with nodes and states.
queue_is() {
    [ "$(squeue -h -o '%N %t')" = "$1" ]
}

# Slurm would keep a job for such a node until an administrator resumes it.
nodes_that_slurm_does_not_use_are_named() { # case
    need_slurm
    open_slurm 3
    write_traces
    write_plan 2 0
    scontrol update NodeName=n2 State=DRAIN Reason=test
    expect 1 timeout "$patience" ssfleet replay --engine slurm --traces traces --record replay --margin 5s -- \
        -f own --duration 600m ssburn serial
    [ "$(cut -d , -f 1-5 replay/fleet.csv | tail -n 3)" = "n1,n1,m1.txt,done,
n2,n2,m2.txt,failed,Slurm calls it drain
n3,n3,m3.txt,done," ] || fail "wrong table: $(cat replay/fleet.csv)"
    starts_agree n1 n3
    expect 0 timeout "$patience" ssfleet run --engine slurm --scratch "$scratch/disk" study plan
    says err "n2: cannot copy the plan to $scratch/disk: Slurm calls it drain"
    is_complete study 2 || fail "incomplete: $(ssbatch --list study)"
    # A node that works for others does not report in time.
    sbatch --exclusive --nodelist n1 --wrap 'sleep 1000' >/dev/null
    await queue_is 'n1 R'
    expect 1 timeout "$patience" ssfleet replay --engine slurm --nodes n1 --traces traces --record late --patience 1s -- \
        true
    says err 'n1: did not report within 1s'
    await queue_is 'n1 R'
}

run_cases
