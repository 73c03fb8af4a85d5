/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVICE_SERVICE_FIGURES_H
#define SERVICE_SERVICE_FIGURES_H

/* Statistics of a service whose load was held: errors of the load, and the rate of requests. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "run_result.h"

/* An interval between two decisions about the rate. */
struct service_interval {
    uint32_t episode; /* from 0; each begins with a search for the rate */
    ss_time end;      /* since control of the rate began in this episode */
    double seconds;   /* length */
    double cpus;      /* CPUs that made a load of 1, mean; the limit of a group may change */
    double used;      /* seconds of CPU time of the service */
    double target;    /* from 0 to 1; NaN: no control */
    uint64_t answers; /* requests that ended, in any way */
};

/* Zeroed: no intervals. */
struct service_figures {
    struct service_interval *intervals;
    size_t count, room;
};

/* Fails if memory is exhausted. */
SS_MUST_USE SS_NONNULL() int service_figures_add(
    struct service_figures *figures, const struct service_interval *interval);

/* Returns the interval that was added last; NULL if none was. */
SS_NONNULL()
const struct service_interval *service_figures_last(const struct service_figures *figures);

SS_NONNULL()
void service_figures_free(struct service_figures *figures);

/*
 * Sets the figures of `held` from the intervals that begin at `settle` or later in their episode,
 * and removes the others. Sets `cpus` unless no interval is left.
 */
SS_NONNULL()
void service_figures_finish(
    struct service_figures *figures, ss_time settle, struct request_held_load *held);

#endif
