#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every check that a change must pass, both for people and in CI.
set -euo pipefail
unset CDPATH OMP_NUM_THREADS OMP_THREAD_LIMIT # CDPATH makes cd print, nproc obeys the others
cd "$(dirname "$0")/.."
exec </dev/null # if it is closed, the next opened file becomes standard input
# shellcheck source=../tools/install-missing.sh
. tools/install-missing.sh
# shellcheck source=machine.sh
. tests/machine.sh
# shellcheck source=sources.sh
. tests/sources.sh

# Minimum percentages of lines that tests must run.
src_bar=90 tools_bar=85 analysis_bar=90 file_bar=75

usage() {
    cat <<END
Usage: tests/run.sh [--quick | --sanitizers | --packages | --coverage] [--strict]
Installs missing packages if it may, builds in build*/, and runs all checks and tests except those
with sanitizers, those of packages, and those that need an idle machine. Lists the skipped tests with
the features that this machine lacks. Without the right to install packages, it requires a C compiler,
cmake, ninja or make, pkg-config, cmocka and Check; tests that need other packages are skipped.

  --quick   only the scripts, the release build, and its tests except those labeled long: studies,
            benches, guests, containers, the examples of the pages, and running out of memory
  --sanitizers
            only a build with the sanitizers of addresses and undefined behaviour, with its unit and
            process tests, and one with that of threads, with the tests of threads
  --packages
            only the release build, and the tests that make, install and remove packages, wheels, a
            source tarball, and programs with musl
  --coverage
            only a build that counts the lines that run, and its tests; of those labeled long,
            only the tests of tools that no other test runs. Prints the share of lines that ran,
            and files below $file_bar %. Fails if there are such files, or if the share is below
            $src_bar % in src and modules, $tools_bar % in tools, or $analysis_bar % in tools/python.
            Requires all packages
  --strict  fail if a package cannot be installed, or if a test was skipped although this machine has
            the feature that it needs
  --help    print this help
END
}

fail() {
    echo "tests/run.sh: $*" >&2
    exit 1
}

stage() {
    printf '\n== %s\n' "$*"
}

# The versions of these tools for which the tree is written: others format or warn differently.
clang_format=14
mypy='1\.0'
shellcheck='0\.(9|10)'

# Options of modules, commands of shells and LD_PRELOAD get paths of the tree unquoted.
check_path() {
    [[ $PWD != *["$special"]* ]] ||
        fail "the tests cannot run in '$PWD', because of a space or another special character: move the tree"
}

# find_folder: chooses the folder of temporary files.
find_folder() {
    local own=$PWD/build-tmp
    mkdir -p "$own"
    choose_folder ${TMPDIR:+"$TMPDIR"} /tmp /var/tmp "$own"
    [ "${TMPDIR-}" = "$own" ] || rmdir --ignore-fail-on-non-empty "$own"
}

# Each package is followed by its probe, as for install_missing. Nothing is built or tested without these.
compiler=${CC:-cc}
required=("gcc=${compiler%% *}" cmake=cmake 'ninja-build=ninja|make' pkg-config=pkg-config libcmocka-dev=cmocka.pc
    check=check.pc)

# Without these libraries, cmake leaves parts out.
libraries=(libyajl-dev=yajl.pc libjson-c-dev=json-c.pc libhwloc-dev=hwloc.pc
    libcurl4-openssl-dev=libcurl.pc libmicrohttpd-dev=libmicrohttpd.pc)

# Without these, cmake leaves reports out.
modules=/usr/lib/python3/dist-packages
analysis=(python3=python3 python3-jinja2="$modules/jinja2" python3-matplotlib="$modules/matplotlib"
    python3-pandas="$modules/pandas" python3-scipy="$modules/scipy")
libraries+=("${analysis[@]}")

