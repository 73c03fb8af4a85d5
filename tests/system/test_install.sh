#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `cmake --install` installs everything that was built, and all documents. Argument: the build folder.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
# shellcheck source=skip.sh
. "$here/skip.sh"
export LC_ALL=C

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

build=$(realpath "$1")
for program in bin/showstopper-platform libexec/showstopper/showstopper-replay bin/ssactuate bin/ssbatch \
    bin/ssprofile bin/ssreport bin/ssrequest; do
    [ -x "$build/$program" ] || skip "left-out: $program was not built"
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/all" >"$scratch/log" 2>&1 || fail "$(tail -n 5 "$scratch/log")"

# names FOLDER [EXPRESSION...]: prints the files below, one per line, and marks executables.
names() {
    (cd "$1" && find . \( -type f -o -type l \) "${@:2}" -printf '%P %m\n') |
        sed -E 's/ [0-7]*[1357][0-7]*$/ */; s/ [0-7]+$//' | sort
}

# same WHAT: fails unless `expected` and `installed` have the same lines.
same() {
    diff "$scratch/expected" "$scratch/installed" >&2 || fail "$1: not all (<), or too many (>) are installed"
}

# page_names FOLDER...: the names of all manual pages below.
page_names() {
    find "$@" -name 'build*' -prune -o -name '*.[1-9]' -printf '%f\n' | sort
}

names "$build/bin" >"$scratch/expected"
names "$scratch/all/bin" >"$scratch/installed"
same programs

names "$build/libexec" >"$scratch/expected"
names "$scratch/all/libexec" >"$scratch/installed"
same "programs that others start"

{ page_names "$source/src" "$source/tools" && (cd "$build" && ls ./*.[1-9]) | sed 's,^\./,,'; } | sort >"$scratch/expected"
page_names "$scratch/all/share/man" >"$scratch/installed"
same "manual pages"
while read -r page; do
    [ -e "$scratch/all/share/man/man${page##*.}/$page" ] || fail "$page is in the folder of another section"
done <"$scratch/installed"

modules=$(dirname "$(dirname "$(find "$build" -path '*/feedback/own.so')")")
names "$modules" | cut -d ' ' -f 1 >"$scratch/expected" # only built ones are executable
names "$scratch/all/${modules#"$build/"}" >"$scratch/installed"
same modules

names "$source/include" >"$scratch/expected"
names "$scratch/all/include" >"$scratch/installed"
same headers

{ names "$source/tools/experiments" && printf "%s\n" nine-means.txt nine-steps.txt; } | sort >"$scratch/expected"
names "$scratch/all/share/showstopper/experiments" >"$scratch/installed"
same experiments

names "$source/tools/ssprofile/batteries" >"$scratch/expected"
names "$scratch/all/share/showstopper/batteries" >"$scratch/installed"
same batteries

(cd "$source" && ls ./*.md LICENSE) | sed 's,^\./,,' | grep -vx CONTRIBUTING.md | sort >"$scratch/expected"
names "$scratch"/all/share/doc/* >"$scratch/installed"
same documents

# The parts, installed one by one, must add up to the whole.
: >"$scratch/installed"
for part in core tools sdk documents; do
    cmake --install "$build" --component "$part" --prefix "$scratch/$part" >"$scratch/log" 2>&1 ||
        fail "$part: $(tail -n 5 "$scratch/log")"
    names "$scratch/$part" >>"$scratch/installed"
done
sort -o "$scratch/installed" "$scratch/installed"
names "$scratch/all" >"$scratch/expected"
same parts
[ "$(ls "$scratch/sdk")" = $'include\nlib\nshare' ] || fail "sdk: $(ls "$scratch/sdk")"
"$scratch/core/bin/showstopper" --list-modules >"$scratch/listed" || fail "the core does not run alone"

# An installed tree must work without the build tree.
PATH=$scratch/all/bin:$PATH
showstopper --list-modules >"$scratch/listed"
grep -q "^feedback/own " "$scratch/listed" || fail "modules: $(<"$scratch/listed")"
