#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of tools/experiments/tradeoffs: its plans, and short studies of a real service.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=experiments.sh
. "$here/experiments.sh"
need_built ssbatch ssactuate ssrequest serve
PATH=$build/bin:$PATH
results=$scratch/tradeoffs-results

# runs: prints the names of the planned runs.
runs() {
    sed -n 's/^run \([^ ]*\) .*/\1/p' "$output"
}

# is_planned COUNT PATTERN: fails unless this number of lines of the plan match.
is_planned() {
    local count
    count=$(grep -Ec -- "$2" "$output" || true)
    [ "$count" -eq "$1" ] || fail "$count lines instead of $1: $2"
}

# ssbatch_accepts: fails unless ssbatch accepts the plan in the output.
ssbatch_accepts() {
    grep -Ev '^(skipped|Power): ' "$output" | "$build/bin/ssbatch" --dry-run "$scratch/other" >"$scratch/accepted" 2>&1 ||
        fail "$(cat "$scratch/accepted")"
}

options_are_checked() { # case
    local option
    refuses "--published: heating: not one of" tradeoffs --published heating
    refuses "--published: dvfs cannot be combined with cap" tradeoffs cap --published dvfs
    refuses "--rates cannot be combined with --steps" tradeoffs --rates 5 --steps 10:5:1s
    refuses "--service: http://localhost/: serve or mediawiki is required" tradeoffs --service http://localhost/ --rates 1
    refuses "--arrival: odd: not one of" tradeoffs --arrival even,odd
    refuses "--balance: least: not one of" tradeoffs --balance least
    refuses "--cap: 1,x: numbers are required" tradeoffs --cap 1,x
    refuses "cap: the capacity is known of serve alone: give --rates and --cap for --service mediawiki" \
        tradeoffs cap --service mediawiki --rates 20
    refuses "--knobs: instances=x: numbers above 0 are required" tradeoffs --knobs instances=x
    refuses "--knobs: pin=first:1,instances=2: join the knobs of a level by +" tradeoffs \
        --knobs pin=first:1,instances=2
    refuses "--knobs: cups: not one of workers frequency" tradeoffs --knobs 'instances=1+cups=2'
    refuses "--knobs: instances: a level is required" tradeoffs --knobs instances
    refuses "--knobs: duty=0%: the duty must be above 0" tradeoffs --knobs 'instances=1 duty=0%'
    refuses "--knobs: cpus=$(($(nproc) + 1)): use a number of CPUs from 1 to $(nproc)" tradeoffs \
        --knobs "instances=2+cpus=$(($(nproc) + 1))"
    refuses "--knobs: pin=fist:1: unknown scheme 'fist': did you mean 'first'?" tradeoffs --knobs pin=fist:1
    if "$build/bin/ssactuate" get quota >/dev/null 2>&1; then
        refuses "--knobs: quota=0%: the CPU time per period is below the kernel's minimum of 1 ms" tradeoffs --knobs quota=0%
    fi
    refuses "--knobs: instances=65: use a number of instances from 1 to 64" tradeoffs --knobs instances=65
    refuses "--knobs: instances=2: busy has no service" tradeoffs busy --knobs instances=2
    for option in service rates steps warmup arrival cap balance workers when-full timeout own-cpu spread wiki; do
        refuses "--$option has no effect with busy, which has no service" tradeoffs busy "--$option" 1
    done
    for option in warmup seconds; do
        refuses "--$option has no effect without --rates" tradeoffs "--$option" 2s
        refuses "--$option has no effect without --rates" tradeoffs --published neighbours "--$option" 2s
    done
    refuses "--workers: '5000' is too large: use at most 4096" tradeoffs --workers 5000
    refuses "tradeoffs: --work: '0' is too small: use at least 1n" tradeoffs --dry-run --work 0
    refuses "--knobs: workers: '5000' is too large" tradeoffs --knobs 'instances=1+workers=5000'
    refuses "quiet: unknown argument: busy, neighbours or cap" tradeoffs quiet
    refuses "unexpected command" tradeoffs -- true
    [ ! -e "$results" ] || fail "a folder was created"
}

