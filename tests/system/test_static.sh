#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packaging/static builds programs that need no other file, for x86_64 and aarch64.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=static.sh
. "$here/static.sh"
need readelf
need_built serve
own=x86_64 other=aarch64
"$build/bin/showstopper" --list-modules >expected

# make_programs ARCHITECTURE
make_programs() {
    make_static "$1"
    for program in showstopper ssload ssburn sstrace sssim ssbatch ssrequest showstopper-platform showstopper-replay; do
        readelf -lW "static/$1/$program" >headers
        ! grep -q INTERP headers || fail "$1/$program needs a loader"
        readelf -dW "static/$1/$program" >dynamic
        ! grep -q NEEDED dynamic || fail "$1/$program needs a library"
    done
    cmp "$source/LICENSE" "static/$1/LICENSE" || fail "$1 has another LICENSE"
    for pair in musl:MIT json-c:Expat yajl:ISC curl:curl; do
        grep -q "^License: ${pair#*:}" "static/$1/LICENSE.${pair%:*}" || fail "$1 lacks the license of ${pair%:*}"
    done
}

# check_programs ARCHITECTURE [EMULATOR]: fails unless these programs behave like those of the build. `instance` is the
# command of runs.
check_programs() {
    local programs=static/$1
    shift
    "$@" "$programs/showstopper" --list-modules | diff expected - >&2 || fail "$programs: other modules"
    while read -r module _; do
        "$@" "$programs/showstopper" --help-module "$module" | diff <("$build/bin/showstopper" --help-module "$module") - >&2 ||
            fail "$programs: another --help-module $module"
    done <expected
    ! "$@" "$programs/showstopper" -l 50% -c ./mine.so true 2>refused || fail "$programs: accepted a module in a file"
    grep -q "cannot load the .* module './mine.so': this program is statically linked" refused || fail "$programs: $(<refused)"
    ! "$@" "$programs/showstopper" -l 50% -c geon true 2>refused || fail "$programs: accepted an unknown module"
    grep -q "did you mean.*geom" refused || fail "$programs: $(<refused)"
    "$@" "$programs/showstopper" -n 1 -f own -l 50% --duration 700m --json result "${instance[@]}" >output 2>&1 ||
        fail "$programs: $(<output)"
    grep -q '"deadbeat"' result || fail "$programs: $(<result)"
    "$@" "$programs/ssburn" serial --work 1000 --iterations 3 >output 2>&1 || fail "$programs: $(<output)"
    [ "$(grep -c '^iteration' output)" -eq 3 ] || fail "$programs: ssburn: $(<output)"
    "$@" "$programs/sssim" -l 50% --duration 10s >output 2>&1 || fail "$programs: $(<output)"
    "$@" "$programs/ssload" --count 1 --interval 200m >output 2>&1 || fail "$programs: $(<output)"
    "$@" "$programs/sstrace" "$source/traces/saw.txt" -o trace >output 2>&1 || fail "$programs: $(<output)"
    "$build/bin/sstrace" "$source/traces/saw.txt" -o expected-trace
    cmp trace expected-trace || fail "$programs: sstrace compiles another trace"
    "$@" "$programs/sstrace" "$source/tests/data/import/sadf.json" -o trace >output 2>&1 ||
        fail "$programs: sstrace: $(<output)"
    "$build/bin/sstrace" "$source/tests/data/import/sadf.json" -o expected-trace
    cmp trace expected-trace || fail "$programs: sstrace imports another trace from JSON"
    rm -rf study marks
    "$@" "$programs/ssbatch" study plan >output 2>&1 || fail "$programs: ssbatch: $(<output)"
    is marks "$(printf 'a\nb')"
    "$@" "$programs/ssrequest" --rate 20 --duration 1s --json answers "$url" >output 2>&1 ||
        fail "$programs: ssrequest: $(<output)"
    grep -q '"succeeded": 20' answers || fail "$programs: ssrequest: $(<answers)"
    refuses 125 "'https://localhost/' requires TLS" "$@" "$programs/ssrequest" --rate 1 https://localhost/
}

# check_replay: the programs in one folder find each other. An emulator would need the kernel to start another program.
check_replay() {
    local programs=static/$own
    "$programs/showstopper" -q -n 1 -f own -l 50% --duration 700m --record record "${instance[@]}"
    "$programs/showstopper" --replay record --record again >output 2>&1 || fail "--replay: $(<output)"
    ! grep -q "cannot compare" output || fail "--replay: $(<output)"
    [ -s again/platform.json ] || fail "--replay: no platform.json"
}

# check_reproducible: a build in another folder results in the same files, even if ccache makes its paths relative.
check_reproducible() {
    local launcher=
    ! command -v ccache >/dev/null || launcher=ccache
    CMAKE_C_COMPILER_LAUNCHER=$launcher CCACHE_DIR=$scratch/ccache CCACHE_BASEDIR=$scratch \
        "$source/packaging/static" --arch "$own" "$scratch/another/folder" >log 2>&1 || fail "$(tail -n 20 log)"
    diff -r "static/$own" "another/folder/$own" || fail "another folder, other programs"
}

# musl takes the CPUs that a process may use for those of the machine, so a process on one CPU would take the CPU time of
# all for that of its own.
check_single_cpus() {
    local cpu
    for cpu in "$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')" "$(taskset -cp $$ | sed 's/.*[^0-9]//')"; do
        taskset -c "$cpu" "$build/bin/showstopper" --dry-run -l 50% true >expected-plan
        taskset -c "$cpu" "static/$own/showstopper" --dry-run -l 50% true | diff expected-plan - >&2 ||
            fail "another plan on CPU $cpu"
    done
}

cat >plan <<'END'
run a takes 1s size=1
main -- sh -c 'echo a >>marks'
run b takes 1s size=2
main -- sh -c 'echo b >>marks'
END
"$build/bin/ssburn" serve --listen 0 >server </dev/null &
await grep -q '^listening on ' server
url=$(sed -n 's/^listening on //p' server)

make_programs "$own"
instance=("$scratch/static/$own/ssburn" serial)
check_programs "$own"
check_single_cpus
check_replay
check_reproducible

# The programs run in a root that contains nothing else.
if [ "$(id -u)" -ne 0 ]; then
    skip_part "root: only root can make a root folder of its own"
elif ! unshare --mount true 2>/dev/null; then
    skip_part "mounts: cannot mount file systems"
else
    mkdir -p root/bin
    cp "static/$own"/* root/bin
    run_in_root root /bin/showstopper -n 1 -f own -l 50% --duration 700m ssburn serial >output 2>&1 ||
        fail "in an empty root: $(<output)"
fi

for program in "$other-linux-gnu-gcc" "qemu-$other-static"; do
    command -v "$program" >/dev/null || skip "$program: not installed"
done
make_programs "$other"
instance=(sh -c "while :; do :; done")
check_programs "$other" "qemu-$other-static"
