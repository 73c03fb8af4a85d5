#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bash, zsh and fish complete all options and values of the programs.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
completions=$build/completions
export PATH=$build/bin:$PATH HOME=$scratch/home XDG_CONFIG_HOME=$scratch/home XDG_DATA_HOME=$scratch/home
export XDG_DATA_DIRS=$scratch/share:/usr/local/share:/usr/share XDG_CACHE_HOME=$scratch/home TMPDIR=$scratch
unset ZDOTDIR BASH_ENV ENV
programs='showstopper ssload ssburn sssim ssbatch ssfleet ssactuate ssantagonist sstrace ssprofile ssreport ssrequest
    showstopper-platform'

[ -e "$completions/rows" ] || skip "left-out: completions were not built"
# shellcheck disable=SC2086 # a word for each
need_built $programs
mkdir -p "$scratch/home/fish" "$scratch/share/bash-completion" "$scratch/share/fish" "$scratch/folder/records"
ln -s "$completions/bash" "$scratch/share/bash-completion/completions"
ln -s "$completions/fish" "$scratch/share/fish/vendor_completions.d"
touch "$scratch/folder/trace.txt"

# A line as typed, where \t is the tab key, and the words that the command gets.
cat >"$scratch/cases" <<'END'
showstopper --dith\t stag\t | <--dithering><stagger>
showstopper -t stairc\t -T hold=1s,sym\tn\t | <-t><staircase><-T><hold=1s,symmetric=no>
showstopper -t fil\t -T tra\t | <-t><file><-T><trace.txt>
showstopper -t file -T path=tra\t | <-t><file><-T><path=trace.txt>
showstopper --control=rb\t | <--control=rbpid>
showstopper -l 50% -f realt\t -F cou\trat\t | <-l><50%><-f><realtime><-F><count=ratio>
showstopper -F cou\t | <-F><cou>
showstopper --help-mo\t dithering/ave\t | <--help-module><dithering/averageq>
showstopper --progress=ne\t | <--progress=never>
showstopper -l 50% -- /bin/ech\t | <-l><50%><--></bin/echo>
showstopper -l 50% ssbur\t | <-l><50%><ssburn>
showstopper --json=tra\t | <--json=trace.txt>
ssload -i 1s --form\t cs\t | <-i><1s><--format><csv>
ssload --tar\t tra\t | <--target><trace.txt>
ssburn kern\t long-d\t | <kernel><long-double>
ssburn ser\t | <ser>
ssburn serv\t --spr\t exp\t | <serve><--spread><exponential>
sssim que\t --arr\t pois\t | <queue><--arrival><poisson>
ssfleet replay --engine=loc\t --assign ha\t | <replay><--engine=local><--assign><hash>
ssactuate ru\t pi\tfr\t | <run><pin=free>
sstrace --from google-201\t1\t | <--from><google-2011>
sstrace --split rec\t | <--split><records>
ssrequest --prof\t st\t --requ\t tra\t | <--profile><step><--requests-file><trace.txt>
ssantagonist pl\t --dep\t | <plan><--depth>
showstopper-platform --ro\t | <--root>
ssprofile calib\t --qua\t | <calibrate><--quantum>
ssreport --leave-o\t doub\t rec\t | <--leave-out><doubtful><records>
END

# type_in SHELL CASES COMMAND...: types the lines of CASES into this shell, and compares the words that commands get. Skips
# the case without the shell, or without a terminal to type in.
type_in() {
    local shell=$1 cases=$2 out=$scratch/$1.out
    shift 2
    command -v "$shell" >/dev/null || skip "$shell: not installed"
    command -v python3 >/dev/null || skip "python3: not installed"
    (: <>/dev/ptmx) 2>/dev/null || skip "terminal: cannot open a pseudo-terminal"
    sed 's/ *|.*//' "$cases" >"$scratch/typed"
    sed -n 's/.*| *//p' "$cases" >"$scratch/expected"
    : >"$out"
    (cd "$scratch/folder" && OUT=$out timeout "$((2 * patience))" python3 "$here/type_in_shell" "$patience" "$out" "$@" \
        <"$scratch/typed") || fail "$shell ended early: $(cat "$out")"
    sed -i 's,/>,>,g' "$out" # shells differ in whether they keep a folder's slash
    diff "$scratch/expected" "$out" >&2 || fail "$shell: the words on the left (<) were expected"
}

