#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced. install_missing PACKAGE=PROBE... installs those Debian packages whose probe finds
# nothing. A probe is a path, a pkg-config file (NAME.pc) or a command; of A|B one is enough.

# quietly COMMAND...: its output is seen only if it fails.
quietly() {
    local log status=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 || status=$?
    [ "$status" -eq 0 ] || cat "$log" >&2
    rm -f "$log"
    return "$status"
}

probe_finds() {
    local probes probe
    IFS='|' read -ra probes <<<"$1"
    for probe in "${probes[@]}"; do
        case $probe in
        /*) [ -e "$probe" ] && return ;;
        *.pc) pkg-config --exists "${probe%.pc}" 2>/dev/null && return ;;
        *) command -v "$probe" >/dev/null && return ;;
        esac
    done
    return 1
}

# apt-get that asks no questions.
apt_get() {
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
        apt-get -y -o DPkg::Lock::Timeout=300 "$@"
}

may_install() {
    command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }
}

install_missing() {
    local pair missing=()
    for pair; do
        probe_finds "${pair#*=}" || missing+=("${pair%%=*}")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    if ! may_install; then
        printf 'These packages are missing. As root, run this, then try again:\n  %s\n' \
            "apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
        return 1
    fi
    echo "Installing ${missing[*]}"
    # One repository out of reach is no reason to stop: perhaps nothing of it is wanted.
    quietly apt_get update || true
    quietly apt_get install --no-install-recommends "${missing[@]}"
}
