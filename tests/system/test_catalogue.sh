#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Workloads of the catalogue, and the options of each side of a pair. test_lab_catalogue.py and test_lab_interference.py
# have the other tests.
# shellcheck disable=SC2030,SC2031,SC2034 # what is sourced reads variables, cases in ( ) have their own

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=experiments.sh
. "$here/experiments.sh"
need_built ssbatch
recorded=$source/tests/data/workloads
mkdir "$scratch/home"
export HOME=$scratch/home
unset SHOWSTOPPER_CATALOGUE DACAPO SCALABENCH RENAISSANCE H2 LUCENE SOURCE

# write_catalogue LINE...: writes the file `catalogue`.
write_catalogue() {
    printf '%s\n' "$@" >"$scratch/catalogue"
}

# stub_java: creates a `java` that records its arguments and prints the recorded output of a workload. It starts no
# process for that, which on a busy machine may take longer than a run.
stub_java() {
    local file name
    mkdir -p "$scratch/stub/said"
    for file in "$recorded"/*.txt; do
        name=$(sed -n 's/^# workload: //p' "$file")
        sed '/^# /d' "$file" >"$scratch/stub/said/${name/#*\//suite-}"
    done
    cat >"$scratch/stub/java" <<END
#!/bin/bash
printf '%s\n' "\$*" >>'$scratch/calls'
for word; do
    case \$word in
    $scratch/ram/*) mkdir "\$word" 2>/dev/null || mkdir "\$word/in use" || exit 1 ;;
    esac
done
case \$* in
*/Repeat.java*) name=h2 ;;
*.java*) name=lucene ;;
*) name=suite-\${!#} ;;
esac
sleep "\${STUB_DELAY-0}"
mapfile <'$scratch/stub/said/'"\$name"
printf %s "\${MAPFILE[@]}" >&2
exec sleep 60
END
    cp "$scratch/stub/java" "$scratch/stub/javac"
    chmod +x "$scratch/stub"/java*
    : >"$scratch/calls"
    touch "$scratch/suite.jar"
    export PATH=$scratch/stub:$PATH DACAPO=$scratch/suite.jar RENAISSANCE=$scratch/suite.jar \
        H2=$scratch/suite.jar LUCENE=$scratch/suite.jar
}

workload_names_are_listed() { # case
    experiment accuracy --list-workloads
    prints "serial +ready"
    prints "dacapo/luindex +missing +(no java, )?\\\$DACAPO is not set"
    prints "dacapo/tradebeans +missing .*; unfit"
    [ "$(cut -d ' ' -f 1 "$output" | sort | uniq -d)" = "" ] || fail "duplicate name"
    stub_java
    experiment interference --list-workloads
    prints "dacapo/luindex +ready"
    refuses "--workloads: scalabench/scalac cannot run here: \$SCALABENCH is not set" accuracy \
        --workload serial,scalabench/scalac
    # --dry-run plans workloads even if this machine lacks them.
    experiment accuracy --dry-run --methods default --targets 50 --workload scalabench/scalac,dacapo/tradesoap
    prints "Warning: dacapo/tradesoap is unfit: .*"
    prints "scalabench.scalac-50-default-own-1: 6 min 01 s"
    experiment accuracy --dry-run --methods default --targets 50 --workload dacapo/h2 --warmup 2s --settle 0
    prints "Warning: dacapo/h2 takes 60s to warm up, longer than --warmup"
}

