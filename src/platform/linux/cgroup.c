/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "platform/linux/linux.h"

int ss_linux_read_text(const char *path, char *buffer, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t length = read(file, buffer, size - 1);
    close(file);
    if (length < 0)
        return -1;
    while (length > 0 && buffer[length - 1] == '\n')
        length--;
    buffer[length] = '\0';
    return 0;
}

static const char *cgroup_root(const struct ss_platform_roots *roots) {
    return roots && roots->cgroup ? roots->cgroup : "/sys/fs/cgroup";
}

/* Whether a comma-separated list of v1 controllers holds this one. */
static bool names_controller(const char *list, size_t length, const char *controller) {
    size_t wanted = strlen(controller);
    for (size_t at = 0; at + wanted <= length; at++) {
        bool begins = at == 0 || list[at - 1] == ',';
        bool ends = at + wanted == length || list[at + wanted] == ',';
        if (begins && ends && strncmp(list + at, controller, wanted) == 0)
            return true;
    }
    return false;
}

int ss_linux_own_cgroup(
    const struct ss_platform_roots *roots, const char *controller, char *path, size_t size) {
    char file[4096];
    char text[8192];
    snprintf(file, sizeof file, "%s/self/cgroup", roots && roots->proc ? roots->proc : "/proc");
    if (ss_linux_read_text(file, text, sizeof text) < 0)
        return -1;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *list = strchr(line, ':');
        char *group = list ? strchr(list + 1, ':') : NULL;
        if (!group)
            continue;
        size_t length = (size_t)(group - list - 1);
        if (controller ? names_controller(list + 1, length, controller) : length == 0) {
            snprintf(path, size, "%s", group + 1);
            return 0;
        }
    }
    return -1;
}

/* A folder of a group, with what stands for its CPU time. */
static bool try_folder(struct ss_counter_reader *reader, const char *folder) {
    char text[4096];
    snprintf(reader->path, sizeof reader->path, "%.4000s/cpuacct.usage", folder);
    reader->unit = 1;
    if (ss_linux_read_text(reader->path, text, sizeof text) == 0)
        return true;
    snprintf(reader->path, sizeof reader->path, "%.4000s/cpu.stat", folder);
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

static int find_group(struct ss_counter_reader *reader, const char *group,
    const struct ss_platform_roots *roots, char *folder, size_t size, struct ss_error *error) {
    const char *root = cgroup_root(roots);
    for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++) {
        char name[2048];
        if (group)
            snprintf(name, sizeof name, "%s%s", *group == '/' ? "" : "/", group);
        else if (ss_linux_own_cgroup(roots, hierarchies[i].controller, name, sizeof name) < 0)
            continue;
        snprintf(folder, size, "%s%s%s", root, hierarchies[i].folder, name);
        if (try_folder(reader, folder))
            return 0;
    }
    if (group && strncmp(group, root, strlen(root)) == 0) {
        snprintf(folder, size, "%s", group);
        if (try_folder(reader, folder))
            return 0;
    }
    return ss_error_set(error, SS_ERROR_FAILED,
        "control group '%s': no cpu.stat or cpuacct.usage below %s: name a group that is there",
        group ? group : "(our own)", root);
}

/* CPUs that a quota "QUOTA PERIOD" gives; 0: no limit. */
static double quota_cpus(const char *quota, const char *period) {
    double numerator = strtod(quota, NULL);
    double denominator = strtod(period, NULL);
    return numerator > 0 && denominator > 0 ? numerator / denominator : 0;
}

static double folder_quota(const char *folder) {
    char path[4600];
    char text[256];
    char period[256];
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (ss_linux_read_text(path, text, sizeof text) == 0) {
        char *space = strchr(text, ' ');
        return space ? quota_cpus(text, space) : 0;
    }
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    if (ss_linux_read_text(path, text, sizeof text) < 0)
        return 0;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    return ss_linux_read_text(path, period, sizeof period) == 0 ? quota_cpus(text, period) : 0;
}

#define FOLDER 4200

/*
 * The tightest limit of a group and of all groups above it; in a container the root has one, too.
 * `where`, if it is wanted, becomes the group that has it.
 */
