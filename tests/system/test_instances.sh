#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The actuator `instances` of ssactuate, with ssburn serve as the service and ssrequest as the generator.
# shellcheck disable=SC2016 # commands are literal

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
PATH=$build/bin:$PATH
need_built ssactuate ssburn ssrequest serve
folder=$scratch
pids=()

# ssactuate ends its instances.
clean_up() {
    [ "${#pids[@]}" -eq 0 ] || kill -TERM "${pids[@]}" 2>/dev/null || true
}

# serve_instances VERB OPTION... -- UNITS: starts ssactuate and waits until the instances serve. A request costs UNITS
# of work at the first instance, twice as much at the second, and so on. Sets `run_pid`; the output is in `run-out`.
serve_instances() {
    local words=()
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    rm -f "$folder/run-out" # has_urls would take the URLs of an earlier run for those of this one
    ssactuate "${words[@]}" -- sh -c 'exec ssburn serve --listen "$0" --units $(($1 * $2))' '{port}' '{instance}' "$2" \
        >"$folder/run-out" 2>"$folder/run-err" &
    run_pid=$!
    pids+=("$run_pid")
    await has_urls 1
}

# has_urls NUMBER: succeeds once URLs were printed this many times.
has_urls() {
    kill -0 "$run_pid" || fail "ssactuate has exited"
    [ -e "$folder/run-out" ] && [ "$(grep -c '^urls ' "$folder/run-out")" -ge "$1" ]
}

# urls: prints the latest URLs.
urls() {
    sed -n 's/^urls //p' "$folder/run-out" | tail -n 1
}

# served URL...: succeeds if all URLs answer a request.
served() {
    ssrequest --quiet --rate 10 --duration 0.1s "$@" >/dev/null 2>&1
}

refused() {
    ! served "$1"
}

# end_run: ends ssactuate with SIGTERM and sets `run_status`.
end_run() {
    run_status=0
    kill -TERM "$run_pid"
    wait "$run_pid" || run_status=$?
}

