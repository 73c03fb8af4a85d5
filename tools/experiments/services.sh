#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by experiments on a service: starts the service, and sends requests to it. The experiments read the variables
# that these functions set.
# shellcheck disable=SC2034

# shellcheck source=plan.sh
. "$(dirname "${BASH_SOURCE[0]}")/plan.sh"

service='' loads='' rates='' steps='' warmup='' seconds='' arrival='' seed='' cap='' when_full='' timeout='' own_cpu='' work=''
spread='' workers='' wiki=''
attach=''       # processes of the service at a URL
own_wiki=''     # yes if the study creates and removes the wiki
on_cpus=()      # prefix of the service's command that selects these CPUs
step=()         # parts of --steps: maximum, step, seconds of a step
held=()         # options of ssrequest whenever it holds a load

# Options of experiments on a service, for take_options.
service_names="service rates steps warmup seconds arrival seed cap when-full timeout own-cpu work spread workers wiki"

service_defaults() {
    : "${service:=serve}" "${seed:=1}" "${when_full:=delay}" "${timeout:=10s}" "${work:=10m}" "${spread:=constant}"
}

service_usage() {
    cat <<END
  --seed N            seed of arrivals; round n uses N + n; default $seed
  --when-full KIND    delay or drop requests beyond --cap; default $when_full
  --timeout TIME      timeout of a request; default $timeout
  --own-cpu LIST      CPUs of the generator, such as 3 or 0-1; default: any
  --work TIME         for serve: CPU time of a request; default $work
  --spread KIND       for serve: constant or exponential work; default $spread
  --workers N         for serve and mediawiki: requests worked on at a time; default 1 for serve
END
}

# serve_words ADDRESS WORKERS: sets `words` to the command of serve. {units} is calibrated once: see plan_service_study.
serve_words() {
    words=("${on_cpus[@]}" ssburn serve --listen "$1" --workers "$2" --spread "$spread" --units '{units}')
}

# wiki_words DIR WORKERS [OPTION]...: sets `words` to the command of mediawiki.
wiki_words() {
    words=("${on_cpus[@]}" "$here/services/mediawiki" run "$1" ${2:+--workers "$2"} "${@:3}")
}

# plan_service: prints the line that starts the service. Each run starts a new one, so that all begin in the same state.
# Sets `url` and `pids`, which may contain placeholders of plans.
plan_service() {
    local words ready='^listening on (.+)$'
    url=$(literal "$service") pids=$attach
    case $service in
    serve) serve_words 0 "${workers:-1}" ;;
    mediawiki)
        ready='^url (.+)$'
        wiki_words "$(literal "$wiki")" "$workers"
        ;;
    *) return 0 ;;
    esac
    url='{server.1}' pids='{server.pid}'
    line beside server ready="$ready" -- "${words[@]}"
}

# plan_service_study: prints the lines of the study that the service needs.
plan_service_study() {
    [ "$service" != serve ] ||
        line once units 'match=^# work ([0-9]+)$' -- ssburn serial --iteration "$work" --iterations 0
    [ -z "$own_wiki" ] || line after -- "$here/services/mediawiki" down "$(literal "$wiki")"
}

# choose_sending SEED: sets `sending` to the options of ssrequest that do not depend on rates.
choose_sending() {
    sending=(--arrival "$arrival" --seed "$1" --cap "$cap" --timeout "${timeout}s"
        ${when_full:+--when-full "$when_full"} ${own_cpu:+--own-cpu "$own_cpu"})
}

# choose_shape KIND VALUE: sets `shape` to the options of ssrequest for this load or rate, or for steps, `what` to a part
# of the run's name, and the times `length`, `counted` and `warmup_seconds`.
choose_shape() {
    if [ "$1" = load ]; then
        # Episodes are at least 10 s and twice --settle long; a search takes about 3 s.
        local episodes
        episodes=$(compute "$seconds / 6 + $warmup >= 10 && $seconds / 6 >= $warmup ? 6 : 1")
        what=l$2 length=$(compute "$episodes * ($warmup + 3) + $seconds + 3") warmup_seconds=0 counted=$seconds
        shape=(-l "$2%" --episodes "$episodes" --settle "${warmup}s"
            --duration "$(compute "$episodes * $warmup + $seconds")s" "${held[@]}")
    elif [ "$1" = rate ]; then
        what=r$2 length=$(compute "$warmup + $seconds + 3") warmup_seconds=$warmup counted=$seconds
        shape=(--profile constant --rate "$2" --duration "${seconds}s")
    else
        what=steps counted=$(steps_seconds) length=$(compute "$counted + 3") warmup_seconds=0
        shape=(--profile step --max "${step[0]}" --step "${step[1]}" --hold "${step[2]}s")
    fi
}

# plan_requests URL OPTION...: prints the lines that send requests: a warm-up at the rate `value`, then the requests
# that count. Failed requests do not make the run fail.
plan_requests() {
    [ "$warmup_seconds" = 0 ] || line before warmup ok=0,1 -- ssrequest --quiet --profile constant --rate "$value" \
        --duration "${warmup}s" "${sending[@]}" "${@:2}" "$1"
    line main requests ok=0,1 ${own_cpu:+"cpus=${own_cpu//,/ }"} -- ssrequest "${shape[@]}" --record '{record}' \
        "${sending[@]}" "${@:2}" "$1"
}

