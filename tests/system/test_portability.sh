#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of `ssprofile portability`. Kernels are scripts that print a number, and showstopper is a script that
# passes them the setting, so that results do not depend on the speed of the machine.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=experiments.sh
. "$here/experiments.sh"
# shellcheck source=pages.sh
. "$here/pages.sh"
need_built reports
# Kernels run on CPU 0 by default.
taskset -c 0 true 2>/dev/null || skip "affinity: CPU 0 cannot be used"
need_built ssbatch

page=$source/tools/ssprofile/showstopper-portability.7
results=$scratch/portability-results
options=(--bin "$scratch/bin")

# Programs search for each other in their own folder.
mkdir -p "$scratch/bin" "$scratch/libexec/showstopper"
cp "$build/bin/ssprofile" "$scratch/bin"
mkdir -p "$scratch/share/showstopper/batteries"
cp "$source/tools/ssprofile/batteries/own.txt" "$scratch/share/showstopper/batteries"
ln -s "$build/libexec/showstopper/"* "$scratch/libexec/showstopper"
ln -s "$build/bin/ssbatch" "$scratch/bin"
cat >"$scratch/bin/showstopper" <<END
#!/bin/bash
# The real program parses the options.
[[ \$1 != --dry-run && \$1 != --version ]] || exec "$build/bin/showstopper" "\$@"
while [ "\$1" != -- ]; do
    [ "\$1" != -l ] || export SETTING=\$2
    shift
done
[ ! -e "$scratch/broken" ] || { echo "it cannot throttle" && exit 1; }
exec "\${@:2}"
END
# Kernels with longer names are faster. If the file `wait` exists, a kernel prints a line and waits; so does the kernel
# whose number is in the file `wait-at`.
cat >"$scratch/bin/ssburn" <<END
#!/bin/bash
[ "\$2" != --version ] || { echo fake 1.0 && exit; }
echo "\$*" >>"$scratch/calls"
[ -z "\${MISSING-}" ] || [ "\$2" != "\$MISSING" ] || { echo "it is broken" && exit 1; }
if [ -e "$scratch/wait" ] || grep -qx "\$(wc -l <"$scratch/calls")" "$scratch/wait-at" 2>/dev/null; then
    echo \$\$ >>"$scratch/waits"
    exec sleep 600
fi
awk -v name="\$2" -v setting="\${SETTING:-1}" 'BEGIN { print "rate", 100 * length(name) * setting, "per second" }'
END
chmod +x "$scratch/bin/"*

# call NAME OPTION...: calls the command; its output is in $output.
call() {
    (cd "$scratch" && exec timeout "$patience" "$scratch/bin/ssprofile" "$1" "${options[@]}" "${@:2}") >"$output" 2>&1
}

few=(demo --kernels 'int64,gcd,crc32' --repetitions 2 --others 100%)

# calls_of: prints the number of kernels that were run, without the probe of the throttle.
calls_of() {
    wc -l 2>/dev/null <"$scratch/calls" || echo 0
}

# test_portability.py has values of options.
options_are_checked() { # case
    local words message
    mkdir "$scratch/foreign"
    echo mine >"$scratch/foreign/file"
    while IFS='|' read -r words message <&3; do
        # shellcheck disable=SC2086 # several words
        refuses "$message" portability $words
    done 3<<'END'
|name two folders of ssprofile measure, or demo
alone|name a target, too, or use demo
demo --sedonds 3|unrecognized arguments: --sedonds
--throttle duty a b|--throttle cannot be used with BASE TARGET
verify|no result of a demo: call ssprofile portability demo first
demo --throttle idle|--throttle: 'idle' is not one of: duty load quota frequency
nothing-there other|ssprofile: nothing-there: No such file or directory
demo -o foreign|foreign is not an experiment folder
foreign foreign -o foreign|foreign is not a folder of this experiment
END
    [ ! -e "$results" ] || fail "a folder was left"
    [ ! -e "$scratch/calls" ] || fail "ran a kernel"
}

