#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The target html makes every manual page; its links lead somewhere, and references to pages are links.
# Argument: the build folder.
set -euo pipefail

# shellcheck source=skip.sh
. "$(dirname "$0")/skip.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
export LC_ALL=C

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

need mandoc
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
find "$source/src" "$source/tools" "$1/showstopper-modules.7" -name '*.[157]' >"$scratch/pages"
mapfile -t pages <"$scratch/pages"
"$source/packaging/html/make" "$scratch/html" "${pages[@]}"
cd "$scratch/html"
for page in "${pages[@]}"; do
    name=${page##*/}
    [ -s "$name.html" ] || fail "$name.html was not made"
    grep -q "<a href=\"$name.html\">.*</a></dt>\$" index.html || fail "the index lacks $name"
    ! sed 's,<a href="[^"]*">[^<]*</a>,,g' ./*.html | grep -E "(^|[^a-z-])${name%.*}(</b>)?\(${name##*.}\)" >&2 ||
        fail "references to $name are not links"
done
grep -oh 'href="[^"#:]*' ./*.html | sed 's/href="//' | sort -u >"$scratch/links"
while read -r link; do
    [ -z "$link" ] || [ -e "$link" ] || fail "a link leads to $link, which does not exist"
done <"$scratch/links"
for page in *.html; do
    for part in 'name="viewport"' 'href="style.css"'; do
        grep -q "$part" "$page" || fail "$page lacks $part"
    done
done
