#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of ssprofile. Benchmarks are scripts that print a number, and showstopper is a script that passes them the
# setting, so that results do not depend on the speed of the machine.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
set +o pipefail # grep -q closes its pipe early
# shellcheck source=pages.sh
. "$source/tests/system/pages.sh"
# Benchmarks run on CPU 0 by default.
taskset -c 0 true 2>/dev/null || skip "affinity: CPU 0 cannot be used"

folder=$scratch

# ssprofile searches for showstopper in its own folder.
mkdir "$folder/bin"
cp "$build/bin/ssprofile" "$folder/bin"
ln -s "$build/libexec" "$folder/libexec"
cat >"$folder/bin/showstopper" <<END
#!/bin/sh
called=$folder/called
END
cat >>"$folder/bin/showstopper" <<'END'
echo "${*%%-- *}--" >>"$called"
while [ "$1" != -- ]; do
    [ "$1" != -l ] || SETTING=$2
    shift
done
shift
export SETTING
exec "$@"
END
# Without a throttle the speed is 100.
cat >"$folder/bin/rate" <<'END'
#!/bin/sh
awk -v speed="${1:-100}" -v setting="${SETTING:-1}" -v power="${POWER:-1}" \
    'BEGIN { print "rate", speed * setting ^ power }'
END
cat >"$folder/bin/took" <<'END'
#!/bin/sh
awk -v setting="${SETTING:-1}" -v power="${POWER:-1}" 'BEGIN { print "took", 10 / setting ^ power, "s" }'
END
chmod +x "$folder/bin/"*
cat >"$folder/battery" <<'END'
# two benchmarks
version 'echo fake 1.0'
fast cpu /s higher 'rate' 'rate ([0-9.e+]+)'
slow cpu s lower 'took' 'took ([0-9.]+) s'
END

# expect STATUS WORD...: fails unless ssprofile exits with this status; it writes to `out` and `err`.
expect() {
    local wanted=$1 status=0
    shift
    "$folder/bin/ssprofile" "$@" >"$folder/out" 2>"$folder/err" || status=$?
    [ "$status" -eq "$wanted" ] || fail "ssprofile $*: expected status $wanted, got $status: $(cat "$folder/err")"
}

says() {
    grep -Eq -e "$1" "$folder/err" "$folder/out" ||
        fail "no '$1' in: $(cat "$folder/out" "$folder/err")"
}

# says_in_all TEXT: fails unless the output, without its line breaks, contains the text.
says_in_all() {
    tr -s ' \n' ' ' <"$folder/out" | grep -Fq -e "$1" || fail "no '$1' in: $(cat "$folder/out")"
}

# is_page PAGE PICTURES: fails unless the page is well-formed and has this number of pictures.
is_page() {
    local page=$1 pictures=$2
    is_well_formed "$page" || fail "$page is not well-formed"
    ! grep -Eq '(src|href)=["'\'']?https?:|<script|@import' "$page" || fail "$page refers to external resources"
    [ "$(grep -c '</svg>' "$page")" -eq "$pictures" ] || fail "$page: expected $pictures pictures"
    [ -z "$(grep -o " id=['\"][^'\"]*['\"]" "$page" | sort | uniq -d)" ] || fail "$page: duplicate id"
}

# has FILE PATTERN [COUNT]: fails unless this number of lines, 1 by default, match the pattern as a whole.
has() {
    local count
    count=$(grep -Ecx -e "$2" "$folder/$1" || true)
    [ "$count" = "${3:-1}" ] || fail "$1 has $count lines '$2': $(cat "$folder/$1")"
}

# counts FILE LINES: fails unless the file has this number of lines.
counts() {
    [ "$(wc -l <"$folder/$1")" -eq "$2" ] || fail "$1 has not $2 lines: $(cat "$folder/$1")"
}

# begin BATTERY FOLDER LINE [OPTION...]: starts a measurement of the benchmark in this line. Sets `pid`. The benchmark
# opens the FIFO `begun`, which is awaited.
begin() {
    local status=0
    [ -e "$folder/begun" ] || mkfifo "$folder/begun"
    echo "$3" >"$folder/$1"
    "$folder/bin/ssprofile" measure --battery "$folder/$1" --machine one "${@:4}" "$folder/$2" \
        >"$folder/out" 2>"$folder/err" &
    pid=$!
    read -r -t "$patience" _ <"$folder/begun" || fail "the benchmark did not start"
}

measure() {
    expect 0 measure --battery "$folder/battery" --machine one --repetitions 2 "$@"
}

a_measurement_is_stored_in_its_folder() { # case
    measure "$folder/kept"
    counts kept/results.csv 5
    has kept/results.csv 'one,without,fast,false,cpu,1,100'
    has kept/results.csv 'one,without,slow,true,cpu,2,10'
    has kept/profile.json ' *"version": "fake 1.0",'
    has kept/profile.json ' *"schema": 1,'
    cmp "$folder/battery" "$folder/kept/battery.txt" || fail "the stored battery differs"
    says '2 of 2 benchmarks measured, 0 unstable'
}

