/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANTAGONIST_SLOTS_H
#define ANTAGONIST_SLOTS_H

/* The victim's figure in each slot of a run: what `watch` writes and the estimate reads. */

#include <stddef.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "codes.h"

/* The part of a slot at its beginning in which effects settle. It is left out. */
#define SLOTS_SETTLE 0.2

struct slots {
    size_t count;
    double begin;                     /* of the first slot, seconds since 1970 */
    double length;                    /* seconds */
    double figure[2 * CODES_LENGTH];  /* NaN: unknown */
    double figures[2 * CODES_LENGTH]; /* number of figures in the slot */
};

SS_NONNULL() void slots_write_heading(FILE *stream);
SS_NONNULL() void slots_write(FILE *stream, const struct slots *slots, size_t slot);

/* Reads the file. A file that is missing has no slots. */
SS_MUST_USE SS_NONNULL() int slots_read(
    struct slots *slots, const char *path, struct ss_error *error);

/* Returns the standard deviation of the logarithms around a line; NaN with fewer than 4 figures. */
SS_NONNULL() double slots_deviation(const struct slots *slots);

/* Returns the mean of all known figures, and the mean time from figure to figure in seconds. */
SS_NONNULL() double slots_mean(const struct slots *slots);
SS_NONNULL() double slots_iteration(const struct slots *slots);

#endif
