#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the experiments in their shortest form and checks what they plan, run, store and leave behind; figures may have
# any value.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=experiments.sh
. "$here/experiments.sh"
need_built ssbatch

number='[-+]?[0-9]+(\.[0-9]+)?'

# If no run of a study is possible on this machine, the exit status is 1, even with --dry-run.
studies_without_a_possible_run_fail() { # case
    local option
    mkdir "$scratch/usual"
    ln -s /usr/bin/* /bin/* "$scratch/usual" 2>"$output" || true
    rm -f "$scratch/usual/cpulimit"
    for option in --dry-run --quick; do
        PATH=$scratch/usual refuses "sslab accuracy: no run is possible here" accuracy "$option" --methods cpulimit \
            --workloads serial
        [ "$status" -eq 1 ] || fail "status $status with $option"
        prints "skipped: method=cpulimit: cpulimit is not installed"
    done
    [ ! -e "$scratch/accuracy-results" ] || fail "a folder was created"
}

# test_lab_words.py and test_lab_options.py have the units of options.
dry_run_prints_the_plan_and_its_duration() { # case
    experiment accuracy --dry-run --methods default,nbench,cdc --workloads serial --targets 25%,1/2 --warmup 3m --settle 0
    prints "sslab accuracy: warning: --warmup: 3m is 3 milliseconds; .*"
    prints "serial-50-cdc-53m-1: 3 min 01 s"
    prints "to come: 24 min 08 s"
    [ ! -e "$scratch/accuracy-results" ] || fail "--dry-run created a folder"
    experiment interference --dry-run "${one_cpu[@]}" --workloads serial,parallel
    prints "sets-parallel-serial-1: 2 h 04 min"
    prints "to come: 8 h 16 min"
    experiment throughput --dry-run --stairs --methods default,nbench --workloads serial
    prints "skipped: method=nbench: it cannot follow stairs"
    prints "to come: 1 h 57 min"
    experiment replay --dry-run --workloads serial
    prints "serial-default-1_18-1: 4 min 31 s"
    # The load of one instance is unknown.
    experiment throughput --dry-run --methods nbench-fit --targets 50 --name nap -- sleep 1
    prints "nap-nbench-fit-50-1: 6 min 11 s"
}

quick_plans_take_less_than_five_minutes() { # case
    local name
    for name in accuracy throughput replay interference "throughput --instances 64" "accuracy --published" \
        "throughput --published" "replay --published" "interference --published"; do
        # Some machines do not report which CPUs share a core or a chip.
        # shellcheck disable=SC2086 # the words of a call
        if ! call $name --quick --dry-run; then
            prints "sslab interference: no run is possible here, for the reasons above"
            continue
        fi
        prints "([0-9]+ runs,|to come:) ([0-4] min [0-9]+ s|[0-9.]+ s)( to go)?"
    done
}

# Programs that a run starts have the run's folder in their environment.
nothing_runs() {
    local files
    files=$(grep -lsaz "^TMPDIR=$scratch/ram" /proc/[0-9]*/environ) || true
    # shellcheck disable=SC2086 # several
    [ -z "$files" ] || fail "leftover processes: $(cat ${files//environ/cmdline} 2>/dev/null | tr '\0' ' ')"
}

records() {
    compgen -G "$scratch/ram/*/result/record/samples.csv" >/dev/null
}

# second_run_begins PID: succeeds once the second run has begun; fails the test if the study has ended.
second_run_begins() {
    kill -0 "$1" 2>/dev/null || fail "the study ended before its second run"
    grep -q 'run 2 of 2' "$output" && records
}

tiny=(--methods cdc --taus 107m --workloads serial --catalogue idle.txt --targets '25,50' --warmup 0
    --settle 0 --seconds 2 --energy "echo 7.5")

