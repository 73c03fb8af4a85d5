/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_ORDER_H
#define SSBATCH_ORDER_H

#include <stdint.h>

#include "batch_options.h"
#include "plan.h"

/*
 * Chooses runs of a plan, in the order in which a call carries them out: those of --only or,
 * without that, of the plan `given`, shuffled if an option says so, and needed runs first. A run
 * that is named twice is chosen once. `runs` has room for all runs of the plan.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3, 4, 5) int ssbatch_choose_runs(const struct ssbatch_options *options,
    const struct ssbatch_plan *plan, const struct ssbatch_plan *given,
    const struct ssbatch_run **runs, size_t *count, struct ss_error *error);

/*
 * Shuffles runs. Runs of one round (column `round`) stay together, and rounds keep their order. The
 * same seed gives the same order.
 */
SS_NONNULL() void ssbatch_shuffle(const struct ssbatch_run **runs, size_t count, uint64_t seed);

/* Moves needed runs before the runs that need them. */
SS_NONNULL()
void ssbatch_order_needs(
    const struct ssbatch_plan *plan, const struct ssbatch_run **runs, size_t count);

#endif
