#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The source tarball has every file of the tree and builds without a network. The files that make RPM and Arch packages
# from it are valid, and the RPM file lists every installed file.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=../sources.sh
. "$here/../sources.sh"
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")

the_tarball_is_complete_and_builds() { # case
    cpack --config "$build/CPackSourceConfig.cmake" -B "$scratch" >log 2>&1 || fail "$(cat log)"
    tar -xzf "showstopper-$version.tar.gz"
    if [ ! -e "$source/.git" ] || list_tracked "$source" >/dev/null; then
        list_sources "$source" >expected
        (cd "showstopper-$version" && find . ! -type d -printf '%P\n' | sort) >found
        [ -s expected ] || fail "the tree has no files"
        [ -z "$(comm -23 expected found)" ] || fail "the tarball lacks $(comm -23 expected found)"
    else
        skip_part "git: cannot read the repository"
    fi
    [ -z "$(find "showstopper-$version" -maxdepth 1 -name 'build*')" ] || fail "the tarball has a build"
    unshared -n true 2>/dev/null || skip "namespaces: cannot leave the network"
    unshared -n cmake -S "showstopper-$version" -B built -DCMAKE_BUILD_TYPE=Debug -DBUILD_TESTING=OFF >log 2>&1 ||
        fail "$(cat log)"
    unshared -n cmake --build built --parallel 2 --target showstopper >log 2>&1 || fail "$(tail log)"
    [ "$(built/bin/showstopper --version)" = "showstopper $version" ] || fail "the built version is not $version"
}

the_spec_of_rpm_names_every_file() { # case
    local spec=$source/packaging/rpm/showstopper.spec pattern
    need rpmspec
    need_built ssbatch
    rpmspec -P "$spec" >parsed 2>log || fail "$(cat log)"
    [ "$(rpmspec -q --qf '%{version}\n' "$spec" | sort -u)" = "$version" ] || fail "another version than $version"
    DESTDIR=$scratch/root "$here/install" "$build" /usr >log 2>&1 || fail "$(cat log)"
    sed -n '/^%files/,$ { s/^%doc //; s,^/usr,root/usr,p }' parsed >patterns
    while read -r pattern; do
        # shellcheck disable=SC2086 # a pattern
        find $pattern ! -type d || fail "no file is called $pattern"
    done <patterns | sort >named
    find root ! -type d | sort >installed
    diff installed named >&2 || fail "the spec does not name these files (<), or names them twice (>)"
}

# makepkg refuses to run as root.
the_file_of_arch_is_valid() { # case
    local as=()
    need makepkg
    cp "$source/packaging/arch/PKGBUILD" .
    if [ "$(id -u)" -eq 0 ]; then
        have_other_users || skip "another-user: root cannot become it"
        as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
        chown 65534 .
    fi
    # makepkg requires pacman but does not use it here.
    PACMAN=true "${as[@]}" makepkg --printsrcinfo >srcinfo 2>log || fail "$(cat log)"
    grep -qx "[[:space:]]*pkgver = $version" srcinfo || fail "another version than $version: $(cat srcinfo)"
}

run_cases
