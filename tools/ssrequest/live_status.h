/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_LIVE_STATUS_H
#define SSREQUEST_LIVE_STATUS_H

/* The live view of a run: a few rows on standard error that are redrawn. */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>

#include "rows.h"

#define SSREQUEST_STATUS_ROWS 4

#define SSREQUEST_STATUS_SIZE 1024

struct ssrequest_status_values {
    ss_time total;    /* length of the run; SS_TIME_NEVER if unlimited */
    uint64_t clients; /* number of clients; 0 in an open loop */
    uint64_t cap;
    const struct request_second *second; /* the last second */
    const struct request_tally *tally;   /* tally of the whole run */
};

/*
 * Writes rows of at most `width` columns to `buffer`, separated by line feeds. Returns the number
 * of rows.
 */
SS_NONNULL()
SS_WRITES(1, 2)
int ssrequest_status_print(
    char *buffer, size_t size, const struct ssrequest_status_values *values, int width);

struct ssrequest_status {
    bool shown;
    int rows; /* rows on the screen */
};

/*
 * Opens the status. Shows nothing if `quiet` is set, or if standard error is not a terminal that
 * can move its cursor.
 */
SS_NONNULL() void ssrequest_status_open(struct ssrequest_status *status, bool quiet);

/* Redraws the status. Skips the update if the terminal is not writable, in order not to block. */
SS_NONNULL()
void ssrequest_status_draw(
    struct ssrequest_status *status, const struct ssrequest_status_values *values);

/* Erases the status, so that the next output takes its place. */
SS_NONNULL() void ssrequest_status_close(struct ssrequest_status *status);

#endif