# CPU 0 may belong to others.
the_first_cpu_that_may_be_used_is_the_default() { # case
    local last
    last=$(taskset -pc $$ | sed 's/.*[^0-9]//')
    [ "$last" != 0 ] || skip "missing: a CPU other than CPU 0"
    (taskset -pc "$last" "$BASHPID" >/dev/null && measure "$folder/last") || exit
    grep -q "\"cpu\": $last,$" "$folder/last/profile.json" || fail "$(cat "$folder/last/profile.json")"
}

# tests/unit/ssprofile/test_profile_folder.c cuts a table off at each byte.
a_folder_takes_results_of_the_same_options_only() { # case
    local words text
    cp "$folder/battery" "$folder/other"
    expect 0 measure --battery "$folder/other" --machine one --repetitions 2 "$folder/full"
    echo 'more cpu /s higher rate "rate ([0-9]+)"' >>"$folder/other"
    while IFS='|' read -r words text <&3; do
        eval "expect 125 measure $words $folder/full"
        says "$text"
    done 3<<'END'
--battery "$folder/other" --machine one --repetitions 2|battery.txt: the folder has results measured with other options: line [0-9]+ differs: use another folder
--battery "$folder/other" --machine two|profile.json: the folder has results measured with other options: "machine" differs: use another folder
--battery "$folder/other" --machine one --under without,duty=40%|other options: "limits" differs
END
}

# Without results, the folder takes the options of the next attempt.
a_failed_attempt_does_not_block_its_folder() { # case
    sed "s/'rate'/'tare'/; /^slow/d" "$folder/battery" >"$folder/mistyped"
    expect 125 measure --battery "$folder/mistyped" --machine two "$folder/retried"
    says 'no benchmark printed a result'
    sed /^version/d "$folder/battery" >"$folder/unversioned"
    measure --battery "$folder/unversioned" "$folder/retried"
    cmp "$folder/unversioned" "$folder/retried/battery.txt" || fail "the battery is that of the first attempt"
    grep -q '"machine": "one"' "$folder/retried/profile.json" || fail "$(cat "$folder/retried/profile.json")"
    [ ! -e "$folder/retried/version.txt" ] || fail "the version is that of the first attempt"
    expect 125 measure --battery "$folder/battery" --machine one "$folder/retried"
    says 'profile.json: the folder has results measured with other options: "battery" differs'
}

# The second benchmark ignores the first signal, and is killed by the second one. The third has closed its output.
a_signal_ends_the_measurement() { # case
    local pid
    begin endless ended "long cpu /s higher 'sh -c \"echo >$folder/begun; exec sleep 600\"' '([0-9]+)'"
    kill -TERM "$pid"
    ends 125
    says 'interrupted by a signal: Terminated; run the same command again to resume'
    begin stubborn killing \
        "deaf cpu /s higher 'sh -c \"trap : TERM; echo >$folder/begun; while :; do sleep 0.1; done\"' '([0-9]+)'"
    kill -TERM "$pid"
    # A second signal would be lost if the first were still pending.
    await grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$pid/status"
    kill -0 "$pid" || fail "the first signal ended ssprofile"
    kill -TERM "$pid"
    ends 125
    begin silent quiet "silent cpu /s higher 'sh -c \"echo rate 100; echo >$folder/begun; exec sleep 1000 >/dev/null 2>&1\"' 'rate ([0-9]+)'"
    kill -TERM "$pid"
    ends 125
    says 'interrupted by a signal'
}

a_signal_before_the_first_benchmark_ends_the_measurement() { # case
    local pid
    write_program "$folder/bin/showstopper-platform" '#!/bin/sh' "echo >$folder/begun" 'exec sleep 600'
    begin marking early "marked cpu /s higher 'touch $folder/marked' '([0-9]+)'"
    kill -TERM "$pid"
    ends 125
    rm "$folder/bin/showstopper-platform"
    says 'ssprofile: interrupted by a signal: Terminated; run the same command again to resume'
    ! grep -q 'cannot write platform.json' "$folder/err" || fail "the measurement continued: $(cat "$folder/err")"
    [ ! -e "$folder/marked" ] || fail "a benchmark was run"
}

# stress-ng prints its version and the kernel's. The latter must not identify the benchmark.
stress_ng_is_identified_by_its_version() { # case
    write_program "$folder/bin/stress-ng" '#!/bin/sh' \
        'echo "stress-ng, version 0.18.10 (gcc 14.2.0, loongarch64 Linux 6.13.1-1.fc42)"'
    (
        grep '^version' "$source/tools/ssprofile/batteries/stress-ng.txt"
        echo "fast cpu /s higher 'rate' 'rate ([0-9.e+]+)'"
    ) >"$folder/versioned"
    expect 0 measure --battery "$folder/versioned" --repetitions 1 "$folder/stressed"
    is "$folder/stressed/version.txt" "stress-ng, version 0.18.10 (gcc 14.2.0)"
}

