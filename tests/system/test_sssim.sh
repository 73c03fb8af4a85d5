#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sssim: its output, sweeps, and refusals.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
sssim=$bin/sssim
manual=$source/tools/sssim/sssim.1

# run WORD...: runs sssim, which must succeed without messages; its output is in `out`.
run() {
    expect 0 "$sssim" "$@"
    [ ! -s err ] || fail "sssim $*: unexpected message"
}

# refused PART WORD...: fails unless sssim refuses these words with one line that has this part.
refused() {
    refuses 125 "sssim: $1" "$sssim" "${@:2}"
}

# figure NAME: prints this figure of the output.
figure() {
    sed -n "s/^$1  *\([-0-9.]*\).*/\1/p" out
}

# Fixed modules, because the tests must not depend on the defaults.
modules=(-f realtime -c rbpid -s even -d averageq)

figures='samples,target_mean,load_mean,error_mean_percent,error_mse_e4,error_p95_percent'
figures=$figures,settling_seconds,duty_mean,switches_per_second,own_cpu,iterations_per_second

run -P 2 -l 50% --duration 10s
[ "$(figure samples)" = 20 ] || fail "expected 20 samples: $(cat out)"
[ "$(figure target)" = 50.000 ] || fail "wrong target: $(cat out)"

run -P 2 -l 50% --duration 3s --csv
[ "$(head -n 1 out)" = elapsed_seconds,target,load,error ] || fail "wrong heading: $(cat out)"
[ "$(wc -l <out)" -eq 7 ] || fail "expected 6 samples: $(cat out)"

# A load can be a number of CPUs: of the machine's, or of those allowed for the group.
run -P 2 -l 0.5cpu --duration 1s
[ "$(figure target)" = 25.000 ] || fail "wrong target for 0.5 of 2 CPUs: $(cat out)"
run -P 2 -l 0.3cpus -f cgroup --quota 1.5 --duration 1s
[ "$(figure target)" = 20.000 ] || fail "wrong target for 0.3 of 1.5 CPUs: $(cat out)"
# The load of own processes is relative to all CPUs, whatever their quota.
run -P 4 -l 90% -f own --quota 1 --duration 10s
[ "$(figure load)" = 25.000 ] || fail "a quota of 1 of 4 CPUs allows a load of $(figure load)"
refused "--quota: '1000000000000' is too large" -l 50% --quota 1000000000000
refused "trace/constant: load: '3cpu' is too large: a load of 100 % is 2 CPUs here" -P 2 -l 3cpu

# The window is the length of a sample. Values that modules choose scale with it, given values do not.
run -P 2 -n 4 -l 50% --duration 10s --window 100m
[ "$(figure samples)" = 100 ] || fail "expected 100 samples: $(cat out)"
[[ $(figure switches) == 37?.* ]] || fail "wrong length of rounds: $(cat out)"
run -P 2 -n 4 -l 50% --duration 10s --window 100m -D 107m
[[ $(figure switches) == 7?.* ]] || fail "wrong length of rounds: $(cat out)"
run -P 2 -n 4 -l 50% --duration 10s --window 100m -d averageq
[[ $(figure switches) == 3??.* ]] || fail "wrong length of rounds: $(cat out)"

# Without feedback, the instances determine the load.
run -P 8 -n 1 -c fixed -l 100% --class blocking --duration 20s
[[ $(figure load) == 16.2* ]] || fail "wrong load of blocking: $(cat out)"
run -P 8 -n 4 -c fixed -l 100% --class serial:3,blocking --duration 20s
[[ $(figure load) == 53.7* ]] || fail "wrong load of serial:3,blocking: $(cat out)"
run -P 4 -n 1 -c fixed -l 0 --background 25%
[[ $(figure load) == 25.0* ]] || fail "wrong load with a background: $(cat out)"

printf '0 1\n1s 3\n2s 0\n' >'a,b'
run -P 8 -n 1 -c fixed -l 100% --class 'profile:a\,b' --duration 20s
[[ $(figure load) == 25.0* ]] || fail "wrong load of a profile: $(cat out)"

