#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A module's results depend only on its arguments and on the memory that it is given, so no module may have writable
# static data. This includes the skeleton, built with the public headers only.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
set +o pipefail # grep -q closes its pipe early
need readelf

${CC:-cc} -std=c17 -Wall -Wextra -Werror -shared -fPIC -I"$source/include" \
    -o "$scratch/skeleton.so" "$source/modules/skeleton.c"

# Prints the objects in sections that stay writable. .data.rel.ro is read-only after relocation. completed.N comes from
# the compiler's start files, whose other objects have no size.
writable_objects() {
    readelf -SW "$1" | sed -n 's/^ *\[ *\([0-9]*\)\] *\([^ ]*\).*/\1 \2/p' |
        awk '$2 ~ /^\.(data|bss|tdata|tbss|sdata|sbss)(\.|$)/ && $2 !~ /^\.data\.rel\.ro/ {
            print $1 }' >"$scratch/sections"
    readelf -sW "$1" |
        awk 'NR == FNR { wanted[$1]; next }
            ($7 in wanted) && ($4 == "OBJECT" || $4 == "TLS") &&
            $3 != 0 && $8 !~ /^completed(\.|$)/ { print $8 }' "$scratch/sections" - |
        sort -u
}

# The check must detect writable data.
printf 'static int a; int *b(void) { static int c = 1; return a++ ? &a : &c; }\n' >"$scratch/bad.c"
${CC:-cc} -shared -fPIC -o "$scratch/bad.so" "$scratch/bad.c"
[ "$(writable_objects "$scratch/bad.so" | wc -l)" -eq 2 ] || fail "the check does not see static variables"

check() {
    module=$1
    [ -r "$module" ] || fail "$module is missing"
    if readelf -sW "$module" | grep -q '__[atu]san\|__ubsan'; then
        skip "sanitizer: adds writable data"
    fi
    if readelf -sW "$module" | grep -q '__gcov_'; then
        skip "uncounted: gcov adds writable data"
    fi
    readelf -SW "$module" | grep -q '\.symtab' || skip "left-out: $module has no symbol table"
    found=$(writable_objects "$module")
    [ -z "$found" ] || fail "$module: writable static data: $found"
}

for file in "$source"/modules/*/*.c; do
    name=${file#"$source/modules/"}
    check "$build/lib/showstopper/modules/${name%.c}.so"
done
check "$scratch/skeleton.so"