an_interrupted_study_is_resumed() { # case
    local first=$scratch/accuracy-results/serial-25-cdc-107m-1 status=0 name study
    # A run at 50 % lasts 1000 s while the file `slow` exists.
    touch "$scratch/slow"
    replace_program showstopper <<END
#!/usr/bin/env bash
words=("\$@")
[[ ! -e '$scratch/slow' || " \$* " != *" -l "@(50%|0.5)" "* ]] || for number in "\${!words[@]}"; do
    [ "\${words[number]}" != --duration ] || words[number + 1]=1000s
done
exec '$bin/showstopper' "\${words[@]}"
END
    : >"$output"
    set -m # a background process without a job of its own may ignore SIGINT
    (cd "$scratch" && exec env --default-signal=INT "$bin/sslab" accuracy "${options[@]}" "${tiny[@]}") >>"$output" 2>&1 &
    study=$!
    set +m
    await second_run_begins "$study"
    prints "--dry-run lists the runs\. For a shorter study, use --quick, fewer .*"
    output=$scratch/second call accuracy "${tiny[@]}" || fail "a second call: status $?"
    says "$scratch/second" "ssbatch: serial-50-cdc-107m-1: it is being carried out on "
    rm "$scratch/slow"
    kill -INT "$study"
    wait "$study" || status=$?
    [ "$status" -eq 130 ] || fail "interrupted: status $status"
    prints "sslab accuracy: interrupted; .*"
    nothing_runs
    nothing_is_left
    [ "$(listed accuracy-results status)" = "done to come" ] || fail "interrupted: wrong completed runs"

    touch -d '2001-01-01' "$first/record/summary.json"
    experiment accuracy "${tiny[@]}"
    ! grep -q 'ssbatch: run .*, serial-25-' "$output" || fail "a completed run was repeated"
    prints 'ssbatch: run 1 of 1, serial-50-cdc-107m-1; about .* left'
    [ "$(stat -c %y "$first/record/summary.json" | cut -c 1-4)" = 2001 ] || fail "the first run was replaced"
    [ "$(listed accuracy-results status)" = "done done" ] || fail "wrong status"
    [ "$(listed accuracy-results target)" = "0.25 0.5" ] || fail "wrong target"
    for name in $(listed accuracy-results run); do
        [ -s "$scratch/accuracy-results/$name/record/summary.json" ] || fail "no summary in $name"
        # On a busy machine, no sample of the power may fall into the run.
        awk -F, 'NR > 1 && ($3 != 7.5 || $1 !~ /^20.*Z$/) { exit bad = 1 } END { exit bad || NR == 0 }' \
            "$scratch/accuracy-results/$name/energy.csv" || fail "$name: wrong power"
    done
    experiment accuracy "${tiny[@]}" --quiet-below 100 --retries 1
    ! grep -q '^ssbatch: run ' "$output" || fail "a completed study started a run"
    refuses "the lines above the first run differ from those with which run serial-25-cdc-107m-1 " \
        accuracy "${tiny[@]}" --seconds 1
    refuses "its columns or commands differ in this plan; use ssbatch --redo " accuracy "${tiny[@]}" --energy "echo 8"
}

# The signal arrives in the middle of a long run.
a_terminated_study_leaves_no_process() { # case
    (cd "$scratch" && exec "$bin/sslab" accuracy "${options[@]}" --methods cdc --targets 50 --workloads serial \
        --catalogue idle.txt --seconds 300) \
        >"$output" 2>&1 &
    await records
    kill $!
    timeout "$patience" tail --pid $! -f /dev/null || fail "the study does not end"
    nothing_runs
    nothing_is_left
}

# list_open STUDY: prints the control groups of a study, whose names are the places of its runs.
list_open() {
    local key value
    while read -r key value; do
        [ "$key" != place ] || find /sys/fs/cgroup -name "showstopper-$value.*" 2>/dev/null
    done <"$scratch/$1/.study/values" || true
}

other_load_limiters_are_measured() { # case
    local method many rate
    experiment accuracy --methods nbench,quota,cpulimit,default --workloads serial --targets 80 \
        --warmup 0 --settle 0 --seconds 2 --output others
    many=$(awk -v cpus="$(nproc)" 'BEGIN { many = int(0.8 * cpus + 0.5); print (many > 1 ? many : 1) }')
    [[ " $(paste -d : <(listed others method | tr ' ' '\n') <(listed others instances | tr ' ' '\n') | paste -sd ' ') " = \
        *" nbench:$many "* ]] || fail "wrong number of instances for 80 %: $(listed others instances)"
    [ -z "$(list_open others)" ] || fail "leftover control group: $(list_open others)"
    for method in quota=env/group cpulimit=cpulimit; do
        [ ! -d "$scratch/others/serial-80-${method%=*}-own-1" ] ||
            grep -q "${method#*=}" "$scratch/others/serial-80-${method%=*}-own-1/record/plan.json" ||
            fail "the load is not held by ${method%=*}"
    done
    # An iteration uses 0.1 s of CPU time, so the used time is known whatever other processes do.
    for method in quota cpulimit; do
        rate=$(sed -n 's/^ *"iterations_per_second": \([0-9.]*\).*/\1/p' \
            "$scratch/others/serial-80-$method-own-1/record/summary.json" 2>/dev/null) || continue
        awk -v rate="$rate" -v cpus="$(nproc)" 'BEGIN { exit rate * 0.1 / cpus > 0.92 }' ||
            fail "the load was not held by $method: $rate iterations per second"
    done
}