# swing PERIOD WORD...: sets `square` to the mean squared error of a sine-wave target. As showstopper-method(7)
# explains, the loop of the published modules swings with a period of 2 pi sqrt(delta tau / 2), 0.84 s, and amplifies
# targets of this period. A sine wave of 5 points is 12.5 %^2.
swing() {
    run -P 12 -f realtime -c geom -d averageq -D 107m -t sine \
        -T "50%,amplitude=5%,period=$1" --settle 5s --duration 35s "${@:2}"
    square=$(figure 'mean squared error')
}
# exceeds VALUE OTHER
exceeds() {
    awk "BEGIN { exit !($1 > $2) }"
}
swing 850m
exceeds "$square" 125 || fail "a target that varies in 0.85 s is not amplified: $square"
swing 3030m
exceeds 6 "$square" || fail "a target that varies in 3.03 s is not followed: $square"
swing 850m -F 83m -D 27m
exceeds 25 "$square" || fail "with delta and tau divided by 4, 0.85 s is amplified: $square"
swing 1700m -F 1332m
exceeds "$square" 125 || fail "with 4 times delta, 1.7 s is not amplified: $square"
# Played in a third of its time, a ripple of 3 s has a period of 1 s, at which it swings; in two thirds or two ninths it
# does not.
awk 'BEGIN { for (i = 0; i <= 720; i++) printf "%gs %.4f%%\n", i / 4, 50 + 2 * sin(i * 3.14159265 / 6) }' >ripple
for scale in 2/3 1/3 2/9; do
    run -P 12 -f realtime -c geom -d averageq -t file -T "ripple,scale=$scale,loop=no" --settle 5s
    echo "$scale $(figure 'mean squared error')"
done >squares
awk '{ square[NR] = $2 } END { exit !(square[2] > 3 * square[1] && square[2] > 3 * square[3]) }' squares ||
    fail "the ripple is not amplified at one speed alone: $(cat squares)"

# A trace that loops lasts a minute, another one until its end. Samples are of half a second.
printf '%s\n' '0s 50%' '10s 20%' >short
for loop in yes no; do
    run -P 2 -t file -T "short,loop=$loop"
    figure samples
done >counts
[ "$(cat counts)" = "$(printf '120\n20')" ] || fail "wrong default durations: $(cat counts)"

# Each option must change the output.
run=("${modules[@]}" -P 2 -n 6 -l 30% --class parallel -D 5m --duration 20s)
run "${run[@]}"
cp out plain
for more in '--tick-rate 250' '--lateness 3m' '--lateness 0' \
    '--preempt 2m' '--background 10%' '--seed 2 --class forking'; do
    # shellcheck disable=SC2086
    run "${run[@]}" $more
    ! cmp -s out plain || fail "$more has no effect"
done
run "${run[@]}" --class queue:40%
! cmp -s out plain || fail "--class queue has no effect"
run "${run[@]}" --tick-rate 250 -F count=ticks -D 20m
cp out plain
run "${run[@]}" --tick-rate 1000 -F count=ticks -D 20m
! cmp -s out plain || fail "--tick-rate has no effect"