each_instance_listens_on_a_different_port() {
    serve_instances run instances=3 pin=first:1 --record "$folder/record" -- 1000
    local all=() url
    read -ra all <<<"$(urls)"
    [ "$(printf '%s\n' "${all[@]}" | sort -u | wc -l)" -eq 3 ] || fail "URLs: ${all[*]}"
    ssrequest --json "$folder/json" --rate 30 --duration 0.5s --timeout "${patience}s" "$(urls)" >/dev/null ||
        fail "requests failed"
    [ "$(grep -c '^    "http:' "$folder/json")" -eq 3 ] || fail "$(cat "$folder/json")"
    end_run
    [ "$run_status" -eq 0 ] || fail "status $run_status"
    for url in "${all[@]}"; do
        refused "$url" || fail "$url still serves"
        grep -qF "\"$url\"" "$folder/record" || fail "$(cat "$folder/record")"
    done
}

placeholders_in_urls_and_commands_are_replaced() {
    serve_instances run 'instances=2,url=http://127.0.0.1:{port}/page' -- 1000
    [[ $(urls) =~ ^http://127.0.0.1:[0-9]+/page\ http://127.0.0.1:[0-9]+/page$ ]] || fail "URLs: $(urls)"
    end_run
    ssactuate run instances=2 -- sh -c 'echo "$0 $1" >>"$2"; exit 3' '{port}' '{instance}' "$folder/words" \
        2>"$folder/err" && fail "the exit of an instance is ignored"
    grep -Eqx '[0-9]+ [12]' "$folder/words" || fail "$(cat "$folder/words")"
    grep -q 'exited with status 3: ending the others' "$folder/err" || fail "$(cat "$folder/err")"
}

passwords_of_urls_are_not_recorded() {
    serve_instances run 'instances=1,url=http://me:sesame@127.0.0.1:{port}/' --record "$folder/record" -- 1000
    [[ $(urls) = http://me:sesame@127.0.0.1:* ]] || fail "URLs: $(urls)"
    end_run
    grep -qF '"instances=1,url=http://me:***@127.0.0.1:{port}/"' "$folder/record" || fail "$(cat "$folder/record")"
    grep -q '"http://me:\*\*\*@127.0.0.1:[0-9]*/"' "$folder/record" || fail "$(cat "$folder/record")"
    mkdir "$folder/load"
    printf 'load\n0.8\n' >"$folder/load/samples.csv"
    printf '%s\n' "load record $folder/load" 'above 60% instances=1,url=http://me:sesame@127.0.0.1:{port}/' \
        'below 40% instances=1,url=http://me:sesame@127.0.0.1:{port}/' >"$folder/policy"
    serve_instances follow --policy "$folder/policy" --control "$folder/control" --record "$folder/changes" -- 1000
    end_run
    grep -qF '"instances=1,url=http://me:***@127.0.0.1:{port}/"' "$folder/changes" || fail "$(cat "$folder/changes")"
    ! grep -q sesame "$folder/record" "$folder/changes" || fail "a password was recorded"
}

invalid_uses_of_instances_are_refused() {
    local status words
    while IFS='|' read -r words message; do
        status=0
        eval "ssactuate $words" >"$folder/out" 2>"$folder/err" || status=$?
        [ "$status" -eq 125 ] || fail "$words: status $status"
        grep -qF -- "$message" "$folder/err" || fail "$words: $(cat "$folder/err")"
    done <<END
run instances=2 -- ssburn serve|but the command has no {port}
run instances=0 -- true|from 1 to 64
run instances=65 -- true|from 1 to 64
run instances=2,url=http://localhost/ -- true|the URL has no {port}
run pin=free --control socket -- true|--control requires \`instances\`
list --control socket|--control is for
END
    printf '%s\n' 'below 40% instances=1' 'above 60% instances=2' >"$folder/policy"
    ! ssactuate follow --policy "$folder/policy" -- ssburn serve --listen '{port}' 2>"$folder/err" || fail "accepted"
    grep -qF "requires --control, to send" "$folder/err" || fail "$(cat "$folder/err")"
}

# say_load LOAD: appends a sample of the load that the policy reads.
say_load() {
    echo "$1" >>"$folder/load/samples.csv"
}

# begin_requests OPTION...: starts requests to the first URL only, until SIGTERM. Sets `asker`.
begin_requests() {
    local all=()
    read -ra all <<<"$(urls)"
    rm -f "$folder/each"
    ssrequest --control "$folder/control" --json "$folder/json" --each "$folder/each" --duration 1h --timeout 300s \
        "$@" "${all[0]}" >"$folder/asker-out" 2>"$folder/asker-err" &
    asker=$!
    pids+=("$asker")
}

# has_asked TARGET NUMBER: succeeds once this many requests to the target (numbered from 0) were answered.
has_asked() {
    [ -e "$folder/each" ] && [ "$(grep -cE "^[0-9]+,$1,.*,success," "$folder/each")" -ge "$2" ]
}

# A request that was due just before the signal may not have been sent.
end_requests() {
    local status=0
    kill -TERM "$asker"
    wait "$asker" || status=$?
    [ "$status" -le 1 ] || fail "status $status"
    ! grep -vE '^number,|,(success|waiting),' "$folder/each" >&2 || fail "requests were lost"
}

count_instances() {
    [ "$(urls | wc -w)" -eq "$1" ]
}

# Forty clients send requests continuously. Most of them wait for the slower instance, which is removed.
removing_an_instance_loses_no_request() {
    local all=() leaving
    mkdir "$folder/load"
    printf 'load\n0.8\n' >"$folder/load/samples.csv"
    printf '%s\n' "load record $folder/load" 'every 20m' 'stay 20m' 'above 60% instances=2' 'below 40% instances=1' \
        >"$folder/policy"
    serve_instances follow --policy "$folder/policy" --control "$folder/control" -- 3000000
    read -ra all <<<"$(urls)"
    leaving=${all[1]}
    begin_requests --closed 40
    # Targets 1 and 2 are the two URLs that ssactuate set.
    await has_asked 2 5
    say_load 0.2
    await count_instances 1
    await refused "$leaving"
    [ "$(urls)" = "${all[0]}" ] || fail "the wrong instance has left: $(urls)"
    await has_asked 3 5
    say_load 0.8
    await count_instances 2
    await has_asked 5 5
    end_requests
    end_run
    [ "$run_status" -eq 0 ] || fail "status $run_status"
}

a_generator_started_later_gets_the_urls() {
    local all
    serve_instances run instances=2 --control "$folder/control" -- 1000
    all=$(urls)
    for _ in 1 2; do
        begin_requests --rate 100
        await has_asked 2 5
        end_requests
        # If the generator answers late, it gets them again.
        [ "$(grep -c '^    "http:' "$folder/json")" -ge 3 ] || fail "$(cat "$folder/json")"
        grep -qF "\"${all##* }\"" "$folder/json" || fail "$(cat "$folder/json")"
    done
    end_run
}

# The instances ignore SIGTERM, and so does an unrelated process of this test.
killed_run_leaves_no_instance() {
    local instances=() pid
    sh -c 'trap "" TERM; exec sleep 1000' &
    pids+=("$!")
    ssactuate run instances=2 -- sh -c 'trap "" TERM; sleep 1000 & echo $! >>"$1"; echo $$ >>"$1"; wait' - \
        "$folder/pids" '{port}' 2>"$folder/run-err" &
    run_pid=$!
    await has_lines 4
    mapfile -t instances <"$folder/pids"
    kill -KILL "$run_pid"
    wait "$run_pid" 2>/dev/null || true
    for pid in "${instances[@]}"; do
        await is_gone "$pid"
    done
    kill -0 "${pids[0]}" || fail "another process was ended"
    kill -KILL "${pids[0]}"
}

has_lines() {
    [ -e "$folder/pids" ] && [ "$(wc -l <"$folder/pids")" -eq "$1" ]
}

second_signal_kills_all_instances() {
    local instances=() pid
    ssactuate run instances=2 -- sh -c 'trap "" TERM; sleep 1000 & echo $! >>"$1"; echo $$ >>"$1"; wait' - \
        "$folder/pids" '{port}' 2>"$folder/run-err" &
    run_pid=$!
    pids+=("$run_pid")
    await has_lines 4
    mapfile -t instances <"$folder/pids"
    kill -TERM "$run_pid"
    kill -TERM "$run_pid"
    await has_exited_or_signal
    for pid in "${instances[@]}"; do
        await is_gone "$pid"
    done
}

# Two signals that arrive together count as one.
has_exited_or_signal() {
    kill -TERM "$run_pid" 2>/dev/null || return 0
    return 1
}

run_case each_instance_listens_on_a_different_port
run_case placeholders_in_urls_and_commands_are_replaced
run_case passwords_of_urls_are_not_recorded
run_case invalid_uses_of_instances_are_refused
run_case removing_an_instance_loses_no_request
run_case a_generator_started_later_gets_the_urls
run_case killed_run_leaves_no_instance
run_case second_signal_kills_all_instances
