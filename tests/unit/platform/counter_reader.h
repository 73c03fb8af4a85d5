/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_COUNTER_READER_H
#define SHOWSTOPPER_TESTS_COUNTER_READER_H

#include <sys/sysinfo.h>

#include "platform/platform.h"
#include "tree.h"

static struct ss_counter_reader reader = {.file = -1};
static struct ss_counters counters;

static inline struct ss_cpus cpus_of(const char *list) {
    struct ss_cpus cpus;
    assert_int_equal(ss_cpus_parse(list, &cpus, NULL), 0);
    return cpus;
}

/*
 * Returns the list of all CPUs of this machine, which may have gaps. With fewer CPUs, a reader may
 * choose another source.
 */
static inline const char *all_cpus(void) {
    static char list[4096];
    FILE *file = fopen("/sys/devices/system/cpu/online", "re");
    if (!file || fscanf(file, "%4095s", list) != 1)
        snprintf(list, sizeof list, "0-%d", get_nprocs() - 1);
    if (file)
        fclose(file);
    return list;
}

static inline uint32_t count_all_cpus(void) {
    struct ss_cpus cpus = cpus_of(all_cpus());
    return ss_cpus_count(&cpus);
}

static inline int try_to_open(
    enum ss_source source, const char *proc, const char *list, struct ss_error *error) {
    struct ss_cpus cpus = cpus_of(list);
    struct ss_source_request request = {.source = source};
    struct ss_platform_roots roots = {.proc = proc, .sys = proc};
    ss_platform_counters_close(&reader);
    return ss_platform_counters_open(&reader, &request, &cpus, &roots, error);
}

static inline void read_reader(void) {
    assert_int_equal(ss_platform_counters_read(&reader, &counters), 0);
}

#endif