run=("${modules[@]}" -P 2 --duration 5s)
run "${run[@]}" --sweep load=25%,50% --sweep 'control-options=0\,ke=0.1,0' --sweep=seed=1
[ "$(sed -n 1p out)" = "load,control-options,seed,$figures" ] || fail "wrong heading: $(cat out)"
[ "$(wc -l <out)" -eq 5 ] || fail "expected 4 runs: $(cat out)"
[ "$(sed -n 's/,1,10,0\..*//p' out)" = '25%,"0,ke=0.1"
25%,0
50%,"0,ke=0.1"
50%,0' ] || fail "wrong runs: $(cat out)"

# A run of a sweep equals a single run with the same options, even if an option is written differently.
run "${run[@]}" --sweep class=forking,blocking --seed 7 -l 40% --sweep load=60%
cp out swept
run "${run[@]}" --class blocking --seed 7 -l 60%
[ "$(sed -n 3p swept | cut -d , -f 1-3)" = blocking,60%,10 ] || fail "wrong row of the sweep: $(cat swept)"
load=$(sed -n 3p swept | cut -d , -f 5)
[[ $(figure load) == "$(awk "BEGIN { printf \"%.3f\", 100 * $load }")" ]] ||
    fail "$(cat swept) is not $(cat out)"
[ "$(sed -n 2p swept | cut -d , -f 4-)" != "$(sed -n 3p swept | cut -d , -f 4-)" ] ||
    fail "different classes give the same row: $(cat swept)"

run "${run[@]}" -l 90% -n 1 --sweep seed=1
[ "$(sed -n 2p out | cut -d , -f 8)" = '' ] || fail "a settling time is printed without settling: $(cat out)"

run "${run[@]}" --class blocking --sweep load=25%,50% --sweep seed=1,2
cp out first
run "${run[@]}" --class blocking --sweep load=25%,50% --sweep seed=1,2
cmp -s first out || fail "the same sweep gives different results"

# At a terminal, a sweep prints a table.
if have_terminal; then
    script -qec "$sssim ${modules[*]} -P 2 -l 50% --sweep dithering-options=20m,107m" /dev/null >out
    [ "$(wc -l <out)" -eq 3 ] || fail "the table is missing: $(cat out)"
    [[ $(sed -n 1p out) == 'dithering-options  mean error %'* ]] || fail "wrong heading: $(cat out)"
fi

refused 'feedback/own: a simulated load is relative to all CPUs: omit cpus' -l 50% -f own -F cpus=1
refused '--sweep requires a value' --sweep
refused "--sweep: 'load' is not an option with values" --sweep load
refused "--sweep: '=1' is not an option with values" --sweep =1
refused '--sweep: --load is swept twice' --sweep load=1 --sweep load=2
refused "--sweep: 'sweep' cannot be swept: name another option" --sweep sweep=1
refused "--sweep: --foo=1: unknown option '--foo'" --sweep foo=1
refused "--sweep: --laod=1: unknown option '--laod': did you mean '--load'?" --sweep laod=1
refused '--sweep: --csv=1: --csv takes no value' --sweep csv=1
# All arguments are checked before the first run.
refused "--sweep: --control=foo: unknown control module 'foo'" -l 50% --sweep control=rbpid,foo
refused '--sweep: --load=50% --cpus=x: --cpus:' --sweep load=50% --sweep cpus=1,x
refused '--sweep: --seed=1: no target is given' --sweep seed=1
many=()
for i in $(seq 17); do
    many+=(--sweep "o$i=1")
done
refused '--sweep: too many options to sweep (at most 16)' "${many[@]}"

refused "--class: unknown class 'serail': did you mean 'serial'?" -l 50% --class serail
refused "--foreground: unknown class 'serail'" --foreground serail --iteration 1s
printf '0 1\n2s\n' >a
refused '--class: a:2: invalid line "2s"' -l 50% --class profile:a
refused '--smt-fill requires --smt' -l 50% --smt-fill random
# Some runs of a sweep may lack what the option needs.
"$sssim" -l 50% --duration 3s --iteration 10m --smt-fill random --sweep smt=0,1.25 >out || fail "sweep: status $?"
refused "--smt-fill: 'core' is not one of: cores random" -l 50% --smt-fill core
refused '--window requires a value' --window
refused "--window: '100' has no unit" -l 50% --window 100
refused "--window: '0' is too small: use at least 50m" -l 50% --window 0
refused "--window: '1m' is too small: use at least 50m; 1m is 1 millisecond" -l 50% --window 1m
refused "--window: '1h' is too large: use at most 1M" -l 50% --window 1h
refused 'dithering/averageq: tau=21.4m is too short' -P 1 -n 99 -d averageq -l 50% --window 100m
refused '--settle leaves no' -l 50% --settle 60s
refused "unexpected argument 'true'" -l 50% -- true

# Milliseconds that probably should be minutes are accepted with one warning.
for words in '--warmup 1m' '--warmup 1m --sweep load=50%,60%'; do
    # shellcheck disable=SC2086 # words, not one
    "$sssim" -l 50% --duration 3s $words >out 2>err || fail "$words: $(cat err)"
    [ "$(head -n 1 err)" = 'sssim: warning: --warmup: 1m is 1 millisecond; for minutes write 1M' ] ||
        fail "$words: wrong warning: $(cat err)"
done
"$sssim" -t staircase -T 20%:60%:20%,hold=3m >out 2>err || fail "hold=3m: $(cat err)"
[ "$(cat err)" = \
    'sssim: warning: trace/staircase: hold: 3m is 3 milliseconds; for minutes write 3M' ] ||
    fail "hold=3m: wrong warning: $(cat err)"

# member NAME: prints the first member of this name in the JSON output.
member() {
    sed -n "s/^ *\"$1\": \([^,]*\),\{0,1\}$/\1/p" out | head -n 1
}

run queue --rate 50 --arrival concurrent --duration 10s --json
[ "$(member program)/$(member sent)/$(member succeeded)" = '"sssim queue"/500/500' ] ||
    fail "invalid JSON of queue: $(cat out)"
[ "$(member throughput)" = 50 ] || fail "wrong throughput: $(cat out)"

# --requests ends the run as planned.
for loop in '--rate 50 --arrival even' '--closed 1'; do
    # shellcheck disable=SC2086 # words, not one
    run queue $loop --requests 500
    grep -q '^- verdict: valid: nothing found in ' out || fail "queue $loop: wrong verdict: $(cat out)"
done

# The planned time suffices for 10 standard deviations of the number of requests, and one second.
run queue --rate 100 --requests 10000 --json
grep -q '"length_seconds": 111.1$' out || fail "queue plans a wrong time: $(cat out)"

# Without a time of sending, the intended rate is that of the profile, and the means of the machine are unknown.
for words in '--rate 10 --requests 1' '--rate 10 --arrival concurrent --requests 5' '--closed 4 --requests 4'; do
    # shellcheck disable=SC2086 # words, not one
    run queue $words
    ! grep -qE 'nan|^busy' out || fail "queue $words: figures of an empty time: $(cat out)"
    [[ $words == --closed* ]] || grep -q ' 10 requests per second were intended' out ||
        fail "queue $words: wrong rate: $(cat out)"
done

queue=(--arrival poisson --spread exponential --cap 5 --timeout 100m --json)
# The short options of ssrequest are accepted.
run queue --rate 80 "${queue[@]}"
cp out before
run queue -r 80 -d 10s "${queue[@]}" -t 100m
cmp -s before out || fail "short options give a different result: $(cat out)"
for words in '--seed 2' '--cap 6' '--when-full drop' '--timeout 90m' '--timeout 0' '--settle 1s' \
    '--work 9m' '--spread constant' '--workers 2' '--servers 2' '--speeds 1.1' '--duty 90%' \
    '--duration 11s' '--requests 100' '--arrival even'; do
    # shellcheck disable=SC2086 # words, not one
    run queue --rate 80 "${queue[@]}" $words
    ! cmp -s before out || fail "queue $words has no effect"
done
for words in '--duty 80%' '--servers 2' '--work 90m'; do
    # shellcheck disable=SC2086
    run queue --rate 80 "${queue[@]}" $words
    cp out before
    case $words in
    --duty*) more=(--tau 50m) ;;
    --servers*) more=(--balance least-connections) ;;
    *) more=(--given-up skip) ;;
    esac
    # shellcheck disable=SC2086
    run queue --rate 80 "${queue[@]}" $words "${more[@]}"
    ! cmp -s before out || fail "queue $words ${more[*]} has no effect"
