#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The documents name the version of the programs, manual pages have the date of the release, README and
# showstopper-published(7) name the same papers as CITATION.cff, and README shows on its first screen what to do.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# expect WHAT ACTUAL EXPECTED
expect() {
    [ "$2" = "$3" ] || { echo "FAILED: $1 is '$2', expected '$3'" >&2; exit 1; }
}

version=$("$bin/showstopper" --version | sed -n '1s/^showstopper //p')
expect "the version in CITATION.cff" "$(sed -n 's/^version: //p' "$source/CITATION.cff")" "$version"
expect "the latest version in CHANGELOG.md" "$(sed -n '/^## [0-9]/{s/^## \([^ ,]*\).*/\1/p;q;}' "$source/CHANGELOG.md")" \
    "$version"
expect "the version in showstopper.spec" "$(sed -n 's/^Version: *//p' "$source/packaging/rpm/showstopper.spec")" "$version"
expect "the version in PKGBUILD" "$(sed -n 's/^pkgver=//p' "$source/packaging/arch/PKGBUILD")" "$version"
expect "the version of the Python package" \
    "$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$source/tools/python/showstopper/__init__.py")" "$version"
date=$(sed -n 's/^\.TH [^ ]* [^ ]* \([^ ]*\) .*/\1/p' "$source/src/showstopper.1")
expect "the date in CITATION.cff" "$(sed -n 's/^date-released: "\(.*\)"$/\1/p' "$source/CITATION.cff")" "$date"

# plain FILE: prints its text on one line, in small letters.
plain() {
    sed 's/^\.[A-Z]* //; s/\\-/-/g; s/[*"]//g' "$1" | tr -s '\n ' ' ' | tr '[:upper:]' '[:lower:]'
}

# The papers that Showstopper reimplements.
sed -n '/^references:/,$s/^    \(title\|doi\): "\{0,1\}\([^"]*\)"\{0,1\}$/\2/p' "$source/CITATION.cff" |
    tr '[:upper:]' '[:lower:]' >"$scratch/papers"
expect "the number of papers and their DOIs" "$(wc -l <"$scratch/papers" | tr -d ' ')" 9
for document in README.md src/showstopper-published.7; do
    plain "$source/$document" >"$scratch/plain"
    while read -r name; do
        grep -qF "$name" "$scratch/plain" || expect "a paper in $document" "" "$name"
    done <"$scratch/papers"
done

# screen LINES WORDS...: fails unless the first lines of the README contain these words.
screen() {
    local words
    head -n "$1" "$source/README.md" >"$scratch/screen"
    for words in "${@:2}"; do
        grep -qF "$words" "$scratch/screen" || expect "the first $1 lines of README.md" "" "$words"
    done
}

# The first screen: how to hold a load, up to the verdict, with some of the lines that the program prints; and five uses.
screen 30 'showstopper -l' 'showstopper -n 4 -f own -t file' 'showstopper --attach' 'ssrequest -l' 'sslab duet'
screen 15 tools/demo.sh 'verdict: load valid; throughput valid: '
"$bin/showstopper" -f own -l 50% --duration 1s "$bin/ssburn" serial 2>"$scratch/printed" >"$scratch/iterations"
sed -n '/^showstopper: /,/^verdict: /s/^\([a-z ]*\)\(:\|  \).*/\1/p' "$scratch/screen" | while read -r label; do
    grep -q "^$label" "$scratch/printed" || expect "a line of README.md that showstopper prints" "" "$label"
done
