/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_ROWS_H
#define REQUEST_ROWS_H

/* The tables of a run: by second, and by request. */

#include <showstopper/contract.h>

#include "base/lines.h"
#include "run_result.h"

/* A part of the run, of at most a second. Times of type double are in seconds; NaN if unknown. */
struct request_second {
    ss_time begin, end;
    double rate;                      /* planned requests per second; NaN in a closed loop */
    uint64_t due, sent, refused;      /* numbers of requests in this second */
    uint64_t waiting, unfinished;     /* numbers at the end of the second */
    uint64_t completed;               /* successes that ended in this second */
    uint64_t failed, timeouts, bytes; /* ended in this second; failures include timeouts */
    double lateness_max;              /* largest lateness of the requests sent in this second */
    double mean[REQUEST_ORIGINS];     /* mean response time of the completed requests */
    double median[REQUEST_ORIGINS], p95[REQUEST_ORIGINS], p99[REQUEST_ORIGINS];
    double max[REQUEST_ORIGINS];
    double target, load; /* means, of a service whose load is held */
};

struct request_rows;

/* Opens the rows. `tally` is the generator's; `profile` is NULL for a closed loop. */
SS_MUST_USE SS_NONNULL(1, 2) int request_rows_open(struct request_rows **rows,
    const struct request_tally *tally, const struct request_profile *profile,
    struct ss_error *error);

/* Adds the columns `target` and `load`. Call this before request_rows_create_files(). */
SS_NONNULL() void request_rows_add_load_columns(struct request_rows *rows);

/* Adds the target and load of a service for `seconds` of the current second. NaN: no target. */
SS_NONNULL()
void request_rows_add_load(struct request_rows *rows, double seconds, double target, double load);

/*
 * Closes the files and frees the rows. If the run has not begun, removes the file of
 * request_rows_open_each() unless it existed before. Fails if lines were lost; the message names
 * the first such file.
 */
int request_rows_close(struct request_rows *rows, struct ss_error *error);

/*
 * Files in the folder of a record: one has a line per second, the other its response times in
 * buckets.
 */
#define REQUEST_SECONDS_FILE "requests.csv"
#define REQUEST_TIMES_FILE   "response-times.csv"

/* Creates both files, which must not exist; on failure neither is left. */
SS_MUST_USE SS_NONNULL(1) int request_rows_create_files(
    struct request_rows *rows, int folder, struct ss_error *error);

/*
 * Writes a line per request to this file, which is truncated when the run begins. Fails if it is a
 * pipe without a reader. Writing to a full pipe waits until the descriptor `interrupt` is readable,
 * if it is not -1.
 */
SS_MUST_USE SS_NONNULL(1, 2) int request_rows_open_each(
    struct request_rows *rows, const char *path, int interrupt, struct ss_error *error);

/* Begins the run at `epoch`, in seconds since 1970; NaN in virtual time. */
SS_NONNULL() void request_rows_begin(struct request_rows *rows, double epoch);

/* Replaces the profile's rate from `now`; a negative rate restores the profile's. */
SS_NONNULL() void request_rows_set_rate(struct request_rows *rows, ss_time now, double rate);

/*
 * Ends the seconds that are over. Call this with each new `now` before calling the generator, so
 * that events count in the right second. Returns true if a second has ended.
 */
SS_NONNULL() bool request_rows_advance(struct request_rows *rows, ss_time now);

/* Clears the tally. The current second still counts all of its requests. */
SS_NONNULL() void request_rows_clear(struct request_rows *rows, struct request_tally *tally);

/* Like request_tally_exchange(). The current second still counts all of its requests. */
SS_NONNULL()
void request_rows_exchange(struct request_rows *rows, struct request_tally *tally,
    struct request_tally *other, ss_time now);

/* Ends the last second at the end of the run; it may be shorter than a second. */
SS_NONNULL() void request_rows_finish(struct request_rows *rows, ss_time now);

/* Records how late a request was sent. The transport calls this for each request. */
SS_NONNULL()
void request_rows_record_sent(struct request_rows *rows, const struct request_in_flight *one);

/* An observer of the generator; `context` is the rows. */
request_observer request_rows_observe;

/* Returns the last second that has ended; NULL if none has. */
SS_NONNULL() const struct request_second *request_rows_last(const struct request_rows *rows);

#endif
