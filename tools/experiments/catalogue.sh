#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: workloads by name.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

catalogue=''           # files named by --catalogue, each followed by a :
list_workloads=''      # --list-workloads
declare -A entries=()  # by NAME:KEY, the value; by NAME:at.KEY, its FILE:LINE
catalogue_names=()     # in the order in which they are listed

# parse_catalogue FILE: prints NAME, KEY, FILE:LINE and VALUE of each entry, separated by tabs. A line that
# cannot be parsed is an error, so that a misspelled key is noticed; then nothing but the error is printed.
parse_catalogue() {
    awk -v file="$1" '
        function refuse(why, line) {
            print file ":" (line ? line : NR) ": " why >"/dev/stderr"
            bad = 1
            exit 1
        }
        function check(key, value) {
            if (value == "")
                refuse(key ": a value is wanted")
            if (key == "repeat" && value !~ /^(yes|no)$/)
                refuse("repeat: " value ": yes or no is wanted")
            if ((key == "warmup" || key == "stop") && value !~ /^[0-9]+(\.[0-9]+)?(n|u|m|s|M|h|d|ns|us|ms|min)?$/)
                refuse(key ": " value ": a time is wanted, as 20s")
            if (key == "memory" && value !~ /^[1-9][0-9]*[kKmMgG]?$/)
                refuse("memory: " value ": a size is wanted, as 512M")
            if (key == "scratch" && value !~ /^[A-Za-z0-9._{}-]+$/)
                refuse("scratch: " value ": the name of a folder is wanted")
            if (key == "scratch" && (!index(value, "{side}") || !index(value, "{instance}")))
                refuse("scratch: " value ": without {side} and {instance} two copies would share a folder")
        }
        function store(    i) {
            if (key == "")
                return
            check(key, value)
            for (i = 1; i <= count; i++)
                parsed = parsed names[i] "\t" key "\t" file ":" at "\t" value "\n"
            key = ""
        }
        function end_section() {
            store()
            if (count && !("command" in seen))
                refuse("[" names[1] "]: no command", heading)
        }
        BEGIN {
            split("command iteration repeat warmup scratch memory setup stop note needs", list, " ")
            for (i in list)
                known[list[i]] = 1
        }
        { sub(/[ \t\r]+$/, "") }
        /^#/ || $0 == "" {
            store()
            next
        }
        /^[ \t]/ {
            if (key == "")
                refuse("a line that begins with a blank continues a value: there is none")
            sub(/^[ \t]+/, "")
            value = value " " $0
            next
        }
        { store() }
        /^\[.*\]$/ {
            # Consecutive headings share a section.
            if (heading != NR - 1) {
                end_section()
                count = 0
            }
            added = split(substr($0, 2, length($0) - 2), new, " ")
            if (!added)
                refuse("[]: a name is wanted")
            for (i = 1; i <= added; i++)
                names[++count] = new[i]
            for (i = count - added + 1; i <= count; i++) {
                if (names[i] !~ /^[A-Za-z0-9][A-Za-z0-9._+-]*(\/[A-Za-z0-9._+-]+)*$/)
                    refuse(names[i] ": letters, digits and ._+-/ are wanted in a name")
                if (names[i] in known_names)
                    refuse(names[i] ": it stands in line " known_names[names[i]] ", too")
                known_names[names[i]] = NR
            }
            delete seen
            heading = NR
            next
        }
        /^[a-z]+[ \t]*=/ {
            key = value = $0
            sub(/[ \t]*=.*/, "", key)
            sub(/^[a-z]+[ \t]*=[ \t]*/, "", value)
            at = NR
            if (!(key in known))
                refuse(key ": unknown key: see README.md")
            if (!count)
                refuse(key ": it stands above the first [NAME]")
            if (key in seen)
                refuse(key ": a second one in this section")
            seen[key] = 1
            next
        }
        { refuse("neither [NAME] nor KEY = VALUE") }
        END {
            if (!bad)
                end_section()
            if (!bad)
                printf "%s", parsed
        }' "$1"
}

# The files, in the order in which they are searched: --catalogue, the environment, the user, the shipped one.
catalogue_files() {
    local file files
    IFS=: read -ra files <<<"$catalogue"
    for file in "${files[@]}"; do
        [ -r "$file" ] || fail "--catalogue: $file: it cannot be read"
        echo "$file"
    done
    IFS=: read -ra files <<<"${SHOWSTOPPER_CATALOGUE-}"
    for file in "${files[@]}"; do
        [ -z "$file" ] || [ -r "$file" ] || fail "SHOWSTOPPER_CATALOGUE: $file: it cannot be read"
        [ -z "$file" ] || echo "$file"
    done
    file=${HOME-}/.config/showstopper/workloads
    [ ! -r "$file" ] || echo "$file"
    echo "$here/workloads"
}

