/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_WHOLE_H
#define SSREPORT_WHOLE_H

/* Figures of a fleet as a whole. */

#include <showstopper/contract.h>

#include "fleet.h"
#include "statistics.h"

/* Loads are parts of 1, times are in seconds. Unknown numbers are NaN. */
struct ssreport_whole {
    size_t nodes, failed, measured; /* planned; without a complete record; with samples */
    double cpus;                    /* of the nodes with samples */
    double duration;                /* up to the end of the last sample */
    double load, target;            /* of all CPUs together, while they have samples */
    double error, error_abs; /* mean over time of the sum's error, and of its absolute value */
    struct ssreport_interval errors; /* 5 % and 95 % quantile of the nodes' mean errors */
    double error_worst;              /* the largest mean error of a node, up or down */
    double late_median, late_most;   /* of the starts, after the planned one */
    double spread;                   /* from the first to the last start */
    double clock_error;              /* the largest error of a clock's offset */
    size_t untrusted;                /* clocks that are not trusted */
};

/* Returns false if memory is exhausted. */
SS_MUST_USE SS_NONNULL(1, 2) bool ssreport_whole_of(
    struct ssreport_whole *whole, const struct ssreport_fleet *fleet);

#endif
