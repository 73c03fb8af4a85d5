#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs tools/demo.sh as in the README, and then tests/run.sh, in a new minimal Debian root.
set -euo pipefail

usage() {
    cat <<END
Usage: tests/fresh-root.sh [OPTION]... [-- COMMAND [ARGUMENT]...]
Makes a minimal Debian root in a temporary folder, copies this checkout with its uncommitted changes
there, and runs tools/demo.sh and tests/run.sh, or COMMAND instead. Requires root, debootstrap, and a
Debian mirror: \$DEBIAN_MIRROR, or the mirror of this machine's apt.

  --suite LIST  bookworm (Debian 12), trixie (Debian 13) or both, one after the other: bookworm,trixie;
                default bookworm
  --architecture NAME
                such as i386 on a machine of amd64; default: that of this system
  --bare        mount only /proc: no /sys and thus no control groups, no terminals, no file system in
                memory
  --keep        do not remove the root
  --add DIR     also copy DIR to /root/added
  --cache DIR   keep the new root in DIR as an archive, and use it if it exists
  --help        print this help
END
}

skip() {
    echo "skipped: $*"
    exit 77
}

# Prints "URI SUITE" for each entry of sources.list and of deb822 files.
apt_sources() {
    find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.list' -exec cat {} + 2>/dev/null |
        sed -n 's/\[[^]]*\]//; s/^deb[[:space:]]\+//p' | awk '{ print $1, $2 }' || true
    find /etc/apt/sources.list.d -name '*.sources' -exec awk '
        function stanza(  i, j, u, s) {
            for (i = split(uris, u); i > 0; i--)
                for (j = split(suites, s); j > 0; j--)
                    print u[i], s[j]
            uris = suites = ""
        }
        FNR == 1 || /^[[:space:]]*$/ { stanza() }
        tolower($1) == "uris:" { $1 = ""; uris = $0 }
        tolower($1) == "suites:" { $1 = ""; suites = $0 }
        END { stanza() }' {} + 2>/dev/null || true
}

# Prints the mirror of this suite, or of another one, or nothing: debootstrap then uses its default.
debian_mirror() {
    echo "${DEBIAN_MIRROR:-$(apt_sources | awk -v suite="$suite" '
        $2 == suite { print $1; found = 1; exit }
        $2 ~ /^(bookworm|trixie)$/ { other = $1 }
        END { if (!found) print other }')}"
}

# Copies the apt settings that this machine needs to reach the mirror.
write_apt_configuration() {
    apt-config dump | grep -E '^Acquire::(https?|Check-Valid-Until|Check-Date)\b' \
        >"$root/etc/apt/apt.conf.d/90fresh-root" || true
}

copy_certificates() {
    local file
    for file in /etc/ssl/certs/ca-certificates.crt $(apt-config dump |
        sed -n 's/^Acquire::https::.*CaInfo "\(.*\)";$/\1/p'); do
        if [ -f "$file" ]; then
            mkdir -p "$root${file%/*}"
            cp "$file" "$root$file"
        fi
    done
}

bootstrap() {
    local mirror proxy='' archive=${cache:+$cache/$suite-$architecture.tar}
    if [ -n "$archive" ] && [ -f "$archive" ]; then
        tar -x --numeric-owner -f "$archive" -C "$root"
        return
    fi
    mirror=$(debian_mirror)
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    echo "Making a root of $suite from ${mirror:-the default mirror}"
    http_proxy=${http_proxy:-$proxy} debootstrap ${architecture:+--arch="$architecture"} --variant=minbase "$suite" "$root" \
        ${mirror:+"$mirror"} >"$work/debootstrap.log" 2>&1 || {
        cat "$work/debootstrap.log"
        return 1
    }
    if [ -n "$archive" ]; then
        mkdir -p "$cache"
        tar -c --numeric-owner -f "$archive.$$" -C "$root" .
        mv "$archive.$$" "$archive"
    fi
}

# Binds the devices of this machine, because those of debootstrap do not work in a folder that is mounted with nodev.
mount_machine() {
    local device
    mount -t proc proc "$root/proc"
    for device in null zero full random urandom tty; do
        [ -e "$root/dev/$device" ] || touch "$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
    [ ! -L "$root/dev/shm" ] || rm "$root/dev/shm"
    mkdir -p "$root/dev/shm"
    chmod 1777 "$root/dev/shm"
    [ -z "$bare" ] || return 0
    mount --bind /sys "$root/sys"
    mount -o remount,bind,ro "$root/sys"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    mkdir -p "$root/dev/pts"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    ln -sf pts/ptmx "$root/dev/ptmx"
}

