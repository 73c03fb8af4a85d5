/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSAMPLE_SAMPLE_IDLE_H
#define SSSAMPLE_SAMPLE_IDLE_H

/* Samples how long CPUs were active, how long they were in each idle state, and their frequency. */

#include <stdbool.h>
#include <stdint.h>

#include "base/cpus.h"
#include "sampled.h"

#define SSSAMPLE_STATES_MAX 32

/* The time in one state of one CPU. */
struct sssample_counter {
    char *path; /* owned */
    size_t state;
    bool is_known; /* `last` is valid */
    uint64_t last; /* microseconds */
};

/* A CPU with idle states. */
struct sssample_cpu {
    char *online;        /* a file with 0 while the CPU is offline; it need not exist; owned */
    size_t first, count; /* its counters */
};

struct sssample_idle {
    char states[SSSAMPLE_STATES_MAX][64]; /* names, lightest state first */
    size_t state_count;
    struct sssample_counter *counters; /* owned */
    size_t counter_count, counter_room;
    char **frequencies; /* files in kHz; owned */
    size_t frequency_count, frequency_room;
    struct sssample_cpu *cpus; /* owned */
    size_t cpu_count, cpu_room;
};

/*
 * Finds the idle states of these CPUs, or of all CPUs if `cpus` is NULL, below `root`. Returns
 * whether there are any. Free them in either case.
 */
SS_NONNULL(1, 2)
bool sssample_idle_find(struct sssample_idle *idle, const char *root, const struct ss_cpus *cpus);
SS_NONNULL() void sssample_idle_free(struct sssample_idle *idle);

/*
 * Returns a source of samples: the active share of all CPUs, their mean frequency, and the share of
 * each state in the idle time. CPUs that were offline do not count.
 */
SS_NONNULL() struct sssample_source sssample_idle_source(struct sssample_idle *idle);

#endif
