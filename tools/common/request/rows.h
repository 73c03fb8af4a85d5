/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_ROWS_H
#define REQUEST_ROWS_H

/* The tables of a run: by second, and by request. */

#include <showstopper/contract.h>

#include "base/lines.h"
#include "run_result.h"

/* A part of the run of at most a second. Times are seconds, NaN if unknown. */
struct ssrequest_second {
    ss_time begin, end;
    double rate;                      /* requested rate per second; NaN in a closed loop */
    uint64_t due, sent, refused;      /* numbers of requests in this second */
    uint64_t waiting, unfinished;     /* numbers at the end of the second */
    uint64_t completed;               /* successes that ended in this second */
    uint64_t failed, timeouts, bytes; /* ended in this second; failures include timeouts */
    double lateness_max;              /* largest lateness of the requests sent in this second */
    double mean[SSREQUEST_ORIGINS];   /* mean response time of the completed requests */
    double median[SSREQUEST_ORIGINS], p95[SSREQUEST_ORIGINS], p99[SSREQUEST_ORIGINS];
    double max[SSREQUEST_ORIGINS];
};

struct ssrequest_rows;

/* Opens the rows. `tally` is the generator's; `profile` is NULL for a closed loop. */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_rows_open(struct ssrequest_rows **rows,
    const struct ssrequest_tally *tally, const struct ssrequest_profile *profile,
    struct ss_error *error);

/* Closes the files. Fails if lines were lost; the message names the first such file. */
int ssrequest_rows_close(struct ssrequest_rows *rows, struct ss_error *error);

/*
 * Files in the folder of a record: one has a line per second, the other its response times in
 * buckets.
 */
#define SSREQUEST_ROWS_SECONDS "requests.csv"
#define SSREQUEST_ROWS_TIMES   "response-times.csv"

/* Creates both files, which must not exist; on failure neither is left. */
SS_MUST_USE SS_NONNULL(1) int ssrequest_rows_keep(
    struct ssrequest_rows *rows, int folder, struct ss_error *error);

/*
 * Writes a line per request to this file, which is replaced when the run begins. Waits for the
 * reader of a pipe until the descriptor `interrupt` is readable, if it is not -1.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_rows_keep_each(
    struct ssrequest_rows *rows, const char *path, int interrupt, struct ss_error *error);

/* Begins the run at `epoch`, in seconds since 1970; NaN in virtual time. */
SS_NONNULL()
void ssrequest_rows_begin(struct ssrequest_rows *rows, double epoch);

/* Replaces the profile's rate from `now`; a negative rate restores the profile's. */
SS_NONNULL()
void ssrequest_rows_turn(struct ssrequest_rows *rows, ss_time now, double rate);

/*
 * Ends the seconds that are over. Call this with each new `now` before calling the generator, so
 * that events count in the right second. Returns true if a second has ended.
 */
SS_NONNULL()
bool ssrequest_rows_advance(struct ssrequest_rows *rows, ss_time now);

/* Ends the last second at the end of the run; it may be shorter than a second. */
SS_NONNULL()
void ssrequest_rows_finish(struct ssrequest_rows *rows, ss_time now);

/* Records that a request was sent. The transport calls this for each request. */
SS_NONNULL()
void ssrequest_rows_send(struct ssrequest_rows *rows, const struct ssrequest_one *one);

/* A witness of the generator; `context` is the rows. */
ssrequest_witness ssrequest_rows_witness;

/* Returns the last second that has ended; NULL if none has. */
SS_NONNULL()
const struct ssrequest_second *ssrequest_rows_last(const struct ssrequest_rows *rows);

#endif