all_combinations_of_dimensions_are_planned() { # case
    experiment tradeoffs --plan --knobs 'instances=1 instances=2' --knobs 'pin=free pin=first:1' --arrival even,poisson \
        --balance round-robin,least-connections --cap 5,50 --rates 10,20 --rounds 2
    [ "$(runs | wc -l)" -eq 128 ] || fail "$(runs | wc -l) runs"
    is_planned 1 '^# ssbatch --shuffle 1 puts the runs of each round in random order'
    is_planned 32 '^run instances1\+pinfirst1-.* knobs=instances=1\+pin=first:1 '
    is_planned 64 ' balance=least-connections '
    is_planned 64 ' cap=50 '
    is_planned 32 ' -- ssactuate run instances=2 pin=first:1 --record .* -- ssburn serve --listen .\{port..? --workers 1 '
    is_planned 128 '^after -- ssactuate restore'
    ssbatch_accepts
    experiment tradeoffs --plan --knobs 'cpus=1+workers=2' --workers 3 --quick
    is_planned 1 ' -- ssactuate run instances=1 cpus=1 --record .* --workers 2 '
    is_planned 1 '^run .* machine_cpus=[0-9]+ workers=2 '
    is_planned 0 '^before -- sleep'
    experiment tradeoffs --plan --knobs cpus=1 --rounds 1
    is_planned 1 '^run .* machine_cpus=[0-9]+ workers=1 '
    is_planned 1 '^before -- sleep 10'
    refuses "--knobs: size=small: use size=NAME:cpus=N,quota=P,memory=M" tradeoffs --knobs size=small
    refuses "--knobs: size: 'instances=2' is not cpus, quota or memory" tradeoffs --knobs size=small:cpus=1,instances=2
    "$build/bin/ssactuate" get quota >/dev/null 2>&1 || return 0
    experiment tradeoffs --plan --knobs 'size=small:cpus=1,quota=50%+workers=2' --quick
    is_planned 1 ' -- ssactuate run instances=1 size=small:cpus=1\\,quota=50% --record .* --workers 2 '
    is_planned 1 '^beside load .* -- ssload --cpus [0-9]+ '
}

missing_knobs_are_reported() { # case
    local actuator
    call tradeoffs --plan --knobs 'instances=1 frequency=min power=50W+pin=free idle=50 idle=50% idle=50,4 idle=50%' --quick || fail "status $?"
    for actuator in frequency power; do
        "$build/bin/ssactuate" get "$actuator" >/dev/null 2>&1 && continue
        is_planned 1 "^skip $actuator reason="
        is_planned 1 "^skipped: knobs=$actuator: .+"
        is_planned 0 "^run $actuator"
    done
    is_planned 1 '^skip idle=50 reason=idle.* is.* absent knobs=idle=50 '
    is_planned 1 '^skip idle=50:25 reason=idle.* is.* absent knobs=idle=50% '
    is_planned 1 '^skip idle=50:2c4 reason=idle.* is.* absent knobs=idle=50.,4 '
    is_planned 1 '^run instances1-'
    ssbatch_accepts
    if ! "$build/bin/ssactuate" get frequency >/dev/null 2>&1; then
        refuses "this machine has none of these knobs" tradeoffs --plan --knobs frequency=min
    fi
}

# Finished runs of the level that is named first keep their names.
levels_with_similar_texts_have_different_names() { # case
    call tradeoffs --plan --knobs 'duty=12% duty=1/2' --knobs 'pin=free' --quick || fail "status $?"
    is_planned 1 '^run duty12\+pinfree-poisson-round-robin-c200-steps-1 .* knobs=duty=12%\+pin=free '
    is_planned 1 '^run duty=1:2f2\+pin=free-poisson-round-robin-c200-steps-1 .* knobs=duty=1/2\+pin=free '
    ssbatch_accepts
}

