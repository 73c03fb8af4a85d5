# SPDX-License-Identifier: Apache-2.0
# Completions of Showstopper's programs for zsh: generated from their --help by tools/completions/generate.

# _showstopper_call PROGRAM ARGUMENT...: runs a program from the folder of the one that is completed, else from PATH.
_showstopper_call() {
    local program=$1
    shift
    [[ $completed != */* || ! -x ${completed:h}/$program ]] || program=${completed:h}/$program
    command $program "$@" 2>/dev/null
}

# _showstopper_module KIND
_showstopper_module() {
    local -a modules
    modules=(${(f)"$(_showstopper_call showstopper --list-modules | sed -nE "s,^$1/([^ ]*) +(.*),\1:\2,p")"})
    _describe module modules
    [[ $PREFIX != */* ]] || _files
}

_showstopper_help-module() {
    compadd -- ${(f)"$(_showstopper_call showstopper --list-modules | sed 's/ .*//')"}
}

# _showstopper_options KIND DEFAULT: MAIN,name=value,... of the module that the command line chooses.
_showstopper_options() {
    local kind=$1 letter=${1[1]} row name
    local module=${opt_args[-$letter]:-${opt_args[--$kind]:-$2}}
    local -a rows values main
    rows=(${(f)"$(_showstopper_call showstopper --help-module $kind/$module | awk '
        function row() {
            words = match(text, /one of: [^;]*/) ? substr(text, RSTART + 8, RLENGTH - 8) : ""
            if (name != "") print name "\t" words
        }
        /^  [^ ]/ { row(); name = $1; text = ""; next }
        /^      / { line = $0; sub(/^ +/, " ", line); text = text line }
        END { row() }')"})
    for row in $rows; do
        name=${row%%$'\t'*}
        if [[ $name == *=FILE ]]; then
            values+=("${name%%=*}:value:_files")
        elif [[ $row == *$'\t'?* ]]; then
            values+=("${name%%=*}:value:(${row#*$'\t'})")
        else
            values+=("${name%%=*}:value: ")
        fi
    done
    (( $#rows )) || return 1
    # The first option may come without its name.
    if [[ $PREFIX != *[=,]* && ${rows[1]} == *=FILE* ]]; then
        _alternative 'files:file:_files' "options:option:{ _values -s , option ${(q)values[@]} }"
    elif [[ $PREFIX != *[=,]* && ${rows[1]} == *$'\t'?* ]]; then
        main=(${=rows[1]#*$'\t'})
        _values -s , option $values $main
    else
        _values -s , option $values
    fi
}

_showstopper_run() {
    compadd -- ${(f)"$(pgrep -x showstopper)"}
}

_showstopper_workload() {
    compadd -- ${(f)"$(_showstopper_call sslab line --list-workloads | sed 's/ .*//')"}
}

_showstopper_workloads() {
    _sequence _showstopper_workload
}

_showstopper_kernel() {
    compadd -- ${(f)"$(_showstopper_call ssburn kernel --list | sed 's/ .*//')"}
}

# KNOB=LEVEL of ssactuate.
_showstopper_knob() {
    local row knob levels
    local -a knobs words
    for row in ${(f)"$(_showstopper_call ssactuate list | grep -E '^[a-z]+  ')"}; do
        knob=${row%% *} levels=${${row#* }##( )#}
        [[ $levels != absent:* ]] || continue
        if [[ $PREFIX == $knob=* ]]; then
            compset -P '*='
            words=(${(M)${(s:|:)levels%%[\[ ]*}:#[a-z]*})
            compadd -- ${words%%[:@]*}
            return
        fi
        knobs+=($knob)
    done
    compadd -S = -- $knobs
}

_showstopper() {
    local completed=$words[1] section=${words[1]:t} operand marked
    local -a specs commands
    local curcontext=$curcontext state line
    typeset -A opt_args
    _showstopper_specs $section || { _default; return }
    if (( $#commands && CURRENT > 2 )) && [[ -n ${(M)commands:#$words[2]} ]]; then
        _showstopper_specs "$section $words[2]" || _showstopper_specs $section
        commands=()
        shift words
        (( CURRENT-- ))
    fi
    marked=${words[(i)--]}
    if [[ $operand == (command|after|knob) ]] && (( marked < CURRENT )); then
        # The words after -- are a command.
        shift $marked words
        (( CURRENT -= marked ))
        _normal
        return
    fi
    case $operand in
    (command) specs+=('(-)1:command:_command_names -e' '*::argument:_normal') ;;
    (knob) specs+=('*:knob:_showstopper_knob') ;;
    (kernel) specs+=('*:kernel:_showstopper_kernel') ;;
    (*) specs+=('*:file:_files') ;;
    esac
    (( $#commands )) && specs=("1:command:($commands)" $specs)
    _arguments -s -S $specs
}
