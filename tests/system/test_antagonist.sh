#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of sslab antagonist and ssantagonist.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
export PATH=$bin:$PATH

# start_sleeper: starts a process that is known as sleep, and sets `pid`.
start_sleeper() {
    start sleep 1000
    await grep -qx sleep "/proc/$pid/comm"
    await grep -q '^State:.S' "/proc/$pid/status" # its start uses CPU time
}

# start_parent [COMMAND]: starts a shell that waits for this command, by default sleep. Sets `pid`, and `child` to the
# command's pid.
start_parent() {
    rm -f child
    start sh -c "${1-sleep 1000} & echo \$! >child; wait"
    await test -s child
    child=$(<child)
    started+=("$child")
}

# start_worker COUNT: starts a process that counts to this number up to 100 times a second.
start_worker() {
    # shellcheck disable=SC2016 # for sh
    start sh -c 'while sleep 0.01; do i=0; while [ $i -lt "$0" ]; do i=$((i + 1)); done; done' "$1"
}

# serve_requests EXPRESSION: starts a server, and sets `url`. The expression of Python returns the
# status of an answer; it knows the `number` of the request, and the seconds that have `passed` since the first one.
serve_requests() {
    python3 - >port <<END &
import http.server, time
number, first = 0, None
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        global number, first
        number += 1
        first = first or time.monotonic()
        passed = time.monotonic() - first
        self.send_response($1)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
END
    await grep -q . port
    url=http://127.0.0.1:$(<port)/
}

# runs_on PID...: succeeds if all of these processes exist and none is stopped.
runs_on() {
    local pid
    for pid in "$@"; do
        grep -q '^State:.[^T]' "/proc/$pid/status" || fail "process $pid has ended, or is left stopped"
    done
}

# refuses MESSAGE OPTION...: fails unless these suspects are refused with this message; `plan` lets `suspects` check them.
refuses() {
    expect 125 ssantagonist suspects "${@:2}"
    says err "$1"
}

# write_napping NAME LINE...: creates a script that starts with these lines. Its function `nap` waits for 20 ms without
# starting a process, which on a busy machine may take longer than a slot.
write_napping() {
    # shellcheck disable=SC2016 # for the script
    write_program "$1" '#!/bin/bash' 'exec 9<> <(:)' 'nap() { read -rt 0.02 -u 9; }' "${@:2}"
}

simulated_studies_meet_the_required_error_rates() { # case
    need_built reports
    "$source/tests/bench/antagonist.sh" --build "$build" 20 >"$scratch/bars" || fail "$(cat "$scratch/bars")"
    [ "$(wc -l <"$scratch/bars")" -eq 12 ] || fail "not all bars: $(cat "$scratch/bars")"
}

suspects_that_must_not_be_stopped_are_refused() { # case
    local parent child service
    refuses 'process 1 (' --victim true --suspects 1
    refuses 'is ssantagonist itself, or one of its ancestors' --victim true --suspects $$
    refuses 'process 4194305 does not exist' --victim true --suspects 4194305
    start sleep 1000
    refuses 'is given twice' --victim true --suspects "$pid,$pid"
    refuses 'is a process of the victim' --victim true --victim-pid "$pid" --suspects "$pid"
    refuses '--suspects or --suspects-of is required' --victim true
    start_parent
    parent=$pid
    refuses "is an ancestor of suspect $child" --victim true --suspects "$parent,$child"
    refuses 'is an ancestor of the victim' --victim true --victim-pid "$child" --suspects "$parent"
    refuses 'is a descendant of the victim' --victim true --victim-pid "$parent" --suspects "$child"
    cp "$BASH" sshd # a copy of `sleep` may be a program that finds out by its name what to do
    mkfifo never
    start ./sshd -c 'read -r _ <>never'
    await grep -q sshd "/proc/$pid/comm"
    refuses 'is a system service' --victim true --suspects "$pid"
    service=$pid
    cp "$BASH" sshdrill # a name that only begins like that of a service
    start ./sshdrill -c 'read -r _ <>never'
    await grep -q sshdrill "/proc/$pid/comm"
    refuses "process $service (sshd)" --victim true --suspects "$pid,$service"
    start_parent './sshd -c "read -r _ <>never"'
    await grep -q sshd "/proc/$child/comm"
    refuses "process $pid (sh) must not be throttled: its descendant $child (sshd) is a system service" \
        --victim true --suspects "$pid"
    start sh -c 'exec sleep 1000 3>>log'
    await test -e log
    await test -e "/proc/$pid/fd/3"
    refuses 'is a process of the victim' --victim log --iteration x --suspects "$pid"
    if chrt -f 1 true 2>/dev/null; then
        start chrt -f 1 sleep 1000
        await grep -q sleep "/proc/$pid/comm"
        refuses 'has real-time priority' --victim true --suspects "$pid"
        start sh -c 'sh -c "chrt -f 1 sleep 1000 & echo \$! >urgent; wait" & echo $! >between; wait'
        parent=$pid
        await test -s between
        started+=("$(<between)")
        await test -s urgent
        child=$(<urgent)
        started+=("$child")
        await grep -q sleep "/proc/$child/comm"
        refuses "its descendant $child (sleep) has real-time priority" --victim true --suspects "$parent"
    fi
}