# A failed run is reported with its output and ends the study, unless --go-on is given.
failed_runs_are_reported() { # case
    local call=(throughput --methods 1cdc --targets '40,60' --seconds 60 --warmup 0 --settle 0
        --output failed --name broken)
    local throw='echo out; echo "Exception, of main" >&2; echo "    at here" >&2; exit 9'
    refuses "--go-on also tries the runs that were not started" "${call[@]}" -- sh -c "$throw"
    [ "$status" -eq 1 ] || fail "a failed run: status $status"
    prints "ssbatch: broken-1cdc-n1-40-1: failed: main ended with status 9"
    ! grep -q 'run 2 of 2' "$output" || fail "the second run was started"
    [ "$(listed failed status)" = "failed to come" ] || fail "wrong status: $(listed failed status)"
    [[ $(listed failed reason) = "main ended with status 9"* ]] || fail "wrong reason: $(listed failed reason)"
    [ "$(cat "$scratch/failed/broken-1cdc-n1-40-1/output/0.out")" = out ] || fail "wrong output of the failed run"
    grep -q '^Exception, of main' "$scratch/failed/broken-1cdc-n1-40-1/output/0.err" || fail "wrong errors of the failed run"
    refuses "some runs failed" "${call[@]}" --go-on -- sh -c "$throw"
    [ "$(listed failed status)" = "failed failed" ] || fail "expected two failures: $(listed failed status)"
    printf '#!/nosuch/interpreter\n' >"$scratch/lost"
    chmod +x "$scratch/lost"
    refuses "interpreter /nosuch/interpreter does not exist" "${call[@]}" -- ./lost
    prints "ssbatch: broken-1cdc-n1-40-1: failed: main ended with status 12[67].*"
    # The failure of one of two instances is enough.
    refuses "failed: main ended with status 9" throughput --methods nbench --targets 100 --instances 2 --seconds 90 \
        --warmup 0 --settle 0 --output one-of-two --name broken -- sh -c '[ % = 0 ] || exit 9; exec sleep 99'
    # The corrected call does not use results of the failed one.
    experiment "${call[@]}" --seconds 5 --iteration '^turn$' -- sh -c 'echo well >&2; while sleep 0.1; do echo turn; done'
    [ "$(listed failed status)" = "done done" ] || fail "the repeated runs are not done: $(listed failed status)"
    [ ! -e "$scratch/failed/broken-1cdc-n1-40-1/output/0.out" ] ||
        [ "$(cat "$scratch/failed/broken-1cdc-n1-40-1/output/0.out")" != out ] || fail "the earlier failure was kept"
    [ "$(cat "$scratch/failed/broken-1cdc-n1-40-1/output/0.err")" = well ] || fail "wrong output of the repeated run"
}

# finite_run RUN REASON NAME OPTION...: fails unless the run failed because its command ended by itself.
finite_run() {
    refuses "$1: failed: record: $2" "$3" --output finite "${@:4}"
    grep -q -- "; --repeat starts it again" "$output" || fail "$1: the message suggests no remedy"
    [ "$(listed finite status)" = failed ] || fail "$1: wrong status: $(listed finite status)"
    [[ $(listed finite reason) = "record: $2"* ]] || fail "$1: wrong reason: $(listed finite reason)"
    nothing_is_left
    rm -rf "$scratch/finite"
}

# has_iterations STUDY OPTION...: fails unless the runs count iterations. On a busy machine, none may end in the first of
# these times.
has_iterations() {
    local seconds
    for seconds in 2 20 100; do
        rm -rf "${scratch:?}/$1"
        experiment throughput --methods nbench --targets 1% --warmup 0 --settle 0 --seconds "$seconds" --output "$@"
        ! grep -q '"iterations": [1-9]' "$scratch/$1/"*/record/summary.json || return 0
    done
    fail "$*: no iteration ended"
}