# The shipped expressions match every iteration in the recorded output of harnesses, including the one marked PASSED,
# and nothing else.
shipped_iteration_patterns_match_recorded_output() { # case
    local file name names='' heading run
    export STUB_DELAY=1.5 # iterations that end before all instances have started are not counted
    stub_java
    for file in "$recorded"/*.txt; do
        for heading in version command source; do
            grep -q "^# $heading: ." "$file" || fail "$file: no $heading"
        done
        names+=,$(sed -n 's/^# workload: //p' "$file")
    done
    # A run fails if no line matches, as when all iterations are invalid.
    refuses "dacapo.tomcat-1cdc-n1-100-1: failed: record: no line of output matched --iteration" throughput --go-on \
        --methods 1cdc --targets 100 --warmup 0 --settle 0 --seconds 6 --workload "${names#,}" --output recorded
    [ "$(listed recorded workload | tr ' ' '\n' | sort)" = "$(tr ',' '\n' <<<"${names#,}" | sort)" ] ||
        fail "wrong workloads: $(listed recorded workload)"
    for file in "$recorded"/*.txt; do
        name=$(sed -n 's/^# workload: //p' "$file")
        run=$scratch/recorded/${name/\//.}-1cdc-n1-100-1
        [ "$(awk -F, 'NR > 1 { printf "%s%.9g", (n++ ? " " : ""), 1000 * ($3 - $2) }' "$run/record/iterations.csv")" = \
            "$(sed -n 's/^# times: *//p' "$file")" ] || fail "$file: wrong iterations: $(cat "$run/record/iterations.csv")"
        diff "$run/output/0.err" <(sed '/^# /d' "$file") >/dev/null || fail "$file: wrong output"
    done
}

# unfinished NAME OPTION...: calls an experiment whose runs are too short for an iteration.
unfinished() {
    call "$@" || grep -q "no iteration of any run could be timed" "$output" || fail "$*: status $?"
    nothing_is_left
}

# Templates, variables, quotes; a setup in each folder; a definition that holds for all runs of a folder.
# shellcheck disable=SC2016 # the catalogue expands them
placeholders_in_commands_are_replaced() { # case
    local mine="$scratch/100% mine"
    local call=(throughput --methods cdc --targets 100 --instances 2 --warmup 0 --settle 0 --seconds 5
        --catalogue "$mine/catalogue" --workload family/one --output filled)
    mkdir -p "$mine"
    write_catalogue '[family/one family/two]' 'command = sh -c '\''cat "$0" >&2; echo "$@" >&2; exec sleep 9'\' \
        '  {scratch}/made "$TWO_WORDS/x"' '  {name} {side} {instance} {memory} {here} $HOME' \
        'repeat = yes' 'setup = echo {side}:{instance} >made' 'scratch = {instance}.{side}' 'memory = 77M'
    mv "$scratch/catalogue" "$mine"
    TWO_WORDS="$mine" unfinished "${call[@]}"
    for index in 0 1; do
        [ "$(cat "$scratch/filled/"*/output/"$index".err)" = "alone:$index
$mine/x one alone $index 77M $mine $HOME" ] || fail "$(cat "$scratch/filled/"*/output/"$index".err)"
    done
    sed -i 's/77M/78M/' "$mine/catalogue"
    refuses "filled has runs with other settings" "${call[@]}" --targets 50
    sed -i 's/^setup.*/setup = echo why >\&2; false/' "$mine/catalogue"
    refuses "family.one-cdc-n2-100-1: failed: before ended with status 1: why" "${call[@]}" --output filled-2
}

# The name of a catalogue without a slash means a file in the current folder. A command after -- must not get the settings
# of a workload with its name.
# shellcheck disable=SC2016 # the instances expand it
settings_of_a_workload_are_not_those_of_a_command() { # case
    write_catalogue '[here]' 'command = sh -c "echo {here} >&2; exec sleep 9"' 'repeat = yes' \
        '[true-words]' 'command = false' 'setup = false' 'memory = 5M' 'warmup = 5s'
    unfinished throughput --methods 1cdc --targets 100 --warmup 0 --settle 0 --seconds 5 --catalogue catalogue \
        --workload here,true-words --name true-words --output own \
        -- sh -c 'echo "{memory},{side},$(ls "{scratch}")"; exec sleep 9'
    [ "$(cat "$scratch/own/here-1cdc-n1-100-1/output/0.err")" = "$(cd "$scratch" && pwd -P)" ] ||
        [ "$(cat "$scratch/own/here-1cdc-n1-100-1/output/0.err")" = "$scratch" ] || fail "wrong current folder"
    [ "$(cat "$scratch/own/true-words-1cdc-n1-100-1/output/0.out")" = ",alone," ] || fail "wrong words of the command"
    ! grep -q 'to warm up' "$output" || fail "a warning of a different workload was printed"
}

# lines WORD...: prints lines of a plan with the shipped catalogue of the checkout.
lines() {
    timeout "$patience" "$bin/sslab" line "$@" --catalogue "$experiments/workloads"
}

# print_planned OPTION...: prints the words of a workload in a plan, one per line, with the values that placeholders get
# in a run. The words are quoted as for a shell.
print_planned() {
    local words
    eval "words=($(lines "$@" --even-if-missing 2>/dev/null))"
    printf '%s\n' "${words[@]}" | sed -E "s,\{scratch\},$scratch,g; s/\{work-[^}]*\}/12m/g; s/\{\{/{/g"
}

# Runs one iteration of the shipped workloads that need no special software.
shipped_workloads_run() { # case
    local name lacks words
    for name in xz compile/file; do
        if ! lines --check-workloads "$name" >/dev/null 2>"$scratch/lacks"; then
            lacks=$(sed 's/.*cannot run here: //' "$scratch/lacks")
            skip_part "${lacks##* }: $lacks"
            continue
        fi
        mapfile -t words < <(print_planned "$name" --print setup)
        [ "${words[*]:0:2}" = "before --" ] || fail "$name: wrong line of its setup: ${words[*]}"
        "${words[@]:2}"
        # A part of the data suffices, as a busy machine takes minutes for all of it.
        case $name in
        xz) truncate -s 100K "$scratch/data/alone-0/data" ;;
        *) sed -i 100q "$scratch/data/alone-0/file.c" ;;
        esac
        mapfile -t words < <(print_planned "$name")
        [ "${words[*]:0:2}" = "--repeat --" ] || fail "$name: iterations cannot be counted"
        words=("${words[@]//%/0}")
        timeout "$patience" "${words[@]:2}" >"$scratch/said" 2>&1 || fail "$name: status $?: $(cat "$scratch/said")"
        rm -rf "$scratch/data/alone-0"
    done
}

