#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Other users cannot make root do anything by their folders, links, files and locks.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
PATH=$build/bin:$PATH
need_built ssbatch
need_built ssload
folder=$scratch/work
theirs=$folder/theirs victim=$folder/victim

# The other user, and words that become it.
mallory=65534
as=(setpriv --reuid "$mallory" --regid "$mallory" --clear-groups)

# begin: makes a folder of the other user and one of ours, and enters a new one.
begin() {
    [ "$(id -u)" -eq 0 ] || skip "root: only root can become another user"
    have_other_users || skip "another-user: root cannot become it"
    umask 022
    rm -rf "$folder"
    mkdir -p "$folder/here" "$theirs" "$victim/folder"
    echo secret >"$victim/file"
    printf '{\n  "schema": 1}\n' >"$victim/folder/plan.json" # as in a record
    chmod 755 "$scratch" "$folder"
    chown "$mallory:$mallory" "$theirs"
    cd "$folder/here"
    "${as[@]}" test -x "$build/bin/ssbatch" || skip "another-user: no other user can read the build folder"
}

# unharmed: fails if anything of ours was changed.
unharmed() {
    is "$victim/file" secret
    [ "$(cd "$victim" && find . -mindepth 1 | sort | tr '\n' ' ')" = './file ./folder ./folder/plan.json ' ] ||
        fail "new files: $(find "$victim")"
}

# write_plan: a plan whose run leaves a mark.
write_plan() {
    printf 'run a takes 1s\n  main -- touch %q\n' "$PWD/carried-out" >plan
}

# tests/unit/ssbatch/test_batch_disk.c has journals that other users may write, links and pipes.
journals_of_another_user_are_not_carried_out() { # case
    local call
    begin
    write_plan
    expect 0 ssbatch study plan
    call=study/.study/calls/$(uname -n):$(cut -c1-8 /proc/sys/kernel/random/boot_id):1:5
    mkdir "$call"
    echo "after touch $PWD/theirs" >"$call/x.undo"
    chown -R "$mallory" "$call"
    expect 0 ssbatch study plan
    says err "belongs to nobody, whose commands root would run: use sudo -u nobody, or --trust-owner nobody"
    refuses 125 "belongs to nobody" ssbatch --clean study
    [ ! -e theirs ] || fail "a command of another user was carried out"
    chown -R 0 "$call"
    expect 0 ssbatch --clean study
    [ -e theirs ] || fail "our own command was not carried out"
}

plans_of_another_user_are_not_carried_out() { # case
    local words
    begin
    cd "$theirs"
    write_plan
    chown "$mallory" plan
    expect 0 "${as[@]}" ssbatch --add study plan
    printf 'run b takes 1s\nmain -- true\n' >further
    for words in "--only a study" "study further" "--add study further" "--clean study"; do
        # shellcheck disable=SC2086 # several words
        refuses 125 "study belongs to nobody, whose commands root would run" ssbatch $words
    done
    expect 0 ssbatch --list study
    says out "0 done, 0 failed, 0 skipped, 1 to come"
    expect 0 ssbatch --dry-run --only a study
    [ ! -e carried-out ] || fail "a command of another user was carried out"
    refuses 125 "--trust-owner: unknown user no-such-user" ssbatch --trust-owner no-such-user --only a study
    expect 0 ssbatch --trust-owner "$mallory" --only a study
    [ -e carried-out ] || fail "--trust-owner has no effect"
}

# The owner of such a folder could exchange the files of a run that commands write and read, or put links there.
studies_in_folders_of_another_user_are_refused() { # case
    begin
    write_plan
    mkdir "$theirs/study"
    chown "$mallory" "$theirs/study"
    refuses 125 "study belongs to nobody, whose commands root would run" ssbatch "$theirs/study" plan
    [ -z "$(ls -A "$theirs/study")" ] || fail "it was written to"
    mkdir -m 1777 open
    refuses 125 "open: other users may write to it" ssbatch open plan
    [ "$(stat -c %a open)" = 1777 ] || fail "a folder for all users was closed"
    printf 'run a takes 1s keep\nmain -- touch %q\n' "$PWD/carried-out" >plan
    mkdir -p part/.a.part/result
    chown "$mallory" part/.a.part
    refuses 125 "/part/.a.part belongs to nobody" ssbatch -q part plan
    chown 0 part/.a.part
    chown "$mallory" part/.a.part/result
    refuses 125 "/part/.a.part/result belongs to nobody" ssbatch -q part plan
    [ ! -e carried-out ] || fail "it was carried out"
    expect 0 ssbatch --trust-owner "$mallory" --redo a part plan
    [ -e carried-out ] || fail "--trust-owner has no effect"
}

# Root's copies of the links that another user made among the files of an earlier attempt would be followed.
copied_links_of_another_user_are_not_followed() { # case
    begin
    mkdir -p study/.a.part/result
    ln -s "$victim/file" study/.a.part/result/record.stdout
    chown -h "$mallory" study/.a.part/result/record.stdout
    printf 'run a takes 1s keep\nmain -- echo theirs\n' >plan
    expect 1 ssbatch --ram study plan
    says err "record.stdout is a link of nobody: name its target"
    unharmed
}

# As the folder of results may be replaced, a message is read from the file that the command has written.
messages_are_read_from_the_output_itself() { # case
    begin
    chmod 600 "$victim/file"
    # shellcheck disable=SC2016 # for sh
    write_program serve '#!/bin/sh' 'echo ours >&2; mv "$1" "$1.x"; ln -s "$2" "$1"; exit 1'
    printf 'run a takes 1s\nmain -- %q {out}/record.stderr %q\n' "$PWD/serve" "$victim/file" >plan
    expect 1 ssbatch study plan
    grep -q '"reason": "main ended with status 1: ours"' study/a/run.json || fail "$(grep reason study/a/run.json)"
}

# Under sudo, in a folder of the user: the study is root's, and root may continue it.
studies_of_root_in_a_users_folder_continue() { # case
    begin
    cd "$theirs"
    write_plan
    expect 0 ssbatch study plan
    expect 0 ssbatch --redo a study plan
    expect 0 "${as[@]}" ssbatch --list study
    says out "1 done"
    mv study/.study study/.mine # as the user may
    "${as[@]}" ln -s .mine study/.study 2>/dev/null || ln -s .mine study/.study
    chown -h "$mallory" study/.study
    expect 125 ssbatch --only a study
}

# tests/unit/ssbatch/test_batch_disk.c has the folders of an earlier version, which made them as the umask permitted.
results_are_writable_for_their_owner_only() { # case
    begin
    umask 000
    printf '%s\n' "before -- sh -c 'stat -c %a {out} >$PWD/modes'" \
        'run a takes 1s' "main -- sh -c 'stat -c %a {out}/record.stdout >>$PWD/modes; echo'" >plan
    expect 0 ssbatch open plan
    [ -z "$(find open/.study -perm /022)" ] || fail "others may write: $(find open/.study -perm /022 -ls)"
    has_lines modes 2 || fail "$(cat modes)"
    ! grep -v '^[0-7][0145][0145]$' modes || fail "others may write"
    [ -z "$(find open -maxdepth 2 -type d -perm /022)" ] || fail "others may write: $(find open -perm /022 -ls)"
    is_built ssantagonist || return 0
    # The decisions of `ssantagonist plan` depend on these files.
    expect 0 ssantagonist codes --slots 63 --shifts 0:1,2,3,4 --slot 5s open/a
    expect 0 ssantagonist watch --victim 'echo 1' --slots 1 --slot 1s open/a
    [ -z "$(find open/a/run.json open/a/codes.csv open/a/slots.csv -perm /022)" ] || fail "others may write: $(ls -l open/a)"
}

# In a user namespace with one user, the files of all others seem to belong to one user, who is nobody in particular.
unmapped_owners_are_not_trusted() { # case
    begin
    write_plan
    expect 0 ssbatch study plan
    chown "$mallory" "$folder/here" out err
    "${as[@]}" unshare -U true 2>/dev/null || skip "user-namespaces: no user may make one"
    refuses 125 "study belongs to " "${as[@]}" unshare -U "$build/bin/ssbatch" --only a study
    chown -R "$mallory" study
    expect 0 "${as[@]}" unshare -Ur "$build/bin/ssbatch" --only a study
    rm carried-out
    [ ! -k /dev/shm ] || expect 0 "${as[@]}" unshare -Ur "$build/bin/ssbatch" --ram --redo a study plan
}

