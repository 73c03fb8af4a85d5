/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_ORDER_H
#define SSBATCH_ORDER_H

#include <stdint.h>

#include "plan.h"

/*
 * Shuffles runs. Runs of one round (column `round`) stay together, and rounds keep their order. The
 * same seed gives the same order.
 */
SS_NONNULL()
void ssbatch_shuffle(const struct ssbatch_run **runs, size_t count, uint64_t seed);

#endif