suspects_are_printed_with_their_start() { # case
    local started
    start_sleeper
    ssantagonist suspects --suspects "$pid" >out
    started=$(sed -n "s/^$pid,\([1-9][0-9]*\),sleep\$/\1/p" out)
    printf '%s\n' pid,started,name "$pid,$started,sleep" | cmp - out || fail "$(cat out)"
    ssantagonist suspects --victim true --suspects "$pid@$started" --names 'a\,b' >out 2>err
    { [ "$(tail -n 1 out)" = "$pid,$started,\"a,b\"" ] && [ ! -s err ]; } || fail "$(cat out err)"
    refuses 'another process has its pid' --victim true --suspects "$pid@1" --names x
}

# As in an installation without the component that has the Python package.
a_missing_python_package_is_reported_at_once() { # case
    mkdir -p lone/bin
    cp "$build"/bin/{showstopper,ssantagonist,ssbatch,ssrequest} lone/bin
    start sleep 1000
    expect 125 lone/bin/ssantagonist answer --victim true --suspects "$pid" study
    says err "/lone/libexec/showstopper/analysis is missing: install "
    expect 125 sslab antagonist --bin lone/bin --victim true --suspects "$pid"
    { [ "$(wc -l <err)" -eq 1 ] && grep -q ' is missing: install ' err; } || fail "$(cat err)"
    [ ! -e antagonist-results ] || fail "a folder was left"
}

# warns COUNT OPTION...: fails unless suspect `pid` is accepted, with this number of warnings that the victim's processes
# are unknown.
warns() {
    ssantagonist suspects --suspects "$pid" "${@:2}" >out 2>err || fail "${*:2}: $(cat err)"
    [ "$(grep -c '^ssantagonist: warning: the processes of the victim are unknown' err)" -eq "$1" ] ||
        fail "${*:2}: expected $1 warning: $(cat err)"
}

# A process whose children do not inherit its policy, which the kernel shows as a flag, has no real-time priority.
unknown_processes_of_the_victim_are_reported() { # case
    local bystander
    start sleep 1000
    bystander=$pid
    start chrt -R -o 0 sleep 1000
    await grep -q sleep "/proc/$pid/comm"
    warns 0 --victim true --victim-pid "$bystander"
    : >log
    warns 1 --victim log --iteration x
    # No process listens on a port of the victim.
    warns 1 --victim http://127.0.0.1:1/
}

suspects_of_a_group_are_its_topmost_processes() { # case
    local child
    start_parent
    mkdir group
    printf '%s\n' "$child" "$pid" >group/cgroup.procs
    ssantagonist suspects --suspects-of "../../..$scratch/group" >out
    grep -q "^$pid," out || fail "suspects: $(cat out)"
    ! grep -q "^$child," out || fail "a child is a suspect: $(cat out)"
    # Containers keep their processes in subgroups.
    mkdir -p group/container/empty
    : >group/container/empty/cgroup.procs
    printf '%s\n' "$child" >group/container/cgroup.procs
    : >group/cgroup.procs
    ssantagonist suspects --suspects-of "../../..$scratch/group" >out
    grep -q "^$child," out || fail "no process of the subgroup: $(cat out)"
    echo "$pid" >group/cgroup.procs
    ssantagonist suspects --suspects-of "../../..$scratch/group" >out
    grep -q "^$pid," out || fail "suspects: $(cat out)"
    ! grep -q "^$child," out || fail "a child in a subgroup is a suspect: $(cat out)"
    refuses 'cgroup.procs: No such file' --victim true --suspects-of no/group
}