done

# Steps, and a closed loop.
run queue --profile step --max 140 --step 5 --hold 2s --work 1m --json
[ "$(member sent)" = 3780 ] || fail "wrong number of requests with steps: $(cat out)"
printf '0 50%%\n10s 50%%\n+0 100%%\n20s 100%%\n' >loads
run queue --trace loads --rate 10 --json
[ "$(member sent)" = 150 ] || fail "wrong number of requests with a trace: $(cat out)"
run queue --closed 4 --requests 1000 --json
[ "$(member loop)/$(member sent)" = '"closed"/1000' ] || fail "wrong closed loop: $(cat out)"
[ "$(member cap)" = 4 ] || fail "closed loop: wrong cap: $(member cap)"
run queue --closed 4
grep -q 'A closed loop' out || fail "the closed loop is not described: $(cat out)"
run queue --version
[[ $(cat out) == "sssim "* ]] || fail "wrong version: $(cat out)"

# Frequency, contention and power of the machine.
{ echo busy,watts; for i in 0 1 2 4 8; do echo "$i,$((100 + 20 * i))"; done; } >watts
printf 'n\trequests_per_second\n1\t100\n2\t190\n4\t320\n' >capacities
machine=(--rate 80 --frequency 1.4GHz --base 2100MHz --power watts --json)
run queue --rate 80 --power watts --json
awk '/"watts"/ { ok = $2 + 0 > 115.999 && $2 + 0 < 116.001 } END { exit !ok }' out ||
    fail "80 % of one CPU of 120 W, and 100 W when idle, are not 116 W: $(cat out)"
