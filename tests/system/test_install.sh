#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `cmake --install` installs everything that was built, and all documents. An installation can be moved.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=../sources.sh
. "$here/../sources.sh"

need_built showstopper-platform ../libexec/showstopper/showstopper-replay ssactuate ssbatch ssprofile ssreport ssrequest
need cmake cc pkg-config
usual=$PATH
"$here/install" "$build" "$scratch/all" >"$scratch/log" 2>&1 || fail "$(tail -n 5 "$scratch/log")"

# names FOLDER [EXPRESSION...]: prints the files below a folder, one per line, and marks executables.
names() {
    (cd "$1" && find . \( -type f -o -type l \) "${@:2}" -printf '%P %m\n') |
        sed -E 's/ [0-7]*[1357][0-7]*$/ */; s/ [0-7]+$//' | sort
}

# same WHAT: fails unless `expected` and `installed` have the same lines.
same() {
    diff "$scratch/expected" "$scratch/installed" >&2 || fail "$1: missing (<) or unexpected (>) files are installed"
}

# same_files FOLDER INSTALLED [EXPRESSION...]: fails unless the folder INSTALLED has the files of FOLDER.
same_files() {
    names "$1" "${@:3}" >"$scratch/expected"
    names "$scratch/all/$2" "${@:3}" >"$scratch/installed"
    same "$2"
}

# page_names FOLDER...: prints the names of all manual pages below these folders.
page_names() {
    find "$@" \( -name 'build*' -o -name '.?*' \) -prune -o -name '*.[1-9]' -printf '%f\n' | sort
}

same_files "$build/bin" bin
same_files "$build/libexec" libexec
same_files "$source/include" include
same_files "$source/tools/ssprofile/batteries" share/showstopper/batteries

# pip and CMake install the same commands.
sed -n 's/ = "showstopper[.]cli:.*//p' "$source/pyproject.toml" | grep -vx showstopper-analysis >"$scratch/commands"
[ -s "$scratch/commands" ] || fail "pyproject.toml has no commands"
while read -r command; do
    [ "$("$scratch/all/bin/$command" --version)" = "$command $("$bin/showstopper" --version | cut -d ' ' -f 2)" ] ||
        fail "$command is not installed"
done <"$scratch/commands"

