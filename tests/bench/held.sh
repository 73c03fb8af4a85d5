#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/held.sh [OPTION]...
Measures how precisely ssrequest -l holds the load of a service, as tables in Markdown. The service is in a
control group, whose CPU time an independent monitor, judge, watches. Needs root.

  --parts LIST     default simulated,real,services,runs:
                     simulated in virtual time, with sssim queue: works of 0.2 to 50 ms, a cost that doubles, late
                               work, and how many of 400 intervals of the rate contain the true rate, also if it
                               differs between runs
                     real      ssburn serve at each work, load and kind of requests: held, and at a constant
                               rate of that size with the same seed
                     services  third-party servers (nginx, lighttpd and apache2, if installed): held three
                               times, then at a constant rate
                     runs      the same programs, restarted for each of --runs runs of six episodes: how many of the
                               intervals contain the mean of the other runs, half their width in standard
                               deviations of the runs, and how much of the variance between runs there is between
                               the episodes of one
  --work LIST      of \`real\`; default 1m,5m
  --loads LIST     of \`real\` and \`services\`, percents; default 25,50,75
  --kinds LIST     of \`real\`: arrival/spread; default even/constant,poisson/constant,poisson/exponential
  --seconds N      that count; default 60
  --rounds N       of \`real\`; default 1
  --runs N         of \`runs\`, for each service; default 20
  --load N         of \`runs\`, percent; default 50
  --output DIR     keep the results there
  --build DIR      default build
  --help           print this help
END
}

parts=simulated,real,services,runs work=1m,5m loads=25,50,75 kinds=even/constant,poisson/constant,poisson/exponential
seconds=60 rounds=1 runs=20 load=50 output=
take_options parts work loads kinds seconds rounds runs load output build -- "$@"
check_numbers seconds rounds runs load
for part in ${parts//,/ }; do
    [[ " simulated real services runs " = *" $part "* ]] || fail "--parts: $part: see --help"
done
settle=5 modules=/usr/lib/apache2/modules

# make_group: creates the control group of the service, and sets `group`.
make_group() {
    local root
    root=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpuacct(,|$)/ { print $2; exit }' /proc/mounts)
    [ -n "$root" ] || root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
    group=$root/showstopper-held.$$
    mkdir "$group" || fail "cannot make a control group: run as root"
}

close_held() {
    end_started
    sleep 0.2
    rmdir "$group" 2>/dev/null || true
    close_bench
}

# serve_in_group COMMAND...: starts a service in the group, and in a session: lighttpd signals its whole process group.
serve_in_group() {
    # shellcheck disable=SC2016 # a script of its own
    setsid sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@" >"$folder/server.log" 2>&1 &
    started+=($!)
}

# listening URL OPTION...: waits until the service answers.
listening() {
    ssrequest --wait-for 20s -q -r 10 -d 100m "${@:2}" "$1" >/dev/null 2>&1 || fail "$1: no answer: $(cat "$folder/server.log")"
}

# watch NAME LOAD SECONDS WAIT: starts the judge, which watches the group for SECONDS, WAIT seconds from now.
watch() {
    judge "$3" 500 "$2" --group "$group" --start-at "$(awk -v now="$(date +%s.%N)" -v wait="$4" 'BEGIN { printf "%.3f", now + wait }')" \
        >"$kept/$1.judge" &
    judging=$!
}

# held NAME LOAD URL OPTION...: holds the service and judges it.
held() {
    watch "$1" "$2" "$((seconds - 2))" "$(awk "BEGIN { print 2.5 + $settle + 1 }")"
    ssrequest -q --json "$kept/$1.json" -l "$2" --episodes 1 -d "$((seconds + settle))s" --settle "${settle}s" "${@:4}" "$3" \
        2>>"$kept/$1.log" || echo "status $?" >>"$kept/$1.log"
    wait "$judging"
}

# constant NAME LOAD RATE URL OPTION...: sends at a constant rate, and judges the load.
constant() {
    watch "$1" "$2" "$((seconds - 2))" "$((settle + 1))"
    ssrequest -q --json "$kept/$1.json" -r "$3" -d "$((seconds + settle))s" "${@:5}" "$4" 2>>"$kept/$1.log" ||
        echo "status $?" >>"$kept/$1.log"
    wait "$judging"
}

# judged NAME FIGURE: prints a figure of the judge by run time.
judged() {
    sed -n 's/.*"runtime_500".*"'"$2"'": *\([-0-9.]*\).*/\1/p' "$kept/$1.judge"
}

# of NAME FIGURE: prints a figure of ssrequest's JSON.
of() {
    figure "$kept/$1.json" "$2"
}

# short NAME FIGURE: prints it with four significant digits.
short() {
    local value
    value=$(of "$1" "$2")
    [ "$value" = null ] && echo - || printf '%.4g' "$value"
}

# p99 NAME: prints the 99th percentile of successes from when they were due, in ms.
p99() {
    awk '/"successes"/ { inside = 1 } inside && /"p99_seconds"/ {
        gsub(/[^-0-9.e]/, "", $2); printf "%.3f", 1000 * $2; exit }' "$kept/$1.json"
}

# rate_deviation NAME: prints the standard deviation of the rate of seconds that count, in percent of its mean.
rate_deviation() {
    awk -F, -v from="$((settle + 3))" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["elapsed_seconds"] > from && $at["target"] != "" {
            n++; sum += $at["rate"]; squares += $at["rate"] ^ 2 }
        END { mean = sum / n; printf "%.1f", 100 * sqrt(squares / n - mean ^ 2) / mean }' "$kept/$1.record/requests.csv"
}

# limits LOAD WORK_SECONDS ARRIVAL SPREAD [CPUS SECONDS]: prints the mean error that chance explains (2 standard
# deviations, in points) and the mean squared error of shot noise in windows of 500 ms.
limits() {
    awk -v t="$1" -v s="$2" -v a="$([ "$3" = poisson ] && echo 1 || echo 0)" \
        -v v="$([ "$4" = exponential ] && echo 1 || echo 0)" -v cpus="${5:-$(nproc)}" -v seconds="${6:-$((seconds - 2))}" 'BEGIN {
        spread = a + v * v
        printf "%.2f %.2f\n", 200 * sqrt(t / 100 * s * spread * 10 / cpus) / seconds, 1e4 * t / 100 * s * spread / (0.5 * cpus) }'
}

# simulate OPTION...: holds a simulated service on 2 CPUs; the result is simulated.json.
simulate() {
    sssim queue --json --workers 64 --cpus 2 --episodes 1 "$@" >"$kept/simulated.json"
}

# simulated_row NAME WORK_MS KIND LOAD OPTION...
simulated_row() {
    local arrival=${3%/*} spread=${3#*/} chance
    simulate -l "$4%" --work "$2m" --arrival "$arrival" --spread "$spread" "${@:5}"
    read -r chance noise < <(limits "$4" "$(awk "BEGIN { print $2 / 1000 }")" "$arrival" "$spread" 2 115)
    printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$1" "$2" "$3" "$4" \
        "$(short simulated error_mean_percent)" "$chance" "$(short simulated error_mse_e4)" "$noise" \
        "$(short simulated overshoot_percent)" "$(short simulated settled_seconds)"
}

simulated() {
    local time kind load seed low high inside=0
    printf '\n| case | work ms | kind | load | mean error | chance | MSE | shot noise | overshoot | settled s |\n|%s\n' \
        "$(printf -- '---|%.0s' {1..10})"
    for time in 0.2 1 5 20 50; do
        for kind in even/constant poisson/constant even/exponential poisson/exponential; do
            for load in 25 50 75; do
                simulated_row steady "$time" "$kind" "$load" -d 120s
            done
        done
    done
    for load in 25 50 75; do
        simulated_row doubling 2.5 even/constant "$load" --work-change 2 --change-from 20s --change-over 5s --settle 10s
        simulated_row late 1 even/constant "$load" --late 50% --late-by 1s --settle 0
    done
    for ((seed = 1; seed <= 400; seed++)); do
        simulate -l 50% --work 5m --arrival poisson --spread exponential --seed "$seed"
        low=$(of simulated rate_low) high=$(of simulated rate_high)
        inside=$((inside + $(awk -v low="$low" -v high="$high" 'BEGIN { print low <= 200 && 200 <= high }')))
    done
    printf '\nOf 400 intervals, %s contain the true rate.\n' "$inside"
    printf '\n| between runs | of this, per episode | episodes | of 400 intervals, contain the mean | half width %% |\n|%s\n' \
        "$(printf -- '---|%.0s' {1..5})"
    local deviation case
    for deviation in 3 6; do
        for case in '1 100' '6 100' '6 50'; do
            simulated_coverage "$deviation" "${case#* }" "${case% *}"
        done
    done
}

# simulated_coverage DEVIATION PART EPISODES: prints how often the interval contains the mean rate of a service whose
# work differs by DEVIATION % between runs, PART % of that variance also between the episodes of a run.
simulated_coverage() {
    local seed
    for ((seed = 1; seed <= 400; seed++)); do
        sssim queue --json --workers 64 --cpus 2 -l 50% --work 5m --arrival poisson --spread exponential --seed "$seed" \
            --between-runs "$1%" --per-episode "$2%" --episodes "$3" >"$kept/simulated.json"
        echo "$(of simulated rate_low) $(of simulated rate_high)"
    done | awk -v d="$1" -v part="$2" -v n="$3" '
        { mean = 200 * (1 + d * d / 1e4); inside += $1 <= mean && mean <= $2; half += ($2 - $1) / 4 }
        END { printf "| %s %% | %s %% | %s | %d | %.1f |\n", d, part, n, inside, half / NR }'
}

real_row() {
    local name=$1 load=$2 url=$3 limit=$4 noise=$5
    shift 5
    rm -rf "$kept/$name.record"
    held "$name" "$load" "$url" --record "$kept/$name.record" "$@"
    constant "$name-constant" "$load" "$(of "$name" rate)" "$url" "$@"
    printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "${name//-/ | }" \
        "$(judged "$name" error_mean_percent)" "$limit" "$(judged "$name" error_mse_e4)" "$noise" \
        "$(judged "$name-constant" error_mse_e4)" "$(judged "$name-constant" error_mean_percent)" \
        "$(short "$name" rate)" "$(rate_deviation "$name")" "$(p99 "$name")" "$(p99 "$name-constant")"
}

real() {
    local time kind load round
    printf '\n| work | arrival | spread | load | round | mean error | chance | MSE | shot noise | MSE constant | mean error constant | rate | sd %% | p99 ms | p99 constant |\n|%s\n' \
        "$(printf -- '---|%.0s' {1..15})"
    for ((round = 1; round <= rounds; round++)); do
        for time in ${work//,/ }; do
            for kind in ${kinds//,/ }; do
                for load in ${loads//,/ }; do
                    serve_in_group ssburn serve --listen "$port" --work "$time" --workers 16 --spread "${kind#*/}" --seed "$round"
                    listening "http://127.0.0.1:$port/"
                    read -r chance noise < <(limits "$load" "$(awk "BEGIN { print ${time%m} / 1000 }")" "${kind%/*}" "${kind#*/}")
                    real_row "$time-${kind%/*}-${kind#*/}-$load-$round" "0.$load" "http://127.0.0.1:$port/" \
                        "$chance" "$noise" --arrival "${kind%/*}" --seed "$round"
                    end_last
                done
            done
        done
    done
}

# start_service PROGRAM: starts a third-party server in the group, which needs about 5 ms of CPU time per request. Sets
# `url`, and `asked`, the options of ssrequest for it.
start_service() {
    mkdir -p "$folder/site"
    [ -e "$folder/site/page" ] || head -c 400000 /dev/urandom | base64 >"$folder/site/page"
    url=http://127.0.0.1:$port/page
    case $1 in
    nginx)
        printf '%s\n' 'user root; daemon off; worker_processes 2; pid nginx.pid; error_log stderr;' \
            'events {}' "http { access_log off; types { } default_type text/plain; gzip on; gzip_types *; gzip_comp_level 3;" \
            "gzip_http_version 1.0; server { listen 127.0.0.1:$port; root $folder/site; } }" >"$folder/nginx.conf"
        serve_in_group nginx -p "$folder" -c "$folder/nginx.conf"
        asked=(-H 'Accept-Encoding: gzip')
        ;;
    lighttpd)
        printf '%s\n' 'server.modules = ("mod_deflate")' "server.document-root = \"$folder/site\"" \
            "server.bind = \"127.0.0.1\"" "server.port = $port" 'mimetype.assign = ("" => "text/plain")' \
            'deflate.mimetypes = ("text/plain")' 'deflate.allowed-encodings = ("gzip")' \
            'server.max-worker = 2' >"$folder/lighttpd.conf"
        ! lighttpd -tt -f "$folder/lighttpd.conf" 2>&1 | grep dlopen || fail "install lighttpd-mod-deflate"
        serve_in_group lighttpd -D -f "$folder/lighttpd.conf"
        asked=(-H 'Accept-Encoding: gzip')
        ;;
    apache2)
        printf '%s\n' "LoadModule mpm_event_module $modules/mod_mpm_event.so" "LoadModule authz_core_module $modules/mod_authz_core.so" \
            "LoadModule filter_module $modules/mod_filter.so" "LoadModule deflate_module $modules/mod_deflate.so" \
            "ServerName localhost" "Listen 127.0.0.1:$port" "DocumentRoot $folder/site" 'ForceType text/plain' \
            "PidFile $folder/apache.pid" 'ErrorLog /dev/stderr' 'DeflateCompressionLevel 3' \
            'AddOutputFilterByType DEFLATE text/plain' >"$folder/apache.conf"
        serve_in_group apache2 -d "$folder" -f "$folder/apache.conf" -D FOREGROUND
        asked=(-H 'Accept-Encoding: gzip')
        ;;
    esac
    listening "$url" "${asked[@]}"
}

services() {
    local program round load rates costs
    printf '\n| service | load | rates | interval of the first | cost ms | mean error constant | MSE constant |\n|%s\n' \
        "$(printf -- '---|%.0s' {1..7})"
    for program in nginx lighttpd apache2; do
        command -v "$program" >/dev/null || continue
        for load in ${loads//,/ }; do
            rates='' costs=''
            start_service "$program"
            for round in 1 2 3; do
                held "$program-$load-$round" "0.$load" "$url" "${asked[@]}" --seed "$round"
                rates+=" $(short "$program-$load-$round" rate)"
                costs+=" $(awk -v cost="$(of "$program-$load-$round" cpu_seconds_per_request)" 'BEGIN { printf "%.3f", 1000 * cost }')"
            done
            constant "$program-$load-constant" "0.$load" "$(of "$program-$load-1" rate)" "$url" "${asked[@]}"
            printf '| %s | %s | %s | %s to %s | %s | %s | %s |\n' "$program" "$load" "${rates# }" \
                "$(short "$program-$load-1" rate_low)" "$(short "$program-$load-1" rate_high)" \
                "${costs# }" "$(judged "$program-$load-constant" error_mean_percent)" \
                "$(judged "$program-$load-constant" error_mse_e4)"
            end_last
            sleep 1
        done
    done
}

# judge_runs: reads a line for each run (its rate, half the width of its interval, the rates of its episodes) and prints
# a row. Runs of one episode would vary by the variance between episodes, and by what all episodes of a run have in
# common: the variance of the runs, less what the mean of few episodes adds to it. The last cell is the share of the
# former.
judge_runs() {
    awk '
        { rate[NR] = $1; half[NR] = $2; sum += $1
          mean = 0; squares = 0
          for (i = 3; i <= NF; i++) mean += $i / (NF - 2)
          for (i = 3; i <= NF; i++) squares += ($i - mean) ^ 2
          if (NF > 3) { seen += squares / (NF - 3); episodes = NF - 2 } }
        END {
            if (NR < 3 || !episodes) { print " too few runs | | | | | |"; exit }
            for (i = 1; i <= NR; i++) {
                others = (sum - rate[i]) / (NR - 1)
                inside += rate[i] - half[i] <= others && others <= rate[i] + half[i]
                variance += (rate[i] - sum / NR) ^ 2 / (NR - 1)
                for (j = i; j > 1 && sorted[j - 1] > half[i]; j--) sorted[j] = sorted[j - 1]
                sorted[j] = half[i] }
            seen /= NR
            median = (sorted[int((NR + 1) / 2)] + sorted[int(NR / 2) + 1]) / 2
            printf " %.4g | %.2f | %d of %d | %.2f | %.2f | %.0f |\n", sum / NR, 100 * sqrt(variance) * NR / sum, inside, NR,
                median / sqrt(variance), 100 * sqrt(seen) * NR / sum, 100 * seen / (variance + seen * (1 - 1 / episodes)) }'
}

runs() {
    local program run
    printf '\n| service | rate | sd of runs %% | contain the mean of the others | half width, sd | sd of episodes %% | of the variance between runs, seen between episodes %% |\n|%s\n' \
        "$(printf -- '---|%.0s' {1..7})"
    for program in nginx lighttpd apache2; do
        command -v "$program" >/dev/null || continue
        for ((run = 1; run <= runs; run++)); do
            start_service "$program"
            ssrequest -q --json "$kept/runs-$program-$run.json" -l "$load%" -d "${seconds}s" "${asked[@]}" --seed "$run" "$url" \
                2>>"$kept/runs-$program.log" || echo "run $run: status $?" >>"$kept/runs-$program.log"
            end_last
            sleep 1
            # shellcheck disable=SC2046 # the rates are words
            echo "$(of "runs-$program-$run" rate)" \
                "$(awk -v low="$(of "runs-$program-$run" rate_low)" -v high="$(of "runs-$program-$run" rate_high)" 'BEGIN { print (high - low) / 2 }')" \
                $(awk '/"episode_rates"/ { inside = 1; next } inside && /]/ { exit } inside { sub(",", ""); print $1 }' \
                    "$kept/runs-$program-$run.json")
        done | tee "$kept/runs-$program.txt" | { printf '| %s |' "$program" && judge_runs; }
    done
}

open_bench
kept=${output:-$folder}
mkdir -p "$kept"
if [ "$parts" != simulated ]; then
    [ -x "$build/bin/ssrequest" ] || fail "$build/bin/ssrequest is missing: install libcurl4-openssl-dev, then build again"
    make_group
    trap 'close_held' EXIT
fi
port=8765
for part in ${parts//,/ }; do
    "$part"
done
