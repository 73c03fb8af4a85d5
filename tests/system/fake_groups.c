/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The part of the fake kernel for control groups. They have only members that were moved there. Its
 * rules:
 *
 *   cgroup.procs               version 1: ENOSPC for a cpuset without CPUs or memory nodes;
 *                              version 2: EBUSY if the group enables controllers for its children
 *   cpu.cfs_quota_us, cpu.max  EINVAL for less than 1 ms; in version 1 also for more than the
 *                              parent's
 *   cpu.cfs_period_us          EINVAL for less than 1 ms or more than 1 s
 *   cpuset.cpus                version 1: EINVAL for CPUs that are offline, EACCES for CPUs that
 *                              the parent lacks; version 2: EINVAL for CPUs that do not exist;
 *                              others are ignored (cpuset.cpus.effective)
 *   memory.limit_in_bytes      EBUSY for less than is in use: nothing can be reclaimed
 *   memory.limit_in_bytes, memory.max  rounded down to pages
 *
 * SS_TEST_KERNEL/in-use has the number of bytes that a new group uses.
 */

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_kernel.h"

#define GROUPS "/sys/fs/cgroup"
#define ROOM   (PATH_MAX + 300)
#define PAGE   4096

bool fake_is_group(const char *folder) {
    return strstr(folder, GROUPS) != NULL;
}

static bool has_file(const char *folder, const char *name) {
    char path[ROOM];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static bool is_unified(const char *folder) {
    return has_file(folder, "cgroup.controllers");
}

static void parent_of(const char *folder, char parent[PATH_MAX]) {
    snprintf(parent, PATH_MAX, "%s", folder);
    *strrchr(parent, '/') = '\0';
}

static bool gives(const char *folder, const char *controller) {
    char given[300];
    fake_get(folder, "cgroup.subtree_control", given);
    return strstr(given, controller) != NULL;
}

void fake_fill_group(const char *folder) {
    static const struct {
        const char *hierarchy, *controller, *name, *text;
    } files[] = {
        {"cpu,cpuacct", NULL, "cpu.cfs_quota_us", "-1"},
        {"cpu,cpuacct", NULL, "cpu.cfs_period_us", "100000"},
        {"cpuset", NULL, "cpuset.cpus", ""},
        {"cpuset", NULL, "cpuset.mems", ""},
        {"memory", NULL, "memory.limit_in_bytes", "9223372036854771712"},
        {"memory", NULL, "memory.usage_in_bytes", NULL},
        {"", NULL, "cgroup.controllers", "cpuset cpu memory"},
        {"", NULL, "cgroup.subtree_control", ""},
        {"", NULL, "cgroup.type", "domain"},
        {"", "cpu", "cpu.max", "max 100000"},
        {"", "cpuset", "cpuset.cpus", ""},
        {"", "cpuset", "cpuset.cpus.effective", ""},
        {"", "memory", "memory.max", "max"},
        {"", "memory", "memory.current", NULL},
    };
    char parent[PATH_MAX], mark[64], used[300] = "0";
    parent_of(folder, parent);
    if (!fake_is_group(folder))
        return;
    if (fake_has_switch("in-use"))
        fake_get(getenv("SS_TEST_KERNEL"), "in-use", used);
    fake_put(folder, "cgroup.procs", "");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(mark, sizeof mark, GROUPS "/%s/", files[i].hierarchy);
        bool is_here = *files[i].hierarchy ? strstr(folder, mark) != NULL : is_unified(parent);
        if (is_here && (!files[i].controller || gives(parent, files[i].controller)))
            fake_put(folder, files[i].name, files[i].text ? files[i].text : used);
    }
}

static bool has_processes(const char *folder) {
    char path[ROOM];
    int pid;
    bool found = false;
    snprintf(path, sizeof path, "%s/cgroup.procs", folder);
    FILE *file = fopen(path, "re");
    while (file && !found && fscanf(file, "%d", &pid) == 1)
        found = kill(pid, 0) == 0;
    if (file)
        fclose(file);
    return found;
}

