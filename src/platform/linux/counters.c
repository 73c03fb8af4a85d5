/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "platform/linux/linux.h"
#include "platform/platform.h"

/* Size limit of a line of /proc/stat for one CPU: a name and ten numbers of up to 20 digits. */
#define STAT_LINE_MAX 230

#define RESIDENCIES "/sys/devices/system/cpu/cpu*/cpuidle"

static int open_stat(struct ss_counter_reader *reader, const struct ss_platform_roots *roots,
    struct ss_error *error) {
    strcpy(reader->path, ss_linux_path("%s/stat", ss_linux_proc(roots)).text);
    reader->file = open(reader->path, O_RDONLY | O_CLOEXEC);
    if (reader->file < 0)
        return ss_error_fail(
            error, "cannot measure the load: %s: %s", reader->path, strerror(errno));
    /* Room for the line of the sum, those of CPUs up to the last one, and a part of another. */
    reader->size = ((size_t)ss_cpus_last(&reader->cpus) + 3) * STAT_LINE_MAX;
    reader->unit = 1e9 / (double)sysconf(_SC_CLK_TCK);
    return 0;
}

/* Keeps the requested source, or falls back to the best one that is available. */
static void choose_source(struct ss_counter_reader *reader, const struct ss_platform_roots *roots) {
    if (reader->source == SS_SOURCE_RUNTIME && ss_linux_runtime_open(reader, roots) < 0)
        reader->source = SS_SOURCE_IDLE;
    if (reader->source != SS_SOURCE_IDLE)
        return;

    const char *why = ss_linux_residency_open(reader, roots);
    if (!why)
        return;

    reader->source = SS_SOURCE_SYSTEM;
    if (!*reader->reason)
        snprintf(reader->reason, sizeof reader->reason, "%s", why);
}

int ss_platform_counters_open(struct ss_counter_reader *reader,
    const struct ss_source_request *request, const struct ss_cpus *cpus,
    const struct ss_platform_roots *roots, struct ss_error *error) {
    *reader = (struct ss_counter_reader){.source = request->source, .file = -1, .cpus = *cpus};
    choose_source(reader, roots);

    int status = 0;
    enum ss_source source = reader->source;
    if (source == SS_SOURCE_CGROUP)
        status = ss_linux_cgroup_open(reader, request->argument, roots, error);
    else if (source != SS_SOURCE_RUNTIME)
        status = open_stat(reader, roots, error);
    if (status < 0) {
        ss_platform_counters_close(reader);
        return -1;
    }

    reader->buffer = malloc(reader->size);
    if (!reader->buffer) {
        ss_platform_counters_close(reader);
        return ss_error_memory(error);
    }

    struct ss_counters counters;
    int why = ss_platform_counters_read(reader, &counters);
    if (!why)
        return 0;

    bool lists_cpus = source == SS_SOURCE_SYSTEM || source == SS_SOURCE_IDLE;
    const char *lacks = lists_cpus ? "lists none of the measured CPUs" : "contains no CPU time";
    ss_error_fail(error, "%s: %s", reader->path, why == -EBADMSG ? lacks : strerror(-why));
    ss_platform_counters_close(reader);
    return -1;
}

int ss_platform_counters_reopen(struct ss_counter_reader *reader) {
    int file = open(reader->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    reader->file = file;
    ss_linux_cgroup_open_throttling(reader);
    ss_linux_residency_reopen(&reader->residencies);
    return reader->sum.version ? ss_linux_groups_reopen(reader) : 0;
}

void ss_platform_counters_close(struct ss_counter_reader *reader) {
    if (reader->file >= 0)
        close(reader->file);
    if (*reader->throttling_path)
        close(reader->throttling);
    *reader->throttling_path = '\0';
    ss_linux_groups_close(&reader->sum);
    ss_linux_residency_close(&reader->residencies);
    free(reader->limits);
    free(reader->buffer);
    reader->file = -1;
    reader->limits = NULL;
    reader->buffer = NULL;
}

void ss_platform_counters_print_paths(
    char *buffer, size_t size, const struct ss_counter_reader *reader) {
    const char *more = reader->source == SS_SOURCE_IDLE ? " and " RESIDENCIES : "";
    snprintf(buffer, size, "%s%s", reader->path, reader->sum.version ? "/*/cpu.stat" : more);
}

static int parse_stat(struct ss_counter_reader *reader, struct ss_counters *counters) {
    const char *text = reader->buffer;
    struct ss_cpu_times times;
    uint64_t tick = (uint64_t)reader->unit;
    counters->grain = reader->residencies.count ? 0 : tick;

    while (ss_linux_stat_next(&text, &reader->cpus, tick, &times)) {
        counters->idle += ss_linux_residency_refine(&reader->residencies, &times, tick);
        counters->iowait += times.iowait;
        counters->steal += times.steal;
        counters->busy_ticks += times.user + times.system + times.irq + times.steal;
        counters->capacity += 1;
        counters->cpus += 1;
        counters->set = (counters->set ^ (times.cpu + 1)) * UINT64_C(1099511628211); /* FNV-1a */
    }
    return counters->capacity > 0 ? 0 : -EBADMSG;
}

static int read_file(struct ss_counter_reader *reader) {
    ssize_t length = pread(reader->file, reader->buffer, reader->size - 1, 0);
    if (length < 0)
        return -errno;
    reader->buffer[length] = '\0';
    return 0;
}

int ss_platform_counters_read(struct ss_counter_reader *reader, struct ss_counters *counters) {
    *counters = (struct ss_counters){0};

    ss_time before = ss_platform_now();
    int why =
        reader->sum.version ? ss_linux_groups_read(reader, &counters->used) : read_file(reader);
    ss_linux_residency_read(&reader->residencies);
    ss_time after = ss_platform_now();
    if (why)
        return why;

    counters->time = before + (after - before) / 2;
    switch (reader->source) {
    case SS_SOURCE_CGROUP:
        return ss_linux_cgroup_parse(reader, counters);
    case SS_SOURCE_RUNTIME:
        return ss_linux_runtime_parse(reader, counters);
    default:
        return parse_stat(reader, counters);
    }
}
