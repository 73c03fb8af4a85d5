#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ssrequest with servers that work and servers that fail.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
broken=$build/tests/broken_server
names=$build/tests/libslow_names.so
servers=()
need_built ssrequest

# serve_by COMMAND...: starts a server that writes its port first; sets `port` and `url`.
serve_by() {
    local counts
    mkfifo ready
    (exec "$@" >ready) &
    exec {counts}<ready
    rm ready
    read -r port <&"$counts"
    url=http://127.0.0.1:$port/
    servers=("$! $counts" "${servers[@]}")
}

# serve WAY [SOCKET]: starts a server that behaves in this way.
serve() {
    serve_by "$broken" "$@"
}

# end_server: ends the latest server; sets `connections` and `requests` to the numbers that it counted.
end_server() {
    local pid counts
    read -r pid counts <<<"${servers[0]}"
    servers=("${servers[@]:1}")
    kill -TERM "$pid"
    read -r _ connections _ requests <&"$counts"
    exec {counts}<&-
    wait "$pid" || fail "the server: status $?"
}

# On a busy machine, the default timeout may end requests that are due to succeed.
patiently=(--timeout "${patience}s")

# ask STATUS OPTION...: fails unless the exit status of ssrequest matches STATUS, a pattern.
ask() {
    local wanted=$1 status=0
    shift
    local kept=(--json json "${patiently[@]}")
    [[ " $* " != *" --dry-run "* ]] || kept=()
    timeout -k 5 "$patience" "$bin/ssrequest" "${kept[@]}" "$@" >out 2>err || status=$?
    # shellcheck disable=SC2053 # a pattern
    [[ $status = $wanted ]] || fail "ssrequest $*: expected status $wanted, got $status: $(cat out err)"
    [[ $status -ne 125 && -e json ]] || return 0
    [ "$(count intended)" -eq $(($(count sent) + $(count refused) + $(count waiting))) ] ||
        fail "ssrequest $*: the counts do not add up: $(cat out)"
}

# launch OPTION...: starts ssrequest, with results in `json`. Sets `pid`.
launch() {
    start "$bin/ssrequest" "${patiently[@]}" --json json "$@" >out 2>err
}

# finish STATUS: waits for ssrequest, whose exit status must match STATUS, a pattern. On a busy machine it may be 1 after
# a stop, because a request that is due may not have been sent.
finish() {
    local status=0
    wait "$pid" || status=$?
    # shellcheck disable=SC2053 # a pattern
    [[ $status = $1 ]] || fail "expected status $1, got $status"
}

# with_slow_names COMMAND...: executes it with a name server that does not answer until someone writes to `names`.
with_slow_names() {
    mkfifo names
    SS_TEST_NAMES=names LD_PRELOAD=$names ASAN_OPTIONS=verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS} "$@"
}

# control ARGUMENT... <PROGRAM: executes a Python program with commands for the ssrequest that listens at `control`.
# say(LINE) returns the answer, value(NAME) a number of `status`, and await_more(NAME, COUNT) waits until it has grown.
control() {
    need python3
    {
        cat <<'END'
import errno, os, socket, sys, time
class Client:
    def __init__(self):
        connection = socket.socket(socket.AF_UNIX)
        while connection.connect_ex("control") != 0:
            time.sleep(0.01)
        self.lines = connection.makefile("rw")
    def write(self, text):
        self.lines.write(text + "\n")
        self.lines.flush()
    def read(self):
        return self.lines.readline().strip()
    def say(self, text):
        self.write(text)
        return self.read()
    def value(self, name):
        words = self.say("status").split()[1:]
        return int(dict(word.split("=", 1) for word in words if "," not in word)[name])
    def await_more(self, name, count):
        before = self.value(name)
        while self.value(name) < before + count:
            time.sleep(0.01)
client = Client()
say, await_more = client.say, client.await_more
END
        cat
    } | timeout "$patience" python3 - "$@" || fail "control"
}

# count NAME: prints a count from the JSON document; 0 if absent.
count() {
    awk -v name="\"$1\":" '$1 == name && $2 ~ /^[0-9]/ { print $2 + 0; found = 1; exit }
        END { if (!found) print 0 }' json
}

# expect NAME COUNT
expect() {
    [ "$(count "$1")" -eq "$2" ] || fail "expected $1 to be $2: $(cat out err)"
}

# each_is CAUSE WAY OPTION...: fails unless all of twenty requests to a server of this kind fail for this cause, and the
# server gets no other request.
each_is() {
    local cause=$1 way=$2
    shift 2
    serve "$way"
    ask 1 --rate 100 --duration 200m --timeout 1M "$@" "$url"
    expect sent 20
    expect "$cause" 20
    expect succeeded 0
    end_server
}

