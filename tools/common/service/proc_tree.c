/* SPDX-License-Identifier: Apache-2.0 */
#include "proc_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/owned.h"

/* The kernel's PF_KTHREAD. */
#define KERNEL_THREAD 0x200000

/* Maximum depth to which ancestors are followed. */
#define DEPTH_MAX 256

static ssize_t read_file(
    const struct ss_platform_roots *roots, pid_t pid, const char *name, char *text, size_t size) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%d/%s", proc_tree_root(roots), (int)pid, name);
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;
    text[length] = '\0';
    return file && length > 0 ? (ssize_t)length : -1;
}

bool proc_tree_read(
    const struct ss_platform_roots *roots, pid_t pid, struct proc_tree_process *process) {
    char text[1024];
    int parent;
    unsigned flags;

    if (read_file(roots, pid, "stat", text, sizeof text) < 0)
        return false;

    /* The name in parentheses may contain anything, even parentheses. */
    const char *end = strrchr(text, ')');
    if (!end || sscanf(end + 1, " %c %d %*d %*d %*d %*d %u", &process->state, &parent, &flags) != 3)
        return false;

    process->parent = parent;
    process->kernel = flags & KERNEL_THREAD;
    return true;
}

struct proc_tree_name proc_tree_name(const struct ss_platform_roots *roots, pid_t pid) {
    struct proc_tree_name name;
    if (read_file(roots, pid, "comm", name.text, sizeof name.text) < 0)
        strcpy(name.text, "?");
    name.text[strcspn(name.text, "\n")] = '\0';
    return name;
}

bool proc_tree_link(
    const struct ss_platform_roots *roots, pid_t pid, const char *name, char *target, size_t size) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%d/%s", proc_tree_root(roots), (int)pid, name);
    ssize_t length = readlink(path, target, size);
    if (length < 0 || (size_t)length >= size)
        return false;
    target[length] = '\0';
    return true;
}

void proc_tree_each(
    const struct ss_platform_roots *roots, void (*visit)(void *context, pid_t pid), void *context) {
    SS_OWNED(closedir) DIR *folder = opendir(proc_tree_root(roots));
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        if (isdigit((unsigned char)entry->d_name[0]))
            visit(context, (pid_t)strtol(entry->d_name, NULL, 10));
    }
}

bool proc_tree_is_below(const struct ss_platform_roots *roots, pid_t pid, pid_t ancestor) {
    struct proc_tree_process process;
    for (int depth = 0; pid > 0 && depth < DEPTH_MAX; depth++) {
        if (pid == ancestor)
            return true;
        if (!proc_tree_read(roots, pid, &process))
            return false;
        pid = process.parent;
    }
    return false;
}