run queue --rate 80 --requests 1 --power watts --json
[ "$(member watts)/$(member joules_per_success)" = null/null ] || fail "power of an empty time: $(cat out)"
run queue "${machine[@]}" --workers 4
cp out before
for words in '--frequency 1.5GHz' '--base 2.2GHz' '--beta 50%' '--contention servers:0.1,0' '--contention workers:0.1,0' \
    '--contention workers:0,0.1' '--contention workers:capacities'; do
    # shellcheck disable=SC2086 # words, not one
    run queue "${machine[@]}" --workers 4 $words
    case $words in
    *servers:*) cmp -s <(sed '/contention_/d' before) <(sed '/contention_/d' out) || fail "contention of one server: $(cat out)" ;;
    *) ! cmp -s before out || fail "queue $words has no effect" ;;
    esac
done
run queue --rate 80 --workers 4 --contention workers:0.1,0.02
grep -q 'contention a = 0.10*, b = 0.020*\b' out || fail "a and b are not as given: $(cat out)"
run queue --rate 80 --workers 4 --contention workers:capacities
grep -q '^speed .* of each server; contention a = 0.0[0-9]*, b = 0' out || fail "a and b are not printed: $(cat out)"
refused '--frequency requires --base' queue --rate 5 --frequency 1GHz
refused '--beta requires --frequency' queue --rate 5 --beta 50%
refused "--frequency: '1.4 GHz' contains white space" queue --rate 5 --frequency '1.4 GHz' --base 2GHz
refused "--base: '2' is not a frequency: write a number and a unit, such as 1.4GHz" queue --rate 5 --frequency 1.4GHz --base 2
refused '--frequency must be between 0.1 and 2 times --base' queue --rate 5 --frequency 5GHz --base 2GHz
refused "--contention: 'cores:1,2' is not servers:A,B, workers:A,B" queue --rate 5 --contention cores:1,2
refused '--contention: none cannot be opened' queue --rate 5 --contention workers:none
refused '--power: up to 9 workers may be busy, but the table ends at 8' queue --rate 5 --workers 9 --power watts
refused "--power: capacities:1:1: no column 'busy'" queue --rate 5 --power capacities

refused '--profile constant requires --rate' queue
refused 'the rate is 0, so nothing would be sent' queue --rate 0
refused 'the rate is 0, so nothing would be sent' queue --rate 0 --requests 5
refused "--step: '0' is too small" queue --max 140 --step 0 --hold 2s
refused 'the only step below 200 requests per second' queue --max 200 --step 200 --hold 2s
refused '--profile step requires --step' queue --profile step --max 140
refused '--rate has no meaning with --profile step' \
    queue --profile step --max 140 --step 5 --hold 2s --rate 5
refused '--hold has no meaning with --profile constant' \
    queue --profile constant --rate 5 --hold 2s
refused '--hold has no meaning with --profile trace' queue --trace a --rate 5 --hold 2s
refused '--profile step requires --max' queue --hold 2s
refused '--profile trace requires --trace' queue --profile trace --rate 5
refused '--trace has no meaning with --profile constant' \
    queue --profile constant --rate 5 --trace a
refused '--rate cannot be combined with --closed' queue --closed 5 --rate 5
refused '--cap cannot be combined with --closed' queue --closed 5 --cap 5
refused '--duty must be above 0' queue --rate 5 --duty 0
refused "--speeds: 'fast'" queue --rate 5 --speeds 1,fast
refused "--speeds: '0' is not between" queue --rate 5 --speeds 1,0
refused '--settle requires --profile constant' \
    queue --profile step --max 140 --step 5 --hold 2s --settle 5s
refused '--speeds: 2 speeds for 3 servers: give one for each' queue --rate 5 --speeds 1,2 --servers 3
refused '--speeds: too many servers (at most 64)' queue --rate 5 --speeds "1$(printf ',1%.0s' {1..64})"
refused '--settle leaves no' queue --rate 5 --settle 10s
refused '--settle leaves no' queue --rate 5 --requests 10 --settle 2s
refused "unknown option '--rat'" queue --rat 5
refused "--tau: '1m' is too small: use at least 2m" queue --rate 5 --duty 50% --tau 1m

