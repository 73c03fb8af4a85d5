/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A control group that limits the processes in it.
 *
 * Version 1 allows a new group below any group. In version 2 a group other than the root either has
 * processes or enables controllers for its children, not both, so the group that we are in usually
 * cannot be the parent.
 */

#include "limit_group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"

/* The group below which ours is created. */
struct place {
    char folder[SS_GROUP_PATH_SIZE - 256];
    unsigned missing; /* limits whose controllers the group has not enabled for its children */
    bool must_leave;  /* the caller, its only process, must leave it first */
};

/* The controller of each limit, and the file that sets the limit in version 1. */
static const struct {
    const char *controller, *file;
} kinds[LIMIT_KINDS] = {
    [LIMIT_QUOTA] = {"cpu", "cpu.cfs_quota_us"},
    [LIMIT_CPUS] = {"cpuset", "cpuset.cpus"},
    [LIMIT_MEMORY] = {"memory", "memory.limit_in_bytes"},
};

/* The files that set the limits in version 2. */
static const char *const unified_files[LIMIT_KINDS] = {
    [LIMIT_QUOTA] = "cpu.max",
    [LIMIT_CPUS] = "cpuset.cpus",
    [LIMIT_MEMORY] = "memory.max",
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

/* Returns whether this process may create a group below `folder`, and move back into `folder`. */
static bool may_create_below(const char *folder) {
    return access(folder, W_OK) == 0 && has_file(folder, "cgroup.procs", W_OK);
}

/* Reads at most 4095 bytes, without final newlines. The text is empty if the file is unreadable. */
static void read_file(const char *folder, const char *name, char text[4096]) {
    char path[SS_GROUP_PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    SS_OWNED(close) int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t length = file < 0 ? 0 : read(file, text, 4095);
    while (length > 0 && text[length - 1] == '\n')
        length--;
    text[length > 0 ? length : 0] = '\0';
}

/* Returns the size in bytes that a file contains; 0 if the file does not begin with a number. */
static uint64_t read_bytes(const char *folder, const char *name) {
    char text[4096];
    read_file(folder, name, text);
    return strtoull(text, NULL, 10);
}

/* Returns those of `limits` whose controllers the file does not list. */
static unsigned find_missing(const char *folder, const char *name, unsigned limits) {
    char text[4096];
    read_file(folder, name, text);
    for (int i = 0; i < LIMIT_KINDS; i++) {
        if (ss_words_has(text, ' ', kinds[i].controller))
            limits &= ~(1U << i);
    }
    return limits;
}

/* Returns whether a group has limits. A new group must be below it to be subject to them. */
static bool is_limited(const char *folder) {
    char text[4096];
    for (int i = 0; i < LIMIT_KINDS; i++) {
        read_file(folder, unified_files[i], text);
        if (*text && strncmp(text, "max", 3) != 0)
            return true;
    }
    return false;
}

static bool try_unified_place(struct place *place, unsigned limits) {
    char processes[4096], own[32];

    if (!may_create_below(place->folder))
        return false;

    place->missing = find_missing(place->folder, "cgroup.subtree_control", limits);
    if (!place->missing)
        return true;
    if (find_missing(place->folder, "cgroup.controllers", place->missing))
        return false;

    read_file(place->folder, "cgroup.procs", processes);
    /* Only the root of the hierarchy lacks a type; the root of a container has one. */
    if (!*processes || !has_file(place->folder, "cgroup.type", F_OK))
        return true;
    snprintf(own, sizeof own, "%d", (int)getpid());
    place->must_leave = strcmp(processes, own) == 0;
    return place->must_leave;
}

/* Finds a place, searching upward from our own group. */
static bool find_unified(struct place *place, const char *root, unsigned limits) {
    while (!try_unified_place(place, limits)) {
        if (strlen(place->folder) <= strlen(root) || is_limited(place->folder))
            return false;
        *strrchr(place->folder, '/') = '\0';
    }
    return true;
}

/* Sets the path of the group of one limit, or of all limits in version 2, below `parent`. */
static void name_part(
    struct limit_part *part, const char *parent, const char *home, const char *prefix) {
    snprintf(part->folder, sizeof part->folder, "%.4000s/%.200s-%d", parent, prefix, (int)getpid());
    snprintf(part->home, sizeof part->home, "%s", home);
}

static void name_unified(struct limit_group *group, unsigned limits, const struct place *place,
    const char *home, const char *prefix) {
    struct limit_part part = {.unified = true};
    name_part(&part, place->folder, home, prefix);

    if (place->must_leave) {
        snprintf(group->caller_home, sizeof group->caller_home, "%s", place->folder);
        snprintf(group->caller_group, sizeof group->caller_group, "%.4200s.caller", part.folder);
        snprintf(part.home, sizeof part.home, "%s", group->caller_group);
    }

    group->missing |= place->missing;
    for (int i = 0; i < LIMIT_KINDS; i++) {
        if (limits & 1U << i)
            group->parts[i] = part;
    }
}

static bool find_part(struct limit_group *group, int limit, const char *prefix,
    const struct ss_platform_roots *roots, unsigned *unified) {
    struct ss_hierarchy hierarchy;
    struct place place = {0};

    if (!ss_platform_find_hierarchy(&hierarchy, roots, kinds[limit].controller))
        return false;
    if (hierarchy.version == 2) {
        *unified |= 1U << limit;
        return true;
    }

    snprintf(place.folder, sizeof place.folder, "%s%s", hierarchy.root,
        strcmp(hierarchy.own, "/") == 0 ? "" : hierarchy.own);
    name_part(&group->parts[limit], place.folder, place.folder, prefix);
    return may_create_below(place.folder);
}

/* Finds the one place that all limits of version 2 share. */
static bool find_unified_parts(struct limit_group *group, unsigned limits, const char *prefix,
    const struct ss_platform_roots *roots) {
    struct ss_hierarchy hierarchy;
    struct place place = {0};

    for (int i = 0; i < LIMIT_KINDS; i++) {
        if (limits & 1U << i && !ss_platform_find_hierarchy(&hierarchy, roots, kinds[i].controller))
            return false;
    }

    snprintf(place.folder, sizeof place.folder, "%s%s", hierarchy.root,
        strcmp(hierarchy.own, "/") == 0 ? "" : hierarchy.own);
    char home[sizeof place.folder];
    snprintf(home, sizeof home, "%s", place.folder);

    if (!find_unified(&place, hierarchy.root, limits))
        return false;
    name_unified(group, limits, &place, home, prefix);
    return true;
}

int limit_group_find(struct limit_group *group, unsigned limits, const char *prefix,
    const struct ss_platform_roots *roots, struct ss_error *error) {
    static const char *const what[LIMIT_KINDS] = {
        "a CPU quota", "CPUs of its own", "a memory limit"};
    unsigned unified = 0;

    *group = (struct limit_group){0};
    for (int i = 0; i < LIMIT_KINDS; i++) {
        if (!(limits & 1U << i))
            continue;
        bool found = find_part(group, i, prefix, roots, &unified);
        if (found && unified & 1U << i)
            found = find_unified_parts(group, unified, prefix, roots);
        if (found)
            continue;

        *group = (struct limit_group){0};
        return ss_error_fail(error,
            "cannot create a control group with %s: start this program in a group of its own, for "
            "example with `systemd-run --scope -p Delegate=yes`",
            what[i]);
    }
    return 0;
}

/* Finds the root of a limit's hierarchy. In version 2 the root must have the limit's controller. */
static int find_root(struct ss_hierarchy *hierarchy, int limit,
    const struct ss_platform_roots *roots, struct ss_error *error) {
    const char *controller = kinds[limit].controller;

    if (ss_platform_find_hierarchy(hierarchy, roots, controller) &&
        (hierarchy->version == 1 ||
            !find_missing(hierarchy->root, "cgroup.controllers", 1U << limit)))
        return 0;
    return ss_error_fail(error, "no control group hierarchy has the controller %s", controller);
}

/* Creates the group that counts CPU time, if version 1 has a separate hierarchy for that. */
static int make_accounting_group(
    const char *name, const struct ss_platform_roots *roots, struct ss_error *error) {
    struct ss_hierarchy hierarchy;
    char folder[SS_GROUP_PATH_SIZE];

    if (!ss_platform_find_hierarchy(&hierarchy, roots, "cpuacct"))
        return 0;
    snprintf(folder, sizeof folder, "%s/%.200s", hierarchy.root, name);
    if (mkdir(folder, 0755) == 0 || errno == EEXIST)
        return 0;
    return ss_error_fail(error, "cannot create the control group %s: %s", folder, strerror(errno));
}

/* Removes the group after a failure, except parts that existed before: they may be in use. */
static void remove_created(struct limit_group *group) {
    for (int i = 0; i < LIMIT_KINDS; i++) {
        if (group->named && !group->parts[i].made)
            *group->parts[i].folder = '\0';
    }
    limit_group_remove(group);
}

int limit_group_make_named(struct limit_group *group, unsigned limits, const char *name,
    const struct ss_platform_roots *roots, struct ss_error *error) {
    *group = (struct limit_group){.named = true};

    for (int i = 0; i < LIMIT_KINDS; i++) {
        struct limit_part *part = &group->parts[i];
        struct ss_hierarchy hierarchy;

        if (!(limits & 1U << i))
            continue;
        if (find_root(&hierarchy, i, roots, error) < 0)
            return -1;

        part->unified = hierarchy.version == 2;
        snprintf(part->folder, sizeof part->folder, "%s/%.200s", hierarchy.root, name);
        snprintf(part->home, sizeof part->home, "%s", hierarchy.root);
        if (part->unified)
            group->missing |= find_missing(hierarchy.root, "cgroup.subtree_control", 1U << i);
    }

    if (limit_group_make(group, error) < 0)
        return -1;
    if (make_accounting_group(name, roots, error) == 0)
        return 0;
    remove_created(group);
    return -1;
}

/* Removes groups that killed processes left next to `folder`; rmdir() refuses a group in use. */
static void remove_stale(const char *folder) {
    char parent[SS_GROUP_PATH_SIZE];
    const struct dirent *entry;

    snprintf(parent, sizeof parent, "%s", folder);
    char *prefix = strrchr(parent, '/');
    *prefix++ = '\0';
    size_t length = (size_t)(strrchr(prefix, '-') - prefix) + 1;

    SS_OWNED(closedir) DIR *entries = opendir(parent);
    while (entries && (entry = readdir(entries)) != NULL) {
        char path[SS_GROUP_PATH_SIZE + 300], *end;

        if (strncmp(entry->d_name, prefix, length) != 0)
            continue;
        long pid = strtol(entry->d_name + length, &end, 10);
        if (pid <= 0 || *end || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;

        snprintf(path, sizeof path, "%s/%s", parent, entry->d_name);
        rmdir(path);
    }
}

/* Enables ('+') or disables ('-') the controllers of these limits for the children of a group. */
static int write_controllers(const char *folder, unsigned limits, char sign) {
    char text[64] = "";

    for (int i = 0; i < LIMIT_KINDS; i++) {
        size_t length = strlen(text);
        if (limits & 1U << i)
            snprintf(text + length, sizeof text - length, "%s%c%s", length ? " " : "", sign,
                kinds[i].controller);
    }

    return *text ? write_file(folder, "cgroup.subtree_control", text) : 0;
}

/*
 * Copies the memory nodes and CPUs of the parent group: a new group of version 1 has none, so no
 * process could enter it.
 */
static int inherit_cpus(const char *folder) {
    static const char *const files[][2] = {
        {"cpuset.effective_mems", "cpuset.mems"}, {"cpuset.effective_cpus", "cpuset.cpus"}};
    char parent[SS_GROUP_PATH_SIZE], text[4096];

    snprintf(parent, sizeof parent, "%s", folder);
    *strrchr(parent, '/') = '\0';

    for (size_t i = 0; i < 2; i++) {
        read_file(parent, files[i][0], text);
        if (!*text)
            read_file(parent, files[i][1], text);

        int result = write_file(folder, files[i][1], text);
        if (result < 0)
            return result;
    }
    return 0;
}

static int make_part(struct limit_group *group, int limit) {
    struct limit_part *part = &group->parts[limit];
    const char *file = part->unified ? unified_files[limit] : kinds[limit].file;

    /* It may exist: left by an earlier process with our pid, or created for another limit. */
    part->made = mkdir(part->folder, 0755) == 0;
    if (!part->made && errno != EEXIST)
        return -errno;

    if (!has_file(part->folder, file, W_OK))
        return -errno;
    return limit == LIMIT_CPUS && !part->unified ? inherit_cpus(part->folder) : 0;
}

/*
 * Enables the missing controllers in the parent of the new group, in version 2. If necessary, moves
 * the caller out of the parent into a new child group first.
 */
static int prepare_place(const struct limit_group *group, const struct limit_part *part) {
    char parent[SS_GROUP_PATH_SIZE];

    if (*group->caller_home) {
        if (mkdir(group->caller_group, 0755) < 0 && errno != EEXIST)
            return -errno;
        int result = write_file(group->caller_group, "cgroup.procs", "0");
        if (result < 0)
            return result;
    }

    snprintf(parent, sizeof parent, "%s", part->folder);
    *strrchr(parent, '/') = '\0';
    return write_controllers(parent, group->missing, '+');
}

int limit_group_make(struct limit_group *group, struct ss_error *error) {
    bool prepared = false;

    for (int i = 0; i < LIMIT_KINDS; i++) {
        const struct limit_part *part = &group->parts[i];
        if (!*part->folder)
            continue;

        if (!group->named)
            remove_stale(part->folder);
        int result = part->unified && !prepared ? prepare_place(group, part) : 0;
        prepared |= part->unified;
        if (result == 0)
            result = make_part(group, i);
        if (result == 0)
            continue;

        ss_error_fail(
            error, "cannot create the control group %s: %s", part->folder, strerror(-result));
        remove_created(group);
        return -1;
    }
    return 0;
}

size_t limit_group_quota_settings(struct limit_setting settings[LIMIT_QUOTA_SETTINGS], bool unified,
    double cpus, ss_time period) {
    unsigned long long length = period / SS_MICROSECOND;
    char quota[32];

    snprintf(
        quota, sizeof quota, "%llu", (unsigned long long)fmin(cpus * (double)length + 0.5, 1e18));

    settings[0].file = unified ? "cpu.max" : "cpu.cfs_period_us";
    settings[1].file = "cpu.cfs_quota_us";
    if (unified)
        snprintf(
            settings[0].value, sizeof settings->value, "%s %llu", cpus > 0 ? quota : "max", length);
    else
        snprintf(settings[0].value, sizeof settings->value, "%llu", length);
    snprintf(settings[1].value, sizeof settings->value, "%s", cpus > 0 ? quota : "-1");

    return unified ? 1 : 2;
}

/* Returns why the kernel may refuse a limit: ": REASON", or "". */
static const char *explain_refusal(const char *name, int number) {
    static const struct {
        const char *prefix;
        int number;
        const char *advice;
    } rows[] = {
        {"cpu.cfs_", EINVAL, ": a parent group may allow less"},
        {"cpuset.", EINVAL, ": one of these CPUs may be offline"},
        {"cpuset.", EACCES, ": the parent group may lack one of these CPUs"},
        {"memory.", EBUSY, ": the group already uses more"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].number == number && strncmp(name, rows[i].prefix, strlen(rows[i].prefix)) == 0)
            return rows[i].advice;
    }
    return "";
}

static int set_limit(
    const char *folder, const char *name, const char *value, struct ss_error *error) {
    int status = write_file(folder, name, value);
    if (status == 0)
        return 0;
    return ss_error_fail(error, "the kernel refuses '%s' for %s/%s: %s%s", value, folder, name,
        strerror(-status), explain_refusal(name, -status));
}

static int refuse_changed(const char *folder, const char *name, const char *value, const char *got,
    struct ss_error *error) {
    return ss_error_fail(error, "%s/%s is '%s' after it was set to '%s'", folder, name, got, value);
}

int limit_group_set_quota(
    const struct limit_group *group, double cpus, ss_time period, struct ss_error *error) {
    const struct limit_part *part = &group->parts[LIMIT_QUOTA];
    struct limit_setting settings[LIMIT_QUOTA_SETTINGS];
    char before[4096], got[4096];

    size_t count = limit_group_quota_settings(settings, part->unified, cpus, period);
    read_file(part->folder, settings[count - 1].file, before);

    /*
     * Version 1 has two files, and refuses a share of a CPU (quota / period) above the parent's,
     * even between the two writes. If the quota shrinks first or grows last, the share between the
     * writes never exceeds the larger of the old and the new one.
     */
    bool last_first = strtoll(settings[count - 1].value, NULL, 10) < strtoll(before, NULL, 10);

    for (size_t i = 0; i < count; i++) {
        const struct limit_setting *setting = &settings[last_first ? count - 1 - i : i];
        if (set_limit(part->folder, setting->file, setting->value, error) < 0)
            return -1;
        read_file(part->folder, setting->file, got);
        if (strcmp(got, setting->value) != 0)
            return refuse_changed(part->folder, setting->file, setting->value, got, error);
    }
    return 0;
}

int limit_group_set_cpus(
    const struct limit_group *group, const struct ss_cpus *cpus, struct ss_error *error) {
    static char text[8 * SS_CPUS_MAX];
    const struct limit_part *part = &group->parts[LIMIT_CPUS];
    const char *effective = part->unified ? "cpuset.cpus.effective" : "cpuset.cpus";
    char got[4096];
    struct ss_cpus kept;

    ss_cpus_print(text, sizeof text, cpus);
    if (set_limit(part->folder, "cpuset.cpus", text, error) < 0)
        return -1;

    read_file(part->folder, effective, got);
    if (ss_cpus_parse(got, &kept, NULL) == 0 && ss_cpus_are_equal(&kept, cpus))
        return 0;
    return refuse_changed(part->folder, effective, text, got, error);
}

void limit_group_files(
    const struct limit_group *group, limit_group_file_call *call, void *context) {
    for (int i = 0; i < LIMIT_KINDS; i++) {
        const struct limit_part *part = &group->parts[i];
        const char *files[] = {part->unified ? unified_files[i] : kinds[i].file,
            i == LIMIT_QUOTA && !part->unified ? "cpu.cfs_period_us" : NULL};

        for (size_t j = 0; *part->folder && j < 2 && files[j]; j++) {
            char path[SS_GROUP_PATH_SIZE + 64], value[4096];

            snprintf(path, sizeof path, "%s/%s", part->folder, files[j]);
            read_file(part->folder, files[j], value);
            call(context, (enum limit)i, path, value);
        }
    }
}

int limit_group_version(enum limit limit, const struct ss_platform_roots *roots) {
    struct ss_hierarchy hierarchy;
    struct ss_error error = {0};
    return find_root(&hierarchy, limit, roots, &error) == 0 ? hierarchy.version : 0;
}

/* Version 1 shows the largest number of pages, in bytes, if there is no limit. It is above this. */
#define NO_MEMORY_LIMIT (UINT64_C(1) << 60)

int limit_group_set_memory(
    const struct limit_group *group, uint64_t bytes, struct ss_error *error) {
    const struct limit_part *part = &group->parts[LIMIT_MEMORY];
    const char *name = part->unified ? unified_files[LIMIT_MEMORY] : kinds[LIMIT_MEMORY].file;
    char text[32], got[4096];

    snprintf(text, sizeof text, "%llu", (unsigned long long)bytes);
    if (bytes == 0)
        snprintf(text, sizeof text, "%s", part->unified ? "max" : "-1");

    if (set_limit(part->folder, name, text, error) < 0)
        return -1;

    read_file(part->folder, name, got);
    uint64_t kept = strtoull(got, NULL, 10);
    bool is_kept = bytes == 0 ? kept == 0 || kept >= NO_MEMORY_LIMIT
                              : kept <= bytes && bytes - kept < (uint64_t)sysconf(_SC_PAGESIZE);
    return is_kept ? 0 : refuse_changed(part->folder, name, text, got, error);
}

uint64_t limit_group_memory(const struct limit_group *group) {
    const struct limit_part *part = &group->parts[LIMIT_MEMORY];
    return read_bytes(part->folder, part->unified ? "memory.current" : "memory.usage_in_bytes");
}

uint64_t limit_group_inherited_memory(const struct ss_platform_roots *roots) {
    struct ss_hierarchy hierarchy;
    char folder[SS_GROUP_PATH_SIZE];
    uint64_t tightest = 0;

    if (!ss_platform_find_hierarchy(&hierarchy, roots, "memory"))
        return 0;

    snprintf(folder, sizeof folder, "%s%s", hierarchy.root, hierarchy.own);
    while (strlen(folder) >= strlen(hierarchy.root)) {
        uint64_t bytes =
            read_bytes(folder, hierarchy.version == 2 ? "memory.max" : kinds[LIMIT_MEMORY].file);
        if (bytes > 0 && bytes < NO_MEMORY_LIMIT && (tightest == 0 || bytes < tightest))
            tightest = bytes;
        *strrchr(folder, '/') = '\0';
    }

    return tightest;
}

int limit_group_enter(const struct limit_group *group) {
    for (int i = 0; i < LIMIT_KINDS; i++) {
        const char *folder = group->parts[i].folder;
        int result = *folder ? write_file(folder, "cgroup.procs", "0") : 0;
        if (result < 0)
            return result;
    }
    return 0;
}

/* Retry moving processes up to this many times: they may fork meanwhile, or be exiting. */
#define REMOVALS_MAX     400
#define REMOVAL_INTERVAL 5 /* milliseconds */

static void move_processes(const char *from, const char *to) {
    char path[SS_GROUP_PATH_SIZE + 64], text[32];
    int pid;

    snprintf(path, sizeof path, "%s/cgroup.procs", from);
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%d", &pid) == 1) {
        snprintf(text, sizeof text, "%d", pid);
        /* Fails if the process is exiting. The caller reports a group that remains in use. */
        write_file(to, "cgroup.procs", text);
    }
}

/*
 * If `folder` is the group into which a caller moved, disables all controllers in `home`, because
 * processes can return to `home` only then, and a killed caller may have enabled any controller.
 */
static void disable_controllers(const char *folder, const char *home) {
    const char *suffix = strrchr(folder, '.');
    for (int i = 0; suffix && strcmp(suffix, ".caller") == 0 && i < LIMIT_KINDS; i++)
        write_controllers(home, 1U << i, '-');
}

/* Removes the subgroups that the command has created, and moves their processes to `home`. */
static void remove_below(const char *folder, const char *home) {
    SS_OWNED(closedir) DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        char path[SS_GROUP_PATH_SIZE];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_type != DT_DIR || *entry->d_name == '.' || length >= (int)sizeof path)
            continue;

        remove_below(path, home);
        move_processes(path, home);
        rmdir(path);
    }
}

