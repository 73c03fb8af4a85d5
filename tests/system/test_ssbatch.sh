#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Studies of ssbatch: what is carried out, kept, refused, repeated and listed.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
tests=$here
PATH=$build/bin:$PATH
need_built ssbatch
folder=$scratch

# begin: creates an empty folder and enters it.
begin() {
    cd /
    rm -rf "${folder:?}/work"
    mkdir "$folder/work"
    cd "$folder/work"
}

finished_runs_are_not_repeated() { # case
    begin
    cat >plan <<'END'
run a takes 1s size=1
main -- sh -c 'echo a >>log'
run b takes 1s size=2
main -- sh -c 'echo b >>log; [ -e fixed ]'
run c takes 1s size=3
main -- sh -c 'echo c >>log'
END
    expect 1 ssbatch study plan
    says err "b: failed: main ended with status 1"
    is log "$(printf 'a\nb')"
    expect 1 ssbatch --list study
    says out "1 done, 1 failed, 0 skipped, 1 to come"
    touch fixed
    expect 0 ssbatch study plan
    is log "$(printf 'a\nb\nb\nc')"
    expect 0 ssbatch study plan
    says err "3 of 3 runs done"
    is log "$(printf 'a\nb\nb\nc')"
    # New runs are added.
    sed 's/^run c /run d /; s/size=3/size=4/' plan >added
    expect 0 ssbatch study added
    is log "$(printf 'a\nb\nb\nc\nc')"
    expect 0 ssbatch --list study
    says out "4 done, 0 failed, 0 skipped, 0 to come"
}

skipped_runs_get_the_reason_of_the_latest_plan() { # case
    local reason
    begin
    for reason in 'no disk' 'no network'; do
        echo "skip a reason='$reason'" >plan
        expect 0 ssbatch study plan
        expect 0 ssbatch --list --csv study
        says out "a,,skipped,$reason,"
    done
}

changed_runs_are_refused_without_redo() { # case
    begin
    printf '%s\n' '#!/bin/sh' 'echo one >>log' >program
    chmod +x program
    printf '%s\n' 'run a takes 1s size=1' 'main -- ./program' 'run b takes 1s' 'main -- true' >plan
    expect 0 ssbatch study plan
    # Columns and words of commands identify a run; times do not.
    sed 's/takes 1s size/takes 2s size/' plan >longer
    expect 0 ssbatch study longer
    sed 's/size=1/size=2/' plan >other
    expect 1 ssbatch study other
    says err "a: refused: already done, but its columns or commands differ"
    is log one
    expect 0 ssbatch --redo a study other
    is log "$(printf 'one\none')"
    expect 0 ssbatch study other
    # The contents of a program identify a run, too.
    printf '%s\n' '#!/bin/sh' 'echo two >>log' >program
    expect 1 ssbatch study other
    says err "a: refused: already done, but the program ./program has changed; use ssbatch --redo a "
    expect 0 ssbatch --redo a study other
    is log "$(printf 'one\none\ntwo')"
    expect 0 ssbatch study other
}

programs_in_other_folders_are_compared() { # case
    begin
    local name
    mkdir one same other
    for name in one same other; do
        printf '#!/bin/sh\necho x >>log\n' >"$name/tool"
        chmod +x "$name/tool"
    done
    echo '# another build' >>other/tool
    printf '%s\n' 'run a takes 1s' 'main -- tool' >plan
    PATH=$PWD/one:$PATH expect 0 ssbatch study plan
    PATH=$PWD/same:$PATH expect 0 ssbatch study plan
    PATH=$PWD/other:$PATH expect 1 ssbatch study plan
    says err "a: refused: already done, but the program $PWD/other/tool differs from $PWD/one/tool"
    PATH=$PWD/other:$PATH expect 1 ssbatch --dry-run study plan
    is log x
    PATH=$PWD/other:$PATH expect 0 ssbatch --redo a study plan
    is log "$(printf 'x\nx')"
    PATH=$PWD/one:$PATH expect 1 ssbatch study plan
}

# A folder may have the name of a run that did not make it.
files_of_others_are_not_replaced() { # case
    begin
    mkdir -p study/src
    echo text >study/src/code.c
    for kind in 'run src takes 1s' 'run src takes 1s keep'; do
        printf '%s\n' "$kind" 'main -- true' >plan
        expect 125 ssbatch study plan
        says err "ssbatch: $PWD/study/src is not a run of this study, and run src would replace it: rename one of them"
    done
    echo 'skip src reason=none' >plan
    expect 125 ssbatch study plan
    expect 125 ssbatch --dry-run study plan
    is study/src/code.c text
    [ ! -e study/.study ] || fail "a study was begun"
    # The folder comes when the plan is known already.
    printf '%s\n' 'run a takes 1s' 'main -- true' >plan
    expect 0 ssbatch --add study plan
    mkdir study/a
    expect 125 ssbatch --only a study
    says err "$PWD/study/a is not a run of this study"
    # It comes while the run is carried out.
    rmdir study/a
    printf '%s\n' 'run a takes 1s' "main -- sh -c 'mkdir study/a; echo text >study/a/code.c'" >plan
    expect 125 ssbatch study plan
    is study/a/code.c text
    printf '%s\n' 'run run.json takes 1s' 'main -- true' >plan
    expect 125 ssbatch study plan
    says err "'run.json' cannot name a run: ssreport would mistake it for a file of a record"
}

# Files that a command makes in {out} are part of the result, even if empty; its own empty output is not.
empty_files_are_kept_except_for_output() { # case
    begin
    printf '%s\n' 'run a takes 1s keep' \
        "main -- sh -c 'test -e {out}/step1 || { touch {out}/step1; exit 1; }; echo done >&2'" >plan
    expect 1 ssbatch study plan
    expect 0 ssbatch study plan
    [ "$(cd study/a && echo *)" = "record.stderr run.json step1" ] || fail "$(ls study/a)"
}

