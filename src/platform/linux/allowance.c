/* SPDX-License-Identifier: Apache-2.0 */

/* Finds our control groups and how much of the machine they allow us to use. */

#include <stdlib.h>
#include <unistd.h>

#include "base/words.h"
#include "platform/linux/linux.h"

int ss_platform_cgroup_of(const struct ss_platform_roots *roots, const char *process,
    const char *controller, char *path, size_t size) {
    char text[8192];
    if (ss_linux_read_text(ss_linux_path("%s/%s/cgroup", ss_linux_proc(roots), process).text, text,
            sizeof text) < 0)
        return -1;

    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        strsep(&line, ":");
        const char *list = strsep(&line, ":");
        /* In version 2, the list of controllers is empty. */
        if (line && *line == '/' && ss_words_has(list, ',', controller ? controller : "")) {
            snprintf(path, size, "%s", line);
            return 0;
        }
    }
    return -1;
}

bool ss_platform_find_hierarchy(
    struct ss_hierarchy *hierarchy, const struct ss_platform_roots *roots, const char *controller) {
    static const struct {
        const char *controller; /* NULL: all controllers */
        const char *folder;
        const char *mark; /* a file that identifies the folder */
        int version;
    } places[] = {
        {"cpu", "/cpu", "", 1},
        {"cpu", "/cpu,cpuacct", "", 1},
        {"cpu", "/cpuacct,cpu", "", 1},
        {"cpuacct", "/cpuacct", "", 1},
        {"cpuacct", "/cpu,cpuacct", "", 1},
        {"cpuacct", "/cpuacct,cpu", "", 1},
        {"cpuset", "/cpuset", "", 1},
        {"memory", "/memory", "", 1},
        {"pids", "/pids", "", 1},
        {NULL, "/unified", "/cgroup.controllers", 2},
        {NULL, "", "/cgroup.controllers", 2},
    };

    *hierarchy = (struct ss_hierarchy){0};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (places[i].controller && strcmp(places[i].controller, controller) != 0)
            continue;

        snprintf(hierarchy->root, sizeof hierarchy->root, "%.1900s%s", ss_linux_cgroup_root(roots),
            places[i].folder);
        const char *mark = places[i].mark;
        if (access(ss_linux_path("%s%s", hierarchy->root, mark).text, F_OK) < 0 ||
            ss_platform_cgroup_of(
                roots, "self", places[i].controller, hierarchy->own, sizeof hierarchy->own) < 0)
            continue;

        hierarchy->version = places[i].version;
        return true;
    }
    return false;
}

/*
 * Converts a positive decimal number of microseconds to nanoseconds. Returns 0 for any other text.
 */
static ss_time parse_time(const char *text) {
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && !text[digits] && digits < 16 ? strtoull(text, NULL, 10) * SS_MICROSECOND
                                                      : 0;
}

/*
 * Reads the quota of a group. A group without a file for the quota has no limit: it is the root, or
 * its controller is off.
 */
static void read_quota(struct ss_linux_quota *quota, const char *folder) {
    char text[256], period[256] = "";
    *quota = (struct ss_linux_quota){0};
    snprintf(quota->folder, sizeof quota->folder, "%s", folder);

    if (ss_linux_read_text(ss_linux_path("%s/cpu.max", folder).text, text, sizeof text) == 0) {
        char *space = strchr(text, ' ');
        if (space) {
            snprintf(period, sizeof period, "%s", space + 1);
            *space = '\0';
        }
    } else {
        struct ss_linux_path path = ss_linux_path("%s/cpu.cfs_quota_us", folder);
        if (ss_linux_read_text(path.text, text, sizeof text) < 0) {
            quota->is_unreadable = access(path.text, F_OK) == 0;
            return;
        }
        ss_linux_read_text(
            ss_linux_path("%s/cpu.cfs_period_us", folder).text, period, sizeof period);
    }

    if (strcmp(text, "max") == 0 || strcmp(text, "-1") == 0)
        return;

    quota->time = parse_time(text);
    quota->period = parse_time(period);
    if (quota->time > 0 && quota->period > 0)
        quota->cpus = (double)quota->time / (double)quota->period;
    else
        quota->is_unreadable = true;
}