# No placeholder of the catalogue may remain in a plan.
shipped_workloads_are_planned() { # case
    stub_java
    export SCALABENCH=$scratch/suite.jar
    local name options counted=0
    while read -r name _; do
        for options in "" "--role background --memory 77M"; do
            # shellcheck disable=SC2086 # a list of words
            print_planned "$name" $options >"$output"
            prints "--iteration|--repeat"
            prints "--"
            ! grep -E '\{(side|instance|memory|name|here|work|scratch)\}' "$output" || fail "$name: a placeholder is left"
            # shellcheck disable=SC2086 # a list of words
            print_planned "$name" $options --print setup >"$output"
            [ "$(tail -n 1 "$output")" = "$scratch/data/$([ -n "$options" ] && echo background || echo alone)-0" ] ||
                fail "$name: wrong folder"
        done
        counted=$((counted + 1))
    done < <(lines --list-workloads)
    [ "$counted" -gt 60 ] || fail "only $counted workloads are listed"
}

# Two sides share a CPU, each with its own method. The measured share of a side must be that of its own processes.
each_side_of_a_pair_has_its_own_options() { # case
    local runs call=(interference "${one_cpu[@]}" --levels 40:20:20 --hold 2 --edge 0 --warmup 0 --launch 8
        --pairs serial:forking --foreground-method pi-even --output sides)
    experiment "${call[@]}" --foreground-load 50% --foreground-tau 53m --background-method 1cdc \
        --background-instances 3 --foreground-instances 2 --energy "echo 7.5" --counters
    runs=$scratch/sides/sets-serial-forking-1
    [ "$(listed sides method)" = "1cdc pi-even" ] || fail "wrong methods: $(listed sides method)"
    [ "$(listed sides tau_seconds)" = "0.107 0.053" ] || fail "wrong lengths of rounds: $(listed sides tau_seconds)"
    [ "$(listed sides instances)" = "1 2" ] || fail "wrong numbers of instances: $(listed sides instances)"
    [ "$(listed sides cpus)" = "$(first_cpu) $(first_cpu)" ] || fail "wrong CPUs: $(listed sides cpus)"
    [ "$(listed sides environment)" = "host host" ] || fail "wrong environments: $(listed sides environment)"
    [ "$(cat "$runs"/{back,fore}ground/plan.json | grep -c '"name": "own"')" -eq 2 ] ||
        fail "wrong feedback"
    [ "$(find "$runs" -name counters.csv -size +0 | wc -l)" -eq 2 ] || fail "counters.csv is missing"
    grep -q rbpid "$runs/foreground/plan.json" || fail "wrong control of the foreground"
    grep -q fixed "$runs/background/plan.json" || fail "wrong control of the background"
    grep -Eqx '20[^,]*Z,[0-9.]*,7\.5' "$runs/energy.csv" || fail "no power samples"
    [ "$(listed sides energy)" = "command: what it measures (echo 7.5) command: what it measures (echo 7.5)" ] ||
        fail "wrong source of power: $(listed sides energy)"
    # A study cannot continue with another method for one side.
    refuses "the lines above the first run differ from those with which run sets-serial-forking-1 " "${call[@]}"
}

