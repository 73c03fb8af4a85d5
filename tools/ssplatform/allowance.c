/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "parts.h"

/* How much of the machine the control groups leave to us. */

#define ROOT "sys/fs/cgroup"

struct quota {
    bool known;   /* no level holds what cannot be read */
    bool limited; /* the rest holds only then */
    double cpus;
    double quota_us, period_us;
    char group[4096];
};

/* A controller's hierarchy, where it is mounted. */
struct hierarchy {
    int version; /* 0: none */
    const char *folder;
    char group[4096];
};

/* Our own group; NULL for `controller` is v2. */
static bool find_group(const struct ssplatform_tree *tree, const char *controller, char *group) {
    char *text = ssplatform_tree_read(tree, "proc/self/cgroup");
    char *rest = text;
    bool found = false;
    for (char *line; !found && (line = strsep(&rest, "\n"));) {
        char *number = strsep(&line, ":");
        char *list = strsep(&line, ":");
        if (!line || *line != '/' || ssplatform_number(number) < 0)
            continue;
        found = ss_words_has(list, ',', controller ? controller : "");
        if (found)
            snprintf(group, 4096, "%s", line);
    }
    free(text);
    return found;
}

/* v1 where the controller is mounted there, as it cannot be in both. */
static struct hierarchy find_hierarchy(const struct ssplatform_tree *tree, const char *controller) {
    static const struct {
        const char *controller; /* NULL: all of them */
        const char *folder;
        const char *mark; /* the file in it by which it is known */
        int version;
    } places[] = {
        {"cpu", ROOT "/cpu", "", 1},
        {"cpu", ROOT "/cpu,cpuacct", "", 1},
        {"cpu", ROOT "/cpuacct,cpu", "", 1},
        {"cpuset", ROOT "/cpuset", "", 1},
        {NULL, ROOT "/unified", "/cgroup.controllers", 2},
        {NULL, ROOT, "/cgroup.controllers", 2},
    };
    struct hierarchy hierarchy = {0};
    for (size_t i = 0; hierarchy.version == 0 && i < sizeof places / sizeof *places; i++) {
        if ((places[i].controller && strcmp(places[i].controller, controller) != 0) ||
            !ssplatform_tree_has(tree, "%s%s", places[i].folder, places[i].mark) ||
            !find_group(tree, places[i].controller, hierarchy.group))
            continue;
        hierarchy.version = places[i].version;
        hierarchy.folder = places[i].folder;
    }
    return hierarchy;
}

/* The two numbers of one level; a quota of "max" or -1 means unlimited. */
static void count_level(struct quota *quota, const char *amount, double period, const char *group) {
    double number = ssplatform_number(amount);
    if (amount && (strcmp(amount, "max") == 0 || number == -1))
        return;
    if (!(number > 0) || !(period > 0)) {
        quota->known = false;
        return;
    }
    if (quota->limited && number / period >= quota->cpus)
        return;
    quota->limited = true;
    quota->cpus = number / period;
    quota->quota_us = number;
    quota->period_us = period;
    snprintf(quota->group, sizeof quota->group, "%s", *group ? group : "/");
}

/* The outermost group has no such file, nor has one whose controller is off: no limit there. */
static void read_level(struct quota *quota, const struct ssplatform_tree *tree,
    const struct hierarchy *hierarchy, const char *group) {
    static const char *const names[] = {NULL, "cpu.cfs_quota_us", "cpu.max"};
    const char *name = names[hierarchy->version];
    if (!ssplatform_tree_has(tree, "%s%s/%s", hierarchy->folder, group, name))
        return;
    char *line = ssplatform_tree_line(tree, "%s%s/%s", hierarchy->folder, group, name);
    char *rest = line;
    if (hierarchy->version == 2) {
        char *amount = strsep(&rest, " ");
        count_level(quota, amount, ssplatform_number(rest), group);
    } else {
        count_level(quota, line,
            ssplatform_tree_number(tree, "%s%s/cpu.cfs_period_us", hierarchy->folder, group),
            group);
    }
    free(line);
}

/* Calls for the group and for all above it; in a container the outermost may have a limit, too. */
static struct quota find_quota(
    const struct ssplatform_tree *tree, const struct hierarchy *hierarchy) {
    /* "/.." leads out of our namespace, to where nothing can be seen. */
    struct quota quota = {
        .known = hierarchy->version != 0 && !strstr(hierarchy->group, "/.."),
    };
    char group[sizeof hierarchy->group];
    snprintf(group, sizeof group, "%s", hierarchy->group);
    while (quota.known) {
        size_t length = strlen(group);
        if (length > 0 && group[length - 1] == '/')
            group[length - 1] = '\0';
        read_level(&quota, tree, hierarchy, group);
        char *slash = strrchr(group, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    quota.limited &= quota.known;
    return quota;
}

/* The nearest group that says so: one that is not there is that of another namespace. */
static void write_cpuset(struct ss_json *json, const struct ssplatform_tree *tree) {
    static const char *const files[][2] = {
        {NULL}, {"cpuset.effective_cpus", "cpuset.cpus"}, {"cpuset.cpus.effective", NULL}};
    struct hierarchy hierarchy = find_hierarchy(tree, "cpuset");
    char *group = hierarchy.group;
    char *line = NULL;
    for (;;) {
        for (int i = 0; !line && i < 2 && files[hierarchy.version][i]; i++)
            line = ssplatform_tree_line(
                tree, "%s%s/%s", hierarchy.folder, group, files[hierarchy.version][i]);
        char *slash = strrchr(group, '/');
        if (line || !slash)
            break;
        *slash = '\0';
    }
    ss_json_text(json, "cpuset", line);
    free(line);
}

char *ssplatform_affinity(const struct ssplatform_tree *tree) {
    return ssplatform_tree_value(tree, "proc/self/status", "\nCpus_allowed_list:");
}

void ssplatform_write_allowance(struct ss_json *json, const struct ssplatform_tree *tree) {
    struct hierarchy hierarchy = find_hierarchy(tree, "cpu");
    struct quota quota = find_quota(tree, &hierarchy);
    const char *limited = quota.limited ? "yes" : quota.known ? "no" : NULL;
    ss_json_open(json, "allowance", '{');
    char *affinity = ssplatform_affinity(tree);
    ss_json_text(json, "affinity", affinity);
    free(affinity);
    write_cpuset(json, tree);
    ss_json_number(json, "cgroup_version", hierarchy.version ? hierarchy.version : NAN);
    ss_json_text(json, "cgroup", hierarchy.version ? hierarchy.group : NULL);
    ss_json_text(json, "limited", limited);
    ss_json_number(json, "quota_cpus", quota.limited ? quota.cpus : NAN);
    ss_json_number(json, "quota_us", quota.limited ? quota.quota_us : NAN);
    ss_json_number(json, "period_us", quota.limited ? quota.period_us : NAN);
    ss_json_text(json, "quota_cgroup", quota.limited ? quota.group : NULL);
    ss_json_close(json, '}');
}
