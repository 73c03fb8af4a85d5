#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of ssburn serve, with the shell as the client.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
set +o pipefail # threads may end meanwhile
ssburn=$bin/ssburn
server=''
"$ssburn" serve --help >help 2>&1 || skip "left-out: $(cat help)"

clean_up() {
    [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true
}

# serve WORD...: starts a server and sets `server` to its pid, `where` to its address, and `port` if it has one.
serve() {
    rm -f ready
    mkfifo ready
    "$ssburn" serve "$@" > >(tee out >ready) 2>err &
    server=$!
    exec 4<ready
    read -r -t "$patience" _ _ units <&4 || fail "serve $*: printed nothing: $(cat err)"
    read -r -t "$patience" _ _ where <&4 || fail "serve $*: does not listen: $(cat err)"
    port=${where##*:}
    port=${port%/}
}

# end_server SIGNAL STATUS: ends the server, which must exit with this status, and waits for the rest of its output.
end_server() {
    local status=0
    kill -s "$1" "$server"
    wait "$server" 2>wait.err || status=$?
    server=''
    cat <&4 >rest
    exec 4<&-
    [ "$status" -eq "$2" ] || fail "$1: expected status $2, got $status: $(cat err)"
}

# expect NAME COUNT: fails unless the server printed this line at its end.
expect() {
    grep -qx "$1 $2" out || fail "expected '$1 $2': $(cat out)"
}

# ask FD [HEADER]: sends a request.
ask() {
    printf 'GET /any HTTP/1.1\r\nHost: test\r\n%s\r\n' "${2:+$2$'\r\n'}" >&"$1"
}

# answer FD: reads an answer; its status is in `status`, its body in `body`.
answer() {
    local line length=0
    read -r -t "$patience" _ status _ <&"$1" || fail "no answer: $(cat err)"
    while read -r -t "$patience" line <&"$1" && [ "${line%$'\r'}" ]; do
        case ${line,,} in content-length:*) length=$(tr -dc 0-9 <<<"$line") ;; esac
    done
    IFS= read -r -N "$length" -t "$patience" body <&"$1" || fail "truncated answer"
}

# used_time: prints the CPU time that the server has used, in clock ticks.
used_time() {
    awk '{ print $14 + $15 }' "/proc/$server/stat"
}

# await_work BEGIN: waits until the server has used more CPU time than at BEGIN, and thus handles a request.
await_work() {
    local begin=$1 now
    until now=$(used_time) && [ $((now - begin)) -ge 5 ]; do
        kill -0 "$server" || fail "the server ended: $(cat err)"
        sleep 0.01
    done
}

# expect_refusal STATUS MESSAGE WORD...: fails unless one line begins with the message and no server starts.
expect_refusal() {
    local status=0
    timeout "$patience" "$ssburn" serve "${@:3}" >no.out 2>no.err || status=$?
    [ "$status" -eq "$1" ] || fail "${*:3}: expected status $1, got $status: $(cat no.err)"
    [[ $(cat no.err) = "ssburn: $2"* && $(wc -l <no.err) -eq 1 ]] ||
        fail "${*:3}: expected '$2', got $(cat no.err)"
    [ ! -s no.out ] || fail "${*:3}: unexpected output: $(cat no.out)"
}

a_connection_serves_several_requests() { # case
    serve --work 0 --bytes 3K
    exec 5<>"/dev/tcp/127.0.0.1/$port"
    ask 5
    answer 5
    [[ $status = 200 && ${#body} -eq 3072 ]] || fail "first answer: $status, ${#body} bytes"
    printf 'POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nhello' >&5
    answer 5
    [[ $status = 200 && ${#body} -eq 3072 ]] || fail "second answer: $status, ${#body} bytes"
    # Two requests are sent at once; the last one closes the connection.
    ask 5
    ask 5 'Connection: close'
    answer 5
    answer 5
    [ "$status" = 200 ] || fail "last answer: $status"
    ! read -r -t "$patience" <&5 || fail "the connection stays open after Connection: close"
    exec 5<&-
    end_server TERM 0
    expect served 4
    expect refused 0
    expect dropped 0
    expect lost 0
    expect waiting_most 0
    # Before Linux 5.4, few connections can wait.
    ! grep -v 'connections can wait' err || fail "unexpected message: $(cat err)"
}

# The bounds are wide, because other processes affect the CPU time that a request uses.
a_request_uses_the_configured_cpu_time() { # case
    local spread given
    for spread in constant exponential; do
        serve --work 20m --spread "$spread"
        [ "$units" -gt 1000 ] || fail "20 ms took only $units units"
        exec 5<>"/dev/tcp/127.0.0.1/$port"
        for _ in {1..10}; do
            ask 5
            answer 5
        done
        exec 5<&-
        end_server INT 0
        expect served 10
        worked .05 .8
    done
    given=$units
    serve --units "$given" --memory 64K --workers 3
    [ "$units" = "$given" ] || fail "used $units units instead of $given"
    end_server TERM 0
}

# worked MIN MAX: fails unless the workers' CPU time in seconds is in this range.
worked() {
    awk -v less="$1" -v more="$2" '$1 == "workers_cpu_seconds" { exit !($2 > less && $2 < more) }' out ||
        fail "not between $1 and $2 s: $(cat out)"
}

# With these seeds the first request costs 0.005 times and 8.4 times the mean.
the_seed_selects_the_work_of_requests() { # case
    local seed
    for seed in 141 719; do
        serve --work 20m --spread exponential --seed "$seed"
        exec 5<>"/dev/tcp/127.0.0.1/$port"
        ask 5
        answer 5
        exec 5<&-
        end_server TERM 0
        if [ "$seed" -eq 141 ]; then worked 0 .02; else worked .05 1; fi
    done
}

# One request is handled and up to two wait. The first is completed at the server's end. The order depends on which
# connection the server reads first.
requests_beyond_the_queue_are_refused() { # case
    local file done=' ' refused=0 begin
    serve --work 5s --queue 2
    begin=$(used_time)
    for file in {11..15}; do
        eval "exec $file<>/dev/tcp/127.0.0.1/$port"
        ask "$file"
    done
    for _ in {1..6000}; do
        for file in {11..15}; do
            [[ $done != *" $file "* ]] || continue
            read -r -t 0 -u "$file" || continue
            answer "$file"
            [ "$status" = 503 ] || fail "expected status 503 for a request beyond the queue, got $status"
            done+="$file "
            refused=$((refused + 1))
        done
        [ "$refused" -lt 2 ] || break
        sleep 0.01
    done
    await_work "$begin"
    end_server TERM 0
    statuses=''
    for file in {11..15}; do
        if [[ $done != *" $file "* ]]; then
            answer "$file"
            statuses+="$status "
        fi
        eval "exec $file<&-"
    done
    [ "$(tr ' ' '\n' <<<"$statuses" | sort | xargs)" = "200 503 503" ] || fail "wrong statuses: $statuses"
    expect served 1
    expect refused 2
    expect dropped 2
    expect lost 0
    expect waiting_most 2
}

# is_answered FD...: succeeds if an answer has arrived for one of these requests.
is_answered() {
    local file
    for file; do
        ! read -r -t 0 -u "$file" || return 0
    done
    return 1
}

# Three endless requests are accepted, and three threads use CPU time. The second signal ends the server nevertheless.
workers_run_in_parallel_until_the_second_signal() { # case
    local file refused=0 busy
    serve --units 1000000000000000 --queue 0 --workers 3
    for file in {11..14}; do
        eval "exec $file<>/dev/tcp/127.0.0.1/$port"
        ask "$file"
    done
    for _ in {1..1200}; do
        busy=$(awk '$14 >= 5' "/proc/$server/task"/*/stat | wc -l)
        [ "$busy" -lt 3 ] || ! is_answered {11..14} || break
        sleep 0.05
    done
    [ "$busy" -eq 3 ] || fail "$busy of 3 workers use CPU time"
    for file in {11..14}; do
        if read -r -t 0 -u "$file"; then
            answer "$file"
            [ "$status" = 503 ] || fail "unexpected status of an endless request: $status"
            refused=$((refused + 1))
        fi
    done
    [ "$refused" -eq 1 ] || fail "$refused requests refused instead of 1"
    kill -TERM "$server"
    while (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        sleep 0.01
    done
    kill -0 "$server" || fail "exited while a worker handled a request"
    # A background process of a script ignores SIGINT unless it sets a handler, as the server does.
    end_server INT 130
}

# Clients disconnect in the middle of a request, and in the middle of an answer larger than socket buffers.
a_client_that_disconnects_is_counted() { # case
    local signal=HUP
    # Under nohup the server would ignore SIGHUP.
    ! grep -q '^SigIgn:.*[13579bdf]$' /proc/self/status || signal=TERM
    serve --work 0 --bytes 64M
    exec 5<>"/dev/tcp/127.0.0.1/$port"
    ask 5
    read -r -t "$patience" <&5 || fail "no answer"
    exec 5<&-
    exec 5<>"/dev/tcp/127.0.0.1/$port"
    printf 'POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 5000\r\n\r\nhello' >&5
    exec 5<&-
    # When a later request has been answered, the earlier ones have been handled.
    exec 5<>"/dev/tcp/127.0.0.1/$port"
    ask 5 'Connection: close'
    [ "$(wc -c <&5)" -gt $((64 << 20)) ] || fail "truncated answer"
    exec 5<&-
    end_server "$signal" 0
    expect served 1
    expect lost 2
}

# The signal arrives while a worker handles the request, which must still be answered.
pending_answers_are_sent_before_the_end() { # case
    local reader begin
    serve --work 500m --bytes 8M
    exec 5<>"/dev/tcp/127.0.0.1/$port"
    begin=$(used_time)
    ask 5 'Connection: close'
    wc -c <&5 >count &
    reader=$!
    await_work "$begin"
    end_server TERM 0
    wait "$reader"
    exec 5<&-
    [ "$(<count)" -gt $((8 << 20)) ] || fail "answer truncated after $(<count) bytes"
    expect served 1
}

a_unix_socket_is_removed_at_the_end() { # case
    serve --work 0 --listen ./socket
    [[ $where = unix:./socket && -S socket ]] || fail "not a socket: $where"
    expect_refusal 1 '--listen: ./socket: another process is listening there' --work 0 --listen ./socket
    if command -v curl >/dev/null; then
        [ "$(curl -s --max-time "$patience" --unix-socket socket http://test/ | wc -c)" -eq 64 ] ||
            fail "expected an answer of 64 bytes"
    else
        skip_part "curl: not installed"
    fi
    end_server TERM 0
    [ ! -e socket ] || fail "the socket was not removed"
    # A socket left by an earlier server is replaced; any other file is not.
    serve --work 0 --listen ./socket
    end_server KILL 137
    [ -S socket ] || fail "the socket of the killed server is missing"
    serve --work 0 --listen ./socket
    # A new file at the same path is not removed.
    rm socket
    echo other >socket
    end_server TERM 0
    [ "$(cat socket)" = other ] || fail "removed a foreign file"
    expect_refusal 1 '--listen: ./socket: exists and is not a socket' --work 0 --listen ./socket
    [ "$(cat socket)" = other ] || fail "removed a foreign file"
}

# A stopped server accepts no connection, so all of them wait in the kernel's backlog.
the_backlog_is_as_large_as_the_system_permits() { # case
    local status=0
    need python3
    [ "$(id -u)" -eq 0 ] || skip "root: only root can change a limit of the network"
    unshare -n true 2>/dev/null || skip "namespaces: cannot create a network namespace"
    # shellcheck disable=SC2016
    unshare -n bash -c 'echo 6000 >"$1" && [ "$(cat "$1")" = 6000 ]' - /proc/sys/net/core/somaxconn 2>/dev/null ||
        skip "proc-sys: the limit of the network cannot be changed"
    # shellcheck disable=SC2016
    unshare -n bash -c 'echo 6000 >/proc/sys/net/core/somaxconn; exec "$0" serve --work 0 --listen ./socket' \
        "$ssburn" >out 2>err &
    server=$!
    await grep -q listening out
    kill -STOP "$server"
    python3 - <<'END' || status=$?
import resource, socket, sys
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
if 0 <= most < 5100:
    sys.exit(77)
sockets = []
for number in range(5000):
    sockets.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK))
    sockets[-1].connect("socket")
END
    kill -KILL "$server"
    wait "$server" || true
    server=''
    [ "$status" -ne 77 ] || skip "limits: too few descriptors"
    [ "$status" -eq 0 ] || fail "not all of 5000 clients could connect"
    [ ! -s err ] || fail "$(cat err)"
}

invalid_options_are_refused() { # case
    local status message words
    serve --work 0
    [ "$units" -eq 0 ] || fail "--work 0 used $units units"
    while IFS='|' read -r status message words; do
        # shellcheck disable=SC2086 # several words
        expect_refusal "$status" "$message" $words
    done <<END
2|--listen: 'here' is neither a port |--listen here
2|--listen: '65536' is neither a port |--listen 65536
2|--listen: ./xxxx|--listen ./$(printf 'x%.0s' {1..120})
1|--listen: cannot listen on ./none/socket: No such file|--work 0 --listen ./none/socket
1|--listen: $where: Address already in use|--work 0 --listen $port
2|--address: 'localhost' is not a numeric address|--address localhost
2|--address cannot be combined with a path in --listen|--listen ./socket --address 127.0.0.1
2|--work: |--work 5
2|--units cannot be combined with --work|--work 5m --units 100
2|--units: |--units 0
2|--spread: |--spread wide
2|--workers: |--workers 0
2|--bytes: |--bytes 2G
2|--memory: |--memory 64
2|unknown option '--worker': did you mean '--workers'?|--worker=3
END
    end_server TERM 0
}

run_cases
