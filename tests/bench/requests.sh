#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/requests.sh [OPTION]...
Measures ssrequest against ssburn serve, each on its own CPU, as tables in Markdown: how late
requests are sent, and the cost of a request compared with ab and wrk.

  --parts LIST     default lateness,cost,closed,drift
  --rates LIST     of \`lateness\`, requests a second; default 1000,5000
  --seconds N      of \`lateness\`, for each row; default 60
  --rounds N       of \`cost\` and \`closed\`, each program once in a round; default 5
  --turn N         seconds for a program in a round; default 10
  --minutes N      of \`drift\`; default 10
  --service CPU    CPU of the server; default 0
  --generator CPU  CPU of the programs that send; default the last one
  --output DIR     keep the measurements there, and continue an interrupted bench
  --build DIR      default build
  --help           print this help
END
}

# serve ARG...: starts a server; sets $url.
serve() {
    local log=$folder/server.log patience
    : >"$log"
    taskset -c "$service" ssburn serve "$@" >"$log" 2>&1 &
    started+=($!)
    for ((patience = 600; patience > 0; patience--)); do
        url=$(sed -n 's/^.*listening on \(http:[^ ]*\).*$/\1/p' "$log")
        [ -z "$url" ] || return 0
        sleep 0.1
    done
    fail "the server does not listen: $(tail -n 1 "$log")"
}

# request NAME ARG...: runs ssrequest and stores NAME.json. Status 1 means failed requests, which the tables show.
request() {
    local file=$kept/$1.json status=0
    [ ! -s "$file" ] || return 0
    # In the background, because otherwise the bench would handle a signal only after the run.
    ssrequest --own-cpu "$generator" --json "$file.new" "${@:2}" "$url" >"$kept/$1.log" 2>&1 &
    started+=($!)
    wait "${started[-1]}" || status=$?
    unset 'started[-1]'
    [[ $status -le 1 && -s $file.new ]] || fail "$1: status $status: $(tail -n 1 "$kept/$1.log")"
    mv "$file.new" "$file"
}

# of NAME PATH...: prints members of NAME.json on one line; dots separate nested names, as in lateness.p99_seconds.
of() {
    awk -v paths="${*:2}" '
        { match($0, /^ */); depth = RLENGTH / 2 }
        match($0, /"[^"]*": /) {
            name[depth] = substr($0, RSTART + 1, RLENGTH - 4)
            path = name[1]
            for (i = 2; i <= depth; i++) path = path "." name[i]
            value[path] = substr($0, RSTART + RLENGTH)
            sub(/,$/, "", value[path])
        }
        END {
            count = split(paths, wanted, " ")
            for (i = 1; i <= count; i++) {
                if (!(wanted[i] in value)) { print "no " wanted[i] > "/dev/stderr"; exit 1 }
                printf "%s%s", value[wanted[i]], i < count ? " " : "\n"
            }
        }' "$kept/$1.json" || fail "$1.json is not as expected"
}

lateness() {
    local rate figures
    serve --work 0
    printf '\nFrom when requests were due until they were sent, at equal distances\n\n'
    printf '| a second | sent | failed | p50 / us | p99 / us | p99.9 / us | most / us | own CPU / %% |\n'
    printf '|---------:|-----:|-------:|---------:|---------:|-----------:|----------:|------------:|\n'
    for rate in ${rates//,/ }; do
        request "lateness-$rate" --rate "$rate" --duration "${seconds}s" --arrival even
        figures=$(of "lateness-$rate" sent failed lateness.p50_seconds lateness.p99_seconds \
            lateness.p99_9_seconds lateness.most_seconds own_cpu_seconds duration_seconds)
        awk -v rate="$rate" '{ printf "| %d | %d | %d | %.0f | %.0f | %.0f | %.0f | %.1f |\n", rate, $1, $2,
            1e6 * $3, 1e6 * $4, 1e6 * $5, 1e6 * $6, 100 * $7 / $8 }' <<<"$figures"
    done
    end_last
}

# run_loop NAME PROGRAM CLIENTS: runs a closed loop once; writes to NAME.run the number of requests, their duration in
# seconds, the CPU seconds, and the number of failed requests.
run_loop() {
    local file=$kept/$1.run log=$kept/$1.log cpu requests failed
    [ ! -s "$file" ] || return 0
    case $2 in
    ssrequest)
        request "$1" --closed "$3" --duration "${turn}s"
        of "$1" succeeded duration_seconds own_cpu_seconds failed >"$file"
        return
        ;;
    ab) set -- "$@" ab -q -k -l -c "$3" -t "$turn" -n 100000000 "$url" ;;
    wrk) set -- "$@" wrk -t 1 -c "$3" -d "${turn}s" "$url" ;;
    esac
    local TIMEFORMAT='%U %S'
    { time taskset -c "$generator" "${@:4}" >"$log" 2>&1; } 2>"$log.cpu" ||
        fail "$1: $(tail -n 1 "$log")"
    cpu=$(awk '{ print $1 + $2 }' "$log.cpu")
    if [ "$2" = ab ]; then
        requests="$(sed -n 's/^Complete requests: *//p' "$log")"
        requests+=" $(sed -n 's/^Time taken for tests: *\([0-9.]*\) .*/\1/p' "$log")"
        failed=$(awk '/^(Failed requests|Non-2xx responses):/ { sum += $NF } END { print sum + 0 }' "$log")
    else
        requests=$(sed -n 's/^ *\([0-9]*\) requests in \([0-9.]*\)s,.*/\1 \2/p' "$log")
        failed=$(awk '/^ *(Socket errors|Non-2xx)/ { gsub(/[^0-9]+/, " "); for (i = 1; i <= NF; i++) sum += $i }
            END { print sum + 0 }' "$log")
    fi
    [[ $requests =~ ^[0-9]+\ [0-9.]+$ ]] || fail "$1: unexpected output: see $log"
    echo "$requests $cpu $failed" >"$file"
}

# turns PART CLIENTS: runs the rounds of all three programs.
turns() {
    local program round
    for ((round = 1; round <= rounds; round++)); do
        for program in "${programs[@]}"; do
            run_loop "$1-$program-$round" "$program" "$2"
        done
    done
}

# table PART HEADING EXPRESSION: prints medians of an expression of requests, seconds and cpu, also relative to ab.
table() {
    local program middle least most failed base=''
    printf '| program | %s | least | most | over ab | failed |\n|---|---:|---:|---:|---:|---:|\n' "$2"
    for program in "${programs[@]}"; do
        read -r middle least most < <(awk '{ requests = $1; seconds = $2; cpu = $3; print '"$3"' }' \
            "$kept/$1-$program-"*.run | median)
        failed=$(awk '{ sum += $4 } END { print sum }' "$kept/$1-$program-"*.run)
        [ "$program" != ab ] || base=$middle
        awk -v name="$program" -v x="$middle" -v low="$least" -v high="$most" -v base="$base" \
            -v failed="$failed" 'BEGIN { printf "| %s | %.1f | %.1f | %.1f | %s | %d |\n", name, x, low, high,
                base ? sprintf("%.2f", x / base) : "", failed }'
    done
}

cost() {
    serve --work 0
    turns cost 50
    end_last
    printf '\nCPU time of the program that sends, closed loops of 50 clients, no work\n\n'
    table cost 'us a request' '1e6 * cpu / requests'
}

closed() {
    serve --units "$((units / 5))"
    turns closed 10
    end_last
    printf '\nThroughput, closed loops of 10 clients, 2 ms of work: 500 a second at most\n\n'
    table closed 'a second' 'requests / seconds'
}

# Send times minute by minute: a clock that is wrong by a millionth is off by 0.6 ms after ten minutes.
drift() {
    [ -s "$kept/drift.json" ] || rm -f "$kept/drift.csv"
    serve --work 0
    request drift --rate 100 --duration "${minutes}M" --arrival even --each "$kept/drift.csv"
    end_last
    printf '\nFrom when requests were due until they were sent, 100 a second\n\n'
    printf '| minute | requests | p50 / us | p99 / us |\n|---:|---:|---:|---:|\n'
    awk -F, 'NR > 1 { print int($3 / 60) + 1, 1e6 * ($4 - $3) }' "$kept/drift.csv" | sort -k 1,1n -k 2,2g |
        awk 'function row() { if (count) printf "| %d | %d | %.0f | %.0f |\n", minute, count,
                value[int((count + 1) / 2)], value[int(0.99 * count + 0.5)] }
            $1 != minute { row(); minute = $1; count = 0 }
            { value[++count] = $2 }
            END { row() }'
}

parts=lateness,cost,closed,drift
rates=1000,5000
seconds=60
rounds=5
turn=10
minutes=10
service=0
generator=$(($(nproc) - 1))
output=''
take_options parts rates seconds rounds turn minutes service generator output build -- "$@"
for part in ${parts//,/ }; do
    [[ " lateness cost closed drift " = *" $part "* ]] || fail "$part: unknown part: see --help"
done
open_bench
command -v ssrequest >/dev/null || fail "$build has no ssrequest: it requires libcurl"
ssburn serve --version >/dev/null 2>&1 || fail "$build has no ssburn serve: it requires libmicrohttpd"
kept=${output:-$folder}
mkdir -p "$kept"
echo "The server on CPU $service, what sends on CPU $generator"
programs=()
for program in ab wrk; do
    if command -v "$program" >/dev/null; then
        programs+=("$program")
    else
        echo "$program is not installed: it is left out"
    fi
done
programs+=(ssrequest)
# Stored, so that a continued bench uses the same work.
[ -s "$kept/units" ] || ssburn serial --iteration 10m --iterations 0 | sed -n 's/^# work //p' >"$kept/units"
units=$(<"$kept/units")
for part in ${parts//,/ }; do
    "$part"
done
