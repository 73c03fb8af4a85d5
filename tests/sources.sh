# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests/run.sh and by tests that compare something with the files of the tree.

# list_sources TREE: prints the files of the tree: those that git tracks, even if the tree is another user's; without a
# repository, as in a source tarball, all but those of builds. Fails if there is a repository that git cannot read.
list_sources() (
    cd "$1" || return
    if [ -e .git ]; then
        git -c safe.directory='*' ls-files | sort -u
    else
        find . \( -path './build*' -o -name '.git' \) -prune -o ! -type d -printf '%P\n' | sort
    fi
)
