#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The pictures of the README exist, are small, have colors for light and dark schemes, and the terminal is that of this
# version; packaging/readme/make makes both from a record and a text.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=pages.sh
. "$here/pages.sh"

# check_picture FILE WORD...
check_picture() {
    local word
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
    for word in "${@:2}"; do
        grep -qF "$word" "$1" || fail "$1 lacks $word"
    done
}

version=$("$bin/showstopper" --version | head -n 1)
for picture in packaging/readme/replay.svg packaging/readme/terminal.svg; do
    grep -q "^!\\[.*\\]($picture)\$" "$source/README.md" || fail "the README does not show $picture"
done
check_picture "$source/packaging/readme/replay.svg" '>load<' '>target<'
check_picture "$source/packaging/readme/terminal.svg" "<desc>$version</desc>" '>verdict: load valid: '
need_built reports
"$build/bin/sssim" -P 2 -n 4 -l 50% --duration 3s --foreground serial --iteration 100m --record "$scratch/record" >/dev/null
printf '%s\n' 'verdict: invalid: <why> & why' >"$scratch/printed"
mkdir "$scratch/new"
"$source/packaging/readme/make" --bin "$build/bin" --record "$scratch/record" --printed "$scratch/printed" \
    --output "$scratch/new" >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
check_picture "$scratch/new/replay.svg" '>load<' '>target<'
check_picture "$scratch/new/terminal.svg" '>verdict: invalid: &lt;why> &amp; why<'
