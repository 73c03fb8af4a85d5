#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sssim: its output, sweeps, services, fleets, and what it refuses. tests/unit/sssim has the models.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
sssim=$bin/sssim

# run WORD...: runs sssim, which must succeed without messages; its output is in `out`.
run() {
    expect 0 "$sssim" "$@"
    is err ''
}

# refused PART WORD...: fails unless sssim refuses these words with one line that has this part.
refused() {
    refuses 125 "sssim: $1" "$sssim" "${@:2}"
}

# figure NAME PATTERN: fails unless this figure of the output matches the pattern.
figure() {
    local value
    value=$(sed -n "s/^$1  *\([-0-9.]*\).*/\1/p" out)
    # shellcheck disable=SC2053 # a pattern
    [[ $value == $2 ]] || fail "$1 is $value, not $2"
}

# member NAME VALUE: fails unless the first member of this name in the JSON output has this value.
member() {
    local value
    value=$(sed -n "s/^ *\"$1\": \([^,]*\),\{0,1\}$/\1/p" out | head -n 1)
    [ "$value" = "$2" ] || fail "$1 is $value, not $2"
}

# matters WORD...: fails unless the output of `sssim WORD...` differs from `plain`.
matters() {
    run "$@"
    ! cmp -s out plain || fail "the last words of sssim $* have no effect"
}

# samples RECORD: prints elapsed time, target and whether it counts, of each sample of a record.
samples() {
    tail -n +2 "$1/samples.csv" | cut -d , -f 2,3,15
}

load_is_held_and_printed() { # case
    run -P 2 -l 50% --duration 10s
    figure samples 20
    figure target 50.000
    # A load may be a number of CPUs: of the machine's, or of those allowed for the group.
    run -P 2 -l 0.5cpu --duration 1s
    figure target 25.000
    run -P 2 -l 0.3cpus -f cgroup --quota 1.5 --duration 1s
    figure target 20.000
    # The load of own processes is relative to all CPUs, whatever their quota.
    run -P 4 -l 90% -f own --quota 1 --duration 10s
    figure load 25.000
    # Without feedback, the instances determine the load.
    run -P 8 -n 4 -c fixed -l 100% --class serial:3,blocking --duration 20s
    figure load '53.7*'
    run -P 4 -n 1 -c fixed -l 0 --background 25%
    figure load '25.0*'
    printf '0 1\n1s 3\n2s 0\n' >'a,b'
    run -P 8 -n 1 -c fixed -l 100% --class 'profile:a\,b' --duration 20s
    figure load '25.0*'
    run -P 2 -l 50% --duration 3s --csv
    is <(head -n 1 out) elapsed_seconds,target,load,error
    is <(wc -l <out) 7
}

# Rounds whose length a module chooses follow the window, given lengths do not.
window_is_the_length_of_a_sample() { # case
    local run=(-P 2 -n 4 -l 50% --duration 10s --window 100m)
    run "${run[@]}"
    figure samples 100
    figure switches '37?.*'
    run "${run[@]}" -D 107m
    figure switches '7?.*'
    run "${run[@]}" -d averageq
    figure switches '3??.*'
}

# A trace that loops lasts a minute, another one until its end. Samples are of half a second.
duration_defaults_to_the_end_of_the_trace() { # case
    printf '%s\n' '0s 50%' '10s 20%' >short
    run -P 2 -t file -T short,loop=yes
    figure samples 120
    run -P 2 -t file -T short,loop=no
    figure samples 20
}

# swing PERIOD RELATION SQUARE WORD...: fails unless the mean squared error for a sine wave as the target has this
# relation to a value. As showstopper-method(7) explains, the loop of the published modules swings with a period of
# 2 pi sqrt(delta tau / 2), 0.84 s, and amplifies targets of this period. A sine wave of 5 points is 12.5 %^2.
swing() {
    run -P 12 -f realtime -c geom -d averageq -D 107m -t sine -T "50%,amplitude=5%,period=$1" --settle 5s --duration 35s "${@:4}"
    awk "/^mean squared error/ { exit !(\$4 $2 $3) }" out || fail "a period of $1, ${*:4}: not $2 $3"
}