# A quarter of the CPUs may be more than a node has, and half of them more than a chip has.
busy_leaves_out_placements_that_the_machine_lacks() { # case
    local placement
    mkdir "$scratch/small"
    cat >"$scratch/small/ssactuate" <<END
#!/bin/sh
case "\$*" in
*one-*) echo "ssactuate: \$3: the machine has fewer CPUs than requested" >&2; exit 125 ;;
esac
exec "$build/bin/ssactuate" "\$@"
END
    chmod +x "$scratch/small/ssactuate"
    ln -s "$build/bin/showstopper" "$scratch/small"
    call tradeoffs busy --plan --rounds 2 --bin "$scratch/small" || fail "status $?"
    for placement in quarter-one-chip half-one-chip; do
        is_planned 1 "^skip $placement reason=pin=one-.*:.*fewer.* placement=$placement "
        is_planned 0 "^run $placement-"
    done
    is_planned 2 '^run half-spread-'
    ssbatch_accepts
}

# Saturation shows in the load of the CPUs that a level leaves to the service, not in that of all CPUs.
load_and_idle_states_are_sampled_on_the_cpus_of_the_service() { # case
    mkdir -p "$scratch/machine/sys/devices/system/cpu/cpu0/cpuidle/state0"
    : >"$scratch/machine/sys/devices/system/cpu/cpu0/cpuidle/state0/time"
    experiment tradeoffs --plan --knobs 'cpus=1 pin=first:1 pin=free instances=1' --rounds 1 --energy-root "$scratch/machine"
    is_planned 2 '^beside load .* ssload --cpus [0-9]+ --quiet'
    is_planned 2 '^beside load .* ssload --quiet'
    is_planned 2 '^beside idle .*/idle --root .* --cpus [0-9]+ --output'
    is_planned 4 '^beside idle '
    # Threads that are bound to single CPUs may saturate one CPU before the others.
    experiment tradeoffs --plan --knobs 'pin=free,each pin=free' --rounds 1
    is_planned 1 '^beside load .* ssload --per-cpu --quiet'
    is_planned 1 '^beside load .* ssload --quiet'
}

published_levels_are_planned() { # case
    local knob cpus
    cpus=$(nproc)
    for knob in pinning horizontal vertical fig7 fig8 fig9 cap; do
        experiment tradeoffs --plan --published "$knob" --rounds 1
        ssbatch_accepts
        is_planned 1 '^Power: ' # --published measures it if there is a source
        is_planned "$(runs | wc -l)" '^run .* arrival=(even|concurrent) '
        # 3.3 and 4.2.1: 0, 5, ... below 140 requests a second, 10 s each; 5.2: 32, and 0 to 50, requests a second.
        case $knob in
        cap) is_planned 0 '^run .* steps=' ;;
        fig7) is_planned "$(runs | wc -l)" ' rate=32 ' ;;
        fig8) is_planned "$(runs | wc -l)" ' steps=55:5:10 ' ;;
        *) is_planned "$(runs | wc -l)" ' steps=140:5:10 ' ;;
        esac
        is_planned 1 "^once units .* --iteration $((1000 * cpus / 105))m "
    done
    experiment tradeoffs --plan --service mediawiki --wiki "$scratch/wiki" --knobs instances=1 --rounds 1
    is_planned 1 ' steps=140:5:10 '
    experiment tradeoffs cap --plan --rounds 1 --knobs instances=1 --work 10m
    [ "$(runs | wc -l)" -eq 6 ] || fail "$(runs | wc -l) caps"
    is_planned 6 ' rate=110 '
    is_planned 1 ' cap=100 ' # 0 is at a second's requests of the capacity, as in Fig. 11
    is_planned 1 ' cap=200 '
    experiment tradeoffs --plan --published horizontal --service mediawiki --wiki "$scratch/wiki" --rounds 1
    is_planned 2 "ssactuate run instances=4.,url=http.* run .*/wiki-.\{instance.* --workers $(((cpus + 3) / 4)) --port .\{port"
    experiment tradeoffs busy --plan --rounds 1
    ssbatch_accepts
    is_planned "$(runs | wc -l)" '^main -- .*showstopper --quiet --record '
    is_planned 1 '^run half-free-.* placement=half-free target=(0\.[0-9]+|1) '
    is_planned "$cpus" ' placement=pinned '
}

