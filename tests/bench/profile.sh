#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/profile.sh [OPTION]...
Profiles this machine twice with ssprofile, as base and target. Prints tables in Markdown: the speed
under throttles, differences by chance, and differences that a calibration corrects or cannot correct.

  --parts LIST      default speed,chance,calibration,flags
  --throttles LIST  default duty,load,quota
  --battery NAME    default own
  --repetitions N   of each benchmark under each throttle, and of each half of \`chance\`; default 5
  --output DIR      keep the profiles there, and continue an interrupted bench
  --build DIR       default build
  --help            print this help
END
}

# measure DIR ARG...: measures a profile of this battery; its progress is in DIR.log.
measure() {
    ssprofile measure --battery "$battery" --machine here "${@:2}" "$1" >"$1.log" 2>&1 ||
        fail "$1: $(tail -n 1 "$1.log")"
}

# ratios NAME ARG...: compares two profiles; writes the result to the folder NAME.
ratios() {
    rm -rf "${kept:?}/$1"
    ssprofile compare -q -o "$kept/$1" "${@:2}" >"$kept/$1.log" 2>&1 ||
        grep -q 'no benchmark in common' "$kept/$1.log" || fail "$1: $(tail -n 1 "$kept/$1.log")"
}

# judge NAME TARGET NOMINAL: prints the number of benchmarks, the number left out, the median, minimum and maximum of
# ratio over nominal, and the benchmark with the largest deviation.
judge() {
    local out=0
    [ ! -f "$kept/$1/left_out.csv" ] || out=$(grep -c ',unstable,' "$kept/$1/left_out.csv" || true)
    if [ ! -f "$kept/$1/ratios.csv" ]; then
        echo "0 | $out | | | |"
        return
    fi
    awk -F, -v target="$2" -v nominal="$3" '$1 == target { print $4 / nominal, $2 }' \
        "$kept/$1/ratios.csv" | sort -g | awk -v out="$out" '
        { ratio[NR] = $1; far[NR] = $1 > 1 ? $1 - 1 : 1 - $1; name[NR] = $2 }
        END {
            if (NR == 0) exit 1
            for (i = 1; i <= NR; i++)
                if (far[i] > far[worst]) worst = i
            middle = NR % 2 ? ratio[(NR + 1) / 2] : (ratio[NR / 2] + ratio[NR / 2 + 1]) / 2
            printf "%4d | %3d | %7.4f | %7.4f | %7.4f | %s", NR, out, middle, ratio[1], ratio[NR],
                name[worst]
        }'
}

heading="benchmarks | unstable | median | least | most | farthest"
rule="---:|---:|---:|---:|---:|---"

speed() {
    local throttle name under=without
    for throttle in ${throttles//,/ }; do
        under+=,$throttle=25%,$throttle=50%,$throttle=75%,$throttle=100%
    done
    measure "$kept/speed" --repetitions "$repetitions" --under "$under"
    printf '\nSpeed under a throttle over its share of the speed without one\n\n'
    printf '| throttle | %s |\n|---|%s|\n' "$heading" "$rule"
    for throttle in ${under//,/ }; do
        [ "$throttle" != without ] || continue
        name=${throttle%=*}-$((10#$(tr -dc 0-9 <<<"$throttle") * 100))
        ratios "speed-$name" "$kept/speed:here:without" "$kept/speed:here:$name"
        printf '| %s | %s |\n' "$throttle" \
            "$(judge "speed-$name" "here:$name" "$(awk -v x="${name##*-}" 'BEGIN { print x / 10000 }')")"
    done
}

chance() {
    measure "$kept/chance" --repetitions $((2 * repetitions))
    ratios halves --halves "$kept/chance"
    printf '\nOdd repetitions and even ones of one profile\n\n| %s |\n|%s|\n| %s |\n' "$heading" "$rule" \
        "$(judge halves "$(awk -F, 'NR == 2 { print $1 }' "$kept/halves/ratios.csv")" 1)"
}

# setting THROTTLE BASE ARG...: prints the setting, from 0 to 1, that a calibration to the profile BASE yields, and the
# number of tests.
setting() {
    local file=$kept/$2-$1
    [ -s "$file" ] || {
        ssprofile calibrate --battery "$battery" --base "$kept/$2" --throttle "$1" -o "$file.d" \
            --repetitions "$repetitions" "${@:3}" >"$file.new" 2>"$file.log" ||
            fail "$1: $(tail -n 1 "$file.log")"
        mv "$file.new" "$file"
    }
    sed -n 's/^setting \([0-9.]*\)%.*[ (]\([0-9]*\) tests).*/\1 \2/p' "$file" |
        awk '{ printf "%.6f %d\n", $1 / 100, $2 }'
}

calibration() {
    local throttle found tests name
    measure "$kept/base" --repetitions "$repetitions" --under duty=40%
    printf '\nA calibration against duty 40 %%, and what was measured under its setting\n\n'
    printf '| throttle | setting | tests | %s |\n|---|---:|---:|%s|\n' "$heading" "$rule"
    for throttle in ${throttles//,/ }; do
        read -r found tests < <(setting "$throttle" base)
        name=$throttle-$(awk -v x="$found" 'BEGIN { printf "%.0f", 10000 * x }')
        # Base and target alternate. They are equal if the calibration finds the base itself.
        if [ "$name" = duty-4000 ]; then
            measure "$kept/as-$throttle" --repetitions $((2 * repetitions)) --under duty=40%
            ratios "to-$throttle" --halves "$kept/as-$throttle"
            name=$(awk -F, 'NR == 2 { print $1 }' "$kept/to-$throttle/ratios.csv")
        else
            measure "$kept/as-$throttle" --repetitions "$repetitions" \
                --under "duty=40%,$throttle=$found"
            ratios "to-$throttle" "$kept/as-$throttle:here:duty-4000" "$kept/as-$throttle:here:$name"
            name=here:$name
        fi
        printf '| %s | %s | %s | %s |\n' "$throttle" "$found" "$tests" \
            "$(judge "to-$throttle" "$name" 1)"
    done
}

flags() {
    local found tests name
    {
        cmake -S "$source" -B "$kept/O0" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
            -DSHOWSTOPPER_KERNEL_FLAGS=-O0
        cmake --build "$kept/O0" -j "$(nproc)"
    } >"$kept/O0.log" 2>&1 || fail "$(tail -n 1 "$kept/O0.log")"
    PATH=$kept/O0/bin:$PATH measure "$kept/unoptimized" --repetitions "$repetitions"
    read -r found tests < <(setting duty unoptimized --force)
    name=duty-$(awk -v x="$found" 'BEGIN { printf "%.0f", 10000 * x }')
    measure "$kept/optimized" --repetitions "$repetitions" --under "without,duty=$found"
    ratios flags --force "$kept/unoptimized" "$kept/optimized:here:without" "$kept/optimized:here:$name"
    printf '\nKernels of -O2 against those of -O0, and under a duty of %s\n\n' "$found"
    printf '| benchmarks | range shorter by | common factor | most/least before | after |\n'
    printf '|---:|---:|---:|---:|---:|\n'
    awk -F, 'NR > 1 { printf "| %d | %.4f | %.4f | %.4f | %.4f |\n", $3, $4, $5, $8, $9 }' \
        "$kept/flags/reductions.csv"
}

parts=speed,chance,calibration,flags
throttles=duty,load,quota
battery=own
repetitions=5
output=''
take_options parts throttles battery repetitions output build -- "$@"
for part in ${parts//,/ }; do
    [[ " speed chance calibration flags " = *" $part "* ]] || fail "$part: unknown part: see --help"
done
open_bench
command -v ssprofile >/dev/null || fail "$build has no ssprofile"
kept=${output:-$folder}
mkdir -p "$kept"
echo "Battery $battery, $repetitions repetitions; unstable: their spread is beyond 2 %"
for part in ${parts//,/ }; do
    "$part"
done