published_control_amplifies_its_own_period() { # case
    swing 850m '>' 125
    swing 3030m '<' 6
    swing 850m '<' 25 -F 83m -D 27m
    swing 1700m '>' 125 -F 1332m
    # In a third of its time, a ripple of 3 s has a period of 1 s, at which the loop swings.
    awk 'BEGIN { for (i = 0; i <= 720; i++) printf "%gs %.4f%%\n", i / 4, 50 + 2 * sin(i * 3.14159265 / 6) }' >ripple
    for scale in 2/3 1/3 2/9; do
        run -P 12 -f realtime -c geom -d averageq -t file -T "ripple,scale=$scale,loop=no" --settle 5s
        awk '/^mean squared error/ { print $4 }' out
    done >squares
    awk '{ square[NR] = $1 } END { exit !(square[2] > 3 * square[1] && square[2] > 3 * square[3]) }' squares ||
        fail "the ripple is not amplified at one speed alone: $(cat squares)"
}

# Fixed modules, because the tests must not depend on the defaults.
modules=(-f realtime -c rbpid -s even -d averageq)

each_option_has_an_effect() { # case
    local more run=("${modules[@]}" -P 2 -n 6 -l 30% --class parallel -D 5m --duration 20s)
    run "${run[@]}"
    mv out plain
    for more in '--tick-rate 250' '--lateness 3m' '--lateness 0' '--preempt 2m' '--background 10%' \
        '--seed 2 --class forking' '--class queue:40%'; do
        # shellcheck disable=SC2086 # words, not one
        matters "${run[@]}" $more
    done
    run "${run[@]}" --tick-rate 250 -F count=ticks -D 20m
    mv out plain
    matters "${run[@]}" -F count=ticks -D 20m --tick-rate 1000
}

sweep_prints_a_row_per_run() { # case
    local figures run=("${modules[@]}" -P 2 --duration 5s)
    figures=samples,target_mean,load_mean,error_mean_percent,error_mse_e4,error_p95_percent
    figures=$figures,settling_seconds,duty_mean,switches_per_second,own_cpu,iterations_per_second
    run "${run[@]}" --sweep load=25%,50% --sweep 'control-options=0\,ke=0.1,0' --sweep=seed=1
    is <(sed -n 1p out) "load,control-options,seed,$figures"
    is <(sed -n 's/,1,10,0\..*//p' out) '25%,"0,ke=0.1"
25%,0
50%,"0,ke=0.1"
50%,0'
    run "${run[@]}" -l 90% -n 1 --sweep seed=1
    is <(sed -n 2p out | cut -d , -f 8) '' # it never settles
    # A row equals a single run with the same options, even if an option is written differently.
    run "${run[@]}" --sweep class=forking,blocking --seed 7 -l 40% --sweep load=60%
    is <(sed -n 3p out | cut -d , -f 1-3) blocking,60%,10
    load=$(awk -F , 'NR == 3 { printf "%.3f", 100 * $5 }' out)
    run "${run[@]}" --class blocking --seed 7 -l 60%
    figure load "$load"
    if have_terminal; then
        script -qec "$sssim ${modules[*]} -P 2 -l 50% --sweep dithering-options=20m,107m" /dev/null >out
        [[ $(wc -l <out) -eq 3 && $(head -n 1 out) == 'dithering-options  mean error %'* ]] || fail "wrong table"
    fi
    # Some runs of a sweep may lack what an option needs.
    run -l 50% --duration 3s --iteration 10m --smt-fill random --sweep smt=0,1.25
}

