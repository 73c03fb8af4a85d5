#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ssrequest with services that it holds at a load. Other processes may use most of the CPUs, so bounds are wide.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
need_built ssrequest serve

# serve WORD...: starts a service; sets `server` to its pid, `where` to its address, and `url`.
serve() {
    rm -f ready
    mkfifo ready
    "$bin/ssburn" serve --work 2m --workers 2 "$@" >ready 2>serve.err &
    server=$!
    exec 4<ready
    read -r -t "$patience" _ _ _ <&4 || fail "serve: printed nothing: $(cat serve.err)"
    read -r -t "$patience" _ _ where <&4 || fail "serve: does not listen: $(cat serve.err)"
    url=$where
}

# end_server: ends the latest service.
end_server() {
    kill -TERM "$server"
    wait "$server" || true
}

# hold STATUS OPTION...: fails unless the exit status of a short run matches STATUS, a pattern. It writes `json` and
# `record`. On a busy machine, some requests may be unsent at the end.
hold() {
    rm -rf record
    expect "$1" timeout -k 5 "$patience" "$bin/ssrequest" --timeout "${patience}s" --json json --record record \
        --cpus 1 --duration 2s --settle 500m "${@:2}"
    cmp json record/requests.json || fail "the record and --json differ"
    forget_others
}

# forget_others: removes a warning of other processes, which may become busy at the same time, from `err`.
forget_others() {
    sed -i '/warning: other processes /d' err
}

# held NAME: prints a figure of the service's load.
held() {
    sed -n '/^  "held": {/,/^  }/p' json | awk -v name="\"$1\":" '$1 == name { sub(",$", ""); print $2 }'
}

# figure NAME: prints another figure.
figure() {
    awk -v name="\"$1\":" '$1 == name { sub(",$", ""); print $2; exit }' json
}

# within VALUE LOW HIGH: fails unless the value is a number of this range.
within() {
    awk -v value="$1" -v low="$2" -v high="$3" \
        'BEGIN { exit !(value ~ /^[-+.0-9e]+$/ && value + 0 >= low + 0 && value + 0 <= high + 0) }' ||
        fail "'$1' is not within $2 and $3: $(cat out err json)"
}

# holds LOW HIGH: fails unless the mean load was in this range, and no request failed.
holds() {
    within "$(held load_mean)" "$1" "$2"
    within "$(held cpu_seconds_per_request)" 0.001 0.02
    within "$(held error_mse_e4)" 0 10000
    within "$(held rate)" 1 1000
    [ "$(figure failed)" = 0 ] || fail "requests failed: $(cat out)"
}

# rows_add_up: fails unless each second's numbers of requests follow from those of the previous one.
rows_add_up() {
    awk -F, 'NR == 1 { if ($24 != "target" || $25 != "load" || NF != 25) exit 1; next }
        $2 <= end || $7 != waiting + $4 - $5 - $6 || $8 != open + $5 - $9 - $10 { exit 1 }
        { end = $2; waiting = $7; open = $8; rows++ }
        END { if (rows < 4) exit 1 }' record/requests.csv || fail "wrong rows: $(cat record/requests.csv)"
}