# In containers of users, nobody is mapped, and also shown as the owner of files of all users that are not.
nobody_in_particular_is_not_trusted() { # case
    local map as_mapped
    begin
    write_plan
    expect 0 ssbatch study plan
    rm carried-out
    chown -R "$mallory" study
    # A namespace of 65536 users of this machine, who do not own our files.
    unshare -U true 2>/dev/null || skip "user-namespaces: root may make none"
    start unshare -U sleep 1000
    # shellcheck disable=SC2016 # for bash
    await bash -c '[ "$(readlink /proc/self/ns/user)" != "$(readlink "/proc/$0/ns/user")" ]' "$pid"
    for map in uid_map gid_map; do
        echo 0 100000 65536 2>/dev/null >"/proc/$pid/$map" || skip "user-namespaces: users cannot be mapped"
    done
    as_mapped=(nsenter --target "$pid" --user setpriv --reuid "$mallory" --regid "$mallory" --clear-groups)
    refuses 125 "belongs to nobody, who may be any user outside this user namespace" \
        "${as_mapped[@]}" "$build/bin/ssbatch" --redo a study plan
    refuses 125 "--trust-owner: files of nobody may belong to any user outside this user namespace" \
        "${as_mapped[@]}" "$build/bin/ssbatch" --trust-owner nobody --redo a study plan
    [ ! -e carried-out ] || fail "a command of another user was carried out"
    mkdir "$folder/alice"
    echo theirs >"$theirs/out"
    chmod 666 "$theirs/out"
    ln -s "$theirs/out" "$folder/alice/link"
    chown -h 65533 "$folder/alice" "$folder/alice/link"
    chown "$mallory" "$theirs/out"
    expect '[1-9]*' "${as_mapped[@]}" "$build/bin/ssload" -q --count 1 --interval 0.01s --output "$folder/alice/link"
    says err "is a link of nobody"
    is "$theirs/out" theirs
    kill "$pid"
    ends '*'
}

# The folder of a run belongs to root, but the other user may exchange it in that of the study.
values_are_read_from_the_output_itself() { # case
    begin
    # shellcheck disable=SC2016 # for sh
    write_program serve '#!/bin/sh' 'mv "$1" moved; echo at theirs >"$1"; echo at ours; exec sleep 1000'
    cat >plan <<END
run a takes 1s
beside srv ready='^at (.+)\$' -- $PWD/serve {out}/srv.stdout
main -- sh -c 'echo {srv.1} >$PWD/given'
END
    expect 0 ssbatch study plan
    is given ours
}

# In --ram-folder, whoever may exchange the folder of a run could have root copy files of its own into the study.
folders_in_memory_cannot_be_exchanged() { # case
    local call ram=$theirs/ram
    begin
    write_plan
    ln -s "$victim" "$theirs/through"
    chown -h "$mallory" "$theirs/through"
    refuses 125 "is a link of nobody: name its target" ssbatch -q --ram-folder "$theirs/through" study plan
    unharmed
    refuses 125 "theirs belongs to nobody: choose another folder" ssbatch -q --ram-folder "$theirs" study plan
    mkdir -m 777 "$ram"
    refuses 125 "theirs/ram: other users may rename files in it" ssbatch -q --ram-folder "$ram" study plan
    [ ! -e carried-out ] || fail "it was carried out"
    chmod 1777 "$ram"
    expect 0 ssbatch --ram-folder "$ram" study plan
    # The owner of a folder above it could still exchange it.
    cat >further <<END
run c takes 1s
main -- sh -c 'echo ours >{out}/file; mv {scratch} $ram/moved; mkdir -m 700 {scratch} {out}; echo theirs >{out}/file'
END
    expect 0 ssbatch --ram-folder "$ram" other further
    is other/c/file ours
    # The folder that a killed call has left is theirs, or open to them.
    call=study/.study/calls/$(uname -n):$(tr -d '\n' </proc/sys/kernel/random/boot_id | cut -c1-8):1:5
    mkdir -p "$call" study/.b.part/result "$ram/left/result"
    basename "$call" | tr -d '\n' >study/.b.part/.call
    echo theirs >"$ram/left/result/file"
    echo "remove $ram/left $PWD/study/.b.part/result" >"$call/b.undo"
    expect 0 ssbatch --clean study
    [ ! -e study/.b.part/result/file ] || fail "it was copied although others could write to it"
    mkdir -p "$call"
    echo "remove $ram/left $PWD/study/.b.part/result" >"$call/b.undo"
    chmod 700 "$ram/left"
    expect 0 ssbatch --clean study
    is study/.b.part/result/file theirs
}

# Outputs, as PROGRAM OPTION KIND WORDS...: OUT is the path. KIND: file or folder. The last row of a program without an
# option is for its operand.
outputs() {
    cat <<END
showstopper --json file showstopper -n 1 -l 50% --duration 1s --json OUT sleep 1000
showstopper --output folder showstopper -n 1 -l 50% --duration 1s --output OUT sleep 1000
showstopper --record folder showstopper -n 1 -l 50% --duration 1s --record OUT --force sleep 1000
showstopper --openmetrics file showstopper --status $running --openmetrics OUT
ssactuate --record file ssactuate run --record OUT pin=first:1 -- true
ssbatch --joblog file ssbatch --joblog OUT study plan
ssload --output file ssload --count 1 --interval 0.01s --output OUT
ssload --openmetrics file ssload --count 1 --interval 0.01s --openmetrics OUT
ssprofile_measure - folder ssprofile measure --repetitions 1 --battery ./quick OUT
ssrequest --each file ssrequest --rate 1 --duration 1s --each OUT http://127.0.0.1:9
ssrequest --json file ssrequest --rate 1 --duration 1s --json OUT http://127.0.0.1:9
ssrequest --record folder ssrequest --rate 1 --duration 1s --record OUT http://127.0.0.1:9
sssim --record folder sssim --foreground serial --iteration 50ms --duration 1s --record OUT
sssim_fleet --record folder sssim fleet --nodes 1 --record OUT
sstrace --output file sstrace --output OUT trace
sstrace --split folder sstrace --split OUT --from csv machines.csv
showstopper-platform --output file showstopper-platform --output OUT
ssantagonist_codes - folder ssantagonist codes --slots 63 --shifts 0:1,2,3,4 --slot 5s OUT
END
}

# Options whose path is read, is not created by the program, or is a socket, which is bound and never opened.
inputs() {
    cat <<'END'
showstopper --workloads
showstopper --replay
showstopper --attach-group
ssactuate --root
ssactuate --policy
ssactuate --control
ssload --cgroup
ssload --target
ssprofile_measure --battery
ssprofile_measure --root
ssprofile_calibrate --battery
ssprofile_calibrate --root
ssprofile_compare --battery
ssrequest --trace
ssrequest --load-trace
ssrequest --requests-file
ssrequest --cacert
ssrequest --unix-socket
ssrequest --control
sssim_queue --trace
sssim_queue --load-trace
sssim_queue --power
sssim_fleet --traces
showstopper-platform --root
END
}

# Outputs that other tests cover: those of the Python package, those that are written after a calibration, and a folder
# whose name must be new.
elsewhere() {
    cat <<'END'
ssprofile_calibrate --output
ssprofile_compare --output
ssprofile_predict --output
ssbatch --ram-folder
END
}

programs="showstopper ssactuate ssantagonist ssantagonist_watch ssantagonist_codes ssbatch ssburn ssload ssprofile_measure
    ssprofile_calibrate ssprofile_compare ssprofile_predict ssrequest sssim sssim_queue sssim_fleet sstrace
    showstopper-platform"

# A new option that takes a path must be listed above, and if it is an output, keep the promise.
all_options_with_a_path_are_known() { # case
    local program known option
    running=0
    known=$(outputs | cut -d' ' -f1,2; inputs; elsewhere)
    for program in $programs; do
        command -v "${program%%_*}" >/dev/null || continue
        # shellcheck disable=SC2086 # a program and its command
        for option in $(${program/_/ } --help | sed -nE 's/^ +(-., )?(--[a-z-]+) ([A-Z|]*\|)?(FILE|DIR|FOLDER|PATH|SOCKET)( .*|$)/\2/p'); do
            grep -qxF -e "$program $option" <<<"$known" || fail "$program $option: list it in outputs or inputs of $test_script"
        done
    done
}

