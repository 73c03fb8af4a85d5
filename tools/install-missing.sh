#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced. install_missing PACKAGE=PROBE... installs the Debian packages whose probes find nothing. A probe is a
# path, a pkg-config file (NAME.pc) or a command. With alternatives, A|B, one found is enough.

# quietly COMMAND...: prints the output of the command only if it fails.
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

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

apt_get() {
    as_root env ${RUNLEVEL+"RUNLEVEL=$RUNLEVEL"} DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -y -o DPkg::Lock::Timeout=300 "$@"
}

may_install() {
    command -v apt-get >/dev/null && as_root true 2>/dev/null
}

install_missing() {
    local pair missing=()
    for pair; do
        probe_finds "${pair#*=}" || missing+=("${pair%%=*}")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "Missing packages, by their names in Debian: ${missing[*]}: install them, then try again" >&2
        return 1
    fi
    if ! may_install; then
        printf 'These packages are missing. As root, run this, then try again:\n  %s\n' \
            "apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
        return 1
    fi
    echo "Installing ${missing[*]}"
    # Continue if a repository is unreachable: the packages may come from others.
    quietly apt_get update || true
    quietly apt_get install --no-install-recommends "${missing[@]}"
}

# list_enabled: prints the links of systemd and System V that start services at boot.
list_enabled() {
    find /etc/systemd/system/*.wants /etc/rc[2-5].d -name '*.service' -o -name '*.timer' \
        -o -name '*.socket' -o -name 'S[0-9][0-9]*' 2>/dev/null | sort || true
}

# disable LINK: disables the service of a link that list_enabled has printed.
disable() {
    local name=${1##*/}
    case $1 in
    /etc/rc*) as_root update-rc.d "${name#S??}" disable ;;
    *) as_root systemctl disable "$name" ;;
    esac
}

# install_without_services PACKAGE...: installs packages without starting or enabling their services. One call at a
# time, because the end of a call removes the file that another one needs.
install_without_services() (
    policy=/usr/sbin/policy-rc.d # packages start no services if it exits with 101
    mark="# Showstopper keeps packages from starting services, until its call of apt-get ends."
    exec 7<"${policy%/*}"
    flock 7
    enabled=$(list_enabled)
    # Replaces the file of a killed call, but not one of the administrator.
    if [ ! -e "$policy" ] || grep -qsFx "$mark" "$policy"; then
        trap 'as_root rm -f "$policy"' EXIT
        printf '#!/bin/sh\n%s\nexit 101\n' "$mark" | as_root tee "$policy" >/dev/null
        as_root chmod 755 "$policy"
    fi
    status=0
    quietly apt_get update 7<&- || true
    RUNLEVEL=1 quietly apt_get install --no-install-recommends "$@" </dev/null 7<&- || status=$?
    while read -r link; do
        disable "$link" >/dev/null 2>&1 </dev/null
    done < <(comm -13 - <(list_enabled) <<<"$enabled")
    return "$status"
)