a_quota_runs_benchmarks_in_a_separate_group() { # case
    local status=0 left
    # shellcheck disable=SC2016
    echo 'group cpu - higher "cat /proc/self/cgroup" "[/]ssprofile-([0-9]+)$"' >"$folder/grouped"
    "$folder/bin/ssprofile" measure --battery "$folder/grouped" --repetitions 1 --machine one \
        --under quota=40% "$folder/quota" >"$folder/out" 2>"$folder/err" || status=$?
    if grep -q 'control group' "$folder/err"; then
        skip "cgroup-quota: $(cat "$folder/err")"
    fi
    [ "$status" -eq 0 ] || fail "status $status: $(cat "$folder/err")"
    has quota/results.csv 'one,quota-4000,group,false,cpu,1,[0-9]*'
    # Groups of other tests may be removed meanwhile.
    left=$(find /sys/fs/cgroup -type d -name "ssprofile-$(tail -n 1 "$folder/quota/results.csv" |
        cut -d, -f7)" 2>/dev/null || true)
    [ -z "$left" ] || fail "leftover control group: $left"
}

# The folder is measured at two speeds; each repetition runs all benchmarks at both, in a new order.
each_repetition_measures_all_throttles_in_random_order() { # case
    local order
    measure --under without,duty=50% --repetitions 3 "$folder/both"
    says 'without: 2 of 2 benchmarks measured, 0 unstable'
    says 'duty-5000: 2 of 2 benchmarks measured, 0 unstable'
    has both/results.csv 'one,duty-5000,fast,false,cpu,[123],50' 3
    has both/results.csv 'one,without,slow,true,cpu,[123],10' 3
    sed 1d "$folder/both/runs.csv" | cut -d, -f1,5 | paste -sd ' ' >"$folder/numbers"
    is "$folder/numbers" '1,1 2,1 3,1 4,1 5,2 6,2 7,2 8,2 9,3 10,3 11,3 12,3'
    for order in 1 2 3; do
        awk -F, -v r="$order" '$5 == r { print $2, $3 }' "$folder/both/runs.csv" | paste -sd ' '
    done >"$folder/orders"
    [ "$(sort -u "$folder/orders" | wc -l)" -gt 1 ] || fail "all repetitions have the same order: $(cat "$folder/orders")"
    tr -d ' \n' <"$folder/both/profile.json" | grep -q '"limits":\["without","duty-5000"\]' ||
        fail "$(cat "$folder/both/profile.json")"
}

# Killed at ten moments: during the start, a run, or a write.
killed_measurement_continues() { # case
    local try pid last
    cat >"$folder/naps" <<'END'
nap cpu /s higher 'sh -c "sleep 0.02; echo rate 100"' 'rate ([0-9]+)'
doze cpu /s higher 'sh -c "sleep 0.01; echo rate 50"' 'rate ([0-9]+)'
END
    for try in 1 2 3 4 5 6 7 8 9 10; do
        "$folder/bin/ssprofile" measure -q --battery "$folder/naps" --machine one --repetitions 1000 \
            --under without,duty=50% "$folder/killed" >"$folder/out" 2>&1 &
        pid=$!
        # On a busy machine, all tries could end before this.
        [ "$try" -gt 1 ] || await test -e "$folder/killed/results.csv"
        sleep "$(awk -v seed="$$$try" 'BEGIN { srand(seed); print 0.05 + 0.3 * rand() }')"
        kill -KILL "$pid" || fail "try $try ended by itself: $(cat "$folder/out")"
        wait "$pid" 2>"$folder/told" || true
    done
    last=$(($(cut -d, -f6 "$folder/killed/results.csv" | grep -x '[0-9]*' | sort -n | tail -n 1) + 10))
    printf 'one,without,nap,false,c' >>"$folder/killed/results.csv"
    printf '77,without,na' >>"$folder/killed/runs.csv"
    expect 0 measure -q --battery "$folder/naps" --machine one --repetitions "$last" \
        --under without,duty=50% "$folder/killed"
    [ "$(cut -d, -f2,3,6 "$folder/killed/results.csv" | sed 1d | sort -u | wc -l)" -eq $((4 * last)) ] ||
        fail "repetitions are missing"
    [ "$(wc -l <"$folder/killed/results.csv")" -eq $((4 * last + 1)) ] || fail "duplicate repetitions"
}

