/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_STEADY_H
#define REQUEST_STEADY_H

/*
 * Decides whether response times are stationary. The means of successive batches are correlated
 * while a queue fills, or if batches are too short. Memory is bounded: if there are too many
 * batches, pairs are merged.
 */

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>

#define REQUEST_STEADY_BATCHES 32

/* Batches of response times. Zeroed: no values. */
struct request_steady {
    double sums[REQUEST_STEADY_BATCHES];
    uint64_t size;  /* number of values in each batch */
    uint64_t count; /* number of values */
    double total;
};

SS_NONNULL()
void request_steady_add(struct request_steady *steady, double seconds);

/*
 * Returns true if von Neumann's ratio of at least 16 batches shows no trend at 5 %, or if a trend
 * does not matter: batches differ by at most 10 %, or less than half a request is in the service on
 * average over `elapsed` seconds, so there is no queue.
 */
SS_NONNULL()
bool request_steady_is_reached(const struct request_steady *steady, double elapsed);

/*
 * Returns whether the values of the second half are at least a quarter longer than those of the
 * first.
 */
SS_NONNULL()
bool request_steady_rises(const struct request_steady *steady);

#endif
