#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2317 # parts are called by their names
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/knobs.sh [OPTION]...
Measures knobs of ssactuate on an idle machine with two or more CPUs, as tables in Markdown.
Exits with status 1 if a limit is missed.

  --parts LIST   default capacity,shrink,migrations,follow:
                 capacity    the rate at which ssburn serve exceeds a limit of 1 s on average or 2 s for 95 %, at levels
                             that double or halve it
                 shrink      requests lost when the second of two instances leaves under load
                 migrations  of threads of a service, bound one to one and free
                 follow      work of two programs apart, together, and with the policy that a study of both gives, for
                             the load of the second one
  --seconds N    of \`capacity\`, for each of 30 rates; default 4
  --rounds N     of \`capacity\`, each level once in a round; default 2
  --watch N      seconds of \`migrations\`, for each level; default 60
  --step N       seconds of each step of the study of \`follow\`; default 10
  --repeats N    rounds of this study; default 3
  --phase N      seconds of \`follow\` between changes of the load; default 15
  --build DIR    default build
  --help         print this help
END
}

parts=capacity,shrink,migrations,follow seconds=4 rounds=2 watch=60 step=10 repeats=3 phase=15 missed=0
take_options parts seconds rounds watch step repeats phase build -- "$@"
for part in ${parts//,/ }; do
    [[ " capacity shrink migrations follow " = *" $part "* ]] || fail "--parts: $part: not a part"
done
open_bench

# bar SENTENCE CONDITION: prints whether a requirement is met; CONDITION is an expression of awk.
bar() {
    if awk "BEGIN { exit !($2) }"; then
        echo "Bar: $1: met"
    else
        echo "Bar: $1: missed"
        missed=1
    fi
}

# await_line PATTERN FILE: waits until a line of the file matches, while the last started program runs.
await_line() {
    until grep -Eq "$1" "$2" 2>/dev/null; do
        kill -0 "${started[-1]}" 2>/dev/null || fail "the program ended: $(tail -n 1 "$2")"
        sleep 0.05
    done
}

# serve WORKERS KNOB...: starts a service with these knobs and sets `urls`.
serve() {
    rm -f "$folder/server" # of the previous service
    ssactuate run "${@:2}" -- ssburn serve --listen '{port}' --workers "$1" --work 10m >"$folder/server" 2>&1 &
    started+=($!)
    await_line '^urls ' "$folder/server"
    read -ra urls <<<"$(sed -n 's/^urls //p' "$folder/server")"
}

# Levels: requests per second at which CPUs or quota are fully used, workers per instance, and knobs; then the pairs of
# levels that are compared, and the required ratio.
capacity_levels=('100 1 instances=1' '200 1 instances=2' '100 2 instances=1 cpus=1' '200 2 instances=1 cpus=2'
    '100 1 instances=1 quota=100%' '50 1 instances=1 quota=50%' '50 1 instances=1 duty=50%')
capacity_ratios=('1 0 1.7 2.0' '3 2 1.7 2.0' '5 4 0.475 0.525')

# capacity LEVEL: prints the rate at which the service violates a limit, from steps of 5 % of the full rate. Relative to
# that rate, steps are equal at all levels, and so is the time that a queue needs to violate a limit.
capacity() {
    local words
    read -ra words <<<"$1"
    serve "${words[@]:1}"
    rm -rf "$folder/record"
    ssrequest --quiet --profile step --max "$((words[0] * 3 / 2))" --step "$(awk "BEGIN { print ${words[0]} / 20 }")" \
        --hold "${seconds}s" --record "$folder/record" "${urls[@]}" >/dev/null 2>&1 || true
    end_last
    ssreport --table requests-limits "$folder/record" | sed -n 's/.*"intended, all",both,.*,\([0-9.]*\)$/\1/p' | grep . ||
        fail "$1: no limit is broken up to $((words[0] * 3 / 2)) requests a second"
}

bench_capacity() {
    local round i words from to low high ratio level
    local -A rates=()
    for ((round = 1; round <= rounds; round++)); do
        for i in "${!capacity_levels[@]}"; do
            rates[$i]+="$(capacity "${capacity_levels[i]}") "
        done
    done
    echo "| workers | knobs | capacity, /s: median | smallest | largest |"
    echo "| ---: | --- | ---: | ---: | ---: |"
    for i in "${!capacity_levels[@]}"; do
        rates[$i]=$(tr ' ' '\n' <<<"${rates[$i]}" | grep . | median)
        read -ra words <<<"${rates[$i]}"
        level=${capacity_levels[i]#* }
        printf '| %s | %s | %.1f | %.1f | %.1f |\n' "${level%% *}" "${level#* }" "${words[@]}"
    done
    for words in "${capacity_ratios[@]}"; do
        read -r from to low high <<<"$words"
        ratio=$(awk -v one="${rates[$from]}" -v other="${rates[$to]}" 'BEGIN { printf "%.3f", one / other }')
        bar "the capacity at ${capacity_levels[from]#* * } is $ratio times that at ${capacity_levels[to]#* * } ($low to $high)" \
            "$ratio >= $low && $ratio <= $high"
    done
}

bench_shrink() {
    local lost
    mkdir "$folder/load"
    printf 'load\n0.8\n' >"$folder/load/samples.csv"
    printf 'load record %s\nevery 100m\nstay 1s\nabove 60%% instances=2\nbelow 40%% instances=1\n' "$folder/load" \
        >"$folder/policy"
    ssactuate follow --policy "$folder/policy" --control "$folder/control" -- ssburn serve --listen '{port}' --work 5m \
        >"$folder/server" 2>&1 &
    started+=($!)
    await_line '^urls ' "$folder/server"
    read -ra urls <<<"$(sed -n 's/^urls //p' "$folder/server")"
    ssrequest --quiet --control "$folder/control" --rate 150 -d 8s --timeout 5M --each "$folder/each" \
        --json "$folder/requests.json" "${urls[@]}" >"$folder/generator" 2>&1 &
    started+=($!)
    until awk 'END { exit NR <= 300 }' "$folder/each" 2>/dev/null; do
        kill -0 "${started[-1]}" 2>/dev/null || fail "ssrequest ended: $(tail -n 1 "$folder/generator")"
        sleep 0.05
    done
    printf 'load\n0.2\n' >"$folder/load/samples.csv"
    wait "${started[-1]}" || true
    end_started
    lost=$(($(figure "$folder/requests.json" failed) + $(figure "$folder/requests.json" refused)))
    echo "Of $(figure "$folder/requests.json" intended) requests, $lost were lost;" \
        "$(grep -c '^urls ' "$folder/server") sets of instances."
    bar "no request is lost when an instance leaves" "$lost == 0 && $(grep -c '^urls ' "$folder/server") == 2"
}

# migrations: prints how often threads of all servers changed CPU, from the kernel's counters.
migrations() {
    local pid
    for pid in $(pgrep -P "${started[-1]}" -x ssburn); do
        cat "/proc/$pid"/task/*/sched
    done | awk '$1 == "se.nr_migrations" { sum += $3 } END { print sum + 0 }'
}

bench_migrations() {
    local level before count
    local -A counts=()
    echo "| knobs | migrations in $watch s |"
    echo "| --- | ---: |"
    for level in pin=free,each pin=free; do
        serve 4 instances=1 "$level"
        ssrequest --quiet --rate 100 -d "$((watch + 4))s" --arrival poisson "${urls[@]}" >/dev/null 2>&1 &
        started+=($!)
        sleep 2
        started=("${started[@]: -1}" "${started[@]::${#started[@]}-1}") # moves the service to the end again
        before=$(migrations)
        sleep "$watch"
        count=$(($(migrations) - before))
        counts[$level]=$count
        echo "| $level | $count |"
        end_started
    done
    bar "threads that are bound one to one do not migrate" "${counts[pin=free,each]} == 0"
    bar "free threads migrate" "${counts[pin=free]} > 0"
}

# study: measures both programs apart and together, at loads of the second one from 90 to 10 %, and sets `rules` to the
# policy that ssreport writes. Fails if no load at which the better placement changes is certain.
study() {
    local iteration_line='iteration = iteration [0-9]+ ([0-9.]+) ms'
    printf '%s\n' '[front]' "command = ${front_words[*]}" "$iteration_line" '[back]' "command = ${back_words[*]}" \
        "$iteration_line" >"$folder/catalogue"
    "$build/bin/sslab" interference --bin "$build/bin" --catalogue "$folder/catalogue" --pairs front:back --alone \
        --placements per-core,free --levels 90%:10%:20% --hold "$step" --edge "$(awk "BEGIN { print $step / 10 }")" \
        --warmup 2 --rounds "$repeats" --foreground-instances 1 --output "$folder/study" >"$folder/err" 2>&1 ||
        fail "the study failed: $(tail -n 1 "$folder/err")"
    ssreport --quiet --policy "$folder/rules" "$folder/study" 2>"$folder/err" || return
    readarray -t rules < <(sed '/^#/d; /^load side$/d' "$folder/rules")
}

# follow NAME RULE...: runs two programs side by side with a policy of these rules. Sets `work` to the number of
# iterations of both, which need equal work, and `switches`.
follow() {
    local name=$1 status=0 front back
    printf 'load side\nevery 500m\nstay 3s\n' >"$folder/policy"
    printf '%s\n' "${@:2}" >>"$folder/policy"
    ssactuate follow --policy "$folder/policy" --record "$folder/followed" --side back="$folder/back" -- \
        timeout "$((4 * phase))" "${front_words[@]}" >"$folder/front.log" 2>"$folder/err" || status=$?
    [ "$status" -eq 124 ] || fail "status $status: $(tail -n 1 "$folder/err")"
    front=$(grep -c '^iteration' "$folder/front.log" || true)
    back=$(grep -c 'iteration [0-9]' "$folder/back.log" || true)
    work=$((front + back))
    switches=$(($(grep -c '"line":' "$folder/followed") - 1))
    echo "| $name | $front | $back | $work | $switches |"
}

# The first program has a thread per CPU; all threads wait for each other at the end of an iteration. The second one has
# a load of 20 or 80 % of half of the CPUs. Together, it delays some threads of the first one, and thus all of them;
# apart, each program has half of the CPUs. At the low load, together is better; at the high load, apart.
bench_follow() {
    local front_words back_words rules=() policy work switches apart together units half=$(($(nproc) / 2))
    units=$(calibrate serial)
    front_words=("$build/tests/coupled" "$(nproc)" "$units")
    back_words=(ssburn serial --work "$units")
    study && policy="${rules[*]/%/;}" || policy=$(tail -n 1 "$folder/err")
    cat >"$folder/back" <<END
#!/bin/sh
exec >$folder/back.log 2>&1
for load in 20 80 20 80; do
    showstopper --quiet -n $half -f own -F cpus=$half -l \$load% --duration ${phase}s ${back_words[*]}
done
END
    chmod +x "$folder/back"
    echo "| placement | iterations of the first program | of the second | of both | switches |"
    echo "| --- | ---: | ---: | ---: | ---: |"
    follow apart "below 100% pin=per-core"
    apart=$work
    follow together "below 100% pin=free"
    together=$work
    [ ${#rules[@]} -eq 0 ] || follow followed "${rules[@]}"
    echo
    echo "Policy: ${policy%;}"
    bar "a study of both programs gives a policy" "${#rules[@]} > 0"
    [ ${#rules[@]} -gt 0 ] || return 0
    bar "the policy does at least as much as the better placement, less 1 %" \
        "$work >= 0.99 * ($apart > $together ? $apart : $together)"
    bar "a switch at each change of the load, and no other" "$switches == 3"
}

for part in ${parts//,/ }; do
    echo
    "bench_$part"
done
exit "$missed"
