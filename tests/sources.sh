# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests/run.sh and by tests that compare something with the files of the tree.

# list_tracked TREE: prints what git tracks, even if the tree is another user's. Fails if git does not work there.
list_tracked() {
    [ -e "$1/.git" ] && git -c safe.directory='*' -C "$1" ls-files 2>/dev/null
}

# list_sources TREE: prints the files that git tracks and that exist. If git does not work, as in a source tarball,
# prints all files but those of builds.
list_sources() {
    local file
    { list_tracked "$1" || find "$1" \( -path "$1/build*" -o -name .git \) -prune -o ! -type d -printf '%P\n'; } |
        while read -r file; do
            [ ! -e "$1/$file" ] || echo "$file"
        done | sort -u
}