outputs_follow_no_link_of_another_user() { # case
    local program option kind words at
    begin
    write_plan
    printf '0s 0.5\n10s 0.5\n' >trace
    printf 'time,host,load\n%s\n' 01:00:00,a,10 11:00:00,a,20 >machines.csv
    echo "a integer items/s higher 'echo 1' '([0-9]+)'" >quick
    start showstopper -q -n 1 -l 50% --duration 1h sleep 1000
    running=$pid
    await showstopper --status "$running" >/dev/null 2>&1
    ln -s "$victim/file" "$theirs/file"
    ln -s "$victim/folder" "$theirs/folder"
    ln -s "$victim" "$theirs/through"
    chown -h "$mallory" "$theirs"/*
    while read -r program option kind words <&3; do
        command -v "${program%%_*}" >/dev/null || continue
        for at in "$theirs/$kind" "$theirs/through/$kind"; do
            # shellcheck disable=SC2086 # several words
            expect '[1-9]*' ${words/OUT/$at}
            grep -qE 'is a link of nobody: name its target|already exists|exists already' err || fail "$words: $(cat err)"
            unharmed
        done
    done 3< <(outputs)
    kill "$running"
    ends '*' "$running"
}

# The other user has made the whole folder, and a list that claims that we wrote its files.
filled_folders_of_another_user_are_refused() { # case
    local name
    begin
    mkdir "$theirs/full"
    printf '/0.out\n/0.err\n' >"$theirs/full/.showstopper-output"
    for name in 0.out 0.err samples.csv interrupted results.csv codes.csv s1.trace; do
        ln -s "$victim/file" "$theirs/full/$name"
    done
    chown -hR "$mallory" "$theirs/full"
    refuses 125 "it is a link" showstopper -n 1 -l 50% --duration 1s --output "$theirs/full" sleep 1000
    unharmed
    rm "$theirs/full"/*
    ln "$victim/file" "$theirs/full/0.out"
    chmod 666 "$victim/file"
    ln "$victim/file" "$theirs/full/interrupted"
    refuses 125 "was not written by this version of showstopper" \
        showstopper -n 1 -l 50% --duration 1s --output "$theirs/full" sleep 1000
    unharmed
    printf 'This run has not finished.\n' >"$victim/file"
    refuses 125 "interrupted: Too many links" \
        showstopper -n 1 -l 50% --duration 1s --record "$theirs/full" --force sleep 1000
    is "$victim/file" "This run has not finished."
    for name in results.csv runs.csv; do ln "$victim/file" "$theirs/full/$name"; done
    echo "a integer items/s higher 'echo 1' '([0-9]+)'" >quick
    command -v ssprofile >/dev/null || return 0
    refuses 125 "it has another name (a hard link)" \
        ssprofile measure --repetitions 1 --battery "$PWD/quick" "$theirs/full"
    is "$victim/file" "This run has not finished."
}

# Outputs that users rely on: under sudo, in a folder of the user, also through a link of the user or a home that is a
# link of root. tests/unit/base/test_walk.c has own links and descriptors.
usual_outputs_work() { # case
    local option
    begin
    "${as[@]}" mkdir "$theirs/data"
    "${as[@]}" ln -s data "$theirs/link"
    ln -s "$theirs" "$folder/home"
    for option in --output --openmetrics; do
        expect 0 ssload -q --count 1 --interval 0.01s "$option" "$theirs/data/a"
        expect 0 ssload -q --count 1 --interval 0.01s "$option" "$theirs/link/b"
        [[ -s $theirs/data/a && -s $theirs/data/b ]] || fail "$option: an output is missing"
        rm "$theirs/data/"*
        expect 0 "${as[@]}" ssload -q --count 1 --interval 0.01s "$option" "$folder/home/e$option"
        expect 0 ssload -q --count 1 --interval 0.01s "$option" "$theirs/e$option"
        ssload -q --count 1 --interval 0.01s "$option" >(cat >substituted)
        await test -s substituted
        rm substituted
        ssload -q --count 1 --interval 0.01s "$option" /dev/fd/7 7>seventh
        [ -s seventh ] || fail "$option: no output to a descriptor"
        expect 0 ssload -q --count 1 --interval 0.01s "$option" /dev/null
    done
    echo before >appended
    ssload -q --count 1 --interval 0.01s --output /dev/stdout >>appended
    [ "$(head -n 1 appended)" = before ] || fail "the file was emptied"
    has_lines appended 2 || fail "no output"
}

# The system's links belong to a user whom the namespace lacks.
outputs_work_in_a_user_namespace() { # case
    local option system up
    begin
    "${as[@]}" unshare -Ur true 2>/dev/null || skip "user-namespaces: no user may make one"
    expect 0 "${as[@]}" unshare -Ur "$build/bin/ssload" -q --count 1 --interval 0.01s --output "$theirs/a"
    system=$(find / -maxdepth 1 -type l -print -quit)
    up=$(readlink -f "$system" | sed 's,[^/][^/]*,..,g')
    [ -z "$system" ] || expect 0 "${as[@]}" unshare -Ur "$build/bin/ssload" -q --count 1 --interval 0.01s \
        --output "$system$up$theirs/a"
    # A link in a folder that may belong to any other user.
    mkdir "$folder/alice"
    echo theirs >"$theirs/out"
    ln -s "$theirs/out" "$folder/alice/link"
    chown -h 65533 "$folder/alice" "$folder/alice/link"
    chown "$mallory" "$theirs/out"
    for option in --output --openmetrics; do
        expect '[1-9]*' "${as[@]}" unshare -Ur "$build/bin/ssload" -q --count 1 --interval 0.01s \
            "$option" "$folder/alice/link"
        says err "is a link of "
        is "$theirs/out" theirs
    done
    expect 0 "${as[@]}" unshare -Ur "$build/bin/ssload" -q --count 1 --interval 0.01s --output /dev/stdout
    says out time
    chmod 1777 "$folder/here"
    ln -s "$theirs/b" link
    expect '[1-9]*' "${as[@]}" unshare -Ur "$build/bin/ssload" -q --count 1 --interval 0.01s --output link
    says err "is a link of "
    # A file and a folder of root seem to belong to the same user, but could belong to two.
    echo ours >open
    chmod 666 open
    expect '[1-9]*' "${as[@]}" unshare -Ur "$build/bin/ssload" -q --count 1 --interval 0.01s --output open
    says err "it belongs to "
    is open ours
}

locks_cannot_be_held_by_readers() { # case
    begin
    printf 'run a takes 1s\nmain -- sleep 1000\n' >plan
    start ssbatch -q study plan
    batch=$pid
    await grep -q ' ' study/.study/runs/a
    [ -z "$("${as[@]}" find study/.study/lock study/.study/locks study/.study/calls -type f -readable ! -name '*.undo')" ] ||
        fail "another user can open a lock"
    expect 0 "${as[@]}" ssbatch --list study
    grep -qE "^a +running .*or interrupted: on $(uname -n) by process $batch$" out || fail "not listed as running"
    expect 0 ssbatch --list study
    grep -qE "^a +running .* on $(uname -n) by process $batch$" out || fail "not listed as running"
    ! grep interrupted out || fail "root can tell"
    kill "$batch"
    ends '*' "$batch"
    expect 0 "${as[@]}" ssbatch --list study
    says out "to come"
}

# The table of results is readable for all users.
tables_of_ssprofile_cannot_be_locked_by_readers() { # case
    need_built ssprofile
    begin
    echo "a integer items/s higher 'echo 1' '([0-9]+)'" >quick
    expect 0 ssprofile measure --repetitions 1 --battery ./quick results
    start "${as[@]}" flock --no-fork results/results.csv sh -c 'echo; exec sleep 1000' >held
    await test -s held
    ! "${as[@]}" test -r results/.lock || fail "another user can open the lock"
    expect 0 ssprofile measure --repetitions 2 --battery ./quick results
    kill "$pid"
    ends '*'
    refuses 125 "another process is writing results to it" \
        flock results/.lock ssprofile measure --repetitions 3 --battery ./quick results
}

journals_of_ssactuate_must_be_ours() { # case
    local journals=tree/run/showstopper journal=tree/run/showstopper/1-1-unknown.journal
    need_built ssactuate
    begin
    mkdir -p "$journals" tree/sys
    echo new >tree/sys/a
    printf 'boot unknown\nrun 1\nset one sys/a exact old\narmed\nwant 0 new\ngot 0 new\n' >"$journal"
    chown "$mallory" "$journal"
    refuses 125 "1-1-unknown.journal belongs to nobody" ssactuate restore --root "$PWD/tree"
    chown 0 "$journal"
    chown "$mallory" "$journals"
    refuses 125 "showstopper belongs to nobody" ssactuate restore --root "$PWD/tree"
    chown 0 "$journals"
    is tree/sys/a new
    # An earlier version made journals that all users could lock.
    start "${as[@]}" flock --no-fork "$journal" sh -c 'echo; exec sleep 1000' >held
    await test -s held
    refuses 125 "is locked, perhaps by another user" ssactuate restore --root "$PWD/tree"
    is tree/sys/a new
    kill "$pid"
    ends '*'
    await flock --nonblock "$journal" true
    expect 0 ssactuate restore --root "$PWD/tree"
    says out "restored the changes of 1 killed run"
    is tree/sys/a old
}

catalogues_of_another_user_are_refused() { # case
    local catalogue=$theirs/.config/showstopper/workloads
    begin
    mkdir -p "${catalogue%/*}"
    printf '[mine]\ncommand = touch %s/theirs\n' "$PWD" >"$catalogue"
    chown -R "$mallory" "$theirs/.config"
    refuses 125 "showstopper belongs to nobody" env HOME="$theirs" sslab line --list-workloads
    # A file of root that the user has moved there.
    chown 0 "$catalogue"
    refuses 125 "showstopper belongs to nobody" env HOME="$theirs" sslab line --list-workloads
    chown 0 "${catalogue%/*}"
    expect 0 env HOME="$theirs" sslab line --list-workloads
    says out mine
}

# Whoever has made a record chooses the commands that a replay carries out.
records_of_another_user_are_not_replayed() { # case
    local record=$theirs/record
    begin
    [ -x "$build/libexec/showstopper/showstopper-replay" ] || skip "left-out: built without json-c"
    echo "1 sh -c 'touch $theirs/by-\$(id -u)'" >work
    expect 0 "${as[@]}" showstopper -q -c fixed -l 100% -w work --record "$record"
    refuses 125 "record belongs to nobody, whose commands root would run: use sudo -u nobody, or --trust-owner nobody" \
        showstopper --replay "$record"
    chown 0 "$record"
    refuses 125 "record/plan.json belongs to nobody" showstopper --replay "$record"
    chown 0 "$record/plan.json"
    expect 125 showstopper --replay "$record"
    says err "record/input-workloads belongs to nobody"
    expect 0 showstopper --replay "$record" --dry-run
    ln -s record "$theirs/link"
    chown -h "$mallory" "$theirs/link"
    refuses 125 "is a link of nobody: name its target" showstopper --replay "$theirs/link"
    [ ! -e "$theirs/by-0" ] || fail "a command of another user was carried out"
    chown "$mallory" "$record"
    refuses 125 "--trust-owner: unknown user no-such-user" showstopper --replay "$record" --trust-owner no-such-user
    expect 0 showstopper -q --trust-owner="$mallory" --replay "$record"
    [ -e "$theirs/by-0" ] || fail "--trust-owner has no effect"
    refuses 125 "--trust-owner requires --replay" showstopper --trust-owner "$mallory" -l 50% true
}

# An option of the record may name a module, whose code even --dry-run would execute.
commands_in_records_of_another_user_are_only_shown() { # case
    local record=$theirs/record
    begin
    [ -x "$build/libexec/showstopper/showstopper-replay" ] || skip "left-out: built without json-c"
    expect 0 "${as[@]}" showstopper -q -n 1 -c fixed -l 100% --record "$record" echo 'two words'
    sed -i "s|\"fixed\"|\"$theirs/module.so\"|" "$record/plan.json"
    expect 0 showstopper --replay "$record" --dry-run
    says err "record belongs to nobody"
    has_lines out 2 || fail "the command is not shown"
    says out "showstopper -q -n 1 -c $theirs/module.so -l 100% --dry-run echo 'two words'"
}

# Others may exchange the folder of a record meanwhile: the run reads the files that were judged.
exchanged_records_are_not_replayed() { # case
    begin
    [ -x "$build/libexec/showstopper/showstopper-replay" ] || skip "left-out: built without json-c"
    echo '1 echo ours' >work
    expect 0 showstopper -q -c fixed -l 100% -w work --record "$theirs/record"
    mkdir bin "$theirs/other"
    echo '1 echo theirs' >"$theirs/other/input-workloads"
    cp "$build/libexec/showstopper/showstopper-replay" bin
    write_program bin/showstopper <<END
#!/bin/sh
mv $theirs/record $theirs/earlier && mv $theirs/other $theirs/record
for word; do case \$word in --workloads=*) cat "\${word#*=}" ;; esac; done
END
    expect 0 bin/showstopper-replay "$theirs/record"
    is out '1 echo ours'
    says "$theirs/record/input-workloads" theirs
}

# A folder of /tmp is gone after a restart, and another user makes it again, or a file in /tmp itself.
folders_made_again_have_no_effect() { # case
    local call open=$folder/open
    begin
    [ -x "$build/libexec/showstopper/showstopper-replay" ] || skip "left-out: built without json-c"
    mkdir -m 1777 "$open"
    mkdir "$open/ours"
    write_program "$open/ours/bench" '#!/bin/sh' "touch $PWD/carried-out"
    cp "$open/ours/bench" "$open"
    (cd "$open/ours" && showstopper -q -n 1 -c fixed -l 100% --record "$PWD/../../record" ./bench)
    (cd "$open" && showstopper -q -n 1 -c fixed -l 100% --record ../record-of-file ./bench)
    (cd "$open" && showstopper -q -n 1 -c fixed -l 100% --record ../record-of-script sh bench)
    chmod 775 "$open/ours"
    expect 0 showstopper -q --replay "$folder/record"
    expect 0 showstopper -q --replay "$folder/record-of-file"
    write_plan
    expect 0 ssbatch study plan
    call=study/.study/calls/$(uname -n):$(cut -c1-8 /proc/sys/kernel/random/boot_id):1:5
    mkdir "$call"
    printf '%s\n' "folder $open/ours" 'after ./bench' >"$call/x.undo"
    rm carried-out
    chown "$mallory" "$open/ours" "$open/bench"
    refuses 125 "open/ours belongs to nobody, whose commands root would run" \
        showstopper -q --replay "$folder/record"
    refuses 125 "./bench belongs to nobody" showstopper -q --replay "$folder/record-of-file"
    refuses 125 "bench belongs to nobody" showstopper -q --replay "$folder/record-of-script"
    expect 125 ssbatch --clean study
    says err "open/ours belongs to nobody"
    chown 0 "$open/ours"
    chmod 777 "$open/ours"
    expect 125 ssbatch --clean study
    says err "open/ours: other users may write to it"
    [ ! -e carried-out ] || fail "a program of another user was executed"
    chmod 755 "$open/ours"
    expect 0 ssbatch --clean study
    [ -e carried-out ] || fail "our own command was not carried out"
    chown "$mallory" "$open/ours"
    expect 0 showstopper -q --replay "$folder/record" --trust-owner "$mallory"
}

# The recorded folder is gone, or another user has put a link there, and root stands in the folder of that user.
replays_do_not_run_in_a_folder_of_another_user() { # case
    local open=$folder/open
    begin
    [ -x "$build/libexec/showstopper/showstopper-replay" ] || skip "left-out: built without json-c"
    mkdir -m 1777 "$open"
    mkdir "$open/ours" ours
    write_program "$open/ours/bench" '#!/bin/sh' "touch $PWD/carried-out"
    cp "$open/ours/bench" ours
    cp "$open/ours/bench" "$theirs"
    chown "$mallory" "$theirs/bench"
    (cd "$open/ours" && showstopper -q -n 1 -c fixed -l 100% --record "$folder/record" ./bench)
    rm -r carried-out "$open/ours"
    cd "$theirs"
    refuses 125 "theirs belongs to nobody, whose commands root would run: use sudo -u nobody, or --trust-owner nobody" \
        showstopper -q --replay "$folder/record"
    cd "$folder/here/ours"
    ln -s "$folder/here/ours" "$open/ours"
    chown -h "$mallory" "$open/ours"
    refuses 125 "open/ours: ours is a link of nobody: name its target" showstopper -q --replay "$folder/record"
    [ ! -e ../carried-out ] || fail "the command was carried out"
    rm "$open/ours"
    expect 0 showstopper -q --replay "$folder/record"
    says err "running the command here instead"
    [ -e ../carried-out ] || fail "our own command was not carried out"
    rm ../carried-out
    cd "$theirs"
    expect 0 showstopper -q --replay "$folder/record" --trust-owner "$mallory"
    [ -e "$folder/here/carried-out" ] || fail "--trust-owner has no effect"
}

# Programs in /tmp/ours look for lib, libexec and share in /tmp.
neighbors_of_another_user_are_not_used() { # case
    local open=$folder/open name
    begin
    need_built ssprofile
    mkdir -m 1777 "$open"
    mkdir "$open/ours"
    cp "$build/bin/showstopper" "$build/bin/ssbatch" "$build/bin/ssprofile" "$open/ours"
    mkdir -p "$open/libexec/showstopper" "$open/share" "$open/lib/showstopper/modules/control"
    write_program "$open/libexec/showstopper/showstopper-replay" '#!/bin/sh' 'echo theirs'
    touch "$open/lib/showstopper/modules/control/theirs.so"
    expect 0 "$open/ours/showstopper" --replay /nowhere # the test has the paths
    is out theirs
    expect '*' "$open/ours/showstopper" --help-module control/theirs
    says err theirs.so
    for name in lib libexec share; do chown "$mallory" "$open/$name"; done
    expect 125 "$open/ours/showstopper" --replay /nowhere
    says err "showstopper-replay is missing"
    expect '*' "$open/ours/showstopper" --help-module control/theirs
    ! grep 'theirs\.so' err || fail "another user's module was opened"
    echo "one cpu /s higher 'touch $PWD/carried-out' '(1)'" >own
    refuses 125 "own.txt" "$open/ours/ssprofile" measure -q --repetitions 1 results
    [ ! -e carried-out ] || fail "a file of the current folder replaced a battery"
    chown "$mallory" "$open"/ours/*
}

records_can_be_replayed_whatever_the_umask_is() { # case
    begin
    [ -x "$build/libexec/showstopper/showstopper-replay" ] || skip "left-out: built without json-c"
    umask 000
    echo '1 true' >work
    expect 0 showstopper -q -c fixed -l 100% -w work --record record
    [ -z "$(find record/plan.json record/input-workloads -perm /022)" ] || fail "others may write a command"
    expect 0 showstopper -q --replay record
}

# The results of another machine are often another user's.
batteries_of_another_user_are_not_executed() { # case
    local base=$theirs/base i
    need_built ssprofile
    need_built reports
    begin
    mkdir "$base"
    echo "a integer items/s higher 'touch $PWD/carried-out' '([0-9]+)'" >"$base/battery.txt"
    echo "a integer items/s higher 'echo 1' '([0-9]+)'" >quick
    echo machine,limits,benchmark,lower_is_better,class,repetition,result >"$base/results.csv"
    for i in 1 2 3; do echo "there,without,a,false,integer,$i,1" >>"$base/results.csv"; done
    chown -R "$mallory" "$base"
    refuses 125 "base belongs to nobody" ssprofile calibrate --base "$base"
    says err "--battery $base/battery.txt"
    chown 0 "$base"
    refuses 125 "base/battery.txt belongs to nobody" ssprofile calibrate --base "$base/results.csv:there"
    [ ! -e carried-out ] || fail "a command of another user was carried out"
    chown "$mallory" "$base"
    expect 0 ssprofile calibrate --base "$base" --battery ./quick --repetitions 2
    rm "$base/results.csv"
    mkfifo "$base/results.csv"
    refuses 125 "results.csv: not a regular file" timeout 100 ssprofile calibrate --base "$base" --battery ./quick
    umask 000
    expect 0 ssprofile measure --repetitions 2 --battery ./quick own
    [ -z "$(find own/battery.txt -perm /022)" ] || fail "others may write a command"
    expect 0 ssprofile calibrate --base own
}

# The value decides how many instances a plan has. tests/python/test_trust.py has other users' state.
values_of_another_users_study_are_refused() { # case
    local words=(sslab line blocking --method nbench-fit --tau 100m --one study)
    begin
    mkdir -p study/.study
    echo one 0.5 >study/.study/values
    expect 0 "${words[@]}"
    chown "$mallory" study/.study/values
    refuses 125 "study/.study/values belongs to nobody" "${words[@]}"
}

# ssactuate --root: a tree in which another user has made links.
trees_of_another_user_have_no_effect_elsewhere() { # case
    local journal=run/showstopper/1-1-unknown.journal
    need_built ssactuate
    begin
    mkdir "$theirs/tree" "$theirs/tree/sys"
    ln -s "$victim/folder" "$theirs/tree/run"
    chown -hR "$mallory" "$theirs/tree"
    refuses 125 "run is a link of nobody: name its target" ssactuate restore --root "$theirs/tree"
    unharmed
    rm "$theirs/tree/run"
    mkdir -p "$theirs/tree/run/showstopper"
    ln -s "$victim/file" "$theirs/tree/sys/a"
    chown -h "$mallory" "$theirs/tree/sys/a"
    printf 'boot unknown\nrun 1\nset one sys/a exact old\narmed\nwant 0 secret\ngot 0 secret\n' >"$theirs/tree/$journal"
    chmod 600 "$theirs/tree/$journal"
    refuses 125 "cannot be restored" ssactuate restore --root "$theirs/tree"
    unharmed
    rm "$theirs/tree/sys/a"
    echo secret >"$theirs/tree/sys/a"
    chown "$mallory" "$theirs/tree/sys/a"
    expect 0 ssactuate restore --root "$theirs/tree"
    is "$theirs/tree/sys/a" old
}

# Files in the folder of a place name processes that root ends.
the_folder_of_places_is_judged() { # case
    local place=$build/libexec/showstopper/showstopper-place
    begin
    [ -x "$place" ] || skip "left-out: built without showstopper-place"
    mkdir "$victim/folder/p"
    ln -s "$victim/folder" "$theirs/places"
    chown -h "$mallory" "$theirs/places"
    refuses 1 "theirs/places is a link of nobody: name its target" \
        env SHOWSTOPPER_PLACES="$theirs/places" "$place" close p -- "$(type -P true)"
    [ -d "$victim/folder/p" ] || fail "our folder was removed"
    rmdir "$victim/folder/p"
    rm "$theirs/places"
    mkdir -p "$theirs/places/p"
    chown "$mallory" "$theirs/places"
    refuses 1 "theirs/places belongs to nobody: choose another folder" \
        env SHOWSTOPPER_PLACES="$theirs/places" "$place" close p -- "$(type -P true)"
    chown 0 "$theirs/places"
    chmod 777 "$theirs/places"
    refuses 1 "theirs/places: other users may rename files in it" \
        env SHOWSTOPPER_PLACES="$theirs/places" "$place" close p -- "$(type -P true)"
    chmod 1777 "$theirs/places"
    expect 0 env SHOWSTOPPER_PLACES="$theirs/places" "$place" close p -- "$(type -P true)"
    [ ! -e "$theirs/places/p" ] || fail "the place remains"
}

sockets_are_not_made_through_links_of_another_user() { # case
    begin
    need_built ssburn
    ln -s "$victim" "$theirs/through"
    ln -s "$victim/socket" "$theirs/socket"
    chown -h "$mallory" "$theirs"/*
    refuses 1 "is a link of nobody: name its target" timeout 100 ssburn serve --listen "$theirs/through/socket"
    refuses 1 "exists and is not a socket" timeout 100 ssburn serve --listen "$theirs/socket"
    ! is_built ssrequest || refuses 125 "is a link of nobody: name its target" \
        ssrequest --rate 1 --duration 1s --control "$theirs/through/socket" http://127.0.0.1:9
    unharmed
    "${as[@]}" ln -s . "$theirs/own"
    start ssburn serve --listen "$theirs/own/used"
    await test -S "$theirs/used"
    kill "$pid"
    ends '*'
    [ ! -e "$theirs/used" ] || fail "the socket was not removed"
}

pipes_in_folders_are_not_waited_for() { # case
    begin
    write_plan
    expect 0 ssbatch study plan
    rm study/a/run.json
    mkfifo study/a/run.json
    expect 125 timeout 100 ssbatch --list study
    says err "run.json: not a regular file"
    rm study/.study/plan
    mkfifo study/.study/plan
    refuses 125 "plan is not a regular file" timeout 100 ssbatch --list study
}

# Root's message about a trace quotes its lines.
simulated_fleets_follow_no_link_of_another_user() { # case
    need_built sssim
    begin
    chmod 600 "$victim/file"
    echo '0 50%' >"$theirs/a.trace"
    ln -s "$victim/file" "$theirs/c.trace"
    chown -h "$mallory" "$theirs/c.trace"
    refuses 125 "--traces: $theirs/c.trace: c.trace is a link of nobody: name its target" \
        sssim fleet --nodes 2 --traces "$theirs" --record record -- -P 1 --duration 20s
    rm "$theirs/c.trace"
    mkfifo "$theirs/c.trace"
    refuses 125 "--traces: $theirs/c.trace: not a regular file" \
        timeout 100 sssim fleet --nodes 2 --traces "$theirs" --record record -- -P 1 --duration 20s
    rm "$theirs/c.trace"
    echo nonsense >"$theirs/c.trace"
    refuses 125 "$theirs/c.trace:1:" sssim fleet --nodes 2 --traces "$theirs" -- -P 1 --duration 20s
    [ ! -e record ] || fail "a record was made"
    mv "$theirs/a.trace" "$theirs/c.trace"
    ln -s c.trace "$theirs/a,b.trace"
    chown -h "$mallory" "$theirs"/*
    expect 0 sssim fleet --nodes 2 --traces "$theirs" -- -P 1 --duration 20s
}

# An empty part of PATH is the current folder.
programs_in_the_current_folder_are_not_found() { # case
    local path
    begin
    cd "$theirs"
    printf '#!/bin/sh\ntouch %s/carried-out\n' "$folder/here" >hello
    chmod 755 hello
    for path in ":$PATH" "$PATH:" "${PATH/:/::}"; do
        expect 127 env "PATH=$path" ssload --interval 0.1s -- hello
        expect 127 env "PATH=$path" showstopper -n 1 -l 50% hello
        [ ! -e "$folder/here/carried-out" ] || fail "PATH=$path: a program of another user was executed"
    done
    expect 0 env "PATH=.:$PATH" ssload --interval 0.1s -- hello
}

# swap_at CALL: lets one of the calls of these programs carry out ./swap at its end, as another user might at that
# moment. Programs of ./stand-ins come first in PATH.
swap_at() {
    local program path=${PATH#"$PWD/stand-ins:"}
    mkdir -p stand-ins
    echo 0 >calls
    for program in awk find grep mkdir realpath sed stat; do
        write_program "stand-ins/$program" "#!/bin/sh" "read -r calls <'$PWD/calls'; calls=\$((calls + 1))" \
            "echo \$calls >'$PWD/calls'" "'$(PATH=$path command -v "$program")' \"\$@\"; status=\$?" \
            "[ \$calls -ne $1 ] || PATH='$path' sh '$PWD/swap'" "exit \$status"
    done
}

# swap_at_each_call: carries out ./swap at each call in turn, until it comes after the last one and does not make
# `exchanged`. The caller defines attempt, which must fail the test if it did harm, and undo.
swap_at_each_call() {
    local call PATH=$PWD/stand-ins:$PATH
    for ((call = 1;; call++)); do
        rm -f exchanged
        swap_at "$call"
        attempt
        [ -e exchanged ] || break
        undo
    done
    [ "$call" -gt 2 ] || fail "nothing was exchanged"
}

# The other user exchanges a study of root in an own folder for one whose settings have a command.
exchanged_studies_are_not_carried_out() { # case
    need_built ssfleet
    begin
    write_plan
    mkdir "$theirs/lab" # of root, but the other user may rename it
    expect 0 ssfleet run --engine local --nodes a "$theirs/lab/study" plan
    rm carried-out
    mkdir -p "$theirs/other/study/.fleet/jobs"
    echo "touch $PWD/carried-out" >"$theirs/command"
    printf '%s\n' engine=parallel nodes=n "scratch=$theirs/disk" "ssh_command=sh $theirs/command" \
        >"$theirs/other/study/.fleet/settings"
    chown -R "$mallory" "$theirs/other"
    echo "cd $theirs && mv lab x && mv other lab && mv x other && touch $PWD/exchanged" >swap
    attempt() {
        write_program stand-ins/parallel '#!/bin/sh'
        ssfleet collect "$theirs/lab/study" >out 2>err || true
        [ ! -e carried-out ] || fail "the command was carried out"
    }
    undo() { sh swap; }
    swap_at_each_call
    undo # now theirs is the first
    swap_at_each_call
}

settings_name_no_file() { # case
    need_built ssfleet
    begin
    write_plan
    expect 0 ssfleet run --engine local --nodes a study plan
    rm carried-out
    echo "touch $PWD/carried-out" >engine.sh
    sed -i "s|^engine=.*|engine=$(printf '../%.0s' {1..40})${PWD#/}/engine|" study/.fleet/settings
    refuses 125 "unknown engine" ssfleet status study
    [ ! -e carried-out ] || fail "the file was carried out"
}

fleets_follow_no_link_of_another_user() { # case
    need_built ssfleet
    begin
    write_plan
    ln -s "$victim/folder" "$theirs/study"
    ln -s "$victim" "$theirs/through"
    chown -h "$mallory" "$theirs"/*
    refuses 125 "theirs/study is a link of nobody: name its target" ssfleet run --engine local "$theirs/study" plan
    refuses 125 "theirs/through is a link of nobody: name its target" \
        ssfleet run --engine local "$theirs/through/study" plan
    mkdir traces
    refuses 125 "theirs/through is a link of nobody: name its target" \
        ssfleet replay --engine local --traces traces --record "$theirs/through/record" -- true
    unharmed
}

# A node puts programs, devices, links and files of the other user into its results, for a user of this machine.
nodes_send_only_files_of_the_caller() { # case
    local tar results
    need_built ssfleet
    begin
    printf 'run a takes 1s\n  main -- true\n' >plan
    mkdir traces stand-ins
    echo '0 50%' >traces/m.txt
    tar=$(command -v tar)
    write_program stand-ins/tar <<END
#!/bin/sh
if [ "\$1" = -cf ]; then
    cd a 2>/dev/null || cd record || exit
    cp /bin/sh sh && chmod 4755 sh
    mkdir shut open && chmod 000 shut && chmod 777 open
    touch open/file && chown $mallory . open/file
    ln -s /etc link
    mkfifo pipe
    mknod -m 666 disk b 254 0 || true
    cd ..
fi
exec '$tar' "\$@"
END
    PATH=$PWD/stand-ins:$PATH
    expect 0 ssfleet run --engine local --nodes n1 --scratch "$PWD/disk" study plan
    says err "n1: its links, devices and pipes are left out"
    expect 0 ssfleet replay --engine local --nodes n1 --scratch "$PWD/disk" --traces traces --record record \
        --margin 5s -- -f own --duration 200m ssburn serial
    says err "n1: its links, devices and pipes are left out"
    for results in study/a record/n1; do
        [ -z "$(find "$results" ! -type f ! -type d -o ! -user root -o -perm /7022 -o -type d ! -perm -700)" ] ||
            fail "$(ls -lR "$results")"
        [ -f "$results/open/file" ] || fail "$results: a file is missing"
    done
}

# A trace is sent to the disks of the nodes.
traces_are_no_links_of_another_user() { # case
    need_built ssfleet
    begin
    chmod 600 "$victim/file"
    ln -s "$victim/file" "$theirs/a.trace"
    chown -h "$mallory" "$theirs/a.trace"
    refuses 125 "--traces: $theirs/a.trace is a link of nobody: name its target" \
        ssfleet replay --engine local --nodes n1 --scratch "$PWD/disk" --traces "$theirs" --record record -- true
    [ ! -e disk ] || fail "it was sent"
    # A kernel may allow hard links to files of others.
    rm "$theirs/a.trace"
    ln "$victim/file" "$theirs/a.trace"
    expect 1 ssfleet replay --engine local --nodes n1 --scratch "$PWD/disk" --traces "$theirs" --record record -- true
    says err "theirs/a.trace: not a regular file, or it has another name (a hard link)"
    says err "n1: cannot copy its trace"
    ! grep -r secret disk || fail "it was sent"
}

# Without --scratch, showstopper opens the traces by path when all nodes are ready.
traces_are_those_that_were_judged() { # case
    need_built ssfleet
    begin
    chmod 600 "$victim/file"
    mkdir "$theirs/traces"
    echo '0 50%' >"$theirs/traces/a.trace"
    chown -R "$mallory" "$theirs/traces"
    chmod 600 "$theirs/traces/a.trace"
    mkdir bin
    write_program bin/date <<END # measures the clock of a node
#!/bin/sh
if [ ! -e $theirs/kept ]; then
    mv $theirs/traces $theirs/kept
    mkdir $theirs/traces
    ln -s $victim/file $theirs/traces/a.trace
fi
exec $(command -v date) "\$@"
END
    PATH=$PWD/bin:$PATH expect 0 ssfleet replay --engine local --nodes n1 --traces "$theirs/traces" --record record \
        --margin 2s -- -f own --duration 500m sleep 100
    [ -e "$theirs/kept" ] || fail "nothing was exchanged"
    is record/traces/a.trace '0 50%'
    [ -z "$(find record/traces -perm /077)" ] || fail "others can read the traces"
    unharmed
    # Messages of a node may quote its trace.
    mkdir ours
    echo private >ours/a.trace
    expect 1 ssfleet replay --engine local --nodes n1 --traces ours --record other --margin 2s -- true
    says other/n1.stderr private
    [ "$(stat -c %a other/n1.stderr)" = 600 ] || fail "others can read the message"
    [ ! -e other/traces ] || fail "traces in our own folder were copied"
}

# In a folder such as /tmp, another user makes the folder of a study at the last moment.
new_studies_are_not_made_by_another_user() { # case
    need_built ssfleet
    begin
    write_plan
    mkdir -m 1777 "$folder/open"
    cat >swap <<END
mkdir $folder/open/study 2>/dev/null || exit 0
mkdir $folder/open/study/.fleet
ln -s $victim/file $folder/open/study/.fleet/guard
chown -hR $mallory $folder/open/study
touch $PWD/exchanged
END
    attempt() {
        ssfleet run --engine local --nodes a "$folder/open/study" plan >out 2>err || true
        unharmed
    }
    undo() { rm -r "$folder/open/study"; }
    swap_at_each_call
}

# A process in jobs/ID.pid is ended by `ssfleet cancel`.
state_of_fleets_is_ours_whatever_the_umask() { # case
    need_built ssfleet
    begin
    umask 000
    printf 'run a takes 1s\nmain -- find %q -perm /022 -fprint %q\n' "$PWD/study/.fleet" "$PWD/found" >plan
    expect 0 ssfleet run --engine local --nodes a study plan
    is found ''
    [ -z "$(find study/.fleet -perm /022)" ] || fail "others may write: $(find study/.fleet -perm /022)"
    [ "$(stat -c %a found)" = 666 ] || fail "runs have another umask"
    : >study/.fleet/jobs/1.pid
    chmod 666 study/.fleet/jobs/1.pid
    refuses 125 "1.pid: other users may write to it" ssfleet cancel study
}

guards_of_fleets_cannot_be_locked_by_readers() { # case
    local holder
    need_built ssfleet
    begin
    write_plan
    expect 0 ssfleet run --engine local --nodes a study plan
    [ "$(stat -c %a study/.fleet/guard)" = 600 ] || fail "others may lock it"
    chmod 644 study/.fleet/guard # as in an earlier version
    start "${as[@]}" flock --no-fork study/.fleet/guard sh -c 'echo; exec sleep 1000' >locked
    await test -s locked
    expect 0 timeout "$patience" ssfleet run --engine local --nodes a study
    kill "$pid"
    ends '*'
    start flock --no-fork study/.fleet/guard sh -c 'echo; exec sleep 1000' >locked2
    holder=$pid
    await test -s locked2
    start ssfleet run --engine local --nodes a study >out 2>err
    await grep -qE "waiting for process .*\<$holder\>.*, which has locked $PWD/study/.fleet/guard" err
    kill "$holder"
    ends 0
    ends '*' "$holder"
}

# exchange_lab: makes the other user's folder `lab`, which ./swap replaces by a link to ours.
exchange_lab() {
    mkdir "$theirs/lab"
    echo "mv $theirs/lab $theirs/mine && ln -s $victim $theirs/lab && chown -h $mallory $theirs/lab && touch $PWD/exchanged" >swap
    undo() {
        rm "$theirs/lab"
        mv "$theirs/mine" "$theirs/lab"
        rm -rf "$theirs/lab/record"
    }
}

# A record that is removed after an error, while its path leads elsewhere.
only_new_records_of_replays_are_removed() { # case
    need_built ssfleet
    begin
    mkdir traces
    exchange_lab
    attempt() {
        ssfleet replay --engine local --nodes a --traces traces --record "$theirs/lab/record" -- true >out 2>err || true
        unharmed
    }
    swap_at_each_call
}

results_are_not_written_through_exchanged_folders() { # case
    begin
    exchange_lab
    mkdir "$theirs/lab/folder"
    attempt() {
        # shellcheck disable=SC2016 # for bash
        bash -c '. "$0"; write_whole "$1/file" echo theirs; inside "$1/folder" rm -f plan.json' \
            "$source/tools/folders.sh" "$theirs/lab" >out 2>err || true
        unharmed
    }
    swap_at_each_call
}

# A folder of the other user, in place of which we find ours when we judge it.
held_folders_are_those_that_were_judged() { # case
    begin
    mkdir "$theirs/ours"
    "${as[@]}" mkdir "$theirs/lab"
    echo "cd $theirs && mv lab x && mv ours lab && mv x ours && touch $PWD/exchanged" >swap
    attempt() {
        # shellcheck disable=SC2016 # for bash
        bash -c '. "$0"; ! hold "$1" || [ -O "$held/." ]' "$source/tools/folders.sh" "$theirs/lab" ||
            fail "a folder of another user was accepted"
    }
    undo() { sh swap; }
    swap_at_each_call
}

experiments=$source/tools/experiments

# The name of a file becomes a link to ours after it was judged.
printed_files_are_those_that_were_judged() { # case
    begin
    echo theirs >"$theirs/file"
    echo "cd $theirs && mv file x && ln -s $victim/file file && chown -h $mallory file && touch $PWD/exchanged" >swap
    attempt() {
        # shellcheck disable=SC2016 # for bash
        bash -c '. "$0"; print_file "$1"' "$source/tools/folders.sh" "$theirs/file" >out 2>err || true
        ! grep secret out || fail "our file was printed"
    }
    undo() { mv "$theirs/x" "$theirs/file"; }
    swap_at_each_call
}

# Places are removed, and name what is shared with a guest.
places_of_another_user_are_refused() { # case
    local words
    begin
    mkdir -p fake/bin fake/libexec/showstopper stand-ins
    write_program fake/bin/showstopper '#!/bin/sh' true
    write_program fake/libexec/showstopper/showstopper-place '#!/bin/sh' true
    PATH=$PWD/fake/bin:$PATH
    ln -s "$victim" "$theirs/link"
    chown -h "$mallory" "$theirs/link"
    mkdir -p "$theirs/mine/folder" "$folder/places/folder"
    mkdir -m 777 "$theirs/open"
    cp -r "$folder/places/folder" "$theirs/open"
    for words in "--clean folder" "--open folder" "enter folder -- true"; do
        # shellcheck disable=SC2086 # several words
        refuses 1 "link is a link of nobody: name its target" \
            env SHOWSTOPPER_PLACES="$theirs/link" "$experiments/env/group" $words
        # shellcheck disable=SC2086 # several words
        refuses 1 "other users can replace folders in $theirs" \
            env SHOWSTOPPER_PLACES="$theirs/mine" "$experiments/env/group" $words
        # shellcheck disable=SC2086 # several words
        refuses 1 "other users can replace folders in $theirs/open" \
            env SHOWSTOPPER_PLACES="$theirs/open" "$experiments/env/group" $words
        unharmed
    done
    touch "$folder/places/folder/file"
    printf '%s\0' '--cpus=0' >"$folder/places/folder/options"
    export SHOWSTOPPER_PLACES=$folder/places
    expect 0 "$experiments/env/group" enter folder -- echo entered
    is out entered
    # Options are not carried out.
    printf %s "touch $PWD/carried-out" >"$folder/places/folder/options"
    refuses 1 "unknown option" "$experiments/env/group" enter folder -- true
    printf '%s\0' "--environment=theirs" >"$folder/places/folder/options"
    refuses 1 "--environment: unknown option" "$experiments/env/group" enter folder -- true
    [ ! -e carried-out ] || fail "options were carried out"
    expect 0 "$experiments/env/group" --clean folder
    [ -z "$(ls "$folder/places/folder")" ] || fail "the place was not cleaned"
}

outputs_of_guests_follow_no_link() { # case
    local option
    begin
    mkdir guest
    echo format=1 >guest/about
    ln -s "$victim/file" "$theirs/link"
    ln -s "$victim" "$theirs/through"
    chown -h "$mallory" "$theirs/link" "$theirs/through"
    echo ours >times.csv
    for option in --clock --vcpu-times; do
        refuses 125 "$option: $theirs/link is a link of nobody: name its target" \
            "$experiments/run-in-guest" --guest guest "$option" "$theirs/link" --check -- true
        refuses 125 "is a link of nobody: name its target" \
            "$experiments/run-in-guest" --guest guest "$option" "$theirs/through/new" --check -- true
        expect '*' "$experiments/run-in-guest" --guest guest "$option" times.csv --check -- true
        is times.csv ours
    done
    unharmed
}

# The kernel of a guest reads all files of this machine, and writes to shared folders.
guests_of_another_user_are_refused() { # case
    local name
    begin
    mkdir "$theirs/guest"
    echo format=1 >"$theirs/guest/about"
    touch "$theirs/guest/kernel" "$theirs/guest/initrd"
    for name in guest guest/about guest/kernel guest/initrd; do
        chown "$mallory" "$theirs/$name"
        refuses 125 "--guest: $theirs/$name belongs to nobody" \
            "$experiments/run-in-guest" --guest "$theirs/guest" --check -- true
        chown 0 "$theirs/$name"
    done
    ln -s guest "$theirs/link"
    chown -h "$mallory" "$theirs/link"
    refuses 125 "theirs/link is a link of nobody" "$experiments/run-in-guest" --guest "$theirs/link" --check -- true
    rm "$theirs/guest/about"
    mkfifo "$theirs/guest/about"
    chown -R "$mallory" "$theirs/guest"
    refuses 125 "belongs to nobody" timeout 100 "$experiments/run-in-guest" --guest "$theirs/guest" --check -- true
}

# A guest is made in a folder of the other user, who moves it away meanwhile.
guests_are_made_in_open_folders() { # case
    begin
    ln -s "$victim" "$theirs/through"
    chown -h "$mallory" "$theirs/through"
    refuses 125 "theirs/through is a link of nobody: name its target" "$experiments/make-guest" "$theirs/through/guest"
    unharmed
    [ "$(uname -m)" = x86_64 ] || skip "x86-64: guests require it"
    mkdir stand-ins
    for name in apt-get apt-cache; do write_program "stand-ins/$name" '#!/bin/sh' true; done
    write_program stand-ins/cpio '#!/bin/sh' 'cat >/dev/null; echo initrd'
    write_program stand-ins/dpkg-deb <<END
#!/bin/sh
mkdir -p "\$3/boot" "\$3/lib/modules/6" "\$3/bin"
printf 'kernel/%s.ko\n' virtio_pci virtio_console fuse virtiofs overlay >"\$3/lib/modules/6/modules.builtin"
echo kernel >"\$3/boot/vmlinuz-6"
echo busybox >"\$3/bin/busybox"
[ -e "$theirs/moved" ] && exit
for part in "$theirs"/guest.part.*; do mv "\$part" "$theirs/moved" && ln -s "$victim" "\$part"; done
END
    PATH=$PWD/stand-ins:$PATH
    touch k.deb b.deb
    expect 1 "$experiments/make-guest" --kernel k.deb --busybox b.deb "$theirs/guest"
    unharmed
    is "$theirs/guest/kernel" kernel
    is "$theirs/guest/initrd" initrd
}

comparisons_of_machines_follow_no_link() { # case
    local name data=$source/tests/data/profile/results.csv
    need_built ssprofile
    need_built ssbatch
    need_built reports
    begin
    compare=(ssprofile portability --output "$theirs/results" "$data:base" "$data:target")
    mkdir -p "$theirs/results"
    for name in compare.log compare.new.txt; do
        ln -s "$victim/file" "$theirs/results/$name"
    done
    chown -hR "$mallory" "$theirs/results"
    expect 0 "${compare[@]}"
    unharmed
    [ ! -L "$theirs/results/compare.log" ] || fail "the link was not replaced"
    [ -f "$theirs/results/compare.log" ] || fail "no file replaced the link"
    grep -q '^target:without ' "$theirs/results/text/compare.txt" || fail "$(cat "$theirs/results/text/compare.txt")"
    [ -s "$theirs/results/text/predict-target-without.txt" ] || fail "no prediction"
}

clusters_of_another_user_are_refused() { # case
    local words bystander
    begin
    # shellcheck source=../../tools/ssfleet/child.sh
    . "$source/tools/ssfleet/child.sh"
    mkdir -p "$theirs/cluster/pids" "$theirs/ours/pids"
    start sleep 1000
    bystander=$pid
    echo "$bystander $(started_at "$bystander")" | tee "$theirs/cluster/pids/n1" >"$theirs/ours/pids/n1"
    chown -R "$mallory" "$theirs/cluster"
    for words in end "restart n1"; do
        # shellcheck disable=SC2086 # several words
        set -- $words
        refuses 1 "theirs/cluster belongs to nobody" "$source/tools/ssfleet/try-slurm" "$1" "$theirs/cluster" "${@:2}"
        refuses 1 "other users can replace folders in $theirs" \
            "$source/tools/ssfleet/try-slurm" "$1" "$theirs/ours" "${@:2}"
    done
    kill "$bystander" || fail "a process was ended"
    ends '*' "$bystander"
}

wikis_of_another_user_are_refused() { # case
    local name
    begin
    mkdir -p "$theirs/wiki/run" "$theirs/wiki/tmp" stand-ins
    : >"$theirs/wiki/is-mediawiki"
    echo 80 2 >"$theirs/wiki/options"
    ln -s "$victim/file" "$theirs/wiki/tmp/page"
    # shellcheck disable=SC2016 # for sh
    start sh -c 'exec sleep 1000 9>>"$0"' "$theirs/wiki/run/database.pid"
    await test -e "$theirs/wiki/run/database.pid"
    for name in cache php web; do ln "$theirs/wiki/run/database.pid" "$theirs/wiki/run/$name.pid"; done
    echo "$pid" >"$theirs/wiki/run/database.pid"
    chown -hR "$mallory" "$theirs/wiki"
    # shellcheck disable=SC2016 # for sh
    write_program stand-ins/curl '#!/bin/sh' 'until [ "$1" = -o ]; do shift; done; echo theirs >"$2"'
    PATH=$PWD/stand-ins:$PATH
    refuses 1 "theirs/wiki belongs to nobody" "$experiments/services/mediawiki" status "$theirs/wiki"
    unharmed
    mkdir -p "$theirs/mine" wiki/log stand-ins/maintenance
    touch stand-ins/maintenance/install.php
    for name in mariadbd mariadb-install-db my_print_defaults mariadb memcached php-fpm9 nginx php; do
        write_program "stand-ins/$name" '#!/bin/sh' 'exit 1'
    done
    export MEDIAWIKI=$PWD/stand-ins
    refuses 1 "other users can replace folders in $theirs" "$experiments/services/mediawiki" status "$theirs/mine"
    refuses 1 "other users can replace folders in $theirs" "$experiments/services/mediawiki" up "$theirs/new/wiki"
    [ ! -e "$theirs/new" ] || fail "the folder was made"
    : >wiki/is-mediawiki
    ln -s "$victim/file" wiki/log/web.log
    refuses 1 "log/web.log is a link" "$experiments/services/mediawiki" up wiki
    rm wiki/log/web.log
    chmod 777 wiki/log
    refuses 1 "log: other users may write to it" "$experiments/services/mediawiki" up wiki
    unharmed
    kill "$pid"
    ends '*'
}

usual_outputs_of_shell_programs_work() { # case
    local held why
    begin
    # shellcheck source=../../tools/folders.sh
    . "$source/tools/folders.sh"
    echo old >file
    chmod 600 file
    ln -s file link
    write_whole link echo new
    [ -L link ] || fail "the link was replaced"
    is file new
    [ "$(stat -c %a file)" = 600 ] || fail "the mode was not kept"
    chmod 666 file
    write_whole file echo new
    [ "$(stat -c %a file)" = 644 ] || fail "others may write our output"
    ! write_whole file false || fail "a failed command was ignored"
    is file new
    echo first >appended
    write_whole /dev/stdout echo second >>appended
    is appended $'first\nsecond'
    write_whole /dev/null echo lost
    [ -c /dev/null ] || fail "/dev/null was replaced"
    # A link of root that the other user may have moved there.
    ln -s "$victim/file" "$theirs/moved"
    expect 1 write_whole "$theirs/moved" echo theirs
    says err "moved is a link that other users can replace: name its target"
    rm "$theirs/moved"
    # Under sudo, in a folder of the user; a home that is a link of root.
    ln -s "$theirs" "$folder/home"
    write_whole "$folder/home/mine" echo mine
    is "$theirs/mine" mine
    [ "$(find "$theirs" -type f)" = "$theirs/mine" ] || fail "other files: $(find "$theirs")"
    ! hold "$folder/home" || fail "state of another user was accepted"
    mkdir "$theirs/study"
    hold "$folder/home/study" || fail "$why"
    mv "$theirs/study" "$theirs/moved"
    echo here >"$held/file"
    is "$theirs/moved/file" here
    "${as[@]}" unshare -Ur true 2>/dev/null || skip "user-namespaces: no user may make one"
    "${as[@]}" mkdir "$theirs/own"
    # shellcheck disable=SC2016 # for bash
    expect 0 "${as[@]}" unshare -Ur bash -c '. "$0"; hold "$1"' "$source/tools/folders.sh" "$theirs/own"
    # shellcheck disable=SC2016 # for bash
    expect 1 "${as[@]}" unshare -U bash -c '. "$0"; hold "$1"' "$source/tools/folders.sh" "$theirs/moved"
}

# Use write_whole, inside, make_path and hold of tools/folders.sh instead.
shell_programs_write_in_open_folders() { # case
    local found
    found=$(grep -nEI -e '>"\$[0-9]"' \
        -e '(>>?|\b(tee|mv|rm|cp|ln|touch|mkdir)( [^|;&]*)?) ?"?\$\{?(output|record|study|dir|json)\b' \
        -r "$source/tools/ssfleet" "$experiments" --exclude='*.[17]' --exclude='*.md' | grep -v 'inside "') || true
    [ -z "$found" ] || fail "these write by a path that another user may have changed: $found"
}

# Use print_file of tools/folders.sh instead. ssfleet judges the files that it reads when it opens a study.
shell_programs_read_results_with_print_file() { # case
    local found
    # shellcheck disable=SC2016 # a pattern
    found=$(grep -nEI -e "(-- cat|--battery) '[{](scratch|out)" -e '^ *(\.|source) "\$(output|study|dir|state|held)' \
        -e '((^|[^<])<|\b(cat|head|tail|sed|awk|grep|cut|sort)( [^|;&]*)?) ?"?\$\{?(output|study|dir|json)\b' \
        -r "$experiments" --exclude='*.[17]' --exclude='*.md') || true
    [ -z "$found" ] || fail "these follow a link that another user may have made: $found"
}

run_cases