the_server_of_the_victim_url_is_not_a_suspect() { # case
    need_built serve
    "$build/bin/ssburn" serve --listen 0 >server 2>&1 </dev/null &
    pid=$!
    started+=("$pid")
    await grep -q '^listening on ' server
    local url
    url=$(sed -n 's/^listening on //p' server)
    refuses 'is a process of the victim' --victim "$url" --suspects "$pid"
    mkdir run
    # On a busy machine, no answer may arrive in a whole slot.
    ssantagonist watch --victim "$url" --rate 40 --slots 2 --slot 5s run
    [ "$(wc -l <run/slots.csv)" -eq 3 ] || fail "slots: $(cat run/slots.csv)"
    awk -F, 'NR > 1 && $4 > 0 && $5 > 0 && $5 < 60 { found = 1 } END { exit !found }' run/slots.csv ||
        fail "no response time: $(cat run/slots.csv)"
}

# is_child PROGRAM PID: succeeds if this process has a child that runs this program, and writes its pid to `found`.
is_child() {
    ps -o pid=,comm= --ppid "$2" | awk -v program="$1" '$2 == program { print $1 }' >found
    [ -s found ]
}

the_generator_of_a_study_is_not_a_suspect() { # case
    "$build/bin/ssrequest" --help >/dev/null 2>&1 || skip "left-out: built without ssrequest"
    local watch
    mkdir run
    # No request succeeds, which is reported after the last slot.
    start ssantagonist watch --victim http://127.0.0.1:1/ --slots 12 --slot 100s run
    watch=$pid
    await is_child ssrequest "$watch"
    refuses "($(ps -o comm= -p "$(<found)")) must not be throttled: it measures a service" \
        --victim true --suspects "$(<found)"
    refuses '(ssantagonist) must not be throttled: it measures a service' --victim true --suspects "$watch"
}

# A refused connection must not count as a short response time.
failed_requests_have_no_response_time() { # case
    need_built ssrequest
    mkdir run
    expect 125 ssantagonist watch --victim http://127.0.0.1:1/ --rate 40 --slots 2 --slot 1s run
    says err 'no request to the victim succeeded'
    awk -F, 'NR > 1 && ($4 > 0 || $5 != "") { exit 1 }' run/slots.csv || fail "a figure: $(cat run/slots.csv)"
}

# An ssbatch that carries out nothing: each run is done, but has no results.
write_idle_ssbatch() {
    mkdir idle
    ln -s "$build/bin/showstopper" idle
    cat >idle/ssbatch <<'END'
#!/usr/bin/env python3
import json, os, shlex, sys
for words in map(shlex.split, sys.stdin):
    if words[0] == "run":
        folder = os.path.join(sys.argv[-1], words[1])
        os.makedirs(folder, exist_ok=True)
        columns = dict(word.split("=", 1) for word in words if "=" in word)
        with open(os.path.join(folder, "run.json"), "w") as file:
            json.dump({"status": "done", "columns": columns}, file)
END
    chmod +x idle/ssbatch
}

a_study_without_an_estimate_fails() { # case
    need_built reports
    write_idle_ssbatch
    start sleep 1000
    expect 1 sslab antagonist --bin "$PWD/idle" --victim true --suspects "$pid" --json answer.json
    [[ $(head -n 1 out) = 'The question is not answered: too few slots '* ]] || fail "$(cat out)"
    grep -q '^Results: ' err || fail "no results: $(cat err)"
    grep -q '"complete": false' answer.json || fail "$(cat answer.json)"
    cmp out antagonist-results/report.md
}

# reads CONDITION OPTION...: fails unless the second slot of a victim meets this condition of awk. On a busy machine no
# iteration may end in a short slot.
reads() {
    local slot
    for slot in 1s 5s 20s; do
        ! ssantagonist watch "${@:2}" --slots 2 --slot "$slot" run 2>err ||
            ! awk -F, "NR == 3 && $1 { found = 1 } END { exit !found }" run/slots.csv || return 0
    done
    fail "${*:2}: not $1: $(cat err run/slots.csv)"
}

