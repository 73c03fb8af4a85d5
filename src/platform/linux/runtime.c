/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

/* The inode of the initial control group namespace (PROC_CGROUP_INIT_INO in the kernel). */
#define FIRST_NAMESPACE 0xEFFFFFFBU

/*
 * Returns whether this mount is the root of a hierarchy, and copies its folder. Lines are "ID
 * PARENT DEVICE ROOT MOUNTPOINT OPTIONS [TAG]... - TYPE SOURCE OPTIONS", see proc(5).
 */
static bool is_root(const char *line, const char *type, const char *option, char folder[2048]) {
    char root[2048];
    const char *rest = strstr(line, type);
    return rest && strstr(rest, option) &&
           sscanf(line, "%*s %*s %*s %2047s %2047s", root, folder) == 2 && strcmp(root, "/") == 0;
}

static bool find_root(const struct ss_platform_roots *roots, const char *type, const char *option,
    char folder[2048]) {
    SS_OWNED(fclose)
    FILE *file = fopen(ss_linux_path("%s/self/mountinfo", ss_linux_proc(roots)).text, "re");
    SS_OWNED(free) char *line = NULL;
    size_t size = 0;
    bool found = false;
    while (file && !found && getline(&line, &size, file) > 0)
        found = is_root(line, type, option, folder);
    return found;
}

/*
 * Returns the number of online CPUs. get_nprocs() of musl counts only those that the caller may
 * use.
 */
static uint32_t count_online(void) {
    char text[4096];
    struct ss_cpus online;
    struct ss_error ignored = {0};
    if (ss_linux_read_text("/sys/devices/system/cpu/online", text, sizeof text) == 0 &&
        ss_cpus_parse(text, &online, &ignored) == 0)
        return ss_cpus_count(&online);
    return (uint32_t)get_nprocs();
}

/* Opens the file with the CPU time of processes. Returns NULL, or why it cannot be read. */
static const char *open_root(
    struct ss_counter_reader *reader, const struct ss_platform_roots *roots) {
    char folder[2048];
    reader->covers_all_cpus = ss_cpus_count(&reader->cpus) >= count_online();

    /* In any other namespace, the visible root is that of a container, not of the machine. */
    struct stat status;
    if (stat(ss_linux_path("%s/self/ns/cgroup", ss_linux_proc(roots)).text, &status) == 0 &&
        status.st_ino != FIRST_NAMESPACE)
        return "the machine's control groups are not visible in a container";

    if (find_root(roots, " - cgroup ", "cpuacct", folder)) {
        const char *name = reader->covers_all_cpus ? "cpuacct.usage" : "cpuacct.usage_percpu";
        strcpy(reader->path, ss_linux_path("%s/%s", folder, name).text);
        reader->file = open(reader->path, O_RDONLY | O_CLOEXEC);
        return reader->file < 0 ? strerror(errno) : NULL;
    }

    if (!find_root(roots, " - cgroup2 ", "", folder))
        return "no control group counts CPU time";
    if (!reader->covers_all_cpus)
        return "control groups of version 2 do not account for single CPUs";
    return ss_linux_groups_open(reader, roots, folder);
}

int ss_linux_runtime_open(struct ss_counter_reader *reader, const struct ss_platform_roots *roots) {
    const char *why = open_root(reader, roots);
    if (why) {
        snprintf(reader->reason, sizeof reader->reason, "%s", why);
        return -1;
    }
    reader->unit = 1;
    /* Room for up to 20 digits per CPU. Numbers after the last measured CPU may be truncated. */
    reader->size =
        reader->covers_all_cpus ? 64 : 21 * ((size_t)ss_cpus_last(&reader->cpus) + 1) + 64;
    reader->capacity = ss_cpus_count(&reader->cpus);
    return 0;
}

/* Reads a number. Fails unless a blank or line feed follows: it may have been truncated. */
static bool read_number(const char **at, uint64_t *number) {
    const char *end = ss_linux_read_number(*at, number);
    bool found = end > *at && end[-1] != ' ';
    *at = end;
    return found && (*end == ' ' || *end == '\n');
}

/* Adds up the measured CPUs. The file has one number for each possible CPU, in order. */
static int add_cpus(const struct ss_counter_reader *reader, uint64_t *used) {
    const char *at = reader->buffer;
    uint32_t found = 0;
    uint64_t number;
    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX && read_number(&at, &number); cpu++) {
        if (!ss_cpus_has(&reader->cpus, cpu))
            continue;
        *used += number;
        found++;
    }
    return found == ss_cpus_count(&reader->cpus) ? 0 : -EBADMSG;
}

int ss_linux_runtime_parse(struct ss_counter_reader *reader, struct ss_counters *counters) {
    if (reader->covers_all_cpus && ss_linux_limits_are_due(reader, counters->time))
        reader->capacity = count_online();
    counters->ran = true;
    counters->capacity = counters->cpus = reader->capacity;
    counters->set = (uint64_t)reader->capacity ^ reader->sum.set;
    if (reader->sum.version)
        return 0;
    if (!reader->covers_all_cpus)
        return add_cpus(reader, &counters->used);
    const char *at = reader->buffer;
    return read_number(&at, &counters->used) ? 0 : -EBADMSG;
}
