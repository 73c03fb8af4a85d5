# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests that read pages.

# is_well_formed: succeeds if elements are nested correctly and text is escaped.
is_well_formed() {
    awk '
        { page = page $0 "\n" }
        END {
            sub(/^<!DOCTYPE html>/, "", page)
            while (match(page, /<[^>]*>/)) {
                text = substr(page, 1, RSTART - 1)
                tag = substr(page, RSTART, RLENGTH)
                page = substr(page, RSTART + RLENGTH)
                gsub(/&(amp|lt|gt|quot|#[0-9]+);/, "", text)
                if (text ~ /[&<]/) { print "not escaped: " text; exit 1 }
                if (tag ~ /\/>$/ || tag ~ /^<!--/) continue
                name = tag
                gsub(/^<\/?|[ \t\n>].*$|>$/, "", name)
                if (tag !~ /^<\//) { open[++depth] = name; continue }
                if (open[depth] != name) { print tag " closes " open[depth]; exit 1 }
                depth--
            }
            if (depth != 0) { print open[depth] " is not closed"; exit 1 }
        }' "$1"
}
