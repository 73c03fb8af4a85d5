/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_TALLY_H
#define SSBURN_TALLY_H

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#define TALLY_ENDLESS UINT64_MAX

/* Counts iterations and prints a line for each; for one thread at a time. */
struct tally {
    uint64_t wanted; /* iterations, or TALLY_ENDLESS */
    uint64_t done;   /* iterations */
    ss_time began;   /* the one under way; where the one before it ended */
};

/* The line that says what one iteration is. Its end is where the first iteration begins. */
SS_MUST_USE SS_NONNULL(1) int tally_begin(
    struct tally *tally, uint64_t work, struct ss_error *error);

/* An iteration has ended. Positive: another one is wanted; 0: that was the last; or failure. */
SS_MUST_USE SS_NONNULL(1) int tally_count(struct tally *tally, struct ss_error *error);

#endif
