/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_ROWS_H
#define SSREQUEST_ROWS_H

/* A run second by second, and request by request. */

#include "base/lines.h"
#include "run_result.h"

/* A part of the run, at most a second long. Times are seconds, NaN if unknown. */
struct ssrequest_second {
    ss_time begin, end;
    double rate;                      /* asked for per second; NaN: a closed loop */
    uint64_t due, sent, refused;      /* in it */
    uint64_t waiting, unfinished;     /* at its end */
    uint64_t completed;               /* successes that ended in it */
    uint64_t failed, timeouts, bytes; /* that ended in it; timeouts are failures, too */
    double lateness_most;             /* of those sent in it */
    double mean[SSREQUEST_ORIGINS];   /* response time of `completed` */
    double median[SSREQUEST_ORIGINS], p95[SSREQUEST_ORIGINS], p99[SSREQUEST_ORIGINS];
    double most[SSREQUEST_ORIGINS];
};

struct ssrequest_rows;

/* The tally is the one that the generator keeps; `profile` is NULL for a closed loop. */
int ssrequest_rows_open(struct ssrequest_rows **rows, const struct ssrequest_tally *tally,
    const struct ssrequest_profile *profile, struct ss_error *error);

/* Closes the files. Fails where lines have been lost, and names the first file of which. */
int ssrequest_rows_close(struct ssrequest_rows *rows, struct ss_error *error);

/* Both in a folder that is kept: a line per second, and how its response times are distributed. */
#define SSREQUEST_ROWS_SECONDS "requests.csv"
#define SSREQUEST_ROWS_TIMES   "response-times.csv"

/* Begins both files, which must not be there; on failure neither is. */
int ssrequest_rows_keep(struct ssrequest_rows *rows, int folder, struct ss_error *error);

/* Keeps a line per request in this file, which is replaced when the run begins. */
int ssrequest_rows_keep_each(struct ssrequest_rows *rows, const char *path, struct ss_error *error);

/* The run begins, at this many seconds since 1970; NaN: virtual time, which has no such seconds. */
void ssrequest_rows_begin(struct ssrequest_rows *rows, double epoch);

/* From now on this rate is asked for instead of the profile's; negative: the profile's. */
void ssrequest_rows_turn(struct ssrequest_rows *rows, ss_time now, double rate);

/*
 * Ends the seconds that are over. To be called with each new `now` before the generator gets
 * it, so that what happens in a second is counted in that one. True: the last second is another.
 */
bool ssrequest_rows_advance(struct ssrequest_rows *rows, ss_time now);

/* The same at the end of the run, where the last part may be shorter than a second. */
void ssrequest_rows_finish(struct ssrequest_rows *rows, ss_time now);

/* The transport calls it for each request that it sends. */
void ssrequest_rows_send(struct ssrequest_rows *rows, const struct ssrequest_one *one);

/* The generator's witness; the context are the rows. */
ssrequest_witness ssrequest_rows_witness;

/* The second that has ended last; NULL: none. */
const struct ssrequest_second *ssrequest_rows_last(const struct ssrequest_rows *rows);

#endif
