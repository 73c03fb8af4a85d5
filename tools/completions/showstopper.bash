# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2207 # completions are words
# Completions of Showstopper's programs for bash: generated from their --help by tools/completions/generate.
# Works with and without the package bash-completion.

# _showstopper_run PROGRAM ARGUMENT...: runs a program from the folder of the one that is completed, else from PATH.
_showstopper_run() {
    local program=$1
    shift
    [[ $completed != */* || ! -x ${completed%/*}/$program ]] || program=${completed%/*}/$program
    command "$program" "$@" 2>/dev/null
}

# _showstopper_offer PREFIX WORDS: offers those of the words that continue `current` after PREFIX.
_showstopper_offer() {
    COMPREPLY+=($(compgen -P "$1" -W "$2" -- "${current#"$1"}"))
}

# _showstopper_paths PREFIX ACTION: offers files or, with -d, folders.
_showstopper_paths() {
    local path
    compopt -o filenames 2>/dev/null
    while read -r path; do
        COMPREPLY+=("$1$path")
    done < <(compgen "$2" -- "${current#"$1"}")
}

# _showstopper_list PREFIX WORDS: like _showstopper_offer, for words separated by commas.
_showstopper_list() {
    local before=${current#"$1"}
    [[ $before == *,* ]] && before=${before%,*}, || before=
    _showstopper_offer "$1$before" "$2"
}

# _showstopper_modules KIND: prints the names of its modules.
_showstopper_modules() {
    _showstopper_run showstopper --list-modules | sed -n "s,^$1/\([^ ]*\) .*,\1,p"
}

# _showstopper_module_options KIND/NAME: prints the options of a module, each as name=TYPE and its words.
_showstopper_module_options() {
    _showstopper_run showstopper --help-module "$1" | awk '
        /^  [^ ]/ { if (name != "") print name, words(text); name = $1; text = ""; next }
        /^      / { line = $0; sub(/^ +/, " ", line); text = text line }
        END { if (name != "") print name, words(text) }
        function words(text) {
            if (!match(text, /one of: [^;]*/)) return ""
            return substr(text, RSTART + 8, RLENGTH - 8)
        }'
}

# _showstopper_options PREFIX KIND/NAME: offers MAIN,name=value,... of a module.
_showstopper_options() {
    local given=${current#"$1"} before='' item name words
    [[ $given != *,* ]] || before=${given%,*},
    item=${given#"$before"}
    while read -r name words; do
        if [[ $item == "${name%%=*}="* ]]; then
            [ "${name#*=}" != FILE ] || _showstopper_paths "$1$before${name%%=*}=" -f
            _showstopper_offer "$1$before${name%%=*}=" "$words"
        elif [[ $item != *=* ]]; then
            _showstopper_offer "$1$before" "${name%%=*}="
            # The first option may come without its name.
            [[ -n $before || -n $first_read ]] || _showstopper_offer "$1" "$words"
            [[ -n $before || -n $first_read || ${name#*=} != FILE ]] || _showstopper_paths "$1" -f
        fi
        local first_read=yes
    done < <(_showstopper_module_options "$2")
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
}

# _showstopper_value PREFIX KIND WORDS: offers values of an option.
_showstopper_value() {
    case $2 in
    words) _showstopper_offer "$1" "$3" ;;
    list) _showstopper_list "$1" "$3" ;;
    file) _showstopper_paths "$1" -f ;;
    folder) _showstopper_paths "$1" -d ;;
    formats) _showstopper_offer "$1" "$formats" ;;
    module)
        _showstopper_offer "$1" "$(_showstopper_modules "${3%% *}")"
        [[ ${current#"$1"} != */* ]] || _showstopper_paths "$1" -f
        ;;
    options) _showstopper_options "$1" "${3%% *}/${module[${3%% *}]:-${initial[${3%% *}]-}}" ;;
    help-module) _showstopper_offer "$1" "$(_showstopper_run showstopper --list-modules | sed 's/ .*//')" ;;
    pid) _showstopper_list "$1" "$(cd /proc && printf '%s ' [0-9]*)" ;;
    run) _showstopper_offer "$1" "$(pgrep -x showstopper)" ;;
    workload) _showstopper_offer "$1" "$(_showstopper_run sslab line --list-workloads | sed 's/ .*//')" ;;
    workloads) _showstopper_list "$1" "$(_showstopper_run sslab line --list-workloads | sed 's/ .*//')" ;;
    esac
}

