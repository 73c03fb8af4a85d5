/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_SAMPLE_IDLE_H
#define SSPLATFORM_SAMPLE_IDLE_H

/* Samples how long CPUs were active, how long they were in each idle state, and their frequency. */

#include "sampled.h"
#include "sys_tree.h"

#define SAMPLE_STATES_MAX 32

/* The counter of one state of one CPU. */
struct sample_counter {
    unsigned number; /* N in cpuidle/stateN of this CPU */
    size_t state;    /* index in `states` */
    bool is_known;   /* `last` is valid */
    double last;     /* microseconds */
};

/* A CPU with idle states. */
struct sample_cpu {
    uint32_t cpu;
    size_t first, count; /* range of its counters */
};

struct sample_idle {
    struct sys_tree tree;
    char *sys;                          /* path of /sys; owned */
    struct ss_cpus with_states;         /* set of all `cpus` */
    char states[SAMPLE_STATES_MAX][64]; /* names, lightest state first */
    size_t state_count;
    struct sample_counter *counters; /* owned */
    size_t counter_count, counter_room;
    struct sample_cpu *cpus; /* owned */
    size_t cpu_count, cpu_room;
};

/*
 * Finds the idle states of these CPUs, or of all CPUs if `cpus` is NULL, of the machine whose /sys
 * is below `root` (NULL for this machine). Sets `cpu_count` to 0 if there are none. Free `idle`
 * even on failure.
 */
SS_MUST_USE SS_NONNULL(1, 4) int sample_idle_find(
    struct sample_idle *idle, const char *root, const struct ss_cpus *cpus, struct ss_error *error);
SS_NONNULL() void sample_idle_free(struct sample_idle *idle);

/*
 * Returns a source of samples: the active share of all CPUs, their mean frequency, and the share of
 * each state in the idle time. CPUs that were offline do not count.
 */
SS_NONNULL() struct sample_source sample_idle_source(struct sample_idle *idle);

#endif