# shellcheck disable=SC2016 # for awk
times_and_rates_of_iterations_are_read_from_a_log() { # case
    : >log
    write_napping writer 'while echo "took 250 ms" && echo other; do nap; done >>log'
    start ./writer
    mkdir run
    reads '$4 > 0 && $5 == 250' --victim log --iteration 'took ([0-9]+) ms'
    reads '$4 > 0 && $5 == 250' --victim log --iteration 'took ([0-9]+) ms|other'
    reads '$4 > 0 && $5 == 250' --victim log --iteration '(other|[0-9]+)( ms)?$'
    reads '$4 > 1 && $5 > 0 && $5 < 60' --victim log --iteration '^took'
}

# The only line comes before the first slot, unless the machine is busy.
victim_that_prints_too_early_is_reported() { # case
    local status=0 lead
    mkdir run
    for lead in 5 15 60; do
        status=0
        ssantagonist watch --victim "sh -c 'echo 5; exec sleep 1000'" --slots 2 --slot 0.1s \
            --start-at "@$(($(date +%s) + lead))" run 2>err || status=$?
        [ "$status" -eq 0 ] || break
    done
    [ "$status" -eq 125 ] || fail "status $status"
    says err 'no slot has a line of the victim with a number: use a longer --slot'
}

# One ignores SIGTERM, the other closes its output after the first slot, long before it exits.
# shellcheck disable=SC2016 # for sh
stubborn_victim_command_is_killed() { # case
    local victim
    mkdir run
    for victim in 'trap "" TERM; while :; do echo 1; sleep 0.01; done' \
        'until [ "$(wc -l <run/slots.csv)" -ge 2 ]; do echo 1; sleep 0.01; done; exec >&-; exec sleep 1000'; do
        timeout -s KILL "$patience" ssantagonist watch --victim "sh -c '$victim'" --slots 2 --slot 2s run 2>err ||
            fail "$victim: status $?: $(cat err)"
        [ "$(wc -l <run/slots.csv)" -eq 3 ] || fail "$victim: slots: $(cat run/slots.csv)"
    done
}

# With a slot of 30 s, the error must come before the slot ends: in a study, a slot lasts a minute.
victims_that_cannot_be_measured_are_reported() { # case
    local victim words slot message
    mkdir run
    while IFS='|' read -r victim words slot message <&3; do
        # shellcheck disable=SC2086 # several words
        expect 125 ssantagonist watch --victim "$victim" $words --slots 2 --slot "$slot" run
        says err "$message"
        [ "$slot" != 30s ] || [ "$(wc -l <run/slots.csv)" -eq 1 ] || fail "$victim: reported only after a slot"
    done 3<<'END'
false||10s|false ended with status 1
./nothing||0.2s|./nothing': No such file
./err||0.2s|a log requires --iteration
sleep 1000||0.2s|no line of the victim has a number
sh -c 'echo 7 ok 0 errors'||1s|the figure of the victim is 0 or negative in
sh -c 'echo -3.5'||1s| slots, but must be above 0, because effects are ratios: see --iteration
echo none||30s|no line of the victim
yes||30s|no line of the victim
echo 5|--iteration none|30s|too few lines of the victim match
END
}

