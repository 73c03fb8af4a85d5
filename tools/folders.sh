# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by shell programs, to read, write and remove files although another user may own a part of their path, or
# rename it meanwhile. A path is walked one name at a time, and each name is judged before it is followed. After that,
# programs use the folder that was found, as the working folder or as an open one, but not its path. ssfleet sends these
# functions to nodes.

# is_trusted UID: succeeds for the caller and root. In a user namespace, all users that it lacks look like 65534.
is_trusted() {
    [ "$1" -eq "$EUID" ] || [ "$1" -eq 0 ] || return
    [ "$1" -ne 65534 ] || grep -qw 4294967295 /proc/self/uid_map
}

user_name() {
    id -un "$1" 2>/dev/null || echo "user $1"
}

# is_settled: succeeds if nobody else can replace a file or link of the caller or of root in the working folder. In a
# user namespace, / may belong to a user that the namespace lacks.
is_settled() {
    local uid mode
    read -r uid mode <<<"$(stat -c '%u %f' .)"
    { is_trusted "$uid" || [ . -ef / ]; } && { [ $((0x$mode & 022)) -eq 0 ] || [ $((0x$mode & 01000)) -ne 0 ]; }
}

# walk PATH [MKDIR]: enters the folder of the last name of a path, and sets `last` to this name, which is not a link,
# and `about` to what stat prints about it; empty if it does not exist. Fails, and prints why, at links that another
# user has made or could have moved there. MKDIR: a command that makes missing folders. Call it in a subshell.
walk() {
    local rest=$1 shown='' links=0 uid mode inode target error
    last=. about=''
    [[ $rest != /* ]] || { shown=/ && cd /; } || return
    while [ -n "$rest" ]; do
        last=${rest%%/*}
        if [[ $rest = */* ]]; then rest=${rest#*/}; else rest=''; fi
        [ -n "$last" ] || { last=. && continue; }
        about=$(stat -c '%u %f %h %d:%i' -- "./$last" 2>/dev/null) || about=''
        if [ -z "$about" ]; then
            [ -n "$rest" ] || return 0
            [ -n "${2-}" ] || { echo "$shown$last: No such file or directory" && return 1; }
            # shellcheck disable=SC2086 # a command and its options
            error=$($2 -- "./$last" 2>&1) || [ -d "./$last" ] || { echo "$shown$last: ${error##*: }" && return 1; }
            about=$(stat -c '%u %f %h %d:%i' -- "./$last") || return
        fi
        read -r uid mode _ inode <<<"$about"
        if [ $((0x$mode & 0170000)) -eq $((0120000)) ]; then
            is_trusted "$uid" || [ . -ef / ] ||
                { echo "$shown$last is a link of $(user_name "$uid"): name its target" && return 1; }
            is_settled || { echo "$shown$last is a link that other users can replace: name its target" && return 1; }
            [ $((links += 1)) -le 40 ] || { echo "$shown$last: Too many levels of symbolic links" && return 1; }
            target=$(readlink -n -- "./$last" && echo /) || return
            target=${target%/}
            [[ $target != /* ]] || { shown=/ && cd /; } || return
            rest=$target${rest:+/$rest} last=.
        elif [ -z "$rest" ]; then
            return 0
        else
            # If the name has become a link meanwhile, this is not the folder that was judged.
            { cd -P -- "./$last" && [ "$(stat -c %d:%i .)" = "$inode" ]; } 2>/dev/null ||
                { echo "cannot enter $shown$last, or it was replaced meanwhile" && return 1; }
            shown+=$last/
        fi
    done
}

# judge FILE SHOWN: fails, and prints why, unless the file or folder belongs to the caller or root, has one name, and
# nobody else may write to it. SHOWN: its path in messages.
judge() {
    local about uid mode links user
    about=$(stat -c '%u %f %h' -- "$1" 2>&1) || { echo "$2: ${about##*: }" && return 1; }
    read -r uid mode links <<<"$about"
    user=$(user_name "$uid")
    if [ $((0x$mode & 0170000)) -eq $((0120000)) ]; then
        echo "$2 is a link: name its target"
    elif ! is_trusted "$uid"; then
        echo "$2 belongs to $user, whose commands $(user_name "$EUID") would run: use sudo -u $user"
    elif [ $((0x$mode & 022)) -ne 0 ]; then
        echo "$2: other users may write to it: check it, then run chmod go-w $(printf %q "$2")"
    elif [ "$links" -ne 1 ] && [ ! -d "$1" ]; then
        echo "$2 has another name (a hard link): copy it"
    else
        return 0
    fi
    return 1
}

# hold FOLDER: opens a folder that only the caller and root may change, and sets `held` to a path that leads to it,
# in this process and its children, whatever happens to its name. Fails, and sets `why`.
# shellcheck disable=SC2034 # for the caller
hold() {
    local opened
    { exec {opened}<"$1/."; } 2>/dev/null || { why="cannot open $1" && return 1; }
    why=$(walk "$1/." && {
        [ . -ef "/proc/self/fd/$opened/." ] || { echo "$1 was replaced meanwhile" && false; }
    } && judge . "$1") || { exec {opened}<&- && return 1; }
    held=/proc/self/fd/$opened
}

# make_folder FOLDER [MODE]: creates a folder. Fails, and prints why.
make_folder() (
    error=$(walk "$1" && mkdir ${2:+-m "$2"} -- "./$last" 2>&1) ||
        { echo "cannot create $1: ${error#mkdir: *: }" && exit 1; }
)

# make_path FOLDER: creates a folder, and those above it, unless they exist. Fails, and prints why.
make_path() (
    walk "$1/." mkdir
)

# inside FOLDER COMMAND...: carries out a command in a folder.
inside() (
    walk "$1/." >&2 && "${@:2}"
)

# is_fixed: fails, and prints why, unless only the caller and root can exchange what is in the working folder, or a
# folder above.
is_fixed() (
    while is_settled; do
        [ ! . -ef .. ] || exit 0
        cd .. || exit
    done
    echo "other users can replace folders in $(pwd -P)"
    exit 1
)

# fixed_path FOLDER: prints the real path of a folder, for programs that cannot use an open one. Fails, and prints why,
# unless only the caller and root may change the folder, and exchange it or one above.
fixed_path() (
    local path error
    walk "$1/." && judge . "$1" || exit
    path=$(pwd -P)
    error=$(cd .. && is_fixed) || { echo "$1: $error" && exit 1; }
    echo "$path"
)

# print_file FILE: prints a file. Fails unless it is a regular one with one name: another user may have made a link, or
# a pipe that nobody writes to.
print_file() (
    local uid bits links inode
    walk "$1" >&2 || exit
    # shellcheck disable=SC2034 # a file of any user
    read -r uid bits links inode <<<"$about"
    if [ -z "$about" ]; then
        echo "$1: No such file or directory" >&2
    elif [ $((0x$bits & 0170000)) -ne $((0100000)) ] || [ "$links" -ne 1 ]; then
        echo "$1: not a regular file, or it has another name (a hard link)" >&2
    elif exec <"./$last" && [ "$(stat -c '%h %d:%i' -)" = "1 $inode" ]; then
        exec cat
    else
        echo "cannot read $1, or it was replaced meanwhile" >&2
    fi
    exit 1
)

# can_write FILE: fails, and prints why, if a file cannot be written, or replaced through a link of another user.
can_write() (
    walk "$1" || exit
    if [ -n "$about" ]; then
        [ -w "./$last" ] && [ ! -d "./$last" ]
    else
        [ -w . ]
    fi || { echo "cannot write $1" && exit 1; }
)

# write_whole FILE COMMAND...: writes the output of a command to a file, whole or not at all. Replaces an earlier file,
# or the target of a link. Copies the mode of a file of the caller, without write permissions for others that the umask
# forbids. Writes to devices and pipes directly.
write_whole() (
    local text uid bits links inode permissions='' new
    text=$("${@:2}" && echo .) || exit
    text=${text%.}
    [[ ! $1 =~ ^/(dev|proc/self)/(std(out|err)|fd/[0-9]+)$ ]] || { printf %s "$text" >>"$1" && exit || exit; }
    walk "$1" >&2 || exit
    read -r uid bits links inode <<<"$about"
    if [ -d "./$last" ]; then
        echo "$1: Is a directory" >&2
        exit 1
    elif [ -n "$about" ] && [ $((0x$bits & 0170000)) -ne $((0100000)) ]; then
        if ! is_trusted "$uid" || ! is_settled; then
            echo "$1: another user may have made this device or pipe" >&2
            exit 1
        fi
        printf %s "$text" >>"./$last" && exit || exit
    fi
    [[ $uid != "$EUID" || $links != 1 ]] || permissions=$(printf %o $((0x$bits & 0777 & ~(022 & $(umask)))))
    new=.$(</proc/sys/kernel/random/uuid)
    trap 'rm -f -- "./$new"' EXIT
    (
        set -C # creates the file, or fails
        {
            [ -z "$permissions" ] || chmod "$permissions" /proc/self/fd/1
            printf %s "$text"
        } >"./$new"
    ) && mv -T -- "./$new" "./$last"
)