# Sets `entries` and `catalogue_names`. The first file that has a section for a name defines it alone.
read_catalogue() {
    local files file parsed name key at value
    local -A taken=() here_now
    files=$(catalogue_files) || exit 1
    while read -r file; do
        here_now=()
        parsed=$(parse_catalogue "$file" 2>&1) || fail "$parsed"
        while IFS=$'\t' read -r name key at value; do
            if [ -z "$name" ] || [ -n "${taken[$name]-}" ]; then
                continue
            fi
            [ -n "${here_now[$name]-}" ] || catalogue_names+=("$name")
            here_now[$name]=1
            entries[$name:$key]=$value
            entries[$name:at.$key]=$at
        done <<<"$parsed"
        for name in "${!here_now[@]}"; do
            taken[$name]=1
        done
    done <<<"$files"
}

# entry NAME KEY: prints the value, if there is one.
entry() {
    printf '%s\n' "${entries[$1:$2]-}"
}

is_workload() {
    [ -n "${entries[$1:command]-}" ]
}

# is_users NAME: whether it is the name of the command behind --.
is_users() {
    [ ${#user_command[@]} -gt 0 ] && [ "$1" = "$name" ]
}

# forget NAME: removes the catalogue's entries of a name that the command behind -- has.
forget() {
    local key
    for key in command iteration repeat warmup scratch memory setup stop note needs; do
        unset "entries[$1:$key]"
    done
}

# file_name WORKLOAD: as part of a file's name.
file_name() {
    echo "${1//\//.}"
}

# expand_variables WORD [PERCENT]: sets `expanded`, the word with the values of $NAME in it, capitals only.
# What stands in a value for a % is PERCENT.
expand_variables() {
    local rest=$1 percent=${2-%} name value
    expanded=
    while [[ $rest =~ \$([A-Z][A-Z0-9_]*) ]]; do
        name=${BASH_REMATCH[1]}
        value=${!name-}
        expanded+=${rest%%"\$$name"*}${value//%/"$percent"}
        rest=${rest#*"\$$name"}
    done
    expanded+=$rest
}

# missing NAME: prints what a workload needs and this machine lacks; fails if everything is there. The program
# that it runs is needed, even if `needs` does not say so.
missing() {
    local need lacks='' expanded name needs program
    needs=$(entry "$1" needs)
    read -r program _ <<<"${entries[$1:command]-}"
    [[ ! $program =~ ^[A-Za-z0-9._/+-]+$ || " $needs " = *" $program "* ]] || needs+=" $program"
    for need in $needs; do
        expand_variables "$need"
        name=${need#\$}
        if [[ $need =~ ^\$[A-Z][A-Z0-9_]*$ ]] && [ -z "${!name-}" ]; then
            lacks+=", $need is not set"
        elif [[ $expanded = */* ]]; then
            [ -e "$expanded" ] || lacks+=", no file $expanded"
        else
            command -v -- "$expanded" >/dev/null || lacks+=", no $expanded"
        fi
    done
    [ -n "$lacks" ] || return 1
    echo "${lacks#, }"
}

# A line of at most 80 columns for each workload.
list_catalogue() {
    local name lacks note
    for name in "${catalogue_names[@]}"; do
        note=$(entry "$name" note)
        if lacks=$(missing "$name"); then
            [[ $note != unfit:* ]] || lacks+="; unfit"
            printf '%-28s missing  %s\n' "$name" "$lacks"
        else
            printf '%-28s ready%s\n' "$name" "${note:+    $note}"
        fi
    done | awk '{ print (length($0) > 80 ? substr($0, 1, 77) "..." : $0) }'
}

# check_names OPTION NAME...: whether these workloads are known and can run; warns of those that are unfit.
check_names() {
    local word lacks note option=$1
    [ $# -gt 1 ] || fail "--$option wants something: see --help"
    for word in "${@:2}"; do
        ! is_users "$word" || continue
        is_workload "$word" || fail "--$option: $word: no such workload: see --list-workloads"
        split_command "$word" >/dev/null
        if lacks=$(missing "$word"); then
            [ -n "$dry_run" ] || fail "--$option: $word cannot be run here: $lacks"
            say "$word cannot be run here: $lacks"
        fi
        note=$(entry "$word" note)
        [[ $note != unfit:* ]] || say "Warning: $word is $note"
    done
}

# warn_of_warmup NAMES: separated by commas or blanks; warns of those that need more warm-up than the study has.
warn_of_warmup() {
    local word time
    for word in ${1//,/ }; do
        time=$(entry "$word" warmup)
        [ -n "$time" ] || continue
        [[ $time =~ [a-z]$ || $time =~ M$ ]] || time+=s
        [ "$(compute "$(in_seconds "$time") > $warmup")" = 0 ] ||
            say "Warning: $word takes $time to warm up, longer than --warmup"
    done
}

# counts_iterations NAME: whether the iterations of a workload can be counted.
counts_iterations() {
    local counts
    counts=$(entry "$1" iteration)$(entry "$1" repeat)
    ! is_users "$1" || counts=$iteration$repeat
    [[ -n $counts && $counts != no ]]
}

# warn_of_counting NAME...: of workloads whose iterations cannot be counted, so that they have no throughput.
warn_of_counting() {
    local word
    for word; do
        counts_iterations "$word" ||
            say "Warning: $word has no throughput: only --iteration or --repeat counts its iterations"
    done
}

# memory_of NAME ROLE
memory_of() {
    local option=${2:+$2_}memory
    if [ -n "${!option-}" ]; then
        echo "${!option}"
    elif [ -n "$memory" ]; then
        echo "$memory"
    else
        entry "$1" memory
    fi
}

# scratch_of NAME ROLE INSTANCE: prints the folder of an instance; each copy has one of its own.
scratch_of() {
    local form
    form=$(entry "$1" scratch)
    : "${form:="{side}-{instance}"}"
    form=${form//"{side}"/${2:-alone}}
    echo "$scratch/data/${form//"{instance}"/"$3"}"
}

# fill TEXT NAME ROLE INSTANCE SCRATCH: sets `filled`, the text with its templates replaced. An INSTANCE of
# % is for showstopper, which puts the index there and a % in place of %%.
fill() {
    local file=${entries[$2:at.command]-} folder
    file=${file%:*}
    filled=${1//"{scratch}"/"$5"}
    filled=${filled//"{side}"/"${3:-alone}"}
    filled=${filled//"{instance}"/"$4"}
    filled=${filled//"{memory}"/"$(memory_of "$2" "$3")"}
    filled=${filled//"{name}"/"${2##*/}"}
    if [[ $filled = *"{here}"* ]]; then
        folder=$(cd -- "$(dirname -- "$file")" && pwd)
        [ "$4" != % ] || folder=${folder//%/%%}
        filled=${filled//"{here}"/"$folder"}
    fi
}

# split_command NAME: prints the words of its command, a line each.
split_command() {
    xargs printf '%s\n' <<<"${entries[$1:command]}" 2>/dev/null ||
        fail "${entries[$1:at.command]}: command: a quote is not closed"
}

# take_entry NAME ROLE: sets `words` and `counting` from the catalogue. showstopper puts the instance's
# index in place of %.
take_entry() {
    local parts part filled expanded folder iteration_of
    folder=$(scratch_of "$1" "$2" %)
    folder=${scratch//%/%%}${folder#"$scratch"}
    keep_definition "$1"
    parts=$(split_command "$1")
    words=()
    while IFS= read -r part; do
        fill "$part" "$1" "$2" % "$folder"
        if [[ $filled = *"{work}"* ]]; then
            filled=${filled//"{work}"/"$(work_of "${1##*/}" "$(memory_of "$1" "$2")")"}
        fi
        expand_variables "$filled" %%
        words+=("$expanded")
    done <<<"$parts"
    [ "${words[0]}" != ssburn ] || [ -z "$(memory_of "$1" "$2")" ] ||
        words+=(--memory "$(memory_of "$1" "$2")")
    iteration_of=$(entry "$1" iteration)
    [ -z "$iteration_of" ] || counting+=(--iteration "$iteration_of")
    [ "$(entry "$1" repeat)" != yes ] || counting+=(--repeat)
    [ -z "$(entry "$1" stop)" ] || counting+=(--grace "$(entry "$1" stop)")
}

# keep_definition NAME: all runs of a folder use the same definition of a name.
keep_definition() {
    local file now key
    file=$output/workload.$(file_name "$1")
    now=$(for key in command iteration repeat setup memory; do
        echo "$key = $(entry "$1" "$key")"
    done)
    if [ ! -e "$file" ]; then
        echo "$now" >"$file.new"
        put_in_place "$file"
    elif [ "$(cat "$file")" != "$now" ]; then
        fail "$1 is defined in another way than in the runs of $output; choose another --output"
    fi
}

# set_up NAME ROLE INSTANCE: prepares the instance's folder before it starts.
set_up() {
    local folder filled text
    folder=$(scratch_of "$1" "$2" "$3")
    text=$(entry "$1" setup)
    [ -n "$text" ] || return 0
    fill "$text" "$1" "$2" "$3" "$folder"
    (cd "$folder" && exec "${guard[@]}" sh -c "$filled") >"$scratch/setup.out" 2>&1 ||
        fail "${entries[$1:at.setup]}: setup of $1 failed: $(tail -n 1 "$scratch/setup.out")"
}
