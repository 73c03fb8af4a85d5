/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_STUDY_H
#define SSSIM_STUDY_H

#include <showstopper/contract.h>

#include "experiment.h"
#include "trial.h"

/*
 * A study of how much one program slows down another: an uncontrolled foreground, and a background
 * under control on other CPUs. They share the memory.
 */

enum study_side {
    STUDY_FOREGROUND,
    STUDY_BACKGROUND,
};

struct study_options {
    struct trial_options sides[MEMORY_SIDES];
    const char *workloads[MEMORY_SIDES];
    double memory_rate; /* accesses per second; 0 for no limit */
    ss_time duration;   /* maximum time of control; SS_TIME_NEVER for the length of the background's
                           trace */
    uint64_t round;     /* number of the round, from 1 */
    char *const *argv;
};

/* Runs a study, and records it unless `experiment` is NULL. Adds warnings to `store`. */
SS_MUST_USE SS_NONNULL(1, 3, 4) int study_run(const struct study_options *options,
    struct experiment *experiment, struct ss_option_store *store,
    struct trial_figures figures[MEMORY_SIDES], struct ss_error *error);

/*
 * Returns the interference metric that follows from the options: by how many percent the
 * foreground's throughput falls from an idle background to one at full load. NaN if it is not known
 * in advance, or if the memory saturates, so that the throughput is not linear.
 */
SS_NONNULL() double study_interference(const struct study_options *options);

/* Adds the warnings of another store. */
SS_NONNULL()
void study_merge_warnings(struct ss_option_store *store, const struct ss_option_store *other);

#endif
