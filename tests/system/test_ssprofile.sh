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

interrupted_measurement_continues() { # case
    measure "$folder/cut"
    cp "$folder/cut/results.csv" "$folder/whole"
    # A kill during a write leaves an incomplete row.
    head -c -4 "$folder/whole" >"$folder/cut/results.csv"
    measure "$folder/cut"
    [ "$(grep -c '/s, \| s, ' "$folder/err")" -eq 1 ] || fail "expected exactly one run: $(cat "$folder/err")"
    [ "$(sort "$folder/cut/results.csv")" = "$(sort "$folder/whole")" ] || fail "the result differs"
    cp "$folder/battery" "$folder/saved"
    echo 'more cpu /s higher rate "rate ([0-9]+)"' >>"$folder/battery"
    expect 125 measure --battery "$folder/battery" --machine one --repetitions 2 "$folder/cut"
    mv "$folder/saved" "$folder/battery"
    says 'battery.txt: the folder has results measured with other options: line [0-9]+ differs: use another folder'
    expect 125 measure --battery "$folder/battery" --machine two "$folder/cut"
    says 'profile.json: the folder has results measured with other options: "machine" differs: use another folder'
    expect 125 measure --battery "$folder/battery" --machine one --under without,duty=40% "$folder/cut"
    says 'other options: "limits" differs'
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

# As under nohup. The benchmark opens one FIFO and waits for the other.
an_ignored_hangup_does_not_end_a_measurement() { # case
    local pid
    mkfifo "$folder/continues"
    exec 5<>"$folder/continues"
    trap '' HUP
    begin holding hangup \
        "held cpu /s higher 'sh -c \"echo >$folder/begun; read -r _ <$folder/continues; echo 7\"' '([0-9]+)'" \
        --repetitions 1
    trap - HUP
    kill -HUP "$pid"
    echo >&5
    ends 0
    exec 5<&-
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

# A folder has two speeds; each repetition runs all benchmarks at both, in a new order.
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
    expect 125 measure --battery "$folder/battery" --under duty=50%,duty=0.5 "$folder/nothing"
    says 'duty=0.5 is given twice'
    [ ! -e "$folder/nothing" ] || fail "a folder was created"
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

an_invalid_battery_is_refused() { # case
    printf "# first\na b /s faster x '(y)'\n" >"$folder/wrong"
    expect 2 measure --battery "$folder/wrong" "$folder/nothing"
    says "ssprofile: $folder/wrong:2: 'faster' is not a direction: use higher or lower"
    [ ! -e "$folder/nothing" ] || fail "a folder was created"
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

# tests/python/test_profile.py tests what these commands print. The published figures are found by the location of the
# program.
profiles_are_compared_by_the_python_package() { # case
    local data=$source/tests/data/profile/results.csv status=0
    need_built reports
    sed 's/,kernel-01,/,stressng-cpu-pi,/; s/,kernel-02,/,stressng-cpu-fft,/' "$data" >"$folder/stressed.csv"
    "$build/bin/ssprofile" compare --battery stress-ng -o "$folder/beside" "$folder/stressed.csv:base" \
        "$folder/stressed.csv:target" >"$folder/out" 2>"$folder/err" || status=$?
    [ "$status" -eq 0 ] || fail "status $status: $(cat "$folder/err")"
    says 'target:without +2 +2\.0640 +2\.3547 '
    is_page "$folder/beside/compare.html" 2
    expect 0 predict --target target:without -o "$folder/predicted" "$folder/beside"
    is_page "$folder/predicted/predict.html" 1
}

commands_in_python_say_what_to_install() { # case
    mkdir -p "$folder/without/bin"
    cp "$build/bin/ssprofile" "$folder/without/bin"
    status=0
    "$folder/without/bin/ssprofile" compare --help >"$folder/out" 2>"$folder/err" || status=$?
    [ "$status" -eq 125 ] || fail "status $status"
    says "^ssprofile: $folder/without/libexec/showstopper/analysis is missing: install showstopper-analysis"
    "$folder/without/bin/ssprofile" measure --list --battery "$folder/battery" >"$folder/out" || fail "measure needs Python"
    [ "$(cat "$folder/out")" = "benchmark,class,lower_is_better
fast,cpu,false
slow,cpu,true" ] || fail "$(cat "$folder/out")"
}

# A pipe can be read only once.
piped_tables_are_read() { # case
    local data=$source/tests/data/profile/results.csv pid
    need_built reports
    expect 0 compare -q -o "$folder/as-file" "$data:base" "$data:target"
    mkfifo "$folder/pipe"
    cat "$data" >"$folder/pipe" &
    pid=$!
    expect 0 compare -q -o "$folder/as-pipe" "$folder/pipe:base" "$folder/pipe:target"
    wait "$pid" || fail "the pipe was not read completely"
    cmp "$folder/as-file/ratios.csv" "$folder/as-pipe/ratios.csv" || fail "pipe: the ratios differ"
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
    expect 125 measure --battery "$folder/battery" --benchmarks 'fast,quick' "$folder/other"
    says "--benchmarks: the battery .* has no benchmark 'quick'"
    [ ! -e "$folder/other" ] || fail "a folder was created"
}

an_unstable_profile_is_set_aside() { # case
    local options=(measure --battery "$folder/battery" --machine one --repetitions 2)
    measure "$folder/noisy"
    sed -i 's/^\(one,without,fast,.*,2\),100$/\1,130/' "$folder/noisy/results.csv"
    expect 125 "${options[@]}" --min-stable 50% "$folder/noisy"
    says '1 of 2 benchmarks are unstable, which leaves too few to compare: '
    mv "$folder/noisy/unstable-results.csv" "$folder/noisy/results.csv"
    mv "$folder/noisy/unstable-runs.csv" "$folder/noisy/runs.csv"
    expect 125 "${options[@]}" --min-stable 0% "$folder/noisy"
    [ ! -e "$folder/noisy/results.csv" ] || fail "the results were not set aside"
    counts noisy/unstable-results.csv 5
    expect 0 "${options[@]}" --min-stable 50% "$folder/noisy"
    counts noisy/results.csv 5
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

unstable_benchmarks_are_left_out() { # case
    need_built reports
    measure "$folder/noisy"
    sed -i 's/^\(one,without,fast,.*,2\),100$/\1,130/' "$folder/noisy/results.csv"
    expect 0 measure --battery "$folder/battery" --machine one --repetitions 2 "$folder/noisy"
    says 'fast is unstable: its mean is uncertain by [0-9]+% \(95% confidence, 2 repetitions\)'
    expect 0 calibrate --base "$folder/noisy"
    says 'fast is left out: unstable on the base: its mean is uncertain by [0-9]+% \(95% confidence, 2 '
    expect 125 calibrate --spread 1000% --method search --base "$folder/noisy"
    ! grep -q 'left out' "$folder/err" || fail "benchmarks left out: $(cat "$folder/err")"
    cp "$folder/noisy/results.csv" "$folder/others.csv"
    grep -v slow "$folder/noisy/results.csv" >"$folder/results"
    cp "$folder/results" "$folder/noisy/results.csv"
    expect 125 calibrate --base "$folder/noisy"
    says 'or no stable one: measure more repetitions of it, or allow more uncertainty with --spread'
    # 0% excludes each benchmark that varies, in any table.
    expect 0 calibrate --spread 0% --base "$folder/others.csv" --battery "$folder/battery"
    says 'fast is left out: unstable on the base'
    expect 0 measure --battery "$folder/battery" --until-spread 0% "$folder/constant"
    counts constant/results.csv 7
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

# Python adds variables to its own environment, in the locale C also LC_CTYPE.
calibrated_benchmarks_see_the_environment_of_the_caller() { # case
    local variable
    need_built reports
    echo "seen cpu /s higher 'sh -c \"env | sort >$folder/environment; rate\"' 'rate ([0-9.e+]+)'" >"$folder/seeing"
    for variable in FEW=1 LC_CTYPE=C "OPENBLAS_NUM_THREADS=3 MPLCONFIGDIR="; do
        # shellcheck disable=SC2086 # several words
        env -i "PATH=$PATH" $variable "$folder/bin/ssprofile" measure -q --battery "$folder/seeing" --machine one \
            --repetitions 2 --under duty=100% "$folder/caller" >"$folder/out" 2>&1 || fail "$(cat "$folder/out")"
        cp "$folder/environment" "$folder/expected"
        # shellcheck disable=SC2086
        env -i "PATH=$PATH" $variable "$folder/bin/ssprofile" calibrate --base "$folder/caller" >"$folder/out" 2>&1 ||
            fail "$(cat "$folder/out")"
        diff <(sed 's/^SETTING=.*/SETTING=/' "$folder/expected") <(sed 's/^SETTING=.*/SETTING=/' "$folder/environment") ||
            fail "the environment differs"
        rm -r "$folder/caller"
    done
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

# A pipe can be read only once.
a_battery_may_be_a_pipe() { # case
    need_built reports
    measure "$folder/base"
    expect 0 calibrate --base "$folder/base" --battery <(cat "$folder/battery")
    says '^setting 100\.00%'
}

# calibrated FOLDER MEMBER...: prints these members of the result of a calibration.
calibrated() {
    python3 -c 'import json, sys
for row in json.load(open(sys.argv[1]))["calibrated"]:
    print(*(f"{row[name]:.9g}" if isinstance(row[name], float) else row[name] for name in sys.argv[2:]))' "$folder/$1/calibrate.json" "${@:2}"
}

calibration_finds_the_setting() { # case
    local cpu
    need_built reports
    measure "$folder/base"
    sed -i 's/,100$/,40/; s/,10$/,25/' "$folder/base/results.csv"
    expect 0 calibrate --base "$folder/base" -o "$folder/calibrated"
    says '^setting 40\.00% .*2 tests'
    [ "$(tail -n 1 "$folder/out")" = 'use: ssactuate run duty=40.00%,tau=50m -- APPLICATION' ] ||
        fail "last line: $(cat "$folder/out")"
    [ "$(grep -c '"log_ratio_mean":' "$folder/calibrated/calibrate.json")" -eq 2 ] || fail "expected two tests"
    says_in_all "- Throttled by duty, this machine is as fast as the base at a setting of 40.00% \
(40.00% to 40.00% with 95% confidence), found by the closed method (benchmarks: 2, repetitions at this setting: 3)."
    grep -q '^    "Throttled by duty' "$folder/calibrated/calibrate.json" || fail "JSON: the finding is missing"
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
    cpu=$(sed -n 's/^use: .* --cpus \([0-9]*\) .*/\1/p' "$folder/out")
    grep -Eq -- "-n 1 -p  --cpus $cpu -l 0\.(39[5-9]|40[0-4]).* -f exact -d stagger -D 50000u -c deadbeat --$" "$folder/called" ||
        fail "the calibrated throttle was another one: $(tail -n 1 "$folder/called")"
    says_in_all "(cost 1.00"
    says_in_all "found by the published search (benchmarks: 2"
    sed -i 's/,40$/,110/; s/,25$/,9/' "$folder/base/results.csv"
    expect 125 calibrate --base "$folder/base" -o "$folder/slower"
    says 'slower than the base .*: throttle the base instead'
    grep -q '^    "No setting was found: this machine is slower' "$folder/slower/calibrate.json" ||
        fail "JSON: the reason is missing"
    [ -z "$(calibrated slower setting)" ] || fail "a result was written"
    expect 125 calibrate --base "$folder/base" --method search
    says 'slower than the base .*: throttle the base instead'
    [ "$(grep -c '^100.00%:' "$folder/err")" -eq 1 ] || fail "expected one test: $(cat "$folder/err")"
    expect 125 calibrate --base "$folder/base" --benchmarks nothing
    says 'the base has no benchmark to calibrate with'
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

benchmarks_missing_from_a_profile_are_not_calibrated() { # case
    need_built reports
    (cat "$folder/battery" && echo "lost cpu /s higher '/none/there' '([0-9]+)'") >"$folder/three"
    measure "$folder/whole-base"
    sed -i 's/,100$/,40/; s/,10$/,25/' "$folder/whole-base/results.csv"
    echo 'one,without,lost,false,cpu,1,3
one,without,lost,false,cpu,2,3' >>"$folder/whole-base/results.csv"
    expect 0 calibrate --base "$folder/whole-base" --battery "$folder/three"
    says 'lost is left out: cannot execute /none/there'
    says '^setting 40\.00%'
    sed '/,fast,.*,2,/d' "$folder/whole-base/results.csv" >"$folder/single.csv"
    expect 0 calibrate --base "$folder/single.csv" --battery "$folder/battery"
    says 'fast is left out: the base has one repetition of it, and the closed method needs two'
    expect 0 calibrate --base "$folder/single.csv" --battery "$folder/battery" --method search --repetitions 1
    ! grep -q 'left out' "$folder/err" || fail "benchmarks left out: $(cat "$folder/err")"
    echo "lacking cpu /s higher 'echo 1' '(1)'" >"$folder/lacking"
    expect 125 calibrate --base "$folder/whole-base" --battery "$folder/lacking"
    says 'warning: lacking is left out: the base lacks it'
    # Damaged rows are left out and named.
    echo one,without,slow,true,cpu,3,none >>"$folder/single.csv"
    expect 0 calibrate --base "$folder/single.csv" --battery "$folder/battery"
    says 'warning: .*single.csv:[0-9]+: the result is not a positive number, in ".*,none": the row is left out'
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

# The base is a table in which one application has the ratio 1, like all benchmarks, and another one 4.
applications_outside_of_the_prediction_are_listed() { # case
    local comparison=$folder/verified/compare
    need_built reports
    mkdir -p "$folder/verified"
    expect 0 measure --battery "$folder/battery" --machine base --repetitions 2 --under duty=40% "$folder/verified/base"
    expect 0 measure --battery "$folder/battery" --machine target --repetitions 2 --under without,duty=40% \
        "$folder/verified/target"
    expect 0 compare --all -q -o "$comparison" "$folder/verified/base" "$folder/verified/target"
    cat >"$folder/applications" <<'END'
steady app /s higher 'rate' 'rate ([0-9.e+]+)'
odd app /s higher 'rate' 'rate ([0-9.e+]+)'
absent app /s higher 'no-such-program' '(1)'
END
    {
        echo machine,limits,benchmark,lower_is_better,class,repetition,result
        printf 'base,without,%s,false,app,%s,%s\n' steady 1 40 steady 2 40 odd 1 10 odd 2 10
    } >"$folder/applications.csv"
    verify=(verify --battery "$folder/applications" --repetitions 2)
    expect 0 "${verify[@]}" --base "$folder/applications.csv" "$comparison" "$folder/verified/applications"
    says_in_all '1 of 3 applications could not be run here: absent.'
    says_in_all '1 of 2 applications lie within [1.0000, 1.0000] (33.3% expected); outside: odd 4.'
    has verified/applications/target/results.csv 'target,duty-4000,odd,false,app,1,40'
    is_page "$folder/verified/applications/predict.html" 1
    # Both sides run here under the same throttle, so all ratios are 1.
    expect 0 "${verify[@]}" --base-here --benchmarks 'steady,odd' "$comparison" "$folder/verified/both"
    says_in_all '2 of 2 applications lie within'
    ! grep -q 'could not be run' "$folder/out" || fail "applications that were not requested are missing"
    grep -qx 'stress-ng-string string .*' "$source/tools/ssprofile/batteries/applications.txt" || fail "no such battery"
}

# As in an installation of the tools alone.
missing_program_of_a_throttle_is_named() { # case
    need_built reports
    mkdir -p "$folder/alone"
    cp "$folder/bin/ssprofile" "$folder/alone"
    echo "steady cpu /s higher 'echo rate 100' 'rate ([0-9]+)'" >"$folder/steady"
    status=0
    PATH=/usr/bin:/bin "$folder/alone/ssprofile" sweep --battery "$folder/steady" --settings 50% --repetitions 1 \
        "$folder/unthrottled" >"$folder/out" 2>"$folder/err" || status=$?
    [ "$status" -eq 125 ] || fail "status $status: $(cat "$folder/err")"
    says 'cannot execute showstopper \(is it installed\?\)'
    says 'no benchmark ran under a throttle'
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
    says 'ssactuate: frequency is absent: .* cannot be written'
}

calibration_by_frequency_chooses_the_nearest_one() { # case
    local policy
    need_built reports
    need_frequency
    sheet "$folder/clock-base" 76.19 86.49
    calibrate=(calibrate --base "$folder/clock-base" --battery "$folder/clocked" --throttle frequency --root "$tree")
    expect 0 "${calibrate[@]}"
    says '^setting 76.19%'
    [ "$(tail -n 1 "$folder/out")" = "use: ssactuate run frequency=1.6GHz -- APPLICATION" ] || fail "$(cat "$folder/out")"
    unchanged
    sheet "$folder/clock-base" 84 91
    expect 0 "${calibrate[@]}" -o "$folder/between"
    says_in_all 'this machine is nearest to the base at a setting of 90.48%, found by the closed method'
    says_in_all 'The mean ratio at this setting is 1.0604 (1.0604 to 1.0604 with 95% confidence).'
    says_in_all 'this setting is the nearest'
    [[ $(calibrated between throttle setting low high) = "frequency 0.904761905 None None" ]] ||
        fail "$(cat "$folder/between/calibrate.json")"
    [ "$(tail -n 1 "$folder/out")" = "use: ssactuate run frequency=1.9GHz -- APPLICATION" ] || fail "$(cat "$folder/out")"
    sheet "$folder/clock-base" 30 30
    expect 125 "${calibrate[@]}"
    says 'at its lowest frequency, 1400 MHz, this machine is still .* times as fast as the base'
    sheet "$folder/clock-base" 66.6667 80
    expect 0 "${calibrate[@]}" --method search
    says '^setting 66.67%'
    # With boost, the highest frequency of the hardware is not among those that can be set.
    for policy in "$tree"/sys/devices/system/cpu/cpufreq/policy?; do
        echo 3300000 >"$policy/cpuinfo_max_freq"
    done
    sheet "$folder/clock-base" 200 157
    expect 125 "${calibrate[@]}"
    says 'slower than the base .*: throttle the base instead'
    sheet "$folder/clock-base" 66.6667 80
    expect 0 "${calibrate[@]}"
    says '^setting 66.67%'
}

run_cases