# Without these, the tests that need them are skipped.
others=(make=make ninja-build=ninja shellcheck=shellcheck binutils=readelf xz-utils=xz zstd=zstd
    clang-format=clang-format time=/usr/bin/time lxc=lxc-execute nghttp2-server=nghttpd openssl=openssl
    slurmctld=/usr/sbin/slurmctld slurmd=/usr/sbin/slurmd slurm-client=sbatch munge=/usr/sbin/munged
    parallel=parallel openssh-server=/usr/sbin/sshd openssh-client=ssh-keygen faketime=faketime mandoc=mandoc cmark=cmark
    bash-completion=/usr/share/bash-completion/bash_completion zsh=zsh fish=fish
    python3-coverage="$modules/coverage" python3-hypothesis="$modules/hypothesis" python3-pytest="$modules/pytest"
    mypy=mypy python3-jsonschema="$modules/jsonschema"
    python3-prometheus-client="$modules/prometheus_client"
    python3-yaml="$modules/yaml" debootstrap=debootstrap curl=curl git=git jq=jq)

packaging=(dpkg-dev=dpkg-shlibdeps lintian=lintian rpm=rpmspec makepkg=makepkg musl-tools=musl-gcc
    gcc-aarch64-linux-gnu=aarch64-linux-gnu-gcc
    libc6-dev-arm64-cross=/usr/aarch64-linux-gnu/include/linux/version.h qemu-user-static=qemu-aarch64-static
    python3-pip=pip3 python3-venv=/usr/share/doc/python3-venv pipx=pipx podman=podman runc=runc)

# missing_of PACKAGE=PROBE...: prints the packages that are not installed.
missing_of() {
    local pair
    for pair; do
        probe_finds "${pair#*=}" || echo "${pair%%=*}"
    done
}

# install_packages: installs missing packages if we may, which requires Debian. --strict and --coverage require all
# packages. Sets `parts` to ON, or to OFF if a part of Showstopper will be left out.
install_packages() {
    local missing
    # shellcheck disable=SC2086 # a compiler and its options
    echo '#include <stdio.h>' | $compiler -E - >/dev/null 2>&1 || required+=(libc6-dev=/usr/include/stdio.h)
    [ "$kind" != packages ] || others+=("${packaging[@]}")
    if [ -n "$strict" ] || [ "$kind" = coverage ]; then
        install_missing "${required[@]}" "${libraries[@]}" "${others[@]}"
    elif ! may_install || ! install_missing "${required[@]}" "${libraries[@]}" "${others[@]}"; then
        install_missing "${required[@]}"
        missing=$(missing_of "${libraries[@]}" "${others[@]}")
        [ -z "$missing" ] || printf '%s\n' "Not found; tests that need them are skipped:" "${missing//$'\n'/ }"
    fi
    parts=ON
    [ -z "$(missing_of "${libraries[@]}")" ] || parts=OFF
}