# as_on_32_cpus OPTION...: prints the plan for a machine of 32 CPUs that has all knobs.
as_on_32_cpus() {
    call tradeoffs --plan --rounds 1 --bin "$scratch/large" "$@" || fail "status $?: $(cat "$output")"
}

# make_large: makes `large`, a folder of programs for a machine of 32 CPUs; `ssactuate` prints the CPUs of a pin there.
make_large() {
    mkdir "$scratch/large"
    ln -s "$build/bin/showstopper" "$scratch/large"
    printf '#!/bin/sh\necho 32\n' >"$scratch/large/nproc"
    { echo '#!/bin/sh' && cat; } >"$scratch/large/ssactuate"
    chmod +x "$scratch/large/nproc" "$scratch/large/ssactuate"
}

# The instances of sections 4 to 6 on 32 cores: guest 1 is pinned to cores 0 to 7, guest 2 to 8 to 15, ...
published_instances_have_the_published_cpus() { # case
    local n
    make_large <<'END'
case "$*" in *' -- '*) ;; *) exit ;; esac
case $2 in
pin=one-chip:8) echo 0,2,4,6,8,10,12,14 ;;
pin=spread:8) echo 0,2,8,10,16,18,24,26 ;;
pin=spread:16) echo 0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30 ;;
*) n=${2##*[:=]} && echo "0-$((n - 1))" ;;
esac
END
    as_on_32_cpus --published pinning
    is_planned 16 '^run .* machine_cpus=32'
    for n in 1 2 3 4; do
        is_planned 2 " knobs=instances=$n\+workers=8 "
        is_planned 2 " knobs=instances=$n\+workers=8\+pin=first:$((8 * n)).,each "
        is_planned 2 " ssactuate run instances=$n pin=first:$((8 * n)).,each .* --workers 8 "
    done
    as_on_32_cpus --published horizontal
    is_planned 8 ' ssactuate run instances=. .* --workers 8 '
    as_on_32_cpus --published vertical
    is_planned 8 ' knobs=cpus=(8|16|24|32)\+workers=32 '
    as_on_32_cpus --published fig9
    is_planned 2 ' knobs=instances=3\+workers=4\+pin=first:12.,each '
    as_on_32_cpus --published cap --work 100m
    is_planned 2 ' knobs=instances=2\+workers=8 .* cap=260 rate=170 ' # 160 a second, and 50 more for each
    # The settings of Fig. 4: the second packs the first cores. Of busy, settings 1 and 2 are a number of CPUs.
    as_on_32_cpus --published fig8
    is_planned 8 ' knobs=workers=8\+pin=(free|first:8.,each|one-chip:8.,each|spread:8.,each) '
    is_planned 8 '^run '
    as_on_32_cpus --published fig7
    is_planned 8 ' knobs=instances=8\+workers=1\+pin=(free|first:8.,each|one-chip:8.,each|spread:8.,each) '
    is_planned 4 ' knobs=instances=8\+workers=1\+pin=(one-chip|spread):16 '
    is_planned 2 '^skip .* reason=not.* setting=(half|all)-free '
    as_on_32_cpus busy
    is_planned 1 '^main -- ssactuate run pin=first:8 -- .* -n 8 -l 100%'
    is_planned 8 '^run .* target=0.25 round=1 '
    is_planned 0 '^run pinned-.*spread'
}

