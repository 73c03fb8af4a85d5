/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "platform/linux/linux.h"

/* Uses the file with the CPU time in the folder of a group, if there is one. */
static bool try_folder(struct ss_counter_reader *reader, const char *folder) {
    char text[4096];
    strcpy(reader->path, ss_linux_path("%s/cpuacct.usage", folder).text);
    reader->unit = 1;
    if (ss_linux_read_text(reader->path, text, sizeof text) == 0)
        return true;
    strcpy(reader->path, ss_linux_path("%s/cpu.stat", folder).text);
    reader->unit = 1000;
    return ss_linux_read_text(reader->path, text, sizeof text) == 0 && strstr(text, "usage_usec");
}

static const struct hierarchy {
    const char *folder;
    const char *controller; /* NULL: v2 */
} hierarchies[] = {
    {"/cpuacct", "cpuacct"},
    {"/cpu,cpuacct", "cpuacct"},
    {"/unified", NULL},
    {"", NULL},
};

/*
 * Returns the path of a group in its hierarchy, given its folder; "" if the folder is below another
 * root, such as that of the host in a container. Limits of version 1 are then those of our root.
 */
static const char *path_in_hierarchy(const char *folder, const char *root) {
    if (strncmp(folder, root, strlen(root)) != 0)
        return "";
    const char *name = folder + strlen(root);
    for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++) {
        size_t length = strlen(hierarchies[i].folder);
        if (strncmp(name, hierarchies[i].folder, length) == 0 &&
            (name[length] == '/' || !name[length]))
            return name + length;
    }
    return name;
}

static int find_group(struct ss_counter_reader *reader, const char *group,
    const struct ss_platform_roots *roots, struct ss_linux_path *folder, struct ss_error *error) {
    const char *root = ss_linux_cgroup_root(roots);
    for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++) {
        char name[2048];
        if (group)
            snprintf(name, sizeof name, "%s%s", *group == '/' ? "" : "/", group);
        else if (ss_platform_cgroup_of(
                     roots, "self", hierarchies[i].controller, name, sizeof name) < 0)
            continue;
        if (strcmp(name, "/") == 0)
            *name = '\0';
        *folder = ss_linux_path("%s%s%s", root, hierarchies[i].folder, name);
        if (try_folder(reader, folder->text))
            return 0;
    }

    /* A container may have mounted the groups of its host elsewhere. */
    bool is_group = group && *group == '/' &&
                    access(ss_linux_path("%s/cgroup.controllers", group).text, F_OK) == 0;
    if (is_group || (group && strncmp(group, root, strlen(root)) == 0)) {
        *folder = ss_linux_path("%s", group);
        if (try_folder(reader, folder->text))
            return 0;
    }

    return ss_error_fail(error,
        "control group '%s': no cpu.stat or cpuacct.usage below %s: use an existing group",
        group ? group : "(showstopper's own)", root);
}

/* Where the limits of a group are found. In version 1, each controller has a hierarchy. */
struct ss_group_limits {
    struct ss_linux_path root;
    struct ss_linux_path quotas[3]; /* folders, which may not exist */
    struct ss_linux_path cpus[2]; /* files, which may not exist; the first one with CPUs is used */
};

/*
 * Finds where the limits of a group are: in the folder of its CPU time, or in the v1 hierarchy of
 * the controller. Our own group may have another path in that hierarchy; other groups are assumed
 * to have the same path.
 */
static void find_limits(struct ss_group_limits *limits, const char *folder, const char *group,
    const struct ss_platform_roots *roots) {
    static const char *const controllers[] = {"cpu", "cpuset"};
    const char *root = ss_linux_cgroup_root(roots);
    char names[2][2048];
    for (size_t i = 0; i < 2; i++) {
        if (group ||
            ss_platform_cgroup_of(roots, "self", controllers[i], names[i], sizeof names[i]) < 0)
            snprintf(names[i], sizeof names[i], "%s", path_in_hierarchy(folder, root));
    }

    *limits = (struct ss_group_limits){
        .root = ss_linux_path("%s", root),
        .quotas = {ss_linux_path("%s", folder), ss_linux_path("%s/cpu%s", root, names[0]),
            ss_linux_path("%s/cpu,cpuacct%s", root, names[0])},
        .cpus = {ss_linux_path("%s/cpuset.cpus.effective", folder),
            ss_linux_path("%s/cpuset%s/cpuset.effective_cpus", root, names[1])},
    };
}

