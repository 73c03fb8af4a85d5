/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_RECORDING_H
#define SSSIM_RECORDING_H

#include <showstopper/contract.h>

#include "command/plan.h"
#include "record/outcome.h"
#include "record/recorder.h"
#include "trial.h"

/*
 * The record of a trial, written by showstopper's own code. Its times are simulated; every
 * simulated run begins at the same time.
 */

struct recording_options {
    const char *folder;
    const char *word;   /* the word that replaces the command */
    char *const *argv;  /* the command line */
    uint32_t first_cpu; /* first of the trial's CPUs */
    ss_time duration;   /* duration of control */
};

/* A recording, which must not be moved while it is open. Zeroed: not open. */
struct recording {
    struct trial *trial;
    struct ss_clock clock;
    struct ss_plan plan;
    char *folder;
    struct ss_command_line line;
    char *words[2];               /* the only word of the command, a copy */
    struct ss_recorder *recorder; /* NULL: nothing is recorded */
};

/*
 * Opens the recording. Call this right after opening the trial, which must be `recorded`. The
 * folder must not exist.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int recording_open(struct recording *recording, struct trial *trial,
    const struct recording_options *options, struct ss_error *error);

/* Records the latest sample. Call this after each sample of the trial. */
SS_NONNULL()
void recording_take_sample(struct recording *recording);

/* Completes the record. Call this at the end of control. */
SS_MUST_USE SS_NONNULL(1) int recording_finish(struct recording *recording, struct ss_error *error);

/* Removes the record unless recording_finish() was called. */
SS_NONNULL()
void recording_close(struct recording *recording);

#endif