service_is_held_at_a_load() { # case
    serve
    hold '[01]' -l 20% "$url" "${url}other"
    [ ! -s err ] || fail "warnings: $(cat err)"
    holds 0.01 0.4
    [[ $(held load) = '"20%"' && $(held cpus) = 1 ]] || fail "$(cat json)"
    within "$(held target_mean)" 0.199 0.201
    within "$(held seconds)" 1 2.5
    within "$(held background_cpus)" 0 0.05
    grep -qx '  "profile": null,' json || fail "$(cat json)"
    rows_add_up
    awk -F, 'NR > 3 && $24 ~ /^0.2/ && $25 > 0 { rows++ } END { exit rows < 2 }' record/requests.csv ||
        fail "rows have no load: $(cat record/requests.csv)"
    grep -q '^- At 20.0 % load the service answers ' out || fail "$(cat out)"
    # The search and --settle are over after 3 s or later; what ended before does not count.
    within "$(figure duration_seconds)" 1 $((patience - 3))
    awk -v begin="$(figure begin_epoch_seconds)" -v end="$(figure end_epoch_seconds)" \
        -v counted="$(figure duration_seconds)" 'BEGIN { exit !(end - begin > counted + 2.9) }' ||
        fail "wrong end: $(cat json)"
    awk -F, -v last="$(figure end_epoch_seconds)" '{ at = $1 } END { exit !(at < last + 0.01 && at > last - 0.01) }' \
        record/requests.csv || fail "wrong last row: $(cat record/requests.csv)"
    awk -v all="$(figure succeeded)" '/^  "per_target"/ { inside = 1 } inside && $1 == "\"succeeded\":" { sum += $2 }
        END { exit sum != all }' json || fail "the targets' requests do not add up: $(cat json)"
    if need_schema; then
        "$python" "$here/check_schema" "$source/tools/schemas/requests.schema.json" json || fail "invalid document"
    fi
}

# need_schema: fails, after skipping the caller's part, without a Python that checks schemas.
need_schema() {
    python=/usr/bin/python3
    "$python" -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null && return
    skip_part "python3-jsonschema: not installed"
    return 1
}

load_follows_a_trace_to_its_end() { # case
    serve
    printf '%s\n' '0 10%' '1.5s 10%' '1.5s 30%' '3s 30%' >trace
    rm -rf record
    expect '[01]' timeout -k 5 "$patience" "$bin/ssrequest" --timeout "${patience}s" --json json --record record \
        --cpus 1 --settle 500m --load-trace trace "$url"
    holds 0.01 0.5
    within "$(held seconds)" 1.5 3.5
    within "$(held target_mean)" 0.12 0.28
    [[ $(held trace) = '"trace"' && ! $(held load) ]] || fail "$(cat json)"
    rows_add_up
    awk -F, 'NR > 1 && $24 != "" { low = low || $24 < 0.15; high = high || $24 > 0.25 } END { exit !(low && high) }' \
        record/requests.csv || fail "targets do not follow the trace: $(cat record/requests.csv)"
}

# Nothing is measured while ssrequest waits for the start time.
load_of_a_process_is_held_from_the_start_time() { # case
    serve
    hold '[01]' -l 20% --of "pid:$server" --start-at "@$(($(date +%s) + 3))" "$url"
    holds 0.01 0.4
    within "$(held background_cpus)" 0 0.05
}