clock_rates_and_idle_states_are_recorded() { # case
    local cpufreq=$folder/sys/devices/system/cpu/cpu0/cpufreq wanted="as they are"
    mkdir -p "$cpufreq"
    echo 1700000 >"$cpufreq/scaling_cur_freq"
    echo "nap cpu /s higher 'sh -c \"sleep 0.3; echo 7\"' '([0-9]+)'" >"$folder/nap"
    expect 0 measure --battery "$folder/nap" --repetitions 1 --root "$folder" "$folder/around"
    has around/runs.csv '1,without,nap,cpu,1,20[0-9-]*T[0-9:.]*Z,(0\.[3-9]|[1-9][0-9]*\.)[0-9]*,1700000000'
    # A container may have the file and deny to open it.
    ! { [ -c /dev/cpu_dma_latency ] && (: >/dev/cpu_dma_latency) 2>/dev/null; } || wanted="held off"
    has around/profile.json " *\"idle_states\": \"$wanted\",?"
    expect 0 measure --battery "$folder/nap" --repetitions 1 --idle-states "$folder/asleep"
    has asleep/profile.json ' *"idle_states": "as they are",?'
}

# The description has the CPUs that this process may use, not the one that benchmarks are pinned to.
the_description_is_not_pinned() { # case
    local allowed
    allowed=$(taskset -pc $$ | sed 's/.*: //')
    [[ $allowed = *[-,]* ]] || skip "missing: a second CPU"
    # shellcheck disable=SC2016 # for sh
    printf '#!/bin/sh\ntaskset -pc $$ | sed "s/.*: //" >"$2"\n' >"$folder/bin/showstopper-platform"
    chmod +x "$folder/bin/showstopper-platform"
    measure "$folder/described"
    rm "$folder/bin/showstopper-platform"
    is "$folder/described/platform.json" "$allowed"
}

# Without the C locale, `time` of bash and others would print a decimal comma.
benchmarks_run_in_the_c_locale() { # case
    # shellcheck disable=SC2016 # for sh
    echo 'locale cpu /s higher '\''sh -c "echo in ${LC_ALL-none}5"'\'' "in C([0-9]+)"' >"$folder/located"
    LC_ALL=POSIX expect 0 measure --battery "$folder/located" --repetitions 1 "$folder/local"
    says '1 of 1 benchmarks measured'
}

# A process in the background keeps the output of a benchmark open.
processes_that_a_benchmark_leaves_are_not_awaited() { # case
    # shellcheck disable=SC2016 # for sh
    echo "leaves cpu /s higher 'sh -c \"sleep 1000 & echo \$! >$folder/left; echo 7\"' '([0-9]+)'" >"$folder/leaving"
    expect 0 measure --battery "$folder/leaving" --repetitions 1 --machine one "$folder/abandoned"
    ! is_gone "$(cat "$folder/left")" || fail "the process in the background was awaited"
    kill "$(cat "$folder/left")"
    grep -qx 'one,without,leaves,false,cpu,1,7' "$folder/abandoned/results.csv" || fail "the result is missing"
}

commands_may_have_many_words() { # case
    # shellcheck disable=SC2016 # for sh
    echo "words cpu /s higher 'sh -c \"echo \$#\" $(printf ' x%.0s' {0..300})' '^([0-9]+)$'" >"$folder/wordy"
    expect 0 measure --battery "$folder/wordy" --repetitions 1 --machine one --under without,duty=50% "$folder/words"
    has words/results.csv 'one,(without|duty-5000),words,false,cpu,1,300' 2
}

unusable_benchmark_programs_are_skipped_and_reported() { # case
    cat "$folder/battery" - >"$folder/lame" <<'END'
lost cpu /s higher '/none/there' '([0-9]+)'
mute cpu /s higher 'true' '([0-9]+)'
bad cpu /s higher 'false' '([0-9]+)'
late cpu /s higher 'sh -c "echo slow; exit 124"' '([0-9]+)'
odd cpu /s higher 'sh -c "exit 123"' '([0-9]+)'
END
    expect 0 measure --battery "$folder/lame" --repetitions 1 "$folder/lamed"
    says 'skipping lost under without in further repetitions: cannot execute /none/there'
    says 'skipping mute under without in further repetitions: mute printed'
    says 'skipping bad under without in further repetitions: false failed with status 1'
    # These are statuses of timeout and xargs, among others.
    says 'skipping late under without in further repetitions: sh failed with status 124: slow'
    says 'skipping odd under without in further repetitions: sh failed with status 123'
    says '2 of 7 benchmarks measured'
}

shipped_batteries_are_valid() { # case
    local name
    [ "$("$build/bin/ssburn" kernel --list | awk '{ print $1, $2 }')" = \
        "$(sed '/^#/d; /^version/d' "$source/tools/ssprofile/batteries/own.txt" |
            awk '{ print $1, $2 }')" ] || fail "own.txt differs from ssburn kernel --list"
    [ "$(grep -c '^stressng-cpu-' "$source/tools/ssprofile/batteries/stress-ng.txt")" -eq 68 ] ||
        fail "expected 68 methods"
    for name in own stress-ng; do
        sed "/^#/d; s/'[a-z-]* [^']*' '/'true' '/; s/^version .*/version 'echo x'/" \
            "$source/tools/ssprofile/batteries/$name.txt" >"$folder/$name"
        expect 125 measure --battery "$folder/$name" --repetitions 1 "$folder/dry-$name"
        says 'no benchmark printed a result'
    done
}

