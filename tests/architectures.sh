#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Showstopper for other architectures and for musl, and runs the unit tests there.
set -euo pipefail

usage() {
    cat <<END
Usage: tests/architectures.sh [OPTION]... [NAME]...
Builds with the cross compilers of Debian that are installed, runs the unit tests and the replays of the
fuzzers under qemu-user, and prints a table; exits with status 1 if anything failed. NAME is one of
${!triplets[*]}, or musl for this machine with musl;
default: all whose compiler is installed. Tests need cmocka: Debian's for the architecture
(libcmocka-dev:NAME), or its source. Parts whose libraries are not installed for an architecture are left out.

  --cmocka DIR   build cmocka from this source if it is not installed
  --folder DIR   build in DIR; default: build-architectures
  --jobs N       parallel jobs; default: the number of CPUs
  --help         print this help
END
}

# Triplet of the cross compiler for each Debian architecture.
declare -A triplets=([arm64]=aarch64-linux-gnu [armhf]=arm-linux-gnueabihf [ppc64el]=powerpc64le-linux-gnu
    [riscv64]=riscv64-linux-gnu [s390x]=s390x-linux-gnu)
declare -A emulators=([arm64]=aarch64 [armhf]=arm [ppc64el]=ppc64le [riscv64]=riscv64 [s390x]=s390x)

# Tests that fail under the emulator, which replaces what they read: /proc/self/stat, /proc/PID/exe, and, with another
# root, the path of a library.
untrue='^unit\.(actuate_running|branches_reach|launch|registry|usage)$'

cmocka='' folder='' jobs=$(nproc)
# shellcheck source=options.sh
. "$(dirname "$0")/options.sh"
takes_operands=yes
take_options cmocka folder jobs -- "$@"
names=("${operands[@]}")
for name in "${names[@]}"; do
    [ "$name" = musl ] || [ -n "${triplets[$name]-}" ] || refuse "$name: unknown architecture"
done
[ -z "$cmocka" ] || cmocka=$(realpath "$cmocka")
unset CDPATH # otherwise cd may enter another folder, and print its name
source=$(cd "$(dirname "$0")/.." && pwd)
folder=$(realpath -m "${folder:-$source/build-architectures}")
export LC_ALL=C

# compiler_of NAME
compiler_of() {
    if [ "$1" = musl ]; then echo musl-gcc; else echo "${triplets[$1]}-gcc"; fi
}

if [ ${#names[@]} -eq 0 ]; then
    for name in $(printf '%s\n' "${!triplets[@]}" musl | sort); do
        ! command -v "$(compiler_of "$name")" >/dev/null || names+=("$name")
    done
    [ ${#names[@]} -gt 0 ] || refuse "no cross compiler is installed, such as gcc-s390x-linux-gnu"
fi

# find_kernel: links to the kernel's headers, because musl-gcc does not search the folder of glibc, where they are.
find_kernel() {
    local name
    mkdir -p "$build/kernel"
    for name in linux asm-generic; do
        ln -sfn "/usr/include/$name" "$build/kernel/$name"
    done
    ln -sfn "/usr/include/$(gcc -print-multiarch)/asm" "$build/kernel/asm"
}

# set_up: sets `options` for cmake, `left_out` for ctest, and the folders that pkg-config searches.
set_up() {
    export PKG_CONFIG_LIBDIR=$build/cmocka/lib/pkgconfig
    options=(-G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG"
        -DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_C_COMPILER=$(compiler_of "$name")")
    left_out=()
    if [ "$name" = musl ]; then
        find_kernel
        options+=("-DCMAKE_SYSTEM_PROCESSOR=$(uname -m)" "-DCMAKE_C_FLAGS=-idirafter $build/kernel")
        return
    fi
    local triplet=${triplets[$name]} emulator=qemu-${emulators[$name]}-static
    command -v "$emulator" >/dev/null || emulator=${emulator%-static}
    left_out=(-E "$untrue")
    options+=("-DCMAKE_SYSTEM_PROCESSOR=${triplet%%-*}")
    # Uses the C library of the cross compiler, unless the architecture's own is installed: the loader of one does not
    # work with the other.
    [ -e "/lib/$triplet/libc.so.6" ] || emulator+=";-L;/usr/$triplet"
    options+=("-DCMAKE_CROSSCOMPILING_EMULATOR=$emulator")
    PKG_CONFIG_LIBDIR+=:/usr/lib/$triplet/pkgconfig:/usr/share/pkgconfig
}

# find_cmocka: builds cmocka unless it is installed for the architecture.
find_cmocka() {
    ! pkg-config --exists cmocka || return 0
    [ -n "$cmocka" ] || { echo "no cmocka: install libcmocka-dev:$name or use --cmocka" && return 1; }
    cmake -S "$cmocka" -B "$build/cmocka-build" "${options[@]}" -DBUILD_SHARED_LIBS=OFF -DWITH_STATIC_LIB=ON \
        -DWITH_EXAMPLES=OFF -DCMAKE_INSTALL_PREFIX="$build/cmocka" -DCMAKE_INSTALL_LIBDIR=lib &&
        cmake --build "$build/cmocka-build" --parallel "$jobs" && cmake --install "$build/cmocka-build"
}

# check_architecture: builds, runs the tests and prints a row of the table. Fails unless all of them passed.
check_architecture() {
    local tests result warnings
    if ! find_cmocka; then
        result="no cmocka"
    elif ! cmake -S "$source" -B "$build/tree" "${options[@]}"; then
        result="not configured"
    elif ! cmake --build "$build/tree" --parallel "$jobs"; then
        result="not built"
    elif ctest --test-dir "$build/tree" -L 'unit|fuzz' "${left_out[@]}" -j "$jobs" --no-tests=error --output-on-failure; then
        result=passed
    else
        result=failed
    fi
    warnings=$(grep -c 'warning:' "$build/log") || true
    tests=$(sed -n 's/^\([0-9]*% tests passed.*\)/\1/p' "$build/log" | tail -n 1)
    printf '%-8s %-15s %-9s %s\n' "$name" "$result" "$warnings" "$tests" >&3
    [ "$result" = passed ]
}

exec 3>&1
printf '%-8s %-15s %-9s %s\n' name result warnings tests
status=0
for name in "${names[@]}"; do
    build=$folder/$name
    mkdir -p "$build"
    (set_up && check_architecture) >"$build/log" 2>&1 || status=1
done
[ "$status" -eq 0 ] || echo "see $folder/NAME/log"
exit "$status"
