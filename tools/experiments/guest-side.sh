#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by the first process of a guest, a busybox shell: sets up the guest by the files that run-in-guest has written
# to the host's folder $run, and becomes `showstopper-guest serve`. The host's root is mounted at /root.

given=/root${run:?}

# Bind shared folders and copy files before mounts hide them. Of the host's folders, only shared ones are writable.
mkdir /run /shared
mount -t tmpfs -o mode=755 run /run
mkdir /run/guest /run/lock
mount -t virtiofs -o remount,rw host /root
missing='' shares=0
while read -r folder; do
    mkdir "/shared/$shares"
    mount --bind "/root$folder" "/shared/$shares" || : "${missing:=$folder}"
    shares=$((shares + 1))
done <"$given/shares"
mount -o remount,bind,ro host /root
while read -r folder; do
    mkdir -p "/copied$folder"
    cp -a "/root$folder/." "/copied$folder"
done <"$given/copies"
cp "$given/serve" "$given/command" "$given/shares" "$given/copies" /run/guest/
mount --move /run /root/run

# Show the host's /tmp, which may contain programs, but keep writes in the guest.
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

shares=0
while read -r folder; do
    mkdir -p "/root$folder"
    mount --move "/shared/$shares" "/root$folder"
    shares=$((shares + 1))
done </root/run/guest/shares
while read -r folder; do
    mkdir -p "/root$folder"
    mount -t tmpfs copy "/root$folder"
    cp -a "/copied$folder/." "/root$folder"
    rm -rf "/copied$folder"
done </root/run/guest/copies
mount --move /proc /root/proc
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
exec switch_root /root /run/guest/serve serve ${missing:+--missing "$missing"} -- bash /run/guest/command
