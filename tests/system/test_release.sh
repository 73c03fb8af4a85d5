#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The documents name the version of the programs, and manual pages have the date of the release. Argument: the build
# folder.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)

# expect WHAT ACTUAL EXPECTED
expect() {
    [ "$2" = "$3" ] || { echo "FAILED: $1 is '$2', expected '$3'" >&2; exit 1; }
}

version=$("$1/bin/showstopper" --version | sed -n '1s/^showstopper //p')
expect "the version in CITATION.cff" "$(sed -n 's/^version: //p' "$source/CITATION.cff")" "$version"
expect "the first version in CHANGELOG.md" "$(sed -n '/^## /{s/^## \([^ ,]*\).*/\1/p;q;}' "$source/CHANGELOG.md")" \
    "$version"
expect "the version in showstopper.spec" "$(sed -n 's/^Version: *//p' "$source/packaging/rpm/showstopper.spec")" "$version"
expect "the version in PKGBUILD" "$(sed -n 's/^pkgver=//p' "$source/packaging/arch/PKGBUILD")" "$version"
date=$(sed -n 's/^\.TH [^ ]* [^ ]* \([^ ]*\) .*/\1/p' "$source/src/showstopper.1")
expect "the date in CITATION.cff" "$(sed -n 's/^date-released: "\(.*\)"$/\1/p' "$source/CITATION.cff")" "$date"
