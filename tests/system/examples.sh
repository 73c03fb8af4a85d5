# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # those of the test
# Sourced by the test of examples. Reads the blocks of a page and runs their commands as a reader would.
#
# A block is what ``` encloses in Markdown, .EX and .EE or .nf and .fi in a manual page. It is run by
# bash, in a new folder, with the installed programs in PATH; a failing command, even within a
# pipeline, fails the test. The file PAGE.examples (of NAME.md: NAME.examples) has notes on blocks:
#
#   # a comment
#   block FIRST LINE OF THE BLOCK
#       NOTE
#       NOTE
#
# If several blocks of a page begin with this line, `block#2` is the second one of them.
#
# A block that is not run has exactly one of these notes:
#   shows WHAT                  contains no commands: the content of a file, a picture, a synopsis, output
#   output                      is the expected standard output of the previous block
#   file NAME                   the content of a file that later blocks of the page find in their folder
#   elsewhere FILE              its commands are run by FILE in this tree
#   foreign REASON              requires software that is not part of Showstopper: never run, but listed
# A block that is run may have these notes, each any number of times:
#   replace OLD -> NEW          every OLD, which must occur, becomes NEW: a placeholder such as PID, a port,
#                               a shorter time. A command that takes longer than a minute may get --plan or
#                               --dry-run, and is listed
#   setup COMMAND               in the same shell, before the block
#   after COMMAND               the same, after the block: ends programs, or checks results
#   stand-in NAME COMMAND       NAME is a program that runs this COMMAND, in place of foreign software
#   needs PROGRAM               without it, the block is skipped
#   interpreter COMMAND         runs the block in place of bash
# In these, $source is the tree, $port a free TCP port.

# notes_of PAGE: prints the name of its file of notes.
notes_of() {
    echo "${1%.md}.examples"
}

