# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests of HTML pages and SVG pictures.

# is_well_formed FILE: succeeds if elements are nested correctly and text is escaped.
is_well_formed() {
    awk 'BEGIN { RS = "<" } # each record but the first is a tag without its "<", and the text after it
        function fail(text) {
            print text
            exit failed = 1
        }
        {
            end = index($0, ">")
            if (NR > 1 && !end) fail("not escaped: <" $0)
            tag = NR > 1 ? substr($0, 1, end) : "!"
            text = NR > 1 ? substr($0, end + 1) : $0
            gsub(/&(amp|lt|gt|quot|#[0-9]+);/, "", text)
            if (text ~ /&/) fail("not escaped: " text)
            if (tag ~ /\/>$/ || tag ~ /^!/) next
            name = tag
            gsub(/^\/|[ \t\n>].*$/, "", name)
            if (tag !~ /^\//) { open[++depth] = name; next }
            if (open[depth] != name) fail("<" tag " closes " open[depth])
            depth--
        }
        END {
            if (failed) exit 1
            if (depth != 0) { print open[depth] " is not closed"; exit 1 }
        }' "$1"
}
