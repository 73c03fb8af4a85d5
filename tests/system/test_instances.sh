#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The actuator `instances` of ssactuate, with ssburn serve as the service and ssrequest as the generator.
# shellcheck disable=SC2016 # commands are literal

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
PATH=$build/bin:$PATH
need_built ssactuate ssburn ssrequest serve
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
    rm -f run-out # has_urls would take the URLs of an earlier run for those of this one
    ssactuate "${words[@]}" -- sh -c 'exec ssburn serve --listen "$0" --units $(($1 * $2))' '{port}' '{instance}' "$2" \
        >run-out 2>run-err &
    run_pid=$!
    pids+=("$run_pid")
    await has_urls 1
}

# has_urls NUMBER: succeeds once URLs were printed this many times.
has_urls() {
    kill -0 "$run_pid" || fail "ssactuate has exited"
    [ -e run-out ] && [ "$(grep -c '^urls ' run-out)" -ge "$1" ]
}

# urls: prints the latest URLs.
urls() {
    sed -n 's/^urls //p' run-out | tail -n 1
}

# served URL...: succeeds if all URLs answer a request.
served() {
    ssrequest --quiet --rate 10 --duration 0.1s "$@" >/dev/null 2>&1
}

refused() {
    ! served "$1"
}

# end_run: ends ssactuate with SIGTERM.
end_run() {
    kill -TERM "$run_pid"
    wait "$run_pid" || fail "status $?"
}