# read_blocks PAGE FOLDER: writes FOLDER/N, the block, FOLDER/N.notes and FOLDER/N.line for each.
read_blocks() {
    local notes
    notes=$(notes_of "$1")
    [ -e "$notes" ] || notes=/dev/null
    awk -v folder="$2" -v page="${1##*/}" '
        function fail(text) {
            print FILENAME ":" FNR ": " text
            failed = 1
            exit 1
        }
        function open_block() {
            inside = FNR
            count++
            print FNR >(folder "/" count ".line")
            printf "" >(folder "/" count)
            printf "" >(folder "/" count ".notes")
        }
        function add_line(text) {
            print text >(folder "/" count)
            gsub(/^[ \t]+|[ \t]+$/, "", text)
            if (text == "" || count in first)
                return
            first[count] = text
            number[text, ++beginnings[text]] = count
        }
        function end_section() {
            if (section && !notes)
                fail("no notes on the block before")
            notes = 0
        }
        function find_block(which, text) {
            if (!(text in beginnings))
                fail("no block of " page " begins with: " text)
            if (!which && beginnings[text] > 1)
                fail(beginnings[text] " blocks of " page " begin with this line: number it, as in block#2")
            if (!which)
                which = 1
            if (!((text, which) in number))
                fail("only " beginnings[text] " blocks of " page " begin with: " text)
            section = number[text, which]
            if (section in seen)
                fail("the notes on this block are in two places")
            seen[section] = 1
        }

        part == "notes" && /^(#|$)/ { next }
        part == "notes" && /^block(#[1-9][0-9]*)? / {
            end_section()
            match($0, /^block(#[0-9]+)? /)
            find_block(substr($0, 7, RLENGTH - 7) + 0, substr($0, RLENGTH + 1))
            next
        }
        part == "notes" {
            if (!section || !sub(/^    /, ""))
                fail("neither a block nor a note: " $0)
            notes++
            print >(folder "/" section ".notes")
            next
        }

        !inside && /^ *(<!--|[.]\\") example:/ { fail("notes belong in the file of examples") }
        markdown && /^ *```/ { if (inside) inside = 0; else open_block(); next }
        markdown { if (inside) add_line($0); next }
        !inside && /^\.(EX|nf)/ { open_block(); next }
        inside && /^\.(EE|fi)/ { inside = 0; next }
        inside && /^\./ { next }
        inside {
            gsub(/\\f[A-Z]|\\&/, "")
            gsub(/\\-/, "-")
            gsub(/\\\(aq/, "\047")
            gsub(/\\e/, "\\")
            add_line($0)
        }
        END {
            if (!failed && inside)
                fail("the block of line " inside " does not end")
            if (!failed)
                end_section()
        }' markdown="$([[ $1 != *.md ]] || echo 1)" part=page "$1" part=notes "$notes"
}

# note KEY: prints the values of the block's notes with this key, one per line.
note() {
    sed -n "s/^$1\\( \\|\$\\)//p" "$blocks/$block.notes"
}

# has_note KEY
has_note() {
    grep -qE "^$1( |\$)" "$blocks/$block.notes"
}

# check_notes: fails if a note is misspelled or contradicts another one.
check_notes() {
    local kinds='shows|output|file|elsewhere|foreign' others='replace|setup|after|stand-in|needs|interpreter'
    local unknown count
    unknown=$(grep -vE "^output\$|^($kinds|$others) ." "$blocks/$block.notes") &&
        fail "$where: unknown note: $unknown"
    count=$(grep -cE "^($kinds)( |\$)" "$blocks/$block.notes") || true
    [ "$count" -eq 0 ] || [ "$(wc -l <"$blocks/$block.notes")" -eq 1 ] ||
        fail "$where: a block that is not run has one note"
    ! has_note elsewhere || [ -e "$source/$(note elsewhere)" ] ||
        fail "$where: there is no $(note elsewhere)"
}

# replace_all FILE: applies the block's `replace` notes.
replace_all() {
    local old text
    text=$(<"$1")
    while read -r old; do
        [[ $old == *" -> "* ]] || fail "$where: 'replace $old' lacks an arrow"
        [[ $text == *"${old%% -> *}"* ]] || fail "$where: '${old%% -> *}' is not in the block"
        text=${text//"${old%% -> *}"/"${old#* -> }"}
    done < <(note replace)
    printf '%s\n' "$text"
}

# planned_only: prints the block's `replace` notes that add --plan or --dry-run.
planned_only() {
    note replace | awk -F ' -> ' -v plan='(^| )--(plan|dry-run)( |$)' '$2 ~ plan && $1 !~ plan'
}

# make_stand_ins FOLDER
make_stand_ins() {
    local name command
    mkdir "$1"
    while read -r name command; do
        printf '#!/bin/bash\n%s\n' "$command" >"$1/$name"
        chmod +x "$1/$name"
    done < <(note stand-in)
}

# write_script: prints the script that bash runs. It fails if the block leaves background jobs.
write_script() {
    cat <<'END'
set -e -o pipefail
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
END
    note setup
    if has_note interpreter; then
        printf "%s - <<'END-OF-BLOCK'\n" "$(note interpreter)"
        replace_all "$blocks/$block"
        echo END-OF-BLOCK
    else
        replace_all "$blocks/$block"
    fi
    note after
    cat <<'END'
[ -z "$(jobs -pr)" ] || { echo "still running: $(jobs -r)" >&2; exit 1; }
END
}

# have_programs: succeeds if the programs exist that the block needs; otherwise skips the block.
have_programs() {
    local program
    for program in $(note needs); do
        command -v "$program" >/dev/null || { skip_part "$program: not installed"; return 1; }
    done
    ! grep -qE '(^|[^a-z-])ssreport( |$)' "$blocks/$block" || have_reports "$prefix" ||
        { skip_part "left-out: no reports"; return 1; }
    for program in ssbatch ssfleet ssprofile ssrequest showstopper-platform; do
        ! grep -qE "(^|[^a-z-])$program( |\$)" "$blocks/$block" || [ -x "$prefix/bin/$program" ] ||
            { skip_part "left-out: built without $program"; return 1; }
    done
}

# run_block: runs the block in a new folder that contains the files defined by the page.
run_block() {
    local status=0 here=$scratch/run.$block
    have_programs || return 0
    cp -a "$files" "$here"
    make_stand_ins "$scratch/stand-ins.$block"
    write_script >"$scratch/script.$block"
    (cd "$here" && PATH=$scratch/stand-ins.$block:$PATH exec timeout -k 5 "$patience" bash "$scratch/script.$block") \
        >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    [ "$status" -eq 0 ] ||
        fail "$where: status $status of$(printf '\n%s' "$(<"$scratch/script.$block")" "$(tail -n 20 "$scratch/out")" \
            "$(tail -n 20 "$scratch/err")")"
    ! grep -E 'command not found|No such file|Broken pipe|Usage:' "$scratch/err" >&2 ||
        fail "$where: unexpected on standard error"
}

# run_page PAGE: runs every block of the page.
run_page() {
    local page=$1 block where blocks files=$scratch/files
    blocks=$(mktemp -d "$scratch/blocks.XXXXXX")
    rm -rf "$files" && mkdir "$files"
    # Commands in documents of the tree assume that its root is the current folder.
    [[ $page != *.md ]] || find "$source" -mindepth 1 -maxdepth 1 ! -name 'build*' ! -name '.*' \
        -exec ln -s -t "$files" {} +
    read_blocks "$source/$page" "$blocks" || fail "$page cannot be read"
    for ((block = 1; ; block++)); do
        [ -e "$blocks/$block" ] || break
        where=$page:$(<"$blocks/$block.line")
        check_notes
        if has_note output; then
            cmp "$scratch/out" "$blocks/$block" >&2 ||
                fail "$where: the block before prints: $(cat "$scratch/out")"
        elif has_note file; then
            cp "$blocks/$block" "$files/$(note file)"
        elif ! grep -qE '^(shows|elsewhere|foreign) ' "$blocks/$block.notes"; then
            echo "$where"
            run_block
        fi
    done
}