failures_are_counted_by_cause() { # case
    local cause ways way options
    while read -r cause ways options; do
        for way in ${ways//,/ }; do
            # shellcheck disable=SC2086 # several options
            each_is "$cause" "$way" $options
        done
    done <<'END'
connection_refused refuse
reset reset-at-once,reset-after-request
cut half-headers,half-body,half-chunk,absurd-length,reset-in-body,only-interim
garbled garbage,wrong-chunk,negative-length,endless-headers,endless-line,tls-alert
status status-417 --header Expect:100-continue --data x
timeout never-answer --timeout 200m
END
    each_is reset close-without-answer
    [ "$requests" -eq 20 ] || fail "the server got $requests of 20 requests"
    serve refuse-first-bytes
    ask 1 --rate 100 --duration 200m --timeout 1M "https://127.0.0.1:$port/"
    expect tls 20
    end_server
}

# libcurl remembers the errno of the first failure.
cause_does_not_depend_on_an_earlier_failure() { # case
    serve reset-or-wrong-chunk
    ask 1 --rate 20 --duration 500m --cap 1 --timeout 1M "$url"
    end_server
    expect reset 5
    expect garbled 5
}

# On a busy machine, the body may begin only after the first of these times.
bytes_of_a_slow_answer_are_counted() { # case
    local limit
    for limit in 2s 20s; do
        each_is timeout slow-body --timeout "$limit"
        [ "$(count bytes)" -eq 0 ] || break
    done
    [ "$(count bytes)" -gt 0 ] || fail "bytes of a slow answer are not counted: $(cat out)"
}

# A flood keeps libcurl busy, so that without our own timeout it would read for 9 s or more. The test limits the CPU
# time, which unlike the elapsed time does not grow on a busy machine.
flood_of_chunks_is_ended_at_the_timeout() { # case
    each_is timeout endless-chunks --timeout 800m
    awk '$1 == "\"own_cpu_seconds\":" { used = $2 + 0 } END { exit !(used > 0 && used < 4) }' json ||
        fail "continued to read after the timeout: $(cat out)"
}

error_statuses_are_counted_and_reported() { # case
    # Requests that wait for an answer would open further connections, and a busy machine may answer late.
    serve status-500
    ask 1 --rate 100 --duration 200m --cap 1 "$url"
    end_server
    [[ $connections -eq 1 && $requests -eq $(count sent) ]] || fail "$connections connections for $requests requests"
    expect status "$(count sent)"
    expect succeeded 0
    grep -Eq "^failed +$(count sent) with status 500\$" out || fail "$(cat out)"
    grep -q "^    \"500\": $(count sent)\$" json || fail "wrong statuses: $(cat json)"
    serve redirect
    ask 0 --rate 100 --duration 100m --each each.csv "$url"
    expect succeeded 10
    [ "$(tail -n 1 each.csv | cut -d , -f 6,8)" = success,302 ] || fail "$(cat each.csv)"
    end_server
    [ "$requests" -eq 10 ] || fail "a redirect was followed"
}

# libcurl must not retry requests: the server gets exactly the number of requests that were counted.
failed_requests_are_not_sent_again() { # case
    local way
    for way in reset-second close-second; do
        serve "$way"
        ask 1 --rate 50 --duration 1s --cap 1 "$url"
        end_server
        [ "$requests" -eq "$(count sent)" ] || fail "$way: the server got $requests requests: $(cat out)"
        expect succeeded $((($(count sent) + 1) / 2))
        expect reset $(($(count sent) / 2))
    done
}

# Closing an idle connection is no failure, unless a request was just sent on it.
connections_closed_while_idle_are_not_failures() { # case
    local try
    # On a busy machine, the end of a connection may be read only after the next request was sent.
    for try in 1 2 3; do
        serve close-after-answer
        ask 0 --rate 20 --duration 1s "$url"
        expect succeeded 20
        end_server
        [ "$connections" -ne 20 ] || break
    done
    [ "$connections" -eq 20 ] || fail "expected 20 connections, got $connections"
}

unreachable_hosts_are_counted() { # case
    ask 1 --rate 100 --duration 200m http://no-such-host.invalid/
    expect unreachable 20
    grep -q 'warning: no-such-host.invalid: ' err || fail "the unknown host is not reported: $(cat err)"
    ask 1 --rate 100 --duration 200m --unix-socket "$scratch/none" http://localhost/
    expect unreachable 20
}

# Connections have all descriptors that they may have, but control and the result need some.
exhausted_descriptors_leave_room_for_control_and_result() { # case
    serve never-answer
    (
        ulimit -n 20
        ask 1 --rate 200 --duration 500m --timeout 1s "$url"
        [ "$(count resources)" -gt 50 ] || fail "descriptors were not exhausted: $(cat out)"
        [ "$(count timeout)" -gt 2 ] || fail "no request was sent: $(cat out)"
        expect sent 100
        [ "$(count connections)" -gt 2 ] || fail "connections are not counted: $(cat json)"
        ! grep -Eq '"own_cpu_wait_seconds": [0-9]{9}' json || fail "the wait for a CPU is wrong: $(cat json)"
    )
    end_server
    serve slowly
    start prlimit --nofile=24 "$bin/ssrequest" "${patiently[@]}" --json json --rate 200 --duration 1h \
        --control control "$url" >out 2>err
    control <<<'await_more("failed", 100); assert say("stop") == "ok"'
    finish 1
    [ "$(count resources)" -ge 100 ] || fail "descriptors were not exhausted: $(cat out)"
    end_server
}

# One of two targets fails, and results are counted for each.
failures_are_counted_for_each_target() { # case
    local other
    serve well
    other=$url
    serve half-body
    ask 1 --rate 100 --duration 200m "$other" "$url"
    expect succeeded 10
    expect cut 10
    tr -d ' \n' <json | grep -qF "$(printf '"per_target":[{"url":"%s","sent":10,"succeeded":10,"failed":0,' "$other")" ||
        fail "wrong figures of the first target: $(cat json)"
    tr -d ' \n' <json | grep -qF "$(printf '{"url":"%s","sent":10,"succeeded":0,"failed":10,' "$url")" ||
        fail "wrong figures of the second target: $(cat json)"
    end_server
    end_server
    [ "$requests" -eq 10 ] || fail "the working server got $requests of 10 requests"
}

# While the request of one client to the silent server is pending, the other server has no load when the other client
# chooses.
the_least_loaded_target_is_chosen() { # case
    local other
    serve never-answer
    other=$url
    serve well
    ask 1 --closed 2 --duration 2s --timeout 7s --balance least-connections "$other" "$url"
    end_server
    [ "$(count timeout)" -eq 1 ] || fail "not only the first request went to the silent server: $(cat out)"
    [ "$(count succeeded)" -eq $(($(count sent) - 1)) ] || fail "requests to the working server failed: $(cat out)"
}

# Requests alternate between two servers; connections to both must be kept.
connections_are_reused_unless_disabled() { # case
    local other second
    serve well
    other=$url
    serve well
    ask '[01]' --rate 100 --duration 500m --cap 1 "$other" "$url"
    expect succeeded "$(count sent)"
    expect bytes $(($(count sent) * 41))
    expect connections 2
    end_server
    [ "$connections" -eq 1 ] || fail "$connections connections for $requests requests"
    second=$requests
    end_server
    [ "$connections" -eq 1 ] || fail "first server: $connections connections"
    [[ $((requests + second)) -eq $(count sent) && $((requests - second)) -le 1 &&
        $requests -ge $second ]] || fail "first server: $requests requests, second server: $second"
    serve well
    ask 0 --rate 100 --duration 500m --connections fresh "$url"
    end_server
    [[ $connections -eq 50 && $requests -eq 50 ]] || fail "expected a connection per request: $connections connections, $requests requests"
    expect connections 50
}

# The server starts later; without --wait-for, all requests would fail.
wait_for_delays_the_start_until_the_service_listens() { # case
    launch --rate 100 --duration 200m --wait-for 1M --unix-socket 'a late socket' http://any.invalid/
    serve well 'a late socket'
    finish 0
    expect succeeded 20
    end_server
    [ "$requests" -eq 20 ] || fail "the server got $requests of 20 requests"
}

# seconds_from_now SECONDS: prints a time for --start-at.
seconds_from_now() {
    awk -v now="$EPOCHREALTIME" -v later="$1" 'BEGIN { printf "%.3f", now + later }'
}

# On a busy machine, ssrequest may be executed only after the first of these times.
requests_begin_at_a_given_time() { # case
    local start begin later
    serve well
    for later in 0.5 5 50; do
        start=$(seconds_from_now "$later")
        ! "$bin/ssrequest" "${patiently[@]}" --json json --rate 100 --duration 200m --start-at "@$start" "$url" \
            >out 2>err || break
        grep -Eq 'has passed: give|requests can begin only' err || fail "$(cat out err)"
    done
    begin=$(sed -n 's/.*"begin_epoch_seconds": \([0-9.]*\).*/\1/p' json)
    awk -v begin="$begin" -v start="$start" 'BEGIN { exit !(begin >= start && begin < start + 30) }' ||
        fail "the run began at $begin instead of $start"
    expect succeeded 20
    end_server
}

# The server is started after the time at which requests were to begin.
a_start_that_passes_while_the_service_starts_is_refused() { # case
    launch --rate 100 --record kept --wait-for 1M --start-at "@$(seconds_from_now 0.5)" \
        --unix-socket late http://any.invalid/
    sleep 0.6
    serve well late
    finish 125
    # A busy machine may execute ssrequest too late.
    grep -Eq "^ssrequest: --start-at: (the service accepted connections only .* s after '@|.* has passed)" err ||
        fail "$(cat err)"
    [ ! -e kept ] || fail "a record without requests was created"
    end_server
    [ "$requests" -eq 0 ] || fail "$requests requests were sent"
}

a_run_interrupted_before_its_start_leaves_nothing() { # case
    local options
    for options in '--each each --control control' '--capacity mean=1s'; do
        # shellcheck disable=SC2086 # several options
        launch --rate 100 --start-at "@$(seconds_from_now 3600)" --record kept $options http://127.0.0.1:1/
        await [ -e kept ]
        kill -TERM "$pid"
        finish 143
        [ -z "$(ls -d kept each control 2>/dev/null)" ] || fail "$options: left: $(ls -d kept/* each control 2>&1)"
    done
}

# As in a container: the kernel ignores what the first process of a PID namespace sends itself, and signals that it
# neither blocks nor handles yet.
a_signal_before_the_start_ends_the_first_process_of_a_container() { # case
    local status start options
    unshared -mpf --mount-proc true 2>/dev/null || skip "namespaces: cannot create a PID namespace"
    start=@$(seconds_from_now 3600)
    for options in "--start-at $start --each each" "--start-at $start --capacity mean=1s" '--wait-for 1h'; do
        status=0
        # shellcheck disable=SC2016,SC2086 # the inner shell expands it; several options
        unshared -mpf --kill-child --mount-proc sh -c '(while kill -TERM 1; do sleep 0.02; done) & exec "$@"' sh \
            "$bin/ssrequest" --rate 100 --record kept $options http://127.0.0.1:1/ >out 2>err || status=$?
        [ "$status" -eq 143 ] || fail "$options: status $status: $(cat out err)"
        [ -z "$(ls -d kept each 2>/dev/null)" ] || fail "$options: left: $(ls -d kept/* each 2>&1)"
    done
}

# await_end PID: kills the process, and fails, if it does not end within ten seconds.
await_end() {
    for _ in $(seq 100); do
        ! is_gone "$1" || return 0
        sleep 0.1
    done
    kill -KILL "$1"
    fail "the signal was not noticed"
}

# A lookup may take long, and nothing has begun.
a_signal_during_a_lookup_ends_the_call() { # case
    with_slow_names launch --rate 100 --record record http://slow.test:1/
    sleep 0.6
    kill -TERM "$pid"
    await_end "$pid"
    finish 143
    [ ! -e record ] || fail "leftover record"
}

# The first signal ends the run, whatever the reader of --each does.
a_reader_that_stops_reading_does_not_delay_a_signal() { # case
    serve well
    mkfifo pipe
    # shellcheck disable=SC2217 # the pipe needs a reader
    sleep 1000 <pipe &
    launch --rate 3000 --duration 1000s --each pipe "$url"
    sleep 3
    kill -TERM "$pid"
    await_end "$pid"
    finish '*'
    [ -s json ] || fail "no results"
    grep -q 'pipe: Interrupted system call; .* lines lost' err || fail "lost lines are not reported: $(cat err)"
}

# Nothing was connected, so the reason is not the service.
a_start_that_passes_during_a_lookup_is_refused() { # case
    with_slow_names launch --rate 100 --start-at "@$(seconds_from_now 0.5)" http://slow.test:1/
    sleep 0.6
    exec 9<>names
    finish 125
    exec 9>&-
    # A busy machine may execute ssrequest too late.
    grep -Eq "^ssrequest: --start-at: (requests can begin only .* s after '@|.* has passed)" err || fail "$(cat err)"
}

a_service_that_does_not_start_is_named() { # case
    refuses '--wait-for: http://127.0.0.1:1/ did not accept a connection within 100 ms: Connection refused' \
        --rate 100 --wait-for 100m --record kept http://127.0.0.1:1/
    [ ! -e kept ] || fail "a record without requests was created"
    launch --rate 100 --wait-for 1h http://127.0.0.1:1/
    # Before exec, the process is a copy of this shell, which may block signals, too.
    until grep -qx ssrequest "/proc/$pid/comm" && grep -q '^SigBlk:.*[1-9a-f]' "/proc/$pid/status"; do sleep 0.02; done
    kill -TERM "$pid"
    finish 143
}

# A full backlog refuses connections of a Unix socket, but lets those of TCP wait.
a_full_unix_socket_refuses_connections() { # case
    serve full full
    ask 1 --rate 100 --duration 200m --timeout 500m --unix-socket full http://a.invalid/
    [ "$(count connection_refused)" -ge 16 ] || fail "connections were not refused: $(cat out)"
    [ "$(count timeout)" -eq $((20 - $(count connection_refused))) ] || fail "unexpected causes of failures: $(cat out)"
    end_server
}

requests_in_flight_do_not_exceed_the_cap() { # case
    local seconds
    # On a busy machine, only the first requests may be sent in the first of these times.
    for seconds in 2 20; do
        serve never-answer
        ask 1 --rate 100 --duration "${seconds}s" --cap 5 --timeout 200m "$url"
        end_server
        [ "$(count timeout)" -le 5 ] || break
    done
    [[ $(count timeout) -gt 5 && $(count waiting) -gt 0 ]] || fail "requests are not delayed at the cap: $(cat out)"
    [ "$requests" -eq "$(count sent)" ] || fail "the server got $requests requests: $(cat out)"
}

# On a busy machine, few requests may be sent in the first of these times.
closed_loop_clients_send_one_request_at_a_time() { # case
    local seconds
    for seconds in 2 10 50; do
        serve in-turn
        ask 0 --closed 4 --duration "${seconds}s" "$url"
        end_server
        [ "$(count succeeded)" -le 20 ] || break
    done
    [ "$(count succeeded)" -gt 20 ] || fail "too few requests of a closed loop: $(cat out)"
    grep -q '"when_full": null' json || fail "a closed loop has no setting for a full cap: $(cat json)"
    [ "$connections" -le 4 ] || fail "4 clients have $connections connections"
    [ "$requests" -eq "$(count sent)" ] || fail "the server got $requests requests: $(cat out)"
    # An answer that arrives immediately must be read immediately, not after 100 ms. On a busy machine, others may be
    # late, or all in the first of these times.
    for seconds in 2 10 50; do
        serve in-turn
        ask 0 --closed 1 --duration "${seconds}s" --each each.csv "$url"
        end_server
        ! awk -F , 'NR > 1 && $5 - $4 < 0.09 { found = 1 } END { exit !found }' each.csv || break
    done
    awk -F , 'NR > 1 && $5 - $4 < 0.09 { found = 1 } END { exit !found }' each.csv ||
        fail "immediate answers are read late: $(cat out)"
}

# The clients keep the generator busy, but it must still handle commands and write its record.
two_thousand_clients_do_not_starve_control_and_record() { # case
    serve well
    launch --timeout 20s --closed 2000 --duration 1h --control control --record record "$url"
    control >said <<<'time.sleep(1); print(say("status"))'
    grep -q '^ok ' said || fail "no status: $(cat said)"
    await has_lines record/requests.csv 3
    kill -TERM "$pid"
    timeout "$patience" tail --pid="$pid" -f /dev/null || fail "ssrequest continues after TERM"
    finish '[01]'
    [ "$(count succeeded)" -gt 0 ] || fail "no request succeeded"
    end_server
}

# need_keys: creates a self-signed certificate for 127.0.0.1.
need_keys() {
    need nghttpd openssl
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem \
        -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null ||
        fail "cannot create a certificate"
}

# serve_http2 OPTION... [-- KEY CERTIFICATE]: starts nghttpd and waits until it listens.
serve_http2() {
    local try
    mkdir -p pages
    echo ok >pages/index.html
    for try in 1 2 3 4 5; do
        port=$((20000 + (RANDOM + try) % 10000))
        # nghttpd may need long to find that the port is taken, and meanwhile its owner would answer.
        ! (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || continue
        nghttpd -a 127.0.0.1 -d pages "${@:1:$#-2}" "$port" "${@: -2}" >nghttpd.log 2>&1 &
        while kill -0 "$!" 2>/dev/null; do
            (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
            sleep 0.05
        done
    done
    fail "nghttpd: $(cat nghttpd.log)"
}

http_two_works_over_tls() { # case
    need_keys
    serve_http2 -v key.pem cert.pem
    ask 0 --http2 --insecure --rate 100 --duration 500m "https://127.0.0.1:$port/"
    expect succeeded 50
    [ "$(grep -c 'ALPN\|The negotiated protocol: h2' nghttpd.log)" -le 3 ] ||
        fail "expected one connection: $(cat nghttpd.log)"
    ask 0 --http2 --cacert cert.pem --rate 100 --duration 100m "https://127.0.0.1:$port/"
    # The requests fail one after another, which takes long on a busy machine.
    ask 1 --http2 --rate 100 --duration 100m "https://127.0.0.1:$port/"
    expect tls 10
    # One server has HTTP without TLS, the other one TLS without HTTP/2.
    ask 1 --rate 100 --duration 100m "http://127.0.0.1:$port/"
    expect succeeded 0
}

# Without TLS. Connections to a host are kept if its URL stays in the set or returns with another path.
http_two_keeps_connections_of_unchanged_urls() { # case
    need nghttpd
    serve_http2 --no-tls -v
    launch --http2 --cap 50 --rate 100 --duration 1h --control control "http://127.0.0.1:$port/"
    control "http://127.0.0.1:$port/" <<'END'
await_more("succeeded", 20)
for urls in sys.argv[1], sys.argv[1] + "?other " + sys.argv[1]:
    assert say("urls " + urls) == "ok"
    await_more("succeeded", 20)
assert say("stop") == "ok"
END
    finish '[01]'
    expect failed 0
    expect connections 1
    serve well
    ask 1 --http2 --rate 100 --duration 100m --timeout 2s "$url"
    expect succeeded 0
    end_server
}

ssrequest_runs_on_the_given_cpus_until_a_signal() { # case
    local cpu
    cpu=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
    serve well
    launch --own-cpu "$cpu" --rate 50 --duration 1h --record record "$url"
    await has_lines record/requests.csv 2
    [ "$(awk '/^Cpus_allowed_list:/ { print $2 }' "/proc/$pid/status")" = "$cpu" ] ||
        fail "ssrequest may run on unselected CPUs"
    kill -INT "$pid"
    finish '[01]'
    expect failed 0
    expect refused 0
    [ "$(count succeeded)" -gt 0 ] || fail "no request was sent: $(cat out)"
    expect unfinished 0
    end_server
}

# At 0.5 requests per second, no concurrent request is due in the first second.
run_without_requests_is_not_a_success() { # case
    local words
    printf '0 free\n200m free\n' >load.txt
    serve well
    for words in '--rate 0.5 --arrival concurrent --duration 200m' '--trace load.txt --rate 100'; do
        # shellcheck disable=SC2086 # words, not one
        ask 1 $words "$url"
        expect intended 0
        grep -q '^- No request was sent\.$' out || fail "ssrequest $words: $(cat out)"
    done
    end_server
    [ "$requests" -eq 0 ] || fail "the server got $requests requests"
}

# A rate of 2 per second is too low for the load. A run that is stopped has not held it for its time.
a_load_must_be_held_until_the_end() { # case
    need_built serve
    local held=(--settle 500m -d 6s) server
    "$bin/ssburn" serve --listen 0 --work 1m --workers 4 >served &
    server=$!
    await grep -q '^listening on ' served
    url=$(sed -n 's/^listening on //p' served)
    launch -l 20% "${held[@]}" --rate-max 2 "$url"
    timeout "$patience" "$bin/ssrequest" -q -l 2% "${held[@]}" --record record "$url" || fail "a held load: status $?"
    finish 1
    grep -q 'does not reach a load of 20 %' err || fail "$(cat err)"
    # The figures count from within a second, which counts all of its requests.
    awk -F, 'NR > 1 { if ($4 > 1000 || $2 < last) exit 1; last = $2 }' record/requests.csv || fail "$(cat record/requests.csv)"
    launch -l 2% --settle 500m -d 1h --record stopped "$url"
    await test -s stopped/requests.csv
    await has_lines stopped/requests.csv 6
    kill -TERM "$pid"
    finish 1
    kill "$server"
    wait "$server" || fail "ssburn: status $?"
}

two_signals_end_ssrequest_at_once() { # case
    serve never-answer
    launch --rate 50 --duration 1h --timeout 1h --record record "$url"
    await has_lines record/requests.csv 2
    kill -TERM "$pid"
    # A second signal would be lost if the first were still pending.
    await grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$pid/status"
    sleep 0.2
    kill -0 "$pid" || fail "ssrequest does not wait for answers"
    kill -TERM "$pid"
    finish 1
    [ "$(count unfinished)" -gt 0 ] || fail "no unfinished requests: $(cat out)"
    end_server
}

# refuses MESSAGE OPTION...: fails unless one line has the message and no request is sent.
refuses() {
    local message=$1
    shift
    ask 125 "$@"
    [[ ! -s out && $(wc -l <err) -eq 1 ]] || fail "$*: $(cat out err)"
    grep -qF -- "$message" err || fail "$*: expected '$message', got '$(cat err)'"
}

# tests/unit/ssrequest has refused criteria, methods, headers and lines of files.
invalid_options_are_refused() { # case
    local message words
    while IFS='|' read -r message words; do
        # shellcheck disable=SC2086 # several words
        refuses "$message" $words
    done <<END
no URL given|--rate 5
--profile constant requires --rate|http://localhost/
--profile step requires --step|--max 10 http://localhost/
--hold has no effect with --profile constant|--profile constant --rate 5 --hold 2s http://localhost/
the rate is 0, so nothing would be sent|--rate 0 http://localhost/
--rate cannot be combined with --closed|--closed 5 --rate 5 http://localhost/
not an HTTP URL|--rate 5 ftp://localhost/
not an HTTP URL|--rate 5 localhost:80
'ftp://me:***@localhost/': not|--rate 5 ftp://me:secret@localhost/
use http://|--rate 5 http://localhost:99999/
the socket path is too long|--rate 5 --unix-socket /$(printf '%0200d' 0) http://a/
--cacert: none: No such file|--rate 5 --cacert none http://localhost/
--own-cpu: CPU 8000 is not available to ssrequest|--rate 5 --own-cpu 8000 http://localhost/
--start-at: '@1' is in the past: use a time in the future|--rate 1 --start-at @1 http://localhost/
--start-at: '24:30'|--rate 1 --start-at 24:30 http://localhost/
--capacity: 'most' is not a statistic|--capacity most=1s http://localhost/
--capacity cannot be combined with --each|--capacity p95=1s --each each http://localhost/
--dry-run cannot be combined with --record|--dry-run --rate 5 --record other http://localhost/
--requests-file cannot be combined with --data|--rate 5 --requests-file requests --data x
--requests-file: cannot read none: No such file|--rate 5 --requests-file none http://localhost/
--header: 'x' is not a header|--rate 5 -H x http://localhost/
--data: cannot read none: No such file|--rate 5 --data @none http://localhost/
--json: cannot write none/json: No such file|--json none/json --rate 5 http://localhost/
--json: cannot write .: Is a directory|--json . --capacity mean=1s --duration 1s http://localhost/
--each: cannot write none/each: No such file|--rate 5 --each none/each --record other http://localhost/
END
    refuses "--header: 'Authorization...' is not a header" --rate 5 -H 'Authorization Bearer secret' http://localhost/
    [ -z "$(ls -d each other json 2>/dev/null)" ] || fail "files were created without requests: $(ls)"
}

# tests/unit/ssrequest/test_request_schedule.c has steps and traces.
dry_run_prints_the_send_times_of_requests() { # case
    ask 0 --dry-run --rate 5 --duration 2s
    [ "$(tr '\n' ' ' <out)" = "0.000000000 0.200000000 0.400000000 0.600000000 0.800000000 \
1.000000000 1.200000000 1.400000000 1.600000000 1.800000000 " ] || fail "wrong send times of even arrivals: $(cat out)"
    ask 0 --dry-run --rate 100 --duration 20s --arrival poisson --seed 7
    mv out first
    ask 0 --dry-run --rate 100 --duration 20s --arrival poisson --seed 7
    cmp first out || fail "the same seed gives different send times"
    ask 0 --dry-run --rate 100 --duration 20s --arrival poisson --seed 8
    ! cmp -s first out || fail "a different seed gives the same send times"
}

# The seconds add up to the totals of the document, and each request has a line.
each_second_and_each_request_is_recorded() { # case
    serve well
    ask 0 --rate 100 --duration 1500m --record record --each each.csv "$url"
    end_server
    cmp json record/requests.json || fail "the record and --json differ"
    grep -q '^  "schema": 2,$' json || fail "the schema is missing: $(cat json)"
    [ "$(wc -l <each.csv)" -eq 151 ] || fail "expected 151 lines in --each, got $(wc -l <each.csv)"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { due += $column["due"]; sent += $column["sent"]; done += $column["completed"]
          at = at " " $column["elapsed_seconds"]; last = $column["elapsed_seconds"] }
        END { exit !(due == 150 && sent == 150 && done == 150 && at ~ /^ 1.000000 / && last >= 1.5) }' \
        record/requests.csv || fail "$(cat record/requests.csv)"
    awk -F, 'NR > 1 { whole = $1 == ""; intended[whole] += $3; actual[whole] += $4 }
        END { exit !(intended[0] == 150 && actual[0] == 150 && intended[1] == 150 && actual[1] == 150) }' \
        record/response-times.csv || fail "$(cat record/response-times.csv)"
    grep -q '^- An open loop: 100 requests per second' out || fail "the summary is missing: $(cat out)"
    refuses '--record: record already exists' --rate 5 --record record "$url"
    mkfifo pipe
    refuses '--each: pipe: no process reads this pipe' --rate 5 --each pipe "$url"
    cp each.csv kept.csv
    refuses '--record: record already exists' --rate 5 --each each.csv --record record "$url"
    cmp each.csv kept.csv || fail "--each truncated a file although no request was sent"
    refuses '--record: record already exists' --rate 5 --each new.csv --record record "$url"
    [ ! -e new.csv ] || fail "leftover file of --each"
}

# listen_to_requests: starts a server that writes method, path, body and two headers of each request to `got`.
listen_to_requests() {
    need python3
    cat >listen.py <<'END'
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with open("got", "a") as got:
            print(self.command, self.path, repr(body), self.headers["Authorization"],
                  self.headers["Content-Type"], self.headers["Expect"], file=got)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"ok")
    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = answer
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
END
    serve_by python3 listen.py
}

# got LINE...: fails unless the server got exactly these requests.
got() {
    printf '%s\n' "$@" | diff - got || fail "the server got different requests"
    rm got
}

methods_headers_and_bodies_are_sent() { # case
    listen_to_requests
    local once=(--rate 5 --duration 200m)
    ask 0 "${once[@]}" "${url}page"
    got "GET /page b'' None None None"
    ask 0 "${once[@]}" -H 'Authorization: Bearer x' --header 'Content-Type: text/plain' --data a=1 "$url"
    got "POST / b'a=1' Bearer x text/plain None"
    grep -q '"Authorization"' json || fail "$(cat json)"
    ! grep -q 'Bearer' json || fail "a secret was recorded: $(cat json)"
    printf 'a\nb\n' >body
    ask 0 "${once[@]}" -X PUT --data @body "$url"
    got "PUT / b'a\\nb\\n' None application/x-www-form-urlencoded None"
    ask 0 "${once[@]}" -X DELETE "$url"
    ask 0 "${once[@]}" --method HEAD "$url"
    got "DELETE / b'' None None None" "HEAD / b'' None None None"
    head -c 2000000 /dev/zero >large
    ask 0 "${once[@]}" --data @large "$url"
    grep -q ' None$' got || fail "the body waits for status 100: $(cut -c 1-40 got)"
}

# As in a root without /etc/hosts.
localhost_needs_no_hosts_file() { # case
    listen_to_requests
    : >hosts
    echo 'hosts: files' >nsswitch.conf
    unshared --mount mount --bind hosts hosts 2>/dev/null || skip "mounts: a file cannot be replaced here"
    # shellcheck disable=SC2016 # the inner shell expands it
    unshared --mount sh -ec 'for file in hosts nsswitch.conf; do
            [ ! -e "/etc/$file" ] || mount --bind "$file" "/etc/$file"
        done; exec "$@"' sh \
        "$bin/ssrequest" "${patiently[@]}" --rate 1 --duration 1s "http://localhost:$port/here" >out 2>&1 ||
            fail "$(cat out)"
    got "GET /here b'' None None None"
}

localhost_has_an_address_of_either_kind() { # case
    start "$bin/ssburn" serve --address ::1 --work 0 >out 2>err
    await grep -qsE '^listening|--listen: ' out err
    grep -q '^listening' out || skip "no IPv6: $(cat err)"
    port=$(sed -n 's/^listening.*:\([0-9]*\).*/\1/p' out)
    ask 0 --rate 1 --duration 1s "http://localhost:$port/"
}

# ask_all COUNT OPTION...: sends this many requests, one at a time. On a busy machine, some may not be sent in the first
# of these times.
ask_all() {
    local rate
    for rate in 2 0.2 0.02; do
        rm -f got
        ask '[01]' --rate "$rate" --duration "$(awk -v n="$1" -v r="$rate" 'BEGIN { print n / r }')s" --cap 1 "${@:2}"
        [ "$(count sent)" -lt "$1" ] || break
    done
}

requests_from_a_file_are_sent_in_turn() { # case
    listen_to_requests
    printf 'b\n' >body
    printf '%s\n' 'GET /a?x=1' 'POST /b @body # twice' 'HEAD /c' >requests
    ask_all 5 -H 'Authorization: me' --requests-file requests "${url}other"
    got "GET /a?x=1 b'' me None None" "POST /b b'b\\n' me application/x-www-form-urlencoded None" \
        "HEAD /c b'' me None None" "GET /a?x=1 b'' me None None" \
        "POST /b b'b\\n' me application/x-www-form-urlencoded None"
    printf '%s\n' "GET ${url}a" "DELETE http://localhost:$port/b" >requests
    ask_all 2 --requests-file requests --each each.csv
    got "GET /a b'' None None None" "DELETE /b b'' None None None"
    [ "$(cut -d , -f 2 each.csv | tr '\n' ' ')" = 'target 0 1 ' ] || fail "$(cat each.csv)"
    refuses 'the file contains URLs: put only paths in it' --rate 5 --requests-file requests "$url"
    refuses '--json would overwrite requests, which --requests-file reads' --rate 5 \
        --requests-file requests --json requests
}

two_outputs_to_the_same_file_are_refused() { # case
    local url=http://127.0.0.1:1/
    echo kept >there
    ln -s new link
    # `ask` adds --json json.
    refuses '--each and --json would both write to json' --rate 5 --each ./json "$url"
    [ ! -e json ] || fail "a file was created without requests"
    refuses '--each and --json would both write to new' --rate 5 --each link --json new "$url"
    refuses '--each and --json would both write to there' --rate 5 --each there --json there "$url"
    refuses '--json and --record would both write to new' --rate 5 --json new --record new "$url"
    refuses '--json would overwrite there, which --trace reads' --rate 5 --trace there --json there \
        "$url"
    refuses '--each: /dev/stdout is standard output' --rate 5 --each /dev/stdout "$url"
    refuses '--each: /dev/stdout is standard output' --rate 5 --quiet --each /dev/stdout --json - "$url"
    [[ $(cat there) = kept && ! -e new ]] || fail "a file was changed"
    ask 1 --rate 5 --duration 200m --each /dev/null --json /dev/null "$url"
}

quiet_and_json_suppress_the_summary() { # case
    serve well
    # A proxy of the environment is not used.
    http_proxy=http://127.0.0.1:1 ask 0 --rate 100 --duration 200m --quiet "$url"
    [ ! -s out ] || fail "output despite --quiet: $(cat out)"
    "$bin/ssrequest" "${patiently[@]}" --rate 100 --duration 200m --json - "$url" >json
    [[ $(head -c 1 json) == "{" && $(tail -n 1 json) == "}" ]] || fail "invalid JSON on standard output: $(cat json)"
    expect succeeded 20
    end_server
}

control_commands_change_a_running_load() { # case
    serve well
    launch --rate 20 --duration 1h --control control --record record --each each.csv "$url"
    control "$url" >said <<'END'
print(say("rate 0"))
time.sleep(0.3)
print(say("rate 500"))
await_more("intended", 500)
print(say("urls " + sys.argv[1] + "other"))
await_more("intended", 200)
print(say("urls nonsense://")[:6])
print(say("stop"))
END
    finish '[01]'
    expect failed 0
    [ "$(tr '\n' ' ' <said)" = "ok ok ok error: ok " ] || fail "$(cat said)"
    grep -q '"reasons": .*ended before the planned time' json || fail "wrong reason for the verdict: $(cat json)"
    grep -q '"changed": true' json || fail "the rate did not change: $(cat json)"
    grep -q "\"${url}other\"" json || fail "the URL did not change: $(cat json)"
    # Answers that arrive after the stop count in the last second.
    awk -F, 'NR > 1 { asked += $3 * ($2 - before); due += $4; before = $2 }
        $3 > 499 && $3 < 501 { turned = 1 }
        END { exit !(turned && due > 500 && due < asked + 2) }' record/requests.csv ||
        fail "wrong rates in the second of the change: $(cat record/requests.csv)"
    awk -F, 'NR > 1 && $2 > last { last = $2 } END { exit !(NR > 1 && last <= 1) }' each.csv ||
        fail "numbers of targets do not continue: $(tail -n 3 each.csv)"
    [ "$(cut -d , -f 2 each.csv | grep -cx 1)" -gt 0 ] || fail "no request to the second target: $(tail -n 3 each.csv)"
    [ ! -e control ] || fail "leftover socket"
    end_server
    [ "$requests" -eq "$(count sent)" ] || fail "the server got $requests requests"
}

a_held_load_keeps_its_rate_and_urls() { # case
    serve well
    launch --load 20% --duration 1h --control control "$url"
    control "$url" >said <<'END'
print(say("rate 5")[:12])
print(say("urls " + sys.argv[1] + "other")[:12])
print(say("stop"))
END
    finish '[01]'
    [ "$(tr '\n' , <said)" = "error: rate:,error: urls:,ok," ] || fail "$(cat said)"
    end_server
}

# A slow name server delays neither other requests nor the exit.
lookups_do_not_block_requests() { # case
    serve well
    with_slow_names launch --rate 200 --duration 1h --control control "$url"
    control "$port" >said <<'END'
slow = Client()
target = "urls http://slow.test:%s/" % sys.argv[1]
slow.write(target)
await_more("succeeded", 20)
print(say(target))
open("names", "w").close()
print(slow.read())
print(say("urls http://127.0.0.1/ http://nowhere.test/"))
await_more("succeeded", 20)
slow.write(target)
say("status") # the previous line has been read when this one is answered
print(say("stop"))
print(slow.read())
END
    finish '[01]'
    expect failed 0
    cat >wanted <<'END'
error: a lookup is in progress: wait for its answer
ok
error: urls: nowhere.test: Name or service not known
ok
error: the run is over
END
    diff wanted said || fail "wrong answers"
    grep -q "\"http://slow.test:$port/\"" json || fail "the URL did not change: $(cat json)"
    ! grep -q "nowhere" json || fail "a URL without an address is reported: $(cat json)"
    end_server
}

# A service with a known capacity: it handles one request at a time, each in 2 ms.
a_search_finds_the_capacity_of_a_service() { # case
    serve in-turn
    ask '[01]' --timeout 30s --capacity p95=100m --rate 250 --duration 200m --record found "$url"
    cmp json found/requests.json || fail "the record and --json differ"
    [ "$(ls found)" = requests.json ] || fail "unexpected files: $(ls found)"
    grep -q '"demand": "p95=100m"' json || fail "$(cat json)"
    # The search must find that twice the capacity fails.
    awk '$1 == "\"held_rate\":" { held = $2 + 0 } $1 == "\"failed_rate\":" { failed = $2 + 0 }
        END { exit !(held < 1250 && failed > held && failed <= 2000) }' json || fail "$(cat json)"
    grep -q '^- The capacity for p95=100m is ' out || fail "$(cat out)"
    [ "$(grep -cE ' (held|failed)(: the generator .*)?$' out)" -ge 2 ] || fail "trials are not printed: $(cat out)"
    end_server
}

# search_until_held OPTION...: searches with `url` until a trial holds, and ends the search; lists the trials in `trials`.
search_until_held() {
    local line=
    mkfifo lines
    # On a busy machine, answers may be late.
    "$bin/ssrequest" "${patiently[@]}" --capacity mean=100s --duration 100ms "$@" "$url" >lines 2>err &
    pid=$!
    exec 8<lines
    until [[ $line = *held* ]]; do
        read -r line <&8 || fail "no trial held: $(cat err)"
        echo "$line" >>trials
    done
    kill -INT "$pid"
    cat <&8 >out
    finish 1
}

# The first trials overload the service and leave requests waiting at the cap, which must not count for the next ones.
a_search_forgets_waiting_requests() { # case
    serve in-turn
    search_until_held --rate 4000 --cap 2
    grep -qE ' failed(: the generator .*)?$' trials || fail "the first trial did not overload the service: $(cat trials)"
}

# The service has no limit; the generator has descriptors for about 10 connections, thus for 100 requests per second.
a_search_limited_by_the_generator_gives_a_lower_bound() { # case
    serve slowly
    (
        ulimit -n 20
        ask 1 --capacity p95=100s --rate 20 --duration 200m --cap 2000 "$url"
    )
    grep -q ' failed: the generator lacked resources$' out || fail "no trial names the cause: $(cat out)"
    # Lines are wrapped. On a busy machine, even the rate that held may be uncertain.
    tr -s '\n ' ' ' <out >text
    grep -qE '(This is a lower bound|is unknown): .* the generator ran out of descriptors, ports or memory' text || fail "$(cat out)"
    grep -q '"sure": false' json || fail "$(cat json)"
    grep -q '"lower_bound": true' json || fail "$(cat json)"
    grep -q '"generator_limited": true' json || fail "$(cat json)"
    end_server
}

a_search_fails_if_the_service_fails() { # case
    serve never-answer
    ask 125 --capacity mean=1s --rate 50 --duration 100m --timeout 50m "http://me:secret@${url#*//}"
    grep -qF "20 requests sent one at a time failed (http://me:***@${url#*//});" err || fail "$(cat err)"
    grep -q 'warning: --capacity mean=1s: requests fail after 50 ms, and at most 1 % may fail' err ||
        fail "a limit above the timeout is not reported: $(cat err)"
}

a_search_waits_while_the_service_fails_at_once() { # case
    serve recover
    search_until_held --rate 50
    grep -q 'This is uncertain' out || fail "the signal left no doubt: $(cat out)"
}

a_search_waits_for_each_target_to_recover() { # case
    local good
    serve well
    good=$url
    serve status-500
    ask 125 --capacity mean=100s --rate 50 --duration 100ms "$good" "$url"
    grep -q "the service did not recover from a trial: 20 requests sent one at a time failed ($url)" err ||
        fail "$(cat err)"
    # In the same way, the hosts of a file.
    printf 'GET %s\n' "$good" "$good" "$url" >file
    ask 125 --capacity mean=100s --rate 50 --duration 100ms --requests-file file
    grep -q "failed (${url%/})" err || fail "with a file: $(cat err)"
}

run_cases