{ page_names "$source/src" "$source/tools" && (cd "$build" && ls ./*.[1-9]) | sed 's,^\./,,'; } | sort -u >"$scratch/expected"
page_names "$scratch/all/share/man" >"$scratch/installed"
same "manual pages"
while read -r page; do
    [ -e "$scratch/all/share/man/man${page##*.}/$page" ] || fail "$page is in the folder of another section"
done <"$scratch/installed"

modules=$(dirname "$(dirname "$(find "$build" -path "$build/examples" -prune -o -path '*/feedback/own.so' -print)")")
names "$modules" | cut -d ' ' -f 1 >"$scratch/expected" # only built modules are executable
names "$scratch/all/${modules#"$build/"}" >"$scratch/installed"
same modules

{ names "$source/tools/experiments" -not -name '*.[1-9]' -not -name '*.examples' && printf "%s\n" nine-means.txt nine-steps.txt; } | sort >"$scratch/expected"
names "$scratch/all/share/showstopper/experiments" >"$scratch/installed"
same experiments

same_files "$source/tools/python/showstopper" share/showstopper/analysis/showstopper -not -path '*/__pycache__/*'
if grep -q '^SHOWSTOPPER_PYTHON_FOUND:INTERNAL=.' "$build/CMakeCache.txt"; then
    sed -n 's/[.]py$//p' "$scratch/installed" | sort >"$scratch/expected"
    names "$scratch/all/share/showstopper/analysis/showstopper" -path '*/__pycache__/*' |
        sed 's,__pycache__/,,; s/[.][^.]*[.]pyc$//' | sort >"$scratch/installed"
    same "the compiled Python package"
fi

# A cross build generates no completions.
if [ -e "$build/completions/rows" ]; then
    same_files "$build/completions/bash" share/bash-completion/completions
    same_files "$build/completions/zsh" share/zsh/site-functions
    same_files "$build/completions/fish" share/fish/vendor_completions.d
else
    skip_part "left-out: completions were not built"
    ! find "$scratch/all" -path '*completion*' -o -name site-functions | grep . >&2 || fail "completions were installed"
fi

{
    list_sources "$source" | grep '^[^/]*\.md$'
    (cd "$source" && printf "%s\n" LICENSE traces/* tutorials/*.{md,sh})
    (cd "$source/tools" && ls schemas/*)
    printf '%s\n' packaging/readme/replay.svg packaging/readme/terminal.svg {modules,tests,tools/experiments{,/env}}/README.md
} | sort >"$scratch/expected"
names "$scratch"/all/share/doc/* >"$scratch/installed"
same documents
(cd "$scratch"/all/share/doc/* && find . -name '*.md' -print0 | while IFS= read -r -d '' file; do
    { grep -o ']([^)#:]*[)#]' "$file" || true; } | sed 's/^](//; s/.$//' | while read -r link; do
        [ -e "$(dirname "$file")/$link" ] || echo "$file: $link"
    done
done) >"$scratch/broken"
[ ! -s "$scratch/broken" ] || fail "links to files that are not installed: $(<"$scratch/broken")"

# The components, installed one by one, must add up to the complete installation.
: >"$scratch/installed"
for part in core tools python analysis sdk documents; do
    "$here/install" "$build" "$scratch/$part" "$part" >"$scratch/log" 2>&1 ||
        fail "$part: $(tail -n 5 "$scratch/log")"
    names "$scratch/$part" >>"$scratch/installed"
done
sort -o "$scratch/installed" "$scratch/installed"
names "$scratch/all" >"$scratch/expected"
same parts
[ "$(ls "$scratch/sdk")" = $'include\nshare' ] || fail "sdk: $(ls "$scratch/sdk")"
"$scratch/core/bin/showstopper" --list-modules >"$scratch/listed" || fail "the core does not run alone"

# An installed tree must work without the build tree.
PATH=$scratch/all/bin:$PATH
showstopper --list-modules >"$scratch/listed"
grep -q "^feedback/own " "$scratch/listed" || fail "modules: $(<"$scratch/listed")"

# check_order FOLDER: checks that scripts find other programs as the caller does, even if our folder, which is
# in PATH, has programs of these names, as /usr/bin may.
check_order() {
    mkdir first
    ln -s "$(type -P awk)" first/awk
    printf '%s\n' '#!/bin/sh' 'echo hidden >&2' 'exit 1' >"$1/bin/awk"
    chmod +x "$1/bin/awk"
    printf '%s\n' 'run one takes 1s' 'main -- awk 1 /dev/null' >plan
    PATH=$PWD/first:$PATH "$1/bin/sslab" throughput --plan -- true >output 2>&1 || fail "order: sslab: $(<output)"
    PATH=$PWD/first:$PATH ssfleet run --engine local --nodes a ordered plan >output 2>&1 ||
        fail "order: ssfleet: $(<output)"
    rm "$1/bin/awk"
}

# check_moved FOLDER: checks that an installed tree works at another path, which contains a space.
check_moved() {
    local tree=$1 flags path cpu
    env -i PATH="$usual" "$tree/bin/showstopper" --list-modules | diff "$scratch/listed" - >&2 ||
        fail "moved: other modules"
    cd "$scratch"
    showstopper -n 1 -f own -l 50% --duration 300m --record record sh -c "exec yes >/dev/null" >output 2>&1 || fail "moved: $(<output)"
    showstopper --replay record >output 2>&1 || fail "moved: --replay: $(<output)"
    sslab line serial >output 2>&1 || fail "moved: catalogue: $(<output)"
    # CPU 0, the default, may not be available.
    cpu=$(first_cpu)
    ! ssprofile measure --cpu "$cpu" --battery own --benchmarks none profile >output 2>&1 ||
        fail "moved: an unknown benchmark is accepted"
    grep -q "has no benchmark 'none'" output || fail "moved: batteries: $(<output)"
    sssim --foreground serial --iteration 50m --record simulated >output 2>&1 || fail "moved: sssim: $(<output)"
    ssreport -o report simulated >output 2>&1 || fail "moved: ssreport: $(<output)"
    "$tree/libexec/showstopper/analysis" ssreport --check simulated >output 2>&1 || fail "moved: analysis: $(<output)"
    grep -q '^simulated/.*: valid: ' output || fail "moved: analysis: $(<output)"
    ! grep 'no published figures' output || fail "moved: ssreport does not find published figures"
    printf '%s\n' set,method,error_mean_percent 1,pi-even,0 >report/replay.csv
    "$tree/share/showstopper/experiments/published/compare" report >output 2>&1 || fail "moved: compare: $(<output)"
    "$tree/bin/sslab" throughput --plan -- true >output 2>&1 || fail "moved: sslab: $(<output)"
    grep -q "^run " output || fail "moved: experiments: $(<output)"
    printf '%s\n' 'run one takes 1s' 'main -- true' >plan
    ssfleet run --engine local --nodes a study plan >output 2>&1 || fail "moved: ssfleet: $(<output)"
    [ -s study/one/run.json ] || fail "moved: ssfleet: $(<output)"
    check_order "$tree"

    # Modules can be built with pkg-config and with the CMake package.
    cp "$source/modules/control/geom.c" mine.c
    PKG_CONFIG_PATH=$tree/share/pkgconfig
    export PKG_CONFIG_PATH
    flags=$(pkg-config --cflags showstopper) || fail "moved: pkg-config"
    eval "cc -shared -fPIC $flags -o mine.so mine.c" || fail "moved: no module can be compiled with $flags"
    showstopper --dry-run -l 50% -c ./mine.so true >output 2>&1 || fail "moved: $(<output)"
    path=$(pkg-config --variable=moduledir showstopper)
    [ -e "$(eval "echo $path")/control/geom.so" ] || fail "moved: moduledir is $path"
    mkdir project
    cp mine.c project
    cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(mine C)
find_package(showstopper 1.0 REQUIRED)
if(NOT EXISTS ${showstopper_MODULE_DIR}/control/geom.so)
    message(FATAL_ERROR "showstopper_MODULE_DIR is ${showstopper_MODULE_DIR}")
endif()
add_library(mine MODULE mine.c)
target_link_libraries(mine PRIVATE showstopper::sdk)
END
    { cmake -S project -B made -DCMAKE_PREFIX_PATH="$tree" && cmake --build made; } >output 2>&1 ||
        fail "moved: CMake package: $(tail -n 20 output)"
    showstopper --dry-run -l 50% -c ./made/libmine.so true >output 2>&1 || fail "moved: $(<output)"
}

# The tree works after a move: no text contains the build, source or installation folder. A path such as /work or /app
# may be part of another.
folders=(-e "$scratch")
for folder in "$build" "$source"; do
    [[ $folder != /*/* ]] || folders+=(-e "$folder")
done
if grep -rIlF "${folders[@]}" "$scratch/all" >&2; then
    fail "these files name a folder of this machine"
fi
mkdir "$scratch/moved here"
mv "$scratch/all" "$scratch/moved here/tree"
(PATH="$scratch/moved here/tree/bin:$usual" && check_moved "$scratch/moved here/tree")

# DESTDIR precedes the prefix, and the target `uninstall` removes only what was installed. A separate build folder is
# used, because other tests install from $build at the same time.
CFLAGS="-g -fno-plt -ffile-prefix-map=/a=/b" \
    cmake -S "$source" -B "$scratch/own" -DCMAKE_INSTALL_PREFIX=/opt/tree -DBUILD_TESTING=OFF \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_INSTALL_BINDIR=elsewhere \
    -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON >"$scratch/log" 2>&1 || fail "$(tail -n 5 "$scratch/log")"
grep -q '^SHOWSTOPPER_HARDEN:BOOL=ON' "$scratch/own/CMakeCache.txt" ||
    fail "the build type of distributions, None, is not hardened"
grep -q '^-- No pkg-config' "$scratch/log" || fail "cmake does not say that pkg-config is missing: $(<"$scratch/log")"
grep kernel_text.c "$scratch/own/compile_commands.json" | tr -d '\\"' >"$scratch/kernel"
grep -q 'KERNEL_FLAGS=-fno-plt -O2 ' "$scratch/kernel" || fail "other flags of kernels: $(<"$scratch/kernel")"
! cmake -S "$source" -B "$scratch/data" -DCMAKE_INSTALL_DATADIR=lib/data >"$scratch/log" 2>&1 ||
    fail "another folder for data is accepted"
grep -q 'CMAKE_INSTALL_DATADIR is lib/data, but must be share' "$scratch/log" || fail "DATADIR: $(<"$scratch/log")"
! grep -r elsewhere --include=cmake_install.cmake "$scratch/own" >&2 || fail "programs do not stay together"
export DESTDIR="$scratch/root [1]"
! cmake --build "$scratch/own" --target uninstall >"$scratch/log" 2>&1 || fail "uninstalled what was not installed"
(umask 022 && mkdir -p "$DESTDIR/opt/tree/share")
chmod 711 "$DESTDIR/opt/tree/share"
for part in sdk documents python; do
    (umask 077 && cmake --install "$scratch/own" --component "$part") >"$scratch/log" 2>&1 ||
        fail "$(tail -n 5 "$scratch/log")"
done
# The umask does not keep other users out, and existing folders keep their permissions.
[ "$(find "$DESTDIR/opt" -type d ! -perm 755 -printf '%m %P\n')" = "711 tree/share" ] ||
    fail "permissions of folders: $(find "$DESTDIR/opt" -type d -printf '%m %P\n')"
names "$DESTDIR/opt/tree" >"$scratch/installed"
names "$scratch/sdk" >"$scratch/expected"
names "$scratch/documents" >>"$scratch/expected"
names "$scratch/python" >>"$scratch/expected"
sort -o "$scratch/expected" "$scratch/expected"
same "DESTDIR"
echo mine >"$DESTDIR/opt/tree/share/showstopper/mine"
# Another version of Python may have compiled the package, too.
find "$DESTDIR" -name __pycache__ -exec touch {}/other.cpython-39.pyc \;
# An earlier installation of everything, elsewhere, is removed with the components.
echo /opt/earlier >"$scratch/own/install_manifest.txt"
touch "$DESTDIR/opt/earlier"
cmake --build "$scratch/own" --target uninstall >"$scratch/log" 2>&1 || fail "uninstall: $(tail -n 5 "$scratch/log")"
names "$DESTDIR" | grep -vx opt/tree/share/showstopper/mine >"$scratch/left" &&
    fail "uninstall left files: $(<"$scratch/left")"
[ -e "$DESTDIR/opt/tree/share/showstopper/mine" ] || fail "uninstall removed a file that it had not installed"
[ "$(find "$DESTDIR" -name showstopper)" = "$DESTDIR/opt/tree/share/showstopper" ] ||
    fail "uninstall left folders: $(find "$DESTDIR" -name showstopper)"
