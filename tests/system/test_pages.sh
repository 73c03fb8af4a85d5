#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Manual pages describe the options of --help and no others, with the same defaults. The page of sslab describes each
# experiment and the common options, that of catalogues their keys. mandoc accepts the pages, and documents name only
# existing files.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
set +o pipefail # diff and grep report what differs
shopt -s extglob

# options_of PROGRAM: prints a line for each option in the help: "--NAME DEFAULT", or "--NAME" without a default.
# DEFAULT is * if the help describes it in words, or the option has options of its own. Several options may share a
# description: --NAME, --NAME.
options_of() {
    # The second word of PROGRAM, if any, is one of its commands.
    local words kept=$scratch/options-of${1//[\/ ]/-}
    read -ra words <<<"$1"
    [ -e "$kept" ] || "${words[@]}" --help | awk '
        function finish() {
            gsub(/ +/, " ", text)
            initial = match(text, /; default [^:;]+$/) ? substr(text, RSTART + 9) : ""
            sub(/\. .*/, "", initial)
            # In the short form of times, for which check() accepts both.
            if (initial ~ /[0-9][mun]s$/) sub(/s$/, "", initial)
            sub(/min$/, "M", initial)
            if (text ~ /^ *--[a-z]+ [A-Z:]+,\.\.\.|[Dd]efault/ && initial == "") initial = " *"
            for (i = 1; i <= count; i++) print names[i] initial
            count = 0
        }
        /^  ((-.,|   ) )?--/ {
            finish()
            for (rest = $0; match(rest, /^ *(-., *)?--[a-z0-9-]+/); sub(/^, /, "", rest)) {
                names[++count] = substr(rest, index(rest, "--"))
                sub(/[^a-z0-9-].*/, "", names[count])
                sub(/^ *(-., *)?--[a-z0-9-]+( [A-Z@]+)?/, "", rest)
                if (rest !~ /^, --/) break
            }
            text = $0
            next
        }
        /^          / { text = text $0; next }
        { finish() }
        END { finish() }' >"$kept"
    cat "$kept"
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
        grep -E '^ *-' | sed -E 's/([0-9]) (us|ms|s|min)\b/\1\2/g'
}

# tags_of PAGE: prints the long options that paragraphs of the page are about.
tags_of() {
    awk '
        /^\.(TP|TQ)/ { tag = 1; next }
        /^\.IP/ || tag { print }
        { tag = 0 }' "$1" |
        sed -E 's/\\f[A-Z]//g; s/\\-/-/g; s/^\.[A-Z]+ +//; s/"//g' | grep -E '^-' |
        grep -oE '(^|, *)--[a-z0-9-]+' | tr -d ', ' | sort -u
}

# check_tags PAGE PROGRAM...: prints one line for each option in the page that no program has.
check_tags() {
    local page=$1 program
    shift
    for program; do
        options_of "$program"
    done | cut -d ' ' -f 1 | sort -u >"$scratch/options"
    tags_of "$page" >"$scratch/tags"
    [ -s "$scratch/tags" ] || echo "${page##*/} describes no option"
    comm -13 "$scratch/options" "$scratch/tags" | sed "s,\$, is described in ${page##*/}; --help does not list it,"
}

# check PROGRAM PAGE DEFAULTS: prints one line for each difference. The file DEFAULTS lists the options that have a
# default in any command of the page.
check() {
    local name initial paragraphs value said
    paragraphs_of "$2" >"$scratch/page"
    options_of "$1" >"$scratch/options"
    [ -s "$scratch/options" ] || echo "${1##*/} --help lists no option"
    while read -r name initial; do
        # The page describes the options of all five kinds in one paragraph.
        [[ $name != --*-options || $name == --trace-options ]] || continue
        # Several commands of a program may have an option of this name.
        paragraphs=$(grep -E -e "^[^.:]*$name\\b([^-]|$)" "$scratch/page") ||
            { echo "${2##*/} lacks $name"; continue; }
        [ "$initial" != '*' ] || continue
        # Help and page may write a time differently: 2m equals 2ms, 2M 2min.
        [[ $initial != "$source"/* ]] || initial=${initial##*/}
        initial=${initial//[()]/.}
        value="$initial"
        case $initial in
        [0-9]*m | [0-9]*u) value="$initial|${initial}s" ;;
        [0-9]*M) value="$initial|${initial%M}min" ;;
        esac
        said="default[^.]*[^a-z0-9.]($value)($|[^a-z0-9])|[^a-z0-9]($value) \\((the )?default"
        if [ "$initial" ] && ! grep -qiE "$said" <<<"$paragraphs"; then
            echo "${2##*/} does not say that the default of $name is $initial: $paragraphs"
        fi
        if ! grep -qxe "$name" "$3" && grep -qE "[Dd]efault:? [0-9]" <<<"$paragraphs"; then
            echo "${2##*/} gives $name a default that it does not have: $paragraphs"
        fi
    done <"$scratch/options"
}

# section_of PAGE NAME: prints a section of a page.
section_of() {
    awk -v name=".SH $2" '/^\.SH/ { inside = $0 == name; next } inside' "$1"
}

# tagged: prints the first words of the tags on standard input, one per line.
tagged() {
    awk '/^\.TP/ { tag = 1; next } tag { print $2 } { tag = 0 }'
}

# check_catalogue PAGE BIN: prints one line for each key, placeholder and shipped workload that only the page or only the
# program has.
check_catalogue() {
    local name
    printf '[a]\nnone = 1\n' >"$scratch/catalogue"
    "$2/sslab" line --catalogue "$scratch/catalogue" --list-workloads 2>&1 |
        sed 's/.*keys are //' | tr -d ',' | tr ' ' '\n' | sort >"$scratch/keys"
    section_of "$1" KEYS | tagged | sort | diff "$scratch/keys" - |
        sed -n 's/^[<>].*/&: only sslab (<) or the page (>) has this key/p'
    grep -o '"{[a-z]*}"' "$source/tools/python/showstopper/lab/catalogue.py" | tr -d '"' | sort -u >"$scratch/keys"
    section_of "$1" PLACEHOLDERS | tagged | sort | diff "$scratch/keys" - |
        sed -n 's/^[<>].*/&: only sslab (<) or the page (>) has this placeholder/p'
    section_of "$1" 'SHIPPED WORKLOADS' | sed -n 's/\\-/-/g; s/\tT{$//p' | tr ' ' '\n' >"$scratch/shipped"
    while read -r name; do
        grep -qxF -e "$name" -e "${name%%/*}/*" "$scratch/shipped" || echo "${1##*/} lacks the workload $name"
    done < <(sed -n 's/^\[\(.*\)\]$/\1/p' "$source/tools/experiments/workloads" | tr ' ' '\n')
}

# check_experiments PAGE: prints one line for each experiment of sslab, and each program of tools/experiments, that lacks a
# heading in the page, for each option of most experiments that the page lacks, and for each one that none has.
check_experiments() {
    local name names
    names=$(sslab --help | sed -n '/^Experiments:$/,/^$/s/^  \([a-z]*\) .*/\1/p')
    [ "$names" ] || echo "sslab --help lists no experiment"
    for name in $names; do
        options_of "sslab $name" | cut -d ' ' -f 1 | sort -u
    done | sort | uniq -c >"$scratch/shared"
    paragraphs_of "$1" >"$scratch/page"
    while read -r name; do
        grep -qE -e "^[^.:]*$name\\b([^-]|$)" "$scratch/page" || echo "${1##*/} lacks $name"
    done < <(awk -v count="$(wc -w <<<"$names")" '$1 > count / 2 { print $2 }' "$scratch/shared")
    for name in line pairs value; do
        options_of "sslab $name"
    done | awk '{ print $1 }' | cat - <(awk '{ print $2 }' "$scratch/shared") | sort -u >"$scratch/options"
    comm -13 "$scratch/options" <(tags_of "$1") | sed "s,\$, is described in ${1##*/}; --help does not list it,"
    for name in $names line pairs value $(cd "$source/tools/experiments" &&
        find . services -maxdepth 1 -type f -perm -u+x ! -name '*.sh' | sed 's,^\./,,'); do
        sed 's/\\-/-/g' "$1" | grep -qxE "\\.SS (sslab )?$name" || echo "${1##*/} lacks $name"
    done
}

# check_paths DOCUMENT: prints one line for each `path` from the root of the tree that does not exist. Words in
# capitals, such as NAME, are placeholders.
# shellcheck disable=SC2016 # backquotes of Markdown
check_paths() {
    local path
    while read -r path; do
        [ -e "$source/$path" ] || echo "${1##*/} names $path, which does not exist"
    done < <(grep -oE '`(src|tools|tests|modules|include|traces)/[^` ]*`' "$1" | tr -d '`' |
        grep -vE '[A-Z]{4}|[*{]' | sort -u)
}

# check_modules_page BUILD: prints a line if modules of the caller change the page of modules.
check_modules_page() {
    mkdir -p "$scratch/modules/control"
    cp "$1/lib/showstopper/modules/control/geom.so" "$scratch/modules/control/mine.so"
    SHOWSTOPPER_MODULE_PATH=$scratch/modules cmake "-DPROGRAM=$1/bin/showstopper" "-DPAGE=$scratch/modules.7" \
        -P "$source/src/modules-page.cmake"
    ! grep -q control/mine "$scratch/modules.7" || echo "showstopper-modules.7 has a module of SHOWSTOPPER_MODULE_PATH"
}

# check_modules_of PAGE: names each module that the page does not have in the paragraph of its kind. The null modules,
# which only tests use, are not documented.
check_modules_of() {
    local kind name
    while IFS=/ read -r kind name; do
        sed -n "/^\.BR $kind \" (\"/,/^\.\(TP\|RE\)\$/p" "$1" | grep -qw -e "$name" ||
            echo "${1##*/} does not name $kind/$name"
    done < <(showstopper --list-modules | sed 's/ .*//' | grep -v '/null$')
}

# lint: prints mandoc's warnings about the pages, except for long lines.
lint() {
    find "$source/src" "$source/tools" "$1"/*.[17] -name '*.[1357]' -exec mandoc -T lint {} + |
        grep -v 'input text line longer than 80 bytes' || true
    # The table of checks is what users of all programs look up.
    mandoc -T ascii -O width=80 "$source/src/showstopper-record.5" | col -bx |
        awk '/^[A-Z]/ { verdict = $0 == "VERDICT" } verdict && length > 80 { print "wider than 80 columns: " $0 }'
    grep -h '^\.TH' -r "$source/src" "$source/tools" --include='*.[1357]' | cut -d ' ' -f 4 | sort -u >"$scratch/dates"
    [ "$(wc -l <"$scratch/dates")" -eq 1 ] || echo "pages differ in their dates: $(paste -sd ' ' "$scratch/dates")"
}

PATH=$bin:$PATH
: >"$scratch/absent"
{
    # Terminals that lack these characters omit them: "42 \(mcs" becomes "42 s".
    find "$source/src" "$source/tools" "$source/modules" -name '*.[1357]' \
        -exec grep -nHE '\\\((mc|S[123]|de|Po|Eu)|\\\[u' {} + || true
    # Pages are installed in any folder, and without the source.
    find "$source/src" "$source/tools" -name '*.[1357]' -exec grep -nHE '/usr/local|tools/experiments/' {} + |
        grep -vE '^[^:]*:[0-9]*:\.\\"' || true
    ! command -v mandoc >/dev/null || lint "$1"
    ! command -v cmake >/dev/null || check_modules_page "$(realpath "$1")"
    check_modules_of "$source/src/showstopper.1"
    for document in README.md CONTRIBUTING.md ARCHITECTURE.md SECURITY.md modules/README.md \
        tests/README.md tools/experiments/README.md; do
        check_paths "$source/$document"
    done
    [ ! -x "$1/bin/sslab" ] || check_catalogue "$source/tools/ssbatch/showstopper-catalogue.5" "$1/bin"
    [ ! -x "$1/bin/sslab" ] || check_experiments "$source/tools/python/sslab.1"
    while read -r page programs; do
        read -ra commands <<<"$programs"
        # Programs whose libraries are missing are not built.
        if [ ! -x "$1/bin/${commands[0]%%:*}" ]; then
            echo "${commands[0]%%:*}" >>"$scratch/absent"
            continue
        fi
        programs=("${commands[@]/:/ }")
        : >"$scratch/defaults"
        for command in "${programs[@]}"; do
            # shellcheck disable=SC2086 # a program and its command
            if ! $command --help >"$scratch/help" 2>&1; then
                echo "$command --help fails: $(tail -n 1 "$scratch/help")"
                continue 2
            fi
            options_of "$command" | sed -n 's/ .*//p' >>"$scratch/defaults"
        done
        for command in "${programs[@]}"; do
            check "$command" "$source/$page" "$scratch/defaults"
        done
        # check_experiments does this for the page of sslab, which also describes options of experiments.
        [ "$page" = tools/python/sslab.1 ] || check_tags "$source/$page" "${programs[@]}"
    done <<'END'
src/showstopper.1 showstopper
tools/ssactuate/ssactuate.1 ssactuate
tools/ssantagonist/ssantagonist.1 ssantagonist:plan ssantagonist:answer ssantagonist:watch ssantagonist:codes ssantagonist:suspects
tools/ssbatch/ssbatch.1 ssbatch
tools/ssburn/ssburn.1 ssburn ssburn:kernel ssburn:serve
tools/ssfleet/ssfleet.1 ssfleet
tools/ssload/ssload.1 ssload
tools/ssplatform/showstopper-platform.1 showstopper-platform
tools/ssprofile/ssprofile.1 ssprofile:measure ssprofile:compare ssprofile:calibrate ssprofile:predict ssprofile:verify ssprofile:sweep ssprofile:portability
tools/python/sslab.1 sslab:line sslab:pairs sslab:value
tools/python/ssreport.1 ssreport
tools/ssrequest/ssrequest.1 ssrequest
tools/sssim/sssim.1 sssim sssim:queue sssim:fleet
tools/sstrace/sstrace.1 sstrace
END
} >"$scratch/found"
[ ! -s "$scratch/found" ] || { cat "$scratch/found" >&2; exit 1; }
[ ! -s "$scratch/absent" ] || skip_part "left-out: built without $(paste -sd ' ' "$scratch/absent")"
command -v mandoc >/dev/null || skip_part "mandoc: not installed, so the pages were not checked by it"
command -v cmake >/dev/null || skip_part "cmake: not installed, so the page of modules was not made again"
