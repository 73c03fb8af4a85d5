/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_WINDOW_H
#define SSBURN_WINDOW_H

/*
 * Measures the rate of work that is stopped from time to time. The measurement may begin and end
 * anywhere in a round of running and stopping, so the rate covers whole rounds: from the end of the
 * first stop to the end of the last.
 */

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

struct window_mark {
    ss_time when;
    uint64_t done; /* rounds of work done before that time */
};

struct window {
    struct window_mark begin, now;
    struct window_mark first, last; /* marks at the ends of stops */
    uint64_t stops;
    ss_time min; /* shortest time of a batch; 0 before the first batch */
};

SS_NONNULL() void window_begin(struct window *window, ss_time now);

/*
 * Records that a batch of `rounds` rounds of work has just ended. All batches should take about the
 * same time.
 */
SS_NONNULL() void window_add(struct window *window, ss_time now, uint64_t rounds);

/* Returns the time from the beginning to the last batch. */
SS_NONNULL() ss_time window_length(const struct window *window);

/*
 * Returns the rate per second. If whole rounds make up less than half of the time, the rate covers
 * all of it.
 */
SS_NONNULL() double window_rate(const struct window *window);

#endif