# The default plan runs kernels of all classes in less than five minutes.
default_demo_runs_kernels_of_all_classes() { # case
    local kernels class
    experiment portability demo --dry-run
    prints "to come: [0-4] min [0-9]+ s"
    [ ! -e "$results" ] || fail "--dry-run created a folder"
    experiment portability demo --plan
    kernels=$(sed -n 's/.* --benchmarks \([^ ]*\) --time 0.5s --machine base .*/\1/p' "$output" | sed 's/[^a-z0-9-]/\n/g' | grep .)
    [ "$(wc -l <<<"$kernels")" -eq 25 ] || fail "expected 25 kernels, got $kernels"
    while read -r class; do
        awk -v class="$class" '$2 == class { print $1 }' "$source/tools/ssprofile/batteries/own.txt" |
            grep -qxFf <(echo "$kernels") || fail "no kernel of class $class"
    done < <(awk '!/^#|^version/ { print $2 }' "$source/tools/ssprofile/batteries/own.txt" | sort -u)
}

sweep_plots_speed_against_setting() { # case
    experiment portability sweep --kernels int64,gcd --repetitions 2
    prints "Results: portability-results/sweep/sweep.html"
    [ "$(wc -l <"$results/sweep/sweep.csv")" -eq 11 ] || fail "expected ten settings: $(cat "$results/sweep/sweep.csv")"
    grep -qx 'duty-4000,0.4,2,0.4,0.4,0.4,0.4,0.4,1' "$results/sweep/sweep.csv" || fail "no box at 40 %"
}

# start_portability WORD...: runs it in the background and sets `pid`; the output is in $output.
start_portability() {
    : >"$output"
    : >"$scratch/waits"
    (cd "$scratch" && exec "$scratch/bin/ssprofile" portability "${options[@]}" "$@") >>"$output" 2>&1 &
    pid=$!
}

it_runs() {
    kill -0 "$pid" 2>/dev/null || fail "the experiment ended early"
    [ -s "$scratch/waits" ]
}

# end_portability SIGNAL: sends the signal, waits until the waiting kernel has ended, too, and sets `status`.
end_portability() {
    local kernel batch
    status=0
    kernel=$(tail -n 1 "$scratch/waits")
    batch=$(pgrep -P "$pid" -x ssbatch || true)
    kill "-$1" "$pid"
    wait "$pid" || status=$?
    await is_gone "$kernel"
    [ -z "$batch" ] || await is_gone "$batch"
}

demo_calibrates_the_throttle() { # case
    local file
    experiment portability "${few[@]}"
    prints "ssbatch: run 3 of 4, calibration; .*"
    prints "--dry-run lists the runs\. For a shorter demo, use --quick, fewer .*"
    prints "Setting found: duty at 40\.00 %; the base is this machine with a duty of 40 %\."
    prints "- 3 of 3 ratios of target:duty-4000 lie in \[0\.97, 1\.03\]\."
    prints "target:without +3 +2\.5000 +2\.5000 .* 50\.0"
    prints "target:duty-4000 +3 +1\.0000 +1\.0000 .* 50\.0"
    for file in compare/compare.html predict-target-without/predict.html \
        predict-target-duty-4000/predict.html; do
        [ -s "$results/$file" ] || fail "no $file"
        is_well_formed "$results/$file" || fail "$file is not well-formed"
    done
    grep -q 'color-scheme:light dark' "$results/compare/compare.html" || fail "no dark scheme"
    grep -q '"quantum_seconds": 0.02' "$results/base/profile.json" || fail "the quantum is missing in profile.json"
    # Base, calibration and target; no kernel is run twice.
    [ "$(calls_of)" -eq $((6 + 12 + 12)) ] || fail "expected 30 runs, got $(calls_of)"
    refuses "base: refused: already done, but its columns or commands differ" portability "${few[@]}" --setting 50%
    refuses "holds a demo" portability "$results/base" "$results/target"
    verify_demo
    # Two of three benchmarks are unstable on the target, then all of them. No run is repeated.
    cp "$results/target/results.csv" "$scratch/target.csv"
    awk -F, -v OFS=, '$6 == 2 && $3 != "gcd" { $7 *= 2 } { print }' "$scratch/target.csv" >"$results/target/results.csv"
    : >"$scratch/calls"
    experiment portability "${few[@]}"
    prints "- Benchmarks left out for target:duty-4000, of 3: 2 unstable \(.*"
    awk -F, -v OFS=, '$6 == 2 { $7 *= 2 } { print }' "$scratch/target.csv" >"$results/target/results.csv"
    refuses "have no benchmark in common that can be compared" portability "${few[@]}"
    [ "$(calls_of)" -eq 0 ] || fail "completed runs were repeated"
}

