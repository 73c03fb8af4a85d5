/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_STEADY_H
#define SSREQUEST_STEADY_H

/*
 * Whether response times have become stationary. While a queue fills, or if it was not watched for
 * much longer than its times are correlated, the means of successive batches are correlated, too.
 * Memory is fixed: when there are too many batches, each two become one.
 */

#include <stdbool.h>
#include <stdint.h>

#define SSREQUEST_STEADY_BATCHES 32

/* Zeroed: nothing was measured. */
struct ssrequest_steady {
    double sums[SSREQUEST_STEADY_BATCHES];
    uint64_t size;  /* values in each batch */
    uint64_t count; /* values */
    double total;
};

void ssrequest_steady_add(struct ssrequest_steady *steady, double seconds);

/*
 * Stationary, by von Neumann's ratio of at least 16 batches, at 5 %; or such that it does not
 * matter: batches that differ by 10 % at most, or less than half a request in the service on
 * average in the `elapsed` seconds, so that there is no queue.
 */
bool ssrequest_steady_is_reached(const struct ssrequest_steady *steady, double elapsed);

/* The second half took at least a quarter longer than the first. */
bool ssrequest_steady_rises(const struct ssrequest_steady *steady);

#endif
