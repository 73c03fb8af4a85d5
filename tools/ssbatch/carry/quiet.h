/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_QUIET_H
#define SSBATCH_QUIET_H

#include "stage.h"

/* Measures the CPU time that other processes use, and waits until they use little. */

/* CPU time used until a moment. */
struct ssbatch_use {
    ss_time at;
    ss_time machine; /* by all processes of the machine; SS_TIME_NEVER: unknown */
    ss_time own;     /* by the commands of a stage and its outer stages */
};

/* `stage` may be NULL. */
SS_MUST_USE SS_NONNULL(1) struct ssbatch_use
    ssbatch_use_read(const struct ssbatch_spawner *spawner, const struct ssbatch_stage *stage);

/* Returns the CPU time of other processes as a fraction of the machine's; NaN if unknown. */
SS_MUST_USE SS_NONNULL() double ssbatch_use_by_others(const struct ssbatch_spawner *spawner,
    const struct ssbatch_use *before, const struct ssbatch_use *after);

struct ssbatch_quiet {
    double below; /* the largest load of other processes, as a fraction of the machine's */
    void (*say)(void *context, const char *text); /* called when waiting begins and ends */
    void *context;
};

/*
 * Waits until processes other than those of `stage`, which may be NULL, have used at most `below`
 * for a second, or their use is unknown. Adds the time before that second to `waited`, in seconds.
 * Returns 0, or the signal that interrupted the study.
 */
SS_MUST_USE SS_NONNULL(1, 2, 4) int ssbatch_quiet_await(const struct ssbatch_quiet *quiet,
    struct ssbatch_spawner *spawner, const struct ssbatch_stage *stage, double *waited);

#endif