# All arguments are checked before the first run.
invalid_options_are_refused() { # case
    local many=() i part words
    mkdir there
    while IFS='|' read -r part words; do
        # shellcheck disable=SC2086 # several words
        refused "$part" $words
    done <<'END'
trace/constant: load: '3cpu' is too large: a load of 100 % is 2 CPUs here|-P 2 -l 3cpu
feedback/own: a simulated load is relative to all CPUs: omit cpus|-l 50% -f own -F cpus=1
--class: unknown class 'serail': did you mean 'serial'?|-l 50% --class serail
--smt must be 0 or a gain from 1 to 2, not 3|-l 50% --iteration 10m --smt 3
--smt requires an even number of --cpus|-l 50% --iteration 10m --smt 1.25 -P 3
--smt-fill requires --smt|-l 50% --iteration 10m --smt-fill random
--turbo: '2' is not a list of CORES:SPEED|-l 50% --iteration 10m --turbo 2
dithering/averageq: tau=21.4ms is too short|-P 1 -n 99 -d averageq -l 50% --window 100m
--settle leaves no|-l 50% --settle 60s
unexpected argument 'true'|-l 50% -- true
--sweep: 'load' is not an option with values|--sweep load
--sweep: --load is swept twice|--sweep load=1 --sweep load=2
--sweep: 'sweep' cannot be swept: name another option|--sweep sweep=1
--sweep: --laod=1: unknown option '--laod': did you mean '--load'?|--sweep laod=1
--sweep: --load=50% --cpus=x: --cpus:|--sweep load=50% --sweep cpus=1,x
--sweep: --seed=1: no target given|--sweep seed=1
--base: '2' is not a frequency|queue --rate 5 --frequency 1.4GHz --base 2
--frequency must be between 0.1 and 2 times --base|queue --rate 5 --frequency 5GHz --base 2GHz
--contention: 'cores:1,2' is not servers:A,B, workers:A,B|queue --rate 5 --contention cores:1,2
--contention: cannot open none|queue --rate 5 --contention workers:none
the only step below 200 requests per second|queue --max 200 --step 200 --hold 2s
--profile trace requires --trace|queue --profile trace --rate 5
--rate has no effect with --profile step|queue --profile step --max 140 --step 5 --hold 2s --rate 5
--settle requires --profile constant|queue --profile step --max 140 --step 5 --hold 2s --settle 5s
--duty must be above 0|queue --rate 5 --duty 0
--background leaves no CPU time for requests: use less than 2|queue --rate 5 --workers 2 --background 2
--speeds: 'fast'|queue --rate 5 --speeds 1,fast
--speeds: '0' is not between|queue --rate 5 --speeds 1,0
--speeds lists 2, but --servers is 3: use one speed for each server|queue --rate 5 --speeds 1,2 --servers 3
--settle leaves no|queue --rate 5 --settle 10s
--settle leaves no|queue --rate 5 --requests 10 --settle 2s
--record: there already exists|--foreground serial --iteration 50m -l 50% --record there
--record: no/where|--foreground serial --iteration 50m -l 50% --record no/where
--foreground requires --iteration|--foreground serial --record new
--foreground: unknown class 'x'|--foreground x --iteration 50m -l 50% --record new
unknown control module 'x'|--foreground serial --iteration 50m -l 50% -c x --record new
--background|--foreground serial --iteration 50m -l 50% --background 10% --record new
--foreground cannot be combined with --csv|--foreground serial --iteration 50m -l 50% --csv --record new
--foreground cannot be combined with --sweep|--foreground serial --iteration 50m -l 50% --sweep seed=1,2 --record new
--record: a record has at most 8192 CPUs|--foreground serial --iteration 50m -l 50% -P 4097 --record new
--rounds requires --foreground|-l 50% --iteration 1s --memory 1 --rounds 2
--record requires --foreground|-l 50% --iteration 1s --memory 1 --record new
--noise requires --iteration|-l 50% --noise 1%
--speed-noise requires --iteration|-l 50% --speed-noise 1%
--memory requires --iteration|-l 50% --memory 1
--accesses requires --memory|-l 50% --iteration 1s --accesses 1
--waiting requires --accesses|-l 50% --iteration 1s --memory 1 --waiting 1
END
    printf '%s\n' busy,watts 0,100 8,200 >watts
    refused '--power: up to 9 workers may be busy, but the table ends at 8' queue --rate 5 --workers 9 --power watts
    refused '--speeds: too many servers (at most 64)' queue --rate 5 --speeds "1$(printf ',1%.0s' {1..64})"
    for i in {1..17}; do
        many+=(--sweep "o$i=1")
    done
    refused '--sweep: too many options to sweep (at most 16)' "${many[@]}"
    [ ! -e new ] || fail "a folder was made"
}

# They are accepted with one warning, whatever the number of runs and processes.
milliseconds_meant_as_minutes_cause_a_warning() { # case
    local words run=(-P 1 -l 50% --duration 3s --warmup 1m)
    for words in '' '--sweep load=50%,60%' 'fleet --nodes 3 --jobs 3 --'; do
        # shellcheck disable=SC2086 # words, not one
        expect 0 "$sssim" $words "${run[@]}"
        is <(head -n 1 err) 'sssim: warning: --warmup: 1m is 1 millisecond; use 1min for minutes'
        [ "$(grep -c 'use 1min' err)" -eq 1 ] || fail "$words: $(cat err)"
    done
}

