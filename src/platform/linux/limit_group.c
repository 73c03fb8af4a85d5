/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A control group of our own, whose quota limits the processes in it.
 *
 * Version 1 allows a new group below any group. In version 2 a group other than the root either has
 * processes or gives controllers to its children, not both, so the group that we are in usually
 * cannot be the parent.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"
#include "platform/linux/linux.h"

/* The group in which ours is created. */
struct place {
    char folder[SS_GROUP_PATH_SIZE - 256];
    bool unified; /* version 2 */
    bool enable;  /* the group does not yet give the controller to its children */
    bool leave;   /* the caller, its only process, must leave it first */
};

static int write_file(const char *folder, const char *name, const char *text) {
    char path[SS_GROUP_PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    SS_OWNED(close) int file = open(path, O_WRONLY | O_CLOEXEC);
    return file >= 0 && write(file, text, strlen(text)) >= 0 ? 0 : -errno;
}

static bool has_file(const char *folder, const char *name, int mode) {
    char path[SS_GROUP_PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, mode) == 0;
}

static void read_file(const char *folder, const char *name, char text[4096]) {
    char path[SS_GROUP_PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (ss_linux_read_text(path, text, 4096) < 0)
        *text = '\0';
}

/* ---- the place ---- */

static bool lists_cpu(const char *folder, const char *name) {
    char text[4096];
    read_file(folder, name, text);
    return ss_words_has(text, ' ', "cpu");
}

/* Returns whether a group has limits, which a group outside of it would not be subject to. */
static bool is_limited(const char *folder) {
    static const char *const limits[] = {"cpu.max", "memory.max", "cpuset.cpus"};
    char text[4096];
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        read_file(folder, limits[i], text);
        if (*text && strncmp(text, "max", 3) != 0)
            return true;
    }
    return false;
}

static bool can_hold_unified(struct place *place) {
    char processes[4096], own[32];
    if (!has_file(place->folder, "cgroup.procs", W_OK))
        return false;
    if (lists_cpu(place->folder, "cgroup.subtree_control"))
        return true;
    if (!lists_cpu(place->folder, "cgroup.controllers"))
        return false;
    place->enable = true;
    read_file(place->folder, "cgroup.procs", processes);
    /* Only the root of the hierarchy lacks a type; the root of a container has one. */
    if (!*processes || !has_file(place->folder, "cgroup.type", F_OK))
        return true;
    snprintf(own, sizeof own, "%d", (int)getpid());
    place->leave = strcmp(processes, own) == 0;
    return place->leave;
}

/* Finds a place, searching upward from our own group. */
static bool find_unified(struct place *place, const char *root) {
    place->unified = true;
    while (!can_hold_unified(place)) {
        place->enable = false;
        if (strlen(place->folder) <= strlen(root) || is_limited(place->folder))
            return false;
        *strrchr(place->folder, '/') = '\0';
    }
    return true;
}

static bool find_place(struct place *place, const struct ss_platform_roots *roots) {
    struct ss_linux_hierarchy hierarchy;
    *place = (struct place){0};
    if (!ss_linux_find_hierarchy(&hierarchy, roots, "cpu"))
        return false;
    snprintf(place->folder, sizeof place->folder, "%s%s", hierarchy.root,
        strcmp(hierarchy.own, "/") == 0 ? "" : hierarchy.own);
    if (hierarchy.version == 2)
        return find_unified(place, hierarchy.root);
    return has_file(place->folder, "cpu.cfs_quota_us", F_OK) ||
           has_file(place->folder, "cgroup.procs", F_OK);
}

/* ---- making and removing ---- */

/* Removes the groups of killed processes. A group that is in use cannot be removed. */
static void remove_old(const char *folder, const char *prefix) {
    SS_OWNED(closedir) DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries && (entry = readdir(entries)) != NULL) {
        size_t length = strlen(prefix);
        char path[SS_GROUP_PATH_SIZE + 256], *end;
        if (strncmp(entry->d_name, prefix, length) != 0 || entry->d_name[length] != '-')
            continue;
        long pid = strtol(entry->d_name + length + 1, &end, 10);
        if (pid <= 0 || *end || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        rmdir(path);
    }
}

/* Moves the caller from the place into a new child group of that place. */
static int leave_place(struct ss_limit_group *group, const struct place *place) {
    snprintf(group->left, sizeof group->left, "%s", place->folder);
    snprintf(group->caller, sizeof group->caller, "%.4200s.caller", group->folder);
    if (mkdir(group->caller, 0755) < 0 && errno != EEXIST)
        return -errno;
    return write_file(group->caller, "cgroup.procs", "0");
}

static int make_group(struct ss_limit_group *group, const struct place *place) {
    int result = place->leave ? leave_place(group, place) : 0;
    if (result == 0 && place->enable)
        result = write_file(place->folder, "cgroup.subtree_control", "+cpu");
    /* A group of this name is left from an earlier process with our pid. */
    if (result == 0 && mkdir(group->folder, 0755) < 0 && errno != EEXIST)
        result = -errno;
    if (result == 0 &&
        !has_file(group->folder, place->unified ? "cpu.max" : "cpu.cfs_quota_us", W_OK))
        result = -errno;
    return result;
}

int ss_platform_limit_group_make(struct ss_limit_group *group, const char *prefix,
    const struct ss_platform_roots *roots, struct ss_error *error) {
    struct place place;
    *group = (struct ss_limit_group){0};
    if (!find_place(&place, roots))
        return ss_error_fail(error,
            "no control group here may hold a CPU quota: start this program in one of its own, as "
            "`systemd-run --scope -p Delegate=yes` does");
    remove_old(place.folder, prefix);
    group->unified = place.unified;
    snprintf(group->folder, sizeof group->folder, "%s/%s-%d", place.folder, prefix, (int)getpid());
    int result = make_group(group, &place);
    if (result == 0)
        return 0;
    ss_error_fail(error, "cannot make the control group %s: %s", group->folder, strerror(-result));
    ss_platform_limit_group_remove(group);
    return -1;
}

int ss_platform_limit_group_set_cpus(
    const struct ss_limit_group *group, double cpus, ss_time period) {
    char text[64];
    unsigned long long length = period / SS_MICROSECOND;
    unsigned long long quota = (unsigned long long)(cpus * (double)length + 0.5);
    if (group->unified) {
        snprintf(text, sizeof text, "%llu %llu", quota, length);
        return write_file(group->folder, "cpu.max", text);
    }
    snprintf(text, sizeof text, "%llu", length);
    int result = write_file(group->folder, "cpu.cfs_period_us", text);
    snprintf(text, sizeof text, "%llu", quota);
    return result < 0 ? result : write_file(group->folder, "cpu.cfs_quota_us", text);
}

int ss_platform_limit_group_enter(const struct ss_limit_group *group) {
    return write_file(group->folder, "cgroup.procs", "0");
}

void ss_platform_limit_group_remove(struct ss_limit_group *group) {
    if (*group->folder)
        rmdir(group->folder);
    /*
     * Processes may return to the place only after it has stopped giving controllers to its
     * children.
     */
    if (*group->left && write_file(group->left, "cgroup.subtree_control", "-cpu") == 0 &&
        write_file(group->left, "cgroup.procs", "0") == 0)
        rmdir(group->caller);
    *group = (struct ss_limit_group){0};
}