each_instance_listens_on_a_different_port() { # case
    serve_instances run instances=3 pin=first:1 --record record -- 1000
    local all=() url
    read -ra all <<<"$(urls)"
    [ "$(printf '%s\n' "${all[@]}" | sort -u | wc -l)" -eq 3 ] || fail "URLs: ${all[*]}"
    ssrequest --json json --rate 30 --duration 0.5s --timeout "${patience}s" "$(urls)" >/dev/null ||
        fail "requests failed"
    [ "$(grep -c '^    "http:' json)" -eq 3 ] || fail "$(cat json)"
    end_run
    for url in "${all[@]}"; do
        refused "$url" || fail "$url still serves"
        says record "\"$url\""
    done
}

placeholders_in_urls_and_commands_are_replaced() { # case
    serve_instances run 'instances=2,url=http://127.0.0.1:{port}/page' -- 1000
    [[ $(urls) =~ ^http://127.0.0.1:[0-9]+/page\ http://127.0.0.1:[0-9]+/page$ ]] || fail "URLs: $(urls)"
    end_run
    ssactuate run instances=2 -- sh -c 'echo "$0 $1" >>"$2"; exit 3' '{port}' '{instance}' words \
        2>err && fail "the exit of an instance is ignored"
    grep -Eqx '[0-9]+ [12]' words || fail "$(cat words)"
    grep -q 'exited with status 3: ending the others' err || fail "$(cat err)"
}

passwords_of_urls_are_not_recorded() { # case
    serve_instances run 'instances=1,url=http://me:sesame@127.0.0.1:{port}/' --record record -- 1000
    [[ $(urls) = http://me:sesame@127.0.0.1:* ]] || fail "URLs: $(urls)"
    end_run
    says record '"instances=1,url=http://me:***@127.0.0.1:{port}/"'
    grep -q '"http://me:\*\*\*@127.0.0.1:[0-9]*/"' record || fail "$(cat record)"
    mkdir load
    printf 'load\n0.8\n' >load/samples.csv
    printf '%s\n' "load record load" 'above 60% instances=1,url=http://me:sesame@127.0.0.1:{port}/' \
        'below 40% instances=1,url=http://me:sesame@127.0.0.1:{port}/' >policy
    serve_instances follow --policy policy --control control --record changes -- 1000
    end_run
    says changes '"instances=1,url=http://me:***@127.0.0.1:{port}/"'
    ! grep -q sesame record changes || fail "a password was recorded"
}

invalid_uses_of_instances_are_refused() { # case
    refuses 125 'the command has no {port}' ssactuate run instances=2 -- ssburn serve
    refuses 125 'from 1 to 64' ssactuate run instances=65 -- true
    refuses 125 'the URL has no {port}' ssactuate run instances=2,url=http://localhost/ -- true
    refuses 125 '--control requires `instances`' ssactuate run pin=free --control socket -- true
    printf '%s\n' 'below 40% instances=1' 'above 60% instances=2' >policy
    refuses 125 'requires --control, to send' ssactuate follow --policy policy -- ssburn serve --listen '{port}'
}

# say_load LOAD: appends a sample of the load that the policy reads.
say_load() {
    echo "$1" >>load/samples.csv
}

# begin_requests OPTION...: starts requests to the first URL only, until SIGTERM. Sets `asker`.
begin_requests() {
    local all=()
    read -ra all <<<"$(urls)"
    rm -f each
    ssrequest --control control --json json --each each --duration 1h --timeout 300s \
        "$@" "${all[0]}" >asker-out 2>asker-err &
    asker=$!
    pids+=("$asker")
}

# has_asked TARGET NUMBER: succeeds once this many requests to the target (numbered from 0) were answered.
has_asked() {
    [ -e each ] && [ "$(grep -cE "^[0-9]+,$1,.*,success," each)" -ge "$2" ]
}

# A request that was due just before the signal may not have been sent.
end_requests() {
    local status=0
    kill -TERM "$asker"
    wait "$asker" || status=$?
    [ "$status" -le 1 ] || fail "status $status"
    ! grep -vE '^number,|,(success|waiting),' each >&2 || fail "requests were lost"
}

count_instances() {
    [ "$(urls | wc -w)" -eq "$1" ]
}

# Forty clients send requests continuously. Most of them wait for the slower instance, which is removed.
removing_an_instance_loses_no_request() { # case
    local all=() leaving
    mkdir load
    printf 'load\n0.8\n' >load/samples.csv
    printf '%s\n' "load record load" 'every 20m' 'stay 20m' 'above 60% instances=2' 'below 40% instances=1' \
        >policy
    serve_instances follow --policy policy --control control -- 3000000
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
}

a_generator_started_later_gets_the_urls() { # case
    local all
    serve_instances run instances=2 --control control -- 1000
    all=$(urls)
    for _ in 1 2; do
        begin_requests --rate 100
        await has_asked 2 5
        end_requests
        # If the generator answers late, it gets them again.
        [ "$(grep -c '^    "http:' json)" -ge 3 ] || fail "$(cat json)"
        says json "\"${all##* }\""
    done
    end_run
}

# start_stubborn: starts instances that ignore SIGTERM, as do their children. Sets `run_pid` and `instances`, their pids.
start_stubborn() {
    ssactuate run instances=2 -- sh -c 'trap "" TERM; sleep 1000 & echo $! >>words; echo $$ >>words; wait' - '{port}' \
        2>run-err &
    run_pid=$!
    await has_lines words 4
    mapfile -t instances <words
}

# await_end_of_instances: waits until all of their processes have ended.
await_end_of_instances() {
    local pid
    for pid in "${instances[@]}"; do
        await is_gone "$pid"
    done
}

killed_run_leaves_no_instance() { # case
    start sh -c 'trap "" TERM; exec sleep 1000'
    start_stubborn
    kill -KILL "$run_pid"
    wait "$run_pid" 2>/dev/null || true
    await_end_of_instances
    kill -0 "$pid" || fail "another process was ended"
}

second_signal_kills_all_instances() { # case
    start_stubborn
    pids+=("$run_pid")
    kill -TERM "$run_pid"
    kill -TERM "$run_pid"
    await has_exited_or_signal
    await_end_of_instances
}

# Two signals that arrive together count as one.
has_exited_or_signal() {
    kill -TERM "$run_pid" 2>/dev/null || return 0
    return 1
}

run_cases