queue_sends_the_planned_requests() { # case
    local words
    run queue --rate 50 --arrival concurrent --duration 10s --json
    member program '"sssim queue"'
    member sent 500
    member throughput 50
    for words in '--rate 50 --arrival even' '--closed 1'; do
        # shellcheck disable=SC2086 # words, not one
        run queue $words --requests 500
        says out '- verdict: throughput valid: nothing found in '
    done
    # The planned time suffices for 10 standard deviations of the number of requests, and one second.
    run queue --rate 100 --requests 10000 --json
    member length_seconds 111.1
    # Without a time of sending, the intended rate is that of the profile, and the means of the machine are unknown.
    for words in '--rate 10 --requests 1' '--rate 10 --arrival concurrent --requests 5' '--closed 4 --requests 4'; do
        # shellcheck disable=SC2086 # words, not one
        run queue $words
        ! grep -qE 'nan|^busy' out || fail "queue $words: figures of an empty time"
        [[ $words == --closed* ]] || says out ' 10 requests per second were intended'
    done
    run queue --profile step --max 140 --step 5 --hold 2s --work 1m --json
    member sent 3780
    printf '0 50%%\n10s 50%%\n+0 100%%\n20s 100%%\n' >loads
    run queue --trace loads --rate 10 --json
    member sent 150
    run queue --closed 4 --requests 1000 --json
    member loop '"closed"'
    member sent 1000
    member cap 4
    run queue --closed 4
    says out 'A closed loop'
}

each_option_of_queue_has_an_effect() { # case
    local words more queue=(queue --rate 80 --arrival poisson --spread exponential --cap 5 --timeout 100m --json)
    run "${queue[@]}"
    mv out plain
    run queue -r 80 -d 10s "${queue[@]:3}" -t 100m
    cmp out plain || fail "short options give a different result"
    for words in '--seed 2' '--cap 6' '--when-full drop' '--timeout 90m' '--timeout 0' '--settle 1s' '--work 9m' \
        '--spread constant' '--workers 2' '--servers 2' '--speeds 1.1' '--duty 90%' '--duration 11s' '--requests 100' \
        '--arrival even'; do
        # shellcheck disable=SC2086 # words, not one
        matters "${queue[@]}" $words
    done
    while read -r words more; do
        # shellcheck disable=SC2086 # words, not one
        run "${queue[@]}" ${words/:/ }
        mv out plain
        # shellcheck disable=SC2086
        matters "${queue[@]}" ${words/:/ } $more
    done <<'END'
--duty:80% --tau 50m
--servers:2 --balance least-connections
--work:90m --given-up skip
END
}

# tests/unit/sssim/test_simulated_requests.c has the models.
queue_models_frequency_contention_and_power() { # case
    local words machine=(queue --rate 80 --frequency 1.4GHz --base 2100MHz --power watts --json --workers 4)
    { echo busy,watts; for i in 0 1 2 4 8; do echo "$i,$((100 + 20 * i))"; done; } >watts
    printf 'n\trequests_per_second\n1\t100\n2\t190\n4\t320\n' >capacities
    run queue --rate 80 --requests 1 --power watts --json
    member watts null
    member joules_per_success null
    run "${machine[@]}"
    mv out plain
    for words in '--frequency 1.5GHz' '--base 2.2GHz' '--beta 50%' '--contention workers:0.1,0' \
        '--contention workers:0,0.1' '--contention workers:capacities'; do
        # shellcheck disable=SC2086 # words, not one
        matters "${machine[@]}" $words
    done
    run queue --rate 80 --workers 4 --contention workers:capacities
    grep -q '^speed .* of each server; contention a = 0.0[0-9]*, b = 0' out || fail "a and b are not printed"
}

# make_traces: creates the folder `traces`; folders in it are no traces, as for ssfleet.
make_traces() {
    mkdir -p traces/old
    printf '0 20%%\n' >traces/a.txt
    printf '0 60%%\n' >traces/b.txt
}

