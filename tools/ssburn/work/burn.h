/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_BURN_H
#define SSBURN_BURN_H

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "burn_work.h"

#define TALLY_ENDLESS UINT64_MAX

/* Counts iterations and prints a line for each. Only one thread at a time may use it. */
struct tally {
    uint64_t requested; /* number of iterations, or TALLY_ENDLESS */
    uint64_t done;      /* number of iterations so far */
    ss_time began;      /* start of the current iteration, which is the end of the previous one */
};

/* Prints the work of an iteration, in units. The first iteration begins when this returns. */
SS_MUST_USE SS_NONNULL(1) int tally_begin(
    struct tally *tally, uint64_t work, struct ss_error *error);

/*
 * Counts an iteration that has ended. Returns a positive number if another iteration must follow, 0
 * after the last, or -1 on failure.
 */
SS_MUST_USE SS_NONNULL(1) int tally_count(struct tally *tally, struct ss_error *error);

/* The parameters of a class. */
struct burn {
    uint64_t threads; /* number of threads, or of children at a time */
    uint64_t work;    /* units of one iteration */
    struct work_memory memory;
    struct tally tally;
};

/* Each function runs one class until the tally is complete or a call fails. */
SS_MUST_USE SS_NONNULL(1) int burn_serial(struct burn *burn, struct ss_error *error);
SS_MUST_USE SS_NONNULL(1) int burn_blocking(struct burn *burn, struct ss_error *error);
SS_MUST_USE SS_NONNULL(1) int burn_parallel(struct burn *burn, struct ss_error *error);
SS_MUST_USE SS_NONNULL(1) int burn_forking(struct burn *burn, struct ss_error *error);

#endif