# measures STUDY NAME OPTION...: carries out an experiment in which each run must have a throughput. On a busy machine, a
# short run may have none.
measures() {
    local seconds
    for seconds in 4 20 60; do
        rm -rf "${scratch:?}/$1"
        call "${@:2}" --warmup 0 --settle 0 --seconds "$seconds" --output "$1" ||
            grep -q 'no iteration of any run could be timed' "$output" || fail "$*: status $?"
        grep -Eq '"iterations(_per_second)?": (0|null),' "$scratch/$1/"*/record/summary.json || break
    done
    nothing_is_left
}

# If commands exit early, only what was measured is reported.
commands_that_end_by_themselves_are_reported() { # case
    local by_itself="the command ended by itself" lines=(--iteration '^turn$')
    printf '0 50%%\n10s 50%%\n' >"$scratch/trace.txt"
    printf '[again]\ncommand = sleep 0.2\nrepeat = yes\n' >"$scratch/short.txt"
    finite_run true-1cdc-n1-50-1 "nothing was counted: $by_itself" throughput --methods 1cdc \
        --targets 50 --warmup 60 --settle 0 --seconds 99 "${lines[@]}" -- true
    finite_run sleep-cdc-1_1-1 "the trace was not followed to its end: $by_itself" replay --methods cdc --warmup 0 --scales 1/1 \
        --trace "$scratch/trace.txt" "${lines[@]}" -- sleep 1
    finite_run sleep-1cdc-n1-stairs-1 "the trace was not followed to its end: $by_itself" throughput --stairs \
        --methods 1cdc --levels 80:40:40 --hold 99 --edge 0 --warmup 0 "${lines[@]}" -- sleep 1
    # A failed side ends the run, and the other side is not waited for.
    refuses "$by_itself; --repeat starts it again" interference "${one_cpu[@]}" \
        --levels 40:20:20 --hold 999 --edge 0 --warmup 0 --launch 8 --background serial --output pair "${lines[@]}" -- sleep 0.2
    grep -q '^ssbatch: sets-sleep-serial-1: failed: foreground: ' "$output" || fail "the foreground has not failed"
    [ "$(listed pair status)" = "failed failed" ] || fail "wrong status of both sides: $(listed pair status)"
    # A load that was held for a part of the time is a result.
    experiment accuracy --methods nbench --targets 1% --warmup 0 --settle 0 --seconds 99 --output shorter "${lines[@]}" \
        -- sleep 2
    [ "$(listed shorter status)" = "done" ] || fail "the run is not done"
    # Without --iteration, each exit of the command counts as an iteration, in the catalogue and on the command line.
    has_iterations again --catalogue short.txt --workload again
    has_iterations ends -- sleep 0.2
    prints "sleep: each end of the command is an iteration; --iteration counts lines of its output"
}

a_study_that_measured_nothing_fails() { # case
    with_reports
    local short=(--warmup 0 --settle 0 --seconds 1) why="no iteration of any run could be timed, so there is no throughput"
    # The rate of a command that is longer than its run is unknown.
    refuses "sslab throughput: $why" throughput --methods nbench --targets 1% "${short[@]}" -- sleep 99
    [ ! -s "$scratch/throughput-results/throughput.csv" ] || fail "the unknown rate has a figure"
    refuses "sslab interference: $why" interference "${one_cpu[@]}" \
        --levels 40:40:40 --hold 2 --edge 0 --warmup 0 --launch 8 --background serial --background-method cdc -- sleep 99
    printf '[uncounted]\ncommand = sleep 99\nrepeat = no\n' >"$scratch/uncounted.txt"
    experiment throughput --methods nbench --targets 1% --dry-run --output uncounted --catalogue uncounted.txt \
        --workload uncounted
    prints "Warning: uncounted has no throughput: .*"
}