# Copies the files that git tracks or would add; without git, all files but build folders.
copy_checkout() {
    local to=$root/root/showstopper
    mkdir -p "$to"
    if git -C "$source" rev-parse --git-dir >/dev/null 2>&1; then
        (cd "$source" && git ls-files -z --cached --others --exclude-standard |
            tar -c --null --ignore-failed-read --warning=no-failed-read -T -) | tar -x -C "$to"
    else
        tar -c -C "$source" --exclude=./.git --exclude='./build*' . | tar -x -C "$to"
    fi
}

# in_root COMMAND...: runs a command in the copied checkout, without a locale, like CI.
in_root() {
    printf '\n==== in a fresh root of %s, %s%s: %s\n' "$suite" "$architecture" "${bare:+, bare}" "$*"
    local start=$SECONDS
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root CI=true \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        "${personality[@]}" chroot "$root" sh -c 'cd /root/showstopper && exec "$@"' sh "$@" <&-
    echo "==== $* took $((SECONDS - start)) s"
}

# inside WORK CACHE ADDED ARCHITECTURE SUITE BARE [COMMAND...]
inside() {
    work=$1 cache=$2 added=$3 architecture=$4 suite=$5 bare=$6
    shift 6
    personality=()
    [ "$architecture" != i386 ] || personality=(setarch i386) # uname -m prints i686
    root=$work/$suite
    mkdir "$root"
    source=$PWD
    bootstrap
    write_apt_configuration
    copy_certificates
    mount_machine
    copy_checkout
    [ -z "$added" ] || cp -r "$added" "$root/root/added"
    if [ $# -gt 0 ]; then
        in_root "$@"
        return
    fi
    in_root tools/demo.sh
    in_root tests/run.sh | tee "$work/output"
    ! grep -q '^Not found; ' "$work/output" || { echo "tests/fresh-root.sh: packages were not installed" >&2; return 1; }
}

# However the test ends, the mounts end with the mount namespace, and the processes with the PID namespace. Job control
# is on, because background jobs would otherwise ignore SIGINT, and tests would inherit that.
run_inside() {
    local status=0
    set -m
    unshare --mount --propagation private --pid --fork --kill-child \
        tests/fresh-root.sh --inside "$work" "$cache" "$add" "$architecture" "$@" &
    namespace=$!
    set +m
    wait "$namespace" || status=$?
    namespace=
    return "$status"
}

clean_up() {
    if [ -n "$namespace" ] && kill -KILL "$namespace" 2>/dev/null; then
        wait "$namespace" 2>/dev/null || true
    fi
    if [ -n "$keep" ]; then
        echo "What was made is left in $work"
    else
        rm -rf --one-file-system "$work"
    fi
}

# shellcheck source=options.sh
. "$(dirname "$0")/options.sh"

check_options() {
    [[ $suite =~ ^(bookworm|trixie)(,(bookworm|trixie))*$ ]] || refuse "--suite wants bookworm or trixie"
    [[ $architecture =~ ^[a-z0-9]*$ ]] || refuse "--architecture requires a name, such as i386"
    [ -z "$add" ] || [ -d "$add" ] || refuse "--add requires a folder"
    [ -z "$add" ] || add=$(realpath "$add")
    [ -z "$cache" ] || cache=$(realpath -m "$cache")
}

check_machine() {
    [ "$(id -u)" -eq 0 ] || skip "only root can create a root file system"
    command -v debootstrap >/dev/null || skip "debootstrap is not installed"
    unshare --mount --pid --fork true 2>/dev/null || skip "cannot create a namespace"
}

if [ "${1-}" = --inside ]; then
    inside "${@:2}"
    exit
fi
keep='' cache='' add='' bare='' architecture=$(dpkg --print-architecture 2>/dev/null || true) suite=bookworm
namespace='' takes_operands=yes flags=' bare keep '
take_options suite architecture bare keep add cache -- "$@"
check_options
cd "$(dirname "$0")/.."
check_machine
work=$(mktemp -d)
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
for suite in ${suite//,/ }; do
    run_inside "$suite" "$bare" "${operands[@]}"
    [ -n "$keep" ] || rm -rf --one-file-system "${work:?}/$suite"
done