void ss_linux_tighten_quota(struct ss_linux_quota *tightest, const char *folder, const char *root) {
    char at[SS_GROUP_PATH_SIZE];
    struct ss_linux_quota quota;
    snprintf(at, sizeof at, "%s", folder);
    for (;;) {
        size_t length = strlen(at);
        if (length > strlen(root) && at[length - 1] == '/')
            at[length - 1] = '\0';

        bool is_unreadable = tightest->is_unreadable;
        read_quota(&quota, at);
        is_unreadable |= quota.is_unreadable;
        if (quota.cpus > 0 && (tightest->cpus <= 0 || quota.cpus < tightest->cpus))
            *tightest = quota;
        tightest->is_unreadable = is_unreadable;

        if (strlen(at) <= strlen(root))
            return;
        *strrchr(at, '/') = '\0';
    }
}

/*
 * Finds the CPUs of the nearest group that names any. Groups that do not exist here are in another
 * namespace.
 */
static void find_cpus(struct ss_allowance *allowance, const struct ss_platform_roots *roots) {
    static const char *const files[][2] = {
        {NULL}, {"cpuset.effective_cpus", "cpuset.cpus"}, {"cpuset.cpus.effective", NULL}};
    struct ss_hierarchy hierarchy;
    struct ss_cpus cpus;

    bool found = ss_platform_find_hierarchy(&hierarchy, roots, "cpuset");
    while (found) {
        for (int i = 0; i < 2 && files[hierarchy.version][i]; i++) {
            struct ss_linux_path path = ss_linux_path(
                "%s%s/%s", hierarchy.root, hierarchy.own, files[hierarchy.version][i]);
            if (ss_linux_read_text(path.text, allowance->cpus, sizeof allowance->cpus) == 0 &&
                *allowance->cpus && ss_cpus_parse(allowance->cpus, &cpus, NULL) == 0)
                return;
        }

        char *slash = strrchr(hierarchy.own, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    allowance->cpus[0] = '\0';
}

void ss_platform_allowance_read(
    const struct ss_platform_roots *roots, struct ss_allowance *allowance) {
    struct ss_hierarchy hierarchy;
    struct ss_linux_quota quota = {0};
    char folder[SS_GROUP_PATH_SIZE];

    *allowance = (struct ss_allowance){0};
    find_cpus(allowance, roots);
    if (!ss_platform_find_hierarchy(&hierarchy, roots, "cpu"))
        return;

    allowance->version = hierarchy.version;
    snprintf(allowance->own, sizeof allowance->own, "%s", hierarchy.own);
    /* "/.." leads out of our namespace, to groups that are not visible here. */
    if (strstr(hierarchy.own, "/.."))
        return;

    snprintf(folder, sizeof folder, "%s%s", hierarchy.root, hierarchy.own);
    ss_linux_tighten_quota(&quota, folder, hierarchy.root);
    allowance->is_known = !quota.is_unreadable;
    if (quota.cpus <= 0)
        return;

    allowance->quota_cpus = quota.cpus;
    allowance->time = quota.time;
    allowance->period = quota.period;
    snprintf(allowance->folder, sizeof allowance->folder, "%s", quota.folder);
    const char *group = quota.folder + strlen(hierarchy.root);
    snprintf(allowance->group, sizeof allowance->group, "%s", *group ? group : "/");
}

void ss_platform_quota_read(const struct ss_platform_roots *roots, struct ss_quota *quota) {
    struct ss_allowance allowance;
    char text[4096];
    ss_platform_allowance_read(roots, &allowance);
    *quota = (struct ss_quota){.cpus = allowance.quota_cpus};
    if (!(quota->cpus > 0) ||
        ss_linux_read_text(ss_linux_path("%s/cpu.stat", allowance.folder).text, text, sizeof text) <
            0)
        return;
    quota->periods = ss_linux_read_count(text, "nr_periods");
    quota->throttled = ss_linux_read_count(text, "nr_throttled");
}
