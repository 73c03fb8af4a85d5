#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2317 # parts are called by their names
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/questions.sh [OPTION]...
Asks duet, loadline and antagonist questions whose answers are known, on an idle machine, and prints how often they were
right. Exits with status 1 if a limit is missed. All studies that the limits are about take 20 hours: a call carries out
--studies of each part and keeps their answers in a folder, which the next call continues. A limit counts as missed when
the remaining studies can no longer meet it, and as met when they can no longer miss it.

  --parts LIST     default equal,slower,loadline,antagonist:
                   equal       duet of two equal commands: at most 9 of 100 find a difference
                   slower      duet of a command and one with 2 % more work: at least 36 of 40 find it
                   loadline    two equal studies: the difference of the median level is at most 1 %, of each 2 %,
                               without the maximum, to which the others are relative
                   antagonist  four suspects: a neighbor on the CPU of the victim, a program on another CPU that needs
                               memory bandwidth, and two that mostly sleep: the neighbor is accused in at least 19 of
                               20 studies, and in these at most 2 of the 40 sleepers
  --studies N      of each part; default $studies. 0 prints what is done
  --time TIME      of duet, for a study; default $time
  --hold TIME      of loadline, for a level; default $hold
  --rounds N       of loadline: each visits all levels twice; default $rounds. Many rounds of short levels, because
                   the speed of a machine varies over minutes
  --slot TIME      of antagonist, which has 126 slots, and as many again for each accused; default $slot
  --answers DIR    this folder; default $answers
  --build DIR      default $build
  --help           print this help
END
}

parts=equal,slower,loadline,antagonist studies=1 time=3M hold=4s rounds=20 slot=5s answers=build/questions
take_options parts studies time hold rounds slot answers build -- "$@"
[[ $studies =~ ^[0-9]+$ ]] || fail "--studies: $studies: not a number"
for part in ${parts//,/ }; do
    [[ " equal slower loadline antagonist " = *" $part "* ]] || fail "--parts: $part: not a part"
done
mkdir -p "$answers"
answers=$(cd "$answers" && pwd) missed=0
open_bench

# keep_settings PART: fails if there are answers of studies with other settings, which cannot be counted together.
keep_settings() {
    local settings="--time $time" kept=$answers/$1-settings
    case $1 in
    loadline) settings="--hold $hold --rounds $rounds" ;;
    antagonist) settings="--slot $slot" ;;
    esac
    [ -e "$kept" ] || echo "$settings" >"$kept"
    [ "$(<"$kept")" = "$settings" ] ||
        fail "$answers has answers of $1 with $(<"$kept"): use the same options, or another --answers"
}

# experiment NAME OUTPUT ARG...: carries out an experiment, or continues it. It runs in the background because a signal
# would otherwise wait for its end.
experiment() {
    local status=0
    sslab "$1" --output "$2" "${@:3}" >"$folder/output" 2>&1 &
    started+=($!)
    wait "${started[-1]}" || status=$?
    unset 'started[-1]' # its pid may be reused
    [ "$status" = 0 ] || fail "$1: $(tail -n 3 "$folder/output")"
}

# ask_duet STUDY PERCENT: prints the interval of the difference between two commands, of which one has this much more
# work.
ask_duet() {
    local work low high
    work=$(kept work calibrate serial)
    experiment duet "$1" --seed "${1##*-}" --at-most "$time" --iteration '^iteration' \
        --a "ssburn serial --work $work" --b "ssburn serial --work $((work + work * $2 / 100))"
    low=$(ssreport --table duet --column worse_low "$1" 2>"$folder/warnings")
    high=$(ssreport --table duet --column worse_high "$1" 2>"$folder/warnings")
    echo "$low $high"
}

# kept NAME COMMAND...: prints the output of the command's first call.
kept() {
    [ -s "$answers/$1" ] || "${@:2}" >"$answers/$1"
    cat "$answers/$1"
}

ask_equal() { ask_duet "$1" 0; }
ask_slower() { ask_duet "$1" 2; }

# ask_loadline STUDY: prints the target of each level below the maximum and the difference of two studies in percent.
ask_loadline() {
    local repeat work
    work=$(kept work calibrate serial)
    mkdir -p "$1"
    for repeat in 1 2; do
        experiment loadline "$1/$repeat" --hold "$hold" --rounds "$rounds" --iteration '^iteration' -- \
            ssburn serial --work $((work / 10))
        ssreport --table loadline "$1/$repeat" >"$folder/levels-$repeat.csv" 2>"$folder/warnings"
    done
    awk -f "$source/tests/bench/levels.awk" "$folder"/levels-[12].csv
}