# find_python: puts the real python3 first in PATH if python3 is a script that searches for it, such as pyenv's.
find_python() {
    local program
    program=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) || return 0
    PATH=${program%/*}:$PATH
}

# folder_of PRESET: prints the build folder.
folder_of() {
    case $1 in
    release | quick | packages) echo build ;;
    *) echo "build-$1" ;;
    esac
}

# choose_generator FOLDER: sets `generator` to cmake's option for ninja, which needs half the CPU time of make. A
# configured folder keeps its generator. build/ uses the generator of its preset, make, as in the README.
choose_generator() {
    generator=()
    if [ -e "$1/CMakeCache.txt" ]; then
        generator=(-G "$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$1/CMakeCache.txt")")
    elif command -v ninja >/dev/null && { [ "$1" != build ] || ! command -v make >/dev/null; }; then
        generator=(-G Ninja)
    fi
}

# build PRESET TARGET [DEFINITION]...: builds all parts whose libraries are installed, with warnings as errors.
build() {
    stage "$1: build"
    choose_generator "$(folder_of "$1")"
    cmake --preset "$1" "${generator[@]}" -DSHOWSTOPPER_REQUIRE_ALL="$parts" -DSHOWSTOPPER_WERROR=ON "${@:3}"
    cmake --build --preset "$1" --parallel "$build_jobs" --target "$2"
}

# Without debug information the build is a tenth faster.
build_release() {
    build release all -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG"
}

# run_tests PRESET JOBS [OPTION]...: runs ctest and prints its summary last.
run_tests() {
    local folder status=0 expected=yes
    folder=$(folder_of "$1")
    stage "$1: tests"
    "${fixed_layout[@]}" ctest --preset "$1" -j "$2" "${@:3}" --no-label-summary --no-tests=error \
        --output-junit "$PWD/$folder/tests.xml" --test-output-size-passed 65536 |
        hold_back_summary "$folder/summary" || status=$?
    tests/skips ${strict:+"$strict"} "$folder" || expected=
    cat "$folder/summary"
    [ "$status" -eq 0 ] ||
        fail "$1: the tests above failed; what they printed is there, and in $folder/Testing/Temporary/LastTest.log"
    [ -n "$expected" ] || fail "tests were skipped that can run here: see above"
}

# hold_back_summary FILE: copies ctest's output, except for its summary, which goes to the file.
hold_back_summary() {
    : >"$1"
    sed -u -e "/^[0-9]*% tests passed/,\$ { w $1" -e 'd' -e '}'
}

# Thread sanitizers up to gcc 13 fail to start if the kernel randomizes addresses by many bits.
fixed_layout=()
find_fixed_layout() {
    if setarch -R true 2>/dev/null; then
        fixed_layout=(setarch -R)
    fi
}

# Prints the shell scripts of the tree, without untracked ones.
shell_scripts() {
    local files
    mapfile -t files < <(list_sources .)
    awk 'FNR == 1 { if (/^#!.*[\/ ](ba|da)?sh( |$)/) print FILENAME; nextfile }' "${files[@]}"
}

check_scripts() {
    local scripts version
    stage "scripts"
    version=$(shellcheck --version 2>/dev/null | sed -n 's/^version: //p') || true
    if [[ ! $version =~ ^$shellcheck(\.|$) ]]; then
        echo "the scripts are not checked: that takes shellcheck 0.9 or 0.10, this is ${version:-none}"
        return
    fi
    mapfile -t scripts < <(shell_scripts)
    printf '%s\0' "${scripts[@]}" | xargs -0 -n 8 -P "$build_jobs" shellcheck
    echo "shellcheck has nothing against ${#scripts[@]} scripts"
}

check_layout() {
    local version files
    stage "layout"
    tests/arrows
    tests/guards
    version=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p') || true
    if [ "$version" != "$clang_format" ]; then
        echo "the layout of C is not checked: that takes clang-format $clang_format," \
            "this is ${version:-none}"
        return
    fi
    mapfile -t files < <(find include modules src tests tools -name '*.[ch]' | sort)
    printf '%s\0' "${files[@]}" | xargs -0 -n 64 -P "$build_jobs" clang-format --dry-run -Werror
    echo "clang-format has nothing against ${#files[@]} files"
}

# python_of BUILD: prints the Python that cmake has found for reports, or nothing.
python_of() {
    [ ! -e "$1/CMakeCache.txt" ] || sed -n 's/^SHOWSTOPPER_PYTHON_FOUND:INTERNAL=//p' "$1/CMakeCache.txt"
}

check_python() {
    local python version
    stage "python"
    python=$(python_of build)
    version=$([ -z "$python" ] || "$python" -m mypy --version 2>/dev/null | sed 's/^mypy \([0-9.]*\).*/\1/') || true
    if [[ $version =~ ^$mypy(\.|$) ]]; then
        "$python" -m mypy --cache-dir=build/mypy
    else
        echo "the types of the Python package are not checked: that takes mypy 1.0, this is ${version:-none}"
    fi
    if command -v ruff >/dev/null; then
        ruff check --no-cache tools/python tools/experiments/published/compare tests/python
    else
        echo "names and imports of the Python package are not checked: that takes ruff"
    fi
}

