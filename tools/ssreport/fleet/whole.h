/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_WHOLE_H
#define SSREPORT_WHOLE_H

/* Figures of a fleet as a whole. */

#include <showstopper/contract.h>

#include "fleet.h"
#include "statistics.h"

/* Loads are parts of 1, times are in seconds. Unknown numbers are NaN. */
struct ssreport_whole {
    size_t nodes, failed, measured; /* nodes in fleet.csv, failed nodes, nodes with samples */
    double cpus;                    /* CPUs of the nodes with samples */
    double duration;                /* up to the end of the last sample */
    double load, target;            /* means over all CPUs, while they have samples */
    double error, error_abs; /* mean over time of target - load of all, and of its absolute value */
    struct ssreport_interval errors; /* 5 % and 95 % quantile of the nodes' mean errors */
    double error_worst;              /* the mean error of a node that is farthest from 0 */
    double late_median, late_most;   /* delay of the starts after the planned time */
    double spread;                   /* time from the first to the last start */
    double clock_error;              /* the largest error of a clock's offset */
    size_t untrusted;                /* number of clocks that are not trusted */
};

/* Returns false if memory is exhausted. */
SS_MUST_USE SS_NONNULL(1, 2) bool ssreport_whole_of(
    struct ssreport_whole *whole, const struct ssreport_fleet *fleet);

#endif