# The folder of a finished run is not kept for the next attempt, even if the run has the word `keep`.
redone_runs_begin_with_an_empty_folder() { # case
    begin
    printf '%s\n' 'run a takes 1s keep' "main -- sh -c 'test -e {out}/x || { touch {out}/x; echo did >>log; }'" \
        'run b takes 1s needs=a' 'main -- true' >plan
    expect 0 ssbatch study plan
    expect 0 ssbatch --redo a study plan
    is log "$(printf 'did\ndid')"
    says err "b: used the earlier result of a; use ssbatch --redo b to repeat it"
    expect 0 ssbatch --redo a,b study plan
    ! grep -q 'earlier result' err || fail "b was redone: $(cat err)"
    is log "$(printf 'did\ndid\ndid')"
    # An attempt that redid the run and was interrupted is continued.
    mkdir -p study/.a.part/result
    touch study/.a.part/result/x
    expect 0 ssbatch --redo a study plan
    is log "$(printf 'did\ndid\ndid')"
}

damaged_results_are_reported() { # case
    begin
    printf 'run a takes 1s\nmain -- true\n' >plan
    expect 0 ssbatch study plan
    local document call
    while IFS='|' read -r document error; do
        echo "$document" >study/a/run.json
        for call in 'study plan' '--list study'; do
            # shellcheck disable=SC2086
            expect 125 ssbatch $call
            is err "ssbatch: $PWD/study/a/run.json$error"
        done
    done <<END
{}| has no schema: remove $PWD/study/a to carry out the run again
{"schema": 9}| has schema 9, but this program reads only schema 1: use the ssbatch that wrote it
{x|: invalid JSON: line 1: quoted object property name expected
END
}

results_contain_output_columns_and_times() { # case
    begin
    cat >plan <<'END'
set place=here
run a takes 1s size='2 3'
  before -- sh -c 'mkdir {record}; echo prepared'
  beside srv ready='^port ([0-9]+)$' load=40 -- sh -c 'echo port 77; exec sleep 1000'
  main fg cpus=0 -- sh -c 'echo "{srv.1}"; echo oops >&2; mkdir {record}; touch {scratch}/x "$TMPDIR"/y'
END
    expect 0 ssbatch study plan
    is study/a/fg.stdout 77
    is study/a/fg.stderr oops
    is study/a/srv.stdout "port 77"
    [ -d study/a/fg ] || fail "the record is missing"
    [ -z "$(find study -name '[xy]')" ] || fail "temporary files were kept"
    [ ! -e study/a/srv.stderr ] || fail "empty output was kept"
    says study/a/run.json '"schema": 1,'
    says study/a/run.json '"status": "done",'
    says study/a/run.json '"size": "2 3"'
    says study/a/run.json '"record": "fg",'
    says study/a/run.json '"load": "40"'
    says study/a/run.json "\"host\": \"$(uname -n)\","
    expect 0 ssbatch --list --csv study
    says out "run,role,status,reason,begin,end,host,version,record,takes,seconds,others,limit,place,size,load,cpus"
    says out ",here,2 3,,0"
    says out ",here,2 3,40,"
    expect 0 ssbatch --list --json study
    says out '"cpus": "0"'
    python3 -c 'import json; rows = json.load(open("out")); assert len(rows) == 2, rows'
}

# The earlier result remains until the run is done again.
a_result_is_listed_with_the_columns_it_was_measured_with() { # case
    begin
    printf '%s\n' 'run a takes 1s size=1' 'main x way=1 -- true' 'main y way=2 -- true' >plan
    expect 0 ssbatch study plan
    printf '%s\n' 'run a takes 1s size=2 more=3' 'beside y way=4 -- sleep 1000' 'main z way=5 -- true' >other
    expect 0 ssbatch --add --redo a study other
    expect 0 ssbatch --list --csv study
    [ "$(cut -d, -f 1-3,14- out)" = $'run,role,status,size,more,way\na,x,done,1,,1\na,y,done,1,,2' ] || fail "$(cat out)"
    expect 0 ssbatch --redo a study other
    expect 0 ssbatch --list --csv study
    [ "$(cut -d, -f 1-3,14- out)" = $'run,role,status,size,more,way\na,y,done,2,3,4\na,z,done,2,3,5' ] || fail "$(cat out)"
    # The plan no longer has some of the columns.
    printf '%s\n' 'run a takes 1s bytes=2' 'main -- true' >other
    expect 0 ssbatch --add --redo a study other
    expect 0 ssbatch --list --csv study
    [ "$(cut -d, -f 1-3,14- out)" = $'run,role,status,bytes,size,more,way\na,y,done,,2,3,4\na,z,done,,2,3,5' ] ||
        fail "$(cat out)"
    expect 0 ssbatch --list --json study
    python3 -c 'import json; print(json.load(open("out"))[0]["columns"])' >columns
    is columns "{'size': '2', 'more': '3', 'way': '4'}"
}

columns_of_a_plan_and_of_the_list_have_different_names() { # case
    begin
    printf '%s\n' 'run a takes 1s limit 90s seconds=7 record=x size=2' 'main -- true' >plan
    expect 0 ssbatch --add study plan
    expect 0 ssbatch --list --csv study
    is out "run,role,status,reason,begin,end,host,version,record,takes,seconds,others,limit,plan_seconds,plan_record,size
a,,to come,,,,,,,1,,,90,7,x,2"
    expect 0 ssbatch --list --json study
    python3 -c '
import json
row = json.load(open("out"))[0]
assert row["seconds"] is None and row["columns"] == {"seconds": "7", "record": "x", "size": "2"}, row'
}

# Runs that a later plan adds, or moves up, may be needed by earlier ones that are not done.
later_plans_may_order_runs_differently() { # case
    local i
    begin
    for i in c b a; do
        printf '%s\n' "run $i takes 1s" "main -- sh -c 'echo {run} >>log'"
    done >plan
    expect 0 ssbatch --add study plan
    expect 0 ssbatch --only c study
    printf '%s\n' 'run d takes 1s' "main -- sh -c 'echo {run} >>log'" 'run a takes 1s needs=d' \
        "main -- sh -c 'echo {run} >>log'" 'run b takes 1s needs=a' "main -- sh -c 'echo {run} >>log'" >other
    expect 0 ssbatch study other
    expect 0 ssbatch study other
    is log "$(printf '%s\n' c d a b)"
    expect 0 ssbatch --list --csv study
    is <(cut -d, -f 1,3 out) "$(printf '%s\n' run,status c,done d,done a,done b,done)"
}

a_plan_can_be_added_without_carrying_out_a_run() { # case
    begin
    printf '%s\n' 'run a takes 1s limit 90s' 'main -- sh -c "echo a >>log"' >plan
    expect 0 ssbatch --add study plan
    [ ! -e log ] || fail "--add carried out a run"
    expect 0 ssbatch --list --csv study
    says out "a,,to come,,,,,,,1,,,90"
    expect 0 ssbatch --only a study
    is log a
    printf '%s\n' 'run b takes 1s' 'main -- sh -c "echo b >>log"' >further
    expect 0 ssbatch --add study further
    expect 0 ssbatch --only a,a,b study
    says err "2 of 2 runs done"
    is log "$(printf 'a\nb')"
    printf '%s\n' 'run a takes 1s' 'main -- true' >other
    expect 1 ssbatch --add study other
    says err "a: refused: already done"
}

options_that_would_be_ignored_are_refused() { # case
    local action option text words
    begin
    printf '%s\n' 'run a takes 1s' 'main -- true' >plan
    expect 0 ssbatch --quiet --add --redo a study plan
    for action in --list --clean --add; do
        for option in '--only a' '--retries 2' --go-on '--shuffle 1' --ram "--ram-folder $PWD" '--others 2%' '--joblog x' \
            '--quiet-below 2%' '--others 2% --retry-disturbed'; do
            # shellcheck disable=SC2086 # option and value
            expect 125 ssbatch "$action" $option study
            says err "$action"
        done
        [ "$action" = --add ] || expect 0 ssbatch --quiet "$action" study
    done
    while IFS='|' read -r text words; do
        # shellcheck disable=SC2086 # several words
        expect 125 ssbatch $words
        says err "$text"
    done <<'END'
--list|--list --redo a study
--clean|--clean --redo a study
--list|--list --clean study
--add|--add --dry-run study
--csv|--csv study
--json|--json study
--csv|--csv --list --json study
--retry-disturbed|--retry-disturbed study
'plan'|--list study plan
'plan'|--clean study plan
'plan'|--only a study plan
'plan'|study plan plan
--workload: ssbatch carries out plans; use sslab line to print them|--workload x study
--pairs: ssbatch carries out plans; use sslab pairs to print them|--pairs x study
--value: ssbatch carries out plans; use sslab value to print them|--value x study
END
    # As with a variable that is not set; the current folder must not become the study.
    expect 125 ssbatch '' plan
    says err "no study given"
    # These are options of the call that --dry-run precedes.
    expect 0 ssbatch --dry-run --retries 2 --go-on --ram --joblog x study plan
}

# Needed and refused runs do not change the order.
a_dry_run_shows_the_order_of_the_call() { # case
    local i seed
    begin
    for i in 1 2 3 4; do
        printf '%s\n' "run r$i takes 1s size=1" "main -- sh -c 'echo {run} >>log'" \
            "run s$i takes 1s needs=r$i" "main -- sh -c 'echo {run} >>log'"
    done >plan
    for seed in 1 2 3 4; do
        rm -f log
        expect 0 ssbatch --dry-run --shuffle "$seed" "study$seed" plan
        sed -n 's/^\([rs][1-4]\): .*/\1/p' out >order
        expect 0 ssbatch --shuffle "$seed" "study$seed" plan
        is log "$(cat order)"
    done
    expect 0 ssbatch --add study plan
    expect 0 ssbatch --only r2 study
    sed 's/^run r2 .*/run r2 takes 1s size=2/' plan >changed
    rm log
    expect 1 ssbatch --dry-run --shuffle 3 study changed
    sed -n '/refused/d; s/^\([rs][1-4]\): .*/\1/p' out >order
    expect 1 ssbatch --go-on --shuffle 3 study changed
    is log "$(cat order)"
}

control_characters_of_a_result_are_not_listed() { # case
    begin
    printf 'run a takes 1s\nmain -- false\n' >plan
    expect 1 ssbatch study plan
    sed -i 's/"reason": "[^"]*"/"reason": "a\\u001b[31m\\u009bb"/' study/a/run.json
    expect 1 ssbatch --list study
    says out 'a?[31m?b'
}

# A call that was killed leaves the file that it locked. The locks of other hosts may be invisible here.
only_locked_runs_are_listed_as_running() { # case
    begin
    printf '%s\n' 'run a takes 1s' "main -- sh -c 'ssbatch --list study >during; [ -e fixed ]'" >plan
    expect 0 ssbatch --add study plan
    echo "$(uname -n) 1" >study/.study/runs/a
    expect 0 ssbatch --list --csv study
    says out "a,,to come,,"
    echo "elsewhere 1" >study/.study/runs/a
    expect 0 ssbatch --list --csv study
    says out "a,,running,on elsewhere by process 1,"
    for status in 1 0; do # even if it failed before
        expect "$status" ssbatch study plan
        says during "running"
        says during "on $(uname -n) by process "
        touch fixed
    done
}

options_select_runs() { # case
    begin
    for i in 1 2 3 4; do
        printf '%s\n' "run r$i takes 1s" "main -- sh -c 'echo r$i >>log'"
    done >plan
    expect 0 ssbatch --dry-run study plan
    says out "r2: 1 s"
    says out "to come: 4 s"
    [ ! -e study ] || fail "--dry-run has made a study"
    sed 's/sh -c/no-such-program -c/' plan >broken
    expect 1 ssbatch --dry-run study broken
    says out "r2: cannot find the program 'no-such-program'"
    # The last run fails, so that the plan is stored although no run is done.
    printf '%s\n' 'run r0 takes 1s' 'main -- false' | cat - plan >failing
    expect 1 ssbatch study failing
    [ ! -e log ] || fail "a run was carried out after a failed one"
    expect 0 ssbatch --dry-run --only r3,r1 study
    is out "$(printf 'r3: 1 s\nr1: 1 s\nto come: 2 s')"
    expect 0 ssbatch --only r3,r1 study
    is log "$(printf 'r3\nr1')"
    local option
    for option in '' --dry-run; do
        expect 125 ssbatch ${option:+"$option"} --only nothing study
        says err "--only: the study has no run 'nothing'"
    done
    expect 1 ssbatch --go-on study failing
    is log "$(printf 'r3\nr1\nr2\nr4')"
    expect 0 ssbatch --dry-run study failing
    says out "r2: 1 s, done"
    expect 125 ssbatch --redo r1,r9 study failing
    says err "--redo: the study has no run 'r9': see --list"
    expect 125 ssbatch --redo r9 --only r1 study
    # No run is repeated that the call does not carry out.
    expect 125 ssbatch --redo r1,r2 --only r1 study
    is err "ssbatch: --redo: r2 is not among the runs of this call: add it to --only, or remove it from --redo"
    printf '%s\n' 'run r5 takes 1s' 'main -- true' >further
    for option in '' --dry-run; do
        expect 125 ssbatch ${option:+"$option"} --redo r1 study further
        is err "ssbatch: --redo: r1 is not among the runs of this call: add it to the plan, or remove it from --redo"
    done
    is log "$(printf 'r3\nr1\nr2\nr4')"
    expect 0 ssbatch other plan
    sed 's/^run r2 .*/& size=2/' plan >changed
    expect 1 ssbatch --dry-run other changed
    says out "r2: 1 s, refused: already done, but "
    expect 0 ssbatch --dry-run --redo r2 other changed
    expect 125 ssbatch --list elsewhere
    says err "elsewhere is not a study"
}

records_are_written_to_the_folder_in_memory() { # case
    local ram
    begin
    mkdir ram
    printf '%s\n' 'run a takes 1s' "main -- sh -c 'echo {record} >where; mkdir {record}; echo x >{record}/data'" >plan
    expect 0 ssbatch --ram-folder "$PWD/ram" study plan
    [[ $(cat where) = "$PWD/ram/ssbatch-"*/record ]] || fail "wrong folder: $(cat where)"
    is study/a/record/data x
    [ -z "$(ls ram)" ] || fail "left in memory: $(ls ram)"
    expect 125 ssbatch --ram-folder ram study plan
    says err "--ram-folder: 'ram' is relative: use an absolute path"
    mkdir 'ram%' 'ram{'
    for ram in 'ram%' 'ram{'; do
        expect 125 ssbatch --ram-folder "$PWD/$ram" study plan
        says err "--ram-folder: $PWD/$ram: commands would treat % or { as a placeholder: use another folder"
    done
}

# take_no_rights: sets `as` to words that make root another user, whose folder the current one becomes. Root could read
# and remove everything.
take_no_rights() {
    as=()
    [ "$(id -u)" -eq 0 ] || return 0
    have_other_users || skip "another-user: root cannot become it"
    as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    chmod 711 "$folder"
    chown 65534:65534 .
    "${as[@]}" test -x "$build/bin/ssbatch" || skip "another-user: no other user can read the build folder"
}

read_only_folders_of_runs_are_removed() { # case
    local as memory
    begin
    take_no_rights
    "${as[@]}" mkdir ram
    cat >plan <<'END'
run a takes 1s
main -- sh -c 'mkdir "$TMPDIR/a" "$TMPDIR/a/b" {out}/a; touch "$TMPDIR/a/b/c" {out}/a/b; chmod 0 "$TMPDIR/a/b"; chmod 555 "$TMPDIR/a" {out}/a'
run b takes 1s
main -- sh -c 'mkdir {scratch}/a; touch {scratch}/a/b; chmod 555 {scratch}/a'
END
    for memory in '' ram; do
        expect 0 "${as[@]}" ssbatch ${memory:+--ram-folder "$PWD/$memory"} "study$memory" plan
        says err "2 of 2 runs done"
        expect 0 "${as[@]}" ssbatch ${memory:+--ram-folder "$PWD/$memory"} --redo a "study$memory" plan
        ! grep warning err || fail "a warning"
        [ -e "study$memory/a/a/b" ] || fail "no result"
        [ -z "$(ls ram; ls -A "study$memory/.study/calls"; find "study$memory" -name '.*.part')" ] || fail "files are left"
    done
    [ ${#as[@]} -eq 0 ] || files_that_cannot_be_removed_are_named "${as[@]}"
}

# A run mounts a folder of the user, of the same file system, and cannot unmount it. The leak check cannot work in the
# namespace of a user.
mounted_files_are_kept() { # case
    local options=-m
    [ "$(id -u)" -eq 0 ] || options=-rm
    begin
    mkdir precious
    echo x >precious/file
    unshare "$options" mount --bind precious precious 2>/dev/null || skip "mounts: cannot mount a folder"
    cat >plan <<'END'
run a takes 1s
before -- mkdir {scratch}/mounted
before -- mount --bind precious {scratch}/mounted
main -- sh -c 'cp {scratch}/mounted/file {out}'
after -- false
END
    expect 1 env ASAN_OPTIONS=detect_leaks=0 unshare "$options" ssbatch study plan
    says err "ssbatch: a: warning: cannot remove its temporary files: $PWD/study/.a.part/mounted: Device or resource busy"
    says err "a: failed: after ended with status 1"
    is study/a/file x
    is precious/file x
}

# A command may run under sudo.
files_that_cannot_be_read_are_kept() { # case
    local as
    begin
    take_no_rights
    cat >plan <<'END'
run a takes 1s
main -- sh -c 'cd {out}; mkdir b; echo x >a; touch b/c; chmod 0 a b'
run b takes 1s
main -- true
END
    expect 0 "${as[@]}" ssbatch study plan
    says err "2 of 2 runs done"
    chmod 700 study/a/a study/a/b
    is study/a/a x
    [ -e study/a/b/c ] || fail "no file in the folder"
}

# Such files cannot be copied.
files_in_memory_that_cannot_be_read_make_a_run_fail() { # case
    local as out
    begin
    take_no_rights
    [ ${#as[@]} -gt 0 ] || skip "another-user: only root can make files of another user"
    "${as[@]}" mkdir ram
    mkfifo -m 666 ready go
    cat >plan <<'END'
run a takes 1s
main -- sh -c 'echo x >{out}/a; echo {out} >ready; read line <go; echo z >{out}/z'
run b takes 1s
main -- true
END
    { read -r out <ready && install -m 600 /dev/null "$out/of-root" && install -d -m 700 "$out/root" && echo >go; } &
    expect 1 "${as[@]}" ssbatch --go-on --ram-folder "$PWD/ram" study plan
    says err "ssbatch: a: failed: cannot copy a file out of memory: $PWD/ram/ssbatch-"
    says err "root: Permission denied"
    says err "1 of 2 runs done"
    is study/a/a x
    is study/a/z z
    [ -z "$(ls ram)" ] || fail "left in memory: $(ls ram)"
}

# The second attempt finds the files of the first one, which was in memory or not.
attempts_in_memory_continue_with_read_only_files() { # case
    local as memory
    begin
    take_no_rights
    "${as[@]}" mkdir ram
    cat >plan <<'END'
run a takes 1s keep
main -- sh -c 'cd {out}; [ ! -e d ] || { chmod 755 d; touch d/y; chmod 555 d; rm old; echo 2 >f2; mv -f f2 f; chmod 444 f; exit; }; mkdir d; touch d/x old; echo 1 >f; chmod 444 d/x f; chmod 555 d; exit 1'
END
    for memory in '' ram; do
        expect 1 "${as[@]}" ssbatch ${memory:+--ram-folder "$PWD/$memory"} "study$memory" plan
        expect 0 "${as[@]}" ssbatch --ram-folder "$PWD/ram" "study$memory" plan
        is "study$memory/a/f" 2
        [ "$(cd "study$memory/a" && echo * d/*)" = "d f run.json d/x d/y" ] || fail "$(ls "study$memory"/a/{,d})"
        [ -z "$(ls ram)" ] || fail "left in memory: $(ls ram)"
    done
}

# files_that_cannot_be_removed_are_named COMMAND...: fails unless warnings name such files, and only a run that would
# find them fails. COMMAND becomes another user.
files_that_cannot_be_removed_are_named() {
    local left=$PWD/left/.a.part/tmp/of-root
    mkfifo -m 666 ready go
    printf '%s\n' 'run a takes 1s' "main -- sh -c 'echo >ready; read line <go'" 'run b takes 1s' 'main -- true' >plan
    { read -r < ready && mkdir "$left" && touch "$left/x" && echo >go; } &
    expect 0 "$@" ssbatch left plan
    says err "ssbatch: a: warning: cannot remove its temporary files: $left/x: Permission denied"
    says err "2 of 2 runs done"
    expect 0 "$@" ssbatch left plan
    says err "ssbatch: a: warning: cannot remove its temporary files: $left/x: Permission denied"
    expect 1 "$@" ssbatch --redo a,b --go-on left plan
    says err "a: failed: cannot remove what an earlier attempt left: $left/x: Permission denied"
    says err "1 of 2 runs done"
    rm -r "$left"
    expect 0 "$@" ssbatch left plan
    [ ! -s err ] || ! grep warning err || fail "a warning"
    [ ! -e left/.a.part ] || fail "the folder is left"
}

# Calls in two containers that share the folder may have the same pid and the same name of a run.
files_of_other_calls_in_memory_are_left_alone() { # case
    local new=(unshare -mpf --mount-proc)
    begin
    [ "$(id -u)" -eq 0 ] || new=(unshare -rmpf --mount-proc)
    "${new[@]}" "${new[@]}" true 2>/dev/null || skip "namespaces: cannot create a PID namespace"
    mkdir ram
    cat >inner <<'END'
run a takes 1s
main -- sh -c 'cd {out}; touch inner; ls >list'
END
    cat >plan <<END
run a takes 1s
main -- sh -c 'touch {out}/outer; ${new[*]} ssbatch --ram-folder "\$PWD/ram" other inner; ls {out} >list'
END
    expect 0 "${new[@]}" ssbatch --ram-folder "$PWD/ram" study plan
    says err "1 of 1 runs done"
    says list outer
    is other/a/list "$(printf 'inner\nlist\nrecord.stderr\nrecord.stdout')"
    [ -e study/a/outer ] || fail "the other call has removed the result"
    [ -z "$(ls ram)" ] || fail "left in memory: $(ls ram)"
}

failed_runs_are_repeated() { # case
    begin
    printf '%s\n' 'run a takes 1s' "main -- sh -c 'echo x >>tries; [ \$(wc -l <tries) = 3 ]'" >plan
    expect 1 ssbatch --retries 1 --joblog jobs study plan
    is tries "$(printf 'x\nx')"
    says study/a/run.json '"attempts": 2,'
    expect 0 ssbatch --retries 5 --joblog jobs study plan
    is tries "$(printf 'x\nx\nx')"
    [ "$(head -n 1 jobs)" = $'Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand' ] ||
        fail "the heading of the job log: $(head -n 1 jobs)"
    [ "$(cut -f 1,7,8 jobs | tail -n 3)" = $'1\t1\t0\n2\t1\t0\n3\t0\t0' ] || fail "job log: $(cat jobs)"
    printf '%s\n' 'run a takes 1s' "main -- sh -c 'exit 255'" 'run b takes 1s' "main -- sh -c 'kill -9 \$\$'" >plan
    expect 1 ssbatch --go-on --joblog jobs other plan
    [ "$(cut -f 7,8 jobs | tail -n 2)" = $'255\t0\n0\t9' ] || fail "job log: $(cat jobs)"
    expect 125 ssbatch --joblog none/jobs other plan
    says err "--joblog: none/jobs: No such file"
}

# A command that is not executed needs no slot, of which a call has 64.
many_missing_programs_fail_by_themselves() { # case
    begin
    for run in $(seq 70); do
        printf '%s\n' "run r$run takes 1s" 'main -- ./absent'
    done >plan
    expect 1 ssbatch --go-on study plan
    grep -q 'main: .*./absent.*: No such file' study/r70/run.json || fail "$(cat study/r70/run.json)"
}

signal_during_the_last_after_ends_the_call() { # case
    begin
    cat >plan <<'END'
run a takes 1s
main -- true
after -- sh -c 'kill -TERM $(cat caller); sleep 0.3'
run b takes 1s
main -- sh -c 'echo b >>log'
END
    sed 4,5d plan >last
    for plan in last plan; do
        rm -rf study
        (echo "$BASHPID" >caller && exec ssbatch -q study "$plan") 2>err && fail "$plan: ended with 0"
        [ ! -e log ] || fail "the next run was carried out"
    done
}

# Keeps all CPUs busy, at the lowest priority.
start_burners() {
    burners=()
    for _ in $(seq "$(nproc)"); do
        spin nice -n 19
        burners+=($!)
    done
}

# The repetition of run e fails, which does not replace its result.
disturbed_runs_are_reported_and_repeated() { # case
    begin
    start_burners
    cat >plan <<'END'
run a takes 1s keep
main -- sh -c 'test -e {out}/x || { touch {out}/x; echo x >>tries; }; sleep 0.5'
run e takes 1s
main -- sh -c 'sleep 0.5; echo e >>tries; [ $(grep -c e tries) = 1 ] || exit 3; echo measured'
END
    expect 0 ssbatch --others 1% --retry-disturbed --retries 2 study plan
    says err "a: warning: other processes used"
    says err 'e: failed: '
    says err 'e: keeping the result of the previous attempt'
    printf 'run %s takes 1s\nmain -- sleep 0.3\n' b c d >plan.more
    expect 0 ssbatch --quiet --others 1% many plan.more
    kill "${burners[@]}"
    says err "b: warning: other processes used"
    ! grep -qE '(c|d): warning' err || fail "each run is named: $(<err)"
    says err "ssbatch: warning: in 3 runs, other processes used more than 1 % of the machine"
    [ "$(grep -c x tries)" -eq 3 ] || fail "run a: $(cat tries)"
    grep -q '"status": "done"' study/e/run.json || fail "$(cat study/e/run.json)"
    grep -rqx measured study/e || fail "the earlier result is lost: $(ls study/e)"
    [ ! -e study/.e ] || fail "the failed attempt is left"
}

runs_wait_until_the_machine_is_quiet() { # case
    local pid
    begin
    start_burners
    echo "run a takes 1s
        main -- sh -c 'echo x >>tries; sleep 0.5'" >plan
    ssbatch --quiet-below 1% study plan 2>err &
    pid=$!
    await grep -qs 'waiting until other processes' err
    kill "$pid"
    wait "$pid" && fail "the signal had no effect"
    [ ! -e tries ] || fail "the run did not wait"
    expect 0 ssbatch --quiet-below 100% --others 1% --retries 2 study plan
    kill "${burners[@]}"
    is tries "$(printf 'x\nx\nx')"
    says study/a/run.json '"waited": 0'
}

# others_exclude SECONDS: fails unless this CPU time of the run is subtracted from that of other processes, which keep
# all CPUs busy.
others_exclude() {
    python3 - "$(nproc)" "$1" <<'END'
import json, sys
run = json.load(open("study/a/run.json"))
most = 1 - float(sys.argv[2]) / (int(sys.argv[1]) * run["seconds"])
assert 0 < run["others"] <= most, (run["others"], most)
END
}

cpu_time_of_a_run_and_its_study_does_not_disturb_it() { # case
    begin
    start_burners
    # The CPU time of a daemon counts as that of its run.
    cat >burn <<'END'
import os, sys, time
if os.fork():
    os._exit(0)
while time.process_time() < 1:
    pass
open(sys.argv[1], "w")
END
    cat >plan <<'END'
beside -- sh -c 'until [ -e go ]; do sleep 0.02; done; python3 burn spent; exec sleep 1000'
run a takes 1s
main -- sh -c 'touch go; python3 burn spent2; until [ -e spent ] && [ -e spent2 ]; do sleep 0.02; done'
END
    expect 0 ssbatch study plan
    kill "${burners[@]}"
    others_exclude 1.8
}

concurrent_calls_share_the_runs() { # case
    local seed pids=()
    begin
    for i in $(seq 30); do
        printf '%s\n' "run r$i takes 1s" "main -- sh -c 'echo {run} >>log; sleep 0.02'"
    done >plan
    for seed in 1 2 3 4; do
        timeout "$patience" ssbatch -q --shuffle "$seed" study plan 2>"messages$seed" &
        pids+=($!)
    done
    wait "${pids[@]}" || fail "a call failed: $(cat messages*)"
    [ "$(sort log | uniq -c | sort -u -k 1,1 | awk '{ print $1 }')" = 1 ] ||
        fail "some runs were carried out several times: $(sort log | uniq -c)"
    expect 0 ssbatch --list study
    says out "30 done, 0 failed, 0 skipped, 0 to come"
}

# Run c needs a, which the other call carries out.
needed_runs_may_be_carried_out_by_another_call() { # case
    local other
    begin
    cat >plan <<'END'
run a takes 1s
main -- sh -c 'touch a; until [ -e b ]; do sleep 0.02; done'
run b takes 1s
main -- sh -c 'touch b; until [ -e over ]; do sleep 0.02; done'
run c takes 1s needs=a
main -- true
END
    { timeout "$patience" ssbatch study plan 2>messages && touch over; } &
    other=$!
    await test -e a
    expect 0 ssbatch study plan
    wait "$other" || fail "the other call failed: $(cat messages)"
    says err "a: it is being carried out on "
    says err "2 of 3 runs done, 1 carried out by other calls"
    expect 0 ssbatch --list study
    says out "3 done, 0 failed, 0 skipped, 0 to come"
}

values_are_computed_once_and_needed_runs_come_first() { # case
    begin
    cat >plan <<'END'
once base match='^base (.*)$' -- sh -c 'echo x >>calls; echo base 17'
run a takes 1s
main -- sh -c 'echo a {base} >>log'
run b takes 1s needs=a,base
main -- sh -c 'echo b >>log'
skip c reason='no network' size=9
END
    # In any order, b comes after a.
    for seed in 1 2 3 4; do
        rm -f log
        expect 0 ssbatch --shuffle "$seed" "study$seed" plan
        says err "run 2 of 2, b;"
        says err "2 of 2 runs done, 1 skipped"
        is log "$(printf 'a 17\nb')"
    done
    rm calls
    printf '%s\n' 'run d takes 1s' "main -- sh -c 'echo d {base} >>log'" | cat plan - >added
    expect 0 ssbatch study1 added
    says err "3 of 3 runs done, 1 skipped"
    [ ! -e calls ] || fail "the value was found twice"
    is log "$(printf 'a 17\nb\nd 17')"
    says study1/c/run.json '"status": "skipped",'
    says study1/c/run.json '"reason": "no network",'
    # A run is skipped if a run that it needs has failed.
    sed 's/echo a {base} >>log/exit 4/' plan >failing
    expect 1 ssbatch --go-on study5 failing
    says err "b: not started: needs a, which is not done"
}

values_are_found_again_if_the_study_changes_before_a_run_is_done() { # case
    begin
    printf '%s\n' "once v match='(.)' -- echo 1" 'run a takes 1s' "main -- sh -c 'echo {v} >>log; [ -e fixed ]'" >plan
    expect 1 ssbatch study plan
    sed 's/echo 1/echo 2/' plan >other
    touch fixed
    expect 0 ssbatch study other
    is log "$(printf '1\n2')"
}

the_lines_of_a_study_are_fixed_once_a_run_is_done() { # case
    local differ="the lines above the first run differ from those with which run" changed option
    begin
    cat >plan <<'END'
once v match='(.)' -- echo 1
beside -- sleep 1000
run a takes 1s
main -- true
run b takes 1s
main -- sh -c 'echo {v} >>log; [ -e fixed ]'
END
    expect 1 ssbatch study plan
    is log 1
    touch fixed
    sed 's/sleep 1000/sleep 2000/' plan >beside
    sed 's/echo 1/echo 2/' plan >value
    sed '/^beside/d' plan >less
    { echo 'before -- true' && cat plan; } >longer
    for changed in beside value less longer; do
        for option in '' --dry-run --add; do
            # shellcheck disable=SC2086 # no word if empty
            expect 125 ssbatch $option study "$changed"
            says err "$differ a of this study was carried out"
        done
    done
    printf '%s\n' 'beside -- sleep 2000' 'run c takes 1s' 'main -- true' >further
    expect 125 ssbatch study further
    says err "$differ a of this study was planned"
    is log 1
    # Values may be added and left out.
    printf '%s\n' "once w match='(.)' -- echo 3" 'beside -- sleep 1000' 'run c takes 1s' "main -- sh -c 'echo {w} >>log'" >further
    expect 0 ssbatch --dry-run study further
    expect 0 ssbatch study further
    expect 0 ssbatch study plan
    is log "$(printf '1\n3\n1')"
    # A plan of further runs needs none of the lines.
    printf '%s\n' 'run d takes 1s' "main -- sh -c 'echo {v} >>log'" >further
    expect 0 ssbatch study further
    is log "$(printf '1\n3\n1\n1')"
    # With --redo, no run depends on the earlier lines any more.
    { cat value further && printf '%s\n' 'run c takes 1s' 'main -- true'; } >all
    expect 125 ssbatch --redo a,b,d study all
    says err "$differ c of this study was carried out"
    expect 0 ssbatch --redo a,b,c,d study all
    is log "$(printf '1\n3\n1\n1\n2\n2')"
}

study_commands_begin_before_and_end_after_all_runs() { # case
    begin
    cat >plan <<'END'
before -- sh -c 'echo before >>log'
beside srv ready=up -- sh -c 'trap "echo ended >>log; exit" TERM; echo up; while :; do sleep 0.02; done'
after -- sh -c 'echo after >>log'
run a takes 1s
main -- sh -c 'kill -0 {srv.pid} && echo a >>log'
run b takes 1s
main -- sh -c 'kill -0 {srv.pid} && echo b >>log'
END
    expect 0 ssbatch study plan
    is log "$(printf 'before\na\nb\nended\nafter')"
    expect 0 ssbatch study plan
    is log "$(printf 'before\na\nb\nended\nafter')"
}

# The first call would have to prepare the `after` before it finds the value.
values_in_afters_above_the_first_run_are_refused() { # case
    local option
    begin
    printf '%s\n' "once base match='^([0-9]+)' -- echo 17" "after -- sh -c 'echo {base} >>log'" \
        'run a takes 1s' 'main -- true' >plan
    sed 's/{base}/{{base}/' plan >literal
    for option in --dry-run --add --quiet; do
        expect 125 ssbatch "$option" study plan
        says err 'ssbatch: line 2 of the plan: an '
        says err 'above the first run cannot use {base}, because it may run before that value is found'
        [ ! -e study ] || fail "$option: a study was made"
    done
    expect 0 ssbatch study literal
    is log '{base}'
    # A study that an earlier version began with such a line continues.
    cp plan study/.study/plan
    rm log
    expect 0 ssbatch --redo a study plan
    expect 0 ssbatch --redo a --only a study
    is log "$(printf '17\n17')"
}

# The user must know that something may still run.
a_failed_after_of_the_study_is_reported_with_another_error() { # case
    local text='ssbatch: the study: warning: cannot undo it: after ended with status 3: no bridge; the next call'
    begin
    printf '%s\n' 'before -- sh -c "[ -e fixed ] || exit 2"' 'after -- sh -c "echo no bridge >&2; exit 3"' \
        'run a takes 1s' "main -- rm -r {out}" >plan
    expect 125 ssbatch study plan
    says err 'ssbatch: before ended with status 2'
    says err "$text"
    touch fixed
    expect 125 ssbatch study plan
    says err 'ssbatch: a: '
    says err "$text"
    sed 's/rm -r {out}/true/' plan >other
    expect 125 ssbatch other-study other
    says err 'ssbatch: after ended with status 3: no bridge'
    [ "$(grep -c bridge err)" -eq 1 ] || fail "reported twice: $(cat err)"
}

a_run_that_cannot_be_undone_blocks_no_other_run() { # case
    begin
    cat >plan <<'END'
run a takes 1s
main -- true
after -- sh -c '[ -e fixed ]'
run b takes 1s
main -- true
END
    expect 1 ssbatch --go-on study plan
    says err "a: failed: after ended with status 1"
    expect 125 ssbatch --clean study
    says err "a: 'sh' ended with status 1"
    expect 1 ssbatch --go-on study plan
    says err "a: failed: cannot undo what an earlier call left"
    touch fixed
    expect 0 ssbatch study plan
    says err "2 of 2 runs done"
}

runs_whose_record_has_no_figures_fail() { # case
    begin
    cat >plan <<'END'
run none takes 1s
main -- showstopper -n 1 -l 50% --duration 1s --warmup 10s true
run short takes 9s
main -- showstopper -n 1 -f realtime -c fixed -C duty=100% -t staircase -T levels=80%:40%:40%,hold=9s sleep 1
run unmatched takes 1s
main -- showstopper -n 1 -l 100% -f realtime -c fixed -C duty=100% --duration 5s --iteration '^nothing$' sh -c 'while :; do seq 20; sleep 0.05; done'
run long takes 1s
main -- showstopper -n 1 -l 100% -f realtime -c fixed -C duty=100% --duration 5s --iteration '^end$' sh -c 'echo heading; sleep 99; echo end'
run good takes 1s
main -- showstopper -n 1 -l 100% -f realtime -c fixed -C duty=100% --duration 5s --iteration '^x$' sh -c 'while :; do echo x; sleep 0.01; done'
run deserted takes 1000s
main front -- env LANG=C showstopper --record {record} -n 1 -l 100% -f realtime -c fixed -C duty=100% --duration 1000s sleep 5
main back -- showstopper -n 1 -f realtime -c fixed -C duty=100% -t staircase -T levels=80%:40%:40%,hold=500s sleep 2000
END
    expect 1 ssbatch --go-on study plan
    says err "none: failed: record: nothing was counted: the command ended by itself; --repeat starts it again"
    says err "short: failed: record: the trace was not followed to its end: the command ended by itself"
    says err "unmatched: failed: record: no line of output matched --iteration ("
    [ -e study/good/record/summary.json ] || fail "the record of showstopper is missing"
    [ -e study/long/record/summary.json ] || fail "an iteration longer than the run is a failure"
    # Both sides of a run with a trace must last until its end. If one ends early, the other is not waited for.
    says err "deserted: failed: front: it ended before the trace of the run did: the command ended by itself"
    expect 1 ssbatch --list study
    says out "4 failed"
    # Attached processes are not restarted.
    sh -c 'until [ "$(tail -n +2 study/.gone.part/result/record/samples.csv 2>/dev/null | wc -l)" -gt 2 ]; do
        sleep 0.1
    done' &
    printf '%s\n' 'run gone takes 999s' \
        "main -- showstopper --attach $! -f own -c fixed -C duty=100% -t staircase -T levels=80%:40%:40%,hold=500s" >plan
    expect 1 ssbatch study plan
    says err "gone: failed: record: the trace was not followed to its end: the attached processes ended by themselves"
    wait "$!"
}

# In a PID namespace whose /proc is that of another one, pids are those of other processes.
calls_that_see_the_proc_of_another_namespace_are_refused() { # case
    local options=-pf words
    [ "$(id -u)" -eq 0 ] || options=-rpf
    unshare "$options" true 2>/dev/null || skip "namespaces: cannot create a PID namespace"
    begin
    printf '%s\n' 'run a takes 1s' 'main -- touch begun' >plan
    mkdir study
    while read -r words; do
        is_built "${words%% *}" || continue
        # shellcheck disable=SC2086 # several words; the leak check finds its own threads in /proc
        expect 125 env ASAN_OPTIONS=detect_leaks=0 unshare "$options" $words
        says err "/proc belongs to another PID namespace"
    done <<'END'
ssbatch study plan
ssbatch --clean study
ssactuate run pin=free -- touch begun
ssactuate restore
END
    [ ! -e begun ] || fail "a command was carried out"
}

# tests/system/batch-chaos makes many rounds.
killed_studies_are_completed() { # case
    begin
    "$tests/batch-chaos" --rounds 4 --patience 20 "$build" >out 2>&1 || fail "$(cat out)"
    says out "4 rounds, 0 failures"
    case $(grep '^without containers: ' out) in
    '') ;;
    *' is not installed') skip_part "$(sed -n 's/^without containers: \(.*\) is not installed/\1: not installed/p' out)" ;;
    *) skip_part "$(sed -n 's/^without //p' out)" ;;
    esac
}

run_cases