settings_with_equal_cpus_are_skipped() { # case
    local settings=instances=8\\+workers=1\\+pin
    make_large <<'END'
case "$*" in *' -- '*) echo "0-$((${2##*:} - 1))" ;; esac
END
    as_on_32_cpus --published fig7
    is_planned 6 "^run .* knobs=$settings=(free|first:8.,each|one-chip:16) "
    is_planned 6 '^run '
    is_planned 2 "^skip .* reason=the.*same.*CPUs.*first:8.*each knobs=$settings=(one-chip|spread):8.,each "
    is_planned 1 "^skip .* reason=the.*same.*CPUs.*one-chip:16 knobs=$settings=spread:16 "
    as_on_32_cpus busy
    is_planned 2 '^skip .* reason=the.*same.*CPUs.*pinned placement=quarter-(one-chip|both-chips) '
    is_planned 1 '^skip .* reason=the.*same.*CPUs.*half-one-chip placement=half-spread '
    is_planned 0 '^run (quarter|half-spread)'
    as_on_32_cpus --knobs 'pin=first:8 pin=spread:8'
    is_planned 2 '^run ' # named levels are kept
}

# Fig. 3 has three frequencies, and only the maximum is set where the driver cannot do more.
published_frequencies_are_those_of_the_machine() { # case
    local machine low middle tree=$scratch/tree
    make_large <<END
case "\$1" in
get | list) exec "$build/bin/ssactuate" "\$@" --root "$scratch/tree" ;;
esac
case "\$*" in *' -- '*) echo 0-15 && exit ;; esac
exec "$build/bin/ssactuate" "\$@" --root "$scratch/tree"
END
    while IFS='|' read -r machine low middle; do
        rm -rf "$tree"
        unpack_tree "$source/tests/data/actuate/$machine.tree" "$tree"
        sed -i s/0-3/0-31/ "$tree/proc/self/status" "$tree/sys/devices/system/cpu/online"
        as_on_32_cpus --published dvfs --energy-root "$tree"
        is_planned 9 '^run '
        is_planned 9 " knobs=frequency=$low(min|$middle|max)\\+cpus=16\\+workers=16 arrival=(even|concurrent|poisson) "
        is_planned 9 ' ssload --cpus 0-15 '
    done <<'END'
intel-pstate|min-|2.2GHz
acpi-cpufreq||1.6GHz
END
}

the_other_instance_visits_all_other_cpus() { # case
    local last
    last=$(($(nproc) - 1))
    [ "$last" -gt 0 ] || skip "cpus: there is no other CPU"
    have_first_cpus "$last" || skip "first-cpus: our CPUs are not CPU 0 to CPU $last"
    experiment tradeoffs --plan --published neighbours --rounds 1
    ssbatch_accepts
    [ "$(runs | wc -l)" -eq $((2 * last)) ] || fail "$(runs | wc -l) runs on CPUs 0 to $last"
    is_planned $((2 * last)) '^run .* arrival=(even|concurrent) '
    is_planned $((2 * last)) '^beside one .* ssactuate run instances=1 pin=0 '
    is_planned 2 "^beside load .* ssload --cpus 0\\\\,$last "
    is_planned 2 "^beside other .* ssactuate run instances=1 pin=$last "
    is_planned $((2 * last)) '^main requests .*one\.1.*other\.1'
    # Both instances have one CPU, however many the machine has.
    printf '#!/bin/sh\necho 8\n' >"$scratch/nproc"
    chmod +x "$scratch/nproc"
    PATH=$scratch:$PATH experiment tradeoffs --plan --published neighbours --rounds 1
    is_planned 1 "^once units .* --iteration $((1000 * 2 / 105))m "
}

# Levels that are not named, and need more CPUs than may be used, are skipped.
default_levels_fit_the_cpus_that_may_be_used() { # case
    local last
    last=$(sed -n 's/^Cpus_allowed_list:.*[^0-9]\([0-9]*\)$/\1/p' /proc/self/status)
    call_on "$last" tradeoffs --plan --quick || fail "status $?"
    is_planned 1 '^skip cpus=2.workers=2 reason=.* knobs=cpus=2.workers=2 '
    is_planned 1 '^run instances1-'
    ssbatch_accepts
    ! call_on "$last" tradeoffs --plan --knobs cpus=2 || fail "a level that was named is skipped"
    prints "tradeoffs: --knobs: cpus=2: .*"
    ! call_on "$last" tradeoffs neighbours --plan || fail "one CPU has a neighbor"
    prints "tradeoffs: neighbours needs two CPUs: .*"
}

