/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_CONDITIONS_H
#define SHOWSTOPPER_MEASURE_CONDITIONS_H

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "platform/platform.h"
#include "verdict/verdict.h"
#include "verdict/windows.h"

/*
 * Conditions of the counted time that a verdict checks: the CPUs' frequency, changes of the wall
 * clock and suspensions of the machine.
 */
struct ss_conditions {
    const struct ss_platform_roots *roots;
    const struct ss_cpus *cpus;
    struct ss_clock_offsets begin;
    ss_time due; /* when to read the frequency next */
    struct ss_windows frequency_sums, frequency_counts;
};

SS_NONNULL(1, 2)
void ss_conditions_begin(struct ss_conditions *conditions, const struct ss_cpus *cpus,
    const struct ss_platform_roots *roots, ss_time now);

/*
 * Reads the frequency if a second has passed since the last reading. After a failure, does not try
 * again.
 */
SS_NONNULL() void ss_conditions_sample(struct ss_conditions *conditions, ss_time now);

/* Sets the figures of these conditions for the time since ss_conditions_begin(). */
SS_NONNULL()
void ss_conditions_end(
    const struct ss_conditions *conditions, ss_time now, struct ss_evidence *evidence);

#endif