the_published_option_plans_the_published_configurations() { # case
    with_reports
    local folder
    experiment accuracy --published --dry-run --workloads serial
    [ "$(grep -c '^serial-' "$output")" -eq 55 ] || fail "wrong number of configurations"
    prints "serial-33.3333-geom-uneven-53m-1: 6 min 01 s"
    prints "serial-66.6667-nbench-own-1: 6 min 01 s"
    ! grep -Eq '^serial-.*-(default|cpulimit|quota|1cdc|nbench-fit)-' "$output" || fail "unpublished methods are planned"
    experiment accuracy --published --methods cdc --taus 107m --workloads serial --targets 50 --warmup 0.5 \
        --seconds 2 --on "$(first_cpu)" --output published
    folder=$scratch/published/serial-50-cdc-107m-1
    [ "$(listed published instances) $(listed published cpus)" = "1 $(first_cpu)" ] || fail "wrong columns"
    [ "$(listed published warmup_seconds) $(listed published settle_seconds)" = "0.5 0" ] ||
        fail "published: load control begins at the end of the warm-up, and so do load observations"
    awk -F, 'NR > 1 { target = $3; if (target != 0.5) bad = 1 }
        END { exit bad || NR < 4 }' "$folder/beside.csv" || fail "wrong samples of ssload: $(cat "$folder/beside.csv")"
    # The two columns measure the same CPU time independently.
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 { target = $at["target"]; load = $at["beside_load_mean"]; apart = load - $at["load_mean"]
            error = $at["beside_error_mean_percent"] - 100 * (target - load)
            exit load == "" || $at["beside_error_mse_e4"] == "" || apart * apart >= 0.01 || error * error >= 1e-6 }' \
        "$scratch/published/table.csv" || fail "wrong table.csv: $(cat "$scratch/published/table.csv")"
    prints "\| serial \| cdc \| 0.107 \| 50 \| .*"
    "$source/tools/experiments/published/compare" "$scratch/published" >"$output" 2>&1 || fail "compare: $(<"$output")"
    grep -Eq '^  cdc +[01] of   1 ' "$output" || fail "no share of cdc: $(<"$output")"
}

# plans PATTERN...: fails unless a line of the plan, without quotes, matches each pattern.
plans() {
    local pattern
    for pattern; do
        sed "s/'//g; s/\$/ /" "$output" | grep -E -- "$pattern" >/dev/null || fail "no line of the plan matches $pattern"
    done
}

