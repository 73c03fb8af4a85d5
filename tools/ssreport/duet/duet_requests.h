/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_DUET_REQUESTS_H
#define SSREPORT_DUET_REQUESTS_H

/* The requests to a service that runs in every other turn, from a file of ssrequest --each. */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "record_warnings.h"

/* A run, or a turn, with fewer answers has no percentile. */
#define DUET_ANSWERS_MIN 200

/* A run, or a turn, in which a smaller part of the requests succeeded has no figure. */
#define DUET_SUCCESS_MIN 0.99

/* Times in seconds since the first request. */
struct duet_request {
    double due, finished;
    bool success;
};

/* Zeroed: no requests. */
struct duet_requests {
    struct duet_request *items; /* in the order in which they are due */
    size_t count, room;
    double *answers; /* when the requests that succeeded were answered, in order */
    size_t answered;
    double late; /* seconds from the start of the clock of the turns to the first request */
};

/*
 * Reads the file next to a record; its name is that of the record and ".each.csv". Invalid rows are
 * left out and noted.
 */
SS_MUST_USE SS_NONNULL() int duet_requests_read(struct duet_requests *requests, const char *record,
    struct ssreport_notes *notes, struct ss_error *error);

SS_NONNULL()
void duet_requests_free(struct duet_requests *requests);

/* A part of a turn. Requests count if they are due before `last`, and answers until `to`. */
struct duet_part {
    double from, last, to;
};

/*
 * Returns a figure of this part of a turn: mean, p50, p95 or p99 of the response times, in seconds,
 * or the throughput, in answers per second. NaN if requests are too few or too many have failed.
 */
SS_NONNULL()
double duet_requests_figure(
    const struct duet_requests *requests, const char *figure, const struct duet_part *part);

#endif