static bool read_cpus(const char *path, struct ss_cpus *cpus) {
    char text[4096];
    return ss_linux_read_text(path, text, sizeof text) == 0 && *text &&
           ss_cpus_parse(text, cpus, NULL) == 0;
}

/* Counts the measured CPUs that the group may use: all if the group does not limit them. */
static uint32_t allowed_cpus(const struct ss_counter_reader *reader) {
    const struct ss_group_limits *limits = reader->limits;
    struct ss_cpus cpus;
    if (!read_cpus(limits->cpus[0].text, &cpus) && !read_cpus(limits->cpus[1].text, &cpus))
        return ss_cpus_count(&reader->cpus);
    ss_cpus_intersect(&cpus, &reader->cpus);
    return ss_cpus_count(&cpus);
}

/* Opens the file with the throttled time of the group in this folder; NULL if there is no quota. */
static void use_throttling(struct ss_counter_reader *reader, const char *folder) {
    struct ss_linux_path path = {""};
    if (folder)
        path = ss_linux_path("%s/cpu.stat", folder);
    if (strcmp(path.text, reader->throttling_path) == 0)
        return;
    if (*reader->throttling_path)
        close(reader->throttling);
    strcpy(reader->throttling_path, path.text);
    ss_linux_cgroup_open_throttling(reader);
}

/*
 * Reads the limits, which may change at any time. Keeps the previous ones if a file cannot be read,
 * or if no measured CPU is left, so that there is always an allowance.
 */
static void read_limits(struct ss_counter_reader *reader) {
    struct ss_linux_quota quota = {0};
    if (!reader->limits)
        return; /* only the counters are read */

    uint32_t cpus = allowed_cpus(reader);
    for (size_t i = 0; i < sizeof reader->limits->quotas / sizeof *reader->limits->quotas; i++)
        ss_linux_tighten_quota(&quota, reader->limits->quotas[i].text, reader->limits->root.text);
    if (cpus == 0 || (quota.is_unreadable && reader->capacity > 0))
        return;

    bool limits = quota.cpus > 0 && quota.cpus < cpus;
    reader->usable_cpus = cpus;
    reader->capacity = limits ? quota.cpus : cpus;
    reader->period = limits ? quota.period : 0;
    use_throttling(reader, limits ? quota.folder : NULL);
}

int ss_linux_cgroup_open(struct ss_counter_reader *reader, const char *group,
    const struct ss_platform_roots *roots, struct ss_error *error) {
    struct ss_linux_path folder;
    if (find_group(reader, group, roots, &folder, error) < 0)
        return -1;

    reader->file = open(reader->path, O_RDONLY | O_CLOEXEC);
    if (reader->file < 0)
        return ss_error_fail(error, "cannot read %s: %s", reader->path, strerror(errno));

    reader->size = 4096;
    reader->limits = malloc(sizeof *reader->limits);
    if (!reader->limits)
        return ss_error_memory(error);

    find_limits(reader->limits, folder.text, group, roots);
    read_limits(reader);
    if (reader->capacity > 0)
        return 0;
    return ss_error_fail(error,
        "control group %s may use none of the measured CPUs: choose other CPUs or another group",
        folder.text);
}

void ss_linux_cgroup_open_throttling(struct ss_counter_reader *reader) {
    if (!*reader->throttling_path)
        return;
    reader->throttling = open(reader->throttling_path, O_RDONLY | O_CLOEXEC);
    if (reader->throttling < 0)
        *reader->throttling_path = '\0';
}

/* Returns the throttled time in nanoseconds; 0 if unknown. */
static uint64_t read_throttled(const struct ss_counter_reader *reader) {
    char text[1024];
    if (!*reader->throttling_path)
        return 0;
    ssize_t length = pread(reader->throttling, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    /* The first field exists in v2, the second in v1. */
    return ss_linux_read_count(text, "throttled_usec ") * SS_MICROSECOND +
           ss_linux_read_count(text, "throttled_time ");
}

int ss_linux_cgroup_parse(struct ss_counter_reader *reader, struct ss_counters *counters) {
    const char *at = strstr(reader->buffer, "usage_usec ");
    at = at ? at + strlen("usage_usec ") : reader->buffer;
    char *end;
    unsigned long long used = strtoull(at, &end, 10);
    if (end == at)
        return -EBADMSG;

    if (ss_linux_limits_are_due(reader, counters->time))
        read_limits(reader);
    counters->used = used * (uint64_t)reader->unit;
    counters->capacity = reader->capacity;
    counters->cpus = reader->usable_cpus;
    counters->period = reader->period;
    counters->throttled = read_throttled(reader);
    return 0;
}