# The first figure appears in the third launch, or after a long heading.
figures_that_appear_late_are_accepted() { # case
    local victim slot status
    mkdir run
    # shellcheck disable=SC2016 # for sh
    printf '%s\n' '#!/bin/sh' 'echo >>launches' 'count=0' 'while read -r _; do count=$((count + 1)); done <launches' \
        '[ "$count" -lt 3 ] || echo 7' >late
    chmod +x late
    write_napping heading 'for _ in {1..99}; do echo y; done' 'while :; do echo 7; nap; done'
    write_napping log 'for _ in {1..1000}; do echo 8; done' 'while :; do echo t7; nap; done'
    for victim in ./late ./heading 'bash ./log --iteration ^t([0-9])$'; do
        status=1
        # On a busy machine no line may come in a short slot.
        for slot in 1s 5s 20s; do
            rm -f launches
            # shellcheck disable=SC2086 # an option may follow
            ! ssantagonist watch --victim "${victim% --*}" ${victim#"${victim% --*}"} --slots 2 --slot "$slot" run 2>err ||
                { status=0 && break; }
        done
        [ "$status" -eq 0 ] || fail "$victim is refused: $(cat err)"
    done
}

# Each call prints one line besides a warning that the victim's processes are unknown.
invalid_options_are_refused_before_anything_starts() { # case
    need_built reports
    local words message
    start sleep 1000
    echo 'took 1 s' >log
    while IFS='|' read -r words message <&3; do
        eval "expect 125 sslab antagonist $words"
        says err "$message"
        [ "$(grep -vc '^ssantagonist: warning: the processes' err)" -eq 1 ] || fail "$words: $(cat err)"
        [ ! -e antagonist-results ] || fail "$words: a folder was left"
    done 3<<END
--victim /none.log --suspects $pid|sslab antagonist: --victim: /none.log: neither a URL nor a file
--victim ./log --suspects $pid|sslab antagonist: --victim: ./log: a log requires --iteration
--victim 'nobench 3' --suspects $pid|--victim: nobench 3: neither a URL nor a file, and nobench is not in PATH
--victim true --suspects $pid --json none/answer.json|--json: cannot write none/answer.json
--victim true --suspects $pid --json $PWD|sslab antagonist: --json: cannot write $PWD
--victim nobench --suspects $pid --json antagonist-results/answer.json|--victim: nobench: neither
--victim http://127.0.0.1:2/ --suspects sleep|--suspects: 'sleep' is not a whole number
--victim true --suspects $pid,$pid --dry-run|is given twice
END
}

codes_are_written_unless_they_are_invalid() { # case
    local shifts
    mkdir codes
    for shifts in x:0,3,6 5:0,y,6 5:0,-3,6 5:0,3,63 63:0,3,6 5:0,,6 '5:0,3,6,' 5:3,6 5; do
        expect 125 ssantagonist codes --shifts "$shifts" codes
        says err 'ssantagonist: --shifts: use START:SHIFT,... '
    done
    expect 125 ssantagonist codes --shifts 5:0,3,6 --slots 100 codes
    says err '--slots: use 63 or 126'
    expect 125 ssantagonist codes --shifts 5:0,3,6 --rows 5 --blocks 3 codes
    says err '--blocks: use 5 (all rows), or at most 2 (half of them)'
    [ -z "$(ls codes)" ] || fail "codes were written: $(ls codes)"
    ssantagonist codes --shifts 62:0,3,60 --slots 63 codes
    [ "$(wc -l <codes/codes.csv)" -eq 316 ] || fail "$(cat codes/codes.csv)"
    # The tests of the Python package check that these codes are balanced and hardly correlate.
    ssantagonist codes --shifts 62:0,3,60 --slots 126 --rows 1 --blocks 1 codes
    cmp codes/codes.csv "$source/tests/data/codes.csv"
}

# stops SUSPECT: prints the length of each of its stops, in rows, and whether one is in the first row of a slot.
stops() {
    awk -F, -v column="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i; next }
        $at { length_now++; if ($2 != slot) first = 1 } !$at && length_now { print length_now; length_now = 0 }
        { slot = $2 } END { if (first) print "first" }' codes/codes.csv | sort -u
}

# After each block, the suspect runs for a row, also across slots. If all rows have blocks, each is at most as long as
# the depth allows. The share of time that is withheld from a throttled suspect is the depth.
blocks_are_separate_and_at_different_places() { # case
    local places withheld
    mkdir codes
    ssantagonist codes --shifts 9:0,3,60 --slot 10s --rows 10 --blocks 2 codes
    [ "$(stops s1)" = 1 ] || fail "$(stops s1)"
    places=$(awk -F, 'NR > 1 && $3 { print $1 % 10 }' codes/codes.csv | sort -u | tr '\n' ' ')
    [ "$places" = '1 2 3 4 5 6 7 8 9 ' ] || fail "places: $places"
    [ "$(awk -F, '$3 == 1 && $4 == 1 { both++ } $3 == 1 && $4 == 0 { one++ } END { print (both < one) }' \
        codes/codes.csv)" = 1 ] || fail "blocks of two suspects coincide"
    withheld=$(awk 'BEGIN { low = 1 } { sub("s", "", $1); if (!low) sum += $1 - time; time = $1; low = $2 }
        END { print sum / 1260 }' codes/s1.trace)
    [ "$withheld" = 0.1 ] || fail "withheld of all time, of which half is throttled by 20 %: $withheld"
    ssantagonist codes --shifts 9:0,3,60 --slot 10s --rows 10 --blocks 10 --depth 80% codes
    [ "$(awk 'BEGIN { low = 1 } { sub("s", "", $1); if (!low && $1 - time > 0.8001) long++; time = $1; low = $2 }
        END { print long + 0 }' codes/s1.trace)" = 0 ] || fail "a block is longer than 0.8 s"
}

a_study_reports_whether_suspects_slow_the_victim() { # case
    need_built reports
    write_program bench '#!/bin/sh' 'sleep 0.02' 'echo "rate 100.$$"'
    start_sleeper
    local one=$pid slot status
    ! sslab antagonist --victim http://127.0.0.1:2/ --suspects "$one" >out 2>err || fail "a dead URL is accepted"
    grep -q '^sslab antagonist: --victim: http://127.0.0.1:2/: requests fail; to see why, run: ssrequest ' err || fail "$(cat err)"
    [ ! -e antagonist-results ] || fail "a folder was left"
    sslab antagonist --victim ./bench --suspects "$one" --slot 200m --plan >plan
    grep -q '^run look takes ' plan || fail "plan: $(cat plan)"
    ! grep -q '^run together' plan || fail "plan of runs that depend on results: $(cat plan)"
    start_worker 5000
    # On a busy machine, figures of short slots vary too much.
    for slot in 200m 1s 5s; do
        status=0
        rm -rf antagonist-results
        sslab antagonist --victim ./bench --suspects "$one,$pid" --slot "$slot" \
            --json answer.json >out 2>err || status=$?
        grep -q 'varies by .* use --slot' err || break
    done
    # On such a machine, the second suspect may also catch up, and then there is no answer.
    local complete=true wanted=0
    ! grep -q '^The question is not answered: no suspect could be tested' out || { complete=false && wanted=1; }
    [ "$status" -eq "$wanted" ] || fail "status $status: $(cat out err)"
    grep -q "\"complete\": $complete" answer.json || fail "expected $complete: $(cat answer.json)"
    runs_on "$one" "$pid"
    kill "$one" "$pid"
    wait "$one" "$pid" || true
    grep -q ' min. In 9 of 10 cases, it finds suspects that cost ' err || fail "no forecast: $(cat err)"
    [ "$(grep -c "^pid \($one\|$pid\) (" out)" -eq 2 ] || fail "answer: $(cat out)"
    grep -q '^pid .*(sleep): not testable' out || fail "an idle suspect was tested: $(cat out)"
    grep -q '"verdict": "not testable"' answer.json || fail "$(cat answer.json)"
    grep -q '^  "schema": 1,$' answer.json || fail "$(cat answer.json)"
    grep -q '<title>Who is hurting me?</title>' antagonist-results/report/report.html || fail "no page"
    # The repeated call has nothing left to do, and its suspects need not exist.
    sslab antagonist --victim ./bench --suspects "$one,$pid" --slot "$slot" >again 2>err ||
        [ $? -eq "$status" ] || fail "$(cat err)"
    cmp out again || fail "the answer differs"
    ! grep -q 'run 1 of' err || fail "the study ran again: $(cat err)"
}

# The figure is nearly 0 while the first suspect is stopped, and the other one has no effect. With this seed, the other one
# runs in the first slot in which the first one is throttled.
a_suspect_whose_blocks_lose_30_percent_is_set_aside() { # case
    need_built reports
    local needed status slot
    start_worker 2000
    needed=$pid
    start_sleeper
    # shellcheck disable=SC2016 # for the script
    write_napping bench "while :; do nap; read -r _ _ state _ </proc/$needed/stat" \
        '[ "$state" = T ] && echo 1 || echo 100; done'
    for slot in 600m 2s; do
        status=0
        rm -rf antagonist-results
        sslab antagonist --victim ./bench --suspects "$needed,$pid" \
            --depth 50% --slot "$slot" --seed 44 >out 2>err || status=$?
        grep -q 'varies by .* use --slot' err || break
    done
    [ "$status" -eq 0 ] || fail "status $status: $(cat out err)"
    grep -Eq "^pid $needed .*: the service depends on it: stopping it costs 30 % or more" out || fail "$(cat out)"
    grep -q "^s1,[0-9]" antagonist-results/together-1/aside.csv || fail "not set aside"
    [ "$(wc -l <antagonist-results/together-1/s1/samples.csv)" -lt \
        "$(wc -l <antagonist-results/together-1/s2/samples.csv)" ] || fail "it was throttled to the end"
    # The run continued to its end, without the first suspect.
    [ "$(wc -l <antagonist-results/together-1/slots.csv)" -gt 126 ] || fail "the run ended"
    runs_on "$needed" "$pid"
}

# loses SLOT VICTIM OPTION...: fails unless the suspect is set aside. The code throttles it in slots 5, 10 and 11.
loses() {
    local slot=$1
    shift
    rm -rf run
    mkdir run
    ssantagonist watch --victim "$@" --slots 12 --slot "$slot" --rows 1 --blocks 1 --shifts 0:0,3,6 run 2>err ||
        fail "$*: $(cat err)"
    says err 's1 is no longer throttled: the victim lost 30 % or more while it was stopped'
    grep -q '^s1,[0-9]*$' run/aside.csv || fail "$*: $(cat run/aside.csv run/slots.csv)"
    [ "$(wc -l <run/slots.csv)" -lt 13 ] || fail "the run continues without a suspect: $(cat run/slots.csv)"
}

# The victim falls silent or fails most requests before slot 10, or is slow in it.
a_victim_that_answers_too_little_has_lost() { # case
    local url
    # shellcheck disable=SC2016 # for sh
    write_napping fading 'while [ $SECONDS -lt "$2" ]; do nap; echo it 5; done' \
        '[ "$1" != silent ] || exec sleep 1000' 'while sleep 0.7; do echo it 5; done'
    loses 1s './fading silent 8'
    loses 2s './fading slow 21' --iteration it # SECONDS may be early by almost a second
    need_built ssrequest
    serve_requests '200 if number % 3 == 0 or number < 400 else 503'
    loses 1s "$url" --rate 50
}

# Requests that come within 1.5 s are all answered at the end of this time.
requests_count_in_the_slot_in_which_they_were_due() { # case
    need_built ssrequest
    local url
    serve_requests 'time.sleep(4.5 - passed if 3 <= passed < 4.5 else 0) or 200'
    mkdir run
    ssantagonist watch --victim "$url" --rate 50 --slots 7 --slot 1s --settle 0 run
    awk -F, 'NR > 1 && $4 > 85 { exit 1 }' run/slots.csv || fail "a slot has others' requests: $(cat run/slots.csv)"
    awk -F, 'NR > 1 && $5 > 0.4 { found = 1 } END { exit !found }' run/slots.csv || fail "$(cat run/slots.csv)"
}

# One request of ten takes 0.3 s.
the_figure_of_a_url_may_be_a_quantile() { # case
    need_built ssrequest
    local url
    serve_requests 'time.sleep(0 if number % 10 else 0.3) or 200'
    mkdir run
    ssantagonist watch --victim "$url" --rate 50 --slots 1 --slot 10s --figure p95 run
    awk -F, 'NR == 2 && $5 >= 0.3 { found = 1 } END { exit !found }' run/slots.csv || fail "p95: $(cat run/slots.csv)"
}

# In a PID namespace whose /proc is that of another one, pids are those of other processes.
suspects_in_the_proc_of_another_namespace_are_refused() { # case
    local options=-pf
    [ "$(id -u)" -eq 0 ] || options=-rpf
    unshare "$options" true 2>/dev/null || skip "namespaces: cannot create a PID namespace"
    # The leak check finds its own threads in /proc.
    expect 125 env ASAN_OPTIONS=detect_leaks=0 unshare "$options" ssantagonist suspects --suspects 1
    says err '/proc belongs to another PID namespace'
}

kills_leave_no_suspect_stopped() { # case
    need_built reports
    "$source/tests/bench/antagonist-kills.sh" "$build" 2 >kills 2>err || fail "$(cat kills err)"
    grep -qx '2 rounds: no suspect was left stopped' kills || fail "$(cat kills)"
}

run_cases