# ask_antagonist STUDY: prints the verdict about each suspect.
ask_antagonist() {
    local cpus suspects=() roles=(neighbor memory sleeper sleeper) role
    readarray -t cpus < <(taskset -c -p $$ | sed 's/.*: //' | tr , '\n' | awk -F - '{ for (i = $1; i <= $NF; i++) print i }')
    [ ${#cpus[@]} -gt 1 ] || fail "antagonist: two CPUs are required"
    taskset -c "${cpus[0]}" ssburn serial --iteration 20m >"$folder/victim.log" &
    started+=($!)
    start taskset -c "${cpus[0]}" ssburn serial
    start taskset -c "${cpus[1]}" ssburn serial --memory 64M
    start taskset -c "${cpus[1]}" nap 10 1000000000
    start taskset -c "${cpus[1]}" sh -c 'while sleep 0.02; do :; done'
    suspects=("${started[@]: -4}")
    experiment antagonist "$1" --victim "$folder/victim.log" --iteration '^iteration' --slot "$slot" --seed "${1##*-}" \
        --suspects "$(IFS=, && echo "${suspects[*]}")" --depth 50% --json "$folder/answer.json"
    end_started
    for role in "${!roles[@]}"; do
        echo "${roles[role]} $(awk -F '"' -v pid="${suspects[role]}" '$2 == "pid" { found = $3 ~ "[ :]" pid "," }
            found && $2 == "verdict" { print $4 }' "$folder/answer.json")"
    done
}

# ask PART: carries out the next study of a part. A study that was interrupted is continued, but not that of antagonist,
# whose suspects have ended.
ask() {
    local number=1
    while [ -e "$answers/$1-$number.txt" ]; do
        number=$((number + 1))
    done
    [ "$1" != antagonist ] || rm -rf "$answers/$1-$number"
    "ask_$1" "$answers/$1-$number" >"$folder/answer"
    [ -s "$folder/answer" ] || fail "$1 $number: no answer: $(cat "$folder/output")"
    mv "$folder/answer" "$answers/$1-$number.txt"
    rm -rf "${answers:?}/$1-$number"
    echo "$1 $number: $(paste -sd ';' "$answers/$1-$number.txt")"
}

# bar SENTENCE MISSES ALLOWED DONE ALL: prints whether the limit of ALLOWED misses in ALL cases is met or missed, or not
# decided after the cases that are DONE.
bar() {
    local state="not decided"
    if [ "$2" -gt "$3" ]; then
        state=missed missed=1
    elif [ $(($2 + $5 - $4)) -le "$3" ]; then
        state=met
    fi
    echo "Bar: $1: $2 of $4, at most $3 of $5: $state"
}

# list PART: prints the lines of all answers, each after the number of its study.
list() {
    local file
    for file in "$answers/$1"-*.txt; do
        [ ! -e "$file" ] || sed "s/^/$(basename "${file#"$answers/$1-"}" .txt) /" "$file"
    done
}

judge_equal() {
    local found all
    read -r found all < <(list equal | awk '{ found += $2 > 0 || $3 < 0 } END { print found + 0, NR }')
    bar "duet finds a difference between equal commands" "$found" 9 "$all" 100
}

judge_slower() {
    local lost all
    read -r lost all < <(list slower | awk '{ lost += !($2 > 0) } END { print lost + 0, NR }')
    bar "duet does not find 2 % more work" "$lost" 4 "$all" 40
}

judge_loadline() {
    local number middle largest missed_by all
    read -r missed_by all < <(
        for number in $(list loadline | cut -d ' ' -f 1 | sort -un); do
            read -r middle _ largest < <(list loadline | awk -v n="$number" '$1 == n { print $3 < 0 ? -$3 : $3 }' | median)
            echo "loadline $number: two studies differ by $middle % in the median level, by at most $largest % in each" >&2
            echo "$middle $largest"
        done | awk '{ missed += $1 > 1 || $2 > 2 } END { print missed + 0, NR }'
    )
    bar "two loadlines differ by over 1 % in the median level, or by over 2 % in one" "$missed_by" 0 "$all" 1
}

judge_antagonist() {
    local lost accused all
    read -r lost accused all < <(list antagonist | awk '{ accuses = $3 == "hurts" || $3 == "hurts," }
        $2 == "neighbor" { lost += !accuses; all++ }
        $2 == "sleeper" { accused += accuses } END { print lost + 0, accused + 0, all + 0 }')
    bar "antagonist does not find the neighbor" "$lost" 1 "$all" 20
    bar "antagonist accuses a sleeper" "$accused" 2 $((2 * all)) 40
}

for part in ${parts//,/ }; do
    keep_settings "$part"
done
for part in ${parts//,/ }; do
    for ((study = 0; study < studies; study++)); do
        ask "$part"
    done
done
for part in ${parts//,/ }; do
    "judge_$part"
done
exit "$missed"
