/* SPDX-License-Identifier: Apache-2.0 */
#include "service_group.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "proc_tree.h"

/* Maximum depth of a search for a group. */
#define DEPTH_MAX 32

static const char *group_root(const struct ss_platform_roots *roots) {
    return roots && roots->cgroup ? roots->cgroup : "/sys/fs/cgroup";
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with) {
    size_t length = strlen(text), tail = strlen(with);
    return length >= tail && strcmp(text + length - tail, with) == 0;
}

/*
 * Excludes groups that are not services, by the names that systemd and terminals give them. A path
 * with /.. is outside of our cgroup namespace.
 */
static bool may_be_of_service(const char *path) {
    const char *name = strrchr(path, '/');
    if (!name || !name[1] || strstr(path, "/.."))
        return false;

    name++;
    if (ends(name, ".slice") || begins(name, "user@"))
        return false;
    if (!ends(name, ".scope"))
        return true;
    return !begins(name, "session-") && !begins(name, "init.") && !begins(name, "app-") &&
           !strstr(name, "-spawn-");
}

static const struct hierarchy {
    const char *folder;
    const char *controller; /* NULL: v2 */
    const char *file;
} hierarchies[] = {
    {"", NULL, "cpu.stat"},
    {"/unified", NULL, "cpu.stat"},
    {"/cpuacct", "cpuacct", "cpuacct.usage"},
    {"/cpu,cpuacct", "cpuacct", "cpuacct.usage"},
};

static bool find_path(const struct ss_platform_roots *roots, pid_t pid, const char *controller,
    char *path, size_t size) {
    char process[16];
    snprintf(process, sizeof process, "%d", (int)pid);
    return ss_platform_cgroup_of(roots, process, controller, path, size) == 0;
}

bool service_group_of(
    const struct ss_platform_roots *roots, pid_t pid, struct service_group *group) {
    for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++) {
        const struct hierarchy *hierarchy = &hierarchies[i];
        char file[SS_GROUP_PATH_SIZE + 32];

        group->controller = hierarchy->controller;
        if (!find_path(roots, pid, hierarchy->controller, group->path, sizeof group->path) ||
            !may_be_of_service(group->path))
            continue;

        snprintf(group->folder, sizeof group->folder, "%s%s%s", group_root(roots),
            hierarchy->folder, group->path);
        snprintf(file, sizeof file, "%s/%s", group->folder, hierarchy->file);
        if (access(file, R_OK) == 0)
            return true;
    }
    return false;
}

bool service_group_has(
    const struct ss_platform_roots *roots, const struct service_group *group, pid_t pid) {
    char path[sizeof group->path];
    size_t length = strlen(group->path);
    return find_path(roots, pid, group->controller, path, sizeof path) &&
           strncmp(path, group->path, length) == 0 && (!path[length] || path[length] == '/');
}

bool service_group_has_us(
    const struct ss_platform_roots *roots, const struct service_group *group) {
    struct proc_tree_process process;
    for (pid_t pid = getpid(); pid > 0; pid = process.parent) {
        if (service_group_has(roots, group, pid))
            return true;
        if (!proc_tree_read(roots, pid, &process))
            break;
    }
    return false;
}

bool service_group_is_ours(const struct ss_platform_roots *roots, const char *path) {
    const char *end = strrchr(path, '/');
    size_t length = end ? (size_t)(end - path) : 0;

    for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++) {
        char own[2048], folder[SS_GROUP_PATH_SIZE];
        if (!find_path(roots, getpid(), hierarchies[i].controller, own, sizeof own))
            continue;

        snprintf(folder, sizeof folder, "%s%s%s", group_root(roots), hierarchies[i].folder, own);
        if (strncmp(folder, path, length) == 0 && (!folder[length] || folder[length] == '/'))
            return true;
    }
    return false;
}

/* Searches `folder` for a group with this inode, and replaces `folder` by the path of the group. */
static bool find_number(char folder[SS_GROUP_PATH_SIZE], uint64_t number, int depth) {
    SS_OWNED(closedir) DIR *groups = opendir(folder);
    size_t length = strlen(folder);
    const struct dirent *entry;

    while (groups && (entry = readdir(groups))) {
        struct stat status;
        if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) ||
            length + strlen(entry->d_name) + 2 > SS_GROUP_PATH_SIZE)
            continue;

        sprintf(folder + length, "/%s", entry->d_name);
        if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
            (status.st_ino == number ||
                (depth < DEPTH_MAX && find_number(folder, number, depth + 1))))
            return true;
        folder[length] = '\0';
    }
    return false;
}

bool service_group_by_number(
    const struct ss_platform_roots *roots, uint64_t number, struct service_group *group) {
    for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++) {
        char file[SS_GROUP_PATH_SIZE + 32];
        int root = snprintf(
            group->folder, sizeof group->folder, "%s%s", group_root(roots), hierarchies[i].folder);
        snprintf(file, sizeof file, "%s/cgroup.controllers", group->folder);
        if (hierarchies[i].controller || access(file, F_OK) < 0 ||
            !find_number(group->folder, number, 0))
            continue;

        group->controller = NULL;
        snprintf(group->path, sizeof group->path, "%s", group->folder + root);
        return may_be_of_service(group->path);
    }
    return false;
}