# choose_held: sets `held`: the load is that of the service, and of all its processes if the experiment starts it; a load
# of 100 % are the CPUs of --on. By default, serve has as many workers as there are CPUs.
choose_held() {
    held=(${on:+--cpus "$cpus"})
    when_full='' # requests are delayed
    [[ $service = *://* ]] || held+=(--of 'pid:{server.pid}')
    [ "$service" != serve ] || : "${workers:=$cpus}"
}

# steps_seconds: prints the duration of all steps.
steps_seconds() {
    local full="int(${step[0]} / ${step[1]})"
    compute "($full + ($full * ${step[1]} < ${step[0]})) * ${step[2]}"
}

# check_rates_or_steps: fails if --rates and --steps are combined. Call this before defaults are set.
check_rates_or_steps() {
    [ ${#user_command[@]} -eq 0 ] || fail "${user_command[0]}: unexpected command: name the service with --service"
    [ -z "$rates" ] || [ -z "$steps" ] || fail "--rates cannot be combined with --steps"
    [ -z "$steps" ] || refuse_given "with --steps" seconds warmup
}

# check_service RATES FEW: sets `name` and, unless rates or steps are given, `rates`: for serve to RATES, or with
# --quick to FEW.
check_service() {
    local usual='' few=''
    case $service in
    serve) usual=$1 few=$2 ;;
    mediawiki) usual=2,5,10,15,20 few=1,3,6 ;;
    http://* | https://*)
        [ -n "$loads$rates$steps" ] || fail "--loads, --rates or --steps is required: see --help"
        [ -z "$on$workers" ] || fail "--on and --workers require a service that the experiment starts"
        ;;
    *) fail "--service: $service: serve, mediawiki or a URL is required" ;;
    esac
    [ -n "$loads$rates$steps" ] || rates=${quick:+$few}
    [ -n "$loads$rates$steps" ] || rates=$usual
    name=$service
    [[ $service != *://* ]] || name=url
    [ "$service" = serve ] || refuse_given "without --service serve" work spread
    [ "$service" = mediawiki ] || [ -z "$wiki" ] || fail "--wiki requires mediawiki"
}

# is_open: succeeds if some runs of the plan are not done.
is_open() {
    local answer
    answer=$(plan_all | ssbatch --dry-run "$output") || true
    [[ $answer != *"to come: 0 s" ]]
}

# check_answer: fails if the service behind a URL does not answer.
check_answer() {
    [ "$name" != url ] || [ -n "$dry_run$print_plan" ] || ! is_open || check_url service "$service"
}

# check_service_values: checks the other options of service and requests. Call this after defaults are set.
check_service_values() {
    local program reason
    for program in ssrequest ssburn ssload; do
        command -v "$program" >/dev/null ||
            fail "$program not found: build it (see README.md), or use --bin"
    done
    check whole seed
    if [ -n "$workers" ]; then
        check count workers
        check_workers workers "$workers"
    fi
    reason=$(ssburn serial --iteration "$work" --help 2>&1 >/dev/null) || fail "--work: ${reason#ssburn: --iteration: }"
    [ -z "$when_full" ] || check_words when-full "delay drop" "$when_full"
    check_words spread "constant exponential" "$spread"
    [ -z "$own_cpu" ] || value_of cpus own-cpu "$own_cpu" >/dev/null || exit 1
    check_rates
    check_steps
    check_times seconds timeout warmup
}

# check_workers OPTION N: fails if serve cannot have this many workers. `ssburn serve --help` checks the other options.
check_workers() {
    local reason
    [ "$service" != serve ] || reason=$(ssburn serve --workers "$2" --help 2>&1 >/dev/null) ||
        fail "--$1: ${reason#ssburn: --workers: }"
}

# check_times OPTION...: converts values to seconds. Only --warmup may be 0.
check_times() {
    local option value
    for option; do
        [ "$option ${!option}" != "warmup 0" ] || continue
        value=$(value_of duration "$option" "${!option}") || exit 1
        printf -v "$option" %s "$value"
    done
}

# check_rates: fails unless all rates are numbers above 0.
check_rates() {
    local rate
    for rate in ${rates//,/ }; do
        [[ $rate =~ ^[0-9]+(\.[0-9]+)?$ && $rate =~ [1-9] ]] ||
            fail "--rates: $rate: requests per second are required, such as 10,20,50"
    done
}

# check_steps: sets `step` to the parts of --steps, with the length of a step in seconds.
check_steps() {
    local hold number='([0-9]+\.?[0-9]*|\.[0-9]+)'
    [ -n "$steps" ] || return 0
    [[ $steps =~ ^$number:$number:[^:]+$ && $steps =~ ^[^:]*[1-9][^:]*:[^:]*[1-9] ]] ||
        fail "--steps: $steps: MAX:STEP:TIME is required, such as 140:5:2s"
    hold=$(value_of duration steps "${steps##*:}") || exit 1
    steps=${steps%:*}:$hold
    IFS=: read -ra step <<<"$steps"
}

# find_wiki: sets `wiki`. The first run creates it; the study removes it unless the user named it.
find_wiki() {
    [ "$service" = mediawiki ] || return 0
    own_wiki=
    [ -n "$wiki" ] || { wiki=$output/wiki && own_wiki=yes; }
    wiki=$(realpath -m -- "$wiki")
    [ -n "$dry_run" ] || [ ${#wiki} -le 84 ] ||
        fail "$wiki: too long for the paths of sockets in it: use a shorter --output or --wiki"
    [ -n "$dry_run$print_plan" ] || "$here/services/mediawiki" check || exit 1
}
