#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: the list of runs and how it is carried out.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

# shellcheck source=leftovers.sh
. "$(dirname "${BASH_SOURCE[0]}")/leftovers.sh"
# shellcheck source=others.sh
. "$(dirname "${BASH_SOURCE[0]}")/others.sh"

run_names=()
run_lengths=()
run_words=()
declare -A words_of_run=()
skips=()
around=()

# plan NAME SECONDS FUNCTION WORD...: the function starts the run; no word has a blank. The / in the name of
# a workload is a point in that of the run. Of two runs of one name, the second would be taken for done.
plan() {
    local run=${1//\//.}
    [ "${words_of_run[$run]-"${*:3}"}" = "${*:3}" ] ||
        fail "two different runs would be called $run: give one of their workloads another name"
    words_of_run[$run]=${*:3}
    run_names+=("$run")
    run_lengths+=("$2")
    run_words+=("${*:3}")
}

# plan_skip REASON KEY=VALUE...: what cannot be had here.
plan_skip() {
    skips+=("$(printf '%s\n' "reason=$1" status=skipped "${@:2}")")
    say "skipped: ${*:2}: $1"
}

is_done() {
    [ -d "$output/runs/$1" ]
}

# The time of all runs from this one on that are not done.
time_left() {
    local number
    for ((number = $1; number < ${#run_names[@]}; number++)); do
        is_done "${run_names[number]}" || echo "${run_lengths[number]}"
    done | awk '{ sum += $1 } END { print sum + 0 }'
}

print_plan() {
    local number mark total last='' length
    for number in "${!run_names[@]}"; do
        mark=
        ! is_done "${run_names[number]}" || mark=", done"
        [ "${run_lengths[number]}" = "$last" ] || length=$(span "${run_lengths[number]}")
        last=${run_lengths[number]}
        echo "${run_names[number]}: $length$mark"
    done
    total=$(time_left 0)
    echo "${#run_names[@]} runs, $(span "$total") to go"
}

# What is about to happen, and how to have less of it.
announce() {
    local left ways=$shorter
    left=$(time_left 0)
    [ "$left" != 0 ] || return 0
    [ -n "$quick" ] || ways="--quick, $ways"
    say "${#run_names[@]} runs, $(span "$left") to go; --dry-run lists them. Shorter: $ways"
    look_at_machine
}

# carry_out NAME...: all of them; the variables named are what they have in common.
carry_out() {
    local index count=${#run_names[@]} call length
    check_settings "$@"
    if [ -n "$dry_run" ]; then
        print_plan
        [ "$count" -gt 0 ] || [ ${#skips[@]} -gt 0 ] || fail "nothing is left to be run"
        [ "$count" -gt 0 ] || fail "no run is possible here, for the reasons above"
        exit
    fi
    [ "$count" -gt 0 ] || [ ${#skips[@]} -gt 0 ] || fail "nothing is left to be run"
    open_output
    write_settings
    [ "$count" -gt 0 ] || fail "no run is possible here; the reasons are in $output/manifest.csv"
    announce
    for index in "${!run_names[@]}"; do
        ! is_done "${run_names[index]}" || continue
        say "[$((index + 1))/$count] ${run_names[index]}:" \
            "$(span "${run_lengths[index]}"), $(span "$(time_left "$index")") left in all"
        read -ra call <<<"${run_words[index]}"
        length=${run_lengths[index]}
        carry_out_one "${run_names[index]}" "${call[@]}"
    done
}

# ---- one run ----

all_run() {
    local pid
    for pid in "${!launched[@]}"; do
        kill -0 "$pid" 2>/dev/null || return
    done
}

# show_time LENGTH: on a terminal, while the run goes on; without a process of its own.
show_time() {
    local begin=$SECONDS whole=${1%.*} never
    [ -t 2 ] || return 0
    exec {never}<> <(:)
    while all_run; do
        printf '\r%d of %d s' $((SECONDS - begin)) "$whole" >&2
        read -rt 1 -u "$never" || true
    done
    exec {never}>&-
    printf '\r\033[K' >&2
}

# carry_out_one NAME FUNCTION WORD...
carry_out_one() {
    local run_name=$1 status=0 failed_role='' why='' whole='' begin=${EPOCHREALTIME/./} before used
    make_scratch
    rows=()
    silent=()
    before=$(machine_times)
    start_energy
    "${@:2}"
    show_time "$length"
    wait_for_launched || status=$?
    end_started
    used=$(others_share "$before" "$(machine_times)")
    [ "$status" -eq 0 ] || why="status $status"
    if [ -z "$why" ]; then
        keep_run "$run_name" "$used"
    else
        keep_failure "$run_name" "$why" "$failed_role" "$used"
        failures=$((failures + 1))
        [ -n "$go_on" ] || [ $((2 * (${EPOCHREALTIME/./} - begin))) -gt "${length%.*}000000" ] ||
            fail "ended, because the next runs would probably fail, too; --go-on tries them"
    fi
    clear_all
}

# The folder of a run's data on the RAM disk.
make_scratch() {
    until scratch=$ram/showstopper-$tool.$$.$RANDOM && [ ! -e "$scratch" ]; do
        :
    done
    note_left folder "$scratch"
    mkdir -m 700 "$scratch" "$scratch/data" "$scratch/record" "$scratch/said"
}

# What the run has made outside of the folder of results.
clear_all() {
    clear_left || say "$tool: it cannot be removed and remains listed in $leftovers: $(paste -sd ' ' "$leftovers")"
    scratch=
}

# Waits for all that was launched, or for the first that fails; sets `failed_role`, and `why` if the status does
# not say it.
wait_for_launched() {
    local pid status
    while [ ${#launched[@]} -gt 0 ]; do
        status=0
        wait -n -p pid "${!launched[@]}" || status=$?
        failed_role=${launched[$pid]}
        [ "$status" -eq 0 ] || return "$status"
        unset "launched[$pid]"
        why=$(why_no_result "$scratch/record${failed_role:+/$failed_role}")
        [ -z "$why" ] || return 0
    done
}

# why_no_result RECORD: prints why it has no result, if so. `whole` is set by runs that are of no use without
# their end: they follow stairs or a trace.
why_no_result() {
    local early
    early=$(ended_early "$1")
    if [ "$(figure "$1/summary.json" samples)" = 0 ]; then
        echo "nothing was counted${early:+: $early}"
    elif [ -n "$whole" ]; then
        echo "$early"
    fi
}

# ended_early RECORD: prints that an instance ended by itself before the run did, if so.
ended_early() {
    local after
    grep -q '"instances_ended": \[$' "$1/summary.json" || return 0
    after=$(sed -nE 's/.*"elapsed_seconds":([^,]*),"event":"instance_ended".*/\1/; T; p; q' "$1/events.jsonl")
    if [[ $after = [0-9]* ]]; then
        after="after $(span "$after")"
    else
        after="in the warm-up"
    fi
    echo "the command ended by itself $after; --repeat (\`repeat = yes\` in a catalogue) starts it again"
}

# keep_run NAME SHARE: what ssburn says stands in iterations.csv, too; what others say is kept.
keep_run() {
    local part=$output/runs/.$1.part beside file role kind
    mkdir -p "$part"
    cp -a "$scratch/record/." "$part"
    rm -rf "${silent[@]}"
    find "$scratch/said" -type f -empty -delete 2>/dev/null || true
    [ ! -d "$scratch/said" ] || cp -a "$scratch/said/." "$part"
    for beside in energy.csv beside.csv; do
        [ ! -e "$scratch/$beside" ] || cp "$scratch/$beside" "$part"
    done
    for file in "$scratch"/{host-load,guest-clock,guest-vcpus}.*.csv; do
        [ -e "$file" ] || continue
        role=${file%.csv} role=${role##*.} kind=${file##*/}
        cp "$file" "$part/$role/${kind%%.*}.csv"
    done
    write_rows "$1" status=done "others=$2" >"$part/manifest.rows"
    # A power cut may drop whatever is not on disk, in any order: so the data come before the name under
    # which they count, and the name before the row that says "done".
    find "$part" -depth \( -type f -o -type d \) -print0 | xargs -0 sync --
    mv -T "$part" "$output/runs/$1"
    sync -- "$output/runs"
    cat "$output/runs/$1/manifest.rows" >>"$output/manifest.csv"
    sync -- "$output/manifest.csv"
    rm -rf "$output/failed/$1"
    ! is_more "$2" "$others" || say "$1: others used $(percent "$2") of the machine"
}

# keep_failure NAME WHY ROLE SHARE: all that is there, and what was said first is shown.
keep_failure() {
    local folder=$output/failed/$1 file first link=":"
    [[ $2 != "status "* ]] || link=" with"
    mkdir -p "$output/failed"
    rm -rf "$folder"
    mkdir "$folder"
    [ ! -d "$scratch/record" ] || cp -a "$scratch/record/." "$folder"
    cp -a "$scratch/said/." "$folder"
    file=$(told_why "$folder${3:+/$3}")
    first=$(grep -m 1 . "$file") || true
    say "$1: failed$link $2${3:+ ($3)}${first:+; $file begins:}"
    [ -z "$first" ] || head -n 10 "$file" | cut -c 1-200 | sed 's/^/    /' >&2
    write_rows '' status=failed "others=$4" "reason=$2${first:+: ${first:0:200}}" \
        >>"$output/manifest.csv"
}

# told_why FOLDER: the file that most probably tells why a run failed: what showstopper said, or else
# the instance that failed first; on standard error or, if that is empty, on standard output.
told_why() {
    local index file
    index=$(sed -nE 's/.*"instance_ended","instance":"([0-9]+)","value":([1-9]|-).*/\1/p' \
        "$1/events.jsonl" 2>/dev/null | head -n 1)
    for file in "$1"/showstopper.err "$1"/output/"${index:-0}".{err,out} "$1"/output/*.{err,out}; do
        [ ! -s "$file" ] || break
    done
    echo "$file"
}

# launch ROLE NUMBER OPTION...: starts showstopper with so many instances of the workload chosen last, and
# with what all runs have in common. ROLE is empty in experiments of one side. `around` has words that go before
# showstopper, if any.
launch() {
    local said=$scratch/said${1:+/$1}
    [ -n "$1" ] || rmdir "$scratch/record"
    mkdir -p "$said"
    [[ ${entries[$workload:command]-} != ssburn\ * ]] || silent+=("$said")
    make_folders "$1" "$2" "$workload"
    TMPDIR=$scratch/data "${guard[@]}" "${around[@]}" showstopper --quiet --fail-fast \
        ${counters:+--counters} --record "$scratch/record${1:+/$1}" --output "$said/output" -n "${@:2}" \
        >/dev/null 2>"$said/showstopper.err" &
    launched[$!]=$1
    started+=($!)
}

# ---- processes beside a run ----

# start COMMAND...: runs it until the end of the run. A function has no guard, so it must check by itself
# whether the script still runs.
start() {
    local words=("${guard[@]}")
    ! declare -F "$1" >/dev/null || words=()
    "${words[@]}" "$@" &
    started+=($!)
}

# Ends what was started here, by pid; showstopper ends its instances itself. It comes first, since it may run
# in an environment that was started, too.
end_started() {
    end_processes "${!launched[@]}"
    end_processes "${started[@]}"
    started=()
    launched=()
}

# end_processes PID...: our children. The number of one that has ended may be that of a stranger by now.
end_processes() {
    local pid running
    running=$'\n'$(jobs -rp)$'\n'
    for pid; do
        [[ $running != *$'\n'"$pid"$'\n'* ]] || kill -TERM "$pid" 2>/dev/null || true
    done
    for pid; do
        wait "$pid" 2>/dev/null || true
    done
}

# ---- begin and end ----

# What an earlier call left half done goes; one that is still at work is not disturbed.
open_output() {
    started=()
    launched=() # the role of each pid
    failures=0
    make_output runs
    lock_output
    rm -rf "$output"/runs/.*.part
    leftovers=$output/left
    clear_left || fail "an earlier call has left what cannot be removed: see $leftovers"
    [ -w "$ram" ] || fail "--ram: $ram: no folder to write to"
    ram=$(cd "$ram" && pwd)
    guard=(setsid setpriv --pdeathsig TERM "$here/guard" "$$" "$lock" "$leftovers")
    setpriv --pdeathsig TERM true 2>/dev/null || guard=(setsid "${guard[@]:4}")
    write_manifest
    trap close_output EXIT
    trap 'interrupted=yes; exit 130' INT
    trap 'interrupted=yes; exit 143' TERM HUP
}

# make_output [FOLDER]: makes the folder of results, with this one in it, so that a power cut does not take it
# away from runs that are done; `output` becomes an absolute path.
make_output() {
    local folder=$output${1:+/$1} made=()
    while [ ! -d "$folder" ]; do
        made+=("$folder")
        folder=$(dirname -- "$folder")
    done
    mkdir -p -- "$output${1:+/$1}" || fail "--output: $output cannot be made"
    [ ${#made[@]} -eq 0 ] || sync -- "${made[@]}" "$folder"
    output=$(cd "$output" && pwd)
}

# is_experiment PID: another process may have the pid of one that was killed.
is_experiment() {
    grep -qsF -- "$tool" "/proc/$1/cmdline"
}

# The guards of an earlier call that was killed hold the lock until they have cleared up.
lock_output() {
    local other
    exec {lock}<>"$output/lock"
    if ! flock -n "$lock"; then
        other=$(cat "$output/lock")
        if [ -z "$other" ] || is_experiment "$other" || ! flock -w 10 "$lock"; then
            fail "an experiment is at work in $output${other:+ (pid $other)}"
        fi
    fi
    echo $$ >"$output/lock"
}

close_output() {
    trap '' INT TERM HUP
    end_started
    clear_all
    rm -rf "$output"/runs/.*.part
    [ -z "$interrupted" ] || say "$tool: interrupted; the same call goes on where it was"
}

interrupted=
scratch=