# verify_demo: applications run under the setting that the demo has found.
verify_demo() {
    printf '%s\n' "stream memory /s higher 'ssburn kernel stream' 'rate ([0-9.]+)'" \
        "absent other /s higher 'no-such-program' '(1)'" >"$scratch/share/showstopper/batteries/applications.txt"
    experiment portability verify --repetitions 2 --dry-run
    prints "target: about 10 s"
    [ ! -e "$results/applications" ] || fail "--dry-run measured applications"
    experiment portability verify --repetitions 2
    prints "- 1 of 2 applications could not be run here: absent\."
    prints "- 1 of 1 applications lie within .*"
    says "$results/applications/target/results.csv" target,duty-4000,stream,
    [ -s "$results/applications/predict.html" ] || fail "no page of the applications"
}

ssbatch_accepts_the_printed_plan() { # case
    experiment portability "${few[@]}" --plan --quick
    [ ! -e "$results" ] || fail "--plan created a folder"
    [ ! -e "$scratch/calls" ] || fail "--plan ran a kernel"
    cp "$output" "$scratch/plan"
    (cd "$scratch" && PATH=$scratch/bin:$PATH ssbatch other <plan) >"$output" 2>&1 || fail "status $?"
    [ "$(listed other status)" = "done done done done" ] || fail "wrong status: $(listed other status)"
    experiment portability "${few[@]}" --quick -o other
    [ "$(calls_of)" -eq 30 ] || fail "runs of the experiment's own plan were repeated"
    ! grep -q 'use --quick' "$output" || fail "--quick is advised although it is given"
}

# The simulated machine gets faster with every run.
a_base_with_unstable_benchmarks_is_refused() { # case
    sed -i "s,^awk .*,echo rate \$((100 * \$(wc -l <$scratch/calls))) per second," "$scratch/bin/ssburn"
    refuses "base: failed: measure ended with status 125: ssprofile: 4 of 4 benchmarks are unstable, $(:
        )which leaves too few to compare: measure again on an idle machine, " \
        portability "${few[@]}" --kernels int64,gcd,crc32,bits
    [ "$(grep -c 'is unstable' "$results/base/measure.stderr")" -eq 4 ] || fail "the unstable kernels are not named"
    [ -s "$results/base/unstable-results.csv" ] || fail "the results of the base are missing"
    ! grep -q 'run 3 of 4' "$output" || fail "the demo continues despite a noisy base"
    [ "$(listed portability-results status)" = "done failed to come to come" ] ||
        fail "wrong status: $(listed portability-results status)"
    # If no kernel is left, the demo cannot continue.
    ! grep -q -- '--go-on' "$output" || fail "--go-on is offered although no kernel is left"
    : >"$scratch/calls"
    refuses "4 of 4 benchmarks are unstable, which leaves too few to compare: " \
        portability "${few[@]}" --kernels int64,gcd,crc32,bits --go-on
    [ "$(calls_of)" -eq 8 ] || fail "the base was not measured again"
}

a_demo_continues_with_the_stable_benchmarks() { # case
    # Every second run of three kernels is faster by 5 %.
    sed -i "/^awk/i noise=1; case \$2 in crc32|bits|fft) noise=1.0\$((5 * (\$(grep -c \" \$2\" $scratch/calls) % 2))) ;; esac
        s/^awk /&-v noise=\"\$noise\" /; s/ \* setting/& * noise/" "$scratch/bin/ssburn"
    refuses "3 of 5 benchmarks are unstable: measure again on an idle machine, or continue with the others: --min-stable 1%" \
        portability "${few[@]}" --kernels int64,gcd,crc32,bits,fft
    experiment portability "${few[@]}" --kernels int64,gcd,crc32,bits,fft --go-on
    prints "Setting found: duty at 40\.00 %.*"
}

interrupted_demo_continues() { # case
    local step signal=TERM
    # The fourth kernel of the base is interrupted, and the fifth of the target.
    printf '%s\n' 4 $((7 + 12 + 5)) >"$scratch/wait-at"
    for step in base target; do
        # In a separate job; otherwise the process would ignore SIGINT.
        set -m
        start_portability "${few[@]}"
        set +m
        await it_runs
        [ -e "$results/.$step.part" ] || fail "$step was not interrupted"
        [ "$step" != base ] ||
            refuses "base: it is being carried out on" portability "${few[@]}"
        end_portability "$signal"
        [ "$status" -eq "$([ "$signal" = INT ] && echo 130 || echo 143)" ] || fail "$signal: status $status"
        signal=INT
    done
    : >"$output"
    experiment portability "${few[@]}"
    prints "ssbatch: run 1 of 1, target; .*"
    [ "$(calls_of)" -eq 32 ] || fail "completed runs were repeated: $(calls_of)"
}