# In each experiment, runs that are compared with published values must use the published modules.
the_published_option_plans_every_published_study() { # case
    local name tau pi="-f realtime -F count=ratio -d averageq -D (107|53)m -c rbpid -C bounds=none,start=target -s even"
    local cdc="-d averageq -D (107|53)m,phase=together:20m -c fixed" geom="-c geom -C previous=global -s (un)?even"
    local methods="geom-even geom-uneven nbench pi-even pi-uneven 1cdc"
    unset DACAPO SCALABENCH
    for name in "accuracy --targets 50% --taus 107m" throughput replay; do
        # shellcheck disable=SC2086 # the words of a call
        experiment $name --published --plan
        plans "$pi" "$geom" 'workload=serial published=dacapo/fop ' 'workload=blocking published=dacapo/avrora '
        # At least 3 min of warm-up before load control and load observations begin.
        plans '--warmup 180s'
        ! grep -Eq -- '--settle [1-9]' "$output" || fail "$name: a settling time is planned"
        ! grep -q -- '-f exact' "$output" || fail "$name: unpublished settings are planned"
        prints "dacapo/fop cannot run here: .*; serial represents it"
    done
    prints "dacapo/luindex is left out, because it cannot run here: .*"
    plans '^run serial-geom-uneven-nine-steps-1_18-53m-1 .* trace=nine-steps ' 'nine-means.txt,scale=1/18'
    experiment throughput --published --plan --workloads serial,parallel --parts 12
    plans "$pi" "$cdc" '^run serial-pi-even-n[0-9]+-8.33333-53m-1 ' '^run parallel-nbench-n1-1 '
    # Targets from 8.33 % in steps of 8.33 %, the four configurations and both baselines.
    for name in $methods; do
        plans "^run parallel-$name-n[0-9]+-(8.33333-107m-)?1 .* method=$name workload=parallel "
    done
    experiment accuracy --published --plan --workloads parallel --taus 107m
    plans "$pi" "$cdc" ' -l 33.3333333333333% ' ' target=0.333333333333333 ' ' -l 66.6666666666667% '
    experiment throughput --published --quick --plan --on "$(first_cpu)"
    [ "$(sed -n 's/^run .* method=\([^ ]*\) workload=serial .*/\1/p' "$output" | sort | uniq -c | sort -k 2 | paste -sd ' ' |
        tr -s ' ')" = " 2 1cdc 2 geom-even 2 geom-uneven 1 nbench 2 pi-even 2 pi-uneven" ] || fail "wrong quick study"
    experiment accuracy --plan --methods nbench,1cdc-4s --targets 1/3,3/4 --workloads parallel --instances 12
    plans '^run parallel-75-1cdc-4s-own-1 .* instances=1 ' 'showstopper .* -D 4s -c fixed -s even .* -l 75% '
    call interference --published --environment host "${one_cpu[@]}" --plan || fail "no plan"
    for tau in 107 53; do
        plans "^run .*-blocking-blocking-${tau}m-1 " "^main background .* tau_seconds=0.0?$tau .* --counters .* -D ${tau}m"
    done
    plans '^main background workload=blocking published=dacapo/avrora ' "${pi#*ratio }.* --warmup 600s" 'hold=180s' ' edge_seconds=30 '
    # The benchmark programs themselves are planned if they can run.
    stub_java
    : >"$scratch/dacapo.jar"
    DACAPO=$scratch/dacapo.jar experiment accuracy --published --plan --methods cdc --taus 107m --targets 50
    [ "$(sed -n 's/^run \([^ ]*\) .*/\1/p' "$output" | paste -sd ' ')" = "dacapo.fop-50-cdc-107m-1 $(:
        )dacapo.avrora-50-cdc-107m-1 dacapo.sunflow-50-cdc-107m-1" ] || fail "wrong programs"
    DACAPO=$scratch/dacapo.jar experiment throughput --published --plan --methods nbench --parts 1
    [ "$(sed -n 's/^run .* workload=dacapo.\([^ ]*\) .*/\1/p' "$output" | paste -sd ' ')" = \
        "fop avrora h2 luindex sunflow xalan" ] || fail "wrong programs"
}

run_cases