static double tightest_quota(
    const char *folder, const char *root, double capacity, char where[FOLDER]) {
    char at[FOLDER];
    snprintf(at, sizeof at, "%s", folder);
    for (;;) {
        double quota = folder_quota(at);
        if (quota > 0 && quota < capacity) {
            capacity = quota;
            if (where)
                snprintf(where, FOLDER, "%s", at);
        }
        if (strlen(at) <= strlen(root))
            return capacity;
        *strrchr(at, '/') = '\0';
    }
}

static uint64_t read_count(const char *text, const char *name) {
    uint64_t count = 0;
    const char *at = strstr(text, name);
    if (at)
        ss_linux_read_number(at + strlen(name), &count);
    return count;
}

void ss_platform_quota_read(const struct ss_platform_roots *roots, struct ss_quota *quota) {
    static const struct hierarchy quotas[] = {
        {"/cpu", "cpu"}, {"/cpu,cpuacct", "cpu"}, {"/unified", NULL}, {"", NULL}};
    const char *root = cgroup_root(roots);
    double least = INFINITY;
    char where[FOLDER] = "", folder[FOLDER], group[2048], text[4096];
    *quota = (struct ss_quota){0};
    for (size_t i = 0; i < sizeof quotas / sizeof *quotas; i++) {
        if (ss_linux_own_cgroup(roots, quotas[i].controller, group, sizeof group) < 0)
            continue;
        snprintf(folder, sizeof folder, "%.2000s%s%s", root, quotas[i].folder, group);
        least = tightest_quota(folder, root, least, where);
    }
    if (!*where)
        return;
    quota->cpus = least;
    strncat(where, "/cpu.stat", sizeof where - strlen(where) - 1);
    if (ss_linux_read_text(where, text, sizeof text) < 0)
        return;
    quota->periods = read_count(text, "nr_periods");
    quota->throttled = read_count(text, "nr_throttled");
}

static uint32_t allowed_cpus(const char *folder, const struct ss_cpus *measured) {
    char path[4600];
    char text[4096];
    struct ss_cpus group;
    snprintf(path, sizeof path, "%s/cpuset.cpus.effective", folder);
    if (ss_linux_read_text(path, text, sizeof text) < 0 || !*text ||
        ss_cpus_parse(text, &group, NULL) < 0)
        return ss_cpus_count(measured);
    for (size_t i = 0; i < SS_CPUS_MAX / 64; i++)
        group.bits[i] &= measured->bits[i];
    return ss_cpus_count(&group);
}

int ss_linux_cgroup_open(struct ss_counter_reader *reader, const char *group,
    const struct ss_platform_roots *roots, struct ss_error *error) {
    char folder[4200];
    if (find_group(reader, group, roots, folder, sizeof folder, error) < 0)
        return -1;
    reader->file = open(reader->path, O_RDONLY | O_CLOEXEC);
    if (reader->file < 0)
        return ss_error_set(error, SS_ERROR_FAILED, "%s: %s", reader->path, strerror(errno));
    reader->size = 4096;
    const char *root = cgroup_root(roots);
    reader->capacity = tightest_quota(folder, root, allowed_cpus(folder, &reader->cpus), NULL);
    if (!(reader->capacity > 0)) {
        close(reader->file);
        reader->file = -1;
        return ss_error_set(error, SS_ERROR_FAILED,
            "control group %s: it may use none of the measured CPUs", folder);
    }
    /* In v1 the quota stands in another hierarchy, under the same path. */
    char *accounts = strstr(folder, "/cpuacct");
    if (accounts && accounts == folder + strlen(root)) {
        char other[4200];
        snprintf(other, sizeof other, "%s/cpu%s", root, accounts + strlen("/cpuacct"));
        reader->capacity = tightest_quota(other, root, reader->capacity, NULL);
    }
    return 0;
}

int ss_linux_cgroup_parse(struct ss_counter_reader *reader, struct ss_counters *counters) {
    const char *at = strstr(reader->buffer, "usage_usec ");
    at = at ? at + strlen("usage_usec ") : reader->buffer;
    char *end;
    unsigned long long used = strtoull(at, &end, 10);
    if (end == at)
        return EBADMSG;
    counters->used = used * (uint64_t)reader->unit;
    counters->capacity = reader->capacity;
    return 0;
}
