#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The programs and modules of a release build are hardened, and tests/hardened detects if they are not.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
need readelf objdump
cat >"$scratch/plain.c" <<'END'
#include <stdio.h>
int main(int count, char **words) {
    char line[20000];
    return count > 1 && sprintf(line, "%s", words[1]) > 2 && puts(line) > 0;
}
END
plain=(-O2 -fno-pie -no-pie -z norelro -z execstack -fno-stack-protector -fno-stack-clash-protection
    -U_FORTIFY_SOURCE)
expected="lacks pie relro noexecstack protector fortify"
if [ "$(uname -m)" = x86_64 ]; then
    plain+=(-fcf-protection=none)
    expected="$expected cf clash"
fi
${CC:-cc} "${plain[@]}" -w -o "$scratch/plain" "$scratch/plain.c"
! "$here/../hardened" "$scratch/plain" >"$scratch/lacks" || fail "a program without any of it passes"
[[ $(<"$scratch/lacks") = *"$expected" ]] || fail "a program without any of it: $(<"$scratch/lacks")"

grep -q '^SHOWSTOPPER_HARDEN:BOOL=ON' "$build/CMakeCache.txt" || skip "hardening: SHOWSTOPPER_HARDEN is off"
mapfile -t files < <(find "$build/bin" "$build/libexec" "$build/lib/showstopper" -type f -perm -u+x \
    -exec grep -l $'^\177ELF' {} +) # scripts are not hardened
[ "${#files[@]}" -gt 20 ] || fail "only these were built: ${files[*]}"
"$here/../hardened" "${files[@]}" >&2 || fail "not hardened"
# Kernels have no such checks, because their rates are compared.
mapfile -t files < <(find "$build" -path '*/room_ssburn_kernels.dir/*' -name '*.o')
[ "${#files[@]}" -gt 0 ] || fail "no object file of the kernels"
! readelf -sW "${files[@]}" | grep _chk >&2 || fail "kernels check buffers or the stack"
