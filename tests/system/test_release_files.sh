#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packaging/release makes every file of a release, twice the same bytes, and refuses to make one that is invalid.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
need git
# A clone has no changes, whatever the tree has.
git clone -q "$source" tree 2>log || skip "git: $(tail -n 1 log)"
git -C tree config user.name release
git -C tree config user.email release@example.org

# refuses STATUS TEXT ARG...
refuses() {
    local status=0
    tree/packaging/release "${@:3}" >out 2>err || status=$?
    [ "$status" -eq "$1" ] || fail "status $status for ${*:3}: $(<err)"
    grep -qF -- "$2" err || fail "for ${*:3}: $(<err)"
    [[ ! -e made && ! -e made.part ]] || fail "${*:3} left files"
}

wrong_releases_are_refused() { # case
    refuses 2 "VERSION and FOLDER are required" "$version"
    refuses 2 "CMakeLists.txt has version $version" 0.9 made
    refuses 2 "tree exists" "$version" tree
    refuses 2 "--arch requires" --arch mips "$version" made
    sed -i "s/^## $version,.*/## 0.9, 2001-01-01/" tree/CHANGELOG.md
    refuses 2 "CHANGELOG.md has no section '## $version, DATE'" "$version" made
    git -C tree checkout -q CHANGELOG.md
    touch tree/forgotten
    refuses 1 "forgotten" "$version" made
}

files_are_complete_and_the_same_again() { # case
    local machine name
    machine=$(uname -m)
    [ "$machine" = x86_64 ] || skip "x86_64: packaging/static is for Debian on x86_64"
    need dpkg-deb dpkg-shlibdeps lintian musl-gcc pip3
    (apt-get -o APT::Sandbox::User=root download base-files >log 2>&1) || skip "mirror: $(tail -n 1 log)"
    (pip3 download --no-deps scikit-build-core >log 2>&1) || skip "pypi: $(tail -n 1 log)"
    for name in first second; do
        tree/packaging/release --arch "$machine" "$version" "$name" >log 2>&1 || fail "$(tail -n 20 log)"
    done
    diff first/SHA256SUMS second/SHA256SUMS >&2 || fail "other bytes"
    (cd first && sha256sum --quiet -c SHA256SUMS) || fail "wrong checksums"
    for name in "showstopper-$version.tar.gz" "showstopper-$version-linux-$machine.tar.gz" notes.md \
        "showstopper-$version-image-$machine.tar" \
        "showstopper-$version-py3-none-manylinux_2_17_$machine.musllinux_1_1_$machine.whl"; do
        [ -s "first/$name" ] || fail "no $name"
    done
    [ "$(find first -name '*.deb' | wc -l)" -eq 4 ] || fail "not four packages"
    ! grep -q '^## ' first/notes.md || fail "notes of other versions"
    tar -xzf "first/showstopper-$version-linux-$machine.tar.gz"
    "showstopper-$version-linux-$machine/showstopper" -n 1 -f own -l 50% --duration 700m \
        "showstopper-$version-linux-$machine/ssburn" serial >out 2>&1 || fail "$(<out)"
    grep -q '^verdict:' out || fail "$(<out)"
}

run_cases
