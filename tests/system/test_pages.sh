#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Manual pages describe every option of --help, with the same default, and documents name only existing
# files. Argument: the build folder.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)

# options_of PROGRAM: a line for each option in its help, "--NAME DEFAULT", without one "--NAME".
options_of() {
    # PROGRAM may have a second word: one of its commands.
    local words
    read -ra words <<<"$1"
    "${words[@]}" --help | awk '
        function finish() {
            gsub(/ +/, " ", text)
            if (name)
                print name (match(text, /; default [^:;]+$/) ? substr(text, RSTART + 9) : "")
            name = ""
        }
        /^  (-.,|   ) --/ {
            finish()
            match($0, /--[a-z0-9-]+/)
            name = substr($0, RSTART, RLENGTH)
            text = $0
            next
        }
        /^          / { text = text $0; next }
        { finish() }
        END { finish() }'
}

# paragraphs_of PAGE: prints one line of plain text for each paragraph about options.
paragraphs_of() {
    awk '
        /^\.RS/ { inside++ }
        /^\.RE/ { inside-- }
        /^\.(RS|RE|TQ|IP)/ || (inside && /^\.TP/) { next }
        /^\.(TP|SH|SS)/ { if (text) print text; text = ""; next }
        { sub(/^\.[A-Z]+ /, ""); text = text " " $0 }
        END { print text }' "$1" |
        sed -E 's/\\f[A-Z]//g; s/\\-/-/g; s/\\ / /g; s/"//g; s/  +/ /g' |
        grep -E '^ *-' | sed -E 's/([0-9]) (us|ms|s)\b/\1\2/g'
}

# check PROGRAM PAGE: prints one line for each difference.
check() {
    local name initial paragraph value said
    paragraphs_of "$2" >"$folder/page"
    options_of "$1" >"$folder/options"
    [ -s "$folder/options" ] || echo "${1##*/} --help lists no option"
    while read -r name initial; do
        # Options of the five kinds have one common paragraph.
        [[ $name != --*-options || $name == --trace-options ]] || continue
        paragraph=$(grep -E -m 1 -e "^[^.:]*$name\\b([^-]|$)" "$folder/page") ||
            { echo "${2##*/} lacks $name"; continue; }
        # Help and page may write a time differently: 2m is 2ms.
        value="$initial"
        case $initial in [0-9]*m | [0-9]*u) value="$initial|${initial}s" ;; esac
        said="default[^.]*[^a-z0-9.]($value)($|[^a-z0-9])|[^a-z0-9]($value) \\((the )?default"
        if [ "$initial" ] && ! grep -qiE "$said" <<<"$paragraph"; then
            echo "${2##*/} does not say that the default of $name is $initial: $paragraph"
        fi
        if [ -z "$initial" ] && grep -qE "[Dd]efault:? [0-9]" <<<"$paragraph"; then
            echo "${2##*/} gives $name a default that it does not have: $paragraph"
        fi
    done <"$folder/options"
}

# check_paths DOCUMENT: each `path` from the root of the tree exists. NAME and other capitals are placeholders.
# shellcheck disable=SC2016 # backquotes of Markdown
check_paths() {
    local path
    while read -r path; do
        [ -e "$source/$path" ] || echo "${1##*/} names $path, which does not exist"
    done < <(grep -oE '`(src|tools|tests|modules|include|traces)/[^` ]*`' "$1" | tr -d '`' |
        grep -vE '[A-Z]{4}|[*{]' | sort -u)
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
{
    # Terminals that lack these characters print nothing: "42 \(mcs" becomes "42 s".
    find "$source/src" "$source/tools" "$source/modules" -name '*.[1357]' \
        -exec grep -nHE '\\\((mc|S[123]|de|Po|Eu)|\\\[u' {} + || true
    for document in README.md CONTRIBUTING.md tools/experiments/README.md; do
        check_paths "$source/$document"
    done
    check "$1/bin/showstopper" "$source/src/showstopper.1"
    for program in ssactuate ssbatch ssload ssrequest sssim ssreport; do
        # Programs whose libraries are missing are not built.
        [ ! -x "$1/bin/$program" ] || check "$1/bin/$program" "$source/tools/$program/$program.1"
    done
    check "$1/bin/sssim queue" "$source/tools/sssim/sssim.1"
    check "$1/bin/sssim fleet" "$source/tools/sssim/sssim.1"
    for command in measure compare calibrate predict index; do
        [ ! -x "$1/bin/ssprofile" ] ||
            check "$1/bin/ssprofile $command" "$source/tools/ssprofile/ssprofile.1"
    done
    for command in plan answer watch codes; do
        [ ! -x "$1/bin/ssantagonist" ] ||
            check "$1/bin/ssantagonist $command" "$source/tools/ssantagonist/ssantagonist.1"
    done
    ! "$1/bin/ssburn" serve --help >"$folder/help" 2>&1 ||
        check "$1/bin/ssburn serve" "$source/tools/ssburn/ssburn.1"
} >"$folder/found"
[ ! -s "$folder/found" ] || { cat "$folder/found" >&2; exit 1; }
