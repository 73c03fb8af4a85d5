# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # variables of the caller
# Sourced by packaging/static: builds the libraries of the static programs from Debian's source packages.

libraries=(json-c yajl curl)
sources=$folder/build-sources

# fetch_libraries: unpacks the source of each library into a folder of $sources. They come from the repositories of this
# machine, so apt checks them with its keys.
fetch_libraries() {
    [ ! -e "$sources" ] || return 0
    local new=$sources.new library
    local apt=(own_apt "$new/apt" -o "Dir::Etc::SourceList=$new/apt/sources.list"
        -o "Dir::Etc::SourceParts=$new/apt/sources.list.d")
    rm -rf "$new"
    mkdir -p "$new/apt/lists/partial" "$new/apt/archives/partial"
    cp -r /etc/apt/sources.list* "$new/apt"
    find "$new"/apt/sources.list* -type f -exec \
        sed -Ei 's/^Types:.*/Types: deb-src/; s/^deb(-src)?([[:space:]])/deb-src\2/' {} +
    # Continue if a repository has no sources: the libraries come from others.
    quietly "${apt[@]}" update || true
    (cd "$new" && quietly "${apt[@]}" source --download-only --only-source "${libraries[@]}")
    for library in "${libraries[@]}"; do
        quietly dpkg-source --extract "$new/${library}_"*.dsc "$new/$library"
    done
    mv "$new" "$sources"
}

# build_library NAME OPTION...: builds a library with CMake, and installs it in $prefix.
build_library() {
    cmake -S "$sources/$1" -B "$build/$1" "${options[@]}" -DCMAKE_INSTALL_PREFIX="$prefix" \
        -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF "${@:2}"
    cmake --build "$build/$1" --parallel "$(nproc)"
    cmake --install "$build/$1"
}

# build_yajl: builds the parser without yajl's own build, which always links a shared library, too.
build_yajl() {
    local files=("$sources"/yajl/src/yajl{,_alloc,_buf,_encode,_lex,_parser}.c)
    mkdir -p "$build/yajl" "$prefix/include/yajl"
    cp "$sources"/yajl/src/api/*.h "$prefix/include/yajl"
    (cd "$build/yajl" &&
        "$compiler" "${flags[@]}" -O2 -DNDEBUG -c -I "$prefix/include" "${files[@]}" &&
        "$architecture-linux-gnu-ar" rcs "$prefix/lib/libyajl.a" ./*.o)
    printf '%s\n' "Name: yajl" "Description: JSON parser" "Version: 2" "Cflags: -I$prefix/include" \
        "Libs: -L$prefix/lib -lyajl" >"$prefix/lib/pkgconfig/yajl.pc"
}

# build_libraries: builds all libraries for $architecture, and copies their licenses.
build_libraries() {
    local library
    build_library json-c -DDISABLE_WERROR=ON
    # CMake cannot run curl's test of poll() when it cross-compiles. The paths of certificates would depend on this
    # machine.
    build_library curl -DHTTP_ONLY=ON -DBUILD_CURL_EXE=OFF -DBUILD_LIBCURL_DOCS=OFF -DCURL_ENABLE_SSL=OFF \
        -DCURL_{BROTLI,ZLIB,ZSTD}=OFF -DCURL_USE_{LIBPSL,LIBSSH2}=OFF -DUSE_{LIBIDN2,NGHTTP2}=OFF \
        -DCURL_CA_{BUNDLE,PATH}=none -DHAVE_POLL_FINE=1
    # Also lists the compiler's own libraries, which CMake would find among those of this machine.
    sed -i 's/^\(Libs:.* -lcurl\).*/\1/' "$prefix/lib/pkgconfig/libcurl.pc"
    build_yajl
    for library in "${libraries[@]}"; do
        cp "$sources/$library/debian/copyright" "$folder/$architecture/LICENSE.$library"
    done
}