# Tables that cannot be written are named, and a call with enough room writes them.
tables_on_a_full_disk_are_reported() { # case
    with_reports
    have_full || return 0
    local file call=(accuracy --methods cdc --taus 107m --targets 50% --instances 1 --warmup 0 --settle 0 --seconds 1 -- sleep 9)
    experiment "${call[@]}"
    for file in table.csv report.md; do
        mv "$scratch/accuracy-results/$file" "$scratch"
        ln -s /dev/full "$scratch/accuracy-results/$file"
        refuses "sslab accuracy: cannot write $scratch/accuracy-results/$file: No space left on device; repeat the call to try again" \
            "${call[@]}"
        [ "$status" -eq 1 ] || fail "$file: status $status"
        rm "$scratch/accuracy-results/$file"
    done
    experiment "${call[@]}"
    for file in table.csv report.md; do
        cmp "$scratch/$file" "$scratch/accuracy-results/$file" || fail "$file is not written again"
    done
}

# The README's example, with a stand-in for a harness that prints recorded output of DaCapo, and two instances that
# cannot share a folder.
the_readme_example_of_a_study_runs() { # case
    local readme=$experiments/README.md line words record
    mkdir -p "$scratch/stub"
    # Lines before the beginning do not count, nor do iterations that end together after a silence.
    cat >"$scratch/stub/java" <<END
#!/bin/sh
mkdir "\$7/in use" && sleep 1 || exit
while IFS= read -r line; do
    printf '%s\n' "\$line" >&2
    case \$line in =*msec*) sleep 0.3 ;; esac
done <'$source/tests/data/experiments/dacapo.txt'
exec sleep 60
END
    chmod +x "$scratch/stub/java"
    line=$(sed -n '/--iteration/{ N; s/\\\n//; s/.*throughput //p; }' "$readme")
    eval "words=($line)"
    PATH=$scratch/stub:$PATH experiment throughput --methods cdc --targets 100 --instances 2 \
        --warmup 0 --settle 0 --seconds 6 --output example "${words[@]}"
    record=$scratch/example/h2-cdc-n2-100-1
    [ "$(awk -F, 'NR > 1 { count[$1]++ } END { print count[0], count[1] }' "$record/record/iterations.csv")" = \
        "5 5" ] || fail "wrong iterations.csv: $(cat "$record/record/iterations.csv")"
    cmp -s "$record/output/1.err" "$source/tests/data/experiments/dacapo.txt" || fail "wrong output of the instance"
}

# Another process spins on each CPU.
load_of_other_processes_is_reported() { # case, alone
    ! have_cpu_quota || skip "cpu-quota: this control group has one"
    local cpu spinning=() call=(throughput --methods 1cdc --targets 25% --warmup 0 --settle 0 --seconds 3
        --output swamped) command=(--name serial --repeat -- sleep 0.1)
    for ((cpu = 0; cpu < $(nproc); cpu++)); do
        spin env
        spinning+=($!)
    done
    experiment "${call[@]}" --others 15% "${command[@]}"
    prints "Warning: this machine is already [0-9]+ % busy, .*"
    prints "ssbatch: serial-1cdc-n1-25-1: warning: other processes used [0-9.]+ % of the machine"
    kill "${spinning[@]}"
    wait "${spinning[@]}" 2>/dev/null || true
    awk -v others="$(listed swamped others)" 'BEGIN { exit !(others > 0.15 && others <= 1) }' ||
        fail "wrong share of other processes: $(listed swamped others)"
    with_reports
    experiment "${call[@]}" "${command[@]}"
    [[ $(sed -n 2p "$scratch/swamped/report/findings.csv") = others,* ]] ||
        fail "the findings do not begin with the disturbed runs: $(cat "$scratch/swamped/report/findings.csv")"
    # A run whose folder was removed is repeated.
    rm -r "$scratch/swamped/serial-1cdc-n1-25-1" "$programs/ssreport"
    experiment "${call[@]}" "${command[@]}"
    ! grep -q '^ssbatch: .*other processes used' "$output" || fail "--others 100% does not turn the warning off"
}