fleet_does_not_depend_on_the_number_of_processes() { # case
    local failed fleet=(fleet --nodes 40 --traces traces --late 50m --clock 1s --clock-error 2m --failures 25% --interval 2s)
    make_traces
    run "${fleet[@]}" --jobs 1 --record one -- -P 1 --duration 10s
    mv out whole
    run "${fleet[@]}" --jobs 3 --record three -- -P 1 --duration 10s
    cmp out whole
    diff -r one three
    is <(find one -name samples.csv | wc -l) 40
    # Each node fails with a probability of 1/4: of 40, 3 to 19 do, with a probability of more than 99.9 %.
    failed=$(grep -c ',failed,' one/fleet.csv)
    [[ $failed -ge 3 && $failed -le 19 ]] || fail "$failed of 40 nodes failed instead of about 10"
    figure failed "$failed"
    is <(sed -n 2,3p one/fleet.csv | cut -d , -f 1-3) "$(printf 'n0,n0,a.txt\nn1,n1,b.txt')"
    is <(samples one/n1 | head -n 1) 2.000000,0.600000,1
    # Times in a record include the clock's offset; the record also has the measured offset, correct within 2 ms.
    awk -F , 'NR > 1 && ($7 > 5 || $7 < -5 || $8 != 0.002) { exit 1 }' one/fleet.csv || fail "wrong clocks"
    [ "$(cut -d , -f 7 one/fleet.csv | sort -u | wc -l)" -gt 35 ] || fail "clocks do not differ"
    if is_built reports; then
        is <("$bin/ssreport" --table fleet one | tail -n 1 | cut -d , -f 3,5) "40,$failed"
        "$bin/ssreport" one | tr '\n' ' ' >answer
        grep -qE 'These clocks are not trusted: n[0-9]+ \([0-9.]+ s (ahead|behind), known within 0.002 s\)' answer ||
            fail "no clock is named: $(cat answer)"
        expect "[03]" "$bin/ssreport" --check one/
        is <(grep -cE '^one/n[0-9]+: (valid|doubtful|invalid): ' out) 40
        expect "[03]" "$bin/ssreport" --check --format json one
        is <(grep -cE '"record": *"one/n[0-9]+"' out) 40
        rm -r one/n1
        expect 3 "$bin/ssreport" --check one
        says out 'one/n1: invalid: '
    fi
}

fleet_prints_its_load() { # case
    make_traces
    run fleet --nodes 3 -- -l 40% --duration 10s
    figure target 40.000
    run fleet --nodes 3 -- -P 1 -l 40% --background 0.6 --duration 10s
    figure 'mean error' '-[12][0-9].*'
    # One of these nodes fails before it is measured.
    run fleet --nodes 2 --failures 50% --seed 11 -- -P 1 -l 40% --duration 1s
    ! grep nan out || fail "a node without samples makes the mean invalid"
    # Neither the output nor the record counts the time of --settle.
    printf '%s\n' '0 90%' '5s 90%' '5s 40%' '15s 40%' >settling
    run fleet --nodes 2 --record settled -- -P 1 -t file -T settling,loop=no --settle 5s
    figure target 40.000
    is <(samples settled/n1) "$(printf '5.000000,0.900000,0\n15.000000,0.400000,1')"
}