# replace_programs: prints functions for bash and zsh that write the words of a command in place of the programs.
replace_programs() {
    local program
    for program in $programs; do
        echo "$program() { printf '<%s>' \"\$@\" >>\"\$OUT\"; echo >>\"\$OUT\"; }"
    done
}

bash_completes_without_its_package() { # case
    { echo "PS1='ready>'; . '$completions/bash/showstopper'" && replace_programs; } >"$scratch/bashrc"
    type_in bash "$scratch/cases" bash --noprofile --rcfile "$scratch/bashrc" -i
}

bash_completes_with_its_package() { # case
    local package=/usr/share/bash-completion/bash_completion # finds our files by the name of the command
    [ -e "$package" ] || skip "bash-completion: not installed"
    { echo "PS1='ready>'; . $package" && replace_programs; } >"$scratch/bashrc"
    cat "$scratch/cases" - >"$scratch/more" <<'END'
showstopper -q -T steady=1 ssburn par\t | <-q><-T><steady=1><ssburn><parallel>
showstopper -l 50% -- ssload --format=cs\t | <-l><50%><--><ssload><--format=csv>
END
    type_in bash "$scratch/more" bash --noprofile --rcfile "$scratch/bashrc" -i
}

zsh_completes_programs_options_and_values() { # case
    {
        echo "PROMPT='ready>'"
        echo "fpath=('$completions/zsh' \$fpath)"
        echo "autoload -U compinit; compinit -u -d '$scratch/dump'"
        replace_programs
    } >"$scratch/home/.zshrc"
    cat "$scratch/cases" - <<<'showstopper -q ssburn par\t | <-q><ssburn><parallel>' >"$scratch/more"
    type_in zsh "$scratch/more" zsh -i
}

fish_completes_programs_options_and_values() { # case
    {
        echo "function fish_prompt; printf 'ready>'; end"
        echo "set fish_greeting"
        for program in $programs; do
            echo "function $program; printf '<%s>' \$argv >>\$OUT; echo >>\$OUT; end"
        done
    } >"$scratch/home/fish/config.fish"
    cat "$scratch/cases" - <<<'showstopper -q ssburn par\t | <-q><ssburn><parallel>' >"$scratch/more"
    type_in fish "$scratch/more" fish -i
}

# offered WORD...: prints the completions that bash offers for the last of these words.
offered() {
    # shellcheck disable=SC2016 # the other bash expands it
    bash --norc -c '. "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE=$*; _showstopper "$1"
        printf "%s\n" "${COMPREPLY[@]}"' "$completions/bash/showstopper" "$@"
}

# in_help COMMAND...: prints the options that --help lists.
in_help() {
    "$@" --help | sed -nE 's/^  ((-.,|   ) )?(--[a-z0-9-]+).*/\3/p' | sort -u
}

every_option_is_completed() { # case
    local -a words
    while read -ra words; do
        in_help "${words[@]}" >"$scratch/help"
        [ -s "$scratch/help" ] || fail "${words[*]} --help lists no option"
        offered "${words[@]}" -- | sort -u >"$scratch/offered"
        diff "$scratch/help" "$scratch/offered" >&2 || fail "bash: ${words[*]}"
        while read -r option; do
            grep -q -- "-l ${option#--} " "$completions/fish/${words[0]}.fish" || fail "fish: ${words[*]} $option"
            grep -qF -e "${option}[" -e "$option=[" -e "$option}" -e "$option=}" "$completions/zsh/_showstopper" ||
                fail "zsh: ${words[*]} $option"
        done <"$scratch/help"
    done < <(awk -F '\t' '$3 != "" { print $1 }' "$completions/rows" | sort -u | while read -r program command; do
        [ ! -x "$build/bin/$program" ] || echo "$program $command"
    done)
}

experiments_are_completed() { # case
    [[ $(offered sslab inter) = interference ]] || fail "experiments are not completed: $(offered sslab inter)"
    [ "$(offered sslab interference --placements neutral,per-c)" = $'neutral,per-chip\nneutral,per-core' ] ||
        fail "placements are not completed"
    [ "$(offered sslab accuracy --workloads serial,block)" = serial,blocking ] || fail "workloads are not completed"
    [ "$(offered sslab accuracy --methods cdc,ge)" = $'cdc,geom-even\ncdc,geom-uneven' ] ||
        fail "methods are not completed"
}

run_cases