# Without feedback, so that some iterations complete on a busy machine.
throughput_study_reports_each_method() { # case
    with_reports
    measures each throughput --methods cdc,nbench --workloads serial --catalogue idle.txt --parts 1 --instances 1
    prints "\| host \| serial \| cdc \| 0.107 \| 1 \| 100.00 \| $number \| $number \| .*"
    prints "\| host \| serial \| nbench \|  \| 1 \| 100.00 \| $number \| $number \| .*"
    # Without feedback, because other load could keep all instances stopped.
    experiment throughput --stairs --methods cdc --workloads serial --catalogue idle.txt --levels 80:40:40 \
        --hold 2 --edge 0.5 --warmup 0 --output stairs
    [ "$(cut -d, -f 8,9 "$scratch/stairs/throughput.csv" | sort | paste -sd ' ')" = \
        "0.4,1 0.4,2 0.8,1 0.8,2 target,half" ] || fail "wrong steps: $(cat "$scratch/stairs/throughput.csv")"
}

# A workload `serial` that sleeps, for tests that need no load: it takes no CPU time from other tests.
cat >"$scratch/idle.txt" <<'END'
[serial]
command = sh -c 'while sleep 0.05; do echo iteration 1 50 ms; done'
iteration = iteration [0-9]+ ([0-9.]+) ms
published = dacapo/fop
END

# The first line is the answer, whatever the result.
loadline_prints_the_answer_first() { # case
    with_reports
    call loadline --hold 1500m --warmup 1s --rounds 1 --instances 1 --iteration 'iteration ([0-9]+)' \
        --name sleeper --energy 'echo 7.5' -- sh -c 'while sleep 0.02; do echo iteration 20; done' ||
        { grep -q '^sslab loadline: the question is not answered' "$output" &&
            grep -Eq '^(What is left .*is unknown|The record is invalid: )' "$output"; } ||
        fail "loadline: no answer"
    grep -v '^\(Power\|--dry-run\|ssbatch\|ssreport\|Warning\)' "$output" | head -n 1 >"$scratch/first"
    grep -Eqx "At 60 % load it reaches [0-9.]+ % \([0-9.]+ to [0-9.]+\) of its (maximum throughput|throughput at the highest load measured); .* more is left; two measurements of a level differ by about [0-9.]+ %\.|(What is left|The record is invalid:) .*" \
        "$scratch/first" || fail "no answer in the first line"
    grep -q 'sleeper,independent,0.5,' "$scratch/loadline-results/loadline.csv" || fail "no level of 50 %"
    grep -q 'How much of its maximum throughput does sleeper reach at 60 % load' "$scratch/loadline-results/report/report.html" ||
        fail "the question is not on the page"
}

# same_plan STUDY TABLE FILE NAME OPTION...: fails unless ssbatch carries out the plan that the experiment prints, the
# experiment accepts these runs as its own, and FILE is the table of the study that ssreport prints.
same_plan() {
    local folder=$scratch/$1
    experiment "${@:4}" --plan
    cp "$output" "$scratch/plan"
    PATH=$bin:$PATH ssbatch --dry-run "$folder" "$scratch/plan" >"$output" 2>&1 || fail "the plan of $4 is refused"
    [ ! -e "$folder" ] || fail "--plan or --dry-run created a folder"
    PATH=$bin:$PATH timeout "$patience" ssbatch "$folder" "$scratch/plan" >"$output" 2>&1 ||
        fail "ssbatch: status $?"
    experiment "${@:4}" --output="$1"
    ! grep -q '^ssbatch: run ' "$output" || fail "$4 repeats a run of the plan that it printed"
    "$bin/ssreport" --table "$2" --format csv "$folder" >"$scratch/table" 2>/dev/null || fail "no table $2"
    diff "$scratch/table" "$folder/$3" || fail "$3 is not the table $2"
}

# A study may have any name.
accuracy_and_replay_print_their_plans() { # case
    with_reports
    printf '# A load\n# of a half.\n0 50%%\n20s 50%%\n' >"$scratch/{trace},100%.txt"
    same_plan -held constant-load table.csv accuracy --methods cdc,nbench --taus 107m --workloads serial \
        --catalogue idle.txt --targets 50 --own --warmup 0 --settle 0 --seconds 2
    [ "$(grep -c '^main -- showstopper .* -f own ' "$scratch/plan")" -eq 2 ] || fail "--own has no effect"
    [ "$(listed -held published)" = "dacapo/fop dacapo/fop" ] || fail "wrong published programs: $(listed -held published)"
    [ "$(listed -held tau_seconds)" = "0.107 -" ] || fail "wrong lengths of rounds: $(listed -held tau_seconds)"
    same_plan replayed replay replay.csv replay --methods cdc --workloads serial --catalogue idle.txt \
        --trace "{trace},100%.txt" --scales 1/10,1/5 --warmup 0
    [ "$(listed replayed speed | tr ' ' '\n' | sort -n | paste -sd ' ')" = "5 10" ] || fail "wrong speeds: $(listed replayed speed)"
}

