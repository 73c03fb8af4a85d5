#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

usage() {
    cat <<END
Usage: tests/bench/mutants.sh [OPTION]...
Changes one place of the code at a time, and runs the tests that could detect it: the unit tests of the room, then all
unit tests that are linked with it, then the replays of fuzz corpora and the process tests (src and modules) or the
system tests of the tool. Long tests are not run. The code is built in a copy of the tree.
Prints each mutant that no test has found, and a table by room. Exits with status 1 if less than 90 % of the mutants in
src and modules were found, or less than 85 % of those in tools.

  --count N     mutants that compile without a warning; default $count
  --seed N      selects the places; default $seed
  --in LIST     folders and files; default $in
  --limit SEC   of a stage of tests; a unit test that exceeds it has found the mutant; default $limit
  --jobs N      compilers and tests at a time; default the number of CPUs
  --preset NAME release does not detect what only sanitizers do; default $preset
  --unit        run only the unit tests of the room, which need the smallest build
  --list        print the mutants and end
  --work DIR    folder of the copy, which the next call reuses; default $work
  --help        print this help

Changes are: comparison, arithmetic and logical operators, constants by one, and removed statements.
END
}

count=200 seed=1 in=src,modules,tools limit=300 jobs=$(nproc) preset=asan-ubsan unit='' list='' \
    work=$source/build-mutants
take_options count seed in limit jobs preset unit list work -- "$@"
tree=$work/tree build=$work/tree/build-$preset
[ "$preset" != release ] || build=$work/tree/build

# Prints the places in random order, in the columns of mutants.awk.
choose_places() {
    local files
    # The skeleton of a module is not built.
    mapfile -t files < <(find ${in//,/ } -name '*.[ch]' ! -name skeleton.c | sort)
    awk -v seed="$seed" -f tests/bench/mutants.awk "${files[@]}" | sort -g | cut -f 2-
}

# list_files FOLDER: prints the checksum and the name of each file.
list_files() {
    find "$1" \( -name 'build*' -o -name .git \) -prune -o -type f -printf '%P\n' | (cd "$1" && xargs -r -d '\n' md5sum)
}

# only_in LIST OTHER: prints the names of the files in LIST that OTHER does not have, or with other contents.
only_in() {
    comm -23 <(sort "$1") <(sort "$2") | cut -c 35-
}

# Copies only files that differ, so that ninja builds little.
copy_tree() {
    mkdir -p "$tree"
    list_files "$source" >"$work/new"
    list_files "$tree" >"$work/old"
    cd "$tree"
    only_in "$work/old" "$work/new" | xargs -r -d '\n' rm
    (cd "$source" && only_in "$work/new" "$work/old" | xargs -r -d '\n' cp --parents -t "$tree")
}

# make TARGET...: fails if the mutant does not compile.
make() {
    ninja -C "$build" -j "$jobs" "$@" >"$work/build.log" 2>&1
}

# change FILE LINE COLUMN LENGTH NEW
change() {
    cp "$1" "$work/original"
    awk -v line="$2" -v column="$3" -v length_="$4" -v new="$5" \
        'NR == line { $0 = substr($0, 1, column - 1) new substr($0, column + length_) } 1' "$work/original" >"$1"
}

# restore FILE: undoes change.
restore() {
    cp "$work/original" "$1"
}

# folders_of FILE: prints the folders of unit tests that belong to the file's room.
folders_of() {
    local room
    case $1 in
    modules/*) echo modules && return ;;
    tools/common/*) room=${1#tools/} room=${room%/*} ;;
    *) room=${1#*/} room=${room%%/*} ;;
    esac
    if [ -d "tests/unit/$room" ]; then
        echo "$room"
    else
        awk -v room="$room" '{ for (i = 2; i <= NF; i++) if ($i == room) print substr($1, 1, length($1) - 1) }' \
            tests/unit/rooms.txt
    fi
}

# own_tests FILE: prints the test programs of these folders.
own_tests() {
    local folder
    for folder in $(folders_of "$1"); do
        find "tests/unit/$folder" -name 'test_*.c' | sed 's|.*/\(.*\)\.c|unit_\1|'
    done | sort
}

# healthy_tests FILE: prints the test programs that pass without a mutant, one per line.
healthy_tests() {
    local key own
    key=$work/healthy.$(folders_of "$1" | tr '\n' _)
    if [ ! -e "$key" ]; then
        mapfile -t own < <(own_tests "$1")
        [ "${#own[@]}" -eq 0 ] || make "${own[@]}" || fail "the tree does not compile: see $work/build.log"
        for program in "${own[@]}"; do
            [ -n "$(run_unit "$program")" ] || echo "$program"
        done >"$key"
    fi
    cat "$key"
}

# run_unit PROGRAM...: prints the name of a test program that fails; nothing if all pass.
run_unit() {
    [ "$#" -gt 0 ] || return 0
    printf '%s\n' "$@" | xargs -P "$jobs" -I {} bash -c "$try" "$limit" "$build/tests/{}" 2>/dev/null | head -n 1
}

# shellcheck disable=SC2016 # a script
try='status=0
    timeout -k 5 "$0" "$1" >/dev/null 2>&1 </dev/null || status=$?
    case $status in 0 | 77) ;; *) echo "${1##*/}"; exit 255 ;; esac # ends xargs'

