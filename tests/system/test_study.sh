#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The interference of simulated pairs of programs is known. ssreport must find it in their records, with intervals that
# contain it.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# The steps of a pair, and iterations that vary by 3 %: about 120 per step.
rounds=20
pair=(-P 1 -n 4 --foreground serial --iteration 50m --noise 3%
    -t staircase -T "90%:10%:20%,hold=8s,symmetric=yes")

# simulate NAME OPTION...
simulate() {
    "$bin/sssim" "${pair[@]}" --rounds "$rounds" "${@:2}" --record "$1" >"$1.out" 2>"$1.err" ||
        fail "sssim ${*:2}: $(cat "$1.err")"
    [ ! -s "$1.err" ] || fail "sssim ${*:2}: unexpected message: $(cat "$1.err")"
}

# report NAME
report() {
    need_built reports
    "$bin/ssreport" --table interference "$1" >"$1.csv" 2>"$1.said" || fail "ssreport: $(cat "$1.said")"
}

# check NAME TRUE MEAN-WITHIN EACH-WITHIN HALF-WIDTH: TRUE is the simulated metric. The estimate of each round must be
# within EACH-WITHIN of it, and their mean within MEAN-WITHIN; 17 of 20 intervals must contain it, and none may be wider
# than HALF-WIDTH to either side.
check() {
    awk -F, -v true="$2" -v mean="$3" -v each="$4" -v half="$5" -v rounds="$rounds" '
        function fail(text) {
            print text
            failed = 1
        }
        function off(value) {
            return value < true ? true - value : value - true
        }
        NR == 1 {
            for (i = 1; i <= NF; i++)
                at[$i] = i
            next
        }
        {
            metric = $at["metric_percent"]
            low = $at["low_percent"]
            high = $at["high_percent"]
            if (metric == "" || low == "" || high == "")
                fail("no interval: " $0)
            sum += metric
            count++
            contained += low <= true && true <= high
            if (off(metric) > each)
                fail("round " $at["round"] ": " metric " is too far from " true)
            if ((high - low) / 2 > half)
                fail("round " $at["round"] ": " low " to " high " is too wide")
        }
        END {
            if (count != rounds)
                fail(count " rounds")
            if (contained < 17 * rounds / 20)
                fail("only " contained " intervals contain " true)
            if (off(sum / count) > mean)
                fail("the mean is " sum / count)
            exit failed
        }' "$1.csv" >"$1.wrong" || fail "$1: $(cat "$1.wrong")"
}

# known NAME METRIC: fails unless sssim reports this metric for the pair.
known() {
    [ "$(sed -n 's/^known interference *\([^ ]*\) %$/\1/p' "$1.out")" = "$2" ] ||
        fail "$1: sssim reports a different metric: $(tail -n 1 "$1.out")"
}

# The metric is 100 w P a / (M - w (b - 1) a). Each side of `two` has its own kind of program.
known_interference_is_found() { # case
    local name metric half options
    while IFS='|' read -r name metric half options; do
        # shellcheck disable=SC2086 # several words
        simulate "$name" $options
        known "$name" "$metric"
        report "$name"
        check "$name" "$metric" 0.3 2 "$half"
    done <<'END'
apart|0.000|2|
third|35.000|2.5|--memory 1000000 --accesses 500000 --waiting 70%
two|22.222|2.5|-P 2 -n 6 --class forking --memory 1000000 --accesses 200000 --waiting 0.5
END
}

# The same command line gives the same bytes; another seed does not.
the_same_seed_gives_the_same_study() { # case
    rounds=2
    simulate study --memory 100 --accesses 50 --waiting 20%
    mv study first
    simulate study --memory 100 --accesses 50 --waiting 20%
    diff -r first study >differences || fail "the same seed gives different results: $(head -n 3 differences)"
    cmp -s study/runs/*-1/foreground/iterations.csv study/runs/*-2/foreground/iterations.csv &&
        fail "different seeds give the same result"
    return 0
}

# Each round is a pair in the manifest, whose columns are those of other experiments. Samples in a record are 500 ms
# long.
a_simulated_study_has_the_files_of_an_experiment() { # case
    local columns side file run
    rounds=3
    simulate folder --warmup 2s --settle 4s --seed 7 --window 250m
    columns=run,experiment,workload,method,placement,role,group,target,speed,tau_seconds,instances
    columns+=,cpus,stands_for,warmup_seconds,settle_seconds,seconds,hold_seconds,edge_seconds,seed
    columns+=,round,energy,status,reason,environment,measured_in,others
    [ "$(head -n 1 folder/manifest.csv)" = "$columns" ] || fail "wrong columns: $(head -n 1 folder/manifest.csv)"
    [ "$(tail -n 2 folder/manifest.csv)" = "$(
        name=sets-serial-serial-3
        row() {
            echo "runs/$name/$1,interference,serial,$2,sets,$1,$name,,,,$3,$4,,2,4,80,8,1.33333333,9,3,,done,,none,,"
        }
        row foreground uncontrolled 1 0
        row background default 4 1)" ] || fail "$(cat folder/manifest.csv)"
    for side in foreground background; do
        run=folder/runs/sets-serial-serial-3/$side
        for file in samples decisions iterations; do
            [ "$(wc -l <"$run/$file.csv")" -gt 160 ] || fail "$side: too few rows: $(wc -l "$run/$file.csv")"
        done
        [ "$(awk -F, 'NR > 1 && $(NF - 1)' "$run/samples.csv" | wc -l)" -eq 152 ] ||
            fail "$side: the counted samples are not those of 76 s"
        [ "$(sed 's/.*elapsed_seconds":\([-0-9.]*\),"event":"\([a-z]*\)".*/\1 \2/' "$run/events.jsonl")" = \
            "$(printf '%s\n' '-2.000000 warmup' '0.000000 settling' '4.000000 counting' \
                '80.000000 ending')" ] || fail "$side: wrong events: $(cat "$run/events.jsonl")"
        grep -q '"simulated": true' "$run/plan.json" || fail "the plan is not marked as simulated"
        awk '$1 == "\"p99\":" && $2 > 0 { found = 1 } END { exit !found }' \
            <(sed -n '/wake_lateness/,/}/p' "$run/summary.json") || fail "no executor was late"
    done
    [ "$(find folder -type d | wc -l)" -eq 11 ] || fail "unexpected folders: $(find folder -type d)"
}

# A single run has no foreground program.
instances_that_share_memory_slow_each_other() { # case
    local run=(-P 4 -n 2 -c fixed -l 100% --iteration 100m --duration 20s)
    "$bin/sssim" "${run[@]}" >alone
    [ "$(sed -n 's/^throughput *//p' alone)" = '20.000 /s' ] || fail "$(cat alone)"
    [ "$(sed -n 's/^iterations *//p' alone)" = 400 ] || fail "$(cat alone)"
    "$bin/sssim" "${run[@]}" --memory 100 --accesses 50 --waiting 40% >together
    [ "$(sed -n 's/^throughput *//p' together)" = '16.000 /s' ] || fail "$(cat together)"
    "$bin/sssim" "${run[@]}" --memory 100 --waiting 40% --accesses 50 --sweep seed=1,2 2>err >swept
    [ "$(awk -F, 'NR > 1 { print $NF }' swept)" = $'16.000000\n16.000000' ] || fail "$(cat swept)"
}

run_cases
