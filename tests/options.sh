# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by scripts with options.

# refuse TEXT...
refuse() {
    echo "${0##*/}: $*: see --help" >&2
    exit 2
}

operands=()
takes_operands=''                             # yes if words without -- are allowed
flags=' quick steps stat list install unit ' # options without a value

# take_options NAME... -- ARG...: sets the variable NAME from "--NAME VALUE", or to yes from --NAME if NAME is a flag.
# The caller defines `usage`. Other words go to `operands`, those after -- as well.
take_options() {
    local names=() name
    while [ "$1" != -- ]; do
        names+=("$1")
        shift
    done
    shift
    while [ $# -gt 0 ]; do
        name=${1#--}
        case $1 in
        --help) usage && exit ;;
        --)
            [[ $# -gt 1 && $takes_operands ]] || refuse "-- requires a command"
            operands+=("${@:2}")
            return
            ;;
        -*) [[ " ${names[*]} " = *" $name "* ]] || refuse "$1: unknown option" ;;
        *)
            [ -n "$takes_operands" ] || refuse "$1: unexpected word"
            operands+=("$1")
            shift
            continue
            ;;
        esac
        if [[ $flags = *" $name "* ]]; then
            printf -v "$name" yes
            shift
            continue
        fi
        [ $# -gt 1 ] || refuse "$1 requires a value"
        printf -v "$name" %s "$2"
        shift 2
    done
}

# check_numbers NAME...: fails unless these options are positive numbers.
check_numbers() {
    local name
    for name; do
        [[ ${!name} =~ ^[1-9][0-9]*$ ]] || refuse "--$name requires a positive number"
    done
}