# wide_tests FILE: prints arguments with which ctest selects the tests of whole programs.
wide_tests() {
    case $1 in
    tools/common/*) echo "-R ^fuzz\\." ;;
    tools/ssactuate/*) echo "-R ^(fuzz\\.|system\\.(ssactuate|instances)\\.)" ;;
    tools/ssburn/serve/*) echo "-R ^(fuzz\\.|system\\.serve)" ;;
    tools/ssguest/*) echo "-R ^process\\.guest" ;;
    tools/ssplace/*) echo "-R ^(process|system)\\.place" ;;
    tools/ssreplay/*) echo "-R ^process\\.(files|record)" ;;
    tools/ssload/*) echo "-R ^(fuzz\\.|process\\.ssload|system\\.ssload)" ;;
    tools/*) sed -E 's|tools/([a-z]*).*|-R ^(fuzz\\.\|system\\.(tools_)?\1)|' <<<"$1" ;;
    *) echo "-L process|fuzz" ;;
    esac
}

# run_ctest ARG...: writes a line "STATUS NAME" per test to the file `results`. With --foreground, Ctrl+C also ends
# the tests; ctest ends them at the limit.
run_ctest() {
    timeout --foreground -k 5 "$limit" ctest --test-dir "$build" -j $((4 * jobs)) -LE 'long|death|timing|alone' --timeout "$limit" \
        "$@" </dev/null 2>/dev/null |
        sed -n -E 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) [ .]*([A-Za-z*]+).*/\2 \1/p' >"$work/results" || true
}

# find_in_programs FILE: sets `found` to a test of whole programs that fails only with the mutant.
find_in_programs() {
    local words healthy
    read -ra words < <(wide_tests "$1")
    healthy=$work/healthy.$(tr -c 'a-z\n' _ <<<"${words[*]}")
    if [ ! -e "$healthy" ]; then
        restore "$1"
        make all || fail "$1: the original does not compile: see $work/build.log"
        run_ctest "${words[@]}"
        sed -n 's/^Passed //p' "$work/results" >"$healthy"
        change "${mutant[@]}"
        make all
    fi
    [ -s "$healthy" ] || return 0
    run_ctest --stop-on-failure -R "^($(sed 's/\./\\./g' "$healthy" | paste -s -d '|'))\$"
    found=$(grep -v -E '^(Passed|\*\*\*Skipped) ' "$work/results" | sed 's/.* //' | head -n 1 || true)
}