int limit_group_remove_folder(const char *folder, const char *home) {
    for (int i = 0; i < REMOVALS_MAX; i++) {
        remove_below(folder, home);
        if (rmdir(folder) == 0 || errno == ENOENT)
            return 0;
        if (errno != EBUSY)
            return -errno;

        if (i == 1)
            disable_controllers(folder, home);
        move_processes(folder, home);
        if (i > 0)
            poll(NULL, 0, REMOVAL_INTERVAL);
    }
    return -EBUSY;
}

/* Moves the caller back into the group that it left, and removes the group that it moved into. */
static int return_to_place(const struct limit_group *group) {
    /* A group can have processes only while it enables no controllers for its children. */
    int result = write_controllers(group->caller_home, group->missing, '-');
    if (result < 0)
        return result;
    result = write_file(group->caller_home, "cgroup.procs", "0");
    if (result < 0)
        return result;
    return limit_group_remove_folder(group->caller_group, group->caller_home);
}

int limit_group_remove(struct limit_group *group) {
    int status = 0;

    for (int i = 0; i < LIMIT_KINDS; i++) {
        const struct limit_part *part = &group->parts[i];
        int result = *part->folder ? limit_group_remove_folder(part->folder, part->home) : 0;
        if (status == 0)
            status = result;
    }

    if (*group->caller_home) {
        int result = return_to_place(group);
        if (status == 0)
            status = result;
    }

    *group = (struct limit_group){0};
    return status;
}