# call_on CPU NAME OPTION...: like call, on one CPU.
call_on() {
    (cd "$scratch" && exec timeout "$patience" taskset -c "$1" "$experiments/$2" "${options[@]}" "${@:3}") >"$output" 2>&1
}

# The lines above the first run, which must not change while a study continues, do not depend on the levels.
later_calls_may_add_levels() { # case
    local wikis
    experiment tradeoffs --plan --service mediawiki --knobs instances=1 --rounds 1
    wikis=$(grep '^after .*/mediawiki ' "$output")
    experiment tradeoffs --plan --service mediawiki --knobs 'instances=1 instances=3' --rounds 1
    [ "$(grep '^after .*/mediawiki ' "$output")" = "$wikis" ] || fail "not as with one instance: $wikis"
    ssbatch_accepts # even if this machine lacks a knob
}

the_cool_down_ends_at_the_idle_power() { # case
    experiment tradeoffs --plan --energy 'echo 20' --knobs cpus=1 --rounds 1
    is_planned 1 '^once idle_watts .*/energy .* --mean 10'
    is_planned 1 '^before -- .*/energy .* --settle .\{idle_watts'
    is_planned 0 '^before -- sleep'
    [ "$("$experiments/energy" 'echo 20' --mean 1 2>/dev/null)" = "mean 20" ] || fail "wrong mean"
    [ "$(env --ignore-signal=CHLD "$experiments/energy" 'echo 20' --mean 1)" = "mean 20" ] ||
        fail "a caller that ignores SIGCHLD changes the mean"
    # The power falls to the idle power in the third second.
    # shellcheck disable=SC2016 # the shell of the command expands it
    "$experiments/energy" 'echo >>'"$scratch/seconds; echo "'$((23 - $(wc -l <'"$scratch/seconds)))" --settle 19.7 \
        2>/dev/null
    [ "$(wc -l <"$scratch/seconds")" -eq 3 ] || fail "ended after $(wc -l <"$scratch/seconds") s"
}

# A fast service keeps the test short.
a_study_of_two_levels_is_carried_out_and_reported() { # case
    local call=(tradeoffs --knobs 'instances=1 instances=2' --knobs 'pin=free pin=first:1' --steps 15:5:1s --work 100u
        --rounds 1 --cool-down 0)
    with_reports
    experiment "${call[@]}"
    [ "$(listed tradeoffs-results status | tr ' ' '\n' | grep -c '^done$')" -eq 4 ] || fail "not all runs are done"
    [ "$(cut -d, -f 7-9 "$results/capacity.csv" | sed 1d | sort -u | wc -l)" -eq 4 ] || fail "$(cat "$results/capacity.csv")"
    grep -q '"urls": \[' "$results"/instances2+pinfree-*/server.json || fail "no record of the knobs"
    "$experiments/published/compare" "$results" >output || fail "compare: $(<output)"
    grep -A 1 '^"fewer instances do not change the mean response time of an underloaded' output |
        grep -q '^  actual_mean_seconds at [0-9.]* /s: instances=[12] .*, instances=[12] ' ||
        fail "no means of the levels: $(<output)"
    grep -q '<h1>What does each knob save, and what does it cost?</h1>' "$results/report/report.html" || fail "no page"
    [ "$(grep -o '<figcaption>Response times, power and successes by rate[^<]*' "$results/report/report.html")" = \
        '<figcaption>Response times, power and successes by rate: serve' ] || fail "not one picture of both pins"
    local before
    rm "$programs/ssreport"
    before=$(stat -c %Y.%i "$results"/instances*/run.json)
    experiment "${call[@]}"
    [ "$before" = "$(stat -c %Y.%i "$results"/instances*/run.json)" ] || fail "finished runs were done again"
}

run_cases