# The definition of a workload may not change; test_lab_replay.py has the same for a trace.
later_calls_may_add_workloads_and_rounds() { # case
    local call=(replay --methods cdc --catalogue two.txt --trace trace.txt --scales 1/10 --warmup 0 --output added)
    sed 's/^.serial]/[one two]/' "$scratch/idle.txt" >"$scratch/two.txt"
    printf '0 50%%\n20s 50%%\n' >"$scratch/trace.txt"
    experiment "${call[@]}" --workloads one
    experiment "${call[@]}" --workloads two
    experiment "${call[@]}" --workloads one,two --rounds 2
    [ "$(listed added status)" = "done done done done" ] || fail "wrong status: $(listed added status)"
    sed -i 's/0\.05/0.06/' "$scratch/two.txt"
    refuses "the lines above the first run differ" "${call[@]}" --workloads one --rounds 3
    [ "$(listed added status)" = "done done done done" ] || fail "wrong status: $(listed added status)"
}

# study_lines OPTION...: prints the values of a study of interference.
study_lines() {
    call interference --plan --workloads serial --catalogue idle.txt "$@" || fail "$*: status $?"
    grep '^once ' "$output" | sort
}

# Settings of a placement or an environment are lines of their own, which later calls may add.
later_calls_may_add_placements_and_environments() { # case
    study_lines --placements neutral >"$scratch/few"
    study_lines --placements neutral,sets --sets 0/0 --share --environment host,lxc,kvm --load-of cpus --guest none \
        --guest-memory 2G >"$scratch/many"
    [ -z "$(comm -23 "$scratch/few" "$scratch/many")" ] || fail "changed: $(comm -23 "$scratch/few" "$scratch/many")"
    [ "$(comm -13 "$scratch/few" "$scratch/many" | cut -d ' ' -f 1,2 | paste -sd ,)" = \
        "once settings-containers,once settings-guests,once settings-sets" ] || fail "wrong lines: $(cat "$scratch/many")"
}

the_load_of_one_instance_is_measured_first() { # case
    local unknown="^# The number of instances of nbench-fit depends"
    local call=(throughput --methods nbench-fit --workloads turns --catalogue turns.txt
        --targets 50 --quick --instances 1 --output methods)
    cat >"$scratch/turns.txt" <<'END'
[turns]
command = sh -c 'while :; do i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done; echo turn; done'
iteration = ^turn$
END
    experiment "${call[@]}"
    # It is known afterwards, but not that of a command that has changed.
    experiment "${call[@]}" --plan
    ! grep -q "$unknown" "$output" || fail "the load of one instance is forgotten"
    sed -i 's/2000/2500/' "$scratch/turns.txt"
    experiment "${call[@]}" --plan
    grep -q "$unknown" "$output" || fail "the load of another command is used"
}

placements_follow_recorded_topologies() { # case
    local placement
    if [ ! -x "$bin/showstopper-platform" ]; then
        skip_part "left-out: recorded topologies: built without hwloc"
        return
    fi
    unpack_tree "$source/tests/data/platform/m620.tree" "$scratch/m620"
    experiment interference --dry-run --placements per-chip,per-core,per-thread --root "$scratch/m620"
    prints "per-chip: foreground 0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30, background 1,3,5,7,9,11,.*"
    prints "per-core: foreground 0-1,4-5,8-9,12-13,16-17,20-21,24-25,28-29, background 2-3,6-7,.*"
    prints "per-thread: foreground 0-15, background 16-31"
    # On this machine, each placement is planned or skipped with a reason.
    call interference --dry-run || true
    for placement in neutral quota free per-chip per-core per-thread; do
        grep -Eq "^($placement: foreground .*|skipped: placement=$placement: .+)$" "$output" ||
            fail "$placement is neither planned nor skipped"
    done
    # If both sides share all CPUs, their loads are relative to half of the CPUs.
    local half=$(($(nproc) / 2))
    [ "$half" -gt 0 ] || return 0
    experiment interference --plan --placements free --workloads serial
    [ "$(grep -Ec -- "^main (fore|back)ground .* -n $half -f own -F cpus=$half " "$output")" -eq 2 ] ||
        fail "the sides do not share all CPUs: $(grep '^main' "$output")"
    ! grep -q -- '--cpus' "$output" || fail "a side is pinned"
}