# A simulated fleet: the number of processes does not change the nodes' lateness, clocks and failures.
mkdir traces
printf '0 20%%\n' >traces/a.txt
printf '0 60%%\n' >traces/b.txt
mkdir traces/old # folders are no traces, as for ssfleet
fleet=(fleet --nodes 40 --traces traces --late 50m --clock 1s --clock-error 2m --failures 25% --interval 2s)
run "${fleet[@]}" --jobs 1 --record one -- -P 1 --duration 10s
cp out whole
run "${fleet[@]}" --jobs 3 --record three -- -P 1 --duration 10s
cmp out whole || fail "the output depends on the number of processes"
diff -r one three || fail "records depend on the number of processes"
[ "$(find one -name samples.csv | wc -l)" -eq 40 ] || fail "not every node has a record"
# Each node fails with a probability of 1/4: of 40, 3 to 19 do, with a probability of more than 99.9 %.
failed=$(grep -c ',failed,' one/fleet.csv)
[[ $failed -ge 3 && $failed -le 19 ]] || fail "$failed of 40 nodes failed instead of about 10"
grep -q "^failed  *$failed\$" whole || fail "wrong number of failures: $(cat whole)"
[ "$(sed -n 2,3p one/fleet.csv | cut -d , -f 1-3)" = "n0,n0,a.txt
n1,n1,b.txt" ] || fail "wrong table: $(head -n 3 one/fleet.csv)"
[ "$(sed -n 2p one/n1/samples.csv | cut -d , -f 2,3)" = 2.000000,0.600000 ] ||
    fail "wrong first sample: $(sed -n 2p one/n1/samples.csv)"
# Times in a record include the clock's offset; the record also has the measured offset, correct within 2 ms.
awk -F , 'NR > 1 && ($7 > 5 || $7 < -5 || $8 != 0.002) { exit 1 }' one/fleet.csv || fail "wrong clocks"
[ "$(cut -d , -f 7 one/fleet.csv | sort -u | wc -l)" -gt 35 ] || fail "clocks do not differ"
run fleet --nodes 3 -- -l 40% --duration 10s
grep -q '^target  *40.000 %$' out || fail "wrong target: $(cat out)"
grep -q 'in 90 % of such fleets' out || fail "no interval: $(cat out)"
run fleet --nodes 3 -- -P 1 -l 40% --background 0.6 --duration 10s
grep -qE '^mean error +-[12][0-9]\.' out || fail "the error of a load above the target is not negative: $(cat out)"
cp -r traces odd && mv odd/b.txt 'odd/"b".txt'
run fleet --nodes 2 --traces odd --record quotes -- -P 1 --duration 1s
[ "$(sed -n 2p quotes/fleet.csv | cut -d , -f 1-4)" = 'n0,n0,"""b"".txt",done' ] || fail "wrong table: $(cat quotes/fleet.csv)"
# A fleet with another seed has other nodes, not the same ones under other names.
for seed in 1 2; do
    run fleet --nodes 3 --seed "$seed" --interval 500m --record "seed$seed" -- -P 1 -l 40% --duration 10s
done
[ "$(sha256sum seed?/*/samples.csv | cut -c 1-64 | sort -u | wc -l)" -eq 6 ] || fail "two fleets have nodes in common"
# A load of 100 % is the quota of the group.
run fleet --nodes 1 --record grouped -- -P 4 -f cgroup --quota 1.5 -l 50% --duration 10s
grep -q '"capacity_cpus": 1.5}' grouped/n0/plan.json || fail "wrong capacity: $(cat grouped/n0/plan.json)"
# A record has no load of the time before a free section in a later sample.
mkdir gaps
printf '0 90%%\n15s 90%%\n15s free\n20s 90%%\n40s 90%%\n' >gaps/t.txt
run fleet --nodes 1 --traces gaps --record gap -- -P 1 --duration 40s
[ "$(tail -n +2 gap/n0/samples.csv | cut -d , -f 2,3,15)" = '10.000000,0.900000,1
15.000000,0.900000,1
20.000000,,0
30.000000,0.900000,1
40.000000,0.900000,1' ] || fail "wrong samples around a free section: $(cat gap/n0/samples.csv)"
awk -F , '$15 == 1 && ($3 > 0.95 || $4 > 0.95 || $4 < 0.85) { exit 1 }' gap/n0/samples.csv ||
    fail "wrong loads around a free section: $(cat gap/n0/samples.csv)"
# The last sample of a record is shorter if the run ends before it is complete.
for seconds in 5 25; do
    run fleet --nodes 2 --record "rest$seconds" -- -P 1 -l 40% --duration "${seconds}s"
done
[ "$(tail -n +2 rest5/n1/samples.csv | cut -d , -f 2,3,15)" = 5.000000,0.400000,1 ] ||
    fail "wrong sample of a short run: $(cat rest5/n1/samples.csv)"
[ "$(tail -n +2 rest25/n1/samples.csv | cut -d , -f 2,3,15)" = '10.000000,0.400000,1
20.000000,0.400000,1
25.000000,0.400000,1' ] || fail "wrong last sample: $(cat rest25/n1/samples.csv)"
# Neither the output nor the record counts the time of --settle.
printf '%s\n' '0 90%' '5s 90%' '5s 40%' '15s 40%' >settling
run fleet --nodes 2 --record settled -- -P 1 -t file -T settling,loop=no --settle 5s
grep -q '^target  *40.000 %$' out || fail "fleet: --settle has no effect: $(cat out)"
[ "$(tail -n +2 settled/n1/samples.csv | cut -d , -f 2,3,15)" = '5.000000,0.900000,0
15.000000,0.400000,1' ] || fail "wrong samples after --settle: $(cat settled/n1/samples.csv)"
# Nothing is measured without a complete window under control.
refused 'nothing was measured: no node was under control for a whole --window' \
    fleet --nodes 2 --record nothing -- -P 1 -l 50% --duration 0.1s
[ ! -e nothing ] || fail "a simulation without results leaves a folder"
# One of these nodes fails before it is measured. A quarter of the drawn fleets have no other node.
run fleet --nodes 2 --failures 50% --seed 11 -- -P 1 -l 40% --duration 1s
! grep -q nan out || fail "a node without samples makes the interval invalid: $(cat out)"
refused '--record: one: File exists' fleet --record one
refused "node n0: unknown option '--nonsense'" fleet --nodes 2 --jobs 1 --record invalid -- --nonsense
[ ! -e invalid ] || fail "an invalid option leaves a folder"
cp -r traces damaged && echo nonsense >damaged/b.txt
refused 'node n1: ' fleet --nodes 2 --traces damaged --jobs 1 --record invalid -- -P 1 --duration 1s
[ ! -e invalid ] || fail "an invalid trace leaves a folder"
# An invalid trace is reported at once, not after other nodes have simulated 100 years.
refused 'node n1: ' fleet --nodes 2 --traces damaged --jobs 2 --record invalid -- -P 1 --duration 36500d
[ ! -e invalid ] || fail "an invalid trace leaves a folder"
refused '--traces: nowhere: No such file' fleet --traces nowhere
for words in '--foreground serial --iteration 1s' --csv --help --version; do
    # shellcheck disable=SC2086 # words, not one
    refused 'node n0: options after -- must not contain --foreground, --sweep, --record, --csv, ' \
        fleet --nodes 1 -- -l 50% $words
done
"$sssim" fleet --nodes 3 --jobs 3 -- -P 1 -l 50% --duration 5s --warmup 10m >out 2>err ||
    fail "a doubtful option of nodes is refused: $(cat err)"
[ "$(<err)" = 'sssim: warning: --warmup: 10m is 10 milliseconds; for minutes write 10M' ] ||
    fail "a doubtful option of nodes is not reported once: $(cat err)"
refused 'node n0: options after -- must not contain --seed' fleet --nodes 2 --jobs 1 -- -P 1 -l 50% --duration 1s --seed 7
refused 'node n0: options after -- must not contain -t or -T' \
    fleet --nodes 2 --jobs 1 --traces traces -- -P 1 --duration 1s -t constant -T 50%
refused 'node n0: options after -- must not contain -t or -T' \
    fleet --nodes 2 --jobs 1 --traces traces -- -P 1 --duration 1s -T traces/b.txt
# If the program is killed, the processes that simulate its nodes end, too.
has_two_children() {
    [ "$(pgrep -P "$1" | wc -l)" -eq 2 ]
}
"$sssim" fleet --nodes 2 --jobs 2 -- -P 1 -l 50% --duration 36500d >out 2>&1 &
simulator=$!
await has_two_children "$simulator"
children=$(pgrep -P "$simulator") || true
{
    kill -KILL "$simulator"
    wait "$simulator" || true
} 2>err
for child in $children; do
    await is_gone "$child"
    is_gone "$child" || kill -KILL "$child"
done
if have_reports "$1"; then
    "$bin/ssreport" --table fleet one >fleet.csv || fail "the fleet cannot be reported"
    [ "$(tail -n 1 fleet.csv | cut -d , -f 3,5)" = "40,$failed" ] || fail "wrong report: $(cat fleet.csv)"
    "$bin/ssreport" --table fleet rest5 >fleet.csv || fail "a fleet with a short run cannot be reported"
    [ "$(tail -n 1 fleet.csv | cut -d , -f 3,5)" = 2,0 ] || fail "nodes of a short run failed: $(cat fleet.csv)"
    "$bin/ssreport" one >answer || fail "the fleet cannot be reported"
    "$bin/ssreport" --check one/ >checks 2>err || [ $? -eq 3 ] || fail "records of nodes cannot be checked"
    [ "$(grep -cE '^one/n[0-9]+: (valid|doubtful|invalid): ' checks)" -eq 40 ] || fail "wrong checks: $(cat checks)"
    "$bin/ssreport" --check --format json one >checks 2>err || [ $? -eq 3 ] || fail "records of nodes cannot be checked as JSON"
    [ "$(grep -cE '"record": *"one/n[0-9]+"' checks)" -eq 40 ] || fail "nodes are missing in the JSON: $(cat checks)"
    cp -r one lacking && rm -r lacking/n1
    status=0
    "$bin/ssreport" --check lacking >checks 2>err || status=$?
    [[ $status -eq 3 && $(<checks) = *'lacking/n1: invalid: '* ]] || fail "a missing record is not invalid: $(cat checks)"
    tr '\n' ' ' <answer | grep -qE 'These clocks are not trusted: n[0-9]+ \([0-9.]+ s (ahead|behind), known within 0.002 s\)' ||
        fail "no clock is named: $(cat answer)"
    # The intervals of a rehearsal contain a sample of other nodes, but rarely one with an additional disturbance.
    run fleet --nodes 60 --traces traces --record rehearsal -- -P 1 --duration 20s
    run fleet --nodes 10 --seed 2 --traces traces --record sample -- -P 1 --duration 20s
    run fleet --nodes 10 --seed 2 --traces traces --record disturbed -- -P 1 --duration 20s --background 0.3
    "$bin/ssreport" rehearsal --against sample >answer || fail "the sample cannot be reported"
    grep -qx 'Do 10 nodes follow their traces as 60 nodes predict?' answer || fail "wrong question: $(cat answer)"
    [ "$("$bin/ssreport" --table fleet-nodes --column error_within rehearsal --against sample | grep -c yes)" -ge 5 ] ||
        fail "few nodes behave as predicted: $(cat answer)"
    "$bin/ssreport" rehearsal --against disturbed >answer || fail "the sample cannot be reported"
    grep -q '^[0-3] of 10 nodes are in the interval that rehearsal predicts' answer || fail "wrong answer: $(cat answer)"
fi

# The names of both workloads together are too long for one folder.
long=$(printf '%0200d' 0)
mkdir "$long"
printf '%s\n' '0 1' '1s 0' '2s 0' >"$long/profile"
run -P 1 -l 50% --duration 2s --foreground "profile:$long/profile" --class "profile:$long/profile" --iteration 20m \
    --record long --rounds 2
[ "$(find long/runs -name samples.csv | wc -l)" -eq 4 ] || fail "a study with long names: $(find long)"
# The run is shorter than a sample.
run -P 1 -l 50% --duration 0.4s --foreground serial --iteration 20m
[ "$(awk 'NR == 2 { print $4, $5 }' out)" = 'none none' ] ||
    fail "a study without samples: wrong errors: $(cat out)"
# throughput_of RECORD: prints the result of the check for a change of throughput.
throughput_of() {
    tr -d '\n' <"$1/summary.json" | sed -n 's/.*"check": "throughput", *"result": "\([^"]*\)".*/\1/p'
}
# The throughput follows the target, so it only has to be constant if the target is.
printf '%s\n' '0 30%' '1M 30%' '1M 60%' '2M 60%' >stairs
run -P 2 -l 50% --duration 2M --foreground serial --iteration 20m --record steady
run -P 2 -t file -T stairs,loop=no --duration 2M --foreground serial --iteration 20m --record stairs-record
for record in steady stairs-record; do
    for round in "$record"/runs/*/background; do
        throughput_of "$round" >"$record.result"
    done
done
[ "$(<steady.result)" = passed ] || fail "a constant target: throughput: $(<steady.result)"
[ "$(<stairs-record.result)" = "not checked" ] || fail "a target with a step: throughput: $(<stairs-record.result)"

run --help
for option in $({ "$sssim" --help && "$sssim" queue --help && "$sssim" fleet --help; } | grep -o -- '--[a-z-]*' | sort -u); do
    grep -qF -- "${option//-/\\-}" "$manual" || fail "$option is not in the manual"
done
