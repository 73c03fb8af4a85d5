/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_WINDOW_H
#define SSBURN_WINDOW_H

/*
 * The rate of work that is stopped from time to time. Work begins and ends while the process runs,
 * so that the first and the last round of running and being stopped are cut anywhere; the rate is
 * taken over whole rounds, from the end of the first stop to the end of the last one.
 */

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

struct window_mark {
    ss_time when;
    uint64_t done; /* rounds of work until then */
};

struct window {
    struct window_mark begin, now;
    struct window_mark first, last; /* ends of stops */
    uint64_t stops;
    ss_time min; /* time that a batch took; 0: none was measured */
};

SS_NONNULL()
void window_begin(struct window *window, ss_time now);

/* A batch of so many rounds of work has just ended; all batches are to be about equally long. */
SS_NONNULL()
void window_add(struct window *window, ss_time now, uint64_t rounds);

/* From the begin until the last batch. */
SS_NONNULL()
ss_time window_length(const struct window *window);

/* Per second. It is taken over everything if the whole rounds make up less than half of the time.
 */
SS_NONNULL()
double window_rate(const struct window *window);

#endif