int fake_empty_group(const char *folder) {
    char path[ROOM];
    if (!fake_is_group(folder))
        return 0;
    if (has_processes(folder))
        return EBUSY;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_type == DT_REG && unlink(path) < 0)
            abort();
    }
    if (entries)
        closedir(entries);
    return 0;
}

static int moved; /* pid of the process that is moved */

/* Removes the moved process from the group with this cgroup.procs. */
static int forget(const char *path, const struct stat *status, int type, struct FTW *at) {
    char folder[PATH_MAX], text[300] = "", word[32];
    int pid;
    (void)status;
    if (type != FTW_F || strcmp(path + at->base, "cgroup.procs") != 0)
        return 0;
    parent_of(path, folder);
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%d", &pid) == 1) {
        snprintf(word, sizeof word, "%s%d", *text ? "\n" : "", pid);
        if (pid != moved && strlen(text) + strlen(word) < sizeof text)
            strcat(text, word);
    }
    if (file)
        fclose(file);
    fake_put(folder, "cgroup.procs", text);
    return 0;
}

static int move(const char *folder, const char *text) {
    char hierarchy[PATH_MAX], cpus[300], nodes[300], path[ROOM];
    fake_get(folder, "cpuset.cpus", cpus);
    fake_get(folder, "cpuset.mems", nodes);
    if (is_unified(folder) && has_file(folder, "cgroup.type") && gives(folder, "c"))
        return EBUSY;
    if (has_file(folder, "cpuset.mems") && (!*cpus || !*nodes))
        return ENOSPC;
    moved = (int)strtol(text, NULL, 10);
    moved = moved > 0 ? moved : (int)getpid();
    snprintf(hierarchy, sizeof hierarchy, "%s", folder);
    char *end = strstr(hierarchy, GROUPS) + sizeof GROUPS - 1;
    if (!is_unified(folder))
        end += 1 + strcspn(end + 1, "/");
    *end = '\0';
    if (nftw(hierarchy, forget, 8, FTW_PHYS) < 0)
        return EIO;
    snprintf(path, sizeof path, "%s/cgroup.procs", folder);
    FILE *file = fopen(path, "ae");
    if (!file || fprintf(file, "%d\n", moved) < 0 || fclose(file) == EOF)
        abort();
    return 0;
}

#define CPUS 64

static void parse_cpus(const char *list, bool cpus[CPUS]) {
    memset(cpus, 0, CPUS * sizeof *cpus);
    while (*list) {
        char *end;
        long first = strtol(list, &end, 10);
        long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        for (long cpu = first; cpu <= last && cpu < CPUS; cpu++)
            cpus[cpu] = true;
        list = end + (*end == ',');
    }
}

static bool is_within(const char *list, const char *other) {
    bool cpus[CPUS], allowed[CPUS];
    bool within = true;
    parse_cpus(list, cpus);
    parse_cpus(other, allowed);
    for (int cpu = 0; cpu < CPUS; cpu++)
        within &= !cpus[cpu] || allowed[cpu];
    return within;
}

/* Sets the effective CPUs of a group of version 2: the parent's if it has none of the list. */
static void set_effective(const char *folder, const char *list, const char *above) {
    bool cpus[CPUS], allowed[CPUS];
    char text[300] = "";
    parse_cpus(list, cpus);
    parse_cpus(above, allowed);
    for (int cpu = 0; cpu < CPUS; cpu++) {
        size_t length = strlen(text);
        if (cpus[cpu] && allowed[cpu])
            snprintf(text + length, sizeof text - length, "%s%d", length > 0 ? "," : "", cpu);
    }
    fake_put(folder, "cpuset.cpus.effective", *text ? text : above);
}

static void get_machine_cpus(const char *folder, const char *file, char cpus[300]) {
    char machine[PATH_MAX];
    snprintf(machine, sizeof machine, "%.*s/sys/devices/system/cpu",
        (int)(strstr(folder, GROUPS) - folder), folder);
    fake_get(machine, file, cpus);
}