# A demo killed by SIGKILL cannot clean up, but its processes must end.
a_killed_demo_leaves_no_process() { # case
    setpriv --pdeathsig TERM true 2>/dev/null || skip "setpriv: cannot set the parent-death signal"
    touch "$scratch/wait"
    start_portability "${few[@]}"
    await it_runs
    end_portability KILL
}

failures_are_reported_in_one_line() { # case
    export MISSING=gcd
    experiment portability "${few[@]}"
    prints "Warnings of target: $results/target/measure.stderr"
    grep -q "skipping gcd under duty-4000 in further repetitions: .*it is broken" "$results/target/measure.stderr" ||
        fail "the reason is missing"
    unset MISSING
    touch "$scratch/broken"
    : >"$scratch/calls"
    refuses "probe: failed: measure ended with status 125: ssprofile: " portability "${few[@]}" -o other
    [ "$(calls_of)" -eq 0 ] || fail "kernels were run without a throttle"
    rm "$scratch/broken"
    echo '#!/bin/sh' >"$scratch/bin/ssburn"
    refuses "base: failed: measure ended with status 125: ssprofile: no benchmark printed a result" portability "${few[@]}" -o other
    [ "$(grep -c '^ssprofile: ' "$output")" -eq 1 ] || fail "expected one line"
}

# folder NAME PATTERN...: creates a profile with the matching rows of the shipped data.
folder() {
    mkdir -p "$scratch/$1"
    {
        head -n 1 "$source/tests/data/profile/results.csv"
        grep "$2" "$source/tests/data/profile/results.csv"
    } >"$scratch/$1/results.csv"
}

two_profiles_are_compared_on_one_page() { # case
    folder base '^base,'
    folder target '^target,'
    experiment portability base target -o two
    prints "target:without +25 +1\.6499 +4\.7926 .* 92\.3"
    prints "target:quota-3900 +25 .* 92\.3"
    [ -s "$scratch/two/predict-target-quota-3900/intervals.csv" ] || fail "the prediction is missing"
    # A second call with fewer targets leaves no result of the first. Files and names are given as for ssprofile.
    sed 's/kernel-/application-/' "$scratch/two/compare/ratios.csv" >"$scratch/applications.csv"
    experiment portability base target/results.csv:target:without -o two \
        --applications applications.csv --coverage 80%
    [ ! -e "$scratch/two/predict-target-quota-3900" ] || fail "leftover prediction of an earlier call"
    grep -Eq '23 of 25 applications lie within .*84.6% expected' "$scratch/two/text/predict-target-without.txt" ||
        fail "no applications are predicted: $(cat "$scratch/two/text/"*)"
    refuses "two targets are named" portability base target target -o two
    [ -s "$scratch/two/compare/ranges.csv" ] || fail "a refused call removed the results"
}

# Computes the tables of the manual page again.
figures_in_the_manual_page_are_correct() { # case
    local benchmarks coverage
    while read -r benchmarks coverage; do
        [ "$(awk -v n="$benchmarks" 'BEGIN { printf "%.1f", 100 * (n - 1) / (n + 1) }')" = "$coverage" ] ||
            fail "page: wrong coverage of $benchmarks benchmarks: $coverage"
    done < <(sed -n '/^benchmarks\tcoverage/,/^\.TE/p' "$page" | grep '^[0-9]')
    [ "$(sed -n '/^benchmarks\tcoverage/,/^\.TE/p' "$page" | grep -c '^[0-9]')" -ge 8 ] || fail "page: the table is missing"
    while read -r above below quotient; do
        awk -v above="$above" -v below="$below" -v quotient="$quotient" -v decimals="${quotient#*.}" '
            BEGIN { exit sprintf("%." length(decimals) "f", above / below) != quotient }' ||
            fail "page: wrong quotient: $above / $below = $quotient"
    done < <(grep -oE '[0-9.]+\\ /\\ [0-9.]+\\ =\\ [0-9]+\.[0-9]+' "$page" | sed 's,\\ [/=]\\ , ,g; s,\.$,,')
    [ "$(grep -cE '\\ /\\ [0-9.]+\\ =\\ ' "$page")" -ge 4 ] || fail "page: the quotients are missing"
}

run_cases
