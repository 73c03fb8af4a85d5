#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/requests.sh [OPTION]...
Measures ssrequest against ssburn serve, each on its own CPU, as tables in Markdown: how late
requests are sent, the cost of a request compared with ab and wrk, and response times compared with theory.

  --parts LIST     default lateness,cost,closed,arrivals,pause,overload,duty,drift
  --rates LIST     of \`lateness\`, requests a second; default 1000,5000
  --seconds N      of \`lateness\` and \`overload\`, for each row; default 60
  --rounds N       of \`cost\` and \`closed\`, each program once in a round; default 5
  --turn N         seconds for a program in a round; default 10
  --requests N     of \`arrivals\` and \`duty\`, in each row; default 3000
  --caps LIST      of \`overload\`; default 100,200,300
  --minutes N      of \`drift\`; default 10
  --duties LIST    of \`duty\`, in percent; default 25,50,75
  --service CPU    CPU of the server; default 0
  --generator CPU  CPU of the programs that send; default the last one
  --output DIR     keep the measurements there, and continue an interrupted bench
  --build DIR      default build
  --help           print this help
END
}

# serve ARG... [-- COMMAND...]: starts a server, under the command if given; sets $url.
serve() {
    local words=() log=$folder/server.log patience
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    : >"$log"
    "${@:2}" taskset -c "$service" ssburn serve "${words[@]}" >"$log" 2>&1 &
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

# beside NAME PROGRAM CLIENTS: runs a closed loop once; writes to NAME.run the number of requests, their duration in
# seconds, the CPU seconds, and the number of failed requests.
beside() {
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
            beside "$1-$program-$round" "$program" "$2"
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

# row LABEL REQUESTS FAILED MEAN THEORY P95 THEORY: prints a row. Times are in milliseconds; - if theory gives none.
row() {
    awk -v label="$1" -v figures="${*:2}" 'BEGIN {
        count = split(figures, x, " ")
        printf "| %s | %d | %d", label, x[1], x[2]
        for (i = 3; i < count; i += 2)
            printf " | %.1f | %s", x[i], x[i + 1] == "-" ? "- | -" : \
                sprintf("%.1f | %+.1f", x[i + 1], 100 * (x[i] / x[i + 1] - 1))
        print " |" }'
}

heading() {
    printf '| %s | requests | failed | mean / ms | theory | off by / %% | p95 / ms | theory | off by / %% |\n' "$1"
    printf '|---|---:|---:|---:|---:|---:|---:|---:|---:|\n'
}

# One CPU and one worker, which is busy half of the time. The requests of a burst of 50 take 10, 20 ... 500 ms.
arrivals() {
    local arrival sent failed mean tail
    local -A means=([even]=10 [poisson]=15 [concurrent]=255) tails=([even]=10 [poisson]=- [concurrent]=480)
    serve --units "$units"
    printf '\nResponse time from when requests were due, 50 a second, 10 ms of work, one worker\n\n'
    heading arrival
    for arrival in even poisson concurrent; do
        request "arrivals-$arrival" --rate 50 --duration "$(((requests + 49) / 50))s" --arrival "$arrival"
        read -r sent failed mean tail < <(of "arrivals-$arrival" sent failed \
            response.successes.intended.mean_seconds response.successes.intended.p95_seconds |
            awk '{ print $1, $2, 1e3 * $3, 1e3 * $4 }')
        row "$arrival" "$sent" "$failed" "$mean" "${means[$arrival]}" \
            "$tail" "${tails[$arrival]}"
    done
    end_last
}

# pause_after SECONDS PID: stops the process for one second after this time, and continues it in any case.
pause_after() {
    # shellcheck disable=SC2064 # the pid is known now
    trap "kill -CONT $2 2>/dev/null" EXIT
    sleep "$1"
    kill -STOP "$2"
    sleep 1
}

# The server pauses for one of ten seconds. With a cap of 1, the pause delays only one request.
pause() {
    local cap
    printf '\nThe server is stopped for 1 s of 10, 200 a second, no work; times in s\n\n'
    printf '| cap | due | failed | intended p95 | theory | p99 | theory | actual p95 | p99 | most |\n'
    printf '|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n'
    for cap in 200 1; do
        serve --work 0
        if [ ! -s "$kept/pause-$cap.json" ]; then
            pause_after 4 "${started[-1]}" &
            started+=($!)
            request "pause-$cap" --rate 200 --duration 10s --arrival even --cap "$cap"
            end_last
        fi
        end_last
        of "pause-$cap" intended failed response.successes.intended.p95_seconds \
            response.successes.intended.p99_seconds response.successes.actual.p95_seconds \
            response.successes.actual.p99_seconds response.successes.actual.most_seconds |
            awk -v cap="$cap" '{ printf "| %d | %d | %d | %.3f | 0.5 | %.3f | 0.9 | %.4f | %.4f | %.3f |\n",
                cap, $1, $2, $3, $4, $5, $6, $7 }'
    done
}

# The rate exceeds the server's capacity, so the cap is reached. Counted requests were sent after three times the time
# in which the cap fills, and ended before the last one was sent.
overload() {
    local cap most failed
    serve --units "$units" --queue 1000
    printf '\nResponse time in overload, 150 a second, 10 ms of work, one worker\n\n'
    printf '| cap | requests | failed | unfinished at most | a second | mean / s | cap / throughput | off by / %% |\n'
    printf '|---:|---:|---:|---:|---:|---:|---:|---:|\n'
    for cap in ${caps//,/ }; do
        [ -s "$kept/overload-$cap.json" ] || rm -f "$kept/overload-$cap.csv"
        request "overload-$cap" --rate 150 --duration "${seconds}s" --cap "$cap" --each "$kept/overload-$cap.csv"
        read -r most failed < <(of "overload-$cap" unfinished_most failed)
        awk -F, -v cap="$cap" -v most="$most" -v failed="$failed" -v end="$seconds" 'NR > 1 && $6 == "success" {
                begin = 3 * cap / 50
                if ($4 >= begin && $5 <= end) { count++; sum += $5 - $4 }
                ended += $5 >= begin && $5 <= end
            }
            END {
                rate = ended / (end - begin)
                if (!count) {
                    printf "| %d | 0 | %d | %d | %.2f | - | - | - |\n", cap, failed, most, rate
                    exit
                }
                mean = sum / count
                printf "| %d | %d | %d | %d | %.2f | %.3f | %.3f | %+.1f |\n", cap, count, failed, most, rate,
                    mean, cap / rate, 100 * (mean * rate / cap - 1)
            }' "$kept/overload-$cap.csv"
    done
    end_last
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

# The mean delay by stops is the expected rest of the stop during which a request arrives.
duty() {
    local share sent failed mean tail base base_tail
    local words=(--rate 40 --duration "$(((requests + 39) / 40))s" --arrival poisson)
    printf '\nWhat a duty adds to the response time: rounds of 107 ms, 40 a second, 0.2 ms of work\n\n'
    heading 'duty / %'
    serve --units "$((units / 50))"
    request duty-none "${words[@]}"
    end_last
    read -r base base_tail < <(of duty-none response.successes.intended.mean_seconds \
        response.successes.intended.p95_seconds | awk '{ print 1e3 * $1, 1e3 * $2 }')
    for share in ${duties//,/ }; do
        serve --units "$((units / 50))" -- showstopper --quiet -n 1 -c fixed -l "$share%" \
            -d averageq -D tau=107m
        request "duty-$share" "${words[@]}"
        end_last
        read -r sent failed mean tail < <(of "duty-$share" sent failed \
            response.successes.intended.mean_seconds response.successes.intended.p95_seconds |
            awk -v base="$base" -v base_tail="$base_tail" \
                '{ print $1, $2, 1e3 * $3 - base, 1e3 * $4 - base_tail }')
        row "$share" "$sent" "$failed" "$mean" \
            "$(awk -v d="$share" 'BEGIN { print (1 - d / 100) ^ 2 * 107 / 2 }')" \
            "$tail" "$(awk -v d="$share" 'BEGIN { print d < 95 ? (0.95 - d / 100) * 107 : "-" }')"
    done
}

parts=lateness,cost,closed,arrivals,pause,overload,duty,drift
rates=1000,5000
seconds=60
rounds=5
turn=10
requests=3000
caps=100,200,300
minutes=10
duties=25,50,75
service=0
generator=$(($(nproc) - 1))
output=''
take_options parts rates seconds rounds turn requests caps minutes duties service generator output build -- "$@"
for part in ${parts//,/ }; do
    [[ " lateness cost closed arrivals pause overload duty drift " = *" $part "* ]] || fail "$part: unknown part: see --help"
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
