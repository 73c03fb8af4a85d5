/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_COMBINED_THROUGHPUT_H
#define SSREPORT_COMBINED_THROUGHPUT_H

#include "pairs.h"

/* Measures of the combined work of two programs side by side. */
enum ssreport_measure {
    SSREPORT_OF_FOREGROUND, /* iterations per second of the foreground */

    /*
     * Of both sides: iterations per second if they run the same program, otherwise the weighted
     * speedup: the sum of both throughputs, each relative to that of its program alone.
     */
    SSREPORT_OF_SYSTEM,

    /*
     * SSREPORT_OF_SYSTEM per watt-hour. If the programs differ, work is in seconds of the program
     * alone.
     */
    SSREPORT_PER_WATT_HOUR,
};

/* The contributions of both sides to a measure, which is their sum. */
struct ssreport_parts {
    double foreground, background;
};

/* Returns the parts in a step; NaN if unknown. */
SS_NONNULL(1, 2)
struct ssreport_parts ssreport_measure_parts(const struct ssreport_pair *pair,
    const struct ssreport_pair_step *step, enum ssreport_measure measure);

/* Returns the measure in a step; NaN if unknown. */
SS_NONNULL(1, 2)
double ssreport_measure_of(const struct ssreport_pair *pair, const struct ssreport_pair_step *step,
    enum ssreport_measure measure);

/*
 * Returns the measure in a step, relative to the same step and round with the placement per-chip in
 * the same environment; NaN if there is no such step.
 */
SS_NONNULL(1, 2, 3)
double ssreport_measure_relative(const struct ssreport_report *report,
    const struct ssreport_pair *pair, const struct ssreport_pair_step *step,
    enum ssreport_measure measure);

#endif
