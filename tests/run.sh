#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All that must hold before a change goes in, for people and for CI alike.
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null # it may be closed, and the next file opened would then become standard input
# shellcheck source=../tools/install-missing.sh
. tools/install-missing.sh

usage() {
    cat <<END
Usage: tests/run.sh [--quick] [--strict]
Installs what is missing, builds in build*/, and runs all checks and tests but those that want a
quiet machine. Tests that cannot run here are listed with what they miss.

  --quick   only the scripts and the release build
  --strict  fail if a test was skipped although this machine has what it misses
  --help    print this and end
END
}

fail() {
    echo "tests/run.sh: $*" >&2
    exit 1
}

stage() {
    printf '\n== %s\n' "$*"
}

# The one that formats our code.
clang_format=14

install_what_tests_need() {
    install_missing gcc=cc libc6-dev=/usr/include/stdio.h cmake=cmake make=make \
        pkg-config=pkg-config libcmocka-dev=cmocka.pc check=check.pc shellcheck=shellcheck \
        binutils=readelf libyajl-dev=yajl.pc libhwloc-dev=hwloc.pc \
        libgsl-dev=gsl.pc \
        gnuplot-nox=gnuplot xz-utils=xz zstd=zstd clang-format=clang-format \
        time=/usr/bin/time
}

# build PRESET [OPTION]...: warnings are errors, and nothing may be left out.
build() {
    stage "$1: build"
    cmake --preset "$1" -DSHOWSTOPPER_REQUIRE_ALL=ON -DSHOWSTOPPER_WERROR=ON
    cmake --build --preset "$1" --parallel "$(nproc)" "${@:2}"
}

# run_tests PRESET JOBS [OPTION]...: the summary of ctest stands last.
run_tests() {
    local folder=build-$1 status=0 expected=yes
    [ "$1" != release ] || folder=build
    stage "$1: tests"
    "${fixed_layout[@]}" ctest --preset "$1" -j "$2" "${@:3}" --no-label-summary --no-tests=error \
        --output-junit "$PWD/$folder/tests.xml" --test-output-size-passed 65536 |
        hold_back_summary "$folder/summary" || status=$?
    tests/skips ${strict:+"$strict"} "$folder" || expected=
    cat "$folder/summary"
    [ "$status" -eq 0 ] || exit "$status"
    [ -n "$expected" ] || fail "tests were skipped that can run here: see above"
}

# hold_back_summary FILE
hold_back_summary() {
    : >"$1"
    sed -u -e "/^[0-9]*% tests passed/,\$ { w $1" -e 'd' -e '}'
}

# Thread sanitizers up to gcc 13 do not start where the kernel lays memory out very randomly.
fixed_layout=()
find_fixed_layout() {
    if setarch -R true 2>/dev/null; then
        fixed_layout=(setarch -R)
    fi
}

shell_scripts() {
    find . \( -path './build*' -o -path ./.git \) -prune -o -type f \
        -exec awk 'FNR == 1 && /^#!.*[\/ ](ba|da)?sh( |$)/ { print FILENAME }' {} +
}

check_scripts() {
    local scripts
    stage "scripts"
    mapfile -t scripts < <(shell_scripts)
    shellcheck "${scripts[@]}"
    echo "shellcheck has nothing against ${#scripts[@]} scripts"
}

# Other versions lay the same code out in other ways.
check_layout() {
    local version files
    stage "layout"
    tests/arrows
    version=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')
    if [ "$version" != "$clang_format" ]; then
        echo "the layout of C is not checked: that takes clang-format $clang_format," \
            "this is ${version:-none}"
        return
    fi
    mapfile -t files < <(find include modules src tests tools -name '*.[ch]' | sort)
    clang-format --dry-run -Werror "${files[@]}"
    echo "clang-format has nothing against ${#files[@]} files"
}

# A C compiler and a C library must be enough for all programs, and it must be said what is missing.
check_minimal() {
    local log=build-minimal/configure.log program
    local bare=(-S . -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -DSHOWSTOPPER_WERROR=ON
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0) # the quickest: nothing of it is run
    stage "minimal: build"
    mkdir -p build-minimal
    ! cmake "${bare[@]}" -B build-minimal/required -DSHOWSTOPPER_REQUIRE_ALL=ON >"$log" 2>&1 ||
        fail "SHOWSTOPPER_REQUIRE_ALL lets parts be left out"
    grep -q SHOWSTOPPER_REQUIRE_ALL "$log" || fail "cmake failed otherwise: $(cat "$log")"
    cmake "${bare[@]}" -B build-minimal | tee "$log"
    grep -q '^-- Left out: unit tests' "$log" || fail "cmake left out the tests and did not say so"
    cmake --build build-minimal --parallel "$(nproc)"
    for program in showstopper ssload ssburn sstrace sssim; do
        [ -x "build-minimal/bin/$program" ] || fail "the minimal build has no $program"
    done
}

check_sanitized() {
    build asan-ubsan
    run_tests asan-ubsan 4
    build tsan --target thread_tests
    find_fixed_layout
    run_tests tsan "$(nproc)" -L threads
    fixed_layout=()
}

# Whether the compiler can make, and this CPU can run, what the preset fma builds.
has_fma() {
    local program=build-fma/has_fma
    mkdir -p build-fma
    printf '%s\n' 'int main(void) {' 'return !(__builtin_cpu_supports("fma") &&' \
        '__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")); }' |
        "${CC:-cc}" -march=x86-64-v3 -x c -o "$program" - 2>/dev/null && "$program"
}

# Where products and sums are rounded once, as compilers do by default on aarch64 and s390x.
check_fused() {
    if ! has_fma; then
        stage "fma: skipped: the compiler has no -march=x86-64-v3, or the CPU no fused multiply-add"
        return
    fi
    build fma --target arithmetic_tests
    run_tests fma "$(nproc)"
}

quick='' strict=''
for word; do
    case $word in
    --quick) quick=yes ;;
    --strict) strict=--strict ;;
    --help) usage && exit ;;
    *) fail "$word: unknown option: see --help" ;;
    esac
done
install_what_tests_need
build release
check_scripts
check_layout
if [ -z "$quick" ]; then
    check_minimal
    check_sanitized
    check_fused
fi
# The sum of all tests stands last. Most of them wait most of the time.
run_tests release 4
