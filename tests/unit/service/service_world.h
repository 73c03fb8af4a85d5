/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_SERVICE_WORLD_H
#define SHOWSTOPPER_TESTS_SERVICE_WORLD_H

/* A recorded /proc and /sys/fs/cgroup with processes that listen. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "platform/platform.h"
#include "tree.h"

#define WORLD_OURS "net:[1]" /* our network namespace */

/* An address of this machine, and one of a container. */
#define WORLD_HOST      "192.0.2.7"
#define WORLD_CONTAINER "172.17.0.2"

static struct ss_platform_roots world_roots;
static int world_links;

/* Declares a text with a formatted path below `proc`. */
#define WORLD_NAME(name, ...)                                                                      \
    char name[256];                                                                                \
    snprintf(name, sizeof name, "proc/" __VA_ARGS__)

static inline void world_append(const char *name, const char *text) {
    if (access(tree_path(name), F_OK) < 0)
        tree_write(name, "");
    FILE *file = fopen(tree_path(name), "ae");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static inline void world_link(const char *name, const char *target) {
    WORLD_NAME(beside, "%s", "");
    snprintf(beside, sizeof beside, "%s.folder", name);
    tree_write(beside, ""); /* makes the folder */
    assert_int_equal(unlink(tree_path(beside)), 0);
    assert_int_equal(symlink(target, tree_path(name)), 0);
}

/* Writes the addresses of a network namespace; `net` is "net" or "PID/net". */
static inline void world_address(const char *net, const char *address) {
    WORLD_NAME(name, "%s/fib_trie", net);
    char text[256];
    snprintf(text, sizeof text,
        "Local:\n  +-- 0.0.0.0/0 3 0 5\n     |-- %s\n        /32 host LOCAL\n     |-- 10.0.0.9\n"
        "        /32 link BROADCAST\n",
        address);
    tree_write(name, text);
}

static inline void world_new(void) {
    static char proc[512], groups[512];
    tree_new();
    snprintf(proc, sizeof proc, "%s", tree_path("proc"));
    snprintf(groups, sizeof groups, "%s", tree_path("groups"));
    world_roots = (struct ss_platform_roots){.proc = proc, .cgroup = groups};
    world_link("proc/self/ns/net", WORLD_OURS);
    world_address("net", WORLD_HOST);
    tree_write("proc/net/if_inet6", "20010db8000000000000000000000007 02 40 00 80 eth0\n");
}

static inline void world_process(pid_t pid, pid_t parent, const char *name) {
    WORLD_NAME(stat, "%d/stat", (int)pid);
    WORLD_NAME(comm, "%d/comm", (int)pid);
    WORLD_NAME(exe, "%d/exe", (int)pid);
    WORLD_NAME(space, "%d/ns/net", (int)pid);
    char text[256];
    snprintf(text, sizeof text, "%d (%s) S %d 1 1 0 -1 4194304 0 0 0 0 0 0", (int)pid, name,
        (int)parent);
    tree_write(stat, text);
    snprintf(text, sizeof text, "%s\n", name);
    tree_write(comm, text);
    snprintf(text, sizeof text, "/usr/bin/%s", name);
    world_link(exe, text);
    world_link(space, WORLD_OURS);
}

/* Moves a process to another network namespace. */
static inline void world_enclose(pid_t pid, const char *space) {
    WORLD_NAME(name, "%d/ns/net", (int)pid);
    assert_int_equal(unlink(tree_path(name)), 0);
    world_link(name, space);
}

static inline void world_group(pid_t pid, const char *path) {
    WORLD_NAME(name, "%d/cgroup", (int)pid);
    char text[256], usage[256];
    snprintf(text, sizeof text, "0::%s\n", path);
    tree_write(name, text);
    snprintf(usage, sizeof usage, "groups%s/cpu.stat", path);
    tree_write(usage, "usage_usec 5\n");
}

/* Adds a row to a table of sockets; states: 0A listens, 01 is connected. */
static inline void world_row(
    const char *net, const char *address, unsigned port, const char *state, unsigned inode) {
    struct in6_addr bytes = {0};
    uint32_t words[4];
    char text[256];
    bool six = strchr(address, ':');
    WORLD_NAME(name, "%s/%s", net, six ? "tcp6" : "tcp");
    assert_int_equal(inet_pton(six ? AF_INET6 : AF_INET, address, &bytes), 1);
    memcpy(words, &bytes, sizeof words);
    int length = snprintf(text, sizeof text, "   0: %08X", words[0]);
    for (int i = 1; six && i < 4; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%08X", words[i]);
    snprintf(text + length, sizeof text - (size_t)length,
        ":%04X 00000000:0000 %s 00000000:00000000 00:00000000 00000000    33        0 %u 1 0 100\n",
        port, state, inode);
    world_append(name, text);
}

static inline void world_listen(const char *address, unsigned port, unsigned inode) {
    world_row("net", address, port, "0A", inode);
}

static inline void world_listen_unix(const char *path, const char *flags, unsigned inode) {
    char text[256];
    snprintf(text, sizeof text, "000000005d56e22f: 00000002 00000000 %s 0001 01 %5u %s\n", flags,
        inode, path);
    world_append("proc/net/unix", text);
}

/* Gives a process a socket. */
static inline void world_hold(pid_t pid, unsigned inode) {
    WORLD_NAME(name, "%d/fd/%d", (int)pid, 3 + world_links++);
    char text[32];
    snprintf(text, sizeof text, "socket:[%u]", inode);
    world_link(name, text);
}

#endif
