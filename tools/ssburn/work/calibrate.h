/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_CALIBRATE_H
#define SSBURN_CALIBRATE_H

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "burn_work.h"

/* The work to calibrate, and a clock that stops while the caller does not run. */
struct calibrate_bench {
    void (*work)(void *context, uint64_t units);
    ss_time (*clock)(void *context);
    void *context;
};

/* Returns how many units of work take `length`; from 1 to WORK_UNITS_MAX. */
SS_NONNULL() uint64_t calibrate_units(const struct calibrate_bench *bench, ss_time length);

/* Returns how many units of the work of burn_work.h take `length`, by calibrate_thread_clock(). */
SS_NONNULL() uint64_t calibrate_work(const struct work_memory *memory, ss_time length);

/* Returns the CPU time of the calling thread. */
ss_time calibrate_thread_clock(void *context);

#endif
