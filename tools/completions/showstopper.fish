# SPDX-License-Identifier: Apache-2.0
# Completions of Showstopper's programs for fish: generated from their --help by tools/completions/generate.

# __showstopper_run PROGRAM ARGUMENT...: runs a program from the folder of the one that is completed, else from PATH.
function __showstopper_run
    set -l completed (commandline -opc)[1]
    set -l program $argv[1]
    if string match -q '*/*' -- $completed; and test -x (dirname -- $completed)/$program
        set program (dirname -- $completed)/$program
    end
    command $program $argv[2..] 2>/dev/null
end

# __showstopper_rest MODE OPTION...: prints the command to which the current word belongs, without that word, and fails
# outside of one. It begins after -- or, if MODE is command, with the first word that is no option. OPTION... have values.
function __showstopper_rest
    set -l tokens (commandline -opc)
    set -e tokens[1]
    while set -q tokens[1]
        if test "$tokens[1]" = --
            string escape -- $tokens[2..]
            return 0
        else if not string match -q -- '-*' $tokens[1]
            if test $argv[1] = command
                string escape -- $tokens
                return 0
            end
        else if contains -- $tokens[1] $argv[2..]
            set -q tokens[2]; or return 1 # the current word is its value
            set -e tokens[1]
        end
        set -e tokens[1]
    end
    test $argv[1] = command; and not string match -q -- '-*' (commandline -ct)
end

function __showstopper_command
    complete -C (string join ' ' -- (__showstopper_rest $argv) (commandline -ct))
end

# The current value: without --NAME= before it.
function __showstopper_current
    string replace -r -- '^--[a-z-]+=' '' (commandline -ct)
end

# __showstopper_list WORD...: words separated by commas.
function __showstopper_list
    set -l before (string match -r -- '.*,' (__showstopper_current))
    printf '%s\n' "$before"$argv
end

function __showstopper_modules
    __showstopper_run showstopper --list-modules | string replace -rf "^$argv[1]/(\S+) +" '$1\t'
end

# __showstopper_options KIND DEFAULT: MAIN,name=value,... of the module that the command line chooses.
function __showstopper_options
    set -l kind $argv[1]
    set -l letter (string sub -l 1 $kind)
    set -l module $argv[2]
    set -l tokens (commandline -opc)
    for i in (seq (count $tokens))
        switch $tokens[$i]
            case -$letter --$kind
                set -q tokens[(math $i + 1)]; and set module $tokens[(math $i + 1)]
            case "--$kind=*"
                set module (string replace -- --$kind= '' $tokens[$i])
        end
    end
    set -l before (string match -r -- '.*,' (__showstopper_current))
    set -l first yes
    __showstopper_run showstopper --help-module $kind/$module | awk '
        function row() {
            words = match(text, /one of: [^;]*/) ? substr(text, RSTART + 8, RLENGTH - 8) : ""
            if (name != "") print name " " words
        }
        /^  [^ ]/ { row(); name = $1; text = ""; next }
        /^      / { line = $0; sub(/^ +/, " ", line); text = text line }
        END { row() }' | while read -l name words
        set name (string split -m 1 = -- $name)
        printf '%s\n' "$before$name[1]="
        printf '%s\n' "$before$name[1]="(string split -n ' ' -- $words)
        # The first option may come without its name.
        if test $first = yes -a -z "$before"
            printf '%s\n' (string split -n ' ' -- $words)
            test "$name[2]" = FILE; and __fish_complete_path (__showstopper_current)
        end
        if test "$name[2]" = FILE
            for path in (__fish_complete_path (string replace -r -- '^.*=' '' (__showstopper_current)))
                printf '%s\n' "$before$name[1]=$path"
            end
        end
        set first no
    end
end

# KNOB=LEVEL of ssactuate.
function __showstopper_knobs
    __showstopper_run ssactuate list | string match -r '^[a-z]+  +[^ ]+' | while read -l knob levels
        set levels (string trim -- $levels)
        test "$levels" = absent:; and continue
        printf '%s\n' $knob=
        set levels (string replace -r -- '\[.*' '' $levels)
        printf '%s\n' $knob=(string match -rg -- '^([a-z][a-z-]*)' (string split '|' -- $levels))
    end
end

function __showstopper_workloads
    __showstopper_run sslab line --list-workloads | string replace -r ' .*' ''
end