# tests/system/test_sstrace.sh has commands in Python that say what to install.
benchmarks_of_a_battery_are_listed_without_python() { # case
    mkdir -p "$folder/without/bin"
    cp "$build/bin/ssprofile" "$folder/without/bin"
    "$folder/without/bin/ssprofile" measure --list --battery "$folder/battery" >"$folder/out" || fail "measure needs Python"
    [ "$(cat "$folder/out")" = "benchmark,class,lower_is_better
fast,cpu,false
slow,cpu,true" ] || fail "$(cat "$folder/out")"
}

# A pipe can be read only once. The published figures are found by the location of the program.
# tests/python/test_profile.py tests what these commands print.
tables_and_batteries_may_be_pipes() { # case
    local data=$source/tests/data/profile/results.csv status=0
    need_built reports
    sed 's/,kernel-01,/,stressng-cpu-pi,/; s/,kernel-02,/,stressng-cpu-fft,/' "$data" >"$folder/stressed.csv"
    "$build/bin/ssprofile" compare --battery stress-ng -o "$folder/beside" "$folder/stressed.csv:base" \
        <(cat "$folder/stressed.csv"):target >"$folder/out" 2>"$folder/err" || status=$?
    [ "$status" -eq 0 ] || fail "status $status: $(cat "$folder/err")"
    says 'target:without +2 +2\.0640 +2\.3547 '
    is_page "$folder/beside/compare.html" 2
    expect 0 predict --target target:without -o "$folder/predicted" "$folder/beside"
    is_page "$folder/predicted/predict.html" 1
    measure "$folder/base"
    expect 0 calibrate --base "$folder/base" --battery <(cat "$folder/battery")
    says '^setting 100\.00%'
}

calibrating_with_another_version_requires_force() { # case
    need_built reports
    measure "$folder/second"
    echo fake 1.1 >"$folder/second/version.txt"
    expect 125 calibrate --base "$folder/second"
    says "this machine has 'fake 1.0', but the base was measured with 'fake 1.1'"
    expect 0 calibrate --force --base "$folder/second"
}

only_selected_benchmarks_are_measured() { # case
    expect 0 measure --battery "$folder/battery" --benchmarks 'f*' --repetitions 2 "$folder/chosen"
    says '^1 of 1 benchmarks measured, 0 unstable'
    [ "$(cut -d, -f3 "$folder/chosen/results.csv" | sort -u | paste -sd ' ')" = "benchmark fast" ] ||
        fail "$(cat "$folder/chosen/results.csv")"
    expect 0 measure --battery "$folder/battery" --repetitions 2 "$folder/chosen"
    says '^2 of 2 benchmarks measured, 0 unstable'
}

an_unstable_profile_is_set_aside() { # case
    local options=(measure --battery "$folder/battery" --machine one --repetitions 2)
    measure "$folder/noisy"
    sed -i 's/^\(one,without,fast,.*,2\),100$/\1,130/' "$folder/noisy/results.csv"
    expect 125 "${options[@]}" --min-stable 50% "$folder/noisy"
    says '1 of 2 benchmarks are unstable, which leaves too few to compare: '
    says 'fast is unstable: its mean is uncertain by [0-9]+% \(95% confidence, 2 repetitions\)'
    mv "$folder/noisy/unstable-results.csv" "$folder/noisy/results.csv"
    mv "$folder/noisy/unstable-runs.csv" "$folder/noisy/runs.csv"
    expect 125 "${options[@]}" --min-stable 0% "$folder/noisy"
    [ ! -e "$folder/noisy/results.csv" ] || fail "the results were not set aside"
    counts noisy/unstable-results.csv 5
    expect 0 "${options[@]}" --min-stable 50% "$folder/noisy"
    counts noisy/results.csv 5
    expect 0 measure --battery "$folder/battery" --until-spread 0% "$folder/constant"
    counts constant/results.csv 7
}

# The folder's benchmarks were measured in two calls. Those of the first one are unstable.
min_stable_counts_all_benchmarks_of_the_folder() { # case
    local number options=(measure --battery "$folder/eleven" --machine one --repetitions 2)
    for number in {1..5}; do echo "noisy$number cpu /s higher 'rate' 'rate ([0-9]+)'"; done >"$folder/eleven"
    for number in {1..6}; do echo "calm$number cpu /s higher 'rate' 'rate ([0-9]+)'"; done >>"$folder/eleven"
    expect 0 "${options[@]}" --benchmarks 'noisy*' "$folder/first"
    sed -i 's/,2,100$/,2,130/' "$folder/first/results.csv"
    cp -r "$folder/first" "$folder/mostly-noisy"
    expect 0 "${options[@]}" --benchmarks 'calm*' --min-stable 50% "$folder/first"
    says '^6 of 6 benchmarks measured, 5 of 11 in this folder unstable$'
    [ ! -e "$folder/first/unstable-results.csv" ] || fail "stable results were set aside"
    expect 0 "${options[@]}" --benchmarks calm1 --min-stable 50% "$folder/first"
    says '^1 of 1 benchmarks measured, 5 of 11 in this folder unstable$'
    expect 125 "${options[@]}" --benchmarks 'calm1,calm2' --min-stable 50% "$folder/mostly-noisy"
    says '5 of 7 benchmarks are unstable: '
    [ -e "$folder/mostly-noisy/unstable-results.csv" ] || fail "the results were not set aside"
}

a_description_has_cpu_version_and_settings() { # case
    local described
    expect 0 measure --describe --cpu 0 --battery "$folder/battery" --under without,duty=25%
    described=$(tr -d ' \n' <"$folder/out")
    [[ $described = '{"cpu":0,"version":"fake1.0","settings":[{"limits":"without","setting":null,'* ]] || fail "$described"
    [[ $described = *'{"limits":"duty-2500","setting":0.25,"frequency_hz":null,"lowest_hz":null}]}' ]] || fail "$described"
    need_frequency
    expect 0 measure --describe --battery "$folder/clocked" --root "$tree" --under frequency=80%
    described=$(tr -d ' \n' <"$folder/out")
    [[ $described = *'"version":null,'*'"frequency_hz":1600000000,"lowest_hz":1400000000}'* ]] || fail "$described"
    [ -z "$(ls "$folder/nothing" 2>/dev/null)" ] || fail "a folder was created"
}

# interrupt SIGNAL: sends it to a calibration whose benchmark waits.
interrupt() {
    local pid benchmark
    set -m
    "$folder/bin/ssprofile" calibrate --base "$folder/base" --force --battery "$folder/waiting" -o "$folder/ended" \
        >"$folder/out" 2>"$folder/err" &
    pid=$!
    set +m
    read -r -t "$patience" benchmark <"$folder/begun" || fail "the benchmark did not start"
    kill "-$1" "$pid"
    ends 125
    await is_gone "$benchmark"
}

a_signal_ends_a_calibration_and_its_benchmark() { # case
    local signal
    need_built reports
    measure "$folder/base"
    mkfifo "$folder/begun"
    echo "fast cpu /s higher 'sh -c \"echo \$\$ >$folder/begun; exec sleep 600\"' '([0-9]+)'" >"$folder/waiting"
    mkdir "$folder/temporary"
    for signal in TERM INT HUP; do
        TMPDIR=$folder/temporary interrupt "$signal"
        says '^ssprofile: interrupted by a signal: '
        grep -q '^    "No setting was found: interrupted by a signal: ' "$folder/ended/calibrate.json" ||
            fail "$(cat "$folder/ended/calibrate.json")"
        [ -z "$(ls -A "$folder/temporary")" ] || fail "leftover results: $(ls -A "$folder/temporary")"
    done
}

# calibrated FOLDER MEMBER...: prints these members of the result of a calibration.
calibrated() {
    python3 -c 'import json, sys
for row in json.load(open(sys.argv[1]))["calibrated"]:
    print(*(f"{row[name]:.9g}" if isinstance(row[name], float) else row[name] for name in sys.argv[2:]))' "$folder/$1/calibrate.json" "${@:2}"
}

# tests/python/test_calibrate.py tests what calibrations find and print.
calibration_finds_the_setting() { # case
    need_built reports
    measure "$folder/base"
    sed -i 's/,100$/,40/; s/,10$/,25/' "$folder/base/results.csv"
    expect 0 calibrate --base "$folder/base" -o "$folder/calibrated"
    says '^setting 40\.00% .*2 tests'
    [ "$(calibrated calibrated throttle method setting low high tests benchmarks repetitions)" = \
        "duty closed 0.4 0.4 0.4 2 2 3" ] || fail "$(cat "$folder/calibrated/calibrate.json")"
    # The ratio of this benchmark differs from that of the other one.
    sed 's/,25$/,20/' "$folder/base/results.csv" >"$folder/uneven.csv"
    expect 0 calibrate --base "$folder/uneven.csv" --battery "$folder/battery"
    says '^setting 44\.72%'
    expect 0 calibrate --base "$folder/base" --method search --throttle load --repetitions 1
    says '^setting (39\.9|40\.0).% .*16 tests'
    # The printed options are those of the calibrated throttle.
    says "^use: showstopper -n 1 -p '' --cpus [0-9]+ -l (39\.9|40\.0).% -f exact -d stagger -D 50m -c deadbeat -- APPLICATION\$"
    grep -Eq -- "-n 1 -p  --cpus [0-9]+ -l 0\.(39[5-9]|40[0-4]).* -f exact -d stagger -D 50000u -c deadbeat --$" "$folder/called" ||
        fail "the calibrated throttle was another one: $(tail -n 1 "$folder/called")"
    # With one repetition of a benchmark, only the search can use it.
    sed '/,fast,.*,2,/d' "$folder/base/results.csv" >"$folder/single.csv"
    expect 0 calibrate --base "$folder/single.csv" --battery "$folder/battery"
    says 'fast is left out: the base has one repetition of it, and the closed method needs two'
    echo "lacking cpu /s higher 'echo 1' '(1)'" >"$folder/lacking"
    expect 125 calibrate --base "$folder/base" --battery "$folder/lacking"
    says 'warning: lacking is left out: the base lacks it'
}

# The throttle delivers slightly less than its setting, and the base varies. The interval must be around the setting at
# which the ratios are 1, not around the tested one.
the_interval_contains_the_estimated_setting() { # case
    need_built reports
    measure --repetitions 3 "$folder/scattered"
    sed -i 's/\(fast.*,1\),100$/\1,39.9/; s/\(fast.*,2\),100$/\1,40/; s/\(fast.*,3\),100$/\1,40.1/
        s/,10$/,25/' "$folder/scattered/results.csv"
    POWER=1.002 expect 0 calibrate --base "$folder/scattered" -o "$folder/estimated"
    python3 - "$folder/estimated/calibrate.json" <<'END' || fail "$(cat "$folder/estimated/calibrate.json")"
import json, math, sys
document = json.load(open(sys.argv[1]))
test, result = document["calibration"][-1], document["calibrated"][0]
estimate = test["setting"] * math.exp(-test["log_ratio_mean"])
assert test["log_ratio_mean"] < -0.001 and result["low"] < estimate < result["high"]
assert math.isclose(result["low"] * result["high"], estimate**2, rel_tol=1e-5)
END
}

# A call, and a part of its message.
invalid_options_are_refused() { # case
    local words message
    while IFS='|' read -r words message <&3; do
        eval "expect 125 $words"
        [ -z "$message" ] || says "$message"
        [ ! -e "$folder/nothing" ] || fail "$words: a folder was created"
    done 3<<'END'
|no command
compaer|unknown command 'compaer': did you mean 'compare'
measure|
measure --battery onw "$folder/nothing"|onw: No such file or directory: .* own, stress-ng
measure --battery "$folder/battery" --under full "$folder/nothing"|--under: unknown throttle 'full': use without, frequency=1.4GHz, or KIND=PERCENT, where KIND is one of: duty
measure --battery "$folder/battery" --machine '#1' "$folder/nothing"|invalid machine name '#1': it begins with #, which would make its row a comment
measure --battery "$folder/battery" --machine ' a' "$folder/nothing"|invalid machine name ' a': it begins or ends with a blank
measure --battery "$folder/battery" --under duty=0 "$folder/nothing"|
measure --battery "$folder/battery" --under duty=50%,duty=0.5 "$folder/nothing"|duty=0.5 is given twice
measure --battery "$folder/battery" --benchmarks 'fast,quick' "$folder/nothing"|--benchmarks: the battery .* has no benchmark 'quick'
measure --battery "$folder/battery" --cpu 8191 "$folder/nothing"|--cpu: cannot run on CPU 8191
measure --repetitions 3 --until-spread 2% "$folder/nothing"|--until-spread cannot be combined with --repetitions
measure --battery "$folder/battery" --repetitions 1 --min-stable 50% "$folder/nothing"|--min-stable cannot judge single runs
measure --battery "$folder/battery" --time 20m "$folder/nothing"|--time has no effect: the battery has no command of the form 'ssburn kernel NAME'
measure --time 9m "$folder/nothing"|
measure --time 2h "$folder/nothing"|
measure --describe --battery "$folder/battery" --under full|--under: unknown throttle 'full'
END
    expect 0 --help
    expect 0 measure --help
}

# All ratios are 1, also that of the application, because both sides run here under the same throttle.
an_application_is_verified_on_this_machine() { # case
    local comparison=$folder/verified/compare
    need_built reports
    mkdir -p "$folder/verified"
    expect 0 measure --battery "$folder/battery" --machine base --repetitions 2 --under duty=40% "$folder/verified/base"
    expect 0 measure --battery "$folder/battery" --machine target --repetitions 2 --under without,duty=40% \
        "$folder/verified/target"
    expect 0 compare --all -q -o "$comparison" "$folder/verified/base" "$folder/verified/target"
    printf '%s\n' "steady app /s higher 'rate' 'rate ([0-9.e+]+)'" "absent app /s higher 'no-such-program' '(1)'" \
        >"$folder/applications"
    expect 0 verify --battery "$folder/applications" --repetitions 2 --base-here "$comparison" "$folder/verified/both"
    says_in_all '1 of 2 applications could not be run here: absent.'
    says_in_all '1 of 1 applications lie within'
    grep -qx 'stress-ng-string string .*' "$source/tools/ssprofile/batteries/applications.txt" || fail "no such battery"
}

# need_frequency: creates `tree`, a machine with four frequencies. Benchmarks run at the frequency of its CPU 0; one of
# them waits for memory half of the time.
need_frequency() {
    need_built ssactuate
    # shellcheck source=actuate.sh
    . "$source/tests/system/actuate.sh"
    unpack acpi-cpufreq
    cp "$build/bin/ssactuate" "$folder/bin"
    cat >"$folder/bin/clocked" <<'END'
#!/bin/sh
policy=$1/sys/devices/system/cpu/cpufreq/policy0
frequency=2100000
[ "$(cat "$policy/scaling_governor")" != userspace ] || frequency=$(cat "$policy/scaling_setspeed")
awk -v frequency="$frequency" -v waiting="$2" \
    'BEGIN { print "rate", 100 / (waiting + (1 - waiting) * 2100000 / frequency) }'
END
    chmod +x "$folder/bin/clocked"
    cat >"$folder/clocked" <<END
computes cpu /s higher 'clocked $tree 0' 'rate ([0-9.e+]+)'
waits memory /s higher 'clocked $tree 0.5' 'rate ([0-9.e+]+)'
END
}

# sheet FOLDER SPEED...: creates a base with these speeds of both benchmarks.
sheet() {
    mkdir -p "$1"
    echo machine,limits,benchmark,lower_is_better,class,repetition,result >"$1/results.csv"
    for repetition in 1 2 3; do
        printf 'base,without,%s,%s,%s,%s\n' computes false "cpu,$repetition" "$2" waits false "memory,$repetition" "$3"
    done >>"$1/results.csv"
}

a_frequency_throttle_slows_benchmarks_and_is_undone() { # case
    need_frequency
    expect 0 measure --battery "$folder/clocked" --machine one --repetitions 2 --root "$tree" \
        --under without,frequency=1.4GHz,frequency=90% "$folder/clocks"
    has clocks/results.csv 'one,frequency-1400,computes,false,cpu,1,66.6667'
    has clocks/results.csv 'one,frequency-1900,waits,false,memory,2,95'
    says 'frequency-1400: 2 of 2'
    unchanged
}

a_frequency_that_cannot_be_set_is_explained() { # case
    need_frequency
    mkdir "$folder/none"
    expect 125 measure --battery "$folder/clocked" --root "$folder/none" --under frequency=1GHz "$folder/absent"
    says 'CPU 0 has no frequency that can be set: .*/none/sys/devices/system/cpu/cpufreq has no policy for it'
    expect 125 measure --battery "$folder/clocked" --root "$tree" --under frequency=9GHz "$folder/absent"
    says '9000 MHz is out of range: the CPU has 1400 to 2100 MHz'
    sheet "$folder/clock-base" 70 70
    if [ -x "$build/libexec/showstopper/analysis" ]; then
        expect 125 calibrate --base "$folder/clock-base" --battery "$folder/clocked" --throttle frequency \
            --root "$folder/none"
        says '^ssprofile: CPU 0 has no frequency that can be set'
    fi
    rm -f "$tree"/sys/devices/system/cpu/cpufreq/policy?/scaling_max_freq
    expect 125 measure --battery "$folder/clocked" --root "$tree" --under frequency=1.4GHz "$folder/absent"
    says 'ssactuate: frequency is absent: cannot write '
}

calibration_by_frequency_chooses_the_nearest_one() { # case
    local policy
    need_built reports
    need_frequency
    sheet "$folder/clock-base" 84 91
    calibrate=(calibrate --base "$folder/clock-base" --battery "$folder/clocked" --throttle frequency --root "$tree")
    expect 0 "${calibrate[@]}" -o "$folder/between"
    says_in_all 'this machine is nearest to the base at a setting of 90.48%, found by the closed method'
    [[ $(calibrated between throttle setting low high) = "frequency 0.904761905 None None" ]] ||
        fail "$(cat "$folder/between/calibrate.json")"
    [ "$(tail -n 1 "$folder/out")" = "use: ssactuate run frequency=1.9GHz -- APPLICATION" ] || fail "$(cat "$folder/out")"
    unchanged
    sheet "$folder/clock-base" 30 30
    expect 125 "${calibrate[@]}"
    says 'at its lowest frequency, 1400 MHz, this machine is still .* times as fast as the base'
    # With boost, the highest frequency of the hardware is not among those that can be set.
    for policy in "$tree"/sys/devices/system/cpu/cpufreq/policy?; do
        echo 3300000 >"$policy/cpuinfo_max_freq"
    done
    sheet "$folder/clock-base" 66.6667 80
    expect 0 "${calibrate[@]}" --method search
    says '^setting 66.67%'
}

run_cases