# find_mutant FILE: sets `found` to a test that finds the mutant, or to "". Fails if the mutant does not compile.
find_mutant() {
    local own all
    found=
    healthy_tests "$1" >/dev/null
    mapfile -t own < <(healthy_tests "$1")
    change "${mutant[@]}"
    if [ "${#own[@]}" -gt 0 ]; then
        make "${own[@]}" || return
        found=$(run_unit "${own[@]}")
        [ -z "$found" ] || return 0
    elif [ -n "$unit" ]; then
        return 1 # no target compiles this line
    fi
    [ -z "$unit" ] || return 0
    # Builds the original first, so that only programs with the mutant are newer than the mark.
    restore "$1"
    make all || fail "$1: the original does not compile: see $work/build.log"
    touch "$work/mark"
    sleep 0.1
    change "${mutant[@]}"
    make all || return
    mapfile -t all < <(find "$build/tests" -name 'unit_test_*' -newer "$work/mark" -printf '%f\n' |
        sort | comm -23 - <(printf '%s\n' "${own[@]}"))
    found=$(run_unit "${all[@]}")
    [ -n "$found" ] || find_in_programs "$1"
}

# Reads "ROOM found" and "ROOM survived".
print_table() {
    sort | awk '
        function row(name, found, all) {
            printf "%-28s %6d %6d %7.1f %%\n", name, found, all, 100 * found / all
        }
        BEGIN { printf "%-28s %6s %6s %9s\n", "room", "found", "all", "share" }
        {
            room = $1
            if (!(room in all)) rooms[++count] = room
            side = room ~ /^tools/ ? "tools" : "src and modules"
            all[room]++; all[side]++
            if ($2 == "found") { found[room]++; found[side]++ }
        }
        END {
            for (i = 1; i <= count; i++) row(rooms[i], found[rooms[i]], all[rooms[i]])
            bar["src and modules"] = 0.9; bar["tools"] = 0.85
            for (side in bar)
                if (all[side]) {
                    row(side, found[side], all[side])
                    if (found[side] < bar[side] * all[side]) low = 1
                }
            exit low
        }'
}

# end_leftovers: kills processes that outlived their tests. They would take CPU time from the tests of the next mutant.
end_leftovers() {
    local environment
    for environment in /proc/[0-9]*/environ; do
        ! grep -qsz "^SS_TEST_MUTANTS=$$\$" "$environment" || kill -KILL "${environment//[!0-9]/}" 2>/dev/null || true
    done
}

# Prints a mutant in readable form.
describe() {
    local line code
    line=$(sed -n "$2p" "$1")
    read -r code <<<"$line"
    echo "$1:$2: ${line:$3 - 1:$4} -> ${5:-nothing}: $code"
}

if [ -n "$list" ]; then
    cd "$source"
    choose_places | head -n "$count" | while IFS=$'\t' read -r kind file line column length new; do
        echo "$kind $(describe "$file" "$line" "$column" "$length" "$new")"
    done
    exit
fi
copy_tree
choose_places >"$work/places"
[ -e "$build/build.ninja" ] || cmake --preset "$preset" -G Ninja -DSHOWSTOPPER_WERROR=ON \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG" >"$work/build.log" 2>&1 || fail "cmake failed: see $work/build.log"
export SS_TEST_MUTANTS=$$ # marks the tests
trap end_leftovers EXIT
: >"$work/outcomes"
: >"$work/log"
rm -f "$work"/healthy.*
done=0
while IFS=$'\t' read -r kind file line column length new && [ "$done" -lt "$count" ]; do
    mutant=("$file" "$line" "$column" "$length" "$new")
    described="$kind $(describe "${mutant[@]}")"
    if find_mutant "$file" </dev/null; then
        done=$((done + 1))
        room=$(cut -d / -f 1-2 <<<"${file/tools\/common\//tools/common:}")
        echo "${room/:/\/} $([ -n "$found" ] && echo found || echo survived)" >>"$work/outcomes"
        if [ -n "$found" ]; then
            echo "found     $described ($found)" >>"$work/log"
        else
            echo "survived  $described"
        fi
    fi
    restore "$file"
    end_leftovers
done <"$work/places"
print_table <"$work/outcomes"