# beside WORD...: runs interference with four steps, without feedback, because other load could keep the background
# stopped.
beside() {
    experiment interference --levels 80:40:40 --hold 2 --edge 0 --warmup 0 --launch 8 --background-method cdc "$@"
}

interference_study_measures_both_sides() { # case
    with_reports
    local hwmon=$scratch/machine/sys/class/hwmon/hwmon0 run
    mkdir -p "$hwmon"
    echo power_meter >"$hwmon/name"
    echo 42000000 >"$hwmon/power1_average"
    if ! have_first_cpus 1; then
        skip_part "cpus: CPUs 0 and 1 are not both available"
        return
    fi
    beside --sets 0/1 --workloads serial --memory 1M --background parallel --energy auto \
        --energy-root "$scratch/machine"
    prints "\| host \| sets \| serial \| parallel \| 0\.107 \| 1 \| .*"
    prints "\| host \|  \| sets \| serial \| parallel \| 1 \| 4 \| 80\.00 \| .*"
    prints "Power: hwmon: the whole machine \(power_meter\)"
    run=$scratch/interference-results/sets-serial-parallel-1
    [ "$(listed interference-results role)" = "background foreground" ] || fail "wrong roles"
    [ "$(listed interference-results workload)" = "parallel serial" ] || fail "wrong workloads"
    [ "$(listed interference-results cpus)" = "1 0" ] || fail "wrong CPUs"
    grep -q '"cpus": "1"' "$run/background/summary.json" || fail "wrong CPUs in the summary of the background"
    [ "$(listed interference-results hold_seconds)" = "2 2" ] || fail "wrong length of steps"
    grep -q ',42$' "$run/energy.csv" || fail "no power samples"
    [ "$(head -n 1 "$scratch/interference-results/steps.csv" | cut -d , -f 1-12)" = "environment,measured_in,placement,foreground,$(:
        )background,round,step,half,target,background_load,background_iterations_per_second,$(:
        )foreground_iterations_per_second" ] || fail "wrong columns of steps.csv"
    [ "$(cut -d , -f 7-9 "$scratch/interference-results/steps.csv" | paste -sd ' ')" = \
        "step,half,target 1,down,0.8 2,down,0.4 3,up,0.4 4,up,0.8" ] ||
        fail "wrong steps.csv: $(cat "$scratch/interference-results/steps.csv")"
    call interference --placements neutral,quota --dry-run --output quota || true
    prints "skipped: placement=neutral: only a guest limits how many CPUs .*"
    if grep -q '^skipped: placement=quota: .* control group' "$output"; then
        skip_part "cgroup-quota: $(sed -n 's/.*=quota: //p' "$output")"
        return
    fi
    rm "$programs/ssreport"
    beside --placements quota --output quota
    [ "$(listed quota status)" = "done done" ] || fail "wrong status: $(listed quota status)"
    [ "$(listed quota environment)" = "host host" ] || fail "wrong environment: $(listed quota environment)"
    grep -q 'showstopper-[0-9a-f]*\.quota-serial-serial-1\.background' \
        "$scratch/quota/quota-serial-serial-1/background/plan.json" || fail "the background has no control group"
    [ -z "$(list_open quota)" ] || fail "leftover control group: $(list_open quota)"
}

# An empty folder has no source of power.
idle_states_are_sampled_with_the_power() { # case
    local cpu=$scratch/machine/sys/devices/system/cpu/cpu0/cpuidle/state0
    mkdir -p "$cpu"
    echo 7 >"$cpu/time"
    echo POLL >"$cpu/name"
    experiment interference --plan "${one_cpu[@]}" --energy rapl --energy-root "$scratch/machine"
    grep -q '^beside idle ready=.* --root .*/machine --output .*/idle.csv' "$output" ||
        fail "idle states are not sampled: $(cat "$output")"
    prints "Power: no source \(rapl\) is available, so no energy is recorded"
    experiment interference --plan "${one_cpu[@]}"
    ! grep -q '^beside idle ' "$output" || fail "idle states are sampled without --energy"
}

run_cases
