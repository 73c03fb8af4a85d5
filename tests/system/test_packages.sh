#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Debian packages pass lintian; in a fresh root they are installed, used, upgraded and removed.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
case $codename in
bookworm | trixie) ;;
*) skip "debian: neither Debian 12 nor Debian 13" ;;
esac
need dpkg-deb dpkg-shlibdeps lintian debootstrap
[ "$(id -u)" -eq 0 ] || skip "root: creates a root file system"
unshare --mount --pid --fork mount -t tmpfs none /mnt 2>/dev/null || skip "mounts: cannot mount file systems"
! grep -q '^SHOWSTOPPER_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" || skip "sanitizer: not for packages"
need_built showstopper-platform ../libexec/showstopper/showstopper-replay ssbatch ssreport ssrequest
(cd "$scratch" && apt-get -o APT::Sandbox::User=root download base-files >log 2>&1) ||
    skip "mirror: $(tail -n 1 "$scratch/log")"

# The first release is built as packaging/deb builds by default, in a folder that git ignores.
"$source/packaging/deb" "$scratch/packages" >"$scratch/log" 2>&1 || fail "$(tail -n 20 "$scratch/log")"
made=$source/build-deb
"$source/packaging/deb" --from "$made" --no-lintian --release 2 \
    --contact 'Ada <ada@example.org>' "$scratch/packages" >"$scratch/log" 2>&1 ||
    fail "$(<"$scratch/log")"
depends=$(dpkg-deb -f "$scratch"/packages/showstopper_*-1_*.deb Depends)
for library in libc6 libjson-c libhwloc libcurl libyajl libmicrohttpd; do
    [[ $depends = *"$library"*" (>= "* ]] || fail "showstopper does not depend on $library: $depends"
done
[ "$(dpkg-deb -f "$scratch"/packages/showstopper_*-1_*.deb Maintainer)" = \
    "$(sed -n 's/^SHOWSTOPPER_CONTACT:STRING=//p' "$made/CMakeCache.txt")" ] || fail "another maintainer than configured"
[ "$(dpkg-deb -f "$scratch"/packages/showstopper_*-2_*.deb Maintainer)" = 'Ada <ada@example.org>' ] ||
    fail "another maintainer than given"
"$source/tests/fresh-root.sh" --suite "$codename" --add "$scratch/packages" -- tests/system/use-packages