# _showstopper_levels: offers KNOB=LEVEL of ssactuate.
_showstopper_levels() {
    local knob levels
    while read -r knob levels _; do
        [ "$levels" != absent: ] || continue
        if [[ $current == "$knob="* ]]; then
            _showstopper_offer "$knob=" "$(tr '|' '\n' <<<"${levels%%[*}" | sed -n 's/^\([a-z][a-z-]*\).*/\1/p')"
        else
            _showstopper_offer '' "$knob="
            compopt -o nospace 2>/dev/null
        fi
    done < <(_showstopper_run ssactuate list | grep -E '^[a-z]+  ')
}

# _showstopper_words: sets `words`, the words before the current one, and `current`. In COMP_WORDS, = and : are words.
_showstopper_words() {
    local rest=$COMP_LINE word joined i
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        joined=yes
        while [[ $rest == [[:space:]]* ]]; do
            rest=${rest#?}
            joined=
        done
        rest=${rest#"$word"}
        if [ "$i" -gt 0 ] && [ "$joined" ] && [ "$word" ]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
    done
    current=${words[${#words[@]} - 1]}
    unset "words[$((${#words[@]} - 1))]"
}

# _showstopper_command INDEX: completes the word as a part of the command that begins at this word.
_showstopper_command() {
    if declare -F _command_offset >/dev/null; then
        # COMP_WORDS counts = and : as words, too.
        local i word=0 rest=0
        for ((i = 0; i < $1; i++)); do
            rest=${words[i]}
            while [ -n "$rest" ]; do
                rest=${rest#"${COMP_WORDS[word]}"}
                word=$((word + 1))
            done
        done
        _command_offset "$word"
    elif [ "$1" -eq "${#words[@]}" ]; then
        COMPREPLY=($(compgen -c -- "$current"))
    else
        _showstopper_paths '' -f
    fi
}

# _showstopper_read SECTION: reads the rows of a program or of one of its commands.
_showstopper_read() {
    local letter name count kind rest
    commands='' formats='' operand=file all=''
    while read -r letter name count kind rest; do
        case $letter in
        commands) commands=$rest ;;
        formats) formats=$rest ;;
        operand) operand=$kind ;;
        *)
            all+=" $name"
            counts[$name]=$count
            kinds[$name]=$kind
            rests[$name]=$rest
            [ "$letter" = - ] || long[-$letter]=$name
            case $kind in module) initial[${rest%% *}]=${rest#* } ;; esac
            ;;
        esac
    done < <(_showstopper_rows "$1")
}

# _showstopper_walk: finds the option whose value is the current word, `option`, or else the first other word, `at`.
_showstopper_walk() {
    local word name
    while [ "$at" -lt "${#words[@]}" ]; do
        word=${words[at]}
        name=${word%%=*}
        [[ $word == --* ]] || name=${long[$word]-}
        case $word in
        --)
            marked=yes
            at=$((at + 1))
            return
            ;;
        --*=*) _showstopper_note "$name" "${word#*=}" ;;
        -?*)
            if [ "${counts[${name:-none}]-0}" -gt 0 ]; then
                _showstopper_note "$name" "${words[at + 1]-}"
                [ $((at + counts[$name])) -lt "${#words[@]}" ] || option=$name
                at=$((at + counts[$name]))
            fi
            ;;
        *) [ "$operand" != command ] || return 0 ;;
        esac
        at=$((at + 1))
    done
}

# _showstopper_note NAME VALUE: stores which module is chosen.
_showstopper_note() {
    [ "${kinds[${1:-none}]-}" != module ] || module[${rests[$1]%% *}]=$2
}

# _showstopper COMMAND: the function of complete.
_showstopper() {
    local completed=$1 program=${1##*/} current at=1 option='' marked='' commands formats operand all
    local -a words
    local -A counts=() kinds=() rests=() long=() module=() initial=()
    COMPREPLY=()
    _showstopper_words
    _showstopper_read "$program"
    if [[ -n ${words[1]-} && " $commands " == *" ${words[1]} "* ]]; then
        at=2
        ! _showstopper_rows "$program ${words[1]}" >/dev/null || _showstopper_read "$program ${words[1]}"
        commands=
    fi
    _showstopper_walk
    if [ -n "$option" ]; then
        _showstopper_value '' "${kinds[$option]}" "${rests[$option]}"
    elif [[ $marked && $operand != file && $operand != kernel ]] || [[ $operand == command && $at -lt ${#words[@]} ]]; then
        _showstopper_command "$at"
        return
    elif [[ $current == --*=* && -z $marked ]]; then
        option=${current%%=*}
        _showstopper_value "$option=" "${kinds[$option]-}" "${rests[$option]-}"
    elif [[ $current == -* && -z $marked ]]; then
        _showstopper_offer '' "$all"
    elif [[ -n $commands && ${#words[@]} -eq 1 ]]; then
        _showstopper_offer '' "$commands"
    else
        case $operand in
        command) _showstopper_command "$at" && return ;;
        knob) _showstopper_levels ;;
        kernel) _showstopper_offer '' "$(_showstopper_run ssburn kernel --list | sed 's/ .*//')" ;;
        *) _showstopper_paths '' -f ;;
        esac
    fi
    # Readline replaces only what follows the last = or :.
    local readline=${COMP_WORDS[COMP_CWORD]} prefix i
    [[ $readline != [=:] ]] || readline=
    prefix=${current%"$readline"}
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]#"$prefix"}
    done
}