fleet_records_its_nodes() { # case
    local seed seconds
    mkdir quoted gaps
    printf '0 60%%\n' >'quoted/"b".txt'
    run fleet --nodes 2 --traces quoted --record quotes -- -P 1 --duration 1s
    is <(sed -n 2p quotes/fleet.csv | cut -d , -f 1-4) 'n0,n0,"""b"".txt",done'
    # A fleet with another seed has other nodes, not the same ones under other names.
    for seed in 1 2; do
        run fleet --nodes 3 --seed "$seed" --interval 500m --record "seed$seed" -- -P 1 -l 40% --duration 10s
    done
    is <(sha256sum seed?/*/samples.csv | cut -c 1-64 | sort -u | wc -l) 6
    # A load of 100 % is the quota of the group.
    run fleet --nodes 1 --record grouped -- -P 4 -f cgroup --quota 1.5 -l 50% --duration 10s
    says grouped/n0/plan.json '"capacity_cpus": 1.5}'
    # A record has no load of the time before a free section in a later sample.
    printf '0 90%%\n15s 90%%\n15s free\n20s 90%%\n40s 90%%\n' >gaps/t.txt
    run fleet --nodes 1 --traces gaps --record gap -- -P 1 --duration 40s
    is <(samples gap/n0) '10.000000,0.900000,1
15.000000,0.900000,1
20.000000,,0
30.000000,0.900000,1
40.000000,0.900000,1'
    awk -F , '$15 == 1 && ($3 > 0.95 || $4 > 0.95 || $4 < 0.85) { exit 1 }' gap/n0/samples.csv ||
        fail "wrong loads around a free section: $(cat gap/n0/samples.csv)"
    # The last sample of a record is shorter if the run ends before it is complete.
    for seconds in 5 25; do
        run fleet --nodes 2 --record "rest$seconds" -- -P 1 -l 40% --duration "${seconds}s"
    done
    is <(samples rest5/n1) 5.000000,0.400000,1
    is <(samples rest25/n1) "$(printf '%s.000000,0.400000,1\n' 10 20 25)"
    if is_built reports; then
        is <("$bin/ssreport" --table fleet rest5 | tail -n 1 | cut -d , -f 3,5) 2,0
    fi
}

# The errors of a sample of other nodes are like those of a rehearsal, unless another program disturbs them.
rehearsal_and_sample_are_compared() { # case
    need_built reports
    make_traces
    run fleet --nodes 60 --traces traces --record rehearsal -- -P 1 --duration 20s
    run fleet --nodes 10 --seed 2 --traces traces --record sample -- -P 1 --duration 20s
    run fleet --nodes 10 --seed 2 --traces traces --record disturbed -- -P 1 --duration 20s --background 0.3
    expect 0 "$bin/ssreport" --table fleet --column node_error_low rehearsal sample disturbed
    mapfile -t low <out
    awk -v a="${low[0]}" -v b="${low[1]}" -v c="${low[2]}" 'BEGIN { exit b < a - 0.001 || b > a + 0.001 || c > -0.05 }' ||
        fail "errors of $(paste -sd ' ' out)"
}

failed_fleets_leave_no_folder() { # case
    local words
    make_traces
    # Nothing is measured without a complete window under control.
    refused 'nothing was measured: no node was under control for a whole --window' \
        fleet --nodes 2 --record new -- -P 1 -l 50% --duration 0.1s
    refused "node n0: unknown option '--nonsense'" fleet --nodes 2 --jobs 1 --record new -- --nonsense
    for words in '--foreground serial --iteration 1s' --csv --help --version; do
        # shellcheck disable=SC2086 # words, not one
        refused 'node n0: options after -- must not contain --foreground, --sweep, --record, --csv, ' \
            fleet --nodes 1 --record new -- -l 50% $words
    done
    refused 'node n0: options after -- must not contain --seed' fleet --jobs 1 --record new -- -l 50% --seed 7
    for words in '-t constant -T 50%' '-T traces/b.txt'; do
        # shellcheck disable=SC2086
        refused 'node n0: options after -- must not contain -t or -T' \
            fleet --nodes 2 --jobs 1 --traces traces --record new -- -P 1 --duration 1s $words
    done
    refused '--traces: nowhere: No such file' fleet --traces nowhere --record new
    # An invalid trace is reported at once, not after other nodes have simulated 100 years.
    echo nonsense >traces/b.txt
    refused 'node n1: ' fleet --nodes 2 --traces traces --jobs 2 --record new -- -P 1 --duration 36500d
    [ ! -e new ] || fail "a failed simulation leaves a folder"
    refused '--record: traces: File exists' fleet --record traces
}

has_two_children() {
    [ "$(pgrep -P "$1" | wc -l)" -eq 2 ]
}

processes_of_a_killed_fleet_end() { # case
    local child children
    start "$sssim" fleet --nodes 2 --jobs 2 -- -P 1 -l 50% --duration 36500d >out 2>&1
    await has_two_children "$pid"
    mapfile -t children < <(pgrep -P "$pid")
    started+=("${children[@]}")
    kill -KILL "$pid"
    wait "$pid" 2>err || true
    for child in "${children[@]}"; do
        await is_gone "$child"
    done
}

studies_are_recorded() { # case
    local long round
    # The names of both workloads together are too long for one folder.
    long=$(printf '%0200d' 0)
    mkdir "$long"
    printf '%s\n' '0 1' '1s 0' '2s 0' >"$long/profile"
    run -P 1 -l 50% --duration 2s --foreground "profile:$long/profile" --class "profile:$long/profile" --iteration 20m \
        --record long --rounds 2
    is <(find long/runs -name samples.csv | wc -l) 4
    # The run is shorter than a sample.
    run -P 1 -l 50% --duration 0.4s --foreground serial --iteration 20m
    is <(awk 'NR == 2 { print $4, $5 }' out) 'none none'
    # The throughput follows the target, so it only has to be constant if the target is.
    printf '%s\n' '0 30%' '1M 30%' '1M 60%' '2M 60%' >stairs
    run -P 2 -l 50% --duration 2M --foreground serial --iteration 20m --record steady
    run -P 2 -t file -T stairs,loop=no --duration 2M --foreground serial --iteration 20m --record steps
    for round in steady/runs/*/background steps/runs/*/background; do
        tr -d '\n' <"$round/summary.json" | sed -n 's/.*"check": "throughput", *"result": "\([^"]*\)".*/\1/p'
        echo
    done | grep . >results
    is results "$(printf 'passed\nnot checked')"
}

run_cases
