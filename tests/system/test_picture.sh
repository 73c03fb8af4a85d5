#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The picture of the README exists, is small, and has colors for light and dark schemes; packaging/readme/make makes one
# from a record.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=pages.sh
. "$here/pages.sh"

# check_picture FILE
check_picture() {
    is_well_formed "$1" || fail "$1 is not well-formed"
    [ "$(wc -c <"$1")" -lt 40960 ] || fail "$1 is not small"
    grep -q '^:root{.*--paper:#ffffff;' "$1" || fail "$1 has no light colors"
    grep -q '^@media (prefers-color-scheme:dark){:root{.*--paper:#.*}}$' "$1" || fail "$1 has no dark colors"
    # All colors are variables, and all variables have a value.
    sed '1,/^<\/style>/d' "$1" >"$scratch/body"
    ! grep -E "rgb\(|#[0-9a-f]{6}" "$scratch/body" >&2 || fail "$1 has colors of one scheme"
    while read -r name; do
        [ "$(grep -c -- "[{;]$name:#" "$1")" -eq 2 ] || fail "$1 lacks $name"
    done < <(grep -o 'var(--[a-z]*)' "$scratch/body" | sed 's/var(//; s/)//' | sort -u)
    for word in load target; do
        grep -q ">$word<" "$scratch/body" || fail "$1 does not name $word"
    done
}

picture=packaging/readme/replay.svg
grep -q "^!\\[.*\\]($picture)\$" "$source/README.md" || fail "the README does not show $picture"
check_picture "$source/$picture"
need_built reports
"$build/bin/sssim" -P 2 -n 4 -l 50% --duration 3s --foreground serial --iteration 100m --record "$scratch/record" >/dev/null
"$source/packaging/readme/make" --bin "$build/bin" --record "$scratch/record" --output "$scratch/new.svg" \
    >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
check_picture "$scratch/new.svg"
