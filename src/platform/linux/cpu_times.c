/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "platform/linux/linux.h"
#include "platform/platform.h"

/*
 * Larger than any file with one number, and than the beginning of the pressure file with its first
 * number.
 */
#define SMALL_FILE_SIZE 128

/* The kernel updates its pressure averages at most this often. */
#define PRESSURE_PERIOD (2 * SS_SECOND)

static int open_sibling(const struct ss_counter_reader *counters, const char *name) {
    int folder = (int)(strrchr(counters->path, '/') - counters->path);
    return open(ss_linux_path("%.*s/%s", folder, counters->path, name).text, O_RDONLY | O_CLOEXEC);
}

int ss_platform_cpu_times_open(struct ss_cpu_reader *reader,
    const struct ss_source_request *request, const struct ss_cpus *cpus,
    const struct ss_platform_roots *roots, struct ss_error *error) {
    *reader = (struct ss_cpu_reader)SS_CPU_READER_CLOSED;
    reader->group = request->source == SS_SOURCE_CGROUP;
    if (ss_platform_counters_open(&reader->counters, request, cpus, roots, error) < 0)
        return -1;

    if (!reader->group) {
        if (reader->counters.source != SS_SOURCE_RUNTIME)
            reader->pressure = open_sibling(&reader->counters, "pressure/cpu");
        return 0;
    }

    reader->pressure = open_sibling(&reader->counters, "cpu.pressure");
    reader->user = open_sibling(&reader->counters, "cpuacct.usage_user");
    reader->system = open_sibling(&reader->counters, "cpuacct.usage_sys");
    return 0;
}

void ss_platform_cpu_times_add_parts(
    struct ss_cpu_reader *reader, const struct ss_platform_roots *roots) {
    struct ss_source_request request = {.source = SS_SOURCE_SYSTEM};
    struct ss_error ignored = {0};
    if (reader->counters.source != SS_SOURCE_RUNTIME)
        return;
    if (ss_platform_counters_open(
            &reader->stat, &request, &reader->counters.cpus, roots, &ignored) < 0) {
        reader->stat.file = -1;
        return;
    }
    reader->pressure = open_sibling(&reader->stat, "pressure/cpu");
    reader->pressure_due = 0;
}

static void close_file(int *file) {
    if (*file >= 0)
        close(*file);
    *file = -1;
}

void ss_platform_cpu_times_close(struct ss_cpu_reader *reader) {
    close_file(&reader->pressure);
    close_file(&reader->user);
    close_file(&reader->system);
    ss_platform_counters_close(&reader->stat);
    ss_platform_counters_close(&reader->counters);
}

/* Parses the last reading of `counters`, CPU by CPU. */
static void take_stat(const struct ss_counter_reader *counters, struct ss_cpu_reading *reading) {
    size_t room = ss_cpus_count(&counters->cpus);
    const char *text = counters->buffer;
    while (reading->count < room && ss_linux_stat_next(&text, &counters->cpus,
                                        (uint64_t)counters->unit, &reading->items[reading->count]))
        reading->count++;
}

static int read_small(int file, char *text) {
    ssize_t length = file < 0 ? -1 : pread(file, text, SMALL_FILE_SIZE - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return length > 0 ? 0 : -1;
}

/*
 * Parses the pressure from "some avg10=1.23 ...", a percentage. Returns a fraction; NaN if unknown.
 */
static double read_pressure(int file) {
    static const char label[] = "some avg10=";
    char text[SMALL_FILE_SIZE];
    uint64_t whole, hundredths;
    if (read_small(file, text) < 0 || strncmp(text, label, sizeof label - 1) != 0 ||
        !isdigit((unsigned char)text[sizeof label - 1]))
        return NAN;

    const char *at = ss_linux_read_number(text + sizeof label - 1, &whole);
    const char *decimals = at + (*at == '.');
    double unit = 1;
    for (at = ss_linux_read_number(decimals, &hundredths); decimals < at; decimals++)
        unit *= 10;
    return ((double)whole + (double)hundredths / unit) / 100;
}

static bool find_number(const char *text, const char *name, uint64_t *number) {
    const char *at = strstr(text, name);
    if (at)
        ss_linux_read_number(at + strlen(name), number);
    return at;
}

static void take_group(const struct ss_cpu_reader *reader, struct ss_cpu_reading *reading) {
    const char *buffer = reader->counters.buffer;
    struct ss_cpu_times *times = reading->items;
    *times = (struct ss_cpu_times){.used = reading->counters.used};
    reading->count = 1;

    char text[SMALL_FILE_SIZE];
    if (read_small(reader->user, text) == 0) {
        ss_linux_read_number(text, &times->user);
        reading->parts = read_small(reader->system, text) == 0;
        ss_linux_read_number(text, &times->system);
    } else {
        reading->parts = find_number(buffer, "\nuser_usec ", &times->user) &&
                         find_number(buffer, "\nsystem_usec ", &times->system);
        times->user *= SS_MICROSECOND;
        times->system *= SS_MICROSECOND;
    }
}

int ss_platform_cpu_times_read(struct ss_cpu_reader *reader, struct ss_cpu_reading *reading) {
    *reading =
        (struct ss_cpu_reading){.group = reader->group, .parts = true, .items = reading->items};
    int why = ss_platform_counters_read(&reader->counters, &reading->counters);
    if (why)
        return why;

    ss_time now = reading->counters.time;
    if (now >= reader->pressure_due) {
        reader->pressure_now = read_pressure(reader->pressure);
        reader->pressure_due = now + PRESSURE_PERIOD;
    }
    reading->pressure = reader->pressure_now;

    struct ss_counters ignored;
    if (reader->group)
        take_group(reader, reading);
    else if (reader->counters.source != SS_SOURCE_RUNTIME)
        take_stat(&reader->counters, reading);
    /* The load does not need /proc/stat: without it, the reading just has no parts. */
    else if (reader->stat.file >= 0 && ss_platform_counters_read(&reader->stat, &ignored) == 0)
        take_stat(&reader->stat, reading);
    return 0;
}