load_of_a_group_is_held() { # case
    local root name
    name=$(grep '^0::' /proc/self/cgroup) || skip "cgroup-v2: no control group can be created"
    for root in /sys/fs/cgroup/unified /sys/fs/cgroup; do
        group=$root${name#0::}/showstopper-load.$$
        [ ! -e "$root/cgroup.procs" ] || break
    done
    mkdir "$group" 2>/dev/null || skip "cgroup-v2: no control group can be created"
    serve
    echo "$server" >"$group/cgroup.procs"
    hold '[01]' -l 20% --of "group:$group" "$url"
    holds 0.01 0.4
    end_server
}

clean_up() {
    [ ! -d "${group-}" ] || { kill -KILL "$server" && wait "$server"; } 2>/dev/null || true
    [ ! -d "${group-}" ] || await rmdir "$group" 2>/dev/null
}

# Other processes may use all of the machine.
load_of_the_machine_is_measured() { # case
    serve
    hold '[01]' -l 90% --cpus "$(nproc)" --of machine "$url"
    ! grep -q 'requests did not raise the load' err || return 0
    within "$(held load_mean)" 0.001 1.01
    within "$(held background_cpus)" 0 "$(nproc)"
    within "$(held target_mean)" 0.89 0.91
}

load_of_a_service_behind_a_unix_socket_is_held() { # case
    serve --listen ./socket
    hold '[01]' -l 20% --unix-socket socket http://localhost/
    holds 0.01 0.4
}

# write_sensor: writes a command that prints the load of `server` as part of a CPU, with a child, whose pids it writes.
write_sensor() {
    write_program sensor <<'END'
#!/bin/sh
sleep 1000 &
echo $$ $! >pids.new
mv pids.new pids
while :; do
    set -- $(sed 's/.*) //' "/proc/$server/stat")
    read -r up rest </proc/uptime
    used=$((${12} + ${13})) now=${up%.*}${up#*.}
    if [ "${then:-$now}" != "$now" ]; then
        load=$((100 * (used - before) / (now - then)))
        printf '0.%02d\n' $((load < 100 ? load : 99))
    fi
    then=$now before=$used
    sleep 0.2
done
END
    export server
}

# sensor_is_gone: fails unless the command and its child end.
sensor_is_gone() {
    local leader child
    read -r leader child <pids
    await is_gone "$leader"
    await is_gone "$child"
}

command_measures_the_load() { # case
    serve
    write_sensor
    hold '[01]' -l 20% --feedback command,command=./sensor "$url"
    within "$(held load_mean)" 0.01 0.6
    within "$(held rate)" 1 1000
    sensor_is_gone
}

command_that_ends_ends_the_run() { # case
    serve
    write_program sensor '#!/bin/sh' 'for i in 1 2 3 4 5 6 7 8 9 10; do echo 0.1; sleep 0.2; done'
    hold 1 -l 20% --feedback command,command=./sensor --duration 1h "$url"
    ends_early 'sensor'
}

episodes_have_searches_and_connections_of_their_own() { # case, long
    need python3
    python3 - >port <<'END' &
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def setup(self):
        super().setup()
        with open("connections", "a") as file:
            print(self.client_address, file=file)
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
END
    server=$!
    await grep -q . port
    hold '[01]' -l 1% --episodes 2 --duration 20s --settle 5s --cap 1 "http://127.0.0.1:$(<port)/"
    has_lines connections 2 || fail "connections: $(cat connections)"
    within "$(held seconds)" 8 12
    [ "$(sed -n '/"episode_rates"/,/]/p' json | grep -c '^ *[0-9.]')" -eq 2 ] || fail "$(cat json)"
    # The record has the search of the second episode, without a load, and the requests after it.
    awk -F, 'NR > 4 && $24 == "" && $3 == 0 { searches++ } END { exit !searches && NR > 24 }' record/requests.csv ||
        fail "$(cat record/requests.csv)"
    # Counted: 5 s of each episode.
    within "$(figure duration_seconds)" 9 "$patience"
    within "$(figure intended)" 1 "$(awk -F, 'NR > 1 { sum += 0.8 * $4 } END { print sum }' record/requests.csv)"
}

# ends_early PART: fails unless one line with this text says why the run ended, and results were written.
ends_early() {
    forget_others
    [ "$(wc -l <err)" -eq 1 ] || fail "more than one line: $(cat err)"
    says err "ssrequest: warning: ended early: "
    says err "$1"
    grep -q '^- ' out || fail "no summary: $(cat out)"
    grep -q '"reasons": .*ended before the planned time' json || fail "wrong verdict: $(cat json)"
    cmp json record/requests.json || fail "the record and --json differ"
}

failures_end_the_run() { # case
    "$build/tests/broken_server" status-500 >port &
    await has_lines port 1
    hold 1 -l 20% --duration 1h "http://127.0.0.1:$(cat port)/"
    ends_early 'requests failed (a failure costs less CPU time than an answer)'
}

# launch OPTION...: starts a run of an hour. Sets `pid`.
launch() {
    rm -rf record
    start "$bin/ssrequest" --timeout "${patience}s" --json json --record record --cpus 1 --duration 1h --settle 500m \
        -l 20% "$@" >out 2>err
}

end_of_the_service_ends_the_run() { # case
    serve
    launch "$url"
    await has_lines record/requests.csv 5
    kill -KILL "$server"
    ends 1
    ends_early 'the service has ended'
}

# Requests still succeed, but this process does not answer them.
end_of_a_process_ends_the_run() { # case
    serve
    start sleep 1000
    local other=$pid
    launch --of "pid:$other" "$url"
    await has_lines record/requests.csv 2
    kill -KILL "$other"
    ends 1
    ends_early 'the service has ended'
}

signals_during_search_and_control_end_the_run() { # case
    local rows text
    serve
    write_sensor
    while IFS='|' read -r rows text; do
        rm -f pids
        launch --feedback command,command=./sensor "$url"
        await test -e pids
        await has_lines record/requests.csv "$rows"
        kill -INT "$pid"
        ends '[01]'
        grep -q "^- $text" out || fail "$(cat out)"
        cmp json record/requests.json || fail "the record and --json differ"
        sensor_is_gone
        [ "$rows" -gt 1 ] || [ "$(held rate)" = null ] || fail "$(cat json)"
    done <<'END'
1|The load was not held
6|At 20.0 % load the service answers
END
    within "$(held seconds)" 0.3 3600
    grep -q '"reasons": .*ended before the planned time' json || fail "wrong verdict: $(cat json)"
}

mistakes_are_refused() { # case
    local part words other unused_pid
    serve
    other=$url
    serve
    start true
    unused_pid=$pid
    ends 0
    printf '%s\n' '0 50%' '1M 50%' >trace
    while IFS='|' read -r part words; do
        # shellcheck disable=SC2086 # words
        refuses 125 "$part" timeout "$patience" "$bin/ssrequest" $words
        [ ! -e record ] || fail "$words: a record was created"
    done <<END
--closed|-l 50% --closed 2 $url
--rate|-l 50% --rate 10 $url
--rate|--load-trace trace --rate 10 $url
--profile|-l 50% --profile constant $url
--trace|-l 50% --trace trace $url
--when-full|-l 50% --when-full drop $url
--capacity|-l 50% --capacity p95=1s $url
--dry-run|-l 50% --dry-run $url
--load-trace|-l 50% --load-trace trace $url
'much'|-l much $url
127.0.0.1:1: no process listens there|-l 50% http://127.0.0.1:1/
192.0.2.1:80 is not an address of this machine|-l 50% http://192.0.2.1/
no process has pid $unused_pid|-l 50% --of pid:$unused_pid $url
--of: 'nonsense' is not a service|-l 50% --of nonsense $url
--of: pid: 'x' is not a whole number|-l 50% --of pid:x $url
'/no/such/group'|-l 50% --of group:/no/such/group $url
cannot open none|--load-trace none $url
--cpus|-l 50% --cpus 65536 $url
--arrival|-l 50% --arrival concurrent $url
'nothing'|-l 50% --rate-control nothing $url
--settle|-l 50% --duration 2s --settle 2s $url
--episodes: 3 episodes|-l 50% --episodes 3 --duration 29s $url
--load|--load-trace trace --episodes 2 $url
--settle|--load-trace trace --settle 1h $url
--of|--of machine --rate 5 $url
--feedback|--feedback own --rate 5 $url
--settle|--settle 1s --rate 5 $url
--of machine|-l 50% --of machine --feedback command,command=true $url
--of pid:$server|-l 50% --of pid:$server --feedback exact $url
the URLs belong to several services|-l 50% --record record $url $other
END
}

# Two servers that share a port, and nothing else.
services_that_share_a_port_are_refused() { # case
    need_python socket python3
    cat >share.py <<'END'
import socket, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen()
print(listener.getsockname()[1], flush=True)
sys.stdin.read()
END
    mkfifo open
    exec 5<>open
    "$python" share.py 0 <open >port &
    await has_lines port 1
    "$python" share.py "$(cat port)" <open >port.2 &
    await has_lines port.2 1
    refuses 125 '2 services listen: processes ' "$bin/ssrequest" -l 50% "http://127.0.0.1:$(cat port)/"
    says err '--of'
}

showstopper_refuses_to_control_a_rate() { # case
    refuses 125 ssrequest "$bin/showstopper" -c served -l 50% true
}

run_cases
