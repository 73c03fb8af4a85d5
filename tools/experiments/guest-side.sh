#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# To be sourced by the first program of a guest, a shell of busybox's: makes the guest of what
# run-in-guest has put into the folder $run of the host. The host's root is in /root.

# shellcheck disable=SC2154 # set by that program
given=/root$run

# Parts of the host that are hidden below have what is needed later, so it is copied first.
mkdir /guest
while read -r folder; do
    [ -n "$folder" ] || continue
    mkdir -p "/copied$folder"
    cp -a "/root$folder/." "/copied$folder"
done <"$given/copies"
cp "$given/serve" "$given/command" "$given/shares" "$given/copies" /guest/
mount -t tmpfs -o mode=755 run /root/run
mkdir /root/run/guest /root/run/lock
cp /guest/* /bin/busybox /root/run/guest/
mkdir /root/run/guest/bin
/root/run/guest/busybox --install -s /root/run/guest/bin

# The host's /tmp may have programs in it; writes stay in the guest.
mount -t tmpfs upper /upper
mkdir -m 1777 /upper/files
mkdir /upper/work
mount -t overlay -o lowerdir=/root/tmp,upperdir=/upper/files,workdir=/upper/work tmp /root/tmp ||
    mount -t tmpfs -o mode=1777 tmp /root/tmp
mount --move /dev /root/dev
mkdir -p /root/dev/shm /root/dev/pts
mount -t tmpfs -o mode=1777 shm /root/dev/shm
mount -t devpts -o mode=620,ptmxmode=666 pts /root/dev/pts
for link in fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do
    ln -s "/proc/self/${link#*:}" "/root/dev/${link%%:*}"
done
mount --move /sys /root/sys
mount -t cgroup2 groups /root/sys/fs/cgroup
sed 's/[a-z]/+&/; s/ / +/g' /root/sys/fs/cgroup/cgroup.controllers \
    >/root/sys/fs/cgroup/cgroup.subtree_control
ifconfig lo 127.0.0.1
hostname guest

# Each line: the tag of a share, a blank, its folder.
while read -r tag folder; do
    mkdir -p "/root$folder"
    mount -t virtiofs "$tag" "/root$folder" || echo "$folder" >>/root/run/guest/missing
done </guest/shares
while read -r folder; do
    [ -n "$folder" ] || continue
    mkdir -p "/root$folder"
    mount -t tmpfs copy "/root$folder"
    cp -a "/copied$folder/." "/root$folder"
    rm -rf "/copied$folder"
done </guest/copies
mount --move /proc /root/proc
exec switch_root /root /run/guest/busybox sh -c '/run/guest/busybox sh /run/guest/serve & wait
    /run/guest/busybox poweroff -f'