# A C compiler and a C library must suffice to build, and cmake must report the parts that it leaves out.
check_minimal() {
    local log=build-minimal/configure.log program
    local bare=(-S . -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -DSHOWSTOPPER_PYTHON=/nowhere -DSHOWSTOPPER_WERROR=ON
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0) # the fastest build: its programs are not run
    stage "minimal: build"
    mkdir -p build-minimal
    choose_generator build-minimal
    ! cmake "${bare[@]}" "${generator[@]}" -B build-minimal/required -DSHOWSTOPPER_REQUIRE_ALL=ON >"$log" 2>&1 ||
        fail "SHOWSTOPPER_REQUIRE_ALL lets parts be left out"
    grep -q SHOWSTOPPER_REQUIRE_ALL "$log" || fail "cmake failed otherwise: $(cat "$log")"
    cmake "${bare[@]}" "${generator[@]}" -B build-minimal | tee "$log"
    grep -q '^-- Left out: unit tests' "$log" || fail "cmake left out the tests and did not say so"
    grep -q '^-- Left out: reports in Python' "$log" || fail "cmake left out reports and did not say so"
    [ ! -e build-minimal/libexec/showstopper/analysis ] || fail "the minimal build has reports"
    cmake --build build-minimal --parallel "$build_jobs" --target programs
    for program in showstopper ssload ssburn sstrace sssim; do
        [ -x "build-minimal/bin/$program" ] || fail "the minimal build has no $program"
    done
}

check_sanitized() {
    build asan-ubsan all
    run_tests asan-ubsan "$test_jobs"
    build tsan thread_tests
    find_fixed_layout
    run_tests tsan "$build_jobs" -L threads
    fixed_layout=()
}

# Prints the shares of lines that ran, from the output of tests/line-counts. Fails if one is below its minimum.
print_coverage() {
    awk -F , -v src_bar="$src_bar" -v tools_bar="$tools_bar" -v analysis_bar="$analysis_bar" \
        -v file_bar="$file_bar" '
        $2 + 0 > 0 {
            side = $1 ~ /^tools\/python\// ? "tools/python" : $1 ~ /^tools\// ? "tools" : "src and modules"
            lines[side] += $2
            ran[side] += $3
            if (100 * $3 < file_bar * $2) {
                printf "%5.1f %% of %4d lines: %s\n", 100 * $3 / $2, $2, $1
                low = 1
            }
        }
        END {
            bar["src and modules"] = src_bar
            bar["tools"] = tools_bar
            bar["tools/python"] = analysis_bar
            for (side in bar) {
                share = lines[side] ? 100 * ran[side] / lines[side] : 0
                printf "%5.1f %% of %d lines: %s\n", share, lines[side], side
                if (share < bar[side]) low = 1
            }
            exit low
        }'
}

check_coverage() {
    local failed='' low='' counts
    build coverage all
    find build-coverage -name '*.gcda' -delete
    # Processes of other users must be able to write their counts, or gcov would print errors during tests.
    mapfile -t counts < <(find build-coverage -name '*.gcno' | sed 's/gcno$/gcda/')
    touch "${counts[@]}"
    chmod a+w "${counts[@]}"
    rm -rf build-coverage/python-coverage
    mkdir build-coverage/python-coverage
    printf '%s\n' '[run]' 'parallel = true' "data_file = $PWD/build-coverage/python-coverage/data" \
        "source = $PWD/tools/python/showstopper" >build-coverage/python-coverage/rows
    (run_tests coverage "$test_jobs") || failed=yes
    stage "coverage: lines that ran"
    tests/line-counts build-coverage src modules tools >build-coverage/coverage.csv
    "$(python_of build-coverage)" tests/python-line-counts build-coverage/python-coverage >>build-coverage/coverage.csv
    print_coverage <build-coverage/coverage.csv || low=yes
    [ -z "$failed" ] || fail "tests failed: see above"
    [ -z "$low" ] || fail "too few lines ran: see above, and build-coverage/coverage.csv"
}

kind=release strict='' # kind: a preset, or sanitizers
for word; do
    case $word in
    --quick | --sanitizers | --packages | --coverage)
        [[ $kind == @(release|"${word#--}") ]] || fail "$word: not together with --$kind: see --help"
        kind=${word#--}
        ;;
    --strict) strict=--strict ;;
    --help) usage && exit ;;
    *) fail "$word: unknown option: see --help" ;;
    esac
done
check_path
install_packages
find_python
find_jobs
find_folder
case $kind in
sanitizers) check_sanitized ;;
coverage) check_coverage ;;
packages)
    build_release
    run_tests packages "$build_jobs"
    ;;
*)
    build_release
    check_scripts
    check_layout
    check_python
    [ "$kind" = quick ] || check_minimal
    # The summary of all tests comes last. Many tests run at a time, because most of them mainly wait.
    run_tests "$kind" "$test_jobs"
    ;;
esac
