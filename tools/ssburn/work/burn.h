/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_BURN_H
#define SSBURN_BURN_H

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "burn_tally.h"
#include "burn_work.h"

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