static int set_cpus(const char *folder, const char *name, const char *text) {
    char parent[PATH_MAX], above[300], known[300];
    bool unified = is_unified(folder);
    parent_of(folder, parent);
    fake_get(parent, unified ? "cpuset.cpus.effective" : "cpuset.cpus", above);
    get_machine_cpus(folder, unified ? "possible" : "online", known);
    if (!is_within(text, known))
        return EINVAL;
    if (!unified && !is_within(text, above))
        return EACCES;
    if (!unified && !*text && has_processes(folder))
        return ENOSPC;
    fake_put(folder, name, text);
    if (unified)
        set_effective(folder, text, above);
    return 0;
}

/* Returns a quota as a number of CPUs; 0: no quota. */
static double cpus_of(long quota, long period) {
    return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

static int set_quota(const char *folder, const char *name, const char *text) {
    char parent[PATH_MAX];
    bool is_period = strcmp(name, "cpu.cfs_period_us") == 0;
    long value = strtol(text, NULL, 10);
    long quota = is_period ? fake_get_number(folder, "cpu.cfs_quota_us") : value;
    long period = is_period ? value : fake_get_number(folder, "cpu.cfs_period_us");
    parent_of(folder, parent);
    double above = cpus_of(
        fake_get_number(parent, "cpu.cfs_quota_us"), fake_get_number(parent, "cpu.cfs_period_us"));
    if (period < 1000 || period > 1000000 || (quota >= 0 && quota < 1000) ||
        (above > 0 && cpus_of(quota, period) > above))
        return EINVAL;
    fake_put(folder, name, text);
    return 0;
}

static int set_maximum(const char *folder, const char *name, const char *text) {
    char *end;
    long quota =
        strncmp(text, "max", 3) == 0 ? (end = strchr(text, ' '), 1000) : strtol(text, &end, 10);
    long period = end && *end ? strtol(end, NULL, 10) : 100000;
    if (period < 1000 || period > 1000000 || quota < 1000)
        return EINVAL;
    fake_put(folder, name, text);
    return 0;
}

static int set_memory(const char *folder, const char *name, const char *text) {
    long bytes = strtol(text, NULL, 10) / PAGE * PAGE;
    if (strcmp(text, "max") == 0 || bytes < 0) {
        fake_put(folder, name, strcmp(text, "max") == 0 ? text : "9223372036854771712");
        return 0;
    }
    if (!is_unified(folder) && bytes < fake_get_number(folder, "memory.usage_in_bytes"))
        return EBUSY;
    fake_put_number(folder, name, bytes);
    return 0;
}

/* Enables controllers for the children ("+cpu +memory"). Any "-NAME" disables all of them. */
static int set_controllers(const char *folder, const char *name, const char *text) {
    char given[300], word[32];
    fake_get(folder, name, given);
    for (int length; sscanf(text, "%31s%n", word, &length) == 1; text += length) {
        if (*word == '-')
            *given = '\0';
        else if (!strstr(given, word + 1) && strlen(given) + strlen(word) < sizeof given)
            strcat(strcat(given, " "), word + 1);
    }
    fake_put(folder, name, given);
    return 0;
}

static int keep(const char *folder, const char *name, const char *text) {
    fake_put(folder, name, text);
    return 0;
}

int fake_set_group(const char *folder, const char *name, const char *text) {
    static const struct {
        const char *name;
        int (*set)(const char *folder, const char *name, const char *text);
    } rules[] = {
        {"cpu.cfs_quota_us", set_quota},
        {"cpu.cfs_period_us", set_quota},
        {"cpu.max", set_maximum},
        {"cpuset.cpus", set_cpus},
        {"cpuset.mems", keep},
        {"memory.limit_in_bytes", set_memory},
        {"memory.max", set_memory},
        {"cgroup.subtree_control", set_controllers},
    };
    if (strcmp(name, "cgroup.procs") == 0)
        return move(folder, text);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].name, name) == 0)
            return rules[i].set(folder, name, text);
    }
    return EINVAL;
}
